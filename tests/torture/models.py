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
    y = score if regress else np.where(score > 0, 1, -1)
    if not regress and abs(y.sum()) == len(y):
        y[0] = -y[0]
    options["loss"] = (rng.choice(["squared", "huber"]) if regress else
                       rng.choice(["hinge", "squared_hinge", "smooth_hinge", "logistic"],
                                  p=[0.4, 0.2, 0.2, 0.2]))
    options["penalty"] = rng.choice(["l2", "l1", "enet"]) if kernel == "linear" else "l2"
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
    return e ** 2 / 2 if name == "squared" else np.where(e <= epsilon, e ** 2 / 2, epsilon * (e - epsilon / 2))


def kernel_values(meta, p, q):
    sigma2 = WIDE(float(meta["sigma2"]))
    if meta["kernel"] == "poly":
        return (p @ q.T / sigma2 + WIDE(float(meta["offset"]))) ** int(meta["degree"])
    square = np.zeros((len(p), len(q)), WIDE)
    for j in range(p.shape[1]):  # differences: nothing cancels
        square += (p[:, j, None] - q[None, :, j]) ** 2
    return np.exp(-square / (2 * sigma2)) if meta["kernel"] == "rbf" else np.exp(-np.sqrt(square / sigma2))


def scaled(x, how, sparse):
    """The points that the penalty sees, and the factor of every column."""
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


def seen_from_origin(meta, arrays, support, points, coef, intercept):
    """Scores and c'Kc of poly seen from an origin o: k~(x, z) = k(x, z) - k(x, o) - k(o, z) + k(o, o)."""
    d = points.shape[1]
    o = np.zeros((1, d), WIDE)
    if meta["origin"] == "centre":
        o = (arrays["centre"].astype(WIDE) * arrays.get("scale", np.ones(d)))[None, :]
    top = kernel_values(meta, o, o)[0, 0]

    def between(p, q):
        return (kernel_values(meta, p, q) - kernel_values(meta, p, o) - kernel_values(meta, o, q) + top)
    return between(points, support) @ coef + intercept, coef @ between(support, support) @ coef


def objective(problem, meta, arrays, x, y, sparse):
    how = problem["scale"]
    points, factor = scaled(x, how, sparse)
    intercept = WIDE(arrays["intercept"].ravel()[0])
    linear, absolute = WIDE(0), WIDE(0)
    if "dual_coef" in arrays:
        coef = arrays["dual_coef"].ravel().astype(WIDE)
        support, _ = scaled(np.vstack([dense_support(arrays, x.shape[1]), x]).astype(WIDE), "none", sparse)
        support = support[:len(coef)]
        if how == "rownorm":
            length = np.sqrt((support ** 2).sum(1))
            support = support / np.where(length > 0, length, 1)[:, None]
        else:
            support = support * arrays.get("scale", factor)
            points = x.astype(WIDE) * arrays.get("scale", factor)
        if how == "std" and "centre" in arrays and meta.get("origin", "none") == "none":
            shift = arrays["centre"].astype(WIDE) * arrays.get("scale", factor)
            support, points = support - shift, points - shift
        if meta.get("origin", "none") != "none":
            f, square = seen_from_origin(meta, arrays, support, points, coef, intercept)
        else:
            f = kernel_values(meta, points, support) @ coef + intercept
            square = coef @ kernel_values(meta, support, support) @ coef
    else:
        w = np.zeros(x.shape[1], WIDE)
        if "coef_indices" in arrays:
            w[arrays["coef_indices"].ravel()] = arrays["coef"].ravel()
        else:
            w[:] = arrays["coef"].ravel()
        f = (points @ w if how == "rownorm" else x.astype(WIDE) @ w) + intercept
        w = w / factor
        square, absolute = (w ** 2).sum(), np.abs(w).sum()
    if problem["lambda"]:
        linear += WIDE(problem["lambda"]) / 2 * square
    if problem["mu"]:
        linear += WIDE(problem["mu"]) * absolute
    epsilon = WIDE(problem["epsilon"])
    return linear + losses(problem["loss"], y.astype(WIDE), f, epsilon).mean()


# ---- runs ---------------------------------------------------------------------------------------


def fit(command, folder, table, options, regress):
    model = os.path.join(folder, "m.mgm")
    if os.path.exists(model):
        os.remove(model)
    words = [command, "fit", table, "--json", "-o", model, "--time-limit", "20",
             "--task", "regress" if regress else "classify"]
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
    counts, false = {"fits": 0, "refused": 0, "not verified": 0}, []
    best, proven = None, []
    for change in ({}, {"tol": "1e-8"}, {"precision": "f32"}):
        code, said, report, model = fit(command, folder, table, {**options, **change}, regress)
        if report is None:
            counts["refused"] += 1
            if code not in (0, 2, 3, 4):
                false.append(f"seed {seed}: exit code {code}: {said}")
            continue
        counts["fits"] += 1
        c = report["certificate"]
        problem = {**report["problem"], "epsilon": epsilon_of(options["loss"])}
        own = x.astype(np.float32).astype(float) if change.get("precision") == "f32" else x
        value = objective(problem, *model, own, y, sparse)
        if show:
            print(f"seed {seed} {kind} {x.shape} {report['solver']['name']} {change}: primal {c['primal']!r} "
                  f"dual {c['dual']!r} the model has {float(value)!r}\n    {said}")
        if not c["verified"]:
            counts["not verified"] += 1
        if c["primal"] is not None and value > WIDE(c["primal"]) + SLACK * abs(value):
            false.append(f"seed {seed} ({kind}, {report['solver']['name']}, {change}): attained "
                         f"{c['primal']!r}, the model has {float(value)!r}\n    {said}")
        if not change.get("precision"):
            best = value if best is None else min(best, value)
            if c["dual"] is not None:
                proven.append((WIDE(c["dual"]), said))
    for dual, said in proven:
        if dual > best + SLACK * abs(best):
            false.append(f"seed {seed}: proven {float(dual)!r}, a model has {float(best)!r}\n    {said}")
    os.remove(table)
    return counts, false


def epsilon_of(loss):
    return {"huber": 1.0, "smooth_hinge": 1.0}.get(loss, 0.0)


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
