#!/bin/sh
# iterreg.sh - sparse and ridge regression with the choice of the model, beside glmnet, celer, skglm and
# scikit-learn (apt r-cran-glmnet; pip scikit-learn celer skglm), real sets from $MARGRAVE_DATA; then
# iterative regularisation on the paper's dense data beside the Lasso on the same numbers. Peers that
# are not installed are named and left out.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
mkdir "$scratch/path" "$scratch/paper"
[ -n "${MARGRAVE_DATA:-}" ] || echo "iterreg: MARGRAVE_DATA is not set; the generated sets only" >&2
command -v Rscript >/dev/null || echo "iterreg: no Rscript: glmnet is left out (apt-get install r-cran-glmnet)" >&2
build-bench/bench/bench_lasso "$scratch/path" ${MARGRAVE_DATA:+"$MARGRAVE_DATA"}
build-bench/bench/bench_iterreg "$scratch/paper"
if python3 -c 'import numpy' 2>/dev/null; then
    python3 -W ignore bench/iterreg_peers.py "$scratch/paper"
else
    echo "peers: NumPy is not installed (pip install numpy scikit-learn celer)"
fi
