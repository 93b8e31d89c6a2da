/* kernel/kernel_margin.h - what both ways of kernel_svm.c share: the state, and what a round is
 * worth; docs/algorithms/kernel.md. */
#ifndef MGVI_SOLVER_KERNEL_MARGIN_H
#define MGVI_SOLVER_KERNEL_MARGIN_H

#include "op/kernel.h"
#include "solver/kernel/cores.h"

enum { MGVI_KERNEL_FLAT_ROUNDS = 5 }; /* without progress before we stop */

/* Plain numbers of the state, saved as they are. */
typedef struct mgvi_kernel_margin_memory {
    int64_t size; /* |W| */
    double eps;
    double estimate; /* of the relative gap */
    double rounding; /* on cores: the same, when f was last made from c */
    double primal;   /* of the best w, for soft losses; -margin for the hard one */
    double dual;     /* largest value so far */
    int64_t flat;    /* rounds without progress */
    int64_t updates; /* of f since it was made from c alone */
    int64_t rounds;  /* on cores */
    int64_t claims;  /* that the gap is small enough, of those */
    int64_t holding; /* rows of the last core whose block is kept */
    int64_t care;    /* mgvi_cores_care of the next one */
    bool exact;      /* float32 values were given up, (10) */
    bool below_precision;
} mgvi_kernel_margin_memory;

typedef struct mgvi_kernel_margin {
    mgvi_kernel_op *kernel;
    mgvi_pairs pairs;
    mgvi_pairs_core core;
    bool on_cores; /* (18) to (20), no W */
    mgvi_cores cores;
    int64_t *W;     /* rows of the working set; place t + 1 of `pairs` */
    bool *in_W;     /* per row */
    double *bound;  /* most |c_i| */
    double *ridge;  /* r_i */
    double limit;   /* hard margin: multipliers beyond it are below precision; else 0 */
    double *f;      /* K c */
    double *before; /* c of the round before */
    mgvi_vec now;   /* c and the intercept */
    mgvi_vec w, u;  /* what is shown: the best w so far, and u */
    double *z;      /* margins outside W while rows are chosen */
    int64_t *order;
    mgvi_kernel_margin_memory m;
} mgvi_kernel_margin;

/* What a last bit of the largest c is worth: no ascent makes violations smaller but by chance. */
double mgvi_kernel_margin_least_eps(const mgvi_kernel_margin *s);
/* What the round is worth: the intercept, the best w so far, u, and the estimate of the gap. */
void mgvi_kernel_margin_appraise(mgvi_run *run, mgvi_kernel_margin *s);

/* core_rounds.c: (18) to (20). `most` is the largest bound of a c. */
mgv_status mgvi_core_rounds_open(mgvi_run *run, mgvi_kernel_margin *s, double most);
/* A round. More digits follow, f in float64, then float64 cores, when those there are have been
 * used up. */
mgv_status mgvi_core_rounds_step(mgvi_run *run, mgvi_kernel_margin *s);
double mgvi_core_rounds_estimate(const mgvi_run *run, const mgvi_kernel_margin *s);
#endif
