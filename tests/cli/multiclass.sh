# multiclass.sh - more than two classes: the three forms, labels of any coding, proofs that name classes.
. "$(dirname "$0")/lib.sh"

# three corners of the plane, in words, in fractions and in negative numbers
corners() { # LABEL LABEL LABEL
    awk -v a="$1" -v b="$2" -v c="$3" 'BEGIN {
        split(a " " b " " c, label, " ")
        for (i = 0; i < 30; i++) {
            k = i % 3
            printf "%.2f,%.2f,%s\n", (k == 0) * 4 + (i % 7) / 10, (k == 1) * 4 + (i % 5) / 10 - (k == 2) * 4, label[k + 1]
        }
    }'
}
for labels in "yak ant cow" "0.5 -1.5 2.25" "-3 -7 12"; do
    # shellcheck disable=SC2086
    corners $labels >corners.csv
    cut -d, -f3 corners.csv >expected
    for form in "--loss hinge" "--loss hinge --multiclass ovo" "--loss margin --multiclass joint --no-intercept" \
        "--loss margin --multiclass joint" "--loss margin --multiclass joint --kernel rbf" \
        "--loss margin --multiclass joint --no-intercept --kernel rbf" "--loss margin --multiclass ovo --kernel rbf" \
        "--loss softmax" "--loss softmax --kernel rbf" "--loss logistic --kernel poly" "--loss crammer_singer" "--loss crammer_singer --no-intercept" "--loss squared_hinge --mu 0.001"; do
        # shellcheck disable=SC2086
        run 0 fit corners.csv $form -o model.mgm
        run 0 predict model.mgm corners.csv
        same out expected "$form on $labels"
    done
done

# what is said
run 0 fit corners.csv --loss margin --multiclass joint --no-intercept --no-model
has out "subject to x.w_c - x.w_j >= 1 for the class c of x and every other j"
has out "separable with margin in ["
run 0 fit corners.csv --loss margin --multiclass joint --no-model
has out "subject to x.w_c + b_c - x.w_j - b_j >= 1 for the class c of x and every other j"
has out "separable with margin in ["
run 0 fit corners.csv --loss margin --multiclass ovo --no-model
has out "for each of 3 pairs of 3 classes: min"
has out "every two classes are separable"
run 0 fit corners.csv --loss hinge --multiclass ovo --json --no-model
json out classes.# 3
json out classes.2.class -3
json out classes.2.rival 12

# a proof names example and class; the sum of its weights is 1
{
    cat corners.csv
    echo "4.0,0.0,12"
} >wrong.csv
run 4 fit wrong.csv --loss margin --multiclass joint --no-intercept
has out "own class less another"
has out "31 against '-3'"
run 4 fit wrong.csv --loss margin --multiclass joint --no-intercept --json
json out certificate.separable false
true_that "$("$json_get" out certificate.proof.norm) < 1e-12" "norm of the proof"
[ "$("$json_get" out certificate.proof.rivals.#)" = "$("$json_get" out certificate.proof.rows.#)" ] ||
    fail "a rival for every row of the proof"
run 4 fit wrong.csv --loss margin --multiclass ovo
has out "classes      '-3' and '12':"

# one strength for all classes, chosen by the vote; the labels of a validation file are words too
corners yak ant cow >corners.csv
awk -F, '{ printf "%s,%.2f,%s\n", $1, $2 + (NR % 11) / 3 - 1, $3 }' corners.csv >noisy.csv
for form in "--loss hinge" "--loss logistic --multiclass ovo" "--loss squared_hinge --penalty l1" "--loss softmax --solver lbfgs"; do
    for rule in cv:3 holdout:0.3 val:noisy.csv; do
        # shellcheck disable=SC2086
        run 0 fit corners.csv $form --select $rule --json -o model.mgm
        json out selected.rule "$rule"
        json out path.method strengths
        true_that "$("$json_get" out validation.accuracy) > 0.6" "$form $rule"
        true_that "$("$json_get" out selected.score) == $("$json_get" out validation.accuracy)" "the same score"
        run 0 predict model.mgm corners.csv
    done
done
run 0 fit corners.csv --loss logistic --penalty l1 --select cv:3 --one-se --json --no-model
true_that "$("$json_get" out classes.0.nonzeros) + $("$json_get" out classes.1.nonzeros) + $("$json_get" out classes.2.nonzeros) == $("$json_get" out model.nonzeros)" "weights of every class"
run 0 fit corners.csv --select cv:3 --no-model
has out "for each of 3 classes against the rest"
has out "of the strengths, lambda"
sed 's/cow/bull/' noisy.csv >bulls.csv
run 2 fit corners.csv --loss hinge --select val:bulls.csv --no-model
has err "is not a class of the training data"
run 2 fit corners.csv --loss hinge --C 1 --solver newton --select cv:3 --no-model
has err "with 3 classes the iterations of solver newton are no path: leave out --C"
run 0 fit corners.csv --loss hinge --C 1 --select cv:3 --no-model
has out "selection    cv:3: of the strength that was given, C 1, lambda 0.03333"
run 2 fit corners.csv --loss margin --select cv:3 --no-model
has err "there is no strength to choose; --loss hinge has one; or name a solver whose iterations are chosen"

# a file's rows by a kernel, computed or in the file: the score is that of predict
points='{ printf "c%d,%.3f,%.3f\n", NR % 3, (NR % 3 == 0) + rand() * 2, (NR % 3 == 1) + rand() * 2 }'
seq 60 | awk "BEGIN { srand(3) } $points" >mine.csv
seq 60 | awk "BEGIN { srand(4) } $points" >theirs.csv
for of in mine theirs; do
    awk -F, 'NR == FNR { a[NR] = $2; b[NR] = $3; n = NR; next }
        { s = $1; for (j = 1; j <= n; j++) s = s sprintf(",%.17g", exp(-(($2 - a[j])^2 + ($3 - b[j])^2) / 2)); print s }' mine.csv $of.csv >$of.kernel.csv
done
for form in "--preset ji-alg1 --multiclass joint --max-iter 40" "--loss hinge" "--loss hinge --multiclass ovo" "--loss softmax"; do
    for kernel in ".csv --kernel rbf --sigma2 1" ".kernel.csv --kernel precomputed"; do
        # shellcheck disable=SC2086
        run 0 fit mine$kernel $form --label-column 1 --select "val:theirs${kernel%% *}" --json -o model.mgm
        score=$("$json_get" out validation.accuracy)
        run 0 predict model.mgm "theirs${kernel%% *}" --label-column 1 --json -o /dev/null
        true_that "($("$json_get" out metrics.accuracy) - $score)^2 < 1e-20" "$form $kernel"
        true_that "$score > 0.5 && $score < 1" "$form $kernel: $score"
    done
done

# the iterations of the joint margin, chosen by rows of a file and by others
for rule in cv:3 holdout:0.3 val:noisy.csv last; do
    run 0 fit corners.csv --preset ji-alg1 --multiclass joint --select $rule --max-iter 60 --tol 0 --json -o model.mgm
    json out selected.rule "$rule"
    json out path.method "$(test $rule = last && echo momentum_margin || echo iterations)"
    run 0 predict model.mgm corners.csv
done
run 2 fit corners.csv --preset ji-alg1 --multiclass joint --select discrepancy:0.1 --no-model
has err "solver momentum_margin has no residual to hold against the noise"

# refusals
run 2 fit corners.csv --loss margin --multiclass joint --p 1.5 --no-model
has err "has intercepts for a joint margin in the norm 2 only"
run 2 fit corners.csv --loss hinge --multiclass joint --no-model
has err "multiclass joint is for loss margin"
run 2 fit corners.csv --loss softmax --multiclass ovo --no-model
has err "loss softmax is of all classes at once"
finish
