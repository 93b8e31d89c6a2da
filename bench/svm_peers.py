"""svm_peers.py FOLDER - the rivals that are not LIBLINEAR, on the problems bench_svm left in FOLDER.

A primal-dual interior point on all rows in NumPy, with w eliminated (w = Z'a/lambda), and scikit-learn's
SGDClassifier at several numbers of epochs. Objectives are computed here in float64.
"""
import csv
import sys
import time

import numpy as np
from rows import add_row


def objective(Z, w, lam):
    return lam / 2 * w @ w + np.maximum(0, 1 - Z @ w).mean()


def interior_point(Z, lam, tol, most=100):
    """min lam/2 |w|^2 + mean max(0, 1 - Z w): Mehrotra's method; returns w and the steps taken.

    Variables a in (0, 1/n) with c = 1/n - a, slacks s, xi > 0: Z w + xi - s = 1, lam w = Z'a,
    s a = xi c = tau. The n x n system is reduced to d x d: (lam I + Z' T^-1 Z) dw = ...
    """
    n, d = Z.shape
    cap = 1 / n
    a = np.full(n, cap / 2)
    w = Z.T @ a / lam
    u = 1 - Z @ w
    xi, s = np.maximum(u, 0) + 1, np.maximum(-u, 0) + 1
    best = (np.inf, w)
    for step in range(most):
        c = cap - a
        z, v = Z @ w, Z.T @ a
        primal = lam / 2 * w @ w + np.maximum(0, 1 - z).mean()
        dual = a.sum() - v @ v / (2 * lam)
        gap = (primal - dual) / primal
        if gap < best[0]:
            best = (gap, w.copy())
        if gap <= tol or gap > 1e3 * best[0] and best[0] < 1e-3:
            break
        T = xi / c + s / a
        H = (Z.T / T) @ Z + lam * np.eye(d)
        L = np.linalg.cholesky(H)
        rd, rw = 1 - (z + xi - s), v - lam * w

        def direction(cs, cx):
            r = rd + (cs / a - s) - (cx / c - xi)
            dw = np.linalg.solve(L.T, np.linalg.solve(L, rw + Z.T @ (r / T)))
            da = (r - Z @ dw) / T
            return dw, da, cs / a - s - s / a * da, cx / c - xi + xi / c * da

        def longest(da, ds, dx):
            t = 1.0
            for x, dx_ in ((a, da), (c, -da), (s, ds), (xi, dx)):
                m = dx_ < 0
                if m.any():
                    t = min(t, 0.995 * (-x[m] / dx_[m]).min())
            return t

        tau = (s @ a + xi @ c) / (2 * n)
        dw, da, ds, dx = direction(0, 0)
        t = longest(da, ds, dx)
        affine = ((s + t * ds) @ (a + t * da) + (xi + t * dx) @ (c - t * da)) / (2 * n)
        goal = tau * (affine / tau) ** 3
        dw, da, ds, dx = direction(goal - ds * da, goal + dx * da)
        t = longest(da, ds, dx)
        w, a, s, xi = w + t * dw, a + t * da, s + t * ds, xi + t * dx
    return best[1], step


def note(mine, goal, peer, seconds, arrived, bar):
    add_row(mine["name"], mine["seconds"], goal=goal, one_thread=mine["one"], peer=peer, theirs=seconds, arrived=arrived, bar=bar)


def sgd(Z, y, lam, ours):
    try:
        from sklearn.linear_model import SGDClassifier
    except ImportError:
        print("no scikit-learn: SGD is left out", file=sys.stderr)
        return
    X = Z * y[:, None]
    best = (np.inf,)
    for epochs in (1, 5, 20):
        model = SGDClassifier(loss="hinge", alpha=lam, fit_intercept=False, max_iter=epochs, tol=None, average=True)
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
        value = objective(Z, model.coef_[0].astype(np.float64), lam)
        print(f"{'SGDClassifier, ' + str(epochs) + ' epochs':42s} {1e3 * seconds:10.1f} ms   suboptimal by "
              f"{value / ours['primal'] - 1:.1e}   (ours to {ours['tol']:.0e}: {1e3 * ours['seconds']:.1f} ms)", flush=True)
        best = min(best, (value / ours["primal"] - 1, seconds, epochs))
    note(ours, f"gap {ours['tol']:.0e}", f"SGD {best[2]} epochs: {best[0]:.0e}", best[1], best[0] <= ours["tol"], 1)


def main(folder):
    with open(f"{folder}/ours.csv") as f:
        figures = [dict(name=r[0], lam=float(r[1]), tol=float(r[2]), one=float(r[3]), seconds=float(r[4]),
                        primal=float(r[5]))
                   for r in csv.reader(f)]
    for stem in ("covtype", "large"):
        mine = [r for r in figures if r["name"].startswith("covtype" if stem == "covtype" else "generated")]
        if not mine:
            continue
        y = np.load(f"{folder}/{stem}_y.npy").ravel()
        Z = np.load(f"{folder}/{stem}.npy").astype(np.float64) * y[:, None]
        print(f"\n{stem}: {Z.shape[0]} x {Z.shape[1]}, NumPy interior point on all rows")
        for r in mine if stem == "covtype" else []:
            if r["tol"] > 1e-6:
                continue
            start = time.perf_counter()
            w, steps = interior_point(Z, r["lam"], r["tol"])
            seconds = time.perf_counter() - start
            print(f"{r['name']:24s} gap {r['tol']:.0e}: {1e3 * seconds:9.1f} ms, {steps} steps, objective differs by "
                  f"{abs(objective(Z, w, r['lam']) / r['primal'] - 1):.0e}; ours {1e3 * r['seconds']:.1f} ms, "
                  f"ratio {seconds / r['seconds']:.1f}", flush=True)
            bar = 30 if r["tol"] < 1e-9 or r["lam"] < 1e-5 else 0
            note(r, f"gap {r['tol']:.0e}", "NumPy interior point", seconds, True, bar)
        sgd(Z, y, mine[0]["lam"], next((r for r in mine if r["tol"] == 1e-4), mine[0]))


main(sys.argv[1])
