/* tall_state.c - the state of solver newton. */
#include "solver/newton/tall_state.h"

#include <math.h>

static const double STEEP_DENSE = 4, STEEP_SPARSE = 16; /* leverage / mean: majorised curvature */
static const double L1_WIDTH = 0.1; /* |w_j| is smoothed at this part of alpha, in its unit */

typedef mgvi_tall_state state;

mgv_status mgvi_tall_state_allocate(mgvi_run *run, state *s)
{
    const size_t n = (size_t)run->problem->A->rows, d = (size_t)run->problem->A->cols;
    s->s = &run->problem->row.scale;
    if (!(s->stage = mgvi_arena_within(&run->arena)))
        return MGV_E_MEMORY;
    MGVI_TRY(MGVI_VECTORS(&run->arena, d, &s->w, &s->lambda, &s->mu, &s->energy, &s->width,
                          &s->unit, &s->lin, &s->w_before));
    MGVI_TRY(MGVI_VECTORS(&run->arena, n, &s->u, &s->a));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->leverage, n));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->steep, n));
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->place, n));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &s->w_out, &s->pull));
    mgvi_problem_coefficients(run->problem, NULL, s->lambda, s->mu);
    return MGV_OK;
}

mgv_status mgvi_tall_state_keep(mgvi_run *run, state *s)
{
    const int64_t n = run->problem->A->rows, d = run->problem->A->cols;
    MGVI_TRY(mgvi_run_keep(run, "memory", MGVI_T_U8, &s->m, sizeof s->m));
    MGVI_TRY(mgvi_run_keep(run, "w", MGVI_T_F64, s->w, d));
    MGVI_TRY(mgvi_run_keep(run, "dual", MGVI_T_F64, s->a, n));
    MGVI_TRY(mgvi_run_keep(run, "slack", MGVI_T_F64, s->u, n));
    MGVI_TRY(mgvi_run_keep(run, "w_before", MGVI_T_F64, s->w_before, d));
    MGVI_TRY(mgvi_run_keep(run, "place", MGVI_T_U8, s->place, n));
    return mgvi_run_keep(run, "w_out", MGVI_T_F64, s->w_out.x, d);
}

/* The squares of a column, weighted and summed in float32, stay below its largest number. */
static const double LARGEST_SQUARES = 1e36;

mgv_status mgvi_tall_state_measure(mgvi_run *run, state *s)
{
    const int64_t n = run->problem->A->rows, d = run->problem->A->cols;
    mgvi_row_set_leverage(&s->all, s->energy, s->leverage);
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += s->leverage[i];
    const double mean = sum > 0 ? sum / (double)n : 1;
    s->m.mean_leverage = mean;
    const double steep = (s->all.sparse ? STEEP_SPARSE : STEEP_DENSE) * mean;
    for (int64_t i = 0; i < n; i++)
        s->steep[i] = s->leverage[i] > steep;
    for (int64_t j = 0; j < d; j++) {
        if (!(s->energy[j] * (double)n < LARGEST_SQUARES))
            return MGVI_FAIL(
                run->ctx, MGV_E_UNSUPPORTED,
                "solver newton adds up squares in float32, and those of column %" PRId64
                " are too large for it; divide the column by its size (--scale std)",
                j + 1);
        s->unit[j] = s->energy[j] > 0 ? 1 / sqrt(s->energy[j]) : 1;
        s->width[j] = L1_WIDTH * s->unit[j];
    }
    return MGV_OK;
}
