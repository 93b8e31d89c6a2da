/* kernel_sparse.c - inner products between sparse points by an inverted index. Some hundred points
 * at a time are held by columns: for every column the points that have an entry there, and it. The
 * points of the other list run over them,
 *   y_l += x_j z_lj   for every entry j of x and every held point l that has one there too,
 * so that a pair costs the entries that it has in common: on texts 2 or 3 of a hundred. Every sum
 * runs over the common columns in their order, whichever list is held and wherever its blocks
 * begin: a value depends on its two points alone, and is the same for (x, z) and (z, x). */
#include "op/points.h"

#include "base/limit.h"
#include "base/threads.h"

#include <string.h>

enum {
    LANES = 512,       /* points held at once, */
    ENTRIES = 1 << 15, /* or fewer: 384 KB, which stay in the second cache */
    ROWS_AT_ONCE = 8,  /* that run; a cache line of values for every point held */
    GRAIN = 1 << 12,   /* rows times points held, of a task */
    MOST_TASKS = 64
};

typedef struct index_job {
    const mgvi_point_list *held, *runs;
    int64_t cols;        /* that both have */
    int64_t from, lanes; /* of the list held */
    int32_t *start;      /* cols + 2; column j has the places start[j], ..., start[j + 1] - 1 */
    int32_t *lane;       /* per place: the point, from 0 on */
    double *x;           /* and its entry */
    double scale;
    mgv_dtype dtype;
    char *out;
    int64_t held_step, runs_step; /* in `out`, between points of either list */
    int64_t tasks;
} index_job;

static void put(const index_job *job, int64_t at, double value)
{
    if (job->dtype == MGV_F32)
        ((float *)job->out)[at] = (float)(job->scale * value);
    else
        ((double *)job->out)[at] = job->scale * value;
}

/* y += the products of row i with the points held */
static void run_row(const index_job *job, const mgvi_matrix *m, int64_t i, double *restrict y)
{
    const int32_t *restrict start = job->start, *restrict lane = job->lane;
    const double *restrict x = job->x;
    for (int64_t t = m->ptr[i]; t < m->ptr[i + 1]; t++) {
        const int64_t j = m->idx[t];
        if (j >= job->cols)
            continue;
        const double v = mgvi_matrix_value(m, t);
        for (int32_t s = start[j]; s < start[j + 1]; s++)
            y[lane[s]] += v * x[s];
    }
}

static void run_task(void *arg, int64_t task)
{
    const index_job *job = arg;
    const mgvi_matrix *m = &job->runs->points->rows;
    double y[ROWS_AT_ONCE][LANES];
    const int64_t end = mgvi_block_begin(job->runs->count, job->tasks, task + 1);
    for (int64_t r = mgvi_block_begin(job->runs->count, job->tasks, task); r < end;) {
        const int64_t count = end - r < ROWS_AT_ONCE ? end - r : ROWS_AT_ONCE;
        const int64_t at = job->from * job->held_step + r * job->runs_step;
        for (int64_t i = 0; i < count; i++) {
            memset(y[i], 0, (size_t)job->lanes * sizeof y[i][0]);
            run_row(job, m, mgvi_point_at(job->runs, r + i), y[i]);
        }
        if (job->held_step == 1)
            for (int64_t i = 0; i < count; i++)
                for (int64_t l = 0; l < job->lanes; l++)
                    put(job, at + i * job->runs_step + l, y[i][l]);
        else
            for (int64_t l = 0; l < job->lanes; l++)
                for (int64_t i = 0; i < count; i++)
                    put(job, at + l * job->held_step + i, y[i][l]);
        r += count;
    }
}

static int64_t entries_of(const mgvi_point_list *list, int64_t t)
{
    const int64_t i = mgvi_point_at(list, t);
    return list->points->rows.ptr[i + 1] - list->points->rows.ptr[i];
}

/* The points from `from` on that are held next, by columns: counted, then put in their places. */
static void hold(index_job *job)
{
    const mgvi_matrix *m = &job->held->points->rows;
    int64_t entries = 0;
    for (job->lanes = 0;
         job->lanes < LANES && job->from + job->lanes < job->held->count && entries < ENTRIES;
         job->lanes++)
        entries += entries_of(job->held, job->from + job->lanes);
    memset(job->start, 0, (size_t)(job->cols + 2) * sizeof *job->start);
    for (int64_t l = 0; l < job->lanes; l++) {
        const int64_t i = mgvi_point_at(job->held, job->from + l);
        for (int64_t t = m->ptr[i]; t < m->ptr[i + 1]; t++)
            if (m->idx[t] < job->cols)
                job->start[m->idx[t] + 2]++;
    }
    for (int64_t j = 0; j < job->cols; j++)
        job->start[j + 2] += job->start[j + 1];
    for (int64_t l = 0; l < job->lanes; l++) {
        const int64_t i = mgvi_point_at(job->held, job->from + l);
        for (int64_t t = m->ptr[i]; t < m->ptr[i + 1]; t++)
            if (m->idx[t] < job->cols) {
                const int32_t s = job->start[m->idx[t] + 1]++;
                job->lane[s] = (int32_t)l;
                job->x[s] = mgvi_matrix_value(m, t);
            }
    }
}

static void run_over(mgv_ctx *ctx, index_job *job)
{
    for (job->from = 0; job->from < job->held->count; job->from += job->lanes) {
        hold(job);
        job->tasks = mgvi_block_count(job->runs->count * job->lanes, GRAIN, MOST_TASKS);
        mgvi_ctx_run(ctx, job->tasks, run_task, job);
    }
}

mgv_status mgvi_sparse_products(mgv_ctx *ctx, const mgvi_point_list *p, const mgvi_point_list *q,
                                double scale, mgv_dtype dtype, void *out, int64_t ld)
{
    const bool hold_q = q->count <= p->count; /* the other list is read once a block */
    const int64_t p_cols = p->points->rows.cols, q_cols = q->points->rows.cols;
    index_job job = {.held = hold_q ? q : p,
                     .runs = hold_q ? p : q,
                     .cols = p_cols < q_cols ? p_cols : q_cols,
                     .scale = scale,
                     .dtype = dtype,
                     .out = out,
                     .held_step = hold_q ? 1 : ld,
                     .runs_step = hold_q ? ld : 1};
    const size_t places = (size_t)(ENTRIES + job.held->points->entries);
    job.start = mgvi_alloc(ctx, (size_t)job.cols + 2, sizeof *job.start);
    job.lane = mgvi_alloc(ctx, places, sizeof *job.lane);
    job.x = mgvi_alloc(ctx, places, sizeof *job.x);
    const bool fits = job.start && job.lane && job.x;
    if (fits)
        run_over(ctx, &job);
    mgvi_release(ctx, job.x);
    mgvi_release(ctx, job.lane);
    mgvi_release(ctx, job.start);
    return fits ? MGV_OK : MGV_E_MEMORY;
}
