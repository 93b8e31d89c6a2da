/* margin/exact_rows.h - the state of exact_margin and its rows in play, W; docs/algorithms/
 * exact_margin.md (2) to (4). */
#ifndef MGVI_SOLVER_EXACT_ROWS_H
#define MGVI_SOLVER_EXACT_ROWS_H

#include "solver/margin/active_set.h"
#include "solver/margin/interior.h"
#include "solver/margin/peel.h"
#include "solver/margin/working_set.h"
#include "solver/solver_impl.h"

enum {
    MGVI_EXACT_JOIN = 128,         /* rows that join W in a round */
    MGVI_EXACT_JOIN_INTERIOR = 64, /* the same for the interior point, which starts with three times
                                      that */
    MGVI_EXACT_PIVOT_WIDTH = 8192  /* columns up to which the active set keeps its rows dense */
};

typedef struct mgvi_exact_memory {
    bool interior;        /* the interior point is at work, */
    bool all;             /* on all rows */
    bool hinted;          /* u was a ray, which the judge sees next */
    bool doubtful;        /* W had a margin when (5) was asked, all rows may have none */
    bool below_precision; /* a kernel's margin */
    int64_t decided;      /* rows of W when (5) was last asked */
    double estimate;
} mgvi_exact_memory;

/* The active set on contrasts with a free intercept for every class; docs/algorithms/exact_margin.md,
 * "Many classes". The k conditions of the intercepts a on the dual are met by the method of
 * multipliers: K has rho Y Y' added, Y_r = e_c - e_j for the row of class c against j, and
 *   b solves (1) with the demands h = 1 - Y a_0,   a = a_0 + rho Y'b                          (11)
 *   a_0 <- a                                                                                  (12)
 * until Y'b is rounding. Without such intercepts it is the active set alone. */
typedef struct mgvi_class_intercepts {
    mgvi_active_set *set;
    const mgvi_working_set *work;
    int32_t k;    /* classes; 0: no such intercepts */
    double *a;    /* the intercepts */
    double *flow; /* Y'b */
} mgvi_class_intercepts;

typedef struct mgvi_exact_margin {
    mgvi_rows *rows;
    mgvi_working_set work;
    mgvi_active_set set;
    mgvi_class_intercepts classes;
    mgvi_interior ip;
    mgvi_interior linear; /* decides whether its rows have a margin: those of W that are left */
    mgvi_peeling peeling; /* when rows are peeled off */
    int32_t *W;           /* the interior point's rows, */
    int64_t size;
    double *b;   /* and what they start with */
    bool *in_W;  /* per row */
    double *acc; /* w in the row kernels' form */
    mgvi_vec w, u, z;
    int32_t *order;  /* candidates of a round */
    int64_t nothing; /* 1 + the number of a row of zeros in W without an intercept; 0: none */
    mgvi_rng start;  /* the generator after init: a resumed run repeats its rounds from here */
    mgvi_exact_memory m;
} mgvi_exact_margin;

/* All room, and the first W: random rows, or all of them where the interior point can do it. */
mgv_status mgvi_exact_begin(mgvi_run *run, mgvi_exact_margin *s);
/* Whether the interior point knows such problems; it begins, or takes over with the rows of W and
 * the b at hand. */
bool mgvi_exact_interior_fits(const mgv_problem *problem);
mgv_status mgvi_exact_use_interior(mgvi_run *run, mgvi_exact_margin *s);

static inline int64_t mgvi_exact_size(const mgvi_exact_margin *s)
{
    return s->m.interior ? s->size : s->work.size;
}
/* Rows join W; the interior point's have no weight yet. */
mgv_status mgvi_exact_join(mgvi_run *run, mgvi_exact_margin *s, const int32_t *rows, int64_t count);
/* Rows with little weight and much slack leave W; they come back when they are violated. */
void mgvi_exact_evict(mgvi_exact_margin *s);
/* (3): the `most` smallest z < 1 outside W to s->order; how many there are. */
int64_t mgvi_exact_violators(mgvi_exact_margin *s, const mgv_problem *problem, int64_t most);

/* Multiplications of a product of two rows of W. */
double mgvi_exact_pair_cost(const mgv_problem *problem);

/* mgvi_active_set_solve() for (11) and (12); each solve within the limits. */
mgv_status mgvi_class_intercepts_solve(mgvi_class_intercepts *c, int64_t most_solves,
                                       double most_work, mgvi_active_end *end);
#endif
