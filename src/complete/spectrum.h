/* complete/spectrum.h - the leading singular triples of a matrix V = L R' + scale T, low rank plus
 * sparse, which is never formed. A block of right vectors is kept from call to call, so that one
 * step of subspace iteration follows a matrix that changes slowly. docs/algorithms/completion.md */
#ifndef MGVI_COMPLETE_SPECTRUM_H
#define MGVI_COMPLETE_SPECTRUM_H

#include "base/rng.h"
#include "complete/factors.h"

typedef struct mgvi_spectrum {
    const mgvi_known *e;
    mgvi_rng rng;
    int64_t found;        /* singular triples at hand */
    double *s;            /* their values, falling */
    double *left, *right; /* m x found and n x found, no gaps */
    int64_t room;         /* columns there is memory for */
    double *spare_left;   /* as large as left and right: work */
    double *spare_right;
    double *small; /* room x room each: */
    double *G, *E, *M;
} mgvi_spectrum;

/* V: `low` may be NULL; T has `value` by rows and `by_col` by columns. */
typedef struct mgvi_low_plus_sparse {
    const mgvi_factors *low;
    double scale;
    const double *value, *by_col;
} mgvi_low_plus_sparse;

void mgvi_spectrum_init(mgvi_spectrum *s, const mgvi_known *e, uint64_t seed);
void mgvi_spectrum_free(mgvi_spectrum *s);
/* The state between two steps is the generator and the right vectors, n x found: those of a
 * checkpoint. */
mgv_status mgvi_spectrum_restore(mgvi_spectrum *s, const mgvi_rng *rng, const double *right,
                                 int64_t found);
/* One step with a block of `want` columns: what is at hand, and random ones. With `want` at least
 * min(m, n) the triples are exact. */
mgv_status mgvi_spectrum_step(mgvi_spectrum *s, const mgvi_low_plus_sparse *V, int64_t want);
/* How many columns a block takes that is to find `rank` triples. */
int64_t mgvi_spectrum_block(const mgvi_known *e, int64_t rank);
#endif
