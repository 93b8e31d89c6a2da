# complete.sh - entries in, factors out, predictions for pairs.
. "$(dirname "$0")/lib.sh"

# rank 2 with a little noise, half of the entries known; every twelfth of these is for a test
awk 'BEGIN {
    srand(4)
    for (i = 1; i <= 60; i++) { a[i] = rand() - .5; b[i] = rand() - .5 }
    for (i = 1; i <= 50; i++) { c[i] = rand() - .5; d[i] = rand() - .5 }
    for (i = 1; i <= 60; i++) for (j = 1; j <= 50; j++) if (rand() < .5)
        printf "%d %d %.4f\n", i, j, 4 * a[i] * c[j] + 4 * b[i] * d[j] + .02 * (rand() - .5)
}' >all
awk 'NR % 12' all >seen
awk 'NR % 12 == 0' all >test

run 0 complete seen
has out "entries of a 60 x 50 matrix"
has out "rank 2"
has out "finish "
has out "next         margrave predict seen.mgm PAIRS"
[ -s seen.mgm ] || fail "no model"
run 0 predict seen.mgm test -o values
has out "root mean squared error 0.00"
[ "$(wc -l <values)" = "$(wc -l <test)" ] || fail "one value per pair"
run 0 predict seen.mgm test --json
rmse=$("$json_get" out metrics.rmse)
true_that "$rmse < .012" "error of the test entries"
json out metrics.accuracy null

# pairs without values, unknown rows, clipping
awk '{ print $1, $2 }' test >pairs
run 0 predict seen.mgm pairs
same out values "values of pairs"
empty err
printf '1 1\n999 1\n' >unknown
run 0 predict seen.mgm unknown
has err "1 pair has a row or column that was never seen"
# whether an unknown row is answered depends neither on its number nor on the file's length
printf '1 1\n61 1\n' >near
run 0 predict seen.mgm near -o answer_near
for number in 9999 123456789 2147483647 99999999999999999999; do
    printf '1 1\n%s 1\n' $number >far
    run 0 predict seen.mgm far -o answer_far
    has out "1 pair has a row or column that was never seen"
    same answer_near answer_far "row $number"
done
run 0 predict seen.mgm pairs --clip -o clipped
run 2 predict seen.mgm pairs --scores
has err "a completion has no scores"
printf 'a b\n' >words
run 2 predict seen.mgm words
has err "rows are names"

# JSON, trace, no model
run 0 complete seen --json --no-model --trace trace.csv
json out command complete
json out problem.rank 2
json out data.rows 60
json out solver.stop selected
json out model.file null
head -n 1 trace.csv >header
is header "phase,iteration,seconds,rank,train_rmse,held_out_rmse,nuclear_norm"
grep -q '^path,' trace.csv && grep -q '^sweep,' trace.csv || fail "phases of the trace"

# the same bits for any number of threads and from every spelling
awk 'BEGIN { print "who,what,stars" } { printf "u%d,i%d,%s\n", $1, $2, $3 }' seen >seen.csv
run 0 complete seen -o a.mgm --threads 1
run 0 complete seen -o b.mgm --threads 3
same a.mgm b.mgm "threads"
run 0 complete seen.csv -o names.mgm
awk '{ printf "u%d i%d\n", $1, $2 }' test >names
run 0 predict names.mgm names -o by_name
true_that "$(paste values by_name | awk '{ d = $1 - $2; s += d * d } END { print (s < 1e-2) + 0 }')" \
    "names and numbers"

# a checkpoint: on to the same model, from any budget and from a run that had ended
run 0 complete seen --checkpoint state -o whole.mgm
same seen.mgm whole.mgm "with a checkpoint"
run 0 complete seen --resume state -o resumed.mgm
same seen.mgm resumed.mgm "a run that had ended"
for budget in "--max-iter 1" "--max-iter 7" "--max-passes 9" "--max-passes 50" "--max-passes 30"; do
    # shellcheck disable=SC2086
    run 3 complete seen $budget --checkpoint state -o part.mgm
    has out "next         the same command with --resume state"
    run 0 complete seen --resume state --checkpoint state -o resumed.mgm
    same seen.mgm resumed.mgm "resumed after $budget"
done
run 3 complete seen --max-passes 9 --no-model
has out "(max_passes)"
run 2 complete test --resume state
has err "the checkpoint is of other data, settings, tolerance or seed (got fingerprint"
run 2 complete seen --seed 2 --resume state
has err "the checkpoint is of other data"
run 2 complete seen --resume seen.mgm -o other.mgm
has err "this is not a checkpoint (got format"
run 2 complete seen --checkpoint seen
has err "this is also read"
run 1 complete seen --checkpoint nosuch/state
has err "nosuch/state"

# the other rules
run 0 complete seen --no-model --select discrepancy:0.3
has out "the noise level is reached"
run 0 complete seen --no-model --select last --max-iter 20
has out "certificate  |X|_* ="
run 3 complete seen --no-model --max-iter 5
has out "(max_iter)"
run 2 complete seen --select cv:5
has err "holdout:F, last or discrepancy:DELTA"
printf '1 2 3\n1 2 x\n' >bad
run 2 complete bad
has err "bad:2:5: the value 'x' is not a number"
run 2 complete seen --json -o -
has err "one thing only"
printf '1 1 1\n' >one
run 2 complete one
has err "too few entries (1)"
run 1 complete nothing
has err "nothing"

# the distance of every iterate to a matrix that is known
awk 'BEGIN {
    for (i = 1; i <= 12; i++) for (j = 1; j <= 9; j++) {
        x = (i % 3 - 1) * (j % 4)
        print i, j, x >"truth"
        if ((i + j) % 3) print i, j, x >"half"
    }
}'
run 0 complete half --truth truth --trace rows.csv --select last --max-iter 300 --no-finish --biases no --no-model
[ "$(head -n 1 rows.csv)" = "phase,iteration,seconds,rank,train_rmse,held_out_rmse,nuclear_norm,distance" ] ||
    fail "the trace's columns"
# at X = 0 it is the length of the truth; at the end the matrix is found
awk -F, 'NR == 2 { exit !($8 > 15.23 && $8 < 15.24) }' rows.csv || fail "the first distance: $(sed -n 2p rows.csv)"
awk -F, 'END { exit !($8 < .05) }' rows.csv || fail "the last distance: $(tail -n 1 rows.csv)"
run 0 complete half --trace rows.csv --select last --max-iter 3 --no-model
[ "$(head -n 1 rows.csv)" = "phase,iteration,seconds,rank,train_rmse,held_out_rmse,nuclear_norm" ] ||
    fail "the trace's columns without a truth"
awk '{ print $1, $2 }' truth >no_values
run 2 complete half --truth no_values --no-model
has err "no values to compare with"
run 1 complete half --truth nowhere --no-model
run 0 complete half --sigma .99 --select last --max-iter 3 --no-model -v
has err ", sigma 0.99, tau 1"
finish
