/* test_dual_diagonal_run.c - dual diagonal descent where there is no margin, what it refuses and
 * warns about, and the driver's promises. */
#include "solver/stepping.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define COMMON "loss=margin solver=dual_diagonal intercept=no "
/* The paper's algorithms: steps of length 1/L, no restart. */
#define PAPER COMMON "dual_diagonal.restart=no backtracking=no tol=0 "

static const char *const schedules[] = {"log", "sqrt", "1/t", "1/t^2", "2^-t", "constant"};
enum { SCHEDULES = sizeof schedules / sizeof *schedules };

/* ---- no margin, no constraint ---------------------------------------------------------------- */

/* Four points around the origin, as in the vector, one of them mirrored into the other class. */
TEST(no_margin_is_proven_or_left_open)
{
    json_t *v = mgv_vector_load("margin_nonseparable");
    double *X = mgv_vector_array(v, "X", NULL);
    const double rows[] = {X[0], X[1], X[2], X[3], -X[4], -X[5], X[6], X[7]};
    const double y[] = {1, 1, -1, 1};
    for (int j = 0; j < 2 * SCHEDULES; j++) {
        char options[256];
        snprintf(options, sizeof options, COMMON "max_iter=3000 schedule=%s inertia=%d",
                 schedules[j / 2], j % 2 ? 3 : 0);
        mgv_fit fit;
        open_rows(&fit, rows, y, 4, 2, options);
        CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
        describe(&fit);
        const bool proven = fit.run.stop == MGV_STOP_INFEASIBLE;
        CHECK(fit.certificate.separable == (proven ? 0 : -1));
        if (proven)
            CHECK_LE(fit.certificate.proof_norm, 1e-12, "%s", options);
        const bool slow = strcmp(schedules[j / 2], "constant") == 0;
        CHECK_THAT(proven || slow, "%s: %s", options, mgv_stop_name(fit.run.stop));
        mgv_fit_free(&fit);
    }
    free(X);
    json_decref(v);
}

TEST(noisy_labels_never_get_a_false_claim)
{
    for (int k = 0; k < 6; k++) {
        double *X, *y;
        mgv_random_set((uint64_t)(20 + k), 60, 6, 2, &X, &y);
        for (int j = 0; j < 6; j++) /* rows 0 and 1 cancel: certainly no margin */
            X[6 + j] = -X[j] * y[0] * y[1];
        mgv_fit fit;
        open_rows(&fit, X, y, 60, 6, COMMON "max_iter=400");
        CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
        describe(&fit);
        CHECK(fit.certificate.separable != 1);
        CHECK_LE(fit.certificate.margin, 1e-14, "set %d", k);
        mgv_fit_free(&fit);
        free(X);
        free(y);
    }
}

TEST(odd_rows)
{
    const double zero[] = {1, 2, 0, 0, -1, 1}, y3[] = {1, 1, -1};
    mgv_fit fit;
    open_rows(&fit, zero, y3, 3, 2, COMMON); /* a row of zeros has no margin */
    CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
    describe(&fit);
    CHECK(fit.run.stop == MGV_STOP_INFEASIBLE && fit.run.iterations == 1);
    mgv_fit_free(&fit);
    const double line[] = {2, 2, -1, -3}, y4[] = {1, 1, -1, -1}; /* d = 1, a row twice */
    open_rows(&fit, line, y4, 4, 1, COMMON "tol=1e-10");
    CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
    describe(&fit);
    CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
    CHECK_NEAR(fit.certificate.margin, 1, 1e-10, "margin");
    mgv_fit_free(&fit);
    /* a row without weight is no constraint: without it the margin is 2 */
    mgv_fit_start(&fit, line, y4, 4, 1, COMMON "tol=1e-10");
    const double weight[] = {1, 1, 0, 1};
    CHECK_OK(fit.ctx, mgv_data_set_weights(fit.ctx, fit.data, weight));
    mgv_fit_solve(&fit);
    CHECK(fit.run.stop == MGV_STOP_CERTIFIED && fit.solver->answer.u.x[2] == 0);
    CHECK_NEAR(fit.certificate.margin, 2, 1e-9, "margin");
    mgv_fit_free(&fit);
}

/* Equal rows: the Frobenius norm is the norm, and (5) holds with equality or, by rounding, not. */
TEST(the_search_ends_on_equal_rows)
{
    for (int k = 1; k <= 40; k++) {
        double X[7], y[7];
        for (int i = 0; i < 7; i++) {
            y[i] = i % 2 ? 1 : -1;
            X[i] = y[i] * 0.1 * k;
        }
        mgv_fit fit;
        open_rows(&fit, X, y, 7, 1, COMMON);
        const mgvi_iterate it = step_to(&fit, 1000);
        const mgvi_verdict end = mgvi_judge_certify(fit.solver->judge, it.w, it.u);
        CHECK_LE(end.certificate.relative_gap, 1e-12, "rows %g", 0.1 * k);
        mgv_fit_free(&fit);
    }
}

TEST(what_it_cannot_do_is_refused)
{
    static const struct {
        const char *options, *part;
        mgv_status status;
    } cases[] = {{"loss=margin solver=dual_diagonal", "--no-intercept", MGV_E_UNSUPPORTED},
                 {"loss=hinge solver=dual_diagonal intercept=no", "works with loss margin",
                  MGV_E_UNSUPPORTED},
                 {COMMON "inertia=2", "at least 3", MGV_E_ARG}};
    const double X[] = {1, 2, -1, -2}, y[] = {1, -1}, large[] = {1e160, -1e160};
    mgv_fit fit;
    for (int k = 0; k < 3; k++) {
        mgv_fit_start(&fit, X, y, 2, 2, cases[k].options);
        CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
        CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                    cases[k].status, cases[k].part);
        mgv_fit_free(&fit);
    }
    mgv_fit_start(&fit, large, y, 2, 1, COMMON);
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                MGV_E_INPUT, "divide them");
    mgv_fit_free(&fit);
}

static int count_warnings(void *user, const mgv_event *event)
{
    if (event->kind == MGV_EVENT_LOG && event->level == MGV_WARNING &&
        strstr(event->text, "multipliers are still held"))
        ++*(int *)user;
    return 0;
}

TEST(a_box_that_holds_is_warned_about_once)
{
    static const struct {
        const char *options;
        int warnings;
    } cases[] = {{COMMON "schedule=log lambda0=8 max_iter=500", 1},
                 {COMMON "schedule=constant lambda0=1 max_iter=500", 1},
                 {COMMON "schedule=1/t lambda0=1 max_iter=500 tol=0", 0},
                 {COMMON "schedule=log lambda0=8 max_iter=50", 0}};
    json_t *v = mgv_vector_load("margin_linear_p2");
    for (int k = 0; k < 4; k++) {
        mgv_fit fit;
        int warnings = 0;
        open_vector(&fit, v, cases[k].options);
        mgv_ctx_on_event(fit.ctx, count_warnings, &warnings);
        CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
        CHECK_THAT(warnings == cases[k].warnings, "%s: %d warnings", cases[k].options, warnings);
        mgv_fit_free(&fit);
    }
    json_decref(v);
}

/* ---- the driver's promises ------------------------------------------------------------------- */

TEST(same_bits_for_any_threads)
{
    static const int threads[] = {1, 2, 5};
    const int64_t n = 70000, d = 12; /* several blocks of every loop */
    double *X, *y, *first = NULL;
    mgv_random_set(31, n, d, 0, &X, &y);
    for (int k = 0; k < 3; k++) {
        mgv_fit fit;
        open_rows(&fit, X, y, n, d, COMMON "max_iter=25 tol=0");
        CHECK_OK(fit.ctx, mgv_ctx_set_threads(fit.ctx, threads[k]));
        const mgvi_iterate it = run_to(&fit, 25);
        if (!first) {
            first = malloc((size_t)(n + d) * sizeof *first);
            memcpy(first, it.u->x, (size_t)n * sizeof *first);
            memcpy(first + n, it.w->x, (size_t)d * sizeof *first);
        }
        assert_memory_equal(first, it.u->x, (size_t)n * sizeof *first);
        assert_memory_equal(first + n, it.w->x, (size_t)d * sizeof *first);
        mgv_fit_free(&fit);
    }
    free(first);
    free(X);
    free(y);
}

TEST(a_resumed_run_takes_the_same_steps)
{
    static const char *const options[] = {COMMON "tol=1e-14 max_iter=230",
                                          PAPER "schedule=sqrt max_iter=230"};
    double *X, *y;
    char file[64];
    mgv_random_set(32, 90, 40, 0, &X, &y);
    snprintf(file, sizeof file, "test_diagonal_checkpoint.%d", (int)getpid());
    for (int k = 0; k < 2; k++) {
        mgv_fit whole, part, rest;
        open_rows(&whole, X, y, 90, 40, options[k]);
        const mgvi_iterate a = run_to(&whole, 230);
        open_rows(&part, X, y, 90, 40, options[k]);
        run_to(&part, 97);
        CHECK_OK(part.ctx, mgv_solver_checkpoint(part.ctx, part.solver, file));
        open_rows(&rest, X, y, 90, 40, options[k]);
        CHECK_OK(rest.ctx, mgv_solver_resume(rest.ctx, rest.solver, file));
        const mgvi_iterate b = run_to(&rest, 230);
        assert_memory_equal(a.u->x, b.u->x, 90 * sizeof(double));
        assert_memory_equal(a.w->x, b.w->x, 40 * sizeof(double));
        describe(&whole);
        describe(&rest);
        CHECK_NEAR(whole.certificate.margin, rest.certificate.margin, 0, "margin");
        CHECK_NEAR(whole.run.passes, rest.run.passes, 0, "passes");
        mgv_fit_free(&rest);
        /* other settings of the solver refuse the file */
        open_rows(&rest, X, y, 90, 40, options[k]);
        mgv_solver_free(rest.ctx, rest.solver);
        rest.solver = NULL;
        mgv_fit_set(&rest, "schedule=log");
        CHECK_OK(rest.ctx, mgv_solver_new(rest.ctx, rest.problem, rest.settings, &rest.solver));
        CHECK_FAILS(rest.ctx, mgv_solver_resume(rest.ctx, rest.solver, file), MGV_E_INPUT,
                    "other data, settings, tolerance or seed");
        mgv_fit_free(&rest);
        mgv_fit_free(&part);
        mgv_fit_free(&whole);
    }
    remove(file);
    free(X);
    free(y);
}

TEST(damaged_states_are_refused)
{
    json_t *v = mgv_vector_load("margin_linear_p2");
    char file[64];
    snprintf(file, sizeof file, "test_diagonal_damaged.%d", (int)getpid());
    mgv_fit fit;
    open_vector(&fit, v, COMMON "tol=1e-14");
    run_to(&fit, 20);
    mgvi_run *run = &fit.solver->run;
    double *memory = NULL; /* momentum, L, estimate */
    for (int i = 0; i < run->kept_count; i++)
        if (strcmp(run->kept[i].tensor.name, "memory") == 0)
            memory = (double *)(uintptr_t)run->kept[i].tensor.data;
    assert_non_null(memory);
    static const double wrong[] = {0, -1, NAN, INFINITY};
    const double L = memory[1];
    for (int k = 0; k < 5; k++) {
        memory[1] = k < 4 ? wrong[k] : L;
        CHECK_OK(fit.ctx, mgv_solver_checkpoint(fit.ctx, fit.solver, file));
        if (k < 4)
            CHECK_FAILS(fit.ctx, mgv_solver_resume(fit.ctx, fit.solver, file), MGV_E_INPUT,
                        "damaged");
        else
            CHECK_OK(fit.ctx, mgv_solver_resume(fit.ctx, fit.solver, file));
    }
    remove(file);
    mgv_fit_free(&fit);
    json_decref(v);
}

static mgv_status fit_once(mgv_ctx *ctx, const mgv_settings *settings, mgv_data *data)
{
    mgv_problem *problem;
    mgv_solver *solver = NULL;
    MGVI_TRY(mgv_problem_new(ctx, data, settings, &problem));
    mgv_status st = mgv_solver_new(ctx, problem, settings, &solver);
    if (st == MGV_OK)
        st = mgv_solver_run(ctx, solver);
    mgv_solver_free(ctx, solver);
    mgv_problem_free(ctx, problem);
    return st;
}

TEST(every_allocation_may_fail)
{
    double *X, *y;
    mgv_random_set(33, 20, 4, 0, &X, &y);
    for (int backtracking = 0; backtracking < 2; backtracking++) {
        mgv_status st = MGV_E_MEMORY;
        for (long fail_at = 1; st != MGV_OK; fail_at++) {
            mgv_check_allocator a;
            mgv_ctx *ctx;
            mgv_data *data;
            mgv_settings *settings;
            mgv_check_allocator_init(&a, 0);
            assert_int_equal(mgv_ctx_new(&a.hooks, &ctx), MGV_OK);
            /* column order: the row norms need a copy by rows */
            CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F64, X, 20, 4, 1, 20, &data));
            CHECK_OK(ctx, mgv_data_set_labels(ctx, data, y));
            CHECK_OK(ctx, mgv_settings_new(ctx, &settings));
            CHECK_OK(ctx, mgv_settings_set(ctx, settings, "loss", "margin"));
            CHECK_OK(ctx, mgv_settings_set(ctx, settings, "solver", "dual_diagonal"));
            CHECK_OK(ctx, mgv_settings_set(ctx, settings, "intercept", "no"));
            CHECK_OK(ctx, mgv_settings_set(ctx, settings, "max_iter", "5"));
            CHECK_OK(ctx,
                     mgv_settings_set(ctx, settings, "backtracking", backtracking ? "yes" : "no"));
            const long before = a.live;
            a.fail_at = a.calls + fail_at;
            st = fit_once(ctx, settings, data);
            CHECK(st == MGV_OK || st == MGV_E_MEMORY);
            CHECK_THAT(a.live == before, "allocation %ld leaks", fail_at);
            mgv_settings_free(ctx, settings);
            mgv_data_free(ctx, data);
            mgv_ctx_free(ctx);
        }
    }
    free(X);
    free(y);
}

int main(void)
{
    return RUN(no_margin_is_proven_or_left_open, noisy_labels_never_get_a_false_claim, odd_rows,
               the_search_ends_on_equal_rows, what_it_cannot_do_is_refused,
               a_box_that_holds_is_warned_about_once, same_bits_for_any_threads,
               a_resumed_run_takes_the_same_steps, damaged_states_are_refused,
               every_allocation_may_fail);
}
