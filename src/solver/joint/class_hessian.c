/* class_hessian.c - the second derivative of softmax (7), or of another loss whose rows have such a
 * curvature; docs/algorithms/lbfgs.md.
 *   H_ab = -G_ab,  H_aa = sum_(b != a) G_ab + lambda I,  G_ab = sum_i s_i q_ia q_ib x_i x_i'   (6)
 *   q_i = (1 - e_i) p_i + e_i [own class],   e_i = (1 - p_i,own)^2/2                           (7)
 * Intercepts are a column of A. Adding one number to all of them changes nothing: that direction
 * alone, where the gradient is 0, is given a curvature. With more than SAMPLE rows per unknown the
 * sums are over rows drawn with a chance that grows with their curvature and with their share of a
 * column's (8), and weighted by its inverse. */
#include "solver/joint/class_hessian.h"

#include "base/limit.h"
#include "linalg/gemm.h"
#include "op/stored.h"
#include "simd/simd.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    MOST_UNKNOWNS = 1024,
    SAMPLE = 20,
    MOST_NUMBERS = 1 << 23, /* of the rows drawn */
    PIECE = 256             /* rows at once on their way into sums of float64 */
};

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

int64_t mgvi_class_hessian_most(const mgv_problem *p)
{
    return least_of(p->A->rows, MOST_NUMBERS / p->A->cols);
}

int64_t mgvi_class_hessian_sample(const mgv_problem *p)
{
    return least_of(SAMPLE * p->A->cols * p->lanes, mgvi_class_hessian_most(p));
}

/* Whether rows can be read where they lie. */
static bool by_rows(const mgv_problem *p)
{
    return p->A->view && !p->A->view->sign && mgvi_matrix_by_rows(p->A->stored);
}

double mgvi_class_hessian_cost(const mgv_problem *p)
{
    const double d = (double)p->A->cols, k = p->lanes, size = d * k;
    if (!by_rows(p) || size > MOST_UNKNOWNS)
        return INFINITY;
    const double products = (double)mgvi_class_hessian_sample(p) * d * d * k * (k - 1) / 2;
    return (products + size * size * size / 3) / (4 * (double)p->A->nnz * k);
}

int64_t mgvi_class_hessian_apart_rows(const mgv_problem *p)
{
    static const double HELD = 5, PART = 0.75; /* numbers a row and lane; of what may be spent */
    static const double LEAST = 3;             /* rows a column: fewer say little of a block */
    const double d = (double)p->A->cols, k = p->lanes;
    const double most = (double)mgvi_class_hessian_most(p);
    const double left =
        PART * mgvi_problem_spare(p, HELD) - 2 * k * d * (d + 1) - 8 * d * fmax(d, k);
    const double rows = fmin(most, floor(left / (4 * d + 8 * (k + 2))));
    return by_rows(p) && rows >= fmin(most, LEAST * d) ? (int64_t)rows : 0;
}

double mgvi_class_hessian_blocks_cost(const mgv_problem *p)
{
    const double d = (double)p->A->cols, k = p->lanes;
    const double rows = (double)mgvi_class_hessian_apart_rows(p);
    return rows > 0 ? (2 * rows * d * d + k * d * d * d / 3) / (4 * (double)p->A->nnz * k)
                    : INFINITY;
}

static mgv_status allocate_apart(mgvi_run *run, mgvi_class_hessian *h)
{
    const size_t d = (size_t)run->problem->A->cols, k = (size_t)run->problem->lanes;
    const size_t factors = (size_t)h->packed_size * k;
    const size_t needed = (factors + (size_t)h->most * d) * sizeof(float);
    h->room_bytes = h->room_bytes > needed ? h->room_bytes : needed;
    h->room = mgvi_run_array(run, h->room_bytes / sizeof(double) + 1, sizeof(double));
    h->wide = mgvi_run_array(run, PIECE, d * sizeof *h->wide);
    if (!h->room || !h->wide)
        return MGV_E_MEMORY;
    h->packed = h->room;
    h->x = h->packed + factors;
    return mgvi_run_keep(run, "fine", MGVI_T_U8, &h->fine, sizeof h->fine);
}

mgv_status mgvi_class_hessian_new(mgvi_run *run, bool apart, int64_t rows, mgvi_class_hessian *h)
{
    const mgv_problem *p = run->problem;
    const size_t d = (size_t)p->A->cols, k = (size_t)p->lanes;
    h->most = rows;
    const size_t most = (size_t)h->most;
    h->apart = apart;
    h->size = p->A->cols * p->lanes;
    MGVI_TRY(mgvi_float_rows_new(p->A, &run->arena, &h->rows));
    h->packed_size = apart ? p->A->cols * (p->A->cols + 1) / 2 : 0;
    if (apart)
        MGVI_TRY(allocate_apart(run, h));
    else
        h->factor = mgvi_run_array(run, (size_t)h->size, d * k * sizeof *h->factor);
    h->unit = mgvi_run_array(run, d, k * sizeof *h->unit);
    h->block = mgvi_run_array(run, d, (apart && k > d ? k : d) * sizeof *h->block);
    h->chance = mgvi_run_array(run, (size_t)p->A->rows, sizeof *h->chance);
    if (!apart)
        h->x = mgvi_run_array(run, most, d * sizeof *h->x);
    h->p = mgvi_run_array(run, most, k * sizeof *h->p);
    h->share = mgvi_run_array(run, most, sizeof *h->share);
    h->weight = mgvi_run_array(run, most, sizeof *h->weight);
    return (h->factor || h->packed) && h->unit && h->block && h->chance && h->x && h->p &&
                   h->share && h->weight
               ? MGV_OK
               : MGV_E_MEMORY;
}

double mgvi_softmax_curvature(const void *slopes, int64_t i, double *q, double *share)
{
    const mgv_problem *p = ((const mgvi_softmax_slopes *)slopes)->problem;
    const mgvi_vec *u = ((const mgvi_softmax_slopes *)slopes)->u;
    const double s = *share = mgvi_coef_pick(&p->row.scale, i, 0);
    const int32_t own = (int32_t)mgvi_coef_pick(&p->row.a, i, 0);
    if (!(s > 0))
        return 0;
    const double missed = fmin(-u->x[i * u->k + own] / s, 1), e = 0.5 * missed * missed;
    double left = 1;
    for (int32_t c = 0; c < u->k; c++) {
        const double prob = fmax(u->x[i * u->k + c] / s + (c == own), 0);
        q[c] = (1 - e) * prob + e * (c == own);
        left -= q[c] * q[c];
    }
    return s * fmax(left, 1e-12);
}

/* Row i of A, centred and scaled, without its intercept. */
static void fill_row(const mgvi_class_hessian *h, int64_t i, float *x)
{
    const float *row = mgvi_float_row(&h->rows, i, x);
    for (int64_t j = 0; j < h->rows.m.cols; j++)
        x[j] = (float)(mgvi_view_scale(&h->rows.view, j) *
                       ((double)row[j] - mgvi_view_centre(&h->rows.view, j)));
}

/* h_i = curvature of row i; chance_i = h_i/sum h + h_i sum_j x_ij^2/E_j /d, E_j = sum_i h_i x_ij^2:
 * a column that few rows have keeps them.                                                   (8) */
static void weigh_rows(mgvi_class_hessian *h, const mgvi_class_curvature *of)
{
    static const double NOTHING = 1e-16; /* of all curvature: such rows have none */
    const int64_t d = h->rows.m.cols, n = h->rows.view.rows;
    double total = 0, share;
    memset(h->block, 0, (size_t)d * sizeof *h->block);
    h->live = 0;
    for (int64_t i = 0; i < n; i++)
        total += h->chance[i] = of->row(of->arg, i, h->p, &share);
    for (int64_t i = 0; i < n; i++) {
        h->chance[i] = h->chance[i] > NOTHING * total ? h->chance[i] : 0;
        h->live += h->chance[i] > 0;
    }
    for (int64_t i = 0; i < n && h->live > h->most; i++) {
        if (h->chance[i] == 0)
            continue;
        fill_row(h, i, h->x);
        for (int64_t j = 0; j < d; j++)
            h->block[j] += h->chance[i] * (double)(h->x[j] * h->x[j]);
    }
    if (h->live <= h->most)
        return;
    for (int64_t j = 0; j < d; j++)
        h->block[j] = h->block[j] > 0 ? 1 / (h->block[j] * (double)d) : 0;
    for (int64_t i = 0; i < n; i++) {
        share = 1 / total;
        if (h->chance[i] > 0)
            fill_row(h, i, h->x);
        for (int64_t j = 0; j < d && h->chance[i] > 0; j++)
            share += h->block[j] * (double)(h->x[j] * h->x[j]);
        h->chance[i] *= share;
    }
}

/* The factor of the chances that makes their sum, none beyond 1, the rows wanted; for the whole
 * matrix, whose sample is large enough without, their sum whatever they are. */
static double chance_unit(const mgvi_class_hessian *h)
{
    const int rounds = h->apart ? 6 : 1;
    double unit = 0;
    for (int round = 0; round < rounds; round++) {
        double sum = 0, sure = 0;
        for (int64_t i = 0; i < h->rows.view.rows; i++) {
            const bool certain = unit * h->chance[i] >= 1;
            sure += certain;
            sum += certain ? 0 : h->chance[i];
        }
        const double next = sum > 0 ? ((double)(h->most - 1) - sure) / sum : unit;
        if (!(next > 1.01 * unit))
            break;
        unit = next;
    }
    return unit;
}

/* Systematic sampling: a row is taken when the running sum of the chances passes a whole number. */
static void draw_rows(mgvi_run *run, mgvi_class_hessian *h, const mgvi_class_curvature *of)
{
    const mgv_problem *p = run->problem;
    weigh_rows(h, of);
    const double unit = h->live > h->most ? chance_unit(h) : 0;
    double passed = mgvi_rng_uniform(&run->rng);
    h->count = 0;
    for (int64_t i = 0; i < h->rows.view.rows && h->count < h->most; i++) {
        const double chance = h->live <= h->most ? h->chance[i] > 0 : fmin(unit * h->chance[i], 1);
        passed += chance;
        if (passed < 1)
            continue;
        passed -= 1;
        if (h->chance[i] > 0) {
            float *x = h->x + h->count * p->A->cols;
            fill_row(h, i, x);
            if (h->rows.view.intercept)
                x[h->rows.m.cols] = 1;
            of->row(of->arg, i, h->p + h->count * p->lanes, &h->share[h->count]);
            h->share[h->count++] /= chance;
        }
    }
}

/* G_ab to its four places. */
static void add_block(const mgvi_run *run, mgvi_class_hessian *h, int32_t a, int32_t b)
{
    const int64_t d = run->problem->A->cols, k = run->problem->lanes, n = h->size;
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++) {
            const double g = h->block[i * d + j];
            h->factor[(i * k + a) * n + j * k + a] += g;
            h->factor[(i * k + b) * n + j * k + b] += g;
            h->factor[(i * k + a) * n + j * k + b] -= g;
            h->factor[(i * k + b) * n + j * k + a] -= g;
        }
}

static mgv_status sum_pairs(mgvi_run *run, mgvi_class_hessian *h, int32_t k)
{
    const int64_t d = run->problem->A->cols;
    for (int32_t a = 0; a < k; a++)
        for (int32_t b = a + 1; b < k; b++) {
            for (int64_t i = 0; i < h->count; i++)
                h->weight[i] = h->share[i] * h->p[i * k + a] * h->p[i * k + b];
            MGVI_TRY(mgvi_gram_f32(run->ctx, h->count, d, h->x, d, h->weight, h->block, d));
            add_block(run, h, a, b);
        }
    return MGV_OK;
}

static mgv_status not_positive(mgvi_run *run, int64_t pivot)
{
    return pivot < 0
               ? MGV_OK
               : MGVI_FAIL(run->ctx, MGV_E_NUMERIC,
                           "the second derivative is not positive at unknown %" PRId64, pivot + 1);
}

static const double JITTER = 1e-12;

/* Weights of the rows in H_aa = sum_i share_i q_ia (sum_c q_ic - q_ia) x_i x_i'. */
static void weigh_class(mgvi_class_hessian *h, int64_t k, int64_t a)
{
    for (int64_t i = 0; i < h->count; i++) {
        const double *q = h->p + i * k;
        double others = 0;
        for (int64_t c = 0; c < k && q[a] > 0; c++)
            others += c == a ? 0 : q[c];
        h->weight[i] = h->share[i] * q[a] * others;
    }
}

/* The block with a unit diagonal, and the factors that give it one: float32 keeps the digits of
 * columns of any size. */
static void scale_block(int64_t d, double *block, double *unit)
{
    for (int64_t t = 0; t < d; t++)
        unit[t] = 1 / sqrt(block[t * d + t]);
    for (int64_t t = 0; t < d; t++)
        for (int64_t j = t; j < d; j++)
            block[t * d + j] *= unit[t] * unit[j];
}

/* Row t of U has the entries t .. d - 1; where it begins. */
static int64_t packed_row(int64_t d, int64_t t) { return t * d - t * (t - 1) / 2; }

/* block = sum_i weight_i x_i x_i' of the rows drawn; the upper triangle at least. */
static mgv_status square_rows(mgvi_run *run, mgvi_class_hessian *h)
{
    const int64_t d = run->problem->A->cols;
    int64_t filled = 0;
    if (!h->fine)
        return mgvi_gram_f32(run->ctx, h->count, d, h->x, d, h->weight, h->block, d);
    memset(h->block, 0, (size_t)(d * d) * sizeof *h->block);
    for (int64_t i = 0; i < h->count; i++) {
        const double root = sqrt(h->weight[i]);
        double *wide = h->wide + filled * d;
        for (int64_t j = 0; j < d && root > 0; j++)
            wide[j] = root * (double)h->x[i * d + j];
        filled += root > 0;
        if (filled == PIECE || i == h->count - 1) {
            MGVI_TRY(mgvi_syrk_f64(run->ctx, d, filled, 1, h->wide, d, 1, h->block, d));
            filled = 0;
        }
    }
    return MGV_OK;
}

/* H_aa and the ridges, factored; *pivot where that is not positive. */
static mgv_status factor_class(mgvi_run *run, mgvi_class_hessian *h, double free_ridge, int64_t a,
                               int64_t *pivot)
{
    const mgv_problem *p = run->problem;
    const int64_t d = p->A->cols;
    double *block = h->block;
    MGVI_TRY(square_rows(run, h));
    for (int64_t t = 0; t < d; t++)
        block[t * d + t] += (t < mgvi_problem_penalised(p) ? p->lambda : free_ridge) +
                            JITTER * block[t * d + t] + DBL_MIN;
    scale_block(d, block, h->unit + a * d);
    return mgvi_cholesky(run->ctx, d, block, d, pivot);
}

/* Those of every class a, in float32; made of sums of float64 from where float32 is not enough. */
static mgv_status refresh_blocks(mgvi_run *run, mgvi_class_hessian *h, double free_ridge)
{
    const mgv_problem *p = run->problem;
    const int64_t d = p->A->cols, k = p->lanes;
    int64_t pivot;
    for (int64_t a = 0; a < k; a++) {
        double *block = h->block;
        float *packed = h->packed + a * h->packed_size;
        weigh_class(h, k, a);
        MGVI_TRY(factor_class(run, h, free_ridge, a, &pivot));
        if (pivot >= 0 && !h->fine) {
            h->fine = true;
            MGVI_TRY(factor_class(run, h, free_ridge, a, &pivot));
        }
        MGVI_TRY(not_positive(run, pivot));
        for (int64_t t = 0; t < d; t++)
            for (int64_t j = t; j < d; j++)
                packed[packed_row(d, t) + j - t] = (float)block[t * d + j];
    }
    return MGV_OK;
}

mgv_status mgvi_class_hessian_refresh(mgvi_run *run, mgvi_class_hessian *h,
                                      const mgvi_class_curvature *of)
{
    const mgv_problem *p = run->problem;
    const int64_t n = h->size, k = p->lanes, free_from = mgvi_problem_penalised(p) * k;
    int64_t pivot;
    draw_rows(run, h, of);
    if (h->apart)
        return refresh_blocks(run, h, of->free_ridge);
    memset(h->factor, 0, (size_t)(n * n) * sizeof *h->factor);
    MGVI_TRY(sum_pairs(run, h, p->lanes));
    for (int64_t t = 0; t < n; t++)
        h->factor[t * n + t] +=
            (t < free_from ? p->lambda : of->free_ridge) + JITTER * h->factor[t * n + t];
    double level = 0;
    for (int64_t t = free_from; t < n; t++)
        level += h->factor[t * n + t] / (double)(k * k);
    for (int64_t t = free_from; t < n; t++)
        for (int64_t c = free_from; c < n; c++)
            h->factor[t * n + c] += level > 0 ? level : 1;
    MGVI_TRY(mgvi_cholesky(run->ctx, n, h->factor, n, &pivot));
    return not_positive(run, pivot);
}

static void subtract_mean(int64_t d, int64_t k, double *x)
{
    for (int64_t t = 0; t < d; t++) {
        double mean = 0;
        for (int64_t c = 0; c < k; c++)
            mean += x[t * k + c] / (double)k;
        for (int64_t c = 0; c < k; c++)
            x[t * k + c] -= mean;
    }
}

/* x <- (U'U)^-1 x */
static void solve_packed(const mgvi_simd *simd, const float *U, int64_t d, double *x)
{
    for (int64_t t = 0; t < d; t++) {
        const float *row = U + packed_row(d, t);
        x[t] /= (double)row[0];
        simd->axpy_f32(-x[t], row + 1, x + t + 1, d - t - 1);
    }
    for (int64_t t = d - 1; t >= 0; t--) {
        const float *row = U + packed_row(d, t);
        x[t] = (x[t] - simd->dot_f32(row + 1, x + t + 1, d - t - 1)) / (double)row[0];
    }
}

/* A class's part of x, which lies by classes. */
typedef struct class_task {
    const mgvi_class_hessian *h;
    mgv_ctx *ctx;
    mgvi_vec *x;
} class_task;

static void solve_class(void *arg, int64_t a)
{
    const class_task *task = arg;
    const mgvi_class_hessian *h = task->h;
    const int64_t d = task->x->n, k = task->x->k;
    double *one = h->block + a * d;
    const double *unit = h->unit + a * d;
    for (int64_t t = 0; t < d; t++)
        one[t] = unit[t] * task->x->x[t * k + a];
    solve_packed(task->ctx->simd, h->packed + a * h->packed_size, d, one);
    for (int64_t t = 0; t < d; t++)
        task->x->x[t * k + a] = unit[t] * one[t];
}

mgv_status mgvi_class_hessian_solve(mgvi_run *run, const mgvi_class_hessian *h, mgvi_vec *x)
{
    class_task task = {.h = h, .ctx = run->ctx, .x = x};
    if (!h->apart)
        return mgvi_cholesky_solve(run->ctx, h->size, h->factor, h->size, 1, x->x);
    subtract_mean(x->n, x->k, x->x);
    mgvi_ctx_run(run->ctx, x->k, solve_class, &task);
    subtract_mean(x->n, x->k, x->x);
    return MGV_OK;
}

mgv_status mgvi_class_hessian_keep(mgvi_run *run, const mgvi_class_hessian *h)
{
    const mgv_problem *p = run->problem;
    if (!h->apart)
        return mgvi_run_keep(run, "hessian", MGVI_T_F64, h->factor, h->size * h->size);
    MGVI_TRY(mgvi_run_keep(run, "units", MGVI_T_F64, h->unit, h->size));
    return mgvi_run_keep(run, "hessian", MGVI_T_F32, h->packed, h->packed_size * p->lanes);
}
