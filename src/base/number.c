/* number.c - correctly rounded decimal numbers.
 * Text is scanned into m * 10^e with up to 19 digits in m. If m and a power of five fit in 64
 * bits, m * 5^e or m / 5^-e is computed in 128 bits with a sticky bit and rounded once. Digits
 * beyond the 19th put the number between m and m + 1: where both round alike, that is the answer.
 * The rest, a rarity, is left to the C library's strtod on a bounded copy. */
#include "base/number.h"

#include "base/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

const double mgvi_powers_of_ten[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
const uint64_t mgvi_integer_powers_of_ten[20] = {1,
                                                 10,
                                                 100,
                                                 1000,
                                                 10000,
                                                 100000,
                                                 1000000,
                                                 10000000,
                                                 100000000,
                                                 1000000000,
                                                 10000000000,
                                                 100000000000,
                                                 1000000000000,
                                                 10000000000000,
                                                 100000000000000,
                                                 1000000000000000,
                                                 10000000000000000,
                                                 100000000000000000,
                                                 1000000000000000000,
                                                 10000000000000000000u};

typedef struct decimal {
    bool negative;
    bool more;         /* a digit that is not 0 was left out of m */
    uint64_t m;        /* the first 19 digits that count */
    int64_t e;         /* |value| = m * 10^e, up to the digits left out */
    const char *first; /* the first digit that is not 0; NULL: the number is 0 */
    const char *end;   /* of the digits and the point */
} decimal;

enum { EXPONENT_MAX = 1 << 24 }; /* beyond it only the sign of the exponent matters */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Digits with at most one point; false when there is no digit. */
static bool scan_digits(const char *p, const char *end, decimal *d)
{
    bool point = false, any = false;
    int kept = 0;
    int64_t e = 0;
    for (; p < end; p++) {
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(*p))
            break;
        any = true;
        if (!d->first && *p == '0') {
            e -= point;
            continue;
        }
        if (!d->first)
            d->first = p;
        if (kept < 19) {
            d->m = d->m * 10 + (uint64_t)(*p - '0');
            kept++;
            e -= point;
        } else {
            d->more |= *p != '0';
            e += !point;
        }
    }
    d->e = e;
    d->end = p;
    return any;
}

/* [eE][+-]digits at `p`, or nothing; returns what follows. */
static const char *scan_exponent(const char *p, const char *end, int64_t *e)
{
    const char *q = p;
    if (q == end || (*q != 'e' && *q != 'E'))
        return p;
    q++;
    const bool negative = q < end && *q == '-';
    if (q < end && (*q == '-' || *q == '+'))
        q++;
    if (q == end || !is_digit(*q))
        return p;
    int64_t x = 0;
    for (; q < end && is_digit(*q); q++)
        if (x < EXPONENT_MAX)
            x = x * 10 + (*q - '0');
    *e += negative ? -x : x;
    return q;
}

/* 5^k for k <= 27 fits in 64 bits. */
static uint64_t power_of_five(int k)
{
    uint64_t v = 1;
    for (uint64_t base = 5; k; k >>= 1, base *= base)
        if (k & 1)
            v *= base;
    return v;
}

/* high * 2^exponent, where `sticky` says that a little is missing; high has its top bit set and
 * the result is a normal number. Rounds to nearest, ties to even. */
static double round_to_double(uint64_t high, bool sticky, int exponent)
{
    uint64_t kept = high >> 11;
    const uint64_t rest = high & 0x7ff;
    kept += rest > 0x400 || (rest == 0x400 && (sticky || (kept & 1)));
    return ldexp((double)kept, exponent + 11); /* kept <= 2^53: exact */
}

/* m * 10^e for m > 0 and |e| <= 27, correctly rounded. */
static double scale_by_ten(uint64_t m, int e)
{
    const int shift = __builtin_clzll(m);
    const uint64_t top = m << shift;
    if (e >= 0) {
        const unsigned __int128 product = (unsigned __int128)top * power_of_five(e);
        uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
        if (high == 0)
            return round_to_double(low, false, e - shift);
        const int up = __builtin_clzll(high);
        if (up) {
            high = high << up | low >> (64 - up);
            low <<= up;
        }
        return round_to_double(high, low != 0, e - shift + 64 - up);
    }
    const uint64_t five = power_of_five(-e);
    const int down = __builtin_clzll(five);
    const uint64_t divisor = five << down;
    /* half of 2^64 top keeps the quotient below 2^64: it lies in (2^62, 2^64) */
    const unsigned __int128 numerator = (unsigned __int128)top << 63;
    const unsigned __int128 quotient = numerator / divisor;
    const bool sticky = quotient * divisor != numerator;
    uint64_t high = (uint64_t)quotient;
    int exponent = e - shift - 63 + down;
    if (!(high >> 63)) {
        high <<= 1; /* the bit shifted in is below the rounding position; sticky covers it */
        exponent--;
    }
    return round_to_double(high, sticky, exponent);
}

/* A copy for the C library with at most 800 digits and no point: no double, float or boundary
 * between two has more than 767 digits, so whether more follow is all that matters then. */
enum { COPY_DIGITS = 800, COPY_MAX = COPY_DIGITS + 32 };
static void write_copy(const decimal *d, char copy[COPY_MAX])
{
    int kept = 0;
    bool more = false;
    int64_t e = d->e; /* belongs to the first 19 digits: each further one lowers it */
    for (const char *p = d->first; p < d->end; p++) {
        if (*p == '.')
            continue;
        if (kept < COPY_DIGITS) {
            e -= kept >= 19;
            copy[kept++] = *p;
        } else {
            more |= *p != '0';
        }
    }
    if (more) {
        copy[kept++] = '1';
        e--;
    }
    snprintf(copy + kept, (size_t)(COPY_MAX - kept), "e%lld", (long long)e);
}

static double to_double(const decimal *d)
{
    if (!d->first || d->m == 0)
        return 0;
    if (d->e >= -27 && d->e <= 27) {
        const double low = scale_by_ten(d->m, (int)d->e);
        /* m has at most 19 digits, so m + 1 does not overflow */
        if (!d->more || low == scale_by_ten(d->m + 1, (int)d->e))
            return low;
    }
    if (d->e > 400)
        return INFINITY;
    if (d->e < -800)
        return 0;
    char copy[COPY_MAX];
    write_copy(d, copy);
    return strtod_l(copy, NULL, mgvi_c_locale());
}

static mgvi_number_status name_the_fault(const char *p, const char *end)
{
    static const char *const words[] = {"nan", "inf"};
    for (int i = 0; i < 2; i++)
        if (end - p >= 3 && strncasecmp(p, words[i], 3) == 0)
            return MGVI_NUMBER_NOT_FINITE;
    return MGVI_NUMBER_NONE;
}

/* Sign and digits; the exponent, if any, starts at d->end. */
static mgvi_number_status scan(const char *text, const char *end, decimal *d)
{
    const char *p = text;
    *d = (decimal){.negative = p < end && *p == '-'};
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (end - p >= 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
        return MGVI_NUMBER_HEX;
    return scan_digits(p, end, d) ? MGVI_NUMBER_OK : name_the_fault(p, end);
}

mgvi_number_status mgvi_number_parse(const char *text, const char *end, double *value,
                                     const char **next)
{
    decimal d;
    const mgvi_number_status st = scan(text, end, &d);
    if (st != MGVI_NUMBER_OK)
        return st;
    *next = scan_exponent(d.end, end, &d.e);
    const double v = to_double(&d);
    if (isinf(v))
        return MGVI_NUMBER_TOO_LARGE;
    *value = d.negative ? -v : v;
    return MGVI_NUMBER_OK;
}

float mgvi_number_to_float(const char *text, const char *end, double value)
{
    decimal d;
    if (mgvi_number_fits_float(value) || !mgvi_number_float_is_unsure(value) ||
        scan(text, end, &d) != MGVI_NUMBER_OK)
        return (float)value;
    scan_exponent(d.end, end, &d.e);
    char copy[COPY_MAX];
    write_copy(&d, copy);
    const float f = strtof_l(copy, NULL, mgvi_c_locale());
    return d.negative ? -f : f;
}

/* ---- writing ------------------------------------------------------------------------------- */
static bool reads_back(double got, double value, mgv_dtype dtype)
{
    if (dtype == MGV_F64 || got == value)
        return got == value;
    return !mgvi_number_float_is_unsure(got) && (float)got == (float)value;
}

/* mantissa / 10^places, 0 < mantissa. */
static size_t write_fixed(bool negative, uint64_t mantissa, int places, char *text)
{
    char reversed[MGVI_NUMBER_MAX];
    int n = 0;
    for (; mantissa || n <= places; mantissa /= 10) {
        if (places && n == places)
            reversed[n++] = '.';
        reversed[n++] = (char)('0' + mantissa % 10);
    }
    if (negative)
        reversed[n++] = '-';
    for (int i = 0; i < n; i++)
        text[i] = reversed[n - 1 - i];
    text[n] = 0;
    return (size_t)n;
}

/* Most data has few decimals: r / 10^places is rounded as a reader rounds the text, so if it gives
 * the value back the text does too. 0: no such text. */
static size_t format_fixed(double value, mgv_dtype dtype, char *text)
{
    enum { PLACES = 9 };
    const double size = fabs(value);
    if (!(size >= 1e-4 && size < 1e15))
        return 0;
    for (int places = 0; places <= PLACES; places++) {
        const double scaled = size * mgvi_powers_of_ten[places];
        if (scaled >= 1e15)
            return 0;
        const uint64_t mantissa = (uint64_t)(scaled + 0.5);
        if (mantissa && reads_back((double)mantissa / mgvi_powers_of_ten[places], size, dtype))
            return write_fixed(value < 0, mantissa, places, text);
    }
    return 0;
}

size_t mgvi_number_format(double value, mgv_dtype dtype, char text[MGVI_NUMBER_MAX])
{
    if (value == 0)
        return (size_t)snprintf(text, MGVI_NUMBER_MAX, signbit(value) ? "-0" : "0");
    size_t length = format_fixed(value, dtype, text);
    if (length)
        return length;
    const int most = dtype == MGV_F32 ? 9 : 17;
    for (int digits = dtype == MGV_F32 ? 6 : 15; digits <= most; digits++) {
        double got = 0;
        const char *next;
        length = (size_t)mgvi_print(text, MGVI_NUMBER_MAX, "%.*g", digits, value);
        if (digits == most ||
            (mgvi_number_parse(text, text + length, &got, &next) == MGVI_NUMBER_OK &&
             reads_back(got, value, dtype)))
            break;
    }
    return length;
}
