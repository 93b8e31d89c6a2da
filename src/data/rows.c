/* rows.c - rows of some classes, in place; flipped labels. */
#include "data/rows.h"

#include "base/number.h"
#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- which classes --------------------------------------------------------------------------- */

static mgv_status refuse_class(mgv_ctx *ctx, const mgv_data *data, const char *word, size_t length)
{
    char known[200] = "";
    for (int64_t c = 0; c < data->classes; c++) {
        const size_t used = strlen(known);
        if (used + strlen(data->class_text[c]) + 8 > sizeof known) {
            snprintf(known + used, sizeof known - used, ", ...");
            break;
        }
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", data->class_text[c]);
    }
    return MGVI_FAIL(ctx, MGV_E_ARG, "the data has no class '%.*s'; it has %s",
                     length < 60 ? (int)length : 60, word, known);
}

static int64_t find_class(const mgv_data *data, const char *word, size_t length)
{
    double value;
    const char *next;
    for (int64_t c = 0; c < data->classes; c++)
        if (strlen(data->class_text[c]) == length && memcmp(data->class_text[c], word, length) == 0)
            return c;
    if (data->text_labels ||
        mgvi_number_parse(word, word + length, &value, &next) != MGVI_NUMBER_OK ||
        next != word + length)
        return -1;
    return mgvi_data_class_of(data, value);
}

static mgv_status parse_classes(mgv_ctx *ctx, const mgv_data *data, const char *list, bool *wanted)
{
    for (const char *at = list;;) {
        const size_t length = strcspn(at, ",");
        const int64_t class = find_class(data, at, length);
        if (class < 0)
            return refuse_class(ctx, data, at, length);
        wanted[class] = true;
        if (!at[length])
            return MGV_OK;
        at += length + 1;
    }
}

/* ---- the matrix ------------------------------------------------------------------------------ */

/* Memory of `count` items to write to: the data's own block `from`, of which is read ahead of what
 * is written, or a new one where that is a file's. */
static void *room(mgv_ctx *ctx, mgv_data *data, const void *from, int64_t count, size_t size)
{
    for (const mgvi_owned *o = data->owned; o; o = o->next)
        if (o->memory == from && !o->mapped)
            return o->memory;
    return mgvi_data_array(ctx, data, (size_t)count, size);
}

static mgv_status keep_dense(mgv_ctx *ctx, mgv_data *data, const int64_t *rows, int64_t count)
{
    mgvi_matrix *X = &data->X;
    const size_t size = mgvi_dtype_size(X->dtype);
    const bool by_rows = X->col_stride == 1; /* else by columns: readers leave no gaps */
    const char *from = X->val;
    char *to = room(ctx, data, X->val, count * X->cols, size), *at = to;
    if (!to)
        return MGV_E_MEMORY;
    for (int64_t a = 0; a < (by_rows ? count : X->cols); a++) {
        if (by_rows) {
            memmove(at, from + (size_t)(rows[a] * X->row_stride) * size, (size_t)X->cols * size);
            at += (size_t)X->cols * size;
            continue;
        }
        for (int64_t t = 0; t < count; t++, at += size)
            memmove(at, from + (size_t)(rows[t] * X->row_stride + a * X->col_stride) * size, size);
    }
    X->val = to;
    X->row_stride = by_rows ? X->cols : 1;
    X->col_stride = by_rows ? 1 : count;
    X->nnz = count * X->cols;
    return MGV_OK;
}

/* CSR: lines are rows. */
static mgv_status keep_rows(mgv_ctx *ctx, mgv_data *data, const int64_t *rows, int64_t count)
{
    mgvi_matrix *X = &data->X;
    const size_t size = mgvi_dtype_size(X->dtype);
    int64_t nnz = 0, at = 0;
    for (int64_t t = 0; t < count; t++)
        nnz += X->ptr[rows[t] + 1] - X->ptr[rows[t]];
    char *val = room(ctx, data, X->val, nnz, size);
    int32_t *idx = val ? room(ctx, data, X->idx, nnz, sizeof *idx) : NULL;
    int64_t *ptr = idx ? room(ctx, data, X->ptr, count + 1, sizeof *ptr) : NULL;
    if (!ptr)
        return MGV_E_MEMORY;
    for (int64_t t = 0; t < count; t++) {
        const int64_t from = X->ptr[rows[t]], n = X->ptr[rows[t] + 1] - from;
        memmove(val + (size_t)at * size, (const char *)X->val + (size_t)from * size,
                (size_t)n * size);
        memmove(idx + at, X->idx + from, (size_t)n * sizeof *idx);
        ptr[t] = at; /* row t is no later than rows[t], whose end is read next at the earliest */
        at += n;
    }
    ptr[count] = at;
    X->val = val;
    X->idx = idx;
    X->ptr = ptr;
    X->nnz = nnz;
    return MGV_OK;
}

/* CSC: place[i] is the new number of row i, -1: gone. */
static mgv_status keep_in_columns(mgv_ctx *ctx, mgv_data *data, const int64_t *place)
{
    mgvi_matrix *X = &data->X;
    const size_t size = mgvi_dtype_size(X->dtype);
    int64_t nnz = 0, at = 0, first = 0;
    for (int64_t t = 0; t < X->nnz; t++)
        nnz += place[X->idx[t]] >= 0;
    char *val = room(ctx, data, X->val, nnz, size);
    int32_t *idx = val ? room(ctx, data, X->idx, nnz, sizeof *idx) : NULL;
    int64_t *ptr = idx ? room(ctx, data, X->ptr, X->cols + 1, sizeof *ptr) : NULL;
    if (!ptr)
        return MGV_E_MEMORY;
    for (int64_t j = 0; j < X->cols; j++) {
        const int64_t end = X->ptr[j + 1];
        ptr[j] = at;
        for (int64_t t = first; t < end; t++) {
            if (place[X->idx[t]] < 0)
                continue;
            memmove(val + (size_t)at * size, (const char *)X->val + (size_t)t * size, size);
            idx[at++] = (int32_t)place[X->idx[t]];
        }
        first = end;
    }
    ptr[X->cols] = at;
    X->val = val;
    X->idx = idx;
    X->ptr = ptr;
    X->nnz = nnz;
    return MGV_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* rows[t] becomes the number of the t-th row that stays, place[i] what row i becomes. */
static int64_t number_rows(const mgv_data *data, const bool *wanted, int64_t *rows, int64_t *place)
{
    int64_t count = 0;
    for (int64_t i = 0; i < data->X.rows; i++) {
        const double label = data->labels[i];
        const int64_t class = isnan(label) ? -1 : mgvi_data_class_of(data, label);
        place[i] = class >= 0 && wanted[class] ? count : -1;
        if (place[i] >= 0)
            rows[count++] = i;
    }
    return count;
}

/* Labels, weights and classes of what stays; the old ones may lie in a file. Words are numbered
 * anew. */
static mgv_status keep_labels(mgv_ctx *ctx, mgv_data *data, const bool *wanted, const int64_t *rows,
                              int64_t count)
{
    double number[MGVI_CLASSES_MAX]; /* the new label of each class */
    int64_t classes = 0;
    double *labels = mgvi_data_array(ctx, data, (size_t)count, sizeof *labels);
    double *weights = mgvi_data_array(ctx, data, (size_t)count, sizeof *weights);
    char **text = mgvi_data_array(ctx, data, (size_t)data->classes, sizeof *text);
    double *value = mgvi_data_array(ctx, data, (size_t)data->classes, sizeof *value);
    if (!labels || !weights || !text || !value)
        return MGV_E_MEMORY;
    for (int64_t c = 0; c < data->classes; c++) {
        if (!wanted[c])
            continue;
        text[classes] = data->class_text[c];
        value[classes] = number[c] = data->text_labels ? (double)classes : data->class_value[c];
        classes++;
    }
    for (int64_t t = 0; t < count; t++) {
        labels[t] = number[mgvi_data_class_of(data, data->labels[rows[t]])];
        if (data->weights)
            weights[t] = data->weights[rows[t]];
    }
    mgvi_data_disown(ctx, data, data->labels);
    data->labels = labels;
    data->weights = data->weights ? weights : NULL;
    data->class_text = text; /* the words stay where they are */
    data->class_value = value;
    data->classes = classes;
    data->gaps = false;
    return MGV_OK;
}

static mgv_status keep(mgv_ctx *ctx, mgv_data *data, const bool *wanted, int64_t *rows,
                       int64_t *place)
{
    const int64_t before = data->X.rows, count = number_rows(data, wanted, rows, place);
    MGVI_TRY(keep_labels(ctx, data, wanted, rows, count));
    MGVI_TRY(data->X.layout == MGV_DENSE ? keep_dense(ctx, data, rows, count)
             : data->X.layout == MGV_CSR ? keep_rows(ctx, data, rows, count)
                                         : keep_in_columns(ctx, data, place));
    data->X.rows = count;
    data->kept = rows;
    data->kept_of = before;
    return MGV_OK;
}

mgv_status mgvi_data_keep_classes(mgv_ctx *ctx, mgv_data *data, const char *list)
{
    if (!data->labels || data->classes == 0)
        return MGVI_FAIL(ctx, MGV_E_ARG, "classes chooses rows by their class (got %.60s), %s",
                         list,
                         data->labels ? "but the labels are too many different ones to be classes"
                                      : "but the data has no labels");
    bool *wanted = mgvi_zeros(ctx, (size_t)data->classes, sizeof *wanted);
    int64_t *place = wanted ? mgvi_alloc(ctx, (size_t)data->X.rows, sizeof *place) : NULL;
    int64_t *rows = place ? mgvi_data_array(ctx, data, (size_t)data->X.rows, sizeof *rows) : NULL;
    mgv_status st = rows ? parse_classes(ctx, data, list, wanted) : MGV_E_MEMORY;
    if (st == MGV_OK)
        st = keep(ctx, data, wanted, rows, place);
    mgvi_release(ctx, wanted);
    mgvi_release(ctx, place);
    return st;
}

/* ---- flipped labels --------------------------------------------------------------------------- */

mgv_status mgvi_data_flip_labels(mgv_ctx *ctx, mgv_data *data, double share, uint64_t seed)
{
    enum { FLIPS = 0x666c6970 }; /* apart from the streams of solvers with the same seed */
    if (!(share > 0))
        return MGV_OK;
    if (!data->labels || data->classes < 2)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "flip_labels (got %g) gives rows the label of another class, but the data "
                         "has %s",
                         share, data->labels ? "no two classes" : "no labels");
    mgvi_rng rng = mgvi_rng_stream(seed, (uint64_t)FLIPS << 32);
    double *labels = mgvi_data_array(ctx, data, (size_t)data->X.rows, sizeof *labels);
    if (!labels)
        return MGV_E_MEMORY;
    int64_t left = 0, some;
    for (int64_t i = 0; i < data->X.rows; i++)
        left += !isnan(data->labels[i]);
    some = (int64_t)(share * (double)left + 0.5);
    for (int64_t i = 0; i < data->X.rows; i++) {
        labels[i] = data->labels[i];
        if (isnan(labels[i]))
            continue;
        const bool flipped = mgvi_rng_uniform(&rng) * (double)left-- < (double)some;
        some -= flipped;
        if (!flipped)
            continue;
        const int64_t own = mgvi_data_class_of(data, labels[i]);
        const int64_t step = 1 + mgvi_rng_below(&rng, (uint32_t)(data->classes - 1));
        labels[i] = data->class_value[(own + step) % data->classes];
    }
    mgvi_data_disown(ctx, data, data->labels);
    data->labels = labels;
    return MGV_OK;
}
