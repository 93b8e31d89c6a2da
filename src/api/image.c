/* image.c - public functions on images and deblurring. */
#include "api/need.h"
#include "base/limit.h"
#include "io/image_io.h"
#include "report/report.h"
#include "restore/deblur.h"

#include <math.h>
#include <string.h>

mgv_status mgv_image_new(mgv_ctx *ctx, int64_t height, int64_t width, int channels,
                         const double *pixels, mgv_image **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_NEED(ctx, pixels);
    mgv_image *image;
    MGVI_TRY(mgvi_image_new(ctx, "memory", height, width, channels, false, &image));
    const int64_t n = mgvi_image_numbers(image);
    memcpy(image->pixels, pixels, (size_t)n * sizeof *pixels);
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(pixels[i])) {
            mgvi_image_free(ctx, image);
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "number %" PRId64 " of the image must be finite (got %g)", i,
                             pixels[i]);
        }
    *out = image;
    return mgvi_done(ctx, MGV_OK);
}

mgv_status mgv_image_read(mgv_ctx *ctx, const char *path, mgv_image **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_NEED(ctx, path);
    return mgvi_done(ctx, mgvi_image_read(ctx, path, out));
}

mgv_status mgv_image_write(mgv_ctx *ctx, const mgv_image *image, const char *path)
{
    MGVI_NEED(ctx, image);
    MGVI_NEED(ctx, path);
    return mgvi_done(ctx, mgvi_image_write(ctx, image, path));
}

mgv_status mgv_image_describe(const mgv_image *image, mgv_image_info *out)
{
    if (!image || !out)
        return MGV_E_ARG;
    const mgv_image_info info = {.height = image->height,
                                 .width = image->width,
                                 .channels = image->channels,
                                 .depth = image->depth,
                                 .pixels = image->pixels,
                                 .alpha = image->alpha};
    mgvi_copy_out(out, &info, sizeof info);
    return MGV_OK;
}

mgv_status mgv_image_psnr(mgv_ctx *ctx, const mgv_image *image, const mgv_image *truth, double *out)
{
    MGVI_NEED(ctx, image);
    MGVI_NEED(ctx, truth);
    MGVI_NEED(ctx, out);
    if (!mgvi_image_same_shape(image, truth))
        return MGVI_FAIL(ctx, MGV_E_ARG, "the two images differ in shape");
    *out = mgvi_psnr(ctx, image->pixels, truth->pixels, mgvi_image_numbers(image));
    return mgvi_done(ctx, MGV_OK);
}

void mgv_image_free(mgv_ctx *ctx, mgv_image *image) { mgvi_image_free(ctx, image); }

mgv_status mgv_psf_read(mgv_ctx *ctx, const char *path, mgv_image **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_NEED(ctx, path);
    return mgvi_done(ctx, mgvi_psf_read(ctx, path, out));
}

mgv_status mgv_psf_gaussian(mgv_ctx *ctx, double sigma, mgv_image **out)
{
    MGVI_NEED(ctx, out);
    return mgvi_done(ctx, mgvi_psf_gaussian(ctx, sigma, out));
}

/* ---- deblurring -------------------------------------------------------------------------------
 */

mgv_status mgv_deblur_new(mgv_ctx *ctx, const mgv_image *image, const mgv_image *psf,
                          const mgv_image *truth, const mgv_settings *settings, mgv_deblur **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_NEED(ctx, image);
    MGVI_NEED(ctx, psf);
    MGVI_NEED(ctx, settings);
    MGVI_TRY(mgvi_settings_obey(ctx, settings));
    mgvi_call_begin(ctx, settings->time_limit);
    const double begun = mgvi_ctx_clock(ctx);
    const mgv_status st = mgvi_deblur_new(ctx, image, psf, truth, settings, out);
    if (st == MGV_OK)
        (*out)->solver->prepared = mgvi_ctx_clock(ctx) - begun;
    return mgvi_call_end(ctx, st);
}

mgv_status mgv_deblur_run(mgv_ctx *ctx, mgv_deblur *deblur)
{
    MGVI_NEED(ctx, deblur);
    mgv_solver *solver = deblur->solver;
    mgvi_call_begin(ctx, solver->settings.time_limit - mgvi_driver_summary(solver).seconds -
                             solver->prepared);
    solver->prepared = 0;
    const mgv_status st = mgvi_deblur_run(deblur);
    return mgvi_call_end(ctx, st);
}

mgv_status mgv_deblur_image(mgv_ctx *ctx, const mgv_deblur *deblur, mgv_image **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_NEED(ctx, deblur);
    if (deblur->solver->stop == MGV_STOP_NONE)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "the image has not been restored yet; run the solver first");
    return mgvi_done(ctx, mgvi_deblur_image(deblur, out));
}

mgv_status mgv_deblur_describe(const mgv_deblur *d, mgv_deblur_info *out)
{
    if (!d || !out)
        return MGV_E_ARG;
    const mgvi_summary sum = mgvi_driver_summary(d->solver);
    const mgv_deblur_info info = {.solver = sum.solver,
                                  .formula = d->problem->formula,
                                  .stop = sum.stop,
                                  .iterations = sum.iterations,
                                  .seconds = sum.seconds,
                                  .psf_height = d->psf_height,
                                  .psf_width = d->psf_width,
                                  .noise = d->noise,
                                  .noise_estimated = d->estimated,
                                  .target = d->target,
                                  .residual = d->residual,
                                  .psnr_image = d->psnr_image,
                                  .psnr = d->psnr,
                                  .best_psnr = d->memory.best_psnr,
                                  .best_iteration = d->memory.best_iteration,
                                  .unsaved = d->solver->keeper.unsaved};
    mgvi_copy_out(out, &info, sizeof info);
    return MGV_OK;
}

void mgv_deblur_free(mgv_ctx *ctx, mgv_deblur *deblur)
{
    (void)ctx;
    mgvi_deblur_free(deblur);
}

mgv_status mgv_report_deblur(mgv_ctx *ctx, const mgv_deblur *deblur, const char *image_file,
                             const char *psf_name, const char *output_file, char **json)
{
    MGVI_NEED_OUT(ctx, json);
    MGVI_NEED(ctx, deblur);
    return mgvi_done(ctx, mgvi_report_deblur(ctx, deblur, image_file, psf_name, output_file, json));
}
