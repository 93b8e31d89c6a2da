/* avx2.c - the kernel table of AVX2 with FMA. */
#include "simd/simd.h"

#if defined(__x86_64__)
#include "simd/gemm_kernels.h"
#include "simd/pass_kernels.h"
#include "simd/vec_avx2.h"

#define LANE_SCOPE static
#define T float
#define NAME(kernel) kernel##_f32
#include "simd/rows.h"

#include "simd/exponentials.h"
#include "simd/lanes.h"
#include "simd/pairs.h"
#include "simd/twofold.h"
#undef T
#undef NAME

#define T double
#define NAME(kernel) kernel##_f64
#include "simd/rows.h"

#include "simd/exponentials.h"
#include "simd/lanes.h"
#include "simd/pairs.h"
#include "simd/twofold.h"
#undef T
#undef NAME

#include "simd/rough_pairs.h"

const mgvi_simd mgvi_simd_avx2 = {
    .name = "avx2",
    .bytes = 32,
    .gemm = &mgvi_gemm_avx2,
    .pass = &mgvi_pass_avx2,
    .short_values = mgvi_short_values_avx2,
    .short_sums = mgvi_short_sums_avx2,
    .rough_sums = mgvi_rough_sums_avx2,
    .rough_both = mgvi_rough_both_avx2,
    .rough_values = mgvi_rough_values_avx2,
    .rough_lanes = mgvi_rough_lanes_avx2,
    .rough_step = rough_step,
    .rough_partner = rough_partner,
    MGVI_SIMD_TABLE(f32),
    MGVI_SIMD_TABLE(f64),
};
#endif
