/* newton_sparse.c - the working set and its quadratic, in one of two ways. Few columns: A'HA of all
 * of them (op/gram.h), from which the set's rows and columns are picked. Many: the set's columns
 * packed on the rows with curvature, p_j = e x_j with e = sqrt(h), W = |e|^2, centred at c_j =
 * p_j.e/W when the intercept is free, else at the view's centre.                       */
#include "solver/proximal_newton/newton_model.h"

#include "linalg/gemm.h"
#include "op/columns.h"
#include "op/gram.h"
#include "solver/shared/ranking.h"
#include "solver/shared/sparse_quadratic.h"
#include "solver/solver_impl.h"

#include <math.h>
#include <string.h>

enum {
    LEAST_JOINING = 200,
    FEW_COLUMNS = 640, /* whose A'HA costs less than the sweeps it saves */
    FEW_ENTRIES = 40,  /* per sparse row: the same */
    SHORT_COLUMN = 8   /* times the entries of a sparse column: a row of the Gram matrix */
};

/* Numbers a row that the driver, the solver and this hold; and how many times the copy is counted,
 * for the columns of a set and its Gram matrix come beside it. */
static const double HELD = 9, COPIES = 1.5;

struct mgvi_newton_sparse {
    double swept; /* entries that sweeps have read, not told yet */
    const mgv_problem *p;
    mgvi_arena *arena;
    mgvi_quadratic q;
    mgvi_ranked *violator; /* work space of the choice */
    int32_t *col;          /* the working set */
    int64_t cols;          /* of the data */
    double *all;           /* few columns: A'HA with the intercept's; NULL: */
    bool hard;             /* dense: models took as long as a larger Gram matrix would have */
    bool copied;           /* many columns: P is there, else the set's columns are found in X */
    mgvi_packed P;         /* the data by columns, scaled, not centred */
    int32_t *place;        /* not copied: per column, its place in the set + 1, or 0 */
    int32_t *number;       /* per row: its place among those with curvature, or -1 */
    mgvi_arena *set;       /* the columns of the working set: */
    int64_t *ptr, ptr_room, room;
    int32_t *idx;
    double *val, *e;
};

/* ---- making it ------------------------------------------------------------------------------- */

static bool few_columns(const mgv_problem *p)
{
    const mgvi_matrix *X = p->A->stored;
    if (X->cols > FEW_COLUMNS || X->rows < X->cols / 4)
        return false;
    return mgvi_matrix_by_rows(X) && (X->layout == MGV_DENSE || X->nnz <= FEW_ENTRIES * X->rows);
}

static bool is_dense(const mgvi_newton_sparse *m) { return mgvi_op_is_dense(m->p->A); }

/* A copy of the data by columns, where there is room for it beside the columns of the set. */
static mgv_status copy_columns(mgvi_newton_sparse *m)
{
    const mgv_problem *p = m->p;
    const mgvi_matrix *X = p->A->stored;
    m->copied = COPIES * mgvi_packed_bytes(X, MGV_F64) <= mgvi_problem_spare(p, HELD);
    if (!m->copied) {
        MGVI_TRY(MGVI_ARRAY(m->arena, m->place, X->cols));
        return MGV_OK;
    }
    return mgvi_packed_new(m->arena, &X, 1, p->view.row_scale, p->view.scale, NULL, MGV_F64, &m->P);
}

static mgv_status allocate_packed(mgvi_newton_sparse *m)
{
    const size_t n = (size_t)m->p->A->rows;
    MGVI_TRY(copy_columns(m));
    if (!(m->set = mgvi_arena_within(m->arena)))
        return MGV_E_MEMORY;
    MGVI_TRY(MGVI_ARRAY(m->arena, m->number, n));
    MGVI_TRY(MGVI_ARRAY(m->arena, m->e, n));
    MGVI_TRY(MGVI_ARRAY(m->arena, m->q.R, n));
    return MGV_OK;
}

mgv_status mgvi_newton_sparse_new(const mgv_problem *p, mgvi_arena *arena, mgvi_newton_sparse **out)
{
    const mgvi_matrix *X = p->A->stored;
    if (X->cols > INT32_MAX || X->rows != p->A->rows)
        return MGVI_FAIL(p->ctx, MGV_E_UNSUPPORTED,
                         "Newton steps with l1 need all rows and at most 2^31 columns");
    mgvi_newton_sparse *m = mgvi_arena_array(arena, 1, sizeof *m);
    const size_t d = (size_t)X->cols, side = (size_t)p->A->cols;
    if (!m || !(m->violator = mgvi_arena_array(arena, d, sizeof *m->violator)) ||
        !(m->col = mgvi_arena_array(arena, d, sizeof *m->col)))
        return MGV_E_MEMORY;
    m->p = p;
    m->arena = arena;
    m->cols = X->cols;
    m->q.ctx = p->ctx;
    m->q.arena = arena;
    m->q.simd = p->ctx->simd;
    *out = m;
    if (!few_columns(p))
        return allocate_packed(m);
    MGVI_TRY(MGVI_ARRAY(arena, m->all, side * side));
    return MGV_OK;
}

/* ---- the working set ------------------------------------------------------------------------- */

/* The columns with a weight, and the worst of those that want one: as many again. */
static int64_t choose_columns(mgvi_newton_sparse *m, const mgvi_newton_point *at)
{
    int64_t wanting = 0, count = 0;
    for (int64_t j = 0; j < m->cols; j++) {
        const double excess =
            fabs(at->g->x[j]) - at->raise * mgvi_coef_pick(&m->p->col.scale, j, 0);
        if (at->w->x[j] != 0)
            m->col[count++] = (int32_t)j;
        else if (excess > 0)
            m->violator[wanting++] = (mgvi_ranked){excess, (int32_t)j};
    }
    const int64_t most = count > LEAST_JOINING ? count : LEAST_JOINING;
    mgvi_rank_join(m->violator, wanting, most, m->col, &count);
    return count;
}

static void set_penalty(mgvi_newton_sparse *m, const mgvi_newton_point *at)
{
    for (int64_t k = 0; k < m->q.count; k++) {
        const mgvi_coef c = mgvi_coefs_at(&m->p->col, m->col[k], 0);
        m->q.x[k] = at->w->x[m->col[k]];
        m->q.scale[k] = at->raise * c.scale;
        m->q.ridge[k] = m->p->penalty->curv(c, 0);
    }
}

/* ---- few columns ----------------------------------------------------------------------------- */

/* The intercept is eliminated: H - H_0 H_0'/H_00, g - H_0 g_0/H_00. */
static mgv_status pick_gram(mgvi_newton_sparse *m, const mgvi_newton_point *at)
{
    const int64_t side = m->p->A->cols, d = m->cols;
    const bool free = m->p->free_cols > 0;
    mgvi_quadratic *q = &m->q;
    q->form = MGVI_GRAM_FORM;
    /* exact: centring cancels, and signs hang on what is left */
    MGVI_TRY(mgvi_op_gram(m->p->A, at->h->x, true, m->all, side));
    const double W = free ? m->all[d * side + d] : 0;
    for (int64_t k = 0; k < q->count; k++) {
        const double *row = m->all + m->col[k] * side;
        const double part = W > 0 ? row[d] / W : 0;
        for (int64_t l = 0; l < q->count; l++)
            q->gram[k * q->count + l] = row[m->col[l]] - part * m->all[m->col[l] * side + d];
        const double square = q->gram[k * q->count + k];
        q->square[k] = square > 1e-13 * row[m->col[k]] ? square : 0;
        q->linear[k] = at->g->x[m->col[k]] - (W > 0 ? part * at->g->x[d] : 0);
    }
    return MGV_OK;
}

/* The intercept that goes with the step. */
static double gram_intercept(const mgvi_newton_sparse *m, const mgvi_newton_point *at,
                             const mgvi_vec *step)
{
    const int64_t side = m->p->A->cols, d = m->cols;
    const double W = m->all[d * side + d];
    double sum = at->g->x[d];
    for (int64_t k = 0; k < m->q.count; k++)
        sum += m->all[m->col[k] * side + d] * step->x[m->col[k]];
    return W > 0 ? -sum / W : 0;
}

/* ---- many columns ---------------------------------------------------------------------------- */

static void choose_rows(mgvi_newton_sparse *m, const mgvi_newton_point *at)
{
    mgvi_quadratic *q = &m->q;
    q->rows = 0;
    q->W = 0;
    for (int64_t i = 0; i < m->p->A->rows; i++) {
        const double h = at->h->x[i];
        m->number[i] = h > 0 ? (int32_t)q->rows : -1;
        if (!(h > 0))
            continue;
        m->e[q->rows++] = sqrt(h);
        q->W += h;
    }
}

static mgv_status room_for_columns(mgvi_newton_sparse *m)
{
    const int64_t count = m->q.count;
    if (count < m->ptr_room)
        return MGV_OK;
    m->ptr_room = count + count / 4 + 1;
    MGVI_TRY(MGVI_SCRATCH(m->arena, m->ptr, (size_t)m->ptr_room + 1));
    return MGV_OK;
}

/* What has been outgrown goes first. */
static mgv_status room_for_entries(mgvi_newton_sparse *m, int64_t entries)
{
    if (m->val && entries <= m->room)
        return MGV_OK;
    mgvi_arena_free(m->set);
    m->room = entries + entries / (m->copied ? 4 : 32); /* where room is short, little more */
    m->val = mgvi_arena_scratch(m->set, (size_t)m->room, sizeof *m->val);
    m->idx = mgvi_arena_scratch(m->set, is_dense(m) ? 1 : (size_t)m->room, sizeof *m->idx);
    if (m->val && m->idx)
        return MGV_OK;
    m->val = NULL;
    return MGV_E_MEMORY;
}

/* Column k of the set from column j of the copy. */
static void pack_column(mgvi_newton_sparse *m, int64_t k, int64_t j)
{
    int64_t at = m->ptr[k];
    for (int64_t t = m->P.ptr[j]; t < m->P.ptr[j + 1]; t++) {
        const int32_t row = m->number[m->P.dense ? t - m->P.ptr[j] : m->P.idx[t]];
        if (row < 0)
            continue;
        if (!m->P.dense)
            m->idx[at] = row;
        m->val[at++] = m->e[row] * m->P.f64[t];
    }
    m->ptr[k + 1] = at;
}

static mgv_status pack_copied(mgvi_newton_sparse *m)
{
    int64_t entries = 0;
    for (int64_t k = 0; k < m->q.count; k++)
        entries += m->P.dense ? m->q.rows : mgvi_packed_nnz(&m->P, m->col[k]);
    MGVI_TRY(room_for_entries(m, entries));
    m->ptr[0] = 0;
    for (int64_t k = 0; k < m->q.count; k++)
        pack_column(m, k, m->col[k]);
    m->p->A->touched += (double)m->ptr[m->q.count];
    return MGV_OK;
}

/* ---- the set's columns from the data itself, in one pass ------------------------------------- */

/* What an entry of row i is multiplied with, the column's scale apart; 0: the row is left out. */
static double factor_of(const mgvi_newton_sparse *m, int64_t i)
{
    const int32_t row = m->number[i];
    return row < 0 ? 0 : m->e[row] * mgvi_view_row_scale(&m->p->view, i);
}

static mgv_status pack_dense(mgvi_newton_sparse *m)
{
    const mgvi_matrix *X = m->p->A->stored;
    const int64_t count = m->q.count, n = m->q.rows;
    MGVI_TRY(room_for_entries(m, count * n));
    for (int64_t k = 0; k <= count; k++)
        m->ptr[k] = k * n;
    for (int64_t i = 0; i < X->rows; i++) {
        const double factor = factor_of(m, i);
        for (int64_t k = 0; factor != 0 && k < count; k++) {
            const int64_t j = m->col[k];
            m->val[k * n + m->number[i]] =
                factor * mgvi_view_scale(&m->p->view, j) *
                mgvi_matrix_value(X, i * X->row_stride + j * X->col_stride);
        }
    }
    return MGV_OK;
}

/* Calls for the entries of the set in rows with curvature: k is the place of their column. */
#define FOR_ENTRIES(m, X, CALL)                                                                    \
    do {                                                                                           \
        const bool by_rows = (X)->layout == MGV_CSR;                                               \
        for (int64_t l = 0; l < (by_rows ? (X)->rows : (X)->cols); l++)                            \
            for (int64_t t = (X)->ptr[l]; t < (X)->ptr[l + 1]; t++) {                              \
                const int64_t i = by_rows ? l : (X)->idx[t], j = by_rows ? (X)->idx[t] : l;        \
                const int64_t k = (m)->place[j] - 1;                                               \
                if (k >= 0 && (m)->number[i] >= 0)                                                 \
                    CALL;                                                                          \
            }                                                                                      \
    } while (0)

static void place_entry(mgvi_newton_sparse *m, int64_t k, int64_t i, double x)
{
    const int64_t at = m->ptr[k + 1]++;
    m->idx[at] = m->number[i];
    m->val[at] = factor_of(m, i) * mgvi_view_scale(&m->p->view, m->col[k]) * x;
}

/* ptr[k + 2] counts column k, then ptr[k + 1] is where it grows, at last where it ends. */
static mgv_status pack_sparse(mgvi_newton_sparse *m)
{
    const mgvi_matrix *X = m->p->A->stored;
    const int64_t count = m->q.count;
    memset(m->ptr, 0, (size_t)(count + 2) * sizeof *m->ptr);
    for (int64_t k = 0; k < count; k++)
        m->place[m->col[k]] = (int32_t)k + 1;
    FOR_ENTRIES(m, X, m->ptr[k + 2]++);
    for (int64_t k = 2; k <= count + 1; k++)
        m->ptr[k] += m->ptr[k - 1];
    MGVI_TRY(room_for_entries(m, m->ptr[count + 1]));
    FOR_ENTRIES(m, X, place_entry(m, k, i, mgvi_matrix_value(X, t)));
    for (int64_t k = 0; k < count; k++)
        m->place[m->col[k]] = 0;
    return MGV_OK;
}

/* Moving from the view's centre to c_j changes the gradient by the intercept's. */
static void measure_column(mgvi_newton_sparse *m, int64_t k, const mgvi_newton_point *at)
{
    mgvi_quadratic *q = &m->q;
    const int64_t j = m->col[k];
    const bool free = m->p->free_cols > 0;
    double square = 0, sum = 0;
    for (int64_t t = m->ptr[k]; t < m->ptr[k + 1]; t++) {
        square += m->val[t] * m->val[t];
        sum += m->val[t] * m->e[is_dense(m) ? t - m->ptr[k] : m->idx[t]];
    }
    q->sum[k] = sum;
    q->mean[k] = !free ? mgvi_view_shift(&m->p->view, j) : q->W > 0 ? sum / q->W : 0;
    const double centred = square + q->mean[k] * (q->mean[k] * q->W - 2 * sum);
    q->square[k] = centred > 1e-13 * square ? centred : 0;
    q->linear[k] = at->g->x[j];
    if (free)
        q->linear[k] += (mgvi_view_shift(&m->p->view, j) - q->mean[k]) * at->g->x[m->cols];
}

/* Dense columns that are few: their Gram matrix, by a matrix product and the centres' share. */
static mgv_status multiply_columns(mgvi_newton_sparse *m)
{
    mgvi_quadratic *q = &m->q;
    const int64_t n = q->count;
    q->form = MGVI_GRAM_FORM;
    q->work += (double)n * (double)n * (double)q->rows;
    MGVI_TRY(mgvi_gemm_f64(q->ctx,
                           &(mgvi_gemm_shape){.m = n,
                                              .n = n,
                                              .k = q->rows,
                                              .transpose_b = true,
                                              .lda = q->rows,
                                              .ldb = q->rows,
                                              .ldc = n},
                           1, m->val, m->val, 0, q->gram));
    for (int64_t k = 0; k < n; k++)
        for (int64_t l = 0; l < n; l++)
            q->gram[k * n + l] +=
                q->mean[k] * (q->mean[l] * q->W - q->sum[l]) - q->sum[k] * q->mean[l];
    return MGV_OK;
}

/* Sparse ones: each of them, centred, is spread over the rows and multiplied with the others. */
static void multiply_sparse_columns(mgvi_newton_sparse *m)
{
    mgvi_quadratic *q = &m->q;
    const int64_t n = q->count;
    for (int64_t k = 0; k < n; k++)
        mgvi_quadratic_products(q, k, n, q->gram + k * n);
    for (int64_t k = 0; k < n; k++)
        for (int64_t l = 0; l < k; l++)
            q->gram[k * n + l] = q->gram[l * n + k];
    q->form = MGVI_GRAM_FORM;
}

static int64_t most_columns(const mgvi_newton_sparse *m)
{
    return m->hard ? MGVI_QUADRATIC_MOST : FEW_COLUMNS;
}

/* Whether the set's Gram matrix is worth its products: dense columns always, sparse ones where
 * supports will be polished and a column is not much shorter than a row of the matrix. */
static bool gram_pays(const mgvi_newton_sparse *m, const mgvi_newton_point *at)
{
    const int64_t count = m->q.count;
    if (count == 0 || count > most_columns(m) || m->q.rows == 0)
        return false;
    return is_dense(m) ||
           (at->accuracy < MGVI_QUADRATIC_ROUGH && SHORT_COLUMN * m->ptr[count] > count * count);
}

static mgv_status pack(mgvi_newton_sparse *m, const mgvi_newton_point *at)
{
    mgvi_quadratic *q = &m->q;
    choose_rows(m, at);
    MGVI_TRY(room_for_columns(m));
    MGVI_TRY(m->copied ? pack_copied(m) : is_dense(m) ? pack_dense(m) : pack_sparse(m));
    if (!m->copied)
        m->p->A->touched += (double)m->p->A->nnz;
    for (int64_t k = 0; k < q->count; k++)
        measure_column(m, k, at);
    memset(q->R, 0, (size_t)q->rows * sizeof *q->R);
    q->off = q->T = 0;
    q->ptr = m->ptr;
    q->idx = m->idx;
    q->val = m->val;
    q->e = m->e;
    q->Y = at->work->x;
    q->form = is_dense(m) ? MGVI_DENSE_FORM : MGVI_SPARSE_FORM;
    if (!gram_pays(m, at))
        return MGV_OK;
    if (is_dense(m))
        return multiply_columns(m);
    multiply_sparse_columns(m);
    return MGV_OK;
}

static double packed_intercept(const mgvi_newton_sparse *m, const mgvi_newton_point *at,
                               const mgvi_vec *step)
{
    double shift = 0;
    for (int64_t k = 0; k < m->q.count; k++)
        shift += (mgvi_view_shift(&m->p->view, m->col[k]) - m->q.mean[k]) * step->x[m->col[k]];
    return m->q.W > 0 ? shift - at->g->x[m->cols] / m->q.W : 0;
}

/* ---- the step -------------------------------------------------------------------------------- */

/* Whether the model just solved read more than its Gram matrix would have: a multiplication of a
 * matrix product costs an eighth of an entry that is read. */
static bool was_hard(const mgvi_newton_sparse *m)
{
    static const double GEMM = 0.125;
    const mgvi_quadratic *q = &m->q;
    if (q->form == MGVI_GRAM_FORM || q->count == 0 || !is_dense(m))
        return false;
    return q->touched > GEMM * 0.5 * (double)q->count * (double)q->ptr[q->count];
}

mgv_status mgvi_newton_sparse_solve(mgvi_newton_sparse *m, const mgvi_newton_point *at, mgvi_vec *d)
{
    mgvi_quadratic *q = &m->q;
    const int64_t count = choose_columns(m, at);
    MGVI_TRY(mgvi_quadratic_room(q, count, m->all || count <= most_columns(m)));
    set_penalty(m, at);
    MGVI_TRY(m->all ? pick_gram(m, at) : pack(m, at));
    q->entry_cost = mgvi_entry_cost(m->p);
    q->last = at->last;
    q->allowance = at->allowance > 0 ? at->allowance : INFINITY;
    MGVI_TRY(mgvi_quadratic_solve(q, at->accuracy));
    m->hard = m->hard || was_hard(m);
    m->swept += q->touched;
    q->touched = 0;
    mgvi_vec_fill(m->p->ctx, d, 0);
    for (int64_t k = 0; k < count; k++)
        d->x[m->col[k]] = q->x[k] == 0 ? -at->w->x[m->col[k]] : q->x[k] - at->w->x[m->col[k]];
    if (m->p->free_cols)
        d->x[m->cols] = m->all ? gram_intercept(m, at, d) : packed_intercept(m, at, d);
    return MGV_OK;
}

double mgvi_newton_sparse_work(mgvi_newton_sparse *m, double *touched)
{
    const double work = m->q.work;
    *touched += m->swept;
    m->q.work = m->swept = 0;
    return work;
}

bool mgvi_newton_sparse_image(mgvi_newton_sparse *m, const mgvi_vec *d, mgvi_vec *image)
{
    static const double WORTH = 0.7; /* of the entries: columns are read less smoothly than rows */
    const mgv_problem *p = m->p;
    double entries = 0;
    if (m->all || !m->copied || m->P.dense || p->view.centre)
        return false;
    for (int64_t j = 0; j < m->cols; j++)
        entries += d->x[j] != 0 ? (double)mgvi_packed_nnz(&m->P, j) : 0;
    if (entries > WORTH * (double)p->A->nnz)
        return false;
    mgvi_vec_fill(p->ctx, image, 0);
    for (int64_t j = 0; j < m->cols; j++)
        if (d->x[j] != 0)
            p->ctx->simd->scatter_axpy_f64(d->x[j], m->P.f64 + m->P.ptr[j], m->P.idx + m->P.ptr[j],
                                           mgvi_packed_nnz(&m->P, j), image->x);
    for (int64_t i = 0; i < image->n; i++) { /* P has no signs of the labels */
        image->x[i] *= mgvi_view_sign(&p->view, i);
        if (p->free_cols)
            image->x[i] += mgvi_problem_free_entry(p, i) * d->x[m->cols];
    }
    p->A->touched += entries;
    return true;
}
