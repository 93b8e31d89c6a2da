"""Trajectories of Raj, Bach: Explicit regularization of stochastic gradient methods through
duality. Dual variables are those of appendix B.1, the paper's alpha/n of (4); u = -(its sign for
half-spaces). Rows are drawn by Philox 4x32-10 with seed 0, as the library draws them."""
import math

from trajectory import clouds, dot, save, signed, times, times_t

M32 = 0xffffffff


class Draws:
    """Salmon et al. 2011; numbers below a bound after Lemire 2019."""

    def __init__(self):
        self.counter, self.words = 0, []

    def u32(self):
        if not self.words:
            c, k = [self.counter & M32, self.counter >> 32, 0, 0], [0, 0]
            for _ in range(10):
                p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
                c = [(q >> 32) ^ c[1] ^ k[0], q & M32, (p >> 32) ^ c[3] ^ k[1], p & M32]
                k = [(k[0] + 0x9E3779B9) & M32, (k[1] + 0xBB67AE85) & M32]
            self.counter += 1
            self.words = c
        return self.words.pop()

    def below(self, bound):
        m = self.u32() * bound
        while (m & M32) < (1 << 32) % bound:
            m = self.u32() * bound
        return m >> 32

    def uniform(self):
        high = self.u32()
        return ((high << 32 | self.u32()) >> 11) * 2.0 ** -53


def norm(x, q):
    return sum(abs(t) ** q for t in x) ** (1 / q)


def theta(v, p):
    """The gradient of 1/2 |v|_q^2."""
    q = p / (p - 1)
    size = norm(v, q)
    return [size ** (2 - q) * math.copysign(abs(t) ** (q - 1), t) if size else 0.0 for t in v]


def bounds(A, p):
    """L_i of Lemma 1: |x_i|_q^2/(p - 1)."""
    return [norm(a, p / (p - 1)) ** 2 / (p - 1) for a in A]


def half_space(i, f):
    return max(1.0, f)


def passes(A, steps, one, shown):
    """Iterates after k times n steps."""
    out = [shown()]
    for _ in range(steps):
        for _ in A:
            one()
        out.append(shown())
    return out


def algorithm_1(A, p, nearest, steps, order="draw", bound="own", mean=False):
    n, L, draws = len(A), bounds(A, p), Draws()
    u, total, t = [0.0] * n, [0.0] * n, [0]
    used = [max(L)] * n if bound == "largest" else L

    def pick():
        if order == "draw":
            return draws.below(n)
        at, i = draws.uniform() * math.fsum(L), 0
        while sum(L[:i + 1]) <= at:
            i += 1
        return i

    def one():
        i = pick()
        f = dot(A[i], theta([-x for x in times_t(A, u)], p))
        u[i] += (f - nearest(i, used[i] * u[i] + f)) / used[i]
        t[0] += 1
        for k in range(n):
            total[k] += u[k]

    def shown():
        at = [x / max(t[0], 1) for x in total] if mean else list(u)
        return theta([-x for x in times_t(A, at)], p)

    return passes(A, steps, one, shown)


def algorithm_2(A, p, nearest, steps):
    """With the step of B.1, r_t/(n gamma_t L_i); the answer is v, of which (8) speaks."""
    n, L, draws = len(A), bounds(A, p), Draws()
    s = {"alpha": [0.0] * n, "z": [0.0] * n, "v": [0.0] * n, "gamma": 1 / n}

    def one():
        i, g, alpha = draws.below(n), s["gamma"], s["alpha"]
        k = n * g * L[i]
        f = dot(A[i], theta([-x for x in times_t(A, s["z"])], p))
        after = list(alpha)
        after[i] += (f - nearest(i, k * alpha[i] + f)) / k
        s["gamma"] = (math.sqrt(g ** 4 + 4 * g * g) - g * g) / 2
        s["v"] = [z + n * g * (b - a) for z, a, b in zip(s["z"], alpha, after)]
        s["z"] = [(1 - s["gamma"]) * v + s["gamma"] * a for v, a in zip(s["v"], after)]
        s["alpha"] = after

    return passes(A, steps, one, lambda: theta([-x for x in times_t(A, s["v"])], p))


def primal(A, p, step, steps, mean, margin):
    """psi'(theta) + step(t, i, f) x_i; means of theta before each draw. Of a hard margin the weights
    are shown divided by their least margin, where it is above 0."""
    n, draws = len(A), Draws()
    v, total, t = [0.0] * len(A[0]), [0.0] * len(A[0]), [0]

    def one():
        i, w = draws.below(n), theta(v, p)
        t[0] += 1
        move = step(t[0], i, dot(A[i], w))
        for j in range(len(v)):
            total[j] += w[j]
            v[j] += move * A[i][j]

    def shown():
        w = [x / max(t[0], 1) for x in total] if mean else theta(v, p)
        least = min(times(A, w))
        return [x / least for x in w] if margin and least > 0 else w

    return passes(A, steps, one, shown)


def sdca(A, lam, g, steps, bound):
    """Of max(0, 1 - z) with a kink of width g; s_i = 1/n."""
    n, draws, s = len(A), Draws(), 1 / len(A)
    u, L = [0.0] * n, [dot(a, a) / lam for a in A]
    used = [max(L)] * n if bound == "largest" else L

    def one():
        i = draws.below(n)
        f = dot(A[i], [-x / lam for x in times_t(A, u)])
        u[i] = min(0.0, max(-s, (f + used[i] * u[i] - 1) / (used[i] + g / s)))

    return passes(A, steps, one, lambda: [-x / lam for x in times_t(A, u)])


def accelerated_sdca(A, lam, g, steps):
    """Lin, Lu, Xiao 2015, the strongly convex case."""
    n, draws, s = len(A), Draws(), 1 / len(A)
    r = [dot(a, a) / lam for a in A]
    m = min(g / s / x for x in r)
    mu = m / (1 + m)
    L, th = [x / (1 - mu) for x in r], math.sqrt(mu) / n
    at = {"x": [0.0] * n, "z": [0.0] * n}

    def one():
        i = draws.below(n)
        y = [(x + th * z) / (1 + th) for x, z in zip(at["x"], at["z"])]
        zt = [(1 - th) * z + th * b for z, b in zip(at["z"], y)]
        slope = mu * L[i] * y[i] - dot(A[i], [-x / lam for x in times_t(A, y)])
        k = n * th * L[i]
        z = list(zt)
        z[i] = min(0.0, max(-s, (k * zt[i] - slope - 1) / (k + g / s - mu * L[i])))
        at["x"] = [b + n * th * (c - d) for b, c, d in zip(y, z, zt)]
        at["z"] = z

    return passes(A, steps, one, lambda: [-x / lam for x in times_t(A, at["x"])])


X, y = clouds(3)
A = signed(X, y)
sparse = 1 + 1 / math.log(len(X[0]))
for p, name in ((2, "p=2"), (1.5, "p=1.5"), (sparse, "p=sparse")):
    tag = name.replace("=", "").replace(".", "_")
    for preset, more in (("alg1", {}), ("alg1-max-l", {"bound": "largest"}),
                         ("alg1-importance", {"order": "importance"}), ("alg1-average", {"mean": True})):
        save(f"raj-bach-{preset}-{tag}", f"raj-bach-{preset}", f"loss=margin {name}", "half-spaces", X, y,
             algorithm_1(A, p, half_space, 50, **more))
    save(f"raj-bach-alg2-{tag}", "raj-bach-alg2", f"loss=margin {name}", "half-spaces", X, y,
         algorithm_2(A, p, half_space, 50))
    gamma = 1 / max(bounds(A, p))
    for preset, mean in (("mirror-sgd", False), ("mirror-sgd-average", True)):
        save(f"raj-bach-{preset}-{tag}", f"raj-bach-{preset}", f"loss=margin {name}", "half-spaces", X, y,
             primal(A, p, lambda t, i, f: gamma * (half_space(i, f) - f), 50, mean, True))
    save(f"raj-bach-perceptron-{tag}", "raj-bach-perceptron", name, "1[f < 1] x, step sqrt((p - 1)/t)/max |x|_q",
         X, y, primal(A, p, lambda t, i, f: (f < 1) / math.sqrt(t * max(bounds(A, p))), 50, True, True))
save("raj-bach-mirror-sgd-step", "raj-bach-mirror-sgd", "loss=margin sgd_step=0.125 p=1.5", "gamma = 1/8", X, y,
     primal(A, 1.5, lambda t, i, f: 0.125 * (half_space(i, f) - f), 50, False, True))
T = [[x[0], x[1], x[2], x[0] * x[1], x[1] - x[2] ** 2, x[0] ** 2 / 2, x[1] * x[2], x[2] ** 3 / 4, 1.0] for x in X[:5]]
goal = [1.5, -0.25, 0.75, 2.0, -1.25]
equal = "task=regress loss=equal p=1.5"
save("raj-bach-alg1-points", "raj-bach-alg1", equal, "singletons: Lemma 2", T, goal,
     algorithm_1(T, 1.5, lambda i, f: goal[i], 50))
save("raj-bach-alg2-points", "raj-bach-alg2", equal, "singletons", T, goal,
     algorithm_2(T, 1.5, lambda i, f: goal[i], 50))
most = max(bounds(T, 1.5))
save("raj-bach-mirror-sgd-points", "raj-bach-mirror-sgd", equal, "singletons", T, goal,
     primal(T, 1.5, lambda t, i, f: (goal[i] - f) / most, 50, False, False))
soft = "loss=smooth_hinge smoothing=0.5 lambda=0.125"
for preset, bound in (("sdca", "own"), ("sdca-max-l", "largest")):
    save(f"raj-bach-{preset}", f"raj-bach-{preset}", soft, "smooth hinge", X, y, sdca(A, 0.125, 0.5, 50, bound))
save("raj-bach-accelerated-sdca", "raj-bach-accelerated-sdca", soft, "smooth hinge", X, y,
     accelerated_sdca(A, 0.125, 0.5, 50))
