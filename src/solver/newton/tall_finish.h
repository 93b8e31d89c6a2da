/* newton/tall_finish.h - the exact finish: rows far from the hinge are fixed at a_i = s_i or 0, the
 * others make a small problem that is solved by re-centring, an interior point and a polish
 * (docs/algorithms/newton.md, "The finish"). */
#ifndef MGVI_SOLVER_TALL_FINISH_H
#define MGVI_SOLVER_TALL_FINISH_H

#include "solver/newton/tall_interior.h"
#include "solver/newton/tall_place.h"
#include "solver/newton/tall_smooth.h"
#include "solver/solver_impl.h"

typedef struct mgvi_tall_finish {
    mgvi_run *run;
    const mgvi_rows *rows;
    const mgvi_coef_array *s;   /* per row of the problem */
    const double *lambda, *mu;  /* per column, 0 for free ones */
    const double *width, *unit; /* per column: of |w_j|'s smoothing by alpha; a size of w_j */
    double spare;               /* bytes that copies of rows may take */
    const mgvi_row_set *all;    /* rests while this works */
    /* of a round */
    mgvi_arena *arena;
    mgvi_row_set set; /* the kept rows */
    int32_t *list;    /* which they are */
    int64_t kept;
    double *cap, *u, *trial; /* per kept row */
    double *w, *lin, *v;     /* per column */
    mgvi_vec product;        /* cols */
    mgvi_tall_smooth smooth;
    mgvi_tall_interior interior;
    mgvi_tall_value value; /* of the last round, on the reduced problem */
} mgvi_tall_finish;

/* Set run, rows, s, lambda, mu, width, unit, spare and all before. */
mgv_status mgvi_tall_finish_init(mgvi_tall_finish *f);
/* Solves the problem of the rows with place[i] = KEPT to a relative gap of `target`, started from
 * the smoothed `start` at width alpha, or cold where that leads nowhere or `start` is NULL. Rows
 * whose fixing lets a column run away are kept. w and u get the solution, u for all rows. Works in
 * the run's lent vectors, of which u is the second. */
mgv_status mgvi_tall_finish_solve(mgvi_tall_finish *f, uint8_t *place, const double *start,
                                  double alpha, double target, mgvi_vec *w, mgvi_vec *u);
/* The same with the interior point from cold, on the kept rows first: where fixed ones come to the
 * wrong side of the hinge on the way, they join. */
mgv_status mgvi_tall_finish_cold(mgvi_tall_finish *f, uint8_t *place, double target, mgvi_vec *w,
                                 mgvi_vec *u);
/* The same from a pair (start, a) near the solution at mean complementarity tau; a of all rows. */
mgv_status mgvi_tall_finish_near(mgvi_tall_finish *f, uint8_t *place, const double *start,
                                 const double *a, double tau, double target, mgvi_vec *w,
                                 mgvi_vec *u);
#endif
