/* test_looks.c - closer looks: bounds that hold where numbers nearly cancel, and runs that rounding
 * does not end while there is more to gain. */
#include "vectors.h"

#include "base/rng.h"
#include "certify/certify.h"

#include <math.h>
#include <string.h>

/* Entropy's conjugate is the logarithm of a mean that may be 1 but for its last bits: one equality,
 * D(u) = -log(mean_j e^(-a_j u)) - y u, recomputed by the series of both functions. */
static long double entropy_bound(const double *a, int d, long double y, long double u)
{
    long double mean = 0;
    for (int j = 0; j < d; j++)
        mean += expm1l(-(long double)a[j] * u) / d;
    return -log1pl(mean) - y * u;
}

TEST(the_logarithm_of_entropy_is_rounded_down)
{
    enum { D = 6 };
    for (int k = 0; k < 100; k++) {
        mgvi_rng rng = mgvi_rng_seed((uint64_t)k);
        double a[D], u = -1e-4 * (1 + mgvi_rng_uniform(&rng));
        const double y = 1e-9 * (1 + mgvi_rng_uniform(&rng));
        mgvi_arena arena;
        mgvi_judge *judge;
        mgvi_vec w;
        mgv_fit fit;
        for (int j = 0; j < D; j++)
            a[j] = 1e-10 * mgvi_rng_uniform(&rng);
        mgv_fit_start(&fit, a, &y, 1, D, "loss=equal task=regress penalty=entropy intercept=no");
        CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
        mgvi_arena_init(&arena, fit.ctx);
        CHECK_OK(fit.ctx, mgvi_judge_new(&arena, fit.problem, &judge));
        CHECK_OK(fit.ctx, mgvi_vec_new(&arena, MGVI_COLS, D, 1, &w));
        const mgvi_vec dual = mgvi_vec_wrap(&u, 1, MGVI_ROWS);
        const double proven = mgvi_judge_certify(judge, &w, &dual).certificate.dual;
        const long double exact = entropy_bound(a, D, y, u);
        CHECK_THAT(proven <= exact, "%d: %.17g is proven, not %.17Lg", k, proven, exact);
        mgvi_arena_free(&arena);
        mgv_fit_free(&fit);
    }
}

/* The dual point that is kept is looked at many times, and is still the one its bound was proven
 * with: D(u) = sum |u_i|, |A'u| <= mu, and u balanced. */
TEST(a_kept_dual_point_keeps_its_digits)
{
    enum { N = 12 };
    const double x[N] = {-4392353.5, -4392354, -4392353, -4392355.5, -4392354, -4392354.5,
                         -4392353,   -4392354, -4392353, -4392357,   -4392354, -4392353.5};
    const double y[N] = {0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 0, 0}, mu = 0.044705455859214836;
    const double *u;
    int64_t count;
    mgv_fit fit;
    mgv_fit_start(&fit, x, y, N, 1,
                  "loss=hinge penalty=linf mu=0.044705455859214836 tol=1e-9 solver=primal_dual");
    mgv_fit_solve(&fit);
    CHECK_OK(fit.ctx, mgv_solver_dual(fit.solver, &u, &count));
    long double sum = 0, sides[2] = {0, 0}, v = 0;
    for (int i = 0; i < N; i++) {
        sum -= (long double)u[i];
        sides[y[i] > 0] -= (long double)u[i];
    }
    const int heavy = sides[1] > sides[0]; /* what the balance leaves */
    for (int i = 0; i < N; i++) {
        const long double part = (y[i] > 0) == heavy ? sides[!heavy] / sides[heavy] : 1;
        v += (y[i] > 0 ? 1 : -1) * part * (long double)u[i] * ((long double)x[i] + 4392354);
    }
    const long double proven = 2 * sides[!heavy] * fminl(1, mu / fabsl(v));
    CHECK_THAT(fit.certificate.dual <= proven * (1 + 1e-15L) && sum > 0,
               "%.17g is proven, not %.17Lg, |A'u| = %.17Lg", fit.certificate.dual, proven, v);
    mgv_fit_free(&fit);
}

/* Rounding is owned up to where nothing else is left, not where a better pair would do: two points
 * whose polynomials are far larger than what tells them apart. */
TEST(a_gap_that_is_no_rounding_ends_no_run)
{
    enum { D = 18 };
    const double X[2 * D] = {
        18230.432849204455,  52010.151041116886,  44114.772070329389,  -939193.44665780512,
        -8443615.8884278983, -321136.6144871579,  -5967104.1172147086, 291773.12069900433,
        4071842.2127755643,  -1310225.1763941501, 1864.4637204767616,  12816.195427926514,
        41198.873354301148,  102938.87687617193,  8229578.4217460062,  556223.36185814277,
        14074.941194485858,  -219475.6893249217,  18236.225590249007,  52028.321020020361,
        44116.785270592212,  -939260.97220059996, -8440807.9565815404, -321060.56008965627,
        -5965099.5507225357, 291709.57524057664,  4073193.3734552665,  -1310116.9086737267,
        1864.5428084857763,  12817.379115509868,  41196.467980157278,  102977.22522894118,
        8231925.9833250912,  556207.1886847507,   14062.349642306928,  -219446.15719222499};
    const double y[2] = {0, 1};
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, 2, D,
                  "loss=hinge lambda=3.1750270011891479 intercept=no kernel=poly degree=4 offset=1 "
                  "sigma2=740028.86204944365 tol=1e-6 max_iter=2000");
    mgv_fit_solve(&fit);
    CHECK_THAT(fit.run.stop != MGV_STOP_ROUNDING && fit.certificate.verified, "%s",
               mgv_stop_name(fit.run.stop));
    mgv_fit_free(&fit);
}

/* Targets far larger than their spread, which an intercept takes away. */
TEST(far_targets_cost_no_digits_beside_an_intercept)
{
    enum { N = 8, D = 12 };
    static const char *const losses[] = {"equal", "interval epsilon=0.25", "squared lambda=0.01"};
    for (int k = 0; k < 12; k++) {
        mgvi_rng rng = mgvi_rng_seed((uint64_t)k);
        double X[N * D], y[N];
        char options[120];
        mgv_fit fit;
        for (int i = 0; i < N * D; i++)
            X[i] = mgvi_rng_normal(&rng);
        for (int i = 0; i < N; i++)
            y[i] = 1e6 + mgvi_rng_normal(&rng);
        snprintf(options, sizeof options, "task=regress penalty=l2 tol=1e-9 %s loss=%s",
                 k / 3 % 2 ? "kernel=rbf sigma2=4" : "", losses[k % 3]);
        mgv_fit_start(&fit, X, y, N, D, options);
        mgv_fit_solve(&fit);
        const mgv_certificate c = fit.certificate;
        CHECK_THAT(c.verified && fit.run.stop != MGV_STOP_ROUNDING, "%s: %s, %g", options,
                   mgv_stop_name(fit.run.stop), c.relative_gap);
        mgv_fit_free(&fit);
    }
}

/* Many contrasts of classes whose margin is a small part of their rows' length: what is left of the
 * balance of u is measured. */
TEST(a_small_margin_of_many_classes_is_known)
{
    enum { N = 400, D = 3, K = 3 };
    for (int k = 0; k < 4; k++) {
        mgvi_rng rng = mgvi_rng_seed((uint64_t)k);
        double X[N * D], W[K * D], y[N];
        mgv_fit fit;
        for (int j = 0; j < K * D; j++)
            W[j] = mgvi_rng_normal(&rng);
        for (int i = 0; i < N; i++) {
            double score[K] = {0};
            int best = 0;
            for (int j = 0; j < D; j++) {
                X[i * D + j] = mgvi_rng_normal(&rng);
                for (int c = 0; c < K; c++)
                    score[c] += W[c * D + j] * X[i * D + j];
            }
            for (int c = 1; c < K; c++)
                best = score[c] > score[best] ? c : best;
            y[i] = best;
        }
        mgv_fit_start(&fit, X, y, N, D,
                      "loss=margin penalty=l2 multiclass=joint scale=rownorm tol=1e-10");
        mgv_fit_solve(&fit);
        const mgv_certificate c = fit.certificate;
        CHECK_THAT(c.verified && c.relative_gap <= 1e-10, "%d: %s, %g", k,
                   mgv_stop_name(fit.run.stop), c.relative_gap);
        mgv_fit_free(&fit);
    }
}

int main(void)
{
    return RUN(the_logarithm_of_entropy_is_rounded_down, a_kept_dual_point_keeps_its_digits,
               a_gap_that_is_no_rounding_ends_no_run,
               far_targets_cost_no_digits_beside_an_intercept,
               a_small_margin_of_many_classes_is_known);
}
