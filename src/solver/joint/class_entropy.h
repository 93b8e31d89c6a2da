/* joint/class_entropy.h - the joint hinge of many classes with its largest score smoothed by
 * entropy, whose width tau falls: class_newton on sparse tables with many columns, and on dense ones
 * with many unknowns; docs/algorithms/class_newton.md.
 *   F(W) = lambda/2 |W|^2 + sum_i s_i [tau log sum_j exp(t_ij/tau) - t_ic]                    (9)
 * with t_i = z_i + 1 - e_c. Newton's steps for W and the dual point V together
 * (joint/class_dual.h). */
#ifndef MGVI_SOLVER_CLASS_ENTROPY_H
#define MGVI_SOLVER_CLASS_ENTROPY_H

#include "solver/joint/class_dual.h"

typedef struct mgvi_class_entropy {
    mgvi_class_dual dual;
    double *z; /* rows x classes */
    struct mgvi_class_entropy_memory {
        double tau;
        double gap; /* of (w, v), relative */
        int32_t begun;
        int32_t unused; /* no byte of the checkpoint is undefined */
    } m;
} mgvi_class_entropy;

bool mgvi_class_entropy_fits(const mgv_problem *p);
double mgvi_class_entropy_cost(const mgv_problem *p);
mgv_status mgvi_class_entropy_new(mgvi_run *run, mgvi_class_entropy *out);
/* One Newton step of w; dir and work are vectors like it. m.gap is brought up to date. */
mgv_status mgvi_class_entropy_step(mgvi_run *run, mgvi_class_entropy *e, mgvi_vec *w, mgvi_vec *dir,
                                   mgvi_vec *work);
#endif
