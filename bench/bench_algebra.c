/* bench_algebra.c - how fast the linear algebra is, beside what the machine allows.
 *   products A x and A'u on data larger than any cache: bytes of A per second, beside a plain read
 *   gemm and A' diag(h) A: beside OpenBLAS with each of its core types, chosen in a fresh process
 * Rounds alternate between the competitors and the best of each counts, so that other work on the
 * machine disturbs them alike. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
#include "linalg/gemm.h"
#include "op/op.h"
#include "row.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 9, BLOCKS = 16 };

static void *array(mgv_ctx *ctx, size_t count, size_t size)
{
    void *p = mgvi_zeros(ctx, count, size);
    if (!p) {
        fprintf(stderr, "bench_algebra: %s\n", mgv_ctx_error(ctx));
        exit(1);
    }
    return p;
}

static mgv_ctx *context(int threads)
{
    mgv_ctx *ctx;
    if (mgv_ctx_new(NULL, &ctx) != MGV_OK || mgv_ctx_set_threads(ctx, threads) != MGV_OK)
        exit(1);
    return ctx;
}

/* ---- products ------------------------------------------------------------------------------- */
/* A matrix in both types, and the operators that users' products go through. */
typedef struct matrix {
    int64_t rows, cols, nnz; /* nnz 0: dense */
    float *f32;
    double *f64;
    int32_t *idx;
    int64_t *ptr;
    double *x, *y;  /* cols, rows */
    mgvi_op *op[2]; /* by mgv_dtype */
    uint64_t sum[BLOCKS];
} matrix;

static int64_t entries(const matrix *m) { return m->nnz ? m->nnz : m->rows * m->cols; }

static void read_block(void *arg, int64_t block)
{
    matrix *m = arg;
    const uint64_t *p = (const uint64_t *)(void *)m->f64;
    uint64_t sum[8] = {0};
    const int64_t end = mgvi_block_begin(entries(m), BLOCKS, block + 1) - 8;
    for (int64_t i = mgvi_block_begin(entries(m), BLOCKS, block); i < end; i += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += p[i + k];
    for (int k = 0; k < 8; k++)
        m->sum[block] += sum[k]; /* kept, so that the loop is */
}

static void fill(matrix *m, mgv_ctx *ctx)
{
    m->f32 = array(ctx, (size_t)entries(m), sizeof *m->f32);
    m->f64 = array(ctx, (size_t)entries(m), sizeof *m->f64);
    m->x = array(ctx, (size_t)m->cols, sizeof *m->x);
    m->y = array(ctx, (size_t)m->rows, sizeof *m->y);
    for (int64_t t = 0; t < entries(m); t++)
        m->f64[t] = m->f32[t] = (float)(t % 97 - 48) / 64;
    for (int64_t j = 0; j < m->cols; j++)
        m->x[j] = 1 + (double)(j % 5);
}

static int by_value(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* Rows of about 100 entries. Zipf: column j is met in proportion to 1/(j+1), as words are that are
 * numbered in the order of their first appearance; else all columns alike. */
static matrix sparse_matrix(mgv_ctx *ctx, int64_t rows, int64_t cols, bool zipf)
{
    enum { DRAWN = 100 };
    matrix m = {.rows = rows, .cols = cols};
    mgvi_rng rng = mgvi_rng_seed(1);
    m.idx = array(ctx, (size_t)rows * DRAWN, sizeof *m.idx);
    m.ptr = array(ctx, (size_t)rows + 1, sizeof *m.ptr);
    for (int64_t i = 0; i < rows; i++) {
        int32_t row[DRAWN];
        for (int t = 0; t < DRAWN; t++) {
            const double u = mgvi_rng_uniform(&rng);
            const double j = zipf ? exp(u * log((double)cols + 1)) - 1 : u * (double)cols;
            row[t] = (int32_t)fmin(j, (double)cols - 1);
        }
        qsort(row, DRAWN, sizeof *row, by_value);
        for (int t = 0; t < DRAWN; t++)
            if (t == 0 || row[t] != row[t - 1])
                m.idx[m.nnz++] = row[t];
        m.ptr[i + 1] = m.nnz;
    }
    fill(&m, ctx);
    return m;
}

static void free_matrix(mgv_ctx *ctx, matrix *m)
{
    void *const all[] = {m->f32, m->f64, m->idx, m->ptr, m->x, m->y};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mgvi_release(ctx, all[i]);
}

/* A plain loop that reads the indices and meets x there: what the pattern of access alone costs. */
static void gather_block(void *arg, int64_t block)
{
    matrix *m = arg;
    double sum[4] = {0};
    const int64_t end = mgvi_block_begin(m->nnz, BLOCKS, block + 1) - 4;
    for (int64_t t = mgvi_block_begin(m->nnz, BLOCKS, block); t < end; t += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += m->x[m->idx[t + k]];
    m->sum[block] += (uint64_t)(sum[0] + sum[1] + sum[2] + sum[3]);
}

/* The operators are made for the threads at hand. */
static void make_operators(mgv_ctx *ctx, matrix *m)
{
    for (int dtype = 0; dtype < 2; dtype++) {
        const mgvi_matrix stored = {.layout = m->nnz ? MGV_CSR : MGV_DENSE,
                                    .dtype = (mgv_dtype)dtype,
                                    .rows = m->rows,
                                    .cols = m->cols,
                                    .nnz = entries(m),
                                    .val = dtype == MGV_F32 ? (void *)m->f32 : (void *)m->f64,
                                    .row_stride = m->cols,
                                    .col_stride = 1,
                                    .ptr = m->ptr,
                                    .idx = m->idx};
        if (mgvi_op_from_matrix(ctx, &stored, 1, &m->op[dtype]) != MGV_OK)
            exit(1);
    }
}

/* job 0: plain read; then A x and A'u in float32, A x and A'u in float64; 5: gather alone. */
static double run_product(mgv_ctx *ctx, matrix *m, int job)
{
    mgvi_vec x = mgvi_vec_wrap(m->x, m->cols, MGVI_COLS),
             y = mgvi_vec_wrap(m->y, m->rows, MGVI_ROWS);
    const double start = mgvi_clock_seconds();
    if (job == 0 || job == 5)
        mgvi_pool_run(ctx->pool, BLOCKS, job ? gather_block : read_block, m);
    else if (job % 2 == 1)
        mgvi_op_mul(m->op[job > 2], 1, &x, 0, &y);
    else
        mgvi_op_mul_t(m->op[job > 2], 1, &y, 0, &x);
    const double seconds = mgvi_clock_seconds() - start;
    if (job % 2 == 0 && job > 0) /* keep the numbers small, however many rounds */
        for (int64_t j = 0; j < m->cols; j++)
            m->x[j] = 1 + (double)(j % 5);
    return seconds;
}

/* The products of one matrix and the plain read, round by round. */
static void bench_products(mgv_ctx *ctx, const char *name, matrix *m)
{
    enum { JOBS = 6 };
    static const char *const label[JOBS] = {"plain read",   "float32  A x", "float32  A'u",
                                            "float64  A x", "float64  A'u", "x[idx] alone"};
    const int jobs = m->nnz ? JOBS : JOBS - 1;
    double rate[JOBS] = {0};
    make_operators(ctx, m);
    for (int round = 0; round < ROUNDS; round++)
        for (int job = 0; job < jobs; job++) {
            /* gather alone: in bytes of a float32 matrix, to compare with its A x */
            const double value = job == 0 || job == 3 || job == 4 ? 8 : 4;
            const double bytes = value + (job > 0 && m->nnz ? 4 : 0);
            const double seconds = run_product(ctx, m, job);
            rate[job] = fmax(rate[job], bytes * (double)entries(m) / seconds * 1e-9);
        }
    for (int job = 0; job < jobs; job++) {
        char row[96];
        snprintf(row, sizeof row, "%s, %s, %d threads", name, label[job], mgv_ctx_threads(ctx));
        printf("%-34s %7d  %-14s %7.1f GB/s %5.0f %%\n", name, mgv_ctx_threads(ctx), label[job],
               rate[job], 100 * rate[job] / rate[0]);
        if (job > 0 && job < JOBS - 1)
            bench_row_add((bench_row){.work = row,
                                      .unit = "s/GB",
                                      .peer = label[0],
                                      .ours = 1 / rate[job],
                                      .theirs = 1 / rate[0]});
    }
    fflush(stdout);
    mgvi_op_free(m->op[0]);
    mgvi_op_free(m->op[1]);
}

static void bench_all_products(int most_threads)
{
    mgv_ctx *ctx = context(1);
    matrix dense = {.rows = 50000, .cols = 1000};
    fill(&dense, ctx);
    matrix narrow = sparse_matrix(ctx, 300000, 2000, false);
    matrix zipf = sparse_matrix(ctx, 400000, 50000, true);
    matrix uniform = sparse_matrix(ctx, 300000, 50000, false);
    printf("\n%-34s %7s  %-14s %12s %s\n", "matrix", "threads", "product", "rate", "of plain read");
    for (int threads = 1; threads <= most_threads; threads++) {
        if (mgv_ctx_set_threads(ctx, threads) != MGV_OK)
            exit(1);
        bench_products(ctx, "dense 50,000 x 1,000", &dense);
        bench_products(ctx, "CSR 300,000 x 2,000 uniform", &narrow);
        bench_products(ctx, "CSR 400,000 x 50,000 Zipf", &zipf);
        bench_products(ctx, "CSR 300,000 x 50,000 uniform", &uniform);
    }
    free_matrix(ctx, &dense);
    free_matrix(ctx, &narrow);
    free_matrix(ctx, &zipf);
    free_matrix(ctx, &uniform);
    mgv_ctx_free(ctx);
}

/* ---- gemm and A' diag(h) A beside OpenBLAS ----------------------------------------------------
 */
enum {
    GEMM_N = 1500,
    GRAM_ROWS = 100000,
    WIDE = 784,
    ROW_MAJOR = 101,
    NO = 111,
    YES = 112,
    UP = 121
};
enum { SGEMM, DGEMM, GRAM_54, GRAM_784, PROBLEMS };
static const char *const problem_names[PROBLEMS] = {
    "sgemm 1500^3", "dgemm 1500^3", "A'diag(h)A 100,000 x 54 f32", "A'diag(h)A 100,000 x 784 f32"};
static const int gram_columns[PROBLEMS] = {0, 0, 54, WIDE};

typedef struct blas { /* NULL where there is no OpenBLAS */
    void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int,
                  float, float *, int);
    void (*dgemm)(int, int, int, int, int, int, double, const double *, int, const double *, int,
                  double, double *, int);
    void (*ssyrk)(int, int, int, int, int, float, const float *, int, float, float *, int);
    void (*set_threads)(int);
    char *(*core)(void);
} blas;

typedef struct arena {
    mgv_ctx *ctx;
    blas b;
    float *a, *scaled, *c;
    double *da, *dc, *h, *g;
    int d;
} arena;

static void scale_block(void *arg, int64_t block)
{
    const arena *r = arg;
    const int64_t end = mgvi_block_begin(GRAM_ROWS, BLOCKS, block + 1);
    for (int64_t i = mgvi_block_begin(GRAM_ROWS, BLOCKS, block); i < end; i++) {
        const float root = (float)sqrt(r->h[i]);
        for (int j = 0; j < r->d; j++)
            r->scaled[i * r->d + j] = root * r->a[i * r->d + j];
    }
}

static void run_theirs(arena *r, int problem)
{
    const int n = GEMM_N;
    if (problem == SGEMM) {
        r->b.sgemm(ROW_MAJOR, NO, NO, n, n, n, 1, r->a, n, r->a + n * n, n, 0, r->c, n);
    } else if (problem == DGEMM) {
        r->b.dgemm(ROW_MAJOR, NO, NO, n, n, n, 1, r->da, n, r->da + n * n, n, 0, r->dc, n);
    } else {
        mgvi_pool_run(r->ctx->pool, BLOCKS, scale_block, r);
        r->b.ssyrk(ROW_MAJOR, UP, YES, r->d, GRAM_ROWS, 1, r->scaled, r->d, 0, r->c, r->d);
    }
}

static mgv_status run_ours(arena *r, int problem)
{
    const int64_t n = GEMM_N;
    const mgvi_gemm_shape s = {.m = n, .n = n, .k = n, .lda = n, .ldb = n, .ldc = n};
    if (problem == SGEMM)
        return mgvi_gemm_f32(r->ctx, &s, 1, r->a, r->a + n * n, 0, r->c);
    if (problem == DGEMM)
        return mgvi_gemm_f64(r->ctx, &s, 1, r->da, r->da + n * n, 0, r->dc);
    return mgvi_gram_f32(r->ctx, GRAM_ROWS, r->d, r->a, r->d, r->h, r->g, r->d);
}

static double flops(int problem)
{
    const double d = gram_columns[problem], n = GEMM_N;
    return d > 0 ? GRAM_ROWS * d * (d + 1) : 2 * n * n * n;
}

/* Best rates of both, in turns. OpenBLAS' threads spin for a while after their work: we wait. */
static void race(arena *r, int problem, double *ours, double *theirs)
{
    *ours = *theirs = 0;
    r->d = gram_columns[problem];
    for (int round = 0; round < (problem == GRAM_784 ? 3 : ROUNDS); round++) {
        const double t0 = mgvi_clock_seconds();
        if (run_ours(r, problem) != MGV_OK)
            exit(1);
        const double t1 = mgvi_clock_seconds();
        *ours = fmax(*ours, flops(problem) / (t1 - t0) * 1e-9);
        if (!r->b.sgemm)
            continue;
        run_theirs(r, problem);
        const double t2 = mgvi_clock_seconds();
        *theirs = fmax(*theirs, flops(problem) / (t2 - t1) * 1e-9);
        usleep(60000);
    }
}

static blas load_blas(void)
{
    blas b = {0};
    void *library = dlopen("libopenblas.so.0", RTLD_NOW);
    if (!library)
        return b;
    *(void **)&b.sgemm = dlsym(library, "cblas_sgemm");
    *(void **)&b.dgemm = dlsym(library, "cblas_dgemm");
    *(void **)&b.ssyrk = dlsym(library, "cblas_ssyrk");
    *(void **)&b.set_threads = dlsym(library, "openblas_set_num_threads");
    *(void **)&b.core = dlsym(library, "openblas_get_corename");
    if (!b.dgemm || !b.ssyrk || !b.set_threads || !b.core)
        b.sgemm = NULL;
    return b;
}

typedef struct result {
    char core[24];
    double ours[PROBLEMS], theirs[PROBLEMS];
} result;

/* In a process whose environment names the core type: races all problems. */
static result race_all(int threads)
{
    mgv_ctx *ctx = context(threads);
    const size_t n2 = (size_t)GEMM_N * GEMM_N, tall = (size_t)GRAM_ROWS * WIDE;
    arena r = {.ctx = ctx,
               .b = load_blas(),
               .a = array(ctx, tall, sizeof(float)),
               .scaled = array(ctx, tall, sizeof(float)),
               .c = array(ctx, n2, sizeof(float)),
               .da = array(ctx, 2 * n2, sizeof(double)),
               .dc = array(ctx, n2, sizeof(double)),
               .h = array(ctx, GRAM_ROWS, sizeof(double)),
               .g = array(ctx, (size_t)WIDE * WIDE, sizeof(double))};
    for (size_t t = 0; t < tall; t++)
        r.a[t] = (float)(t % 97) / 64 - 0.7f;
    for (size_t t = 0; t < 2 * n2; t++)
        r.da[t] = (double)(t % 89) / 64 - 0.7;
    for (int i = 0; i < GRAM_ROWS; i++)
        r.h[i] = 0.1 + i % 7;
    result out = {.core = "none"};
    if (r.b.sgemm) {
        r.b.set_threads(threads);
        snprintf(out.core, sizeof out.core, "%s", r.b.core());
    }
    for (int p = 0; p < PROBLEMS; p++)
        race(&r, p, &out.ours[p], &out.theirs[p]);
    void *const all[] = {r.a, r.scaled, r.c, r.da, r.dc, r.h, r.g};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mgvi_release(ctx, all[i]);
    mgv_ctx_free(ctx);
    return out;
}

/* race_all in a child process, so that OpenBLAS is loaded under the core type asked for. */
static bool race_with(const char *core, int threads, result *out)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    const pid_t child = fork();
    if (child == 0) {
        if (*core)
            setenv("OPENBLAS_CORETYPE", core, 1);
        else
            unsetenv("OPENBLAS_CORETYPE");
        const result r = race_all(threads);
        _exit(write(ends[1], &r, sizeof r) == (ssize_t)sizeof r ? 0 : 1);
    }
    close(ends[1]);
    const bool got = child > 0 && read(ends[0], out, sizeof *out) == (ssize_t)sizeof *out;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return got;
}

static void bench_gemm(int threads)
{
    static const char *const cores[] = {"",    "SkylakeX", "Cooperlake", "SapphireRapids",
                                        "Zen", "Haswell"};
    enum { CORES = sizeof cores / sizeof *cores };
    result r[CORES];
    bool got[CORES];
    for (int k = 0; k < CORES; k++)
        got[k] = race_with(cores[k], threads, &r[k]) &&
                 (!*cores[k] || strcasecmp(r[k].core, cores[k]) == 0);
    for (int p = 0; p < PROBLEMS; p++) {
        int best = -1; /* the fastest core type; ours is taken from the same process */
        for (int k = 0; k < CORES; k++)
            if (got[k] && (best < 0 || r[k].theirs[p] > r[best].theirs[p]))
                best = k;
        if (best < 0)
            continue;
        printf("%-30s %7d  %7.1f ", problem_names[p], threads, r[best].ours[p]);
        for (int k = 0; k < CORES; k++)
            if (got[k])
                printf(" %s%s %.1f,", *cores[k] ? "" : "default = ", r[k].core, r[k].theirs[p]);
        printf(" %3.0f %% of the best\n", 100 * r[best].ours[p] / r[best].theirs[p]);
        char row[64], peer[40];
        snprintf(row, sizeof row, "%s, %d threads", problem_names[p], threads);
        snprintf(peer, sizeof peer, "OpenBLAS, %.23s", r[best].core);
        bench_row_add((bench_row){.work = row,
                                  .peer = peer,
                                  .ours = 1e-9 * flops(p) / r[best].ours[p],
                                  .theirs = 1e-9 * flops(p) / r[best].theirs[p]});
    }
    fflush(stdout);
}

int main(int count, char **arguments)
{
    const char *part = count > 1 ? arguments[1] : "all"; /* products, gemm or all */
    const int most_threads = mgvi_cpu_count() < 2 ? 1 : 2;
    mgv_ctx *ctx = context(1);
    printf("kernels: %s, %d processors\n", mgv_ctx_simd(ctx), mgvi_cpu_count());
    mgv_ctx_free(ctx);
    if (strcmp(part, "gemm") != 0)
        bench_all_products(most_threads);
    if (strcmp(part, "products") == 0)
        return 0;
    printf("\n%-30s %7s  %7s  OpenBLAS by core type, GFLOP/s\n", "problem", "threads", "ours");
    for (int threads = 1; threads <= most_threads; threads++)
        bench_gemm(threads);
    return 0;
}
