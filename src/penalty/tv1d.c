/* tv1d.c - total variation of a sequence: R(w) = c sum_i |w_{i+1} - w_i|,  c = scale.
 *   R*(v) = 0 if sum v = 0 and |v_1 + ... + v_k| <= c for all k, else infinite. docs/terms.md
 * (P16).
 *
 * The prox is exact, by dynamic programming. Let F_k(b) be the least of the first k terms given
 * w_k = b, cut = step c:
 *   F_k'(b) = clip(F_{k-1}'(b), -cut, cut) + b - x_k,
 * piecewise linear and increasing. It is kept as knots in a double-ended queue; clipping removes
 * knots at both ends and adds one to each, so that all steps together cost O(n). The clip points
 * low_k, high_k bring the minimiser back: w_k = clip(w_{k+1}, low_k, high_k). */
#include "op/op.h"
#include "penalty/registry.h"

/* At `at` the derivative's slope changes by `slope` and its intercept by `shift`. */
typedef struct knot {
    double at, slope, shift;
} knot;

/* A piece of the derivative: slope b + shift. */
typedef struct piece {
    double slope, shift;
} piece;

typedef struct queue {
    knot *knots; /* 2 n + 2 */
    int64_t first, last;
} queue;

static int64_t tv1d_room(int64_t n, const void *data)
{
    (void)data;
    return 3 * (2 * n + 2) + 2 * n;
}

static double tv1d_value(const mgvi_whole *self, const double *w)
{
    double sum = 0;
    for (int64_t i = 0; i + 1 < self->n; i++)
        sum += fabs(w[i + 1] - w[i]);
    return self->c.scale * sum;
}

/* Where the increasing function reaches `level`, from the left: its leftmost piece is `p`; knots
 * passed leave the queue. */
static double reach_from_left(queue *q, piece *p, double level)
{
    while (q->first <= q->last && p->slope * q->knots[q->first].at + p->shift < level) {
        p->slope += q->knots[q->first].slope;
        p->shift += q->knots[q->first].shift;
        q->first++;
    }
    return (level - p->shift) / p->slope;
}

static double reach_from_right(queue *q, piece *p, double level)
{
    while (q->last >= q->first && p->slope * q->knots[q->last].at + p->shift > level) {
        p->slope -= q->knots[q->last].slope;
        p->shift -= q->knots[q->last].shift;
        q->last--;
    }
    return (level - p->shift) / p->slope;
}

/* Clips the function whose outer pieces are both b - x at -cut and cut; the queue then holds the
 * clipped one, 0 slope outside. */
static void clip_once(queue *q, double x, double cut, double *low, double *high)
{
    piece left = {1, -cut - x}, right = {1, cut - x};
    if (q->first > q->last) /* no knots yet: the function is b - x */
        left.shift = right.shift = -x;
    *low = reach_from_left(q, &left, -cut);
    *high = reach_from_right(q, &right, cut);
    q->knots[--q->first] = (knot){*low, left.slope, left.shift + cut};
    q->knots[++q->last] = (knot){*high, -right.slope, cut - right.shift};
}

static void tv1d_prox(const mgvi_whole *self, const double *x, double step, double *out)
{
    const int64_t n = self->n;
    const double cut = step * self->c.scale;
    double *low = self->work, *high = low + n;
    queue q = {.knots = (knot *)(high + n), .first = n + 1, .last = n};
    if (cut == 0 || n < 2) {
        for (int64_t i = 0; i < n; i++)
            out[i] = x[i];
        return;
    }
    for (int64_t i = 0; i + 1 < n; i++)
        clip_once(&q, x[i], cut, &low[i], &high[i]);
    piece left = {1, -cut - x[n - 1]};
    double value = reach_from_left(&q, &left, 0);
    out[n - 1] = value;
    for (int64_t i = n - 2; i >= 0; i--)
        out[i] = value = r_clip(value, low[i], high[i]);
}

/* Sums this far from 0, in units of c, count as 0: v comes rounded. Whoever proves anything with it
 * sees to the sum itself (certify/level.c). */
static const double ZERO_SUM = 1e-8;

static double tv1d_dual_scale(const mgvi_whole *self, const double *v)
{
    double sum = 0, most = 0;
    for (int64_t i = 0; i < self->n; i++) {
        sum += v[i];
        if (i + 1 < self->n)
            most = r_max(most, fabs(sum));
    }
    if (!(fabs(sum) <= ZERO_SUM * self->c.scale))
        return 0;
    return most > self->c.scale ? self->c.scale / most : 1;
}

static double tv1d_conj(const mgvi_whole *self, const double *v)
{
    return tv1d_dual_scale(self, v) * (1 + MGVI_ON_BOUNDARY) >= 1 ? 0 : INFINITY;
}

static mgv_status tv1d_split(mgv_ctx *ctx, const void *data, int64_t n, mgvi_norm_form *out)
{
    (void)data;
    *out = (mgvi_norm_form){.group = 1, .square_norm = 4};
    return mgvi_op_diff1d(ctx, n, 1, &out->D);
}

const mgvi_penalty_ops mgvi_penalty_tv1d = {
    .name = "tv1d",
    .summary = "scale sum |w_{i+1} - w_i|: total variation of a sequence",
    .can =
        MGVI_VALUE | MGVI_PROX | MGVI_CONJ | MGVI_DUAL_CLIP | MGVI_NORM | MGVI_CANCELS | MGVI_LEVEL,
    .whole = &(const mgvi_whole_ops){.room = tv1d_room,
                                     .value = tv1d_value,
                                     .prox = tv1d_prox,
                                     .conj = tv1d_conj,
                                     .dual_scale = tv1d_dual_scale,
                                     .split = tv1d_split},
    .sample_coef = mgvi_penalty_sample_scale,
};
