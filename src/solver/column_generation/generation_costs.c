/* generation_costs.c - the work that column_generation is expected to take. */
#include "solver/column_generation/generation_costs.h"

#include "op/columns.h"
#include "solver/solver_impl.h"

#include <math.h>

bool mgvi_generation_is_hinge(const mgv_problem *p)
{
    return (p->loss->can & (MGVI_MARGIN | MGVI_LIKELIHOOD)) == MGVI_MARGIN;
}

static const double HELD = 8; /* numbers a row, the driver's included */

static const double VECTORS = 400; /* a step's work on a row, and on a column */
static const double UNEVEN = 5;    /* sparse: most of the entries are in a few columns */

/* Interior-point steps times the normal equations. Dense: on twice n columns; on tall data on
 * a part of them, in more rounds, where rows are not too many for columns to join by the hundred.
 * Sparse columns are entered one by one where that is less. */
static double cost_of_l1(double n, double d, double nnz)
{
    static const double SPARSE = 0.1, SLOWER = 20;
    const bool few = n < MGVI_FEW_ROWS;
    const bool tall = n > 2 * d;
    const double least = fmin(n, d), part = few && tall ? d / 3 : d;
    const double steps = 2 * n <= d ? 25 : few ? 60 : 100;
    const double size = few ? least : fmin(least, 2 * MGVI_MOST_FIRST);
    const double entries = SLOWER * UNEVEN * nnz * nnz / d / 2;
    const double dense = n <= d ? n * n * fmin(d, 2 * n) / 4 + n * n * n / 6
                                : n * part * part + part * part * part / 3;
    const bool at_once = n < d && n <= MGVI_MOST_AT_ONCE;
    const double rounds = (few ? 5 : 90) * (size * size * size / 3 + entries);
    const double sparse = at_once ? fmin(rounds, n * n * n + 15 * entries) : rounds;
    return steps * VECTORS * (n + d) + 10 * nnz +
           (nnz < SPARSE * n * d ? fmin(steps * dense, sparse) : steps * dense);
}

/* The same for rows that are no hinges, and for many that bend: all columns at once unless they are
 * many times the rows. */
static double cost_of_curved(const mgv_problem *p, double n, double d)
{
    static const double PASSES = 12, SPARSE = 0.1;
    static const double NARROW = 60; /* products of such matrices are slower */
    const double nnz = (double)p->A->nnz;
    const double least = fmin(n, d), most = n <= d ? fmin(d, 3 * n) : n;
    const double steps = 22 + (n <= d ? 0 : 40 * fmin(1, NARROW / d));
    const double dense = least * least * most / 4, sparse = UNEVEN * nnz * nnz / d / 2;
    const double matrix = nnz < SPARSE * n * d ? fmin(dense, sparse) : dense;
    return steps * (matrix + least * least * least / 6 + VECTORS * (n + d)) +
           PASSES * mgvi_entry_cost(p) * nnz;
}

/* Rows times rows once, and their factors. */
static double cost_of_l2(const mgv_problem *p, double n, double d)
{
    static const double STEPS = 15, PASSES = 10;
    return n * n * d / 2 + STEPS * (n * n * n / 6 + VECTORS * n) +
           PASSES * mgvi_entry_cost(p) * (double)p->A->nnz;
}

double mgvi_generation_cost(const mgv_problem *p, const mgv_settings *settings)
{
    (void)settings;
    const double n = (double)p->A->rows, d = (double)mgvi_problem_penalised(p);
    const bool l2 = !(p->penalty->can & MGVI_KINK);
    if (n > MGVI_MOST_ROWS && (l2 || d > n))
        return INFINITY;
    if (mgvi_gather_bytes(p->A->stored) > mgvi_problem_spare(p, HELD))
        return INFINITY; /* no room for a copy by columns */
    const bool curved =
        !mgvi_generation_is_hinge(p) || ((p->loss->can & MGVI_SMOOTH) && n >= MGVI_FEW_ROWS);
    if (!l2 && curved)
        return cost_of_curved(p, n, d);
    return l2 ? cost_of_l2(p, n, d) : cost_of_l1(n, d, (double)p->A->nnz);
}

/* The last steps. */
double mgvi_generation_finish(const mgv_problem *p, const mgv_settings *settings)
{
    static const double LAST = 0.4;
    return LAST * mgvi_generation_cost(p, settings);
}
