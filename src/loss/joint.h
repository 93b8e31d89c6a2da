/* loss/joint.h - what a loss of a whole row of scores provides: z has one score per class, and the
 * row belongs to class c. Every function is of s G, as in loss/registry.h. docs/terms.md, "Losses
 * of many classes". */
#ifndef MGVI_LOSS_JOINT_H
#define MGVI_LOSS_JOINT_H

#include "base/formula.h"

#include <stdint.h>

typedef struct mgvi_joint_ops {
    double (*value)(double s, const double *z, int32_t k, int32_t c);
    /* `u` may be `z`. */
    void (*grad)(double s, const double *z, int32_t k, int32_t c, double *u);
    /* Of a u in the domain, which for every joint loss is s (p - e_c), p in the simplex. */
    double (*conj)(double s, const double *u, int32_t k, int32_t c);
} mgvi_joint_ops;

/* Moves u into the domain: p = u/s + e_c loses its negative entries and is scaled to sum 1. */
void mgvi_joint_clip(double s, double *u, int32_t k, int32_t c);
#endif
