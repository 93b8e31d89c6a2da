/* text_reading.h - texts read from memory of exactly their size, with settings, chunks, threads. */
#ifndef MGV_TESTS_IO_TEXT_READING_H
#define MGV_TESTS_IO_TEXT_READING_H

#include "tables.h"

#include "io/text.h"

typedef mgv_status (*text_reader)(mgv_ctx *ctx, mgvi_source *source, mgv_data *data,
                                  size_t chunk_bytes);

/* "base=0 features=3" */
static inline void set_all(mgv_ctx *ctx, mgv_settings *s, const char *assignments)
{
    char name[64], value[64];
    int used;
    mgvi_settings_defaults(s);
    for (; sscanf(assignments, " %63[^=]=%63[^ ]%n", name, value, &used) == 2; assignments += used)
        CHECK_OK(ctx, mgvi_settings_set(ctx, s, name, value));
}

static inline mgv_status read_sized(mgv_ctx *ctx, text_reader reader, const char *text, size_t size,
                                    const char *settings, size_t chunk, mgv_data **out)
{
    static mgv_settings s; /* some kilobytes */
    set_all(ctx, &s, settings);
    *out = NULL;
    char *bytes = malloc(size ? size : 1); /* so that a sanitizer sees the end */
    memcpy(bytes, text, size);
    mgvi_source source = {.path = "f", .bytes = bytes, .size = size, .settings = &s};
    mgv_data *data;
    mgv_status st = mgvi_data_new(ctx, &data);
    if (st == MGV_OK) {
        st = reader(ctx, &source, data, chunk);
        if (st == MGV_OK)
            *out = data;
        else
            mgvi_data_free(ctx, data);
    }
    free(bytes);
    return st;
}

static inline mgv_status read_as(mgv_ctx *ctx, text_reader reader, const char *text,
                                 const char *settings, mgv_data **out)
{
    return read_sized(ctx, reader, text, strlen(text), settings, MGVI_CHUNK, out);
}

typedef struct text_fault {
    const char *text, *settings, *sentence;
} text_fault;

/* Every text is refused with its sentence, in chunks of any size and by any number of threads. */
static inline void check_faults(text_reader reader, const text_fault *faults, size_t count)
{
    mgv_ctx *ctx = mgv_check_ctx();
    for (int threads = 1; threads <= 5; threads += 2) {
        CHECK_OK(ctx, mgv_ctx_set_threads(ctx, threads));
        for (size_t i = 0; i < count; i++)
            for (size_t chunk = 3; chunk <= 300; chunk *= 10) {
                mgv_data *data;
                const mgv_status st =
                    read_sized(ctx, reader, faults[i].text, strlen(faults[i].text),
                               faults[i].settings, chunk, &data);
                CHECK_THAT((st == MGV_E_INPUT || st == MGV_E_ARG) && !data, "%s: status %d",
                           faults[i].text, st);
                assert_string_equal(mgv_ctx_error(ctx), faults[i].sentence);
            }
    }
    mgv_ctx_free(ctx);
}

/* The same table from chunks of any size, by any number of threads. */
static inline void check_chunks(text_reader reader, const char *text, size_t size,
                                const char *settings)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *whole, *data;
    CHECK_OK(ctx, read_sized(ctx, reader, text, size, settings, size + 1, &whole));
    CHECK_OK(ctx, mgvi_matrix_check(ctx, &whole->X, NULL, NULL));
    for (int threads = 1; threads <= 5; threads += threads < 2 ? 1 : 3) {
        CHECK_OK(ctx, mgv_ctx_set_threads(ctx, threads));
        for (size_t chunk = 1; chunk < size; chunk = chunk * 5 + 2) {
            CHECK_OK(ctx, read_sized(ctx, reader, text, size, settings, chunk, &data));
            check_same_table(whole, data);
            CHECK(whole->stored_zeros == data->stored_zeros);
            mgvi_data_free(ctx, data);
        }
    }
    mgvi_data_free(ctx, whole);
    mgv_ctx_free(ctx);
}

/* The k-th allocation fails, k = 1, 2, ...: a sentence, and nothing is left behind. */
static inline void check_failing_allocations(text_reader reader, const char *text,
                                             const char *settings)
{
    for (long k = 1;; k++) {
        mgv_check_allocator a;
        mgv_check_allocator_init(&a, 0);
        mgv_ctx *ctx;
        mgv_data *data;
        assert_int_equal(mgv_ctx_new(&a.hooks, &ctx), MGV_OK);
        const long before = a.live;
        a.fail_at = a.calls + k;
        const mgv_status st = read_as(ctx, reader, text, settings, &data);
        mgvi_data_free(ctx, data);
        CHECK(a.live == before);
        if (st != MGV_OK)
            CHECK_FAILS(ctx, st, MGV_E_MEMORY, "out of memory");
        mgv_ctx_free(ctx);
        if (st == MGV_OK) {
            CHECK(k > 3);
            return;
        }
    }
}

/* Text cut anywhere, and with any byte replaced, is read or refused with a sentence. */
static inline void check_hostile(text_reader reader, const char *text, const char *settings)
{
    static const char replacements[] = {0,   '\n', '\r', ' ', ':', '"',
                                        ',', '#',  '-',  '9', 'e', '\xff'};
    mgv_ctx *ctx = mgv_check_ctx();
    CHECK_OK(ctx, mgv_ctx_set_threads(ctx, 1)); /* thousands of tiny texts */
    const size_t size = strlen(text);
    char *copy = malloc(size);
    for (size_t i = 0; i < size; i++)
        for (size_t r = 0; r <= sizeof replacements; r++) {
            mgv_data *data;
            memcpy(copy, text, size);
            if (r < sizeof replacements)
                copy[i] = replacements[r];
            const mgv_status st = read_sized(ctx, reader, copy, r < sizeof replacements ? size : i,
                                             settings, i % 7 + 1, &data);
            if (st == MGV_OK)
                CHECK_OK(ctx, mgvi_matrix_check(ctx, &data->X, NULL, NULL));
            else
                CHECK(mgv_ctx_error(ctx)[0] && !data);
            mgvi_data_free(ctx, data);
        }
    free(copy);
    mgv_ctx_free(ctx);
}

static inline double value_at(const mgv_data *data, int64_t row, int64_t col)
{
    const mgvi_matrix *X = &data->X;
    if (X->layout == MGV_DENSE)
        return mgvi_matrix_value(X, row * X->row_stride + col * X->col_stride);
    for (int64_t t = X->ptr[row]; t < X->ptr[row + 1]; t++)
        if (X->idx[t] == col)
            return mgvi_matrix_value(X, t);
    return 0;
}
#endif
