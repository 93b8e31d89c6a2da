/* surrogate.c - weights and divergences of the exponential and the logistic loss. */
#include "backend/surrogate.h"

#include "backend/backend.h"

#include <math.h>

static double sum(mgv_ctx *ctx, mgvi_exp_fn fn, double least, const mgvi_vec *x, const mgvi_vec *y,
                  mgvi_vec *out)
{
    double value = mgvi_backend_of(x)->exp_sum(ctx, fn, least, x, y, out);
    mgvi_backend_join(ctx, MGVI_REDUCE_SUM, x, &value);
    return value;
}

mgvi_surrogate_point mgvi_surrogate_weights(mgv_ctx *ctx, mgvi_surrogate kind, const mgvi_vec *z,
                                            mgvi_vec *q)
{
    static const double TAIL = 30; /* beyond it the two differ by n e^-30 = n 1e-13, relative */
    mgvi_surrogate_point at;
    mgvi_vec_min(ctx, z, &at.least);
    at.normalised = kind == MGVI_SURROGATE_EXPONENTIAL || at.least > TAIL;
    double divisor;
    if (at.normalised != 0) {
        divisor = sum(ctx, MGVI_EXP_SOFTMAX, at.least, z, NULL, q);
        at.psi = log(divisor) - at.least;
    } else { /* l'(psi) = 1 - e^-S with S = sum l, and psi = ln(e^S - 1) */
        const double S = sum(ctx, MGVI_EXP_LOGISTIC, 0, z, NULL, q);
        divisor = -expm1(-S);
        at.psi = S + log(divisor);
    }
    mgvi_vec_scale(ctx, 1 / divisor, q);
    return at;
}

double mgvi_surrogate_slope(mgvi_surrogate kind, double psi)
{
    return kind == MGVI_SURROGATE_EXPONENTIAL ? exp(psi) : 1 / (1 + exp(-psi));
}

double mgvi_surrogate_divergence(mgv_ctx *ctx, const mgvi_vec *q, const mgvi_vec *q_new)
{
    return sum(ctx, MGVI_EXP_KL, 0, q, q_new, NULL);
}
