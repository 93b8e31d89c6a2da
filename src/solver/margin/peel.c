/* peel.c - rows without a part in any proof are set aside, and put on their side again. */
#include "solver/margin/peel.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

mgv_status mgvi_peeling_new(const mgvi_rows *rows, mgvi_arena *arena, int64_t most,
                            mgvi_peeling *out)
{
    const size_t n = (size_t)most, d = (size_t)rows->m.cols + 1;
    MGVI_TRY(MGVI_ARRAY(arena, out->live, n));
    MGVI_TRY(MGVI_ARRAY(arena, out->gone, n));
    MGVI_TRY(MGVI_ARRAY(arena, out->column, n));
    MGVI_TRY(MGVI_ARRAY(arena, out->above, d));
    MGVI_TRY(MGVI_ARRAY(arena, out->below, d));
    return MGVI_ARRAY(arena, out->room, d);
}

/* Row i comes to its columns' counts, or leaves them. */
static void count(mgvi_peeling *p, const mgvi_rows *rows, int64_t i, int64_t by)
{
    const mgvi_entries e = mgvi_rows_entries(rows, i, false, p->room);
    for (int64_t t = 0; t < e.n; t++) {
        const int64_t j = e.idx ? e.idx[t] : t;
        p->above[j] += e.val[t] > 0 ? by : 0;
        p->below[j] += e.val[t] < 0 ? by : 0;
    }
}

/* The first column of row i with one sign only; -1: none. */
static int32_t one_sided(mgvi_peeling *p, const mgvi_rows *rows, int64_t i)
{
    const mgvi_entries e = mgvi_rows_entries(rows, i, false, p->room);
    for (int64_t t = 0; t < e.n; t++) {
        const int64_t j = e.idx ? e.idx[t] : t;
        if (e.val[t] != 0 && (p->above[j] == 0 || p->below[j] == 0))
            return (int32_t)j;
    }
    return -1;
}

mgv_status mgvi_peel(mgvi_peeling *p, const mgv_problem *problem, const mgvi_rows *rows,
                     const int32_t *W, int64_t size)
{
    enum { ROUNDS = 50 };
    const size_t d = (size_t)rows->m.cols;
    memset(p->above, 0, d * sizeof *p->above);
    memset(p->below, 0, d * sizeof *p->below);
    memcpy(p->live, W, (size_t)size * sizeof *p->live);
    p->count = size;
    p->dropped = 0;
    /* Contrasts are no rows of a table; without an intercept every row has its part in a centred
     * column. */
    if (mgvi_problem_has_contrasts(problem) || (rows->view.centre && !problem->free_cols))
        return MGV_OK;
    for (int64_t t = 0; t < size; t++)
        count(p, rows, W[t], 1);
    for (int64_t before = size + 1, k = 0; p->count < before && k < ROUNDS; k++) {
        before = p->count;
        p->count = 0;
        for (int64_t t = 0; t < before; t++) {
            if (mgvi_ctx_cut_row(problem->ctx, t))
                return mgvi_ctx_whole(problem->ctx);
            const int32_t i = p->live[t], j = one_sided(p, rows, i);
            if (j < 0) {
                p->live[p->count++] = i;
                continue;
            }
            count(p, rows, i, -1);
            p->column[p->dropped] = j;
            p->gone[p->dropped++] = i;
        }
    }
    if (p->count == 0) { /* W has a margin, and the program finds it easily */
        memcpy(p->live, W, (size_t)size * sizeof *p->live);
        p->count = size;
        p->dropped = 0;
    }
    return MGV_OK;
}

/* What the centre takes from the scores of w. */
static double centre_score(const mgvi_rows *rows, const double *w)
{
    double sum = 0;
    for (int64_t j = 0; rows->view.centre && j < rows->m.cols; j++)
        sum += rows->view.centre[j] * mgvi_view_scale(&rows->view, j) * w[j];
    return sum;
}

/* Last to first: a row's column has one sign among those that lived when it went. */
void mgvi_peel_lift(mgvi_peeling *p, const mgv_problem *problem, const mgvi_rows *rows, double *w,
                    double *free)
{
    if (p->dropped == 0)
        return;
    const double intercept = *free - centre_score(rows, w); /* of rows as they are */
    for (int64_t t = p->dropped - 1; t >= 0; t--) {
        const int32_t i = p->gone[t];
        const mgvi_entries e = mgvi_rows_entries(rows, i, false, p->room);
        double f = intercept * mgvi_problem_free_entry(problem, i), own = 0;
        for (int64_t k = 0; k < e.n; k++) {
            const int64_t j = e.idx ? e.idx[k] : k;
            f += e.val[k] * w[j];
            own = j == p->column[t] ? e.val[k] : own;
        }
        if (f < 1)
            w[p->column[t]] += (1 - f) / own;
    }
    *free = intercept + centre_score(rows, w);
}
