/* backend/cpu/cpu.h - parts of the cpu's table. */
#ifndef MGVI_BACKEND_CPU_CPU_H
#define MGVI_BACKEND_CPU_CPU_H

#include "backend/backend.h"

void mgvi_cpu_coef_map(mgv_ctx *ctx, mgvi_coef_fn fn, const mgvi_coefs *c, const mgvi_vec *x,
                       mgvi_vec *out);
void mgvi_cpu_loss_map(mgv_ctx *ctx, const mgvi_loss_ops *loss, mgvi_term_fn fn,
                       const mgvi_coefs *c, const mgvi_vec *x, const mgvi_vec *z,
                       const mgvi_coef_array *step, mgvi_vec *out);
void mgvi_cpu_loss_sum(mgv_ctx *ctx, const mgvi_loss_ops *loss, mgvi_term_fn fn,
                       const mgvi_coefs *c, const mgvi_vec *x, double *out);
void mgvi_cpu_penalty_map(const mgvi_penalty *r, mgvi_term_fn fn, const mgvi_vec *x,
                          const mgvi_coef_array *step, mgvi_vec *out);
void mgvi_cpu_penalty_sum(const mgvi_penalty *r, mgvi_term_fn fn, const mgvi_vec *x, double *out);
/* r's is one of a whole vector. */
void mgvi_cpu_penalty_dual_scale(const mgvi_penalty *r, const mgvi_vec *v, double *out);
double mgvi_cpu_exp_sum(mgv_ctx *ctx, mgvi_exp_fn fn, double least, const mgvi_vec *x,
                        const mgvi_vec *y, mgvi_vec *out);
#endif
