/* judging.c - brings weights and multipliers before the judge. */
#include "judging.h"

#include <string.h>

void mgv_judged_open_weighted(mgv_judged *j, const double *X, const double *y,
                              const double *weights, int64_t n, int64_t d, const char *options)
{
    mgv_fit_start(&j->fit, X, y, n, d, options);
    mgv_ctx *ctx = j->fit.ctx;
    CHECK_OK(ctx, mgv_data_set_weights(ctx, j->fit.data, weights));
    CHECK_OK(ctx, mgv_problem_new(ctx, j->fit.data, j->fit.settings, &j->fit.problem));
    const mgv_problem *p = j->fit.problem;
    mgvi_arena_init(&j->arena, ctx);
    CHECK_OK(ctx, mgvi_judge_new(&j->arena, p, &j->judge));
    CHECK_OK(ctx, mgvi_vec_new(&j->arena, MGVI_COLS, p->A->cols, p->lanes, &j->w));
    CHECK_OK(ctx, mgvi_vec_new(&j->arena, MGVI_ROWS, p->A->rows, p->lanes, &j->u));
}

void mgv_judged_open(mgv_judged *j, const double *X, const double *y, int64_t n, int64_t d,
                     const char *options)
{
    mgv_judged_open_weighted(j, X, y, NULL, n, d, options);
}

void mgv_judged_close(mgv_judged *j)
{
    mgvi_arena_free(&j->arena);
    mgv_fit_free(&j->fit);
}

void mgv_judged_bring(mgv_judged *j, const double *w, const double *u)
{
    const mgv_problem *p = j->fit.problem;
    CHECK(p->lanes == 1);
    mgvi_problem_own_weights(p, w, p->free_cols ? w[p->A->cols - 1] : 0, j->w.x);
    memcpy(j->u.x, u, (size_t)j->u.n * sizeof *u);
}

mgvi_verdict mgv_judged_look(mgv_judged *j, mgvi_care care)
{
    return mgvi_judge_certify_with(j->judge, &j->w, &j->u, care);
}

mgv_certificate mgv_judge_once(const double *X, const double *y, const double *weights, int64_t n,
                               int64_t d, const char *options, const double *w, const double *u,
                               mgvi_care care)
{
    mgv_judged j;
    mgv_judged_open_weighted(&j, X, y, weights, n, d, options);
    mgv_judged_bring(&j, w, u);
    const mgv_certificate c = mgv_judged_look(&j, care).certificate;
    mgv_judged_close(&j);
    return c;
}
