/* test_tensors.c - the safetensors layout: round trips, hostile files, failing allocations. */
#include "check.h"

#include "base/memory.h"
#include "data/tensors.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char path[] = "test_tensors.tmp.mgm";

static const float f32[6] = {1, -2, 3.5f, 0, 1e-30f, 7};
static const double f64[3] = {1.0 / 3, -0.0, 1e300};
static const int32_t i32[2] = {-5, 2147483647};
static const int64_t i64[1] = {INT64_MIN};
static const unsigned char u8[5] = "hello";
static const mgvi_tensor sample[] = {
    {.name = "text", .type = MGVI_T_U8, .rank = 1, .shape = {5}, .data = u8},
    {.name = "f32", .type = MGVI_T_F32, .rank = 2, .shape = {2, 3}, .data = f32},
    {.name = "f64", .type = MGVI_T_F64, .rank = 1, .shape = {3}, .data = f64},
    {.name = "i32", .type = MGVI_T_I32, .rank = 2, .shape = {1, 2}, .data = i32},
    {.name = "empty", .type = MGVI_T_F64, .rank = 2, .shape = {0, 9}, .data = f64},
    {.name = "i64", .type = MGVI_T_I64, .rank = 0, .data = i64}};
enum { SAMPLES = sizeof sample / sizeof *sample };
static const mgvi_meta sample_meta[] = {{"format", "1"}, {"json", "{\"a\": \"\xc3\xa9\"}"}};

/* The whole file in memory aligned as a mapping is; freed by the caller. */
static char *slurp(const char *name, size_t *size)
{
    FILE *f = fopen(name, "rb");
    CHECK(f != NULL);
    char *bytes = aligned_alloc(64, 1 << 16);
    *size = fread(bytes, 1, 1 << 16, f);
    fclose(f);
    return bytes;
}

TEST(what_is_written_is_read_back)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_tensors *t;
    size_t size;
    CHECK_OK(ctx, mgvi_tensors_write(ctx, path, sample, SAMPLES, sample_meta, 2));
    char *bytes = slurp(path, &size);
    CHECK_OK(ctx, mgvi_tensors_parse(ctx, path, bytes, size, &t));
    uint64_t header;
    memcpy(&header, bytes, 8);
    CHECK((8 + header) % 64 == 0);
    for (int k = 0; k < SAMPLES; k++) {
        const mgvi_tensor *got = mgvi_tensors_find(t, sample[k].name);
        const void *data;
        size_t length = mgvi_tensor_type_size(sample[k].type);
        CHECK(got && got->type == sample[k].type && got->rank == sample[k].rank);
        for (int side = 0; side < got->rank; side++) {
            CHECK(got->shape[side] == sample[k].shape[side]);
            length *= (size_t)got->shape[side];
        }
        assert_memory_equal(got->data, sample[k].data, length);
        CHECK_OK(ctx, mgvi_tensors_need(ctx, t, sample[k].name, sample[k].type, sample[k].rank,
                                        sample[k].shape[0], -1, &data));
        CHECK(data == got->data);
    }
    CHECK(mgvi_tensors_find(t, "absent") == NULL && mgvi_tensors_meta(t, "absent") == NULL);
    assert_string_equal(mgvi_tensors_meta(t, "json"), sample_meta[1].value);
    const void *data;
    CHECK_FAILS(ctx, mgvi_tensors_need(ctx, t, "absent", MGVI_T_F32, 1, -1, -1, &data), MGV_E_INPUT,
                "no array 'absent'");
    CHECK_FAILS(ctx, mgvi_tensors_need(ctx, t, "f32", MGVI_T_F64, 2, -1, -1, &data), MGV_E_INPUT,
                "has the dtype F32, not F64");
    CHECK_FAILS(ctx, mgvi_tensors_need(ctx, t, "f32", MGVI_T_F32, 1, -1, -1, &data), MGV_E_INPUT,
                "has 2 dimensions, not 1");
    CHECK_FAILS(ctx, mgvi_tensors_need(ctx, t, "f32", MGVI_T_F32, 2, 2, 4, &data), MGV_E_INPUT,
                "side 2 of the array 'f32' is 3, not 4");
    mgvi_tensors_free(ctx, t);
    free(bytes);
    remove(path);
    mgv_ctx_free(ctx);
}

TEST(a_file_cut_anywhere_is_refused)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_tensors *t;
    size_t size;
    CHECK_OK(ctx, mgvi_tensors_write(ctx, path, sample, SAMPLES, sample_meta, 2));
    char *bytes = slurp(path, &size);
    for (size_t cut = 0; cut < size; cut++)
        CHECK_FAILS(ctx, mgvi_tensors_parse(ctx, path, bytes, cut, &t), MGV_E_INPUT, path);
    bytes[size] = 0;
    CHECK_FAILS(ctx, mgvi_tensors_parse(ctx, path, bytes, size + 1, &t), MGV_E_INPUT, "the file");
    free(bytes);
    remove(path);
    mgv_ctx_free(ctx);
}

static void refused(const char *json, size_t data, const char *part)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_tensors *t;
    const uint64_t length = (strlen(json) + 7) / 8 * 8;
    char *bytes = aligned_alloc(64, (8 + length + data + 63) / 64 * 64);
    memcpy(bytes, &length, 8);
    memset(bytes + 8, ' ', length);
    memcpy(bytes + 8, json, strlen(json));
    memset(bytes + 8 + length, 0, data);
    CHECK_FAILS(ctx, mgvi_tensors_parse(ctx, "hostile", bytes, 8 + length + data, &t), MGV_E_INPUT,
                part);
    CHECK(t == NULL);
    free(bytes);
    mgv_ctx_free(ctx);
}

TEST(hostile_headers_get_a_sentence)
{
#define ARRAY(type, shape, from, to)                                                               \
    "{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":[" #from "," #to "]}"
    refused("[]", 0, "hostile: the header is not a JSON object");
    refused("{\"a\"", 0, "hostile: the header is not JSON");
    refused("{\"a\":" ARRAY("F32", "[1]", 0, 4) ",\"a\":" ARRAY("F32", "[1]", 0, 4) "}", 4,
            "duplicate");
    refused("{\"a\":" ARRAY("F32", "[1]", 0, 4) ",\"b\":" ARRAY("F32", "[1]", 0, 4) "}", 4,
            "begins at data byte 0, but the one before ends at 4");
    refused("{\"a\":" ARRAY("F32", "[1]", 4, 8) "}", 8, "begins at data byte 4");
    refused("{\"a\":" ARRAY("F32", "[2]", 0, 8) "}", 4, "truncated");
    refused("{\"a\":" ARRAY("F32", "[2]", 0, 4) "}", 4, "its shape needs 8");
    refused("{\"a\":" ARRAY("F32", "[1]", 4, 0) "}", 4, "no valid data_offsets");
    refused("{\"a\":" ARRAY("F32", "[-1]", 0, 4) "}", 4, "impossible shape");
    refused("{\"a\":" ARRAY("F32", "[1.5]", 0, 4) "}", 4, "impossible shape");
    refused("{\"a\":" ARRAY("F64", "[4294967296,4294967296]", 0, 0) "}", 0, "impossible shape");
    refused("{\"a\":" ARRAY("F64", "[4611686018427387904]", 0, 0) "}", 0, "impossible shape");
    refused("{\"a\":" ARRAY("F32", "[1,1,1]", 0, 4) "}", 4, "has 3 dimensions");
    refused("{\"a\":" ARRAY("BF16", "[1]", 0, 2) "}", 2, "dtype 'BF16'");
    refused("{\"a\":{\"dtype\":7}}", 0, "known: F32");
    refused("{\"a\":3}", 0, "known: F32");
    refused("{\"a\":" ARRAY("U8", "[1]", 0, 1) ",\"b\":" ARRAY("F64", "[1]", 1, 9) "}", 9,
            "not aligned");
    refused("{\"__metadata__\":{\"a\":1}}", 0, "'a' is not text");
    refused("{\"__metadata__\":[]}", 0, "__metadata__");
    refused("{\"a23456789a23456789a23456789a23456789a23456789a23456789a23456789a234\":" ARRAY(
                "U8", "[0]", 0, 0) "}",
            0, "at most 63");
    char deep[20000];
    memset(deep, '[', sizeof deep);
    deep[sizeof deep - 1] = 0;
    refused(deep, 0, "the header is not JSON");
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_tensors *t;
    const uint64_t absurd[2] = {UINT64_MAX, 0};
    CHECK_FAILS(ctx, mgvi_tensors_parse(ctx, "hostile", absurd, 16, &t), MGV_E_INPUT,
                "the header claims 18446744073709551615 bytes");
    mgv_ctx_free(ctx);
}

TEST(metadata_must_be_utf8)
{
    mgv_ctx *ctx = mgv_check_ctx();
    const mgvi_meta meta = {"who", "\xff"};
    CHECK_FAILS(ctx, mgvi_tensors_write(ctx, path, sample, 1, &meta, 1), MGV_E_INPUT,
                "the metadata 'who' is not UTF-8 text");
    CHECK(access(path, F_OK) != 0);
    mgv_ctx_free(ctx);
}

TEST(a_failing_allocation_leaves_nothing_behind)
{
    for (long k = 1;; k++) {
        mgv_check_allocator a;
        mgv_check_allocator_init(&a, 0);
        mgv_ctx *ctx;
        mgvi_tensors *t = NULL;
        size_t size;
        assert_int_equal(mgv_ctx_new(&a.hooks, &ctx), MGV_OK);
        a.fail_at = a.calls + k;
        mgv_status st = mgvi_tensors_write(ctx, path, sample, SAMPLES, sample_meta, 2);
        if (st == MGV_OK) {
            char *bytes = slurp(path, &size);
            st = mgvi_tensors_parse(ctx, path, bytes, size, &t);
            mgvi_tensors_free(ctx, t);
            free(bytes);
        } else {
            CHECK(access(path, F_OK) != 0);
        }
        remove(path);
        mgv_ctx_free(ctx);
        assert_int_equal(a.live, 0);
        if (st == MGV_OK)
            break;
        assert_int_equal(st, MGV_E_MEMORY);
        CHECK(k < 100);
    }
}

int main(void)
{
    return RUN(what_is_written_is_read_back, a_file_cut_anywhere_is_refused,
               hostile_headers_get_a_sentence, metadata_must_be_utf8,
               a_failing_allocation_leaves_nothing_behind);
}
