# install.sh TREE BUILD CC CMAKE - installs into a temporary place and builds examples/ against it,
# once through pkg-config and once through the CMake package; both must fit and certify. Also looks
# for the command, its manual page and its completions.
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
    $(pkg-config --cflags --libs margrave) -Wl,-rpath,"$libdir"
"$work/fit" | grep -q '^certified' || { echo "the pkg-config build does not run" >&2; exit 1; }
# The prefix is where the copy lies, not where the build was configured to go; links resolved.
prefix=$(cd "$(pkg-config --variable=prefix margrave)" && pwd -P)
[ "$prefix" = "$(cd "$work/prefix" && pwd -P)" ] || { echo "pkg-config: prefix $prefix" >&2; exit 1; }

{
    "$cmake" -G Ninja -S "$tree/examples" -B "$work/examples" -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_PREFIX_PATH="$work/prefix" && "$cmake" --build "$work/examples"
} >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
"$work/examples/fit" | grep -q '^certified' || { echo "the CMake build does not run" >&2; exit 1; }

# The installed command finds its library without help.
[ "$("$work/prefix/bin/margrave" --version)" = "margrave $version" ] || exit 1

# The manual page and the completions are where man and the shells look, and are this version's.
for page in man/man1/margrave.1 bash-completion/completions/margrave zsh/site-functions/_margrave \
    fish/vendor_completions.d/margrave.fish; do
    grep -q "margrave $version" "$work/prefix/share/$page" || { echo "no share/$page" >&2; exit 1; }
done
