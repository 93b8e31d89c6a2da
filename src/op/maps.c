/* maps.c - one short loop per part, each of them vectorised: the pieces stay in the first-level
 * cache, so several sweeps cost less than one loop full of branches. */
#include "op/maps.h"

#define INLINE static inline __attribute__((always_inline))
/* Calls the inline `fn` with the number of lanes a constant where it is a common one. */
#define BY_LANES(fn, k, ...)                                                                       \
    do {                                                                                           \
        if ((k) == 1)                                                                              \
            fn(1, __VA_ARGS__);                                                                    \
        else if ((k) == 2)                                                                         \
            fn(2, __VA_ARGS__);                                                                    \
        else if ((k) == 4)                                                                         \
            fn(4, __VA_ARGS__);                                                                    \
        else if ((k) == 8)                                                                         \
            fn(8, __VA_ARGS__);                                                                    \
        else                                                                                       \
            fn(k, __VA_ARGS__);                                                                    \
    } while (0)

INLINE void scale_lanes(int32_t k, const double *d, int64_t count, double *t)
{
    for (int64_t i = 0; i < count; i++)
        for (int32_t c = 0; c < k; c++)
            t[i * k + c] *= d[i];
}

/* t_ic *= d_i */
static void scale_rows(const double *d, int64_t count, int32_t k, double *t)
{
    BY_LANES(scale_lanes, k, d, count, t);
}

INLINE void shift_lanes(int32_t k, double alpha, const double *a, int64_t count, double *t)
{
    for (int64_t i = 0; i < count; i++)
        for (int32_t c = 0; c < k; c++)
            t[i * k + c] += alpha * a[c];
}

/* t_ic += alpha a_c */
static void shift_rows(double alpha, const double *a, int64_t count, int32_t k, double *t)
{
    BY_LANES(shift_lanes, k, alpha, a, count, t);
}

INLINE void sign_lanes(int32_t k, const int8_t *sign, int64_t count, double *t)
{
    for (int64_t i = 0; i < count; i++)
        for (int32_t c = 0; c < k; c++)
            t[i * k + c] *= sign[i];
}

static void apply_sign(const mgvi_view *v, int64_t first, int64_t count, int32_t k, double *t)
{
    if (v->sign && v->sign_lanes == 1)
        BY_LANES(sign_lanes, k, v->sign + first, count, t);
    else if (v->sign)
        sign_lanes(1, v->sign + first * k, count * k, t);
}

/* sum_c += sum_i t_ic */
static void sum_rows(const double *t, int64_t count, int32_t k, double *sum)
{
    enum { WIDTH = 8 }; /* partial sums, so that additions overlap */
    int64_t p = 0;
    if (WIDTH % k == 0) {
        double part[WIDTH] = {0};
        for (; p + WIDTH <= count * k; p += WIDTH)
            for (int c = 0; c < WIDTH; c++)
                part[c] += t[p + c];
        for (int c = 0; c < WIDTH; c++)
            sum[c % k] += part[c];
    }
    for (; p < count * k; p += k)
        for (int32_t c = 0; c < k; c++)
            sum[c] += t[p + c];
}

INLINE void subtract_outer(int32_t k, const double *a, const double *b, int64_t count, double *t)
{
    for (int64_t i = 0; i < count; i++)
        for (int32_t c = 0; c < k; c++)
            t[i * k + c] -= a[i] * b[c];
}

void mgvi_map_rows(const mgvi_view *v, mgvi_lane_shift shift, int64_t first, int64_t count,
                   int32_t k, double *t)
{
    if (shift.centre)
        shift_rows(-1, shift.centre, count, k, t);
    if (v->row_scale)
        scale_rows(v->row_scale + first, count, k, t);
    if (shift.intercept)
        shift_rows(1, shift.intercept, count, k, t);
    apply_sign(v, first, count, k, t);
}

void mgvi_map_rows_t(const mgvi_view *v, int64_t first, int64_t count, int32_t k, double alpha,
                     const double *u, double *out, mgvi_lane_sums sums)
{
    mgvi_map_combine(alpha, u, 0, out, count * k);
    apply_sign(v, first, count, k, out);
    if (sums.intercept)
        sum_rows(out, count, k, sums.intercept);
    if (v->row_scale)
        scale_rows(v->row_scale + first, count, k, out);
    if (sums.centre)
        sum_rows(out, count, k, sums.centre);
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
        BY_LANES(subtract_outer, k, v->centre + first, sum, count, r);
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
