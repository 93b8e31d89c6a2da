/* test_class_newton.c - the loss crammer_singer by multipliers and Newton steps. */
#include "vectors.h"

#include "base/rng.h"
#include "model/model.h"
#include "solver/joint/class_smooth.h"

#include <math.h>
#include <string.h>

enum { N = 150, D = 6, K = 4 };

/* Same options but for the solver: the same optimum, both certified. */
static void check_as_coordinates(const double *X, const double *y, int n, int d,
                                 const char *options)
{
    mgv_fit fit[2];
    for (int t = 0; t < 2; t++) {
        mgv_fit_start(&fit[t], X, y, n, d, options);
        mgv_fit_set(&fit[t], t ? "solver=class_newton" : "solver=class_coordinate");
        mgv_fit_solve(&fit[t]);
        CHECK_THAT(fit[t].run.stop == MGV_STOP_CERTIFIED && fit[t].certificate.verified,
                   "%s, solver %d: %s, gap %g", options, t, mgv_stop_name(fit[t].run.stop),
                   fit[t].certificate.relative_gap);
    }
    CHECK_LE(fit[0].certificate.dual, fit[1].certificate.primal * (1 + 1e-12), "%s", options);
    CHECK_LE(fit[1].certificate.dual, fit[0].certificate.primal * (1 + 1e-12), "%s", options);
    for (int t = 0; t < 2; t++)
        mgv_fit_free(&fit[t]);
}

TEST(it_finds_what_coordinates_find)
{
    static const char *const options[] = {
        "loss=crammer_singer lambda=0.1 tol=1e-6",
        "loss=crammer_singer C=1 tol=1e-5 max_iter=100000",
        "loss=crammer_singer intercept=no C=0.1 tol=1e-7",
        "loss=crammer_singer intercept=no C=1e-4 tol=1e-5",
        "loss=crammer_singer C=1e-3 scale=std tol=1e-5",
        "loss=crammer_singer C=1 scale=rownorm intercept=no tol=1e-5 max_iter=100000",
        "loss=crammer_singer class_weight=1:5 lambda=0.05 tol=1e-6"};
    double X[N * D], y[N];
    mgv_clouds(X, y, N, D, K);
    memset(X + 7 * D, 0, D * sizeof *X); /* a row of zeros */
    for (int i = 0; i < N; i++) {
        X[i * D + 5] = X[i * D + 4]; /* a column twice */
        X[i * D + 3] = 1;            /* and one that says nothing */
        y[i] = i == 11 ? K : y[i];   /* a class of one row */
    }
    for (size_t o = 0; o < sizeof options / sizeof *options; o++)
        check_as_coordinates(X, y, N, D, options[o]);
}

/* More unknowns than one matrix is made for: by pairs, by blocks, by products alone. */
TEST(wide_tables_take_the_other_ways)
{
    enum { ROWS = 90, WIDE = 400 };
    static double X[ROWS * WIDE];
    double y[ROWS];
    mgv_clouds(X, y, ROWS, WIDE, K);
    check_as_coordinates(X, y, ROWS, WIDE, "loss=crammer_singer lambda=0.3 tol=1e-6");
    check_as_coordinates(X, y, ROWS, WIDE, "loss=crammer_singer C=1 scale=std tol=1e-6");
    check_as_coordinates(X, y, ROWS, WIDE, "loss=crammer_singer intercept=no lambda=100 tol=1e-6");
}

TEST(tight_tolerances_are_met)
{
    static const char *const options[] = {
        "loss=crammer_singer solver=class_newton C=1 tol=1e-9",
        "loss=crammer_singer solver=class_newton C=100 tol=1e-8",
        "loss=crammer_singer solver=class_newton C=1e-4 tol=1e-9"};
    double X[N * D], y[N];
    mgv_clouds(X, y, N, D, K);
    for (int t = 0; t < N * D; t++)
        X[t] = X[t] * (t % D == 1 ? 1000 : 1) + 30; /* columns of different size, far away */
    for (int o = 0; o < 3; o++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, options[o]);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified, "%s: gap %g",
                   options[o], fit.certificate.relative_gap);
        mgv_fit_free(&fit);
    }
}

/* Two classes: w = w_1 - w_0 with half the strength is the hinge. */
TEST(two_classes_are_the_hinge)
{
    double X[N * D], y[N];
    mgv_clouds(X, y, N, D, 2);
    mgv_check_two_classes(
        X, y, N, D, "loss=crammer_singer solver=class_newton intercept=no lambda=0.02 tol=1e-9",
        "loss=hinge intercept=no lambda=0.01 tol=1e-9");
}

/* Coordinates crawl on tall tables whose columns differ in size: `auto` knows. */
TEST(tall_tables_are_its_own)
{
    enum { TALL = 600, FEW = 3 };
    double X[TALL * FEW], y[TALL];
    mgv_fit fit;
    mgv_clouds(X, y, TALL, FEW, K);
    for (int i = 0; i < TALL; i++)
        X[i * FEW + 1] *= 300;
    mgv_fit_start(&fit, X, y, TALL, FEW, "loss=crammer_singer");
    mgv_fit_solve(&fit);
    CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified, "gap %g",
               fit.certificate.relative_gap);
    CHECK_THAT(strcmp(fit.run.solver, "class_newton") == 0, "%s", fit.run.solver);
    CHECK_LE((double)fit.run.iterations, 200, "steps");
    mgv_fit_free(&fit);
}

/* Grey values of ten classes that can nearly be separated, offset so far from 0. */
enum { IMAGES = 500, PIXELS = 110, DIGITS = 10 };

static void draw_images(double *X, double *y, double offset)
{
    mgv_clouds(X, y, IMAGES, PIXELS, DIGITS);
    for (int t = 0; t < IMAGES * PIXELS; t++)
        X[t] = offset + fmax(round(60 * X[t]), 0);
    for (int i = 0; i < IMAGES; i += 50) /* some are labelled wrongly */
        y[i] = y[(i + 1) % IMAGES];
}

/* By entropy, with systems by columns. */
TEST(dense_tables_of_many_unknowns_take_few_steps)
{
    static const char *const options[] = {
        "loss=crammer_singer solver=class_newton max_iter=60",
        "loss=crammer_singer solver=class_newton max_iter=60 C=100",
        "loss=crammer_singer solver=class_newton max_iter=60 scale=std",
        "loss=crammer_singer solver=class_newton max_iter=60 intercept=no"};
    static double X[IMAGES * PIXELS];
    double y[IMAGES];
    for (int o = 0; o < 5; o++) { /* the last so far from 0 that float32 sees little */
        mgv_fit fit;
        draw_images(X, y, o < 4 ? 0 : 1e4);
        mgv_fit_start(&fit, X, y, IMAGES, PIXELS, options[o % 4]);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified,
                   "%s, offset %d: %s, gap %g", options[o % 4], o < 4 ? 0 : 10000,
                   mgv_stop_name(fit.run.stop), fit.certificate.relative_gap);
        mgv_fit_free(&fit);
    }
}

/* Classes that overlap, over columns whose sizes are 1e-3 to 1e3 times `size`. */
enum { ODD_ROWS = 600, ODD_COLUMNS = 60, ODD_CLASSES = 18 };

static void draw_odd_units(double *X, double *y, double size, double apart)
{
    mgvi_rng rng = mgvi_rng_seed(3);
    for (int j = 0; j < ODD_COLUMNS; j++) {
        const double unit = size * pow(10, 6 * mgvi_rng_uniform(&rng) - 3);
        double mean[ODD_CLASSES];
        for (int c = 0; c < ODD_CLASSES; c++)
            mean[c] = apart * mgvi_rng_normal(&rng);
        for (int i = 0; i < ODD_ROWS; i++)
            X[i * ODD_COLUMNS + j] = unit * (mean[i % ODD_CLASSES] + mgvi_rng_normal(&rng));
    }
    for (int i = 0; i < ODD_ROWS; i++)
        y[i] = i % ODD_CLASSES;
}

/* Pairs lose their digits there; and where the smoothed loss falls by rounding alone the dual point
 * still has a way to go. */
TEST(columns_of_very_different_size_are_solved_for_class_by_class)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return; /* the same code as images of ten classes, for a minute */
#endif
    static const struct {
        const char *options;
        double size, apart;
    } each[] = {{"loss=crammer_singer solver=class_newton max_iter=80 C=100", 1, 0.03},
                {"loss=crammer_singer solver=class_newton max_iter=80 C=100", 1e3, 0.03}};
    static double X[ODD_ROWS * ODD_COLUMNS];
    double y[ODD_ROWS];
    for (size_t o = 0; o < sizeof each / sizeof *each; o++) {
        mgv_fit fit;
        draw_odd_units(X, y, each[o].size, each[o].apart);
        mgv_fit_start(&fit, X, y, ODD_ROWS, ODD_COLUMNS, each[o].options);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified,
                   "%s, size %g: %s after %d, gap %g", each[o].options, each[o].size,
                   mgv_stop_name(fit.run.stop), (int)fit.run.iterations,
                   fit.certificate.relative_gap);
        mgv_fit_free(&fit);
    }
}

TEST(steps_by_columns_have_the_same_bits)
{
    static double X[IMAGES * PIXELS];
    double y[IMAGES];
    draw_images(X, y, 0);
    mgv_check_same_bits(X, y, IMAGES, PIXELS,
                        "loss=crammer_singer solver=class_newton C=1e-3 tol=1e-14 max_iter=12", 6);
}

TEST(runs_have_the_same_bits)
{
    double X[N * D], y[N];
    mgv_clouds(X, y, N, D, K);
    mgv_check_same_bits(X, y, N, D,
                        "loss=crammer_singer solver=class_newton lambda=1e-3 tol=1e-14 max_iter=20",
                        10);
}

int main(void)
{
    return RUN(it_finds_what_coordinates_find, wide_tables_take_the_other_ways,
               tight_tolerances_are_met, two_classes_are_the_hinge, tall_tables_are_its_own,
               dense_tables_of_many_unknowns_take_few_steps,
               columns_of_very_different_size_are_solved_for_class_by_class,
               steps_by_columns_have_the_same_bits, runs_have_the_same_bits);
}
