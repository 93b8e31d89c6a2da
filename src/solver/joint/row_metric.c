/* row_metric.c - the metric of lbfgs; docs/algorithms/lbfgs.md.
 *   h_i = s_i (1 - sum_c p_ic^2),   M = a sum_i h_i x_i x_i' + lambda I,   a = min(1/2, 3/k) (5)
 * over centred and scaled columns, the sum from a sample of about SAMPLE rows, each taken with a
 * probability in proportion to h_i and weighted by its inverse. */
#include "solver/joint/row_metric.h"

#include "linalg/gemm.h"
#include "simd/simd.h"

#include <math.h>
#include <string.h>

enum { SAMPLE_PER_COLUMN = 5, MOST_COLUMNS = 4096 };

double mgvi_row_metric_cost(const mgv_problem *p)
{
    const double d = (double)mgvi_problem_penalised(p), most = 5;
    const double cost =
        (SAMPLE_PER_COLUMN + 1) * d * d * d / (4 * (double)p->A->nnz * (double)p->lanes);
    return d <= MOST_COLUMNS && cost < most ? cost : INFINITY;
}

mgv_status mgvi_row_metric_new(mgvi_run *run, mgvi_row_metric *m)
{
    const mgv_problem *p = run->problem;
    MGVI_TRY(mgvi_float_rows_new(p->A, &run->arena, &m->rows));
    m->d = m->rows.m.cols;
    m->factor = mgvi_run_array(run, (size_t)m->d, (size_t)m->d * sizeof *m->factor);
    m->free = mgvi_run_array(run, (size_t)p->lanes, sizeof *m->free);
    m->h = mgvi_run_array(run, (size_t)m->rows.m.rows, sizeof *m->h);
    if (!m->factor || !m->free || !m->h)
        return MGV_E_MEMORY;
    MGVI_TRY(mgvi_run_keep(run, "metric", MGVI_T_F64, m->factor, m->d * m->d));
    return mgvi_run_keep(run, "free", MGVI_T_F64, m->free, p->lanes);
}

/* h_i of every row, and the intercepts' curvature: sum_i s_i p_ic (1 - p_ic). The sum of h. */
static double weigh_rows(const mgv_problem *p, mgvi_row_metric *m, const mgvi_vec *u)
{
    double total = 0;
    memset(m->free, 0, (size_t)u->k * sizeof *m->free);
    memset(m->h, 0, (size_t)m->rows.m.rows * sizeof *m->h);
    for (int64_t i = 0; i < u->n; i++) {
        const double s = mgvi_coef_pick(&p->row.scale, i, 0);
        const int32_t own = (int32_t)mgvi_coef_pick(&p->row.a, i, 0);
        double squares = 0;
        for (int32_t c = 0; s > 0 && c < u->k; c++) {
            const double prob = u->x[i * u->k + c] / s + (c == own);
            squares += prob * prob;
            m->free[c] += s * prob * (1 - prob);
        }
        m->h[i] = s > 0 ? s * fmax(1 - squares, 0) : 0;
        total += m->h[i];
    }
    return total;
}

/* Keeps about `count` rows, in proportion to their weight; those that stay are weighted up. */
static void sample_rows(mgvi_rng *rng, double *h, int64_t rows, double total, int64_t count)
{
    for (int64_t i = 0; i < rows; i++) {
        const double chance = (double)count * h[i] / total;
        const double draw = mgvi_rng_uniform(rng);
        if (chance < 1)
            h[i] = draw < chance ? total / (double)count : 0;
    }
}

static mgv_status sum_squares(mgvi_run *run, mgvi_row_metric *m)
{
    const mgvi_matrix *X = &m->rows.m;
    for (int64_t i = 0; m->rows.view.row_scale && i < X->rows; i++)
        m->h[i] *= m->rows.view.row_scale[i] * m->rows.view.row_scale[i];
    if (X->dtype == MGV_F32)
        return mgvi_gram_f32(run->ctx, X->rows, X->cols, X->val, X->row_stride, m->h, m->factor,
                             m->d);
    return mgvi_gram_f64(run->ctx, X->rows, X->cols, X->val, X->row_stride, m->h, m->factor, m->d);
}

/* sum h x x' to M: sum h (x - mu)(x - mu)' = sum h x x' - y mu' - mu y' + t mu mu', with
 * y = sum h x and t = sum h. */
static void finish_metric(mgvi_run *run, mgvi_row_metric *m, double *y)
{
    const double a = run->problem->lanes == 2 ? 0.5 : 0.3;
    const double *mu = m->rows.view.centre, *scale = m->rows.view.scale;
    const mgvi_simd *simd = run->ctx->simd;
    double t = 0;
    for (int64_t i = 0; mu && i < m->rows.m.rows; i++) {
        if (m->h[i] == 0)
            continue;
        t += m->h[i];
        const int64_t at = i * m->rows.m.row_stride;
        if (m->rows.m.dtype == MGV_F32)
            simd->axpy_f32(m->h[i], (const float *)m->rows.m.val + at, y, m->d);
        else
            simd->axpy_f64(m->h[i], (const double *)m->rows.m.val + at, y, m->d);
    }
    for (int64_t i = 0; i < m->d; i++)
        for (int64_t j = 0; j < m->d; j++) {
            double *at = &m->factor[i * m->d + j];
            if (mu)
                *at += t * mu[i] * mu[j] - y[i] * mu[j] - mu[i] * y[j];
            *at *= a * (scale ? scale[i] * scale[j] : 1);
            *at += i == j ? run->problem->lambda : 0;
        }
}

mgv_status mgvi_row_metric_refresh(mgvi_run *run, mgvi_row_metric *m, const mgvi_vec *u)
{
    int64_t pivot;
    const double total = weigh_rows(run->problem, m, u);
    sample_rows(&run->rng, m->h, m->rows.m.rows, total, SAMPLE_PER_COLUMN * m->d);
    double *y = mgvi_zeros(run->ctx, (size_t)m->d, sizeof *y);
    mgv_status st = y ? sum_squares(run, m) : MGV_E_MEMORY;
    if (st == MGV_OK) {
        finish_metric(run, m, y);
        st = mgvi_cholesky(run->ctx, m->d, m->factor, m->d, &pivot);
    }
    mgvi_release(run->ctx, y);
    MGVI_TRY(st);
    for (int32_t c = 0; c < u->k; c++)
        m->free[c] = fmax(m->free[c], 1e-6);
    return pivot < 0 ? MGV_OK
                     : MGVI_FAIL(run->ctx, MGV_E_NUMERIC,
                                 "the metric is not positive at column %" PRId64, pivot + 1);
}

mgv_status mgvi_row_metric_solve(mgvi_run *run, const mgvi_row_metric *m, mgvi_vec *x)
{
    MGVI_TRY(mgvi_cholesky_solve(run->ctx, m->d, m->factor, m->d, x->k, x->x));
    for (int32_t c = 0; m->rows.view.intercept && c < x->k; c++)
        x->x[m->d * x->k + c] /= m->free[c];
    return MGV_OK;
}
