/* dual_epoch.c - picks the sweep for the storage, the loss and the processor. */
#include "solver/parts/dual_epoch.h"

#include <math.h>
#include <string.h>

static bool all_ones(const mgvi_matrix *m)
{
    for (int64_t t = 0; t < m->nnz; t++)
        if (mgvi_matrix_value(m, t) != 1)
            return false;
    return true;
}

mgvi_storage mgvi_dual_storage(const mgvi_rows *rows)
{
    const bool f32 = rows->m.dtype == MGV_F32;
    if (rows->row || rows->row_scale || rows->scale || rows->kernel)
        return GENERAL;
    if (rows->m.layout == MGV_DENSE)
        return f32 ? DENSE_F32 : DENSE_F64;
    return all_ones(&rows->m) ? CSR_ONES : f32 ? CSR_F32 : CSR_F64;
}

static mgvi_dual_epoch_fn sweep_for(const mgvi_dual_epoch *e)
{
    const int loss = e->problem->loss->index;
    const mgvi_storage kind = e->storage;
#if defined(__x86_64__)
    const char *isa = e->problem->ctx->simd->name;
    if (strcmp(isa, "avx512") == 0)
        return mgvi_dual_sweep_avx512[loss][kind];
    if (strcmp(isa, "avx2") == 0)
        return mgvi_dual_sweep_avx2[loss][kind];
#endif
    return mgvi_dual_sweep_scalar[loss][kind];
}

int64_t mgvi_dual_epoch_run(mgvi_dual_epoch *e, const int32_t *order, int64_t count, int32_t *moved)
{
    e->loss = e->fenchel = e->product = e->sum_u = 0;
    e->least = INFINITY;
    return sweep_for(e)(e, order, count, moved);
}
