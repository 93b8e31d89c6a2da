/* truth.c - the distance to a matrix that is known entry by entry. */
#include "complete/truth.h"

#include "io/triples.h"

#include <math.h>

mgv_status mgvi_truth_read(mgv_ctx *ctx, const mgv_settings *settings, const mgv_triples *known,
                           mgv_triples **out)
{
    *out = NULL;
    if (!settings->truth[0])
        return MGV_OK;
    MGVI_TRY(mgvi_triples_read(ctx, settings->truth, settings, known->side, out));
    if ((*out)->value)
        return MGV_OK;
    mgvi_triples_free(*out);
    *out = NULL;
    return MGVI_FAIL(ctx, MGV_E_INPUT,
                     "%s has no values to compare with; a truth has lines `row column value`",
                     settings->truth);
}

double mgvi_truth_distance(const mgv_triples *truth, const mgvi_known *e, const mgvi_factors *f)
{
    double square = 0;
    for (int64_t t = 0; t < truth->count; t++) {
        const int32_t i = truth->row[t], j = truth->col[t];
        double x = 0;
        for (int64_t k = 0; i >= 0 && j >= 0 && k < f->rank; k++)
            x += f->left[i * f->width + k] * f->right[j * f->width + k];
        if (i >= 0 && j >= 0 && e->row_offset)
            x += e->row_offset[i] + e->col_offset[j];
        square += (x - truth->value[t]) * (x - truth->value[t]);
    }
    return sqrt(square);
}
