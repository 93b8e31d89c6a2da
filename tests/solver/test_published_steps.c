/* test_published_steps.c - settings of primal_dual and its kin that are published methods, each
 * against its formulas written out here: step lengths of rows and columns, steps in a given ratio,
 * the lifted form of total variation, inexact proximal maps, diagonal steps, proximal gradients. */
#include "regression.h"

#define EQUAL "task=regress loss=equal intercept=no "

/* e = X w - y, and g = X'e. */
static void forward(const regression *r, const double *w, double *e)
{
    for (int64_t i = 0; i < r->n; i++) {
        e[i] = -r->y[i];
        for (int64_t j = 0; j < r->d; j++)
            e[i] += r->X[i * r->d + j] * w[j];
    }
}
static void backward(const regression *r, const double *e, double *g)
{
    for (int64_t j = 0; j < r->d; j++) {
        g[j] = 0;
        for (int64_t i = 0; i < r->n; i++)
            g[j] += r->X[i * r->d + j] * e[i];
    }
}
static double soft(double x, double t) { return copysign(fmax(fabs(x) - t, 0), x); }

static void check_weights(const mgvi_iterate it, const double *x, double close, const char *what,
                          int k)
{
    for (int64_t j = 0; j < it.w->n; j++)
        CHECK_NEAR(it.w->x[j], x[j], close, "%s, step %d, column %d", what, k, (int)j);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* x+ = soft(x - T A'(2 y - y_old), T), y+ = y + Sigma (A x+ - b) with T_j = 1/(sigma m |A_j|^2) and
 * Sigma_i = sigma m/|A_i|_0, m the most entries of a row. */
TEST(rows_and_columns_have_their_own_steps)
{
    enum { N = 9, D = 16 };
    regression r = regression_new(11, N, D, 3, 5);
    double x[D] = {0}, y[N] = {0}, old[N] = {0}, e[N], g[D], T[D], S[N], most = 0;
    for (int t = 0; t < N * D; t++)
        if (t % 5 < 2 || (t / D == 4 && t % 3))
            r.X[t] = 0;
    const double sigma = .05;
    for (int i = 0; i < N; i++) {
        S[i] = 0;
        for (int j = 0; j < D; j++)
            S[i] += r.X[i * D + j] != 0;
        most = fmax(most, S[i]);
    }
    for (int j = 0; j < D; j++) {
        double square = 0;
        for (int i = 0; i < N; i++)
            square += r.X[i * D + j] * r.X[i * D + j];
        T[j] = 1 / (sigma * most * square);
    }
    for (int i = 0; i < N; i++)
        S[i] = sigma * most / S[i];
    mgv_fit fit;
    open_rows(&fit, r.X, r.y, N, D,
              EQUAL "penalty=l1 solver=primal_dual select=last lazy=1 steps=pock_chambolle "
                    "sigma=0.05");
    for (int k = 1; k <= 40; k++) {
        for (int i = 0; i < N; i++)
            e[i] = 2 * y[i] - old[i];
        backward(&r, e, g);
        for (int j = 0; j < D; j++)
            x[j] = soft(x[j] - T[j] * g[j], T[j]);
        forward(&r, x, e);
        memcpy(old, y, sizeof y);
        for (int i = 0; i < N; i++)
            y[i] += S[i] * e[i];
        check_weights(step_to(&fit, k), x, 1e-12, "pock_chambolle", k);
    }
    CHECK(x[0] != 0 || x[1] != 0 || x[2] != 0 || x[3] != 0 || x[5] != 0);
    mgvi_fact fact[MGVI_FACTS_MAX];
    CHECK(fit.solver->run.ops->facts(&fit.solver->run, fact) == 5);
    CHECK_NEAR(fact[1].value, sigma, 1e-15, "%s", fact[1].name);
    mgv_fit_free(&fit);
    regression_free(&r);
}

/* A converged run with them ends where one with a single step does, centred columns included. */
TEST(their_optimum_is_the_same)
{
    regression r = regression_new(12, 20, 40, 3, INFINITY);
    mgv_fit one, all;
    for (int64_t i = 0; i < r.n; i++)
        r.y[i] += 3;
#define OPTIMUM "task=regress loss=equal penalty=l1 solver=primal_dual tol=1e-7 max_iter=200000 "
    solve(&one, &r, OPTIMUM);
    solve(&all, &r, OPTIMUM "steps=pock_chambolle");
    CHECK(one.run.stop == MGV_STOP_CERTIFIED && all.run.stop == MGV_STOP_CERTIFIED);
    CHECK_NEAR(all.certificate.primal, one.certificate.primal, 1e-6, "the optimum");
    mgv_fit_free(&one);
    mgv_fit_free(&all);
    regression_free(&r);
}

TEST(sigma_is_a_multiple_of_tau)
{
    regression r = regression_new(13, 10, 20, 3, 5);
    mgvi_fact fact[MGVI_FACTS_MAX];
    mgv_fit fit;
    open_rows(&fit, r.X, r.y, r.n, r.d, PLAIN "lipschitz=150 step_ratio=.01");
    CHECK(fit.solver->run.ops->facts(&fit.solver->run, fact) == 3);
    CHECK_NEAR(fact[0].value, sqrt(150), 1e-12, "%s", fact[0].name);
    CHECK_NEAR(fact[1].value, sqrt(.99 * .01 / 150), 1e-15, "%s", fact[1].name);
    CHECK_NEAR(fact[2].value, sqrt(.99 / .01 / 150), 1e-13, "%s", fact[2].name);
    mgv_fit_free(&fit);
    static const char *const wrong[][2] = {
        {PLAIN "sigma=1 step_ratio=1", "leave one of them out"},
        {PLAIN "steps=pock_chambolle lipschitz=9", "follow from the entries"},
        {EQUAL "solver=landweber penalty=l2 steps=diagonal", "landweber has one step for all"},
        {EQUAL "solver=bregman penalty=l1 steps=pock_chambolle", "bregman has one step for all"},
        {EQUAL "solver=primal_dual penalty=linf steps=pock_chambolle", "column by column"},
        {EQUAL "solver=primal_dual penalty=tv2d shape=4x5 split=lifted prox_error=1", "prox_error"},
        {EQUAL "solver=landweber penalty=l2 fidelity=hinge", "fidelity is 'hinge'"},
        {EQUAL "solver=landweber penalty=l2 fidelity=squared acceleration=nu", "none, nesterov"},
        {EQUAL "solver=landweber penalty=l2 fidelity=squared lambda0=0", "above 0"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mgv_fit_start(&fit, r.X, r.y, r.n, r.d, wrong[i][0]);
        CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
        CHECK_THAT(mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver) != MGV_OK, "%s",
                   wrong[i][0]);
        CHECK_THAT(strstr(mgv_ctx_error(fit.ctx), wrong[i][1]) != NULL, "%s: %s", wrong[i][0],
                   mgv_ctx_error(fit.ctx));
        mgv_fit_free(&fit);
    }
    regression_free(&r);
}

/* ---- total variation ------------------------------------------------------------------------- */

enum { H = 3, W = 4, PIXELS = H * W };

/* Forward differences, (right, down) of a pixel after the other, 0 beyond the edges; and their
 * transpose. */
static void differences(const double *x, double *out)
{
    for (int i = 0; i < H; i++)
        for (int j = 0; j < W; j++) {
            const int p = i * W + j;
            out[2 * p] = j + 1 < W ? x[p + 1] - x[p] : 0;
            out[2 * p + 1] = i + 1 < H ? x[p + W] - x[p] : 0;
        }
}
static void differences_t(const double *v, double *out)
{
    memset(out, 0, PIXELS * sizeof *out);
    for (int i = 0; i < H; i++)
        for (int j = 0; j < W; j++) {
            const int p = i * W + j;
            if (j + 1 < W) {
                out[p + 1] += v[2 * p];
                out[p] -= v[2 * p];
            }
            if (i + 1 < H) {
                out[p + W] += v[2 * p + 1];
                out[p] -= v[2 * p + 1];
            }
        }
}

/* (6) of Molinari et al.: (12) for the unknowns (X, U), the penalty |U|_{2,1} and the operator
 * [A 0; D -1], tau sigma (|A|^2 + 9) = .99. */
TEST(lifted_total_variation_has_two_unknowns)
{
    enum { N = 7 };
    const double sigma = .3, L = 40, tau = .99 / (sigma * (L + 9));
    regression r = regression_new(14, N, PIXELS, 4, 5);
    double x[PIXELS] = {0}, U[2 * PIXELS] = {0}, y[N] = {0}, v[2 * PIXELS] = {0}, old_y[N] = {0},
           old_v[2 * PIXELS] = {0}, e[N], g[PIXELS], q[2 * PIXELS], D[PIXELS];
    mgv_fit fit;
    open_rows(&fit, r.X, r.y, N, PIXELS,
              EQUAL "penalty=tv2d shape=3x4 solver=primal_dual select=last split=lifted sigma=.3 "
                    "lipschitz=40");
    for (int k = 1; k <= 60; k++) {
        for (int i = 0; i < N; i++)
            e[i] = 2 * y[i] - old_y[i];
        for (int i = 0; i < 2 * PIXELS; i++)
            q[i] = 2 * v[i] - old_v[i];
        backward(&r, e, g);
        differences_t(q, D);
        for (int p = 0; p < PIXELS; p++) {
            x[p] -= tau * (g[p] + D[p]);
            double *u = U + 2 * p;
            u[0] += tau * q[2 * p];
            u[1] += tau * q[2 * p + 1];
            const double length = hypot(u[0], u[1]), keep = fmax(0, 1 - tau / fmax(length, 1e-300));
            u[0] *= keep;
            u[1] *= keep;
        }
        memcpy(old_y, y, sizeof y);
        memcpy(old_v, v, sizeof v);
        forward(&r, x, e);
        differences(x, q);
        for (int i = 0; i < N; i++)
            y[i] += sigma * e[i];
        for (int i = 0; i < 2 * PIXELS; i++)
            v[i] += sigma * (q[i] - U[i]);
        check_weights(step_to(&fit, k), x, 1e-11, "lifted", k);
    }
    mgv_fit_free(&fit);
    check_resumed_steps(r.X, r.y, N, PIXELS,
                        EQUAL "penalty=tv2d shape=3x4 solver=primal_dual select=last split=lifted",
                        7, 20);
    regression_free(&r);
}

/* All three forms interpolate with the same total variation. */
TEST(forms_of_total_variation_agree)
{
    static const char *const forms[] = {"split=yes", "split=lifted", "split=no prox_tol=1e-7",
                                        "split=no prox_error=1e-3 prox_decay=2.5"};
    regression r = regression_new(15, 6, PIXELS, 4, INFINITY);
    double known = 0;
    for (int f = 0; f < 4; f++) {
        char text[200];
        double value = 0, q[2 * PIXELS];
        mgv_fit fit;
        snprintf(text, sizeof text,
                 EQUAL "penalty=tv2d shape=3x4 solver=primal_dual select=last max_iter=20000 "
                       "tol=0 sigma_factor=1 %s",
                 forms[f]);
        open_rows(&fit, r.X, r.y, r.n, r.d, text);
        const mgvi_iterate it = step_to(&fit, 20000);
        CHECK_LE(fit.solver->run.ops->residual(&fit.solver->run), 1e-5, "%s: residual", forms[f]);
        differences(it.w->x, q);
        for (int p = 0; p < PIXELS; p++)
            value += hypot(q[2 * p], q[2 * p + 1]);
        if (f == 0)
            known = value;
        CHECK_NEAR(value, known, 2e-4 * known, "%s", forms[f]);
        mgv_fit_free(&fit);
    }
    regression_free(&r);
}

/* A proximal map with the error eps_k, as (13) of Molinari et al. has it, is within sqrt(2 tau eps_k)
 * of the exact one; here of the second step, the first from a point other than 0. */
TEST(the_error_of_a_proximal_map_is_bounded)
{
    static const char *const form = EQUAL "penalty=tv2d shape=16x16 solver=primal_dual select=last "
                                          "split=no sigma=1 lipschitz=600 ";
    static const struct {
        const char *setting;
        double second; /* eps_2 */
    } rules[] = {{"prox_error=1e-4", 1e-4}, {"prox_error=1e-4 prox_decay=20", 1e-4 / 1048576}};
    const double tau = .99 / 600;
    regression r = regression_new(16, 20, 256, 9, 5);
    double missed[2];
    char text[300];
    mgv_fit exact, fit;
    for (int i = 0; i < r.n; i++)
        r.y[i] *= 3;
    snprintf(text, sizeof text, "%s prox_error=1e-18", form);
    open_rows(&exact, r.X, r.y, r.n, r.d, text);
    const mgvi_iterate known = step_to(&exact, 2);
    for (int k = 0; k < 2; k++) {
        snprintf(text, sizeof text, "%s %s", form, rules[k].setting);
        open_rows(&fit, r.X, r.y, r.n, r.d, text);
        const mgvi_iterate it = step_to(&fit, 2);
        missed[k] = distance(it.w->x, known.w->x, 256);
        CHECK_LE(missed[k], sqrt(2 * tau * rules[k].second), "%s", rules[k].setting);
        mgv_fit_free(&fit);
    }
    CHECK_THAT(missed[0] > 0 && missed[1] < missed[0], "%g, %g", missed[0], missed[1]);
    mgv_fit_free(&exact);
    regression_free(&r);
}

/* ---- diagonal steps -------------------------------------------------------------------------- */

/* With D the square and lambda_k = lambda_0/k: w = -A'u, u+ = (v + (A w - y)/L)/(1 + lambda_k/L), as
 * the conjugate of D/lambda_k is y u + lambda_k u^2/2; that of Huber's loss is it within
 * |u_i| <= b/lambda_k. */
TEST(diagonal_steps_soften_the_equalities)
{
    enum { N = 12, D = 20 };
    const double L = 150, lambda0 = 300, width = .5;
    static const char *const losses[] = {"squared", "huber"};
    regression r = regression_new(17, N, D, 3, 4);
    for (int form = 0; form < 4; form++) {
        const bool huber = form % 2, momentum = form > 1;
        char text[300];
        mgv_fit fit;
        double u[N] = {0}, v[N] = {0}, w[D] = {0}, e[N];
        int bounded = 0;
        snprintf(text, sizeof text,
                 EQUAL "penalty=l2 select=last lipschitz=%g solver=%slandweber fidelity=%s "
                       "lambda0=%g smoothing=%g",
                 L, momentum ? "nesterov_" : "", losses[huber], lambda0, width);
        open_rows(&fit, r.X, r.y, N, D, text);
        for (int k = 1; k <= 40; k++) {
            const double lambda = lambda0 / k, m = momentum ? (k - 1.) / (k + 2.) : 0;
            forward(&r, w, e);
            for (int i = 0; i < N; i++) {
                double next = (v[i] + e[i] / L) / (1 + lambda / L);
                if (huber && fabs(next) > width / lambda) {
                    next = copysign(width / lambda, next);
                    bounded++;
                }
                v[i] = next + m * (next - u[i]);
                u[i] = next;
            }
            backward(&r, v, w);
            for (int j = 0; j < D; j++)
                w[j] = -w[j];
            check_weights(step_to(&fit, k), w, 1e-12, text, k);
        }
        CHECK_THAT(huber ? bounded > 0 : bounded == 0, "%s: %d", text, bounded);
        mgv_fit_free(&fit);
    }
    regression_free(&r);
}

/* ---- proximal gradients ---------------------------------------------------------------------- */

/* min 1/(2 n) |X w - y|^2 + mu |w|_1: ISTA, FISTA and Nesterov's momentum, 1/tau = L/n. */
TEST(proximal_gradients_take_the_plain_steps)
{
    enum { N = 12, D = 20 };
    static const char *const names[] = {"none", "fista", "nesterov"};
    const double L = 150, mu = .1, tau = N / L;
    regression r = regression_new(18, N, D, 3, 4);
    for (int form = 0; form < 3; form++) {
        char text[200];
        mgv_fit fit;
        double x[D] = {0}, v[D] = {0}, e[N], g[D], t = 1;
        snprintf(text, sizeof text,
                 "task=regress loss=squared penalty=l1 mu=.1 intercept=no lipschitz=150 "
                 "solver=proximal_gradient acceleration=%s",
                 names[form]);
        open_rows(&fit, r.X, r.y, N, D, text);
        for (int k = 1; k <= 40; k++) {
            const double larger = (1 + sqrt(1 + 4 * t * t)) / 2;
            const double m = form == 0 ? 0 : form == 1 ? (t - 1) / larger : (k - 1.) / (k + 2.);
            t = larger;
            forward(&r, v, e);
            backward(&r, e, g);
            for (int j = 0; j < D; j++) {
                const double next = soft(v[j] - tau / N * g[j], tau * mu);
                v[j] = next + m * (next - x[j]);
                x[j] = next;
            }
            const mgvi_iterate it = step_to(&fit, k);
            check_weights(it, x, 1e-12, text, k);
            forward(&r, x, e);
            for (int i = 0; i < N; i++)
                CHECK_NEAR(it.u->x[i], e[i] / N, 1e-12, "%s: u", text);
        }
        mgv_fit_free(&fit);
        check_resumed_steps(r.X, r.y, N, D, text, 7, 20);
    }
    regression_free(&r);
}

/* Other penalties and losses: certified, at the optimum of primal_dual; an intercept; a start. */
TEST(proximal_gradients_reach_the_optimum)
{
    static const char *const problems[] = {
        "task=regress loss=squared penalty=nuclear shape=4x5 mu=.05",
        "task=regress loss=huber smoothing=.5 penalty=owl mu=.05",
        "task=regress loss=squared penalty=enet mu=.05 lambda=.1"};
    regression r = regression_new(19, 30, 20, 3, 8);
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        char text[200];
        mgv_fit ours, known;
        snprintf(text, sizeof text, "%s solver=proximal_gradient tol=1e-6 max_iter=20000",
                 problems[i]);
        solve(&ours, &r, text);
        CHECK_THAT(ours.run.stop == MGV_STOP_CERTIFIED, "%s: %s", text,
                   mgv_stop_name(ours.run.stop));
        snprintf(text, sizeof text, "%s solver=primal_dual tol=1e-8 max_iter=50000", problems[i]);
        solve(&known, &r, text);
        CHECK_NEAR(ours.certificate.primal, known.certificate.primal,
                   2e-6 * known.certificate.primal, "%s", problems[i]);
        mgv_fit_free(&known);
        snprintf(text, sizeof text, "%s solver=proximal_gradient tol=1e-6 max_iter=20000",
                 problems[i]);
        mgv_fit_start(&known, r.X, r.y, r.n, r.d, text);
        CHECK_OK(known.ctx, mgv_problem_new(known.ctx, known.data, known.settings, &known.problem));
        CHECK_OK(known.ctx,
                 mgv_solver_new(known.ctx, known.problem, known.settings, &known.solver));
        CHECK_OK(known.ctx, mgvi_driver_start(known.solver, ours.solver->answer.w.x, NULL));
        CHECK_OK(known.ctx, mgv_solver_run(known.ctx, known.solver));
        CHECK_THAT(known.solver->run.iteration < ours.solver->run.iteration / 2, "%s: %d and %d",
                   text, (int)known.solver->run.iteration, (int)ours.solver->run.iteration);
        mgv_fit_free(&known);
        mgv_fit_free(&ours);
    }
    regression_free(&r);
}

/* ---- data that nothing fits ------------------------------------------------------------------- */

TEST(the_normal_solution_is_recognised)
{
    static const char *const solvers[] = {
        PLAIN, EQUAL "penalty=l2 solver=landweber ",
        EQUAL "penalty=l2 solver=landweber acceleration=nesterov extrapolated=no ",
        EQUAL "penalty=l1 solver=bregman "};
    regression r = regression_new(20, 40, 8, 3, 2);
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) {
        char text[200];
        mgv_fit fit;
        snprintf(text, sizeof text, "%s select=last max_iter=3000", solvers[i]);
        solve(&fit, &r, text);
        describe(&fit);
        CHECK_LE(fit.run.normal_residual, 1e-3, "%s", text);
        mgv_fit_free(&fit);
        snprintf(text, sizeof text, "%s select=last max_iter=1", solvers[i]);
        solve(&fit, &r, text);
        describe(&fit);
        CHECK_THAT(fit.run.normal_residual > 2e-3, "%s: %g", text, fit.run.normal_residual);
        mgv_fit_free(&fit);
    }
    regression_free(&r);
}

int main(void)
{
    return RUN(rows_and_columns_have_their_own_steps, their_optimum_is_the_same,
               sigma_is_a_multiple_of_tau, lifted_total_variation_has_two_unknowns,
               forms_of_total_variation_agree, the_error_of_a_proximal_map_is_bounded,
               diagonal_steps_soften_the_equalities, proximal_gradients_take_the_plain_steps,
               proximal_gradients_reach_the_optimum, the_normal_solution_is_recognised);
}
