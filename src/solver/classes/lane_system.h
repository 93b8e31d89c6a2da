/* classes/lane_system.h - what methods of Newton's kind share in the lanes of a block of problems of
 * two classes: systems (lambda I + A'diag(h) A) x = r of all lanes at once, gaps, and the loop;
 * docs/algorithms/multiclass.md, "Newton in lock-step". */
#ifndef MGVI_SOLVER_LANE_SYSTEM_H
#define MGVI_SOLVER_LANE_SYSTEM_H

#include "op/joint_pass.h"
#include "solver/classes/lane_metric.h"
#include "solver/classes/lockstep.h"

typedef struct mgvi_lane_system {
    mgv_ctx *ctx;
    const mgv_problem *p;
    mgvi_lane_metric metric;
    mgvi_joint_pass *pass; /* float32 products with H; NULL: those of the operator */
    mgvi_rng rng;
    mgvi_vec w, g;                         /* columns; g is A'u after a look */
    mgvi_vec residual, better, dir, image; /* of conjugate gradients */
    mgvi_vec z, u, h, dz;                  /* rows: A w, the dual point, curvatures, work space */
    bool moving[MGVI_LOCKSTEP_LANES];
    int32_t
        aged[MGVI_LOCKSTEP_LANES]; /* products that a lane's metric took last; 0: there is none */
    double primal[MGVI_LOCKSTEP_LANES]; /* the value of w, and the relative gap */
    double energy[MGVI_LOCKSTEP_LANES]; /* <x, H x> of the last system */
    double gap[MGVI_LOCKSTEP_LANES], before[MGVI_LOCKSTEP_LANES], best[MGVI_LOCKSTEP_LANES];
    int32_t idle[MGVI_LOCKSTEP_LANES]; /* steps since the gap fell */
} mgvi_lane_system;

/* out = x + t y, t of each lane. */
void mgvi_lanes_add(const mgvi_vec *x, const double *t, const mgvi_vec *y, mgvi_vec *out);
/* lambda <x, y> over the penalised columns, in lanes; to += lambda x there. */
void mgvi_lanes_ridge_dot(const mgvi_lane_system *s, const mgvi_vec *x, const mgvi_vec *y,
                          double *out);
void mgvi_lanes_add_ridge(const mgvi_lane_system *s, double factor, const mgvi_vec *x,
                          mgvi_vec *to);

/* The relative gaps of (w, u) with z = A w and g = A'u. */
void mgvi_lane_system_measure(mgvi_lane_system *s, const mgvi_vec *u);
/* Makes the metrics that are due for h; of lanes whose system was not solved with the last one
 * (NULL: any), with sums in float64. */
mgv_status mgvi_lane_system_refresh(mgvi_lane_system *s, const bool *failed);
/* x = H^-1 residual in the lanes that move, which leaves its rest there; a lane stops where its
 * square, as the metric measures it, is accuracy^2 of `first` (what it was, where that is 0), and
 * its part of the gap `most` (NULL: any). */
mgv_status mgvi_lane_system_solve(mgvi_lane_system *s, const double *accuracy, const double *most,
                                  double *first, mgvi_vec *x);
/* |rest|^2/(2 lambda), and |rest| of the intercept: what A'a - lambda w = rest adds to a gap. */
void mgvi_lane_system_part(const mgvi_lane_system *s, const mgvi_vec *rest, double *out);

/* dz = A x of the x that was solved for. Products with H are float32 as long as <x, H x> is by them
 * what it is by dz: not where columns lie far from 0 for their spread. */
void mgvi_lane_system_image(mgvi_lane_system *s, const mgvi_vec *x);

/* A method: its first look at s->w and s->z, and a step with the look after it, to a relative gap
 * of `goal`. MGV_E_LIMIT where a limit has cut them: w and z are then those of before. */
typedef struct mgvi_lane_method {
    mgv_status (*begin)(mgvi_lane_system *s, mgvi_arena *arena);
    mgv_status (*step)(mgvi_lane_system *s, double goal);
} mgvi_lane_method;
/* Until every lane is expected to have a relative gap of `tol`, or gets no nearer; memory from the
 * arena. out->u and out->w are there. */
mgv_status mgvi_lane_system_run(mgvi_lane_system *s, const mgvi_lane_method *method, double tol,
                                const double *const *start, mgvi_arena *arena,
                                mgvi_lockstep_result *out);
#endif
