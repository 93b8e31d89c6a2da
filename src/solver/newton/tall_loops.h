/* newton/tall_loops.h - the loops over rows of the smoothed hinge: ctx->simd->tall.
 * With t = u/alpha and r = sqrt(1 + t^2) the smoothed hinge is alpha psi(t),
 *     psi = (t + r)/2,  psi' = (1 + t/r)/2,  psi'' = 1/(2 r^3)                                  (1)
 * (docs/algorithms/newton.md); 1 - psi'(t) = psi'(-t) = 1/(2 r (r + t)) without cancellation. */
#ifndef MGVI_SOLVER_TALL_LOOPS_H
#define MGVI_SOLVER_TALL_LOOPS_H

#include <stdint.h>

typedef struct mgvi_tall_loops {
    /* Per row of weight v: t = v psi', t2 = -v psi'' u/alpha^2 (NULL: not wanted) and
     * h = v psi''/alpha (NULL: not wanted), 0 where psi'' < least; where `steep` (NULL: nowhere)
     * the majoriser v/(2 r alpha) in its place. */
    void (*coefficients)(const double *u, const double *v, const uint8_t *steep, int64_t n,
                         double alpha, double least, double *t, double *t2, double *h);
    /* h = v/(2 r alpha): with it a Newton step never overshoots */
    void (*majoriser)(const double *u, const double *v, int64_t n, double alpha, double *h);
    /* out = { sum v psi' e, sum v psi'' e^2/alpha } at u + s e, e = u1 - u: the slope and its
     * derivative along the line from u to u1 */
    void (*line)(const double *u, const double *u1, const double *v, int64_t n, double s,
                 double alpha, double out[2]);
} mgvi_tall_loops;
#endif
