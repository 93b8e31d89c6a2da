#!/bin/sh
# iterreg.sh - sparse and ridge regression with the choice of the model, beside glmnet, celer, skglm and
# scikit-learn (apt r-cran-glmnet; pip scikit-learn celer skglm); real sets from $MARGRAVE_DATA.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
[ -n "${MARGRAVE_DATA:-}" ] || echo "iterreg: MARGRAVE_DATA is not set; the generated sets only" >&2
command -v Rscript >/dev/null || echo "iterreg: no Rscript: glmnet is left out (apt-get install r-cran-glmnet)" >&2
build-bench/bench/bench_lasso "$scratch" ${MARGRAVE_DATA:+"$MARGRAVE_DATA"}
if [ -x build-bench/bench/bench_iterreg ]; then
    build-bench/bench/bench_iterreg
fi
sh bench/complete.sh
sh bench/deblur.sh
