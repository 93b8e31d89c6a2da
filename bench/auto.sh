#!/bin/sh
# auto.sh - is `auto` certified on data nobody tuned on, and what does its choice cost (the regret)?
# usage: auto.sh [ARGUMENT...]           2,000 drawn problems (bench_auto.c: -n, -s, -l, -q, ...)
#        auto.sh --data [ARGUMENT...]    every set of $MARGRAVE_DATA with a grid of settings
set -eu
if [ "${1:-}" = --data ]; then
    shift
    exec build-bench/bench/bench_auto -d "${MARGRAVE_DATA:?"set MARGRAVE_DATA to a folder with data sets"}" "$@"
fi
exec build-bench/bench/bench_auto "$@"
