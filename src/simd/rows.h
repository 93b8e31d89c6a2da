/* simd/rows.h - the kernels of simd.h for data of type T in terms of a vector vocabulary
 * (vec_*.h); NAME(kernel) and NAME(v_load) carry the type. Included once per type, hence no guard.
 * Sums run over several accumulators, because a fused multiply-add takes about four cycles and
 * two can start in each. */

#ifndef MGVI_SIMD_ROWS_ONCE
#define MGVI_SIMD_ROWS_ONCE
#include <stdbool.h>

/* A loop over sparse rows does too little per byte to run far ahead of itself, and the processor's
 * own prefetch is late. So with each STEP entries those `further` on are asked for; measured on
 * Zen 4, float64 A x: 10 to 15 GB/s where x lies in the second cache, 15 to 21 in the first. */
enum { STEP = 16 }; /* a cache line of indices */
#define prefetch(a, index, further, level)                                                         \
    (__builtin_prefetch((index) + (further), 0, level),                                            \
     __builtin_prefetch((a) + (further), 0, level),                                                \
     sizeof *(a) == 8 ? __builtin_prefetch((a) + (further) + 8, 0, level) : (void)0)
#define prefetch_rows(a, index) /* far into the second cache, near into the first */               \
    (prefetch(a, index, 1024, 2), prefetch(a, index, 64, 3))
#endif

static double NAME(dot)(const T *a, const double *x, int64_t n)
{
    vec s0 = v_zero(), s1 = v_zero(), s2 = v_zero(), s3 = v_zero();
    int64_t j = 0;
    for (; j + 4 * W <= n; j += 4 * W) {
        s0 = v_fma(NAME(v_load)(a + j), v_load_f64(x + j), s0);
        s1 = v_fma(NAME(v_load)(a + j + W), v_load_f64(x + j + W), s1);
        s2 = v_fma(NAME(v_load)(a + j + 2 * W), v_load_f64(x + j + 2 * W), s2);
        s3 = v_fma(NAME(v_load)(a + j + 3 * W), v_load_f64(x + j + 3 * W), s3);
    }
    for (; j + W <= n; j += W)
        s0 = v_fma(NAME(v_load)(a + j), v_load_f64(x + j), s0);
    if (j < n)
        s1 = v_fma(NAME(v_load_part)(a + j, n - j), v_load_part_f64(x + j, n - j), s1);
    return v_sum(v_add(v_add(s0, s1), v_add(s2, s3)));
}

static void NAME(axpy)(double alpha, const T *a, double *y, int64_t n)
{
    const vec c = v_set(alpha);
    int64_t j = 0;
    for (; j + W <= n; j += W)
        v_store(y + j, v_fma(c, NAME(v_load)(a + j), v_load_f64(y + j)));
    if (j < n) {
        const vec sum = v_fma(c, NAME(v_load_part)(a + j, n - j), v_load_part_f64(y + j, n - j));
        v_store_part(y + j, sum, n - j);
    }
}

/* `ahead`: the rows that follow in memory will be read next. */
INLINE double NAME(gather_row)(const T *a, const int32_t *index, int64_t n, const double *x,
                               const bool ahead)
{
    vec s0 = v_zero(), s1 = v_zero();
    int64_t t = 0;
    if (ahead)
        prefetch_rows(a, index);
    for (; t + STEP <= n; t += STEP) {
        if (ahead)
            prefetch_rows(a + t + STEP, index + t + STEP);
        for (int v = 0; v < STEP; v += 2 * W) {
            s0 = v_fma(NAME(v_load)(a + t + v), v_gather(x, index + t + v), s0);
            s1 = v_fma(NAME(v_load)(a + t + v + W), v_gather(x, index + t + v + W), s1);
        }
    }
    for (; t + W <= n; t += W)
        s0 = v_fma(NAME(v_load)(a + t), v_gather(x, index + t), s0);
    if (t < n)
        s1 = v_fma(NAME(v_load_part)(a + t, n - t), v_gather_part(x, index + t, n - t), s1);
    return v_sum(v_add(s0, s1));
}

static double NAME(gather_dot)(const T *a, const int32_t *index, int64_t n, const double *x)
{
    return NAME(gather_row)(a, index, n, x, false);
}

INLINE void NAME(scatter_row)(double alpha, const T *a, const int32_t *index, int64_t n, double *y,
                              const bool ahead)
{
    const vec c = v_set(alpha);
    int64_t t = 0;
    if (ahead)
        prefetch_rows(a, index);
    for (; t + STEP <= n; t += STEP) {
        if (ahead)
            prefetch_rows(a + t + STEP, index + t + STEP);
        for (int v = 0; v < STEP; v += W)
            v_scatter_add(y, index + t + v, v_mul(c, NAME(v_load)(a + t + v)));
    }
    for (; t < n; t++)
        y[index[t]] += alpha * (double)a[t];
}

static void NAME(scatter_axpy)(double alpha, const T *a, const int32_t *index, int64_t n, double *y)
{
    NAME(scatter_row)(alpha, a, index, n, y, false);
}

/* Dense rows are taken TOGETHER: the vector is loaded once for all of them. How many entries
 * further to ask for memory: as many rows again follow, unless they are so long that they would
 * leave the second cache before their turn. */
enum { NAME(TOGETHER) = 8 };
INLINE int64_t NAME(entries_ahead)(int64_t stride)
{
    return NAME(TOGETHER) * stride < 32768 ? NAME(TOGETHER) * stride : 4096 / (int64_t)sizeof(T);
}

INLINE void NAME(dot_rows)(const T *a, int64_t stride, int64_t cols, const double *x, double *y)
{
    const int64_t ahead = NAME(entries_ahead)(stride);
    vec sum[NAME(TOGETHER)];
    for (int r = 0; r < NAME(TOGETHER); r++)
        sum[r] = v_zero();
    int64_t j = 0;
    for (; j + W <= cols; j += W) {
        const vec xj = v_load_f64(x + j);
        for (int r = 0; r < NAME(TOGETHER); r++) {
            const T *entry = a + r * stride + j;
            __builtin_prefetch(entry + ahead, 0, 2);
            sum[r] = v_fma(NAME(v_load)(entry), xj, sum[r]);
        }
    }
    if (j < cols) {
        const vec xj = v_load_part_f64(x + j, cols - j);
        for (int r = 0; r < NAME(TOGETHER); r++)
            sum[r] = v_fma(NAME(v_load_part)(a + r * stride + j, cols - j), xj, sum[r]);
    }
    for (int r = 0; r < NAME(TOGETHER); r++)
        y[r] = v_sum(sum[r]);
}

static void NAME(dense_mul)(const T *a, int64_t stride, int64_t rows, int64_t cols, const double *x,
                            double *y)
{
    int64_t i = 0;
    for (; i + NAME(TOGETHER) <= rows; i += NAME(TOGETHER))
        NAME(dot_rows)(a + i * stride, stride, cols, x, y + i);
    for (; i < rows; i++)
        y[i] = NAME(dot)(a + i * stride, x, cols);
}

/* Entries j .. j + W of g, or `part` of them; the entries `ahead` are wanted next. */
INLINE void NAME(add_rows_at)(const double *c, const T *const *row, double *g, int64_t j,
                              int64_t part, int64_t ahead)
{
    vec sum = part ? v_load_part_f64(g + j, part) : v_load_f64(g + j);
    for (int r = 0; r < NAME(TOGETHER); r++) {
        __builtin_prefetch(row[r] + j + ahead, 0, 2);
        sum = v_fma(v_set(c[r]),
                    part ? NAME(v_load_part)(row[r] + j, part) : NAME(v_load)(row[r] + j), sum);
    }
    if (part)
        v_store_part(g + j, sum, part);
    else
        v_store(g + j, sum);
}

/* Rows that follow each other are most likely followed by as many more. */
static void NAME(add_rows)(const double *c, const T *const *row, double *g, int64_t cols)
{
    const int64_t stride = row[1] - row[0];
    const bool follow = row[NAME(TOGETHER) - 1] - row[0] == (NAME(TOGETHER) - 1) * stride;
    const int64_t ahead = follow ? NAME(entries_ahead)(stride) : 0;
    int64_t j = 0;
    for (; j + W <= cols; j += W)
        NAME(add_rows_at)(c, row, g, j, 0, ahead);
    if (j < cols)
        NAME(add_rows_at)(c, row, g, j, cols - j, ahead);
}

static void NAME(dense_mul_t)(const T *a, int64_t stride, int64_t rows, int64_t cols,
                              const double *u, double *g)
{
    const T *row[NAME(TOGETHER)];
    double c[NAME(TOGETHER)];
    int held = 0;
    for (int64_t i = 0; i < rows; i++) {
        if (u[i] == 0)
            continue;
        row[held] = a + i * stride;
        c[held++] = u[i];
        if (held == NAME(TOGETHER)) {
            NAME(add_rows)(c, row, g, cols);
            held = 0;
        }
    }
    for (int r = 0; r < held; r++)
        NAME(axpy)(c[r], row[r], g, cols);
}

static void NAME(csr_mul)(const T *val, const int32_t *idx, const int64_t *ptr, int64_t rows,
                          const double *x, double *y)
{
    for (int64_t i = 0; i < rows; i++)
        y[i] = NAME(gather_row)(val + ptr[i], idx + ptr[i], ptr[i + 1] - ptr[i], x, true);
}

static void NAME(csr_mul_t)(const T *val, const int32_t *idx, const int64_t *ptr, int64_t rows,
                            const double *u, double *g)
{
    for (int64_t i = 0; i < rows; i++)
        if (u[i] != 0)
            NAME(scatter_row)(u[i], val + ptr[i], idx + ptr[i], ptr[i + 1] - ptr[i], g, true);
}
