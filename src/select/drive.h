/* select/drive.h - lanes through the driver: the fits of a point of a path, one per fold and one of
 * all rows. A lane is the problem with weight 0 for the rows it does not train on; with many
 * classes its run may be a family, and the votes of all members are what is judged. */
#ifndef MGVI_SELECT_DRIVE_H
#define MGVI_SELECT_DRIVE_H

#include "op/op.h"
#include "select/ballot.h"
#include "select/selection.h"

typedef struct mgvi_drive_lane {
    mgv_data data; /* the selection's, with weights of its own */
    mgv_problem *problem;
    mgv_solver *solver;
    mgvi_ballot ballot; /* many classes: in its place, for the rows it does not train on, */
    int64_t *held;      /* as the split numbers them */
    mgvi_vec shown, Aw; /* a margin with intercepts: the iterate with those that are best for it */
} mgvi_drive_lane;

typedef struct mgvi_drive {
    mgv_selection *s;
    mgvi_path *path;
    mgvi_arena arena;
    mgv_settings settings; /* of the lanes */
    mgvi_drive_lane lanes[MGVI_SPLIT_LANES];
    mgvi_vec z;          /* one lane's A w, or scores of the validation rows */
    mgvi_op *validation; /* X of val:FILE, */
    mgvi_points *points; /* or its rows as a kernel's points, and room for a model's examples */
    int64_t *example;
    double *weight;
    mgv_status failed; /* memory for scores was refused */
    bool many;         /* scores are of classes, or of pairs of them */
    double *coef;      /* work space: a model's weights, outputs x mgvi_problem_coefs() */
    double *intercept; /* outputs */
    bool graded;       /* lanes run at this strength, not at that of their settings */
    double lambda, mu;
} mgvi_drive;

/* Binds the lanes of d->s under d->settings; after a failure too it has to be closed. */
mgv_status mgvi_drive_open(mgvi_drive *d);
void mgvi_drive_close(mgvi_drive *d);

/* drive_points.c: what the weights w of every lane are worth on the rows it does not train on, as
 * the next point of the path. w[l] is NULL for lanes that the limit has left out. */
mgv_status mgvi_drive_add_point(mgvi_drive *d, mgvi_path_point point, const mgvi_vec *const *w);
#endif
