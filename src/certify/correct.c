/* correct.c - from an iterate to A'u = 0, up to rounding. */
#include "certify/correct.h"

#include "base/limit.h"
#include "op/raw_rows.h"

#include <math.h>

/* judge->weight = 1/(A'QA)_jj, Q = diag(q), or 1: columns may be of very different size. */
static void weigh_columns(mgvi_judge *judge, const double *q)
{
    const mgvi_rows *rows = judge->rows, *base = mgvi_raw_base(rows);
    const int64_t k = rows->example ? rows->classes : 1;
    mgvi_vec_fill(judge->problem->ctx, &judge->weight, 0);
    mgvi_vec_fill(judge->problem->ctx, &judge->dir, 0);
    double *square = mgvi_vec_open(&judge->weight), *linear = mgvi_vec_open(&judge->dir), total = 0;
    for (int64_t i = 0; i < rows->count && !mgvi_ctx_cut_row(judge->problem->ctx, i); i++) {
        if (q[i] == 0)
            continue;
        const double scale = mgvi_view_row_scale(&base->view, i / k);
        for (mgvi_raw_entry e = mgvi_raw_begin(rows, i); mgvi_raw_next(&e);) {
            const double x = e.t == e.n ? e.x : e.x * scale;
            square[e.j] += q[i] * x * x;
            linear[e.j] += q[i] * x * e.sign;
        }
        total += q[i];
    }
    for (int64_t j = 0; j < judge->weight.n; j++) {
        const bool one = j / k == base->m.cols;
        const double c = one ? 0 : mgvi_view_centre(&base->view, j / k);
        const double s = one ? 1 : mgvi_view_scale(&base->view, j / k);
        const double left = square[j] - 2 * c * linear[j] + c * c * total; /* it may cancel */
        const double size = fmax(left, 1e-10 * square[j]) * s * s;
        square[j] = size > 0 && isfinite(1 / size) ? 1 / size : 1;
    }
    mgvi_vec_close(&judge->weight);
    mgvi_vec_close(&judge->dir);
}

/* x' (weights) x */
static double weighted_square(const mgvi_judge *judge, const mgvi_vec *x)
{
    const double *weight = mgvi_vec_host(&judge->weight), *at = mgvi_vec_host(x);
    double sum = 0;
    for (int64_t j = 0; j < x->n; j++)
        sum += weight[j] * at[j] * at[j];
    return sum;
}

/* x = A'q, over all columns: the intercept is one more condition. Returns the root of
 * x' (weights) x. */
static double combine(mgvi_judge *judge, const mgvi_vec *q, mgvi_vec *x)
{
    mgvi_op_mul_t(judge->problem->A, 1, q, 0, x);
    return sqrt(weighted_square(judge, x));
}

/* Solves (A' Q A) y = r by conjugate gradients, preconditioned by the weights of the columns;
 * r is overwritten. */
static void solve_weighted(mgvi_judge *judge, const mgvi_vec *q, int most, mgvi_vec *r, mgvi_vec *y)
{
    const mgv_problem *p = judge->problem;
    mgvi_vec *d = &judge->dir, *Ad = &judge->Aq, *v = &judge->v;
    double rr = weighted_square(judge, r);
    const double first = rr;
    mgvi_vec_fill(p->ctx, y, 0);
    mgvi_vec_multiply(p->ctx, &judge->weight, r, d);
    for (int it = 0; it < most && rr > 1e-28 * first && rr > 0; it++) {
        mgvi_op_mul(p->A, 1, d, 0, Ad);
        mgvi_vec_multiply(p->ctx, Ad, q, Ad);
        mgvi_op_mul_t(p->A, 1, Ad, 0, v); /* v = A'QA d */
        double curvature;
        mgvi_vec_dot(p->ctx, d, v, &curvature);
        if (!(curvature > 0))
            break;
        mgvi_vec_axpby(p->ctx, rr / curvature, d, 1, y);
        mgvi_vec_axpby(p->ctx, -rr / curvature, v, 1, r);
        const double next = weighted_square(judge, r);
        mgvi_vec_multiply(p->ctx, &judge->weight, r, v);
        mgvi_vec_axpby(p->ctx, 1, v, next / rr, d);
        rr = next;
    }
}

bool mgvi_proof_clip(mgvi_judge *judge, double slack)
{
    const mgv_problem *p = judge->problem;
    mgvi_vec *u = &judge->u;
    double most, worst = 0, sum = 0;
    mgvi_vec_abs_max(p->ctx, u, &most);
    double *at = mgvi_vec_open(u);
    for (int64_t i = 0; i < u->n; i++) {
        const double inside = p->loss->dual_clip(mgvi_coefs_at(&p->row, i, 0), at[i]);
        worst = fmax(worst, fabs(inside - at[i]));
        at[i] = inside;
        sum += fabs(inside);
    }
    mgvi_vec_close(u);
    if (!(worst <= slack * most) || !(sum > 0) || isinf(sum))
        return false;
    mgvi_vec_scale(p->ctx, 1 / sum, u);
    return true;
}

/* How far u leaves the domain of the conjugates, in parts of the largest |u_i|. */
static double outside(const mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    const mgvi_vec *u = &judge->u;
    double most, far = 0;
    mgvi_vec_abs_max(p->ctx, u, &most);
    const double *at = mgvi_vec_host(u);
    for (int64_t i = 0; i < u->n; i++) {
        const double inside = p->loss->dual_clip(mgvi_coefs_at(&p->row, i, 0), at[i]);
        far = fmax(far, fabs(at[i] - inside));
    }
    return most > 0 ? far / most : INFINITY;
}

/* u <- u + alpha Q A y, A y at hand */
static void shift(mgvi_judge *judge, double alpha)
{
    const double *q = mgvi_vec_host(&judge->q), *Aq = mgvi_vec_host(&judge->Aq);
    double *u = mgvi_vec_open(&judge->u);
    for (int64_t i = 0; i < judge->u.n; i++)
        u[i] += alpha * q[i] * Aq[i];
    mgvi_vec_close(&judge->u);
}

/* Four corrections u <- u - Q A (A'QA)^-1 A'u with Q = diag(|u|) fixed: they end at rounding level,
 * and only the signs of u decide whether it is a proof. On the way to 0 u may leave its domain by
 * what the next correction takes back. One that only stirs the rounding is undone: where columns
 * depend on each other it may grow without bound.                                            (8) */
static bool correct(mgvi_judge *judge, int most_steps)
{
    const mgv_problem *p = judge->problem;
    double before = INFINITY;
    for (int round = 0; round <= 4; round++) {
        const double now = combine(judge, &judge->u, &judge->residual);
        if (!(now < before)) {
            shift(judge, 1);
            break;
        }
        if (round == 4 || now <= 1e-15)
            break;
        before = now;
        solve_weighted(judge, &judge->q, most_steps, &judge->residual, &judge->y);
        mgvi_op_mul(p->A, 1, &judge->y, 0, &judge->Aq);
        shift(judge, -1);
        if (outside(judge) <= 0.01)
            continue;
        if (!(now < MGVI_NEARLY))
            return false;
        shift(judge, 1);
        break;
    }
    return true;
}

/* Whether some weight is there, but no more than this part of the largest. */
static bool has_dust(const mgvi_judge *judge, double part)
{
    const double *u = mgvi_vec_host(&judge->u);
    double most = 0, least = INFINITY;
    for (int64_t i = 0; i < judge->u.n; i++) {
        const double size = fabs(u[i]);
        most = fmax(most, size);
        least = size > 0 ? fmin(least, size) : least;
    }
    return least <= part * most;
}

bool mgvi_proof_drop(mgvi_judge *judge, double part)
{
    double most = 0;
    if (!has_dust(judge, part))
        return false;
    mgvi_vec_abs_max(judge->problem->ctx, &judge->u, &most);
    double *u = mgvi_vec_open(&judge->u);
    for (int64_t i = 0; i < judge->u.n; i++)
        if (fabs(u[i]) <= part * most)
            u[i] = 0;
    mgvi_vec_close(&judge->u);
    return true;
}

double mgvi_proof_residual(mgvi_judge *judge)
{
    return combine(judge, &judge->u, &judge->residual);
}

void mgvi_proof_weigh(mgvi_judge *judge)
{
    const double *u = mgvi_vec_host(&judge->u);
    double *q = mgvi_vec_open(&judge->q);
    for (int64_t i = 0; i < judge->u.n; i++)
        q[i] = fabs(u[i]);
    weigh_columns(judge, q);
    mgvi_vec_close(&judge->q);
}

bool mgvi_proof_correct(mgvi_judge *judge, int most_steps)
{
    return correct(judge, most_steps) && mgvi_proof_clip(judge, 1e-12);
}
