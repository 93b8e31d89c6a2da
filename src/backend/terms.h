/* backend/terms.h - the loops over loss and penalty formulas, for blocks of k lanes.
 * Row coefficients: `scale` and the targets `a`, `b` are n x 1 (shared by the lanes) or n x k;
 * NULL means the constant beside it. Sums are over fixed blocks in fixed order. */
#ifndef MGVI_BACKEND_TERMS_H
#define MGVI_BACKEND_TERMS_H

#include "backend/vec.h"
#include "loss/registry.h"
#include "penalty/registry.h"

/* One array of coefficients: values[i*lanes + c], or `constant` when values is NULL. */
typedef struct mgvi_coef_array {
    const double *values;
    int32_t lanes; /* 1 or k */
    double constant;
} mgvi_coef_array;
typedef struct mgvi_coefs {
    mgvi_coef_array scale, a, b;
} mgvi_coefs;

static inline double mgvi_coef_pick(const mgvi_coef_array *c, int64_t i, int32_t lane)
{
    return c->values ? c->values[c->lanes == 1 ? i : i * c->lanes + lane] : c->constant;
}
static inline mgvi_coef mgvi_coefs_at(const mgvi_coefs *c, int64_t i, int32_t lane)
{
    return (mgvi_coef){mgvi_coef_pick(&c->scale, i, lane), mgvi_coef_pick(&c->a, i, lane),
                       mgvi_coef_pick(&c->b, i, lane)};
}

/* out_i = s_i x_i, x_i - t_i, and y_i = value where s_i is not above 0. out may be x. */
void mgvi_vec_weigh(mgv_ctx *ctx, const mgvi_coef_array *s, const mgvi_vec *x, mgvi_vec *out);
void mgvi_vec_less(mgv_ctx *ctx, const mgvi_vec *x, const mgvi_coef_array *t, mgvi_vec *out);
void mgvi_vec_leave_out(mgv_ctx *ctx, const mgvi_coef_array *s, double value, mgvi_vec *y);

/* out[lane] = sum_i s_i G(z_i), and so on. The term must have the function (its bit in `can`). A
 * result has its argument's n and k and may be the same vector. One infinite or NaN entry makes its
 * lane's sum infinite or NaN. A loss of many classes has one sum, out[0]; the other lanes get 0. */
void mgvi_loss_value(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c,
                     const mgvi_vec *z, double *out);
void mgvi_loss_conj(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c, const mgvi_vec *u,
                    double *out);
void mgvi_loss_grad(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c, const mgvi_vec *z,
                    mgvi_vec *grad);
void mgvi_loss_curv(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c, const mgvi_vec *z,
                    mgvi_vec *curv);
void mgvi_loss_prox(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c, const mgvi_vec *z,
                    double step, mgvi_vec *out);
void mgvi_loss_dual_clip(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c, mgvi_vec *u);

/* out = argmax over u' of z.(u' - u) - r/2 |u' - u|^2 - (s G)*(u'), row by row: the proximal step
 * of the conjugate of length 1/r from u along z. */
void mgvi_loss_dual_step(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c,
                         const mgvi_vec *u, const mgvi_vec *z, const mgvi_coef_array *r,
                         mgvi_vec *out);

/* A penalty at work: its coefficients, its own data, and work space of the holder's own, so that
 * two holders of one problem may work at once. */
typedef struct mgvi_penalty {
    mgv_ctx *ctx;
    const mgvi_penalty_ops *ops;
    const mgvi_coefs *coefs; /* borrowed; a penalty of a whole vector reads entry 0 of each lane */
    const void *data;        /* borrowed */
    double *work;            /* NULL for a separable penalty; each lane's own lies behind others */
    int64_t room, work_size; /* numbers of a lane, and of all */
    double error;            /* that a prox may make (penalty/whole.h); 0: the penalty's own */
} mgvi_penalty;
/* For vectors of n x k. The work space comes from the arena. */
mgv_status mgvi_penalty_open(mgvi_arena *arena, const mgvi_penalty_ops *ops,
                             const mgvi_coefs *coefs, const void *data, int64_t n, int32_t k,
                             mgvi_penalty *out);

void mgvi_penalty_value(const mgvi_penalty *r, const mgvi_vec *w, double *out);
void mgvi_penalty_conj(const mgvi_penalty *r, const mgvi_vec *v, double *out);
void mgvi_penalty_prox(const mgvi_penalty *r, const mgvi_vec *w, double step, mgvi_vec *out);
/* With a step of its own for every coordinate (or lane of it): separable penalties only. */
void mgvi_penalty_prox_each(const mgvi_penalty *r, const mgvi_vec *w, const mgvi_coef_array *step,
                            mgvi_vec *out);
void mgvi_penalty_mirror(const mgvi_penalty *r, const mgvi_vec *v, mgvi_vec *w);
/* The largest finite value of R on n columns (the first lane's), infinite where there is none. */
double mgvi_penalty_most(const mgvi_penalty *r, int64_t n);
/* out[lane]: the largest t in [0, 1] with t v in the domain of the conjugate, which contains 0. */
void mgvi_penalty_dual_scale(const mgvi_penalty *r, const mgvi_vec *v, double *out);
/* gauge.c, k = 1. The smallest t >= 0 with v in t times the subdifferential of R at 0: R's dual
 * norm where R is a norm. 0 where v is in all multiples, infinite where it is in none. */
double mgvi_penalty_gauge(const mgvi_penalty *r, const mgvi_vec *v, mgvi_vec *work);
/* Separable: the j with w_j other than 0, or that would leave it along a slope of stretch g_j, in
 * order; their count. */
int64_t mgvi_penalty_movable(const mgvi_penalty *r, const mgvi_vec *w, double stretch,
                             const mgvi_vec *g, int64_t *list);
#endif
