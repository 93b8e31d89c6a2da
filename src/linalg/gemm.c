/* gemm.c - C = alpha op(A) op(B) + beta C by packed panels (after Goto and van de Geijn, 2008).
 * C is cut into slabs of at most SLAB x SLAB and k into pieces of DEPTH. For each piece the rows of
 * op(A) and columns of op(B) that a slab needs are packed into panels, zero-padded to whole tiles;
 * then blocks of tiles are computed, each by one thread. */
#include "linalg/gemm.h"

#include "base/limit.h"
#include "base/memory.h"
#include "simd/gemm_kernels.h"
#include "simd/simd.h"

#include <assert.h>

enum {
    SLAB = 2112,         /* a multiple of every tile height and width (8, 24, 48, ...) */
    DEPTH_BYTES = 1536,  /* one row of a panel: a tile of A stays in the first cache */
    BLOCK_ROWS = 256,    /* a block of tiles; its panels of B, */
    BLOCK_PANELS = 4,    /* 4 x 48 x 384 x 4 bytes, stay in the second cache */
    PACK_A_TOGETHER = 16 /* panels of A packed by one task */
};

/* Element (p, j), step p of column j, is x[p*along + j*across]. */
typedef struct operand {
    const void *x;
    int64_t along, across;
} operand;

typedef struct product {
    const mgvi_gemm_kernels *kernels;
    bool f64, upper;       /* upper: only tiles that reach the diagonal or lie above it */
    size_t size;           /* of an entry */
    int lanes, tile_width; /* of a vector, of a whole tile */
    int64_t m, n, k, ldc;
    double alpha, beta;
    operand a, b;
    char *c;
    char *packed_a, *packed_b;
    /* The present piece: rows i.. of C, columns j.., steps p.. of the sums. */
    int64_t i, height, j, width, p, depth;
} product;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* to[p*width + j] = column j, padded with zeros from `count` to `width`. Where the steps of a
 * column are neighbours it is copied in runs of about a cache line. */
#define PACK(T, S)                                                                                 \
    static void pack_##S(const product *r, T *restrict to, const operand *from, int64_t column,    \
                         int count, int width)                                                     \
    {                                                                                              \
        const T *restrict x = (const T *)from->x + r->p * from->along + column * from->across;     \
        const int64_t run = from->across == 1 ? 1 : 16;                                            \
        if (from->across == 1 && width % r->lanes == 0) {                                          \
            for (int64_t p = 0; p < r->depth; p++)                                                 \
                r->kernels->pack_##S(1, x + p * from->along, count, to + p * width, width);        \
            return;                                                                                \
        }                                                                                          \
        for (int64_t p = 0; p < r->depth; p += run) {                                              \
            const int64_t end = least(p + run, r->depth);                                          \
            for (int j = 0; j < width; j++)                                                        \
                for (int64_t q = p; q < end; q++)                                                  \
                    to[q * width + j] = j < count ? x[q * from->along + j * from->across] : 0;     \
        }                                                                                          \
    }
PACK(float, f32)
PACK(double, f64)

static void pack(const product *r, char *to, const operand *from, int64_t column, int count,
                 int width)
{
    if (r->f64)
        pack_f64(r, (double *)to, from, column, count, width);
    else
        pack_f32(r, (float *)to, from, column, count, width);
}

static int64_t pack_a_tasks(const product *r)
{
    return ceil_div(ceil_div(r->height, r->kernels->rows), PACK_A_TOGETHER);
}

/* The first tasks pack A, the others one panel of B each. */
static void pack_task(void *arg, int64_t task)
{
    const product *r = arg;
    const int64_t a_tasks = pack_a_tasks(r);
    if (task < a_tasks) {
        const int rows = r->kernels->rows;
        const int64_t end = least((task + 1) * PACK_A_TOGETHER * rows, r->height);
        for (int64_t i = task * PACK_A_TOGETHER * rows; i < end; i += rows)
            pack(r, r->packed_a + (size_t)(i * r->depth) * r->size, &r->a, r->i + i,
                 (int)least(rows, r->height - i), rows);
    } else {
        const int64_t j = (task - a_tasks) * r->tile_width;
        const int count = (int)least(r->tile_width, r->width - j);
        pack(r, r->packed_b + (size_t)(j * r->depth) * r->size, &r->b, r->j + j, count,
             (int)ceil_div(count, r->lanes) * r->lanes);
    }
}

/* The tile at row i, column j of the slab. */
static void multiply_tile(const product *r, int64_t i, int64_t j)
{
    const mgvi_gemm_kernels *kernels = r->kernels;
    const int64_t below = r->i + i - (r->j + j); /* how far the tile begins below the diagonal */
    const int skip = r->upper && below > 0 ? (int)(below / r->lanes) : 0;
    const int rows = (int)least(kernels->rows, r->height - i);
    const int cols = (int)least(r->tile_width, r->width - j);
    const int vecs = (int)ceil_div(cols, r->lanes), first = skip * r->lanes;
    if (skip >= vecs)
        return;
    const double beta = r->p == 0 ? r->beta : 1;
    const size_t at_a = (size_t)(i * r->depth);
    const size_t at_b = (size_t)(j * r->depth) + (size_t)first;
    const size_t at_c = (size_t)((r->i + i) * r->ldc + r->j + j + first);
    if (r->f64)
        kernels->tile_f64(r->depth, (const double *)r->packed_a + at_a, kernels->rows,
                          (const double *)r->packed_b + at_b, vecs * r->lanes, vecs - skip,
                          r->alpha, beta, (double *)r->c + at_c, r->ldc, rows, cols - first);
    else
        kernels->tile_f32(r->depth, (const float *)r->packed_a + at_a, kernels->rows,
                          (const float *)r->packed_b + at_b, vecs * r->lanes, vecs - skip,
                          (float)r->alpha, (float)beta, (float *)r->c + at_c, r->ldc, rows,
                          cols - first);
}

static void multiply_task(void *arg, int64_t task)
{
    const product *r = arg;
    const int64_t down = ceil_div(r->height, BLOCK_ROWS);
    const int64_t i0 = task % down * BLOCK_ROWS;
    const int64_t j0 = task / down * BLOCK_PANELS * r->tile_width;
    const int64_t i1 = least(i0 + BLOCK_ROWS, r->height);
    const int64_t j1 = least(j0 + BLOCK_PANELS * r->tile_width, r->width);
    for (int64_t i = i0; i < i1; i += r->kernels->rows)
        for (int64_t j = j0; j < j1; j += r->tile_width)
            multiply_tile(r, i, j);
}

static void multiply_slab(mgv_ctx *ctx, product *r, int64_t most_depth)
{
    const int64_t panels = ceil_div(r->width, r->tile_width);
    const int64_t tasks = ceil_div(r->height, BLOCK_ROWS) * ceil_div(panels, BLOCK_PANELS);
    r->p = 0;
    do { /* also once for k = 0: C = beta C */
        r->depth = least(most_depth, r->k - r->p);
        mgvi_ctx_run(ctx, pack_a_tasks(r) + panels, pack_task, r);
        mgvi_ctx_run(ctx, tasks, multiply_task, r);
        r->p += r->depth;
    } while (r->p < r->k && !mgvi_ctx_cut(ctx));
}

static mgv_status multiply(mgv_ctx *ctx, product *r)
{
    assert(r->m >= 0 && r->n >= 0 && r->k >= 0);
    if (r->m == 0 || r->n == 0)
        return MGV_OK;
    r->kernels = ctx->simd->gemm;
    r->size = r->f64 ? sizeof(double) : sizeof(float);
    r->lanes = r->f64 ? r->kernels->lanes_f64 : r->kernels->lanes_f32;
    r->tile_width = r->kernels->vecs * r->lanes;
    assert(SLAB % r->kernels->rows == 0 && SLAB % r->tile_width == 0);
    assert(BLOCK_ROWS % r->kernels->rows == 0);
    const int64_t depth = least(r->k, DEPTH_BYTES / (int64_t)r->size);
    const int64_t rows = r->kernels->rows * ceil_div(least(r->m, SLAB), r->kernels->rows);
    const int64_t cols = r->tile_width * ceil_div(least(r->n, SLAB), r->tile_width);
    /* In one piece: the C library then keeps it for the next product, with its pages. */
    r->packed_b = mgvi_alloc(ctx, (size_t)((rows + cols) * depth), r->size);
    if (!r->packed_b)
        return MGV_E_MEMORY;
    r->packed_a = r->packed_b + (size_t)(cols * depth) * r->size;
    for (r->j = 0; r->j < r->n; r->j += SLAB) {
        r->width = least(SLAB, r->n - r->j);
        const int64_t last = r->upper ? least(r->m, r->j + r->width) : r->m;
        for (r->i = 0; r->i < last && !mgvi_ctx_was_cut(ctx); r->i += SLAB) {
            r->height = least(SLAB, last - r->i);
            multiply_slab(ctx, r, depth);
        }
    }
    mgvi_release(ctx, r->packed_b);
    return mgvi_ctx_whole(ctx);
}

static product product_of(const mgvi_gemm_shape *s, const void *a, const void *b, void *c)
{
    return (product){
        .m = s->m,
        .n = s->n,
        .k = s->k,
        .ldc = s->ldc,
        .a = {a, s->transpose_a ? s->lda : 1, s->transpose_a ? 1 : s->lda},
        .b = {b, s->transpose_b ? 1 : s->ldb, s->transpose_b ? s->ldb : 1},
        .c = c,
    };
}

mgv_status mgvi_gemm_f32(mgv_ctx *ctx, const mgvi_gemm_shape *shape, float alpha, const float *a,
                         const float *b, float beta, float *c)
{
    product r = product_of(shape, a, b, c);
    r.alpha = (double)alpha;
    r.beta = (double)beta;
    return multiply(ctx, &r);
}

mgv_status mgvi_gemm_f64(mgv_ctx *ctx, const mgvi_gemm_shape *shape, double alpha, const double *a,
                         const double *b, double beta, double *c)
{
    product r = product_of(shape, a, b, c);
    r.f64 = true;
    r.alpha = alpha;
    r.beta = beta;
    return multiply(ctx, &r);
}

static product square_of(const mgvi_gemm_shape *shape, double alpha, const void *a, double beta,
                         void *c)
{
    product r = product_of(shape, a, a, c);
    r.upper = true;
    r.alpha = alpha;
    r.beta = beta;
    return r;
}

mgv_status mgvi_syrk_f32(mgv_ctx *ctx, int64_t n, int64_t k, float alpha, const float *a,
                         int64_t lda, float beta, float *c, int64_t ldc)
{
    const mgvi_gemm_shape shape = {
        .m = n, .n = n, .k = k, .transpose_a = true, .lda = lda, .ldb = lda, .ldc = ldc};
    product r = square_of(&shape, (double)alpha, a, (double)beta, c);
    return multiply(ctx, &r);
}

mgv_status mgvi_syrk_f64(mgv_ctx *ctx, int64_t n, int64_t k, double alpha, const double *a,
                         int64_t lda, double beta, double *c, int64_t ldc)
{
    const mgvi_gemm_shape shape = {
        .m = n, .n = n, .k = k, .transpose_a = true, .lda = lda, .ldb = lda, .ldc = ldc};
    product r = square_of(&shape, alpha, a, beta, c);
    r.f64 = true;
    return multiply(ctx, &r);
}
