/* bench_coordinate.c - dual coordinate ascent beside LIBLINEAR -s 3 on the same problem in the same
 * process: hinge, C = 1, no intercept (LIBLINEAR's is regularised).
 * usage: bench_coordinate FILE...   (libsvm text, packed or not)
 *
 * For each file: our seconds to a certified relative gap, and LIBLINEAR's seconds at the largest
 * tolerance (found with hindsight) whose weights have at most that primal suboptimality. Both start
 * from data in memory; minimum of several runs. Objectives are recomputed here in float64. */
#include "base/memory.h"
#include "io/io.h"
#include "model/model.h"
#include "peer_liblinear.h"

#include <stdio.h>
#include <string.h>

enum { REPEATS = 7 };

static void fail(mgv_ctx *ctx, const char *what)
{
    fprintf(stderr, "bench_coordinate: %s: %s\n", what, mgv_ctx_error(ctx));
    exit(1);
}

/* mean hinge + |w|^2 / (2 C n) */
static double objective(const struct problem *lp, const double *w, double sign, const void *user)
{
    (void)user;
    double loss = 0, square = 0;
    for (int i = 0; i < lp->l; i++) {
        double z = 0;
        for (const struct feature_node *f = lp->x[i]; f->index > 0; f++)
            z += w[f->index - 1] * f->value;
        loss += fmax(0, 1 - lp->y[i] * sign * z);
    }
    for (int j = 0; j < lp->n; j++)
        square += w[j] * w[j];
    return (loss + 0.5 * square) / lp->l;
}

typedef struct timing {
    double seconds, primal, gap, passes;
    long epochs;
} timing;

static timing ours(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings)
{
    timing best = {.seconds = INFINITY};
    for (int r = 0; r < REPEATS; r++) {
        mgv_problem *problem;
        mgv_solver *solver;
        const double start = mgvi_clock_seconds();
        if (mgv_problem_new(ctx, data, settings, &problem) != MGV_OK ||
            mgv_solver_new(ctx, problem, settings, &solver) != MGV_OK ||
            mgv_solver_run(ctx, solver) != MGV_OK)
            fail(ctx, "fit");
        const double seconds = mgvi_clock_seconds() - start;
        mgv_certificate c = {.size = sizeof c};
        mgv_run_info info = {.size = sizeof info};
        mgv_solver_describe(solver, &info, &c);
        if (seconds < best.seconds)
            best = (timing){seconds, c.primal, c.relative_gap, info.passes, info.iterations};
        mgv_solver_free(ctx, solver);
        mgv_problem_free(ctx, problem);
    }
    return best;
}

static void set(mgv_ctx *ctx, mgv_settings *s, const char *name, const char *value)
{
    if (mgv_settings_set(ctx, s, name, value) != MGV_OK)
        fail(ctx, name);
}

static void compare(mgv_ctx *ctx, const char *path)
{
    mgv_settings *s;
    mgv_data *data;
    if (mgv_settings_new(ctx, &s) != MGV_OK || mgv_data_read(ctx, path, s, &data) != MGV_OK)
        fail(ctx, path);
    set(ctx, s, "solver", "dual_coordinate");
    set(ctx, s, "loss", "hinge");
    set(ctx, s, "C", "1");
    set(ctx, s, "intercept", "no");
    set(ctx, s, "tol", "1e-6");
    struct problem lp = peer_problem(data);
    const timing exact = ours(ctx, data, s);
    const double optimum = exact.primal * (1 - exact.gap); /* a proven lower bound */
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    static const char *const tolerance[] = {"1e-2", "1e-3", "1e-4"};
    for (int k = 0; k < 3; k++) {
        set(ctx, s, "tol", tolerance[k]);
        for (int threads = 1; threads <= 2; threads++) {
            mgv_ctx_set_threads(ctx, threads);
            const timing a = ours(ctx, data, s);
            const struct parameter param = {.solver_type = L2R_L1LOSS_SVC_DUAL, .C = 1};
            const peer_run b = peer_train(&lp, param, 2, .8, optimum * (1 + atof(tolerance[k])),
                                          REPEATS, 4, objective, NULL);
            printf("%-28s %-5s %7d %10.2f %10.1e %10.1e %7.1f %12.2f %10.1e %7.2f\n", name,
                   tolerance[k], threads, 1e3 * a.seconds, a.gap, a.primal / optimum - 1, a.passes,
                   1e3 * b.seconds, b.objective / optimum - 1, b.seconds / a.seconds);
            fflush(stdout);
        }
    }
    peer_free(&lp);
    mgv_data_free(ctx, data);
    mgv_settings_free(ctx, s);
}

int main(int argc, char **argv)
{
    mgv_ctx *ctx;
    if (mgv_ctx_new(NULL, &ctx) != MGV_OK)
        return 1;
    set_print_string_function(peer_quiet);
    printf("hinge, C = 1, no intercept; milliseconds, minimum of %d; LIBLINEAR %d, one thread\n\n",
           REPEATS, liblinear_version);
    printf("%-28s %-5s %7s %10s %10s %10s %7s %12s %10s %7s\n", "data", "gap", "threads", "ours ms",
           "certified", "subopt", "passes", "LIBLINEAR ms", "subopt", "ratio");
    for (int i = 1; i < argc; i++)
        compare(ctx, argv[i]);
    mgv_ctx_free(ctx);
    return 0;
}
