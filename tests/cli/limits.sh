# limits.sh - --time-limit is for the whole command, and leaves a model and what is known of it.
. "$(dirname "$0")/lib.sh"

# Classes that overlap, so that fits take long; awk's own generator, seeded.
awk 'BEGIN { srand(5); for (i = 0; i < 6000; i++) { c = i % 3; line = ""
    for (j = 1; j <= 60; j++) line = line " " j ":" rand() - .5 + .1 * (j % 3 == c)
    print c line } }' >three.svm
sed 's/^2/1/' three.svm >two.svm

# What a limit of 0.3 s leaves: exit code 3, a model, far less than what the command would take (seconds
# on the fastest machine known, so paths are long and do not end early); the bound is for slow ones.
# A machine that cannot read the file and set up the problem within the limit gets a longer one.
limited() {
    for limit in 0.3 1 3 10 30; do
        rm -f m.mgm
        begun=$(date +%s)
        "$margrave" "$@" --time-limit $limit -o m.mgm >out 2>err </dev/null
        code=$?
        grep -qE "was over before the (file was read|problem was set up)" err || break
        [ ! -e m.mgm ] || fail "$*: nothing was fitted, but there is a model"
    done
    [ $code = 3 ] || fail "$*: exit code $code, expected 3: $(cat err)"
    true_that "$(date +%s) - $begun <= 3 * $limit + 2" "$*: seconds under a limit of $limit"
    has out "reached time_limit before its certificate"
    cp err words
    cp out last
    run 0 predict m.mgm two.svm -o /dev/null
}

long="--set path_points=10000 --set patience_points=10000"
# shellcheck disable=SC2086
limited fit two.svm --loss logistic --penalty l1 --tol 1e-9 --select cv:10 $long
has words "the limit has ended select cv:10 after"
# shellcheck disable=SC2086
limited fit two.svm --loss hinge --solver dual_coordinate --C 1e6 --tol 1e-12 --select cv:10 \
    --set patience_iterations=1000000
limited fit two.svm --kernel rbf --loss hinge --C 100 --select cv:10
# shellcheck disable=SC2086
limited fit three.svm --loss logistic --tol 1e-9 --select cv:5 $long
limited fit three.svm --loss hinge --solver dual_coordinate --C 1e5 --tol 1e-12
# classes take turns; the time of one may be too short for a certificate on slow machines
grep -qE "each of the 3 optima is known|none yet: the run ended before every class had its own" last ||
    fail "every class has had its turn, or there is no certificate yet"
if grep -q "the check of the last one failed" last; then
    fail "nothing has failed: there was no certificate yet"
fi

# Nothing is known but that the optimum is no less than 0, which has no sign.
printf '0 1:1\n1 1:2\n0 1:3\n' >few.svm
run 3 fit few.svm --loss hinge --C 1 --time-limit 0 --no-model
has out "the optimum lies between 0 (proven)"

# A file that takes longer to read than there is time, here one that nobody writes to: a sentence,
# soon, and no model. The same for a signal meanwhile.
mkfifo never
sleep 1000 >never & # keeps it open
writer=$!
trap 'kill $writer; rm -rf "$work"' EXIT
rm -f m.mgm
begun=$(date +%s)
run 1 fit never --format libsvm --time-limit 0.3 -o m.mgm
true_that "$(date +%s) - $begun <= 3" "seconds of a file that does not come"
has err "never: time_limit was over before the file was read"
for pause in 0.3 1 3 10; do # 130: the signal came before the command had begun to catch it
    "$margrave" fit never --format libsvm -o m.mgm >out 2>err </dev/null &
    pid=$!
    sleep $pause
    kill -INT $pid
    wait $pid
    code=$?
    [ $code = 130 ] || break
done
[ $code = 1 ] || fail "SIGINT while reading: exit code $code, expected 1: $(cat err)"
has err "never: interrupted before the file was read"
[ ! -e m.mgm ] || fail "there is a model of a file that was not read"

# The progress line on a terminal: no wider than that, no nan.
if command -v script >/dev/null; then
    printf '%s\n' 'stty cols 40' "$margrave fit two.svm --solver dual_coordinate --C 1e6 --tol 1e-12 \
        --time-limit 1 --no-model >/dev/null" \
        "$margrave fit two.svm --loss logistic --penalty l1 --tol 1e-9 --select cv:5 \
        --time-limit 1 --no-model >/dev/null" >in_terminal.sh
    script -qec 'sh in_terminal.sh' /dev/null </dev/null | tr '\r' '\n' | sed 's/.\[K//' >drawn
    has drawn "strength 1 of"
    grep -v '^warning' drawn | awk 'length($0) > 39 { exit 1 }' || fail "a line is too wide"
    if grep -qw nan drawn; then
        fail "nan in a progress line"
    fi
fi
finish
