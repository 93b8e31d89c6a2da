/* terms.c - terms of vectors, wherever they lie. */
#include "backend/backend.h"
#include "backend/cpu/cpu.h"

#include <assert.h>

/* ---- coefficients ---------------------------------------------------------------------------- */
void mgvi_vec_weigh(mgv_ctx *ctx, const mgvi_coef_array *s, const mgvi_vec *x, mgvi_vec *out)
{
    const mgvi_coefs c = {.scale = *s};
    mgvi_backend_of(x)->coef_map(ctx, MGVI_COEF_WEIGH, &c, x, out);
}

void mgvi_vec_less(mgv_ctx *ctx, const mgvi_vec *x, const mgvi_coef_array *t, mgvi_vec *out)
{
    const mgvi_coefs c = {.a = *t};
    mgvi_backend_of(x)->coef_map(ctx, MGVI_COEF_LESS, &c, x, out);
}

void mgvi_vec_leave_out(mgv_ctx *ctx, const mgvi_coef_array *s, double value, mgvi_vec *y)
{
    const mgvi_coefs c = {.scale = *s, .a.constant = value};
    mgvi_backend_of(y)->coef_map(ctx, MGVI_COEF_LEAVE_OUT, &c, y, y);
}

/* ---- losses ---------------------------------------------------------------------------------- */
static void sum(mgv_ctx *ctx, const mgvi_loss_ops *loss, mgvi_term_fn fn, const mgvi_coefs *c,
                const mgvi_vec *x, double *out)
{
    mgvi_backend_of(x)->loss_sum(ctx, loss, fn, c, x, out);
    mgvi_backend_join(ctx, MGVI_REDUCE_SUM, x, out);
}

static void map(mgv_ctx *ctx, const mgvi_loss_ops *loss, mgvi_term_fn fn, const mgvi_coefs *c,
                const mgvi_vec *x, double step, mgvi_vec *out)
{
    const mgvi_coef_array same = {.constant = step};
    assert(x->n == out->n && x->k == out->k && x->at == out->at);
    mgvi_backend_of(x)->loss_map(ctx, loss, fn, c, x, NULL, &same, out);
}

void mgvi_loss_value(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c,
                     const mgvi_vec *z, double *out)
{
    assert(loss->joint || loss->can & MGVI_VALUE);
    sum(ctx, loss, MGVI_TERM_VALUE, c, z, out);
}

void mgvi_loss_conj(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c, const mgvi_vec *u,
                    double *out)
{
    assert(loss->joint || loss->can & MGVI_CONJ);
    sum(ctx, loss, MGVI_TERM_CONJ, c, u, out);
}

void mgvi_loss_grad(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c, const mgvi_vec *z,
                    mgvi_vec *grad)
{
    assert(loss->joint || loss->can & MGVI_GRAD);
    map(ctx, loss, MGVI_TERM_GRAD, c, z, 0, grad);
}

void mgvi_loss_curv(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c, const mgvi_vec *z,
                    mgvi_vec *curv)
{
    assert(loss->can & MGVI_CURV);
    map(ctx, loss, MGVI_TERM_CURV, c, z, 0, curv);
}

void mgvi_loss_prox(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c, const mgvi_vec *z,
                    double step, mgvi_vec *out)
{
    assert(loss->can & MGVI_PROX);
    map(ctx, loss, MGVI_TERM_PROX, c, z, step, out);
}

void mgvi_loss_dual_clip(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c, mgvi_vec *u)
{
    assert(loss->joint || loss->can & MGVI_DUAL_CLIP);
    map(ctx, loss, MGVI_TERM_DUAL_CLIP, c, u, 0, u);
}

void mgvi_loss_dual_step(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c,
                         const mgvi_vec *u, const mgvi_vec *z, const mgvi_coef_array *r,
                         mgvi_vec *out)
{
    assert(u->n == z->n && u->k == z->k && u->n == out->n && u->k == out->k);
    assert(u->at == z->at && u->at == out->at);
    mgvi_backend_of(u)->loss_map(ctx, loss, MGVI_TERM_DUAL_STEP, c, u, z, r, out);
}

/* ---- penalties ------------------------------------------------------------------------------- */
mgv_status mgvi_penalty_open(mgvi_arena *arena, const mgvi_penalty_ops *ops,
                             const mgvi_coefs *coefs, const void *data, int64_t n, int32_t k,
                             mgvi_penalty *out)
{
    *out = (mgvi_penalty){.ctx = arena->ctx, .ops = ops, .coefs = coefs, .data = data};
    if (!ops->whole)
        return MGV_OK;
    const int64_t lanes = k > 1 ? 2 * n : 0; /* one lane's argument and result */
    out->room = ops->whole->room ? ops->whole->room(n, data) : 0;
    out->work_size = lanes + k * out->room;
    MGVI_TRY(MGVI_ARRAY(arena, out->work, out->work_size));
    return MGV_OK;
}

void mgvi_penalty_value(const mgvi_penalty *r, const mgvi_vec *w, double *out)
{
    assert(r->ops->can & MGVI_VALUE);
    mgvi_backend_of(w)->penalty_sum(r, MGVI_TERM_VALUE, w, out);
}

void mgvi_penalty_conj(const mgvi_penalty *r, const mgvi_vec *v, double *out)
{
    assert(r->ops->can & MGVI_CONJ);
    mgvi_backend_of(v)->penalty_sum(r, MGVI_TERM_CONJ, v, out);
}

void mgvi_penalty_prox(const mgvi_penalty *r, const mgvi_vec *w, double step, mgvi_vec *out)
{
    const mgvi_coef_array same = {.constant = step};
    assert((r->ops->can & MGVI_PROX) && w->at == out->at);
    mgvi_backend_of(w)->penalty_map(r, MGVI_TERM_PROX, w, &same, out);
}

void mgvi_penalty_prox_each(const mgvi_penalty *r, const mgvi_vec *w, const mgvi_coef_array *step,
                            mgvi_vec *out)
{
    assert((r->ops->can & MGVI_PROX) && (r->ops->can & MGVI_SEPARABLE) && w->at == out->at);
    mgvi_backend_of(w)->penalty_map(r, MGVI_TERM_PROX, w, step, out);
}

void mgvi_penalty_mirror(const mgvi_penalty *r, const mgvi_vec *v, mgvi_vec *w)
{
    assert((r->ops->can & MGVI_MIRROR) && v->at == w->at);
    mgvi_backend_of(v)->penalty_map(r, MGVI_TERM_MIRROR, v, NULL, w);
}

/* The domain of a separable conjugate is a product of intervals around 0. */
static double interval_scale(const mgvi_penalty *r, const mgvi_vec *v, int32_t lane)
{
    const double *at = mgvi_vec_host(v);
    double t = 1;
    if ((r->ops->can & MGVI_STRONG) && !r->coefs->scale.values && r->coefs->scale.constant > 0)
        return 1; /* finite everywhere */
    for (int64_t j = 0; j < v->n; j++) {
        const double x = at[j * v->k + lane];
        const double inside = r->ops->dual_clip(mgvi_coefs_at(r->coefs, j, lane), x);
        if (inside != x)
            t = r_min(t, inside / x);
    }
    return r_max(t, 0);
}

void mgvi_penalty_dual_scale(const mgvi_penalty *r, const mgvi_vec *v, double *out)
{
    const mgvi_whole_ops *whole = r->ops->whole;
    if (whole && whole->dual_scale) {
        const mgvi_vec at = mgvi_vec_hosted(v);
        mgvi_cpu_penalty_dual_scale(r, &at, out);
        return;
    }
    for (int32_t lane = 0; lane < v->k; lane++)
        out[lane] = whole ? 1 : interval_scale(r, v, lane);
}

double mgvi_penalty_most(const mgvi_penalty *r, int64_t n)
{
    const mgvi_whole_ops *whole = r->ops->whole;
    if (!whole && (r->ops->can & MGVI_HARD) && !(r->ops->can & MGVI_NORM))
        return 0; /* 0 or infinite */
    if (!whole || !whole->most)
        return INFINITY;
    const mgvi_whole self = {.ctx = r->ctx,
                             .c = mgvi_coefs_at(r->coefs, 0, 0),
                             .n = n,
                             .data = r->data,
                             .work = r->work};
    return whole->most(&self);
}
