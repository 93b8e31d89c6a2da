/* hinge_step.c - a step of the interior point for
 *   Z w + y b + bend a + xi - slack = 1,   zp = mu + lambda w - v,   zq = mu - lambda w + v (7)
 *   p zp = q zq = slack a = xi c = tau,   y.a + lin_free = 0                              (8)
 * Mehrotra's predictor and corrector, then Gondzio's centrality correctors from the same factor.
 * The same step for primal and dual variables where lambda > 0 or bend > 0 couples them, else one
 * each. */
#include "solver/column_generation/hinge_interior_impl.h"

#include <math.h>

static const double NEARLY = 0.995; /* of the way to the boundary */
/* A corrector aims at a step longer by LONGER, with products within SPREAD of the target, and is
 * kept where it makes the step longer by GAINED of that. */
static const double STUCK = 0.9, CAUTIOUS = 0.3;
static const double LONGER = 0.1, SPREAD = 10, GAINED = 0.1;

static int64_t cols_of(const mgvi_hinge_interior *k) { return k->p->gram ? 0 : k->p->cols; }

/* Of as many products as there are slacks and multipliers. */
static double mean_of(const mgvi_hinge_interior *k, double sum)
{
    const int64_t pairs = mgvi_hinge_boxed(k) + cols_of(k);
    return pairs > 0 ? sum / (double)(2 * pairs) : 0;
}

/* Residuals, weights K and Th, and the mean complementarity. Returns rb. */
static double residuals(mgvi_hinge_interior *k)
{
    const mgvi_hinge_block *p = k->p;
    double sum = 0, lag = 0, rb = -p->lin_free;
    for (int64_t i = 0; p->y && i < p->rows; i++)
        rb -= p->y[i] * k->a[i];
    for (int64_t t = 0; t < k->live; t++) {
        const int64_t i = k->row[t];
        const double bend = mgvi_hinge_bend(p, i);
        k->rd[i] = mgvi_hinge_target(p, i) - k->z[i];
        if (p->kind == MGVI_ROWS_ENTROPY) {
            k->rd[i] += log(k->c[i] / k->a[i]);
            k->Th[i] = 1 / k->a[i] + 1 / k->c[i];
            lag += k->rd[i] * k->rd[i] / k->Th[i];
            continue;
        }
        k->rd[i] -= bend * k->a[i];
        k->Th[i] = bend;
        if (p->kind == MGVI_ROWS_FREE)
            continue;
        sum += k->slack[i] * k->l[i] + k->xi[i] * k->c[i];
        k->rd[i] += k->slack[i] - k->xi[i];
        k->Th[i] += k->xi[i] / k->c[i] + k->slack[i] / k->l[i];
    }
    for (int64_t j = 0; j < cols_of(k); j++) {
        const double lw = p->lambda * k->w[j];
        sum += k->pos[j] * k->z_pos[j] + k->neg[j] * k->z_neg[j];
        k->r_pos[j] = k->z_pos[j] + k->v[j] - lw - p->mu;
        k->r_neg[j] = k->z_neg[j] - k->v[j] + lw - p->mu;
        const double kappa = k->pos[j] / k->z_pos[j] + k->neg[j] / k->z_neg[j];
        k->K[j] = kappa / (1 + p->lambda * kappa);
    }
    k->tau = mean_of(k, sum);
    k->lag = mean_of(k, lag);
    return rb;
}

/* The products to aim at: `target`, less `second` times the second-order terms of the present
 * direction. */
static void aim(mgvi_hinge_interior *k, double target, double second)
{
    const mgvi_hinge_move *d = &k->at;
    for (int64_t t = 0; t < mgvi_hinge_boxed(k); t++) {
        const int64_t i = k->row[t];
        k->e_slack[i] = target - (second > 0 ? second * d->slack[i] * d->a[i] : 0);
        k->e_xi[i] = target + (second > 0 ? second * d->xi[i] * d->a[i] : 0);
    }
    for (int64_t j = 0; j < cols_of(k); j++) {
        k->e_pos[j] = target - (second > 0 ? second * d->pos[j] * d->z_pos[j] : 0);
        k->e_neg[j] = target - (second > 0 ? second * d->neg[j] * d->z_neg[j] : 0);
    }
}

/* The direction towards those products. */
static mgv_status direction(mgv_ctx *ctx, mgvi_hinge_interior *k, double rb)
{
    const mgvi_hinge_block *p = k->p;
    mgvi_hinge_move *d = &k->at;
    const bool boxed = mgvi_hinge_boxed(k) > 0;
    for (int64_t t = 0; t < k->live; t++) {
        const int64_t i = k->row[t];
        k->r[i] = k->rd[i];
        if (!boxed)
            continue;
        k->t_slack[i] = k->e_slack[i] / k->l[i] - k->slack[i];
        k->t_xi[i] = k->e_xi[i] / k->c[i] - k->xi[i];
        k->r[i] += k->t_slack[i] - k->t_xi[i];
    }
    for (int64_t j = 0; j < cols_of(k); j++) {
        k->t_pos[j] = k->e_pos[j] / k->pos[j] - k->z_pos[j];
        k->t_neg[j] = k->e_neg[j] / k->neg[j] - k->z_neg[j];
        const double dp = k->pos[j] / k->z_pos[j], dq = k->neg[j] / k->z_neg[j];
        k->k0[j] = ((k->r_pos[j] + k->t_pos[j]) * dp - (k->r_neg[j] + k->t_neg[j]) * dq) /
                   (1 + p->lambda * (dp + dq));
    }
    MGVI_TRY(mgvi_hinge_direction(ctx, k, rb));
    for (int64_t j = 0; j < cols_of(k); j++) {
        const double h = p->lambda * d->w[j] - d->g[j];
        d->pos[j] = (k->r_pos[j] + k->t_pos[j] - h) * k->pos[j] / k->z_pos[j];
        d->neg[j] = (k->r_neg[j] + k->t_neg[j] + h) * k->neg[j] / k->z_neg[j];
        d->z_pos[j] = h - k->r_pos[j];
        d->z_neg[j] = -h - k->r_neg[j];
    }
    for (int64_t t = 0; boxed && t < k->live; t++) {
        const int64_t i = k->row[t];
        d->slack[i] = k->t_slack[i] - k->slack[i] / k->l[i] * d->a[i];
        d->xi[i] = k->t_xi[i] + k->xi[i] / k->c[i] * d->a[i];
    }
    return MGV_OK;
}

/* Lengths to the boundary, at most 1: [0] of the primal, [1] of the dual variables. */
static void lengths(const mgvi_hinge_interior *k, double t[2])
{
    const mgvi_hinge_block *p = k->p;
    const mgvi_hinge_move *d = &k->at;
    double primal = 1, dual = 1; /* the inverses */
    for (int64_t u = 0; u < mgvi_hinge_boxed(k); u++) {
        const int64_t i = k->row[u];
        primal = fmax(primal, fmax(-d->slack[i] / k->slack[i], -d->xi[i] / k->xi[i]));
        dual = fmax(dual, fmax(-d->a[i] / k->l[i], d->a[i] / k->c[i]));
    }
    for (int64_t j = 0; j < cols_of(k); j++) {
        primal = fmax(primal, fmax(-d->pos[j] / k->pos[j], -d->neg[j] / k->neg[j]));
        dual = fmax(dual, fmax(-d->z_pos[j] / k->z_pos[j], -d->z_neg[j] / k->z_neg[j]));
    }
    if (p->lambda > 0 || p->bend || p->kind == MGVI_ROWS_ENTROPY)
        primal = dual = fmax(primal, dual);
    t[0] = 1 / primal;
    t[1] = 1 / dual;
}

/* The mean complementarity after a step of these lengths. */
static double tau_after(const mgvi_hinge_interior *k, const double t[2])
{
    const mgvi_hinge_move *d = &k->at;
    double sum = 0;
    for (int64_t u = 0; u < mgvi_hinge_boxed(k); u++) {
        const int64_t i = k->row[u];
        sum += (k->slack[i] + t[0] * d->slack[i]) * (k->l[i] + t[1] * d->a[i]) +
               (k->xi[i] + t[0] * d->xi[i]) * (k->c[i] - t[1] * d->a[i]);
    }
    for (int64_t j = 0; j < cols_of(k); j++)
        sum += (k->pos[j] + t[0] * d->pos[j]) * (k->z_pos[j] + t[1] * d->z_pos[j]) +
               (k->neg[j] + t[0] * d->neg[j]) * (k->z_neg[j] + t[1] * d->z_neg[j]);
    return mean_of(k, sum);
}

/* What brings a product back towards the target, not below -SPREAD of it. */
static double back_to(double target, double x, double z)
{
    const double product = x * z;
    if (product < target / SPREAD)
        return target / SPREAD - product;
    return product > SPREAD * target ? fmax(SPREAD * target - product, -SPREAD * target) : 0;
}

/* The products that a step of these lengths would leave far from the target are aimed back. */
static void aim_back(mgvi_hinge_interior *k, double target, const double t[2])
{
    const mgvi_hinge_move *d = &k->at;
    for (int64_t u = 0; u < mgvi_hinge_boxed(k); u++) {
        const int64_t i = k->row[u];
        k->e_slack[i] +=
            back_to(target, k->slack[i] + t[0] * d->slack[i], k->l[i] + t[1] * d->a[i]);
        k->e_xi[i] += back_to(target, k->xi[i] + t[0] * d->xi[i], k->c[i] - t[1] * d->a[i]);
    }
    for (int64_t j = 0; j < cols_of(k); j++) {
        k->e_pos[j] +=
            back_to(target, k->pos[j] + t[0] * d->pos[j], k->z_pos[j] + t[1] * d->z_pos[j]);
        k->e_neg[j] +=
            back_to(target, k->neg[j] + t[0] * d->neg[j], k->z_neg[j] + t[1] * d->z_neg[j]);
    }
}

/* As many as their solves are cheap beside the factor: size^3/3 against 4 size^2. */
static int correctors(const mgvi_hinge_interior *k)
{
    const int64_t size = mgvi_hinge_by_columns(k) ? k->p->cols : k->live;
    return size < 120 ? 0 : size < 360 ? 1 : size < 720 ? 2 : 3;
}

static void swap_moves(mgvi_hinge_interior *k)
{
    const mgvi_hinge_move d = k->at;
    k->at = k->other;
    k->other = d;
}

/* Gondzio's correctors: longer steps from the same factor. */
static mgv_status correct(mgv_ctx *ctx, mgvi_hinge_interior *k, double rb, double target,
                          double t[2])
{
    for (int n = correctors(k); n > 0 && fmin(t[0], t[1]) < 1 - LONGER; n--) {
        const double longer[2] = {fmin(1, t[0] + LONGER), fmin(1, t[1] + LONGER)};
        double found[2];
        aim_back(k, target, longer);
        swap_moves(k);
        MGVI_TRY(direction(ctx, k, rb));
        lengths(k, found);
        if (!(found[0] + found[1] >= t[0] + t[1] + 2 * GAINED * LONGER)) {
            swap_moves(k);
            break;
        }
        t[0] = found[0];
        t[1] = found[1];
    }
    return MGV_OK;
}

/* Rows of entropy do not shorten the step: Newton's step for a logarithm overshoots where theta
 * falls by orders of magnitude, which then matters to nobody. What would take more than half of the
 * way to a bound ends in an exponential. */
static void move_entropy(mgvi_hinge_interior *k, int64_t i, double da)
{
    double *near = da < 0 ? &k->a[i] : &k->c[i], *far = da < 0 ? &k->c[i] : &k->a[i];
    const double part = fabs(da) / *near;
    if (part <= 0.5) {
        *near -= fabs(da);
        *far += fabs(da);
    } else {
        *near *= exp(1 - 2 * part) / 2;
        *far = k->p->s[i] - *near;
    }
}

static void move_rows(mgvi_hinge_interior *k, const double t[2])
{
    const mgvi_hinge_move *d = &k->at;
    for (int64_t u = 0; u < k->live; u++) {
        const int64_t i = k->row[u];
        const double da = t[1] * d->a[i];
        if (k->p->kind == MGVI_ROWS_ENTROPY) {
            move_entropy(k, i, da);
            continue;
        }
        k->slack[i] += t[0] * d->slack[i];
        k->xi[i] += t[0] * d->xi[i];
        k->a[i] += da;
        k->l[i] += da;
        k->c[i] -= da;
    }
}

static void move(mgv_ctx *ctx, mgvi_hinge_interior *k, const double t[2])
{
    const mgvi_hinge_move *d = &k->at;
    move_rows(k, t);
    for (int64_t j = 0; j < cols_of(k); j++) {
        k->pos[j] += t[0] * d->pos[j];
        k->neg[j] += t[0] * d->neg[j];
        k->z_pos[j] += t[1] * d->z_pos[j];
        k->z_neg[j] += t[1] * d->z_neg[j];
        k->w[j] += t[0] * d->w[j]; /* p - q, but for rounding where both are large */
        if (k->w[j] > 0)
            k->pos[j] = k->neg[j] + k->w[j];
        else
            k->neg[j] = k->pos[j] - k->w[j];
        k->v[j] += t[1] * d->g[j];
    }
    if (k->p->kind == MGVI_ROWS_ENTROPY && !k->p->gram)
        mgvi_hinge_duals(ctx, k->p, k->a, k->v);
    k->b += t[0] * d->db;
    mgvi_hinge_scores(ctx, k->p, &(mgvi_hinge_point){.theta = k->a, .w = k->w, .b = k->b}, k->z);
}

mgv_status mgvi_hinge_step(mgv_ctx *ctx, mgvi_hinge_interior *k, bool *positive)
{
    double t[2];
    const double before = k->tau, rb = residuals(k);
    MGVI_TRY(mgvi_hinge_factor(ctx, k, positive));
    if (!*positive)
        return MGV_OK;
    aim(k, 0, 0);
    MGVI_TRY(direction(ctx, k, rb));
    lengths(k, t);
    const double ratio = k->tau > 0 ? tau_after(k, t) / k->tau : 0;
    const bool stuck = k->p->lone && k->tau > STUCK * before; /* steps may else go in circles */
    const double least = stuck ? CAUTIOUS * k->tau : fmin(k->tau, k->lag);
    const double target = fmax(k->tau * ratio * ratio * ratio, least);
    aim(k, target, stuck ? t[0] * t[1] : 1);
    MGVI_TRY(direction(ctx, k, rb));
    lengths(k, t);
    MGVI_TRY(correct(ctx, k, rb, target, t));
    t[0] = fmin(1, NEARLY * t[0]);
    t[1] = fmin(1, NEARLY * t[1]);
    *positive = !k->spoiled;
    if (*positive)
        move(ctx, k, t);
    return MGV_OK;
}
