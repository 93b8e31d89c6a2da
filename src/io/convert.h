/* io/convert.h - arrays of any common number type into float32 or float64. */
#ifndef MGVI_IO_CONVERT_H
#define MGVI_IO_CONVERT_H

#include "base/context.h"

typedef enum mgvi_number {
    MGVI_N_BOOL,
    MGVI_N_I8,
    MGVI_N_U8,
    MGVI_N_I16,
    MGVI_N_U16,
    MGVI_N_I32,
    MGVI_N_U32,
    MGVI_N_I64,
    MGVI_N_U64,
    MGVI_N_F16,
    MGVI_N_F32,
    MGVI_N_F64
} mgvi_number;

/* An array somewhere in a file; `data` need not be aligned. */
typedef struct mgvi_numbers {
    mgvi_number type;
    bool swapped; /* the bytes of each number are in the other order */
    size_t count;
    const char *data;
} mgvi_numbers;

size_t mgvi_number_size(mgvi_number type);
/* Whether float32 holds every value exactly. */
bool mgvi_numbers_fit_f32(mgv_ctx *ctx, const mgvi_numbers *from);
/* Rounds to the nearest. `out` has from->count elements. */
void mgvi_numbers_convert(mgv_ctx *ctx, const mgvi_numbers *from, mgv_dtype dtype, void *out);
/* Exact integers; false when a value is not one or does not fit. */
bool mgvi_numbers_to_i64(const mgvi_numbers *from, int64_t *out);
#endif
