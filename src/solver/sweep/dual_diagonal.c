/* dual_diagonal.c - dual diagonal descent for the hard margin; docs/algorithms/dual_diagonal.md.
 *
 *   min over u in [-1/lambda_t, 0]^n of  1/2 |A'u|^2 + sum_i u_i,   w = -A'u                  (1)
 *
 * by one projected gradient step for each lambda_t of a schedule that falls to 0 (2), with the
 * momentum t/(t + alpha), t counted from inertia_first:
 *   z  = u + beta du,  beta = t/(t + alpha),  du the last move                                (3)
 *   u+ = clip(z + (A w(z) - 1)/L, -1/lambda_t, 0)                                             (4)
 * L is |A|^2, or as small as the move dz = u+ - z allows (5); momentum that points uphill is
 * dropped (6). w follows by w(z) = w + beta dw and w+ = w(z) - A'dz: one product with A and one
 * with A' an iteration. */
#include "certify/rates.h"
#include "problem/margins.h"
#include "solver/solver_impl.h"

#include <float.h>
#include <math.h>

enum {
    REFRESH = 100,         /* steps between two recomputations of w from u */
    POWER_ITERATIONS = 60, /* for L without backtracking */
    LONG_RUN = 100         /* steps after which a box that still holds is worth a warning */
};

/* Decay of L after a step that (5) accepts, and its floor in units of the mean |a_i|^2: along
 * directions with A'd = 0 there is no other. */
static const double DECAY = 0.95, FLOOR = 1e-12;

/* Power iteration gives |A|^2 from below. */
static const double SAFETY = 1.02;

/* Plain numbers of the state, saved as they are. */
typedef struct memory {
    int64_t momentum; /* steps since the start or the last restart */
    double L;
    double estimate; /* relative gap as the last step saw it */
} memory;

typedef struct state {
    mgvi_vec u, du, z, dz, next, slack; /* rows; slack = A w(z) - 1 */
    mgvi_vec w, dw, wz, dwz;            /* cols; dwz = -A'dz */
    double mean_square, frobenius;      /* mean of |a_i|^2; |A|_F^2 >= |A|^2 */
    double lambda0;
    mgvi_schedule schedule;
    bool hopeless; /* a row of zeros: the start is the proof */
    memory m;
} state;

/* ---- the start ------------------------------------------------------------------------------- */

static mgv_status allocate(mgvi_run *run, state *s)
{
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_ROWS, &s->u, &s->du, &s->z, &s->dz, &s->next, &s->slack));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &s->w, &s->dw, &s->wz, &s->dwz));
    MGVI_TRY(MGVI_RUN_KEEP_VECS(run, {"u", &s->u}, {"du", &s->du}, {"w", &s->w}, {"dw", &s->dw}));
    return mgvi_run_keep(run, "memory", MGVI_T_U8, &s->m, sizeof s->m);
}

static mgv_status read_settings(mgvi_run *run, state *s)
{
    const mgv_settings *set = run->settings;
    s->schedule = set->schedule;
    if (set->inertia > 0 && set->inertia < 3)
        return MGVI_FAIL(run->ctx, MGV_E_ARG,
                         "inertia is %g; allowed: 0 (none) or at least 3, where it converges",
                         set->inertia);
    return MGV_OK;
}

/* Mean and sum of |a_i|^2 over the rows with weight. A row of zeros cannot have a margin: u starts
 * as that row alone, which is the proof. */
static mgv_status measure_rows(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    mgvi_arena scratch; /* rows may be a copy of the data */
    mgvi_rows *rows;
    mgvi_arena_init(&scratch, run->ctx);
    const mgv_status st = mgvi_rows_new(p->A, &scratch, &rows);
    mgvi_live_rows live = {.row = NULL};
    if (st == MGV_OK)
        mgvi_problem_live_rows(p, rows, &s->slack, &live);
    mgvi_arena_free(&scratch);
    MGVI_TRY(st);
    s->hopeless = live.least == 0;
    if (s->hopeless) {
        mgvi_vec_leave_out(run->ctx, &p->row.scale, INFINITY, &s->slack);
        mgvi_vec_split(run->ctx, &s->slack, DBL_TRUE_MIN, -1, 0, &s->u);
    }
    s->frobenius = live.total;
    if (!isfinite(s->frobenius * s->frobenius))
        return MGVI_FAIL(run->ctx, MGV_E_INPUT,
                         "the data are too large: the sum of their squares is %g; divide them by "
                         "a power of ten",
                         s->frobenius);
    s->mean_square = live.count > 0 ? s->frobenius / (double)live.count : 0;
    return MGV_OK;
}

static mgv_status choose_L(mgvi_run *run, state *s)
{
    s->m.L = s->mean_square;
    if (!run->settings->backtracking) {
        s->m.L = run->settings->lipschitz;
        double norm = 0;
        if (isnan(s->m.L)) {
            MGVI_TRY(mgvi_op_norm(run->problem->A, &run->arena, POWER_ITERATIONS,
                                  (uint64_t)run->settings->seed, &norm));
            s->m.L = fmin(SAFETY * norm * norm, s->frobenius);
        }
    }
    if (!(s->m.L > 0)) /* no row has a number: any step will do */
        s->m.L = 1;
    return MGV_OK;
}

/* 1/lambda_t, t = 0, 1, ...; infinite when lambda_t is 0 or 2^t overflows.                   (2) */
static double box(const state *s, int64_t iteration)
{
    enum { BEYOND_DOUBLE = 2000 };
    const double t = (double)iteration;
    switch (s->schedule) {
    case MGVI_SCHEDULE_LOG:
        return log(t + 2) / s->lambda0;
    case MGVI_SCHEDULE_SQRT:
        return sqrt(t + 1) / s->lambda0;
    case MGVI_SCHEDULE_LINEAR:
        return (t + 1) / s->lambda0;
    case MGVI_SCHEDULE_SQUARE:
        return (t + 1) * (t + 1) / s->lambda0;
    case MGVI_SCHEDULE_GEOMETRIC:
        return ldexp(1, iteration < BEYOND_DOUBLE ? (int)iteration : BEYOND_DOUBLE) / s->lambda0;
    case MGVI_SCHEDULE_CONSTANT:
        break;
    }
    return 1 / s->lambda0;
}

/* Every multiplier at the same share of the first box; rows without weight stay at 0. */
static mgv_status choose_start(mgvi_run *run, state *s)
{
    const double share = run->settings->dual_diagonal_start, at = -share * box(s, 0);
    if (share == 0)
        return MGV_OK;
    if (!isfinite(at))
        return MGVI_FAIL(run->ctx, MGV_E_ARG,
                         "dual-diagonal-start is a share of the box 1/lambda_t, which is infinite "
                         "for lambda0 = %g (got %g); a larger --lambda0, or start at 0",
                         s->lambda0, share);
    mgvi_vec_fill(run->ctx, &s->u, at);
    mgvi_loss_dual_clip(run->ctx, run->problem->loss, &run->problem->row, &s->u);
    mgvi_op_mul_t(run->problem->A, -1, &s->u, 0, &s->w);
    return MGV_OK;
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    MGVI_TRY(read_settings(run, s));
    MGVI_TRY(allocate(run, s));
    MGVI_TRY(measure_rows(run, s));
    s->lambda0 = isnan(run->settings->lambda0) ? s->mean_square : run->settings->lambda0;
    s->m.estimate = NAN;
    mgvi_run_expect_products(run);
    MGVI_TRY(choose_L(run, s));
    return s->hopeless ? MGV_OK : choose_start(run, s);
}

/* ---- one step -------------------------------------------------------------------------------- */

/* |x|^2 of columns */
static double square(const mgvi_run *run, const mgvi_vec *x)
{
    const double length = mgvi_op_length(run->problem->A, x);
    return length * length;
}

/* (4) from z for the present L, and dz, dwz = -A'dz. */
static void descend(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    mgvi_vec_add(run->ctx, 1, &s->z, 1 / s->m.L, &s->slack, &s->next);
    mgvi_loss_dual_clip(run->ctx, p->loss, &p->row, &s->next); /* u <= 0; 0 without weight */
    mgvi_vec_clip(run->ctx, -box(s, run->iteration), 0, &s->next);
    mgvi_vec_add(run->ctx, 1, &s->next, -1, &s->z, &s->dz);
    mgvi_op_mul_t(p->A, -1, &s->dz, 0, &s->dwz);
}

/* (4) with the first L that meets  |A'dz|^2 <= L |dz|^2, which makes (1) fall as far as a step
 * 1/L promises. A refused L at least doubles. At the Frobenius norm it is met but for rounding,
 * and near the end dz is nothing but rounding: there the search must stop.                   (5) */
static void search(mgvi_run *run, state *s)
{
    for (;;) {
        descend(run, s);
        if (!run->settings->backtracking)
            return;
        double length;
        mgvi_vec_dot(run->ctx, &s->dz, &s->dz, &length);
        const double image = square(run, &s->dwz);
        if (image <= s->m.L * length || s->m.L >= s->frobenius) {
            if (length > 0)
                s->m.L = fmax(DECAY * s->m.L, FLOOR * s->mean_square);
            return;
        }
        s->m.L = fmin(fmax(2 * s->m.L, image / length), s->frobenius);
    }
}

/* The relative gap 1 - lower/upper with the margins of w(z), which the step has computed. */
static double guess_gap(const mgvi_run *run, const state *s)
{
    mgvi_op *A = run->problem->A;
    double least, sum;
    mgvi_vec_min(run->ctx, &s->slack, &least);
    mgvi_vec_sum(run->ctx, &s->u, &sum);
    const double lower = (1 + least) / mgvi_op_length(A, &s->wz);
    const double upper = mgvi_op_length(A, &s->w) / -sum;
    return 1 - lower / upper;
}

/* The step is taken; momentum goes on unless the step from z undid part of the move (6). */
static void move(mgvi_run *run, state *s, double beta)
{
    double agreement;
    mgvi_vec_add(run->ctx, 1, &s->next, -1, &s->u, &s->du);
    mgvi_vec_copy(run->ctx, &s->next, &s->u);
    mgvi_vec_axpby(run->ctx, 1, &s->dwz, beta, &s->dw);
    mgvi_vec_axpby(run->ctx, 1, &s->dw, 1, &s->w);
    s->m.momentum++;
    if (run->settings->dual_diagonal_restart) {
        mgvi_vec_dot(run->ctx, &s->dz, &s->du, &agreement);
        if (agreement < 0)
            s->m.momentum = 0;
    }
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    const double alpha = run->settings->inertia;
    const double t = (double)(s->m.momentum + run->settings->inertia_first);
    const double beta = alpha > 0 ? t / (t + alpha) : 0; /* (3) */
    if (s->hopeless) {
        run->suspicious = run->finished = true;
        return MGV_OK;
    }
    if (run->iteration % REFRESH == REFRESH - 1) /* running sums drift by rounding */
        mgvi_op_mul_t(run->problem->A, -1, &s->u, 0, &s->w);
    mgvi_vec_add(run->ctx, 1, &s->u, beta, &s->du, &s->z);
    mgvi_vec_add(run->ctx, 1, &s->w, beta, &s->dw, &s->wz);
    mgvi_vec_fill(run->ctx, &s->slack, -1);
    mgvi_op_mul(run->problem->A, 1, &s->wz, 1, &s->slack);
    search(run, s);
    move(run, s, beta);
    s->m.estimate = guess_gap(run, s);
    return MGV_OK;
}

static mgvi_iterate expose(mgvi_run *run)
{
    const state *s = run->state;
    return (mgvi_iterate){.w = &s->w, .u = &s->u};
}

static double estimate(const mgvi_run *run)
{
    const state *s = run->state;
    return s->m.estimate;
}

/* A box that still holds means the soft margin with C = 1/lambda_t, not the hard one. */
static void ended(mgvi_run *run)
{
    state *s = run->state;
    const double bound = box(s, run->iteration - 1);
    double held;
    mgvi_vec_split(run->ctx, &s->u, nextafter(-bound, INFINITY), 1, 0, &s->z);
    mgvi_vec_sum(run->ctx, &s->z, &held);
    if (held > 0 && run->iteration >= LONG_RUN)
        mgvi_log(run->ctx, MGV_WARNING,
                 "dual_diagonal: after %" PRId64 " iterations %.0f multipliers are still held at "
                 "1/lambda_t = %g: this is the soft margin with "
                 "that C; a faster --schedule or a smaller --lambda0 opens the box, unless the "
                 "classes cannot be separated",
                 run->iteration, held, bound);
}

/* ---- what is proven -------------------------------------------------------------------------- */

/* Theorem 5.2: u_0 = 0, a step of 1/L, the whole momentum of alpha >= 3, and a box that holds u* from
 * the start on. Of u* it is known that |u*|_1 = |w*|^2, one over the square of the largest margin,
 * which lies between two that are certified; so |u*| and every |u*_i| are at most that. False: none
 * of it holds. */
static bool read_facts(const mgvi_run *run, const mgvi_optimum *known, mgvi_descent_facts *out)
{
    const state *s = run->state;
    const mgv_settings *set = run->settings;
    const double low = known->certificate->margin, high = known->certificate->margin_upper;
    const double most = 1 / (low * low);
    const bool whole = set->inertia >= 3 && set->inertia_first == 0 && !set->backtracking &&
                       !set->dual_diagonal_restart && set->dual_diagonal_start == 0 &&
                       set->schedule == MGVI_SCHEDULE_LINEAR;
    *out = (mgvi_descent_facts){.w_star = 1 / high,
                                .u_star = most,
                                .total = (most + 1 / (high * high)) / 2,
                                .distance = most,
                                .X_norm = sqrt(s->m.L),
                                .X_frobenius = sqrt(s->frobenius),
                                .gamma = 1 / s->m.L,
                                .alpha = set->inertia};
    return whole && low > 0 && most * s->lambda0 <= 1;
}

static int theorems(const mgvi_run *run, const mgvi_optimum *known, mgv_bound *out)
{
    mgvi_descent_facts facts;
    if (!read_facts(run, known, &facts))
        return 0;
    const double t = (double)run->iteration;
    const mgvi_descent_rate rate = mgvi_descent_rate_inertial(&facts, t);
    out[0] = (mgv_bound){.item = "Apidopoulos et al.: theorem 5.2, (5.7)",
                         .quantity = "|w_t - w*|",
                         .low = NAN,
                         .high = rate.distance,
                         .found = NAN};
    out[1] = (mgv_bound){.item = "Apidopoulos et al.: theorem 5.2, (5.8)",
                         .quantity = "1 - cos of the angle of w_t and w*",
                         .low = NAN,
                         .high = rate.angle,
                         .found = NAN};
    out[2] = (mgv_bound){.item = "Apidopoulos et al.: theorem 5.2, (5.9)",
                         .quantity = "largest margin less that of w_t",
                         .low = NAN,
                         .high = rate.margin,
                         .found = NAN};
    return t >= rate.t_star ? 3 : 1;
}

/* A checkpoint is a file: the numbers that steer the step must be possible. */
static mgv_status restored(mgvi_run *run)
{
    const state *s = run->state;
    const bool sound =
        s->m.momentum >= 0 && s->m.momentum <= run->iteration && s->m.L > 0 && isfinite(s->m.L);
    return sound ? MGV_OK
                 : MGVI_FAIL(run->ctx, MGV_E_INPUT, "the checkpoint's step length is damaged");
}

const mgvi_solver_ops mgvi_solver_dual_diagonal = {
    .name = "dual_diagonal",
    .summary = "inertial dual diagonal descent for the hard margin, loss margin, no intercept",
    .needs = {.penalty = MGVI_SQUARE,
              .loss = MGVI_HARD | MGVI_MARGIN,
              .op = MGVI_MUL | MGVI_MUL_T | MGVI_ROW},
    .no = {.penalty = MGVI_ABS},
    .no_intercept = true,
    .kernels = true,
    .settings = "schedule lambda0 inertia inertia_first dual_diagonal_start dual_diagonal_restart "
                "backtracking lipschitz",
    .anywhere = true,
    .state_size = sizeof(state),
    .init = init,
    .step = step,
    .expose = expose,
    .estimate = estimate,
    .ended = ended,
    .restored = restored,
    .theorems = theorems,
};
