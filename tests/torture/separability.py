#!/usr/bin/env python3
"""separability.py - the answers `separable` and `not separable` against exact rational arithmetic.

usage: separability.py COMMAND [PROBLEMS [SEED]] [--family NAME] [--solver NAME] [--show]

COMMAND is margrave with its library beside it, or that library.

Small random problems whose columns have sizes from 1 to 1e16 beside each other are given to
libmargrave (the public interface only), and to a simplex method over the integers, which decides
without rounding whether some q >= 0, sum q = 1, has sum_i q_i y_i (x_i, 1) = 0. A model that comes
with the answer `separable` must separate the data in exact arithmetic. Prints the counts and exits
1 if any answer is false. Standard library only; shares no code with margrave.
"""
import argparse
import collections
import ctypes
import os
import random
import sys
import time
from fractions import Fraction

# ---- the exact answer ---------------------------------------------------------------------------


def integers(columns):
    """Every column times the power of two that makes its doubles integers."""
    out = []
    for column in columns:
        exact = [Fraction(x) for x in column]
        scale = max(x.denominator for x in exact)  # powers of two
        out.append([int(x * scale) for x in exact])
    return out


def has_convex_zero(rows):
    """Is 0 a convex combination of the rows? Phase 1 of the simplex method by integer pivoting
    (Edmonds), with Bland's rule: neither rounding nor cycling."""
    n = len(rows)
    columns = integers(list(zip(*rows)))
    # columns.q = 0 and sum q = 1 with an artificial variable each; the cost row is their sum.
    table = [list(c) + [0] for c in columns] + [[1] * n + [1]]
    basis = [n + k for k in range(len(table))]
    cost = [sum(t[j] for t in table) for j in range(n + 1)]
    before = 1
    while True:
        enter = next((j for j in range(n) if cost[j] > 0), None)
        if enter is None or cost[n] == 0:
            return cost[n] == 0
        leave = None
        for i, t in enumerate(table):
            if t[enter] <= 0:
                continue
            # the least t[n]/t[enter], ties by the number of the variable
            if leave is None:
                leave = i
                continue
            s = table[leave]
            left, right = t[n] * s[enter], s[n] * t[enter]
            if left < right or (left == right and basis[i] < basis[leave]):
                leave = i
        pivot_row = table[leave]
        pivot = pivot_row[enter]
        for t in table + [cost]:
            if t is not pivot_row:
                factor = t[enter]
                for j in range(n + 1):
                    t[j] = (pivot * t[j] - factor * pivot_row[j]) // before
        before = pivot
        basis[leave] = enter


def least_margin(x, y, weights, bias):
    """min_i y_i (x_i.w + b), exactly."""
    return min(
        label * (sum(Fraction(a) * Fraction(w) for a, w in zip(row, weights)) + Fraction(bias))
        for row, label in zip(x, y)
    )


# ---- problems -----------------------------------------------------------------------------------


def size(r):
    return 10.0 ** r.uniform(0, 16)


def labels(r, n):
    y = [r.choice((-1.0, 1.0)) for _ in range(n)]
    y[0], y[1] = -1.0, 1.0
    r.shuffle(y)
    return y


def shape(r):
    return r.randint(2, 14), r.randint(1, 6)


def real_columns(r):
    n, d = shape(r)
    scale = [size(r) for _ in range(d)]
    return [[r.gauss(0, 1) * s for s in scale] for _ in range(n)], labels(r, n)


def integer_columns(r):
    n, d = shape(r)
    most = [int(size(r)) for _ in range(d)]
    return [[float(r.randint(-m, m)) for m in most] for _ in range(n)], labels(r, n)


def beside_the_label(r):
    """Large integers beside a column equal to the label, or nearly."""
    n, d = shape(r)
    most = [int(10.0 ** r.uniform(12, 16)) for _ in range(d)]
    y = labels(r, n)
    x = [[float(r.randint(-m, m)) for m in most] + [label] for label in y]
    if r.random() < 0.3:
        x[r.randrange(n)][-1] *= r.choice((0.0, -1.0))
    return x, y


def offsets(r):
    """Small whole numbers upon a large one: the information is in the last digits."""
    n, d = shape(r)
    x = [[] for _ in range(n)]
    for _ in range(d):
        base = float(round(size(r))) if r.random() < 0.7 else 0.0
        for row in x:
            row.append(base + r.randint(-9, 9))
    return x, labels(r, n)


def one_hot(r):
    """Dependent columns: groups of indicators, each times a size."""
    n, _ = shape(r)
    x = [[] for _ in range(n)]
    for _ in range(r.randint(1, 3)):
        levels, scale = r.randint(2, 4), float(2 ** r.randint(0, 50) if r.random() < 0.5 else 1)
        for row in x:
            chosen = r.randrange(levels)
            row.extend(scale if k == chosen else 0.0 for k in range(levels))
    if r.random() < 0.5:
        scale = size(r)
        for row in x:
            row.append(r.gauss(0, 1) * scale)
    return x, labels(r, n)


def closed(r, bend):
    """Rows whose signed sum with whole weights is exactly 0; `bend` moves one entry by an ulp."""
    n, d = shape(r)
    y = labels(r, n)
    scale = [2.0 ** r.randint(0, 20) for _ in range(d)]
    most = [10 ** r.randint(0, 8) for _ in range(d)]
    x = [[float(r.randint(-m, m)) for m in most] for _ in range(n)]
    last = n - 1
    weight = [r.randint(0, 3) for _ in range(n)]
    for j in range(d):
        x[last][j] = -y[last] * sum(weight[i] * y[i] * x[i][j] for i in range(last))
    x = [[a * s for a, s in zip(row, scale)] for row in x]
    if bend:
        i, j = r.randrange(n), r.randrange(d)
        x[i][j] *= 1 + 2.0**-52
    return x, y


def twins(r):
    """Two equal examples with different labels among real columns."""
    x, y = real_columns(r)
    i, j = y.index(-1.0), y.index(1.0)
    x[j] = list(x[i])
    return x, y


def near_twins(r):
    """The same, but an ulp apart in one column."""
    x, y = twins(r)
    j = y.index(1.0)
    k = r.randrange(len(x[j]))
    x[j][k] *= 1 + 2.0**-52
    return x, y


def low_dimension(r):
    """Many points, few columns: not separable, with more rows than a proof needs."""
    n, d = r.randint(10, 24), r.randint(1, 3)
    scale = [size(r) for _ in range(d)]
    return [[r.gauss(0, 1) * s for s in scale] for _ in range(n)], labels(r, n)


FAMILIES = {
    "real": real_columns,
    "integer": integer_columns,
    "label": beside_the_label,
    "offset": offsets,
    "onehot": one_hot,
    "closed": lambda r: closed(r, False),
    "bent": lambda r: closed(r, True),
    "twins": twins,
    "near_twins": near_twins,
    "low": low_dimension,
}

# ---- the library --------------------------------------------------------------------------------


class Certificate(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)]
    _fields_ += [(name, ctypes.c_double) for name in ("primal", "dual", "gap", "relative_gap")]
    _fields_ += [(name, ctypes.c_double) for name in ("margin", "margin_upper", "proof_norm")]
    _fields_ += [("separable", ctypes.c_int), ("verified", ctypes.c_int)]
    _fields_ += [("room", ctypes.c_char * 256)]  # fields that later versions add


class ModelInfo(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("features", ctypes.c_int64)]
    _fields_ += [("classes", ctypes.c_int64), ("nonzeros", ctypes.c_int64)]
    _fields_ += [("coef", ctypes.POINTER(ctypes.c_double)), ("intercept", ctypes.c_double)]
    _fields_ += [("norm", ctypes.c_double), ("room", ctypes.c_char * 512)]


class Library:
    def __init__(self, path):
        if ".so" not in os.path.basename(path):
            path = os.path.join(os.path.dirname(os.path.abspath(path)), "libmargrave.so")
        self.lib = ctypes.CDLL(path)
        self.lib.mgv_ctx_error.restype = ctypes.c_char_p
        self.lib.mgv_ctx_error.argtypes = [ctypes.c_void_p]
        self.ctx = ctypes.c_void_p()
        self.lib.mgv_ctx_new(None, ctypes.byref(self.ctx))
        self.lib.mgv_ctx_set_threads(self.ctx, 1)

    def call(self, name, *args):
        if getattr(self.lib, name)(self.ctx, *args) != 0:
            raise RuntimeError(self.lib.mgv_ctx_error(self.ctx).decode())

    def hard_margin(self, x, y, settings):
        """1, 0 or -1 for yes, no, open; the weights in the user's units and the intercept."""
        n, d = len(x), len(x[0])
        values = (ctypes.c_double * (n * d))(*[a for row in x for a in row])
        handles = {}
        for what in ("data", "settings", "problem", "solver", "model"):
            handles[what] = ctypes.c_void_p()
        at = {what: ctypes.byref(h) for what, h in handles.items()}
        try:
            self.call("mgv_settings_new", at["settings"])
            for name, value in settings.items():
                self.call("mgv_settings_set", handles["settings"], name.encode(), value.encode())
            i64 = ctypes.c_int64
            self.call("mgv_data_from_dense", 1, values, i64(n), i64(d), i64(d), i64(1), at["data"])
            self.call("mgv_data_set_labels", handles["data"], (ctypes.c_double * n)(*y))
            self.call("mgv_problem_new", handles["data"], handles["settings"], at["problem"])
            self.call("mgv_solver_new", handles["problem"], handles["settings"], at["solver"])
            self.call("mgv_solver_run", handles["solver"])
            found = Certificate(size=ctypes.sizeof(Certificate))
            run = (ctypes.c_char * 512)()
            ctypes.cast(run, ctypes.POINTER(ctypes.c_size_t))[0] = 512
            self.lib.mgv_solver_describe(handles["solver"], run, ctypes.byref(found))
            self.call("mgv_model_new", handles["solver"], at["model"])
            info = ModelInfo(size=ctypes.sizeof(ModelInfo))
            self.lib.mgv_model_describe(handles["model"], ctypes.byref(info))
            return found.separable, [info.coef[j] for j in range(d)], info.intercept
        finally:
            for what in ("model", "solver", "problem", "data", "settings"):
                if handles[what]:
                    getattr(self.lib, "mgv_%s_free" % what)(self.ctx, handles[what])


# ---- counting -----------------------------------------------------------------------------------


def judge(library, x, y, intercept, settings):
    """How the library's answer stands beside the exact one."""
    rows = [[label * a for a in row] + ([label] if intercept else []) for row, label in zip(x, y)]
    separable = not has_convex_zero(rows)
    said, weights, bias = library.hard_margin(x, y, settings)
    if said < 0:
        return "undecided, separable" if separable else "undecided, not separable"
    if said != separable:
        return "FALSE: separable" if said else "FALSE: not separable"
    if said and least_margin(x, y, weights, bias) <= 0:
        return "FALSE: the model does not separate"
    return "true, separable" if said else "true, not separable"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("command")
    parser.add_argument("problems", nargs="?", type=int, default=2000)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("--family", action="append", choices=sorted(FAMILIES))
    parser.add_argument("--solver", default="auto")
    parser.add_argument("--show", action="store_true", help="print what is false or undecided")
    args = parser.parse_args()
    library = Library(args.command)
    families = args.family or list(FAMILIES)
    counts = {name: collections.Counter() for name in families}
    begin = time.time()
    for k in range(args.problems):
        r = random.Random(args.seed * 1000003 + k)
        name = families[k % len(families)]
        x, y = FAMILIES[name](r)
        intercept = r.random() < 0.5
        settings = {"loss": "margin", "intercept": "true" if intercept else "false"}
        settings["solver"] = args.solver
        try:
            outcome = judge(library, x, y, intercept, settings)
        except RuntimeError as error:
            outcome = "refused: %s" % error
        counts[name][outcome] += 1
        if args.show and not outcome.startswith("true"):
            print("%s %d %s intercept %s\n  y %r\n  x %r" % (name, k, outcome, intercept, y, x))
    total = sum(counts.values(), collections.Counter())
    for name in families:
        said = ", ".join("%s %d" % item for item in sorted(counts[name].items()))
        print("%-11s %s" % (name, said))
    false = sum(v for key, v in total.items() if key.startswith("FALSE"))
    true = sum(v for key, v in total.items() if key.startswith("true"))
    other = args.problems - false - true
    print(
        "separability: %d problems from seed %d: %d true, %d false, %d undecided (%.1f %%), %.1f s"
        % (args.problems, args.seed, true, false, other, 100.0 * other / max(args.problems, 1),
           time.time() - begin)
    )
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
