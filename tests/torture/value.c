/* value.c - losses, penalties, margins of given weights, in __float128. */
#include "torture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- losses ---------------------------------------------------------------------------------- */

static quad softplus(quad t) /* log(1 + e^t) */ { return q_max(0, t) + q_log1p(q_exp(-q_abs(t))); }

quad loss_value(const torture_case *c, quad z, quad target)
{
    const quad g = c->smoothing, t = 1 - z, e = q_abs(z - target);
    switch (c->loss) {
    case HINGE:
        return q_max(0, t);
    case SQUARED_HINGE:
        return t > 0 ? t * t / 2 : 0;
    case SMOOTH_HINGE:
        return t <= 0 ? 0 : t <= g ? t * t / (2 * g) : t - g / 2;
    case SQRT_HINGE: {
        const quad x = t / g, root = q_sqrt(1 + x * x);
        return g * (q_max(0, x) + 1 / (2 * (root + q_abs(x))));
    }
    case LOGISTIC:
        return softplus(-z);
    case EXPONENTIAL:
        return q_exp(-z);
    case SQUARED:
        return e * e / 2;
    case HUBER:
        return e <= g ? e * e / 2 : g * (e - g / 2);
    case ABSOLUTE:
        return e;
    case EPSILON_INSENSITIVE:
        return q_max(0, e - c->epsilon);
    default:
        return 0; /* hard */
    }
}

/* A row of scores and its class. */
static quad joint_loss(const torture_case *c, const quad *z, int own)
{
    quad most = z[0] + (c->loss == CRAMMER_SINGER && own != 0), others = 0;
    int best = 0;
    for (int k = 1; k < c->classes; k++) {
        best = z[k] > z[best] ? k : best;
        most = q_max(most, z[k] + (c->loss == CRAMMER_SINGER && own != k));
    }
    if (c->loss == CRAMMER_SINGER)
        return most - z[own];
    for (int k = 0; k < c->classes; k++)
        others += k == best ? 0 : q_exp(z[k] - most);
    return most - z[own] + q_log1p(others);
}

quad loss_sum(const member *m, quad z[MOST][CLASSES])
{
    const torture_case *c = m->c;
    const bool margin = c->loss <= MARGIN;
    quad sum = 0;
    for (int r = 0; r < m->n; r++)
        if (m->s[r] > 0)
            sum += m->s[r] *
                   (c->form == ALL_AT_ONCE
                        ? joint_loss(c, z[r], m->class_of[r])
                        : loss_value(c, margin ? m->sign[r] * z[r][0] : z[r][0], m->target[r]));
    return sum;
}

/* ---- penalties ------------------------------------------------------------------------------- */

static quad kernel_square(const member *m, const quad *w)
{
    quad sum = 0;
    for (int r = 0; r < m->n; r++)
        for (int t = 0; t < m->n; t++)
            sum += w[r] * m->K[r][t] * w[t];
    return sum;
}

static int descending(const void *a, const void *b)
{
    const quad x = *(const quad *)a, y = *(const quad *)b;
    return x > y ? -1 : x < y;
}

static quad owl_value(const member *m, const quad *w)
{
    quad size[MOST], sum = 0;
    for (int j = 0; j < m->d; j++)
        size[j] = q_abs(w[j]);
    qsort(size, (size_t)m->d, sizeof *size, descending);
    for (int j = 0; j < m->d; j++)
        sum += m->owl[j] * size[j];
    return sum;
}

static quad group_value(const member *m, const quad *w)
{
    quad sum = 0;
    for (int g = 0; g < m->d; g++) {
        quad square = 0;
        for (int j = 0; j < m->d; j++)
            square += m->c->group[j] == g ? w[j] * w[j] : 0;
        sum += m->group_weight[g] * q_sqrt(square);
    }
    return sum;
}

/* One-sided Jacobi: columns turned until they are orthogonal, their lengths then added. */
static quad nuclear_value(const member *m, const quad *w)
{
    const int rows = m->c->shape_rows, cols = m->d / rows;
    quad g[MOST], sum = 0;
    memcpy(g, w, (size_t)m->d * sizeof *g);
    for (int sweep = 0; sweep < 30; sweep++)
        for (int a = 0; a < rows; a++)
            for (int b = a + 1; b < rows; b++) { /* the rows of w, the shorter side */
                quad aa = 0, bb = 0, ab = 0;
                for (int j = 0; j < cols; j++) {
                    aa += g[a * cols + j] * g[a * cols + j];
                    bb += g[b * cols + j] * g[b * cols + j];
                    ab += g[a * cols + j] * g[b * cols + j];
                }
                if (ab * ab <= (quad)1e-60 * aa * bb)
                    continue;
                const quad zeta = (bb - aa) / (2 * ab);
                const quad t = (zeta < 0 ? -1 : 1) / (q_abs(zeta) + q_sqrt(1 + zeta * zeta));
                const quad c = 1 / q_sqrt(1 + t * t), s = c * t;
                for (int j = 0; j < cols; j++) {
                    const quad x = g[a * cols + j], y = g[b * cols + j];
                    g[a * cols + j] = c * x - s * y;
                    g[b * cols + j] = s * x + c * y;
                }
            }
    for (int a = 0; a < rows; a++) {
        quad square = 0;
        for (int j = 0; j < cols; j++)
            square += g[a * cols + j] * g[a * cols + j];
        sum += q_sqrt(square);
    }
    return sum;
}

/* Forward differences, 0 beyond the last row and column. */
static quad image_value(const member *m, const quad *w)
{
    const int rows = m->c->shape_rows, cols = m->d / rows;
    quad sum = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            const quad *at = w + i * cols + j;
            const quad right = j + 1 < cols ? at[1] - at[0] : 0,
                       down = i + 1 < rows ? at[cols] - at[0] : 0;
            sum += q_sqrt(right * right + down * down);
        }
    return sum;
}

/* Strengths of hard losses are 1, but for the elastic net's. */
static void strengths(const torture_case *c, quad *lambda, quad *mu)
{
    const bool hard = c->loss == MARGIN || c->loss == EQUAL || c->loss == INTERVAL;
    *lambda = hard && c->penalty != ENET ? 1 : c->lambda;
    *mu = hard && c->penalty != ENET ? 1 : c->mu;
}

/* Of one output. */
static quad one_value(const member *m, const quad *w)
{
    const torture_case *c = m->c;
    quad lambda, mu, ones = 0, squares = 0, powers = 0, most = 0, steps = 0, logs = 0;
    strengths(c, &lambda, &mu);
    if (c->kernel != LINEAR)
        return lambda / 2 * kernel_square(m, w);
    for (int j = 0; j < m->d; j++) {
        const quad a = q_abs(w[j]);
        ones += a;
        squares += a * a;
        powers += c->penalty == LP ? q_pow(a, c->p) : 0;
        most = q_max(most, a);
        steps += j > 0 ? q_abs(w[j] - w[j - 1]) : 0;
        logs += c->penalty == ENTROPY && w[j] > 0 ? w[j] * q_log(m->d * w[j]) : 0;
    }
    switch (c->penalty) {
    case L2:
        return lambda / 2 * squares;
    case L1:
    case L1_NONNEG:
        return mu * ones;
    case ENET:
        return lambda / 2 * squares + mu * ones;
    case LP:
        return lambda / c->p * powers;
    case LINF:
        return mu * most;
    case GROUP:
        return mu * group_value(m, w);
    case OWL:
        return mu * owl_value(m, w);
    case TV1D:
        return mu * steps;
    case NUCLEAR:
        return mu * nuclear_value(m, w);
    case TV2D:
        return mu * image_value(m, w);
    case ENTROPY:
        return lambda * logs;
    default:
        return 0;
    }
}

quad penalty_value(const member *m, const point *p)
{
    quad sum = 0;
    for (int k = 0; k < m->outputs; k++)
        sum += one_value(m, p->w[k]);
    return sum;
}

quad member_objective(const member *m, const point *p)
{
    static quad z[MOST][CLASSES];
    member_scores(m, p, z);
    return penalty_value(m, p) + loss_sum(m, z);
}

/* ---- margins and constraints ----------------------------------------------------------------- */

quad member_norm(const member *m, const point *p)
{
    const torture_case *c = m->c;
    quad sum = 0;
    for (int k = 0; k < m->outputs; k++) {
        if (c->kernel != LINEAR)
            sum += kernel_square(m, p->w[k]);
        for (int j = 0; j < m->d && c->kernel == LINEAR; j++) {
            const quad a = q_abs(p->w[k][j]);
            if (c->penalty == LINF)
                sum = q_max(sum, a);
            else
                sum += c->penalty == L1 ? a : c->penalty == LP ? q_pow(a, c->p) : a * a;
        }
    }
    return c->penalty == L1 || c->penalty == LINF ? sum
           : c->penalty == LP                     ? q_pow(sum, 1 / (quad)c->p)
                                                  : q_sqrt(sum);
}

quad member_margin(const member *m, const point *p)
{
    static quad z[MOST][CLASSES];
    quad least = INFINITY;
    const quad norm = member_norm(m, p);
    member_scores(m, p, z);
    for (int r = 0; r < m->n; r++) {
        if (!(m->s[r] > 0))
            continue;
        if (m->outputs == 1)
            least = q_min(least, m->sign[r] * z[r][0]);
        for (int k = 0; k < m->outputs && m->outputs > 1; k++)
            if (k != m->class_of[r])
                least = q_min(least, z[r][m->class_of[r]] - z[r][k]);
    }
    return norm > 0 ? least / norm : 0;
}

quad member_violation(const member *m, const point *p)
{
    static quad z[MOST][CLASSES];
    quad most = 0;
    member_scores(m, p, z);
    for (int r = 0; r < m->n; r++) {
        quad off = q_abs(z[r][0] - m->target[r]);
        if (m->c->loss == MARGIN)
            off = q_max(0, 1 - m->sign[r] * z[r][0]);
        if (m->c->loss == INTERVAL)
            off = q_max(0, off - m->c->epsilon);
        const quad unit = m->c->loss == INTERVAL ? q_abs(z[r][0]) : q_abs(m->target[r]);
        if (m->s[r] > 0)
            most = q_max(most, off / (1 + unit));
    }
    return most;
}

quad member_outside(const member *m, const point *p)
{
    const penalty kind = m->c->penalty;
    quad most = 0, sum = 0;
    for (int j = 0; j < m->d; j++) {
        const quad w = p->w[0][j];
        sum += w;
        if (kind == NONNEG || kind == L1_NONNEG || kind == ENTROPY)
            most = q_max(most, -w);
        if (kind == BOX)
            most = q_max(most, q_max(m->c->low - w, w - m->c->high));
    }
    return kind == ENTROPY ? q_max(most, q_abs(sum - 1)) : most;
}
