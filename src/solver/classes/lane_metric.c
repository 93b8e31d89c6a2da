/* lane_metric.c - M_l = lambda I + sum over drawn rows of (h_il/chance_il) x_i x_i', float32 rows,
 * scaled to a unit diagonal and factored.                                                    (9)
 * A row is drawn with a chance that grows with its curvature and with its share of a column's:
 *   chance_i = h_i / sum h + h_i sum_j x_ij^2 / (d E_j),   E_j = sum_i h_i x_ij^2
 * so that a column which few rows have keeps them. Once a lane has a factor M = U'U, by the row's
 * leverage in that instead of the columns, h_i x_i'M^-1 x_i, which is the mean over normal g of
 *   h_i (x_i . U^-1 g)^2                                                                    (9b)
 */
#include "solver/classes/lane_metric.h"

#include "base/limit.h"
#include "linalg/gemm.h"
#include "simd/simd.h"

#include <math.h>
#include <string.h>

enum {
    PIECE = 64, /* rows squared at a time */
    FINE_PIECE = 256
};
enum { PER_COLUMN = 8 }; /* rows drawn: the spectrum of M^-1 H lies within (1 +- 1/sqrt 8)^2 */
/* Of the unit diagonal, for the rounding of sums in float32 and in float64. */
static const double RIDGE = 1e-7, FINE_RIDGE = 1e-14, RIDGE_GROWTH = 1e3;

int64_t mgvi_lane_metric_most(const mgv_problem *p)
{
    const int64_t wanted = PER_COLUMN * p->A->cols;
    return wanted < p->A->rows ? wanted : p->A->rows;
}

double mgvi_lane_metric_bytes(const mgv_problem *p, int32_t lanes)
{
    const double d = (double)p->A->cols;
    return 8 * d * (d * lanes + FINE_PIECE) + (double)mgvi_lane_metric_most(p) * (4 * d + 8) +
           8 * lanes * (3 * (double)p->A->rows + 3 * d);
}

/* Row i, centred and scaled, and its intercept; labels' signs do not matter to squares. */
static void fill_row(const mgvi_lane_metric *m, int64_t i, float *x)
{
    const mgvi_float_rows *r = &m->rows;
    const float *row = mgvi_float_row(r, i, x);
    if (r->view.scale && r->view.centre)
        for (int64_t j = 0; j < r->m.cols; j++)
            x[j] = (float)(r->view.scale[j] * ((double)row[j] - r->view.centre[j]));
    else if (r->view.scale)
        for (int64_t j = 0; j < r->m.cols; j++)
            x[j] = (float)(r->view.scale[j] * (double)row[j]);
    else
        for (int64_t j = 0; j < r->m.cols; j++)
            x[j] = (float)((double)row[j] - mgvi_view_centre(&r->view, j));
    if (r->view.intercept)
        x[r->m.cols] = 1;
}

/* Squares of `count` rows from row i on, into m->x. */
static void fill_squares(const mgvi_lane_metric *m, int64_t i, int64_t count)
{
    for (int64_t t = 0; t < count; t++) {
        float *x = m->x + t * m->cols;
        fill_row(m, i + t, x);
        for (int64_t j = 0; j < m->cols; j++)
            x[j] *= x[j];
    }
}

/* chance_i = h_i sum_j x_ij^2/(d E_j) in all lanes. */
static void weigh_by_columns(mgvi_lane_metric *m, const mgvi_vec *h)
{
    const int64_t n = h->n, d = m->cols, piece = m->most < PIECE ? m->most : PIECE;
    const int32_t k = h->k;
    const mgvi_simd *simd = m->p->ctx->simd;
    memset(m->energy, 0, (size_t)(d * k) * sizeof *m->energy);
    for (int64_t i = 0; i < n && !mgvi_ctx_cut(m->p->ctx); i += piece) {
        const int64_t count = n - i < piece ? n - i : piece;
        fill_squares(m, i, count);
        simd->dense_mul_t_k_f32(m->x, d, count, d, k, h->x + i * k, m->energy);
    }
    for (int64_t t = 0; t < d * k; t++)
        m->energy[t] = m->energy[t] > 0 ? 1 / (m->energy[t] * (double)d) : 0;
    for (int64_t i = 0; i < n && !mgvi_ctx_cut(m->p->ctx); i += piece) {
        const int64_t count = n - i < piece ? n - i : piece;
        fill_squares(m, i, count);
        simd->dense_mul_k_f32(m->x, d, count, d, k, m->energy, m->chance + i * k);
    }
    m->p->A->touched += 2 * (double)m->p->A->nnz;
}

/* The chances of all rows in all lanes, in proportion; leverages join them where there is a factor,
 * and columns that few rows have are theirs to know then. */
static void weigh_rows(mgvi_lane_metric *m, const mgvi_vec *h, const bool *due)
{
    const int32_t k = h->k;
    double total[MGVI_LANES_MAX];
    bool known = true;
    for (int32_t l = 0; l < k; l++)
        known = known && (m->made[l] || !due[l]);
    mgvi_vec_sum(m->p->ctx, h, total);
    if (known)
        memset(m->chance, 0, (size_t)(h->n * k) * sizeof *m->chance);
    else
        weigh_by_columns(m, h);
    for (int64_t t = 0; t < h->n * k; t++)
        m->chance[t] = total[t % k] > 0 ? h->x[t] * (m->chance[t] + 1 / total[t % k]) : 0;
}

/* one = U^-1 g in that lane, in units of the columns. */
static void try_lane(mgvi_lane_metric *m, int32_t lane, mgvi_rng *rng)
{
    const int64_t d = m->cols;
    const double *U = m->factor + lane * d * d, *unit = m->unit + lane * d;
    for (int64_t j = d - 1; j >= 0; j--) {
        double sum = mgvi_rng_normal(rng);
        for (int64_t t = j + 1; t < d; t++)
            sum -= U[j * d + t] * m->one[t];
        m->one[j] = sum / U[j * d + j];
    }
    for (int64_t j = 0; j < d; j++)
        m->tried.x[j * m->tried.k + lane] = unit[j] * m->one[j];
}

/* The lanes that have a factor draw by leverages too. */
static void weigh_by_leverage(mgvi_lane_metric *m, const mgvi_vec *h, mgvi_rng *rng)
{
    enum { DRAWS = 3 };
    const int32_t k = h->k;
    double total[MGVI_LANES_MAX] = {0};
    bool any = false;
    for (int32_t l = 0; l < k; l++)
        any = any || m->made[l];
    if (!any)
        return;
    memset(m->lever, 0, (size_t)(h->n * k) * sizeof *m->lever);
    for (int draw = 0; draw < DRAWS && !mgvi_ctx_cut(m->p->ctx); draw++) {
        mgvi_vec_fill(m->p->ctx, &m->tried, 0);
        for (int32_t l = 0; l < k; l++)
            if (m->made[l])
                try_lane(m, l, rng);
        mgvi_op_mul(m->p->A, 1, &m->tried, 0, &m->score);
        for (int64_t t = 0; t < h->n * k; t++)
            m->lever[t] += h->x[t] * m->score.x[t] * m->score.x[t];
    }
    for (int64_t t = 0; t < h->n * k; t++)
        total[t % k] += m->lever[t];
    for (int64_t t = 0; t < h->n * k; t++)
        if (total[t % k] > 0 && isfinite(total[t % k]))
            m->chance[t] += 2 * m->lever[t] / total[t % k];
}

mgv_status mgvi_lane_metric_new(const mgv_problem *p, mgvi_arena *arena, mgvi_lane_metric *m)
{
    *m = (mgvi_lane_metric){.p = p, .cols = p->A->cols, .most = mgvi_lane_metric_most(p)};
    const size_t d = (size_t)m->cols, most = (size_t)m->most, k = (size_t)p->lanes;
    MGVI_TRY(mgvi_float_rows_new(p->A, arena, &m->rows));
    m->chance = mgvi_arena_array(arena, (size_t)p->A->rows, k * sizeof *m->chance);
    m->energy = mgvi_arena_array(arena, d, k * sizeof *m->energy);
    m->x = mgvi_arena_scratch(arena, most, d * sizeof *m->x);
    m->weight = mgvi_arena_array(arena, most, sizeof *m->weight);
    m->factor = mgvi_arena_scratch(arena, k * d, d * sizeof *m->factor);
    m->unit = mgvi_arena_array(arena, k, d * sizeof *m->unit);
    m->one = mgvi_arena_array(arena, d, sizeof *m->one);
    m->made = mgvi_arena_array(arena, k, sizeof *m->made);
    m->fine = mgvi_arena_array(arena, k, sizeof *m->fine);
    m->wide = mgvi_arena_scratch(arena, FINE_PIECE, d * sizeof *m->wide);
    m->lever = mgvi_arena_array(arena, (size_t)p->A->rows, k * sizeof *m->lever);
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, p->A->cols, p->lanes, &m->tried));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_ROWS, p->A->rows, p->lanes, &m->score));
    return m->made && m->fine && m->wide && m->lever && m->chance && m->energy && m->x &&
                   m->weight && m->factor && m->unit && m->one
               ? MGV_OK
               : MGV_E_MEMORY;
}

/* The factor of a lane's chances that makes their sum, none beyond 1, the rows wanted. */
static double chance_unit(const mgvi_lane_metric *m, const mgvi_vec *h, int32_t lane)
{
    enum { ROUNDS = 6 };
    double unit = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double sum = 0, sure = 0;
        for (int64_t i = 0; i < h->n; i++) {
            const double chance = m->chance[i * h->k + lane];
            const bool capped = unit * chance >= 1;
            sure += capped;
            sum += capped ? 0 : chance;
        }
        const double next = sum > 0 ? ((double)(m->most - 1) - sure) / sum : unit;
        if (!(next > unit * 1.01))
            break;
        unit = next;
    }
    return unit;
}

/* Systematic sampling: a row is taken when the running sum of the chances passes a whole number.
 * How many were. */
static int64_t draw(mgvi_lane_metric *m, const mgvi_vec *h, int32_t lane, mgvi_rng *rng)
{
    double passed = mgvi_rng_uniform(rng);
    int64_t live = 0, count = 0;
    for (int64_t i = 0; i < h->n; i++)
        live += h->x[i * h->k + lane] > 0;
    const double unit = chance_unit(m, h, lane);
    for (int64_t i = 0; i < h->n && count < m->most && !mgvi_ctx_cut_row(m->p->ctx, i); i++) {
        const int64_t at = i * h->k + lane;
        const double chance = live <= m->most ? h->x[at] > 0 : fmin(unit * m->chance[at], 1);
        passed += chance;
        if (passed < 1 || !(h->x[at] > 0))
            continue;
        passed -= 1;
        fill_row(m, i, m->x + count * m->cols);
        m->weight[count++] = h->x[at] / chance;
    }
    return count;
}

/* M = X'diag(weight) X of the rows drawn; the upper triangle at least. */
static mgv_status square_rows(mgvi_lane_metric *m, int64_t count, bool fine, double *M)
{
    const int64_t d = m->cols;
    if (!fine)
        return mgvi_gram_f32(m->p->ctx, count, d, m->x, d, m->weight, M, d);
    memset(M, 0, (size_t)(d * d) * sizeof *M);
    for (int64_t i = 0; i < count; i += FINE_PIECE) {
        const int64_t rows = count - i < FINE_PIECE ? count - i : FINE_PIECE;
        for (int64_t t = 0; t < rows * d; t++)
            m->wide[t] = sqrt(m->weight[i + t / d]) * (double)m->x[i * d + t];
        MGVI_TRY(mgvi_syrk_f64(m->p->ctx, d, rows, 1, m->wide, d, 1, M, d));
    }
    return MGV_OK;
}

static mgv_status factor_lane(mgvi_lane_metric *m, int64_t count, int32_t lane)
{
    const int64_t d = m->cols, penalised = mgvi_problem_penalised(m->p);
    double *M = m->factor + lane * d * d, *unit = m->unit + lane * d;
    for (double ridge = m->fine[lane] ? FINE_RIDGE : RIDGE;; ridge *= RIDGE_GROWTH) {
        int64_t pivot;
        MGVI_TRY(square_rows(m, count, m->fine[lane], M));
        for (int64_t j = 0; j < d; j++) {
            M[j * d + j] += j < penalised ? m->p->lambda : 0;
            unit[j] = M[j * d + j] > 0 ? 1 / sqrt(M[j * d + j]) : 0;
        }
        for (int64_t i = 0; i < d; i++) {
            for (int64_t j = i; j < d; j++)
                M[i * d + j] *= unit[i] * unit[j];
            M[i * d + i] = 1 + ridge;
        }
        MGVI_TRY(mgvi_cholesky(m->p->ctx, d, M, d, &pivot));
        if (pivot < 0)
            return MGV_OK;
        if (!(ridge < 1))
            return MGVI_FAIL(m->p->ctx, MGV_E_NUMERIC, "the curvature of the loss is not finite");
    }
}

mgv_status mgvi_lane_metric_refresh(mgvi_lane_metric *m, const mgvi_vec *h, const bool *due,
                                    mgvi_rng *rng)
{
    bool any = false;
    for (int32_t l = 0; l < h->k; l++)
        any = any || due[l];
    if (!any)
        return MGV_OK;
    weigh_rows(m, h, due);
    weigh_by_leverage(m, h, rng);
    for (int32_t l = 0; l < h->k; l++)
        if (due[l]) {
            const int64_t count = draw(m, h, l, rng);
            m->p->A->touched += (double)count * (double)m->cols;
            MGVI_TRY(factor_lane(m, count, l));
            m->made[l] = true;
        }
    return MGV_OK;
}

mgv_status mgvi_lane_metric_solve(mgvi_lane_metric *m, int32_t lane, const mgvi_vec *r,
                                  mgvi_vec *out)
{
    const int64_t d = m->cols;
    const double *unit = m->unit + lane * d;
    for (int64_t j = 0; j < d; j++)
        m->one[j] = unit[j] * r->x[j * r->k + lane];
    MGVI_TRY(mgvi_cholesky_solve(m->p->ctx, d, m->factor + lane * d * d, d, 1, m->one));
    for (int64_t j = 0; j < d; j++)
        out->x[j * out->k + lane] = unit[j] * m->one[j];
    return MGV_OK;
}
