/* loops.c - picks the table of the context's instruction set. */
#include "complete/loops.h"

#include "simd/simd.h"

const mgvi_complete_loops *mgvi_complete_loops_for(const mgv_ctx *ctx)
{
    return MGVI_SIMD_PICK(ctx, &mgvi_complete_loops);
}
