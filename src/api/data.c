/* data.c - public functions on data. */
#include "api/need.h"
#include "base/limit.h"
#include "data/generate/generate.h"
#include "io/io.h"
#include "report/report.h"

#include <math.h>
#include <string.h>

mgv_status mgv_data_read(mgv_ctx *ctx, const char *path, const mgv_settings *settings,
                         mgv_data **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_NEED(ctx, path);
    MGVI_NEED(ctx, settings);
    MGVI_TRY(mgvi_settings_obey(ctx, settings));
    mgvi_call_begin(ctx, settings->time_limit);
    const mgv_status st = mgvi_read_file(ctx, path, settings, out);
    return mgvi_call_end(ctx, st);
}

mgv_status mgv_data_generate(mgv_ctx *ctx, const char *name, const mgv_settings *settings,
                             mgv_data **data, mgv_data **test, mgv_data **truth)
{
    MGVI_NEED_OUT(ctx, data);
    if (test)
        *test = NULL;
    if (truth)
        *truth = NULL;
    MGVI_NEED(ctx, name);
    MGVI_NEED(ctx, settings);
    MGVI_TRY(mgvi_settings_obey(ctx, settings));
    return mgvi_done(ctx, mgvi_generate(ctx, name, settings, data, test, truth));
}

mgv_status mgv_data_write(mgv_ctx *ctx, const mgv_data *data, const char *path,
                          const mgv_settings *settings)
{
    MGVI_NEED(ctx, data);
    MGVI_NEED(ctx, path);
    MGVI_NEED(ctx, settings);
    return mgvi_done(ctx, mgvi_write_file(ctx, data, path, settings));
}

/* A table over the caller's arrays, checked at once. */
static mgv_status borrow(mgv_ctx *ctx, const mgvi_matrix *X, mgv_data **out)
{
    mgv_data *data;
    MGVI_TRY(mgvi_data_new(ctx, &data));
    data->X = *X;
    data->format = "memory";
    const mgv_status st = mgvi_data_check_once(ctx, data);
    if (st == MGV_OK)
        *out = data;
    else
        mgvi_data_free(ctx, data);
    return st;
}

mgv_status mgv_data_from_dense(mgv_ctx *ctx, mgv_dtype dtype, const void *values, int64_t rows,
                               int64_t cols, int64_t row_stride, int64_t col_stride, mgv_data **out)
{
    MGVI_NEED_OUT(ctx, out);
    int64_t nnz;
    if (rows < 0 || cols < 0 || __builtin_mul_overflow(rows, cols, &nnz))
        return MGVI_FAIL(ctx, MGV_E_ARG, "dense: shape is %" PRId64 " x %" PRId64, rows, cols);
    if (nnz > 0)
        MGVI_NEED(ctx, values);
    return mgvi_done(ctx, borrow(ctx,
                                 &(mgvi_matrix){.layout = MGV_DENSE,
                                                .dtype = dtype,
                                                .rows = rows,
                                                .cols = cols,
                                                .nnz = nnz,
                                                .val = values,
                                                .row_stride = row_stride,
                                                .col_stride = col_stride},
                                 out));
}

mgv_status mgv_data_from_sparse(mgv_ctx *ctx, mgv_layout layout, mgv_dtype dtype,
                                const void *values, const int64_t *pointers, const int32_t *indices,
                                int64_t rows, int64_t cols, mgv_data **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_NEED(ctx, pointers);
    if (layout != MGV_CSR && layout != MGV_CSC)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "sparse: the layout is neither CSR nor CSC; pass MGV_CSR or MGV_CSC");
    if (rows < 0 || cols < 0)
        return MGVI_FAIL(ctx, MGV_E_ARG, "sparse: shape is %" PRId64 " x %" PRId64, rows, cols);
    const int64_t nnz = pointers[layout == MGV_CSR ? rows : cols];
    if (nnz > 0) {
        MGVI_NEED(ctx, values);
        MGVI_NEED(ctx, indices);
    }
    return mgvi_done(ctx, borrow(ctx,
                                 &(mgvi_matrix){.layout = layout,
                                                .dtype = dtype,
                                                .rows = rows,
                                                .cols = cols,
                                                .nnz = nnz,
                                                .val = values,
                                                .ptr = pointers,
                                                .idx = indices},
                                 out));
}

mgv_status mgv_data_set_labels(mgv_ctx *ctx, mgv_data *data, const double *labels)
{
    MGVI_NEED(ctx, data);
    data->gaps = false;
    if (labels)
        return mgvi_done(ctx, mgvi_data_set_labels(ctx, data, labels, NULL, NULL));
    data->labels = NULL;
    data->classes = 0;
    return mgvi_done(ctx, MGV_OK);
}

mgv_status mgv_data_set_weights(mgv_ctx *ctx, mgv_data *data, const double *weights)
{
    MGVI_NEED(ctx, data);
    if (!weights) {
        data->weights = NULL;
        return mgvi_done(ctx, MGV_OK);
    }
    for (int64_t i = 0; i < data->X.rows; i++)
        if (!(weights[i] >= 0) || isinf(weights[i]))
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "the weight of row %" PRId64 " must be finite and at least 0 (got %g)",
                             i + 1, weights[i]);
    double *copy = mgvi_data_array(ctx, data, (size_t)data->X.rows, sizeof *copy);
    if (!copy)
        return MGV_E_MEMORY;
    memcpy(copy, weights, (size_t)data->X.rows * sizeof *copy);
    data->weights = copy;
    return mgvi_done(ctx, MGV_OK);
}

mgv_status mgv_data_set_intervals(mgv_ctx *ctx, mgv_data *data, const double *lower,
                                  const double *upper)
{
    MGVI_NEED(ctx, data);
    const size_t rows = (size_t)data->X.rows;
    for (int64_t i = 0; i < data->X.rows; i++)
        if ((lower && isnan(lower[i])) || (upper && isnan(upper[i])))
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "an end of row %" PRId64 "'s interval is no number (got NaN)", i + 1);
    double *low = lower ? mgvi_data_array(ctx, data, rows, sizeof *low) : NULL;
    double *high = upper ? mgvi_data_array(ctx, data, rows, sizeof *high) : NULL;
    if ((lower && !low) || (upper && !high))
        return MGV_E_MEMORY;
    if (low)
        memcpy(low, lower, rows * sizeof *low);
    if (high)
        memcpy(high, upper, rows * sizeof *high);
    data->lower = low;
    data->upper = high;
    return mgvi_done(ctx, MGV_OK);
}

mgv_status mgv_data_set_groups(mgv_ctx *ctx, mgv_data *data, const int64_t *groups)
{
    MGVI_NEED(ctx, data);
    const size_t cols = (size_t)data->X.cols;
    int64_t *copy = groups ? mgvi_data_array(ctx, data, cols, sizeof *copy) : NULL;
    if (groups && !copy)
        return MGV_E_MEMORY;
    if (groups)
        memcpy(copy, groups, cols * sizeof *copy);
    data->group = copy;
    return mgvi_done(ctx, MGV_OK);
}

mgv_status mgv_data_set_penalty_weights(mgv_ctx *ctx, mgv_data *data, const double *weights)
{
    MGVI_NEED(ctx, data);
    const int64_t cols = data->X.cols;
    for (int64_t j = 0; weights && j < cols; j++)
        if (!(weights[j] >= 0) || isinf(weights[j]))
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "the penalty weight of column %" PRId64
                             " must be finite and at least 0 (got %g)",
                             j + 1, weights[j]);
    double *copy = weights ? mgvi_data_array(ctx, data, (size_t)cols, sizeof *copy) : NULL;
    if (weights && !copy)
        return MGV_E_MEMORY;
    if (weights)
        memcpy(copy, weights, (size_t)cols * sizeof *copy);
    data->col_weights = copy;
    return mgvi_done(ctx, MGV_OK);
}

mgv_status mgv_data_set_names(mgv_ctx *ctx, mgv_data *data, const char *const *names)
{
    MGVI_NEED(ctx, data);
    const size_t cols = (size_t)data->X.cols;
    size_t bytes = 0;
    for (size_t j = 0; names && j < cols; j++) {
        MGVI_TRY(mgvi_need(ctx, names[j], "a name"));
        bytes += strlen(names[j]) + 1;
    }
    char **copy = names ? mgvi_data_array(ctx, data, cols * sizeof *copy + bytes, 1) : NULL;
    if (names && !copy)
        return MGV_E_MEMORY;
    char *to = (char *)(copy + (names ? cols : 0));
    for (size_t j = 0; names && j < cols; j++) {
        copy[j] = to;
        to = stpcpy(to, names[j]) + 1;
    }
    data->names = copy;
    return MGV_OK;
}

const char *mgv_data_name(const mgv_data *data, int64_t index)
{
    return data->names && index >= 0 && index < data->X.cols ? data->names[index] : NULL;
}

mgv_status mgv_data_row(mgv_ctx *ctx, const mgv_data *data, int64_t index, double *values,
                        double *label)
{
    MGVI_NEED(ctx, data);
    const mgvi_matrix *X = &data->X;
    if (index < 0 || index >= X->rows)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "there is no row %" PRId64 " (the data has %" PRId64 ", from 0)", index,
                         X->rows);
    if (values && X->layout == MGV_CSC)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "a matrix stored by columns has no rows at hand");
    for (int64_t j = 0; values && j < X->cols; j++)
        values[j] = 0;
    const mgvi_span line = values ? mgvi_matrix_span(X, index) : (mgvi_span){0, 0, 0};
    for (int64_t t = 0; t < line.count; t++)
        values[mgvi_span_place(X, &line, t)] = mgvi_span_value(X, &line, t);
    if (label)
        *label = data->labels ? data->labels[index] : NAN;
    return mgvi_done(ctx, MGV_OK);
}

void mgv_data_free(mgv_ctx *ctx, mgv_data *data) { mgvi_data_free(ctx, data); }

mgv_status mgv_data_describe(const mgv_data *data, mgv_data_info *out)
{
    if (!data || !out)
        return MGV_E_ARG;
    const mgvi_matrix *X = &data->X;
    const mgv_data_info info = {.rows = X->rows,
                                .cols = X->cols,
                                .nonzeros = X->nnz,
                                .layout = X->layout,
                                .dtype = X->dtype,
                                .has_labels = data->labels != NULL,
                                .classes = data->classes,
                                .bytes = mgvi_data_bytes(data),
                                .format = data->format,
                                .load_seconds = data->load_seconds,
                                .first_index = data->first_index};
    mgvi_copy_out(out, &info, sizeof info);
    return MGV_OK;
}

const char *mgv_data_class(const mgv_data *data, int64_t index)
{
    return data && index >= 0 && index < data->classes ? data->class_text[index] : NULL;
}

mgv_status mgv_data_check(mgv_ctx *ctx, mgv_data *data, const char *path,
                          const mgv_settings *settings, char **json)
{
    MGVI_NEED_OUT(ctx, json);
    MGVI_NEED(ctx, data);
    MGVI_NEED(ctx, settings);
    return mgvi_done(ctx, mgvi_report_check(ctx, data, path, settings, json));
}

mgv_status mgv_data_check_text(mgv_ctx *ctx, mgv_data *data, const char *path,
                               const mgv_settings *settings, char **text)
{
    MGVI_NEED_OUT(ctx, text);
    MGVI_NEED(ctx, data);
    MGVI_NEED(ctx, settings);
    return mgvi_done(ctx, mgvi_report_check_text(ctx, data, path, settings, text));
}
