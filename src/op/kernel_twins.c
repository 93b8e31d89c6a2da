/* kernel_twins.c - equal points: one point of the feature space, whatever the kernel. */
#include "op/features.h"

#include "op/kernel_impl.h"
#include "op/twins.h"

/* Of the data as it is: what scaling and centring would round to one point are two. */
const int64_t *mgvi_kernel_twins(mgvi_kernel_op *k)
{
    const int64_t n = k->op.rows;
    if (k->twin)
        return k->twin;
    int64_t *twin = mgvi_alloc(k->op.ctx, (size_t)n, sizeof *twin);
    if (!twin || mgvi_matrix_twins(k->op.ctx, &k->points->source, NULL, n, twin) != MGV_OK) {
        mgvi_release(k->op.ctx, twin);
        return NULL;
    }
    k->twin = twin;
    return twin;
}
