/* blur.c - convolution with a point spread function by FFT.
 *   y = C F^-1 diag(h) F E x,   A'u = E' F^-1 diag(conj h) F C' u
 * E lays the image on a grid and continues it beyond its edges, C cuts it out again. Reflecting
 * edges need a margin of half the PSF's size on every side; periodic ones need none, the grid is
 * the image. Transforms are FFTW's, planned by estimate: a plan found by timing would give other
 * bits on the next run. */
#include "op/blur_lines.h"

#include "base/memory.h"

#include <assert.h>
#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

typedef struct axis {
    int64_t size, grid, margin;
    int64_t *source; /* grid: which pixel continues the image here; -1: none is needed */
} axis;

typedef struct blur {
    mgvi_op op;
    axis y, x;
    double *image;           /* grid y x grid x */
    fftw_complex *spectrum;  /* grid y x (grid x / 2 + 1) */
    fftw_complex *transform; /* of the PSF, divided by the number of grid points */
    fftw_plan forward, backward;
} blur;

extern const mgvi_op_ops mgvi_operator_blur;

/* FFTW's planner is the only part of it that is not reentrant. */
static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

static int64_t spectrum_size(const blur *b) { return b->y.grid * (b->x.grid / 2 + 1); }

static void filter(const blur *b, bool conjugate)
{
    fftw_execute(b->forward);
    for (int64_t i = 0; i < spectrum_size(b); i++)
        b->spectrum[i] *= conjugate ? conj(b->transform[i]) : b->transform[i];
    fftw_execute(b->backward);
}

/* E x */
static void extend(const blur *b, const double *x, int32_t k)
{
    for (int64_t i = 0; i < b->y.grid; i++) {
        double *line = b->image + i * b->x.grid;
        const int64_t row = b->y.source[i];
        for (int64_t j = 0; j < b->x.grid; j++) {
            const int64_t col = b->x.source[j];
            line[j] = row < 0 || col < 0 ? 0 : x[(row * b->x.size + col) * k];
        }
    }
}

/* y = alpha C image + beta y */
static void cut(const blur *b, double alpha, double beta, double *y, int32_t k)
{
    for (int64_t i = 0; i < b->y.size; i++) {
        const double *line = b->image + (i + b->y.margin) * b->x.grid + b->x.margin;
        for (int64_t j = 0; j < b->x.size; j++) {
            double *out = &y[(i * b->x.size + j) * k];
            *out = alpha * line[j] + (beta == 0 ? 0 : beta * *out);
        }
    }
}

/* C'u */
static void place(const blur *b, const double *u, int32_t k)
{
    memset(b->image, 0, (size_t)(b->y.grid * b->x.grid) * sizeof *b->image);
    for (int64_t i = 0; i < b->y.size; i++) {
        double *line = b->image + (i + b->y.margin) * b->x.grid + b->x.margin;
        for (int64_t j = 0; j < b->x.size; j++)
            line[j] = u[(i * b->x.size + j) * k];
    }
}

/* g = alpha E' image + beta g */
static void fold(const blur *b, double alpha, double beta, double *g, int32_t k)
{
    for (int64_t p = 0; p < b->op.cols; p++)
        g[p * k] = beta == 0 ? 0 : beta * g[p * k];
    for (int64_t i = 0; i < b->y.grid; i++) {
        const double *line = b->image + i * b->x.grid;
        const int64_t row = b->y.source[i];
        for (int64_t j = 0; row >= 0 && j < b->x.grid; j++)
            if (b->x.source[j] >= 0)
                g[(row * b->x.size + b->x.source[j]) * k] += alpha * line[j];
    }
}

static void blur_mul(mgvi_op *op, double alpha, const mgvi_vec *x, double beta, mgvi_vec *y)
{
    const blur *b = (const blur *)op;
    assert(x->k == y->k && x->n == op->cols && y->n == op->rows);
    for (int32_t c = 0; c < x->k; c++) {
        extend(b, x->x + c, x->k);
        filter(b, false);
        cut(b, alpha, beta, y->x + c, x->k);
    }
    op->touched += (double)op->nnz;
}

static void blur_mul_t(mgvi_op *op, double alpha, const mgvi_vec *u, double beta, mgvi_vec *g)
{
    const blur *b = (const blur *)op;
    assert(u->k == g->k && g->n == op->cols && u->n == op->rows);
    for (int32_t c = 0; c < u->k; c++) {
        place(b, u->x + c, u->k);
        filter(b, true);
        fold(b, alpha, beta, g->x + c, u->k);
    }
    op->touched += (double)op->nnz;
}

static void blur_free(mgvi_op *op)
{
    blur *b = (blur *)op;
    mgv_ctx *ctx = op->ctx;
    pthread_mutex_lock(&planner);
    if (b->forward)
        fftw_destroy_plan(b->forward);
    if (b->backward)
        fftw_destroy_plan(b->backward);
    pthread_mutex_unlock(&planner);
    mgvi_release(ctx, b->y.source);
    mgvi_release(ctx, b->x.source);
    mgvi_release(ctx, b->image);
    mgvi_release(ctx, b->spectrum);
    mgvi_release(ctx, b->transform);
    mgvi_release(ctx, b);
}

const mgvi_op_ops mgvi_operator_blur = {
    .name = "blur",
    .summary = "convolution of an image with a point spread function, by FFT",
    .can = MGVI_MUL | MGVI_MUL_T,
    .mul = blur_mul,
    .mul_t = blur_mul_t,
    .free = blur_free,
};

/* ---- making it ------------------------------------------------------------------------------ */
/* The next number without prime factors above 7: FFTW is fast there. */
static int64_t smooth_size(int64_t n)
{
    for (;; n++) {
        int64_t rest = n;
        for (int prime = 2; prime <= 7; prime++)
            while (rest % prime == 0)
                rest /= prime;
        if (rest == 1)
            return n;
    }
}

static mgv_status make_axis(mgv_ctx *ctx, int64_t size, int64_t psf, mgvi_edges edges, axis *out)
{
    const bool reflect = edges == MGVI_EDGES_REFLECT;
    out->size = size;
    out->margin = reflect ? psf / 2 : 0;
    out->grid = reflect ? smooth_size(size + 2 * out->margin) : size;
    out->source = mgvi_alloc(ctx, (size_t)out->grid, sizeof *out->source);
    if (!out->source)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < out->grid; i++)
        out->source[i] = i < size + 2 * out->margin ? mgvi_line_source(i - out->margin, size, edges)
                                                    : (int64_t)-1;
    return MGV_OK;
}

static mgv_status make_plans(mgv_ctx *ctx, blur *b)
{
    const int height = (int)b->y.grid, width = (int)b->x.grid;
    b->image = mgvi_zeros(ctx, (size_t)(b->y.grid * b->x.grid), sizeof *b->image);
    b->spectrum = mgvi_alloc(ctx, (size_t)spectrum_size(b), sizeof *b->spectrum);
    b->transform = mgvi_alloc(ctx, (size_t)spectrum_size(b), sizeof *b->transform);
    if (!b->image || !b->spectrum || !b->transform)
        return MGV_E_MEMORY;
    pthread_mutex_lock(&planner);
    b->forward = fftw_plan_dft_r2c_2d(height, width, b->image, b->spectrum, FFTW_ESTIMATE);
    b->backward = fftw_plan_dft_c2r_2d(height, width, b->spectrum, b->image, FFTW_ESTIMATE);
    pthread_mutex_unlock(&planner);
    return b->forward && b->backward
               ? MGV_OK
               : MGVI_FAIL(ctx, MGV_E_MEMORY, "no plan for a transform of %d x %d", height, width);
}

/* The PSF's middle goes to grid point (0, 0); where it is larger than a periodic image it wraps. */
static void transform_psf(blur *b, const double *psf, int64_t height, int64_t width)
{
    const double points = (double)b->y.grid * (double)b->x.grid;
    for (int64_t i = 0; i < height; i++)
        for (int64_t j = 0; j < width; j++) {
            const int64_t row = ((i - height / 2) % b->y.grid + b->y.grid) % b->y.grid;
            const int64_t col = ((j - width / 2) % b->x.grid + b->x.grid) % b->x.grid;
            b->image[row * b->x.grid + col] += psf[i * width + j] / points;
        }
    fftw_execute(b->forward);
    memcpy(b->transform, b->spectrum, (size_t)spectrum_size(b) * sizeof *b->transform);
}

static mgv_status check_shapes(mgv_ctx *ctx, int64_t height, int64_t width, const double *psf,
                               int64_t psf_height, int64_t psf_width)
{
    enum { LARGEST = 1 << 15 }; /* FFTW counts in int, and so do sums of two sizes */
    if (height < 1 || width < 1 || height > LARGEST || width > LARGEST)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "an image of %" PRId64 " x %" PRId64 "; allowed: 1 to %d each way", height,
                         width, LARGEST);
    if (psf_height < 1 || psf_width < 1 || psf_height > LARGEST || psf_width > LARGEST ||
        psf_height % 2 == 0 || psf_width % 2 == 0)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "a point spread function of %" PRId64 " x %" PRId64
                         "; allowed: odd numbers up to %d",
                         psf_height, psf_width, LARGEST);
    for (int64_t i = 0; i < psf_height * psf_width; i++)
        if (!isfinite(psf[i]))
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "entry %" PRId64 " of the point spread function is %g", i, psf[i]);
    return MGV_OK;
}

/* Whether psf = column row' to rounding, with column and row filled in. */
static bool is_product(const double *psf, int64_t height, int64_t width, double *column,
                       double *row)
{
    int64_t at = 0;
    for (int64_t p = 0; p < height * width; p++)
        if (fabs(psf[p]) > fabs(psf[at]))
            at = p;
    const double most = psf[at];
    for (int64_t j = 0; j < width; j++)
        row[j] = psf[at / width * width + j];
    for (int64_t i = 0; i < height; i++)
        column[i] = most != 0 ? psf[i * width + at % width] / most : 0;
    for (int64_t p = 0; p < height * width; p++)
        if (fabs(psf[p] - column[p / width] * row[p % width]) > 1e-15 * fabs(most))
            return false;
    return true;
}

/* Two passes cost psf_height + psf_width multiplications a pixel, transforms some hundred: measured
 * in docs/algorithms/deblurring.md. *out stays NULL where transforms are the better way. */
static mgv_status try_direct(mgv_ctx *ctx, int64_t height, int64_t width, const double *psf,
                             int64_t psf_height, int64_t psf_width, mgvi_edges edges, int32_t lanes,
                             mgvi_op **out)
{
    enum { MOST_TAPS = 160 };
    mgv_status st = MGV_OK;
    if (psf_height + psf_width > MOST_TAPS)
        return MGV_OK;
    double column[MOST_TAPS], row[MOST_TAPS];
    if (is_product(psf, psf_height, psf_width, column, row))
        st = mgvi_op_blur_direct(ctx, height, width, column, psf_height, row, psf_width, edges,
                                 lanes, out);
    return st;
}

mgv_status mgvi_op_blur(mgv_ctx *ctx, int64_t height, int64_t width, const double *psf,
                        int64_t psf_height, int64_t psf_width, mgvi_edges edges, int32_t lanes,
                        mgvi_op **out)
{
    mgv_status st;
    *out = NULL;
    MGVI_TRY(mgvi_op_check_lanes(ctx, lanes));
    MGVI_TRY(check_shapes(ctx, height, width, psf, psf_height, psf_width));
    MGVI_TRY(try_direct(ctx, height, width, psf, psf_height, psf_width, edges, lanes, out));
    if (*out)
        return MGV_OK;
    blur *b = mgvi_new(ctx, sizeof *b);
    if (!b)
        return MGV_E_MEMORY;
    b->op = (mgvi_op){.ops = &mgvi_operator_blur,
                      .ctx = ctx,
                      .rows = height * width,
                      .cols = height * width,
                      .nnz = height * width,
                      .lanes = lanes};
    MGVI_CHECK(st, fail, make_axis(ctx, height, psf_height, edges, &b->y));
    MGVI_CHECK(st, fail, make_axis(ctx, width, psf_width, edges, &b->x));
    MGVI_CHECK(st, fail, make_plans(ctx, b));
    transform_psf(b, psf, psf_height, psf_width);
    *out = &b->op;
    return MGV_OK;
fail:
    mgvi_op_free(&b->op);
    return st;
}
