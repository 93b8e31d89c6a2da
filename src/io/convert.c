/* convert.c - one loop per number type, run in blocks on all threads. */
#include "io/convert.h"

#include "base/limit.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 1 << 16, MOST_BLOCKS = 256 };

static const unsigned char sizes[] = {
    [MGVI_N_BOOL] = 1, [MGVI_N_I8] = 1,  [MGVI_N_U8] = 1,  [MGVI_N_I16] = 2,
    [MGVI_N_U16] = 2,  [MGVI_N_I32] = 4, [MGVI_N_U32] = 4, [MGVI_N_I64] = 8,
    [MGVI_N_U64] = 8,  [MGVI_N_F16] = 2, [MGVI_N_F32] = 4, [MGVI_N_F64] = 8};

size_t mgvi_number_size(mgvi_number type) { return sizes[type]; }

/* IEEE half: 1 sign, 5 exponent, 10 fraction bits. */
static float half_value(uint16_t h)
{
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    float v;
    if (exponent == 31)
        v = fraction ? NAN : INFINITY;
    else if (exponent)
        v = ldexpf((float)(fraction + 1024), exponent - 25);
    else
        v = ldexpf((float)fraction, -24);
    return h >> 15 ? -v : v;
}

/* Unaligned loads, with the bytes turned round where the file is of the other order. */
static inline uint8_t load8(const char *p, bool swapped)
{
    (void)swapped;
    return (uint8_t)*p;
}
#define LOAD(bits)                                                                                 \
    static inline uint##bits##_t load##bits(const char *p, bool swapped)                           \
    {                                                                                              \
        uint##bits##_t v;                                                                          \
        memcpy(&v, p, sizeof v);                                                                   \
        return swapped ? __builtin_bswap##bits(v) : v;                                             \
    }
LOAD(16)
LOAD(32)
LOAD(64)
#undef LOAD

static inline float bits_f32(uint32_t u)
{
    float v;
    memcpy(&v, &u, sizeof v);
    return v;
}

static inline double bits_f64(uint64_t u)
{
    double v;
    memcpy(&v, &u, sizeof v);
    return v;
}

/* X(type, bytes, expression for one value at p). */
#define EVERY_TYPE(X)                                                                              \
    X(MGVI_N_BOOL, 1, (load8(p, s) != 0))                                                          \
    X(MGVI_N_I8, 1, ((int8_t)load8(p, s)))                                                         \
    X(MGVI_N_U8, 1, (load8(p, s)))                                                                 \
    X(MGVI_N_I16, 2, ((int16_t)load16(p, s)))                                                      \
    X(MGVI_N_U16, 2, (load16(p, s)))                                                               \
    X(MGVI_N_I32, 4, ((int32_t)load32(p, s)))                                                      \
    X(MGVI_N_U32, 4, (load32(p, s)))                                                               \
    X(MGVI_N_I64, 8, ((int64_t)load64(p, s)))                                                      \
    X(MGVI_N_U64, 8, (load64(p, s)))                                                               \
    X(MGVI_N_F16, 2, (half_value(load16(p, s))))                                                   \
    X(MGVI_N_F32, 4, (bits_f32(load32(p, s))))                                                     \
    X(MGVI_N_F64, 8, (bits_f64(load64(p, s))))

#define LOOP_CASE(type, bytes, value)                                                              \
    case type:                                                                                     \
        for (size_t i = begin; i < end; i++, p += bytes)                                           \
            out[i] = (OUT_TYPE)value;                                                              \
        break;

#define OUT_TYPE float
static void to_f32(const mgvi_numbers *from, size_t begin, size_t end, float *out)
{
    const char *p = from->data + begin * sizes[from->type];
    const bool s = from->swapped;
    switch (from->type) {
        EVERY_TYPE(LOOP_CASE)
    }
}
#undef OUT_TYPE

#define OUT_TYPE double
static void to_f64(const mgvi_numbers *from, size_t begin, size_t end, double *out)
{
    const char *p = from->data + begin * sizes[from->type];
    const bool s = from->swapped;
    switch (from->type) {
        EVERY_TYPE(LOOP_CASE)
    }
}
#undef OUT_TYPE

typedef struct job {
    const mgvi_numbers *from;
    int64_t blocks;
    mgv_dtype dtype;
    void *out;
    bool fits[MOST_BLOCKS];
} job;

static void convert_block(void *arg, int64_t block)
{
    const job *j = arg;
    const int64_t count = (int64_t)j->from->count;
    const size_t begin = (size_t)mgvi_block_begin(count, j->blocks, block);
    const size_t end = (size_t)mgvi_block_begin(count, j->blocks, block + 1);
    if (j->dtype == MGV_F32)
        to_f32(j->from, begin, end, j->out);
    else
        to_f64(j->from, begin, end, j->out);
}

void mgvi_numbers_convert(mgv_ctx *ctx, const mgvi_numbers *from, mgv_dtype dtype, void *out)
{
    job j = {.from = from, .dtype = dtype, .out = out};
    j.blocks = mgvi_block_count((int64_t)from->count, GRAIN, MOST_BLOCKS);
    mgvi_ctx_run(ctx, j.blocks, convert_block, &j);
}

/* The value float64 would hold is the value float32 would hold. */
static bool range_fits(const mgvi_numbers *from, size_t begin, size_t end)
{
    const char *p = from->data + begin * sizes[from->type];
    const bool s = from->swapped;
#define FITS_CASE(type, bytes, value)                                                              \
    case type:                                                                                     \
        for (size_t i = begin; i < end; i++, p += bytes) {                                         \
            const double v = (double)value;                                                        \
            if ((double)(float)v != v && v == v)                                                   \
                return false;                                                                      \
        }                                                                                          \
        break;
    switch (from->type) {
        EVERY_TYPE(FITS_CASE)
    }
#undef FITS_CASE
    return true;
}

static void fit_block(void *arg, int64_t block)
{
    job *j = arg;
    const int64_t count = (int64_t)j->from->count;
    j->fits[block] = range_fits(j->from, (size_t)mgvi_block_begin(count, j->blocks, block),
                                (size_t)mgvi_block_begin(count, j->blocks, block + 1));
}

bool mgvi_numbers_fit_f32(mgv_ctx *ctx, const mgvi_numbers *from)
{
    if (sizes[from->type] <= 2 || from->type == MGVI_N_F32)
        return true;
    bool all = true;
    job j = {.from = from};
    j.blocks = mgvi_block_count((int64_t)from->count, GRAIN, MOST_BLOCKS);
    mgvi_ctx_run(ctx, j.blocks, fit_block, &j);
    for (int64_t b = 0; b < j.blocks; b++)
        all = all && j.fits[b];
    return all;
}

bool mgvi_numbers_to_i64(const mgvi_numbers *from, int64_t *out)
{
    const bool s = from->swapped;
    if (from->type == MGVI_N_F16 || from->type == MGVI_N_F32 || from->type == MGVI_N_F64)
        return false;
    for (size_t i = 0; i < from->count; i++) {
        const char *p = from->data + i * sizes[from->type];
#define INT_CASE(type, bytes, value)                                                               \
    case type:                                                                                     \
        out[i] = (int64_t)value;                                                                   \
        break;
        switch (from->type) {
            EVERY_TYPE(INT_CASE)
        }
#undef INT_CASE
        if (from->type == MGVI_N_U64 && out[i] < 0)
            return false;
    }
    return true;
}
