# completion.sh - the scripts for the shells: their syntax, and for bash what they offer.
. "$(dirname "$0")/lib.sh"

run 2 completion
run 2 completion powershell
has err "there are ones for bash, zsh and fish"
run 2 completion bsh
has err "did you mean 'bash'?"
run 2 completion bash --json
empty out

# Every command and every one of its options is in each script.
for shell in bash zsh fish; do
    run 0 completion "$shell"
    empty err
    cp out "script.$shell"
    for command in $("$margrave" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
        has "script.$shell" "$command"
        "$margrave" "$command" --help | sed -n 's/\[no-]//;s/^[ ,a-z-]*--\([A-Za-z0-9-]*\).*/\1/p' >options
        while read -r option; do
            grep -qE -e "(--|-l )$option\\b" "script.$shell" || fail "$shell: no --$option of $command"
        done <options
    done
    if command -v "$shell" >/dev/null 2>&1; then
        "$shell" -n "script.$shell" || fail "$shell does not read its script"
    fi
done

command -v bash >/dev/null 2>&1 || finish

# complete.bash WORD... - the completions of the last word, sorted, on one line.
cat >complete.bash <<'TEXT'
source ./script.bash
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_margrave
((${#COMPREPLY[@]})) && printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort | paste -s -d ' ' -
TEXT
# offers EXPECTED WORD... - just these complete the last word.
offers() {
    expected=$1
    shift
    got=$(bash complete.bash margrave "$@")
    [ "$got" = "$expected" ] || fail "margrave $*: offers '$got', expected '$expected'"
}
# names KIND - what is registered, as the script should offer it behind auto.
names() {
    { echo auto && "$margrave" list "$1" | sed -n 's/^  \([^ ]*\) .*/\1/p'; } | LC_ALL=C sort |
        paste -s -d ' ' -
}
mkdir -p data/folder
touch data/a.svm 'data/a b.svm'

offers "check complete completion convert" c
offers "--help --version" --
offers "fit" help f
offers "fit" man f
offers "bash fish zsh" completion ""
offers "losses" list lo
offers "settings simd solvers stops" list s
offers "data/a b.svm data/a.svm" fit data/a
offers "data/folder" predict model.mgm data/f
offers "--no-model" fit --no-m
offers "--no-shrink" fit --no-shr
offers "--keep" demo --k
offers "" demo ""

offers "$(names losses)" fit --loss ""
offers "$(names penalties)" check --penalty ""
offers "$(names solvers)" fit --solver ""
offers "$(names readers)" fit --format ""
offers "$(names readers | sed 's/auto //')" convert --from ""
offers "$(names writers | sed 's/auto //')" convert --to ""
offers "maxabs none rownorm sqrt std" fit data/a.svm --scale ""
offers "rbf" fit --kernel "r"
offers "" fit --lambda ""
offers "data/folder" fit -o data/f
offers "data/folder" fit --checkpoint data/f

# Bash hands --loss=h over as three words.
offers "hinge huber" fit --loss = h
offers "f32 f64" fit --precision = f
offers "$(names losses)" fit --loss =
offers "no yes" fit --intercept =
offers "task=" fit --set ta
offers "classify" fit --set task = c
offers "yes" fit --set intercept = y
offers "label-column= labels=" predict --set l
finish
