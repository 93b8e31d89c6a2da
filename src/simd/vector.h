/* simd/vector.h - the vocabulary of vectors for files of loops: `vec` has W doubles and `fvec`
 * twice as many floats, as wide as the instruction set's registers or MGVI_VECTOR_BYTES. They are
 * vectors of GNU C, so arithmetic and comparisons may be written as such; names are for the rest. */
#ifndef MGVI_SIMD_VECTOR_H
#define MGVI_SIMD_VECTOR_H

#include "simd/isa.h"

#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#if !defined(MGVI_VECTOR_BYTES)
#define MGVI_VECTOR_BYTES MGVI_ISA_BYTES
#endif
#if MGVI_VECTOR_BYTES == 64
#include "simd/vec_avx512.h"
#elif MGVI_VECTOR_BYTES == 32
#include "simd/vec_avx2.h"
#elif MGVI_VECTOR_BYTES == 16
#include "simd/vec_neon.h"
#else
#include "simd/vec_portable.h"
#endif

typedef int64_t vbits __attribute__((vector_size(sizeof(vec))));
typedef int32_t fbits __attribute__((vector_size(sizeof(fvec))));

/* Where the mask is set a, elsewhere b. As macros: GCC 12 makes blends of functions later than of
 * expressions, and 5 % slower loops of AVX-512. */
#define v_pick(mask, a, b) ((vec)(((vbits)(a) & (mask)) | ((vbits)(b) & ~(mask))))
#define f_pick(mask, a, b) ((fvec)(((fbits)(a) & (mask)) | ((fbits)(b) & ~(mask))))
#endif
