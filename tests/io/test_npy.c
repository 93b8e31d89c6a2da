/* test_npy.c - NPY arrays of every number type and order, IDX files, and what is refused. */
#include "tables.h"

#include "io/npy.h"

#include <math.h>
#include <unistd.h>

/* An NPY file of version `version` with the given header text and data. */
static size_t make(char *out, int version, const char *header, const void *data, size_t size)
{
    const size_t begin = version == 1 ? 10 : 12, length = strlen(header);
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (char)version;
    out[7] = 0;
    memset(out + 8, 0, 4);
    out[8] = (char)(length & 255);
    out[9] = (char)(length >> 8);
    memcpy(out + begin, header, length);
    memcpy(out + begin + length, data, size);
    return begin + length + size;
}

static void reversed(const void *from, size_t size, char *to)
{
    for (size_t k = 0; k < size; k++)
        to[k] = ((const char *)from)[size - 1 - k];
}

typedef struct typed {
    const char *code;
    size_t size;
    const void *values; /* 1, 0, and the third */
    double third;
    mgv_dtype dtype; /* what it becomes */
} typed;

static const typed types[] = {
    {"b1", 1, (const uint8_t[]){1, 0, 1}, 1, MGV_F32},
    {"i1", 1, (const int8_t[]){1, 0, -7}, -7, MGV_F32},
    {"u1", 1, (const uint8_t[]){1, 0, 255}, 255, MGV_F32},
    {"i2", 2, (const int16_t[]){1, 0, -32768}, -32768, MGV_F32},
    {"u2", 2, (const uint16_t[]){1, 0, 65535}, 65535, MGV_F32},
    {"i4", 4, (const int32_t[]){1, 0, -16777217}, -16777217, MGV_F64},
    {"i4", 4, (const int32_t[]){1, 0, -16777216}, -16777216, MGV_F32},
    {"u4", 4, (const uint32_t[]){1, 0, UINT32_MAX}, 4294967295.0, MGV_F64},
    {"i8", 8, (const int64_t[]){1, 0, INT64_MIN}, -9223372036854775808.0, MGV_F32},
    {"u8", 8, (const uint64_t[]){1, 0, (1ull << 53) - 1}, 9007199254740991.0, MGV_F64},
    {"f2", 2, (const uint16_t[]){0x3c00, 0x8000, 0x0001}, 0x1p-24, MGV_F32},
    {"f2", 2, (const uint16_t[]){0x3c00, 0, 0xfbff}, -65504, MGV_F32},
    {"f4", 4, (const float[]){1, 0, 1e-3f}, 1e-3f, MGV_F32},
    {"f8", 8, (const double[]){1, 0, 0.5}, 0.5, MGV_F64}};

TEST(every_number_type_and_byte_order_is_read)
{
    mgv_ctx *ctx = mgv_check_ctx();
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        const typed *t = &types[k];
        for (int swapped = 0; swapped < 2; swapped++) {
            char file[256], header[128], values[24];
            mgv_data *data;
            memcpy(values, t->values, 3 * t->size);
            for (int i = 0; swapped && i < 3; i++)
                reversed((const char *)t->values + (size_t)i * t->size, t->size,
                         values + (size_t)i * t->size);
            for (int pad = 0; pad < 9; pad++) { /* every alignment */
                snprintf(header, sizeof header,
                         "{'shape': (3,1), 'fortran_order': False, 'descr': '%c%s'}%*s\n",
                         swapped ? '>' : '<', t->code, pad, "");
                const size_t size = make(file, 1, header, values, 3 * t->size);
                CHECK_OK(ctx, read_bytes(ctx, "a.npy", file, size, &data));
                CHECK(data->X.rows == 3 && data->X.cols == 1);
                CHECK_THAT(data->X.dtype == t->dtype, "%s", t->code);
                CHECK(mgvi_matrix_value(&data->X, 0) == 1 && mgvi_matrix_value(&data->X, 1) == 0);
                CHECK_THAT(mgvi_matrix_value(&data->X, 2) == t->third, "%s: %g is not %g", t->code,
                           mgvi_matrix_value(&data->X, 2), t->third);
                mgvi_data_free(ctx, data);
                CHECK_FAILS(ctx, read_bytes(ctx, "a.npy", file, size - 1, &data), MGV_E_INPUT,
                            "a.npy: the shape needs more");
            }
        }
    }
    mgv_ctx_free(ctx);
}

static mgv_status read_header(mgv_ctx *ctx, int version, const char *header, mgv_data **out)
{
    static const double values[24] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    char file[1024];
    const size_t size = make(file, version, header, values, sizeof values);
    return read_bytes(ctx, "a.npy", file, size, out);
}

TEST(shapes_orders_and_versions)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *data;
    for (int version = 1; version <= 3; version++) {
        CHECK_OK(ctx, read_header(ctx, version,
                                  "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }\n",
                                  &data));
        CHECK(data->X.rows == 3 && data->X.cols == 2);
        CHECK(data->X.row_stride == 1 && data->X.col_stride == 3);
        mgvi_data_free(ctx, data);
    }
    CHECK_OK(ctx,
             read_header(ctx, 1, "{'descr':'<f8','fortran_order':False,'shape':(5L,)}", &data));
    CHECK(data->X.rows == 5 && data->X.cols == 1);
    mgvi_data_free(ctx, data);
    CHECK_OK(ctx,
             read_header(ctx, 1, "{\"descr\":'=f8','fortran_order':False,'shape':(2,3,4)}", &data));
    CHECK(data->X.rows == 2 && data->X.cols == 12 && data->X.row_stride == 12);
    mgvi_data_free(ctx, data);
    CHECK_OK(ctx,
             read_header(ctx, 1, "{'descr':'<f8','fortran_order':False,'shape':(0,3)}", &data));
    CHECK(data->X.rows == 0 && data->X.cols == 3);
    mgvi_data_free(ctx, data);
    mgv_ctx_free(ctx);
}

TEST(other_arrays_are_refused_with_advice)
{
    static const char *const cases[][2] = {
        {"{'descr': '|O', 'fortran_order': False, 'shape': (3,)}", "holds Python objects"},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (3,)}", "has the dtype '<c16'"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}", "named fields"},
        {"{'descr': '<U3', 'fortran_order': False, 'shape': (3,)}", "holds text"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': ()}", "0 dimensions"},
        {"{'descr': '<f8', 'fortran_order': True, 'shape': (2,2,2)}", "Fortran order"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,99999999999)}", "needs more"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (0,99999999999)}", "more than 2^31"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296,4294967296)}", "needs"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}", "header"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", "header is not understood"},
        {"{'descr': '<f8', 'fortran_order': None, 'shape': (1,)}", "header is not understood"},
        {"{'descr': '<f8', 'shape': (1,)}", "header is not understood"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", "header is"},
        {"{'descr': '<f8", "header is not understood"},
        {"", "header is not understood"}};
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *data;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        CHECK_FAILS(ctx, read_header(ctx, 1, cases[k][0], &data), MGV_E_INPUT, cases[k][1]);
    CHECK_FAILS(ctx, read_header(ctx, 4, cases[0][0], &data), MGV_E_INPUT, "NPY version 4");
    mgv_ctx_free(ctx);
}

TEST(a_fault_names_the_file)
{
    mgv_ctx *ctx = mgv_check_ctx();
    const double values[6] = {1, 2, 3, 4, NAN, 6};
    mgv_data *data;
    char file[1024];
    const size_t size =
        make(file, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }\n", values,
             sizeof values);
    CHECK_FAILS(ctx, read_bytes(ctx, "a.npy", file, size, &data), MGV_E_INPUT,
                "a.npy: row 3, column 1: the value is nan");
    mgv_ctx_free(ctx);
}

TEST(what_is_mapped_is_used_in_place)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *before, *after;
    const char *path = "test_npy.tmp.npy";
    CHECK_OK(ctx, table_new(ctx, FORM_COLUMNS, MGV_F32, LABELS_NONE, false, &before));
    CHECK_OK(ctx, mgvi_write_file(ctx, before, path, NULL));
    CHECK_OK(ctx, mgvi_read_file(ctx, path, NULL, &after));
    /* The mapping and the file's name are all that is owned. */
    CHECK(after->owned && after->owned->mapped && after->owned->next && !after->owned->next->next);
    CHECK(after->owned->next->memory == after->file && strcmp(after->file, path) == 0);
    const char *map = after->owned->memory, *val = after->X.val;
    CHECK(val > map && val < map + after->owned->mapped && !after->checked);
    CHECK_OK(ctx, mgvi_data_check_once(ctx, after));
    mgvi_data_free(ctx, before);
    mgvi_data_free(ctx, after);
    unlink(path);
    mgv_ctx_free(ctx);
}

/* ---- IDX ------------------------------------------------------------------------------------ */

static size_t make_idx(char *out, int type, int sides, const int *shape, const void *data,
                       size_t count, size_t size)
{
    memcpy(out, (const char[]){0, 0, (char)type, (char)sides}, 4);
    for (int k = 0; k < sides; k++)
        reversed(&shape[k], 4, out + 4 + 4 * k);
    for (size_t i = 0; i < count; i++)
        reversed((const char *)data + i * size, size, out + 4 + 4 * sides + i * size);
    return 4 + 4 * (size_t)sides + count * size;
}

TEST(idx_files_are_read)
{
    const struct {
        int type;
        size_t size;
        const void *values; /* 1, 0, and the third, and 5 */
        double third;
    } idx_types[] = {{0x08, 1, (const uint8_t[]){1, 0, 255, 5}, 255},
                     {0x09, 1, (const int8_t[]){1, 0, -3, 5}, -3},
                     {0x0b, 2, (const int16_t[]){1, 0, -300, 5}, -300},
                     {0x0c, 4, (const int32_t[]){1, 0, 70000, 5}, 70000},
                     {0x0d, 4, (const float[]){1, 0, 0.5f, 5}, 0.5},
                     {0x0e, 8, (const double[]){1, 0, 0.1, 5}, 0.1}};
    mgv_ctx *ctx = mgv_check_ctx();
    for (size_t k = 0; k < sizeof idx_types / sizeof *idx_types; k++) {
        char file[128];
        mgv_data *data;
        size_t size = 0;
        for (int sides = 1; sides <= 4; sides++) {
            const int shape[] = {sides == 1 ? 4 : 2, 2, 1, 1};
            size = make_idx(file, idx_types[k].type, sides, shape, idx_types[k].values, 4,
                            idx_types[k].size);
            CHECK_OK(ctx, read_bytes(ctx, "some-idx", file, size, &data));
            CHECK(data->X.rows == shape[0] && data->X.cols == 4 / shape[0] && !data->labels);
            CHECK(mgvi_matrix_value(&data->X, 0) == 1 && mgvi_matrix_value(&data->X, 3) == 5);
            CHECK(mgvi_matrix_value(&data->X, 2) == idx_types[k].third);
            CHECK(data->X.dtype == (idx_types[k].type == 0x0e ? MGV_F64 : MGV_F32));
            mgvi_data_free(ctx, data);
        }
        for (size_t cut = 0; cut < size; cut++)
            CHECK_FAILS(ctx, read_bytes(ctx, "a.idx", file, cut, &data), MGV_E_INPUT, "");
        CHECK_FAILS(ctx, read_bytes(ctx, "a.idx", file, size - 1, &data), MGV_E_INPUT,
                    "2 x 2 numbers are announced, but 3 are there");
    }
    mgv_ctx_free(ctx);
}

TEST(idx_labels_lie_beside_the_images)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_data *data;
    char file[64];
    const char *images = "test_npy.tmp-images-idx3-ubyte",
               *labels = "test_npy.tmp-labels-idx1-ubyte";
    const uint8_t pixels[] = {0, 50, 100, 150, 200, 250}, digits[] = {7, 3, 7};
    save_bytes(images, file, make_idx(file, 8, 3, (const int[]){3, 2, 1}, pixels, 6, 1));
    CHECK_OK(ctx, mgvi_read_file(ctx, images, NULL, &data));
    CHECK(data->labels == NULL && data->X.cols == 2 && strcmp(data->format, "idx") == 0);
    mgvi_data_free(ctx, data);
    save_bytes(labels, file, make_idx(file, 8, 1, (const int[]){3}, digits, 3, 1));
    CHECK_OK(ctx, mgvi_read_file(ctx, images, NULL, &data));
    CHECK(data->labels && data->labels[0] == 7 && data->labels[1] == 3 && data->classes == 2);
    assert_string_equal(data->class_text[1], "7");
    mgvi_data_free(ctx, data);
    save_bytes(labels, file, make_idx(file, 8, 1, (const int[]){2}, digits, 2, 1));
    CHECK_FAILS(ctx, mgvi_read_file(ctx, images, NULL, &data), MGV_E_INPUT,
                "labels-idx1-ubyte: has 2 labels, but there are 3 rows");
    unlink(images);
    unlink(labels);
    mgv_ctx_free(ctx);
}

int main(void)
{
    return RUN(every_number_type_and_byte_order_is_read, shapes_orders_and_versions,
               other_arrays_are_refused_with_advice, a_fault_names_the_file,
               what_is_mapped_is_used_in_place, idx_files_are_read,
               idx_labels_lie_beside_the_images);
}
