/* bench_fft.c - transforms of lengths that blurring meets (op/fft.h) beside FFTW, planned by
 * estimate as a library must that promises the same bits, and by measurement. Eight complex
 * sequences forward and back, in the cache, one thread; rounds alternate and the least of each
 * counts. The largest error is beside the sequences themselves, after both ways. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "op/fft.h"
#include "row.h"

#include <dlfcn.h>
#include <string.h>

enum { ROUNDS = 25 };

typedef double number[2];
typedef void *(*planner)(int rank, const int *n, int howmany, number *in, const int *inembed,
                         int istride, int idist, number *out, const int *onembed, int ostride,
                         int odist, int sign, unsigned flags);
typedef struct fftw {
    planner plan;
    void (*execute)(void *plan), (*destroy)(void *plan);
} fftw;

static bool find_fftw(fftw *f)
{
    void *library = dlopen("libfftw3.so.3", RTLD_NOW);
    if (!library)
        return false;
    *(void **)&f->plan = dlsym(library, "fftw_plan_many_dft");
    *(void **)&f->execute = dlsym(library, "fftw_execute");
    *(void **)&f->destroy = dlsym(library, "fftw_destroy_plan");
    return f->plan && f->execute && f->destroy;
}

/* Both ways, over and over for about a fifth of a millisecond and more: seconds of one. */
static double time_ours(const mgvi_fft *f, double *z, double *other, int64_t n)
{
    const int64_t turns = 1 + 200000 / (n * MGVI_FFT_LANES);
    const double begun = mgvi_clock_seconds();
    for (int64_t k = 0; k < turns; k++) {
        double *there = mgvi_fft_run(f, false, z, other);
        double *again = mgvi_fft_run(f, true, there, there == z ? other : z);
        for (int64_t i = 0; i < n * MGVI_FFT_ROW; i++)
            z[i] = again[i] / (double)n;
    }
    return (mgvi_clock_seconds() - begun) / (double)turns;
}

static double time_fftw(const fftw *f, void *forward, void *back, number *x, int64_t n)
{
    const int64_t turns = 1 + 200000 / (n * MGVI_FFT_LANES);
    const double begun = mgvi_clock_seconds();
    for (int64_t k = 0; k < turns; k++) {
        f->execute(forward);
        f->execute(back);
        for (int64_t i = 0; i < n * MGVI_FFT_LANES; i++) {
            x[i][0] /= (double)n;
            x[i][1] /= (double)n;
        }
    }
    return (mgvi_clock_seconds() - begun) / (double)turns;
}

static double run_fftw(const fftw *f, int n, unsigned flags, number *x)
{
    void *forward = f->plan(1, &n, MGVI_FFT_LANES, x, NULL, 1, n, x, NULL, 1, n, -1, flags);
    void *back = f->plan(1, &n, MGVI_FFT_LANES, x, NULL, 1, n, x, NULL, 1, n, 1, flags);
    double least = INFINITY;
    memset(x, 0, (size_t)n * MGVI_FFT_LANES * sizeof *x);
    for (int k = 0; k < ROUNDS; k++)
        least = fmin(least, time_fftw(f, forward, back, x, n));
    f->destroy(forward);
    f->destroy(back);
    return least;
}

static void compare(mgv_ctx *ctx, const fftw *peer, int n)
{
    enum { MEASURE = 0, ESTIMATE = 1 << 6 };
    mgvi_fft *f;
    if (mgvi_fft_new(ctx, n, &f) != MGV_OK)
        exit(1);
    const size_t count = (size_t)mgvi_fft_rows(f) * MGVI_FFT_ROW;
    double *z = mgvi_zeros(ctx, count, sizeof *z), *other = mgvi_zeros(ctx, count, sizeof *z);
    double *x = mgvi_zeros(ctx, count, sizeof *x), worst = 0, ours = INFINITY;
    mgvi_rng rng = mgvi_rng_seed((uint64_t)n);
    if (!z || !other || !x)
        exit(1);
    for (int64_t i = 0; i < (int64_t)n * MGVI_FFT_ROW; i++)
        x[i] = z[i] = mgvi_rng_normal(&rng);
    for (int k = 0; k < ROUNDS; k++)
        ours = fmin(ours, time_ours(f, z, other, n));
    memcpy(z, x, count * sizeof *z);
    const double *there = mgvi_fft_run(f, false, z, other);
    const double *again = mgvi_fft_run(f, true, there == z ? z : other, there == z ? other : z);
    for (int64_t i = 0; i < (int64_t)n * MGVI_FFT_ROW; i++)
        worst = fmax(worst, fabs(again[i] / n - x[i]));
    const double estimated = peer ? run_fftw(peer, n, ESTIMATE, (number *)other) : NAN;
    const double measured = peer ? run_fftw(peer, n, MEASURE, (number *)other) : NAN;
    printf("%6d %9.2f us %9.2f us %9.2f us %7.2fx %7.2fx   %.1e\n", n, 1e6 * ours, 1e6 * estimated,
           1e6 * measured, estimated / ours, measured / ours, worst);
    char name[40];
    snprintf(name, sizeof name, "8 transforms of %d and back", n);
    bench_row_add((bench_row){.work = name,
                              .peer = peer ? "FFTW, by estimate" : NULL,
                              .ours = ours,
                              .theirs = estimated,
                              .bar = 0.8});
    mgvi_release(ctx, x);
    mgvi_release(ctx, other);
    mgvi_release(ctx, z);
    mgvi_fft_free(f);
}

int main(void)
{
    static const int lengths[] = {64,   128,  270,  512,  525, 540, 600,
                                  1024, 1050, 2048, 4096, 509, 1021};
    mgv_ctx *ctx;
    fftw peer;
    if (mgv_ctx_new(NULL, &ctx) != MGV_OK)
        return 1;
    const bool there = find_fftw(&peer);
    printf("length      ours     estimate      measure  estimate/ours measure/ours  error of both "
           "ways\n");
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        compare(ctx, there ? &peer : NULL, lengths[k]);
    mgv_ctx_free(ctx);
    return 0;
}
