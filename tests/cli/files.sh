# files.sh - no wrong file and no endless run: what the command does when numbers overflow,
# descriptors are closed, disks are full, names are links, and readers and terminals go away.
. "$(dirname "$0")/lib.sh"

# ---- numbers ------------------------------------------------------------------------------------
# Scores that are not finite end predict with a sentence; it used to run for ever.
printf '%s\n' '1 1:0.1 2:-0.1' '-1 1:-0.1 2:0.1' '1 1:0.09 2:-0.11' '-1 1:-0.09 2:0.08' >small.svm
run 0 fit small.svm --loss margin -o small.mgm
printf '%s\n' '-1 1:1 2:1' '1 1:1.7e308 2:1.7e308' >huge.svm
timeout 20 "$margrave" predict small.mgm huge.svm -o labels >out 2>err
[ $? = 1 ] || fail "predict of a row that overflows: exit code other than 1"
has err "margrave predict: the score of row 2 is "
[ ! -e labels ] || fail "predictions that mean nothing were written"

# What ran out of time has failed no check.
awk 'BEGIN { srand(3); for (i = 0; i < 600; i++) { printf "%d", i % 20; for (j = 1; j < 30; j++) printf " %d:%.6f", j, rand(); print "" } }' >many.svm
run 3 fit many.svm --solver dual_coordinate --C 1e6 --tol 1e-10 --max-iter 2 --no-model
grep -q 'the check of the last one failed' out && fail "a budget is no failed check: $(cat out)"
run 3 fit many.svm --solver dual_coordinate --C 1e6 --tol 1e-10 --time-limit 0.002 --no-model
has out "certificate  none yet: the run ended before every class had its own"

# ---- closed descriptors -------------------------------------------------------------------------
# What is printed must not land in a file that is being written, and its loss is told.
run 0 demo --keep
for closed in 1 2 12 0 012; do
    rm -f m.mgm c.mgd c.csv t.csv
    case $closed in
    1) "$margrave" fit demo.svm -v --trace t.csv -o m.mgm 2>err >&- ;;
    2) "$margrave" fit demo.svm -v --trace t.csv -o m.mgm >out 2>&- ;;
    12) "$margrave" fit demo.svm -v --trace t.csv -o m.mgm >&- 2>&- ;;
    0) "$margrave" fit demo.svm -v --trace t.csv -o m.mgm >out 2>err <&- ;;
    012) "$margrave" fit demo.svm -v --trace t.csv -o m.mgm >&- 2>&- <&- ;;
    esac
    code=$?
    case $closed in
    *1*) [ $code = 1 ] || fail "descriptor $closed closed: exit code $code" ;;
    *) [ $code = 0 ] || fail "descriptor $closed closed: exit code $code" ;;
    esac
    run 0 predict m.mgm demo.svm
    awk -F , 'NF != 24 { exit 1 }' t.csv || fail "descriptor $closed closed: the trace is no table"
done
"$margrave" convert demo.svm c.mgd >&- 2>err
is err "margrave: standard output cannot be written"
run 0 check c.mgd
"$margrave" convert demo.svm c.csv >&- 2>err
run 0 check c.csv
printf '%s\n' '1 1 2' '1 2 3' '2 1 4' '2 2 6' '3 1 1' '3 2 2' >few.txt
"$margrave" complete few.txt -o few.mgm >&- 2>err
run 0 predict few.mgm few.txt
"$margrave" fit - <&- >out 2>err
[ $? = 1 ] || fail "no standard input to read"
has err "standard input: cannot be read"

# ---- names --------------------------------------------------------------------------------------
# A link planted at a temporary name is not followed, and nobody's own file is taken.
echo precious >victim
ln -s victim labels.part
run 0 predict m.mgm demo.svm -o labels
[ "$(cat victim)" = precious ] || fail "predict wrote through a link"
[ -L labels.part ] && [ ! -L labels ] || fail "predict took labels.part"
rm labels.part
chmod 600 labels
run 0 predict m.mgm demo.svm -o labels
[ "$(ls -l labels | cut -c1-10)" = -rw------- ] || fail "the mode of the file that is replaced"

# The longest names can be written; of a name that is too long the reason is told.
long=$(printf '%0251d.csv' 0)
run 0 predict m.mgm demo.svm -o "$long"
same labels "$long" "predictions under a name of 255 bytes"
run 0 fit demo.svm -o "$(printf '%0251d.mgm' 0)"
awk 'BEGIN { for (i = 0; i < 600; i++) printf "0123456789"; print "" }' >name
run 1 fit demo.svm --no-model --trace "$(cat name)"
has err "File name too long"
run 1 check "$(cat name)"
has err "File name too long"

# ---- tables -------------------------------------------------------------------------------------
# A run that is refused leaves the trace that was there.
refused() {
    echo precious >t.csv
    "$margrave" "$@" --trace t.csv >out 2>err </dev/null && fail "margrave $* should be refused"
    [ "$(cat t.csv)" = precious ] || fail "margrave $*: the refused run changed the trace"
}
refused fit nosuch
refused fit demo.svm --solver nosuch
refused fit demo.svm --loss hinge --lambda 1 --C 1 --select cv:1
refused fit demo.svm -o no/such/folder/m.mgm
refused complete nosuch
refused complete few.txt --select cv:3
refused deblur nosuch.png --psf-sigma 1
[ -z "$(ls | grep tmp)" ] || fail "temporary files stay: $(ls | grep tmp)"
# A table of a path is whole or not there, and an old one stays until then.
mkdir points
echo precious >points/path.csv
run 2 path demo.svm --penalty l1 --solver nosuch -o points
[ "$(cat points/path.csv)" = precious ] || fail "a refused path changed path.csv"
run 0 path demo.svm --penalty l1 --path-points 3 -o points
[ "$(wc -l <points/path.csv)" = 4 ] || fail "the table of the path"
[ -z "$(ls points | grep tmp)" ] || fail "temporary files stay: $(ls points)"

# ---- what is read is not written over ------------------------------------------------------------
cp demo.svm kept.svm
awk '{ print 1 }' demo.svm >ones.txt
awk '{ print $1 }' demo.svm >marks.txt
ln -s demo.svm alias.svm
ln demo.svm twin-name.svm
keeps() { # FILE ARGUMENT...
    kept=$1
    cp "$kept" before
    shift
    run 2 "$@"
    has err "this is also read"
    same before "$kept" "margrave $*"
}
keeps demo.svm fit demo.svm -o demo.svm
keeps demo.svm fit demo.svm -o alias.svm
keeps demo.svm fit demo.svm -o twin-name.svm
keeps demo.svm fit ./alias.svm -o demo.svm
keeps demo.svm fit demo.svm --no-model --trace demo.svm
keeps demo.svm fit demo.svm --no-model --checkpoint demo.svm
keeps ones.txt fit demo.svm --sample-weight ones.txt -o ones.txt
keeps marks.txt fit demo.svm --labels marks.txt -o marks.txt
keeps kept.svm fit demo.svm --select val:kept.svm -o kept.svm
keeps m.mgm predict m.mgm demo.svm -o m.mgm
keeps demo.svm predict m.mgm demo.svm -o demo.svm
keeps demo.svm convert demo.svm alias.svm
keeps few.txt complete few.txt -o few.txt
mkdir -p inside
cp demo.svm inside/path.csv
keeps inside/path.csv path inside/path.csv --format libsvm --penalty l1 --path-points 3 -o inside
cp demo.svm inside/point-002.mgm
keeps inside/point-002.mgm path inside/point-002.mgm --format libsvm --penalty l1 --path-points 3 -o inside
printf 'P2\n2 2\n255\n1 2\n3 4\n' >dot.pgm
keeps dot.pgm deblur dot.pgm --psf-sigma 1 -o dot.pgm
run 2 fit demo.svm -o both --trace both
has err "two outputs have this name"
# a checkpoint may go on in the file it was resumed from
run 3 fit demo-twin.svm --solver dual_coordinate --C 1e6 --tol 1e-9 --max-iter 5 --checkpoint state --no-model
run 3 fit demo-twin.svm --solver dual_coordinate --C 1e6 --tol 1e-9 --max-iter 9 --resume state --checkpoint state --no-model

# ---- checkpoints that cannot be written -----------------------------------------------------------
run 1 fit demo-twin.svm --checkpoint nosuch/state --no-model
has err "nosuch/state: cannot be written"
for data in demo-twin.svm many.svm; do
    rm -rf cut.csv* lost.mgm
    mkdir gone
    "$margrave" fit $data --solver dual_coordinate --C 1e6 --tol 1e-9 --max-iter 1000000000000 \
        --trace cut.csv --checkpoint gone/state -o lost.mgm >out 2>err </dev/null &
    pid=$!
    while kill -0 $pid 2>/dev/null && [ "$(cat cut.csv.tmp.* 2>/dev/null | wc -l)" -lt 3 ]; do
        sleep 0.05
    done
    rm -r gone
    kill -TERM $pid
    wait $pid
    code=$?
    [ $code = 1 ] || fail "$data: a checkpoint that is lost: exit code $code: $(cat err)"
    has err "warning: the checkpoint is not saved, and the run goes on: gone/state"
    has err "gone/state: the last checkpoint could not be written; the model is saved"
    run 0 predict lost.mgm $data
done

# ---- packed input that grows without bounds --------------------------------------------------------
{ echo '1 1:1'; head -c 70000000 /dev/zero | tr '\0' '\n'; echo '-1 1:2'; } | gzip -1 >bomb.svm.gz
run 2 check bomb.svm.gz --max-expansion 10
has err "bomb.svm.gz: unpacked, the gzip content is larger than 67108864 bytes"
has err "a larger max_expansion"
run 0 check bomb.svm.gz --max-expansion inf

# ---- labels that a format cannot keep --------------------------------------------------------------
for format in npy mtx; do
    run 0 convert demo.svm bare.$format
    has err "warning: bare.$format: the format $format has no labels"
done
run 0 convert demo.svm full.npz
empty err

# ---- a mapped file cut short --------------------------------------------------------------------
run 0 convert demo-twin.svm twin.mgd
"$margrave" fit twin.mgd --solver dual_coordinate --C 1e6 --tol 1e-9 --max-iter 1000000000000 \
    --trace cut.csv --no-model >out 2>err </dev/null &
pid=$!
while kill -0 $pid 2>/dev/null && [ "$(cat cut.csv.tmp.* 2>/dev/null | wc -l)" -lt 3 ]; do
    sleep 0.05
done
: >twin.mgd
wait $pid
code=$?
[ $code = 1 ] || fail "a file cut short: exit code $code: $(cat err)"
has err "/twin.mgd was cut short while it was read"

# ---- a reader that goes away --------------------------------------------------------------------
rm -rf points
{ "$margrave" path demo.svm --penalty l1 --path-points 20 -o points 2>err; echo $? >code; } | head -n 4 >out
case $(cat code) in
1 | 3) ;;
*) fail "the reader has gone: exit code $(cat code)" ;;
esac
[ "$(($(wc -l <points/path.csv) - 1))" = "$(ls points/*.mgm | wc -l)" ] || fail "path.csv has not a row per model"
finish
