#!/bin/sh
# svm_l1.sh - linear programmes beside HiGHS (scipy), wide data beside LIBLINEAR -s 3; leukemia and
# colon-cancer from $MARGRAVE_DATA where they are there.
set -eu
files=
for name in leukemia colon-cancer.std colon-cancer; do
    for file in "${MARGRAVE_DATA:-/nonexistent}/$name" "${MARGRAVE_DATA:-/nonexistent}/$name.bz2"; do
        [ -f "$file" ] && files="$files $file" && break
    done
done
[ -n "$files" ] || echo "svm_l1: no leukemia or colon-cancer in MARGRAVE_DATA; the generated sets only" >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2086
build-bench/bench/bench_svm_l1 "$work" $files
if ! python3 -c "import numpy, scipy.optimize" 2>/dev/null; then
    echo "svm_l1: HiGHS comes with scipy, which python3 does not have; ours alone:" >&2
    cut -f 2,3,6,8 "$work/ours.tsv"
    exit 0
fi
python3 bench/svm_l1.py "$work"
