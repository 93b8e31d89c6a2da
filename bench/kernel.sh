#!/bin/sh
# kernel.sh - kernel margins beside LIBSVM (scikit-learn's SVC, and 3.3 itself) and scikit-learn-intelex; MNIST and HTRU2
# from $MARGRAVE_DATA.
set -eu
python3 -c 'import numpy, sklearn' 2>/dev/null || {
    echo "kernel: python3 has no NumPy and scikit-learn, which this suite cannot do without" >&2
    exit 1
}
exec python3 bench/kernel.py build-bench/bench/bench_kernel "$@"
