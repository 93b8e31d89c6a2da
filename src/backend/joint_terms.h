/* backend/joint_terms.h - the loops over rows of scores, for losses of many classes. The class of
 * row i is the coefficient a_i. */
#ifndef MGVI_BACKEND_JOINT_TERMS_H
#define MGVI_BACKEND_JOINT_TERMS_H

#include "backend/terms.h"

/* The sum over the rows; fixed blocks in fixed order. */
double mgvi_joint_value(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c,
                        const mgvi_vec *z);
double mgvi_joint_conj(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c,
                       const mgvi_vec *u);
void mgvi_joint_grad(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c,
                     const mgvi_vec *z, mgvi_vec *grad);
/* A few rows of float32 scores, on the calling thread: see rows_f32 of loss/registry.h. k is at most
 * MGVI_JOINT_LANES. */
enum { MGVI_JOINT_LANES = 4096 };
double mgvi_joint_rows_f32(const mgv_ctx *ctx, const mgvi_loss_ops *loss, float *z, int rows,
                           int32_t k, int width, const int32_t *c, const float *s);
void mgvi_joint_dual_clip(mgv_ctx *ctx, const mgvi_coefs *c, mgvi_vec *u);
#endif
