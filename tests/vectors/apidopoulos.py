"""Trajectories of Apidopoulos, Poggio, Rosasco, Villa: Iterative regularization in classification
via hinge loss diagonal descent."""
from math import exp, sqrt

from trajectory import clouds, dot, save, signed, times, times_t


def diagonal_descent(K, L, lambda0, alpha, first, steps, share=0.0):
    """Algorithm 2, (4.4)-(4.7) with K = XX' of signed rows; Algorithm 1 where alpha = 0. lambda_t =
    lambda0/t, t = 1, 2, ..., u_0 = -share/lambda0, momentum t/(t + alpha) from t = `first` on."""
    n = len(K)
    u = [-share / lambda0] * n
    before, us = u, [u]
    for k in range(steps):
        beta = (k + first) / (k + first + alpha) if alpha else 0.0
        z = [a + beta * (a - b) for a, b in zip(u, before)]
        g = [a - s / L for a, s in zip(z, times(K, z))]
        box = (k + 1) / lambda0
        before, u = u, [min(0.0, max(-box, a - 1 / L)) for a in g]
        us.append(u)
    return us


def subgradients(A, steps, keep, step):
    """w <- keep(t) w + step(t) sum of the a_i with a_i.w < 1, t = 1, 2, ..., and b with w = A'b."""
    w, b, out = [0.0] * len(A[0]), [0.0] * len(A), [None]
    for t in range(1, steps + 1):
        wrong = [float(z < 1) for z in times(A, w)]
        b = [keep(t) * x + step(t) * e for x, e in zip(b, wrong)]
        w = times_t(A, b)
        out.append((w, b))
    return out


def keep_subgradients(preset, settings, about, A, iterates):
    """Shown: w divided by its least margin, or times the length of the longest row; and
    u = -b sum(b)/|A'b|^2."""
    R, ws, us = sqrt(max(dot(a, a) for a in A)), [None], [None]
    for w, b in iterates[1:]:
        least = min(times(A, w))
        v = times_t(A, b)
        ws.append([x / least if least > 0 else x * R for x in w])
        us.append([-x * sum(b) / dot(v, v) for x in b])
    save(preset, preset, settings, about, X, y, ws, us)


def rbf(x, z):
    return exp(-sum((a - b) ** 2 for a, b in zip(x, z)) / 4)


STEPS = 50
X, y = clouds(1)
A = signed(X, y)
for name, alpha, first in (("alg1", 0, 0), ("alg2", 3, 1), ("alg2-theorem", 3, 0)):
    preset = "apidopoulos-" + name
    u = diagonal_descent([[dot(a, b) for b in A] for a in A], 40.0, 2.0, alpha, first, STEPS)
    save(preset, preset, "lambda0=2 lipschitz=40", "lambda_t = 2/(t + 1), gamma = 1/40", X, y,
         [[-v for v in times_t(A, x)] for x in u], u)
    K = [[yi * yj * rbf(x, z) for z, yj in zip(X, y)] for x, yi in zip(X, y)]
    u = diagonal_descent(K, 8.0, 0.5, alpha, first, STEPS)
    save(preset + "-rbf", preset, "lambda0=0.5 lipschitz=8 kernel=rbf sigma2=2",
         "remark 4.1, w as coefficients of the points; lambda_t = 0.5/(t + 1), gamma = 1/8", X, y,
         [[-v * yi for v, yi in zip(x, y)] for x in u], u)

u = diagonal_descent([[dot(a, b) for b in A] for a in A], 40.0, 2.0, 3, 1, STEPS, 0.75)
save("apidopoulos-alg2-start", "apidopoulos-alg2", "lambda0=2 lipschitz=40 dual_diagonal.start=0.75",
     "u_0 = -0.75/2 in every row", X, y, [[-v for v in times_t(A, x)] for x in u], u)

# (3.7) with gamma_t = 1/(n R^2 sqrt(t)); and Molitor et al. with lambda_t = R^2/t^(1/3)
R2, n = max(dot(a, a) for a in A), len(A)
keep_subgradients("hinge-subgradient", "", "gamma_t = 1/(n R^2 sqrt(t))", A,
                  subgradients(A, STEPS, lambda t: 1.0, lambda t: 1 / (n * R2 * sqrt(t))))
keep_subgradients("homotopic-subgradient", "", "lambda_t = R^2/t^(1/3), step 1/(lambda_t t)", A,
                  subgradients(A, STEPS, lambda t: 1 - 1 / t, lambda t: t ** (1 / 3) / (R2 * t)))
