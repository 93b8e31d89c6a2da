# install.sh TREE BUILD CC CMAKE - installs into a temporary place and builds examples/ against it,
# once through pkg-config and once through the CMake package; both must fit and certify.
set -eu
tree=$1
build=$2
cc=$3
cmake=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work/prefix" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }

libdir=$(dirname "$(find "$work/prefix" -name libmargrave.so | head -n 1)")
PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_PATH
version=$(sed -n 's/^#define MGV_VERSION_[A-Z]* \([0-9]*\)$/\1/p' "$tree/include/margrave/margrave.h" |
    paste -s -d . -)
[ "$(pkg-config --modversion margrave)" = "$version" ] || { echo "pkg-config: version" >&2; exit 1; }

# shellcheck disable=SC2046
"$cc" -std=c11 -Wall -Wextra -Werror -o "$work/fit" "$tree/examples/fit.c" \
    $(pkg-config --define-variable=prefix="$work/prefix" --cflags --libs margrave) \
    -Wl,-rpath,"$libdir"
"$work/fit" | grep -q '^certified' || { echo "the pkg-config build does not run" >&2; exit 1; }

{
    "$cmake" -G Ninja -S "$tree/examples" -B "$work/examples" -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_PREFIX_PATH="$work/prefix" && "$cmake" --build "$work/examples"
} >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
"$work/examples/fit" | grep -q '^certified' || { echo "the CMake build does not run" >&2; exit 1; }

# The installed command finds its library without help.
[ "$("$work/prefix/bin/margrave" --version)" = "margrave $version" ] || exit 1
