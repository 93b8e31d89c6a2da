/* test_intervals.c - an interval for every row (lower, upper), for the losses interval and
 * epsilon_insensitive: the same bits as epsilon's own, one-sided rows, files, refusals. */
#include "base/rng.h"
#include "solver/driver.h"
#include "vectors.h"

#include <math.h>
#include <string.h>

enum { N = 30, D = 4, WIDE = 50 };

static double X[N * WIDE], y[N], lower[N], upper[N];

/* Rows of `d` columns; intervals of half width `epsilon` around y. */
static void make(int d, double epsilon)
{
    mgvi_rng rng = mgvi_rng_seed(21);
    for (int i = 0; i < N; i++) {
        y[i] = 2;
        for (int j = 0; j < d; j++) {
            X[i * d + j] = mgvi_rng_normal(&rng);
            y[i] += j < 2 ? X[i * d + j] : 0;
        }
        y[i] += 0.3 * mgvi_rng_normal(&rng);
        lower[i] = y[i] - epsilon;
        upper[i] = y[i] + epsilon;
    }
}

static mgv_certificate fit(const char *options, int d, const double *low, const double *high)
{
    mgv_fit f;
    mgv_fit_start(&f, X, y, N, d, options);
    CHECK_OK(f.ctx, mgv_data_set_intervals(f.ctx, f.data, low, high));
    mgv_fit_solve(&f);
    CHECK_THAT(f.run.stop == MGV_STOP_CERTIFIED, "%s: stop %d", options, f.run.stop);
    const mgv_certificate c = f.certificate;
    mgv_fit_free(&f);
    return c;
}

TEST(ends_of_rows_are_those_of_epsilon)
{
    static const struct {
        const char *options;
        int d;
    } forms[] = {{"task=regress loss=epsilon_insensitive epsilon=0.25 C=1", D},
                 {"task=regress loss=epsilon_insensitive epsilon=0.25 penalty=l1 mu=0.01", D},
                 {"task=regress loss=epsilon_insensitive epsilon=0.25 C=1 kernel=rbf", D},
                 {"task=regress loss=interval epsilon=0.25 p=1.5", WIDE},
                 {"task=regress loss=interval epsilon=0.25 penalty=l1 tol=1e-3", WIDE}};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        make(forms[k].d, 0.25);
        const mgv_certificate own = fit(forms[k].options, forms[k].d, NULL, NULL);
        const mgv_certificate given = fit(forms[k].options, forms[k].d, lower, upper);
        const mgv_certificate half = fit(forms[k].options, forms[k].d, NULL, upper);
        CHECK_THAT(own.primal == given.primal && own.dual == given.dual &&
                       own.primal == half.primal,
                   "%s: %.17g and %.17g", forms[k].options, own.primal, given.primal);
    }
}

/* Rows with one end pull one way: the least weights with x.w >= lower are those of the margin of
 * rows x/lower. */
TEST(an_open_end_does_not_pull)
{
    double rows[N * D], ones[N];
    mgv_fit f;
    make(D, 0);
    for (int i = 0; i < N; i++) {
        upper[i] = INFINITY;
        lower[i] = 1 + 0.1 * i;
        X[i * D] = 3 + fabs(X[i * D]);
        for (int j = 0; j < D; j++)
            rows[i * D + j] = (i % 2 ? -1 : 1) * X[i * D + j] / lower[i];
        ones[i] = i % 2 ? -1 : 1;
    }
    const mgv_certificate c =
        fit("task=regress loss=interval intercept=no tol=1e-8 max_iter=100000 "
            "solver=mirror_coordinate",
            D, lower, upper);
    mgv_fit_start(&f, rows, ones, N, D, "loss=margin intercept=no tol=1e-10");
    mgv_fit_solve(&f);
    const double least = 0.5 / (f.certificate.margin * f.certificate.margin);
    CHECK_NEAR(c.primal, least, 1e-6 * least, "half the squared length of the least weights");
    mgv_fit_free(&f);
}

/* Wide intervals beside an intercept: |w|^2/2 = 3/8 at w = (1, -1, 1)/2. Rows that were left out
 * while they lay within theirs let the intercept go in circles; an end at infinity left no bound. */
TEST(wide_intervals_hold_the_intercept)
{
    static const char *const solvers[] = {"dual_coordinate", "mirror_coordinate", "primal_dual"};
    static const double lows[] = {-10, -1e9, -INFINITY};
    const double rows[] = {1, 0, 2, 0, 1, 1}, targets[] = {3, 1}, high[] = {3.5, 1};
    for (int k = 0; k < 9; k++) {
        const double low[] = {2.5, lows[k / 3]};
        char options[100];
        mgv_fit f;
        snprintf(options, sizeof options, "task=regress loss=interval tol=1e-6 solver=%s",
                 solvers[k % 3]);
        mgv_fit_start(&f, rows, targets, 2, 3, options);
        CHECK_OK(f.ctx, mgv_data_set_intervals(f.ctx, f.data, low, high));
        mgv_fit_solve(&f);
        CHECK_THAT(f.run.stop == MGV_STOP_CERTIFIED, "%s, %g: stop %d", options, low[1],
                   f.run.stop);
        CHECK_NEAR(f.certificate.primal, 0.375, 1e-6, "%s, %g", options, low[1]);
        mgv_fit_free(&f);
    }
}

/* Folds take the ends of their rows. */
TEST(folds_have_their_rows_intervals)
{
    double chosen[2], objective[2];
    make(D, 0.25);
    for (int t = 0; t < 2; t++) {
        mgv_fit f;
        mgv_selection *s = NULL;
        mgv_fit_start(&f, X, y, N, D,
                      "task=regress loss=epsilon_insensitive epsilon=0.25 penalty=l1 select=cv:3");
        if (t == 1)
            CHECK_OK(f.ctx, mgv_data_set_intervals(f.ctx, f.data, lower, upper));
        CHECK_OK(f.ctx, mgv_selection_run(f.ctx, f.data, f.settings, &s));
        chosen[t] = mgv_selection_problem(s)->mu;
        objective[t] = mgv_selection_solver(s)->run.problem->row.b.values[3];
        mgv_selection_free(f.ctx, s);
        mgv_fit_free(&f);
    }
    CHECK(chosen[0] > 0 && chosen[0] == chosen[1] && objective[0] == objective[1]);
}

TEST(what_is_no_interval_is_refused)
{
    static const struct {
        const char *options, *said;
        double low, high;
    } wrong[] = {
        {"task=regress loss=interval", "row 3 has no interval (got 2 to 1)", 2, 1},
        {"task=regress loss=epsilon_insensitive", "row 3 has no interval", INFINITY, INFINITY},
        {"task=regress loss=squared", "which loss squared has not", 0, 1}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        mgv_fit f;
        make(D, 0.25);
        lower[2] = wrong[k].low;
        upper[2] = wrong[k].high;
        mgv_fit_start(&f, X, y, N, D, wrong[k].options);
        CHECK_OK(f.ctx, mgv_data_set_intervals(f.ctx, f.data, lower, upper));
        CHECK_FAILS(f.ctx, mgv_problem_new(f.ctx, f.data, f.settings, &f.problem),
                    k == 2 ? MGV_E_ARG : MGV_E_INPUT, wrong[k].said);
        lower[2] = NAN;
        CHECK_FAILS(f.ctx, mgv_data_set_intervals(f.ctx, f.data, lower, upper), MGV_E_INPUT,
                    "row 3's interval is no number");
        mgv_fit_free(&f);
    }
}

int main(void)
{
    return RUN(ends_of_rows_are_those_of_epsilon, an_open_end_does_not_pull,
               wide_intervals_hold_the_intercept, folds_have_their_rows_intervals,
               what_is_no_interval_is_refused);
}
