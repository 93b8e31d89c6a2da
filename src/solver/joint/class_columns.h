/* joint/class_columns.h - Newton's systems of a loss of all classes at once, by columns:
 *   (L + A'J A) D = -G,   J_i = diag(h_i) - h_i h_i'/sum_j h_ij,   L = diag(lambda, rho)     (13)
 * for dense tables, by conjugate gradients; docs/algorithms/lbfgs.md, "By columns". They are
 * preconditioned by a matrix for every class (joint/class_hessian.h) while many rows have
 * curvature, and by the pairs of rows and classes that have (joint/class_pairs.h) when these are
 * few. */
#ifndef MGVI_SOLVER_CLASS_COLUMNS_H
#define MGVI_SOLVER_CLASS_COLUMNS_H

#include "op/joint_pass.h"
#include "solver/joint/class_hessian.h"
#include "solver/joint/class_pairs.h"

typedef struct mgvi_class_columns {
    mgvi_run *run;
    double rho;
    /* of a system: the caller's */
    const double *h;       /* rows x classes */
    const double *square;  /* rows: |x_i|^2/lambda */
    mgvi_vec z;            /* rows x classes of work space */
    mgvi_joint_pass *pass; /* products in float32 */
    struct mgvi_class_columns_memory {
        int32_t precise; /* products of the operator in their place */
        int32_t apart;   /* pairs did not help: a matrix for every class, from then on */
    } m;
    mgvi_class_hessian hessian;
    mgvi_class_pairs few; /* its matrix lies where the hessian's rows and factors do */
    bool by_pairs;        /* this system is preconditioned by them */
    mgvi_vec residual, better, along, image; /* columns */
} mgvi_class_columns;

/* Whether the table is dense, with more unknowns than one matrix is made for, and memory allows a
 * matrix for every class. */
bool mgvi_class_columns_fit(const mgv_problem *problem);
/* Memory from the run's arena; rho is the caller's. */
mgv_status mgvi_class_columns_new(mgvi_run *run, mgvi_class_columns *out);
/* x = D and bent = J A D. What is left of the system, R, is |R|^2/(2 lambda) + |R of the intercepts|
 * <= enough, if float32 or a limit on the products lets it be. */
mgv_status mgvi_class_columns_solve(mgvi_class_columns *c, const mgvi_vec *g, double enough,
                                    mgvi_vec *x, mgvi_vec *bent);
#endif
