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

/* Entry t of line i, in the order in which they are stored. */
static int64_t entry_at(const mgvi_matrix *m, int64_t i, int64_t t)
{
    return m->layout == MGV_DENSE ? i * m->row_stride + t * m->col_stride : m->ptr[i] + t;
}

static int64_t entries_of(const mgvi_matrix *m, int64_t i)
{
    return m->layout == MGV_DENSE ? m->cols : m->ptr[i + 1] - m->ptr[i];
}

static double length_of(const job *j, int64_t i)
{
    const int64_t count = entries_of(j->m, i);
    double x[CHUNK], hi, lo;
    mgvi_two sum = {0, 0};
    for (int64_t t = 0; t < count; t += CHUNK) {
        const int64_t n = count - t < CHUNK ? count - t : CHUNK;
        for (int64_t k = 0; k < n; k++)
            x[k] = mgvi_matrix_value(j->m, entry_at(j->m, i, t + k));
        j->ctx->simd->dot_two_f64(x, x, n, &hi, &lo);
        sum = mgvi_two_add_real(mgvi_two_add_real(sum, hi), lo);
    }
    return sqrt(mgvi_two_real(sum));
}

static void length_block(void *arg, int64_t block)
{
    const job *j = arg;
    const int64_t end = mgvi_block_begin(j->m->rows, j->blocks, block + 1);
    for (int64_t i = mgvi_block_begin(j->m->rows, j->blocks, block); i < end; i++) {
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
    for (int64_t line = 0; line < t->rows && !mgvi_ctx_cut_row(ctx, line); line++)
        for (int64_t k = 0; k < entries_of(t, line); k++) {
            const int64_t at = entry_at(t, line, k), i = t->layout == MGV_DENSE ? k : t->idx[at];
            const double x = mgvi_matrix_value(t, at);
            const mgvi_two p = mgvi_two_prod(x, x), s = mgvi_two_sum(hi[i], p.hi);
            hi[i] = s.hi;
            lo[i] += s.lo + p.lo;
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
