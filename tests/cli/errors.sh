# errors.sh - every class of failure: its exit code and its sentence, word for word.
. "$(dirname "$0")/lib.sh"

# refuses CODE SENTENCE ARGUMENT... - exit code, stderr is the sentence alone, stdout is empty.
refuses() {
    sentence=$2
    code=$1
    shift 2
    run "$code" "$@"
    is err "$sentence"
    empty out
}

printf '%s\n' '+1 1:1 2:0.5' '-1 1:-1 2:0.25' '+1 1:2' '-1 2:-3' >good.svm

# usage
refuses 2 "margrave: there is no command 'fti'; did you mean 'fit'?" fti
refuses 2 "margrave: there is no command 'xyzzy'; \`margrave help\` lists them" xyzzy
refuses 2 "margrave fit: there is no option '--lamda'; did you mean '--lambda'?" fit good.svm --lamda 1
refuses 2 "margrave fit: there is no option '-C'; did you mean '--C'?" fit good.svm -C 1
refuses 2 "margrave fit: there is no option '--max-itr'; did you mean '--max-iter'?" fit --max-itr=3
refuses 2 "margrave fit: there is no option '--bogosity'; \`margrave fit --help\` lists them" \
    fit good.svm --bogosity
refuses 2 "margrave fit: there is no option '-z'; \`margrave fit --help\` lists them" fit -z
refuses 2 "margrave predict: there is no option '--loss'; \`margrave predict --help\` lists them" \
    predict --loss hinge
refuses 2 "margrave fit: there is no option '--set lambdaa'; did you mean '--set lambda'?" \
    fit good.svm --set lambdaa=1
refuses 2 "margrave fit: --set needs NAME=VALUE; \`margrave fit --help\` shows the use" \
    fit good.svm --set lambda
refuses 2 "margrave fit: --tol needs a value; \`margrave fit --help\` shows the use" fit good.svm --tol
refuses 2 "margrave fit: --json=1 takes no value; \`margrave fit --help\` shows the use" \
    fit good.svm --json=1
refuses 2 "margrave fit: expected DATA; \`margrave fit --help\` shows the use" fit
refuses 2 "margrave fit: too many arguments: b; \`margrave fit --help\` shows the use" fit a b
refuses 2 "margrave fit: tol is 'tiny'; allowed: from 0 to 1" fit good.svm --tol tiny
refuses 2 "margrave fit: scale is 'much'; allowed: none|std|maxabs|rownorm|sqrt" fit good.svm --scale=much
refuses 2 "margrave fit: there is no loss 'hinje'; \`margrave list\` names them" \
    fit good.svm --loss hinje
refuses 2 "margrave fit: give C or lambda, not both: C = 1/(lambda n)" fit good.svm --C 1 --lambda 1
refuses 2 "margrave fit: --no-model and --output exclude each other" fit good.svm --no-model -o m
refuses 2 "margrave list: there is no kind 'losss'; did you mean 'losses'?" list losss
refuses 2 "margrave fit: there is no backend 'abacus'; this build has: cpu" \
    fit good.svm --backend abacus

# files that are not there or cannot be written
refuses 1 "margrave fit: none.svm: cannot be opened: No such file or directory" fit none.svm
refuses 1 "margrave predict: none.mgm: cannot be opened: No such file or directory" \
    predict none.mgm good.svm
for option in --output --checkpoint; do
    refuses 1 "margrave fit: no/such/dir/m: cannot be written: No such file or directory" \
        fit good.svm $option no/such/dir/m
done
mkdir taken
run 1 fit good.svm -o taken
has err "taken"
run 1 convert good.svm no/such/dir/d.mgd
has err "no/such/dir/d.mgd"
run 1 fit good.svm --no-model --trace no/such/dir/t.csv
has err "no/such/dir/t.csv"
"$margrave" list >/dev/full 2>err
[ $? = 1 ] || fail "a full standard output must be exit code 1"
is err "margrave: standard output cannot be written"

# bad data: file, line and column
printf '%s\n' '+1 1:1' '-1 1:nan' >nan.svm
run 2 fit nan.svm
has err "nan.svm:2:6:"
printf '%s\n' '+1 1:1' '-1 2:1 1:3' >unsorted.svm
run 2 fit unsorted.svm
has err "unsorted.svm:2:"
printf '+1 1:1\n-1 2' >truncated.svm
run 2 fit truncated.svm
has err "truncated"
printf '%s\n' '+1 1:1' '+1 1:2' >one.svm
refuses 2 "margrave fit: every label is '+1': a classifier needs two classes" \
    fit one.svm --task classify
"$margrave" convert good.svm good.mgd >/dev/null
dd if=good.mgd of=short.mgd bs=1 count=150 2>/dev/null
run 2 check short.mgd
has err "short.mgd"
run 2 predict good.svm good.svm
has err "good.svm"
: >nothing
run 2 fit nothing
has err "nothing"
run 0 fit good.svm -o m.mgm
printf '%s\n' 1,2,3,4 5,6,7,8 >wide.csv
refuses 2 "margrave predict: wide.csv: there are 4 columns; the model knows 2 features: 2 columns are expected, or 3 with a label" \
    predict m.mgm wide.csv

# sample weights
printf '%s\n' 1 2 x 1 >words.txt
refuses 2 "margrave fit: words.txt:3: 'x' is not a number" fit good.svm --sample-weight words.txt
printf '%s\n' 1 2 -1 1 >negative.txt
refuses 2 "margrave fit: negative.txt:3: the weight is -1; allowed: finite, 0 or more" \
    fit good.svm --sample-weight negative.txt
printf '%s\n' 1 2 >few.txt
refuses 2 "margrave fit: few.txt: 2 weights for 4 rows of data" fit good.svm --sample-weight few.txt
printf '%s\n' 1 2 3 4 5 >many.txt
refuses 2 "margrave fit: many.txt:5: more weights than the 4 rows of data" \
    fit good.svm --sample-weight many.txt

# no file is left behind by a failure
ls | grep -E 'part|tmp' && fail "a temporary file was left behind"

MGV_SIMD=abacus "$margrave" list >out 2>err
[ $? = 2 ] || fail "an unknown MGV_SIMD must be exit code 2"
is err "margrave: MGV_SIMD is 'abacus', which this machine or build does not have"
for sizes in much 32K, 32K,1M,4M,8M 32G 0; do
    MGV_CACHE=$sizes "$margrave" list >out 2>err
    [ $? = 2 ] || fail "MGV_CACHE=$sizes must be exit code 2"
    is err "margrave: MGV_CACHE is '$sizes'; it takes sizes like 32K,512K,4M"
done
finish
