/* test_relay.c - solver `auto` when the first solver does not get there. */
#include "stepping.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { N = 60, D = 8 };

static void open_auto(mgv_fit *fit, const char *options)
{
    double *X, *y;
    mgv_random_set(3, N, D, 0.7, &X, &y);
    open_rows(fit, X, y, N, D, "task=classify tol=1e-9 lambda=0.01");
    mgv_solver_free(fit->ctx, fit->solver);
    mgv_fit_set(fit, options);
    CHECK_OK(fit->ctx, mgv_solver_new(fit->ctx, fit->problem, fit->settings, &fit->solver));
    free(X);
    free(y);
}

/* As a solver does that can improve nothing. */
static void give_up(mgv_fit *fit) { fit->solver->run.finished = true; }

TEST(another_solver_takes_over)
{
    mgv_fit fit;
    open_auto(&fit, "solver=auto");
    const mgvi_solver_ops *first = fit.solver->run.ops;
    give_up(&fit);
    CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
    describe(&fit);
    CHECK(fit.solver->run.ops != first);
    CHECK(strcmp(fit.run.solver, fit.solver->run.ops->name) == 0);
    CHECK(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified);
    CHECK_LE(fit.certificate.relative_gap, 1e-9, "the second solver's");
    mgv_fit_free(&fit);
}

/* A solver that is quick where the problem is easy for it tries first, and gives way where it is
 * not: rows nearly as long as there are of them, of random classes, with a weak and a strong
 * penalty. */
TEST(a_trial_ends_or_gives_way)
{
    enum { ROWS = 450, COLS = 380 };
    static const char *const strengths[] = {"lambda=1", "lambda=1e-6"};
    for (int k = 0; k < 2; k++) {
        double *X, *y;
        mgv_fit fit;
        mgv_random_set(5, ROWS, COLS, 0.5, &X, &y);
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t j = 1; j < COLS; j++) /* columns with much in common */
                X[i * COLS + j] += 3 * X[i * COLS];
        open_rows(&fit, X, y, ROWS, COLS, "task=classify tol=1e-6");
        mgv_solver_free(fit.ctx, fit.solver);
        mgv_fit_set(&fit, "solver=auto");
        mgv_fit_set(&fit, strengths[k]);
        mgv_problem_free(fit.ctx, fit.problem);
        CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
        CHECK_OK(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver));
        const mgvi_solver_ops *first = fit.solver->run.ops;
        CHECK(first->trial != NULL);
        CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
        describe(&fit);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified);
        CHECK((fit.solver->run.ops == first) == (k == 0));
        mgv_fit_free(&fit);
        free(X);
        free(y);
    }
}

TEST(what_a_trial_may_spend)
{
    mgv_fit fit;
    open_auto(&fit, "solver=auto");
    const mgvi_solver_ops *ops = mgvi_solver_find("dual_coordinate");
    const double quick = ops->trial(fit.problem, fit.settings);
    CHECK(mgvi_solver_tries(ops, fit.problem, fit.settings, quick) == 0);
    CHECK(mgvi_solver_tries(ops, fit.problem, fit.settings, INFINITY) == 0);
    CHECK(mgvi_solver_tries(ops, fit.problem, fit.settings, 4 * quick) == 2 * quick);
    CHECK(mgvi_solver_tries(ops, fit.problem, fit.settings, 8 * quick) == 3 * quick);
    CHECK_NEAR(mgvi_solver_tries(ops, fit.problem, fit.settings, 1e4 * quick), 100 * quick,
               1e-6 * quick, "half of the orders of magnitude");
    CHECK(mgvi_solver_tries(mgvi_solver_find("newton"), fit.problem, fit.settings, 1e30) == 0);
    mgv_fit_free(&fit);
}

/* A solver may name the part of the cheapest one's cost below which its trial pays: where a wide
 * lasso is worth it, and only there. */
TEST(a_trial_may_ask_for_more)
{
    enum { ROWS = 40, COLS = 400 };
    double *X, *y;
    mgv_fit fit;
    mgv_random_set(3, ROWS, COLS, 0.5, &X, &y);
    open_rows(&fit, X, y, ROWS, COLS, "task=regress loss=squared penalty=l1 mu=0.01 scale=std");
    const mgvi_solver_ops *ops = mgvi_solver_find("proximal_newton");
    const double hope = ops->trial(fit.problem, fit.settings);
    CHECK(isfinite(hope) && ops->trial_pays > 0 && ops->trial_pays < 0.1);
    CHECK(mgvi_solver_tries(ops, fit.problem, fit.settings, 0.9 * hope / ops->trial_pays) == 0);
    CHECK(mgvi_solver_tries(ops, fit.problem, fit.settings, 1.1 * hope / ops->trial_pays) > 0);
    mgv_fit_free(&fit);
    free(X);
    free(y);
}

/* A small wide lasso goes to the cheapest solver, a large one to the trial first. */
TEST(a_large_wide_lasso_is_tried_first)
{
    static const int64_t rows[] = {100, 800};
    const mgvi_solver_ops *ops = mgvi_solver_find("proximal_newton");
    for (int k = 0; k < 2; k++) {
        const int64_t n = rows[k], d = 2 * n;
        double *X, *y;
        mgv_fit fit;
        mgv_random_set(3, n, d, 0.5, &X, &y);
        open_rows(&fit, X, y, n, d, "task=regress loss=squared penalty=l1 mu=0.001 scale=std");
        CHECK((fit.solver->run.ops == ops) == (k == 1));
        mgv_fit_free(&fit);
        free(X);
        free(y);
    }
}

/* Many rows of few columns with a weak penalty are nothing for coordinates over rows: they try, and
 * give way long before they have spent what they may. */
TEST(a_trial_that_lags_is_cut_short)
{
    enum { ROWS = 2500, COLS = 400 };
    double *X, *y;
    mgv_fit fit;
    mgv_random_set(7, ROWS, COLS, 0.5, &X, &y);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 1; j < COLS; j++)
            X[i * COLS + j] += 30 * X[i * COLS];
    open_rows(&fit, X, y, ROWS, COLS, "task=classify loss=logistic lambda=1e-9");
    const mgvi_solver_ops *ops = mgvi_solver_find("dual_coordinate");
    mgv_solver *solver = fit.solver;
    CHECK_OK(fit.ctx, mgvi_driver_seat(solver, ops));
    solver->tried = mgvi_solver_bit(ops);
    solver->settings.max_iter = 1000;
    const double hope = ops->trial(fit.problem, fit.settings);
    CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, solver));
    describe(&fit);
    CHECK(solver->run.ops != ops && fit.run.stop == MGV_STOP_CERTIFIED);
    CHECK_LE(solver->memory.seated, 1.8 * hope, "what the trial spent");
    mgv_fit_free(&fit);
    free(X);
    free(y);
}

TEST(a_solver_asked_for_by_name_is_left_alone)
{
    mgv_fit fit;
    open_auto(&fit, "solver=dual_coordinate");
    give_up(&fit);
    CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
    describe(&fit);
    CHECK(fit.run.stop == MGV_STOP_STALLED);
    CHECK(strcmp(fit.run.solver, "dual_coordinate") == 0);
    mgv_fit_free(&fit);
}

/* A wide table whose columns have very different sizes. */
static void open_wide(mgv_fit *fit, const char *options)
{
    enum { ROWS = 40, COLS = 100 };
    double *X, *y;
    mgv_random_set(11, ROWS, COLS, 0.5, &X, &y);
    for (int64_t i = 0; i < ROWS * COLS; i++)
        X[i] *= pow(10, (double)(i % COLS % 7) - 3);
    open_rows(fit, X, y, ROWS, COLS, options);
    free(X);
    free(y);
}

/* Where the sweeps of one solver do not end, those of another are not tried next. */
TEST(sweeps_are_followed_by_something_else)
{
    static const char *const sweepers[] = {"primal_coordinate", "proximal_newton"};
    for (int k = 0; k < 2; k++) {
        mgv_fit fit;
        open_wide(&fit, "task=regress loss=squared penalty=l1 C=10 tol=1e-6");
        const mgvi_solver_ops *first = mgvi_solver_find(sweepers[k]);
        CHECK(first->sweeps);
        CHECK_OK(fit.ctx, mgvi_driver_seat(fit.solver, first));
        fit.solver->tried = mgvi_solver_bit(first);
        give_up(&fit);
        CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
        describe(&fit);
        CHECK(!fit.solver->run.ops->sweeps);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified);
        mgv_fit_free(&fit);
    }
}

/* Coordinates over rows that do not get there have a successor, whatever the shape. */
TEST(somebody_is_left_for_wide_tables)
{
    static const char *const losses[] = {"task=regress loss=huber", "task=classify loss=logistic",
                                         "task=classify loss=smooth_hinge"};
    for (int k = 0; k < 3; k++) {
        mgv_fit fit;
        open_wide(&fit, losses[k]);
        const mgvi_solver_ops *first = mgvi_solver_find("dual_coordinate");
        CHECK_OK(fit.ctx, mgvi_driver_seat(fit.solver, first));
        fit.solver->tried = mgvi_solver_bit(first);
        give_up(&fit);
        CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
        describe(&fit);
        CHECK(fit.solver->run.ops != first);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified);
        mgv_fit_free(&fit);
    }
}

/* (P - D)/D, which tells a primal value a thousand times the optimum from one a million times. */
TEST(the_way_is_measured_by_the_dual_value)
{
    CHECK_NEAR(mgvi_driver_way(1e-9), 1e-9, 1e-17, "a small gap is the way");
    CHECK_NEAR(mgvi_driver_way((2e3 - 2) / 2e3), 999, 1e-9, "P = 1000 D");
    CHECK(mgvi_driver_way(0.999) < mgvi_driver_way(0.9999));
    CHECK_LE(mgvi_driver_way(1 - 1e-7), 0.11 * mgvi_driver_way(1 - 1e-8), "P = 1e7 D, 1e8 D");
    CHECK(isfinite(mgvi_driver_way(1)) && mgvi_driver_way(INFINITY) == mgvi_driver_way(1));
    CHECK(mgvi_driver_way(NAN) == mgvi_driver_way(1));
}

/* Every solver gives up in turn: the last one's word stands, with the best pair of all. */
TEST(the_last_one_ends_the_run)
{
    mgv_fit fit;
    open_auto(&fit, "solver=auto");
    int turns = 0;
    do {
        give_up(&fit);
        fit.solver->stop = MGV_STOP_STALLED;
        mgv_status st = MGV_OK;
        if (!mgvi_driver_relay(fit.solver, &st))
            break;
        CHECK_OK(fit.ctx, st);
    } while (++turns < mgvi_solver_count());
    CHECK(turns >= 2 && turns < mgvi_solver_count());
    CHECK(fit.solver->stop == MGV_STOP_STALLED);
    mgv_fit_free(&fit);
}

/* A solver whose steps fail in their numbers once so many pairs have been judged. */
static struct {
    const mgv_solver *solver;
    int64_t pairs;
    mgv_status (*step)(mgvi_run *run);
} failing;

static mgv_status failing_step(mgvi_run *run)
{
    return failing.solver->memory.certificates < failing.pairs
               ? failing.step(run)
               : MGVI_FAIL(run->ctx, MGV_E_NUMERIC, "a number is not finite");
}

/* Numbers that fail take nothing away from what was judged before. A run that has nothing yet ends
 * with its sentence. */
TEST(what_was_best_outlives_numbers_that_fail)
{
    for (int64_t pairs = 0; pairs < 3; pairs++) {
        mgv_fit fit;
        open_auto(&fit, "solver=dual_coordinate");
        mgvi_solver_ops ops = *fit.solver->run.ops;
        failing.solver = fit.solver;
        failing.pairs = pairs;
        failing.step = ops.step;
        ops.step = failing_step;
        fit.solver->run.ops = &ops;
        const mgv_status st = mgv_solver_run(fit.ctx, fit.solver);
        describe(&fit);
        if (pairs > 0) {
            CHECK_OK(fit.ctx, st);
            CHECK(fit.run.stop == MGV_STOP_DIVERGED && fit.certificate.verified);
            CHECK(fit.certificate.relative_gap < 1);
        } else {
            CHECK(st == MGV_E_NUMERIC && strstr(mgv_ctx_error(fit.ctx), "not finite"));
        }
        mgv_fit_free(&fit);
    }
}

/* All have had their turn: one that only gave way goes on from the best pair, and may spend twice
 * as much as it said. One that was at its end does not come back. */
TEST(who_gave_way_comes_back)
{
    for (int gave_way = 0; gave_way < 2; gave_way++) {
        mgv_fit fit;
        open_auto(&fit, "solver=auto");
        const mgvi_solver_ops *first = fit.solver->run.ops;
        const mgvi_solver_ops *second = mgvi_solver_find("dual_coordinate");
        CHECK(first != second);
        bool taken;
        CHECK_OK(fit.ctx, mgvi_driver_certify(fit.solver, &taken));
        fit.solver->tried = UINT64_MAX;
        fit.solver->outspent = gave_way;
        fit.solver->stop = MGV_STOP_STALLED;
        fit.solver->memory.paused = mgvi_solver_bit(second);
        mgv_status st = MGV_OK;
        CHECK(mgvi_driver_relay(fit.solver, &st));
        CHECK_OK(fit.ctx, st);
        CHECK(fit.solver->run.ops == second && fit.solver->memory.comebacks == 1);
        give_up(&fit);
        fit.solver->stop = MGV_STOP_STALLED;
        CHECK(mgvi_driver_relay(fit.solver, &st) == (gave_way == 1));
        CHECK(fit.solver->run.ops == (gave_way ? first : second));
        CHECK(fit.solver->memory.comebacks == 1 + gave_way);
        if (gave_way)
            CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
        describe(&fit);
        CHECK(!gave_way || fit.run.stop == MGV_STOP_CERTIFIED);
        mgv_fit_free(&fit);
    }
}

/* A checkpoint of the second solver is continued to the same bits by a run that begins with the
 * first. */
TEST(a_checkpoint_remembers_who_took_over)
{
    char path[64], options[160];
    mgv_fit whole, broken, resumed;
    snprintf(path, sizeof path, "relay-%d.ckpt", (int)getpid());
    open_auto(&whole, "solver=auto");
    give_up(&whole);
    CHECK_OK(whole.ctx, mgv_solver_run(whole.ctx, whole.solver));
    snprintf(options, sizeof options, "solver=auto max_iter=1 checkpoint=%s", path);
    open_auto(&broken, options);
    give_up(&broken);
    CHECK_OK(broken.ctx, mgv_solver_run(broken.ctx, broken.solver));
    CHECK(broken.solver->run.ops == whole.solver->run.ops);
    open_auto(&resumed, "solver=auto");
    CHECK(resumed.solver->run.ops != whole.solver->run.ops);
    CHECK_OK(resumed.ctx, mgvi_checkpoint_read(resumed.solver, path));
    CHECK(resumed.solver->run.ops == whole.solver->run.ops);
    CHECK_OK(resumed.ctx, mgv_solver_run(resumed.ctx, resumed.solver));
    CHECK(resumed.solver->run.iteration == whole.solver->run.iteration);
    for (int j = 0; j < D; j++)
        CHECK(mgv_fit_weights(&resumed)[j] == mgv_fit_weights(&whole)[j]);
    unlink(path);
    mgv_fit_free(&whole);
    mgv_fit_free(&broken);
    mgv_fit_free(&resumed);
}

/* A penalty that holds all weights at 0 needs no step: one look at the slopes of the loss there, on
 * either side of what an intercept can balance. */
TEST(no_weights_at_all_take_no_step)
{
    static const char *const losses[] = {"loss=hinge", "loss=logistic", "loss=squared_hinge",
                                         "loss=hinge intercept=no"};
    for (int k = 0; k < 2 * 4; k++) {
        double *X, *y;
        mgv_fit fit;
        mgv_random_set(3, N, D, 0.7, &X, &y);
        for (int64_t i = 0; i < N / 3; i++) /* classes of different weight */
            y[i] = y[0];
        open_rows(&fit, X, y, N, D, "task=classify penalty=l1 mu=0.01");
        mgv_solver_free(fit.ctx, fit.solver);
        mgv_problem_free(fit.ctx, fit.problem);
        mgv_fit_set(&fit, losses[k / 2]);
        mgv_fit_set(&fit, k % 2 ? "mu=5" : "mu=0.01");
        mgv_fit_solve(&fit);
        describe(&fit);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified);
        CHECK_THAT((fit.run.iterations == 0) == (k % 2 == 1), "%s", losses[k / 2]);
        for (int j = 0; k % 2 && j < D; j++)
            CHECK(mgv_fit_weights(&fit)[j] == 0);
        mgv_fit_free(&fit);
        free(X);
        free(y);
    }
}

/* Few entries a row: coordinates over rows see a hard margin before working sets have made the
 * products of their rows. Dense ones, and many a column, are left to these. */
TEST(sparse_margins_go_to_coordinates)
{
    enum { ROWS = 300, COLS = 2000, ENTRIES = 10 };
    static double val[ROWS * ENTRIES], y[ROWS], dense[ROWS * 20];
    static int64_t ptr[ROWS + 1];
    static int32_t idx[ROWS * ENTRIES];
    mgvi_rng rng = mgvi_rng_seed(9);
    for (int64_t i = 0; i < ROWS; i++) {
        y[i] = i % 2 ? 1 : -1;
        ptr[i + 1] = ptr[i] + ENTRIES;
        for (int64_t e = 0; e < ENTRIES; e++) {
            idx[ptr[i] + e] =
                (int32_t)(e * (COLS / ENTRIES) + mgvi_rng_below(&rng, COLS / ENTRIES));
            val[ptr[i] + e] = mgvi_rng_normal(&rng);
        }
        for (int64_t j = 0; j < 20; j++)
            dense[i * 20 + j] = mgvi_rng_normal(&rng) + 8 * y[i];
    }
    for (int k = 0; k < 2; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, dense, y, ROWS, 20, "task=classify loss=margin");
        if (k == 0) {
            mgv_data_free(fit.ctx, fit.data);
            CHECK_OK(fit.ctx, mgv_data_from_sparse(fit.ctx, MGV_CSR, MGV_F64, val, ptr, idx, ROWS,
                                                   COLS, &fit.data));
            CHECK_OK(fit.ctx, mgv_data_set_labels(fit.ctx, fit.data, y));
        }
        mgv_fit_solve(&fit);
        describe(&fit);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified);
        CHECK_THAT(strcmp(fit.run.solver, k == 0 ? "dual_coordinate" : "exact_margin") == 0,
                   "%d: %s", k, fit.run.solver);
        mgv_fit_free(&fit);
    }
}

/* An entry of a sparse product costs a part of one read out of order. */
TEST(products_are_cheaper_than_visits)
{
    static double val[] = {1, 2, 3, -1};
    static int64_t ptr[] = {0, 1, 2, 3, 4};
    static int32_t idx[] = {0, 1, 2, 0};
    static const double y[] = {1, -1, 1, -1}, X[] = {0, 0, 0, 0};
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, 4, 1, "task=classify loss=hinge");
    mgv_data_free(fit.ctx, fit.data);
    CHECK_OK(fit.ctx,
             mgv_data_from_sparse(fit.ctx, MGV_CSR, MGV_F64, val, ptr, idx, 4, 3, &fit.data));
    CHECK_OK(fit.ctx, mgv_data_set_labels(fit.ctx, fit.data, y));
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_OK(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver));
    const double before = mgvi_driver_spent(fit.solver);
    fit.problem->A->touched += 100;
    const double product = mgvi_driver_spent(fit.solver) - before;
    fit.solver->run.touched += 100;
    const double visit = mgvi_driver_spent(fit.solver) - before - product;
    CHECK_NEAR(product, 100 * mgvi_product_cost(fit.problem), 1e-9, "in order");
    CHECK_NEAR(visit, 100 * mgvi_entry_cost(fit.problem), 1e-9, "anywhere");
    CHECK(product < visit);
    mgv_fit_free(&fit);
}

/* Texts of two classes, fitted with an l1 hinge; false: not with sanitizers, for minutes. */
static bool fit_text(mgv_fit *fit, const char *options)
{
    enum { ROWS = 2500, COLS = 6000, PER = 14 };
    static float val[ROWS * PER];
    static int32_t idx[ROWS * PER];
    static int64_t ptr[ROWS + 1];
    static double y[ROWS];
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* the same code */
    return false;
#endif
    mgvi_rng rng = mgvi_rng_seed(4);
    for (int i = 0; i < ROWS; i++) {
        double sum = 0.7 * mgvi_rng_normal(&rng);
        ptr[i + 1] = ptr[i];
        for (int k = 0; k < PER; k++) { /* the k-th of PER parts of log(1 .. COLS) */
            const double u = (k + mgvi_rng_uniform(&rng)) / PER;
            const int32_t j = (int32_t)(pow(COLS, u) - 1);
            if (ptr[i + 1] > ptr[i] && j <= idx[ptr[i + 1] - 1])
                continue;
            idx[ptr[i + 1]] = j;
            val[ptr[i + 1]++] = 1;
            sum += j % 5 == 0 ? 1 : j % 5 == 1 ? -1 : 0;
        }
        y[i] = sum > 0 ? 1 : -1;
    }
    fit->ctx = mgv_check_ctx();
    CHECK_OK(fit->ctx, mgv_data_from_sparse(fit->ctx, MGV_CSR, MGV_F32, val, ptr, idx, ROWS, COLS,
                                            &fit->data));
    CHECK_OK(fit->ctx, mgv_data_set_labels(fit->ctx, fit->data, y));
    CHECK_OK(fit->ctx, mgv_settings_new(fit->ctx, &fit->settings));
    mgv_fit_set(fit, options);
    mgv_fit_solve(fit);
    CHECK(fit->run.stop == MGV_STOP_CERTIFIED && fit->certificate.verified);
    CHECK(strcmp(fit->run.solver, "column_generation") == 0);
    return true;
}

/* Smoothing finds nearly all columns and rows that matter, from which column generation takes a few
 * rounds (cold: seven or eight). */
TEST(column_generation_goes_on_from_the_pair)
{
    mgv_fit fit = {0};
    if (!fit_text(&fit, "loss=hinge penalty=l1 C=1"))
        return;
    CHECK_LE((double)fit.run.iterations, 5, "rounds");
    mgv_fit_free(&fit);
}

enum { MOST_ROWS = 3000, MOST_COLS = 600, MOST_ENTRIES = 16000 };

/* Rows of `per` entries in columns of sizes 1 / apart to apart, labels by a plane. */
static void draw_sparse(mgv_fit *fit, int64_t n, int64_t d, int64_t per, double apart)
{
    static double val[MOST_ENTRIES], y[MOST_ROWS], plane[MOST_COLS], size[MOST_COLS];
    static int64_t ptr[MOST_ROWS + 1];
    static int32_t idx[MOST_ENTRIES];
    mgvi_rng rng = mgvi_rng_seed(8);
    for (int64_t j = 0; j < d; j++) {
        plane[j] = mgvi_rng_normal(&rng);
        size[j] = pow(apart, 2 * mgvi_rng_uniform(&rng) - 1);
    }
    for (int64_t i = 0; i < n; i++) {
        double score = 0;
        ptr[i + 1] = ptr[i] + per;
        for (int64_t e = 0; e < per; e++) {
            const int64_t j = e * (d / per) + mgvi_rng_below(&rng, (uint32_t)(d / per));
            const double z = mgvi_rng_normal(&rng);
            idx[ptr[i] + e] = (int32_t)j;
            val[ptr[i] + e] = size[j] * (z + (apart > 1));
            score += plane[j] * z;
        }
        y[i] = score > 0 ? 1 : -1;
    }
    *fit = (mgv_fit){.ctx = mgv_check_ctx()};
    CHECK_OK(fit->ctx,
             mgv_data_from_sparse(fit->ctx, MGV_CSR, MGV_F64, val, ptr, idx, n, d, &fit->data));
    CHECK_OK(fit->ctx, mgv_data_set_labels(fit->ctx, fit->data, y));
    CHECK_OK(fit->ctx, mgv_settings_new(fit->ctx, &fit->settings));
}

/* The cheapest by what it states may be wrong by orders of magnitude, and the next as well, the
 * other way round: coordinates whose gap does not fall give way at a part of their own cost, and
 * smooth hinges of many rows cost column_generation what a smooth loss does. */
TEST(who_lags_gives_way_at_its_own_cost)
{
    static const struct {
        int64_t n, d, per;
        double apart, most; /* times the work of the right one */
        const char *options, *right;
    } cases[] = {
        {500, 520, 8, 1e3, 6, "loss=exponential C=0.01", "proximal_newton"},
        {2600, 200, 6, 1, 12, "loss=squared_hinge penalty=l1 C=1000", "column_generation"}};
    for (int k = 0; k < 2 * 2; k++) {
        static double spent[2];
        mgv_fit fit;
        draw_sparse(&fit, cases[k / 2].n, cases[k / 2].d, cases[k / 2].per, cases[k / 2].apart);
        mgv_fit_set(&fit, cases[k / 2].options);
        CHECK_OK(fit.ctx, mgv_settings_set(fit.ctx, fit.settings, "solver",
                                           k % 2 ? "auto" : cases[k / 2].right));
        mgv_fit_solve(&fit);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified);
        spent[k % 2] = mgvi_driver_spent(fit.solver);
        if (k % 2)
            CHECK_LE(spent[1] / spent[0], cases[k / 2].most, cases[k / 2].options);
        mgv_fit_free(&fit);
    }
}

/* Standardised, as many weights as half of the rows: a pair that is far from the optimum says
 * nothing about them, and all columns are taken at once. */
TEST(column_generation_leaves_a_poor_pair)
{
    mgv_fit fit = {0};
    if (!fit_text(&fit, "loss=hinge penalty=l1 C=1 scale=std"))
        return;
    CHECK_LE((double)fit.run.iterations, 2, "rounds");
    mgv_fit_free(&fit);
}

int main(void)
{
    return RUN(another_solver_takes_over, a_trial_ends_or_gives_way, what_a_trial_may_spend,
               a_trial_may_ask_for_more, a_large_wide_lasso_is_tried_first,
               a_trial_that_lags_is_cut_short, a_solver_asked_for_by_name_is_left_alone,
               sweeps_are_followed_by_something_else, somebody_is_left_for_wide_tables,
               the_way_is_measured_by_the_dual_value, the_last_one_ends_the_run,
               what_was_best_outlives_numbers_that_fail, who_gave_way_comes_back,
               a_checkpoint_remembers_who_took_over, no_weights_at_all_take_no_step,
               sparse_margins_go_to_coordinates, products_are_cheaper_than_visits,
               column_generation_goes_on_from_the_pair, who_lags_gives_way_at_its_own_cost,
               column_generation_leaves_a_poor_pair);
}
