#!/usr/bin/env python3
"""models.py - what a certificate says beside the objective of the saved model, on problems larger than the sweep's.

usage: models.py COMMAND [PROBLEMS [SEED]] [--only SEED] [--most ROWS] [--show]

Draws tables (dense, words, one-hot, images, a few distinct points), fits them with the command and
with another solver or tolerance, reads the saved model's tensors by hand and adds up its objective
in long double from the numbers that were written to the data file. Printed as attained and lower than
that, or as proven and higher than what any of the models attains: false. Needs NumPy; shares no code with margrave.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

WIDE = np.longdouble
SLACK = WIDE(1e-12)  # what this program's own sums, and scales computed twice, may differ

# ---- problems -----------------------------------------------------------------------------------


def draw_table(rng, most):
    kind = rng.choice(["dense", "words", "one-hot", "image", "few points"])
    n = int(np.exp(rng.uniform(np.log(150), np.log(most))))
    d = int(np.exp(rng.uniform(np.log(2), np.log(400))))
    if kind == "dense":
        x = rng.standard_normal((n, d)) * np.exp(rng.uniform(-3, 3, d)) + rng.uniform(-2, 2, d)
    elif kind == "words":
        x = np.zeros((n, 2 * d))
        words = rng.zipf(1.6, (n, 12)) % (2 * d)
        np.add.at(x, (np.arange(n)[:, None], words), 1)
    elif kind == "one-hot":
        fields = max(1, d // 8)
        x = np.zeros((n, 8 * fields))
        x[np.arange(n)[:, None], 8 * np.arange(fields) + rng.integers(0, 8, (n, fields))] = 1
    elif kind == "image":
        x = np.clip(rng.standard_normal((n, d)).cumsum(1) * 40, 0, 255).round()
    else:
        points = rng.integers(-1, 2, (4, min(d, 5))).astype(float)
        x = points[rng.integers(0, 4, n)]
        x[rng.random(n) < 0.5] = 0
    w = rng.standard_normal(x.shape[1]) * (rng.random(x.shape[1]) < 0.5)
    score = x @ w
    score = score - np.median(score)
    noise = rng.choice([0, 0.1, 1])
    score = score + noise * (score.std() + 1e-3) * rng.standard_normal(n)
    return kind, x, score


def draw(seed, most):
    rng = np.random.default_rng(seed)
    kernel = rng.choice(["linear", "rbf", "laplace", "poly"], p=[0.4, 0.3, 0.1, 0.2])
    regress = rng.random() < 0.2
    kind, x, score = draw_table(rng, most if kernel != "linear" else 3 * most)
    options = {"kernel": kernel, "tol": f"{10 ** rng.uniform(-7, -2):.3g}"}
    classes = int(rng.integers(3, 7)) if not regress and rng.random() < 0.35 else 2
    y = score if regress else np.where(score > 0, 1, -1)
    if classes > 2:
        y = np.argsort(np.argsort(score)) * classes // len(score)
    if not regress and abs(y.sum()) == len(y) and classes == 2:
        y[0] = -y[0]
    options["loss"] = (rng.choice(["squared", "huber", "absolute", "epsilon_insensitive"]) if regress else
                       rng.choice(["hinge", "squared_hinge", "smooth_hinge", "logistic"],
                                  p=[0.4, 0.2, 0.2, 0.2]))
    if classes > 2:
        form = rng.choice(["ovr", "ovo", "softmax", "crammer_singer"])
        options.update({"multiclass": form} if form in ("ovr", "ovo") else {"loss": form})
    sparse_too = kernel == "linear" and options["loss"] not in ("softmax", "crammer_singer")
    options["penalty"] = rng.choice(["l2", "l1", "enet"]) if sparse_too else "l2"
    strength = f"{10 ** rng.uniform(-5, 1):.4g}"
    if options["penalty"] != "l1":
        options["lambda"] = strength
    if options["penalty"] != "l2":
        options["mu"] = f"{10 ** rng.uniform(-4, 0):.4g}"
    if kernel in ("rbf", "laplace"):
        spread = float(((x - x.mean(0)) ** 2).sum(1).mean()) or 1
        options["sigma2"] = f"{spread * 10 ** rng.uniform(-1, 1):.5g}"
    if kernel == "poly":
        options["degree"] = str(rng.integers(1, 5))
        options["offset"] = str(rng.integers(0, 2))
        options["sigma2"] = f"{max(float((x ** 2).sum(1).mean()), 1e-3) * 10 ** rng.uniform(-1, 1):.5g}"
    options["scale"] = rng.choice(["none", "std", "maxabs", "rownorm"], p=[0.55, 0.2, 0.15, 0.1])
    if rng.random() < 0.25:
        options["intercept"] = "no"
    sparse = (x != 0).mean() < 0.4 and rng.random() < 0.8
    return kind, x, y, regress, sparse, options


def write_table(path, x, y, sparse):
    with open(path, "w") as out:
        for row, label in zip(x.tolist(), y.tolist()):
            entries = [(j, v) for j, v in enumerate(row) if v != 0 or not sparse]
            out.write(f"{label!r} " + " ".join(f"{j + 1}:{v!r}" for j, v in entries) + "\n")


# ---- the objective of a saved model -------------------------------------------------------------


def read_model(path):
    raw = open(path, "rb").read()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:8 + length])
    meta = header.pop("__metadata__", {})
    types = {"F64": np.float64, "F32": np.float32, "I64": np.int64, "I32": np.int32}
    arrays = {}
    for name, t in header.items():
        begin, end = t["data_offsets"]
        if t["dtype"] in types:
            arrays[name] = np.frombuffer(raw[8 + length + begin:8 + length + end],
                                         types[t["dtype"]]).reshape(t["shape"])
    return meta, arrays


def losses(name, y, f, epsilon):
    z = 1 - y * f
    if name == "hinge":
        return np.maximum(z, 0)
    if name == "squared_hinge":
        return np.maximum(z, 0) ** 2 / 2
    if name == "smooth_hinge":
        return np.where(z >= epsilon, z - epsilon / 2, np.maximum(z, 0) ** 2 / (2 * epsilon))
    if name == "logistic":
        return np.logaddexp(WIDE(0), -y * f)
    e = np.abs(f - y)
    if name in ("absolute", "epsilon_insensitive"):
        return np.maximum(e - epsilon, 0)
    return e ** 2 / 2 if name == "squared" else np.where(e <= epsilon, e ** 2 / 2, epsilon * (e - epsilon / 2))


def kernel_values(meta, p, q):
    sigma2 = WIDE(float(meta["sigma2"]))
    if meta["kernel"] == "poly":
        return (p @ q.T / sigma2 + WIDE(float(meta["offset"]))) ** int(meta["degree"])
    square = np.zeros((len(p), len(q)), WIDE)
    for j in range(p.shape[1]):  # differences: nothing cancels
        square += (p[:, j, None] - q[None, :, j]) ** 2
    return np.exp(-square / (2 * sigma2)) if meta["kernel"] == "rbf" else np.exp(-np.sqrt(square / sigma2))


def scaled(x, how):
    """The rows that the weights multiply, and the factor of every column in the penalty's eyes."""
    x = x.astype(WIDE)
    one = np.ones(x.shape[1], WIDE)
    if how == "rownorm":
        length = np.sqrt((x ** 2).sum(1))
        return x / np.where(length > 0, length, 1)[:, None], one
    size = {"std": lambda: x.std(0), "maxabs": lambda: np.abs(x).max(0)}.get(how)
    factor = one if size is None else 1 / np.where(size() > 0, size(), 1)
    return x * factor, factor


def dense_support(arrays, d):
    if "sv" in arrays:
        return arrays["sv"].astype(WIDE)
    pointers, out = arrays["sv_pointers"], np.zeros((len(arrays["sv_pointers"]) - 1, d), WIDE)
    for t in range(len(out)):
        at = slice(pointers[t], pointers[t + 1])
        out[t, arrays["sv_indices"][at]] = arrays["sv_values"][at]
    return out


def between(meta, arrays, p, q):
    """k, or poly seen from an origin o: k(x, z) - k(x, o) - k(o, z) + k(o, o)."""
    if meta.get("origin", "none") == "none":
        return kernel_values(meta, p, q)
    o = np.zeros((1, p.shape[1]), WIDE)
    if meta["origin"] == "centre":
        o[0] = arrays["centre"].astype(WIDE) * arrays.get("scale", 1)
    return (kernel_values(meta, p, q) - kernel_values(meta, p, o) - kernel_values(meta, o, q) +
            kernel_values(meta, o, o))


def kernel_points(problem, meta, arrays, x):
    """Rows as the kernel sees them."""
    x = x.astype(WIDE)
    if problem["scale"] == "rownorm":
        length = np.sqrt((x ** 2).sum(1))
        return x / np.where(length > 0, length, 1)[:, None]
    x = x * arrays.get("scale", 1)
    if problem["scale"] == "std" and "centre" in arrays and meta.get("origin", "none") == "none":
        x = x - arrays["centre"].astype(WIDE) * arrays.get("scale", 1)
    return x


def scores_of(problem, meta, arrays, x):
    """Scores, rows x outputs, and of every output |w|^2 and |w|_1."""
    intercept = arrays["intercept"].ravel().astype(WIDE)
    outputs = len(intercept)
    if "dual_coef" in arrays:
        coef = arrays["dual_coef"].reshape(outputs, -1).astype(WIDE)
        support = kernel_points(problem, meta, arrays, dense_support(arrays, x.shape[1]))
        points = kernel_points(problem, meta, arrays, x)
        K = between(meta, arrays, support, support)
        return (between(meta, arrays, points, support) @ coef.T + intercept,
                np.array([c @ K @ c for c in coef]), np.zeros(outputs))
    points, factor = scaled(x, problem["scale"])
    w = np.zeros((outputs, x.shape[1]), WIDE)
    if "coef_indices" in arrays:
        w[:, arrays["coef_indices"].ravel()] = arrays["coef"].reshape(outputs, -1)
    else:
        w[:] = arrays["coef"].reshape(outputs, -1)
    seen = points if problem["scale"] == "rownorm" else x.astype(WIDE)
    return seen @ w.T + intercept, ((w / factor) ** 2).sum(1), np.abs(w / factor).sum(1)


def joint_losses(name, label, f):
    n = np.arange(len(label))
    own = f[n, label]
    if name == "softmax":
        top = f.max(1)
        return top + np.log(np.exp(f - top[:, None]).sum(1)) - own
    rest = f + 1
    rest[n, label] -= 1
    return rest.max(1) - own


def objectives(problem, model, x, y):
    """What the model attains: of every output, or of all together."""
    f, square, absolute = scores_of(problem, *model, x)
    penalty = (WIDE(problem["lambda"] or 0) / 2 * square + WIDE(problem["mu"] or 0) * absolute)
    loss, epsilon = problem["loss"], WIDE(problem["epsilon"])
    if loss in ("softmax", "crammer_singer"):
        return [penalty.sum() + joint_losses(loss, y, f).mean()]
    if f.shape[1] == 1:
        return [penalty[0] + losses(loss, y.astype(WIDE), f[:, 0], epsilon).mean()]
    if model[0]["multiclass"] != "ovo":
        return [penalty[c] + losses(loss, np.where(y == c, 1, -1), f[:, c], epsilon).mean()
                for c in range(f.shape[1])]
    out, classes = [], int(y.max()) + 1
    pairs = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    for at, (i, j) in enumerate(pairs):
        rows = (y == i) | (y == j)
        sides = [losses(loss, np.where(y[rows] == side, 1, -1), f[rows, at], epsilon).mean()
                 for side in (i, j)]  # which side is positive is the model's affair
        out.append(penalty[at] + min(sides))
    return out


def certificates(report):
    if report["classes"]:
        return [c["certificate"] for c in report["classes"]]
    return [report["certificate"]]


# ---- runs ---------------------------------------------------------------------------------------


def fit(command, folder, table, features, options, regress):
    model = os.path.join(folder, "m.mgm")
    if os.path.exists(model):
        os.remove(model)
    words = [command, "fit", table, "--json", "-o", model, "--time-limit", "20",
             "--features", str(features), "--task", "regress" if regress else "classify"]
    for name, value in options.items():
        words += ["--no-intercept"] if name == "intercept" else [f"--{name}", str(value)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    if done.returncode not in (0, 3) or not os.path.exists(model):
        return done.returncode, done.stderr.strip(), None, None
    return done.returncode, " ".join(words), json.loads(done.stdout), read_model(model)


def try_problem(command, folder, seed, most, show):
    kind, x, y, regress, sparse, options = draw(seed, most)
    table = os.path.join(folder, f"{seed}.svm")
    write_table(table, x, y, sparse)
    counts, false = {"fits": 0, "judged": 0, "refused": 0, "not verified": 0}, []
    best, proven = {}, []
    for change in ({}, {"tol": "1e-8"}, {"precision": "f32"}):
        code, said, report, model = fit(command, folder, table, x.shape[1],
                                         {**options, **change}, regress)
        if report is None:
            counts["refused"] += 1
            if code not in (0, 2, 3, 4):
                false.append(f"seed {seed}: exit code {code}: {said}")
            continue
        counts["fits"] += 1
        problem = {**report["problem"], "epsilon": epsilon_of(options["loss"])}
        own = x.astype(np.float32).astype(float) if change.get("precision") == "f32" else x
        values = objectives(problem, model, own, y)
        found = certificates(report)
        if show:
            print(f"seed {seed} {kind} {x.shape} {report['solver']['name']} {change}: "
                  f"{[(c['primal'], c['dual'], float(v)) for c, v in zip(found, values)]}\n    {said}")
        for at, (c, value) in enumerate(zip(found, values)):
            counts["judged"] += 1
            counts["not verified"] += not c["verified"]
            if c["primal"] is not None and value > WIDE(c["primal"]) + SLACK * abs(value):
                false.append(f"seed {seed} ({kind}, {report['solver']['name']}, {change}, output {at}): "
                             f"attained {c['primal']!r}, the model has {float(value)!r}\n    {said}")
            if change.get("precision"):
                continue
            best[at] = min(value, best.get(at, value))
            if c["dual"] is not None:
                proven.append((at, WIDE(c["dual"]), said))
    for at, dual, said in proven:
        if dual > best[at] + SLACK * abs(best[at]):
            false.append(f"seed {seed}, output {at}: proven {float(dual)!r}, a model has "
                         f"{float(best[at])!r}\n    {said}")
    os.remove(table)
    return counts, false


def epsilon_of(loss):
    return {"huber": 1.0, "smooth_hinge": 1.0, "epsilon_insensitive": 0.1}.get(loss, 0.0)


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("command")
    p.add_argument("problems", nargs="?", type=int, default=200)
    p.add_argument("seed", nargs="?", type=int, default=1)
    p.add_argument("--only", type=int)
    p.add_argument("--most", type=int, default=2500)
    p.add_argument("--show", action="store_true")
    a = p.parse_args()
    seeds = [a.only] if a.only is not None else range(a.seed, a.seed + a.problems)
    total, found = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            counts, false = try_problem(os.path.abspath(a.command), folder, seed, a.most, a.show)
            for name, count in counts.items():
                total[name] = total.get(name, 0) + count
            for line in false:
                print("FALSE:", line, flush=True)
            found += len(false)
    print(", ".join(f"{count} {name}" for name, count in total.items()) + f", {found} false")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
