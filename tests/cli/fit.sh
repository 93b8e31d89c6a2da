# fit.sh - what fit prints and writes, and its exit codes for each way a run can end.
. "$(dirname "$0")/lib.sh"
run 0 demo --keep

# the JSON contract
run 0 fit demo.svm --json
empty err
for key in version command data.file data.n data.d data.nnz data.classes data.load_seconds \
    data.bytes problem.loss problem.penalty problem.lambda problem.mu problem.p problem.intercept \
    problem.kernel problem.scale problem.formula solver.name solver.iterations solver.passes \
    solver.seconds solver.threads solver.backend solver.precision solver.seed solver.stop \
    certificate.primal certificate.dual certificate.gap certificate.relative_gap \
    certificate.margin certificate.margin_upper certificate.separable certificate.verified \
    path.points path.by selected model.file model.nonzeros model.norm train.accuracy train.mse \
    validation memory_peak_bytes; do
    "$json_get" out $key >/dev/null || fail "fit --json has no $key"
done
json out command fit
json out data.n 400
json out data.d 20
json out data.classes.# 2
json out solver.stop certified
json out certificate.verified true
json out train.accuracy 1
json out model.file demo.mgm
true_that "$("$json_get" out certificate.relative_gap) <= 1e-4" "relative gap"
[ -s demo.mgm ] || fail "the model is called after the data"

# for people
run 0 fit demo.svm --C 1 -o named.mgm
empty err
for text in "data         demo.svm: 400 rows, 20 features" \
    "problem      min 0.0025/2 |w|^2 + mean hinge(y (x.w + b))" \
    "solver       newton ended with its certificate" "certificate  the optimum lies" \
    "training     accuracy 100.00 %" "model        named.mgm" \
    "next         margrave predict named.mgm DATA"; do
    has out "$text"
done
same demo.mgm named.mgm "--C 1 is the default"
rm demo.mgm
run 0 fit demo.svm --no-model
[ -e demo.mgm ] && fail "--no-model saved a model"
has out "not saved"

run 0 fit demo.svm --mu 0.01 --no-model # the norm says which it is
has out "weights are nonzero, |w|_1 = "
run 0 fit demo.svm --lambda 0.01 --no-model
has out "weights are nonzero, |w| = "

# spellings of options
run 0 fit --set C=1 --set=max-iter=5000 -o set.mgm -- demo.svm
same set.mgm named.mgm "--set"
run 0 fit demo.svm --no-intercept --no-shrink -o bare.mgm --json
json out problem.intercept false
run 0 fit demo.svm --intercept=no --shrink=no -o bare2.mgm --json
same bare.mgm bare2.mgm "--no-NAME and --NAME=no"

# the model on standard output, the words on stderr
run 0 fit demo.svm -o -
same out named.mgm "-o -"
has err "certificate"
run 2 fit demo.svm -o - --json

# the trace
run 0 fit demo.svm --solver dual_coordinate --no-model --trace trace.csv --json
head -n 1 trace.csv >header
is header "iteration,passes,seconds,primal,dual,gap,relative_gap,margin,margin_upper,train_score,validation_score,nonzeros,bytes,bytes_per_iteration,strength,validation_se,residual,norm,distance,angle,f1,divergence,smoothing,folds"
awk -F, 'NF != 24 { exit 1 } NR > 2 && $1 <= last { exit 1 } NR > 1 { last = $1; gap = $7 }
         END { exit !(NR > 2 && gap <= 1e-4) }' trace.csv || fail "the trace is not a trace"

# budgets: exit code 3, the model is there and is a model
for budget in --max-iter=2 --max-passes=3 --time-limit=0; do
    rm -f cut.mgm
    run 3 fit demo.svm $budget -o cut.mgm
    has out "before its certificate"
    has out "next         a larger --max-iter"
    run 0 predict cut.mgm demo.svm --json
done
run 3 fit demo.svm --max-iter 2 --json
json out solver.stop max_iter

# hard margin: both verdicts
run 0 fit demo.svm --loss margin --json
json out certificate.separable true
true_that "$("$json_get" out certificate.margin) > 0.4" "margin"
true_that "$("$json_get" out certificate.margin) <= $("$json_get" out certificate.margin_upper)" \
    "margin bounds"
run 0 fit demo.svm --loss margin
has out "certificate  separable with margin in [0.44"
rm -f demo-twin.mgm
run 4 fit demo-twin.svm --loss margin
has out "certificate  not separable: a convex combination of"
has out "next         margrave fit demo-twin.svm --loss hinge"
[ -e demo-twin.mgm ] && fail "there is no solution, but a model was saved"
run 4 fit demo-twin.svm --loss margin --json
json out certificate.separable false
json out certificate.verified true
json out model null
true_that "$("$json_get" out certificate.proof.norm) < 1e-12" "norm of the proof"
[ "$("$json_get" out certificate.proof.rows.#)" = "$("$json_get" out certificate.proof.weights.#)" ] ||
    fail "the proof needs a weight for every row"
run 4 fit demo-twin.svm --loss margin --short-proof --json
true_that "$("$json_get" out certificate.proof.norm) < 1e-12" "norm of the short proof"
true_that "$("$json_get" out certificate.proof.rows.#) <= 22" "20 features, an intercept: 22 examples"
run 3 fit demo-twin.svm --loss margin --max-iter 0
has out "certificate  undecided"

# constraints that cannot be met are proven to contradict each other; before that, no claim that
# the model attains anything
run 4 fit demo.svm --loss equal --no-model
has out "certificate  no weights meet the constraints: 400 of them"
has out "next         margrave fit demo.svm --loss squared"
run 3 fit demo.svm --loss equal --no-model --max-iter 1
has out "certificate  the model does not meet the constraints yet"
run 4 fit demo.svm --loss margin --penalty entropy --no-model
has out "above every value of the penalty (proven)"

# sample weights: a weight of 2 is the row twice
head -n 40 demo-twin.svm >part.svm
awk '{ print } NR % 4 == 0 { print }' part.svm >twice.svm
awk '{ print (NR % 4 == 0) ? 2 : 1 }' part.svm >weights.txt
run 0 fit part.svm --sample-weight weights.txt --C 1 --tol 1e-8 --json --no-model
weighted=$("$json_get" out certificate.primal)
run 0 fit twice.svm --C 1 --tol 1e-8 --json --no-model
repeated=$("$json_get" out certificate.primal)
true_that "($weighted - $repeated) ^ 2 <= (3e-8 * $repeated) ^ 2" "a weight of 2"

# quiet and verbose
run 0 fit demo.svm --verbose --no-model
has err "iterations"
run 0 fit demo.svm --quiet --no-model
empty err

# regression
awk 'BEGIN { for (i = 1; i <= 50; i++) print 3 * i / 7 + 1, "1:" i / 7, "2:" i % 3 }' >line.svm
run 0 fit line.svm --C 1000 --json
json out problem.task regress
json out train.accuracy null
true_that "$("$json_get" out train.mse) < 1e-3" "error of the regression"
run 0 fit line.svm
has out "training     mean squared error"

# constraints: what is attained meets them, or says what it misses
awk 'BEGIN { srand(5); print "a,b,c,d,y"
             for (i = 0; i < 20; i++) { s = 0; o = ""
                 for (j = 0; j < 4; j++) { x = (i * 7 + j * 5 + i * j) % 11 - 5; s += x; o = o x "," }
                 print o (s > 0 ? "up" : "down") } }' >apart.csv
run 0 fit apart.csv --loss margin --penalty linf --tol 1e-2 --no-model --json
true_that "$("$json_get" out certificate.primal) >= $("$json_get" out certificate.dual)" \
    "attained is not below proven"
printf 'a,b,c,y\n1,0,2,3\n0,1,1,1\n' >equations.csv
for loss in equal "interval --epsilon 0.1"; do
    # shellcheck disable=SC2086
    run 0 fit equations.csv --task regress --loss $loss --no-model
    has out "no weights that meet the constraints have less than"
done

# intervals of their own for the rows, from files
printf '2.5\n-inf\n' >low.txt
printf '3.5\n1\n' >high.txt
run 0 fit equations.csv --task regress --loss interval --lower low.txt --upper high.txt --no-model
has out "subject to lower <= x.w + b <= upper"
run 0 fit equations.csv --task regress --loss epsilon_insensitive --lower low.txt --no-model
has out "mean max(0, lower - (x.w + b), (x.w + b) - upper)"
printf '2.5\nnan\n' >bad.txt
run 2 fit equations.csv --task regress --loss interval --lower bad.txt --no-model
has err "bad.txt:2: 'nan' is not a number"
run 2 fit equations.csv --task regress --lower low.txt --no-model
has err "lower and upper are ends of intervals, which loss squared has not"

# an exponential of large columns is beyond the numbers, which is no matter of iterations
printf 'y,a,b\n0,10539,-13838\n1,-13988,3982\n1,29410,-13044\n0,-8205,-1776\n0,-3399,30246\n1,9,8\n' >large.csv
run 3 fit large.csv --loss exponential --penalty entropy --lambda 0.02 --max-iter 500 --no-model
has out "certificate  none: the objective of these weights is beyond the numbers"

# A preset comes first, wherever it stands: settings beside it win.
printf '1,1,2\n1,2,1\n-1,-1,-2\n-1,-2,-1.5\n' >toy.csv
first="--preset apidopoulos-alg2 --max-iter 20 --tol 0 --label-column first --json"
run 3 fit toy.csv $first -o preset.mgm
json out solver.name dual_diagonal
run 3 fit toy.csv $first --inertia 10 -o one.mgm
run 3 fit toy.csv --inertia 10 $first -o two.mgm
same one.mgm two.mgm "the order of --preset and --inertia"
if cmp -s one.mgm preset.mgm; then fail "--inertia is lost beside --preset"; fi
run 2 fit toy.csv --preset nobody
has err "there is no preset 'nobody'; \`margrave list presets\` shows them"

# equalities that nothing fits, stopped late: the normal solution is named; early it is not
awk 'BEGIN { for (i = 1; i <= 30; i++) printf "%.4f,%.4f,%.4f,%.4f\n",
    sin(i), cos(i * i), sin(1.7 * i * i), sin(i) - cos(i * i) + cos(3.1 * i) }' >tall.csv
run 0 fit tall.csv --task regress --loss equal --penalty l1 --select last --max-iter 2000 --no-model
has out "It approaches the normal solution"
run 0 fit tall.csv --task regress --loss equal --penalty l1 --select last --max-iter 2000 --no-model --json
true_that "$("$json_get" out solver.normal_residual) < 1e-3" "normal residual"
run 0 fit tall.csv --task regress --loss equal --penalty l1 --select last --max-iter 2 --no-model
has out "the model does not meet the constraints yet"
# what steps a method has chosen
run 0 fit tall.csv --preset molinari-12 --max-iter 5 --no-model --lipschitz 64 --json
json out solver.steps.norm 8
true_that "$("$json_get" out solver.steps.sigma) * $("$json_get" out solver.steps.tau) * 64 / .99 - 1 < 1e-12" "sigma tau"
run 0 fit tall.csv --preset molinari-12 --max-iter 5 --no-model -v
has err "primal_dual: norm "
# Iterates as they are, beside other rows and another model.
run 0 fit demo.svm --loss logistic --C 1 --tol 1e-10 --keep-pair -o best.mgm
run 0 fit demo.svm --loss logistic --C 1 --solver dual_coordinate --tol 1e-8 --no-model \
    --trace each.csv --watch demo.svm --reference best.mgm
awk -F, 'NF != 24 || (NR > 1 && ($1 != NR - 1 || $10 == "" || $10 != $11 || $18 == "" || $20 == "")) { exit 1 }
         NR == 2 { first = $19 } { last = $19; near = $22 }
         END { exit !(NR > 3 && last < first && last < 1e-3 && near < 1e-3) }' each.csv ||
    fail "the iterates' trace: $(head -n 3 each.csv)"
run 0 fit demo.svm --loss logistic --C 1 --solver dual_coordinate --tol 1e-8 --no-model \
    --trace some.csv --trace-every 3
awk -F, 'NR > 1 && ($1 != 3 * (NR - 1) || $11 != "" || $19 != "") { exit 1 }' some.csv ||
    fail "--trace-every 3: $(head -n 3 some.csv)"
run 2 fit demo.svm --no-model --trace-every 3
has err "--trace FILE says where it goes"
run 2 fit demo.svm --no-model --trace t.csv --trace-every 0
has err "--trace-every is '0'; allowed: at least 1"
run 1 fit demo.svm --no-model --trace t.csv --watch nowhere.svm
run 2 fit demo.svm --no-model --trace t.csv --reference demo.svm
run 2 fit toy.csv --label-column first --no-model --trace t.csv --reference best.mgm
has err "a reference has the weights of a linear model"
run 2 fit demo.svm --no-model --trace t.csv --trace-every 1 --select cv:3
has err "iterates can be shown of one"

# What papers prove of a run.
run 3 fit toy.csv --label-column first --no-model --preset ji-alg1 --max-iter 100 --tol 0 --bounds
has out "theorem 3.1, part 2"
has out "Raj, Bach: proposition 1"
run 3 fit toy.csv --label-column first --no-model --preset ji-alg1 --max-iter 100 --tol 0 --json
json out certificate.bounds.# 3
true_that "$("$json_get" out certificate.bounds.1.low) <= $("$json_get" out certificate.margin_upper)" \
    "the interval holds the margin"
run 0 fit toy.csv --label-column first --no-model --penalty l1 --mu 0.1 --bounds
has out "bounds       none"

# A setting of another solver's is not taken in silence.
run 0 fit demo.svm --solver newton --inertia 5 --no-model
has err "inertia has no effect on solver newton (got 5); it belongs to dual_diagonal"
run 0 fit demo.svm --solver newton --no-model
empty err
finish
