#!/bin/sh
# svm.sh - tall hinge SVMs beside LIBLINEAR, a NumPy interior point and scikit-learn's SGD (text: svm_text, linear programmes
# and wide data: svm_l1). Real data from $MARGRAVE_DATA; without it the generated sets alone.
# usage: svm.sh [-q] [GROUP...]    some of covtype large sets passes defaults kinds (-q: no peer)
set -eu
data=${MARGRAVE_DATA:-}
[ -n "$data" ] || echo "svm: MARGRAVE_DATA is not set: covtype, a9a, ijcnn1, w8a and the default settings are left out"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
quick=
if [ "${1:-}" = -q ]; then
    quick=-q
    shift
fi
build-bench/bench/bench_svm $quick ${data:+-d "$data"} -o "$folder" "$@"
if [ -n "$quick" ]; then
    exit 0
elif python3 -c 'import numpy' 2>/dev/null; then
    python3 bench/svm_peers.py "$folder"
else
    echo "svm: python3 has no NumPy: the interior point on all rows and SGD are left out" >&2
fi
