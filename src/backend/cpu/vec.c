/* cpu/vec.c - loops over block vectors in host memory, and the table of the backend. The interleaved
 * block is walked as one flat array; every sum runs over fixed blocks, and inside a block over a
 * fixed number of partial sums. */
#include "backend/cpu/cpu.h"

#include "base/limit.h"

#include "base/threads.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    GRAIN = 1 << 15, /* numbers in a block: some 10 us, well above the cost of waking a thread */
    BLOCKS = 64,
    LANES = 64, /* lanes reduced in one sweep; more lanes take several */
    WIDTH = 8   /* partial sums within a block, at least: two AVX-512 registers in flight */
};

/* ---- element by element --------------------------------------------------------------------- */
typedef struct elements {
    int64_t count, blocks;
    double a, b, c;
    const double *x, *z;
    double *y;
} elements;

static void run_elements(mgv_ctx *ctx, mgvi_block_fn fn, elements job)
{
    job.blocks = mgvi_block_count(job.count, GRAIN, BLOCKS);
    mgvi_ctx_run(ctx, job.blocks, fn, &job);
}

/* The part of the block: [begin, end) of x and y. */
#define BLOCK_RANGE(job, block)                                                                    \
    const int64_t begin = mgvi_block_begin((job)->count, (job)->blocks, block),                    \
                  end = mgvi_block_begin((job)->count, (job)->blocks, (block) + 1)

static void fill_block(void *arg, int64_t block)
{
    const elements *job = arg;
    BLOCK_RANGE(job, block);
    for (int64_t i = begin; i < end; i++)
        job->y[i] = job->a;
}

static void copy_block(void *arg, int64_t block)
{
    const elements *job = arg;
    BLOCK_RANGE(job, block);
    if (end > begin)
        memmove(job->y + begin, job->x + begin, (size_t)(end - begin) * sizeof *job->y);
}

static void scale_block(void *arg, int64_t block)
{
    const elements *job = arg;
    BLOCK_RANGE(job, block);
    for (int64_t i = begin; i < end; i++)
        job->y[i] *= job->a;
}

static void axpby_block(void *arg, int64_t block)
{
    const elements *job = arg;
    BLOCK_RANGE(job, block);
    const double a = job->a, b = job->b;
    if (b == 0)
        for (int64_t i = begin; i < end; i++)
            job->y[i] = a * job->x[i];
    else
        for (int64_t i = begin; i < end; i++)
            job->y[i] = a * job->x[i] + b * job->y[i];
}

static void add_block(void *arg, int64_t block)
{
    const elements *job = arg;
    BLOCK_RANGE(job, block);
    for (int64_t i = begin; i < end; i++)
        job->y[i] = job->a * job->x[i] + job->b * job->z[i];
}

static void clip_block(void *arg, int64_t block)
{
    const elements *job = arg;
    BLOCK_RANGE(job, block);
    for (int64_t i = begin; i < end; i++) {
        const double y = job->y[i];
        job->y[i] = y < job->a ? job->a : y > job->b ? job->b : y;
    }
}

static void multiply_block(void *arg, int64_t block)
{
    const elements *job = arg;
    BLOCK_RANGE(job, block);
    for (int64_t i = begin; i < end; i++)
        job->y[i] = job->x[i] * job->z[i];
}

static void split_block(void *arg, int64_t block)
{
    const elements *job = arg;
    BLOCK_RANGE(job, block);
    for (int64_t i = begin; i < end; i++)
        job->y[i] = job->x[i] < job->c ? job->a : job->b;
}

static void cpu_fill(mgv_ctx *ctx, mgvi_vec *y, double value)
{
    run_elements(ctx, fill_block, (elements){.count = y->n * y->k, .a = value, .y = y->x});
}

static void cpu_copy(mgv_ctx *ctx, const mgvi_vec *x, mgvi_vec *y)
{
    run_elements(ctx, copy_block, (elements){.count = y->n * y->k, .x = x->x, .y = y->x});
}

static void cpu_scale(mgv_ctx *ctx, double a, mgvi_vec *y)
{
    run_elements(ctx, scale_block, (elements){.count = y->n * y->k, .a = a, .y = y->x});
}

static void cpu_axpby(mgv_ctx *ctx, double a, const mgvi_vec *x, double b, mgvi_vec *y)
{
    run_elements(ctx, axpby_block,
                 (elements){.count = y->n * y->k, .a = a, .b = b, .x = x->x, .y = y->x});
}

static void cpu_add(mgv_ctx *ctx, double a, const mgvi_vec *x, double b, const mgvi_vec *y,
                    mgvi_vec *out)
{
    run_elements(
        ctx, add_block,
        (elements){.count = x->n * x->k, .a = a, .b = b, .x = x->x, .z = y->x, .y = out->x});
}

static void cpu_multiply(mgv_ctx *ctx, const mgvi_vec *x, const mgvi_vec *y, mgvi_vec *out)
{
    run_elements(ctx, multiply_block,
                 (elements){.count = x->n * x->k, .x = x->x, .z = y->x, .y = out->x});
}

static void cpu_split(mgv_ctx *ctx, const mgvi_vec *x, double bound, double low, double high,
                      mgvi_vec *out)
{
    run_elements(
        ctx, split_block,
        (elements){.count = x->n * x->k, .a = low, .b = high, .c = bound, .x = x->x, .y = out->x});
}

static void cpu_clip(mgv_ctx *ctx, double low, double high, mgvi_vec *y)
{
    run_elements(ctx, clip_block, (elements){.count = y->n * y->k, .a = low, .b = high, .y = y->x});
}

/* ---- reductions ----------------------------------------------------------------------------- */
typedef struct reduction {
    const double *x, *y;
    int64_t n, blocks;
    int32_t k;           /* lanes of the vectors */
    int32_t lane, lanes; /* the lanes of this sweep */
    double partial[BLOCKS][LANES];
} reduction;

/* Defines a block's part of a reduction. TERM(p) is the term of entry p, ADD folds it into a
 * partial result, START is the empty result. All lanes of a narrow vector are walked as one flat
 * array in groups of `width` numbers, a multiple of k, so that one partial sum belongs to one lane
 * and the compiler can vectorise whatever k is; where k divides WIDTH the sums stay in registers.
 */
#define REDUCTION(NAME, START, TERM, ADD)                                                          \
    static int64_t NAME##_eights(const reduction *job, int64_t p, int64_t end, double *sums)       \
    {                                                                                              \
        double eight[WIDTH];                                                                       \
        for (int c = 0; c < WIDTH; c++)                                                            \
            eight[c] = START;                                                                      \
        for (; p + WIDTH <= end; p += WIDTH)                                                       \
            for (int c = 0; c < WIDTH; c++)                                                        \
                eight[c] = ADD(eight[c], TERM(p + c));                                             \
        for (int c = 0; c < WIDTH; c++)                                                            \
            sums[c] = eight[c];                                                                    \
        return p;                                                                                  \
    }                                                                                              \
    static void NAME(void *arg, int64_t block)                                                     \
    {                                                                                              \
        reduction *job = arg;                                                                      \
        const int32_t k = job->k, lanes = job->lanes;                                              \
        const int32_t width = k == lanes ? (WIDTH + k - 1) / k * k : lanes;                        \
        const int32_t stride = k == lanes ? width : k; /* from one group to the next */            \
        const int64_t end = mgvi_block_begin(job->n, job->blocks, block + 1) * k;                  \
        int64_t p = mgvi_block_begin(job->n, job->blocks, block) * k;                              \
        double *out = job->partial[block], sums[LANES + WIDTH];                                    \
        for (int32_t c = 0; c < width; c++)                                                        \
            sums[c] = START;                                                                       \
        if (k == lanes && width == WIDTH)                                                          \
            p = NAME##_eights(job, p, end, sums);                                                  \
        for (; p + stride <= end; p += stride)                                                     \
            for (int32_t c = 0; c < width; c++)                                                    \
                sums[c] = ADD(sums[c], TERM(p + job->lane + c));                                   \
        for (int32_t c = 0; p + c < end; c++) /* less than a group, then k == lanes */             \
            sums[c] = ADD(sums[c], TERM(p + c));                                                   \
        for (int32_t c = 0; c < lanes; c++)                                                        \
            out[c] = sums[c];                                                                      \
        for (int32_t c = lanes; c < width; c++)                                                    \
            out[c % lanes] = ADD(out[c % lanes], sums[c]);                                         \
    }

static inline double plus(double a, double b) { return a + b; }
/* A NaN on either side stays. */
static inline double larger(double a, double b) { return b > a || b != b ? b : a; }
static inline double smaller(double a, double b) { return b < a || b != b ? b : a; }

#define TERM_DOT(p) (job->x[p] * job->y[p])
#define TERM_SUM(p) job->x[p]
#define TERM_SQUARE(p) (job->x[p] * job->x[p])
#define TERM_ABS(p) fabs(job->x[p])
REDUCTION(dot_block, 0, TERM_DOT, plus)
REDUCTION(sum_block, 0, TERM_SUM, plus)
REDUCTION(square_block, 0, TERM_SQUARE, plus)
REDUCTION(min_block, INFINITY, TERM_SUM, smaller)
REDUCTION(abs_max_block, 0, TERM_ABS, larger)
REDUCTION(abs_sum_block, 0, TERM_ABS, plus)

static void reduce(mgv_ctx *ctx, mgvi_block_fn fn, double (*add)(double, double), const mgvi_vec *x,
                   const double *y, double *out)
{
    reduction job;
    job.x = x->x;
    job.y = y;
    job.n = x->n;
    job.k = x->k;
    job.blocks = mgvi_block_count(x->n * x->k, GRAIN, BLOCKS);
    for (job.lane = 0; job.lane < x->k; job.lane += LANES) {
        job.lanes = x->k - job.lane < LANES ? x->k - job.lane : LANES;
        mgvi_ctx_run(ctx, job.blocks, fn, &job);
        for (int32_t c = 0; c < job.lanes; c++) {
            double sum = job.partial[0][c];
            for (int64_t block = 1; block < job.blocks; block++)
                sum = add(sum, job.partial[block][c]);
            out[job.lane + c] = sum;
        }
    }
}

static void cpu_reduce(mgv_ctx *ctx, mgvi_reduction what, const mgvi_vec *x, const mgvi_vec *y,
                       double *out)
{
    static const struct {
        mgvi_block_fn block;
        double (*add)(double, double);
    } with[] = {
        [MGVI_REDUCE_DOT] = {dot_block, plus},
        [MGVI_REDUCE_SUM] = {sum_block, plus},
        [MGVI_REDUCE_SQUARES] = {square_block, plus},
        [MGVI_REDUCE_ABS_SUM] = {abs_sum_block, plus},
        [MGVI_REDUCE_ABS_MAX] = {abs_max_block, larger},
        [MGVI_REDUCE_MIN] = {min_block, smaller},
    };
    reduce(ctx, with[what].block, with[what].add, x, y ? y->x : NULL, out);
}

/* ---- groups ---------------------------------------------------------------------------------- */
typedef struct projection {
    int64_t groups, size, blocks;
    double radius;
    double *v, *step;
} projection;

static inline void project_groups(const projection *job, int64_t block, int64_t size)
{
    const double radius = job->radius;
    MGVI_FOR_BLOCK (g, job->groups, job->blocks, block) {
        double *v = job->v + g * size, *step = job->step + g * size, square = 0;
        for (int64_t t = 0; t < size; t++)
            square += (v[t] + step[t]) * (v[t] + step[t]);
        const double length = sqrt(square), shrink = radius / (length > radius ? length : radius);
        for (int64_t t = 0; t < size; t++) {
            const double to = shrink * (v[t] + step[t]);
            step[t] = to - v[t];
            v[t] = to;
        }
    }
}

/* The sizes of a grey image's and of a line's groups are constants for the compiler. */
static void project_block(void *arg, int64_t block)
{
    const projection *job = arg;
    if (job->size == 2)
        project_groups(job, block, 2);
    else if (job->size == 1)
        project_groups(job, block, 1);
    else
        project_groups(job, block, job->size);
}

static void cpu_project(mgv_ctx *ctx, int64_t size, double radius, mgvi_vec *v, mgvi_vec *step)
{
    enum { NUMBERS = 1 << 14 }; /* in a block: a root and a division for every group */
    assert(v->n == step->n && v->k == 1 && v->n % size == 0);
    projection job = {
        .groups = v->n / size, .size = size, .radius = radius, .v = v->x, .step = step->x};
    job.blocks = mgvi_block_count(v->n, NUMBERS, BLOCKS);
    mgvi_ctx_run(ctx, job.blocks, project_block, &job);
}

/* ---- the table ------------------------------------------------------------------------------- */
static double *cpu_alloc(mgvi_arena *arena, int64_t count)
{
    return mgvi_arena_array(arena, (size_t)count, sizeof(double));
}

static const double *cpu_host(const mgvi_vec *x) { return x->x; }

static double *cpu_open(mgvi_vec *x) { return x->x; }

static void cpu_close(mgvi_vec *x) { (void)x; }

static void cpu_upload(mgv_ctx *ctx, const double *from, mgvi_vec *x)
{
    mgvi_vec host = *x;
    host.x = (double *)(uintptr_t)from;
    cpu_copy(ctx, &host, x);
}

static void cpu_download(mgv_ctx *ctx, const mgvi_vec *x, double *to)
{
    mgvi_vec host = *x;
    host.x = to;
    cpu_copy(ctx, x, &host);
}

const mgvi_backend mgvi_backend_cpu = {
    .name = "cpu",
    .alloc = cpu_alloc,
    .host = cpu_host,
    .open = cpu_open,
    .close = cpu_close,
    .upload = cpu_upload,
    .download = cpu_download,
    .fill = cpu_fill,
    .copy = cpu_copy,
    .scale = cpu_scale,
    .axpby = cpu_axpby,
    .add = cpu_add,
    .multiply = cpu_multiply,
    .split = cpu_split,
    .clip = cpu_clip,
    .project = cpu_project,
    .reduce = cpu_reduce,
    .coef_map = mgvi_cpu_coef_map,
    .loss_map = mgvi_cpu_loss_map,
    .loss_sum = mgvi_cpu_loss_sum,
    .penalty_map = mgvi_cpu_penalty_map,
    .penalty_sum = mgvi_cpu_penalty_sum,
    .exp_sum = mgvi_cpu_exp_sum,
};
