# kernel_offset.sh - kernels of differences do not see where the data lies: certificates, models and
# predictions of shifted points are those of the points.
. "$(dirname "$0")/lib.sh"

# points ROWS COLUMNS STEP SPAN OFFSET... - points on a grid of STEP, OFFSET added to each column;
# exact in decimal and in float64. Labels by a wavy border.
points() {
    awk -v n="$1" -v d="$2" -v step="$3" -v span="$4" -v offsets="$5" 'BEGIN {
        split(offsets, at, " ")
        r = 12345
        for (i = 0; i < n; i++) {
            line = ""
            for (j = 1; j <= d; j++) {
                r = (r * 16807) % 2147483647
                k = r % (2 * span + 1) - span
                if (j == 1) a = k / span
                if (j == 2) b = k / span
                line = line sprintf("%.6f,", k * step + at[(j - 1) % length(at) + 1])
            }
            print line (b > 0.6 * sin(4 * a) ? 1 : -1)
        }
    }'
}

# number PATH - of the JSON in `out`.
number() { "$json_get" out "$1"; }

# agree NAME OPTION... - NAME_here and NAME_there are fitted to the same interval, and each model
# scores both the same way.
agree() {
    name=$1
    shift
    run 0 fit ${name}_here.csv "$@" -o here.mgm --json
    low=$(number certificate.$ends_low) high=$(number certificate.$ends_high)
    json out certificate.verified true
    run 0 fit ${name}_there.csv "$@" -o there.mgm --json
    json out certificate.verified true
    true_that "$low <= $(number certificate.$ends_high) && $(number certificate.$ends_low) <= $high" \
        "$name $*: the intervals overlap"
    true_that "$high - $low <= 3e-6 * $high" "$name $*: the interval is narrow"
    run 0 predict here.mgm ${name}_here.csv --scores -o here.txt
    run 0 predict there.mgm ${name}_there.csv --scores -o there.txt
    paste -d ' ' here.txt there.txt |
        awk '{ d = $2 - $4; if (d > 2e-3 || d < -2e-3) bad++ } END { exit bad > 0 || NR == 0 }' ||
        fail "$name $*: the scores differ"
}

points 100 3 0.015625 192 "0 0 0" >d1_here.csv
points 100 3 0.015625 192 "10000000 10000000 10000000" >d1_there.csv
# metres: a field of 50 m, 5,400 km north of the equator
points 120 2 0.125 200 "0 0" >utm_here.csv
points 120 2 0.125 200 "449000 5400000" >utm_there.csv
# more than 32 columns; with offsets that float32 takes exactly too
points 80 36 0.015625 192 "0 0 0" >wide_here.csv
points 80 36 0.015625 192 "10000000 100000 -1000000" >wide_there.csv
cp wide_here.csv float_here.csv
points 80 36 0.015625 192 "100000 -65536 30000" >float_there.csv

for kernel in rbf laplace; do
    ends_low=margin ends_high=margin_upper
    agree d1 --kernel $kernel --sigma2 0.5 --loss margin --tol 1e-6
    agree utm --kernel $kernel --sigma2 25 --loss margin --tol 1e-6
    ends_low=dual ends_high=primal
    agree d1 --kernel $kernel --sigma2 2 --lambda 0.01 --tol 1e-6
    agree utm --kernel $kernel --sigma2 25 --lambda 0.01 --tol 1e-6
    agree utm --kernel $kernel --sigma2 25 --lambda 0.01 --tol 1e-6 --loss logistic
    agree wide --kernel $kernel --lambda 0.01 --tol 1e-6 --sigma2 40
    agree float --kernel $kernel --lambda 0.01 --tol 1e-6 --sigma2 40 --precision f32
done

# the same from sparse files, where no column is left out by any row
for name in wide_here wide_there; do
    run 0 convert $name.csv $name.svm
    run 0 fit $name.svm --kernel rbf --sigma2 40 --lambda 0.01 --tol 1e-6 -o $name.mgm --json
    json out certificate.verified true
    eval "${name}_low=$(number certificate.dual) ${name}_high=$(number certificate.primal)"
    run 0 predict $name.mgm $name.svm --scores -o $name.sparse
    run 0 predict $name.mgm $name.csv --scores -o $name.dense
    paste -d ' ' $name.sparse $name.dense |
        awk '{ d = $2 - $4; if (d > 1e-9 || d < -1e-9) bad++ } END { exit bad > 0 || NR == 0 }' ||
        fail "$name: a sparse file is scored otherwise than a dense one"
done
true_that "$wide_here_low <= $wide_there_high && $wide_there_low <= $wide_here_high" \
    "sparse points: the intervals overlap"
finish
