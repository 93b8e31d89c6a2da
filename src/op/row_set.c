/* row_set.c - sweeps over rows that are brought into the cache a few at a time. */
#include "op/row_set.h"

#include "base/limit.h"
#include "base/threads.h"
#include "op/row_kernels.h"
#include "simd/simd.h"

#include <math.h>
#include <string.h>

enum {
    CHUNK_BYTES = 24 << 10, /* rows in the first cache */
    MOST_CHUNK = MGVI_ROW_SET_CHUNK,
    ROOM_BYTES = 160 << 10, /* packed rows in the second cache */
    MOST_ROOM = 768,        /* rows summed in float32 */
    MOST_BLOCKS = 32,
    PARTS_BYTES = 32 << 20, /* all partial sums */
    GRAIN = 1 << 13         /* entries, at least, of a block */
};

/* What a thread works with. */
typedef struct place {
    char *rows;         /* chunk x cols, H's type */
    double *t, *t2, *h; /* coefficients of the chunk */
    char *packed;       /* panels of `room` rows */
    int64_t held;       /* rows in them */
} place;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static size_t round_up(size_t bytes) { return (bytes + MGVI_ALIGN - 1) / MGVI_ALIGN * MGVI_ALIGN; }

/* ---- work space ------------------------------------------------------------------------------ */

/* Columns of the partial H of sparse rows: the data's and e of (2). */
static int64_t sparse_width(const mgvi_row_set *s) { return s->m.cols + 1; }

static int64_t chunk_rows(const mgvi_row_set *s)
{
    const int64_t rows = CHUNK_BYTES / (s->cols * (int64_t)s->panels.size);
    return s->sparse || rows > MOST_CHUNK ? MOST_CHUNK : rows < 8 ? 8 : rows;
}

static int64_t packed_room(const mgvi_row_set *s)
{
    const int64_t rows = ROOM_BYTES / (s->panels.padded * (int64_t)s->panels.size);
    return rows > MOST_ROOM ? MOST_ROOM : rows < 64 ? 64 : rows;
}

static size_t rows_bytes(const mgvi_row_set *s)
{
    return s->sparse ? 0 : round_up((size_t)(chunk_rows(s) * s->cols) * s->panels.size);
}

static place place_at(const mgvi_row_set *s, int64_t index)
{
    char *base = s->places + (size_t)index * s->place_size;
    const int64_t chunk = chunk_rows(s);
    place p = {.rows = base, .t = (double *)(void *)(base + rows_bytes(s))};
    p.t2 = p.t + chunk;
    p.h = p.t2 + chunk;
    p.packed = base + rows_bytes(s) + round_up((size_t)(3 * chunk) * sizeof *p.t);
    return p;
}

/* The partial sums of a block: r, r2 and H, and the sums of (1): S, S2, sum y t, sum y t2. */
enum { TOTALS = 4 };

mgv_status mgvi_row_set_reserve(mgvi_row_set *s, mgvi_arena *arena)
{
    const int64_t width = s->sparse ? sparse_width(s) : s->cols;
    s->panels = mgvi_panels_for(s->ctx, s->exact, s->cols);
    s->partial_size = (size_t)(2 * width + width * width + TOTALS + 7) / 8 * 8;
    /* A block's sums are cleared and added: it should have several times more to do than that. The
     * sums of dense rows take about 16 multiplications at a time, those of sparse rows one. */
    const double rows = (double)s->m.rows, nnz = (double)s->m.nnz, square = (double)(width * width);
    const double work = s->sparse ? nnz * nnz / (2 * rows + 1) : rows * square / 32;
    int64_t most = (int64_t)fmin(work / (8 * square + 1), MOST_BLOCKS);
    most = least(most, PARTS_BYTES / (int64_t)(s->partial_size * sizeof(double)));
    most = most < 2 ? 2 : most;
    s->blocks = mgvi_block_count(s->m.nnz, GRAIN, most);
    if (s->blocks > 1 && s->blocks % 2)
        s->blocks--; /* halves are equal for two threads */
    const int64_t places = mgvi_pool_threads(s->ctx->pool);
    s->place_size = rows_bytes(s) + round_up((size_t)(3 * chunk_rows(s)) * sizeof(double)) +
                    (s->sparse ? 0 : round_up(mgvi_panels_bytes(&s->panels, packed_room(s))));
    const size_t sums = (size_t)s->blocks * s->partial_size;
    if (sums > s->partial_capacity) {
        s->partial = mgvi_arena_scratch(arena, sums, sizeof *s->partial);
        s->partial_capacity = s->partial ? sums : 0;
    }
    if (!s->places) {
        s->places = mgvi_arena_scratch(arena, (size_t)places, s->place_size);
        s->taken = mgvi_arena_array(arena, (size_t)places, sizeof *s->taken);
        s->scaled_w = mgvi_arena_array(arena, (size_t)s->cols, sizeof *s->scaled_w);
    }
    return s->partial && s->places && s->taken && s->scaled_w ? MGV_OK : MGV_E_MEMORY;
}

/* At most as many blocks run at once as there are threads: a place is always free. */
static int64_t take_place(const mgvi_row_set *s)
{
    for (int64_t i = 0;; i++) {
        int expected = 0;
        if (atomic_compare_exchange_strong(&s->taken[i], &expected, 1))
            return i;
    }
}

/* ---- rows into the cache --------------------------------------------------------------------- */

/* The rows of a chunk, `*stride` entries apart: in place, or fetched. */
static const void *fetch(const mgvi_row_set *s, const place *p, int64_t first, int64_t count,
                         int64_t *stride)
{
    if (s->plain) {
        *stride = s->m.row_stride;
        return (const char *)s->m.val + (size_t)(first * s->m.row_stride) * s->panels.size;
    }
    *stride = s->cols;
    for (int64_t i = 0; i < count; i++)
        mgvi_row_set_unsigned(s, first + i, p->rows + (size_t)(i * s->cols) * s->panels.size);
    return p->rows;
}

void mgvi_row_set_visit_block(mgvi_row_set *s, int64_t block, mgvi_row_set_visit visit, void *arg)
{
    const int64_t chunk = chunk_rows(s), at = take_place(s);
    const place p = place_at(s, at);
    double *sums = s->partial + (size_t)block * s->partial_size;
    const int64_t end = mgvi_block_begin(s->m.rows, s->blocks, block + 1);
    for (int64_t i = mgvi_block_begin(s->m.rows, s->blocks, block); i < end; i += chunk) {
        const int64_t count = least(chunk, end - i);
        int64_t stride = 0;
        const void *rows = s->sparse ? NULL : fetch(s, &p, i, count, &stride);
        visit(arg, i, count, rows, stride, sums);
    }
    atomic_store(&s->taken[at], 0);
}

/* ---- z = A w --------------------------------------------------------------------------------- */

typedef struct mul_job {
    mgvi_row_set *s;
    const double *w;
    double shift; /* c . s w */
    double *z;
} mul_job;

static void mul_rows(void *arg, int64_t first, int64_t count, const void *rows, int64_t stride,
                     double *sums)
{
    const mul_job *job = arg;
    const mgvi_row_set *s = job->s;
    const mgvi_simd *simd = s->ctx->simd;
    const mgvi_matrix *m = &s->m;
    double *z = job->z + first;
    (void)sums;
    if (s->sparse) {
        if (m->dtype == MGV_F32)
            simd->csr_mul_f32(m->val, m->idx, m->ptr + first, count, s->scaled_w, z);
        else
            simd->csr_mul_f64(m->val, m->idx, m->ptr + first, count, s->scaled_w, z);
        const double b = s->view.intercept ? job->w[m->cols] : 0;
        for (int64_t i = 0; i < count; i++)
            z[i] = mgvi_view_row_scale(&s->view, first + i) * (z[i] - job->shift) + b;
    } else if (s->exact) {
        simd->dense_mul_f64(rows, stride, count, s->cols, job->w, z);
    } else {
        simd->dense_mul_f32(rows, stride, count, s->cols, job->w, z);
    }
    for (int64_t i = 0; s->view.sign && i < count; i++)
        z[i] *= s->view.sign[first + i];
}

static void mul_block(void *arg, int64_t block)
{
    const mul_job *job = arg;
    mgvi_row_set_visit_block(job->s, block, mul_rows, arg);
}

void mgvi_row_set_mul(mgvi_row_set *s, const double *w, double *z)
{
    mul_job job = {.s = s, .w = w, .z = z};
    for (int64_t j = 0; s->sparse && j < s->m.cols; j++) {
        s->scaled_w[j] = s->view.scale ? s->view.scale[j] * w[j] : w[j];
        job.shift += s->view.centre ? s->view.centre[j] * s->scaled_w[j] : 0;
    }
    mgvi_ctx_run(s->ctx, s->blocks, mul_block, &job);
    *s->touched += s->entries;
}

/* ---- sums over rows -------------------------------------------------------------------------- */

typedef struct sweep_job {
    mgvi_row_set *s;
    mgvi_row_set_fill fill;
    void *arg;
    bool second, curvature;
} sweep_job;

/* The upper triangle of sum_i k_i [x_i e_i][x_i e_i]', indices increase within a row. */
#define SCATTER(T, S)                                                                              \
    static void scatter_##S(const mgvi_row_set *s, int64_t first, int64_t count, const double *h,  \
                            double *H)                                                             \
    {                                                                                              \
        const mgvi_matrix *m = &s->m;                                                              \
        const int64_t d = m->cols, width = d + 1;                                                  \
        for (int64_t i = 0; i < count; i++) {                                                      \
            if (h[i] == 0)                                                                         \
                continue;                                                                          \
            const double p = mgvi_view_row_scale(&s->view, first + i);                             \
            const double k = h[i] * p * p, e = s->view.intercept ? 1 / p : 1;                      \
            const int64_t n = m->ptr[first + i + 1] - m->ptr[first + i];                           \
            const T *val = (const T *)m->val + m->ptr[first + i];                                  \
            const int32_t *idx = m->idx + m->ptr[first + i];                                       \
            for (int64_t t = 0; t < n; t++) {                                                      \
                const double v = k * (double)val[t];                                               \
                double *row = H + idx[t] * width;                                                  \
                for (int64_t r = t; r < n; r++)                                                    \
                    row[idx[r]] += v * (double)val[r];                                             \
                row[d] += v * e;                                                                   \
            }                                                                                      \
            H[d * width + d] += k * e * e;                                                         \
        }                                                                                          \
    }
SCATTER(float, f32)
SCATTER(double, f64)

/* t_i y_i in place, with their sum. */
static double apply_sign(const mgvi_row_set *s, int64_t first, int64_t count, double *t)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        if (s->view.sign)
            t[i] *= s->view.sign[first + i];
        sum += t[i];
    }
    return sum;
}

/* f_i t_i in place, and the two sums of (1). */
static void apply_factors(const mgvi_row_set *s, int64_t first, int64_t count, double *t,
                          double *total)
{
    total[1] += apply_sign(s, first, count, t);
    for (int64_t i = 0; s->view.row_scale && i < count; i++)
        t[i] *= s->view.row_scale[first + i];
    for (int64_t i = 0; i < count; i++)
        total[0] += t[i];
}

/* r += sum_i f_i t_i x_i; with t2 both sums side by side: element j of the first is r[2 j]. */
static void add_sparse(const mgvi_row_set *s, int64_t first, int64_t count, double *t, double *t2,
                       double *r, double *total)
{
    const mgvi_matrix *m = &s->m;
    const int64_t *ptr = m->ptr + first;
    const bool f32 = m->dtype == MGV_F32;
    apply_factors(s, first, count, t, total);
    if (t2) {
        apply_factors(s, first, count, t2, total + 2);
        if (f32)
            s->kernels->add_pair_f32(m->val, m->idx, ptr, count, t, t2, r);
        else
            s->kernels->add_pair_f64(m->val, m->idx, ptr, count, t, t2, r);
    } else if (f32) {
        s->ctx->simd->csr_mul_t_f32(m->val, m->idx, ptr, count, t, r);
    } else {
        s->ctx->simd->csr_mul_t_f64(m->val, m->idx, ptr, count, t, r);
    }
}

static void add_dense(const mgvi_row_set *s, const void *rows, int64_t stride, int64_t first,
                      int64_t count, double *t, double *g)
{
    apply_sign(s, first, count, t);
    s->ctx->simd->dense_mul_t_f64(rows, stride, count, s->cols, t, g);
}

static void flush(const mgvi_row_set *s, place *p, double *H)
{
    if (p->held > 0)
        mgvi_panels_add(&s->panels, p->packed, packed_room(s), p->held, 1, H, s->cols);
    p->held = 0;
}

/* sqrt(h_i) a_i into the panels; the sign drops out. */
static void pack(const mgvi_row_set *s, place *p, const char *rows, int64_t stride, int64_t count,
                 double *H)
{
    const int64_t room = packed_room(s);
    for (int64_t i = 0; i < count; i++) {
        if (p->h[i] == 0)
            continue;
        mgvi_panels_put(&s->panels, p->packed, room, p->held++, sqrt(p->h[i]),
                        rows + (size_t)(i * stride) * s->panels.size);
        if (p->held == room)
            flush(s, p, H);
    }
}

static void sweep_chunk(const sweep_job *job, place *p, int64_t first, int64_t count, double *sums)
{
    const mgvi_row_set *s = job->s;
    const int64_t width = s->sparse ? sparse_width(s) : s->cols;
    double *g = sums, *g2 = g + width, *H = g2 + width, *total = H + width * width;
    job->fill(job->arg, first, count, p->t, job->second ? p->t2 : NULL,
              job->curvature ? p->h : NULL);
    if (s->sparse) {
        add_sparse(s, first, count, p->t, job->second ? p->t2 : NULL, g, total);
        if (job->curvature && s->m.dtype == MGV_F32)
            scatter_f32(s, first, count, p->h, H);
        else if (job->curvature)
            scatter_f64(s, first, count, p->h, H);
        return;
    }
    int64_t stride;
    const void *rows = fetch(s, p, first, count, &stride);
    if (s->exact) {
        add_dense(s, rows, stride, first, count, p->t, g);
        if (job->second)
            add_dense(s, rows, stride, first, count, p->t2, g2);
    } else {
        apply_sign(s, first, count, p->t);
        if (job->second)
            apply_sign(s, first, count, p->t2);
        s->kernels->rough_mul_t(rows, stride, count, s->cols, p->t, job->second ? p->t2 : NULL, g,
                                g2);
    }
    if (job->curvature)
        pack(s, p, rows, stride, count, H);
}

static void sweep_block(void *arg, int64_t block)
{
    const sweep_job *job = arg;
    mgvi_row_set *s = job->s;
    double *sums = s->partial + (size_t)block * s->partial_size;
    const int64_t width = s->sparse ? sparse_width(s) : s->cols, chunk = chunk_rows(s);
    const int64_t at = take_place(s);
    place p = place_at(s, at);
    memset(sums, 0, (size_t)(2 * width) * sizeof *sums);
    memset(sums + 2 * width + width * width, 0, TOTALS * sizeof *sums);
    for (int64_t i = 0; job->curvature && i < width && !mgvi_ctx_cut_row(s->ctx, i); i++)
        memset(sums + (2 + i) * width, 0, (size_t)width * sizeof *sums);
    const int64_t end = mgvi_block_begin(s->m.rows, s->blocks, block + 1);
    for (int64_t i = mgvi_block_begin(s->m.rows, s->blocks, block);
         i < end && !mgvi_ctx_was_cut(s->ctx); i += chunk)
        sweep_chunk(job, &p, i, least(chunk, end - i), sums);
    if (job->curvature && !s->sparse)
        flush(s, &p, sums + 2 * width);
    atomic_store(&s->taken[at], 0);
}

typedef struct add_job {
    const mgvi_row_set *s;
    int64_t width, blocks;
} add_job;

/* Rows of H, one of `blocks` parts: the first block's sums get those of the others in order. */
static void add_curvature(void *arg, int64_t part)
{
    const add_job *job = arg;
    const mgvi_row_set *s = job->s;
    double *H = s->partial + 2 * job->width;
    for (int64_t i = part; i < job->width; i += job->blocks)
        for (int64_t b = 1; b < s->blocks; b++) {
            const double *from = H + (size_t)b * s->partial_size + i * job->width;
            for (int64_t j = i; j < job->width; j++)
                H[i * job->width + j] += from[j];
        }
}

static void add_blocks(mgvi_row_set *s, bool curvature)
{
    add_job job = {.s = s, .width = s->sparse ? sparse_width(s) : s->cols};
    const int64_t square = job.width * job.width;
    double *sums = s->partial;
    for (int64_t b = 1; b < s->blocks; b++) {
        const double *from = sums + (size_t)b * s->partial_size;
        for (int64_t j = 0; j < 2 * job.width; j++)
            sums[j] += from[j];
        for (int64_t j = 2 * job.width + square; j < 2 * job.width + square + TOTALS; j++)
            sums[j] += from[j];
    }
    job.blocks = mgvi_block_count(square * s->blocks, 1 << 15, 16);
    if (curvature && s->blocks > 1)
        mgvi_ctx_run(s->ctx, job.blocks, add_curvature, &job);
}

/* (1); the sums of sparse rows are `stride` apart */
static void finish_vector(const mgvi_row_set *s, const double *r, int stride, const double *total,
                          double *g)
{
    if (!s->sparse) {
        memcpy(g, r, (size_t)s->cols * sizeof *g);
        return;
    }
    for (int64_t j = 0; j < s->m.cols; j++) {
        g[j] = s->view.centre ? r[j * stride] - s->view.centre[j] * total[0] : r[j * stride];
        if (s->view.scale)
            g[j] *= s->view.scale[j];
    }
    if (s->view.intercept)
        g[s->m.cols] = total[1];
}

/* (2), upper triangle */
static void finish_curvature(const mgvi_row_set *s, const double *G, double *H, int64_t ld)
{
    const int64_t d = s->m.cols, width = s->sparse ? sparse_width(s) : s->cols;
    if (!s->sparse) {
        for (int64_t i = 0; i < s->cols && !mgvi_ctx_cut_row(s->ctx, i); i++)
            memcpy(H + i * ld + i, G + i * width + i, (size_t)(s->cols - i) * sizeof *H);
        return;
    }
    const double total = G[d * width + d];
    for (int64_t i = 0; i < d; i++) {
        const double ci = mgvi_view_centre(&s->view, i), si = mgvi_view_scale(&s->view, i);
        const double mi = G[i * width + d];
        for (int64_t j = i; j < d; j++) {
            double x = G[i * width + j];
            if (s->view.centre)
                x +=
                    total * ci * s->view.centre[j] - ci * G[j * width + d] - mi * s->view.centre[j];
            H[i * ld + j] = s->view.scale ? si * s->view.scale[j] * x : x;
        }
        if (s->view.intercept)
            H[i * ld + d] = si * (mi - ci * total);
    }
    if (s->view.intercept)
        H[d * ld + d] = total;
}

void mgvi_row_set_sweep(mgvi_row_set *s, mgvi_row_set_fill fill, void *arg, double *g, double *g2,
                        double *H, int64_t ld)
{
    sweep_job job = {.s = s, .fill = fill, .arg = arg, .second = g2, .curvature = H};
    const int64_t width = s->sparse ? sparse_width(s) : s->cols;
    mgvi_ctx_run(s->ctx, s->blocks, sweep_block, &job);
    add_blocks(s, H);
    const double *total = s->partial + 2 * width + width * width;
    const int stride = s->sparse && g2 ? 2 : 1;
    finish_vector(s, s->partial, stride, total, g);
    if (g2)
        finish_vector(s, s->partial + (s->sparse ? 1 : width), stride, total + 2, g2);
    if (H)
        finish_curvature(s, s->partial + 2 * width, H, ld);
    *s->touched += s->entries;
}
