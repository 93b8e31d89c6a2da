/* test_simd.c - every kernel table of this machine against the scalar one.
 * Arrays end at a page that may not be touched, so a kernel that reads or writes one element too
 * far dies, whatever the sanitizer sees of vector instructions; their beginnings are unaligned. */
#include "check.h"
#include "quad.h"

#include "base/rng.h"
#include "simd/rough_points.h"
#include "simd/short_points.h"
#include "simd/simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_ARRAYS = 64 };
static struct {
    void *base;
    size_t size;
} arrays[MOST_ARRAYS];
static int array_count;

/* `count` items of `size` bytes whose end is the end of what may be read. */
static void *guarded(int64_t count, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (size_t)count * size;
    const size_t whole = (bytes + page - 1) / page * page;
    char *base =
        mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(base != MAP_FAILED && array_count < MOST_ARRAYS);
    CHECK(mprotect(base + whole, page, PROT_NONE) == 0);
    arrays[array_count].base = base;
    arrays[array_count++].size = whole + page;
    return base + whole - bytes;
}

static void release_arrays(void)
{
    while (array_count > 0) {
        array_count--;
        munmap(arrays[array_count].base, arrays[array_count].size);
    }
}

static double *random_f64(mgvi_rng *rng, int64_t count)
{
    double *x = guarded(count, sizeof *x);
    for (int64_t i = 0; i < count; i++)
        x[i] = mgvi_rng_below(rng, 5) == 0 ? 0 : 2 * mgvi_rng_uniform(rng) - 1;
    return x;
}

static float *random_f32(mgvi_rng *rng, int64_t count)
{
    float *x = guarded(count, sizeof *x);
    for (int64_t i = 0; i < count; i++)
        x[i] = (float)(2 * mgvi_rng_uniform(rng) - 1);
    return x;
}

static double *copy_f64(const double *from, int64_t count)
{
    double *x = guarded(count, sizeof *x);
    if (count)
        memcpy(x, from, (size_t)count * sizeof *x);
    return x;
}

/* Entries are at most 1, so `terms` bounds every sum. */
static void compare(const char *table, const char *kernel, const double *got, const double *want,
                    int64_t count, int64_t terms)
{
    for (int64_t i = 0; i < count; i++)
        CHECK_NEAR(got[i], want[i], 1e-15 * (double)(terms + 2),
                   "%s %s: entry %" PRId64 " of %" PRId64 ", %" PRId64 " terms", table, kernel, i,
                   count, terms);
}

/* Random CSR rows with distinct, increasing columns; row lengths from 0 to cols. ptr starts at an
 * offset, as for a run of rows inside a matrix. */
typedef struct sparse {
    int64_t *ptr;
    int32_t *idx;
    int64_t offset, nnz;
} sparse;

static sparse random_sparse(mgvi_rng *rng, int64_t rows, int64_t cols)
{
    sparse s = {.ptr = guarded(rows + 1, sizeof *s.ptr), .offset = mgvi_rng_below(rng, 4)};
    uint8_t *taken = calloc((size_t)(rows * cols + 1), 1);
    CHECK(taken);
    for (int64_t i = 0; i < rows * cols; i++)
        s.nnz += taken[i] = (uint8_t)(mgvi_rng_uniform(rng) < (double)(i / cols % 4) / 3);
    s.idx = guarded(s.offset + s.nnz, sizeof *s.idx);
    memset(s.idx, 0, (size_t)s.offset * sizeof *s.idx);
    int64_t t = s.offset;
    s.ptr[0] = t;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++)
            if (taken[i * cols + j])
                s.idx[t++] = (int32_t)j;
        s.ptr[i + 1] = t;
    }
    free(taken);
    return s;
}

static const int64_t lengths[] = {0,  1,  2,  3,  4,  5,  7,  8,  9,  12, 15,
                                  16, 17, 23, 31, 32, 33, 47, 64, 67, 129};
static const int64_t row_counts[] = {0, 1, 3, 4, 5, 8, 9, 18};
static const int32_t lane_counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 33};
#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

/* The laws are the same for both types of data. */
#define ROW_KERNELS(T, S)                                                                          \
    static void row_kernels_##S(const mgvi_simd *v, mgvi_rng *rng, int64_t n)                      \
    {                                                                                              \
        const mgvi_simd *r = &mgvi_simd_scalar;                                                    \
        const sparse s = random_sparse(rng, 4, n);                                                 \
        const int64_t from = s.ptr[2], m = s.ptr[3] - from; /* a row of about 2 n / 3 entries */   \
        const int32_t *idx = s.idx + from;                                                         \
        const T *a = random_##S(rng, n), *val = random_##S(rng, m);                                \
        const double *x = random_f64(rng, n), *y = random_f64(rng, n);                             \
        double got = v->dot_##S(a, x, n), want = r->dot_##S(a, x, n);                              \
        compare(v->name, "dot_" #S, &got, &want, 1, n);                                            \
        got = v->gather_dot_##S(val, idx, m, x), want = r->gather_dot_##S(val, idx, m, x);         \
        compare(v->name, "gather_dot_" #S, &got, &want, 1, m);                                     \
        double *p = copy_f64(y, n), *q = copy_f64(y, n);                                           \
        v->axpy_##S(-0.7, a, p, n), r->axpy_##S(-0.7, a, q, n);                                    \
        compare(v->name, "axpy_" #S, p, q, n, 1);                                                  \
        v->scatter_axpy_##S(0.3, val, idx, m, p), r->scatter_axpy_##S(0.3, val, idx, m, q);        \
        compare(v->name, "scatter_axpy_" #S, p, q, n, 2);                                          \
        release_arrays();                                                                          \
    }
ROW_KERNELS(float, f32)
ROW_KERNELS(double, f64)

TEST(row_kernels_agree_with_scalar)
{
    mgvi_rng rng = mgvi_rng_seed(11);
    for (int level = 0; level < mgvi_simd_count(); level++)
        for (int l = 0; l < COUNT(lengths); l++) {
            row_kernels_f32(mgvi_simd_at(level), &rng, lengths[l]);
            row_kernels_f64(mgvi_simd_at(level), &rng, lengths[l]);
        }
}

#define MATRIX_KERNELS(T, S)                                                                       \
    static void dense_kernels_##S(const mgvi_simd *v, mgvi_rng *rng, int64_t m, int64_t n,         \
                                  int32_t k)                                                       \
    {                                                                                              \
        const mgvi_simd *r = &mgvi_simd_scalar;                                                    \
        const int64_t stride = n + mgvi_rng_below(rng, 4);                                         \
        const T *a = random_##S(rng, m ? (m - 1) * stride + n : 0);                                \
        const double *x = random_f64(rng, n * k), *u = random_f64(rng, m * k);                     \
        const double *y0 = random_f64(rng, m * k), *g0 = random_f64(rng, n * k);                   \
        double *y = copy_f64(y0, m * k), *z = copy_f64(y0, m * k);                                 \
        double *g = copy_f64(g0, n * k), *h = copy_f64(g0, n * k);                                 \
        v->dense_mul_k_##S(a, stride, m, n, k, x, y);                                              \
        r->dense_mul_k_##S(a, stride, m, n, k, x, z);                                              \
        compare(v->name, "dense_mul_k_" #S, y, z, k *m, n);                                        \
        v->dense_mul_t_k_##S(a, stride, m, n, k, u, g);                                            \
        r->dense_mul_t_k_##S(a, stride, m, n, k, u, h);                                            \
        compare(v->name, "dense_mul_t_k_" #S, g, h, k *n, m);                                      \
        if (k == 1) { /* the lane kernels with one lane are the plain ones */                      \
            v->dense_mul_##S(a, stride, m, n, x, y);                                               \
            compare(v->name, "dense_mul_" #S, y, z, m, n);                                         \
            memcpy(g, g0, (size_t)n * sizeof *g);                                                  \
            v->dense_mul_t_##S(a, stride, m, n, u, g);                                             \
            compare(v->name, "dense_mul_t_" #S, g, h, n, m);                                       \
        }                                                                                          \
        release_arrays();                                                                          \
    }                                                                                              \
    static void csr_kernels_##S(const mgvi_simd *v, mgvi_rng *rng, int64_t m, int64_t n,           \
                                int32_t k)                                                         \
    {                                                                                              \
        const mgvi_simd *r = &mgvi_simd_scalar;                                                    \
        const sparse s = random_sparse(rng, m, n);                                                 \
        const T *val = random_##S(rng, s.offset + s.nnz);                                          \
        const double *x = random_f64(rng, n * k), *u = random_f64(rng, m * k);                     \
        const double *y0 = random_f64(rng, m * k), *g0 = random_f64(rng, n * k);                   \
        double *y = copy_f64(y0, m * k), *z = copy_f64(y0, m * k);                                 \
        double *g = copy_f64(g0, n * k), *h = copy_f64(g0, n * k);                                 \
        v->csr_mul_k_##S(val, s.idx, s.ptr, m, k, x, y);                                           \
        r->csr_mul_k_##S(val, s.idx, s.ptr, m, k, x, z);                                           \
        compare(v->name, "csr_mul_k_" #S, y, z, k *m, n);                                          \
        v->csr_mul_t_k_##S(val, s.idx, s.ptr, m, k, u, g);                                         \
        r->csr_mul_t_k_##S(val, s.idx, s.ptr, m, k, u, h);                                         \
        compare(v->name, "csr_mul_t_k_" #S, g, h, k *n, m);                                        \
        if (k == 1) {                                                                              \
            v->csr_mul_##S(val, s.idx, s.ptr, m, x, y);                                            \
            compare(v->name, "csr_mul_" #S, y, z, m, n);                                           \
            memcpy(g, g0, (size_t)n * sizeof *g);                                                  \
            v->csr_mul_t_##S(val, s.idx, s.ptr, m, u, g);                                          \
            compare(v->name, "csr_mul_t_" #S, g, h, n, m);                                         \
        }                                                                                          \
        release_arrays();                                                                          \
    }
MATRIX_KERNELS(float, f32)
MATRIX_KERNELS(double, f64)

TEST(matrix_kernels_agree_with_scalar_for_every_lane_count)
{
    mgvi_rng rng = mgvi_rng_seed(12);
    for (int level = 0; level < mgvi_simd_count(); level++)
        for (int r = 0; r < COUNT(row_counts); r++)
            for (int c = 0; c < COUNT(lane_counts); c++)
                for (int l = 0; l < COUNT(lengths); l += 1 + (c > 2)) {
                    const mgvi_simd *v = mgvi_simd_at(level);
                    const int64_t m = row_counts[r], n = lengths[l];
                    const int32_t k = lane_counts[c];
                    dense_kernels_f32(v, &rng, m, n, k);
                    dense_kernels_f64(v, &rng, m, n, k);
                    csr_kernels_f32(v, &rng, m, n, k);
                    csr_kernels_f64(v, &rng, m, n, k);
                }
}

/* A solver relies on it: rows that carry no weight may hold anything and cost nothing. */
TEST(rows_without_weight_are_not_read)
{
    for (int level = 0; level < mgvi_simd_count(); level++) {
        const mgvi_simd *v = mgvi_simd_at(level);
        const double u[3] = {0, 2, 0}, a[6] = {NAN, NAN, 1, 2, NAN, NAN};
        const int64_t ptr[4] = {0, 2, 4, 6};
        const int32_t idx[6] = {0, 1, 0, 1, 0, 1};
        double g[2] = {0, 0}, h[2] = {0, 0};
        v->dense_mul_t_f64(a, 2, 3, 2, u, g);
        v->csr_mul_t_f64(a, idx, ptr, 3, u, h);
        CHECK_THAT(g[0] == 2 && g[1] == 4 && h[0] == 2 && h[1] == 4, "%s", v->name);
    }
}

/* Kernel values against the mathematics library; nothing above 1, nothing subnormal. */
TEST(exponentials_are_exponentials)
{
    for (int level = 0; level < mgvi_simd_count(); level++) {
        const mgvi_simd *v = mgvi_simd_at(level);
        for (int64_t n = 1; n < 40; n += 3) {
            double *x = guarded(n, sizeof *x), *b = guarded(n, sizeof *b);
            float *y = guarded(n, sizeof *y), *c = guarded(n, sizeof *c);
            for (int root = 0; root < 2; root++) {
                for (int64_t j = 0; j < n; j++) {
                    x[j] = 0.5 - (double)(j * j);
                    b[j] = -0.25 * (double)j;
                    y[j] = (float)x[j];
                    c[j] = (float)b[j];
                }
                (root ? v->exp_root_f64 : v->exp_shift_f64)(x, b, -0.125, n);
                (root ? v->exp_root_f32 : v->exp_shift_f32)(y, c, -0.125f, n);
                for (int64_t j = 0; j < n; j++) {
                    const double s = fmin(0.375 - (double)(j * j) - 0.25 * (double)j, 0);
                    const double want = exp(root ? -sqrt(-2 * s) : s);
                    CHECK_NEAR(x[j], fmax(want, exp(-708)), 1e-15 * fmax(want, exp(-708)), "%s: %g",
                               v->name, s);
                    CHECK_NEAR((double)y[j], fmax(want, exp(-87)), 3e-6 * want + 1e-44, "%s: %g",
                               v->name, s);
                }
            }
            release_arrays();
        }
    }
}

/* Values between points of few columns, against the mathematics library. */
TEST(short_values_are_their_definition)
{
    enum { N = 2 * MGVI_SHORT_GROUP, MOST = 9 };
    mgvi_rng rng = mgvi_rng_seed(78);
    for (int level = 0; level < mgvi_simd_count(); level++)
        for (int64_t d = 0; d <= MOST; d += 3)
            for (int form = 0; form < 3; form++) {
                const mgvi_simd *v = mgvi_simd_at(level);
                double *p = random_f64(&rng, d), *q = random_f64(&rng, d * N);
                double *b = random_f64(&rng, N), *out = guarded(N, sizeof *out);
                b[3] = -2000; /* below the smallest exponential */
                v->short_points->values(p, d, q, N, b, 0.5, (mgvi_short_form)form, N, out);
                for (int64_t t = 0; t < N; t++) {
                    double s = 0.5 + b[t], square = 0;
                    for (int64_t j = 0; j < d; j++) {
                        const double x = q[j * N + t];
                        s += p[j] * x;
                        square += (x - p[j]) * (x - p[j]);
                    }
                    const double want = form == MGVI_SHORT_ROOT     ? exp(-0.5 * sqrt(square))
                                        : form == MGVI_SHORT_SQUARE ? exp(-0.5 * square)
                                                                    : exp(fmin(s, 0));
                    CHECK_NEAR(out[t], fmax(want, exp(-708)), 1e-14, "%s: d = %d, form %d", v->name,
                               (int)d, form);
                }
                release_arrays();
            }
}

/* Sums over them, whose values serve both points, against long double. */
TEST(short_sums_are_their_definition)
{
    enum { GROUP = MGVI_SHORT_GROUP, FOUR = MGVI_SHORT_FOUR, FOURS = 3 * MGVI_SHORT_RUN + 1 };
    enum { P = FOUR * FOURS };
    static const double UNIT = 0x1p-53;
    mgvi_rng rng = mgvi_rng_seed(79);
    for (int level = 0; level < mgvi_simd_count(); level++)
        for (int64_t d = 0; d <= 9; d += 3)
            for (int form = 0; form < 3; form++) {
                const mgvi_simd *v = mgvi_simd_at(level);
                double *p = random_f64(&rng, d * P), *q = random_f64(&rng, d * GROUP);
                double *own_p = random_f64(&rng, P), *own_q = random_f64(&rng, GROUP);
                double *c = random_f64(&rng, P), *c_q = random_f64(&rng, GROUP);
                double *hi = guarded(2 * GROUP, sizeof *hi), *hi_p = guarded(2 * P, sizeof *hi_p);
                double alone[2 * GROUP] = {0};
                long double want_p[P] = {0}, size_p = 0, size = 0;
                memset(hi, 0, 2 * GROUP * sizeof *hi);
                memset(hi_p, 0, 2 * P * sizeof *hi_p);
                own_p[1] = -3000; /* below the smallest power */
                const mgvi_short_points x = {.p = p,
                                             .q = q,
                                             .own_p = own_p,
                                             .own_q = own_q,
                                             .scale = 0.7,
                                             .fours = FOURS,
                                             .d = d,
                                             .form = (mgvi_short_form)form};
                const mgvi_short_totals total = {hi, hi + GROUP}, other = {hi_p, hi_p + P};
                v->short_points->sums(&x, c, c_q, total, other);
                v->short_points->sums(&x, c, NULL, (mgvi_short_totals){alone, alone + GROUP},
                                      (mgvi_short_totals){NULL, NULL});
                for (int64_t s = 0; s < P; s++)
                    size += fabsl(c[s]);
                for (int64_t l = 0; l < GROUP; l++) {
                    long double sum = 0;
                    size_p += fabsl(c_q[l]);
                    for (int64_t s = 0; s < P; s++) {
                        long double dot = own_p[s], square = 0;
                        dot += own_q[l];
                        for (int64_t j = 0; j < d; j++) {
                            const long double a = p[(s / FOUR * d + j) * FOUR + s % FOUR];
                            const long double b = q[j * GROUP + l];
                            dot += a * b;
                            square += (a - b) * (a - b);
                        }
                        const long double y =
                            form == MGVI_SHORT_PRODUCT
                                ? fminl(dot, 0)
                                : -0.7L * (form == MGVI_SHORT_ROOT ? sqrtl(square) : square);
                        sum += c[s] * exp2l(y);
                        want_p[s] += c_q[l] * exp2l(y);
                    }
                    CHECK(hi[l] == alone[l] && hi[GROUP + l] == alone[GROUP + l]);
                    CHECK_LE((double)fabsl((long double)hi[l] + hi[GROUP + l] - sum),
                             (MGVI_SHORT_TERMS + 60) * UNIT * (double)size, "%s: d = %d, form %d",
                             v->name, (int)d, form);
                }
                for (int64_t s = 0; s < P; s++)
                    CHECK_LE((double)fabsl((long double)hi_p[s] + hi_p[P + s] - want_p[s]),
                             (MGVI_SHORT_TERMS + 60) * UNIT * (double)size_p, "%s: d = %d, form %d",
                             v->name, (int)d, form);
                release_arrays();
            }
}

/* float32 values of points that lie far from 0, too, and what is summed of them. */
TEST(rough_values_are_their_definition)
{
    enum { GROUP = MGVI_ROUGH_GROUP, FOUR = MGVI_ROUGH_FOUR, FOURS = 3, P = FOUR * FOURS };
    mgvi_rng rng = mgvi_rng_seed(80);
    for (int level = 0; level < mgvi_simd_count(); level++)
        for (int64_t d = 0; d <= 9; d += 3)
            for (int root = 0; root < 2; root++) {
                const mgvi_simd *v = mgvi_simd_at(level);
                float *p = random_f32(&rng, d * P), *q = random_f32(&rng, d * GROUP);
                float *c = random_f32(&rng, P), *out = guarded(P * GROUP, sizeof *out);
                float *c_q = random_f32(&rng, GROUP);
                double *sums = random_f64(&rng, GROUP), before[GROUP];
                double both[GROUP], *across = random_f64(&rng, P), want_across[P];
                for (int64_t j = 0; j < d * GROUP; j++)
                    q[j] += 16; /* nothing cancels */
                for (int64_t j = 0; j < d * P; j++)
                    p[j] += j / (FOUR * d) == 1 ? 40 : 16; /* some below the smallest value */
                memcpy(before, sums, sizeof before);
                const mgvi_rough_points x = {.p = p, .q = q, .fours = FOURS, .d = d, .root = root};
                v->rough_points->values(&x, out, GROUP);
                memcpy(both, sums, sizeof both);
                memcpy(want_across, across, sizeof want_across);
                v->rough_points->sums(&x, c, sums);
                v->rough_points->both(&x, c, c_q, both, across);
                for (int64_t l = 0; l < GROUP; l++) {
                    double sum = before[l];
                    for (int64_t s = 0; s < P; s++) {
                        double square = 0;
                        for (int64_t j = 0; j < d; j++) {
                            const double apart = (double)p[(s / FOUR * d + j) * FOUR + s % FOUR] -
                                                 (double)q[j * GROUP + l];
                            square += apart * apart;
                        }
                        const double power = root ? sqrt(square) : square, want = exp2(-power);
                        CHECK_NEAR((double)out[s * GROUP + l], want,
                                   (1e-6 + 2e-7 * power) * want + 0x1p-126, "%s: d = %d, root %d",
                                   v->name, (int)d, root);
                        sum += (double)c[s] * want;
                        want_across[s] += (double)c_q[l] * want;
                    }
                    CHECK(both[l] == sums[l]);
                    CHECK_NEAR(sums[l], sum, 1e-5, "%s: d = %d, root %d", v->name, (int)d, root);
                }
                for (int64_t s = 0; s < P; s++)
                    CHECK_NEAR(across[s], want_across[s], 1e-5, "%s: d = %d, root %d", v->name,
                               (int)d, root);
                release_arrays();
            }
}

/* Sums whose terms cancel to nothing but their last bits, against quadruple precision. */
TEST(twofold_sums_keep_what_cancels)
{
    enum { MOST = 37 };
    mgvi_rng rng = mgvi_rng_seed(79);
    for (int level = 0; level < mgvi_simd_count(); level++)
        for (int64_t n = 1; n <= MOST; n++) {
            const mgvi_simd *v = mgvi_simd_at(level);
            double *a = random_f64(&rng, n), *x = random_f64(&rng, n), hi, lo, h[MOST], l[MOST];
            float *b = random_f32(&rng, n);
            int32_t *index = guarded(n, sizeof *index);
            a[n - 1] = b[n - 1] = 3;
            for (int f32 = 0; f32 < 2; f32++) {
                quad sum = 0, size = 0;
                for (int64_t j = 0; j < n; j++) {
                    index[j] = (int32_t)j;
                    if (j == n - 1 && f32) /* takes off all that stands in front */
                        x[j] = -(double)sum / (double)b[j];
                    else if (j == n - 1)
                        x[j] = -(double)sum / a[j];
                    const quad term = (quad)(f32 ? (double)b[j] : a[j]) * x[j];
                    sum += term;
                    size += term < 0 ? -term : term;
                }
                for (int indexed = 0; indexed < 2; indexed++) {
                    if (indexed)
                        f32 ? v->gather_two_f32(b, index, n, x, &hi, &lo)
                            : v->gather_two_f64(a, index, n, x, &hi, &lo);
                    else
                        f32 ? v->dot_two_f32(b, x, n, &hi, &lo) : v->dot_two_f64(a, x, n, &hi, &lo);
                    CHECK_NEAR((double)((quad)hi + lo - sum), 0, 1e-29 * (double)size, "%s",
                               v->name);
                    for (int64_t j = 0; j < n; j++) {
                        h[j] = x[j];
                        l[j] = 0;
                    }
                    if (indexed)
                        f32 ? v->scatter_two_f32(0.1, b, index, n, h, l)
                            : v->scatter_two_f64(0.1, a, index, n, h, l);
                    else
                        f32 ? v->axpy_two_f32(0.1, b, h, l, n) : v->axpy_two_f64(0.1, a, h, l, n);
                    for (int64_t j = 0; j < n; j++) {
                        const quad y = f32 ? (double)b[j] : a[j], want = x[j] + (quad)0.1 * y;
                        CHECK_NEAR((double)(h[j] - want + l[j]), 0, 1e-30 * fabs(h[j]) + 1e-31,
                                   "%s", v->name);
                    }
                }
            }
            release_arrays();
        }
}

/* The sweeps of pairs against their definitions, ties to the first place. */
TEST(pair_sweeps_are_their_definitions)
{
    mgvi_rng rng = mgvi_rng_seed(77);
    for (int level = 0; level < mgvi_simd_count(); level++)
        for (int64_t n = 8; n <= 64; n += 8) {
            const mgvi_simd *s = mgvi_simd_at(level);
            double *v = random_f64(&rng, n), *up = guarded(n, 8), *down = guarded(n, 8);
            double *a = random_f64(&rng, n), *b = random_f64(&rng, n), *q = guarded(n, 8);
            float *c = random_f32(&rng, n), *d = random_f32(&rng, n);
            for (int64_t j = 0; j < n; j++) {
                up[j] = mgvi_rng_below(&rng, 3) ? 0 : -INFINITY;
                down[j] = mgvi_rng_below(&rng, 3) ? 0 : INFINITY;
                q[j] = 2;
            }
            for (int f32 = 0; f32 < 2; f32++) {
                double *next = copy_f64(v, n), most = -INFINITY, low = INFINITY, largest, least;
                int64_t want = -1, best = -1;
                for (int64_t j = 0; j < n; j++) {
                    next[j] -= 0.25 * (f32 ? (double)c[j] - (double)d[j] : a[j] - b[j]);
                    if (next[j] + up[j] > most) {
                        most = next[j] + up[j];
                        want = j;
                    }
                    low = fmin(low, next[j] + down[j]);
                }
                double *x = copy_f64(v, n), gain = 0;
                const int64_t got =
                    f32 ? s->pairs->step_f32(c, d, 0.25, x, up, down, n, &largest, &least)
                        : s->pairs->step_f64(a, b, 0.25, x, up, down, n, &largest, &least);
                CHECK_THAT(got == want && largest == most && least == low, "%s", s->name);
                assert_memory_equal(x, next, (size_t)n * sizeof *x);
                for (int64_t j = 0; j < n; j++) {
                    const double t = 0.5 - (x[j] + down[j]);
                    const double curve = fmax(2 + q[j] - 2 * (f32 ? (double)c[j] : a[j]), 1e-3);
                    if (t > 0 && t * t / curve > gain) {
                        gain = t * t / curve;
                        best = j;
                    }
                }
                const int64_t j = f32 ? s->pairs->partner_f32(c, x, down, q, 0.5, 2, 1e-3, n)
                                      : s->pairs->partner_f64(a, x, down, q, 0.5, 2, 1e-3, n);
                CHECK_THAT(j == best, "%s: partner %" PRId64 ", expected %" PRId64, s->name, j,
                           best);
            }
            release_arrays();
        }
}

/* The same in float32 throughout. */
TEST(rough_pair_sweeps_are_their_definitions)
{
    mgvi_rng rng = mgvi_rng_seed(81);
    for (int level = 0; level < mgvi_simd_count(); level++)
        for (int64_t n = 16; n <= 96; n += 16) {
            const mgvi_simd *s = mgvi_simd_at(level);
            float *v = random_f32(&rng, n), *a = random_f32(&rng, n), *b = random_f32(&rng, n);
            float *up = guarded(n, 4), *down = guarded(n, 4), *q = guarded(n, 4), next[96];
            float most = -INFINITY, low = INFINITY, gain = 0, largest, least;
            int64_t want = -1, best = -1;
            for (int64_t j = 0; j < n; j++) {
                up[j] = mgvi_rng_below(&rng, 3) ? 0 : -INFINITY;
                down[j] = mgvi_rng_below(&rng, 3) ? 0 : INFINITY;
                q[j] = 2;
                v[j] = n == 32 ? 0.5f : v[j]; /* ties: the first */
                a[j] = n == 32 ? 0 : a[j];
                b[j] = n == 32 ? 0 : b[j];
                next[j] = v[j] - 0.25f * (a[j] - b[j]);
                if (next[j] + up[j] > most) {
                    most = next[j] + up[j];
                    want = j;
                }
                low = fminf(low, next[j] + down[j]);
            }
            const int64_t got = s->pairs->rough_step(a, b, 0.25f, v, up, down, n, &largest, &least);
            CHECK_THAT(got == want && largest == most && least == low, "%s", s->name);
            assert_memory_equal(v, next, (size_t)n * sizeof *v);
            for (int64_t j = 0; j < n; j++) {
                const float t = 0.75f - (v[j] + down[j]), curve = 2 + q[j] - 2 * a[j];
                const float g = t * t / fmaxf(curve, 1e-3f);
                if (t > 0 && g > gain) {
                    gain = g;
                    best = j;
                }
            }
            CHECK_THAT(s->pairs->rough_partner(a, v, down, q, 0.75f, 2, 1e-3f, n) == best, "%s",
                       s->name);
            release_arrays();
        }
}

TEST(tables_are_chosen_by_name)
{
    const mgvi_simd *best, *named;
    CHECK(mgvi_simd_count() >= 1 && mgvi_simd_at(0) == &mgvi_simd_scalar);
    CHECK(mgvi_simd_choose(NULL, &best) == MGV_OK);
    CHECK(best == mgvi_simd_at(mgvi_simd_count() - 1) && !mgvi_simd_at(mgvi_simd_count()));
    for (int level = 0; level < mgvi_simd_count(); level++) {
        CHECK(mgvi_simd_choose(mgvi_simd_at(level)->name, &named) == MGV_OK);
        CHECK(named == mgvi_simd_at(level));
    }
    CHECK(mgvi_simd_choose("mmx", &named) == MGV_E_ARG);
#if defined(__x86_64__)
    CHECK(mgvi_simd_choose("neon", &named) == MGV_E_UNSUPPORTED);
#else
    CHECK(mgvi_simd_choose("avx2", &named) == MGV_E_UNSUPPORTED);
#endif
}

/* None of them falls back on the reference without a word. */
TEST(every_instruction_set_has_all_loops)
{
    const mgvi_simd *r = &mgvi_simd_scalar;
    for (int level = 1; level < mgvi_simd_count(); level++) {
        const mgvi_simd *v = mgvi_simd_at(level);
        CHECK(v->bytes > r->bytes && v->dot_f32 != r->dot_f32);
        CHECK(v->dense_mul_k_f64 != r->dense_mul_k_f64);
#define OWN(type, member)                                                                          \
    CHECK_THAT(v->member && v->member != r->member, "%s: %s", v->name, #member);
        MGVI_SIMD_FAMILIES(OWN)
    }
}

int main(void)
{
    return RUN(row_kernels_agree_with_scalar, matrix_kernels_agree_with_scalar_for_every_lane_count,
               rows_without_weight_are_not_read, exponentials_are_exponentials,
               short_values_are_their_definition, short_sums_are_their_definition,
               rough_values_are_their_definition, twofold_sums_keep_what_cancels,
               pair_sweeps_are_their_definitions, rough_pair_sweeps_are_their_definitions,
               tables_are_chosen_by_name, every_instruction_set_has_all_loops);
}
