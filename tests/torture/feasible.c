/* feasible.c - weights that meet hard constraints: margins by their length, equalities and
 * intervals by the shortest correction, in __float128. */
#include "torture.h"

#include <math.h>
#include <string.h>

/* Gaussian elimination with the largest diagonal entry as pivot; what is left below 1e-26 of the
 * largest counts as dependent, its unknowns are 0. */
static void solve(int n, quad G[MOST][MOST], quad *x)
{
    bool used[MOST] = {false};
    int order[MOST], rank = 0;
    quad largest = 0;
    for (int i = 0; i < n; i++)
        largest = q_max(largest, G[i][i]);
    for (; rank < n; rank++) {
        int best = -1;
        for (int i = 0; i < n; i++)
            if (!used[i] && (best < 0 || G[i][i] > G[best][best]))
                best = i;
        if (!(G[best][best] > (quad)1e-26 * largest))
            break;
        used[best] = true;
        order[rank] = best;
        for (int i = 0; i < n; i++) {
            const quad share = used[i] ? 0 : G[i][best] / G[best][best];
            for (int j = 0; j < n && share != 0; j++)
                G[i][j] -= share * G[best][j];
            x[i] -= share * x[best];
        }
    }
    for (int i = 0; i < n; i++)
        if (!used[i])
            x[i] = 0;
    for (int k = rank - 1; k >= 0; k--) {
        const int i = order[k];
        for (int l = k + 1; l < rank; l++)
            x[i] -= G[i][order[l]] * x[order[l]];
        x[i] /= G[i][i];
    }
}

/* What a row's score lacks; `active`: it has to hold with equality. */
static quad lack(const member *m, int r, quad z, bool *active)
{
    const torture_case *c = m->c;
    const quad y = m->target[r], e = c->epsilon;
    *active = m->s[r] > 0;
    if (c->loss == EQUAL || !*active)
        return *active ? y - z : 0;
    const quad near = (quad)1e-7 * e;
    *active = z > y + e - near || z < y - e + near;
    return z > y ? y + e - z : y - e - z;
}

static quad product(const member *m, int r, int t)
{
    quad sum = 0;
    if (m->c->kernel != LINEAR)
        return m->K[r][t];
    for (int j = 0; j < m->d; j++)
        sum += m->q[r][j] * m->q[t][j];
    return sum;
}

/* One correction; how far the constraints were missed before it, relative to the sizes in them. */
static quad correct(const member *m, point *p)
{
    static quad z[MOST][CLASSES], G[MOST][MOST];
    quad x[MOST], worst = 0, size = 1, trace = 0;
    int row[MOST], n = 0;
    member_scores(m, p, z);
    for (int r = 0; r < m->n; r++) {
        bool active;
        const quad off = lack(m, r, z[r][0], &active);
        size = q_max(size, q_abs(m->target[r]));
        if (!active)
            continue;
        row[n] = r;
        x[n++] = off;
        worst =
            q_max(worst,
                  m->c->loss == INTERVAL && (off > 0) == (z[r][0] > m->target[r]) ? 0 : q_abs(off));
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k <= i; k++)
            G[i][k] = G[k][i] = product(m, row[i], row[k]);
    for (int i = 0; i < n; i++)
        trace += G[i][i];
    const quad share = m->free && n > 0 ? (trace > 0 ? trace / n : 1) : 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            G[i][k] += share;
    solve(n, G, x);
    for (int i = 0; i < n; i++) {
        p->b[0] += share * x[i];
        if (m->c->kernel != LINEAR)
            p->w[0][row[i]] += x[i];
        for (int j = 0; j < m->d && m->c->kernel == LINEAR; j++)
            p->w[0][j] += x[i] * m->q[row[i]][j];
    }
    return worst / size;
}

/* Half way between the classes, then as long as the nearest row needs. */
static bool stretch(const member *m, point *p)
{
    static quad z[MOST][CLASSES];
    quad up = INFINITY, down = INFINITY;
    member_scores(m, p, z);
    for (int r = 0; r < m->n; r++)
        if (m->s[r] > 0) {
            up = m->sign[r] > 0 ? q_min(up, z[r][0]) : up;
            down = m->sign[r] < 0 ? q_min(down, -z[r][0]) : down;
        }
    const bool both = !isinf((double)up) && !isinf((double)down);
    if (m->free && both)
        p->b[0] += (down - up) / 2;
    const quad least = m->free && both ? (up + down) / 2 : q_min(up, down);
    if (is_bounded(m->c))
        return least >= 1;
    for (int j = 0; j < m->d && least > 0; j++)
        p->w[0][j] /= least;
    p->b[0] /= least > 0 ? least : 1;
    return least > 0;
}

bool point_satisfy(const member *m, point *p)
{
    const torture_case *c = m->c;
    point_repair(m, p);
    if (c->loss == MARGIN)
        return m->outputs == 1 && stretch(m, p);
    if (c->loss != EQUAL && c->loss != INTERVAL)
        return true;
    for (int round = 0; round < 3 && !is_bounded(c); round++)
        if (correct(m, p) == 0)
            break;
    static point copy;
    copy = *p;
    return correct(m, &copy) < (quad)1e-24;
}
