#!/usr/bin/env python3
"""descriptors.py MARGRAVE [COUNT] [SEED] - closed descriptors, full disks, folders nobody may write.

Whatever a command has for stdin, stdout and stderr, and however little room there is: an output is
whole and right and the exit code 0, or it is absent (or the old file) and the exit code is not 0.
"""
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

KINDS = ("fit", "checkpoint", "trace", "path", "predict", "convert csv", "convert mgd", "complete")
OUTPUTS = {"fit": ["out.mgm"], "checkpoint": ["out.mgm"], "trace": ["out.mgm", "out.csv"],
           "path": ["out.path/point-001.mgm", "out.path/point-005.mgm", "out.path/path.csv"],
           "predict": ["out.txt"], "convert csv": ["out.csv"], "convert mgd": ["out.mgd"],
           "complete": ["out.mgc"]}


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


class Torture:
    def __init__(self, margrave, seed):
        self.margrave = os.path.abspath(margrave)
        self.rng = random.Random(seed)
        self.faults = 0
        self.counts = {}
        self.folder = os.getcwd()

    def path(self, name):
        return os.path.join(self.folder, name)

    def arguments(self, kind):
        data = self.path("data.svm")
        fit = ("fit", data, "--solver", "dual_coordinate", "--C", "10", "--tol", "1e-6", "-o", "out.mgm")
        return {"fit": fit,
                "checkpoint": fit + ("--max-iter", "20", "--checkpoint", "out.ck"),
                "trace": fit + ("-v", "--trace", "out.csv"),
                "path": ("path", data, "--penalty", "l1", "--path-points", "5", "-o", "out.path"),
                "predict": ("predict", self.path("model.mgm"), data, "--scores", "-o", "out.txt"),
                "convert csv": ("convert", data, "out.csv"),
                "convert mgd": ("convert", data, "out.mgd"),
                "complete": ("complete", self.path("seen.txt"), "--max-iter", "20",
                             "-o", "out.mgc")}[kind]

    def start(self, kind, folder, closed=(), full=(), limit=None):
        """Exit code of the command in `folder` with descriptors closed or on a full device."""
        def prepare():
            if limit is not None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # else it is killed, not refused
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            for fd in full:
                os.dup2(os.open("/dev/full", os.O_WRONLY), fd)
            for fd in closed:
                os.close(fd)

        done = subprocess.Popen([self.margrave, *self.arguments(kind)], cwd=folder,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, preexec_fn=prepare, close_fds=False)
        try:
            return done.wait(timeout=20)
        except subprocess.TimeoutExpired:
            done.kill()
            done.wait()
            return None

    def prepare(self):
        rng = self.rng
        with open("data.svm", "w") as file:
            for _ in range(200):
                x = [rng.gauss(0, 1) for _ in range(8)]
                label = 1 if x[0] + rng.gauss(0, 1) > 0 else -1
                file.write(f"{label} " + " ".join(f"{j + 1}:{v:.5f}" for j, v in enumerate(x)) + "\n")
        with open("seen.txt", "w") as file:
            for _ in range(400):
                i, j = rng.randrange(30), rng.randrange(20)
                file.write(f"{i + 1} {j + 1} {0.1 * (i - 15) * (j - 10) + rng.gauss(0, 0.1):.4f}\n")
        self.model()
        self.right, self.code = {}, {}
        for kind in KINDS:
            folder = self.fresh()
            self.code[kind] = self.start(kind, folder)
            for name in OUTPUTS[kind]:
                self.right[kind, name] = read(os.path.join(folder, name))
                if self.code[kind] not in (0, 3) or self.right[kind, name] is None:
                    sys.exit(f"descriptors: {kind}: exit {self.code[kind]}, {name}")

    def model(self):
        subprocess.run([self.margrave, "fit", "data.svm", "--C", "1", "-q", "-o", "model.mgm"],
                       check=True, stdout=subprocess.DEVNULL)

    def fresh(self):
        folder = self.path("run")
        if os.path.isdir(folder):
            os.chmod(folder, 0o700)
            shutil.rmtree(folder)
        os.mkdir(folder)
        return folder

    def whole(self, kind, name, got, code):
        """Times differ from run to run; where a file has them, its shape must be right. A path that
        failed may list the points it has saved."""
        right = self.right[kind, name]
        if got == right:
            return True
        if not name.endswith(".csv") or kind == "convert csv":
            return False
        commas = {line.count(b",") for line in got.split(b"\n")[:-1]}
        lines, full = got.count(b"\n"), right.count(b"\n")
        enough = lines == full or (name.endswith("path.csv") and code != 0 and 1 < lines < full)
        return got.endswith(b"\n") and len(commas) == 1 and enough

    def check(self, kind, how, folder, code):
        self.counts[how.split()[0]] = self.counts.get(how.split()[0], 0) + 1
        good = code in (0, self.code[kind])
        if code is None or code < 0:
            return self.fault(kind, how, f"ended by {code}")
        for name in OUTPUTS[kind]:
            got = read(os.path.join(folder, name))
            if got is not None and not self.whole(kind, name, got, code):
                self.fault(kind, how, f"{name} is there and wrong ({len(got)} bytes), exit {code}")
            if got is None and good:
                self.fault(kind, how, f"{name} is absent, exit {code}")
        left = [name for name in os.listdir(folder) if ".tmp" in name or name.endswith(".part")]
        if left:
            self.fault(kind, how, f"left behind: {' '.join(left)}")

    def fault(self, kind, how, text):
        self.faults += 1
        print(f"FOUND: {kind}, {how}: {text}", flush=True)

    def one(self):
        kind = self.rng.choice(KINDS)
        how = self.rng.choice(("closed", "closed", "full", "limit", "disk", "forbidden"))
        folder = self.fresh()
        some = self.rng.choice(((0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)))
        if how == "closed":
            self.check(kind, f"closed {some}", folder, self.start(kind, folder, closed=some))
        elif how == "full":
            some = tuple(fd for fd in some if fd > 0) or (1,)
            self.check(kind, f"full {some}", folder, self.start(kind, folder, full=some))
        elif how == "disk" and os.getuid() == 0 and self.on_full_disk(kind):
            pass
        elif how in ("limit", "disk"):
            limit = self.rng.choice((0, 1, 100, 500, 4096))
            self.check(kind, f"limit {limit}", folder, self.start(kind, folder, limit=limit))
        elif os.getuid() == 0:  # the superuser may write everywhere but into a folder that is gone
            gone = os.path.join(folder, "gone")
            os.mkdir(gone)
            self.check(kind, "forbidden", folder, self.in_removed(kind, gone))
        else:
            os.chmod(folder, 0o500)
            self.check(kind, "forbidden", folder, self.start(kind, folder))

    def on_full_disk(self, kind):
        """A disk of 64 KiB with some bytes left; False where nobody may mount one."""
        disk = self.path("disk")
        os.makedirs(disk, exist_ok=True)
        mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]
        if shutil.which("mount") is None or subprocess.run(mount, stderr=subprocess.DEVNULL).returncode:
            return False
        try:
            left = self.rng.choice((0, 4096, 8192))
            with open(os.path.join(disk, "filler"), "wb") as file:
                file.write(b"x" * (65536 - left))
            self.check(kind, f"disk {left}", disk, self.start(kind, disk))
        finally:
            subprocess.run(["umount", disk], check=True)
        return True

    def in_removed(self, kind, gone):
        script = 'rmdir "$0" && shift 0 && exec "$@"'
        done = subprocess.run(["sh", "-c", script, gone, self.margrave, *self.arguments(kind)],
                              cwd=gone, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=20)
        return done.returncode


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    margrave, seed = os.path.abspath(sys.argv[1]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        torture = Torture(margrave, seed)
        torture.prepare()
        for _ in range(count):
            torture.one()
        os.chdir("/")
    print(", ".join(f"{how} {seen}" for how, seen in sorted(torture.counts.items())))
    print(f"{count} runs, {torture.faults} found")
    sys.exit(1 if torture.faults else 0)


if __name__ == "__main__":
    main()
