/* op.c - the list of operators, operators of stored matrices, and the norm. */
#include "op/op.h"

#include "backend/backend.h"
#include "base/rng.h"
#include "op/stored.h"

#include <assert.h>
#include <math.h>

#define OPERATOR(name) extern const mgvi_op_ops mgvi_operator_##name;
#include "op/list.h"
#undef OPERATOR

static const mgvi_op_ops *const operators[] = {
#define OPERATOR(name) &mgvi_operator_##name,
#include "op/list.h"
#undef OPERATOR
};

int mgvi_operator_count(void) { return sizeof operators / sizeof *operators; }

const mgvi_op_ops *mgvi_operator_at(int index) { return operators[index]; }

mgv_status mgvi_op_check_lanes(mgv_ctx *ctx, int32_t lanes)
{
    if (lanes < 1 || lanes > MGVI_LANES_MAX)
        return MGVI_FAIL(ctx, MGV_E_ARG, "an operator of %" PRId32 " lanes; allowed: from 1 to %d",
                         lanes, MGVI_LANES_MAX);
    return MGV_OK;
}

/* ---- stored matrices ------------------------------------------------------------------------ */
mgv_status mgvi_op_from_matrix(mgv_ctx *ctx, const mgvi_matrix *m, int32_t lanes, mgvi_op **out)
{
    static const mgvi_op_ops *const by_layout[] = {[MGV_DENSE] = &mgvi_operator_dense,
                                                   [MGV_CSR] = &mgvi_operator_csr,
                                                   [MGV_CSC] = &mgvi_operator_csc};
    *out = NULL;
    MGVI_TRY(mgvi_op_check_lanes(ctx, lanes));
    mgvi_stored *s = mgvi_new(ctx, sizeof *s);
    if (!s)
        return MGV_E_MEMORY;
    s->op = (mgvi_op){.ops = by_layout[m->layout],
                      .ctx = ctx,
                      .rows = m->rows,
                      .cols = m->cols,
                      .nnz = m->nnz,
                      .entry = (m->dtype == MGV_F32 ? 4 : 8) + (m->layout == MGV_DENSE ? 0 : 4),
                      .lanes = lanes};
    s->matrix = *m;
    s->all.rows = m->rows;
    s->op.stored = &s->matrix;
    s->op.view = &s->all;
    s->transposed = mgvi_matrix_by_columns(m);
    const mgvi_matrix by_rows = s->transposed ? mgvi_matrix_transpose(m) : *m;
    const mgv_status st = mgvi_rowwise_init(ctx, NULL, &by_rows, lanes, &s->by_rows);
    if (st == MGV_OK)
        *out = &s->op;
    else
        mgvi_op_free(&s->op);
    return st;
}

mgvi_stored *mgvi_stored_of(mgvi_op *op)
{
    return op->ops->free == mgvi_stored_free ? (mgvi_stored *)op : NULL;
}

/* y = alpha M x + beta y, or with M' when `transposed`. */
static void product(mgvi_stored *s, bool transposed, double alpha, const mgvi_vec *x, double beta,
                    mgvi_vec *y)
{
    mgvi_rowwise *rw = &s->by_rows;
    const mgvi_view all = {.rows = rw->m.rows};
    assert(x->k == y->k);
    assert(x->n == (transposed ? rw->m.rows : rw->m.cols));
    assert(y->n == (transposed ? rw->m.cols : rw->m.rows));
    if (transposed)
        mgvi_rowwise_mul_t(rw, &all, x->k, alpha, x->x, beta, y->x, NULL);
    else
        mgvi_rowwise_mul(rw, &all, (mgvi_lane_shift){0}, x->k, alpha, x->x, beta, y->x);
    s->op.touched += (double)s->op.nnz;
}

void mgvi_stored_mul(mgvi_op *op, double alpha, const mgvi_vec *x, double beta, mgvi_vec *y)
{
    mgvi_stored *s = (mgvi_stored *)op;
    product(s, s->transposed, alpha, x, beta, y);
}

void mgvi_stored_mul_t(mgvi_op *op, double alpha, const mgvi_vec *u, double beta, mgvi_vec *g)
{
    mgvi_stored *s = (mgvi_stored *)op;
    product(s, !s->transposed, alpha, u, beta, g);
}

void mgvi_stored_free(mgvi_op *op)
{
    mgv_ctx *ctx = op->ctx;
    mgvi_rowwise_free(&((mgvi_stored *)op)->by_rows);
    mgvi_release(ctx, op);
}

void mgvi_op_free(mgvi_op *op)
{
    if (op)
        op->ops->free(op);
}

/* ---- products of vectors that lie elsewhere --------------------------------------------------- */
void mgvi_op_mul_away(mgvi_op *op, double alpha, const mgvi_vec *x, double beta, mgvi_vec *y)
{
    const mgvi_backend *at = y->at ? y->at : x->at;
    if (at->mul) {
        at->mul(op, alpha, x, beta, y);
        return;
    }
    const mgvi_vec from = mgvi_vec_hosted(x);
    mgvi_vec to = mgvi_vec_opened(y);
    op->ops->mul(op, alpha, &from, beta, &to);
    mgvi_vec_close(y);
}

void mgvi_op_mul_t_away(mgvi_op *op, double alpha, const mgvi_vec *u, double beta, mgvi_vec *g)
{
    const mgvi_backend *at = g->at ? g->at : u->at;
    if (at->mul_t) {
        at->mul_t(op, alpha, u, beta, g);
        return;
    }
    const mgvi_vec from = mgvi_vec_hosted(u);
    mgvi_vec to = mgvi_vec_opened(g);
    op->ops->mul_t(op, alpha, &from, beta, &to);
    mgvi_vec_close(g);
}

/* ---- norm ----------------------------------------------------------------------------------- */
/* x /= |x|; returns |x| of the first lane, all being equal. */
static double normalise(mgvi_op *op, mgvi_vec *x, double *norms)
{
    mgv_ctx *ctx = op->ctx;
    if (x->space == MGVI_COLS && op->ops->square)
        norms[0] = mgvi_op_length(op, x);
    else
        mgvi_vec_norm2(ctx, x, norms);
    const double norm = norms[0];
    if (norm > 0 && isfinite(norm)) {
        /* 1 / norm is infinite when norm is tiny: two steps. */
        const double root = sqrt(norm);
        mgvi_vec_scale(ctx, 1 / root, x);
        mgvi_vec_scale(ctx, 1 / root, x);
    }
    return norm;
}

/* w <- A'A w / |A'A w|; *sigma = |A w| for |w| = 1. */
mgv_status mgvi_op_norm(mgvi_op *op, mgvi_arena *arena, int iterations, uint64_t seed, double *out)
{
    mgv_ctx *ctx = op->ctx;
    const int32_t k = op->lanes_fixed ? op->lanes : 1;
    mgvi_vec w, g, u;
    MGVI_TRY(MGVI_VECS(arena, MGVI_COLS, op->cols, k, &w, &g));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_ROWS, op->rows, k, &u));
    double *norms;
    MGVI_TRY(MGVI_ARRAY(arena, norms, k));
    mgvi_rng rng = mgvi_rng_seed(seed);
    double *x = mgvi_vec_open(&w);
    for (int64_t j = 0; j < w.n; j++) {
        const double start = mgvi_rng_normal(&rng);
        for (int32_t c = 0; c < k; c++)
            x[j * k + c] = start;
    }
    mgvi_vec_close(&w);
    normalise(op, &w, norms);
    double sigma = 0;
    for (int i = 0; i <= iterations; i++) {
        mgvi_op_mul(op, 1, &w, 0, &u);
        const double length = normalise(op, &u, norms);
        if (!isfinite(length))
            return MGVI_FAIL(ctx, MGV_E_NUMERIC, "the norm of the data overflows");
        sigma = length > sigma ? length : sigma;
        if (sigma == 0 || i == iterations)
            break;
        mgvi_op_mul_t(op, 1, &u, 0, &g);
        mgvi_vec_swap(&w, &g);
        if (!(normalise(op, &w, norms) > 0))
            break;
    }
    *out = sigma;
    return MGV_OK;
}
