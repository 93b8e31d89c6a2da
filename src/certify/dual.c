/* dual.c - the lower bound D(u) = -R*(-A'u) - sum (s_i G_i)*(u_i), rounded down: v = -A'u is taken
 * at its worst within what rounding may have done to it, sums by their bounds. */
#include "certify/rounding.h"

#include <math.h>

/* What a penalty of w is computed from: w, or, where the operator knows lengths only, one
 * coordinate of that length (which is all that l2 sees). `length` is room for it. */
mgvi_vec mgvi_judge_seen(const mgv_problem *p, const mgvi_vec *x, double *length)
{
    const mgvi_vec part = mgvi_problem_penalised_part(p, x);
    if (!p->A->ops->square)
        return part;
    *length = mgvi_op_length(p->A, &part);
    return mgvi_vec_wrap(length, 1, MGVI_COLS);
}

double mgvi_judge_sum_lanes(const mgvi_judge *judge, int32_t count)
{
    double sum = 0;
    for (int32_t c = 0; c < count; c++)
        sum += judge->lane[c];
    return sum;
}

/* How many numbers the loops of backend/terms.h add one after the other, at most. */
double mgvi_terms_in_a_row(int64_t count)
{
    enum { GRAIN = 1 << 14, BLOCKS = 64 };
    return count <= GRAIN ? (double)count : fmax(GRAIN, (double)count / BLOCKS) + BLOCKS;
}

/* What does not depend on w and u: sum s_i G_i(0), and D(0) (12). z and v are 0 as they come. */
void mgvi_judge_open_bounds(mgvi_judge *j)
{
    const mgv_problem *p = j->problem;
    j->idle = -INFINITY;
    for (int64_t i = 0; (p->loss->can & MGVI_JOINT) && i < p->A->rows; i++)
        j->shares += mgvi_coef_pick(&p->row.scale, i, 0) * (1 + 4 * MGVI_UNIT);
    if (!(p->loss->can & MGVI_HARD)) {
        mgvi_loss_value(p->ctx, p->loss, &p->row, &j->z, j->lane);
        j->at_zero = mgvi_judge_sum_lanes(j, p->lanes) * (1 + mgvi_sum_error((double)j->z.n));
    }
    if (!(p->penalty->can & MGVI_CONJ) || mgvi_problem_has_smooth(p))
        return;
    double length = 0;
    mgvi_vec v = mgvi_problem_penalised_part(p, &j->v);
    if (p->A->ops->square)
        v = mgvi_vec_wrap(&length, 1, MGVI_COLS);
    mgvi_penalty_conj(&j->penalty, &v, j->lane);
    const double penalty = mgvi_judge_sum_lanes(j, v.k);
    j->idle = penalty == 0 ? 0 : -penalty - mgvi_sum_error((double)v.n) * fabs(penalty);
}

mgvi_coef mgvi_judge_coef(const mgvi_judge *judge, int64_t i, int32_t c)
{
    const mgv_problem *p = judge->problem;
    mgvi_coef at = mgvi_coefs_at(&p->row, i, c);
    if (judge->target != 0) {
        at.a -= judge->target;
        at.b -= p->loss->can & MGVI_BETWEEN ? judge->target : 0;
    }
    return at;
}

/* The dual point meant has sum u_i = 0, so that a constant less in all targets changes nothing:
 *   sum (s G)*(u_i) = sum (s G(. + t))*(u_i) + t sum u_i,                                  (4d)
 * but what rounding does to targets far larger than their spread. t is their mean, weighed by
 * |u_i|. */
static void measure_targets(mgvi_judge *judge, mgvi_care care)
{
    const mgv_problem *p = judge->problem;
    double sum = 0, size = 0;
    judge->target = 0;
    if (care <= MGVI_CARE_PLAIN || !p->free_cols || p->lanes > 1 ||
        (p->loss->can & (MGVI_MARGIN | MGVI_JOINT)))
        return;
    const double *dual = mgvi_vec_host(&judge->u);
    for (int64_t i = 0; i < judge->u.n; i++) {
        const double u = dual[i];
        sum += u == 0 ? 0 : copysign(1, u) * p->loss->conj(mgvi_coefs_at(&p->row, i, 0), u);
        size += fabs(u);
    }
    judge->target = size > 0 && isfinite(sum / size) ? sum / size : 0;
}

/* At least |(s G)*(u_i)| of row i, and as much again for the parts of its formula that cancel. */
static double conj_size_of_row(const mgvi_judge *judge, int64_t i, const double *u)
{
    const mgv_problem *p = judge->problem;
    const int32_t k = judge->u.k;
    const mgvi_joint_ops *joint = p->loss->joint;
    const mgvi_coef first = mgvi_coefs_at(&p->row, i, 0);
    double size = joint ? fabs(joint->conj(first.scale, u, k, (int32_t)first.a)) : 0;
    for (int32_t c = 0; c < k; c++) {
        const mgvi_coef at = mgvi_judge_coef(judge, i, c);
        const bool unit = joint || (p->loss->can & MGVI_MARGIN);
        const double end = (p->loss->can & MGVI_BETWEEN) && u[c] > 0 ? at.b : at.a;
        if (u[c] != 0)
            size += 2 * fabs(u[c]) * (unit ? 1 : fabs(end)) +
                    (joint ? 0 : fabs(p->loss->conj(at, u[c])));
    }
    return size;
}

/* Ends of intervals are targets and a width, rounded: t (4d) takes nothing from that. */
static double ends_error(const mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    double sum = 0;
    if (!(p->loss->can & MGVI_BETWEEN) || judge->target == 0)
        return 0;
    const double *dual = mgvi_vec_host(&judge->u);
    for (int64_t i = 0; i < judge->u.n; i++) {
        const mgvi_coef at = mgvi_coefs_at(&p->row, i, 0);
        const double u = dual[i];
        sum += u == 0 ? 0 : fabs(u * (u > 0 ? at.b : at.a));
    }
    return 2 * MGVI_UNIT * sum;
}

/* The sum of those. A soft conjugate is nowhere below -s G(0), which is good enough where the sum
 * is not far below that. */
static double conj_size(const mgvi_judge *judge, double conj, mgvi_care care)
{
    const double FAR = 0x1p-20;
    double size = 0;
    if (care <= MGVI_CARE_PLAIN && !(judge->problem->loss->can & MGVI_HARD) &&
        fabs(conj) > FAR * judge->at_zero)
        return fabs(conj) + 4 * judge->at_zero;
    const double *u = mgvi_vec_host(&judge->u);
    for (int64_t i = 0; i < judge->u.n; i++)
        size += conj_size_of_row(judge, i, u + i * judge->u.k);
    return size;
}

/* sum_i (s G)*(u_i). Few operations make one of them; the dual point meant has some entries
 * smaller by `imbalance` (balance.c). */
static mgvi_rounded conj_loss(mgvi_judge *judge, mgvi_care care)
{
    const mgv_problem *p = judge->problem;
    const bool careful = care > MGVI_CARE_PLAIN;
    mgvi_rounded out;
    measure_targets(judge, care);
    if (careful) {
        out.value = mgvi_careful_loss(judge, true);
    } else {
        mgvi_loss_conj(p->ctx, p->loss, &p->row, &judge->u, judge->lane);
        out.value = mgvi_judge_sum_lanes(judge, p->lanes);
    }
    const double terms = careful ? 0 : mgvi_terms_in_a_row(judge->u.n * judge->u.k);
    out.error = (mgvi_sum_error(terms + 16) + judge->imbalance + judge->closed) *
                    conj_size(judge, out.value, care) +
                judge->imbalance * 2 * judge->shares + ends_error(judge);
    return out;
}

double mgvi_penalty_error(const mgv_problem *p, int64_t count)
{
    return mgvi_sum_error(mgvi_terms_in_a_row(count) +
                          (p->penalty->whole ? (double)count + 64 : 8));
}

/* D(t u) with v = -t A'u, both scaled here. */
static mgvi_rounded dual_at(mgvi_judge *judge, mgvi_vec *v, double t, mgvi_care care)
{
    const mgv_problem *p = judge->problem;
    if (t < 1) { /* no entry may round out again; norms of a whole vector are rounded themselves */
        const double inward = t * (1 - (p->penalty->whole ? 2 * MGVI_ON_BOUNDARY : 0x1p-51));
        judge->shrunk *= inward;
        mgvi_vec_scale(p->ctx, inward, v);
        mgvi_vec_scale(p->ctx, inward, &judge->u);
    }
    mgvi_penalty_conj(&judge->penalty, v, judge->lane);
    const double penalty = mgvi_judge_sum_lanes(judge, v->k);
    const mgvi_rounded loss = conj_loss(judge, care);
    /* entropy: a logarithm of n numbers, near 0 where they are all the same */
    const bool entropic = p->penalty->whole && p->penalty->whole->most;
    const double unit = entropic ? mgvi_coef_pick(&p->col.scale, 0, 0) : 0;
    const double own = mgvi_penalty_error(p, v->n * v->k) * (fabs(penalty) + unit);
    return (mgvi_rounded){.value = -penalty - loss.value,
                          .error = own + loss.error + 4 * MGVI_UNIT * fabs(penalty + loss.value)};
}

/* The elastic net's conjugate, sum (|v_j| - mu)_+^2/(2 lambda), is finite everywhere and steep for
 * a small lambda: a u that is scaled into |v| <= mu may give the better bound. The scale that does
 * it, 1 for other penalties and where v is inside. */
static double into_the_box(const mgv_problem *p, const mgvi_vec *v)
{
    double t = 1;
    if (!mgvi_problem_is_net(p) || (p->loss->can & MGVI_JOINT))
        return 1;
    const double *at = mgvi_vec_host(v);
    for (int64_t j = 0; j < v->n; j++)
        for (int32_t c = 0; c < v->k; c++) {
            const double mu = mgvi_coef_pick(&p->col.scale, j, c), x = fabs(at[j * v->k + c]);
            t = x > mu ? fmin(t, mu / x) : t;
        }
    return t;
}

/* Moves v = -A'u, as the penalty sees it, to where rounding could have it at worst. A norm of a
 * whole matrix is not monotone in its entries: the length to be added is returned. */
static double worsen(mgvi_judge *judge, mgvi_care care, mgvi_vec *v)
{
    const mgv_problem *p = judge->problem;
    if (care == MGVI_CARE_NONE)
        return 0;
    if (!p->A->ops->square)
        return mgvi_worsen_columns(judge, judge->u_sum, care == MGVI_CARE_TWOFOLD, v);
    mgvi_vec_set(v, 0, -mgvi_kernel_length_above(judge, &judge->v, fabs(mgvi_vec_at(v, 0))));
    return 0;
}

/* The dual point meant has 1'v = 0 (level.c): so has v then, but for the last bits of its sums. */
static void take_level(const mgv_problem *p, mgvi_vec *v)
{
    if (!(p->penalty->can & MGVI_LEVEL))
        return;
    double *at = mgvi_vec_open(v);
    for (int32_t c = 0; c < v->k; c++) {
        double sum = 0;
        for (int64_t j = 0; j < v->n; j++)
            sum += at[j * v->k + c];
        for (int64_t j = 0; j < v->n; j++)
            at[j * v->k + c] -= sum / (double)v->n;
    }
    mgvi_vec_close(v);
}

static double conj_now(mgvi_judge *judge, const mgvi_vec *v)
{
    mgvi_penalty_conj(&judge->penalty, v, judge->lane);
    return mgvi_judge_sum_lanes(judge, v->k);
}

static double least_scale(mgvi_judge *judge, const mgvi_vec *v, double move)
{
    const mgv_problem *p = judge->problem;
    double t = 1;
    mgvi_penalty_dual_scale(&judge->penalty, v, judge->lane);
    for (int32_t c = 0; c < v->k; c++)
        t = fmin(t, judge->lane[c]);
    if (p->penalty->whole && !p->penalty->whole->most && move > 0) /* |V + E| <= |V| + |E| */
        t = 1 / (1 / t + move / mgvi_coef_pick(&p->col.scale, 0, 0));
    return t;
}

/* D(u): .value - .error bounds the optimum from below. */
mgvi_rounded mgvi_judge_dual_value(mgvi_judge *judge, mgvi_care care)
{
    const mgv_problem *p = judge->problem;
    double length, move, loss = 0;
    if (mgvi_problem_has_smooth(p)) {
        const double value = mgvi_judge_smooth_bound(judge);
        return (mgvi_rounded){.value = value, .error = 1e-12 * fabs(value)};
    }
    if (!(p->penalty->can & MGVI_CONJ))
        return (mgvi_rounded){.value = -INFINITY}; /* no bound from below is known */
    mgvi_vec v = mgvi_judge_seen(p, &judge->v, &length);
    mgvi_vec_scale(p->ctx, -1, &v);
    take_level(p, &v);
    const double sharp_t = fmin(least_scale(judge, &v, 0), into_the_box(p, &v));
    const double sharp = conj_now(judge, &v);
    move = worsen(judge, care, &v);
    const double t = least_scale(judge, &v, move), box = into_the_box(p, &v);
    const double moved = conj_now(judge, &v) - sharp;
    mgvi_rounded out = dual_at(judge, &v, t, care);
    const double *u = box < 1 ? mgvi_vec_host(&judge->u) : NULL;
    for (int64_t i = 0; box < 1 && i < judge->u.n; i++)
        loss += p->loss->conj(mgvi_coefs_at(&p->row, i, 0), box * u[i]);
    const bool boxed = box < 1 && -loss > out.value;
    if (boxed)
        out = dual_at(judge, &v, box, care);
    const double used = boxed ? box : t; /* D is concave in the scale of u, and 0 or less at 0 */
    const double cost = (moved > 0 && isfinite(moved) ? moved : 0) +
                        (sharp_t > used ? (sharp_t / used - 1) * fabs(out.value) : 0);
    return (mgvi_rounded){.value = out.value, .error = out.error, .cost = cost};
}
