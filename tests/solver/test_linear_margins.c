/* test_linear_margins.c - the hard margin in l1 and l-infinity, and the linear system of the
 * interior point, dense and sparse, by rows and by columns. */
#include "failing_memory.h"
#include "margin_runs.h"

#include "base/rng.h"
#include "solver/margin/interior.h"

#include <stdio.h>

static const char *const norms[] = {"penalty=l1", "penalty=linf"};

/* Two points x and z: the margin with an intercept is half their distance in the dual norm. */
TEST(two_points_and_their_distance)
{
    const double X[] = {1, -2, 0.5, 4, 1, 0.25}, y[] = {1, -1};
    const double half[] = {1.5, 0.5 * (3 + 3 + 0.25)};
    for (int k = 0; k < 2; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, 2, 3, "loss=margin tol=1e-9");
        mgv_fit_set(&fit, norms[k]);
        mgv_fit_solve(&fit);
        CHECK_THAT(strcmp(fit.run.solver, "exact_margin") == 0, "auto took %s", fit.run.solver);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.separable == 1);
        CHECK_NEAR(fit.certificate.margin, half[k], 2e-9 * half[k], "%s", norms[k]);
        CHECK_NEAR(fit.certificate.margin_upper, half[k], 2e-9 * half[k], "%s", norms[k]);
        mgv_fit_free(&fit);
    }
}

/* Weights 1, 1/2, 1/4 over rows e_1, 2 e_2, 4 e_3 have margin 1 each: without an intercept
 * gamma = 1/|w|. */
TEST(a_corner_known_by_hand)
{
    const double X[] = {1, 0, 0, 0, -2, 0, 0, 0, 4}, y[] = {1, -1, 1};
    const double gamma[] = {1 / 1.75, 1};
    for (int k = 0; k < 2; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, 3, 3, "loss=margin intercept=no tol=1e-10");
        mgv_fit_set(&fit, norms[k]);
        mgv_fit_solve(&fit);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
        CHECK_NEAR(fit.certificate.margin, gamma[k], 1e-9, "%s", norms[k]);
        mgv_fit_free(&fit);
    }
}

/* Certified to 1e-9 whatever the shape, few and many rows, and in order: |w|_p falls with p. */
TEST(shapes_units_and_intercepts)
{
    static const int64_t shape[][2] = {{2, 1}, {2, 5}, {30, 100}, {61, 60}, {208, 60}, {1500, 20}};
    static const char *const all[] = {"penalty=l1", "p=1.5", "p=2", "penalty=linf"};
    static const double factor[] = {1, 1e7, 1e-7};
    for (size_t k = 0; k < sizeof shape / sizeof *shape; k++)
        for (int variant = 0; variant < 6; variant++) {
            const int64_t n = shape[k][0], d = shape[k][1];
            double *X, *y, before = 0;
            margin_points(40 + k, n, d, factor[variant / 2], &X, &y);
            for (int p = 0; p < 4; p++) {
                mgv_fit fit;
                mgv_fit_start(&fit, X, y, n, d, "loss=margin tol=1e-9");
                mgv_fit_set(&fit, all[p]);
                mgv_fit_set(&fit, variant % 2 ? "intercept=yes" : "intercept=no");
                mgv_fit_solve(&fit);
                CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%d x %d, %s: %s, gap %g", (int)n,
                           (int)d, all[p], mgv_stop_name(fit.run.stop),
                           fit.certificate.relative_gap);
                CHECK_LE(before, fit.certificate.margin_upper, "%s", all[p]);
                before = fit.certificate.margin;
                mgv_fit_free(&fit);
            }
            free(X);
            free(y);
        }
}

/* More rows than are taken at once, and a first W that takes more than half of their work: all of
 * them join it, and there is no second round. */
TEST(all_rows_join_where_rounds_are_dearer)
{
    enum { N = 340, D = 40 };
    double *X, *y;
    margin_points(7, N, D, 1, &X, &y);
    for (int k = 0; k < 2; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, "loss=margin tol=1e-9");
        mgv_fit_set(&fit, norms[k]);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s", norms[k]);
        CHECK_THAT(fit.run.iterations == 1, "%s: %d rounds", norms[k], (int)fit.run.iterations);
        mgv_fit_free(&fit);
    }
    free(X);
    free(y);
}

TEST(inseparable_sets_are_proven)
{
    static const int64_t shape[][2] = {{300, 8}, {150, 20}, {3000, 10}};
    for (uint64_t seed = 60; seed < 66; seed++)
        for (int k = 0; k < 6; k++) {
            const int64_t n = shape[k % 3][0], d = shape[k % 3][1];
            double *X, *y;
            mgv_random_set(seed, n, d, 1, &X, &y);
            mgv_fit fit;
            mgv_fit_start(&fit, X, y, n, d, "loss=margin");
            mgv_fit_set(&fit, norms[k / 3]);
            mgv_fit_set(&fit, seed % 2 ? "intercept=yes" : "intercept=no");
            mgv_fit_solve(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_INFEASIBLE, "seed %d, %d x %d: %s", (int)seed,
                       (int)n, (int)d, mgv_stop_name(fit.run.stop));
            mgv_fit_free(&fit);
            free(X);
            free(y);
        }
}

/* Margins far below the size of the rows: w = A'b would have none of its digits left. */
TEST(thin_margins_to_the_tolerance)
{
    static const double thickness[] = {1e-3, 2e-5, 1e-6, 1e-7};
    static const char *const all[] = {"penalty=l1", "penalty=linf", "p=2", "p=1.5"};
    enum { N = 60, D = 5 };
    for (int k = 0; k < 4; k++)
        for (int p = 0; p < 4; p++) {
            double X[N * D], y[N];
            mgvi_rng rng = mgvi_rng_seed(11);
            for (int i = 0; i < N; i++) {
                y[i] = i % 2 ? 1 : -1;
                for (int j = 0; j < D; j++)
                    X[i * D + j] = j < D - 1 ? mgvi_rng_normal(&rng)
                                             : y[i] * thickness[k] * (1 + mgvi_rng_uniform(&rng));
            }
            mgv_fit fit;
            mgv_fit_start(&fit, X, y, N, D, "loss=margin tol=1e-6");
            mgv_fit_set(&fit, all[p]);
            mgv_fit_solve(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s, %g: gap %g", all[p], thickness[k],
                       fit.certificate.relative_gap);
            mgv_fit_free(&fit);
        }
}

TEST(the_same_bits_again)
{
    double *X, *y;
    margin_points(80, 700, 30, 1, &X, &y);
    for (int k = 0; k < 2; k++) {
        char all[60];
        snprintf(all, sizeof all, "loss=margin tol=1e-8 %s", norms[k]);
        mgv_check_same_bits(X, y, 700, 30, all, 1);
    }
    free(X);
    free(y);
}

/* ---- the system ------------------------------------------------------------------------------ */

enum { MOST = 40 };

/* What is left of the equations of margin_system.h, the largest of all. */
static double residual(const mgvi_margin_system *s, const double *Z, const mgvi_system_sides *b,
                       const mgvi_system_step *x)
{
    const int64_t n = s->Z->rows, d = s->Z->cols;
    const double dt = x->rim[2];
    double worst = 0, sum[2] = {-b->rim[0], -b->rim[1]}, last = -b->rim[2] - s->kappa * dt;
    for (int64_t i = 0; i < n; i++) {
        double left = b->r[i] - s->D[i] * x->q[i];
        for (int c = 0; c < 2; c++) {
            left -= s->B[c][i] * x->rim[c];
            sum[c] += s->B[c][i] * x->q[i];
        }
        for (int64_t j = 0; j < d; j++)
            left -= Z[i * d + j] * x->w[j];
        worst = fmax(worst, fabs(left));
    }
    for (int64_t j = 0; j < d; j++) {
        double g = 0;
        for (int64_t i = 0; i < n; i++)
            g += Z[i * d + j] * x->q[i];
        worst = fmax(worst, fabs(x->w[j] - s->K[j] * (g - s->e[j] * dt + b->k[j])));
        last += s->K[j] * s->e[j] * g;
    }
    return fmax(worst, fmax(fabs(last), fmax(fabs(sum[0]), fabs(sum[1]))));
}

/* Three of four entries are 0; kept by rows of a CSR matrix or dense. */
static void start_block(mgv_fit *fit, bool sparse, int64_t n, int64_t d, double *Z, double *y)
{
    static int64_t ptr[MOST + 1];
    static int32_t idx[MOST * MOST];
    static double val[MOST * MOST];
    mgvi_rng rng = mgvi_rng_seed(5);
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        y[i] = i % 2 ? 1 : -1;
        ptr[i] = at;
        for (int64_t j = 0; j < d; j++) {
            const double x = (i + j) % 4 == 0 ? mgvi_rng_normal(&rng) : 0;
            Z[i * d + j] = x;
            if (x != 0) {
                idx[at] = (int32_t)j;
                val[at++] = x;
            }
        }
        ptr[i + 1] = at;
    }
    mgv_fit_start(fit, Z, y, n, d, "loss=margin penalty=l1 intercept=no");
    if (sparse) {
        mgv_data_free(fit->ctx, fit->data);
        CHECK_OK(fit->ctx,
                 mgv_data_from_sparse(fit->ctx, MGV_CSR, MGV_F64, val, ptr, idx, n, d, &fit->data));
        CHECK_OK(fit->ctx, mgv_data_set_labels(fit->ctx, fit->data, y));
    }
    mgv_fit_solve(fit);
    for (int64_t i = 0; i < n * d; i++)
        Z[i] *= y[i / d];
}

TEST(the_system_in_every_form)
{
    static const int64_t shape[][2] = {{12, 40}, {40, 12}, {2, 3}, {3, 1}};
    for (int form = 0; form < 8; form++) {
        const int64_t n = shape[form / 2][0], d = shape[form / 2][1];
        double Z[MOST * MOST], y[MOST], minus[MOST], r[MOST], k[MOST];
        double q[MOST], w[MOST], g[MOST];
        int32_t W[MOST];
        mgv_fit fit;
        mgvi_arena arena;
        mgvi_rows *rows;
        mgvi_margin_block block;
        mgvi_margin_system s;
        bool definite;
        start_block(&fit, form % 2, n, d, Z, y);
        mgvi_arena_init(&arena, fit.ctx);
        for (int i = 0; i < n; i++)
            W[i] = i;
        CHECK_OK(fit.ctx, mgvi_rows_new(fit.problem->A, &arena, &rows));
        CHECK_OK(fit.ctx, mgvi_margin_block_new(fit.problem, rows, W, n, &arena, &block));
        CHECK(block.by_columns == (d < n));
        CHECK(n < 12 || d < 12 || (block.dense != NULL) == (form % 2 == 0));
        CHECK_OK(fit.ctx, mgvi_margin_system_new(&arena, &block, &s));
        mgvi_rng rng = mgvi_rng_seed(9);
        for (int i = 0; i < n; i++) {
            minus[i] = -1;
            r[i] = mgvi_rng_normal(&rng);
            s.D[i] = 0.1 + mgvi_rng_uniform(&rng);
        }
        for (int j = 0; j < d; j++) {
            k[j] = mgvi_rng_normal(&rng);
            s.e[j] = mgvi_rng_normal(&rng);
            s.K[j] = j % 5 == 4 ? 0 : 0.1 + mgvi_rng_uniform(&rng);
        }
        s.B[0] = y;
        s.B[1] = minus;
        s.rims = 2;
        s.coupled = true;
        s.kappa = 100;
        const mgvi_system_sides b = {.r = r, .k = k, .rim = {0.5, -0.25, 2}};
        mgvi_system_step x = {.q = q, .w = w, .g = g};
        CHECK_OK(fit.ctx, mgvi_margin_system_factor(&s, &definite));
        CHECK(definite);
        CHECK_OK(fit.ctx, mgvi_margin_system_solve(&s, &b, 1, &x));
        CHECK_LE(residual(&s, Z, &b, &x), 1e-9, "form %d", form);
        mgvi_arena_free(&arena);
        mgv_fit_free(&fit);
    }
}

/* Columns that are zero in all rows change no margin, and the block has none of them. */
TEST(columns_of_zeros)
{
    enum { N = 30, D = 20, WIDE = 2 * D + 1 };
    static const char *const all[] = {"penalty=l1", "p=1.5", "penalty=linf"};
    double *X, *y, wide[N * WIDE] = {0}, margin[2];
    margin_points(7, N, D, 1, &X, &y);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < D; j++)
            wide[i * WIDE + 2 * j + 1] = X[i * D + j];
    for (int k = 0; k < 3; k++) {
        for (int zeros = 0; zeros < 2; zeros++) {
            mgv_fit fit;
            mgvi_arena arena;
            mgvi_rows *rows;
            mgvi_margin_block block;
            int32_t W[N];
            mgv_fit_start(&fit, zeros ? wide : X, y, N, zeros ? WIDE : D,
                          "loss=margin intercept=no tol=1e-8");
            mgv_fit_set(&fit, all[k]);
            mgv_fit_solve(&fit);
            CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
            margin[zeros] = fit.certificate.margin;
            for (int i = 0; i < N; i++)
                W[i] = i;
            mgvi_arena_init(&arena, fit.ctx);
            CHECK_OK(fit.ctx, mgvi_rows_new(fit.problem->A, &arena, &rows));
            CHECK_OK(fit.ctx, mgvi_margin_block_new(fit.problem, rows, W, N, &arena, &block));
            CHECK(block.dense && block.cols == D);
            for (int j = 0; j < D && zeros; j++)
                CHECK(block.kept[j] == 2 * j + 1);
            mgvi_arena_free(&arena);
            mgv_fit_free(&fit);
        }
        CHECK_NEAR(margin[1], margin[0], 2e-8 * margin[0], "%s", all[k]);
    }
    free(X);
    free(y);
}

TEST(every_allocation_may_fail)
{
    static const char *const options[] = {"penalty=l1", "penalty=linf", "p=1.5"};
    double *X, *y;
    mgv_random_set(12, 30, 4, 1, &X, &y); /* no margin: the proof as well */
    for (size_t t = 0; t < sizeof options / sizeof *options; t++)
        failing_memory_check(X, y, 30, 4, "loss=margin", options[t]);
    free(X);
    free(y);
}

/* A linear programme has a solution with no more weights than rows and an intercept; the interior
 * point, which has all of them, leaves no dust. */
TEST(l1_margins_are_sparse)
{
    enum { ROWS = 25, COLS = 150, SETS = 12 };
    for (int k = 0; k < SETS; k++) {
        double *X, *y;
        mgv_fit fit;
        mgv_random_set((uint64_t)(40 + k), ROWS, COLS, 0.5, &X, &y);
        mgv_fit_start(&fit, X, y, ROWS, COLS, "task=classify loss=margin penalty=l1");
        if (k % 2)
            mgv_fit_set(&fit, "scale=std intercept=no");
        mgv_fit_solve(&fit);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified);
        CHECK_LE((double)fit.run.nonzeros, ROWS + 1, "set %d", k);
        CHECK_LE(fit.certificate.relative_gap, 1e-4, "set %d", k);
        mgv_fit_free(&fit);
        free(X);
        free(y);
    }
}

int main(void)
{
    return RUN(l1_margins_are_sparse, two_points_and_their_distance, a_corner_known_by_hand,
               shapes_units_and_intercepts, all_rows_join_where_rounds_are_dearer,
               inseparable_sets_are_proven, thin_margins_to_the_tolerance, the_same_bits_again,
               the_system_in_every_form, columns_of_zeros, every_allocation_may_fail);
}
