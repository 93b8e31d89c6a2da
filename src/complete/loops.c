/* loops.c - picks the table of the context's instruction set. */
#include "complete/loops.h"

#include "simd/simd.h"

#include <string.h>

const mgvi_complete_loops *mgvi_complete_loops_for(const mgv_ctx *ctx)
{
#if defined(__x86_64__)
    if (strcmp(ctx->simd->name, "avx512") == 0)
        return &mgvi_complete_loops_avx512;
    if (strcmp(ctx->simd->name, "avx2") == 0)
        return &mgvi_complete_loops_avx2;
#else
    (void)ctx;
#endif
    return &mgvi_complete_loops_scalar;
}
