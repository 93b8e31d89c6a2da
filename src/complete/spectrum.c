/* spectrum.c - one step of subspace iteration with orthogonal blocks:
 *   P = orth(V Q),  V'P = W,  W'W = E diag(s^2) E':   left P E,  right W E diag(1/s).          (3)
 * Blocks are orthogonalised by their Gram matrices, twice, and what is linearly dependent is left
 * out: singular values 1e-6 below the largest never pass the threshold they are wanted for. */
#include "complete/spectrum.h"

#include "linalg/eigen.h"
#include "linalg/gemm.h"

#include <math.h>
#include <string.h>

enum { SPARE = 8 }; /* columns beyond the rank */

void mgvi_spectrum_init(mgvi_spectrum *s, const mgvi_known *e, uint64_t seed)
{
    *s = (mgvi_spectrum){.e = e, .rng = mgvi_rng_stream(seed, 1)};
}

void mgvi_spectrum_free(mgvi_spectrum *s)
{
    double *const arrays[] = {s->left, s->right, s->spare_left, s->spare_right, s->small, s->s};
    for (size_t i = 0; s->e && i < sizeof arrays / sizeof *arrays; i++)
        mgvi_release(s->e->ctx, arrays[i]);
    mgvi_spectrum_init(s, s->e, s->rng.seed);
}

int64_t mgvi_spectrum_block(const mgvi_known *e, int64_t rank)
{
    const int64_t least = e->rows < e->cols ? e->rows : e->cols;
    const int64_t want = (rank + SPARE + MGVI_FACTOR_LANES - 1) / MGVI_FACTOR_LANES;
    return want * MGVI_FACTOR_LANES < least ? want * MGVI_FACTOR_LANES : least;
}

/* Memory for `want` columns; the right vectors stay. */
static mgv_status make_room(mgvi_spectrum *s, int64_t want)
{
    const mgvi_known *e = s->e;
    const size_t k = (size_t)want, m = (size_t)e->rows, n = (size_t)e->cols;
    if (want <= s->room)
        return MGV_OK;
    mgvi_spectrum grown = *s;
    grown.room = want;
    grown.left = mgvi_alloc(e->ctx, m, k * sizeof *s->left);
    grown.right = mgvi_alloc(e->ctx, n, k * sizeof *s->right);
    grown.spare_left = mgvi_alloc(e->ctx, m, k * sizeof *s->left);
    grown.spare_right = mgvi_alloc(e->ctx, n, k * sizeof *s->right);
    grown.small = mgvi_alloc(e->ctx, 3 * k, k * sizeof *s->small);
    grown.s = mgvi_alloc(e->ctx, k, sizeof *s->s);
    if (!grown.left || !grown.right || !grown.spare_left || !grown.spare_right || !grown.small ||
        !grown.s) {
        mgvi_spectrum_free(&grown);
        return MGV_E_MEMORY;
    }
    grown.G = grown.small;
    grown.E = grown.small + k * k;
    grown.M = grown.small + 2 * k * k;
    if (s->found)
        memcpy(grown.right, s->right, n * (size_t)s->found * sizeof *s->right);
    mgvi_spectrum_free(s);
    *s = grown;
    return MGV_OK;
}

mgv_status mgvi_spectrum_restore(mgvi_spectrum *s, const mgvi_rng *rng, const double *right,
                                 int64_t found)
{
    s->rng = *rng;
    s->found = 0;
    if (found == 0)
        return MGV_OK;
    MGVI_TRY(make_room(s, found));
    memcpy(s->right, right, (size_t)(s->e->cols * found) * sizeof *right);
    s->found = found;
    return MGV_OK;
}

/* `want` columns to multiply with: the right vectors, then random ones; into spare_right. */
static void widen(mgvi_spectrum *s, int64_t want)
{
    const int64_t kept = s->found < want ? s->found : want;
    for (int64_t j = 0; j < s->e->cols; j++) {
        double *to = s->spare_right + j * want;
        if (kept)
            memcpy(to, s->right + j * s->found, (size_t)kept * sizeof *to);
        for (int64_t c = kept; c < want; c++)
            to[c] = mgvi_rng_normal(&s->rng);
    }
}

/* out = scale T x + A (B'x), or with the two factors and T exchanged for V'. */
static mgv_status multiply(mgvi_spectrum *s, const mgvi_low_plus_sparse *V, bool transposed,
                           int64_t k, const double *x, double *out)
{
    const mgvi_known *e = s->e;
    const mgvi_factors *low = V->low;
    const int64_t in = transposed ? e->rows : e->cols, lines = transposed ? e->cols : e->rows;
    if (transposed)
        mgvi_known_mul_t(e, V->by_col, (int32_t)k, x, out);
    else
        mgvi_known_mul(e, V->value, (int32_t)k, x, out);
    const int64_t r = low ? low->rank : 0;
    if (r == 0) {
        for (int64_t i = 0; V->scale != 1 && i < lines * k; i++)
            out[i] *= V->scale;
        return MGV_OK;
    }
    const double *A = transposed ? low->right : low->left, *B = transposed ? low->left : low->right;
    double *C = mgvi_alloc(e->ctx, (size_t)r, (size_t)k * sizeof *C);
    if (!C)
        return MGV_E_MEMORY;
    const mgvi_gemm_shape inner = {
        .m = r, .n = k, .k = in, .transpose_a = true, .lda = low->width, .ldb = k, .ldc = k};
    const mgvi_gemm_shape outer = {
        .m = lines, .n = k, .k = r, .lda = low->width, .ldb = k, .ldc = k};
    mgv_status st = mgvi_gemm_f64(e->ctx, &inner, 1, B, x, 0, C);
    if (st == MGV_OK)
        st = mgvi_gemm_f64(e->ctx, &outer, 1, A, C, V->scale, out);
    mgvi_release(e->ctx, C);
    return st;
}

/* to = from E diag(1/d) for the first `kept` columns; from lines x k. */
static mgv_status turn(mgvi_spectrum *s, const double *from, int64_t lines, int64_t k, int64_t kept,
                       const double *d, double *to)
{
    for (int64_t p = 0; p < k; p++)
        for (int64_t q = 0; q < kept; q++)
            s->M[p * kept + q] = s->E[p * k + q] / (d ? d[q] : 1);
    const mgvi_gemm_shape shape = {
        .m = lines, .n = kept, .k = k, .lda = k, .ldb = kept, .ldc = kept};
    return mgvi_gemm_f64(s->e->ctx, &shape, 1, from, s->M, 0, to);
}

/* Eigenvectors of from'from in E, the roots of its eigenvalues in d; how many are above `least`
 * times the largest. */
static mgv_status directions(mgvi_spectrum *s, const double *from, int64_t lines, int64_t k,
                             double least, double *d, int64_t *kept)
{
    MGVI_TRY(mgvi_gram_f64(s->e->ctx, lines, k, from, k, NULL, s->G, k));
    mgvi_eigen_symmetric(k, s->G, s->E, d);
    for (int64_t p = 0; p < k; p++)
        d[p] = d[p] > 0 ? sqrt(d[p]) : 0;
    for (*kept = 0; *kept < k && d[*kept] > least * d[0]; ++*kept)
        ;
    return MGV_OK;
}

mgv_status mgvi_spectrum_step(mgvi_spectrum *s, const mgvi_low_plus_sparse *V, int64_t want)
{
    const int64_t m = s->e->rows, n = s->e->cols;
    int64_t k = want, kept;
    MGVI_TRY(make_room(s, want));
    widen(s, want);
    s->found = 0;
    MGVI_TRY(multiply(s, V, false, k, s->spare_right, s->left));
    for (int pass = 0; pass < 2; pass++) {
        double *from = pass ? s->spare_left : s->left, *to = pass ? s->left : s->spare_left;
        MGVI_TRY(directions(s, from, m, k, 1e-6, s->s, &kept));
        MGVI_TRY(turn(s, from, m, k, kept, s->s, to));
        k = kept;
    }
    if (k == 0)
        return MGV_OK;
    MGVI_TRY(multiply(s, V, true, k, s->left, s->spare_right));
    MGVI_TRY(directions(s, s->spare_right, n, k, 1e-9, s->s, &kept));
    MGVI_TRY(turn(s, s->spare_right, n, k, kept, s->s, s->right));
    memcpy(s->spare_left, s->left, (size_t)(m * k) * sizeof *s->left);
    MGVI_TRY(turn(s, s->spare_left, m, k, kept, NULL, s->left));
    s->found = kept;
    return MGV_OK;
}
