/* maps.c - one short loop per part, each of them vectorised: the pieces stay in the first-level
 * cache, so several sweeps cost less than one loop full of branches. */
#include "op/maps.h"

/* t_ic *= d_i */
static void scale_rows(const double *d, int64_t count, int32_t k, double *t)
{
    if (k == 1) {
        for (int64_t i = 0; i < count; i++)
            t[i] *= d[i];
        return;
    }
    for (int64_t i = 0; i < count; i++)
        for (int32_t c = 0; c < k; c++)
            t[i * k + c] *= d[i];
}

/* t_ic += alpha a_c */
static void add_lanes(double alpha, const double *a, int64_t count, int32_t k, double *t)
{
    if (k == 1) {
        const double shift = alpha * a[0];
        for (int64_t i = 0; i < count; i++)
            t[i] += shift;
        return;
    }
    for (int64_t i = 0; i < count; i++)
        for (int32_t c = 0; c < k; c++)
            t[i * k + c] += alpha * a[c];
}

static void apply_sign(const mgvi_view *v, int64_t first, int64_t count, int32_t k, double *t)
{
    if (!v->sign)
        return;
    if (v->sign_lanes == 1)
        scale_rows(v->sign + first, count, k, t);
    else
        scale_rows(v->sign + first * k, count * k, 1, t);
}

/* sum_c += sum_i t_ic */
static void sum_lanes(const double *t, int64_t count, int32_t k, double *sum)
{
    enum { WIDTH = 8 }; /* partial sums, so that additions overlap */
    if (k == 1) {
        double part[WIDTH] = {0};
        int64_t i = 0;
        for (; i + WIDTH <= count; i += WIDTH)
            for (int c = 0; c < WIDTH; c++)
                part[c] += t[i + c];
        for (; i < count; i++)
            part[0] += t[i];
        sum[0] += ((part[0] + part[4]) + (part[1] + part[5])) +
                  ((part[2] + part[6]) + (part[3] + part[7]));
        return;
    }
    for (int64_t i = 0; i < count; i++)
        for (int32_t c = 0; c < k; c++)
            sum[c] += t[i * k + c];
}

void mgvi_map_rows(const mgvi_view *v, mgvi_lane_shift shift, int64_t first, int64_t count,
                   int32_t k, double *t)
{
    if (shift.centre)
        add_lanes(-1, shift.centre, count, k, t);
    if (v->row_scale)
        scale_rows(v->row_scale + first, count, k, t);
    if (shift.intercept)
        add_lanes(1, shift.intercept, count, k, t);
    apply_sign(v, first, count, k, t);
}

void mgvi_map_rows_t(const mgvi_view *v, int64_t first, int64_t count, int32_t k, double alpha,
                     const double *u, double *out, mgvi_lane_sums sums)
{
    mgvi_map_combine(alpha, u, 0, out, count * k);
    apply_sign(v, first, count, k, out);
    if (sums.intercept)
        sum_lanes(out, count, k, sums.intercept);
    if (v->row_scale)
        scale_rows(v->row_scale + first, count, k, out);
    if (sums.centre)
        sum_lanes(out, count, k, sums.centre);
}

void mgvi_map_cols(const mgvi_view *v, int64_t first, int64_t count, int32_t k, const double *w,
                   double *out)
{
    mgvi_map_combine(1, w, 0, out, count * k);
    if (v->scale)
        scale_rows(v->scale + first, count, k, out);
}

void mgvi_map_cols_t(const mgvi_view *v, const double *sum, int64_t first, int64_t count, int32_t k,
                     double *r)
{
    if (v->centre)
        for (int64_t j = 0; j < count; j++)
            for (int32_t c = 0; c < k; c++)
                r[j * k + c] -= v->centre[first + j] * sum[c];
    if (v->scale)
        scale_rows(v->scale + first, count, k, r);
}

void mgvi_map_combine(double alpha, const double *t, double beta, double *y, int64_t count)
{
    if (beta == 0 && alpha == 1 && t == y)
        return;
    if (beta == 0)
        for (int64_t i = 0; i < count; i++)
            y[i] = alpha * t[i];
    else
        for (int64_t i = 0; i < count; i++)
            y[i] = alpha * t[i] + beta * y[i];
}
