/* bench_iterreg.c - iterative regularisation on the paper's dense data: 1000 x 2000, 200 nonzero
 * weights, neighbouring columns correlated by rho, float32. One run, model chosen inside it.
 * usage: bench_iterreg   (the Lasso of glmnet, celer and scikit-learn: bench_lasso, started beside
 * it)
 *
 * Two ways to choose the iteration: `holdout` runs on 80 % of the rows until the error on the rest
 * has not improved for max(20, k) iterations and then k iterations on all rows; `noise` stops one
 * run where the residual reaches the noise, which is known here. Seconds are from data in memory to
 * the chosen model, least of five runs. F1 is of the support. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "op/columns.h"
#include "row.h"
#include "solver/driver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1000, TRAIN = 800, COLS = 2000, NONZERO = 200, TEST = 250, REPEATS = 5 };

typedef struct set {
    double rho, snr;
    float *X; /* ROWS + TEST rows */
    double y[ROWS + TEST], w[COLS], noise;
} set;

typedef struct result {
    double seconds, iteration_seconds, passes, error, f1;
    int64_t iterations, nonzeros;
} result;

static mgv_ctx *ctx;

static void must(mgv_status st, const char *what)
{
    if (st == MGV_OK)
        return;
    fprintf(stderr, "bench_iterreg: %s: %s\n", what, mgv_ctx_error(ctx));
    exit(1);
}

static set *make_set(double rho, double snr)
{
    set *s = calloc(1, sizeof *s);
    s->X = malloc((size_t)(ROWS + TEST) * COLS * sizeof *s->X);
    s->rho = rho;
    s->snr = snr;
    mgvi_rng rng = mgvi_rng_seed(1);
    for (int k = 0; k < NONZERO;) {
        double *w = &s->w[mgvi_rng_below(&rng, COLS)];
        k += *w == 0;
        *w = 1;
    }
    double signal = 0, noise = 0, e[ROWS + TEST];
    for (int i = 0; i < ROWS + TEST; i++) {
        double x = mgvi_rng_normal(&rng);
        for (int j = 0; j < COLS; j++) {
            s->X[(int64_t)i * COLS + j] = (float)x;
            s->y[i] += (double)(float)x * s->w[j];
            x = rho * x + sqrt(1 - rho * rho) * mgvi_rng_normal(&rng);
        }
        e[i] = mgvi_rng_normal(&rng);
        signal += i < ROWS ? s->y[i] * s->y[i] : 0;
        noise += i < ROWS ? e[i] * e[i] : 0;
    }
    s->noise = sqrt(signal) / snr;
    for (int i = 0; i < ROWS; i++)
        s->y[i] += e[i] * s->noise / sqrt(noise);
    return s;
}

/* ---- one run ----------------------------------------------------------------------------------
 */

typedef struct job {
    mgv_data *data;
    mgv_settings *settings;
    mgv_problem *problem;
    mgv_solver *solver;
} job;

static job open_job(const set *s, int64_t rows, const char *options)
{
    job j = {0};
    char copy[300], *rest = copy, *item;
    snprintf(copy, sizeof copy, "task=regress loss=equal penalty=l1 intercept=no tol=0 %s",
             options);
    must(mgv_data_from_dense(ctx, MGV_F32, s->X, rows, COLS, COLS, 1, &j.data), "data");
    must(mgv_data_set_labels(ctx, j.data, s->y), "labels");
    must(mgv_settings_new(ctx, &j.settings), "settings");
    while ((item = strsep(&rest, " "))) {
        char *equals = strchr(item, '=');
        if (!equals)
            continue;
        *equals = 0;
        must(mgv_settings_set(ctx, j.settings, item, equals + 1), "settings");
    }
    must(mgv_problem_new(ctx, j.data, j.settings, &j.problem), "problem");
    must(mgv_solver_new(ctx, j.problem, j.settings, &j.solver), "solver");
    return j;
}

static void close_job(job *j)
{
    mgv_solver_free(ctx, j->solver);
    mgv_problem_free(ctx, j->problem);
    mgv_settings_free(ctx, j->settings);
    mgv_data_free(ctx, j->data);
}

/* Mean squared error of w on rows from `first` to `last`. */
static double error_on(const set *s, const double *w, int first, int last)
{
    int32_t support[COLS];
    int count = 0;
    double sum = 0;
    for (int j = 0; j < COLS; j++)
        if (w[j] != 0)
            support[count++] = j;
    for (int i = first; i < last; i++) {
        double z = -s->y[i];
        for (int t = 0; t < count; t++)
            z += (double)s->X[(int64_t)i * COLS + support[t]] * w[support[t]];
        sum += z * z;
    }
    return sum / (last - first);
}

static double f1_of(const set *s, const double *w, int64_t *nonzeros)
{
    int64_t both = 0;
    *nonzeros = 0;
    for (int j = 0; j < COLS; j++) {
        *nonzeros += w[j] != 0;
        both += w[j] != 0 && s->w[j] != 0;
    }
    return 2.0 * (double)both / (double)(*nonzeros + NONZERO);
}

/* The iteration after which the held-out error does not improve for max(20, k) more. */
static int64_t best_iteration(const set *s, const char *options)
{
    char early[300];
    snprintf(early, sizeof early, "%s select=last", options);
    job j = open_job(s, TRAIN, early);
    mgvi_run *run = &j.solver->run;
    double least = INFINITY;
    int64_t best = 0;
    while (run->iteration - best < (best > 20 ? best : 20)) {
        must(run->ops->step(run), "step");
        run->iteration++;
        const double error = error_on(s, run->ops->expose(run).w->x, TRAIN, ROWS);
        if (error < least) {
            least = error;
            best = run->iteration;
        }
    }
    close_job(&j);
    return best;
}

static result measure(const set *s, const char *options, bool holdout)
{
    char early[400];
    const double start = mgvi_clock_seconds();
    if (holdout)
        snprintf(early, sizeof early, "%s select=last max_iter=%d", options,
                 (int)best_iteration(s, options));
    else
        snprintf(early, sizeof early, "%s select=discrepancy:%.17g", options, s->noise);
    job j = open_job(s, ROWS, early);
    const double opened = mgvi_clock_seconds();
    const double before = j.problem->A->touched;
    must(mgv_solver_run(ctx, j.solver), "run");
    const double end = mgvi_clock_seconds();
    mgv_run_info info = {.size = sizeof info};
    mgv_solver_describe(j.solver, &info, NULL);
    const double *w = j.solver->answer.w.x, k = (double)info.iterations;
    result r = {.seconds = end - start,
                .iteration_seconds = (end - opened) / k,
                .passes = ((j.problem->A->touched - before) / (double)j.problem->A->nnz - 2) / k,
                .error = error_on(s, w, ROWS, ROWS + TEST),
                .iterations = info.iterations};
    r.f1 = f1_of(s, w, &r.nonzeros);
    close_job(&j);
    return r;
}

static void compare(const set *s)
{
    static const struct {
        const char *name, *options;
    } methods[] = {{"primal_dual c=1/4", "solver=primal_dual"},
                   {"primal_dual c=1", "solver=primal_dual sigma_factor=1"},
                   {"accelerated_dual_gradient .3", "solver=accelerated_dual_gradient kappa=.3"}};
    printf("\nrho = %g, SNR %g: %d x %d, %d nonzero weights\n", s->rho, s->snr, ROWS, COLS,
           NONZERO);
    printf("%-30s %-8s %9s %5s %8s %7s %8s %9s %5s %6s\n", "method", "chosen", "seconds", "k",
           "ms/iter", "passes", "MB/iter", "test mse", "F1", "nnz");
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (int holdout = 1; holdout >= 0; holdout--) {
            result best = {.seconds = INFINITY};
            for (int r = 0; r < REPEATS; r++) {
                const result now = measure(s, methods[m].options, holdout);
                best = now.seconds < best.seconds ? now : best;
            }
            printf("%-30s %-8s %9.4f %5d %8.3f %7.2f %8.2f %9.2f %5.3f %6d\n", methods[m].name,
                   holdout ? "holdout" : "noise", best.seconds, (int)best.iterations,
                   1e3 * best.iteration_seconds, best.passes,
                   best.passes * ROWS * COLS * sizeof(float) / 1e6, best.error, best.f1,
                   (int)best.nonzeros);
            char row[96];
            snprintf(row, sizeof row, "1000 x 2000, rho %g, %s", s->rho, methods[m].name);
            bench_row_add((bench_row){.work = row,
                                      .goal = holdout ? "by held-out rows" : "by the noise",
                                      .ours = best.seconds});
        }
}

int main(void)
{
    if (mgv_ctx_new(NULL, &ctx) != MGV_OK)
        return 1;
    static const double sets[][2] = {{.2, 5}, {.8, 3}};
    for (int i = 0; i < 2; i++) {
        set *s = make_set(sets[i][0], sets[i][1]);
        compare(s);
        free(s->X);
        free(s);
    }
    mgv_ctx_free(ctx);
    return 0;
}
