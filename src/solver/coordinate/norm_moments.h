/* coordinate/norm_moments.h - |x + c y|_q for even whole q and any c, while x and y move along rows:
 *   sum_j (x_j + c y_j)^q = sum_k binomial(q, k) M_k c^k,   M_k = sum_j x_j^(q-k) y_j^k
 * docs/algorithms/accelerated_coordinate.md (7). */
#ifndef MGVI_SOLVER_NORM_MOMENTS_H
#define MGVI_SOLVER_NORM_MOMENTS_H

#include <stdbool.h>
#include <stdint.h>

enum { MGVI_MOMENTS_MOST = 12 };

typedef struct mgvi_norm_moments {
    int q;
    double unit; /* x and y are divided by it, so that no power overflows */
    double M[MGVI_MOMENTS_MOST + 1];
} mgvi_norm_moments;

/* Whether q is even, whole and small enough. */
bool mgvi_norm_moments_serve(double q);
/* Of n coordinates, afresh. */
void mgvi_norm_moments_sum(mgvi_norm_moments *m, const double *x, const double *y, int64_t n);
/* One coordinate moves from (x, y) by (dx, dy). */
void mgvi_norm_moments_move(mgvi_norm_moments *m, double x, double y, double dx, double dy);
/* |x + c y|_q */
double mgvi_norm_moments_at(const mgvi_norm_moments *m, double c);
#endif
