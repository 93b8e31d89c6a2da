/* cpu/surrogate.c - exponentials and their sums, over fixed blocks in fixed order. */
#include "backend/cpu/cpu.h"

#include "base/limit.h"

#include "base/threads.h"

#include <math.h>

enum { GRAIN = 1 << 12, BLOCKS = 64 }; /* an exponential costs some 10 ns */

typedef struct job {
    int64_t count, blocks;
    const double *x, *y;
    double *out;
    double least;
    double partial[BLOCKS];
} job;

/* The sum over the blocks of what fn leaves in `partial`. */
static double run_blocks(mgv_ctx *ctx, mgvi_block_fn fn, job *j)
{
    double sum = 0;
    j->blocks = mgvi_block_count(j->count, GRAIN, BLOCKS);
    mgvi_ctx_run(ctx, j->blocks, fn, j);
    for (int64_t b = 0; b < j->blocks; b++)
        sum += j->partial[b];
    return sum;
}

/* Never overflows: the largest term is 1. */
static void softmax_block(void *arg, int64_t block)
{
    job *j = arg;
    double sum = 0;
    MGVI_FOR_BLOCK (i, j->count, j->blocks, block) {
        j->out[i] = exp(j->least - j->x[i]);
        sum += j->out[i];
    }
    j->partial[block] = sum;
}

/* out = l'(-z), summed: l(-z). Exponentials of negative numbers only. */
static void logistic_block(void *arg, int64_t block)
{
    job *j = arg;
    double sum = 0;
    MGVI_FOR_BLOCK (i, j->count, j->blocks, block) {
        const double z = j->x[i], e = exp(-fabs(z));
        j->out[i] = (z < 0 ? 1 : e) / (1 + e);
        sum += log1p(e) - fmin(z, 0);
    }
    j->partial[block] = sum;
}

/* sum y ln(y/x) - y + x: every term is >= 0, and log1p keeps small ones. */
static void kl_block(void *arg, int64_t block)
{
    job *j = arg;
    double sum = 0;
    MGVI_FOR_BLOCK (i, j->count, j->blocks, block) {
        const double d = j->y[i] - j->x[i];
        sum += j->y[i] * log1p(d / fmax(j->x[i], 1e-300)) - d;
    }
    j->partial[block] = sum;
}

double mgvi_cpu_exp_sum(mgv_ctx *ctx, mgvi_exp_fn fn, double least, const mgvi_vec *x,
                        const mgvi_vec *y, mgvi_vec *out)
{
    static const mgvi_block_fn blocks[] = {[MGVI_EXP_SOFTMAX] = softmax_block,
                                           [MGVI_EXP_LOGISTIC] = logistic_block,
                                           [MGVI_EXP_KL] = kl_block};
    job j = {
        .count = x->n, .x = x->x, .y = y ? y->x : NULL, .out = out ? out->x : NULL, .least = least};
    return run_blocks(ctx, blocks[fn], &j);
}
