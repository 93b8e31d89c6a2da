/* alternate.c - one ridge regression of rank r per row, then one per column. */
#include "complete/alternate.h"

#include "base/limit.h"
#include "simd/simd.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { CHUNK = 256 };

typedef struct sweep {
    const mgvi_known *e;
    const mgvi_complete_loops *loops;
    const int64_t *ptr;
    int64_t lines, blocks, rank, width;
    bool by_row;
    const double *other; /* the factor that stays */
    double *mine;
    double ridge;
    double *work; /* per block: G and g */
} sweep;

/* Adds the entries of line i that are trained on to G and g. */
static void collect(const sweep *s, int64_t i, double *G, double *g)
{
    const mgvi_known *e = s->e;
    int32_t idx[CHUNK];
    double b[CHUNK];
    for (int64_t at = s->ptr[i]; at < s->ptr[i + 1];) {
        int64_t n = 0;
        for (; at < s->ptr[i + 1] && n < CHUNK; at++) {
            const int64_t t = s->by_row ? at : e->place[at];
            const int32_t row = s->by_row ? (int32_t)i : e->row[at];
            idx[n] = s->by_row ? e->col[at] : row;
            b[n] = mgvi_known_target(e, row, t);
            n += !e->held[t];
        }
        s->loops->normal_equations(s->other, s->width, idx, b, n, G, g);
    }
}

/* Solves (G + ridge) x = g by Cholesky in the upper triangle; directions that rounding has left
 * without weight get 0. */
static void solve(double *G, double *g, int64_t r, int64_t width, double ridge)
{
    double largest = 0;
    for (int64_t p = 0; p < r; p++)
        largest = fmax(largest, G[p * width + p]);
    const double least = 64 * DBL_EPSILON * (largest + ridge);
    for (int64_t p = 0; p < r; p++)
        G[p * width + p] += ridge;
    for (int64_t p = 0; p < r; p++) {
        double *row = G + p * width;
        if (!(row[p] > least)) {
            memset(row + p, 0, (size_t)(r - p) * sizeof *row);
            g[p] = 0;
            continue;
        }
        const double scale = 1 / sqrt(row[p]);
        for (int64_t q = p; q < r; q++)
            row[q] *= scale;
        g[p] *= scale;
        for (int64_t k = p + 1; k < r; k++) {
            for (int64_t q = k; q < r; q++)
                G[k * width + q] -= row[k] * row[q];
            g[k] -= row[k] * g[p];
        }
    }
    for (int64_t p = r - 1; p >= 0; p--) {
        const double *row = G + p * width;
        double sum = g[p];
        for (int64_t q = p + 1; q < r; q++)
            sum -= row[q] * g[q];
        g[p] = row[p] > 0 ? sum / row[p] : 0;
    }
}

static void sweep_block(void *arg, int64_t block)
{
    const sweep *s = arg;
    const size_t square = (size_t)(s->width * s->width);
    double *G = s->work + (size_t)block * (square + (size_t)s->width), *g = G + square;
    const int64_t end = mgvi_known_cut(s->ptr, s->lines, s->blocks, block + 1);
    for (int64_t i = mgvi_known_cut(s->ptr, s->lines, s->blocks, block); i < end; i++) {
        memset(G, 0, (square + (size_t)s->width) * sizeof *G);
        collect(s, i, G, g);
        solve(G, g, s->rank, s->width, s->ridge);
        memcpy(s->mine + i * s->width, g, (size_t)s->rank * sizeof *g);
    }
}

mgv_status mgvi_alternate_sweep(const mgvi_known *e, mgvi_factors *f, double ridge)
{
    sweep s = {.e = e,
               .loops = e->ctx->simd->complete,
               .ptr = e->row_ptr,
               .lines = e->rows,
               .blocks = e->row_blocks,
               .rank = f->rank,
               .width = f->width,
               .by_row = true,
               .other = f->right,
               .mine = f->left,
               .ridge = ridge};
    const int64_t most = e->row_blocks > e->col_blocks ? e->row_blocks : e->col_blocks;
    s.work = mgvi_alloc(e->ctx, (size_t)most, (size_t)((f->width + 1) * f->width) * sizeof *s.work);
    if (!s.work)
        return MGV_E_MEMORY;
    mgvi_known_count(e, 1);
    mgvi_ctx_run(e->ctx, s.blocks, sweep_block, &s);
    s.ptr = e->col_ptr;
    s.lines = e->cols;
    s.blocks = e->col_blocks;
    s.by_row = false;
    s.other = f->left;
    s.mine = f->right;
    mgvi_known_count(e, 1);
    mgvi_ctx_run(e->ctx, s.blocks, sweep_block, &s);
    mgvi_release(e->ctx, s.work);
    return MGV_OK;
}
