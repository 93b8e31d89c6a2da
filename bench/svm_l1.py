"""svm_l1.py DIR - the linear programmes of bench_svm_l1 by HiGHS, beside our figures.

min mu sum(p + q) + mean(xi)  subject to  Z (p - q) + xi >= 1,  p, q, xi >= 0,
in both of HiGHS's ways (dual simplex, interior point), the faster one counts. A path is solved
point by point: HiGHS cannot start linprog from an earlier solution."""
import sys
import time

import numpy as np
from rows import add_row
from scipy.optimize import linprog


def load(directory, name):
    raw = np.fromfile(f"{directory}/{name}.bin")
    n, d = int(raw[0]), int(raw[1])
    return raw[2:].reshape(n, d)


def highs(Z, mu, method, repeats):
    n, d = Z.shape
    cost = np.concatenate([np.full(2 * d, mu), np.full(n, 1 / n)])
    A = -np.hstack([Z, -Z, np.eye(n)])
    best, value = np.inf, np.nan
    for _ in range(repeats):
        start = time.perf_counter()
        res = linprog(cost, A_ub=A, b_ub=-np.ones(n), bounds=(0, None), method=method)
        best = min(best, time.perf_counter() - start)
        value = res.fun
    return best, value


def faster(Z, mu):
    runs = [(*highs(Z, mu, m, 1), m) for m in ("highs-ds", "highs-ipm")]
    seconds, value, method = min(runs)
    if seconds < 1:
        seconds = min(seconds, highs(Z, mu, method, 2)[0])
    return seconds, value, method


# The ratios asked for, at the exact optimum (gap 1e-10) and along a path.
BARS = {"100x2500": 25, "10000x50": 300, "leukemia": 30, "colon-cancer": 20}
PATH_BARS = {"leukemia": 60, "colon-cancer": 60}


def main(directory):
    print(f"{'set':10} {'problem':12} {'1 th. ms':>9} {'2 th. ms':>9} {'HiGHS ms':>9} {'ratio':>7}   gap, objective against HiGHS")
    known = {}
    for line in open(f"{directory}/ours.tsv"):
        kind, name, what, mu, one, seconds, primal, gap, certified, solver = line.rstrip("\n").split("\t")
        mu, one, seconds, primal = float(mu), float(one), float(seconds), float(primal)
        Z = load(directory, name)
        if kind == "lp":
            other, value, method = faster(Z, mu)
            known[name] = method
            note = f"{gap} ({solver}), {primal / value - 1:+.1e} ({method})"
        else:
            method = known[name]
            grid = mu * 0.01 ** (np.arange(30) / 29)
            other = sum(highs(Z, m, method, 1)[0] for m in grid)
            note = f"each <= {gap} ({method}, 30 solves)"
        print(f"{name:10} {what:12} {1e3 * one:9.2f} {1e3 * seconds:9.2f} {1e3 * other:9.1f} {other / seconds:6.0f}x   {note}", flush=True)
        path = kind == "path"
        bar = BARS.get(name, 0) if not path else PATH_BARS.get(name, 0)
        add_row(f"{'30-point path' if path else 'l1'} {name}", seconds, goal="gap 1e-6" if path else what, one_thread=one,
                certified=certified == "1", peer="HiGHS", theirs=other, bar=bar)


main(sys.argv[1])
