#!/bin/sh
# iterreg.sh - iterative regularisation on the paper's dense data, then the Lasso of glmnet, celer and
# scikit-learn on the same numbers. Peers that are not installed are named and left out.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
build-bench/bench/bench_iterreg "$folder"
if python3 -c 'import numpy' 2>/dev/null; then
    python3 -W ignore bench/iterreg_peers.py "$folder"
else
    echo "peers: NumPy is not installed (pip install numpy scikit-learn celer)"
fi
