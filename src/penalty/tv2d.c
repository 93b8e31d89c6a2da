/* tv2d.c - isotropic total variation of an image: R(w) = c sum_p |(grad w)_p|_2,  c = scale,
 * forward differences that are 0 beyond the last column and row; of an image with channels the
 * differences of all channels at a pixel have one length. docs/terms.md (P17).
 *
 * The prox has no closed form: with s = step c,
 *   min_x 1/2 |x - v|^2 + s sum |grad x|  =  max_{|q_p| <= 1} 1/2 |v|^2 - 1/2 |v - s grad'q|^2
 * by the accelerated projected gradient on q, x = v - s grad'q, until the gap
 *   s sum_p (|grad x|_p - <grad x, q>_p) >= 1/2 |x - x*|^2
 * is at most prox_tol^2 of |v|^2/2: x is then exact to prox_tol |v|. A caller's `error` is instead
 * the e with (v - x)/step in the e-subdifferential of R at x, which is gap/step. The next call
 * starts from the q of this one. There is no formula for the conjugate. */
#include "op/op.h"
#include "penalty/registry.h"
#include "penalty/shape.h"

#include <string.h>

typedef struct image {
    mgvi_shape shape;
    double tol;
} image;

static int64_t tv2d_room(int64_t n, const void *data)
{
    (void)data;
    return 5 * n; /* q and its extrapolation, two numbers a pixel and channel; x */
}

/* The differences at pixel (i, j): to the right of every channel, then down; |them|^2. */
static inline double grad_at(const mgvi_shape *s, const double *x, int64_t i, int64_t j, double *g)
{
    const int64_t k = s->channels, right = k, down = s->cols * k;
    const double *at = x + (i * s->cols + j) * k;
    double sum = 0;
    for (int64_t c = 0; c < k; c++) {
        g[c] = j + 1 < s->cols ? at[c + right] - at[c] : 0;
        g[k + c] = i + 1 < s->rows ? at[c + down] - at[c] : 0;
        sum += g[c] * g[c] + g[k + c] * g[k + c];
    }
    return sum;
}

static double tv2d_value(const mgvi_whole *self, const double *w)
{
    const mgvi_shape *s = &((const image *)self->data)->shape;
    double sum = 0, g[2 * MGVI_CHANNELS_MAX];
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t j = 0; j < s->cols; j++)
            sum += sqrt(grad_at(s, w, i, j, g));
    return self->c.scale * sum;
}

/* x = v - cut grad'q */
static void primal_of(const mgvi_shape *s, const double *v, double cut, const double *q, double *x)
{
    const int64_t k = s->channels, left = 2 * k, up = 2 * s->cols * k;
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t j = 0; j < s->cols; j++) {
            const int64_t p = (i * s->cols + j) * k;
            for (int64_t c = 0; c < k; c++) {
                const double *at = q + 2 * p + c;
                double sum = 0;
                if (j > 0)
                    sum += at[-left];
                if (j + 1 < s->cols)
                    sum -= at[0];
                if (i > 0)
                    sum += at[k - up];
                if (i + 1 < s->rows)
                    sum -= at[k];
                x[p + c] = v[p + c] - cut * sum;
            }
        }
}

/* sum |grad x| - <grad x, q> */
static double gap_of(const mgvi_shape *s, const double *x, const double *q)
{
    const int64_t size = 2 * s->channels;
    double sum = 0, g[2 * MGVI_CHANNELS_MAX];
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t j = 0; j < s->cols; j++, q += size) {
            sum += sqrt(grad_at(s, x, i, j, g));
            for (int64_t t = 0; t < size; t++)
                sum -= g[t] * q[t];
        }
    return sum;
}

/* next = P(r + grad x / (8 cut)), then r = next + momentum (next - q), q = next. */
static void dual_step(const mgvi_shape *s, const double *x, double cut, double momentum, double *q,
                      double *r)
{
    const int64_t size = 2 * s->channels;
    double next[2 * MGVI_CHANNELS_MAX];
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t j = 0; j < s->cols; j++, q += size, r += size) {
            double square = 0;
            grad_at(s, x, i, j, next);
            for (int64_t t = 0; t < size; t++) {
                next[t] = r[t] + next[t] / (8 * cut);
                square += next[t] * next[t];
            }
            const double length = r_max(1, sqrt(square));
            for (int64_t t = 0; t < size; t++) {
                const double to = next[t] / length;
                r[t] = to + momentum * (to - q[t]);
                q[t] = to;
            }
        }
}

static void tv2d_prox(const mgvi_whole *self, const double *v, double step, double *out)
{
    enum { MOST = 100000, EVERY = 5 };
    const image *im = self->data;
    const double cut = step * self->c.scale;
    double *q = self->work, *r = q + 2 * self->n, *x = r + 2 * self->n;
    double size = 0, t = 1;
    for (int64_t i = 0; i < self->n; i++)
        size += v[i] * v[i] / 2;
    if (cut == 0) {
        memmove(out, v, (size_t)self->n * sizeof *out);
        return;
    }
    memcpy(r, q, (size_t)(2 * self->n) * sizeof *r);
    const double enough = self->error > 0 ? step * self->error : im->tol * im->tol * size;
    for (int k = 0; k < MOST; k++) {
        if (k % EVERY == 0) {
            primal_of(&im->shape, v, cut, q, x);
            if (cut * gap_of(&im->shape, x, q) <= enough)
                break;
        }
        const double next = (1 + sqrt(1 + 4 * t * t)) / 2;
        primal_of(&im->shape, v, cut, r, x);
        dual_step(&im->shape, x, cut, (t - 1) / next, q, r);
        t = next;
    }
    primal_of(&im->shape, v, cut, q, x);
    memcpy(out, x, (size_t)self->n * sizeof *out);
}

static mgv_status tv2d_bind(mgvi_arena *arena, const mgvi_penalty_input *in, const void **data)
{
    image *im;
    MGVI_TRY(MGVI_ARRAY(arena, im, 1));
    im->tol = in->settings->prox_tol;
    *data = im;
    return mgvi_shape_read(arena->ctx, in, "tv2d", true, &im->shape);
}

static mgv_status tv2d_split(mgv_ctx *ctx, const void *data, int64_t n, mgvi_norm_form *out)
{
    const mgvi_shape *s = &((const image *)data)->shape;
    const int32_t k = (int32_t)s->channels;
    (void)n;
    *out = (mgvi_norm_form){.group = 2 * k, .square_norm = 8, .preferred = true};
    MGVI_TRY(mgvi_op_diff2d(ctx, s->rows, s->cols, k, &out->D));
    if (k == 1)
        return MGV_OK;
    mgvi_op *base = out->D;
    return mgvi_op_repeat(ctx, base, k, 1, &out->D);
}

const mgvi_penalty_ops mgvi_penalty_tv2d = {
    .name = "tv2d",
    .summary = "scale sum over pixels of |grad w|: isotropic total variation of an image",
    .can = MGVI_VALUE | MGVI_PROX | MGVI_NORM | MGVI_CANCELS | MGVI_LEVEL,
    .bind = tv2d_bind,
    .whole =
        &(const mgvi_whole_ops){
            .room = tv2d_room, .value = tv2d_value, .prox = tv2d_prox, .split = tv2d_split},
    .sample_coef = mgvi_penalty_sample_scale,
};
