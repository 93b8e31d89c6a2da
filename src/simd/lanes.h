/* simd/lanes.h - the k-lane kernels of simd.h for data of type T, on top of rows.h's vocabulary.
 * Lanes are taken up to LANE_VECS vectors at a time; each shape (so many vectors, the last whole or
 * partial, one row or LANE_ROWS(vectors); one column or as many) is a copy of its kernel with these
 * numbers as constants, so that sums stay in registers. ENTRY names what is not static. Included
 * once per type, hence no guard. */

#ifndef MGVI_SIMD_LANES_ONCE
#define MGVI_SIMD_LANES_ONCE
enum { MOST_LANE_ROWS = 8 };

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
#define LANE_CASE(vectors, kernel, ...)                                                            \
    case vectors:                                                                                  \
        if (part)                                                                                  \
            kernel(((lane_slice){lanes, vectors, part}), c, __VA_ARGS__);                          \
        else                                                                                       \
            kernel(((lane_slice){lanes, vectors, 0}), c, __VA_ARGS__);                             \
        break;
#if LANE_VECS == 2
#define LANE_CASES(kernel, ...)                                                                    \
    LANE_CASE(1, kernel, __VA_ARGS__)                                                              \
    LANE_CASE(2, kernel, __VA_ARGS__)
#else
#define LANE_CASES(kernel, ...)                                                                    \
    LANE_CASE(1, kernel, __VA_ARGS__)                                                              \
    LANE_CASE(2, kernel, __VA_ARGS__)                                                              \
    LANE_CASE(3, kernel, __VA_ARGS__)                                                              \
    LANE_CASE(4, kernel, __VA_ARGS__)
#endif
#define FOR_LANES(k, kernel, ...)                                                                  \
    const int32_t lanes = (k);                                                                     \
    for (int32_t c = 0; c < lanes; c += LANE_VECS * W) {                                           \
        const int32_t width = lanes - c < LANE_VECS * W ? lanes - c : LANE_VECS * W;               \
        const int32_t part = width % W;                                                            \
        switch ((width + W - 1) / W) {                                                             \
            LANE_CASES(kernel, __VA_ARGS__)                                                        \
        }                                                                                          \
    }
#endif

INLINE void NAME(dense_rows_k)(lane_slice s, const int rows, const T *a, int64_t stride,
                               int64_t cols, const double *x, double *y)
{
    vec sum[MOST_LANE_ROWS][LANE_VECS];
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
    for (; i + LANE_ROWS(s.vecs) <= rows; i += LANE_ROWS(s.vecs))
        NAME(dense_rows_k)
    (s, LANE_ROWS(s.vecs), a + i * stride, stride, cols, x + c, y + i * s.k + c);
    for (; i < rows; i++)
        NAME(dense_rows_k)(s, 1, a + i * stride, stride, cols, x + c, y + i * s.k + c);
}

void ENTRY(dense_mul_k)(const T *a, int64_t stride, int64_t rows, int64_t cols, int32_t k,
                        const double *x,
                        double *y){FOR_LANES(k, NAME(dense_k), a, stride, rows, cols, x, y)}

/* The sums of `cols` columns over the rows of a panel stay in registers. */
INLINE void NAME(dense_cols_t_k)(lane_slice s, const int cols, const T *a, int64_t stride,
                                 int64_t rows, const double *u, double *g)
{
    vec sum[MOST_LANE_ROWS][LANE_VECS];
    for (int j = 0; j < cols; j++)
        for (int v = 0; v < s.vecs; v++)
            sum[j][v] = lanes_load(g + (int64_t)j * s.k, v, s);
    for (int64_t i = 0; i < rows; i++) {
        vec ui[LANE_VECS];
        for (int v = 0; v < s.vecs; v++)
            ui[v] = lanes_load(u + i * s.k, v, s);
        for (int j = 0; j < cols; j++) {
            const vec aij = v_set((double)a[i * stride + j]);
            for (int v = 0; v < s.vecs; v++)
                sum[j][v] = v_fma(aij, ui[v], sum[j][v]);
        }
    }
    for (int j = 0; j < cols; j++)
        for (int v = 0; v < s.vecs; v++)
            lanes_store(g + (int64_t)j * s.k, v, sum[j][v], s);
}

/* A panel of rows fits the second cache, and its first strip of columns asks for the next one. */
INLINE void NAME(dense_t_k)(lane_slice s, int32_t c, const T *a, int64_t stride, int64_t rows,
                            int64_t cols, const double *u, double *g)
{
    enum { PANEL = 32, LINE = 64 / (int)sizeof(T) };
    for (int64_t i = 0; i < rows; i += PANEL) {
        const int64_t count = rows - i < PANEL ? rows - i : PANEL;
        const int64_t ahead = rows - i - count < PANEL ? rows - i - count : PANEL;
        const T *panel = a + i * stride;
        const double *up = u + i * s.k + c;
        int64_t j = 0;
        for (; j + LANE_ROWS(s.vecs) <= cols; j += LANE_ROWS(s.vecs)) {
            if (j % LINE < LANE_ROWS(s.vecs))
                for (int64_t r = 0; r < ahead; r++)
                    __builtin_prefetch(panel + (PANEL + r) * stride + j);
            NAME(dense_cols_t_k)
            (s, LANE_ROWS(s.vecs), panel + j, stride, count, up, g + j * s.k + c);
        }
        for (; j < cols; j++)
            NAME(dense_cols_t_k)(s, 1, panel + j, stride, count, up, g + j * s.k + c);
    }
}

void ENTRY(dense_mul_t_k)(const T *a, int64_t stride, int64_t rows, int64_t cols, int32_t k,
                          const double *u,
                          double *g){FOR_LANES(k, NAME(dense_t_k), a, stride, rows, cols, u, g)}

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

void ENTRY(csr_mul_k)(const T *val, const int32_t *idx, const int64_t *ptr, int64_t rows, int32_t k,
                      const double *x,
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

void ENTRY(csr_mul_t_k)(const T *val, const int32_t *idx, const int64_t *ptr, int64_t rows,
                        int32_t k, const double *u, double *g)
{
    FOR_LANES(k, NAME(csr_t_k), val, idx, ptr, rows, u, g)
}
