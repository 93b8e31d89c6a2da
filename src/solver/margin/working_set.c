/* working_set.c - rows made dense, and their Gram matrix. */
#include "solver/margin/working_set.h"

#include "base/limit.h"
#include "base/threads.h"
#include "linalg/gemm.h"
#include "op/contrast.h"

#include <math.h>
#include <string.h>

enum { BLOCKS = 8 }; /* rows treated at a time */

static double *dense_room(const mgvi_working_set *s, int64_t columns)
{
    const size_t rows = (size_t)s->capacity, width = (size_t)columns;
    if (rows > SIZE_MAX / width) /* refused with a sentence */
        return mgvi_arena_scratch(s->arena, SIZE_MAX, sizeof(double));
    return mgvi_arena_scratch(s->arena, rows * width, sizeof(double));
}

static mgv_status allocate(mgvi_working_set *s, int64_t capacity, bool dense)
{
    s->capacity = capacity;
    s->W = mgvi_arena_array(s->arena, (size_t)capacity, sizeof *s->W);
    s->dense = dense ? dense_room(s, s->width) : NULL;
    s->examples = s->example_width > 0 ? dense_room(s, s->example_width) : NULL;
    return s->W && (s->dense || !dense) && (s->examples || s->example_width == 0) ? MGV_OK
                                                                                  : MGV_E_MEMORY;
}

mgv_status mgvi_working_set_init(mgvi_working_set *s, const mgv_problem *p, mgvi_rows *rows,
                                 mgvi_arena *arena, int64_t capacity, bool dense)
{
    const size_t work = (size_t)mgvi_rows_acc_len(rows) * BLOCKS;
    *s = (mgvi_working_set){
        .problem = p, .arena = arena, .rows = rows, .width = p->A->cols, .rho = 1};
    if (rows->example && !rows->example->kernel)
        s->example_width = rows->example->m.cols;
    dense = dense && !rows->example;
    s->part = mgvi_arena_array(arena, work, sizeof *s->part);
    return s->part ? allocate(s, capacity, dense) : MGV_E_MEMORY;
}

mgv_status mgvi_working_set_reserve(mgvi_working_set *s, int64_t capacity)
{
    const mgvi_working_set old = *s;
    if (capacity <= old.capacity)
        return MGV_OK;
    MGVI_TRY(allocate(s, capacity, old.dense != NULL));
    memcpy(s->W, old.W, (size_t)s->size * sizeof *s->W);
    if (s->dense)
        memcpy(s->dense, old.dense, (size_t)(s->size * s->width) * sizeof *s->dense);
    if (s->examples)
        memcpy(s->examples, old.examples,
               (size_t)(s->size * s->example_width) * sizeof *s->examples);
    return MGV_OK;
}

typedef struct job {
    const mgvi_working_set *s;
    int64_t first, blocks;
    double *K;
    int64_t ld;
} job;

static job job_from(const mgvi_working_set *s, int64_t first)
{
    const int64_t count = s->size - first;
    return (job){.s = s, .first = first, .blocks = count < BLOCKS ? count : BLOCKS};
}

/* The positions of W that belong to `block`. */
#define FOR_ROWS(j, block, t)                                                                      \
    for (int64_t t = (j)->first + mgvi_block_begin((j)->s->size - (j)->first, (j)->blocks, block), \
                 end = (j)->first +                                                                \
                       mgvi_block_begin((j)->s->size - (j)->first, (j)->blocks, (block) + 1);      \
         t < end; t++)

/* a_i as it stands in the problem, the intercept's entry multiplied by sqrt(rho). */
static void expand_block(void *arg, int64_t block)
{
    const job *j = arg;
    const mgvi_working_set *s = j->s;
    const int64_t length = mgvi_rows_acc_len(s->rows);
    double *acc = s->part + block * length;
    FOR_ROWS(j, block, t)
    {
        double *row = s->dense + t * s->width;
        memset(acc, 0, (size_t)length * sizeof *acc);
        mgvi_rows_axpy(s->rows, s->W[t], 1, acc);
        mgvi_rows_weights(s->rows, acc, row);
        for (int64_t c = s->width - s->problem->free_cols; c < s->width; c++)
            row[c] *= sqrt(s->rho);
    }
}

/* The examples of contrasts, as they stand in the problem. */
static void examples_block(void *arg, int64_t block)
{
    const job *j = arg;
    const mgvi_working_set *s = j->s;
    FOR_ROWS(j, block, t)
    {
        double *row = s->examples + t * s->example_width;
        const mgvi_entries e = mgvi_rows_entries(s->rows->example, s->W[t] / s->rows->classes, true,
                                                 s->part + block * mgvi_rows_acc_len(s->rows));
        if (e.idx)
            memset(row, 0, (size_t)s->example_width * sizeof *row);
        for (int64_t k = 0; k < e.n; k++)
            row[e.idx ? e.idx[k] : k] = e.val[k];
    }
}

void mgvi_working_set_join(mgvi_working_set *s, const int32_t *rows, int64_t count)
{
    const int64_t first = s->size;
    memcpy(s->W + first, rows, (size_t)count * sizeof *s->W);
    s->size += count;
    for (int64_t t = first; t < s->size; t++)
        s->touched += (double)mgvi_rows_nnz(s->rows, s->W[t]);
    job j = job_from(s, first);
    if (s->examples)
        mgvi_ctx_run(s->rows->ctx, j.blocks, examples_block, &j);
    if (s->dense)
        mgvi_ctx_run(s->rows->ctx, j.blocks, expand_block, &j);
}

/* The listed rows of `width` numbers move to the front, in this order. */
static mgv_status keep_rows(mgv_ctx *ctx, double *rows, int64_t width, const int32_t *keep,
                            int64_t count)
{
    const size_t row = (size_t)width;
    if (!rows)
        return MGV_OK;
    double *kept = mgvi_alloc(ctx, (size_t)count * row + 1, sizeof *kept);
    if (!kept)
        return MGV_E_MEMORY;
    for (int64_t t = 0; t < count; t++)
        memcpy(kept + (size_t)t * row, rows + (size_t)keep[t] * row, row * sizeof *kept);
    memcpy(rows, kept, (size_t)count * row * sizeof *kept);
    mgvi_release(ctx, kept);
    return MGV_OK;
}

mgv_status mgvi_working_set_keep(mgvi_working_set *s, const int32_t *keep, int64_t count)
{
    mgv_ctx *ctx = s->rows->ctx;
    int32_t *W = mgvi_alloc(ctx, (size_t)count + 1, sizeof *W);
    mgv_status st = W ? MGV_OK : MGV_E_MEMORY;
    if (st == MGV_OK)
        st = keep_rows(ctx, s->dense, s->width, keep, count);
    if (st == MGV_OK)
        st = keep_rows(ctx, s->examples, s->example_width, keep, count);
    if (st == MGV_OK) {
        for (int64_t t = 0; t < count; t++)
            W[t] = s->W[keep[t]];
        memcpy(s->W, W, (size_t)count * sizeof *W);
        s->size = count;
    }
    mgvi_release(ctx, W);
    return st;
}

/* K_ij by the row kernels, one work vector per block. */
static void gram_block(void *arg, int64_t block)
{
    const job *j = arg;
    const mgvi_working_set *s = j->s;
    const int64_t length = mgvi_rows_acc_len(s->rows);
    double *acc = s->part + block * length;
    FOR_ROWS(j, block, t)
    {
        memset(acc, 0, (size_t)length * sizeof *acc);
        mgvi_rows_axpy(s->rows, s->W[t], 1, acc);
        mgvi_rows_scale_intercepts(s->rows, s->rho, acc);
        for (int64_t i = 0; i <= t; i++)
            j->K[t * j->ld + i] = mgvi_rows_dot(s->rows, s->W[i], acc);
    }
}

/* K of the examples becomes that of their contrasts. */
static void contrast_block(void *arg, int64_t block)
{
    const job *j = arg;
    const mgvi_working_set *s = j->s;
    const int64_t k = s->rows->classes;
    const double constant = s->problem->free_cols ? s->rho : 0;
    FOR_ROWS(j, block, t)
    {
        const int64_t row = s->W[t];
        const int32_t own = s->rows->own[row / k], rival = (int32_t)(row % k);
        for (int64_t i = 0; i <= t; i++) {
            double *K = &j->K[t * j->ld + i];
            *K = (*K + constant) * mgvi_contrast_factor(own, rival, s->rows->own[s->W[i] / k],
                                                        (int32_t)(s->W[i] % k));
        }
    }
}

/* Rows `first` on of R R', R having `width` columns. */
static mgv_status products(const mgvi_working_set *s, const double *R, int64_t width, int64_t first,
                           double *K, int64_t ld)
{
    const mgvi_gemm_shape shape = {.m = s->size - first,
                                   .n = s->size,
                                   .k = width,
                                   .transpose_b = true,
                                   .lda = width,
                                   .ldb = width,
                                   .ldc = ld};
    return mgvi_gemm_f64(s->rows->ctx, &shape, 1, R + first * width, R, 0, K + first * ld);
}

/* The same of examples in the feature space of a kernel. */
static mgv_status kernel_products(const mgvi_working_set *s, int64_t first, double *K, int64_t ld)
{
    mgv_ctx *ctx = s->rows->ctx;
    int64_t *example = mgvi_alloc(ctx, (size_t)s->size, sizeof *example);
    if (!example)
        return MGV_E_MEMORY;
    for (int64_t t = 0; t < s->size; t++)
        example[t] = s->W[t] / s->rows->classes;
    mgvi_kernel_op *kernel = s->rows->example->kernel;
    const mgv_status st = mgvi_kernel_among(kernel, example + first, s->size - first, example,
                                            s->size, MGV_F64, K + first * ld, ld);
    for (int64_t t = first; t < s->size; t++)
        for (int64_t i = 0; i < s->size; i++)
            if (example[i] == example[t])
                K[t * ld + i] = mgvi_kernel_diagonal(kernel)[example[t]];
    mgvi_release(ctx, example);
    return st;
}

mgv_status mgvi_working_set_gram(mgvi_working_set *s, int64_t first, double *K, int64_t ld)
{
    mgv_ctx *ctx = s->rows->ctx;
    job j = job_from(s, first);
    j.K = K;
    j.ld = ld;
    if (s->rows->example) {
        MGVI_TRY(s->examples ? products(s, s->examples, s->example_width, first, K, ld)
                             : kernel_products(s, first, K, ld));
        mgvi_ctx_run(ctx, j.blocks, contrast_block, &j);
    } else if (s->dense) {
        MGVI_TRY(products(s, s->dense, s->width, first, K, ld));
    } else {
        mgvi_ctx_run(ctx, j.blocks, gram_block, &j);
    }
    for (int64_t t = first; t < s->size; t++)
        for (int64_t i = 0; i < t; i++)
            K[i * ld + t] = K[t * ld + i];
    return MGV_OK;
}
