/* complete/low_rank.h - the primal-dual iteration for  min |X|_*  subject to  X_ij = b_ij  at the
 * entries trained on, with X as factors and Y on the entries only:
 *   X+ = shrink_tau(X - tau T),   T = 2 Y - Y_old as a sparse matrix                            (1)
 *   Y+ = Y + sigma (X+ - b) (2) shrink_tau lowers every singular value by tau.
 * docs/algorithms/completion.md */
#ifndef MGVI_COMPLETE_LOW_RANK_H
#define MGVI_COMPLETE_LOW_RANK_H

#include "complete/spectrum.h"

typedef struct mgvi_low_rank {
    const mgvi_known *e;
    mgvi_spectrum spectrum;
    mgvi_factors X;
    double sigma, tau, norm; /* norm: |b| as a sparse matrix, its largest singular value */
    double *y, *y_bar;       /* per entry; y_bar = 2 y - y_old, 0 where held out */
    double *by_col;          /* y_bar by columns */
    double *sums;            /* per block */
    int64_t rank_max, iteration;
    double residual;    /* |X - b| over the entries trained on, the 2-norm */
    double train, held; /* root mean squared errors; NaN: nothing is held out */
    double nuclear;     /* |X|_* */
} mgvi_low_rank;

/* Memory for the entries, and no values yet: for a state that comes from a checkpoint. */
mgv_status mgvi_low_rank_open(mgvi_low_rank *r, const mgvi_known *e, int64_t rank_max,
                              uint64_t seed);
/* X = 0 at the last iteration known to have it: those before it cost nothing. `factor` is c in
 * sigma = c/|b|; `sigma` replaces it unless it is NaN. */
mgv_status mgvi_low_rank_start(mgvi_low_rank *r, const mgvi_known *e, double factor, double sigma,
                               int64_t rank_max, uint64_t seed);
mgv_status mgvi_low_rank_step(mgvi_low_rank *r);
/* Between steps others may use y_bar and by_col as work; this brings y_bar back, to the same bits.
 */
void mgvi_low_rank_restore(mgvi_low_rank *r);
void mgvi_low_rank_free(mgvi_low_rank *r);
#endif
