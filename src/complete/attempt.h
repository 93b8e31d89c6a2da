/* complete/attempt.h - one run over the entries as they are: the path of primal-dual iterates with
 * its held-out errors, and the finish. docs/algorithms/completion.md */
#ifndef MGVI_COMPLETE_ATTEMPT_H
#define MGVI_COMPLETE_ATTEMPT_H

#include "base/settings.h"
#include "complete/finish.h"
#include "complete/low_rank.h"

/* What ends the path. */
typedef struct mgvi_until {
    const mgv_settings *settings;
    double started;  /* of the clock, for the trace */
    double residual; /* NaN, or the noise: the first iterate with |X - b| <= it */
    bool choose;     /* the held-out entries choose; else the last iterate is the answer */
    int64_t most;    /* iterations */
    bool silent;     /* no trace */
} mgvi_until;

typedef struct mgvi_attempt {
    mgvi_factors X; /* the answer, before any refit */
    double error;   /* its held-out error; NaN: nothing is held out */
    bool finished;  /* by alternating least squares, with this ridge */
    double ridge;
    mgv_stop stop;
    int64_t iterations, iteration; /* of the path: all, and the chosen one */
    int64_t sweeps;
    double path_error;     /* held out, of the chosen iterate */
    double train;          /* error of the answer on what it was trained on */
    double nuclear, bound; /* of the last iterate: |X|_*, and what no matrix with these values is
                              below; NaN where an earlier iterate is the answer */
} mgvi_attempt;

mgv_status mgvi_attempt_run(const mgvi_known *e, const mgvi_until *until, mgvi_attempt *out);
void mgvi_attempt_free(mgvi_attempt *attempt);
#endif
