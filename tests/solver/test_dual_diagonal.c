/* test_dual_diagonal.c - the trajectories and theorems of dual diagonal descent, and its schedules;
 * test_dual_diagonal_run.c has the rest. */
#include "solver/stepping.h"

#include <math.h>
#include <string.h>

#define COMMON "loss=margin solver=dual_diagonal intercept=no "
/* The paper's algorithms: steps of length 1/L, no restart. */
#define PAPER COMMON "dual_diagonal.restart=no backtracking=no tol=0 "

static const char *const schedules[] = {"log", "sqrt", "1/t", "1/t^2", "2^-t", "constant"};
enum { SCHEDULES = sizeof schedules / sizeof *schedules };

/* |A|^2: more than enough power iterations for these few rows. */
static double square_norm(mgv_fit *fit)
{
    double norm;
    CHECK_OK(fit->ctx, mgvi_op_norm(fit->problem->A, &fit->solver->run.arena, 5000, 1, &norm));
    return norm * norm;
}

static double distance(const double *x, const double *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum);
}

static double gamma_of(const json_t *v) { return mgv_vector_number(json_object_get(v, "gamma")); }

/* ---- the paper ------------------------------------------------------------------------------- */

static void check_numbers(const double *got, const json_t *at, const char *key, double tolerance)
{
    int64_t n;
    double *want = mgv_vector_array(at, key, &n);
    for (int64_t i = 0; i < n; i++)
        CHECK_NEAR(got[i], want[i], tolerance * fmax(1, fabs(want[i])), "%s[%d]", key, (int)i);
    free(want);
}

TEST(the_papers_trajectories)
{
    static const struct {
        const char *key, *options;
    } cases[] = {{"000_alg1", PAPER "schedule=1/t lambda0=2 inertia=0 lipschitz="},
                 {"000_alg2_alpha3", PAPER "schedule=1/t lambda0=2 inertia=3 lipschitz="}};
    static const int iterates[] = {1, 2, 3, 10, 50};
    json_t *v = mgv_vector_load("margin_linear_p2"), *known = mgv_vector_load("margin_iterates");
    for (int k = 0; k < 2; k++) {
        const json_t *path = json_object_get(json_object_get(known, "iterates"), cases[k].key);
        char options[256];
        snprintf(options, sizeof options, "%s%.17g", cases[k].options,
                 mgv_vector_number(json_object_get(known, "L")));
        mgv_fit fit;
        open_vector(&fit, v, options);
        for (int j = 0; j < 5; j++) {
            char name[16];
            snprintf(name, sizeof name, "%d", iterates[j]);
            const json_t *at = json_object_get(path, name);
            const mgvi_iterate it = run_to(&fit, iterates[j]);
            check_numbers(it.u->x, at, "u", iterates[j] <= 3 ? 1e-12 : 1e-9);
            check_numbers(it.w->x, at, "w", iterates[j] <= 3 ? 1e-12 : 1e-9);
        }
        mgv_fit_free(&fit);
    }
    json_decref(v);
    json_decref(known);
}

/* The judge on every iterate, not only on those the driver has certified. */
static void check_bounds(mgv_fit *fit, const mgvi_iterate *it, double gamma, const char *what)
{
    const mgv_certificate c = mgvi_judge_certify(fit->solver->judge, it->w, it->u).certificate;
    const int t = (int)fit->solver->run.iteration;
    CHECK_LE(c.margin, gamma * (1 + 1e-13), "%s, iteration %d", what, t);
    CHECK_LE(gamma * (1 - 1e-13), c.margin_upper, "%s, iteration %d", what, t);
    for (int64_t i = 0; i < it->u->n; i++)
        CHECK_THAT(it->u->x[i] <= 0, "%s, iteration %d: u[%d] = %g", what, t, (int)i, it->u->x[i]);
}

TEST(bounds_hold_at_every_iteration)
{
    static const char *const names[] = {"margin_linear_p2", "margin_wide_p2", "margin_toy_p2"};
    static const char *const options[] = {PAPER "inertia=0", PAPER "inertia=3", PAPER "inertia=30",
                                          COMMON "tol=0", COMMON "tol=0 inertia=0"};
    for (int k = 0; k < 3; k++) {
        json_t *v = mgv_vector_load(names[k]);
        for (int j = 0; j < 5; j++) {
            mgv_fit fit;
            open_vector(&fit, v, options[j]);
            for (int t = 1; t <= 300; t++) {
                const mgvi_iterate it = step_to(&fit, t);
                check_bounds(&fit, &it, gamma_of(v), options[j]);
            }
            mgv_fit_free(&fit);
        }
        json_decref(v);
    }
}

/* 1/2 |w|^2 + sum u */
static double dual_objective(const mgvi_iterate *it)
{
    double value = 0;
    for (int64_t j = 0; j < it->w->n; j++)
        value += 0.5 * it->w->x[j] * it->w->x[j];
    for (int64_t i = 0; i < it->u->n; i++)
        value += it->u->x[i];
    return value;
}

TEST(the_dual_objective_of_the_plain_method_never_rises)
{
    static const char *const names[] = {"margin_linear_p2", "margin_wide_p2", "margin_toy_p2"};
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 2 * SCHEDULES; j++) {
            char options[256];
            snprintf(options, sizeof options,
                     COMMON "dual_diagonal.restart=no tol=0 inertia=0 schedule=%s backtracking=%d",
                     schedules[j / 2], j % 2);
            json_t *v = mgv_vector_load(names[k]);
            mgv_fit fit;
            open_vector(&fit, v, options);
            double last = 0;
            for (int t = 1; t <= 300; t++) {
                const mgvi_iterate it = step_to(&fit, t);
                const double now = dual_objective(&it);
                CHECK_LE(now, last + 1e-14 * fabs(last), "%s: %s, iteration %d", names[k], options,
                         t);
                last = now;
            }
            mgv_fit_free(&fit);
            json_decref(v);
        }
}

/* Theorem 5.2 with u_0 = 0, where 2 <1, -u*> = 2 |w*|^2:
 *   |w_t - w*| <= C/(t + alpha - 1),  C = (alpha - 1) sqrt(|w*|^2 + L |u*|^2),  lambda_0 <=
 * 1/max|u*|
 */
TEST(the_inertial_error_obeys_its_theorem)
{
    static const char *const names[] = {"margin_linear_p2", "margin_wide_p2"};
    static const double alphas[] = {3, 10, 30};
    for (int k = 0; k < 2; k++) {
        json_t *v = mgv_vector_load(names[k]);
        int64_t n, d;
        double *w = mgv_vector_array(v, "w_star", &d), *b = mgv_vector_array(v, "beta_star", &n);
        double largest = 0, squares = 0, norm = 0;
        for (int64_t i = 0; i < n; i++) {
            largest = fmax(largest, b[i]);
            squares += b[i] * b[i];
        }
        for (int64_t j = 0; j < d; j++)
            norm += w[j] * w[j];
        for (int j = 0; j < 3 * SCHEDULES; j++) {
            const double alpha = alphas[j % 3];
            mgv_fit fit;
            open_vector(&fit, v, PAPER);
            const double L = square_norm(&fit);
            mgv_fit_free(&fit);
            char options[256];
            snprintf(options, sizeof options,
                     PAPER "schedule=%s lambda0=%.17g inertia=%g lipschitz=%.17g", schedules[j / 3],
                     1 / largest, alpha, L);
            open_vector(&fit, v, options);
            const double C = (alpha - 1) * sqrt(norm + L * squares);
            for (int t = 1; t <= 400; t++) {
                const mgvi_iterate it = step_to(&fit, t);
                CHECK_LE(distance(it.w->x, w, d), C / (t + alpha - 1), "%s: %s, iteration %d",
                         names[k], options, t);
            }
            mgv_fit_free(&fit);
        }
        free(w);
        free(b);
        json_decref(v);
    }
}

/* ---- convergence ----------------------------------------------------------------------------- */

TEST(restart_and_backtracking_converge)
{
    static const char *const names[] = {"margin_linear_p2", "margin_wide_p2", "margin_toy_p2"};
    for (int k = 0; k < 3; k++) {
        json_t *v = mgv_vector_load(names[k]);
        int64_t d;
        double *w = mgv_vector_array(v, "w_star", &d);
        mgv_fit fit;
        open_vector(&fit, v, COMMON "tol=1e-8");
        CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
        describe(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.separable == 1,
                   "%s: %s, gap %g", names[k], mgv_stop_name(fit.run.stop),
                   fit.certificate.relative_gap);
        CHECK_NEAR(fit.certificate.margin, gamma_of(v), 1e-8 * gamma_of(v), "%s", names[k]);
        CHECK_LE(fit.run.iterations, 2000, "%s", names[k]);
        const mgvi_iterate it = fit.solver->run.ops->expose(&fit.solver->run);
        CHECK_LE(distance(it.w->x, w, d) * gamma_of(v), 1e-3, "%s", names[k]);
        mgv_fit_free(&fit);
        free(w);
        json_decref(v);
    }
}

TEST(restart_and_longer_steps_save_iterations)
{
    static const char *const options[] = {COMMON "tol=1e-8", COMMON "tol=1e-8 backtracking=no",
                                          COMMON
                                          "tol=1e-8 backtracking=no dual_diagonal.restart=no"};
    double *X, *y;
    mgv_random_set(12, 60, 80, 0, &X, &y);
    int64_t last = 0;
    for (int k = 0; k < 3; k++) {
        mgv_fit fit;
        open_rows(&fit, X, y, 60, 80, options[k]);
        CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
        describe(&fit);
        CHECK_THAT(fit.run.iterations > 1.2 * (double)last, "%s: %d iterations after %d",
                   options[k], (int)fit.run.iterations, (int)last);
        last = fit.run.iterations;
        mgv_fit_free(&fit);
    }
    free(X);
    free(y);
}

/* The running w may drift from -A'u by rounding only. */
TEST(a_long_run_reaches_machine_precision_and_stays)
{
    json_t *v = mgv_vector_load("margin_linear_p2");
    double *w = mgv_vector_array(v, "w_star", NULL);
    mgv_fit fit;
    open_vector(&fit, v, COMMON "tol=0");
    for (int t = 2000; t <= 20000; t += 3000) {
        const mgvi_iterate it = step_to(&fit, t);
        CHECK_LE(distance(it.w->x, w, 5) * gamma_of(v), 1e-12, "iteration %d", t);
    }
    const mgvi_iterate last = step_to(&fit, 20000);
    const mgvi_verdict end = mgvi_judge_certify(fit.solver->judge, last.w, last.u);
    CHECK_LE(end.certificate.relative_gap, 1e-12, "gap");
    mgv_fit_free(&fit);
    free(w);
    json_decref(v);
}

TEST(every_schedule_ends_with_a_valid_certificate)
{
    static const char *const names[] = {"margin_linear_p2", "margin_wide_p2", "margin_toy_p2"};
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < SCHEDULES; j++) {
            char options[256];
            snprintf(options, sizeof options, COMMON "tol=1e-6 max_iter=1500 schedule=%s lambda0=1",
                     schedules[j]);
            json_t *v = mgv_vector_load(names[k]);
            mgv_fit fit;
            open_vector(&fit, v, options);
            CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
            describe(&fit);
            CHECK(fit.certificate.verified && fit.certificate.separable != 0);
            CHECK_LE(fit.certificate.margin, gamma_of(v) * (1 + 1e-13), "%s", options);
            CHECK_LE(gamma_of(v) * (1 - 1e-13), fit.certificate.margin_upper, "%s", options);
            const bool slow = strcmp(schedules[j], "constant") == 0;
            CHECK_THAT(slow || fit.run.stop == MGV_STOP_CERTIFIED, "%s: %s: gap %g", names[k],
                       options, fit.certificate.relative_gap);
            mgv_fit_free(&fit);
            json_decref(v);
        }
}

/* A fixed lambda is the soft margin with C = 1/lambda. */
TEST(the_constant_schedule_is_the_soft_margin)
{
    json_t *v = mgv_vector_load("margin_linear_p2"), *soft = mgv_vector_load("margin_soft_margin");
    double *w = mgv_vector_array(soft, "w_star", NULL);
    mgv_fit fit;
    open_vector(&fit, v, COMMON "tol=0 schedule=constant lambda0=0.5");
    const mgvi_iterate it = run_to(&fit, 3000);
    CHECK_LE(distance(it.w->x, w, 5), 1e-10, "w");
    mgv_fit_free(&fit);
    free(w);
    json_decref(v);
    json_decref(soft);
}

/* Far below the solution every slack is about -1 and long steps end at the box. */
TEST(the_box_follows_its_schedule)
{
    json_t *v = mgv_vector_load("margin_linear_p2");
    for (int j = 0; j < SCHEDULES; j++) {
        char options[256];
        snprintf(options, sizeof options, PAPER "schedule=%s lambda0=1e6 lipschitz=1e-3",
                 schedules[j]);
        mgv_fit fit;
        open_vector(&fit, v, options);
        for (int t = 0; t < 8; t++) {
            const mgvi_iterate it = step_to(&fit, t + 1);
            const double growth[] = {log(t + 2), sqrt(t + 1), t + 1, (t + 1) * (t + 1), exp2(t), 1};
            for (int64_t i = 0; i < it.u->n; i++)
                CHECK_NEAR(-1e6 * it.u->x[i], growth[j], 1e-14 * growth[j], "%s, t = %d",
                           schedules[j], t);
        }
        mgv_fit_free(&fit);
    }
    json_decref(v);
}

/* A box that never holds is no box, also when it overflows after t = 1024. */
TEST(the_fastest_schedule_outlives_the_doubles)
{
    json_t *v = mgv_vector_load("margin_linear_p2");
    mgv_fit fit, open;
    open_vector(&fit, v, PAPER "schedule=2^-t lambda0=1e-6");
    open_vector(&open, v, PAPER "schedule=constant lambda0=0");
    for (int t = 1000; t <= 2600; t += 50) {
        const mgvi_iterate it = step_to(&fit, t), free_it = step_to(&open, t);
        check_bounds(&fit, &it, gamma_of(v), "2^-t");
        assert_memory_equal(it.u->x, free_it.u->x, 16 * sizeof(double));
    }
    mgv_fit_free(&fit);
    mgv_fit_free(&open);
    json_decref(v);
}

/* lambda_t = 0: no box at all, as every fast schedule is in the end. */
TEST(lambda_zero_is_no_box)
{
    json_t *v = mgv_vector_load("margin_wide_p2");
    mgv_fit fit;
    open_vector(&fit, v, COMMON "tol=1e-10 lambda0=0 schedule=constant");
    CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
    describe(&fit);
    CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
    mgv_fit_free(&fit);
    json_decref(v);
}

/* A power of two scales every number exactly, so the very same steps are taken. */
TEST(units_change_nothing_but_the_margin)
{
    double *X, *y;
    mgv_random_set(11, 60, 80, 0, &X, &y);
    double margin[3];
    int64_t iterations[3];
    for (int k = 0; k < 3; k++) {
        static const double scale[] = {1, 0x1p20, 0x1p-20};
        double scaled[60 * 80];
        for (int i = 0; i < 60 * 80; i++)
            scaled[i] = scale[k] * X[i];
        mgv_fit fit;
        open_rows(&fit, scaled, y, 60, 80, COMMON "tol=1e-7");
        CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
        describe(&fit);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
        margin[k] = fit.certificate.margin / scale[k];
        iterations[k] = fit.run.iterations;
        mgv_fit_free(&fit);
    }
    for (int k = 1; k < 3; k++) {
        CHECK(iterations[k] == iterations[0]);
        CHECK_NEAR(margin[k], margin[0], 0, "margin");
    }
    free(X);
    free(y);
}

int main(void)
{
    return RUN(
        the_papers_trajectories, bounds_hold_at_every_iteration,
        the_dual_objective_of_the_plain_method_never_rises, the_inertial_error_obeys_its_theorem,
        restart_and_backtracking_converge, restart_and_longer_steps_save_iterations,
        a_long_run_reaches_machine_precision_and_stays,
        every_schedule_ends_with_a_valid_certificate, the_constant_schedule_is_the_soft_margin,
        the_box_follows_its_schedule, the_fastest_schedule_outlives_the_doubles,
        lambda_zero_is_no_box, units_change_nothing_but_the_margin);
}
