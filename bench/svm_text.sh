#!/bin/sh
# svm_text.sh - text beside LIBLINEAR -s 0, 1, 2, 3, 5, 6, 7. Needs MARGRAVE_DATA.
# usage: svm_text.sh [-q]   (-q: the hinge only)
set -eu
data=${MARGRAVE_DATA:?"set MARGRAVE_DATA to a folder with news20.multiclass and reuters-money-fx (packed or not)"}
files=
for name in news20.multiclass reuters-money-fx; do
    found=
    for file in "$data/$name" "$data/$name.bz2" "$data/$name.xz" "$data/$name.gz"; do
        [ -f "$file" ] && files="$files $file" && found=yes && break
    done
    [ -n "$found" ] || echo "svm_text: $name: left out, it is not in $data"
done
# shellcheck disable=SC2086
exec build-bench/bench/bench_svm_text "$@" $files
