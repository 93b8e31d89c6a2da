/* tensors.c - parsing and writing the safetensors layout. We are as strict as the reference
 * implementation: the arrays lie end to end, without holes, up to the last byte of the file. */
#include "data/tensors.h"

#include "base/sink.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are used where they are mapped");

enum {
    LENGTH_BYTES = 8,
    HEADER_MAX = 100000000, /* the limit of the reference implementation */
    ALIGN = MGVI_ALIGN
};

static const struct {
    const char *name;
    size_t size;
} types[] = {[MGVI_T_F32] = {"F32", 4},
             [MGVI_T_F64] = {"F64", 8},
             [MGVI_T_I32] = {"I32", 4},
             [MGVI_T_I64] = {"I64", 8},
             [MGVI_T_U8] = {"U8", 1}};
enum { TYPES = sizeof types / sizeof *types };

typedef struct placed {
    mgvi_tensor tensor;
    uint64_t begin, end; /* in the data that follow the header */
} placed;

struct mgvi_tensors {
    char *path;
    json_t *header;
    placed *items; /* in file order */
    int count;
};

size_t mgvi_tensor_type_size(mgvi_tensor_type type) { return types[type].size; }

void mgvi_tensors_free(mgv_ctx *ctx, mgvi_tensors *tensors)
{
    if (!tensors)
        return;
    json_decref(tensors->header);
    mgvi_release(ctx, tensors->path);
    mgvi_release(ctx, tensors->items);
    mgvi_release(ctx, tensors);
}

/* ---- Parsing -------------------------------------------------------------------------------- */

static mgv_status parse_header(mgv_ctx *ctx, mgvi_tensors *t, const char *bytes, size_t size,
                               size_t *data_begin)
{
    uint64_t length;
    if (size < LENGTH_BYTES)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: the file has %zu bytes, too few for its header",
                         t->path, size);
    memcpy(&length, bytes, sizeof length);
    if (length > HEADER_MAX || length > size - LENGTH_BYTES)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: the header claims %" PRIu64 " bytes, but the file has %zu: it is "
                         "truncated or not in the safetensors layout",
                         t->path, length, size);
    json_error_t error;
    t->header = json_loadb(bytes + LENGTH_BYTES, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    if (!t->header && json_error_code(&error) == json_error_out_of_memory)
        return MGVI_FAIL(ctx, MGV_E_MEMORY, "%s: out of memory reading the header", t->path);
    if (!t->header)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: the header is not JSON: byte %d: %s", t->path,
                         error.position, error.text);
    if (!json_is_object(t->header))
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: the header is not a JSON object", t->path);
    *data_begin = LENGTH_BYTES + (size_t)length;
    return MGV_OK;
}

static mgv_status parse_meta(mgv_ctx *ctx, const mgvi_tensors *t, json_t *meta)
{
    const char *key;
    json_t *value;
    if (!json_is_object(meta))
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: __metadata__ is not a JSON object", t->path);
    json_object_foreach(meta, key, value) if (!json_is_string(value)) return MGVI_FAIL(
        ctx, MGV_E_INPUT, "%s: the metadata '%.60s' is not text", t->path, key);
    return MGV_OK;
}

static mgv_status parse_type(mgv_ctx *ctx, const mgvi_tensors *t, json_t *entry, mgvi_tensor *out)
{
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    for (int k = 0; dtype && k < TYPES; k++) {
        if (strcmp(dtype, types[k].name) == 0) {
            out->type = (mgvi_tensor_type)k;
            return MGV_OK;
        }
    }
    return MGVI_FAIL(ctx, MGV_E_INPUT,
                     "%s: the array '%s' has the dtype '%.20s'; known: F32, F64, I32, I64, U8",
                     t->path, out->name, dtype ? dtype : "");
}

/* Sets rank and shape; *bytes is the size they imply. */
static mgv_status parse_shape(mgv_ctx *ctx, const mgvi_tensors *t, json_t *entry, mgvi_tensor *out,
                              uint64_t *bytes)
{
    json_t *shape = json_object_get(entry, "shape");
    const size_t rank = json_array_size(shape);
    if (!json_is_array(shape) || rank > 2)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: the array '%s' has %zu dimensions; at most 2 are read", t->path,
                         out->name, rank);
    out->rank = (int)rank;
    *bytes = types[out->type].size;
    for (size_t k = 0; k < rank; k++) {
        json_t *side = json_array_get(shape, k);
        out->shape[k] = json_integer_value(side);
        if (!json_is_integer(side) || out->shape[k] < 0 ||
            __builtin_mul_overflow(*bytes, (uint64_t)out->shape[k], bytes) || *bytes > INT64_MAX)
            return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: the array '%s' has an impossible shape",
                             t->path, out->name);
    }
    return MGV_OK;
}

static mgv_status parse_offsets(mgv_ctx *ctx, const mgvi_tensors *t, json_t *entry, placed *out,
                                uint64_t bytes)
{
    json_t *offsets = json_object_get(entry, "data_offsets");
    json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end) ||
        json_integer_value(begin) < 0 || json_integer_value(end) < json_integer_value(begin))
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: the array '%s' has no valid data_offsets", t->path,
                         out->tensor.name);
    out->begin = (uint64_t)json_integer_value(begin);
    out->end = (uint64_t)json_integer_value(end);
    if (out->end - out->begin != bytes)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: the array '%s' has %" PRIu64 " bytes, but its shape needs %" PRIu64,
                         t->path, out->tensor.name, out->end - out->begin, bytes);
    return MGV_OK;
}

static mgv_status parse_entry(mgv_ctx *ctx, const mgvi_tensors *t, const char *name, json_t *entry,
                              placed *out)
{
    uint64_t bytes = 0;
    if (strlen(name) >= sizeof out->tensor.name)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: the array name '%.20s...' has %zu bytes; at most "
                         "%zu are read",
                         t->path, name, strlen(name), sizeof out->tensor.name - 1);
    strcpy(out->tensor.name, name);
    MGVI_TRY(parse_type(ctx, t, entry, &out->tensor));
    MGVI_TRY(parse_shape(ctx, t, entry, &out->tensor, &bytes));
    return parse_offsets(ctx, t, entry, out, bytes);
}

static int by_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* The arrays must follow each other exactly and end with the file. */
static mgv_status place(mgv_ctx *ctx, mgvi_tensors *t, const char *data, size_t size)
{
    uint64_t expected = 0;
    qsort(t->items, (size_t)t->count, sizeof *t->items, by_place);
    for (placed *p = t->items; p < t->items + t->count; p++) {
        const size_t element = types[p->tensor.type].size;
        if (p->begin != expected)
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "%s: the array '%s' begins at data byte %" PRIu64
                             ", but the one before ends at %" PRIu64,
                             t->path, p->tensor.name, p->begin, expected);
        if (p->end > size)
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "%s: the array '%s' ends at data byte %" PRIu64
                             ", but the file has %zu: it is truncated",
                             t->path, p->tensor.name, p->end, size);
        p->tensor.data = data + p->begin;
        if ((uintptr_t)p->tensor.data % element)
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "%s: the array '%s' is not aligned to its %zu-byte numbers", t->path,
                             p->tensor.name, element);
        expected = p->end;
    }
    if (expected != size)
        return MGVI_FAIL(ctx, MGV_E_INPUT,
                         "%s: the arrays end at data byte %" PRIu64 ", but the file has %zu",
                         t->path, expected, size);
    return MGV_OK;
}

static mgv_status parse_all(mgv_ctx *ctx, mgvi_tensors *t, const char *bytes, size_t size)
{
    size_t data_begin = 0;
    const char *name;
    json_t *entry;
    MGVI_TRY(parse_header(ctx, t, bytes, size, &data_begin));
    t->items = mgvi_zeros(ctx, json_object_size(t->header), sizeof *t->items);
    if (!t->items)
        return MGV_E_MEMORY;
    json_object_foreach(t->header, name, entry)
    {
        if (strcmp(name, "__metadata__") == 0) {
            MGVI_TRY(parse_meta(ctx, t, entry));
        } else {
            MGVI_TRY(parse_entry(ctx, t, name, entry, &t->items[t->count]));
            t->count++;
        }
    }
    return place(ctx, t, bytes + data_begin, size - data_begin);
}

mgv_status mgvi_tensors_parse(mgv_ctx *ctx, const char *path, const void *bytes, size_t size,
                              mgvi_tensors **out)
{
    *out = NULL;
    mgvi_tensors *t = mgvi_new(ctx, sizeof *t);
    if (!t)
        return MGV_E_MEMORY;
    t->path = mgvi_strdup(ctx, path);
    const mgv_status st = t->path ? parse_all(ctx, t, bytes, size) : MGV_E_MEMORY;
    if (st == MGV_OK)
        *out = t;
    else
        mgvi_tensors_free(ctx, t);
    return st;
}

/* ---- Looking things up ---------------------------------------------------------------------- */

const mgvi_tensor *mgvi_tensors_find(const mgvi_tensors *tensors, const char *name)
{
    for (int k = 0; k < tensors->count; k++)
        if (strcmp(tensors->items[k].tensor.name, name) == 0)
            return &tensors->items[k].tensor;
    return NULL;
}

const char *mgvi_tensors_meta(const mgvi_tensors *tensors, const char *key)
{
    return json_string_value(
        json_object_get(json_object_get(tensors->header, "__metadata__"), key));
}

bool mgvi_tensors_meta_is(const mgvi_tensors *tensors, const char *key, const char *text)
{
    const char *got = mgvi_tensors_meta(tensors, key);
    return got && strcmp(got, text) == 0;
}

mgv_status mgvi_tensors_need(mgv_ctx *ctx, const mgvi_tensors *tensors, const char *name,
                             mgvi_tensor_type type, int rank, int64_t rows, int64_t cols,
                             const void **data)
{
    const int64_t want[2] = {rows, cols};
    const mgvi_tensor *t = mgvi_tensors_find(tensors, name);
    if (!t)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: there is no array '%s'", tensors->path, name);
    if (t->type != type)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: the array '%s' has the dtype %s, not %s",
                         tensors->path, name, types[t->type].name, types[type].name);
    if (t->rank != rank)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: the array '%s' has %d dimensions, not %d",
                         tensors->path, name, t->rank, rank);
    for (int k = 0; k < rank; k++)
        if (want[k] >= 0 && t->shape[k] != want[k])
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "%s: side %d of the array '%s' is %" PRId64 ", not %" PRId64,
                             tensors->path, k + 1, name, t->shape[k], want[k]);
    *data = t->data;
    return MGV_OK;
}

mgv_status mgvi_tensors_texts(mgv_ctx *ctx, const mgvi_tensors *tensors, const char *name,
                              int64_t count, char **texts)
{
    const void *bytes = NULL;
    MGVI_TRY(mgvi_tensors_need(ctx, tensors, name, MGVI_T_U8, 1, -1, 0, &bytes));
    const int64_t size = mgvi_tensors_find(tensors, name)->shape[0];
    const char *at = bytes, *end = at + size;
    int64_t k = 0;
    for (; k < count && at < end; k++) {
        const char *close = memchr(at, 0, (size_t)(end - at));
        if (!close)
            break;
        if (texts)
            texts[k] = (char *)(uintptr_t)at;
        at = close + 1;
    }
    if (k != count || at != end)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "%s: the array '%s' does not hold %" PRId64 " texts",
                         tensors->path, name, count);
    return MGV_OK;
}

/* ---- Writing -------------------------------------------------------------------------------- */

char *mgvi_texts_join(mgv_ctx *ctx, char *const *texts, int64_t count, int64_t *bytes)
{
    size_t size = 0;
    for (int64_t k = 0; k < count; k++)
        size += strlen(texts[k]) + 1;
    char *block = mgvi_alloc(ctx, size, 1), *at = block;
    for (int64_t k = 0; k < count && block; k++)
        at = stpcpy(at, texts[k]) + 1;
    *bytes = (int64_t)size;
    return block;
}

static size_t tensor_bytes(const mgvi_tensor *t)
{
    size_t bytes = types[t->type].size;
    for (int k = 0; k < t->rank; k++)
        bytes *= (size_t)t->shape[k];
    return bytes;
}

static json_t *meta_json(mgv_ctx *ctx, const mgvi_meta *meta, int count, mgv_status *st)
{
    json_t *object = json_object();
    for (int k = 0; object && k < count; k++) {
        if (json_object_set_new(object, meta[k].key, json_string(meta[k].value)) == 0)
            continue;
        json_t *raw = json_string_nocheck(meta[k].value); /* fails for want of memory only */
        if (raw)
            *st = MGVI_FAIL(ctx, MGV_E_INPUT, "the metadata '%s' is not UTF-8 text", meta[k].key);
        json_decref(raw);
        json_decref(object);
        object = NULL;
    }
    return object;
}

/* Arrays go in order of falling element size: each is then aligned to its own numbers. */
static const size_t sizes_in_order[] = {8, 4, 1};
#define FOR_EACH_IN_FILE_ORDER(t, tensors, count)                                                  \
    for (int pass_ = 0; pass_ < 3; pass_++)                                                        \
        for (const mgvi_tensor *t = (tensors); t < (tensors) + (count); t++)                       \
            if (types[t->type].size == sizes_in_order[pass_])

/* The header as text from Jansson's allocator, or NULL. */
static char *header_text(mgv_ctx *ctx, const mgvi_tensor *tensors, int count, const mgvi_meta *meta,
                         int meta_count, mgv_status *st)
{
    uint64_t begin = 0;
    json_t *root = json_object();
    *st = MGV_E_MEMORY;
    bool ok = root != NULL;
    if (ok && meta_count)
        ok = json_object_set_new(root, "__metadata__", meta_json(ctx, meta, meta_count, st)) == 0;
    FOR_EACH_IN_FILE_ORDER(t, tensors, count)
    {
        const uint64_t end = begin + tensor_bytes(t);
        json_t *shape = json_array();
        for (int k = 0; ok && k < t->rank; k++)
            ok = json_array_append_new(shape, json_integer(t->shape[k])) == 0;
        json_t *entry = json_pack("{s:s, s:o, s:[I, I]}", "dtype", types[t->type].name, "shape",
                                  shape, "data_offsets", (json_int_t)begin, (json_int_t)end);
        ok = json_object_set_new(root, t->name, entry) == 0 && ok;
        begin = end;
    }
    char *text = ok ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    if (text)
        *st = MGV_OK;
    else if (*st == MGV_E_MEMORY)
        mgvi_fail(ctx, *st, "out of memory building a header for %d arrays", count);
    return text;
}

/* The bytes of the header with the blanks after it, without the 8 that tell its length. */
static uint64_t padded_length(const char *text)
{
    return (strlen(text) + LENGTH_BYTES + ALIGN - 1) / ALIGN * ALIGN - LENGTH_BYTES;
}

static void write_array(mgvi_sink *sink, const mgvi_tensor *t)
{
    static const char zeros[1 << 12];
    const size_t bytes = tensor_bytes(t);
    if (t->data)
        mgvi_sink_write(sink, t->data, bytes);
    for (size_t at = 0; !t->data && at < bytes; at += sizeof zeros)
        mgvi_sink_write(sink, zeros, bytes - at < sizeof zeros ? bytes - at : sizeof zeros);
}

mgv_status mgvi_tensors_write(mgv_ctx *ctx, const char *path, const mgvi_tensor *tensors, int count,
                              const mgvi_meta *meta, int meta_count)
{
    mgv_status st;
    mgvi_sink *sink = NULL;
    char *text = header_text(ctx, tensors, count, meta, meta_count, &st);
    if (!text)
        return st;
    const size_t length = strlen(text);
    const uint64_t padded = padded_length(text);
    MGVI_CHECK(st, done, mgvi_sink_open(ctx, path, &sink));
    mgvi_sink_write(sink, &padded, sizeof padded);
    mgvi_sink_write(sink, text, length);
    mgvi_sink_printf(sink, "%*s", (int)(padded - length), "");
    FOR_EACH_IN_FILE_ORDER(t, tensors, count) write_array(sink, t);
    st = mgvi_sink_close(sink, true);
done:
    free(text);
    return st;
}

mgv_status mgvi_tensors_pack(mgv_ctx *ctx, const mgvi_tensor *tensors, int count,
                             const mgvi_meta *meta, int meta_count, void **bytes, size_t *size)
{
    mgv_status st;
    char *text = header_text(ctx, tensors, count, meta, meta_count, &st);
    *bytes = NULL;
    if (!text)
        return st;
    const uint64_t padded = padded_length(text);
    *size = sizeof padded + padded;
    for (int k = 0; k < count; k++)
        *size += tensor_bytes(&tensors[k]);
    char *at = *bytes = mgvi_alloc(ctx, *size, 1);
    if (at) {
        memcpy(at, &padded, sizeof padded);
        memset(at + sizeof padded, ' ', padded);
        memcpy(at + sizeof padded, text, strlen(text));
        at += sizeof padded + padded;
        FOR_EACH_IN_FILE_ORDER(t, tensors, count)
        {
            const size_t length = tensor_bytes(t);
            if (length > 0 && t->data)
                memcpy(at, t->data, length);
            else
                memset(at, 0, length);
            at += length;
        }
    }
    free(text);
    return at ? MGV_OK : MGV_E_MEMORY;
}
