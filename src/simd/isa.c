/* isa.c - the table of an instruction set (simd/isa.h): the families, and the kernels over rows
 * themselves.
 * Those wait for memory, not for arithmetic, and AVX-512 keeps to 256-bit vectors: on Zen 4 float32
 * A'u reads 31 GB/s with them and 22 with 512 bits (the conversion to float64 crosses lanes), and
 * no Intel processor lowers its clock. All other loops use all 512. */
#include "simd/simd.h"

#include "simd/isa.h"

#if MGVI_ISA_BYTES == 8
#define ROWS "simd/scalar_rows.h"
#else
#if MGVI_ISA_BYTES == 64
#define MGVI_VECTOR_BYTES 32
#endif
#include "simd/vector.h"
#define ROWS "simd/rows.h"
#endif

#define T float
#define NAME(kernel) kernel##_f32
#include ROWS

#include "simd/exponentials.h"
#include "simd/twofold.h"
#undef T
#undef NAME

#define T double
#define NAME(kernel) kernel##_f64
#include ROWS

#include "simd/exponentials.h"
#include "simd/twofold.h"
#undef T
#undef NAME

#define FAMILY(type, member) extern const struct mgvi_##type MGVI_OF_ISA(mgvi_##member);
MGVI_SIMD_FAMILIES(FAMILY)
#undef FAMILY
MGVI_SIMD_LANES(float, f32, MGVI_OF_ISA)
MGVI_SIMD_LANES(double, f64, MGVI_OF_ISA)

/* Entries from functions of this file, and of lanes.c. */
#define ROW_ENTRIES(S)                                                                             \
    .dot_##S = dot_##S, .axpy_##S = axpy_##S, .gather_dot_##S = gather_dot_##S,                    \
    .scatter_axpy_##S = scatter_axpy_##S, .dense_mul_##S = dense_mul_##S,                          \
    .dense_mul_t_##S = dense_mul_t_##S, .csr_mul_##S = csr_mul_##S,                                \
    .csr_mul_t_##S = csr_mul_t_##S, .dot_two_##S = dot_two_##S, .axpy_two_##S = axpy_two_##S,      \
    .gather_two_##S = gather_two_##S, .scatter_two_##S = scatter_two_##S,                          \
    .exp_shift_##S = exp_shift_##S, .exp_root_##S = exp_root_##S
#define LANE_ENTRIES(S)                                                                            \
    .dense_mul_k_##S = MGVI_OF_ISA(mgvi_dense_mul_k_##S),                                          \
    .dense_mul_t_k_##S = MGVI_OF_ISA(mgvi_dense_mul_t_k_##S),                                      \
    .csr_mul_k_##S = MGVI_OF_ISA(mgvi_csr_mul_k_##S),                                              \
    .csr_mul_t_k_##S = MGVI_OF_ISA(mgvi_csr_mul_t_k_##S)
#define FAMILY(type, member) .member = &MGVI_OF_ISA(mgvi_##member),
#define QUOTED_(word) #word
#define QUOTED(word) QUOTED_(word)

const mgvi_simd MGVI_OF_ISA(mgvi_simd) = {
    .name = QUOTED(MGVI_ISA),
    .bytes = MGVI_ISA_BYTES,
    MGVI_SIMD_FAMILIES(FAMILY) ROW_ENTRIES(f32),
    LANE_ENTRIES(f32),
    ROW_ENTRIES(f64),
    LANE_ENTRIES(f64),
};
