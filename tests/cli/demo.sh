# demo.sh - the tour ends well, says what it promises and leaves nothing.
. "$(dirname "$0")/lib.sh"
run 0 demo
empty err
[ "$(ls)" = "err
out" ] || fail "the tour left files: $(ls)"
for text in "separable on purpose" '$ margrave fit demo.svm --loss hinge' \
    "certificate  the optimum lies between" "verified" "training     accuracy 100.00 %" \
    "certificate  separable with margin in [0.44" "fresh rows   accuracy" \
    "certificate  not separable: a convex combination of" "  margrave demo --keep"; do
    has out "$text"
done
sed 's/, [0-9.e-]* s$//' out >first
run 0 demo --threads 1
sed 's/, [0-9.e-]* s$//' out >second
same first second "the tour is the same for any number of threads"
run 0 demo --keep
has out "demo.svm and demo-twin.svm are in this directory."
[ "$(wc -l <demo.svm)" -eq 400 ] && [ "$(wc -l <demo-twin.svm)" -eq 400 ] || fail "two files"
run 2 demo --json

# The tour's figures are those of the commands it shows.
grep 'separable with margin' first | head -n 1 >tour
run 0 fit demo.svm --loss margin
grep 'separable with margin' out >command
same tour command "the hard margin of the tour and of fit"
finish
