/* npz.c - NumPy archives: X with y, or a matrix saved by scipy.sparse.save_npz, with or without y.
 * Arrays are unpacked into our memory and used there when their type allows. */
#include "io/compressed.h"
#include "io/npy.h"
#include "io/unpack.h"

#include <stdio.h>
#include <string.h>

/* Members we know, by what they mean; the first name present counts. */
enum {
    M_X,
    M_Y = M_X + 4,
    M_FORMAT = M_Y + 4,
    M_SHAPE,
    M_DATA,
    M_INDICES,
    M_INDPTR,
    M_ROW,
    M_COL,
    M_WEIGHT,
    M_NAMES,
    MEMBERS
};
static const char *const members[MEMBERS] = {"X.npy",
                                             "x.npy",
                                             "arr_0.npy",
                                             "features.npy",
                                             "y.npy",
                                             "target.npy",
                                             "arr_1.npy",
                                             "labels.npy",
                                             "format.npy",
                                             "shape.npy",
                                             "data.npy",
                                             "indices.npy",
                                             "indptr.npy",
                                             "row.npy",
                                             "col.npy",
                                             "sample_weight.npy",
                                             "feature_names.npy"};

typedef struct archive_view {
    mgv_ctx *ctx;
    const mgvi_source *source;
    mgv_data *data;
    mgvi_blob blob[MEMBERS];
    char what[MGVI_ERROR_MAX]; /* "FILE: NAME.npy", for messages */
} archive_view;

static int first_present(const archive_view *v, int from, int count)
{
    for (int k = from; k < from + count; k++)
        if (v->blob[k].bytes)
            return k;
    return -1;
}

static mgv_status parse_member(archive_view *v, int member, mgvi_npy *out)
{
    snprintf(v->what, sizeof v->what, "%s: %s", v->source->path, members[member]);
    if (!v->blob[member].bytes)
        return MGVI_FAIL(v->ctx, MGV_E_INPUT, "%s is missing", v->what);
    return mgvi_npy_parse(v->ctx, v->what, v->blob[member].bytes, v->blob[member].size, out);
}

static mgv_status own_blob(archive_view *v, int member)
{
    char *bytes = v->blob[member].bytes;
    v->blob[member].bytes = NULL;
    return mgvi_data_own(v->ctx, v->data, bytes, 0);
}

static mgv_status read_dense(archive_view *v, int member)
{
    mgvi_npy npy;
    bool in_place = false;
    MGVI_TRY(parse_member(v, member, &npy));
    MGVI_TRY(mgvi_npy_matrix(v->ctx, v->what, &npy, v->data, &v->data->X, &in_place));
    return in_place ? own_blob(v, member) : MGV_OK;
}

/* A one-dimensional array of whole numbers, as int64 memory owned by the data. */
static mgv_status read_integers(archive_view *v, int member, int64_t **out, int64_t *count)
{
    mgvi_npy npy;
    MGVI_TRY(parse_member(v, member, &npy));
    if (!npy.numeric || npy.rank != 1)
        return MGVI_FAIL(v->ctx, MGV_E_INPUT, "%s: is not a list of whole numbers", v->what);
    *count = (int64_t)npy.values.count;
    if (npy.values.type == MGVI_N_I64 && !npy.values.swapped &&
        (uintptr_t)npy.values.data % sizeof **out == 0) {
        *out = (int64_t *)(uintptr_t)npy.values.data;
        return own_blob(v, member);
    }
    *out = mgvi_data_array(v->ctx, v->data, npy.values.count, sizeof **out);
    if (!*out)
        return MGV_E_MEMORY;
    if (!mgvi_numbers_to_i64(&npy.values, *out))
        return MGVI_FAIL(v->ctx, MGV_E_INPUT, "%s: is not a list of whole numbers", v->what);
    return MGV_OK;
}

/* Indices as int32, used in place when they are; larger ones are out of range in any matrix. */
static mgv_status read_indices(archive_view *v, int member, int32_t **out, int64_t *count)
{
    mgvi_npy npy;
    int64_t *wide = NULL;
    MGVI_TRY(parse_member(v, member, &npy));
    if (npy.numeric && npy.rank == 1 && npy.values.type == MGVI_N_I32 && !npy.values.swapped &&
        (uintptr_t)npy.values.data % sizeof **out == 0) {
        *count = (int64_t)npy.values.count;
        *out = (int32_t *)(uintptr_t)npy.values.data;
        return own_blob(v, member);
    }
    MGVI_TRY(read_integers(v, member, &wide, count));
    /* Narrowed where they lie: entry t is written to bytes already read. */
    int32_t *narrow = (int32_t *)(void *)wide;
    for (int64_t t = 0; t < *count; t++) {
        const int64_t index = wide[t];
        if (index < 0 || index > INT32_MAX)
            return MGVI_FAIL(v->ctx, MGV_E_INPUT,
                             "%s: index %" PRId64 " of entry %" PRId64 " is out of range", v->what,
                             index, t);
        const int32_t small = (int32_t)index;
        memcpy(&narrow[t], &small, sizeof small);
    }
    *out = narrow;
    return MGV_OK;
}

/* The values, in memory that may be changed. */
static mgv_status read_values(archive_view *v, mgvi_compressed *c)
{
    mgvi_npy npy;
    mgvi_matrix list = {0};
    bool in_place = false;
    MGVI_TRY(parse_member(v, M_DATA, &npy));
    MGVI_TRY(mgvi_npy_matrix(v->ctx, v->what, &npy, v->data, &list, &in_place));
    if (npy.rank != 1 || list.rows != c->stored)
        return MGVI_FAIL(v->ctx, MGV_E_INPUT, "%s: has %zu values for %" PRId64 " indices", v->what,
                         npy.values.count, c->stored);
    c->dtype = list.dtype;
    c->val = (void *)(uintptr_t)list.val;
    return in_place ? own_blob(v, M_DATA) : MGV_OK;
}

/* "csr", "csc" or "coo" as saved by SciPy, in a scalar of bytes or Unicode. */
static mgv_status read_format(archive_view *v, char format[8])
{
    mgvi_npy npy;
    char **text = NULL;
    MGVI_TRY(parse_member(v, M_FORMAT, &npy));
    if (npy.numeric || npy.values.count != 1)
        return MGVI_FAIL(v->ctx, MGV_E_INPUT, "%s: is not a word", v->what);
    MGVI_TRY(mgvi_npy_texts(v->ctx, v->what, &npy, &text));
    snprintf(format, 8, "%s", text[0]);
    mgvi_release(v->ctx, text);
    if (strcmp(format, "csr") != 0 && strcmp(format, "csc") != 0 && strcmp(format, "coo") != 0)
        return MGVI_FAIL(v->ctx, MGV_E_INPUT,
                         "%s: the sparse format is '%s'; csr, csc and coo are read: save it with "
                         "tocsr()",
                         v->what, format);
    return MGV_OK;
}

static mgv_status read_shape(archive_view *v, mgvi_matrix *X)
{
    int64_t *shape = NULL, sides = 0;
    MGVI_TRY(read_integers(v, M_SHAPE, &shape, &sides));
    if (sides != 2 || shape[0] < 0 || shape[1] < 0)
        return MGVI_FAIL(v->ctx, MGV_E_INPUT, "%s: is not a pair of sizes", v->what);
    X->rows = shape[0];
    X->cols = shape[1];
    const int64_t most = X->layout == MGV_CSC && X->rows > X->cols ? X->rows : X->cols;
    if (most > INT32_MAX)
        return MGVI_FAIL(v->ctx, MGV_E_INPUT,
                         "%s: %" PRId64 " x %" PRId64 " needs indices beyond 2^31 - 1", v->what,
                         X->rows, X->cols);
    return MGV_OK;
}

static mgv_status fill_coo(archive_view *v, mgvi_compressed *c)
{
    int64_t *row = NULL, rows = 0;
    MGVI_TRY(read_indices(v, M_COL, &c->idx, &c->stored));
    MGVI_TRY(read_integers(v, M_ROW, &row, &rows));
    if (rows != c->stored)
        return MGVI_FAIL(v->ctx, MGV_E_INPUT,
                         "%s: has %" PRId64 " entries, but there are %" PRId64 " column indices",
                         v->what, rows, c->stored);
    if (c->major / 1024 > 16 * c->stored + 1024) /* empty rows are allowed, but not without limit */
        return MGVI_FAIL(v->ctx, MGV_E_INPUT,
                         "%s: %" PRId64 " rows are promised, but there are only %" PRId64
                         " entries: the file may be damaged (or save it as csr)",
                         v->source->path, c->major, c->stored);
    MGVI_TRY(read_values(v, c));
    c->ptr = mgvi_data_array(v->ctx, v->data, (size_t)c->major + 1, sizeof *c->ptr);
    if (!c->ptr)
        return MGV_E_MEMORY;
    return mgvi_compressed_from_triplets(v->ctx, v->source->path, row, c);
}

static mgv_status fill_compressed(archive_view *v, mgvi_compressed *c)
{
    int64_t pointers = 0;
    MGVI_TRY(read_indices(v, M_INDICES, &c->idx, &c->stored));
    MGVI_TRY(read_integers(v, M_INDPTR, &c->ptr, &pointers));
    if (pointers == 0 || pointers - 1 != c->major)
        return MGVI_FAIL(v->ctx, MGV_E_INPUT,
                         "%s: has %" PRId64 " pointers; the shape needs %" PRId64 " and one more",
                         v->what, pointers, c->major);
    MGVI_TRY(read_values(v, c));
    return mgvi_compressed_make_canonical(v->ctx, v->source->path, c);
}

static mgv_status read_sparse(archive_view *v)
{
    char format[8];
    mgvi_matrix *X = &v->data->X;
    mgvi_compressed c = {.keep_zeros = v->source->as_entries};
    MGVI_TRY(read_format(v, format));
    X->layout = strcmp(format, "csc") == 0 ? MGV_CSC : MGV_CSR;
    MGVI_TRY(read_shape(v, X));
    c.major = X->layout == MGV_CSC ? X->cols : X->rows;
    c.minor = X->layout == MGV_CSC ? X->rows : X->cols;
    if (strcmp(format, "coo") == 0)
        MGVI_TRY(fill_coo(v, &c));
    else
        MGVI_TRY(fill_compressed(v, &c));
    X->dtype = c.dtype;
    X->ptr = c.ptr;
    X->idx = c.idx;
    X->val = c.val;
    X->nnz = c.ptr[c.major];
    v->data->stored_zeros = c.stored_zeros;
    return MGV_OK;
}

static mgv_status read_weights(archive_view *v)
{
    mgvi_npy npy;
    MGVI_TRY(parse_member(v, M_WEIGHT, &npy));
    if (!npy.numeric || npy.values.count != (size_t)v->data->X.rows)
        return MGVI_FAIL(v->ctx, MGV_E_INPUT, "%s: is not one number for each of %" PRId64 " rows",
                         v->what, v->data->X.rows);
    double *weights = mgvi_data_array(v->ctx, v->data, npy.values.count, sizeof *weights);
    if (!weights)
        return MGV_E_MEMORY;
    mgvi_numbers_convert(v->ctx, &npy.values, MGV_F64, weights);
    v->data->weights = weights;
    return MGV_OK;
}

static mgv_status read_names(archive_view *v)
{
    mgvi_npy npy;
    char **names = NULL;
    MGVI_TRY(parse_member(v, M_NAMES, &npy));
    if (npy.numeric || npy.values.count != (size_t)v->data->X.cols)
        return MGVI_FAIL(v->ctx, MGV_E_INPUT, "%s: is not one word for each of %" PRId64 " columns",
                         v->what, v->data->X.cols);
    MGVI_TRY(mgvi_npy_texts(v->ctx, v->what, &npy, &names));
    v->data->names = names;
    return mgvi_data_own(v->ctx, v->data, names, 0);
}

static mgv_status read_all(archive_view *v)
{
    mgvi_npy npy;
    const int x = first_present(v, M_X, 4), y = first_present(v, M_Y, 4);
    if (v->blob[M_FORMAT].bytes)
        MGVI_TRY(read_sparse(v));
    else if (x >= 0 || v->blob[M_DATA].bytes)
        MGVI_TRY(read_dense(v, x >= 0 ? x : M_DATA));
    else
        return MGVI_FAIL(v->ctx, MGV_E_INPUT,
                         "%s: the archive has no array X (or x, data, arr_0) and no sparse matrix",
                         v->source->path);
    if (y >= 0) {
        MGVI_TRY(parse_member(v, y, &npy));
        MGVI_TRY(mgvi_npy_labels(v->ctx, v->what, &npy, v->data));
    }
    if (v->blob[M_WEIGHT].bytes)
        MGVI_TRY(read_weights(v));
    return v->blob[M_NAMES].bytes ? read_names(v) : MGV_OK;
}

static int probe(const mgvi_source *source)
{
    return source->size >= 4 && memcmp(source->bytes, "PK\x03\x04", 4) == 0 ? 100 : 0;
}

static mgv_status read_npz(mgv_ctx *ctx, mgvi_source *source, mgv_data *data)
{
    archive_view v = {.ctx = ctx, .source = source, .data = data};
    const size_t most = mgvi_unpack_most(mgvi_source_expansion(source), source->size);
    MGVI_TRY(mgvi_unpack_members(ctx, source->path, source->bytes, source->size, most, members,
                                 MEMBERS, v.blob));
    const mgv_status st = read_all(&v);
    for (int k = 0; k < MEMBERS; k++)
        mgvi_release(ctx, v.blob[k].bytes);
    return st;
}

const mgvi_reader mgvi_reader_npz = {
    .name = "npz",
    .summary = "NumPy archive: X and y, or a matrix from scipy.sparse.save_npz with or without y",
    .extensions = ".npz",
    .probe = probe,
    .read = read_npz,
};
