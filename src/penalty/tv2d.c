/* tv2d.c - isotropic total variation of an image: R(w) = c sum_p |(grad w)_p|_2,  c = scale,
 * forward differences that are 0 beyond the last column and row. docs/terms.md (P17).
 *
 * The prox has no closed form: with s = step c,
 *   min_x 1/2 |x - v|^2 + s sum |grad x|  =  max_{|q_p| <= 1} 1/2 |v|^2 - 1/2 |v - s grad'q|^2
 * by the accelerated projected gradient on q, x = v - s grad'q, until the gap
 *   s sum_p (|grad x|_p - <grad x, q>_p) >= 1/2 |x - x*|^2
 * is at most prox_tol^2 of |v|^2/2: x is then exact to prox_tol |v|. The next call starts from the
 * q of this one. There is no formula for the conjugate. */
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
    return 5 * n; /* q and its extrapolation, two numbers a pixel; x */
}

/* The two differences at pixel p = (i, j). */
static inline void grad_at(const mgvi_shape *s, const double *x, int64_t i, int64_t j, double g[2])
{
    const int64_t p = i * s->cols + j;
    g[0] = j + 1 < s->cols ? x[p + 1] - x[p] : 0;
    g[1] = i + 1 < s->rows ? x[p + s->cols] - x[p] : 0;
}

static double tv2d_value(const mgvi_whole *self, const double *w)
{
    const mgvi_shape *s = &((const image *)self->data)->shape;
    double sum = 0, g[2];
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t j = 0; j < s->cols; j++) {
            grad_at(s, w, i, j, g);
            sum += sqrt(g[0] * g[0] + g[1] * g[1]);
        }
    return self->c.scale * sum;
}

/* x = v - cut grad'q */
static void primal_of(const mgvi_shape *s, const double *v, double cut, const double *q, double *x)
{
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t j = 0; j < s->cols; j++) {
            const int64_t p = i * s->cols + j;
            double sum = 0;
            if (j > 0)
                sum += q[2 * (p - 1)];
            if (j + 1 < s->cols)
                sum -= q[2 * p];
            if (i > 0)
                sum += q[2 * (p - s->cols) + 1];
            if (i + 1 < s->rows)
                sum -= q[2 * p + 1];
            x[p] = v[p] - cut * sum;
        }
}

/* sum |grad x| - <grad x, q> */
static double gap_of(const mgvi_shape *s, const double *x, const double *q)
{
    double sum = 0, g[2];
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t j = 0; j < s->cols; j++) {
            const int64_t p = i * s->cols + j;
            grad_at(s, x, i, j, g);
            sum += sqrt(g[0] * g[0] + g[1] * g[1]) - g[0] * q[2 * p] - g[1] * q[2 * p + 1];
        }
    return sum;
}

/* next = P(r + grad x / (8 cut)), then r = next + momentum (next - q), q = next. */
static void dual_step(const mgvi_shape *s, const double *x, double cut, double momentum, double *q,
                      double *r)
{
    double g[2];
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t j = 0; j < s->cols; j++) {
            const int64_t p = i * s->cols + j;
            grad_at(s, x, i, j, g);
            const double a = r[2 * p] + g[0] / (8 * cut), b = r[2 * p + 1] + g[1] / (8 * cut);
            const double length = r_max(1, sqrt(a * a + b * b));
            const double next[2] = {a / length, b / length};
            for (int t = 0; t < 2; t++) {
                r[2 * p + t] = next[t] + momentum * (next[t] - q[2 * p + t]);
                q[2 * p + t] = next[t];
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
    for (int k = 0; k < MOST; k++) {
        if (k % EVERY == 0) {
            primal_of(&im->shape, v, cut, q, x);
            if (cut * gap_of(&im->shape, x, q) <= im->tol * im->tol * size)
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
    image *im = mgvi_arena_array(arena, 1, sizeof *im);
    if (!im)
        return MGV_E_MEMORY;
    im->tol = in->settings->prox_tol;
    *data = im;
    return mgvi_shape_read(arena->ctx, in, "tv2d", &im->shape);
}

static mgv_status tv2d_sample(mgvi_arena *arena, mgvi_rng *rng, int64_t n, const void **data)
{
    image *im = mgvi_arena_array(arena, 1, sizeof *im);
    if (!im)
        return MGV_E_MEMORY;
    *im = (image){.shape = mgvi_shape_sample(rng, n), .tol = 1e-4};
    *data = im;
    return MGV_OK;
}

const mgvi_penalty_ops mgvi_penalty_tv2d = {
    .name = "tv2d",
    .summary = "scale sum over pixels of |grad w|: isotropic total variation of an image",
    .can = MGVI_VALUE | MGVI_PROX | MGVI_NORM,
    .bind = tv2d_bind,
    .whole =
        &(const mgvi_whole_ops){
            .room = tv2d_room, .value = tv2d_value, .prox = tv2d_prox, .sample_data = tv2d_sample},
    .sample_coef = mgvi_penalty_sample_scale,
};
