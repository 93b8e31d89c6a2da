/* online_margin.c - two methods that look at one row at a time, in every norm;
 * docs/algorithms/margin_baselines.md. With v = A'b, w = grad R*(v) and f = a_i.w both do
 *   b_i <- b_i + delta,   v <- v + delta a_i                                                (1)
 *   perceptron:  delta = 1 where f <= 0, in a fresh random order every pass                 (2)
 *   mirror_sgd:  delta = gamma (nearest allowed f - f), rows drawn at random                (3)
 *   perceptron with mistake=hinge: delta = gamma_t where f < 1, rows drawn at random        (10)
 * One iteration is one pass: n rows. */
#include "solver/shared/mirror_map.h"

#include "base/limit.h"
#include "certify/guarantees.h"
#include "solver/solver_impl.h"

#include <math.h>
#include <string.h>

enum { REFRESH = 25 }; /* passes between two recomputations of v from b */

typedef struct state {
    mgvi_rows *rows;
    mgvi_mirror_map map;
    double *row; /* work space: one row's entries */
    double most; /* max L_i */
    double gain; /* gamma; perceptron with mistake=hinge and without sgd_step: gamma_1 */
    int32_t *live, *order;
    int64_t live_count;
    mgvi_vec w, z, b, u; /* z is work space; w and u are what is shown */
    double *total;       /* iterate=average, else NULL: the sum of w before each draw, */
    struct {
        int64_t resting; /* perceptron: 1 after a pass without a mistake */
        int64_t drawn;   /* rows so far */
        int64_t same;    /* of them since w moved, not yet in `total` */
    } m;
} state;

static mgv_status allocate(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    const size_t n = (size_t)p->A->rows;
    MGVI_TRY(mgvi_run_check_rows(run));
    MGVI_TRY(mgvi_rows_new(p->A, &run->arena, &s->rows));
    MGVI_TRY(mgvi_mirror_map_new(p, &run->arena, &s->map));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->w));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_ROWS, &s->z, &s->b, &s->u));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->row, s->map.d));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->live, n));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->order, n));
    MGVI_TRY(mgvi_run_keep(run, "v", MGVI_T_F64, s->map.v, s->map.d));
    MGVI_TRY(mgvi_run_keep(run, "b", MGVI_T_F64, s->b.x, s->b.n));
    if (run->settings->iterate == MGVI_ITERATE_AVERAGE) {
        MGVI_TRY(MGVI_RUN_ARRAY(run, s->total, s->map.d));
        MGVI_TRY(mgvi_run_keep(run, "total", MGVI_T_F64, s->total, s->map.d));
    }
    return mgvi_run_keep(run, "memory", MGVI_T_U8, &s->m, sizeof s->m);
}

extern const mgvi_solver_ops mgvi_solver_perceptron;

static bool by_hinge(const mgvi_run *run)
{
    return run->ops == &mgvi_solver_perceptron && run->settings->mistake == MGVI_MISTAKE_HINGE;
}

/* (3): 1/max L_i; (10): sqrt(p - 1)/max |a_i|_q, of L_i = (q - 1) |a_i|_q^2 and p - 1 = 1/(q - 1). */
static double first_gain(const mgvi_run *run, double most)
{
    if (!(most > 0))
        return 1;
    return by_hinge(run) ? 1 / sqrt(most) : 1 / most;
}

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    if (run->ops == &mgvi_solver_perceptron && !by_hinge(run) && !isnan(run->settings->sgd_step))
        return MGVI_FAIL(run->ctx, MGV_E_ARG,
                         "the perceptron adds whole rows and has no sgd_step (got %g); leave it "
                         "out, or say mistake=hinge",
                         run->settings->sgd_step);
    if (run->ops == &mgvi_solver_perceptron && !by_hinge(run) && run->settings->draws > 0)
        return MGVI_FAIL(run->ctx, MGV_E_ARG,
                         "the perceptron goes over all rows in turn (got draws=%" PRId64
                         "); leave it out, or say mistake=hinge",
                         run->settings->draws);
    MGVI_TRY(allocate(run, s));
    double most = 0;
    for (int64_t i = 0; i < s->b.n && !mgvi_ctx_cut_row(run->ctx, i); i++) {
        if (mgvi_coef_pick(&run->problem->row.scale, i, 0) == 0)
            continue; /* a row without weight is no constraint */
        const mgvi_entries row = mgvi_rows_entries(s->rows, i, true, s->row);
        const double L = mgvi_mirror_map_lipschitz(&s->map, &row);
        if (!isfinite(L))
            return MGVI_FAIL(run->ctx, MGV_E_INPUT,
                             "row %" PRId64
                             " is too large: |x|^2 overflows; divide the data by a power of ten",
                             i + 1);
        most = fmax(most, L);
        s->live[s->live_count++] = (int32_t)i;
    }
    s->most = most;
    s->gain = !isnan(run->settings->sgd_step) ? run->settings->sgd_step : first_gain(run, most);
    mgvi_mirror_map_start(&s->map, sqrt(most));
    return MGV_OK;
}

/* The draws since w moved join the sum. */
static void add_up(state *s)
{
    mgvi_mirror_map_weights(&s->map, s->w.x);
    for (int64_t j = 0; j < s->map.d && s->m.same > 0; j++)
        s->total[j] += (double)s->m.same * s->w.x[j];
    s->m.same = 0;
}

/* (1) */
static void add_row(mgvi_run *run, state *s, int64_t i, const mgvi_entries *row, double delta)
{
    if (s->total)
        add_up(s);
    mgvi_mirror_map_begin(&s->map, row);
    const mgvi_mirror_point point = mgvi_mirror_map_probe(&s->map, row, delta);
    mgvi_mirror_map_commit(&s->map, row, &point);
    s->b.x[i] += delta;
    run->touched += (double)mgvi_rows_nnz(s->rows, i);
}

/* f */
static double look_at(mgvi_run *run, state *s, int64_t i, mgvi_entries *row)
{
    s->m.drawn++;
    s->m.same++;
    *row = mgvi_rows_entries(s->rows, i, true, s->row);
    run->touched += (double)mgvi_rows_nnz(s->rows, i);
    return mgvi_mirror_map_dot(&s->map, row);
}

/* v from b now and then, its map every pass: running sums drift. */
static void refresh(mgvi_run *run, state *s)
{
    const int64_t period = REFRESH * mgvi_run_pass(run, s->live_count);
    if (run->iteration % period == period - 1) {
        memset(s->map.v, 0, (size_t)s->map.d * sizeof *s->map.v);
        for (int64_t i = 0; i < s->b.n && !mgvi_ctx_cut_row(run->ctx, i); i++) {
            if (s->b.x[i] == 0)
                continue;
            const mgvi_entries row = mgvi_rows_entries(s->rows, i, true, s->row);
            mgvi_entries_axpy(&s->map, &row, s->b.x[i], s->map.v);
            run->touched += (double)mgvi_rows_nnz(s->rows, i);
        }
    }
    mgvi_mirror_map_refresh(&s->map);
}

/* (10). gamma_t falls like 1/sqrt(t), t = 1, 2, ..., unless it is given. */
static mgv_status hinge_step(mgvi_run *run)
{
    state *s = run->state;
    mgvi_entries row;
    const int64_t draws = mgvi_run_draws(run, s->live_count);
    refresh(run, s);
    for (int64_t k = 0; k < draws && !mgvi_ctx_cut_row(run->ctx, k); k++) {
        const int64_t i = s->live[mgvi_rng_below(&run->rng, (uint32_t)s->live_count)];
        const double f = look_at(run, s, i, &row);
        const double fall = isnan(run->settings->sgd_step) ? sqrt((double)s->m.drawn) : 1;
        if (f < 1)
            add_row(run, s, i, &row, s->gain / fall);
    }
    return MGV_OK;
}

/* (2). A pass without a mistake is the last that could change anything. */
static mgv_status perceptron_step(mgvi_run *run)
{
    state *s = run->state;
    mgvi_entries row;
    if (by_hinge(run))
        return hinge_step(run);
    if (s->m.resting) { /* the checkpoint of a finished run */
        run->finished = true;
        return MGV_OK;
    }
    refresh(run, s);
    s->m.resting = 1;
    memcpy(s->order, s->live, (size_t)s->live_count * sizeof *s->order);
    mgvi_rng_shuffle(&run->rng, s->order, s->live_count);
    for (int64_t k = 0; k < s->live_count && !mgvi_ctx_cut_row(run->ctx, k); k++) {
        if (look_at(run, s, s->order[k], &row) > 0)
            continue;
        add_row(run, s, s->order[k], &row, 1);
        s->m.resting = 0;
    }
    run->finished = s->m.resting;
    return MGV_OK;
}

/* (3) */
static mgv_status mirror_step(mgvi_run *run)
{
    state *s = run->state;
    const mgv_problem *p = run->problem;
    mgvi_entries row;
    const int64_t draws = mgvi_run_draws(run, s->live_count);
    refresh(run, s);
    for (int64_t k = 0; k < draws && !mgvi_ctx_cut_row(run->ctx, k); k++) {
        const int64_t i = s->live[mgvi_rng_below(&run->rng, (uint32_t)s->live_count)];
        const double f = look_at(run, s, i, &row);
        const double nearest = p->loss->prox(mgvi_coefs_at(&p->row, i, 0), f, 1);
        if (nearest != f)
            add_row(run, s, i, &row, s->gain * (nearest - f));
    }
    return MGV_OK;
}

/* Hard margin: a separating w is divided by its least margin, so that it meets the constraints. */
static void make_feasible(mgvi_run *run, state *s)
{
    const mgv_problem *p = run->problem;
    mgvi_op_mul(p->A, 1, &s->w, 0, &s->z);
    const double least = mgvi_problem_least_margin(p, s->z.x);
    if (least > 0 && isfinite(1 / least))
        mgvi_vec_scale(run->ctx, 1 / least, &s->w);
}

/* The mean of w before each draw; u is of the last one. */
static void show_mean(state *s)
{
    mgvi_mirror_map_weights(&s->map, s->w.x);
    for (int64_t j = 0; j < s->map.d && s->m.drawn > 0; j++)
        s->w.x[j] = (s->total[j] + (double)s->m.same * s->w.x[j]) / (double)s->m.drawn;
}

static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    if (s->total)
        show_mean(s);
    else
        mgvi_mirror_map_weights(&s->map, s->w.x);
    if (mgvi_problem_has_margin(run->problem))
        make_feasible(run, s);
    mgvi_vec_axpby(run->ctx, -mgvi_mirror_map_dual_factor(&s->map), &s->b, 0, &s->u);
    return (mgvi_iterate){.w = &s->w, .u = &s->u};
}

static mgv_status restored(mgvi_run *run)
{
    state *s = run->state;
    mgvi_mirror_map_refresh(&s->map);
    return MGV_OK;
}

/* The perceptron's mistakes; theorem 1's share of rows that the mean of (3) gets wrong. */
static int theorems(const mgvi_run *run, const mgvi_optimum *known, mgv_bound *out)
{
    const state *s = run->state;
    const double low = known->certificate->margin;
    const bool counts = run->ops == &mgvi_solver_perceptron;
    double mistakes;
    if (!(low > 0) || by_hinge(run) || !isnan(run->settings->sgd_step) || (!counts && !s->total) ||
        !mgvi_problem_has_margin(run->problem))
        return 0;
    mgvi_vec_sum(run->ctx, &s->b, &mistakes);
    *out = counts ? (mgv_bound){.item = "Novikoff, in the p-norm; Raj, Bach: appendix B",
                                .quantity = "mistakes of the run",
                                .low = NAN,
                                .high = mgvi_most_mistakes(low, s->most),
                                .found = mistakes}
                  : (mgv_bound){.item = "Raj, Bach: theorem 1, with the proof's factor",
                                .quantity = "share of rows that the mean gets wrong, expected",
                                .low = NAN,
                                .high = mgvi_share_of_mistakes(1 / low, sqrt(s->most), 1,
                                                               (double)s->m.drawn),
                                .found = NAN};
    return 1;
}

#define ONLINE_SOLVER(id, text, own, step_fn, loss_of, penalty_of)                                 \
    const mgvi_solver_ops mgvi_solver_##id = {                                                     \
        .name = #id,                                                                               \
        .summary = text,                                                                           \
        .needs = {.penalty = (penalty_of), .loss = (loss_of), .op = MGVI_MUL | MGVI_ROW},          \
        .no = {.penalty = MGVI_KINK},                                                              \
        .no_intercept = true,                                                                      \
        .settings = own,                                                                           \
        .state_size = sizeof(state),                                                               \
        .init = init,                                                                              \
        .step = step_fn,                                                                           \
        .expose = expose,                                                                          \
        .restored = restored,                                                                      \
        .theorems = theorems,                                                                      \
    };

ONLINE_SOLVER(perceptron, "a baseline: adds rows on the wrong side, until none is left; any p",
              "mistake sgd_step iterate draws", perceptron_step, MGVI_HARD | MGVI_MARGIN,
              MGVI_LENGTH | MGVI_MIRROR)
ONLINE_SOLVER(mirror_sgd,
              "a baseline: stochastic mirror descent on the distances to the constraints; any p",
              "sgd_step iterate draws", mirror_step, MGVI_HARD, MGVI_MIRROR)
