/* row_norms.c - lengths of rows, right to the last bits: squares are summed in twofold numbers,
 * since scores of rows that are divided by their lengths may cancel to far less than these. */
#include "base/limit.h"
#include "base/memory.h"
#include "base/threads.h"
#include "base/twofold.h"
#include "op/stats.h"
#include "simd/simd.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 1 << 14, BLOCKS = 64, CHUNK = 256 };

typedef struct job {
    mgv_ctx *ctx;
    const mgvi_matrix *m; /* by lines */
    int64_t blocks;
    double *out;
} job;

static double length_of(const job *j, int64_t i)
{
    const mgvi_span l = mgvi_matrix_span(j->m, i);
    double x[CHUNK], hi, lo;
    mgvi_two sum = {0, 0};
    for (int64_t t = 0; t < l.count; t += CHUNK) {
        const int64_t n = l.count - t < CHUNK ? l.count - t : CHUNK;
        for (int64_t k = 0; k < n; k++)
            x[k] = mgvi_span_value(j->m, &l, t + k);
        j->ctx->simd->dot_two_f64(x, x, n, &hi, &lo);
        sum = mgvi_two_add_real(mgvi_two_add_real(sum, hi), lo);
    }
    return sqrt(mgvi_two_real(sum));
}

static void length_block(void *arg, int64_t block)
{
    const job *j = arg;
    MGVI_FOR_BLOCK (i, j->m->rows, j->blocks, block) {
        if (mgvi_ctx_cut_row(j->ctx, i))
            return;
        j->out[i] = length_of(j, i);
    }
}

/* Stored by columns, the lines of `t`: all rows grow side by side. */
static mgv_status by_columns(mgv_ctx *ctx, const mgvi_matrix *t, double *hi)
{
    double *lo = mgvi_zeros(ctx, (size_t)t->cols + 1, sizeof *lo);
    if (!lo)
        return MGV_E_MEMORY;
    memset(hi, 0, (size_t)t->cols * sizeof *hi);
    for (int64_t line = 0; line < t->rows && !mgvi_ctx_cut_row(ctx, line); line++) {
        const mgvi_span l = mgvi_matrix_span(t, line);
        for (int64_t k = 0; k < l.count; k++) {
            const int64_t i = mgvi_span_place(t, &l, k);
            const double x = mgvi_span_value(t, &l, k);
            mgvi_two_feed(&hi[i], &lo[i], x, x);
        }
    }
    for (int64_t i = 0; i < t->cols; i++)
        hi[i] = sqrt(hi[i] + lo[i]);
    mgvi_release(ctx, lo);
    return mgvi_ctx_whole(ctx);
}

mgv_status mgvi_matrix_row_norms(mgv_ctx *ctx, const mgvi_matrix *m, double *norm2)
{
    if (mgvi_matrix_by_columns(m)) {
        const mgvi_matrix t = mgvi_matrix_transpose(m);
        return by_columns(ctx, &t, norm2);
    }
    job j = {.ctx = ctx, .m = m, .out = norm2, .blocks = mgvi_block_count(m->nnz, GRAIN, BLOCKS)};
    mgvi_ctx_run(ctx, j.blocks, length_block, &j);
    return mgvi_ctx_whole(ctx);
}
