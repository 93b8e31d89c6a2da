/* contrast.c - differences of class scores as an operator. */
#include "op/contrast.h"

#include "base/limit.h"
#include "base/memory.h"
#include "base/threads.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { GRAIN = 1 << 13, BLOCKS = 64 };

/* ---- between scores and their differences ---------------------------------------------------- */

typedef struct sweep {
    const mgvi_contrast *c;
    int64_t blocks;
    double alpha, beta;
    const double *in;
    double *out;
} sweep;

#define FOR_EXAMPLES(s, block, i)                                                                  \
    for (int64_t i = mgvi_block_begin((s)->c->base->rows, (s)->blocks, block),                     \
                 end = mgvi_block_begin((s)->c->base->rows, (s)->blocks, (block) + 1);             \
         i < end; i++)

static void run(sweep *s, mgvi_block_fn fn)
{
    s->blocks = mgvi_block_count(s->c->op.rows, GRAIN, BLOCKS);
    mgvi_ctx_run(s->c->op.ctx, s->blocks, fn, s);
}

/* (1) */
static void differences(void *arg, int64_t block)
{
    const sweep *s = arg;
    const int32_t k = s->c->k;
    FOR_EXAMPLES(s, block, i)
    {
        const double *z = s->in + i * k, own = z[s->c->own[i]];
        double *y = s->out + i * k;
        for (int32_t j = 0; j < k; j++) {
            const double d = s->alpha * (own - z[j]);
            y[j] = s->beta == 0 ? d : d + s->beta * y[j];
        }
    }
}

/* V of (2) */
static void balances(void *arg, int64_t block)
{
    const sweep *s = arg;
    const int32_t k = s->c->k;
    FOR_EXAMPLES(s, block, i)
    {
        const double *q = s->in + i * k;
        double *v = s->out + i * k, sum = 0;
        const int32_t own = s->c->own[i];
        for (int32_t j = 0; j < k; j++) {
            v[j] = -q[j];
            sum += j == own ? 0 : q[j];
        }
        v[own] = sum;
    }
}

/* ---- products -------------------------------------------------------------------------------- */

static mgvi_vec lanes_of(double *x, int64_t n, int32_t k, mgvi_space space)
{
    return (mgvi_vec){.x = x, .n = n, .k = k, .space = space};
}

static void take_lane(const double *x, int64_t n, int32_t k, int32_t c, double *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = x[i * k + c];
}

static void put_lane(const double *in, int64_t n, int32_t k, int32_t c, double alpha, double beta,
                     double *x)
{
    for (int64_t i = 0; i < n; i++)
        x[i * k + c] = alpha * in[i] + (beta == 0 ? 0 : beta * x[i * k + c]);
}

/* scores = A W */
static void score(mgvi_contrast *c, const double *w)
{
    const mgvi_op *base = c->base;
    const int32_t k = c->k;
    if (!c->in) {
        const mgvi_vec x = lanes_of((double *)w, base->cols, k, MGVI_COLS);
        mgvi_vec z = lanes_of(c->scores, base->rows, k, MGVI_ROWS);
        mgvi_op_mul(c->base, 1, &x, 0, &z);
        return;
    }
    const mgvi_vec x = lanes_of(c->in, base->cols, 1, MGVI_COLS);
    mgvi_vec z = lanes_of(c->out, base->rows, 1, MGVI_ROWS);
    for (int32_t j = 0; j < k; j++) {
        take_lane(w, base->cols, k, j, c->in);
        mgvi_op_mul(c->base, 1, &x, 0, &z);
        put_lane(c->out, base->rows, k, j, 1, 0, c->scores);
    }
}

/* g = alpha A'scores + beta g */
static void combine(mgvi_contrast *c, double alpha, double beta, double *g)
{
    const mgvi_op *base = c->base;
    const int32_t k = c->k;
    if (!c->in) {
        const mgvi_vec u = lanes_of(c->scores, base->rows, k, MGVI_ROWS);
        mgvi_vec out = lanes_of(g, base->cols, k, MGVI_COLS);
        mgvi_op_mul_t(c->base, alpha, &u, beta, &out);
        return;
    }
    const mgvi_vec u = lanes_of(c->out, base->rows, 1, MGVI_ROWS);
    mgvi_vec out = lanes_of(c->in, base->cols, 1, MGVI_COLS);
    for (int32_t j = 0; j < k; j++) {
        take_lane(c->scores, base->rows, k, j, c->out);
        mgvi_op_mul_t(c->base, 1, &u, 0, &out);
        put_lane(c->in, base->cols, k, j, alpha, beta, g);
    }
}

/* What the base has read since `before`, all classes of it. */
static void count_reading(mgvi_contrast *c, double before)
{
    const double read = c->base->touched - before;
    c->op.touched += c->in ? read : read * c->k;
    c->op.failed = c->base->failed;
}

void mgvi_contrast_scores(mgvi_contrast *c, const mgvi_vec *W, mgvi_vec *z)
{
    const double before = c->base->touched;
    assert(W->n == c->base->cols && W->k == c->k && z->n == c->base->rows && z->k == c->k);
    score(c, W->x);
    memcpy(z->x, c->scores, (size_t)(z->n * z->k) * sizeof *z->x);
    count_reading(c, before);
}

static void contrast_mul(mgvi_op *op, double alpha, const mgvi_vec *x, double beta, mgvi_vec *y)
{
    mgvi_contrast *c = (mgvi_contrast *)op;
    const double before = c->base->touched;
    assert(x->k == 1 && x->n == op->cols && y->n == op->rows);
    score(c, x->x);
    sweep s = {.c = c, .alpha = alpha, .beta = beta, .in = c->scores, .out = y->x};
    run(&s, differences);
    count_reading(c, before);
}

static void contrast_mul_t(mgvi_op *op, double alpha, const mgvi_vec *u, double beta, mgvi_vec *g)
{
    mgvi_contrast *c = (mgvi_contrast *)op;
    const double before = c->base->touched;
    assert(u->k == 1 && u->n == op->rows && g->n == op->cols);
    sweep s = {.c = c, .in = u->x, .out = c->scores};
    run(&s, balances);
    combine(c, alpha, beta, g->x);
    count_reading(c, before);
}

static double lane_square(mgvi_contrast *c, const double *w, int32_t lane)
{
    const int64_t cols = c->base->cols - c->intercepts;
    double square = 0;
    if (c->in) {
        take_lane(w, cols, c->k, lane, c->in);
        const mgvi_vec one = mgvi_vec_wrap(c->in, cols, MGVI_COLS);
        return c->base->ops->square(c->base, &one);
    }
    for (int64_t i = 0; i < cols; i++)
        square += w[i * c->k + lane] * w[i * c->k + lane];
    return square;
}

/* |W|^2 over a kernel, whose columns are coefficients. */
static double contrast_square(mgvi_op *op, const mgvi_vec *x)
{
    mgvi_contrast *c = (mgvi_contrast *)op;
    double square = 0;
    const double before = c->base->touched;
    for (int32_t j = 0; j < c->k; j++)
        square += lane_square(c, x->x, j);
    count_reading(c, before);
    return square;
}

/* An entry is the difference of two of the base's, each class's W a lane of x read by rows. */
static double contrast_mul_rounding(mgvi_op *op, const mgvi_vec *x, int32_t lane)
{
    mgvi_contrast *c = (mgvi_contrast *)op;
    const mgvi_vec w = lanes_of(x->x, x->n / c->k, c->k, MGVI_COLS);
    double most = 0;
    (void)lane; /* one: the classes are in it */
    for (int32_t j = 0; j < c->k; j++)
        most = fmax(most, c->base->ops->mul_rounding(c->base, &w, j));
    return 2 * most;
}

static double contrast_square_rounding(mgvi_op *op, const mgvi_vec *x, int32_t lane)
{
    mgvi_contrast *c = (mgvi_contrast *)op;
    const mgvi_vec w = lanes_of(x->x, x->n / c->k, c->k, MGVI_COLS);
    double sum = 0;
    (void)lane;
    for (int32_t j = 0; j < c->k; j++)
        sum += c->base->ops->square_rounding(c->base, &w, j);
    return sum;
}

/* Scores in extended precision, rounded once each. */
static bool contrast_mul_extended(mgvi_op *op, const mgvi_vec *x, double scale, mgvi_vec *y,
                                  double *error)
{
    mgvi_contrast *c = (mgvi_contrast *)op;
    const mgvi_vec w = lanes_of(x->x, x->n / c->k, c->k, MGVI_COLS);
    mgvi_vec z = lanes_of(c->scores, c->base->rows, c->k, MGVI_ROWS);
    const double before = c->base->touched;
    double *each = mgvi_alloc(op->ctx, (size_t)c->k, sizeof *each), most = 0, largest = 0;
    const bool known = each && c->base->ops->mul_extended &&
                       c->base->ops->mul_extended(c->base, &w, scale, &z, each);
    for (int32_t j = 0; known && j < c->k; j++)
        most = fmax(most, each[j]);
    mgvi_release(op->ctx, each);
    if (!known)
        return false;
    for (int64_t i = 0; i < z.n * z.k; i++)
        largest = fmax(largest, fabs(z.x[i]));
    sweep s = {.c = c, .alpha = 1, .beta = 0, .in = c->scores, .out = y->x};
    run(&s, differences);
    *error = 2 * most + 2 * DBL_EPSILON * largest;
    count_reading(c, before);
    return true;
}

static bool contrast_square_extended(mgvi_op *op, const mgvi_vec *x, double scale, double *square,
                                     double *error)
{
    mgvi_contrast *c = (mgvi_contrast *)op;
    const mgvi_vec w = lanes_of(x->x, x->n / c->k, c->k, MGVI_COLS);
    const double before = c->base->touched;
    const bool known = c->base->ops->square_extended &&
                       c->base->ops->square_extended(c->base, &w, scale, square, error);
    count_reading(c, before);
    return known;
}

void mgvi_contrast_lengths(mgvi_contrast *c, const double *w, double *length)
{
    for (int32_t j = 0; j < c->k; j++)
        length[j] = sqrt(lane_square(c, w, j));
}

/* ---- making it ------------------------------------------------------------------------------- */

static void contrast_free(mgvi_op *op)
{
    mgvi_contrast *c = (mgvi_contrast *)op;
    mgv_ctx *ctx = op->ctx;
    mgvi_op_free(c->base);
    mgvi_release(ctx, c->scores);
    mgvi_release(ctx, c->in);
    mgvi_release(ctx, c->out);
    mgvi_release(ctx, c);
}

const mgvi_op_ops mgvi_operator_contrast = {
    .name = "contrast",
    .summary = "an example's own class against every other, over scores of all classes",
    .can = MGVI_MUL | MGVI_MUL_T | MGVI_ROW | MGVI_CONTRAST,
    .mul = contrast_mul,
    .mul_t = contrast_mul_t,
    .free = contrast_free,
};

/* The same over a kernel. */
static const mgvi_op_ops over_kernel = {
    .name = "contrast",
    .summary = "contrast over a kernel",
    .can = MGVI_MUL | MGVI_MUL_T | MGVI_ROW | MGVI_KERNEL | MGVI_CONTRAST,
    .mul = contrast_mul,
    .mul_t = contrast_mul_t,
    .free = contrast_free,
    .square = contrast_square,
    .mul_rounding = contrast_mul_rounding,
    .square_rounding = contrast_square_rounding,
    .mul_extended = contrast_mul_extended,
    .square_extended = contrast_square_extended,
};

mgvi_contrast *mgvi_contrast_of(mgvi_op *op)
{
    return op->ops->free == contrast_free ? (mgvi_contrast *)op : NULL;
}

static mgv_status check(mgv_ctx *ctx, const mgvi_op *base, int32_t k)
{
    const bool kernel = base->ops->can & MGVI_KERNEL;
    if (k < 2 || (!kernel && base->lanes < k))
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "contrasts of %" PRId32 " classes over an operator of %" PRId32 " lanes",
                         k, base->lanes);
    if (base->rows > INT64_MAX / k || base->cols > INT64_MAX / k)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "%" PRId64 " x %" PRId64 " for each of %" PRId32 " classes", base->rows,
                         base->cols, k);
    return MGV_OK;
}

mgv_status mgvi_op_contrast(mgv_ctx *ctx, mgvi_op *base, bool intercepts, const int32_t *own,
                            int32_t k, mgvi_op **out)
{
    *out = NULL;
    mgv_status st = check(ctx, base, k);
    mgvi_contrast *c = st == MGV_OK ? mgvi_new(ctx, sizeof *c) : NULL;
    if (!c) {
        mgvi_op_free(base);
        return st == MGV_OK ? MGV_E_MEMORY : st;
    }
    const bool kernel = base->ops->can & MGVI_KERNEL;
    *c = (mgvi_contrast){.base = base, .intercepts = intercepts, .k = k, .own = own};
    c->op = (mgvi_op){.ops = kernel ? &over_kernel : &mgvi_operator_contrast,
                      .ctx = ctx,
                      .rows = base->rows * k,
                      .cols = base->cols * k,
                      .nnz = base->nnz * k,
                      .stored = base->stored,
                      .lanes = 1};
    c->scores = mgvi_alloc(ctx, (size_t)c->op.rows, sizeof *c->scores);
    if (kernel) {
        c->in = mgvi_alloc(ctx, (size_t)base->cols, sizeof *c->in);
        c->out = mgvi_alloc(ctx, (size_t)base->rows, sizeof *c->out);
    }
    if (!c->scores || (kernel && (!c->in || !c->out))) {
        mgvi_op_free(&c->op);
        return MGV_E_MEMORY;
    }
    *out = &c->op;
    return MGV_OK;
}
