#!/bin/sh
# sparse.sh - are the zeros at the default tolerance those at 1e-9? Needs MARGRAVE_DATA; hours without SET.
# usage: sparse.sh [SET...]
set -eu
: "${MARGRAVE_DATA:?"set MARGRAVE_DATA to a folder with data sets"}"
exec python3 bench/sparse.py build-bench/bench/bench_sparse build/results/sparse.tsv "$@"
