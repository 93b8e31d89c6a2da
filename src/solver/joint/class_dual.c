/* class_dual.c - conjugate gradients for (10), and what softmax makes of it. */
#include "solver/joint/class_dual.h"

#include "backend/vec.h"
#include "base/limit.h"
#include "solver/joint/class_system.h"

#include <math.h>
#include <string.h>

enum { MOST_PRODUCTS = 500 };
/* Of the gap: what conjugate gradients leave of a step. */
static const double ACCURACY = 0.1;
/* Probabilities below are taken for it. */
static const double LEAST_SHARE = 1e-16;
/* Of a probability, the least that is left of it where the linear step would take it below. */
static const double PART = 0.1;
/* By columns: times kappa, since what (13) leaves of the intercepts' sums is their change over it, and
 * factors mind no scale. */
static const double SURE = 1000;
static const double AWAY = 1e-4; /* from the sides of the simplices, at the start */

/* Bytes for all rows. */
static double bytes_of(const mgv_problem *p)
{
    const double rows = (double)p->A->rows, entries = (double)p->A->nnz;
    const double k = p->lanes, vectors = 7; /* ours and h */
    return rows * (MGVI_PACKED_BYTES_A_ROW + MGVI_CLASS_METRIC_BYTES + 8 * vectors * k) +
           MGVI_PACKED_BYTES_AN_ENTRY * entries + 8 * k * (k + (double)p->A->cols);
}

/* kappa = mean |x_i|^2/lambda: b counts as much as what the weights make of a row; and no less than
 * the rows' own curvature wants, or b would crawl where the weights have next to no say. */
static double intercepts_share(const mgv_problem *p, const mgvi_class_dual *d)
{
    static const double LEAST = 100;
    double sum = 0, weight = 0;
    for (int64_t k = 0; k < d->metric.count; k++) {
        const double share = mgvi_coef_pick(&p->row.scale, k, 0);
        sum += share * d->metric.square[k];
        weight += share;
    }
    return fmax(sum, LEAST) / weight;
}

bool mgvi_class_dual_fits(const mgv_problem *p)
{
    static const double MOST_CLASSES = 32; /* for every entry of a row: the intercepts' matrix */
    static const double MOST_BYTES = 256 << 20;
    const double n = (double)p->A->rows;
    return !mgvi_op_is_dense(p->A) && p->A->cols >= p->A->rows && n <= INT32_MAX &&
           mgvi_class_system_reads(p->A) && p->lanes * n <= MOST_CLASSES * (double)p->A->nnz &&
           !isfinite(mgvi_class_hessian_cost(p)) && bytes_of(p) <= MOST_BYTES;
}

static mgv_status columns_new(mgvi_run *run, mgvi_class_dual *out)
{
    if (!(out->by_columns = mgvi_run_array(run, 1, sizeof *out->by_columns)))
        return MGV_E_MEMORY;
    return mgvi_class_columns_new(run, out->by_columns);
}

mgv_status mgvi_class_dual_new(mgvi_run *run, bool by_columns, mgvi_class_dual *out)
{
    const mgv_problem *p = run->problem;
    const int64_t count = p->A->rows;
    mgvi_arena *arena = &run->arena;
    mgvi_rows *rows;
    int32_t *member = mgvi_run_array(run, (size_t)count, sizeof *member);
    if (!member)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < count; i++)
        member[i] = (int32_t)i;
    MGVI_TRY(mgvi_rows_new(p->A, arena, &rows));
    *out = (mgvi_class_dual){.ctx = p->ctx, .inverse_lambda = 1 / p->lambda, .tau = 1};
    MGVI_TRY(MGVI_VECTORS(arena, (size_t)count * (size_t)p->lanes, &out->v, &out->y, &out->residual,
                          &out->dir, &out->image, &out->scaled));
    if (by_columns)
        MGVI_TRY(columns_new(run, out));
    else
        MGVI_TRY(mgvi_packed_rows_new(arena, rows, member, count, p->lanes, &out->packed));
    MGVI_TRY(mgvi_class_metric_new(p->ctx, arena, count, p->lanes, &out->metric));
    for (int64_t k = 0; k < count; k++) {
        out->metric.row[k] = mgvi_rows_source(rows, member[k]);
        out->metric.square[k] = mgvi_rows_square_norm(rows, member[k]) / p->lambda;
    }
    out->metric.kappa = p->free_cols ? intercepts_share(p, out) : 0;
    if (!by_columns)
        MGVI_TRY(mgvi_class_metric_group(&rows->m, &out->metric));
    else if (p->free_cols)
        out->by_columns->rho = 1 / (out->metric.kappa *= SURE);
    MGVI_TRY(mgvi_run_keep(run, "dual_gap", MGVI_T_F64, &out->gap, 1));
    MGVI_TRY(mgvi_run_keep(run, "dual_rest", MGVI_T_F64, &out->rest, 1));
    return mgvi_run_keep(run, "v", MGVI_T_F64, out->v, count * p->lanes);
}

/* All rows and lanes as one vector. */
static mgvi_vec whole(const mgvi_class_dual *d, double *x)
{
    return mgvi_vec_wrap(x, d->metric.count * d->metric.k, MGVI_ROWS);
}

static double dot(const mgvi_class_dual *d, double *x, double *y)
{
    const mgvi_vec a = whole(d, x), b = whole(d, y);
    double sum;
    mgvi_vec_dot(d->ctx, &a, &b, &sum);
    return sum;
}

/* y = a x + b y */
static void combine(const mgvi_class_dual *d, double a, double *x, double b, double *y)
{
    const mgvi_vec from = whole(d, x);
    mgvi_vec to = whole(d, y);
    mgvi_vec_axpby(d->ctx, a, &from, b, &to);
}

/* image = A L A' dir without J^-1. */
static void square(mgvi_class_dual *d)
{
    const int64_t n = d->metric.count;
    const int32_t k = d->metric.k;
    double *sum = d->metric.shift; /* nobody's between two solves */
    mgvi_packed_rows_square(&d->packed, d->dir, d->image);
    memset(sum, 0, (size_t)k * sizeof *sum);
    for (int64_t i = 0; i < n && d->metric.kappa > 0; i++)
        for (int32_t j = 0; j < k; j++)
            sum[j] += d->metric.kappa * d->dir[i * k + j];
    for (int64_t i = 0; i < n; i++)
        for (int32_t j = 0; j < k; j++)
            d->image[i * k + j] = d->inverse_lambda * d->image[i * k + j] + sum[j];
}

/* image += J^-1 dir */
static void add_curvature(mgvi_class_dual *d)
{
    const int64_t numbers = d->metric.count * d->metric.k;
    const double *h = d->metric.h;
    for (int64_t t = 0; t < numbers; t++)
        d->image[t] = h[t] > 0 ? d->image[t] + d->dir[t] / h[t] : 0;
}

/* What the quadratic models of the dual, r'M^-1 r, and of the primal, r'J K M^-1 r, have left to
 * gain, times two, were rows orthogonal; x = M^-1 r. */
static double left(const mgvi_class_dual *d, const double *x)
{
    const int32_t k = d->metric.k;
    double sum = 0;
    for (int64_t i = 0; i < d->metric.count; i++) {
        const double c = d->metric.square[i], *h = d->metric.h + i * k;
        for (int32_t j = 0; j < k; j++) {
            const double y = x[i * k + j];
            sum += y * d->residual[i * k + j] + c * (1 + c * h[j]) * y * y;
        }
    }
    return sum;
}

/* y from `residual`, which is lost, until the square of the residual in the norm of the metric is
 * `enough`: about twice what the quadratic model has left to gain. Counts the products.
 * MGV_E_NUMERIC: not positive. */
static mgv_status solve(mgvi_class_dual *d, double enough, int64_t most, int64_t *products)
{
    const size_t bytes = (size_t)(d->metric.count * d->metric.k) * sizeof *d->y;
    memset(d->y, 0, bytes);
    MGVI_TRY(mgvi_class_metric_ready(&d->metric));
    MGVI_TRY(mgvi_class_metric_solve(&d->metric, d->residual, d->dir));
    double size = dot(d, d->residual, d->dir);
    double remains = left(d, d->dir);
    for (int64_t t = 0; t < most && remains > enough && !mgvi_ctx_cut(d->ctx); t++) {
        square(d);
        add_curvature(d);
        ++*products;
        const double curvature = dot(d, d->dir, d->image);
        if (!(curvature > 0)) /* of rounding */
            break;
        combine(d, size / curvature, d->dir, 1, d->y);
        combine(d, -size / curvature, d->image, 1, d->residual);
        MGVI_TRY(mgvi_class_metric_solve(&d->metric, d->residual, d->scaled));
        const double next = dot(d, d->residual, d->scaled);
        remains = left(d, d->scaled);
        combine(d, 1, d->scaled, next / size, d->dir);
        size = next;
    }
    return MGV_OK;
}

/* ---- softmax --------------------------------------------------------------------------------- */

typedef struct softmax_row {
    double s;
    int32_t own;
} softmax_row;

static softmax_row row_of(const mgv_problem *p, int64_t i)
{
    return (softmax_row){mgvi_coef_pick(&p->row.scale, i, 0),
                         (int32_t)mgvi_coef_pick(&p->row.a, i, 0)};
}

/* The probability that v = s (q - [own]) stands for. */
static double probability(softmax_row r, int32_t j, double v)
{
    return fmax(v / r.s + (j == r.own), LEAST_SHARE);
}

/* (p - q)/(log p - log q); p itself may be too small for a number */
static double logarithmic_mean(double log_p, double q)
{
    const double apart = log_p - log(q);
    return fabs(apart) < 1e-4 ? q * (1 + apart / 2) : (exp(log_p) - q) / apart;
}

/* h_ij = s_i times the logarithmic mean of p_ij and q_ij, so that J^-1 (U - V) = log p - log q; and
 * R = J^-1 (U - V) - A L (lambda W + A'V), the latter in `right`.                            (9) */
static void fill_softmax(const mgv_problem *problem, mgvi_class_dual *d, const double *log_p,
                         const double *right)
{
    const int32_t k = d->metric.k;
    for (int64_t i = 0; i < d->metric.count; i++) {
        const softmax_row r = row_of(problem, i);
        double *h = d->metric.h + i * k;
        for (int32_t j = 0; j < k; j++) {
            const int64_t at = i * k + j;
            if (!(r.s > 0)) {
                h[j] = d->residual[at] = 0;
                continue;
            }
            const double q = probability(r, j, d->v[at]);
            h[j] = r.s * logarithmic_mean(log_p[at], q) / d->tau;
            d->residual[at] = d->tau * (log_p[at] - log(q)) - right[at];
        }
    }
}

/* rest = L (lambda W + A'V), where V lies: 0 of W = -A'V/lambda. Returns the square of its length
 * over 2. */
static double find_rest(const mgv_problem *p, mgvi_class_dual *d, const mgvi_vec *w, mgvi_vec *rest)
{
    const int64_t penalised = mgvi_problem_penalised(p) * w->k;
    const mgvi_vec v = {.x = d->v, .n = d->metric.count, .k = d->metric.k, .space = MGVI_ROWS};
    double square = 0;
    mgvi_op_mul_t(p->A, 1, &v, 0, rest);
    for (int64_t t = 0; t < penalised; t++) {
        rest->x[t] = w->x[t] + d->inverse_lambda * rest->x[t];
        square += rest->x[t] * rest->x[t];
    }
    for (int64_t t = penalised; t < w->n * w->k; t++)
        rest->x[t] *= d->metric.kappa;
    return p->lambda / 2 * square;
}

/* h, U in `residual` and Y = U - V, without its part J A D, in `y`. */
static void fill_columns(const mgv_problem *p, mgvi_class_dual *d, const double *log_p)
{
    const int32_t k = d->metric.k;
    for (int64_t i = 0; i < d->metric.count; i++) {
        const softmax_row r = row_of(p, i);
        double *h = d->metric.h + i * k, *u = d->residual + i * k, *v = d->v + i * k, others = 0;
        for (int32_t j = 0; j < k; j++) {
            const double at = log_p[i * k + j];
            h[j] = r.s > 0 ? r.s * logarithmic_mean(at, probability(r, j, v[j])) / d->tau : 0;
            u[j] = r.s * exp(at);
            others += j == r.own ? 0 : u[j];
        }
        u[r.own] = -others;
        for (int32_t j = 0; j < k; j++)
            d->y[i * k + j] = u[j] - v[j];
    }
}

/* (13), and Y = U - V + J A D */
static mgv_status direction_by_columns(mgvi_run *run, mgvi_class_dual *d, const double *log_p,
                                       const mgvi_vec *w, mgvi_vec *g, mgvi_vec *direction)
{
    const mgv_problem *p = run->problem;
    const int64_t n = d->metric.count, penalised = mgvi_problem_penalised(p) * w->k;
    const mgvi_vec u = {.x = d->residual, .n = n, .k = w->k, .space = MGVI_ROWS};
    mgvi_vec bent = {.x = d->image, .n = n, .k = w->k, .space = MGVI_ROWS};
    mgvi_class_columns *c = d->by_columns;
    fill_columns(p, d, log_p);
    mgvi_op_mul_t(p->A, 1, &u, 0, g);
    for (int64_t t = 0; t < penalised; t++)
        g->x[t] += p->lambda * w->x[t];
    c->h = d->metric.h;
    c->square = d->metric.square;
    c->z = (mgvi_vec){.x = d->scaled, .n = n, .k = w->k, .space = MGVI_ROWS};
    MGVI_TRY(mgvi_class_columns_solve(c, g, ACCURACY * (d->gap + d->rest), direction, &bent));
    combine(d, 1, bent.x, 1, d->y);
    return MGV_OK;
}

mgv_status mgvi_class_dual_direction(mgvi_run *run, mgvi_class_dual *d, const mgvi_vec *log_p,
                                     const mgvi_vec *w, mgvi_vec *rest, mgvi_vec *direction)
{
    const mgv_problem *p = run->problem;
    const int64_t penalised = mgvi_problem_penalised(p) * w->k;
    mgvi_vec right = {.x = d->image, .n = d->metric.count, .k = d->metric.k, .space = MGVI_ROWS};
    const mgvi_vec y = {.x = d->y, .n = d->metric.count, .k = d->metric.k, .space = MGVI_ROWS};
    int64_t products = 0;
    if (d->by_columns)
        return direction_by_columns(run, d, log_p->x, w, rest, direction);
    find_rest(p, d, w, rest);
    mgvi_op_mul(p->A, 1, rest, 0, &right);
    fill_softmax(p, d, log_p->x, right.x);
    const double before = d->packed.touched;
    MGVI_TRY(solve(d, ACCURACY * d->gap, MOST_PRODUCTS, &products));
    run->touched += d->packed.touched - before;
    mgvi_op_mul_t(p->A, -1, &y, 0, direction);
    for (int64_t t = 0; t < w->n * w->k; t++)
        direction->x[t] =
            (t < penalised ? d->inverse_lambda : d->metric.kappa) * direction->x[t] - rest->x[t];
    return MGV_OK;
}

void mgvi_class_dual_follow(const mgv_problem *p, mgvi_class_dual *d, double step,
                            const mgvi_vec *log_p)
{
    const int32_t k = d->metric.k;
    for (int64_t i = 0; i < d->metric.count; i++) {
        const softmax_row r = row_of(p, i);
        double *v = d->v + i * k, *q = d->dir + i * k, sum = 0;
        if (!(r.s > 0))
            continue;
        for (int32_t j = 0; j < k; j++) {
            const double from = probability(r, j, v[j]), to = from + step * d->y[i * k + j] / r.s;
            q[j] = to > PART * from
                       ? to
                       : fmin(PART * from, fmax(exp(log_p->x[i * k + j]), LEAST_SHARE));
            sum += q[j];
        }
        for (int32_t j = 0; j < k; j++)
            v[j] = r.s * (q[j] / sum - (j == r.own));
    }
}

void mgvi_class_dual_start(const mgv_problem *p, mgvi_class_dual *d)
{
    const int32_t k = d->metric.k;
    for (int64_t i = 0; i < d->metric.count; i++) {
        const softmax_row r = row_of(p, i);
        for (int32_t j = 0; j < k; j++) {
            const double own = j == r.own, q = r.s > 0 ? d->v[i * k + j] / r.s + own : own;
            d->v[i * k + j] = r.s * ((1 - AWAY) * fmin(fmax(q, 0), 1) + AWAY / k - own);
        }
    }
}

double mgvi_class_dual_gap(const mgv_problem *p, mgvi_class_dual *d, const mgvi_vec *log_p,
                           const mgvi_vec *w, mgvi_vec *rest)
{
    const int32_t k = d->metric.k;
    double sums = 0;
    d->rest = find_rest(p, d, w, rest);
    d->gap = 0;
    for (int64_t t = mgvi_problem_penalised(p) * k; t < w->n * k; t++)
        sums += fabs(rest->x[t]) / d->metric.kappa;
    for (int64_t i = 0; i < d->metric.count; i++) {
        const softmax_row r = row_of(p, i);
        for (int32_t j = 0; j < k && r.s > 0; j++) {
            const double q = probability(r, j, d->v[i * k + j]);
            d->gap += d->tau * r.s * q * (log(q) - log_p->x[i * k + j]);
        }
    }
    return d->gap + d->rest + sums;
}

void mgvi_class_dual_scores(const mgv_problem *p, const mgvi_vec *w, mgvi_vec *log_p)
{
    const int32_t k = w->k;
    mgvi_op_mul(p->A, 1, w, 0, log_p);
    for (int64_t i = 0; i < log_p->n; i++) {
        double *z = log_p->x + i * k, most = -INFINITY, sum = 0;
        for (int32_t j = 0; j < k; j++)
            most = fmax(most, z[j]);
        for (int32_t j = 0; j < k; j++)
            sum += exp(z[j] - most);
        for (int32_t j = 0; j < k; j++)
            z[j] -= most + log(sum);
    }
}
