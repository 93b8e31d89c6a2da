/* test_kernel_shift.c - a kernel of differences does not see where the points lie: fits of x and of
 * x + offset end in the same interval, which holds what long double sums over the weights and the
 * multipliers find, and the models score the same. Nothing here shares code with the library. */
#include "vectors.h"

#include "base/rng.h"
#include "solver/driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 60, MOST = 40, LAYOUTS = 4, OFFSETS = 4 };
static const double LAMBDA = 0.01;

/* Integers up to 100, which every offset leaves exact in float32 and float64. */
typedef struct points {
    int64_t d;
    double x[N * MOST], y[N], moved[N * MOST];
    float moved32[N * MOST];
    int64_t ptr[N + 1];
    int32_t idx[N * MOST];
} points;

static void make_points(points *p, int64_t d)
{
    mgvi_rng rng = mgvi_rng_seed(31);
    p->d = d;
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < d; j++)
            p->x[i * d + j] = (double)mgvi_rng_below(&rng, 201) - 100;
        p->y[i] = p->x[i * d] * p->x[i * d + 1] > 0 ? 1 : -1;
        p->ptr[i + 1] = (i + 1) * d;
        for (int64_t j = 0; j < d; j++)
            p->idx[i * d + j] = (int32_t)j;
    }
}

/* Column j moves by the offset, its negative, or half of it. A moved 0 is stored all the same. */
static void move(points *p, double offset)
{
    static const double part[] = {1, -1, 0.5};
    for (int64_t i = 0; i < N * p->d; i++) {
        p->moved[i] = p->x[i] + offset * part[i % p->d % 3];
        p->moved32[i] = (float)p->moved[i];
        CHECK(p->moved[i] - offset * part[i % p->d % 3] == p->x[i]);
        CHECK((double)p->moved32[i] == p->moved[i]);
    }
}

/* 0: few columns, 1: dense, 2: CSR, 3: float32 */
static mgv_data *as_data(mgv_ctx *ctx, const points *p, int layout)
{
    mgv_data *data;
    if (layout == 2)
        CHECK_OK(ctx, mgv_data_from_sparse(ctx, MGV_CSR, MGV_F64, p->moved, p->ptr, p->idx, N, p->d,
                                           &data));
    else
        CHECK_OK(ctx, mgv_data_from_dense(ctx, layout == 3 ? MGV_F32 : MGV_F64,
                                          layout == 3 ? (const void *)p->moved32
                                                      : (const void *)p->moved,
                                          N, p->d, p->d, 1, &data));
    CHECK_OK(ctx, mgv_data_set_labels(ctx, data, p->y));
    return data;
}

static long double kernel(const points *p, bool laplace, double sigma2, int64_t i, int64_t j)
{
    long double square = 0;
    for (int64_t c = 0; c < p->d; c++) {
        const long double apart = (long double)p->x[i * p->d + c] - p->x[j * p->d + c];
        square += apart * apart;
    }
    return laplace ? expl(-sqrtl(square / sigma2)) : expl(-square / (2 * (long double)sigma2));
}

/* f = K c + b; returns c'K c. */
static long double combine(const points *p, bool laplace, double sigma2, const long double *c,
                           double b, long double *f)
{
    long double square = 0;
    for (int64_t i = 0; i < N; i++) {
        f[i] = 0;
        for (int64_t j = 0; j < N; j++)
            f[i] += c[j] * kernel(p, laplace, sigma2, i, j);
        square += c[i] * f[i];
        f[i] += b;
    }
    return square;
}

static void check_margin(const points *p, bool laplace, double sigma2, const mgv_certificate *c,
                         const double *w, const double *u)
{
    long double coef[N], dual[N], f[N], sum = 0, balance = 0, least = INFINITY;
    for (int i = 0; i < N; i++) {
        coef[i] = w[i];
        dual[i] = (long double)p->y[i] * u[i];
        sum -= u[i];
        balance += dual[i];
        CHECK(u[i] <= 0);
    }
    const long double square = combine(p, laplace, sigma2, coef, w[N], f);
    for (int i = 0; i < N; i++)
        least = fminl(least, p->y[i] * f[i]);
    const long double upper = sqrtl(combine(p, laplace, sigma2, dual, 0, f)) / sum;
    CHECK_LE((double)fabsl(balance), 1e-13 * (double)sum, "balance");
    CHECK_THAT(c->margin <= least / sqrtl(square) * (1 + 1e-15L), "attained: %.17g, printed %.17g",
               (double)(least / sqrtl(square)), c->margin);
    CHECK_THAT(c->margin_upper >= upper * (1 - 1e-15L), "proven: %.17g, printed %.17g",
               (double)upper, c->margin_upper);
    CHECK_NEAR(c->margin_upper, (double)upper, 1e-8 * (double)upper, "the bound is no wider");
}

static void check_objective(const points *p, bool laplace, double sigma2, bool logistic,
                            const mgv_certificate *c, const double *w)
{
    long double coef[N], f[N], loss = 0;
    for (int i = 0; i < N; i++)
        coef[i] = w[i];
    const long double square = combine(p, laplace, sigma2, coef, w[N], f);
    for (int i = 0; i < N; i++) {
        const long double z = p->y[i] * f[i];
        loss += logistic ? log1pl(expl(-z)) : fmaxl(1 - z, 0);
    }
    const double primal = (double)(LAMBDA / 2 * square + loss / N);
    CHECK_NEAR(c->primal, primal, 1e-9 * primal, "attained");
    CHECK_LE(primal, c->primal * (1 + 1e-15), "attained, rounded outwards");
    CHECK_LE(c->dual, primal, "proven");
}

/* The saved model scores the moved points as long double sums do. */
static void check_model(mgv_fit *fit, const points *p, bool laplace, double sigma2, const double *w)
{
    mgv_model *made, *model;
    char path[64];
    double scores[N], size = 0;
    long double coef[N], f[N];
    for (int i = 0; i < N; i++) {
        coef[i] = w[i];
        size += fabs(w[i]);
    }
    combine(p, laplace, sigma2, coef, w[N], f);
    snprintf(path, sizeof path, "kernel_shift.%ld.mgm", (long)getpid());
    CHECK_OK(fit->ctx, mgv_model_new(fit->ctx, fit->solver, &made));
    CHECK_OK(fit->ctx, mgv_model_save(fit->ctx, made, path));
    CHECK_OK(fit->ctx, mgv_model_load(fit->ctx, path, &model));
    remove(path);
    for (int layout = 0; layout < LAYOUTS; layout++) { /* whatever it was trained on */
        mgv_data *data = as_data(fit->ctx, p, layout);
        CHECK_OK(fit->ctx, mgv_model_scores(fit->ctx, model, data, scores));
        for (int i = 0; i < N; i++)
            CHECK_NEAR(scores[i], (double)f[i], 1e-12 * (1 + size), "row %d from layout %d", i,
                       layout);
        mgv_data_free(fit->ctx, data);
    }
    mgv_model_free(fit->ctx, made);
    mgv_model_free(fit->ctx, model);
}

static void try_fit(points *p, int layout, bool laplace, const char *loss, double first[2],
                    double offset)
{
    mgv_fit fit = {.ctx = mgv_check_ctx()};
    char options[200];
    const double sigma2 = 1000 * (double)p->d;
    const bool margin = strcmp(loss, "margin") == 0;
    move(p, offset);
    fit.data = as_data(fit.ctx, p, layout);
    CHECK_OK(fit.ctx, mgv_settings_new(fit.ctx, &fit.settings));
    snprintf(options, sizeof options, "kernel=%s sigma2=%g loss=%s tol=1e-6 precision=%s%s",
             laplace ? "laplace" : "rbf", sigma2, loss, layout == 3 ? "f32" : "f64",
             margin ? "" : " lambda=0.01");
    mgv_fit_set(&fit, options);
    mgv_fit_solve(&fit);
    const mgv_certificate *c = &fit.certificate;
    const double low = margin ? c->margin : c->dual, high = margin ? c->margin_upper : c->primal;
    CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED && c->verified, "%s, layout %d, offset %g: %s",
               options, layout, offset, mgv_stop_name(fit.run.stop));
    if (offset == 0) {
        first[0] = low;
        first[1] = high;
    }
    CHECK_LE(low, first[1], "%s, layout %d, offset %g", options, layout, offset);
    CHECK_LE(first[0], high, "%s, layout %d, offset %g", options, layout, offset);
    const double *w = mgv_fit_weights(&fit);
    if (margin)
        check_margin(p, laplace, sigma2, c, w, fit.solver->answer.u.x);
    else
        check_objective(p, laplace, sigma2, strcmp(loss, "logistic") == 0, c, w);
    check_model(&fit, p, laplace, sigma2, w);
    mgv_fit_free(&fit);
}

TEST(shifted_points_are_the_same_problem)
{
    static const double offsets[OFFSETS] = {0, 1e3, 1e5, 1e7};
    static const char *const losses[] = {"margin", "hinge", "logistic"};
    points *p = calloc(1, sizeof *p);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        make_points(p, layout == 0 ? 4 : MOST);
        for (int kind = 0; kind < 2; kind++)
            for (int l = 0; l < 3; l++) {
                double first[2];
                for (int o = 0; o < OFFSETS; o++)
                    try_fit(p, layout, kind == 1, losses[l], first, offsets[o]);
            }
    }
    free(p);
}

int main(void) { return RUN(shifted_points_are_the_same_problem); }
