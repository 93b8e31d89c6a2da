/* test_npz.c - archives that NumPy and SciPy wrote (tests/corpus/npz), and hostile ones. */
#include "tables.h"

#include "io/npy.h"

#include <archive.h>
#include <archive_entry.h>

/* What the corpus holds: A, and in the sparse files its positive part. */
static const double A[4][3] = {{6, 2, 0}, {-5, -4, -9}, {-8, -9, -6}, {5, 2, 7}};

static double element(const mgvi_matrix *X, int64_t i, int64_t j)
{
    const int64_t major = X->layout == MGV_CSC ? j : i, minor = X->layout == MGV_CSC ? i : j;
    if (X->layout == MGV_DENSE)
        return mgvi_matrix_value(X, i * X->row_stride + j * X->col_stride);
    for (int64_t t = X->ptr[major]; t < X->ptr[major + 1]; t++)
        if (X->idx[t] == minor)
            return mgvi_matrix_value(X, t);
    return 0;
}

static mgv_data *read_corpus(mgv_ctx *ctx, const char *name)
{
    char path[512];
    mgv_data *data;
    snprintf(path, sizeof path, "%s/corpus/npz/%s", MGV_TEST_DIR, name);
    CHECK_OK(ctx, mgvi_read_file(ctx, path, NULL, &data));
    CHECK_OK(ctx, mgvi_data_check_once(ctx, data));
    return data;
}

TEST(scipy_matrices_are_read)
{
    static const struct {
        const char *name;
        mgv_layout layout;
        mgv_dtype dtype;
    } files[] = {{"csr", MGV_CSR, MGV_F32},
                 {"csc", MGV_CSC, MGV_F32},
                 {"coo", MGV_CSR, MGV_F32},
                 {"deflated", MGV_CSR, MGV_F64}};
    mgv_ctx *ctx = mgv_check_ctx();
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        mgv_data *data = read_corpus(ctx, files[k].name);
        CHECK(data->X.rows == 4 && data->X.cols == 3);
        CHECK(data->X.layout == files[k].layout && data->X.dtype == files[k].dtype);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 3; j++)
                CHECK(element(&data->X, i, j) == (A[i][j] > 0 ? A[i][j] : 0));
        mgvi_data_free(ctx, data);
    }
    mgv_data *data = read_corpus(ctx, "unsorted"); /* 2: 1, 1: 2, 2: 3 and an explicit zero */
    CHECK(data->X.nnz == 2 && data->stored_zeros == 1);
    CHECK(element(&data->X, 0, 1) == 2 && element(&data->X, 0, 2) == 4);
    mgvi_data_free(ctx, data);
    mgv_ctx_free(ctx);
}

TEST(numpy_archives_are_read)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *data = read_corpus(ctx, "words");
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++)
            CHECK(element(&data->X, i, j) == A[i][j]);
    CHECK(data->text_labels && data->classes == 3 && data->weights[3] == 1);
    assert_string_equal(data->class_text[(int)data->labels[1]], "\xc3\xa9");
    assert_string_equal(data->names[2], "r");
    mgvi_data_free(ctx, data);
    data = read_corpus(ctx, "data_target");
    CHECK(data->classes == 4 && data->labels[3] == 3 && data->X.dtype == MGV_F32);
    mgvi_data_free(ctx, data);
    mgv_ctx_free(ctx);
}

/* ---- Archives made here --------------------------------------------------------------------- */

typedef struct member {
    const char *name, *descr;
    int rank;
    int64_t shape[2];
    size_t item;
    const void *values;
} member;

static size_t make(char *out, size_t capacity, const member *members, int count)
{
    size_t used = 0;
    struct archive *zip = archive_write_new();
    archive_write_set_format_zip(zip);
    archive_write_set_bytes_per_block(zip, 0);
    archive_write_open_memory(zip, out, capacity, &used);
    for (const member *m = members; m < members + count; m++) {
        char header[MGVI_NPY_HEADER_MAX];
        const size_t length = mgvi_npy_header(header, m->descr, false, m->rank, m->shape);
        size_t bytes = m->item;
        for (int k = 0; k < m->rank; k++)
            bytes *= (size_t)m->shape[k];
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, m->name);
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_size(entry, (la_int64_t)(length + bytes));
        CHECK(archive_write_header(zip, entry) == ARCHIVE_OK);
        CHECK(archive_write_data(zip, header, length) == (la_ssize_t)length);
        CHECK(archive_write_data(zip, m->values, bytes) == (la_ssize_t)bytes);
        archive_entry_free(entry);
    }
    CHECK(archive_write_close(zip) == ARCHIVE_OK);
    archive_write_free(zip);
    return used;
}

static mgv_status read_members(mgv_ctx *ctx, const member *members, int count, mgv_data **out)
{
    static char file[1 << 14];
    const size_t size = make(file, sizeof file, members, count);
    return read_bytes(ctx, "a.npz", file, size, out);
}

/* A sparse archive whose parts can be exchanged. */
enum { FORMAT, SHAPE, DATA, INDICES, INDPTR, PARTS };
static const member sound[PARTS] = {{"format.npy", "|S3", 0, {0}, 3, "csr"},
                                    {"shape.npy", "<i8", 1, {2}, 8, (const int64_t[]){2, 3}},
                                    {"data.npy", "<f8", 1, {3}, 8, (const double[]){1, 2, 3}},
                                    {"indices.npy", "<i8", 1, {3}, 8, (const int64_t[]){0, 2, 1}},
                                    {"indptr.npy", "<i4", 1, {3}, 4, (const int32_t[]){0, 2, 3}}};

static void refused(int part, member other, const char *sentence)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *data;
    member members[PARTS];
    memcpy(members, sound, sizeof members);
    members[part] = other;
    CHECK_FAILS(ctx, read_members(ctx, members, PARTS, &data), MGV_E_INPUT, sentence);
    mgv_ctx_free(ctx);
}

#define I64(name, count, ...)                                                                      \
    (member)                                                                                       \
    {                                                                                              \
        name ".npy", "<i8", 1, {count}, 8, (const int64_t[]) { __VA_ARGS__ }                       \
    }

TEST(hostile_sparse_archives_get_a_sentence)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *data;
    CHECK_OK(ctx, read_members(ctx, sound, PARTS, &data));
    CHECK(data->X.nnz == 3 && element(&data->X, 0, 2) == 2);
    mgvi_data_free(ctx, data);
    mgv_ctx_free(ctx);
    refused(FORMAT, (member){"format.npy", "|S3", 0, {0}, 3, "dia"}, "save it with tocsr()");
    refused(FORMAT, (member){"format.npy", "<f8", 0, {0}, 8, (const double[]){1}}, "not a word");
    refused(SHAPE, I64("shape", 3, 2, 3, 4), "shape.npy: is not a pair of sizes");
    refused(SHAPE, I64("shape", 2, -2, 3), "is not a pair of sizes");
    refused(SHAPE, I64("shape", 2, 2, 1ll << 31), "needs indices beyond 2^31 - 1");
    refused(SHAPE, I64("shape", 2, 3, 3), "indptr.npy: has 3 pointers");
    refused(SHAPE, I64("shape", 2, 2, 2), "index 2 of entry 1 is not below 2");
    refused(DATA, (member){"data.npy", "<f8", 1, {2}, 8, (const double[]){1, 2}}, "2 values for 3");
    refused(DATA, (member){"data.npy", "|S1", 1, {3}, 1, "abc"}, "data.npy: holds text");
    refused(DATA, (member){"other.npy", "|S1", 1, {3}, 1, "abc"}, "data.npy is missing");
    refused(INDICES, I64("indices", 3, 0, -1, 1), "index -1 of entry 1 is out of range");
    refused(INDICES, I64("indices", 3, 0, 1ll << 40, 1), "index 1099511627776");
    refused(INDICES, (member){"indices.npy", "<f8", 1, {3}, 8, (const double[]){0, 2, 1}},
            "not a list of whole numbers");
    refused(INDPTR, I64("indptr", 3, 0, 4, 3), "pointer 1 is 4 after 0, with 3 entries");
    refused(INDPTR, I64("indptr", 3, 1, 2, 3), "first pointer is 1");
    refused(INDPTR, I64("indptr", 3, 0, 2, 1), "pointer 2 is 1 after 2");
}

TEST(triplets_are_sorted_and_summed)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *data;
    member coo[] = {{"format.npy", "<U3", 0, {0}, 12, U"coo"},
                    {"shape.npy", "<i8", 1, {2}, 8, (const int64_t[]){3, 3}},
                    {"data.npy", ">i2", 1, {5}, 2, "\0\1\0\2\0\3\0\4\377\377"},
                    {"row.npy", "<i4", 1, {5}, 4, (const int32_t[]){2, 0, 2, 0, 2}},
                    {"col.npy", "<u2", 1, {5}, 2, (const uint16_t[]){1, 2, 0, 0, 1}},
                    {"y.npy", "|b1", 1, {3}, 1, "\1\0\1"}};
    CHECK_OK(ctx, read_members(ctx, coo, 6, &data));
    CHECK(data->X.nnz == 3 && data->stored_zeros == 1); /* 1 and -1 at (2, 1) */
    CHECK(element(&data->X, 0, 0) == 4 && element(&data->X, 0, 2) == 2);
    CHECK(element(&data->X, 2, 0) == 3 && data->labels[0] == 1 && data->classes == 2);
    mgvi_data_free(ctx, data);
    coo[3].values = (const int32_t[]){2, 0, 3, 0, 2};
    CHECK_FAILS(ctx, read_members(ctx, coo, 6, &data), MGV_E_INPUT,
                "the row index 3 of entry 2 is not below 3");
    coo[3] = (member){"row.npy", "<i4", 1, {4}, 4, (const int32_t[]){2, 0, 2, 0}};
    CHECK_FAILS(ctx, read_members(ctx, coo, 6, &data), MGV_E_INPUT, "row.npy: has 4 entries");
    coo[3] = (member){"row.npy", "<i4", 1, {5}, 4, (const int32_t[]){2, 0, 2, 0, 2}};
    coo[1].values = (const int64_t[]){2000000000, 3}; /* 16 GB for five entries */
    CHECK_FAILS(ctx, read_members(ctx, coo, 6, &data), MGV_E_INPUT,
                "2000000000 rows are promised, but there are only 5 entries");
    mgv_ctx_free(ctx);
}

TEST(labels_must_fit_the_rows)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *data;
    member two[] = {{"X.npy", "<f4", 2, {2, 1}, 4, (const float[]){1, 2}},
                    {"y.npy", "<f8", 1, {3}, 8, (const double[]){1, 2, 3}}};
    CHECK_FAILS(ctx, read_members(ctx, two, 2, &data), MGV_E_INPUT,
                "a.npz: y.npy: has 3 labels, but there are 2 rows");
    two[1] = (member){"y.npy", "<f8", 1, {2}, 8, (const double[]){1, 0.0 / 0.0}};
    CHECK_FAILS(ctx, read_members(ctx, two, 2, &data), MGV_E_INPUT,
                "a.npz: y.npy: the label of row 2");
    two[1] = (member){"y.npy", "<U1", 1, {2}, 4, (const uint32_t[]){'a', 0xd800}};
    CHECK_FAILS(ctx, read_members(ctx, two, 2, &data), MGV_E_INPUT, "element 1 is not Unicode");
    two[1] = (member){"X.npy", "<f4", 2, {2, 1}, 4, (const float[]){1, 2}};
    CHECK_FAILS(ctx, read_members(ctx, two, 2, &data), MGV_E_INPUT, "two members 'X.npy'");
    two[1] = (member){"sample_weight.npy", "<f4", 1, {2}, 4, (const float[]){1, -2}};
    CHECK_FAILS(ctx, read_members(ctx, two, 2, &data), MGV_E_INPUT,
                "weight of row 2 must be finite and at least 0 (got -2)");
    two[0].name = "Z.npy";
    CHECK_FAILS(ctx, read_members(ctx, two, 2, &data), MGV_E_INPUT, "has no array X");
    mgv_ctx_free(ctx);
}

int main(void)
{
    return RUN(scipy_matrices_are_read, numpy_archives_are_read,
               hostile_sparse_archives_get_a_sentence, triplets_are_sorted_and_summed,
               labels_must_fit_the_rows);
}
