/* page/page.h - what the parts of a page share. */
#ifndef MGVI_PAGE_PAGE_H
#define MGVI_PAGE_PAGE_H

#include <margrave/page.h>

#include "base/sink.h"

struct mgv_page {
    mgv_ctx *ctx;
    mgvi_sink *sink;
    int64_t sections;
    bool charts; /* a row of charts is open */
};

/* A chart and the box of its lines, in the units of its drawing. */
enum {
    MGVI_CHART_WIDTH = 440,
    MGVI_CHART_HEIGHT = 290,
    MGVI_CHART_LEFT = 66,  /* the axis' name and a number such as 0.0025 */
    MGVI_CHART_RIGHT = 24, /* half of a number such as 10000 */
    MGVI_CHART_TOP = 12,
    MGVI_CHART_BOTTOM = 44
};

/* Bytes as text: markup is escaped, what is not UTF-8 becomes '?'. */
void mgvi_page_escape(mgv_page *page, const char *text);
/* Ends a row of charts. */
void mgvi_page_block(mgv_page *page);

/* ---- axis.c ---------------------------------------------------------------------------------- */

enum { MGVI_TICKS_MOST = 12 };

/* From values to places: `from` is at 0, `to` at 1. */
typedef struct mgvi_axis {
    bool log;
    double from, to; /* of a logarithmic axis their logarithms to the base 10 */
    int ticks;
    double tick[MGVI_TICKS_MOST]; /* values */
} mgvi_axis;

/* Over the values from `low` to `high`, positive where it is logarithmic, with some ticks. */
mgvi_axis mgvi_axis_over(bool log, double low, double high);
/* NaN: the value has no place. */
double mgvi_axis_place(const mgvi_axis *axis, double value);
/* A tick's text in SVG; at most `capacity` bytes with the end. */
void mgvi_axis_text(const mgvi_axis *axis, int tick, char *text, size_t capacity);
#endif
