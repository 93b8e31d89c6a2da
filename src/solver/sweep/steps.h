/* solver/sweep/steps.h - step lengths of primal-dual and dual gradient methods;
 * docs/algorithms/primal_dual.md (4) to (7). */
#ifndef MGVI_SOLVER_STEPS_H
#define MGVI_SOLVER_STEPS_H

#include "op/columns.h"
#include "solver/solver_impl.h"

typedef struct mgvi_steps {
    double norm;     /* L >= |A| over the penalised columns, divided by `unit` where steps differ */
    double overlap;  /* cosine between the free column and the others */
    double sigma;    /* of u */
    double split;    /* |D|^2 of a penalty whose D w has dual variables of its own, else 0 */
    double smooth;   /* Lipschitz constant of grad F */
    double tau;      /* of w; of column j: tau unit_j^2 */
    double tau_free; /* of the free column */
    double free_size; /* its square norm */
    double ratio;     /* sigma/tau where that is what is given, else 0 */
    double *unit;     /* 1/|A_j|, NULL: 1 */
    double *square;   /* tau unit_j^2, NULL: tau for all */
    double *inverse;  /* 1/sigma_i, NULL: 1/sigma for all */
} mgvi_steps;

/* L by Lanczos, sigma from the data or the settings `sigma` and `sigma_factor`. `start` are the
 * weights of the first iterate, (3). Uses `columns` (may be NULL) for diagonal steps. */
mgv_status mgvi_steps_new(mgvi_run *run, const mgvi_penalty *penalty, mgvi_columns *columns,
                          const mgvi_vec *start, mgvi_steps *out);
/* tau follows from L, sigma, `split` and `smooth`, which a solver that has them sets before, as it
 * does `ratio`. */
void mgvi_steps_set_norm(const mgvi_run *run, mgvi_steps *steps, double norm);
/* What a solver may tell of them: solver_impl.h, facts. */
int mgvi_steps_facts(const mgvi_steps *steps, int64_t columns, int64_t rows, mgvi_fact *out);

/* For the end of a run: |A'r| in units of norm |r|, r what w misses of equalities; near 0 it misses
 * them in the least-squares sense. NaN: other losses, or nothing is missed. */
typedef struct mgvi_scratch {
    mgvi_vec *z, *r, *g; /* two of the rows, one of the columns */
} mgvi_scratch;
double mgvi_normal_residual(const mgvi_run *run, double norm, const mgvi_vec *w, mgvi_scratch by);

/* A solver's `fits`: an intercept that rests at the mean of the targets is right only where columns
 * are centred. */
mgv_status mgvi_centred_intercept(mgv_ctx *ctx, const mgv_problem *problem);
/* The weights that fit the mean of the targets: 0, and the intercept that a loss with a target
 * wants. */
void mgvi_start_weights(const mgv_problem *problem, mgvi_vec *w);
/* out = how far z lies from where a hard loss wants it; the residual z - target of another loss. */
void mgvi_displacement(const mgv_problem *problem, const mgvi_vec *z, mgvi_vec *out);
#endif
