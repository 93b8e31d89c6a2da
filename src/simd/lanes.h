/* simd/lanes.h - the k-lane kernels of simd.h for data of type T, on top of rows.h's vocabulary.
 * Lanes are taken up to two vectors at a time; each shape (one or two vectors, the last whole or
 * partial, one or four rows) is a copy of its kernel with these numbers as constants, so that sums
 * stay in registers. Included once per type, hence no guard. */

#ifndef MGVI_SIMD_LANES_ONCE
#define MGVI_SIMD_LANES_ONCE
enum { LANE_VECS = 2 };

/* Lanes c .. c + width of k; `part` entries of the last vector count when it is not whole (0). */
typedef struct lane_slice {
    int32_t k;
    int vecs;
    int64_t part;
} lane_slice;

INLINE vec lanes_load(const double *p, int v, lane_slice s)
{
    return s.part && v == s.vecs - 1 ? v_load_part_f64(p + v * W, s.part) : v_load_f64(p + v * W);
}

INLINE void lanes_store(double *p, int v, vec a, lane_slice s)
{
    if (s.part && v == s.vecs - 1)
        v_store_part(p + v * W, a, s.part);
    else
        v_store(p + v * W, a);
}

/* Calls kernel(slice, c, ...) for every slice of the k lanes. */
#define FOR_LANES(k, kernel, ...)                                                                  \
    for (int32_t c = 0; c < (k); c += LANE_VECS * W) {                                             \
        const int32_t width = (k)-c < LANE_VECS * W ? (k)-c : LANE_VECS * W, part = width % W;     \
        if (width > W && part)                                                                     \
            kernel(((lane_slice){(k), 2, part}), c, __VA_ARGS__);                                  \
        else if (width > W)                                                                        \
            kernel(((lane_slice){(k), 2, 0}), c, __VA_ARGS__);                                     \
        else if (part)                                                                             \
            kernel(((lane_slice){(k), 1, part}), c, __VA_ARGS__);                                  \
        else                                                                                       \
            kernel(((lane_slice){(k), 1, 0}), c, __VA_ARGS__);                                     \
    }
#endif

INLINE void NAME(dense_rows_k)(lane_slice s, const int rows, const T *a, int64_t stride,
                               int64_t cols, const double *x, double *y)
{
    vec sum[4][LANE_VECS];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < s.vecs; v++)
            sum[r][v] = v_zero();
    for (int64_t j = 0; j < cols; j++) {
        vec xj[LANE_VECS];
        for (int v = 0; v < s.vecs; v++)
            xj[v] = lanes_load(x + j * s.k, v, s);
        for (int r = 0; r < rows; r++) {
            const vec arj = v_set((double)a[r * stride + j]);
            for (int v = 0; v < s.vecs; v++)
                sum[r][v] = v_fma(arj, xj[v], sum[r][v]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < s.vecs; v++)
            lanes_store(y + (int64_t)r * s.k, v, sum[r][v], s);
}

INLINE void NAME(dense_k)(lane_slice s, int32_t c, const T *a, int64_t stride, int64_t rows,
                          int64_t cols, const double *x, double *y)
{
    int64_t i = 0;
    for (; i + 4 <= rows; i += 4)
        NAME(dense_rows_k)(s, 4, a + i * stride, stride, cols, x + c, y + i * s.k + c);
    for (; i < rows; i++)
        NAME(dense_rows_k)(s, 1, a + i * stride, stride, cols, x + c, y + i * s.k + c);
}

static void NAME(dense_mul_k)(const T *a, int64_t stride, int64_t rows, int64_t cols, int32_t k,
                              const double *x,
                              double *y){FOR_LANES(k, NAME(dense_k), a, stride, rows, cols, x, y)}

INLINE void NAME(dense_rows_t_k)(lane_slice s, const int rows, const T *a, int64_t stride,
                                 int64_t cols, const double *u, double *g)
{
    vec ur[4][LANE_VECS];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < s.vecs; v++)
            ur[r][v] = lanes_load(u + (int64_t)r * s.k, v, s);
    for (int64_t j = 0; j < cols; j++) {
        vec sum[LANE_VECS];
        for (int v = 0; v < s.vecs; v++)
            sum[v] = lanes_load(g + j * s.k, v, s);
        for (int r = 0; r < rows; r++) {
            const vec arj = v_set((double)a[r * stride + j]);
            for (int v = 0; v < s.vecs; v++)
                sum[v] = v_fma(arj, ur[r][v], sum[v]);
        }
        for (int v = 0; v < s.vecs; v++)
            lanes_store(g + j * s.k, v, sum[v], s);
    }
}

INLINE void NAME(dense_t_k)(lane_slice s, int32_t c, const T *a, int64_t stride, int64_t rows,
                            int64_t cols, const double *u, double *g)
{
    int64_t i = 0;
    for (; i + 4 <= rows; i += 4)
        NAME(dense_rows_t_k)(s, 4, a + i * stride, stride, cols, u + i * s.k + c, g + c);
    for (; i < rows; i++)
        NAME(dense_rows_t_k)(s, 1, a + i * stride, stride, cols, u + i * s.k + c, g + c);
}

static void NAME(dense_mul_t_k)(const T *a, int64_t stride, int64_t rows, int64_t cols, int32_t k,
                                const double *u, double *g){
    FOR_LANES(k, NAME(dense_t_k), a, stride, rows, cols, u, g)}

INLINE void NAME(csr_k)(lane_slice s, int32_t c, const T *val, const int32_t *idx,
                        const int64_t *ptr, int64_t rows, const double *x, double *y)
{
    for (int64_t i = 0; i < rows; i++) {
        vec even[LANE_VECS], odd[LANE_VECS];
        for (int v = 0; v < s.vecs; v++)
            even[v] = odd[v] = v_zero();
        int64_t t = ptr[i];
        for (; t + 2 <= ptr[i + 1]; t += 2) {
            const double *x0 = x + (int64_t)idx[t] * s.k + c;
            const double *x1 = x + (int64_t)idx[t + 1] * s.k + c;
            for (int v = 0; v < s.vecs; v++) {
                even[v] = v_fma(v_set((double)val[t]), lanes_load(x0, v, s), even[v]);
                odd[v] = v_fma(v_set((double)val[t + 1]), lanes_load(x1, v, s), odd[v]);
            }
        }
        if (t < ptr[i + 1])
            for (int v = 0; v < s.vecs; v++)
                even[v] = v_fma(v_set((double)val[t]),
                                lanes_load(x + (int64_t)idx[t] * s.k + c, v, s), even[v]);
        for (int v = 0; v < s.vecs; v++)
            lanes_store(y + i * s.k + c, v, v_add(even[v], odd[v]), s);
    }
}

static void NAME(csr_mul_k)(const T *val, const int32_t *idx, const int64_t *ptr, int64_t rows,
                            int32_t k, const double *x,
                            double *y){FOR_LANES(k, NAME(csr_k), val, idx, ptr, rows, x, y)}

INLINE void NAME(csr_t_k)(lane_slice s, int32_t c, const T *val, const int32_t *idx,
                          const int64_t *ptr, int64_t rows, const double *u, double *g)
{
    for (int64_t i = 0; i < rows; i++) {
        vec ui[LANE_VECS];
        for (int v = 0; v < s.vecs; v++)
            ui[v] = lanes_load(u + i * s.k + c, v, s);
        for (int64_t t = ptr[i]; t < ptr[i + 1]; t++) {
            double *gt = g + (int64_t)idx[t] * s.k + c;
            for (int v = 0; v < s.vecs; v++)
                lanes_store(gt, v, v_fma(v_set((double)val[t]), ui[v], lanes_load(gt, v, s)), s);
        }
    }
}

static void NAME(csr_mul_t_k)(const T *val, const int32_t *idx, const int64_t *ptr, int64_t rows,
                              int32_t k, const double *u, double *g)
{
    FOR_LANES(k, NAME(csr_t_k), val, idx, ptr, rows, u, g)
}
