/* base/threads.h - a pool that runs numbered blocks of work.
 * The partition into blocks depends on the problem only, each block writes its own results, and
 * partial sums are added in block order: so no result depends on the number of threads. */
#ifndef MGVI_BASE_THREADS_H
#define MGVI_BASE_THREADS_H

#include "base/context.h"

typedef struct mgvi_pool mgvi_pool;
/* Called once per block, on any thread. */
typedef void (*mgvi_block_fn)(void *arg, int64_t block);

int mgvi_cpu_count(void);
mgv_status mgvi_pool_new(mgv_ctx *ctx, int threads, mgvi_pool **out);
void mgvi_pool_free(mgv_ctx *ctx, mgvi_pool *pool);
int mgvi_pool_threads(const mgvi_pool *pool);
/* Runs fn(arg, 0..blocks-1) and returns when all are done. A call from inside a block runs in
 * place. */
void mgvi_pool_run(mgvi_pool *pool, int64_t blocks, mgvi_block_fn fn, void *arg);

/* First row of `block` when `rows` rows are split evenly into `blocks`. */
static inline int64_t mgvi_block_begin(int64_t rows, int64_t blocks, int64_t block)
{
    return rows / blocks * block + (rows % blocks * block) / blocks;
}
/* The rows of `block`, one by one. */
#define MGVI_FOR_BLOCK(i, rows, blocks, block)                                                     \
    for (int64_t i = mgvi_block_begin(rows, blocks, block),                                        \
                 i##_end = mgvi_block_begin(rows, blocks, (block) + 1);                            \
         i < i##_end; i++)
/* How many blocks to cut `work` units into: at least `grain` each, at most `most`. */
static inline int64_t mgvi_block_count(int64_t work, int64_t grain, int64_t most)
{
    const int64_t n = work / grain;
    return n < 1 ? 1 : n > most ? most : n;
}
#endif
