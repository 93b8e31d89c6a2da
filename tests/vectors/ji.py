"""Trajectories of Ji, Srebro, Telgarsky: Fast margin maximization via dual acceleration, and of the
methods it compares with. Everything is done in the dual: K holds the products of the rows a_i / R,
R = max |a_i|, z = K c are the margins of w = sum c_i a_i / R, and the paper's Z is -A.

What is shown is w divided by its least margin where that is positive, and u = -b sum(b)/|A'b|^2."""
from math import exp, expm1, log, log1p, sqrt

from trajectory import clouds, dot, save, signed, times


class Rows:
    """Rows i, of which those with live[i] False are no constraints; put(c) makes w of c."""

    def __init__(self, products, put, live=None):
        self.n = len(products)
        self.live = live or [True] * self.n
        self.count = sum(self.live)
        self.R = sqrt(max(products[i][i] for i in range(self.n)))
        self.K = [[x / self.R ** 2 for x in row] for row in products]
        self.put = put

    def margins(self, c):
        return times(self.K, c)

    def shown(self, c, b):
        z = self.margins(c)
        least = min(x for x, live in zip(z, self.live) if live)
        w = [x / self.R * (1 / (self.R * least) if least > 0 else 1) for x in self.put(c)]
        square = self.R ** 2 * dot(b, self.margins(b))
        return w, [-x * sum(b) / square for x in b]


def linear(A):
    return Rows([[dot(a, b) for b in A] for a in A],
                lambda c: [sum(ci * a[j] for ci, a in zip(c, A)) for j in range(len(A[0]))])


def rbf(X, y, sigma2):
    """w is written as the coefficients of the points."""
    def k(x, z):
        return exp(-sum((a - b) ** 2 for a, b in zip(x, z)) / (2 * sigma2))
    return Rows([[yi * yj * k(x, z) for z, yj in zip(X, y)] for x, yi in zip(X, y)],
                lambda c: [ci * yi for ci, yi in zip(c, y)])


def classes(X, y, k):
    """Section 5.2: a row x_i (e_own - e_j)' for every i and j, the own class's being zero."""
    A, live = [], []
    for x, own in zip(X, y):
        for j in range(k):
            A.append([v * ((c == own) - (c == j)) for v in x for c in range(k)])
            live.append(j != own)
    rows = linear(A)
    return Rows([[dot(a, b) for b in A] for a in A], rows.put, live)


def weights(rows, z, logistic=False):
    """grad psi at Zw: q_i = l'(-z_i)/l'(psi)."""
    if logistic:
        S = sum(log1p(exp(-x)) for x, live in zip(z, rows.live) if live)
        return [live and 1 / (1 + exp(x)) / -expm1(-S) for x, live in zip(z, rows.live)]
    least = min(x for x, live in zip(z, rows.live) if live)
    e = [exp(least - x) if live else 0.0 for x, live in zip(z, rows.live)]
    return [x / sum(e) for x in e]


def uniform(seed):
    """Philox 4x32-10 under the key `seed`, four words a block, the last one first."""
    counter, mask = 0, 0xFFFFFFFF
    words = []
    while True:
        pair = []
        for _ in range(2):
            if not words:
                c, k = [counter & mask, counter >> 32, 0, 0], [seed & mask, seed >> 32]
                for _ in range(10):
                    p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
                    c = [p1 >> 32 ^ c[1] ^ k[0], p1 & mask, p0 >> 32 ^ c[3] ^ k[1], p0 & mask]
                    k = [k[0] + 0x9E3779B9 & mask, k[1] + 0xBB67AE85 & mask]
                counter += 1
                words = c
            pair.append(words.pop())
        yield ((pair[0] << 32 | pair[1]) >> 11) * 2.0 ** -53


def pick(q, mark):
    below = 0.0
    for i, x in enumerate(q):
        below += x
        if mark < below:
            break
    return [float(j == i) for j in range(len(q))]


def momentum(rows, steps, theta=lambda t: 1.0, beta=lambda t: t / (t + 1), logistic=False, rho=1,
             seed=None):
    """Algorithm 1, and Algorithm 2 where there is a seed; appendix C has rho."""
    draw = uniform(seed) if seed is not None else None
    c, g, own = [0.0] * rows.n, [0.0] * rows.n, []
    shown = [None]
    for t in range(steps + 1):
        q = weights(rows, rows.margins(c), logistic)
        if draw:
            q = pick(q, next(draw) * sum(q))
        g = [beta(t) * (a + b) for a, b in zip(g, q)]
        if t > 0:
            shown.append(rows.shown(c, g if any(g) else c))
        c = [a + theta(t) / rho * (b + d) for a, b, d in zip(c, g, q)]
    return shown


def descent(rows, steps, slope):
    """w <- w + sum c_i a_i, c = slope(z, t), t = 1, 2, ..."""
    c, shown = [0.0] * rows.n, [None]
    for t in range(1, steps + 1):
        c = [a + b for a, b in zip(c, slope(rows.margins(c), t))]
        shown.append(rows.shown(c, c))
    return shown


def perceptron(rows, steps):
    """The row with the least margin, 1/sqrt(t) of it, and back into the unit ball."""
    c, shown = [0.0] * rows.n, [None]
    for t in range(1, steps + 1):
        z = rows.margins(c)
        worst = min((i for i in range(rows.n) if rows.live[i]), key=lambda i: z[i])
        c[worst] += 1 / sqrt(t)
        length = sqrt(dot(c, rows.margins(c)))
        c = [x / max(1, length) for x in c]
        shown.append(rows.shown(c, c))
    return shown


def plain(rows, logistic):
    def slope(z, t):
        if logistic:
            return [live and 1 / (1 + exp(x)) / rows.count for x, live in zip(z, rows.live)]
        return [live and exp(-x) / rows.count for x, live in zip(z, rows.live)]
    return slope


def keep(preset, kind, settings, about, X, y, shown):
    save(preset + kind, preset, settings, about, X, y,
         [None] + [w for w, _ in shown[1:]], [None] + [u for _, u in shown[1:]])


STEPS = 50
X2, Y2 = clouds(2)
X3, Y3 = [[1.5, .25, -.5], [-.25, 1.25, .5], [.5, -.75, 1.75], [2., -.5, .25], [.25, 1.75, -.5],
          [-.5, .25, 1.25], [1.25, .5, .25]], [0., 1., 2., 0., 1., 2., 0.]
for kind, settings, X, y, rows in (
        ("", "", X2, Y2, linear(signed(X2, Y2))),
        ("-rbf", "kernel=rbf sigma2=2", X2, Y2, rbf(X2, Y2, 2.0)),
        ("-joint", "multiclass=joint task=classify", X3, Y3, classes(X3, Y3, 3))):
    N = rows.count
    for name, more, about, shown in (
            ("ji-alg1", "", "Algorithm 1, theta = 1, beta = t/(t + 1)", momentum(rows, STEPS)),
            ("ji-alg1-logistic", "", "the same with the logistic loss, rho = 1",
             momentum(rows, STEPS, logistic=True)),
            ("ji-alg1-logistic-theorem", "", "the same with rho = n",
             momentum(rows, STEPS, logistic=True, rho=N)),
            ("ji-alg2", "seed=5", "Algorithm 2, theta = 1, beta = t/(t + 1), Philox with seed 5",
             momentum(rows, STEPS, seed=5)),
            ("ji-alg2-theorem", "seed=5 max_iter=50", "Algorithm 2, beta = 0, theta = sqrt(ln n/50)",
             momentum(rows, STEPS, lambda t: sqrt(log(N) / 50), lambda t: 0.0, seed=5)),
            ("normalised-gd", "", "w + grad psi, theta = 1",
             descent(rows, STEPS, lambda z, t: weights(rows, z))),
            ("normalised-gd-sqrt", "", "theta = 1/sqrt(t)",
             descent(rows, STEPS, lambda z, t: [x / sqrt(t) for x in weights(rows, z)])),
            ("gd-exponential", "", "the gradient of the mean loss, step 1",
             descent(rows, STEPS, plain(rows, False))),
            ("gd-logistic", "", "the gradient of the mean loss, step 1",
             descent(rows, STEPS, plain(rows, True))),
            ("batch-perceptron-projected", "", "batch perceptron", perceptron(rows, STEPS))):
        keep(name, kind, (settings + " " + more).strip(), about, X, y, shown)
