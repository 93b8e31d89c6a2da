#!/usr/bin/env python3
"""multiclass.py - problems of many classes beside their peers, in one run.

usage: multiclass.py BENCH_MULTICLASS [WORD...]    WORD: only functions whose name contains it
Every function in ROWS yields lines (work, ours, peer, what the peer needed, bar): the ratio is peer/ours, `unit` s or passes.
Our seconds are binding and solving with data in memory, the least of a few runs; reading is in nobody's time."""
import bz2, ctypes, ctypes.util, gzip, json, os, subprocess, sys, tempfile, time
import numpy as np
from rows import add_row

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


def held_out(name, X, y):
    """The settings that choose by these rows; arrays that are mapped, because their reading is in our time."""
    path = os.path.join(FOLDER.name, name)
    np.save(path + ".npy", X)
    np.save(path + ".labels.npy", y)
    return f"select=val:{path}.npy", f"validation_labels={path}.labels.npy"


# ---- runs ------------------------------------------------------------------------------------------------------------


def ours(train, *settings, test="-", repeats=1, certified=True):
    """What bench_multiclass prints, as a dictionary; no time without the certificate where one is asked for."""
    out = subprocess.run([PROGRAM, train, test, str(repeats), *settings], capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    found = json.loads(out.stdout)
    if certified and any(s.startswith("tol=") for s in settings) and found["stop"] != "certified":
        print(f"    {found['stop']}, not certified: {' '.join(settings)}")
        found["seconds"] = found["passes"] = np.nan
    return found


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
        fields += [("init_sol", ctypes.c_void_p, None)]
        fields += [("regularize_bias", ctypes.c_int, 1)] if version >= 241 else []
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
        """Columns x classes, in the order of the sorted labels; for more than two classes."""
        version = ctypes.c_int.in_dll(self.lib, "liblinear_version").value
        parameter = self.parameter(version, kind, eps, C)
        at = self.lib.train(ctypes.byref(self.problem), ctypes.byref(parameter))

        class Model(ctypes.Structure):
            _fields_ = [("parameter", type(parameter)), ("classes", ctypes.c_int), ("columns", ctypes.c_int),
                        ("w", ctypes.POINTER(ctypes.c_double)), ("label", ctypes.POINTER(ctypes.c_int))]

        model = Model.from_address(at)
        wide = 1 if model.classes == 2 else model.classes
        W = np.ctypeslib.as_array(model.w, (model.columns, wide))
        return W[:, np.argsort(model.label[: model.classes])] if wide > 1 else W


# ---- the rows of the table -------------------------------------------------------------------------------------------


def joint_margin():
    """The exact finish beside the plain 1/t^2 iteration, which is stopped once it has lost by a factor of 12."""
    sets = [("MNIST, 2,000 rows, 10 classes", lambda: [a[:2000] for a in mnist()]),
            ("features, 2,000 rows, 100 classes", lambda: features(2000))]
    for name, load in sets:
        train = store("joint", *load())
        common = ("loss=margin", "multiclass=joint", "intercept=no", "tol=1e-3")
        exact = ours(train, *common)
        plain = ours(train, *common, "solver=momentum_margin", f"max_passes={12 * exact['passes']:.0f}", "max_iter=100000",
                     certified=False)
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
    peer = liblinear_or_none(X, y)
    if not peer:
        return
    for eps in (0.1, 0.01):
        seconds, _ = timed(lambda: peer.train(3, eps, 1), 2)
        yield ("one against the rest: news20, hinge, C = 1", mine["seconds"], f"LIBLINEAR -s 3 -e {eps}, training only", seconds,
               "s", 2.5, note)


def selection_text():
    """One strength for 20 classes by five stratified folds, the final model certified; as many strengths over the same range."""
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.svm import LinearSVC

    X, y = news20()
    train = store("news20", X, y)
    peers = [("hinge", LinearSVC(loss="hinge", tol=0.1, fit_intercept=False, max_iter=100000), 5),
             ("squared_hinge", LinearSVC(loss="squared_hinge", tol=0.1, fit_intercept=False, max_iter=100000), 2)]
    for loss, peer, bar in peers:
        mine = ours(train, f"loss={loss}", "select=cv:5", "intercept=no", "tol=1e-3", "max_iter=100000")
        points = int(mine["points"])
        grid = {"C": 1 / (len(y) * np.geomspace(mine["first_lambda"], mine["last_lambda"], points))}
        search = GridSearchCV(peer, grid, cv=StratifiedKFold(5, shuffle=True, random_state=0), n_jobs=mine["threads"])
        seconds, _ = timed(lambda: search.fit(X, y))
        yield (f"choosing C by 5 folds: news20, {loss}", mine["seconds"], f"GridSearchCV(LinearSVC), {points} values of C", seconds,
               "s", bar, f"held-out accuracy {100 * mine['validation']:.2f} %, theirs {100 * search.best_score_:.2f} %")


def liblinear_or_none(X, y):
    peer = Liblinear(X, y)
    if not peer.lib:
        print("multiclass: LIBLINEAR is missing (Debian: liblinear-dev): its rows are left out", file=sys.stderr)
    return peer if peer.lib else None


def lanes_text():
    """Squared hinges, and all 190 pairs of classes; the peer is trained pair by pair on rows of its own."""
    X, y = news20()
    train = store("news20", X, y)
    peer = liblinear_or_none(X, y)
    if not peer:
        return
    common = ("C=1", "intercept=no", "tol=1e-3", "max_iter=100000")
    for loss, kind, C in (("squared_hinge", 1, 0.5), ("logistic", 7, 1)):  # its squared hinge has no 1/2
        mine = ours(train, f"loss={loss}", *common, repeats=3)
        seconds, _ = timed(lambda: peer.train(kind, 0.1, C), 2)
        yield (f"one against the rest: news20, {loss}, C = 1", mine["seconds"], f"LIBLINEAR -s {kind} -e 0.1, training only", seconds,
               "s", 2.5, f"worst gap {mine['gap']:.0e}")
    classes = np.unique(y)
    pairs = [Liblinear(X[rows], y[rows]) for i, a in enumerate(classes) for b in classes[i + 1:]
             for rows in [np.flatnonzero((y == a) | (y == b))]]
    for loss, kind, C in (("hinge", 3, 1), ("squared_hinge", 1, 0.5)):
        mine = ours(train, f"loss={loss}", "multiclass=ovo", *common, repeats=3)
        seconds, _ = timed(lambda: [pair.train(kind, 0.1, C) for pair in pairs])
        yield (f"one against one: news20, {loss}, C = 1", mine["seconds"], f"LIBLINEAR -s {kind} -e 0.1, pair by pair", seconds, "s",
               1, f"worst gap {mine['gap']:.0e}")


def covtype():
    """Seven classes, 54 columns from 0 to 1."""
    import lzma

    with lzma.open(os.path.join(DATA, "covtype.sub92962.data.xz"), "rt") as f:
        table = np.array([line.split(",") for line in f], np.float32)
    X, y = table[:, :-1], table[:, -1].astype(np.float64)
    return (X - X.min(0)) / np.maximum(X.max(0) - X.min(0), 1e-9), y


def lanes_dense():
    """Dense tables without intercept, each class certified to 1e-3, and LIBLINEAR on their non-zeros."""
    from scipy.sparse import csr_matrix

    (X, y), (T, t) = mnist(), mnist("t10k")
    sets = [("MNIST", X, y, T, t, 0.01), ("covtype", *covtype(), None, None, 1)]
    for name, X, y, T, t, C in sets:
        peer = liblinear_or_none(csr_matrix(X.astype(np.float64)), y)
        if not peer:
            return
        train, test = store(name, X, y), store(name + "t", T, t) if T is not None else "-"
        for loss, kind, factor in (("hinge", 3, 1), ("squared_hinge", 1, 0.5), ("logistic", 7, 1)):
            mine = ours(train, f"loss={loss}", f"C={C}", "intercept=no", "tol=1e-3", test=test, repeats=2)
            seconds, W = timed(lambda: peer.train(kind, 0.1, factor * C))
            note = f"worst gap {mine['gap']:.0e}"
            if T is not None:
                note += f", test accuracy {100 * mine['accuracy']:.2f} %, theirs {100 * ((T @ W).argmax(1) == t).mean():.2f} %"
            yield (f"one against the rest: {name}, {loss}, C = {C}", mine["seconds"], f"LIBLINEAR -s {kind} -e 0.1, training only",
                   seconds, "s", 2.5, note)


def kernel_classes():
    """Ten classes with a Gaussian kernel, members certified to 1e-3, beside LIBSVM's 45 pairs."""
    from sklearn.svm import SVC

    X, y = [a[:5000] for a in mnist()]
    T, t = mnist("t10k")
    train, test = store("kernel", X, y), store("kernelt", T, t)
    for C in (1, 10):
        seconds, model = timed(lambda: SVC(C=C, gamma=1 / 50, cache_size=2000).fit(X, y))
        score = model.score(T[:2000], t[:2000])
        for form, name in (("ovr", "one against the rest"), ("ovo", "one against one")):
            mine = ours(train, "kernel=rbf", "sigma2=25", "loss=hinge", f"C={C}", "tol=1e-3", f"multiclass={form}", test=test)
            yield (f"{name}: MNIST, 5,000 rows, rbf, C = {C}", mine["seconds"], "SVC (LIBSVM, one against one)", seconds, "s", 1.5,
                   f"test accuracy {100 * mine['accuracy']:.2f} %, theirs {100 * score:.2f} % (2,000 rows)")


def numpy_epochs(X, y, V, v, epochs, classes):
    """The method of minibatch_momentum with NumPy's matrix products, validation after every epoch; seconds."""
    rng, n, y, v = np.random.RandomState(0), len(X), y.astype(int), v.astype(int)
    start = time.perf_counter()
    sample = X[:: max(1, n // 8192)]
    mu = sample.mean(0)
    C, u = sample[::8] - mu, rng.randn(X.shape[1]).astype(np.float32)
    for _ in range(8):
        u = C.T @ (C @ u) / len(C)
        L = np.linalg.norm(u)
        u /= L
    rate, keep = np.float32(0.9 / (0.5 * L)), np.float32(0.9)
    W, b = np.zeros((X.shape[1], classes), np.float32), np.zeros(classes, np.float32)
    M, m = np.zeros_like(W), np.zeros_like(b)
    for _ in range(epochs):
        order, W_sum, b_sum, batches = rng.permutation(n), np.zeros_like(W), np.zeros_like(b), 0
        for i in range(0, n - 255, 256):
            rows = order[i:i + 256]
            x = X[rows]
            P = x @ W
            P += b - mu @ W
            P -= P.max(1, keepdims=True)
            np.exp(P, P)
            P /= P.sum(1, keepdims=True)
            P[np.arange(256), y[rows]] -= 1
            g = P.mean(0)
            G = x.T @ P
            G /= 256
            G -= np.outer(mu, g)
            M *= keep
            M -= rate * G
            W += M
            m = keep * m - rate * g
            b = b + m
            W_sum += W
            b_sum += b
            batches += 1
        ((V @ (W_sum / batches) + b_sum / batches - mu @ W_sum / batches).argmax(1) == v).mean()
    return time.perf_counter() - start


def probing_set(name, X, y, train, validation):
    """The chosen epoch beside a search over C and beside the same method in NumPy; test accuracies are means of 5 seeds."""
    from sklearn.linear_model import LogisticRegression

    parts = np.split(np.arange(len(X)), [train, train + validation])
    (X, y), (V, v), (T, t) = [(X[p], y[p]) for p in parts]
    own, chooses, test = store("probe", X, y), held_out("held", V, v), store("test", T, t)
    mine = [ours(own, "loss=softmax", *chooses, f"seed={seed}", test=test, repeats=2) for seed in range(5)]
    median = sorted(mine, key=lambda r: r["seconds"])[2]
    accuracy = np.mean([r["accuracy"] for r in mine])
    epochs = median["iterations"]
    theirs = min(numpy_epochs(X, y, V, v, epochs, int(y.max()) + 1) for _ in range(2))
    yield (f"probing: {name}", median["seconds"], f"the same method in NumPy, {epochs} epochs", theirs, "s",
           3 if y.max() < 50 else 1.5, f"test accuracy {100 * accuracy:.2f} %")
    best, total = None, 0
    for C in (1e-3, 1e-2, 0.1, 1, 10) if y.max() < 50 else (1e-4, 1e-3, 1e-2, 0.1, 1):
        seconds, model = timed(lambda: LogisticRegression(C=C, max_iter=100).fit(X, y))
        total += seconds
        score = model.score(V, v)
        best = max(best, (score, model.score(T, t))) if best else (score, model.score(T, t))
    yield (f"probing: {name}", median["seconds"], "LogisticRegression, 5 values of C, 100 iterations", total, "s",
           60 if y.max() < 50 else 50, f"test accuracy {100 * accuracy:.2f} %, theirs {100 * best[1]:.2f} %")
    order = np.argsort(y, kind="stable")
    ordered = ours(store("ordered", X[order], y[order]), "loss=softmax", *chooses, test=test)
    print(f"    rows sorted by label: {100 * ordered['accuracy']:.2f} % in {ordered['seconds']:.2f} s")


def probing_mnist():
    (X, y), (T, t) = mnist(), mnist("t10k")
    yield from probing_set("MNIST, 10 classes", np.concatenate([X, T]), np.concatenate([y, t]), 50000, 10000)


def probing_features():
    yield from probing_set("features, 512 x 100 classes", *features(60000), 50000, 5000)


def softmax_certified():
    """A fixed strength, certified to 1e-3, beside LogisticRegression until it says that it has converged."""
    from sklearn.linear_model import LogisticRegression

    X, y = [a[:50000] for a in mnist()]
    train = store("softmax", X, y)
    mine = ours(train, "loss=softmax", "C=0.1", "tol=1e-3", repeats=3)
    seconds, model = timed(lambda: LogisticRegression(C=0.1, max_iter=5000).fit(X, y))
    yield ("softmax: MNIST, C = 0.1, certified", mine["seconds"], f"LogisticRegression, {model.n_iter_[0]} iterations", seconds,
           "s", 15, f"gap {mine['gap']:.0e}, {mine['iterations']} iterations")


ROWS = [joint_margin, against_the_rest, selection_text, lanes_text, lanes_dense, kernel_classes, probing_mnist,
        probing_features, softmax_certified]


def main():
    start = time.perf_counter()
    for rows in ROWS:
        if WANTED and not any(word in rows.__name__ for word in WANTED):
            continue
        for work, mine, peer, theirs, unit, bar, note in rows():
            form = (lambda v: f"{v:7.3f} s") if unit == "s" else (lambda v: f"{v:.0f} p")
            print(f"{work:52} {form(mine):>9} {peer:40} {form(theirs):>9} {theirs / mine:6.1f}x  {note}", flush=True)
            add_row(work, mine, peer=peer, theirs=theirs, unit=unit, bar=bar)
    print(f"{time.perf_counter() - start:.0f} s in all")


main()
