# symbols.sh LIBRARY - everything the library exports is called mgv_something, but for what a build
# that measures coverage puts in.
set -eu
names=$(nm -D --defined-only "$1" | awk '$2 !~ /[Aa]/ { print $3 }')
strangers=$(printf '%s\n' "$names" | grep -vE '^mgv_|^__gcov_|^mangle_path$' || true)
if [ -n "$strangers" ]; then
    printf 'exported, but not mgv_:\n%s\n' "$strangers" >&2
    exit 1
fi
printf '%s\n' "$names" | grep -q '^mgv_solver_run$' || { echo "nothing is exported" >&2; exit 1; }
