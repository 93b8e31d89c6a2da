"""iterreg_peers.py FOLDER - the Lasso with its strength chosen on the same dense data, as the users
of glmnet, celer and scikit-learn run it: 4 folds, 100 strengths to lambda_max/100, no intercept."""
import os
import shutil
import subprocess
import sys
import time

import numpy as np

ROWS, COLS, TEST = 1000, 2000, 250


def read(path):
    with open(path, "rb") as f:
        X = np.fromfile(f, np.float32, (ROWS + TEST) * COLS).reshape(-1, COLS)
        y = np.fromfile(f, np.float64, ROWS + TEST)
        w = np.fromfile(f, np.float64, COLS)
    return X.astype(np.float64), y, w


def say(name, seconds, coef, X, y, w):
    support, true = coef != 0, w != 0
    f1 = 2 * (support & true).sum() / max(1, support.sum() + true.sum())
    mse = np.mean((X[ROWS:] @ coef - y[ROWS:]) ** 2)
    print(f"{name:30} {'cv:4':8} {seconds:9.4f} {'':5} {'':8} {'':7} {'':8} {mse:9.2f} {f1:5.3f} {support.sum():6}",
          flush=True)


def sklearn_like(name, estimator, X, y, w):
    start = time.perf_counter()
    estimator.fit(X[:ROWS], y[:ROWS])
    say(name, time.perf_counter() - start, estimator.coef_, X, y, w)


def attempt(name, package, make, X, y, w):
    try:
        estimator = make()
    except ImportError:
        print(f"{name}: not installed (pip install {package})")
        return
    except TypeError as e:  # celer lags behind scikit-learn's releases
        print(f"{name}: this version does not run here: {e}")
        return
    sklearn_like(name, estimator, X, y, w)


GLMNET = """
library(glmnet)
f <- file("%s", "rb"); X <- matrix(readBin(f, "double", %d, size = 4), ncol = %d, byrow = TRUE)
y <- readBin(f, "double", %d); close(f)
X <- X[1:%d, ]; y <- y[1:%d]
t <- system.time(m <- cv.glmnet(X, y, nfolds = 4, nlambda = 100, lambda.min.ratio = .01,
                                intercept = FALSE, standardize = FALSE))["elapsed"]
writeBin(c(as.numeric(t), as.numeric(coef(m, s = "lambda.min"))[-1], as.numeric(coef(m, s = "lambda.1se"))[-1]),
         "%s")
"""


def glmnet(path, X, y, w):
    out = path + ".glmnet"
    code = GLMNET % (path, (ROWS + TEST) * COLS, COLS, ROWS + TEST, ROWS, ROWS, out)
    done = subprocess.run(["Rscript", "-e", code], capture_output=True, text=True)
    if done.returncode != 0:
        print("glmnet: not installed (apt-get install r-cran-glmnet)")
        return
    got = np.fromfile(out)
    os.remove(out)
    say("glmnet cv.glmnet, min", got[0], got[1 : 1 + COLS], X, y, w)
    say("glmnet cv.glmnet, 1 se", got[0], got[1 + COLS :], X, y, w)


def main():
    for rho in (".2", ".8"):
        path = os.path.join(sys.argv[1], f"dense_rho0{rho}.bin")
        X, y, w = read(path)
        print(f"\npeers, rho = {rho}")
        if shutil.which("Rscript"):
            glmnet(path, X, y, w)
        else:
            print("glmnet: no Rscript here (apt-get install r-cran-glmnet)")
        attempt("celer LassoCV", "celer", lambda: __import__("celer").LassoCV(
            eps=1e-2, n_alphas=100, cv=4, fit_intercept=False, n_jobs=2), X, y, w)
        attempt("scikit-learn LassoCV", "scikit-learn", lambda: __import__(
            "sklearn.linear_model", fromlist=["LassoCV"]).LassoCV(
            eps=1e-2, alphas=100, cv=4, fit_intercept=False, n_jobs=2), X, y, w)


main()
