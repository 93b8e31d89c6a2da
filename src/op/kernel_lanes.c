/* kernel_lanes.c - products of the whole matrix K with several vectors at once, where it is not
 * kept as its half (kernel_half.c): every row of K is read once for all of them, and its sums run
 * over its columns in one order, so that the bits do not depend on which rows are kept. */
#include "op/kernel_impl.h"

#include "base/limit.h"
#include "simd/simd.h"

#include <string.h>

enum { ROWS_AT_ONCE = 32 };

typedef struct rows_job {
    const mgvi_kernel_op *k;
    const int64_t *rows; /* of K; NULL: the slots' */
    int64_t count;
    const char *values; /* NULL: in the slots; else side by side */
    const double *c;
    double *f;
    int32_t lanes;
} rows_job;

static int64_t row_at(const rows_job *job, int64_t t)
{
    return job->rows ? job->rows[t] : job->k->owner[t];
}

/* f of the rows t ... t + count - 1, neighbours in K and in memory. */
static void multiply_run(const rows_job *job, int64_t t, int64_t count)
{
    const mgvi_kernel_op *k = job->k;
    const int64_t n = k->op.rows;
    const double *a =
        (const double *)(job->values ? job->values + (size_t)t * mgvi_kernel_row_bytes(k)
                                     : mgvi_kernel_slot(k, t));
    double *f = job->f + row_at(job, t) * job->lanes;
    if (job->lanes > 1)
        k->op.ctx->simd->dense_mul_k_f64(a, n, count, n, job->lanes, job->c, f);
    else
        for (int64_t i = 0; i < count; i++)
            f[i] = k->op.ctx->simd->dot_f64(a + i * n, job->c, n);
}

static void multiply_task(void *arg, int64_t task)
{
    const rows_job *job = arg;
    const int64_t end =
        (task + 1) * ROWS_AT_ONCE < job->count ? (task + 1) * ROWS_AT_ONCE : job->count;
    for (int64_t t = task * ROWS_AT_ONCE; t < end;) {
        int64_t run = 1;
        while (t + run < end && row_at(job, t + run) == row_at(job, t) + run &&
               (job->values || (t + run) % job->k->tile_rows != 0))
            run++;
        multiply_run(job, t, run);
        t += run;
    }
}

static void multiply(rows_job *job)
{
    const int64_t tasks = (job->count + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
    mgvi_ctx_run(job->k->op.ctx, tasks, multiply_task, job);
}

bool mgvi_kernel_rows_times(mgvi_kernel_op *k, const double *c, int32_t lanes, int64_t used,
                            double *f)
{
    const int64_t n = k->op.rows;
    int64_t missing = 0;
    k->op.touched += (double)used * (double)n;
    if (mgvi_kernel_half_ready(k)) {
        mgvi_kernel_half_times(k, c, lanes, f);
        return true;
    }
    for (int64_t i = 0; i < n; i++)
        k->support[i] = i;
    mgvi_kernel_fetch(k, k->support, n < k->slots ? n : k->slots);
    rows_job job = {.k = k, .count = k->used, .c = c, .f = f, .lanes = lanes};
    multiply(&job);
    for (int64_t i = 0; i < n; i++)
        if (k->slot_of[i] < 0)
            k->support[missing++] = i;
    for (int64_t t = 0; t < missing && !mgvi_ctx_cut(k->op.ctx); t += k->tile_rows) {
        job.rows = k->support + t;
        job.count = missing - t < k->tile_rows ? missing - t : k->tile_rows;
        job.values = mgvi_kernel_compute(k, job.rows, job.count);
        if (!job.values)
            return false;
        multiply(&job);
    }
    return true;
}
