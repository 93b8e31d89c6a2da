/* refit.c - conjugate gradients on the normal equations of the chosen columns S and the intercept,
 *   min over w on S, b of  sum_i v_i (y_i - (A w)_i - b)^2 + r sum_j |A_j|^2 w_j^2
 * preconditioned by the columns' lengths; docs/algorithms/selection.md. */
#include "select/selection.h"

#include "base/limit.h"
#include "op/columns.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 1000 };
static const double RIDGE = 1e-6;    /* keeps weights apart that the data cannot */
static const double SETTLED = 1e-20; /* of the first g.g/N: digits of w, squared */

mgv_status mgvi_refit_check(const mgv_selection *s)
{
    const mgv_settings *set = &s->settings;
    const char *penalty = set->penalty;
    const bool judged = s->rule.kind == MGVI_RULE_CV || s->rule.kind == MGVI_RULE_HOLDOUT ||
                        s->rule.kind == MGVI_RULE_FILE;
    if (!set->debias && set->stable == 0)
        return MGV_OK;
    if (set->debias && !judged)
        return MGVI_FAIL(s->ctx, MGV_E_ARG,
                         "debias needs held-out rows that say whether it helps: --select cv:K, "
                         "holdout:F or val:FILE");
    if (set->stable > 0 && s->rule.kind != MGVI_RULE_CV)
        return MGVI_FAIL(s->ctx, MGV_E_ARG, "stable counts folds: --select cv:K beside it");
    const mgvi_penalty_ops *named = mgvi_penalty_find(penalty);
    if (s->probe->classify || (named && !(named->can & MGVI_ABS)))
        return MGVI_FAIL(s->ctx, MGV_E_UNSUPPORTED,
                         "debias and stable are for regression with penalty l1 or enet (here %s)",
                         s->probe->classify ? "classes" : penalty);
    return MGV_OK;
}

bool mgvi_refit_wanted(const mgv_selection *s)
{
    return mgvi_selection_point(s)->debiased ||
           (s->settings.stable > 0 && !mgvi_selection_path(s)->basis);
}

typedef struct refit {
    mgv_selection *s;
    mgvi_arena arena;
    mgvi_columns *columns;
    int64_t *list, count, cols; /* S; with the free column at the end of vectors of `cols` */
    double *inverse;            /* 1/N */
    const double *e;            /* sqrt(v) */
    mgvi_vec w, p, g, r, q;
    bool late; /* the limit has struck */
} refit;

/* Columns of the chosen point, or those that enough folds have. */
static mgv_status choose_columns(refit *f)
{
    mgv_selection *s = f->s;
    const mgvi_path *path = mgvi_selection_path(s);
    const mgvi_path_point *p = mgvi_selection_point(s);
    const int least = s->settings.stable > 0 ? (int)ceil(s->settings.stable * path->full) : 0;
    f->list = mgvi_arena_array(&f->arena, (size_t)p->kept, sizeof *f->list);
    if (!f->list)
        return MGV_E_MEMORY;
    for (int64_t t = p->first; t < p->first + p->kept; t++)
        if (path->lanes[t] >> path->full & 1 && mgvi_path_folds(path, t) >= least)
            f->list[f->count++] = path->index[t];
    if (s->settings.stable > 0)
        s->stable = f->count;
    return MGV_OK;
}

static mgv_status open_refit(refit *f)
{
    mgv_selection *s = f->s;
    mgvi_op *A = s->problem->A;
    MGVI_TRY(mgvi_columns_new(A, &f->arena, &f->columns));
    if (!f->columns)
        return MGVI_FAIL(s->ctx, MGV_E_UNSUPPORTED, "least squares on columns needs a matrix");
    f->cols = A->cols;
    f->e = s->e;
    f->inverse = mgvi_arena_array(&f->arena, (size_t)f->cols, sizeof *f->inverse);
    if (!f->inverse)
        return MGV_E_MEMORY;
    mgvi_columns_square_norms(f->columns, f->inverse);
    for (int64_t j = 0; j < f->cols; j++)
        f->inverse[j] = j >= mgvi_problem_penalised(s->problem) ? 1 / (double)A->rows
                        : f->inverse[j] > 0                     ? 1 / f->inverse[j]
                                                                : 0;
    MGVI_TRY(mgvi_vec_new(&f->arena, MGVI_COLS, f->cols, 1, &f->w));
    MGVI_TRY(mgvi_vec_new(&f->arena, MGVI_COLS, f->cols, 1, &f->p));
    MGVI_TRY(mgvi_vec_new(&f->arena, MGVI_COLS, f->cols, 1, &f->g));
    MGVI_TRY(mgvi_vec_new(&f->arena, MGVI_ROWS, A->rows, 1, &f->r));
    return mgvi_vec_new(&f->arena, MGVI_ROWS, A->rows, 1, &f->q);
}

/* Column t of S, then the free one. */
static int64_t column_at(const refit *f, int64_t t)
{
    return t < f->count ? f->list[t] : mgvi_problem_penalised(f->s->problem);
}

/* g = A'r - r N w; returns g.g/N. */
static double gradient(refit *f)
{
    const mgv_problem *p = f->s->problem;
    double sum = 0;
    mgvi_columns_mul_t(f->columns, f->list, f->count, &f->r, &f->g);
    for (int64_t t = 0; t < f->count + p->free_cols; t++) {
        const int64_t j = column_at(f, t);
        if (t < f->count && f->inverse[j] > 0)
            f->g.x[j] -= RIDGE / f->inverse[j] * f->w.x[j];
        sum += f->g.x[j] * f->g.x[j] * f->inverse[j];
    }
    return sum;
}

/* The step along p; q becomes v A p. */
static double step_length(refit *f, double now)
{
    double curve = 0;
    mgvi_columns_mul(f->columns, f->list, f->count, &f->p, &f->q);
    for (int64_t i = 0; i < f->q.n; i++) {
        const double v = f->e[i] * f->e[i];
        curve += v * f->q.x[i] * f->q.x[i];
        f->q.x[i] *= v;
    }
    for (int64_t t = 0; t < f->count; t++)
        if (f->inverse[f->list[t]] > 0)
            curve += RIDGE / f->inverse[f->list[t]] * pow(f->p.x[f->list[t]], 2);
    return curve > 0 ? now / curve : 0;
}

static void solve(refit *f)
{
    const mgv_problem *p = f->s->problem;
    for (int64_t i = 0; i < f->r.n; i++)
        f->r.x[i] = f->e[i] * f->e[i] * mgvi_problem_target(p, i);
    double now = gradient(f), before = 0;
    const double goal = SETTLED * now;
    for (int k = 0; k < MOST_STEPS && now > goal && !f->late; k++) {
        for (int64_t t = 0; t < f->count + p->free_cols; t++) {
            const int64_t j = column_at(f, t);
            f->p.x[j] = f->inverse[j] * f->g.x[j] + (k ? now / before * f->p.x[j] : 0);
        }
        const double a = step_length(f, now);
        for (int64_t t = 0; t < f->count + p->free_cols; t++)
            f->w.x[column_at(f, t)] += a * f->p.x[column_at(f, t)];
        for (int64_t i = 0; i < f->r.n; i++)
            f->r.x[i] -= a * f->q.x[i];
        before = now;
        now = gradient(f);
        f->late = mgvi_ctx_late(f->s->ctx) != MGV_STOP_NONE;
    }
}

mgv_status mgvi_refit(mgv_selection *s)
{
    refit f = {.s = s};
    mgvi_arena_init(&f.arena, s->ctx);
    mgv_status st = choose_columns(&f);
    if (st == MGV_OK)
        st = open_refit(&f);
    if (st == MGV_OK) {
        solve(&f);
        s->solver->run.iteration = mgvi_selection_point(s)->iteration;
        mgvi_driver_adopt(s->solver, &f.w, NULL,
                          f.late ? mgvi_ctx_late(s->ctx) : MGV_STOP_SELECTED);
    }
    mgvi_arena_free(&f.arena);
    return st;
}
