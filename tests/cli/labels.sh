# labels.sh - which task the labels ask for; labels that a model does not know.
. "$(dirname "$0")/lib.sh"

# ten classes and one stray label stay classes; the line says what was taken, and why
awk 'BEGIN { for (i = 0; i < 100; i++) printf "%d 1:%g 2:%g\n", i % 10, i % 10, i % 7
             print "10 1:11 2:3" }' >stray.svm
run 0 fit stray.svm --no-model
has out "task         classification into 11 classes (whole numbers, each 9.18 times on average; else --task regress)"
run 0 fit stray.svm --no-model --json
json out problem.task classify
json out problem.task_reason "classification into 11 classes (whole numbers, each 9.18 times on average; else --task regress)"
run 0 fit stray.svm --no-model --task regress
has out "task         regression (as asked for; labels from 0 to 10)"
# a class of one row: every way to many classes, and folds without it
for how in "--multiclass ovo" "--loss softmax" "--loss crammer_singer" "--select cv:3" \
    "--select cv:3 --loss softmax" "--select holdout:0.2" "--kernel rbf"; do
    run 0 fit stray.svm --no-model $how
    has out "into 11 classes"
done
# a quantity is named as one
awk 'BEGIN { for (i = 0; i < 40; i++) printf "%g 1:%g\n", i / 4, i }' >quantity.svm
run 0 fit quantity.svm --no-model
has out "task         regression (labels from 0 to 9.75, few of which repeat, taken for a quantity; --task classify for classes)"
run 0 fit quantity.svm --no-model --json
json out problem.task regress

# placeholders: no label is a class of the model
awk 'BEGIN { for (i = 0; i < 20; i++) printf "%d 1:%g 2:%g\n", i % 2 ? 1 : -1, i % 2 ? 2 : -2, i % 5 }' >two.svm
run 0 fit two.svm -o two.mgm
printf '0 1:2 2:1\n0 1:-2\n' >zeros.svm
printf '1\n-1\n' >expected
run 0 predict two.mgm zeros.svm
same out expected "predictions beside labels that are placeholders"
is err "none of the 2 labels ('0') is a class of this model ('-1', '1'): no metrics"
run 0 predict two.mgm zeros.svm --json --confusion
json out metrics null
json out measured 0
json out n 2
json out unknown_labels.0 0
# some of them: the metrics are of the others
printf '0 1:2 2:1\n0 1:-2\n1 1:2\n-1 1:-2\n1 1:-2\n7 1:1\n' >some.svm
run 0 predict two.mgm some.svm -o labels
has out "3 of 6 rows have no label that is a class of this model ('0', '7'): the metrics are of the other 3"
has out "accuracy 66.67 %, balanced accuracy 75.00 %, area under the curve 0.7500"
run 0 predict two.mgm some.svm --json --confusion
json out measured 3
json out unknown_labels.1 7
json out confusion.counts.1.0 1
# one class only: what does not apply is not printed
printf '1 1:2\n1 1:3\n' >ones.svm
run 0 predict two.mgm ones.svm
is err "accuracy 100.00 %"
# words against numbers
{
    echo "x,y"
    awk 'BEGIN { for (i = 0; i < 20; i++) printf "%g,%s\n", i % 2 ? 2 : -2, i % 2 ? "ant" : "yak" }'
} >words.csv
run 0 fit words.csv -o words.mgm
printf '2\n-2\n' >plain.csv
printf '1\n0\n' >numbers
run 0 predict words.mgm plain.csv --header no --labels numbers
has err "none of the 2 labels ('0', '1') is a class of this model ('ant', 'yak'): no metrics"
printf '2,ant\n-2,?\n' >half.csv
run 0 predict words.mgm half.csv
has err "1 of 2 rows has no label that is a class of this model ('?'): the metrics are of the other 1"
has err "accuracy 100.00 %"
# a '?' among numbers leaves the numbers what they are, however they are spelled
printf '2,1,+1\n-2,0,?\n-2,0,-1.0\n' >asked.csv
run 0 predict two.mgm asked.csv
has err "1 of 3 rows has no label that is a class of this model ('?'): the metrics are of the other 2"
has err "accuracy 100.00 %"
# a quantity and words; equal labels have no R2
run 0 fit quantity.svm -o quantity.mgm
printf '2,ant\n3,bee\n' >animals.csv
run 0 predict quantity.mgm animals.csv
is err "the labels are words ('ant', 'bee'), the model predicts a quantity: no metrics"
printf '1 1:4\n1 1:4\n' >equal.svm
run 0 predict quantity.mgm equal.svm
grep -q nan err && fail "nan in a line of metrics: $(cat err)"
finish
