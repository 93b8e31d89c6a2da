/* test_regularisation_baselines.c - dual gradient methods and Bregman iteration against their plain
 * formulas and against optima known otherwise. */
#include "regression.h"

#define EQUAL "task=regress loss=equal intercept=no "

/* Landweber's iteration, and Nesterov's, written out on w. */
TEST(landweber_takes_the_plain_steps)
{
    static const char *const names[] = {"landweber", "nesterov_landweber"};
    regression r = regression_new(1, 12, 20, 3, 4);
    for (int momentum = 0; momentum < 2; momentum++) {
        const double L = 150; /* |A|^2 of such a matrix is below */
        char options[200];
        snprintf(options, sizeof options, EQUAL "penalty=l2 select=last lipschitz=%g solver=%s", L,
                 names[momentum]);
        mgv_fit fit;
        open_rows(&fit, r.X, r.y, r.n, r.d, options);
        double x[20] = {0}, v[20] = {0};
        for (int k = 1; k <= 25; k++) {
            double next[20];
            memcpy(next, v, sizeof next);
            for (int i = 0; i < r.n; i++) {
                double e = -r.y[i];
                for (int j = 0; j < r.d; j++)
                    e += r.X[i * r.d + j] * v[j];
                for (int j = 0; j < r.d; j++)
                    next[j] -= e * r.X[i * r.d + j] / L;
            }
            const double m = momentum ? (k - 1.0) / (k + 2.0) : 0;
            for (int j = 0; j < r.d; j++) {
                v[j] = next[j] + m * (next[j] - x[j]);
                x[j] = next[j];
            }
            const mgvi_iterate it = step_to(&fit, k); /* k gradients in it, not k - 1 */
            for (int j = 0; j < r.d; j++)
                CHECK_NEAR(it.w->x[j], v[j], 1e-12, "%s, step %d", names[momentum], k);
            double square = 0;
            for (int i = 0; i < r.n; i++) {
                double e = -r.y[i];
                for (int j = 0; j < r.d; j++)
                    e += r.X[i * r.d + j] * v[j];
                square += e * e;
            }
            CHECK_NEAR(fit.solver->run.ops->residual(&fit.solver->run), sqrt(square), 1e-10,
                       "the residual of that iterate");
        }
        mgv_fit_free(&fit);
    }
    regression_free(&r);
}

/* A plain dense product: out = X w - y, or with the residual in, out = X'r. */
static void forward(const regression *r, const double *w, double *out)
{
    for (int64_t i = 0; i < r->n; i++) {
        out[i] = -r->y[i];
        for (int64_t j = 0; j < r->d; j++)
            out[i] += r->X[i * r->d + j] * w[j];
    }
}
static void backward(const regression *r, const double *e, double *out)
{
    for (int64_t j = 0; j < r->d; j++) {
        out[j] = 0;
        for (int64_t i = 0; i < r->n; i++)
            out[j] += r->X[i * r->d + j] * e[i];
    }
}

static void check_weights(const mgvi_iterate it, const double *x, const char *what, int k)
{
    for (int64_t j = 0; j < it.w->n; j++)
        CHECK_NEAR(it.w->x[j], x[j], 1e-12, "%s, step %d", what, k);
}

/* The same three more: heavy ball, the nu-method (Engl, Hanke and Neubauer, section 6.3), and
 * Nesterov's with the point that is not extrapolated; on w, with |A|^2 = L. */
TEST(momentum_takes_the_published_steps)
{
    static const char *const options[] = {"acceleration=heavy_ball heavy_ball=.8",
                                          "acceleration=nu nu=1.5",
                                          "acceleration=nesterov extrapolated=no"};
    enum { D = 20, N = 12 };
    const double L = 150, nu = 1.5;
    regression r = regression_new(5, N, D, 3, 4);
    for (int m = 0; m < 3; m++) {
        char text[200];
        snprintf(text, sizeof text, EQUAL "penalty=l2 select=last lipschitz=%g solver=landweber %s",
                 L, options[m]);
        mgv_fit fit;
        open_rows(&fit, r.X, r.y, r.n, r.d, text);
        double x[D] = {0}, before[D] = {0}, e[N], g[D];
        for (int k = 1; k <= 30; k++) {
            double at[D], next[D], step = 1, momentum = .8;
            if (m == 1) {
                step = 4 * (2 * k + 2 * nu - 1) * (k + nu - 1) /
                       ((k + 2 * nu - 1) * (2 * k + 4 * nu - 1));
                momentum = (k - 1.) * (2 * k - 3.) * (2 * k + 2 * nu - 1) /
                           ((k + 2 * nu - 1) * (2 * k + 4 * nu - 1) * (2 * k + 2 * nu - 3));
            }
            if (m == 2)
                momentum = (k - 2.) / (k + 1.);
            for (int j = 0; j < D; j++)
                at[j] = x[j] + (m == 2 && k > 1 ? momentum * (x[j] - before[j]) : 0);
            forward(&r, at, e);
            backward(&r, e, g);
            for (int j = 0; j < D; j++) {
                next[j] = at[j] - step / L * g[j];
                if (m < 2 && k > 1)
                    next[j] += momentum * (x[j] - before[j]);
                before[j] = x[j];
                x[j] = next[j];
            }
            check_weights(step_to(&fit, k), x, options[m], k);
            forward(&r, x, e);
            CHECK_NEAR(fit.solver->run.ops->residual(&fit.solver->run), length(e, N), 1e-10,
                       "%s: the residual", options[m]);
        }
        mgv_fit_free(&fit);
    }
    regression_free(&r);
}

static double soft(double x, double t) { return copysign(fmax(fabs(x) - t, 0), x); }

/* Linearised Bregman iteration with J = s mu |x|_1 and the step 1/L of L = |A|^2:
 *   x+ = argmin J(x) - <p, x> + <x, A'(A x - b)> + L/2 |x - x_k|^2,
 *   p+ = p - L (x+ - x_k) - A'(A x_k - b)
 * which is x+ = soft(p/L + x_k - A'(A x_k - b)/L, s mu/L). */
TEST(linearised_bregman_takes_the_published_steps)
{
    enum { D = 20, N = 12 };
    const double L = 150, kappa = .3;
    regression r = regression_new(6, N, D, 3, 4);
    mgv_fit fit;
    char text[200];
    snprintf(text, sizeof text,
             EQUAL "penalty=l1 select=last lipschitz=%g kappa=%g solver=linearized_bregman", L,
             kappa);
    open_rows(&fit, r.X, r.y, r.n, r.d, text);
    double x[D] = {0}, p[D] = {0}, e[N], g[D], most = 0;
    backward(&r, r.y, g);
    for (int j = 0; j < D; j++)
        most = fmax(most, fabs(g[j]));
    const double mu = most / kappa; /* of J: a = kappa L/max |A'b| with |w|_1, times L/a */
    int nonzeros = 0;
    for (int k = 1; k <= 40; k++) {
        forward(&r, x, e);
        backward(&r, e, g);
        for (int j = 0; j < D; j++) {
            const double next = soft(p[j] / L + x[j] - g[j] / L, mu / L);
            p[j] += -L * (next - x[j]) - g[j];
            x[j] = next;
            nonzeros += next != 0;
        }
        check_weights(step_to(&fit, k), x, "linearised Bregman", k);
    }
    CHECK(nonzeros > 0);
    mgv_fit_free(&fit);
    regression_free(&r);
}

/* Linearised ADMM: one proximal gradient step on R(w) + rho/2 |A w - y + u/rho|^2, then the
 * multiplier. The same as Bregmanised operator splitting with f = y - u/rho, f+ = f + y - A w+. */
TEST(one_inner_step_is_linearised_admm)
{
    enum { D = 20, N = 12 };
    const double L = 150, rho = .02;
    regression r = regression_new(7, N, D, 3, 4);
    mgv_fit fit;
    char text[200];
    snprintf(text, sizeof text,
             EQUAL
             "penalty=l1 select=last lipschitz=%g bregman.rho=%g inner_steps=1 solver=bregman",
             L, rho);
    open_rows(&fit, r.X, r.y, r.n, r.d, text);
    double x[D] = {0}, f[N], e[N], g[D];
    memcpy(f, r.y, sizeof f);
    int nonzeros = 0;
    for (int k = 1; k <= 60; k++) {
        forward(&r, x, e);
        for (int i = 0; i < N; i++)
            e[i] += r.y[i] - f[i];
        backward(&r, e, g);
        for (int j = 0; j < D; j++) {
            x[j] = soft(x[j] - g[j] / L, 1 / (rho * L));
            nonzeros += x[j] != 0;
        }
        forward(&r, x, e);
        for (int i = 0; i < N; i++)
            f[i] -= e[i];
        check_weights(step_to(&fit, k), x, "linearised ADMM", k);
    }
    CHECK(nonzeros > 0);
    mgv_fit_free(&fit);
    regression_free(&r);
}

/* A run that is broken off goes on as if it had not been, with every momentum. */
TEST(momentum_is_kept)
{
    static const char *const options[] = {"acceleration=heavy_ball", "acceleration=nu",
                                          "acceleration=fista extrapolated=no"};
    regression r = regression_new(8, 12, 20, 3, 4);
    for (int m = 0; m < 3; m++) {
        char text[200];
        snprintf(text, sizeof text, EQUAL "penalty=l1 solver=linearized_bregman %s", options[m]);
        check_resumed_steps(r.X, r.y, r.n, r.d, text, 7, 20);
    }
    regression_free(&r);
}

/* All of them interpolate: the least |w|^2, the least |w|_1 (a is small enough here), the same
 * optimum as primal_dual. */
TEST(they_reach_the_optimum)
{
    static const char *const runs[][2] = {
        {"penalty=l2", "landweber"},
        {"penalty=l2", "nesterov_landweber"},
        {"penalty=enet lambda=0.5", "linearized_bregman"},
        {"penalty=enet lambda=0.5", "accelerated_dual_gradient"},
        {"penalty=l1 kappa=0.02", "accelerated_dual_gradient"},
        {"penalty=l1", "bregman"},
        {"penalty=owl owl=oscar:0.5", "bregman"},
        {"penalty=l1 inner_steps=1", "bregman"},
        {"penalty=enet lambda=0.5 fidelity=squared schedule=1/t^2", "linearized_bregman"},
        {"penalty=enet lambda=0.5 fidelity=huber schedule=1/t^2", "accelerated_dual_gradient"},
        {"penalty=enet lambda=0.5 acceleration=heavy_ball", "linearized_bregman"},
        {"penalty=enet lambda=0.5 extrapolated=no", "accelerated_dual_gradient"},
    };
    regression r = regression_new(2, 20, 60, 3, INFINITY);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char options[200];
        mgv_fit ours, reference;
        snprintf(options, sizeof options, EQUAL "%s solver=%s tol=1e-5 max_iter=50000", runs[i][0],
                 runs[i][1]);
        solve(&ours, &r, options);
        snprintf(options, sizeof options, EQUAL "%s solver=primal_dual tol=1e-8 max_iter=50000",
                 runs[i][0]);
        solve(&reference, &r, options);
        CHECK_THAT(ours.run.stop == MGV_STOP_CERTIFIED, "%s %s: %s, gap %g", runs[i][1], runs[i][0],
                   mgv_stop_name(ours.run.stop), ours.certificate.relative_gap);
        CHECK_NEAR(ours.certificate.primal, reference.certificate.primal,
                   3e-5 * reference.certificate.primal, "%s %s", runs[i][1], runs[i][0]);
        mgv_fit_free(&ours);
        mgv_fit_free(&reference);
    }
    regression_free(&r);
}

/* Acceleration needs fewer iterations; an intercept is found; a discrepancy is met. */
TEST(acceleration_intercept_and_discrepancy)
{
    regression r = regression_new(3, 40, 80, 4, 5);
    for (int64_t i = 0; i < r.n; i++)
        r.y[i] += 7;
    char options[300];
    int64_t steps[2];
    for (int accelerated = 0; accelerated < 2; accelerated++) {
        mgv_fit fit;
        snprintf(options, sizeof options,
                 "task=regress loss=equal penalty=l1 kappa=.05 select=discrepancy:%.17g solver=%s",
                 length(r.noise, r.n),
                 accelerated ? "accelerated_dual_gradient" : "linearized_bregman");
        solve(&fit, &r, options);
        CHECK(fit.run.stop == MGV_STOP_DISCREPANCY);
        CHECK_NEAR(mgv_fit_weights(&fit)[r.d], 7, 1.5, "the intercept");
        steps[accelerated] = fit.run.iterations;
        mgv_fit_free(&fit);
    }
    CHECK(steps[1] < steps[0]);
    mgv_fit fit;
    mgv_fit_start(&fit, r.X, r.y, r.n, r.d,
                  "task=regress loss=equal penalty=l1 scale=rownorm solver=bregman");
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                MGV_E_UNSUPPORTED, "centred columns");
    mgv_fit_free(&fit);
    regression_free(&r);
}

/* --scale sqrt: every column divided by the root of its standard deviation. */
TEST(root_scaling_is_half_way_to_unit_columns)
{
    regression r = regression_new(4, 30, 5, 2, 5);
    for (int64_t i = 0; i < r.n * r.d; i++)
        r.X[i] = r.X[i] * (double)(1 + i % r.d) + 3;
    for (int intercept = 0; intercept < 2; intercept++) {
        mgv_fit fit;
        open_rows(&fit, r.X, r.y, r.n, r.d,
                  intercept ? "task=regress loss=equal penalty=l1 scale=sqrt"
                            : EQUAL "penalty=l1 scale=sqrt");
        for (int64_t j = 0; j < r.d; j++) {
            double mean = 0, square = 0;
            for (int64_t i = 0; i < r.n; i++)
                mean += r.X[i * r.d + j] / (double)r.n;
            for (int64_t i = 0; i < r.n; i++)
                square += pow(r.X[i * r.d + j] - (intercept ? mean : 0), 2) / (double)r.n;
            CHECK_NEAR(fit.problem->view.scale[j], 1 / sqrt(sqrt(square)), 1e-12, "column %d",
                       (int)j);
        }
        mgv_fit_free(&fit);
    }
    regression_free(&r);
}

/* The last iterate can be asked for of every solver that goes step by step, whether or not it knows
 * a residual. */
TEST(the_last_iterate_of_margin_solvers)
{
    static const char *const solvers[] = {"dual_diagonal", "momentum_margin", "batch_perceptron",
                                          "normalized_gd"};
    double *X, *y;
    mgv_random_set(12, 40, 3, 0, &X, &y);
    for (int k = 0; k < 4; k++) {
        char options[200];
        mgv_fit fit, steps;
        mgv_selection *s;
        snprintf(options, sizeof options,
                 "loss=margin intercept=no select=last max_iter=7 solver=%s", solvers[k]);
        mgv_fit_start(&fit, X, y, 40, 3, options);
        CHECK_OK(fit.ctx, mgv_selection_run(fit.ctx, fit.data, fit.settings, &s));
        snprintf(options, sizeof options, "loss=margin intercept=no solver=%s", solvers[k]);
        open_rows(&steps, X, y, 40, 3, options);
        const mgvi_iterate it = step_to(&steps, 7);
        const double *w;
        int64_t count;
        mgv_solver_weights(mgv_selection_solver(s), &w, &count);
        CHECK(count == 3);
        for (int j = 0; j < 3; j++)
            CHECK_NEAR(w[j], it.w->x[j], 1e-12 * fabs(w[j]), "%s", solvers[k]);
        mgv_selection_free(fit.ctx, s);
        mgv_fit_free(&fit);
        mgv_fit_free(&steps);
    }
    mgv_fit fit;
    mgv_selection *s;
    mgv_fit_start(&fit, X, y, 40, 3,
                  "loss=margin intercept=no select=discrepancy:1 solver=momentum_margin");
    CHECK_FAILS(fit.ctx, mgv_selection_run(fit.ctx, fit.data, fit.settings, &s), MGV_E_UNSUPPORTED,
                "no residual");
    mgv_fit_free(&fit);
    free(X);
    free(y);
}

/* One centred row, or a table of zeros: there is nothing to step along. */
TEST(tables_of_zeros_are_no_trap)
{
    static const char *const solvers[] = {"landweber", "nesterov_landweber", "linearized_bregman",
                                          "accelerated_dual_gradient"};
    const double X[] = {1.5, -2, 1.5, -2}, y[] = {3, 4};
    for (int k = 0; k < 4; k++)
        for (int rows = 1; rows <= 2; rows++) {
            char options[120];
            mgv_fit fit;
            snprintf(options, sizeof options,
                     "loss=equal task=regress penalty=%s max_iter=20 solver=%s",
                     k < 2 ? "l2" : "linf", solvers[k]);
            mgv_fit_start(&fit, X, y, rows, 2, options);
            mgv_fit_solve(&fit);
            CHECK_THAT(!isnan(fit.run.seconds), "%s", options); /* it has come back */
            mgv_fit_free(&fit);
        }
}

int main(void)
{
    return RUN(momentum_takes_the_published_steps, linearised_bregman_takes_the_published_steps,
               one_inner_step_is_linearised_admm, momentum_is_kept, tables_of_zeros_are_no_trap,
               landweber_takes_the_plain_steps, the_last_iterate_of_margin_solvers,
               they_reach_the_optimum, acceleration_intercept_and_discrepancy,
               root_scaling_is_half_way_to_unit_columns);
}
