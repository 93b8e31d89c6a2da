/* test_mirror_coordinate.c - dual coordinate ascent in every norm: the stored solutions, laws at
 * every pass, and forms that must agree. */
#include "margin_runs.h"

#include "solver/shared/mirror_map.h"

/* ---- stored solutions ------------------------------------------------------------------------ */

static const char *const steps[] = {"exact_steps=yes", "exact_steps=no"};

static void check_weights(const char *name, const double *w, const double *want, int64_t d,
                          double tolerance)
{
    const double size = mgvi_lp_norm(want, d, 2);
    for (int64_t j = 0; j < d; j++)
        CHECK_NEAR(w[j], want[j], tolerance * size, "%s: w[%d]", name, (int)j);
}

TEST(margins_of_the_stored_sets)
{
    static const char *const names[] = {"margin_linear_p2", "margin_linear_p1_5", "margin_wide_p2",
                                        "margin_wide_p1_5", "margin_wide_plog"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (int exact = 0; exact < 2; exact++) {
            mgv_fit fit;
            char options[160];
            json_t *v = mgv_vector_load(names[k]);
            margin_set set = margin_set_load(names[k]);
            double *want = mgv_vector_array(v, "w_star", NULL);
            snprintf(options, sizeof options,
                     "loss=margin intercept=no p=%s solver=mirror_coordinate tol=1e-12 %s",
                     json_string_value(json_object_get(v, "p")), steps[exact]);
            mgv_fit_start(&fit, set.X, set.y, set.n, set.d, options);
            mgv_fit_solve(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s, %s", names[k], steps[exact]);
            CHECK_NEAR(fit.certificate.margin, set.gamma, 1e-12 * set.gamma, "%s", names[k]);
            CHECK_NEAR(fit.certificate.margin_upper, set.gamma, 1e-12 * set.gamma, "%s", names[k]);
            double least = INFINITY, *w = malloc((size_t)set.d * sizeof *w);
            for (int64_t i = 0; i < set.n; i++) {
                double z = 0;
                for (int64_t j = 0; j < set.d; j++)
                    z += set.y[i] * set.X[i * set.d + j] * mgv_fit_weights(&fit)[j];
                least = fmin(least, z);
            }
            for (int64_t j = 0; j < set.d; j++)
                w[j] = mgv_fit_weights(&fit)[j] / least;
            check_weights(names[k], w, want, set.d, 1e-6); /* the square root of the gap */
            free(w);
            free(want);
            margin_set_free(&set);
            mgv_fit_free(&fit);
            json_decref(v);
        }
}

/* x_i.w = y_i, or within 0.3 of the middle of [lo, up]. */
static void check_constraints(const char *name, const char *loss, const char *steps_of)
{
    mgv_fit fit;
    char options[160];
    int64_t n, d;
    json_t *v = mgv_vector_load(name);
    const bool interval = strcmp(loss, "interval") == 0;
    double *X = mgv_vector_array(v, "X", NULL), *want = mgv_vector_array(v, "theta_star", &d);
    double *y = mgv_vector_array(v, interval ? "lo" : "y", &n);
    for (int64_t i = 0; i < n && interval; i++)
        y[i] += 0.3;
    snprintf(
        options, sizeof options,
        "task=regress loss=%s epsilon=0.3 intercept=no p=%s solver=mirror_coordinate tol=1e-12 %s",
        loss, json_string_value(json_object_get(v, "p")), steps_of);
    mgv_fit_start(&fit, X, y, n, d, options);
    mgv_fit_solve(&fit);
    CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s, %s", name, steps_of);
    check_weights(name, mgv_fit_weights(&fit), want, d, 1e-11);
    mgv_fit_free(&fit);
    free(X);
    free(y);
    free(want);
    json_decref(v);
}

TEST(equalities_and_intervals_of_the_stored_sets)
{
    for (int exact = 0; exact < 2; exact++) {
        check_constraints("margin_interp_p2", "equal", steps[exact]);
        check_constraints("margin_interp_p1_5", "equal", steps[exact]);
        check_constraints("margin_interval_p2", "interval", steps[exact]);
        check_constraints("margin_interval_p1_5", "interval", steps[exact]);
    }
}

/* x_i.w >= l_i on the simplex is (x_i + 1 - l_i).w >= 1; a second class is made by signs. */
TEST(entropy_on_the_simplex)
{
    int64_t n, d;
    json_t *v = mgv_vector_load("margin_entropy_simplex");
    double *X = mgv_vector_array(v, "X", NULL), *low = mgv_vector_array(v, "l", &n);
    double *want = mgv_vector_array(v, "theta_star", &d);
    double *y = malloc((size_t)n * sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        y[i] = i % 2 ? -1 : 1;
        for (int64_t j = 0; j < d; j++)
            X[i * d + j] = y[i] * (X[i * d + j] + 1 - low[i]);
    }
    for (int exact = 0; exact < 2; exact++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, n, d, "loss=margin penalty=entropy intercept=no tol=1e-10");
        mgv_fit_set(&fit, steps[exact]);
        mgv_fit_solve(&fit);
        assert_string_equal(fit.run.solver, "mirror_coordinate");
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && isnan(fit.certificate.margin),
                   "%s, gap %g, P %.17g D %.17g", mgv_stop_name(fit.run.stop),
                   fit.certificate.relative_gap, fit.certificate.primal, fit.certificate.dual);
        CHECK_NEAR(fit.certificate.dual, mgv_vector_number(json_object_get(v, "psi_star")), 1e-10,
                   "psi*");
        check_weights("entropy", mgv_fit_weights(&fit), want, d, 1e-9);
        mgv_fit_free(&fit);
    }
    free(X);
    free(low);
    free(want);
    free(y);
    json_decref(v);
}

/* ---- laws ------------------------------------------------------------------------------------ */

/* D never falls, and the margin lies between its bounds, at every pass. D in the map's own form:
 * sum b - |A'b|_q^2/2. */
TEST(the_dual_value_never_falls)
{
    static const char *const names[] = {"margin_linear_p1_5", "margin_wide_plog"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (int exact = 0; exact < 2; exact++) {
            mgv_fit fit;
            json_t *v = mgv_vector_load(names[k]);
            margin_set set = margin_set_load(names[k]);
            char options[120];
            snprintf(options, sizeof options, "solver=mirror_coordinate p=%s %s",
                     json_string_value(json_object_get(v, "p")), steps[exact]);
            margin_open(&fit, &set, options);
            const double p = fit.problem->p;
            double before = 0;
            for (int pass = 0; pass < 60; pass++) {
                margin_step(&fit);
                const mgvi_iterate it = fit.solver->run.ops->expose(&fit.solver->run);
                double sum;
                mgvi_vec_sum(fit.ctx, it.u, &sum);
                const double norm = mgvi_lp_norm(it.w->x, set.d, p); /* = |v|_q of the map */
                /* u is shown in the units of 1/p |w|_p^p: the map's is u N^((q-2)/(q-1)) */
                const double q = mgvi_dual_exponent(p);
                const double dual = -sum * pow(norm, (q - 2) / (q - 1)) - norm * norm / 2;
                CHECK_LE(before, dual * (1 + 1e-13), "%s, %s, pass %d", names[k], steps[exact],
                         pass);
                before = dual;
                const mgv_certificate c = margin_judge(&fit);
                CHECK_LE(c.margin, set.gamma * (1 + 1e-13), "%s, pass %d", names[k], pass);
                CHECK_LE(set.gamma, c.margin_upper * (1 + 1e-13), "%s, pass %d", names[k], pass);
            }
            margin_set_free(&set);
            mgv_fit_free(&fit);
            json_decref(v);
        }
}

/* Sparse rows, dense rows and rows with zeros stored take the same steps. */
TEST(sparse_and_dense_rows_take_the_same_steps)
{
    enum { N = 40, D = 30 };
    static const char *const cases[] = {"loss=margin p=1.5", "loss=margin p=sparse",
                                        "loss=hinge lambda=0.1 penalty=entropy",
                                        "loss=hinge p=1.4 C=1"};
    mgvi_rng rng = mgvi_rng_seed(2);
    double X[N * D] = {0}, y[N], val[N * D];
    int64_t ptr[N + 1] = {0};
    int32_t idx[N * D];
    for (int i = 0; i < N; i++) {
        double score = 0;
        ptr[i + 1] = ptr[i];
        for (int j = 0; j < D; j++) {
            if (mgvi_rng_below(&rng, 4))
                continue;
            X[i * D + j] = val[ptr[i + 1]] = mgvi_rng_normal(&rng);
            idx[ptr[i + 1]++] = j;
            score += X[i * D + j] * (j % 2 ? 1 : -0.5);
        }
        y[i] = score > 0 ? 1 : -1;
    }
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        mgv_fit dense, sparse;
        mgv_fit_start(&dense, X, y, N, D, "solver=mirror_coordinate intercept=no");
        mgv_fit_set(&dense, cases[k]);
        mgv_fit_start(&sparse, X, y, N, D, "solver=mirror_coordinate intercept=no");
        mgv_fit_set(&sparse, cases[k]);
        mgv_data_free(sparse.ctx, sparse.data);
        CHECK_OK(sparse.ctx, mgv_data_from_sparse(sparse.ctx, MGV_CSR, MGV_F64, val, ptr, idx, N, D,
                                                  &sparse.data));
        CHECK_OK(sparse.ctx, mgv_data_set_labels(sparse.ctx, sparse.data, y));
        mgv_fit *both[2] = {&dense, &sparse};
        for (int t = 0; t < 2; t++) {
            mgv_fit *f = both[t];
            CHECK_OK(f->ctx, mgv_problem_new(f->ctx, f->data, f->settings, &f->problem));
            CHECK_OK(f->ctx, mgv_solver_new(f->ctx, f->problem, f->settings, &f->solver));
            for (int pass = 0; pass < 15; pass++)
                margin_step(f);
        }
        const mgvi_iterate a = dense.solver->run.ops->expose(&dense.solver->run);
        double *w = malloc((size_t)a.w->n * sizeof *w);
        memcpy(w, a.w->x, (size_t)a.w->n * sizeof *w);
        const mgvi_iterate b = sparse.solver->run.ops->expose(&sparse.solver->run);
        check_weights(cases[k], b.w->x, w, D, 1e-10);
        free(w);
        mgv_fit_free(&dense);
        mgv_fit_free(&sparse);
    }
}

/* With an intercept sparse rows are taken without their centre, without one in full: the optimum
 * knows nothing of it. */
TEST(centred_columns_have_the_same_optimum)
{
    enum { N = 40, D = 12 };
    static const char *const cases[] = {
        "loss=hinge p=1.4 C=1 scale=std", "loss=hinge p=1.4 C=1 scale=std intercept=no",
        "loss=margin p=1.5", "loss=squared penalty=entropy lambda=0.1 scale=std"};
    mgvi_rng rng = mgvi_rng_seed(5);
    double X[N * D] = {0}, y[N], val[N * D];
    int64_t ptr[N + 1] = {0};
    int32_t idx[N * D];
    for (int i = 0; i < N; i++) {
        y[i] = i % 2 ? 1 : -1;
        ptr[i + 1] = ptr[i];
        for (int j = 0; j < D; j++) {
            if (j && mgvi_rng_below(&rng, 3))
                continue;
            X[i * D + j] = val[ptr[i + 1]] = 2 + mgvi_rng_normal(&rng) + (j ? 0 : 4 * y[i]);
            idx[ptr[i + 1]++] = j;
        }
    }
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double primal[2];
        for (int t = 0; t < 2; t++) {
            mgv_fit fit;
            mgv_fit_start(&fit, X, y, N, D, "solver=mirror_coordinate tol=1e-8");
            mgv_fit_set(&fit, cases[k]);
            if (t) {
                mgv_data_free(fit.ctx, fit.data);
                CHECK_OK(fit.ctx, mgv_data_from_sparse(fit.ctx, MGV_CSR, MGV_F64, val, ptr, idx, N,
                                                       D, &fit.data));
                CHECK_OK(fit.ctx, mgv_data_set_labels(fit.ctx, fit.data, y));
            }
            mgv_fit_solve(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s: gap %g", cases[k],
                       fit.certificate.relative_gap);
            primal[t] = fit.certificate.primal;
            mgv_fit_free(&fit);
        }
        CHECK_NEAR(primal[0], primal[1], 1e-7 * primal[0], "%s", cases[k]);
    }
}

/* The intercept by multipliers against a constant column of tiny weight, which costs nothing. */
TEST(the_intercept_is_free)
{
    static const char *const norms[] = {"p=2", "p=1.5", "p=sparse"};
    for (int k = 0; k < 3; k++) {
        mgv_fit fit;
        margin_set set = margin_set_random(4, 40, 6, 1);
        for (int64_t i = 0; i < set.n; i++)
            set.X[i * set.d + 1] += 30; /* the plane is far from the origin */
        mgv_fit_start(&fit, set.X, set.y, set.n, set.d,
                      "loss=margin solver=mirror_coordinate tol=1e-7");
        mgv_fit_set(&fit, norms[k]);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s: gap %g", norms[k],
                   fit.certificate.relative_gap);
        mgvi_vec z =
            mgvi_vec_wrap((double[40]){0}, 40, MGVI_ROWS); /* its own intercept attains it */
        double least;
        mgvi_op_mul(fit.problem->A, 1, &fit.solver->answer.w, 0, &z);
        mgvi_vec_min(fit.ctx, &z, &least);
        CHECK_NEAR(least / mgvi_lp_norm(mgv_fit_weights(&fit), set.d, fit.problem->p),
                   fit.certificate.margin, 1e-12, "%s: attained", norms[k]);
        if (k == 0) {
            mgv_fit exact;
            mgv_fit_start(&exact, set.X, set.y, set.n, set.d, "loss=margin solver=exact_margin");
            mgv_fit_solve(&exact);
            CHECK_NEAR(fit.certificate.margin, exact.certificate.margin,
                       1e-6 * exact.certificate.margin, "exact");
            mgv_fit_free(&exact);
        }
        mgv_fit_free(&fit);
        margin_set_free(&set);
    }
}

/* For p = 2 and a soft loss it is dual_coordinate, whose answer it must find. */
TEST(soft_losses_meet_dual_coordinate)
{
    static const char *const losses[] = {"hinge", "squared_hinge", "smooth_hinge", "logistic",
                                         "squared"};
    double *X, *y;
    mgv_random_set(8, 60, 5, 0.5, &X, &y);
    for (size_t k = 0; k < sizeof losses / sizeof *losses; k++) {
        double primal[2];
        for (int t = 0; t < 2; t++) {
            mgv_fit fit;
            char options[120];
            snprintf(options, sizeof options, "loss=%s C=2 tol=1e-9 solver=%s", losses[k],
                     t ? "dual_coordinate" : "mirror_coordinate");
            mgv_fit_start(&fit, X, y, 60, 5, options);
            mgv_fit_solve(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s", options);
            primal[t] = fit.certificate.primal;
            mgv_fit_free(&fit);
        }
        CHECK_NEAR(primal[0], primal[1], 2e-9 * primal[1], "%s", losses[k]);
    }
    for (size_t k = 0; k < sizeof losses / sizeof *losses; k++) { /* and other penalties end too */
        static const char *const others[] = {"p=1.3", "penalty=entropy"};
        for (int t = 0; t < 2; t++) {
            mgv_fit fit;
            char options[120];
            snprintf(options, sizeof options, "loss=%s lambda=0.1 tol=1e-8 %s", losses[k],
                     others[t]);
            mgv_fit_start(&fit, X, y, 60, 5, options);
            mgv_fit_solve(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s: gap %g", options,
                       fit.certificate.relative_gap);
            mgv_fit_free(&fit);
        }
    }
    free(X);
    free(y);
}

/* ---- no solution ----------------------------------------------------------------------------- */

TEST(contradictions_are_proven)
{
    enum { N = 12, D = 3 };
    mgvi_rng rng = mgvi_rng_seed(6);
    double X[N * D], y[N];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < D; j++)
            X[i * D + j] = mgvi_rng_normal(&rng);
        y[i] = X[i * D] + 0.5 * mgvi_rng_normal(&rng);
    }
    static const struct {
        const char *options;
        mgv_stop stop;
    } cases[] = {{"loss=equal", MGV_STOP_INFEASIBLE},
                 {"loss=equal p=1.5", MGV_STOP_INFEASIBLE},
                 {"loss=equal intercept=no", MGV_STOP_INFEASIBLE},
                 {"loss=interval epsilon=0.05 p=1.3", MGV_STOP_INFEASIBLE},
                 {"loss=interval epsilon=5 p=1.3", MGV_STOP_CERTIFIED},
                 {"loss=interval epsilon=0.05 penalty=entropy", MGV_STOP_INFEASIBLE}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, "task=regress solver=mirror_coordinate");
        mgv_fit_set(&fit, cases[k].options);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == cases[k].stop, "%s: stop %d", cases[k].options,
                   (int)fit.run.stop);
        const mgvi_vec *u = &fit.solver->answer.u;
        if (fit.run.stop == MGV_STOP_INFEASIBLE && !isnan(fit.certificate.proof_norm)) {
            /* A'u = 0, and the largest u.z over the sets is negative: recomputed here. */
            double worst = 0, support = 0, eps = fit.settings->epsilon;
            const bool equal = strcmp(fit.problem->loss->name, "equal") == 0;
            for (int j = 0; j <= D; j++) {
                double sum = 0;
                for (int i = 0; i < N; i++)
                    sum += u->x[i] * (j < D ? X[i * D + j] : fit.problem->free_cols ? 1 : 0);
                worst = fmax(worst, fabs(sum));
            }
            for (int i = 0; i < N; i++)
                support += u->x[i] * y[i] + (equal ? 0 : eps * fabs(u->x[i]));
            CHECK_LE(worst, 1e-13, "%s", cases[k].options);
            CHECK_LE(support, -1e-3, "%s", cases[k].options);
        }
        mgv_fit_free(&fit);
    }
}

TEST(rows_of_zeros_and_single_rows)
{
    const double X[] = {0, 0, 1, 2, -1, 1}, y[] = {1, 1, -1};
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, 3, 2, "loss=margin intercept=no p=1.5 solver=mirror_coordinate");
    mgv_fit_solve(&fit);
    CHECK(fit.run.stop == MGV_STOP_INFEASIBLE && fit.solver->answer.u.x[0] == -1);
    mgv_fit_free(&fit);
    const double one[] = {3, 4};
    mgv_fit_start(&fit, one, (const double[]){10}, 1, 2,
                  "task=regress loss=equal intercept=no p=1.5 tol=1e-12");
    mgv_fit_solve(&fit); /* w = t (9, 16): w_j^(1/2) proportional to x_j, 27 + 64 = 91 */
    CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
    check_weights("one row", mgv_fit_weights(&fit), (const double[]){90.0 / 91, 160.0 / 91}, 2,
                  1e-11);
    mgv_fit_free(&fit);
}

/* ---- runs ------------------------------------------------------------------------------------ */

TEST(the_run_of_every_margin_solver)
{
    static const char *const options[] = {
        "solver=mirror_coordinate p=1.4", "solver=mirror_coordinate p=1.4 exact_steps=no",
        "solver=mirror_coordinate p=sparse", "solver=mirror_coordinate p=2"};
    margin_set set = margin_set_load("margin_linear_p2");
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        margin_check_resume(options[k]);
        margin_check_weightless(options[k]);
        margin_check_units(&set, options[k]);
        margin_check_nonseparable(options[k], 0.1, 60);
    }
    margin_check_resume("solver=mirror_coordinate p=1.4 intercept=yes");
    margin_check_threads("solver=mirror_coordinate p=1.5");
    margin_set_free(&set);
}

/* A run that starts where another ended is there. */
TEST(a_warm_start_is_where_it_was)
{
    static const char *const cases[] = {"loss=hinge lambda=0.05 p=1.4",
                                        "loss=logistic lambda=0.05 p=1.4 scale=std",
                                        "loss=logistic lambda=0.1 penalty=entropy"};
    double *X, *y;
    mgv_random_set(8, 60, 5, 0.5, &X, &y);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        mgv_fit cold, warm;
        mgv_fit_start(&cold, X, y, 60, 5, "tol=1e-7 solver=mirror_coordinate");
        mgv_fit_set(&cold, cases[k]);
        mgv_fit_solve(&cold);
        CHECK(cold.run.stop == MGV_STOP_CERTIFIED && cold.run.iterations > 2);
        mgv_fit_start(&warm, X, y, 60, 5, "tol=1e-6 max_iter=2 solver=mirror_coordinate");
        mgv_fit_set(&warm, cases[k]);
        CHECK_OK(warm.ctx, mgv_problem_new(warm.ctx, warm.data, warm.settings, &warm.problem));
        CHECK_OK(warm.ctx, mgv_solver_new(warm.ctx, warm.problem, warm.settings, &warm.solver));
        CHECK_OK(warm.ctx,
                 mgvi_driver_start(warm.solver, cold.solver->answer.w.x, cold.solver->answer.u.x));
        CHECK_OK(warm.ctx, mgv_solver_run(warm.ctx, warm.solver));
        CHECK_THAT(warm.solver->stop == MGV_STOP_CERTIFIED, "%s: gap %g", cases[k],
                   warm.solver->answer_verdict.certificate.relative_gap);
        mgv_fit_free(&cold);
        mgv_fit_free(&warm);
    }
    free(X);
    free(y);
}

/* Every allocation of the new solvers may fail: a sentence, no leak. */
TEST(every_allocation_may_fail)
{
    static const char *const cases[] = {
        "loss=margin p=1.5 solver=mirror_coordinate", "loss=hinge penalty=entropy lambda=1",
        "loss=margin p=1.5 intercept=no solver=accelerated_coordinate",
        "loss=margin p=1.5 intercept=no solver=perceptron",
        "task=regress loss=equal penalty=entropy intercept=no solver=mirror_sgd"};
    double *X, *y;
    mgv_random_set(31, 12, 20, 0.5, &X, &y);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (long fail_at = 1;; fail_at++) {
            mgv_check_allocator a;
            mgv_fit fit = {0};
            mgv_check_allocator_init(&a, 0);
            assert_int_equal(mgv_ctx_new(&a.hooks, &fit.ctx), MGV_OK);
            CHECK_OK(fit.ctx, mgv_data_from_dense(fit.ctx, MGV_F64, X, 12, 20, 20, 1, &fit.data));
            CHECK_OK(fit.ctx, mgv_data_set_labels(fit.ctx, fit.data, y));
            CHECK_OK(fit.ctx, mgv_settings_new(fit.ctx, &fit.settings));
            mgv_fit_set(&fit, cases[k]);
            mgv_fit_set(&fit, "max_iter=20");
            a.fail_at = a.calls + fail_at;
            mgv_status st = mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem);
            if (st == MGV_OK)
                st = mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver);
            if (st == MGV_OK)
                st = mgv_solver_run(fit.ctx, fit.solver);
            CHECK_THAT(st == MGV_OK || (st == MGV_E_MEMORY && mgv_ctx_error(fit.ctx)[0]),
                       "%s: allocation %ld: %s", cases[k], fail_at, mgv_ctx_error(fit.ctx));
            mgv_fit_free(&fit);
            assert_int_equal(a.live, 0);
            if (st == MGV_OK)
                break;
        }
    free(X);
    free(y);
}

int main(void)
{
    return RUN(margins_of_the_stored_sets, equalities_and_intervals_of_the_stored_sets,
               entropy_on_the_simplex, the_dual_value_never_falls,
               sparse_and_dense_rows_take_the_same_steps, centred_columns_have_the_same_optimum,
               the_intercept_is_free, soft_losses_meet_dual_coordinate, contradictions_are_proven,
               rows_of_zeros_and_single_rows, the_run_of_every_margin_solver,
               a_warm_start_is_where_it_was, every_allocation_may_fail);
}
