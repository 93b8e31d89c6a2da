"""Writes a trajectory of a preset: tests/vectors/preset_NAME.json, read by test_presets.c.

The scripts beside it, one for each paper, follow the paper's formulas in plain Python; they share
nothing with the library. `python3 PAPER.py` writes the paper's files anew."""
import json
import os
import random

HERE = os.path.dirname(os.path.abspath(__file__))


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def times(A, w):
    return [dot(a, w) for a in A]


def times_t(A, u):
    return [sum(A[i][j] * u[i] for i in range(len(A))) for j in range(len(A[0]))]


def signed(X, y):
    """The rows y_i x_i."""
    return [[yi * x for x in row] for row, yi in zip(X, y)]


def clouds(seed, rows=8, columns=3, distance=1.0):
    """Two classes of points around +-distance (1, ..., 1); 12 binary digits, exact in JSON."""
    draw = random.Random(seed)
    y = [1.0 if i % 2 else -1.0 for i in range(rows)]
    X = [[round(4096 * (yi * distance + draw.gauss(0, .5))) / 4096 for _ in range(columns)] for yi in y]
    return X, y


def save(name, preset, settings, about, X, y, w, u=None):
    """w[k] and u[k]: the iterates after k iterations, k = 0, 1, ..."""
    at = [k for k in range(1, len(w)) if k <= 10 or k % 10 == 0]
    out = {"about": about, "preset": preset, "settings": settings, "X": X, "y": y, "at": at,
           "w": [w[k] for k in at]}
    if u:
        out["u"] = [u[k] for k in at]
    with open(os.path.join(HERE, f"preset_{name}.json"), "w") as f:
        json.dump(out, f, indent=0)
        f.write("\n")
