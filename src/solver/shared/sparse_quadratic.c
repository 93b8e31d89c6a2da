/* sparse_quadratic.c - coordinate steps and a polished support. */
#include "solver/shared/sparse_quadratic.h"

#include "base/limit.h"
#include "linalg/gemm.h"

#include <math.h>
#include <string.h>

enum {
    MOST_ROUNDS = 30,     /* of sweeps and a polish */
    MOST_SWEEPS = 20,     /* in a row, while they pay */
    SPARSE_SWEEPS = 100,  /* of sparse columns, which are cheap to sweep and dear to polish */
    MOST_WALKS = 30,      /* steps of one polish */
    ALL_WALKS = 200,      /* of all of them */
    LEAST_PRODUCTS = 100, /* of conjugate gradients; twice the support is allowed */
    MOST_PRODUCTS = 500
};

/* Of the violation, in a sweep that pays. */
static const double FALL = 0.5;
static const double EASY = 15;   /* products that conjugate gradients are first believed to need */
static const double TIE = 1e-12; /* of the strength: a gradient that near to it may be at it */

mgv_status mgvi_quadratic_room(mgvi_quadratic *q, int64_t count, bool gram)
{
    if (count >= q->room) {
        const size_t room = (size_t)(count + count / 4 + 1);
        q->room = 0;
        MGVI_TRY(MGVI_VECTORS(q->arena, room, &q->x, &q->scale, &q->ridge, &q->linear, &q->square,
                              &q->sum, &q->mean, &q->residual, &q->dir, &q->image, &q->delta,
                              &q->size, &q->origin));
        MGVI_TRY(MGVI_ARRAY(q->arena, q->support, room));
        MGVI_TRY(mgvi_anderson_new(q->arena, (int64_t)room, &q->anderson));
        q->room = (int64_t)room;
    }
    if (gram && count > q->gram_room) {
        const size_t room = (size_t)(count + count / 4);
        q->gram_room = 0;
        MGVI_TRY(MGVI_ARRAY(q->arena, q->gram, room * room));
        q->gram_room = (int64_t)room;
    }
    q->count = count;
    return MGV_OK;
}

/* ---- the two forms --------------------------------------------------------------------------- */

static double column_dot(const mgvi_quadratic *q, int64_t k, const double *y)
{
    const int64_t first = q->ptr[k], n = q->ptr[k + 1] - first;
    return q->form == MGVI_DENSE_FORM
               ? q->simd->dot_f64(q->val + first, y, n)
               : q->simd->gather_dot_f64(q->val + first, q->idx + first, n, y);
}

static void column_axpy(const mgvi_quadratic *q, int64_t k, double a, double *y)
{
    const int64_t first = q->ptr[k], n = q->ptr[k + 1] - first;
    if (q->form == MGVI_DENSE_FORM)
        q->simd->axpy_f64(a, q->val + first, y, n);
    else
        q->simd->scatter_axpy_f64(a, q->val + first, q->idx + first, n, y);
}

/* The derivative of the first two terms:  g_k + p_k.Y - c_k e.Y                              (6) */
static double gradient(const mgvi_quadratic *q, int64_t k)
{
    if (q->form == MGVI_GRAM_FORM)
        return q->linear[k];
    return q->linear[k] + column_dot(q, k, q->R) + q->off * q->sum[k] - q->mean[k] * q->T;
}

static void move_column(mgvi_quadratic *q, int64_t k, double next)
{
    const double move = next - q->x[k];
    q->x[k] = next;
    if (q->form == MGVI_GRAM_FORM) {
        q->simd->axpy_f64(move, q->gram + k * q->count, q->linear, q->count);
        q->work += MGVI_QUADRATIC_STREAMED * (double)q->count;
        return;
    }
    column_axpy(q, k, move, q->R);
    q->off -= q->mean[k] * move;
    q->T += (q->sum[k] - q->mean[k] * q->W) * move;
}

/* Entries read by one look at every column. */
static void count_pass(mgvi_quadratic *q, double passes)
{
    if (q->form != MGVI_GRAM_FORM)
        q->touched += passes * (double)q->ptr[q->count];
}

/* image = (Q'Q + ridge) dir over the support. */
static void curve(mgvi_quadratic *q)
{
    memset(q->image, 0, (size_t)q->count * sizeof *q->image);
    if (q->form == MGVI_GRAM_FORM) {
        for (int64_t k = 0; k < q->count; k++)
            if (q->dir[k] != 0) {
                q->simd->axpy_f64(q->dir[k], q->gram + k * q->count, q->image, q->count);
                q->work += MGVI_QUADRATIC_STREAMED * (double)q->count;
            }
    } else {
        double shift = 0;
        memset(q->Y, 0, (size_t)q->rows * sizeof *q->Y);
        for (int64_t k = 0; k < q->count; k++)
            if (q->dir[k] != 0) {
                column_axpy(q, k, q->dir[k], q->Y);
                shift += q->mean[k] * q->dir[k];
            }
        if (shift != 0)
            q->simd->axpy_f64(-shift, q->e, q->Y, q->rows);
        const double T = q->simd->dot_f64(q->e, q->Y, q->rows);
        for (int64_t k = 0; k < q->count; k++)
            if (q->x[k] != 0)
                q->image[k] = column_dot(q, k, q->Y) - q->mean[k] * T;
        count_pass(q, 2);
    }
    for (int64_t k = 0; k < q->count; k++)
        q->image[k] = q->x[k] == 0 ? 0 : q->image[k] + q->ridge[k] * q->dir[k];
}

double mgvi_quadratic_spread(mgvi_quadratic *q, int64_t k)
{
    memset(q->Y, 0, (size_t)q->rows * sizeof *q->Y);
    column_axpy(q, k, 1, q->Y);
    if (q->mean[k] != 0)
        q->simd->axpy_f64(-q->mean[k], q->e, q->Y, q->rows);
    return q->sum[k] - q->mean[k] * q->W;
}

void mgvi_quadratic_products(mgvi_quadratic *q, int64_t k, int64_t last, double *out)
{
    const double T = mgvi_quadratic_spread(q, k);
    for (int64_t l = k; l < last; l++)
        out[l] = column_dot(q, l, q->Y) - q->mean[l] * T;
    q->touched += (double)(q->ptr[last] - q->ptr[k]);
}

/* ---- coordinate descent ---------------------------------------------------------------------- */

/* Distance of -G to the subdifferential of the penalty. A column at 0 that only rounding would move
 * stays there: the twin of one with a weight would come and go for ever. */
static double violation(const mgvi_quadratic *q, int64_t k, double G)
{
    const double excess = fabs(G) - q->scale[k];
    if (q->x[k] == 0)
        return excess > TIE * q->scale[k] ? excess : 0;
    return fabs(G + q->ridge[k] * q->x[k] + copysign(q->scale[k], q->x[k]));
}

/* Exact steps in one column at a time. Returns the largest gain that one of them promised, twice.
 */
static double sweep(mgvi_quadratic *q)
{
    double worst = 0;
    for (int64_t k = 0; k < q->count; k++) {
        const double bend = q->square[k] + q->ridge[k];
        if (!(bend > 0))
            continue;
        const double G = gradient(q, k), miss = violation(q, k, G);
        worst = fmax(worst, miss * miss / bend);
        if (miss == 0)
            continue;
        const double v = q->square[k] * q->x[k] - G;
        move_column(q, k, copysign(fmax(0, fabs(v) - q->scale[k]), v) / bend);
    }
    count_pass(q, 2);
    return worst;
}

/* ---- Anderson's extrapolation of sparse sweeps ----------------------------------------------- */

static double value(const mgvi_quadratic *q)
{
    const double cross = q->simd->dot_f64(q->e, q->R, q->rows);
    const double square = q->simd->dot_f64(q->R, q->R, q->rows);
    double sum = 0.5 * (square + q->off * (2 * cross + q->off * q->W));
    for (int64_t k = 0; k < q->count; k++)
        sum += q->linear[k] * (q->x[k] - q->origin[k]) + q->scale[k] * fabs(q->x[k]) +
               0.5 * q->ridge[k] * q->x[k] * q->x[k];
    return sum;
}

static void jump(mgvi_quadratic *q, const double *next)
{
    for (int64_t k = 0; k < q->count; k++)
        if (next[k] != q->x[k])
            move_column(q, k, next[k]);
    count_pass(q, 1);
}

/* After a sweep: every sixth time x goes to where the last ones lead, if that is better. */
static void extrapolate(mgvi_quadratic *q)
{
    double *ahead = q->image, *here = q->dir;
    memcpy(mgvi_anderson_slot(&q->anderson), q->x, (size_t)q->count * sizeof *q->x);
    if (!mgvi_anderson_push(&q->anderson, ahead))
        return;
    const double before = value(q);
    memcpy(here, q->x, (size_t)q->count * sizeof *here);
    jump(q, ahead);
    if (!(value(q) < before))
        jump(q, here);
}

/* ---- Newton steps on the support ------------------------------------------------------------- */

/* residual = minus the gradient on the support with its signs; its square in units of the bend. */
static double support_gradient(mgvi_quadratic *q)
{
    double rho = 0;
    q->support_count = 0;
    for (int64_t k = 0; k < q->count; k++) {
        const double bend = q->square[k] + q->ridge[k];
        q->residual[k] = q->delta[k] = q->dir[k] = 0;
        if (q->x[k] == 0 || !(bend > 0))
            continue;
        q->support[q->support_count++] = (int32_t)k;
        q->size[k] = sqrt(bend);
        q->residual[k] = -(gradient(q, k) + q->ridge[k] * q->x[k] + copysign(q->scale[k], q->x[k]));
        q->dir[k] = q->residual[k] / bend;
        rho += q->residual[k] * q->dir[k];
    }
    count_pass(q, 1);
    return rho;
}

/* The bend on the support, scaled to a unit diagonal, as U'U. The ridge is for dependent columns:
 * what it leaves is a long step along them. */
static mgv_status factor_support(mgvi_quadratic *q)
{
    const int64_t n = q->support_count;
    int64_t pivot;
    if (n > q->factor_room) {
        const int64_t room = 2 * n < MGVI_QUADRATIC_MOST ? 2 * n : MGVI_QUADRATIC_MOST;
        MGVI_TRY(MGVI_ARRAY(q->arena, q->H, (size_t)(room * room)));
        q->factor_room = room;
    }
    for (double ridge = 1e-13;; ridge *= 100) {
        MGVI_TRY(mgvi_support_gram(q, q->H));
        for (int64_t a = 0; a < n; a++) {
            double *row = q->H + a * n;
            for (int64_t b = a; b < n; b++)
                row[b] /= q->size[q->support[a]] * q->size[q->support[b]];
            row[a] = 1 + ridge;
        }
        MGVI_TRY(mgvi_cholesky(q->ctx, n, q->H, n, &pivot));
        q->work += floor((double)n * (double)n * (double)n / 6) +
                   MGVI_QUADRATIC_STREAMED * (double)n * (double)n;
        if (pivot < 0 || !(ridge < 1))
            return MGV_OK;
    }
}

static mgv_status solve_by_factor(mgvi_quadratic *q)
{
    const int64_t n = q->support_count;
    MGVI_TRY(factor_support(q));
    for (int64_t a = 0; a < n; a++)
        q->image[a] = q->residual[q->support[a]] / q->size[q->support[a]];
    MGVI_TRY(mgvi_cholesky_solve(q->ctx, n, q->H, n, 1, q->image));
    for (int64_t a = 0; a < n; a++)
        q->delta[q->support[a]] = q->image[a] / q->size[q->support[a]];
    return MGV_OK;
}

static void solve_by_products(mgvi_quadratic *q, double rho)
{
    const double enough = 1e-4 * rho;
    int64_t most = 2 * q->support_count, t = 0;
    most = most < LEAST_PRODUCTS ? LEAST_PRODUCTS : most > MOST_PRODUCTS ? MOST_PRODUCTS : most;
    for (; t < most && rho > enough; t++) {
        curve(q);
        const double bend = q->simd->dot_f64(q->dir, q->image, q->count);
        if (!(bend > 0)) { /* dependent columns: downhill without an end */
            if (t == 0)
                memcpy(q->delta, q->dir, (size_t)q->count * sizeof *q->delta);
            break;
        }
        double next = 0;
        for (int64_t a = 0; a < q->support_count; a++) {
            const int64_t k = q->support[a];
            q->delta[k] += rho / bend * q->dir[k];
            q->residual[k] -= rho / bend * q->image[k];
            next += q->residual[k] / q->size[k] * (q->residual[k] / q->size[k]);
        }
        for (int64_t a = 0; a < q->support_count; a++) {
            const int64_t k = q->support[a];
            q->dir[k] = q->residual[k] / (q->size[k] * q->size[k]) + next / rho * q->dir[k];
        }
        rho = next;
    }
    q->products = fmax(q->products, (double)t);
}

/* Whether a factor of the support costs less than conjugate gradients on it, which need as many
 * products as they once did: nearly dependent columns show themselves. Sparse columns: than what was
 * just swept, a few times. */
static bool factor_pays(const mgvi_quadratic *q)
{
    static const double SWEEPS = 4 * SPARSE_SWEEPS;
    double n = 0, entries = 0;
    if (q->form == MGVI_GRAM_FORM)
        return q->support_count <= MGVI_QUADRATIC_MOST;
    for (int64_t k = 0; k < q->count; k++)
        if (q->x[k] != 0) {
            entries += (double)(q->ptr[k + 1] - q->ptr[k]);
            n++;
        }
    if (n > MGVI_QUADRATIC_MOST)
        return false;
    if (q->form == MGVI_SPARSE_FORM)
        return n * n * n / 6 <= MGVI_QUADRATIC_STREAMED * SWEEPS * entries;
    return n * (entries / 2 + (double)q->rows) + n * n * n / 6 <=
           4 * fmax(EASY, q->products) * entries;
}

/* The first t at which some x_k + t delta_k would change its sign; *who: which. */
static double first_zero(const mgvi_quadratic *q, int64_t *who)
{
    double t = INFINITY;
    for (int64_t k = 0; k < q->count; k++)
        if (q->delta[k] * q->x[k] < 0 && -q->x[k] / q->delta[k] < t) {
            t = -q->x[k] / q->delta[k];
            *who = k;
        }
    return t;
}

/* x += t delta on the support; column `zero` (-1: none) lands at 0. */
static void walk(mgvi_quadratic *q, double t, int64_t zero)
{
    for (int64_t k = 0; k < q->count; k++)
        if (q->delta[k] != 0)
            move_column(q, k, k == zero ? 0 : q->x[k] + t * q->delta[k]);
    count_pass(q, 1);
}

/* How much the function falls along delta, and how it bends. */
static void measure_direction(mgvi_quadratic *q, double *slope, double *bend)
{
    *slope = 0;
    memcpy(q->dir, q->delta, (size_t)q->count * sizeof *q->dir);
    curve(q);
    for (int64_t k = 0; k < q->count; k++)
        if (q->delta[k] != 0)
            *slope -= (gradient(q, k) + q->ridge[k] * q->x[k] + copysign(q->scale[k], q->x[k])) *
                      q->delta[k];
    *bend = q->simd->dot_f64(q->dir, q->image, q->count);
}

/* One Newton step on the support, on which signs are kept and the function is quadratic: to its
 * end; or to the first zero; or, if that is better, with all who would change their sign stopping
 * at 0. *ended: whether it went to its end. */
static mgv_status polish_once(mgvi_quadratic *q, bool *ended)
{
    const double rho = support_gradient(q);
    double slope, bend;
    int64_t who = -1;
    *ended = true;
    if (!(rho > 0))
        return MGV_OK;
    if (factor_pays(q))
        MGVI_TRY(solve_by_factor(q));
    else
        solve_by_products(q, rho);
    measure_direction(q, &slope, &bend);
    const double first = first_zero(q, &who), wanted = bend > 0 ? slope / bend : INFINITY;
    if (!(slope > 0) || !isfinite(fmin(first, wanted)))
        return MGV_OK;
    if (wanted < first) {
        walk(q, wanted, -1);
        return MGV_OK;
    }
    *ended = false;
    const double gain = first * (slope - first / 2 * bend);
    memcpy(q->residual, q->delta, (size_t)q->count * sizeof *q->residual);
    for (int64_t k = 0; k < q->count; k++)
        if (q->delta[k] * q->x[k] < 0 && fabs(q->delta[k]) > fabs(q->x[k]))
            q->delta[k] = -q->x[k];
    measure_direction(q, &slope, &bend);
    const double t = bend > slope ? slope / bend : 1;
    if (slope > 0 && t * (slope - t / 2 * bend) > gain) {
        walk(q, t, -1);
        return MGV_OK;
    }
    memcpy(q->delta, q->residual, (size_t)q->count * sizeof *q->delta);
    walk(q, first, who);
    return MGV_OK;
}

/* Whether it costs more than it may: what there is by now has to do. */
static bool spent(const mgvi_quadratic *q)
{
    return q->entry_cost * q->touched + q->work > q->allowance;
}

static mgv_status polish(mgvi_quadratic *q, int *walks)
{
    const int most = q->form == MGVI_SPARSE_FORM ? 1 : MOST_WALKS;
    bool ended = false;
    for (int k = 0; k < most && !ended && *walks < ALL_WALKS && !mgvi_ctx_cut(q->ctx) && !spent(q);
         k++, ++*walks)
        MGVI_TRY(polish_once(q, &ended));
    return MGV_OK;
}

/* Sweeps until they are good enough, or of no use: those of sparse columns are extrapolated, and
 * all of them cost no more than a Newton step, which is better only when signs are known. Returns
 * what the last one promised. */
static double sweep_on(mgvi_quadratic *q, double accuracy, double *first)
{
    const bool sparse = q->form == MGVI_SPARSE_FORM;
    const bool brief = !sparse || (q->last && factor_pays(q));
    const int most = brief ? MOST_SWEEPS : SPARSE_SWEEPS;
    double last = INFINITY, worst = 0;
    mgvi_anderson_reset(&q->anderson, q->count);
    for (int k = 0; k < most && !mgvi_ctx_cut(q->ctx) && (k == 0 || !spent(q)); k++) {
        worst = sweep(q);
        *first = fmax(*first, worst);
        if (worst <= accuracy * accuracy * *first || (brief && k > 0 && worst > FALL * last))
            break;
        if (sparse)
            extrapolate(q);
        last = worst;
    }
    return worst;
}

/* Sparse columns are polished once a model at most until the last steps: the next model, with signs
 * that are better known, costs less than a second factor. */
mgv_status mgvi_quadratic_solve(mgvi_quadratic *q, double accuracy)
{
    const bool sparse = q->form == MGVI_SPARSE_FORM;
    const bool rough = accuracy > MGVI_QUADRATIC_ROUGH && sparse;
    double first = 0;
    int walks = 0;
    memcpy(q->origin, q->x, (size_t)q->count * sizeof *q->x);
    for (int round = 0; round < MOST_ROUNDS && !mgvi_ctx_was_cut(q->ctx) && !spent(q); round++) {
        const double worst = sweep_on(q, accuracy, &first);
        if (worst <= accuracy * accuracy * first || rough ||
            (sparse && ((walks > 0 && !q->last) || !factor_pays(q))))
            break;
        MGVI_TRY(polish(q, &walks));
    }
    return MGV_OK;
}
