/* backend/backend.h - what a backend does with vectors that lie in its memory; vec.h and terms.h are
 * what others call. A vector says where it lies (`at`), a context where new ones go. All vectors of
 * one call lie in one place. cpu/ is host memory; who has none of a machine's operations for a term
 * or an operator borrows the cpu's through the doors of vec.h.
 *
 * A backend may have several ranks, each with rows of its own and all of the columns. Then its sums
 * over vectors of the rows are of its own rows, until all_reduce makes them those of all; the doors
 * give every rank all numbers. */
#ifndef MGVI_BACKEND_BACKEND_H
#define MGVI_BACKEND_BACKEND_H

#include "backend/terms.h"

typedef enum mgvi_reduction {
    MGVI_REDUCE_DOT,     /* x_i y_i; y is NULL for the others */
    MGVI_REDUCE_SUM,     /* x_i */
    MGVI_REDUCE_SQUARES, /* x_i^2 */
    MGVI_REDUCE_ABS_SUM, /* |x_i| */
    MGVI_REDUCE_ABS_MAX, /* the largest |x_i| */
    MGVI_REDUCE_MIN      /* the least x_i */
} mgvi_reduction;

typedef enum mgvi_term_fn { /* of losses and penalties */
                            MGVI_TERM_VALUE,
                            MGVI_TERM_CONJ,
                            MGVI_TERM_GRAD,
                            MGVI_TERM_CURV,
                            MGVI_TERM_PROX,
                            MGVI_TERM_MIRROR,
                            MGVI_TERM_DUAL_CLIP,
                            MGVI_TERM_DUAL_STEP,
                            MGVI_TERM_FNS
} mgvi_term_fn;

typedef enum mgvi_coef_fn { /* of coefficients (c.scale, c.a) and x */
                            MGVI_COEF_WEIGH,
                            MGVI_COEF_LESS,
                            MGVI_COEF_LEAVE_OUT
} mgvi_coef_fn;

typedef enum mgvi_exp_fn {
    MGVI_EXP_SOFTMAX,  /* out = exp(least - x), and its sum */
    MGVI_EXP_LOGISTIC, /* out = l'(-x), and the sum of l(-x) */
    MGVI_EXP_KL        /* sum y ln(y/x) - y + x */
} mgvi_exp_fn;

struct mgvi_op;

typedef struct mgvi_backend {
    const char *name;
    /* Cleared numbers that go with the arena; NULL and a sentence. An address of the backend's own:
     * views add to it. */
    double *(*alloc)(mgvi_arena *arena, int64_t count);
    /* vec.h */
    const double *(*host)(const mgvi_vec *x);
    double *(*open)(mgvi_vec *x);
    void (*close)(mgvi_vec *x);
    void (*upload)(mgv_ctx *ctx, const double *from, mgvi_vec *x);
    void (*download)(mgv_ctx *ctx, const mgvi_vec *x, double *to);
    void (*fill)(mgv_ctx *ctx, mgvi_vec *y, double value);
    void (*copy)(mgv_ctx *ctx, const mgvi_vec *x, mgvi_vec *y);
    void (*scale)(mgv_ctx *ctx, double a, mgvi_vec *y);
    void (*axpby)(mgv_ctx *ctx, double a, const mgvi_vec *x, double b, mgvi_vec *y);
    void (*add)(mgv_ctx *ctx, double a, const mgvi_vec *x, double b, const mgvi_vec *y,
                mgvi_vec *out);
    void (*multiply)(mgv_ctx *ctx, const mgvi_vec *x, const mgvi_vec *y, mgvi_vec *out);
    void (*split)(mgv_ctx *ctx, const mgvi_vec *x, double bound, double low, double high,
                  mgvi_vec *out);
    void (*clip)(mgv_ctx *ctx, double low, double high, mgvi_vec *y);
    void (*project)(mgv_ctx *ctx, int64_t size, double radius, mgvi_vec *v, mgvi_vec *step);
    /* out[lane] */
    void (*reduce)(mgv_ctx *ctx, mgvi_reduction what, const mgvi_vec *x, const mgvi_vec *y,
                   double *out);
    /* NULL: there is one rank. What follows a reduction `what` of rows, in the order of the ranks. */
    void (*all_reduce)(mgv_ctx *ctx, mgvi_reduction what, int64_t count, double *values);
    /* terms.h */
    void (*coef_map)(mgv_ctx *ctx, mgvi_coef_fn fn, const mgvi_coefs *c, const mgvi_vec *x,
                     mgvi_vec *out);
    /* `z` and `step` are those of MGVI_TERM_DUAL_STEP, `step` also of MGVI_TERM_PROX. */
    void (*loss_map)(mgv_ctx *ctx, const mgvi_loss_ops *loss, mgvi_term_fn fn, const mgvi_coefs *c,
                     const mgvi_vec *x, const mgvi_vec *z, const mgvi_coef_array *step,
                     mgvi_vec *out);
    void (*loss_sum)(mgv_ctx *ctx, const mgvi_loss_ops *loss, mgvi_term_fn fn, const mgvi_coefs *c,
                     const mgvi_vec *x, double *out);
    void (*penalty_map)(const mgvi_penalty *r, mgvi_term_fn fn, const mgvi_vec *x,
                        const mgvi_coef_array *step, mgvi_vec *out);
    void (*penalty_sum)(const mgvi_penalty *r, mgvi_term_fn fn, const mgvi_vec *x, double *out);
    /* surrogate.h; y is that of MGVI_EXP_KL, which has no `out`. */
    double (*exp_sum)(mgv_ctx *ctx, mgvi_exp_fn fn, double least, const mgvi_vec *x,
                      const mgvi_vec *y, mgvi_vec *out);
    /* op/op.h, NULL: in host memory */
    void (*mul)(struct mgvi_op *op, double alpha, const mgvi_vec *x, double beta, mgvi_vec *y);
    void (*mul_t)(struct mgvi_op *op, double alpha, const mgvi_vec *u, double beta, mgvi_vec *g);
} mgvi_backend;

extern const mgvi_backend mgvi_backend_cpu; /* cpu/; its address is the host's */
/* NULL: unknown. */
const mgvi_backend *mgvi_backend_find(const char *name);

static inline const mgvi_backend *mgvi_backend_of(const mgvi_vec *x)
{
    return x->at ? x->at : &mgvi_backend_cpu;
}

/* Sums, or what else `what` makes, of a vector's own rows to those of all. */
static inline void mgvi_backend_join(mgv_ctx *ctx, mgvi_reduction what, const mgvi_vec *x,
                                     double *out)
{
    if (x->at && x->space == MGVI_ROWS && x->at->all_reduce)
        x->at->all_reduce(ctx, what, x->k, out);
}
#endif
