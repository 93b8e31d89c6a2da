/* working_set.c - rows made dense, and their Gram matrix. */
#include "solver/parts/working_set.h"

#include "backend/cpu/gemm.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

enum { BLOCKS = 8 }; /* rows treated at a time */

static double *dense_room(const mgvi_working_set *s)
{
    const size_t rows = (size_t)s->capacity, width = (size_t)s->width;
    if (rows > SIZE_MAX / width) /* refused with a sentence */
        return mgvi_arena_scratch(s->arena, SIZE_MAX, sizeof(double));
    return mgvi_arena_scratch(s->arena, rows * width, sizeof(double));
}

static mgv_status allocate(mgvi_working_set *s, int64_t capacity, bool dense)
{
    s->capacity = capacity;
    s->W = mgvi_arena_array(s->arena, (size_t)capacity, sizeof *s->W);
    s->dense = dense ? dense_room(s) : NULL;
    return s->W && (s->dense || !dense) ? MGV_OK : MGV_E_MEMORY;
}

mgv_status mgvi_working_set_init(mgvi_working_set *s, const mgv_problem *p, mgvi_rows *rows,
                                 mgvi_arena *arena, int64_t capacity, bool dense)
{
    const size_t work = (size_t)mgvi_rows_acc_len(rows) * BLOCKS;
    *s = (mgvi_working_set){
        .problem = p, .arena = arena, .rows = rows, .width = p->A->cols, .rho = 1};
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
        if (s->problem->free_cols)
            row[s->width - 1] *= sqrt(s->rho);
    }
}

mgv_status mgvi_working_set_densify(mgvi_working_set *s)
{
    if (s->dense)
        return MGV_OK;
    if (!(s->dense = dense_room(s)))
        return MGV_E_MEMORY;
    job j = job_from(s, 0);
    mgvi_pool_run(s->rows->ctx->pool, j.blocks, expand_block, &j);
    return MGV_OK;
}

void mgvi_working_set_join(mgvi_working_set *s, const int32_t *rows, int64_t count)
{
    const int64_t first = s->size;
    memcpy(s->W + first, rows, (size_t)count * sizeof *s->W);
    s->size += count;
    for (int64_t t = first; t < s->size; t++)
        s->touched += (double)mgvi_rows_nnz(s->rows, s->W[t]);
    job j = job_from(s, first);
    if (s->dense)
        mgvi_pool_run(s->rows->ctx->pool, j.blocks, expand_block, &j);
}

mgv_status mgvi_working_set_keep(mgvi_working_set *s, const int32_t *keep, int64_t count)
{
    mgv_ctx *ctx = s->rows->ctx;
    const size_t row = s->dense ? (size_t)s->width : 0;
    double *dense = mgvi_alloc(ctx, (size_t)count * row + 1, sizeof *dense);
    int32_t *W = mgvi_alloc(ctx, (size_t)count + 1, sizeof *W);
    const bool full = dense && W;
    for (int64_t t = 0; full && t < count; t++) {
        W[t] = s->W[keep[t]];
        if (row)
            memcpy(dense + (size_t)t * row, s->dense + (size_t)keep[t] * row, row * sizeof *dense);
    }
    if (full) {
        memcpy(s->W, W, (size_t)count * sizeof *W);
        if (row)
            memcpy(s->dense, dense, (size_t)count * row * sizeof *dense);
        s->size = count;
    }
    mgvi_release(ctx, dense);
    mgvi_release(ctx, W);
    return full ? MGV_OK : MGV_E_MEMORY;
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
        if (s->problem->free_cols)
            acc[length - 1] *= s->rho;
        for (int64_t i = 0; i <= t; i++)
            j->K[t * j->ld + i] = mgvi_rows_dot(s->rows, s->W[i], acc);
    }
}

mgv_status mgvi_working_set_gram(mgvi_working_set *s, int64_t first, double *K, int64_t ld)
{
    mgv_ctx *ctx = s->rows->ctx;
    const mgvi_gemm_shape shape = {.m = s->size - first,
                                   .n = s->size,
                                   .k = s->width,
                                   .transpose_b = true,
                                   .lda = s->width,
                                   .ldb = s->width,
                                   .ldc = ld};
    job j = job_from(s, first);
    j.K = K;
    j.ld = ld;
    if (s->dense)
        MGVI_TRY(mgvi_gemm_f64(ctx, &shape, 1, s->dense + first * s->width, s->dense, 0,
                               K + first * ld));
    else
        mgvi_pool_run(ctx->pool, j.blocks, gram_block, &j);
    for (int64_t t = first; t < s->size; t++)
        for (int64_t i = 0; i < t; i++)
            K[i * ld + t] = K[t * ld + i];
    return MGV_OK;
}
