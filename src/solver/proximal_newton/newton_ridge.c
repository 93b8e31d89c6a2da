/* newton_ridge.c - three ways to solve (3). */
#include "solver/proximal_newton/newton_model.h"

#include "base/limit.h"
#include "linalg/gemm.h"
#include "op/gram.h"
#include "op/rows.h"

#include <math.h>
#include <string.h>

enum {
    MOST_COLUMNS = 1500, /* of a Cholesky factor */
    MOST_ROWS = 1500,
    MOST_SIDE = 3000,    /* of one that conjugate gradients give way to */
    MOST_PRODUCTS = 500, /* of conjugate gradients in one step */
    GRAM_BLOCKS = 16
};

typedef enum method { BY_COLUMNS, BY_ROWS, BY_PRODUCTS } method;

struct mgvi_newton_ridge {
    const mgv_problem *p;
    method method;
    int64_t n, cols;
    double *H;    /* cols x cols, or rows with curvature squared */
    double *unit; /* scaling of the columns, or sqrt(h) */
    double *rhs;
    mgvi_rows *rows;
    /* a factor of rows */
    int64_t most_rows; /* with curvature; 0: no factor, for want of room or of a uniform ridge */
    int64_t *bent;     /* those rows */
    double *K;         /* BY_ROWS: A A'/lambda of all of them */
    double *acc;
    /* BY_PRODUCTS */
    mgvi_vec residual, scaled, dir, image;
    double *inverse;      /* of the diagonal */
    int64_t most_columns; /* of a factor in their place; 0: no room for one */
    int64_t side;         /* that the factor has room for */
    bool long_products;   /* a factor costs less */
    mgvi_arena *arena;
};

static double ridge_at(const mgv_problem *p, int64_t j)
{
    return j < mgvi_problem_penalised(p) ? p->penalty->curv(mgvi_coefs_at(&p->col, j, 0), 0) : 0;
}

/* The model's, which may be raised. */
static double ridge_of(const mgvi_newton_ridge *m, const mgvi_newton_point *at, int64_t j)
{
    return at->raise * ridge_at(m->p, j);
}

static bool uniform(const mgv_problem *p) { return !p->col.scale.values && !p->col.a.values; }

static bool has_gram(const mgv_problem *p)
{
    return (p->A->ops->can & MGVI_ROW) && mgvi_matrix_by_rows(p->A->stored);
}

/* Multiplications of the curvature and its factor. */
static double columns_cost(const mgv_problem *p)
{
    const double d = (double)p->A->cols, n = (double)p->A->rows;
    if (!has_gram(p) || p->A->cols > MOST_COLUMNS)
        return INFINITY;
    const double nnz = (double)p->A->nnz;
    return d * d * d / 6 + (mgvi_op_is_dense(p->A) ? n * d * d / 2 : 4 * nnz * nnz / n);
}

static double rows_cost(const mgv_problem *p)
{
    const double n = (double)p->A->rows;
    return p->A->rows <= MOST_ROWS && uniform(p) ? n * n * n / 6 + 10 * n * n : INFINITY;
}

/* Products of conjugate gradients: few on sparse rows, which are long in words and short in
 * numbers, many on dense columns of any scale. Either costs more a multiplication than a matrix
 * product. */
static double products_cost(const mgv_problem *p)
{
    const double weight = mgvi_op_is_dense(p->A) ? 60 * 4.0 : 30 * 8.0;
    return 2 * weight * (double)p->A->nnz;
}

/* The columns' factor is scaled to a unit diagonal and does not mind columns of any sizes, which a
 * product of rows mixes: where either is quick it is preferred. */
static const double LITTLE_WORK = 1e7;

static method choose(const mgv_problem *p)
{
    const double columns = columns_cost(p), rows = rows_cost(p), products = products_cost(p);
    if (columns <= LITTLE_WORK || (columns <= rows && columns <= products))
        return BY_COLUMNS;
    return rows <= products ? BY_ROWS : BY_PRODUCTS;
}

double mgvi_newton_ridge_work(const mgv_problem *p)
{
    const double less = mgvi_op_is_dense(p->A) ? 3 : 2; /* mostly float32 */
    const method way = choose(p);
    return way == BY_COLUMNS ? columns_cost(p) / less : way == BY_ROWS ? rows_cost(p) : 0;
}

/* Products become long where a bent margin loss weighs much more than the ridge; not for ever, for
 * a factor takes their place. */
static double products_grow(const mgv_problem *p)
{
    static const double MOST = 10;
    const bool bent = (p->loss->can & MGVI_MARGIN) && (p->loss->can & MGVI_BENT);
    const double C = 1 / (2 * p->lambda * (double)p->A->rows);
    return bent && !mgvi_op_is_dense(p->A) ? fmin(fmax(1, sqrt(C)), MOST) : 1;
}

double mgvi_newton_ridge_cost(const mgv_problem *p, double steps)
{
    static const double PRODUCTS = 4, VECTORS = 400; /* of a step: the judge's, too; on a row */
    static const double KINKED = 2;                  /* few rows have all of the curvature */
    const double n = (double)p->A->rows, nnz = (double)p->A->nnz;
    const bool dense = mgvi_op_is_dense(p->A);
    const double entry = dense ? 8 : 16; /* of rows in their order */
    const method way = choose(p);
    /* more columns than half the rows separate any labels (Cover): the larger w, the fewer rows
     * curve, and each of them alone; products_cost() is that of other steps */
    const bool any_labels = (p->loss->can & MGVI_MARGIN) && 2 * p->A->cols > p->A->rows;
    const double separable = !dense && any_labels ? 10 : p->loss->can & MGVI_SMOOTH ? 1 : KINKED;
    const double longer = fmax(separable, products_grow(p));
    const double step = way == BY_PRODUCTS ? longer * products_cost(p) : mgvi_newton_ridge_work(p);
    const double once = way == BY_ROWS ? (dense ? 2 : 10) * n * nnz / 2 : 0; /* row by row */
    return once + steps * (step + PRODUCTS * entry * nnz + VECTORS * n);
}

/* ---- a factor of the columns ----------------------------------------------------------------- */

/* H scaled to a unit diagonal and factored; a ridge that grows until it is definite. */
static mgv_status factor_columns(mgvi_newton_ridge *m, const mgvi_newton_point *at)
{
    const int64_t d = m->cols;
    for (double ridge = 1e-14;; ridge *= 1e3) {
        int64_t pivot;
        /* centring cancels: means far from 0 would leave nothing of float32 */
        MGVI_TRY(mgvi_op_gram(m->p->A, at->h->x, at->exact || m->p->view.centre, m->H, d));
        for (int64_t j = 0; j < d; j++) {
            m->H[j * d + j] += ridge_of(m, at, j);
            m->unit[j] = m->H[j * d + j] > 0 ? 1 / sqrt(m->H[j * d + j]) : 0;
        }
        for (int64_t i = 0; i < d; i++) {
            for (int64_t j = 0; j < d; j++)
                m->H[i * d + j] *= m->unit[i] * m->unit[j];
            m->H[i * d + i] = 1 + ridge;
        }
        MGVI_TRY(mgvi_cholesky(m->p->ctx, d, m->H, d, &pivot));
        if (pivot < 0)
            return MGV_OK;
        if (!(ridge < 1))
            return MGVI_FAIL(m->p->ctx, MGV_E_NUMERIC,
                             "the curvature of the loss is not finite: scale the data "
                             "(--scale std)");
    }
}

static mgv_status solve_by_columns(mgvi_newton_ridge *m, const mgvi_newton_point *at, mgvi_vec *d)
{
    MGVI_TRY(factor_columns(m, at));
    for (int64_t j = 0; j < m->cols; j++)
        m->rhs[j] = -m->unit[j] * (at->g->x[j] + ridge_of(m, at, j) * at->w->x[j]);
    MGVI_TRY(mgvi_cholesky_solve(m->p->ctx, m->cols, m->H, m->cols, 1, m->rhs));
    for (int64_t j = 0; j < m->cols; j++)
        d->x[j] = m->unit[j] * m->rhs[j];
    return MGV_OK;
}

/* ---- a factor of the rows -------------------------------------------------------------------- */

/* The rows with curvature, most_rows of them at most: how many there are. */
static int64_t find_bent(mgvi_newton_ridge *m, const mgvi_newton_point *at)
{
    int64_t count = 0;
    for (int64_t i = 0; i < m->n; i++) {
        if (at->h->x[i] > 0 && count < m->most_rows)
            m->bent[count] = i;
        count += at->h->x[i] > 0;
    }
    return count;
}

typedef struct gram_job {
    mgvi_newton_ridge *m;
    const int64_t *row; /* NULL: all */
    int64_t count, blocks;
    double *K, *acc;
} gram_job;

/* K_ik for k <= i, one work vector per block. */
static void gram_block(void *arg, int64_t block)
{
    const gram_job *job = arg;
    const mgvi_rows *rows = job->m->rows;
    const int64_t n = job->count, len = mgvi_rows_acc_len(rows);
    const double inverse_lambda = 1 / ridge_at(job->m->p, 0);
    double *acc = job->acc + block * len;
    for (int64_t i = block; i < n && !mgvi_ctx_cut(rows->ctx); i += job->blocks) {
        memset(acc, 0, (size_t)len * sizeof *acc);
        mgvi_rows_axpy(rows, job->row ? job->row[i] : i, inverse_lambda, acc);
        if (rows->view.intercept)
            acc[len - 1] = 0;
        for (int64_t k = 0; k <= i; k++)
            job->K[i * n + k] = job->K[k * n + i] =
                mgvi_rows_dot(rows, job->row ? job->row[k] : k, acc);
    }
}

/* A A'/lambda over the penalised columns, of these rows. */
static void make_gram(mgvi_newton_ridge *m, const int64_t *row, int64_t count, double *K)
{
    gram_job job = {.m = m, .row = row, .count = count, .K = K, .acc = m->acc};
    job.blocks = count < GRAM_BLOCKS ? count : GRAM_BLOCKS;
    mgvi_ctx_run(m->p->ctx, job.blocks, gram_block, &job);
    m->p->A->touched += (double)m->p->A->nnz * (double)count / (double)m->n;
}

/* H = I + S K S over the rows with curvature, factored; K is of the strength asked for. */
static mgv_status factor_rows(mgvi_newton_ridge *m, double raise, int64_t count)
{
    const double *S = m->unit;
    int64_t pivot;
    if (!m->K)
        make_gram(m, m->bent, count, m->H);
    MGVI_TRY(mgvi_ctx_whole(m->p->ctx));
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < count; k++) {
            double *at = m->H + i * count + k;
            const double own = m->K ? m->K[m->bent[i] * m->n + m->bent[k]] : *at;
            *at = S[i] * own / raise * S[k] + (i == k);
        }
    MGVI_TRY(mgvi_cholesky(m->p->ctx, count, m->H, count, &pivot));
    if (pivot >= 0)
        return MGVI_FAIL(m->p->ctx, MGV_E_NUMERIC,
                         "the curvature of the loss is not finite: scale the data (--scale std)");
    return MGV_OK;
}

/* With t = w + A'u/lambda, 0 for the intercept, S = diag(sqrt(h)), v = S A d and K = A A'/lambda,
 *   (I + S K S) v = -S A t + S a0 d0,   a0'(u + S v) = 0,   d = -t - A'S v/lambda              (4)
 * over the rows with curvature: elsewhere v = 0. */
static mgv_status solve_by_rows(mgvi_newton_ridge *m, const mgvi_newton_point *at, int64_t count,
                                mgvi_vec *d)
{
    const mgv_problem *p = m->p;
    const int64_t pen = mgvi_problem_penalised(p);
    const double lambda = ridge_of(m, at, 0);
    const bool free = p->free_cols > 0;
    double *S = m->unit, *rhs = m->rhs; /* two columns: the right-hand side, and S a0 */
    for (int64_t j = 0; j < pen; j++)
        d->x[j] = at->w->x[j] + at->g->x[j] / lambda;
    if (free)
        d->x[pen] = 0;
    mgvi_op_mul(p->A, 1, d, 0, at->work);
    for (int64_t i = 0; i < count; i++) {
        S[i] = sqrt(at->h->x[m->bent[i]]);
        rhs[2 * i] = -S[i] * at->work->x[m->bent[i]];
        rhs[2 * i + 1] = free ? S[i] * mgvi_problem_free_entry(p, m->bent[i]) : 0;
    }
    MGVI_TRY(factor_rows(m, at->raise, count));
    MGVI_TRY(mgvi_cholesky_solve(p->ctx, count, m->H, count, 2, rhs));
    double along = 0, across = 0;
    for (int64_t i = 0; free && i < count; i++) {
        const double entry = S[i] * mgvi_problem_free_entry(p, m->bent[i]);
        along += entry * rhs[2 * i + 1];
        across += entry * rhs[2 * i];
    }
    const double d0 = along > 0 ? -(at->g->x[pen] + across) / along : 0;
    mgvi_vec_fill(p->ctx, at->work, 0);
    for (int64_t i = 0; i < count; i++)
        at->work->x[m->bent[i]] = S[i] * (rhs[2 * i] + d0 * rhs[2 * i + 1]);
    mgvi_op_mul_t(p->A, -1 / lambda, at->work, -1, d);
    if (free)
        d->x[pen] = d0;
    return MGV_OK;
}

/* ---- conjugate gradients --------------------------------------------------------------------- */

/* image = (Lambda + A'HA) dir */
static void curve(mgvi_newton_ridge *m, const mgvi_newton_point *at)
{
    mgvi_op_mul(m->p->A, 1, &m->dir, 0, at->work);
    for (int64_t i = 0; i < m->n; i++)
        at->work->x[i] *= at->h->x[i];
    mgvi_op_mul_t(m->p->A, 1, at->work, 0, &m->image);
    for (int64_t j = 0; j < m->cols; j++)
        m->image.x[j] += ridge_of(m, at, j) * m->dir.x[j];
}

/* 1 over the diagonal of the curvature; the shift by the column means is left out. */
static void invert_diagonal(mgvi_newton_ridge *m, const mgvi_newton_point *at)
{
    const mgvi_rows *r = m->rows;
    const int64_t pen = mgvi_problem_penalised(m->p);
    double total = 0;
    memset(m->inverse, 0, (size_t)m->cols * sizeof *m->inverse);
    for (int64_t i = 0; i < m->n && !mgvi_ctx_cut_row(m->p->ctx, i); i++) {
        if (at->h->x[i] == 0)
            continue;
        const int64_t row = mgvi_rows_source(r, i), count = mgvi_rows_nnz(r, i);
        const bool dense = r->m.layout == MGV_DENSE;
        const int64_t first = dense ? row * r->m.row_stride : r->m.ptr[row];
        const double scale = mgvi_view_row_scale(&r->view, i), h = at->h->x[i] * scale * scale;
        for (int64_t t = 0; t < count; t++) {
            const double x = mgvi_matrix_value(&r->m, first + t);
            m->inverse[dense ? t : r->m.idx[first + t]] += h * x * x;
        }
        total += at->h->x[i];
    }
    m->p->A->touched += (double)m->p->A->nnz;
    for (int64_t j = 0; j < pen; j++) {
        const double s = mgvi_view_scale(&r->view, j),
                     sum = m->inverse[j] * s * s + ridge_of(m, at, j);
        m->inverse[j] = sum > 0 ? 1 / sum : 0;
    }
    if (pen < m->cols)
        m->inverse[pen] = total > 0 ? 1 / total : 0;
}

static double apply_diagonal(mgvi_newton_ridge *m)
{
    double product;
    for (int64_t j = 0; j < m->cols; j++)
        m->scaled.x[j] = m->inverse[j] * m->residual.x[j];
    mgvi_vec_dot(m->p->ctx, &m->residual, &m->scaled, &product);
    return product;
}

/* Entries of products that would cost what a factor of this many rows or columns does, of which a
 * matrix product made the square. */
static double factor_worth(const mgvi_newton_ridge *m, double side, double square)
{
    const double entry = mgvi_op_is_dense(m->p->A) ? 0.25 : 1;
    return entry * square + side * side * side / 48;
}

static double rows_worth(const mgvi_newton_ridge *m, int64_t count)
{
    const double k = (double)count;
    return factor_worth(m, k, k * k / 2 * (double)m->p->A->nnz / (double)m->n);
}

static double columns_worth(const mgvi_newton_ridge *m, int64_t count)
{
    const double d = (double)m->cols, n = (double)m->n, row = (double)m->p->A->nnz / n;
    return factor_worth(m, d, (double)count * row / 2 * (mgvi_op_is_dense(m->p->A) ? d / 2 : row));
}

/* Whether they end within so many products. */
static bool solve_by_products(mgvi_newton_ridge *m, const mgvi_newton_point *at, int most,
                              mgvi_vec *d)
{
    mgv_ctx *ctx = m->p->ctx;
    invert_diagonal(m, at);
    mgvi_vec_fill(ctx, d, 0);
    for (int64_t j = 0; j < m->cols; j++)
        m->residual.x[j] = -(at->g->x[j] + ridge_of(m, at, j) * at->w->x[j]);
    double rho = apply_diagonal(m);
    const double enough = at->accuracy * at->accuracy * rho;
    mgvi_vec_copy(ctx, &m->scaled, &m->dir);
    for (int k = 0; k < most && rho > enough && !mgvi_ctx_cut(ctx); k++) {
        double bend;
        curve(m, at);
        mgvi_vec_dot(ctx, &m->dir, &m->image, &bend);
        if (!(bend > 0))
            break;
        mgvi_vec_axpby(ctx, rho / bend, &m->dir, 1, d);
        mgvi_vec_axpby(ctx, -rho / bend, &m->image, 1, &m->residual);
        const double next = apply_diagonal(m);
        mgvi_vec_axpby(ctx, 1, &m->scaled, next / rho, &m->dir);
        rho = next;
    }
    return rho <= enough;
}

static mgv_status allocate_factor(mgvi_newton_ridge *m, int64_t side, mgvi_arena *arena)
{
    const size_t k = (size_t)side;
    MGVI_TRY(MGVI_ARRAY(arena, m->H, k * k));
    MGVI_TRY(MGVI_ARRAY(arena, m->unit, k));
    MGVI_TRY(MGVI_ARRAY(arena, m->rhs, 2 * k));
    return MGV_OK;
}

/* Of the factor, when it is first needed and when more rows curve than ever before. */
static mgv_status make_room(mgvi_newton_ridge *m, int64_t side)
{
    if (side <= m->side)
        return MGV_OK;
    m->side = side;
    return allocate_factor(m, side, m->arena);
}

/* Conjugate gradients for as long as a factor would take, of the rows with curvature, if these are
 * few, or of the columns; then that, and from then on that alone: what made them long, little ridge
 * beside much curvature, will be there in the next step. At worst it is twice what the better of
 * the two costs. */
static mgv_status solve_by_either(mgvi_newton_ridge *m, const mgvi_newton_point *at, mgvi_vec *d)
{
    const int64_t count = find_bent(m, at);
    const bool few = count > 0 && count <= m->most_rows;
    const double rows = few ? rows_worth(m, count) : INFINITY;
    const double columns = m->cols <= m->most_columns ? columns_worth(m, count) : INFINITY;
    const double worth = fmin(rows, columns) / (2 * (double)m->p->A->nnz);
    if (!(m->long_products && isfinite(worth)) &&
        solve_by_products(m, at, (int)fmin(MOST_PRODUCTS, worth), d))
        return MGV_OK;
    m->long_products = true;
    if (!isfinite(worth))
        return MGV_OK;
    const int64_t most = count < m->most_rows / 2 ? 2 * count : m->most_rows;
    MGVI_TRY(make_room(m, rows <= columns ? most : m->cols));
    return rows <= columns ? solve_by_rows(m, at, count, d) : solve_by_columns(m, at, d);
}

/* ---- the choice ------------------------------------------------------------------------------ */

static mgv_status allocate_rows(mgvi_newton_ridge *m, int64_t most, mgvi_arena *arena)
{
    MGVI_TRY(mgvi_rows_new(m->p->A, arena, &m->rows));
    const size_t len = (size_t)mgvi_rows_acc_len(m->rows) * GRAM_BLOCKS;
    m->bent = mgvi_arena_array(arena, (size_t)most, sizeof *m->bent);
    m->acc = mgvi_arena_array(arena, len, sizeof *m->acc);
    m->most_rows = most;
    return m->bent && m->acc ? MGV_OK : MGV_E_MEMORY;
}

/* Whether a factor of so many rows or columns may stand beside conjugate gradients, and what its
 * making needs. */
static bool has_room(const mgv_problem *p, double side, double making)
{
    static const double HELD = 9; /* numbers a row, the driver's included */
    return sizeof(double) * (side * side + 4 * side + making) <= mgvi_problem_spare(p, HELD);
}

static mgv_status allocate_products(mgvi_newton_ridge *m, mgvi_arena *arena)
{
    mgvi_vec *const cols[] = {&m->residual, &m->scaled, &m->dir, &m->image};
    const double d =
        (double)m->cols; /* blocks of rows are of the columns, sums of columns square */
    const int64_t rows = m->n < MOST_SIDE ? m->n : MOST_SIDE;
    for (size_t k = 0; k < sizeof cols / sizeof *cols; k++)
        MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, m->cols, 1, cols[k]));
    MGVI_TRY(MGVI_ARRAY(arena, m->inverse, m->cols));
    m->arena = arena;
    if (has_gram(m->p) && m->cols <= MOST_SIDE && has_room(m->p, d, d * d))
        m->most_columns = m->cols;
    return uniform(m->p) && has_room(m->p, (double)rows, GRAM_BLOCKS * (d + 2))
               ? allocate_rows(m, rows, arena)
               : mgvi_rows_bare(m->p->A, arena, &m->rows);
}

static mgv_status allocate(mgvi_newton_ridge *m, mgvi_arena *arena)
{
    if (m->method == BY_PRODUCTS)
        return allocate_products(m, arena);
    MGVI_TRY(allocate_factor(m, m->method == BY_COLUMNS ? m->cols : m->n, arena));
    if (m->method == BY_COLUMNS)
        return MGV_OK;
    MGVI_TRY(allocate_rows(m, m->n, arena));
    MGVI_TRY(MGVI_ARRAY(arena, m->K, m->n * m->n));
    make_gram(m, NULL, m->n, m->K);
    return MGV_OK;
}

mgv_status mgvi_newton_ridge_new(const mgv_problem *p, mgvi_arena *arena, mgvi_newton_ridge **out)
{
    mgvi_newton_ridge *m;
    MGVI_TRY(MGVI_ARRAY(arena, m, 1));
    m->p = p;
    m->n = p->A->rows;
    m->cols = p->A->cols;
    m->method = choose(p);
    *out = m;
    return allocate(m, arena);
}

mgv_status mgvi_newton_ridge_solve(mgvi_newton_ridge *m, const mgvi_newton_point *at, mgvi_vec *d)
{
    return m->method == BY_COLUMNS ? solve_by_columns(m, at, d)
           : m->method == BY_ROWS  ? solve_by_rows(m, at, find_bent(m, at), d)
                                   : solve_by_either(m, at, d);
}
