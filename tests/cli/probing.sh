# probing.sh - labels in a file of their own, and many classes chosen by held-out rows.
. "$2/tests/cli/lib.sh"

# three clouds in eight columns; awk's own generator, seeded
awk 'BEGIN { srand(3); for (i = 0; i < 300; i++) { line = ""
    for (j = 0; j < 8; j++) line = line (j ? "," : "") (rand() - .5 + (j == i % 3))
    print line > "X.csv"; print i % 3 + 1 > "y.txt"; print substr("catdogowl", 3 * (i % 3) + 1, 3) > "words.txt"
    print line "," i % 3 + 1 > "both.csv" } }'
run 0 convert X.csv X.npy --label-column none

# every column of a CSV is a feature when the labels are elsewhere, and the file's own label otherwise
run 0 fit both.csv --loss softmax --lambda .01 -o both.mgm
run 0 fit X.csv --labels y.txt --loss softmax --lambda .01 -o apart.mgm
run 0 predict both.mgm X.npy -o p1
run 0 predict apart.mgm X.npy -o p2
same p1 p2 "labels of their own"
run 0 fit X.npy --labels words.txt --loss softmax --lambda .01 -o words.mgm
run 0 predict words.mgm X.npy --labels words.txt -o p3
has p3 owl
has out "accuracy"
run 0 check X.npy --labels words.txt
sed 's/3/2/' y.txt >two.txt
run 0 path X.npy --labels two.txt --loss squared_hinge -o paths

# one run, chosen by held-out rows
run 0 fit X.npy --labels y.txt --loss softmax --select holdout:0.25 -o m.mgm --trace trace.csv
has out "of the minibatch_momentum, iteration"
has out "held-out accuracy"
has out "certificate  none: the epoch was chosen by held-out rows"
true_that "$(wc -l <trace.csv) >= 2" "a row of the trace per epoch" # none is misclassified: it ends at once
run 0 predict m.mgm X.npy --labels y.txt --json
true_that "$("$json_get" out metrics.accuracy) > .9" "the accuracy of the chosen epoch"

head -n 200 X.csv >train.csv
tail -n 100 X.csv >held.csv
head -n 200 y.txt >train.txt
tail -n 100 y.txt >held.txt
run 0 fit train.csv --labels train.txt --loss softmax --select val:held.csv \
    --validation-labels held.txt --json --no-model
json out path.by iteration
json out solver.stop selected
json out certificate.verified false
json out validation.mse null
true_that "$("$json_get" out validation.accuracy) > .9" "the accuracy on the file"
true_that "$("$json_get" out selected.score) == $("$json_get" out validation.accuracy)" "one score"

# the same bits for any number of threads
run 0 fit X.npy --labels y.txt --loss softmax --select holdout:0.25 -o m1.mgm --threads 1
run 0 fit X.npy --labels y.txt --select holdout:0.25 -o m3.mgm --threads 3 # softmax is what auto takes
same m1.mgm m3.mgm "threads"

# what cannot be
run 2 fit X.npy --loss softmax --no-model
has err "--labels FILE names theirs"
run 2 fit X.npy --labels held.txt --loss softmax --no-model
has err "held.txt: 100 labels for 300 rows"
printf '1\n\n2\n' >holes.txt
run 2 fit X.npy --labels holes.txt --loss softmax --no-model
has err "holes.txt:2: the label is missing"
run 1 fit X.npy --labels none.txt --no-model
has err "none.txt"
run 2 fit train.csv --labels train.txt --loss softmax --select val:X.npy --no-model
has err "X.npy has no labels to validate with; --validation-labels FILE names theirs"
sed 's/3/7/' held.txt >odd.txt
run 2 fit train.csv --labels train.txt --loss softmax --select val:held.csv \
    --validation-labels odd.txt --no-model
has err "is not a class of the training data"
run 2 fit X.npy --labels y.txt --loss softmax --solver minibatch_momentum --no-model
has err "--select holdout:0.1 or val:FILE"
finish
