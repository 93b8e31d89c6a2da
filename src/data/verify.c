/* verify.c - what a table must be before anything is computed from it. */
#include "data/data.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Every label is finite (or absent, where there are gaps) and, when there are classes, one of their
 * values. */
static mgv_status verify_labels(mgv_ctx *ctx, const mgv_data *data)
{
    const double *y = data->labels;
    for (int64_t i = 0; y && i < data->X.rows; i++) {
        if (i && y[i] == y[i - 1])
            continue;
        if (data->gaps && isnan(y[i]))
            continue;
        if (!(y[i] >= -DBL_MAX && y[i] <= DBL_MAX))
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "the label of row %" PRId64
                             " must be finite (got %g); correct it or leave the row out",
                             i + 1, y[i]);
        if (data->classes && !bsearch(&y[i], data->class_value, (size_t)data->classes,
                                      sizeof *data->class_value, by_value))
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "the label %g of row %" PRId64 " is none of the %" PRId64 " classes",
                             y[i], i + 1, data->classes);
    }
    return MGV_OK;
}

static mgv_status verify_weights(mgv_ctx *ctx, const mgv_data *data)
{
    const double *w = data->weights;
    for (int64_t i = 0; w && i < data->X.rows; i++)
        if (!(w[i] >= 0 && w[i] <= DBL_MAX))
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "the weight of row %" PRId64 " must be finite and at least 0 (got %g)",
                             i + 1, w[i]);
    return MGV_OK;
}

mgv_status mgvi_data_verify(mgv_ctx *ctx, const mgv_data *data, double *most, double *size)
{
    MGVI_TRY(mgvi_matrix_check(ctx, &data->X, most, size));
    MGVI_TRY(verify_labels(ctx, data));
    return verify_weights(ctx, data);
}
