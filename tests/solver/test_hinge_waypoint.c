/* test_hinge_waypoint.c - more columns join a solved hinge problem: from a point half of the way its
 * steps are fewer than from the start, and end in the same optimum. */
#include "base/rng.h"
#include "check.h"
#include "op/op.h"
#include "solver/column_generation/hinge_interior.h"

#include <string.h>

enum { ROWS = 400, COLS = 300, FIRST = 295 };

typedef struct problem {
    double val[ROWS * COLS], y[ROWS], s[ROWS], theta[ROWS], w[COLS];
    int64_t ptr[ROWS + 1], row[ROWS];
    int32_t idx[ROWS * COLS], of_rows[ROWS], of_cols[COLS];
    int8_t sign[ROWS];
} problem;

/* A twentieth of the entries; early columns decide the classes. */
static void fill(problem *p, uint64_t seed)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    int64_t at = 0;
    for (int i = 0; i < ROWS; i++) {
        double score = 0.3 * mgvi_rng_normal(&rng);
        for (int j = 0; j < COLS; j++)
            if (mgvi_rng_uniform(&rng) < 0.05) {
                p->val[at] = 1 + mgvi_rng_uniform(&rng);
                p->idx[at++] = j;
                score += j < 100 ? (j % 2 ? 1 : -1) : 0;
            }
        p->ptr[i + 1] = at;
        p->row[i] = p->of_rows[i] = i;
        p->y[i] = i < 2 ? 2 * i - 1 : score > 0 ? 1 : -1;
        p->sign[i] = (int8_t)p->y[i];
        p->s[i] = 1.0 / ROWS;
    }
    for (int j = 0; j < COLS; j++)
        p->of_cols[j] = j;
}

/* Steps to 1e-6 with the first `cols` columns, from the present theta where `again`. */
static mgvi_hinge_result solve(mgv_ctx *ctx, problem *p, const mgvi_rows *rows, int64_t cols,
                               bool again, mgvi_hinge_waypoint *way)
{
    mgvi_arena arena;
    mgvi_hinge_sparse *z;
    mgvi_hinge_interior *k;
    mgvi_hinge_result result;
    mgvi_arena_init(&arena, ctx);
    CHECK_OK(ctx, mgvi_hinge_sparse_new(&arena, rows, p->of_rows, ROWS, p->of_cols, cols, &z));
    CHECK_OK(ctx, mgvi_hinge_interior_new(&arena, ROWS, cols, true, &k));
    const mgvi_hinge_block block = {.kind = MGVI_ROWS_BOXED,
                                    .rows = ROWS,
                                    .cols = cols,
                                    .sparse = z,
                                    .y = p->y,
                                    .s = p->s,
                                    .aim = 1,
                                    .mu = 6e-3};
    mgvi_hinge_point at = {.theta = p->theta, .w = p->w};
    mgvi_hinge_interior_begin(ctx, k, &block, again ? &at : NULL, way);
    CHECK_OK(ctx, mgvi_hinge_interior_run(ctx, k, 1e-6, &at, &result));
    mgvi_arena_free(&arena);
    return result;
}

static void check_joining(mgv_ctx *ctx, problem *p, const mgvi_rows *rows, mgvi_arena *arena)
{
    mgvi_hinge_waypoint way;
    CHECK_OK(ctx, mgvi_hinge_waypoint_new(arena, ROWS, COLS, &way));
    const mgvi_hinge_result cold = solve(ctx, p, rows, COLS, false, NULL);
    solve(ctx, p, rows, FIRST, false, &way);
    CHECK_THAT(way.cols == FIRST, "kept of %d columns", (int)way.cols);
    const mgvi_hinge_result warm = solve(ctx, p, rows, COLS, true, &way);
    CHECK_NEAR(warm.primal, cold.primal, 2e-6 * cold.primal, "from half of the way");
    CHECK_LE(warm.primal - warm.dual, 1e-6 * warm.primal, "gap");
    CHECK_LE(warm.steps + 2, cold.steps, "steps from half of the way");
}

TEST(columns_join_half_of_the_way)
{
    static problem p;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        mgv_ctx *ctx = mgv_check_ctx();
        mgvi_op *base, *view;
        mgvi_arena arena;
        mgvi_rows *rows;
        fill(&p, seed);
        const mgvi_matrix m = {.layout = MGV_CSR,
                               .dtype = MGV_F64,
                               .rows = ROWS,
                               .cols = COLS,
                               .nnz = p.ptr[ROWS],
                               .val = p.val,
                               .ptr = p.ptr,
                               .idx = p.idx,
                               .most = 2};
        const mgvi_view v = {
            .row = p.row, .rows = ROWS, .sign = p.sign, .sign_lanes = 1, .intercept = true};
        CHECK_OK(ctx, mgvi_op_from_matrix(ctx, &m, 1, &base));
        CHECK_OK(ctx, mgvi_op_view(ctx, base, &v, 1, &view));
        mgvi_arena_init(&arena, ctx);
        CHECK_OK(ctx, mgvi_rows_bare(view, &arena, &rows));
        check_joining(ctx, &p, rows, &arena);
        mgvi_arena_free(&arena);
        mgvi_op_free(view);
        mgv_ctx_free(ctx);
    }
}

int main(void) { return RUN(columns_join_half_of_the_way); }
