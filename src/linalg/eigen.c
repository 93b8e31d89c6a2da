/* eigen.c - cyclic Jacobi: rotations in the plane of p and q that make S_pq zero,
 *   t = sign(z) / (|z| + sqrt(1 + z^2)),  z = (S_qq - S_pp) / (2 S_pq),
 * until what is left beside the diagonal is lost in rounding. E is kept transposed on the way, so
 * that a rotation runs along two rows of memory. */
#include "linalg/eigen.h"

#include <float.h>
#include <math.h>

enum { SWEEPS = 40 }; /* 3 to 10 are usual */

static void rotate_rows(double *x, double *y, int64_t n, double c, double s)
{
    for (int64_t i = 0; i < n; i++) {
        const double a = x[i], b = y[i];
        x[i] = c * a - s * b;
        y[i] = s * a + c * b;
    }
}

static void rotate(int64_t n, double *S, double *Et, int64_t p, int64_t q)
{
    const double off = S[p * n + q], z = (S[q * n + q] - S[p * n + p]) / (2 * off);
    const double t = copysign(1 / (fabs(z) + hypot(1, z)), z);
    const double c = 1 / hypot(1, t), s = c * t;
    rotate_rows(S + p * n, S + q * n, n, c, s);
    for (int64_t i = 0; i < n; i++) {
        const double a = S[i * n + p], b = S[i * n + q];
        S[i * n + p] = c * a - s * b;
        S[i * n + q] = s * a + c * b;
    }
    S[p * n + q] = S[q * n + p] = 0;
    rotate_rows(Et + p * n, Et + q * n, n, c, s);
}

/* Whether anything was worth a rotation. */
static int sweep(int64_t n, double *S, double *Et)
{
    double largest = 0;
    int turned = 0;
    for (int64_t p = 0; p < n; p++)
        largest = fmax(largest, fabs(S[p * n + p]));
    for (int64_t p = 0; p < n; p++)
        for (int64_t q = p + 1; q < n; q++) {
            const double scale = sqrt(fabs(S[p * n + p])) * sqrt(fabs(S[q * n + q]));
            const double off = fabs(S[p * n + q]);
            if (off > DBL_EPSILON * scale && off > DBL_EPSILON * DBL_EPSILON * largest) {
                rotate(n, S, Et, p, q);
                turned = 1;
            }
        }
    return turned;
}

static void transpose(int64_t n, double *E)
{
    for (int64_t p = 0; p < n; p++)
        for (int64_t q = 0; q < p; q++) {
            const double a = E[p * n + q];
            E[p * n + q] = E[q * n + p];
            E[q * n + p] = a;
        }
}

/* Largest first: the rows of E' change places with their values. */
static void sort(int64_t n, double *Et, double *values)
{
    for (int64_t p = 0; p < n; p++) {
        int64_t most = p;
        for (int64_t q = p + 1; q < n; q++)
            most = values[q] > values[most] ? q : most;
        if (most == p)
            continue;
        const double v = values[p];
        values[p] = values[most];
        values[most] = v;
        rotate_rows(Et + p * n, Et + most * n, n, 0, 1);
    }
}

void mgvi_eigen_symmetric(int64_t n, double *S, double *E, double *values)
{
    for (int64_t p = 0; p < n; p++)
        for (int64_t q = 0; q < n; q++)
            E[p * n + q] = p == q;
    for (int k = 0; k < SWEEPS && sweep(n, S, E); k++)
        ;
    for (int64_t p = 0; p < n; p++)
        values[p] = S[p * n + p];
    sort(n, E, values);
    transpose(n, E);
}
