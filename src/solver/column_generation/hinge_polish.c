/* hinge_polish.c - the exact point of a face, (3) of hinge_block.h. With E the free rows, A the
 * active columns, M = Z_EA and f_A = mu sign_A - lin_A - sum_{upper} s_i z_iA,
 * f_b = -lin_free - sum_{upper} s_i y_i:
 *   lambda = 0:  [M y_E] (w; b) = 1,   [M y_E]'theta_E = (f_A; f_b)                             (4)
 *   lambda > 0:  w = (M'theta_E - f_A)/lambda,
 *                M M'theta_E + lambda y_E b = lambda 1 + M f_A,   y_E.theta_E = f_b             (5)
 * (5) by Cholesky with rho y (y.theta) = rho y f_b added, because M alone may lack the direction of
 * the intercept. Where the solution is not unique, N = [M y] is not square or (5) not regular, and
 * the point of the face nearest to a given one is taken: the least changes with
 *                N (dw; db) = 1 - N (w; b),   N'dtheta_E = (f_A + lambda w; f_b) - N'theta_E    (6)
 * through the Cholesky factor of the smaller of N'N and NN'. All with steps of refinement. */
#include "base/memory.h"
#include "linalg/gemm.h"
#include "simd/simd.h"
#include "solver/column_generation/hinge_block.h"

#include <math.h>
#include <string.h>

enum { REFINEMENTS = 3 };

typedef struct polish {
    mgv_ctx *ctx;
    const mgvi_hinge_block *p;
    const mgvi_hinge_face *face;
    int64_t e, m;      /* |E|, |A| */
    int64_t width;     /* columns of M: m, or m + 1 with the intercept's */
    double *M;         /* e x width by rows: M or N = [M y]; none with a gram matrix */
    double *F;         /* e x e: the factor */
    double *f;         /* m, and f_b behind */
    double *x, *theta; /* (w; b) and theta_E */
    double *whole;     /* theta of all rows and, without a gram matrix, v of all columns */
    double *r, *q;     /* work: the longer of e and m + 1 */
    int32_t *perm;     /* e + 1, and a number per row behind */
    double rho;
} polish;

/* f_A or, with a gram matrix, -G_{E,upper} s in place of M f_A; and f_b. */
static void right_side(polish *k)
{
    const mgvi_hinge_block *p = k->p;
    const bool *upper = k->face->upper;
    if (!p->gram) {
        for (int64_t i = 0; i < p->rows; i++)
            k->whole[i] = upper[i] ? p->s[i] : 0;
        mgvi_hinge_duals(k->ctx, p, k->whole, k->whole + p->rows);
        for (int64_t t = 0; t < k->m; t++)
            k->f[t] = p->mu * k->face->sign[t] - k->whole[p->rows + k->face->col[t]];
    }
    k->f[k->m] = -p->lin_free;
    for (int64_t i = 0; p->y && i < p->rows; i++)
        if (upper[i])
            k->f[k->m] -= p->s[i] * p->y[i];
}

/* ---- lambda = 0 ------------------------------------------------------------------------------ */

/* (4): LU of the square matrix, then both systems with refinement. */
static mgv_status solve_vertex(polish *k, bool *solved)
{
    const mgvi_simd *simd = k->ctx->simd;
    const int64_t e = k->e;
    memcpy(k->F, k->M, (size_t)(e * e) * sizeof *k->F);
    MGVI_TRY(mgvi_lu(k->ctx, e, k->F, e, k->perm, solved));
    for (int pass = 0; *solved && pass <= REFINEMENTS; pass++) {
        for (int64_t i = 0; i < e; i++)
            k->r[i] = 1 - simd->dot_f64(k->M + i * e, k->x, e);
        mgvi_lu_solve(k->ctx, e, k->F, e, k->perm, false, k->r);
        for (int64_t i = 0; i < e; i++) {
            k->x[i] += k->r[i];
            k->q[i] = -k->theta[i];
        }
        memcpy(k->r, k->f, (size_t)e * sizeof *k->r);
        simd->dense_mul_t_f64(k->M, e, e, e, k->q, k->r);
        mgvi_lu_solve(k->ctx, e, k->F, e, k->perm, true, k->r);
        for (int64_t i = 0; i < e; i++)
            k->theta[i] += k->r[i];
    }
    return MGV_OK;
}

/* ---- lambda > 0 ------------------------------------------------------------------------------ */

/* A ridge of the size of rounding keeps a factor regular where rows or columns depend on each
 * other; refinement makes up for it. Relative to each entry, for columns may have any units. */
static void add_ridge(double *F, int64_t size)
{
    for (int64_t t = 0; t < size; t++)
        F[t * size + t] *= 1 + 1e-13;
}

static double y_at(const polish *k, int64_t t) { return k->p->y ? k->p->y[k->face->row[t]] : 0; }

/* F = M M' + rho y y' and its Cholesky factor. */
static mgv_status factor(polish *k, bool *solved)
{
    const mgvi_hinge_block *p = k->p;
    const int64_t e = k->e;
    int64_t pivot;
    if (p->gram) {
        for (int64_t s = 0; s < e; s++)
            for (int64_t t = 0; t < e; t++)
                k->F[s * e + t] = p->gram[k->face->row[s] * p->gram_stride + k->face->row[t]];
    } else {
        MGVI_TRY(mgvi_gemm_f64(
            k->ctx,
            &(mgvi_gemm_shape){
                .m = e, .n = e, .k = k->m, .transpose_b = true, .lda = k->m, .ldb = k->m, .ldc = e},
            1, k->M, k->M, 0, k->F));
    }
    double trace = 0;
    for (int64_t t = 0; t < e; t++)
        trace += k->F[t * e + t];
    k->rho = p->y && e > 0 ? trace / (double)e : 0;
    for (int64_t s = 0; s < e && k->rho > 0; s++)
        for (int64_t t = 0; t < e; t++)
            k->F[s * e + t] += k->rho * y_at(k, s) * y_at(k, t);
    add_ridge(k->F, e);
    MGVI_TRY(mgvi_cholesky(k->ctx, e, k->F, e, &pivot));
    *solved = pivot < 0;
    return MGV_OK;
}

/* r = lambda (1 - z_E) at the present theta and b, w following from theta by (5). */
static void residual(polish *k)
{
    const mgvi_hinge_block *p = k->p;
    const mgvi_simd *simd = k->ctx->simd;
    const int64_t e = k->e;
    if (!p->gram) {
        for (int64_t t = 0; t < k->m; t++)
            k->x[t] = -k->f[t];
        simd->dense_mul_t_f64(k->M, k->m, e, k->m, k->theta, k->x);
    }
    for (int64_t i = 0; p->gram && i < p->rows; i++)
        k->whole[i] = k->face->upper[i] ? p->s[i] : 0;
    for (int64_t t = 0; p->gram && t < e; t++)
        k->whole[k->face->row[t]] = k->theta[t];
    for (int64_t s = 0; s < e; s++) {
        const double z =
            p->gram ? simd->dot_f64(p->gram + k->face->row[s] * p->gram_stride, k->whole, p->rows)
                    : simd->dot_f64(k->M + s * k->m, k->x, k->m);
        k->r[s] = p->lambda * (1 - y_at(k, s) * k->x[k->m]) - z;
    }
}

/* (5): corrections by the bordered factor until the residual is rounding, from `near` when given:
 * what the equations leave open stays as it is there. */
static mgv_status solve_face(polish *k, const mgvi_hinge_point *near, bool *solved)
{
    const int64_t e = k->e;
    MGVI_TRY(factor(k, solved));
    if (!*solved)
        return MGV_OK;
    double yq = 0;
    for (int64_t t = 0; t < e; t++) {
        k->q[t] = y_at(k, t);
        k->theta[t] = near ? near->theta[k->face->row[t]] : 0;
    }
    k->x[k->m] = near && k->p->y ? near->b : 0;
    if (k->p->y)
        MGVI_TRY(mgvi_cholesky_solve(k->ctx, e, k->F, e, 1, k->q));
    for (int64_t t = 0; t < e; t++)
        yq += y_at(k, t) * k->q[t];
    for (int pass = 0; pass <= REFINEMENTS; pass++) {
        double missed = k->f[k->m], db = 0, yr = 0;
        residual(k);
        for (int64_t t = 0; t < e; t++)
            missed -= y_at(k, t) * k->theta[t];
        for (int64_t t = 0; t < e; t++)
            k->r[t] += k->rho * y_at(k, t) * missed;
        MGVI_TRY(mgvi_cholesky_solve(k->ctx, e, k->F, e, 1, k->r));
        for (int64_t t = 0; t < e; t++)
            yr += y_at(k, t) * k->r[t];
        if (yq > 0)
            db = (yr - missed) / yq; /* lambda times the intercept's change */
        for (int64_t t = 0; t < e; t++)
            k->theta[t] += k->r[t] - db * k->q[t];
        k->x[k->m] += db / k->p->lambda;
    }
    residual(k); /* for w */
    for (int64_t t = 0; t < k->m && !k->p->gram; t++)
        k->x[t] /= k->p->lambda;
    return MGV_OK;
}

/* ---- no unique solution ---------------------------------------------------------------------- */

/* The factor of N'N, or of NN' when there are fewer rows than columns. */
static mgv_status factor_smaller(polish *k, int64_t *size, bool *solved)
{
    const int64_t e = k->e, c = k->width;
    const bool rows = e < c;
    int64_t pivot;
    *size = rows ? e : c;
    MGVI_TRY(mgvi_gemm_f64(k->ctx,
                           &(mgvi_gemm_shape){.m = *size,
                                              .n = *size,
                                              .k = rows ? c : e,
                                              .transpose_a = !rows,
                                              .transpose_b = rows,
                                              .lda = c,
                                              .ldb = c,
                                              .ldc = *size},
                           1, k->M, k->M, 0, k->F));
    add_ridge(k->F, *size);
    MGVI_TRY(mgvi_cholesky(k->ctx, *size, k->F, *size, &pivot));
    *solved = pivot < 0;
    return MGV_OK;
}

/* x += the least dx with N dx = r, r by rows; or, `transposed`, N'dx = r, r by columns. */
static mgv_status add_least(polish *k, int64_t size, bool transposed, double *r, double *x)
{
    const mgvi_simd *simd = k->ctx->simd;
    const int64_t e = k->e, c = k->width, out = transposed ? e : c;
    const bool first = size == (transposed ? e : c); /* the product comes before the solve */
    double *t = k->q;
    memset(t, 0, (size_t)(e > c ? e : c) * sizeof *t);
    if (!first)
        MGVI_TRY(mgvi_cholesky_solve(k->ctx, size, k->F, size, 1, r));
    if (transposed)
        simd->dense_mul_f64(k->M, c, e, c, r, t);
    else
        simd->dense_mul_t_f64(k->M, c, e, c, r, t);
    if (first)
        MGVI_TRY(mgvi_cholesky_solve(k->ctx, size, k->F, size, 1, t));
    for (int64_t i = 0; i < out; i++)
        x[i] += t[i];
    return MGV_OK;
}

/* (6) */
static mgv_status solve_nearest(polish *k, const mgvi_hinge_point *near, bool *solved)
{
    const mgvi_simd *simd = k->ctx->simd;
    const int64_t e = k->e, c = k->width;
    int64_t size;
    MGVI_TRY(factor_smaller(k, &size, solved));
    if (!*solved)
        return MGV_OK;
    for (int64_t t = 0; t < k->m; t++)
        k->x[t] = near->w[k->face->col[t]];
    k->x[k->m] = near->b;
    for (int64_t t = 0; t < e; t++)
        k->theta[t] = near->theta[k->face->row[t]];
    for (int pass = 0; pass <= REFINEMENTS; pass++) {
        for (int64_t i = 0; i < e; i++)
            k->r[i] = 1 - simd->dot_f64(k->M + i * c, k->x, c);
        MGVI_TRY(add_least(k, size, false, k->r, k->x));
    }
    for (int pass = 0; pass <= REFINEMENTS; pass++) {
        for (int64_t j = 0; j < c; j++)
            k->r[j] = k->f[j] + (j < k->m ? k->p->lambda * k->x[j] : 0);
        for (int64_t i = 0; i < e; i++)
            k->q[i] = -k->theta[i];
        simd->dense_mul_t_f64(k->M, c, e, c, k->q, k->r);
        MGVI_TRY(add_least(k, size, true, k->r, k->theta));
    }
    return MGV_OK;
}

/* ---- both ------------------------------------------------------------------------------------ */

static bool allocate(polish *k, double **memory)
{
    const size_t e = (size_t)k->e, m = (size_t)k->m, most = e > m ? e : m + 1;
    const size_t matrix = k->p->gram ? 0 : e * (size_t)k->width;
    const size_t rows = (size_t)(k->p->rows + (k->p->gram ? 0 : k->p->cols));
    double *at = *memory =
        mgvi_zeros(k->ctx, matrix + e * e + 2 * (m + 1) + e + 2 * most + rows, sizeof *at);
    k->perm = mgvi_zeros(k->ctx, e + 1 + (size_t)k->p->rows, sizeof *k->perm);
    if (!at || !k->perm)
        return false;
    k->M = at;
    k->F = k->M + matrix;
    k->f = k->F + e * e;
    k->x = k->f + m + 1;
    k->theta = k->x + m + 1;
    k->r = k->theta + e;
    k->q = k->r + most;
    k->whole = k->q + most;
    return true;
}

static void fill_matrix(polish *k)
{
    const mgvi_hinge_block *p = k->p;
    const mgvi_hinge_face *face = k->face;
    int32_t *place = k->perm + k->e + 1; /* of a row among the free ones */
    for (int64_t i = 0; i < p->rows; i++)
        place[i] = -1;
    for (int64_t s = 0; s < k->e; s++) {
        place[face->row[s]] = (int32_t)s;
        for (int64_t t = 0; t < k->m && !p->sparse; t++)
            k->M[s * k->width + t] =
                p->Z[face->row[s] * p->row_stride + face->col[t] * p->col_stride];
        if (k->width > k->m)
            k->M[s * k->width + k->m] = y_at(k, s);
    }
    for (int64_t t = 0; t < k->m && p->sparse; t++)
        mgvi_hinge_sparse_column(p->sparse, face->col[t], place, face->row, k->e, k->M + t,
                                 k->width);
}

/* Spreads the solution over `out`; false when theta leaves the box by more than rounding. */
static bool spread(const polish *k, mgvi_hinge_point *out)
{
    const mgvi_hinge_block *p = k->p;
    const double slack = 1e-9;
    for (int64_t i = 0; i < p->rows; i++)
        out->theta[i] = k->face->upper[i] ? p->s[i] : 0;
    for (int64_t t = 0; t < k->e; t++) {
        const int64_t i = k->face->row[t];
        if (!(k->theta[t] >= -slack * p->s[i] && k->theta[t] <= (1 + slack) * p->s[i]))
            return false;
        out->theta[i] = fmin(fmax(k->theta[t], 0), p->s[i]);
    }
    if (!p->gram) {
        memset(out->w, 0, (size_t)p->cols * sizeof *out->w);
        for (int64_t t = 0; t < k->m; t++)
            out->w[k->face->col[t]] = k->x[t];
    }
    out->b = p->y ? k->x[k->m] : 0;
    return true;
}

mgv_status mgvi_hinge_polish(mgv_ctx *ctx, const mgvi_hinge_block *block,
                             const mgvi_hinge_face *face, const mgvi_hinge_point *near,
                             mgvi_hinge_point *out, bool *solved)
{
    polish k = {.ctx = ctx, .p = block, .face = face, .e = face->free_rows};
    mgv_status st = MGV_E_MEMORY;
    double *memory = NULL;
    k.m = block->gram ? 0 : face->active_cols;
    const int64_t unknowns = k.m + (block->y ? 1 : 0);
    const bool vertex = block->lambda == 0 && k.e == unknowns;
    const bool face_of_l2 = block->lambda > 0 && (block->gram || k.e <= unknowns);
    k.width = face_of_l2 ? k.m : unknowns; /* (5) has the intercept apart */
    *solved = false;
    if (!vertex && !face_of_l2 && !near)
        return MGV_OK;
    if (allocate(&k, &memory)) {
        if (!block->gram)
            fill_matrix(&k);
        right_side(&k);
        st = vertex       ? solve_vertex(&k, solved)
             : face_of_l2 ? solve_face(&k, near, solved)
                          : solve_nearest(&k, near, solved);
        *solved = st == MGV_OK && *solved && spread(&k, out);
    }
    mgvi_release(ctx, memory);
    mgvi_release(ctx, k.perm);
    return st;
}
