/* page.h - one HTML page with sections, tables and charts, in one file that needs no other and no
 * network: for a browser, a telephone, paper. This part of the interface may change.
 *
 * Texts are UTF-8 and plain: they are escaped. A page is written as mgv_output_open() writes, whole or
 * not at all; failures to write are told by mgv_page_close(). */
#ifndef MARGRAVE_PAGE_H
#define MARGRAVE_PAGE_H

#include <margrave/margrave.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mgv_page mgv_page;
MGV_API mgv_status mgv_page_open(mgv_ctx *ctx, const char *path, const char *title, mgv_page **out);
/* Frees it; `keep` 0: nothing appears. NULL is accepted. */
MGV_API mgv_status mgv_page_close(mgv_ctx *ctx, mgv_page *page, int keep);

/* How a section's mark looks. */
typedef enum mgv_mark {
    MGV_MARK_PLAIN = 0,
    MGV_MARK_GOOD = 1,
    MGV_MARK_HALF = 2,
    MGV_MARK_BAD = 3
} mgv_mark;
/* A heading; `mark` is a word or two beside it, or NULL. */
MGV_API mgv_status mgv_page_section(mgv_ctx *ctx, mgv_page *page, const char *title,
                                    const char *mark, mgv_mark kind);
/* A paragraph; `label` in bold before it, or NULL. */
MGV_API mgv_status mgv_page_text(mgv_ctx *ctx, mgv_page *page, const char *label, const char *text);
/* Text as it is, in lines of one width. */
MGV_API mgv_status mgv_page_code(mgv_ctx *ctx, mgv_page *page, const char *text);

/* Cells row by row, NULL: empty; a column is set to the right where its cells begin like numbers. */
typedef struct mgv_grid {
    size_t size;
    const char *caption; /* or NULL */
    const char *const *head;
    const char *const *cells; /* rows x columns */
    int64_t rows, columns;
} mgv_grid;
MGV_API mgv_status mgv_page_table(mgv_ctx *ctx, mgv_page *page, const mgv_grid *table);

/* Values that are not finite, and on a logarithmic axis not positive, are gaps. */
typedef struct mgv_series {
    size_t size;
    const char *name;
    const double *x, *y;
    const double *low, *high; /* a band around it, both or neither */
    int64_t count;
    int points; /* 1: marks alone, no line */
} mgv_series;
/* Charts that follow each other stand side by side where there is room. NaN: as the values have it. */
typedef struct mgv_chart {
    size_t size;
    const char *title, *x_label, *y_label;
    const mgv_series *const *series;
    int64_t count; /* at most 8 can be told apart, more are refused */
    int log_x, log_y;
    double x_low, x_high, y_low, y_high;
} mgv_chart;
MGV_API mgv_status mgv_page_chart(mgv_ctx *ctx, mgv_page *page, const mgv_chart *chart);

#ifdef __cplusplus
}
#endif
#endif
