/* gram.c - the Gram matrix of the data, then the view's corrections (1). */
#include "op/gram.h"

#include "base/limit.h"
#include "base/threads.h"
#include "linalg/gemm.h"
#include "op/view.h"

#include <math.h>
#include <string.h>

enum { MOST_BLOCKS = 8, MOST_BYTES = 64 << 20 };

/* ---- X' diag(k) X of a stored matrix --------------------------------------------------------- */

typedef struct sparse_job {
    const mgvi_matrix *m;
    const double *k;
    double *partial; /* blocks x cols x cols, upper triangles */
    int64_t blocks;
} sparse_job;

/* One row after the other: the upper triangle of k_i x_i x_i', indices increase within a row. */
static void sparse_block(void *arg, int64_t block)
{
    const sparse_job *job = arg;
    const mgvi_matrix *m = job->m;
    double *G = job->partial + block * m->cols * m->cols;
    MGVI_FOR_BLOCK (i, m->rows, job->blocks, block) {
        if (job->k[i] == 0)
            continue;
        for (int64_t t = m->ptr[i]; t < m->ptr[i + 1]; t++) {
            const double v = job->k[i] * mgvi_matrix_value(m, t);
            double *row = G + m->idx[t] * m->cols;
            for (int64_t r = t; r < m->ptr[i + 1]; r++)
                row[m->idx[r]] += v * mgvi_matrix_value(m, r);
        }
    }
}

static mgv_status sparse_gram(mgv_ctx *ctx, const mgvi_matrix *m, const double *k, double *G,
                              int64_t ld)
{
    const size_t square = (size_t)m->cols * (size_t)m->cols;
    const int64_t fit = (int64_t)(MOST_BYTES / (square * sizeof *G + 1));
    sparse_job job = {.m = m, .k = k, .blocks = mgvi_block_count(m->nnz, 1 << 14, MOST_BLOCKS)};
    job.blocks = job.blocks < fit ? job.blocks : fit > 1 ? fit : 1;
    job.partial = mgvi_zeros(ctx, square * (size_t)job.blocks, sizeof *job.partial);
    if (!job.partial)
        return MGV_E_MEMORY;
    mgvi_ctx_run(ctx, job.blocks, sparse_block, &job);
    for (int64_t i = 0; i < m->cols; i++)
        for (int64_t j = i; j < m->cols; j++) {
            double sum = 0;
            for (int64_t b = 0; b < job.blocks; b++)
                sum += job.partial[(size_t)b * square + (size_t)(i * m->cols + j)];
            G[i * ld + j] = G[j * ld + i] = sum;
        }
    mgvi_release(ctx, job.partial);
    return MGV_OK;
}

/* float32 rows as float64, a block at a time, times the root of their weight. */
static mgv_status widened_gram(mgv_ctx *ctx, const mgvi_matrix *m, const double *k, double *G,
                               int64_t ld)
{
    enum { BLOCK = 512 };
    const int64_t d = m->cols;
    mgv_status st = MGV_OK;
    double *rows = mgvi_alloc(ctx, (size_t)(BLOCK * d), sizeof *rows);
    if (!rows)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < d; i++)
        memset(G + i * ld, 0, (size_t)d * sizeof *G);
    for (int64_t i = 0, held = 0; i < m->rows && st == MGV_OK && !mgvi_ctx_cut_row(ctx, i); i++) {
        if (k[i] > 0) {
            const float *x = (const float *)m->val + i * m->row_stride;
            const double root = sqrt(k[i]);
            for (int64_t j = 0; j < d; j++)
                rows[held * d + j] = root * (double)x[j];
            held++;
        }
        if (held == BLOCK || (i + 1 == m->rows && held > 0)) {
            st = mgvi_syrk_f64(ctx, d, held, 1, rows, d, 1, G, ld);
            held = 0;
        }
    }
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < i; j++)
            G[i * ld + j] = G[j * ld + i];
    mgvi_release(ctx, rows);
    return st;
}

static mgv_status stored_gram(mgv_ctx *ctx, const mgvi_matrix *m, const double *k, bool exact,
                              double *G, int64_t ld)
{
    if (m->layout == MGV_CSR)
        return sparse_gram(ctx, m, k, G, ld);
    if (m->layout != MGV_DENSE || m->col_stride != 1)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "A'diag(h)A needs a matrix stored by rows");
    if (m->dtype == MGV_F32 && exact)
        return widened_gram(ctx, m, k, G, ld);
    if (m->dtype == MGV_F32)
        return mgvi_gram_f32(ctx, m->rows, m->cols, m->val, m->row_stride, k, G, ld);
    return mgvi_gram_f64(ctx, m->rows, m->cols, m->val, m->row_stride, k, G, ld);
}

/* ---- the view -------------------------------------------------------------------------------- */

/* The weights of X's rows: k = h p^2 and hp = h p, several of our rows may be one of X's. */
static void row_weights(const mgvi_view *v, const double *h, double *k, double *hp)
{
    for (int64_t i = 0; i < v->rows; i++) {
        const int64_t r = mgvi_view_source(v, i);
        const double p = mgvi_view_row_scale(v, i);
        k[r] += h[i] * p * p;
        hp[r] += h[i] * p;
    }
}

static void correct(const mgvi_view *v, int64_t cols, const double *m, double total, double *G,
                    int64_t ld)
{
    for (int64_t i = 0; i < cols; i++)
        for (int64_t j = 0; j < cols; j++) {
            double g = G[i * ld + j];
            if (v->centre)
                g +=
                    total * v->centre[i] * v->centre[j] - v->centre[i] * m[j] - m[i] * v->centre[j];
            G[i * ld + j] = v->scale ? v->scale[i] * v->scale[j] * g : g;
        }
}

static void add_intercept(const mgvi_view *v, int64_t cols, const double *m, double total_hp,
                          double total_h, double *G, int64_t ld)
{
    for (int64_t j = 0; j < cols; j++) {
        const double c = mgvi_view_centre(v, j), s = mgvi_view_scale(v, j);
        G[j * ld + cols] = G[cols * ld + j] = s * (m[j] - c * total_hp);
    }
    G[cols * ld + cols] = total_h;
}

/* From the Gram matrix of X under weights k to that of the view; m is room for a row of X. */
static void lay_view(mgvi_op *base, const mgvi_view *view, const double *h, const mgvi_vec *k,
                     const mgvi_vec *hp, mgvi_vec *m, double *G, int64_t ld)
{
    double total[3] = {0, 0, 0}; /* of k, h p, h */
    for (int64_t i = 0; i < k->n; i++) {
        total[0] += k->x[i];
        total[1] += hp->x[i];
    }
    for (int64_t i = 0; i < view->rows; i++)
        total[2] += h[i];
    if (view->centre || view->scale) {
        mgvi_op_mul_t(base, 1, k, 0, m);
        correct(view, m->n, m->x, total[0], G, ld);
    }
    if (!view->intercept)
        return;
    if (hp->x != k->x || !(view->centre || view->scale))
        mgvi_op_mul_t(base, 1, hp, 0, m);
    add_intercept(view, m->n, m->x, total[1], total[2], G, ld);
}

mgv_status mgvi_op_gram(mgvi_op *op, const double *h, bool exact, double *G, int64_t ld)
{
    mgv_ctx *ctx = op->ctx;
    mgvi_op *base = mgvi_view_base(op);
    const mgvi_view *view = op->view;
    if (!view)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "operator %s has no A'diag(h)A", base->ops->name);
    const int64_t n = base->rows, d = base->cols;
    const bool plain = !view->row && !view->row_scale; /* k and h p are h itself */
    double *work = mgvi_zeros(ctx, (size_t)((plain ? 0 : 2 * n) + d), sizeof *work);
    if (!work)
        return MGV_E_MEMORY;
    double *const as_it_is = (double *)(uintptr_t)h;
    const mgvi_vec k = mgvi_vec_wrap(plain ? as_it_is : work + d, n, MGVI_ROWS);
    const mgvi_vec hp = mgvi_vec_wrap(plain ? as_it_is : work + d + n, n, MGVI_ROWS);
    mgvi_vec m = mgvi_vec_wrap(work, d, MGVI_COLS);
    if (!plain)
        row_weights(view, h, k.x, hp.x);
    const mgv_status st = stored_gram(ctx, op->stored, k.x, exact, G, ld);
    op->touched += (double)op->stored->nnz;
    if (st == MGV_OK)
        lay_view(base, view, h, &k, &hp, &m, G, ld);
    mgvi_release(ctx, work);
    return st == MGV_OK ? mgvi_ctx_whole(ctx) : st;
}
