/* landmarks.c - the curvature of the losses over the span of some rows of a kernel. */
#include "solver/parts/landmarks.h"

#include "backend/cpu/gemm.h"

#include <math.h>
#include <string.h>

enum { MOST = 400 };
/* A little more than rounding leaves of K among rows that are alike. */
static const double RIDGE = 1e-11;

/* Making the metric costs rows x count^2, about as much as a product with K for all lanes. */
static int64_t most_rows(const mgv_problem *p)
{
    const double n = (double)p->A->rows, fair = 2 * sqrt(n * p->lanes);
    return (int64_t)fmin(fmin(fair, MOST), ceil(n / 4));
}

mgv_status mgvi_landmarks_init(mgvi_landmarks *m, const mgv_problem *p, mgvi_arena *arena)
{
    const size_t n = (size_t)p->A->rows, k = (size_t)p->lanes, most = (size_t)most_rows(p);
    *m = (mgvi_landmarks){.problem = p, .kernel = mgvi_kernel_of(p->A), .most = (int64_t)most};
    m->curvature = mgvi_arena_array(arena, n, sizeof *m->curvature);
    m->row = mgvi_arena_array(arena, most, sizeof *m->row);
    m->B = mgvi_arena_array(arena, n, most * sizeof *m->B);
    m->t = mgvi_arena_array(arena, most, k * sizeof *m->t);
    m->way = mgvi_arena_array(arena, 3 * most, sizeof *m->way);
    if (!m->curvature || !m->row || !m->B || !m->t || !m->way)
        return MGV_E_MEMORY;
    MGVI_TRY(mgvi_scaled_cholesky_init(&m->inner, arena, (int64_t)most));
    return mgvi_scaled_cholesky_init(&m->metric, arena, (int64_t)most);
}

/* h_i: the second derivative; for softmax a s_i (1 - sum_c p_ic^2), one number for all classes. */
static void measure(mgvi_landmarks *m, const mgvi_vec *z, const mgvi_vec *u)
{
    const mgv_problem *p = m->problem;
    const int32_t k = p->lanes;
    const double share = k == 2 ? 0.5 : 0.3;
    if (!(p->loss->can & MGVI_JOINT)) {
        mgvi_vec out = mgvi_vec_wrap(m->curvature, z->n, MGVI_ROWS);
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
        m->curvature[i] = share * s * fmax(1 - square, 0);
    }
}

/* Rows at equal steps along the sum of the curvatures: each with the probability of its share,
 * and those of a share or more for sure.                                                     (6) */
static void choose(mgvi_landmarks *m)
{
    const int64_t n = m->problem->A->rows;
    double total = 0, sum = 0;
    m->count = 0;
    for (int64_t i = 0; i < n; i++)
        total += m->curvature[i];
    const double stride = total / (double)m->most;
    double next = 0.5 * stride;
    for (int64_t i = 0; i < n && m->count < m->most && stride > 0; i++) {
        sum += m->curvature[i];
        if (m->curvature[i] == 0 || sum < next)
            continue;
        m->row[m->count++] = i;
        next += stride * (1 + floor((sum - next) / stride));
    }
}

static double sign_of(const mgv_problem *p, int64_t i) { return p->sign ? p->sign[i] : 1; }

/* The images of the chosen rows, and their own inner products. */
static mgv_status fill(mgvi_landmarks *m)
{
    const mgv_problem *p = m->problem;
    const int64_t n = p->A->rows, count = m->count;
    MGVI_TRY(mgvi_kernel_columns(m->kernel, m->row, count, m->B));
    for (int64_t i = 0; i < n && p->sign; i++)
        for (int64_t t = 0; t < count; t++)
            m->B[i * count + t] *= p->sign[i] * p->sign[m->row[t]];
    m->inner.n = m->metric.n = count;
    for (int64_t t = 0; t < count; t++)
        memcpy(m->inner.H + t * count, m->B + m->row[t] * count, (size_t)count * sizeof *m->B);
    return MGV_OK;
}

/* What is left of the curvature when the intercept follows: less its part along that column. */
static void project_intercept(mgvi_landmarks *m)
{
    const mgv_problem *p = m->problem;
    const int64_t n = p->A->rows, count = m->count;
    double *sum = m->way, total = 0;
    if (!p->free_cols)
        return;
    memset(sum, 0, (size_t)count * sizeof *sum);
    for (int64_t i = 0; i < n; i++) {
        const double h = m->curvature[i] * sign_of(p, i);
        total += m->curvature[i];
        for (int64_t t = 0; t < count && h != 0; t++)
            sum[t] += h * m->B[i * count + t];
    }
    for (int64_t t = 0; t < count; t++)
        for (int64_t q = t; q < count; q++)
            m->metric.H[t * count + q] -= sum[t] * sum[q] / total;
}

mgv_status mgvi_landmarks_rebuild(mgvi_landmarks *m)
{
    const mgv_problem *p = m->problem;
    choose(m);
    if (m->count == 0)
        return MGV_OK;
    const int64_t count = m->count;
    MGVI_TRY(fill(m));
    MGVI_TRY(mgvi_gram_f64(p->ctx, p->A->rows, count, m->B, count, m->curvature, m->metric.H,
                           count)); /* (7) */
    project_intercept(m);
    for (int64_t t = 0; t < count * count; t++)
        m->metric.H[t] += p->lambda * m->inner.H[t];
    mgv_status st = mgvi_scaled_cholesky_factor(&m->inner, RIDGE);
    st = st == MGV_OK ? mgvi_scaled_cholesky_factor(&m->metric, RIDGE) : st;
    if (st == MGV_E_NUMERIC) /* then without */
        m->count = 0;
    return st == MGV_E_NUMERIC ? MGV_OK : st;
}

mgv_status mgvi_landmarks_refresh(mgvi_landmarks *m, const mgvi_vec *z, const mgvi_vec *u)
{
    measure(m, z, u);
    return mgvi_landmarks_rebuild(m);
}

/* t = B'g becomes the way over the chosen rows: (metric^-1 - inner^-1/lambda) t, lane by lane. */
static mgv_status solve_lanes(mgvi_landmarks *m)
{
    const int64_t count = m->count;
    const int32_t k = m->problem->lanes;
    double *a = m->way, *b = m->way + count;
    for (int32_t c = 0; c < k; c++) {
        for (int64_t t = 0; t < count; t++)
            a[t] = b[t] = m->t[t * k + c];
        MGVI_TRY(mgvi_scaled_cholesky_solve(&m->metric, a, NULL));
        MGVI_TRY(mgvi_scaled_cholesky_solve(&m->inner, b, NULL));
        for (int64_t t = 0; t < count; t++)
            m->t[t * k + c] = m->problem->lambda * a[t] - b[t];
    }
    return MGV_OK;
}

/* (8), times lambda. */
mgv_status mgvi_landmarks_apply(mgvi_landmarks *m, const mgvi_vec *g, const mgvi_vec *image_g,
                                mgvi_vec *out, mgvi_vec *image_out)
{
    mgv_ctx *ctx = m->problem->ctx;
    const int64_t n = g->n, count = m->count, k = g->k;
    const mgvi_gemm_shape down = {
        .m = count, .n = k, .k = n, .transpose_a = true, .lda = count, .ldb = k, .ldc = k};
    const mgvi_gemm_shape up = {.m = n, .n = k, .k = count, .lda = count, .ldb = k, .ldc = k};
    MGVI_TRY(mgvi_gemm_f64(ctx, &down, 1, m->B, g->x, 0, m->t));
    MGVI_TRY(solve_lanes(m));
    mgvi_vec_copy(ctx, g, out);
    mgvi_vec_copy(ctx, image_g, image_out);
    for (int64_t t = 0; t < count; t++)
        for (int64_t c = 0; c < k; c++)
            out->x[m->row[t] * k + c] += m->t[t * k + c];
    return mgvi_gemm_f64(ctx, &up, 1, m->B, m->t, 1, image_out->x);
}
