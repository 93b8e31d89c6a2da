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
if [ -x build-bench/bench/bench_margin ]; then
    build-bench/bench/bench_margin "$@" ${images:+"$images"}
else
    echo "margin: LIBLINEAR was not found when the benchmarks were built (Debian: liblinear-dev)" >&2
fi
exec python3 bench/margin_peers.py build-bench/margrave "$@" ${images:+"$images"}
