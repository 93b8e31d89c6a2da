/* column_generation.c - hinges with l1, l2 or both on wide data, and the squared, huber and
 * logistic loss with l1 or both; docs/algorithms/column_generation.md.
 *
 *   mu = 0:  G = A A' once; an interior point for theta in n dimensions; w = A'theta / lambda  (12)
 *   mu > 0:  W = the columns with the largest |A's|
 *            repeat  (w, b, theta) = the solution on the columns of W; v = A'theta on all (13)
 *                    columns with the largest |v_j| > mu join W (14) until none is violated
 *
 * An interior point solves the problems on W (column_generation/hinge_interior.h) and the exact point of a face
 * ends it. Nothing leaves W, so that rounds end; and w = 0 outside W is part of the certificate. */
#include "solver/column_generation/generation_costs.h"
#include "solver/column_generation/hinge_columns.h"
#include "solver/solver_impl.h"

#include <math.h>
#include <string.h>

enum {
    FEW = 100 /* columns that are nothing to speak of */
};

#define NEVER INT64_MAX
/* The relative gap up to which the margins and the columns of a start mean anything. */
static const double WORTH_A_START = 0.1;
/* Of the rows, near the hinge in a start: just less than what the interior point takes for few. */
static const double MOST_LIVE = 0.24;

typedef struct state {
    double lambda, mu;
    int64_t n, d; /* rows with weight, penalised columns */
    mgvi_hinge_rows rows;
    mgvi_hinge_columns W;
    double *theta; /* of the rows */
    mgvi_hinge_block block;
    bool solved;          /* theta is the solution of a smaller W */
    bool begun;           /* the interior point is on its way in the present W */
    mgvi_ranked *ranking; /* d */
    bool warm;            /* w and u hold a start */
    /* The same, kept where it may be another solver's: steps are replayed from it. */
    int64_t inherited;
    mgvi_vec from_w, from_u;
    mgvi_hinge_waypoint way; /* sparse */
    mgvi_vec w, u, v;
    double gap;       /* relative, of the last round */
    double round_gap; /* of its problem on W */
    bool complete;    /* no column was violated: W is all that matters */
    bool stuck;       /* the problem on W was not solved as asked */
    int64_t steps; /* done, and those before the goal became sharp; kept, for steps are replayed */
    int64_t dull;
} state;

/* ---- starting -------------------------------------------------------------------------------- */

static mgv_status bind_strengths(mgvi_run *run, state *s)
{
    const mgvi_strengths c = mgvi_problem_strengths(run->problem, 0);
    s->lambda = c.lambda;
    s->mu = c.mu;
    if (!(s->mu > 0) && !(s->lambda > 0))
        return MGVI_FAIL(run->ctx, MGV_E_ARG, "lambda and mu are both 0: nothing is penalised");
    return MGV_OK;
}

/* The pair that smoothing comes to has nearly the right columns and rows. Where rows are few all
 * columns are taken at once. */
static bool inherits(const mgv_problem *p)
{
    return mgvi_generation_is_hinge(p) && p->A->rows >= MGVI_FEW_ROWS &&
           (p->penalty->can & MGVI_KINK) && !mgvi_op_is_dense(p->A);
}

static mgv_status keep_start(mgvi_run *run, state *s)
{
    MGVI_TRY(mgvi_run_keep(run, "dull", MGVI_T_I64, &s->dull, 1));
    if (!inherits(run->problem))
        return MGV_OK;
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->from_w));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->from_u));
    MGVI_TRY(mgvi_run_keep(run, "inherited", MGVI_T_I64, &s->inherited, 1));
    return MGVI_RUN_KEEP_VECS(run, {"from_w", &s->from_w}, {"from_u", &s->from_u});
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    s->d = mgvi_problem_penalised(p);
    s->gap = s->round_gap = NAN;
    s->dull = NEVER;
    MGVI_TRY(keep_start(run, s));
    if (p->A->rows > INT32_MAX || s->d > INT32_MAX)
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                         "solver column_generation takes at most 2^31 rows and columns");
    MGVI_TRY(bind_strengths(run, s));
    MGVI_TRY(mgvi_hinge_rows_bind(run, &s->rows));
    s->n = s->rows.n;
    if ((s->mu == 0 || s->d > s->n) && s->n > MGVI_MOST_ROWS)
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                         "solver column_generation keeps a square of the rows: %" PRId64
                         " are more than %d",
                         s->n, MGVI_MOST_ROWS);
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &s->w, &s->v));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->u));
    MGVI_TRY(mgvi_hinge_columns_bind(run, &s->rows, s->mu == 0, &s->W));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->theta, s->n));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->ranking, s->mu > 0 ? (size_t)s->d : 0));
    return s->W.table ? mgvi_hinge_waypoint_new(&run->arena, s->n, s->d, &s->way) : MGV_OK;
}

/* The support of w and the columns that u nearly violates make the first W. */
static mgv_status start(mgvi_run *run, const double *w, const double *u)
{
    state *s = run->state;
    if (s->W.gram || !u)
        return MGV_OK;
    memcpy(s->w.x, w, (size_t)s->w.n * sizeof *w);
    memcpy(s->u.x, u, (size_t)s->u.n * sizeof *u);
    s->warm = true;
    s->inherited = s->from_w.x != NULL;
    if (s->inherited) {
        memcpy(s->from_w.x, w, (size_t)s->w.n * sizeof *w);
        memcpy(s->from_u.x, u, (size_t)s->u.n * sizeof *u);
    }
    return MGV_OK;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* The columns that rank first join W. */
static mgv_status join(mgvi_run *run, state *s, int64_t count)
{
    s->begun = false;
    return mgvi_hinge_columns_join(run, &s->W, s->ranking, count);
}

/* The rows and strengths of the block. */
static void outline(state *s)
{
    mgvi_hinge_block *b = &s->block;
    *b = mgvi_hinge_rows_outline(&s->rows);
    mgvi_hinge_columns_outline(&s->W, b);
    b->lambda = s->lambda;
    b->mu = s->mu;
}

/* The block of the present W, and what the interior point needs for it. */
static mgv_status bind_block(mgvi_run *run, state *s)
{
    outline(s);
    if (s->W.table)
        MGVI_TRY(mgvi_hinge_columns_pack(run, &s->W, &s->block.sparse));
    for (int64_t t = 0; t < s->block.cols; t++)
        s->W.part[t] = s->w.x[s->W.col[t]];
    const mgvi_hinge_point from = {
        .theta = s->theta, .w = s->W.part, .b = s->rows.y ? s->w.x[s->d] : 0};
    mgvi_hinge_interior_begin(run->ctx, s->W.interior, &s->block, s->solved ? &from : NULL,
                              s->W.table && !s->rows.lone_theta && !s->rows.low ? &s->way : NULL);
    s->begun = true;
    return MGV_OK;
}

/* w = 0 with its best intercept. */
static void no_weights(state *s)
{
    memset(s->w.x, 0, (size_t)s->w.n * sizeof *s->w.x);
    if (s->rows.y)
        s->w.x[s->d] = s->rows.lone;
}

/* u = -theta, and v = A'theta on all columns. */
static void spread_theta(mgvi_run *run, state *s)
{
    mgvi_vec_fill(run->ctx, &s->u, 0);
    for (int64_t i = 0; i < s->n; i++)
        s->u.x[s->rows.row[i]] -= s->theta[i];
    mgvi_op_mul_t(run->problem->A, -1, &s->u, 0, &s->v);
}

/* The columns outside W with |v_j| above `least`, the largest first. */
static int64_t rank_columns(state *s, double least)
{
    int64_t count = 0;
    for (int64_t j = 0; j < s->d; j++)
        if (!s->W.in[j] && fabs(s->v.x[j]) > least)
            s->ranking[count++] = (mgvi_ranked){fabs(s->v.x[j]), (int32_t)j};
    mgvi_rank(s->ranking, count);
    return count;
}

/* Whether all columns are taken at once: entries of sparse ones cost little beside a factor of the
 * rows, and rounds over a part of the columns cost one each. */
static bool takes_all(const state *s)
{
    if (!s->W.table)
        return false;
    return s->n < MGVI_FEW_ROWS ? s->d <= 3 * s->n : s->d > s->n && s->n <= MGVI_MOST_AT_ONCE;
}

/* Columns that join at a time: `times` the rows; on tall data, where a step costs the square of
 * W, a part of them. */
static int64_t at_a_time(const state *s, int64_t times)
{
    if (s->n >= MGVI_FEW_ROWS)
        return MGVI_MOST_FIRST;
    return s->d > s->n ? times * s->n : s->d / 4 > FEW ? s->d / 4 : FEW;
}

/* theta of rows that the start's margins put clear of the hinge is at its bound, so that they may
 * rest (column_generation/hinge_interior.h). At a vertex as many rows are on the hinge as there are weights:
 * three times as many, those nearest to it, stay. */
static mgv_status presume_rows(mgvi_run *run, state *s, int64_t weights)
{
    const int64_t most = (int64_t)(MOST_LIVE * (double)s->n), wanted = 3 * weights + FEW;
    const int64_t near = wanted < most ? wanted : most;
    if (s->rows.kind != MGVI_ROWS_BOXED || s->rows.lone_theta || s->rows.low || weights >= most)
        return MGV_OK;
    mgvi_op_mul(run->problem->A, 1, &s->w, 0, &s->u);
    MGVI_TRY(mgvi_hinge_rows_near(run, &s->rows, s->u.x, near, s->theta));
    s->solved = true;
    return MGV_OK;
}

/* The relative gap of the start. */
static double pair_gap(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    double primal = 0;
    mgvi_hinge_rows_theta(&s->rows, s->u.x, s->theta);
    outline(s);
    spread_theta(run, s);
    const double dual = mgvi_hinge_dual(&s->block, s->d, s->theta, s->v.x);
    mgvi_op_mul(p->A, 1, &s->w, 0, &s->u);
    for (int64_t i = 0; i < s->n; i++)
        primal += mgvi_hinge_loss(&s->block, i, s->u.x[s->rows.row[i]]);
    spread_theta(run, s);
    for (int64_t j = 0; j < s->d; j++)
        primal += (s->lambda / 2 * fabs(s->w.x[j]) + s->mu) * fabs(s->w.x[j]);
    return (primal - dual) / primal;
}

/* Whether the start is worth less than to take all columns. */
static bool is_poor(mgvi_run *run, state *s)
{
    return s->n >= MGVI_FEW_ROWS && takes_all(s) && pair_gap(run, s) > WORTH_A_START;
}

/* The first W; w = 0 is the solution when not even the whole box violates a column. */
static mgv_status first_columns(mgvi_run *run, state *s)
{
    int64_t kept = 0, count, most = at_a_time(s, 2);
    if (s->warm && !is_poor(run, s)) {
        mgvi_op_mul_t(run->problem->A, -1, &s->u, 0, &s->v);
        for (int64_t j = 0; j < s->d; j++)
            if (s->w.x[j] != 0)
                s->ranking[kept++] = (mgvi_ranked){0, (int32_t)j};
        MGVI_TRY(join(run, s, kept));
        MGVI_TRY(presume_rows(run, s, kept));
        most = most / 4 + 1;
    } else {
        mgvi_hinge_rows_lone_theta(run->problem, &s->rows, s->theta);
        no_weights(s);
        spread_theta(run, s);
        count = rank_columns(s, s->mu);
        if (count == 0) {
            s->gap = 0;
            run->finished = true;
            return MGV_OK;
        }
        if (2 * count + FEW < most) /* some more than those that theta of w = 0 violates */
            most = 2 * count + FEW;
        else if (takes_all(s) || (s->rows.lone_theta && s->d <= fmax(3 * s->n, 4 * FEW)))
            most = s->d; /* or all, if that is most */
    }
    count = rank_columns(s, -1);
    return join(run, s, count < most ? count : most);
}

/* (13): the problem on W, as exactly as the last round makes worth while. */
static mgv_status solve_on_W(mgvi_run *run, state *s)
{
    static const double ROUNDING = 1e-13, SHARP = 1e-12;
    const double goal = s->steps < s->dull ? run->settings->tol : fmin(run->settings->tol, SHARP);
    const double enough = fmax((s->complete ? 0.8 : 0.2) * goal, ROUNDING);
    const double tol = s->complete ? enough : isnan(s->gap) ? 1e-2 : fmax(enough, 0.03 * s->gap);
    mgvi_hinge_point at = {.theta = s->theta, .w = s->W.part};
    mgvi_hinge_result result;
    if (!s->begun)
        MGVI_TRY(bind_block(run, s));
    at.w = s->W.part;
    MGVI_TRY(mgvi_hinge_interior_run(run->ctx, s->W.interior, tol, &at, &result));
    run->work += result.work;
    s->solved = true;
    mgvi_vec_fill(run->ctx, &s->w, 0);
    for (int64_t t = 0; t < s->W.size; t++)
        s->w.x[s->W.col[t]] = s->W.part[t];
    if (s->rows.y)
        s->w.x[s->d] = at.b;
    if (s->rows.at_zero <= result.primal * (1 + 1e-13)) { /* nothing is as good, and sparser */
        no_weights(s);
        result.primal = fmin(result.primal, s->rows.at_zero);
    }
    spread_theta(run, s);
    s->round_gap = (result.primal - result.dual) / result.primal;
    s->stuck = s->round_gap > tol;
    const double dual = mgvi_hinge_dual(&s->block, s->d, s->theta, s->v.x); /* on all columns */
    s->gap = (result.primal - dual) / result.primal;
    return MGV_OK;
}

/* Where the rows in question are fewer than the columns they make the size of a step, and columns
 * cost their entries only: all that are wanted join at once. */
static int64_t join_at_once(const state *s)
{
    const bool all =
        s->W.table && s->n >= MGVI_FEW_ROWS && mgvi_hinge_rows_open(&s->rows, s->theta) < s->W.size;
    return all ? s->W.size : at_a_time(s, 1);
}

/* (14): violated columns, and with room left those that are nearly. */
static mgv_status widen(mgvi_run *run, state *s)
{
    const bool settled = s->complete;
    const double near = s->gap < 1e-3 ? 0.98 : 0.9;
    s->complete = rank_columns(s, s->mu * (1 + 1e-13)) == 0;
    if (s->complete) { /* solved as well as it will be, or on to the end */
        run->finished = (settled && s->stuck) || s->round_gap <= 1e-12;
        return MGV_OK;
    }
    const int64_t count = rank_columns(s, near * s->mu);
    const int64_t most = join_at_once(s);
    return join(run, s, count < most ? count : most);
}

/* (12) */
static mgv_status solve_square(mgvi_run *run, state *s)
{
    mgvi_hinge_point at = {.theta = s->theta};
    mgvi_hinge_result result;
    MGVI_TRY(mgvi_hinge_columns_gram(run, &s->W));
    MGVI_TRY(bind_block(run, s));
    MGVI_TRY(
        mgvi_hinge_interior_run(run->ctx, s->W.interior, 0.2 * run->settings->tol, &at, &result));
    run->work += (double)s->n * (double)s->n / 2 * (double)s->d + result.work;
    spread_theta(run, s);
    mgvi_vec_add(run->ctx, 1 / s->lambda, &s->v, 0, &s->v, &s->w);
    if (s->rows.y)
        s->w.x[s->d] = at.b;
    s->gap = (result.primal - result.dual) / result.primal;
    run->finished = true;
    return MGV_OK;
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    if (s->W.gram)
        return solve_square(run, s);
    if (s->dull == NEVER && run->goal < run->settings->tol)
        s->dull = s->steps;
    if (s->W.size == 0) {
        MGVI_TRY(first_columns(run, s));
        if (run->finished)
            return MGV_OK;
        s->complete = s->W.size == s->d;
    }
    MGVI_TRY(solve_on_W(run, s));
    s->steps++;
    return widen(run, s);
}

static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    return (mgvi_iterate){.w = &s->w, .u = &s->u};
}

static double estimate(const mgvi_run *run) { return ((const state *)run->state)->gap; }

/* Rounds are few and nothing in them is random: a checkpoint holds their number, and the start. */
static mgv_status restored(mgvi_run *run)
{
    state *s = run->state;
    const double touched = run->touched;
    if (s->inherited) {
        MGVI_TRY(mgvi_run_check_kept(run, &s->from_w));
        MGVI_TRY(mgvi_run_check_kept(run, &s->from_u));
        MGVI_TRY(start(run, s->from_w.x, s->from_u.x));
    }
    for (int64_t k = 0; k < run->iteration && !run->finished; k++)
        MGVI_TRY(step(run));
    run->touched = touched;
    return MGV_OK;
}

/* Penalty l2 alone is for hinges: others have curvature, and solvers that use it. */
static mgv_status fits(mgv_ctx *ctx, const mgv_problem *p)
{
    if (mgvi_generation_is_hinge(p) || (p->penalty->can & MGVI_KINK))
        return MGV_OK;
    return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                     "solver column_generation works with penalty l1 or enet where the loss is %s",
                     p->loss->name);
}

const mgvi_solver_ops mgvi_solver_column_generation = {
    .name = "column_generation",
    .summary = "l1 and elastic net on wide data: columns join an interior point; hinges, l2 too",
    .needs = {.op = MGVI_MUL_T | MGVI_ROW},
    .any = {.penalty = MGVI_SQUARE | MGVI_ABS,
            .loss = MGVI_QUADRATIC_DUAL | MGVI_LIKELIHOOD | MGVI_BETWEEN},
    .no = {.loss = MGVI_HARD},
    .fits = fits,
    .cost = mgvi_generation_cost,
    .finish = mgvi_generation_finish,
    .inherits = inherits,
    .uniform = true,
    .state_size = sizeof(state),
    .init = init,
    .start = start,
    .step = step,
    .expose = expose,
    .estimate = estimate,
    .restored = restored,
};
