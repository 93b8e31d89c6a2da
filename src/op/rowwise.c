/* rowwise.c - M x is parallel over rows. M'u is parallel over a few blocks of rows, each with an
 * output of its own; these are added in block order, in parallel over columns. */
#include "op/rowwise.h"

#include "base/limit.h"
#include "base/memory.h"
#include "base/threads.h"

#include <assert.h>
#include <string.h>

enum {
    GRAIN = 1 << 15,   /* stored entries of a block: some 20 us */
    BLOCKS = 64,       /* of M x */
    OUTPUTS = 8,       /* blocks of M'u */
    LITTLE = 16 << 20, /* bytes of their outputs */
    STAGE_LANES = 16   /* at most, of a piece that is summed on its own */
};

/* How many blocks M'u with k lanes is cut into. The outputs are cleared, added to and read: kept
 * below half the bytes of the matrix they cost little beside reading it, and where that is much
 * memory (docs/memory.md) below a tenth. */
static int64_t output_count(const mgvi_matrix *m, int32_t k)
{
    const int64_t entry = (int64_t)mgvi_dtype_size(m->dtype) + (m->layout == MGV_DENSE ? 0 : 4);
    const int64_t bytes = m->nnz * entry, half = bytes / 2, tenth = bytes / 10;
    const int64_t least = half < LITTLE ? half : LITTLE, room = tenth > least ? tenth : least;
    const int64_t most = m->cols ? room / (int64_t)sizeof(double) / (m->cols * k) : OUTPUTS;
    const int64_t blocks = mgvi_block_count(m->nnz, GRAIN, OUTPUTS);
    return most < 1 ? 1 : most < blocks ? most : blocks;
}

/* Whether every piece of rows is summed on its own before it joins its block's output: sums of many
 * rows then lose few digits (mgvi_rowwise_terms_t). Next to nothing where the output is short. */
static bool staged(const mgvi_matrix *m, int32_t k)
{
    return m->layout == MGV_DENSE && k <= STAGE_LANES && m->cols * k <= MGVI_LANES_MAX;
}

static double *numbers_from(mgv_ctx *ctx, mgvi_arena *arena, int64_t count)
{
    return arena ? mgvi_arena_array(arena, (size_t)count, sizeof(double))
                 : mgvi_alloc(ctx, (size_t)count, sizeof(double));
}

mgv_status mgvi_rowwise_init(mgv_ctx *ctx, mgvi_arena *arena, const mgvi_matrix *m, int32_t lanes,
                             mgvi_rowwise *out)
{
    *out = (mgvi_rowwise){.ctx = ctx, .m = *m, .lanes = lanes};
    out->kernels = m->layout == MGV_CSR ? &mgvi_csr_kernels
                   : m->col_stride == 1 ? &mgvi_dense_kernels
                                        : &mgvi_strided_kernels;
    int64_t widest, numbers = 0;
    if (__builtin_mul_overflow(m->cols, (int64_t)lanes * OUTPUTS, &widest))
        return MGVI_FAIL(ctx, MGV_E_MEMORY,
                         "%" PRId64 " x %" PRId32 " numbers do not fit in memory", m->cols, lanes);
    for (int32_t k = 1; k <= lanes; k++) {
        const int64_t wanted = output_count(m, k) * m->cols * k;
        numbers = wanted > numbers ? wanted : numbers;
    }
    out->partial = numbers_from(ctx, arena, numbers);
    out->sums = numbers_from(ctx, arena, (int64_t)lanes * 2 * OUTPUTS);
    if (out->partial && out->sums)
        return MGV_OK;
    if (!arena)
        mgvi_rowwise_free(out);
    return MGV_E_MEMORY;
}

void mgvi_rowwise_free(mgvi_rowwise *rw)
{
    if (!rw->ctx)
        return;
    mgvi_release(rw->ctx, rw->partial);
    mgvi_release(rw->ctx, rw->sums);
    rw->partial = rw->sums = NULL;
}

/* The first of our rows in `block`. */
static int64_t cut(const mgvi_rowwise *rw, const mgvi_view *view, int64_t blocks, int64_t block)
{
    return view->row ? mgvi_block_begin(view->rows, blocks, block)
                     : mgvi_matrix_cut(&rw->m, blocks, block);
}

/* How many of our rows from i on, below `end`, are consecutive rows of M. */
static int64_t run_length(const mgvi_view *view, int64_t i, int64_t end)
{
    if (!view->row)
        return end - i;
    int64_t n = 1;
    while (i + n < end && view->row[i + n] == view->row[i] + n)
        n++;
    return n;
}

/* ---- M x ------------------------------------------------------------------------------------ */
typedef struct mul_job {
    const mgvi_rowwise *rw;
    const mgvi_view *view;
    mgvi_lane_shift shift;
    int32_t k;
    int64_t blocks;
    double alpha, beta;
    const double *x;
    double *y;
} mul_job;

static void mul_rows(const mul_job *job, int64_t first, int64_t last, double *t)
{
    const mgvi_rowwise *rw = job->rw;
    const mgvi_view *view = job->view;
    for (int64_t i = first; i < last;) {
        const int64_t n = run_length(view, i, last);
        rw->kernels->mul(rw->ctx->simd, &rw->m, mgvi_view_source(view, i), n, job->k, job->x,
                         t + (i - first) * job->k);
        i += n;
    }
}

static void mul_block(void *arg, int64_t block)
{
    const mul_job *job = arg;
    const int32_t k = job->k;
    const int64_t begin = cut(job->rw, job->view, job->blocks, block),
                  end = cut(job->rw, job->view, job->blocks, block + 1);
    if (job->beta == 0 && job->alpha == 1 && !mgvi_view_has_rows(job->view) && !job->shift.centre &&
        !job->shift.intercept) {
        mul_rows(job, begin, end, job->y + begin * k);
        return;
    }
    double buffer[MGVI_LANES_MAX];
    const int64_t step = mgvi_piece_rows(k);
    for (int64_t i = begin; i < end; i += step) {
        const int64_t n = end - i < step ? end - i : step;
        double *y = job->y + i * k, *t = job->beta == 0 ? y : buffer;
        mul_rows(job, i, i + n, t);
        mgvi_map_rows(job->view, job->shift, i, n, k, t);
        mgvi_map_combine(job->alpha, t, job->beta, y, n * k);
    }
}

void mgvi_rowwise_mul(mgvi_rowwise *rw, const mgvi_view *view, mgvi_lane_shift shift, int32_t k,
                      double alpha, const double *x, double beta, double *y)
{
    assert(k >= 1 && k <= rw->lanes);
    mul_job job = {.rw = rw,
                   .view = view,
                   .shift = shift,
                   .k = k,
                   .blocks = mgvi_block_count(rw->m.nnz + view->rows, GRAIN, BLOCKS),
                   .alpha = alpha,
                   .beta = beta,
                   .x = x,
                   .y = y};
    mgvi_ctx_run(rw->ctx, job.blocks, mul_block, &job);
}

/* ---- M'u ------------------------------------------------------------------------------------ */
typedef struct mul_t_job {
    const mgvi_rowwise *rw;
    const mgvi_view *view;
    int32_t k;
    int64_t blocks, finish_blocks;
    double alpha, beta;
    const double *u;
    double *g;
    bool in_place;   /* block 0 adds to g itself */
    bool intercept;  /* its sum is wanted */
    double *partial; /* the outputs of the blocks that do not add to g */
} mul_t_job;

static double *output_of(const mul_t_job *job, int64_t block)
{
    const int64_t slot = job->in_place ? block - 1 : block;
    return slot < 0 ? job->g : job->partial + slot * job->rw->m.cols * job->k;
}

static mgvi_lane_sums sums_of(const mul_t_job *job, int64_t block)
{
    double *sums = job->rw->sums + block * 2 * job->k;
    return (mgvi_lane_sums){.intercept = job->intercept ? sums : NULL,
                            .centre = job->view->centre ? sums + job->k : NULL};
}

static void start_output(const mul_t_job *job, double *out)
{
    const int64_t count = job->rw->m.cols * job->k;
    if (out != job->g || job->beta == 0) {
        if (count)
            memset(out, 0, (size_t)count * sizeof *out);
    } else if (job->beta != 1) {
        mgvi_map_combine(job->beta, out, 0, out, count);
    }
}

static void mul_t_rows(const mul_t_job *job, int64_t first, int64_t last, const double *u,
                       double *out)
{
    const mgvi_rowwise *rw = job->rw;
    const mgvi_view *view = job->view;
    for (int64_t i = first; i < last;) {
        const int64_t n = run_length(view, i, last);
        rw->kernels->mul_t(rw->ctx->simd, &rw->m, mgvi_view_source(view, i), n, job->k,
                           u + (i - first) * job->k, out);
        i += n;
    }
}

/* out += M'u over rows [i, i + n), one piece. */
static void mul_t_piece(const mul_t_job *job, int64_t i, int64_t n, const double *u, double *out)
{
    double stage[MGVI_LANES_MAX];
    const int64_t count = job->rw->m.cols * job->k;
    if (!staged(&job->rw->m, job->k)) {
        mul_t_rows(job, i, i + n, u, out);
        return;
    }
    memset(stage, 0, (size_t)count * sizeof *stage);
    mul_t_rows(job, i, i + n, u, stage);
    mgvi_map_combine(1, stage, 1, out, count);
}

/* The row side of a piece, and its sums, which join those of the block. */
static void map_piece(const mul_t_job *job, int64_t i, int64_t n, double *buffer,
                      mgvi_lane_sums sums)
{
    const int32_t k = job->k;
    double own[2 * STAGE_LANES] = {0};
    const bool apart = k <= STAGE_LANES;
    const mgvi_lane_sums to = {.intercept = sums.intercept && apart ? own : sums.intercept,
                               .centre = sums.centre && apart ? own + k : sums.centre};
    mgvi_map_rows_t(job->view, i, n, k, job->alpha, job->u + i * k, buffer, to);
    for (int32_t c = 0; apart && c < k; c++) {
        if (sums.intercept)
            sums.intercept[c] += own[c];
        if (sums.centre)
            sums.centre[c] += own[k + c];
    }
}

static void mul_t_block(void *arg, int64_t block)
{
    const mul_t_job *job = arg;
    const int32_t k = job->k;
    const int64_t begin = cut(job->rw, job->view, job->blocks, block),
                  end = cut(job->rw, job->view, job->blocks, block + 1);
    const mgvi_lane_sums sums = sums_of(job, block);
    double *out = output_of(job, block);
    const bool as_it_is =
        job->alpha == 1 && !mgvi_view_has_rows(job->view) && !sums.intercept && !sums.centre;
    start_output(job, out);
    memset(job->rw->sums + block * 2 * k, 0, (size_t)(2 * k) * sizeof *job->rw->sums);
    double buffer[MGVI_LANES_MAX];
    const int64_t step = mgvi_piece_rows(k);
    for (int64_t i = begin; i < end; i += step) {
        const int64_t n = end - i < step ? end - i : step;
        if (!as_it_is)
            map_piece(job, i, n, buffer, sums);
        mul_t_piece(job, i, n, as_it_is ? job->u + i * k : buffer, out);
    }
}

/* A range of columns: adds the outputs in block order, then maps them into g. */
static void finish_block(void *arg, int64_t block)
{
    const mul_t_job *job = arg;
    const int32_t k = job->k;
    const int64_t cols = job->rw->m.cols;
    const int64_t begin = mgvi_block_begin(cols, job->finish_blocks, block),
                  end = mgvi_block_begin(cols, job->finish_blocks, block + 1);
    const int64_t step = mgvi_piece_rows(k);
    for (int64_t j = begin; j < end; j += step) {
        const int64_t n = end - j < step ? end - j : step;
        double *r = output_of(job, 0) + j * k;
        for (int64_t b = 1; b < job->blocks; b++)
            mgvi_map_combine(1, output_of(job, b) + j * k, 1, r, n * k);
        mgvi_map_cols_t(job->view, sums_of(job, 0).centre, j, n, k, r);
        if (!job->in_place)
            mgvi_map_combine(1, r, job->beta, job->g + j * k, n * k);
    }
}

static void add_sums(const mul_t_job *job, double *intercept)
{
    const int32_t k = job->k;
    double *sums = job->rw->sums;
    for (int64_t b = 1; b < job->blocks; b++)
        mgvi_map_combine(1, sums + b * 2 * k, 1, sums, 2 * k);
    if (intercept)
        memcpy(intercept, sums, (size_t)k * sizeof *sums);
}

void mgvi_rowwise_mul_t(mgvi_rowwise *rw, const mgvi_view *view, int32_t k, double alpha,
                        const double *u, double beta, double *g, double *intercept)
{
    assert(k >= 1 && k <= rw->lanes);
    mul_t_job job = {.rw = rw,
                     .view = view,
                     .k = k,
                     .blocks = output_count(&rw->m, k),
                     .finish_blocks = mgvi_block_count(rw->m.cols * k, GRAIN, BLOCKS),
                     .alpha = alpha,
                     .beta = beta,
                     .u = u,
                     .g = g,
                     .in_place = beta == 0 || !mgvi_view_has_cols(view),
                     .intercept = intercept != NULL,
                     .partial = rw->partial};
    mgvi_ctx_run(rw->ctx, job.blocks, mul_t_block, &job);
    if (intercept || view->centre)
        add_sums(&job, intercept);
    if (job.blocks > 1 || mgvi_view_has_cols(view))
        mgvi_ctx_run(rw->ctx, job.finish_blocks, finish_block, &job);
}

double mgvi_rowwise_terms_t(const mgvi_rowwise *rw, const mgvi_view *view, int32_t k)
{
    const int64_t blocks = output_count(&rw->m, k), piece = mgvi_piece_rows(k);
    int64_t most = 0;
    for (int64_t b = 0; b < blocks; b++) {
        const int64_t rows = cut(rw, view, blocks, b + 1) - cut(rw, view, blocks, b);
        most = rows > most ? rows : most;
    }
    const bool stages = staged(&rw->m, k) && most > piece;
    return (double)((stages ? piece + most / piece + 1 : most) + blocks - 1);
}
