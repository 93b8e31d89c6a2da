"""sparse.py MARGRAVE OUT.tsv [SET...] - nonzeros of l1 paths at the default tolerance and at 1e-9.

Walks every two-class and regression set of $MARGRAVE_DATA along 20 points of mu, for every loss
there is a path for, at both tolerances. A weight that is 0 in one answer only is a difference; it is
a tie where the tight answer gives it less than 1e-6 of the largest weight, or where both answers
are optimal to 1e-10: then there are many optima (columns that add up to a constant, as a category
spread over columns has). Standard library only.

A line: set, loss, points, points that differ but for ties, most differences at such a point (at any,
where there are none), the nonzeros there at 1e-4 and at 1e-9, the sums over the path, seconds at
both tolerances, the solver there, points with ties."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

TWO_CLASSES = """fourclass diabetes breast-cancer australian heart heart_scale german.numer sonar
splice HTRU_2.csv:HTRU_2 magic eeg-eye spambase mushrooms ijcnn1 a9a w8a musk2 madelon
colon-cancer.raw colon-cancer.std leukemia breast-west prostate-singh amazon-books
reuters-money-fx covtype.sub92962.libsvm.binary.scale covtype.full.libsvm.binary.scale""".split()
QUANTITIES = """abalone_scale bodyfat housing_scale diabetes-regression communities wheat
riboflavin""".split()
TEXT = {"a9a", "w8a", "mushrooms", "amazon-books", "reuters-money-fx"}  # not to be centred
LOSSES = {"two": ["hinge", "squared_hinge", "smooth_hinge", "logistic", "squared", "huber"],
          "quantity": ["squared", "huber"]}
LIMIT = float(os.environ.get("SPARSE_LIMIT", "60"))  # seconds a path


def file_of(name):
    stem = name.split(":")[0]
    for end in (".bz2", ".xz", ""):
        path = os.path.join(os.environ["MARGRAVE_DATA"], stem + end)
        if os.path.exists(path):
            return path
    return None


def weights(path):
    """The weights of a saved model that are not 0, by column."""
    with open(path, "rb") as file:
        raw = file.read()
    size = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8:8 + size])

    def tensor(name, kind):
        begin, end = head[name]["data_offsets"]
        return struct.unpack(f"<{(end - begin) // 8}{kind}", raw[8 + size + begin:8 + size + end])

    coef = tensor("coef", "d")
    index = tensor("coef_indices", "q") if "coef_indices" in head else range(len(coef))
    return {j: x for j, x in zip(index, coef) if x != 0}


def walk(margrave, name, loss, tol, extra):
    out = tempfile.mkdtemp()
    scale = ["--scale", "none" if name in TEXT else "std"]
    command = [margrave, "path", file_of(name), "--penalty", "l1", "--loss", loss, "--path-points",
               "20", "--tol", str(tol), "-q", "--json", "--threads", "1", "-o", out] + scale + extra
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
        if run.returncode not in (0, 3) or not run.stdout:
            return (run.stderr.strip() or str(run.returncode))[:60]
        points = json.loads(run.stdout)["points"]
        files = [os.path.join(out, f"point-{k + 1:03d}.mgm") for k in range(len(points))]
        return [(p, weights(f)) for p, f in zip(points, files)]
    except subprocess.TimeoutExpired:
        return f"over {LIMIT:g} s"
    finally:
        shutil.rmtree(out)


def differences(loose, tight):
    most = max((abs(x) for x in tight.values()), default=0)
    ties = {j for j, x in tight.items() if abs(x) < 1e-6 * most}
    return (set(loose) ^ set(tight)) - ties


def compare(loose, tight):
    pairs = list(zip(loose, tight))
    wrong = [len(differences(a[1], b[1])) for a, b in pairs]
    optimal = [max(a[0]["relative_gap"], b[0]["relative_gap"]) <= 1e-10 for a, b in pairs]
    tied = sum(w > 0 and o for w, o in zip(wrong, optimal))
    wrong = [0 if o else w for w, o in zip(wrong, optimal)]
    worst = wrong.index(max(wrong))
    return [len(pairs), sum(w > 0 for w in wrong), wrong[worst], len(pairs[worst][0][1]),
            len(pairs[worst][1][1]), sum(len(a[1]) for a, b in pairs), sum(len(b[1]) for a, b in pairs),
            round(sum(a[0]["seconds"] for a, b in pairs), 4),
            round(sum(b[0]["seconds"] for a, b in pairs), 4), pairs[worst][0][0]["solver"], tied]


def main():
    margrave, table, *chosen = sys.argv[1:]
    extra = os.environ.get("SPARSE_OPTIONS", "").split()
    losses = os.environ.get("SPARSE_LOSSES", "").split()
    names = [(n, k) for k, group in (("two", TWO_CLASSES), ("quantity", QUANTITIES)) for n in group]
    with open(table, "w", encoding="utf-8") as out:
        for name, kind in names:
            if (chosen and name not in chosen) or not file_of(name):
                continue
            for loss in losses or LOSSES[kind]:
                loose = walk(margrave, name, loss, 1e-4, extra)
                tight = walk(margrave, name, loss, 1e-9, extra)
                bad = [x for x in (loose, tight) if isinstance(x, str)]
                row = [name, loss] + ([bad[0]] if bad else compare(loose, tight))
                print(*row, sep="\t", file=out, flush=True)


if __name__ == "__main__":
    main()
