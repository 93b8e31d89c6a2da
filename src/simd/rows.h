/* simd/rows.h - the kernels of simd.h for data of type T in terms of a vector vocabulary
 * (vec_*.h); NAME(kernel) and NAME(v_load) carry the type. Included once per type, hence no guard.
 * Sums run over several accumulators, because a fused multiply-add takes about four cycles and
 * two can start in each. */

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

static double NAME(gather_dot)(const T *a, const int32_t *index, int64_t n, const double *x)
{
    vec s0 = v_zero(), s1 = v_zero();
    int64_t t = 0;
    for (; t + 2 * W <= n; t += 2 * W) {
        s0 = v_fma(NAME(v_load)(a + t), v_gather(x, index + t), s0);
        s1 = v_fma(NAME(v_load)(a + t + W), v_gather(x, index + t + W), s1);
    }
    if (t + W <= n) {
        s0 = v_fma(NAME(v_load)(a + t), v_gather(x, index + t), s0);
        t += W;
    }
    if (t < n)
        s1 = v_fma(NAME(v_load_part)(a + t, n - t), v_gather_part(x, index + t, n - t), s1);
    return v_sum(v_add(s0, s1));
}

/* Stores to scattered places are one per cycle at best, in every instruction set. */
static void NAME(scatter_axpy)(double alpha, const T *a, const int32_t *index, int64_t n, double *y)
{
    int64_t t = 0;
    for (; t + 4 <= n; t += 4) {
        y[index[t]] += alpha * (double)a[t];
        y[index[t + 1]] += alpha * (double)a[t + 1];
        y[index[t + 2]] += alpha * (double)a[t + 2];
        y[index[t + 3]] += alpha * (double)a[t + 3];
    }
    for (; t < n; t++)
        y[index[t]] += alpha * (double)a[t];
}

/* One row after the other: a single stream is what the hardware prefetches best, and x stays in
 * the first or second cache. */
static void NAME(dense_mul)(const T *a, int64_t stride, int64_t rows, int64_t cols, const double *x,
                            double *y)
{
    for (int64_t i = 0; i < rows; i++)
        y[i] = NAME(dot)(a + i * stride, x, cols);
}

enum { NAME(TOGETHER) = 8 }; /* rows added at once: g is loaded and stored once for all of them */

INLINE vec NAME(add_rows_at)(const double *c, const T *const *row, vec sum, int64_t j, int64_t part)
{
    for (int r = 0; r < NAME(TOGETHER); r++)
        sum = v_fma(v_set(c[r]),
                    part ? NAME(v_load_part)(row[r] + j, part) : NAME(v_load)(row[r] + j), sum);
    return sum;
}

static void NAME(add_rows)(const double *c, const T *const *row, double *g, int64_t cols)
{
    int64_t j = 0;
    for (; j + W <= cols; j += W)
        v_store(g + j, NAME(add_rows_at)(c, row, v_load_f64(g + j), j, 0));
    if (j < cols)
        v_store_part(g + j,
                     NAME(add_rows_at)(c, row, v_load_part_f64(g + j, cols - j), j, cols - j),
                     cols - j);
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
        y[i] = NAME(gather_dot)(val + ptr[i], idx + ptr[i], ptr[i + 1] - ptr[i], x);
}

static void NAME(csr_mul_t)(const T *val, const int32_t *idx, const int64_t *ptr, int64_t rows,
                            const double *u, double *g)
{
    for (int64_t i = 0; i < rows; i++)
        if (u[i] != 0)
            NAME(scatter_axpy)(u[i], val + ptr[i], idx + ptr[i], ptr[i + 1] - ptr[i], g);
}
