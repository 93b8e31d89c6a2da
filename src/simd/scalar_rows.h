/* simd/scalar_rows.h - the reference kernels for data of type T, named by NAME; included by isa.c
 * once per type, hence no guard. */

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
