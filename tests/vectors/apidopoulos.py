"""Trajectories of Apidopoulos, Poggio, Rosasco, Villa: Iterative regularization in classification
via hinge loss diagonal descent."""
from trajectory import clouds, save, signed, times, times_t


def diagonal_descent(A, L, lambda0, alpha, steps):
    """Algorithm 2, (4.4)-(4.7); Algorithm 1 where alpha = 0. lambda_t = lambda0/(t + 1), t = 0, 1,
    ..., u_0 = 0, momentum t/(t + alpha)."""
    n = len(A)
    u, before = [0.0] * n, [0.0] * n
    w, us = [[0.0] * len(A[0])], [u]
    for t in range(steps):
        beta = t / (t + alpha) if alpha else 0.0
        z = [a + beta * (a - b) for a, b in zip(u, before)]
        slope = [1 - s for s in times(A, [-v for v in times_t(A, z)])]
        box = (t + 1) / lambda0
        before, u = u, [min(0.0, max(-box, a - g / L)) for a, g in zip(z, slope)]
        us.append(u)
        w.append([-v for v in times_t(A, u)])
    return w, us


X, y = clouds(1)
for name, alpha in (("apidopoulos-alg1", 0), ("apidopoulos-alg2", 3)):
    w, u = diagonal_descent(signed(X, y), 40.0, 2.0, alpha, 50)
    save(name, name, "lambda0=2 lipschitz=40", "lambda_t = 2/(t + 1), gamma = 1/40", X, y, w, u)
