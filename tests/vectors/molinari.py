"""Trajectories of Molinari, Massias, Rosasco, Villa: Iterative regularization for low complexity
regularizers, and of the methods that its section 5 compares with."""
import math
import random

from trajectory import save, times, times_t

STEPS = 50


def regression(seed, rows=6, columns=10, gaps=0.0):
    """A sparse regression with noise; 12 binary digits, exact in JSON."""
    draw = random.Random(seed)

    def number(scale=1.0):
        return round(4096 * draw.gauss(0, scale)) / 4096

    X = [[0.0 if draw.random() < gaps else number() for _ in range(columns)] for _ in range(rows)]
    y = [row[0] - 2 * row[1] + row[3] + number(.2) for row in X]
    return X, y


X, y = regression(2)
L = 25.0  # at least |A|^2 = 24.67
D = len(X[0])


def minus(a, b):
    return [p - q for p, q in zip(a, b)]


def soft(x, t):
    return math.copysign(max(abs(x) - t, 0.0), x)


def gradient(w, X=X, y=y):
    """A'(A w - y)"""
    return times_t(X, minus(times(X, w), y))


def dual_norm(X, y):
    return max(abs(g) for g in times_t(X, y))


def both(name, settings, about, w, u=None, X=X, y=y):
    save(name, name, settings, about, X, y, w, u)


# ---- (12) ----------------------------------------------------------------------------------------


def primal_dual(X, y, T, S, prox):
    """(12) from x_0 = 0, y_-1 = y_0 = 0, T and S the diagonals of the preconditioners."""
    x, u, before = [0.0] * len(X[0]), [0.0] * len(X), [0.0] * len(X)
    xs, us = [x], [u]
    for _ in range(STEPS):
        g = times_t(X, [2 * a - b for a, b in zip(u, before)])
        x = prox([a - t * b for a, t, b in zip(x, T, g)], T)
        before, u = u, [a + s * e for a, s, e in zip(u, S, minus(times(X, x), y))]
        xs.append(x)
        us.append(u)
    return xs, us


def soft_all(v, T):
    return [soft(a, t) for a, t in zip(v, T)]


def means(iterates):
    """Of the first k, without the start."""
    out, total = [iterates[0]], [0.0] * len(iterates[0])
    for k, x in enumerate(iterates[1:], 1):
        total = [a + b for a, b in zip(total, x)]
        out.append([a / k for a in total])
    return out


sigma = 1 / dual_norm(X, y)
x, u = primal_dual(X, y, [.99 / (sigma * L)] * D, [sigma] * len(X), soft_all)
both("molinari-12", "lipschitz=25", "sigma = 1/|A'b|_inf, tau = .99/(25 sigma)", x, u)
both("molinari-12-averaged", "lipschitz=25", "the means of x_1 ... x_k and of y_1 ... y_k", means(x), means(u))

S_X, S_y = regression(3, gaps=.5)
count = [sum(e != 0 for e in row) for row in S_X]
sigma = 1 / dual_norm(S_X, S_y)
T = [1 / (sigma * max(count) * sum(row[j] ** 2 for row in S_X)) for j in range(D)]
x, u = primal_dual(S_X, S_y, T, [sigma * max(count) / c for c in count], soft_all)
both("molinari-diagonal", "", "T_j = theta/|A_j|^2, Sigma_i = 1/(theta |A_i|_0), theta = 1/(sigma max_i |A_i|_0)", x, u, S_X, S_y)


# ---- (6): total variation with two unknowns ------------------------------------------------------


def lifted(rows, cols, sigma, L):
    """(12) for the unknowns (X, U), R = |U|_{2,1} and the operator [A 0; grad -1], whose square norm
    is at most L + 8 + 1."""
    n = rows * cols
    grad = []
    for p in range(n):
        for q in (p + 1 if p % cols + 1 < cols else None, p + cols if p + cols < n else None):
            grad.append([0.0] * n)
            if q is not None:
                grad[-1][p], grad[-1][q] = -1.0, 1.0
    A, b = regression(4, columns=n)
    big = [row + [0.0] * (2 * n) for row in A]
    big += [row + [-1.0 if i == j else 0.0 for j in range(2 * n)] for i, row in enumerate(grad)]
    tau = .99 / (sigma * (L + 9))

    def prox(v, T):
        out = v[:n]
        for p in range(n, 3 * n, 2):
            length = math.hypot(v[p], v[p + 1])
            keep = max(0.0, 1 - tau / length) if length > 0 else 0.0
            out += [keep * v[p], keep * v[p + 1]]
        return out

    x, u = primal_dual(big, b + [0.0] * (2 * n), [tau] * (3 * n), [sigma] * len(big), prox)
    both("molinari-lifted-tv", f"shape={rows}x{cols} sigma={sigma} lipschitz={L}",
         "the X of (X, U), tau = .99/(sigma (|A|^2 + 9))", [v[:n] for v in x], [v[:len(A)] for v in u], A, b)


lifted(3, 4, .25, 64.0)


# ---- 5.1: strongly convex regularisers -----------------------------------------------------------


def gradient_steps(rule):
    """x_(k+1) = x_k + m (x_k - x_(k-1)) - c/L A'(A z - b), (c, m, whether z is x_k + m (x_k - x_(k-1))
    or x_k) by `rule` of k = 1, 2, ..."""
    x, before = [0.0] * D, [0.0] * D
    out = [x]
    for k in range(1, STEPS + 1):
        c, m, ahead = rule(k)
        moved = [a + m * (a - b) for a, b in zip(x, before)]
        g = gradient(moved if ahead else x)
        before, x = x, [a - c / L * b for a, b in zip(moved, g)]
        out.append(x)
    return out


def nu_method(nu):
    """Engl, Hanke, Neubauer: Regularization of inverse problems, section 6.3."""
    def rule(k):
        c = 4 * (2 * k + 2 * nu - 1) * (k + nu - 1) / ((k + 2 * nu - 1) * (2 * k + 4 * nu - 1))
        m = (k - 1) * (2 * k - 3) * (2 * k + 2 * nu - 1) / ((k + 2 * nu - 1) * (2 * k + 4 * nu - 1) * (2 * k + 2 * nu - 3))
        return c, m, False
    return rule


both("landweber", "lipschitz=25", "(8), gamma = 1/25", gradient_steps(lambda k: (1, 0, False)))
both("nesterov-landweber", "lipschitz=25", "z_k = x_k + (k - 1)/(k + 2) (x_k - x_(k-1)), x_(k+1) = z_k - A'(A z_k - b)/25, k = 0, 1, ..., x_0 = 0",
     gradient_steps(lambda k: (1, (k - 2) / (k + 1) if k > 1 else 0, True)))
both("heavy-ball", "lipschitz=25", "beta = .9, step 1/25", gradient_steps(lambda k: (1, .9, False)))
both("nu-method", "lipschitz=25", "nu = 1, of the operator A/5", gradient_steps(nu_method(1)))

MU, ALPHA = 1.0, .5  # R = mu |x|_1 + alpha/2 |x|^2


def linearised_bregman():
    """(21) with R/s, s = alpha/L, so that its modulus is L and the step 1: J = mu/s |x|_1,
    x+ = argmin J(x) - <p, x> + <g, x> + L/2 |x - x_k|^2, p+ = p - L (x+ - x_k) - g. As printed (21) has
    1/alpha for alpha in both lines."""
    s = ALPHA / L
    x, p = [0.0] * D, [0.0] * D
    out = [x]
    for _ in range(STEPS):
        g = gradient(x)
        new = [soft((a - b) / L + c, MU / s / L) for a, b, c in zip(p, g, x)]
        p = [a - L * (n - c) - b for a, n, c, b in zip(p, new, x, g)]
        x = new
        out.append(x)
    return out


def mirror(v):
    """The minimiser of R(x) + <A'v, x>."""
    return [soft(-g, MU) / ALPHA for g in times_t(X, v)]


def dual_steps(momentum, weight=None):
    """u+ = prox of the dual at v + s (A x(v) - b), v = u+ + m (u+ - u), s = alpha/L; the iterate is
    x(u+). weight(k) is lambda_k of diagonal steps, whose prox divides by 1 + s lambda_k."""
    s = ALPHA / L
    u, v = [0.0] * len(X), [0.0] * len(X)
    out = [mirror(u)]
    t = 1.0
    for k in range(1, STEPS + 1):
        e = minus(times(X, mirror(v)), y)
        new = [(a + s * b) / (1 + s * weight(k) if weight else 1) for a, b in zip(v, e)]
        larger = (1 + math.sqrt(1 + 4 * t * t)) / 2
        m = {"none": 0, "fista": (t - 1) / larger, "nesterov": (k - 1) / (k + 2)}[momentum]
        t = larger
        v = [a + m * (a - b) for a, b in zip(new, u)]
        u = new
        out.append(mirror(u))
    return out


both("linearised-bregman", "lipschitz=25 mu=1 lambda=0.5", "R = |x|_1 + .25 |x|^2", linearised_bregman())
both("accelerated-dual-gradient", "lipschitz=25 mu=1 lambda=0.5", "R = |x|_1 + .25 |x|^2", dual_steps("fista"))
both("diagonal-dual-descent", "lipschitz=25 mu=1 lambda=0.5 lambda0=40",
     "D(A x, b) = 1/2 |A x - b|^2 over lambda_k = 40/k", dual_steps("none", lambda k: 40 / k))
both("inertial-diagonal-dual-descent", "lipschitz=25 mu=1 lambda=0.5 lambda0=40",
     "D(A x, b) = 1/2 |A x - b|^2 over lambda_k = 40/k", dual_steps("nesterov", lambda k: 40 / k))


# ---- 5.2: regularisers that are not strongly convex ----------------------------------------------


def lasso(target, start, mu):
    """min mu |x|_1 + 1/2 |A x - target|^2 by coordinate descent, until nothing moves."""
    w = start[:]
    square = [sum(row[j] ** 2 for row in X) for j in range(D)]
    for _ in range(20000):
        most = 0.0
        for j in range(D):
            e = minus(times(X, w), target)
            slope = sum(row[j] * a for row, a in zip(X, e))
            new = soft(w[j] - slope / square[j], mu / square[j])
            most = max(most, abs(new - w[j]))
            w[j] = new
        if most < 2e-15:
            break
    return w


def bregman(mu):
    """(22): x+ = argmin mu |x|_1 - <p, x> + 1/2 |A x - b|^2, p = A'q, which is the Lasso for b + q."""
    x, q = [0.0] * D, [0.0] * len(X)
    out = [x]
    for _ in range(STEPS):
        x = lasso([a + b for a, b in zip(y, q)], x, mu)
        q = [a - e for a, e in zip(q, minus(times(X, x), y))]
        out.append(x)
    return out


def linearised_admm(rho):
    """x+ = prox_{1/(rho L)}(x - A'(A x - f)/L), f+ = f + b - A x+: Bregmanised operator splitting."""
    x, f = [0.0] * D, y[:]
    out = [x]
    for _ in range(STEPS):
        x = [soft(a - g / L, 1 / (rho * L)) for a, g in zip(x, gradient(x, y=f))]
        f = [a - e for a, e in zip(f, minus(times(X, x), y))]
        out.append(x)
    return out


both("bregman", "lipschitz=25 mu=4", "(22) of R = 4 |x|_1; the inner problems to the last digits", bregman(4.0))
both("linearised-admm", "lipschitz=25 bregman.rho=0.1", "rho = .1, step 1/(25 rho)", linearised_admm(.1))


# ---- (7): explicit regularisation ----------------------------------------------------------------


def proximal_gradient(mu, accelerated):
    """1/(2 n) |A x - b|^2 + mu |x|_1 by steps n/L."""
    n = len(X)
    tau = n / L
    x, v, t = [0.0] * D, [0.0] * D, 1.0
    out = [x]
    for _ in range(STEPS):
        new = [soft(a - tau / n * g, tau * mu) for a, g in zip(v, gradient(v))]
        larger = (1 + math.sqrt(1 + 4 * t * t)) / 2
        m = (t - 1) / larger if accelerated else 0
        t = larger
        v = [a + m * (a - b) for a, b in zip(new, x)]
        x = new
        out.append(x)
    return out


both("forward-backward", "lipschitz=25 mu=0.1", "(7) with lambda = .1 n", proximal_gradient(.1, False))
both("fista", "lipschitz=25 mu=0.1", "(7) with lambda = .1 n", proximal_gradient(.1, True))
