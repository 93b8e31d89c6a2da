/* scalar.c - the reference kernels, in plain C. */
#include "simd/simd.h"

#include "simd/gemm_kernels.h"
#include "simd/pass_kernels.h"

#define T float
#define NAME(kernel) kernel##_f32
#include "simd/exponentials.h"
#include "simd/pairs.h"
#include "simd/scalar_rows.h"
#include "simd/twofold.h"
#undef T
#undef NAME

#define T double
#define NAME(kernel) kernel##_f64
#include "simd/exponentials.h"
#include "simd/pairs.h"
#include "simd/scalar_rows.h"
#include "simd/twofold.h"
#undef T
#undef NAME

#include "simd/rough_pairs.h"

const mgvi_simd mgvi_simd_scalar = {
    .name = "scalar",
    .bytes = 8,
    .gemm = &mgvi_gemm_scalar,
    .pass = &mgvi_pass_scalar,
    .short_values = mgvi_short_values_scalar,
    .short_sums = mgvi_short_sums_scalar,
    .rough_sums = mgvi_rough_sums_scalar,
    .rough_both = mgvi_rough_both_scalar,
    .rough_values = mgvi_rough_values_scalar,
    .rough_lanes = mgvi_rough_lanes_scalar,
    .rough_step = rough_step,
    .rough_partner = rough_partner,
    MGVI_SIMD_TABLE(f32),
    MGVI_SIMD_TABLE(f64),
};
