/* test_interrupts.c - a signal, a callback that says stop, or the limit, at any look of any call:
 * reading, setting up, proofs, selections, completion, deblurring. The call ends soon, with what is
 * best by then, or with MGV_E_LIMIT where there is nothing yet; max_passes holds within a step. */
#include "api/ticking.h"
#include "vectors.h"

#include "complete/samples.h"
#include "data/image.h"
#include "solver/driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* The look that interrupts, of those that a call makes. */
static const long long whens[] = {1, 2, 3, 5, 8, 13, 21, 40, 90, 200, 500};

static bool ended(mgv_stop stop) { return stop == MGV_STOP_USER || stop == MGV_STOP_TIME; }

/* Few looks follow the one that interrupts. */
static void check_soon(const ticking *t, const char *what)
{
    if (atomic_load(&t->looks) > t->when)
        CHECK_LE((double)(atomic_load(&t->looks) - t->when), LOOKS_AFTER, "%s, look %lld", what,
                 t->when);
}

/* ---- fits ------------------------------------------------------------------------------------ */

static void check_fit(const double *X, const double *y, int64_t n, int64_t d, const char *options,
                      long long when)
{
    ticking clock = {.when = when};
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, n, d, options);
    fit.data->checked = false; /* so that setting up has work to do */
    set_clock(fit.ctx, &clock);
    mgv_status st = mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem);
    if (st == MGV_E_LIMIT) {
        CHECK(!fit.problem);
        CHECK_THAT(strstr(mgv_ctx_error(fit.ctx), "interrupted before the problem was set up"),
                   "%s", mgv_ctx_error(fit.ctx));
        check_soon(&clock, options);
        mgv_fit_free(&fit);
        return;
    }
    CHECK_OK(fit.ctx, st);
    CHECK_OK(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver));
    const bool early = atomic_load(&clock.looks) > when; /* between two calls nobody listens */
    CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
    fit.run.size = sizeof fit.run;
    mgv_solver_describe(fit.solver, &fit.run, NULL);
    if (!early && ended(fit.run.stop))
        check_soon(&clock, options);
    const double *w;
    int64_t count;
    mgv_solver_weights(fit.solver, &w, &count);
    for (int64_t j = 0; j < count; j++)
        CHECK_THAT(isfinite(w[j]), "%s", options);
    mgv_fit_free(&fit);
}

TEST(a_signal_ends_setting_up_steps_and_proofs)
{
    static const struct {
        const char *options;
        double noise;
        int64_t n;
    } cases[] = {{"loss=hinge lambda=0.001 tol=1e-12", 0.5, 4500},
                 {"loss=logistic penalty=l1 mu=0.001 tol=1e-12 scale=std", 0.5, 4500},
                 {"loss=margin", 0.3, 1000},
                 {"loss=margin solver=momentum_margin", 0.3, 1000},
                 {"loss=margin short_proof=yes", 0.3, 1000},
                 {"loss=hinge kernel=rbf lambda=0.01", 0.3, 300}};
    for (size_t c = 0; c < COUNT(cases); c++) {
        double *X, *y;
        mgv_random_set(7, cases[c].n, 16, cases[c].noise, &X, &y);
        for (size_t k = 0; k < COUNT(whens); k++)
            check_fit(X, y, cases[c].n, 16, cases[c].options, whens[k]);
        free(X);
        free(y);
    }
}

/* A proof that was cut short is none: what is printed is true of a run to the end. */
TEST(a_proof_is_whole_or_none)
{
    enum { N = 200, D = 4 };
    double *X, *y;
    mgv_random_set(3, N, D, 0, &X, &y); /* separable */
    for (long long when = 1; when < 60; when += 3) {
        ticking clock = {.when = when};
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, "loss=margin tol=1e-2 solver=momentum_margin");
        set_clock(fit.ctx, &clock);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.certificate.separable != 0, "look %lld", when);
        mgv_fit_free(&fit);
    }
    free(X);
    free(y);
}

TEST(a_signal_ends_a_selection)
{
    static const char *const cases[] = {"select=cv:3 loss=hinge C=1",
                                        "select=cv:3 loss=logistic penalty=l1",
                                        "select=cv:3 loss=hinge kernel=rbf"};
    enum { N = 400, D = 8 };
    double *X, *y;
    mgv_random_set(5, N, D, 0.5, &X, &y);
    for (size_t c = 0; c < COUNT(cases); c++)
        for (size_t k = 0; k < COUNT(whens); k++) {
            ticking clock = {.when = whens[k]};
            mgv_selection *selection;
            mgv_run_info run = {.size = sizeof run};
            mgv_model *model;
            mgv_fit fit;
            mgv_fit_start(&fit, X, y, N, D, cases[c]);
            set_clock(fit.ctx, &clock);
            const mgv_status st = mgv_selection_run(fit.ctx, fit.data, fit.settings, &selection);
            if (st == MGV_E_LIMIT) { /* before there was anything to choose from */
                CHECK_THAT(strstr(mgv_ctx_error(fit.ctx), "interrupted before"), "%s",
                           mgv_ctx_error(fit.ctx));
                check_soon(&clock, cases[c]);
                mgv_fit_free(&fit);
                continue;
            }
            CHECK_OK(fit.ctx, st);
            mgv_solver_describe(mgv_selection_solver(selection), &run, NULL);
            if (ended(run.stop))
                check_soon(&clock, cases[c]);
            CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, mgv_selection_solver(selection), &model));
            mgv_model_free(fit.ctx, model);
            mgv_selection_free(fit.ctx, selection);
            mgv_fit_free(&fit);
        }
    free(X);
    free(y);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void write_rows(const char *file, int rows)
{
    FILE *f = fopen(file, "w");
    CHECK(f != NULL);
    for (int i = 0; i < rows; i++)
        fprintf(f, "%d 1:%d.5 2:%d 7:0.%03d\n", i % 2, i % 17, i % 5, i % 1000);
    CHECK(fclose(f) == 0);
}

TEST(reading_ends_with_a_sentence)
{
    char file[64];
    snprintf(file, sizeof file, "interrupts.%d.svm", (int)getpid());
    write_rows(file, 40000); /* several chunks */
    for (int by_time = 0; by_time < 2; by_time++)
        for (long long when = 1; when < 40; when += 4) {
            ticking clock = {.when = by_time ? 0 : when};
            mgv_ctx *ctx;
            mgv_settings *settings;
            mgv_data *data;
            CHECK(mgv_ctx_new(NULL, &ctx) == MGV_OK);
            CHECK_OK(ctx, mgv_settings_new(ctx, &settings));
            set_clock(ctx, &clock);
            settings->time_limit = by_time ? TICK * (double)when : INFINITY;
            const mgv_status st = mgv_data_read(ctx, file, settings, &data);
            const long long looks = atomic_load(&clock.looks);
            if (st == MGV_E_LIMIT) {
                CHECK(!data);
                CHECK_THAT(strstr(mgv_ctx_error(ctx),
                                  by_time ? "time_limit was over before" : "interrupted before"),
                           "%s", mgv_ctx_error(ctx));
                CHECK_LE((double)(looks - when), 12, "looks after look %lld", when);
            } else {
                CHECK_OK(ctx, st);
                CHECK_THAT(data->X.rows == 40000 && looks <= when + 6, "look %lld of %lld", when,
                           looks);
            }
            mgv_data_free(ctx, data);
            mgv_settings_free(ctx, settings);
            mgv_ctx_free(ctx);
        }
    remove(file);
}

/* ---- completion and deblurring --------------------------------------------------------------- */

static void check_completion(const sample *s, const char *options, double seconds, long long when)
{
    ticking clock = {.when = when};
    mgv_ctx *ctx;
    mgv_settings *settings;
    mgv_completion *c = NULL;
    mgv_completion_info info = {.size = sizeof info};
    char name[64], value[64];
    int used;
    CHECK(mgv_ctx_new(NULL, &ctx) == MGV_OK);
    CHECK_OK(ctx, mgv_settings_new(ctx, &settings));
    for (; sscanf(options, " %63[^=]=%63[^ ]%n", name, value, &used) == 2; options += used)
        CHECK_OK(ctx, mgv_settings_set(ctx, settings, name, value));
    settings->time_limit = seconds;
    mgv_triples *t = sample_triples(ctx, s);
    set_clock(ctx, &clock);
    const mgv_status st = mgv_completion_run(ctx, t, settings, &c);
    if (st == MGV_E_LIMIT) {
        CHECK_THAT(strstr(mgv_ctx_error(ctx), "before the entries were sorted"), "%s",
                   mgv_ctx_error(ctx));
    } else {
        CHECK_OK(ctx, st);
        mgv_completion_describe(c, &info);
        CHECK(isfinite(info.train_error));
        for (int64_t k = 0; k < info.rank * s->rows; k++)
            CHECK(isfinite(info.left[k]));
        for (int64_t k = 0; k < info.rank * s->cols; k++)
            CHECK(isfinite(info.right[k]));
    }
    if ((st == MGV_E_LIMIT || ended(info.stop)) && when)
        check_soon(&clock, "completion");
    else if (st == MGV_E_LIMIT || ended(info.stop))
        check_looks(&clock, 0, seconds, "completion");
    mgv_completion_free(ctx, c);
    mgv_triples_free(ctx, t);
    mgv_settings_free(ctx, settings);
    mgv_ctx_free(ctx);
}

TEST(a_completion_ends_soon_after_its_limit)
{
    static const double seconds[] = {0, 0.02, 0.2, 0.9, 3, 12};
    static const char *const cases[] = {"", "biases=no finish=no", "select=last max_iter=100"};
    sample s = sample_new(4, 150, 120, 3, 0.5, 0.1);
    for (size_t c = 0; c < COUNT(cases); c++) {
        for (size_t k = 0; k < COUNT(seconds); k++)
            check_completion(&s, cases[c], seconds[k], 0);
        for (size_t k = 0; k < COUNT(whens); k++)
            check_completion(&s, cases[c], INFINITY, whens[k]);
    }
    sample_free(&s);
}

static void check_deblur(double seconds, long long when)
{
    enum { SIDE = 40 };
    ticking clock = {.when = when};
    mgv_ctx *ctx;
    mgv_settings *settings;
    mgv_image *image, *psf, *out;
    mgv_deblur *d;
    mgv_deblur_info info = {.size = sizeof info};
    double pixels[SIDE * SIDE];
    for (int p = 0; p < SIDE * SIDE; p++)
        pixels[p] = 0.3 + 0.4 * (p % SIDE > 20 && p / SIDE > 30) + 0.01 * (p * 7 % 13);
    CHECK(mgv_ctx_new(NULL, &ctx) == MGV_OK);
    CHECK_OK(ctx, mgv_settings_new(ctx, &settings));
    CHECK_OK(ctx, mgv_settings_set(ctx, settings, "noise_factor", "0.1"));
    CHECK_OK(ctx, mgv_settings_set(ctx, settings, "max_iter", when ? "200" : "100000"));
    CHECK_OK(ctx, mgv_image_new(ctx, SIDE, SIDE, 1, pixels, &image));
    CHECK_OK(ctx, mgv_psf_gaussian(ctx, 1.5, &psf));
    settings->time_limit = seconds;
    set_clock(ctx, &clock);
    CHECK_OK(ctx, mgv_deblur_new(ctx, image, psf, NULL, settings, &d));
    const long long first = atomic_load(&clock.looks);
    CHECK_OK(ctx, mgv_deblur_run(ctx, d));
    mgv_deblur_describe(d, &info);
    if (when == 0)
        CHECK_THAT(info.stop == MGV_STOP_TIME, "%s", mgv_stop_name(info.stop));
    if (when == 0)
        check_looks(&clock, 0, seconds, "deblur");
    else if (first < when && info.stop == MGV_STOP_USER)
        check_soon(&clock, "deblur");
    CHECK_OK(ctx, mgv_deblur_image(ctx, d, &out));
    for (int p = 0; p < SIDE * SIDE; p++)
        CHECK(isfinite(out->pixels[p]));
    mgv_image_free(ctx, out);
    mgv_deblur_free(ctx, d);
    mgv_image_free(ctx, psf);
    mgv_image_free(ctx, image);
    mgv_settings_free(ctx, settings);
    mgv_ctx_free(ctx);
}

TEST(a_deblurring_ends_soon_after_its_limit)
{
    static const double seconds[] = {0, 0.05, 0.3, 1.2, 5};
    for (size_t k = 0; k < COUNT(seconds); k++)
        check_deblur(seconds[k], 0);
    for (size_t k = 0; k < COUNT(whens); k++)
        check_deblur(INFINITY, whens[k]);
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* Within a step too, to within one pass or a tenth; and the same bits every time. */
TEST(passes_end_a_step)
{
    static const char *const cases[] = {
        "loss=hinge lambda=1e-6 tol=1e-10 solver=newton",
        "loss=hinge lambda=1e-6 tol=1e-10 solver=dual_coordinate",
        "loss=logistic penalty=l1 mu=1e-5 tol=1e-10 solver=proximal_newton",
        "loss=squared penalty=l1 mu=1e-5 tol=1e-10",
        "loss=margin solver=exact_margin",
        "loss=hinge lambda=1e-6 tol=1e-10 solver=smsvm"};
    static const double passes[] = {3, 20, 60};
    enum { N = 500, D = 12 };
    double *X, *y;
    mgv_random_set(11, N, D, 0.4, &X, &y);
    for (size_t c = 0; c < COUNT(cases); c++)
        for (size_t k = 0; k < COUNT(passes); k++) {
            mgv_fit fit[2];
            for (int twice = 0; twice < 2; twice++) {
                mgv_fit_start(&fit[twice], X, y, N, D, cases[c]);
                fit[twice].settings->max_passes = passes[k];
                mgv_fit_solve(&fit[twice]);
            }
            const double spent = mgvi_driver_schedule(fit[0].solver); /* up to the last look */
            if (fit[0].run.stop == MGV_STOP_MAX_PASSES)
                CHECK_LE(spent, passes[k] + fmax(1, 0.1 * passes[k]) + 3, "%s, %g passes", cases[c],
                         passes[k]);
            assert_memory_equal(mgv_fit_weights(&fit[0]), mgv_fit_weights(&fit[1]),
                                (size_t)fit[0].solver->answer.w.n * sizeof(double));
            mgv_fit_free(&fit[0]);
            mgv_fit_free(&fit[1]);
        }
    free(X);
    free(y);
}

int main(void)
{
    return RUN(a_signal_ends_setting_up_steps_and_proofs, a_proof_is_whole_or_none,
               a_signal_ends_a_selection, reading_ends_with_a_sentence,
               a_completion_ends_soon_after_its_limit, a_deblurring_ends_soon_after_its_limit,
               passes_end_a_step);
}
