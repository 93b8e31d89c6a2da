# search_path.sh FILE... - no library is looked for in the current directory: an element of the
# search path that is empty or does not start at $ORIGIN or / means the directory one happens to be
# in. Also that what people run is hardened, where the build is one for them (HARDENED=yes).
set -eu
bad=0
for file in "$@"; do
    path=$(LC_ALL=C readelf -d "$file" | sed -n 's/.*(R[A-Z]*PATH).*\[\(.*\)\].*/\1/p')
    [ -z "$path" ] || printf '%s\n' "$path" | tr ':' '\n' | while IFS= read -r element; do
        case $element in
        /* | \$ORIGIN*) ;;
        *) exit 1 ;;
        esac
    done || { echo "$file: the search path '$path' has '.' in it" >&2; bad=1; }
    case $path in
    *: | :* | *::*) echo "$file: the search path '$path' has an empty element" >&2; bad=1 ;;
    esac
    [ "${HARDENED:-no}" = yes ] || continue
    LC_ALL=C readelf -d "$file" | grep -Eq 'BIND_NOW|FLAGS_1.*NOW' || { echo "$file: not bound at start" >&2; bad=1; }
    LC_ALL=C readelf -l "$file" | grep -q GNU_RELRO || { echo "$file: no relro" >&2; bad=1; }
    nm -D "$file" | grep -q __stack_chk_fail || { echo "$file: no stack protector" >&2; bad=1; }
    nm -D "$file" | grep -q '_chk@' || { echo "$file: not fortified" >&2; bad=1; }
done
exit $bad
