/* classes.c - what the judge knows of losses and margins of many classes, and of rows that are right.
 *
 * With intercepts a dual point needs sum_i u_ij = 0 for every class j. From any u = s (p - e_c)
 * with p in the simplex one is made by moving probability: a class with too much, excess_j > 0,
 * gives up the share excess_j / (sum_i s_i p_ij) of every p_ij, and what a row has given goes to
 * the classes with too little in the proportion of what they lack. The rows stay in the simplex,
 * and the sums are then right, because all classes together have no excess. (9) */
#include "base/twofold.h"
#include "certify/rounding.h"

#include <math.h>
#include <string.h>

static int32_t class_of(const mgv_problem *p, int64_t i)
{
    return (int32_t)mgvi_coef_pick(&p->row.a, i, 0);
}

/* lane[j] > 0: the share class j gives up; < 0: minus its part of what is given. False: there is
 * nothing to move. */
static bool find_shares(mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    const int32_t k = p->lanes;
    const double *u = mgvi_vec_host(&judge->u);
    double *excess = judge->lane, lacking = 0;
    mgvi_vec_sum(p->ctx, &judge->u, excess);
    for (int32_t j = 0; j < k; j++) {
        double held = 0;
        for (int64_t i = 0; i < judge->u.n && excess[j] > 0; i++)
            held += u[i * k + j] + mgvi_coef_pick(&p->row.scale, i, 0) * (class_of(p, i) == j);
        if (excess[j] > 0)
            excess[j] = fmin(excess[j] / held, 1);
        else
            lacking -= excess[j];
    }
    for (int32_t j = 0; j < k && lacking > 0; j++)
        if (excess[j] < 0)
            excess[j] /= lacking;
    return lacking > 0;
}

/* What is left of the sums after balancing, class by class in units of the class's own weight: to
 * give that up, too, changes u by no more (4b). The own entry that a row is meant to have, minus the
 * others', is off by the rounding of these, which may be nothing beside the row's weight. */
static double left_over(mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    const int32_t k = p->lanes;
    const double *dual = mgvi_vec_host(&judge->u);
    double most = 0;
    for (int32_t j = 0; j < k && p->free_cols; j++) {
        double own = 0, off = 0;
        mgvi_two sum = {0, 0};
        for (int64_t i = 0; i < judge->u.n; i++) {
            const double u = dual[i * k + j];
            const bool mine = class_of(p, i) == j;
            own += mine ? mgvi_coef_pick(&p->row.scale, i, 0) : 0;
            off += (mine ? k : 1) * MGVI_UNIT * fabs(u);
            sum = mgvi_two_add_real(sum, u);
        }
        if (own > 0)
            most += 2 * (fabs(mgvi_two_real(sum)) + off) / own;
    }
    return most;
}

static void move_shares(mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    const int32_t k = p->lanes;
    const double *share = judge->lane;
    double *dual = mgvi_vec_open(&judge->u);
    for (int64_t i = 0; i < judge->u.n; i++) {
        double *u = dual + i * k, given = 0;
        const double s = mgvi_coef_pick(&p->row.scale, i, 0);
        const int32_t c = class_of(p, i);
        for (int32_t j = 0; j < k; j++)
            if (share[j] > 0) {
                const double part = share[j] * (u[j] + s * (j == c));
                u[j] -= part;
                given += part;
            }
        for (int32_t j = 0; j < k; j++)
            if (share[j] < 0)
                u[j] -= share[j] * given;
    }
    mgvi_vec_close(&judge->u);
}

/* u = s (p - e_c): the own class's entry is minus the others', to their digits, not those of s. */
static void close_rows(mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    const int32_t k = p->lanes;
    double *dual = mgvi_vec_open(&judge->u);
    for (int64_t i = 0; i < judge->u.n; i++) {
        double *u = dual + i * k, others = 0;
        const int32_t c = class_of(p, i);
        for (int32_t j = 0; j < k; j++)
            others += j == c ? 0 : u[j];
        if (others <= mgvi_coef_pick(&p->row.scale, i, 0))
            u[c] = -others;
    }
    mgvi_vec_close(&judge->u);
}

void mgvi_judge_balance_classes(mgvi_judge *judge)
{
    if (judge->problem->free_cols && find_shares(judge))
        move_shares(judge);
    close_rows(judge);
    judge->imbalance = left_over(judge);
    judge->closed = mgvi_sum_error(judge->problem->lanes);
}

/* What is left over of the balance: sum_c |excess_c| in units of sum |u_i|. As much flow again from
 * the classes that lack to those that have too much, which a margin allows, makes it a circulation;
 * where a class has no examples that count, less flow into it. */
static double left_in_graph(mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    mgvi_class_graph *g = p->graph;
    const int32_t k = g->k;
    double *hi = g->least, *lo = g->least + k, size = 0, off = 0; /* k^2 >= 2 k numbers */
    const double *dual = mgvi_vec_host(&judge->u);
    memset(hi, 0, 2 * (size_t)k * sizeof *hi);
    for (int64_t i = 0; i < judge->u.n; i++) {
        const double u = dual[i];
        const int64_t at = mgvi_problem_edge(p, i).at;
        if (u == 0)
            continue;
        mgvi_two_feed(&hi[at / k], &lo[at / k], 1, -u);
        mgvi_two_feed(&hi[at % k], &lo[at % k], 1, u);
        size += fabs(u);
    }
    for (int32_t c = 0; c < k; c++)
        off += fabs(hi[c] + lo[c]);
    return size > 0 ? 2 * off / size + 2 * MGVI_UNIT : 0;
}

void mgvi_judge_balance_contrasts(mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    mgvi_class_graph *g = p->graph;
    const int64_t edges = (int64_t)g->k * g->k;
    double *flow = g->least, *low = g->edge, *u = mgvi_vec_open(&judge->u);
    memset(flow, 0, (size_t)edges * sizeof *flow);
    memset(low, 0, (size_t)edges * sizeof *low);
    for (int64_t i = 0; i < judge->u.n; i++) {
        const int64_t at = mgvi_problem_edge(p, i).at;
        mgvi_two_feed(&flow[at], &low[at], 1, -u[i]);
    }
    for (int64_t t = 0; t < edges; t++)
        flow[t] += low[t];
    memcpy(g->edge, flow, (size_t)edges * sizeof *flow);
    mgvi_class_graph_circulate(g);
    for (int64_t t = 0; t < edges; t++)
        flow[t] = flow[t] > 0 ? g->edge[t] / flow[t] : 0;
    for (int64_t i = 0; i < judge->u.n; i++)
        u[i] *= flow[mgvi_problem_edge(p, i).at];
    mgvi_vec_close(&judge->u);
    judge->imbalance = left_in_graph(judge);
}

static double right_classes(const mgvi_judge *judge)
{
    const int32_t k = judge->problem->lanes;
    const double *score = mgvi_vec_host(&judge->z);
    double right = 0;
    for (int64_t i = 0; i < judge->z.n; i++) {
        const double *z = score + i * k;
        int32_t best = 0;
        for (int32_t j = 1; j < k; j++)
            if (z[j] > z[best])
                best = j;
        right += best == class_of(judge->problem, i);
    }
    return right;
}

/* Right when every rival scores less, or as much and stands behind in the order of the classes.
 * `shift`: of every class; NULL: none. */
static double right_contrasts(const mgvi_judge *judge, const double *shift)
{
    const mgv_problem *p = judge->problem;
    const int64_t k = p->outputs, n = judge->z.n / k;
    const double *z = mgvi_vec_host(&judge->z);
    double right = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t own = (int64_t)p->target[i];
        bool wins = true;
        for (int64_t j = 0; j < k; j++) {
            const double ahead = z[i * k + j] + (shift ? shift[own] - shift[j] : 0);
            wins = wins && (ahead > 0 || (ahead == 0 && own <= j));
        }
        right += wins;
    }
    return right / (double)n;
}

/* From z = A w: with signs folded into A a row is right when z > 0; a score of 0 goes to the first
 * class. Without signs z is compared with the target. */
double mgvi_judge_train_score(const mgvi_judge *judge, bool as_it_is)
{
    const mgv_problem *p = judge->problem;
    const double n = (double)judge->z.n;
    double sum = 0, room;
    const double *shift = as_it_is ? NULL : mgvi_problem_shift(p, mgvi_vec_host(&judge->z), &room);
    if (p->loss->can & MGVI_JOINT)
        return right_classes(judge) / n;
    if (mgvi_problem_has_contrasts(p))
        return right_contrasts(judge, shift);
    const double *score = mgvi_vec_host(&judge->z);
    for (int64_t i = 0; i < judge->z.n; i++) {
        const double moved = shift ? mgvi_problem_free_entry(p, i) * *shift : 0;
        const double z = score[i] + moved, y = p->view.sign ? 0 : mgvi_problem_target(p, i);
        if (p->view.sign)
            sum += z > 0 || (z == 0 && p->view.sign[i] < 0);
        else if (p->classify)
            sum += (z > 0) == (y > 0);
        else
            sum += (z - y) * (z - y);
    }
    return sum / n;
}
