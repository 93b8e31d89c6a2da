/* scales.c - how far the scales of a kernel's points are from the standard deviations they stand
 * for. scale_error() of rounding.c bounds what any sums may have done to them; here the deviations
 * are made again in long double, U = LDBL_EPSILON, and compared:
 *   sigma_j^2 = sum_i v_i d_ij^2 / V - (sum_i v_i d_ij / V)^2,   d_ij = x_ij - m_j
 * with V = sum_i v_i and m_j about the mean is right to 4 (n + 10) U where the second term is at
 * most a quarter of the first. */
#include "certify/rounding.h"

#include <float.h>
#include <math.h>

typedef struct moments {
    long double origin; /* m_j */
    long double sum, square;
    int64_t count; /* entries stored */
} moments;

static void add_up(const mgv_problem *p, moments *of, long double *weight)
{
    const mgvi_matrix *X = p->A->stored;
    const double *weights = p->row.scale.values;
    *weight = 0;
    for (int64_t i = 0; i < X->rows; i++) {
        const mgvi_span s = mgvi_matrix_span(X, i);
        const long double v = weights ? (long double)weights[i] : 1;
        *weight += v;
        for (int64_t t = 0; t < s.count; t++) {
            moments *m = &of[mgvi_span_place(X, &s, t)];
            const long double d = (long double)mgvi_span_value(X, &s, t) - m->origin;
            m->sum += v * d;
            m->square += v * d * d;
            m->count++;
        }
    }
}

/* From 0 first; then from there, in a double, so that differences are rounded once. A column of
 * one number has that as its mean. */
static void find_origins(const mgv_problem *p, moments *of)
{
    long double weight;
    add_up(p, of, &weight);
    for (int64_t j = 0; j < p->A->stored->cols; j++)
        of[j] = (moments){.origin = weight > 0 ? (double)(of[j].sum / weight) : 0};
}

/* |scale_j sigma_j - 1| of the worst column; INFINITY where that is not known. */
static double compare(const mgv_problem *p, moments *of, long double weight)
{
    const int64_t n = mgvi_problem_examples(p), d = p->A->stored->cols;
    long double worst = 0;
    for (int64_t j = 0; j < d; j++) {
        const long double zeros = (long double)(n - of[j].count), c = of[j].origin;
        if (zeros > 0 && p->row.scale.values) /* their weight is what rounding leaves of a sum */
            return INFINITY;
        const long double mean = (of[j].sum - zeros * c) / weight;
        const long double about = (of[j].square + zeros * c * c) / weight;
        if (about == 0 && p->view.scale[j] == 1) /* a constant column is 0, whatever its scale */
            continue;
        if (!(about > 0) || mean * mean > about / 4)
            return INFINITY;
        worst = fmaxl(worst, fabsl((long double)p->view.scale[j] * sqrtl(about - mean * mean) - 1));
    }
    return (double)(worst + 4 * (long double)(n + 16) * LDBL_EPSILON);
}

double mgvi_scales_off(mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    while (p->whole)
        p = p->whole;
    if (LDBL_MANT_DIG < 64 || p->A->stored->layout == MGV_CSC || !p->view.scale)
        return INFINITY;
    moments *of = mgvi_arena_array(judge->arena, (size_t)p->A->stored->cols, sizeof *of);
    long double weight;
    if (!of)
        return INFINITY;
    find_origins(p, of);
    add_up(p, of, &weight);
    return compare(p, of, weight);
}
