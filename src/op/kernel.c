/* kernel.c - the kernel operator: products and lengths from the rows of K. */
#include "op/kernel_impl.h"
#include "op/kernel_origin.h"

#include "base/limit.h"
#include "base/twofold.h"
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
const int8_t *mgvi_kernel_sign(const mgvi_kernel_op *k) { return k->view.sign; }
const double *mgvi_kernel_diagonal(const mgvi_kernel_op *k) { return k->diagonal; }
const mgvi_kernel *mgvi_kernel_spec(const mgvi_kernel_op *k) { return &k->kernel; }
const mgvi_points *mgvi_kernel_points(const mgvi_kernel_op *k) { return k->points; }

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
    mgvi_ctx_run(k->op.ctx, blocks, sum_block, job);
    k->op.touched += (double)job->count * (double)k->op.rows;
}

bool mgvi_kernel_keeps_rows(const mgvi_kernel_op *k)
{
    return k->fast == MGV_F64 && k->points->sparse && !mgvi_kernel_has_rough(k);
}

static void add_half(mgvi_kernel_op *k, const int64_t *rows, int64_t count, const double *c,
                     double *f)
{
    const int64_t n = k->op.rows;
    memset(k->step, 0, (size_t)n * sizeof *k->step);
    for (int64_t s = 0; s < count; s++)
        k->step[rows[s]] = c[s];
    mgvi_kernel_half_times(k, k->step, 1, k->work);
    for (int64_t i = 0; i < n; i++)
        f[i] += k->work[i];
    k->op.touched += (double)count * (double)n;
}

bool mgvi_kernel_add_kept(mgvi_kernel_op *k, const int64_t *rows, int64_t count, const double *c,
                          double *f)
{
    sum_job job = {.k = k, .rows = rows, .count = count, .c = k->step, .f = f};
    if (!mgvi_kernel_keeps_rows(k))
        return false;
    if (mgvi_kernel_half_ready(k)) {
        add_half(k, rows, count, c, f);
        return true;
    }
    if (!mgvi_kernel_fetch(k, rows, count))
        return false;
    for (int64_t s = 0; s < count; s++)
        k->step[rows[s]] = c[s];
    add_rows(k, &job);
    return true;
}

int64_t mgvi_kernel_support(mgvi_kernel_op *k, const double *c)
{
    int64_t count = 0;
    for (int64_t i = 0; i < k->op.rows; i++)
        if (c[i] != 0)
            k->support[count++] = i;
    return count;
}

static void give_up(mgvi_kernel_op *k, double *f, int32_t lanes)
{
    k->op.failed = MGV_E_MEMORY;
    k->remembered = 0;
    for (int64_t i = 0; i < k->op.rows * lanes; i++)
        f[i] = NAN;
}

/* The last product, where it was this one. */
static bool recall_product(const mgvi_kernel_op *k, const double *c, int32_t lanes, double *f)
{
    const size_t bytes = (size_t)k->op.rows * (size_t)lanes * sizeof *c;
    if (k->remembered != lanes || memcmp(c, k->c, bytes) != 0)
        return false;
    memcpy(f, k->f, bytes);
    return true;
}

/* More rows than are kept: tile by tile. */
static bool add_tiles(mgvi_kernel_op *k, sum_job *job)
{
    const int64_t count = job->count;
    for (int64_t t = 0; t < count && !mgvi_ctx_cut(k->op.ctx); t += k->tile_rows) {
        job->rows = k->support + t;
        job->count = count - t < k->tile_rows ? count - t : k->tile_rows;
        job->values = mgvi_kernel_compute(k, job->rows, job->count);
        if (!job->values)
            return false;
        add_rows(k, job);
    }
    return true;
}

/* Where most rows have a coefficient it is as well to multiply them all: those that are kept need
 * not be computed. */
static bool worth_all_rows(const mgvi_kernel_op *k, int64_t count)
{
    return k->fast == MGV_F64 && 2 * count > k->op.rows;
}

/* No rows are kept, see kernel_sums.c; but a small matrix stays in the processor's caches. */
static bool is_short(const mgvi_kernel_op *k)
{
    enum { SMALL = 4096 };
    return k->op.rows > SMALL && k->fast == MGV_F64 && !k->half_wanted &&
           mgvi_kernel_is_short(&k->kernel, k->points, k->points);
}

bool mgvi_kernel_sums_twofold(const mgvi_kernel_op *k) { return is_short(k) && !k->plain; }

/* f += K c */
static bool add_short(mgvi_kernel_op *k, const double *c, double *f)
{
    const mgvi_point_list all = {.points = k->points, .count = k->op.rows};
    const int64_t count = mgvi_kernel_support(k, c);
    if (mgvi_kernel_exact_sums(k, &all, count, c, f) == MGV_OK)
        return true;
    give_up(k, f, 1);
    return false;
}

void mgvi_kernel_combine(mgvi_kernel_op *k, const double *c, double *f)
{
    if (recall_product(k, c, 1, f))
        return;
    const int64_t n = k->op.rows;
    bool done = true;
    memset(f, 0, (size_t)n * sizeof *f);
    if (is_short(k)) {
        if (add_short(k, c, f))
            mgvi_kernel_remember(k, c, 1, f);
        return;
    }
    const int64_t count = mgvi_kernel_support(k, c);
    sum_job job = {.k = k, .rows = k->support, .count = count, .c = c, .f = f};
    if (k->half || (worth_all_rows(k, count) && (count > k->slots || mgvi_kernel_half_ready(k))))
        done = mgvi_kernel_rows_times(k, c, 1, count, f);
    else if (mgvi_kernel_fetch(k, k->support, count))
        add_rows(k, &job);
    else
        done = add_tiles(k, &job);
    if (!done)
        give_up(k, f, 1);
    else if (k->fast == MGV_F64)
        mgvi_kernel_remember(k, c, 1, f);
}

bool mgvi_kernel_update(mgvi_kernel_op *k, const double *from, const double *to, double *f)
{
    int64_t changed = 0, count = 0;
    for (int64_t i = 0; i < k->op.rows; i++) {
        k->step[i] = to[i] - from[i];
        changed += k->step[i] != 0;
        count += to[i] != 0;
    }
    if (is_short(k) && changed < count) {
        add_short(k, k->step, f);
        return true;
    }
    mgvi_kernel_combine(k, to, f);
    return false;
}

void mgvi_kernel_remember(mgvi_kernel_op *k, const double *c, int32_t lanes, const double *f)
{
    const size_t bytes = (size_t)k->op.rows * (size_t)lanes * sizeof *c;
    if (k->frozen)
        return;
    k->remembered = 0;
    if (mgvi_ctx_cut(k->op.ctx)) /* a product that lacks parts */
        return;
    memcpy(k->c, c, bytes);
    memcpy(k->f, f, bytes);
    k->remembered = lanes;
}

void mgvi_kernel_freeze(mgvi_kernel_op *op, bool frozen)
{
    if (op)
        op->frozen = frozen;
}

void mgvi_kernel_tell(mgvi_kernel_op *k, const double *c, const double *f)
{
    k->plain = true;
    mgvi_kernel_remember(k, c, 1, f);
}

/* f = K c for all lanes, no row kept. */
static bool short_lanes(mgvi_kernel_op *k, const mgvi_vec *x, double *f)
{
    const int64_t n = k->op.rows, lanes = x->k;
    const mgvi_point_list all = {.points = k->points, .count = n};
    double *c = mgvi_alloc(k->op.ctx, (size_t)n, 2 * (size_t)lanes * sizeof *c);
    if (!c)
        return false;
    double *sums = c + n * lanes; /* both by lanes */
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < lanes; l++) {
            c[l * n + i] = x->x[i * lanes + l];
            sums[l * n + i] = 0;
        }
    const mgv_status st = mgvi_kernel_sums(k->op.ctx, &k->kernel, &all, c, lanes, &all, sums, n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < lanes; l++)
            f[i * lanes + l] = sums[l * n + i];
    mgvi_release(k->op.ctx, c);
    k->op.touched += (double)n * (double)n;
    return st == MGV_OK;
}

/* f = K c for all lanes of c at once, where most rows have a coefficient; false: not done. */
static bool combine_lanes(mgvi_kernel_op *k, const mgvi_vec *x, double *f)
{
    int64_t count = 0;
    if (x->k == 1 || x->k > k->op.lanes)
        return false;
    if (recall_product(k, x->x, x->k, f))
        return true;
    for (int64_t i = 0; i < k->op.rows; i++) {
        bool used = false;
        for (int32_t c = 0; c < x->k; c++)
            used = used || x->x[i * x->k + c] != 0;
        count += used;
    }
    if (!worth_all_rows(k, count))
        return false;
    if (is_short(k) ? short_lanes(k, x, f) : mgvi_kernel_rows_times(k, x->x, x->k, count, f))
        mgvi_kernel_remember(k, x->x, x->k, f);
    else
        give_up(k, f, x->k);
    return true;
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
        give_up(k, f, 1);
    else
        mgvi_kernel_remember(k, c, 1, f);
}

/* ---- the operator ---------------------------------------------------------------------------- */

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
    const bool together = combine_lanes(k, x, k->work);
    for (int32_t lane = 0; lane < x->k; lane++) {
        const double b = k->view.intercept ? x->x[op->rows * x->k + lane] : 0;
        if (!together)
            combine_exactly(k, lane_of(k, x, lane), k->work);
        for (int64_t i = 0; i < op->rows; i++) {
            double *to = &y->x[i * y->k + lane];
            const double f = k->work[together ? i * x->k + lane : i];
            const double z = alpha * mgvi_view_sign(&k->view, i) * (f + b);
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
            const double c = alpha * mgvi_view_sign(&k->view, i) * u->x[i * u->k + lane];
            sum += c;
            *to = beta == 0 ? c : c + beta * *to;
        }
        if (k->view.intercept)
            *last = beta == 0 ? sum : sum + beta * *last;
    }
}

/* ---- lengths --------------------------------------------------------------------------------- */

/* Whether a lane c of x is a multiple t of the same lane c0 of the last product's coefficients up
 * to rounding: with d = c - t c0,
 *   c'K c = t^2 c0'K c0 + 2 t d'K c0 + d'K d,   d'K d <= (sum_i |d_i| sqrt(K_ii))^2            (5)
 * and K c0 is known where c0 is not 0, which is where d must lie. */
static bool recall_square(const mgvi_kernel_op *k, const mgvi_vec *x, int32_t lane, double *square)
{
    double cross = 0, own = 0, length = 0, mixed = 0, rest = 0, length_low = 0, mixed_low = 0;
    if (k->remembered != x->k)
        return false;
    const int64_t n = k->op.rows, end = n * x->k;
    const double *c = x->x, *c0 = k->c, *f0 = k->f;
    for (int64_t i = lane; i < end; i += x->k) {
        if (c[i] != 0 && c0[i] == 0)
            return false;
        cross += c[i] * c0[i];
        own += c0[i] * c0[i];
        mgvi_two_feed(&length, &length_low, c0[i], f0[i]);
    }
    const double t = own > 0 ? cross / own : 0;
    for (int64_t i = lane, row = 0; i < end; i += x->k, row++) {
        const double d = c[i] - t * c0[i];
        mgvi_two_feed(&mixed, &mixed_low, d, f0[i]);
        rest += fabs(d) * mgvi_kernel_size(&k->kernel, k->points, row, k->diagonal[row]);
    }
    *square = fmax(t * t * (length + length_low) + 2 * t * (mixed + mixed_low) + rest * rest, 0);
    return rest * rest <= 1e-15 * *square || own == 0;
}

/* c'f of a lane, f = K c; K is positive only up to rounding, or it is no kernel. */
static double square_from(mgvi_kernel_op *k, const double *c, const double *f, int32_t stride)
{
    double square = 0, low = 0, size = 0;
    for (int64_t i = 0; i < k->op.rows; i++) {
        mgvi_two_feed(&square, &low, c[i * stride], f[i * stride]);
        size += fabs(c[i * stride]) * mgvi_kernel_size(&k->kernel, k->points, i, k->diagonal[i]);
    }
    square += low;
    if (square < -NEGATIVE * size * size && k->op.failed == MGV_OK)
        k->op.failed = MGVI_FAIL(k->op.ctx, MGV_E_INPUT,
                                 "the precomputed kernel is not positive semidefinite: there are "
                                 "weights c with c'K c = %.3g times (sum |c_i| sqrt(K_ii))^2",
                                 square / (size * size));
    return square > 0 ? square : 0;
}

static double square_of(mgvi_kernel_op *k, const double *c)
{
    double square;
    const mgvi_vec x = {.x = (double *)c, .n = k->op.rows, .k = 1, .space = MGVI_COLS};
    if (recall_square(k, &x, 0, &square))
        return square;
    if (k->fast == MGV_F32)
        return mgvi_kernel_exact_square(k, c);
    mgvi_kernel_combine(k, c, k->work);
    return square_from(k, c, k->work, 1);
}

static double kernel_square(mgvi_op *op, const mgvi_vec *x)
{
    mgvi_kernel_op *k = (mgvi_kernel_op *)op;
    double square = 0, one;
    bool known = true;
    for (int32_t lane = 0; known && lane < x->k; lane++) {
        known = recall_square(k, x, lane, &one);
        square += one;
    }
    if (known)
        return square;
    square = 0;
    const bool together = combine_lanes(k, x, k->work);
    for (int32_t lane = 0; lane < x->k; lane++)
        square += together ? square_from(k, x->x + lane, k->work + lane, x->k)
                           : square_of(k, lane_of(k, x, lane));
    return square;
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
    .mul_rounding = mgvi_kernel_mul_rounding,
    .square_rounding = mgvi_kernel_square_rounding,
    .mul_extended = mgvi_kernel_mul_extended,
    .square_extended = mgvi_kernel_square_extended,
};
