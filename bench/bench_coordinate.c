/* bench_coordinate.c - dual coordinate ascent beside LIBLINEAR -s 3 on the same problem in the same
 * process: hinge, C = 1, no intercept (LIBLINEAR's is regularised).
 * usage: bench_coordinate FILE...   (libsvm text, packed or not)
 *
 * For each file: our seconds to a certified relative gap, and LIBLINEAR's seconds at the largest
 * tolerance (found with hindsight) whose weights have at most that primal suboptimality. Both start
 * from data in memory; minimum of several runs. Objectives are recomputed here in float64. */
#include "io/io.h"
#include "peer_liblinear.h"
#include "timing.h"

enum { REPEATS = 7 };

static void compare(mgv_ctx *ctx, const char *path)
{
    static const char *const tolerance[] = {"1e-2", "1e-3", "1e-4"};
    mgv_settings *s = bench_settings(ctx, "solver=dual_coordinate C=1 intercept=no tol=1e-6");
    mgv_data *data;
    if (mgv_data_read(ctx, path, s, &data) != MGV_OK)
        bench_fail(ctx, path);
    struct problem lp = peer_problem(data);
    const double lambda = 1 / (double)lp.l;
    const bench_timing exact = bench_fit(ctx, data, s, 1);
    const double optimum = exact.primal * (1 - exact.gap); /* a proven lower bound */
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    for (int k = 0; k < 3; k++) {
        const struct parameter param = {.solver_type = L2R_L1LOSS_SVC_DUAL, .C = 1};
        const peer_run b = peer_train(&lp, param, 2, .8, optimum * (1 + atof(tolerance[k])),
                                      REPEATS, 4, peer_hinge, &lambda);
        bench_timing a[2];
        bench_set(ctx, s, "tol", tolerance[k]);
        bench_fit_threads(ctx, data, s, REPEATS, a);
        printf("%-28s %-5s %10.2f %10.2f %10.1e %10.1e %7.1f %12.2f %10.1e %7.2f\n", name,
               tolerance[k], 1e3 * a[0].seconds, 1e3 * a[1].seconds, a[1].gap,
               a[1].primal / optimum - 1, a[1].passes, 1e3 * b.seconds, b.objective / optimum - 1,
               b.seconds / a[1].seconds);
        fflush(stdout);
        char work[64], goal[16];
        snprintf(work, sizeof work, "%.*s", (int)strcspn(name, "."), name);
        snprintf(goal, sizeof goal, "gap %s", tolerance[k]);
        bench_row_add((bench_row){.work = work,
                                  .goal = goal,
                                  .peer = "LIBLINEAR -s 3",
                                  .ours = a[1].seconds,
                                  .one_thread = a[0].seconds,
                                  .uncertified = !a[1].certified,
                                  .theirs = b.seconds,
                                  .cut_off = b.objective > optimum * (1 + atof(tolerance[k]))});
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
    printf("%-28s %-5s %10s %10s %10s %10s %7s %12s %10s %7s\n", "data", "gap", "1 th. ms",
           "2 th. ms", "certified", "subopt", "passes", "LIBLINEAR ms", "subopt", "ratio");
    for (int i = 1; i < argc; i++)
        compare(ctx, argv[i]);
    mgv_ctx_free(ctx);
    return 0;
}
