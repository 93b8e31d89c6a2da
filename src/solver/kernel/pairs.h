/* kernel/pairs.h - pairwise coordinate ascent on a dense block of a kernel;
 * docs/algorithms/kernel.md.
 *
 *   max over lo <= c <= hi, sum c = 0 of  y'c - 1/2 c'(K + diag(r)) c,   v = y - (K + diag(r)) c
 * (6)
 *
 * A step raises c_i and lowers c_j by the same t: i = argmax of v_i over c_i < hi_i; j = argmax of
 * (v_i - v_j)^2 / (K_ii + r_i + K_jj + r_j - 2 K_ij) over c_j > lo_j, v_j < v_i; t is the exact
 * minimum, cut at the box (Fan, Chen and Lin, 2005). (7) Place 0 is a point at the origin of the
 * feature space, with y = 0: where it may move (no intercept) sum c = 0 is no condition, and where
 * it may not it is never chosen. */
#ifndef MGVI_SOLVER_PAIRS_H
#define MGVI_SOLVER_PAIRS_H

#include "base/memory.h"
#include "simd/simd.h"

typedef struct mgvi_pairs {
    mgv_ctx *ctx;
    mgv_dtype dtype;        /* of K */
    int64_t size, capacity; /* places in use with place 0; capacity is a multiple of 16 */
    void *K;                /* capacity x capacity, rows of the places */
    double *c, *v, *lo, *hi;
    double *diagonal;   /* K_ii + r_i */
    double *ridge;      /* r_i */
    double *up, *down;  /* 0 where c may rise (fall), else -infinity (infinity) */
    double most, least; /* of v over the places that may rise, that may fall */
    bool rough;         /* set before there is room: steps in float32, K too, no ridge or limit */
    float *fv, *fup, *fdown, *fdiagonal;
    double *before; /* c when v was last brought up to date */
    double limit;   /* > 0: a run ends when some |c_i| is beyond it, */
    bool beyond;    /* which has happened */
} mgvi_pairs;

/* Room for `capacity` places at least; what is in use is copied. New places do not move. */
mgv_status mgvi_pairs_grow(mgvi_pairs *p, mgvi_arena *arena, int64_t capacity);
static inline char *mgvi_pairs_row(const mgvi_pairs *p, int64_t place)
{
    const size_t size = p->dtype == MGV_F32 ? sizeof(float) : sizeof(double);
    return (char *)p->K + (size_t)(place * p->capacity) * size;
}
/* K is symmetric: the columns of the places from `first` to `end` from their rows. */
void mgvi_pairs_mirror(mgvi_pairs *p, int64_t first, int64_t end);
/* Whether each place may move, from c, lo and hi. */
void mgvi_pairs_mark(mgvi_pairs *p);
/* `most` and `least` from v as it is. */
void mgvi_pairs_measure(mgvi_pairs *p);
/* Steps until most - least <= eps or a c beyond `limit`, at most `most_steps`; returns their
 * number. */
int64_t mgvi_pairs_run(mgvi_pairs *p, double eps, int64_t most_steps);
#endif
