/* test_exact_margin_norms.c - the exact margin in norms other than 2, and the interior point. */
#include "margin_runs.h"

#include "base/rng.h"
#include "solver/margin/active_set.h"
#include "solver/margin/interior.h"
#include "solver/margin/working_set.h"

TEST(vectors_to_machine_precision)
{
    static const char *const names[] = {"margin_linear_p1_5", "margin_wide_p1_5",
                                        "margin_wide_plog"};
    for (int k = 0; k < 3; k++) {
        json_t *v = mgv_vector_load(names[k]);
        const int64_t n = json_integer_value(json_object_get(v, "n")),
                      d = json_integer_value(json_object_get(v, "d"));
        double *X = mgv_vector_array(v, "X", NULL), *y = mgv_vector_array(v, "y", NULL);
        double *w = mgv_vector_array(v, "w_star", NULL);
        const double gamma = mgv_vector_number(json_object_get(v, "gamma"));
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, n, d, "loss=margin intercept=no tol=1e-12");
        mgv_fit_set(&fit, k < 2 ? "p=1.5" : "p=sparse");
        mgv_fit_solve(&fit);
        CHECK_THAT(strcmp(fit.run.solver, "exact_margin") == 0, "auto took %s", fit.run.solver);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s: %s, gap %g", names[k],
                   mgv_stop_name(fit.run.stop), fit.certificate.relative_gap);
        CHECK_NEAR(fit.certificate.margin, gamma, 1e-12 * gamma, "%s", names[k]);
        CHECK_NEAR(fit.certificate.margin_upper, gamma, 1e-12 * gamma, "%s", names[k]);
        for (int64_t j = 0; j < d; j++)
            CHECK_NEAR(mgv_fit_weights(&fit)[j], w[j], 1e-9 * fmax(1, fabs(w[j])), "%s: w[%d]",
                       names[k], (int)j);
        mgv_fit_free(&fit);
        free(X);
        free(y);
        free(w);
        json_decref(v);
    }
}

/* Certified to 1e-10 whatever the shape and the norm; between the margins of nearby norms, for
 * |w|_p falls with p; and p near 2 has nearly the answer of the active set. */
TEST(shapes_norms_and_intercepts)
{
    static const int64_t shape[][2] = {{2, 1}, {2, 5}, {30, 100}, {600, 10}, {1500, 20}};
    static const char *const norms[] = {"p=1.05", "p=sparse", "p=1.5", "p=1.999999", "p=2"};
    for (size_t k = 0; k < sizeof shape / sizeof *shape; k++)
        for (int intercept = 0; intercept < 2; intercept++) {
            double *X, *y, margin[5];
            const int64_t n = shape[k][0], d = shape[k][1];
            margin_points(40 + k, n, d, 1, &X, &y);
            for (int p = 0; p < 5; p++) {
                mgv_fit fit;
                mgv_fit_start(&fit, X, y, n, d, "loss=margin tol=1e-10");
                mgv_fit_set(&fit, norms[p]);
                mgv_fit_set(&fit, intercept ? "intercept=yes" : "intercept=no");
                mgv_fit_solve(&fit);
                CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%d x %d, %s: %s, margin [%g, %g]",
                           (int)n, (int)d, norms[p], mgv_stop_name(fit.run.stop),
                           fit.certificate.margin, fit.certificate.margin_upper);
                margin[p] = fit.certificate.margin;
                mgv_fit_free(&fit);
            }
            CHECK_LE(margin[0], margin[2] * (1 + 1e-9), "1.05 and 1.5");
            CHECK_LE(margin[2], margin[4] * (1 + 1e-9), "1.5 and 2");
            CHECK_NEAR(margin[3], margin[4], 1e-5 * margin[4], "nearly 2");
            free(X);
            free(y);
        }
}

TEST(scale_does_not_matter)
{
    static const double factor[] = {1, 1e6, 1e-6};
    double margin[3];
    for (int k = 0; k < 3; k++) {
        double *X, *y;
        margin_points(50, 80, 6, factor[k], &X, &y);
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, 80, 6, "loss=margin tol=1e-10 p=1.3");
        mgv_fit_solve(&fit);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
        margin[k] = fit.certificate.margin / factor[k];
        CHECK_NEAR(margin[k], margin[0], 1e-9 * margin[0], "factor %g", factor[k]);
        mgv_fit_free(&fit);
        free(X);
        free(y);
    }
}

/* In units apart by a million the margin is 1e-6 of the rows, and the first steps lack 1e7 times
 * what they seek: a complementarity that fell ahead of that left gaps of 0.5 to 0.9. */
TEST(columns_of_very_different_size)
{
    static const char *const norms[] = {"p=1.2", "p=1.5", "p=1.7"};
    for (uint64_t seed = 70; seed < 78; seed++) {
        enum { N = 500, D = 16 };
        double *X, *y;
        margin_points(seed, N, D, 1, &X, &y);
        mgvi_rng rng = mgvi_rng_seed(seed);
        for (int j = 0; j < D; j++) {
            const double unit = pow(10, 6 * mgvi_rng_uniform(&rng) - 3);
            for (int i = 0; i < N; i++)
                X[i * D + j] *= unit;
        }
        for (int k = 0; k < 3; k++) {
            mgv_fit fit;
            mgv_fit_start(&fit, X, y, N, D, "loss=margin tol=1e-6");
            mgv_fit_set(&fit, norms[k]);
            mgv_fit_solve(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "seed %d, %s: %s, margin [%g, %g]",
                       (int)seed, norms[k], mgv_stop_name(fit.run.stop), fit.certificate.margin,
                       fit.certificate.margin_upper);
            mgv_fit_free(&fit);
        }
        free(X);
        free(y);
    }
}

/* A proof does not depend on the norm; the interior point is what asks for it. */
TEST(inseparable_sets_are_proven)
{
    for (uint64_t seed = 60; seed < 66; seed++) {
        double *X, *y;
        mgv_random_set(seed, 300, 8, 1, &X, &y);
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, 300, 8, seed % 3 ? "loss=margin p=1.5" : "loss=margin p=sparse");
        mgv_fit_set(&fit, seed % 2 ? "intercept=yes" : "intercept=no");
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_INFEASIBLE, "seed %d: %s", (int)seed,
                   mgv_stop_name(fit.run.stop));
        mgv_fit_free(&fit);
        free(X);
        free(y);
    }
}

static void check_case(const char *what, const double *X, const double *y, int64_t n, int64_t d,
                       const char *options, mgv_stop stop, double margin)
{
    static const char *const norms[] = {"p=2", "p=1.5", "p=1.1"};
    for (int k = 0; k < 3; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, n, d, "loss=margin tol=1e-10");
        mgv_fit_set(&fit, norms[k]);
        mgv_fit_set(&fit, options);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == stop, "%s, %s: %s", what, norms[k], mgv_stop_name(fit.run.stop));
        if (!isnan(margin))
            CHECK_NEAR(fit.certificate.margin, margin, 1e-9, "%s, %s", what, norms[k]);
        if (stop == MGV_STOP_INFEASIBLE)
            CHECK(fit.certificate.separable == 0 && fit.certificate.proof_norm <= 1e-12);
        mgv_fit_free(&fit);
    }
}

/* Two examples, one column, copies, zeros, opposites: the answers can be read off. */
TEST(small_and_odd_sets)
{
    const double two[] = {1, -3}, one_column[] = {3, 2, 5, -1, -4};
    const double zero_row[] = {1, 2, 0, 0, -2, -1}, all_zero[] = {0, 0, 0, 0, 0, 0};
    const double copies[] = {1, 0, 1, 0, 1, 0, -1, 0, -1, 0, 0, 0};
    const double opposite[] = {1, 2, 1, 2, -1, -1};
    check_case("two rows", two, (const double[]){1, -1}, 2, 1, "intercept=no", MGV_STOP_CERTIFIED,
               1);
    check_case("two rows", two, (const double[]){1, -1}, 2, 1, "intercept=yes", MGV_STOP_CERTIFIED,
               2);
    check_case("one column", one_column, (const double[]){1, 1, 1, -1, -1}, 5, 1, "intercept=no",
               MGV_STOP_CERTIFIED, 1);
    check_case("one column", one_column, (const double[]){1, 1, 1, -1, -1}, 5, 1, "intercept=yes",
               MGV_STOP_CERTIFIED, 1.5);
    check_case("one column, mixed", one_column, (const double[]){1, -1, 1, -1, 1}, 5, 1,
               "intercept=yes", MGV_STOP_INFEASIBLE, NAN);
    check_case("zero row", zero_row, (const double[]){1, 1, -1}, 3, 2, "intercept=no",
               MGV_STOP_INFEASIBLE, NAN);
    check_case("zero row", zero_row, (const double[]){1, 1, -1}, 3, 2, "intercept=yes",
               MGV_STOP_CERTIFIED, NAN);
    check_case("all zero", all_zero, (const double[]){1, 1, -1}, 3, 2, "intercept=yes",
               MGV_STOP_INFEASIBLE, NAN);
    check_case("copies", copies, (const double[]){1, 1, 1, -1, -1}, 5, 2, "intercept=yes",
               MGV_STOP_CERTIFIED, 1);
    check_case("a copy with the other label", opposite, (const double[]){1, -1, -1}, 3, 2,
               "intercept=yes", MGV_STOP_INFEASIBLE, NAN);
}

/* Margins so small that independent rows look dependent: the active set reports a ray that is no
 * proof, the prover finds a separating w, and the interior point goes on from there. */
TEST(thin_margins)
{
    static const double thickness[] = {1e-5, 1e-6, 1e-7};
    enum { N = 60, D = 5 };
    for (int k = 0; k < 3; k++)
        for (int intercept = 0; intercept < 2; intercept++) {
            double X[N * D], y[N];
            mgvi_rng rng = mgvi_rng_seed(11);
            for (int i = 0; i < N; i++) {
                y[i] = i % 2 ? 1 : -1;
                for (int j = 0; j < D; j++)
                    X[i * D + j] = j < D - 1 ? mgvi_rng_normal(&rng)
                                             : y[i] * thickness[k] * (1 + mgvi_rng_uniform(&rng));
            }
            mgv_fit fit;
            mgv_fit_start(&fit, X, y, N, D, "loss=margin tol=1e-9");
            mgv_fit_set(&fit, intercept ? "intercept=yes" : "intercept=no");
            mgv_fit_solve(&fit);
            const mgv_certificate *c = &fit.certificate;
            CHECK_THAT(c->separable == 1, "%g: margin in [%g, %g]", thickness[k], c->margin,
                       c->margin_upper);
            CHECK(c->margin <= 2 * thickness[k] && c->margin_upper >= thickness[k]);
            CHECK_LE(c->relative_gap, 0.1, "%g", thickness[k]);
            mgv_fit_free(&fit);
        }
}

TEST(one_class_is_refused_with_a_sentence)
{
    const double X[] = {1, 2, 3, 4}, y[] = {1, 1};
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, 2, 2, "loss=margin");
    CHECK(mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem) == MGV_E_INPUT);
    CHECK(strstr(mgv_ctx_error(fit.ctx), "two classes"));
    mgv_fit_free(&fit);
}

TEST(the_same_bits_again)
{
    double *X, *y;
    const int64_t n = 900, d = 30;
    margin_points(80, n, d, 1, &X, &y);
    mgv_check_same_bits(X, y, n, d, "loss=margin tol=1e-11 p=1.2", 2);
    free(X);
    free(y);
}

/* ---- the interior point by itself ------------------------------------------------------------ */

/* A dense table of which few rows decide costs what these rows do: all at once would be 20 systems
 * of all rows, and more. */
TEST(few_rows_decide)
{
    enum { N = 900, D = 700 };
    double *X, *y;
    margin_points(11, N, D, 1, &X, &y);
    for (int k = 0; k < 2; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, "loss=margin");
        mgv_fit_set(&fit, k ? "p=1.5" : "p=1.1");
        mgv_fit_solve(&fit);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
        const double systems =
            mgvi_driver_spent(fit.solver) / ((double)D * D * (N / 2.0 + D / 3.0));
        CHECK_THAT(systems < 3, "%s: the work of %.1f systems of all rows", k ? "1.5" : "1.1",
                   systems);
        mgv_fit_free(&fit);
    }
    free(X);
    free(y);
}

/* With q = 2 the two inner solvers have the same problem: it is what takes over from the active set
 * when that is stuck, from whatever b there is. Rows leave and come back on the way. */
TEST(interior_point_beside_the_active_set)
{
    for (int variant = 0; variant < 4; variant++) {
        const int64_t n = 90, d = variant < 2 ? 40 : 8;
        const bool intercept = variant % 2;
        double *X, *y, start[90];
        int32_t all[90], keep[90];
        margin_points(7 + (uint64_t)variant, n, d, 1, &X, &y);
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, n, d, "loss=margin");
        mgv_fit_set(&fit, intercept ? "intercept=yes" : "intercept=no");
        mgv_fit_solve(&fit);
        mgvi_arena arena;
        mgvi_rows *rows;
        mgvi_working_set set;
        mgvi_active_set a;
        mgvi_interior ip;
        bool solved;
        mgvi_arena_init(&arena, fit.ctx);
        for (int i = 0; i < n; i++) {
            all[i] = i;
            start[i] = i % 7;
        }
        CHECK_OK(fit.ctx, mgvi_rows_new(fit.problem->A, &arena, &rows));
        CHECK_OK(fit.ctx, mgvi_working_set_init(&set, fit.problem, rows, &arena, n, false));
        mgvi_working_set_join(&set, all, n);
        CHECK_OK(fit.ctx, mgvi_active_set_init(&a, &arena, n, d + intercept, intercept));
        a.size = n;
        for (int i = 0; intercept && i < n; i++)
            a.y[i] = y[i];
        CHECK_OK(fit.ctx, mgvi_working_set_gram(&set, 0, a.K, n));
        int other = 1;
        while (y[other] == y[0])
            other++;
        if (intercept)
            CHECK(mgvi_active_set_append(&a, 0) && mgvi_active_set_append(&a, other));
        mgvi_active_end end;
        CHECK(mgvi_active_set_solve(&a, 10000, INFINITY, &end) == MGV_OK);
        CHECK(end == MGVI_ACTIVE_OPTIMAL);
        CHECK_OK(fit.ctx, mgvi_interior_init(&ip, fit.problem, 2, rows, &arena));
        CHECK_OK(fit.ctx, mgvi_interior_take(&ip, all, n, start));
        CHECK_OK(fit.ctx, mgvi_interior_solve(&ip, 1e-3, 100, &solved));
        CHECK(solved);
        int64_t count = 0;
        for (int i = 0; i < n; i++)
            if (a.b[i] > 0 || i % 2) {
                start[count] = ip.u[i];
                keep[count++] = i;
            }
        CHECK_OK(fit.ctx, mgvi_interior_take(&ip, keep, count, start));
        CHECK_OK(fit.ctx, mgvi_interior_solve(&ip, 1e-13, 100, &solved));
        CHECK_THAT(solved && ip.gap <= 1e-12, "variant %d: gap %g", variant, ip.gap);
        for (int64_t t = 0; t < count; t++)
            CHECK_NEAR(ip.u[t], a.b[keep[t]], 1e-8 * ip.sum, "variant %d: b", variant);
        if (intercept)
            CHECK_NEAR(ip.free, a.b0, 1e-8 * (1 + fabs(a.b0)), "intercept");
        mgvi_arena_free(&arena);
        mgv_fit_free(&fit);
        free(X);
        free(y);
    }
}

int main(void)
{
    return RUN(vectors_to_machine_precision, shapes_norms_and_intercepts, scale_does_not_matter,
               columns_of_very_different_size, inseparable_sets_are_proven, small_and_odd_sets,
               thin_margins, one_class_is_refused_with_a_sentence, the_same_bits_again,
               few_rows_decide, interior_point_beside_the_active_set);
}
