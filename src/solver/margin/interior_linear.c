/* interior_linear.c - the linear programs (13): p = 1 and p = infinity. With v = Z'b the columns
 * have
 *   p = 1:         z_pos = tau - v,  z_neg = tau + v,  1'(pos + neg) = 1,  w = pos - neg
 *   p = infinity:  z_pos - z_neg = v,  pos = 1 - w,  neg = 1 + w                               (16)
 * and everything complements: b_i z_i = pos_j z_pos_j = neg_j z_neg_j = mu. Primal and dual take
 * steps of their own. */
#include "solver/margin/interior.h"

#include <math.h>
#include <string.h>

static const double BOUNDARY = 0.995; /* of the way to it in a step */
static const double NEARLY_NOTHING = 1e-10,
                    NOTHING = 1e-14; /* upper bounds, in sizes of the rows */

mgv_status mgvi_linear_new(mgvi_interior *s)
{
    mgvi_linear_columns *c = &s->linear;
    return MGVI_VECTORS(s->room, s->columns, &c->pos, &c->neg, &c->z_pos, &c->z_neg, &c->d_pos,
                        &c->d_neg, &c->dz_pos, &c->dz_neg, &c->k);
}

static bool is_l1(const mgvi_interior *s) { return s->p == 1; }

/* ---- points ---------------------------------------------------------------------------------- */

static double norm_of(const mgvi_interior *s, const double *x, double p)
{
    return mgvi_lp_norm(x, s->columns, p);
}

/* Weights alike within a class, w = 0, and complementarity about the same everywhere. */
void mgvi_linear_start(mgvi_interior *s)
{
    mgvi_linear_columns *c = &s->linear;
    double side[2] = {0, 0};
    s->system.rims = 0;
    if (s->y)
        s->system.B[s->system.rims++] = s->y;
    s->system.B[s->system.rims++] = s->minus;
    for (int64_t t = 0; t < s->size; t++)
        side[s->y && s->y[t] > 0] += 1;
    for (int64_t t = 0; t < s->size; t++)
        s->b[t] = (s->y && side[0] > 0 && side[1] > 0 ? 0.5 : 1) / side[s->y && s->y[t] > 0];
    memset(s->w, 0, (size_t)s->columns * sizeof *s->w);
    memset(s->f, 0, (size_t)s->size * sizeof *s->f);
    mgvi_margin_block_mul_t(&s->Z, s->b, s->v);
    const double d = (double)s->columns, most = norm_of(s, s->v, INFINITY);
    const double mean = norm_of(s, s->v, 1) / d;
    c->size = mgvi_margin_block_size(&s->Z);
    c->tau = 1.5 * most;
    for (int64_t j = 0; j < s->columns; j++) {
        const double v = s->v[j], more = is_l1(s) ? c->tau : mean + 0.1 * most;
        c->pos[j] = c->neg[j] = is_l1(s) ? 0.5 / d : 1;
        c->z_pos[j] = is_l1(s) ? c->tau - v : fmax(v, 0) + more;
        c->z_neg[j] = is_l1(s) ? c->tau + v : fmax(-v, 0) + more;
    }
    const double slack = is_l1(s) ? c->tau : mean * d;
    s->b0 = 0;
    c->last = INFINITY;
    c->gamma = -slack;
    for (int64_t t = 0; t < s->size; t++)
        s->z[t] = slack;
}

/* The nearer it comes the better rows without weight are told from others. */
bool mgvi_linear_ray(mgvi_interior *s)
{
    mgvi_linear_columns *c = &s->linear;
    const double upper = s->best.upper / c->size;
    const bool slow = upper > 0.1 * c->last;
    c->last = upper;
    return !(s->best.lower > 0) && upper <= (slow ? NEARLY_NOTHING : NOTHING);
}

/* ---- a proof ----------------------------------------------------------------------------------
 */

/* b <- b - T Z (Z'T Z)^-1 Z'b, T = diag(b^2): the least relative change that makes Z'b = 0, and y'b
 * = 0, by the system with K so large that 1/K is rounding. What becomes negative is left out. */
static mgv_status correct_ray(mgvi_interior *s)
{
    static const double LARGE = 1e13, LEAST = 1e-7;
    mgvi_margin_system *m = &s->system;
    mgvi_system_step out = {.q = s->step, .w = s->w_step, .g = s->g};
    mgvi_system_sides in = {.r = s->rhs, .k = s->v};
    double most = 0;
    bool definite;
    for (int64_t t = 0; t < s->size; t++)
        most = fmax(most, s->b[t]);
    for (int64_t t = 0; t < s->size; t++) {
        s->b[t] /= most;
        s->rhs[t] = s->b[t] * s->b[t];
        m->D[t] = 1 / fmax(s->rhs[t], LEAST * LEAST);
        in.rim[0] -= s->y ? s->y[t] * s->b[t] : 0;
    }
    m->rims = s->y ? 1 : 0;
    m->coupled = false;
    mgvi_margin_block_squares(&s->Z, s->rhs, m->K);
    for (int64_t j = 0; j < s->columns; j++)
        m->K[j] = m->K[j] > 0 ? LARGE / m->K[j] : 0;
    mgvi_margin_block_mul_t(&s->Z, s->b, s->v);
    memset(s->rhs, 0, (size_t)s->size * sizeof *s->rhs);
    MGVI_TRY(mgvi_margin_system_factor(m, &definite));
    if (!definite)
        return MGV_OK;
    MGVI_TRY(mgvi_margin_system_solve(m, &in, 3, &out));
    for (int64_t t = 0; t < s->size; t++)
        s->b[t] = s->b[t] > LEAST ? fmax(s->b[t] + s->step[t], 0) : 0;
    return MGV_OK;
}

mgv_status mgvi_linear_prove(mgvi_interior *s)
{
    enum { TRIALS = 3 };
    memcpy(s->b, s->best.b, (size_t)s->size * sizeof *s->b);
    for (int k = 0; k < TRIALS; k++)
        MGVI_TRY(correct_ray(s));
    memcpy(s->best.b, s->b, (size_t)s->size * sizeof *s->b);
    s->changed = true; /* the point is lost */
    return MGV_OK;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* K, e, kappa and D of the system, at the present point. */
static mgv_status factor(mgvi_interior *s, bool *definite)
{
    mgvi_linear_columns *c = &s->linear;
    mgvi_margin_system *m = &s->system;
    m->coupled = is_l1(s);
    m->kappa = 0;
    for (int64_t t = 0; t < s->size; t++)
        m->D[t] = s->z[t] / s->b[t];
    for (int64_t j = 0; j < s->columns; j++) {
        if (is_l1(s)) {
            const double up = c->pos[j] / c->z_pos[j], down = c->neg[j] / c->z_neg[j];
            m->K[j] = up + down;
            m->e[j] = (up - down) / (up + down);
            m->kappa += up + down;
        } else {
            m->K[j] = 1 / (c->z_pos[j] / c->pos[j] + c->z_neg[j] / c->neg[j]);
        }
    }
    MGVI_TRY(mgvi_margin_system_factor(m, definite));
    s->work += m->work;
    m->work = 0;
    return MGV_OK;
}

/* Targets of the columns: what pos and neg have to gain in units of their multipliers. They stay in
 * dz_pos and dz_neg until the steps replace them. */
static void column_sides(mgvi_interior *s, double target, double second, double *rt)
{
    mgvi_linear_columns *c = &s->linear;
    *rt = 1;
    for (int64_t j = 0; j < s->columns; j++) {
        const double v = s->v[j];
        double tp = (target - second * c->d_pos[j] * c->dz_pos[j]) / c->pos[j] - c->z_pos[j];
        double tq = (target - second * c->d_neg[j] * c->dz_neg[j]) / c->neg[j] - c->z_neg[j];
        c->dz_pos[j] = tp;
        c->dz_neg[j] = tq;
        if (is_l1(s)) {
            const double up = c->pos[j] / c->z_pos[j], down = c->neg[j] / c->z_neg[j];
            tp -= c->tau - v - c->z_pos[j];
            tq -= c->tau + v - c->z_neg[j];
            c->k[j] = (up * tp - down * tq) / (up + down);
            *rt -= c->pos[j] + c->neg[j] + up * tp + down * tq;
        } else {
            c->k[j] = v - (c->z_pos[j] - c->z_neg[j]) - tp + tq;
        }
    }
}

/* The four steps of a column are overdetermined by dw, g and what complements; rounding in g is
 * multiplied by K, in dw by 1/K. Linear equations are kept, and the larger of two complementary
 * pairs takes what is left of them. */
static void column_steps(mgvi_interior *s, double dtau)
{
    mgvi_linear_columns *c = &s->linear;
    for (int64_t j = 0; j < s->columns; j++) {
        const double tp = c->dz_pos[j], tq = c->dz_neg[j], v = s->v[j], dw = s->w_step[j];
        const double up = c->pos[j] / c->z_pos[j], down = c->neg[j] / c->z_neg[j];
        if (is_l1(s)) {
            c->dz_pos[j] = dtau - s->g[j] + c->tau - v - c->z_pos[j];
            c->dz_neg[j] = dtau + s->g[j] + c->tau + v - c->z_neg[j];
            c->d_neg[j] = down * (tq - c->dz_neg[j]);
            c->d_pos[j] = up > down ? dw + c->d_neg[j] : up * (tp - c->dz_pos[j]);
            c->d_neg[j] = up > down ? c->d_neg[j] : c->d_pos[j] - dw;
        } else {
            const double both = s->g[j] + v - (c->z_pos[j] - c->z_neg[j]);
            c->d_pos[j] = -dw;
            c->d_neg[j] = dw;
            c->dz_neg[j] = tq - dw / down;
            c->dz_pos[j] = up < down ? c->dz_neg[j] + both : tp + dw / up;
            c->dz_neg[j] = up < down ? c->dz_neg[j] : c->dz_pos[j] - both;
        }
    }
}

/* Steps of the borders. */
typedef struct rims {
    double b0, gamma, tau;
} rims;

static mgv_status direction(mgvi_interior *s, double target, bool correct, rims *d)
{
    enum { REFINEMENTS = 2 };
    mgvi_linear_columns *c = &s->linear;
    mgvi_system_step out = {.q = s->step, .w = s->w_step, .g = s->g};
    mgvi_system_sides in = {.r = s->rhs, .k = c->k};
    const int at = s->y ? 1 : 0; /* of gamma's border */
    in.rim[at] = -1;
    for (int64_t t = 0; t < s->size; t++) {
        const double second = correct ? s->step[t] * s->z_step[t] : 0;
        const double y = s->y ? s->y[t] : 0;
        s->z_step[t] = (target - second) / s->b[t] - s->z[t];
        s->rhs[t] = s->z[t] - (s->f[t] + y * s->b0 - c->gamma) + s->z_step[t];
        in.rim[at] += s->b[t];
        if (s->y)
            in.rim[0] -= y * s->b[t];
    }
    column_sides(s, target, correct ? 1 : 0, &in.rim[at + 1]);
    MGVI_TRY(mgvi_margin_system_solve(&s->system, &in, REFINEMENTS, &out));
    *d = (rims){s->y ? out.rim[0] : 0, out.rim[at], is_l1(s) ? out.rim[at + 1] : 0};
    for (int64_t t = 0; t < s->size; t++)
        s->z_step[t] -= s->system.D[t] * s->step[t];
    column_steps(s, d->tau);
    return MGV_OK;
}

/* The most of x + t dx that stays positive. */
static void shorten(const double *x, const double *dx, int64_t n, double *t)
{
    double worst = 1 / *t;
    for (int64_t i = 0; i < n; i++)
        worst = fmax(worst, -dx[i] / x[i]);
    *t = 1 / worst;
}

/* Lengths to the boundary: [0] of the primal, [1] of the dual variables. */
static void lengths(const mgvi_interior *s, double t[2])
{
    const mgvi_linear_columns *c = &s->linear;
    t[0] = t[1] = 1 / BOUNDARY;
    shorten(s->z, s->z_step, s->size, &t[0]);
    shorten(c->pos, c->d_pos, s->columns, &t[0]);
    shorten(c->neg, c->d_neg, s->columns, &t[0]);
    shorten(s->b, s->step, s->size, &t[1]);
    shorten(c->z_pos, c->dz_pos, s->columns, &t[1]);
    shorten(c->z_neg, c->dz_neg, s->columns, &t[1]);
}

/* Mean complementarity after such a step. */
static double mean_after(const mgvi_interior *s, double t0, double t1)
{
    const mgvi_linear_columns *c = &s->linear;
    double sum = 0;
    for (int64_t i = 0; i < s->size; i++)
        sum += (s->z[i] + t0 * s->z_step[i]) * (s->b[i] + t1 * s->step[i]);
    for (int64_t j = 0; j < s->columns; j++)
        sum += (c->pos[j] + t0 * c->d_pos[j]) * (c->z_pos[j] + t1 * c->dz_pos[j]) +
               (c->neg[j] + t0 * c->d_neg[j]) * (c->z_neg[j] + t1 * c->dz_neg[j]);
    return sum / (double)(s->size + 2 * s->columns);
}

static void move(mgvi_interior *s, const double t[2], const rims *d)
{
    mgvi_linear_columns *c = &s->linear;
    for (int64_t i = 0; i < s->size; i++) {
        s->z[i] += t[0] * s->z_step[i];
        s->b[i] += t[1] * s->step[i];
    }
    for (int64_t j = 0; j < s->columns; j++) {
        c->pos[j] += t[0] * c->d_pos[j];
        c->neg[j] += t[0] * c->d_neg[j];
        c->z_pos[j] += t[1] * c->dz_pos[j];
        c->z_neg[j] += t[1] * c->dz_neg[j];
        s->w[j] = is_l1(s) ? c->pos[j] - c->neg[j] : 0.5 * (c->neg[j] - c->pos[j]);
    }
    s->b0 += t[0] * d->b0;
    c->gamma += t[0] * d->gamma;
    c->tau += t[1] * d->tau;
    mgvi_margin_block_mul(&s->Z, s->w, s->f);
    mgvi_margin_block_mul_t(&s->Z, s->b, s->v);
}

mgv_status mgvi_linear_iterate(mgvi_interior *s, bool *moved)
{
    double t[2];
    rims d;
    MGVI_TRY(factor(s, moved));
    if (!*moved)
        return MGV_OK;
    memset(s->z_step, 0, (size_t)s->size * sizeof *s->z_step);
    const double mu = mean_after(s, 0, 0);
    MGVI_TRY(direction(s, 0, false, &d));
    lengths(s, t);
    const double ahead = mean_after(s, fmin(t[0], 1), fmin(t[1], 1)) / mu;
    MGVI_TRY(direction(s, mu * ahead * ahead * ahead, true, &d));
    lengths(s, t);
    t[0] = fmin(1, BOUNDARY * t[0]);
    t[1] = fmin(1, BOUNDARY * t[1]);
    move(s, t, &d);
    s->iterations++;
    return MGV_OK;
}
