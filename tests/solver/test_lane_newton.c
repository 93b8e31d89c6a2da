/* test_lane_newton.c - several classes against the rest by Newton's method or an interior point in
 * lock-step: every lane is its problem of two classes, on rows and columns of any size. */
#include "vectors.h"

#include "problem/member.h"
#include "solver/classes/family.h"
#include "solver/classes/lane_newton.h"
#include "solver/driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 400, D = 24, K = 4 };

/* Clouds that overlap; columns of sizes 1e-3 to 1e5, one constant, one that three rows have, two
 * alike; rows 5 and 6 are equal. */
static void make_rows(double *X, double *y)
{
    mgvi_rng rng = mgvi_rng_seed(5);
    for (int i = 0; i < N; i++) {
        y[i] = (i * i + i / 3) % K;
        for (int j = 0; j < D; j++) {
            const double v = mgvi_rng_normal(&rng) + (j % K == (int)y[i] ? 1 : 0);
            X[i * D + j] = pow(10, j % 9 - 3) * (v + j % 2);
        }
        X[i * D + 7] = 4;
        X[i * D + 8] = i % (N / 3) == 1 ? 50 : 0;
        X[i * D + 10] = X[i * D + 9];
    }
    memcpy(X + 6 * D, X + 5 * D, D * sizeof *X);
}

static const char *const kinds[] = {"C=1",
                                    "C=1e-3 scale=std",
                                    "C=100 scale=std",
                                    "C=1e4",
                                    "C=0.1 scale=rownorm",
                                    "C=1 intercept=no",
                                    "lambda=1e-9",
                                    "C=10 class_weight=1:3,2:0.01"};
enum { KINDS = sizeof kinds / sizeof *kinds };

static mgv_problem *bind_block(mgv_fit *fit, const mgvi_lane *lane)
{
    mgv_problem *block;
    CHECK_OK(fit->ctx, mgv_problem_new(fit->ctx, fit->data, fit->settings, &fit->problem));
    mgv_settings settings = mgvi_member_settings(fit->problem, fit->settings);
    CHECK_OK(fit->ctx,
             mgvi_problem_new_block(fit->ctx, fit->data, &settings, lane, K, fit->problem, &block));
    return block;
}

static const struct {
    const char *name, *solver; /* who solves it one by one */
    double tol;
} losses[] = {{"logistic", "proximal_newton", 1e-6},
              {"squared_hinge", "proximal_newton", 1e-5},
              {"hinge", "newton", 1e-2}}; /* where it hands over */
enum { LOSSES = sizeof losses / sizeof *losses };

/* Of a margin, in words of our own. */
static double loss_at(int loss, double z)
{
    const double slack = fmax(0, 1 - z);
    return loss == 0 ? fmax(-z, 0) + log1p(exp(-fabs(z))) : loss == 1 ? 0.5 * slack * slack : slack;
}

/* The value of a lane's weights. */
static double value_of(const mgv_problem *p, int loss, const double *w, int32_t lane)
{
    const int32_t k = p->lanes;
    mgvi_arena arena;
    mgvi_vec all, z;
    double value = 0;
    mgvi_arena_init(&arena, p->ctx);
    CHECK_OK(p->ctx, mgvi_vec_new(&arena, MGVI_COLS, p->A->cols, p->lanes, &all));
    CHECK_OK(p->ctx, mgvi_vec_new(&arena, MGVI_ROWS, p->A->rows, p->lanes, &z));
    for (int64_t j = 0; j < all.n; j++) {
        all.x[j * k + lane] = w[j];
        value += j < mgvi_problem_penalised(p) ? p->lambda / 2 * w[j] * w[j] : 0;
    }
    mgvi_op_mul(p->A, 1, &all, 0, &z);
    for (int64_t i = 0; i < z.n; i++)
        value += mgvi_coef_pick(&p->row.scale, i, lane) * loss_at(loss, z.x[i * k + lane]);
    mgvi_arena_free(&arena);
    return value;
}

static const mgvi_lane against_the_rest[K] = {
    {0, MGVI_THE_REST}, {1, MGVI_THE_REST}, {2, MGVI_THE_REST}, {3, MGVI_THE_REST}};

static void check_kind(const double *X, const double *y, int loss, const char *kind)
{
    const double tol = losses[loss].tol;
    mgv_fit fit, one;
    mgvi_arena arena;
    mgvi_lockstep_result out, again;
    char setup[120];
    const double *start[K];
    snprintf(setup, sizeof setup, "loss=%s solver=%s shrink=no tol=1e-9", losses[loss].name,
             losses[loss].solver);
    mgv_fit_start(&one, X, y, N, D, setup);
    mgv_fit_set(&one, kind);
    mgv_fit_solve(&one);
    snprintf(setup, sizeof setup, "loss=%s", losses[loss].name);
    mgv_fit_start(&fit, X, y, N, D, setup);
    mgv_fit_set(&fit, kind);
    mgv_problem *p = bind_block(&fit, against_the_rest);
    mgvi_arena_init(&arena, fit.ctx);
    CHECK_OK(fit.ctx, mgvi_lane_newton_run(p, tol, NULL, mgvi_rng_seed(1), &arena, &out));
    for (int32_t l = 0; l < K; l++) {
        const mgv_certificate *c = &one.solver->family->member[l].certificate;
        const double value = value_of(p, loss, out.w + l * p->A->cols, l);
        CHECK_LE(c->dual, value * (1 + 1e-9), "%s, %s, class %d", setup, kind, (int)l);
        CHECK_LE(value, c->primal * (1 + 2 * tol), "%s, %s, class %d", setup, kind, (int)l);
        start[l] = out.w + l * p->A->cols;
    }
    if (loss == 0) { /* from where it ended it has nothing to do */
        CHECK_OK(fit.ctx,
                 mgvi_lane_newton_run(p, 2 * tol, start, mgvi_rng_seed(1), &arena, &again));
        CHECK(again.rounds == 0);
    }
    mgvi_arena_free(&arena);
    mgv_problem_free(fit.ctx, p);
    mgv_fit_free(&fit);
    mgv_fit_free(&one);
}

/* Beside members that were solved one by one. */
TEST(every_lane_is_the_two_class_problem)
{
    double *X = malloc(N * D * sizeof *X), y[N];
    make_rows(X, y);
    for (int loss = 0; loss < LOSSES; loss++)
        for (int o = 0; o < KINDS; o++)
            check_kind(X, y, loss, kinds[o]);
    free(X);
}

/* Columns 1e5 times as far from 0 as they are wide, standardised, are the same problem: float32 has
 * a digit or two of them, and the steps must notice. */
TEST(far_from_the_origin)
{
    double *X = malloc(N * D * sizeof *X), y[N], value[K];
    char setup[80];
    for (int t = 0; t < 2 * LOSSES; t++) {
        const int loss = t / 2, far = t % 2;
        mgv_fit fit;
        mgvi_arena arena;
        mgvi_lockstep_result out;
        make_rows(X, y);
        for (int e = 0; far && e < N * D; e++)
            X[e] += 1e5 * pow(10, e % D % 9 - 3);
        snprintf(setup, sizeof setup, "loss=%s C=1 scale=std", losses[loss].name);
        mgv_fit_start(&fit, X, y, N, D, setup);
        mgv_problem *p = bind_block(&fit, against_the_rest);
        mgvi_arena_init(&arena, fit.ctx);
        CHECK_OK(fit.ctx, mgvi_lane_newton_run(p, 1e-5, NULL, mgvi_rng_seed(1), &arena, &out));
        for (int32_t l = 0; l < K; l++) {
            const double v = value_of(p, loss, out.w + l * p->A->cols, l);
            if (far)
                CHECK_NEAR(v, value[l], 2 * losses[loss].tol * value[l] + 2e-5 * value[l],
                           "%s, class %d", setup, (int)l);
            value[l] = v;
        }
        mgvi_arena_free(&arena);
        mgv_problem_free(fit.ctx, p);
        mgv_fit_free(&fit);
    }
    free(X);
}

/* Columns in pairs that differ in a few rows only: nearly all that the curvature has in the
 * direction of their difference is these rows', which no column tells. 550 passes; with rows drawn
 * by columns alone 705. */
TEST(rows_are_drawn_by_leverage)
{
    enum { ROWS = 3000, PAIRS = 16, COLS = 2 * PAIRS };
    double *X = malloc(ROWS * COLS * sizeof *X), *y = malloc(ROWS * sizeof *y);
    mgvi_rng rng = mgvi_rng_seed(12);
    mgv_fit fit;
    mgvi_arena arena;
    mgvi_lockstep_result out;
    for (int i = 0; i < ROWS; i++) {
        y[i] = i % K;
        for (int j = 0; j < COLS; j += 2) {
            const double v = mgvi_rng_normal(&rng) + (j / 2 % K == i % K ? 1 : 0);
            X[i * COLS + j] = 3 * v;
            X[i * COLS + j + 1] = 3 * v + (i % 997 < 3 ? mgvi_rng_normal(&rng) : 0);
        }
    }
    mgv_fit_start(&fit, X, y, ROWS, COLS, "loss=squared_hinge C=100");
    mgv_problem *p = bind_block(&fit, against_the_rest);
    mgvi_arena_init(&arena, fit.ctx);
    CHECK_OK(fit.ctx, mgvi_lane_newton_run(p, 1e-6, NULL, mgvi_rng_seed(1), &arena, &out));
    CHECK_LE(out.passes, 620, "%d steps", (int)out.rounds);
    mgvi_arena_free(&arena);
    mgv_problem_free(fit.ctx, p);
    mgv_fit_free(&fit);
    free(X);
    free(y);
}

/* ---- from overlapping classes to nearly hard margins ------------------------------------------
 */

enum { SOME = 420, WIDE = 24, MOST_CLASSES = 16 };

/* The value of a lane's dual point. */
static double dual_of(const mgv_problem *p, int loss, const double *u, int32_t lane)
{
    mgvi_arena arena;
    mgvi_vec all, g;
    double value = 0;
    mgvi_arena_init(&arena, p->ctx);
    CHECK_OK(p->ctx, mgvi_vec_new(&arena, MGVI_COLS, p->A->cols, p->lanes, &g));
    CHECK_OK(p->ctx, mgvi_vec_new(&arena, MGVI_ROWS, p->A->rows, p->lanes, &all));
    for (int64_t i = 0; i < all.n; i++) {
        const double s = mgvi_coef_pick(&p->row.scale, i, lane);
        CHECK(u[i] <= 0 && (loss == 1 || -u[i] <= s));
        all.x[i * p->lanes + lane] = u[i];
        value -= u[i] + (loss == 1 ? u[i] * u[i] / (2 * s) : 0);
    }
    mgvi_op_mul_t(p->A, 1, &all, 0, &g);
    for (int64_t j = 0; j < g.n; j++) {
        const double v = g.x[j * p->lanes + lane];
        value -= j < mgvi_problem_penalised(p) ? v * v / (2 * p->lambda) : fabs(v);
    }
    mgvi_arena_free(&arena);
    return value;
}

static void check_gaps(const double *X, const double *y, int loss, double C, int32_t classes,
                       double apart)
{
    mgvi_lane lane[MOST_CLASSES];
    mgvi_arena arena;
    mgvi_lockstep_result out;
    mgv_problem *p;
    mgv_fit fit;
    char setup[80];
    snprintf(setup, sizeof setup, "loss=%s C=%g", losses[loss].name, C);
    mgv_fit_start(&fit, X, y, SOME, WIDE, setup);
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    mgv_settings settings = mgvi_member_settings(fit.problem, fit.settings);
    for (int32_t l = 0; l < classes; l++)
        lane[l] = (mgvi_lane){l, MGVI_THE_REST};
    CHECK_OK(fit.ctx,
             mgvi_problem_new_block(fit.ctx, fit.data, &settings, lane, classes, fit.problem, &p));
    mgvi_arena_init(&arena, fit.ctx);
    CHECK_OK(fit.ctx,
             mgvi_lane_newton_run(p, losses[loss].tol, NULL, mgvi_rng_seed(1), &arena, &out));
    for (int32_t l = 0; l < classes; l++) {
        const double value = value_of(p, loss, out.w + l * p->A->cols, l),
                     dual = dual_of(p, loss, out.u + l * p->A->rows, l);
        CHECK_LE(value - dual, losses[loss].tol * value, "%s, %d classes, %g apart, class %d",
                 setup, (int)classes, apart, (int)l);
    }
    mgvi_arena_free(&arena);
    mgv_problem_free(fit.ctx, p);
    mgv_fit_free(&fit);
}

/* What conjugate gradients leave of lambda w = A'a is 1e10 times as dear as they think there, and
 * the rows that matter are few. Half of the classes did not get there, and some ended as NaN. */
TEST(from_overlapping_classes_to_nearly_hard_margins)
{
    double *X = malloc(SOME * WIDE * sizeof *X), y[SOME];
    for (int t = 0; t < 18; t++) {
        const int32_t classes = t % 2 ? MOST_CLASSES : 3;
        const double apart = pow(10, t / 2 % 3 - 1), C = pow(10, 4.5 * (t / 6) - 3);
        mgvi_rng rng = mgvi_rng_seed((uint64_t)t);
        double mean[MOST_CLASSES * WIDE];
        for (int e = 0; e < MOST_CLASSES * WIDE; e++)
            mean[e] = apart * mgvi_rng_normal(&rng);
        for (int i = 0; i < SOME; i++) {
            y[i] = i % classes;
            for (int j = 0; j < WIDE; j++)
                X[i * WIDE + j] =
                    pow(10, j % 3) * (mgvi_rng_normal(&rng) + mean[i % classes * WIDE + j]);
        }
        for (int loss = 1; loss < LOSSES; loss++)
            check_gaps(X, y, loss, C, classes, apart);
    }
    free(X);
}

/* ---- chosen by auto -------------------------------------------------------------------------- */

enum { MANY = 2100, COLUMNS = 250, FEW = 3 };

static void make_many(double *X, double *y)
{
    mgvi_rng rng = mgvi_rng_seed(9);
    for (int i = 0; i < MANY; i++) {
        y[i] = i % FEW;
        for (int j = 0; j < COLUMNS; j++)
            X[i * COLUMNS + j] = 200 * mgvi_rng_normal(&rng) + (j % 17 == (int)y[i] ? 40 : 0);
    }
}

/* It is not asked for where rows are few. */
static void check_together(const char *loss, const char *solver)
{
    double *X = malloc(MANY * COLUMNS * sizeof *X), *y = malloc(MANY * sizeof *y);
    mgv_fit fit[2];
    make_many(X, y);
    for (int t = 0; t < 2; t++) {
        mgv_fit_start(&fit[t], X, y, MANY, COLUMNS, loss);
        CHECK_OK(fit[t].ctx, mgv_ctx_set_threads(fit[t].ctx, t ? 3 : 1));
        mgv_fit_solve(&fit[t]);
        CHECK(fit[t].run.stop == MGV_STOP_CERTIFIED && fit[t].certificate.verified);
        CHECK(isfinite(mgvi_lane_newton_cost(fit[t].problem, FEW)));
        for (int c = 0; c < FEW; c++) /* lock-step is what a member has of it */
            CHECK(fit[t].solver->family->left[c].rounds > 0 &&
                  strcmp(fit[t].solver->family->member[c].solver, solver) == 0);
    }
    CHECK(memcmp(fit[0].solver->family->coef, fit[1].solver->family->coef,
                 FEW * COLUMNS * sizeof *X) == 0);
    mgv_fit_free(&fit[0]);
    mgv_fit_free(&fit[1]);
    mgv_fit_start(&fit[0], X, y, N, COLUMNS, loss);
    CHECK_OK(fit[0].ctx,
             mgv_problem_new(fit[0].ctx, fit[0].data, fit[0].settings, &fit[0].problem));
    CHECK(isinf(mgvi_lane_newton_cost(fit[0].problem, FEW)));
    mgv_fit_free(&fit[0]);
    free(X);
    free(y);
}

TEST(many_columns_go_together_with_the_same_bits_for_any_threads)
{
    check_together("loss=logistic tol=1e-2", "proximal_newton");
    check_together("loss=squared_hinge tol=1e-2", "proximal_newton");
}

/* The hinge is left near its end, between its bounds, and goes on class by class: there newton
 * takes one round, in place of a path. Rows of weight 0 have no part. */
static void check_hand_over(const char *options)
{
    double *X = malloc(MANY * COLUMNS * sizeof *X), *y = malloc(MANY * sizeof *y);
    mgvi_arena arena;
    mgvi_lockstep_result out;
    mgv_fit fit;
    make_many(X, y);
    mgv_fit_start(&fit, X, y, MANY, COLUMNS, options);
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    mgv_settings settings = mgvi_member_settings(fit.problem, fit.settings);
    mgv_problem *block;
    CHECK_OK(fit.ctx, mgvi_problem_new_block(fit.ctx, fit.data, &settings, against_the_rest, FEW,
                                             fit.problem, &block));
    mgvi_arena_init(&arena, fit.ctx);
    CHECK_OK(fit.ctx, mgvi_lane_newton_run(block, 1e-4, NULL, mgvi_rng_seed(1), &arena, &out));
    for (int c = 0; c < FEW; c++) {
        mgvi_member member;
        mgv_solver *solver;
        mgv_certificate found = {.size = sizeof found};
        mgv_run_info info = {.size = sizeof info};
        const double *w = out.w + c * block->A->cols, *u = out.u + c * block->A->rows;
        CHECK_OK(fit.ctx, mgvi_member_new(fit.ctx, fit.problem, &settings, c, &member));
        CHECK(mgvi_lane_newton_leaves(member.problem, u));
        settings.solver = "newton";
        CHECK_OK(fit.ctx, mgv_solver_new(fit.ctx, member.problem, &settings, &solver));
        CHECK_OK(fit.ctx, mgvi_driver_start(solver, w, u));
        CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, solver));
        mgv_solver_describe(solver, &info, &found);
        CHECK_THAT(info.stop == MGV_STOP_CERTIFIED && found.verified, "%s, class %d", options, c);
        CHECK_LE(info.iterations, 7, "%s, class %d", options, c);
        mgv_solver_free(fit.ctx, solver);
        mgvi_member_free(fit.ctx, &member);
    }
    mgvi_arena_free(&arena);
    mgv_problem_free(fit.ctx, block);
    mgv_fit_free(&fit);
    free(X);
    free(y);
}

TEST(newton_goes_on_from_the_hinge_in_lanes)
{
    check_hand_over("loss=hinge scale=std");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* the same code, for minutes */
    return;
#endif
    check_hand_over("loss=hinge C=100 tol=1e-6");
    check_hand_over("loss=hinge C=0.01 scale=std class_weight=1:3,2:0.2");
    check_hand_over("loss=hinge scale=std intercept=no tol=1e-8");
}

/* Of more columns than rows every row is a support vector, and inside: nothing for `newton`. */
TEST(wide_members_are_not_left_to_newton)
{
    enum { ROWS = 20, COLS = 60 };
    double X[ROWS * COLS], y[ROWS], u[ROWS];
    mgvi_rng rng = mgvi_rng_seed(8);
    mgv_fit fit;
    for (int i = 0; i < ROWS * COLS; i++)
        X[i] = mgvi_rng_normal(&rng);
    for (int i = 0; i < ROWS; i++) {
        y[i] = i % 2;
        u[i] = -0.5 / ROWS;
    }
    mgv_fit_start(&fit, X, y, ROWS, COLS, "task=classify loss=hinge");
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK(!mgvi_lane_newton_leaves(fit.problem, u));
    mgv_fit_free(&fit);
}

static void check_allocations(const char *options)
{
    double *X = malloc(N * D * sizeof *X), y[N];
    make_rows(X, y);
    for (long fail_at = 1;; fail_at++) {
        mgv_check_allocator a;
        mgv_fit f = {.ctx = NULL};
        mgvi_arena arena;
        mgvi_lockstep_result out;
        mgv_check_allocator_init(&a, 0);
        assert_int_equal(mgv_ctx_new(&a.hooks, &f.ctx), MGV_OK);
        CHECK_OK(f.ctx, mgv_data_from_dense(f.ctx, MGV_F64, X, N, D, D, 1, &f.data));
        CHECK_OK(f.ctx, mgv_data_set_labels(f.ctx, f.data, y));
        CHECK_OK(f.ctx, mgv_settings_new(f.ctx, &f.settings));
        mgv_fit_set(&f, options);
        mgv_problem *p = bind_block(&f, against_the_rest);
        mgvi_arena_init(&arena, f.ctx);
        a.fail_at = a.calls + fail_at;
        const mgv_status st = mgvi_lane_newton_run(p, 1e-4, NULL, mgvi_rng_seed(1), &arena, &out);
        a.fail_at = 0;
        CHECK(st == MGV_OK || (st == MGV_E_MEMORY && mgv_ctx_error(f.ctx)[0]));
        mgvi_arena_free(&arena);
        mgv_problem_free(f.ctx, p);
        mgv_fit_free(&f);
        assert_int_equal(a.live, 0);
        if (st == MGV_OK) {
            CHECK(fail_at > 3);
            break;
        }
    }
    free(X);
}

TEST(every_allocation_may_fail)
{
    check_allocations("loss=logistic scale=std");
    check_allocations("loss=squared_hinge scale=std");
    check_allocations("loss=hinge scale=std");
}

int main(void)
{
    return RUN(every_lane_is_the_two_class_problem, far_from_the_origin, rows_are_drawn_by_leverage,
               from_overlapping_classes_to_nearly_hard_margins,
               many_columns_go_together_with_the_same_bits_for_any_threads,
               newton_goes_on_from_the_hinge_in_lanes, wide_members_are_not_left_to_newton,
               every_allocation_may_fail);
}
