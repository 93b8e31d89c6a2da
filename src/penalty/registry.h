/* penalty/registry.h - the registered penalties. Those that separate are tables of scalar
 * functions, R(w) = sum_j r(c_j, w_j) with scale = strength * weight_j, a and b as the penalty
 * documents them; the others are functions of a whole vector. backend/terms.h has one set of calls
 * for both. */
#ifndef MGVI_PENALTY_REGISTRY_H
#define MGVI_PENALTY_REGISTRY_H

#include "penalty/whole.h"

typedef struct mgvi_penalty_ops {
    const char *name, *summary;
    int index;    /* separable: position in list.h */
    unsigned can; /* MGVI_VALUE ... of base/formula.h; a function not in it is NULL */
    /* Reads what belongs to the penalty alone; *data lives in the arena. NULL: it has nothing. */
    mgv_status (*bind)(mgvi_arena *arena, const mgvi_penalty_input *input, const void **data);
    const char *words; /* R(w) / strength in a formula, NULL: NAME(w), or as its bits say */
    const mgvi_whole_ops *whole; /* NULL: the scalar functions below; else those are all NULL */
    real (*value)(mgvi_coef c, real w);
    real (*grad)(mgvi_coef c, real w);
    real (*curv)(mgvi_coef c, real w);
    real (*prox)(mgvi_coef c, real w, real step);
    real (*kkt)(mgvi_coef c, real w, real g); /* distance of -g to the subdifferential at w */
    real (*conj)(mgvi_coef c, real v);
    real (*mirror)(mgvi_coef c, real v);     /* gradient of the conjugate at v */
    real (*dual_clip)(mgvi_coef c, real v);  /* nearest v with conj finite */
    mgvi_coef (*sample_coef)(mgvi_rng *rng); /* a random legal coefficient, for tests */
} mgvi_penalty_ops;

int mgvi_penalty_count(void);
const mgvi_penalty_ops *mgvi_penalty_at(int index);          /* NULL: out of range */
const mgvi_penalty_ops *mgvi_penalty_find(const char *name); /* NULL: unknown */

mgvi_coef mgvi_penalty_sample_scale(mgvi_rng *rng); /* a sample_coef: a random scale alone */
#endif
