/* sweep/theta.h - the step theta_t of the methods for the hard margin that have one in their
 * papers; docs/algorithms/margin_baselines.md. At t = 1, 2, ... of T = max_iter iterations
 *   constant: theta     sqrt: theta/sqrt(t)     horizon: sqrt(ln n/T), n the rows with weight */
#ifndef MGVI_SOLVER_THETA_H
#define MGVI_SOLVER_THETA_H

#include "solver/solver_impl.h"

/* Plain numbers: part of a checkpoint, whose run may go on with another max_iter. */
typedef struct mgvi_theta {
    double first; /* at t = 1 */
    double falls; /* 1: like 1/sqrt(t), else 0 */
} mgvi_theta;

/* Of the run's settings. */
mgv_status mgvi_theta_read(mgvi_run *run, int64_t rows, mgvi_theta *out);
/* Whether the settings say nothing about it. */
bool mgvi_theta_is_free(const mgv_settings *settings);
/* At `iteration` = t - 1. */
double mgvi_theta_at(const mgvi_theta *theta, int64_t iteration);
/* Whether numbers from a file can be such a step. */
bool mgvi_theta_sound(const mgvi_theta *theta);
#endif
