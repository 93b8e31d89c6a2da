/* kernel/cores.h - the dual of a kernel's hinge by rounds on random balanced cores;
 * docs/algorithms/kernel.md.
 *
 *   z = y - f,  f = K c;  rows may rise (c < hi) or fall (c > lo);  a = the mean of z over the
 * free, U = {may rise, z > a + edge},  L = {may fall, z < a - edge} (18) core = every free row, q/2
 * rows of U and q/2 of L: 9 of 10 at random, 1 the worst         (19) ascend on the core (7), (11)
 * until its violation is a tenth of that of all rows f += K dc, over the rows that have moved (20)
 *
 * Where most rows end at a bound, kernel values are what costs: of the worst rows, which all lie in
 * one corner, most are satisfied once a few have moved, random ones are as different as the data
 * are. Taking as many that rise as fall keeps sum c = 0 from capping either, whatever the
 * intercept. Values of the core, and those of (20) until the answer is near, are float32, made
 * where they are used (op/kernel_rough.c). With f in float64 errors of the core's values are of the
 * order of dc, which goes to 0. */
#ifndef MGVI_SOLVER_CORES_H
#define MGVI_SOLVER_CORES_H

#include "op/kernel.h"
#include "solver/kernel/pairs_core.h"
#include "solver/solver_impl.h"

/* How good the values are: all float32; f in float64; the core in float64, too. */
typedef enum mgvi_cores_care {
    MGVI_CORES_ROUGH,
    MGVI_CORES_EXACT_F,
    MGVI_CORES_EXACT
} mgvi_cores_care;

typedef struct mgvi_cores {
    mgvi_run *run;
    mgvi_kernel_op *kernel;
    const double *bound; /* most |c_i| */
    double *c, *f;       /* the caller's: coefficients, K c */
    mgvi_arena *room;    /* of the block, */
    mgvi_arena *next;    /* of a larger one, while it is copied */
    mgvi_pairs pairs;
    mgvi_pairs_core inner;
    int64_t *rows;   /* of the core; place t + 1 of `pairs` */
    int64_t *held;   /* the same of the round before, where its block is kept, */
    int64_t holding; /* and how many; the caller's to keep */
    int64_t *sides;  /* U from the front, L from the back */
    int64_t *loose;  /* free rows */
    int64_t *near;   /* as `sides`, rows between a and the free rows' mean */
    int64_t near_count[2];
    double *key;         /* per row: the more violated the smaller */
    double *step;        /* dc of the rows that have moved */
    double most, least;  /* of z over the rows that may rise, that may fall */
    double centre;       /* a of (18): the best intercept for f, */
    double above, below; /* and where U begins and L ends */
    int64_t most_loose;  /* free rows that a core may have */
    int64_t count[3];    /* of U, L and free rows */
    int64_t moved;       /* rows, in the last round */
} mgvi_cores;

/* Whether a problem is one for cores: a kernel whose rough values can be made, or whose rows are
 * kept; a hinge. */
bool mgvi_cores_fit(const mgv_problem *p);
/* Set run, kernel, bound, c and f before. MGV_E_MEMORY, MGV_E_LIMIT. */
mgv_status mgvi_cores_open(mgvi_cores *k);
/* most, least and centre, from c and f as they are: once they are there, and within a round. */
void mgvi_cores_survey(mgvi_cores *k);
/* One round; `round` counts them. */
mgv_status mgvi_cores_round(mgvi_cores *k, int64_t round, mgvi_cores_care care);
#endif
