/* test_pass.c - the kernels of float32 passes of every table this machine can run, against their
 * definition in float64. */
#include "check.h"

#include "base/rng.h"
#include "simd/pass_kernels.h"
#include "simd/simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 40, MOST_COLS = 1100, MOST_CLASSES = 23, MOST_WIDTH = 128 };

typedef struct work {
    float X[MOST_ROWS * MOST_COLS], w[MOST_CLASSES * MOST_COLS], start[MOST_WIDTH];
    float z[MOST_ROWS * MOST_WIDTH], g[MOST_CLASSES * MOST_COLS];
    const float *x[MOST_ROWS];
} work;

static void fill(mgvi_rng *rng, float *x, int count)
{
    for (int i = 0; i < count; i++)
        x[i] = (float)(2 * mgvi_rng_uniform(rng) - 1);
}

/* Rows in an order of their own. */
static void prepare(work *a, mgvi_rng *rng, int rows, int cols)
{
    fill(rng, a->X, rows * cols);
    fill(rng, a->w, MOST_CLASSES * MOST_COLS);
    fill(rng, a->start, MOST_WIDTH);
    for (int i = 0; i < rows; i++)
        a->x[i] = a->X + (i * 7 % rows) * cols;
}

#define FOR_TABLES(simd)                                                                           \
    for (int table = 0; table < mgvi_simd_count(); table++)                                        \
        for (const mgvi_simd *simd = mgvi_simd_at(table); simd; simd = NULL)

static void check_scores(const mgvi_simd *simd, work *a, int rows, int cols, int k)
{
    const int stride = (int)mgvi_pass_padded(simd->pass, cols);
    const int width = (int)mgvi_pass_padded(simd->pass, k);
    simd->pass->scores(a->x, rows, cols, a->w, stride, k, a->start, width, a->z, a->x);
    for (int i = 0; i < rows; i++)
        for (int c = 0; c < width; c++) {
            double z = (double)a->start[c];
            for (int j = 0; j < cols && c < k; j++)
                z += (double)a->x[i][j] * (double)a->w[c * stride + j];
            CHECK_NEAR((double)a->z[i * width + c], z, 1e-4, "%s: scores of %d x %d by %d",
                       simd->name, rows, cols, k);
        }
}

/* From the first whole vector after a third of the columns on; what is not asked for stays. */
static void check_gradient(const mgvi_simd *simd, work *a, int rows, int cols, int k)
{
    const int lanes = simd->pass->lanes, first = cols / 3 / lanes * lanes;
    const int stride = (int)mgvi_pass_padded(simd->pass, cols);
    const int width = (int)mgvi_pass_padded(simd->pass, k);
    for (int t = 0; t < k * stride; t++)
        a->g[t] = 7;
    for (int fresh = 1; fresh >= 0; fresh--)
        simd->pass->gradient(a->x, rows, first, cols, a->z, width, k, fresh, a->g, stride, a->x);
    for (int c = 0; c < k; c++)
        for (int j = 0; j < stride; j++) {
            double g = j < first ? 7 : 0;
            for (int i = 0; i < rows && first <= j && j < cols; i++)
                g += 2 * (double)a->x[i][j] * (double)a->z[i * width + c];
            CHECK_NEAR((double)a->g[c * stride + j], g, 1e-5 * (100 + fabs(g)),
                       "%s: gradient of %d x %d by %d", simd->name, rows, cols, k);
        }
}

/* Every shape of tile and remainder; the last columns are more than a chunk. */
TEST(scores_and_gradients_are_products)
{
    static work a;
    static const int ROWS[] = {1, 2, 7, 8, 9, 32, 40}, COLS[] = {1, 3, 16, 17, 40, 67, 1100};
    mgvi_rng rng = mgvi_rng_seed(1);
    FOR_TABLES(simd)
    for (int r = 0; r < 7; r++)
        for (int q = 0; q < 7; q++)
            for (int k = 1; k <= MOST_CLASSES; k += COLS[q] < 1000 ? 1 : 6) {
                prepare(&a, &rng, ROWS[r], COLS[q]);
                check_scores(simd, &a, ROWS[r], COLS[q], k);
                check_gradient(simd, &a, ROWS[r], COLS[q], k);
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
            const double loss = simd->pass->softmax(z, 4, width, c, s);
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
    enum { MOST = 48, GROUPS = 3 };
    float step[MOST], decay[MOST], origin[MOST], g[GROUPS][MOST], m[MOST], w[MOST], sum[MOST];
    float m0[MOST], w0[MOST], sum0[MOST];
    mgvi_rng rng = mgvi_rng_seed(3);
    FOR_TABLES(simd)
    for (int groups = 1; groups <= GROUPS; groups++) {
        const int cols = 3 * simd->pass->lanes;
        const float *gradients[GROUPS] = {g[0], g[1], g[2]}, offset = 0.3f;
        float *filled[] = {step, decay, origin, m, w, sum, g[0], g[1], g[2]};
        for (int t = 0; t < 9; t++)
            fill(&rng, filled[t], cols);
        memcpy(m0, m, sizeof m);
        memcpy(w0, w, sizeof w);
        memcpy(sum0, sum, sizeof sum);
        const mgvi_momentum rule = {.9f, groups, step, decay, origin};
        const float shift = simd->pass->momentum(&rule, cols, gradients, offset, m, w, sum);
        double total = 0;
        for (int j = 0; j < cols; j++) {
            double slope = -(double)origin[j] * (double)offset;
            for (int t = 0; t < groups; t++)
                slope += (double)g[t][j];
            const double move =
                .9 * (double)m0[j] - (double)decay[j] * (double)w0[j] - (double)step[j] * slope;
            const double after = (double)w0[j] + move;
            CHECK_NEAR((double)m[j], move, 1e-6, "%s: momentum", simd->name);
            CHECK_NEAR((double)w[j], after, 1e-6, "%s: weights", simd->name);
            CHECK_NEAR((double)sum[j], (double)sum0[j] + after, 1e-6, "%s: sum", simd->name);
            total += (double)origin[j] * after;
        }
        CHECK_NEAR((double)shift, total, 1e-5, "%s: shift", simd->name);
    }
}

int main(void)
{
    return RUN(scores_and_gradients_are_products, softmax_is_softmax, momentum_takes_its_step);
}
