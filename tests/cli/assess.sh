# assess.sh - `margrave assess`: its table, its JSON, its exit codes and refusals.
. "$(dirname "$0")/lib.sh"
run 0 demo --keep

# a strength is chosen on the other parts unless one is given
run 0 assess demo.svm --outer 4
has out "assess       4 parts; on the others cv:5 chooses"
[ "$(grep -c '^ *[1-4] .* lambda .* nonzero$' out)" = 4 ] || fail "a row for every part"
has out "of rows that no part of its making has seen"
has out "baseline     always the larger class: "
run 0 assess demo.svm --outer 3 --C 1
has out "the others are trained on, nothing is chosen"

run 0 assess demo.svm --outer 3 --repeat 2 --lambda-grid 1e-3..1e-1:3 --mu-grid 0,0.01 --select cv:3 --json
empty err
json out command assess
json out assess.metric accuracy
json out assess.done 6
json out assess.parts.# 6
json out assess.parts.5.repeat 2
json out assess.parts.5.chosen.method "grid of strengths"
json out assess.parts.0.stop certified
true_that "$("$json_get" out assess.score.mean) > $("$json_get" out assess.baseline.mean)" "better than nothing"
true_that "$("$json_get" out assess.score.se) > 0" "with a standard error"

# a quantity: root mean squared errors and R2
awk 'BEGIN { srand(7); for (i = 0; i < 80; i++) { line = ""
    for (j = 1; j <= 4; j++) { x[j] = rand() - .5; line = line " " j ":" x[j] }
    print 3 + 2 * x[1] - x[2] + .1 * (rand() - .5) line } }' >data.svm
run 0 assess data.svm --outer 5
has out "rmse         0.0"
has out "R2           0.99"
has out "always the mean"

# what ended early says so, what cannot be is refused
run 3 assess demo.svm --outer 3 --C 1 --max-iter 1 --solver dual_coordinate --tol 1e-9
has out "3 of 3 models ended before their certificate"
run 2 assess demo.svm --outer 1
has err "outer"
run 2 assess demo.svm --outer 3 --row-groups nothing.txt
has err "nothing.txt"
yes 1 | head -n "$(wc -l <demo.svm)" >one.txt
run 2 assess demo.svm --outer 3 --row-groups one.txt
has err "row_groups has fewer groups than there are folds (got 1, for 3 folds)"
run 2 assess demo.svm --select some
has err "select is 'some'"
