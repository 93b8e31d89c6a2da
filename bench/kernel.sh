#!/bin/sh
# kernel.sh - kernel margins beside LIBSVM (scikit-learn's SVC); MNIST and HTRU2 from $MARGRAVE_DATA.
set -eu
python3 -c 'import numpy, sklearn' 2>/dev/null || {
    echo "kernel: the peer is missing: pip install numpy scikit-learn" >&2
    exit 1
}
exec python3 bench/kernel.py build-bench/bench/bench_kernel "$@"
