/* diff.c - forward differences of a line of numbers and of an image.
 *   1-D: y_i = x_{i+1} - x_i,                  (A'u)_i = u_{i-1} - u_i
 *   2-D: y_2p = x(i, j+1) - x(i, j), y_2p+1 = x(i+1, j) - x(i, j), nothing beyond the edge.
 * Both products gather, so that they are parallel over their outputs. */
#include "op/op.h"

#include "base/limit.h"

#include "base/memory.h"
#include "base/threads.h"

#include <assert.h>

typedef struct diff {
    mgvi_op op;
    int64_t height, width; /* 1-D: 1 x n */
} diff;

typedef struct job {
    const diff *d;
    int64_t count, blocks; /* lines of the output: entries, or rows of the image */
    int32_t k;
    double alpha, beta;
    const double *in;
    double *out;
} job;

enum { GRAIN = 1 << 15, BLOCKS = 64 };

extern const mgvi_op_ops mgvi_operator_diff1d, mgvi_operator_diff2d;

static void run(mgvi_op *op, mgvi_block_fn fn, int64_t count, job j)
{
    j.d = (const diff *)op;
    j.count = count;
    j.blocks = mgvi_block_count(op->cols * j.k, GRAIN, BLOCKS);
    if (j.blocks > count)
        j.blocks = count > 0 ? count : 1;
    mgvi_ctx_run(op->ctx, j.blocks, fn, &j);
    op->touched += (double)op->nnz;
}

static inline void put(const job *j, int64_t at, double value)
{
    j->out[at] = j->alpha * value + (j->beta == 0 ? 0 : j->beta * j->out[at]);
}

#define FOR_LINES(j, block, i)                                                                     \
    for (int64_t i = mgvi_block_begin((j)->count, (j)->blocks, block),                             \
                 i##_end = mgvi_block_begin((j)->count, (j)->blocks, (block) + 1);                 \
         i < i##_end; i++)

/* ---- 1-D ------------------------------------------------------------------------------------ */
static void line_block(void *arg, int64_t block)
{
    const job *j = arg;
    const int32_t k = j->k;
    FOR_LINES(j, block, i)
    for (int32_t c = 0; c < k; c++)
        put(j, i * k + c, j->in[(i + 1) * k + c] - j->in[i * k + c]);
}

static void line_t_block(void *arg, int64_t block)
{
    const job *j = arg;
    const int32_t k = j->k;
    const int64_t last = j->count - 1;
    FOR_LINES(j, block, i)
    for (int32_t c = 0; c < k; c++)
        put(j, i * k + c, (i > 0 ? j->in[(i - 1) * k + c] : 0) - (i < last ? j->in[i * k + c] : 0));
}

/* ---- 2-D ------------------------------------------------------------------------------------ */
/* A line of differences to the right and down; `below` is the line below, or the same where there
 * is none. */
static inline void image_line(const job *j, const double *line, const double *below, int64_t width,
                              int64_t k, double *out)
{
    const double alpha = j->alpha, beta = j->beta;
    const int64_t last = (width - 1) * k;
    for (int64_t col = 0; col < width; col++)
        for (int64_t c = 0; c < k; c++) {
            const int64_t p = col * k + c, at = 2 * col * k + c;
            const double right = p < last ? line[p + k] - line[p] : 0, down = below[p] - line[p];
            out[at] = alpha * right + (beta == 0 ? 0 : beta * out[at]);
            out[at + k] = alpha * down + (beta == 0 ? 0 : beta * out[at + k]);
        }
}

static void image_block(void *arg, int64_t block)
{
    const job *j = arg;
    const int64_t k = j->k, width = j->d->width, n = width * k;
    FOR_LINES(j, block, i)
    {
        const double *line = j->in + i * n, *below = i + 1 < j->d->height ? line + n : line;
        if (k == 1)
            image_line(j, line, below, width, 1, j->out + 2 * i * n);
        else
            image_line(j, line, below, width, k, j->out + 2 * i * n);
    }
}

/* A line of the transpose: u comes in pairs, `above` are those of the line above or NULL; the pairs
 * of the last column and line have no right and no down. */
static inline void image_t_line(const job *j, const double *u, const double *above, bool last,
                                int64_t width, int64_t k, double *out)
{
    const double alpha = j->alpha, beta = j->beta, down = last ? 0 : 1;
    for (int64_t col = 0; col < width; col++)
        for (int64_t c = 0; c < k; c++) {
            const int64_t at = 2 * col * k + c, p = col * k + c;
            double sum = -down * u[at + k];
            if (col > 0)
                sum += u[at - 2 * k];
            if (col + 1 < width)
                sum -= u[at];
            if (above)
                sum += above[at + k];
            out[p] = alpha * sum + (beta == 0 ? 0 : beta * out[p]);
        }
}

static void image_t_block(void *arg, int64_t block)
{
    const job *j = arg;
    const int64_t k = j->k, width = j->d->width, n = width * k;
    FOR_LINES(j, block, i)
    {
        const double *u = j->in + 2 * i * n, *above = i > 0 ? u - 2 * n : NULL;
        const bool last = i + 1 == j->d->height;
        if (k == 1)
            image_t_line(j, u, above, last, width, 1, j->out + i * n);
        else
            image_t_line(j, u, above, last, width, k, j->out + i * n);
    }
}

static void product(mgvi_op *op, bool t, double alpha, const mgvi_vec *in, double beta,
                    mgvi_vec *out)
{
    const bool line = op->ops == &mgvi_operator_diff1d;
    const mgvi_block_fn fn =
        line ? (t ? line_t_block : line_block) : (t ? image_t_block : image_block);
    assert(in->k == out->k && in->n == (t ? op->rows : op->cols));
    run(op, fn, line ? out->n : ((diff *)op)->height,
        (job){.k = in->k, .alpha = alpha, .beta = beta, .in = in->x, .out = out->x});
}

static void diff_mul(mgvi_op *op, double alpha, const mgvi_vec *x, double beta, mgvi_vec *y)
{
    product(op, false, alpha, x, beta, y);
}

static void diff_mul_t(mgvi_op *op, double alpha, const mgvi_vec *u, double beta, mgvi_vec *g)
{
    product(op, true, alpha, u, beta, g);
}

static void diff_free(mgvi_op *op) { mgvi_release(op->ctx, op); }

const mgvi_op_ops mgvi_operator_diff1d = {
    .name = "diff1d",
    .summary = "differences of neighbours",
    .can = MGVI_MUL | MGVI_MUL_T,
    .mul = diff_mul,
    .mul_t = diff_mul_t,
    .free = diff_free,
};
const mgvi_op_ops mgvi_operator_diff2d = {
    .name = "diff2d",
    .summary = "differences of neighbouring pixels, to the right and down",
    .can = MGVI_MUL | MGVI_MUL_T,
    .mul = diff_mul,
    .mul_t = diff_mul_t,
    .free = diff_free,
};

static mgv_status make(mgv_ctx *ctx, const mgvi_op_ops *ops, int64_t height, int64_t width,
                       int64_t rows, int32_t lanes, mgvi_op **out)
{
    diff *d = mgvi_new(ctx, sizeof *d);
    if (!d)
        return MGV_E_MEMORY;
    d->height = height;
    d->width = width;
    d->op = (mgvi_op){.ops = ops,
                      .ctx = ctx,
                      .rows = rows,
                      .cols = height * width,
                      .nnz = height * width,
                      .lanes = lanes};
    *out = &d->op;
    return MGV_OK;
}

mgv_status mgvi_op_diff1d(mgv_ctx *ctx, int64_t n, int32_t lanes, mgvi_op **out)
{
    *out = NULL;
    MGVI_TRY(mgvi_op_check_lanes(ctx, lanes));
    if (n < 1)
        return MGVI_FAIL(ctx, MGV_E_ARG, "differences of %" PRId64 " numbers", n);
    return make(ctx, &mgvi_operator_diff1d, 1, n, n - 1, lanes, out);
}

mgv_status mgvi_op_diff2d(mgv_ctx *ctx, int64_t height, int64_t width, int32_t lanes, mgvi_op **out)
{
    int64_t rows;
    *out = NULL;
    MGVI_TRY(mgvi_op_check_lanes(ctx, lanes));
    if (height < 1 || width < 1 || __builtin_mul_overflow(height, width, &rows) ||
        __builtin_mul_overflow(rows, 2, &rows))
        return MGVI_FAIL(ctx, MGV_E_ARG, "differences of an image of %" PRId64 " x %" PRId64,
                         height, width);
    return make(ctx, &mgvi_operator_diff2d, height, width, rows, lanes, out);
}
