/* newton/tall_sample.h - the rows that a stage of newton's path works with: a sample weighted by
 * leverage, all, or those near the hinge; docs/algorithms/newton.md. */
#ifndef MGVI_SOLVER_TALL_SAMPLE_H
#define MGVI_SOLVER_TALL_SAMPLE_H

#include "backend/terms.h"

typedef struct mgvi_tall_sample {
    /* all rows: the loss's weight, the leverage and its mean, who stands out */
    int64_t rows;
    const mgvi_coef_array *s;
    const float *leverage;
    double mean_leverage;
    const uint8_t *steep;
    /* out: those chosen, in order, with their weight over their probability (NULL: all alike) */
    int32_t *list;
    double *v;
    uint8_t *steep_chosen;
} mgvi_tall_sample;

/* Rows of stage `stage` of n rows; n for the last. */
int64_t mgvi_tall_stage_rows(int64_t n, int stage);
/* About `wanted` rows of positive weight, from a starting point `offset` in [0, 1). How many. */
int64_t mgvi_tall_sample_draw(const mgvi_tall_sample *p, int64_t wanted, double offset);
/* The rows of positive weight that `place` (tall_place.h) keeps, with probability 1. */
void mgvi_tall_sample_kept(const mgvi_tall_sample *p, const uint8_t *place);
#endif
