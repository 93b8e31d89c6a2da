/* landmarks.c - the curvature of the losses over what some rows of a kernel say of all. */
#include "solver/kernel/landmarks.h"

#include "base/limit.h"
#include "base/threads.h"
#include "linalg/gemm.h"
#include "simd/simd.h"
#include "solver/kernel/leftover.h"

#include <math.h>
#include <string.h>

enum { BLOCKS = 16 };
/* A little more than rounding leaves of K among rows that are alike. */
static const double RIDGE = 1e-11;
static const double LEAST_BYTES = 64e6; /* that the metric may take */

mgv_status mgvi_landmarks_init(mgvi_landmarks *m, const mgv_problem *p, mgvi_kernel_op *kernel,
                               int32_t width, int32_t systems, mgvi_arena *arena)
{
    const double n = (double)p->A->rows, bytes = fmax(1e6 * p->settings.cache / 2, LEAST_BYTES);
    const size_t count = (size_t)systems;
    *m = (mgvi_landmarks){.ctx = p->ctx,
                          .kernel = kernel,
                          .lambda = p->lambda,
                          .free = p->free_cols > 0,
                          .width = width,
                          .systems = systems,
                          .n = p->A->rows};
    /* 8 n most + 16 most^2 systems, B and squares: half of what the kernel's rows may take */
    m->most = (int64_t)fmin(n, ceil((sqrt(n * n + systems * bytes) - n) / (4 * systems)));
    m->curvature = mgvi_arena_array(arena, count, sizeof *m->curvature);
    m->total = mgvi_arena_array(arena, count, sizeof *m->total);
    m->soft = mgvi_arena_array(arena, count, sizeof *m->soft);
    m->soft_total = mgvi_arena_array(arena, count, sizeof *m->soft_total);
    m->metric = mgvi_arena_array(arena, count, sizeof *m->metric);
    m->status = mgvi_arena_array(arena, count, sizeof *m->status);
    m->mean = mgvi_arena_array(arena, (size_t)width, sizeof *m->mean);
    m->arena = mgvi_arena_within(arena);
    const bool whole = m->curvature && m->total && m->soft && m->soft_total && m->metric;
    return whole && m->status && m->mean && m->arena ? MGV_OK : MGV_E_MEMORY;
}

/* A system takes rows x count^2/2 multiplications, 10 of which take as long as one value of K in
 * a product, and one as long as a value's part in it of two vectors. */
int64_t mgvi_landmarks_fair(const mgvi_landmarks *m, double products)
{
    const double systems = (double)m->systems;
    const double each = (20 + systems - 1) / systems;
    return (int64_t)fmin(ceil(sqrt(each * (double)m->n * products)), (double)m->most);
}

/* h_i: the second derivative; for softmax a s_i (1 - sum_c p_ic^2), one number for all classes. */
void mgvi_landmarks_measure(const mgv_problem *p, const mgvi_vec *z, const mgvi_vec *u, double *h)
{
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

/* ---- making ---------------------------------------------------------------------------------- */

/* Row i's part of all curvatures. */
static double share_of(const mgvi_landmarks *m, int64_t i)
{
    double share = 0;
    for (int32_t s = 0; s < m->systems; s++)
        share += m->total[s] > 0 ? m->curvature[s][i] / m->total[s] : 0;
    return share;
}

/* Rows at equal steps along the sum of the curvatures: each with the probability of its share,
 * and those of a share or more for sure.                                                     (6) */
static void choose(mgvi_landmarks *m, int64_t wanted)
{
    double sum = 0, all = 0;
    m->count = 0;
    for (int32_t s = 0; s < m->systems; s++)
        all += m->total[s] > 0;
    const double stride = all / (double)wanted;
    double next = 0.5 * stride;
    for (int64_t i = 0; i < m->n && m->count < wanted && stride > 0; i++) {
        const double share = share_of(m, i);
        sum += share;
        if (share == 0 || sum < next)
            continue;
        m->row[m->count++] = i;
        next += stride * (1 + floor((sum - next) / stride));
    }
}

/* What is left of the curvature when the intercept follows: less its part along that column. */
static void project_intercept(mgvi_landmarks *m, int32_t s)
{
    const int64_t count = m->count;
    const double *h = m->soft[s];
    double *sum = m->partial, *H = m->metric[s].H;
    if (!m->free || !(m->soft_total[s] > 0))
        return;
    memset(sum, 0, (size_t)count * sizeof *sum);
    for (int64_t i = 0; i < m->n; i++)
        if (h[i] != 0)
            m->ctx->simd->axpy_f64(h[i], m->B + i * count, sum, count);
    for (int64_t t = 0; t < count; t++)
        for (int64_t q = t; q < count; q++)
            H[t * count + q] -= sum[t] * sum[q] / m->soft_total[s];
}

/* How much larger the curvature of system s is than that of the first, where the one is nearly a
 * multiple of the other: where all begin alike, and always for a squared loss. 0: it is not. */
static double multiple_of_first(const mgvi_landmarks *m, int32_t s)
{
    static const double NEARLY = 0.05;
    const double ratio = m->soft_total[0] > 0 ? m->soft_total[s] / m->soft_total[0] : 0;
    double apart = 0;
    for (int64_t i = 0; i < m->n; i++)
        apart += fabs(m->soft[s][i] - ratio * m->soft[0][i]);
    return apart <= NEARLY * m->soft_total[s] ? ratio : 0;
}

/* B'H'B of every system.                                                                     (7) */
static mgv_status make_squares(mgvi_landmarks *m)
{
    const int64_t count = m->count;
    for (int32_t s = m->systems - 1; s >= 0 && !mgvi_ctx_cut(m->ctx); s--) {
        if (s > 0 && multiple_of_first(m, s) > 0)
            continue;
        MGVI_TRY(
            mgvi_gram_f64(m->ctx, m->n, count, m->B, count, m->soft[s], m->metric[s].H, count));
        project_intercept(m, s);
    }
    for (int32_t s = 1; s < m->systems; s++) {
        const double ratio = multiple_of_first(m, s);
        for (int64_t t = 0; ratio > 0 && t < count * count; t++)
            m->metric[s].H[t] = ratio * m->metric[0].H[t];
    }
    return mgvi_ctx_whole(m->ctx);
}

/* lambda B_L joins it, and the factor. */
static mgv_status factor_system(mgvi_landmarks *m, int32_t s)
{
    const int64_t count = m->count;
    mgvi_scaled_cholesky *metric = &m->metric[s];
    for (int64_t t = 0; t < count; t++)
        for (int64_t q = t; q < count; q++)
            metric->H[t * count + q] += m->lambda * m->B[m->row[t] * count + q];
    const mgv_status st = mgvi_scaled_cholesky_factor(metric, RIDGE);
    if (st != MGV_E_NUMERIC)
        return st;
    metric->n = 0; /* then without */
    return MGV_OK;
}

static mgv_status make_room(mgvi_landmarks *m, int64_t wanted)
{
    const size_t n = (size_t)m->n, k = (size_t)m->width, count = (size_t)wanted;
    mgvi_arena_free(m->arena);
    m->row = mgvi_arena_array(m->arena, count, sizeof *m->row);
    m->B = mgvi_arena_scratch(m->arena, n, count * sizeof *m->B);
    m->e = mgvi_arena_array(m->arena, n, sizeof *m->e);
    m->g = mgvi_arena_array(m->arena, n, k * sizeof *m->g);
    m->t = mgvi_arena_array(m->arena, count, k * sizeof *m->t);
    m->partial = mgvi_arena_array(m->arena, BLOCKS * count, k * sizeof *m->partial);
    if (!m->row || !m->B || !m->e || !m->g || !m->t || !m->partial)
        return MGV_E_MEMORY;
    for (int32_t s = 0; s < m->systems; s++) {
        MGVI_TRY(MGVI_ARRAY(m->arena, m->soft[s], n));
        MGVI_TRY(mgvi_scaled_cholesky_init(&m->metric[s], m->arena, wanted));
    }
    return MGV_OK;
}

/* What is left of row i's slope where e_i stands beside the rest of K: lambda/(lambda + h_i e_i).
 */
static double softness(const mgvi_landmarks *m, int32_t s, int64_t i)
{
    return m->lambda / (m->lambda + m->curvature[s][i] * m->e[i]);
}

/* An estimate is right for the rows together, not for each: where e stays small beside lambda/h,
 * so that N is good without, it does more harm than good. */
static void drop_small(mgvi_landmarks *m)
{
    static const double LARGE = 2;
    double sum = 0;
    for (int32_t s = 0; s < m->systems; s++)
        for (int64_t i = 0; i < m->n; i++)
            sum += m->curvature[s][i] * m->e[i];
    if (sum < LARGE * m->lambda * (double)m->n * m->systems)
        memset(m->e, 0, (size_t)m->n * sizeof *m->e);
}

/* e, and the curvatures that N is made from.                                          (13), (14) */
static mgv_status soften(mgvi_landmarks *m)
{
    const mgvi_leftover left = {.ctx = m->ctx,
                                .n = m->n,
                                .count = m->count,
                                .row = m->row,
                                .B = m->B,
                                .diagonal = mgvi_kernel_diagonal(m->kernel)};
    MGVI_TRY(mgvi_leftover_estimate(&left, m->arena, m->e));
    drop_small(m);
    for (int32_t s = 0; s < m->systems; s++) {
        m->soft_total[s] = 0;
        for (int64_t i = 0; i < m->n; i++) {
            m->soft[s][i] = m->curvature[s][i] * softness(m, s, i);
            m->soft_total[s] += m->soft[s][i];
        }
    }
    return MGV_OK;
}

mgv_status mgvi_landmarks_make(mgvi_landmarks *m, int64_t wanted, const double *const *curvature)
{
    m->count = 0;
    for (int32_t s = 0; s < m->systems; s++) {
        m->curvature[s] = curvature[s];
        m->total[s] = 0;
        for (int64_t i = 0; i < m->n; i++)
            m->total[s] += curvature[s][i];
    }
    MGVI_TRY(make_room(m, wanted));
    choose(m, wanted);
    if (m->count == 0)
        return MGV_OK;
    for (int32_t s = 0; s < m->systems; s++)
        m->metric[s].n = m->count;
    MGVI_TRY(mgvi_kernel_columns(m->kernel, m->row, m->count, m->B));
    MGVI_TRY(soften(m));
    MGVI_TRY(make_squares(m));
    for (int32_t s = 0; s < m->systems && !mgvi_ctx_cut(m->ctx); s++)
        MGVI_TRY(factor_system(m, s));
    return mgvi_ctx_whole(m->ctx);
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
    const int32_t k = m->width;
    const int64_t count = m->count, i = mgvi_block_begin(m->n, BLOCKS, block);
    const int64_t rows = mgvi_block_begin(m->n, BLOCKS, block + 1) - i;
    double *sum = m->partial + block * count * k;
    memset(sum, 0, (size_t)(count * k) * sizeof *sum);
    if (k == 1)
        m->ctx->simd->dense_mul_t_f64(m->B + i * count, count, rows, count, job->g + i, sum);
    else
        m->ctx->simd->dense_mul_t_k_f64(m->B + i * count, count, rows, count, k, job->g + i * k,
                                        sum);
}

/* B t */
static void up_block(void *arg, int64_t block)
{
    const pass_job *job = arg;
    const mgvi_landmarks *m = job->m;
    const int32_t k = m->width;
    const int64_t count = m->count, i = mgvi_block_begin(m->n, BLOCKS, block);
    const int64_t rows = mgvi_block_begin(m->n, BLOCKS, block + 1) - i;
    if (k == 1)
        m->ctx->simd->dense_mul_f64(m->B + i * count, count, rows, count, m->t, job->out + i);
    else
        m->ctx->simd->dense_mul_k_f64(m->B + i * count, count, rows, count, k, m->t,
                                      job->out + i * k);
}

static int32_t system_of(const mgvi_landmarks *m, int64_t lane)
{
    return m->systems == 1 ? 0 : (int32_t)lane;
}

/* Vectors of a system: t = B'g becomes N^-1 t, or 0 where there is no N. */
static void solve_system(void *arg, int64_t s)
{
    mgvi_landmarks *m = arg;
    const int64_t count = m->count;
    const int32_t k = m->width;
    double *lane = m->partial + s * count;
    m->status[s] = MGV_OK;
    for (int32_t c = 0; c < k && m->status[s] == MGV_OK; c++) {
        if (system_of(m, c) != s)
            continue;
        for (int64_t t = 0; t < count; t++)
            lane[t] = m->metric[s].n > 0 ? m->t[t * k + c] : 0;
        if (m->metric[s].n > 0)
            m->status[s] = mgvi_scaled_cholesky_solve(&m->metric[s], lane, NULL);
        for (int64_t t = 0; t < count; t++)
            m->t[t * k + c] = lane[t];
    }
}

/* g as (14) has it; its sum is 0 where there is an intercept. */
static void soften_slopes(mgvi_landmarks *m, const double *g)
{
    const int32_t k = m->width;
    for (int32_t c = 0; c < k; c++) {
        const int32_t s = system_of(m, c);
        double sum = 0;
        for (int64_t i = 0; i < m->n; i++)
            sum += m->g[i * k + c] = softness(m, s, i) * g[i * k + c];
        const double part = m->free && m->soft_total[s] > 0 ? sum / m->soft_total[s] : 0;
        for (int64_t i = 0; i < m->n; i++)
            m->g[i * k + c] -= part * m->soft[s][i];
    }
}

/* out = B t becomes g - (H - h h'/sum h) B t.                                                (8) */
static void take_off(mgvi_landmarks *m, const double *g, double *out)
{
    const int32_t k = m->width;
    for (int32_t c = 0; c < k; c++) {
        const double *h = m->soft[system_of(m, c)];
        const double total = m->soft_total[system_of(m, c)];
        double mean = 0;
        for (int64_t i = 0; i < m->n && m->free; i++)
            mean += h[i] * out[i * k + c];
        m->mean[c] = total > 0 ? mean / total : 0;
    }
    for (int64_t i = 0; i < m->n; i++)
        for (int32_t c = 0; c < k; c++)
            out[i * k + c] =
                g[i * k + c] - m->soft[system_of(m, c)][i] * (out[i * k + c] - m->mean[c]);
}

mgv_status mgvi_landmarks_apply(mgvi_landmarks *m, const double *g, double *out)
{
    const int64_t numbers = m->count * m->width;
    pass_job job = {.m = m, .g = m->g, .out = out};
    if (m->count == 0) {
        memcpy(out, g, (size_t)(m->n * m->width) * sizeof *out);
        return MGV_OK;
    }
    soften_slopes(m, g);
    mgvi_ctx_run(m->ctx, BLOCKS, down_block, &job);
    memcpy(m->t, m->partial, (size_t)numbers * sizeof *m->t);
    for (int64_t b = 1; b < BLOCKS; b++)
        for (int64_t t = 0; t < numbers; t++)
            m->t[t] += m->partial[b * numbers + t];
    mgvi_ctx_run(m->ctx, m->systems, solve_system, m);
    for (int32_t s = 0; s < m->systems; s++)
        MGVI_TRY(m->status[s]);
    mgvi_ctx_run(m->ctx, BLOCKS, up_block, &job);
    take_off(m, m->g, out);
    return MGV_OK;
}
