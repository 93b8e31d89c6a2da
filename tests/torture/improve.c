/* improve.c - weights that are better still: line searches in __float128. Whatever they find is a
 * point like any other, so that nothing here has to be exact. */
#include "torture.h"

#include <math.h>
#include <string.h>

typedef struct line {
    const member *m;
    point at, step;
    quad z[MOST][CLASSES], dz[MOST][CLASSES], moved[MOST][CLASSES];
    quad a0, a1, a2; /* of kernels: the penalty is a0 + a1 t + a2 t^2 */
} line;

static int width(const member *m) { return m->c->kernel == LINEAR ? m->d : m->n; }

static void move(const line *l, quad t, point *out)
{
    for (int k = 0; k < l->m->outputs; k++) {
        out->b[k] = l->at.b[k] + t * l->step.b[k];
        for (int j = 0; j < width(l->m); j++)
            out->w[k][j] = l->at.w[k][j] + t * l->step.w[k][j];
    }
}

/* Margins are bounded in a norm; other hard problems in their penalty. */
bool has_margin(const torture_case *c)
{
    return c->loss == MARGIN &&
           (c->penalty == L2 || c->penalty == L1 || c->penalty == LP || c->penalty == LINF);
}

quad point_value(const member *m, const point *p)
{
    return has_margin(m->c) ? -member_margin(m, p) : member_objective(m, p);
}

static quad line_value(line *l, quad t)
{
    static point p;
    const member *m = l->m;
    const bool margin = has_margin(m->c);
    if (margin || m->c->kernel == LINEAR)
        move(l, t, &p);
    if (margin)
        return -member_margin(m, &p);
    for (int r = 0; r < m->n; r++)
        for (int k = 0; k < m->outputs; k++)
            l->moved[r][k] = l->z[r][k] + t * l->dz[r][k];
    const quad charge =
        m->c->kernel == LINEAR ? penalty_value(m, &p) : l->a0 + t * (l->a1 + t * l->a2);
    return charge + loss_sum(m, l->moved);
}

static void open_line(line *l)
{
    static point sum;
    member_scores(l->m, &l->at, l->z);
    member_scores(l->m, &l->step, l->dz);
    if (l->m->c->kernel == LINEAR)
        return;
    l->a0 = penalty_value(l->m, &l->at);
    l->a2 = penalty_value(l->m, &l->step);
    move(l, 1, &sum);
    l->a1 = penalty_value(l->m, &sum) - l->a0 - l->a2;
}

/* Golden section between the ends of a bracket that has a lower value inside. */
static quad section(line *l, quad low, quad high, quad *best)
{
    const quad share = 0.3819660112501051;
    quad t = low + share * (high - low), s = high - share * (high - low);
    quad ft = line_value(l, t), fs = line_value(l, s);
    for (int i = 0; i < 60; i++) {
        if (ft < fs) {
            high = s;
            s = t;
            fs = ft;
            t = low + share * (high - low);
            ft = line_value(l, t);
        } else {
            low = t;
            t = s;
            ft = fs;
            s = high - share * (high - low);
            fs = line_value(l, s);
        }
    }
    *best = ft < fs ? ft : fs;
    return ft < fs ? t : s;
}

/* The best point of the line, if it is better than where it starts. */
static void search(line *l, quad first)
{
    static point p;
    quad h = first, start, ahead = 0, best;
    int side = 0;
    open_line(l);
    start = line_value(l, 0);
    for (int i = 0; i < 6 && side == 0; i++) {
        side = (ahead = line_value(l, h)) < start    ? 1
               : (ahead = line_value(l, -h)) < start ? -1
                                                     : 0;
        h = side == 0 ? h / 64 : h;
    }
    if (side == 0)
        return;
    for (int i = 0; i < 40; i++) {
        const quad next = line_value(l, side * 4 * h);
        if (!(next < ahead))
            break;
        ahead = next;
        h *= 4;
    }
    const quad t = side > 0 ? section(l, 0, 4 * h, &best) : section(l, -4 * h, 0, &best);
    if (best < start) {
        move(l, t, &p);
        l->at = p;
    }
}

/* Half way between the classes. */
static void middle(const member *m, point *p)
{
    static quad z[MOST][CLASSES];
    quad up = INFINITY, down = INFINITY;
    member_scores(m, p, z);
    for (int r = 0; r < m->n; r++) {
        if (m->s[r] > 0 && m->sign[r] > 0)
            up = q_min(up, z[r][0]);
        if (m->s[r] > 0 && m->sign[r] < 0)
            down = q_min(down, -z[r][0]);
    }
    if (!isinf((double)up) && !isinf((double)down))
        p->b[0] += (down - up) / 2;
}

/* Coefficients of a kernel so large that even 113 bits cancel. */
bool point_is_rough(const member *m, const point *p)
{
    quad ones = 0;
    for (int k = 0; k < m->outputs; k++)
        for (int r = 0; r < m->n; r++)
            ones += q_abs(p->w[k][r]) * q_sqrt(m->K[r][r]);
    return m->c->kernel != LINEAR &&
           ones * ones * (quad)1e-32 >
               (quad)1e-17 * (penalty_value(m, p) + q_abs(point_value(m, p)));
}

bool is_bounded(const torture_case *c)
{
    return c->penalty == BOX || c->penalty == ENTROPY || c->penalty == NONNEG ||
           c->penalty == L1_NONNEG;
}

void point_repair(const member *m, point *p)
{
    const torture_case *c = m->c;
    quad sum = 0;
    for (int j = 0; j < m->d && is_bounded(c); j++) {
        p->w[0][j] =
            c->penalty == BOX ? q_min(c->high, q_max(c->low, p->w[0][j])) : q_max(0, p->w[0][j]);
        sum += p->w[0][j];
    }
    for (int j = 0; j < m->d && c->penalty == ENTROPY; j++)
        p->w[0][j] = sum > 0 ? p->w[0][j] / sum : (quad)1 / m->d;
}

void point_improve(const member *m, point *p, const point *other)
{
    static line l;
    const loss kind = m->c->loss;
    l.m = m;
    l.at = *p;
    if (kind == EQUAL || kind == INTERVAL || (kind == MARGIN && !has_margin(m->c)) ||
        is_bounded(m->c))
        return;
    if (kind == MARGIN && m->free && m->outputs == 1)
        middle(m, &l.at);
    for (int k = 0; k < m->outputs && m->free && kind != MARGIN; k++) {
        memset(&l.step, 0, sizeof l.step);
        l.step.b[k] = 1;
        search(&l, (quad)1e-3 * (1 + q_abs(l.at.b[k])));
    }
    if (kind != MARGIN) {
        l.step = l.at;
        memset(l.step.b, 0, sizeof l.step.b);
        search(&l, (quad)1e-3);
    }
    for (int k = 0; other && k < m->outputs; k++) {
        l.step.b[k] = other->b[k] - l.at.b[k];
        for (int j = 0; j < width(m); j++)
            l.step.w[k][j] = other->w[k][j] - l.at.w[k][j];
    }
    if (other)
        search(&l, (quad)0.1);
    if (point_value(m, &l.at) < point_value(m, p))
        *p = l.at;
}
