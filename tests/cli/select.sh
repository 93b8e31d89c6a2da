# select.sh - `fit --select`: words, JSON, the trace, refusals.
. "$2/tests/cli/lib.sh"

# y = 3 + 2 x1 - x2 + noise, x3 .. x8 of no use; awk's own generator, seeded
awk 'BEGIN { srand(7); for (i = 0; i < 80; i++) { line = ""
    for (j = 1; j <= 8; j++) { x[j] = rand() - .5; line = line " " j ":" x[j] }
    print 3 + 2 * x[1] - x[2] + .1 * (rand() - .5) line } }' >data.svm
printf 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n' >names.txt

run 0 fit data.svm --penalty l1 --select cv:5 --names names.txt --trace trace.csv -o lasso.mgm
has out "selection    cv:5: point"
has out "of the lasso path, mu"
has out "held-out mean squared error"
has out "features     one (5 folds), two (5 folds)"
has out "ended with its certificate"
true_that "$(wc -l <trace.csv) > 20" "a row of the trace per point"
awk -F, 'NR > 1 && $24 != "" { rows++; n = split($24, part, ";"); sum = 0; for (k in part) sum += part[k]
                  if (n != 5 || (sum / 5 - $11) ^ 2 > 1e-20 * $11 ^ 2) exit 1 } END { exit !(rows > 20) }' trace.csv || fail "every fold's score in the trace"
run 0 predict lasso.mgm data.svm -o /dev/null

run 0 fit data.svm --select cv:5 --json --no-model --names names.txt
json out selected.rule cv:5
json out selected.compared.2.method "primal-dual, early"
json out selected.features.0.name one
json out selected.compared.0.method "lasso path"
json out selected.compared.1.method "ridge path"
true_that "$("$json_get" out validation.mse) < .01" "the held-out error"
true_that "$("$json_get" out selected.score) == $("$json_get" out validation.mse)" "the same score"

run 0 fit data.svm --penalty l1 --select cv:5 --one-se --json --no-model
few=$("$json_get" out model.nonzeros)
run 0 fit data.svm --penalty l1 --select cv:5 --json --no-model --trace trace.csv
json out path.by mu
point=$("$json_get" out selected.point)
mu=$("$json_get" out selected.mu)
se=$("$json_get" out selected.score_se)
true_that "$("$json_get" out path.at.$((point - 1))) == $mu" "points count from 1"
true_that "$("$json_get" out path.score_se.$((point - 1))) == $se" "a standard error for every point"
true_that "$(awk -F, -v k="$point" '$1 == k && $15 != "" { print $15; exit }' trace.csv) == $mu" "the strength in the trace"
true_that "$(awk -F, -v k="$point" '$1 == k && $15 != "" { print $16; exit }' trace.csv) == $se" "its standard error"
true_that "$few <= $("$json_get" out model.nonzeros)" "one standard error is sparser"

# early stopping, held-out parts and files
run 0 fit data.svm --loss equal --penalty l1 --select holdout:.25 --json --no-model
json out path.by iteration
json out solver.stop selected
run 0 fit data.svm --loss equal --penalty l1 --select apriori:.3 --json --no-model
json out solver.stop apriori
run 2 fit data.svm --penalty l1 --select apriori:.3 --no-model
has err "--loss equal beside it"
run 0 fit data.svm --loss equal --penalty l1 --select last --max-iter 20 --trace trace.csv --no-model
awk -F, 'NR > 2 { if ($14 > 2 * 80 * 8 * 12) exit 1; sum += $14 } END { exit !(sum > 0 && sum == $13) }' trace.csv || fail "bytes of an iteration"
run 0 fit data.svm --loss equal --penalty l1 --select holdout:.25 --patience-iterations 3 --json --no-model
few=$("$json_get" out path.points)
run 0 fit data.svm --loss equal --penalty l1 --select holdout:.25 --json --no-model
true_that "$few < $("$json_get" out path.points)" "patience"
run 0 fit data.svm --penalty l1 --select cv:4 --debias --no-model
has out "debias       "
run 0 fit data.svm --penalty l1 --select cv:4 --debias --one-se --json --no-model
true_that "$("$json_get" out selected.debias.score) > 0" "the debiased error"
run 0 fit data.svm --loss equal --penalty l1 --select cv:4 --stable 1 --no-model -v
has out "columns are in enough folds; least squares on them"
run 2 fit data.svm --penalty l1 --select last --debias --no-model
has err "debias needs held-out rows"
run 2 fit data.svm --penalty l1 --select holdout:.3 --stable .5 --no-model
has err "stable counts folds"
run 2 fit data.svm --penalty l2 --select cv:4 --debias --no-model
has err "penalty l1 or enet (here l2)"
head -n 60 data.svm >train.svm
tail -n 20 data.svm >held.svm
run 0 fit train.svm --penalty l2 --select val:held.svm --json --no-model
json out selected.score_se null
true_that "$("$json_get" out selected.score) < .01" "the error on the file"

# classes
awk '{ $1 = ($1 > 3) ? 1 : -1; print }' data.svm >classes.svm
run 0 fit classes.svm --select cv:4 --json --no-model
json out validation.mse null
true_that "$("$json_get" out validation.accuracy) > .85" "accuracy"

# kernels: the error on the file is that of the chosen model
head -n 60 classes.svm >train.svm
tail -n 20 classes.svm >held.svm
for kernel in "rbf" "laplace --scale rownorm" "poly --degree 2 --scale maxabs"; do
    # shellcheck disable=SC2086
    run 0 fit train.svm --loss hinge --kernel $kernel --select val:held.svm --json -o kernel.mgm
    score=$("$json_get" out validation.accuracy)
    run 0 predict kernel.mgm held.svm --json -o scores.csv
    true_that "($("$json_get" out metrics.accuracy) - $score) ^ 2 < 1e-20" "accuracy with $kernel"
done

# what cannot be
run 2 fit data.svm --select cv:1 --no-model
has err "select is 'cv:1'; allowed: none, last, cv:K (2 to 15 folds)"
run 2 fit data.svm --select cv:40 --no-model
run 2 fit data.svm --penalty l1 --select holdout:.3 --one-se --no-model
has err "one_se needs folds"
run 1 fit data.svm --select val:none.svm --no-model
has err "none.svm"
run 2 fit data.svm --penalty l1 --select discrepancy:0 --no-model
has err "residual"
head -n 3 names.txt >few.txt
run 2 fit data.svm --penalty l1 --select cv:4 --names few.txt --no-model
is err "margrave fit: few.txt: 3 names for 8 columns"
# one early-stopped run goes on from a checkpoint; folds do not
awk 'BEGIN { srand(3); for (i = 0; i < 40; i++) { y = 0; line = ""
    for (j = 1; j <= 80; j++) { x = rand() - .5; if (j % 20 == 0) y += x; line = line " " j ":" x }
    print y + .02 * (rand() - .5) line } }' >sparse.svm
basis="sparse.svm --task regress --loss equal --penalty l1"
for rule in discrepancy:0.1 "last --max-iter 80" apriori:0.1; do
    # shellcheck disable=SC2086
    run 0 fit $basis --select $rule -o once.mgm
    # shellcheck disable=SC2086
    run 3 fit $basis --select $rule --max-passes 7 --checkpoint state -o part.mgm
    has out "next         the same command with --resume state"
    # shellcheck disable=SC2086
    run 0 fit $basis --select $rule --resume state -o resumed.mgm
    same once.mgm resumed.mgm "select $rule"
done
# shellcheck disable=SC2086
run 2 fit $basis --resume state
has err "the checkpoint is of other data, settings, tolerance or seed"
# so do the epochs of many classes
awk 'BEGIN { srand(4); for (i = 0; i < 240; i++) { c = i % 4; line = ""
    for (j = 1; j <= 6; j++) line = line " " j ":" rand() + (j % 4 == c) * .6
    print c line } }' >four.svm
run 0 fit four.svm --select holdout:0.25 --patience-epochs 9 -o once.mgm
for epochs in 1 4 11; do
    run 3 fit four.svm --select holdout:0.25 --patience-epochs 9 --max-iter $epochs --checkpoint state -o part.mgm
    has out "next         the same command with --resume state"
    run 0 fit four.svm --select holdout:0.25 --patience-epochs 9 --resume state --checkpoint state -o resumed.mgm
    same once.mgm resumed.mgm "resumed after $epochs epochs"
    run 0 fit four.svm --select holdout:0.25 --patience-epochs 9 --resume state -o resumed.mgm
    same once.mgm resumed.mgm "epochs that had ended"
done
run 2 fit four.svm --select holdout:0.3 --patience-epochs 9 --resume state
has err "the checkpoint is of other data"
run 2 fit sparse.svm --task regress --select cv:3 --checkpoint state
has err "select cv:3 has no checkpoints (got checkpoint 'state')"

# a step that takes far more passes than are left is cut, and the epochs end with that: they went on
# for ever
awk 'BEGIN { for (i = 0; i < 600; i++) { c = i % 4; line = c
    for (j = 0; j < 12; j++)
        line = line sprintf(" %d:%.4f", j + 1, (c == j % 4) * .8 + 1.5 * sin(i * i * (j + 1.7)))
    print line } }' >four.svm
for most in 3 4 5 6 7; do
    for solver in class_newton class_coordinate; do
        run 3 fit four.svm --loss crammer_singer --lambda 1e-3 --select holdout:0.2 --no-model \
            --solver "$solver" --max-passes "$most"
    done
done

# the explicit side of a low-rank matrix: strengths chosen by entries held out, by proximal gradients
awk 'BEGIN { for (i = 0; i < 144; i++) if (i % 7) {
    x = (i % 12 - 5.5) * (int(i / 12) % 3 - 1.2) + sin(i * i); printf "%.4f %d:1\n", x, i + 1 } }' >entries.svm
low="entries.svm --features 144 --no-intercept --preset fista --penalty nuclear --shape 12x12"
# shellcheck disable=SC2086
run 0 fit $low --select holdout:.25 --trace rows.csv --no-model
has out "proximal_gradient ended with its certificate"
# the best strength is neither the first nor the last, and far better than no weights
awk -F, 'NR > 1 && $15 != "" { if (!n++) first = $11; if (n == 1 || $11 < least) { least = $11; at = n } }
    END { exit !(at > 3 && at < n && least < first / 6) }' rows.csv || fail "the path of strengths"
finish
