/* test_free_rows.c - Newton steps on the free rows of a hinge dual. */
#include "stepping.h"

#include "base/rng.h"
#include "solver/parts/free_rows.h"

#include <math.h>
#include <string.h>

enum { N = 60, D = 25 };

/* Half of the entries are 0; row 1 is row 0 again and row 3 is row 2 with the other label, which
 * makes the system of the free rows singular. */
static void make_rows(uint64_t seed, double *X, double *y)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    for (int i = 0; i < N; i++) {
        y[i] = i % 3 ? 1 : -1;
        for (int j = 0; j < D; j++)
            X[i * D + j] = mgvi_rng_below(&rng, 2) ? mgvi_rng_normal(&rng) + 0.2 * y[i] : 0;
    }
    memcpy(X + D, X, D * sizeof *X);
    memcpy(X + 3 * D, X + 2 * D, D * sizeof *X);
    y[1] = y[0];
    y[3] = -y[2];
}

/* F of free_rows.h, by the textbook. */
static double dual_value(const mgv_problem *p, const double *u, double kappa, double b0)
{
    mgvi_vec uv = mgvi_vec_wrap((double *)u, N, MGVI_ROWS), v;
    mgvi_arena arena;
    mgvi_arena_init(&arena, p->ctx);
    CHECK_OK(p->ctx, mgvi_vec_new(&arena, MGVI_COLS, p->A->cols, 1, &v));
    mgvi_op_mul_t(p->A, 1, &uv, 0, &v);
    double F = 0, free_sum = 0;
    for (int64_t j = 0; j < mgvi_problem_penalised(p); j++)
        F -= v.x[j] * v.x[j] / (2 * p->lambda);
    for (int i = 0; i < N; i++) {
        F -= u[i];
        free_sum += mgvi_problem_free_entry(p, i) * u[i];
    }
    mgvi_arena_free(&arena);
    return F + b0 * free_sum - kappa / 2 * free_sum * free_sum;
}

static const char *const views[] = {"intercept=no", "intercept=yes", "intercept=no scale=std",
                                    "intercept=yes scale=maxabs", "intercept=yes scale=rownorm"};

/* F grows by what is claimed, w and the intercept follow u, nobody leaves the box, and at the end
 * no free row wants to move. */
TEST(a_step_does_what_it_says)
{
    double X[N * D], y[N], u[N];
    make_rows(3, X, y);
    for (size_t k = 0; k < sizeof views / sizeof *views; k++) {
        mgv_fit fit;
        char options[120];
        snprintf(options, sizeof options, "loss=hinge lambda=0.05 tol=1e-9 %s", views[k]);
        open_rows(&fit, X, y, N, D, options);
        const mgv_problem *p = fit.problem;
        mgvi_arena arena;
        mgvi_arena_init(&arena, fit.ctx);
        mgvi_rows *rows;
        mgvi_free_rows *f;
        CHECK_OK(fit.ctx, mgvi_rows_new(p->A, &arena, &rows));
        CHECK_OK(fit.ctx, mgvi_free_rows_new(p, rows, &arena, &f));
        const int64_t len = mgvi_rows_acc_len(rows);
        double *acc = mgvi_arena_array(&arena, (size_t)len, sizeof *acc);
        double *again = mgvi_arena_array(&arena, (size_t)len, sizeof *again);
        const double kappa = p->free_cols ? 3 : 0, b0 = p->free_cols ? 0.2 : 0;
        double free_sum = 0;
        for (int i = 0; i < N; i++) {
            u[i] = i % 5 == 4 ? 0 : i % 5 == 3 ? -1.0 / N : -(0.1 + 0.2 * (i % 4)) / N;
            mgvi_rows_axpy(rows, i, -u[i] / p->lambda, acc);
            free_sum += mgvi_problem_free_entry(p, i) * u[i];
        }
        if (p->free_cols)
            acc[len - 1] = b0 - kappa * free_sum;
        const double before = dual_value(p, u, kappa, b0);
        double curvature[N];
        mgvi_rows_square_norms(rows, curvature);
        for (int i = 0; i < N; i++)
            curvature[i] = curvature[i] / p->lambda + kappa;
        const mgvi_free_goal goal = {.inverse_lambda = 1 / p->lambda,
                                     .kappa = kappa,
                                     .curvature = curvature,
                                     .target = 1e-12,
                                     .most = INFINITY,
                                     .most_rows = INFINITY};
        mgvi_free_step taken;
        CHECK_OK(fit.ctx, mgvi_free_rows_step(f, &goal, u, acc, &taken));
        const double after = dual_value(p, u, kappa, b0);
        CHECK(taken.rows == 36 && taken.gain > 0);
        CHECK_NEAR(after - before, taken.gain, 1e-12 * fabs(after), "%s", views[k]);
        double sum = 0, worst = 0;
        for (int i = 0; i < N; i++) {
            CHECK(u[i] <= 0 && u[i] >= -1.0 / N);
            mgvi_rows_axpy(rows, i, -u[i] / p->lambda, again);
            sum += mgvi_problem_free_entry(p, i) * u[i];
        }
        CHECK_NEAR(sum - free_sum, taken.free_sum, 1e-14, "%s", views[k]);
        if (p->free_cols)
            again[len - 1] = b0 - kappa * sum;
        for (int64_t j = 0; j < len; j++)
            CHECK_NEAR(acc[j], again[j], 1e-11 * (1 + fabs(again[j])), "%s: acc[%d]", views[k],
                       (int)j);
        for (int i = 0; i < N; i++)
            if (u[i] < 0 && u[i] > -1.0 / N)
                worst = fmax(worst, fabs(mgvi_rows_dot(rows, i, acc) - 1));
        CHECK_LE(worst, 1e-5, "%s", views[k]);
        mgvi_arena_free(&arena);
        mgv_fit_free(&fit);
    }
}

/* The certificate that plain coordinate ascent reaches in many passes, in few. */
TEST(the_finish_is_exact)
{
    double X[N * D], y[N];
    make_rows(5, X, y);
    for (size_t k = 0; k < sizeof views / sizeof *views; k++) {
        double primal[2];
        int64_t iterations[2];
        for (int plain = 0; plain < 2; plain++) {
            mgv_fit fit;
            char options[160];
            snprintf(options, sizeof options,
                     "loss=hinge lambda=1e-3 tol=1e-10 max_iter=300000 solver=dual_coordinate "
                     "shrink=%s %s",
                     plain ? "no" : "yes", views[k]);
            mgv_fit_start(&fit, X, y, N, D, options);
            mgv_fit_solve(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s: gap %g", options,
                       fit.certificate.relative_gap);
            primal[plain] = fit.certificate.primal;
            iterations[plain] = fit.run.iterations;
            mgv_fit_free(&fit);
        }
        CHECK_NEAR(primal[0], primal[1], 2e-10 * primal[0], "%s", views[k]);
        CHECK_THAT(iterations[0] < iterations[1], "%s: %d passes, plain %d", views[k],
                   (int)iterations[0], (int)iterations[1]);
    }
}

TEST(threads_do_not_matter)
{
    double X[N * D], y[N], primal[2];
    make_rows(7, X, y);
    for (int t = 0; t < 2; t++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, "loss=hinge lambda=1e-3 tol=1e-10 solver=dual_coordinate");
        CHECK_OK(fit.ctx, mgv_ctx_set_threads(fit.ctx, t ? 3 : 1));
        mgv_fit_solve(&fit);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED);
        primal[t] = fit.certificate.primal;
        mgv_fit_free(&fit);
    }
    CHECK(primal[0] == primal[1]);
}

int main(void) { return RUN(a_step_does_what_it_says, the_finish_is_exact, threads_do_not_matter); }
