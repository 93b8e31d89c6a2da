/* exact_margin.c - the hard margin to machine precision, in the norm p: cold working sets around an
 * inner solver; docs/algorithms/exact_margin.md.
 *
 *   W = k random rows
 *   repeat  b = the solution on W;  w = A_W'b, or its mirror image (9) when p is not 2          (2)
 *           z = A w on all rows; the k rows with the smallest z < 1 outside W join W            (3)
 *   until no row is violated
 *
 * Inside, p = 2: a dual active set whose factor is kept from round to round. Nothing ever leaves W.
 * Other p, and p = 2 when the active set is stuck on data that has a margin: an interior point
 * method, and while the gap is large rows that are far from being support vectors leave W. (4)
 *
 * A ray of the active set is only a hint that the data is not separable: the judge recomputes any
 * proof from the rows. When the hint is not borne out, or the inner solver is stuck, the linear
 * program of the margin in l-infinity decides about W (5). */
#include "solver/margin/exact_rows.h"

#include <math.h>
#include <string.h>

enum {
    JOIN_MANY = 300, /* rows that join W in a round when there are more than MANY */
    MANY = 100000,
    ITERATIONS = 100,      /* of the interior point in a round, */
    MANY_ITERATIONS = 1000 /* and where the linear program says that there is a margin to find */
};
static const double FIRST_INNER_GAP = 0.05, LAST_INNER_GAP = 1e-15;
/* The gap at which weights that are 0 show it, and as part of the tolerance: then they may go. */
static const double CORNER = 1e-9, SHARPER = 1e-2;
static const double EVICT_ABOVE = 0.02; /* the gap; below it nothing leaves W */
typedef mgvi_exact_margin state;

static mgv_status fits(mgv_ctx *ctx, const mgv_problem *p)
{
    if (p->A->rows > INT32_MAX)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver exact_margin takes at most 2^31 rows; there are %" PRId64,
                         p->A->rows);
    if ((p->A->ops->can & MGVI_KERNEL) && !mgvi_problem_has_contrasts(p))
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver exact_margin works with kernels for a joint margin only; "
                         "kernel_svm is for two classes");
    if ((p->p == 1 || isinf(p->p)) && p->col.scale.values)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver exact_margin penalises every column alike: no --penalty-weight");
    if (p->p != 2 && p->graph)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver exact_margin has intercepts for a joint margin in the norm 2 "
                         "only; --no-intercept for other norms");
    return MGV_OK;
}

static mgv_status init(mgvi_run *run) { return mgvi_exact_begin(run, run->state); }

/* ---- a round --------------------------------------------------------------------------------- */

/* (2) for p = 2: w = A_W'b, in the row kernels' form and as a vector. */
static void combine(mgvi_run *run, state *s)
{
    memset(s->acc, 0, (size_t)mgvi_rows_acc_len(s->rows) * sizeof *s->acc);
    mgvi_vec_fill(run->ctx, &s->u, 0);
    for (int64_t t = 0; t < s->work.size; t++) {
        if (!(s->set.b[t] > 0))
            continue;
        mgvi_rows_axpy(s->rows, s->work.W[t], s->set.b[t], s->acc);
        run->touched += (double)mgvi_rows_nnz(s->rows, s->work.W[t]);
        s->u.x[s->work.W[t]] = -s->set.b[t];
    }
    mgvi_rows_weights(s->rows, s->acc, s->w.x);
    const double *free = s->classes.k > 0 ? s->classes.a : &s->set.b0;
    const int64_t count = run->problem->free_cols; /* y'b = 0, so the accumulated is rounding */
    memcpy(s->w.x + s->w.n - count, free, (size_t)count * sizeof *free);
}

static void copy_weights(const mgvi_run *run, state *s, const mgvi_interior *ip)
{
    memcpy(s->w.x, ip->th, (size_t)mgvi_problem_penalised(run->problem) * sizeof *s->w.x);
    if (run->problem->free_cols)
        s->w.x[s->w.n - 1] = ip->free;
}

static void copy_interior(mgvi_run *run, state *s)
{
    mgvi_vec_fill(run->ctx, &s->u, 0);
    for (int64_t t = 0; t < s->size; t++) {
        s->b[t] = s->ip.u[t];
        s->u.x[s->W[t]] = -s->b[t];
    }
    copy_weights(run, s, &s->ip);
}

/* The relative gap from the margins at hand: (upper - lower)/upper with upper = |w|_p/sum b. */
static double guess_gap(const mgvi_run *run, const state *s)
{
    const mgv_problem *p = run->problem;
    const mgvi_vec w = mgvi_problem_penalised_part(p, &s->w);
    double sum_b;
    mgvi_vec_sum(run->ctx, &s->u, &sum_b);
    const double norm = p->p == 2 ? mgvi_op_length(p->A, &w) : mgvi_lp_norm(w.x, w.n, p->p);
    const double m = mgvi_problem_least_margin(p, s->z.x);
    return norm > 0 ? 1 + m / norm * sum_b / norm : NAN;
}

/* The interior point takes over where the active set has failed; undecided when it cannot. */
static mgv_status take_over(mgvi_run *run, state *s)
{
    s->m.hinted = false;
    run->finished = !mgvi_exact_interior_fits(run->problem);
    return run->finished ? MGV_OK : mgvi_exact_use_interior(run, s);
}

/* (5) on the rows that are left of W: a ray, or weights that have a margin on all of W. */
static mgv_status ask_linear(mgvi_run *run, state *s)
{
    static const double SOME_MARGIN = 1 - 1e-9; /* the gap when there is one */
    mgvi_interior *ip = &s->linear;
    bool solved;
    if (!ip->room)
        MGVI_TRY(mgvi_interior_init(ip, run->problem, INFINITY, s->rows, &run->arena));
    ip->scaled = true;
    MGVI_TRY(mgvi_interior_take(ip, s->peeling.live, s->peeling.count, NULL));
    MGVI_TRY(mgvi_interior_solve(ip, SOME_MARGIN, ITERATIONS, &solved));
    run->work += ip->work;
    ip->work = 0;
    if (ip->separates)
        mgvi_peel_lift(&s->peeling, run->problem, s->rows, ip->th, &ip->free);
    return MGV_OK;
}

/* (5): the linear program decides whether W has a margin, in columns of one size. The proof that it
 * has none goes to the judge, and so does w if it has one. */
static mgv_status decide(mgvi_run *run, state *s, bool *ray)
{
    const int32_t *W = s->m.interior ? s->W : s->work.W;
    const int64_t size = mgvi_exact_size(s);
    mgvi_interior *ip = &s->linear;
    *ray = false;
    s->m.decided = size;
    if (!mgvi_exact_interior_fits(run->problem))
        return MGV_OK;
    if (!s->peeling.live)
        MGVI_TRY(mgvi_peeling_new(s->rows, &run->arena, run->problem->A->rows, &s->peeling));
    MGVI_TRY(mgvi_peel(&s->peeling, run->problem, s->rows, W, size));
    mgvi_log(run->ctx, MGV_INFO,
             "a linear program decides whether %" PRId64 " of %" PRId64 " rows have a margin",
             s->peeling.count, size);
    MGVI_TRY(ask_linear(run, s));
    *ray = ip->ray;
    if (ip->separates)
        copy_weights(run, s, ip);
    if (*ray)
        mgvi_vec_fill(run->ctx, &s->u, 0);
    for (int64_t t = 0; *ray && t < s->peeling.count; t++)
        s->u.x[s->peeling.live[t]] = -ip->u[t];
    return MGV_OK;
}

/* Multiplications before (5) is asked: some tenths of a second, or twenty passes. */
static double patience(const mgv_problem *p)
{
    const double n = (double)p->A->rows, d = (double)p->A->cols;
    return fmax(0.1 * fmin(n, 40 * d) * d * d, 4e8) + 20 * n * d;
}

/* A ray's A'q is zero to the accuracy of one solve. Four corrections of q_P from A'q recomputed
 * from the rows bring it to rounding. Becomes the active set's b. */
static void polish_ray(state *s)
{
    mgvi_active_set *a = &s->set;
    const int64_t n = a->factor.count, length = mgvi_rows_acc_len(s->rows);
    memcpy(a->b, a->ray, (size_t)s->work.size * sizeof *a->b);
    for (int round = 0; round < 4; round++) {
        memset(s->acc, 0, (size_t)length * sizeof *s->acc);
        for (int64_t t = 0; t < s->work.size; t++)
            if (a->b[t] > 0)
                mgvi_rows_axpy(s->rows, s->work.W[t], a->b[t], s->acc);
        mgvi_rows_scale_intercepts(s->rows, s->work.rho, s->acc);
        for (int64_t r = 0; r < n; r++)
            a->c[r] = mgvi_rows_dot(s->rows, s->work.W[a->P[r]], s->acc);
        mgvi_factor_forward(&a->factor, a->c);
        mgvi_factor_backward(&a->factor, a->c);
        for (int64_t r = 0; r < n; r++)
            a->b[a->P[r]] = fmax(a->b[a->P[r]] - a->c[r], 0);
    }
}

/* With a kernel lengths come from q'K q, no better than the root of rounding: a ray proves nothing,
 * and there is no other method to ask. What there is of a margin is below precision. */
static mgv_status give_up(mgvi_run *run, state *s)
{
    s->m.below_precision = run->suspicious = run->finished = true;
    s->m.estimate = 0;
    return MGV_OK;
}

/* False: the active set ended otherwise, and what follows from that is done. */
static mgv_status solve_by_pivots(mgvi_run *run, state *s, bool *solved)
{
    const bool sure = s->m.decided == s->work.size;
    const double most = sure ? INFINITY : patience(run->problem);
    const double before = s->set.work;
    mgvi_active_end end;
    MGVI_TRY(mgvi_class_intercepts_solve(&s->classes, 5 * s->work.size + 200, most, &end));
    run->work += s->set.work - before;
    const bool kernel = run->problem->A->ops->can & MGVI_KERNEL;
    *solved = end == MGVI_ACTIVE_OPTIMAL;
    if (end == MGVI_ACTIVE_RAY && !kernel)
        polish_ray(s);
    combine(run, s);
    if (*solved)
        return MGV_OK;
    mgvi_log(run->ctx, MGV_INFO, "the active set ended after %" PRId64 " solves", s->set.solves);
    if (kernel)
        return give_up(run, s);
    s->m.estimate = 0; /* let the judge look at once */
    run->suspicious = s->m.hinted = end == MGVI_ACTIVE_RAY;
    if (s->m.hinted)
        return MGV_OK;
    if (sure)
        return take_over(run, s);
    MGVI_TRY(decide(run, s, &s->m.hinted));
    run->suspicious = s->m.hinted;
    s->m.doubtful = s->linear.separates;
    return s->linear.separates ? take_over(run, s) : MGV_OK;
}

/* As many rows join the interior point's as keep the number of its rounds small; more when it looks
 * as if there were no margin, which more rows show better. */
static int64_t join_interior(const state *s)
{
    const int64_t some = s->m.decided > 0 ? mgvi_exact_size(s) : mgvi_exact_size(s) / 2;
    return some > MGVI_EXACT_JOIN_INTERIOR ? some : MGVI_EXACT_JOIN_INTERIOR;
}

/* The corners of linear programs are many, and rows would come and go for ever. */
static bool may_evict(const state *s) { return !mgvi_interior_linear(&s->ip) && s->m.decided == 0; }

/* Rows that w violates join W; none: nothing is left to try, but for the interior point in the
 * place of the active set. */
static mgv_status grow(mgvi_run *run, state *s)
{
    mgvi_op_mul(run->problem->A, 1, &s->w, 0, &s->z);
    const int64_t count = mgvi_exact_violators(s, run->problem, join_interior(s));
    if (count > 0)
        return mgvi_exact_join(run, s, s->order, count);
    if (!s->m.interior)
        return take_over(run, s);
    run->finished = true; /* undecided, with the interval so far */
    return MGV_OK;
}

/* W had a margin, which took too long by pivots: before it is computed, W grows to twice its size by
 * what the program's weights leave on the wrong side, and is decided about again. */
static mgv_status widen(mgvi_run *run, state *s, bool *grown)
{
    const mgv_problem *p = run->problem;
    s->m.doubtful = *grown = false;
    mgvi_op_mul(p->A, 1, &s->w, 0, &s->z);
    if (mgvi_problem_least_margin(p, s->z.x) > 0)
        return MGV_OK;
    const int64_t count = mgvi_exact_violators(s, p, s->size);
    *grown = count > 0;
    if (!*grown)
        return MGV_OK;
    MGVI_TRY(mgvi_exact_join(run, s, s->order, count));
    MGVI_TRY(decide(run, s, &s->m.hinted));
    run->suspicious = s->m.hinted;
    s->m.doubtful = s->linear.separates;
    return MGV_OK;
}

static mgv_status solve_by_interior(mgvi_run *run, state *s, bool *solved)
{
    enum { LOOK = 20 }; /* iterations after which a margin should have shown itself */
    const double guess = isnan(s->m.estimate) ? 1 : s->m.estimate;
    const bool last = s->m.all || !s->ip.changed; /* W suffices */
    const double enough = fmax(0.5 * run->settings->tol, LAST_INNER_GAP);
    const double goal = !last                  ? fmin(FIRST_INNER_GAP, 0.1 * guess)
                        : run->problem->p == 1 ? fmin(CORNER, SHARPER * run->settings->tol)
                                               : enough;
    const double tol = fmax(goal, LAST_INNER_GAP);
    const bool waits = mgvi_interior_linear(&s->ip) || s->ip.separates;
    const int more = s->size < run->problem->A->rows ? 2 * LOOK : ITERATIONS;
    MGVI_TRY(mgvi_interior_solve(&s->ip, tol, waits ? ITERATIONS : LOOK, solved));
    copy_interior(run, s);
    bool ray = s->ip.ray;
    if (!*solved && !s->ip.separates && !ray && s->m.decided != s->size)
        MGVI_TRY(decide(run, s, &ray));
    if (!*solved && !waits && !ray) {
        const bool sure = s->m.decided == s->size && s->linear.separates;
        MGVI_TRY(mgvi_interior_solve(&s->ip, tol, sure ? MANY_ITERATIONS : more, solved));
        copy_interior(run, s);
    }
    run->work += s->ip.work;
    s->ip.work = 0;
    mgvi_log(run->ctx, MGV_INFO,
             "%" PRId64 " rows: the interior point ended at a gap of %.1e after %" PRId64
             " iterations",
             s->size, s->ip.gap, s->ip.iterations);
    *solved = *solved || (last && s->ip.gap <= enough);
    if (*solved)
        return MGV_OK;
    s->m.estimate = 0;
    run->suspicious = s->m.hinted = ray;
    if (ray)
        return MGV_OK;
    if (s->m.decided == s->size && s->linear.separates && !s->ip.separates)
        copy_weights(run, s, &s->linear);
    return grow(run, s);
}

/* The judge did not believe a ray. (5) has a look where it has not. Else rows that nearly have a
 * margin are hard to prove, and more of them are less so; with no more of them the interior point
 * takes over, or the question is left undecided. */
static mgv_status ray_was_none(mgvi_run *run, state *s)
{
    s->m.hinted = false;
    s->m.estimate = 0; /* let the judge look at once */
    if (s->m.decided != mgvi_exact_size(s)) {
        MGVI_TRY(decide(run, s, &s->m.hinted));
        run->suspicious = s->m.hinted;
        if (s->m.hinted || !s->linear.separates)
            return MGV_OK;
        return s->m.interior ? MGV_OK : take_over(run, s);
    }
    return grow(run, s);
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    bool solved;
    run->suspicious = false;
    if (s->nothing > 0) { /* a row of zeros has no margin: it is the proof */
        mgvi_vec_fill(run->ctx, &s->u, 0);
        s->u.x[s->nothing - 1] = -1;
        s->m.estimate = 0;
        run->suspicious = run->finished = true;
        return MGV_OK;
    }
    if (s->m.hinted) /* the ray was no proof */
        return ray_was_none(run, s);
    bool grown = false;
    if (s->m.doubtful)
        MGVI_TRY(widen(run, s, &grown));
    if (grown)
        return MGV_OK;
    MGVI_TRY(s->m.interior ? solve_by_interior(run, s, &solved) : solve_by_pivots(run, s, &solved));
    if (!solved)
        return MGV_OK;
    const double before = s->m.estimate;
    const bool all = s->m.interior && s->m.all;
    mgvi_op_mul(p->A, 1, &s->w, 0, &s->z);
    s->m.estimate = guess_gap(run, s);
    const int64_t size = s->size;
    if (s->m.interior && s->m.estimate > EVICT_ABOVE && !all && may_evict(s))
        mgvi_exact_evict(s);
    const bool many = p->A->rows > MANY && !mgvi_problem_has_contrasts(p);
    const int64_t most = s->m.interior ? join_interior(s) : many ? JOIN_MANY : MGVI_EXACT_JOIN;
    const int64_t count = all ? 0 : mgvi_exact_violators(s, p, most);
    if (count > 0 || s->size < size)
        return mgvi_exact_join(run, s, s->order, count);
    /* the interior point may do better on the same W, until rounding ends that */
    run->finished = !s->m.interior || s->m.estimate >= before;
    return MGV_OK;
}

static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    return (mgvi_iterate){.w = &s->w, .u = &s->u};
}

static double estimate(const mgvi_run *run) { return ((const state *)run->state)->m.estimate; }

static void ended(mgvi_run *run)
{
    const state *s = run->state;
    if (s->m.below_precision)
        mgvi_log(run->ctx, MGV_WARNING,
                 "the margin is below precision: rounding decides whether there is one; the upper "
                 "bound stands. A soft margin or a narrower kernel has an answer");
}

/* Rounds are few and depend on the seed alone, so that a checkpoint holds their number: working
 * set, Gram matrix and factor are made again by repeating them. */
static mgv_status restored(mgvi_run *run)
{
    state *s = run->state;
    const double touched = run->touched;
    run->rng = s->start;
    for (int64_t k = 0; k < run->iteration && !run->finished; k++)
        MGVI_TRY(step(run));
    run->touched = touched;
    return MGV_OK;
}

/* Norms other than 2: the interior point's matrices on all rows, or on those that decide. */
static double cost_of_interior(double n, double d)
{
    static const double STEPS = 30;
    const double least = fmin(n, d);
    return STEPS * least * least * (fmin(n, 8 * d) / 2 + least / 3);
}

/* As many rows as columns may be support vectors, twice as many join: their products, and half a
 * pivot for each; a few passes, and one for each round that they join in. With more than two rows a
 * column there is hardly a margin (Cover): the linear program (5) decides about these rows. */
static double cost(const mgv_problem *p, const mgv_settings *settings)
{
    enum { SEPARABLE = 2 };
    static const double PASSES = 5, PIVOTS = 0.5;
    const double n = (double)p->A->rows, d = (double)p->A->cols, nnz = (double)p->A->nnz;
    const double least = fmin(n, d), joined = fmin(n, 2 * least);
    const double passes = (PASSES + joined / MGVI_EXACT_JOIN) * mgvi_entry_cost(p) * nnz;
    (void)settings;
    if (p->p != 2)
        return passes + cost_of_interior(n, d);
    return passes + mgvi_exact_pair_cost(p) * joined * joined / 2 +
           PIVOTS * joined * least * least + (n > SEPARABLE * d ? cost_of_interior(joined, d) : 0);
}

const mgvi_solver_ops mgvi_solver_exact_margin = {
    .name = "exact_margin",
    .summary = "hard margin to machine precision: working sets, active set or interior point",
    .needs = {.penalty = MGVI_LENGTH, .loss = MGVI_HARD | MGVI_MARGIN, .op = MGVI_ROW},
    .kernels = true,
    .contrasts = true,
    .fits = fits,
    .cost = cost,
    .state_size = sizeof(state),
    .init = init,
    .step = step,
    .expose = expose,
    .estimate = estimate,
    .ended = ended,
    .restored = restored,
};
