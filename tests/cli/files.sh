# files.sh - no wrong file and no endless run: what the command does when numbers overflow,
# descriptors are closed, disks are full, names are links, and readers and terminals go away.
. "$(dirname "$0")/lib.sh"

# ---- numbers ------------------------------------------------------------------------------------
# Scores that are not finite end predict with a sentence; it used to run for ever.
printf '%s\n' '1 1:0.1 2:-0.1' '-1 1:-0.1 2:0.1' '1 1:0.09 2:-0.11' '-1 1:-0.09 2:0.08' >small.svm
run 0 fit small.svm --loss margin -o small.mgm
printf '%s\n' '-1 1:1 2:1' '1 1:1.7e308 2:1.7e308' >huge.svm
timeout 20 "$margrave" predict small.mgm huge.svm -o labels >out 2>err
[ $? = 1 ] || fail "predict of a row that overflows: exit code other than 1"
has err "margrave predict: the score of row 2 is "
[ ! -e labels ] || fail "predictions that mean nothing were written"

# What ran out of time has failed no check.
awk 'BEGIN { srand(3); for (i = 0; i < 600; i++) { printf "%d", i % 20; for (j = 1; j < 30; j++) printf " %d:%.6f", j, rand(); print "" } }' >many.svm
run 3 fit many.svm --solver dual_coordinate --C 1e6 --tol 1e-10 --max-iter 2 --no-model
grep -q 'the check of the last one failed' out && fail "a budget is no failed check: $(cat out)"
run 3 fit many.svm --solver dual_coordinate --C 1e6 --tol 1e-10 --time-limit 0.002 --no-model
has out "certificate  none yet: the run ended before every class had its own"
finish
