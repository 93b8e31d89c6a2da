/* vectors.c - reads tests/vectors and runs fits for the tests. */
#include "vectors.h"

#include "base/rng.h"
#include "base/settings.h"
#include "model/model.h"
#include "solver/driver.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

json_t *mgv_vector_load(const char *name)
{
    char path[512];
    json_error_t error;
    snprintf(path, sizeof path, "%s/%s.json", MGV_TEST_VECTORS, name);
    json_t *root = json_load_file(path, 0, &error);
    if (!root)
        fail_msg("%s: %s", path, error.text);
    return root;
}

double mgv_vector_number(const json_t *value)
{
    double x = 0;
    if (json_is_number(value))
        return json_number_value(value);
    if (!json_is_string(value) || !mgvi_parse_real(json_string_value(value), &x))
        fail_msg("not a number");
    return x;
}

static int64_t flat_count(const json_t *v)
{
    if (!json_is_array(v))
        return 1;
    int64_t count = 0;
    for (size_t i = 0; i < json_array_size(v); i++)
        count += flat_count(json_array_get(v, i));
    return count;
}

static double *flatten(const json_t *v, double *out)
{
    if (!json_is_array(v)) {
        *out = mgv_vector_number(v);
        return out + 1;
    }
    for (size_t i = 0; i < json_array_size(v); i++)
        out = flatten(json_array_get(v, i), out);
    return out;
}

double *mgv_vector_array(const json_t *object, const char *key, int64_t *count)
{
    const json_t *v = json_object_get(object, key);
    if (!v)
        fail_msg("no key %s", key);
    const int64_t n = flat_count(v);
    double *x = malloc((size_t)(n ? n : 1) * sizeof *x);
    flatten(v, x);
    if (count)
        *count = n;
    return x;
}

void mgv_fit_start(mgv_fit *fit, const double *X, const double *y, int64_t n, int64_t d,
                   const char *options)
{
    memset(fit, 0, sizeof *fit);
    fit->ctx = mgv_check_ctx();
    fit->X = malloc((size_t)(n * d) * sizeof *X);
    memcpy(fit->X, X, (size_t)(n * d) * sizeof *X);
    CHECK_OK(fit->ctx, mgv_data_from_dense(fit->ctx, MGV_F64, fit->X, n, d, d, 1, &fit->data));
    CHECK_OK(fit->ctx, mgv_data_set_labels(fit->ctx, fit->data, y));
    CHECK_OK(fit->ctx, mgv_settings_new(fit->ctx, &fit->settings));
    mgv_fit_set(fit, options);
}

void mgv_fit_set(mgv_fit *fit, const char *options)
{
    char copy[512], *rest = copy, *item;
    snprintf(copy, sizeof copy, "%s", options);
    while ((item = strsep(&rest, " "))) {
        char *equals = strchr(item, '=');
        if (!equals)
            continue;
        *equals = 0;
        CHECK_OK(fit->ctx, mgv_settings_set(fit->ctx, fit->settings, item, equals + 1));
    }
}

void mgv_fit_solve(mgv_fit *fit)
{
    CHECK_OK(fit->ctx, mgv_problem_new(fit->ctx, fit->data, fit->settings, &fit->problem));
    CHECK_OK(fit->ctx, mgv_solver_new(fit->ctx, fit->problem, fit->settings, &fit->solver));
    CHECK_OK(fit->ctx, mgv_solver_run(fit->ctx, fit->solver));
    fit->certificate.size = sizeof fit->certificate;
    fit->run.size = sizeof fit->run;
    mgv_solver_describe(fit->solver, &fit->run, &fit->certificate);
}

const double *mgv_fit_weights(const mgv_fit *fit) { return fit->solver->answer.w.x; }

void mgv_fit_free(mgv_fit *fit)
{
    mgv_solver_free(fit->ctx, fit->solver);
    mgv_problem_free(fit->ctx, fit->problem);
    mgv_settings_free(fit->ctx, fit->settings);
    mgv_data_free(fit->ctx, fit->data);
    mgv_ctx_free(fit->ctx);
    free(fit->X);
}

void mgv_fit_continue(mgv_fit *fit, const double *X, const double *y, int64_t n, int64_t d,
                      const char *options, int64_t cut)
{
    char file[64], limit[40];
    mgv_fit part;
    snprintf(file, sizeof file, "same_bits.%d", (int)getpid());
    snprintf(limit, sizeof limit, "max_iter=%" PRId64, cut);
    mgv_fit_start(&part, X, y, n, d, options);
    mgv_fit_set(&part, limit);
    mgv_fit_solve(&part);
    CHECK(part.run.iterations <= cut);
    CHECK_OK(part.ctx, mgv_solver_checkpoint(part.ctx, part.solver, file));
    mgv_fit_free(&part);
    CHECK_OK(fit->ctx, mgv_problem_new(fit->ctx, fit->data, fit->settings, &fit->problem));
    CHECK_OK(fit->ctx, mgv_solver_new(fit->ctx, fit->problem, fit->settings, &fit->solver));
    CHECK_OK(fit->ctx, mgv_solver_resume(fit->ctx, fit->solver, file));
    CHECK_OK(fit->ctx, mgv_solver_run(fit->ctx, fit->solver));
    remove(file);
}

void mgv_check_same_bits(const double *X, const double *y, int64_t n, int64_t d,
                         const char *options, int64_t cut)
{
    double *first = NULL;
    for (int variant = 1; variant <= 4; variant++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, n, d, options);
        CHECK_OK(fit.ctx, mgv_ctx_set_threads(fit.ctx, variant));
        if (variant == 4)
            mgv_fit_continue(&fit, X, y, n, d, options, cut);
        else
            mgv_fit_solve(&fit);
        const mgvi_vec *w = &fit.solver->answer.w, *u = &fit.solver->answer.u;
        const size_t cols = (size_t)(w->n * w->k), rows = (size_t)(u->n * u->k);
        if (!first) {
            first = malloc((cols + rows) * sizeof *first);
            memcpy(first, w->x, cols * sizeof *first);
            memcpy(first + cols, u->x, rows * sizeof *first);
        }
        assert_memory_equal(first, w->x, cols * sizeof *first);
        assert_memory_equal(first + cols, u->x, rows * sizeof *first);
        mgv_fit_free(&fit);
    }
    free(first);
}

void mgv_clouds(double *X, double *y, int64_t n, int64_t d, int classes)
{
    mgvi_rng rng = mgvi_rng_seed(8);
    for (int64_t i = 0; i < n; i++) {
        y[i] = (double)(i % classes);
        for (int64_t j = 0; j < d; j++)
            X[i * d + j] = mgvi_rng_normal(&rng) + (j == i % classes);
    }
}

void mgv_check_two_classes(const double *X, const double *y, int64_t n, int64_t d,
                           const char *joint, const char *single)
{
    const char *const options[] = {joint, single};
    mgv_fit fit[2];
    mgv_model *m[2];
    for (int t = 0; t < 2; t++) {
        mgv_fit_start(&fit[t], X, y, n, d, options[t]);
        mgv_fit_solve(&fit[t]);
        CHECK_OK(fit[t].ctx, mgv_model_new(fit[t].ctx, fit[t].solver, &m[t]));
    }
    CHECK_NEAR(fit[0].certificate.primal, fit[1].certificate.primal, 1e-10, "objective");
    for (int64_t j = 0; j < d; j++)
        CHECK_NEAR(m[0]->coef[d + j] - m[0]->coef[j], m[1]->coef[j], 1e-5, "weight %d", (int)j);
    for (int t = 0; t < 2; t++) {
        mgv_model_free(fit[t].ctx, m[t]);
        mgv_fit_free(&fit[t]);
    }
}

void mgv_random_set(uint64_t seed, int64_t n, int64_t d, double noise, double **X, double **y)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    *X = malloc((size_t)(n * d) * sizeof **X);
    *y = malloc((size_t)n * sizeof **y);
    for (int64_t i = 0; i < n; i++) {
        double score = 0.3;
        for (int64_t j = 0; j < d; j++) {
            const double x = mgvi_rng_normal(&rng);
            (*X)[i * d + j] = x;
            score += x / (double)(j + 1);
        }
        (*y)[i] = score + noise * mgvi_rng_normal(&rng) > 0 ? 1 : -1;
    }
}
