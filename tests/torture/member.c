/* member.c - one problem in __float128: its matrix, its rows, its scores. */
#include "torture.h"

#include <math.h>

/* ---- arithmetic ------------------------------------------------------------------------------ */

quad q_abs(quad x) { return x < 0 ? -x : x; }
quad q_max(quad a, quad b) { return a > b ? a : b; }
quad q_min(quad a, quad b) { return a < b ? a : b; }

/* Two Newton steps from 64 bits. */
quad q_sqrt(quad x)
{
    if (!(x > 0))
        return 0;
    quad r = sqrtl((long double)x);
    if (!(r > 0) || isinf((double)r))
        return r;
    r = (r + x / r) / 2;
    return (r + x / r) / 2;
}

/* exp and log to 64 bits: the argument's tail is not lost. */
quad q_exp(quad x)
{
    const long double head = (long double)x;
    return (quad)expl(head) * (1 + (x - head));
}

quad q_log(quad x)
{
    const long double head = (long double)x;
    return x > 0 ? (quad)logl(head) + (x - head) / head : -INFINITY;
}

quad q_log1p(quad x) { return (quad)log1pl((long double)x); }

quad q_pow(quad x, quad p) { return x > 0 ? q_exp(p * q_log(x)) : 0; }

/* ---- the matrix ------------------------------------------------------------------------------ */

static quad entry(const torture_case *c, int i, int j) { return c->x[i * c->d + j]; }

/* Weights of the statistics: all rows of the data, also where a member has some of them. */
static void row_weights(const torture_case *c, quad *s)
{
    const bool hard = c->loss == MARGIN || c->loss == EQUAL || c->loss == INTERVAL;
    quad total = 0;
    for (int i = 0; i < c->n; i++) {
        s[i] = hard ? c->weight[i] > 0 : c->weight[i];
        total += s[i];
    }
    for (int i = 0; i < c->n && total > 0; i++)
        s[i] /= total;
}

static int first_row(const torture_case *c, const quad *s)
{
    int i = 0;
    while (i < c->n - 1 && s[i] == 0)
        i++;
    return i;
}

static void column_numbers(const torture_case *c, member *m)
{
    quad s[MOST];
    row_weights(c, s);
    for (int j = 0; j < c->d; j++) {
        quad mean = 0, var = 0, most = 0;
        for (int i = 0; i < c->n; i++) {
            mean += s[i] * entry(c, i, j);
            most = s[i] > 0 ? q_max(most, q_abs(entry(c, i, j))) : most;
        }
        for (int i = 0; i < c->n; i++)
            var += s[i] * (entry(c, i, j) - mean) * (entry(c, i, j) - mean);
        /* A column that is constant has the variance of the rounding of its mean. */
        const int first = first_row(c, s);
        bool constant = true;
        for (int i = first; i < c->n; i++)
            constant = constant && (s[i] == 0 || entry(c, i, j) == entry(c, first, j));
        m->centre[j] = c->scaling == SCALE_STD || c->intercept ? mean : 0;
        m->factor[j] = c->scaling == SCALE_STD && !constant     ? q_sqrt(var)
                       : c->scaling == SCALE_MAXABS && most > 0 ? most
                                                                : 1;
        if (!(m->factor[j] > 0))
            m->factor[j] = 1;
        if (c->scaling == SCALE_ROWNORM || (c->kernel != LINEAR && c->scaling != SCALE_STD))
            m->centre[j] = 0;
    }
}

static void fill_matrix(const torture_case *c, member *m)
{
    for (int r = 0; r < m->n; r++) {
        quad square = 0;
        for (int j = 0; j < c->d; j++)
            square += entry(c, m->row[r], j) * entry(c, m->row[r], j);
        const quad norm = c->scaling == SCALE_ROWNORM && square > 0 ? q_sqrt(square) : 1;
        for (int j = 0; j < c->d; j++)
            m->q[r][j] = (entry(c, m->row[r], j) - m->centre[j]) / m->factor[j] / norm;
    }
}

static quad kernel_value(const member *m, const quad *x, const quad *z)
{
    const torture_case *c = m->c;
    quad distance = 0, product = 0, value = 1;
    for (int j = 0; j < m->d; j++) {
        distance += (x[j] - z[j]) * (x[j] - z[j]);
        product += x[j] * z[j];
    }
    if (c->kernel == RBF)
        return q_exp(-distance / (2 * (quad)c->sigma2));
    if (c->kernel == LAPLACE)
        return q_exp(-q_sqrt(distance / c->sigma2));
    for (int k = 0; k < c->degree; k++)
        value *= product / c->sigma2 + c->kernel_offset;
    return value;
}

/* k(x_r, x_t) seen from o: less k(x, o) and k(o, z), and k(o, o) again. With x = o + x', z = o +
 * z', p = o.x', q = o.z', s = x'.z' and f = o.o + offset that is the sum over i, j, l of
 * degree!/(i! j! l! (degree - i - j - l)!) p^i q^j s^l f^(degree - i - j - l) with l > 0 or i, j >
 * 0: by the multinomial theorem, so that nothing cancels. */
static quad from_origin(const member *m, bool shifted, const quad *o, int r, int t)
{
    const torture_case *c = m->c;
    quad p = 0, q = 0, s = 0, f = 0, sum = 0, along_p = 1;
    if (!shifted)
        return kernel_value(m, m->q[r], m->q[t]);
    for (int j = 0; j < m->d; j++) {
        const quad x = m->q[r][j] - o[j], z = m->q[t][j] - o[j];
        p += o[j] * x / c->sigma2;
        q += o[j] * z / c->sigma2;
        s += x * z / c->sigma2;
        f += o[j] * o[j] / c->sigma2;
    }
    f += c->kernel_offset;
    for (int i = 0; i <= c->degree; along_p *= p * (c->degree - i) / (i + 1), i++) {
        quad along_q = along_p;
        const int left = c->degree - i;
        for (int j = 0; j <= left; along_q *= q * (left - j) / (j + 1), j++) {
            quad term = along_q;
            for (int l = 0; l <= left - j; term *= s * (left - j - l) / (l + 1), l++) {
                quad power = term;
                for (int e = i + j + l; e < c->degree; e++)
                    power *= f;
                sum += l > 0 || (i > 0 && j > 0) ? power : 0;
            }
        }
    }
    return sum;
}

/* Beside an intercept the problem is the same, and so are its multipliers. */
void member_shift(member *m, const answer *a)
{
    quad o[MOST];
    for (int j = 0; j < m->d; j++)
        o[j] = a->origin[j] / m->factor[j];
    for (int r = 0; r < m->n && a->shifted; r++)
        for (int t = 0; t <= r; t++)
            m->K[r][t] = m->K[t][r] = from_origin(m, true, o, r, t);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Which rows, and on which side: member `index` of ovr is a class against the rest, of ovo a pair
 * (a, b), a before b, whose score is positive for b. */
static void choose_rows(const torture_case *c, int index, member *m)
{
    int a = 0, b = 1;
    for (int k = 0; c->form == OVO && k < index; k++)
        if (++b == c->classes)
            b = ++a + 1;
    for (int i = 0; i < c->n; i++) {
        const int own = (int)c->y[i];
        if (c->form == OVO && own != a && own != b)
            continue;
        const int r = m->n++;
        const bool positive = c->form == OVO ? own == b : c->form == OVR ? own == index : own == 1;
        m->row[r] = i;
        m->class_of[r] = own;
        m->sign[r] = positive ? 1 : -1;
        m->target[r] = c->form == QUANTITY ? (quad)c->y[i] : m->sign[r];
        m->s[r] = c->weight[i];
    }
}

void member_make(const torture_case *c, int index, member *m)
{
    const bool hard = c->loss == MARGIN || c->loss == EQUAL || c->loss == INTERVAL;
    quad total = 0;
    m->c = c;
    m->n = 0;
    m->d = c->d;
    m->outputs = c->form == ALL_AT_ONCE || c->form == JOINT ? c->classes : 1;
    m->free = c->intercept;
    choose_rows(c, index, m);
    for (int r = 0; r < m->n; r++)
        total += m->s[r];
    for (int r = 0; r < m->n; r++)
        m->s[r] = hard ? m->s[r] > 0 : m->s[r] / total;
    column_numbers(c, m);
    fill_matrix(c, m);
    for (int r = 0; r < m->n && c->kernel != LINEAR; r++)
        for (int t = 0; t <= r; t++)
            m->K[r][t] = m->K[t][r] = c->kernel == PRECOMPUTED ? entry(c, m->row[r], m->row[t])
                                                               : kernel_value(m, m->q[r], m->q[t]);
    for (int j = 0; j < c->d; j++) {
        int count = 0;
        for (int t = 0; t < c->d; t++)
            count += c->group[t] == j;
        m->group_weight[j] = sqrt(count);
        m->owl[j] = c->d > 1 ? 1 + (0.25 - 1) * j / (c->d - 1) : 1;
    }
}

/* ---- weights --------------------------------------------------------------------------------- */

void point_from_user(const member *m, const double *coef, const double *intercept, point *p)
{
    for (int k = 0; k < m->outputs; k++) {
        p->b[k] = intercept[k];
        for (int j = 0; j < m->d; j++) {
            p->w[k][j] = coef[k * m->d + j] * m->factor[j];
            p->b[k] += coef[k * m->d + j] * m->centre[j];
        }
    }
}

void point_from_own(const member *m, const double *coef, const double *intercept, point *p)
{
    for (int k = 0; k < m->outputs; k++) {
        p->b[k] = m->free ? intercept[k] : 0;
        for (int j = 0; j < m->d; j++)
            p->w[k][j] = coef[k * m->d + j];
    }
}

bool point_from_rows(const member *m, double coef[][MOST], const double *intercept, bool of_data,
                     point *p)
{
    for (int k = 0; k < m->outputs; k++) {
        int used = 0, there = 0;
        for (int i = 0; i < (of_data ? m->c->n : m->n); i++)
            there += coef[k][i] != 0;
        p->b[k] = intercept[k];
        for (int r = 0; r < m->n; r++) {
            p->w[k][r] = coef[k][of_data ? m->row[r] : r];
            used += p->w[k][r] != 0;
        }
        if (used != there)
            return false;
    }
    return true;
}

void point_rebase(const member *m, const answer *from, point *p)
{
    quad o[MOST];
    for (int j = 0; j < m->d; j++)
        o[j] = from->origin[j];
    for (int k = 0; k < m->outputs && m->c->kernel == POLY; k++)
        for (int i = 0; i < m->n; i++)
            p->b[k] += p->w[k][i] * (from_origin(m, from->shifted, o, i, 0) - m->K[i][0]);
}

void member_scores(const member *m, const point *p, quad z[MOST][CLASSES])
{
    const bool linear = m->c->kernel == LINEAR;
    for (int r = 0; r < m->n; r++)
        for (int k = 0; k < m->outputs; k++) {
            quad sum = p->b[k];
            for (int j = 0; j < (linear ? m->d : m->n); j++)
                sum += (linear ? m->q[r][j] : m->K[r][j]) * p->w[k][j];
            z[r][k] = sum;
        }
}
