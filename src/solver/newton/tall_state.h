/* newton/tall_state.h - what solver newton remembers, and what of it the data decides;
 * docs/algorithms/newton.md. */
#ifndef MGVI_SOLVER_TALL_STATE_H
#define MGVI_SOLVER_TALL_STATE_H

#include "solver/newton/tall_finish.h"

typedef struct mgvi_tall_memory {
    int32_t phase;   /* newton.c's */
    int32_t stage;   /* which sample; the last is all rows */
    int32_t steps;   /* Newton steps in the stage */
    int32_t rounds;  /* of the finish */
    int64_t present; /* rows in the sample, or near */
    double alpha, alpha_last, mean_leverage;
    double gap; /* of the reduced problem */
    double target;
    double tau; /* of the pair that the finish goes on from */
    /* 0 or 1; a damaged file may say anything: */
    int32_t warm;     /* the path begins at a neighbour's solution */
    int32_t pair;     /* so does the finish, from a pair (w, a) near the solution */
    int32_t lost;     /* the smoothing led nowhere: all rows, and the interior point starts cold */
    int32_t thin;     /* few rows are near the hinge: the interior point starts cold on those */
    int32_t solved;   /* w_out and u_out are a solution of a reduced problem */
    int32_t near;     /* the path is followed on the rows near the hinge, the others fixed */
    int32_t shown;    /* the point on the path is for the judge */
    int32_t not_near; /* that went wrong: all rows from now on */
} mgvi_tall_memory;

typedef struct mgvi_tall_state {
    mgvi_rows *rows;
    mgvi_row_set all, sample;
    mgvi_tall_smooth smooth; /* points at `all` or `sample` */
    mgvi_tall_finish finish;
    const mgvi_coef_array *s; /* per row: the loss's weight */
    float *leverage;          /* per row */
    double *u;                /* per row, or of a sample its first */
    double *a;                /* per row: the dual point that the finish goes on from */
    uint8_t *steep, *place;
    /* of the sample, or of the rows near the hinge; gone with the next */
    mgvi_arena *stage;
    int32_t *list;  /* which rows */
    double *v;      /* weight over probability; NULL: that of all rows */
    double *near_u; /* near: theirs */
    uint8_t *steep_sample;
    double *w, *lambda, *mu, *energy, *width, *unit; /* per column */
    double *lin;                                     /* near: what the fixed rows pull */
    double *w_before;                                /* where the path would have ended */
    double offset[3];                                /* of the systematic samples */
    mgvi_vec w_out, pull;
    double spare;    /* bytes that copies of rows may take */
    bool shown_once; /* the vector lent for u has a dual point in it */
    mgvi_tall_memory m;
} mgvi_tall_state;

/* The arrays, and the coefficients of loss and penalty in them. */
mgv_status mgvi_tall_state_allocate(mgvi_run *run, mgvi_tall_state *state);
/* What a checkpoint holds. */
mgv_status mgvi_tall_state_keep(mgvi_run *run, mgvi_tall_state *state);
/* Leverage, what stands out, and the units of the columns: functions of the data. */
mgv_status mgvi_tall_state_measure(mgvi_run *run, mgvi_tall_state *state);

/* Rows of stage `stage` of n rows; n for the last. */
int64_t mgvi_tall_stage_rows(int64_t n, int stage);
/* The rows of the present stage of the path, in state->smooth: a sample weighted by leverage, all,
 * or those near the hinge; u is left to the caller. */
mgv_status mgvi_tall_stage_bind(mgvi_run *run, mgvi_tall_state *state);
/* u of the rows near the hinge from that of all, and back. */
void mgvi_tall_stage_collect(mgvi_tall_state *state);
void mgvi_tall_stage_spread(mgvi_tall_state *state);
#endif
