/* test_pairs_core.c - ascent on the places that still move ends where ascent on all places does. */
#include "check.h"

#include "base/rng.h"
#include "solver/kernel/pairs_core.h"

#include <math.h>

enum { PLACES = 120, TRAITS = 4 };

/* A Gaussian kernel of few traits, wide: nearly singular, as data at a large C has it. */
typedef struct block {
    mgvi_pairs pairs;
    mgvi_arena arena;
    double y[PLACES + 1];
} block;

static void fill(mgv_ctx *ctx, block *b, mgv_dtype dtype, bool rough, double C, double ridge,
                 bool intercept)
{
    double x[PLACES + 1][TRAITS];
    mgvi_rng rng = mgvi_rng_seed(3);
    *b = (block){.pairs = {.ctx = ctx, .dtype = dtype, .rough = rough}};
    mgvi_arena_init(&b->arena, ctx);
    mgvi_pairs *p = &b->pairs;
    CHECK(mgvi_pairs_grow(p, &b->arena, PLACES + 1) == MGV_OK);
    p->size = PLACES + 1;
    for (int i = 1; i <= PLACES; i++) {
        b->y[i] = i % 2 ? 1 : -1;
        for (int k = 0; k < TRAITS; k++)
            x[i][k] = mgvi_rng_normal(&rng) + (k == 0 ? 0.4 * b->y[i] : 0);
        p->lo[i] = b->y[i] > 0 ? 0 : -C;
        p->hi[i] = b->y[i] > 0 ? C : 0;
        p->ridge[i] = ridge;
        p->diagonal[i] = 1 + ridge;
        p->v[i] = b->y[i];
        p->c[i] = 0;
    }
    p->lo[0] = intercept ? 0 : -INFINITY;
    p->hi[0] = intercept ? 0 : INFINITY;
    for (int i = 1; i <= PLACES; i++)
        for (int j = 1; j <= PLACES; j++) {
            double square = 0;
            for (int k = 0; k < TRAITS; k++)
                square += (x[i][k] - x[j][k]) * (x[i][k] - x[j][k]);
            if (dtype == MGV_F32)
                ((float *)mgvi_pairs_row(p, i))[j] = (float)exp(-square / 8);
            else
                ((double *)mgvi_pairs_row(p, i))[j] = exp(-square / 8);
        }
    mgvi_pairs_mirror(p, 1, PLACES + 1);
    mgvi_pairs_mark(p);
}

/* y'c - 1/2 c'(K + diag(r)) c = 1/2 c'(y + v). */
static double value(const block *b)
{
    double sum = 0;
    for (int i = 1; i <= PLACES; i++)
        sum += 0.5 * b->pairs.c[i] * (b->y[i] + b->pairs.v[i]);
    return sum;
}

/* v from its definition, to see that the updates kept it. */
static double drift(const block *b)
{
    const mgvi_pairs *p = &b->pairs;
    double most = 0;
    for (int i = 1; i <= PLACES; i++) {
        double v = b->y[i] - p->ridge[i] * p->c[i];
        for (int j = 1; j <= PLACES; j++)
            v -= p->c[j] * (p->dtype == MGV_F32 ? (double)((float *)mgvi_pairs_row(p, i))[j]
                                                : ((double *)mgvi_pairs_row(p, i))[j]);
        most = fmax(most, fabs(v - p->v[i]));
    }
    return most;
}

static void same_answer(mgv_dtype dtype, bool rough, double C, double ridge, bool intercept)
{
    mgv_ctx *ctx = mgv_check_ctx();
    block whole, cut;
    fill(ctx, &whole, dtype, false, C, ridge, intercept);
    fill(ctx, &cut, dtype, rough, C, ridge, intercept);
    mgvi_pairs_core core = {0};
    double work;
    const double eps = 1e-4;
    mgvi_pairs_run(&whole.pairs, eps, 50000000);
    CHECK_OK(ctx, mgvi_pairs_core_run(&core, &cut.pairs, &cut.arena, eps, 1e12, &work));
    CHECK(core.pairs.size > 1 && core.pairs.size <= PLACES + 1);
    CHECK(cut.pairs.most - cut.pairs.least <= eps);
    CHECK_NEAR(value(&cut), value(&whole), 1e-5 * fabs(value(&whole)) + eps, "value");
    CHECK_NEAR(drift(&cut), 0, 1e-7 * (1 + C), "drift of v");
    double sum = 0;
    for (int i = 0; i <= PLACES; i++) {
        sum += cut.pairs.c[i];
        CHECK(cut.pairs.c[i] >= cut.pairs.lo[i] && cut.pairs.c[i] <= cut.pairs.hi[i]);
    }
    CHECK_NEAR(sum, 0, 1e-9 * (1 + C), "sum of c");
    mgvi_arena_free(&whole.arena);
    mgvi_arena_free(&cut.arena);
    mgv_ctx_free(ctx);
}

TEST(core_and_whole_agree)
{
    same_answer(MGV_F64, false, 10, 0, true);
    same_answer(MGV_F64, false, 1000, 0, true);
    same_answer(MGV_F64, false, 1000, 0, false);
    same_answer(MGV_F32, false, 100, 0, true);
    same_answer(MGV_F64, false, INFINITY, 0.01, true);
}

/* Steps in float32 end where steps in float64 do, and v is float64. */
TEST(rough_steps_have_the_same_answer)
{
    same_answer(MGV_F32, true, 10, 0, true);
    same_answer(MGV_F32, true, 100, 0, true);
    same_answer(MGV_F32, true, 100, 0, false);
}

TEST(work_is_bounded)
{
    mgv_ctx *ctx = mgv_check_ctx();
    block b;
    fill(ctx, &b, MGV_F64, false, 1e4, 0, true);
    mgvi_pairs_core core = {0};
    double work;
    CHECK_OK(ctx, mgvi_pairs_core_run(&core, &b.pairs, &b.arena, 0, 1e5, &work));
    CHECK(work >= 1e5 && b.pairs.most - b.pairs.least > 0);
    mgvi_arena_free(&b.arena);
    mgv_ctx_free(ctx);
}

int main(void)
{
    return RUN(core_and_whole_agree, rough_steps_have_the_same_answer, work_is_bounded);
}
