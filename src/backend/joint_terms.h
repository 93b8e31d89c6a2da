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
void mgvi_joint_dual_clip(mgv_ctx *ctx, const mgvi_coefs *c, mgvi_vec *u);
#endif
