/* avx512.c - the kernel table of AVX-512 (F, DQ, BW, VL).
 * The row kernels wait for memory, not for arithmetic, and keep to 256-bit vectors: on Zen 4
 * float32 A'u reads 31 GB/s with them and 22 with 512 bits (the conversion to float64 crosses
 * lanes), and no Intel processor lowers its clock. The matrix products and the k-lane kernels
 * (lanes_avx512.c) use all 512. */
#include "simd/simd.h"

#if defined(__x86_64__)
#include "simd/gemm_kernels.h"
#include "simd/lanes_avx512.h"
#include "simd/pass_kernels.h"
#include "simd/vec_avx2.h"

#define T float
#define NAME(kernel) kernel##_f32
#include "simd/rows.h"

#include "simd/exponentials.h"
#include "simd/pairs.h"
#include "simd/twofold.h"
#undef T
#undef NAME

#define T double
#define NAME(kernel) kernel##_f64
#include "simd/rows.h"

#include "simd/exponentials.h"
#include "simd/pairs.h"
#include "simd/twofold.h"
#undef T
#undef NAME

#include "simd/rough_pairs.h"

#define LANES(S)                                                                                   \
    .dense_mul_k_##S = mgvi_avx512_dense_mul_k_##S,                                                \
    .dense_mul_t_k_##S = mgvi_avx512_dense_mul_t_k_##S,                                            \
    .csr_mul_k_##S = mgvi_avx512_csr_mul_k_##S, .csr_mul_t_k_##S = mgvi_avx512_csr_mul_t_k_##S

const mgvi_simd mgvi_simd_avx512 = {
    .name = "avx512",
    .bytes = 64,
    .gemm = &mgvi_gemm_avx512,
    .pass = &mgvi_pass_avx512,
    .short_values = mgvi_short_values_avx512,
    .short_sums = mgvi_short_sums_avx512,
    .rough_sums = mgvi_rough_sums_avx512,
    .rough_both = mgvi_rough_both_avx512,
    .rough_values = mgvi_rough_values_avx512,
    .rough_lanes = mgvi_rough_lanes_avx512,
    .rough_step = rough_step,
    .rough_partner = rough_partner,
    MGVI_SIMD_ROW_TABLE(f32),
    LANES(f32),
    MGVI_SIMD_ROW_TABLE(f64),
    LANES(f64),
};
#endif
