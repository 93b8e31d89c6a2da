/* completion.c - a completion's memory and its predictions. */
#include "complete/completion.h"

#include <math.h>

mgv_status mgvi_completion_new(mgv_ctx *ctx, mgv_completion **out)
{
    mgv_completion *c = *out = mgvi_new(ctx, sizeof *c);
    if (!c)
        return MGV_E_MEMORY;
    c->ctx = ctx;
    c->info.size = sizeof c->info;
    mgvi_arena_init(&c->arena, ctx);
    return MGV_OK;
}

void mgvi_completion_free(mgv_completion *c)
{
    if (!c)
        return;
    mgvi_words_free(c->side[0].words);
    mgvi_words_free(c->side[1].words);
    mgvi_arena_free(&c->arena);
    mgvi_release(c->ctx, c);
}

static double predict(const mgv_completion *c, int64_t i, int64_t j)
{
    const int64_t r = c->info.rank;
    const bool row = i >= 0 && i < c->info.rows && c->row_seen[i];
    const bool col = j >= 0 && j < c->info.cols && c->col_seen[j];
    if (!c->row_bias && !(row && col))
        return c->info.mean;
    double x = c->row_bias ? (row ? c->row_bias[i] : c->info.mean) + (col ? c->col_bias[j] : 0) : 0;
    for (int64_t k = 0; row && col && k < r; k++)
        x += c->left[i * r + k] * c->right[j * r + k];
    return x;
}

mgv_status mgvi_completion_predict(mgv_ctx *ctx, const mgv_completion *c, const mgv_triples *pairs,
                                   bool clip, double *values)
{
    for (int64_t k = 0, i = 0; k < pairs->count; k++) {
        while (!pairs->row && k >= pairs->ptr[i + 1])
            i++;
        const double x = predict(c, pairs->row ? pairs->row[k] : i, pairs->col[k]);
        if (!isfinite(x))
            return MGVI_FAIL(ctx, MGV_E_NUMERIC,
                             "the value of pair %" PRId64 " is %g: the model's factors are too "
                             "large",
                             k + 1, x);
        values[k] = clip ? fmin(fmax(x, c->info.low), c->info.high) : x;
    }
    return MGV_OK;
}
