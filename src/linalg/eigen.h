/* linalg/eigen.h - eigenvalues of small symmetric matrices. */
#ifndef MGVI_LINALG_EIGEN_H
#define MGVI_LINALG_EIGEN_H

#include <stdint.h>

/* S = E diag(values) E', values falling, eigenvectors the columns of E (both n x n, row-major, no
 * gaps). S is destroyed. Cyclic Jacobi rotations: some 6 n^3 operations a sweep, few sweeps where S
 * is nearly diagonal, every eigenvalue to about 1e-15 |S|. On one thread, without allocation. */
void mgvi_eigen_symmetric(int64_t n, double *S, double *E, double *values);
#endif
