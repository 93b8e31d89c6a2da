/* tall_interior.c - Mehrotra's predictor and corrector on the reduced hinge problem.
 * Equations of docs/algorithms/newton.md; letters as there: Th = xi/c + s/a. */
#include "solver/newton/tall_interior.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

static const double TO_THE_BOUNDARY = 0.995, BLOWN_UP = 1e3, CLOSE = 1e-3;
static const double ROUNDING = 1e-3; /* of a gap, by its products: the rest is rounding */
enum { REFINEMENTS = 2, PATIENCE = 6 };

/* ---- values ---------------------------------------------------------------------------------- */

typedef struct given {
    const double *t;
} given;

static void fill_given(void *arg, int64_t first, int64_t count, double *t, double *t2, double *h)
{
    const given *coefficients = arg;
    (void)t2;
    (void)h;
    memcpy(t, coefficients->t + first, (size_t)count * sizeof *t);
}

void mgvi_tall_reduced_dual(const mgvi_tall_reduced *r, const double *a, double *v)
{
    given coefficients = {a};
    mgvi_row_set_sweep(r->set, fill_given, &coefficients, v, NULL, NULL, 0);
    for (int64_t j = 0; j < r->set->cols; j++)
        v[j] += r->lin[j];
}

mgvi_tall_value mgvi_tall_reduced_value(const mgvi_tall_reduced *r, const double *w,
                                        const double *z, const double *a, const double *v)
{
    mgvi_tall_value out = {0};
    const int64_t n = mgvi_row_set_count(r->set);
    double shrink = 1, dual = r->fixed, conjugate = 0, free_residual = 0, loss = 0;
    for (int64_t i = 0; i < n; i++) {
        loss += r->cap[i] * fmax(0, 1 - z[i]);
        dual += a[i];
    }
    out.primal = r->fixed + loss;
    for (int64_t j = 0; j < r->set->cols; j++) {
        const double l = r->lambda[j], mu = r->mu[j], excess = fmax(0, fabs(v[j]) - mu);
        out.primal += (l / 2 * w[j] - r->lin[j]) * w[j] + mu * fabs(w[j]);
        if (l > 0)
            conjugate += excess * excess / (2 * l);
        else if (mu > 0 && excess > 0)
            shrink = fmin(shrink, mu / fabs(v[j]));
        else if (mu == 0)
            free_residual += fabs(v[j]) * (1 + fabs(w[j]));
    }
    out.dual = shrink * dual - conjugate;
    out.gap = (out.primal - out.dual + free_residual) / fmax(fabs(out.primal), 1e-300);
    return out;
}

/* ---- memory and start ------------------------------------------------------------------------ */

mgv_status mgvi_tall_interior_init(mgvi_tall_interior *ip, mgvi_arena *arena, int64_t cols,
                                   mgvi_scaled_cholesky *solver)
{
    memset(ip, 0, sizeof *ip);
    ip->ctx = arena->ctx;
    ip->solver = solver;
    MGVI_TRY(MGVI_VECTORS(arena, cols, &ip->w, &ip->p, &ip->q, &ip->zp, &ip->zq, &ip->v, &ip->dw,
                          &ip->dp, &ip->dq, &ip->dzp, &ip->dzq, &ip->right, &ip->Dp, &ip->Dq,
                          &ip->best_w));
    return MGV_OK;
}

static mgv_status room_for(mgvi_tall_interior *ip, mgvi_arena *arena, int64_t rows)
{
    MGVI_TRY(MGVI_VECTORS(arena, rows, &ip->a, &ip->c, &ip->s, &ip->xi, &ip->ds, &ip->dxi,
                          &ip->inverse));
    memset(ip->da, 0, (size_t)rows * sizeof *ip->da);
    return MGV_OK;
}

/* Evaluates the point, keeps it if it is the best. z and v are up to date. */
static void evaluate(mgvi_tall_interior *ip)
{
    ip->here = mgvi_tall_reduced_value(&ip->r, ip->w, ip->z, ip->a, ip->v);
    if (ip->steps == 0 || ip->here.gap < ip->best.gap) {
        ip->best = ip->here;
        ip->since_best = 0;
        memcpy(ip->best_w, ip->w, (size_t)ip->r.set->cols * sizeof *ip->w);
        memcpy(ip->best_a, ip->a, (size_t)ip->rows * sizeof *ip->a);
    } else {
        ip->since_best++;
    }
}

static mgv_status begin(mgvi_tall_interior *ip, mgvi_arena *arena, const mgvi_tall_reduced *reduced)
{
    ip->r = *reduced;
    ip->rows = mgvi_row_set_count(reduced->set);
    ip->steps = ip->since_best = 0;
    return room_for(ip, arena, ip->rows);
}

mgv_status mgvi_tall_interior_start(mgvi_tall_interior *ip, mgvi_arena *arena,
                                    const mgvi_tall_reduced *reduced, const double *w,
                                    const double *u, double alpha, const double *k)
{
    MGVI_TRY(begin(ip, arena, reduced));
    for (int64_t i = 0; i < ip->rows; i++) {
        const double r = hypot(u[i], alpha), cap = reduced->cap[i];
        /* of the two the one without cancellation, the other from xi s = alpha^2/4 */
        const double large = (r + fabs(u[i])) / 2, small = alpha * alpha / 4 / large;
        ip->xi[i] = u[i] > 0 ? large : small;
        ip->s[i] = u[i] > 0 ? small : large;
        ip->a[i] = cap * (ip->xi[i] / r);
        ip->c[i] = cap * (ip->s[i] / r);
        ip->z[i] = 1 - u[i];
    }
    for (int64_t j = 0; j < reduced->set->cols; j++) {
        const double width = alpha * k[j], r = hypot(w[j], width);
        const double large = (r + fabs(w[j])) / 2, small = width * width / 4 / large;
        ip->w[j] = w[j];
        if (reduced->mu[j] == 0)
            continue;
        ip->p[j] = w[j] > 0 ? large : small;
        ip->q[j] = w[j] > 0 ? small : large;
        ip->zp[j] = 2 * reduced->mu[j] * ip->q[j] / r;
        ip->zq[j] = 2 * reduced->mu[j] * ip->p[j] / r;
    }
    mgvi_tall_reduced_dual(reduced, ip->a, ip->v);
    evaluate(ip);
    return MGV_OK;
}

/* x - y = value and tau/x + tau/y = cap, x, y > 0.                                            (20)
 */
static void centre(double value, double tau, double cap, double *x, double *y)
{
    const double theta = tau / cap, r = hypot(value, 2 * theta);
    /* of the two the one without cancellation, the other from x y = theta (x + y) */
    const double large = theta + (r + fabs(value)) / 2, small = theta * large / (large - theta);
    *x = value > 0 ? large : small;
    *y = value > 0 ? small : large;
}

mgv_status mgvi_tall_interior_near(mgvi_tall_interior *ip, mgvi_arena *arena,
                                   const mgvi_tall_reduced *reduced, const double *w,
                                   const double *u, const double *a, double tau)
{
    static const double OFF = 10; /* centre, of a product at most */
    MGVI_TRY(begin(ip, arena, reduced));
    for (int64_t i = 0; i < ip->rows; i++) {
        const double cap = reduced->cap[i];
        centre(u[i], tau, cap, &ip->xi[i], &ip->s[i]);
        const double low = tau / ip->s[i], high = tau / ip->xi[i];
        const double least = fmax(low / OFF, cap - OFF * high);
        const double most = fmin(OFF * low, cap - high / OFF);
        ip->a[i] = fmin(fmax(a[i], least), most);
        ip->c[i] = cap - ip->a[i];
        ip->z[i] = 1 - u[i];
    }
    for (int64_t j = 0; j < reduced->set->cols; j++) {
        ip->w[j] = w[j];
        if (reduced->mu[j] == 0)
            continue;
        centre(w[j], tau, 2 * reduced->mu[j], &ip->p[j], &ip->q[j]);
        ip->zp[j] = tau / ip->p[j];
        ip->zq[j] = tau / ip->q[j];
    }
    mgvi_tall_reduced_dual(reduced, ip->a, ip->v);
    evaluate(ip);
    return MGV_OK;
}

mgv_status mgvi_tall_interior_cold(mgvi_tall_interior *ip, mgvi_arena *arena,
                                   const mgvi_tall_reduced *reduced, const double *unit)
{
    MGVI_TRY(begin(ip, arena, reduced));
    for (int64_t i = 0; i < ip->rows; i++) {
        ip->a[i] = ip->c[i] = reduced->cap[i] / 2;
        ip->xi[i] = 1.5;
        ip->s[i] = 0.5;
        ip->z[i] = 0;
    }
    mgvi_tall_reduced_dual(reduced, ip->a, ip->v);
    for (int64_t j = 0; j < reduced->set->cols; j++) {
        const double mu = reduced->mu[j], least = 0.1 * mu + 1e-3 / unit[j];
        ip->w[j] = 0;
        ip->p[j] = ip->q[j] = 0.1 * unit[j];
        ip->zp[j] = fmax(mu - ip->v[j], least);
        ip->zq[j] = fmax(mu + ip->v[j], least);
    }
    evaluate(ip);
    return MGV_OK;
}

/* ---- one step -------------------------------------------------------------------------------- */

static void fill_newton(void *arg, int64_t first, int64_t count, double *t, double *t2, double *h)
{
    const mgvi_tall_interior *ip = arg;
    (void)t2;
    for (int64_t i = 0; i < count; i++) {
        t[i] = ip->row_right[first + i] * ip->inverse[first + i];
        if (h)
            h[i] = ip->inverse[first + i];
    }
}

/* The right sides of the columns for the targets cp, cq of p zp and q zq: k0/K of (14). `corrected`
 * uses the products of the predictor. */
static void column_right(mgvi_tall_interior *ip, bool corrected, double tau)
{
    for (int64_t j = 0; j < ip->r.set->cols; j++) {
        const double l = ip->r.lambda[j], mu = ip->r.mu[j];
        if (mu == 0) {
            ip->right[j] = ip->v[j] - l * ip->w[j];
            continue;
        }
        const double cp = corrected ? tau - ip->dp[j] * ip->dzp[j] : 0;
        const double cq = corrected ? tau - ip->dq[j] * ip->dzq[j] : 0;
        /* rpp and rqq replace dp and dq until the step is known */
        ip->dp[j] = -(mu + l * ip->w[j] - ip->v[j]) + cp / ip->p[j];
        ip->dq[j] = -(mu - l * ip->w[j] + ip->v[j]) + cq / ip->q[j];
        ip->dzp[j] = cp / ip->p[j] - ip->zp[j];
        ip->dzq[j] = cq / ip->q[j] - ip->zq[j];
        const double kappa = 1 / ip->Dp[j] + 1 / ip->Dq[j];
        ip->right[j] = (ip->dp[j] / ip->Dp[j] - ip->dq[j] / ip->Dq[j]) / kappa;
    }
}

/* Solves for dw with the factor at hand, then the other directions. row_right and the targets'
 * parts in ds, dxi (cs/a - s, cx/c - xi) are set; dw is sum_i row_right_i inverse_i a_i. */
static mgv_status direction(mgvi_tall_interior *ip)
{
    const int64_t d = ip->r.set->cols;
    for (int64_t j = 0; j < d; j++)
        ip->dw[j] += ip->right[j];
    MGVI_TRY(mgvi_scaled_cholesky_refine(ip->solver, ip->dw, REFINEMENTS));
    for (int64_t j = 0; j < d; j++) {
        if (ip->r.mu[j] == 0)
            continue;
        const double rpp = ip->dp[j], rqq = ip->dq[j], Dp = ip->Dp[j], Dq = ip->Dq[j];
        const double h = ((rpp / Dp - rqq / Dq) - ip->dw[j]) / (1 / Dp + 1 / Dq);
        ip->dp[j] = (rpp - h) / Dp;
        ip->dq[j] = (rqq + h) / Dq;
        ip->dzp[j] -= Dp * ip->dp[j];
        ip->dzq[j] -= Dq * ip->dq[j];
    }
    mgvi_row_set_mul(ip->r.set, ip->dw, ip->da);
    for (int64_t i = 0; i < ip->rows; i++) {
        ip->da[i] = (ip->row_right[i] - ip->da[i]) * ip->inverse[i];
        ip->ds[i] -= ip->s[i] / ip->a[i] * ip->da[i];
        ip->dxi[i] += ip->xi[i] / ip->c[i] * ip->da[i];
    }
    return MGV_OK;
}

/* The longest step t <= 1 / TO_THE_BOUNDARY with x + t dx >= 0, as t of the boundary. */
static double room(const double *x, const double *dx, int64_t n, double t)
{
    for (int64_t i = 0; i < n; i++)
        if (dx[i] < 0 && x[i] < -dx[i] * t)
            t = -x[i] / dx[i];
    return t;
}

typedef struct lengths {
    double primal, dual;
} lengths;

static lengths step_lengths(const mgvi_tall_interior *ip)
{
    const int64_t n = ip->rows, d = ip->r.set->cols;
    const double far = 1 / TO_THE_BOUNDARY;
    lengths t = {room(ip->s, ip->ds, n, far), room(ip->a, ip->da, n, far)};
    t.primal = room(ip->xi, ip->dxi, n, t.primal);
    for (int64_t i = 0; i < n; i++) /* dc = -da */
        if (ip->da[i] > 0 && ip->c[i] < ip->da[i] * t.dual)
            t.dual = ip->c[i] / ip->da[i];
    bool quadratic = false;
    for (int64_t j = 0; j < d; j++) {
        quadratic = quadratic || ip->r.lambda[j] > 0;
        if (ip->r.mu[j] == 0)
            continue;
        t.primal = room(ip->p + j, ip->dp + j, 1, room(ip->q + j, ip->dq + j, 1, t.primal));
        t.dual = room(ip->zp + j, ip->dzp + j, 1, room(ip->zq + j, ip->dzq + j, 1, t.dual));
    }
    if (quadratic) /* the dual residual holds w too */
        t.primal = t.dual = fmin(t.primal, t.dual);
    return t;
}

/* The mean of the complementary products after a step. */
static double complementarity(const mgvi_tall_interior *ip, lengths t)
{
    double sum = 0;
    int64_t count = 2 * ip->rows;
    for (int64_t i = 0; i < ip->rows; i++)
        sum += (ip->s[i] + t.primal * ip->ds[i]) * (ip->a[i] + t.dual * ip->da[i]) +
               (ip->xi[i] + t.primal * ip->dxi[i]) * (ip->c[i] - t.dual * ip->da[i]);
    for (int64_t j = 0; j < ip->r.set->cols; j++)
        if (ip->r.mu[j] > 0) {
            sum += (ip->p[j] + t.primal * ip->dp[j]) * (ip->zp[j] + t.dual * ip->dzp[j]) +
                   (ip->q[j] + t.primal * ip->dq[j]) * (ip->zq[j] + t.dual * ip->dzq[j]);
            count += 2;
        }
    return sum / (double)count;
}

/* Th, the matrix of (14), and its factor; the predictor's direction. */
static mgv_status predict(mgvi_tall_interior *ip)
{
    const int64_t d = ip->r.set->cols;
    double *H = ip->solver->H;
    for (int64_t i = 0; i < ip->rows; i++) {
        ip->inverse[i] = 1 / (ip->xi[i] / ip->c[i] + ip->s[i] / ip->a[i]);
        ip->row_right[i] = 1 - ip->z[i]; /* rd - s + xi */
        ip->ds[i] = -ip->s[i];
        ip->dxi[i] = -ip->xi[i];
    }
    mgvi_row_set_sweep(ip->r.set, fill_newton, ip, ip->dw, NULL, H, d);
    for (int64_t j = 0; j < d; j++) {
        double diagonal = ip->r.lambda[j];
        if (ip->r.mu[j] > 0) {
            ip->Dp[j] = ip->zp[j] / ip->p[j];
            ip->Dq[j] = ip->zq[j] / ip->q[j];
            diagonal += 1 / (1 / ip->Dp[j] + 1 / ip->Dq[j]);
        }
        H[j * d + j] += diagonal;
    }
    MGVI_TRY(mgvi_scaled_cholesky_factor(ip->solver, 0));
    column_right(ip, false, 0);
    return direction(ip);
}

static mgv_status correct(mgvi_tall_interior *ip, double tau)
{
    for (int64_t i = 0; i < ip->rows; i++) {
        const double cs = tau - ip->ds[i] * ip->da[i], cx = tau + ip->dxi[i] * ip->da[i];
        const double rd = 1 - (ip->z[i] + ip->xi[i] - ip->s[i]);
        ip->ds[i] = cs / ip->a[i] - ip->s[i];
        ip->dxi[i] = cx / ip->c[i] - ip->xi[i];
        ip->row_right[i] = rd + ip->ds[i] - ip->dxi[i];
    }
    column_right(ip, true, tau);
    mgvi_row_set_sweep(ip->r.set, fill_newton, ip, ip->dw, NULL, NULL, 0);
    return direction(ip);
}

static void advance(mgvi_tall_interior *ip, lengths t)
{
    for (int64_t i = 0; i < ip->rows; i++) {
        ip->s[i] += t.primal * ip->ds[i];
        ip->xi[i] += t.primal * ip->dxi[i];
        ip->a[i] += t.dual * ip->da[i];
        ip->c[i] -= t.dual * ip->da[i];
    }
    for (int64_t j = 0; j < ip->r.set->cols; j++) {
        ip->w[j] += t.primal * ip->dw[j];
        if (ip->r.mu[j] == 0)
            continue;
        ip->p[j] += t.primal * ip->dp[j];
        ip->q[j] += t.primal * ip->dq[j];
        ip->zp[j] += t.dual * ip->dzp[j];
        ip->zq[j] += t.dual * ip->dzq[j];
    }
    mgvi_row_set_mul(ip->r.set, ip->w, ip->z);
    mgvi_tall_reduced_dual(&ip->r, ip->a, ip->v);
}

static mgv_status one_step(mgvi_tall_interior *ip)
{
    const lengths none = {0, 0};
    ip->tau = complementarity(ip, none);
    MGVI_TRY(predict(ip));
    lengths t = step_lengths(ip);
    t.primal = fmin(t.primal, 1);
    t.dual = fmin(t.dual, 1);
    const double ratio = complementarity(ip, t) / ip->tau;
    MGVI_TRY(correct(ip, ip->tau * ratio * ratio * ratio));
    t = step_lengths(ip);
    t.primal *= TO_THE_BOUNDARY;
    t.dual *= TO_THE_BOUNDARY;
    advance(ip, t);
    ip->steps++;
    evaluate(ip);
    return MGV_OK;
}

mgv_status mgvi_tall_interior_run(mgvi_tall_interior *ip, double target, int most)
{
    const int end = ip->steps + most;
    while (!(ip->best.gap <= target) && ip->steps < end && !mgvi_ctx_cut(ip->ctx)) {
        const mgv_status st = one_step(ip);
        if (st == MGV_E_NUMERIC) /* rounding has won: the best point is all there is */
            return MGV_OK;
        if (st != MGV_OK)
            return st;
        const double products = 2 * (double)(ip->rows + ip->r.set->cols) * ip->tau;
        if (ip->best.gap < CLOSE && ip->since_best > 0 &&
            products < ROUNDING * ip->best.gap * fabs(ip->best.primal))
            break; /* what is left is not complementarity: rounding */
        const bool worse = ip->since_best > PATIENCE || ip->here.gap > BLOWN_UP * ip->best.gap;
        if (!isfinite(ip->here.gap) || (worse && ip->best.gap < CLOSE))
            break;
    }
    return MGV_OK;
}
