/* kernel.c - the kernel operator: products and lengths from the rows of K. */
#include "op/kernel_impl.h"

#include "base/threads.h"
#include "simd/simd.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { COLUMN_BLOCK = 1024 };
/* c'K c of a positive matrix is not below this part of what its terms could add up to: entries may
 * have come as text of ten digits. */
static const double NEGATIVE = 1e-9;

mgvi_kernel_op *mgvi_kernel_of(mgvi_op *op)
{
    return op->ops == &mgvi_operator_kernel ? (mgvi_kernel_op *)op : NULL;
}

mgv_dtype mgvi_kernel_fast(const mgvi_kernel_op *k) { return k->fast; }
const double *mgvi_kernel_sign(const mgvi_kernel_op *k) { return k->sign; }
const double *mgvi_kernel_diagonal(const mgvi_kernel_op *k) { return k->diagonal; }
const mgvi_kernel *mgvi_kernel_spec(const mgvi_kernel_op *k) { return &k->kernel; }

/* ---- f = K c --------------------------------------------------------------------------------- */

typedef struct sum_job {
    const mgvi_kernel_op *k;
    const int64_t *rows; /* of K */
    int64_t count;
    const char *values; /* NULL: in the slots; else side by side */
    const double *c;
    double *f;
} sum_job;

static void sum_block(void *arg, int64_t block)
{
    const sum_job *job = arg;
    const mgvi_kernel_op *k = job->k;
    const int64_t n = k->op.rows, j = block * COLUMN_BLOCK;
    const int64_t width = n - j < COLUMN_BLOCK ? n - j : COLUMN_BLOCK;
    for (int64_t t = 0; t < job->count; t++) {
        const int64_t i = job->rows[t];
        const void *row = job->values ? job->values + (size_t)t * mgvi_kernel_row_bytes(k)
                                      : mgvi_kernel_slot(k, k->slot_of[i]);
        if (k->fast == MGV_F32)
            k->op.ctx->simd->axpy_f32(job->c[i], (const float *)row + j, job->f + j, width);
        else
            k->op.ctx->simd->axpy_f64(job->c[i], (const double *)row + j, job->f + j, width);
    }
}

static void add_rows(mgvi_kernel_op *k, sum_job *job)
{
    const int64_t blocks = (k->op.rows + COLUMN_BLOCK - 1) / COLUMN_BLOCK;
    mgvi_pool_run(k->op.ctx->pool, blocks, sum_block, job);
    k->op.touched += (double)job->count * (double)k->op.rows;
}

int64_t mgvi_kernel_support(mgvi_kernel_op *k, const double *c)
{
    int64_t count = 0;
    for (int64_t i = 0; i < k->op.rows; i++)
        if (c[i] != 0)
            k->support[count++] = i;
    return count;
}

static void give_up(mgvi_kernel_op *k, double *f)
{
    k->op.failed = MGV_E_MEMORY;
    k->remembered = false;
    for (int64_t i = 0; i < k->op.rows; i++)
        f[i] = NAN;
}

void mgvi_kernel_combine(mgvi_kernel_op *k, const double *c, double *f)
{
    const int64_t n = k->op.rows;
    if (k->remembered && memcmp(c, k->c, (size_t)n * sizeof *c) == 0) {
        memcpy(f, k->f, (size_t)n * sizeof *f);
        return;
    }
    const int64_t count = mgvi_kernel_support(k, c);
    memset(f, 0, (size_t)n * sizeof *f);
    sum_job job = {.k = k, .rows = k->support, .count = count, .c = c, .f = f};
    if (mgvi_kernel_fetch(k, k->support, count)) {
        add_rows(k, &job);
    } else { /* more rows than are kept: tile by tile */
        for (int64_t t = 0; t < count; t += k->tile_rows) {
            job.rows = k->support + t;
            job.count = count - t < k->tile_rows ? count - t : k->tile_rows;
            job.values = mgvi_kernel_compute(k, job.rows, job.count);
            if (!job.values) {
                give_up(k, f);
                return;
            }
            add_rows(k, &job);
        }
    }
    if (k->fast == MGV_F64)
        mgvi_kernel_remember(k, c, f);
}

void mgvi_kernel_remember(mgvi_kernel_op *k, const double *c, const double *f)
{
    memcpy(k->c, c, (size_t)k->op.rows * sizeof *c);
    memcpy(k->f, f, (size_t)k->op.rows * sizeof *f);
    k->remembered = true;
}

/* f = K c in float64 whatever the type of the rows kept. */
static void combine_exactly(mgvi_kernel_op *k, const double *c, double *f)
{
    if (k->fast == MGV_F64) {
        mgvi_kernel_combine(k, c, f);
        return;
    }
    const int64_t n = k->op.rows, count = mgvi_kernel_support(k, c);
    const mgvi_point_list all = {.points = k->points, .count = n};
    memset(f, 0, (size_t)n * sizeof *f);
    if (mgvi_kernel_exact_sums(k, &all, count, c, f) != MGV_OK)
        give_up(k, f);
    else
        mgvi_kernel_remember(k, c, f);
}

/* ---- the operator ---------------------------------------------------------------------------- */

static double sign_of(const mgvi_kernel_op *k, int64_t i) { return k->sign ? k->sign[i] : 1; }

/* The coefficients of one lane of x. */
static const double *lane_of(mgvi_kernel_op *k, const mgvi_vec *x, int32_t lane)
{
    if (x->k == 1)
        return x->x;
    for (int64_t i = 0; i < k->op.rows; i++)
        k->lane[i] = x->x[i * x->k + lane];
    return k->lane;
}

static void kernel_mul(mgvi_op *op, double alpha, const mgvi_vec *x, double beta, mgvi_vec *y)
{
    mgvi_kernel_op *k = (mgvi_kernel_op *)op;
    assert(x->k == y->k && x->n == op->cols && y->n == op->rows);
    for (int32_t lane = 0; lane < x->k; lane++) {
        const double b = k->intercept ? x->x[op->rows * x->k + lane] : 0;
        combine_exactly(k, lane_of(k, x, lane), k->work);
        for (int64_t i = 0; i < op->rows; i++) {
            double *to = &y->x[i * y->k + lane];
            const double z = alpha * sign_of(k, i) * (k->work[i] + b);
            *to = beta == 0 ? z : z + beta * *to;
        }
    }
}

static void kernel_mul_t(mgvi_op *op, double alpha, const mgvi_vec *u, double beta, mgvi_vec *g)
{
    mgvi_kernel_op *k = (mgvi_kernel_op *)op;
    assert(u->k == g->k && u->n == op->rows && g->n == op->cols);
    for (int32_t lane = 0; lane < u->k; lane++) {
        double sum = 0, *last = &g->x[op->rows * g->k + lane];
        for (int64_t i = 0; i < op->rows; i++) {
            double *to = &g->x[i * g->k + lane];
            const double c = alpha * sign_of(k, i) * u->x[i * u->k + lane];
            sum += c;
            *to = beta == 0 ? c : c + beta * *to;
        }
        if (k->intercept)
            *last = beta == 0 ? sum : sum + beta * *last;
    }
}

/* ---- lengths --------------------------------------------------------------------------------- */

/* Whether c is a multiple t of the last product's coefficients up to rounding: with d = c - t c0,
 *   c'K c = t^2 c0'K c0 + 2 t d'K c0 + d'K d,   d'K d <= (sum_i |d_i| sqrt(K_ii))^2            (5)
 * and K c0 is known where c0 is not 0, which is where d must lie. */
static bool recall_square(const mgvi_kernel_op *k, const double *c, double *square)
{
    double cross = 0, own = 0, length = 0, mixed = 0, rest = 0;
    if (!k->remembered)
        return false;
    for (int64_t i = 0; i < k->op.rows; i++) {
        if (c[i] != 0 && k->c[i] == 0)
            return false;
        cross += c[i] * k->c[i];
        own += k->c[i] * k->c[i];
        length += k->c[i] * k->f[i];
    }
    const double t = own > 0 ? cross / own : 0;
    for (int64_t i = 0; i < k->op.rows; i++) {
        const double d = c[i] - t * k->c[i];
        mixed += d * k->f[i];
        rest += fabs(d) * sqrt(fmax(k->diagonal[i], 0));
    }
    *square = fmax(t * t * length + 2 * t * mixed + rest * rest, 0);
    return rest * rest <= 1e-15 * *square || own == 0;
}

static double square_of(mgvi_kernel_op *k, const double *c)
{
    double square;
    if (recall_square(k, c, &square))
        return square;
    if (k->fast == MGV_F32)
        return mgvi_kernel_exact_square(k, c);
    mgvi_kernel_combine(k, c, k->work);
    double size = 0;
    square = 0;
    for (int64_t i = 0; i < k->op.rows; i++) {
        square += c[i] * k->work[i];
        size += fabs(c[i]) * sqrt(fmax(k->diagonal[i], 0));
    }
    if (square < -NEGATIVE * size * size && k->op.failed == MGV_OK)
        k->op.failed = MGVI_FAIL(k->op.ctx, MGV_E_INPUT,
                                 "the precomputed kernel is not positive semidefinite: there are "
                                 "weights c with c'K c = %.3g times (sum |c_i| sqrt(K_ii))^2",
                                 square / (size * size));
    return square > 0 ? square : 0; /* K is positive only up to rounding */
}

static double kernel_square(mgvi_op *op, const mgvi_vec *x)
{
    mgvi_kernel_op *k = (mgvi_kernel_op *)op;
    double square = 0;
    for (int32_t lane = 0; lane < x->k; lane++)
        square += square_of(k, lane_of(k, x, lane));
    return square;
}

/* k = 1: the only one that proofs are about. */
static bool kernel_vanishes(mgvi_op *op, const mgvi_vec *x, double *size)
{
    return mgvi_kernel_vanishes((mgvi_kernel_op *)op, x->x, size);
}

const mgvi_op_ops mgvi_operator_kernel = {
    .name = "kernel",
    .summary = "the feature space of a kernel: rbf, laplace, poly, precomputed",
    .can = MGVI_MUL | MGVI_MUL_T | MGVI_ROW | MGVI_KERNEL,
    .mul = kernel_mul,
    .mul_t = kernel_mul_t,
    .free = mgvi_kernel_free,
    .square = kernel_square,
    .mul_low = mgvi_kernel_mul_low,
    .vanishes = kernel_vanishes,
};
