/* simd/scalar_lanes.h - the reference k-lane kernels for data of type T; ENTRY names what is not
 * static. Included by lanes.c once per type, hence no guard. */

/* y_c += alpha x_c over the lanes */
static void NAME(lanes_axpy)(double alpha, const double *x, double *y, int32_t k)
{
    for (int32_t c = 0; c < k; c++)
        y[c] += alpha * x[c];
}

void ENTRY(dense_mul_k)(const T *a, int64_t stride, int64_t rows, int64_t cols, int32_t k,
                        const double *x, double *y)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int32_t c = 0; c < k; c++)
            y[i * k + c] = 0;
        for (int64_t j = 0; j < cols; j++)
            NAME(lanes_axpy)((double)a[i * stride + j], x + j * k, y + i * k, k);
    }
}

void ENTRY(dense_mul_t_k)(const T *a, int64_t stride, int64_t rows, int64_t cols, int32_t k,
                          const double *u, double *g)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            NAME(lanes_axpy)((double)a[i * stride + j], u + i * k, g + j * k, k);
}

void ENTRY(csr_mul_k)(const T *val, const int32_t *idx, const int64_t *ptr, int64_t rows, int32_t k,
                      const double *x, double *y)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int32_t c = 0; c < k; c++)
            y[i * k + c] = 0;
        for (int64_t t = ptr[i]; t < ptr[i + 1]; t++)
            NAME(lanes_axpy)((double)val[t], x + (int64_t)idx[t] * k, y + i * k, k);
    }
}

void ENTRY(csr_mul_t_k)(const T *val, const int32_t *idx, const int64_t *ptr, int64_t rows,
                        int32_t k, const double *u, double *g)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t t = ptr[i]; t < ptr[i + 1]; t++)
            NAME(lanes_axpy)((double)val[t], u + i * k, g + (int64_t)idx[t] * k, k);
}
