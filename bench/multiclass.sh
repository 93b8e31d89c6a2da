#!/bin/sh
# multiclass.sh - many classes beside scikit-learn, LIBLINEAR and plain iterations; data from $MARGRAVE_DATA.
set -eu
python3 -c 'import numpy, scipy, sklearn' 2>/dev/null || {
    echo "multiclass: python3 has no NumPy, SciPy and scikit-learn, which this suite cannot do without" >&2
    exit 1
}
# OpenBLAS takes some processors with AVX-512 for older ones: the peers get its best kernels.
if grep -q avx512f /proc/cpuinfo 2>/dev/null; then
    export OPENBLAS_CORETYPE="${OPENBLAS_CORETYPE:-SkylakeX}"
fi
exec python3 bench/multiclass.py build-bench/bench/bench_multiclass "$@"
