# predict.sh - labels in their own spelling, scores, distances, metrics.
. "$(dirname "$0")/lib.sh"

# words as labels
{
    echo "height,weight,label"
    awk 'BEGIN { for (i = 0; i < 20; i++) printf "%d.5,%d,%s\n", i, i % 3, i < 10 ? "yak" : "ant" }'
} >zoo.csv
run 0 fit zoo.csv --C 100 -o zoo.mgm
has out "classes 'ant' and 'yak'"
run 0 predict zoo.mgm zoo.csv
awk 'BEGIN { for (i = 0; i < 20; i++) print i < 10 ? "yak" : "ant" }' >expected
same out expected "labels"
is err "accuracy 100.00 %, balanced accuracy 100.00 %, area under the curve 1.0000"

# tabs, scores and distances: the sign decides, and distance = score / |w|
run 0 predict zoo.mgm zoo.csv --scores --distance -o table
has out "table: 20 predictions"
has out "accuracy 100.00 %"
empty err
norm=$("$margrave" fit zoo.csv --C 100 --no-model --json >fit.json && "$json_get" fit.json model.norm)
awk -F '\t' -v norm="$norm" '
    NF != 3 || ($1 == "yak") != ($2 > 0) { exit 1 }
    { d = $2 - norm * $3; if (d * d > 1e-20 * $2 * $2) exit 1 }' table || fail "scores and distances"
run 0 predict zoo.mgm zoo.csv --quiet
empty err

# JSON: metrics only, or with the predictions in a file
run 0 predict zoo.mgm zoo.csv --json
for key in accuracy balanced_accuracy auc; do
    json out metrics.$key 1
done
json out metrics.mse null
json out n 20
"$json_get" out seconds >/dev/null || fail "no seconds"
run 0 predict zoo.mgm zoo.csv --json -o labels
same labels expected "labels in a file beside --json"
run 2 predict zoo.mgm zoo.csv --json -o -
run 2 predict zoo.mgm zoo.csv -o labels.npy
is err "margrave predict: labels.npy: predictions are lines of text; give the file another ending"
[ ! -e labels.npy ] || fail "labels.npy was written"

# the arguments in LIBLINEAR's order, and no model at all
run 2 predict zoo.csv zoo.mgm
is err "margrave predict: zoo.csv is not a model, but zoo.mgm is: the order is MODEL DATA"
run 2 predict zoo.csv zoo.csv
has err "zoo.csv: "

# data without labels: predictions, no metrics
sed '1d; s/,[a-z]*$//' zoo.csv >plain.csv
run 0 predict zoo.mgm plain.csv --label-column none --header no
same out expected "labels of unlabelled data"
empty err
run 0 predict zoo.mgm plain.csv --label-column none --json
json out metrics null

# standard input
"$margrave" predict zoo.mgm - <zoo.csv >out 2>/dev/null || fail "predict from stdin"
same out expected "labels from standard input"

# a quantity
awk 'BEGIN { for (i = 1; i <= 50; i++) print 3 * i / 7 + 1, "1:" i / 7, "2:" i % 3 }' >line.svm
run 0 fit line.svm --C 1000 -o line.mgm
run 0 predict line.mgm line.svm
awk 'NR == FNR { y[NR] = $1; next } (y[FNR] - $1) ^ 2 > 1e-2 { exit 1 }' line.svm out ||
    fail "predicted quantities"
has err "mean squared error"
run 0 predict line.mgm line.svm --json
json out metrics.accuracy null
true_that "$("$json_get" out metrics.r2) > 0.999" "R2"

# more than two classes: one run each, the largest score speaks
{
    echo "height,weight,label"
    awk 'BEGIN { split("yak ant bee", name, " ")
                 for (i = 0; i < 30; i++) printf "%g,%g,%s\n", 9 * cos(2.1 * (i % 3)) + i % 7 / 7, \
                     9 * sin(2.1 * (i % 3)) + i % 5 / 5, name[1 + i % 3] }'
} >three.csv
run 0 fit three.csv --C 10 -o three.mgm
has out "3 classes, 'ant' to 'yak'"
has out "for each of 3 classes against the rest: min"
has out "each of the 3 optima"
run 0 predict three.mgm three.csv --scores -o table
has out "accuracy 100.00 %, balanced accuracy 100.00 %"
awk -F '\t' -v OFS= '
    { best = $2 >= $3 && $2 >= $4 ? "ant" : $3 >= $4 ? "bee" : "yak" }
    NF != 4 || $1 != best { exit 1 }' table || fail "the largest of three scores"
run 0 fit three.csv --C 10 --no-model --json
json out classes.0.class ant
json out classes.2.certificate.verified true
json out train.accuracy 1
run 3 fit three.csv --C 10 --tol 1e-9 --max-iter 1 --checkpoint state -o part.mgm
has out "next         the same command with --resume state"
run 0 fit three.csv --C 10 --tol 1e-9 --resume state -o whole.mgm
run 0 fit three.csv --C 10 --tol 1e-9 -o straight.mgm
run 0 predict whole.mgm three.csv --scores -o resumed
run 0 predict straight.mgm three.csv --scores -o unbroken
same resumed unbroken "a family that was broken off"
run 2 fit three.csv --C 11 --tol 1e-9 --resume state --no-model
has err "the checkpoint is of other data, settings, tolerance or seed"

# probabilities, where the loss is a likelihood, and the table of labels by answers
run 2 predict three.mgm three.csv --probability
has err "the loss of this model gives no probabilities"
run 0 predict three.mgm three.csv --confusion --json
json out confusion.classes.2 yak
json out confusion.counts.1.1 10
json out confusion.counts.1.2 0
json out metrics.f1 1
json out metrics.log_loss null
for loss in logistic softmax; do
    run 0 fit three.csv --loss $loss -o chance.mgm
    run 0 predict chance.mgm three.csv --probability --confusion -o table
    has out "log loss 0."
    has out "  answered"
    awk -F '\t' '
        { best = $2 >= $3 && $2 >= $4 ? "ant" : $3 >= $4 ? "bee" : "yak"; rest = $2 + $3 + $4 - 1 }
        NF != 4 || $1 != best || rest ^ 2 > 1e-28 { exit 1 }' table || fail "probabilities of $loss"
done
run 2 predict line.mgm line.svm --confusion
has err "predicts a quantity"

# the norm of the fit: the least distance of a training row is the margin
for p in 2 1.5 sparse; do
    "$margrave" fit zoo.csv --loss margin --p $p -o norm.mgm --json --tol 1e-4 >fit.json || fail "fit in norm $p"
    run 0 predict norm.mgm zoo.csv --distance -o table
    margin=$("$json_get" fit.json certificate.margin)
    awk -F '\t' -v margin="$margin" '
        { d = $2 < 0 ? -$2 : $2; if (NR == 1 || d < least) least = d }
        END { exit !((least - margin) ^ 2 < 1e-20 * margin ^ 2) }' table || fail "distances in norm $p"
done

# a class between the others: the proof is its own, and it is printed
printf '%s\n' '1 1:1' '2 1:2' '3 1:3' '1 1:1.5' '2 1:2.2' '3 1:3.1' >middle.svm
run 4 fit middle.svm --loss margin --no-model
has out "class        '2' against the rest"
has out "not separable"
run 4 fit middle.svm --loss margin --no-model --json
json out certificate.verified true
json out certificate.separable false

# a device is written into, not replaced
run 0 predict three.mgm three.csv -o /dev/null
[ -c /dev/null ] || fail "/dev/null is no device any more"
finish
