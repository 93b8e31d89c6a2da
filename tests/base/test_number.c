/* test_number.c - decimal text against the C library's strtod, strtof and printf. */
#include "check.h"

#include "base/number.h"
#include "base/rng.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Both readers against the C library. `text` lies in a buffer with room behind it. */
static void check_text(const char *text)
{
    const char *end = text + strlen(text), *next = NULL;
    double value = 0, fast = 0;
    const double expect = strtod(text, NULL);
    const mgvi_number_status st = mgvi_number_parse(text, end, &value, &next);
    if (isinf(expect)) {
        CHECK_THAT(st == MGVI_NUMBER_TOO_LARGE, "%s", text);
        return;
    }
    CHECK_THAT(st == MGVI_NUMBER_OK && next == end, "%s: status %d", text, st);
    CHECK_THAT(bits_of(value) == bits_of(expect), "%s: %.17g, expected %.17g", text, value, expect);
    const float f = mgvi_number_to_float(text, end, value), g = strtof(text, NULL);
    CHECK_THAT(f == g && !signbit(f) == !signbit(g), "%s: %.9g, expected %.9g", text, (double)f,
               (double)g);
    if (!mgvi_number_float_is_unsure(value))
        CHECK_THAT((float)value == g, "%s: the float was not sure", text);
    if (strlen(text) < 40 && (next = mgvi_number_fast(text, &fast)) && next == end)
        CHECK_THAT(bits_of(fast) == bits_of(expect), "%s: fast %.17g", text, fast);
}

static double random_bits(mgvi_rng *rng)
{
    const uint64_t bits = mgvi_rng_u64(rng);
    double v;
    memcpy(&v, &bits, sizeof v);
    return isfinite(v) ? v : 1;
}

TEST(numbers_of_every_form_are_correctly_rounded)
{
    mgvi_rng rng = mgvi_rng_seed(11);
    char text[512];
    memset(text, 0, sizeof text);
    for (int i = 0; i < 150000; i++) {
        const double x = random_bits(&rng);
        const int places = (int)(mgvi_rng_u32(&rng) % 18);
        switch (i % 6) {
        case 0:
            sprintf(text, "%.*e", places, x);
            break;
        case 1:
            sprintf(text, "%.*f", places,
                    ldexp(x / (fabs(x) + DBL_MIN) * mgvi_rng_uniform(&rng),
                          (int)(mgvi_rng_u32(&rng) % 40)));
            break;
        case 2: /* digits and a point anywhere */
            sprintf(text, "%s%u.%u%09u", mgvi_rng_u32(&rng) % 2 ? "-" : "",
                    mgvi_rng_u32(&rng) >> mgvi_rng_u32(&rng) % 32,
                    mgvi_rng_u32(&rng) >> mgvi_rng_u32(&rng) % 32, mgvi_rng_u32(&rng) % 1000000000);
            break;
        case 3: /* the powers around which the paths change */
            sprintf(text, "%llue%d", (unsigned long long)(mgvi_rng_u64(&rng) >> places),
                    (int)(mgvi_rng_u32(&rng) % 70) - 35);
            break;
        case 4:
            sprintf(text, "%.*g", places + 1, (double)(float)mgvi_rng_normal(&rng));
            break;
        default: /* more digits than 64 bits hold */
            sprintf(text, "%u%018llu%012u.%u", mgvi_rng_u32(&rng) % 100,
                    (unsigned long long)(mgvi_rng_u64(&rng) % 1000000000000000000u),
                    mgvi_rng_u32(&rng), mgvi_rng_u32(&rng));
        }
        check_text(text);
    }
}

/* Exactly between two doubles, and a little to both sides. A long double holds the middle. */
TEST(half_way_cases_go_to_even_or_to_their_side)
{
    mgvi_rng rng = mgvi_rng_seed(12);
    char text[2048];
    for (int i = 0; i < 3000; i++) {
        double low = fabs(random_bits(&rng));
        if (i % 2)
            low = ldexp(1 + mgvi_rng_uniform(&rng), (int)(mgvi_rng_u32(&rng) % 80) - 40);
        const double high = nextafter(low, INFINITY);
        if (isinf(high))
            continue;
        const int n = snprintf(text, 1500, "%.1100Le", ((long double)low + (long double)high) / 2);
        char *e = strchr(text, 'e');
        check_text(text);
        memmove(e + 1, e, strlen(e) + 1); /* a digit more: above */
        *e = '1';
        check_text(text);
        memmove(e, e + 1, strlen(e));
        for (char *p = e - 1; p > text; p--) { /* one unit less: below */
            if (*p >= '1' && *p <= '9') {
                --*p;
                break;
            }
            if (*p == '0')
                *p = '9';
        }
        check_text(text);
        CHECK(n < 1500);
        const float f = (float)low;
        if (isfinite(f) && isfinite(nextafterf(f, INFINITY))) {
            snprintf(text, 1500, "%.200g", ((double)f + (double)nextafterf(f, INFINITY)) / 2);
            check_text(text);
        }
    }
}

TEST(edges_are_right)
{
    static const char *const texts[] = {"0",
                                        "-0",
                                        "+0.0",
                                        "0e999999999999",
                                        "00000000000000000000000000000000001",
                                        ".5",
                                        "5.",
                                        "+.5e1",
                                        "1e22",
                                        "1e23",
                                        "9007199254740993",
                                        "9007199254740992.9999999",
                                        "4.9e-324",
                                        "2.4703282292062327e-324",
                                        "2.4703282292062328e-324",
                                        "2.2250738585072011e-308",
                                        "2.2250738585072014e-308",
                                        "1.7976931348623157e308",
                                        "1.7976931348623158e308",
                                        "1.7976931348623159e308",
                                        "1e308",
                                        "1e309",
                                        "1e-400",
                                        "1e-99999999999999999999",
                                        "123456789012345678901234567890e-10",
                                        "0.1e1",
                                        "1E+5",
                                        "1e-5",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "9999999999999999999",
                                        "99999999999999999999",
                                        "3.4028235677973366e38",
                                        "1.1754943508222875e-38",
                                        "7.0064923216240854e-46",
                                        "1e-45"};
    char text[128];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        memset(text, 0, sizeof text);
        strcpy(text, texts[i]);
        check_text(text);
    }
    char *long_text = calloc(20000, 1);
    strcpy(long_text, "0.");
    memset(long_text + 2, '0', 9000);
    strcat(long_text, "12345e9003");
    check_text(long_text);
    memset(long_text, '7', 15000);
    strcpy(long_text + 15000, "e-14990");
    check_text(long_text);
    free(long_text);
}

TEST(what_is_no_number_is_named)
{
    static const struct {
        const char *text;
        mgvi_number_status status;
        size_t used;
    } cases[] = {{"", MGVI_NUMBER_NONE, 0},           {"+", MGVI_NUMBER_NONE, 0},
                 {".", MGVI_NUMBER_NONE, 0},          {"-.e5", MGVI_NUMBER_NONE, 0},
                 {"abc", MGVI_NUMBER_NONE, 0},        {"nan", MGVI_NUMBER_NOT_FINITE, 0},
                 {"-NaN", MGVI_NUMBER_NOT_FINITE, 0}, {"Infinity", MGVI_NUMBER_NOT_FINITE, 0},
                 {"+inf", MGVI_NUMBER_NOT_FINITE, 0}, {"0x1p3", MGVI_NUMBER_HEX, 0},
                 {"1e309", MGVI_NUMBER_TOO_LARGE, 0}, {"-1e999999999999", MGVI_NUMBER_TOO_LARGE, 0},
                 {" 1", MGVI_NUMBER_NONE, 0},         {"1e", MGVI_NUMBER_OK, 1},
                 {"1e+", MGVI_NUMBER_OK, 1},          {"1.5x", MGVI_NUMBER_OK, 3},
                 {"1.2.3", MGVI_NUMBER_OK, 3},        {"1,5", MGVI_NUMBER_OK, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text, *next = text;
        double value;
        const mgvi_number_status st = mgvi_number_parse(text, text + strlen(text), &value, &next);
        CHECK_THAT(st == cases[i].status, "'%s': %d", text, st);
        if (st == MGVI_NUMBER_OK)
            CHECK((size_t)(next - text) == cases[i].used);
    }
}

TEST(written_numbers_read_back_and_are_short)
{
    static const struct {
        double value;
        mgv_dtype dtype;
        const char *text;
    } cases[] = {{0, MGV_F64, "0"},
                 {-0.0, MGV_F64, "-0"},
                 {1, MGV_F64, "1"},
                 {-2.5, MGV_F64, "-2.5"},
                 {0.1, MGV_F64, "0.1"},
                 {(double)0.1f, MGV_F32, "0.1"},
                 {0.67984, MGV_F64, "0.67984"},
                 {1e15, MGV_F64, "1e+15"},
                 {123456789, MGV_F64, "123456789"},
                 {0.3, MGV_F64, "0.3"},
                 {0.1 + 0.2, MGV_F64, "0.30000000000000004"},
                 {1e-7, MGV_F64, "1e-07"},
                 {5e-324, MGV_F64, "4.94065645841247e-324"},
                 {16777216, MGV_F32, "16777216"},
                 {1.0 / 3, MGV_F64, "0.333333333333333"}};
    mgvi_rng rng = mgvi_rng_seed(13);
    char text[MGVI_NUMBER_MAX], longest[64];
    for (size_t i = 0; i + 1 < sizeof cases / sizeof *cases; i++) {
        CHECK(mgvi_number_format(cases[i].value, cases[i].dtype, text) == strlen(text));
        assert_string_equal(text, cases[i].text);
    }
    for (int i = 0; i < 60000; i++) {
        const mgv_dtype dtype = i % 2 ? MGV_F64 : MGV_F32;
        double v = i % 3 ? mgvi_rng_normal(&rng) : random_bits(&rng);
        if (i % 5 == 0)
            v = round(v * 1000) / 1000;
        if (dtype == MGV_F32)
            v = isfinite((float)v) ? (double)(float)v : 1;
        const size_t n = mgvi_number_format(v, dtype, text);
        CHECK(n == strlen(text) && n < MGVI_NUMBER_MAX);
        if (dtype == MGV_F32)
            CHECK_THAT(strtof(text, NULL) == (float)v, "%s for %.9g", text, v);
        else
            CHECK_THAT(strtod(text, NULL) == v, "%s for %.17g", text, v);
        snprintf(longest, sizeof longest, "%.*g", dtype == MGV_F32 ? 9 : 17, v);
        CHECK_THAT(n <= strlen(longest) + strlen("e+00"), "%s is longer than %s", text, longest);
    }
}

int main(void)
{
    return RUN(numbers_of_every_form_are_correctly_rounded,
               half_way_cases_go_to_even_or_to_their_side, edges_are_right,
               what_is_no_number_is_named, written_numbers_read_back_and_are_short);
}
