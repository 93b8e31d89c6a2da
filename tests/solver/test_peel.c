/* test_peel.c - rows that no proof of inseparability can hold, beside plain loops: dense and sparse,
 * with and without an intercept and centred columns; and the margins of what went, given back. */
#include "margin_runs.h"

#include "base/rng.h"
#include "solver/margin/peel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 60, COLS = 24 };

/* Few entries to many, and columns of one sign among them. */
static void make(uint64_t seed, double X[ROWS][COLS], double y[ROWS])
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    const double share = 0.03 + 0.3 * mgvi_rng_uniform(&rng);
    for (int i = 0; i < ROWS; i++) {
        y[i] = i % 2 ? 1 : -1;
        for (int j = 0; j < COLS; j++) {
            const bool there = mgvi_rng_uniform(&rng) < share;
            const double x = there ? mgvi_rng_normal(&rng) : 0;
            X[i][j] = j % 12 == 0 ? y[i] * fabs(x) : x;
        }
    }
}

static void start(mgv_fit *fit, bool sparse, const char *options, double X[ROWS][COLS], double *y)
{
    static double val[ROWS * COLS];
    static int64_t ptr[ROWS + 1];
    static int32_t idx[ROWS * COLS];
    int64_t at = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLS; j++)
            if (X[i][j] != 0) {
                idx[at] = j;
                val[at++] = X[i][j];
            }
        ptr[i + 1] = at;
    }
    mgv_fit_start(fit, &X[0][0], y, ROWS, COLS, "loss=margin p=1.5 max_iter=1");
    mgv_fit_set(fit, options);
    if (sparse) {
        mgv_data_free(fit->ctx, fit->data);
        CHECK_OK(fit->ctx, mgv_data_from_sparse(fit->ctx, MGV_CSR, MGV_F64, val, ptr, idx, ROWS,
                                                COLS, &fit->data));
        CHECK_OK(fit->ctx, mgv_data_set_labels(fit->ctx, fit->data, y));
    }
    mgv_fit_solve(fit);
}

/* What no column of one sign takes away, over and over. */
static int plain(double X[ROWS][COLS], const double *y, const int32_t *W, int size, bool *live)
{
    int count = size;
    memset(live, 0, ROWS * sizeof *live);
    for (int t = 0; t < size; t++)
        live[W[t]] = true;
    for (int j = 0; j < COLS; j++) {
        bool sign[2] = {false, false}, gone = false;
        for (int i = 0; i < ROWS; i++)
            if (live[i] && X[i][j] != 0)
                sign[y[i] * X[i][j] > 0] = true;
        for (int i = 0; i < ROWS && sign[0] != sign[1]; i++)
            if (live[i] && X[i][j] != 0) {
                live[i] = false;
                gone = true;
                count--;
            }
        j = gone ? -1 : j; /* once more from the first */
    }
    return count;
}

static double score(const mgv_fit *fit, double X[ROWS][COLS], const double *y, int i,
                    const double *w, double free)
{
    const mgvi_view *view = &fit->problem->view;
    double f = free;
    for (int j = 0; j < COLS; j++) {
        const double centre = view->centre ? view->centre[j] : 0;
        f += (X[i][j] - centre) * mgvi_view_scale(view, j) * w[j];
    }
    return y[i] * f;
}

static void check_lift(const mgv_fit *fit, const mgvi_rows *rows, mgvi_peeling *p,
                       double X[ROWS][COLS], const double *y)
{
    double w[COLS], before[ROWS], free = fit->problem->free_cols ? 0.7 : 0;
    for (int j = 0; j < COLS; j++)
        w[j] = cos(3.0 * j);
    for (int i = 0; i < ROWS; i++)
        before[i] = score(fit, X, y, i, w, free);
    mgvi_peel_lift(p, fit->problem, rows, w, &free);
    for (int64_t t = 0; t < p->dropped; t++) {
        const int i = p->gone[t];
        const double f = score(fit, X, y, i, w, free);
        CHECK_THAT(f >= 1 - 1e-6 * fabs(before[i]) - 1e-6, "row %d has %g", i, f);
    }
    for (int64_t t = 0; t < p->count; t++) {
        const int i = p->live[t];
        CHECK_NEAR(score(fit, X, y, i, w, free), before[i], 1e-6 * (1 + fabs(before[i])),
                   "row %d that lives", i);
    }
}

TEST(the_rows_that_plain_loops_leave)
{
    static const char *const options[] = {"intercept=no", "intercept=yes",
                                          "intercept=yes scale=std"};
    int fewer = 0, none = 0;
    for (int k = 0; k < 60; k++) {
        double X[ROWS][COLS], y[ROWS];
        int32_t W[ROWS];
        bool live[ROWS];
        mgv_fit fit;
        mgvi_arena arena;
        mgvi_rows *rows;
        mgvi_peeling p;
        const int size = k % 5 == 0 ? ROWS : 10 + k % 50;
        make(100 + (uint64_t)k, X, y);
        for (int t = 0; t < size; t++)
            W[t] = (t * 7 + k) % ROWS;
        start(&fit, k % 2, options[k % 3], X, y);
        mgvi_arena_init(&arena, fit.ctx);
        CHECK_OK(fit.ctx, mgvi_rows_new(fit.problem->A, &arena, &rows));
        CHECK_OK(fit.ctx, mgvi_peeling_new(rows, &arena, ROWS, &p));
        CHECK_OK(fit.ctx, mgvi_peel(&p, fit.problem, rows, W, size));
        const int count = plain(X, y, W, size, live);
        CHECK_THAT(p.count == (count ? count : size), "%d: %d rows are left, %d with plain loops",
                   k, (int)p.count, count);
        CHECK(p.dropped == size - p.count);
        for (int64_t t = 0; t < p.count && count; t++)
            CHECK(live[p.live[t]]);
        fewer += count > 0 && count < size;
        none += count == 0;
        check_lift(&fit, rows, &p, X, y);
        mgvi_arena_free(&arena);
        mgv_fit_free(&fit);
    }
    CHECK_THAT(fewer > 10 && none > 5, "%d fewer, %d none", fewer, none);
}

/* Without an intercept every row has its part in every column that is centred. */
TEST(centred_columns_keep_all_rows)
{
    double X[ROWS][COLS], y[ROWS];
    int32_t W[ROWS];
    mgv_fit fit;
    mgvi_arena arena;
    mgvi_rows *rows;
    mgvi_peeling p;
    make(3, X, y);
    for (int t = 0; t < ROWS; t++)
        W[t] = t;
    start(&fit, false, "intercept=no scale=std", X, y);
    mgvi_arena_init(&arena, fit.ctx);
    CHECK_OK(fit.ctx, mgvi_rows_new(fit.problem->A, &arena, &rows));
    CHECK_OK(fit.ctx, mgvi_peeling_new(rows, &arena, ROWS, &p));
    CHECK_OK(fit.ctx, mgvi_peel(&p, fit.problem, rows, W, ROWS));
    CHECK(fit.problem->view.centre && p.count == ROWS);
    mgvi_arena_free(&arena);
    mgv_fit_free(&fit);
}

/* Of a chain whose rows go one after the other, last to first, some rounds take a part only: the
 * weights of that part are right, too. */
TEST(a_chain_is_not_followed_for_ever)
{
    enum { LONG = 400 };
    double *X = calloc(LONG * LONG, sizeof *X), y[LONG], w[LONG] = {0}, free_weight = 0;
    int32_t W[LONG];
    mgv_fit fit;
    mgvi_arena arena;
    mgvi_rows *rows;
    mgvi_peeling p;
    for (int i = 0; i < LONG; i++) { /* the last row alone has a column of its own */
        y[i] = i % 2 ? 1 : -1;
        W[i] = i;
        X[i * LONG + i] = y[i];
        if (i > 0)
            X[i * LONG + i - 1] = -y[i];
    }
    mgv_fit_start(&fit, X, y, LONG, LONG, "loss=margin p=1.5 max_iter=1 intercept=no");
    mgv_fit_solve(&fit);
    mgvi_arena_init(&arena, fit.ctx);
    CHECK_OK(fit.ctx, mgvi_rows_new(fit.problem->A, &arena, &rows));
    CHECK_OK(fit.ctx, mgvi_peeling_new(rows, &arena, LONG, &p));
    CHECK_OK(fit.ctx, mgvi_peel(&p, fit.problem, rows, W, LONG));
    CHECK_THAT(p.dropped >= 50 && p.count >= LONG / 2 && p.dropped + p.count == LONG,
               "%d rows of %d went", (int)p.dropped, LONG);
    mgvi_peel_lift(&p, fit.problem, rows, w, &free_weight);
    for (int64_t t = 0; t < p.dropped; t++) {
        double f = 0;
        for (int j = 0; j < LONG; j++)
            f += y[p.gone[t]] * X[p.gone[t] * LONG + j] * w[j];
        CHECK_LE(1 - 1e-9, f, "row %d", (int)p.gone[t]);
    }
    mgvi_arena_free(&arena);
    mgv_fit_free(&fit);
    free(X);
}

int main(void)
{
    return RUN(the_rows_that_plain_loops_leave, centred_columns_keep_all_rows,
               a_chain_is_not_followed_for_ever);
}
