/* test_early_stopping.c - primal_dual as a regulariser: the discrepancy principle, the noise law,
 * data that nothing fits, what an iteration reads, operators that are no table, bits, files,
 * memory. */
#include "regression.h"

/* ---- early stopping ---------------------------------------------------------------------------
 */

TEST(the_discrepancy_principle_stops_at_the_noise)
{
    regression r = regression_new(7, 80, 200, 8, 5);
    const double noise = length(r.noise, r.n);
    char options[200];
    snprintf(options, sizeof options, PLAIN "select=discrepancy:%.17g", noise);
    mgv_fit fit, before;
    solve(&fit, &r, options);
    CHECK(fit.run.stop == MGV_STOP_DISCREPANCY && fit.run.iterations > 5);
    double residual = 0;
    for (int64_t i = 0; i < r.n; i++) {
        double z = -r.y[i];
        for (int64_t j = 0; j < r.d; j++)
            z += r.X[i * r.d + j] * mgv_fit_weights(&fit)[j];
        residual += z * z;
    }
    CHECK_LE(sqrt(residual), noise, "the residual");
    /* the last iterate of as many steps, and the one before has more residual */
    snprintf(options, sizeof options, PLAIN "select=last max_iter=%d", (int)fit.run.iterations);
    solve(&before, &r, options);
    CHECK(memcmp(mgv_fit_weights(&before), mgv_fit_weights(&fit), (size_t)r.d * sizeof(double)) ==
          0);
    mgv_fit_free(&before);
    snprintf(options, sizeof options, PLAIN "select=last max_iter=%d", (int)fit.run.iterations - 1);
    solve(&before, &r, options);
    CHECK(before.solver->run.ops->residual(&before.solver->run) > noise);
    mgv_fit_free(&before);
    mgv_fit_free(&fit);
    regression_free(&r);
}

/* The best mean iterate comes after k steps with k times the noise roughly constant. */
TEST(the_best_mean_iterate_follows_the_noise)
{
    static const double snr[] = {3, 12, 48};
    double product[3];
    for (int t = 0; t < 3; t++) {
        product[t] = 0;
        for (uint64_t seed = 1; seed <= 3; seed++) {
            regression r = regression_new(seed, 60, 150, 6, snr[t]);
            mgv_fit fit;
            open_rows(&fit, r.X, r.y, r.n, r.d, PLAIN "iterate=average sigma_factor=1 select=last");
            double best = INFINITY;
            int64_t at = 0;
            for (int64_t k = 1; k < 4000 && k < 3 * at + 100; k++) {
                const mgvi_iterate it = step_to(&fit, k);
                const double error = distance(it.w->x, r.w, r.d);
                if (error < best) {
                    best = error;
                    at = k;
                }
            }
            product[t] += (double)at * length(r.noise, r.n) / 3;
            mgv_fit_free(&fit);
            regression_free(&r);
        }
    }
    for (int t = 1; t < 3; t++)
        CHECK_THAT(product[t] < 3 * product[0] && product[0] < 3 * product[t],
                   "k delta = %g, %g, %g", product[0], product[1], product[2]);
}

/* `apriori` turns that law into a number of iterations: C |y| / (sigma_factor noise), of which the
 * mean is the answer. */
TEST(the_noise_prescribes_the_iterations)
{
    regression r = regression_new(8, 60, 150, 6, 10);
    const double noise = length(r.noise, r.n), size = length(r.y, r.n);
    char options[200];
    mgv_fit fit, same;
    snprintf(options, sizeof options, PLAIN "select=apriori:%.17g sigma_factor=.5", noise);
    solve(&fit, &r, options);
    CHECK(fit.run.stop == MGV_STOP_APRIORI);
    CHECK_NEAR((double)fit.run.iterations, ceil(6 / .5 * size / noise), 1, "iterations");
    snprintf(options, sizeof options,
             PLAIN "select=last iterate=average sigma_factor=.5 max_iter=%d",
             (int)fit.run.iterations);
    solve(&same, &r, options);
    const mgvi_iterate mean = same.solver->run.ops->expose(&same.solver->run);
    CHECK(distance(mean.w->x, mgv_fit_weights(&fit), r.d) == 0);
    CHECK_LE(distance(mean.w->x, r.w, r.d), .5 * length(r.w, r.d), "the mean's error");
    mgv_fit_free(&same);
    mgv_fit_free(&fit);
    snprintf(options, sizeof options, PLAIN "select=apriori:1 solver=landweber penalty=l2");
    mgv_fit_start(&fit, r.X, r.y, r.n, r.d, options);
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                MGV_E_UNSUPPORTED, "primal_dual");
    mgv_fit_free(&fit);
    regression_free(&r);
}

/* 30 of the 60 columns of A are combinations of the others, and the noise is orthogonal to all: no
 * w fits. The iterates converge to the least-squares weights of least |w|_1, which are those that
 * interpolate the data without noise; u diverges. */
TEST(data_that_nothing_fits_lead_to_the_normal_solution)
{
    enum { N = 50, D = 24, RANK = 12 };
    regression r = regression_new(8, N, D, 4, INFINITY), b = regression_new(9, RANK, D, 1, 1);
    double basis[RANK][N];
    mgvi_rng rng = mgvi_rng_seed(10);
    for (int k = 0; k < RANK; k++)
        for (int i = 0; i < N; i++)
            basis[k][i] = rint(4 * mgvi_rng_normal(&rng));
    for (int k = 0; k < RANK * D; k++) /* whole numbers: the columns depend on each other exactly */
        b.X[k] = rint(4 * b.X[k]) / 16;
    for (int i = 0; i < N; i++) { /* X = basis' B, y = X w */
        r.y[i] = 0;
        for (int j = 0; j < D; j++) {
            r.X[i * D + j] = 0;
            for (int k = 0; k < RANK; k++)
                r.X[i * D + j] += basis[k][i] * b.X[k * D + j];
            r.y[i] += r.X[i * D + j] * r.w[j];
        }
        r.noise[i] = mgvi_rng_normal(&rng);
    }
    mgv_fit clean, noisy;
    solve(&clean, &r, PLAIN "tol=1e-10 max_iter=200000");
    CHECK(clean.run.stop == MGV_STOP_CERTIFIED);
    for (int k = 0; k < RANK; k++) { /* Gram-Schmidt, then the noise's part outside */
        for (int t = 0; t <= k; t++) {
            double *x = t < k ? basis[k] : r.noise, dot = 0;
            if (t == k) {
                const double size = length(basis[k], N);
                for (int i = 0; i < N; i++)
                    basis[k][i] /= size;
            }
            for (int i = 0; i < N; i++)
                dot += x[i] * basis[t][i];
            for (int i = 0; i < N; i++)
                x[i] -= dot * basis[t][i];
        }
    }
    for (int i = 0; i < N; i++)
        r.y[i] += r.noise[i];
    solve(&noisy, &r, PLAIN "select=last lazy=1 max_iter=20000 tol=1e-9");
    CHECK_LE(distance(mgv_fit_weights(&noisy), mgv_fit_weights(&clean), D), 1e-4, "|w - normal|");
    const mgvi_iterate it = noisy.solver->run.ops->expose(&noisy.solver->run);
    CHECK(length(it.u->x, N) > 10 * length(clean.solver->answer.u.x, N));
    mgv_fit_free(&noisy);
    solve(&noisy, &r, PLAIN "max_iter=20000"); /* asked to converge: a proof that nothing fits */
    CHECK(noisy.run.stop == MGV_STOP_INFEASIBLE);
    mgv_fit_free(&clean);
    mgv_fit_free(&noisy);
    regression_free(&r);
    regression_free(&b);
}

/* ---- what an iteration reads ------------------------------------------------------------------
 */

static int64_t nonzeros(const mgvi_vec *w) { return mgvi_count_nonzeros(w->x, w->n); }

/* Exact form: all columns for A'u, the support for A w. Lazy form: less, and exactly the columns
 * that are not 0 or could be. */
TEST(an_iteration_reads_the_columns_it_needs)
{
    regression r = regression_new(11, 50, 400, 5, 10);
    mgv_fit exact, lazy;
    open_rows(&exact, r.X, r.y, r.n, r.d, PLAIN "select=last lazy=1");
    open_rows(&lazy, r.X, r.y, r.n, r.d, PLAIN "select=last");
    const mgvi_op *A = exact.problem->A, *B = lazy.problem->A;
    double before, total = 0;
    for (int64_t k = 1; k <= 60; k++) {
        before = A->touched;
        const mgvi_iterate it = step_to(&exact, k);
        CHECK(A->touched - before == (double)(r.n * (r.d + nonzeros(it.w))));
        const mgvi_iterate old = lazy.solver->run.ops->expose(&lazy.solver->run);
        const int64_t support = nonzeros(old.w);
        before = B->touched;
        const mgvi_iterate now = step_to(&lazy, k);
        const double read = (B->touched - before) / (double)r.n; /* columns */
        total += read;
        CHECK(read >= (double)(nonzeros(now.w) + (k > 1 ? support : 0)));
        CHECK(read <= (double)(r.d + nonzeros(now.w)));
    }
    CHECK_LE(total / 60, 0.6 * (double)r.d, "columns read in an iteration");
    mgv_fit_free(&exact);
    mgv_fit_free(&lazy);
    regression_free(&r);
}

/* The events say how many bytes that was. */
typedef struct reading {
    double before, worst;
    int64_t rows;
    const mgvi_op *A;
} reading;

static int read_bytes(void *user, const mgv_event *e)
{
    reading *now = user;
    if (e->kind != MGV_EVENT_TRACE)
        return 0;
    now->worst = fmax(now->worst, fabs(e->bytes - 8 * now->A->touched - now->before));
    now->rows++;
    return 0;
}

TEST(events_have_the_bytes_read)
{
    regression r = regression_new(11, 50, 400, 5, 10);
    mgv_fit fit;
    open_rows(&fit, r.X, r.y, r.n, r.d, PLAIN "select=last max_iter=40");
    reading now = {.A = fit.problem->A, .before = -8 * fit.problem->A->touched};
    mgv_ctx_on_event(fit.ctx, read_bytes, &now);
    CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
    CHECK(now.rows >= 40);
    CHECK(now.worst == 0);
    mgv_fit_free(&fit);
    regression_free(&r);
}

/* ---- bits, files, memory ----------------------------------------------------------------------
 */

TEST(threads_and_pauses_change_no_bit)
{
    static const char *const options[] = {PLAIN "max_iter=90 tol=1e-14",
                                          PLAIN "select=last max_iter=90",
                                          PLAIN "penalty=linf max_iter=90 tol=1e-14"};
    regression r = regression_new(12, 300, 700, 9, 20);
    for (int o = 0; o < 3; o++) {
        mgv_fit one, four, resumed;
        solve(&one, &r, options[o]);
        mgv_fit_start(&four, r.X, r.y, r.n, r.d, options[o]);
        CHECK_OK(four.ctx, mgv_ctx_set_threads(four.ctx, 4));
        CHECK_OK(four.ctx, mgv_settings_set(four.ctx, four.settings, "max_iter", "33"));
        mgv_fit_solve(&four);
        CHECK_OK(four.ctx, mgv_solver_checkpoint(four.ctx, four.solver, "primal_dual.ckpt"));
        open_rows(&resumed, r.X, r.y, r.n, r.d, options[o]);
        CHECK_OK(resumed.ctx, mgv_solver_resume(resumed.ctx, resumed.solver, "primal_dual.ckpt"));
        CHECK_OK(resumed.ctx, mgv_solver_run(resumed.ctx, resumed.solver));
        CHECK(resumed.solver->run.iteration == 90);
        CHECK_THAT(memcmp(mgv_fit_weights(&one), mgv_fit_weights(&resumed),
                          (size_t)r.d * sizeof(double)) == 0,
                   "%s", options[o]);
        mgv_fit_free(&one);
        mgv_fit_free(&four);
        mgv_fit_free(&resumed);
    }
    remove("primal_dual.ckpt");
    regression_free(&r);
}

static bool survives(mgv_check_allocator *a, long fail_at, const regression *r)
{
    mgv_ctx *ctx;
    mgv_data *data = NULL;
    mgv_settings *settings = NULL;
    mgv_problem *problem = NULL;
    mgv_solver *solver = NULL;
    mgv_check_allocator_init(a, 0);
    CHECK(mgv_ctx_new(&a->hooks, &ctx) == MGV_OK);
    CHECK_OK(ctx, mgv_data_from_dense(ctx, MGV_F64, r->X, r->n, r->d, r->d, 1, &data));
    CHECK_OK(ctx, mgv_data_set_labels(ctx, data, r->y));
    CHECK_OK(ctx, mgv_settings_new(ctx, &settings));
    static const char *const set[][2] = {
        {"task", "regress"}, {"loss", "equal"}, {"penalty", "owl"}};
    for (int i = 0; i < 3; i++)
        CHECK_OK(ctx, mgv_settings_set(ctx, settings, set[i][0], set[i][1]));
    atomic_store(&a->calls, 0);
    a->fail_at = fail_at;
    mgv_status st = mgv_problem_new(ctx, data, settings, &problem);
    if (st == MGV_OK)
        st = mgv_solver_new(ctx, problem, settings, &solver);
    CHECK(st == MGV_OK || (st == MGV_E_MEMORY && mgv_ctx_error(ctx)[0]));
    mgv_solver_free(ctx, solver);
    mgv_problem_free(ctx, problem);
    mgv_settings_free(ctx, settings);
    mgv_data_free(ctx, data);
    mgv_ctx_free(ctx);
    CHECK(atomic_load(&a->live) == 0);
    return st == MGV_OK;
}

TEST(every_failing_allocation_is_survived)
{
    regression r = regression_new(13, 6, 9, 2, 5);
    mgv_check_allocator a;
    long fail_at = 1;
    while (!survives(&a, fail_at, &r))
        CHECK(++fail_at < 200);
    CHECK(fail_at > 5);
    regression_free(&r);
}

/* ---- operators that are no table ---------------------------------------------------------------
 */

/* The stored completion of a 6 x 5 matrix: a mask, the nuclear norm, equalities. */
TEST(the_stored_matrix_is_completed)
{
    json_t *root = mgv_vector_load("sparse_matrix_completion");
    int64_t cols, count = 0, ptr[31] = {0};
    int32_t entry[30];
    double *B = mgv_vector_array(root, "B", &cols), *M = mgv_vector_array(root, "M", NULL),
           *X = mgv_vector_array(root, "X", NULL), b[30], one[30];
    const double value = json_number_value(json_object_get(root, "value"));
    CHECK(cols == 30);
    for (int64_t i = 0; i < cols; i++)
        if (M[i] != 0) {
            entry[count] = (int32_t)i;
            one[count] = 1;
            b[count++] = B[i];
            ptr[count] = count;
        }
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_settings *settings;
    mgvi_op *mask;
    mgv_problem *problem;
    mgv_solver *solver;
    CHECK_OK(ctx, mgv_settings_new(ctx, &settings));
    static const char *const set[][2] = {
        {"penalty", "nuclear"}, {"shape", "6x5"}, {"tol", "1e-10"}, {"max_iter", "100000"}};
    for (int i = 0; i < 4; i++)
        CHECK_OK(ctx, mgv_settings_set(ctx, settings, set[i][0], set[i][1]));
    const mgvi_matrix chosen = {.rows = count,
                                .cols = cols,
                                .nnz = count,
                                .most = 1,
                                .dtype = MGV_F64,
                                .layout = MGV_CSR,
                                .ptr = ptr,
                                .idx = entry,
                                .val = one};
    CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &chosen, 1, &mask));
    CHECK_OK(ctx, mgvi_problem_over(ctx, mask, b, NULL, settings, &problem));
    CHECK_OK(ctx, mgv_solver_new(ctx, problem, settings, &solver));
    CHECK_OK(ctx, mgv_solver_run(ctx, solver));
    mgv_certificate certificate = {.size = sizeof certificate};
    mgv_run_info run = {.size = sizeof run};
    mgv_solver_describe(solver, &run, &certificate);
    CHECK(run.stop == MGV_STOP_CERTIFIED);
    CHECK_NEAR(certificate.primal, value, 1e-9 * value, "the nuclear norm");
    const double *w;
    int64_t n;
    CHECK_OK(ctx, mgv_solver_weights(solver, &w, &n));
    CHECK(n == cols);
    for (int64_t i = 0; i < cols; i++)
        CHECK_NEAR(w[i], X[i], 1e-8, "entry %d", (int)i);
    mgv_solver_free(ctx, solver);
    mgv_problem_free(ctx, problem);
    mgv_settings_free(ctx, settings);
    mgv_ctx_free(ctx);
    free(B), free(M), free(X);
    json_decref(root);
}

/* A user's pair of functions gives what the stored matrix gives. */
static int table_mul(void *user, const double *x, double *y)
{
    const regression *r = user;
    for (int64_t i = 0; i < r->n; i++) {
        y[i] = 0;
        for (int64_t j = 0; j < r->d; j++)
            y[i] += r->X[i * r->d + j] * x[j];
    }
    return 0;
}

static int table_mul_t(void *user, const double *u, double *g)
{
    const regression *r = user;
    for (int64_t j = 0; j < r->d; j++) {
        g[j] = 0;
        for (int64_t i = 0; i < r->n; i++)
            g[j] += r->X[i * r->d + j] * u[i];
    }
    return 0;
}

TEST(functions_of_the_caller_are_solved_with)
{
    regression r = regression_new(14, 30, 60, 3, INFINITY);
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_settings *settings;
    mgv_problem *problem;
    mgv_solver *solver;
    const mgv_operator op = {.size = sizeof op,
                             .rows = r.n,
                             .cols = r.d,
                             .user = &r,
                             .mul = table_mul,
                             .mul_t = table_mul_t};
    int64_t group[60];
    for (int j = 0; j < 60; j++)
        group[j] = j;
    CHECK_OK(ctx, mgv_settings_new(ctx, &settings));
    CHECK_OK(ctx, mgv_settings_set(ctx, settings, "penalty", "group"));
    CHECK_FAILS(ctx, mgv_problem_from_operator(ctx, &op, r.y, NULL, settings, &problem), MGV_E_ARG,
                "groups");
    CHECK_FAILS(ctx, mgv_problem_from_operator(ctx, NULL, r.y, NULL, settings, &problem), MGV_E_ARG,
                "op is NULL");
    CHECK_OK(ctx, mgv_problem_from_operator(ctx, &op, r.y, group, settings, &problem));
    CHECK(strstr(mgv_problem_formula(problem), "group(w)") != NULL);
    CHECK_OK(ctx, mgv_solver_new(ctx, problem, settings, &solver));
    CHECK_OK(ctx, mgv_solver_run(ctx, solver));
    const double *w;
    int64_t n;
    CHECK_OK(ctx, mgv_solver_weights(solver, &w, &n));
    CHECK_LE(distance(w, r.w, r.d), 1e-2, "|w - true|"); /* tol is 1e-4 */
    mgv_solver_free(ctx, solver);
    mgv_problem_free(ctx, problem);
    mgv_settings_free(ctx, settings);
    mgv_ctx_free(ctx);
    regression_free(&r);
}

int main(void)
{
    return RUN(the_discrepancy_principle_stops_at_the_noise,
               the_best_mean_iterate_follows_the_noise, the_noise_prescribes_the_iterations,
               events_have_the_bytes_read, data_that_nothing_fits_lead_to_the_normal_solution,
               an_iteration_reads_the_columns_it_needs, threads_and_pauses_change_no_bit,
               every_failing_allocation_is_survived, the_stored_matrix_is_completed,
               functions_of_the_caller_are_solved_with);
}
