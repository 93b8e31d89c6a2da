/* test_momentum_margin.c - trajectories, theorem 3.1, bounds and the driver's promises. */
#include "margin_runs.h"

#include <unistd.h>

static const char *const variants[] = {
    "solver=momentum_margin",
    "solver=momentum_margin large_steps=no",
    "solver=momentum_margin surrogate=logistic",
    "solver=momentum_margin surrogate=logistic large_steps=no",
    "solver=momentum_margin sampling=yes seed=3",
    "solver=momentum_margin sampling=yes surrogate=logistic seed=4",
};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* ---- the exact steps ------------------------------------------------------------------------- */

static void check_vector(const double *got, const json_t *point, const char *key, int t)
{
    int64_t d;
    double *want = mgv_vector_array(point, key, &d), scale = 0;
    for (int64_t j = 0; j < d; j++)
        scale = fmax(scale, fabs(want[j]));
    const double tolerance = (t <= 3 ? 1e-12 : 1e-9) * fmax(scale, 1);
    for (int64_t j = 0; j < d; j++)
        CHECK_NEAR(got[j], want[j], tolerance, "%s[%d] at %d", key, (int)j, t);
    free(want);
}

TEST(trajectories)
{
    static const struct {
        const char *key, *options;
    } cases[] = {
        {"004_alg1_exp", "solver=momentum_margin large_steps=no"},
        {"004_alg1_logistic_rho1", "solver=momentum_margin surrogate=logistic large_steps=no"}};
    margin_set s = margin_set_load("margin_linear_p2");
    json_t *v = mgv_vector_load("margin_iterates"), *all = json_object_get(v, "iterates");
    for (int k = 0; k < 2; k++) {
        json_t *points = json_object_get(all, cases[k].key);
        mgv_fit fit;
        int checked = 0;
        margin_open(&fit, &s, cases[k].options);
        for (int t = 1; t <= 50; t++) {
            char name[8];
            margin_step(&fit);
            snprintf(name, sizeof name, "%d", t);
            const json_t *point = json_object_get(points, name);
            if (!point)
                continue;
            check_vector(margin_kept(&fit, "w"), point, "w", t);
            check_vector(margin_kept(&fit, "g"), point, "g", t);
            const double *b = margin_kept(&fit, "b");
            double sum = 0;
            for (int64_t i = 0; i < s.n; i++)
                sum += b[i];
            CHECK_NEAR(2 * sum / t, mgv_vector_number(json_object_get(point, "mu_l1")), 1e-9,
                       "|mu| at %d", t);
            CHECK_NEAR(margin_judge(&fit).margin / s.radius,
                       mgv_vector_number(json_object_get(point, "min_margin")), 1e-9,
                       "margin at %d", t);
            checked++;
        }
        CHECK(checked == 5);
        mgv_fit_free(&fit);
    }
    json_decref(v);
    margin_set_free(&s);
}

/* In units of the largest row:
 *   lower >= gamma - 4 (1 + ln n)(1 + 2 ln(t+1)) / (gamma (t+1)^2)
 *   4 |g|^2/t^2 - 8 ln n/(t+1)^2 <= gamma^2 <= 4 |g|^2/t^2 */
TEST(theorem_3_1)
{
    static const char *const sets[] = {"margin_linear_p2", "margin_wide_p2", "margin_toy_p2"};
    for (int k = 0; k < 3; k++) {
        margin_set s = margin_set_load(sets[k]);
        const double gamma = s.gamma / s.radius, ln_n = log((double)s.n), slack = 1e-12;
        mgv_fit fit;
        margin_open(&fit, &s, "solver=momentum_margin large_steps=no");
        for (int t = 1; t <= 3000; t++) {
            margin_step(&fit);
            const double g = margin_norm(margin_kept(&fit, "g"), s.d), end = 4 * g * g / t / t;
            const double t1 = t + 1.0;
            const mgv_certificate c = margin_judge(&fit);
            CHECK_LE(end - 8 * ln_n / t1 / t1, gamma * gamma + slack, "%s at %d", sets[k], t);
            CHECK_LE(gamma * gamma, end + slack, "%s at %d", sets[k], t);
            CHECK_LE(gamma - 4 * (1 + ln_n) * (1 + 2 * log(t1)) / gamma / t1 / t1,
                     c.margin / s.radius + slack, "%s at %d", sets[k], t);
            CHECK_NEAR(c.margin_upper / s.radius, 2 * g / t, 1e-12, "%s at %d", sets[k], t);
        }
        /* |w| grows like gamma t^2 / 4 */
        CHECK_NEAR(margin_norm(margin_kept(&fit, "w"), s.d) / (gamma * 3000.0 * 3000 / 4), 1, 0.02,
                   "%s", sets[k]);
        mgv_fit_free(&fit);
        margin_set_free(&s);
    }
}

TEST(bounds_hold_at_every_step)
{
    static const char *const sets[] = {"margin_linear_p2", "margin_wide_p2", "margin_toy_p2"};
    for (int k = 0; k < 3; k++) {
        margin_set s = margin_set_load(sets[k]);
        for (int v = 0; v < VARIANTS; v++)
            margin_check_bounds(&s, variants[v], 1500);
        margin_set_free(&s);
    }
}

static double gap_after(const margin_set *s, const char *options, int steps)
{
    mgv_fit fit;
    margin_open(&fit, s, options);
    for (int t = 0; t < steps; t++)
        margin_step(&fit);
    const double gap = margin_judge(&fit).relative_gap;
    mgv_fit_free(&fit);
    return gap;
}

TEST(large_steps_are_ahead)
{
    static const char *const sets[] = {"margin_linear_p2", "margin_wide_p2"};
    for (int k = 0; k < 2; k++) {
        margin_set s = margin_set_load(sets[k]);
        for (int v = 0; v < 4; v += 2)
            for (int t = 300; t <= 2700; t *= 3)
                CHECK_LE(gap_after(&s, variants[v], t), 0.8 * gap_after(&s, variants[v + 1], t),
                         "%s, %s at %d", sets[k], variants[v], t);
        margin_set_free(&s);
    }
}

TEST(the_answer_is_feasible_and_certified)
{
    margin_set s = margin_set_load("margin_wide_p2");
    json_t *v = mgv_vector_load("margin_wide_p2");
    double *want = mgv_vector_array(v, "w_star", NULL);
    mgv_fit fit;
    mgv_fit_start(&fit, s.X, s.y, s.n, s.d,
                  "loss=margin intercept=no solver=momentum_margin tol=1e-5 max_iter=20000");
    mgv_fit_solve(&fit);
    CHECK(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.separable == 1);
    CHECK_LE(fit.certificate.relative_gap, 1e-5, "gap");
    double least = INFINITY, scale = 0;
    for (int64_t i = 0; i < s.n; i++) {
        double z = 0;
        for (int64_t j = 0; j < s.d; j++)
            z += s.y[i] * s.X[i * s.d + j] * mgv_fit_weights(&fit)[j];
        least = fmin(least, z);
        CHECK(fit.solver->answer.u.x[i] <= 0);
    }
    CHECK_NEAR(least, 1, 1e-12, "least y x.w");
    for (int64_t j = 0; j < s.d; j++)
        scale = fmax(scale, fabs(want[j]));
    for (int64_t j = 0; j < s.d; j++) {
        double dual = 0; /* w = -A'u at the optimum */
        for (int64_t i = 0; i < s.n; i++)
            dual -= fit.solver->answer.u.x[i] * s.y[i] * s.X[i * s.d + j];
        CHECK_NEAR(mgv_fit_weights(&fit)[j], want[j], 1e-2 * scale, "w[%d]", (int)j);
        CHECK_NEAR(dual, want[j], 1e-2 * scale, "-A'u[%d]", (int)j);
    }
    mgv_fit_free(&fit);
    free(want);
    json_decref(v);
    margin_set_free(&s);
}

/* ---- sampling, other data -------------------------------------------------------------------- */

TEST(sampling_follows_the_seed)
{
    margin_set s = margin_set_load("margin_linear_p2");
    double w[3][5];
    static const char *const seeds[] = {"seed=5", "seed=5", "seed=6"};
    for (int k = 0; k < 3; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, s.X, s.y, s.n, s.d,
                      "loss=margin intercept=no solver=momentum_margin sampling=yes max_iter=200");
        mgv_fit_set(&fit, seeds[k]);
        mgv_fit_solve(&fit);
        memcpy(w[k], mgv_fit_weights(&fit), sizeof w[k]);
        mgv_fit_free(&fit);
    }
    assert_memory_equal(w[0], w[1], sizeof w[0]);
    CHECK(memcmp(w[0], w[2], sizeof w[0]) != 0);
    margin_set_free(&s);
}

TEST(no_margin_is_never_claimed)
{
    for (int v = 0; v < VARIANTS; v++)
        margin_check_nonseparable(variants[v], strstr(variants[v], "sampling") ? 0.05 : 1e-3, 400);
    /* theta = 1: upper <= sqrt(8 ln n)/(t+1) whatever the data, in units of the largest row */
    const double X[] = {1, 0, -0.5, 0.5, -0.5, -0.5, 0.25, 0.1}, y[] = {1, 1, 1, 1};
    double signed_X[8], signed_y[4];
    for (int i = 0; i < 4; i++) { /* two labels, the same rows y x */
        signed_y[i] = i % 2 ? -1 : 1;
        for (int j = 0; j < 2; j++)
            signed_X[2 * i + j] = signed_y[i] * y[i] * X[2 * i + j];
    }
    const margin_set s = {.n = 4, .d = 2, .X = signed_X, .y = signed_y};
    mgv_fit fit;
    margin_open(&fit, &s, "solver=momentum_margin large_steps=no");
    for (int t = 1; t <= 2000; t++) {
        margin_step(&fit);
        CHECK_LE(margin_judge(&fit).margin_upper, sqrt(8 * log(4.0)) / (t + 1) + 1e-15, "at %d", t);
    }
    mgv_fit_free(&fit);
}

TEST(rows_without_weight_are_not_there)
{
    for (int v = 0; v < VARIANTS; v++)
        margin_check_weightless(variants[v]);
}

TEST(units_do_not_matter)
{
    margin_set s = margin_set_load("margin_wide_p2");
    for (int v = 0; v < VARIANTS; v++)
        margin_check_units(&s, variants[v]);
    margin_set_free(&s);
}

/* ---- the driver's promises ------------------------------------------------------------------- */

TEST(same_bits_for_threads)
{
    for (int v = 0; v < VARIANTS; v++)
        margin_check_threads(variants[v]);
}

TEST(a_resumed_run_is_the_unbroken_one)
{
    for (int v = 0; v < VARIANTS; v++)
        margin_check_resume(variants[v]);
}

TEST(another_surrogate_refuses_the_checkpoint)
{
    margin_set s = margin_set_random(14, 30, 4, 0.3);
    char file[64];
    snprintf(file, sizeof file, "margin_settings.%d", (int)getpid());
    mgv_fit a, b;
    margin_open(&a, &s, "solver=momentum_margin");
    CHECK_OK(a.ctx, mgv_solver_checkpoint(a.ctx, a.solver, file));
    margin_open(&b, &s, "solver=momentum_margin surrogate=logistic");
    CHECK_FAILS(b.ctx, mgv_solver_resume(b.ctx, b.solver, file), MGV_E_INPUT, "settings");
    remove(file);
    mgv_fit_free(&a);
    mgv_fit_free(&b);
    margin_set_free(&s);
}

int main(void)
{
    return RUN(trajectories, theorem_3_1, bounds_hold_at_every_step, large_steps_are_ahead,
               the_answer_is_feasible_and_certified, sampling_follows_the_seed,
               no_margin_is_never_claimed, rows_without_weight_are_not_there, units_do_not_matter,
               same_bits_for_threads, a_resumed_run_is_the_unbroken_one,
               another_surrogate_refuses_the_checkpoint);
}
