/* chart.c - a line chart as SVG. A series has a colour (Okabe and Ito's, which the colour-blind tell
 * apart), a dash and a mark of its own; lines of many points are drawn by the least and the largest
 * value of every step along x, so that the page stays small. */
#include "page/page.h"

#include <math.h>
#include <string.h>

enum {
    WIDTH = MGVI_CHART_WIDTH,
    HEIGHT = MGVI_CHART_HEIGHT,
    LEFT = MGVI_CHART_LEFT,
    RIGHT = MGVI_CHART_RIGHT,
    TOP = MGVI_CHART_TOP,
    BOTTOM = MGVI_CHART_BOTTOM
};
enum { SERIES_MOST = 8, STEPS = 380, MARKS = 6 }; /* steps along x, marks along a line */

typedef struct plot {
    mgv_page *page;
    const mgv_chart *chart;
    mgvi_axis x, y;
} plot;

static double across(const plot *p, double x)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * mgvi_axis_place(&p->x, x);
}

static double down(const plot *p, double y)
{
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * mgvi_axis_place(&p->y, y);
}

/* ---- axes ------------------------------------------------------------------------------------- */

static void widen(double range[2], bool log, double value)
{
    if (!isfinite(value) || (log && !(value > 0)))
        return;
    range[0] = fmin(range[0], value);
    range[1] = fmax(range[1], value);
}

/* Some room above and below, or what is level there is drawn on the frame. */
static void loosen(double range[2], bool log)
{
    const double share = 0.03;
    const double room = log ? pow(range[1] / range[0], share) : share * (range[1] - range[0]);
    range[0] = log ? range[0] / room : range[0] - room;
    range[1] = log ? range[1] * room : range[1] + room;
}

static mgvi_axis axis_of(const mgv_chart *c, bool vertical)
{
    static const double DEEPEST = 1e-18; /* of a logarithmic axis, beside its largest value */
    const bool log = vertical ? c->log_y : c->log_x;
    const double low = vertical ? c->y_low : c->x_low, high = vertical ? c->y_high : c->x_high;
    double range[2] = {INFINITY, -INFINITY};
    for (int64_t k = 0; k < c->count; k++) {
        const mgv_series *s = c->series[k];
        for (int64_t i = 0; i < s->count; i++) {
            widen(range, log, vertical ? s->y[i] : s->x[i]);
            if (vertical && s->low) {
                widen(range, log, s->low[i]);
                widen(range, log, s->high[i]);
            }
        }
    }
    if (!(range[0] <= range[1]))
        range[0] = range[1] = 1;
    if (log)
        range[0] = fmax(range[0], DEEPEST * range[1]);
    if (vertical)
        loosen(range, log);
    if (isfinite(low) && !(log && !(low > 0)))
        range[0] = low;
    if (isfinite(high) && !(log && !(high > 0)))
        range[1] = high;
    return mgvi_axis_over(log, range[0], range[1]);
}

static void draw_axes(const plot *p)
{
    mgvi_sink *to = p->page->sink;
    char text[80];
    for (int k = 0; k < p->x.ticks; k++) {
        const double x = across(p, p->x.tick[k]);
        mgvi_axis_text(&p->x, k, text, sizeof text);
        mgvi_sink_printf(to,
                         "<line class=\"g\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>"
                         "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>",
                         x, x, (int)TOP, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 15, text);
    }
    for (int k = 0; k < p->y.ticks; k++) {
        const double y = down(p, p->y.tick[k]);
        mgvi_axis_text(&p->y, k, text, sizeof text);
        mgvi_sink_printf(to,
                         "<line class=\"g\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                         "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>",
                         (int)LEFT, WIDTH - RIGHT, y, y, LEFT - 5, y + 4, text);
    }
    mgvi_sink_printf(to, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
                     (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8);
    mgvi_page_escape(p->page, p->chart->x_label);
    mgvi_sink_printf(to,
                     "</text><text transform=\"translate(12 %d) rotate(-90)\" "
                     "text-anchor=\"middle\">",
                     (HEIGHT - BOTTOM + TOP) / 2);
    mgvi_page_escape(p->page, p->chart->y_label);
    mgvi_sink_printf(to, "</text>\n");
}

/* ---- series ----------------------------------------------------------------------------------- */

static void mark(mgvi_sink *to, int64_t which, double x, double y)
{
    static const char *const shapes[] = {"M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0",
                                         "M-3-3h6v6h-6z",
                                         "M0-4l4 7h-8z",
                                         "M0-4l4 4-4 4-4-4z",
                                         "M-4 0h8M0-4v8",
                                         "M-3-3l6 6M-3 3l6-6",
                                         "M0 4l4-7h-8z",
                                         "M-4 0h8"};
    mgvi_sink_printf(to, "<path class=\"m\" transform=\"translate(%.1f %.1f)\" d=\"%s\"/>", x, y,
                     shapes[which % SERIES_MOST]);
}

/* A place of the line; `pen`: whether one is being drawn. */
static void line_to(const plot *p, double x, double y, bool *pen)
{
    if (!isfinite(x) || !isfinite(y)) {
        *pen = false;
        return;
    }
    mgvi_sink_printf(p->page->sink, "%c%.1f %.1f", *pen ? 'L' : 'M', x, y);
    *pen = true;
}

/* All of a step along x that has more than two points is drawn as first, least, largest, last. */
static void draw_line(const plot *p, const mgv_series *s, const double *values)
{
    bool pen = false;
    for (int64_t i = 0; i < s->count;) {
        const double x = across(p, s->x[i]);
        const double step = floor((x - LEFT) * STEPS / (WIDTH - LEFT - RIGHT));
        double least = INFINITY, most = -INFINITY;
        int64_t end = i;
        while (end < s->count && isfinite(down(p, values[end])) &&
               floor((across(p, s->x[end]) - LEFT) * STEPS / (WIDTH - LEFT - RIGHT)) == step) {
            least = fmin(least, down(p, values[end]));
            most = fmax(most, down(p, values[end++]));
        }
        line_to(p, x, down(p, values[i]), &pen);
        if (end > i + 2) {
            line_to(p, x, least, &pen);
            line_to(p, x, most, &pen);
        }
        if (end > i + 1)
            line_to(p, across(p, s->x[end - 1]), down(p, values[end - 1]), &pen);
        i = end > i ? end : i + 1;
    }
}

/* There along the upper end, and back along the lower. */
static void draw_band(const plot *p, const mgv_series *s)
{
    char letter = 'M';
    mgvi_sink_printf(p->page->sink, "<path class=\"b\" d=\"");
    for (int64_t k = 0; k < 2 * s->count; k++) {
        const int64_t i = k < s->count ? k : 2 * s->count - 1 - k;
        const double x = across(p, s->x[i]), y = down(p, k < s->count ? s->high[i] : s->low[i]);
        if (!isfinite(x) || !isfinite(y))
            continue;
        mgvi_sink_printf(p->page->sink, "%c%.1f %.1f", letter, x, y);
        letter = 'L';
    }
    mgvi_sink_printf(p->page->sink, "%s\"/>", letter == 'L' ? "z" : "");
}

/* Points have a mark each, lines a few along the way, each series at other places. */
static void draw_marks(const plot *p, const mgv_series *s, int64_t which)
{
    double next = LEFT + (WIDTH - LEFT - RIGHT) * (0.06 + 0.11 * (double)which / SERIES_MOST);
    for (int64_t i = 0; i < s->count; i++) {
        const double x = across(p, s->x[i]), y = down(p, s->y[i]);
        if (!isfinite(x) || !isfinite(y) || (!s->points && x < next))
            continue;
        if (y < TOP - 1 || y > HEIGHT - BOTTOM + 1 || x < LEFT - 1 || x > WIDTH - RIGHT + 1)
            continue;
        mark(p->page->sink, which, x, y);
        next = x + (double)(WIDTH - LEFT - RIGHT) / MARKS;
    }
}

static void draw_series(const plot *p, const mgv_series *s, int64_t which)
{
    mgvi_sink *to = p->page->sink;
    mgvi_sink_printf(to, "<g class=\"s%d\"><g clip-path=\"url(#box)\">", (int)which);
    if (s->low)
        draw_band(p, s);
    if (!s->points) {
        mgvi_sink_printf(to, "<path class=\"l\" d=\"");
        draw_line(p, s, s->y);
        mgvi_sink_printf(to, "\"/>");
    }
    mgvi_sink_printf(to, "</g>");
    draw_marks(p, s, which);
    mgvi_sink_printf(to, "</g>\n");
}

static void write_legend(mgv_page *page, const mgv_chart *c)
{
    mgvi_sink_printf(page->sink, "<ul>");
    for (int64_t k = 0; k < c->count; k++) {
        mgvi_sink_printf(page->sink,
                         "<li><svg class=\"s%d\" viewBox=\"0 0 30 12\" width=\"30\" height=\"12\" "
                         "aria-hidden=\"true\">",
                         (int)k);
        if (!c->series[k]->points)
            mgvi_sink_printf(page->sink, "<path class=\"l\" d=\"M0 6H30\"/>");
        mark(page->sink, k, 15, 6);
        mgvi_sink_printf(page->sink, "</svg> ");
        mgvi_page_escape(page, c->series[k]->name);
        mgvi_sink_printf(page->sink, "</li>");
    }
    mgvi_sink_printf(page->sink, "</ul>");
}

/* ---- the chart -------------------------------------------------------------------------------- */

static mgv_status check(mgv_ctx *ctx, const mgv_chart *c)
{
    if (!c->title || !c->x_label || !c->y_label)
        return MGVI_FAIL(ctx, MGV_E_ARG, "a chart needs a title and two labels");
    if (c->count < 0 || c->count > SERIES_MOST)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "a chart has at most %d series that can be told apart (got %" PRId64
                         "); make two of it",
                         (int)SERIES_MOST, c->count);
    if (c->count > 0 && !c->series)
        return MGVI_FAIL(ctx, MGV_E_ARG, "series is NULL");
    for (int64_t k = 0; k < c->count; k++) {
        const mgv_series *s = c->series[k];
        if (!s || !s->name || s->count < 0 || (s->count > 0 && (!s->x || !s->y)) ||
            !s->low != !s->high)
            return MGVI_FAIL(ctx, MGV_E_ARG,
                             "series %" PRId64 " of the chart needs a name, x and y, and both ends "
                             "of a band or none",
                             k + 1);
    }
    return MGV_OK;
}

mgv_status mgv_page_chart(mgv_ctx *ctx, mgv_page *page, const mgv_chart *chart)
{
    if (!ctx)
        return MGV_E_ARG;
    if (!page || !chart)
        return MGVI_FAIL(ctx, MGV_E_ARG, "%s is NULL", page ? "chart" : "page");
    MGVI_TRY(check(ctx, chart));
    const plot p = {page, chart, axis_of(chart, false), axis_of(chart, true)};
    mgvi_sink *to = page->sink;
    mgvi_sink_printf(to, "%s<figure><figcaption>", page->charts ? "" : "<div class=\"charts\">\n");
    page->charts = true;
    mgvi_page_escape(page, chart->title);
    mgvi_sink_printf(to, "</figcaption><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
                     (int)WIDTH, (int)HEIGHT);
    mgvi_page_escape(page, chart->title);
    mgvi_sink_printf(to, "\">\n");
    draw_axes(&p);
    for (int64_t k = 0; k < chart->count; k++)
        draw_series(&p, chart->series[k], k);
    mgvi_sink_printf(to, "<rect class=\"box\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/></svg>",
                     (int)LEFT, (int)TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    write_legend(page, chart);
    mgvi_sink_printf(to, "</figure>\n");
    ctx->error[0] = 0;
    return MGV_OK;
}
