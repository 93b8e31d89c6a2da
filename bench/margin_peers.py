#!/usr/bin/env python3
"""margin_peers.py - the exact hard margin beside peers that live in Python: LIBSVM (scikit-learn's
SVC), quadprog, HiGHS (scipy), and scikit-learn's Perceptron and SGDClassifier.

usage: margin_peers.py MARGRAVE [-q] [MNIST-IMAGES]     (-q: no peer gets more than 5 s)
Our time is the one `margrave fit --json` reports for the same rows, minimum of several runs. A peer
that is not installed is named and left out."""
import gzip, json, os, signal, subprocess, sys, tempfile, time

try:
    import numpy as np
except ImportError:
    sys.exit("margin_peers: numpy is not installed; no peers in Python")
from rows import add_row


def wanted(module, package):
    try:
        return __import__(module, fromlist=["*"])
    except ImportError:
        print(f"  {package} is not installed; its row is left out")


class Late(Exception):
    pass


def timed(work, limit):
    """Seconds and result of work(), or (limit, None) when it takes longer."""
    def alarm(signum, frame):
        raise Late
    signal.signal(signal.SIGALRM, alarm)
    signal.alarm(limit)
    start = time.perf_counter()
    try:
        result = work()
        return time.perf_counter() - start, result
    except Late:
        return float(limit), None
    finally:
        signal.alarm(0)


def say(name, seconds, text):
    print(f"{name:<28} {1e3 * seconds:32.1f} ms  {text}", flush=True)


def ours(margrave, name, X, y, options, repeats=5):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "set.npz")
        np.savez(file, data=X, target=y)
        runs = [json.loads(subprocess.run([margrave, "fit", file, "--loss", "margin", "--no-model", "--json", *options],
                                          capture_output=True).stdout) for _ in range(repeats)]
    best = min(runs, key=lambda r: r["solver"]["seconds"])
    c, s = best["certificate"], best["solver"]
    what = (f"not separable, {len(c['proof']['rows'])} examples" if c["separable"] is False
            else f"margin {c['margin']:.12g}, gap {c['relative_gap']:.1e}")
    say(name, s["seconds"], f"{s['passes']:.1f} passes, {what} ({s['stop']})")
    return s["seconds"], c["margin"]


def margin_of(X, y, w, intercept):
    z = y * (X @ w)
    least = (z[y > 0].min() + z[y < 0].min()) / 2 if intercept else z.min()
    return least / np.linalg.norm(w)


def mnist(path, a, b):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rb") as f:
        X = np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 784)
    with opened(path.replace("images-idx3", "labels-idx1"), "rb") as f:
        y = np.frombuffer(f.read(), np.uint8, offset=8)
    rows = (y == a) | (y == b)
    return X[rows].astype(np.float32), np.where(y[rows] == b, 1.0, -1.0)


def libsvm(X, y, longest, mine, margin, limit):
    svm = wanted("sklearn.svm", "scikit-learn")
    if not svm:
        return
    Z = (X / longest).astype(np.float64)
    best = None
    for C in (1e3, 1e4):
        for tol in (1e-1, 1e-2, 1e-3):
            seconds, model = timed(lambda: svm.SVC(kernel="linear", C=C, tol=tol, cache_size=2000).fit(Z, y), limit)
            if model is None:
                break
            gap = 1 - margin_of(X.astype(np.float64), y, model.coef_[0], True) / margin
            if gap <= 1e-4:
                best = min(best or (seconds, C, tol, gap), (seconds, C, tol, gap))
                break
    if not best:
        say("  LIBSVM (SVC)", limit, "did not come within 1e-4 of the margin")
        add_row("MNIST 0 v 1, intercept", mine, peer="LIBSVM (SVC)", theirs=limit, arrived=False, bar=20)
        return
    say("  LIBSVM (SVC)", best[0], f"C = {best[1]:g}, tol = {best[2]:g}, margin gap {best[3]:.1e}")
    add_row("MNIST 0 v 1, intercept", mine, peer="LIBSVM (SVC)", theirs=best[0], bar=20)


def quadprog(X, y, longest, mine, margin, limit):
    module = wanted("quadprog", "quadprog")
    if not module:
        return
    A = (X / longest).astype(np.float64) * y[:, None]
    seconds, result = timed(lambda: module.solve_qp(np.eye(A.shape[1]), np.zeros(A.shape[1]), A.T.copy(), np.ones(len(y))), limit)
    if result is None:
        say("  quadprog", seconds, "unfinished")
    else:
        say("  quadprog", seconds, f"margin gap {1 - margin_of(X.astype(np.float64), y, result[0], False) / margin:.1e}")
    add_row("MNIST 0 v 1", mine, peer="quadprog", theirs=seconds, arrived=result is not None, bar=40)


def highs(X, y, longest, mine, limit):
    optimize = wanted("scipy.optimize", "scipy")
    if not optimize:
        return
    A = (X / longest).astype(np.float64) * y[:, None]
    start = time.perf_counter()
    result = optimize.linprog(np.zeros(A.shape[1]), A_ub=-A, b_ub=-np.ones(len(y)), bounds=(None, None), method="highs",
                              options={"time_limit": float(limit)})
    seconds = time.perf_counter() - start
    say("  HiGHS, A w >= 1", seconds, {0: "feasible?", 1: "unfinished", 2: "infeasible"}.get(result.status, result.message))
    add_row("MNIST 3 v 5", mine, peer="HiGHS", theirs=seconds, arrived=result.status != 1, bar=20)


def spectrum(power, used, rng):
    n, d = 1000, 2000
    plane = np.zeros(d)
    plane[rng.choice(d, used, replace=False)] = rng.standard_normal(used)
    X = rng.standard_normal((4 * n, d)) * np.arange(1, d + 1.0) ** (-power / 2)
    z = X @ plane + 0.005
    keep = np.flatnonzero(abs(z) > 0.1)[:n]
    return X[keep].astype(np.float32), np.sign(z[keep])


def to_zero_mistakes(name, step, X, y, mine, limit):
    def work():
        for epoch in range(1, 100000):
            model = step()
            if (model.predict(X) == y).all():
                return epoch
    seconds, epochs = timed(work, limit)
    say("  " + name, seconds, f"no training mistake after {epochs} passes" if epochs else "mistakes left")
    add_row("spectrum i^-1.5, p = 2", mine, peer=name, theirs=seconds, arrived=bool(epochs), bar=1)


def perceptrons(X, y, mine, limit):
    linear = wanted("sklearn.linear_model", "scikit-learn")
    if not linear:
        return
    for name, model in (("Perceptron", linear.Perceptron(shuffle=True, random_state=0)),
                        ("SGDClassifier", linear.SGDClassifier(random_state=0, alpha=1e-6))):
        to_zero_mistakes(name, lambda: model.partial_fit(X, y, classes=[-1, 1]), X, y, mine, limit)


def main():
    arguments = sys.argv[1:]
    quick = "-q" in arguments
    arguments = [a for a in arguments if a != "-q"]
    margrave, images = arguments[0], arguments[1] if len(arguments) > 1 else None
    limit = 5 if quick else 60
    if images:
        X, y = mnist(images, 0, 1)
        longest = float(np.linalg.norm(X.astype(np.float64), axis=1).max())
        seconds, margin = ours(margrave, "MNIST 0 v 1, intercept", X, y, ["--tol", "1e-9"])
        libsvm(X, y, longest, seconds, margin, limit)
        seconds, margin = ours(margrave, "MNIST 0 v 1", X, y, ["--tol", "1e-9", "--no-intercept"])
        quadprog(X, y, longest, seconds, margin, limit)
        X, y = mnist(images, 3, 5)
        seconds, _ = ours(margrave, "MNIST 3 v 5", X, y, ["--no-intercept"], 3)
        highs(X, y, longest, seconds, limit)
    X, y = spectrum(1.5, 2000, np.random.default_rng(1))
    seconds, _ = ours(margrave, "spectrum i^-1.5, p = 2", X, y, ["--tol", "1e-6", "--no-intercept"])
    perceptrons(X, y, seconds, limit)
    X, y = spectrum(1, 50, np.random.default_rng(2))
    ours(margrave, "spectrum 1/i, p = sparse", X, y, ["--tol", "1e-6", "--no-intercept", "--p", "sparse"], 3)


if __name__ == "__main__":
    main()
