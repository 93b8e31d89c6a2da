# list.sh - the registry, for people and for programs.
. "$(dirname "$0")/lib.sh"
run 0 list
empty err
for kind in losses penalties solvers presets stops operators readers writers backends simd; do
    has out "$kind:"
done
has out "in use: backend cpu"
has out "linear algebra"
run 0 list loss
cp out one
run 0 list losses
same out one "singular and plural"
has out "  hinge            max(0, 1 - z)"
run 0 list --json
json out command list
json out in_use.backend cpu
json out registered.0.kind loss
count=$("$json_get" out settings.#)
run 0 list settings
[ "$(grep -c '^  [A-Za-z]' out)" = "$count" ] || fail "list settings and list --json differ"
run 0 list solvers --json
json out registered.0.name exact_margin
json out registered.1.name newton
json out settings.# 0
MGV_SIMD=scalar "$margrave" list --json >out
json out in_use.simd scalar
MGV_CACHE=48k,1300K "$margrave" list --json >out
case $("$json_get" out in_use.caches) in
32K,1M,*M) ;;
*) fail "caches are not in classes: $("$json_get" out in_use.caches)" ;;
esac
finish
