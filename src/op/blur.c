/* blur.c - convolution with a point spread function by FFT.
 *   y = C F^-1 diag(h) F E x,   A'u = E' F^-1 diag(conj h) F C' u
 * E lays the image on a grid and continues it beyond its edges, C cuts it out again. Reflecting
 * edges need a margin of half the PSF's size on every side; periodic ones need none, the grid is
 * the image.
 *
 * F is made of transforms of single lines by FFTW, so that our own threads share them and the bits
 * do not depend on how many there are: lines of the image, then bundles of columns, which are
 * brought together, transformed, multiplied by h and transformed back while they are in the cache.
 * Planned by estimate: a plan found by timing would give other bits on the next run. */
#include "op/blur_lines.h"

#include "base/limit.h"
#include "base/memory.h"
#include "base/threads.h"

#include <assert.h>
#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

enum { BUNDLE = 8, GRAIN = 1 << 14, MOST_BLOCKS = 64 };

typedef struct blur {
    mgvi_op op;
    mgvi_line y, x;
    int64_t height, width; /* of the grid */
    int64_t half;          /* width / 2 + 1: frequencies of a line */
    /* Distances of lines, in numbers, a multiple of a cache line: all lines are aligned alike. */
    int64_t image_stride, spectrum_stride, column_stride;
    double *image;           /* height lines of the grid */
    fftw_complex *spectrum;  /* height lines of `half` */
    fftw_complex *columns;   /* half columns of `height` */
    fftw_complex *transform; /* of the PSF, laid out as `columns`, divided by the grid's size */
    fftw_plan line, line_back, column, column_back;
} blur;

/* One product, of one lane. */
typedef struct job {
    const blur *b;
    int64_t blocks, count; /* of lines, or bundles */
    int32_t k;
    double alpha, beta;
    const double *in;
    double *out;
    bool transposed;
} job;

extern const mgvi_op_ops mgvi_operator_blur;

/* FFTW's planner is the only part of it that is not reentrant. */
static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

static double *image_line(const blur *b, int64_t i) { return b->image + i * b->image_stride; }
static fftw_complex *spectrum_line(const blur *b, int64_t i)
{
    return b->spectrum + i * b->spectrum_stride;
}

#define FOR_EACH(j, block, i)                                                                      \
    for (int64_t i = mgvi_block_begin((j)->count, (j)->blocks, block),                             \
                 i##_end = mgvi_block_begin((j)->count, (j)->blocks, (block) + 1);                 \
         i < i##_end; i++)

/* ---- lines ------------------------------------------------------------------------------------
 */

/* A line of E x or of C'u; false: it is 0. */
static bool lay_line(const job *j, int64_t i, double *line)
{
    const blur *b = j->b;
    const int64_t reach = b->x.reach, used = b->x.size + 2 * reach;
    const bool inside = i >= b->y.reach && i < b->y.reach + b->y.size;
    if (j->transposed ? !inside : i >= b->y.size + 2 * b->y.reach)
        return false;
    const double *in = j->in + (j->transposed ? i - b->y.reach : b->y.source[i]) * b->x.size * j->k;
    memset(line, 0, (size_t)b->width * sizeof *line);
    if (j->transposed)
        for (int64_t p = 0; p < b->x.size; p++)
            line[reach + p] = in[p * j->k];
    else
        for (int64_t p = 0; p < used; p++)
            line[p] = in[b->x.source[p] * j->k];
    return true;
}

static void forward_block(void *arg, int64_t block)
{
    const job *j = arg;
    const blur *b = j->b;
    FOR_EACH(j, block, i)
    {
        double *line = image_line(b, i);
        fftw_complex *out = spectrum_line(b, i);
        if (lay_line(j, i, line))
            fftw_execute_dft_r2c(b->line, line, out);
        else
            memset(out, 0, (size_t)b->half * sizeof *out);
    }
}

/* y = alpha C image + beta y, line by line. */
static void cut_block(void *arg, int64_t block)
{
    const job *j = arg;
    const blur *b = j->b;
    FOR_EACH(j, block, i)
    {
        double *line = image_line(b, i + b->y.reach), *out = j->out + i * b->x.size * j->k;
        fftw_execute_dft_c2r(b->line_back, spectrum_line(b, i + b->y.reach), line);
        for (int64_t p = 0; p < b->x.size; p++) {
            double *y = &out[p * j->k];
            *y = j->alpha * line[b->x.reach + p] + (j->beta == 0 ? 0 : j->beta * *y);
        }
    }
}

static void backward_block(void *arg, int64_t block)
{
    const job *j = arg;
    FOR_EACH(j, block, i)
    fftw_execute_dft_c2r(j->b->line_back, spectrum_line(j->b, i), image_line(j->b, i));
}

/* g = alpha E' image + beta g: a pixel collects the positions it stands for. */
static void fold_block(void *arg, int64_t block)
{
    const job *j = arg;
    const blur *b = j->b;
    const int64_t used = b->x.size + 2 * b->x.reach;
    FOR_EACH(j, block, i)
    {
        double *out = j->out + i * b->x.size * j->k;
        for (int64_t p = 0; p < b->x.size; p++)
            out[p * j->k] = j->beta == 0 ? 0 : j->beta * out[p * j->k];
        for (int64_t at = b->y.first[i]; at < b->y.first[i + 1]; at++) {
            const double *line = image_line(b, b->y.position[at]);
            for (int64_t p = 0; p < used; p++)
                out[b->x.source[p] * j->k] += j->alpha * line[p];
        }
    }
}

/* ---- columns ----------------------------------------------------------------------------------
 */

/* Columns first .. last - 1 of the spectrum into `columns`, or back. */
static void move_columns(const blur *b, int64_t first, int64_t last, bool back)
{
    for (int64_t i = 0; i < b->height; i++) {
        fftw_complex *line = spectrum_line(b, i);
        for (int64_t c = first; c < last; c++) {
            fftw_complex *at = &b->columns[c * b->column_stride + i];
            if (back)
                line[c] = *at;
            else
                *at = line[c];
        }
    }
}

/* F in the other direction, diag(h), and back. */
static void filter_block(void *arg, int64_t block)
{
    const job *j = arg;
    const blur *b = j->b;
    FOR_EACH(j, block, bundle)
    {
        const int64_t first = bundle * BUNDLE,
                      last = first + BUNDLE < b->half ? first + BUNDLE : b->half;
        move_columns(b, first, last, false);
        for (int64_t c = first; c < last; c++) {
            fftw_complex *column = b->columns + c * b->column_stride;
            const fftw_complex *h = b->transform + c * b->column_stride;
            fftw_execute_dft(b->column, column, column);
            for (int64_t i = 0; i < b->height; i++)
                column[i] *= j->transposed ? conj(h[i]) : h[i];
            fftw_execute_dft(b->column_back, column, column);
        }
        move_columns(b, first, last, true);
    }
}

/* ---- products ---------------------------------------------------------------------------------
 */

static void run(const blur *b, mgvi_block_fn fn, int64_t count, job *j)
{
    const int64_t most = mgvi_block_count(b->height * b->width, GRAIN, MOST_BLOCKS);
    j->count = count;
    j->blocks = most < count ? most : count;
    mgvi_ctx_run(b->op.ctx, j->blocks, fn, j);
}

static void product(mgvi_op *op, bool transposed, double alpha, const mgvi_vec *in, double beta,
                    mgvi_vec *out)
{
    const blur *b = (const blur *)op;
    assert(in->k == out->k && in->n == op->cols && out->n == op->rows); /* they are the same */
    for (int32_t c = 0; c < in->k; c++) {
        job j = {.b = b,
                 .k = in->k,
                 .alpha = alpha,
                 .beta = beta,
                 .in = in->x + c,
                 .out = out->x + c,
                 .transposed = transposed};
        run(b, forward_block, b->height, &j);
        run(b, filter_block, (b->half + BUNDLE - 1) / BUNDLE, &j);
        if (transposed)
            run(b, backward_block, b->y.size + 2 * b->y.reach, &j);
        run(b, transposed ? fold_block : cut_block, b->y.size, &j);
    }
    op->touched += (double)op->nnz;
}

static void blur_mul(mgvi_op *op, double alpha, const mgvi_vec *x, double beta, mgvi_vec *y)
{
    product(op, false, alpha, x, beta, y);
}

static void blur_mul_t(mgvi_op *op, double alpha, const mgvi_vec *u, double beta, mgvi_vec *g)
{
    product(op, true, alpha, u, beta, g);
}

static void blur_free(mgvi_op *op)
{
    blur *b = (blur *)op;
    mgv_ctx *ctx = op->ctx;
    const fftw_plan plans[] = {b->line, b->line_back, b->column, b->column_back};
    pthread_mutex_lock(&planner);
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        if (plans[i])
            fftw_destroy_plan(plans[i]);
    pthread_mutex_unlock(&planner);
    mgvi_line_free(ctx, &b->y);
    mgvi_line_free(ctx, &b->x);
    mgvi_release(ctx, b->image);
    mgvi_release(ctx, b->spectrum);
    mgvi_release(ctx, b->columns);
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

static int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

static mgv_status make_plans(mgv_ctx *ctx, blur *b)
{
    const int height = (int)b->height, width = (int)b->width;
    b->half = b->width / 2 + 1;
    b->image_stride = round_up(b->width, MGVI_ALIGN / (int64_t)sizeof *b->image);
    b->spectrum_stride = round_up(b->half, MGVI_ALIGN / (int64_t)sizeof *b->spectrum);
    b->column_stride = round_up(b->height, MGVI_ALIGN / (int64_t)sizeof *b->columns);
    b->image = mgvi_zeros(ctx, (size_t)(b->height * b->image_stride), sizeof *b->image);
    b->spectrum = mgvi_zeros(ctx, (size_t)(b->height * b->spectrum_stride), sizeof *b->spectrum);
    b->columns = mgvi_zeros(ctx, (size_t)(b->half * b->column_stride), sizeof *b->columns);
    b->transform = mgvi_zeros(ctx, (size_t)(b->half * b->column_stride), sizeof *b->transform);
    if (!b->image || !b->spectrum || !b->columns || !b->transform)
        return MGV_E_MEMORY;
    pthread_mutex_lock(&planner);
    b->line = fftw_plan_dft_r2c_1d(width, b->image, b->spectrum, FFTW_ESTIMATE);
    b->line_back = fftw_plan_dft_c2r_1d(width, b->spectrum, b->image, FFTW_ESTIMATE);
    b->column = fftw_plan_dft_1d(height, b->columns, b->columns, FFTW_FORWARD, FFTW_ESTIMATE);
    b->column_back = fftw_plan_dft_1d(height, b->columns, b->columns, FFTW_BACKWARD, FFTW_ESTIMATE);
    pthread_mutex_unlock(&planner);
    return b->line && b->line_back && b->column && b->column_back
               ? MGV_OK
               : MGVI_FAIL(ctx, MGV_E_MEMORY, "no plan for a transform of %d x %d", height, width);
}

/* The PSF's middle goes to grid point (0, 0); where it is larger than a periodic image it wraps. */
static void transform_psf(blur *b, const double *psf, int64_t height, int64_t width)
{
    const double points = (double)b->height * (double)b->width;
    for (int64_t i = 0; i < height; i++)
        for (int64_t j = 0; j < width; j++) {
            const int64_t row = ((i - height / 2) % b->height + b->height) % b->height;
            const int64_t col = ((j - width / 2) % b->width + b->width) % b->width;
            image_line(b, row)[col] += psf[i * width + j] / points;
        }
    for (int64_t i = 0; i < b->height; i++)
        fftw_execute_dft_r2c(b->line, image_line(b, i), spectrum_line(b, i));
    move_columns(b, 0, b->half, false);
    for (int64_t c = 0; c < b->half; c++) {
        fftw_complex *column = b->columns + c * b->column_stride;
        fftw_execute_dft(b->column, column, column);
        memcpy(b->transform + c * b->column_stride, column, (size_t)b->height * sizeof *column);
    }
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
    const bool reflect = edges == MGVI_EDGES_REFLECT;
    const int64_t up = reflect ? psf_height / 2 : 0, left = reflect ? psf_width / 2 : 0;
    b->height = reflect ? smooth_size(height + 2 * up) : height;
    b->width = reflect ? smooth_size(width + 2 * left) : width;
    MGVI_CHECK(st, fail, mgvi_line_new(ctx, height, up, edges, &b->y));
    MGVI_CHECK(st, fail, mgvi_line_new(ctx, width, left, edges, &b->x));
    MGVI_CHECK(st, fail, make_plans(ctx, b));
    transform_psf(b, psf, psf_height, psf_width);
    *out = &b->op;
    return MGV_OK;
fail:
    mgvi_op_free(&b->op);
    return st;
}
