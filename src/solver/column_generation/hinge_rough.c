/* hinge_rough.c - directions of a sparse block while the gap is wide: (9) by conjugate gradients,
 *   M = Z K Z' + Th on the live rows,   |r| in the metric of the preconditioner P <= ACCURACY |b|
 * where P is the diagonal of M as long as that is less work than a factor, which it is in the first
 * steps, and then a float32 factor of M, half the work and half the bytes of a float64 one. What a
 * direction lacks is a residual of the row equation, which the next step sees. */
#include "base/limit.h"
#include "linalg/gemm.h"
#include "simd/simd.h"
#include "solver/column_generation/hinge_interior_impl.h"

#include <math.h>
#include <string.h>

enum {
    LEAST_ROWS = 500, /* fewer are factored at once */
    WITH_DIAGONAL = 80,
    WITH_FACTOR = 30 /* iterations, at most */
};

static const double ACCURACY = 1e-2, OF_GAP = 0.03; /* the lesser of the two */
static const double RIDGE = 1e-6;                   /* of a float32 factor */

bool mgvi_hinge_may_be_rough(const mgvi_hinge_interior *k)
{
    return k->p->sparse && !mgvi_hinge_by_columns(k) && k->live >= LEAST_ROWS &&
           k->least < MGVI_HINGE_SHARP;
}

/* The factor takes the place of the matrix; where it is not positive in float32 the way is sharp.
 */
static mgv_status factor(mgv_ctx *ctx, mgvi_hinge_interior *k)
{
    const int64_t n = k->live;
    float *H = (float *)k->H;
    int64_t pivot;
    mgvi_hinge_sparse_rows_rough(ctx, k->p->sparse, k->K, k->row, n, H);
    for (int64_t t = 0; t < n; t++)
        H[t * n + t] = (float)(((double)H[t * n + t] + k->Th[k->row[t]]) * (1 + RIDGE));
    MGVI_TRY(mgvi_cholesky_f32(ctx, n, H, n, &pivot));
    k->work += mgvi_hinge_sparse_rows_work(k->p->sparse) + (double)n * (double)n * (double)n / 12;
    k->way = pivot < 0 ? MGVI_HINGE_FLOAT : MGVI_HINGE_SHARP;
    return MGV_OK;
}

mgv_status mgvi_hinge_rough_open(mgv_ctx *ctx, mgvi_hinge_interior *k)
{
    k->way = k->least;
    if (k->way == MGVI_HINGE_FLOAT) {
        MGVI_TRY(factor(ctx, k));
        k->least = k->way;
        return MGV_OK;
    }
    double *diagonal = k->cg_live;
    mgvi_hinge_sparse_rows_diagonal(k->p->sparse, k->K, k->row, k->live, diagonal);
    for (int64_t t = 0; t < k->live; t++)
        diagonal[t] += k->Th[k->row[t]];
    return MGV_OK;
}

/* z = P^-1 r */
static mgv_status precondition(mgv_ctx *ctx, const mgvi_hinge_interior *k, const double *r,
                               double *z)
{
    const double *diagonal = k->cg_live;
    if (k->way == MGVI_HINGE_DIAGONAL) {
        for (int64_t t = 0; t < k->live; t++)
            z[t] = r[t] / diagonal[t];
        return MGV_OK;
    }
    memcpy(z, r, (size_t)k->live * sizeof *z);
    return mgvi_cholesky_f32_solve(ctx, k->live, (const float *)k->H, k->live, z);
}

/* out = M x, in the place of z */
static void multiply(mgv_ctx *ctx, mgvi_hinge_interior *k, const double *x, double *out)
{
    const mgvi_hinge_block *p = k->p;
    memset(k->cg_row, 0, (size_t)p->rows * sizeof *k->cg_row);
    for (int64_t t = 0; t < k->live; t++)
        k->cg_row[k->row[t]] = x[t];
    mgvi_hinge_multiply(ctx, p, true, k->cg_row, k->cg_col);
    for (int64_t j = 0; j < p->cols; j++)
        k->cg_col[j] *= k->K[j];
    mgvi_hinge_multiply(ctx, p, false, k->cg_col, k->cg_row);
    for (int64_t t = 0; t < k->live; t++)
        out[t] = k->cg_row[k->row[t]] + k->Th[k->row[t]] * x[t];
}

/* From x = 0; r, b on entry, is what is left. */
static mgv_status gradients(mgv_ctx *ctx, mgvi_hinge_interior *k, double *r, double *x,
                            bool *solved)
{
    const mgvi_simd *simd = ctx->simd;
    const int64_t n = k->live;
    const int most = k->way == MGVI_HINGE_FLOAT ? WITH_FACTOR : WITH_DIAGONAL;
    const double accuracy = fmin(ACCURACY, OF_GAP * k->best_gap);
    double *z = k->cg_live + n, *along = z + n, rho = 0, first = 0;
    memset(x, 0, (size_t)n * sizeof *x);
    for (int t = 0; t <= most; t++) {
        MGVI_TRY(precondition(ctx, k, r, z));
        const double before = rho;
        rho = simd->dot_f64(r, z, n);
        first = t == 0 ? rho : first;
        *solved = rho <= accuracy * accuracy * first;
        if (*solved || !(rho > 0) || t == most)
            break;
        for (int64_t i = 0; i < n; i++)
            along[i] = z[i] + (t > 0 ? rho / before * along[i] : 0);
        multiply(ctx, k, along, z);
        MGVI_TRY(mgvi_ctx_whole(ctx));
        const double step = rho / simd->dot_f64(along, z, n);
        simd->axpy_f64(step, along, x, n);
        simd->axpy_f64(-step, z, r, n);
        k->work += 2 * (double)k->p->sparse->ptr[k->p->cols];
    }
    return MGV_OK;
}

mgv_status mgvi_hinge_rough_solve(mgv_ctx *ctx, mgvi_hinge_interior *k, double *x, bool *solved)
{
    double *found = k->cg_live + (MGVI_HINGE_CG - 2) * k->live, *r = found + k->live;
    const size_t bytes = (size_t)k->live * sizeof *x;
    for (*solved = false; k->way != MGVI_HINGE_SHARP;) {
        memcpy(r, x, bytes);
        MGVI_TRY(gradients(ctx, k, r, found, solved));
        if (*solved) {
            memcpy(x, found, bytes);
            return MGV_OK;
        }
        if (k->way == MGVI_HINGE_DIAGONAL)
            MGVI_TRY(factor(ctx, k));
        else
            k->way = MGVI_HINGE_SHARP;
        k->least = k->way;
    }
    return MGV_OK;
}
