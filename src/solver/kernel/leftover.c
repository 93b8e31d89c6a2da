/* leftover.c - diagonal of a kernel's matrix less that of its Nystrom approximation.
 *   e_i = K_ii - |U'^-1 b_i|^2,   B_L = U'U                                                  (13)
 * of all rows costs as much as the metric. A quarter of the chosen rows says e'_i >= e_i at a
 * sixteenth of it, and e_i is about kappa e'_i^2/K_ii, kappa from some rows whose e_i is made. */
#include "solver/kernel/leftover.h"

#include "base/limit.h"
#include "linalg/gemm.h"
#include "simd/simd.h"

#include <math.h>
#include <string.h>

enum { SHARE = 4, LEAST = 32, SAMPLE = 128, CHUNK = 1024 };
static const double RIDGE = 1e-8; /* relative: a digit of e_i is enough */

/* Every step-th of the chosen rows. */
typedef struct part {
    int64_t step, count;
    double *U; /* count x count */
} part;

static mgv_status factor(const mgvi_leftover *l, mgvi_arena *arena, int64_t step, part *p,
                         bool *regular)
{
    int64_t pivot;
    p->step = step;
    p->count = (l->count + step - 1) / step;
    p->U = mgvi_arena_scratch(arena, (size_t)p->count, (size_t)p->count * sizeof *p->U);
    if (!p->U)
        return MGV_E_MEMORY;
    for (int64_t t = 0; t < p->count; t++) {
        const double *b = l->B + l->row[t * step] * l->count;
        for (int64_t q = 0; q < p->count; q++)
            p->U[t * p->count + q] = b[q * step] * (q == t ? 1 + RIDGE : 1);
    }
    MGVI_TRY(mgvi_cholesky(l->ctx, p->count, p->U, p->count, &pivot));
    *regular = pivot < 0;
    return MGV_OK;
}

static double bounded(double e, double most) { return e > 0 ? fmin(e, most) : 0; }

/* kappa: the sum of e_i over that of e'_i^2/K_ii, over rows at equal steps. */
static mgv_status calibrate(const mgvi_leftover *l, mgvi_arena *arena, const double *rough,
                            double *kappa)
{
    const int64_t sample = l->n < SAMPLE ? l->n : SAMPLE;
    double fine = 0, square = 0;
    part all;
    bool regular;
    MGVI_TRY(factor(l, arena, 1, &all, &regular));
    double *x = mgvi_arena_scratch(arena, (size_t)l->count, (size_t)sample * sizeof *x);
    if (!x)
        return MGV_E_MEMORY;
    for (int64_t s = 0; s < sample; s++)
        for (int64_t t = 0; t < l->count; t++)
            x[t * sample + s] = l->B[s * l->n / sample * l->count + t];
    if (!regular || mgvi_ctx_cut(l->ctx))
        return MGV_OK;
    MGVI_TRY(mgvi_cholesky_solve(l->ctx, l->count, all.U, l->count, (int32_t)sample, x));
    for (int64_t s = 0; s < sample; s++) {
        const int64_t i = s * l->n / sample;
        double e = l->diagonal[i];
        for (int64_t t = 0; t < l->count; t++)
            e -= x[t * sample + s] * l->B[i * l->count + t];
        fine += bounded(e, rough[i]);
        square += l->diagonal[i] > 0 ? rough[i] * rough[i] / l->diagonal[i] : 0;
    }
    *kappa = square > 0 ? fine / square : 0;
    return MGV_OK;
}

/* e'_i by some of the chosen rows: B of them, times the inverse, some rows at a time. */
static mgv_status look_roughly(const mgvi_leftover *l, mgvi_arena *arena, double *e, bool *regular)
{
    part some;
    MGVI_TRY(factor(l, arena, SHARE, &some, regular));
    const int64_t count = some.count;
    const size_t numbers = (size_t)count;
    double *inverse = mgvi_arena_array(arena, numbers, numbers * sizeof *inverse);
    double *b = mgvi_arena_scratch(arena, CHUNK, numbers * sizeof *b);
    double *x = mgvi_arena_scratch(arena, CHUNK, numbers * sizeof *x);
    if (!inverse || !b || !x)
        return MGV_E_MEMORY;
    if (!*regular)
        return MGV_OK;
    for (int64_t t = 0; t < count; t++)
        inverse[t * count + t] = 1;
    MGVI_TRY(mgvi_cholesky_solve(l->ctx, count, some.U, count, (int32_t)count, inverse));
    for (int64_t i = 0; i < l->n && !mgvi_ctx_cut(l->ctx); i += CHUNK) {
        const int64_t rows = l->n - i < CHUNK ? l->n - i : CHUNK;
        const mgvi_gemm_shape shape = {
            .m = rows, .n = count, .k = count, .lda = count, .ldb = count, .ldc = count};
        for (int64_t r = 0; r < rows; r++)
            for (int64_t t = 0; t < count; t++)
                b[r * count + t] = l->B[(i + r) * l->count + t * SHARE];
        MGVI_TRY(mgvi_gemm_f64(l->ctx, &shape, 1, b, inverse, 0, x));
        for (int64_t r = 0; r < rows; r++) {
            const double said = l->ctx->simd->dot_f64(b + r * count, x + r * count, count);
            e[i + r] = bounded(l->diagonal[i + r] - said, l->diagonal[i + r]);
        }
    }
    return MGV_OK;
}

/* No single chosen row leaves less than all: a chosen row, or one like it, has nothing left. */
static double by_one(const mgvi_leftover *l, int64_t i)
{
    const double *b = l->B + i * l->count;
    double said = 0;
    for (int64_t t = 0; t < l->count; t++) {
        const double own = l->diagonal[l->row[t]];
        said = own > 0 ? fmax(said, b[t] * b[t] / own) : said;
    }
    return fmax(l->diagonal[i] - said, 0);
}

mgv_status mgvi_leftover_estimate(const mgvi_leftover *l, mgvi_arena *arena, double *e)
{
    mgvi_arena *own = mgvi_arena_within(arena);
    double kappa = 0;
    bool regular;
    memset(e, 0, (size_t)l->n * sizeof *e);
    if (l->count < LEAST)
        return MGV_OK;
    if (!own)
        return MGV_E_MEMORY;
    mgv_status st = look_roughly(l, own, e, &regular);
    if (st == MGV_OK && regular)
        st = calibrate(l, own, e, &kappa);
    mgvi_arena_free(own);
    for (int64_t i = 0; i < l->n; i++)
        e[i] = kappa > 0 && l->diagonal[i] > 0
                   ? bounded(kappa * e[i] * e[i] / l->diagonal[i], fmin(e[i], by_one(l, i)))
                   : 0;
    return st;
}
