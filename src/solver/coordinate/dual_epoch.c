/* dual_epoch.c - picks the sweep for the storage, the loss and the processor. */
#include "solver/coordinate/dual_epoch.h"

#include "base/limit.h"
#include "simd/simd.h"

#include <math.h>

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
    if (rows->view.row || rows->view.row_scale || rows->view.scale || rows->kernel)
        return GENERAL;
    if (rows->m.layout == MGV_DENSE)
        return f32 ? DENSE_F32 : DENSE_F64;
    return all_ones(&rows->m) ? CSR_ONES : f32 ? CSR_F32 : CSR_F64;
}

static mgvi_dual_epoch_fn sweep_for(const mgvi_dual_epoch *e)
{
    const int loss = e->problem->loss->index;
    const mgvi_storage kind = e->storage;
    return e->problem->ctx->simd->dual->sweep[loss][kind];
}

int64_t mgvi_dual_epoch_run(mgvi_dual_epoch *e, const int32_t *order, int64_t count, int32_t *moved)
{
    enum { LOOK = 1 << 20 }; /* entries between two looks at the limit */
    const mgvi_op *A = e->problem->A;
    const double per_row = (double)A->nnz / (double)A->rows;
    const int64_t stretch = (int64_t)fmax(LOOK / fmax(per_row, 1), 1);
    const mgvi_dual_epoch_fn sweep = sweep_for(e);
    double worst = 0, touched = 0;
    int64_t kept = 0;
    e->loss = e->fenchel = e->product = e->sum_u = 0;
    e->least = INFINITY;
    for (int64_t first = 0; first < count && !mgvi_ctx_cut(e->problem->ctx); first += stretch) {
        const int64_t rows = count - first < stretch ? count - first : stretch;
        kept += sweep(e, order + first, rows, moved + kept);
        worst = fmax(worst, e->worst_move);
        touched += e->touched;
    }
    e->worst_move = worst;
    e->touched = touched;
    return kept;
}
