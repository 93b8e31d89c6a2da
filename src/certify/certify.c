/* certify.c - duality gaps.  P(w) = R(w) + F(w) + sum s_i G_i((A w)_i)               (1)
 *                            D(u) = -(R + F)*(-A'u) - sum (s_i G_i)*(u_i) <= P(w)    (2)
 * u must lie in the domain of the conjugates and be orthogonal to unpenalised columns; any u is
 * first made feasible: clipped (3), balanced (4), and scaled into the domain of R*. A smooth F is
 * bounded by its tangent (11). */
#include "certify/judge.h"

#include <math.h>
#include <string.h>

mgv_status mgvi_judge_new(mgvi_arena *arena, const mgv_problem *p, mgvi_judge **out)
{
    mgvi_judge *j = mgvi_arena_array(arena, 1, sizeof *j);
    if (!j)
        return MGV_E_MEMORY;
    j->problem = p;
    const int64_t n = p->A->rows, d = p->A->cols;
    MGVI_TRY(mgvi_vec_new(arena, MGVI_ROWS, n, p->lanes, &j->z));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_ROWS, n, p->lanes, &j->u));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, d, p->lanes, &j->v));
    MGVI_TRY(mgvi_problem_penalty(p, arena, &j->penalty));
    j->most = mgvi_penalty_most(&j->penalty, mgvi_problem_penalised(p));
    if (!(j->lane = mgvi_arena_array(arena, (size_t)p->lanes, sizeof *j->lane)))
        return MGV_E_MEMORY;
    MGVI_TRY(mgvi_judge_open_smooth(j, arena));
    if (p->loss->can & MGVI_HARD) {
        MGVI_TRY(mgvi_vec_new(arena, MGVI_ROWS, n, 1, &j->q));
        MGVI_TRY(mgvi_vec_new(arena, MGVI_ROWS, n, 1, &j->Aq));
        MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, d, 1, &j->y));
        MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, d, 1, &j->residual));
        MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, d, 1, &j->dir));
    }
    *out = j;
    if (!(p->loss->can & MGVI_HARD))
        return MGV_OK;
    if (p->A->ops->can & MGVI_ROW)
        return mgvi_rows_new(p->A, arena, &j->rows);
    /* no rows to look at: the norm is at least that of a row */
    if (!isnan(p->settings.lipschitz)) {
        j->radius = sqrt(p->settings.lipschitz);
        return MGV_OK;
    }
    return mgvi_op_norm_cover(p->A, arena, NULL, d, 1, &j->radius);
}

const mgvi_vec *mgvi_judge_dual(const mgvi_judge *judge) { return &judge->u; }

void mgvi_judge_shift(const mgvi_judge *judge, mgvi_vec *w)
{
    mgvi_problem_best_shift(judge->problem, judge->z.x, w);
}

double mgvi_judge_norm(const mgvi_judge *judge, const mgvi_vec *x, double exponent)
{
    const mgvi_vec part = mgvi_problem_penalised_part(judge->problem, x);
    if (exponent != 2)
        return mgvi_lp_norm(part.x, part.n, exponent);
    return mgvi_op_length(judge->problem->A, &part);
}

/* What a penalty of w is computed from: w, or, where the operator knows lengths only, one
 * coordinate of that length (which is all that l2 sees). `length` is room for it. */
static mgvi_vec seen_by_penalty(const mgv_problem *p, const mgvi_vec *x, double *length)
{
    const mgvi_vec part = mgvi_problem_penalised_part(p, x);
    if (!p->A->ops->square)
        return part;
    *length = mgvi_op_length(p->A, &part);
    return mgvi_vec_wrap(length, 1, MGVI_COLS);
}

static void balance_lane(mgvi_judge *judge, int32_t c)
{
    const mgv_problem *p = judge->problem;
    const int32_t k = p->lanes;
    double side[2] = {0, 0};
    for (int64_t i = 0; i < judge->u.n; i++) {
        const double t = mgvi_problem_free_entry_of(p, i, c) * judge->u.x[i * k + c];
        side[t > 0] += fabs(t);
    }
    const int heavy = side[1] > side[0];
    const double factor = side[heavy] > 0 ? side[!heavy] / side[heavy] : 1;
    for (int64_t i = 0; i < judge->u.n; i++)
        if ((mgvi_problem_free_entry_of(p, i, c) * judge->u.x[i * k + c] > 0) == heavy)
            judge->u.x[i * k + c] *= factor;
}

void mgvi_judge_balance(mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    if (!p->free_cols)
        return;
    if (p->loss->can & MGVI_JOINT) {
        mgvi_judge_balance_classes(judge);
        return;
    }
    if (p->graph) {
        mgvi_judge_balance_contrasts(judge);
        return;
    }
    for (int32_t c = 0; c < p->lanes; c++)
        balance_lane(judge, c);
}

/* A sum and the size of the numbers in it, by which rounding is measured. */
typedef struct sized {
    double value, size;
} sized;

static double sum_lanes(const mgvi_judge *judge, int32_t count)
{
    double sum = 0;
    for (int32_t c = 0; c < count; c++)
        sum += judge->lane[c];
    return sum;
}

/* D(t u) with v = -t A'u, both scaled here. */
static sized dual_at(mgvi_judge *judge, mgvi_vec *v, double t)
{
    const mgv_problem *p = judge->problem;
    if (t < 1) {
        const double inward = t * (1 - 0x1p-51); /* no entry may round out again */
        mgvi_vec_scale(p->ctx, inward, v);
        mgvi_vec_scale(p->ctx, inward, &judge->u);
    }
    mgvi_penalty_conj(&judge->penalty, v, judge->lane);
    const double penalty = sum_lanes(judge, v->k);
    mgvi_loss_conj(p->ctx, p->loss, &p->row, &judge->u, judge->lane);
    const double loss = sum_lanes(judge, p->lanes);
    return (sized){.value = -penalty - loss, .size = fabs(penalty) + fabs(loss)};
}

/* The elastic net's conjugate, sum (|v_j| - mu)_+^2/(2 lambda), is finite everywhere and steep for
 * a small lambda: a u that is scaled into |v| <= mu may give the better bound. The scale that does
 * it, 1 for other penalties and where v is inside. */
static double into_the_box(const mgv_problem *p, const mgvi_vec *v)
{
    double t = 1;
    if (strcmp(p->penalty->name, "enet") != 0 || (p->loss->can & MGVI_JOINT))
        return 1;
    for (int64_t j = 0; j < v->n; j++)
        for (int32_t c = 0; c < v->k; c++) {
            const double mu = mgvi_coef_pick(&p->col.scale, j, c), x = fabs(v->x[j * v->k + c]);
            t = x > mu ? fmin(t, mu / x) : t;
        }
    return t;
}

static sized dual_value(mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    double length;
    if (mgvi_problem_has_smooth(p))
        return (sized){.value = mgvi_judge_smooth_bound(judge), .size = INFINITY};
    mgvi_vec v = seen_by_penalty(p, &judge->v, &length);
    mgvi_vec_scale(p->ctx, -1, &v);
    if (!(p->penalty->can & MGVI_CONJ))
        return (sized){.value = -INFINITY}; /* no bound from below is known */
    mgvi_penalty_dual_scale(&judge->penalty, &v, judge->lane);
    double t = 1;
    for (int32_t c = 0; c < v.k; c++)
        t = fmin(t, judge->lane[c]);
    const double box = into_the_box(p, &v);
    const sized whole = dual_at(judge, &v, t);
    double loss = 0;
    for (int64_t i = 0; box < 1 && i < judge->u.n; i++)
        loss += p->loss->conj(mgvi_coefs_at(&p->row, i, 0), box * judge->u.x[i]);
    return box < 1 && -loss > whole.value ? dual_at(judge, &v, box) : whole;
}

static double primal_penalty(const mgvi_judge *judge, const mgvi_vec *w)
{
    double length;
    const mgvi_vec part = seen_by_penalty(judge->problem, w, &length);
    mgvi_penalty_value(&judge->penalty, &part, judge->lane);
    return sum_lanes(judge, part.k);
}

static double primal_loss(const mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    mgvi_loss_value(p->ctx, p->loss, &p->row, &judge->z, judge->lane);
    return sum_lanes(judge, p->lanes);
}

/* max_i dist(z_i, Y_i) / (1 + |z_i|) */
static double hard_residual(const mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    double worst = 0;
    for (int64_t i = 0; i < judge->z.n; i++) {
        const double z = judge->z.x[i];
        const mgvi_coef c = mgvi_coefs_at(&p->row, i, 0);
        if (c.scale > 0) /* a row without weight is no constraint */
            worst = fmax(worst, fabs(z - p->loss->prox(c, z, 1)) / (1 + fabs(z)));
    }
    return worst;
}

/* ---- from the two sides to a certificate ----------------------------------------------------- */

/* Weak duality (2) may be missed by rounding only. */
static void conclude_soft(mgv_certificate *c)
{
    c->gap = c->primal - c->dual;
    c->relative_gap = c->gap / fmax(fabs(c->primal), 1e-300);
    const double slack = 1e-11 * (1e-300 + fabs(c->primal) + fabs(c->dual));
    c->verified = isfinite(c->primal) && isfinite(c->dual) && c->gap >= -slack;
}

/* Equalities and intervals: w is only nearly feasible, so that P(w) may lie below D(u). */
static void conclude_constraint(mgv_certificate *c, double residual)
{
    c->gap = fabs(c->primal - c->dual);
    const double size = fmax(fmax(fabs(c->primal), fabs(c->dual)), 1e-300);
    c->relative_gap = fmax(c->gap / size, residual);
    c->verified = isfinite(c->primal) && isfinite(c->dual);
}

/* With the best rescaling of w and u: P = 1/(2 lower^2), D = 1/(2 upper^2).        (7) */
static void conclude_margin(mgv_certificate *c)
{
    const double lower = c->margin, upper = c->margin_upper;
    c->primal = lower > 0 ? 0.5 / (lower * lower) : INFINITY;
    c->dual = 0.5 / (upper * upper);
    c->gap = c->primal - c->dual;
    c->relative_gap = (upper - lower) / upper;
    c->separable = lower > 0 ? 1 : -1;
    c->verified = isfinite(lower) && upper > 0 && lower <= upper * (1 + 1e-11);
}

static void conclude(const mgv_problem *p, mgvi_verdict *v)
{
    if (!(p->loss->can & MGVI_HARD))
        conclude_soft(&v->certificate);
    else if (mgvi_problem_has_margin(p))
        conclude_margin(&v->certificate);
    else
        conclude_constraint(&v->certificate, v->residual);
}

mgvi_verdict mgvi_verdict_combine(const mgv_problem *p, const mgvi_verdict *primal,
                                  const mgvi_verdict *dual)
{
    mgvi_verdict out = *primal;
    out.certificate.dual = dual->certificate.dual;
    out.certificate.margin_upper = dual->certificate.margin_upper;
    out.dual_score = dual->dual_score;
    if (dual->certificate.separable == 0) /* a proof is a matter of u alone */
        out.certificate.separable = 0;
    conclude(p, &out);
    return out;
}

/* Equalities and intervals: neither a smaller value nor a smaller residual alone is better. */
bool mgvi_verdict_improves(const mgv_problem *p, const mgvi_verdict *found,
                           const mgvi_verdict *kept, const mgvi_verdict *dual)
{
    if (!(p->loss->can & MGVI_HARD) || mgvi_problem_has_margin(p))
        return found->primal_score < kept->primal_score;
    const mgvi_verdict with = mgvi_verdict_combine(p, found, dual);
    const mgvi_verdict without = mgvi_verdict_combine(p, kept, dual);
    return with.certificate.relative_gap < without.certificate.relative_gap ||
           isnan(without.certificate.relative_gap);
}

/* ---- the two sides --------------------------------------------------------------------------- */

/* From z = A w: with signs folded into A a row is right when z > 0; a score of 0 goes to the first
 * class. Without signs z is compared with the target. */
static double train_score(const mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    const double n = (double)judge->z.n;
    double sum = 0;
    if (p->loss->can & MGVI_JOINT)
        return mgvi_judge_right_classes(judge) / n;
    if (mgvi_problem_has_contrasts(p))
        return mgvi_judge_right_contrasts(judge);
    for (int64_t i = 0; i < judge->z.n; i++) {
        const double z = judge->z.x[i], y = p->sign ? 0 : mgvi_problem_target(p, i);
        if (p->sign)
            sum += z > 0 || (z == 0 && p->sign[i] < 0);
        else if (p->classify)
            sum += (z > 0) == (y > 0);
        else
            sum += (z - y) * (z - y);
    }
    return sum / n;
}

static void judge_primal(mgvi_judge *judge, const mgvi_vec *w, mgvi_verdict *out)
{
    const mgv_problem *p = judge->problem;
    mgv_certificate *c = &out->certificate;
    if (p->loss->can & MGVI_MARGIN)
        mgvi_op_mul_low(p->A, w, &judge->z);
    else
        mgvi_op_mul(p->A, 1, w, 0, &judge->z);
    out->train_score = train_score(judge);
    if (p->loss->can & MGVI_HARD)
        out->residual = hard_residual(judge);
    if (mgvi_problem_has_margin(p)) {
        c->margin = mgvi_margin_lower(judge, w);
        out->primal_score = mgvi_judge_norm(judge, w, 2) > 0 ? -c->margin : INFINITY; /* no w yet */
        return;
    }
    const double loss = p->loss->can & MGVI_HARD ? 0 : primal_loss(judge);
    mgvi_judge_touch_smooth(judge, w);
    c->primal = primal_penalty(judge, w) + mgvi_problem_smooth_value(p, w) + loss;
    out->primal_score = p->loss->can & MGVI_HARD ? out->residual : c->primal;
    if (p->loss->can & MGVI_MARGIN) {
        double least;
        mgvi_vec_min(p->ctx, &judge->z, &least);
        if (least > 0)
            c->separable = 1; /* these weights separate the data */
    }
}

static void judge_dual(mgvi_judge *judge, const mgvi_vec *u, mgvi_verdict *out)
{
    const mgv_problem *p = judge->problem;
    mgvi_vec_copy(p->ctx, u, &judge->u);
    mgvi_loss_dual_clip(p->ctx, p->loss, &p->row, &judge->u); /* (3) */
    mgvi_judge_balance(judge);
    mgvi_op_mul_t(p->A, 1, &judge->u, 0, &judge->v);
    if (mgvi_problem_has_margin(p)) {
        out->certificate.margin_upper = mgvi_margin_upper(judge);
        out->dual_score = -out->certificate.margin_upper;
    } else {
        const sized value = dual_value(judge);
        out->dual_score = out->certificate.dual = value.value;
        const bool beyond = value.value > judge->most + 1e-9 * value.size; /* (10) */
        if ((p->loss->can & MGVI_HARD) && beyond)
            out->certificate.separable = 0;
    }
}

mgvi_verdict mgvi_verdict_none(void)
{
    return (mgvi_verdict){.certificate = {.size = sizeof(mgv_certificate),
                                          .primal = NAN,
                                          .dual = NAN,
                                          .gap = NAN,
                                          .relative_gap = NAN,
                                          .margin = NAN,
                                          .margin_upper = NAN,
                                          .proof_norm = NAN,
                                          .separable = -1},
                          .residual = NAN,
                          .train_score = NAN};
}

mgvi_verdict mgvi_judge_certify(mgvi_judge *judge, const mgvi_vec *w, const mgvi_vec *u)
{
    mgvi_verdict out = mgvi_verdict_none();
    judge_primal(judge, w, &out);
    judge_dual(judge, u, &out);
    conclude(judge->problem, &out);
    return out;
}

void mgvi_judge_certify_lanes(mgvi_judge *judge, const mgvi_vec *w, const mgvi_vec *u,
                              mgv_certificate *out)
{
    const mgv_problem *p = judge->problem;
    const int32_t k = p->lanes;
    mgvi_op_mul(p->A, 1, w, 0, &judge->z);
    mgvi_vec_copy(p->ctx, u, &judge->u);
    mgvi_loss_dual_clip(p->ctx, p->loss, &p->row, &judge->u); /* (3) */
    mgvi_judge_balance(judge);
    mgvi_op_mul_t(p->A, -1, &judge->u, 0, &judge->v);
    const mgvi_vec part = mgvi_problem_penalised_part(p, w);
    const mgvi_vec dual = mgvi_problem_penalised_part(p, &judge->v);
    for (int32_t c = 0; c < k; c++)
        out[c] = mgvi_verdict_none().certificate;
    mgvi_penalty_value(&judge->penalty, &part, judge->lane); /* (1) */
    for (int32_t c = 0; c < k; c++)
        out[c].primal = judge->lane[c];
    mgvi_loss_value(p->ctx, p->loss, &p->row, &judge->z, judge->lane);
    for (int32_t c = 0; c < k; c++)
        out[c].primal += judge->lane[c];
    mgvi_penalty_conj(&judge->penalty, &dual, judge->lane); /* (2) */
    for (int32_t c = 0; c < k; c++)
        out[c].dual = -judge->lane[c];
    mgvi_loss_conj(p->ctx, p->loss, &p->row, &judge->u, judge->lane);
    for (int32_t c = 0; c < k; c++) {
        out[c].dual -= judge->lane[c];
        conclude_soft(&out[c]);
    }
}
