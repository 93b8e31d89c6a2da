/* test_class_graph.c - cycles of least mean against all cycles, circulations, and scaling. */
#include "check.h"

#include "base/rng.h"
#include "op/class_graph.h"

#include <math.h>

enum { MOST = 6 };

static mgvi_class_graph open_graph(mgvi_arena *arena, mgv_ctx *ctx, int32_t k)
{
    mgvi_class_graph g;
    mgvi_arena_init(arena, ctx);
    CHECK_OK(ctx, mgvi_class_graph_new(arena, k, &g));
    return g;
}

/* The least mean over all simple cycles that begin at `first`, by walking them. */
static double walk(const mgvi_class_graph *g, int32_t first, int32_t at, unsigned seen, double sum,
                   int length)
{
    double least = INFINITY;
    for (int32_t j = first; j < g->k; j++) {
        const double next = sum + (j == at ? INFINITY : g->edge[at * g->k + j]);
        if (j == first && length > 0)
            least = fmin(least, next / (length + 1));
        else if (j != first && !(seen >> j & 1))
            least = fmin(least, walk(g, first, j, seen | 1U << j, next, length + 1));
    }
    return least;
}

TEST(the_least_mean_is_that_of_all_cycles)
{
    mgv_ctx *ctx;
    CHECK(mgv_ctx_new(NULL, &ctx) == MGV_OK);
    mgvi_rng rng = mgvi_rng_seed(4);
    for (int trial = 0; trial < 400; trial++) {
        const int32_t k = 2 + trial % (MOST - 1);
        mgvi_arena arena;
        mgvi_class_graph g = open_graph(&arena, ctx, k);
        for (int32_t t = 0; t < k * k; t++) {
            const double x = mgvi_rng_normal(&rng);
            g.edge[t] = trial % 4 == 1 && x > 1        ? INFINITY
                        : trial % 4 == 2               ? rint(x)
                        : trial % 4 == 3 && t % 3 == 0 ? 1e6 * x
                                                       : x;
        }
        double least = INFINITY, size = 1;
        for (int32_t c = 0; c < k; c++)
            least = fmin(least, walk(&g, c, c, 1U << c, 0, 0));
        const double found = mgvi_class_graph_least_mean(&g);
        for (int32_t t = 0; t < k * k; t++)
            size = isfinite(g.edge[t]) ? fmax(size, fabs(g.edge[t])) : size;
        if (isfinite(least)) {
            double sum = 0;
            CHECK_NEAR(found, least, 1e-13 * size, "%d classes, trial %d", k, trial);
            for (int32_t t = 0; t < g.length; t++)
                sum += g.edge[g.cycle[t] * k + g.cycle[(t + 1) % g.length]];
            CHECK_NEAR(sum / g.length, least, 1e-13 * size, "its cycle, trial %d", trial);
            for (int32_t t = 0; t < k * k; t++)
                if (t / k != t % k)
                    CHECK_LE(found, g.edge[t] + g.b[t / k] - g.b[t % k], "edge %d", t);
        } else {
            CHECK(isinf(found));
        }
        mgvi_arena_free(&arena);
    }
    mgv_ctx_free(ctx);
}

static double imbalance(const mgvi_class_graph *g, bool logs)
{
    double worst = 0;
    for (int32_t c = 0; c < g->k; c++) {
        double sum = 0, size = 0;
        for (int32_t j = 0; j < g->k; j++) {
            double out = g->edge[c * g->k + j], in = g->edge[j * g->k + c];
            if (logs) {
                out = exp(out - g->b[c] + g->b[j]);
                in = exp(in - g->b[j] + g->b[c]);
            }
            sum += j == c ? 0 : out - in;
            size += j == c ? 0 : out + in;
        }
        worst = fmax(worst, logs ? fabs(sum) / size : fabs(sum));
    }
    return worst;
}

TEST(what_is_taken_leaves_a_circulation)
{
    mgv_ctx *ctx;
    CHECK(mgv_ctx_new(NULL, &ctx) == MGV_OK);
    mgvi_rng rng = mgvi_rng_seed(5);
    for (int trial = 0; trial < 200; trial++) {
        const int32_t k = 2 + trial % (MOST - 1);
        mgvi_arena arena;
        mgvi_class_graph g = open_graph(&arena, ctx, k);
        double before[MOST * MOST], loss = 0, excess = 0;
        for (int32_t t = 0; t < k * k; t++)
            before[t] = g.edge[t] = fmax(mgvi_rng_normal(&rng) + (trial % 3 - 1), 0);
        for (int32_t c = 0; c < k; c++) {
            double sum = 0;
            for (int32_t j = 0; j < k; j++)
                sum += j == c ? 0 : before[c * k + j] - before[j * k + c];
            excess += fmax(sum, 0);
        }
        mgvi_class_graph_circulate(&g);
        for (int32_t t = 0; t < k * k; t++) {
            CHECK(g.edge[t] >= 0 && g.edge[t] <= before[t]);
            loss += t / k == t % k ? 0 : before[t] - g.edge[t];
        }
        CHECK_LE(imbalance(&g, false), 1e-14, "trial %d", trial);
        CHECK_LE(loss, excess * (k - 1) + 1e-12, "no more than the ways are long, trial %d", trial);
        mgvi_arena_free(&arena);
    }
    mgv_ctx_free(ctx);
}

TEST(scaling_makes_a_circulation)
{
    mgv_ctx *ctx;
    CHECK(mgv_ctx_new(NULL, &ctx) == MGV_OK);
    mgvi_rng rng = mgvi_rng_seed(6);
    for (int trial = 0; trial < 100; trial++) {
        const int32_t k = 2 + trial % (MOST - 1);
        const double spread = trial % 2 ? 1 : 300; /* exp(600) would not be a number */
        mgvi_arena arena;
        mgvi_class_graph g = open_graph(&arena, ctx, k);
        for (int32_t t = 0; t < k * k; t++)
            g.edge[t] = spread * mgvi_rng_normal(&rng);
        mgvi_class_graph_balance(&g);
        CHECK_LE(imbalance(&g, true), spread > 1 ? 0.01 : 1e-11, "trial %d", trial);
        mgvi_arena_free(&arena);
    }
    mgv_ctx_free(ctx);
}

int main(void)
{
    return RUN(the_least_mean_is_that_of_all_cycles, what_is_taken_leaves_a_circulation,
               scaling_makes_a_circulation);
}
