/* slacks.c - sums over the rows of a margin. */
#include "solver/kernel/slacks.h"

#include <math.h>

static bool is_squared(const mgv_problem *p) { return p->loss->can & MGVI_HALVED; }

mgvi_slack_sums mgvi_slacks_add_up(const mgvi_slacks *s, const double *c)
{
    mgvi_slack_sums t = {0, 0, 0, 0};
    for (int64_t i = 0; i < s->problem->A->rows; i++) {
        t.square += c[i] * s->f[i];
        t.size += fabs(c[i]);
        t.ridge += s->ridge[i] * c[i] * c[i];
        t.largest = fmax(t.largest, fabs(c[i]));
    }
    return t;
}

double mgvi_slacks_loss(const mgvi_slacks *s, double b, double *slope)
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

/* The slope rises with b. */
double mgvi_slacks_improve(const mgvi_slacks *s, double reach, double *b)
{
    enum { MOST_BISECTIONS = 60 };
    double slope, other;
    const double here = mgvi_slacks_loss(s, *b, &slope);
    if (!s->problem->free_cols || slope == 0)
        return here;
    const double side = slope > 0 ? -1 : 1;
    double near = 0, far = reach, best = here, at = *b;
    bool bracketed = false;
    for (int k = 0; k < MOST_BISECTIONS && (far - near) * fabs(slope) > 1e-6 * best; k++) {
        const double t = bracketed ? 0.5 * (near + far) : far;
        const double loss = mgvi_slacks_loss(s, *b + side * t, &other);
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

double mgvi_slacks_centre(const mgvi_slacks *s, double *b)
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

double mgvi_slacks_stretch(const mgvi_slacks *s, double b)
{
    const mgv_problem *p = s->problem;
    double lack = 0;
    for (int64_t i = 0; i < p->A->rows; i++) {
        const double slack = 1 - mgvi_problem_free_entry(p, i) * (s->f[i] + b);
        lack = s->bound[i] > 0 && slack > lack ? slack : lack;
    }
    return lack < 0.5 ? 1 / (1 - lack) : 1;
}
