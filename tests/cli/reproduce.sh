# reproduce.sh - figures made again: the page, the curves, the verdicts.
. "$(dirname "$0")/lib.sh"
unset MARGRAVE_DATA

run 0 reproduce list
for item in apidopoulos-2 apidopoulos-5 molinari-3 molinari-4 molinari-6 molinari-7 emirahmetoglu-1 \
    emirahmetoglu-t1 emirahmetoglu-t3 raj-bach-2 ji-1; do
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

: >file
run 1 reproduce apidopoulos-3 -o file
finish
