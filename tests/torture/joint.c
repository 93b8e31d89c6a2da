/* joint.c - what dual variables of all classes at once prove, in __float128. u has a number for
 * every row and class: s (p - e_c) with p in the simplex for losses, -q of the pairs for margins.
 */
#include "torture.h"

#include <math.h>
#include <string.h>

/* Moves probability within rows until every class's column of u sums to 0; false: it cannot. */
static bool balance(const member *m, quad u[MOST][CLASSES])
{
    const int k = m->outputs;
    quad sum[CLASSES] = {0};
    for (int r = 0; r < m->n; r++)
        for (int c = 0; c < k; c++)
            sum[c] += u[r][c];
    for (int a = 0; a < k; a++)
        for (int b = 0; b < k && sum[a] > 0; b++)
            for (int r = 0; r < m->n && sum[a] > 0 && sum[b] < 0; r++) {
                const quad there = u[r][a] + (m->class_of[r] == a ? m->s[r] : 0);
                const quad move = q_min(there, q_min(sum[a], -sum[b]));
                if (!(move > 0))
                    continue;
                u[r][a] -= move;
                u[r][b] += move;
                sum[a] -= move;
                sum[b] += move;
            }
    for (int a = 0; a < k; a++)
        if (q_abs(sum[a]) > (quad)1e-30)
            return false;
    return true;
}

static void into_simplex(const member *m, const double *given, quad u[MOST][CLASSES])
{
    const int k = m->outputs;
    for (int r = 0; r < m->n; r++) {
        quad total = 0;
        for (int c = 0; c < k; c++) {
            u[r][c] = m->s[r] > 0 ? given[r * k + c] / m->s[r] + (c == m->class_of[r]) : 0;
            u[r][c] = q_max(0, u[r][c]);
            total += u[r][c];
        }
        for (int c = 0; c < k; c++)
            u[r][c] = m->s[r] *
                      ((total > 0 ? u[r][c] / total : c == m->class_of[r]) - (c == m->class_of[r]));
    }
}

/* -A'u of every class; for kernels the square of its length is v[0][0]. */
static void products(const member *m, quad a[MOST][CLASSES], quad v[CLASSES][MOST])
{
    memset(v, 0, sizeof(quad[CLASSES][MOST]));
    for (int c = 0; c < m->outputs; c++)
        for (int r = 0; r < m->n; r++) {
            for (int j = 0; j < m->d && m->c->kernel == LINEAR; j++)
                v[c][j] -= a[r][c] * m->q[r][j];
            for (int t = 0; t < m->n && m->c->kernel != LINEAR; t++)
                v[0][0] += a[r][c] * m->K[r][t] * a[t][c];
        }
}

static quad conjugates(const member *m, quad u[MOST][CLASSES], quad scale, quad *size)
{
    quad sum = 0;
    for (int r = 0; r < m->n; r++)
        for (int c = 0; c < m->outputs && m->s[r] > 0; c++) {
            const bool own = c == m->class_of[r];
            const quad part = scale * u[r][c] / m->s[r], p = part + own;
            const quad log_p = own ? q_log1p(part) : q_log(p); /* near 1 to its digits */
            const quad term = m->c->loss == SOFTMAX ? m->s[r] * (p > 0 ? p * log_p : 0)
                              : own                 ? m->s[r] * (p - 1)
                                                    : 0;
            sum += term;
            *size += q_abs(term);
        }
    return sum;
}

static bool loss_bound(const member *m, const double *given, quad *out, quad *size)
{
    static quad u[MOST][CLASSES], v[CLASSES][MOST];
    quad scale = 1, charge = 0;
    into_simplex(m, given, u);
    if (m->free && !balance(m, u))
        return false;
    products(m, u, v);
    for (int c = 0; c < m->outputs && m->c->kernel == LINEAR; c++)
        scale = q_min(scale, domain_scale(m, v[c], m->c->mu));
    for (int c = 0; c < m->outputs && m->c->kernel == LINEAR; c++) {
        quad one;
        for (int j = 0; j < m->d; j++)
            v[c][j] *= scale;
        if (!penalty_conjugate(m, v[c], m->c->lambda, m->c->mu, &one))
            return false;
        charge += one;
    }
    if (m->c->kernel != LINEAR)
        charge = v[0][0] / (2 * (quad)m->c->lambda);
    *size = q_abs(charge);
    *out = -charge - conjugates(m, u, scale, size);
    return true;
}

/* Of pairs, without intercepts: |E'q| / sum q. */
static bool margin_bound(const member *m, const double *given, quad *out)
{
    static quad a[MOST][CLASSES], v[CLASSES][MOST];
    const quad power = m->c->p / ((quad)m->c->p - 1);
    quad weight = 0, sum = 0;
    if (m->free)
        return false;
    memset(a, 0, sizeof a);
    for (int r = 0; r < m->n; r++)
        for (int c = 0; c < m->outputs; c++) {
            const quad q = c == m->class_of[r] || !(m->s[r] > 0)
                               ? 0
                               : q_max(0, -(quad)given[r * m->outputs + c]);
            a[r][c] -= q;
            a[r][m->class_of[r]] += q;
            weight += q;
        }
    products(m, a, v);
    for (int c = 0; c < m->outputs && m->c->kernel == LINEAR; c++)
        for (int j = 0; j < m->d; j++)
            sum += m->c->penalty == LP ? q_pow(q_abs(v[c][j]), power) : v[c][j] * v[c][j];
    if (m->c->kernel != LINEAR)
        sum = v[0][0];
    *out = !(weight > 0) ? INFINITY
                         : (m->c->penalty == LP ? q_pow(sum, 1 / power) : q_sqrt(sum)) / weight;
    return true;
}

bool joint_dual(const member *m, const double *u, quad *out, quad *size)
{
    return m->c->form == JOINT ? margin_bound(m, u, out) : loss_bound(m, u, out, size);
}

bool point_from_joint(const member *m, const double *given, point *p)
{
    static quad u[MOST][CLASSES], v[CLASSES][MOST];
    if (m->c->form != ALL_AT_ONCE || m->c->penalty != L2)
        return false;
    into_simplex(m, given, u);
    products(m, u, v);
    for (int c = 0; c < m->outputs; c++) {
        p->b[c] = 0;
        for (int j = 0; j < m->d && m->c->kernel == LINEAR; j++)
            p->w[c][j] = v[c][j] / m->c->lambda;
        for (int r = 0; r < m->n && m->c->kernel != LINEAR; r++)
            p->w[c][r] = -u[r][c] / m->c->lambda;
    }
    return true;
}
