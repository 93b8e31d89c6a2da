/* test_separate.c - the prover: peeling, Newton on the squared hinge, proofs. */
#include "vectors.h"

#include "solver/parts/separate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static mgvi_separable ask(mgv_fit *fit, mgvi_arena *arena, const mgvi_vec **w, const mgvi_vec **q)
{
    mgvi_separate *s;
    mgvi_separable answer;
    CHECK_OK(fit->ctx, mgv_problem_new(fit->ctx, fit->data, fit->settings, &fit->problem));
    mgvi_arena_init(arena, fit->ctx);
    CHECK_OK(fit->ctx, mgvi_separate_new(fit->problem, arena, 1000, &s));
    CHECK_OK(fit->ctx, mgvi_separate_run(s, 200, &answer, w, q));
    return answer;
}

TEST(both_answers_hold)
{
    static const char *const options[] = {"loss=margin intercept=no", "loss=margin",
                                          "loss=margin scale=std", "loss=margin scale=maxabs"};
    for (uint64_t seed = 90; seed < 102; seed++)
        for (int k = 0; k < 4; k++)
            for (int separable = 0; separable < 2; separable++) {
                const int64_t n = 400, d = 12;
                double *X, *y;
                mgv_random_set(seed, n, d, separable ? 0 : 1, &X, &y);
                for (int64_t i = 0; separable && i < n; i++)
                    X[i * d] += 2 * y[i]; /* apart, also without an intercept */
                mgv_fit fit;
                mgvi_arena arena;
                const mgvi_vec *w, *q;
                mgv_fit_start(&fit, X, y, n, d, options[k]);
                const mgvi_separable answer = ask(&fit, &arena, &w, &q);
                CHECK_THAT(answer == (separable ? MGVI_SEPARABLE_YES : MGVI_SEPARABLE_NO),
                           "seed %d, %s: %d", (int)seed, options[k], (int)answer);
                mgvi_vec z = mgvi_vec_wrap(malloc((size_t)n * sizeof(double)), n, MGVI_ROWS);
                mgvi_vec v = mgvi_vec_wrap(malloc((size_t)(d + 1) * sizeof(double)),
                                           fit.problem->A->cols, MGVI_COLS);
                if (separable) {
                    bool row[400], col[13];
                    CHECK_OK(fit.ctx, mgvi_problem_peel(fit.problem, &arena, row, col));
                    mgvi_op_mul(fit.problem->A, 1, w, 0, &z);
                    for (int64_t i = 0; i < n; i++) /* peeled rows are in no proof anyway */
                        CHECK(!row[i] || z.x[i] > 0);
                } else {
                    double sum = 0;
                    mgvi_op_mul_t(fit.problem->A, 1, q, 0, &v);
                    for (int64_t i = 0; i < n; i++) {
                        CHECK(q->x[i] >= 0);
                        sum += q->x[i];
                    }
                    for (int64_t j = 0; j < v.n; j++)
                        CHECK_LE(fabs(v.x[j]), 1e-11 * sum, "column %d", (int)j);
                }
                free(z.x);
                free(v.x);
                mgvi_arena_free(&arena);
                mgv_fit_free(&fit);
                free(X);
                free(y);
            }
}

TEST(peeling_keeps_what_a_proof_can_use)
{
    /* column 1 has one sign: rows 0 and 3 go; then column 2 has one sign and row 1 goes; rows 2 and
     * 4 are opposite in what is left, and are the proof. */
    const double X[] = {1, 5, 0, 2, 0, 3, 3, 0, 0, -1, 2, -4, 3, 0, 0};
    const double y[] = {1, 1, 1, 1, -1};
    bool row[5], col[3];
    mgv_fit fit;
    mgvi_arena arena;
    mgv_fit_start(&fit, X, y, 5, 3, "loss=margin intercept=no");
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    mgvi_arena_init(&arena, fit.ctx);
    CHECK_OK(fit.ctx, mgvi_problem_peel(fit.problem, &arena, row, col));
    const bool rows[] = {false, false, true, false, true}, cols[] = {true, false, false};
    assert_memory_equal(row, rows, sizeof rows);
    assert_memory_equal(col, cols, sizeof cols);
    mgvi_arena_free(&arena);
    mgv_fit_free(&fit);
}

int main(void) { return RUN(both_answers_hold, peeling_keeps_what_a_proof_can_use); }
