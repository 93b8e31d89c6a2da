/* test_leftover.c - what chosen rows leave of a kernel's diagonal: within its bounds, nothing at
 * rows that were chosen or are equal to one, and about right in the mean. */
#include "vectors.h"

#include "base/rng.h"
#include "solver/kernel/leftover.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 600, CHOSEN = 80 };

/* |U'^-1 b|^2 by elimination, A = U'U of the chosen rows and a little more. */
static double said(const double *A, const double *b)
{
    static double x[CHOSEN];
    double sum = 0;
    for (int t = 0; t < CHOSEN; t++) {
        double r = b[t];
        for (int q = 0; q < t; q++)
            r -= A[t * CHOSEN + q] * x[q];
        x[t] = r / A[t * CHOSEN + t];
        sum += x[t] * x[t];
    }
    return sum;
}

static void factor(double *A)
{
    for (int t = 0; t < CHOSEN; t++)
        for (int q = 0; q <= t; q++) {
            double r = A[t * CHOSEN + q] + (t == q ? 1e-10 : 0);
            for (int k = 0; k < q; k++)
                r -= A[t * CHOSEN + k] * A[q * CHOSEN + k];
            A[t * CHOSEN + q] = t == q ? sqrt(r) : r / A[q * CHOSEN + q];
        }
}

TEST(estimates_are_bounded_and_right_in_the_mean)
{
    mgv_ctx *ctx;
    mgvi_arena arena;
    mgvi_rng rng = mgvi_rng_seed(11);
    static double x[ROWS][3], B[ROWS * CHOSEN], A[CHOSEN * CHOSEN], diagonal[ROWS], e[ROWS];
    int64_t row[CHOSEN];
    double found = 0, exact = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < 3; j++)
            x[i][j] = i == 1 ? x[0][j] : mgvi_rng_normal(&rng);
    for (int t = 0; t < CHOSEN; t++)
        row[t] = t * (ROWS / CHOSEN);
    for (int i = 0; i < ROWS; i++) {
        diagonal[i] = 1;
        for (int t = 0; t < CHOSEN; t++) {
            double square = 0;
            for (int j = 0; j < 3; j++)
                square += (x[i][j] - x[row[t]][j]) * (x[i][j] - x[row[t]][j]);
            B[i * CHOSEN + t] = exp(-square);
        }
    }
    for (int t = 0; t < CHOSEN; t++)
        for (int q = 0; q < CHOSEN; q++)
            A[t * CHOSEN + q] = B[row[t] * CHOSEN + q];
    factor(A);
    CHECK(mgv_ctx_new(NULL, &ctx) == MGV_OK);
    mgvi_arena_init(&arena, ctx);
    const mgvi_leftover l = {
        .ctx = ctx, .n = ROWS, .count = CHOSEN, .row = row, .B = B, .diagonal = diagonal};
    CHECK_OK(ctx, mgvi_leftover_estimate(&l, &arena, e));
    for (int i = 0; i < ROWS; i++) {
        CHECK(e[i] >= 0 && e[i] <= 1);
        found += e[i] / ROWS;
        exact += fmax(1 - said(A, B + i * CHOSEN), 0) / ROWS;
    }
    CHECK(e[0] == 0 && e[1] == 0 && e[row[5]] == 0);
    CHECK_THAT(found > 0.5 * exact && found < 2 * exact, "%g, and not %g", found, exact);
    mgvi_arena_free(&arena);
    mgv_ctx_free(ctx);
}

int main(void) { return RUN(estimates_are_bounded_and_right_in_the_mean); }
