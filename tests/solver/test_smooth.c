/* test_smooth.c - primal_dual with a smooth F of the caller's, and with dual variables of their own
 * for the differences of a total variation. */
#include "regression.h"

#include "base/threads.h"

/* ---- F -------------------------------------------------------------------------------------- */

/* F(w) = gamma/2 |w - centre|^2 */
typedef struct bowl {
    double gamma, centre;
    int64_t d;
    int fail; /* what the callbacks answer */
} bowl;

static int bowl_value(void *user, const double *w, double *value)
{
    const bowl *b = user;
    *value = 0;
    for (int64_t j = 0; j < b->d; j++)
        *value += b->gamma / 2 * (w[j] - b->centre) * (w[j] - b->centre);
    return b->fail;
}

static int bowl_grad(void *user, const double *w, double *gradient)
{
    const bowl *b = user;
    for (int64_t j = 0; j < b->d; j++)
        gradient[j] = b->gamma * (w[j] - b->centre);
    return b->fail;
}

static mgv_smooth smooth_of(bowl *b)
{
    return (mgv_smooth){.size = sizeof(mgv_smooth),
                        .user = b,
                        .lipschitz = b->gamma,
                        .value = bowl_value,
                        .grad = bowl_grad};
}

/* A run that has F in its problem. */
static void solve_with(mgv_fit *fit, const regression *r, bowl *b, const char *options)
{
    const mgv_smooth F = smooth_of(b);
    mgv_fit_start(fit, r->X, r->y, r->n, r->d, options);
    CHECK_OK(fit->ctx, mgv_problem_new(fit->ctx, fit->data, fit->settings, &fit->problem));
    CHECK_OK(fit->ctx, mgv_problem_set_smooth(fit->ctx, fit->problem, &F));
    CHECK_OK(fit->ctx, mgv_solver_new(fit->ctx, fit->problem, fit->settings, &fit->solver));
    CHECK_OK(fit->ctx, mgv_solver_run(fit->ctx, fit->solver));
    describe(fit);
}

/* l1 with F = gamma/2 |w|^2 is the elastic net: the stored interpolation. */
TEST(the_elastic_net_by_its_gradient)
{
    json_t *root = mgv_vector_load("sparse_interpolation"), *entry;
    size_t at;
    json_array_foreach(json_object_get(root, "cases"), at, entry)
    {
        if (!json_object_get(entry, "gamma"))
            continue;
        regression r = {0};
        r.X = mgv_vector_array(entry, "A", NULL);
        r.y = mgv_vector_array(entry, "b", &r.n);
        double *x = mgv_vector_array(entry, "x", &r.d);
        bowl b = {.gamma = json_number_value(json_object_get(entry, "gamma")), .d = r.d};
        const double value = json_number_value(json_object_get(entry, "value"));
        mgv_fit fit;
        solve_with(&fit, &r, &b, PLAIN "sigma=.2 tol=1e-9 max_iter=100000");
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s after %d", mgv_stop_name(fit.run.stop),
                   (int)fit.run.iterations);
        CHECK_NEAR(fit.certificate.primal, value, 1e-8 * value, "value");
        CHECK_THAT(strstr(mgv_problem_formula(fit.problem), "+ F(w)"), "%s",
                   mgv_problem_formula(fit.problem));
        for (int64_t j = 0; j < r.d; j++)
            CHECK_NEAR(mgv_fit_weights(&fit)[j], x[j], 1e-7, "weight %d", (int)j);
        mgv_fit_free(&fit);
        regression_free(&r);
        free(x);
    }
    json_decref(root);
}

/* Soft and hard losses, strongly convex and kinked penalties, an F whose least value is not at 0:
 * the gap closes, and at the end no step along F's gradient is left. */
TEST(certificates_hold_with_a_smooth_function)
{
    static const char *const options[] = {
        "task=regress loss=squared penalty=l2 lambda=.1 intercept=no solver=primal_dual ",
        "task=regress loss=squared penalty=l1 mu=.05 intercept=no solver=primal_dual ",
        "task=regress loss=huber penalty=enet mu=.05 lambda=.1 intercept=no solver=primal_dual ",
        PLAIN};
    regression r = regression_new(3, 20, 40, 5, 5);
    for (int o = 0; o < 4; o++)
        for (int shift = 0; shift < 2; shift++) {
            bowl b = {.gamma = .3, .centre = shift ? .1 : 0, .d = r.d};
            char text[300];
            snprintf(text, sizeof text, "%s tol=1e-7 max_iter=200000", options[o]);
            mgv_fit fit;
            solve_with(&fit, &r, &b, text);
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified,
                       "%s, centre %g: %s, relative gap %g", options[o], b.centre,
                       mgv_stop_name(fit.run.stop), fit.certificate.relative_gap);
            mgv_fit_free(&fit);
        }
    regression_free(&r);
}

/* The lower bound (11) never passes the optimum, whatever pair it is taken at. */
TEST(the_bound_is_below_the_value_at_every_iterate)
{
    regression r = regression_new(4, 15, 30, 4, 5);
    bowl b = {.gamma = .5, .centre = .05, .d = r.d};
    const char *options = "task=regress loss=squared penalty=l1 mu=.1 intercept=no "
                          "solver=primal_dual tol=1e-9 max_iter=100000";
    mgv_fit best, fit;
    solve_with(&best, &r, &b, options);
    const double optimum = best.certificate.primal;
    const mgv_smooth F = smooth_of(&b);
    mgv_fit_start(&fit, r.X, r.y, r.n, r.d, options);
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_OK(fit.ctx, mgv_problem_set_smooth(fit.ctx, fit.problem, &F));
    CHECK_OK(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver));
    for (int64_t t = 1; t < 60; t++) {
        const mgvi_iterate it = step_to(&fit, t);
        const mgvi_verdict v = mgvi_judge_certify(fit.solver->judge, it.w, it.u);
        CHECK_LE(v.certificate.dual, optimum * (1 + 1e-8), "iteration %d", (int)t);
        CHECK_LE(optimum * (1 - 1e-8), v.certificate.primal, "iteration %d", (int)t);
    }
    mgv_fit_free(&fit);
    mgv_fit_free(&best);
    regression_free(&r);
}

TEST(bad_functions_and_unable_solvers_are_refused)
{
    regression r = regression_new(5, 10, 6, 2, 5);
    bowl b = {.gamma = 1, .d = r.d};
    mgv_fit fit;
    mgv_fit_start(&fit, r.X, r.y, r.n, r.d,
                  "task=regress loss=squared lambda=.1 intercept=no solver=lbfgs");
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    mgv_smooth F = smooth_of(&b);
    F.grad = NULL;
    CHECK_FAILS(fit.ctx, mgv_problem_set_smooth(fit.ctx, fit.problem, &F), MGV_E_ARG, "gradient");
    F = smooth_of(&b);
    F.lipschitz = -1;
    CHECK_FAILS(fit.ctx, mgv_problem_set_smooth(fit.ctx, fit.problem, &F), MGV_E_ARG, "is -1");
    F.lipschitz = INFINITY;
    CHECK_FAILS(fit.ctx, mgv_problem_set_smooth(fit.ctx, fit.problem, &F), MGV_E_ARG, "is inf");
    F = smooth_of(&b);
    CHECK_OK(fit.ctx, mgv_problem_set_smooth(fit.ctx, fit.problem, &F));
    CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                MGV_E_UNSUPPORTED, "these fit: primal_dual");
    mgv_fit_set(&fit, "solver=auto");
    CHECK_OK(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver));
    describe(&fit);
    CHECK_THAT(strcmp(fit.run.solver, "primal_dual") == 0, "%s", fit.run.solver);
    b.fail = 1; /* the caller's function gives up: the run ends with what there is */
    CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
    describe(&fit);
    CHECK(fit.run.stop == MGV_STOP_USER && fit.run.iterations <= 1);
    CHECK_OK(fit.ctx, mgv_problem_set_smooth(fit.ctx, fit.problem, NULL));
    CHECK(!strstr(mgv_problem_formula(fit.problem), "F(w)"));
    mgv_fit_free(&fit);
    regression_free(&r);
}

/* ---- total variation by dual variables of its own -------------------------------------------- */

/* Both forms of the same problem reach the same weights. */
static void compare_forms(const char *options, int64_t n, int64_t d, double tolerance)
{
    regression r = regression_new(8, n, d, d / 3, 4);
    double *first = NULL;
    for (int split = 0; split < 2; split++) {
        mgv_fit fit;
        mgv_fit_start(&fit, r.X, r.y, n, d, options);
        mgv_fit_set(&fit, split ? "split=yes" : "split=no");
        mgv_fit_solve(&fit);
        if (first)
            for (int64_t j = 0; j < d; j++)
                CHECK_NEAR(mgv_fit_weights(&fit)[j], first[j], tolerance, "%s: weight %d", options,
                           (int)j);
        free(first);
        first = calloc((size_t)d, sizeof *first);
        memcpy(first, mgv_fit_weights(&fit), (size_t)d * sizeof *first);
        mgv_fit_free(&fit);
    }
    free(first);
    regression_free(&r);
}

TEST(split_and_prox_agree)
{
    compare_forms("task=regress loss=squared penalty=tv1d mu=.1 intercept=no solver=primal_dual "
                  "tol=0 max_iter=3000 sigma=.05",
                  30, 12, 1e-7);
    compare_forms("task=regress loss=squared penalty=tv2d shape=3x4 mu=.1 intercept=no "
                  "solver=primal_dual tol=0 max_iter=2000 prox_tol=1e-8 sigma=.05",
                  30, 12, 1e-6);
    compare_forms("task=regress loss=squared penalty=tv2d shape=3x2x2 mu=.1 intercept=no "
                  "solver=primal_dual tol=0 max_iter=2000 prox_tol=1e-8 sigma=.05",
                  30, 12, 1e-6);
}

/* The first iterates of [A; D] written out plainly. */
TEST(split_steps_are_those_of_the_stacked_operator)
{
    enum { N = 6, D = 6, H = 2, W = 3 };
    const double sigma = .3, square = 60;
    regression r = regression_new(11, N, D, 3, 3);
    mgv_fit fit;
    open_rows(&fit, r.X, r.y, N, D,
              PLAIN "penalty=tv2d shape=2x3 split=yes sigma=.3 lipschitz=60 select=last");
    double w[D] = {0}, u[N] = {0}, v[2 * D] = {0}, k_old[D] = {0}, k[D] = {0};
    const double tau = .99 / (sigma * (square + 8));
    for (int64_t t = 1; t <= 12; t++) {
        for (int j = 0; j < D; j++)
            w[j] -= tau * (2 * k[j] - k_old[j]);
        for (int i = 0; i < N; i++) {
            double z = 0;
            for (int j = 0; j < D; j++)
                z += r.X[i * D + j] * w[j];
            u[i] += sigma * (z - r.y[i]);
        }
        memcpy(k_old, k, sizeof k);
        memset(k, 0, sizeof k);
        for (int p = 0; p < D; p++) {
            const int right = p % W + 1 < W ? p + 1 : p, down = p / W + 1 < H ? p + W : p;
            double *q = v + 2 * p;
            q[0] += sigma * (w[right] - w[p]);
            q[1] += sigma * (w[down] - w[p]);
            const double size = fmax(1, hypot(q[0], q[1]));
            q[0] /= size;
            q[1] /= size;
            k[right] += q[0];
            k[down] += q[1];
            k[p] -= q[0] + q[1];
            for (int i = 0; i < N; i++)
                k[p] += r.X[i * D + p] * u[i];
        }
        const mgvi_iterate it = step_to(&fit, t);
        for (int j = 0; j < D; j++)
            CHECK_NEAR(it.w->x[j], w[j], 1e-12, "iteration %d, weight %d", (int)t, j);
    }
    mgv_fit_free(&fit);
    regression_free(&r);
}

/* Bounds: every iterate lies between them, and the run reaches the optimum of a plain projected
 * subgradient descent; a box alone is the penalty of that name. */
TEST(weights_between_bounds)
{
    enum { N = 30, D = 12 };
    regression r = regression_new(21, N, D, 6, 4);
    mgv_fit fit, box;
    const char *options = "task=regress loss=squared penalty=tv1d mu=.1 intercept=no low=-.2 "
                          "high=.5 solver=primal_dual tol=0 max_iter=4000 sigma=.05";
    mgv_fit_start(&fit, r.X, r.y, N, D, options);
    mgv_fit_solve(&fit);
    CHECK_THAT(strstr(mgv_problem_formula(fit.problem), "over -0.2 <= w <= 0.5"), "%s",
               mgv_problem_formula(fit.problem));
    const double *w = mgv_fit_weights(&fit);
    double value[2] = {0, 0}, low = 1, high = -1, v[D] = {0};
    for (int k = 0; k < 60001; k++) {
        double g[D] = {0};
        for (int i = 0; i < N; i++) {
            double z = -r.y[i];
            for (int j = 0; j < D; j++)
                z += r.X[i * D + j] * v[j];
            for (int j = 0; j < D; j++)
                g[j] += z * r.X[i * D + j] / N;
        }
        for (int j = 0; j + 1 < D; j++) {
            const double s = .1 * ((v[j + 1] > v[j]) - (v[j + 1] < v[j]));
            g[j + 1] += s;
            g[j] -= s;
        }
        for (int j = 0; j < D; j++)
            v[j] = fmin(fmax(v[j] - .3 / (1 + .02 * k) * g[j], -.2), .5);
    }
    const double *both[2] = {w, v};
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < N; i++) {
            double z = -r.y[i];
            for (int j = 0; j < D; j++)
                z += r.X[i * D + j] * both[t][j];
            value[t] += z * z / (2 * N);
        }
        for (int j = 0; j + 1 < D; j++)
            value[t] += .1 * fabs(both[t][j + 1] - both[t][j]);
    }
    for (int j = 0; j < D; j++) {
        low = fmin(low, w[j]);
        high = fmax(high, w[j]);
    }
    CHECK(low >= -.2 && high <= .5 && (low == -.2 || high == .5));
    CHECK_LE(value[0], value[1] + 1e-9, "no worse than a plain descent");
    CHECK_NEAR(value[0], value[1], 1e-3, "and near it");
    CHECK_FAILS(fit.ctx, mgv_settings_set(fit.ctx, fit.settings, "low", "nan"), MGV_E_ARG, "low");
    mgv_fit_free(&fit);
    mgv_fit_start(&box, r.X, r.y, N, D,
                  "task=regress loss=squared penalty=box intercept=no low=-.2 high=.5 "
                  "solver=primal_dual tol=1e-8 max_iter=100000");
    mgv_fit_solve(&box);
    CHECK_THAT(box.run.stop == MGV_STOP_CERTIFIED, "box: %s", mgv_stop_name(box.run.stop));
    mgv_problem *refused;
    mgv_fit_set(&box, "low=.6");
    CHECK_FAILS(box.ctx, mgv_problem_new(box.ctx, box.data, box.settings, &refused), MGV_E_ARG,
                "between");
    mgv_fit_set(&box, "low=0 penalty=l2 lambda=1");
    CHECK_FAILS(box.ctx, mgv_problem_new(box.ctx, box.data, box.settings, &refused), MGV_E_ARG,
                "this is l2");
    mgv_fit_free(&box);
    regression_free(&r);
}

/* Same bits for any number of threads, and after a checkpoint. */
TEST(split_runs_are_the_same_bits)
{
    enum { N = 40, D = 120 };
    regression r = regression_new(12, N, D, 10, 5);
    double first[D];
    for (int form = 0; form < 3; form++) {
        mgv_fit fit;
        open_rows(&fit, r.X, r.y, N, D, PLAIN "penalty=tv2d shape=8x5x3 split=yes select=last");
        CHECK_OK(fit.ctx, mgv_ctx_set_threads(fit.ctx, form == 0 ? 1 : 4));
        if (form == 2) {
            char file[64];
            snprintf(file, sizeof file, "test_smooth_%d.state", (int)mgvi_cpu_count());
            run_to(&fit, 13);
            CHECK_OK(fit.ctx, mgv_solver_checkpoint(fit.ctx, fit.solver, file));
            mgv_fit_free(&fit);
            open_rows(&fit, r.X, r.y, N, D, PLAIN "penalty=tv2d shape=8x5x3 split=yes select=last");
            CHECK_OK(fit.ctx, mgv_solver_resume(fit.ctx, fit.solver, file));
            remove(file);
        }
        const mgvi_iterate it = run_to(&fit, 30);
        if (form == 0)
            memcpy(first, it.w->x, sizeof first);
        CHECK_THAT(memcmp(first, it.w->x, sizeof first) == 0, "form %d", form);
        mgv_fit_free(&fit);
    }
    regression_free(&r);
}

int main(void)
{
    return RUN(the_elastic_net_by_its_gradient, certificates_hold_with_a_smooth_function,
               the_bound_is_below_the_value_at_every_iterate,
               bad_functions_and_unable_solvers_are_refused, split_and_prox_agree,
               split_steps_are_those_of_the_stacked_operator, weights_between_bounds,
               split_runs_are_the_same_bits);
}
