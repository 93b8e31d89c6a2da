# peer_complete.py FOLDER - what others do on the set that bench_complete left in FOLDER, with NumPy and its
# BLAS on all cores: the primal-dual iteration with a dense singular value decomposition in every step, as the
# package iterreg has it, and a soft-impute path. Both choose on the same share of held-out entries; neither
# is charged for a fit to all entries afterwards.
import sys
import time

import numpy as np
from rows import add_row
from scipy.linalg import svd

folder = sys.argv[1]
m, n, count, fresh = (int(v) for v in np.fromfile(f"{folder}/shape", np.int64))
row, col = (np.fromfile(f"{folder}/{name}", np.int64) for name in ("row", "col"))
value = np.fromfile(f"{folder}/value")
own_seconds, own_error = np.fromfile(f"{folder}/own")

order = np.random.default_rng(0).permutation(count)
held, train = order[: count // 10], order[count // 10 :]
test = np.arange(count, count + fresh)
mask = np.zeros((m, n), bool)
mask[row[train], col[train]] = True
B = np.zeros((m, n))
B[row[train], col[train]] = value[train]


def error(X, which):
    return np.sqrt(np.mean((X[row[which], col[which]] - value[which]) ** 2))


def shrink(V, t):
    U, s, W = svd(V, full_matrices=False, check_finite=False, overwrite_a=True)
    r = int((s > t).sum())
    return (U[:, :r] * (s[:r] - t)) @ W[:r], r


def dense_iteration(c, patience=10):
    sigma = c / np.linalg.norm(B, 2)
    tau = 0.99 / sigma
    X, Y, old = np.zeros((m, n)), np.zeros((m, n)), np.zeros((m, n))
    best, best_k, k = (np.inf, X, 0), 0, 0
    while k - best_k < patience:
        k += 1
        X, r = shrink(X - tau * (2 * Y - old), tau)
        old, Y = Y, Y + sigma * np.where(mask, X - B, 0)
        if (e := error(X, held)) < best[0]:
            best, best_k = (e, X, r), k
    return best[1], best[2], f"{k} decompositions"


def soft_impute(points=20, end=100, tol=1e-3, most=100):
    top = np.linalg.norm(B, 2)
    X, best, steps = np.zeros((m, n)), (np.inf, None, 0), 0
    for t in top * np.geomspace(1, 1 / end, points + 1)[1:]:
        for _ in range(most):
            new, r = shrink(np.where(mask, B, X), t)
            steps += 1
            change = np.linalg.norm(new - X) / max(np.linalg.norm(X), 1e-300)
            X = new
            if change < tol:
                break
        if (e := error(X, held)) < best[0]:
            best = (e, X, r)
        elif e > 1.1 * best[0]:
            break
    return best[1], best[2], f"{steps} decompositions"


shrink(B.copy(), 1.0)  # the library wakes up
for name, run, bar in (
    ("dense iteration, c = 1", lambda: dense_iteration(1.0), 50),
    ("dense iteration, c = 1/4", lambda: dense_iteration(0.25), 50),
    ("soft-impute path, 20 strengths", soft_impute, 200),
):
    started = time.perf_counter()
    X, rank, note = run()
    seconds = time.perf_counter() - started
    e = error(X, test)
    print(f"  {name:44s} {seconds:8.3f} s  rank {rank:3d}  test {e:.4f}  {note}: {seconds / own_seconds:.0f} times", flush=True)
    work = "500 x 500, rank 5, 20 % seen, noise .1"
    add_row(work, own_seconds, peer=name, theirs=seconds, bar=bar)
    add_row(work, own_error, unit="test error", peer=name, theirs=e, bar=1)
