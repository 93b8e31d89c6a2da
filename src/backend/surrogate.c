/* surrogate.c - weights and divergences of the exponential and the logistic loss. Sums run over
 * fixed blocks in fixed order. */
#include "backend/surrogate.h"

#include "base/limit.h"

#include "base/threads.h"

#include <math.h>

enum { GRAIN = 1 << 12, BLOCKS = 64 }; /* an exponential costs some 10 ns */

typedef struct job {
    int64_t count, blocks;
    const double *z, *q, *q_new;
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

#define FOR_BLOCK(i, j, block)                                                                     \
    for (int64_t i = mgvi_block_begin((j)->count, (j)->blocks, block),                             \
                 block_end = mgvi_block_begin((j)->count, (j)->blocks, block + 1);                 \
         i < block_end; i++)

/* ---- weights --------------------------------------------------------------------------------- */

/* Never overflows: the largest term is 1. */
static void softmax_block(void *arg, int64_t block)
{
    job *j = arg;
    double sum = 0;
    FOR_BLOCK(i, j, block)
    {
        j->out[i] = exp(j->least - j->z[i]);
        sum += j->out[i];
    }
    j->partial[block] = sum;
}

/* out = l'(-z), summed: l(-z). Exponentials of negative numbers only. */
static void logistic_block(void *arg, int64_t block)
{
    job *j = arg;
    double sum = 0;
    FOR_BLOCK(i, j, block)
    {
        const double z = j->z[i], e = exp(-fabs(z));
        j->out[i] = (z < 0 ? 1 : e) / (1 + e);
        sum += log1p(e) - fmin(z, 0);
    }
    j->partial[block] = sum;
}

mgvi_surrogate_point mgvi_surrogate_weights(mgv_ctx *ctx, mgvi_surrogate kind, const mgvi_vec *z,
                                            mgvi_vec *q)
{
    static const double TAIL = 30; /* beyond it the two differ by n e^-30 = n 1e-13, relative */
    mgvi_surrogate_point at;
    job j = {.count = z->n, .z = z->x, .out = q->x};
    mgvi_vec_min(ctx, z, &j.least);
    at.least = j.least;
    at.normalised = kind == MGVI_SURROGATE_EXPONENTIAL || j.least > TAIL;
    double divisor;
    if (at.normalised != 0) {
        divisor = run_blocks(ctx, softmax_block, &j);
        at.psi = log(divisor) - j.least;
    } else { /* l'(psi) = 1 - e^-S with S = sum l, and psi = ln(e^S - 1) */
        const double S = run_blocks(ctx, logistic_block, &j);
        divisor = -expm1(-S);
        at.psi = S + log(divisor);
    }
    mgvi_vec_scale(ctx, 1 / divisor, q);
    return at;
}

double mgvi_surrogate_slope(mgvi_surrogate kind, double psi)
{
    return kind == MGVI_SURROGATE_EXPONENTIAL ? exp(psi) : 1 / (1 + exp(-psi));
}

/* ---- divergence ------------------------------------------------------------------------------ */

/* sum q_new ln(q_new/q) - q_new + q: every term is >= 0, and log1p keeps small ones. */
static void kl_block(void *arg, int64_t block)
{
    job *j = arg;
    double sum = 0;
    FOR_BLOCK(i, j, block)
    {
        const double d = j->q_new[i] - j->q[i];
        sum += j->q_new[i] * log1p(d / fmax(j->q[i], 1e-300)) - d;
    }
    j->partial[block] = sum;
}

double mgvi_surrogate_divergence(mgv_ctx *ctx, const mgvi_vec *q, const mgvi_vec *q_new)
{
    job j = {.count = q->n, .q = q->x, .q_new = q_new->x};
    return run_blocks(ctx, kl_block, &j);
}
