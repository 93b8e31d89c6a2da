/* select/walk.h - one problem, or one for each of many classes, under falling strengths, each run
 * started from the last answer and each answer certified; docs/algorithms/path.md. */
#ifndef MGVI_SELECT_WALK_H
#define MGVI_SELECT_WALK_H

#include "select/ballot.h"
#include "solver/classes/family.h"
#include "solver/driver.h"
#include "solver/keeper.h"

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
    mgvi_keeper keeper;
    uint64_t print; /* of the problem, the strengths and the settings */
    /* Where the next point begins: one pair, or one of every class. Kept where checkpoints are asked
     * for, and what one has left. */
    mgvi_member_start *start;
    int64_t starts;
    mgv_solver *running; /* of the point under way; NULL: none */
    void *state;         /* that a checkpoint has left of its run; NULL: it begins */
    size_t state_size;
};

/* Binds the problem and finds the strengths. */
mgv_status mgvi_walk_new(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                         mgv_path **out);
/* Solves the next point; *out is its solver, which lives until the next call; NULL: there is no
 * point or no time left. After a failure the same point may be tried again. */
mgv_status mgvi_walk_next(mgv_path *path, const mgv_solver **out);
void mgvi_walk_free(mgv_path *path); /* NULL is accepted */

/* walk_save.c: the points that are done, the start of the next one and, where it is one run, the state
 * of that. One that is many runs begins again. */
uint64_t mgvi_walk_print(const mgv_path *path, const mgv_settings *settings); /* while unsolved */
mgv_status mgvi_walk_begin(mgv_path *path, const mgv_settings *settings);
/* Where the next point begins: where the last one ended, or the checkpoint has said. */
mgv_status mgvi_walk_start(mgv_path *path, mgv_solver *solver);
mgv_status mgvi_walk_save(void *path, const void *solver); /* of the run under way */
/* After a point, or where a budget has ended it; and where one is spent before the next begins. */
mgv_status mgvi_walk_between(mgv_path *path);
mgv_status mgvi_walk_saved(mgv_path *path, const mgv_solver *solver);
/* Bytes of a checkpoint; NULL: it is the file `name`. */
mgv_status mgvi_walk_parse(mgv_path *path, const char *name, const void *bytes, size_t size);
void mgvi_walk_forget(mgv_path *path);
#endif
