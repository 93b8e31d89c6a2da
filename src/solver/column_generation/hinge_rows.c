/* hinge_rows.c - the rows of a problem that have weight, as its dual sees them. */
#include "solver/column_generation/hinge_rows.h"

#include "solver/shared/ranking.h"

#include <math.h>

static mgvi_hinge_kind kind_of(const mgv_problem *p)
{
    const unsigned can = p->loss->can;
    if (!(can & MGVI_MARGIN))
        return can & MGVI_STRONG ? MGVI_ROWS_FREE : MGVI_ROWS_BOXED;
    return can & MGVI_LIKELIHOOD ? MGVI_ROWS_ENTROPY : MGVI_ROWS_BOXED;
}

/* Width of the bend, in units of 1/weight: 0 the hinge, 1 what is a square somewhere. */
static double width_of(const mgv_problem *p)
{
    const bool bent = (p->loss->can & MGVI_SMOOTH) && kind_of(p) != MGVI_ROWS_ENTROPY;
    return !bent ? 0 : p->loss->can & MGVI_WIDTH ? p->row.b.constant : 1;
}

/* Whether the multipliers have no upper bound, but for what they cost. */
static bool is_squared(const mgv_problem *p)
{
    return (p->loss->can & MGVI_MARGIN) && !(p->loss->can & MGVI_BOUNDED);
}

/* How far a score is from an interval is the sum of two hinges, one for each end: of rows twice as
 * many as the data has. */
static bool has_two_ends(const mgv_problem *p) { return p->loss->can & MGVI_BETWEEN; }

/* The loss of row i: of one end, its other one infinitely far. */
static mgvi_coef coef_of(const mgv_problem *p, const mgvi_hinge_rows *rows, int64_t i)
{
    mgvi_coef c = mgvi_coefs_at(&p->row, rows->row[i], 0);
    if (has_two_ends(p))
        *(rows->upper[i] ? &c.a : &c.b) = rows->upper[i] ? -INFINITY : INFINITY;
    return c;
}

/* s, low, target and bend of row i, its weight known. */
static void bind_row(const mgv_problem *p, mgvi_hinge_rows *rows, int64_t i, double sum)
{
    const mgvi_coef c = coef_of(p, rows, i);
    const double weight = rows->weight[i];
    if (has_two_ends(p)) {
        rows->target[i] = rows->upper[i] ? c.b : c.a;
        rows->s[i] = rows->upper[i] ? 0 : weight;
        rows->low[i] = rows->upper[i] ? -weight : 0;
        return;
    }
    if (rows->bend)
        rows->bend[i] = width_of(p) / weight;
    if (rows->target)
        rows->target[i] = c.a;
    if (rows->low) {
        rows->s[i] = rows->bend ? weight * c.b : weight; /* |G'| of huber, of absolute */
        rows->low[i] = -rows->s[i];
    } else if (rows->s) {
        rows->s[i] = is_squared(p) ? 4 * sqrt(weight * sum) : weight;
    }
}

/* d/db sum_i s_i G_i(y_i b) */
static double slope_without_weights(const mgv_problem *p, const mgvi_hinge_rows *rows, double b)
{
    double slope = 0;
    for (int64_t i = 0; i < rows->n; i++)
        slope += rows->y[i] * p->loss->grad(coef_of(p, rows, i), rows->y[i] * b);
    return slope;
}

/* An interval with the best intercept of w = 0. */
static void bracket_intercept(const mgvi_hinge_rows *rows, double *low, double *high)
{
    static const double LEAST = 1e-16; /* odds that are none */
    const double minus = rows->side[0], plus = rows->side[1], sum = minus + plus;
    *high = fmax(1, fabs(log(fmax(plus / sum, LEAST) / fmax(minus / sum, LEAST))));
    *low = -*high;
    for (int64_t i = 0; rows->target && i < rows->n; i++) {
        const double exact = rows->target[i] / rows->y[i];
        *low = i == 0 ? exact : fmin(*low, exact);
        *high = i == 0 ? exact : fmax(*high, exact);
    }
}

/* A sum of kinked losses is least on one of its kinks. */
static double nearest_kink(const mgvi_hinge_rows *rows, double b)
{
    double nearest = b, off = INFINITY;
    for (int64_t i = 0; i < rows->n; i++) {
        const double kink = rows->target[i] / rows->y[i];
        if (fabs(kink - b) < off) {
            off = fabs(kink - b);
            nearest = kink;
        }
    }
    return nearest;
}

/* The best intercept of w = 0, by bisection of the slope, and P there. */
static void best_without_weights(const mgv_problem *p, mgvi_hinge_rows *rows)
{
    enum { HALVINGS = 100 };
    const double minus = rows->side[0], plus = rows->side[1];
    double low = 0, high = 0;
    if (rows->y)
        bracket_intercept(rows, &low, &high);
    if (rows->y && !rows->target &&
        !(p->loss->can & MGVI_SMOOTH)) /* any from -1 to 1 for classes alike */
        low = high = (plus > minus) - (plus < minus);
    for (int k = 0; k < HALVINGS && low < high; k++) {
        const double b = low + (high - low) / 2;
        if (b == low || b == high)
            break;
        *(slope_without_weights(p, rows, b) < 0 ? &low : &high) = b;
    }
    rows->lone = low + (high - low) / 2;
    if (rows->y && rows->low && !(p->loss->can & MGVI_SMOOTH))
        rows->lone = nearest_kink(rows, rows->lone);
    rows->at_zero = 0;
    for (int64_t i = 0; i < rows->n; i++)
        rows->at_zero += p->loss->value(coef_of(p, rows, i), rows->y ? rows->y[i] * rows->lone : 0);
}

static mgv_status make_room(mgvi_run *run, mgvi_hinge_rows *rows)
{
    const mgv_problem *p = run->problem;
    const size_t all = (size_t)p->A->rows * (has_two_ends(p) ? 2 : 1);
    const bool margin = p->loss->can & MGVI_MARGIN;
    const struct {
        double **at;
        bool wanted;
    } of_rows[] = {{&rows->weight, true},
                   {&rows->y, p->free_cols > 0},
                   {&rows->s, rows->kind != MGVI_ROWS_FREE},
                   {&rows->low, !margin && rows->kind == MGVI_ROWS_BOXED},
                   {&rows->target, !margin},
                   {&rows->lone_theta, !margin || rows->kind == MGVI_ROWS_ENTROPY},
                   {&rows->bend, width_of(p) > 0}};
    MGVI_TRY(MGVI_RUN_ARRAY(run, rows->row, all));
    if (has_two_ends(p))
        MGVI_TRY(MGVI_RUN_ARRAY(run, rows->upper, all));
    for (size_t t = 0; t < sizeof of_rows / sizeof *of_rows; t++)
        if (of_rows[t].wanted && !(*of_rows[t].at = mgvi_run_array(run, all, sizeof(double))))
            return MGV_E_MEMORY;
    return MGV_OK;
}

static void add_row(const mgv_problem *p, mgvi_hinge_rows *rows, int64_t i, double weight,
                    bool upper)
{
    rows->row[rows->n] = (int32_t)i;
    rows->weight[rows->n] = weight;
    if (rows->upper)
        rows->upper[rows->n] = upper;
    if (rows->y)
        rows->y[rows->n] = mgvi_problem_free_entry(p, i);
    rows->side[rows->y && rows->y[rows->n] > 0] += weight;
    rows->n++;
}

mgv_status mgvi_hinge_rows_bind(mgvi_run *run, mgvi_hinge_rows *rows)
{
    const mgv_problem *p = run->problem;
    rows->kind = kind_of(p);
    rows->aim = rows->kind == MGVI_ROWS_ENTROPY ? 0 : 1;
    MGVI_TRY(make_room(run, rows));
    for (int64_t i = 0; i < p->A->rows; i++) {
        const mgvi_coef c = mgvi_coefs_at(&p->row, i, 0);
        if (!(c.scale > 0))
            continue;
        if (!has_two_ends(p)) {
            add_row(p, rows, i, c.scale, false);
            continue;
        }
        if (isfinite(c.a))
            add_row(p, rows, i, c.scale, false);
        if (isfinite(c.b))
            add_row(p, rows, i, c.scale, true);
    }
    for (int64_t i = 0; i < rows->n; i++)
        bind_row(p, rows, i, rows->side[0] + rows->side[1]);
    best_without_weights(p, rows);
    if (rows->lone_theta)
        mgvi_hinge_rows_lone_theta(p, rows, rows->lone_theta);
    return MGV_OK;
}

/* Whether the best intercept of w = 0 lies on the kink of row i. */
static bool on_kink(const mgvi_hinge_rows *rows, int64_t i)
{
    static const double ROUNDING = 4e-16;
    const double target = rows->target[i];
    return fabs(target - rows->y[i] * rows->lone) <= ROUNDING * fabs(target);
}

/* Rows on their kink make up for the others', until y.theta = 0. */
static void balance_kinks(const mgvi_hinge_rows *rows, double *theta)
{
    double sum = 0;
    for (int64_t i = 0; i < rows->n; i++)
        sum += on_kink(rows, i) ? 0 : rows->y[i] * theta[i];
    for (int64_t i = 0; i < rows->n; i++)
        if (on_kink(rows, i)) {
            theta[i] = fmin(rows->s[i], fmax(rows->low[i], -sum / rows->y[i]));
            sum += rows->y[i] * theta[i];
        }
}

void mgvi_hinge_rows_lone_theta(const mgv_problem *p, const mgvi_hinge_rows *rows, double *theta)
{
    const double least = fmin(rows->side[0], rows->side[1]);
    for (int64_t i = 0; i < rows->n; i++) {
        const double y = rows->y ? rows->y[i] : 0;
        theta[i] = rows->target || (p->loss->can & MGVI_SMOOTH)
                       ? -p->loss->grad(coef_of(p, rows, i), y * rows->lone)
                       : rows->weight[i] * (rows->y ? least / rows->side[y > 0] : 1);
    }
    if (rows->y && rows->target && !(p->loss->can & MGVI_SMOOTH))
        balance_kinks(rows, theta);
}

void mgvi_hinge_rows_theta(const mgvi_hinge_rows *rows, const double *u, double *theta)
{
    for (int64_t i = 0; i < rows->n; i++) {
        const double t = -u[rows->row[i]];
        theta[i] = !rows->upper ? t : rows->upper[i] ? fmin(t, 0) : fmax(t, 0);
    }
}

mgvi_hinge_block mgvi_hinge_rows_outline(const mgvi_hinge_rows *rows)
{
    return (mgvi_hinge_block){.kind = rows->kind,
                              .rows = rows->n,
                              .y = rows->y,
                              .s = rows->s,
                              .low = rows->low,
                              .target = rows->target,
                              .aim = rows->aim,
                              .lone = rows->lone_theta,
                              .lone_free = rows->lone,
                              .bend = rows->bend};
}

mgv_status mgvi_hinge_rows_near(mgvi_run *run, const mgvi_hinge_rows *rows, const double *z,
                                int64_t near, double *theta)
{
    double *clear = mgvi_run_array(run, (size_t)rows->n, sizeof *clear);
    int64_t *order = mgvi_run_array(run, (size_t)rows->n, sizeof *order);
    if (!clear || !order)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < rows->n; i++) {
        const double margin = z[rows->row[i]];
        clear[i] = fabs(margin - 1);
        order[i] = i;
        theta[i] = margin > 1 ? 0 : rows->s[i];
    }
    mgvi_select_smallest(clear, order, rows->n, near);
    for (int64_t t = 0; t < near; t++)
        theta[order[t]] = rows->s[order[t]] / 2;
    return MGV_OK;
}

int64_t mgvi_hinge_rows_open(const mgvi_hinge_rows *r, const double *theta)
{
    int64_t open = 0;
    for (int64_t i = 0; r->s && i < r->n; i++)
        open += theta[i] > 0 && theta[i] < r->s[i];
    return open;
}
