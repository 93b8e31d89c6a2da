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
venv=build-bench/venv
mkdir -p "$work"

# scikit-learn lives in a folder of its own; without it its column says so.
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv" >/dev/null 2>&1 || true
fi
if ! "$venv/bin/python" -c 'import sklearn' 2>/dev/null; then
    "$venv/bin/python" -m pip install -q scikit-learn >"$work/pip.log" 2>&1 || true
fi

# sklearn_seconds FILE - the smallest time of load_svmlight_file, or nothing.
sklearn_seconds() {
    "$venv/bin/python" - "$1" "$repeats" 2>/dev/null <<'PYTHON' || true
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
line='%-10s %9s %10s %9s | %9s | %9s %7s | %9s %7s | %9s %7s\n'
# shellcheck disable=SC2059
printf "$line" data rows stored MB margrave sklearn ratio liblinear ratio .mgd ratio
for pair in covtype:covtype.sub92962.libsvm.binary.scale ijcnn1:ijcnn1 news20:news20.multiclass; do
    name=${pair%%:*}
    file=${pair#*:}
    if [ ! -f "$work/$file" ]; then
        bzip2 -dc "$MARGRAVE_DATA/$file.bz2" >"$work/$file.part"
        mv "$work/$file.part" "$work/$file"
    fi
    # shellcheck disable=SC2046
    set -- $("$program" "$threads" "$repeats" "$work/$file" "$work/$name.mgd")
    sklearn=$(sklearn_seconds "$work/$file")
    megabytes=$(wc -c <"$work/$file" | awk '{printf "%.1f", $1 / 1e6}')
    awk -v line="$line" -v name="$name" -v rows="$1" -v stored="$2" -v mb="$megabytes" \
        -v ours="$3" -v peer="$4" -v opened="$5" -v sk="${sklearn:-0}" 'BEGIN {
        sk_text = sk == 0 ? "absent" : sprintf("%.1f ms", sk * 1e3)
        sk_ratio = sk == 0 ? "-" : sprintf("%.1fx", sk / ours)
        printf line, name, rows, stored, mb, sprintf("%.2f ms", ours * 1e3), sk_text, sk_ratio,
            sprintf("%.1f ms", peer * 1e3), sprintf("%.1fx", peer / ours),
            sprintf("%.3f ms", opened * 1e3), sprintf("%.0fx", ours / opened)
    }'
done
cat <<'TEXT'
sklearn: load_svmlight_file; liblinear: a reader written here like that of its train tool (see
bench/bench_io.c); ratio: its seconds by ours, for .mgd parsing by opening. To reach: 20x, 6x, 100x.
TEXT
