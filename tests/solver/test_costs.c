/* test_costs.c - what solvers state as their cost, by which `auto` chooses, beside the work that is
 * counted; no clock. */
#include "stepping.h"

#include "loss/registry.h"
#include "solver/classes/family.h"

#include <math.h>
#include <string.h>

/* Columns of different sizes that have something in common, and a tenth of the labels at random. */
static void draw(int64_t n, int64_t d, int classes, double *X, double *y)
{
    mgvi_rng rng = mgvi_rng_seed((uint64_t)(n + d));
    for (int64_t i = 0; i < n; i++) {
        const double common = mgvi_rng_normal(&rng);
        double score[16] = {0};
        for (int64_t j = 0; j < d; j++) {
            const double z = mgvi_rng_normal(&rng) + 0.5 * common;
            X[i * d + j] = z * pow(10, (double)(j % 5 - 2) / 2);
            score[j % classes] += z;
        }
        int best = 0;
        for (int c = 1; c < classes; c++)
            best = score[c] > score[best] ? c : best;
        y[i] = mgvi_rng_uniform(&rng) < 0.1 ? (int)mgvi_rng_below(&rng, (uint32_t)classes) : best;
    }
}

/* Within a factor each, and most of them near: `auto` goes to a solver that states too little and
 * stays with it for as long. `newton` does not count its factors. */
TEST(costs_are_of_the_order_of_the_work)
{
    static const int64_t shapes[][2] = {{400, 10}, {1200, 30}, {900, 200}, {150, 400}, {40, 900}};
    static const char *const losses[] = {"loss=hinge", "loss=squared_hinge", "loss=logistic"};
    static const char *const solvers[] = {"proximal_newton", "dual_coordinate",
                                          "column_generation"};
    static const double MORE = 8, LESS = 1.0 / 150, MEAN = 3;
    double sum = 0;
    int count = 0;
    for (int t = 0; t < 5 * 3 * 3; t++) {
        const int64_t n = shapes[t / 9][0], d = shapes[t / 9][1];
        double *X = malloc((size_t)(n * d) * sizeof *X), *y = malloc((size_t)n * sizeof *y);
        char options[120];
        mgv_fit fit;
        draw(n, d, 2, X, y);
        snprintf(options, sizeof options, "task=classify C=1 max_passes=3000 %s solver=%s",
                 losses[t / 3 % 3], solvers[t % 3]);
        mgv_fit_start(&fit, X, y, n, d, options);
        const mgvi_solver_ops *ops = mgvi_solver_find(solvers[t % 3]);
        CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
        const bool fits = mgvi_solver_fits(fit.ctx, ops, fit.problem) == MGV_OK;
        const double cost = fits ? ops->cost(fit.problem, fit.settings) : INFINITY;
        if (isfinite(cost)) {
            CHECK_OK(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver));
            CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
            describe(&fit);
            const double ratio = mgvi_driver_spent(fit.solver) / cost;
            if (fit.run.stop == MGV_STOP_CERTIFIED) {
                CHECK_THAT(ratio < MORE && ratio > LESS, "%s, %lld x %lld: %g times the cost",
                           options, (long long)n, (long long)d, ratio);
                sum += fabs(log(ratio));
                count++;
            }
        }
        mgv_fit_free(&fit);
        free(X);
        free(y);
    }
    CHECK(count > 25);
    CHECK_LE(exp(sum / count), MEAN, "the mean factor");
}

/* A pair has the rows of two classes: members of ten take a fifth of the work that one of all rows
 * would, and coordinate ascent in lock-step may spend no more than that before it gives way. */
TEST(pairs_cost_what_their_rows_do)
{
    enum { ROWS = 1500, COLS = 40 };
    static double X[ROWS * COLS], y[ROWS];
    double passes[2];
    draw(ROWS, COLS, 10, X, y);
    for (int k = 0; k < 2; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, ROWS, COLS, "loss=hinge multiclass=ovo C=1 scale=std");
        mgv_fit_set(&fit, k ? "solver=newton" : "solver=auto");
        mgv_fit_solve(&fit);
        describe(&fit);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
        passes[k] = fit.run.passes;
        mgv_fit_free(&fit);
    }
    CHECK_LE(passes[0], 1.3 * passes[1], "those of newton alone");
}

/* The trait by which costs tell losses whose curvature comes and goes. */
TEST(bent_losses_have_no_curvature_in_places)
{
    mgvi_rng rng = mgvi_rng_seed(5);
    for (int k = 0; k < mgvi_loss_count(); k++) {
        const mgvi_loss_ops *loss = mgvi_loss_at(k);
        bool flat = false;
        if (!(loss->can & MGVI_CURV) || (loss->can & (MGVI_HARD | MGVI_JOINT)))
            continue;
        for (int t = 0; t < 400; t++) {
            mgvi_coef c = loss->sample_coef(&rng);
            c.scale = 1;
            flat = flat || loss->curv(c, -20 + 0.1 * t) == 0;
        }
        CHECK_THAT(flat == ((loss->can & MGVI_BENT) != 0), "%s", loss->name);
    }
}

/* On tall data coordinates are tried at a small C; at a large one they would only lose time. */
TEST(a_large_c_is_for_newton)
{
    enum { ROWS = 3000, COLS = 200 };
    static double X[ROWS * COLS], y[ROWS];
    static const struct {
        const char *C, *first;
    } cases[] = {{"C=0.01", "dual_coordinate"}, {"C=1024", "proximal_newton"}};
    draw(ROWS, COLS, 2, X, y);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        mgv_fit fit;
        const mgvi_solver_ops *first = NULL;
        mgv_fit_start(&fit, X, y, ROWS, COLS, "loss=squared_hinge");
        mgv_fit_set(&fit, cases[k].C);
        CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
        CHECK_OK(fit.ctx, mgvi_solver_auto(fit.ctx, fit.problem, fit.settings, 0, &first));
        CHECK_THAT(first && strcmp(first->name, cases[k].first) == 0, "%s: %s", cases[k].C,
                   first ? first->name : "nobody");
        mgv_fit_free(&fit);
    }
}

int main(void)
{
    return RUN(a_large_c_is_for_newton, costs_are_of_the_order_of_the_work,
               pairs_cost_what_their_rows_do, bent_losses_have_no_curvature_in_places);
}
