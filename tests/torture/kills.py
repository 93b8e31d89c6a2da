#!/usr/bin/env python3
"""kills.py MARGRAVE [COUNT] [SEED] - signals at random times: nothing lost, nothing unreadable.

Every run writes over files of an earlier one. After SIGKILL each output is the old file or the new
one, whole; SIGINT, SIGTERM and SIGHUP end with the best so far saved, exit code 3, and a checkpoint
from which the run goes on to the same bits as one that was never stopped. So does what is left after
SIGKILL, of every command that has checkpoints.
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

KINDS = ("fit", "checkpoint", "deblur", "complete", "path", "predict", "convert")
GENTLE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PASSES, MORE = 6000, 9000


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def listen():
    """A shell's background job ignores SIGINT, and so would its children."""
    for which in GENTLE:
        signal.signal(which, signal.SIG_DFL)


def make_data(path, rows, columns, rng):
    direction = [rng.gauss(0, 1) for _ in range(columns)]
    with open(path, "w") as file:
        for _ in range(rows):
            x = [rng.gauss(0, 1) for _ in range(columns)]
            score = sum(a * b for a, b in zip(direction, x)) + 2 * rng.gauss(0, 1)
            entries = " ".join(f"{j + 1}:{v:.5f}" for j, v in enumerate(x))
            file.write(f"{1 if score > 0 else -1} {entries}\n")


def make_image(path, side, rng):
    with open(path, "w") as file:
        file.write(f"P2 {side} {side} 255\n")
        for i in range(side):
            for j in range(side):
                light = 60 + 120 * (15 < i < 40) * (10 < j < 45)
                file.write(f"{min(255, max(0, int(light + rng.gauss(0, 6))))} ")


def make_ratings(path, rows, columns, rng):
    left = [[rng.gauss(0, 1) for _ in range(3)] for _ in range(rows)]
    right = [[rng.gauss(0, 1) for _ in range(3)] for _ in range(columns)]
    with open(path, "w") as file:
        for i, a in enumerate(left):
            for j, b in enumerate(right):
                if rng.random() < 0.3:
                    value = sum(x * y for x, y in zip(a, b)) + rng.gauss(0, 0.5)
                    file.write(f"{i} {j} {value:.3f}\n")


class Torture:
    def __init__(self, margrave, seed):
        self.margrave = os.path.abspath(margrave)
        self.rng = random.Random(seed)
        self.faults = []
        self.counts = {}

    def command(self, *arguments):
        return [self.margrave, *arguments]

    def run(self, *arguments):
        done = subprocess.run(self.command(*arguments), stdin=subprocess.DEVNULL, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.returncode, done.stderr.decode(errors="replace").strip()

    def fit(self, output, iterations, *more):
        return ("fit", "data.svm", "--solver", "dual_coordinate", "--C", "1000", "--tol", "1e-12",
                "--max-iter", str(iterations), "-q", "-o", output, *more)

    def deblur(self, output, *more):
        """A noise that is never reached: it ends when the residual rests."""
        return ("deblur", "blurred.pgm", "--psf-sigma", "1.5", "--noise", "0.004", "--noise-factor",
                "0.1", "-q", "-o", output, *more)

    def path(self, output):
        return ("path", "data.svm", "--loss", "hinge", "--path-points", "25", "--tol", "1e-6", "-q",
                "-o", output)

    def prepare(self):
        """What every command gives when nobody disturbs it."""
        make_data("data.svm", 300, 12, self.rng)
        make_data("many.svm", 6000, 12, self.rng)
        self.expect(3, self.fit("whole.mgm", PASSES, "--checkpoint", "whole-checkpoint.ck"))
        self.expect(3, self.fit("longer.mgm", MORE))
        self.expect(3, self.fit("old.mgm", 10))
        make_image("blurred.pgm", 60, self.rng)
        self.expect(0, self.deblur("whole.pgm", "--checkpoint", "whole-deblur.ck"))
        make_ratings("ratings", 160, 120, self.rng)
        self.expect(0, ("complete", "ratings", "-q", "-o", "rated.mgm"))
        self.expect(3, ("complete", "ratings", "-q", "--max-iter", "2", "-o", "unrated.mgm",
                        "--checkpoint", "whole-complete.ck"))
        self.expect(0, ("predict", "whole.mgm", "many.svm", "-q", "--scores", "-o", "whole.txt"))
        self.expect(0, ("convert", "many.svm", "whole.mgd", "-q"))
        self.expect(0, self.path("whole.path"))
        self.expect(3, (*self.path("old.path"), "--max-passes", "9", "--checkpoint",
                        "whole-path.ck"))
        self.whole = {name: read(name) for name in os.listdir(".") if os.path.isfile(name)}
        self.points = {name: read(f"whole.path/{name}") for name in os.listdir("whole.path")}
        self.old = {"out.mgm": self.whole["old.mgm"], "out.txt": b"older predictions\n",
                    "out.mgd": b"an older cache\n", "out.pgm": b"an older image\n",
                    "out-checkpoint.ck": self.whole["whole-checkpoint.ck"],
                    "out-deblur.ck": self.whole["whole-deblur.ck"],
                    "out-complete.ck": self.whole["whole-complete.ck"],
                    "out-path.ck": self.whole["whole-path.ck"]}
        self.took = {}
        for kind in KINDS:
            start = time.monotonic()
            self.run(*self.arguments(kind))
            self.took[kind] = time.monotonic() - start

    def expect(self, code, arguments):
        got, text = self.run(*arguments)
        if got != code:
            sys.exit(f"kills: {' '.join(arguments)}: exit {got}, expected {code}: {text}")

    def states(self, kind):
        return "--checkpoint", f"out-{kind}.ck", "--every", "0.02"

    def arguments(self, kind):
        return {"fit": self.fit("out.mgm", PASSES),
                "checkpoint": self.fit("out.mgm", PASSES, *self.states("checkpoint")),
                "deblur": self.deblur("out.pgm", *self.states("deblur")),
                "complete": ("complete", "ratings", "-q", "-o", "out.mgm",
                             *self.states("complete")),
                "path": (*self.path("out.path"), *self.states("path")),
                "predict": ("predict", "whole.mgm", "many.svm", "-q", "--scores", "-o", "out.txt"),
                "convert": ("convert", "many.svm", "out.mgd", "-q")}[kind]

    def clean(self):
        for name in os.listdir("."):
            if name.startswith("out.path"):
                shutil.rmtree(name)
            elif name.startswith(("out.", ".out.")):
                os.unlink(name)
        for name, content in self.old.items():
            write(name, content)
        os.mkdir("out.path")
        for name in self.points:
            write(f"out.path/{name}", b"an older point\n")

    def fault(self, kind, which, text):
        line = f"FOUND: {kind} under {which.name}: {text}"
        self.faults.append(line)
        print(line, flush=True)

    def one(self):
        kind = self.rng.choice(KINDS)
        which = self.rng.choice((signal.SIGKILL, signal.SIGKILL) + GENTLE)
        self.clean()
        process = subprocess.Popen(self.command(*self.arguments(kind)), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   preexec_fn=listen)
        time.sleep(self.rng.uniform(0, 1.1) * self.took[kind])
        process.send_signal(which)
        try:
            errors = process.communicate(timeout=20)[1].decode(errors="replace").strip()
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return self.fault(kind, which, "it had not ended after 20 s")
        code = process.returncode
        key = (kind, which.name, code)
        self.counts[key] = self.counts.get(key, 0) + 1
        if code not in (0, 3, -which):
            self.fault(kind, which, f"exit {code}: {errors}")
        self.check(kind, which, code)

    def check(self, kind, which, code):
        if kind in ("fit", "checkpoint"):
            self.check_model(kind, which, code)
        if kind == "checkpoint":
            self.check_resume(kind, which, self.fit("resumed.mgm", MORE), "longer.mgm")
        if kind == "deblur":
            self.check_resume(kind, which, self.deblur("resumed.pgm"), "whole.pgm", 0)
        if kind == "complete":
            self.check_resume(kind, which, ("complete", "ratings", "-q", "-o", "resumed.mgm"),
                              "rated.mgm", 0)
        if kind == "predict":
            self.check_old_or_new(kind, which, "out.txt", self.whole["whole.txt"])
        if kind == "convert":
            self.check_old_or_new(kind, which, "out.mgd", self.whole["whole.mgd"])
        if kind == "path":
            self.check_path(kind, which)
            self.check_rest_of_path(kind, which)

    def check_manners(self):
        """A gentle signal may end a run that has hardly begun, but not most of them."""
        for kind in ("fit", "checkpoint", "deblur", "complete", "path"):
            for which in GENTLE:
                dead = self.counts.get((kind, which.name, -which), 0)
                met = sum(n for (k, w, _), n in self.counts.items() if k == kind and w == which.name)
                if met >= 5 and dead > met / 2:
                    self.fault(kind, which, f"{dead} of {met} runs ended without saving anything")

    def check_old_or_new(self, kind, which, name, new):
        got = read(name)
        if got not in (self.old[name], new):
            self.fault(kind, which, f"{name} is neither the old file nor the new one "
                                    f"({'gone' if got is None else len(got)})")

    def check_model(self, kind, which, code):
        got = read("out.mgm")
        if got in (self.old["out.mgm"], self.whole["whole.mgm"]) and code != 3:
            return
        if which == signal.SIGKILL and code < 0:
            return self.fault(kind, which, "the model is neither the old nor the new one")
        status, text = self.run("predict", "out.mgm", "data.svm", "-q", "--json")
        if status != 0:
            self.fault(kind, which, f"the model cannot be read: {text}")

    def check_resume(self, kind, which, longer, want, code=3):
        """What the run goes on to from its last checkpoint."""
        state = f"out-{kind}.ck"
        if read(state) is None:
            return self.fault(kind, which, "the checkpoint is gone")
        status, text = self.run(*longer, "--resume", state)
        if status != code:
            self.fault(kind, which, f"the checkpoint cannot be resumed: exit {status}: {text}")
        elif read("resumed" + want[want.index("."):]) != self.whole[want]:
            self.fault(kind, which, "the resumed run has other bits")

    def check_point(self, kind, which, path):
        """A gentle signal ends the point it falls on early: readable is enough."""
        status = 1 if which == signal.SIGKILL else self.run("predict", path, "data.svm", "-q")[0]
        if status != 0:
            self.fault(kind, which, f"{path} is neither the old file nor the new one")

    def check_path(self, kind, which):
        for name, new in self.points.items():
            got = read(f"out.path/{name}")
            if got == b"an older point\n" or got == new:
                continue
            if name != "path.csv":
                self.check_point(kind, which, f"out.path/{name}")
                continue
            lines = (got or b"").decode(errors="replace").split("\n")
            whole = lines[-1] == "" and len({line.count(",") for line in lines[:-1]}) == 1
            if not whole or (which == signal.SIGKILL and len(lines) != len(new.split(b"\n"))):
                self.fault(kind, which, f"path.csv is cut short ({len(lines)} lines)")


    def check_rest_of_path(self, kind, which):
        """The points that are left, to the same bits: those that are done are where they were."""
        status, text = self.run(*self.path("out.path"), "--resume", "out-path.ck")
        if status != 0:
            return self.fault(kind, which, f"the path cannot be resumed: exit {status}: {text}")
        for name, want in self.points.items():
            if name != "path.csv" and read(f"out.path/{name}") not in (want, b"an older point\n"):
                self.fault(kind, which, f"the resumed path has other bits in {name}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    torture = Torture(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        torture.prepare()
        for _ in range(count):
            torture.one()
        torture.check_manners()
        os.chdir("/")
    for (kind, which, code), seen in sorted(torture.counts.items()):
        print(f"{kind:10} {which:8} exit {code:3}: {seen}")
    print(f"{count} kills, {len(torture.faults)} found")
    sys.exit(1 if torture.faults else 0)


if __name__ == "__main__":
    main()
