/* row_squares.c - sums of squares of columns, and how far rows stand out. */

#include "base/limit.h"
#include "op/row_kernels.h"
#include "op/row_set.h"

#include <string.h>

typedef struct squares_job {
    mgvi_row_set *s;
    const uint8_t *which; /* rows with this flag alone; NULL: all */
    uint8_t flag;
    const double *weight; /* NULL: the sums of squares are wanted, one partial sum per block */
    double base;          /* sparse: sum_j c_j^2 weight_j */
    float *q;
} squares_job;

/* An absent entry counts as c^2; what a stored one adds to that is x (x - 2 c). */
static void sparse_squares(const squares_job *job, int64_t first, int64_t count, double *sums)
{
    const mgvi_row_set *s = job->s;
    const mgvi_matrix *m = &s->m;
    const mgvi_row_kernel_table *k = s->kernels;
    const int64_t *ptr = m->ptr + first;
    const double *p = s->view.row_scale ? s->view.row_scale + first : NULL;
    const bool f32 = m->dtype == MGV_F32;
    double q[MGVI_ROW_SET_CHUNK];
    if (job->weight && f32)
        k->dot_excess_f32(m->val, m->idx, ptr, count, p, s->view.centre, job->weight, job->base, q);
    else if (job->weight)
        k->dot_excess_f64(m->val, m->idx, ptr, count, p, s->view.centre, job->weight, job->base, q);
    else if (f32)
        k->add_excess_f32(m->val, m->idx, ptr, count, p, s->view.centre, sums);
    else
        k->add_excess_f64(m->val, m->idx, ptr, count, p, s->view.centre, sums);
    for (int64_t i = 0; !job->weight && i < count; i++)
        sums[m->cols] += p ? p[i] * p[i] : 1;
    for (int64_t i = 0; job->weight && i < count; i++)
        job->q[first + i] = (float)q[i];
}

static void dense_squares(const squares_job *job, int64_t first, int64_t count, const void *rows,
                          int64_t stride, double *sums)
{
    const mgvi_row_set *s = job->s;
    const mgvi_row_kernel_table *k = s->kernels;
    const int64_t d = s->m.cols;
    double q[MGVI_ROW_SET_CHUNK];
    if (job->weight && s->exact)
        k->dot_squares_f64(rows, stride, count, d, job->weight, q);
    else if (job->weight)
        k->dot_squares_f32(rows, stride, count, d, job->weight, q);
    else if (s->exact)
        k->add_squares_f64(rows, stride, count, d, sums);
    else
        k->add_squares_f32(rows, stride, count, d, sums);
    for (int64_t i = 0; job->weight && i < count; i++)
        job->q[first + i] = (float)q[i];
}

/* Runs of rows that have the flag. */
static void visit(void *arg, int64_t first, int64_t count, const void *rows, int64_t stride,
                  double *sums)
{
    const squares_job *job = arg;
    const uint8_t *which = job->which ? job->which + first : NULL;
    const size_t row = (size_t)stride * (job->s->exact ? sizeof(double) : sizeof(float));
    for (int64_t i = 0, end; i < count; i = end) {
        const bool wanted = !which || which[i] == job->flag;
        for (end = which ? i + 1 : count; end < count && (which[end] == job->flag) == wanted;)
            end++;
        if (wanted && rows)
            dense_squares(job, first + i, end - i, (const char *)rows + (size_t)i * row, stride,
                          sums);
        else if (wanted)
            sparse_squares(job, first + i, end - i, sums);
    }
}

static void squares_block(void *arg, int64_t block)
{
    const squares_job *job = arg;
    mgvi_row_set *s = job->s;
    if (!job->weight)
        memset(s->partial + (size_t)block * s->partial_size, 0,
               (size_t)(s->m.cols + 1) * sizeof *s->partial);
    mgvi_row_set_visit_block(s, block, visit, arg);
}

void mgvi_row_set_squares(mgvi_row_set *s, const uint8_t *which, uint8_t flag, double *sum)
{
    squares_job job = {.s = s, .which = which, .flag = flag};
    const int64_t d = s->m.cols;
    mgvi_ctx_run(s->ctx, s->blocks, squares_block, &job);
    for (int64_t j = 0; j < d; j++) {
        double total = 0, squares = 0;
        for (int64_t b = 0; b < s->blocks; b++) {
            total += s->partial[(size_t)b * s->partial_size + (size_t)j];
            squares += s->partial[(size_t)b * s->partial_size + (size_t)d];
        }
        if (s->sparse && s->view.centre)
            total += squares * s->view.centre[j] * s->view.centre[j];
        if (s->sparse && s->view.scale)
            total *= s->view.scale[j] * s->view.scale[j];
        sum[j] = total > 0 ? total : 0;
    }
}

void mgvi_row_set_leverage(mgvi_row_set *s, double *energy, float *q)
{
    squares_job job = {.s = s, .weight = s->scaled_w, .q = q};
    mgvi_row_set_squares(s, NULL, 0, energy);
    for (int64_t j = 0; j < s->m.cols; j++) {
        energy[j] /= (double)s->m.rows;
        double weight = energy[j] > 0 ? 1 / energy[j] : 0;
        if (s->sparse && s->view.scale)
            weight *= s->view.scale[j] * s->view.scale[j];
        if (s->sparse && s->view.centre)
            job.base += s->view.centre[j] * s->view.centre[j] * weight;
        s->scaled_w[j] = weight;
    }
    mgvi_ctx_run(s->ctx, s->blocks, squares_block, &job);
    *s->touched += 2 * s->entries;
}
