/* joint/class_smooth.h - the largest of k scores, smoothed around a centre: the rows' side of
 * class_newton; docs/algorithms/class_newton.md. */
#ifndef MGVI_SOLVER_CLASS_SMOOTH_H
#define MGVI_SOLVER_CLASS_SMOOTH_H

#include "solver/solver_impl.h"

typedef struct mgvi_class_smooth {
    mgvi_run *run;
    int64_t n;
    int32_t k;
    double alpha;
    double *z, *p, *centre; /* rows x classes: scores, the smoothed maximum's weights, (2)'s p^0 */
    double *lead;           /* per row: step up to which p_i stays where it is, along dz */
    double *steady;         /* and what such a row adds to the slope */
    /* work space */
    int64_t blocks;
    double *sums;  /* blocks x (k + MGVI_CLASS_SUMS) */
    double *small; /* k x (k + 2): the intercepts' system */
} mgvi_class_smooth;

enum { MGVI_CLASS_SUMS = 4 };

/* What a sweep over the rows has seen. */
typedef struct mgvi_class_sums {
    double loss;   /* sum_i s_i (max_j t_ij - t_ic) */
    double linear; /* sum_i s_i (1 - p_ic) */
    double moved;  /* sum_i s_i |p_i - p^0_i|^2 */
} mgvi_class_sums;

/* z, p and centre are allocated from the run's arena: p^0 = p = the own class. */
mgv_status mgvi_class_smooth_new(mgvi_run *run, mgvi_class_smooth *out);
/* p at z (2), and u = s (p - e_c). */
mgvi_class_sums mgvi_class_smooth_slopes(mgvi_class_smooth *c, mgvi_vec *u);
/* u of the p that there are. */
void mgvi_class_smooth_show(mgvi_class_smooth *c, mgvi_vec *u);
/* u of the affine p on the classes with p > 0, whatever signs it has. */
void mgvi_class_smooth_affine(mgvi_class_smooth *c, mgvi_vec *u);
/* Before a search along dz: which rows change nothing up to what step. */
void mgvi_class_smooth_along(mgvi_class_smooth *c, const mgvi_vec *dz);
/* sum_i s_i (p_i(z + step dz) - e_c) . dz_i */
double mgvi_class_smooth_slope(mgvi_class_smooth *c, const mgvi_vec *dz, double step);
/* Moves u = s (p - e_c) within the simplices towards sum_i u_i = 0, by rows that have more than
 * one class.                                                                                (8) */
mgv_status mgvi_class_smooth_balance(mgvi_class_smooth *c, mgvi_vec *u);
#endif
