#!/bin/sh
# coordinate.sh - dual coordinate ascent beside LIBLINEAR -s 3. Needs MARGRAVE_DATA.
set -eu
data=${MARGRAVE_DATA:?"set MARGRAVE_DATA to a folder with a9a, w8a and ijcnn1 (packed or not)"}
files=
for name in a9a w8a ijcnn1; do
    for file in "$data/$name" "$data/$name.bz2" "$data/$name.xz" "$data/$name.gz"; do
        [ -f "$file" ] && files="$files $file" && break
    done
done
# shellcheck disable=SC2086
exec build-bench/bench/bench_coordinate $files
