/* margin/active_set.h - dual active set on a working set of rows; docs/algorithms/exact_margin.md.
 *
 *   min over b of  1/2 b'Kb - h'b   subject to  b >= 0  (and y'b = 0 with an intercept)        (1)
 *
 * K is the Gram matrix of the working set W, with rho y y' added when there is an intercept: on
 * y'b = 0 that changes nothing, and it makes "dependent" mean A'd = 0 and y'd = 0 at once. P holds
 * the rows with b > 0, and the factor of K_PP survives from round to round. One row enters or
 * leaves P at a time; with many rows in P all violated rows enter at once, then all that s < 0
 * leave at once, for as long as that reduces the number of violated rows. */
#ifndef MGVI_SOLVER_ACTIVE_SET_H
#define MGVI_SOLVER_ACTIVE_SET_H

#include "solver/margin/factor.h"

typedef enum mgvi_active_end {
    MGVI_ACTIVE_OPTIMAL,
    MGVI_ACTIVE_RAY,  /* `ray` >= 0 with (nearly) A'ray = 0: perhaps a proof of inseparability */
    MGVI_ACTIVE_STUCK /* a limit was reached, or numbers beyond repair */
} mgvi_active_end;

typedef struct mgvi_active_set {
    mgv_ctx *ctx;
    const mgvi_simd *simd;
    int64_t capacity, size; /* of W; |W| */
    int64_t columns;
    double *K;           /* capacity x capacity, the leading size x size is filled */
    double *y;           /* intercept entries of W; NULL: no intercept */
    double *demand;      /* h, per row of W: what f must reach; 1 unless changed */
    double *b, *f, *ray; /* per row of W: solution, margins K b + b0 y, ray */
    double b0;           /* the intercept */
    int32_t *P;          /* positions in W, as many as the factor has rows */
    bool *inside;        /* per row of W: in P */
    mgvi_factor factor;  /* of K_PP; carries U^-T h_P and U^-T y_P */
    double *s, *c;       /* work, per row of P */
    double *chunk;       /* work of rows that enter together */
    int64_t solves;
    double work;    /* multiplications so far */
    int64_t fewest; /* violated rows after a block of pivots */
    int failures;   /* blocks that did not reduce them; at LAST_BLOCK single pivots only */
} mgvi_active_set;

/* Room for `capacity` rows of `columns` numbers from the arena; `intercept` asks for y (and is one
 * of the columns). */
mgv_status mgvi_active_set_init(mgvi_active_set *a, mgvi_arena *arena, int64_t capacity,
                                int64_t columns, bool intercept);
/* More room, everything kept. */
mgv_status mgvi_active_set_grow(mgvi_active_set *a, mgvi_arena *arena, int64_t capacity);
/* The demands of rows in P have changed. */
void mgvi_active_set_demand(mgvi_active_set *a);
/* Row `j` of W enters P with b_j as it is, if it is independent of P: K_jj - |U^-T K_Pj|^2 is above
 * 1e-10 K_jj, and P is not full. */
bool mgvi_active_set_append(mgvi_active_set *a, int64_t j);
/* Solves (1) on the present W from the present P and b; stuck beyond either limit. MGV_E_MEMORY. */
mgv_status mgvi_active_set_solve(mgvi_active_set *a, int64_t most_solves, double most_work,
                                 mgvi_active_end *end);
#endif
