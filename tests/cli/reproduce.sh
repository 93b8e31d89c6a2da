# reproduce.sh - figures made again: the page, the curves, the verdicts.
. "$(dirname "$0")/lib.sh"
unset MARGRAVE_DATA

run 0 reproduce list
for item in apidopoulos-2 apidopoulos-5 molinari-3 molinari-4 molinari-6 molinari-7 emirahmetoglu-1 \
    emirahmetoglu-t1 emirahmetoglu-t3 raj-bach-2 ji-1 apidopoulos-6 ji-2 ji-3 ji-4; do
    has out "$item "
done
run 2 reproduce apidopoulos-33
has err "did you mean 'apidopoulos-3'?"
[ -e reproduction ] && fail "a folder was made for nothing"

run 0 reproduce apidopoulos-3 -o one
has out "apidopoulos-3      reproduced"
has out "page               one/index.html"
has one/index.html "Figure 3 (apidopoulos-3)"
has one/index.html "margrave fit DATA --preset apidopoulos-alg2 --lambda0 4 --tol 0 --max-iter 1000 --inertia 10"
[ "$(grep -c '<figure>' one/index.html)" = 3 ] || fail "three charts"
[ "$(head -1 one/apidopoulos-3.csv)" = chart,series,x,y ] || fail "the head of the curves"
[ "$(grep -c 'Algorithm 1' one/apidopoulos-3.csv)" -ge 2900 ] || fail "a row for every iterate"
# the page's commands are commands: all end before their certificate
grep -o '^.*margrave fit DATA.*$' one/index.html | sed 's/<[^>]*>//g' >commands
[ "$(wc -l <commands)" = 5 ] || fail "five commands"
run 0 generate toy --seed 1 -o DATA.csv
while read -r _ _ _ rest; do
    # shellcheck disable=SC2086
    run 3 fit DATA.csv $rest -o model.mgm
done <commands
run 0 reproduce apidopoulos-3 -o two --threads 1
same one/apidopoulos-3.csv two/apidopoulos-3.csv "the curves of two runs"
run 0 reproduce emirahmetoglu-1 --json -o three
json out items.0.verdict reproduced
json out items.0.item emirahmetoglu-1

# the value of the objective is the mean hinge, which awk adds up
run 0 generate line --seed 1 -o line.csv
awk -F, 'NR == FNR { x[NR] = $1 * $2; n = NR; next } /mean of/ { w = $(NF - 1); s = 0
    for (i = 1; i <= n; i++) s += x[i] * w < 1 ? 1 - x[i] * w : 0
    if ((s / n - $NF) ^ 2 > 1e-20) bad++; rows++ } END { exit bad > 0 || rows != 201 }' \
    line.csv three/emirahmetoglu-1.csv || fail "the mean hinge"
# a switch is written as it is typed
run 0 reproduce molinari-1 -o switches
has switches/index.html "margrave fit DATA --task regress --loss equal --penalty l1 --no-intercept --solver"
if grep -q -e '--intercept no' switches/index.html; then
    fail "a switch with a value"
fi

# a table: its cells on the page and in the CSV; the zeros are counted, stored or not
run 0 reproduce emirahmetoglu-t1 -o four
has out "emirahmetoglu-t1   partly"
has out "2 of 5 sets"
has four/emirahmetoglu-t1.csv '"Sets","rows N","Synthetic (tall)",10000'
has four/index.html "<td>Synthetic (wide)"
mkdir sets
awk 'BEGIN { for (i = 1; i <= 10; i++) { for (j = 1; j <= 14; j++) printf "%d ", j <= 5 ? 0 : i + j
    print i % 2 } }' >sets/australian.dat
MARGRAVE_DATA=$PWD/sets run 0 reproduce emirahmetoglu-t1 -o five
has out "emirahmetoglu-t1   not reproduced"
has five/emirahmetoglu-t1.csv '"Sets","zeros, %","Australian Credit Approval",35.71'

# explicit and iterative choices on one split of the entries
run 0 reproduce molinari-7 -o six
has out "molinari-7         reproduced"
has six/index.html "margrave fit DATA --preset fista"
grep -q '"iterates of (12)",1,' six/molinari-7.csv || fail "the iterates' curve"
grep -q '"Tikhonov, accelerated steps",1,' six/molinari-7.csv || fail "the strengths' curve"

# real sets are not there: generated ones, said so, and no verdict above partly
for item in apidopoulos-6 ji-2; do
    run 0 reproduce $item -o real
    has out "On generated rows"
    grep -q "^$item .* reproduced " out && ! grep -q "not reproduced" out &&
        fail "$item is reproduced without its sets"
done
[ "$(grep -c '",1000,' real/apidopoulos-6.csv)" = 36 ] || fail "the ends of 36 curves"
awk -F, '/: margin gap/ && $NF < 0 { bad++ } END { exit bad > 0 }' real/apidopoulos-6.csv ||
    fail "a margin above the largest"
# five kernels of a network, and a method of our own, for each of two seeds
run 0 reproduce ji-4 -o nine
has out "ji-4               partly"
has out "generated rows of ten classes"
has nine/index.html "margrave fit DATA --preset ji-alg2 --seed 1 --multiclass joint --kernel precomputed"
[ "$(grep -c '<figure>' nine/index.html)" = 2 ] || fail "two charts"
[ "$(grep ',1000,' nine/ji-4.csv | wc -l)" = 12 ] || fail "the last errors of twelve runs"
awk -F, '$(NF - 1) == 1000 && !($NF >= 0 && $NF < 0.3) { bad++ } END { exit bad > 0 }' nine/ji-4.csv ||
    fail "errors of chance"
run 0 reproduce ji-4 -o ten --threads 1
same nine/ji-4.csv ten/ji-4.csv "the errors of two runs"
: >file
run 1 reproduce apidopoulos-3 -o file
finish
