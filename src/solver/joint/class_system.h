/* joint/class_system.h - the Newton system of class_newton, by the cheapest of three ways;
 * docs/algorithms/class_newton.md (4)-(6). */
#ifndef MGVI_SOLVER_CLASS_SYSTEM_H
#define MGVI_SOLVER_CLASS_SYSTEM_H

#include "solver/joint/class_hessian.h"
#include "solver/joint/class_pairs.h"
#include "solver/joint/class_smooth.h"

enum { MGVI_CLASS_SYSTEM_PAIRS = 2048 }; /* of (5), at most */

typedef struct mgvi_class_system {
    mgvi_run *run;
    const mgvi_class_smooth *smooth;
    mgvi_class_pairs few; /* the rows with more than one class; rho is the caller's */
    double couples;       /* sum_i |S_i| (|S_i| - 1)/2 */
    /* work space */
    mgvi_vec residual, better, along, image; /* columns */
    double *diagonal;                        /* columns x k */
    mgvi_class_hessian hessian;
    bool has_hessian;
} mgvi_class_system;

/* Whether the problem's operator has rows to read. */
bool mgvi_class_system_reads(mgvi_op *op);
/* Memory from the run's arena; set few.rho before the first solve. */
mgv_status mgvi_class_system_new(mgvi_run *run, const mgvi_class_smooth *smooth,
                                 mgvi_class_system *out);
/* direction = -H^-1 g for the classes that have p > 0 now. *products: an idea of how many products
 * conjugate gradients take, brought up to date when they were used. */
mgv_status mgvi_class_system_solve(mgvi_class_system *c, const mgvi_vec *g, double *products,
                                   mgvi_vec *direction);
#endif
