/* npz_write.c - NumPy archives, stored without packing: what numpy.load and scipy.sparse.load_npz
 * read. Times are left out, so equal data give equal files. */
#include "base/sink.h"
#include "io/dense.h"
#include "io/npy.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <string.h>

typedef struct archive_out {
    mgv_ctx *ctx;
    const char *path;
    struct archive *zip;
    mgvi_sink *sink;
} archive_out;

static la_ssize_t to_sink(struct archive *zip, void *user, const void *bytes, size_t size)
{
    (void)zip;
    mgvi_sink_write(((archive_out *)user)->sink, bytes, size);
    return (la_ssize_t)size; /* the sink remembers errors */
}

static mgv_status zip_failed(archive_out *out)
{
    const char *why = out->zip ? archive_error_string(out->zip) : NULL;
    return MGVI_FAIL(out->ctx, MGV_E_IO, "%s: cannot be written: %s", out->path,
                     why ? why : "libarchive ran out of memory");
}

static bool put(archive_out *out, const char *bytes, size_t size)
{
    while (size) {
        const la_ssize_t done = archive_write_data(out->zip, bytes, size);
        if (done <= 0)
            return false;
        bytes += done;
        size -= (size_t)done;
    }
    return true;
}

/* One member NAME.npy; `item` is the size of an element. */
static mgv_status put_array(archive_out *out, const char *name, const char *descr, bool fortran,
                            int rank, const int64_t *shape, size_t item, const void *values)
{
    char header[MGVI_NPY_HEADER_MAX];
    char member[64];
    size_t bytes = item;
    for (int k = 0; k < rank; k++)
        bytes *= (size_t)shape[k];
    const size_t length = mgvi_npy_header(header, descr, fortran, rank, shape);
    struct archive_entry *entry = archive_entry_new();
    if (!entry)
        return MGVI_FAIL(out->ctx, MGV_E_MEMORY, "%s: out of memory for a member", out->path);
    snprintf(member, sizeof member, "%s.npy", name);
    archive_entry_set_pathname(entry, member);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, (la_int64_t)(length + bytes));
    const bool ok = archive_write_header(out->zip, entry) == ARCHIVE_OK &&
                    put(out, header, length) && put(out, values, bytes) &&
                    archive_write_finish_entry(out->zip) == ARCHIVE_OK;
    archive_entry_free(entry);
    return ok ? MGV_OK : zip_failed(out);
}

static mgv_status put_list(archive_out *out, const char *name, const char *descr, int64_t count,
                           size_t item, const void *values)
{
    return put_array(out, name, descr, false, 1, &count, item, values);
}

static mgv_status put_texts(archive_out *out, const char *name, const char *const *texts,
                            int64_t count)
{
    char descr[MGVI_NPY_DESCR_MAX];
    void *block = NULL;
    size_t item = 0;
    MGVI_TRY(mgvi_npy_from_texts(out->ctx, texts, count, descr, &block, &item));
    const mgv_status st = put_list(out, name, descr, count, item, block);
    mgvi_release(out->ctx, block);
    return st;
}

static mgv_status put_dense(archive_out *out, const mgvi_matrix *X)
{
    mgvi_dense dense;
    MGVI_TRY(mgvi_dense_open(out->ctx, X, &dense));
    const mgv_status st =
        put_array(out, "X", mgvi_npy_descr(X->dtype), dense.fortran, 2,
                  (const int64_t[]){X->rows, X->cols}, mgvi_dtype_size(X->dtype), dense.val);
    mgvi_dense_close(out->ctx, &dense);
    return st;
}

static mgv_status put_sparse(archive_out *out, const mgvi_matrix *X)
{
    const int64_t major = X->layout == MGV_CSR ? X->rows : X->cols;
    const int64_t shape[2] = {X->rows, X->cols};
    MGVI_TRY(put_list(out, "indices", "<i4", X->nnz, sizeof *X->idx, X->idx));
    MGVI_TRY(put_list(out, "indptr", "<i8", major + 1, sizeof *X->ptr, X->ptr));
    MGVI_TRY(
        put_array(out, "format", "|S3", false, 0, NULL, 3, X->layout == MGV_CSR ? "csr" : "csc"));
    MGVI_TRY(put_list(out, "shape", "<i8", 2, sizeof *shape, shape));
    return put_list(out, "data", mgvi_npy_descr(X->dtype), X->nnz, mgvi_dtype_size(X->dtype),
                    X->val);
}

static mgv_status put_text_labels(archive_out *out, const mgv_data *data)
{
    const char **words = mgvi_alloc(out->ctx, (size_t)data->X.rows, sizeof *words);
    if (!words)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < data->X.rows; i++)
        words[i] = data->class_text[(int64_t)data->labels[i]];
    const mgv_status st = put_texts(out, "y", words, data->X.rows);
    mgvi_release(out->ctx, words);
    return st;
}

static mgv_status put_all(archive_out *out, const mgv_data *data)
{
    const int64_t rows = data->X.rows;
    if (data->X.layout == MGV_DENSE)
        MGVI_TRY(put_dense(out, &data->X));
    else
        MGVI_TRY(put_sparse(out, &data->X));
    if (data->labels && data->text_labels)
        MGVI_TRY(put_text_labels(out, data));
    else if (data->labels)
        MGVI_TRY(put_list(out, "y", "<f8", rows, sizeof *data->labels, data->labels));
    if (data->weights)
        MGVI_TRY(put_list(out, "sample_weight", "<f8", rows, sizeof *data->weights, data->weights));
    if (data->names)
        MGVI_TRY(put_texts(out, "feature_names", (const char *const *)data->names, data->X.cols));
    return MGV_OK;
}

static mgv_status write_npz(mgv_ctx *ctx, const mgv_data *data, const char *path,
                            const mgv_settings *settings)
{
    (void)settings;
    mgv_status st;
    archive_out out = {.ctx = ctx, .path = path};
    MGVI_TRY(mgvi_sink_open(ctx, path, &out.sink));
    out.zip = archive_write_new();
    if (!out.zip || archive_write_set_format_zip(out.zip) != ARCHIVE_OK ||
        archive_write_zip_set_compression_store(out.zip) != ARCHIVE_OK ||
        archive_write_set_bytes_per_block(out.zip, 0) != ARCHIVE_OK ||
        archive_write_open(out.zip, &out, NULL, to_sink, NULL) != ARCHIVE_OK)
        st = zip_failed(&out);
    else
        st = put_all(&out, data);
    if (st == MGV_OK && archive_write_close(out.zip) != ARCHIVE_OK)
        st = zip_failed(&out);
    archive_write_free(out.zip);
    if (st == MGV_OK)
        return mgvi_sink_close(out.sink, true);
    mgvi_sink_close(out.sink, false);
    return st;
}

const mgvi_writer mgvi_writer_npz = {
    .name = "npz",
    .summary = "NumPy archive: X and y, or what scipy.sparse.load_npz reads, with y",
    .extensions = ".npz",
    .write = write_npz,
};
