/* certify.c - duality gaps.  P(w) = R(w) + F(w) + sum s_i G_i((A w)_i)               (1)
 *                            D(u) = -(R + F)*(-A'u) - sum (s_i G_i)*(u_i) <= P(w)    (2)
 * u must lie in the domain of the conjugates and be orthogonal to unpenalised columns; any u is
 * first made feasible: clipped (3), balanced (4), and scaled into the domain of R*. A smooth F is
 * bounded by its tangent (11). */
#include "certify/rounding.h"

#include <math.h>

mgv_status mgvi_judge_new(mgvi_arena *arena, const mgv_problem *p, mgvi_judge **out)
{
    mgvi_judge *j;
    MGVI_TRY(MGVI_ARRAY(arena, j, 1));
    j->problem = p;
    const int64_t n = p->A->rows, d = p->A->cols;
    MGVI_TRY(MGVI_VECS(arena, MGVI_ROWS, n, p->lanes, &j->z, &j->u));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, d, p->lanes, &j->v));
    MGVI_TRY(mgvi_problem_penalty(p, arena, &j->penalty));
    j->most = mgvi_penalty_most(&j->penalty, mgvi_problem_penalised(p));
    MGVI_TRY(MGVI_ARRAY(arena, j->lane, p->lanes));
    MGVI_TRY(mgvi_reach_open(j, arena));
    MGVI_TRY(mgvi_judge_open_smooth(j, arena));
    MGVI_TRY(mgvi_judge_open_level(j, arena));
    mgvi_judge_open_bounds(j);
    if (p->loss->can & MGVI_HARD) {
        MGVI_TRY(MGVI_VECS(arena, MGVI_ROWS, n, 1, &j->q, &j->Aq));
        MGVI_TRY(MGVI_VECS(arena, MGVI_COLS, d, 1, &j->y, &j->residual, &j->dir, &j->weight));
    }
    *out = j;
    if (!(p->loss->can & MGVI_HARD))
        return MGV_OK;
    if (p->A->ops->can & MGVI_ROW)
        return mgvi_rows_new(p->A, arena, &j->rows);
    /* no rows to look at: the norm is at least that of a row */
    return mgvi_problem_has_margin(p) ? mgvi_op_norm_cover(p->A, arena, NULL, d, 1, &j->radius)
                                      : MGV_OK;
}

const mgvi_vec *mgvi_judge_dual(const mgvi_judge *judge) { return &judge->u; }

void mgvi_judge_lend(mgvi_judge *judge, mgvi_vec lent[2])
{
    lent[0] = judge->z;
    lent[1] = judge->u;
}

void mgvi_judge_least_weights(mgvi_judge *judge, mgvi_vec *w, mgvi_vec *z)
{
    const mgv_problem *p = judge->problem;
    mgvi_vec v = mgvi_problem_penalised_part(p, &judge->v),
             part = mgvi_problem_penalised_part(p, w);
    mgvi_vec_fill(p->ctx, w, 0);
    mgvi_vec_fill(p->ctx, z, 0);
    if (!isfinite(judge->most) || !(p->penalty->can & MGVI_MIRROR)) /* least at 0 */
        return;
    mgvi_vec_fill(p->ctx, &v, 0);
    mgvi_penalty_mirror(&judge->penalty, &v, &v);
    mgvi_vec_copy(p->ctx, &v, &part);
    mgvi_op_mul(p->A, 1, w, 0, z);
}

void mgvi_judge_repair(const mgvi_judge *judge, mgvi_vec *w)
{
    mgvi_problem_best_shift(judge->problem, mgvi_vec_host(&judge->z), w);
    if (judge->repair != 1)
        mgvi_vec_scale(judge->problem->ctx, judge->repair, w);
}

double mgvi_judge_stretch(const mgvi_judge *judge) { return judge->repair; }

double mgvi_judge_norm(const mgvi_judge *judge, const mgvi_vec *x, double exponent)
{
    const mgvi_vec part = mgvi_problem_penalised_part(judge->problem, x);
    if (exponent != 2)
        return mgvi_lp_norm(mgvi_vec_host(&part), part.n, exponent);
    return mgvi_op_length(judge->problem->A, &part);
}

static double primal_penalty(mgvi_judge *judge, const mgvi_vec *w)
{
    double length = 0;
    const mgvi_vec part = mgvi_judge_seen(judge->problem, w, &length);
    length = mgvi_kernel_length_above(judge, w, length); /* `part` is that number with a kernel */
    mgvi_penalty_value(&judge->penalty, &part, judge->lane);
    return mgvi_judge_sum_lanes(judge, part.k);
}

/* sum_i s_i G_i(z_i) at the worst z there can be, and what the sum itself may be off. */
static mgvi_rounded primal_loss(mgvi_judge *judge, mgvi_care care)
{
    const mgv_problem *p = judge->problem;
    const bool careful = care > MGVI_CARE_PLAIN;
    if (careful) {
        const double value = mgvi_careful_loss(judge, false);
        return (mgvi_rounded){.value = value, .error = mgvi_sum_error(16) * value};
    }
    mgvi_loss_value(p->ctx, p->loss, &p->row, &judge->z, judge->lane);
    const double value = mgvi_judge_sum_lanes(judge, p->lanes);
    return (mgvi_rounded){
        .value = value,
        .error = mgvi_sum_error(mgvi_terms_in_a_row(judge->z.n * judge->z.k) + 16) * value};
}

/* residual: max_i dist(z_i, Y_i) / (1 + |z_i|); missing: the length of all those distances. */
static void measure_misses(const mgvi_judge *judge, mgvi_verdict *out)
{
    const mgv_problem *p = judge->problem;
    const double *score = mgvi_vec_host(&judge->z);
    double worst = 0, square = 0, rounded = 0;
    for (int64_t i = 0; i < judge->z.n; i++) {
        const double z = score[i];
        const mgvi_coef c = mgvi_coefs_at(&p->row, i, 0);
        if (!(c.scale > 0)) /* a row without weight is no constraint */
            continue;
        const double rounding = judge->error[0] + MGVI_UNIT * fabs(z);
        const double miss = fabs(z - p->loss->prox(c, z, 1)) + rounding;
        worst = fmax(worst, miss / (1 + fabs(z)));
        square += miss * miss;
        rounded += rounding * rounding;
    }
    out->residual = isnan(square) ? INFINITY : worst;
    out->missing = sqrt(square);
    out->missing_rounding = sqrt(rounded);
}

/* A hard margin under a penalty that is no power of a norm: w, its intercept moved, is divided by
 * its least margin and then meets the constraints. False: it has none, or would leave the domain
 * of the penalty. *value: R of those weights. */
static bool repair_margin(mgvi_judge *judge, const mgvi_vec *w, bool as_it_is, double *value)
{
    const mgv_problem *p = judge->problem;
    double most, least;
    const bool bounded = p->penalty->whole && p->penalty->whole->most; /* weights of a fixed sum */
    if (!mgvi_problem_wants_margin(p) || mgvi_problem_has_margin(p) || bounded)
        return false;
    mgvi_vec_abs_max(p->ctx, &judge->z, &most);
    mgvi_vec_min(p->ctx, &judge->z, &least);
    const double m = as_it_is ? least - judge->error[0] - 2 * MGVI_UNIT * fabs(least)
                              : mgvi_problem_least_margin(p, mgvi_vec_host(&judge->z)) -
                                    judge->error[0] - 16 * MGVI_UNIT * (most + 1);
    if (!(m > 0) || !isfinite(m))
        return false;
    judge->repair = 1 / m * (1 + 8 * MGVI_UNIT);
    if (as_it_is) { /* longer weights are rounded anew when they are saved */
        double *error = judge->lane;
        mgvi_score_errors(judge, w, error);
        judge->repair = m >= 1 ? 1 : judge->repair * (1 + 2 * error[0] / m);
    }
    mgvi_vec scaled = judge->v; /* free until the dual side */
    mgvi_vec_copy(p->ctx, w, &scaled);
    mgvi_vec_scale(p->ctx, judge->repair, &scaled);
    *value = primal_penalty(judge, &scaled) + mgvi_problem_smooth_value(p, &scaled);
    if (!isfinite(*value) && m >= 1) { /* a bounded domain: as it is, it is feasible */
        judge->repair = 1;
        *value = primal_penalty(judge, w) + mgvi_problem_smooth_value(p, w);
    }
    if (isfinite(*value))
        return true;
    judge->repair = 1;
    return false;
}

/* ---- from the two sides to a certificate ----------------------------------------------------- */

/* P is rounded up and D down: weak duality (2) holds, or something is wrong. */
static void conclude_soft(mgv_certificate *c, double unit)
{
    if (c->dual > 0 && c->dual < 0x1p-30 * c->primal) /* not worth its digits */
        c->dual = 0;
    c->gap = c->primal - c->dual;
    c->relative_gap = c->gap / (unit > 0 ? unit : fmax(fabs(c->primal), 1e-300));
    c->verified = isfinite(c->primal) && isfinite(c->dual) && c->gap >= 0;
}

/* Equalities and intervals: w is only nearly feasible. What it misses, y' - y, has its price,
 *   R(w) >= least R with A w = y' >= D(u) - u.(y' - y),  so that  R(w) + |u| |y' - y| >= D(u), (13)
 * which is the P of such a certificate: it is never below D. */
static void conclude_constraint(mgvi_verdict *v)
{
    mgv_certificate *c = &v->certificate;
    c->primal = v->objective + (v->missing == 0 ? 0 : v->missing * v->price);
    c->gap = c->primal - c->dual;
    const double size = fmax(fmax(fabs(c->primal), fabs(c->dual)), fmax(v->unit, 1e-300));
    c->relative_gap = fmax(c->gap / size, v->residual);
    c->verified = isfinite(c->primal) && isfinite(c->dual) && c->gap >= 0;
}

/* With the best rescaling of w and u: P = 1/(2 lower^2), D = 1/(2 upper^2).        (7) */
static void conclude_margin(mgv_certificate *c)
{
    const double lower = c->margin, upper = c->margin_upper;
    c->primal = lower > 0 ? 0.5 / (lower * lower) : INFINITY;
    c->dual = 0.5 / (upper * upper);
    c->gap = c->primal - c->dual;
    c->relative_gap = upper < INFINITY ? (upper - lower) / upper : INFINITY;
    c->separable = lower > 0 ? 1 : -1;
    c->verified = isfinite(lower) && upper > 0 && lower <= upper;
}

static void conclude(const mgv_problem *p, mgvi_verdict *v)
{
    if (!(p->loss->can & MGVI_HARD))
        conclude_soft(&v->certificate, v->unit);
    else if (mgvi_problem_has_margin(p))
        conclude_margin(&v->certificate);
    else
        conclude_constraint(v);
    v->certificate.rounding = v->primal_rounding + v->dual_rounding;
}

mgvi_verdict mgvi_verdict_combine(const mgv_problem *p, const mgvi_verdict *primal,
                                  const mgvi_verdict *dual)
{
    mgvi_verdict out = *primal;
    out.certificate.dual = dual->certificate.dual;
    out.certificate.margin_upper = dual->certificate.margin_upper;
    out.dual_score = dual->dual_score;
    out.dual_rounding = dual->dual_rounding;
    out.price = dual->price;
    out.shrunk = dual->shrunk;
    if (dual->certificate.separable == 0) /* a proof is a matter of u alone */
        out.certificate.separable = 0;
    conclude(p, &out);
    return out;
}

double mgvi_verdict_sharp_gap(const mgv_problem *p, const mgvi_verdict *v)
{
    mgvi_verdict sharp = *v;
    mgv_certificate *c = &sharp.certificate;
    c->primal -= v->primal_rounding;
    sharp.objective -= v->primal_rounding;
    sharp.missing = fmax(0, v->missing - v->missing_rounding);
    c->dual += v->dual_rounding;
    c->margin += v->primal_rounding;
    c->margin_upper -= v->dual_rounding;
    conclude(p, &sharp);
    return fmin(c->relative_gap, v->certificate.relative_gap); /* below 0, a margin's may be more */
}

void mgvi_verdict_excuse(const mgvi_judge *judge, mgvi_verdict *v)
{
    const mgv_problem *p = judge->problem;
    const bool fixed = p->penalty->whole && p->penalty->whole->most; /* the sum of the weights */
    const bool own = (p->penalty->can & MGVI_CANCELS) && fixed;
    /* a constraint has no loss; the entropy of such weights is of the size of its factor */
    const double unit = fmax(p->loss->can & MGVI_HARD ? 0 : judge->at_zero,
                             own ? mgvi_coef_pick(&p->col.scale, 0, 0) : 0);
    if (!(v->certificate.gap <= 0x1p-40 * unit))
        return;
    v->unit = unit;
    conclude(p, v);
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

/* z = A w and its errors. */
static mgvi_care score(mgvi_judge *judge, const mgvi_vec *w, mgvi_care care)
{
    const mgv_problem *p = judge->problem;
    if (care == MGVI_CARE_TWOFOLD && mgvi_careful_can(judge) &&
        mgvi_careful_scores(judge, w, judge->error))
        return care;
    if (care == MGVI_CARE_TWOFOLD && p->A->ops->mul_extended &&
        mgvi_op_mul_extended(p->A, w, mgvi_kernel_scale_error(judge), &judge->z, judge->error))
        return care;
    if (p->loss->can & MGVI_MARGIN)
        mgvi_op_mul_low(p->A, w, &judge->z);
    else
        mgvi_op_mul(p->A, 1, w, 0, &judge->z);
    for (int32_t c = 0; c < p->lanes; c++)
        judge->error[c] = 0;
    if (care != MGVI_CARE_NONE)
        mgvi_score_errors(judge, w, judge->error);
    return care == MGVI_CARE_TWOFOLD ? MGVI_CARE_COLUMNS : care;
}

static void judge_margin(mgvi_judge *judge, const mgvi_vec *w, bool as_it_is, mgvi_verdict *out)
{
    mgv_certificate *c = &out->certificate;
    c->margin = mgvi_margin_lower(judge, w, as_it_is, &out->primal_rounding);
    out->primal_score = mgvi_judge_norm(judge, w, 2) > 0 ? -c->margin : INFINITY; /* no w yet */
}

static double largest_error(const mgvi_judge *judge)
{
    double most = 0;
    for (int32_t c = 0; c < judge->problem->lanes; c++)
        most = fmax(most, judge->error[c]);
    return most;
}

/* What R(w) may be off: its own sums, the columns' scales in it, and, where its terms cancel (two
 * weights, or w log(d w), which is at most some |w|), the last bits of the weights. */
static double penalty_error(const mgvi_judge *judge, const mgvi_vec *w, double value)
{
    const mgv_problem *p = judge->problem;
    const int64_t penalised = mgvi_problem_penalised(p) * w->k;
    const bool cancels = p->penalty->can & MGVI_CANCELS;
    const double *weight = cancels ? mgvi_vec_host(w) : NULL;
    double sum = 0;
    for (int64_t j = 0; cancels && j < penalised; j++)
        sum += fabs(weight[j]);
    return (mgvi_penalty_error(p, w->n * w->k) + 2 * judge->reach.scale) * fabs(value) +
           (64 * MGVI_UNIT + 4 * judge->reach.scale) * mgvi_coef_pick(&p->col.scale, 0, 0) * sum;
}

static void judge_primal(mgvi_judge *judge, const mgvi_vec *w, mgvi_care care, mgvi_verdict *out)
{
    const mgv_problem *p = judge->problem;
    mgv_certificate *c = &out->certificate;
    judge->repair = 1;
    care = score(judge, w, care);
    judge->extended = care == MGVI_CARE_TWOFOLD;
    out->train_score = mgvi_judge_train_score(judge, care > MGVI_CARE_PLAIN);
    if (p->loss->can & MGVI_HARD)
        measure_misses(judge, out);
    if (mgvi_problem_has_margin(p)) {
        judge_margin(judge, w, care > MGVI_CARE_PLAIN, out);
        return;
    }
    const double error = largest_error(judge);
    if (p->loss->can & MGVI_MARGIN) {
        double least;
        mgvi_vec_min(p->ctx, &judge->z, &least);
        if (least > error)
            c->separable = 1; /* these weights separate the data */
    }
    mgvi_judge_touch_smooth(judge, w);
    double own;
    if (repair_margin(judge, w, care > MGVI_CARE_PLAIN, &own))
        out->residual = out->missing = 0;
    else
        own = primal_penalty(judge, w) + mgvi_problem_smooth_value(p, w);
    mgvi_rounded loss = {.value = 0};
    if (!(p->loss->can & MGVI_HARD)) {
        if (care != MGVI_CARE_NONE)
            mgvi_worsen_scores(judge, judge->error);
        loss = primal_loss(judge, care);
    }
    out->primal_rounding = loss.error + penalty_error(judge, w, own);
    if (care == MGVI_CARE_NONE)
        out->primal_rounding = 0;
    c->primal = out->objective = own + loss.value + out->primal_rounding;
    /* for those who ask what rounding has cost: a slope of the loss is at most this */
    if (!(p->loss->can & MGVI_HARD))
        out->primal_rounding += 2 * error * fmax(1, fmax(loss.value, sqrt(2 * loss.value)));
    out->primal_score = p->loss->can & MGVI_HARD ? out->residual : c->primal;
}

static void judge_dual(mgvi_judge *judge, const mgvi_vec *u, mgvi_care care, mgvi_verdict *out)
{
    const mgv_problem *p = judge->problem;
    mgv_certificate *c = &out->certificate;
    mgvi_vec_copy(p->ctx, u, &judge->u);
    mgvi_loss_dual_clip(p->ctx, p->loss, &p->row, &judge->u); /* (3) */
    mgvi_judge_balance(judge, care);
    judge->shrunk = 1;
    judge->extended = care == MGVI_CARE_TWOFOLD;
    if (care != MGVI_CARE_TWOFOLD || !mgvi_careful_can(judge) || !mgvi_careful_columns(judge)) {
        care = care == MGVI_CARE_TWOFOLD ? MGVI_CARE_COLUMNS : care;
        mgvi_op_mul_t(p->A, 1, &judge->u, 0, &judge->v);
    }
    if (mgvi_problem_has_margin(p)) {
        c->margin_upper = mgvi_margin_upper(judge, care, &out->dual_rounding);
        out->dual_score = -c->margin_upper;
        return;
    }
    const mgvi_rounded value = mgvi_judge_dual_value(judge, care);
    out->dual_rounding = care == MGVI_CARE_NONE ? 0 : value.error + value.cost;
    c->dual = 0 + (care == MGVI_CARE_NONE ? value.value : value.value - value.error); /* not -0 */
    if (!(c->dual >= judge->idle)) { /* u = 0 knows more (12) */
        mgvi_vec_fill(p->ctx, &judge->u, 0);
        c->dual = judge->idle;
        out->dual_rounding = 0;
    }
    out->shrunk = judge->shrunk;
    out->dual_score = c->dual;
    if (p->loss->can & MGVI_HARD) {
        mgvi_vec_norm2(p->ctx, &judge->u, &out->price);
        out->price *= 1 + mgvi_sum_error((double)judge->u.n);
    }
    if ((p->loss->can & MGVI_HARD) && c->dual > judge->most) /* (10) */
        c->separable = 0;
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
                                          .rounding = NAN,
                                          .separable = -1},
                          .residual = NAN,
                          .train_score = NAN};
}

mgvi_verdict mgvi_judge_certify(mgvi_judge *judge, const mgvi_vec *w, const mgvi_vec *u)
{
    return mgvi_judge_certify_with(judge, w, u, MGVI_CARE_PLAIN);
}

mgvi_care mgvi_judge_next_care(const mgvi_judge *judge)
{
    const bool known = mgvi_careful_can(judge) && judge->problem->A->stored->size;
    return known || judge->problem->A->ops->mul_extended ? MGVI_CARE_TWOFOLD : MGVI_CARE_COLUMNS;
}

mgvi_verdict mgvi_judge_certify_with(mgvi_judge *judge, const mgvi_vec *w, const mgvi_vec *u,
                                     mgvi_care care)
{
    mgvi_verdict out = mgvi_verdict_none();
    if (care > MGVI_CARE_PLAIN && mgvi_careful_can(judge) &&
        (judge->problem->view.centre || !judge->problem->A->stored->size))
        mgvi_reach_look(judge);
    judge_primal(judge, w, care, &out);
    judge_dual(judge, u, care, &out);
    conclude(judge->problem, &out);
    return out;
}

mgvi_verdict mgvi_judge_certify_primal(mgvi_judge *judge, const mgvi_vec *w, mgvi_care care,
                                       const mgvi_verdict *dual)
{
    mgvi_verdict out = mgvi_verdict_none();
    if (care > MGVI_CARE_PLAIN && mgvi_careful_can(judge) && !judge->problem->A->stored->size)
        mgvi_reach_look(judge);
    judge_primal(judge, w, care, &out);
    return mgvi_verdict_combine(judge->problem, &out, dual);
}

/* Lane c's sum of a term, with what rounding may have taken from it. */
static double widened(const mgvi_judge *judge, int32_t c, int64_t count, double extra)
{
    const double part = mgvi_sum_error(mgvi_terms_in_a_row(count) + 16) + extra;
    return judge->lane[c] + part * fabs(judge->lane[c]);
}

void mgvi_judge_certify_lanes(mgvi_judge *judge, const mgvi_vec *w, const mgvi_vec *u,
                              mgv_certificate *out)
{
    const mgv_problem *p = judge->problem;
    const int32_t k = p->lanes;
    const int64_t n = judge->u.n * k, d = mgvi_problem_penalised(p);
    mgvi_op_mul(p->A, 1, w, 0, &judge->z);
    mgvi_score_errors(judge, w, judge->error);
    mgvi_worsen_scores(judge, judge->error);
    mgvi_vec_copy(p->ctx, u, &judge->u);
    mgvi_loss_dual_clip(p->ctx, p->loss, &p->row, &judge->u); /* (3) */
    mgvi_judge_balance(judge, MGVI_CARE_PLAIN);
    mgvi_op_mul_t(p->A, -1, &judge->u, 0, &judge->v);
    const mgvi_vec part = mgvi_problem_penalised_part(p, w);
    mgvi_vec dual = mgvi_problem_penalised_part(p, &judge->v);
    mgvi_worsen_columns(judge, judge->u_sum, false, &dual);
    for (int32_t c = 0; c < k; c++)
        out[c] = mgvi_verdict_none().certificate;
    mgvi_penalty_value(&judge->penalty, &part, judge->lane); /* (1) */
    for (int32_t c = 0; c < k; c++)
        out[c].primal = widened(judge, c, d, 0);
    mgvi_loss_value(p->ctx, p->loss, &p->row, &judge->z, judge->lane);
    for (int32_t c = 0; c < k; c++)
        out[c].primal += widened(judge, c, n, 0);
    mgvi_penalty_conj(&judge->penalty, &dual, judge->lane); /* (2) */
    for (int32_t c = 0; c < k; c++)
        out[c].dual = -widened(judge, c, d, 0);
    mgvi_loss_conj(p->ctx, p->loss, &p->row, &judge->u, judge->lane);
    for (int32_t c = 0; c < k; c++) {
        const double wide = mgvi_sum_error(mgvi_terms_in_a_row(n) + 16) + judge->imbalance;
        const double size = fabs(judge->lane[c]) + 4 * judge->at_zero;
        out[c].dual = 0 + fmax(out[c].dual - judge->lane[c] - wide * size, judge->idle);
        conclude_soft(&out[c], 0);
    }
}
