#!/bin/sh
# iterreg.sh - iterative regularisation and its rivals. Completion and deblurring first; then sparse and ridge regression with
# the choice of the model, beside glmnet (apt r-cran-glmnet), scikit-learn and skglm (pip) and celer (pip, in build-bench/celer
# with an older scikit-learn: celer 0.7 does not run with the newest). Real sets from $MARGRAVE_DATA. Under five minutes.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
[ -n "${MARGRAVE_DATA:-}" ] || echo "iterreg: MARGRAVE_DATA is not set; the generated sets only" >&2
command -v Rscript >/dev/null || echo "iterreg: no Rscript: glmnet is left out (apt-get install r-cran-glmnet)" >&2
for module in sklearn skglm; do
    python3 -c "import $module" 2>/dev/null ||
        echo "iterreg: no python module $module: left out (pip install scikit-learn skglm)" >&2
done
if [ ! -x build-bench/celer/bin/python ]; then
    echo "iterreg: making build-bench/celer for celer, with scikit-learn < 1.6" >&2
    { python3 -m venv build-bench/celer &&
        build-bench/celer/bin/pip install -q celer 'scikit-learn<1.6' 'numpy<2.1'; } >&2 ||
        echo "iterreg: that failed: celer is left out" >&2
fi
sh bench/complete.sh
sh bench/deblur.sh
build-bench/bench/bench_iterreg
build-bench/bench/bench_lasso "$scratch" ${MARGRAVE_DATA:+"$MARGRAVE_DATA"}
