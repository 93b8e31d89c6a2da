/* classes.c - two classes of points: a toy with a known margin, Gaussians, two centres, a line. */
#include "data/generate/generate.h"

#include <math.h>

/* The class of row i: the two take turns. */
static double turn(int64_t i) { return i % 2 ? -1 : 1; }

/* One of these makes the training rows (`first` of them are not random), then the test rows. */
typedef void (*fill_fn)(const mgvi_making *m, mgvi_rng *rng, const void *user, int64_t rows,
                        double *X, double *y);

static mgv_status fill_both(mgvi_making *m, int64_t cols, fill_fn fill, const void *user)
{
    double *X, *y;
    int64_t rows = (int64_t)m->with.rows;
    mgvi_rng rng = mgvi_making_rng(m, MGVI_DRAW_ROWS);
    MGVI_TRY(mgvi_making_table(m, rows, cols, &m->data, &X, &y));
    fill(m, &rng, user, rows, X, y);
    MGVI_TRY(mgvi_making_labels(m, m->data, y));
    if (!m->want_test)
        return MGV_OK;
    rows = (int64_t)m->with.test_rows;
    rng = mgvi_making_rng(m, MGVI_DRAW_TEST_ROWS);
    MGVI_TRY(mgvi_making_table(m, rows, cols, &m->test, &X, &y));
    fill(m, &rng, user, rows, X, y);
    return mgvi_making_labels(m, m->test, y);
}

/* ---- toy --------------------------------------------------------------------------------------
 * y (1/2, 3/2) and y (3/2, 1/2) for y = 1, -1 are the support vectors of w = (1/2, 1/2); the others
 *     x = y (1 + a + t, 1 + a - t),  a ~ U[0.1, 2.1],  t ~ U[-2, 2],
 * have y w.x = 1 + a > 1, and change nothing. */
static void fill_toy(const mgvi_making *m, mgvi_rng *rng, const void *user, int64_t rows, double *X,
                     double *y)
{
    (void)m;
    (void)user;
    for (int64_t i = 0; i < rows; i++) {
        double a = 0, t = i < 2 ? -0.5 : 0.5;
        if (i >= 4) {
            a = 0.1 + 2 * mgvi_rng_uniform(rng);
            t = 4 * mgvi_rng_uniform(rng) - 2;
        }
        y[i] = turn(i);
        X[2 * i] = y[i] * (1 + a + t);
        X[2 * i + 1] = y[i] * (1 + a - t);
    }
}

static mgv_status make_toy(mgvi_making *m)
{
    static const double truth[2] = {0.5, 0.5};
    if (m->with.rows < 4)
        return MGVI_FAIL(m->ctx, MGV_E_ARG,
                         "the set toy has four support vectors (got rows %.0f); give 4 or more",
                         m->with.rows);
    MGVI_TRY(fill_both(m, 2, fill_toy, NULL));
    return mgvi_making_truth(m, truth, 2);
}

const mgvi_generator mgvi_generator_toy = {
    .name = "toy",
    .summary = "points of two classes in the plane around four support vectors of w = (1/2, 1/2)",
    .defaults = {.rows = 84, .test_rows = NAN},
    .truth = true,
    .classes = true,
    .make = make_toy};

/* ---- gaussians: x ~ N(y (1/2, ..., 1/2), variance I) ------------------------------------------- */
static void fill_gaussians(const mgvi_making *m, mgvi_rng *rng, const void *user, int64_t rows,
                           double *X, double *y)
{
    const int64_t cols = (int64_t)m->with.columns;
    const double deviation = sqrt(m->with.variance);
    (void)user;
    for (int64_t i = 0; i < rows; i++) {
        y[i] = turn(i);
        for (int64_t j = 0; j < cols; j++)
            X[i * cols + j] = y[i] * 0.5 + deviation * mgvi_rng_exact_normal(rng);
    }
}

static mgv_status make_gaussians(mgvi_making *m)
{
    return fill_both(m, (int64_t)m->with.columns, fill_gaussians, NULL);
}

const mgvi_generator mgvi_generator_gaussians = {
    .name = "gaussians",
    .summary = "two normal distributions around (1/2, 1/2) and (-1/2, -1/2), which overlap",
    .defaults = {.rows = 600, .test_rows = NAN, .columns = 2, .variance = 0.4},
    .classes = true,
    .make = make_gaussians};

/* ---- tall, wide: x ~ N(c_y, I), c_1, c_-1 ~ separation N(0, I) ---------------------------------- */
static void fill_centres(const mgvi_making *m, mgvi_rng *rng, const void *user, int64_t rows,
                         double *X, double *y)
{
    const int64_t cols = (int64_t)m->with.columns;
    const double *centre = user;
    for (int64_t i = 0; i < rows; i++) {
        y[i] = turn(i);
        for (int64_t j = 0; j < cols; j++)
            X[i * cols + j] = centre[(i % 2) * cols + j] + mgvi_rng_exact_normal(rng);
    }
}

static mgv_status make_centres(mgvi_making *m)
{
    const int64_t cols = (int64_t)m->with.columns;
    mgvi_rng rng = mgvi_making_rng(m, MGVI_DRAW_TRUTH);
    double *centre = mgvi_alloc(m->ctx, 2 * (size_t)cols, sizeof *centre);
    if (!centre)
        return MGV_E_MEMORY;
    for (int64_t j = 0; j < 2 * cols; j++)
        centre[j] = m->with.separation * mgvi_rng_exact_normal(&rng);
    const mgv_status st = fill_both(m, cols, fill_centres, centre);
    mgvi_release(m->ctx, centre);
    return st;
}

const mgvi_generator mgvi_generator_tall = {
    .name = "tall",
    .summary = "many rows of few columns around the random centres of two classes",
    .defaults = {.rows = 10000, .test_rows = NAN, .columns = 50, .separation = 1},
    .classes = true,
    .make = make_centres};

const mgvi_generator mgvi_generator_wide = {
    .name = "wide",
    .summary = "few rows of many columns around the random centres of two classes",
    .defaults = {.rows = 100, .test_rows = NAN, .columns = 2500, .separation = 1},
    .classes = true,
    .make = make_centres};

/* ---- line: x ~ y U[0, 1] ------------------------------------------------------------------------ */
static void fill_line(const mgvi_making *m, mgvi_rng *rng, const void *user, int64_t rows,
                      double *X, double *y)
{
    (void)m;
    (void)user;
    for (int64_t i = 0; i < rows; i++) {
        y[i] = turn(i);
        X[i] = y[i] * mgvi_rng_uniform(rng);
    }
}

static mgv_status make_line(mgvi_making *m) { return fill_both(m, 1, fill_line, NULL); }

const mgvi_generator mgvi_generator_line = {
    .name = "line",
    .summary = "points of one column: one class from 0 to 1, the other from -1 to 0",
    .defaults = {.rows = 200, .test_rows = NAN},
    .classes = true,
    .make = make_line};
