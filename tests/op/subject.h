/* subject.h - an operator beside its plain matrix: products, accumulation, adjointness. */
#ifndef MGV_TESTS_OP_SUBJECT_H
#define MGV_TESTS_OP_SUBJECT_H

#include "samples.h"

static const int32_t lane_counts[] = {1, 2, 3, 4, 8};
enum { LANE_COUNTS = 5, MOST_LANES = 1500 };

/* One operator with its plain matrix (rows x cols) and per-lane signs (or NULL). */
typedef struct subject {
    mgv_ctx *ctx;
    mgvi_op *op;
    const double *ref;
    const int8_t *sign;
    const char *name;
} subject;

static inline double sign_at(const subject *s, int64_t i, int32_t k, int32_t c)
{
    return s->sign ? s->sign[i * k + c] : 1;
}

/* (A x)_ic and the sum of absolute values that bounds its rounding. */
static inline double entry(const subject *s, const double *x, int64_t i, int32_t k, int32_t c,
                           double *size)
{
    double sum = 0;
    for (int64_t j = 0; j < s->op->cols; j++) {
        const double term = s->ref[i * s->op->cols + j] * x[j * k + c];
        sum += term;
        *size += fabs(term);
    }
    return sign_at(s, i, k, c) * sum;
}

static inline double entry_t(const subject *s, const double *u, int64_t j, int32_t k, int32_t c,
                             double *size)
{
    double sum = 0;
    for (int64_t i = 0; i < s->op->rows; i++) {
        const double term = s->ref[i * s->op->cols + j] * u[i * k + c] * sign_at(s, i, k, c);
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

/* out = alpha A in + beta out against the plain loops; with A' when `t`. Centring adds rounding of
 * the size of the centre, hence the constant. */
static inline void check_product(const subject *s, bool t, int32_t k, double alpha, double beta)
{
    const int64_t from = t ? s->op->rows : s->op->cols, to = t ? s->op->cols : s->op->rows;
    double *in = random_numbers(1, from * k), *out = random_numbers(2, to * k),
           *before = random_numbers(2, to * k);
    for (int64_t i = 0; beta == 0 && i < to * k; i++)
        out[i] = NAN; /* must not be read */
    mgvi_vec x = {.x = in, .n = from, .k = k}, y = {.x = out, .n = to, .k = k};
    const double touched = s->op->touched;
    if (t)
        mgvi_op_mul_t(s->op, alpha, &x, beta, &y);
    else
        mgvi_op_mul(s->op, alpha, &x, beta, &y);
    CHECK(s->op->touched == touched + (double)s->op->nnz);
    for (int64_t i = 0; i < to; i++)
        for (int32_t c = 0; c < k; c++) {
            double size = 1;
            const double product =
                t ? entry_t(s, in, i, k, c, &size) : entry(s, in, i, k, c, &size);
            const double want = alpha * product + (beta == 0 ? 0 : beta * before[i * k + c]);
            CHECK_NEAR(out[i * k + c], want, 1e-14 * (size + sqrt((double)from) * 10),
                       "%s: %s k = %d, entry %d lane %d, alpha %g, beta %g", s->name,
                       t ? "A'u" : "A x", (int)k, (int)i, (int)c, alpha, beta);
        }
    free(in);
    free(out);
    free(before);
}

static inline void check_adjoint(const subject *s, int32_t k)
{
    const int64_t rows = s->op->rows, cols = s->op->cols;
    double *w = random_numbers(3, cols * k), *u = random_numbers(4, rows * k),
           *Aw = sample_memory((size_t)(rows * k), 8), *Au = sample_memory((size_t)(cols * k), 8);
    mgvi_vec vw = {.x = w, .n = cols, .k = k}, vu = {.x = u, .n = rows, .k = k},
             vAw = {.x = Aw, .n = rows, .k = k}, vAu = {.x = Au, .n = cols, .k = k};
    double left[MOST_LANES], right[MOST_LANES], a[MOST_LANES], b[MOST_LANES];
    mgvi_op_mul(s->op, 1, &vw, 0, &vAw);
    mgvi_op_mul_t(s->op, 1, &vu, 0, &vAu);
    mgvi_vec_dot(s->ctx, &vAw, &vu, left);
    mgvi_vec_dot(s->ctx, &vw, &vAu, right);
    mgvi_vec_norm2(s->ctx, &vAw, a);
    mgvi_vec_norm2(s->ctx, &vu, b);
    for (int32_t c = 0; c < k; c++)
        CHECK_NEAR(left[c], right[c], 1e-13 * (a[c] * b[c] + 1), "%s: <Aw,u> = <w,A'u>", s->name);
    free(w);
    free(u);
    free(Aw);
    free(Au);
}

static inline void check_subject(const subject *s, int32_t k)
{
    static const double factors[][2] = {{1, 0}, {-0.5, 0}, {2, 1}, {1.5, -0.25}};
    for (int f = 0; f < 4; f++)
        for (int t = 0; t < 2; t++)
            check_product(s, t, k, factors[f][0], factors[f][1]);
    check_adjoint(s, k);
}
#endif
