/* solver/sweep/restart.h - means of primal-dual iterates since the last restart, and when to begin
 * again from one; docs/algorithms/primal_dual.md (10), (11). */
#ifndef MGVI_SOLVER_RESTART_H
#define MGVI_SOLVER_RESTART_H

#include "solver/solver_impl.h"

/* A primal-dual pair with its products z = A w and p = A'u. */
typedef struct mgvi_point {
    mgvi_vec w, p; /* cols */
    mgvi_vec u, z; /* rows */
} mgvi_point;

/* Plain numbers, for checkpoints. */
typedef struct mgvi_restart_memory {
    int64_t length;   /* iterations since the restart */
    double at_start;  /* the error there */
    double last;      /* the candidate's error when last looked at */
    double best;      /* the least seen: an estimate of the relative gap */
    int64_t restarts; /* so far */
} mgvi_restart_memory;

typedef struct mgvi_restart {
    mgvi_run *run;
    mgvi_penalty penalty;
    mgvi_point mean;
    mgvi_vec v, r; /* work space: cols, rows */
    double unit;   /* |displacement| of the first iterate */
    mgvi_restart_memory memory;
} mgvi_restart;

mgv_status mgvi_point_new(mgvi_run *run, mgvi_point *out);
mgv_status mgvi_restart_new(mgvi_run *run, double unit, mgvi_restart *out);
/* Adds an iterate to the mean. */
void mgvi_restart_add(mgvi_restart *restart, const mgvi_point *now);
/* Looks every ten iterations; true when `now` was replaced by a better point to begin again from.
 */
bool mgvi_restart_look(mgvi_restart *restart, mgvi_point *now);
#endif
