# lib.sh - what the scripts of this folder share. They are called with the command, the source tree
# and the json_get helper, and work in a directory of their own.
set -u
margrave=$1
tree=$2
json_get=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset MGV_SIMD MGV_CACHE
failures=0

fail() {
    printf 'FAILED: %s\n' "$*" >&2
    failures=$((failures + 1))
}

# run CODE ARGUMENT... - runs margrave, which must end with CODE; leaves the files `out` and `err`.
run() {
    want=$1
    shift
    "$margrave" "$@" >out 2>err </dev/null
    got=$?
    [ "$got" = "$want" ] && return 0
    fail "margrave $*: exit code $got, expected $want"
    sed 's/^/    /' err >&2
}

# same FILE FILE WHAT - byte for byte.
same() { cmp -s "$1" "$2" || fail "$3: $1 and $2 differ"; }

# has FILE TEXT - the file has a line with this text in it.
has() {
    grep -qF -e "$2" "$1" && return 0
    fail "no '$2' in $1:"
    sed 's/^/    /' "$1" >&2
}

# is FILE TEXT - the file is this line and nothing else.
is() {
    printf '%s\n' "$2" | cmp -s - "$1" && return 0
    fail "$1 should be '$2' but is:"
    sed 's/^/    /' "$1" >&2
}

empty() { [ ! -s "$1" ] || fail "$1 should be empty but is: $(cat "$1")"; }

# json FILE PATH VALUE - the JSON object in the file has this value there.
json() {
    value=$("$json_get" "$1" "$2") || { fail "$1 has no $2" && return; }
    [ "$value" = "$3" ] || fail "$1: $2 is $value, expected $3"
}

# true_that AWK_CONDITION WHAT - for numbers.
true_that() { awk "BEGIN { exit !($1) }" || fail "$2: $1"; }

finish() {
    [ $failures = 0 ] || printf '%d checks failed\n' "$failures" >&2
    exit $((failures > 0))
}
