"""Trajectories of Emirahmetoglu, Hajewski, Oliveira, Stewart: A Smoothing Algorithm for l1 Support
Vector Machines: the methods of its table 2."""
import math
import random

from trajectory import dot, save, signed, times, times_t

C1, SHORTEST = 1e-4, 1e-9  # c_1 and s_min of Algorithm 2, which the paper does not name
KEPT = 1 << 20  # numbers of the data: 20 binary digits, exact in JSON


def sign(x):
    return (x > 0) - (x < 0)


def noisy(seed, rows, columns, noise=1.0):
    """Labels from a plane through a few columns, plus noise."""
    draw = random.Random(seed)
    plane = [2.0, 1.5, 0.0, -0.4, 0.0, 0.2, 0.0, 0.0][:columns]
    X = [[round(KEPT * draw.gauss(0, 1)) / KEPT for _ in range(columns)] for _ in range(rows)]
    y = [1.0 if dot(x, plane) + noise * draw.gauss(0, 1) > 0 else -1.0 for x in X]
    return X, y


def solve(H, b):
    """Elimination with pivots."""
    n = len(b)
    M = [row[:] + [b[i]] for i, row in enumerate(H)]
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(M[i][k]))
        M[k], M[p] = M[p], M[k]
        for i in range(k + 1, n):
            f = M[i][k] / M[k][k]
            for j in range(k, n + 1):
                M[i][j] -= f * M[k][j]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (M[i][n] - sum(M[i][j] * x[j] for j in range(i + 1, n))) / M[i][i]
    return x


# ---- Algorithms 1 to 4 ---------------------------------------------------------------------------

class Root:
    """psi(t) = (t + sqrt(1 + t^2))/2, (6)"""
    @staticmethod
    def value(t):
        r = math.sqrt(1 + t * t)
        return 1 / (2 * (r - t)) if t < 0 else (r + t) / 2

    @staticmethod
    def slope(t):
        r = math.sqrt(1 + t * t)
        return 1 / (2 * r * (r - t)) if t < 0 else (1 + t / r) / 2

    @staticmethod
    def curvature(t):
        return (1 + t * t) ** -1.5 / 2


class Softplus:
    """psi(t) = ln(1 + e^t), section 3.4"""
    @staticmethod
    def value(t):
        return max(t, 0) + math.log1p(math.exp(-abs(t)))

    @staticmethod
    def slope(t):
        e = math.exp(-abs(t))
        return (e if t < 0 else 1) / (1 + e)

    @staticmethod
    def curvature(t):
        e = math.exp(-abs(t))
        return e / (1 + e) ** 2


def linesearch_l1(w, d, b, a, mu):
    """Algorithm 4 as (9) to (11) mean it: s, and the index that is 0 there or None."""
    places = sorted((-w[j] / d[j], j) for j in range(len(w)) if d[j] and mu and -w[j] / d[j] > 0)

    def slope(s, crossed):  # j'(s) when the columns in `crossed` have changed their sign
        total = 2 * a * s + b
        for j in range(len(w)):
            side = sign(d[j]) if w[j] == 0 or j in crossed else sign(w[j])
            total += mu * side * d[j]
        return total

    crossed, start = set(), 0.0
    if slope(0.0, crossed) >= 0:
        return 0.0, None
    for s, j in places:
        if slope(s, crossed) > 0:
            break
        crossed.add(j)
        if slope(s, crossed) >= 0:
            return s, j
        start = s
    return start - slope(start, crossed) / (2 * a), None


class SmSVM:
    def __init__(self, X, y, lam, mu, psi=Root, alpha=1.0, beta=.1, eta=.1):
        self.A, self.lam, self.mu, self.psi = signed(X, y), lam, mu, psi
        self.alpha_0, self.beta, self.eta, self.level = alpha, beta, eta, 0
        self.w = [0.0] * len(X[0])
        g = self.gradient(self.w)
        self.J = {j for j in range(len(g)) if abs(g[j]) > mu}
        self.active = set(self.J) if mu else set(range(len(g)))
        self.adjust = True
        self.log = []

    @property
    def alpha(self):
        return self.alpha_0 * self.beta ** self.level

    def slacks(self, w):
        return [(1 - z) / self.alpha for z in times(self.A, w)]

    def f(self, w):
        hinge = sum(self.alpha * self.psi.value(t) for t in self.slacks(w)) / len(self.A)
        return self.lam / 2 * dot(w, w) + hinge + self.mu * sum(abs(x) for x in w)

    def gradient(self, w):
        theta = [self.psi.slope(t) / len(self.A) for t in self.slacks(w)]
        return [self.lam * x - v for x, v in zip(w, times_t(self.A, theta))]

    def hessian(self, w):
        h = [self.psi.curvature(t) / (self.alpha * len(self.A)) for t in self.slacks(w)]
        d = len(w)
        return [[sum(hi * a[j] * a[k] for hi, a in zip(h, self.A)) + self.lam * (j == k)
                 for k in range(d)] for j in range(d)]

    def lower(self, why):
        self.level += 1
        self.adjust = True
        self.log.append(why)

    def newton(self):
        """Algorithm 2."""
        w, mu, d = self.w, self.mu, [0.0] * len(self.w)
        smooth, H = self.gradient(w), self.hessian(w)
        g = [v + mu * sign(x) for v, x in zip(smooth, w)]
        for j in self.J:
            g[j] -= mu * sign(smooth[j])
        at = sorted(self.active)
        for j, x in zip(at, solve([[H[j][k] for k in at] for j in at], [-g[j] for j in at])):
            d[j] = x
        slope = sum(d[j] * g[j] for j in at)
        if abs(slope) < self.eta * self.alpha:
            # Algorithm 3
            new = {j for j in range(len(w)) if j not in self.active and abs(smooth[j]) > mu}
            if not new or not self.adjust:
                return self.lower("level")
            self.J, self.active, self.adjust = new, self.active | new, False
            for j in new:
                g[j] -= mu * sign(smooth[j])
                d[j] = -g[j]
            slope = sum(d[j] * g[j] for j in self.active)
            self.log.append("joined")
        s, zero = linesearch_l1(w, d, dot(d, smooth), dot(d, times(H, d)) / 2, mu)
        level = self.f(w)
        while self.f([x + s * v for x, v in zip(w, d)]) > level + C1 * s * slope:
            if s < SHORTEST:
                return self.lower("failed")
            s, zero = s / 2, None
        after = [0.0 if j == zero else w[j] + s * d[j] for j in range(len(w))]
        if mu:
            after = [0.0 if sign(x) * sign(b) < 0 else x for x, b in zip(after, w)]
            self.active = {j for j in range(len(w)) if after[j]}
            if any(b and not x for x, b in zip(after, w)):
                self.log.append("truncated")
        self.w, self.J = after, set()


def smooth_svm(name, X, y, lam, mu, settings, more="", **options):
    run = SmSVM(X, y, lam, mu, **options)
    w = [run.w]
    for _ in range(50):
        run.newton()
        w.append(run.w)
    strengths = f"lambda={lam}" + (f" mu={mu}" if mu else "")
    about = (f"Algorithms 1 to 4: w after every pass through Algorithm 2, down to alpha = {run.alpha:.0e}; "
             + ", ".join(f"{run.log.count(x)} {x}" for x in sorted(set(run.log))))
    print(name, about)
    save(name + more, name, f"{strengths} {settings}", about, X, y, w)


X, y = noisy(3, 40, 6)
SMSVM = "emirahmetoglu-smsvm-"
smooth_svm(SMSVM + "l2", X, y, .01, 0, "alpha_start=10000 level_tol=1e-6", alpha=1e4, eta=1e-6)
smooth_svm(SMSVM + "l1-l2", X, y, .01, .05, "alpha_start=10000 level_tol=1e-6", alpha=1e4, eta=1e-6)
smooth_svm(SMSVM + "l1-l2", X, y, .003, .02, "alpha_start=30 alpha_factor=0.5 level_tol=0.01",
           "_beta", alpha=30.0, beta=.5, eta=.01)
smooth_svm(SMSVM + "l1-l2", X, y, .01, .05, "smoother=softplus alpha_start=300 level_tol=1e-5",
           "_softplus", psi=Softplus, alpha=300.0, eta=1e-5)


# ---- the methods it compares with ----------------------------------------------------------------

class Hinge:
    """(1) and (2), and the subgradient with sign(0) = 0 that section 4.2 lets one choose."""
    def __init__(self, X, y, lam, mu):
        self.A, self.lam, self.mu = signed(X, y), lam, mu

    def value(self, w):
        hinge = sum(max(0.0, 1 - z) for z in times(self.A, w)) / len(self.A)
        return self.lam / 2 * dot(w, w) + hinge + self.mu * sum(abs(x) for x in w)

    def gradient(self, w):
        theta = [(z < 1) / len(self.A) for z in times(self.A, w)]
        pull = times_t(self.A, theta)
        return [self.lam * x + self.mu * sign(x) - v for x, v in zip(w, pull)]


def nesterov(f, d, steps, eta=.001, rho=.9):
    w, v = [0.0] * d, [0.0] * d
    yield w
    for _ in range(steps):
        g = f.gradient(w)
        w = [a + rho * rho * b - (1 + rho) * eta * c for a, b, c in zip(w, v, g)]
        v = [rho * b - eta * c for b, c in zip(v, g)]
        yield w


def adadelta(f, d, steps, rho=.9, eps=1e-8):
    w, a, b = [0.0] * d, [0.0] * d, [0.0] * d
    yield w
    for _ in range(steps):
        g = f.gradient(w)
        a = [rho * x + (1 - rho) * c * c for x, c in zip(a, g)]
        step = [math.sqrt(y + eps) / math.sqrt(x + eps) * c for x, y, c in zip(a, b, g)]
        b = [rho * x + (1 - rho) * c * c for x, c in zip(b, step)]
        w = [x - c for x, c in zip(w, step)]
        yield w


def adam(f, d, steps, eta=.001, beta=(.9, .8), eps=1e-8):
    w, m, q = [0.0] * d, [0.0] * d, [0.0] * d
    yield w
    for t in range(1, steps + 1):
        g = f.gradient(w)
        m = [beta[0] * x + (1 - beta[0]) * c for x, c in zip(m, g)]
        q = [beta[1] * x + (1 - beta[1]) * c * c for x, c in zip(q, g)]
        w = [x - eta * (a / (1 - beta[0] ** t)) / (math.sqrt(b / (1 - beta[1] ** t)) + eps)
             for x, a, b in zip(w, m, q)]
        yield w


class Descent:
    """W. W. Hager, H. Zhang: CG_DESCENT, a conjugate gradient method with guaranteed descent: (1.2)
    to (1.6) there, and the line search of section 4 of its Algorithm 851."""
    DELTA, SIGMA, EPSILON, THETA, GAMMA, RHO, ETA, PSI_0, PSI_2 = .1, .9, 1e-6, .5, .66, 5, .01, .01, 2

    def __init__(self, f, d):
        self.f, self.w = f, [0.0] * d
        self.g = f.gradient(self.w)
        self.d = [-x for x in self.g]
        self.first = self.PSI_0 * abs(f.value(self.w)) / dot(self.g, self.g)

    def at(self, t):
        w = [x + t * v for x, v in zip(self.w, self.d)]
        return t, self.f.value(w), dot(self.f.gradient(w), self.d)

    def high(self, p):
        return p[2] < 0 and p[1] > self.zero[1] + self.EPSILON * abs(self.zero[1])

    def good(self, p):
        t, value, slope = p
        _, start, fall = self.zero
        if t == 0:
            return False
        wolfe = value <= start + self.DELTA * t * fall and slope >= self.SIGMA * fall
        nearly = (2 * self.DELTA - 1) * fall >= slope >= self.SIGMA * fall
        return wolfe or (nearly and value <= start + self.EPSILON * abs(start))

    def bisect(self, a, b):  # U3
        while b[2] < 0:
            c = self.at((1 - self.THETA) * a[0] + self.THETA * b[0])
            if c[2] >= 0 or self.high(c):
                b = c
            else:
                a = c
        return a, b

    def update(self, a, b, t):  # U0 to U3
        if not a[0] < t < b[0]:
            return a, b
        c = self.at(t)
        if c[2] >= 0:
            return a, c
        return self.bisect(a, c) if self.high(c) else (c, b)

    @staticmethod
    def secant(a, b):
        return (a[0] * b[2] - b[0] * a[2]) / (b[2] - a[2])

    def double_secant(self, a, b):  # S1 to S4
        c = self.secant(a, b)
        A, B = self.update(a, b, c)
        if c == B[0]:
            return self.update(A, B, self.secant(b, B))
        if c == A[0]:
            return self.update(A, B, self.secant(a, A))
        return A, B

    def search(self):  # B1 to B3, L0 to L3
        self.zero = a = self.at(0.0)
        b = self.at(self.first)
        while b[2] < 0 and not self.high(b) and not self.good(b):
            a, b = b, self.at(self.RHO * b[0])
        if self.high(b):
            a, b = self.bisect(a, b)
        while True:
            for p in (b, a):
                if self.good(p):
                    return p[0]
            width = b[0] - a[0]
            a, b = self.double_secant(a, b)
            if b[0] - a[0] > self.GAMMA * width:
                a, b = self.update(a, b, (a[0] + b[0]) / 2)

    def step(self):
        t = self.search()
        self.w = [x + t * v for x, v in zip(self.w, self.d)]
        self.first = self.PSI_2 * t
        g = self.f.gradient(self.w)
        y = [a - b for a, b in zip(g, self.g)]
        dy = dot(self.d, y)
        beta = dot([a - 2 * b * dot(y, y) / dy for a, b in zip(y, self.d)], g) / dy
        least = -1 / (math.sqrt(dot(self.d, self.d)) * min(self.ETA, math.sqrt(dot(self.g, self.g))))
        beta = max(beta, least)
        self.d = [-a + beta * b for a, b in zip(g, self.d)]
        self.g = g


def compare(name, lam, mu, w, settings=""):
    preset = f"emirahmetoglu-{name}-{'l1-l2' if mu else 'l2'}"
    strengths = f"lambda={lam}" + (f" mu={mu}" if mu else "")
    save(preset, preset, f"{strengths} {settings}", "section 4.2", X, y, w)


for lam, mu in ((.01, 0), (.01, .05)):
    f = Hinge(X, y, lam, mu)
    compare("nesterov", lam, mu, list(nesterov(f, 6, 50)), "batch=40")
    compare("adadelta", lam, mu, list(adadelta(f, 6, 50)), "batch=40")
    compare("adam", lam, mu, list(adam(f, 6, 50)), "batch=40")
    run = Descent(f, 6)
    w = [run.w]
    for _ in range(50):
        run.step()
        w.append(run.w)
    compare("cg", lam, mu, w)
