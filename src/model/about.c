/* about.c - where a model comes from, written as JSON and read again: also the settings of its
 * problem, under which other data can be judged. */
#include "model/model.h"

#include "select/selection.h"
#include "solver/classes/family.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

static mgv_status keep(mgvi_arena *arena, const char *text, char **out)
{
    const size_t size = strlen(text) + 1;
    *out = mgvi_arena_array(arena, size, 1);
    if (!*out)
        return MGV_E_MEMORY;
    memcpy(*out, text, size);
    return MGV_OK;
}

static void write_selection(json_t *o, const mgv_selection *s)
{
    if (!s)
        return;
    json_object_set_new(o, "select", json_string(s->settings.select));
    json_object_set_new(o, "method", json_string(mgvi_selection_path(s)->method));
    json_object_set_new(o, "point", json_integer(mgvi_selection_path(s)->chosen));
}

/* Those of the problem's settings that are not their defaults, as texts. Strengths are written as
 * they came out, and weights of rows belong to the rows. */
static void write_settings(json_t *o, const mgv_problem *p)
{
    char value[MGVI_TEXT_MAX];
    const char *name;
    size_t at = 0;
    mgv_settings own = p->settings;
    json_t *settings = json_object();
    own.lambda = own.mu = own.C = NAN;
    own.sample_weight = "";
    while (mgvi_settings_next_given(&own, "problem", &at, &name, value, sizeof value))
        json_object_set_new(settings, name, json_string(value));
    json_object_set_new(settings, "loss", json_string(p->loss->name));
    json_object_set_new(settings, "penalty", json_string(p->penalty->name));
    json_object_set_new(settings, "task", json_string(p->classify ? "classify" : "regress"));
    json_object_set_new(o, "settings", settings);
    json_object_set_new(o, "C", p->by_C ? number(mgvi_problem_C(p)) : json_null());
}

mgv_status mgvi_about_write(mgvi_arena *arena, const mgv_solver *solver, char **out)
{
    const mgv_problem *p = solver->run.problem;
    const mgvi_summary sum = mgvi_driver_summary(solver);
    const mgv_certificate *c = &sum.certificate;
    json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "margrave", mgv_version(), "task",
                          p->classify ? "classify" : "regress", "loss", p->loss->name, "penalty",
                          p->penalty->name, "scale", mgvi_scale_name(p->settings.scale), "formula",
                          p->formula, "solver", sum.solver);
    if (o) {
        json_object_set_new(o, "lambda", number(p->lambda));
        json_object_set_new(o, "mu", number(p->mu));
        json_object_set_new(o, "p", number(p->p));
        json_object_set_new(o, "iterations", json_integer(sum.iterations));
        json_object_set_new(o, "runs", json_integer(solver->family ? solver->family->members : 1));
        json_object_set_new(o, "stop", json_string(mgv_stop_name(sum.stop)));
        json_object_set_new(o, "primal", number(c->primal));
        json_object_set_new(o, "dual", number(c->dual));
        json_object_set_new(o, "relative_gap", number(c->relative_gap));
        json_object_set_new(o, "margin", number(c->margin));
        json_object_set_new(o, "margin_upper", number(c->margin_upper));
        json_object_set_new(o, "verified", json_boolean(c->verified));
        write_selection(o, solver->selection);
        write_settings(o, p);
    }
    char *text = o ? json_dumps(o, JSON_REAL_PRECISION(17)) : NULL;
    json_decref(o);
    const mgv_status st =
        text ? keep(arena, text, out)
             : MGVI_FAIL(arena->ctx, MGV_E_MEMORY, "no memory for the model's description");
    free(text);
    return st;
}

/* ---- reading --------------------------------------------------------------------------------- */

static mgv_status read_text(mgvi_arena *arena, const json_t *o, const char *key, const char **out)
{
    const char *text = json_string_value(json_object_get(o, key));
    char *copy = NULL;
    if (text)
        MGVI_TRY(keep(arena, text, &copy));
    *out = copy;
    return MGV_OK;
}

static double read_number(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static int64_t read_count(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);
    return json_is_integer(value) && json_integer_value(value) >= 0 ? json_integer_value(value)
                                                                    : -1;
}

static mgv_status read_object(mgvi_arena *arena, const json_t *o, mgvi_about *a)
{
    MGVI_TRY(read_text(arena, o, "margrave", &a->version));
    MGVI_TRY(read_text(arena, o, "formula", &a->formula));
    MGVI_TRY(read_text(arena, o, "loss", &a->loss));
    MGVI_TRY(read_text(arena, o, "penalty", &a->penalty));
    MGVI_TRY(read_text(arena, o, "scale", &a->scale));
    MGVI_TRY(read_text(arena, o, "solver", &a->solver));
    MGVI_TRY(read_text(arena, o, "stop", &a->stop));
    MGVI_TRY(read_text(arena, o, "select", &a->rule));
    MGVI_TRY(read_text(arena, o, "method", &a->method));
    a->lambda = read_number(o, "lambda");
    a->mu = read_number(o, "mu");
    a->primal = read_number(o, "primal");
    a->dual = read_number(o, "dual");
    a->relative_gap = read_number(o, "relative_gap");
    a->margin = read_number(o, "margin");
    a->margin_upper = read_number(o, "margin_upper");
    a->iterations = read_count(o, "iterations");
    a->runs = read_count(o, "runs");
    a->point = read_count(o, "point");
    a->verified = json_is_true(json_object_get(o, "verified"));
    return MGV_OK;
}

mgv_status mgvi_about_read(mgvi_arena *arena, const char *text, mgvi_about *out)
{
    json_t *o = json_loads(text, 0, NULL); /* NULL: every question has the answer "not said" */
    const mgv_status st = read_object(arena, o, out);
    json_decref(o);
    return st;
}

/* ---- the settings again ------------------------------------------------------------------------ */

static mgv_status give(mgv_ctx *ctx, mgv_settings *settings, const char *name, const char *value)
{
    if (!value || !mgvi_setting_exists(name) || mgvi_settings_is_given(settings, name))
        return MGV_OK;
    return mgvi_settings_set(ctx, settings, name, value);
}

/* Models made before the settings were kept say the most important of them. */
static mgv_status give_old(mgv_ctx *ctx, const mgv_model *m, mgv_settings *settings)
{
    MGVI_TRY(give(ctx, settings, "loss", m->about.loss));
    MGVI_TRY(give(ctx, settings, "penalty", m->about.penalty));
    MGVI_TRY(give(ctx, settings, "scale", m->about.scale));
    return give(ctx, settings, "task", m->classify ? "classify" : "regress");
}

static mgv_status give_all(mgv_ctx *ctx, const json_t *list, mgv_settings *settings)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)list, name, value)
        MGVI_TRY(give(ctx, settings, name, json_string_value(value)));
    return MGV_OK;
}

/* A constraint has no strength. Of every two classes C is one, and lambda follows from their rows. */
static void give_strengths(const mgv_model *m, const json_t *o, mgv_settings *settings)
{
    const mgvi_loss_ops *loss = m->about.loss ? mgvi_loss_find(m->about.loss) : NULL;
    const json_t *C = json_object_get(o, "C");
    if (!loss || (loss->can & MGVI_HARD) || !isnan(settings->lambda) || !isnan(settings->mu) ||
        !isnan(settings->C))
        return;
    if (m->pairwise && json_is_number(C)) {
        settings->C = json_number_value(C);
        return;
    }
    settings->lambda = m->about.lambda;
    settings->mu = m->about.mu;
}

mgv_status mgvi_model_settings(mgv_ctx *ctx, const mgv_model *m, mgv_settings *settings)
{
    json_t *o = json_loads(m->metadata, 0, NULL);
    const json_t *list = json_object_get(o, "settings");
    const mgv_status st = list ? give_all(ctx, list, settings) : give_old(ctx, m, settings);
    give_strengths(m, o, settings);
    json_decref(o);
    return st;
}
