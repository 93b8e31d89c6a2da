/* kernel_margin.c - what a round of kernel_svm.c is worth. */
#include "solver/kernel/kernel_margin.h"

#include <float.h>
#include <math.h>

double mgvi_kernel_margin_least_eps(const mgvi_kernel_margin *s)
{
    const double *diagonal = mgvi_kernel_diagonal(s->kernel);
    double most = 0;
    for (int64_t i = 0; i < s->u.n; i++)
        most = fmax(most, fabs(s->now.x[i]) * diagonal[i]);
    return DBL_EPSILON / 2 * most;
}

/* ---- slacks ---------------------------------------------------------------------------------- */

/* What coefficients of a kernel are worth to a margin, from f = K c: sums, losses and intercepts, in
 * units of lambda. */
typedef struct slacks {
    const mgv_problem *problem; /* a hinge, squared or not, or a hard margin */
    const double *f;
    const double *bound; /* C_i = s_i / lambda of a hinge, infinite of others; 0: without weight */
    const double *ridge; /* 1 / C_i of a squared hinge, else 0 */
} slacks;

typedef struct slack_sums {
    double square, size, ridge; /* c'K c, sum |c_i|, sum r_i c_i^2 */
    double largest;             /* |c_i| */
} slack_sums;

static bool is_squared(const mgv_problem *p) { return p->loss->can & MGVI_HALVED; }

static slack_sums slacks_add_up(const slacks *s, const double *c)
{
    slack_sums t = {0, 0, 0, 0};
    for (int64_t i = 0; i < s->problem->A->rows; i++) {
        t.square += c[i] * s->f[i];
        t.size += fabs(c[i]);
        t.ridge += s->ridge[i] * c[i] * c[i];
        t.largest = fmax(t.largest, fabs(c[i]));
    }
    return t;
}

/* sum of s_i G at the intercept b and its slope there. */
static double slacks_loss(const slacks *s, double b, double *slope)
{
    const mgv_problem *p = s->problem;
    const bool squared = is_squared(p);
    double sum = 0, down = 0;
    for (int64_t i = 0; i < p->A->rows; i++) {
        const double y = mgvi_problem_free_entry(p, i);
        const double slack = fmax(1 - y * (s->f[i] + b), 0);
        const double C = squared ? (s->ridge[i] > 0 ? 1 / s->ridge[i] : 0) : s->bound[i];
        sum += squared ? 0.5 * C * slack * slack : C * slack;
        down += squared ? y * C * slack : (slack > 0 ? y * C : 0);
    }
    *slope = -down;
    return sum;
}

/* The best intercept near *b, which is off by `reach` or so, and the loss there: its slope rises with b. */
static double slacks_improve(const slacks *s, double reach, double *b)
{
    enum { MOST_BISECTIONS = 60 };
    double slope, other;
    const double here = slacks_loss(s, *b, &slope);
    if (!s->problem->free_cols || slope == 0)
        return here;
    const double side = slope > 0 ? -1 : 1;
    double near = 0, far = reach, best = here, at = *b;
    bool bracketed = false;
    for (int k = 0; k < MOST_BISECTIONS && (far - near) * fabs(slope) > 1e-6 * best; k++) {
        const double t = bracketed ? 0.5 * (near + far) : far;
        const double loss = slacks_loss(s, *b + side * t, &other);
        if (loss < best) {
            best = loss;
            at = *b + side * t;
        }
        if (side * other < 0) {
            near = t;
            slope = other;
            far = bracketed ? far : 4 * far;
        } else {
            far = t;
            bracketed = true;
        }
    }
    *b = at;
    return best;
}

/* Hard margin: the intercept half way between the classes, and the least margin there. */
static double slacks_centre(const slacks *s, double *b)
{
    const mgv_problem *p = s->problem;
    double least[2] = {INFINITY, INFINITY};
    for (int64_t i = 0; i < p->A->rows; i++) {
        const double y = mgvi_problem_free_entry(p, i);
        if (s->bound[i] > 0)
            least[y > 0] = fmin(least[y > 0], y * s->f[i]);
    }
    if (!p->free_cols)
        return fmin(least[0], least[1]);
    if (isfinite(least[0] + least[1]))
        *b = 0.5 * (least[0] - least[1]);
    return 0.5 * (least[0] + least[1]);
}

/* Where no row lacks more than a part d of its margin, weights that are longer by 1/(1 - d) lack
 * nothing: what that factor is, 1 where they would be too long. */
static double slacks_stretch(const slacks *s, double b)
{
    const mgv_problem *p = s->problem;
    double lack = 0;
    for (int64_t i = 0; i < p->A->rows; i++) {
        const double slack = 1 - mgvi_problem_free_entry(p, i) * (s->f[i] + b);
        lack = s->bound[i] > 0 && slack > lack ? slack : lack;
    }
    return lack < 0.5 ? 1 / (1 - lack) : 1;
}

/* ---- a round's worth ------------------------------------------------------------------------- */

static slacks slacks_of(const mgv_problem *p, const mgvi_kernel_margin *s)
{
    return (slacks){.problem = p, .f = s->f, .bound = s->bound, .ridge = s->ridge};
}

/* The loss, in units of lambda, at the best intercept that is known or easily found. */
static double loss_now(const mgv_problem *p, mgvi_kernel_margin *s)
{
    const slacks of_f = slacks_of(p, s);
    double none = 0, *b = p->free_cols ? &s->now.x[s->now.n - 1] : &none, slope;
    if (!s->on_cores)
        return slacks_improve(&of_f, s->m.eps, b);
    if (p->free_cols)
        *b = s->cores.centre;
    return slacks_loss(&of_f, s->cores.centre, &slope);
}

void mgvi_kernel_margin_appraise(mgvi_run *run, mgvi_kernel_margin *s)
{
    const mgv_problem *p = run->problem;
    const slacks of_f = slacks_of(p, s);
    const slack_sums t = slacks_add_up(&of_f, s->now.x);
    const double before = s->m.primal - s->m.dual;
    const bool hard = p->loss->can & MGVI_HARD;
    double primal, dual, longer = 1, none = 0;
    double *b = p->free_cols ? &s->now.x[s->now.n - 1] : &none;
    if (hard) { /* bounds of the margin */
        primal = t.square > 0 ? -slacks_centre(&of_f, b) / sqrt(t.square) : INFINITY;
        dual = t.size > 0 ? -sqrt(t.square) / t.size : -INFINITY;
    } else {
        primal = 0.5 * t.square + loss_now(p, s);
        dual = t.size - 0.5 * (t.square + t.ridge);
        const double factor = s->on_cores ? slacks_stretch(&of_f, *b) : 1;
        if (factor > 1 && 0.5 * factor * factor * t.square < primal) {
            primal = 0.5 * factor * factor * t.square;
            longer = factor;
        }
    }
    if (primal < s->m.primal) {
        s->m.primal = primal;
        mgvi_vec_copy(run->ctx, &s->now, &s->w);
        mgvi_vec_scale(run->ctx, longer, &s->w);
    }
    s->m.dual = fmax(s->m.dual, dual);
    for (int64_t i = 0; i < s->u.n; i++)
        s->u.x[i] = -p->lambda * fabs(s->now.x[i]);
    const double gap = s->m.primal - s->m.dual;
    s->m.estimate = gap / fabs(hard ? s->m.dual : s->m.primal);
    const double less =
        !s->on_cores && s->m.eps <= mgvi_kernel_margin_least_eps(s) ? 0.5 : 1 - 1e-6;
    s->m.flat = gap < less * before || !isfinite(before) ? 0 : s->m.flat + 1;
    s->m.below_precision = s->limit > 0 && t.largest > s->limit;
}
