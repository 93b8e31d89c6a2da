/* columns.c - the columns of the training data: kept with the model, and looked for in the data
 * that is to be predicted. */
#include "model/model.h"

#include "io/io.h"

#include <stdlib.h>
#include <string.h>

static char *arena_copy(mgvi_arena *arena, const char *text, size_t size)
{
    char *copy = mgvi_arena_array(arena, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* Copies of the texts in one block. */
static mgv_status copy_texts(mgvi_arena *arena, char *const *texts, int64_t count, char ***out)
{
    size_t bytes = 0;
    for (int64_t k = 0; k < count; k++)
        bytes += strlen(texts[k]) + 1;
    char **copies = mgvi_arena_array(arena, (size_t)count, sizeof *copies);
    char *at = mgvi_arena_array(arena, bytes, 1);
    if (!copies || !at)
        return MGV_E_MEMORY;
    for (int64_t k = 0; k < count; k++) {
        copies[k] = at;
        at = stpcpy(at, texts[k]) + 1;
    }
    *out = copies;
    return MGV_OK;
}

static mgv_status copy_label(mgv_model *m, const char *label)
{
    m->columns.label = arena_copy(&m->arena, label, strlen(label) + 1);
    return m->columns.label ? MGV_OK : MGV_E_MEMORY;
}

static mgv_status copy_format(mgv_model *m, const char *format)
{
    m->format = arena_copy(&m->arena, format, strlen(format) + 1);
    return m->format ? MGV_OK : MGV_E_MEMORY;
}

mgv_status mgvi_model_take_columns(mgv_model *m, const mgv_data *data)
{
    m->columns = mgvi_data_columns(data);
    if (data->names)
        MGVI_TRY(copy_texts(&m->arena, data->names, data->X.cols, &m->columns.names));
    if (data->label_name)
        MGVI_TRY(copy_label(m, data->label_name));
    return copy_format(m, data->format ? data->format : "");
}

mgv_status mgvi_model_column_tensors(const mgv_model *m, mgvi_tensor *out, int *count,
                                     char **joined)
{
    const mgvi_column_names *c = &m->columns;
    int64_t bytes;
    *joined = NULL;
    if (c->names) {
        *joined = mgvi_texts_join(m->ctx, c->names, c->count, &bytes);
        if (!*joined)
            return MGV_E_MEMORY;
        out[(*count)++] = (mgvi_tensor){"names", MGVI_T_U8, 1, {bytes}, *joined};
    }
    if (c->label)
        out[(*count)++] =
            (mgvi_tensor){"label_name", MGVI_T_U8, 1, {(int64_t)strlen(c->label) + 1}, c->label};
    return MGV_OK;
}

/* A whole number from -1 to `high` in the metadata; -1 where it is missing. */
static mgv_status parse_number(mgv_model *m, const char *path, const mgvi_tensors *file,
                               const char *key, int64_t high, int64_t *out)
{
    const char *text = mgvi_tensors_meta(file, key);
    *out = -1;
    if (text && (!mgvi_parse_int(text, out) || *out < -1 || *out > high))
        return MGVI_FAIL(m->ctx, MGV_E_INPUT, "%s: the model says %s = '%.20s'", path, key, text);
    return MGV_OK;
}

static mgv_status parse_names(mgv_model *m, const mgvi_tensors *file)
{
    const int64_t count = m->features;
    if (!mgvi_tensors_find(file, "names"))
        return MGV_OK;
    MGVI_TRY(mgvi_tensors_texts(m->ctx, file, "names", count, NULL));
    char **texts = mgvi_alloc(m->ctx, (size_t)count, sizeof *texts);
    if (!texts)
        return MGV_E_MEMORY;
    mgv_status st = mgvi_tensors_texts(m->ctx, file, "names", count, texts);
    if (st == MGV_OK)
        st = copy_texts(&m->arena, texts, count, &m->columns.names);
    mgvi_release(m->ctx, texts);
    return st;
}

mgv_status mgvi_model_parse_columns(mgv_model *m, const char *path, const mgvi_tensors *file)
{
    char *label = NULL;
    int64_t first_index;
    const char *format = mgvi_tensors_meta(file, "data_format");
    m->columns.count = m->features;
    MGVI_TRY(parse_number(m, path, file, "label_at", m->features, &m->columns.label_at));
    MGVI_TRY(parse_number(m, path, file, "first_index", 1, &first_index));
    m->columns.first_index = (int)first_index;
    MGVI_TRY(parse_names(m, file));
    if (mgvi_tensors_find(file, "label_name")) {
        MGVI_TRY(mgvi_tensors_texts(m->ctx, file, "label_name", 1, &label));
        MGVI_TRY(copy_label(m, label));
    }
    return copy_format(m, format ? format : "");
}

/* ---- other data ------------------------------------------------------------------------------ */

mgv_status mgvi_model_read(mgv_ctx *ctx, const mgv_model *m, const char *path,
                           const mgv_settings *settings, mgv_data **out)
{
    mgv_settings reading = *settings;
    if (reading.features == m->features) /* what the model says anyway: others are left out */
        reading.features = 0;
    return mgvi_read_for(ctx, path, &reading, &m->columns, out);
}

mgv_status mgvi_model_check_columns(mgv_ctx *ctx, const mgv_model *m, const mgv_data *data)
{
    const mgvi_matrix *X = &data->X;
    char *const *own = m->columns.names, *const *names = data->names;
    const int64_t both = X->cols < m->features ? X->cols : m->features;
    if (X->layout == MGV_DENSE && !data->was_sparse && X->cols != m->features)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "the data has %" PRId64 " features, the model knows %" PRId64, X->cols,
                         m->features);
    for (int64_t j = 0; own && names && j < both; j++)
        if (own[j] != names[j] && strcmp(own[j], names[j]) != 0)
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "column %" PRId64 " of the data is '%.40s' where the model knows "
                             "'%.40s': put the columns in the model's order",
                             j + 1, names[j], own[j]);
    return MGV_OK;
}
