# help.sh - help and version texts; docs/cli.md holds them all and must be up to date.
. "$(dirname "$0")/lib.sh"

sh "$tree/tests/cli/reference.sh" "$margrave" "$tree" >reference.md
if ! cmp -s reference.md "$tree/docs/cli.md"; then
    diff "$tree/docs/cli.md" reference.md | head -40 >&2
    fail "docs/cli.md is not what the command prints: run tests/cli/reference.sh (it says how)"
fi

run 0 --version
version=$(sed -n 's/^#define MGV_VERSION_[A-Z]* \([0-9]*\)$/\1/p' "$tree/include/margrave/margrave.h" |
    paste -s -d . -)
is out "margrave $version"
empty err

run 0 help
cp out help
run 0 --help
same out help "help and --help"
empty err
run 2
empty out
same err help "no command shows the help on stderr"
for command in demo check fit predict convert list completion man; do
    has help "  $command "
    run 0 "$command" --help
    has out "usage: margrave $command"
    has out "example:"
    empty err
    cp out help-of-it
    run 0 help "$command"
    same out help-of-it "help $command"
    awk -v c="$command" 'length > 100 { exit 1 }' out || fail "help of $command is too wide"
done
finish
