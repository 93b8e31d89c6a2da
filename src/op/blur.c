/* blur.c - convolution with a point spread function by FFT.
 *   y = C F^-1 diag(h) F E x,   A'u = E' F^-1 diag(conj h) F C' u
 * E lays the image on a grid and continues it beyond its edges, C cuts it out again. Reflecting
 * edges need a margin of half the PSF's size on every side; periodic ones need none, the grid is
 * the image.
 *
 * F is made of transforms of eight sequences at a time (op/fft.h): sixteen lines of the image, two
 * as the real and the imaginary part of one sequence, z = a + i b,
 *
 *   A_k = (Z_k + conj Z_(n-k)) / 2,   B_k = (Z_k - conj Z_(n-k)) / (2 i)                        (1)
 *
 * then bundles of eight columns of that, which are transformed, multiplied by h and transformed
 * back while they are in the cache. Blocks of such groups are shared among our threads, and the
 * bits do not depend on how many there are. */
#include "op/blur_lines.h"

#include "base/limit.h"
#include "base/memory.h"
#include "base/threads.h"
#include "op/fft.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LANES = MGVI_FFT_LANES, ROW = MGVI_FFT_ROW, GRAIN = 1 << 14, MOST_BLOCKS = 32 };

typedef struct blur {
    mgvi_op op;
    mgvi_line y, x;
    int64_t height, width; /* of the grid */
    int64_t half;          /* width / 2 + 1: frequencies of a line */
    mgvi_fft *line, *column;
    double *image;     /* height lines of the grid */
    double *spectrum;  /* of every bundle of LANES frequencies: height rows */
    double *transform; /* of the PSF, the same, divided by the grid's size */
    double *scratch;   /* for each of MOST_BLOCKS, two vectors of `room` numbers */
    int64_t room;
} blur;

/* One product, of one lane. */
typedef struct job {
    const blur *b;
    int64_t blocks, count; /* of groups of lines, or bundles */
    int32_t k;
    double alpha, beta;
    const double *in;
    double *out;
    bool transposed;
} job;

extern const mgvi_op_ops mgvi_operator_blur;

static double *image_line(const blur *b, int64_t i) { return b->image + i * b->width; }
/* Row i of a bundle of frequencies. */
static double *bundle_row(const blur *b, double *of, int64_t bundle, int64_t i)
{
    return of + (bundle * b->height + i) * ROW;
}
static double *scratch_of(const blur *b, int64_t block) { return b->scratch + 2 * block * b->room; }
static int64_t groups(int64_t count, int64_t each) { return (count + each - 1) / each; }

#define FOR_EACH(j, block, i)                                                                      \
    for (int64_t i = mgvi_block_begin((j)->count, (j)->blocks, block),                             \
                 i##_end = mgvi_block_begin((j)->count, (j)->blocks, (block) + 1);                 \
         i < i##_end; i++)

/* ---- lines ------------------------------------------------------------------------------------
 */

/* Where number 0 of the t-th of sixteen lines lies in a vector; the next is ROW further on. */
static double *lane_of(double *z, int64_t t) { return z + (t % 2 ? LANES : 0) + t / 2; }

/* A line of E x or of C'u into `line`, which is cleared; some are 0. */
static void lay_line(const job *j, int64_t i, double *line)
{
    const blur *b = j->b;
    const int64_t reach = b->x.reach, used = b->x.size + 2 * reach;
    const bool inside = i >= b->y.reach && i < b->y.reach + b->y.size;
    if (i >= b->height || (j->transposed ? !inside : i >= b->y.size + 2 * b->y.reach))
        return;
    const double *in = j->in + (j->transposed ? i - b->y.reach : b->y.source[i]) * b->x.size * j->k;
    if (j->transposed)
        for (int64_t p = 0; p < b->x.size; p++)
            line[(reach + p) * ROW] = in[p * j->k];
    else
        for (int64_t p = 0; p < used; p++)
            line[p * ROW] = in[b->x.source[p] * j->k];
}

/* (1) of the sixteen lines from `first` on into the spectrum. */
static void split(const blur *b, const double *z, int64_t first)
{
    const int64_t lines = b->height - first < ROW ? b->height - first : ROW;
    for (int64_t k = 0; k < b->half; k++) {
        const double *own = z + k * ROW, *other = z + (b->width - k) % b->width * ROW;
        double *out = bundle_row(b, b->spectrum, k / LANES, first) + k % LANES;
        double part[4][LANES]; /* A, then B */
        for (int l = 0; l < LANES; l++) {
            part[0][l] = 0.5 * (own[l] + other[l]);
            part[1][l] = 0.5 * (own[LANES + l] - other[LANES + l]);
            part[2][l] = 0.5 * (own[LANES + l] + other[LANES + l]);
            part[3][l] = 0.5 * (other[l] - own[l]);
        }
        for (int64_t t = 0; t < lines; t++) {
            out[t * ROW] = part[t % 2 * 2][t / 2];
            out[t * ROW + LANES] = part[t % 2 * 2 + 1][t / 2];
        }
    }
}

/* The other way round: Z = A + i B of sixteen lines, Z_(n-k) = conj A_k + i conj B_k. A real line
 * has real numbers at the ends of its spectrum. */
static void join(const blur *b, int64_t first, double *z)
{
    const int64_t lines = b->height - first < ROW ? b->height - first : ROW;
    double part[4][LANES] = {{0}};
    for (int64_t k = 0; k < b->half; k++) {
        double *own = z + k * ROW, *other = z + (b->width - k) % b->width * ROW;
        const double *in = bundle_row(b, b->spectrum, k / LANES, first) + k % LANES;
        const bool end = own == other;
        for (int64_t t = 0; t < lines; t++) {
            part[t % 2 * 2][t / 2] = in[t * ROW];
            part[t % 2 * 2 + 1][t / 2] = end ? 0 : in[t * ROW + LANES];
        }
        for (int l = 0; l < LANES; l++) {
            other[l] = part[0][l] + part[3][l];
            other[LANES + l] = part[2][l] - part[1][l];
            own[l] = part[0][l] - part[3][l];
            own[LANES + l] = part[2][l] + part[1][l];
        }
    }
}

static void forward_block(void *arg, int64_t block)
{
    const job *j = arg;
    const blur *b = j->b;
    double *z = scratch_of(b, block);
    FOR_EACH(j, block, group)
    {
        memset(z, 0, (size_t)(b->width * ROW) * sizeof *z);
        for (int64_t t = 0; t < ROW; t++)
            lay_line(j, group * ROW + t, lane_of(z, t));
        split(b, mgvi_fft_run(b->line, false, z, z + b->room), group * ROW);
    }
}

/* The sixteen lines of the grid from `first` on. */
static double *lines_back(const blur *b, int64_t block, int64_t first)
{
    double *z = scratch_of(b, block);
    join(b, first, z);
    return mgvi_fft_run(b->line, true, z, z + b->room);
}

/* y = alpha C image + beta y, line by line. */
static void cut_block(void *arg, int64_t block)
{
    const job *j = arg;
    const blur *b = j->b;
    FOR_EACH(j, block, group)
    {
        const int64_t first = group * ROW;
        double *z = lines_back(b, block, first + b->y.reach);
        for (int64_t t = 0; t < ROW && first + t < b->y.size; t++) {
            const double *line = lane_of(z, t) + b->x.reach * ROW;
            double *out = j->out + (first + t) * b->x.size * j->k;
            for (int64_t p = 0; p < b->x.size; p++) {
                double *y = &out[p * j->k];
                *y = j->alpha * line[p * ROW] + (j->beta == 0 ? 0 : j->beta * *y);
            }
        }
    }
}

static void backward_block(void *arg, int64_t block)
{
    const job *j = arg;
    const blur *b = j->b;
    FOR_EACH(j, block, group)
    {
        const int64_t first = group * ROW;
        double *z = lines_back(b, block, first);
        for (int64_t t = 0; t < ROW && first + t < b->height; t++) {
            const double *line = lane_of(z, t);
            double *out = image_line(b, first + t);
            for (int64_t p = 0; p < b->width; p++)
                out[p] = line[p * ROW];
        }
    }
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

/* F in the other direction, diag(h), and back. */
static void filter_block(void *arg, int64_t block)
{
    const job *j = arg;
    const blur *b = j->b;
    const size_t bytes = (size_t)(b->height * ROW) * sizeof(double);
    double *z = scratch_of(b, block), *other = z + b->room;
    FOR_EACH(j, block, bundle)
    {
        double *rows = bundle_row(b, b->spectrum, bundle, 0);
        memcpy(z, rows, bytes);
        double *made = mgvi_fft_run(b->column, false, z, other);
        mgvi_fft_filter(b->column, made, bundle_row(b, b->transform, bundle, 0), j->transposed);
        memcpy(rows, mgvi_fft_run(b->column, true, made, made == z ? other : z), bytes);
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
        run(b, forward_block, groups(b->height, ROW), &j);
        run(b, filter_block, groups(b->half, LANES), &j);
        if (transposed) {
            run(b, backward_block, groups(b->y.size + 2 * b->y.reach, ROW), &j);
            run(b, fold_block, b->y.size, &j);
        } else {
            run(b, cut_block, groups(b->y.size, ROW), &j);
        }
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
    mgvi_fft_free(b->line);
    mgvi_fft_free(b->column);
    mgvi_line_free(ctx, &b->y);
    mgvi_line_free(ctx, &b->x);
    mgvi_release(ctx, b->image);
    mgvi_release(ctx, b->spectrum);
    mgvi_release(ctx, b->transform);
    mgvi_release(ctx, b->scratch);
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

static mgv_status make_plans(mgv_ctx *ctx, blur *b)
{
    b->half = b->width / 2 + 1;
    MGVI_TRY(mgvi_fft_new(ctx, b->width, &b->line));
    MGVI_TRY(mgvi_fft_new(ctx, b->height, &b->column));
    const int64_t wide = mgvi_fft_rows(b->line), high = mgvi_fft_rows(b->column);
    const int64_t rows = groups(b->half, LANES) * b->height;
    b->room = (wide > high ? wide : high) * ROW;
    b->image = mgvi_zeros(ctx, (size_t)(b->height * b->width), sizeof *b->image);
    b->spectrum = mgvi_zeros(ctx, (size_t)(rows * ROW), sizeof *b->spectrum);
    b->transform = mgvi_zeros(ctx, (size_t)(rows * ROW), sizeof *b->transform);
    b->scratch = mgvi_alloc(ctx, (size_t)(2 * b->room * MOST_BLOCKS), sizeof *b->scratch);
    return b->image && b->spectrum && b->transform && b->scratch ? MGV_OK : MGV_E_MEMORY;
}

/* The PSF's middle goes to grid point (0, 0); where it is larger than a periodic image it wraps. */
static void transform_psf(blur *b, const double *psf, int64_t height, int64_t width)
{
    const double points = (double)b->height * (double)b->width;
    double *z = scratch_of(b, 0), *other = z + b->room;
    for (int64_t i = 0; i < height; i++)
        for (int64_t j = 0; j < width; j++) {
            const int64_t row = ((i - height / 2) % b->height + b->height) % b->height;
            const int64_t col = ((j - width / 2) % b->width + b->width) % b->width;
            image_line(b, row)[col] += psf[i * width + j] / points;
        }
    for (int64_t first = 0; first < b->height; first += ROW) {
        memset(z, 0, (size_t)(b->width * ROW) * sizeof *z);
        for (int64_t t = 0; t < ROW && first + t < b->height; t++)
            for (int64_t p = 0; p < b->width; p++)
                lane_of(z, t)[p * ROW] = image_line(b, first + t)[p];
        split(b, mgvi_fft_run(b->line, false, z, other), first);
    }
    const size_t bytes = (size_t)(b->height * ROW) * sizeof *z;
    for (int64_t bundle = 0; bundle < groups(b->half, LANES); bundle++) {
        memcpy(z, bundle_row(b, b->spectrum, bundle, 0), bytes);
        memcpy(bundle_row(b, b->transform, bundle, 0), mgvi_fft_run(b->column, false, z, other),
               bytes);
    }
}

static mgv_status check_shapes(mgv_ctx *ctx, int64_t height, int64_t width, const double *psf,
                               int64_t psf_height, int64_t psf_width)
{
    enum { LARGEST = 1 << 15 };
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
    b->height = reflect ? mgvi_fft_size(height + 2 * up) : height;
    b->width = reflect ? mgvi_fft_size(width + 2 * left) : width;
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

/* ---- lines ----------------------------------------------------------------------------------- */

/* Mirrored at both ends, again and again, or closed to a ring. */
static int64_t source_of(int64_t i, int64_t size, mgvi_edges edges)
{
    if (edges == MGVI_EDGES_PERIODIC)
        return ((i % size) + size) % size;
    const int64_t period = 2 * size, r = ((i % period) + period) % period;
    return r < size ? r : period - 1 - r;
}

mgv_status mgvi_line_new(mgv_ctx *ctx, int64_t size, int64_t reach, mgvi_edges edges,
                         mgvi_line *out)
{
    const int64_t all = size + 2 * reach;
    *out = (mgvi_line){.size = size, .reach = reach};
    if (!(out->source = mgvi_alloc(ctx, (size_t)all, sizeof *out->source)) ||
        !(out->first = mgvi_zeros(ctx, (size_t)size + 2, sizeof *out->first)) ||
        !(out->position = mgvi_alloc(ctx, (size_t)all, sizeof *out->position)))
        return MGV_E_MEMORY;
    for (int64_t p = 0; p < all; p++) {
        out->source[p] = source_of(p - reach, size, edges);
        out->first[out->source[p] + 2]++;
    }
    for (int64_t i = 0; i < size; i++)
        out->first[i + 2] += out->first[i + 1];
    for (int64_t p = 0; p < all; p++) /* first[i + 1] moves to the end of i's list */
        out->position[out->first[out->source[p] + 1]++] = p;
    return MGV_OK;
}

void mgvi_line_free(mgv_ctx *ctx, mgvi_line *line)
{
    mgvi_release(ctx, line->source);
    mgvi_release(ctx, line->first);
    mgvi_release(ctx, line->position);
}
