/* nuclear.c - R(W) = c sum of the singular values of the matrix W,  c = scale.
 *   R*(V) = 0 if the largest singular value of V is at most c, else infinite. docs/terms.md (P15).
 * Singular values by one-sided Jacobi rotations: accurate also for the small ones, and the same
 * bits on every machine of one instruction set, which a threaded LAPACK does not promise. It costs
 * some ten sweeps of 3 m n^2 operations; matrices too large for that belong to methods that never
 * form them. */
#include "penalty/registry.h"
#include "penalty/shape.h"

#include <float.h>

/* W with the longer side as columns' length: n columns of length m, m >= n. */
typedef struct factors {
    int64_t m, n;
    double *G; /* n columns: W V, which becomes U diag(s) */
    double *V; /* n columns of length n */
    bool transposed;
} factors;

static int64_t nuclear_room(int64_t n, const void *data)
{
    const mgvi_shape *shape = data;
    const int64_t least = shape->rows < shape->cols ? shape->rows : shape->cols;
    return n + least * least;
}

static double dot(const double *x, const double *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static void rotate(double *x, double *y, int64_t n, double c, double s)
{
    for (int64_t i = 0; i < n; i++) {
        const double t = c * x[i] - s * y[i];
        y[i] = s * x[i] + c * y[i];
        x[i] = t;
    }
}

/* Makes columns p and q of G orthogonal; whether they were not. */
static bool orthogonalise(const factors *f, int64_t p, int64_t q)
{
    double *x = f->G + p * f->m, *y = f->G + q * f->m;
    const double a = dot(x, x, f->m), b = dot(y, y, f->m), c = dot(x, y, f->m);
    if (!(fabs(c) > 4 * DBL_EPSILON * sqrt(a) * sqrt(b)))
        return false;
    const double zeta = (b - a) / (2 * c);
    const double t = r_copysign(1 / (fabs(zeta) + hypot(1, zeta)), zeta);
    const double cosine = 1 / hypot(1, t);
    rotate(x, y, f->m, cosine, cosine * t);
    rotate(f->V + p * f->n, f->V + q * f->n, f->n, cosine, cosine * t);
    return true;
}

static factors decompose(const mgvi_whole *self, const double *w)
{
    enum { SWEEPS = 60 }; /* 6 to 12 are usual */
    const mgvi_shape *shape = self->data;
    const bool wide = shape->rows < shape->cols;
    factors f = {.m = wide ? shape->cols : shape->rows,
                 .n = wide ? shape->rows : shape->cols,
                 .G = self->work,
                 .V = self->work + self->n,
                 .transposed = wide};
    for (int64_t j = 0; j < f.n; j++) {
        for (int64_t i = 0; i < f.m; i++)
            f.G[j * f.m + i] = wide ? w[j * f.m + i] : w[i * f.n + j];
        for (int64_t i = 0; i < f.n; i++)
            f.V[j * f.n + i] = i == j;
    }
    bool changed = true;
    for (int sweep = 0; sweep < SWEEPS && changed; sweep++) {
        changed = false;
        for (int64_t p = 0; p < f.n; p++)
            for (int64_t q = p + 1; q < f.n; q++)
                changed = orthogonalise(&f, p, q) || changed;
    }
    return f;
}

static double singular_value(const factors *f, int64_t j)
{
    return sqrt(dot(f->G + j * f->m, f->G + j * f->m, f->m));
}

static double nuclear_value(const mgvi_whole *self, const double *w)
{
    const factors f = decompose(self, w);
    double sum = 0;
    for (int64_t j = 0; j < f.n; j++)
        sum += singular_value(&f, j);
    return self->c.scale * sum;
}

/* sum_j max(1 - step c / s_j, 0) G_j V_j' */
static void nuclear_prox(const mgvi_whole *self, const double *x, double step, double *out)
{
    const factors f = decompose(self, x);
    const double cut = step * self->c.scale;
    for (int64_t i = 0; i < self->n; i++)
        out[i] = 0;
    for (int64_t j = 0; j < f.n; j++) {
        const double s = singular_value(&f, j), factor = 1 - cut / s;
        for (int64_t q = 0; s > cut && q < f.n; q++) {
            const double v = factor * f.V[j * f.n + q];
            for (int64_t i = 0; i < f.m; i++)
                out[f.transposed ? q * f.m + i : i * f.n + q] += v * f.G[j * f.m + i];
        }
    }
}

static double nuclear_dual_scale(const mgvi_whole *self, const double *v)
{
    const factors f = decompose(self, v);
    double most = 0;
    for (int64_t j = 0; j < f.n; j++)
        most = r_max(most, singular_value(&f, j));
    return most > self->c.scale ? self->c.scale / most : 1;
}

static double nuclear_conj(const mgvi_whole *self, const double *v)
{
    return nuclear_dual_scale(self, v) * (1 + MGVI_ON_BOUNDARY) >= 1 ? 0 : INFINITY;
}

static mgv_status nuclear_bind(mgvi_arena *arena, const mgvi_penalty_input *in, const void **data)
{
    mgvi_shape *shape = mgvi_arena_array(arena, 1, sizeof *shape);
    *data = shape;
    return shape ? mgvi_shape_read(arena->ctx, in, "nuclear", false, shape) : MGV_E_MEMORY;
}

static mgv_status nuclear_sample(mgvi_arena *arena, mgvi_rng *rng, int64_t n, const void **data)
{
    mgvi_shape *shape;
    MGVI_TRY(MGVI_ARRAY(arena, shape, 1));
    *shape = mgvi_shape_sample(rng, n);
    *data = shape;
    return MGV_OK;
}

const mgvi_penalty_ops mgvi_penalty_nuclear = {
    .name = "nuclear",
    .summary = "scale times the sum of the singular values of w as a matrix",
    .can = MGVI_VALUE | MGVI_PROX | MGVI_CONJ | MGVI_DUAL_CLIP | MGVI_NORM,
    .bind = nuclear_bind,
    .whole = &(const mgvi_whole_ops){.room = nuclear_room,
                                     .value = nuclear_value,
                                     .prox = nuclear_prox,
                                     .conj = nuclear_conj,
                                     .dual_scale = nuclear_dual_scale,
                                     .sample_data = nuclear_sample},
    .sample_coef = mgvi_penalty_sample_scale,
};
