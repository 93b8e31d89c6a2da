/* class_system.c - H D = -G,  H = diag(lambda, rho) + sum_i (s_i/alpha) J_i (x) x_i x_i', over the
 * rows whose S_i has more than one class; docs/algorithms/class_newton.md.
 *   few unknowns:  conjugate gradients, preconditioned by the matrix itself in float32, or by one
 *                  of a sample of the rows (joint/class_hessian.h)                             (4)
 *   few pairs:     (I + C'L^-1 C) y = C'L^-1 G,  D = L^-1 (C y - G),  L = diag(lambda, rho),
 *                  C of the columns sqrt(s_i/alpha) b (x) x_i, b a basis of the vectors on S_i
 *                  whose sum is 0                                                              (5)
 *   else:          conjugate gradients, preconditioned by the diagonal                         (6)
 */
#include "solver/joint/class_system.h"

#include "base/limit.h"
#include "linalg/gemm.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 1000 };
static const double RESIDUAL = 0.05; /* of a direction, in the norm of the preconditioner */

bool mgvi_class_system_reads(mgvi_op *op) { return op->view && !op->view->sign; }

/* ---- making it ------------------------------------------------------------------------------- */

mgv_status mgvi_class_system_new(mgvi_run *run, const mgvi_class_smooth *smooth,
                                 mgvi_class_system *c)
{
    const mgv_problem *p = run->problem;
    const size_t k = (size_t)p->lanes;
    *c = (mgvi_class_system){.run = run, .smooth = smooth};
    c->diagonal = mgvi_run_array(run, (size_t)p->A->cols, k * sizeof *c->diagonal);
    if (!c->diagonal)
        return MGV_E_MEMORY;
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &c->residual, &c->better, &c->along, &c->image));
    static const double HELD = 8, PART = 0.5; /* numbers a row and lane; of what may be spent */
    static const double MOST = 8.0 * MGVI_CLASS_SYSTEM_PAIRS * MGVI_CLASS_SYSTEM_PAIRS;
    const bool whole = isfinite(mgvi_class_hessian_cost(p));
    c->has_hessian = whole || isfinite(mgvi_class_hessian_blocks_cost(p));
    if (c->has_hessian)
        MGVI_TRY(mgvi_class_hessian_new(
            run, !whole, whole ? mgvi_class_hessian_most(p) : mgvi_class_hessian_apart_rows(p),
            &c->hessian));
    const double bytes = fmin(PART * mgvi_problem_spare(p, HELD), MOST);
    return mgvi_class_pairs_new(run, NULL, bytes, &c->few);
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
    mgvi_class_pairs_clear(&c->few);
    c->couples = 0;
    for (int64_t i = 0; i < c->smooth->n; i++) {
        const int32_t count = classes_of(c, i);
        if (count < 2 || !(weight_of(c, i) > 0))
            continue;
        mgvi_class_pairs_add(&c->few, i);
        c->few.pairs += count - 1;
        c->couples += 0.5 * count * (count - 1);
    }
}

/* y = H x; the rows' part in lent memory. */
static void apply(mgvi_class_system *c, const mgvi_vec *x, mgvi_vec *y)
{
    const int32_t k = x->k;
    double *z = c->run->lent[0].x;
    mgvi_class_pairs_mul(&c->few, x, z);
    for (int64_t at = 0; at < c->few.view.rows; at++) {
        const int64_t i = c->few.mine[at];
        const double *p = c->smooth->p + i * k, s = weight_of(c, i);
        double sum = 0, count = 0;
        for (int32_t j = 0; j < k; j++) {
            sum += p[j] > 0 ? z[at * k + j] : 0;
            count += p[j] > 0;
        }
        for (int32_t j = 0; j < k; j++)
            z[at * k + j] = p[j] > 0 ? s * (z[at * k + j] - sum / count) : 0;
    }
    mgvi_class_pairs_mul_t(&c->few, z, y);
    for (int64_t t = 0; t < x->n * k; t++)
        y->x[t] += mgvi_class_pairs_ridge(&c->few, t) * x->x[t];
}

/* ---- conjugate gradients --------------------------------------------------------------------- */

/* 1 over the diagonal of H; the centre of sparse columns is left out of it. */
static void find_diagonal(mgvi_class_system *c)
{
    const int32_t k = c->smooth->k;
    const int64_t cols = c->few.rows->m.cols, numbers = c->residual.n * k;
    memset(c->diagonal, 0, (size_t)numbers * sizeof *c->diagonal);
    for (int64_t at = 0; at < c->few.view.rows && !mgvi_ctx_cut_row(c->run->ctx, at); at++) {
        const int64_t i = c->few.mine[at];
        const double *p = c->smooth->p + i * k, count = classes_of(c, i);
        const double h = weight_of(c, i) * (1 - 1 / count);
        const mgvi_entries e =
            mgvi_rows_entries(c->few.rows, i, c->few.rows->m.layout == MGV_DENSE, c->few.room);
        for (int64_t t = 0; t < e.n; t++) {
            double *out = c->diagonal + (e.idx ? e.idx[t] : t) * k;
            for (int32_t j = 0; j < k; j++)
                out[j] += p[j] > 0 ? h * e.val[t] * e.val[t] : 0;
        }
        for (int32_t j = 0; j < k && c->few.view.intercept; j++)
            c->diagonal[cols * k + j] += p[j] > 0 ? h : 0;
    }
    for (int64_t t = 0; t < numbers; t++)
        c->diagonal[t] = 1 / (c->diagonal[t] + mgvi_class_pairs_ridge(&c->few, t));
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
    memset(c->few.basis, 0, (size_t)(c->few.pairs * k) * sizeof *c->few.basis);
    for (int64_t l = 0; l < c->few.view.rows; l++) {
        const int64_t i = c->few.mine[l];
        const double *p = c->smooth->p + i * k, root = sqrt(weight_of(c, i));
        double before = 0;
        for (int32_t j = 0; j < k; j++) {
            if (!(p[j] > 0))
                continue;
            if (before > 0) {
                const double unit = root / sqrt(before * (before + 1));
                for (int32_t m = 0; m < j; m++)
                    c->few.basis[at * k + m] = p[m] > 0 ? unit : 0;
                c->few.basis[at * k + j] = -before * unit;
                c->few.of_pair[at++] = (int32_t)l;
            }
            before++;
        }
    }
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
        size += g->x[t] * g->x[t] / mgvi_class_pairs_ridge(&c->few, t);
        left += r * r / mgvi_class_pairs_ridge(&c->few, t);
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
    const double size = (double)(p->A->cols * p->lanes), rows = (double)c->few.view.rows;
    const double length = (double)p->A->nnz / (double)p->A->rows, m = (double)c->few.pairs;
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
        .pairs = c->few.pairs <= c->few.most_pairs
                     ? FACTOR * m * m * m / 3 + rows * rows * length + product
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
    const mgvi_class_curvature of = {.row = curvature_of, .arg = c, .free_ridge = c->few.rho};
    if (cost.pairs <= cost.matrix && cost.pairs <= cost.products) {
        write_basis(c);
        st = mgvi_class_pairs_factor(&c->few);
        if (st == MGV_OK)
            st = mgvi_class_pairs_solve(&c->few, g, c->run->lent[0].x, direction);
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
