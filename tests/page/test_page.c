/* test_page.c - a page is one file that is whole, escaped, well formed, and draws what it is given.
 */
#include "check.h"

#include "base/rng.h"
#include "page/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *slurp(const char *name)
{
    FILE *f = fopen(name, "rb");
    CHECK(f != NULL);
    CHECK(fseek(f, 0, SEEK_END) == 0);
    const size_t size = (size_t)ftell(f);
    char *text = calloc(size + 1, 1);
    rewind(f);
    CHECK(fread(text, 1, size, f) == size);
    fclose(f);
    return text;
}

static int times(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}

/* Elements that are opened are closed, in order. */
static void check_nesting(const char *text)
{
    static const char *const empty[] = {"meta", "link", "!DOCTYPE"};
    char open[64][16];
    int depth = 0;
    const char *style = strstr(text, "<style>"), *end = strstr(text, "</style>");
    for (const char *at = text; (at = strchr(at, '<')); at++) {
        char name[16] = "";
        if (at > style && at < end)
            continue;
        const bool closing = at[1] == '/';
        const size_t n = strcspn(at + 1 + closing, " >/");
        CHECK(n > 0 && n < sizeof name);
        memcpy(name, at + 1 + closing, n);
        const char *close = strchr(at, '>');
        CHECK(close != NULL);
        bool single = close[-1] == '/';
        for (size_t k = 0; k < sizeof empty / sizeof *empty; k++)
            single = single || strcmp(name, empty[k]) == 0;
        if (closing) {
            CHECK(depth > 0);
            CHECK_THAT(strcmp(open[depth - 1], name) == 0, "</%s> closes <%s>", name,
                       open[depth - 1]);
            depth--;
        } else if (!single) {
            CHECK(depth < 64);
            strcpy(open[depth++], name);
        }
    }
    CHECK(depth == 0);
}

TEST(a_page_is_escaped_and_well_formed)
{
    static const double x[4] = {1, 2, 3, 4}, y[4] = {0.1, NAN, 10, -3}, low[4] = {0.05, 1, 5, 1},
                        high[4] = {0.2, 2, 20, 2};
    static const mgv_series line = {.size = sizeof line,
                                    .name = "a < b & \"c\"",
                                    .x = x,
                                    .y = y,
                                    .low = low,
                                    .high = high,
                                    .count = 4},
                            points = {.size = sizeof points,
                                      .name = "dots",
                                      .x = x,
                                      .y = low,
                                      .count = 4,
                                      .points = 1};
    static const mgv_series *const both[] = {&line, &points};
    static const mgv_chart chart = {.size = sizeof chart,
                                    .title = "<script>",
                                    .x_label = "t",
                                    .y_label = "gap",
                                    .series = both,
                                    .count = 2,
                                    .log_y = 1,
                                    .x_low = NAN,
                                    .x_high = NAN,
                                    .y_low = NAN,
                                    .y_high = NAN};
    static const char *const head[] = {"name", "value"}, *const cells[] = {"x'", "-1.5", NULL, "2"};
    static const mgv_grid table = {.size = sizeof table,
                                   .caption = "T",
                                   .head = head,
                                   .cells = cells,
                                   .rows = 2,
                                   .columns = 2};
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_page *page;
    CHECK_OK(ctx, mgv_page_open(ctx, "page.html", "5 > 3", &page));
    CHECK_OK(ctx, mgv_page_section(ctx, page, "One & two", "reproduced", MGV_MARK_GOOD));
    CHECK_OK(ctx, mgv_page_text(ctx, page, "Claim.", "caf\xc3\xa9 \xff \x01"));
    CHECK_OK(ctx, mgv_page_chart(ctx, page, &chart));
    CHECK_OK(ctx, mgv_page_chart(ctx, page, &chart));
    CHECK_OK(ctx, mgv_page_table(ctx, page, &table));
    CHECK_OK(ctx, mgv_page_code(ctx, page, "margrave <x>"));
    FILE *early = fopen("page.html", "r");
    CHECK(early == NULL); /* whole or not at all */
    CHECK_OK(ctx, mgv_page_close(ctx, page, 1));
    char *text = slurp("page.html");
    check_nesting(text);
    CHECK(times(text, "<script") == 0 && times(text, "&lt;script&gt;") == 4);
    CHECK(times(text, "a &lt; b &amp; &quot;c&quot;") == 2);
    CHECK(strstr(text, "<title>5 &gt; 3</title>") && strstr(text, "caf\xc3\xa9 ? ?</p>"));
    CHECK(strstr(text, "<span class=\"mark k1\">reproduced</span>"));
    CHECK(times(text, "<div class=\"charts\">") == 1 && times(text, "<figure>") == 2);
    CHECK(strstr(text, "<td class=\"r\">-1.5</td>") && strstr(text, "<td>x&#39;</td>"));
    CHECK(times(text, "http") == 1); /* http-equiv: nothing is fetched */
    CHECK(times(text, "nan") == 0 && times(text, "inf") == 0);
    CHECK(times(text, "<path class=\"b\" d=\"M") == 2);
    free(text);
    CHECK(remove("page.html") == 0);
    mgv_ctx_free(ctx);
}

/* The ends of a line lie where the axis has their values. */
TEST(values_have_their_place)
{
    const mgvi_axis even = mgvi_axis_over(false, 0, 10), log = mgvi_axis_over(true, 1e-8, 1e2);
    char text[80];
    CHECK(mgvi_axis_place(&even, 0) == 0 && mgvi_axis_place(&even, 10) == 1);
    CHECK_NEAR(mgvi_axis_place(&even, 2.5), 0.25, 1e-15, "a quarter");
    CHECK_NEAR(mgvi_axis_place(&log, 1e-3), 0.5, 1e-12, "half way");
    CHECK(isnan(mgvi_axis_place(&log, 0)) && isnan(mgvi_axis_place(&log, -1)));
    CHECK(isnan(mgvi_axis_place(&even, INFINITY)));
    CHECK(even.ticks == 6 && even.tick[1] == 2);
    mgvi_axis_text(&even, 5, text, sizeof text);
    CHECK(strcmp(text, "10") == 0);
    CHECK(log.ticks == 6 && log.tick[0] == 1e-8);
    mgvi_axis_text(&log, 0, text, sizeof text);
    CHECK(strcmp(text, "10<tspan dy=\"-5\" font-size=\"9\">-8</tspan>") == 0);
    mgvi_rng rng = mgvi_rng_seed(1);
    for (int k = 0; k < 2000; k++) { /* any range has two ticks at the least, within it */
        const double size = pow(10, 30 * mgvi_rng_uniform(&rng) - 15);
        const double from = size * mgvi_rng_normal(&rng);
        const double to = from + fabs(from) * pow(10, -6 * mgvi_rng_uniform(&rng));
        const mgvi_axis a = mgvi_axis_over(
            k % 2, k % 2 ? size : from, k % 2 ? size * pow(10, 40 * mgvi_rng_uniform(&rng)) : to);
        CHECK_THAT(a.ticks >= 1 && a.ticks <= MGVI_TICKS_MOST, "%d ticks from %g", a.ticks, from);
        for (int t = 0; t < a.ticks; t++)
            CHECK(mgvi_axis_place(&a, a.tick[t]) > -1e-8 &&
                  mgvi_axis_place(&a, a.tick[t]) < 1 + 1e-8);
    }
    const mgvi_axis one = mgvi_axis_over(false, 7, 7);
    CHECK_NEAR(mgvi_axis_place(&one, 7), 0.5, 1e-12, "one value is in the middle");
}

/* A line of a million points stays small, and keeps its peak. */
TEST(long_lines_stay_small)
{
    enum { MANY = 1000000 };
    double *x = malloc(MANY * sizeof *x), *y = malloc(MANY * sizeof *y);
    for (int i = 0; i < MANY; i++) {
        x[i] = i;
        y[i] = sin(i * 0.01);
    }
    y[777777] = 50;
    const mgv_series line = {.size = sizeof line, .name = "s", .x = x, .y = y, .count = MANY};
    const mgv_series *const list[] = {&line};
    const mgv_chart chart = {.size = sizeof chart,
                             .title = "t",
                             .x_label = "x",
                             .y_label = "y",
                             .series = list,
                             .count = 1,
                             .x_low = NAN,
                             .x_high = NAN,
                             .y_low = NAN,
                             .y_high = NAN};
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_page *page;
    CHECK_OK(ctx, mgv_page_open(ctx, "long.html", "t", &page));
    CHECK_OK(ctx, mgv_page_chart(ctx, page, &chart));
    CHECK_OK(ctx, mgv_page_close(ctx, page, 1));
    char *text = slurp("long.html");
    CHECK(strlen(text) < 60000);
    CHECK(strstr(text, " 18.6L")); /* the top, and 3 % of room above it */
    free(text);
    CHECK(remove("long.html") == 0);
    mgv_ctx_free(ctx);
    free(x);
    free(y);
}

TEST(nonsense_is_refused)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_page *page;
    const mgv_series nameless = {.size = sizeof nameless};
    const mgv_series *list[9] = {&nameless};
    mgv_chart chart = {.size = sizeof chart,
                       .title = "t",
                       .x_label = "x",
                       .y_label = "y",
                       .series = list,
                       .count = 1};
    const mgv_grid headless = {.size = sizeof headless, .rows = 1, .columns = 1};
    CHECK_FAILS(ctx, mgv_page_open(ctx, "no/such/folder.html", "t", &page), MGV_E_IO, "folder");
    CHECK(page == NULL);
    CHECK_OK(ctx, mgv_page_open(ctx, "refused.html", "t", &page));
    CHECK_FAILS(ctx, mgv_page_chart(ctx, page, &chart), MGV_E_ARG, "series 1 of the chart");
    chart.count = 9;
    CHECK_FAILS(ctx, mgv_page_chart(ctx, page, &chart), MGV_E_ARG, "at most 8 series");
    chart.title = NULL;
    CHECK_FAILS(ctx, mgv_page_chart(ctx, page, &chart), MGV_E_ARG, "a title");
    CHECK_FAILS(ctx, mgv_page_chart(ctx, NULL, &chart), MGV_E_ARG, "page is NULL");
    CHECK_FAILS(ctx, mgv_page_chart(ctx, page, NULL), MGV_E_ARG, "chart is NULL");
    CHECK_FAILS(ctx, mgv_page_table(ctx, page, &headless), MGV_E_ARG, "needs a head");
    CHECK_FAILS(ctx, mgv_page_text(ctx, page, NULL, NULL), MGV_E_ARG, "text is NULL");
    CHECK_FAILS(ctx, mgv_page_section(ctx, page, "t", "m", (mgv_mark)9), MGV_E_ARG, "no mark 9");
    CHECK_FAILS(ctx, mgv_page_code(ctx, page, NULL), MGV_E_ARG, "text is NULL");
    CHECK_OK(ctx, mgv_page_close(ctx, page, 0));
    CHECK(fopen("refused.html", "r") == NULL); /* nothing appears */
    CHECK(mgv_page_open(NULL, "x", "t", &page) == MGV_E_ARG);
    CHECK(mgv_page_chart(NULL, page, &chart) == MGV_E_ARG &&
          mgv_page_close(NULL, NULL, 0) != MGV_OK);
    CHECK_OK(ctx, mgv_page_close(ctx, NULL, 1));
    mgv_ctx_free(ctx);
}

int main(void)
{
    return RUN(a_page_is_escaped_and_well_formed, values_have_their_place, long_lines_stay_small,
               nonsense_is_refused);
}
