/* generate.c - finds a set by its name, and what it is to be made with. */
#include "data/generate/generate.h"

#include "base/words.h"
#include "data/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MGVI_GENERATOR(name) extern const mgvi_generator mgvi_generator_##name;
#include "data/generate/list.h"
#undef MGVI_GENERATOR

static const mgvi_generator *const list[] = {
#define MGVI_GENERATOR(name) &mgvi_generator_##name,
#include "data/generate/list.h"
#undef MGVI_GENERATOR
};

int mgvi_generator_count(void) { return sizeof list / sizeof *list; }

const mgvi_generator *mgvi_generator_at(int index) { return list[index]; }

static mgv_status find(mgv_ctx *ctx, const char *name, const mgvi_generator **out)
{
    char known[256] = "";
    for (int k = 0; k < mgvi_generator_count(); k++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", list[k]->name);
        if (strcmp(list[k]->name, name) == 0) {
            *out = list[k];
            return MGV_OK;
        }
    }
    return MGVI_FAIL(ctx, MGV_E_ARG, "there is no set '%.40s' to generate; known: %s", name, known);
}

/* ---- what it is made with -------------------------------------------------------------------- */

static mgv_status refuse(const mgvi_making *m, const char *name)
{
    char takes[256] = "";
    const mgvi_recipe *d = &m->set->defaults;
#define NAME(name)                                                                                 \
    if (d->name != 0)                                                                              \
        snprintf(takes + strlen(takes), sizeof takes - strlen(takes), "%s%s", *takes ? ", " : "",  \
                 #name);
    MGVI_RECIPE_COUNTS(NAME)
    MGVI_RECIPE_NUMBERS(NAME)
#undef NAME
    return MGVI_FAIL(m->ctx, MGV_E_ARG, "the set %s takes no %s; it takes %s", m->set->name, name,
                     takes);
}

static mgv_status take(const mgvi_making *m, const char *name, bool given, double value, double def,
                       double *out)
{
    if (given && def == 0)
        return refuse(m, name);
    *out = given ? value : def;
    return MGV_OK;
}

static mgv_status read_recipe(mgvi_making *m, const mgv_settings *s)
{
    const mgvi_recipe *d = &m->set->defaults;
#define COUNT(name) MGVI_TRY(take(m, #name, s->name != 0, (double)s->name, d->name, &m->with.name));
    MGVI_RECIPE_COUNTS(COUNT)
#undef COUNT
#define NUMBER(name) MGVI_TRY(take(m, #name, !isnan(s->name), s->name, d->name, &m->with.name));
    MGVI_RECIPE_NUMBERS(NUMBER)
#undef NUMBER
    if (isnan(m->with.test_rows))
        m->with.test_rows = m->with.rows;
    if (!isnan(m->with.delta) && m->with.delta != 0 && !isnan(s->snr))
        return MGVI_FAIL(m->ctx, MGV_E_ARG,
                         "delta and snr both say how much noise there is; give one of them");
    if (s->flip_labels > 0 && !m->set->classes)
        return MGVI_FAIL(m->ctx, MGV_E_ARG,
                         "the set %s has no classes, so flip_labels (got %g) cannot change them",
                         m->set->name, s->flip_labels);
    return MGV_OK;
}

/* ---- for the sets ---------------------------------------------------------------------------- */

mgvi_rng mgvi_making_rng(const mgvi_making *m, mgvi_draw what)
{
    enum { SETS = 0x67656e }; /* apart from the streams of solvers with the same seed */
    return mgvi_rng_stream(m->seed, (uint64_t)SETS << 32 | (uint64_t)what);
}

mgv_status mgvi_making_table(const mgvi_making *m, int64_t rows, int64_t cols, mgv_data **out,
                             double **X, double **y)
{
    mgv_data *data;
    MGVI_TRY(mgvi_data_new(m->ctx, &data));
    *out = data; /* freed with the others when something fails */
    data->format = "generated";
    data->X = (mgvi_matrix){.layout = MGV_DENSE,
                            .dtype = MGV_F64,
                            .rows = rows,
                            .cols = cols,
                            .row_stride = cols,
                            .col_stride = 1};
    if (__builtin_mul_overflow(rows, cols, &data->X.nnz))
        return MGVI_FAIL(m->ctx, MGV_E_ARG,
                         "a set of %" PRId64 " x %" PRId64 " numbers is too large", rows, cols);
    *X = mgvi_data_array(m->ctx, data, (size_t)data->X.nnz, sizeof **X);
    data->X.val = *X;
    if (*X && y)
        *y = mgvi_data_array(m->ctx, data, (size_t)rows, sizeof **y);
    return *X && (!y || *y) ? MGV_OK : MGV_E_MEMORY;
}

mgv_status mgvi_making_labels(const mgvi_making *m, mgv_data *data, const double *y)
{
    MGVI_TRY(mgvi_data_set_labels(m->ctx, data, y, NULL, NULL));
    mgvi_data_disown(m->ctx, data, y);
    return MGV_OK;
}

mgv_status mgvi_making_truth(mgvi_making *m, const double *values, int64_t count)
{
    double *X;
    if (!m->want_truth)
        return MGV_OK;
    MGVI_TRY(mgvi_making_table(m, count, 1, &m->truth, &X, NULL));
    memcpy(X, values, (size_t)count * sizeof *X);
    return MGV_OK;
}

void mgvi_making_choose(mgvi_rng *rng, int64_t count, int64_t some, bool *chosen)
{
    for (int64_t i = 0; i < count; i++) {
        chosen[i] = mgvi_rng_uniform(rng) * (double)(count - i) < (double)some;
        some -= chosen[i];
    }
}

double mgvi_making_norm(const double *x, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static mgv_status make(mgvi_making *m, const mgv_settings *settings)
{
    MGVI_TRY(read_recipe(m, settings));
    if (m->want_truth && !m->set->truth)
        return MGVI_FAIL(m->ctx, MGV_E_UNSUPPORTED, "the set %s has no truth to write",
                         m->set->name);
    MGVI_TRY(m->set->make(m));
    MGVI_TRY(mgvi_data_flip_labels(m->ctx, m->data, settings->flip_labels, m->seed));
    MGVI_TRY(mgvi_data_check_once(m->ctx, m->data));
    if (m->test)
        MGVI_TRY(mgvi_data_check_once(m->ctx, m->test));
    return m->truth ? mgvi_data_check_once(m->ctx, m->truth) : MGV_OK;
}

mgv_status mgvi_generate(mgv_ctx *ctx, const char *name, const mgv_settings *settings,
                         mgv_data **data, mgv_data **test, mgv_data **truth)
{
    mgvi_making m = {.ctx = ctx,
                     .seed = (uint64_t)settings->seed,
                     .want_test = test != NULL,
                     .want_truth = truth != NULL};
    mgv_status st = find(ctx, name, &m.set);
    if (st == MGV_OK)
        st = make(&m, settings);
    if (st != MGV_OK) {
        mgvi_data_free(ctx, m.data);
        mgvi_data_free(ctx, m.test);
        mgvi_data_free(ctx, m.truth);
        m.data = m.test = m.truth = NULL;
    }
    *data = m.data;
    if (test)
        *test = m.test;
    if (truth)
        *truth = m.truth;
    return st;
}
