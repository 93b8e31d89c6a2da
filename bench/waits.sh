#!/bin/sh
# waits.sh - the longest times without a look at the limits, over the larger sets of $MARGRAVE_DATA,
# by every loss and solver; by how much limits were exceeded; where the work was.
# usage: waits.sh [-t SECONDS] [-o "name=value ..."] [FILE...]     (about an hour without FILE)
set -eu
program=build-bench/bench/bench_waits
data=${MARGRAVE_DATA:-}
options=
while getopts t:o: c; do
    options="$options -$c '$(printf '%s' "$OPTARG" | sed "s/'/'\\\\''/g")'"
done
shift $((OPTIND - 1))
if [ $# = 0 ]; then
    [ -n "$data" ] || { echo "waits: MARGRAVE_DATA is not set, and no file is named" >&2; exit 2; }
    set -- "$data/covtype.full.libsvm.binary.scale.bz2" "$data/w8a.bz2" "$data/ijcnn1.bz2" \
        "$data/magic.bz2" "$data/isolet.bz2" "$data/news20.multiclass.bz2" \
        "$data/reuters-money-fx.bz2" "$data/amazon-books.bz2" "$data/communities.bz2" \
        "$data/riboflavin.bz2" "$data/madelon.bz2" "$data/letter.bz2"
fi
# Stacks come as lines "    at PROGRAM+OFFSET ..."; the names of functions, innermost first.
eval "$program $options \"\$@\"" | while IFS= read -r line; do
    case $line in
    "    at "*)
        offsets=$(printf '%s\n' "$line" | tr ' ' '\n' | sed -n 's/^bench_waits+//p')
        # shellcheck disable=SC2086
        printf '      %s\n' "$(addr2line -f -e "$program" $offsets | awk 'NR % 2 && $0 != "??"' |
            head -12 | tr '\n' ' ')"
        ;;
    *) printf '%s\n' "$line" ;;
    esac
done
