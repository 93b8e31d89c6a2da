/* hinge_rows.c - the rows of a hinge problem that have weight. */
#include "solver/parts/hinge_rows.h"

#include <math.h>
#include <string.h>

/* Width of the bend, in units of 1/weight: 0 the hinge, 1 the squared one. */
static double width_of(const mgv_problem *p)
{
    return strcmp(p->loss->name, "smooth_hinge") == 0    ? p->row.b.constant
           : strcmp(p->loss->name, "squared_hinge") == 0 ? 1
                                                         : 0;
}

static bool is_squared(const mgv_problem *p) { return strcmp(p->loss->name, "squared_hinge") == 0; }

static void bound_theta(const mgv_problem *p, mgvi_hinge_rows *rows)
{
    const bool squared = is_squared(p);
    const double sum = rows->side[0] + rows->side[1], width = width_of(p);
    for (int64_t i = 0; i < rows->n; i++) {
        if (rows->bend)
            rows->bend[i] = width / rows->weight[i];
        rows->s[i] = squared ? 4 * sqrt(rows->weight[i] * sum) : rows->weight[i];
    }
}

/* theta_i of w = 0 at a score, without its weight; the squared hinge's has no upper bound. */
static double share_at(const mgv_problem *p, double score)
{
    const double slack = 1 - score, width = width_of(p);
    return width > 0 ? fmin(fmax(slack, 0) / width, is_squared(p) ? INFINITY : 1) : slack > 0;
}

/* The best intercept of w = 0, by bisection of the slope -S+ theta(b) + S- theta(-b), and P there.
 */
static void best_without_weights(const mgv_problem *p, mgvi_hinge_rows *rows)
{
    const double width = width_of(p), minus = rows->side[0], plus = rows->side[1];
    const mgvi_coef one = {.scale = 1, .b = p->row.b.constant};
    double low = -1, high = 1;
    if (width == 0) /* any between -1 and 1 where the classes weigh the same */
        low = high = (plus > minus) - (plus < minus);
    for (int k = 0; k < 60 && low < high; k++) {
        const double b = (low + high) / 2;
        const double slope = minus * share_at(p, -b) - plus * share_at(p, b);
        *(slope < 0 ? &low : &high) = b;
    }
    rows->lone = rows->y ? (low + high) / 2 : 0;
    rows->at_zero =
        rows->y ? minus * p->loss->value(one, -rows->lone) + plus * p->loss->value(one, rows->lone)
                : minus * p->loss->value(one, 0);
}

mgv_status mgvi_hinge_rows_bind(mgvi_run *run, mgvi_hinge_rows *rows)
{
    const mgv_problem *p = run->problem;
    const size_t all = (size_t)p->A->rows;
    rows->row = mgvi_run_array(run, all, sizeof *rows->row);
    rows->s = mgvi_run_array(run, all, sizeof *rows->s);
    rows->weight = mgvi_run_array(run, all, sizeof *rows->weight);
    if (p->free_cols && !(rows->y = mgvi_run_array(run, all, sizeof *rows->y)))
        return MGV_E_MEMORY;
    if (width_of(p) > 0 && !(rows->bend = mgvi_run_array(run, all, sizeof *rows->bend)))
        return MGV_E_MEMORY;
    if (!rows->row || !rows->s || !rows->weight)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < p->A->rows; i++) {
        const double weight = mgvi_coef_pick(&p->row.scale, i, 0);
        if (!(weight > 0))
            continue;
        rows->row[rows->n] = (int32_t)i;
        rows->weight[rows->n] = weight;
        if (rows->y)
            rows->y[rows->n] = mgvi_problem_free_entry(p, i);
        rows->side[rows->y && rows->y[rows->n] > 0] += weight;
        rows->n++;
    }
    bound_theta(p, rows);
    best_without_weights(p, rows);
    return MGV_OK;
}

void mgvi_hinge_rows_lone_theta(const mgv_problem *p, const mgvi_hinge_rows *rows, double *theta)
{
    const double least = fmin(rows->side[0], rows->side[1]), width = width_of(p);
    for (int64_t i = 0; i < rows->n; i++) {
        const double y = rows->y ? rows->y[i] : 0;
        theta[i] = rows->weight[i] * (width > 0 ? share_at(p, y * rows->lone)
                                      : rows->y ? least / rows->side[y > 0]
                                                : 1);
    }
}
