#!/bin/sh
# margin.sh - the exact hard margin beside LIBLINEAR, LIBSVM, quadprog, HiGHS and scikit-learn; MNIST
# from $MARGRAVE_DATA where it is there.
# usage: margin.sh [-q]   (-q: a quick look)
set -eu
images=
if [ -n "${MARGRAVE_DATA:-}" ]; then
    for file in "$MARGRAVE_DATA"/train-images-idx3-ubyte "$MARGRAVE_DATA"/train-images-idx3-ubyte.gz; do
        [ -f "$file" ] && images=$file
    done
fi
[ -n "$images" ] || echo "margin: no MNIST in MARGRAVE_DATA; the generated sets only" >&2
build-bench/bench/bench_margin "$@" ${images:+"$images"}
exec python3 bench/margin_peers.py build-bench/margrave "$@" ${images:+"$images"}
