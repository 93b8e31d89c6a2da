/* class_system.c - H D = -G,  H = diag(lambda, rho) + sum_i (s_i/alpha) J_i (x) x_i x_i', over the
 * rows whose S_i has more than one class; docs/algorithms/class_newton.md.
 *   few unknowns:  conjugate gradients, preconditioned by the matrix itself in float32, or by one
 *                  of a sample of the rows (parts/class_hessian.h)                             (4)
 *   few pairs:     (I + C'L^-1 C) y = C'L^-1 G,  D = L^-1 (C y - G),  L = diag(lambda, rho),
 *                  C of the columns sqrt(s_i/alpha) b (x) x_i, b a basis of the vectors on S_i
 *                  whose sum is 0                                                              (5)
 *   else:          conjugate gradients, preconditioned by the diagonal                         (6)
 */
#include "solver/parts/class_system.h"

#include "backend/cpu/gemm.h"
#include "base/limit.h"
#include "op/view.h"

#include <math.h>
#include <string.h>

enum { MOST_PAIRS = MGVI_CLASS_PAIRS, PANEL = 64, MOST_STEPS = 1000 };
static const double RESIDUAL = 0.05; /* of a direction, in the norm of the preconditioner */

bool mgvi_class_system_reads(mgvi_op *op)
{
    const mgvi_view_op *v = mgvi_view_of(op);
    return mgvi_stored_of(v ? v->base : op) && !(v && v->view.sign);
}

/* ---- making it ------------------------------------------------------------------------------- */

static mgv_status allocate_pairs(mgvi_class_system *c)
{
    const mgv_problem *p = c->run->problem;
    static const double HELD = 8, PART = 0.5; /* numbers a row and lane; of what may be spent */
    const double spare = PART * mgvi_problem_spare(p, HELD);
    mgvi_arena *arena = &c->run->arena;
    double most = fmin(MOST_PAIRS, floor(sqrt(spare / 8)));
    most = fmin(most, (double)(p->A->rows * (p->lanes - 1)));
    const bool sparse = c->rows->m.layout != MGV_DENSE;
    if (!sparse)
        most = fmin(most, floor(spare / (8 * (double)c->rows->m.cols)));
    c->most_pairs = (int64_t)most;
    const size_t m = (size_t)c->most_pairs, k = (size_t)p->lanes;
    c->room = mgvi_run_array(c->run, (size_t)c->rows->m.cols + 1, sizeof *c->room);
    c->dense =
        mgvi_arena_scratch(arena, (sparse ? 1 : m) * (size_t)c->rows->m.cols + 1, sizeof *c->dense);
    c->basis = mgvi_arena_scratch(arena, m * k + 1, sizeof *c->basis);
    c->of_pair = mgvi_arena_scratch(arena, m + 1, sizeof *c->of_pair);
    c->products = mgvi_arena_scratch(arena, PANEL * m + 1, sizeof *c->products);
    c->matrix = mgvi_arena_scratch(arena, m * m + 1, sizeof *c->matrix);
    c->right = mgvi_arena_scratch(arena, m + 1, sizeof *c->right);
    return c->room && c->dense && c->basis && c->of_pair && c->products && c->matrix && c->right
               ? MGV_OK
               : MGV_E_MEMORY;
}

mgv_status mgvi_class_system_new(mgvi_run *run, const mgvi_class_smooth *smooth,
                                 mgvi_class_system *c)
{
    const mgv_problem *p = run->problem;
    const mgvi_view_op *v = mgvi_view_of(p->A);
    const size_t n = (size_t)p->A->rows, k = (size_t)p->lanes;
    *c = (mgvi_class_system){.run = run, .smooth = smooth};
    if (v)
        c->view = v->view;
    MGVI_TRY(mgvi_rows_bare(p->A, &run->arena, &c->rows));
    MGVI_TRY(mgvi_rowwise_init(run->ctx, &run->arena, &c->rows->m, p->lanes, &c->by_rows));
    c->list = mgvi_run_array(run, n, sizeof *c->list);
    c->mine = mgvi_run_array(run, n, sizeof *c->mine);
    c->shift = mgvi_run_array(run, k, sizeof *c->shift);
    c->diagonal = mgvi_run_array(run, (size_t)p->A->cols, k * sizeof *c->diagonal);
    if (!c->list || !c->mine || !c->shift || !c->diagonal)
        return MGV_E_MEMORY;
    if (c->view.row_scale && !(c->row_scale = mgvi_run_array(run, n, sizeof *c->row_scale)))
        return MGV_E_MEMORY;
    mgvi_vec *const vecs[] = {&c->scaled, &c->residual, &c->better, &c->along, &c->image};
    for (size_t t = 0; t < sizeof vecs / sizeof *vecs; t++)
        MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, vecs[t]));
    const bool whole = isfinite(mgvi_class_hessian_cost(p));
    c->has_hessian = whole || isfinite(mgvi_class_hessian_blocks_cost(p));
    if (c->has_hessian)
        MGVI_TRY(mgvi_class_hessian_new(
            run, !whole, whole ? mgvi_class_hessian_most(p) : mgvi_class_hessian_apart_rows(p),
            &c->hessian));
    return allocate_pairs(c);
}

/* ---- the rows with curvature ----------------------------------------------------------------- */

static int32_t classes_of(const mgvi_class_system *c, int64_t i)
{
    const double *p = c->smooth->p + i * c->smooth->k;
    int32_t count = 0;
    for (int32_t j = 0; j < c->smooth->k; j++)
        count += p[j] > 0;
    return count;
}

static double weight_of(const mgvi_class_system *c, int64_t i)
{
    return mgvi_coef_pick(&c->run->problem->row.scale, i, 0) / c->smooth->alpha;
}

static void collect(mgvi_class_system *c)
{
    const mgvi_view_op *v = mgvi_view_of(c->run->problem->A);
    c->view.row = c->list;
    c->view.rows = c->pairs = 0;
    c->couples = 0;
    for (int64_t i = 0; i < c->smooth->n; i++) {
        const int32_t count = classes_of(c, i);
        if (count < 2 || !(weight_of(c, i) > 0))
            continue;
        const int64_t at = c->view.rows++;
        c->list[at] = mgvi_rows_source(c->rows, i);
        c->mine[at] = (int32_t)i;
        if (c->row_scale)
            c->row_scale[at] = v->view.row_scale[i];
        c->pairs += count - 1;
        c->couples += 0.5 * count * (count - 1);
    }
    c->view.row_scale = c->row_scale;
}

/* Entries of these rows, for the count of those read. */
static void count_read(mgvi_class_system *c)
{
    const mgv_problem *p = c->run->problem;
    c->run->touched += (double)p->A->nnz * (double)c->view.rows / (double)p->A->rows;
}

/* z = A w of these rows. */
static void mul(mgvi_class_system *c, const mgvi_vec *w, double *z)
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

/* g = A'u over these rows. */
static void mul_t(mgvi_class_system *c, const double *u, mgvi_vec *g)
{
    mgvi_rowwise_mul_t(&c->by_rows, &c->view, g->k, 1, u, 0, g->x,
                       c->view.intercept ? g->x + c->rows->m.cols * g->k : NULL);
    count_read(c);
}

/* The diagonal (lambda, rho), by entry of a column vector. */
static double ridge(const mgvi_class_system *c, int64_t t)
{
    const mgv_problem *p = c->run->problem;
    return t < mgvi_problem_penalised(p) * p->lanes ? p->lambda : c->rho;
}

/* y = H x; the rows' part in lent memory. */
static void apply(mgvi_class_system *c, const mgvi_vec *x, mgvi_vec *y)
{
    const int32_t k = x->k;
    double *z = c->run->lent[0].x;
    mul(c, x, z);
    for (int64_t at = 0; at < c->view.rows; at++) {
        const int64_t i = c->mine[at];
        const double *p = c->smooth->p + i * k, s = weight_of(c, i);
        double sum = 0, count = 0;
        for (int32_t j = 0; j < k; j++) {
            sum += p[j] > 0 ? z[at * k + j] : 0;
            count += p[j] > 0;
        }
        for (int32_t j = 0; j < k; j++)
            z[at * k + j] = p[j] > 0 ? s * (z[at * k + j] - sum / count) : 0;
    }
    mul_t(c, z, y);
    for (int64_t t = 0; t < x->n * k; t++)
        y->x[t] += ridge(c, t) * x->x[t];
}

/* ---- conjugate gradients --------------------------------------------------------------------- */

/* 1 over the diagonal of H; the centre of sparse columns is left out of it. */
static void find_diagonal(mgvi_class_system *c)
{
    const int32_t k = c->smooth->k;
    const int64_t cols = c->rows->m.cols, numbers = c->scaled.n * k;
    memset(c->diagonal, 0, (size_t)numbers * sizeof *c->diagonal);
    for (int64_t at = 0; at < c->view.rows && !mgvi_ctx_cut_row(c->run->ctx, at); at++) {
        const int64_t i = c->mine[at];
        const double *p = c->smooth->p + i * k, count = classes_of(c, i);
        const double h = weight_of(c, i) * (1 - 1 / count);
        const mgvi_entries e =
            mgvi_rows_entries(c->rows, i, c->rows->m.layout == MGV_DENSE, c->room);
        for (int64_t t = 0; t < e.n; t++) {
            double *out = c->diagonal + (e.idx ? e.idx[t] : t) * k;
            for (int32_t j = 0; j < k; j++)
                out[j] += p[j] > 0 ? h * e.val[t] * e.val[t] : 0;
        }
        for (int32_t j = 0; j < k && c->view.intercept; j++)
            c->diagonal[cols * k + j] += p[j] > 0 ? h : 0;
    }
    for (int64_t t = 0; t < numbers; t++)
        c->diagonal[t] = 1 / (c->diagonal[t] + ridge(c, t));
}

static mgv_status precondition(mgvi_class_system *c, bool hessian)
{
    memcpy(c->better.x, c->residual.x, (size_t)(c->better.n * c->better.k) * sizeof *c->better.x);
    if (hessian)
        return mgvi_class_hessian_solve(c->run, &c->hessian, &c->better);
    for (int64_t t = 0; t < c->better.n * c->better.k; t++)
        c->better.x[t] *= c->diagonal[t];
    return MGV_OK;
}

static double dot(const mgvi_vec *x, const mgvi_vec *y)
{
    double sum = 0;
    for (int64_t t = 0; t < x->n * x->k; t++)
        sum += x->x[t] * y->x[t];
    return sum;
}

static mgv_status gradients(mgvi_class_system *c, const mgvi_vec *g, bool hessian, mgvi_vec *x,
                            int64_t *products)
{
    mgv_ctx *ctx = c->run->ctx;
    mgvi_vec_fill(ctx, x, 0);
    mgvi_vec_copy(ctx, g, &c->residual);
    mgvi_vec_scale(ctx, -1, &c->residual);
    MGVI_TRY(precondition(c, hessian));
    mgvi_vec_copy(ctx, &c->better, &c->along);
    double size = dot(&c->residual, &c->better);
    const double enough = RESIDUAL * RESIDUAL * size;
    for (*products = 0; *products < MOST_STEPS && size > enough && !mgvi_ctx_cut(ctx);) {
        apply(c, &c->along, &c->image);
        ++*products;
        const double curvature = dot(&c->along, &c->image);
        if (!(curvature > 0)) /* of rounding */
            break;
        const double step = size / curvature;
        mgvi_vec_axpby(ctx, step, &c->along, 1, x);
        mgvi_vec_axpby(ctx, -step, &c->image, 1, &c->residual);
        MGVI_TRY(precondition(c, hessian));
        const double next = dot(&c->residual, &c->better);
        mgvi_vec_axpby(ctx, 1, &c->better, next / size, &c->along);
        size = next;
    }
    return MGV_OK;
}

/* ---- by pairs -------------------------------------------------------------------------------- */

/* The Helmert basis of every row's classes: b_t = (1, ..., 1, -t, 0, ...)/sqrt(t (t + 1)), times
 * sqrt(s/alpha). */
static void write_basis(mgvi_class_system *c)
{
    const int32_t k = c->smooth->k;
    int64_t at = 0;
    memset(c->basis, 0, (size_t)(c->pairs * k) * sizeof *c->basis);
    for (int64_t l = 0; l < c->view.rows; l++) {
        const int64_t i = c->mine[l];
        const double *p = c->smooth->p + i * k, root = sqrt(weight_of(c, i));
        double before = 0;
        for (int32_t j = 0; j < k; j++) {
            if (!(p[j] > 0))
                continue;
            if (before > 0) {
                const double unit = root / sqrt(before * (before + 1));
                for (int32_t m = 0; m < j; m++)
                    c->basis[at * k + m] = p[m] > 0 ? unit : 0;
                c->basis[at * k + j] = -before * unit;
                c->of_pair[at++] = (int32_t)l;
            }
            before++;
        }
    }
}

/* m . x of every row, m the centre of the columns in their scale, and m . m. */
static double centre_products(mgvi_class_system *c, double *centre)
{
    const mgvi_view *v = &c->view;
    double square = 0;
    for (int64_t j = 0; j < c->rows->m.cols; j++) {
        const double m = v->centre[j] * (v->scale ? v->scale[j] : 1);
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
static void sparse_products(mgvi_class_system *c, int64_t l, double square, double *out)
{
    const mgvi_view *v = &c->view;
    const double *centre = c->right, a = v->row_scale ? v->row_scale[l] : 1;
    mgvi_entries e = mgvi_rows_entries(c->rows, c->mine[l], false, c->room);
    for (int64_t t = 0; t < e.n; t++)
        c->dense[e.idx[t]] = e.val[t];
    for (int64_t m = l; m < v->rows; m++) {
        const mgvi_entries f = mgvi_rows_entries(c->rows, c->mine[m], false, c->room);
        const double b = v->row_scale ? v->row_scale[m] : 1;
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
static void fill_rows(mgvi_class_system *c, int64_t *at, int64_t l, const double *product)
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

static mgv_status fill_matrix(mgvi_class_system *c)
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
    for (int64_t l = 0; l < count; l++)
        mgvi_rows_entries(c->rows, c->mine[l], true, c->dense + l * cols);
    for (int64_t l = 0; l < count && !mgvi_ctx_cut(c->run->ctx); l += PANEL) {
        const mgvi_gemm_shape shape = {.m = count - l < PANEL ? count - l : PANEL,
                                       .n = count,
                                       .k = cols,
                                       .transpose_b = true,
                                       .lda = cols,
                                       .ldb = cols,
                                       .ldc = count};
        MGVI_TRY(
            mgvi_gemm_f64(c->run->ctx, &shape, 1, c->dense + l * cols, c->dense, 0, c->products));
        for (int64_t t = 0; t < shape.m; t++)
            fill_rows(c, &at, l + t, c->products + t * count);
    }
    return MGV_OK;
}

/* out_at = sum over the pairs of row `at` of y_t b_t */
static void spread(const mgvi_class_system *c, const double *y, double *out)
{
    const int32_t k = c->smooth->k;
    memset(out, 0, (size_t)(c->view.rows * k) * sizeof *out);
    for (int64_t t = 0; t < c->pairs; t++)
        for (int32_t j = 0; j < k; j++)
            out[c->of_pair[t] * k + j] += y[t] * c->basis[t * k + j];
}

/* (5); MGV_E_NUMERIC: not positive. */
static mgv_status by_pairs(mgvi_class_system *c, const mgvi_vec *g, mgvi_vec *x)
{
    const int64_t m = c->pairs;
    const int32_t k = c->smooth->k;
    int64_t pivot;
    write_basis(c);
    const mgvi_gemm_shape shape = {
        .m = m, .n = m, .k = k, .transpose_b = true, .lda = k, .ldb = k, .ldc = m};
    MGVI_TRY(mgvi_gemm_f64(c->run->ctx, &shape, 1, c->basis, c->basis, 0, c->matrix));
    MGVI_TRY(fill_matrix(c));
    double *z = c->run->lent[0].x;
    for (int64_t t = 0; t < x->n * k; t++)
        x->x[t] = g->x[t] / ridge(c, t);
    mul(c, x, z);
    for (int64_t t = 0; t < m; t++) {
        c->right[t] = 0;
        for (int32_t j = 0; j < k; j++)
            c->right[t] += c->basis[t * k + j] * z[c->of_pair[t] * k + j];
    }
    MGVI_TRY(mgvi_cholesky(c->run->ctx, m, c->matrix, m, &pivot));
    c->run->work += (double)m * (double)m * (double)m / 3;
    if (pivot >= 0)
        return MGVI_FAIL(c->run->ctx, MGV_E_NUMERIC, "the system of pairs is not positive");
    MGVI_TRY(mgvi_cholesky_solve(c->run->ctx, m, c->matrix, m, 1, c->right));
    spread(c, c->right, z);
    mul_t(c, z, &c->image);
    for (int64_t t = 0; t < x->n * k; t++)
        x->x[t] = (c->image.x[t] - g->x[t]) / ridge(c, t);
    return MGV_OK;
}

/* Whether x = -H^-1 g in the metric of the ridges, roughly: (5) squares the condition of the
 * columns, and where they differ too much in size nothing is left of the small ones. */
static bool solved(mgvi_class_system *c, const mgvi_vec *g, const mgvi_vec *x)
{
    static const double ROUGHLY = 0.1;
    double size = 0, left = 0;
    apply(c, x, &c->image);
    for (int64_t t = 0; t < x->n * x->k; t++) {
        const double r = c->image.x[t] + g->x[t];
        size += g->x[t] * g->x[t] / ridge(c, t);
        left += r * r / ridge(c, t);
    }
    return left <= ROUGHLY * ROUGHLY * size;
}

/* ---- which way ------------------------------------------------------------------------------- */

static double curvature_of(const void *arg, int64_t i, double *q, double *share)
{
    const mgvi_class_system *c = arg;
    const int32_t k = c->smooth->k, count = classes_of(c, i);
    const double s = weight_of(c, i);
    *share = s / count;
    for (int32_t j = 0; j < k; j++)
        q[j] = c->smooth->p[i * k + j] > 0;
    return count > 1 ? s * (count - 1) : 0;
}

/* Multiplications of the three ways; those of products one by one take SLOW times as long. */
typedef struct ways {
    double matrix, pairs, products;
} ways;

static ways price(const mgvi_class_system *c, double expected)
{
    static const double SLOW = 4, FACTOR = 2, TOGETHER = 3, APART = 15;
    const mgv_problem *p = c->run->problem;
    const double size = (double)(p->A->cols * p->lanes), rows = (double)c->view.rows;
    const double length = (double)p->A->nnz / (double)p->A->rows, m = (double)c->pairs;
    const double product = SLOW * 2 * rows * length * p->lanes;
    const double drawn = fmin(rows, (double)c->hessian.most) / fmax(rows, 1);
    const double cols = (double)p->A->cols;
    const double whole = drawn * c->couples * cols * cols + FACTOR * size * size * size / 3;
    const double apart =
        drawn * (m + rows) * cols * cols + FACTOR * p->lanes * cols * cols * cols / 3;
    return (ways){
        .matrix = !c->has_hessian    ? INFINITY
                  : c->hessian.apart ? apart + APART * product
                                     : whole + TOGETHER * product,
        .pairs = c->pairs <= c->most_pairs ? FACTOR * m * m * m / 3 + rows * rows * length + product
                                           : INFINITY,
        .products = expected * product,
    };
}

mgv_status mgvi_class_system_solve(mgvi_class_system *c, const mgvi_vec *g, double *expected,
                                   mgvi_vec *direction)
{
    int64_t products;
    mgv_status st;
    collect(c);
    const ways cost = price(c, *expected);
    const mgvi_class_curvature of = {.row = curvature_of, .arg = c, .free_ridge = c->rho};
    if (cost.pairs <= cost.matrix && cost.pairs <= cost.products) {
        st = by_pairs(c, g, direction);
        if (st == MGV_OK ? solved(c, g, direction) : st != MGV_E_NUMERIC)
            return st;
    }
    if (c->has_hessian && (cost.matrix <= cost.products || cost.pairs <= cost.products)) {
        st = mgvi_class_hessian_refresh(c->run, &c->hessian, &of);
        c->run->work += cost.matrix;
        if (st == MGV_OK)
            return gradients(c, g, true, direction, &products);
        if (st != MGV_E_NUMERIC)
            return st;
    }
    find_diagonal(c);
    MGVI_TRY(gradients(c, g, false, direction, &products));
    *expected = fmax((double)products, 1);
    return MGV_OK;
}
