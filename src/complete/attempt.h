/* complete/attempt.h - one run over the entries as they are: the path of primal-dual iterates with
 * its held-out errors, and the finish; a step at a time. docs/algorithms/completion.md */
#ifndef MGVI_COMPLETE_ATTEMPT_H
#define MGVI_COMPLETE_ATTEMPT_H

#include "base/settings.h"
#include "complete/finish.h"
#include "complete/low_rank.h"
#include "complete/truth.h"

/* What ends the path. */
typedef struct mgvi_until {
    mgv_settings settings;
    double started;           /* of the clock, for the trace */
    double residual;          /* NaN, or the noise: the first iterate with |X - b| <= it */
    bool choose;              /* the held-out entries choose; else the last iterate is the answer */
    const mgv_triples *truth; /* NULL, or what the trace tells the distance from */
    bool repeats; /* as many iterations as an earlier run: no trace, and max_iter is no budget */
} mgvi_until;

/* What came of it. */
typedef struct mgvi_outcome {
    double error;     /* held out; NaN: nothing is held out */
    int64_t finished; /* 1: by alternating least squares, with this ridge */
    double ridge;
    int64_t stop;                  /* mgv_stop; MGV_STOP_NONE: it goes on */
    int64_t iterations, iteration; /* of the path: all, and the chosen one */
    int64_t sweeps;
    double path_error;     /* held out, of the chosen iterate */
    double train;          /* error of the answer on what it was trained on */
    double nuclear, bound; /* of the last iterate: |X|_*, and what no matrix with these values is
                              below; NaN where an earlier iterate is the answer */
} mgvi_outcome;

/* What comes next. */
typedef enum mgvi_phase {
    MGVI_PHASE_START,
    MGVI_PHASE_DECIDE, /* whether the path goes on; then an iteration */
    MGVI_PHASE_FINISH,
    MGVI_PHASE_CHOOSE, /* the answer */
    MGVI_PHASE_OVER
} mgvi_phase;

/* Why the finish is tried. */
typedef enum mgvi_purpose {
    MGVI_AT_A_DIP,
    MGVI_EARLY,
    MGVI_IDLE_EARLY, /* for directions that are of no use */
    MGVI_LAST
} mgvi_purpose;

/* Where a run is: plain numbers, for checkpoints. */
typedef struct mgvi_attempt_place {
    int64_t phase;                             /* mgvi_phase */
    int64_t purpose;                           /* mgvi_purpose of the finish under way */
    int64_t won;                               /* the finish is clearly better than the path */
    double zero_error, best_error, last_error; /* held out: of X = 0, of the best, of the last */
    int64_t best_at, rises;
    double finished_from; /* path error of the iterate the finish started from; infinite: none */
    int64_t tried_at;     /* iteration of the last early try of the finish; 0: none */
    int64_t steady;       /* iterations of the same rank */
    int64_t last_rank;
    int64_t swept;       /* sweeps whose traces in the iterate's memory are gone */
    double best_nuclear; /* where nobody chooses `best` is the last iterate of a slow step */
} mgvi_attempt_place;

typedef struct mgvi_attempt {
    const mgvi_known *e; /* NULL: there is none */
    mgvi_until until;
    mgvi_low_rank run;
    mgvi_finish finish;
    mgvi_factors best; /* the iterate with the least held-out error */
    mgvi_factors X;    /* the answer, before any refit */
    mgvi_attempt_place at;
    mgvi_outcome is;
    bool cut;        /* the limit has cut a step: `run` is worth nothing, `best` is the answer */
    bool slow;       /* the last step took longer than MGVI_GRACE */
    mgv_stop budget; /* has ended the path, which can go on from here under a larger one */
} mgvi_attempt;

void mgvi_attempt_init(mgvi_attempt *a, const mgvi_known *e, const mgvi_until *until);
void mgvi_attempt_free(mgvi_attempt *a);
/* The next piece of work. It stops short at a budget. */
mgv_status mgvi_attempt_step(mgvi_attempt *a);
bool mgvi_attempt_is_over(const mgvi_attempt *a);
/* A budget has struck, a->budget or from outside: what there is by now becomes the answer, by further
 * steps. */
void mgvi_attempt_close(mgvi_attempt *a, mgv_stop stop);
#endif
