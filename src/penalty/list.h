/* penalty/list.h - the separable penalties: X(name, coefficients for tests, formula), and those of
 * a whole vector, NAME.c: X(name). */
#ifndef MGVI_PENALTY_LIST_H
#define MGVI_PENALTY_LIST_H

#include "penalty/box.h"
#include "penalty/enet.h"
#include "penalty/l1.h"
#include "penalty/l1_nonneg.h"
#include "penalty/l2.h"
#include "penalty/lp.h"
#include "penalty/nonneg.h"

#define MGVI_PENALTIES(X)                                                                          \
    X(l2, scale_only, "scale/2 w^2")                                                               \
    X(l1, scale_only, "scale |w|")                                                                 \
    X(l1_nonneg, scale_only, "scale w, w >= 0")                                                    \
    X(enet, two_scales, "scale |w| + a/2 w^2")                                                     \
    X(lp, power, "scale/p |w|^p, 1 < p <= 2")                                                      \
    X(nonneg, scale_only, "w >= 0")                                                                \
    X(box, bounds, "a <= w <= b")

#define MGVI_WHOLE_PENALTIES(X) X(entropy) X(group) X(linf) X(owl) X(nuclear) X(tv1d) X(tv2d)
#endif
