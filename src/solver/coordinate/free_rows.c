/* free_rows.c - conjugate gradients on the free rows, and the step that is taken. */
#include "solver/coordinate/free_rows.h"

#include "base/limit.h"
#include "op/twins.h"
#include "solver/shared/packed_rows.h"

#include <math.h>
#include <string.h>

enum {
    MOST_ROUNDS = 30,    /* changes of the face */
    MOST_PRODUCTS = 500, /* in one step: what three hundred short passes cost */
    HALVINGS = 8         /* of a step, where the conjugate is no parabola */
};
/* Of the residual of (6): bounds will be met on the way, more would be wasted. */
static const double ACCURACY = 0.1;
/* Of K's mean diagonal, where the conjugate does not curve. Documents that are nearly equal make K
 * nearly singular; the ridge keeps their steps within reach of the box. */
static const double RIDGE = 1e-5;
/* Part of the way to the end of the box that a step may go where the conjugate's slope is infinite
 * there. */
static const double INSIDE = 0.9;
/* Numbers a row that the driver and dual_coordinate hold; and what a step takes. */
static const double HELD = 9;
static const double BYTES_A_ROW = 90 + MGVI_PACKED_BYTES_A_ROW + MGVI_FREE_METRIC_BYTES;

struct mgvi_free_rows {
    const mgv_problem *problem;
    const mgvi_rows *rows;
    mgvi_arena *arena; /* of a step */
    double spare;      /* bytes that it may take */
    int64_t count;     /* |E| */
    int32_t *member;   /* the rows of E */
    mgvi_packed_rows packed;
    double inverse_lambda, kappa;
    /* per packed row: u, its score, the slope of its conjugate, the least and most it may be */
    double *x, *z, *slope, *least, *most, *best;
    double *dir, *image, *delta, *residual, *scaled;
    bool *face;
    mgvi_free_metric metric;
    bool inside; /* the conjugate's slope is infinite at the ends of the box */
    double touched;
};

/* ---- the rows -------------------------------------------------------------------------------- */

mgv_status mgvi_free_rows_new(const mgv_problem *p, const mgvi_rows *rows, mgvi_arena *arena,
                              mgvi_free_rows **out)
{
    mgvi_free_rows *f;
    MGVI_TRY(MGVI_ARRAY(arena, f, 1));
    f->problem = p;
    f->rows = rows;
    f->spare = mgvi_problem_spare(p, HELD);
    f->inside = !isfinite(p->loss->mirror((mgvi_coef){.scale = 1, .b = 1}, 0));
    if (!(f->arena = mgvi_arena_within(arena)))
        return MGV_E_MEMORY;
    *out = f;
    return MGV_OK;
}

/* The end of row i's box on one side: of the half that u lies in, where the conjugate has a kink at
 * 0. */
static double end_of(const mgvi_free_rows *f, int64_t i, double u, double side)
{
    const mgvi_loss_ops *loss = f->problem->loss;
    if ((loss->can & MGVI_BETWEEN) && u * side < 0)
        return 0;
    return loss->dual_clip(mgvi_coefs_at(&f->problem->row, i, 0), side * INFINITY);
}

static bool is_free(const mgvi_free_rows *f, const double *u, int64_t i)
{
    const bool half = f->problem->loss->can & MGVI_BETWEEN;
    return !(half && u[i] == 0) && u[i] < end_of(f, i, u[i], 1) && u[i] > end_of(f, i, u[i], -1);
}

/* Room for what goes with the rows of E. */
/* Room for `count` rows; `row`, `root`, `bend` and `twin` are to be filled. */
static mgv_status metric_new(mgvi_arena *arena, int64_t count, mgvi_free_metric *out)
{
    *out = (mgvi_free_metric){.count = count};
    MGVI_TRY(MGVI_ARRAY(arena, out->row, count));
    MGVI_TRY(MGVI_ARRAY(arena, out->twin, count));
    return MGVI_VECTORS(arena, count, &out->root, &out->bend, &out->pull, &out->width);
}

static mgv_status make_room(mgvi_free_rows *f)
{
    const size_t n = (size_t)f->count;
    MGVI_TRY(MGVI_VECTORS(f->arena, n, &f->x, &f->z, &f->slope, &f->least, &f->most, &f->best,
                          &f->dir, &f->image, &f->delta, &f->residual, &f->scaled));
    MGVI_TRY(MGVI_ARRAY(f->arena, f->member, n));
    MGVI_TRY(MGVI_ARRAY(f->arena, f->face, n));
    return metric_new(f->arena, f->count, &f->metric);
}

/* The rows of E: few of the data's, as a rule. None, where they are too many or there is no room
 * for them. */
static mgv_status choose(mgvi_free_rows *f, const double *u, double most_rows)
{
    int64_t entries = 0;
    f->count = 0;
    for (int64_t i = 0; i < f->rows->count; i++)
        if (is_free(f, u, i)) {
            f->count++;
            entries += mgvi_rows_nnz(f->rows, i);
        }
    if ((double)f->count > most_rows ||
        BYTES_A_ROW * (double)f->count + MGVI_PACKED_BYTES_AN_ENTRY * (double)entries > f->spare)
        f->count = 0;
    if (f->count == 0)
        return MGV_OK;
    MGVI_TRY(make_room(f));
    int64_t k = 0;
    for (int64_t i = 0; i < f->rows->count; i++)
        if (is_free(f, u, i))
            f->member[k++] = (int32_t)i;
    return MGV_OK;
}

/* ---- products -------------------------------------------------------------------------------- */

static double dot(const mgvi_free_rows *f, const double *x, const double *y, int64_t n)
{
    return f->problem->ctx->simd->dot_f64(x, y, n);
}

/* a0'x */
static double free_part(const mgvi_free_rows *f, const double *x)
{
    double sum = 0;
    for (int64_t k = 0; k < f->count; k++)
        sum += mgvi_problem_free_entry(f->problem, f->member[k]) * x[k];
    return sum;
}

/* y = (A_E A_E'/lambda + kappa a0 a0') x */
static void curve(mgvi_free_rows *f, const double *x, double *y)
{
    mgvi_packed_rows_square(&f->packed, x, y);
    const double pressure = f->kappa > 0 ? f->kappa * free_part(f, x) : 0;
    for (int64_t k = 0; k < f->count; k++) {
        y[k] *= f->inverse_lambda;
        if (f->kappa > 0)
            y[k] += pressure * mgvi_problem_free_entry(f->problem, f->member[k]);
    }
}

/* ---- the step -------------------------------------------------------------------------------- */

static mgvi_coef coef_of(const mgvi_free_rows *f, int64_t k)
{
    return mgvi_coefs_at(&f->problem->row, f->member[k], 0);
}

/* x, or at 0 something on the side of it that the row is on. */
static double half_of(const mgvi_free_rows *f, int64_t k)
{
    const bool kink = f->problem->loss->can & MGVI_BETWEEN;
    return kink && f->x[k] == 0 ? f->most[k] + f->least[k] : f->x[k];
}

/* The conjugate's slope and curvature at x; at an end of the box the latter stays what it was. */
static void bend_rows(mgvi_free_rows *f)
{
    const mgvi_loss_ops *loss = f->problem->loss;
    for (int64_t k = 0; k < f->count; k++) {
        const mgvi_coef c = coef_of(f, k);
        f->slope[k] = loss->mirror(c, half_of(f, k));
        const double curv = loss->can & MGVI_SMOOTH ? loss->curv(c, f->slope[k]) : 0;
        if (curv > 0)
            f->metric.bend[k] = 1 / curv;
    }
}

/* The face: rows inside the box, and those at a bound whose gradient z - slope points into it.
 * `residual` becomes the gradient on the face, `dir` what the metric makes of it; returns their
 * product. */
static double face_gradient(mgvi_free_rows *f)
{
    bend_rows(f);
    for (int64_t k = 0; k < f->count; k++) {
        const double g = f->z[k] - f->slope[k], x = f->x[k];
        f->face[k] = (x < f->most[k] || g < 0) && (x > f->least[k] || g > 0);
        f->residual[k] = f->face[k] ? g : 0;
    }
    return mgvi_free_metric_solve(&f->metric, f->face, f->residual, f->dir);
}

/* (K + diag(h)) delta = gradient on the face by conjugate gradients; rho is what face_gradient()
 * said. Returns the products. */
static int64_t newton_direction(mgvi_free_rows *f, double rho, int64_t most)
{
    const int64_t n = f->count;
    const double enough = ACCURACY * ACCURACY * rho;
    int64_t products = 0;
    memset(f->delta, 0, (size_t)n * sizeof *f->delta);
    while (products < most && rho > enough && !mgvi_ctx_cut(f->problem->ctx)) {
        curve(f, f->dir, f->image);
        products++;
        for (int64_t k = 0; k < n; k++)
            f->image[k] = f->face[k] ? f->image[k] + f->metric.bend[k] * f->dir[k] : 0;
        const double length = rho / dot(f, f->dir, f->image, n);
        for (int64_t k = 0; k < n; k++) {
            f->delta[k] += length * f->dir[k];
            f->residual[k] -= length * f->image[k];
        }
        const double next = mgvi_free_metric_solve(&f->metric, f->face, f->residual, f->scaled);
        for (int64_t k = 0; k < n; k++)
            f->dir[k] = f->scaled[k] + next / rho * f->dir[k];
        rho = next;
    }
    return products;
}

/* sum over E of s G(z) + (s G)*(u) - u z >= 0: their share of the duality gap. */
static double share_of_gap(const mgvi_free_rows *f)
{
    const mgvi_loss_ops *loss = f->problem->loss;
    double sum = 0;
    for (int64_t k = 0; k < f->count; k++) {
        const mgvi_coef c = coef_of(f, k);
        sum += loss->value(c, f->z[k]) + loss->conj(c, f->x[k]) - f->x[k] * f->z[k];
    }
    return sum;
}

/* dir = the step from x to the nearest point of the box to x + delta. */
static void clip_step(mgvi_free_rows *f)
{
    for (int64_t k = 0; k < f->count; k++) {
        const double x = f->x[k], part = f->inside ? INSIDE : 1;
        f->dir[k] = fmin(part * (f->most[k] - x), fmax(part * (f->least[k] - x), f->delta[k]));
    }
}

/* By how much F grows t dir away, image = K dir. */
static double gain_at(const mgvi_free_rows *f, double t)
{
    const mgvi_loss_ops *loss = f->problem->loss;
    double gain = 0;
    for (int64_t k = 0; k < f->count; k++) {
        const mgvi_coef c = coef_of(f, k);
        const double x = f->x[k], e = t * f->dir[k],
                     to = fmin(f->most[k], fmax(f->least[k], x + e)); /* but for rounding */
        gain += e * (f->z[k] - t * f->image[k] / 2) - (loss->conj(c, to) - loss->conj(c, x));
    }
    return gain;
}

/* x += t dir, exactly at a bound where it comes within rounding of one; z -= t K dir. */
static void move(mgvi_free_rows *f, double t)
{
    for (int64_t k = 0; k < f->count; k++) {
        const double s = coef_of(f, k).scale, x = f->x[k] + t * f->dir[k];
        f->z[k] -= t * f->image[k];
        f->x[k] = f->inside                     ? x
                  : x > f->most[k] - 1e-14 * s  ? f->most[k]
                  : x < f->least[k] + 1e-14 * s ? f->least[k]
                                                : x;
    }
}

/* Newton steps on one face after the other: whoever leaves the box stops at its bound and leaves
 * the face, whoever is pulled back joins again. F may fall on the way (a document that stops leaves
 * its near copies behind, until the next round solves for them): `best` is the best of all. Only
 * where no row can stop at a bound a step is halved until F grows. Returns by how much F grew. */
static double solve(mgvi_free_rows *f, double target, int64_t most, int64_t *products)
{
    double total = 0, most_gain = 0, rho = face_gradient(f);
    for (int round = 0; round < MOST_ROUNDS && rho > 0 && *products < most; round++) {
        if (share_of_gap(f) <= target)
            break;
        *products += 1 + newton_direction(f, rho, (most - *products + 1) / 2);
        clip_step(f);
        curve(f, f->dir, f->image);
        double t = 1, gain = gain_at(f, t);
        for (int k = 0; f->inside && !(gain > 0) && k < HALVINGS; k++)
            gain = gain_at(f, t /= 2);
        if (f->inside && !(gain > 0))
            break;
        total += gain;
        move(f, t);
        if (total > most_gain) {
            most_gain = total;
            memcpy(f->best, f->x, (size_t)f->count * sizeof *f->x);
        }
        rho = face_gradient(f);
    }
    return most_gain;
}

/* u and w follow the best x; by how much a0'u grew. */
static double take(mgvi_free_rows *f, double *u, double *acc)
{
    const int64_t slot = mgvi_rows_acc_len(f->rows) - 1;
    const double intercept = acc[slot];
    double free_sum = 0;
    for (int64_t k = 0; k < f->count; k++) {
        const int64_t i = f->member[k];
        const double change = f->best[k] - u[i];
        mgvi_rows_axpy(f->rows, i, -change * f->inverse_lambda, acc);
        free_sum += mgvi_problem_free_entry(f->problem, i) * change;
        u[i] = f->best[k];
    }
    f->touched += (double)f->packed.by_row.nnz;
    if (f->problem->free_cols)
        acc[slot] = intercept - f->kappa * free_sum;
    return free_sum;
}

/* What a step begins with: the rows of E as they are, and the metric. */
static mgv_status open_step(mgvi_free_rows *f, const mgvi_free_goal *goal, const double *u,
                            const double *acc)
{
    double diagonal = 0;
    for (int64_t k = 0; k < f->count; k++)
        diagonal += goal->curvature[f->member[k]] / (double)f->count;
    for (int64_t k = 0; k < f->count; k++) {
        const int64_t i = f->member[k];
        f->x[k] = u[i];
        f->z[k] = mgvi_rows_dot(f->rows, i, acc);
        f->least[k] = end_of(f, i, u[i], -1);
        f->most[k] = end_of(f, i, u[i], 1);
        f->metric.row[k] = mgvi_rows_source(f->rows, i);
        f->metric.root[k] = copysign(sqrt(goal->curvature[i]), f->packed.pull[k]);
        f->metric.bend[k] = RIDGE * diagonal;
    }
    f->touched += (double)f->packed.by_row.nnz;
    return mgvi_matrix_twins(f->problem->ctx, &f->rows->m, f->metric.row, f->metric.count,
                             f->metric.twin);
}

static mgv_status step(mgvi_free_rows *f, const mgvi_free_goal *goal, double *u, double *acc,
                       mgvi_free_step *out)
{
    f->inverse_lambda = goal->inverse_lambda;
    f->kappa = goal->kappa;
    f->touched = 0;
    MGVI_TRY(choose(f, u, goal->most_rows));
    *out = (mgvi_free_step){.rows = f->count};
    if (f->count == 0)
        return MGV_OK;
    MGVI_TRY(mgvi_packed_rows_new(f->arena, f->rows, f->member, f->count, 1, &f->packed));
    MGVI_TRY(open_step(f, goal, u, acc));
    const double each = 2 * fmax((double)f->packed.by_row.nnz, 1);
    const int64_t most = (int64_t)fmin(MOST_PRODUCTS, fmax(goal->most / each, 1));
    out->gain = solve(f, goal->target, most, &out->products);
    if (out->gain > 0)
        out->free_sum = take(f, u, acc);
    out->touched = f->touched + f->packed.touched;
    return MGV_OK;
}

mgv_status mgvi_free_rows_step(mgvi_free_rows *f, const mgvi_free_goal *goal, double *u,
                               double *acc, mgvi_free_step *out)
{
    const mgv_status st = step(f, goal, u, acc, out);
    mgvi_arena_free(f->arena);
    return st;
}

/* ---- the metric ------------------------------------------------------------------------------ */

/* The inverse of (8) by Sherman and Morrison's formula, group by group. */

double mgvi_free_metric_solve(const mgvi_free_metric *m, const bool *face, const double *x,
                              double *y)
{
    double product = 0;
    for (int64_t k = 0; k < m->count; k++)
        m->pull[k] = m->width[k] = 0;
    for (int64_t k = 0; k < m->count; k++)
        if (face[k]) {
            const double v = m->root[k] / m->bend[k];
            m->pull[m->twin[k]] += v * x[k];
            m->width[m->twin[k]] += v * m->root[k];
        }
    for (int64_t k = 0; k < m->count; k++) {
        const int64_t g = m->twin[k];
        y[k] = face[k] ? (x[k] - m->root[k] * (m->pull[g] / (1 + m->width[g]))) / m->bend[k] : 0;
        product += x[k] * y[k];
    }
    return product;
}
