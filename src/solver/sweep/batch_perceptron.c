/* batch_perceptron.c - the row with the least margin, again and again;
 * docs/algorithms/margin_baselines.md. Rows are divided by R; at t = 1, 2, ...
 *   i = argmin_i a_i.w  (the first of equals)
 *   counting:   w <- w + a_i,              b_i <- b_i + 1                                     (4)
 *   projected:  w <- w + a_i / sqrt(t),    b_i <- b_i + 1 / sqrt(t),
 *               then both are divided by max(1, |w|)                                          (5)
 * so that w = A'b in either form. With intercepts the rows along the cycle of classes with the
 * least mean (sweep/margin_rows.h) take the place of a_i, each with its share. */
#include "solver/sweep/margin_rows.h"

#include <math.h>

typedef struct state {
    mgvi_margin_rows rows;
    double *acc;      /* w in the row kernels' form */
    mgvi_vec w, z, b; /* z = A w */
    int32_t *worst;   /* the rows to add */
    bool projected;
    double least; /* min z */
} state;

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    const mgvi_margin_pair pair = {.w = &s->w, .least = &s->least, .b = &s->b, .v = &s->w};
    MGVI_TRY(mgvi_margin_rows_new(run, pair, &s->rows));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->w));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_ROWS, &s->z, &s->b));
    const int64_t acc_len = mgvi_rows_acc_len(s->rows.rows);
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->acc, acc_len));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->worst, (size_t)run->problem->outputs + 1));
    s->projected = run->settings->perceptron_form == MGVI_PERCEPTRON_PROJECTED;
    mgvi_margin_rows_start(&s->rows, &s->z);
    MGVI_TRY(mgvi_run_keep(run, "acc", MGVI_T_F64, s->acc, acc_len));
    MGVI_TRY(MGVI_RUN_KEEP_VECS(run, {"w", &s->w}, {"z", &s->z}, {"b", &s->b}));
    return mgvi_run_keep(run, "least", MGVI_T_F64, &s->least, 1);
}

/* The second half of (5). */
static void project(mgvi_run *run, state *s)
{
    mgvi_vec acc = mgvi_vec_wrap(s->acc, mgvi_rows_acc_len(s->rows.rows), MGVI_COLS);
    const double norm = mgvi_op_length(run->problem->A, &s->w);
    if (norm <= 1)
        return;
    mgvi_vec_scale(run->ctx, 1 / norm, &acc);
    mgvi_vec_scale(run->ctx, 1 / norm, &s->w);
    mgvi_vec_scale(run->ctx, 1 / norm, &s->b);
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    int32_t count;
    mgvi_margin_rows_worst(&s->rows, &s->z, s->worst, &count);
    const double all = s->projected ? 1 / sqrt((double)run->iteration + 1) : 1;
    const double delta = all / count;
    for (int32_t t = 0; t < count; t++) { /* (4) */
        mgvi_margin_rows_add(&s->rows, s->worst[t], delta, s->acc);
        mgvi_vec_set(&s->b, s->worst[t], mgvi_vec_at(&s->b, s->worst[t]) + delta);
    }
    mgvi_margin_rows_weights(&s->rows, s->acc, &s->w);
    if (s->projected)
        project(run, s);
    mgvi_margin_rows_mul(&s->rows, &s->w, &s->z);
    s->least = mgvi_margin_rows_worst(&s->rows, &s->z, s->worst, &count);
    return MGV_OK;
}

const mgvi_solver_ops mgvi_solver_batch_perceptron = {
    .name = "batch_perceptron",
    .summary = "a baseline: adds the row with the least margin, error 1/t at best",
    .needs = {.penalty = MGVI_SQUARE, .loss = MGVI_HARD | MGVI_MARGIN, .op = MGVI_MUL | MGVI_ROW},
    .no = {.penalty = MGVI_ABS},
    .kernels = true,
    .contrasts = true,
    .settings = "perceptron_form",
    .anywhere = true,
    .state_size = sizeof(state),
    .init = init,
    .step = step,
    .expose = mgvi_margin_rows_expose,
    .estimate = mgvi_margin_rows_estimate,
};
