/* test_kernel_rounding.c - products with K and lengths are within the bounds that the operator
 * states, wherever the points lie, by sums in long double that share no code with it; and the
 * bounds are not absurd. */
#include "check.h"
#include "quad.h"

#include "base/rng.h"
#include "op/kernel.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 60, MOST = 40, LAYOUTS = 5 };
/* A bound over what was found; errors of a square cancel more. */
static const double FAR_TOO_LARGE = 1e4, FAR_TOO_LARGE_SQUARE = 1e5;

/* The points as given, and in the layout asked about. */
typedef struct sample {
    int64_t d;
    double x[ROWS * MOST], centre[MOST], scale[MOST];
    float f32[ROWS * MOST];
    int64_t ptr[ROWS + 1];
    int32_t idx[ROWS * MOST];
    double val[ROWS * MOST];
    mgvi_matrix m;
} sample;

/* 0: few columns, 1: dense, 2: dense in float32, 3: CSR with empty places, 4: CSR, all stored. Some
 * points are near others, two are equal. */
static void make_sample(sample *s, int layout, double offset, double spread, uint64_t seed)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    int64_t at = 0;
    s->d = layout == 0 ? 5 : MOST;
    s->ptr[0] = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < s->d; j++) {
            double *x = &s->x[i * s->d + j];
            *x = offset + spread * mgvi_rng_normal(&rng);
            if (layout == 3 && mgvi_rng_below(&rng, 3) > 0)
                *x = 0;
            if (i % 5 == 4)
                *x = x[-s->d] + (*x == 0 ? 0 : 1e-6 * spread * mgvi_rng_normal(&rng));
            if (i == 7)
                *x = s->x[3 * s->d + j];
            s->f32[i * s->d + j] = (float)*x;
            if (layout == 2)
                *x = (double)s->f32[i * s->d + j];
            if (*x != 0) {
                s->val[at] = *x;
                s->idx[at++] = (int32_t)j;
            }
        }
        s->ptr[i + 1] = at;
    }
    for (int64_t j = 0; j < s->d; j++)
        s->scale[j] = 0.5 + mgvi_rng_uniform(&rng);
    const bool sparse = layout >= 3;
    s->m = (mgvi_matrix){.layout = sparse ? MGV_CSR : MGV_DENSE,
                         .dtype = layout == 2 ? MGV_F32 : MGV_F64,
                         .rows = ROWS,
                         .cols = s->d,
                         .nnz = sparse ? at : ROWS * s->d,
                         .val = sparse        ? (const void *)s->val
                                : layout == 2 ? (const void *)s->f32
                                              : (const void *)s->x,
                         .ptr = sparse ? s->ptr : NULL,
                         .idx = sparse ? s->idx : NULL,
                         .row_stride = s->d,
                         .col_stride = 1};
}

/* k(x, z) - k(x, o) - k(o, z) + k(o, o) as it stands there, in 113 bits. */
static long double value_from_origin(const sample *s, const mgvi_kernel *k,
                                     const mgvi_point_scaling *scaling, int64_t p, int64_t q)
{
    quad products[4] = {0, 0, 0, 0}, value = 0;
    for (int64_t j = 0; j < s->d; j++) {
        const quad unit = mgvi_view_scale(&scaling->view, j);
        const quad x = s->x[p * s->d + j] * unit, z = s->x[q * s->d + j] * unit;
        const quad o = scaling->origin ? scaling->view.centre[j] * unit : 0;
        const quad pairs[4] = {x * z, x * o, o * z, o * o};
        for (int t = 0; t < 4; t++)
            products[t] += pairs[t];
    }
    for (int t = 0; t < 4; t++) {
        const quad base = products[t] / k->sigma2 + k->offset;
        quad power = 1;
        for (int m = 0; m < k->degree; m++)
            power *= base;
        value += t == 0 || t == 3 ? power : -power;
    }
    return (long double)value;
}

/* As the definition says. */
static long double value(const sample *s, const mgvi_kernel *k, const mgvi_point_scaling *scaling,
                         int64_t p, int64_t q)
{
    long double dot = 0, square = 0;
    if (k->origin != MGVI_ORIGIN_NONE)
        return value_from_origin(s, k, scaling, p, q);
    for (int64_t j = 0; j < s->d; j++) {
        const long double c = mgvi_view_centre(&scaling->view, j);
        const long double unit = mgvi_view_scale(&scaling->view, j);
        const long double a = ((long double)s->x[p * s->d + j] - c) * unit;
        const long double b = ((long double)s->x[q * s->d + j] - c) * unit;
        dot += a * b;
        const long double e = ((long double)s->x[p * s->d + j] - s->x[q * s->d + j]) * unit;
        square += e * e;
    }
    if (k->kind == MGVI_KERNEL_RBF)
        return expl(-square / (2 * (long double)k->sigma2));
    if (k->kind == MGVI_KERNEL_LAPLACE)
        return expl(-sqrtl(square / (long double)k->sigma2));
    return powl(dot / (long double)k->sigma2 + (long double)k->offset, k->degree);
}

typedef struct found {
    double mul, square;             /* the largest errors */
    double mul_bound, square_bound; /* the largest bounds */
} found;

/* Products in extended precision: within their own, far smaller bounds. The sums they are compared
 * with here may be off by as much. */
static void look_extended(mgvi_op *op, const mgvi_vec *w, const mgvi_vec *part,
                          const long double *sums, long double exact, double mul_bound)
{
    double z[ROWS], error, square, square_error, most = 0;
    mgvi_vec y = mgvi_vec_wrap(z, ROWS, MGVI_ROWS);
    if (LDBL_MANT_DIG < 64) {
        CHECK(!op->ops->mul_extended(op, w, 0, &y, &error));
        return;
    }
    CHECK(op->ops->mul_extended(op, w, 0, &y, &error));
    CHECK(op->ops->square_extended(op, part, 0, &square, &square_error));
    for (int64_t i = 0; i < ROWS; i++) {
        const long double want = sums[i] + (long double)w->x[ROWS];
        most = fmax(most, fabs(z[i]));
        CHECK_LE((double)fabsl((long double)z[i] - want), 2 * error + 0x1p-52 * fabs(z[i]),
                 "row %d", (int)i);
    }
    CHECK_LE((double)fabsl((long double)square - exact), 2 * square_error, "square");
    CHECK_LE(error, mul_bound / 50, "extended");
}

static void look(sample *s, const mgvi_kernel *k, const mgvi_point_scaling *scaling, mgv_dtype fast,
                 uint64_t seed, found *f)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_op *op;
    mgvi_rng rng = mgvi_rng_seed(seed);
    double c[ROWS + 1], z[ROWS];
    mgvi_kernel_plan plan = {.kernel = *k,
                             .X = &s->m,
                             .scaling = *scaling,
                             .fast = fast,
                             .cache_bytes = seed % 2 ? 1e9 : 1e4};
    plan.scaling.view.intercept = true;
    CHECK_OK(ctx, mgvi_op_kernel(ctx, &plan, &op));
    for (int64_t i = 0; i <= ROWS; i++)
        c[i] = mgvi_rng_below(&rng, 3) == 0 ? 0 : mgvi_rng_normal(&rng);
    const mgvi_vec w = mgvi_vec_wrap(c, ROWS + 1, MGVI_COLS),
                   part = mgvi_vec_wrap(c, ROWS, MGVI_COLS);
    mgvi_vec y = mgvi_vec_wrap(z, ROWS, MGVI_ROWS);
    mgvi_op_mul(op, 1, &w, 0, &y);
    const double square = op->ops->square(op, &part);
    const double mul_bound = op->ops->mul_rounding(op, &w, 0);
    const double square_bound = op->ops->square_rounding(op, &part, 0);
    long double exact = 0, worst = 0, sums[ROWS];
    for (int64_t i = 0; i < ROWS; i++) {
        long double sum = 0;
        for (int64_t j = 0; j < ROWS; j++)
            sum += c[j] == 0 ? 0 : (long double)c[j] * value(s, k, scaling, i, j);
        exact += (long double)c[i] * sum;
        sums[i] = sum;
        worst = fmaxl(worst, fabsl((long double)z[i] - sum - (long double)c[ROWS]));
    }
    CHECK_LE((double)worst, mul_bound, "kernel %d, sigma2 %g: product", k->kind, k->sigma2);
    CHECK_LE((double)fabsl((long double)square - exact), square_bound,
             "kernel %d, sigma2 %g: square", k->kind, k->sigma2);
    if (seed % 2) /* slow */
        look_extended(op, &w, &part, sums, exact, mul_bound);
    f->mul = fmax(f->mul, (double)worst);
    f->square = fmax(f->square, (double)fabsl((long double)square - exact));
    f->mul_bound = fmax(f->mul_bound, mul_bound);
    f->square_bound = fmax(f->square_bound, square_bound);
    mgvi_op_free(op);
    mgv_ctx_free(ctx);
}

enum { KINDS = 8 };

static void look_all(int layout, double offset, double spread, double width, int kind)
{
    sample *s = malloc(sizeof *s);
    found f = {0};
    double square;
    bool moved;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        make_sample(s, layout, offset, spread, seed);
        const mgvi_kernel kernels[] = {
            {MGVI_KERNEL_RBF, width * width * (double)s->d * spread * spread, 0, 1,
             MGVI_ORIGIN_NONE},
            {MGVI_KERNEL_LAPLACE, width * width * (double)s->d * spread * spread, 0, 1,
             MGVI_ORIGIN_NONE},
            {MGVI_KERNEL_POLY, (double)s->d * spread * spread, 0.5, 3, MGVI_ORIGIN_NONE},
            {MGVI_KERNEL_POLY, spread, 0, 1, MGVI_ORIGIN_NONE},
            {MGVI_KERNEL_POLY, (double)s->d * spread * spread, 0.5, 3, MGVI_ORIGIN_CENTRE},
            {MGVI_KERNEL_POLY, 1e4 * (double)s->d * spread * spread, 1, 4, MGVI_ORIGIN_CENTRE},
            {MGVI_KERNEL_POLY, (double)s->d * spread * spread, 0, 2, MGVI_ORIGIN_CENTRE},
            {MGVI_KERNEL_POLY, 1e4 * (double)s->d * spread * spread, 1, 4, MGVI_ORIGIN_ZERO}};
        mgv_ctx *ctx = mgv_check_ctx();
        CHECK_OK(ctx, mgvi_points_choose_centre(ctx, &s->m, NULL, s->centre, &moved, &square));
        mgv_ctx_free(ctx);
        for (int scaled = 0; scaled < 3; scaled++) {
            const bool origin = kernels[kind].origin == MGVI_ORIGIN_CENTRE;
            const bool centred = moved && scaled > 0 && kind < 2;
            const mgvi_point_scaling scaling = {.view.centre = centred || origin ? s->centre : NULL,
                                                .view.scale = scaled == 2 ? s->scale : NULL,
                                                .origin = origin};
            look(s, &kernels[kind], &scaling, MGV_F64, seed, &f);
            if (layout == 2 && kind == 0)
                look(s, &kernels[kind], &scaling, MGV_F32, seed, &f);
        }
    }
    free(s);
    if (width < 1 || (layout == 3 && offset > spread)) /* K is nearly the identity */
        return;
    CHECK_LE(f.mul_bound, FAR_TOO_LARGE * (f.mul + 0x1p-50),
             "layout %d, offset %g, width %g, kernel %d", layout, offset, width, kind);
    CHECK_LE(f.square_bound, FAR_TOO_LARGE_SQUARE * (f.square + 0x1p-50),
             "layout %d, offset %g, width %g, kernel %d: square", layout, offset, width, kind);
}

TEST(sums_are_within_their_bounds)
{
    static const double offsets[] = {0, 1e3, 1e5, 1e7}, widths[] = {0.01, 1, 100};
    for (int layout = 0; layout < LAYOUTS; layout++)
        for (int o = 0; o < 4; o++)
            for (int w = 0; w < 3; w++)
                for (int kind = 0; kind < (w == 1 ? KINDS : 2); kind++) /* poly has no width */
                    look_all(layout, offsets[o], 1, widths[w], kind);
}

/* Units do not matter. */
TEST(units_do_not_matter)
{
    for (int layout = 0; layout < LAYOUTS; layout++)
        for (int kind = 0; kind < KINDS; kind++) {
            look_all(layout, 1e9, 1e6, 1, kind);
            look_all(layout, 1e-6, 1e-9, 1, kind);
        }
}

/* Points of few columns, so many that no row of K is kept: sums over a thousand of them, whose
 * length their bounds do not see. With a centre that is none and a width that makes differences. */
TEST(long_sums_of_short_points_have_the_error_of_short_ones)
{
    enum { MANY = 4200, USED = 1000, D = 3, LOOKED = 60 };
    static const double UNIT = 0x1p-53;
    double *x = malloc(MANY * D * sizeof *x), *c = calloc(MANY + 1, sizeof *c);
    double *z = malloc(MANY * sizeof *z);
    for (int kind = 0; kind < 3; kind++) {
        mgv_ctx *ctx = mgv_check_ctx();
        mgvi_rng rng = mgvi_rng_seed(7 + (uint64_t)kind);
        mgvi_op *op;
        double size = 0;
        memset(c, 0, (MANY + 1) * sizeof *c);
        for (int64_t i = 0; i < MANY * D; i++)
            x[i] = mgvi_rng_normal(&rng);
        if (kind == 2)
            x[5] = 1e3; /* one point so far off that all values are made of differences */
        for (int64_t t = 0; t < USED; t++)
            c[t * 4 + (int64_t)mgvi_rng_below(&rng, 4)] = mgvi_rng_normal(&rng);
        const mgvi_matrix m = {.layout = MGV_DENSE,
                               .dtype = MGV_F64,
                               .rows = MANY,
                               .cols = D,
                               .nnz = MANY * D,
                               .val = x,
                               .row_stride = D,
                               .col_stride = 1};
        const mgvi_kernel k = {kind == 1 ? MGVI_KERNEL_LAPLACE : MGVI_KERNEL_RBF, 3, 0, 1,
                               MGVI_ORIGIN_NONE};
        const mgvi_kernel_plan plan = {.kernel = k,
                                       .X = &m,
                                       .scaling.view.intercept = true,
                                       .fast = MGV_F64,
                                       .cache_bytes = 1e9};
        CHECK_OK(ctx, mgvi_op_kernel(ctx, &plan, &op));
        const mgvi_vec w = mgvi_vec_wrap(c, MANY + 1, MGVI_COLS);
        const mgvi_vec part = mgvi_vec_wrap(c, MANY, MGVI_COLS);
        mgvi_vec y = mgvi_vec_wrap(z, MANY, MGVI_ROWS);
        mgvi_op_mul(op, 1, &w, 0, &y);
        const double square = op->ops->square(op, &part);
        const double bound = op->ops->mul_rounding(op, &w, 0);
        const double square_bound = op->ops->square_rounding(op, &part, 0);
        long double exact = 0;
        for (int64_t i = 0; i < MANY; i++) {
            long double sum = 0;
            size += fabs(c[i]);
            if (c[i] == 0 && i >= LOOKED)
                continue;
            for (int64_t j = 0; j < MANY; j++) {
                long double apart = 0;
                for (int64_t l = 0; c[j] != 0 && l < D; l++)
                    apart += ((long double)x[i * D + l] - x[j * D + l]) *
                             ((long double)x[i * D + l] - x[j * D + l]);
                if (c[j] != 0)
                    sum += c[j] * (kind == 1 ? expl(-sqrtl(apart / 3)) : expl(-apart / 6));
            }
            exact += (long double)c[i] * sum;
            CHECK_LE((double)fabsl((long double)z[i] - sum), bound, "kind %d, row %d", kind,
                     (int)i);
        }
        CHECK_LE((double)fabsl((long double)square - exact), square_bound, "kind %d", kind);
        CHECK_LE(bound, 300 * UNIT * size, "kind %d: a bound that grows with the sum", kind);
        CHECK_LE(square_bound, 300 * UNIT * size * size, "kind %d: square", kind);
        mgvi_op_free(op);
        mgv_ctx_free(ctx);
    }
    free(z);
    free(c);
    free(x);
}

/* One point under both labels has coefficients that cancel, however large: the closer look is as
 * sharp as without them, and as right where they leave a remainder. */
TEST(equal_points_are_one_point)
{
    sample *s = malloc(sizeof *s);
    make_sample(s, 1, 0, 1, 3);
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_op *op;
    const mgvi_kernel k = {MGVI_KERNEL_POLY, (double)s->d, 0.5, 3, MGVI_ORIGIN_NONE};
    const mgvi_kernel_plan plan = {.kernel = k,
                                   .X = &s->m,
                                   .scaling.view.intercept = true,
                                   .fast = MGV_F64,
                                   .cache_bytes = 1e9};
    double c[ROWS + 1] = {0}, z[2][ROWS], error[2], square[2], square_error[2];
    const mgvi_vec w = mgvi_vec_wrap(c, ROWS + 1, MGVI_COLS),
                   part = mgvi_vec_wrap(c, ROWS, MGVI_COLS);
    if (LDBL_MANT_DIG < 64)
        return;
    CHECK_OK(ctx, mgvi_op_kernel(ctx, &plan, &op));
    for (int large = 0; large < 2; large++) {
        mgvi_vec y = mgvi_vec_wrap(z[large], ROWS, MGVI_ROWS);
        for (int64_t i = 0; i < ROWS; i++)
            c[i] = i % 2 ? 0.25 : -0.5;
        c[3] += large ? 0x1p40 : 0; /* rows 3 and 7 are equal */
        c[7] -= large ? 0x1p40 : 0;
        CHECK(op->ops->mul_extended(op, &w, 0, &y, &error[large]));
        CHECK(op->ops->square_extended(op, &part, 0, &square[large], &square_error[large]));
    }
    CHECK_LE(error[1], 1.01 * error[0], "product");
    CHECK_LE(square_error[1], 1.01 * square_error[0], "square");
    CHECK_LE(fabs(square[1] - square[0]), square_error[0] + square_error[1], "square");
    for (int64_t i = 0; i < ROWS; i++)
        CHECK_LE(fabs(z[1][i] - z[0][i]), error[0] + error[1] + 0x1p-51 * fabs(z[0][i]), "row %d",
                 (int)i);
    mgvi_op_free(op);
    mgv_ctx_free(ctx);
    free(s);
}

int main(void)
{
    return RUN(sums_are_within_their_bounds, units_do_not_matter,
               long_sums_of_short_points_have_the_error_of_short_ones, equal_points_are_one_point);
}
