/* test_regression_kinks.c - the losses absolute and epsilon_insensitive by every solver that takes
 * them: stored optima (HiGHS, LIBSVM), agreement on random data with ties, and solver auto. */
#include "base/rng.h"
#include "solver/driver.h"
#include "vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const solvers[] = {"auto", "dual_coordinate", "proximal_newton",
                                      "column_generation", "primal_dual"};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

static bool takes(const char *solver, bool l1, bool kernel)
{
    if (strcmp(solver, "dual_coordinate") == 0)
        return !l1;
    if (strcmp(solver, "column_generation") == 0)
        return l1;
    return !kernel || strcmp(solver, "auto") == 0;
}

typedef struct stored {
    json_t *file;
    double *X, *y, *weights;
    int64_t n, d;
} stored;

static stored load(void)
{
    stored s = {.file = mgv_vector_load("regression_kinks")};
    s.X = mgv_vector_array(s.file, "X", NULL);
    s.y = mgv_vector_array(s.file, "y", &s.n);
    s.weights = mgv_vector_array(s.file, "weights", NULL);
    s.d = (int64_t)mgv_vector_number(json_object_get(s.file, "d"));
    return s;
}

static void release(stored *s)
{
    json_decref(s->file);
    free(s->X);
    free(s->y);
    free(s->weights);
}

/* The stored optimum lies in the certified interval. */
static void check_case(const stored *s, const json_t *c, const char *solver)
{
    const double optimum = mgv_vector_number(json_object_get(c, "optimum"));
    const double gap = 1e-9 + mgv_vector_number(json_object_get(c, "gap"));
    const double epsilon = mgv_vector_number(json_object_get(c, "epsilon"));
    const bool l1 = strcmp(json_string_value(json_object_get(c, "penalty")), "l1") == 0;
    const bool kernel = strcmp(json_string_value(json_object_get(c, "kernel")), "rbf") == 0;
    char options[300];
    if (!takes(solver, l1, kernel))
        return;
    snprintf(options, sizeof options,
             "task=regress loss=%s epsilon=%.17g penalty=%s %s=%.17g intercept=%s kernel=%s "
             "sigma2=2 solver=%s tol=1e-6 max_iter=200000",
             epsilon > 0 ? "epsilon_insensitive" : "absolute", epsilon, l1 ? "l1" : "l2",
             l1 ? "mu" : "lambda", mgv_vector_number(json_object_get(c, "strength")),
             json_is_true(json_object_get(c, "intercept")) ? "yes" : "no",
             kernel ? "rbf" : "linear", solver);
    mgv_fit f;
    mgv_fit_start(&f, s->X, s->y, s->n, s->d, options);
    if (json_is_true(json_object_get(c, "weighted")))
        CHECK_OK(f.ctx, mgv_data_set_weights(f.ctx, f.data, s->weights));
    mgv_fit_solve(&f);
    CHECK_THAT(f.run.stop == MGV_STOP_CERTIFIED && f.certificate.dual <= optimum + gap &&
                   f.certificate.primal >= optimum - gap,
               "%s: stop %d, [%.12g, %.12g] and not %.12g", options, f.run.stop, f.certificate.dual,
               f.certificate.primal, optimum);
    mgv_fit_free(&f);
}

TEST(stored_optima_are_reached)
{
    stored s = load();
    const json_t *cases = json_object_get(s.file, "cases");
    CHECK(json_array_size(cases) == 32);
    for (size_t k = 0; k < json_array_size(cases); k++)
        for (int t = 0; t < SOLVERS; t++)
            check_case(&s, json_array_get(cases, k), solvers[t]);
    release(&s);
}

/* ---- random data ----------------------------------------------------------------------------- */

enum { MOST = 60 * 90 };

typedef struct set {
    double X[MOST], y[90], weight[90];
    int n, d;
} set;

/* Targets on a grid, so that many are alike and fits meet some exactly; weights 0, 1 and 2; heavy
 * tails; the scales of columns `spread` decades apart. */
static void draw(set *s, uint64_t seed, int n, int d, double spread)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    s->n = n;
    s->d = d;
    for (int i = 0; i < n; i++) {
        double z = 0;
        for (int j = 0; j < d; j++) {
            const double x = mgvi_rng_normal(&rng);
            z += j < 3 ? x : 0;
            s->X[i * d + j] = x * pow(10, spread * (j % 5 - 2) / 2);
        }
        z += mgvi_rng_normal(&rng) / (0.1 + mgvi_rng_uniform(&rng));
        s->y[i] = 5 + rint(2 * z) / 2;
        s->weight[i] = (double)((i + 1) % 3);
    }
}

static mgv_certificate fit(const set *s, bool weighted, const char *options, int *stop)
{
    mgv_fit f;
    mgv_fit_start(&f, s->X, s->y, s->n, s->d, options);
    if (weighted)
        CHECK_OK(f.ctx, mgv_data_set_weights(f.ctx, f.data, s->weight));
    mgv_fit_solve(&f);
    const mgv_certificate c = f.certificate;
    *stop = f.run.stop;
    mgv_fit_free(&f);
    return c;
}

static const int shapes[][2] = {{60, 3}, {40, 90}, {90, 40}, {7, 2}};
static const char *const terms[] = {"loss=absolute", "loss=epsilon_insensitive epsilon=0.25",
                                    "loss=epsilon_insensitive epsilon=2"};
static const char *const penalties[] = {"l2", "l1", "enet"};

TEST(auto_certifies_weak_and_strong_penalties)
{
    static const double Cs[] = {1e-4, 0.1, 100, 1e4};
    static set s;
    char options[200];
    for (int k = 0; k < 4 * 3 * 3 * 4 * 2; k++) {
        const int *shape = shapes[k % 4];
        const double C = Cs[k / 4 % 4], spread = k / 144 ? 2 : 0;
        draw(&s, (uint64_t)k, shape[0], shape[1], spread);
        snprintf(options, sizeof options,
                 "task=regress %s penalty=%s C=%g intercept=%s scale=%s tol=1e-5",
                 terms[k / 16 % 3], penalties[k / 48 % 3], C, k % 5 ? "yes" : "no",
                 k % 7 < 4 ? "none" : "std");
        int stop;
        const mgv_certificate c = fit(&s, k % 3 == 0, options, &stop);
        CHECK_THAT(stop == MGV_STOP_CERTIFIED && c.verified, "%d x %d, spread %g, %s: stop %d, %g",
                   s.n, s.d, spread, options, stop, c.relative_gap);
    }
}

/* Two solvers' intervals for one problem overlap. */
TEST(solvers_agree)
{
    static set s;
    char options[200];
    for (int k = 0; k < 4 * 3 * 3; k++) {
        const int *shape = shapes[k % 4];
        double low = -INFINITY, high = INFINITY;
        draw(&s, 100 + (uint64_t)k, shape[0], shape[1], 0);
        for (int t = 0; t < SOLVERS; t++) {
            const int penalty = k / 12;
            if (!takes(solvers[t], penalty > 0, false))
                continue;
            snprintf(options, sizeof options,
                     "task=regress %s penalty=%s C=0.3 enet_share=0.5 solver=%s tol=1e-4",
                     terms[k / 4 % 3], penalties[penalty], solvers[t]);
            int stop;
            const mgv_certificate c = fit(&s, k % 2, options, &stop);
            low = fmax(low, c.dual);
            high = fmin(high, c.primal);
            CHECK_THAT(stop == MGV_STOP_CERTIFIED || strcmp(solvers[t], "primal_dual") == 0,
                       "%s: stop %d at %g", options, stop, c.relative_gap);
        }
        CHECK_THAT(low <= high * (1 + 1e-14), "%s: %.17g and %.17g", options, low, high);
    }
}

/* A width of 0 is the absolute loss: the same steps where both have the same formulas. */
TEST(no_width_is_the_absolute_loss)
{
    static set s;
    static const char *const others[] = {"penalty=l2 solver=proximal_newton",
                                         "penalty=l2 solver=dual_coordinate kernel=rbf",
                                         "penalty=l1 solver=proximal_newton"};
    for (int k = 0; k < 3; k++) {
        char options[200];
        mgv_certificate c[2];
        draw(&s, 300 + (uint64_t)k, 60, 3, 0);
        for (int t = 0; t < 2; t++) {
            int stop;
            snprintf(options, sizeof options, "task=regress %s C=1 tol=1e-6 loss=%s", others[k],
                     t ? "epsilon_insensitive epsilon=0" : "absolute");
            c[t] = fit(&s, false, options, &stop);
        }
        CHECK_NEAR(c[0].primal, c[1].primal, 1e-6 * c[0].primal, "%s", options);
        CHECK_NEAR(c[0].dual, c[1].dual, 1e-6 * c[0].primal, "%s", options);
    }
}

TEST(what_does_not_fit_is_said)
{
    static const char *const wrong[][2] = {
        {"task=regress loss=absolute C=1 solver=column_generation", "penalty l1 or enet"},
        {"task=regress loss=epsilon_insensitive C=1 solver=newton", "works with loss hinge"}};
    const double X[] = {1, 2, 3}, y[] = {1, 2, 4};
    for (int k = 0; k < 2; k++) {
        mgv_fit f;
        mgv_fit_start(&f, X, y, 3, 1, wrong[k][0]);
        CHECK_OK(f.ctx, mgv_problem_new(f.ctx, f.data, f.settings, &f.problem));
        CHECK_FAILS(f.ctx, mgv_solver_new(f.ctx, f.problem, f.settings, &f.solver),
                    MGV_E_UNSUPPORTED, wrong[k][1]);
        mgv_fit_free(&f);
    }
}

int main(void)
{
    return RUN(stored_optima_are_reached, auto_certifies_weak_and_strong_penalties, solvers_agree,
               no_width_is_the_absolute_loss, what_does_not_fit_is_said);
}
