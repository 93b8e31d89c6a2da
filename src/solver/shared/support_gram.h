/* shared/support_gram.h - Q'Q over the support of a sparse_quadratic. */
#ifndef MGVI_SOLVER_SUPPORT_GRAM_H
#define MGVI_SOLVER_SUPPORT_GRAM_H

#include "solver/shared/sparse_quadratic.h"

/* The upper triangle of Q'Q over the support, support_count numbers apart, into H. */
mgv_status mgvi_support_gram(mgvi_quadratic *q, double *H);
#endif
