/* lbfgs.c - limited-memory BFGS for smooth losses of many classes; docs/algorithms/lbfgs.md.
 *   F(W) = lambda/2 |W|^2 + sum_i s_i G(W x_i),   g = lambda W + A'U,  U = grad of the losses (1)
 *   D = -H g by the two-loop recursion over the last pairs (S, Y)                              (2)
 *   W+ = W + t D,  t = 1 unless F(W+) > F(W) + 1e-4 t <g, D>                                   (3)
 * Where a pass over the data is long it is fused and in float32, the run begins with a few epochs
 * of random batches, and H_0 is the inverse of one matrix for all classes (5); where the unknowns
 * are few, of the second derivative itself (6). Sparse tables with more columns than rows take
 * Newton's steps of W and a dual point together (9) in place of (2). */
#include "op/joint_pass.h"
#include "solver/joint/class_dual.h"
#include "solver/joint/row_metric.h"
#include "solver/minibatch/minibatch.h"

#include <math.h>
#include <string.h>

enum { PAIRS = 20, LEAST_PAIRS = 5, TRIALS = 30, MOST_FAILURES = 3 };
static const double MOST_BYTES = 256 << 20; /* of the pairs: more slow every step down, too */
/* H_0: a multiple of I, or the inverse of (5) or (6); NEWTON: (9), without pairs */
enum { NO_METRIC, ROW_METRIC, HESSIAN, NEWTON };

typedef struct state {
    mgvi_vec w, g, dir, trial, next_g; /* columns */
    mgvi_vec u;                        /* rows */
    mgvi_joint_pass *pass;             /* NULL: products with A */
    mgvi_minibatch *epochs;            /* NULL: from 0 */
    mgvi_row_metric metric;
    mgvi_class_hessian hessian;
    mgvi_class_dual dual;          /* of (9) */
    bool newton;                   /* there is one */
    double row_cost, hessian_cost; /* of (5) and (6), in passes; infinite: there is none */
    bool given, given_u;           /* w, and perhaps v, came from the run before on a path */
    mgvi_vec s, y;                 /* most_pairs vectors of the columns, one after the other */
    int64_t most_pairs;            /* PAIRS, or as many as MOST_BYTES hold */
    double *lane;
    struct memory {
        double f, grad_square; /* of the penalised columns: the gap is grad_square/(2 lambda) */
        double row_gap;        /* of w and the dual point v of (9); infinite: there is none */
        double free_slope;     /* sum of the intercepts' |slopes| */
        double rho[PAIRS];     /* 1/<s, y> */
        double scale;          /* <s, y>/<y, y> of the last pair */
        int64_t pairs, oldest;
        int32_t begun, precise; /* precise: products in float64 in place of the fused pass */
        int32_t metric;         /* what H_0 is */
        int32_t age;            /* iterations since it was made */
        int32_t u_of_w;         /* u belongs to w */
        int32_t short_steps;    /* with the metric */
        int32_t small_steps;    /* one after the other that F hardly shows */
        int32_t failures;       /* directions along which nothing descended */
    } m;
} state;

static int64_t numbers(const state *s) { return s->w.n * s->w.k; }

/* <x, y> over all lanes: as one long vector. */
static mgvi_vec pair(const state *s, const mgvi_vec *from, int64_t index)
{
    return mgvi_vec_part(from, index * s->w.n, s->w.n);
}

/* F(w) and its gradient, in one sweep of float32 while that is exact enough.                 (1) */
static double evaluate(mgvi_run *run, const mgvi_vec *w, mgvi_vec *g)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    mgvi_vec part = mgvi_problem_penalised_part(p, g);
    const mgvi_vec w_part = mgvi_problem_penalised_part(p, w);
    double loss = 0;
    if (s->pass && !s->m.precise) {
        loss = mgvi_joint_pass_run(s->pass, w, g);
    } else {
        mgvi_op_mul(p->A, 1, w, 0, &s->u);
        mgvi_loss_value(run->ctx, p->loss, &p->row, &s->u, s->lane);
        for (int32_t c = 0; c < w->k; c++)
            loss += s->lane[c];
        mgvi_loss_grad(run->ctx, p->loss, &p->row, &s->u, &s->u);
        mgvi_op_mul_t(p->A, 1, &s->u, 0, g);
    }
    s->m.u_of_w = !(s->pass && !s->m.precise) && w == &s->w;
    mgvi_vec_axpby(run->ctx, p->lambda, &w_part, 1, &part);
    return loss + 0.5 * p->lambda * mgvi_vec_inner(run->ctx, &w_part, &w_part);
}

/* What the estimate of the gap goes by, at the point the run has come to. */
static void measure_gradient(mgvi_run *run)
{
    state *s = run->state;
    const mgvi_vec part = mgvi_problem_penalised_part(run->problem, &s->g);
    s->m.grad_square = mgvi_vec_inner(run->ctx, &part, &part);
    const mgvi_vec free = mgvi_problem_free_part(run->problem, &s->g), all = mgvi_vec_flat(&free);
    mgvi_vec_abs_sum(run->ctx, &all, &s->m.free_slope);
}

/* The slopes U at w. */
static void refresh_slopes(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    if (s->m.u_of_w)
        return;
    s->m.u_of_w = true;
    if (s->pass) {
        mgvi_joint_pass_slopes(s->pass, &s->w, &s->u);
        return;
    }
    mgvi_op_mul(p->A, 1, &s->w, 0, &s->u);
    mgvi_loss_grad(run->ctx, p->loss, &p->row, &s->u, &s->u);
}

/* The fast way pays where a pass is much longer than what surrounds it; it works in host memory, as
 * metrics do. */
static mgv_status init_fast(mgvi_run *run)
{
    enum { LEAST_ROWS = 4096 };
    static const double LEAST_WORK = 1 << 22;
    state *s = run->state;
    const mgv_problem *p = run->problem;
    if (p->A->rows < LEAST_ROWS || (double)p->A->nnz * p->lanes < LEAST_WORK ||
        !mgvi_ctx_in_host(run->ctx))
        return MGV_OK;
    MGVI_TRY(mgvi_joint_pass_new(&run->arena, p->A, p->loss, &p->row, p->lanes, &s->pass));
    if (!s->pass)
        return MGV_OK;
    MGVI_TRY(mgvi_minibatch_new(run, &s->epochs));
    s->row_cost = mgvi_row_metric_cost(p);
    return isfinite(s->row_cost) ? mgvi_row_metric_new(run, &s->metric) : MGV_OK;
}

/* (6), or its blocks by classes where a pass is long enough for them. */
static mgv_status init_hessian(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    s->hessian_cost = mgvi_ctx_in_host(run->ctx) ? mgvi_class_hessian_cost(p) : INFINITY;
    const bool apart = !isfinite(s->hessian_cost) && s->pass;
    if (apart)
        s->hessian_cost = mgvi_class_hessian_blocks_cost(p);
    if (!isfinite(s->hessian_cost))
        return MGV_OK;
    const int64_t rows = apart ? mgvi_class_hessian_apart_rows(p) : mgvi_class_hessian_sample(p);
    MGVI_TRY(mgvi_class_hessian_new(run, apart, rows, &s->hessian));
    return mgvi_class_hessian_keep(run, &s->hessian);
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &s->w, &s->g, &s->dir, &s->trial, &s->next_g));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->u));
    s->m.grad_square = s->row_cost = s->m.row_gap = INFINITY;
    MGVI_TRY(init_fast(run));
    MGVI_TRY(init_hessian(run));
    s->newton = mgvi_ctx_in_host(run->ctx) && mgvi_class_dual_fits(run->problem);
    const double room = MOST_BYTES / (16 * (double)numbers(s));
    s->most_pairs = s->newton ? 1 : (int64_t)fmin(fmax(room, LEAST_PAIRS), PAIRS);
    const int64_t rows = s->most_pairs * s->w.n;
    MGVI_TRY(MGVI_VECS(&run->arena, MGVI_COLS, rows, s->w.k, &s->s, &s->y));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->lane, s->w.k));
    if (s->newton) {
        MGVI_TRY(mgvi_class_dual_new(run, false, &s->dual));
        s->m.metric = NEWTON;
    }
    MGVI_TRY(MGVI_RUN_KEEP_VECS(run, {"w", &s->w}, {"g", &s->g}, {"u", &s->u}, {"s", &s->s},
                                {"y", &s->y}));
    return mgvi_run_keep(run, "memory", MGVI_T_U8, &s->m, sizeof s->m);
}

static mgv_status start(mgvi_run *run, const double *w, const double *u)
{
    state *s = run->state;
    mgvi_vec_upload(run->ctx, w, &s->w);
    s->given = true;
    if (s->newton && u)
        memcpy(s->dual.v, u, (size_t)(s->u.n * s->u.k) * sizeof *u);
    s->given_u = u != NULL;
    return MGV_OK;
}

/* H_0 from the slopes at w; the pairs belonged to another one. */
static mgv_status refresh_metric(mgvi_run *run, int32_t kind)
{
    state *s = run->state;
    refresh_slopes(run);
    const mgvi_softmax_slopes slopes = {.problem = run->problem, .u = &s->u};
    const mgvi_class_curvature softmax = {.row = mgvi_softmax_curvature, .arg = &slopes};
    const mgv_status st = kind == HESSIAN ? mgvi_class_hessian_refresh(run, &s->hessian, &softmax)
                                          : mgvi_row_metric_refresh(run, &s->metric, &s->u);
    s->m.metric = st == MGV_OK ? kind : NO_METRIC;
    s->m.pairs = 0;
    s->m.age = 0;
    s->m.short_steps = 0;
    return st == MGV_E_NUMERIC ? MGV_OK : st; /* not positive: then without */
}

/* (6) is made anew after some iterations that cost as much, sooner where its steps are too long: it
 * belongs to a point now far away. */
static bool hessian_is_due(const state *s)
{
    enum { LEAST_AGE = 5 };
    if (s->m.metric == HESSIAN && s->m.short_steps > 0)
        return s->m.age >= s->hessian_cost / 2;
    return s->m.metric != NEWTON && s->m.age >= fmax(s->hessian_cost, LEAST_AGE);
}

/* A given point, or a few epochs of random batches: there L-BFGS and its metric begin.         (5)
 */
static mgv_status begin(mgvi_run *run)
{
    enum { EPOCHS = 3, CHEAP = 10 };
    state *s = run->state;
    mgvi_vec *log_p = &run->lent[0];
    bool warm = s->epochs != NULL || s->given;
    for (int e = 0; warm && !s->given && e < EPOCHS; e++)
        warm = mgvi_minibatch_epoch(run, s->epochs, &s->w) == MGV_OK;
    if (!warm) /* there is none, or its weights grew without bound: 0 is as good */
        mgvi_vec_fill(run->ctx, &s->w, 0);
    s->m.begun = true;
    s->m.f = evaluate(run, &s->w, &s->g);
    measure_gradient(run);
    if (s->newton) {
        if (s->given && !s->given_u)
            mgvi_vec_download(run->ctx, &s->u, s->dual.v);
        mgvi_class_dual_start(run->problem, &s->dual);
        mgvi_class_dual_scores(run->problem, &s->w, log_p);
        s->m.row_gap = mgvi_class_dual_gap(run->problem, &s->dual, log_p, &s->w, &s->trial);
        return MGV_OK;
    }
    if (s->hessian_cost <= CHEAP)
        return refresh_metric(run, HESSIAN);
    return warm && isfinite(s->row_cost) ? refresh_metric(run, ROW_METRIC) : MGV_OK;
}

/* dir = -H g.                                                                               (2) */
static mgv_status two_loops(mgvi_run *run)
{
    state *s = run->state;
    mgv_status st = MGV_OK;
    double alpha[PAIRS];
    mgvi_vec_copy(run->ctx, &s->g, &s->dir);
    mgvi_vec_scale(run->ctx, -1, &s->dir);
    for (int64_t i = s->m.pairs - 1; i >= 0; i--) {
        const int64_t at = (s->m.oldest + i) % s->most_pairs;
        const mgvi_vec si = pair(s, &s->s, at), yi = pair(s, &s->y, at);
        alpha[at] = s->m.rho[at] * mgvi_vec_inner(run->ctx, &si, &s->dir);
        mgvi_vec_axpby(run->ctx, -alpha[at], &yi, 1, &s->dir);
    }
    if (s->m.metric == HESSIAN)
        st = mgvi_class_hessian_solve(run, &s->hessian, &s->dir);
    else if (s->m.metric == ROW_METRIC)
        st = mgvi_row_metric_solve(run, &s->metric, &s->dir);
    else if (s->m.pairs > 0)
        mgvi_vec_scale(run->ctx, s->m.scale, &s->dir);
    for (int64_t i = 0; i < s->m.pairs; i++) {
        const int64_t at = (s->m.oldest + i) % s->most_pairs;
        const mgvi_vec si = pair(s, &s->s, at), yi = pair(s, &s->y, at);
        const double beta = s->m.rho[at] * mgvi_vec_inner(run->ctx, &yi, &s->dir);
        mgvi_vec_axpby(run->ctx, alpha[at] - beta, &si, 1, &s->dir);
    }
    return st;
}

static mgv_status newton_direction(mgvi_run *run)
{
    state *s = run->state;
    mgvi_class_dual_scores(run->problem, &s->w, &run->lent[0]);
    return mgvi_class_dual_direction(run, &s->dual, &run->lent[0], &s->w, &s->trial, &s->dir);
}

/* Without pairs the direction has no length: the change of the gradient over a tenth of the unit
 * step of a normalised direction gives the curvature along it. */
static double first_step(mgvi_run *run, double slope)
{
    state *s = run->state;
    const double length = sqrt(-slope), small = 0.1 / fmax(length, 1e-300);
    mgvi_vec_copy(run->ctx, &s->w, &s->trial);
    mgvi_vec_axpby(run->ctx, small, &s->dir, 1, &s->trial);
    evaluate(run, &s->trial, &s->next_g);
    const double change = mgvi_vec_inner(run->ctx, &s->next_g, &s->dir) - slope;
    return change > 0 ? -slope * small / change : small;
}

/* Rounding of F in float32, where evaluate() uses it. */
static const double FAST_NOISE = 1e-7;

/* One matrix for all classes whose steps are too long again and again is none of this problem: some
 * class has far more curvature than the others. */
static void judge_metric(state *s, int trials)
{
    enum { MOST_SHORT = 3 };
    s->m.short_steps += trials > 0;
    if (s->m.metric == ROW_METRIC && s->m.short_steps >= MOST_SHORT)
        s->m.metric = NO_METRIC;
}

/* Moves to the first t that descends enough; false: none does, rounding has the upper hand. (3) */
static double descend(mgvi_run *run, double slope, double t)
{
    state *s = run->state;
    const double slack = s->pass && !s->m.precise ? FAST_NOISE * fabs(s->m.f) : 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        mgvi_vec_copy(run->ctx, &s->w, &s->trial);
        mgvi_vec_axpby(run->ctx, t, &s->dir, 1, &s->trial);
        const double f = evaluate(run, &s->trial, &s->next_g);
        if (f <= s->m.f + 1e-4 * t * slope + slack) {
            s->m.small_steps = s->m.f - f <= 2 * slack ? s->m.small_steps + 1 : 0;
            s->m.f = f;
            judge_metric(s, trial);
            return t;
        }
        const double least = -0.5 * slope * t * t / (f - s->m.f - slope * t); /* of the parabola */
        t = isfinite(least) ? fmin(fmax(least, 0.1 * t), 0.5 * t) : 0.1 * t;
    }
    return 0;
}

static void remember(mgvi_run *run)
{
    state *s = run->state;
    const int64_t at = (s->m.oldest + s->m.pairs) % s->most_pairs;
    mgvi_vec si = pair(s, &s->s, at), yi = pair(s, &s->y, at);
    mgvi_vec_add(run->ctx, 1, &s->trial, -1, &s->w, &si);
    mgvi_vec_add(run->ctx, 1, &s->next_g, -1, &s->g, &yi);
    const double sy = mgvi_vec_inner(run->ctx, &si, &yi), yy = mgvi_vec_inner(run->ctx, &yi, &yi);
    if (!(sy > 1e-16 * yy)) /* no curvature that arithmetic can see */
        return;
    s->m.rho[at] = 1 / sy;
    s->m.scale = sy / yy;
    if (s->m.pairs < s->most_pairs)
        s->m.pairs++;
    else
        s->m.oldest = (s->m.oldest + 1) % s->most_pairs;
}

/* P - D = |grad|^2/(2 lambda) for the dual point U (4), and what it takes to make the intercepts'
 * slopes vanish: probability moved, at the price of a few units of score. */
static double gap_now(const mgvi_run *run)
{
    const state *s = run->state;
    const double price = 1;
    const double gap = s->m.grad_square / (2 * run->problem->lambda) + price * s->m.free_slope;
    return fmin(gap, s->m.row_gap) / fmax(fabs(s->m.f), 1e-300);
}

/* From here on in float64: the end is near, or float32 sees no descent any more. */
static void become_precise(mgvi_run *run)
{
    state *s = run->state;
    s->m.precise = true;
    s->m.small_steps = 0;
    s->m.f = evaluate(run, &s->w, &s->g);
    measure_gradient(run);
}

/* No step along the direction descends. */
static void recover(mgvi_run *run, double slope)
{
    state *s = run->state;
    if (s->pass && !s->m.precise && slope != 0) {
        become_precise(run);
        return;
    }
    run->finished =
        (s->m.pairs == 0 && !s->m.metric) || slope == 0 || ++s->m.failures >= MOST_FAILURES;
    s->m.pairs = 0; /* once more along the gradient, then it is over */
    s->m.metric = NO_METRIC;
    s->m.row_gap = INFINITY;
    s->m.f = evaluate(run, &s->w, &s->g);
}

static mgv_status step(mgvi_run *run)
{
    static const double FAST_GAP = 1e-5; /* what float32 is good for */
    enum { MOST_SMALL = 3, MOST_STILL = 8 };
    state *s = run->state;
    mgvi_vec *log_p = &run->lent[0];
    if (!s->m.begun)
        return begin(run);
    if (hessian_is_due(s))
        MGVI_TRY(refresh_metric(run, HESSIAN));
    s->m.age++;
    MGVI_TRY(s->m.metric == NEWTON ? newton_direction(run) : two_loops(run));
    double slope = mgvi_vec_inner(run->ctx, &s->g, &s->dir);
    if (!(slope < 0)) { /* the pairs have lost their meaning */
        s->m.pairs = 0;
        MGVI_TRY(two_loops(run));
        slope = mgvi_vec_inner(run->ctx, &s->g, &s->dir);
    }
    double t = s->m.pairs > 0 || s->m.metric ? 1 : first_step(run, slope);
    if (slope == 0 || !((t = descend(run, slope, t)) > 0)) {
        recover(run, slope);
        return MGV_OK;
    }
    if (s->m.metric != NEWTON)
        remember(run);

    mgvi_vec_copy(run->ctx, &s->trial, &s->w);
    mgvi_vec_copy(run->ctx, &s->next_g, &s->g);
    s->m.u_of_w = !s->pass || s->m.precise;
    measure_gradient(run);
    if (s->m.metric == NEWTON) {
        mgvi_class_dual_scores(run->problem, &s->w, log_p);
        mgvi_class_dual_follow(run->problem, &s->dual, t, log_p);
        s->m.row_gap = mgvi_class_dual_gap(run->problem, &s->dual, log_p, &s->w, &s->trial);
    }
    const bool fast = s->pass && !s->m.precise;
    if (fast && (gap_now(run) < FAST_GAP || s->m.small_steps >= MOST_SMALL))
        become_precise(run);
    else if (!fast && s->m.small_steps >= MOST_STILL) /* F is what float64 can make of it */
        run->finished = true;
    return MGV_OK;
}

static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    refresh_slopes(run);
    const bool rows = s->m.row_gap < s->m.grad_square / (2 * run->problem->lambda);
    if (rows)
        mgvi_vec_upload(run->ctx, s->dual.v, &run->lent[1]);
    return (mgvi_iterate){.w = &s->w, .u = rows ? &run->lent[1] : &s->u};
}

/* The gradient knows the gap, so that the judge need not be asked far from it. */
static double estimate(const mgvi_run *run)
{
    const double gap = gap_now(run);
    return gap > 2 * run->settings->tol ? INFINITY : gap;
}

static mgv_status restored(mgvi_run *run)
{
    const state *s = run->state;
    const bool pairs = s->m.pairs >= 0 && s->m.pairs <= s->most_pairs;
    if (pairs && s->m.oldest >= 0 && s->m.oldest < s->most_pairs &&
        !(s->m.metric == ROW_METRIC && !isfinite(s->row_cost)) &&
        !(s->m.metric == HESSIAN && !isfinite(s->hessian_cost)) &&
        !(s->m.metric == NEWTON && !s->newton))
        return MGV_OK;
    return MGVI_FAIL(run->ctx, MGV_E_INPUT, "the state of %s is damaged", run->ops->name);
}

const mgvi_solver_ops mgvi_solver_lbfgs = {
    .name = "lbfgs",
    .summary = "limited-memory BFGS for smooth losses of many classes",
    .needs = {.penalty = MGVI_SQUARE,
              .loss = MGVI_JOINT | MGVI_SMOOTH | MGVI_GRAD,
              .op = MGVI_MUL | MGVI_MUL_T},
    .no = {.penalty = MGVI_ABS},
    .uniform = true,
    .anywhere = true,
    .state_size = sizeof(state),
    .init = init,
    .start = start,
    .step = step,
    .expose = expose,
    .estimate = estimate,
    .restored = restored,
};
