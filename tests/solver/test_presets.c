/* test_presets.c - published methods follow the trajectories of tests/vectors/preset_*.json, which
 * were computed from the papers' formulas alone.
 *
 * Such a file has the preset, more settings, the table X with labels y, and the iterates w (and u,
 * where it says something) after the iterations `at`, in the columns (and rows) of A. */
#include "solver/driver.h"
#include "vectors.h"

#include "base/presets.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the largest number of an iterate. */
static const double CLOSE = 1e-12;

static void check_near(const mgvi_vec *x, const json_t *iterate, const char *what)
{
    double largest = 0;
    CHECK_THAT((int64_t)json_array_size(iterate) == x->n, "%s: %d numbers", what, (int)x->n);
    for (int64_t i = 0; i < x->n; i++)
        largest = fmax(largest, fabs(mgv_vector_number(json_array_get(iterate, (size_t)i))));
    for (int64_t i = 0; i < x->n; i++) {
        const double known = mgv_vector_number(json_array_get(iterate, (size_t)i));
        CHECK_NEAR(x->x[i], known, CLOSE * largest, "%s, number %d", what, (int)i);
    }
}

/* Where `of` is absent there is nothing to check. */
static void check_iterate(const json_t *known, const char *of, size_t at, const mgvi_vec *x,
                          const char *name)
{
    char what[256];
    const json_t *all = json_object_get(known, of);
    if (!all)
        return;
    snprintf(what, sizeof what, "%s: %s of entry %d", name, of, (int)at);
    CHECK_THAT(at < json_array_size(all), "%s is there", what);
    check_near(x, json_array_get(all, at), what);
}

static void follow(const json_t *known, const char *name)
{
    char options[1024];
    int64_t entries, labels, steps = 0;
    mgv_fit fit;
    double *X = mgv_vector_array(known, "X", &entries), *y = mgv_vector_array(known, "y", &labels);
    const json_t *at = json_object_get(known, "at");
    snprintf(options, sizeof options, "preset=%s tol=0 %s",
             json_string_value(json_object_get(known, "preset")),
             json_string_value(json_object_get(known, "settings")));
    mgv_fit_start(&fit, X, y, labels, entries / labels, options);
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_OK(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver));
    for (size_t k = 0; k < json_array_size(at); k++) {
        while (fit.solver->run.iteration < json_integer_value(json_array_get(at, k)))
            CHECK_OK(fit.ctx, mgvi_driver_step(fit.solver));
        const mgvi_iterate it = fit.solver->run.ops->expose(&fit.solver->run);
        check_iterate(known, "w", k, it.w, name);
        check_iterate(known, "u", k, it.u, name);
        steps = fit.solver->run.iteration;
    }
    CHECK_THAT(steps >= 50, "%s: %d steps", name, (int)steps);
    mgv_fit_free(&fit);
    free(X);
    free(y);
}

/* Whether one of the files is of `preset`. */
static bool known_to(const glob_t *files, const char *preset)
{
    bool found = false;
    for (size_t i = 0; i < files->gl_pathc && !found; i++) {
        json_t *known = json_load_file(files->gl_pathv[i], 0, NULL);
        found = strcmp(json_string_value(json_object_get(known, "preset")), preset) == 0;
        json_decref(known);
    }
    return found;
}

TEST(presets_follow_their_papers)
{
    glob_t files;
    CHECK_THAT(glob(MGV_TEST_VECTORS "/preset_*.json", 0, NULL, &files) == 0, "there are files");
    for (size_t i = 0; i < files.gl_pathc; i++) {
        json_t *known = json_load_file(files.gl_pathv[i], 0, NULL);
        CHECK_THAT(known != NULL, "%s is JSON", files.gl_pathv[i]);
        follow(known, strrchr(files.gl_pathv[i], '/') + 1);
        json_decref(known);
    }
    for (int k = 0; k < mgvi_preset_count(); k++)
        CHECK_THAT(known_to(&files, mgvi_preset_at(k)->name), "%s has a trajectory",
                   mgvi_preset_at(k)->name);
    globfree(&files);
}

TEST(every_preset_can_be_set)
{
    mgv_ctx *ctx = mgv_check_ctx();
    for (int k = 0; k < mgvi_preset_count(); k++) {
        const mgvi_preset *preset = mgvi_preset_at(k);
        mgv_settings *settings;
        char value[64];
        CHECK_OK(ctx, mgv_settings_new(ctx, &settings));
        CHECK_OK(ctx, mgv_settings_set(ctx, settings, "preset", preset->name));
        CHECK_OK(ctx, mgv_settings_get(ctx, settings, "preset", value, sizeof value));
        assert_string_equal(value, preset->name);
        CHECK_OK(ctx, mgv_settings_get(ctx, settings, "solver", value, sizeof value));
        CHECK_THAT(strcmp(value, "auto") != 0, "%s names a solver", preset->name);
        mgv_settings_free(ctx, settings);
    }
    mgv_ctx_free(ctx);
}

TEST(an_unknown_preset_changes_nothing)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_settings *settings;
    char value[64];
    CHECK_OK(ctx, mgv_settings_new(ctx, &settings));
    CHECK_FAILS(ctx, mgv_settings_set(ctx, settings, "preset", "nobody-alg1"), MGV_E_ARG,
                "there is no preset 'nobody-alg1'; `margrave list presets` shows them");
    CHECK_OK(ctx, mgv_settings_get(ctx, settings, "solver", value, sizeof value));
    assert_string_equal(value, "auto");
    mgv_settings_free(ctx, settings);
    mgv_ctx_free(ctx);
}

int main(void)
{
    return RUN(presets_follow_their_papers, every_preset_can_be_set,
               an_unknown_preset_changes_nothing);
}
