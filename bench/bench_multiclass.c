/* bench_multiclass.c - one problem of many classes: seconds of binding and solving, the minimum of
 * several runs, data in memory; a line of JSON for bench/multiclass.py.
 * usage: bench_multiclass TRAIN TEST|- REPEATS [NAME=VALUE...] */
#include "base/clock.h"

#include <margrave/margrave.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mgv_ctx *ctx;

static void must(mgv_status st)
{
    if (st == MGV_OK)
        return;
    fprintf(stderr, "bench_multiclass: %s\n", mgv_ctx_error(ctx));
    exit(1);
}

static mgv_settings *settings_from(char **pairs)
{
    mgv_settings *s;
    must(mgv_settings_new(ctx, &s));
    for (; *pairs; pairs++) {
        char *equals = strchr(*pairs, '=');
        if (!equals) {
            fprintf(stderr, "bench_multiclass: '%s' is not NAME=VALUE\n", *pairs);
            exit(2);
        }
        *equals = 0;
        must(mgv_settings_set(ctx, s, *pairs, equals + 1));
    }
    return s;
}

/* The test accuracy of the solver's model, NaN without test data, and the seconds of its scores. */
static double test_accuracy(const mgv_solver *solver, const char *path,
                            const mgv_settings *settings, double *seconds)
{
    mgv_model *model;
    mgv_data *test;
    mgv_model_info outputs = {.size = sizeof outputs};
    mgv_data_info rows = {.size = sizeof rows};
    mgv_metrics m = {.size = sizeof m};
    *seconds = NAN;
    if (strcmp(path, "-") == 0)
        return NAN;
    must(mgv_model_new(ctx, solver, &model));
    must(mgv_data_read(ctx, path, settings, &test));
    must(mgv_model_describe(model, &outputs));
    must(mgv_data_describe(test, &rows));
    double *scores = calloc((size_t)(rows.rows * outputs.outputs) + 1, sizeof *scores);
    const double start = mgvi_clock_seconds();
    must(mgv_model_scores(ctx, model, test, scores));
    *seconds = mgvi_clock_seconds() - start;
    must(mgv_model_evaluate(ctx, model, test, scores, &m));
    free(scores);
    mgv_data_free(ctx, test);
    mgv_model_free(ctx, model);
    return m.accuracy;
}

/* JSON has no NaN. */
static void print_number(const char *name, double value)
{
    if (isfinite(value))
        printf(", \"%s\": %.8g", name, value);
    else
        printf(", \"%s\": null", name);
}

/* One fit, or with the setting `select` one choice by held-out rows. */
typedef struct result {
    mgv_problem *problem;
    mgv_selection *selection; /* NULL: a fit */
    mgv_solver *solver;
} result;

static result solve(mgv_data *train, const mgv_settings *settings, bool select)
{
    result r = {0};
    if (select) {
        must(mgv_selection_run(ctx, train, settings, &r.selection));
        r.solver = mgv_selection_solver(r.selection);
    } else {
        must(mgv_problem_new(ctx, train, settings, &r.problem));
        must(mgv_solver_new(ctx, r.problem, settings, &r.solver));
        must(mgv_solver_run(ctx, r.solver));
    }
    return r;
}

static void release(result *r)
{
    if (!r->selection)
        mgv_solver_free(ctx, r->solver);
    mgv_selection_free(ctx, r->selection);
    mgv_problem_free(ctx, r->problem);
}

int main(int argc, char **argv)
{
    if (argc < 4 || mgv_ctx_new(NULL, &ctx) != MGV_OK) {
        fprintf(stderr, "usage: bench_multiclass TRAIN TEST|- REPEATS [NAME=VALUE...]\n");
        return 2;
    }
    bool select = false;
    for (int k = 4; k < argc; k++)
        select = select || strncmp(argv[k], "select=", 7) == 0;
    mgv_settings *settings = settings_from(argv + 4);
    mgv_data *train;
    must(mgv_data_read(ctx, argv[1], settings, &train));
    double fit = INFINITY, accuracy = NAN, predict = NAN;
    mgv_certificate c = {.size = sizeof c};
    mgv_run_info run = {.size = sizeof run};
    mgv_selection_info info = {.size = sizeof info, .score = NAN};
    mgv_path_point first = {.size = sizeof first, .lambda = NAN}, last = first;
    for (int k = 0; k < atoi(argv[3]); k++) {
        const double start = mgvi_clock_seconds();
        result r = solve(train, settings, select);
        fit = fmin(fit, mgvi_clock_seconds() - start);
        must(mgv_solver_describe(r.solver, &run, &c));
        if (r.selection) {
            must(mgv_selection_describe(r.selection, &info));
            must(mgv_selection_point(r.selection, 0, &first));
            must(mgv_selection_point(r.selection, info.points - 1, &last));
        }
        if (k == 0)
            accuracy = test_accuracy(r.solver, argv[2], settings, &predict);
        release(&r);
    }
    printf("{\"seconds\": %.6g, \"stop\": \"%s\", \"iterations\": %lld, \"passes\": %.6g, "
           "\"threads\": %d",
           fit, mgv_stop_name(run.stop), (long long)run.iterations, run.passes,
           mgv_ctx_threads(ctx));
    print_number("gap", c.relative_gap);
    print_number("primal", c.primal);
    print_number("accuracy", accuracy);
    print_number("predict", predict);
    print_number("validation", info.score);
    print_number("points", (double)info.points);
    print_number("first_lambda", first.lambda);
    print_number("last_lambda", last.lambda);
    printf("}\n");
    mgv_data_free(ctx, train);
    mgv_settings_free(ctx, settings);
    mgv_ctx_free(ctx);
    return 0;
}
