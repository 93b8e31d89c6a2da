/* joint/class_pairs.h - systems of many classes whose curvature is of few rows and directions,
 *   H = L + C C',   L = diag(lambda, rho),   C of the columns b (x) x_i, b the basis of a pair
 *   H^-1 G = L^-1 (G - C (I + C'L^-1 C)^-1 C'L^-1 G);                                       (5)
 * docs/algorithms/class_newton.md. */
#ifndef MGVI_SOLVER_CLASS_PAIRS_H
#define MGVI_SOLVER_CLASS_PAIRS_H

#include "op/rows.h"
#include "op/rowwise.h"
#include "solver/solver_impl.h"

enum { MGVI_CLASS_PAIRS = 3000 }; /* at most: half a second of processor time */

typedef struct mgvi_class_pairs {
    mgvi_run *run;
    double rho; /* curvature of the intercepts' proximal term */
    mgvi_rows *rows;
    mgvi_rowwise by_rows;
    /* the rows */
    mgvi_view view;
    int64_t *list;     /* as rows of the stored matrix */
    int32_t *mine;     /* as rows of the problem */
    double *row_scale; /* NULL: 1 */
    /* their pairs, which the caller writes */
    int64_t pairs, most_pairs; /* most_pairs 0: there is no room */
    double *basis;             /* pairs x k */
    int32_t *of_pair;          /* which of the rows each pair is of */
    /* work space */
    mgvi_vec scaled, image; /* columns */
    double *shift;          /* k: centre . scaled */
    double *products;       /* of a few rows with all of these */
    double *matrix;         /* pairs x pairs */
    double *right;          /* pairs */
    double *dense;          /* 2 panels of rows x columns; one row where they are sparse */
    double *room;           /* a row */
} mgvi_class_pairs;

/* Memory from the run's arena; the matrix has `bytes` at most, there (NULL: the arena's, too). rho is
 * the caller's. */
mgv_status mgvi_class_pairs_new(mgvi_run *run, double *matrix, double bytes, mgvi_class_pairs *out);
void mgvi_class_pairs_clear(mgvi_class_pairs *c);
/* Row i of the problem joins the rows; its place. */
int64_t mgvi_class_pairs_add(mgvi_class_pairs *c, int64_t i);
/* z = A w, g = A'u of these rows. */
void mgvi_class_pairs_mul(mgvi_class_pairs *c, const mgvi_vec *w, double *z);
void mgvi_class_pairs_mul_t(mgvi_class_pairs *c, const double *u, mgvi_vec *g);
/* L, by entry of a column vector. */
double mgvi_class_pairs_ridge(const mgvi_class_pairs *c, int64_t t);
/* I + C'L^-1 C, factored; MGV_E_NUMERIC: not positive. */
mgv_status mgvi_class_pairs_factor(mgvi_class_pairs *c);
/* x = -H^-1 g; z is work space of rows x classes. */
mgv_status mgvi_class_pairs_solve(mgvi_class_pairs *c, const mgvi_vec *g, double *z, mgvi_vec *x);
#endif
