/* landmarks.c - the curvature of the losses over what some rows of a kernel say of all. */
#include "solver/parts/landmarks.h"

#include "backend/cpu/gemm.h"
#include "base/limit.h"
#include "base/threads.h"
#include "simd/simd.h"

#include <math.h>
#include <string.h>

enum { BLOCKS = 16 };
/* A little more than rounding leaves of K among rows that are alike. */
static const double RIDGE = 1e-11;
static const double LEAST_BYTES = 64e6; /* that the metric may take */

mgv_status mgvi_landmarks_init(mgvi_landmarks *m, const mgv_problem *p, mgvi_arena *arena)
{
    const double n = (double)p->A->rows, bytes = fmax(1e6 * p->settings.cache / 2, LEAST_BYTES);
    *m = (mgvi_landmarks){.problem = p, .kernel = mgvi_kernel_of(p->A)};
    /* 8 n most + 16 most^2, B and two squares: half of what the kernel's rows may take */
    m->most = (int64_t)fmin(n, ceil((sqrt(n * n + bytes) - n) / 4));
    m->curvature = mgvi_arena_array(arena, (size_t)n, sizeof *m->curvature);
    m->mean = mgvi_arena_array(arena, (size_t)p->lanes, sizeof *m->mean);
    m->arena = mgvi_arena_within(arena);
    return m->curvature && m->mean && m->arena ? MGV_OK : MGV_E_MEMORY;
}

/* The metric takes rows x count^2/2 multiplications, 10 of which take as long as one value of K in
 * a product. */
int64_t mgvi_landmarks_fair(const mgvi_landmarks *m, double products)
{
    const double n = (double)m->problem->A->rows;
    return (int64_t)fmin(ceil(sqrt(20 * n * products)), (double)m->most);
}

/* ---- making ---------------------------------------------------------------------------------- */

/* h_i: the second derivative; for softmax a s_i (1 - sum_c p_ic^2), one number for all classes. */
static void measure(const mgvi_landmarks *m, const mgvi_vec *z, const mgvi_vec *u, double *h)
{
    const mgv_problem *p = m->problem;
    const int32_t k = p->lanes;
    const double share = k == 2 ? 0.5 : 0.3;
    if (!(p->loss->can & MGVI_JOINT)) {
        mgvi_vec out = mgvi_vec_wrap(h, z->n, MGVI_ROWS);
        mgvi_loss_curv(p->ctx, p->loss, &p->row, z, &out);
        return;
    }
    for (int64_t i = 0; i < z->n; i++) {
        const int32_t own = (int32_t)mgvi_coef_pick(&p->row.a, i, 0);
        const double s = mgvi_coef_pick(&p->row.scale, i, 0);
        double square = 0;
        for (int32_t c = 0; c < k && s > 0; c++) {
            const double prob = u->x[i * k + c] / s + (c == own);
            square += prob * prob;
        }
        h[i] = share * s * fmax(1 - square, 0);
    }
}

double mgvi_landmarks_change(const mgvi_landmarks *m, const mgvi_vec *z, const mgvi_vec *u,
                             double *work)
{
    double apart = 0, sum = 0;
    measure(m, z, u, work);
    for (int64_t i = 0; i < z->n; i++) {
        apart += fabs(work[i] - m->curvature[i]);
        sum += m->curvature[i];
    }
    return apart == 0 ? 0 : apart / sum;
}

/* Rows at equal steps along the sum of the curvatures: each with the probability of its share,
 * and those of a share or more for sure.                                                     (6) */
static void choose(mgvi_landmarks *m, int64_t wanted)
{
    const int64_t n = m->problem->A->rows;
    double sum = 0;
    m->count = 0;
    const double stride = m->total / (double)wanted;
    double next = 0.5 * stride;
    for (int64_t i = 0; i < n && m->count < wanted && stride > 0; i++) {
        sum += m->curvature[i];
        if (m->curvature[i] == 0 || sum < next)
            continue;
        m->row[m->count++] = i;
        next += stride * (1 + floor((sum - next) / stride));
    }
}

/* The images of the chosen rows. */
static mgv_status fill(mgvi_landmarks *m)
{
    const mgv_problem *p = m->problem;
    const int64_t n = p->A->rows, count = m->count;
    MGVI_TRY(mgvi_kernel_columns(m->kernel, m->row, count, m->B));
    for (int64_t i = 0; i < n && p->sign; i++)
        for (int64_t t = 0; t < count; t++)
            m->B[i * count + t] *= p->sign[i] * p->sign[m->row[t]];
    return MGV_OK;
}

/* What is left of the curvature when the intercept follows: less its part along that column. */
static void project_intercept(mgvi_landmarks *m)
{
    const mgv_problem *p = m->problem;
    const int64_t n = p->A->rows, count = m->count;
    double *sum = m->partial;
    if (!p->free_cols)
        return;
    memset(sum, 0, (size_t)count * sizeof *sum);
    for (int64_t i = 0; i < n; i++) {
        const double h = m->curvature[i] * mgvi_problem_free_entry(p, i);
        if (h != 0)
            p->ctx->simd->axpy_f64(h, m->B + i * count, sum, count);
    }
    for (int64_t t = 0; t < count; t++)
        for (int64_t q = t; q < count; q++)
            m->metric.H[t * count + q] -= sum[t] * sum[q] / m->total;
}

static mgv_status make_room(mgvi_landmarks *m, int64_t wanted)
{
    const size_t n = (size_t)m->problem->A->rows, k = (size_t)m->problem->lanes;
    const size_t count = (size_t)wanted;
    mgvi_arena_free(m->arena);
    m->row = mgvi_arena_array(m->arena, count, sizeof *m->row);
    m->B = mgvi_arena_scratch(m->arena, n, count * sizeof *m->B);
    m->t = mgvi_arena_array(m->arena, count, k * sizeof *m->t);
    m->partial = mgvi_arena_array(m->arena, BLOCKS * count, k * sizeof *m->partial);
    if (!m->row || !m->B || !m->t || !m->partial)
        return MGV_E_MEMORY;
    return mgvi_scaled_cholesky_init(&m->metric, m->arena, wanted);
}

mgv_status mgvi_landmarks_rebuild(mgvi_landmarks *m, int64_t wanted)
{
    const mgv_problem *p = m->problem;
    m->total = 0;
    m->count = 0;
    for (int64_t i = 0; i < p->A->rows; i++)
        m->total += m->curvature[i];
    MGVI_TRY(make_room(m, wanted));
    choose(m, wanted);
    if (m->count == 0)
        return MGV_OK;
    const int64_t count = m->metric.n = m->count;
    MGVI_TRY(fill(m));
    MGVI_TRY(mgvi_gram_f64(p->ctx, p->A->rows, count, m->B, count, m->curvature, m->metric.H,
                           count)); /* (7) */
    project_intercept(m);
    for (int64_t t = 0; t < count; t++)
        for (int64_t q = t; q < count; q++)
            m->metric.H[t * count + q] += p->lambda * m->B[m->row[t] * count + q];
    const mgv_status st = mgvi_scaled_cholesky_factor(&m->metric, RIDGE);
    if (st == MGV_E_NUMERIC) /* then without */
        m->count = 0;
    return st == MGV_E_NUMERIC ? MGV_OK : st;
}

mgv_status mgvi_landmarks_refresh(mgvi_landmarks *m, int64_t wanted, const mgvi_vec *z,
                                  const mgvi_vec *u)
{
    measure(m, z, u, m->curvature);
    return mgvi_landmarks_rebuild(m, wanted);
}

/* ---- applying -------------------------------------------------------------------------------- */

typedef struct pass_job {
    mgvi_landmarks *m;
    const double *g;
    double *out;
} pass_job;

/* A block's part of B'g. */
static void down_block(void *arg, int64_t block)
{
    const pass_job *job = arg;
    const mgvi_landmarks *m = job->m;
    const mgvi_simd *simd = m->problem->ctx->simd;
    const int32_t k = m->problem->lanes;
    const int64_t n = m->problem->A->rows, count = m->count;
    double *sum = m->partial + block * count * k;
    const int64_t i = mgvi_block_begin(n, BLOCKS, block);
    const int64_t rows = mgvi_block_begin(n, BLOCKS, block + 1) - i;
    memset(sum, 0, (size_t)(count * k) * sizeof *sum);
    if (k == 1)
        simd->dense_mul_t_f64(m->B + i * count, count, rows, count, job->g + i, sum);
    else
        simd->dense_mul_t_k_f64(m->B + i * count, count, rows, count, k, job->g + i * k, sum);
}

/* B t */
static void up_block(void *arg, int64_t block)
{
    const pass_job *job = arg;
    const mgvi_landmarks *m = job->m;
    const mgvi_simd *simd = m->problem->ctx->simd;
    const int32_t k = m->problem->lanes;
    const int64_t n = m->problem->A->rows, count = m->count;
    const int64_t i = mgvi_block_begin(n, BLOCKS, block);
    const int64_t rows = mgvi_block_begin(n, BLOCKS, block + 1) - i;
    if (k == 1)
        simd->dense_mul_f64(m->B + i * count, count, rows, count, m->t, job->out + i);
    else
        simd->dense_mul_k_f64(m->B + i * count, count, rows, count, k, m->t, job->out + i * k);
}

/* t = B'g becomes N^-1 t, lane by lane. */
static mgv_status solve_lanes(mgvi_landmarks *m)
{
    const int64_t count = m->count;
    const int32_t k = m->problem->lanes;
    double *lane = m->partial;
    for (int32_t c = 0; c < k; c++) {
        for (int64_t t = 0; t < count; t++)
            lane[t] = m->t[t * k + c];
        MGVI_TRY(mgvi_scaled_cholesky_solve(&m->metric, lane, NULL));
        for (int64_t t = 0; t < count; t++)
            m->t[t * k + c] = lane[t];
    }
    return MGV_OK;
}

/* out = B t becomes g - (H - h h'/sum h) B t.                                                (8) */
static void take_off(mgvi_landmarks *m, const mgvi_vec *g, mgvi_vec *out)
{
    const mgv_problem *p = m->problem;
    const int32_t k = p->lanes;
    memset(m->mean, 0, (size_t)k * sizeof *m->mean);
    for (int64_t i = 0; i < g->n && p->free_cols; i++)
        for (int32_t c = 0; c < k; c++)
            m->mean[c] += m->curvature[i] * mgvi_problem_free_entry(p, i) * out->x[i * k + c];
    for (int64_t i = 0; i < g->n; i++)
        for (int32_t c = 0; c < k; c++) {
            const double mean = mgvi_problem_free_entry(p, i) * m->mean[c] / m->total;
            out->x[i * k + c] = g->x[i * k + c] - m->curvature[i] * (out->x[i * k + c] - mean);
        }
}

mgv_status mgvi_landmarks_apply(mgvi_landmarks *m, const mgvi_vec *g, mgvi_vec *out)
{
    mgv_ctx *ctx = m->problem->ctx;
    const int64_t numbers = m->count * g->k;
    pass_job job = {.m = m, .g = g->x, .out = out->x};
    if (m->count == 0) {
        mgvi_vec_copy(ctx, g, out);
        return MGV_OK;
    }
    mgvi_ctx_run(ctx, BLOCKS, down_block, &job);
    memcpy(m->t, m->partial, (size_t)numbers * sizeof *m->t);
    for (int64_t b = 1; b < BLOCKS; b++)
        for (int64_t t = 0; t < numbers; t++)
            m->t[t] += m->partial[b * numbers + t];
    MGVI_TRY(solve_lanes(m));
    mgvi_ctx_run(ctx, BLOCKS, up_block, &job);
    take_off(m, g, out);
    return MGV_OK;
}
