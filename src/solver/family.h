/* solver/family.h - more than two classes by runs of two: each class against the rest, or every
 * two. Members are bound, solved and put away, several at once on the threads of the context, so
 * that only their weights stay. */
#ifndef MGVI_SOLVER_FAMILY_H
#define MGVI_SOLVER_FAMILY_H

#include "solver/driver.h"

struct mgvi_family {
    int64_t members;
    mgvi_summary *member; /* stop is MGV_STOP_NONE for one that has not run */
    double *coef;         /* members x mgvi_problem_coefs(), in the user's units */
    double *intercept;    /* members */
    double *length;       /* members: |w| in the operator's columns */
    int64_t impossible;   /* the member that proved there is no answer, -1: none */
    mgvi_vec proof;       /* its u */
    double seconds;       /* of all sittings; members overlap */
};

/* Makes `solver` the head of a family; its problem stands for every class of its data. */
mgv_status mgvi_family_new(mgv_solver *solver);
/* Runs the members that have no certificate yet. */
mgv_status mgvi_family_run(mgv_solver *solver);
/* Counts and values are sums; the seconds are the family's; gaps and margins those of the worst
 * member. The proof that one has no answer is the certificate of all. */
mgvi_summary mgvi_family_summary(const mgv_solver *solver);
#endif
