/* simd/scalar_rows.h - the reference kernels for data of type T, named by NAME; included by
 * scalar.c once per type, hence no guard. */

static double NAME(dot)(const T *a, const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t j = 0; j < n; j++)
        sum += (double)a[j] * x[j];
    return sum;
}

static void NAME(axpy)(double alpha, const T *a, double *y, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        y[j] += alpha * (double)a[j];
}

static double NAME(gather_dot)(const T *a, const int32_t *index, int64_t n, const double *x)
{
    double sum = 0;
    for (int64_t t = 0; t < n; t++)
        sum += (double)a[t] * x[index[t]];
    return sum;
}

static void NAME(scatter_axpy)(double alpha, const T *a, const int32_t *index, int64_t n, double *y)
{
    for (int64_t t = 0; t < n; t++)
        y[index[t]] += alpha * (double)a[t];
}

static void NAME(dense_mul)(const T *a, int64_t stride, int64_t rows, int64_t cols, const double *x,
                            double *y)
{
    for (int64_t i = 0; i < rows; i++)
        y[i] = NAME(dot)(a + i * stride, x, cols);
}

static void NAME(dense_mul_t)(const T *a, int64_t stride, int64_t rows, int64_t cols,
                              const double *u, double *g)
{
    for (int64_t i = 0; i < rows; i++)
        if (u[i] != 0)
            NAME(axpy)(u[i], a + i * stride, g, cols);
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

/* y_c += alpha x_c over the lanes */
static void NAME(lanes_axpy)(double alpha, const double *x, double *y, int32_t k)
{
    for (int32_t c = 0; c < k; c++)
        y[c] += alpha * x[c];
}

static void NAME(dense_mul_k)(const T *a, int64_t stride, int64_t rows, int64_t cols, int32_t k,
                              const double *x, double *y)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int32_t c = 0; c < k; c++)
            y[i * k + c] = 0;
        for (int64_t j = 0; j < cols; j++)
            NAME(lanes_axpy)((double)a[i * stride + j], x + j * k, y + i * k, k);
    }
}

static void NAME(dense_mul_t_k)(const T *a, int64_t stride, int64_t rows, int64_t cols, int32_t k,
                                const double *u, double *g)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            NAME(lanes_axpy)((double)a[i * stride + j], u + i * k, g + j * k, k);
}

static void NAME(csr_mul_k)(const T *val, const int32_t *idx, const int64_t *ptr, int64_t rows,
                            int32_t k, const double *x, double *y)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int32_t c = 0; c < k; c++)
            y[i * k + c] = 0;
        for (int64_t t = ptr[i]; t < ptr[i + 1]; t++)
            NAME(lanes_axpy)((double)val[t], x + (int64_t)idx[t] * k, y + i * k, k);
    }
}

static void NAME(csr_mul_t_k)(const T *val, const int32_t *idx, const int64_t *ptr, int64_t rows,
                              int32_t k, const double *u, double *g)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t t = ptr[i]; t < ptr[i + 1]; t++)
            NAME(lanes_axpy)((double)val[t], u + i * k, g + (int64_t)idx[t] * k, k);
}
