/* solver/sweep/norm_dual.h - dual variables of their own for a penalty R(w) = c sum_g |(D w)_g|: no
 * prox of R is needed; docs/algorithms/primal_dual.md (15). */
#ifndef MGVI_SOLVER_NORM_DUAL_H
#define MGVI_SOLVER_NORM_DUAL_H

#include "solver/solver_impl.h"

typedef struct mgvi_norm_dual {
    mgvi_op *D;    /* NULL: not in use */
    int64_t group; /* rows of D that have one length */
    double radius; /* c */
    mgvi_vec v;    /* |v_g| <= c */
    mgvi_vec step; /* v - v_old */
} mgvi_norm_dual;

/* By the setting `split` and what the problem's penalty offers. Kept for checkpoints. */
mgv_status mgvi_norm_dual_new(mgvi_run *run, mgvi_norm_dual *out);
static inline bool mgvi_norm_dual_on(const mgvi_norm_dual *s) { return s->D != NULL; }
/* v+ = P(v + sigma D w), P the projection of every group onto the ball of radius c. */
void mgvi_norm_dual_move(mgv_ctx *ctx, mgvi_norm_dual *s, double sigma, const mgvi_vec *w);
#endif
