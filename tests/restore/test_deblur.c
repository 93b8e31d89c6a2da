/* test_deblur.c - noise is estimated, images are restored, the run stops at the noise; any shape,
 * any number of channels. */
#include "check.h"

#include "base/rng.h"
#include "restore/deblur.h"
#include "restore/noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Discs and bars with a slope of light, values in .1 to .9. */
static mgv_image *scene(mgv_ctx *ctx, int64_t h, int64_t w, int channels)
{
    mgv_image *im;
    CHECK_OK(ctx, mgvi_image_new(ctx, "test", h, w, channels, false, &im));
    for (int64_t i = 0; i < h; i++)
        for (int64_t j = 0; j < w; j++)
            for (int c = 0; c < channels; c++) {
                const double y = (double)i / (double)h, x = (double)j / (double)w;
                const bool disc = hypot(y - .4, x - .3 - .1 * c) < .2, bar = fabs(x - .75) < .1;
                im->pixels[(i * w + j) * channels + c] = .2 + .2 * y + .3 * disc + .2 * bar;
            }
    return im;
}

/* The scene blurred with a Gaussian, plus noise. */
static mgv_image *spoil(mgv_ctx *ctx, const mgv_image *sharp, const mgv_image *psf,
                        mgvi_edges edges, double noise, uint64_t seed)
{
    const int64_t n = sharp->height * sharp->width;
    mgvi_rng rng = mgvi_rng_seed(seed);
    mgv_image *im;
    mgvi_op *A;
    CHECK_OK(ctx,
             mgvi_image_new(ctx, "test", sharp->height, sharp->width, sharp->channels, false, &im));
    CHECK_OK(ctx, mgvi_op_blur(ctx, sharp->height, sharp->width, psf->pixels, psf->height,
                               psf->width, edges, sharp->channels, &A));
    const mgvi_vec x = {.x = sharp->pixels, .n = n, .k = sharp->channels, .space = MGVI_COLS};
    mgvi_vec y = {.x = im->pixels, .n = n, .k = sharp->channels, .space = MGVI_ROWS};
    mgvi_op_mul(A, 1, &x, 0, &y);
    for (int64_t i = 0; i < mgvi_image_numbers(im); i++)
        im->pixels[i] += noise * mgvi_rng_normal(&rng);
    mgvi_op_free(A);
    return im;
}

static mgv_settings *settings_of(mgv_ctx *ctx, const char *options)
{
    mgv_settings *s;
    char text[200], *rest = text, *item;
    CHECK_OK(ctx, mgv_settings_new(ctx, &s));
    snprintf(text, sizeof text, "%s", options);
    while ((item = strsep(&rest, " ")))
        if (*item) {
            char *equals = strchr(item, '=');
            *equals = 0;
            CHECK_OK(ctx, mgv_settings_set(ctx, s, item, equals + 1));
        }
    return s;
}

typedef struct outcome {
    mgv_deblur_info info;
    mgv_image *image;
} outcome;

static outcome restore(mgv_ctx *ctx, const mgv_image *image, const mgv_image *psf,
                       const mgv_image *truth, const char *options)
{
    mgv_settings *s = settings_of(ctx, options);
    mgv_deblur *d;
    outcome o = {.info = {.size = sizeof o.info}};
    CHECK_OK(ctx, mgv_deblur_new(ctx, image, psf, truth, s, &d));
    CHECK_FAILS(ctx, mgv_deblur_image(ctx, d, &o.image), MGV_E_ARG, "not been restored");
    CHECK_OK(ctx, mgv_deblur_run(ctx, d));
    CHECK_OK(ctx, mgv_deblur_image(ctx, d, &o.image));
    mgv_deblur_describe(d, &o.info);
    o.info.solver = o.info.formula = NULL;
    mgv_deblur_free(ctx, d);
    mgv_settings_free(ctx, s);
    return o;
}

/* Within 4 % on a blurred image, for fine and coarse noise, floats and bytes. */
TEST(noise_is_estimated)
{
    static const double levels[] = {.1, .02, .004};
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_image *sharp = scene(ctx, 160, 140, 1), *psf;
    CHECK_OK(ctx, mgv_psf_gaussian(ctx, 1, &psf));
    for (int l = 0; l < 3; l++)
        for (int bytes = 0; bytes < 2; bytes++) {
            mgv_image *im = spoil(ctx, sharp, psf, MGVI_EDGES_REFLECT, levels[l], 3);
            double found, want = levels[l];
            if (bytes) {
                im->depth = 8;
                want = hypot(want, mgvi_noise_floor(im));
                for (int64_t i = 0; i < mgvi_image_numbers(im); i++)
                    im->pixels[i] = floor(255 * im->pixels[i] + .5) / 255;
            }
            CHECK_OK(ctx, mgvi_noise_estimate(ctx, im, &found));
            CHECK_NEAR(found / want, 1, .04, "noise %g, bytes %d", levels[l], bytes);
            mgv_image_free(ctx, im);
        }
    mgv_image *tiny = scene(ctx, 2, 50, 1);
    double found;
    CHECK_FAILS(ctx, mgvi_noise_estimate(ctx, tiny, &found), MGV_E_INPUT, "too small");
    mgv_image_free(ctx, tiny);
    mgv_image_free(ctx, sharp);
    mgv_image_free(ctx, psf);
    mgv_ctx_free(ctx);
}

/* Restores by decibels, stops at the noise, near the best iterate of a longer run; grey and colour,
 * both edges, the prox in place of dual variables. */
TEST(images_are_restored)
{
    static const struct {
        double sigma, noise;
        int channels;
        const char *options;
        double gain; /* dB at least */
    } cases[] = {{1.5, .02, 1, "", 4},
                 {1.5, .02, 1, "split=no sigma_factor=1", 4},
                 {1.5, .02, 1, "edges=periodic", 4},
                 {1, .05, 1, "", 6},
                 {2, .005, 1, "", 4},
                 {1.5, .02, 3, "", 2.5}};
    mgv_ctx *ctx = mgv_check_ctx();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const mgvi_edges edges =
            strstr(cases[i].options, "periodic") ? MGVI_EDGES_PERIODIC : MGVI_EDGES_REFLECT;
        mgv_image *sharp = scene(ctx, 72, 60, cases[i].channels), *psf;
        CHECK_OK(ctx, mgv_psf_gaussian(ctx, cases[i].sigma, &psf));
        mgv_image *im = spoil(ctx, sharp, psf, edges, cases[i].noise, 7);
        char longer[100];
        outcome o = restore(ctx, im, psf, sharp, cases[i].options);
        snprintf(longer, sizeof longer, "%s noise_factor=.5 max_iter=%d", cases[i].options,
                 (int)(2 * o.info.iterations));
        outcome all = restore(ctx, im, psf, sharp, longer);
        CHECK_THAT(o.info.stop == MGV_STOP_DISCREPANCY, "case %d: %s", (int)i,
                   mgv_stop_name(o.info.stop));
        CHECK(o.info.noise_estimated && o.info.residual <= o.info.target);
        CHECK_LE(o.info.psnr_image + cases[i].gain, o.info.psnr, "case %d", (int)i);
        CHECK_LE(all.info.best_psnr - 2, o.info.psnr, "case %d: gap to the best", (int)i);
        double psnr;
        CHECK_OK(ctx, mgv_image_psnr(ctx, o.image, sharp, &psnr));
        CHECK_NEAR(psnr, o.info.psnr, 1e-9, "case %d", (int)i);
        mgv_image_free(ctx, o.image);
        mgv_image_free(ctx, all.image);
        mgv_image_free(ctx, im);
        mgv_image_free(ctx, sharp);
        mgv_image_free(ctx, psf);
    }
    mgv_ctx_free(ctx);
}

/* Any shape, PSFs larger than the image, an asymmetric one with a negative entry. */
TEST(odd_shapes_are_restored)
{
    static const int64_t shapes[][2] = {{1, 1}, {1, 17}, {9, 1}, {2, 3}, {5, 31}, {33, 6}};
    mgv_ctx *ctx = mgv_check_ctx();
    const double skew[15] = {0, .1, .3, .1, 0, .1, .4, .6, .2, -.05, 0, .1, .2, 0, 0};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int kind = 0; kind < 2; kind++) {
            mgv_image *sharp = scene(ctx, shapes[i][0], shapes[i][1], 1), *psf;
            if (kind == 0)
                CHECK_OK(ctx, mgv_psf_gaussian(ctx, 2, &psf));
            else
                CHECK_OK(ctx, mgv_image_new(ctx, 3, 5, 1, skew, &psf));
            mgv_image *im = spoil(ctx, sharp, psf, MGVI_EDGES_REFLECT, .01, 2);
            outcome o = restore(ctx, im, psf, NULL, "noise=.01 max_iter=300");
            CHECK(isnan(o.info.psnr) && !o.info.noise_estimated);
            for (int64_t p = 0; p < mgvi_image_numbers(o.image); p++)
                CHECK_THAT(o.image->pixels[p] >= 0 && o.image->pixels[p] <= 1, "pixel %d", (int)p);
            mgv_image_free(ctx, o.image);
            mgv_image_free(ctx, im);
            mgv_image_free(ctx, sharp);
            mgv_image_free(ctx, psf);
        }
    mgv_ctx_free(ctx);
}

TEST(threads_change_no_bit)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_image *sharp = scene(ctx, 150, 130, 3), *psf;
    CHECK_OK(ctx, mgv_psf_gaussian(ctx, 1.2, &psf));
    mgv_image *im = spoil(ctx, sharp, psf, MGVI_EDGES_REFLECT, .03, 4);
    outcome first = {0};
    for (int threads = 1; threads <= 5; threads += 2) {
        CHECK_OK(ctx, mgv_ctx_set_threads(ctx, threads));
        outcome o = restore(ctx, im, psf, sharp, "");
        if (first.image)
            CHECK_THAT(memcmp(first.image->pixels, o.image->pixels,
                              (size_t)mgvi_image_numbers(im) * sizeof(double)) == 0 &&
                           first.info.psnr == o.info.psnr,
                       "%d threads", threads);
        mgv_image_free(ctx, first.image);
        first = o;
    }
    mgv_image_free(ctx, first.image);
    mgv_image_free(ctx, im);
    mgv_image_free(ctx, sharp);
    mgv_image_free(ctx, psf);
    mgv_ctx_free(ctx);
}

/* A noise far too small: the run ends when its residual rests, and says why. */
static int warnings;
static int count_warnings(void *user, const mgv_event *e)
{
    (void)user;
    warnings += e->kind == MGV_EVENT_LOG && e->level == MGV_WARNING && strstr(e->text, "rests");
    return 0;
}

TEST(too_small_a_noise_ends_the_run)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_image *sharp = scene(ctx, 60, 60, 1), *psf;
    CHECK_OK(ctx, mgv_psf_gaussian(ctx, 2.5, &psf));
    mgv_image *im = spoil(ctx, sharp, psf, MGVI_EDGES_REFLECT, .03, 6);
    mgv_ctx_on_event(ctx, count_warnings, NULL);
    outcome o = restore(ctx, im, psf, sharp, "noise=.02");
    CHECK_THAT(o.info.stop == MGV_STOP_STALLED && o.info.iterations <= 800, "%s after %d",
               mgv_stop_name(o.info.stop), (int)o.info.iterations);
    CHECK(warnings == 1);
    mgv_ctx_on_event(ctx, NULL, NULL);
    mgv_image_free(ctx, o.image);
    mgv_image_free(ctx, im);
    mgv_image_free(ctx, sharp);
    mgv_image_free(ctx, psf);
    mgv_ctx_free(ctx);
}

TEST(wrong_arguments_are_refused)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_settings *s = settings_of(ctx, "");
    mgv_image *im = scene(ctx, 10, 12, 1), *other = scene(ctx, 12, 10, 1),
              *colour = scene(ctx, 3, 3, 3), *psf;
    mgv_deblur *d;
    CHECK_OK(ctx, mgv_psf_gaussian(ctx, 1, &psf));
    CHECK_FAILS(ctx, mgv_deblur_new(ctx, NULL, psf, NULL, s, &d), MGV_E_ARG, "image is NULL");
    CHECK_FAILS(ctx, mgv_deblur_new(ctx, im, NULL, NULL, s, &d), MGV_E_ARG, "psf is NULL");
    CHECK_FAILS(ctx, mgv_deblur_new(ctx, im, colour, NULL, s, &d), MGV_E_ARG, "3 channels");
    CHECK_FAILS(ctx, mgv_deblur_new(ctx, im, im, NULL, s, &d), MGV_E_ARG, "odd numbers");
    CHECK_FAILS(ctx, mgv_deblur_new(ctx, im, psf, other, s, &d), MGV_E_INPUT, "the truth 12 x 10");
    CHECK_FAILS(ctx, mgv_settings_set(ctx, s, "noise", "5"), MGV_E_ARG, "noise");
    mgv_image_free(ctx, im);
    mgv_image_free(ctx, other);
    mgv_image_free(ctx, colour);
    mgv_image_free(ctx, psf);
    mgv_settings_free(ctx, s);
    mgv_ctx_free(ctx);
}

typedef struct everything {
    mgv_settings *settings;
    mgv_image *image, *psf, *restored;
    mgv_deblur *deblur;
    char *json;
} everything;

static mgv_status use_everything(mgv_ctx *ctx, everything *e)
{
    double pixels[6 * 7 * 3];
    for (int i = 0; i < 6 * 7 * 3; i++)
        pixels[i] = .5 + .3 * sin(i);
    MGVI_TRY(mgv_settings_new(ctx, &e->settings));
    MGVI_TRY(mgv_settings_set(ctx, e->settings, "max_iter", "3"));
    MGVI_TRY(mgv_image_new(ctx, 6, 7, 3, pixels, &e->image));
    MGVI_TRY(mgv_psf_gaussian(ctx, .7, &e->psf));
    MGVI_TRY(mgv_deblur_new(ctx, e->image, e->psf, e->image, e->settings, &e->deblur));
    MGVI_TRY(mgv_deblur_run(ctx, e->deblur));
    MGVI_TRY(mgv_deblur_image(ctx, e->deblur, &e->restored));
    return mgv_report_deblur(ctx, e->deblur, "in", "psf", NULL, &e->json);
}

TEST(every_failing_allocation_is_survived)
{
    for (long fail_at = 1, done = 0; !done; fail_at++) {
        mgv_check_allocator a;
        mgv_check_allocator_init(&a, 0);
        mgv_ctx *ctx;
        CHECK(mgv_ctx_new(&a.hooks, &ctx) == MGV_OK);
        atomic_store(&a.calls, 0);
        a.fail_at = fail_at;
        everything e = {0};
        const mgv_status st = use_everything(ctx, &e);
        CHECK_THAT(st == MGV_OK || (st == MGV_E_MEMORY && mgv_ctx_error(ctx)[0]), "%ld: %s: %s",
                   fail_at, mgv_status_name(st), mgv_ctx_error(ctx));
        done = st == MGV_OK;
        mgv_string_free(ctx, e.json);
        mgv_image_free(ctx, e.restored);
        mgv_deblur_free(ctx, e.deblur);
        mgv_image_free(ctx, e.image);
        mgv_image_free(ctx, e.psf);
        mgv_settings_free(ctx, e.settings);
        mgv_ctx_free(ctx);
        CHECK(atomic_load(&a.live) == 0);
        CHECK(fail_at < 400);
    }
}

int main(void)
{
    return RUN(noise_is_estimated, images_are_restored, odd_shapes_are_restored,
               threads_change_no_bit, too_small_a_noise_ends_the_run, wrong_arguments_are_refused,
               every_failing_allocation_is_survived);
}
