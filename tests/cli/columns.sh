# columns.sh - predict finds the model's columns: by name, by number, from the right first index.
. "$(dirname "$0")/lib.sh"

# table SEED ROWS - u,v,w and a word that depends on all three
table() {
    echo "u,v,w,label"
    awk -v seed="$1" -v rows="$2" 'BEGIN {
        srand(seed)
        for (i = 0; i < rows; i++) {
            u = rand(); v = rand(); w = rand(); y = "no"
            if (2 * u - v + w / 2 > 0.75) y = "yes"
            printf "%.4f,%.4f,%.4f,%s\n", u, v, w, y } }'
}
table 5 200 >train.csv
table 6 60 >test.csv
run 0 fit train.csv --C 100 -o m.mgm
run 0 predict m.mgm test.csv -o right
has out "accuracy 9"
empty err

# no label; no header; neither
cut -d, -f1-3 test.csv >new.csv
sed 1d test.csv >bare.csv
sed 1d new.csv >bare_new.csv
for file in new bare bare_new; do
    run 0 predict m.mgm $file.csv -o answers
    same right answers "$file.csv"
    empty err
done
run 0 predict m.mgm new.csv --json
json out metrics null
json out n 60

# another order is put right, unknown columns are left out, missing ones named
awk -F, -v OFS=, '{ print $4, $3, $1, $2 }' test.csv >shuffled.csv
run 0 predict m.mgm shuffled.csv -o answers
same right answers "shuffled columns"
is err "note: shuffled.csv: the columns are not in the model's order; they are matched by name"
awk -F, -v OFS=, 'NR == 1 { print "id", $0, "a b" } NR > 1 { print "P" NR, $0, "NA" }' test.csv >more.csv
run 0 predict m.mgm more.csv -o answers
same right answers "columns the model does not know"
has out "accuracy 9"
is err "warning: more.csv: 2 columns the model does not know are ignored ('id', 'a b')"
cut -d, -f1,3,4 test.csv >less.csv
run 2 predict m.mgm less.csv -o answers
is err "margrave predict: less.csv: 1 of the model's 3 columns is not there ('v')"
cut -d, -f1,2 bare.csv >two.csv
run 2 predict m.mgm two.csv
is err "margrave predict: two.csv: there are 2 columns; the model knows 3 features: 3 columns are expected, or 4 with a label"
# the option wins
run 0 predict m.mgm test.csv --label-column none -o answers
same right answers "--label-column none"
has err "ignored ('label')"
run 2 predict m.mgm test.csv --label-column u
has err "1 of the model's 3 columns is not there ('u')"
# a label that is not last, and validation files
awk -F, -v OFS=, '{ print $1, $4, $2, $3 }' train.csv >middle.csv
run 0 fit middle.csv --label-column label --C 100 -o middle.mgm
awk -F, -v OFS=, '{ print $1, $4, $2, $3 }' bare.csv >middle_bare.csv
run 0 predict middle.mgm middle_bare.csv -o answers
same right answers "the label where training had it"
run 0 fit train.csv --select val:shuffled.csv --no-model --json
score=$("$json_get" out selected.score 2>/dev/null || "$json_get" out validation.score)
run 0 fit train.csv --select val:test.csv --no-model --json
same_score=$("$json_get" out selected.score 2>/dev/null || "$json_get" out validation.score)
[ "$score" = "$same_score" ] || fail "validation by names: $score and $same_score"

# indices from 0, which a test file need not use
printf '%s\n' '1 0:1 3:2' '-1 0:-1 3:-2' '1 0:2 2:-1' '-1 0:-2 2:1' >zero.svm
run 0 fit zero.svm -o zero.mgm
has out ", indices from 0; classes"
printf '%s\n' '1 3:2' '-1 2:1 3:-2' >zero_test.svm
run 0 predict zero.mgm zero_test.svm --scores -o answers
has out "accuracy 100.00 %"
is err "note: zero_test.svm: no index 0 occurs; read from 0, as the training data was (--base 1 else)"
run 0 predict zero.mgm zero_test.svm --base 0 --scores -o stated
same answers stated "--base 0"
sed 's/^-*1 //' zero_test.svm >zero_bare.svm
run 0 predict zero.mgm zero_bare.svm --scores -o bare
same answers bare "libsvm rows without labels"
sed 's/^-*1 /? /' zero_test.svm >zero_asked.svm
run 0 predict zero.mgm zero_asked.svm --scores -o asked
same answers asked "libsvm rows with ? for a label"
printf '%s\n' '1 3:2' '? 2:1 3:-2' >half.svm
printf '%s\n' 1 -1 >half.labels
run 0 predict zero.mgm half.svm -o labels
has out "1 of 2 rows has no label that is a class of this model: the metrics are of the other 1"
run 0 predict zero.mgm half.svm --labels half.labels -o labels
has out "accuracy 100.00 %, balanced accuracy 100.00 %"
run 2 fit zero_bare.svm --no-model
has err "where its label should be: only predict takes rows without labels"
printf '%s\n' '1 1:1 3:2' '-1 1:-1 3:-2' >one.svm
run 0 fit one.svm -o one.mgm
run 2 predict one.mgm zero.svm
has err "zero.svm:1:3: index 0, but the data the model was trained on counts from 1"

# features that training has not seen
printf '%s\n' '1 1:1 3:1' '-1 1:-1 3:-1 7:4' '1 1:2 7:1 9:1' >wide.svm
run 0 predict one.mgm wide.svm -o answers
has out "accuracy 100.00 %"
is err "warning: 3 entries of 2 unknown features are ignored"
run 0 predict one.mgm wide.svm --features 3 -o stated
same answers stated "--features as the model has"
run 0 predict one.mgm wide.svm --quiet
empty err
# a dense table of another width is no table for this model
run 0 convert bare_new.csv new.npy --label-column none
run 0 predict m.mgm new.npy -o answers
same right answers "NPY"
run 2 predict zero.mgm new.npy
is err "margrave predict: the data has 3 features, the model knows 4"

# libsvm text with commas is no CSV
printf '%s\n' '1,1:1,2:2' '2,1:2,2:4' >commas.svm
run 2 fit commas.svm
is err "margrave fit: commas.svm:1:3: '1:1' looks like INDEX:VALUE of libsvm text, where blanks separate the pairs, not ','"
finish
