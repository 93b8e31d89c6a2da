/* test_kernel_origin.c - poly beside an intercept, far from 0: the certificate is that of the
 * problem with the kernel as it is defined, here in 113 bits, and of the model as it is saved.
 * Nothing here shares code with the library. */
#include "quad.h"
#include "vectors.h"

#include "base/rng.h"
#include "problem/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 24, MOST = 12, LAYOUTS = 3 };
static const double LAMBDA = 0.01;

/* Integers up to 100 and an offset, exact in float32. */
typedef struct points {
    int64_t d;
    double x[N * MOST], y[N];
    float x32[N * MOST];
    int64_t ptr[N + 1];
    int32_t idx[N * MOST];
} points;

static void make_points(points *p, int64_t d, double offset)
{
    mgvi_rng rng = mgvi_rng_seed(17);
    p->d = d;
    for (int64_t i = 0; i < N; i++) {
        double x[MOST];
        for (int64_t j = 0; j < d; j++) {
            x[j] = (double)mgvi_rng_below(&rng, 201) - 100;
            p->x[i * d + j] = x[j] + (j % 2 ? -offset : offset);
            p->x32[i * d + j] = (float)p->x[i * d + j];
            p->idx[i * d + j] = (int32_t)j;
        }
        p->y[i] = x[0] + 0.5 * x[1] + 20 > 0 ? 1 : -1;
        p->ptr[i + 1] = (i + 1) * d;
    }
}

static mgv_data *as_data(mgv_ctx *ctx, const points *p, int layout)
{
    mgv_data *data;
    if (layout == 1)
        CHECK_OK(ctx,
                 mgv_data_from_sparse(ctx, MGV_CSR, MGV_F64, p->x, p->ptr, p->idx, N, p->d, &data));
    else
        CHECK_OK(ctx, mgv_data_from_dense(ctx, layout == 2 ? MGV_F32 : MGV_F64,
                                          layout == 2 ? (const void *)p->x32 : (const void *)p->x,
                                          N, p->d, p->d, 1, &data));
    CHECK_OK(ctx, mgv_data_set_labels(ctx, data, p->y));
    return data;
}

/* (x.z / sigma2 + offset)^degree, of columns divided by `most` */
typedef struct kernel {
    int degree;
    double sigma2, offset;
    quad most[MOST];
} kernel;

static quad value(const kernel *k, int64_t d, const double *x, const double *z)
{
    quad sum = 0, power = 1;
    for (int64_t j = 0; j < d; j++)
        sum += x[j] / k->most[j] * (z[j] / k->most[j]);
    for (int m = 0; m < k->degree; m++)
        power *= sum / k->sigma2 + k->offset;
    return power;
}

/* The function that coefficients of the examples and an intercept stand for, and |w|^2: with
 * phi(o) taken from every phi(x_i), o of no coefficient of its own. */
static quad combine(const mgv_problem *problem, const points *p, const kernel *k, const double *c,
                    double b, quad *f)
{
    double o[MOST] = {0};
    quad square = 0, at_o[N], own;
    const bool moved = problem->kernel.origin == MGVI_ORIGIN_CENTRE;
    const bool any = problem->kernel.origin != MGVI_ORIGIN_NONE;
    for (int64_t j = 0; moved && j < p->d; j++)
        o[j] = problem->view.centre[j];
    own = any ? value(k, p->d, o, o) : 0;
    for (int64_t i = 0; i < N; i++)
        at_o[i] = any ? value(k, p->d, p->x + i * p->d, o) : 0;
    for (int64_t i = 0; i < N; i++) {
        f[i] = 0;
        for (int64_t j = 0; j < N; j++)
            f[i] +=
                c[j] * (value(k, p->d, p->x + i * p->d, p->x + j * p->d) - at_o[i] - at_o[j] + own);
        square += c[i] * f[i];
        f[i] += b;
    }
    return square;
}

static void check_certificate(const mgv_fit *fit, const points *p, const kernel *k,
                              const char *options)
{
    const mgv_certificate *c = &fit->certificate;
    const double *w = mgv_fit_weights(fit);
    quad f[N], loss = 0, least = INFINITY;
    const quad square = combine(fit->problem, p, k, w, w[N], f);
    for (int i = 0; i < N; i++) {
        const quad z = p->y[i] * f[i];
        least = z < least ? z : least;
        loss += z < 1 ? 1 - z : 0;
    }
    CHECK_THAT(fit->run.stop == MGV_STOP_CERTIFIED && c->verified, "%s: %s, gap %g", options,
               mgv_stop_name(fit->run.stop), c->relative_gap);
    if (strstr(options, "margin")) {
        const double margin = (double)least / sqrt((double)square);
        CHECK_LE(c->margin, margin * (1 + 1e-14), "%s: attained", options);
        CHECK_LE(margin, c->margin_upper * (1 + 1e-14), "%s: proven", options);
        return;
    }
    const double primal = (double)(LAMBDA / 2 * square + loss / N);
    CHECK_LE(primal, c->primal * (1 + 1e-14), "%s: attained", options);
    CHECK_LE(c->dual, primal * (1 + 1e-14), "%s: proven", options);
}

static mgv_model *save_and_load(mgv_ctx *ctx, const mgv_model *made, const char *from,
                                const char *to, mgv_status want)
{
    mgv_model *model = NULL;
    char path[64], bytes[1 << 15];
    snprintf(path, sizeof path, "kernel_origin.%ld.mgm", (long)getpid());
    CHECK_OK(ctx, mgv_model_save(ctx, made, path));
    FILE *file = fopen(path, "rb");
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t t = 0; from && t + strlen(from) < size; t++)
        if (memcmp(bytes + t, from, strlen(from)) == 0)
            memcpy(bytes + t, to, strlen(to));
    file = fopen(path, "wb");
    fwrite(bytes, 1, size, file);
    fclose(file);
    const mgv_status st = mgv_model_load(ctx, path, &model);
    CHECK_THAT(st == want, "status %d", (int)st);
    remove(path);
    return model;
}

/* The saved model's scores, whatever layout the data has. */
static void check_model(mgv_fit *fit, const points *p, const kernel *k)
{
    mgv_model *made, *model;
    const double *w = mgv_fit_weights(fit);
    double scores[N], size = 0;
    quad f[N], most = 0, one[N] = {0};
    combine(fit->problem, p, k, w, w[N], f);
    for (int i = 0; i < N; i++) {
        double c[N] = {0};
        c[i] = 1;
        const quad own = combine(fit->problem, p, k, c, 0, one);
        most = own > most ? own : most;
        size += fabs(w[i]);
    }
    CHECK_OK(fit->ctx, mgv_model_new(fit->ctx, fit->solver, &made));
    model = save_and_load(fit->ctx, made, NULL, NULL, MGV_OK);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        mgv_data *data = as_data(fit->ctx, p, layout);
        CHECK_OK(fit->ctx, mgv_model_scores(fit->ctx, model, data, scores));
        for (int i = 0; i < N; i++)
            CHECK_NEAR(scores[i], (double)f[i], 1e-13 * (1 + size * (double)most),
                       "row %d, layout %d", i, layout);
        mgv_data_free(fit->ctx, data);
    }
    mgv_model_free(fit->ctx, model);
    mgv_model_free(fit->ctx, made);
}

static void start(mgv_fit *fit, const points *p, int layout, const kernel *k, const char *rest)
{
    char options[300];
    *fit = (mgv_fit){.ctx = mgv_check_ctx()};
    fit->data = as_data(fit->ctx, p, layout);
    CHECK_OK(fit->ctx, mgv_settings_new(fit->ctx, &fit->settings));
    snprintf(options, sizeof options, "kernel=poly degree=%d sigma2=%.17g offset=%.17g %s%s",
             k->degree, k->sigma2, k->offset, rest, strstr(rest, "margin") ? "" : " lambda=0.01");
    mgv_fit_set(fit, options);
    mgv_fit_solve(fit);
}

static kernel make_kernel(const points *p, int degree, double offset, double far, bool maxabs)
{
    kernel k = {.degree = degree, .offset = offset, .sigma2 = maxabs ? 2 : 1e4 + far * far};
    for (int64_t j = 0; j < p->d; j++) {
        k.most[j] = 1;
        for (int64_t i = 0; maxabs && i < N; i++) {
            const double x = fabs(p->x[i * p->d + j]);
            k.most[j] = i == 0 || x > k.most[j] ? x : k.most[j];
        }
    }
    return k;
}

TEST(certificates_far_from_0_are_those_of_the_kernel)
{
    static const double offsets[] = {0, 3e3, 1e5};
    static const char *const rest[] = {"loss=hinge tol=1e-6", "loss=margin tol=1e-5",
                                       "loss=hinge scale=maxabs tol=1e-6",
                                       "loss=margin scale=maxabs tol=1e-4"};
    points *p = calloc(1, sizeof *p);
    for (int layout = 0; layout < LAYOUTS; layout++)
        for (int o = 0; o < 3; o++)
            for (int degree = 1; degree <= 3; degree++)
                for (int t = 0; t < 4; t++) {
                    mgv_fit fit;
                    make_points(p, degree == 2 ? 3 : MOST, offsets[o]);
                    const kernel k =
                        make_kernel(p, degree, degree == 2 && o > 0 ? 0 : 1, offsets[o], t > 1);
                    start(&fit, p, layout, &k, rest[t]);
                    CHECK((fit.problem->kernel.origin == MGVI_ORIGIN_CENTRE) == (offsets[o] > 0));
                    check_certificate(&fit, p, &k, rest[t]);
                    check_model(&fit, p, &k);
                    mgv_fit_free(&fit);
                }
    free(p);
}

/* Values that are all near offset^degree. */
TEST(values_near_each_other_are_told_apart)
{
    points *p = calloc(1, sizeof *p);
    mgv_fit fit;
    make_points(p, 4, 0);
    kernel k = make_kernel(p, 3, 1, 0, false);
    k.sigma2 = 1e12;
    start(&fit, p, 0, &k, "loss=margin tol=1e-6");
    CHECK(fit.problem->kernel.origin == MGVI_ORIGIN_ZERO);
    check_certificate(&fit, p, &k, "loss=margin");
    check_model(&fit, p, &k);
    mgv_fit_free(&fit);
    free(p);
}

/* Sparse data need not have the last column, which is 0 then, and not the origin's. */
static void check_narrow_data(mgv_ctx *ctx, const mgv_model *model, points *p)
{
    mgv_data *wide, *narrow;
    double was[N], is[N], x[N * MOST];
    const int64_t d = p->d - 1;
    for (int64_t i = 0; i < N; i++) {
        p->x[i * p->d + d] = 0;
        p->ptr[i + 1] = (i + 1) * d;
        for (int64_t j = 0; j < d; j++) {
            x[i * d + j] = p->x[i * p->d + j];
            p->idx[i * d + j] = (int32_t)j;
        }
    }
    wide = as_data(ctx, p, 0);
    CHECK_OK(ctx, mgv_data_from_sparse(ctx, MGV_CSR, MGV_F64, x, p->ptr, p->idx, N, d, &narrow));
    CHECK_OK(ctx, mgv_model_scores(ctx, model, wide, was));
    CHECK_OK(ctx, mgv_model_scores(ctx, model, narrow, is));
    for (int i = 0; i < N; i++)
        CHECK_NEAR(is[i], was[i], 1e-9 * (1 + fabs(was[i])), "row %d", i);
    mgv_data_free(ctx, wide);
    mgv_data_free(ctx, narrow);
}

/* Without an intercept k is as it is. Its model is one of those that were saved before there was an
 * origin: they do not name one. What is not known is refused. */
TEST(models_say_what_their_scores_are_sums_of)
{
    points *p = calloc(1, sizeof *p);
    mgv_fit fit;
    mgv_model *made, *model;
    double was[N], is[N];
    make_points(p, 3, 1e3);
    const kernel k = make_kernel(p, 2, 1, 1e3, false);
    start(&fit, p, 0, &k, "loss=hinge intercept=no");
    CHECK(fit.problem->kernel.origin == MGVI_ORIGIN_NONE && !fit.problem->view.centre);
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &made));
    model = save_and_load(fit.ctx, made, "\"origin\"", "\"nigiro\"", MGV_OK);
    CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, made, fit.data, was));
    CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, model, fit.data, is));
    CHECK(memcmp(was, is, sizeof was) == 0);
    mgv_model_free(fit.ctx, model);
    mgv_model_free(fit.ctx, made);
    mgv_fit_free(&fit);
    start(&fit, p, 0, &k, "loss=hinge");
    CHECK(fit.problem->kernel.origin == MGVI_ORIGIN_CENTRE);
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &made));
    save_and_load(fit.ctx, made, "\"origin\":\"centre\"", "\"origin\":\"middle\"", MGV_E_INPUT);
    check_narrow_data(fit.ctx, made, p);
    mgv_model_free(fit.ctx, made);
    mgv_fit_free(&fit);
    free(p);
}

int main(void)
{
    return RUN(certificates_far_from_0_are_those_of_the_kernel,
               values_near_each_other_are_told_apart, models_say_what_their_scores_are_sums_of);
}
