/* test_svm_baselines.c - the methods the papers compare with: their formulas, laws and resumption.
 */
#include "stepping.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {"cg_descent", "nesterov_sgd", "adadelta", "adam"};
enum { METHODS = 4, N = 12, D = 3 };

static void start(mgv_fit *fit, const char *solver, const char *options)
{
    double *X, *y;
    char text[300];
    mgv_random_set(4, N, D, 0.7, &X, &y);
    snprintf(text, sizeof text, "task=classify solver=%s %s", solver, options);
    open_rows(fit, X, y, N, D, text);
    free(X);
    free(y);
}

/* The mean hinge plus penalties and a subgradient of it, by the textbook: no intercept. */
static void subgradient(const double *X, const double *y, const double *w, double *g)
{
    for (int j = 0; j < D; j++)
        g[j] = 0.1 * w[j] + 0.05 * ((w[j] > 0) - (w[j] < 0));
    for (int i = 0; i < N; i++) {
        double z = 0;
        for (int j = 0; j < D; j++)
            z += y[i] * X[i * D + j] * w[j];
        for (int j = 0; j < D; j++)
            g[j] -= z < 1 ? y[i] * X[i * D + j] / N : 0;
    }
}

/* Steps on all rows at once are no longer random. */
TEST(stochastic_methods_follow_their_formulas)
{
    double *X, *y;
    mgv_random_set(4, N, D, 0.7, &X, &y);
    for (int m = 1; m < METHODS; m++) {
        mgv_fit fit;
        start(&fit, names[m], "loss=hinge penalty=enet lambda=0.1 mu=0.05 intercept=no batch=100");
        double w[D] = {0}, one[D] = {0}, two[D] = {0}, g[D];
        for (int t = 1; t <= 25; t++) {
            subgradient(X, y, w, g);
            for (int j = 0; j < D; j++) {
                if (m == 1) {
                    w[j] += 0.81 * one[j] - 1.9e-3 * g[j];
                    one[j] = 0.9 * one[j] - 1e-3 * g[j];
                } else if (m == 2) {
                    one[j] = 0.9 * one[j] + 0.1 * g[j] * g[j];
                    const double d = g[j] * sqrt(two[j] + 1e-8) / sqrt(one[j] + 1e-8);
                    two[j] = 0.9 * two[j] + 0.1 * d * d;
                    w[j] -= d;
                } else {
                    one[j] = 0.9 * one[j] + 0.1 * g[j];
                    two[j] = 0.8 * two[j] + 0.2 * g[j] * g[j];
                    w[j] -= 1e-3 * one[j] / (1 - pow(0.9, t)) /
                            (sqrt(two[j] / (1 - pow(0.8, t))) + 1e-8);
                }
            }
            const mgvi_iterate at = step_to(&fit, t);
            for (int j = 0; j < D; j++)
                CHECK_NEAR(at.w->x[j], w[j], 1e-13, "%s, step %d", names[m], t);
        }
        mgv_fit_free(&fit);
    }
    free(X);
    free(y);
}

/* Conjugate gradients on a quadratic are done after as many steps as there are columns, about; and
 * no step leads uphill. */
TEST(cg_descent_descends)
{
    static const char *const cases[] = {"loss=squared lambda=0.1", "loss=logistic lambda=0.01",
                                        "loss=squared_hinge lambda=0.01",
                                        "loss=hinge penalty=enet lambda=0.1 mu=0.01"};
    for (size_t k = 0; k < 4; k++) {
        mgv_fit fit;
        char options[100];
        snprintf(options, sizeof options, "%s intercept=no tol=1e-9 max_iter=60", cases[k]);
        start(&fit, "cg_descent", options);
        double last = INFINITY;
        for (int t = 1; t <= 12 && !fit.solver->run.finished; t++) {
            step_to(&fit, t);
            fit.solver->run.finished = false;
            const mgvi_verdict v = mgvi_judge_certify(
                fit.solver->judge, fit.solver->run.ops->expose(&fit.solver->run).w,
                &fit.solver->answer.u);
            CHECK_LE(v.certificate.primal, last * (1 + 1e-6), "%s, step %d", cases[k], t);
            last = v.certificate.primal;
        }
        if (k < 3) {
            CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
            describe(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s: gap %g", cases[k],
                       fit.certificate.relative_gap);
        }
        mgv_fit_free(&fit);
    }
}

/* Near the optimum that Newton's method certifies, and never below what is proven. */
TEST(baselines_come_near_the_optimum)
{
    for (int m = 0; m < METHODS; m++) {
        mgv_fit exact, fit;
        const char *problem = "loss=hinge lambda=0.2 tol=1e-8 max_iter=6000 batch=4";
        start(&exact, "proximal_newton", problem);
        start(&fit, names[m], problem);
        CHECK_OK(exact.ctx, mgv_solver_run(exact.ctx, exact.solver));
        CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
        describe(&exact);
        describe(&fit);
        const double optimum = exact.certificate.primal;
        CHECK_LE(fit.certificate.primal, 1.05 * optimum, "%s", names[m]);
        CHECK_LE(fit.certificate.dual, optimum * (1 + 1e-9), "%s", names[m]);
        CHECK_LE(0.5 * optimum, fit.certificate.dual, "%s", names[m]);
        mgv_fit_free(&exact);
        mgv_fit_free(&fit);
    }
}

TEST(a_resumed_run_takes_the_same_steps)
{
    double *X, *y;
    mgv_random_set(4, N, D, 0.7, &X, &y);
    for (int m = 0; m < METHODS; m++) {
        char options[300];
        snprintf(options, sizeof options,
                 "task=classify solver=%s loss=logistic penalty=enet lambda=0.01 mu=0.01 batch=5",
                 names[m]);
        check_resumed_steps(X, y, N, D, options, 4, 7);
    }
    free(X);
    free(y);
}

int main(void)
{
    return RUN(stochastic_methods_follow_their_formulas, cg_descent_descends,
               baselines_come_near_the_optimum, a_resumed_run_takes_the_same_steps);
}
