/* set_quadratic.c - inner products of packed columns. */
#include "solver/coordinate/set_quadratic.h"

#include "base/limit.h"

#include <string.h>

/* work = p_j - mean_j e: centred before it is multiplied, for products that are large and cancel
 * would have lost their digits. Returns e.work. */
static double centre(const mgvi_quadratic *q, const mgvi_packed_set *s, int64_t j)
{
    const mgvi_packed *P = s->packed;
    const int64_t first = P->ptr[j], n = P->rows;
    if (P->dense)
        memcpy(s->work, P->f64 + first, (size_t)n * sizeof *s->work);
    else
        memset(s->work, 0, (size_t)n * sizeof *s->work);
    for (int64_t t = first; t < P->ptr[j + 1] && !P->dense; t++)
        s->work[P->idx[t]] = P->f64[t];
    if (s->mean[j] != 0)
        q->simd->axpy_f64(-s->mean[j], s->e, s->work, n);
    return q->simd->dot_f64(s->e, s->work, n);
}

/* Counted where the matrix is kept, too: a run that was broken off makes it anew, and has to decide
 * the same. */
static void count_gram(mgvi_quadratic *q, const mgvi_packed_set *s)
{
    static const double ENTRY = 8; /* multiplied one by one, in those of a matrix product */
    for (int64_t a = 0; a < s->count; a++)
        q->work += ENTRY * (double)(a + 1) * (double)mgvi_packed_nnz(s->packed, s->col[a]);
}

static mgv_status make_gram(mgvi_quadratic *q, const mgvi_packed_set *s)
{
    const mgvi_packed *P = s->packed;
    const int64_t m = s->count;
    const size_t bytes = (size_t)m * sizeof *s->made;
    count_gram(q, s);
    if (*s->made_count == m && memcmp(s->made, s->col, bytes) == 0)
        return MGV_OK;
    *s->made_count = 0;
    MGVI_TRY(mgvi_quadratic_room(q, m, true));
    q->form = MGVI_GRAM_FORM;
    for (int64_t a = 0; a < m && !mgvi_ctx_cut(q->ctx); a++) {
        const double T = centre(q, s, s->col[a]);
        for (int64_t b = a; b < m; b++) {
            const int64_t l = s->col[b], first = P->ptr[l], n = mgvi_packed_nnz(P, l);
            const double product =
                P->dense ? q->simd->dot_f64(P->f64 + first, s->work, n)
                         : q->simd->gather_dot_f64(P->f64 + first, P->idx + first, n, s->work);
            q->gram[a * m + b] = q->gram[b * m + a] = product - s->mean[l] * T;
        }
    }
    if (!mgvi_ctx_was_cut(q->ctx)) {
        memcpy(s->made, s->col, bytes);
        *s->made_count = m;
    }
    return MGV_OK;
}

mgv_status mgvi_set_solve(mgvi_quadratic *q, const mgvi_packed_set *s, const mgvi_coefs *coefs,
                          const double *grad, double *w)
{
    static const double ACCURACY = 1e-6;
    MGVI_TRY(make_gram(q, s));
    for (int64_t k = 0; k < s->count; k++) {
        const int64_t j = s->col[k];
        const mgvi_coef c = mgvi_coefs_at(coefs, j, 0);
        q->x[k] = w[j];
        q->scale[k] = c.scale;
        q->ridge[k] = c.a;
        q->square[k] = s->square[j];
        q->linear[k] = -grad[j];
    }
    MGVI_TRY(mgvi_quadratic_solve(q, ACCURACY));
    for (int64_t k = 0; k < s->count; k++)
        w[s->col[k]] = q->x[k];
    return MGV_OK;
}
