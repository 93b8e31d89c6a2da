# evaluate.sh - the objective and the certificate of a model on given data.
. "$(dirname "$0")/lib.sh"

run 0 generate gaussians --seed 2 -o g.csv --test t.csv
run 0 fit g.csv --lambda 0.01 -o g.mgm --json
cp out fit
run 0 evaluate g.mgm g.csv --json
for key in primal dual; do
    a=$("$json_get" fit certificate.$key)
    b=$("$json_get" out certificate.$key)
    true_that "($a - $b) ^ 2 < 1e-10 * $a * $a" "$key of the fit and of its evaluation"
done
json out problem.formula "$("$json_get" fit problem.formula)"
json out command evaluate
json out data.n 600
[ "$("$json_get" out metrics.accuracy)" = "$("$json_get" fit train.accuracy)" ] || fail "accuracy"
run 0 evaluate g.mgm t.csv
has out "problem      min 0.01/2 |w|^2 + mean hinge(y (x.w + b))"
has out "at these weights; no weights have less than"
has out "bound        by"
run 0 evaluate g.mgm t.csv --quick --lambda 1
has out "problem      min 1/2 |w|^2 + mean hinge"
has out "bound        made from these weights"

# files of fewer columns, other classes, and what has no objective
printf '1 1:1 3:1\n-1 1:-1 3:-2\n1 1:2 3:2\n-1 2:-1\n' >three.svm
printf '1 1:1\n-1 1:-1 2:1\n' >two.svm
run 0 fit three.svm -o s.mgm
run 0 evaluate s.mgm two.svm --json
json out data.d 3
printf '1 1:1\n-1 1:-1 2:1\n1\n1\n-1\n' >thin.svm
run 0 evaluate s.mgm thin.svm --json
json out data.d 3
json out data.layout csr
awk 'BEGIN { for (i = 0; i < 60; i++) print i % 7 "," i % 5 "," i % 3 }' >c.csv
run 2 evaluate g.mgm c.csv
has err "the model does not know class '0'"
run 0 fit c.csv --classes 0,1 -o c.mgm
run 0 evaluate c.mgm c.csv --classes 1,0
run 0 fit g.csv --kernel rbf -o k.mgm
run 2 evaluate k.mgm g.csv
has err "no objective on other data"
run 2 evaluate g.csv g.mgm
run 1 evaluate nothing.mgm g.csv

# the mean hinge itself, at one weight: 200 points of a line
run 0 generate line --seed 1 -o line.csv
run 0 fit line.csv --lambda 0.1 --no-intercept -o line.mgm
run 0 show line.mgm --json
w=$("$json_get" out model.outputs.0.largest.0.coef)
run 0 evaluate line.mgm line.csv --lambda 1e-300 --quick --json
value=$("$json_get" out certificate.primal)
true_that "$(awk -F, -v w="$w" '{ z = $1 * $NF * w; s += z < 1 ? 1 - z : 0 }
    END { printf "(%.12g - '"$value"') ^ 2 < 1e-16", s / NR }' line.csv)" "the mean hinge"
finish
