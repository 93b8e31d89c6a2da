#!/usr/bin/env python3
"""multiclass.py - problems of many classes beside their peers, in one run.

usage: multiclass.py BENCH_MULTICLASS [WORD...]    WORD: only functions whose name contains it
Every function in ROWS yields lines (work, ours, peer, what the peer needed, bar): the ratio is peer/ours, `unit` s or passes.
Our seconds are binding and solving with data in memory, the least of a few runs; reading is in nobody's time."""
import bz2, ctypes, ctypes.util, gzip, json, os, subprocess, sys, tempfile, time
import numpy as np

DATA = os.environ.get("MARGRAVE_DATA") or sys.exit("multiclass: set MARGRAVE_DATA to the folder with the data sets")
PROGRAM, WANTED = sys.argv[1], sys.argv[2:]
FOLDER = tempfile.TemporaryDirectory()


# ---- data ------------------------------------------------------------------------------------------------------------


def idx(name, skip):
    with gzip.open(os.path.join(DATA, name)) as f:
        return np.frombuffer(f.read(), np.uint8, offset=skip)


def mnist(part="train"):
    y = idx(f"{part}-labels-idx1-ubyte.gz", 8)
    return idx(f"{part}-images-idx3-ubyte.gz", 16).reshape(len(y), 784).astype(np.float32) / 255, y.astype(np.float64)


def features(rows):
    """A random ReLU network 784 -> 1024 -> 512 over MNIST; 100 classes: digit x 10 k-means clusters of the digit."""
    X, digit = mnist()
    X, digit, rng = X[:rows], digit[:rows], np.random.default_rng(0)
    for wide in (1024, 512):
        X = np.maximum(X @ rng.normal(0, np.sqrt(2 / X.shape[1]), (X.shape[1], wide)).astype(np.float32), 0)
    y = np.zeros(rows)
    for d in range(10):
        own = np.flatnonzero(digit == d)
        Z = X[own]
        centre = Z[rng.choice(len(own), 10, replace=False)]
        for _ in range(20):
            near = ((Z**2).sum(1)[:, None] - 2 * Z @ centre.T + (centre**2).sum(1)).argmin(1)
            centre = np.array([Z[near == k].mean(0) if (near == k).any() else centre[k] for k in range(10)])
        y[own] = 10 * d + near
    return X, y


def news20():
    """Rows divided by their lengths, as CSR."""
    from sklearn.datasets import load_svmlight_file
    from sklearn.preprocessing import normalize

    with bz2.open(os.path.join(DATA, "news20.multiclass.bz2")) as f:
        X, y = load_svmlight_file(f)
    return normalize(X).tocsr(), y


def store(name, X, y):
    """A file the program reads."""
    path = os.path.join(FOLDER.name, name)
    if isinstance(X, np.ndarray):
        np.savez(path + ".npz", X=X, y=y)
        return path + ".npz"
    from sklearn.datasets import dump_svmlight_file

    dump_svmlight_file(X, y, path + ".svm", zero_based=False)
    return path + ".svm"


# ---- runs ------------------------------------------------------------------------------------------------------------


def ours(train, *settings, test="-", repeats=1):
    """What bench_multiclass prints, as a dictionary."""
    out = subprocess.run([PROGRAM, train, test, str(repeats), *settings], capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    return json.loads(out.stdout)


def timed(fn, repeats=1):
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.perf_counter()
        result = fn()
        best = min(best, time.perf_counter() - start)
    return best, result


class Liblinear:
    """LIBLINEAR's training alone, through its shared library."""

    class Problem(ctypes.Structure):
        _fields_ = [("l", ctypes.c_int), ("n", ctypes.c_int), ("y", ctypes.c_void_p), ("x", ctypes.c_void_p),
                    ("bias", ctypes.c_double)]

    @staticmethod
    def parameter(version, kind, eps, C):
        """The fields grew: nu came with 2.40, regularize_bias with 2.41."""
        fields = [("solver_type", ctypes.c_int, kind), ("eps", ctypes.c_double, eps), ("C", ctypes.c_double, C),
                  ("nr_weight", ctypes.c_int, 0), ("weight_label", ctypes.c_void_p, None),
                  ("weight", ctypes.c_void_p, None), ("p", ctypes.c_double, 0.1)]
        fields += [("nu", ctypes.c_double, 0.5)] if version >= 240 else []
        fields += [("init_sol", ctypes.c_void_p, None), ("regularize_bias", ctypes.c_int, 1)]
        Parameter = type("Parameter", (ctypes.Structure,), {"_fields_": [f[:2] for f in fields]})
        return Parameter(*[f[2] for f in fields])

    def __init__(self, X, y):
        path = ctypes.util.find_library("linear")
        self.lib = ctypes.CDLL(path) if path else None
        if not self.lib:
            return
        rows, node = X.shape[0], np.dtype([("index", np.int32), ("value", np.float64)], align=True)
        at = X.indptr.astype(np.int64) + np.arange(rows + 1)
        self.nodes = np.zeros(X.nnz + rows, node)
        inside = np.ones(len(self.nodes), bool)
        inside[at[1:] - 1] = False
        self.nodes["index"][~inside] = -1
        self.nodes["index"][inside] = X.indices + 1
        self.nodes["value"][inside] = X.data
        self.x = (self.nodes.ctypes.data + at[:-1] * node.itemsize).astype(np.uint64)
        self.y = np.ascontiguousarray(y, np.float64)
        self.problem = self.Problem(rows, X.shape[1], self.y.ctypes.data, self.x.ctypes.data, -1)
        self.quiet = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(lambda text: None)
        self.lib.set_print_string_function(self.quiet)
        self.lib.train.restype = ctypes.c_void_p

    def train(self, kind, eps, C):
        version = ctypes.c_int.in_dll(self.lib, "liblinear_version").value
        parameter = self.parameter(version, kind, eps, C)
        self.lib.train(ctypes.byref(self.problem), ctypes.byref(parameter))


# ---- the rows of the table -------------------------------------------------------------------------------------------


def joint_margin():
    """The exact finish beside the plain 1/t^2 iteration, which is stopped once it has lost by a factor of 12."""
    sets = [("MNIST, 2,000 rows, 10 classes", lambda: [a[:2000] for a in mnist()]),
            ("features, 2,000 rows, 100 classes", lambda: features(2000))]
    for name, load in sets:
        train = store("joint", *load())
        common = ("loss=margin", "multiclass=joint", "intercept=no", "tol=1e-3")
        exact = ours(train, *common)
        plain = ours(train, *common, "solver=momentum_margin", f"max_passes={12 * exact['passes']:.0f}", "max_iter=100000")
        certified = plain["stop"] == "certified"
        yield (f"joint margin: {name}", exact["passes"], "1/t^2 iteration", plain["passes"], "passes", 10,
               f"gap {exact['gap']:.0e} in {exact['seconds']:.2f} s"
               + ("" if certified else f"; theirs stopped at {plain['gap']:.0e}"))


def against_the_rest():
    """20 classes of text, each certified to 1e-3."""
    from sklearn.svm import LinearSVC

    X, y = news20()
    train = store("news20", X, y)
    mine = ours(train, "loss=hinge", "C=1", "intercept=no", "tol=1e-3", "max_iter=100000", repeats=5)
    note = f"worst gap {mine['gap']:.0e}"
    seconds, _ = timed(lambda: LinearSVC(loss="hinge", tol=0.1, fit_intercept=False, max_iter=100000).fit(X, y), 2)
    yield "one against the rest: news20, hinge, C = 1", mine["seconds"], "LinearSVC(hinge, tol=0.1)", seconds, "s", 6, note
    peer = Liblinear(X, y)
    if not peer.lib:
        print("multiclass: LIBLINEAR is missing (Debian: liblinear-dev): its rows are left out", file=sys.stderr)
        return
    for eps in (0.1, 0.01):
        seconds, _ = timed(lambda: peer.train(3, eps, 1), 2)
        yield ("one against the rest: news20, hinge, C = 1", mine["seconds"], f"LIBLINEAR -s 3 -e {eps}, training only", seconds,
               "s", 2.5, note)


ROWS = [joint_margin, against_the_rest]


def main():
    start, lost = time.perf_counter(), 0
    print(f"{'work':52} {'ours':>9} {'peer':40} {'theirs':>9} {'ratio':>6} {'bar':>5}  met")
    for rows in ROWS:
        if WANTED and not any(word in rows.__name__ for word in WANTED):
            continue
        for work, mine, peer, theirs, unit, bar, note in rows():
            met = theirs / mine >= bar
            lost += not met
            form = (lambda v: f"{v:7.3f} s") if unit == "s" else (lambda v: f"{v:.0f} p")
            print(f"{work:52} {form(mine):>9} {peer:40} {form(theirs):>9} {theirs / mine:6.1f} {bar:5.1f}  "
                  f"{'yes' if met else 'NO':3}  {note}", flush=True)
    print(f"{lost} below their bar; {time.perf_counter() - start:.0f} s in all")


main()
