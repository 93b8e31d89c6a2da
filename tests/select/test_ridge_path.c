/* test_ridge_path.c - every strength of every fold against its normal equations, and the solver
 * least_squares against the same. */
#include "vectors.h"

#include "base/rng.h"
#include "select/paths.h"
#include "select/selection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 50, D = 12 };

static void make(uint64_t seed, double *X, double *y, double *weights)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    for (int i = 0; i < N; i++) {
        y[i] = 5 + mgvi_rng_normal(&rng);
        weights[i] = 1 + mgvi_rng_below(&rng, 3);
        for (int j = 0; j < D; j++) {
            X[i * D + j] = (mgvi_rng_normal(&rng) + 1) * (1 + j % 4);
            y[i] += j < 3 ? X[i * D + j] : 0;
        }
    }
}

/* (sum v (x - m)(x - m)' + lambda diag(c^2)) w = sum v (x - m)(y - mean), v normalised weights over
 * the rows used, c = std^exponent; by elimination. Returns the intercept. */
static double direct(const double *X, const double *y, const double *weights, const bool *use,
                     bool intercept, double exponent, double lambda, double *w)
{
    double total = 0, mean[D] = {0}, ybar = 0, H[D][D + 1] = {{0}};
    for (int i = 0; i < N; i++)
        total += use[i] ? weights[i] : 0;
    for (int i = 0; intercept && i < N; i++)
        if (use[i]) {
            ybar += weights[i] / total * y[i];
            for (int j = 0; j < D; j++)
                mean[j] += weights[i] / total * X[i * D + j];
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; use[i] && j < D; j++) {
            const double x = weights[i] / total * (X[i * D + j] - mean[j]);
            for (int k = 0; k < D; k++)
                H[j][k] += x * (X[i * D + k] - mean[k]);
            H[j][D] += x * (y[i] - ybar);
        }
    for (int j = 0; j < D; j++)
        H[j][j] += lambda * pow(H[j][j], exponent);
    for (int k = 0; k < D; k++)
        for (int j = 0; j < D; j++)
            if (j != k) {
                const double f = H[j][k] / H[k][k];
                for (int t = k; t <= D; t++)
                    H[j][t] -= f * H[k][t];
            }
    for (int j = 0; j < D; j++) {
        w[j] = H[j][D] / H[j][j];
        ybar -= mean[j] * w[j];
    }
    return ybar;
}

TEST(every_strength_of_every_fold_is_its_own_solution)
{
    double X[N * D], y[N], weights[N], e[N];
    make(1, X, y, weights);
    for (int i = 0; i < N; i++)
        e[i] = sqrt(weights[i]);
    const mgvi_matrix dense = {.layout = MGV_DENSE,
                               .dtype = MGV_F64,
                               .rows = N,
                               .cols = D,
                               .nnz = N * D,
                               .val = X,
                               .row_stride = D,
                               .col_stride = 1};
    int64_t ptr[N + 1];
    int32_t idx[N * D];
    for (int t = 0; t < N * D; t++)
        idx[t] = t % D;
    for (int i = 0; i <= N; i++)
        ptr[i] = i * D;
    mgvi_matrix sparse = dense;
    sparse.layout = MGV_CSR;
    sparse.ptr = ptr;
    sparse.idx = idx;
    for (int which = 0; which < 8; which++) {
        const bool intercept = which & 1, root = which & 4;
        mgv_ctx *ctx = mgv_check_ctx();
        mgvi_arena arena;
        mgvi_arena_init(&arena, ctx);
        mgvi_split split;
        mgvi_lanes *lanes;
        mgvi_path path;
        const mgvi_rule rule = {.kind = MGVI_RULE_CV, .folds = 4};
        CHECK_OK(ctx, mgvi_split_new(&arena, &rule, &(mgvi_deal){.own = N, .seed = 3}, &split));
        const mgvi_lane_data data = {.stack = {which & 2 ? &sparse : &dense},
                                     .count = 1,
                                     .factor = e,
                                     .e = e,
                                     .y = y,
                                     .intercept = intercept,
                                     .weighting = root ? MGVI_WEIGHT_ROOT : MGVI_WEIGHT_NONE};
        CHECK_OK(ctx, mgvi_lanes_new(&arena, &data, &split, &lanes));
        mgvi_path_init(&path, ctx, "ridge path", "lambda");
        CHECK_OK(ctx, mgvi_ridge_path(&arena, lanes, &(mgvi_ridge_plan){.points = 13, .end = NAN},
                                      &path));
        CHECK(path.count == 13);
        for (int64_t q = 0; q < path.count; q++) {
            double coef[D], w[D];
            for (int l = 0; l <= 4; l++) {
                bool use[N];
                double held = 0, total = 0;
                for (int i = 0; i < N; i++)
                    use[i] = mgvi_split_trains(&split, i, l);
                const double b =
                    direct(X, y, weights, use, intercept, root ? .5 : 0, path.point[q].lambda, w);
                for (int i = 0; i < N; i++) {
                    double z = b;
                    for (int j = 0; j < D; j++)
                        z += X[i * D + j] * w[j];
                    held += use[i] ? 0 : weights[i] * (z - y[i]) * (z - y[i]);
                    total += use[i] ? 0 : weights[i];
                }
                if (l < 4)
                    CHECK_NEAR(path.errors[q * MGVI_SPLIT_LANES + l], held / total,
                               1e-3 * held / total, "case %d, strength %d, fold %d", which, (int)q,
                               l);
                else
                    CHECK_NEAR(path.point[q].intercept, b, 1e-3 * (1 + fabs(b)), "case %d", which);
            }
            CHECK(mgvi_path_weights(&path, q, D, coef));
            for (int j = 0; j < D; j++)
                CHECK_NEAR(coef[j], w[j], 1e-3, "case %d, strength %d, column %d", which, (int)q,
                           j);
        }
        mgvi_path_free(&path);
        mgvi_arena_free(&arena);
        mgv_ctx_free(ctx);
    }
}

TEST(least_squares_solves_the_normal_equations)
{
    static const char *const scales[] = {"none", "sqrt", "std"};
    double X[N * D], y[N], weights[N], w[D];
    bool all[N];
    make(2, X, y, weights);
    for (int i = 0; i < N; i++)
        all[i] = true;
    for (int k = 0; k < 5; k++) {
        char options[200];
        const bool intercept = k < 3;
        snprintf(options, sizeof options,
                 "task=regress penalty=l2 solver=least_squares lambda=.3 tol=1e-12 scale=%s "
                 "intercept=%s",
                 scales[k % 3], intercept ? "yes" : "no");
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, options);
        CHECK_OK(fit.ctx, mgv_data_set_weights(fit.ctx, fit.data, weights));
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.run.iterations <= 2 * D, "%s: %s",
                   options, mgv_stop_name(fit.run.stop));
        double coef[D], own;
        mgvi_problem_user_weights(fit.problem, mgv_fit_weights(&fit), coef, &own);
        if (intercept) { /* root without an intercept scales by the rms, which direct() does too */
            const double b = direct(X, y, weights, all, intercept, (k % 3) / 2.0, .3, w);
            CHECK_NEAR(own, b, 1e-6, "%s: intercept", options);
        } else {
            direct(X, y, weights, all, intercept, (k % 3) / 2.0, .3, w);
        }
        for (int j = 0; j < D; j++)
            CHECK_NEAR(coef[j], w[j], 1e-6, "%s: column %d", options, j);
        mgv_fit_free(&fit);
    }
}

/* The folds prefer what fits the data: dense truth, ridge; sparse truth, something sparse. */
TEST(penalty_auto_compares_and_says_so)
{
    enum { ROWS = 60, COLS = 80 };
    double *X = malloc(ROWS * COLS * sizeof *X), y[ROWS];
    for (int dense = 0; dense < 2; dense++) {
        mgvi_rng rng = mgvi_rng_seed(5);
        for (int i = 0; i < ROWS; i++) {
            y[i] = .1 * mgvi_rng_normal(&rng);
            for (int j = 0; j < COLS; j++) {
                X[i * COLS + j] = mgvi_rng_normal(&rng);
                y[i] += dense ? .2 * X[i * COLS + j] : j < 3 ? X[i * COLS + j] : 0;
            }
        }
        mgv_fit fit;
        mgv_selection *s;
        mgv_fit_start(&fit, X, y, ROWS, COLS, "task=regress select=cv:5");
        CHECK_OK(fit.ctx, mgv_selection_run(fit.ctx, fit.data, fit.settings, &s));
        mgv_selection_info info = {.size = sizeof info};
        mgv_selection_describe(s, &info);
        CHECK(info.compared == 3);
        CHECK_THAT((strcmp(info.method, "ridge path") == 0) == dense, "%s", info.method);
        CHECK(s->solver->stop == MGV_STOP_CERTIFIED || s->solver->stop == MGV_STOP_SELECTED);
        for (int64_t k = 0; k < info.compared; k++) {
            mgv_path_point p = {.size = sizeof p};
            const char *method;
            double seconds;
            CHECK_OK(fit.ctx, mgv_selection_compared(s, k, &method, &p, &seconds));
            CHECK(p.score >= info.score);
        }
        mgv_selection_free(fit.ctx, s);
        mgv_fit_free(&fit);
    }
    free(X);
}

int main(void)
{
    return RUN(every_strength_of_every_fold_is_its_own_solution,
               least_squares_solves_the_normal_equations, penalty_auto_compares_and_says_so);
}
