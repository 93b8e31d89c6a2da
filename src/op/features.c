/* features.c - explicit features: monomials of poly, a pivoted Cholesky factor of a given matrix.
 *
 * With x' = (x / sqrt(sigma2), sqrt(offset)) the kernel poly is (x'.z')^degree, and
 *   (x'.z')^p = sum over j_1 <= ... <= j_p of m(j) prod_t x'_(j_t) prod_t z'_(j_t),           (12)
 * m(j) the number of orders that the indices can be written in; so sqrt(m) prod x' are the
 * features. Seen from an origin o (kernel_origin.h) they are prod x' - prod o', which is
 *   D_p,   D_t = D_(t-1) x'_(j_t) + o'_(j_1) ... o'_(j_(t-1)) (x' - o')_(j_t) (26) so that nothing
 * cancels. */
#include "op/features.h"

#include "op/kernel_impl.h"
#include "op/rows.h"
#include "op/twins.h"
#include "simd/simd.h"

#include <math.h>
#include <string.h>

enum { FACTOR_MOST = 1024, MOST_NUMBERS = 1 << 26 };
/* A pivot below this, in units of the largest diagonal entry, is rounding of the entries. */
static const double LEAST_PIVOT = 32 * 0x1p-52;

/* ---- monomials ------------------------------------------------------------------------------- */

static int64_t variables(const mgvi_kernel_op *k)
{
    return k->points->rows.cols + (k->kernel.offset > 0 ? 1 : 0);
}

int64_t mgvi_kernel_width(const mgvi_kernel_op *k)
{
    const double v = (double)variables(k);
    double count = 1;
    if (k->kernel.kind != MGVI_KERNEL_POLY)
        return 0;
    for (int t = 1; t <= k->kernel.degree && count <= MGVI_FEATURES_MOST; t++)
        count = count * (v + t - 1) / t; /* a binomial coefficient at every t */
    return count <= MGVI_FEATURES_MOST ? (int64_t)count : 0;
}

typedef struct monomials {
    int64_t width, variables;
    int degree;
    int32_t *index; /* width x degree, not falling */
    double *root;   /* sqrt(m) */
    double *x;      /* x' of one row */
    double *o, *d;  /* o' and x' - o'; NULL: the products themselves */
} monomials;

static void list_monomials(monomials *m)
{
    const int p = m->degree;
    int32_t *at = m->index; /* the first is all zeros */
    for (int64_t f = 0; f < m->width; f++, at += p) {
        double orders = 1;
        int run = 0;
        for (int t = 0; t < p; t++) {
            run = t > 0 && at[t] == at[t - 1] ? run + 1 : 1;
            orders *= (double)(t + 1) / run;
        }
        m->root[f] = sqrt(orders);
        if (f + 1 == m->width)
            return;
        int t = p - 1;
        while (at[t] == m->variables - 1)
            t--;
        memcpy(at + p, at, (size_t)p * sizeof *at);
        for (int s = t; s < p; s++)
            at[p + s] = at[t] + 1;
    }
}

static mgv_status open_monomials(const mgvi_kernel_op *k, mgvi_arena *arena, bool differences,
                                 monomials *m)
{
    *m = (monomials){
        .width = mgvi_kernel_width(k), .variables = variables(k), .degree = k->kernel.degree};
    const size_t width = (size_t)m->width;
    MGVI_TRY(MGVI_ARRAY(arena, m->index, width * (size_t)m->degree));
    MGVI_TRY(MGVI_ARRAY(arena, m->root, width));
    MGVI_TRY(MGVI_ARRAY(arena, m->x, m->variables));
    if (differences && (!(m->o = mgvi_arena_array(arena, (size_t)m->variables, sizeof *m->o)) ||
                        !(m->d = mgvi_arena_array(arena, (size_t)m->variables, sizeof *m->d))))
        return MGV_E_MEMORY;
    list_monomials(m);
    return MGV_OK;
}

/* x' of row i as it was before points were moved, and what it is from the origin. */
static void read_row(const mgvi_kernel_op *k, const monomials *m, int64_t i)
{
    const double unit = 1 / sqrt(k->kernel.sigma2);
    const mgvi_points *p = k->points;
    const mgvi_point_scaling *s = &p->scaling;
    const int64_t cols = p->rows.cols;
    if (s->origin)
        mgvi_points_expand_plain(p, i, m->x);
    else
        mgvi_points_expand(p, i, MGV_F64, m->x);
    for (int64_t j = 0; j < cols; j++)
        m->x[j] *= unit;
    if (m->variables > cols)
        m->x[cols] = sqrt(k->kernel.offset);
    if (!m->o)
        return;
    mgvi_points_expand(p, i, MGV_F64, m->d);
    for (int64_t j = 0; j < cols; j++) {
        m->o[j] = s->origin ? unit * mgvi_view_shift(&s->view, j) : 0;
        m->d[j] *= unit;
    }
    if (m->variables > cols) {
        m->o[cols] = m->x[cols];
        m->d[cols] = 0;
    }
}

/* Feature f without its root. */
static double feature(const monomials *m, int64_t f)
{
    const int32_t *index = m->index + f * m->degree;
    double product = 1, difference = 0;
    for (int t = 0; t < m->degree; t++) {
        const int32_t j = index[t];
        if (m->o) {
            difference = difference * m->x[j] + product * m->d[j]; /* (26) */
            product *= m->o[j];
        } else {
            product *= m->x[j];
        }
    }
    return m->o ? difference : product;
}

/* out = phi(x_i) */
static void write_row(const mgvi_kernel_op *k, const monomials *m, int64_t i, double *out)
{
    read_row(k, m, i);
    for (int64_t f = 0; f < m->width; f++)
        out[f] = m->root[f] * feature(m, f);
}

mgv_status mgvi_kernel_table(mgvi_kernel_op *k, mgvi_arena *arena, const int64_t *row,
                             int64_t count, mgvi_feature_table *out)
{
    monomials m;
    const int64_t width = mgvi_kernel_width(k);
    *out = (mgvi_feature_table){0};
    if (k->kernel.kind == MGVI_KERNEL_PRECOMPUTED) {
        out->known = true;
        out->whole = true;
        return mgvi_matrix_rows(arena, &k->points->source, &out->m);
    }
    if (width == 0 || (double)count * (double)width > MOST_NUMBERS)
        return MGV_OK;
    double *values;
    MGVI_TRY(MGVI_ARRAY(arena, values, (size_t)(count * width)));
    MGVI_TRY(open_monomials(k, arena, false, &m));
    for (int64_t t = 0; t < count; t++)
        write_row(k, &m, row[t], values + t * width);
    out->known = true;
    out->constant = k->kernel.offset > 0;
    out->error = (5 * (double)k->kernel.degree + 8) * 0x1p-53;
    out->m = (mgvi_matrix){.layout = MGV_DENSE,
                           .dtype = MGV_F64,
                           .rows = count,
                           .cols = width,
                           .nnz = count * width,
                           .val = values,
                           .row_stride = width,
                           .col_stride = 1};
    return MGV_OK;
}

static mgv_status fill_monomials(mgvi_kernel_op *k, double *out)
{
    mgvi_arena arena;
    monomials m;
    mgvi_arena_init(&arena, k->op.ctx);
    const mgv_status st = open_monomials(k, &arena, k->kernel.origin != MGVI_ORIGIN_NONE, &m);
    for (int64_t i = 0; st == MGV_OK && i < k->op.rows; i++)
        write_row(k, &m, i, out + i * m.width);
    mgvi_arena_free(&arena);
    return st;
}

/* ---- a factor of a given matrix -------------------------------------------------------------- */

typedef struct factor {
    int64_t n, most, rank;
    double *F;    /* rank x n: the columns of the factor */
    double *left; /* what is left of the diagonal */
} factor;

/* The next column of the factor, of row `pivot` of K. */
static void append(const mgvi_kernel_op *k, factor *f, int64_t pivot)
{
    const mgvi_matrix *m = &k->points->rows;
    double *column = f->F + f->rank * f->n;
    for (int64_t j = 0; j < f->n; j++)
        column[j] = mgvi_matrix_value(m, pivot * m->row_stride + j * m->col_stride);
    for (int64_t r = 0; r < f->rank; r++)
        k->op.ctx->simd->axpy_f64(-f->F[r * f->n + pivot], f->F + r * f->n, column, f->n);
    const double unit = 1 / sqrt(f->left[pivot]);
    for (int64_t j = 0; j < f->n; j++) {
        column[j] *= unit;
        f->left[j] -= column[j] * column[j];
    }
    f->left[pivot] = 0;
    f->rank++;
}

/* False: K has full rank, or more than there is room for. */
static bool factor_matrix(const mgvi_kernel_op *k, factor *f)
{
    double most = 0;
    for (int64_t i = 0; i < f->n; i++) {
        f->left[i] = k->diagonal[i];
        most = fmax(most, k->diagonal[i]);
    }
    for (;;) {
        int64_t pivot = 0;
        for (int64_t i = 1; i < f->n; i++)
            if (f->left[i] > f->left[pivot])
                pivot = i;
        if (!(f->left[pivot] > LEAST_PIVOT * most))
            return f->rank > 0;
        if (f->rank == f->most)
            return false;
        append(k, f, pivot);
    }
}

static mgv_status factor_features(mgvi_kernel_op *k, mgvi_arena *arena, double **out,
                                  int64_t *width)
{
    mgv_ctx *ctx = k->op.ctx;
    const int64_t n = k->op.rows, room = MOST_NUMBERS / n;
    factor f = {.n = n, .most = n - 1 < FACTOR_MOST ? n - 1 : FACTOR_MOST};
    f.most = f.most < room ? f.most : room;
    f.left = mgvi_alloc(ctx, (size_t)n, sizeof *f.left);
    f.F = mgvi_alloc(ctx, (size_t)(n * f.most) + 1, sizeof *f.F);
    mgv_status st = f.left && f.F ? MGV_OK : MGV_E_MEMORY;
    if (st == MGV_OK && !factor_matrix(k, &f))
        st = MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                       "the kernel matrix has a rank above %" PRId64
                       ": explicit features are for matrices of low rank",
                       f.most);
    if (st == MGV_OK && !(*out = mgvi_arena_scratch(arena, (size_t)(n * f.rank), sizeof **out)))
        st = MGV_E_MEMORY;
    for (int64_t i = 0; st == MGV_OK && i < n; i++)
        for (int64_t r = 0; r < f.rank; r++)
            (*out)[i * f.rank + r] = f.F[r * n + i];
    *width = f.rank;
    mgvi_release(ctx, f.F);
    mgvi_release(ctx, f.left);
    return st;
}

mgv_status mgvi_kernel_features(mgvi_kernel_op *k, mgvi_arena *arena, double **out, int64_t *width)
{
    *out = NULL;
    if (k->kernel.kind == MGVI_KERNEL_PRECOMPUTED)
        return factor_features(k, arena, out, width);
    *width = mgvi_kernel_width(k);
    if (*width == 0 || k->op.rows > MOST_NUMBERS / *width)
        return MGVI_FAIL(k->op.ctx, MGV_E_UNSUPPORTED,
                         "kernel %s has too many features to write down",
                         mgvi_kernel_name(k->kernel.kind));
    *out = mgvi_arena_scratch(arena, (size_t)(k->op.rows * *width), sizeof **out);
    return *out ? fill_monomials(k, *out) : MGV_E_MEMORY;
}

/* ---- equal points: one point of the feature space, whatever the kernel ------------------------- */

/* Of the data as it is: what scaling and centring would round to one point are two. */
const int64_t *mgvi_kernel_twins(mgvi_kernel_op *k)
{
    const int64_t n = k->op.rows;
    if (k->twin)
        return k->twin;
    int64_t *twin = mgvi_alloc(k->op.ctx, (size_t)n, sizeof *twin);
    if (!twin || mgvi_matrix_twins(k->op.ctx, &k->points->source, NULL, n, twin) != MGV_OK) {
        mgvi_release(k->op.ctx, twin);
        return NULL;
    }
    k->twin = twin;
    return twin;
}
