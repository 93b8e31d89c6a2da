/* test_margin_baselines.c - laws of every baseline, and what each is known for. */
#include "margin_runs.h"

static const char *const baselines[] = {
    "solver=perceptron seed=1",
    "solver=batch_perceptron",
    "solver=batch_perceptron perceptron_form=projected",
    "solver=normalized_gd",
    "solver=normalized_gd surrogate=logistic",
    "solver=gd",
    "solver=gd surrogate=logistic",
    "solver=homotopic_subgradient",
    "solver=hinge_subgradient",
    "solver=mirror_sgd seed=2",
};
enum { BASELINES = sizeof baselines / sizeof *baselines };

static const char *const hard_margin_solvers[] = {"momentum_margin",
                                                  "perceptron",
                                                  "batch_perceptron",
                                                  "normalized_gd",
                                                  "gd",
                                                  "mirror_sgd",
                                                  "homotopic_subgradient",
                                                  "hinge_subgradient"};
enum { SOLVERS = sizeof hard_margin_solvers / sizeof *hard_margin_solvers };

/* ---- laws ------------------------------------------------------------------------------------ */

/* In other norms: the same laws, the certificate in that norm. */
TEST(bounds_hold_in_every_norm)
{
    static const struct {
        const char *set, *options;
    } cases[] = {{"margin_linear_p1_5", "solver=perceptron p=1.5"},
                 {"margin_linear_p1_5", "solver=mirror_sgd p=1.5"},
                 {"margin_wide_p1_5", "solver=perceptron p=1.5"},
                 {"margin_wide_p1_5", "solver=mirror_sgd p=1.5"},
                 {"margin_wide_plog", "solver=mirror_sgd p=sparse"},
                 {"margin_wide_plog", "solver=perceptron p=sparse"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        margin_set s = margin_set_load(cases[k].set);
        margin_check_bounds(&s, cases[k].options, 200);
        margin_check_units(&s, cases[k].options);
        margin_check_resume(cases[k].options);
        margin_set_free(&s);
    }
}

/* Equalities: mirror descent with step 1/max L finds the point of least norm. */
TEST(mirror_descent_meets_equalities)
{
    static const char *const names[] = {"margin_interp_p2", "margin_interp_p1_5"};
    for (int k = 0; k < 2; k++) {
        mgv_fit fit;
        int64_t n, d;
        json_t *v = mgv_vector_load(names[k]);
        double *X = mgv_vector_array(v, "X", NULL), *y = mgv_vector_array(v, "y", &n);
        double *want = mgv_vector_array(v, "theta_star", &d);
        mgv_fit_start(&fit, X, y, n, d,
                      "task=regress loss=equal intercept=no tol=1e-10 solver=mirror_sgd");
        mgv_settings_set(fit.ctx, fit.settings, "p", json_string_value(json_object_get(v, "p")));
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s", names[k]);
        for (int64_t j = 0; j < d; j++)
            CHECK_NEAR(mgv_fit_weights(&fit)[j], want[j], 1e-8, "%s: w[%d]", names[k], (int)j);
        mgv_fit_free(&fit);
        free(X);
        free(y);
        free(want);
        json_decref(v);
    }
}

TEST(bounds_hold_at_every_step)
{
    static const char *const sets[] = {"margin_linear_p2", "margin_wide_p2", "margin_toy_p2"};
    for (int k = 0; k < 3; k++) {
        margin_set s = margin_set_load(sets[k]);
        for (int v = 0; v < BASELINES; v++)
            margin_check_bounds(&s, baselines[v], 800);
        margin_set_free(&s);
    }
}

/* The exposed pair has A'b along w: what is called the dual belongs to these weights. */
TEST(weights_are_a_combination_of_rows)
{
    margin_set s = margin_set_load("margin_wide_p2");
    for (int v = 0; v < BASELINES; v++) {
        mgv_fit fit;
        margin_open(&fit, &s, baselines[v]);
        for (int t = 0; t < 60; t++)
            margin_step(&fit);
        const mgvi_iterate it = fit.solver->run.ops->expose(&fit.solver->run);
        const double w = margin_norm(it.w->x, s.d);
        double combined[20] = {0};
        CHECK(s.d == 20);
        for (int64_t i = 0; i < s.n; i++) {
            CHECK(it.u->x[i] <= 0);
            for (int64_t j = 0; j < s.d; j++)
                combined[j] -= it.u->x[i] * s.y[i] * s.X[i * s.d + j];
        }
        const double v_norm = margin_norm(combined, s.d);
        for (int64_t j = 0; j < s.d; j++)
            CHECK_NEAR(it.w->x[j] / w, combined[j] / v_norm, 1e-12, "%s: %d", baselines[v], (int)j);
        mgv_fit_free(&fit);
    }
    margin_set_free(&s);
}

TEST(no_margin_is_never_claimed)
{
    for (int v = 0; v < BASELINES; v++)
        margin_check_nonseparable(baselines[v], 0.3, 400);
}

TEST(rows_without_weight_are_not_there)
{
    for (int v = 0; v < BASELINES; v++)
        margin_check_weightless(baselines[v]);
}

TEST(units_do_not_matter)
{
    margin_set s = margin_set_load("margin_wide_p2");
    for (int v = 0; v < BASELINES; v++)
        margin_check_units(&s, baselines[v]);
    margin_set_free(&s);
}

TEST(same_bits_for_threads)
{
    for (int v = 0; v < BASELINES; v++)
        margin_check_threads(baselines[v]);
}

TEST(a_resumed_run_is_the_unbroken_one)
{
    for (int v = 0; v < BASELINES; v++)
        margin_check_resume(baselines[v]);
}

/* CSR rows through their own kernels, with scaled columns: the same path. */
TEST(sparse_and_dense_rows_take_the_same_path)
{
    margin_set s = margin_set_load("margin_linear_p2");
    int64_t ptr[17];
    int32_t idx[80];
    for (int i = 0; i <= 16; i++)
        ptr[i] = 5 * i;
    for (int t = 0; t < 80; t++)
        idx[t] = t % 5;
    for (int v = 0; v < BASELINES; v++) {
        mgv_fit fit[2];
        for (int k = 0; k < 2; k++) {
            mgv_fit_start(&fit[k], s.X, s.y, s.n, s.d, "loss=margin intercept=no scale=maxabs");
            mgv_fit_set(&fit[k], baselines[v]);
            if (k == 1) {
                mgv_data_free(fit[k].ctx, fit[k].data);
                CHECK_OK(fit[k].ctx, mgv_data_from_sparse(fit[k].ctx, MGV_CSR, MGV_F64, s.X, ptr,
                                                          idx, 16, 5, &fit[k].data));
                CHECK_OK(fit[k].ctx, mgv_data_set_labels(fit[k].ctx, fit[k].data, s.y));
            }
            mgv_fit *f = &fit[k];
            CHECK_OK(f->ctx, mgv_problem_new(f->ctx, f->data, f->settings, &f->problem));
            CHECK_OK(f->ctx, mgv_solver_new(f->ctx, f->problem, f->settings, &f->solver));
            for (int t = 0; t < 50; t++)
                margin_step(f);
        }
        const mgv_certificate a = margin_judge(&fit[0]), b = margin_judge(&fit[1]);
        CHECK_NEAR(a.margin, b.margin, 1e-12, "%s", baselines[v]);
        CHECK_NEAR(a.margin_upper, b.margin_upper, 1e-12, "%s", baselines[v]);
        mgv_fit_free(&fit[0]);
        mgv_fit_free(&fit[1]);
    }
    margin_set_free(&s);
}

/* ---- one by one ------------------------------------------------------------------------------ */

/* b counts updates, at most (R/gamma)^2 of them, and then nothing moves. */
TEST(the_perceptron_rests_at_a_separator)
{
    margin_set s = margin_set_load("margin_linear_p2");
    mgv_fit fit;
    margin_open(&fit, &s, "solver=perceptron");
    const double *b = margin_kept(&fit, "b"), most = pow(s.radius / s.gamma, 2);
    double before = -1, updates = 0;
    for (int pass = 0; pass < 2000 && updates != before; pass++) {
        before = updates;
        margin_step(&fit);
        updates = 0;
        for (int64_t i = 0; i < s.n; i++) {
            updates += b[i];
            CHECK(b[i] == floor(b[i]));
        }
        CHECK_LE(updates, most, "updates in pass %d", pass + 1);
    }
    const mgv_certificate c = margin_judge(&fit);
    CHECK(c.separable == 1);
    const double touched = fit.solver->run.touched;
    margin_step(&fit);
    CHECK(fit.solver->run.finished && touched == fit.solver->run.touched);
    CHECK(margin_judge(&fit).margin == c.margin);
    mgv_fit_free(&fit);
    margin_set_free(&s);
}

/* It goes on as long as a pass finds mistakes, for more than one pass here. */
TEST(the_perceptron_separates)
{
    margin_set s = margin_set_random(15, 2000, 10, 0.02);
    mgv_fit fit;
    int passes = 0;
    margin_open(&fit, &s, "solver=perceptron");
    do
        margin_step(&fit);
    while (++passes < 200 && margin_judge(&fit).separable != 1);
    CHECK_THAT(passes > 1 && passes < 200, "%d passes", passes);
    mgv_fit_free(&fit);
    margin_set_free(&s);
}

/* The first steps by hand: rows (3, 4) and (0, 2), R = 5. */
TEST(first_steps_by_hand)
{
    static const double X[] = {3, 4, 0, -2}, y[] = {1, -1};
    const margin_set s = {.n = 2, .d = 2, .X = (double *)X, .y = (double *)y};
    static const struct {
        const char *options;
        double w[2]; /* after two steps, of the rows (0.6, 0.8) and (0, 0.4) */
    } cases[] = {
        {"solver=batch_perceptron", {0.6, 1.2}}, /* a tie: the first row, then z = (1, 0.32) */
        {"solver=homotopic_subgradient", {0.3, 0.6 + 0.4 * 0.62996052494743658}},
        /* a + b, then z = (1.32, 0.48): half of it, and the second row times 2^(-2/3) */
    };
    for (int k = 0; k < 2; k++) {
        mgv_fit fit;
        margin_open(&fit, &s, cases[k].options);
        margin_step(&fit);
        margin_step(&fit);
        for (int j = 0; j < 2; j++)
            CHECK_NEAR(margin_kept(&fit, "w")[j], cases[k].w[j], 1e-14, "%s", cases[k].options);
        mgv_fit_free(&fit);
    }
    /* normalised: q = (1/2, 1/2); plain: mean loss 1, the same first step; logistic: half of it */
    static const char *const descents[] = {"solver=normalized_gd", "solver=gd",
                                           "solver=gd surrogate=logistic"};
    for (int k = 0; k < 3; k++) {
        mgv_fit fit;
        margin_open(&fit, &s, descents[k]);
        margin_step(&fit);
        const double *w = margin_kept(&fit, "w"), half = k == 2 ? 0.5 : 1;
        CHECK_NEAR(w[0], 0.3 * half, 1e-15, "%s", descents[k]);
        CHECK_NEAR(w[1], 0.6 * half, 1e-15, "%s", descents[k]);
        mgv_fit_free(&fit);
    }
}

/* Rates: 1/t for the counting perceptron and normalised gradients, far less for plain ones. */
TEST(the_order_of_the_papers)
{
    static const char *const methods[] = {"solver=momentum_margin", "solver=batch_perceptron",
                                          "solver=normalized_gd", "solver=gd"};
    margin_set s = margin_set_load("margin_linear_p2");
    double gap[4];
    for (int k = 0; k < 4; k++) {
        mgv_fit fit;
        margin_open(&fit, &s, methods[k]);
        for (int t = 0; t < 2000; t++)
            margin_step(&fit);
        gap[k] = margin_judge(&fit).relative_gap;
        mgv_fit_free(&fit);
    }
    CHECK_LE(10 * gap[0], gap[1], "momentum, batch perceptron");
    CHECK_LE(gap[0], 0.1 * gap[2], "momentum, normalised gradients");
    CHECK_LE(gap[2], 0.5 * gap[3], "normalised, plain gradients");
    margin_set_free(&s);
}

/* ---- refusals and reports -------------------------------------------------------------------- */

TEST(what_is_refused)
{
    margin_set s = margin_set_load("margin_linear_p2");
    for (int k = 0; k < SOLVERS; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, s.X, s.y, s.n, s.d, "loss=margin");
        CHECK_OK(fit.ctx,
                 mgv_settings_set(fit.ctx, fit.settings, "solver", hard_margin_solvers[k]));
        CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
        if (mgvi_solver_find(hard_margin_solvers[k])->no_intercept)
            CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                        MGV_E_UNSUPPORTED, "--no-intercept");
        mgv_problem_free(fit.ctx, fit.problem);
        fit.problem = NULL;
        mgv_fit_set(&fit, "loss=hinge intercept=no");
        CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
        CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                    MGV_E_UNSUPPORTED, "loss margin");
        mgv_fit_free(&fit);
    }
    const double X[] = {1e200, -1e200}, y[] = {1, -1};
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, 2, 1, "loss=margin intercept=no solver=gd");
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                MGV_E_INPUT, "too large");
    mgv_fit_free(&fit);
    margin_set_free(&s);
}

static mgv_status solve_with(mgv_ctx *ctx, const margin_set *s, const char *solver, mgv_fit *fit)
{
    MGVI_TRY(mgv_data_from_dense(ctx, MGV_F64, s->X, s->n, s->d, s->d, 1, &fit->data));
    MGVI_TRY(mgv_data_set_labels(ctx, fit->data, s->y));
    MGVI_TRY(mgv_settings_new(ctx, &fit->settings));
    MGVI_TRY(mgv_settings_set(ctx, fit->settings, "loss", "margin"));
    MGVI_TRY(mgv_settings_set(ctx, fit->settings, "intercept", "no"));
    MGVI_TRY(mgv_settings_set(ctx, fit->settings, "max_iter", "3"));
    MGVI_TRY(mgv_settings_set(ctx, fit->settings, "solver", solver));
    MGVI_TRY(mgv_problem_new(ctx, fit->data, fit->settings, &fit->problem));
    MGVI_TRY(mgv_solver_new(ctx, fit->problem, fit->settings, &fit->solver));
    return mgv_solver_run(ctx, fit->solver);
}

TEST(every_allocation_may_fail)
{
    margin_set s = margin_set_load("margin_linear_p2");
    for (int k = 0; k < SOLVERS; k++) {
        mgv_status st = MGV_E_MEMORY;
        for (long fail_at = 1; st != MGV_OK; fail_at++) {
            mgv_check_allocator a;
            mgv_check_allocator_init(&a, 0);
            mgv_fit fit = {0};
            assert_int_equal(mgv_ctx_new(&a.hooks, &fit.ctx), MGV_OK);
            a.fail_at = a.calls + fail_at;
            st = solve_with(fit.ctx, &s, hard_margin_solvers[k], &fit);
            CHECK_THAT(st == MGV_OK || (st == MGV_E_MEMORY && mgv_ctx_error(fit.ctx)[0]),
                       "%s, allocation %ld: %s", hard_margin_solvers[k], fail_at,
                       mgv_status_name(st));
            CHECK(st != MGV_OK || fail_at > 10);
            mgv_fit_free(&fit);
            assert_int_equal(a.live, 0);
        }
    }
    margin_set_free(&s);
}

/* Before the first step there is no dual point: no upper bound, no claim, JSON null. */
TEST(no_dual_point_is_no_upper_bound)
{
    margin_set s = margin_set_load("margin_linear_p2");
    for (int v = 0; v < BASELINES; v++) {
        mgv_fit fit;
        mgv_fit_start(&fit, s.X, s.y, s.n, s.d, "loss=margin intercept=no max_iter=0");
        mgv_fit_set(&fit, baselines[v]);
        mgv_fit_solve(&fit);
        CHECK(fit.run.stop == MGV_STOP_MAX_ITER && fit.certificate.separable == -1);
        CHECK(isinf(fit.certificate.margin_upper));
        char *text;
        CHECK_OK(fit.ctx, mgv_report_fit(fit.ctx, fit.solver, NULL, "x", NULL, &text));
        json_t *report = json_loads(text, 0, NULL), *c = json_object_get(report, "certificate");
        static const char *const unknown[] = {"margin_upper", "relative_gap", "separable",
                                              "primal",       "gap",          "proof"};
        for (int k = 0; k < 6; k++)
            CHECK_THAT(json_is_null(json_object_get(c, unknown[k])), "%s", unknown[k]);
        json_decref(report);
        mgv_string_free(fit.ctx, text);
        mgv_fit_free(&fit);
    }
    margin_set_free(&s);
}

/* Small and odd sets end with an answer or a proof. */
TEST(odd_sets)
{
    static const struct {
        double X[4], y[2];
        int64_t n, d;
        int separable; /* -1: the run may end undecided, but claims nothing */
    } cases[] = {
        {{3, 4}, {1}, 1, 2, 1},            /* one row */
        {{2, -1}, {1, -1}, 2, 1, 1},       /* one column */
        {{2, 2}, {1, 1}, 2, 1, 1},         /* one class, a duplicate */
        {{1, 2, 1, 2}, {1, -1}, 2, 2, -1}, /* the same row with both labels */
        {{0, 0, 1, 1}, {1, -1}, 2, 2, -1}, /* a row of zeros */
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int k = 0; k < SOLVERS; k++) {
            const margin_set s = {.n = cases[c].n,
                                  .d = cases[c].d,
                                  .X = (double *)cases[c].X,
                                  .y = (double *)cases[c].y};
            mgv_fit fit;
            char solver[64];
            snprintf(solver, sizeof solver, "solver=%s", hard_margin_solvers[k]);
            mgv_fit_start(&fit, s.X, s.y, s.n, s.d,
                          "task=classify loss=margin intercept=no max_iter=200");
            mgv_fit_set(&fit, solver);
            if (mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem) != MGV_OK) {
                CHECK(mgv_ctx_error(fit.ctx)[0]); /* one class only: a sentence */
                mgv_fit_free(&fit);
                continue;
            }
            CHECK_OK(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver));
            CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
            fit.certificate.size = sizeof fit.certificate;
            mgv_solver_describe(fit.solver, NULL, &fit.certificate);
            const int said = fit.certificate.separable;
            CHECK_THAT(cases[c].separable == 1 ? said == 1 : said != 1, "set %d, %s: %d", (int)c,
                       solver, said);
            mgv_fit_free(&fit);
        }
}

int main(void)
{
    return RUN(bounds_hold_in_every_norm, mirror_descent_meets_equalities,
               bounds_hold_at_every_step, weights_are_a_combination_of_rows,
               no_margin_is_never_claimed, rows_without_weight_are_not_there, units_do_not_matter,
               same_bits_for_threads, a_resumed_run_is_the_unbroken_one,
               sparse_and_dense_rows_take_the_same_path, the_perceptron_rests_at_a_separator,
               the_perceptron_separates, first_steps_by_hand, the_order_of_the_papers,
               what_is_refused, every_allocation_may_fail, no_dual_point_is_no_upper_bound,
               odd_sets);
}
