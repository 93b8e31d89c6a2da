#!/bin/sh
# The peer is OpenBLAS, as Debian ships it; without it the table has our columns only.
if ! ldconfig -p | grep -q 'libopenblas\.so\.0'; then
    [ "$(id -u)" = 0 ] && root= || root=sudo
    $root apt-get install -y -qq --no-install-recommends libopenblas0-pthread >&2 ||
        echo "bench: OpenBLAS could not be installed" >&2
fi
exec build-bench/bench/bench_algebra "$@"
