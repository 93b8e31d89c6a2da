/* gram.c - G = A' diag(h) A by packed panels.
 * The rows with h_i > 0 are scaled by sqrt(h_i) and packed, `depth` rows at a time, into panels of
 * neighbouring columns: both operands of G = B'B, B = diag(sqrt h) A, are read from the same
 * panels. Only tiles that touch the upper triangle are computed. few columns:  the rows are cut
 * into parts, each with its own G; the parts are added in order many columns: slabs of rows are
 * packed by all threads, then the tiles of G are shared out */
#include "base/limit.h"
#include "base/memory.h"
#include "base/threads.h"
#include "linalg/gemm.h"
#include "linalg/panels.h"
#include "simd/gemm_kernels.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    MOST_DEPTH = 384,         /* rows summed in float32; a left operand is 24 KiB of lines */
    PACKED_BYTES = 256 << 10, /* of one part: in the second cache */
    SLAB_BYTES = 8 << 20,     /* of all threads: in the last cache */
    PARTS_BYTES = 16 << 20,   /* all partial results */
    MOST_PARTS = 64,
    FEWEST_PARTS = 16,
    PART_ROWS = 1024,    /* at least, in a part */
    PACK_ROWS = 64,      /* of a slab, packed by one task; divides MOST_DEPTH */
    TILES_TOGETHER = 8,  /* rows of tiles and */
    PANELS_TOGETHER = 4, /* panels computed by one task */
    MIRROR = 32          /* G is mirrored in squares of this side */
};

typedef struct gram {
    mgvi_panels p;
    const void *a;
    int64_t stride;
    const double *h;    /* NULL: 1 */
    int64_t *row;       /* the rows with h > 0; NULL: all */
    int64_t rows;       /* how many */
    int64_t depth;      /* rows packed at a time, the last time perhaps fewer */
    int64_t parts;      /* > 1: few columns */
    double *partial;    /* parts x d x d */
    char *packed;       /* few columns: one place per thread; many: one slab */
    size_t packed_size; /* of a place */
    atomic_int *taken;  /* per place */
    int64_t slab, slab_rows;
    double *g;
    int64_t ldg;
} gram;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* Rows begin .. begin + count of B into the place `to` for `room` rows, from its row `at` on. */
static void pack(const gram *r, char *to, int64_t room, int64_t at, int64_t begin, int64_t count)
{
    for (int64_t t = 0; t < count; t++) {
        const int64_t i = r->row ? r->row[begin + t] : begin + t;
        mgvi_panels_put(&r->p, to, room, at + t, r->h ? sqrt(r->h[i]) : 1,
                        (const char *)r->a + (size_t)(i * r->stride) * r->p.size);
    }
}

/* ---- few columns ---------------------------------------------------------------------------- */
/* At most as many parts run at once as there are threads: a place is always free. */
static int64_t take_place(const gram *r)
{
    for (int64_t place = 0;; place++) {
        int expected = 0;
        if (atomic_compare_exchange_strong(&r->taken[place], &expected, 1))
            return place;
    }
}

static void part_task(void *arg, int64_t part)
{
    const gram *r = arg;
    const int64_t begin = mgvi_block_begin(r->rows, r->parts, part);
    const int64_t end = mgvi_block_begin(r->rows, r->parts, part + 1);
    const int64_t place = take_place(r);
    char *packed = r->packed + (size_t)place * r->packed_size;
    for (int64_t at = begin; at < end; at += r->depth) {
        const int64_t depth = least(r->depth, end - at);
        pack(r, packed, depth, 0, at, depth);
        mgvi_panels_add(&r->p, packed, depth, depth, at > begin,
                        r->partial + part * r->p.d * r->p.d, r->p.d);
    }
    atomic_store(&r->taken[place], 0);
}

static void add_parts_task(void *arg, int64_t i)
{
    const gram *r = arg;
    double *g = r->g + i * r->ldg;
    memcpy(g + i, r->partial + i * r->p.d + i, (size_t)(r->p.d - i) * sizeof *g);
    for (int64_t part = 1; part < r->parts; part++) {
        const double *p = r->partial + (part * r->p.d + i) * r->p.d;
        for (int64_t j = i; j < r->p.d; j++)
            g[j] += p[j];
    }
}

/* ---- many columns --------------------------------------------------------------------------- */
static char *slab_piece(const gram *r, int64_t piece)
{
    return r->packed + (size_t)(piece * r->depth * r->p.padded) * r->p.size;
}

static int64_t piece_depth(const gram *r, int64_t piece)
{
    return least(r->depth, r->slab_rows - piece * r->depth);
}

static void pack_task(void *arg, int64_t task)
{
    const gram *r = arg;
    const int64_t at = task * PACK_ROWS, piece = at / r->depth;
    pack(r, slab_piece(r, piece), piece_depth(r, piece), at % r->depth, r->slab + at,
         least(PACK_ROWS, r->slab_rows - at));
}

/* Tasks of a group of neighbouring panels: a few rows of tiles each, down to the diagonal. */
static int64_t group_tasks(const gram *r, int64_t group)
{
    const int64_t last = least((group + 1) * PANELS_TOGETHER, r->p.count) - 1;
    return ceil_div(mgvi_panels_tiles(&r->p, last), TILES_TOGETHER);
}

/* Tasks are numbered from the last group, which has most, to the first. The left operand of a row
 * of tiles stays in the first cache, the panels of the group in the second. */
static void tiles_task(void *arg, int64_t task)
{
    const gram *r = arg;
    int64_t group = ceil_div(r->p.count, PANELS_TOGETHER) - 1;
    for (; task >= group_tasks(r, group); group--)
        task -= group_tasks(r, group);
    const int64_t first = group * PANELS_TOGETHER;
    const int64_t end = least(first + PANELS_TOGETHER, r->p.count);
    for (int64_t piece = 0; piece * r->depth < r->slab_rows; piece++)
        for (int64_t tile = task * TILES_TOGETHER; tile < (task + 1) * TILES_TOGETHER; tile++)
            for (int64_t panel = first; panel < end; panel++)
                if (tile < mgvi_panels_tiles(&r->p, panel))
                    mgvi_panels_add_tile(&r->p, slab_piece(r, piece), piece_depth(r, piece),
                                         piece_depth(r, piece), tile * r->p.kernels->rows, panel,
                                         r->slab + piece > 0, r->g, r->ldg);
}

static void add_slabs(mgv_ctx *ctx, gram *r)
{
    int64_t tasks = 0;
    for (int64_t group = 0; group * PANELS_TOGETHER < r->p.count; group++)
        tasks += group_tasks(r, group);
    const int64_t most = (int64_t)(r->packed_size / r->p.size) / r->p.padded;
    for (r->slab = 0; r->slab < r->rows && !mgvi_ctx_was_cut(ctx); r->slab += most) {
        r->slab_rows = least(most, r->rows - r->slab);
        mgvi_ctx_run(ctx, ceil_div(r->slab_rows, PACK_ROWS), pack_task, r);
        mgvi_ctx_run(ctx, tasks, tiles_task, r);
    }
}

/* ---- both ----------------------------------------------------------------------------------- */
static void mirror_task(void *arg, int64_t task)
{
    const gram *r = arg;
    const int64_t i0 = task * MIRROR, i1 = least(i0 + MIRROR, r->p.d);
    for (int64_t j0 = 0; j0 < i1; j0 += MIRROR)
        for (int64_t i = i0; i < i1; i++)
            for (int64_t j = j0; j < least(j0 + MIRROR, i); j++)
                r->g[i * r->ldg + j] = r->g[j * r->ldg + i];
}

/* Lists the rows with h > 0, unless that is all of them. */
static mgv_status find_rows(mgv_ctx *ctx, gram *r, int64_t n)
{
    r->rows = 0;
    for (int64_t i = 0; r->h && i < n; i++)
        r->rows += r->h[i] != 0;
    if (!r->h || r->rows == n) {
        r->rows = n;
        return MGV_OK;
    }
    r->row =
        mgvi_alloc(ctx, (size_t)r->rows + 1, sizeof *r->row); /* one past the last is written */
    if (!r->row)
        return MGV_E_MEMORY;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        r->row[count] = i;
        count += r->h[i] != 0;
    }
    return MGV_OK;
}

/* How the work is cut: by the shape alone. */
static mgv_status plan(mgv_ctx *ctx, gram *r)
{
    const int64_t row_bytes = r->p.padded * (int64_t)r->p.size;
    const int64_t square = r->p.d * r->p.d * (int64_t)sizeof(double);
    const int64_t most = least(MOST_PARTS, PARTS_BYTES / square);
    int64_t places = 1;
    r->parts = most >= FEWEST_PARTS ? mgvi_block_count(r->rows, PART_ROWS, most) : 1;
    if (r->parts > 1) {
        r->depth = least(MOST_DEPTH, PACKED_BYTES / row_bytes);
        r->packed_size = (size_t)(r->depth * row_bytes);
        places = least(mgvi_pool_threads(ctx->pool), r->parts);
        r->partial = mgvi_alloc(ctx, (size_t)r->parts, (size_t)square);
        r->taken = mgvi_zeros(ctx, (size_t)places, sizeof *r->taken);
        if (!r->partial || !r->taken)
            return MGV_E_MEMORY;
    } else {
        r->depth = MOST_DEPTH;
        const int64_t pieces = SLAB_BYTES / (MOST_DEPTH * row_bytes);
        const int64_t slab = MOST_DEPTH * (pieces < 1 ? 1 : pieces);
        r->packed_size = (size_t)(least(slab, r->rows) * row_bytes);
    }
    r->packed = mgvi_alloc(ctx, (size_t)places, r->packed_size);
    return r->packed ? MGV_OK : MGV_E_MEMORY;
}

static void compute(mgv_ctx *ctx, gram *r)
{
    if (r->rows == 0) {
        for (int64_t i = 0; i < r->p.d; i++)
            memset(r->g + i * r->ldg, 0, (size_t)r->p.d * sizeof *r->g);
        return;
    }
    if (r->parts > 1) {
        mgvi_ctx_run(ctx, r->parts, part_task, r);
        mgvi_ctx_run(ctx, r->p.d, add_parts_task, r);
    } else {
        add_slabs(ctx, r);
    }
    mgvi_ctx_run(ctx, ceil_div(r->p.d, MIRROR), mirror_task, r);
}

static mgv_status gram_of(mgv_ctx *ctx, gram *r, int64_t n)
{
    assert(n >= 0 && r->p.d >= 0 && r->ldg >= r->p.d);
    if (r->p.d == 0)
        return MGV_OK;
    r->p = mgvi_panels_for(ctx, r->p.f64, r->p.d);
    mgv_status st = find_rows(ctx, r, n);
    if (st == MGV_OK)
        st = plan(ctx, r);
    if (st == MGV_OK)
        compute(ctx, r);
    mgvi_release(ctx, r->row);
    mgvi_release(ctx, r->partial);
    mgvi_release(ctx, r->taken);
    mgvi_release(ctx, r->packed);
    return st == MGV_OK ? mgvi_ctx_whole(ctx) : st;
}

mgv_status mgvi_gram_f32(mgv_ctx *ctx, int64_t n, int64_t d, const float *a, int64_t stride,
                         const double *h, double *g, int64_t ldg)
{
    gram r = {.p = {.d = d}, .a = a, .stride = stride, .h = h, .g = g, .ldg = ldg};
    return gram_of(ctx, &r, n);
}

mgv_status mgvi_gram_f64(mgv_ctx *ctx, int64_t n, int64_t d, const double *a, int64_t stride,
                         const double *h, double *g, int64_t ldg)
{
    gram r = {.p = {.f64 = true, .d = d}, .a = a, .stride = stride, .h = h, .g = g, .ldg = ldg};
    return gram_of(ctx, &r, n);
}
