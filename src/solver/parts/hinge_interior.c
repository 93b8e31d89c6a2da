/* hinge_interior.c - Mehrotra's predictor and corrector for
 *   Z w + y b + bend a + xi - slack = 1,   zp = mu + lambda w - v,   zq = mu - lambda w + v (7)
 *   p zp = q zq = slack a = xi c = tau,   y.a + lin_free = 0                              (8)
 * with w = p - q, c = s - a and v = Z'a + lin. The same step for primal and dual variables where
 * lambda > 0 or bend > 0 couples them, else one each. */
#include "simd/simd.h"
#include "solver/parts/hinge_interior_impl.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 100 };

static const double NEARLY = 0.995; /* of the way to the boundary */
static const double HOPELESS = 1e3; /* times the best gap: rounding has taken over */
/* Relative gaps from which faces are tried, lambda = 0 and lambda > 0. At larger ones they are
 * wrong: on 100 x 2500, colon and leukemia the first right one came between 3e-3 and 1e-7. */
static const double FIRST_FACE[] = {5e-3, 1e-3};

mgv_status mgvi_hinge_interior_new(mgvi_arena *arena, int64_t rows, int64_t cols,
                                   mgvi_hinge_interior **out)
{
    mgvi_hinge_interior *k = mgvi_arena_array(arena, 1, sizeof *k);
    *out = k;
    if (!k)
        return MGV_E_MEMORY;
    k->rows = rows;
    k->most_cols = cols;
    double **of_rows[] = {&k->a,    &k->c,       &k->slack, &k->xi,         &k->z,
                          &k->rd,   &k->t_slack, &k->t_xi,  &k->da,         &k->d_slack,
                          &k->d_xi, &k->Th,      &k->r,     &k->best_theta, &k->face_theta};
    double **of_cols[] = {&k->w,      &k->v,      &k->pos,   &k->neg,   &k->z_pos, &k->z_neg,
                          &k->r_pos,  &k->r_neg,  &k->t_pos, &k->t_neg, &k->d_pos, &k->d_neg,
                          &k->dz_pos, &k->dz_neg, &k->K,     &k->k0,    &k->dw,    &k->g,
                          &k->best_w, &k->face_w, &k->sign};
    bool there = true;
    for (size_t t = 0; t < sizeof of_rows / sizeof *of_rows; t++)
        there = (*of_rows[t] = mgvi_arena_array(arena, (size_t)rows, sizeof(double))) && there;
    for (size_t t = 0; t < sizeof of_cols / sizeof *of_cols; t++)
        there = (*of_cols[t] = mgvi_arena_array(arena, (size_t)cols, sizeof(double))) && there;
    const size_t side = (size_t)rows, both = (size_t)(rows + cols);
    const size_t least = cols > 0 && cols < rows ? (size_t)cols : side;
    k->H = mgvi_arena_array(arena, least * least, sizeof *k->H);
    k->by_rows = mgvi_arena_array(arena, cols > 0 ? side * least : 0, sizeof(double));
    k->pair = mgvi_arena_array(arena, 2 * side, sizeof *k->pair);
    k->keys = mgvi_arena_array(arena, both, sizeof *k->keys);
    k->face_row = mgvi_arena_array(arena, side, sizeof *k->face_row);
    k->face_col = mgvi_arena_array(arena, (size_t)cols, sizeof *k->face_col);
    k->upper = mgvi_arena_array(arena, side, sizeof *k->upper);
    return there && k->H && k->by_rows && k->pair && k->keys && k->face_row && k->face_col &&
                   k->upper
               ? MGV_OK
               : MGV_E_MEMORY;
}

/* ---- the start ------------------------------------------------------------------------------- */

/* a in the middle of the box, the heavier class less so that the intercept's equation holds where
 * it can. */
static void middle_of_the_box(mgvi_hinge_interior *k)
{
    const mgvi_hinge_block *p = k->p;
    double side[2] = {0, 0};
    for (int64_t i = 0; p->y && i < p->rows; i++)
        side[p->y[i] > 0] += p->s[i];
    side[p->lin_free > 0] += 2 * fabs(p->lin_free); /* half of the box is 0.5 s */
    for (int64_t i = 0; i < p->rows; i++) {
        double share = 0.5;
        if (p->y) {
            const int mine = p->y[i] > 0;
            share *= side[mine] > side[!mine] ? fmax(side[!mine] / side[mine], 0.1) : 1;
        }
        k->a[i] = share * (p->bend ? fmin(p->s[i], 1 / p->bend[i]) : p->s[i]);
        k->c[i] = p->s[i] - k->a[i];
        k->slack[i] = 0.5;
        k->xi[i] = p->bend ? 1.5 * fmin(1, k->a[i] / k->c[i]) : 1.5;
    }
}

/* Bent rows: theta nearer to 0, where |v| <= mu. Primal and dual take the same steps there, and
 * columns many orders beyond mu would let neither begin. */
static void shrink_into_mu(mgvi_hinge_interior *k)
{
    const mgvi_hinge_block *p = k->p;
    double largest = 0;
    for (int64_t j = 0; j < p->cols; j++)
        largest = fmax(largest, fabs(k->v[j]));
    if (!p->bend || p->lin || p->lin_free != 0 || largest <= p->mu)
        return;
    const double share = 0.5 * p->mu / largest;
    for (int64_t j = 0; j < p->cols; j++)
        k->v[j] *= share;
    for (int64_t i = 0; i < p->rows; i++) {
        k->a[i] *= share;
        k->c[i] = p->s[i] - k->a[i];
        k->xi[i] = k->slack[i] * k->a[i] / k->c[i];
    }
}

static void start(const mgv_ctx *ctx, mgvi_hinge_interior *k)
{
    const mgvi_hinge_block *p = k->p;
    double sum = 0;
    middle_of_the_box(k);
    k->b = 0;
    memset(k->z, 0, (size_t)p->rows * sizeof *k->z);
    k->best_gap = INFINITY;
    memset(k->tried, 0, sizeof k->tried);
    if (p->gram) {
        mgvi_hinge_scores(ctx, p, &(mgvi_hinge_point){.theta = k->a}, k->z);
        return;
    }
    mgvi_hinge_duals(ctx, p, k->a, k->v);
    shrink_into_mu(k);
    for (int64_t i = 0; i < p->rows; i++)
        sum += k->slack[i] * k->a[i] + k->xi[i] * k->c[i];
    const double tau = sum / (double)(2 * p->rows);
    for (int64_t j = 0; j < p->cols; j++) {
        k->w[j] = 0;
        k->pos[j] = k->neg[j] = tau / p->mu;
        k->z_pos[j] = fmax(p->mu - k->v[j], 0.1 * p->mu);
        k->z_neg[j] = fmax(p->mu + k->v[j], 0.1 * p->mu);
    }
    if (mgvi_hinge_by_columns(p))
        for (int64_t i = 0; i < p->rows; i++)
            for (int64_t j = 0; j < p->cols; j++)
                k->by_rows[i * p->cols + j] = p->Z[i + j * p->col_stride];
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Residuals, weights K and Th, and the mean complementarity. Returns rb. */
static double residuals(mgvi_hinge_interior *k)
{
    const mgvi_hinge_block *p = k->p;
    double sum = 0, rb = -p->lin_free;
    for (int64_t i = 0; i < p->rows; i++) {
        sum += k->slack[i] * k->a[i] + k->xi[i] * k->c[i];
        const double bend = p->bend ? p->bend[i] : 0;
        k->rd[i] = 1 - k->z[i] - bend * k->a[i] - k->xi[i] + k->slack[i];
        k->Th[i] = k->xi[i] / k->c[i] + k->slack[i] / k->a[i] + bend;
        rb -= p->y ? p->y[i] * k->a[i] : 0;
    }
    const int64_t cols = p->gram ? 0 : p->cols;
    for (int64_t j = 0; j < cols; j++) {
        const double lw = p->lambda * k->w[j];
        sum += k->pos[j] * k->z_pos[j] + k->neg[j] * k->z_neg[j];
        k->r_pos[j] = k->z_pos[j] + k->v[j] - lw - p->mu;
        k->r_neg[j] = k->z_neg[j] - k->v[j] + lw - p->mu;
        const double kappa = k->pos[j] / k->z_pos[j] + k->neg[j] / k->z_neg[j];
        k->K[j] = kappa / (1 + p->lambda * kappa);
    }
    k->tau = sum / (double)(2 * (p->rows + cols));
    return rb;
}

/* One direction: towards complementarity `target`, with the second-order terms of the last
 * direction when `correct`. */
static mgv_status direction(mgv_ctx *ctx, mgvi_hinge_interior *k, double rb, double target,
                            bool correct)
{
    const mgvi_hinge_block *p = k->p;
    const int64_t cols = p->gram ? 0 : p->cols;
    const double second = correct ? 1 : 0;
    for (int64_t i = 0; i < p->rows; i++) {
        k->t_slack[i] = (target - second * k->d_slack[i] * k->da[i]) / k->a[i] - k->slack[i];
        k->t_xi[i] = (target + second * k->d_xi[i] * k->da[i]) / k->c[i] - k->xi[i];
        k->r[i] = k->rd[i] + k->t_slack[i] - k->t_xi[i];
    }
    for (int64_t j = 0; j < cols; j++) {
        k->t_pos[j] = (target - second * k->d_pos[j] * k->dz_pos[j]) / k->pos[j] - k->z_pos[j];
        k->t_neg[j] = (target - second * k->d_neg[j] * k->dz_neg[j]) / k->neg[j] - k->z_neg[j];
        const double dp = k->pos[j] / k->z_pos[j], dq = k->neg[j] / k->z_neg[j];
        k->k0[j] = ((k->r_pos[j] + k->t_pos[j]) * dp - (k->r_neg[j] + k->t_neg[j]) * dq) /
                   (1 + p->lambda * (dp + dq));
    }
    MGVI_TRY(mgvi_hinge_direction(ctx, k, rb));
    for (int64_t j = 0; j < cols; j++) {
        const double h = p->lambda * k->dw[j] - k->g[j];
        k->d_pos[j] = (k->r_pos[j] + k->t_pos[j] - h) * k->pos[j] / k->z_pos[j];
        k->d_neg[j] = (k->r_neg[j] + k->t_neg[j] + h) * k->neg[j] / k->z_neg[j];
        k->dz_pos[j] = h - k->r_pos[j];
        k->dz_neg[j] = -h - k->r_neg[j];
    }
    for (int64_t i = 0; i < p->rows; i++) {
        k->d_slack[i] = k->t_slack[i] - k->slack[i] / k->a[i] * k->da[i];
        k->d_xi[i] = k->t_xi[i] + k->xi[i] / k->c[i] * k->da[i];
    }
    return MGV_OK;
}

/* The most of x + t dx that stays positive. */
static void shorten(const double *x, const double *dx, int64_t n, double sign, double *t)
{
    double worst = 1 / *t;
    for (int64_t i = 0; i < n; i++)
        worst = fmax(worst, -sign * dx[i] / x[i]);
    *t = 1 / worst;
}

/* Lengths to the boundary, at most 1: [0] of the primal, [1] of the dual variables. */
static void lengths(const mgvi_hinge_interior *k, double t[2])
{
    const mgvi_hinge_block *p = k->p;
    const int64_t cols = p->gram ? 0 : p->cols;
    t[0] = t[1] = 1;
    shorten(k->slack, k->d_slack, p->rows, 1, &t[0]);
    shorten(k->xi, k->d_xi, p->rows, 1, &t[0]);
    shorten(k->pos, k->d_pos, cols, 1, &t[0]);
    shorten(k->neg, k->d_neg, cols, 1, &t[0]);
    shorten(k->a, k->da, p->rows, 1, &t[1]);
    shorten(k->c, k->da, p->rows, -1, &t[1]);
    shorten(k->z_pos, k->dz_pos, cols, 1, &t[1]);
    shorten(k->z_neg, k->dz_neg, cols, 1, &t[1]);
    if (p->lambda > 0 || p->bend)
        t[0] = t[1] = fmin(t[0], t[1]);
}

/* The mean complementarity after a step of these lengths. */
static double tau_after(const mgvi_hinge_interior *k, const double t[2])
{
    const mgvi_hinge_block *p = k->p;
    const int64_t cols = p->gram ? 0 : p->cols;
    double sum = 0;
    for (int64_t i = 0; i < p->rows; i++)
        sum += (k->slack[i] + t[0] * k->d_slack[i]) * (k->a[i] + t[1] * k->da[i]) +
               (k->xi[i] + t[0] * k->d_xi[i]) * (k->c[i] - t[1] * k->da[i]);
    for (int64_t j = 0; j < cols; j++)
        sum += (k->pos[j] + t[0] * k->d_pos[j]) * (k->z_pos[j] + t[1] * k->dz_pos[j]) +
               (k->neg[j] + t[0] * k->d_neg[j]) * (k->z_neg[j] + t[1] * k->dz_neg[j]);
    return sum / (double)(2 * (p->rows + cols));
}

static void move(const mgv_ctx *ctx, mgvi_hinge_interior *k, const double t[2])
{
    const mgvi_hinge_block *p = k->p;
    const int64_t cols = p->gram ? 0 : p->cols;
    for (int64_t i = 0; i < p->rows; i++) {
        k->slack[i] += t[0] * k->d_slack[i];
        k->xi[i] += t[0] * k->d_xi[i];
        k->a[i] += t[1] * k->da[i];
        k->c[i] -= t[1] * k->da[i];
    }
    for (int64_t j = 0; j < cols; j++) {
        k->pos[j] += t[0] * k->d_pos[j];
        k->neg[j] += t[0] * k->d_neg[j];
        k->z_pos[j] += t[1] * k->dz_pos[j];
        k->z_neg[j] += t[1] * k->dz_neg[j];
        k->w[j] = k->pos[j] - k->neg[j];
        k->v[j] += t[1] * k->g[j];
    }
    k->b += t[0] * k->db;
    mgvi_hinge_scores(ctx, p, &(mgvi_hinge_point){.theta = k->a, .w = k->w, .b = k->b}, k->z);
}

static mgv_status step(mgv_ctx *ctx, mgvi_hinge_interior *k, bool *positive)
{
    double t[2];
    const double rb = residuals(k);
    MGVI_TRY(mgvi_hinge_factor(ctx, k, positive));
    if (!*positive)
        return MGV_OK;
    MGVI_TRY(direction(ctx, k, rb, 0, false));
    lengths(k, t);
    const double ratio = tau_after(k, t) / k->tau;
    MGVI_TRY(direction(ctx, k, rb, k->tau * ratio * ratio * ratio, true));
    lengths(k, t);
    t[0] = fmin(1, NEARLY * t[0]);
    t[1] = fmin(1, NEARLY * t[1]);
    move(ctx, k, t);
    return MGV_OK;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Keeps the present point when it is the best; its relative gap. */
static double judge(mgvi_hinge_interior *k)
{
    const mgvi_hinge_block *p = k->p;
    const mgvi_hinge_point at = {.theta = k->a, .w = k->w, .b = k->b};
    const mgvi_hinge_values f = mgvi_hinge_judge(p, &at, k->z, k->v);
    const double gap = (f.primal - f.dual) / fmax(fabs(f.primal), 1e-300);
    if (gap < k->best_gap) {
        k->best_gap = gap;
        k->best_b = k->b;
        memcpy(k->best_theta, k->a, (size_t)p->rows * sizeof *k->a);
        if (!p->gram)
            memcpy(k->best_w, k->w, (size_t)p->cols * sizeof *k->w);
    }
    return gap;
}

/* The best point, its values taken anew. */
static void hand_over(const mgv_ctx *ctx, mgvi_hinge_interior *k, mgvi_hinge_point *out,
                      mgvi_hinge_result *result)
{
    const mgvi_hinge_block *p = k->p;
    memcpy(out->theta, k->best_theta, (size_t)p->rows * sizeof *k->a);
    out->b = k->best_b;
    if (!p->gram) {
        memcpy(out->w, k->best_w, (size_t)p->cols * sizeof *k->w);
        mgvi_hinge_duals(ctx, p, out->theta, k->v);
    }
    mgvi_hinge_scores(ctx, p, out, k->z);
    const mgvi_hinge_values f = mgvi_hinge_judge(p, out, k->z, k->v);
    result->primal = f.primal;
    result->dual = f.dual;
}

mgv_status mgvi_hinge_interior_solve(mgv_ctx *ctx, mgvi_hinge_interior *k,
                                     const mgvi_hinge_block *block, double tol,
                                     mgvi_hinge_point *out, mgvi_hinge_result *result)
{
    bool positive = true;
    double least = INFINITY; /* gap of the interior's own points */
    k->p = block;
    *result = (mgvi_hinge_result){.steps = 0};
    start(ctx, k);
    while (result->steps < MOST_STEPS && positive) {
        MGVI_TRY(step(ctx, k, &positive));
        result->steps++;
        const double gap = judge(k);
        if (!block->bend && gap <= FIRST_FACE[block->lambda > 0])
            MGVI_TRY(mgvi_hinge_try_faces(ctx, k, gap, &result->exact));
        if (result->exact || k->best_gap <= tol || !(gap <= HOPELESS * least))
            break;
        least = fmin(least, gap);
    }
    hand_over(ctx, k, out, result);
    return MGV_OK;
}
