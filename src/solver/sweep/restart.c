/* restart.c - begin again at the mean when it is much better than the start was: a primal-dual
 * method then converges linearly on polyhedral problems, where without restarts it spirals. */
#include "solver/sweep/restart.h"

#include "solver/sweep/steps.h"

#include <math.h>

enum { EVERY = 10 };

/* (11) */
static const double SUFFICIENT = 0.2, NECESSARY = 0.8, LONG = 0.36;

mgv_status mgvi_point_new(mgvi_run *run, mgvi_point *out)
{
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &out->w, &out->p));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &out->u));
    return mgvi_run_vec(run, MGVI_ROWS, &out->z);
}

mgv_status mgvi_restart_new(mgvi_run *run, double unit, mgvi_restart *out)
{
    *out = (mgvi_restart){
        .run = run, .unit = unit, .memory = {.at_start = INFINITY, .last = INFINITY, .best = NAN}};
    MGVI_TRY(mgvi_point_new(run, &out->mean));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &out->v));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &out->r));
    MGVI_TRY(mgvi_problem_penalty(run->problem, &run->arena, &out->penalty));
    MGVI_TRY(MGVI_RUN_KEEP_VECS(run, {"mean_w", &out->mean.w}, {"mean_p", &out->mean.p},
                                {"mean_u", &out->mean.u}, {"mean_z", &out->mean.z}));
    return mgvi_run_keep(run, "restart", MGVI_T_U8, &out->memory, sizeof out->memory);
}

static void add(mgv_ctx *ctx, int64_t count, const mgvi_vec *x, mgvi_vec *mean)
{
    const double share = 1 / (double)count;
    mgvi_vec_axpby(ctx, share, x, 1 - share, mean);
}

void mgvi_restart_add(mgvi_restart *r, const mgvi_point *now)
{
    mgv_ctx *ctx = r->run->ctx;
    const int64_t count = ++r->memory.length;
    add(ctx, count, &now->w, &r->mean.w);
    add(ctx, count, &now->p, &r->mean.p);
    add(ctx, count, &now->u, &r->mean.u);
    add(ctx, count, &now->z, &r->mean.z);
}

static void copy_point(mgv_ctx *ctx, const mgvi_point *from, mgvi_point *to)
{
    mgvi_vec_copy(ctx, &from->w, &to->w);
    mgvi_vec_copy(ctx, &from->p, &to->p);
    mgvi_vec_copy(ctx, &from->u, &to->u);
    mgvi_vec_copy(ctx, &from->z, &to->z);
}

/* How far the free column's equation sum u = 0 is from holding. */
static double free_error(const mgv_problem *p, const mgvi_point *x)
{
    double sum;
    if (!p->free_cols)
        return 0;
    mgvi_vec_abs_sum(p->ctx, &x->u, &sum);
    return sum > 0 ? fabs(mgvi_vec_at(&x->p, mgvi_problem_penalised(p))) / sum : 0;
}

/* (10): the largest of the relative violation of a hard loss, the relative gap, how much u must
 * shrink to be feasible, and the free column's equation. No products. */
static double error_of(mgvi_restart *r, const mgvi_point *x)
{
    const mgv_problem *p = r->run->problem;
    mgv_ctx *ctx = r->run->ctx;
    const mgvi_vec w = mgvi_problem_penalised_part(p, &x->w),
                   u = mgvi_problem_penalised_part(p, &x->p);
    mgvi_vec v = mgvi_problem_penalised_part(p, &r->v);
    double primal, dual, loss, scale, violation = 0;
    mgvi_penalty_value(&r->penalty, &w, &primal);
    if (p->loss->can & MGVI_HARD) {
        mgvi_displacement(p, &x->z, &r->r);
        mgvi_vec_norm2(ctx, &r->r, &violation);
        violation /= r->unit > 0 ? r->unit : 1;
    } else {
        mgvi_loss_value(ctx, p->loss, &p->row, &x->z, &loss);
        primal += loss;
    }
    mgvi_vec_add(ctx, -1, &u, 0, &u, &v);
    mgvi_penalty_dual_scale(&r->penalty, &v, &scale);
    mgvi_vec_scale(ctx, scale, &v);
    mgvi_vec_add(ctx, scale, &x->u, 0, &x->u, &r->r);
    mgvi_loss_dual_clip(ctx, p->loss, &p->row, &r->r);
    mgvi_penalty_conj(&r->penalty, &v, &dual);
    mgvi_loss_conj(ctx, p->loss, &p->row, &r->r, &loss);
    const double size = fmax(fabs(primal), fabs(dual + loss));
    const double gap = fabs(primal + dual + loss) / fmax(size, 1e-300);
    return fmax(fmax(violation, gap), fmax(1 - scale, free_error(p, x)));
}

bool mgvi_restart_look(mgvi_restart *r, mgvi_point *now)
{
    mgvi_restart_memory *m = &r->memory;
    if (m->length == 0 || m->length % EVERY != 0)
        return false;
    const double mean = error_of(r, &r->mean), last = error_of(r, now);
    const double error = fmin(mean, last);
    m->best = fmin(last, isnan(m->best) ? INFINITY : m->best);
    const bool enough = error <= SUFFICIENT * m->at_start;
    const bool turning = error <= NECESSARY * m->at_start && error > m->last;
    const bool lasting = (double)m->length >= LONG * (double)(r->run->iteration + 1);
    m->last = error;
    if (!isfinite(error) || !(enough || turning || lasting))
        return false;
    if (mean < last)
        copy_point(r->run->ctx, &r->mean, now);
    m->at_start = m->last = error;
    m->length = 0;
    m->restarts++;
    return true;
}
