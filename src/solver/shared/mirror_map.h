/* shared/mirror_map.h - w = grad R*(v) kept up to date while v moves along rows, in O(entries of the
 * row); docs/algorithms/mirror_coordinate.md.
 *
 * Every map here is  w_j = factor(S) t(v_j)  with a scalar function t and one sum S over all
 * columns:
 *   norm     R = 1/2 |w|_p^2   t = |v|^(q-1) sign v,    S = sum |v_j|^q,  factor = S^((2-q)/q)   (3)
 *   power    R = c/p |w|_p^p   t = |v/c|^(q-1) sign v,  no sum,           factor = 1             (4)
 *   entropy  R of (P8)         t = e^(v/c),             S = sum t(v_j),   factor = 1/S           (5)
 * Kept per column: `base`, from which t and its derivative follow without a power:
 *   norm, power: t = base v, t' = (q-1) base;   entropy: t = base, t' = base/c. */
#ifndef MGVI_SOLVER_MIRROR_MAP_H
#define MGVI_SOLVER_MIRROR_MAP_H

#include "op/rows.h"
#include "problem/problem.h"

typedef enum mgvi_mirror_kind {
    MGVI_MIRROR_NORM,
    MGVI_MIRROR_POWER,
    MGVI_MIRROR_ENTROPY
} mgvi_mirror_kind;

typedef struct mgvi_mirror_map {
    mgvi_mirror_kind kind;
    int64_t d;
    double q, c;  /* c: the penalty's strength */
    int whole;    /* q - 2 where it is a small whole number, else -1: powers become products */
    double unit;  /* norm: v is divided by it before powers are taken, so that none overflows */
    double shift; /* entropy: subtracted from v/c */
    double sum, fresh_sum; /* S in these units; as it was when last summed up */
    double *v, *base, *t;
    double *at, *at_base, *at_t; /* work space: v, base and t along the row in hand */
    double *slope;               /* work space: a base */
    const struct mgvi_simd *simd;
    double rest; /* S without the row in hand */
    double lift; /* entropy: further shift of the point in hand */
} mgvi_mirror_map;

/* What is known at v + step a. */
typedef struct mgvi_mirror_point {
    double z;         /* a.w */
    double curvature; /* dz/dstep */
    double sum;
} mgvi_mirror_point;

/* The map of the problem's penalty: l2, lp or entropy. Where only the minimiser matters, that is
 * for constraints, 1/p |w|_p^p is replaced by 1/2 |w|_p^2, whose conjugate has bounded curvature. v
 * and its work space come from the arena; `radius` is the largest |a_i|_q, the start's unit. */
mgv_status mgvi_mirror_map_new(const mgv_problem *problem, mgvi_arena *arena, mgvi_mirror_map *out);
void mgvi_mirror_map_start(mgvi_mirror_map *map, double radius);
/* Everything from v afresh: running sums drift by rounding. */
void mgvi_mirror_map_refresh(mgvi_mirror_map *map);
void mgvi_mirror_map_weights(const mgvi_mirror_map *map, double *w);
/* Sums and steps along a row: a.x, and y += alpha a. */
double mgvi_entries_dot(const mgvi_mirror_map *map, const mgvi_entries *row, const double *x);
void mgvi_entries_axpy(const mgvi_mirror_map *map, const mgvi_entries *row, double alpha,
                       double *y);
/* a.w along a row. */
double mgvi_mirror_map_dot(const mgvi_mirror_map *map, const mgvi_entries *row);
/* Takes the row in hand and tells what is known at step 0. */
mgvi_mirror_point mgvi_mirror_map_begin(mgvi_mirror_map *map, const mgvi_entries *row);
mgvi_mirror_point mgvi_mirror_map_probe(mgvi_mirror_map *map, const mgvi_entries *row, double step);
/* v moves to where `point`, the last one, was probed. */
void mgvi_mirror_map_commit(mgvi_mirror_map *map, const mgvi_entries *row,
                            const mgvi_mirror_point *point);

/* L_i: the most curvature R* can have along the row (norm and entropy); for a power, whose
 * curvature has no bound, that of the secant from 0 to where a.w = 1. */
double mgvi_mirror_map_lipschitz(const mgvi_mirror_map *map, const mgvi_entries *row);
/* L_i of every row, or the sentence that says which is too large. `row` is work space. */
mgv_status mgvi_mirror_map_bounds(const mgvi_mirror_map *map, const mgvi_rows *rows, bool centred,
                                  double *row, double *lipschitz);
/* The share of L_i below which a curvature is not believed: it may vanish with v. */
double mgvi_mirror_map_floor(const mgvi_mirror_map *map);
/* R*(v) */
double mgvi_mirror_map_conj(const mgvi_mirror_map *map);
/* |v|_q for a norm: also |w|_p. */
double mgvi_mirror_map_norm(const mgvi_mirror_map *map);
/* u of this map times this is the u of the problem's own penalty with the same w. */
double mgvi_mirror_map_dual_factor(const mgvi_mirror_map *map);
#endif
