/* fuzz_fit.c - settings and numbers of a small table: every fit ends in time, with a sentence where
 * it is refused and with an interval that is one. The input is lines NAME=VALUE, an empty line, and
 * bytes of float64: labels and columns, row by row; what is missing is made up. */
#include "fuzz.h"

#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 9, COLS = 3, LONGEST = 200 };

static void expect_sentence(mgv_ctx *ctx, mgv_status st, const char *what)
{
    if (st != MGV_OK && !mgv_ctx_error(ctx)[0]) {
        fprintf(stderr, "%s: %s without a sentence\n", what, mgv_status_name(st));
        abort();
    }
}

/* A line at a time; no file but those of an empty folder is named. Returns what follows. */
static const uint8_t *set_all(mgv_ctx *ctx, mgv_settings *settings, const uint8_t *at,
                              const uint8_t *end)
{
    while (at < end && *at != '\n') {
        char line[LONGEST + 1];
        const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t size = (size_t)((stop ? stop : end) - at);
        memcpy(line, at, size < LONGEST ? size : LONGEST);
        line[size < LONGEST ? size : LONGEST] = 0;
        char *equals = strchr(line, '=');
        if (equals && !strchr(line, '/')) {
            *equals = 0;
            expect_sentence(ctx, mgv_settings_set(ctx, settings, line, equals + 1), line);
        }
        at = stop ? stop + 1 : end;
    }
    return at < end ? at + 1 : end;
}

static double number_at(const uint8_t *at, const uint8_t *end, int k)
{
    double x;
    if ((end - at) / (int)sizeof x <= k)
        return (k * 7919) % 13 - 6;
    memcpy(&x, at + (size_t)k * sizeof x, sizeof x);
    return isfinite(x) ? x : k;
}

/* The labels are small whole numbers where there are classes. */
static mgv_status make_data(mgv_ctx *ctx, const uint8_t *at, const uint8_t *end, double *X,
                            mgv_data **data)
{
    double y[ROWS];
    const bool classes = end > at && (*at & 1);
    for (int i = 0; i < ROWS; i++) {
        y[i] = number_at(at, end, i * (COLS + 1));
        y[i] = classes ? fmod(trunc(y[i]), 3) : y[i];
        for (int j = 0; j < COLS; j++)
            X[i * COLS + j] = number_at(at, end, i * (COLS + 1) + 1 + j);
    }
    const mgv_status st = mgv_data_from_dense(ctx, MGV_F64, X, ROWS, COLS, COLS, 1, data);
    return st != MGV_OK ? st : mgv_data_set_labels(ctx, *data, y);
}

static void check_answer(mgv_ctx *ctx, const mgv_solver *solver)
{
    mgv_certificate c = {.size = sizeof c};
    mgv_run_info run = {.size = sizeof run};
    mgv_model *model = NULL;
    mgv_solver_describe(solver, &run, &c);
    if (c.dual > c.primal || c.margin > c.margin_upper || c.gap < 0) {
        fprintf(stderr, "[%.17g, %.17g], margin [%.17g, %.17g]\n", c.dual, c.primal, c.margin,
                c.margin_upper);
        abort();
    }
    const mgv_status st = mgv_model_new(ctx, solver, &model);
    expect_sentence(ctx, st, "model");
    if (st == MGV_OK)
        expect_sentence(ctx, mgv_model_save(ctx, model, "/dev/null"), "save");
    mgv_model_free(ctx, model);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const limits[][2] = {
        {"max_iter", "30"}, {"max_passes", "200"}, {"time_limit", "0.1"}, {"cache", "1"}};
    mgv_ctx *ctx = fuzz_new_ctx();
    mgv_settings *settings = NULL;
    mgv_data *data = NULL;
    mgv_problem *problem = NULL;
    mgv_solver *solver = NULL;
    double X[ROWS * COLS];
    const uint8_t *end = bytes + size;
    if (mgv_settings_new(ctx, &settings) != MGV_OK)
        abort();
    const uint8_t *at = set_all(ctx, settings, bytes, end);
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++)
        if (mgv_settings_set(ctx, settings, limits[k][0], limits[k][1]) != MGV_OK)
            abort();
    ctx->error[0] = 0;
    mgv_status st = make_data(ctx, at, end, X, &data);
    st = st != MGV_OK ? st : mgv_problem_new(ctx, data, settings, &problem);
    st = st != MGV_OK ? st : mgv_solver_new(ctx, problem, settings, &solver);
    st = st != MGV_OK ? st : mgv_solver_run(ctx, solver);
    expect_sentence(ctx, st, "fit");
    if (st == MGV_OK)
        check_answer(ctx, solver);
    mgv_solver_free(ctx, solver);
    mgv_problem_free(ctx, problem);
    mgv_data_free(ctx, data);
    mgv_settings_free(ctx, settings);
    mgv_ctx_free(ctx);
    fuzz_check_leaks();
    return 0;
}
