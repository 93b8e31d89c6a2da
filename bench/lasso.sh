#!/bin/sh
# lasso.sh - sparse and ridge regression with the choice of the model, beside glmnet, celer, skglm, adelie and scikit-learn.
# Real sets from $MARGRAVE_DATA.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
[ -n "${MARGRAVE_DATA:-}" ] || echo "lasso: MARGRAVE_DATA is not set; the generated sets only" >&2
build-bench/bench/bench_lasso "$scratch" ${MARGRAVE_DATA:+"$MARGRAVE_DATA"}
