/* npy.c - NumPy arrays: the matrix of an NPY file, used in place where its bytes allow. */
#include "io/npy.h"

#include "base/event.h"
#include "base/sink.h"
#include "io/dense.h"

#include <string.h>

static mgv_status matrix_shape(mgv_ctx *ctx, const char *what, const mgvi_npy *npy, mgvi_matrix *X)
{
    if (!npy->numeric)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: holds text, not numbers", what);
    if (npy->rank == 0 || (npy->rank > 2 && npy->fortran))
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: an array of %d dimensions%s is not a matrix", what,
                         npy->rank, npy->rank ? " in Fortran order" : "");
    int64_t cols = 1;
    for (int k = 1; k < npy->rank; k++)
        if (__builtin_mul_overflow(cols, npy->shape[k], &cols) || cols > INT32_MAX)
            return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: has more than 2^31 - 1 columns", what);
    X->layout = MGV_DENSE;
    X->rows = npy->shape[0];
    X->cols = cols;
    X->nnz = X->rows * X->cols;
    X->row_stride = npy->fortran ? 1 : X->cols;
    X->col_stride = npy->fortran ? X->rows : 1;
    return MGV_OK;
}

mgv_status mgvi_npy_matrix(mgv_ctx *ctx, const char *what, const mgvi_npy *npy, mgv_data *data,
                           mgvi_matrix *X, bool *in_place)
{
    const mgvi_numbers *v = &npy->values;
    MGVI_TRY(matrix_shape(ctx, what, npy, X));
    /* float64 is used in place rather than searched for a shorter form. */
    X->dtype = v->type != MGVI_N_F64 && mgvi_numbers_fit_f32(ctx, v) ? MGV_F32 : MGV_F64;
    const size_t size = mgvi_dtype_size(X->dtype);
    *in_place = v->type == (X->dtype == MGV_F32 ? MGVI_N_F32 : MGVI_N_F64) && !v->swapped &&
                (uintptr_t)v->data % size == 0;
    if (*in_place) {
        X->val = v->data;
        return MGV_OK;
    }
    void *values = mgvi_alloc(ctx, v->count, size);
    if (!values)
        return MGV_E_MEMORY;
    mgvi_numbers_convert(ctx, v, X->dtype, values);
    X->val = values;
    return mgvi_data_own(ctx, data, values, 0);
}

static mgv_status numeric_labels(mgv_ctx *ctx, const char *what, const mgvi_npy *npy,
                                 mgv_data *data)
{
    double *labels = mgvi_alloc(ctx, npy->values.count, sizeof *labels);
    if (!labels)
        return MGV_E_MEMORY;
    mgvi_numbers_convert(ctx, &npy->values, MGV_F64, labels);
    const mgv_status st = mgvi_data_set_labels(ctx, data, labels, NULL, NULL);
    mgvi_release(ctx, labels);
    return st == MGV_E_INPUT ? mgvi_fail_in(ctx, st, what) : st;
}

mgv_status mgvi_npy_labels(mgv_ctx *ctx, const char *what, const mgvi_npy *npy, mgv_data *data)
{
    char **texts = NULL;
    if (npy->rank == 0 || npy->shape[0] != data->X.rows ||
        npy->values.count != (size_t)data->X.rows)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: has %zu labels, but there are %" PRId64 " rows",
                         what, npy->values.count, data->X.rows);
    if (npy->numeric)
        return numeric_labels(ctx, what, npy, data);
    MGVI_TRY(mgvi_npy_texts(ctx, what, npy, &texts));
    const mgv_status st = mgvi_data_set_text_labels(ctx, data, (const char *const *)texts);
    mgvi_release(ctx, texts);
    return st;
}

static int probe(const mgvi_source *source)
{
    return source->size >= 6 && memcmp(source->bytes, "\x93NUMPY", 6) == 0 ? 100 : 0;
}

static mgv_status read_npy(mgv_ctx *ctx, mgvi_source *source, mgv_data *data)
{
    mgvi_npy npy;
    bool in_place = false;
    MGVI_TRY(mgvi_npy_parse(ctx, source->path, source->bytes, source->size, &npy));
    MGVI_TRY(mgvi_npy_matrix(ctx, source->path, &npy, data, &data->X, &in_place));
    if (!in_place)
        return MGV_OK;
    void *bytes = (void *)(uintptr_t)source->bytes;
    source->bytes = NULL; /* handed over */
    return mgvi_data_own(ctx, data, bytes, source->mapped);
}

static mgv_status write_npy(mgv_ctx *ctx, const mgv_data *data, const char *path,
                            const mgv_settings *settings)
{
    (void)settings;
    const mgvi_matrix *X = &data->X;
    char header[MGVI_NPY_HEADER_MAX];
    mgvi_dense dense;
    mgvi_sink *sink;
    if (X->layout != MGV_DENSE)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "%s: NPY holds dense arrays only; write sparse data as .npz", path);
    if (data->labels || data->weights)
        mgvi_log(ctx, MGV_WARNING, "%s: NPY holds the matrix only; labels go into .npz", path);
    MGVI_TRY(mgvi_dense_open(ctx, X, &dense));
    mgv_status st = mgvi_sink_open(ctx, path, &sink);
    if (st == MGV_OK) {
        const size_t length = mgvi_npy_header(header, mgvi_npy_descr(X->dtype), dense.fortran, 2,
                                              (const int64_t[]){X->rows, X->cols});
        mgvi_sink_write(sink, header, length);
        mgvi_sink_write(sink, dense.val, dense.bytes);
        st = mgvi_sink_close(sink, true);
    }
    mgvi_dense_close(ctx, &dense);
    return st;
}

const mgvi_reader mgvi_reader_npy = {
    .name = "npy",
    .summary = "NumPy array: a dense matrix without labels, float32 and float64 used in place",
    .extensions = ".npy",
    .probe = probe,
    .read = read_npy,
};

const mgvi_writer mgvi_writer_npy = {
    .name = "npy",
    .summary = "NumPy array: a dense matrix without labels",
    .extensions = ".npy",
    .without_labels = true,
    .write = write_npy,
};
