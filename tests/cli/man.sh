# man.sh - the manual pages: their parts, that nothing is missing, and that troff takes them.
. "$(dirname "$0")/lib.sh"

# troff_takes FILE - without a warning, where there is a troff.
troff_takes() {
    command -v groff >/dev/null 2>&1 || return 0
    groff -man -ww -Tascii "$1" >shown 2>warnings || fail "groff does not take $1"
    empty warnings
}

# The parts of a page, in their order, and no line that is a request by accident.
parts() {
    is_list=$(sed -n 's/^\.SH "*\([A-Z ]*\)"*$/\1/p' "$1" | paste -s -d , -)
    [ "$is_list" = "$2" ] || fail "$1 has the parts $is_list, expected $2"
    grep -vE '^(\.(TH|SH|SS|TP|PP|BR|RS|RE|nf|fi|br)( |$)|\.\\"|[^.'\''])' "$1" >odd
    empty odd
}

run 0 man
empty err
cp out page
parts page "NAME,SYNOPSIS,DESCRIPTION,COMMANDS,OPTIONS,SETTINGS,REGISTERED,EXIT STATUS,FILES,ENVIRONMENT,EXAMPLES"
has page "margrave \\- certified large\\-margin classifiers"
has page "MGV_SIMD"
has page "MGV_CACHE"
troff_takes page

# Every command, setting and registered name has its entry.
entry() {
    escaped=$(printf '%s' "$1" | sed 's/-/\\-/g')
    has page "\\fB$escaped\\fP"
}
for command in $("$margrave" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    entry "$command"
    has page ".SS $command"
    run 0 man "$command"
    empty err
    cp out "$command.page"
    grep -qF "margrave\\-$command \\- " "$command.page" || fail "man $command: no name"
    troff_takes "$command.page"
    "$margrave" "$command" --help | sed -n 's/\[no-]//;s/^[ ,a-z-]*--\([A-Za-z0-9-]*\).*/--\1/p' >options
    while read -r option; do
        has "$command.page" "\\fB$(printf '%s' "$option" | sed 's/-/\\-/g')\\fP"
        entry "$option"
    done <options
done
for kind in losses penalties solvers stops readers writers; do
    for name in $("$margrave" list "$kind" | sed -n 's/^  \([^ ]*\) .*/\1/p'); do
        entry "$name"
    done
done
for code in 0 1 2 3 4; do entry "$code"; done
parts fit.page "NAME,SYNOPSIS,DESCRIPTION,OPTIONS,PROBLEM SETTINGS,SOLVER SETTINGS,SELECT SETTINGS,STOP SETTINGS,DATA SETTINGS,RUN SETTINGS,EXIT STATUS,ENVIRONMENT,EXAMPLES,SEE ALSO"
has list.page "\\fBmargrave list\\fP [\\fIKIND\\fP] [\\fIOPTION\\fP...]"

# The page does not depend on the machine's instruction set.
MGV_SIMD=scalar "$margrave" man >scalar
same page scalar "MGV_SIMD and the page"

run 2 man fot
has err "did you mean 'fit'?"
empty out
run 2 man --json
empty out
finish
