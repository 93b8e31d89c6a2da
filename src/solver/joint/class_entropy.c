/* class_entropy.c - the rows' side of (9), its line search, and when tau falls. */
#include "solver/joint/class_entropy.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

enum { TRIALS = 60, MOST_CLASSES = 4096 };
/* tau falls when what Newton's steps have left is this part of the gap; the rest is its own. */
static const double SETTLED = 0.5, TAU_FACTOR = 0.2;
static const double SHORTER = 0.7;    /* than the step before */
static const double ROUNDING = 1e-14; /* of (9): falls below show in no sum */

bool mgvi_class_entropy_fits(const mgv_problem *p)
{
    return mgvi_class_dual_fits(p) || mgvi_class_columns_fit(p);
}

/* Products of (10), each in multiplications of a matrix product for an entry and a class. By
 * columns: steps of a matrix for every class, its rows being in float32, and the products they
 * leave. */
double mgvi_class_entropy_cost(const mgv_problem *p)
{
    static const double PRODUCTS = 1000, EACH = 16;
    static const double STEPS = 40, LEFT = 2000, BLOCKED = 1.0 / 2;
    const double d = (double)p->A->cols, k = p->lanes;
    if (mgvi_class_dual_fits(p))
        return PRODUCTS * EACH * (double)p->A->nnz * k;
    const double rows = (double)mgvi_class_hessian_apart_rows(p);
    return BLOCKED * (STEPS * k * d * d * (rows / 2 + 2 * d / 3) + LEFT * (double)p->A->nnz * k);
}

mgv_status mgvi_class_entropy_new(mgvi_run *run, mgvi_class_entropy *e)
{
    const mgv_problem *p = run->problem;
    e->z = mgvi_run_array(run, (size_t)p->A->rows, (size_t)p->lanes * sizeof *e->z);
    if (!e->z)
        return MGV_E_MEMORY;
    e->m.tau = 1;
    e->m.gap = INFINITY;
    MGVI_TRY(mgvi_run_keep(run, "entropy", MGVI_T_U8, &e->m, sizeof e->m));
    MGVI_TRY(mgvi_run_keep(run, "z", MGVI_T_F64, e->z, p->A->rows * p->lanes));
    return mgvi_class_dual_new(run, mgvi_class_columns_fit(p), &e->dual);
}

/* A row at z + step dz: its smoothed loss; log p and the loss itself where they are not NULL. */
static double smoothed_row(double s, int32_t own, int32_t k, double tau, const double *z,
                           const double *dz, double step, double *log_p, double *largest)
{
    double t[MOST_CLASSES] = {0}, most = -INFINITY, sum = 0;
    for (int32_t j = 0; j < k; j++) {
        t[j] = z[j] + (dz ? step * dz[j] : 0) + (j != own);
        most = fmax(most, t[j]);
    }
    const double t_own = t[own];
    for (int32_t j = 0; j < k; j++)
        sum += t[j] = exp((t[j] - most) / tau);
    for (int32_t j = 0; j < k && log_p; j++)
        log_p[j] = (z[j] + (dz ? step * dz[j] : 0) + (j != own) - most) / tau - log(sum);
    if (largest)
        *largest = s * (most - t_own);
    return s * (most - t_own + tau * log(sum));
}

/* The same of all rows. */
static double smoothed_loss(const mgv_problem *p, const mgvi_class_entropy *e, const double *dz,
                            double step, double *log_p, double *loss)
{
    const int32_t k = p->lanes;
    double total = 0, one = 0;
    if (loss)
        *loss = 0;
    for (int64_t i = 0; i < p->A->rows && !mgvi_ctx_cut_row(p->ctx, i); i++) {
        const double s = mgvi_coef_pick(&p->row.scale, i, 0);
        const int32_t own = (int32_t)mgvi_coef_pick(&p->row.a, i, 0);
        total += smoothed_row(s, own, k, e->m.tau, e->z + i * k, dz ? dz + i * k : NULL, step,
                              log_p ? log_p + i * k : NULL, loss ? &one : NULL);
        if (loss)
            *loss += one;
    }
    return total;
}

/* <x, y> over the penalised columns. */
static double dot(const mgv_problem *p, const mgvi_vec *x, const mgvi_vec *y)
{
    double sum = 0;
    for (int64_t t = 0; t < mgvi_problem_penalised(p) * x->k; t++)
        sum += x->x[t] * y->x[t];
    return sum;
}

/* sum_i v_i . (t_i - e_c t_ic) of V: what the rows of the dual value have. */
static double dual_rows(const mgv_problem *p, const mgvi_class_entropy *e)
{
    const int32_t k = p->lanes;
    double sum = 0;
    for (int64_t i = 0; i < p->A->rows; i++) {
        const int32_t own = (int32_t)mgvi_coef_pick(&p->row.a, i, 0);
        for (int32_t j = 0; j < k; j++)
            sum += e->dual.v[i * k + j] * (e->z[i * k + j] + (j != own));
    }
    return sum;
}

/* sum_i u_i . dz_i */
static double rows_slope(const mgv_problem *p, const double *log_p, const double *dz)
{
    const int32_t k = p->lanes;
    double slope = 0;
    for (int64_t i = 0; i < p->A->rows; i++) {
        const double s = mgvi_coef_pick(&p->row.scale, i, 0);
        const int32_t own = (int32_t)mgvi_coef_pick(&p->row.a, i, 0);
        for (int32_t j = 0; j < k; j++)
            slope += s * (exp(log_p[i * k + j]) - (j == own)) * dz[i * k + j];
    }
    return slope;
}

/* Shortens the step until (9) falls; 0: it does not. The longest such step, not the best: what W and
 * V lack of each other falls by 1 - step. */
static double search(const mgv_problem *p, const mgvi_class_entropy *e, const mgvi_vec *w,
                     const mgvi_vec *dir, const double *log_p, const double *dz)
{
    const double own = p->lambda * dot(p, w, dir), growth = p->lambda * dot(p, dir, dir);
    const double start = smoothed_loss(p, e, NULL, 0, NULL, NULL);
    const double slope = own + rows_slope(p, log_p, dz), noise = ROUNDING * fabs(start);
    double step = 1;
    for (int trial = 0; trial < TRIALS && slope < 0; trial++, step *= SHORTER) {
        const double change = smoothed_loss(p, e, dz, step, NULL, NULL) - start + step * own +
                              0.5 * step * step * growth;
        if (change <= 1e-4 * step * slope + noise)
            return step;
    }
    return 0;
}

/* p at z, and the gaps of (w, v): with (9), and with the hinge itself. */
static double measure(const mgv_problem *p, mgvi_class_entropy *e, const mgvi_vec *w,
                      mgvi_vec *log_p, mgvi_vec *work)
{
    double loss;
    e->dual.tau = e->m.tau;
    smoothed_loss(p, e, NULL, 0, log_p->x, &loss);
    const double smoothed = mgvi_class_dual_gap(p, &e->dual, log_p, w, work);
    const double primal = loss + p->lambda / 2 * dot(p, w, w);
    e->m.gap = (loss - dual_rows(p, e) + smoothed - e->dual.gap) / fmax(primal, 1e-300);
    return smoothed / fmax(primal, 1e-300);
}

mgv_status mgvi_class_entropy_step(mgvi_run *run, mgvi_class_entropy *e, mgvi_vec *w, mgvi_vec *dir,
                                   mgvi_vec *work)
{
    const mgv_problem *p = run->problem;
    mgvi_vec *log_p = &run->lent[1], *dz = &run->lent[0];
    mgvi_vec z = {.x = e->z, .n = p->A->rows, .k = p->lanes, .space = MGVI_ROWS};
    if (!e->m.begun) {
        mgvi_op_mul(p->A, 1, w, 0, &z);
        mgvi_class_dual_start(p, &e->dual);
        measure(p, e, w, log_p, work);
        e->m.begun = true;
    }
    e->dual.tau = e->m.tau;
    smoothed_loss(p, e, NULL, 0, log_p->x, NULL);
    MGVI_TRY(mgvi_class_dual_direction(run, &e->dual, log_p, w, work, dir));
    mgvi_op_mul(p->A, 1, dir, 0, dz);
    const double step = search(p, e, w, dir, log_p->x, dz->x);
    mgvi_vec_axpby(run->ctx, step, dir, 1, w);
    mgvi_vec_axpby(run->ctx, step, dz, 1, &z);
    smoothed_loss(p, e, NULL, 0, log_p->x, NULL);
    mgvi_class_dual_follow(p, &e->dual, step, log_p);
    if (measure(p, e, w, log_p, work) <= SETTLED * e->m.gap) {
        e->m.tau *= TAU_FACTOR;
        measure(p, e, w, log_p, work);
    }
    run->finished = !(step > 0);
    return MGV_OK;
}
