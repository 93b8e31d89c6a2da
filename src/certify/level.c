/* level.c - penalties that do not see the level of the weights, R(w + t 1) = R(w).
 *
 * R* is then finite only where 1'A'u = s'u = 0, s = A 1, beside b'u = 0 of an intercept b. Any u of
 * the losses' domain is moved to where both hold, each entry by a part of the room it has:
 *   u_i <- u_i - q_i (b_i r_b / g_b + t_i r_t / g_t),   t = s - m b,  g_b = sum q_i b_i^2,
 *   g_t = sum q_i t_i^2,  r_b = b'u,  r_t = t'u,  m so that sum q_i b_i t_i = 0               (4c)
 * with q_i what u_i can move both ways within its domain, and no further than to 0. A few rounds
 * leave nothing but rounding; one more round, in exact numbers, would make the dual point meant.
 * Its parts q_i are at most those that `imbalance` says. */
#include "base/twofold.h"
#include "certify/rounding.h"

#include <math.h>

typedef struct level {
    const mgvi_judge *judge;
    int32_t lane;
    double *u; /* of all lanes, as s is */
    const double *s;
    double m, g_b, g_t; /* (4c) */
    double r_b, r_t;
    double size, room; /* sum |u_i|, sum q_i */
    double most;       /* |t_i| */
} level;

static double b_at(const level *l, int64_t i)
{
    const mgv_problem *p = l->judge->problem;
    return p->free_cols ? mgvi_problem_free_entry_of(p, i, l->lane) : 0;
}

static double s_at(const level *l, int64_t i) { return l->s[i * l->judge->level.k + l->lane]; }

static double *u_at(const level *l, int64_t i) { return &l->u[i * l->judge->u.k + l->lane]; }

static double room_at(const level *l, int64_t i)
{
    const mgv_problem *p = l->judge->problem;
    const double u = *u_at(l, i);
    if (!p->loss->dual_clip)
        return fabs(u);
    return fmin(fabs(u), fabs(p->loss->dual_clip(mgvi_coefs_at(&p->row, i, l->lane), 2 * u) - u));
}

static void measure(level *l)
{
    const int64_t n = l->judge->u.n;
    double product = 0;
    mgvi_two of_b = {0, 0}, of_t = {0, 0};
    l->g_b = l->g_t = l->size = l->room = l->most = 0;
    for (int64_t i = 0; i < n; i++) {
        const double b = b_at(l, i), q = room_at(l, i);
        l->g_b += q * b * b;
        product += q * b * s_at(l, i);
    }
    l->m = l->g_b > 0 ? product / l->g_b : 0;
    const double whole = rint(l->m); /* of whole numbers that are all the same */
    if (l->judge->level_error == 0 && fabs(l->m - whole) <= 0x1p-40 * fabs(whole))
        l->m = whole;
    for (int64_t i = 0; i < n; i++) {
        const double b = b_at(l, i), u = *u_at(l, i), t = s_at(l, i) - l->m * b;
        const mgvi_two product_t = mgvi_two_prod(t, u);
        const double q = room_at(l, i);
        l->g_t += q * t * t;
        l->room += q;
        l->size += fabs(u);
        l->most = fmax(l->most, fabs(t));
        of_b = mgvi_two_add_real(of_b, b * u);
        of_t = mgvi_two_add_real(mgvi_two_add_real(of_t, product_t.hi), product_t.lo);
    }
    l->r_b = mgvi_two_real(of_b);
    l->r_t = mgvi_two_real(of_t);
}

static void move(level *l)
{
    const double a = l->g_b > 0 ? l->r_b / l->g_b : 0, c = l->g_t > 0 ? l->r_t / l->g_t : 0;
    for (int64_t i = 0; i < l->judge->u.n; i++) {
        const double b = b_at(l, i), part = b * a + (s_at(l, i) - l->m * b) * c;
        *u_at(l, i) -= room_at(l, i) * fmax(-1, fmin(1, part));
    }
}

/* At most the parts of a last round, twice over: `off` is what an entry of s may be wrong by.
 * Infinite: there is no such point that could be known. */
static double parts_left(const level *l, double off)
{
    const double rounding = 4 * MGVI_UNIT * (l->most + fabs(l->m)) + off;
    const double r_t = fabs(l->r_t) + rounding * l->size, r_b = fabs(l->r_b);
    double parts = r_b == 0 ? 0 : r_b / l->g_b;
    if (off == 0 && l->most == 0) /* s is a multiple of b, exactly */
        return 2 * parts;
    if (!(8 * rounding * sqrt(l->room) <= sqrt(l->g_t)))
        return INFINITY;
    parts += (l->most + rounding) * (r_t + rounding * r_b) / l->g_t;
    return 2 * parts;
}

static double level_lane(const mgvi_judge *judge, int32_t c, const double *s, double *u)
{
    enum { ROUNDS = 12 };
    const double ENOUGH = 64 * MGVI_UNIT;
    level l = {.judge = judge, .lane = c, .u = u, .s = s};
    double parts = INFINITY;
    for (int k = 0; k < ROUNDS; k++) {
        measure(&l);
        if (l.size == 0)
            return 0;
        const double left = parts_left(&l, judge->level_error);
        if (k > 0 && !(left < parts / 2) && parts < 1) /* as far as numbers go */
            return left;
        parts = left;
        if (parts <= ENOUGH)
            return parts;
        move(&l);
    }
    measure(&l);
    return parts_left(&l, judge->level_error);
}

/* ---- s = A 1 --------------------------------------------------------------------------------- */

/* Whether the table has whole numbers only, none of them large, and A has them as they are, but for
 * centres that an intercept makes up for. */
static bool of_whole_numbers(const mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    const mgvi_matrix *X = p->A->stored;
    const double most = 0x1p40 / ((double)X->cols + 1);
    if (p->view.scale || p->view.row_scale || (p->view.centre && !p->free_cols))
        return false;
    for (int64_t i = 0; i < mgvi_matrix_lines(X); i++) {
        const mgvi_span l = mgvi_matrix_span(X, i);
        for (int64_t t = 0; t < l.count; t++) {
            const double x = mgvi_span_value(X, &l, t);
            if (x != rint(x) || fabs(x) > most)
                return false;
        }
    }
    return true;
}

/* Of whole numbers: the sums of the table's rows, exactly. Beside b'u = 0 those serve as well as
 * the sums less the centres. */
static void round_sums(mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    const int32_t k = judge->level.k;
    double centre = 0, *sum = mgvi_vec_open(&judge->level);
    for (int64_t j = 0; p->view.centre && j < p->A->stored->cols; j++)
        centre += p->view.centre[j];
    for (int64_t i = 0; i < judge->level.n; i++)
        for (int32_t c = 0; c < k; c++) {
            const double b = p->free_cols ? mgvi_problem_free_entry_of(p, i, c) : 1;
            double *s = &sum[i * k + c];
            *s = b * rint(b * *s + centre);
        }
    mgvi_vec_close(&judge->level);
    judge->level_error = 0;
}

/* What an entry of s may be off, at most. */
static double level_error(const mgvi_judge *judge, bool twofold)
{
    const mgv_problem *p = judge->problem;
    const int64_t d = mgvi_problem_coefs(p);
    const double plain = mgvi_sum_error(judge->reach.row_terms + 16);
    double size = 0, centre = 0, spread = 0;
    for (int64_t j = 0; j < d; j++) {
        const double scale = mgvi_view_scale(&p->view, j);
        size += scale * mgvi_reach_of(judge, j, false);
        spread += scale * mgvi_reach_of(judge, j, true);
        centre += p->view.centre ? scale * fabs(p->view.centre[j]) : 0;
    }
    const double shift = p->free_cols ? 0 : mgvi_sum_error((double)d + 16) * centre;
    return (1 + mgvi_sum_error((double)d)) *
           ((twofold ? plain * plain : plain) * (size + centre) + shift +
            (16 * MGVI_UNIT + judge->reach.scale) * spread);
}

mgv_status mgvi_judge_open_level(mgvi_judge *judge, mgvi_arena *arena)
{
    const mgv_problem *p = judge->problem;
    const unsigned needed = MGVI_LEVEL | MGVI_CONJ;
    if ((p->penalty->can & needed) != needed || (p->loss->can & MGVI_JOINT) || p->graph)
        return MGV_OK;
    judge->level_care = MGVI_CARE_NONE;
    return mgvi_vec_new(arena, MGVI_ROWS, p->A->rows, p->lanes, &judge->level);
}

/* Reads the data where what is known of s is not of this care. */
static void sum_rows(mgvi_judge *judge, mgvi_care care)
{
    const mgv_problem *p = judge->problem;
    double *error = judge->lane;
    if (judge->level_care >= care)
        return;
    const bool twofold = care == MGVI_CARE_TWOFOLD && mgvi_careful_can(judge);
    mgvi_vec ones = mgvi_problem_penalised_part(p, &judge->v); /* free until A'u */
    mgvi_vec_fill(p->ctx, &judge->v, 0);
    mgvi_vec_fill(p->ctx, &ones, 1);
    if (twofold && mgvi_careful_scores(judge, &judge->v, error))
        mgvi_vec_copy(p->ctx, &judge->z, &judge->level);
    else
        mgvi_op_mul(p->A, 1, &judge->v, 0, &judge->level);
    if (mgvi_careful_can(judge)) {
        judge->level_error = level_error(judge, twofold);
        if (judge->level_error < 0.25 && of_whole_numbers(judge))
            round_sums(judge);
    } else {
        mgvi_vec_fill(p->ctx, &judge->v, 0);
        mgvi_vec_fill(p->ctx, &ones, 1);
        mgvi_score_errors(judge, &judge->v, error);
        judge->level_error = 0;
        for (int32_t c = 0; c < p->lanes; c++)
            judge->level_error = fmax(judge->level_error, error[c]);
    }
    judge->level_care = care;
}

void mgvi_judge_level(mgvi_judge *judge, mgvi_care care)
{
    double most = 0;
    sum_rows(judge, care == MGVI_CARE_NONE ? MGVI_CARE_PLAIN : care);
    const double *s = mgvi_vec_host(&judge->level);
    double *u = mgvi_vec_open(&judge->u);
    for (int32_t c = 0; c < judge->problem->lanes; c++)
        most = fmax(most, level_lane(judge, c, s, u));
    mgvi_vec_close(&judge->u);
    if (!(most < 0.25)) { /* no such point is near: 0 is one */
        mgvi_vec_fill(judge->problem->ctx, &judge->u, 0);
        most = 0;
    }
    /* the conjugates grow by no more than this many times their sizes, being convex */
    judge->imbalance = 8 * (most + MGVI_UNIT);
}
