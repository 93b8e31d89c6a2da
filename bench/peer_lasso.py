# peer_lasso.py PEER FOLDER INTERCEPT END LIMIT ALPHA POINTS GROUP - LassoCV of scikit-learn or celer, or the paths of skglm or
# adelie in a loop over the folds (elastic nets where the part ALPHA of l1 is below 1: scikit-learn and adelie; groups of GROUP
# columns: adelie), on what bench_lasso left in FOLDER; prints "result SECONDS CV_ERROR TEST_ERROR NONZEROS", or
# "cut off" when fitting has taken LIMIT seconds.
import os
import signal
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp

warnings.filterwarnings("ignore")
peer, folder, intercept, end, limit = sys.argv[1], sys.argv[2], sys.argv[3] == "1", float(sys.argv[4]), float(sys.argv[5])
l1, points, group = float(sys.argv[6]), int(sys.argv[7]), int(sys.argv[8])


def raw(name, kind):
    return np.fromfile(f"{folder}/{name}", dtype=kind)


n, d, nnz, dense = (int(v) for v in raw("shape", np.int32))
if dense:
    X = np.asfortranarray(raw("val", np.float64).reshape(d, n).T)
else:
    X = sp.csc_matrix((raw("val", np.float64), raw("idx", np.int32), raw("ptr", np.int32)), shape=(n, d))
y, fold = raw("y", np.float64), raw("fold", np.int32).reshape(-1, n)


threads = 1


def adelie_path(A, b, **path):
    made = adelie.matrix.sparse(A.tocsc(), n_threads=threads) if sp.issparse(A) else np.asfortranarray(A)
    return adelie.grpnet(made, adelie.glm.gaussian(b), groups=np.arange(0, d, group) if group else None, alpha=l1, intercept=intercept,
                         early_exit=False, progress_bar=False, n_threads=threads, **path)


def adelie_cv(A, b, splits):
    whole = adelie_path(A, b, lmda_path_size=points, min_ratio=end)
    errors = np.zeros((len(splits), len(whole.lmdas)))
    for k, (train, test) in enumerate(splits):
        part = adelie_path(A[train], b[train], lmda_path=whole.lmdas)
        scores = np.asarray(A[test] @ part.betas.T.toarray()) + part.intercepts
        errors[k] = ((scores - b[test][:, None]) ** 2).mean(axis=0)
    mean = errors.mean(axis=0)
    best = int(mean.argmin())
    return whole.betas[best].toarray().ravel(), whole.intercepts[best], mean[best]


def fit_cv(A, b, f):
    """Chosen weights, intercept, cv error."""
    splits = [(np.flatnonzero(f != k), np.flatnonzero(f == k)) for k in range(1, 5)]
    if peer in ("sklearn", "celer"):
        if peer == "sklearn":
            from sklearn.linear_model import ElasticNetCV, LassoCV

            common = dict(eps=end, alphas=points, fit_intercept=intercept, cv=splits)
            model = LassoCV(**common) if l1 == 1 else ElasticNetCV(l1_ratio=l1, **common)
        else:
            from celer import LassoCV

            model = LassoCV(eps=end, n_alphas=points, fit_intercept=intercept, cv=splits)
        model.fit(A, b)
        return model.coef_, model.intercept_, model.mse_path_.mean(axis=1).min()
    if peer == "adelie":
        return adelie_cv(A, b, splits)
    from skglm import Lasso

    centred = b - b.mean() if intercept else b
    alphas = np.abs(A.T @ centred).max() / len(b) * np.geomspace(1, end, points)
    errors = np.zeros((len(splits), len(alphas)))
    models = []
    for k, (train, test) in enumerate(splits + [(np.arange(len(b)), None)]):
        model = Lasso(fit_intercept=intercept, warm_start=True)
        sub = A[train] if test is not None else A
        sub = sub.tocsc() if sp.issparse(sub) else np.asfortranarray(sub)
        for i, alpha in enumerate(alphas):
            model.alpha = alpha
            model.fit(sub, b[train])
            if test is None:
                models.append((model.coef_.copy(), model.intercept_))
            else:
                errors[k, i] = np.mean((model.predict(A[test]) - b[test]) ** 2)
    mean = errors.mean(axis=0)
    return (*models[int(mean.argmin())], mean.min())


if peer == "skglm":  # numba compiles at the first call: not counted
    from skglm import Lasso

    small = sp.random(50, 20, 0.5, format="csc", random_state=0) if not dense else np.asfortranarray(np.random.rand(50, 20))
    Lasso(alpha=0.01, fit_intercept=intercept).fit(small, np.random.rand(50))
if peer == "celer":
    import celer  # noqa: F401  its import is not counted
elif peer == "adelie":
    import adelie

    def seconds_with(count):
        global threads
        threads, start = count, time.perf_counter()
        adelie_path(X, y, lmda_path_size=10, min_ratio=0.1)
        return time.perf_counter() - start

    threads = min((1, os.cpu_count()), key=seconds_with)  # the faster one
elif peer == "sklearn":
    import sklearn.linear_model  # noqa: F401


def watch(seconds):
    """A process of its own ends this one after that many seconds: compiled loops hear no signal but the last."""
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        time.sleep(seconds)
        os.write(1, b"cut off\n")
        os.kill(parent, signal.SIGKILL)
        os._exit(0)
    return child


watchdog = watch(limit)
total = error = test_error = nonzeros = 0.0
for f in fold:
    own = f > 0
    A = X if own.all() else np.asfortranarray(X[own])
    started = time.perf_counter()
    coef, b, cv = fit_cv(A, y[own], f[own])
    total += time.perf_counter() - started
    error += cv / len(fold)
    nonzeros += np.count_nonzero(coef) / len(fold)
    if not own.all():
        test_error += np.mean((X[~own] @ coef + b - y[~own]) ** 2) / len(fold)
os.kill(watchdog, signal.SIGKILL)
print("result", total, error, test_error, nonzeros)
