/* loss/joint.h - what a loss of a whole row of scores provides: z has one score per class, and the
 * row belongs to class c. Every function is of s G, as in loss/registry.h. docs/terms.md, "Losses
 * of many classes". */
#ifndef MGVI_LOSS_JOINT_H
#define MGVI_LOSS_JOINT_H

#include "base/formula.h"

#include <stdint.h>

struct mgvi_pass_kernels; /* simd/pass_kernels.h */

typedef struct mgvi_joint_ops {
    double (*value)(double s, const double *z, int32_t k, int32_t c);
    /* `u` may be `z`. */
    void (*grad)(double s, const double *z, int32_t k, int32_t c, double *u);
    /* Of a u in the domain, which for every joint loss is s (p - e_c), p in the simplex. */
    double (*conj)(double s, const double *u, int32_t k, int32_t c);
    /* NULL: by `value` and `grad`. The float32 scores of `rows` rows, `width` apart, become their
     * gradients, padding behind the k of each becomes 0; the sum of the values. s may be NULL: 1.
     */
    double (*rows_f32)(const struct mgvi_pass_kernels *kernels, float *z, int rows, int32_t k,
                       int width, const int32_t *c, const float *s);
} mgvi_joint_ops;

/* Moves u into the domain: p = u/s + e_c loses its negative entries and is scaled to sum 1. */
void mgvi_joint_clip(double s, double *u, int32_t k, int32_t c);
#endif
