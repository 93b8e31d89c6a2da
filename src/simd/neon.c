/* neon.c - the kernel table of 64-bit ARM. */
#include "simd/simd.h"

#if defined(__aarch64__)
#include "simd/gemm_kernels.h"
#include "simd/pass_kernels.h"
#include "simd/vec_neon.h"

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

const mgvi_simd mgvi_simd_neon = {
    .name = "neon",
    .bytes = 16,
    .gemm = &mgvi_gemm_neon,
    .pass = &mgvi_pass_neon,
    .short_values = mgvi_short_values_neon,
    .short_sums = mgvi_short_sums_neon,
    .rough_sums = mgvi_rough_sums_neon,
    .rough_both = mgvi_rough_both_neon,
    .rough_values = mgvi_rough_values_neon,
    .rough_lanes = mgvi_rough_lanes_neon,
    .rough_step = rough_step,
    .rough_partner = rough_partner,
    MGVI_SIMD_TABLE(f32),
    MGVI_SIMD_TABLE(f64),
};
#endif
