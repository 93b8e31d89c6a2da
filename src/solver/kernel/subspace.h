/* kernel/subspace.h - Newton's method over the span of a few directions and the intercepts, for
 * losses with a second derivative; docs/algorithms/kernel_subspace.md (3) to (5).
 *   phi(theta, b) = l'theta + theta'Q theta/2 + sum_i s_i G_i(z_i),  z = z_0 + sum_j theta_j e_j +
 * b The images e_j of the directions are known, so that a step costs passes over rows x lanes and
 * no product with A. */
#ifndef MGVI_SOLVER_SUBSPACE_H
#define MGVI_SOLVER_SUBSPACE_H

#include "problem/problem.h"
#include "solver/shared/scaled_cholesky.h"

typedef struct mgvi_subspace {
    const mgv_problem *problem;
    /* The caller fills these: `count` directions, at most `most`. */
    int most, count;
    const double **image; /* e_j, rows x lanes */
    double *quadratic;    /* Q, most x most, both triangles */
    double *linear;       /* l */
    mgvi_vec z;           /* z_0 on entry, z on return */
    mgvi_vec u;           /* on return: the losses' slopes at z */
    double *theta;
    double *b; /* the intercept of each lane: changed by what was found */
    double value;
    /* Work space. */
    mgvi_vec step, trial;
    double *ahead; /* phi's step in theta and b */
    double *partial;
    int64_t blocks;
    mgvi_scaled_cholesky system;
} mgvi_subspace;

/* For losses of rows with a curvature, and for softmax. */
mgv_status mgvi_subspace_init(mgvi_subspace *s, const mgv_problem *problem, mgvi_arena *arena,
                              int most);
/* From theta = 0, until a step promises less than `enough`. */
mgv_status mgvi_subspace_minimise(mgvi_subspace *s, double enough);

/* Directions: a new one, and the last displacements, one less than `most`, from the newest. */
typedef struct mgvi_directions {
    double *first, *first_image;
    double *past, *images; /* displacements and their images */
} mgvi_directions;
typedef struct mgvi_past {
    int64_t count, newest;
} mgvi_past;

/* Direction j and its image: the new one, 0, then displacements from the newest. */
double *mgvi_subspace_direction(const mgvi_subspace *s, const mgvi_directions *d,
                                const mgvi_past *past, int j, double **image);
/* Fills the quadratic part of lambda |A'c|^2/2 over those directions, in theta; NULL: over none. */
void mgvi_subspace_describe(mgvi_subspace *s, const mgvi_directions *d, const mgvi_past *past,
                            const mgvi_vec *image_c);
/* The displacement that theta is and its image, which are remembered in the place of the oldest. */
void mgvi_subspace_move(const mgvi_subspace *s, const mgvi_directions *d, mgvi_past *past,
                        mgvi_vec *moved, mgvi_vec *image);
#endif
