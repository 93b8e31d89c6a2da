# labels.sh - which task the labels ask for.
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
finish
