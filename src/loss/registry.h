/* loss/registry.h - the registered losses: tables of scalar functions, and those of many classes,
 * which are functions of a row of scores.
 * A loss is G(z) with its row's coefficient: scale s, and a, b as the loss documents them.
 * Every function is of s G: value s G(z); conj (s G)*(u) = s G*(u/s). */
#ifndef MGVI_LOSS_REGISTRY_H
#define MGVI_LOSS_REGISTRY_H

#include "base/formula.h"
#include "base/rng.h"

#include <stdint.h>

struct mgvi_pass_kernels; /* simd/pass_kernels.h */

/* What a loss of a whole row of scores provides: z has one score per class, and the row belongs to
 * class c. docs/terms.md, "Losses of many classes". */
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

typedef struct mgvi_loss_ops {
    const char *name, *summary;
    int index;    /* scalar: position in list.h */
    unsigned can; /* MGVI_VALUE ... of base/formula.h; a function not in it is NULL */
    const mgvi_joint_ops *joint; /* NULL: the scalar functions below; else those are all NULL */
    real (*value)(mgvi_coef c, real z);
    real (*grad)(mgvi_coef c, real z);
    real (*curv)(mgvi_coef c, real z);
    real (*prox)(mgvi_coef c, real z, real step);
    real (*conj)(mgvi_coef c, real u);
    real (*mirror)(mgvi_coef c, real u);    /* the gradient of conj where that is finite */
    real (*dual_clip)(mgvi_coef c, real u); /* nearest u with conj finite */
    /* argmax over u' of  z (u' - u) - r/2 (u' - u)^2 - (s G)*(u'):  exact dual coordinate step */
    real (*dual_step)(mgvi_coef c, real u, real z, real r);
    mgvi_coef (*sample_coef)(mgvi_rng *rng); /* a random legal coefficient, for tests */
} mgvi_loss_ops;

int mgvi_loss_count(void);
const mgvi_loss_ops *mgvi_loss_at(int index);          /* NULL: out of range */
const mgvi_loss_ops *mgvi_loss_find(const char *name); /* NULL: unknown */
#endif
