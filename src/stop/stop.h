/* stop/stop.h - when a run ends: rules over the progress the driver reports; stop/list.h. */
#ifndef MGVI_STOP_STOP_H
#define MGVI_STOP_STOP_H

#include "certify/certify.h"

typedef struct mgvi_progress {
    int64_t iteration;
    double passes, seconds;
    const mgvi_verdict *verdict; /* NULL when no certificate was taken at this iteration */
    bool asked_to_stop;          /* by a signal or the callback */
    bool late;                   /* the time of the whole call is over */
    double residual, noise;      /* |A w - y| of the present iterate and its noise level, or NaN */
    double residual_before;      /* of the iterate before it; NaN: there is none */
    int64_t planned;             /* iterations that the noise prescribes; 0: none */
} mgvi_progress;

typedef struct mgvi_stop_rule {
    const char *name, *summary;
    /* MGV_STOP_NONE: go on. */
    mgv_stop (*check)(const mgvi_progress *progress, const mgv_settings *settings);
    bool needs_certificate; /* only asked when a certificate was taken */
} mgvi_stop_rule;

int mgvi_stop_count(void);
const mgvi_stop_rule *mgvi_stop_at(int index);
/* The first rule that holds, in the order of the list. */
mgv_stop mgvi_stop_check(const mgvi_progress *progress, const mgv_settings *settings);
/* The same between two steps of whatever takes them, with a look at the limit of the call
 * (base/limit.h): `asked_to_stop` and `late` follow from it. */
mgv_stop mgvi_stop_look(const mgv_ctx *ctx, mgvi_progress progress, const mgv_settings *settings);
/* Progress of which no more is known than this. */
static inline mgvi_progress mgvi_progress_of(int64_t iteration, double passes, double seconds)
{
    return (mgvi_progress){.iteration = iteration,
                           .passes = passes,
                           .seconds = seconds,
                           .residual = NAN,
                           .residual_before = NAN,
                           .noise = NAN};
}

/* Runs whose answer is an iterate before convergence: hard losses under the setting `select` last,
 * discrepancy:DELTA or apriori:DELTA. With a soft loss the strength regularises, and `select` is the
 * business of src/select/. */
typedef struct mgvi_early {
    bool on;
    double noise; /* DELTA: the first iterate with |A w - y| <= DELTA; NaN: the last one */
    bool apriori; /* the number of iterations follows from DELTA alone instead */
} mgvi_early;

/* `problem` may be one of many classes, and has its loss. */
mgvi_early mgvi_early_read(const mgv_problem *problem, const mgv_settings *settings);
#endif
