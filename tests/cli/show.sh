# show.sh - what is in a model.
. "$(dirname "$0")/lib.sh"

# weights by name, the largest first; the second of two classes is the one above 0
{
    echo "height,weight,label"
    awk 'BEGIN { for (i = 0; i < 20; i++) printf "%d.5,%d,%s\n", i, i % 3, i < 10 ? "yak" : "ant" }'
} >zoo.csv
run 0 fit zoo.csv --C 100 -o zoo.mgm
cp out fit.out
run 0 show zoo.mgm
empty err
has out "model        zoo.mgm: tells 'ant' from 'yak', which has the scores above 0"
has out "from csv"
has out "label        column 'label'"
for line in problem 'certificate  the optimum lies between'; do
    grep -F "$line" fit.out >expected
    has out "$(cat expected)"
done
has out "weights      2 of 2 are nonzero, |w| = "
[ "$(awk '/^largest/ { print $3 }' out)" = height ] || fail "height says most"
run 0 show zoo.mgm --largest 1
[ "$(grep -c height out)" = 1 ] && ! grep -q 'weight$' out || fail "one weight was asked for"
run 0 show zoo.mgm --json --largest 1
json out command show
json out model.classes.1 yak
json out model.outputs.# 1
json out model.outputs.0.largest.# 1
json out model.outputs.0.largest.0.name height
json out model.outputs.0.class null
json out certificate.verified true
json out path null
"$margrave" fit zoo.csv --C 100 --no-model --json >fit.json
json out model.outputs.0.norm "$("$json_get" fit.json model.norm)"
json out certificate.primal "$("$json_get" fit.json certificate.primal)"

# all weights as a table: scores made from it are those of predict
run 0 show zoo.mgm --weights weights.tsv --quiet
run 0 predict zoo.mgm zoo.csv --scores -o scores
sed 1d zoo.csv | tr ',' ' ' | awk 'FNR == NR { w[$1] = $2; next } {
    z = w["height"] * $1 + w["weight"] * $2 + w["(intercept)"]
    getline line <"scores"; split(line, part, "\t"); d = z - part[2]
    if (d * d > 1e-20) exit 1 }' weights.tsv - || fail "weights.tsv does not give the scores"
run 0 show zoo.mgm --weights -
is_head=$(head -n 1 out)
[ "$is_head" = "$(printf 'feature\tweight')" ] || fail "the table's head is '$is_head'"

# many classes, and two by two
awk 'BEGIN { for (i = 0; i < 60; i++) printf "%s,%d,%d\n", substr("abc", 1 + i % 3, 1), i % 3, (i * 7) % 5 }' >abc.csv
run 0 fit abc.csv --label-column 1 -o abc.mgm
run 0 show abc.mgm
has out "tells 3 classes apart, 'a' to 'c'"
has out "certificate  each of 3 optima is known"
has out "largest      'b', intercept"
run 0 fit abc.csv --label-column 1 --multiclass ovo -o ovo.mgm
run 0 show ovo.mgm --json
json out model.outputs.# 3
json out model.outputs.2.class c
json out model.outputs.2.against b
run 0 show ovo.mgm --weights -
has out "$(printf "'c' against 'b'\t(intercept)")"

# a choice and its curve
run 0 demo --keep
run 0 fit demo.svm --penalty l1 --loss logistic --select cv:3 -o chosen.mgm
point=$(sed -n 's/.*cv:3: point \([0-9]*\) of \([0-9]*\).*/\1/p' out)
run 0 show chosen.mgm --curve
has out "selection    cv:3: point $point of "
grep -qE "\* +$point  mu" out || fail "the chosen point is not marked"
run 0 show chosen.mgm --json
json out path.rule cv:3
json out path.point "$point"

# support vectors, a completion
run 0 fit demo.svm --kernel rbf -o rbf.mgm
run 0 show rbf.mgm
has out "support vectors of 20 features, kernel rbf"
run 2 show rbf.mgm --weights t.tsv
has err "support vectors; leave out --weights"
[ ! -e t.tsv ] || fail "t.tsv was written"
awk 'BEGIN { for (i = 0; i < 12; i++) for (j = 0; j < 9; j++) if ((i * 5 + j * 3) % 4) print i, j, (i + 1) * (j + 2) }' >r.txt
run 0 complete r.txt -o r.mgm
run 0 show r.mgm
has out "completes a matrix of 12 x 9"
run 0 show r.mgm --json
run 2 show r.mgm --curve

# mistakes
run 2 show demo.svm
run 1 show nosuch.mgm
run 2 show zoo.mgm --largest many
has err "--largest takes a whole number from 0 on (got 'many')"
run 2 show zoo.mgm --weights zoo.mgm
run 2 show zoo.mgm --weights - --json
finish
