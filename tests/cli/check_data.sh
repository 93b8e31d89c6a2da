# check_data.sh - the data doctor's findings.
. "$(dirname "$0")/lib.sh"

# finding CODE LEVEL - the JSON in `out` has this finding at this level; LEVEL none: it has not.
finding() {
    count=$("$json_get" out findings.#)
    level=none
    i=0
    while [ $i -lt "$count" ]; do
        [ "$("$json_get" out findings.$i.code)" = "$1" ] &&
            level=$("$json_get" out findings.$i.level)
        i=$((i + 1))
    done
    [ "$level" = "$2" ] || fail "finding $1 is $level, expected $2"
}

run 0 demo --keep
run 0 check demo.svm --json
empty err
json out command check
json out data.n 400
json out data.format libsvm
json out fit_would.task classify
json out fit_would.loss hinge
json out fit_would.solver newton
json out fit_would.refusal null
json out class_rows.# 2
for code in format classes order duplicates column_kinds scaling fit; do
    finding $code ok
done
for code in empty_rows contradictions imbalance stored_zeros empty_columns constant_columns; do
    finding $code none
done
run 0 check demo.svm
has out "data     demo.svm: 400 rows, 20 features"
has out "ok       format libsvm, indices from 1"
has out "ok       fit would classify with loss hinge, penalty l2 and solver newton"

# everything wrong at once: sorted, doubled, contradictory, empty, constant, unscaled, rare
{
    awk 'BEGIN { for (i = 1; i <= 38; i++) print "-1", "1:" i * 1000, "2:0.0" i, "4:7", "5:0" }'
    echo "-1 1:1000 2:0.01 4:7"
    echo "-1"
    echo "+1 1:1000 2:0.01 4:7"
    echo "+1 1:3 4:7 6:1"
} >sick.svm
run 0 check sick.svm --json
finding order warning
finding duplicates note
finding contradictions warning
finding empty_rows note
finding empty_columns note
finding stored_zeros note
finding imbalance warning
finding scaling warning
finding rare_columns note
finding constant_columns none
sed -i '/^-1$/d' sick.svm
run 0 check sick.svm --json
finding empty_rows none
finding constant_columns note

# columns far from 0: a constant to subtract
awk 'BEGIN { print "east,flat,north,label"
             for (i = 1; i <= 40; i++) printf "%d,3,%d,%d\n", 450000 + i % 7, 5400000 + i % 5, i % 2 }' >utm.csv
run 0 check utm.csv --kernel rbf --json
finding offsets warning
run 0 check utm.csv --kernel rbf
has out "columns 1 ('east'), 3 ('north'): the mean is at least 1e+04 times the spread"
has out "subtract a constant from them, or take --scale std"
run 0 check utm.csv --kernel rbf --scale std --json
finding offsets none
run 0 check utm.csv --json
finding offsets warning
run 0 check utm.csv
has out "column 3 ('north'): the mean is at least 1e+06 times the spread"
run 0 check demo.svm --kernel rbf --json
finding offsets none
# sparse: what a row leaves out is a zero, and counts
awk 'BEGIN { for (i = 1; i <= 40; i++) 
    print i % 2, "1:" 5400000 + i % 5, (i % 3 ? "2:" 9000000 + i : ""), i + 2 ":1" }' >utm.svm
run 0 check utm.svm --kernel laplace
has out "column 1: the mean is at least 1e+04 times the spread"
grep "times the spread" out | grep -q "scale std" && fail "sparse data cannot be centred by --scale std"

# first index, quantities, several classes, no labels
printf '%s\n' '1 0:1' '0 1:2' >zero.svm
run 0 check zero.svm
has out "indices from 0"
awk 'BEGIN { for (i = 1; i <= 20; i++) print i / 7, "1:" i }' >quantity.svm
run 0 check quantity.svm --json
finding quantity note
json out fit_would.task regress
awk 'BEGIN { for (i = 1; i <= 20; i++) print i % 3, "1:" i }' >three.svm
run 0 check three.svm --json
finding fit ok
has out "for each of 3 classes against the rest"
json out fit_would.loss hinge
run 0 check demo.svm --loss equal --label-column none --json
finding fit ok
printf '%s\n' 'a,b' '1,2' '3,4' >plain.csv
run 0 check plain.csv --label-column none --json
finding no_labels warning

# options that fit would refuse are a finding; files that are bad are not
run 0 check demo.svm --loss nonsense --json
finding fit warning
has out "there is no loss 'nonsense'"
printf '%s\n' '+1 1:1' '-1 1:nan' >nan.svm
run 2 check nan.svm
has err "nan.svm:2:6:"
"$margrave" check - <demo.svm >out || fail "check from standard input"
has out "400 rows"

# a label that is not UTF-8 does not break the JSON
printf 'x,label\n1,caf\351\n2,tea\n3,caf\351\n4,tea\n' >latin.csv
run 0 check latin.csv --json
json out data.classes.0 'caf?'
finish
