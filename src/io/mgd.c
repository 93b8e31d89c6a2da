/* mgd.c - our cache: a safetensors file whose arrays are used where they are mapped. Opening costs
 * the header alone; the arrays are checked at first use (mgvi_data_check_once).
 *   dense    X: rows x cols, or cols x rows when the layout is dense_columns
 *   csr csc  values, indices (I32), indptr (I64)
 *   labels (F64), class_values (F64, increasing), class_texts (each ended by NUL), weights (F64),
 *   names (each ended by NUL), label_name (NUL); metadata: format, version, layout, rows, cols,
 *   text_labels, stored_zeros, label_at, first_index, was_sparse */
#include "data/tensors.h"
#include "io/dense.h"
#include "io/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char format_name[] = "margrave data";
enum { VERSION = 1 };

typedef enum order { DENSE, DENSE_COLUMNS, CSR, CSC, ORDERS } order;
static const char *const order_names[ORDERS] = {"dense", "dense_columns", "csr", "csc"};

/* ---- Reading -------------------------------------------------------------------------------- */

typedef struct cache {
    mgv_ctx *ctx;
    const char *path;
    mgvi_tensors *tensors;
    mgv_data *data;
} cache;

static mgv_status meta_int(const cache *c, const char *key, int64_t high, int64_t *out)
{
    const char *text = mgvi_tensors_meta(c->tensors, key);
    if (!text || !mgvi_parse_int(text, out) || *out < 0 || *out > high)
        return MGVI_FAIL(c->ctx, MGV_E_INPUT, "%s: the cache says %s = '%.40s'", c->path, key,
                         text ? text : "");
    return MGV_OK;
}

static mgv_status check_format(const cache *c)
{
    int64_t version;
    const char *format = mgvi_tensors_meta(c->tensors, "format");
    if (!format || strcmp(format, format_name) != 0)
        return MGVI_FAIL(c->ctx, MGV_E_INPUT,
                         "%s: is a safetensors file but not a data cache (format '%.40s')", c->path,
                         format ? format : "");
    MGVI_TRY(meta_int(c, "version", INT64_MAX, &version));
    if (version != VERSION)
        return MGVI_FAIL(c->ctx, MGV_E_INPUT,
                         "%s: has cache version %" PRId64
                         "; this program reads %d: convert the original file again",
                         c->path, version, VERSION);
    return MGV_OK;
}

/* The array `name`, float32 or float64, whichever is there. */
static mgv_status need_values(const cache *c, const char *name, int rank, int64_t rows,
                              int64_t cols)
{
    mgvi_matrix *X = &c->data->X;
    const mgvi_tensor *t = mgvi_tensors_find(c->tensors, name);
    X->dtype = t && t->type == MGVI_T_F32 ? MGV_F32 : MGV_F64;
    return mgvi_tensors_need(c->ctx, c->tensors, name,
                             X->dtype == MGV_F32 ? MGVI_T_F32 : MGVI_T_F64, rank, rows, cols,
                             &X->val);
}

static mgv_status read_matrix(const cache *c)
{
    mgvi_matrix *X = &c->data->X;
    const char *layout = mgvi_tensors_meta(c->tensors, "layout");
    int k = 0;
    while (layout && k < ORDERS && strcmp(layout, order_names[k]) != 0)
        k++;
    if (!layout || k == ORDERS)
        return MGVI_FAIL(c->ctx, MGV_E_INPUT, "%s: the cache says layout = '%.40s'", c->path,
                         layout ? layout : "");
    MGVI_TRY(meta_int(c, "rows", k == CSC ? INT32_MAX : INT64_MAX - 1, &X->rows));
    MGVI_TRY(meta_int(c, "cols", INT32_MAX, &X->cols));
    if (k == DENSE || k == DENSE_COLUMNS) {
        X->layout = MGV_DENSE;
        X->row_stride = k == DENSE ? X->cols : 1;
        X->col_stride = k == DENSE ? 1 : X->rows;
        MGVI_TRY(
            need_values(c, "X", 2, k == DENSE ? X->rows : X->cols, k == DENSE ? X->cols : X->rows));
        X->nnz = X->rows * X->cols;
        return MGV_OK;
    }
    X->layout = k == CSR ? MGV_CSR : MGV_CSC;
    MGVI_TRY(need_values(c, "values", 1, -1, 0));
    X->nnz = mgvi_tensors_find(c->tensors, "values")->shape[0];
    MGVI_TRY(mgvi_tensors_need(c->ctx, c->tensors, "indices", MGVI_T_I32, 1, X->nnz, 0,
                               (const void **)&X->idx));
    return mgvi_tensors_need(c->ctx, c->tensors, "indptr", MGVI_T_I64, 1,
                             1 + (k == CSR ? X->rows : X->cols), 0, (const void **)&X->ptr);
}

/* `count` texts, each ended by NUL, as pointers into the file. NULL when there are none. */
static mgv_status read_texts(const cache *c, const char *name, int64_t count, char ***out)
{
    if (!mgvi_tensors_find(c->tensors, name))
        return MGV_OK;
    MGVI_TRY(mgvi_tensors_texts(c->ctx, c->tensors, name, count, NULL));
    char **texts = mgvi_data_array(c->ctx, c->data, (size_t)count, sizeof *texts);
    if (!texts)
        return MGV_E_MEMORY;
    MGVI_TRY(mgvi_tensors_texts(c->ctx, c->tensors, name, count, texts));
    *out = texts;
    return MGV_OK;
}

/* An array of float64 with `count` elements (-1: any), or NULL when it is absent. */
static mgv_status read_reals(const cache *c, const char *name, int64_t count, double **out)
{
    const void *values = NULL;
    if (mgvi_tensors_find(c->tensors, name))
        MGVI_TRY(mgvi_tensors_need(c->ctx, c->tensors, name, MGVI_T_F64, 1, count, 0, &values));
    *out = (double *)(uintptr_t)values;
    return MGV_OK;
}

static mgv_status read_labels(const cache *c)
{
    mgv_data *d = c->data;
    int64_t text_labels = 0;
    MGVI_TRY(read_reals(c, "labels", d->X.rows, &d->labels));
    if (!d->labels)
        return MGV_OK;
    MGVI_TRY(read_reals(c, "class_values", -1, &d->class_value));
    MGVI_TRY(meta_int(c, "text_labels", 1, &text_labels));
    d->text_labels = text_labels;
    if (!d->class_value && !text_labels)
        return MGV_OK; /* a regression target */
    d->classes = d->class_value ? mgvi_tensors_find(c->tensors, "class_values")->shape[0] : 0;
    if (d->classes > MGVI_CLASSES_MAX || (text_labels && d->classes == 0))
        return MGVI_FAIL(c->ctx, MGV_E_INPUT, "%s: the cache has %" PRId64 " classes", c->path,
                         d->classes);
    for (int64_t k = 0; k < d->classes; k++)
        if (text_labels ? d->class_value[k] != (double)k
                        : k && !(d->class_value[k] > d->class_value[k - 1]))
            return MGVI_FAIL(c->ctx, MGV_E_INPUT, "%s: class %" PRId64 " has the value %g", c->path,
                             k, d->class_value[k]);
    MGVI_TRY(read_texts(c, "class_texts", d->classes, &d->class_text));
    if (!d->class_text)
        return MGVI_FAIL(c->ctx, MGV_E_INPUT, "%s: there is no array 'class_texts'", c->path);
    return MGV_OK;
}

/* How the columns were known in the file the cache was made from; caches made before do not say. */
static mgv_status read_columns(const cache *c)
{
    mgv_data *d = c->data;
    char **label = NULL;
    int64_t number;
    MGVI_TRY(read_texts(c, "names", d->X.cols, &d->names));
    MGVI_TRY(read_texts(c, "label_name", 1, &label));
    d->label_name = label ? label[0] : NULL;
    if (mgvi_tensors_meta(c->tensors, "label_at"))
        MGVI_TRY(meta_int(c, "label_at", INT32_MAX, &d->label_at));
    if (mgvi_tensors_meta(c->tensors, "first_index")) {
        MGVI_TRY(meta_int(c, "first_index", 1, &number));
        d->first_index = (int)number;
    }
    d->was_sparse = mgvi_tensors_meta(c->tensors, "was_sparse") != NULL;
    return MGV_OK;
}

static mgv_status read_cache(const cache *c)
{
    MGVI_TRY(check_format(c));
    MGVI_TRY(read_matrix(c));
    MGVI_TRY(read_labels(c));
    MGVI_TRY(read_reals(c, "weights", c->data->X.rows, &c->data->weights));
    MGVI_TRY(read_columns(c));
    return meta_int(c, "stored_zeros", INT64_MAX, &c->data->stored_zeros);
}

static int probe(const mgvi_source *source)
{
    uint64_t header;
    if (source->size < 10)
        return 0;
    memcpy(&header, source->bytes, sizeof header);
    if (header > source->size - sizeof header || source->bytes[8] != '{')
        return 0;
    const size_t start = header < 128 ? (size_t)header : 128;
    return memmem(source->bytes + 8, start, format_name, sizeof format_name - 1) ? 100 : 50;
}

static mgv_status read_mgd(mgv_ctx *ctx, mgvi_source *source, mgv_data *data)
{
    cache c = {.ctx = ctx, .path = source->path, .data = data};
    MGVI_TRY(mgvi_tensors_parse(ctx, source->path, source->bytes, source->size, &c.tensors));
    const mgv_status st = read_cache(&c);
    mgvi_tensors_free(ctx, c.tensors);
    if (st != MGV_OK)
        return st;
    void *bytes = (void *)(uintptr_t)source->bytes;
    source->bytes = NULL; /* handed over */
    return mgvi_data_own(ctx, data, bytes, source->mapped);
}

const mgvi_reader mgvi_reader_mgd = {
    .name = "mgd",
    .summary = "our mapped cache (safetensors layout): opens at once, arrays used in place",
    .extensions = ".mgd",
    .probe = probe,
    .read = read_mgd,
};

/* ---- Writing -------------------------------------------------------------------------------- */

enum { MOST_TENSORS = 9 };

typedef struct draft {
    mgv_ctx *ctx;
    mgvi_tensor tensors[MOST_TENSORS];
    int count;
} draft;

static void add(draft *d, const char *name, mgvi_tensor_type type, int rank, int64_t rows,
                int64_t cols, const void *values)
{
    mgvi_tensor *t = &d->tensors[d->count++];
    *t = (mgvi_tensor){.type = type, .rank = rank, .shape = {rows, cols}, .data = values};
    snprintf(t->name, sizeof t->name, "%s", name);
}

/* Joins texts, each with its NUL; *block is the caller's. */
static mgv_status add_texts(draft *d, const char *name, char *const *texts, int64_t count,
                            char **block)
{
    int64_t bytes;
    *block = mgvi_texts_join(d->ctx, texts, count, &bytes);
    if (!*block)
        return MGV_E_MEMORY;
    add(d, name, MGVI_T_U8, 1, bytes, 0, *block);
    return MGV_OK;
}

static order add_matrix(draft *d, const mgvi_matrix *X, const mgvi_dense *dense)
{
    const mgvi_tensor_type type = X->dtype == MGV_F32 ? MGVI_T_F32 : MGVI_T_F64;
    if (X->layout == MGV_DENSE) {
        add(d, "X", type, 2, dense->fortran ? X->cols : X->rows, dense->fortran ? X->rows : X->cols,
            dense->val);
        return dense->fortran ? DENSE_COLUMNS : DENSE;
    }
    add(d, "values", type, 1, X->nnz, 0, X->val);
    add(d, "indices", MGVI_T_I32, 1, X->nnz, 0, X->idx);
    add(d, "indptr", MGVI_T_I64, 1, 1 + (X->layout == MGV_CSR ? X->rows : X->cols), 0, X->ptr);
    return X->layout == MGV_CSR ? CSR : CSC;
}

static mgv_status write_draft(draft *d, const mgv_data *data, order layout, const char *path)
{
    char rows[24], cols[24], version[24], zeros[24], label_at[24];
    snprintf(version, sizeof version, "%d", VERSION);
    snprintf(rows, sizeof rows, "%" PRId64, data->X.rows);
    snprintf(cols, sizeof cols, "%" PRId64, data->X.cols);
    snprintf(zeros, sizeof zeros, "%" PRId64, data->stored_zeros);
    snprintf(label_at, sizeof label_at, "%" PRId64, data->label_at);
    enum { ALWAYS = 7, MOST = 10 };
    int count = ALWAYS;
    mgvi_meta meta[MOST] = {{"format", format_name},
                            {"version", version},
                            {"layout", order_names[layout]},
                            {"rows", rows},
                            {"cols", cols},
                            {"text_labels", data->text_labels ? "1" : "0"},
                            {"stored_zeros", zeros}};
    if (data->label_at >= 0)
        meta[count++] = (mgvi_meta){"label_at", label_at};
    if (data->first_index >= 0)
        meta[count++] = (mgvi_meta){"first_index", data->first_index ? "1" : "0"};
    if (data->was_sparse)
        meta[count++] = (mgvi_meta){"was_sparse", "1"};
    return mgvi_tensors_write(d->ctx, path, d->tensors, d->count, meta, count);
}

static mgv_status write_mgd(mgv_ctx *ctx, const mgv_data *data, const char *path,
                            const mgv_settings *settings)
{
    (void)settings;
    mgv_status st = MGV_OK;
    draft d = {.ctx = ctx};
    char *classes = NULL, *names = NULL;
    mgvi_dense dense = {0};
    if (data->X.layout == MGV_DENSE)
        MGVI_TRY(mgvi_dense_open(ctx, &data->X, &dense));
    const order layout = add_matrix(&d, &data->X, &dense);
    if (data->labels)
        add(&d, "labels", MGVI_T_F64, 1, data->X.rows, 0, data->labels);
    if (data->labels && data->classes) {
        add(&d, "class_values", MGVI_T_F64, 1, data->classes, 0, data->class_value);
        MGVI_CHECK(st, done,
                   add_texts(&d, "class_texts", data->class_text, data->classes, &classes));
    }
    if (data->weights)
        add(&d, "weights", MGVI_T_F64, 1, data->X.rows, 0, data->weights);
    if (data->names)
        MGVI_CHECK(st, done, add_texts(&d, "names", data->names, data->X.cols, &names));
    if (data->label_name)
        add(&d, "label_name", MGVI_T_U8, 1, (int64_t)strlen(data->label_name) + 1, 0,
            data->label_name);
    st = write_draft(&d, data, layout, path);
done:
    mgvi_release(ctx, classes);
    mgvi_release(ctx, names);
    mgvi_dense_close(ctx, &dense);
    return st;
}

const mgvi_writer mgvi_writer_mgd = {
    .name = "mgd",
    .summary = "our mapped cache (safetensors layout): opens at once, keeps everything",
    .extensions = ".mgd",
    .write = write_mgd,
};
