/* complete/finish.h - from an iterate to the finished factors: alternating least squares, with the
 * rank and the ridge that the held-out entries like best. docs/algorithms/completion.md */
#ifndef MGVI_COMPLETE_FINISH_H
#define MGVI_COMPLETE_FINISH_H

#include "complete/factors.h"

typedef enum mgvi_finish_stage {
    MGVI_FINISH_IDLE, /* no search is under way */
    MGVI_FINISH_FIRST,
    MGVI_FINISH_USEFUL,
    MGVI_FINISH_SEARCH,
    MGVI_FINISH_RIDGES
} mgvi_finish_stage;

/* Where the search is, and what it has found: plain numbers, for checkpoints. */
typedef struct mgvi_finish_place {
    int64_t stage;   /* mgvi_finish_stage: what comes next, when no try is under way */
    double error;    /* held-out root mean squared error of the best; infinite: nothing yet */
    double ridge;    /* of the best */
    double enough;   /* an error that needs no improvement */
    int64_t sweeps;  /* so far */
    int64_t counted; /* the trace counts sweeps from here on */
    struct {
        int64_t on;         /* one is under way, */
        int64_t asked;      /* by the search, which waits for what comes of it, */
        int64_t taken;      /* and is the best now */
        int64_t sweeps;     /* of it */
        double ridge;       /* NaN: (6) */
        double error, goal; /* the least so far; below it the try is taken */
        double last, held;  /* of the sweeps before */
    } trial;
    struct {
        int64_t round, step, moved;
    } search;
    struct {
        double share; /* of the norm */
        int64_t worse;
    } ridges;
} mgvi_finish_place;

typedef struct mgvi_finish {
    const mgvi_known *e;
    double *value, *by_col; /* work, one number per entry each; borrowed */
    int64_t rank_max;
    uint64_t seed;
    double started;    /* of the clock: where seconds count from */
    mgvi_factors best; /* balanced */
    mgvi_factors trial;
    double *s; /* singular values of the trial */
    mgvi_finish_place at;
} mgvi_finish;

/* What a search starts from; it stays as it is while one is under way. */
typedef struct mgvi_finish_source {
    const mgvi_factors *best; /* the iterate with the least held-out error, */
    double error;             /* and that error */
    /* Where the search has found nothing below `noisy` the ridges of the nuclear norm are tried,
     * falling from `norm`, at which the factors are 0, each from the leading directions of `X`: for
     * noise so high that (6) feeds on what it shrinks. */
    double noisy, norm;
    const mgvi_factors *X;
} mgvi_finish_source;

void mgvi_finish_init(mgvi_finish *f, const mgvi_known *e, int64_t rank_max, uint64_t seed);
void mgvi_finish_free(mgvi_finish *f);
/* The lowest rank to which factors with falling columns can be cut without a loss on the held-out
 * entries. */
mgv_status mgvi_finish_useful_rank(const mgvi_known *e, const mgvi_factors *F, int64_t *rank);
enum { MGVI_FINISH_SWEEPS = 60 }; /* of a try, at most */
/* Begins a search, which keeps what is better than `best`. */
void mgvi_finish_begin(mgvi_finish *f, double enough, int64_t iteration);
/* A sweep of the try under way, or the next try. A step that was cut leaves `best` and what is known of it. */
mgv_status mgvi_finish_step(mgvi_finish *f, const mgvi_finish_source *from);
static inline bool mgvi_finish_goes_on(const mgvi_finish *f)
{
    return f->at.stage != MGVI_FINISH_IDLE;
}
/* Memory for the singular values of trials; for a search that a checkpoint goes on with. */
mgv_status mgvi_finish_open(mgvi_finish *f, int64_t rank);
#endif
