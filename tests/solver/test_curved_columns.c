/* test_curved_columns.c - column_generation with losses that are no hinges: squared, huber and
 * logistic with l1 and elastic net, weak ones on columns that depend on each other above all. */
#include "base/rng.h"
#include "solver/driver.h"
#include "vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const losses[] = {"squared task=regress", "huber smoothing=0.5 task=regress",
                                     "logistic"};
enum { SQUARED, HUBER, LOGISTIC, LOSSES };

typedef struct set {
    int64_t n, d;
    double *X, *y, *weight; /* weights that are 0, 1 and 2 */
} set;

/* Columns of a few factors and some noise, one constant and two of them equal. */
static set draw(uint64_t seed, int64_t n, int64_t d, int loss)
{
    enum { FACTORS = 6 };
    set s = {.n = n, .d = d};
    mgvi_rng rng = mgvi_rng_seed(seed);
    s.X = malloc((size_t)(n * d) * sizeof *s.X);
    s.y = malloc((size_t)n * sizeof *s.y);
    s.weight = malloc((size_t)n * sizeof *s.weight);
    double *load = malloc((size_t)(d * FACTORS) * sizeof *load);
    for (int64_t t = 0; t < d * FACTORS; t++)
        load[t] = mgvi_rng_normal(&rng);
    for (int64_t i = 0; i < n; i++) {
        double factor[FACTORS], target = 0.3 * mgvi_rng_normal(&rng);
        for (int f = 0; f < FACTORS; f++)
            target += factor[f] = mgvi_rng_normal(&rng);
        for (int64_t j = 0; j < d; j++) {
            double x = 0.2 * mgvi_rng_normal(&rng);
            for (int f = 0; f < FACTORS; f++)
                x += 0.4 * load[j * FACTORS + f] * factor[f];
            s.X[i * d + j] = j == 2 ? 1 : x;
        }
        if (d > 4)
            s.X[i * d + 4] = s.X[i * d + 3];
        s.y[i] = loss == LOGISTIC ? (target + mgvi_rng_normal(&rng) > 0.5 ? 1 : -1) : target;
        s.weight[i] = (double)(i % 3);
    }
    s.y[1] = loss == LOGISTIC ? -1 : s.y[1];
    s.y[2] = loss == LOGISTIC ? 1 : s.y[2];
    free(load);
    return s;
}

static void release(set *s)
{
    free(s->X);
    free(s->y);
    free(s->weight);
}

/* s G'(z) of the definition, y the label or the target. */
static double slope(int loss, double y, double z)
{
    if (loss == LOGISTIC)
        return -y / (1 + exp(y * z));
    return loss == SQUARED ? z - y : fmax(-0.5, fmin(0.5, z - y));
}

/* The conditions of an optimum by plain loops, to `far` of mu. */
static void check_optimal(const mgv_fit *f, const set *s, bool weighted, int loss, double far,
                          const char *options)
{
    const double lambda = f->problem->lambda, mu = f->problem->mu;
    double *w = calloc((size_t)s->d, sizeof *w), *g = calloc((size_t)s->d, sizeof *g), b;
    double total = 0, free_slope = 0;
    mgvi_problem_user_weights(f->problem, mgv_fit_weights(f), w, &b);
    for (int64_t i = 0; i < s->n; i++)
        total += weighted ? s->weight[i] : 1;
    for (int64_t i = 0; i < s->n; i++) {
        double z = b;
        for (int64_t j = 0; j < s->d; j++)
            z += s->X[i * s->d + j] * w[j];
        const double u = (weighted ? s->weight[i] : 1) / total * slope(loss, s->y[i], z);
        free_slope += u;
        for (int64_t j = 0; j < s->d; j++)
            g[j] += u * s->X[i * s->d + j];
    }
    if (f->problem->free_cols)
        CHECK_NEAR(free_slope, 0, far * mu, "%s: the intercept", options);
    for (int64_t j = 0; j < s->d; j++) {
        const double pull = -g[j] - lambda * w[j];
        const double miss = w[j] == 0 ? fmax(fabs(pull) - mu, 0) : fabs(pull - copysign(mu, w[j]));
        CHECK_LE(miss, far * mu, "%s: column %d with weight %g", options, (int)j, w[j]);
    }
    free(w);
    free(g);
}

static mgv_fit fit(const set *s, bool weighted, const char *options)
{
    mgv_fit f;
    mgv_fit_start(&f, s->X, s->y, s->n, s->d, options);
    if (weighted)
        CHECK_OK(f.ctx, mgv_data_set_weights(f.ctx, f.data, s->weight));
    mgv_fit_solve(&f);
    CHECK_THAT(f.run.stop == MGV_STOP_CERTIFIED && f.certificate.verified, "%s: %s at %g", options,
               mgv_stop_name(f.run.stop), f.certificate.relative_gap);
    return f;
}

TEST(every_strength_and_shape_is_optimal)
{
    static const int64_t shapes[][2] = {{30, 200}, {40, 45}, {90, 12}, {6, 9}};
    static const char *const terms[] = {
        "mu=0.1", "mu=0.01", "mu=0.001", "mu=1e-4", "mu=1e-3 lambda=0.1", "mu=0.01 lambda=1e-4"};
    for (int k = 0; k < 4 * 6 * LOSSES * 4; k++) {
        const int loss = k % LOSSES, term = k / LOSSES % 6, shape = k / (LOSSES * 6) % 4;
        const bool intercept = k / (LOSSES * 24) & 1, weighted = k / (LOSSES * 24) & 2;
        set s = draw(7 + (uint64_t)k, shapes[shape][0], shapes[shape][1], loss);
        char options[200];
        snprintf(options, sizeof options, "loss=%s %s intercept=%s tol=1e-9 %s", losses[loss],
                 terms[term], intercept ? "yes" : "no", "solver=column_generation");
        mgv_fit f = fit(&s, weighted, options);
        check_optimal(&f, &s, weighted, loss, 1e-2, options);
        mgv_fit_free(&f);
        release(&s);
    }
}

/* The answer at the default tolerance has the zeros of the optimum. */
TEST(zeros_do_not_depend_on_the_tolerance)
{
    for (int k = 0; k < 4 * LOSSES; k++) {
        static const double strengths[] = {0.05, 5e-3, 5e-4, 5e-5};
        const int loss = k % LOSSES;
        set s = draw(70 + (uint64_t)k, 40, 150, loss);
        double *coarse = calloc((size_t)s.d, sizeof *coarse), b;
        for (int64_t i = 0; i < s.n; i++) /* without ties */
            s.X[i * s.d + 4] += 0.1 * sin((double)(i * i));
        for (int fine = 0; fine < 2; fine++) {
            char options[200];
            snprintf(options, sizeof options, "loss=%s mu=%g tol=%g solver=column_generation",
                     losses[loss], strengths[k / LOSSES], fine ? 1e-9 : 1e-4);
            mgv_fit f = fit(&s, false, options);
            double *w = calloc((size_t)s.d, sizeof *w);
            mgvi_problem_user_weights(f.problem, mgv_fit_weights(&f), w, &b);
            for (int64_t j = 0; j < s.d && fine; j++)
                CHECK_THAT((w[j] == 0) == (coarse[j] == 0), "%s: column %d is %g and %g", options,
                           (int)j, coarse[j], w[j]);
            memcpy(coarse, w, (size_t)s.d * sizeof *w);
            free(w);
            mgv_fit_free(&f);
        }
        free(coarse);
        release(&s);
    }
}

/* Columns of very different units and a strength that is nothing beside the largest: p and q are
 * then far larger than their difference. */
TEST(units_may_be_far_apart)
{
    for (int k = 0; k < 2 * LOSSES; k++) {
        const int loss = k % LOSSES;
        set s = draw(90 + (uint64_t)k, 300, 20, loss);
        for (int64_t t = 0; t < s.n * s.d; t++)
            s.X[t] *= pow(10, (double)(t % s.d % 7) - 3);
        char options[200];
        snprintf(options, sizeof options, "loss=%s mu=1e-7 %s solver=column_generation",
                 losses[loss], k < LOSSES ? "" : "lambda=1e-7");
        mgv_fit f = fit(&s, false, options);
        mgv_fit_free(&f);
        release(&s);
    }
}

/* Passes over nearly dependent columns do not end; `auto` counts them, within a step too. */
TEST(auto_hands_weak_strengths_over)
{
    for (int loss = 0; loss < LOSSES; loss++) {
        set s = draw(110 + (uint64_t)loss, 60, 900, loss);
        char options[200];
        snprintf(options, sizeof options, "loss=%s mu=1e-6 max_passes=600", losses[loss]);
        mgv_fit f = fit(&s, false, options);
        check_optimal(&f, &s, false, loss, 1e-4, options);
        mgv_fit_free(&f);
        release(&s);
    }
}

TEST(nothing_is_wanted_beyond_the_largest_strength)
{
    for (int loss = 0; loss < LOSSES; loss++) {
        set s = draw(120 + (uint64_t)loss, 30, 50, loss);
        char options[200];
        snprintf(options, sizeof options, "loss=%s mu=100 solver=column_generation", losses[loss]);
        mgv_fit f = fit(&s, true, options);
        CHECK(f.certificate.relative_gap <= 1e-12);
        check_optimal(&f, &s, true, loss, 1e-10, options);
        mgv_fit_free(&f);
        release(&s);
    }
}

TEST(threads_and_resuming_do_not_change_the_bits)
{
    for (int loss = 0; loss < LOSSES; loss++) {
        set s = draw(130 + (uint64_t)loss, 30, 200, loss);
        char options[200];
        snprintf(options, sizeof options, "loss=%s mu=0.003 tol=1e-10 solver=column_generation",
                 losses[loss]);
        mgv_check_same_bits(s.X, s.y, s.n, s.d, options, 1);
        release(&s);
    }
}

static mgv_status bind_and_run(mgv_ctx *ctx, const mgv_fit *f, mgv_problem **problem,
                               mgv_solver **solver)
{
    MGVI_TRY(mgv_problem_new(ctx, f->data, f->settings, problem));
    MGVI_TRY(mgv_solver_new(ctx, *problem, f->settings, solver));
    return mgv_solver_run(ctx, *solver);
}

/* True: nothing failed any more. */
static bool run_with_failure(const set *s, const char *options, long fail_at)
{
    mgv_check_allocator a;
    mgv_problem *problem = NULL;
    mgv_solver *solver = NULL;
    mgv_fit f = {.ctx = NULL};
    mgv_check_allocator_init(&a, 0);
    assert_int_equal(mgv_ctx_new(&a.hooks, &f.ctx), MGV_OK);
    CHECK_OK(f.ctx, mgv_data_from_dense(f.ctx, MGV_F64, s->X, s->n, s->d, s->d, 1, &f.data));
    CHECK_OK(f.ctx, mgv_data_set_labels(f.ctx, f.data, s->y));
    CHECK_OK(f.ctx, mgv_settings_new(f.ctx, &f.settings));
    mgv_fit_set(&f, options);
    a.fail_at = a.calls + fail_at;
    const mgv_status st = bind_and_run(f.ctx, &f, &problem, &solver);
    a.fail_at = 0;
    CHECK(st == MGV_OK || (st == MGV_E_MEMORY && mgv_ctx_error(f.ctx)[0]));
    mgv_solver_free(f.ctx, solver);
    mgv_problem_free(f.ctx, problem);
    mgv_fit_free(&f);
    assert_int_equal(a.live, 0);
    return st == MGV_OK;
}

TEST(every_allocation_may_fail)
{
    for (int loss = 0; loss < LOSSES; loss++) {
        set s = draw(140 + (uint64_t)loss, 9, 40, loss);
        char options[200];
        snprintf(options, sizeof options, "loss=%s mu=0.02 tol=1e-9 solver=column_generation",
                 losses[loss]);
        long fail_at = 1;
        while (!run_with_failure(&s, options, fail_at))
            fail_at++;
        CHECK(fail_at > 10);
        release(&s);
    }
}

TEST(l2_alone_is_refused)
{
    set s = draw(150, 10, 5, SQUARED);
    mgv_fit f;
    mgv_fit_start(&f, s.X, s.y, s.n, s.d,
                  "loss=squared task=regress lambda=1 solver=column_generation");
    CHECK_OK(f.ctx, mgv_problem_new(f.ctx, f.data, f.settings, &f.problem));
    CHECK_FAILS(f.ctx, mgv_solver_new(f.ctx, f.problem, f.settings, &f.solver), MGV_E_UNSUPPORTED,
                "works with penalty l1 or enet");
    mgv_fit_free(&f);
    release(&s);
}

int main(void)
{
    return RUN(every_strength_and_shape_is_optimal, zeros_do_not_depend_on_the_tolerance,
               units_may_be_far_apart, auto_hands_weak_strengths_over,
               nothing_is_wanted_beyond_the_largest_strength,
               threads_and_resuming_do_not_change_the_bits, every_allocation_may_fail,
               l2_alone_is_refused);
}
