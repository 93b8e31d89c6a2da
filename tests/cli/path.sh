# path.sh - what path prints and writes, its exit codes, and what an interrupted path leaves.
. "$(dirname "$0")/lib.sh"
run 0 demo --keep

# the table, the models, the CSV
run 0 path demo.svm --penalty l1 --path-points 5 --solver column_generation -o grid
empty err
has out "path         5 points along mu, the largest 0."
has out "nonzeros       |w|_1      objective"
has out "models       grid/point-*.mgm"
[ "$(grep -c '^ *[1-5] ' out)" = 5 ] || fail "five rows for people"
[ "$(ls grid)" = "path.csv
point-001.mgm
point-002.mgm
point-003.mgm
point-004.mgm
point-005.mgm" ] || fail "the files: $(ls grid)"
[ "$(wc -l <grid/path.csv)" = 6 ] || fail "the CSV has a head and five rows"
[ "$(sed -n '2,$s/.*,\(certified\),\(point-00[1-5].mgm\)$/\1/p' grid/path.csv | wc -l)" = 5 ] ||
    fail "every point is certified"
true_that "$(awk -F, 'NR == 2 { print $7 }' grid/path.csv) == 0" "no weights at the largest mu"
true_that "$(awk -F, 'NR == 6 { print $7 }' grid/path.csv) > 5" "weights at the smallest"
run 0 predict grid/point-005.mgm demo.svm --json
true_that "$("$json_get" out metrics.accuracy) > 0.9" "the last model predicts"

# the same point by fit
mu=$(awk -F, 'NR == 4 { print $3 }' grid/path.csv)
run 0 fit demo.svm --mu "$mu" --no-model --json
true_that "($("$json_get" out certificate.primal) / $(awk -F, 'NR == 4 { print $4 }' grid/path.csv) - 1)^2 < 1e-7" \
    "path and fit find the same optimum"

# JSON, and nothing else on stdout; nothing is saved without -o
run 0 path demo.svm --path-points 3 --json
empty err
json out command path
json out path.by lambda
json out path.points 3
json out path.done 3
json out points.# 3
json out points.2.stop certified
json out points.2.verified true
json out points.2.model null
run 0 path demo.svm --penalty l1 --strengths 0.01,0.1 -o listed --json
json out points.0.mu 0.10000000000000001
json out points.1.model listed/point-002.mgm

# elastic net: the strength that is given stays
run 0 path demo.svm --lambda 0.01 --path-points 2 --json
json out path.by mu
json out points.1.lambda 0.01
run 0 path demo.svm --mu 0.01 --path-points 2 --json
json out path.by lambda
json out points.1.mu 0.01

# more than two classes: one table, models of all of them
awk 'BEGIN { srand(3); split("yak ant cow", name, " ")
    for (i = 0; i < 60; i++) { k = i % 3
        printf "%.3f,%.3f,%.3f,%s\n", (k == 0) * 2 + rand(), (k == 1) * 2 + rand(), rand(), name[k + 1] } }' >animals.csv
for form in "--loss hinge --penalty l1" "--loss logistic --multiclass ovo" "--loss softmax" "--loss crammer_singer --no-intercept"; do
    # shellcheck disable=SC2086
    run 0 path animals.csv $form --path-points 4 -o animals.path --json
    json out path.done 4
    json out points.3.verified true
    true_that "$("$json_get" out points.3.relative_gap) <= 1e-4 && $("$json_get" out points.3.train_score) > 0.8" "$form"
    accuracy=$("$json_get" out points.3.train_score)
    run 0 predict animals.path/point-004.mgm animals.csv --json
    true_that "$("$json_get" out metrics.accuracy) == $accuracy" "the accuracy of the table"
done
run 0 path animals.csv --loss hinge --penalty l1 --path-points 3
has out "accuracy"
run 2 path animals.csv --loss softmax --penalty l1
has err "--loss logistic --penalty l1"

# budgets: the path goes on, exit code 3 tells
run 3 path demo-twin.svm --path-points 3 --max-iter 1 --solver dual_coordinate --tol 1e-12 -o short
has out max_iter
[ "$(ls short | wc -l)" = 4 ] || fail "models are saved all the same"

# wrong use
run 2 path demo.svm --penalty l1 --mu 1
has err "mu is given, but it is what the path goes along"
run 2 path demo.svm --loss margin
has err "is a constraint"
run 2 path
run 2 path demo.svm --strengths 1,two --penalty l1
has err "'two'"
echo text >file
run 2 path demo.svm -o file
has err "not a directory"
run 1 path demo.svm -o missing/below
has err "missing/below: No such file"

# a checkpoint: the points that are left, to the same bits; a trace over all of them
whole="demo-twin.svm --solver dual_coordinate --path-points 6 --tol 1e-7"
for options in "$whole" "demo-twin.svm --loss logistic --path-points 6 --tol 1e-7"; do
    rm -rf once
    # shellcheck disable=SC2086
    run 0 path $options -o once --trace rows.csv
    [ "$(tail -n 1 rows.csv | cut -d, -f15)" = "$(tail -n 1 once/path.csv | cut -d, -f2)" ] ||
        fail "the strength of the last row"
    for passes in 9 25 50; do
        rm -rf parts
        # shellcheck disable=SC2086
        run 3 path $options -o parts --max-passes $passes --checkpoint state
        has out "next         the same command with --resume state"
        # shellcheck disable=SC2086
        run 0 path $options -o parts --resume state --checkpoint state
        for point in once/point-*.mgm; do
            same "$point" "parts/${point#once/}" "$options: resumed after $passes passes"
        done
        [ "$(wc -l <parts/path.csv)" = 7 ] || fail "a row for every point"
    done
    # shellcheck disable=SC2086
    run 0 path $options -o parts --resume state
done
# shellcheck disable=SC2086
run 2 path $whole -o elsewhere --resume state
has err "the checkpoint is of other data, settings, tolerance or seed"
run 2 path demo-twin.svm --loss logistic --path-points 6 --tol 1e-7 -o elsewhere --resume state
has err "elsewhere/point-001.mgm: the model of a point that is done is missing (got"
run 2 fit demo-twin.svm --loss logistic --tol 1e-7 --resume state
has err "the checkpoint is of another command (got command 'path', not 'fit')"
run 2 path demo-twin.svm --checkpoint demo-twin.svm
has err "this is also read"

# a signal ends the path; what is done stays
"$margrave" path demo-twin.svm --path-points 10000 --tol 1e-9 -o long --json >out 2>err </dev/null &
pid=$!
while kill -0 $pid 2>/dev/null && [ "$(cat long/path.csv.tmp.* 2>/dev/null | wc -l)" -lt 4 ]; do
    sleep 0.05
done
kill -INT $pid
wait $pid
code=$?
[ $code = 3 ] || fail "SIGINT: exit code $code, expected 3: $(cat err)"
done=$("$json_get" out path.done)
true_that "$done >= 3 && $done < 10000" "some points are done"
[ "$(ls long/point-*.mgm | wc -l)" = "$done" ] || fail "a model for each of them"
[ "$(wc -l <long/path.csv)" = $((done + 1)) ] || fail "and a row"
finish
