/* parts/class_system.h - the Newton system of class_newton, by the cheapest of three ways;
 * docs/algorithms/class_newton.md (4)-(6). */
#ifndef MGVI_SOLVER_PARTS_CLASS_SYSTEM_H
#define MGVI_SOLVER_PARTS_CLASS_SYSTEM_H

#include "op/rows.h"
#include "op/rowwise.h"
#include "solver/parts/class_hessian.h"
#include "solver/parts/class_smooth.h"

enum { MGVI_CLASS_PAIRS = 2048 }; /* of (5), at most */

typedef struct mgvi_class_system {
    mgvi_run *run;
    const mgvi_class_smooth *smooth;
    double rho; /* curvature of the intercepts' proximal term */
    mgvi_rows *rows;
    mgvi_rowwise by_rows;
    /* the rows with more than one class, and the sum over them of classes less one */
    mgvi_view view;
    int64_t *list;     /* as rows of the stored matrix */
    int32_t *mine;     /* as rows of the problem */
    double *row_scale; /* NULL: 1 */
    int64_t pairs;
    double couples; /* sum_i |S_i| (|S_i| - 1)/2 */
    /* work space */
    mgvi_vec scaled, residual, better, along, image; /* columns */
    double *shift;                                   /* k: centre . scaled */
    double *diagonal;                                /* columns x k */
    mgvi_class_hessian hessian;
    bool has_hessian;
    int64_t most_pairs; /* 0: never by pairs */
    double *basis;      /* pairs x k */
    int32_t *of_pair;   /* which of the rows each pair is of */
    double *products;   /* of a few rows with all of these */
    double *matrix;     /* pairs x pairs */
    double *right;      /* pairs */
    double *dense;      /* rows x columns */
    double *room;       /* a row */
} mgvi_class_system;

/* Whether the problem's operator has rows to read. */
bool mgvi_class_system_reads(mgvi_op *op);
/* Memory from the run's arena; set rho before the first solve. */
mgv_status mgvi_class_system_new(mgvi_run *run, const mgvi_class_smooth *smooth,
                                 mgvi_class_system *out);
/* direction = -H^-1 g for the classes that have p > 0 now. *products: an idea of how many products
 * conjugate gradients take, brought up to date when they were used. */
mgv_status mgvi_class_system_solve(mgvi_class_system *c, const mgvi_vec *g, double *products,
                                   mgvi_vec *direction);
#endif
