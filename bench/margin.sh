#!/bin/sh
# margin.sh - the exact hard margin beside LIBLINEAR; MNIST from $MARGRAVE_DATA where it is there.
set -eu
images=
if [ -n "${MARGRAVE_DATA:-}" ]; then
    for file in "$MARGRAVE_DATA"/train-images-idx3-ubyte "$MARGRAVE_DATA"/train-images-idx3-ubyte.gz; do
        [ -f "$file" ] && images=$file
    done
fi
[ -n "$images" ] || echo "margin: no MNIST in MARGRAVE_DATA; the generated sets only" >&2
exec build-bench/bench/bench_margin ${images:+"$images"}
