/* factor.c - one row more, one row less. */
#include "solver/margin/factor.h"

#include "linalg/gemm.h"

#include <math.h>
#include <string.h>

mgv_status mgvi_factor_init(mgvi_factor *f, mgvi_arena *arena, int64_t most, int carried)
{
    const size_t n = (size_t)most;
    *f = (mgvi_factor){.simd = arena->ctx->simd, .most = most, .carried = carried};
    f->U = mgvi_arena_scratch(arena, n * n, sizeof *f->U);
    f->column = mgvi_arena_array(arena, n, sizeof *f->column);
    bool full = f->U && f->column;
    for (int c = 0; c < carried; c++)
        full = (f->carry[c] = mgvi_arena_array(arena, n, sizeof(double))) && full;
    return full ? MGV_OK : MGV_E_MEMORY;
}

mgv_status mgvi_factor_grow(mgvi_factor *f, mgvi_arena *arena, int64_t most)
{
    const mgvi_factor old = *f;
    const size_t n = (size_t)old.count;
    if (most <= old.most)
        return MGV_OK;
    MGVI_TRY(mgvi_factor_init(f, arena, most, old.carried));
    for (size_t r = 0; r < n; r++)
        memcpy(f->U + r * (size_t)most, old.U + r * (size_t)old.most, n * sizeof *f->U);
    for (int c = 0; c < old.carried; c++)
        memcpy(f->carry[c], old.carry[c], n * sizeof(double));
    f->count = old.count;
    return MGV_OK;
}

/* U' is lower: row r of U serves as its column. */
void mgvi_factor_forward(const mgvi_factor *f, double *x)
{
    for (int64_t r = 0; r < f->count; r++) {
        const double *u = f->U + r * f->most;
        x[r] /= u[r];
        f->simd->axpy_f64(-x[r], u + r + 1, x + r + 1, f->count - r - 1);
    }
}

void mgvi_factor_backward(const mgvi_factor *f, double *x)
{
    for (int64_t r = f->count - 1; r >= 0; r--) {
        const double *u = f->U + r * f->most;
        x[r] = (x[r] - f->simd->dot_f64(u + r + 1, x + r + 1, f->count - r - 1)) / u[r];
    }
}

/* A band of rows is solved, then leaves all rows below it by one matrix product. */
mgv_status mgvi_factor_forward_many(mgv_ctx *ctx, const mgvi_factor *f, int64_t k, double *x)
{
    enum { BAND = 64 };
    for (int64_t top = 0; top < f->count; top += BAND) {
        const int64_t end = top + BAND < f->count ? top + BAND : f->count;
        for (int64_t r = top; r < end; r++) {
            const double *u = f->U + r * f->most;
            for (int64_t c = 0; c < k; c++)
                x[r * k + c] /= u[r];
            for (int64_t q = r + 1; q < end; q++)
                f->simd->axpy_f64(-u[q], x + r * k, x + q * k, k);
        }
        const mgvi_gemm_shape shape = {.m = f->count - end,
                                       .n = k,
                                       .k = end - top,
                                       .transpose_a = true,
                                       .lda = f->most,
                                       .ldb = k,
                                       .ldc = k};
        if (end < f->count)
            MGVI_TRY(mgvi_gemm_f64(ctx, &shape, -1, f->U + top * f->most + end, x + top * k, 1,
                                   x + end * k));
    }
    return MGV_OK;
}

double mgvi_factor_project(mgvi_factor *f, double K_jj)
{
    mgvi_factor_forward(f, f->column);
    return K_jj - f->simd->dot_f64(f->column, f->column, f->count);
}

void mgvi_factor_push(mgvi_factor *f, double schur, const double *v)
{
    const int64_t n = f->count;
    const double diagonal = sqrt(schur);
    for (int64_t r = 0; r < n; r++)
        f->U[r * f->most + n] = f->column[r];
    f->U[n * f->most + n] = diagonal;
    for (int c = 0; c < f->carried; c++)
        f->carry[c][n] = (v[c] - f->simd->dot_f64(f->column, f->carry[c], n)) / diagonal;
    f->count++;
}

/* to = co u + si tail, tail = co tail - si u */
static void rotate(double co, double si, int64_t n, const double *restrict u, double *restrict tail,
                   double *restrict to)
{
    for (int64_t q = 0; q < n; q++) {
        const double v = u[q], t = tail[q];
        to[q] = co * v + si * t;
        tail[q] = co * t - si * v;
    }
}

/* Its column goes, and the rows below are rotated against the tail of the dropped row until U is
 * triangular again; the carried vectors turn with them like columns. */
void mgvi_factor_drop(mgvi_factor *f, int64_t k)
{
    const int64_t n = f->count, ld = f->most;
    double *tail = f->column, last[MGVI_FACTOR_CARRIED] = {0};
    for (int c = 0; c < f->carried; c++)
        last[c] = f->carry[c][k];
    memcpy(tail + k + 1, f->U + k * ld + k + 1, (size_t)(n - k - 1) * sizeof *tail);
    for (int64_t r = 0; r < k; r++) { /* rows above only lose the column */
        double *u = f->U + r * ld;
        memmove(u + k, u + k + 1, (size_t)(n - k - 1) * sizeof *u);
    }
    for (int64_t r = k + 1; r < n; r++) {
        const double *from = f->U + r * ld;
        const double h = hypot(from[r], tail[r]), co = from[r] / h, si = tail[r] / h;
        rotate(co, si, n - r, from + r, tail + r, f->U + (r - 1) * ld + r - 1);
        for (int c = 0; c < f->carried; c++) {
            const double v = f->carry[c][r];
            f->carry[c][r - 1] = co * v + si * last[c];
            last[c] = co * last[c] - si * v;
        }
    }
    f->count--;
}
