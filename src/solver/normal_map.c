/* normal_map.c - steps (4), each followed back to where the objective does not rise. */
#include "solver/normal_map.h"

#include "base/limit.h"

#include <math.h>

enum {
    MOST_STEPS = 60,
    MOST_HALVINGS = 4,
    PATIENCE = 4, /* steps that bring F no nearer to 0 */
    MOST_PRODUCTS = 400
};
static const double ACCURACY = 1e-4;   /* of (4), relative */
static const double DIFFERENCE = 1e-7; /* of the proximal map, beside the largest |x| */
static const double ROUNDING = 1e-14;  /* of the objective */

struct mgvi_normal_map {
    const mgv_problem *p;
    mgvi_penalty penalty;
    mgvi_vec x, w, g, F;          /* columns */
    mgvi_vec q, rest, dir, image; /* of the conjugate gradients */
    mgvi_vec y, Hy, trial, at;    /* J q, H y; work space */
    mgvi_vec z, u, h, Ay;         /* rows */
    double sigma, value, reach;   /* reach: the largest |x| */
    double until;                 /* A->touched at the end of the budget */
};

bool mgvi_normal_map_fits(const mgv_problem *p)
{
    const unsigned loss = MGVI_VALUE | MGVI_GRAD | MGVI_CURV | MGVI_SMOOTH;
    const unsigned penalty = MGVI_VALUE | MGVI_PROX;
    const unsigned op = MGVI_MUL | MGVI_MUL_T;
    return (p->loss->can & loss) == loss && !(p->loss->can & (MGVI_JOINT | MGVI_HARD)) &&
           (p->penalty->can & penalty) == penalty && (p->A->ops->can & op) == op &&
           !(p->A->ops->can & MGVI_KERNEL) && p->lanes == 1 && !mgvi_problem_is_bounded(p) &&
           !mgvi_problem_has_smooth(p);
}

mgv_status mgvi_normal_map_new(const mgv_problem *p, mgvi_arena *arena, mgvi_normal_map **out)
{
    mgvi_normal_map *m;
    MGVI_TRY(MGVI_ARRAY(arena, m, 1));
    m->p = p;
    MGVI_TRY(MGVI_VECS(arena, MGVI_COLS, p->A->cols, 1, &m->x, &m->w, &m->g, &m->F, &m->q, &m->rest,
                       &m->dir, &m->image, &m->y, &m->Hy, &m->trial, &m->at));
    MGVI_TRY(MGVI_VECS(arena, MGVI_ROWS, p->A->rows, 1, &m->z, &m->u, &m->h, &m->Ay));
    *out = m;
    return mgvi_problem_penalty(p, arena, &m->penalty);
}

/* ---- maps ------------------------------------------------------------------------------------ */

/* out = prox(x); columns without a penalty stay. */
static void prox(const mgvi_normal_map *m, const mgvi_vec *x, mgvi_vec *out)
{
    mgvi_vec_copy(m->p->ctx, x, out);
    const mgvi_vec from = mgvi_problem_penalised_part(m->p, x);
    mgvi_vec to = mgvi_problem_penalised_part(m->p, out);
    mgvi_penalty_prox(&m->penalty, &from, m->sigma, &to);
}

/* out = J v; `at` is work space. */
static void derivative(mgvi_normal_map *m, const mgvi_vec *v, mgvi_vec *out)
{
    mgv_ctx *ctx = m->p->ctx;
    double most;
    mgvi_vec_abs_max(ctx, v, &most);
    if (!(most > 0)) {
        mgvi_vec_fill(ctx, out, 0);
        return;
    }
    const double step = DIFFERENCE * m->reach / most;
    mgvi_vec_add(ctx, 1, &m->x, step, v, &m->at);
    prox(m, &m->at, out);
    const int64_t free = mgvi_problem_penalised(m->p);
    for (int64_t j = 0; j < out->n; j++)
        out->x[j] = j < free ? (out->x[j] - m->w.x[j]) / step : v->x[j];
}

/* out = H v */
static void bend(mgvi_normal_map *m, const mgvi_vec *v, mgvi_vec *out)
{
    mgvi_op_mul(m->p->A, 1, v, 0, &m->Ay);
    for (int64_t i = 0; i < m->Ay.n; i++)
        m->Ay.x[i] *= m->h.x[i];
    mgvi_op_mul_t(m->p->A, 1, &m->Ay, 0, out);
}

/* ---- where we are ---------------------------------------------------------------------------- */

/* R(w) + L(A w) for the w given; z = A w. */
static double value_at(mgvi_normal_map *m, const mgvi_vec *w)
{
    const mgv_problem *p = m->p;
    const mgvi_vec part = mgvi_problem_penalised_part(p, w);
    double loss, penalty;
    mgvi_op_mul(p->A, 1, w, 0, &m->z);
    mgvi_loss_value(p->ctx, p->loss, &p->row, &m->z, &loss);
    mgvi_penalty_value(&m->penalty, &part, &penalty);
    return loss + penalty;
}

/* g, h at z = A w. */
static void touch(mgvi_normal_map *m)
{
    const mgv_problem *p = m->p;
    mgvi_loss_grad(p->ctx, p->loss, &p->row, &m->z, &m->u);
    mgvi_loss_curv(p->ctx, p->loss, &p->row, &m->z, &m->h);
    mgvi_op_mul_t(p->A, 1, &m->u, 0, &m->g);
}

/* F of (3); returns its length. */
static double residual(mgvi_normal_map *m)
{
    double length;
    mgvi_vec_add(m->p->ctx, 1 / m->sigma, &m->x, -1 / m->sigma, &m->w, &m->F);
    mgvi_vec_axpby(m->p->ctx, 1, &m->g, 1, &m->F);
    mgvi_vec_norm2(m->p->ctx, &m->F, &length);
    mgvi_vec_abs_max(m->p->ctx, &m->x, &m->reach);
    return length;
}

/* x <- what is in `at` if the objective at prox(at) does not rise. */
static bool accept(mgvi_normal_map *m)
{
    mgv_ctx *ctx = m->p->ctx;
    prox(m, &m->at, &m->trial);
    const double value = value_at(m, &m->trial);
    if (!(value <= m->value + ROUNDING * fabs(m->value)))
        return false;
    m->value = value;
    mgvi_vec_copy(ctx, &m->at, &m->x);
    mgvi_vec_copy(ctx, &m->trial, &m->w);
    touch(m);
    return true;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static bool over(const mgvi_normal_map *m)
{
    return m->p->A->touched >= m->until || mgvi_ctx_late(m->p->ctx) != MGV_STOP_NONE;
}

/* x = w - sigma g: lowers the objective once sigma is small enough. */
static bool gradient_step(mgvi_normal_map *m)
{
    enum { MOST_TRIALS = 40 };
    for (int k = 0; k < MOST_TRIALS && !over(m); k++) {
        mgvi_vec_add(m->p->ctx, 1, &m->w, -m->sigma, &m->g, &m->at);
        if (accept(m))
            return true;
        m->sigma /= 2;
    }
    return false;
}

/* image = (J H J + (J - J J)/sigma) dir; y and Hy are work space. */
static void curve(mgvi_normal_map *m)
{
    mgv_ctx *ctx = m->p->ctx;
    derivative(m, &m->dir, &m->y);
    bend(m, &m->y, &m->Hy);
    mgvi_vec_add(ctx, 1 / m->sigma, &m->dir, -1 / m->sigma, &m->y, &m->trial);
    mgvi_vec_axpby(ctx, 1, &m->trial, 1, &m->Hy);
    derivative(m, &m->Hy, &m->image);
}

/* q of (4). */
static void solve(mgvi_normal_map *m)
{
    mgv_ctx *ctx = m->p->ctx;
    mgvi_vec_fill(ctx, &m->q, 0);
    derivative(m, &m->F, &m->rest);
    mgvi_vec_scale(ctx, -1, &m->rest);
    mgvi_vec_copy(ctx, &m->rest, &m->dir);
    double rho = mgvi_vec_inner(m->p->ctx, &m->rest, &m->rest);
    const double enough = ACCURACY * ACCURACY * rho;
    for (int t = 0; t < MOST_PRODUCTS && rho > enough && !over(m); t++) {
        curve(m);
        const double slope = mgvi_vec_inner(m->p->ctx, &m->dir, &m->image);
        if (!(slope > 0)) /* flat: columns that depend on each other */
            break;
        mgvi_vec_axpby(ctx, rho / slope, &m->dir, 1, &m->q);
        mgvi_vec_axpby(ctx, -rho / slope, &m->image, 1, &m->rest);
        const double next = mgvi_vec_inner(m->p->ctx, &m->rest, &m->rest);
        mgvi_vec_axpby(ctx, 1, &m->rest, next / rho, &m->dir);
        rho = next;
    }
}

static bool newton_step(mgvi_normal_map *m)
{
    mgv_ctx *ctx = m->p->ctx;
    solve(m);
    derivative(m, &m->q, &m->y);
    bend(m, &m->y, &m->Hy);
    mgvi_vec_axpby(ctx, 1, &m->F, 1, &m->Hy);
    mgvi_vec_axpby(ctx, -m->sigma, &m->Hy, 1, &m->y); /* the step */
    double t = 1;
    for (int k = 0; k < MOST_HALVINGS && !over(m); k++, t /= 2) {
        mgvi_vec_add(ctx, 1, &m->x, t, &m->y, &m->at);
        if (accept(m))
            return true;
    }
    return false;
}

/* sigma = 1 over the bend along g, at w. */
static void choose_sigma(mgvi_normal_map *m)
{
    bend(m, &m->g, &m->Hy);
    const double square = mgvi_vec_inner(m->p->ctx, &m->g, &m->g),
                 slope = mgvi_vec_inner(m->p->ctx, &m->g, &m->Hy);
    m->sigma = slope > 0 ? square / slope : 1;
}

void mgvi_normal_map_finish(mgvi_normal_map *m, double budget, mgvi_vec *w, mgvi_vec *u)
{
    mgv_ctx *ctx = m->p->ctx;
    double least = INFINITY;
    int idle = 0;
    m->until = m->p->A->touched + budget;
    mgvi_vec_copy(ctx, w, &m->w);
    m->value = value_at(m, &m->w);
    touch(m);
    choose_sigma(m);
    if (!gradient_step(m))
        return;
    for (int k = 0; k < MOST_STEPS && idle < PATIENCE && !over(m); k++) {
        const double length = residual(m);
        if (length == 0 || (!newton_step(m) && !gradient_step(m)))
            break;
        idle = length < least / 2 ? 0 : idle + 1;
        least = fmin(least, length);
    }
    mgvi_vec_copy(ctx, &m->w, w);
    mgvi_vec_copy(ctx, &m->u, u);
}
