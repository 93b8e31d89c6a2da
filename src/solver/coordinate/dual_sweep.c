/* dual_sweep.c - the hot loop of dual coordinate ascent (simd/isa.h).
 * sweep() is written once and inlined for every registered loss and every way rows are stored, so
 * that the scalar formulas and the row kernels meet without a call between them. No operation is
 * fused or reordered, so all instruction sets take the same steps through the short rows. */
#include "solver/coordinate/dual_epoch.h"

#include "loss/list.h"
#include "op/rows.h"
#include "simd/isa.h"

#include <math.h>

enum { AHEAD = 5 }; /* rows fetched before they are needed */

typedef real (*value_fn)(mgvi_coef c, real z);
typedef real (*step_fn)(mgvi_coef c, real u, real z, real r);

#define INLINE static inline __attribute__((always_inline))

/* The sum of w over a row's indices. */
INLINE double ones_dot(const int32_t *idx, int64_t n, const double *w)
{
    double a = 0, b = 0, c = 0, d = 0;
    int64_t t = 0;
    for (; t + 4 <= n; t += 4) {
        a += w[idx[t]];
        b += w[idx[t + 1]];
        c += w[idx[t + 2]];
        d += w[idx[t + 3]];
    }
    for (; t < n; t++)
        a += w[idx[t]];
    return (a + b) + (c + d);
}

INLINE double row_dot(const mgvi_rows *rows, mgvi_storage kind, int64_t i, const double *w)
{
    const mgvi_matrix *m = &rows->m;
    const float *v32 = m->val;
    const double *v64 = m->val;
    if (kind == GENERAL)
        return mgvi_rows_dot(rows, i, w);
    double z;
    if (kind == DENSE_F32)
        z = rows->ctx->simd->dot_f32(v32 + i * m->row_stride, w, m->cols);
    else if (kind == DENSE_F64)
        z = rows->ctx->simd->dot_f64(v64 + i * m->row_stride, w, m->cols);
    else if (kind == CSR_ONES)
        z = ones_dot(m->idx + m->ptr[i], m->ptr[i + 1] - m->ptr[i], w);
    else if (m->ptr[i + 1] - m->ptr[i] >= MGVI_ROWS_SHORT)
        z = mgvi_rows_raw_dot(rows, i, w);
    else if (kind == CSR_F32)
        z = mgvi_rows_short_dot_f32(v32 + m->ptr[i], m->idx + m->ptr[i], m->ptr[i + 1] - m->ptr[i],
                                    w);
    else
        z = mgvi_rows_short_dot_f64(v64 + m->ptr[i], m->idx + m->ptr[i], m->ptr[i + 1] - m->ptr[i],
                                    w);
    if (rows->view.centre) /* op/rows.h (2) */
        z += w[m->cols] * (rows->centre_square - rows->row_centre[i]) - w[m->cols + 1];
    if (rows->view.intercept)
        z += w[rows->acc_len - 1];
    return rows->view.sign ? rows->view.sign[i] * z : z;
}

/* Without the intercept, except in GENERAL. */
INLINE void row_axpy(const mgvi_rows *rows, mgvi_storage kind, int64_t i, double step, double *w)
{
    const mgvi_matrix *m = &rows->m;
    const float *v32 = m->val;
    const double *v64 = m->val;
    const double alpha = rows->view.sign ? rows->view.sign[i] * step : step;
    if (kind == GENERAL) {
        mgvi_rows_axpy(rows, i, step, w);
        return;
    }
    if (rows->view.centre) {
        w[m->cols] += alpha;
        w[m->cols + 1] += alpha * rows->row_centre[i];
    }
    if (kind == DENSE_F32)
        rows->ctx->simd->axpy_f32(alpha, v32 + i * m->row_stride, w, m->cols);
    else if (kind == DENSE_F64)
        rows->ctx->simd->axpy_f64(alpha, v64 + i * m->row_stride, w, m->cols);
    else if (kind == CSR_ONES)
        for (int64_t t = m->ptr[i]; t < m->ptr[i + 1]; t++)
            w[m->idx[t]] += alpha;
    else if (m->ptr[i + 1] - m->ptr[i] >= MGVI_ROWS_SHORT)
        mgvi_rows_raw_axpy(rows, i, alpha, w);
    else if (kind == CSR_F32)
        mgvi_rows_short_axpy_f32(alpha, v32 + m->ptr[i], m->idx + m->ptr[i],
                                 m->ptr[i + 1] - m->ptr[i], w);
    else
        mgvi_rows_short_axpy_f64(alpha, v64 + m->ptr[i], m->idx + m->ptr[i],
                                 m->ptr[i + 1] - m->ptr[i], w);
}

/* Everything that is kept per row, before it is needed. */
INLINE void fetch(const mgvi_dual_epoch *e, mgvi_storage kind, int64_t i)
{
    const mgvi_rows *rows = e->rows;
    const double *scale = e->problem->row.scale.values;
    mgvi_rows_prefetch(rows, i);
    __builtin_prefetch(e->u + i, 1);
    __builtin_prefetch(e->curvature + i);
    if (scale)
        __builtin_prefetch(scale + i);
    if (rows->view.sign)
        __builtin_prefetch(rows->view.sign + i);
    if (kind != GENERAL && rows->view.centre)
        __builtin_prefetch(rows->row_centre + i);
}

/* What a full pass learns about the gap; see dual_epoch.h. */
INLINE void observe(mgvi_dual_epoch *e, mgvi_coef c, double u, double next, double z,
                    value_fn value, value_fn conj)
{
    const double loss = value(c, z);
    e->loss += loss;
    e->fenchel += loss + conj(c, u) - u * z;
    e->product += u * z;
    e->sum_u += next;
    e->least = r_min(e->least, z);
}

INLINE int64_t sweep(mgvi_dual_epoch *e, const int32_t *order, int64_t count, int32_t *moved,
                     mgvi_storage kind, value_fn value, value_fn conj, step_fn dual_step)
{
    const mgv_problem *p = e->problem;
    const mgvi_rows *rows = e->rows;
    const int64_t free_slot = mgvi_rows_acc_len(rows) - 1;
    double *const all_u = e->u, *const acc = e->acc, worst = 0, free_sum = e->free_sum;
    const bool watch = e->watch;
    int64_t kept = 0, touched = 0;
    for (int64_t t = 0; t < count; t++) {
        const int64_t i = order[t];
        if (t + AHEAD < count)
            fetch(e, kind, order[t + AHEAD]);
        const mgvi_coef c = mgvi_coefs_at(&p->row, i, 0);
        const double z = row_dot(rows, kind, i, acc), u = all_u[i], r = e->curvature[i];
        const double next = dual_step(c, u, z, r), move = next - u;
        touched += mgvi_rows_nnz(rows, i);
        if (watch)
            observe(e, c, u, next, z, value, conj);
        if (move == 0)
            continue;
        const double intercept = e->free_weight > 0 ? acc[free_slot] : 0;
        row_axpy(rows, kind, i, -move * e->inverse_lambda, acc);
        if (e->free_weight > 0) { /* the intercept has its own weight, (4), whatever was added */
            const double change = mgvi_problem_free_entry(p, i) * move;
            acc[free_slot] = intercept - change * e->free_weight;
            free_sum += change;
        }
        all_u[i] = next;
        worst = r_max(worst, r * r_abs(move));
        touched += mgvi_rows_nnz(rows, i);
        moved[kept++] = (int32_t)i;
    }
    e->worst_move = worst;
    e->free_sum = free_sum;
    e->touched = (double)touched;
    return kept;
}

#define EPOCH(NAME, KIND)                                                                          \
    static int64_t NAME##_##KIND(mgvi_dual_epoch *e, const int32_t *order, int64_t count,          \
                                 int32_t *moved)                                                   \
    {                                                                                              \
        return sweep(e, order, count, moved, KIND, NAME##_value, NAME##_conj, NAME##_dual_step);   \
    }
#define EPOCHS(NAME, sample, summary)                                                              \
    EPOCH(NAME, CSR_ONES)                                                                          \
    EPOCH(NAME, CSR_F32)                                                                           \
    EPOCH(NAME, CSR_F64) EPOCH(NAME, DENSE_F32) EPOCH(NAME, DENSE_F64) EPOCH(NAME, GENERAL)
MGVI_LOSSES(EPOCHS)

#define ENTRY(NAME, sample, summary)                                                               \
    {NAME##_CSR_ONES,  NAME##_CSR_F32,   NAME##_CSR_F64,                                           \
     NAME##_DENSE_F32, NAME##_DENSE_F64, NAME##_GENERAL},
static const mgvi_dual_epoch_fn sweeps[][STORAGES] = {MGVI_LOSSES(ENTRY)};

const mgvi_dual_sweeps MGVI_OF_ISA(mgvi_dual) = {.sweep = sweeps};
