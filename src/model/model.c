/* model.c - makes, saves and loads models. */
#include "model/model.h"
#include "base/print.h"

#include "io/io.h"
#include "problem/member.h"
#include "solver/classes/family.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ---------------------------------------------------------------------------------- */

static mgv_status empty_model(mgv_ctx *ctx, int64_t outputs, int64_t features, mgv_model **out)
{
    *out = NULL;
    mgv_model *m = mgvi_new(ctx, sizeof *m);
    if (!m)
        return MGV_E_MEMORY;
    m->ctx = ctx;
    mgvi_arena_init(&m->arena, ctx);
    m->features = features;
    m->outputs = outputs;
    m->support = -1;
    m->intercept = mgvi_arena_array(&m->arena, (size_t)outputs, sizeof *m->intercept);
    m->norm = mgvi_arena_array(&m->arena, (size_t)outputs, sizeof *m->norm);
    if (!m->intercept || !m->norm) {
        mgvi_model_free(m);
        return MGV_E_MEMORY;
    }
    *out = m;
    return MGV_OK;
}

void mgvi_model_free(mgv_model *model)
{
    if (!model)
        return;
    mgvi_arena_free(&model->arena);
    mgvi_release(model->ctx, model);
}

static char *arena_text(mgvi_arena *arena, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = mgvi_arena_array(arena, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

static mgv_status allocate_classes(mgv_model *m, int64_t count)
{
    m->classes = count;
    MGVI_TRY(MGVI_ARRAY(&m->arena, m->class_text, count));
    MGVI_TRY(MGVI_ARRAY(&m->arena, m->class_value, count));
    return MGV_OK;
}

static mgv_status copy_classes(mgv_model *m, const mgv_data *data)
{
    MGVI_TRY(allocate_classes(m, data->classes));
    for (int64_t c = 0; c < data->classes; c++) {
        m->class_text[c] = arena_text(&m->arena, data->class_text[c]);
        m->class_value[c] = data->text_labels ? NAN : data->class_value[c];
        if (!m->class_text[c])
            return MGV_E_MEMORY;
    }
    return MGV_OK;
}

static void measure(mgv_model *m)
{
    for (int64_t k = 0; k < m->outputs; k++)
        m->norm[k] = mgvi_lp_norm(m->coef + k * m->features, m->features, m->p);
}

/* w: of a run that is no family */
static mgv_status copy_weights(mgv_model *m, const mgv_solver *solver, const double *w)
{
    const mgvi_family *f = solver->family;
    const mgv_problem *p = solver->run.problem;
    const int64_t each = mgvi_problem_coefs(p);
    m->coef = mgvi_arena_array(&m->arena, (size_t)each, (size_t)m->outputs * sizeof *m->coef);
    if (!m->coef)
        return MGV_E_MEMORY;
    if (f) {
        memcpy(m->coef, f->coef, (size_t)(m->outputs * each) * sizeof *m->coef);
        memcpy(m->intercept, f->intercept, (size_t)m->outputs * sizeof *m->intercept);
    } else {
        mgvi_problem_user_weights(p, w, m->coef, m->intercept);
    }
    m->kernel = p->kernel;
    if (m->kernel.kind == MGVI_KERNEL_LINEAR) {
        measure(m);
        return MGV_OK;
    }
    for (int64_t k = 0; k < m->outputs && f; k++)
        m->norm[k] = f->length[k];
    if (!f && mgvi_problem_has_contrasts(p))
        mgvi_contrast_lengths(mgvi_contrast_of(p->A), w, m->norm);
    for (int64_t k = 0; k < m->outputs && !f && !mgvi_problem_has_contrasts(p); k++) {
        const mgvi_vec one = mgvi_vec_wrap(m->coef + k * each, each, MGVI_COLS);
        m->norm[k] = mgvi_op_length(p->A, &one);
    }
    return m->kernel.kind == MGVI_KERNEL_PRECOMPUTED ? MGV_OK
                                                     : mgvi_model_take_support(m, p, m->coef);
}

/* The model of w, which says nothing yet about where it comes from. */
static mgv_status model_of(mgv_ctx *ctx, const mgv_solver *solver, const double *w, mgv_model **out)
{
    const mgv_problem *p = solver->run.problem;
    mgv_status st = MGV_OK;
    mgv_model *m;
    *out = NULL;
    MGVI_TRY(empty_model(ctx, mgvi_model_outputs(p), p->data->X.cols, &m));
    m->p = isnan(p->p) ? 2 : p->p;
    MGVI_CHECK(st, done, copy_weights(m, solver, w));
    m->classify = p->classify;
    m->row_norm = p->scaling == MGVI_SCALE_ROWNORM;
    m->pairwise = p->pairwise;
    m->link = mgvi_model_link(p);
    if (p->classify)
        MGVI_CHECK(st, done, copy_classes(m, p->data));
    MGVI_CHECK(st, done, mgvi_model_take_columns(m, p->data));
    *out = m;
    m = NULL;
done:
    mgvi_model_free(m);
    return st;
}

mgv_status mgvi_model_new(mgv_ctx *ctx, const mgv_solver *solver, mgv_model **out)
{
    mgv_status st = MGV_OK;
    mgv_model *m;
    *out = NULL;
    MGVI_TRY(model_of(ctx, solver, solver->answer.w.x, &m));
    MGVI_CHECK(st, done, mgvi_about_write(&m->arena, solver, &m->metadata));
    MGVI_CHECK(st, done, mgvi_about_read(&m->arena, m->metadata, &m->about));
    MGVI_CHECK(st, done, mgvi_model_path_copy(&m->arena, solver->selection, &m->path));
    *out = m;
    m = NULL;
done:
    mgvi_model_free(m);
    return st;
}

mgv_status mgvi_model_of_iterate(mgv_ctx *ctx, const mgv_solver *solver, const double *w,
                                 mgv_model **out)
{
    mgv_model *m;
    *out = NULL;
    MGVI_TRY(model_of(ctx, solver, w, &m));
    m->metadata = arena_text(&m->arena, "{}");
    const mgv_status st =
        m->metadata ? mgvi_about_read(&m->arena, m->metadata, &m->about) : MGV_E_MEMORY;
    if (st == MGV_OK)
        *out = m;
    else
        mgvi_model_free(m);
    return st;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* One class per line, backslash and newline escaped. */
static char *classes_text(const mgv_model *m)
{
    size_t size = 1;
    for (int64_t c = 0; c < m->classes; c++)
        size += 2 * strlen(m->class_text[c]) + 1;
    char *text = mgvi_alloc(m->ctx, size, 1), *at = text;
    if (!text)
        return NULL;
    for (int64_t c = 0; c < m->classes; c++) {
        for (const char *s = m->class_text[c]; *s; s++) {
            if (*s == '\\' || *s == '\n')
                *at++ = '\\';
            *at++ = *s == '\n' ? 'n' : *s;
        }
        *at++ = '\n';
    }
    *at = 0;
    return text;
}

/* The metadata, and everything into the file. */
static mgv_status write_model(mgv_ctx *ctx, const mgv_model *m, const char *path,
                              const mgvi_tensor *tensors, int count, const char *classes)
{
    char norm[32], sigma2[32], offset[32], degree[16], features[24], label_at[24], first[16];
    mgvi_print(norm, sizeof norm, "%.17g", m->p);
    mgvi_print(sigma2, sizeof sigma2, "%.17g", m->kernel.sigma2);
    mgvi_print(offset, sizeof offset, "%.17g", m->kernel.offset);
    snprintf(degree, sizeof degree, "%d", m->kernel.degree);
    snprintf(features, sizeof features, "%" PRId64, m->features);
    snprintf(label_at, sizeof label_at, "%" PRId64, m->columns.label_at);
    snprintf(first, sizeof first, "%d", m->columns.first_index);
    const mgvi_meta meta[] = {{"format", "margrave model"},
                              {"format_version", "1"},
                              {"task", m->classify ? "classify" : "regress"},
                              {"classes", classes},
                              {"row_norm", m->row_norm ? "yes" : "no"},
                              {"p", norm},
                              {"multiclass", m->pairwise ? "ovo" : "scores"},
                              {"link", mgvi_link_name(m->link)},
                              {"model", m->metadata},
                              {"data_format", m->format},
                              {"label_at", label_at},
                              {"first_index", first},
                              {"kernel", mgvi_kernel_name(m->kernel.kind)},
                              {"features", features},
                              {"sigma2", sigma2},
                              {"offset", offset},
                              {"degree", degree},
                              {"origin", mgvi_origin_name(m->kernel.origin)}};
    /* The last five only where there are support vectors. */
    const int said = (int)(sizeof meta / sizeof *meta) - (m->support < 0 ? 5 : 0);
    return mgvi_tensors_write(ctx, path, tensors, count, meta, said);
}

mgv_status mgvi_model_save(mgv_ctx *ctx, const mgv_model *m, const char *path)
{
    char *classes = classes_text(m);
    if (!classes)
        return MGV_E_MEMORY;
    mgvi_tensor tensors[3 + MGVI_PATH_TENSORS + MGVI_MODEL_KERNEL_TENSORS +
                        MGVI_MODEL_COLUMN_TENSORS + MGVI_MODEL_PAIR_TENSORS] = {
        {"coef", MGVI_T_F64, 2, {m->outputs, mgvi_model_width(m)}, m->coef},
        {"intercept", MGVI_T_F64, 1, {m->outputs}, m->intercept},
        {"class_values", MGVI_T_F64, 1, {m->classes}, m->class_value}};
    int count = m->classify ? 3 : 2;
    if (m->path.count > 0) {
        mgvi_model_path_tensors(&m->path, tensors + count);
        count += MGVI_PATH_TENSORS;
    }
    if (m->support >= 0)
        strcpy(tensors[0].name, "dual_coef");
    if (m->kernel.kind != MGVI_KERNEL_LINEAR)
        count += mgvi_model_kernel_tensors(m, tensors + count);
    count += mgvi_model_pair_tensors(m, tensors + count);
    char *names = NULL;
    mgv_status st = mgvi_model_column_tensors(m, tensors, &count, &names);
    if (st == MGV_OK)
        st = write_model(ctx, m, path, tensors, count, classes);
    mgvi_release(ctx, names);
    mgvi_release(ctx, classes);
    return st;
}

static mgv_status parse_classes(mgv_model *m, const char *path, const char *text,
                                const mgvi_tensors *file)
{
    int64_t count = 0;
    for (const char *s = text; *s; s++)
        count += *s == '\n';
    const int64_t outputs = m->pairwise ? mgvi_class_pairs(count) : count;
    if (count < 2 || (m->outputs != outputs && !(count == 2 && m->outputs == 1)))
        return MGVI_FAIL(m->ctx, MGV_E_INPUT,
                         "%s: %" PRId64 " rows of weights do not fit %" PRId64 " classes", path,
                         m->outputs, count);
    MGVI_TRY(allocate_classes(m, count));
    const void *values;
    MGVI_TRY(mgvi_tensors_need(m->ctx, file, "class_values", MGVI_T_F64, 1, count, -1, &values));
    memcpy(m->class_value, values, (size_t)count * sizeof *m->class_value);
    for (int64_t c = 0; c < count; c++) {
        const size_t length = strcspn(text, "\n");
        char *at = m->class_text[c] = mgvi_arena_array(&m->arena, length + 1, 1);
        if (!at)
            return MGV_E_MEMORY;
        for (size_t i = 0; i < length; i++) {
            const bool escape = text[i] == '\\' && i + 1 < length;
            i += escape;
            *at++ = escape && text[i] == 'n' ? '\n' : text[i];
        }
        text += length + 1;
    }
    return MGV_OK;
}

static mgv_status parse_numbers(mgv_model *m, const char *path, const double *coef,
                                const double *intercept)
{
    const int64_t count = m->outputs * mgvi_model_width(m);
    MGVI_TRY(MGVI_ARRAY(&m->arena, m->coef, count));
    memcpy(m->coef, coef, (size_t)count * sizeof *coef);
    memcpy(m->intercept, intercept, (size_t)m->outputs * sizeof *intercept);
    if (m->kernel.kind == MGVI_KERNEL_LINEAR)
        measure(m);
    for (int64_t j = 0; j < count; j++)
        if (!isfinite(m->coef[j]))
            return MGVI_FAIL(m->ctx, MGV_E_INPUT, "%s: coefficient %" PRId64 " is %g", path, j,
                             m->coef[j]);
    for (int64_t k = 0; k < m->outputs; k++)
        if (!isfinite(m->intercept[k]))
            return MGVI_FAIL(m->ctx, MGV_E_INPUT, "%s: the intercept is %g", path, m->intercept[k]);
    return MGV_OK;
}

static const char *meta_or_empty(const mgvi_tensors *file, const char *key)
{
    const char *text = mgvi_tensors_meta(file, key);
    return text ? text : "";
}

/* Models written before there were other norms do not say. */
static mgv_status parse_norm(mgv_model *m, const char *path, const char *text)
{
    m->p = strcmp(text, "inf") == 0 ? INFINITY : 2;
    if (*text && !isinf(m->p) && (!mgvi_parse_real(text, &m->p) || !(m->p >= 1 && m->p <= 2)))
        return MGVI_FAIL(m->ctx, MGV_E_INPUT, "%s: the norm is '%.20s'", path, text);
    return MGV_OK;
}

/* Models written before there were kernels do not say. With support vectors the features are told
 * apart from their number. */
static mgv_status parse_shape(mgv_ctx *ctx, const char *path, const mgvi_tensors *file,
                              mgv_model **out, const void **coef)
{
    const char *name = meta_or_empty(file, "kernel");
    mgvi_kernel_kind kind = MGVI_KERNEL_LINEAR;
    if (*name && !mgvi_kernel_find(name, &kind))
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: kernel '%.20s' is not known here", path, name);
    const bool support = kind != MGVI_KERNEL_LINEAR && kind != MGVI_KERNEL_PRECOMPUTED;
    const char *tensor = support ? "dual_coef" : "coef";
    MGVI_TRY(mgvi_tensors_need(ctx, file, tensor, MGVI_T_F64, 2, -1, -1, coef));
    const int64_t *shape = mgvi_tensors_find(file, tensor)->shape;
    int64_t features = shape[1];
    if (shape[0] < 1 || shape[0] > MGVI_CLASSES_MAX)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: %s has %" PRId64 " rows", path, tensor, shape[0]);
    const char *said = meta_or_empty(file, "features");
    if (support && (!mgvi_parse_int(said, &features) || features < 1 || features > INT32_MAX))
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: the model has '%.20s' features", path, said);
    MGVI_TRY(empty_model(ctx, shape[0], features, out));
    (*out)->kernel.kind = kind;
    (*out)->support = support ? shape[1] : -1;
    return MGV_OK;
}

static mgv_status parse_model(mgv_ctx *ctx, const char *path, const mgvi_tensors *file,
                              mgv_model **out)
{
    mgv_status st = MGV_OK;
    mgv_model *m = NULL;
    const void *coef, *intercept;
    if (mgvi_tensors_meta_is(file, "format", "margrave completion"))
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: this is a completion, which predicts pairs", path);
    if (!mgvi_tensors_meta_is(file, "format", "margrave model"))
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: this is not a margrave model", path);
    if (!mgvi_tensors_meta_is(file, "format_version", "1"))
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: model format version '%.20s' is not known here",
                         path, meta_or_empty(file, "format_version"));
    MGVI_TRY(parse_shape(ctx, path, file, &m, &coef));
    MGVI_CHECK(
        st, done,
        mgvi_tensors_need(ctx, file, "intercept", MGVI_T_F64, 1, m->outputs, -1, &intercept));
    MGVI_CHECK(st, done, parse_norm(m, path, meta_or_empty(file, "p")));
    MGVI_CHECK(st, done, parse_numbers(m, path, coef, intercept));
    if (m->kernel.kind != MGVI_KERNEL_LINEAR)
        MGVI_CHECK(st, done, mgvi_model_parse_kernel(m, path, file));
    m->classify = mgvi_tensors_meta_is(file, "task", "classify");
    m->row_norm = mgvi_tensors_meta_is(file, "row_norm", "yes");
    m->pairwise = mgvi_tensors_meta_is(file, "multiclass", "ovo");
    if (m->classify && !m->pairwise)
        m->link = mgvi_link_named(meta_or_empty(file, "link"));
    if (m->classify)
        MGVI_CHECK(st, done, parse_classes(m, path, meta_or_empty(file, "classes"), file));
    else if (m->outputs != 1)
        MGVI_CHECK(st, done,
                   MGVI_FAIL(ctx, MGV_E_INPUT, "%s: %" PRId64 " rows of weights for one quantity",
                             path, m->outputs));
    MGVI_CHECK(st, done, mgvi_model_parse_columns(m, path, file));
    MGVI_CHECK(st, done, mgvi_model_parse_pair(m, path, file));
    MGVI_CHECK(st, done,
               mgvi_model_path_parse(&m->arena, path, file, m->outputs, m->features, &m->path));
    m->metadata = arena_text(&m->arena, meta_or_empty(file, "model"));
    st = m->metadata ? mgvi_about_read(&m->arena, m->metadata, &m->about) : MGV_E_MEMORY;
done:
    if (st != MGV_OK) {
        mgvi_model_free(m);
        m = NULL;
    }
    *out = m;
    return st;
}

mgv_status mgvi_model_parse(mgv_ctx *ctx, const char *path, const void *bytes, size_t size,
                            mgv_model **out)
{
    mgvi_tensors *file;
    *out = NULL;
    MGVI_TRY(mgvi_tensors_parse(ctx, path, bytes, size, &file));
    const mgv_status st = parse_model(ctx, path, file, out);
    mgvi_tensors_free(ctx, file);
    return st;
}

mgv_status mgvi_model_load(mgv_ctx *ctx, const char *path, mgv_model **out)
{
    mgvi_source source;
    *out = NULL;
    MGVI_TRY(mgvi_source_open(ctx, path, NULL, &source));
    const mgv_status st = mgvi_model_parse(ctx, path, source.bytes, source.size, out);
    mgvi_source_close(ctx, &source);
    return st;
}
