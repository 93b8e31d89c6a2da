/* separates.c - do these weights, as a model saves them, separate the data as it is? */
#include "certify/judge.h"

#include "base/twofold.h"
#include "op/raw_rows.h"

/* A lower bound of y_i (x_i.w + b): by plain sums where they tell the sign, else by twofold ones.
 * `v` has the user's weights by column of A. Rows divided by their norms are off by rounding. */
static double score_below(const mgvi_rows *rows, int64_t i, const double *v)
{
    const mgvi_rows *base = mgvi_raw_base(rows);
    const int64_t k = rows->example ? rows->classes : 1;
    const double factor = mgvi_view_row_scale(&base->view, i / k);
    double sum = 0, size = 0, terms = 4;
    for (mgvi_raw_entry e = mgvi_raw_begin(rows, i); mgvi_raw_next(&e); terms++) {
        const double x = (e.t == e.n ? e.x : e.x * factor) * v[e.j];
        sum += x;
        size += fabs(x);
    }
    const double scaled = base->view.row_scale ? ((double)base->m.cols + 8) * 0x1p-52 : 0;
    const double plain = (1.01 * terms * 0x1p-52 + scaled) * size + 0x1p-1000;
    if (sum > 2 * plain)
        return sum - plain;
    mgvi_two z = {0, 0};
    for (mgvi_raw_entry e = mgvi_raw_begin(rows, i); mgvi_raw_next(&e);)
        z = mgvi_two_fma(z, e.t == e.n ? e.x : e.x * factor, v[e.j]);
    return mgvi_two_down(z) - (1.01 * terms * MGVI_TWO_UNIT + scaled) * size - 0x1p-1000;
}

mgv_status mgvi_judge_least_score(mgvi_judge *judge, const mgvi_vec *w, double *least)
{
    const mgv_problem *p = judge->problem;
    const int64_t d = mgvi_problem_coefs(p), k = p->outputs;
    *least = -INFINITY;
    if (!judge->rows || judge->rows->kernel ||
        (judge->rows->example && judge->rows->example->kernel))
        return MGV_OK;
    double *coef = mgvi_alloc(p->ctx, (size_t)((d + 1) * k), sizeof *coef);
    if (!coef)
        return MGV_E_MEMORY;
    mgvi_problem_user_weights(p, mgvi_vec_host(w), coef, coef + d * k);
    double *own = mgvi_vec_open(&judge->y);
    for (int64_t j = 0; j < d; j++)
        for (int64_t c = 0; c < k; c++)
            own[j * k + c] = coef[c * d + j];
    for (int64_t c = 0; c < p->free_cols; c++)
        own[d * k + c] = coef[d * k + c];
    mgvi_release(p->ctx, coef);
    double below = INFINITY;
    for (int64_t i = 0; i < judge->rows->count; i++) {
        if (!(mgvi_coef_pick(&p->row.scale, i, 0) > 0))
            continue;
        const double score = score_below(judge->rows, i, own);
        below = isnan(score) ? -INFINITY : fmin(below, score);
    }
    mgvi_vec_close(&judge->y);
    *least = below;
    return MGV_OK;
}
