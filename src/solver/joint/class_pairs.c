/* class_pairs.c - (5): the products of a few rows, the matrix of their pairs, and its factor. */
#include "solver/joint/class_pairs.h"

#include "base/limit.h"
#include "linalg/gemm.h"

#include <math.h>
#include <string.h>

enum { PANEL = 64 };

mgv_status mgvi_class_pairs_new(mgvi_run *run, double *matrix, double bytes, mgvi_class_pairs *c)
{
    const mgv_problem *p = run->problem;
    const size_t n = (size_t)p->A->rows, k = (size_t)p->lanes;
    mgvi_arena *arena = &run->arena;
    *c = (mgvi_class_pairs){.run = run};
    MGVI_TRY(mgvi_rows_bare(p->A, arena, &c->rows));
    c->view = c->rows->view;
    MGVI_TRY(mgvi_rowwise_init(run->ctx, arena, &c->rows->m, p->lanes, &c->by_rows));
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &c->scaled, &c->image));
    double most = fmin(MGVI_CLASS_PAIRS, floor(sqrt(bytes / 8)));
    most = fmin(most, (double)(p->A->rows * (p->lanes - 1)));
    const bool sparse = c->rows->m.layout != MGV_DENSE;
    const size_t cols = (size_t)c->rows->m.cols;
    c->most_pairs = (int64_t)most;
    const size_t m = (size_t)c->most_pairs;
    c->list = mgvi_run_array(run, n, sizeof *c->list);
    c->mine = mgvi_run_array(run, n, sizeof *c->mine);
    c->shift = mgvi_run_array(run, k, sizeof *c->shift);
    c->room = mgvi_run_array(run, cols + 1, sizeof *c->room);
    c->dense = mgvi_arena_scratch(arena, (sparse ? 1 : 2 * PANEL) * cols, sizeof *c->dense);
    c->basis = mgvi_arena_scratch(arena, m * k + 1, sizeof *c->basis);
    c->of_pair = mgvi_arena_scratch(arena, m + 1, sizeof *c->of_pair);
    c->products = mgvi_arena_scratch(arena, PANEL * m + 1, sizeof *c->products);
    c->matrix = matrix ? matrix : mgvi_arena_scratch(arena, m * m + 1, sizeof *c->matrix);
    c->right = mgvi_arena_scratch(arena, m + 1, sizeof *c->right);
    if (c->view.row_scale && !(c->row_scale = mgvi_run_array(run, n, sizeof *c->row_scale)))
        return MGV_E_MEMORY;
    return c->list && c->mine && c->shift && c->room && c->dense && c->basis && c->of_pair &&
                   c->products && c->matrix && c->right
               ? MGV_OK
               : MGV_E_MEMORY;
}

/* ---- the rows -------------------------------------------------------------------------------- */

void mgvi_class_pairs_clear(mgvi_class_pairs *c)
{
    c->view.row = c->list;
    c->view.row_scale = c->row_scale;
    c->view.rows = c->pairs = 0;
}

int64_t mgvi_class_pairs_add(mgvi_class_pairs *c, int64_t i)
{
    const int64_t at = c->view.rows++;
    c->list[at] = mgvi_rows_source(c->rows, i);
    c->mine[at] = (int32_t)i;
    if (c->row_scale)
        c->row_scale[at] = c->rows->view.row_scale[i];
    return at;
}

/* Entries of these rows, for the count of those read. */
static void count_read(mgvi_class_pairs *c)
{
    const mgv_problem *p = c->run->problem;
    c->run->touched += (double)p->A->nnz * (double)c->view.rows / (double)p->A->rows;
}

void mgvi_class_pairs_mul(mgvi_class_pairs *c, const mgvi_vec *w, double *z)
{
    const mgvi_view *view = &c->view;
    const int32_t k = w->k;
    const int64_t cols = c->rows->m.cols;
    mgvi_lane_shift shift = {.intercept = view->intercept ? w->x + cols * k : NULL};
    const double *x = w->x;
    if (view->scale) {
        mgvi_map_cols(view, 0, cols, k, w->x, c->scaled.x);
        x = c->scaled.x;
    }
    if (view->centre) {
        memset(c->shift, 0, (size_t)k * sizeof *c->shift);
        for (int64_t j = 0; j < cols; j++)
            for (int32_t l = 0; l < k; l++)
                c->shift[l] += view->centre[j] * x[j * k + l];
        shift.centre = c->shift;
    }
    mgvi_rowwise_mul(&c->by_rows, view, shift, k, 1, x, 0, z);
    count_read(c);
}

void mgvi_class_pairs_mul_t(mgvi_class_pairs *c, const double *u, mgvi_vec *g)
{
    mgvi_rowwise_mul_t(&c->by_rows, &c->view, g->k, 1, u, 0, g->x,
                       c->view.intercept ? g->x + c->rows->m.cols * g->k : NULL);
    count_read(c);
}

double mgvi_class_pairs_ridge(const mgvi_class_pairs *c, int64_t t)
{
    const mgv_problem *p = c->run->problem;
    return t < mgvi_problem_penalised(p) * p->lanes ? p->lambda : c->rho;
}

/* m . x of every row, m the centre of the columns in their scale, and m . m. */
static double centre_products(mgvi_class_pairs *c, double *centre)
{
    const mgvi_view *v = &c->view;
    double square = 0;
    for (int64_t j = 0; j < c->rows->m.cols; j++) {
        const double m = mgvi_view_shift(v, j);
        square += m * m;
    }
    for (int64_t l = 0; l < c->view.rows; l++) {
        const mgvi_entries e = mgvi_rows_entries(c->rows, c->mine[l], false, c->room);
        centre[l] = 0;
        for (int64_t t = 0; t < e.n; t++)
            centre[l] += e.val[t] * v->centre[e.idx[t]] * (v->scale ? v->scale[e.idx[t]] : 1);
    }
    return square;
}

/* x_l . x_m, m >= l, of sparse rows: one is written out, the others are read. With centre m and row
 * scale r, (x - r m).(x' - r' m) = x.x' - r' m.x - r m.x' + r r' m.m. */
static void sparse_products(mgvi_class_pairs *c, int64_t l, double square, double *out)
{
    const mgvi_view *v = &c->view;
    const double *centre = c->right, a = mgvi_view_row_scale(v, l);
    mgvi_entries e = mgvi_rows_entries(c->rows, c->mine[l], false, c->room);
    for (int64_t t = 0; t < e.n; t++)
        c->dense[e.idx[t]] = e.val[t];
    for (int64_t m = l; m < v->rows; m++) {
        const mgvi_entries f = mgvi_rows_entries(c->rows, c->mine[m], false, c->room);
        const double b = mgvi_view_row_scale(v, m);
        out[m] = 0;
        for (int64_t t = 0; t < f.n; t++)
            out[m] += f.val[t] * c->dense[f.idx[t]];
        if (v->centre)
            out[m] += a * b * square - b * centre[l] - a * centre[m];
    }
    e = mgvi_rows_entries(c->rows, c->mine[l], false, c->room);
    for (int64_t t = 0; t < e.n; t++)
        c->dense[e.idx[t]] = 0;
}

/* The rows of the matrix of (5) whose pairs are of row l, from its products with the rows. */
static void fill_rows(mgvi_class_pairs *c, int64_t *at, int64_t l, const double *product)
{
    const mgv_problem *p = c->run->problem;
    const double free = p->free_cols ? 1 / c->rho : 0;
    for (; *at < c->pairs && c->of_pair[*at] == l; ++*at) {
        double *row = c->matrix + *at * c->pairs;
        for (int64_t t = *at; t < c->pairs; t++)
            row[t] *= product[c->of_pair[t]] / p->lambda + free;
        row[*at] += 1;
    }
}

static void write_out(mgvi_class_pairs *c, int64_t l, int64_t count, double *out)
{
    for (int64_t t = 0; t < count; t++)
        mgvi_rows_entries(c->rows, c->mine[l + t], true, out + t * c->rows->m.cols);
}

/* x_l . x_m of dense rows, l from l on and m >= l: two panels of them are written out at a time. */
static mgv_status dense_products(mgvi_class_pairs *c, int64_t l, int64_t some)
{
    const int64_t count = c->view.rows, cols = c->rows->m.cols;
    double *other = c->dense + PANEL * cols;
    write_out(c, l, some, c->dense);
    for (int64_t m = l; m < count; m += PANEL) {
        const mgvi_gemm_shape shape = {.m = some,
                                       .n = count - m < PANEL ? count - m : PANEL,
                                       .k = cols,
                                       .transpose_b = true,
                                       .lda = cols,
                                       .ldb = cols,
                                       .ldc = count};
        write_out(c, m, shape.n, other);
        MGVI_TRY(mgvi_gemm_f64(c->run->ctx, &shape, 1, c->dense, other, 0, c->products + m));
    }
    return MGV_OK;
}

static mgv_status fill_matrix(mgvi_class_pairs *c)
{
    const int64_t count = c->view.rows, cols = c->rows->m.cols;
    const bool sparse = c->rows->m.layout != MGV_DENSE;
    int64_t at = 0;
    c->run->work += (double)(count * count) * (double)c->run->problem->A->nnz /
                    (double)c->run->problem->A->rows;
    if (sparse) {
        memset(c->dense, 0, (size_t)cols * sizeof *c->dense);
        const double square = c->view.centre ? centre_products(c, c->right) : 0;
        for (int64_t l = 0; l < count && !mgvi_ctx_cut(c->run->ctx); l++) {
            sparse_products(c, l, square, c->products);
            fill_rows(c, &at, l, c->products);
        }
        return MGV_OK;
    }
    for (int64_t l = 0; l < count && !mgvi_ctx_cut(c->run->ctx); l += PANEL) {
        const int64_t some = count - l < PANEL ? count - l : PANEL;
        MGVI_TRY(dense_products(c, l, some));
        for (int64_t t = 0; t < some; t++)
            fill_rows(c, &at, l + t, c->products + t * count);
    }
    return MGV_OK;
}

/* out_at = sum over the pairs of row `at` of y_t b_t */
static void spread(const mgvi_class_pairs *c, const double *y, double *out)
{
    const int32_t k = c->run->problem->lanes;
    memset(out, 0, (size_t)(c->view.rows * k) * sizeof *out);
    for (int64_t t = 0; t < c->pairs; t++)
        for (int32_t j = 0; j < k; j++)
            out[c->of_pair[t] * k + j] += y[t] * c->basis[t * k + j];
}

/* ---- the system ------------------------------------------------------------------------------ */

mgv_status mgvi_class_pairs_factor(mgvi_class_pairs *c)
{
    const int64_t m = c->pairs, k = c->run->problem->lanes;
    int64_t pivot;
    const mgvi_gemm_shape shape = {
        .m = m, .n = m, .k = k, .transpose_b = true, .lda = k, .ldb = k, .ldc = m};
    MGVI_TRY(mgvi_gemm_f64(c->run->ctx, &shape, 1, c->basis, c->basis, 0, c->matrix));
    MGVI_TRY(fill_matrix(c));
    MGVI_TRY(mgvi_cholesky(c->run->ctx, m, c->matrix, m, &pivot));
    c->run->work += (double)m * (double)m * (double)m / 3;
    return pivot < 0 ? MGV_OK
                     : MGVI_FAIL(c->run->ctx, MGV_E_NUMERIC, "the system of pairs is not positive");
}

mgv_status mgvi_class_pairs_solve(mgvi_class_pairs *c, const mgvi_vec *g, double *z, mgvi_vec *x)
{
    const int64_t m = c->pairs;
    const int32_t k = c->run->problem->lanes;
    for (int64_t t = 0; t < x->n * k; t++)
        x->x[t] = g->x[t] / mgvi_class_pairs_ridge(c, t);
    mgvi_class_pairs_mul(c, x, z);
    for (int64_t t = 0; t < m; t++) {
        c->right[t] = 0;
        for (int32_t j = 0; j < k; j++)
            c->right[t] += c->basis[t * k + j] * z[c->of_pair[t] * k + j];
    }
    MGVI_TRY(mgvi_cholesky_solve(c->run->ctx, m, c->matrix, m, 1, c->right));
    spread(c, c->right, z);
    mgvi_class_pairs_mul_t(c, z, &c->image);
    for (int64_t t = 0; t < x->n * k; t++)
        x->x[t] = (c->image.x[t] - g->x[t]) / mgvi_class_pairs_ridge(c, t);
    return MGV_OK;
}
