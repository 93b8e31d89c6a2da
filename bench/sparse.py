"""sparse.py BENCH_SPARSE OUT.tsv [SET...] - nonzeros of paths at the default tolerance and at 1e-9.

Runs bench_sparse, which says what is compared and what a tie is, on every two-class and regression
set of $MARGRAVE_DATA and every loss there is a path for, then prints how many pairs of set and loss
are equal, equal but for ties, or different, and how many points. Exit status 1 if any is different.
$SPARSE_OPTIONS are settings (penalty=l1), $SPARSE_LOSSES the losses, $SPARSE_LIMIT seconds a pair.
Standard library only."""
import os
import subprocess
import sys

from rows import add_row

TWO_CLASSES = """fourclass diabetes breast-cancer australian heart heart_scale german.numer sonar
splice HTRU_2.csv magic eeg-eye spambase mushrooms ijcnn1 a9a w8a musk2 madelon
colon-cancer.raw colon-cancer.std leukemia breast-west prostate-singh amazon-books
reuters-money-fx covtype.sub92962.libsvm.binary.scale covtype.full.libsvm.binary.scale""".split()
QUANTITIES = """abalone_scale bodyfat housing_scale diabetes-regression communities wheat
riboflavin""".split()
TEXT = {"a9a", "w8a", "mushrooms", "amazon-books", "reuters-money-fx"}  # not to be centred
LOSSES = {"two": ["hinge", "squared_hinge", "smooth_hinge", "logistic", "squared", "huber"],
          "quantity": ["squared", "huber"]}
LIMIT = float(os.environ.get("SPARSE_LIMIT", "120"))


def file_of(name):
    for end in (".bz2", ".xz", ""):
        path = os.path.join(os.environ["MARGRAVE_DATA"], name + end)
        if os.path.exists(path):
            return path
    return None


def walk(program, name, loss, options):
    scale = "scale=none" if name in TEXT else "scale=std"
    if name in QUANTITIES:
        scale += " task=regress"
    try:
        run = subprocess.run([program, file_of(name), f"{scale} {options}", loss], text=True,
                             capture_output=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return f"{name}\t{loss}\tover {LIMIT:g} s"
    return run.stdout.strip() or f"{name}\t{loss}\t{run.stderr.strip()[:100]}"


def main():
    program, table, *chosen = sys.argv[1:]
    options = os.environ.get("SPARSE_OPTIONS", "penalty=l1")
    losses = os.environ.get("SPARSE_LOSSES", "").split()
    names = [(n, k) for k, group in (("two", TWO_CLASSES), ("quantity", QUANTITIES)) for n in group]
    pairs, points, seconds = [0, 0, 0, 0], [0, 0, 0], 0.0
    with open(table, "w", encoding="utf-8") as out:
        for name, kind in names:
            if (chosen and name not in chosen) or not file_of(name):
                continue
            for loss in losses or LOSSES[kind]:
                line = walk(program, name, loss, options)
                print(line, file=out, flush=True)
                cells = line.split("\t")
                if len(cells) < 9:
                    pairs[3] += 1
                    add_row(f"{name}, {loss}", None, goal="zeros unlike those at 1e-9", unit="points", on="most")
                    continue
                equal, tied, different = (int(x) for x in cells[3:6])
                add_row(f"{name}, {loss}", different, goal="zeros unlike those at 1e-9", unit="points", on="most")
                pairs[2 if different else 1 if tied else 0] += 1
                points = [points[0] + equal, points[1] + tied, points[2] + different]
                seconds += float(cells[6])
    print(f"pairs: {sum(pairs)}, equal {pairs[0]}, with ties {pairs[1]}, different {pairs[2]}, "
          f"not compared {pairs[3]}")
    print(f"points: equal {points[0]}, with ties {points[1]}, different {points[2]}; "
          f"{seconds:.1f} s of processor time at the default tolerance")
    return 1 if pairs[2] or pairs[3] else 0


if __name__ == "__main__":
    sys.exit(main())
