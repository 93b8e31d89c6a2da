/* test_pass.c - the kernels of float32 passes of every table this machine can run, against their
 * definition in float64. */
#include "check.h"

#include "base/rng.h"
#include "simd/pass_kernels.h"
#include "simd/simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 40, MOST_COLS = 67, MOST_WIDTH = 128 };

typedef struct work {
    float X[MOST_ROWS * MOST_COLS], w[MOST_COLS * MOST_WIDTH], start[MOST_WIDTH];
    float z[MOST_ROWS * MOST_WIDTH], g[MOST_COLS * MOST_WIDTH];
    const float *x[MOST_ROWS];
} work;

static void fill(mgvi_rng *rng, float *x, int count)
{
    for (int i = 0; i < count; i++)
        x[i] = (float)(2 * mgvi_rng_uniform(rng) - 1);
}

/* Rows in an order of their own; every shape of tile and remainder. */
static void prepare(work *a, mgvi_rng *rng, int rows, int cols)
{
    fill(rng, a->X, MOST_ROWS * MOST_COLS);
    fill(rng, a->w, MOST_COLS * MOST_WIDTH);
    fill(rng, a->start, MOST_WIDTH);
    for (int i = 0; i < rows; i++)
        a->x[i] = a->X + (i * 7 % rows) * cols;
}

static const int ROWS[] = {1, 2, 7, 8, 9, 32, 40}, COLS[] = {1, 3, 16, 17, 40, 67};

#define FOR_TABLES(simd)                                                                           \
    for (int table = 0; table < mgvi_simd_count(); table++)                                        \
        for (const mgvi_simd *simd = mgvi_simd_at(table); simd; simd = NULL)

TEST(scores_and_gradients_are_products)
{
    static work a;
    mgvi_rng rng = mgvi_rng_seed(1);
    FOR_TABLES(simd)
    for (int r = 0; r < 7; r++)
        for (int q = 0; q < 6; q++)
            for (int width = simd->pass->lanes; width <= MOST_WIDTH;
                 width += simd->pass->lanes * (1 + width / 40)) {
                const int rows = ROWS[r], cols = COLS[q], first = cols / 3;
                prepare(&a, &rng, rows, cols);
                simd->pass->scores(a.x, rows, cols, a.w, a.start, width, a.z, a.x);
                for (int i = 0; i < rows; i++)
                    for (int l = 0; l < width; l++) {
                        double z = (double)a.start[l];
                        for (int j = 0; j < cols; j++)
                            z += (double)a.x[i][j] * (double)a.w[j * width + l];
                        CHECK_NEAR((double)a.z[i * width + l], z, 1e-5, "%s: scores of %d x %d",
                                   simd->name, rows, width);
                    }
                for (int fresh = 1; fresh >= 0; fresh--)
                    simd->pass->gradient(a.x, rows, first, cols, a.z, width, fresh, a.g);
                for (int j = first; j < cols; j++)
                    for (int l = 0; l < width; l++) {
                        double g = 0;
                        for (int i = 0; i < rows; i++)
                            g += 2 * (double)a.x[i][j] * (double)a.z[i * width + l];
                        CHECK_NEAR((double)a.g[(j - first) * width + l], g, 1e-3,
                                   "%s: gradient of %d x %d", simd->name, cols, width);
                    }
            }
}

/* Also where scores are far apart: probabilities that would not be normal numbers are 0. */
TEST(softmax_is_softmax)
{
    float z[4 * MOST_WIDTH], before[4 * MOST_WIDTH];
    mgvi_rng rng = mgvi_rng_seed(2);
    FOR_TABLES(simd)
    for (int k = 2; k <= 100; k += 7)
        for (int spread = 1; spread <= 1000; spread *= 10) {
            const int lanes = simd->pass->lanes, width = (k + lanes - 1) / lanes * lanes;
            const float s[4] = {1, 0.5f, 2, 0.25f};
            int32_t c[4];
            double want = 0;
            for (int i = 0; i < 4; i++) {
                c[i] = (int32_t)mgvi_rng_below(&rng, (uint32_t)k);
                for (int l = 0; l < width; l++)
                    z[i * width + l] =
                        l < k ? (float)(spread * (mgvi_rng_uniform(&rng) - .5)) : -1e30f;
            }
            memcpy(before, z, sizeof z);
            const double loss = simd->pass->softmax(z, 4, k, width, c, s);
            for (int i = 0; i < 4; i++) {
                double most = -INFINITY, sum = 0;
                for (int l = 0; l < k; l++)
                    most = fmax(most, (double)before[i * width + l]);
                for (int l = 0; l < k; l++)
                    sum += exp((double)before[i * width + l] - most);
                want += (double)s[i] * (log(sum) + most - (double)before[i * width + c[i]]);
                for (int l = 0; l < width; l++) {
                    const double p =
                        l < k ? exp((double)before[i * width + l] - most) / sum - (l == c[i]) : 0;
                    CHECK_NEAR((double)z[i * width + l], (double)s[i] * p, 2e-6, "%s: k = %d",
                               simd->name, k);
                    CHECK(z[i * width + l] == 0 || isnormal(z[i * width + l]));
                }
            }
            CHECK_NEAR(loss, want, 1e-6 * (1 + fabs(want)), "%s: the loss", simd->name);
        }
}

TEST(momentum_takes_its_step)
{
    enum { D = 9 };
    float step[D], origin[D], offset[MOST_WIDTH], shift[MOST_WIDTH];
    static float g[D * MOST_WIDTH], m[D * MOST_WIDTH], w[D * MOST_WIDTH], sum[D * MOST_WIDTH];
    static float m0[D * MOST_WIDTH], w0[D * MOST_WIDTH], sum0[D * MOST_WIDTH];
    mgvi_rng rng = mgvi_rng_seed(3);
    FOR_TABLES(simd)
    {
        const int width = 3 * simd->pass->lanes;
        fill(&rng, step, D);
        fill(&rng, origin, D);
        fill(&rng, offset, width);
        fill(&rng, g, D * width);
        fill(&rng, m, D * width);
        fill(&rng, w, D * width);
        fill(&rng, sum, D * width);
        memcpy(m0, m, sizeof m);
        memcpy(w0, w, sizeof w);
        memcpy(sum0, sum, sizeof sum);
        const mgvi_momentum rule = {.9f, .01f, step, origin, offset};
        simd->pass->momentum(&rule, 2, D, width, g, m, w, sum, shift);
        for (int l = 0; l < width; l++) {
            double total = 0;
            for (int j = 0; j < D; j++) {
                const int t = j * width + l;
                const double slope =
                    (double)g[t - (j < 2 ? 0 : 2 * width)] - (double)origin[j] * (double)offset[l];
                const double move =
                    j < 2 ? (double)m0[t]
                          : .9 * (double)m0[t] - .01 * (double)w0[t] - (double)step[j] * slope;
                const double after = (double)w0[t] + (j < 2 ? 0 : move);
                CHECK_NEAR((double)m[t], move, 1e-6, "%s: momentum", simd->name);
                CHECK_NEAR((double)w[t], after, 1e-6, "%s: weights", simd->name);
                CHECK_NEAR((double)sum[t], (double)sum0[t] + (j < 2 ? 0 : after), 1e-6, "%s: sum",
                           simd->name);
                total += j < 2 ? 0 : (double)origin[j] * after;
            }
            CHECK_NEAR((double)shift[l], total, 1e-5, "%s: shift", simd->name);
        }
    }
}

int main(void)
{
    return RUN(scores_and_gradients_are_products, softmax_is_softmax, momentum_takes_its_step);
}
