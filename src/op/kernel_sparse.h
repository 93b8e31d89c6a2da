/* op/kernel_sparse.h - inner products between sparse points. */
#ifndef MGVI_OP_KERNEL_SPARSE_H
#define MGVI_OP_KERNEL_SPARSE_H

#include "op/points.h"

/* out[s*ld + t] = scale p_s.q_t, float or double as `dtype` says, from float64 sums; columns that
 * only one of the lists has are zeros. MGV_E_MEMORY. */
mgv_status mgvi_sparse_products(mgv_ctx *ctx, const mgvi_point_list *p, const mgvi_point_list *q,
                                double scale, mgv_dtype dtype, void *out, int64_t ld);
#endif
