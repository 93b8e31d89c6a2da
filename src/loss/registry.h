/* loss/registry.h - the registered losses: tables of scalar functions, and those of many classes,
 * which are functions of a row of scores (loss/joint.h).
 * A loss is G(z) with its row's coefficient: scale s, and a, b as the loss documents them.
 * Every function is of s G: value s G(z); conj (s G)*(u) = s G*(u/s). */
#ifndef MGVI_LOSS_REGISTRY_H
#define MGVI_LOSS_REGISTRY_H

#include "base/formula.h"
#include "base/rng.h"
#include "loss/joint.h"

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
