/* norm_dual.c - the dual step of a norm of D w. */
#include "solver/sweep/norm_dual.h"

#include "base/limit.h"

#include "base/threads.h"

#include <math.h>

enum { GRAIN = 1 << 14, MOST_BLOCKS = 64 };

/* A prox that iterates costs about this many products with D: where a product with A costs more
 * entries a column, fewer iterations with the prox are the better bargain. */
static const double INNER_STEPS = 100;

static bool wanted(const mgvi_run *run)
{
    const mgv_problem *p = run->problem;
    const mgvi_wish choice = run->settings->split;
    if (!p->split.D || p->lanes != 1 || p->free_cols || choice == MGVI_WISH_NO)
        return false;
    return choice == MGVI_WISH_YES || mgvi_problem_is_bounded(p) ||
           (p->split.preferred && (double)p->A->nnz < INNER_STEPS * (double)p->A->cols);
}

mgv_status mgvi_norm_dual_new(mgvi_run *run, mgvi_norm_dual *out)
{
    const mgvi_norm_form *form = &run->problem->split;
    *out = (mgvi_norm_dual){0};
    if (!wanted(run) && form->D && mgvi_problem_is_bounded(run->problem))
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                         "bounds of the weights beside %s need --set split=yes and no intercept",
                         run->problem->penalty->name);
    if (!wanted(run) && form->D && run->settings->split == MGVI_WISH_YES)
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                         "split yes beside %s has no intercept; add --no-intercept",
                         run->problem->penalty->name);
    if (!wanted(run))
        return MGV_OK;
    out->D = form->D;
    out->group = form->group;
    out->radius = mgvi_coef_pick(&run->problem->col.scale, 0, 0);
    MGVI_TRY(mgvi_vec_new(&run->arena, MGVI_ROWS, form->D->rows, 1, &out->v));
    MGVI_TRY(mgvi_vec_new(&run->arena, MGVI_ROWS, form->D->rows, 1, &out->step));
    MGVI_TRY(mgvi_run_keep(run, "split", MGVI_T_F64, out->v.x, out->v.n));
    return mgvi_run_keep(run, "split_step", MGVI_T_F64, out->step.x, out->step.n);
}

typedef struct job {
    mgvi_norm_dual *s;
    int64_t groups, blocks;
} job;

/* `step` holds sigma D w and becomes v+ - v; radius > 0. */
static inline void move_groups(const mgvi_norm_dual *s, int64_t begin, int64_t end, int64_t size)
{
    const double radius = s->radius;
    for (int64_t g = begin; g < end; g++) {
        double *v = s->v.x + g * size, *step = s->step.x + g * size, square = 0;
        for (int64_t t = 0; t < size; t++)
            square += (v[t] + step[t]) * (v[t] + step[t]);
        const double length = sqrt(square), shrink = radius / (length > radius ? length : radius);
        for (int64_t t = 0; t < size; t++) {
            const double to = shrink * (v[t] + step[t]);
            step[t] = to - v[t];
            v[t] = to;
        }
    }
}

/* The sizes of a grey image's and of a line's groups are constants for the compiler. */
static void move_block(void *arg, int64_t block)
{
    const job *j = arg;
    const int64_t begin = mgvi_block_begin(j->groups, j->blocks, block),
                  end = mgvi_block_begin(j->groups, j->blocks, block + 1);
    if (j->s->group == 2)
        move_groups(j->s, begin, end, 2);
    else if (j->s->group == 1)
        move_groups(j->s, begin, end, 1);
    else
        move_groups(j->s, begin, end, j->s->group);
}

void mgvi_norm_dual_move(mgv_ctx *ctx, mgvi_norm_dual *s, double sigma, const mgvi_vec *w)
{
    job j = {.s = s, .groups = s->v.n / s->group};
    j.blocks = mgvi_block_count(s->v.n, GRAIN, MOST_BLOCKS);
    if (!(s->radius > 0)) {
        mgvi_vec_fill(ctx, &s->step, 0); /* v = 0 and stays */
        return;
    }
    mgvi_op_mul(s->D, sigma, w, 0, &s->step);
    mgvi_ctx_run(ctx, j.blocks, move_block, &j);
}
