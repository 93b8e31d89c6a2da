/* idx.c - IDX, the format of MNIST: two zeros, a type, the number of sides, big-endian sides, the
 * numbers. The first side counts the rows, the others are flattened. */
#include "io/io.h"

#include "base/event.h"
#include "io/convert.h"
#include "io/unpack.h"

#include <string.h>
#include <unistd.h>

enum { MOST_SIDES = 4 };

typedef struct idx {
    mgvi_numbers values;
    int64_t rows, cols;
} idx;

static bool number_type(int code, mgvi_number *out)
{
    static const struct {
        int code;
        mgvi_number type;
    } types[] = {{0x08, MGVI_N_U8},  {0x09, MGVI_N_I8},  {0x0b, MGVI_N_I16},
                 {0x0c, MGVI_N_I32}, {0x0d, MGVI_N_F32}, {0x0e, MGVI_N_F64}};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        if (types[k].code == code) {
            *out = types[k].type;
            return true;
        }
    }
    return false;
}

static int64_t side(const char *bytes, int k)
{
    uint32_t v;
    memcpy(&v, bytes + 4 + 4 * k, sizeof v);
    return __builtin_bswap32(v);
}

static mgv_status parse(mgv_ctx *ctx, const char *path, const char *bytes, size_t size, idx *out)
{
    *out = (idx){.values.swapped = true, .cols = 1};
    const int sides = size < 4 ? 0 : bytes[3];
    if (size < 4 || bytes[0] || bytes[1] || !number_type(bytes[2], &out->values.type))
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: is not an IDX file", path);
    if (sides < 1 || sides > MOST_SIDES)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: has %d sides; 1 to %d are read", path, sides,
                         MOST_SIDES);
    const size_t begin = 4 + 4 * (size_t)sides;
    if (size < begin)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: is truncated in its header (%zu bytes)", path,
                         size);
    out->rows = side(bytes, 0);
    for (int k = 1; k < sides; k++)
        if (__builtin_mul_overflow(out->cols, side(bytes, k), &out->cols) || out->cols > INT32_MAX)
            return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: has more than 2^31 - 1 columns", path);
    /* Both factors are below 2^32: no overflow. */
    const uint64_t need = (uint64_t)out->rows * (uint64_t)out->cols;
    const size_t there = (size - begin) / mgvi_number_size(out->values.type);
    if (there != need)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: %" PRId64 " x %" PRId64 " numbers are announced, but %zu are there",
                         path, out->rows, out->cols, there);
    out->values.count = there;
    out->values.data = bytes + begin;
    return MGV_OK;
}

mgv_status mgvi_idx_labels(mgv_ctx *ctx, const mgvi_source *source, mgv_data *data)
{
    idx labels;
    MGVI_TRY(parse(ctx, source->path, source->bytes, source->size, &labels));
    if (labels.cols != 1 || labels.rows != data->X.rows)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: has %" PRId64 " labels, but there are %" PRId64 " rows", source->path,
                         labels.rows, data->X.rows);
    double *values = mgvi_alloc(ctx, labels.values.count, sizeof *values);
    if (!values)
        return MGV_E_MEMORY;
    mgvi_numbers_convert(ctx, &labels.values, MGV_F64, values);
    const mgv_status st = mgvi_data_set_labels(ctx, data, values, NULL, NULL);
    mgvi_release(ctx, values);
    return st;
}

/* The name of the labels beside `path`, packed or not, or NULL (*st tells want of memory). */
static char *sibling(mgv_ctx *ctx, const char *path, mgv_status *st)
{
    static const char *const pairs[][2] = {{"images-idx3", "labels-idx1"},
                                           {"images.idx3", "labels.idx1"}};
    static const char *const suffixes[] = {"", ".gz", ".bz2", ".xz", ".zst"};
    const char *found = NULL;
    int pair = 0;
    for (int k = 0; k < 2 && !found; k++) {
        found = strstr(path, pairs[k][0]);
        pair = k;
    }
    if (!found)
        return NULL;
    const size_t stem = mgvi_unpack_stem(path);
    const char *rest = found + strlen(pairs[pair][0]);
    for (size_t k = 0; k < sizeof suffixes / sizeof *suffixes; k++) {
        char *name = mgvi_format(ctx, "%.*s%s%.*s%s", (int)(found - path), path, pairs[pair][1],
                                 (int)(path + stem - rest), rest, suffixes[k]);
        if (!name) {
            *st = MGV_E_MEMORY;
            return NULL;
        }
        if (access(name, R_OK) == 0)
            return name;
        mgvi_release(ctx, name);
    }
    return NULL;
}

static mgv_status find_labels(mgv_ctx *ctx, const mgvi_source *source, mgv_data *data)
{
    mgv_status st = MGV_OK;
    mgvi_source labels;
    char *name = sibling(ctx, source->path, &st);
    if (!name)
        return st;
    st = mgvi_source_open(ctx, name, source->settings, &labels);
    if (st == MGV_OK) {
        st = mgvi_idx_labels(ctx, &labels, data);
        mgvi_source_close(ctx, &labels);
    }
    if (st == MGV_OK)
        mgvi_log(ctx, MGV_INFO, "%s: labels from %s", source->path, name);
    mgvi_release(ctx, name);
    return st;
}

static int probe(const mgvi_source *source)
{
    mgvi_number type;
    const char *b = source->bytes;
    if (source->size < 8 || b[0] || b[1] || !number_type(b[2], &type))
        return 0;
    return b[3] >= 1 && b[3] <= MOST_SIDES ? 90 : 0;
}

static mgv_status read_idx(mgv_ctx *ctx, mgvi_source *source, mgv_data *data)
{
    idx image;
    mgvi_matrix *X = &data->X;
    MGVI_TRY(parse(ctx, source->path, source->bytes, source->size, &image));
    X->layout = MGV_DENSE;
    X->dtype = mgvi_numbers_fit_f32(ctx, &image.values) ? MGV_F32 : MGV_F64;
    X->rows = image.rows;
    X->cols = image.cols;
    X->nnz = image.rows * image.cols;
    X->row_stride = image.cols;
    X->col_stride = 1;
    void *values = mgvi_alloc(ctx, image.values.count, mgvi_dtype_size(X->dtype));
    if (!values)
        return MGV_E_MEMORY;
    mgvi_numbers_convert(ctx, &image.values, X->dtype, values);
    X->val = values;
    MGVI_TRY(mgvi_data_own(ctx, data, values, 0));
    return find_labels(ctx, source, data);
}

const mgvi_reader mgvi_reader_idx = {
    .name = "idx",
    .summary = "IDX as in MNIST; labels from the labels-idx1 file beside images-idx3",
    .extensions = "-ubyte .idx .idx1 .idx2 .idx3",
    .probe = probe,
    .read = read_idx,
};
