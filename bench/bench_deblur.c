/* bench_deblur.c - deblurring beside scikit-image: PSNR and seconds on the same blurred and noisy
 * numbers. usage: bench_deblur SCRATCH [DATA]   (DATA has camera512.png; without it a drawn scene)
 *
 * Ours is what `margrave deblur --psf-sigma S` does: the noise is estimated, the run stops at it.
 * `best` is the best iterate of a run twice as long, known with the truth only. The last case is
 * cut out of a larger blurred image, so that no convention about edges holds. Seconds are the least
 * of three, from pixels in memory to pixels in memory. */
#include "base/clock.h"
#include "base/rng.h"
#include "op/op.h"
#include "restore/deblur.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 3, CUT = 40 };

static mgv_ctx *ctx;
static mgv_settings *settings;

static void must(mgv_status st, const char *what)
{
    if (st == MGV_OK)
        return;
    fprintf(stderr, "bench_deblur: %s: %s\n", what, mgv_ctx_error(ctx));
    exit(1);
}

/* Discs of several greys on a slope, where there is no photograph. */
static mgv_image *draw_scene(void)
{
    enum { SIDE = 512, DISCS = 40 };
    mgvi_rng rng = mgvi_rng_seed(1);
    double *x = malloc((size_t)SIDE * SIDE * sizeof *x);
    mgv_image *image;
    for (int p = 0; p < SIDE * SIDE; p++)
        x[p] = .3 + .3 * (p / SIDE) / SIDE;
    for (int d = 0; d < DISCS; d++) {
        const double cy = SIDE * mgvi_rng_uniform(&rng), cx = SIDE * mgvi_rng_uniform(&rng),
                     r = 8 + 50 * mgvi_rng_uniform(&rng), grey = mgvi_rng_uniform(&rng);
        for (int p = 0; p < SIDE * SIDE; p++)
            if (hypot(p / SIDE - cy, p % SIDE - cx) < r)
                x[p] = .3 * x[p] + .7 * grey;
    }
    must(mgv_image_new(ctx, SIDE, SIDE, 1, x, &image), "scene");
    free(x);
    return image;
}

typedef struct set {
    mgv_image *truth, *image, *psf;
} set;

static mgv_image *cut_out(mgv_image *from)
{
    const int64_t h = from->height - 2 * CUT, w = from->width - 2 * CUT;
    mgv_image *to;
    must(mgvi_image_new(ctx, "cut", h, w, 1, false, &to), "cut");
    for (int64_t i = 0; i < h; i++)
        memcpy(to->pixels + i * w, from->pixels + (i + CUT) * from->width + CUT,
               (size_t)w * sizeof *to->pixels);
    mgv_image_free(ctx, from);
    return to;
}

static set make_set(const mgv_image *sharp, double sigma, double noise, bool cut)
{
    const int64_t n = sharp->height * sharp->width;
    mgvi_rng rng = mgvi_rng_seed(7);
    mgvi_op *A;
    set s;
    must(mgv_psf_gaussian(ctx, sigma, &s.psf), "psf");
    must(mgv_image_new(ctx, sharp->height, sharp->width, 1, sharp->pixels, &s.truth), "truth");
    must(mgv_image_new(ctx, sharp->height, sharp->width, 1, sharp->pixels, &s.image), "image");
    must(mgvi_op_blur(ctx, sharp->height, sharp->width, s.psf->pixels, s.psf->height, s.psf->width,
                      MGVI_EDGES_REFLECT, 1, &A),
         "blur");
    const mgvi_vec x = mgvi_vec_wrap(s.truth->pixels, n, MGVI_COLS);
    mgvi_vec y = mgvi_vec_wrap(s.image->pixels, n, MGVI_ROWS);
    mgvi_op_mul(A, 1, &x, 0, &y);
    mgvi_op_free(A);
    for (int64_t i = 0; i < n; i++)
        s.image->pixels[i] += noise * mgvi_rng_normal(&rng);
    if (cut) {
        s.truth = cut_out(s.truth);
        s.image = cut_out(s.image);
    }
    return s;
}

static void free_set(set *s)
{
    mgv_image_free(ctx, s->truth);
    mgv_image_free(ctx, s->image);
    mgv_image_free(ctx, s->psf);
}

static mgv_deblur_info restore(const set *s, const mgv_image *truth, double *seconds)
{
    mgv_deblur_info info = {.size = sizeof info};
    mgv_deblur *d;
    mgv_image *out;
    const double start = mgvi_clock_seconds();
    must(mgv_deblur_new(ctx, s->image, s->psf, truth, settings, &d), "deblur");
    must(mgv_deblur_run(ctx, d), "run");
    must(mgv_deblur_image(ctx, d, &out), "image");
    *seconds = mgvi_clock_seconds() - start;
    mgv_deblur_describe(d, &info);
    mgv_image_free(ctx, out);
    mgv_deblur_free(ctx, d);
    return info;
}

static void set_text(const char *name, const char *value)
{
    must(mgv_settings_set(ctx, settings, name, value), name);
}

typedef struct found {
    double seconds, psnr;
} found;

static found report(const set *s)
{
    double least = INFINITY, seconds;
    for (int r = 0; r < REPEATS; r++) {
        restore(s, NULL, &seconds);
        least = fmin(least, seconds);
    }
    const mgv_deblur_info stop = restore(s, s->truth, &seconds);
    char most[32];
    snprintf(most, sizeof most, "%d", (int)(2 * stop.iterations + 20));
    set_text("max_iter", most);
    set_text("noise_factor", "0.5");
    const mgv_deblur_info all = restore(s, s->truth, &seconds);
    set_text("max_iter", "10000");
    set_text("noise_factor", "0.985");
    printf("  %-44s %6.2f dB\n", "blurred and noisy", stop.psnr_image);
    printf("  %-44s %6.2f dB  %7.3f s  %d iterations, noise %.4f; best iterate %.2f (%d)\n",
           "margrave deblur", stop.psnr, least, (int)stop.iterations, stop.noise, all.best_psnr,
           (int)all.best_iteration);
    fflush(stdout);
    return (found){least, stop.psnr};
}

static void save(const char *folder, const char *name, const mgv_image *image)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(image->pixels, sizeof *image->pixels, (size_t)mgvi_image_numbers(image), f) !=
                  (size_t)mgvi_image_numbers(image)) {
        fprintf(stderr, "bench_deblur: cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

/* peer_deblur.py leaves the rows of the results, for us too. */
static void run_peers(const char *folder, const set *s, const char *name, found ours)
{
    char command[600];
    save(folder, "truth", s->truth);
    save(folder, "image", s->image);
    save(folder, "psf", s->psf);
    snprintf(command, sizeof command, "python3 bench/peer_deblur.py %s %d %d %d '%s' %g %g", folder,
             (int)s->image->height, (int)s->image->width, (int)s->psf->width, name, ours.seconds,
             ours.psnr);
    if (system(command) != 0)
        fprintf(stderr, "bench_deblur: peer_deblur.py failed\n");
}

int main(int argc, char **argv)
{
    static const struct {
        double sigma, noise;
        bool cut;
    } cases[] = {{1.5, .02, false},  {1, .02, false},   {3, .02, false},
                 {1.5, .005, false}, {1.5, .05, false}, {1.5, .02, true}};
    mgv_image *sharp;
    char file[600];
    if (argc < 2 || mgv_ctx_new(NULL, &ctx) != MGV_OK)
        return 2;
    must(mgv_settings_new(ctx, &settings), "settings");
    snprintf(file, sizeof file, "%s/camera512.png", argc > 2 ? argv[2] : ".");
    if (argc < 3 || mgv_image_read(ctx, file, &sharp) != MGV_OK) {
        fprintf(stderr, "deblur: no camera512.png in MARGRAVE_DATA; a drawn scene stands for it\n");
        sharp = draw_scene();
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set s = make_set(sharp, cases[i].sigma, cases[i].noise, cases[i].cut);
        char name[120];
        snprintf(name, sizeof name, "%d x %d, Gaussian of width %g, noise %g%s",
                 (int)s.image->height, (int)s.image->width, cases[i].sigma, cases[i].noise,
                 cases[i].cut ? ", cut out" : "");
        printf("%s, %d threads\n", name, mgv_ctx_threads(ctx));
        run_peers(argv[1], &s, name, report(&s));
        free_set(&s);
    }
    mgv_image_free(ctx, sharp);
    mgv_settings_free(ctx, settings);
    mgv_ctx_free(ctx);
    return 0;
}
