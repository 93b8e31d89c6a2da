/* test_rates.c - the papers' theorems hold for their methods, with the constants as corrected; the
 * Hoffman constant against its definition. */
#include "certify/rates.h"
#include "linalg/eigen.h"
#include "solver/margin_runs.h"

/* ---- the Hoffman constant -------------------------------------------------------------------- */

/* Over all n rows of [I; X'; 1'] that are independent: the largest 1/sigma_min. */
static double by_definition(const double *X, int n, int d)
{
    const int all = n + d + 1;
    double best = 0;
    for (int mask = 0; mask < 1 << all; mask++) {
        double M[64] = {0}, S[64], V[64], value[8];
        int rows = 0;
        if (__builtin_popcount((unsigned)mask) != n)
            continue;
        for (int r = 0; r < all; r++)
            for (int i = 0; (mask >> r & 1) && i < n; i++, rows += i == n)
                M[rows * n + i] = r < n ? r == i : r < n + d ? X[i * d + r - n] : 1;
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) {
                S[a * n + b] = 0;
                for (int i = 0; i < n; i++)
                    S[a * n + b] += M[a * n + i] * M[b * n + i];
            }
        mgvi_eigen_symmetric(n, S, V, value);
        if (value[n - 1] > 1e-12 * value[0])
            best = fmax(best, 1 / sqrt(value[n - 1]));
    }
    return best;
}

TEST(the_hoffman_constant)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_rng rng = mgvi_rng_seed(3);
    for (int n = 1; n <= 6; n++)
        for (int d = 1; d <= 3; d++) {
            double X[18], tau;
            for (int i = 0; i < n * d; i++)
                X[i] = mgvi_rng_normal(&rng);
            if (n == 5) /* twins: choices that are dependent */
                memcpy(X + d, X, (size_t)d * sizeof *X);
            CHECK_OK(ctx, mgvi_hoffman(ctx, X, n, d, &tau));
            const double known = by_definition(X, n, d);
            CHECK_NEAR(tau, known, 1e-6 * known, "%d x %d", n, d);
        }
    double X[24] = {1}, tau;
    CHECK_FAILS(ctx, mgvi_hoffman(ctx, X, 1, 24, &tau), MGV_E_UNSUPPORTED, "at most");
    CHECK_FAILS(ctx, mgvi_hoffman(ctx, X, 100000, 3, &tau), MGV_E_UNSUPPORTED, "choices");
    mgv_ctx_free(ctx);
}

/* ---- dual diagonal descent ------------------------------------------------------------------- */

typedef struct known_set {
    margin_set set;
    double *w, *b;
    mgvi_descent_facts facts; /* for u_0 = 0 and a step of 1/L */
    double L;
} known_set;

/* Its rows and numbers times `unit`. */
static known_set load(const char *name, double unit)
{
    known_set k = {.set = margin_set_load(name)};
    json_t *v = mgv_vector_load(name);
    k.w = mgv_vector_array(v, "w_star", NULL);
    k.b = mgv_vector_array(v, "beta_star", NULL);
    json_decref(v);
    const int64_t n = k.set.n, d = k.set.d;
    double *S = calloc((size_t)(d * d), sizeof *S), *E = calloc((size_t)(d * d), sizeof *E);
    double *value = calloc((size_t)d, sizeof *value);
    mgvi_descent_facts *f = &k.facts;
    for (int64_t i = 0; i < n * d; i++) {
        k.set.X[i] *= unit;
        f->X_frobenius += k.set.X[i] * k.set.X[i];
    }
    for (int64_t i = 0; i < n; i++) {
        k.b[i] /= unit * unit;
        f->total += k.b[i];
        f->u_star += k.b[i] * k.b[i];
        for (int64_t a = 0; a < d; a++)
            for (int64_t b = 0; b < d; b++)
                S[a * d + b] += k.set.X[i * d + a] * k.set.X[i * d + b];
    }
    for (int64_t j = 0; j < d; j++)
        k.w[j] /= unit;
    mgvi_eigen_symmetric(d, S, E, value);
    k.L = value[0];
    f->w_star = margin_norm(k.w, d);
    f->u_star = f->distance = sqrt(f->u_star);
    f->sum = f->total;
    f->X_frobenius = sqrt(f->X_frobenius);
    f->X_norm = sqrt(k.L);
    f->gamma = 1 / k.L;
    free(S);
    free(E);
    free(value);
    return k;
}

static void forget(known_set *k)
{
    margin_set_free(&k->set);
    free(k->w);
    free(k->b);
}

/* |w_t - w*|, the angle and the margin of the iterate, against a rate. */
static void check_rate(const known_set *k, const double *w, const mgvi_descent_rate *rate, int t,
                       const char *what)
{
    const int64_t n = k->set.n, d = k->set.d;
    double far = 0, turned = 0, least = INFINITY;
    const double length = margin_norm(w, d), star = k->facts.w_star;
    for (int64_t j = 0; j < d; j++) {
        far += (w[j] - k->w[j]) * (w[j] - k->w[j]);
        turned += pow(w[j] / length - k->w[j] / star, 2) / 2; /* 1 - cos */
    }
    for (int64_t i = 0; i < n; i++) {
        double z = 0;
        for (int64_t j = 0; j < d; j++)
            z += k->set.y[i] * k->set.X[i * d + j] * w[j];
        least = fmin(least, z / length);
    }
    CHECK_LE(sqrt(far), rate->distance, "%s: distance at %d", what, t);
    if (t < rate->t_star)
        return;
    CHECK_LE(turned, rate->angle, "%s: angle at %d", what, t);
    CHECK_LE(1 / star - least, rate->margin, "%s: margin at %d", what, t);
    CHECK_LE(star, 2 * length, "%s: length at %d", what, t);
}

TEST(theorems_5_1_and_5_2)
{
    static const char *const sets[] = {"margin_linear_p2", "margin_wide_p2"};
    static const double units[] = {1, 1e3, 1e-3}, alphas[] = {0, 3, 10};
    for (int s = 0; s < 6; s++) {
        known_set k = load(sets[s / 3], units[s % 3]);
        double most = 0;
        k.facts.tau = 1;
        for (int64_t i = 0; i < k.set.n; i++)
            most = fmax(most, k.b[i]);
        for (int a = 0; a < 3; a++) {
            char options[200];
            mgv_fit fit;
            k.facts.alpha = alphas[a];
            if (alphas[a] == 0 && s / 3 == 0) {
                mgv_ctx *ctx = mgv_check_ctx();
                CHECK_OK(ctx, mgvi_hoffman(ctx, k.set.X, k.set.n, k.set.d, &k.facts.tau));
                mgv_ctx_free(ctx);
            } else if (alphas[a] == 0) {
                continue; /* 20 columns: too many choices */
            }
            snprintf(options, sizeof options,
                     "preset=apidopoulos-alg2-theorem inertia=%g lambda0=%.17g lipschitz=%.17g",
                     alphas[a], 0.999 / most, k.L);
            margin_open(&fit, &k.set, options);
            int late = 0;
            for (int t = 1; t <= 2000; t++) {
                margin_step(&fit);
                const mgvi_descent_rate rate = alphas[a] == 0
                                                   ? mgvi_descent_rate_plain(&k.facts, t)
                                                   : mgvi_descent_rate_inertial(&k.facts, t);
                check_rate(&k, fit.solver->run.ops->expose(&fit.solver->run).w->x, &rate, t,
                           options);
                late += t >= rate.t_star;
            }
            CHECK_THAT(late > 0 || alphas[a] == 0, "%s: t_star is beyond the test", options);
            mgv_fit_free(&fit);
        }
        forget(&k);
    }
}

/* One row of length 1: u* = -1, w* = x, X' u = -w. With the step 1/2 the distance halves in every
 * step, and (5.4) is between that and C = |w*|. Half way, t_star is where the bound is |w*|/2. */
TEST(the_linear_rate_by_hand)
{
    mgvi_descent_facts f = {.w_star = 1,
                            .u_star = 1,
                            .sum = 1,
                            .total = 1,
                            .distance = 1,
                            .X_norm = 1,
                            .X_frobenius = 1,
                            .gamma = 0.5,
                            .tau = 1};
    const double root = 3 * sqrt(0.5) + sqrt(2) * 2, mu = 1 / (8 * (root * root + 2));
    CHECK_NEAR(mgvi_descent_mu(&f), mu, 1e-16, "mu");
    for (int t = 0; t <= 50; t += 10) {
        const mgvi_descent_rate rate = mgvi_descent_rate_plain(&f, t);
        CHECK_NEAR(rate.distance, pow(1 - mu / 2 / (1 + mu / 2), t / 2.0), 1e-14, "at %d", t);
        CHECK_LE(pow(0.5, t), rate.distance, "at %d", t);
        CHECK_NEAR(mgvi_descent_rate_plain(&f, rate.t_star).distance, 0.5, 1e-12, "t_star");
    }
    f.alpha = 3;
    const mgvi_descent_rate inertial = mgvi_descent_rate_inertial(&f, 8);
    CHECK_NEAR(inertial.distance, 2 * sqrt(3) / 10, 1e-15, "C = 2 sqrt(-1 + 2 + 2)");
    CHECK_NEAR(mgvi_descent_rate_inertial(&f, inertial.t_star).distance, 0.5, 1e-12, "t_star");
}

/* ---- momentum -------------------------------------------------------------------------------- */

TEST(theorem_3_1_of_the_momentum_method)
{
    static const char *const sets[] = {"margin_linear_p2", "margin_wide_p2", "margin_toy_p2"};
    for (int k = 0; k < 3; k++) {
        margin_set s = margin_set_load(sets[k]);
        const double gamma = s.gamma / s.radius, n = (double)s.n;
        mgv_fit fit;
        margin_open(&fit, &s, "preset=ji-alg1");
        for (int t = 1; t <= 1000; t++) {
            margin_step(&fit);
            const double g = margin_norm(margin_kept(&fit, "g"), s.d);
            const mgvi_interval square = mgvi_momentum_square(g, n, t);
            const double least = margin_judge(&fit).margin / s.radius;
            CHECK_LE(square.low, gamma * gamma * (1 + 1e-12), "%s at %d", sets[k], t);
            CHECK_LE(gamma * gamma * (1 - 1e-12), square.high, "%s at %d", sets[k], t);
            CHECK_LE(mgvi_momentum_least(gamma, n, t), least + 1e-12, "%s at %d", sets[k], t);
            CHECK_LE(mgvi_momentum_least_half(gamma, n, t), least + 1e-12, "%s at %d", sets[k], t);
            CHECK_NEAR(square.high, pow(margin_judge(&fit).margin_upper / s.radius, 2), 1e-12,
                       "%s at %d", sets[k], t);
        }
        mgv_fit_free(&fit);
        margin_set_free(&s);
    }
}

/* Nothing separates: the interval holds 0, and closes. */
TEST(the_interval_without_a_margin)
{
    static const double X[] = {1, 0, 0.5, -0.5, -0.5, -0.5, -0.25, -0.1}, y[] = {1, -1, 1, -1};
    const margin_set s = {.n = 4, .d = 2, .X = (double *)X, .y = (double *)y};
    mgv_fit fit;
    margin_open(&fit, &s, "preset=ji-alg1");
    for (int t = 1; t <= 400; t++) {
        margin_step(&fit);
        const mgvi_interval square =
            mgvi_momentum_square(margin_norm(margin_kept(&fit, "g"), 2), 4, t);
        CHECK(square.low == 0);
        CHECK_LE(square.high, 8 * log(4) / (t + 1) / (t + 1) + 1e-15, "at %d", t);
    }
    mgv_fit_free(&fit);
}

TEST(theorem_5_1_of_many_classes)
{
    json_t *v = mgv_vector_load("margin_multiclass");
    int64_t n, d = 4;
    double *X = mgv_vector_array(v, "X", NULL), *y = mgv_vector_array(v, "c", &n), most = 0;
    const double gamma = mgv_vector_number(json_object_get(v, "gamma_m"));
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, margin_norm(X + i * d, d)); /* examples, not pairs */
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, n, d, "preset=ji-alg1 multiclass=joint task=classify");
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_OK(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver));
    for (int t = 1; t <= 500; t++) {
        margin_step(&fit);
        CHECK_LE(mgvi_momentum_least_classes(gamma / most, 2 * (double)n, t),
                 margin_judge(&fit).margin / most + 1e-12, "at %d", t);
    }
    mgv_fit_free(&fit);
    free(X);
    free(y);
    json_decref(v);
}

/* Theorem 4.1: as often as it promises, at least. */
TEST(the_sampled_method_keeps_its_promise)
{
    margin_set s = margin_set_load("margin_toy_p2");
    const double gamma = s.gamma / s.radius, epsilon = 0.5 * gamma, delta = 0.2;
    const double steps = mgvi_sampled_steps(gamma, (double)s.n, epsilon, delta);
    CHECK_NEAR(mgvi_sampled_steps(1, exp(1), 1, 0.5), ceil(32 + 64 * log(4)), 0, "first");
    CHECK_NEAR(mgvi_sampled_steps(1, exp(1), 1, 0.01), 3200, 0, "second");
    int kept = 0;
    for (int seed = 1; seed <= 10; seed++) {
        char options[160];
        snprintf(options, sizeof options, "preset=ji-alg2-theorem max_iter=%d seed=%d", (int)steps,
                 seed);
        mgv_fit fit;
        margin_open(&fit, &s, options);
        for (int t = 0; t < (int)steps; t++)
            margin_step(&fit);
        kept += margin_judge(&fit).margin / s.radius >= gamma - epsilon;
        mgv_fit_free(&fit);
    }
    CHECK_THAT(kept >= 8, "%d of 10", kept);
    margin_set_free(&s);
}

int main(void)
{
    return RUN(the_hoffman_constant, theorems_5_1_and_5_2, the_linear_rate_by_hand,
               theorem_3_1_of_the_momentum_method, the_interval_without_a_margin,
               theorem_5_1_of_many_classes, the_sampled_method_keeps_its_promise);
}
