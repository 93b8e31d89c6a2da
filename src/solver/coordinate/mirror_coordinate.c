/* mirror_coordinate.c - dual coordinate ascent in every norm; docs/algorithms/mirror_coordinate.md.
 *
 *   max over u of  D(u) = -R*(v) - sum_i (s_i G_i)*(u_i),   v = -A'u,  w = grad R*(v)          (1)
 *
 * one u_i at a time in a fresh random order every pass: exactly, by Newton's method with a bracket
 * (2), or by one step with the bound L_i of the curvature, as the paper has it (6). Each costs O(entries of the row) for every R (shared/mirror_map.h).
 * A free intercept makes D subject to sum_i a_i0 u_i = 0: the method of multipliers, (4) and (5) of
 * docs/algorithms/dual_coordinate.md. */
#include "solver/shared/intercept.h"

#include "base/limit.h"
#include "certify/guarantees.h"
#include "solver/coordinate/row_passes.h"
#include "solver/shared/mirror_map.h"
#include "solver/solver_impl.h"

#include <math.h>
#include <string.h>

enum { REFRESH = 25 }; /* full passes between two recomputations of v from u */

/* ---- the state ------------------------------------------------------------------------------- */

/* Plain numbers of the state, saved as they are. */
typedef struct memory {
    double intercept; /* b0 - kappa sum_i a_i0 u_i */
    double free_sum;  /* sum_i a_i0 u_i */
    double estimate;  /* relative gap seen by the last full pass */
    int64_t visits;   /* of rows, where means are taken */
} memory;

typedef struct state {
    mgvi_rows *rows;
    bool centred; /* rows as they are; else the free intercept makes up for their centre */
    bool exact;
    mgvi_mirror_map map;
    mgvi_row_passes passes;
    double *row;       /* work space: one row's entries */
    double *lipschitz; /* L_i */
    double kappa;
    mgvi_vec u;           /* of the map's own R */
    double *late;         /* iterate=average, else NULL: u times visits - sum of all u until now */
    mgvi_mirror_map mean; /* of the mean's image */
    mgvi_vec w, shown, z; /* what the judge sees; z is work space */
    memory m;
} state;

/* What a pass learns on its way, while w moves. */
typedef struct findings {
    int64_t moved;
    double move;                          /* largest L |du| */
    double least, worst;                  /* least z; largest distance to its set, relative */
    double loss, fenchel, product, sum_u; /* of coordinate/dual_epoch.h */
} findings;

static mgv_status allocate(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const int64_t n = p->A->rows, d = mgvi_problem_penalised(p);
    MGVI_TRY(mgvi_rows_new(p->A, &run->arena, &s->rows));
    MGVI_TRY(mgvi_mirror_map_new(p, &run->arena, &s->map));
    MGVI_TRY(mgvi_row_passes_new(run, &s->passes));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_ROWS, &s->u, &s->shown, &s->z));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->w));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->row, d));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->lipschitz, n));
    MGVI_TRY(mgvi_run_keep(run, "u", MGVI_T_F64, s->u.x, n));
    MGVI_TRY(mgvi_run_keep(run, "v", MGVI_T_F64, s->map.v, d));
    return mgvi_run_keep(run, "memory", MGVI_T_U8, &s->m, sizeof s->m);
}

static mgvi_entries row_of(const state *s, int64_t i)
{
    return mgvi_rows_entries(s->rows, i, s->centred, s->row);
}

/* L_i of every row, the map's first unit, and kappa: a tenth of an average row's curvature, as for
 * dual_coordinate. */
static mgv_status measure_rows(mgvi_run *run, state *s)
{
    const int64_t n = s->u.n;
    double sum = 0, most = 0;
    MGVI_TRY(mgvi_mirror_map_bounds(&s->map, s->rows, s->centred, s->row, s->lipschitz));
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, s->lipschitz[i]);
        sum += s->lipschitz[i];
    }
    const double share = fmax(mgvi_mirror_map_floor(&s->map), 1e-2);
    if (run->problem->free_cols)
        s->kappa = 0.1 * (sum > 0 ? share * sum / (double)n : 1);
    mgvi_mirror_map_start(&s->map, sqrt(most));
    return MGV_OK;
}

static void choose_rows(mgvi_run *run, state *s)
{
    for (int64_t i = 0; i < s->u.n && !run->suspicious; i++)
        if (mgvi_run_row_moves(run, i, s->lipschitz[i] + s->kappa > 0, s->u.x))
            mgvi_row_passes_add(&s->passes, i);
    if (run->suspicious)
        s->passes.all_count = 0;
}

/* What does not go together. */
static mgv_status check_variant(mgvi_run *run, const state *s)
{
    const mgv_settings *want = run->settings;
    if (!s->exact && s->map.kind == MGVI_MIRROR_POWER && s->map.q != 2)
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                         "|w|^p beside a soft loss has a conjugate without a bound of its "
                         "curvature; leave out exact_steps=no");
    if (s->exact && want->row_bound != MGVI_ROW_BOUND_OWN)
        return MGVI_FAIL(run->ctx, MGV_E_ARG,
                         "row_bound is of steps with a bound of the curvature; add exact_steps=no");
    if (want->shrink && want->row_order != MGVI_ROW_ORDER_SHUFFLE)
        return MGVI_FAIL(run->ctx, MGV_E_ARG,
                         "rows that are drawn at random are drawn from all; add shrink=no");
    if (run->problem->free_cols && want->iterate == MGVI_ITERATE_AVERAGE)
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                         "means of the iterates are of planes through the origin; add "
                         "intercept=no");
    if (want->draws > 0 && want->row_order == MGVI_ROW_ORDER_SHUFFLE)
        return MGVI_FAIL(
            run->ctx, MGV_E_ARG,
            "an iteration is a pass over all rows unless they are drawn (got draws=%" PRId64
            "); add row_order=draw",
            want->draws);
    return MGV_OK;
}

/* Chances, bounds and means, where they are not the default's; L_i and the rows are known. */
static mgv_status bind_variant(mgvi_run *run, state *s)
{
    const mgv_settings *want = run->settings;
    double sum = 0, most = 0;
    if (want->row_order == MGVI_ROW_ORDER_IMPORTANCE)
        MGVI_TRY(MGVI_RUN_ARRAY(run, s->passes.until, s->passes.all_count));
    for (int64_t t = 0; t < s->passes.all_count; t++) {
        sum += s->lipschitz[s->passes.all[t]];
        most = fmax(most, s->lipschitz[s->passes.all[t]]);
        if (s->passes.until)
            s->passes.until[t] = sum;
    }
    for (int64_t i = 0; i < s->u.n && want->row_bound == MGVI_ROW_BOUND_LARGEST; i++)
        s->lipschitz[i] = most;
    if (want->iterate != MGVI_ITERATE_AVERAGE)
        return MGV_OK;
    MGVI_TRY(mgvi_mirror_map_new(run->problem, &run->arena, &s->mean));
    mgvi_mirror_map_start(&s->mean, sqrt(most));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->late, s->u.n));
    return mgvi_run_keep(run, "late", MGVI_T_F64, s->late, s->u.n);
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    MGVI_TRY(allocate(run, s));
    s->centred = !p->free_cols || s->rows->m.layout == MGV_DENSE;
    s->exact = run->settings->exact_steps;
    MGVI_TRY(check_variant(run, s));
    MGVI_TRY(measure_rows(run, s));
    choose_rows(run, s);
    MGVI_TRY(bind_variant(run, s));
    mgvi_intercept_improve(p, 1e-6, &s->w, &s->z); /* where the shift starts */
    if (p->free_cols)
        s->m.intercept = s->w.x[s->w.n - 1];
    s->m.estimate = NAN;
    return MGV_OK;
}

/* v = -A'u; returns the residual of the intercept. */
static double image(mgvi_run *run, state *s, const mgvi_vec *u, double *v)
{
    double free_sum = 0;
    memset(v, 0, (size_t)s->map.d * sizeof *v);
    for (int64_t i = 0; i < u->n && !mgvi_ctx_cut_row(run->ctx, i); i++) {
        if (u->x[i] == 0)
            continue;
        const mgvi_entries row = row_of(s, i);
        mgvi_entries_axpy(&s->map, &row, -u->x[i], v);
        free_sum += mgvi_problem_free_entry(run->problem, i) * u->x[i];
        run->touched += (double)mgvi_rows_nnz(s->rows, i);
    }
    return free_sum;
}

/* v and the residual from u afresh: running sums drift by rounding. */
static void refresh(mgvi_run *run, state *s) { s->m.free_sum = image(run, s, &s->u, s->map.v); }

/* What the weights hold for the centre of rows that were taken without it. */
static double centre_share(const state *s, const double *w)
{
    double sum = 0;
    for (int64_t j = 0; j < s->map.d && !s->centred && s->rows->view.centre; j++)
        sum += w[j] * s->rows->view.centre[j] * mgvi_view_scale(&s->rows->view, j);
    return sum;
}

/* u decides; w has the intercept. u is in the units of the problem's own penalty, which for
 * constraints is not the map's. */
static mgv_status start(mgvi_run *run, const double *w, const double *u)
{
    state *s = run->state;
    if (!u || s->map.kind == MGVI_MIRROR_NORM)
        return MGV_OK;
    memcpy(s->u.x, u, (size_t)s->u.n * sizeof *u);
    mgvi_loss_dual_clip(run->ctx, run->problem->loss, &run->problem->row, &s->u);
    refresh(run, s);
    mgvi_mirror_map_refresh(&s->map);
    if (run->problem->free_cols)
        s->m.intercept = w[s->map.d] - centre_share(s, w);
    return MGV_OK;
}

/* The row in hand, and z and the curvature along its u at u + move. */
typedef struct line {
    const mgv_problem *problem;
    mgvi_entries row;
    mgvi_coef c;
    double entry;     /* of the intercept column */
    double lipschitz; /* with the intercept's share */
    double u, shift;  /* shift: what the intercept adds to z at u */
} line;

typedef struct line_point {
    double z, curvature;
    mgvi_mirror_point map;
} line_point;

/* v = -A'u: along the row it moves against u. */
static line_point look(state *s, const line *l, double move)
{
    line_point p = {.map = move == 0 ? mgvi_mirror_map_begin(&s->map, &l->row)
                                     : mgvi_mirror_map_probe(&s->map, &l->row, -move)};
    p.z = p.map.z + l->shift - s->kappa * move; /* a_i0^2 = 1 */
    p.curvature = p.map.curvature + s->kappa;
    return p;
}

/* The maximiser of D along u_i (2): the root of a decreasing function. Newton's step for the smooth
 * part with the loss's conjugate taken exactly points to the root's side; a bracket keeps it there.
 * A point from which the next step would be below a hundredth of the move is taken: near the
 * solution that is the first. On return *point belongs to the result, unless nothing moved. */
static double maximise(state *s, const line *l, line_point *point)
{
    enum { MOST = 50 };
    const double doubt = mgvi_mirror_map_floor(&s->map) * l->lipschitz;
    double low = -INFINITY, high = INFINITY, x = l->u;
    for (int k = 0; k < MOST; k++) {
        const double r = point->curvature > 1e-3 * doubt ? point->curvature : doubt;
        double next = l->problem->loss->dual_step(l->c, x, point->z, r);
        if (next == x)
            break;
        if (next > x)
            low = x;
        else
            high = x;
        if (!(next > low && next < high) && isfinite(low) && isfinite(high))
            next = 0.5 * (low + high);
        if (fabs(next - x) <= 1e-2 * fabs(x - l->u))
            break;
        x = next;
        *point = look(s, l, x - l->u);
    }
    return x;
}

/* One step of the proximal gradient with the bound of the curvature.                          (6)
 */
static double bounded_step(state *s, const line *l, line_point *point)
{
    const double next = l->problem->loss->dual_step(l->c, l->u, point->z, l->lipschitz);
    if (next != l->u)
        *point = look(s, l, next - l->u);
    return next;
}

static void observe(findings *f, const mgv_problem *p, mgvi_coef c, double u, double z)
{
    const double loss = p->loss->can & MGVI_HARD ? 0 : p->loss->value(c, z);
    f->loss += loss;
    f->fenchel += loss + p->loss->conj(c, u) - u * z;
    f->product += u * z;
    f->sum_u += u;
    f->least = fmin(f->least, z);
    if (p->loss->can & MGVI_HARD)
        f->worst = fmax(f->worst, fabs(z - p->loss->prox(c, z, 1)) / (1 + fabs(z)));
}

static void visit(mgvi_run *run, state *s, int32_t i, findings *f)
{
    const mgv_problem *p = run->problem;
    s->m.visits++;
    line l = {.problem = p,
              .row = row_of(s, i),
              .c = mgvi_coefs_at(&p->row, i, 0),
              .entry = p->free_cols ? mgvi_problem_free_entry(p, i) : 0,
              .lipschitz = s->lipschitz[i] + s->kappa,
              .u = s->u.x[i]};
    l.shift = l.entry * s->m.intercept;
    const double z = mgvi_mirror_map_dot(&s->map, &l.row) + l.shift;
    run->touched += (double)mgvi_rows_nnz(s->rows, i);
    observe(f, p, l.c, l.u, z);
    if (p->loss->dual_step(l.c, l.u, z, l.lipschitz) == l.u)
        return; /* at rest, whatever the curvature */
    line_point point = look(s, &l, 0);
    const double next = s->exact ? maximise(s, &l, &point) : bounded_step(s, &l, &point);
    const double move = next - l.u;
    if (!(fabs(move) > 1e-14 * fabs(l.u)) || isinf(move))
        return; /* rounding: whether such a row has moved must not depend on the data's units */
    mgvi_mirror_map_commit(&s->map, &l.row, &point.map);
    s->u.x[i] = next;
    if (s->late)
        s->late[i] += (double)(s->m.visits - 1) * move;
    s->m.intercept -= s->kappa * l.entry * move;
    s->m.free_sum += l.entry * move;
    f->move = fmax(f->move, l.lipschitz * fabs(move));
    s->passes.order[f->moved++] = i;
    run->touched += (double)mgvi_rows_nnz(s->rows, i);
}

/* The relative gap, as far as a full pass with moving w can tell. */
static double guess_gap(const mgv_problem *p, const state *s, const findings *f)
{
    if (mgvi_problem_has_margin(p)) { /* 1 - lower/upper */
        const double norm = mgvi_mirror_map_norm(&s->map);
        return norm > 0 ? 1 + f->least * f->sum_u / (norm * norm) : NAN;
    }
    if (p->loss->can & MGVI_HARD)
        return f->worst;
    return f->fenchel / (f->loss + fabs(f->product) / 2);
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    bool full;
    if (s->passes.all_count == 0) { /* no row can move: u is what it will be */
        s->m.estimate = 0;
        run->finished = true;
        return MGV_OK;
    }
    const int64_t count = mgvi_row_passes_next(run, &s->passes, &full);
    if (full && s->passes.m.full % REFRESH == 0)
        refresh(run, s);
    mgvi_mirror_map_refresh(&s->map);
    findings f = {.least = INFINITY};
    for (int64_t t = 0; t < count && !mgvi_ctx_cut_row(run->ctx, t); t++)
        visit(run, s, s->passes.order[t], &f);
    s->m.intercept -= s->kappa * s->m.free_sum;
    if (full && s->passes.m.brief == 0)
        s->m.estimate = guess_gap(run->problem, s, &f);
    mgvi_row_passes_done(&s->passes, f.moved, f.move);
    return MGV_OK;
}

/* The weights, and u in the units of the problem's own penalty. Where rows were taken without their
 * centre the intercept holds what the centre would have taken off. */
/* Iterates u(1), ..., u(T) after each of T visits: a move d of visit t is in T - t + 1 of them, so
 * that their mean is u(T) - sum (t - 1) d/T.                                                   (7) */
static mgvi_iterate expose_mean(mgvi_run *run, state *s)
{
    for (int64_t i = 0; i < s->u.n; i++)
        s->shown.x[i] = s->u.x[i] - (s->m.visits > 0 ? s->late[i] / (double)s->m.visits : 0);
    image(run, s, &s->shown, s->mean.v);
    mgvi_mirror_map_refresh(&s->mean);
    mgvi_mirror_map_weights(&s->mean, s->w.x);
    mgvi_vec_scale(run->ctx, mgvi_mirror_map_dual_factor(&s->mean), &s->shown);
    return (mgvi_iterate){.w = &s->w, .u = &s->shown};
}

static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    if (s->late)
        return expose_mean(run, s);
    mgvi_mirror_map_weights(&s->map, s->w.x);
    if (p->free_cols)
        s->w.x[s->w.n - 1] = s->m.intercept + centre_share(s, s->w.x);
    mgvi_intercept_improve(p, 0.01 * run->settings->tol, &s->w, &s->z);
    mgvi_vec_copy(run->ctx, &s->u, &s->shown);
    mgvi_vec_scale(run->ctx, mgvi_mirror_map_dual_factor(&s->map), &s->shown);
    return (mgvi_iterate){.w = &s->w, .u = &s->shown};
}

/* Only a full pass knows, and of the last iterate only. */
static double estimate(const mgvi_run *run)
{
    const state *s = run->state;
    return s->passes.m.brief == 0 && !s->late ? s->m.estimate : NAN;
}

/* (5) of the paper, as the page has it: rows drawn uniformly, steps with bounds. */
static int theorems(const mgvi_run *run, const mgvi_optimum *known, mgv_bound *out)
{
    const state *s = run->state;
    const mgv_settings *set = run->settings;
    const double n = (double)s->u.n, low = known->certificate->margin;
    double most = 0;
    const bool whole = !set->exact_steps && !set->shrink && set->row_order == MGVI_ROW_ORDER_DRAW &&
                       !run->problem->free_cols && mgvi_problem_has_margin(run->problem);
    if (!whole || !(low > 0))
        return 0;
    for (int64_t i = 0; i < s->u.n; i++)
        most = fmax(most, s->lipschitz[i]);
    const mgvi_start_distance at = mgvi_margin_start(low, most);
    *out = (mgv_bound){
        .item = "Raj, Bach: (5), as Lu and Xiao prove it",
        .quantity = "D* - D of the dual iterate, expected",
        .low = NAN,
        .high = mgvi_gap_after(n, (double)(mgvi_run_draws(run, s->u.n) * run->iteration), &at),
        .found = NAN};
    return 1;
}

static mgv_status restored(mgvi_run *run)
{
    state *s = run->state;
    mgvi_mirror_map_refresh(&s->map);
    return mgvi_row_passes_check(run, &s->passes);
}

const mgvi_solver_ops mgvi_solver_mirror_coordinate = {
    .name = "mirror_coordinate",
    .summary = "dual coordinate ascent in every norm: penalties lp, l2 and entropy",
    .needs = {.penalty = MGVI_MIRROR | MGVI_CONJ,
              .loss = MGVI_VALUE | MGVI_CONJ | MGVI_PROX,
              .op = MGVI_ROW},
    .no = {.penalty = MGVI_KINK},
    .settings = "shrink exact_steps row_order row_bound iterate draws",
    .uniform = true,
    .state_size = sizeof(state),
    .init = init,
    .start = start,
    .step = step,
    .expose = expose,
    .estimate = estimate,
    .restored = restored,
    .theorems = theorems,
};
