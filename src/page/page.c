/* page.c - the frame of a page, its sections, texts and tables. Nothing in it is fetched: the
 * policy in its head forbids it. */
#include "page/page.h"

#include "base/memory.h"
#include "page/style.h"

#include <string.h>

/* ---- texts ------------------------------------------------------------------------------------ */

/* Bytes of the character that begins here; 0: this is not UTF-8. */
static size_t length_of(const unsigned char *c)
{
    const size_t n = c[0] < 0x80                   ? 1
                     : c[0] >= 0xc2 && c[0] < 0xe0 ? 2
                     : (c[0] & 0xf0) == 0xe0       ? 3
                     : c[0] >= 0xf0 && c[0] < 0xf5 ? 4
                                                   : 0;
    for (size_t k = 1; k < n; k++)
        if ((c[k] & 0xc0) != 0x80)
            return 0;
    return n;
}

void mgvi_page_escape(mgv_page *page, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        const size_t n = length_of(c);
        const char *entity = *c == '&'    ? "&amp;"
                             : *c == '<'  ? "&lt;"
                             : *c == '>'  ? "&gt;"
                             : *c == '"'  ? "&quot;"
                             : *c == '\'' ? "&#39;"
                                          : NULL;
        const bool control = *c < 0x20 && *c != '\n' && *c != '\t';
        if (entity)
            mgvi_sink_write(page->sink, entity, strlen(entity));
        else if (n == 0 || control)
            mgvi_sink_write(page->sink, "?", 1);
        else
            mgvi_sink_write(page->sink, c, n);
        c += n ? n : 1;
    }
}

static void element(mgv_page *page, const char *open, const char *text, const char *close)
{
    mgvi_sink_printf(page->sink, "%s", open);
    mgvi_page_escape(page, text);
    mgvi_sink_printf(page->sink, "%s", close);
}

void mgvi_page_block(mgv_page *page)
{
    if (page->charts)
        mgvi_sink_printf(page->sink, "</div>\n");
    page->charts = false;
}

static mgv_status need(mgv_ctx *ctx, const void *page, const void *what, const char *name)
{
    if (!ctx)
        return MGV_E_ARG;
    if (!page || !what)
        return MGVI_FAIL(ctx, MGV_E_ARG, "%s is NULL", page ? name : "page");
    ctx->error[0] = 0;
    return MGV_OK;
}

/* ---- the frame -------------------------------------------------------------------------------- */

mgv_status mgv_page_open(mgv_ctx *ctx, const char *path, const char *title, mgv_page **out)
{
    MGVI_TRY(need(ctx, out, path, "path"));
    *out = NULL;
    MGVI_TRY(need(ctx, out, title, "title"));
    mgv_page *page = mgvi_new(ctx, sizeof *page);
    if (!page)
        return MGV_E_MEMORY;
    page->ctx = ctx;
    const mgv_status st = mgvi_sink_open(ctx, path, &page->sink);
    if (st != MGV_OK) {
        mgvi_release(ctx, page);
        return st;
    }
    mgvi_sink_printf(page->sink,
                     "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                     "style-src 'unsafe-inline'; img-src data:\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<meta name=\"color-scheme\" content=\"light dark\">\n"
                     "<link rel=\"icon\" href=\"data:,\">\n");
    element(page, "<title>", title, "</title>\n<style>\n");
    mgvi_sink_write(page->sink, mgvi_page_style, strlen(mgvi_page_style));
    /* one clip for all charts, which are of one size */
    mgvi_sink_printf(page->sink,
                     "</style></head><body>\n<svg width=\"0\" height=\"0\" class=\"no\" "
                     "aria-hidden=\"true\"><defs><clipPath id=\"box\"><rect x=\"%d\" y=\"%d\" "
                     "width=\"%d\" height=\"%d\"/></clipPath></defs></svg>\n",
                     (int)MGVI_CHART_LEFT, (int)MGVI_CHART_TOP,
                     MGVI_CHART_WIDTH - MGVI_CHART_LEFT - MGVI_CHART_RIGHT,
                     MGVI_CHART_HEIGHT - MGVI_CHART_TOP - MGVI_CHART_BOTTOM);
    element(page, "<main><h1>", title, "</h1>\n");
    *out = page;
    return MGV_OK;
}

mgv_status mgv_page_close(mgv_ctx *ctx, mgv_page *page, int keep)
{
    if (!ctx)
        return MGV_E_ARG;
    if (!page)
        return MGV_OK;
    mgvi_page_block(page);
    mgvi_sink_printf(page->sink, "</main></body></html>\n");
    const mgv_status st = mgvi_sink_close(page->sink, keep != 0);
    mgvi_release(ctx, page);
    return st;
}

/* ---- what is in it ---------------------------------------------------------------------------- */

mgv_status mgv_page_section(mgv_ctx *ctx, mgv_page *page, const char *title, const char *mark,
                            mgv_mark kind)
{
    MGVI_TRY(need(ctx, page, title, "title"));
    if ((unsigned)kind > MGV_MARK_BAD)
        return MGVI_FAIL(ctx, MGV_E_ARG, "there is no mark %d", (int)kind);
    mgvi_page_block(page);
    mgvi_sink_printf(page->sink, "<h2 id=\"s%d\">", (int)++page->sections);
    mgvi_page_escape(page, title);
    if (mark) {
        mgvi_sink_printf(page->sink, " <span class=\"mark k%d\">", (int)kind);
        element(page, "", mark, "</span>");
    }
    mgvi_sink_printf(page->sink, "</h2>\n");
    return MGV_OK;
}

mgv_status mgv_page_text(mgv_ctx *ctx, mgv_page *page, const char *label, const char *text)
{
    MGVI_TRY(need(ctx, page, text, "text"));
    mgvi_page_block(page);
    mgvi_sink_printf(page->sink, "<p>");
    if (label)
        element(page, "<strong>", label, "</strong> ");
    element(page, "", text, "</p>\n");
    return MGV_OK;
}

mgv_status mgv_page_code(mgv_ctx *ctx, mgv_page *page, const char *text)
{
    MGVI_TRY(need(ctx, page, text, "text"));
    mgvi_page_block(page);
    element(page, "<pre><code>", text, "</code></pre>\n");
    return MGV_OK;
}

/* ---- tables ----------------------------------------------------------------------------------- */

static bool is_number(const char *text)
{
    return *text && strchr("0123456789+-.", *text) && strpbrk(text, "0123456789");
}

static bool is_column_of_numbers(const mgv_grid *t, int64_t column)
{
    bool any = false;
    for (int64_t i = 0; i < t->rows; i++) {
        const char *cell = t->cells[i * t->columns + column];
        if (cell && *cell && !is_number(cell))
            return false;
        any = any || (cell && *cell);
    }
    return any;
}

mgv_status mgv_page_table(mgv_ctx *ctx, mgv_page *page, const mgv_grid *t)
{
    MGVI_TRY(need(ctx, page, t, "table"));
    if (t->rows < 0 || t->columns < 1 || !t->head || (t->rows > 0 && !t->cells))
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "a table needs a head and cells (got %" PRId64 " rows of %" PRId64
                         " columns)",
                         t->rows, t->columns);
    mgvi_page_block(page);
    mgvi_sink_printf(page->sink, "<div class=\"wide\"><table>");
    if (t->caption)
        element(page, "<caption>", t->caption, "</caption>");
    for (int64_t i = -1; i < t->rows; i++) {
        mgvi_sink_printf(page->sink, "<tr>");
        for (int64_t j = 0; j < t->columns; j++) {
            const char *cell = i < 0 ? t->head[j] : t->cells[i * t->columns + j];
            mgvi_sink_printf(page->sink, i < 0 ? "<th%s>" : "<td%s>",
                             is_column_of_numbers(t, j) ? " class=\"r\"" : "");
            element(page, "", cell ? cell : "", i < 0 ? "</th>" : "</td>");
        }
        mgvi_sink_printf(page->sink, "</tr>\n");
    }
    mgvi_sink_printf(page->sink, "</table></div>\n");
    return MGV_OK;
}
