/* test_lasso_path.c - every lane of every point against plain sweeps over its own rows. */
#include "check.h"

#include "base/rng.h"
#include "select/paths.h"
#include "simd/simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60, D = 25 };

typedef struct set {
    double X[N * D], y[N], e[N]; /* e: square roots of weights */
    mgvi_matrix dense, sparse;
    int64_t ptr[N + 1];
    int32_t idx[N * D];
    double val[N * D];
} set;

static void make(set *s, uint64_t seed, bool weighted)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    int64_t count = 0;
    for (int i = 0; i < N; i++) {
        s->y[i] = 2 + mgvi_rng_normal(&rng);
        s->e[i] = weighted ? sqrt(1 + (double)mgvi_rng_below(&rng, 3)) : 1;
        for (int j = 0; j < D; j++) {
            const double x = mgvi_rng_below(&rng, 3) ? 0 : 1 + mgvi_rng_normal(&rng);
            s->X[i * D + j] = x;
            s->y[i] += j < 4 ? 2 * x : 0;
            if (x != 0) {
                s->idx[count] = j;
                s->val[count++] = x;
            }
        }
        s->ptr[i + 1] = count;
    }
    s->ptr[0] = 0;
    s->dense = (mgvi_matrix){.layout = MGV_DENSE,
                             .dtype = MGV_F64,
                             .rows = N,
                             .cols = D,
                             .nnz = N * D,
                             .val = s->X,
                             .row_stride = D,
                             .col_stride = 1};
    s->sparse = (mgvi_matrix){.layout = MGV_CSR,
                              .dtype = MGV_F64,
                              .rows = N,
                              .cols = D,
                              .nnz = count,
                              .val = s->val,
                              .ptr = s->ptr,
                              .idx = s->idx};
}

/* One lane, slowly: min mu sum c|w| + lambda/2 sum c^2 w^2 + weighted mean of squares over the rows
 * it trains on, c = (variance)^(exponent/2). Returns the objective at `w` when `given`, else at the
 * optimum, which is written to w. */
static double objective(const set *s, const mgvi_split *split, int lane, double mu, double lambda,
                        bool intercept, double exponent, double *w, double *b, bool given)
{
    double total = 0, r[N], c[D], mean[D] = {0}, ybar = 0;
    for (int i = 0; i < N; i++)
        if (mgvi_split_trains(split, i, lane))
            total += s->e[i] * s->e[i];
    for (int i = 0; i < N; i++)
        if (mgvi_split_trains(split, i, lane)) {
            const double v = s->e[i] * s->e[i] / total;
            ybar += intercept ? v * s->y[i] : 0;
            for (int j = 0; j < D; j++)
                mean[j] += intercept ? v * s->X[i * D + j] : 0;
        }
    double square[D] = {0};
    for (int i = 0; i < N; i++)
        if (mgvi_split_trains(split, i, lane))
            for (int j = 0; j < D; j++)
                square[j] += s->e[i] * s->e[i] / total * pow(s->X[i * D + j] - mean[j], 2);
    for (int j = 0; j < D; j++) {
        c[j] = exponent > 0 ? pow(square[j], exponent / 2) : 1;
        if (!given)
            w[j] = 0;
    }
    for (int i = 0; i < N; i++) {
        r[i] = s->y[i] - ybar;
        for (int j = 0; j < D; j++)
            r[i] -= (s->X[i * D + j] - mean[j]) * w[j];
    }
    for (int sweep = 0; !given && sweep < 800; sweep++)
        for (int j = 0; j < D; j++) {
            double g = 0;
            for (int i = 0; i < N; i++)
                if (mgvi_split_trains(split, i, lane))
                    g += s->e[i] * s->e[i] / total * (s->X[i * D + j] - mean[j]) * r[i];
            const double v = g + square[j] * w[j];
            const double next =
                copysign(fmax(0, fabs(v) - mu * c[j]), v) / (square[j] + lambda * c[j] * c[j]);
            for (int i = 0; i < N; i++)
                r[i] -= (s->X[i * D + j] - mean[j]) * (next - w[j]);
            w[j] = next;
        }
    double value = 0;
    *b = ybar;
    for (int j = 0; j < D; j++) {
        value += mu * c[j] * fabs(w[j]) + lambda / 2 * c[j] * c[j] * w[j] * w[j];
        *b -= mean[j] * w[j];
    }
    for (int i = 0; i < N; i++)
        if (mgvi_split_trains(split, i, lane))
            value += s->e[i] * s->e[i] / total * r[i] * r[i] / 2;
    return value;
}

typedef struct run {
    mgv_ctx *ctx;
    mgvi_arena arena;
    mgvi_split split;
    mgvi_lanes *lanes;
    mgvi_path path;
} run;

static void start(run *r, const set *s, int folds, bool sparse, bool intercept,
                  mgvi_lane_weighting weighting)
{
    r->ctx = mgv_check_ctx();
    mgvi_arena_init(&r->arena, r->ctx);
    const mgvi_rule rule = {.kind = MGVI_RULE_CV, .folds = folds};
    CHECK_OK(r->ctx,
             mgvi_split_new(&r->arena, &rule, &(mgvi_deal){.own = N, .seed = 5}, &r->split));
    const mgvi_lane_data data = {.stack = {sparse ? &s->sparse : &s->dense},
                                 .count = 1,
                                 .factor = s->e,
                                 .e = s->e,
                                 .y = s->y,
                                 .intercept = intercept,
                                 .weighting = weighting};
    CHECK_OK(r->ctx, mgvi_lanes_new(&r->arena, &data, &r->split, &r->lanes));
    mgvi_path_init(&r->path, r->ctx, "lasso path", "lambda");
}

static void finish(run *r)
{
    mgvi_path_free(&r->path);
    mgvi_arena_free(&r->arena);
    mgv_ctx_free(r->ctx);
}

static mgvi_lasso_plan plan_for(double share, int64_t points, double end)
{
    return (mgvi_lasso_plan){
        .share = share, .lambda = NAN, .points = points, .end = end, .gap = 1e-5, .patience = 1000};
}

/* The last point of paths of growing length: every lane is as good as the slow optimum, and its
 * held-out error is that of its weights. */
static void check_case(int which)
{
    const bool sparse = which & 1, intercept = which & 2, weighted = which & 4;
    const double share = which & 8 ? .5 : 1;
    const mgvi_lane_weighting weighting = (mgvi_lane_weighting)(which / 16);
    set *s = malloc(sizeof *s);
    make(s, 11, weighted);
    for (int64_t points = 5; points <= 9; points += 2) {
        run r;
        start(&r, s, which & 1 ? 4 : 9, sparse, intercept, weighting);
        const mgvi_lasso_plan plan = plan_for(share, points, .02);
        CHECK_OK(r.ctx, mgvi_lasso_path(&r.arena, r.lanes, &plan, &r.path));
        const int64_t last = r.path.count - 1;
        const mgvi_path_point *p = &r.path.point[last];
        CHECK_LE(p->gap, 1e-5, "gap of case %d", which);
        for (int l = 0; l < r.lanes->lanes; l++) {
            double w[D], slow[D], b, own, held = 0, weight = 0;
            for (int j = 0; j < D; j++)
                w[j] = r.lanes->w[j * r.lanes->width + l];
            const double exponent = weighting == MGVI_WEIGHT_STD ? 1 : weighting ? .5 : 0;
            const double best =
                objective(s, &r.split, l, p->mu, p->lambda, intercept, exponent, slow, &b, false);
            const double found =
                objective(s, &r.split, l, p->mu, p->lambda, intercept, exponent, w, &own, true);
            CHECK_LE(found, best + 2e-5 * r.lanes->energy[l] / r.lanes->total[l],
                     "case %d, lane %d", which, l);
            CHECK_NEAR(-r.lanes->off[l], own, 1e-4, "case %d, intercept of lane %d", which, l);
            for (int i = 0; i < N; i++) {
                double z = own;
                for (int j = 0; j < D; j++)
                    z += s->X[i * D + j] * w[j];
                if (!mgvi_split_trains(&r.split, i, l)) {
                    held += s->e[i] * s->e[i] * (s->y[i] - z) * (s->y[i] - z);
                    weight += s->e[i] * s->e[i];
                }
            }
            const double error = r.path.errors[last * MGVI_SPLIT_LANES + l];
            if (weight > 0)
                CHECK_NEAR(error, held / weight, 1e-4 * held / weight, "case %d, lane %d", which,
                           l);
            else
                CHECK(isnan(error));
        }
        finish(&r);
    }
    free(s);
}

TEST(every_lane_is_its_own_optimum)
{
    for (int which = 0; which < 48; which += 5)
        check_case(which);
}

/* Columns that are orthonormal after centring: w_j = S(x_j.y/n, mu) exactly. */
TEST(orthogonal_columns_are_thresholded)
{
    enum { SIZE = 16 };
    double H[SIZE * (SIZE - 1)], y[SIZE], e[SIZE];
    for (int i = 0; i < SIZE; i++) {
        y[i] = (i * 7) % 16;
        e[i] = 1;
        for (int j = 1; j < SIZE; j++)
            H[i * (SIZE - 1) + j - 1] = __builtin_popcount((unsigned)(i & j)) % 2 ? -1 : 1;
    }
    const mgvi_matrix X = {.layout = MGV_DENSE,
                           .dtype = MGV_F64,
                           .rows = SIZE,
                           .cols = SIZE - 1,
                           .nnz = SIZE * (SIZE - 1),
                           .val = H,
                           .row_stride = SIZE - 1,
                           .col_stride = 1};
    run r = {.ctx = mgv_check_ctx()};
    mgvi_arena_init(&r.arena, r.ctx);
    const mgvi_rule rule = {.kind = MGVI_RULE_LAST};
    CHECK_OK(r.ctx, mgvi_split_new(&r.arena, &rule, &(mgvi_deal){.own = SIZE}, &r.split));
    const mgvi_lane_data data = {
        .stack = {&X}, .count = 1, .factor = e, .e = e, .y = y, .intercept = true};
    CHECK_OK(r.ctx, mgvi_lanes_new(&r.arena, &data, &r.split, &r.lanes));
    mgvi_path_init(&r.path, r.ctx, "lasso path", "lambda");
    const mgvi_lasso_plan plan = plan_for(1, 6, .05);
    CHECK_OK(r.ctx, mgvi_lasso_path(&r.arena, r.lanes, &plan, &r.path));
    CHECK(r.path.count == 6 && r.path.best == -1); /* nothing is held out */
    CHECK_OK(r.ctx, mgvi_path_choose(&r.path, &rule));
    CHECK(r.path.chosen == 5);
    const double mu = r.path.point[5].mu;
    for (int j = 0; j < SIZE - 1; j++) {
        double c = 0;
        for (int i = 0; i < SIZE; i++)
            c += H[i * (SIZE - 1) + j] * y[i] / SIZE;
        CHECK_NEAR(r.lanes->w[j * 8], copysign(fmax(0, fabs(c) - mu), c), 1e-6, "w[%d]", j);
    }
    finish(&r);
}

/* Every instruction set walks the same path up to rounding, any number of threads to the bit. */
TEST(instruction_sets_agree_and_threads_do_not_matter)
{
    set *s = malloc(sizeof *s);
    make(s, 3, true);
    for (int folds = 4; folds <= 12; folds += 8)
        for (int sparse = 0; sparse < 2; sparse++) {
            double first[40];
            for (int k = 0; k < mgvi_simd_count() + 2; k++) {
                run r;
                start(&r, s, folds, sparse, true, MGVI_WEIGHT_NONE);
                if (k < mgvi_simd_count()) {
                    finish(&r);
                    setenv("MGV_SIMD", mgvi_simd_at(k)->name, 1);
                    start(&r, s, folds, sparse, true, MGVI_WEIGHT_NONE);
                    unsetenv("MGV_SIMD");
                } else {
                    CHECK_OK(r.ctx, mgv_ctx_set_threads(r.ctx, k == mgvi_simd_count() ? 1 : 4));
                }
                const mgvi_lasso_plan plan = plan_for(1, 20, .01);
                CHECK_OK(r.ctx, mgvi_lasso_path(&r.arena, r.lanes, &plan, &r.path));
                for (int64_t q = 0; q < 20; q++) {
                    const double error = r.path.point[q].error;
                    if (k == 0 || k == mgvi_simd_count())
                        first[q] = error;
                    else if (k < mgvi_simd_count())
                        CHECK_NEAR(error, first[q], 1e-3 * first[q], "%s", mgvi_simd_at(k)->name);
                    else
                        CHECK(error == first[q]);
                }
                finish(&r);
            }
        }
    free(s);
}

int main(void)
{
    return RUN(every_lane_is_its_own_optimum, orthogonal_columns_are_thresholded,
               instruction_sets_agree_and_threads_do_not_matter);
}
