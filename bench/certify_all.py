#!/usr/bin/env python3
"""certify_all.py - every soft loss with every penalty on every data set of MARGRAVE_DATA, with and without
intercept, default settings otherwise: which runs end with their certificate?

usage: certify_all.py MARGRAVE [--solver NAME] [--tol T] [--sets a,b] [--losses a,b] [--penalties a,b]
                               [--seconds S] [--scale S] [--intercepts yes,no]
Prints a line per failure (and per run with -v), and a summary. Exit status 1 if any run failed."""
import argparse, glob, json, os, subprocess, sys

LOSSES = "hinge squared_hinge smooth_hinge sqrt_hinge logistic exponential squared huber absolute epsilon_insensitive".split()
PENALTIES = {"l2": [],  # C = 1
             "l1": ["--mu", "1e-3"],
             "weak l1": ["--penalty", "l1", "--mu", "1e-5"],
             "enet": ["--lambda", "1e-3", "--mu", "1e-3"]}
SETS = ("a9a australian breast-cancer breast-west colon-cancer.raw colon-cancer.std covtype.sub92962.libsvm.binary.scale "
        "diabetes fourclass german.numer heart heart_scale ijcnn1 leukemia madelon mushrooms prostate-singh "
        "reuters-money-fx sonar splice w8a").split()
QUANTITIES = "abalone_scale bodyfat diabetes-regression housing_scale riboflavin".split()


def describe(r):
    """One line about a run, and whether it has its certificate."""
    try:
        j = json.loads(r.stdout)
        s, c = j["solver"], j["certificate"]
        return (f"{s['name']:16} {s['stop']:9} gap {c['relative_gap'] or float('nan'):8.1e} {s['iterations']:6} it "
                f"{s['passes']:8.1f} passes {s['seconds']:7.3f} s"), s["stop"] == "certified"
    except (ValueError, KeyError, TypeError):
        return (r.stderr or r.stdout).strip()[:150], False


def main():
    p = argparse.ArgumentParser()
    p.add_argument("margrave")
    p.add_argument("--solver", default="auto")
    p.add_argument("--tol", default="1e-4")
    p.add_argument("--sets", default=",".join(SETS + QUANTITIES))
    p.add_argument("--intercepts", default="yes,no")
    p.add_argument("--losses", default=",".join(LOSSES))
    p.add_argument("--penalties", default=",".join(PENALTIES))
    p.add_argument("--seconds", type=float, default=10)
    p.add_argument("--scale", default="none")
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    data = os.environ.get("MARGRAVE_DATA")
    if not data:
        sys.exit("certify_all: set MARGRAVE_DATA to the folder with the data sets")
    runs = failures = 0
    for name in o.sets.split(","):
        files = [f for f in glob.glob(os.path.join(data, name + "*")) if f[len(data) + 1:] in
                 [name + e for e in ("", ".bz2", ".xz", ".gz")]]
        if not files:
            print(f"{name}: not found")
            continue
        quantity = name in QUANTITIES
        for loss in ["squared", "huber", "absolute", "epsilon_insensitive"] if quantity else o.losses.split(","):
            for penalty in o.penalties.split(","):
                for intercept in o.intercepts.split(","):
                    command = [o.margrave, "fit", files[0], "--json", "-q", "--no-model", "--loss", loss, "--task",
                               "regress" if quantity else "classify", "--penalty", penalty.split()[-1], "--solver",
                               o.solver, "--tol", o.tol, "--scale", o.scale, "--time-limit", str(o.seconds),
                               "--intercept" if intercept == "yes" else "--no-intercept"] + PENALTIES[penalty]
                    r = subprocess.run(command, capture_output=True, text=True)
                    runs += 1
                    line, good = describe(r)
                    failures += not good
                    if o.v or not good:
                        print(f"{'     ' if good else 'FAIL '}{name:12.12} {loss:13} {penalty:7} {intercept:3} {line}",
                              flush=True)
    print(f"{runs} runs, {failures} without a certificate")
    return failures > 0


sys.exit(main())
