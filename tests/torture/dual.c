/* dual.c - what dual variables prove, in __float128:
 *   D(u) = -R*(-A'u) - sum_i (s_i G_i)*(u_i)   <=   P(w) for every w,
 * for a u that is first made feasible: clipped, balanced beside an intercept, and drawn into the
 * domain of R*. For margins |A'q|_q / sum q, which no margin exceeds. */
#include "torture.h"

#include <math.h>
#include <stdlib.h>

/* ---- conjugates of losses -------------------------------------------------------------------- */

static quad entropy_term(quad h) { return h > 0 ? h * q_log(h) : 0; }

/* (1 - h) log(1 - h), of which 1 - h would leave no digits where h is small. */
static quad other_entropy_term(quad h)
{
    const quad SMALL = 1e-9;
    return h < SMALL ? -(1 - h) * h * (1 + h * (0.5 + h * ((quad)1 / 3 + h / 4)))
                     : entropy_term(1 - h);
}

static quad clip(const torture_case *c, quad u, quad s)
{
    switch (c->loss) {
    case HINGE:
    case SMOOTH_HINGE:
    case SQRT_HINGE:
    case LOGISTIC:
        return q_min(0, q_max(-s, u));
    case SQUARED_HINGE:
    case EXPONENTIAL:
    case MARGIN:
        return s > 0 ? q_min(0, u) : 0;
    case ABSOLUTE:
    case EPSILON_INSENSITIVE:
        return q_min(s, q_max(-s, u));
    case HUBER:
        return q_min(s * c->smoothing, q_max(-s * c->smoothing, u));
    default:
        return s > 0 ? u : 0;
    }
}

static quad conjugate(const torture_case *c, quad u, quad s, quad target)
{
    const quad g = c->smoothing, e = c->epsilon;
    if (u == 0)
        return 0;
    switch (c->loss) {
    case SQUARED_HINGE:
        return u + u * u / (2 * s);
    case SMOOTH_HINGE:
        return u + g * u * u / (2 * s);
    case SQRT_HINGE:
        return u - g * q_sqrt(-u * (s + u));
    case LOGISTIC:
        return s * (entropy_term(-u / s) + other_entropy_term(-u / s));
    case EXPONENTIAL:
        return -u * (q_log(-u / s) - 1);
    case SQUARED:
    case HUBER:
        return target * u + u * u / (2 * s);
    case EQUAL:
    case ABSOLUTE:
        return target * u;
    case INTERVAL:
    case EPSILON_INSENSITIVE:
        return q_max((target - e) * u, (target + e) * u);
    default:
        return u; /* hinge, margin */
    }
}

/* ---- feasible u ------------------------------------------------------------------------------ */

/* The heavier side of the constant column is scaled down: domains are convex and contain 0. */
static void balance(const member *m, quad *u)
{
    const bool margin = m->c->loss <= MARGIN;
    quad up = 0, down = 0;
    for (int r = 0; r < m->n; r++) {
        const quad a = margin ? m->sign[r] * u[r] : u[r];
        up += q_max(0, a);
        down += q_max(0, -a);
    }
    const quad least = q_min(up, down);
    for (int r = 0; r < m->n; r++) {
        const quad a = margin ? m->sign[r] * u[r] : u[r];
        const quad side = a > 0 ? up : down;
        u[r] *= side > 0 ? least / side : 0;
    }
}

static int descending(const void *a, const void *b)
{
    const quad x = *(const quad *)a, y = *(const quad *)b;
    return x > y ? -1 : x < y;
}

quad domain_scale(const member *m, const quad *v, quad mu)
{
    const torture_case *c = m->c;
    quad t = 1, sum = 0, bound = 0, size[MOST];
    for (int j = 0; j < m->d; j++)
        size[j] = q_abs(v[j]);
    if (c->penalty == OWL)
        qsort(size, (size_t)m->d, sizeof *size, descending);
    for (int j = 0; j < m->d; j++) {
        sum += size[j];
        bound += mu * m->owl[j];
        if (c->penalty == L1 && size[j] > mu)
            t = q_min(t, mu / size[j]);
        if (c->penalty == L1_NONNEG && v[j] > mu)
            t = q_min(t, mu / v[j]);
        if (c->penalty == OWL && sum > bound)
            t = q_min(t, bound / sum);
        if (c->penalty == GROUP && c->group[j] < 0 && v[j] != 0)
            return -1;
    }
    if (c->penalty == LINF && sum > mu)
        t = mu / sum;
    for (int g = 0; g < m->d && c->penalty == GROUP; g++) {
        quad square = 0;
        for (int j = 0; j < m->d; j++)
            square += c->group[j] == g ? v[j] * v[j] : 0;
        if (q_sqrt(square) > mu * m->group_weight[g])
            t = q_min(t, mu * m->group_weight[g] / q_sqrt(square));
    }
    return t;
}

bool penalty_conjugate(const member *m, const quad *v, quad lambda, quad mu, quad *out)
{
    const torture_case *c = m->c;
    const quad q = c->p / ((quad)c->p - 1);
    quad sum = 0, most = -INFINITY;
    for (int j = 0; j < m->d; j++) {
        const quad over = q_max(0, q_abs(v[j]) - mu);
        most = q_max(most, v[j] / lambda);
        if (c->penalty == L2)
            sum += v[j] * v[j] / (2 * lambda);
        else if (c->penalty == ENET)
            sum += over * over / (2 * lambda);
        else if (c->penalty == LP)
            sum += lambda / q * q_pow(q_abs(v[j]) / lambda, q);
        else if (c->penalty == BOX)
            sum += q_max(c->low * v[j], c->high * v[j]);
    }
    if (c->penalty == ENTROPY) {
        for (int j = 0; j < m->d; j++)
            sum += q_exp(v[j] / lambda - most);
        sum = lambda * (most + q_log(sum / m->d));
    }
    *out = sum;
    return c->penalty != NONNEG && c->penalty < TV1D;
}

/* ---- the bound ------------------------------------------------------------------------------- */

/* -A'u of the columns; for kernels the square of its length is v[0]. */
static void products(const member *m, const quad *u, quad *v)
{
    const bool margin = m->c->loss <= MARGIN, linear = m->c->kernel == LINEAR;
    quad a[MOST];
    for (int r = 0; r < m->n; r++)
        a[r] = margin ? m->sign[r] * u[r] : u[r];
    for (int j = 0; j < m->d; j++)
        v[j] = 0;
    for (int r = 0; r < m->n && linear; r++)
        for (int j = 0; j < m->d; j++)
            v[j] -= a[r] * m->q[r][j];
    for (int r = 0; r < m->n && !linear; r++)
        for (int t = 0; t < m->n; t++)
            v[0] += a[r] * m->K[r][t] * a[t];
}

static bool margin_bound(const member *m, const quad *u, const quad *v, quad *out)
{
    const torture_case *c = m->c;
    const quad q = c->p / ((quad)c->p - 1);
    quad weight = 0, sum = 0;
    for (int r = 0; r < m->n; r++)
        weight -= u[r];
    for (int j = 0; j < m->d && c->kernel == LINEAR; j++) {
        const quad a = q_abs(v[j]);
        if (c->penalty == L1)
            sum = q_max(sum, a);
        else
            sum += c->penalty == LINF ? a : c->penalty == LP ? q_pow(a, q) : a * a;
    }
    if (c->kernel != LINEAR)
        sum = v[0];
    if (c->penalty == LP)
        sum = q_pow(sum, 1 / q);
    else if (c->penalty == L2)
        sum = q_sqrt(sum);
    *out = weight > 0 ? sum / weight : INFINITY;
    return c->penalty == L2 || c->penalty == L1 || c->penalty == LINF || c->penalty == LP;
}

static void feasible(const member *m, const double *given, quad *u, quad *v)
{
    for (int r = 0; r < m->n; r++)
        u[r] = clip(m->c, given[m->row[r]], m->s[r]);
    if (m->free)
        balance(m, u);
    products(m, u, v);
}

bool member_dual(const member *m, const double *given, quad *out, quad *size)
{
    const torture_case *c = m->c;
    const bool hard = c->loss == MARGIN || c->loss == EQUAL || c->loss == INTERVAL;
    const quad lambda = hard && c->penalty != ENET ? 1 : c->lambda,
               mu = hard && c->penalty != ENET ? 1 : c->mu;
    quad u[MOST], v[MOST], charge = 0, sum = 0;
    if (m->outputs > 1)
        return joint_dual(m, given, out, size);
    feasible(m, given, u, v);
    if (c->loss == MARGIN && (c->kernel != LINEAR || c->penalty <= LINF) && c->penalty != ENET)
        return margin_bound(m, u, v, out);
    if (c->kernel != LINEAR) {
        charge = v[0] / (2 * lambda);
    } else {
        const quad t = domain_scale(m, v, mu);
        if (t < 0)
            return false;
        for (int r = 0; r < m->n; r++)
            u[r] *= t;
        for (int j = 0; j < m->d; j++)
            v[j] *= t;
        if (!penalty_conjugate(m, v, lambda, mu, &charge))
            return false;
    }
    *size = q_abs(charge);
    for (int r = 0; r < m->n; r++) {
        const quad term = conjugate(c, u[r], m->s[r], m->target[r]);
        sum += term;
        *size += q_abs(term);
    }
    *out = -charge - sum;
    return true;
}

bool point_from_dual(const member *m, const double *given, point *p)
{
    const torture_case *c = m->c;
    const bool hard = c->loss == MARGIN || c->loss == EQUAL || c->loss == INTERVAL;
    const quad lambda = hard ? 1 : c->lambda;
    quad u[MOST], v[MOST];
    if (m->outputs > 1)
        return point_from_joint(m, given, p);
    if (c->penalty != L2)
        return false;
    feasible(m, given, u, v);
    p->b[0] = 0;
    for (int j = 0; j < m->d && c->kernel == LINEAR; j++)
        p->w[0][j] = v[j] / lambda;
    for (int r = 0; r < m->n && c->kernel != LINEAR; r++)
        p->w[0][r] = -(c->loss <= MARGIN ? m->sign[r] : 1) * u[r] / lambda;
    return true;
}
