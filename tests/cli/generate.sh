# generate.sh - sets from a seed; rows of some classes and flipped labels in every command that reads.
. "$(dirname "$0")/lib.sh"

run 0 generate toy --seed 3
is out "data   toy.csv: 84 rows, 2 columns"
run 0 fit toy.csv --loss margin --no-intercept --json
true_that "($("$json_get" out certificate.margin) - sqrt(2)) ^ 2 < 1e-20" "the toy's margin"
for form in csv npz svm mgd; do
    run 0 generate gaussians --rows 50 --test-rows 20 --seed 3 -o g.$form --test t.$form --json
    json out rows 50
    json out seed 3
    run 0 fit g.$form -o g.mgm --json
    [ -f first ] || "$json_get" out certificate.primal >first
    [ "$("$json_get" out certificate.primal)" = "$(cat first)" ] || fail "$form: another set"
    run 0 predict g.mgm t.$form --json
    json out n 20
done
run 0 generate toeplitz --rows 30 --columns 40 --seed 1 -o r.npz --truth w.npy --threads 1
cp r.npz one.npz
run 0 generate toeplitz --rows 30 --columns 40 --seed 1 -o r.npz --truth w.npy --threads 4
same r.npz one.npz "one thread and four"
has out "truth  w.npy: 40 rows, 1 columns"
run 0 generate low_rank --rows 30 --columns 20 --rank 1 --seen 0.6 -o m.mtx --test mt.mtx
has out "data   m.mtx: 30 rows, 20 columns, 360 entries"
run 0 complete m.mtx -o m.mgm
run 0 generate line -o - --format csv
[ "$(wc -l <out | tr -d ' ')" -ge 200 ] || fail "the line on stdout"

# refused, and no file left
run 2 generate toy --rank 3 -o no.csv
has err "the set toy takes no rank; it takes rows, test_rows"
run 2 generate low_rank -o no.csv
has err "write .mtx or .npz"
run 2 generate toy -o no.csv --test no.csv
has err "two outputs have this name"
run 2 generate toys
run 2 generate toy -o no.unknown
run 2 generate gaussians --truth no.npy -o no.csv
[ -e no.csv ] && fail "a file was left by a refusal"

# classes and flips
awk 'BEGIN { for (i = 0; i < 90; i++) print i % 7 "," i % 11 "," i % 3 + 1 }' >three.csv
awk -F, '$3 != 2' three.csv >two.csv
run 0 fit two.csv -o two.mgm --json
cp out want
run 0 fit three.csv --classes 1,3 -o chosen.mgm --json
[ "$("$json_get" out certificate.primal)" = "$("$json_get" want certificate.primal)" ] ||
    fail "--classes and a file of those rows"
json out data.n 60
run 0 convert three.csv chosen.csv --classes 3,1
run 0 convert two.csv again.csv
same chosen.csv again.csv "convert --classes"
run 0 predict two.mgm three.csv --classes 3,1 --json
json out n 60
run 0 check three.csv --classes 2,3 --json
json out data.n 60
run 0 path two.csv --path-points 2 -o grid
run 0 path three.csv --classes 1,3 --path-points 2 -o grid2
run 0 convert three.csv flipped.csv --flip-labels 0.2 --seed 1
[ "$(diff three.csv flipped.csv | grep -c '^>')" = 18 ] || {
    run 0 convert three.csv plain.csv
    [ "$(diff plain.csv flipped.csv | grep -c '^>')" = 18 ] || fail "a fifth of 90 labels"
}
run 0 convert three.csv other.csv --flip-labels 0.2 --seed 2
cmp -s flipped.csv other.csv && fail "--seed says nothing"
run 2 fit three.csv --classes 1,4
has err "three.csv: the data has no class '4'; it has 1, 2, 3"
run 2 fit three.csv --flip-labels 1.5
# flips are of the training rows alone
run 0 fit two.csv --flip-labels 0.1 --select val:three.csv --classes 1,3 -o f.mgm --json
json out data.n 60
run 3 fit g.csv --flip-labels 0.3 --seed 5 --trace trace.csv --watch g.csv --max-iter 3 -o w.mgm --json
flipped=$("$json_get" out train.accuracy)
column=$(head -1 trace.csv | tr , '\n' | grep -n validation_score | cut -d: -f1)
true_that "$(tail -1 trace.csv | cut -d, -f"$column") > $flipped + 0.1" "watched rows are not flipped"
run 2 complete m.mtx --classes 3
finish
