#!/bin/sh
# complete.sh - matrix completion beside dense iterations in NumPy and SciPy.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
build-bench/bench/bench_complete "$scratch"
if python3 -c "import numpy, scipy" 2>/dev/null; then
    echo "the first set by others:"
    python3 bench/peer_complete.py "$scratch"
else
    echo "complete: no NumPy and SciPy for python3: the dense iterations are left out" >&2
fi
