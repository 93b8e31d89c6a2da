/* newton_costs.c - what proximal_newton is expected to take. */
#include "solver/proximal_newton/newton_costs.h"

#include "solver/proximal_newton/newton_model.h"
#include "solver/solver_impl.h"

#include <math.h>

/* Sweeps of a working set. Where columns crowd, passes over all of them, unless few are wanted,
 * and hinges never end; the hinge's steps are not smooth: dense columns take the more sweeps. */
static double cost_of_kinks(const mgv_problem *p, double steps, bool hinge)
{
    static const double ENTRY = 8, FULL = 1000, SPARSE = 400, HARD = 10;
    static const double VECTORS = 500; /* a step's work on a row */
    const bool crowd = mgvi_columns_crowd(p), dense = mgvi_op_is_dense(p->A);
    const double nnz = (double)p->A->nnz, n = (double)p->A->rows;
    if (crowd && !hinge)
        return (dense ? FULL : SPARSE) * ENTRY * nnz;
    const double entry = mgvi_newton_kinked(p->loss) ? (dense || crowd ? 400 : 100)
                         : dense                     ? 100
                                                     : 200;
    return (crowd ? HARD : 1) * steps * (entry * nnz + VECTORS * n);
}

/* Steps: one or two for a square, half a dozen for losses that bend everywhere, and for hinges with
 * a bend where rows are many for each column; more where curvature comes and goes, and many for the
 * hinge. With l2 and less than two rows a column, which any labels separate (Cover), hinges end
 * near a hard margin: those of a width change faces without end, and are for when nobody else is
 * left; the squared one, whose strength comes down, takes a few times the steps, and more with C. */
double mgvi_newton_cost(const mgv_problem *p, const mgv_settings *settings)
{
    enum { TALL = 4, SEPARABLE = 2 };
    static const double GROWTH = 0.1, MOST_GROWTH = 3; /* of the steps, with C */
    const bool bent = p->loss->can & MGVI_BENT, hinge = bent && (p->loss->can & MGVI_MARGIN);
    double steps = mgvi_newton_kinked(p->loss) ? 40 : bent ? 18 : 6;
    (void)settings;
    if (steps == 18 && p->A->rows > TALL * p->A->cols)
        steps = 8;
    if (mgvi_newton_kinks(p))
        return cost_of_kinks(p, steps, hinge);
    if (p->loss->can & MGVI_STRONG)
        steps = 2;
    else if (steps == 18 && !hinge) /* of a quantity most rows keep their curvature */
        steps = 8;
    const bool separable = hinge && p->A->rows < SEPARABLE * p->A->cols;
    if (!mgvi_newton_curves(p->loss))
        return mgvi_newton_ridge_cost(p, separable ? 10 * steps : steps);
    const double C = 1 / (2 * p->lambda * (double)p->A->rows);
    return mgvi_newton_ridge_cost(p, (separable ? 2 : 1) * steps *
                                         fmin(fmax(1, pow(C, GROWTH)), MOST_GROWTH));
}

/* Where columns crowd: steps on a few of them, which end soon if few are wanted. */
double mgvi_newton_trial(const mgv_problem *p, const mgv_settings *settings)
{
    static const double PASSES = 20;
    (void)settings;
    return mgvi_newton_kinks(p) && mgvi_columns_crowd(p) && (p->loss->can & MGVI_SMOOTH)
               ? PASSES * mgvi_entry_cost(p) * (double)p->A->nnz
               : INFINITY;
}

/* The hinge's last steps are as many as its first. */
double mgvi_newton_finish(const mgv_problem *p, const mgv_settings *settings)
{
    return mgvi_newton_kinked(p->loss) ? INFINITY : mgvi_newton_cost(p, settings);
}
