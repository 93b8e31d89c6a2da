#!/bin/sh
# svm.sh - tall hinge SVMs beside LIBLINEAR, a NumPy interior point and scikit-learn's SGD; data
# from $MARGRAVE_DATA. usage: svm.sh [-q] [covtype|large|sets|passes|defaults ...]  (-q: no LIBLINEAR)
set -eu
data=${MARGRAVE_DATA:?"set MARGRAVE_DATA to a folder with covtype.sub92962.libsvm.binary.scale, a9a, ijcnn1, w8a (packed or not)"}
if [ ! -x build-bench/bench/bench_svm ]; then
    echo "svm: LIBLINEAR was not found when the benchmarks were built (Debian: liblinear-dev)" >&2
    exit 1
fi
quick=
if [ "${1:-}" = -q ]; then
    quick=-q
    shift
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
build-bench/bench/bench_svm $quick -o "$folder" "$data" "$@"
if python3 -c 'import numpy' 2>/dev/null; then
    python3 bench/svm_peers.py "$folder"
else
    echo "svm: no NumPy: the interior point on all rows and SGD are left out" >&2
fi
