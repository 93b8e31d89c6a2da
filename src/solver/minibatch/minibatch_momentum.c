/* minibatch_momentum.c - epochs of momentum on random batches, each a model that held-out rows may
 * choose; minibatch/minibatch.c, docs/algorithms/probing.md. One iteration is one epoch. */
#include "solver/minibatch/minibatch.h"

typedef struct state {
    mgvi_minibatch *epochs;
    mgvi_vec shown;
} state;

static mgv_status init(mgvi_run *run)
{
    state *s = run->state;
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &s->shown));
    MGVI_TRY(mgvi_run_keep(run, "shown", MGVI_T_F64, s->shown.x, s->shown.n * s->shown.k));
    return mgvi_minibatch_new(run, &s->epochs);
}

static mgv_status step(mgvi_run *run)
{
    state *s = run->state;
    return mgvi_minibatch_epoch(run, s->epochs, &s->shown);
}

static mgv_status restored(mgvi_run *run)
{
    const state *s = run->state;
    return mgvi_minibatch_restored(run, s->epochs);
}

static mgvi_iterate expose(mgvi_run *run)
{
    const state *s = run->state;
    return (mgvi_iterate){.w = &s->shown};
}

const mgvi_solver_ops mgvi_solver_minibatch_momentum = {
    .name = "minibatch_momentum",
    .summary = "momentum on random batches, epochs averaged: many classes chosen by validation",
    .needs = {.penalty = MGVI_SQUARE,
              .loss = MGVI_JOINT | MGVI_GRAD,
              .op = MGVI_MUL | MGVI_MUL_T | MGVI_ROW},
    .no = {.penalty = MGVI_ABS},
    .uniform = true,
    .primal_only = true,
    .state_size = sizeof(state),
    .init = init,
    .step = step,
    .expose = expose,
    .restored = restored,
};
