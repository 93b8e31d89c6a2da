/* margin_runs.h - hard-margin solvers taken step by step and judged at every step. */
#ifndef MGV_TESTS_SOLVER_MARGIN_RUNS_H
#define MGV_TESTS_SOLVER_MARGIN_RUNS_H

#include "vectors.h"

#include "solver/driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A set with a known answer. */
typedef struct margin_set {
    int64_t n, d;
    double *X, *y;
    double gamma, radius; /* the margin, and the largest row */
} margin_set;

static inline margin_set margin_set_load(const char *name)
{
    json_t *v = mgv_vector_load(name);
    margin_set s = {.n = json_integer_value(json_object_get(v, "n")),
                    .d = json_integer_value(json_object_get(v, "d")),
                    .X = mgv_vector_array(v, "X", NULL),
                    .y = mgv_vector_array(v, "y", NULL),
                    .gamma = mgv_vector_number(json_object_get(v, "gamma"))};
    for (int64_t i = 0; i < s.n; i++) {
        double square = 0;
        for (int64_t j = 0; j < s.d; j++)
            square += s.X[i * s.d + j] * s.X[i * s.d + j];
        s.radius = fmax(s.radius, sqrt(square));
    }
    json_decref(v);
    return s;
}

static inline void margin_set_free(margin_set *s)
{
    free(s->X);
    free(s->y);
}

/* Every point of a random set moved away from the plane that labels it, so that it is separable. */
static inline margin_set margin_set_random(uint64_t seed, int64_t n, int64_t d, double shift)
{
    margin_set s = {.n = n, .d = d, .gamma = NAN, .radius = NAN};
    mgv_random_set(seed, n, d, 0, &s.X, &s.y);
    for (int64_t i = 0; i < n; i++) {
        double score = 0;
        for (int64_t j = 0; j < d; j++)
            score += s.X[i * d + j] / (double)(j + 1);
        s.y[i] = score > 0 ? 1 : -1;
        s.X[i * d] += shift * s.y[i];
    }
    return s;
}

/* Two clouds, moved apart in every column, times `factor`. */
static inline void margin_points(uint64_t seed, int64_t n, int64_t d, double factor, double **X,
                                 double **y)
{
    mgv_random_set(seed, n, d, 0, X, y);
    (*y)[0] = 1;
    (*y)[1] = -1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++)
            (*X)[i * d + j] = factor * ((*X)[i * d + j] + 3 * (*y)[i] / (double)(j + 1));
}

/* A solver that has not moved yet. */
static inline void margin_open(mgv_fit *fit, const margin_set *s, const char *options)
{
    mgv_fit_start(fit, s->X, s->y, s->n, s->d, "loss=margin intercept=no");
    mgv_fit_set(fit, options);
    CHECK_OK(fit->ctx, mgv_problem_new(fit->ctx, fit->data, fit->settings, &fit->problem));
    CHECK_OK(fit->ctx, mgv_solver_new(fit->ctx, fit->problem, fit->settings, &fit->solver));
}

static inline void margin_step(mgv_fit *fit)
{
    mgvi_run *run = &fit->solver->run;
    CHECK_OK(fit->ctx, run->ops->step(run));
    run->iteration++;
}

static inline mgv_certificate margin_judge(mgv_fit *fit)
{
    mgvi_run *run = &fit->solver->run;
    const mgvi_iterate it = run->ops->expose(run);
    return mgvi_judge_certify(fit->solver->judge, it.w, it.u).certificate;
}

/* What a checkpoint would keep under `name`. */
static inline const double *margin_kept(const mgv_fit *fit, const char *name)
{
    const mgvi_run *run = &fit->solver->run;
    for (int i = 0; i < run->kept_count; i++)
        if (strcmp(run->kept[i].tensor.name, name) == 0)
            return run->kept[i].tensor.data;
    fail_msg("%s is not kept", name);
    return NULL;
}

static inline double margin_norm(const double *x, int64_t n)
{
    double square = 0;
    for (int64_t j = 0; j < n; j++)
        square += x[j] * x[j];
    return sqrt(square);
}

/* lower <= gamma <= upper at every step. */
static inline void margin_check_bounds(const margin_set *s, const char *options, int steps)
{
    mgv_fit fit;
    margin_open(&fit, s, options);
    for (int t = 1; t <= steps; t++) {
        margin_step(&fit);
        const mgv_certificate c = margin_judge(&fit);
        CHECK_LE(c.margin, s->gamma * (1 + 1e-12), "%s: lower after %d", options, t);
        CHECK_LE(s->gamma * (1 - 1e-12), c.margin_upper, "%s: upper after %d", options, t);
        CHECK_THAT(c.verified && c.separable != 0, "%s: after %d", options, t);
    }
    mgv_fit_free(&fit);
}

/* The weights and the dual point of a whole run, n + d numbers to be freed. */
static inline double *margin_answer(const mgv_fit *fit)
{
    const mgvi_pair *a = &fit->solver->answer;
    double *x = malloc((size_t)(a->w.n + a->u.n) * sizeof *x);
    memcpy(x, a->w.x, (size_t)a->w.n * sizeof *x);
    memcpy(x + a->w.n, a->u.x, (size_t)a->u.n * sizeof *x);
    return x;
}

static inline void margin_check_threads(const char *options)
{
    static const int threads[] = {1, 2, 5};
    margin_set s = margin_set_random(11, 9000, 7, 0.3); /* several blocks in every sum */
    double *first = NULL;
    for (int k = 0; k < 3; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, s.X, s.y, s.n, s.d, "loss=margin intercept=no tol=1e-12 max_iter=12");
        mgv_fit_set(&fit, options);
        CHECK_OK(fit.ctx, mgv_ctx_set_threads(fit.ctx, threads[k]));
        mgv_fit_solve(&fit);
        double *x = margin_answer(&fit);
        if (first) {
            assert_memory_equal(first, x, (size_t)(s.n + s.d) * sizeof *x);
            free(x);
        } else {
            first = x;
        }
        mgv_fit_free(&fit);
    }
    free(first);
    margin_set_free(&s);
}

static inline void margin_check_resume(const char *options)
{
    margin_set s = margin_set_random(12, 150, 6, 0.3);
    char all[300];
    snprintf(all, sizeof all, "loss=margin intercept=no tol=1e-14 max_iter=41 %s", options);
    mgv_check_same_bits(s.X, s.y, s.n, s.d, all, 17);
    margin_set_free(&s);
}

/* Opposite rows: no w separates, and nobody may say that one does. */
static inline void margin_check_nonseparable(const char *options, double small, int steps)
{
    margin_set s = {.n = 40, .d = 3};
    mgv_random_set(13, s.n, s.d, 3, &s.X, &s.y);
    mgv_fit fit;
    double upper = INFINITY;
    margin_open(&fit, &s, options);
    for (int t = 1; t <= steps; t++) {
        margin_step(&fit);
        const mgv_certificate c = margin_judge(&fit);
        CHECK_THAT(c.separable != 1 && c.margin <= 1e-12, "%s: lower %g after %d", options,
                   c.margin, t);
        upper = fmin(upper, c.margin_upper);
    }
    CHECK_LE(upper, small, "%s", options);
    mgv_fit_free(&fit);
    margin_set_free(&s);
}

/* Every fifth row is wrong, huge and has no weight: as if it were not there. */
static inline void margin_check_weightless(const char *options)
{
    margin_set s = margin_set_load("margin_linear_p2");
    double X[20 * 5], y[20], weight[20];
    for (int i = 0; i < 20; i++) {
        const bool out = i % 5 == 2;
        const int from = out ? 0 : i - (i + 2) / 5;
        y[i] = out ? -s.y[0] : s.y[from];
        weight[i] = out ? 0 : 1;
        for (int j = 0; j < 5; j++)
            X[5 * i + j] = s.X[5 * from + j] * (out ? 100 : 1);
    }
    mgv_fit a, b;
    margin_open(&a, &s, options);
    mgv_fit_start(&b, X, y, 20, 5, "loss=margin intercept=no");
    mgv_fit_set(&b, options);
    CHECK_OK(b.ctx, mgv_data_set_weights(b.ctx, b.data, weight));
    CHECK_OK(b.ctx, mgv_problem_new(b.ctx, b.data, b.settings, &b.problem));
    CHECK_OK(b.ctx, mgv_solver_new(b.ctx, b.problem, b.settings, &b.solver));
    for (int t = 0; t < 40; t++) {
        margin_step(&a);
        margin_step(&b);
    }
    const mgv_certificate ca = margin_judge(&a), cb = margin_judge(&b);
    CHECK_NEAR(ca.margin, cb.margin, 1e-10, "%s", options);
    CHECK_NEAR(ca.margin_upper, cb.margin_upper, 1e-10, "%s", options);
    mgv_fit_free(&a);
    mgv_fit_free(&b);
    margin_set_free(&s);
}

/* The margins of the same data in other units. */
static inline void margin_check_units(const margin_set *s, const char *options)
{
    static const double units[] = {1, 1e6, 1e-6};
    double lower = 0, upper = 0;
    for (int k = 0; k < 3; k++) {
        margin_set t = *s;
        t.X = malloc((size_t)(s->n * s->d) * sizeof *t.X);
        for (int64_t i = 0; i < s->n * s->d; i++)
            t.X[i] = s->X[i] * units[k];
        mgv_fit fit;
        margin_open(&fit, &t, options);
        for (int step = 0; step < 30; step++)
            margin_step(&fit);
        const mgv_certificate c = margin_judge(&fit);
        if (k == 0) {
            lower = c.margin;
            upper = c.margin_upper;
        }
        CHECK_NEAR(c.margin / units[k], lower, 1e-9 * fabs(lower), "%s: lower", options);
        CHECK_NEAR(c.margin_upper / units[k], upper, 1e-9 * upper, "%s: upper", options);
        mgv_fit_free(&fit);
        free(t.X);
    }
}
#endif
