# same_bits.sh - the model file does not depend on threads, logging, the way in, or interruptions.
. "$(dirname "$0")/lib.sh"
run 0 demo --keep

for loss in hinge squared_hinge logistic margin; do
    # where to break off: exact and Newton's methods are done in a few rounds
    first=2
    second=5
    if [ $loss != hinge ]; then
        first=1
        second=2
    fi
    run 0 fit demo.svm --loss $loss --threads 1 -o one.mgm
    run 0 fit demo.svm --loss $loss --threads 2 -o two.mgm
    same one.mgm two.mgm "$loss: 1 and 2 threads"
    run 0 fit demo.svm --loss $loss --verbose --trace t.csv --json -o loud.mgm
    same one.mgm loud.mgm "$loss: log on and off"
    run 0 fit demo.svm --loss $loss --seed 1 -o other.mgm
    # only the hard margin draws random numbers: newton takes no samples from so few rows
    [ $loss = margin ] && cmp -s one.mgm other.mgm && fail "$loss: another seed should take another way"

    # broken off twice, continued to the end, and continued once more
    rm -f state
    run 3 fit demo.svm --loss $loss --max-iter $first --checkpoint state -o cut.mgm
    has out "next         the same command with --resume state"
    run 3 fit demo.svm --loss $loss --max-iter $second --checkpoint state --resume state -o cut.mgm
    run 0 fit demo.svm --loss $loss --checkpoint state --resume state -o resumed.mgm
    same one.mgm resumed.mgm "$loss: --resume"
    run 0 fit demo.svm --loss $loss --resume state -o resumed.mgm
    same one.mgm resumed.mgm "$loss: --resume of a finished run"
done

# a run that has its certificate and goes on for the sake of its zeros, wherever it is broken off
awk 'BEGIN { srand(5); for (i = 0; i < 300; i++) { y = 0; line = ""
    for (j = 1; j <= 20; j++) { x = rand() - .5; if (j % 3 == 0) y += x; line = line " " j ":" x }
    print (y + rand() - .5 > 0 ? 1 : -1) line } }' >few.svm
sharp="few.svm --penalty l1 --task regress --mu 0.02 --tol 1e-7 --solver proximal_newton"
# shellcheck disable=SC2086
run 0 fit $sharp -o one.mgm
for passes in 8 9 10 11 12 13 14 15; do
    # shellcheck disable=SC2086
    "$margrave" fit $sharp --max-passes $passes --checkpoint sharp -o cut.mgm >out 2>err
    # shellcheck disable=SC2086
    run 0 fit $sharp --resume sharp -o resumed.mgm
    same one.mgm resumed.mgm "sharpened, broken off after $passes passes"
done

run 0 fit demo.svm -o file.mgm
"$margrave" fit - -o stdin.mgm <demo.svm >/dev/null || fail "fit -"
same file.mgm stdin.mgm "standard input"
"$margrave" fit - <demo.svm >out || fail "fit -"
same model.mgm file.mgm "the default name for standard input"
gzip -k demo.svm
run 0 fit demo.svm.gz
same demo.mgm file.mgm "compressed input, and its model's name"

# a checkpoint of another problem is refused
run 2 fit demo-twin.svm --resume state
has err "checkpoint is of another solver"
run 3 fit demo.svm --max-iter 3 --checkpoint state -o cut.mgm
run 2 fit demo-twin.svm --resume state
has err "checkpoint is of other data"
run 2 fit demo.svm --resume demo.mgm -o other.mgm
has err "not a checkpoint"
finish
