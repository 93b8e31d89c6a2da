/* balance.c - makes u orthogonal to the intercept, as well as numbers go.
 *
 * What is left over is not looked at further: with 0 in the domain of the conjugates, where they
 * are 0, u stays dual feasible when its heavier side shrinks by the part t that is left. That u is
 * the dual point meant; by convexity its conjugates exceed those of the u at hand by no more than t
 * times their sizes, and A'u moves by t times its terms. `imbalance` is a bound of t.       (4b) */
#include "base/twofold.h"
#include "certify/rounding.h"

#include <math.h>

/* Numbers added plainly, in sums side by side for vectors; the additions one of them sees. */
enum { CHUNK = 128, WIDE = 8, PLAINLY = CHUNK / WIDE + WIDE };

/* What `count` numbers sum up to: those above and those below 0. */
typedef struct sides {
    double above, below;
} sides;

static sides add_chunk(const double *u, const int8_t *sign, int64_t count)
{
    double above[WIDE] = {0}, below[WIDE] = {0};
    sides out = {0, 0};
    int64_t i = 0;
    for (; i + WIDE <= count; i += WIDE)
        for (int t = 0; t < WIDE; t++) {
            const double x = sign ? sign[i + t] * u[i + t] : u[i + t];
            above[t] += x > 0 ? x : 0;
            below[t] += x < 0 ? -x : 0;
        }
    for (; i < count; i++) {
        const double x = sign ? sign[i] * u[i] : u[i];
        above[0] += x > 0 ? x : 0;
        below[0] += x < 0 ? -x : 0;
    }
    for (int t = 0; t < WIDE; t++) {
        out.above += above[t];
        out.below += below[t];
    }
    return out;
}

/* The entries of lane c, CHUNK at a time, in a row. */
static const double *chunk_of(const mgv_problem *p, const double *u, int64_t i, int64_t n,
                              int32_t c, double *room)
{
    const int32_t k = p->lanes;
    if (k == 1)
        return u + i;
    for (int64_t t = 0; t < n; t++)
        room[t] = mgvi_problem_free_entry_of(p, i + t, c) * u[(i + t) * k + c];
    return room;
}

/* Both sides of lane c, `chunk` numbers at a time plainly, these in twofold numbers. Without an
 * intercept the signs do not matter: what is wanted is the sum of all sizes. */
static sides add_lane(const mgvi_judge *judge, int32_t c, int64_t chunk)
{
    const mgv_problem *p = judge->problem;
    const mgvi_vec *u = &judge->u;
    const double *x = mgvi_vec_host(u);
    mgvi_two above = {0, 0}, below = {0, 0};
    double room[CHUNK];
    for (int64_t i = 0; i < u->n; i += chunk) {
        const int64_t n = u->n - i < chunk ? u->n - i : chunk;
        const int8_t *sign = u->k == 1 && p->view.sign ? p->view.sign + i : NULL;
        const sides s = add_chunk(chunk_of(p, x, i, n, c, room), sign, n);
        above = mgvi_two_add_real(above, s.above);
        below = mgvi_two_add_real(below, s.below);
    }
    return (sides){mgvi_two_real(above), mgvi_two_real(below)};
}

static void scale_side(mgvi_judge *judge, int32_t c, bool above, double factor)
{
    const mgv_problem *p = judge->problem;
    const int32_t k = p->lanes;
    double *u = mgvi_vec_open(&judge->u);
    const int8_t *sign = p->view.sign;
    for (int64_t i = 0; k == 1 && i < judge->u.n; i++) {
        const double x = sign ? sign[i] * u[i] : u[i];
        u[i] *= (x > 0) == above ? factor : 1;
    }
    for (int64_t i = 0; k > 1 && i < judge->u.n; i++)
        if ((mgvi_problem_free_entry_of(p, i, c) * u[i * k + c] > 0) == above)
            u[i * k + c] *= factor;
    mgvi_vec_close(&judge->u);
}

/* What scaling has left of the sum of lane c, rounded as its entries are, as a part of a side: in
 * twofold numbers, for a bound of that rounding is much larger. */
static double left_over(const mgvi_judge *judge, int32_t c)
{
    const mgv_problem *p = judge->problem;
    const double SUMS = 0x1p-80; /* of 2^20 twofold numbers and more */
    mgvi_two sum = {0, 0};
    const double *dual = mgvi_vec_host(&judge->u);
    double size = 0;
    for (int64_t i = 0; i < judge->u.n; i++) {
        const double u = dual[i * p->lanes + c];
        sum = mgvi_two_add_real(sum, mgvi_problem_free_entry_of(p, i, c) * u);
        size += fabs(u);
    }
    return size > 0 ? 4 * fabs(mgvi_two_real(sum)) / size + SUMS : 0;
}

static void balance_lane(mgvi_judge *judge, int32_t c, bool careful)
{
    const sides s = add_lane(judge, c, careful ? 1 : CHUNK);
    const bool above = s.above > s.below;
    const double heavy = above ? s.above : s.below, light = above ? s.below : s.above;
    judge->u_sum[c] = (s.above + s.below) * (1 + mgvi_sum_error(PLAINLY));
    if (!judge->problem->free_cols || !(heavy > light))
        return;
    scale_side(judge, c, above, light / heavy);
    judge->u_sum[c] = 2 * light * (1 + 2 * mgvi_sum_error(PLAINLY));
}

static void sum_lanes(mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    const mgvi_vec *u = &judge->u;
    const double *x = mgvi_vec_host(u);
    for (int32_t c = 0; c < p->lanes; c++)
        judge->u_sum[c] = 0;
    for (int64_t i = 0; i < u->n; i++)
        for (int32_t c = 0; c < p->lanes; c++)
            judge->u_sum[c] += fabs(x[i * p->lanes + c]);
    for (int32_t c = 0; c < p->lanes; c++)
        judge->u_sum[c] *= 1 + mgvi_sum_error((double)u->n);
}

void mgvi_judge_balance(mgvi_judge *judge, mgvi_care care)
{
    const bool careful = care > MGVI_CARE_PLAIN;
    const mgv_problem *p = judge->problem;
    judge->imbalance = judge->closed = 0;
    if (p->loss->can & MGVI_JOINT) {
        mgvi_judge_balance_classes(judge);
        sum_lanes(judge);
        return;
    }
    if (p->graph) { /* nodes are balanced by more flow, which a margin allows */
        mgvi_judge_balance_contrasts(judge);
        sum_lanes(judge);
        return;
    }
    if (judge->level.n > 0) {
        mgvi_judge_level(judge, care);
        sum_lanes(judge);
        return;
    }
    for (int32_t c = 0; c < p->lanes; c++) {
        balance_lane(judge, c, careful);
        if (p->free_cols && careful)
            judge->imbalance = fmax(judge->imbalance, left_over(judge, c));
    }
    if (p->free_cols && !careful) /* a factor, its products, and the sums it was made from */
        judge->imbalance = 8 * MGVI_UNIT + 2 * mgvi_sum_error(PLAINLY);
}
