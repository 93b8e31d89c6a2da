/* bench_kernel.c - one kernel problem: seconds of binding, solving and predicting (cpu: processor
 * seconds of the first two), minimum of several runs, data in memory; a line of JSON for
 * bench/kernel.py. usage: bench_kernel TRAIN TEST SIGMA2 C f32|f64 TOL REPEATS [LOSS]    (C = 0:
 * the hard margin; LOSS: hinge unless given) */
#include "base/clock.h"

#include <margrave/margrave.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static mgv_ctx *ctx;

static void must(mgv_status st)
{
    if (st == MGV_OK)
        return;
    fprintf(stderr, "bench_kernel: %s\n", mgv_ctx_error(ctx));
    exit(1);
}

static mgv_settings *settings_for(char **argv, const char *loss)
{
    mgv_settings *s;
    must(mgv_settings_new(ctx, &s));
    must(mgv_settings_set(ctx, s, "kernel", "rbf"));
    must(mgv_settings_set(ctx, s, "sigma2", argv[3]));
    must(mgv_settings_set(ctx, s, "precision", argv[5]));
    must(mgv_settings_set(ctx, s, "tol", argv[6]));
    const double C = strtod(argv[4], NULL);
    must(mgv_settings_set(ctx, s, "loss", C > 0 ? loss : "margin"));
    if (C > 0)
        must(mgv_settings_set(ctx, s, "C", argv[4]));
    return s;
}

int main(int argc, char **argv)
{
    if ((argc != 8 && argc != 9) || mgv_ctx_new(NULL, &ctx) != MGV_OK) {
        fprintf(stderr, "usage: bench_kernel TRAIN TEST SIGMA2 C f32|f64 TOL REPEATS [LOSS]\n");
        return 2;
    }
    mgv_settings *settings = settings_for(argv, argc == 9 ? argv[8] : "hinge");
    mgv_data *train, *test;
    must(mgv_data_read(ctx, argv[1], settings, &train));
    must(mgv_data_read(ctx, argv[2], settings, &test));
    mgv_data_info info = {.size = sizeof info};
    must(mgv_data_describe(test, &info));
    double *scores = calloc((size_t)(info.rows * (info.classes + 1)) + 1, sizeof *scores);
    double fit = INFINITY, predict = INFINITY, cpu = INFINITY;
    mgv_certificate c = {.size = sizeof c};
    mgv_run_info run = {.size = sizeof run};
    mgv_metrics m = {.size = sizeof m};
    for (int k = 0; k < atoi(argv[7]); k++) {
        mgv_problem *problem;
        mgv_solver *solver;
        mgv_model *model;
        const double start = mgvi_clock_seconds();
        const clock_t begun = clock();
        must(mgv_problem_new(ctx, train, settings, &problem));
        must(mgv_solver_new(ctx, problem, settings, &solver));
        must(mgv_solver_run(ctx, solver));
        fit = fmin(fit, mgvi_clock_seconds() - start);
        cpu = fmin(cpu, (double)(clock() - begun) / CLOCKS_PER_SEC);
        must(mgv_solver_describe(solver, &run, &c));
        must(mgv_model_new(ctx, solver, &model));
        const double then = mgvi_clock_seconds();
        must(mgv_model_scores(ctx, model, test, scores));
        predict = fmin(predict, mgvi_clock_seconds() - then);
        must(mgv_model_evaluate(ctx, model, test, scores, &m));
        mgv_model_free(ctx, model);
        mgv_solver_free(ctx, solver);
        mgv_problem_free(ctx, problem);
    }
    printf("{\"seconds\": %.6g, \"cpu\": %.6g, \"gap\": %.6g, \"stop\": \"%s\", \"support\": %lld, "
           "\"error\": %.6g, \"predict\": %.6g, \"rows\": %lld, \"threads\": %d}\n",
           fit, cpu, c.relative_gap, mgv_stop_name(run.stop), (long long)run.nonzeros,
           1 - m.accuracy, predict, (long long)info.rows, mgv_ctx_threads(ctx));
    free(scores);
    mgv_data_free(ctx, test);
    mgv_data_free(ctx, train);
    mgv_settings_free(ctx, settings);
    mgv_ctx_free(ctx);
    return 0;
}
