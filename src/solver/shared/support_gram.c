/* support_gram.c - Q'Q over the support: picked from the Gram matrix, by products of dense columns,
 * or, of sparse columns, line by line from their entries and the rest of the rows those are in,
 *   (P'P)_a. = sum over the entries i of column a of  p_ia (row i from column a on)
 * which are sum_i nnz_i^2/2 multiplications, of text a hundredth of what products of columns read.
 */
#include "solver/shared/sparse_quadratic.h"

#include "base/memory.h"

#include <string.h>

/* The support's entries by rows, in the order of its columns. */
typedef struct by_rows {
    int64_t *ptr;
    int64_t *at; /* per row: its first entry that is not in a column already done */
    int32_t *col;
    double *val;
} by_rows;

static mgv_status allocate_rows(mgvi_quadratic *q, by_rows *r)
{
    int64_t entries = 0;
    for (int64_t a = 0; a < q->support_count; a++)
        entries += q->ptr[q->support[a] + 1] - q->ptr[q->support[a]];
    if (!q->by_rows && !(q->by_rows = mgvi_arena_within(q->arena)))
        return MGV_E_MEMORY;
    mgvi_arena_free(q->by_rows);
    r->ptr = mgvi_arena_array(q->by_rows, (size_t)q->rows + 2, sizeof *r->ptr);
    r->at = mgvi_arena_scratch(q->by_rows, (size_t)q->rows, sizeof *r->at);
    r->col = mgvi_arena_scratch(q->by_rows, (size_t)entries, sizeof *r->col);
    r->val = mgvi_arena_scratch(q->by_rows, (size_t)entries, sizeof *r->val);
    q->touched += 2 * (double)entries;
    return r->ptr && r->at && r->col && r->val ? MGV_OK : MGV_E_MEMORY;
}

/* ptr[i + 2] counts row i, then ptr[i + 1] is where it grows, at last where it ends. */
static void fill_rows(const mgvi_quadratic *q, by_rows *r)
{
    for (int64_t a = 0; a < q->support_count; a++)
        for (int64_t t = q->ptr[q->support[a]]; t < q->ptr[q->support[a] + 1]; t++)
            r->ptr[q->idx[t] + 2]++;
    for (int64_t i = 2; i <= q->rows + 1; i++)
        r->ptr[i] += r->ptr[i - 1];
    for (int64_t a = 0; a < q->support_count; a++)
        for (int64_t t = q->ptr[q->support[a]]; t < q->ptr[q->support[a] + 1]; t++) {
            const int64_t at = r->ptr[q->idx[t] + 1]++;
            r->col[at] = (int32_t)a;
            r->val[at] = q->val[t];
        }
    memcpy(r->at, r->ptr, (size_t)q->rows * sizeof *r->at);
}

/* Line `a`: the columns' products, and what their centres take off. */
static void sparse_line(mgvi_quadratic *q, by_rows *r, int64_t a, double *row)
{
    const int64_t k = q->support[a];
    const double mean = q->mean[k], shift = mean * q->W - q->sum[k];
    double products = 0;
    memset(row + a, 0, (size_t)(q->support_count - a) * sizeof *row);
    for (int64_t t = q->ptr[k]; t < q->ptr[k + 1]; t++) {
        const int64_t first = r->at[q->idx[t]]++, end = r->ptr[q->idx[t] + 1];
        const double x = q->val[t];
        for (int64_t s = first; s < end; s++)
            row[r->col[s]] += x * r->val[s];
        products += (double)(end - first);
    }
    for (int64_t b = a; b < q->support_count; b++)
        row[b] += shift * q->mean[q->support[b]] - mean * q->sum[q->support[b]];
    q->work += MGVI_QUADRATIC_STREAMED * products;
}

static mgv_status sparse_gram(mgvi_quadratic *q, double *H)
{
    by_rows r;
    MGVI_TRY(allocate_rows(q, &r));
    fill_rows(q, &r);
    for (int64_t a = 0; a < q->support_count; a++)
        sparse_line(q, &r, a, H + a * q->support_count);
    return MGV_OK;
}

/* Line `a` of dense columns. */
static void dense_line(mgvi_quadratic *q, int64_t a, double *row)
{
    const int64_t k = q->support[a];
    const double T = mgvi_quadratic_spread(q, k);
    for (int64_t b = a; b < q->support_count; b++) {
        const int64_t l = q->support[b];
        row[b] = q->simd->dot_f64(q->val + q->ptr[l], q->Y, q->rows) - q->mean[l] * T;
        q->work += MGVI_QUADRATIC_STREAMED * (double)q->rows;
    }
}

mgv_status mgvi_support_gram(mgvi_quadratic *q, double *H)
{
    const int64_t n = q->support_count;
    if (q->form == MGVI_SPARSE_FORM)
        return sparse_gram(q, H);
    for (int64_t a = 0; a < n; a++) {
        const double *from = q->form == MGVI_GRAM_FORM ? q->gram + q->support[a] * q->count : NULL;
        for (int64_t b = a; from && b < n; b++)
            H[a * n + b] = from[q->support[b]];
        if (!from)
            dense_line(q, a, H + a * n);
    }
    return MGV_OK;
}
