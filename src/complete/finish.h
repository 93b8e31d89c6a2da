/* complete/finish.h - from an iterate to the finished factors: alternating least squares, with the
 * rank and the ridge that the held-out entries like best. docs/algorithms/completion.md */
#ifndef MGVI_COMPLETE_FINISH_H
#define MGVI_COMPLETE_FINISH_H

#include "complete/factors.h"

typedef struct mgvi_finish {
    const mgvi_known *e;
    double *value, *by_col; /* work, one number per entry each; borrowed */
    int64_t rank_max;
    uint64_t seed;
    double enough;     /* an error that needs no improvement */
    mgvi_factors best; /* balanced */
    double error;      /* held-out root mean squared error of `best`; infinite: nothing yet */
    double ridge;
    int64_t sweeps;          /* so far */
    double started;          /* of the clock: where seconds count from */
    int64_t first_iteration; /* the trace counts sweeps from here on */
} mgvi_finish;

void mgvi_finish_init(mgvi_finish *f, const mgvi_known *e, int64_t rank_max, uint64_t seed);
void mgvi_finish_free(mgvi_finish *f);
/* The lowest rank to which factors with falling columns can be cut without a loss on the held-out
 * entries. */
mgv_status mgvi_finish_useful_rank(const mgvi_known *e, const mgvi_factors *F, int64_t *rank);
/* The ridges of the nuclear norm, falling from `norm`, at which the factors are 0, each from the
 * leading `most` columns of `X`: for noise so high that (6) feeds on what it shrinks. */
mgv_status mgvi_finish_ridges(mgvi_finish *f, const mgvi_factors *X, int64_t most, double norm);
/* Starts from `X`, whose held-out error is `error`, and keeps what is better than `best`. The
 * limit ends it with the best so far. */
mgv_status mgvi_finish_from(mgvi_finish *f, const mgvi_factors *X, double error);
#endif
