/* tables.h - small tables of every kind, and what it means that two are equal. */
#ifndef MGV_TESTS_IO_TABLES_H
#define MGV_TESTS_IO_TABLES_H

#include "check.h"

#include "base/rng.h"
#include "io/io.h"

#include <stdlib.h>
#include <string.h>

typedef enum table_labels {
    LABELS_NONE,
    LABELS_NUMBERS,
    LABELS_WORDS,
    LABELS_REAL,
    LABEL_KINDS
} table_labels;
typedef enum table_form {
    FORM_ROWS,
    FORM_COLUMNS,
    FORM_STRIDED,
    FORM_CSR,
    FORM_CSC,
    FORMS
} table_form;

enum { TABLE_ROWS = 9, TABLE_COLS = 5 };

static inline void table_set(mgvi_matrix *X, void *val, int64_t t, double value)
{
    if (X->dtype == MGV_F32)
        ((float *)val)[t] = (float)value;
    else
        ((double *)val)[t] = value;
}

static inline mgv_status table_dense(mgv_ctx *ctx, mgv_data *data, table_form form, mgvi_rng *rng)
{
    mgvi_matrix *X = &data->X;
    X->layout = MGV_DENSE;
    X->nnz = X->rows * X->cols;
    X->row_stride = form == FORM_ROWS ? X->cols : form == FORM_COLUMNS ? 1 : 2 * X->cols + 3;
    X->col_stride = form == FORM_ROWS ? 1 : form == FORM_COLUMNS ? X->rows : 2;
    void *val = mgvi_data_array(ctx, data, (size_t)(3 * X->nnz + 100), sizeof(double));
    if (!val)
        return MGV_E_MEMORY;
    X->val = val;
    for (int64_t i = 0; i < X->rows; i++)
        for (int64_t j = 0; j < X->cols; j++)
            table_set(X, val, i * X->row_stride + j * X->col_stride, mgvi_rng_normal(rng));
    return MGV_OK;
}

static inline mgv_status table_sparse(mgv_ctx *ctx, mgv_data *data, table_form form, mgvi_rng *rng)
{
    mgvi_matrix *X = &data->X;
    X->layout = form == FORM_CSR ? MGV_CSR : MGV_CSC;
    const int64_t major = form == FORM_CSR ? X->rows : X->cols;
    const int64_t minor = form == FORM_CSR ? X->cols : X->rows;
    void *val = mgvi_data_array(ctx, data, (size_t)(major * minor), sizeof(double));
    int32_t *idx = mgvi_data_array(ctx, data, (size_t)(major * minor), sizeof *idx);
    int64_t *ptr = mgvi_data_array(ctx, data, (size_t)major + 1, sizeof *ptr);
    if (!val || !idx || !ptr)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < major; i++) {
        ptr[i + 1] = ptr[i];
        for (int32_t j = 0; j < minor; j++) {
            if (mgvi_rng_uniform(rng) < 0.4) {
                idx[ptr[i + 1]] = j;
                table_set(X, val, ptr[i + 1]++, mgvi_rng_normal(rng));
            }
        }
    }
    X->val = val;
    X->idx = idx;
    X->ptr = ptr;
    X->nnz = ptr[major];
    return MGV_OK;
}

static inline mgv_status table_label(mgv_ctx *ctx, mgv_data *data, table_labels labels,
                                     mgvi_rng *rng)
{
    static const char *const words[] = {"setosa", "\xc3\xa9t\xc3\xa9", "\xf0\x9f\x8c\xbb", "b c"};
    double numbers[TABLE_ROWS];
    const char *texts[TABLE_ROWS];
    for (int i = 0; i < TABLE_ROWS; i++) {
        const uint32_t k = mgvi_rng_u32(rng) % 4;
        texts[i] = words[k];
        numbers[i] = labels == LABELS_REAL ? mgvi_rng_normal(rng) : (double)k - 1;
    }
    if (labels == LABELS_NONE)
        return MGV_OK;
    return labels == LABELS_WORDS ? mgvi_data_set_text_labels(ctx, data, texts)
                                  : mgvi_data_set_labels(ctx, data, numbers, NULL, NULL);
}

/* A table filled from the seed `form`; with weights and column names when `extras`. */
static inline mgv_status table_new(mgv_ctx *ctx, table_form form, mgv_dtype dtype,
                                   table_labels labels, bool extras, mgv_data **out)
{
    static char *names[TABLE_COLS] = {"age", "h\xc3\xb6he", "x 3", "", "last"};
    mgv_status st;
    mgvi_rng rng = mgvi_rng_seed((uint64_t)form);
    mgv_data *data;
    *out = NULL;
    MGVI_TRY(mgvi_data_new(ctx, &data));
    data->X.dtype = dtype;
    data->X.rows = TABLE_ROWS;
    data->X.cols = TABLE_COLS;
    MGVI_CHECK(st, done,
               form <= FORM_STRIDED ? table_dense(ctx, data, form, &rng)
                                    : table_sparse(ctx, data, form, &rng));
    MGVI_CHECK(st, done, table_label(ctx, data, labels, &rng));
    if (extras) {
        data->names = names;
        data->weights = mgvi_data_array(ctx, data, TABLE_ROWS, sizeof(double));
        if (!data->weights)
            st = MGV_E_MEMORY;
        for (int i = 0; data->weights && i < TABLE_ROWS; i++)
            data->weights[i] = mgvi_rng_uniform(&rng);
    }
done:
    if (st == MGV_OK)
        *out = data;
    else
        mgvi_data_free(ctx, data);
    return st;
}

static inline void check_same_matrix(const mgvi_matrix *a, const mgvi_matrix *b)
{
    const size_t size = mgvi_dtype_size(a->dtype);
    CHECK(a->layout == b->layout && a->dtype == b->dtype);
    CHECK(a->rows == b->rows && a->cols == b->cols && a->nnz == b->nnz);
    if (a->layout == MGV_DENSE) {
        for (int64_t i = 0; i < a->rows; i++)
            for (int64_t j = 0; j < a->cols; j++)
                CHECK(mgvi_matrix_value(a, i * a->row_stride + j * a->col_stride) ==
                      mgvi_matrix_value(b, i * b->row_stride + j * b->col_stride));
        return;
    }
    const int64_t major = a->layout == MGV_CSR ? a->rows : a->cols;
    assert_memory_equal(a->ptr, b->ptr, (size_t)(major + 1) * sizeof *a->ptr);
    assert_memory_equal(a->idx, b->idx, (size_t)a->nnz * sizeof *a->idx);
    assert_memory_equal(a->val, b->val, (size_t)a->nnz * size);
}

/* Everything a format that keeps everything must keep. */
static inline void check_same_table(const mgv_data *a, const mgv_data *b)
{
    const size_t bytes = (size_t)a->X.rows * sizeof(double);
    check_same_matrix(&a->X, &b->X);
    CHECK(!a->labels == !b->labels && a->text_labels == b->text_labels);
    CHECK(a->classes == b->classes && !a->weights == !b->weights && !a->names == !b->names);
    if (a->labels)
        assert_memory_equal(a->labels, b->labels, bytes);
    for (int64_t k = 0; k < a->classes; k++) {
        assert_string_equal(a->class_text[k], b->class_text[k]);
        CHECK(a->class_value[k] == b->class_value[k]);
    }
    if (a->weights)
        assert_memory_equal(a->weights, b->weights, bytes);
    for (int64_t j = 0; a->names && j < a->X.cols; j++)
        assert_string_equal(a->names[j], b->names[j]);
}

/* ---- Files ---------------------------------------------------------------------------------- */

static inline void save_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(bytes, 1, size, f) == size && fclose(f) == 0);
}

/* Freed by the caller. */
static inline char *load_bytes(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    char *bytes = malloc(*size + 1);
    CHECK(fread(bytes, 1, *size, f) == *size);
    fclose(f);
    return bytes;
}

/* Reads `size` bytes as if they were the file `path`, and checks what was read. */
static inline mgv_status read_bytes(mgv_ctx *ctx, const char *path, const void *bytes, size_t size,
                                    mgv_data **out)
{
    mgvi_source source = {.path = path, .size = size};
    *out = NULL;
    source.bytes = mgvi_dup(ctx, bytes, size, 1);
    if (!source.bytes)
        return MGV_E_MEMORY;
    mgv_status st = mgvi_read_source(ctx, &source, out);
    mgvi_source_close(ctx, &source);
    if (st == MGV_OK)
        st = mgvi_data_check_once(ctx, *out);
    if (st != MGV_OK) {
        mgvi_data_free(ctx, *out);
        *out = NULL;
    }
    return st;
}
#endif
