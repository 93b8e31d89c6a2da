/* restore/deblur.h - an image and its blur as a problem, and the run that restores it;
 * docs/algorithms/deblurring.md. */
#ifndef MGVI_RESTORE_DEBLUR_H
#define MGVI_RESTORE_DEBLUR_H

#include "data/image.h"
#include "solver/driver.h"

/* What must survive a checkpoint beside the run's own state: plain numbers only. */
typedef struct mgvi_deblur_memory {
    int64_t looked_at; /* iteration of the last look at the residual, and what it was */
    double seen_residual;
    int64_t stalled;  /* 1: the residual rests */
    double best_psnr; /* of any iterate */
    int64_t best_iteration;
} mgvi_deblur_memory;

struct mgv_deblur {
    mgv_ctx *ctx;
    const mgv_image *image, *truth; /* borrowed; no truth: NULL */
    mgv_problem *problem;
    mgv_solver *solver;
    double noise; /* standard deviation, the root of the mean square over the channels */
    bool estimated;
    double target;   /* the residual to reach */
    double residual; /* of the answer */
    int64_t psf_height, psf_width;
    mgvi_edges edges;
    double psnr_image, psnr; /* beside the truth: before and after; NaN: none */
    mgvi_deblur_memory memory;
    char shape[80], select[40]; /* settings of its problem and its run */
    mgv_event_fn listener;      /* the caller's, while the run goes on */
    void *listener_user;
};

mgv_status mgvi_deblur_new(mgv_ctx *ctx, const mgv_image *image, const mgv_image *psf,
                           const mgv_image *truth, const mgv_settings *settings, mgv_deblur **out);
mgv_status mgvi_deblur_run(mgv_deblur *deblur);
mgv_status mgvi_deblur_image(const mgv_deblur *deblur, mgv_image **out);
void mgvi_deblur_free(mgv_deblur *deblur); /* NULL is accepted */

/* exp(-(a^2 + b^2)/(2 sigma^2)) up to 4 sigma from the middle, scaled to the sum 1. */
mgv_status mgvi_psf_gaussian(mgv_ctx *ctx, double sigma, mgv_image **out);
#endif
