#!/bin/sh
# io.sh - seconds to read libsvm text, ours beside scikit-learn and a LIBLINEAR-like reader, and to
# open the same data from a .mgd cache: one table, one run, 2 threads, the smallest of REPEATS.
# Started by `bench/run io`, which builds build-bench first. Data comes from $MARGRAVE_DATA.
set -eu
cd "$(dirname "$0")/.."
: "${MARGRAVE_DATA:?"set MARGRAVE_DATA to the folder with covtype, ijcnn1 and news20 (.bz2)"}"
repeats=${REPEATS:-7}
threads=2
program=build-bench/bench/bench_io
work=build-bench/io
mkdir -p "$work"

# sklearn_seconds FILE - the smallest time of load_svmlight_file, or nothing.
sklearn_seconds() {
    python3 - "$1" "$repeats" 2>/dev/null <<'PYTHON' || true
import sys
import time
from sklearn.datasets import load_svmlight_file

best = float("inf")
for _ in range(int(sys.argv[2])):
    start = time.perf_counter()
    load_svmlight_file(sys.argv[1])
    best = min(best, time.perf_counter() - start)
print(best)
PYTHON
}

# Warm seconds: the file is in the page cache for every reader.
printf '%-10s %9s %10s %9s | %9s | %9s %7s | %9s %7s | %9s %7s\n' \
    data rows stored MB margrave sklearn ratio liblinear ratio .mgd ratio
for pair in covtype:covtype.sub92962.libsvm.binary.scale ijcnn1:ijcnn1 news20:news20.multiclass; do
    name=${pair%%:*}
    file=${pair#*:}
    if [ ! -f "$work/$file" ]; then
        bzip2 -dc "$MARGRAVE_DATA/$file.bz2" >"$work/$file.part"
        mv "$work/$file.part" "$work/$file"
    fi
    "$program" "$threads" "$repeats" "$name" "$work/$file" "$work/$name.mgd" "$(sklearn_seconds "$work/$file")"
done
cat <<'TEXT'
sklearn: load_svmlight_file; liblinear: a reader written here like that of its train tool (see
bench/bench_io.c); ratio: its seconds by ours, for .mgd parsing by opening. To reach: 20x, 6x, 100x.
TEXT
