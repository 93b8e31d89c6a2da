/* select/walk.h - one problem, or one for each of many classes, under falling strengths, each run
 * started from the last answer and each answer certified; docs/algorithms/path.md. */
#ifndef MGVI_SELECT_WALK_H
#define MGVI_SELECT_WALK_H

#include "select/ballot.h"
#include "solver/driver.h"

typedef struct mgvi_walk_point {
    double lambda, mu;
    mgvi_summary summary; /* stop is MGV_STOP_NONE before its run */
    int64_t nonzeros;
    double norm;        /* in the user's units */
    double train_score; /* accuracy, or the mean squared error */
} mgvi_walk_point;

struct mgv_path {
    mgv_ctx *ctx;
    mgvi_arena arena;
    mgv_settings settings; /* of the runs */
    mgv_problem *problem;
    bool along_mu;
    double largest; /* the first strength */
    int64_t count, done;
    mgvi_walk_point *point;
    mgv_solver *solver; /* of the last point */
    mgvi_ballot ballot; /* many runs: all rows */
    double spent;       /* seconds, */
    double passes;      /* and passes over the data */
    double deadline;    /* of the clock: of the whole path */
};

/* Binds the problem and finds the strengths. */
mgv_status mgvi_walk_new(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                         mgv_path **out);
/* Solves the next point; *out is its solver, which lives until the next call; NULL: there is no
 * point or no time left. After a failure the same point may be tried again. */
mgv_status mgvi_walk_next(mgv_path *path, const mgv_solver **out);
void mgvi_walk_free(mgv_path *path); /* NULL is accepted */
#endif
