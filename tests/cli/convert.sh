# convert.sh - every writer's file reads back to the same model.
. "$(dirname "$0")/lib.sh"
run 0 demo --keep
awk '{ printf "%s", $1; for (i = 2; i <= NF; i += 5) printf " %s", $i; print "" }' demo.svm >thin.svm

for data in demo thin; do
    run 0 fit $data.svm -o $data.mgm --json
    primal=$("$json_get" out certificate.primal)
    for form in mgd npz libsvm csv; do
        run 0 convert $data.svm $data.copy.$form --json
        json out rows 400
        [ "$("$json_get" out bytes)" = "$(wc -c <$data.copy.$form | tr -d ' ')" ] ||
            fail "$form: bytes"
        run 0 fit $data.copy.$form --features 0 -o again.mgm --json
        true_that "($("$json_get" out certificate.primal) - $primal) ^ 2 <= (3e-4 * $primal) ^ 2" \
            "$data: a model from $form"
        json out data.classes.1 1
    done
    run 0 convert $data.copy.mgd $data.back.svm
    same $data.back.svm $data.copy.libsvm "$data: libsvm from the cache and from text"
done
run 0 convert demo.svm demo.npy
has err "demo.npy: the format npy has no labels"
run 0 convert demo.svm demo.mtx
has err "demo.mtx: the format mtx has no labels"
has out "demo.mtx: 400 rows, 20 features, 8000 stored entries"
run 0 check demo.mtx --json
json out data.d 20

# standard streams
"$margrave" convert - - --to csv <demo.svm >piped.csv 2>err || fail "convert through pipes"
same piped.csv demo.copy.csv "csv through a pipe"
has err "standard output: 400 rows"
run 2 convert demo.svm - --json --to csv
run 2 convert demo.svm demo.unknown
[ -e demo.unknown ] && fail "a file of no format was written"
run 2 convert demo.svm x.svm --from nonsense
run 2 convert demo.svm x.svm --format csv
finish
