#!/bin/sh
# svm.sh - hinge SVMs of every shape beside LIBLINEAR, a NumPy interior point, scikit-learn's SGD and HiGHS, and a
# summary with the ratios asked for. Real data from $MARGRAVE_DATA; without it the generated sets alone.
# usage: svm.sh                        everything, 5 minutes
#        svm.sh [-q] GROUP...          some of covtype large sets passes defaults kinds text l1  (-q: no LIBLINEAR)
set -eu
if [ ! -x build-bench/bench/bench_svm ]; then
    echo "svm: LIBLINEAR was not found when the benchmarks were built (Debian: liblinear-dev)" >&2
    exit 1
fi
quick=
if [ "${1:-}" = -q ]; then
    quick=-q
    shift
fi
data=${MARGRAVE_DATA:-}
[ -n "$data" ] || echo "svm: MARGRAVE_DATA is not set: covtype, a9a, ijcnn1, w8a, text, leukemia and colon-cancer are left out"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

tall=
text=no
l1=no
for group in "${@:-all}"; do
    case $group in
    all) tall="covtype large sets passes defaults" text=yes l1=yes ;;
    text) text=yes ;;
    l1) l1=yes ;;
    *) tall="$tall $group" ;;
    esac
done
if [ -n "$tall" ]; then
    # shellcheck disable=SC2086
    build-bench/bench/bench_svm $quick ${data:+-d "$data"} -o "$folder" $tall
    if ! python3 -c 'import numpy' 2>/dev/null; then
        echo "svm: no NumPy (pip install numpy): the interior point on all rows and SGD are left out"
    elif [ -z "$quick" ]; then
        python3 bench/svm_peers.py "$folder"
    fi
fi
if [ $text = yes ] && [ -n "$data" ]; then
    sh bench/svm_text.sh -q -o "$folder/summary.tsv"
fi
if [ $l1 = yes ]; then
    echo
    sh bench/svm_l1.sh "$folder"
fi
if [ -s "$folder/summary.tsv" ]; then
    printf '\nsummary\n'
    awk -f bench/summary.awk "$folder/summary.tsv"
fi
