/* fuzz.c - a bounded context, and a whole trip through a reader. */
#include "fuzz.h"

#include "io/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_BLOCK = 1 << 26, MOST_TO_WRITE = 4096 };

static long live, live_at_rest;

static void *bounded_alloc(void *user, size_t bytes, size_t align)
{
    (void)user;
    void *p =
        bytes > LARGEST_BLOCK ? NULL : aligned_alloc(align, (bytes + align - 1) / align * align);
    live += p != NULL;
    return p;
}

static void bounded_release(void *user, void *memory)
{
    (void)user;
    live -= memory != NULL;
    free(memory);
}

mgv_ctx *fuzz_new_ctx(void)
{
    const mgv_allocator hooks = {
        .size = sizeof hooks, .alloc = bounded_alloc, .release = bounded_release};
    mgv_ctx *ctx;
    if (mgv_ctx_new(&hooks, &ctx) != MGV_OK || mgv_ctx_set_threads(ctx, 1) != MGV_OK)
        abort();
    return ctx;
}

mgv_ctx *fuzz_ctx(void)
{
    static mgv_ctx *ctx;
    if (!ctx) {
        ctx = fuzz_new_ctx();
        live_at_rest = live;
    }
    return ctx;
}

void fuzz_check_leaks(void)
{
    if (live != live_at_rest) {
        fprintf(stderr, "%ld blocks were not released\n", live - live_at_rest);
        abort();
    }
}

/* Every writer takes what a reader has made, or says why not. */
static void write_back(mgv_ctx *ctx, const mgv_data *data, mgv_settings *settings)
{
    if (data->X.rows > MOST_TO_WRITE || data->X.cols > MOST_TO_WRITE ||
        data->X.rows * data->X.cols > MOST_TO_WRITE)
        return;
    for (int k = 0; k < mgvi_writer_count(); k++) {
        settings->format = mgvi_writer_at(k)->name;
        const mgv_status st = mgvi_write_file(ctx, data, "/dev/null", settings);
        if (st != MGV_OK && st != MGV_E_UNSUPPORTED) {
            fprintf(stderr, "%s: %s\n", settings->format, mgv_ctx_error(ctx));
            abort();
        }
    }
}

/* `known`: the columns of a model that the rows are for, or NULL. */
static void read_once(const char *reader, const mgvi_column_names *known, const uint8_t *bytes,
                      size_t size)
{
    static mgv_settings settings;
    mgv_ctx *ctx = fuzz_ctx();
    mgv_data *data = NULL;
    mgvi_settings_defaults(&settings);
    settings.format = reader;
    mgvi_source source = {.path = "input", .size = size, .settings = &settings, .known = known};
    source.bytes = mgvi_dup(ctx, bytes, size, 1); /* exact in size: reading beyond is seen */
    if (!source.bytes)
        return;
    ctx->error[0] = 0;
    const mgv_status st = mgvi_read_source(ctx, &source, &data);
    mgvi_source_close(ctx, &source);
    if (st != MGV_OK && (data || !ctx->error[0])) {
        fprintf(stderr, "%s without a sentence\n", mgv_status_name(st));
        abort();
    }
    if (st == MGV_OK && mgvi_data_check_once(ctx, data) == MGV_OK)
        write_back(ctx, data, &settings);
    mgvi_data_free(ctx, data);
    fuzz_check_leaks();
}

void fuzz_read(const char *reader, const uint8_t *bytes, size_t size)
{
    static char a[] = "a", b[] = "b", y[] = "y", *names[] = {a, b, a};
    const mgvi_column_names named = {
        .count = 3, .names = names, .label = y, .label_at = 1, .first_index = -1};
    const mgvi_column_names counted = {.count = 2, .label_at = 0, .first_index = 0};
    read_once(reader, NULL, bytes, size);
    read_once(reader, &named, bytes, size);
    read_once(reader, &counted, bytes, size);
}
