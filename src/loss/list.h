/* loss/list.h - the scalar losses: X(name, coefficients for tests, formula), and those of many
 * classes, NAME.c: X(name). */
#ifndef MGVI_LOSS_LIST_H
#define MGVI_LOSS_LIST_H

#include "loss/absolute.h"
#include "loss/epsilon_insensitive.h"
#include "loss/equal.h"
#include "loss/exponential.h"
#include "loss/hinge.h"
#include "loss/huber.h"
#include "loss/interval.h"
#include "loss/logistic.h"
#include "loss/margin.h"
#include "loss/smooth_hinge.h"
#include "loss/softplus_hinge.h"
#include "loss/sqrt_hinge.h"
#include "loss/squared.h"
#include "loss/squared_hinge.h"

#define MGVI_LOSSES(X)                                                                             \
    X(hinge, scale_only, "max(0, 1 - z)")                                                          \
    X(squared_hinge, scale_only, "1/2 max(0, 1 - z)^2")                                            \
    X(smooth_hinge, width, "max(0, 1 - z), its kink a parabola of width b")                        \
    X(sqrt_hinge, width, "b psi((1 - z)/b), psi(t) = (t + sqrt(1 + t^2))/2")                       \
    X(softplus_hinge, width, "b ln(1 + e^((1 - z)/b))")                                            \
    X(logistic, scale_only, "log(1 + e^-z)")                                                       \
    X(exponential, scale_only, "e^-z")                                                             \
    X(margin, scale_only, "hard: z >= 1")                                                          \
    X(squared, target, "1/2 (z - a)^2")                                                            \
    X(huber, target, "1/2 (z - a)^2, linear where |z - a| > b")                                    \
    X(equal, target, "hard: z = a")                                                                \
    X(interval, bounds, "hard: a <= z <= b")                                                       \
    X(absolute, target, "|z - a|")                                                                 \
    X(epsilon_insensitive, bounds, "max(0, a - z, z - b): how far z is from [a, b]")

#define MGVI_JOINT_LOSSES(X) X(softmax) X(crammer_singer)
#endif
