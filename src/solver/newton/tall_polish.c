/* tall_polish.c - from a good (w, a) of the reduced hinge problem to the exact one: the sets
 * E = {0 < a_i < cap_i}, T = {a_i = cap_i} and A = {w_j != 0} are guessed, then with
 * R = lin + sum_T cap_i a_i - mu sign(w) the optimality conditions are linear
 * (docs/algorithms/newton.md (17)):
 *     Lambda w_A - Z_EA' a_E = R_A,   Z_EA w_A = 1.                                             (1)
 * lambda > 0: w is eliminated, a system in a_E, bordered by the free column. lambda = 0: a vertex,
 * |E| = |A|, two square systems. A guess is as good as the gap it leads to, which is measured:
 * there are guesses from several thresholds. */
#include "solver/newton/tall_interior.h"

#include "linalg/gemm.h"
#include "simd/simd.h"
#include "solver/shared/scaled_cholesky.h"

#include <math.h>
#include <string.h>

enum { MOST_GUESSES = 8, REFINEMENTS = 3 };

typedef struct polish {
    mgv_ctx *ctx;
    const mgvi_tall_reduced *r;
    mgvi_arena arena;
    int64_t n, d;
    int32_t *E, *A;
    int64_t size_E, size_A;
    int64_t free; /* columns of A without penalty: 0 or 1, the last */
    double *Z;    /* size_E x size_A */
    double *R;    /* d: right side */
    double *w, *a, *z, *v;
    double *x, *y, *rest; /* work space: d numbers; the rows of E are no more */
} polish;

/* ---- the guess ------------------------------------------------------------------------------- */

/* E, T and A at threshold c; R and the parts of w and a that are known. */
static void guess(polish *k, const double *unit, const double *w, const double *a, double c)
{
    const mgvi_tall_reduced *r = k->r;
    double largest = 0;
    for (int64_t j = 0; j < k->d; j++)
        if (r->mu[j] > 0)
            largest = fmax(largest, fabs(w[j]) / unit[j]);
    k->size_A = k->size_E = k->free = 0;
    for (int64_t j = 0; j < k->d; j++) {
        k->w[j] = 0;
        if (r->mu[j] == 0 || fabs(w[j]) / unit[j] > c * largest) {
            k->A[k->size_A++] = (int32_t)j;
            k->free += r->mu[j] == 0 && r->lambda[j] == 0;
        }
    }
    for (int64_t i = 0; i < k->n; i++) {
        const double theta = a[i] / r->cap[i];
        k->a[i] = theta >= 1 - c ? r->cap[i] : 0;
        if (theta > c && theta < 1 - c)
            k->E[k->size_E++] = (int32_t)i;
    }
    mgvi_tall_reduced_dual(r, k->a, k->R);
    for (int64_t j = 0; j < k->d; j++)
        if (r->mu[j] > 0)
            k->R[j] -= copysign(r->mu[j], w[j]);
}

static mgv_status gather(polish *k)
{
    MGVI_TRY(MGVI_ARRAY(&k->arena, k->Z, (size_t)(k->size_E * k->size_A) + 1));
    for (int64_t e = 0; e < k->size_E; e++) {
        mgvi_row_set_row(k->r->set, k->E[e], k->x);
        for (int64_t j = 0; j < k->size_A; j++)
            k->Z[e * k->size_A + j] = k->x[k->A[j]];
    }
    return MGV_OK;
}

/* ---- lambda > 0 ------------------------------------------------------------------------------ */

/* w_A without the free column from a_E: (R + Z'a)/lambda. `a` has size_E numbers. */
static void weights_from(polish *k, const double *a)
{
    memset(k->y, 0, (size_t)k->size_A * sizeof *k->y);
    k->ctx->simd->dense_mul_t_f64(k->Z, k->size_A, k->size_E, k->size_A, a, k->y);
    for (int64_t j = 0; j < k->size_A - k->free; j++)
        k->w[k->A[j]] = (k->R[k->A[j]] + k->y[j]) / k->r->lambda[k->A[j]];
}

/* Residuals of (1) at (a, b): out = 1 - Z w, and that of the free column. */
static double residuals(polish *k, const double *a, double b, double *out)
{
    weights_from(k, a);
    double of_free = 0;
    if (k->free) {
        k->w[k->A[k->size_A - 1]] = b;
        of_free = -(k->R[k->A[k->size_A - 1]] + k->y[k->size_A - 1]);
    }
    for (int64_t j = 0; j < k->size_A; j++)
        k->y[j] = k->w[k->A[j]];
    k->ctx->simd->dense_mul_f64(k->Z, k->size_A, k->size_E, k->size_A, k->y, out);
    for (int64_t e = 0; e < k->size_E; e++)
        out[e] = 1 - out[e];
    return of_free;
}

/* K = Z Lambda^-1 Z' without the free column, factored. */
static mgv_status factor_rows(polish *k, mgvi_scaled_cholesky *solver)
{
    const int64_t e = k->size_E, m = k->size_A - k->free;
    double *scaled;
    MGVI_TRY(MGVI_ARRAY(&k->arena, scaled, (size_t)(e * m) + 1));
    for (int64_t i = 0; i < e; i++)
        for (int64_t j = 0; j < m; j++)
            scaled[i * m + j] = k->Z[i * k->size_A + j] / sqrt(k->r->lambda[k->A[j]]);
    MGVI_TRY(mgvi_scaled_cholesky_init(solver, &k->arena, e));
    const mgvi_gemm_shape shape = {
        .m = e, .n = e, .k = m, .transpose_b = true, .lda = m, .ldb = m, .ldc = e};
    MGVI_TRY(mgvi_gemm_f64(k->ctx, &shape, 1, scaled, scaled, 0, solver->H));
    return mgvi_scaled_cholesky_factor(solver, 0);
}

static mgv_status solve_quadratic(polish *k)
{
    const int64_t e = k->size_E;
    mgvi_scaled_cholesky solver;
    double *a = mgvi_arena_array(&k->arena, (size_t)e * 2 + 1, sizeof *a), *border = a + e;
    if (!a)
        return MGV_E_MEMORY;
    MGVI_TRY(factor_rows(k, &solver));
    double b = 0, bend = 0;
    for (int64_t i = 0; k->free && i < e; i++)
        border[i] = k->Z[i * k->size_A + k->size_A - 1];
    if (k->free) {
        MGVI_TRY(mgvi_scaled_cholesky_refine(&solver, border, 1));
        for (int64_t i = 0; i < e; i++)
            bend += border[i] * k->Z[i * k->size_A + k->size_A - 1];
    }
    for (int t = 0; t <= REFINEMENTS; t++) {
        const double of_free = residuals(k, a, b, k->rest);
        double db = 0;
        MGVI_TRY(mgvi_scaled_cholesky_refine(&solver, k->rest, 1));
        for (int64_t i = 0; k->free && i < e; i++)
            db += k->rest[i] * k->Z[i * k->size_A + k->size_A - 1];
        db = k->free && bend > 0 ? (db - of_free) / bend : 0;
        b += db;
        for (int64_t i = 0; i < e; i++)
            a[i] += k->rest[i] - db * border[i];
    }
    residuals(k, a, b, k->rest);
    for (int64_t i = 0; i < e; i++)
        k->a[k->E[i]] = a[i];
    return MGV_OK;
}

/* ---- lambda = 0 ------------------------------------------------------------------------------ */

static mgv_status solve_vertex(polish *k, bool *solved)
{
    const int64_t m = k->size_A;
    double *M = mgvi_arena_array(&k->arena, (size_t)(m * m) + 1, sizeof *M);
    double *x = mgvi_arena_array(&k->arena, (size_t)m + 1, sizeof *x);
    int32_t *order = mgvi_arena_array(&k->arena, (size_t)m + 1, sizeof *order);
    if (!M || !x || !order)
        return MGV_E_MEMORY;
    memcpy(M, k->Z, (size_t)(m * m) * sizeof *M);
    MGVI_TRY(mgvi_lu(k->ctx, m, M, m, order, solved));
    for (int t = 0; *solved && t <= 1; t++) { /* Z w = 1, refined once */
        for (int64_t i = 0; i < m; i++) {
            x[i] = 1;
            for (int64_t j = 0; j < m; j++)
                x[i] -= k->Z[i * m + j] * k->w[k->A[j]];
        }
        mgvi_lu_solve(k->ctx, m, M, m, order, false, x);
        for (int64_t j = 0; j < m; j++)
            k->w[k->A[j]] += x[j];
    }
    for (int t = 0; *solved && t <= 1; t++) { /* Z'a = -R */
        for (int64_t j = 0; j < m; j++)
            x[j] = -k->R[k->A[j]];
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < m; j++)
                x[j] -= k->Z[i * m + j] * k->a[k->E[i]];
        mgvi_lu_solve(k->ctx, m, M, m, order, true, x);
        for (int64_t i = 0; i < m; i++)
            k->a[k->E[i]] += x[i];
    }
    return MGV_OK;
}

/* ---- guesses --------------------------------------------------------------------------------- */

static mgv_status try_guess(polish *k, bool *solved)
{
    *solved = false;
    const bool quadratic = k->size_A > k->free && k->r->lambda[k->A[0]] > 0;
    if (k->size_E == 0 || k->size_A == 0 ||
        (quadratic ? k->size_E > k->size_A : k->size_E != k->size_A))
        return MGV_OK;
    MGVI_TRY(gather(k));
    if (!quadratic)
        return solve_vertex(k, solved);
    const mgv_status st = solve_quadratic(k);
    *solved = st == MGV_OK;
    return st == MGV_E_NUMERIC ? MGV_OK : st;
}

static mgv_status polish_init(polish *k, const mgvi_tall_reduced *r)
{
    k->r = r;
    k->ctx = r->set->ctx;
    k->n = mgvi_row_set_count(r->set);
    k->d = r->set->cols;
    const size_t n = (size_t)k->n, d = (size_t)k->d;
    k->E = mgvi_arena_array(&k->arena, n + 1, sizeof *k->E);
    k->A = mgvi_arena_array(&k->arena, d, sizeof *k->A);
    k->a = mgvi_arena_array(&k->arena, n + 1, sizeof *k->a);
    k->z = mgvi_arena_array(&k->arena, n + 1, sizeof *k->z);
    MGVI_TRY(MGVI_VECTORS(&k->arena, d + 1, &k->x, &k->y, &k->rest, &k->R, &k->w, &k->v));
    return k->E && k->A && k->a && k->z ? MGV_OK : MGV_E_MEMORY;
}

/* Measures the solved guess; keeps it when it is better. */
static void judge(polish *k, double *w, double *a, mgvi_tall_value *value)
{
    for (int64_t i = 0; i < k->n; i++)
        k->a[i] = fmin(fmax(k->a[i], 0), k->r->cap[i]);
    mgvi_row_set_mul(k->r->set, k->w, k->z);
    mgvi_tall_reduced_dual(k->r, k->a, k->v);
    const mgvi_tall_value found = mgvi_tall_reduced_value(k->r, k->w, k->z, k->a, k->v);
    if (!(found.gap < value->gap))
        return;
    *value = found;
    memcpy(w, k->w, (size_t)k->d * sizeof *w);
    memcpy(a, k->a, (size_t)k->n * sizeof *a);
}

mgv_status mgvi_tall_polish(const mgvi_tall_reduced *reduced, const double *unit, double *w,
                            double *a, mgvi_tall_value *value)
{
    static const double EXACT = 1e-14;
    polish k = {0};
    mgv_status st = MGV_OK;
    double c = 1e-2;
    int64_t last_E = -1, last_A = -1;
    mgvi_arena_init(&k.arena, reduced->set->ctx);
    MGVI_CHECK(st, done, polish_init(&k, reduced));
    for (int t = 0; t < MOST_GUESSES && value->gap > EXACT; t++, c /= 10) {
        bool solved;
        guess(&k, unit, w, a, c);
        if (k.size_E == last_E && k.size_A == last_A)
            continue;
        last_E = k.size_E;
        last_A = k.size_A;
        MGVI_CHECK(st, done, try_guess(&k, &solved));
        if (solved)
            judge(&k, w, a, value);
    }
done:
    mgvi_arena_free(&k.arena);
    return st;
}
