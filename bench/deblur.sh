#!/bin/sh
# deblur.sh - deblurring beside scikit-image; camera512.png from $MARGRAVE_DATA.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
build-bench/bench/bench_deblur "$scratch" ${MARGRAVE_DATA:+"$MARGRAVE_DATA"}
