/* test_caches.c - sizes of the caches come in classes, from the machine and from text. */
#include "base/caches.h"
#include "check.h"

#include <string.h>

static bool is_class(int32_t size, int32_t least, int32_t most)
{
    return size >= least && size <= most && (size & (size - 1)) == 0;
}

static bool all_classes(const mgvi_caches *c)
{
    return is_class(c->first, 1 << 14, 1 << 17) && is_class(c->second, 1 << 18, 1 << 22) &&
           is_class(c->last, 1 << 20, 1 << 25);
}

TEST(those_of_the_machine_are_classes_and_stay)
{
    const mgvi_caches a = mgvi_caches_found(), b = mgvi_caches_found();
    CHECK(all_classes(&a));
    CHECK(memcmp(&a, &b, sizeof a) == 0);
}

TEST(sizes_are_rounded_down_within_bounds)
{
    static const struct {
        const char *text, *class;
    } cases[] = {{"32K,512K,4M", "32K,512K,4M"},  {"48k,1280k,3M", "32K,1M,2M"},
                 {"49152,2097152", "32K,2M,8M"},  {"1,1,1", "16K,256K,1M"},
                 {"64K", "64K,512K,8M"},          {"1M,99M,999M", "128K,4M,32M"},
                 {"32K,524287,1M", "32K,256K,1M"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        mgvi_caches c = {1 << 15, 1 << 19, 1 << 23}, again = {0};
        char text[MGVI_CACHES_TEXT];
        CHECK(mgvi_caches_parse(cases[k].text, &c));
        CHECK(all_classes(&c));
        mgvi_caches_print(&c, text);
        assert_string_equal(text, cases[k].class);
        CHECK(mgvi_caches_parse(text, &again) && memcmp(&c, &again, sizeof c) == 0);
    }
}

TEST(other_texts_change_nothing)
{
    static const char *const texts[] = {"",     "K",     "32K,",   ",512K",       "32K,512K,4M,8M",
                                        "-32K", "32 K",  "32K;1M", "32K,512K,4G", "0",
                                        "1e5",  "32K,0", "nan",    "32KK"};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        mgvi_caches c = {1, 2, 3};
        CHECK(!mgvi_caches_parse(texts[k], &c));
        CHECK(c.first == 1 && c.second == 2 && c.last == 3);
    }
}

int main(void)
{
    return RUN(those_of_the_machine_are_classes_and_stay, sizes_are_rounded_down_within_bounds,
               other_texts_change_nothing);
}
