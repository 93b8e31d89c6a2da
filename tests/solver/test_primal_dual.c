/* test_primal_dual.c - stored interpolations and their trace, restarts, means, steps, an intercept,
 * other losses. */
#include "regression.h"

/* ---- stored interpolations ------------------------------------------------------------------- */

static void set_groups(mgv_fit *fit, const json_t *groups, int64_t d)
{
    int64_t *group = calloc((size_t)d, sizeof *group);
    for (size_t g = 0; g < json_array_size(groups); g++)
        for (size_t i = 0; i < json_array_size(json_array_get(groups, g)); i++)
            group[json_integer_value(json_array_get(json_array_get(groups, g), i))] = (int64_t)g;
    CHECK_OK(fit->ctx, mgv_data_set_groups(fit->ctx, fit->data, group));
    free(group);
}

static const char *penalty_of(const char *name)
{
    static const char *const names[][2] = {
        {"basis_pursuit", "l1"}, {"basis_pursuit_nonneg", "l1_nonneg"},
        {"elastic_net", "enet"}, {"group_l2", "group"},
        {"linf", "linf"},        {"owl", "owl"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], name) == 0)
            return names[i][1];
    return NULL;
}

static void set_case(mgv_fit *fit, const json_t *entry, int64_t d)
{
    char text[600];
    const char *name = json_string_value(json_object_get(entry, "name"));
    CHECK_OK(fit->ctx, mgv_settings_set(fit->ctx, fit->settings, "penalty", penalty_of(name)));
    if (json_object_get(entry, "groups"))
        set_groups(fit, json_object_get(entry, "groups"), d);
    if (json_object_get(entry, "gamma")) {
        snprintf(text, sizeof text, "%.17g", json_number_value(json_object_get(entry, "gamma")));
        CHECK_OK(fit->ctx, mgv_settings_set(fit->ctx, fit->settings, "lambda", text));
    }
    if (json_object_get(entry, "weights")) {
        double *weights = mgv_vector_array(entry, "weights", NULL);
        size_t at = (size_t)snprintf(text, sizeof text, "list:");
        for (int64_t i = 0; i < d; i++)
            at +=
                (size_t)snprintf(text + at, sizeof text - at, "%s%.17g", i ? "," : "", weights[i]);
        CHECK_OK(fit->ctx, mgv_settings_set(fit->ctx, fit->settings, "owl", text));
        free(weights);
    }
}

/* Every stored interpolation to 1e-9 with its certificate, with and without restarts. */
TEST(stored_interpolations_are_reached)
{
    static const char *const options[] = {"primal_dual.restart=yes", "primal_dual.restart=no",
                                          "primal_dual.restart=yes sigma_factor=1"};
    json_t *root = mgv_vector_load("sparse_interpolation"), *entry;
    size_t at;
    int seen = 0;
    json_array_foreach(json_object_get(root, "cases"), at, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        int64_t n, d;
        double *A = mgv_vector_array(entry, "A", NULL), *b = mgv_vector_array(entry, "b", &n),
               *x = mgv_vector_array(entry, "x", &d);
        const double value = json_number_value(json_object_get(entry, "value"));
        for (int o = 0; o < 3; o++) {
            mgv_fit fit;
            mgv_fit_start(&fit, A, b, n, d,
                          "task=regress loss=equal solver=primal_dual intercept=no tol=1e-10 "
                          "max_iter=200000 group_weight=one");
            mgv_fit_set(&fit, options[o]);
            set_case(&fit, entry, d);
            mgv_fit_solve(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s, %s: %s after %d", name, options[o],
                       mgv_stop_name(fit.run.stop), (int)fit.run.iterations);
            CHECK_NEAR(fit.certificate.primal, value, 1e-9 * value, "%s", name);
            CHECK_NEAR(fit.certificate.dual, value, 1e-9 * value, "%s", name);
            for (int64_t j = 0; j < d; j++)
                CHECK_NEAR(mgv_fit_weights(&fit)[j], x[j], 1e-8, "%s, %s: weight %d", name,
                           options[o], (int)j);
            mgv_fit_free(&fit);
        }
        free(A), free(b), free(x);
        seen++;
    }
    CHECK(seen == 6);
    json_decref(root);
}

/* The first eight iterates of the paper's iteration, their mean and u, to 1e-12: in the exact form,
 * and in the lazy form with every column in every step. */
TEST(the_stored_trace_is_followed)
{
    json_t *root = mgv_vector_load("sparse_interpolation");
    const json_t *trace = json_object_get(root, "trace"),
                 *iterates = json_object_get(trace, "iterates");
    int64_t n, d;
    double *A = mgv_vector_array(trace, "A", NULL), *b = mgv_vector_array(trace, "b", &n),
           *x0 = mgv_vector_array(trace, "x0", &d);
    char options[300];
    snprintf(options, sizeof options,
             "task=regress loss=equal penalty=l1 solver=primal_dual intercept=no "
             "primal_dual.restart=no sigma=%.17g "
             "lipschitz=%.17g",
             json_number_value(json_object_get(trace, "sigma")),
             pow(json_number_value(json_object_get(trace, "opnorm")), 2));
    for (int form = 0; form < 2; form++) {
        mgv_fit last, mean;
        open_rows(&last, A, b, n, d, options);
        mgv_fit_start(&mean, A, b, n, d, options);
        mgv_fit_set(&mean, "iterate=average");
        CHECK_OK(mean.ctx, mgv_problem_new(mean.ctx, mean.data, mean.settings, &mean.problem));
        CHECK_OK(mean.ctx, mgv_solver_new(mean.ctx, mean.problem, mean.settings, &mean.solver));
        for (size_t k = 0; k < json_array_size(iterates); k++) {
            const json_t *want = json_array_get(iterates, k);
            double *x = mgv_vector_array(want, "x", NULL),
                   *avg = mgv_vector_array(want, "x_avg", NULL),
                   *y = mgv_vector_array(want, "y", NULL);
            const mgvi_iterate it = step_to(&last, (int64_t)k + 1),
                               av = step_to(&mean, (int64_t)k + 1);
            for (int64_t j = 0; j < d; j++) {
                CHECK_NEAR(it.w->x[j], x[j], 1e-12, "x_%d of iterate %d", (int)j, (int)k + 1);
                CHECK_NEAR(av.w->x[j], avg[j], 1e-12, "mean_%d of iterate %d", (int)j, (int)k + 1);
            }
            for (int64_t i = 0; i < n; i++)
                CHECK_NEAR(it.u->x[i], y[i], 1e-12, "y_%d of iterate %d", (int)i, (int)k + 1);
            free(x), free(avg), free(y);
        }
        mgv_fit_free(&last);
        mgv_fit_free(&mean);
        strcat(options, " select=last lazy=2");
    }
    free(A), free(b), free(x0);
    json_decref(root);
}

/* ---- random problems ------------------------------------------------------------------------- */

/* Exact recovery of sparse weights; restarts save at least a third of the steps. */
TEST(restarts_find_the_sparse_weights_sooner)
{
    int64_t with = 0, without = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        regression r = regression_new(seed, 60, 150, 6, INFINITY);
        for (int restart = 0; restart < 2; restart++) {
            mgv_fit fit;
            solve(&fit, &r,
                  restart ? PLAIN "tol=1e-8"
                          : PLAIN "tol=1e-8 primal_dual.restart=no max_iter=100000");
            CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
            CHECK_LE(distance(mgv_fit_weights(&fit), r.w, r.d), 1e-5, "seed %d", (int)seed);
            *(restart ? &with : &without) += fit.run.iterations;
            mgv_fit_free(&fit);
        }
        regression_free(&r);
    }
    CHECK_LE((double)with, 0.67 * (double)without, "steps with restarts");
}

/* An intercept is what centring the columns and the target gives. */
TEST(an_intercept_is_centring)
{
    regression r = regression_new(4, 30, 50, 4, 20);
    for (int64_t i = 0; i < r.n; i++) {
        r.y[i] += 100;
        for (int64_t j = 0; j < r.d; j++)
            r.X[i * r.d + j] += (double)(j % 7);
    }
    mgv_fit with, centred;
    solve(&with, &r,
          "task=regress loss=equal penalty=l1 solver=primal_dual tol=1e-9 max_iter=100000");
    for (int64_t j = -1; j < r.d; j++) {
        double *x = j < 0 ? r.y : r.X + j, mean = 0;
        const int64_t stride = j < 0 ? 1 : r.d;
        for (int64_t i = 0; i < r.n; i++)
            mean += x[i * stride] / (double)r.n;
        for (int64_t i = 0; i < r.n; i++)
            x[i * stride] -= mean;
    }
    solve(&centred, &r, PLAIN "tol=1e-9 max_iter=100000");
    CHECK(with.run.stop == MGV_STOP_CERTIFIED && centred.run.stop == MGV_STOP_CERTIFIED);
    CHECK_NEAR(with.certificate.primal, centred.certificate.primal,
               1e-7 * centred.certificate.primal, "the least |w|_1");
    mgv_fit_free(&with);
    mgv_fit_free(&centred);
    regression_free(&r);
}

/* Columns of very different length: a step per column needs fewer iterations, to the same end. */
TEST(diagonal_steps_end_at_the_same_point)
{
    regression r = regression_new(5, 40, 60, 5, INFINITY);
    for (int64_t i = 0; i < r.n * r.d; i++)
        r.X[i] *= 1 + (double)(i % r.d % 9);
    double value[2];
    int64_t steps[2];
    for (int diagonal = 0; diagonal < 2; diagonal++) {
        mgv_fit fit;
        solve(&fit, &r, diagonal ? PLAIN "steps=diagonal tol=1e-7" : PLAIN "tol=1e-7");
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
        value[diagonal] = fit.certificate.primal;
        steps[diagonal] = fit.run.iterations;
        mgv_fit_free(&fit);
    }
    CHECK_NEAR(value[0], value[1], 1e-6 * value[0], "the least |w|_1");
    CHECK_LE((double)steps[1], (double)steps[0], "iterations");
    mgv_fit fit;
    mgv_fit_start(&fit, r.X, r.y, r.n, r.d,
                  "task=regress loss=equal penalty=linf intercept=no steps=diagonal");
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                MGV_E_UNSUPPORTED, "column by column");
    mgv_fit_free(&fit);
    regression_free(&r);
}

/* Regularised losses and inequalities against solvers that know them: the same optimum. */
TEST(other_losses_reach_their_optimum)
{
    static const char *const pairs[][2] = {
        {"task=regress loss=squared penalty=l1 mu=0.2", "solver=primal_coordinate"},
        {"task=regress loss=squared penalty=enet mu=0.1 lambda=0.3", "solver=primal_coordinate"},
        {"task=regress loss=huber penalty=l2 lambda=0.1", "solver=dual_coordinate"},
        {"task=regress loss=interval epsilon=0.5 penalty=l2", "solver=dual_coordinate"},
    };
    regression r = regression_new(6, 40, 25, 5, 3);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (strstr(pairs[i][0], "interval")) /* more columns than rows: something fits */
            r.n = 20;
        mgv_fit ours, theirs;
        char options[300];
        snprintf(options, sizeof options, "%s solver=primal_dual tol=1e-6 max_iter=100000",
                 pairs[i][0]);
        solve(&ours, &r, options);
        snprintf(options, sizeof options, "%s %s tol=1e-8", pairs[i][0], pairs[i][1]);
        solve(&theirs, &r, options);
        CHECK_THAT(ours.run.stop == MGV_STOP_CERTIFIED && theirs.run.stop == MGV_STOP_CERTIFIED,
                   "%s: %s, %s", pairs[i][0], mgv_stop_name(ours.run.stop),
                   mgv_stop_name(theirs.run.stop));
        CHECK_NEAR(ours.certificate.primal, theirs.certificate.primal,
                   3e-6 * fabs(theirs.certificate.primal), "%s", pairs[i][0]);
        mgv_fit_free(&ours);
        mgv_fit_free(&theirs);
    }
    regression_free(&r);
}

int main(void)
{
    return RUN(stored_interpolations_are_reached, the_stored_trace_is_followed,
               restarts_find_the_sparse_weights_sooner, an_intercept_is_centring,
               diagonal_steps_end_at_the_same_point, other_losses_reach_their_optimum);
}
