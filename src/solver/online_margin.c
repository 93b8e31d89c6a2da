/* online_margin.c - two methods that look at one row at a time;
 * docs/algorithms/margin_baselines.md. Rows are divided by R. With f = a_i.w both do b_i <- b_i +
 * delta,   w <- w + delta a_i,   so that w = A'b and b >= 0 is a dual point      (1) perceptron:
 * delta = 1 where f <= 0, in a fresh random order every pass                     (2) mirror_sgd:
 * delta = max(0, 1 - f), rows drawn at random                                    (3) One iteration
 * is one pass: n rows. */
#include "solver/parts/margin_rows.h"

#include <math.h>
#include <string.h>

typedef struct state {
    mgvi_margin_rows rows;
    double *acc;      /* w in the row kernels' form */
    mgvi_vec w, z, b; /* z is work space */
    int32_t *order;
    int64_t resting; /* perceptron: 1 after a pass without a mistake */
} state;

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    MGVI_TRY(mgvi_margin_rows_new(run, &s->rows));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->w));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->z));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &s->b));
    const int64_t acc_len = mgvi_rows_acc_len(s->rows.rows);
    s->acc = mgvi_run_array(run, (size_t)acc_len, sizeof *s->acc);
    s->order = mgvi_run_array(run, (size_t)s->b.n, sizeof *s->order);
    if (!s->acc || !s->order)
        return MGV_E_MEMORY;
    MGVI_TRY(mgvi_run_keep(run, "acc", MGVI_T_F64, s->acc, acc_len));
    MGVI_TRY(mgvi_run_keep(run, "b", MGVI_T_F64, s->b.x, s->b.n));
    return mgvi_run_keep(run, "resting", MGVI_T_U8, &s->resting, sizeof s->resting);
}

/* a_i.w */
static double margin_of(mgvi_run *run, const state *s, int64_t i)
{
    run->touched += (double)mgvi_rows_nnz(s->rows.rows, i);
    return mgvi_rows_dot(s->rows.rows, i, s->acc) / s->rows.radius;
}

/* (1) */
static void add_row(state *s, int64_t i, double delta)
{
    mgvi_margin_rows_add(&s->rows, i, delta, s->acc);
    s->b.x[i] += delta;
}

/* (2). A pass without a mistake is the last that could change anything. */
static mgv_status perceptron_step(mgvi_run *run)
{
    state *s = run->state;
    const int64_t n = s->rows.live_count;
    if (s->resting) { /* the checkpoint of a finished run */
        run->finished = true;
        return MGV_OK;
    }
    s->resting = 1;
    memcpy(s->order, s->rows.live, (size_t)n * sizeof *s->order);
    mgvi_rng_shuffle(&run->rng, s->order, n);
    for (int64_t k = 0; k < n; k++) {
        if (margin_of(run, s, s->order[k]) > 0)
            continue;
        add_row(s, s->order[k], 1);
        s->resting = 0;
    }
    run->finished = s->resting;
    return MGV_OK;
}

/* (3) */
static mgv_status mirror_step(mgvi_run *run)
{
    state *s = run->state;
    for (int64_t k = 0; k < s->rows.live_count; k++) {
        const int64_t i = s->rows.live[mgvi_rng_below(&run->rng, (uint32_t)s->rows.live_count)];
        const double f = margin_of(run, s, i);
        if (f < 1)
            add_row(s, i, 1 - f);
    }
    return MGV_OK;
}

/* The least margin costs a product: only a full pass with standing w knows it. */
static mgvi_iterate expose(mgvi_run *run)
{
    state *s = run->state;
    double least;
    mgvi_rows_weights(s->rows.rows, s->acc, s->w.x);
    mgvi_margin_rows_mul(&s->rows, &s->w, &s->z);
    mgvi_vec_min(run->ctx, &s->z, &least);
    const mgvi_margin_pair at = {.w = &s->w, .least = least, .b = &s->b, .v = &s->w};
    return mgvi_margin_rows_show(&s->rows, &at);
}

#define ONLINE_SOLVER(id, text, step_fn)                                                           \
    const mgvi_solver_ops mgvi_solver_##id = {                                                     \
        .name = #id,                                                                               \
        .summary = text,                                                                           \
        .needs = {.op = MGVI_MUL | MGVI_ROW},                                                      \
        .losses = "margin",                                                                        \
        .penalties = "l2",                                                                         \
        .no_intercept = true,                                                                      \
        .state_size = sizeof(state),                                                               \
        .init = init,                                                                              \
        .step = step_fn,                                                                           \
        .expose = expose,                                                                          \
    };

ONLINE_SOLVER(perceptron, "a baseline: adds rows on the wrong side, until none is left",
              perceptron_step)
ONLINE_SOLVER(mirror_sgd, "a baseline: stochastic mirror descent on the distances to y x.w >= 1",
              mirror_step)
