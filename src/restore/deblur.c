/* deblur.c - min TV(w) subject to A w = y, A the blur and y the image, stopped where |A w - y|
 * reaches the noise: a problem and settings like any other, for primal_dual.
 * docs/algorithms/deblurring.md (1) to (5). */
#include "restore/deblur.h"

#include "base/event.h"
#include "base/hash.h"
#include "base/print.h"
#include "restore/noise.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

mgv_status mgvi_psf_gaussian(mgv_ctx *ctx, double sigma, mgv_image **out)
{
    const double LARGEST = 1000;
    *out = NULL;
    if (!(sigma > 0 && sigma <= LARGEST))
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "the width of the Gaussian is %g; allowed: above 0 and at most %g", sigma,
                         LARGEST);
    const int64_t radius = 1 + (int64_t)(4 * sigma), side = 2 * radius + 1;
    double sum = 0;
    MGVI_TRY(mgvi_image_new(ctx, "the Gaussian", side, side, 1, false, out));
    for (int64_t p = 0; p < side * side; p++) {
        const double a = (double)(p / side - radius) / sigma,
                     b = (double)(p % side - radius) / sigma;
        sum += (*out)->pixels[p] = exp(-(a * a + b * b) / 2);
    }
    for (int64_t p = 0; p < side * side; p++)
        (*out)->pixels[p] /= sum;
    return MGV_OK;
}

/* ---- the problem ------------------------------------------------------------------------------
 */

static mgv_status check_images(mgv_ctx *ctx, const mgv_image *image, const mgv_image *psf,
                               const mgv_image *truth)
{
    if (psf->channels != 1)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "the point spread function has %" PRId32 " channels, not one",
                         psf->channels);
    if (truth && !mgvi_image_same_shape(image, truth))
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "the image has %" PRId64 " x %" PRId64 " pixels of %" PRId32
                         " channels, the truth %" PRId64 " x %" PRId64 " of %" PRId32,
                         image->height, image->width, image->channels, truth->height, truth->width,
                         truth->channels);
    return MGV_OK;
}

/* The noise given, or the root of the mean square of the channels' estimates. */
static mgv_status find_noise(mgv_deblur *d, double given)
{
    const mgv_image *image = d->image;
    double each[MGVI_IMAGE_CHANNELS_MAX], square = 0;
    d->estimated = isnan(given);
    d->noise = given;
    if (d->estimated) {
        MGVI_TRY(mgvi_noise_estimate(d->ctx, image, each));
        for (int32_t c = 0; c < image->channels; c++)
            square += each[c] * each[c] / image->channels;
        d->noise = sqrt(square);
    }
    d->noise = fmax(d->noise, mgvi_noise_floor(image));
    return MGV_OK;
}

static mgv_status make_operator(mgv_deblur *d, const mgv_image *psf, mgvi_op **out)
{
    const mgv_image *im = d->image;
    mgvi_op *blur;
    MGVI_TRY(mgvi_op_blur(d->ctx, im->height, im->width, psf->pixels, psf->height, psf->width,
                          d->edges, im->channels, &blur));
    if (im->channels > 1)
        return mgvi_op_repeat(d->ctx, blur, im->channels, 1, out);
    *out = blur;
    return MGV_OK;
}

/* |A|^2 <= max row sum times max column sum, exact where the PSF has no negative entry; NaN where
 * it has some. Rows add up to 1. */
static mgv_status bound_norm(mgv_deblur *d, const mgv_image *psf, mgvi_op *A, double *out)
{
    mgvi_arena arena;
    mgvi_vec ones, sums;
    *out = NAN;
    double total = 0;
    for (int64_t i = 0; i < mgvi_image_numbers(psf); i++) {
        if (psf->pixels[i] < 0)
            return MGV_OK;
        total += psf->pixels[i];
    }
    mgvi_arena_init(&arena, d->ctx);
    mgv_status st = mgvi_vec_new(&arena, MGVI_ROWS, A->rows, 1, &ones);
    if (st == MGV_OK)
        st = mgvi_vec_new(&arena, MGVI_COLS, A->cols, 1, &sums);
    if (st == MGV_OK) {
        double most;
        mgvi_vec_fill(d->ctx, &ones, 1);
        mgvi_op_mul_t(A, 1, &ones, 0, &sums);
        mgvi_vec_abs_max(d->ctx, &sums, &most);
        *out = total * most * (1 + 1e-9);
    }
    mgvi_arena_free(&arena);
    return st;
}

/* What the caller has not said: the step (3), the norm, the rule and the start follow from the
 * image. */
static mgv_status choose_settings(mgv_deblur *d, const mgv_image *psf, mgvi_op *A, mgv_settings *s)
{
    const mgv_image *im = d->image;
    snprintf(d->shape, sizeof d->shape, "%" PRId64 "x%" PRId64 "x%" PRId32, im->height, im->width,
             im->channels);
    mgvi_print(d->select, sizeof d->select, "discrepancy:%.17g", d->target);
    s->solver = "primal_dual";
    s->penalty = "tv2d";
    s->loss = "equal";
    s->shape = d->shape;
    s->select = d->select;
    const bool free = isnan(s->low) && isnan(s->high);
    if (free && s->split != MGVI_SPLIT_NO && isnan(s->prox_error)) {
        s->low = 0;
        s->high = 1;
    }
    if (isnan(s->sigma) && isnan(s->step_ratio))
        s->sigma = s->sigma_factor / d->noise;
    return isnan(s->lipschitz) ? bound_norm(d, psf, A, &s->lipschitz) : MGV_OK;
}

/* The image and the settings are in the problem; its operator shows nothing of itself. */
static uint64_t print_of_blur(const mgv_image *psf, mgvi_edges edges)
{
    const int64_t shape[3] = {psf->height, psf->width, edges};
    const uint64_t h = mgvi_hash(MGVI_HASH_BEGIN, shape, sizeof shape);
    return mgvi_hash(h, psf->pixels, (size_t)mgvi_image_numbers(psf) * sizeof *psf->pixels);
}

static mgv_status bind(mgv_deblur *d, const mgv_image *psf, const mgv_settings *settings)
{
    mgvi_op *A;
    mgv_settings s = *settings;
    MGVI_TRY(make_operator(d, psf, &A));
    const mgv_status st = choose_settings(d, psf, A, &s);
    if (st != MGV_OK) {
        mgvi_op_free(A);
        return st;
    }
    MGVI_TRY(mgvi_problem_over(d->ctx, A, d->image->pixels, NULL, &s, &d->problem));
    MGVI_TRY(mgvi_driver_new(d->ctx, d->problem, &s, &d->solver));
    d->solver->of.command = "deblur";
    d->solver->of.print = print_of_blur(psf, d->edges);
    MGVI_TRY(mgvi_run_keep(&d->solver->run, "deblur", MGVI_T_U8, &d->memory, sizeof d->memory));
    MGVI_TRY(mgvi_driver_start(d->solver, d->image->pixels, NULL)); /* (2) */
    return s.resume[0] ? mgvi_checkpoint_read(d->solver, s.resume) : MGV_OK;
}

mgv_status mgvi_deblur_new(mgv_ctx *ctx, const mgv_image *image, const mgv_image *psf,
                           const mgv_image *truth, const mgv_settings *settings, mgv_deblur **out)
{
    *out = NULL;
    MGVI_TRY(check_images(ctx, image, psf, truth));
    mgv_deblur *d = mgvi_new(ctx, sizeof *d);
    if (!d)
        return MGV_E_MEMORY;
    const int64_t n = mgvi_image_numbers(image);
    d->ctx = ctx;
    d->image = image;
    d->truth = truth;
    d->psf_height = psf->height;
    d->psf_width = psf->width;
    d->edges = settings->edges;
    d->psnr = d->memory.best_psnr = d->residual = NAN;
    d->psnr_image = truth ? mgvi_psnr(ctx, image->pixels, truth->pixels, n) : NAN;
    mgv_status st = find_noise(d, settings->noise);
    d->target = settings->noise_factor * d->noise * sqrt((double)n); /* (5) */
    if (st == MGV_OK)
        st = bind(d, psf, settings);
    if (st != MGV_OK) {
        mgvi_deblur_free(d);
        return st;
    }
    *out = d;
    return MGV_OK;
}

void mgvi_deblur_free(mgv_deblur *d)
{
    if (!d)
        return;
    mgvi_driver_free(d->solver);
    mgvi_problem_free(d->problem);
    mgvi_release(d->ctx, d);
}

/* ---- the run ----------------------------------------------------------------------------------
 */

/* (6): looks at the residual after 50, 100, 200, ... iterations; true when it has hardly fallen
 * since the last look: the noise is larger than believed, and more iterations only follow it. */
static bool residual_rests(mgv_deblur *d, int64_t iteration, double residual)
{
    enum { FIRST_LOOK = 50 };
    const double LEAST_FALL = 0.01;
    if (iteration < FIRST_LOOK || iteration / 2 < d->memory.looked_at)
        return false;
    const bool rests =
        d->memory.looked_at > 0 && residual > (1 - LEAST_FALL) * d->memory.seen_residual;
    d->memory.looked_at = iteration;
    d->memory.seen_residual = residual;
    return rests;
}

/* Adds the residual and, beside a truth, the PSNR to the driver's events. */
static int on_event(void *user, const mgv_event *event)
{
    mgv_deblur *d = user;
    const mgvi_run *run = &d->solver->run;
    mgv_event e = *event;
    if (e.kind == MGV_EVENT_TRACE) {
        const double *w = run->ops->expose(&d->solver->run).w->x;
        if (run->iteration > 0)
            e.residual = run->ops->residual(run);
        if (residual_rests(d, e.iteration, e.residual))
            d->memory.stalled = 1;
        if (d->truth)
            e.psnr = mgvi_psnr(d->ctx, w, d->truth->pixels, mgvi_image_numbers(d->truth));
        if (d->truth && !(e.psnr <= d->memory.best_psnr)) {
            d->memory.best_psnr = e.psnr;
            d->memory.best_iteration = e.iteration;
        }
    }
    const int asked = d->listener ? d->listener(d->listener_user, &e) : 0;
    return asked || d->memory.stalled;
}

mgv_status mgvi_deblur_run(mgv_deblur *d)
{
    mgv_ctx *ctx = d->ctx;
    d->listener = ctx->on_event;
    d->listener_user = ctx->event_user;
    mgv_ctx_on_event(ctx, on_event, d);
    const mgv_status st = mgvi_driver_run(d->solver);
    mgv_ctx_on_event(ctx, d->listener, d->listener_user);
    if (st != MGV_OK)
        return st;
    const mgvi_run *run = &d->solver->run;
    d->residual = run->ops->residual(run);
    if (d->memory.stalled && d->solver->stop == MGV_STOP_USER)
        d->solver->stop = MGV_STOP_STALLED;
    if (d->solver->stop == MGV_STOP_STALLED)
        mgvi_log(
            ctx, MGV_WARNING,
            "the residual rests at %.3g times the noise: the noise is likely larger than %.3g, "
            "or the blur another",
            d->residual / (d->noise * sqrt((double)mgvi_image_numbers(d->image))), d->noise);
    if (d->truth)
        d->psnr =
            mgvi_psnr(ctx, d->solver->answer.w.x, d->truth->pixels, mgvi_image_numbers(d->truth));
    return MGV_OK;
}

mgv_status mgvi_deblur_image(const mgv_deblur *d, mgv_image **out)
{
    const mgv_image *from = d->image;
    const double *w = d->solver->answer.w.x;
    MGVI_TRY(mgvi_image_new(d->ctx, "the restored image", from->height, from->width, from->channels,
                            from->alpha != NULL, out));
    (*out)->depth = from->depth;
    for (int64_t i = 0; i < mgvi_image_numbers(from); i++)
        (*out)->pixels[i] = fmin(fmax(w[i], 0), 1);
    if (from->alpha)
        memcpy((*out)->alpha, from->alpha,
               (size_t)(from->height * from->width) * sizeof *from->alpha);
    return MGV_OK;
}
