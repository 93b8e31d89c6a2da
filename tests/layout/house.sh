# house.sh TREE - rules of the house that a look at the sources can tell.
set -eu
cd "$1"
wrong=0
complain() {
    printf '%s\n' "$1" >&2
    wrong=1
}

# Types and traits, not names: what is left compares what users and files have written.
MOST=25
names=$(grep -rnE '\bstr(n|case|ncase)?cmp\(|\bstrstr\(' --include='*.[ch]' src |
    grep -vE '^src/(base|io|data)/' || true)
count=$(printf '%s\n' "$names" | grep -c . || true)
[ "$count" -le "$MOST" ] || complain "$names
$count decisions by name below src/, allowed: $MOST. Losses and penalties have bits (base/formula.h),
solvers the fields of mgvi_solver_ops, settings words are values (base/choices.h)"
terms=$(grep -rnE 'str(n?cmp|str)\([^;]*(loss|penalty|ops)->name' --include='*.[ch]' src |
    grep -v 'registry.c' || true)
[ -z "$terms" ] || complain "$terms
a term or solver told by its name"

# The judge goes by the problem alone.
settings=$(grep -rn 'settings' --include='*.[ch]' src/certify || true)
[ -z "$settings" ] || complain "$settings
the judge reads a setting"

# A is the only door: what the file said (labels, classes, storage) is src/problem's to know.
door=$(grep -rnE '(\b(p|problem|head|whole|bound|member)|run\.problem)(->|\.)(own_)?data\b|data->|(->|\.)(class_(value|text)|labels)\b|mgv_data\b|"data/(data|subset)' \
    --include='*.[ch]' src/solver src/certify src/stop || true)
[ -z "$door" ] || complain "$door
the data set is read behind A; ask the problem (src/problem/problem.h) or the operator (src/op/op.h)"
# What sweeps and what judges works wherever vectors lie: the judge asks for their numbers by name
# (mgvi_vec_host() and those beside it, backend/vec.h), a sweep and the loop never do. `e.x` is an
# entry of the data.
memory=$(grep -rnE '(\.|->)x\b|simd->|backend/cpu' --include='*.[ch]' src/solver/sweep \
    src/solver/driver.c src/certify src/stop | grep -vE ':[^:]*\be\.x\b' || true)
[ -z "$memory" ] || complain "$memory
host memory of a vector: use the calls of backend/"
doors=$(grep -rnE 'mgvi_vec_(host|open|close)\b|linalg/' --include='*.[ch]' src/solver/sweep \
    src/solver/driver.c src/stop || true)
[ -z "$doors" ] || complain "$doors
a sweep works on whole vectors"

# The view is stated once: src/op/matrix.h, and its functions.
view=$(grep -rnE '(([a-z_]+(->|\.))+(sign|row_scale|centre|scale)) \? \1\[[^]]+\] : [01]\b' \
    --include='*.[ch]' src | grep -vE '^src/op/(matrix\.h|norm\.c)' || true)
[ -z "$view" ] || complain "$view
a part of the view read by hand: mgvi_view_sign() and its like (src/op/matrix.h)"

# One type for a name.
types=$(grep -rhoE '^(typedef (struct|enum|union) )?mgvi_[a-z0-9_]+ \{|^\} mgvi_[a-z0-9_]+;' \
    --include='*.h' src | grep -oE 'mgvi_[a-z0-9_]+;' | sort | uniq -d || true)
[ -z "$types" ] || complain "types of the same name: $types"
exit "$wrong"
