/* kernel_rows.c - rows of K: computed a tile at a time, kept while they fit; making and freeing the
 * operator. */
#include "op/kernel_impl.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

size_t mgvi_kernel_row_bytes(const mgvi_kernel_op *k)
{
    return (size_t)k->op.rows * mgvi_dtype_size(k->fast);
}

/* K between the listed rows and all; the diagonal is set, not computed (sqrt of a rounded 0). */
mgv_status mgvi_kernel_compute_into(mgvi_kernel_op *k, const int64_t *rows, int64_t count,
                                    void *out)
{
    const mgvi_point_list p = {.points = k->points, .index = rows, .count = count};
    const mgvi_point_list q = {.points = k->points, .count = k->op.rows};
    const int64_t n = k->op.rows;
    MGVI_TRY(mgvi_kernel_block(k->op.ctx, &k->kernel, &p, &q, k->fast, out, n));
    for (int64_t t = 0; t < count; t++) {
        if (k->fast == MGV_F32)
            ((float *)out)[t * n + rows[t]] = (float)k->diagonal[rows[t]];
        else
            ((double *)out)[t * n + rows[t]] = k->diagonal[rows[t]];
    }
    return MGV_OK;
}

const char *mgvi_kernel_compute(mgvi_kernel_op *k, const int64_t *rows, int64_t count)
{
    if (!k->tile)
        k->tile = mgvi_alloc(k->op.ctx, (size_t)k->tile_rows, mgvi_kernel_row_bytes(k));
    if (!k->tile || mgvi_kernel_compute_into(k, rows, count, k->tile) != MGV_OK)
        return NULL;
    return k->tile;
}

/* ---- slots ----------------------------------------------------------------------------------- */

bool mgvi_kernel_slab_ready(mgvi_kernel_op *k, int64_t slot)
{
    char **slab = &k->slabs[slot / k->tile_rows];
    const int64_t rest = k->slots - slot / k->tile_rows * k->tile_rows;
    if (!*slab)
        *slab = mgvi_alloc(k->op.ctx, (size_t)(rest < k->tile_rows ? rest : k->tile_rows),
                           mgvi_kernel_row_bytes(k));
    return *slab != NULL;
}

static void settle(mgvi_kernel_op *k, int64_t slot, int64_t row)
{
    if (slot < k->used)
        k->slot_of[k->owner[slot]] = -1;
    else
        k->used = slot + 1;
    k->owner[slot] = (int32_t)row;
    k->slot_of[row] = (int32_t)slot;
    k->wanted[slot] = k->call;
}

/* New rows straight into neighbouring free slots. */
static bool append(mgvi_kernel_op *k, const int64_t *rows, int64_t count)
{
    if (!mgvi_kernel_slab_ready(k, k->used) ||
        mgvi_kernel_compute_into(k, rows, count, mgvi_kernel_slot(k, k->used)) != MGV_OK ||
        mgvi_ctx_cut(k->op.ctx)) /* values that were left out are kept nowhere */
        return false;
    for (int64_t t = 0; t < count; t++)
        settle(k, k->used, rows[t]);
    return true;
}

/* New rows in the place of ones this call does not want, round the clock. */
static bool replace(mgvi_kernel_op *k, const int64_t *rows, int64_t count)
{
    const char *values = mgvi_kernel_compute(k, rows, count);
    if (!values || mgvi_ctx_cut(k->op.ctx))
        return false;
    for (int64_t t = 0; t < count; t++) {
        while (k->wanted[k->hand] == k->call)
            k->hand = (k->hand + 1) % k->slots;
        memcpy(mgvi_kernel_slot(k, k->hand), values + (size_t)t * mgvi_kernel_row_bytes(k),
               mgvi_kernel_row_bytes(k));
        settle(k, k->hand, rows[t]);
    }
    return true;
}

enum { COMING = -2 }; /* no slot yet, but soon */

static bool all_kept(const mgvi_kernel_op *k, const int64_t *rows, int64_t count)
{
    for (int64_t t = 0; t < count; t++)
        if (k->slot_of[rows[t]] < 0)
            return false;
    return true;
}

bool mgvi_kernel_fetch(mgvi_kernel_op *k, const int64_t *rows, int64_t count)
{
    if (k->lender)
        return mgvi_kernel_borrow(k, rows, count);
    if (k->frozen)
        return all_kept(k, rows, count);
    if (count > k->slots)
        return false;
    mgvi_kernel_half_free(k); /* one or the other */
    k->call++;
    for (int64_t t = 0; t < count; t++)
        if (k->slot_of[rows[t]] >= 0)
            k->wanted[k->slot_of[rows[t]]] = k->call;
    int64_t missing[MGVI_KERNEL_TILE], t = 0;
    while (t < count) {
        int64_t most = k->tile_rows - k->used % k->tile_rows, found = 0;
        most = k->used == k->slots         ? k->tile_rows
               : k->slots - k->used < most ? k->slots - k->used
                                           : most;
        for (; t < count && found < most; t++)
            if (k->slot_of[rows[t]] < 0 && k->slot_of[rows[t]] != COMING) {
                k->slot_of[rows[t]] = COMING; /* a row may be listed twice */
                missing[found++] = rows[t];
            }
        if (found > 0 && !(k->used < k->slots ? append : replace)(k, missing, found)) {
            for (int64_t s = 0; s < found; s++)
                if (k->slot_of[missing[s]] == COMING)
                    k->slot_of[missing[s]] = -1;
            return false;
        }
    }
    return true;
}

const double *mgvi_kernel_row(mgvi_kernel_op *k, int64_t i)
{
    const int64_t n = k->op.rows;
    k->op.touched += (double)n;
    if (k->fast == MGV_F64 && mgvi_kernel_fetch(k, &i, 1))
        return (const double *)mgvi_kernel_slot(k, k->slot_of[i]);
    const mgvi_point_list p = {.points = k->points, .index = &i, .count = 1};
    const mgvi_point_list q = {.points = k->points, .count = n};
    if (mgvi_kernel_block(k->op.ctx, &k->kernel, &p, &q, MGV_F64, k->row, n) != MGV_OK) {
        k->op.failed = MGV_E_MEMORY;
        for (int64_t j = 0; j < n; j++)
            k->row[j] = NAN;
    }
    k->row[i] = k->diagonal[i];
    return k->row;
}

/* Whether values among some rows are best taken from whole rows: rows are shared, or there are not
 * many others. A matrix product with few rows is bound by reading all points; sparse points cost
 * what their entries do. */
static bool whole_rows_pay(const mgvi_kernel_op *k, int64_t among)
{
    enum { PART = 3 };
    return k->lender || (!k->points->sparse && k->slots == k->op.rows && PART * among >= k->slots);
}

mgv_status mgvi_kernel_among(mgvi_kernel_op *k, const int64_t *p, int64_t np, const int64_t *q,
                             int64_t nq, mgv_dtype dtype, void *out, int64_t ld)
{
    const mgvi_point_list rows = {.points = k->points, .index = p, .count = np};
    const mgvi_point_list cols = {.points = k->points, .index = q, .count = nq};
    k->op.touched += (double)np * (double)nq;
    if (dtype != k->fast || !whole_rows_pay(k, nq) || !mgvi_kernel_fetch(k, p, np))
        return mgvi_kernel_block(k->op.ctx, &k->kernel, &rows, &cols, dtype, out, ld);
    for (int64_t s = 0; s < np; s++) {
        const char *row = mgvi_kernel_slot(k, k->slot_of[p[s]]);
        for (int64_t t = 0; t < nq; t++)
            if (k->fast == MGV_F32)
                ((float *)out)[s * ld + t] = ((const float *)row)[q[t]];
            else
                ((double *)out)[s * ld + t] = ((const double *)row)[q[t]];
    }
    return MGV_OK;
}

/* ---- making and freeing ---------------------------------------------------------------------- */

static void free_slots(mgvi_kernel_op *k)
{
    mgv_ctx *ctx = k->op.ctx;
    mgvi_kernel_end_loans(k);
    for (int64_t s = 0; !k->lender && k->slabs && s * k->tile_rows < k->slots; s++)
        mgvi_release(ctx, k->slabs[s]);
    if (!k->lender)
        mgvi_release(ctx, k->slabs);
    mgvi_release(ctx, k->owner);
    mgvi_release(ctx, k->wanted);
    mgvi_release(ctx, k->tile);
    k->slabs = NULL;
    k->owner = NULL;
    k->wanted = NULL;
    k->tile = NULL;
}

static mgv_status make_slots(mgvi_kernel_op *k)
{
    mgv_ctx *ctx = k->op.ctx;
    const int64_t n = k->op.rows;
    const double fit = k->cache_bytes / (double)mgvi_kernel_row_bytes(k);
    k->slots = fit < (double)n ? (int64_t)fit : n;
    k->slots = k->slots < 2 ? (n < 2 ? n : 2) : k->slots;
    const int64_t rows = MGVI_KERNEL_TILE_BYTES / (int64_t)mgvi_kernel_row_bytes(k);
    k->tile_rows = rows < 8 ? 8 : rows > MGVI_KERNEL_TILE ? MGVI_KERNEL_TILE : rows;
    k->used = k->hand = 0;
    for (int64_t i = 0; i < n; i++)
        k->slot_of[i] = -1;
    if (k->lender) {
        k->slabs = k->lender->slabs;
        return MGV_OK;
    }
    k->slabs = mgvi_zeros(ctx, (size_t)(k->slots / k->tile_rows + 1), sizeof *k->slabs);
    k->owner = mgvi_zeros(ctx, (size_t)k->slots, sizeof *k->owner);
    k->wanted = mgvi_zeros(ctx, (size_t)k->slots, sizeof *k->wanted);
    return k->slabs && k->owner && k->wanted ? MGV_OK : MGV_E_MEMORY;
}

void mgvi_kernel_free(mgvi_op *op)
{
    mgvi_kernel_op *k = (mgvi_kernel_op *)op;
    mgv_ctx *ctx = op->ctx;
    void *const owned[] = {k->slot_of, k->diagonal, k->row,  k->support, k->c,
                           k->f,       k->work,     k->lane, k->step,    k->twin};
    free_slots(k);
    mgvi_kernel_half_free(k);
    mgvi_kernel_extended_free(k);
    mgvi_kernel_rough_free(k);
    if (!k->shares_points)
        mgvi_points_free(k->points);
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        mgvi_release(ctx, owned[i]);
    mgvi_release(ctx, k);
}

/* K_ii >= 0 and K_ij^2 <= K_ii K_jj, as inner products have it. */
static mgv_status check_pair(mgv_ctx *ctx, const mgvi_matrix *m, int64_t i, int64_t j, double slack)
{
    const double a = mgvi_matrix_value(m, i * m->row_stride + j * m->col_stride);
    const double b = mgvi_matrix_value(m, j * m->row_stride + i * m->col_stride);
    const double ii = mgvi_matrix_value(m, i * (m->row_stride + m->col_stride));
    const double jj = mgvi_matrix_value(m, j * (m->row_stride + m->col_stride));
    if (fabs(a - b) > slack * (fabs(a) + fabs(b)))
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "a precomputed kernel is symmetric; row %" PRId64 ", column %" PRId64
                         " is %g, the other way round %g",
                         i + 1, j + 1, a, b);
    if (fabs(a) > (1 + slack) * sqrt(ii) * sqrt(jj) + slack * fmax(ii, jj))
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "a precomputed kernel is positive semidefinite; row %" PRId64
                         ", column %" PRId64 " is %g, more than sqrt(%g * %g) of the diagonal",
                         i + 1, j + 1, a, ii, jj);
    return MGV_OK;
}

/* A Gram matrix must be symmetric and could be positive, to rounding of the type it came in. */
static mgv_status check_gram(mgv_ctx *ctx, const mgvi_matrix *m)
{
    if (m->layout != MGV_DENSE)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "a precomputed kernel must be a dense matrix");
    if (m->rows != m->cols)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "a precomputed kernel is square; this one is %" PRId64 " x %" PRId64,
                         m->rows, m->cols);
    const double slack = m->dtype == MGV_F32 ? 1e-5 : 1e-10;
    for (int64_t i = 0; i < m->rows; i++) {
        const double own = mgvi_matrix_value(m, i * (m->row_stride + m->col_stride));
        if (own < 0)
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "a precomputed kernel is positive semidefinite; row %" PRId64
                             " has %g on the diagonal",
                             i + 1, own);
        for (int64_t j = 0; j < i; j++)
            MGVI_TRY(check_pair(ctx, m, i, j, slack));
    }
    return MGV_OK;
}

static mgv_status allocate(mgvi_kernel_op *k)
{
    mgv_ctx *ctx = k->op.ctx;
    const size_t n = (size_t)k->op.rows, lanes = (size_t)k->op.lanes;
    if (!(k->slot_of = mgvi_alloc(ctx, n, sizeof *k->slot_of)) ||
        !(k->diagonal = mgvi_alloc(ctx, n, sizeof *k->diagonal)) ||
        !(k->row = mgvi_alloc(ctx, n, sizeof *k->row)) ||
        !(k->support = mgvi_alloc(ctx, n, sizeof *k->support)) ||
        !(k->c = mgvi_alloc(ctx, n, lanes * sizeof *k->c)) ||
        !(k->f = mgvi_alloc(ctx, n, lanes * sizeof *k->f)) ||
        !(k->work = mgvi_alloc(ctx, n, lanes * sizeof *k->work)) ||
        !(k->lane = mgvi_alloc(ctx, n, sizeof *k->lane)) ||
        !(k->step = mgvi_alloc(ctx, n, sizeof *k->step)))
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < k->op.rows; i++)
        k->diagonal[i] = mgvi_kernel_self(&k->kernel, k->points, i);
    return make_slots(k);
}

static mgv_status bind(mgvi_kernel_op *k, const mgvi_kernel_plan *plan)
{
    const mgvi_kernel_kind kind = plan->kernel.kind;
    mgv_ctx *ctx = k->op.ctx;
    const bool moves = mgvi_kernel_moves(&plan->kernel);
    if (plan->X->rows > INT32_MAX)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "a kernel takes at most 2^31 rows; there are %" PRId64, plan->X->rows);
    if (plan->lender && plan->fast == MGV_F64 && plan->lender->fast == MGV_F64) {
        k->lender = plan->lender->loans ? plan->lender : NULL;
        k->points = plan->lender->points;
        k->shares_points = true;
        return allocate(k);
    }
    if (kind == MGVI_KERNEL_PRECOMPUTED)
        MGVI_TRY(check_gram(ctx, plan->X));
    MGVI_TRY(mgvi_points_new(ctx, plan->X, &plan->scaling, plan->fast, moves, &k->points));
    return allocate(k);
}

mgv_status mgvi_op_kernel(mgv_ctx *ctx, const mgvi_kernel_plan *plan, mgvi_op **out)
{
    *out = NULL;
    mgvi_kernel_op *k = mgvi_new(ctx, sizeof *k);
    if (!k)
        return MGV_E_MEMORY;
    const int64_t n = plan->X->rows;
    k->op = (mgvi_op){.ops = &mgvi_operator_kernel,
                      .ctx = ctx,
                      .rows = n,
                      .cols = n + (plan->scaling.view.intercept ? 1 : 0),
                      .nnz = n * n,
                      .lanes = plan->lanes > 0 ? plan->lanes : 1};
    k->examples = *plan->X;
    k->op.stored = &k->examples;
    k->kernel = plan->kernel;
    k->view = plan->scaling.view;
    k->fast = plan->fast;
    k->cache_bytes = plan->cache_bytes;
    const mgv_status st = bind(k, plan);
    if (st == MGV_OK)
        *out = &k->op;
    else
        mgvi_kernel_free(&k->op);
    return st;
}

mgv_status mgvi_kernel_make_exact(mgvi_kernel_op *k)
{
    mgvi_points *points;
    if (k->fast == MGV_F64)
        return MGV_OK;
    const mgvi_point_scaling scaling = k->points->scaling;
    MGVI_TRY(mgvi_points_new(k->op.ctx, &k->points->source, &scaling, MGV_F64,
                             mgvi_kernel_moves(&k->kernel), &points));
    mgvi_points_free(k->points);
    free_slots(k);
    k->points = points;
    k->fast = MGV_F64;
    k->remembered = 0;
    return make_slots(k);
}

void mgvi_kernel_drop_rows(mgvi_kernel_op *k)
{
    mgvi_kernel_end_loans(k);
    for (int64_t s = 0; s * k->tile_rows < k->slots; s++) {
        mgvi_release(k->op.ctx, k->slabs[s]);
        k->slabs[s] = NULL;
    }
    for (int64_t s = 0; s < k->used; s++)
        k->slot_of[k->owner[s]] = -1;
    k->used = k->hand = 0;
}
