# signal.sh - SIGINT, SIGTERM, SIGHUP and a reader that has gone end a run with its best model saved
# and exit code 3.
. "$(dirname "$0")/lib.sh"
run 0 demo --keep

for signal in INT TERM HUP PIPE; do
    rm -f trace.csv* long.mgm
    # With so large a C the gap closes in hours, if ever: only the signal ends this run.
    "$margrave" fit demo-twin.svm --solver dual_coordinate --C 1e6 --tol 1e-9 \
        --max-iter 1000000000000 --trace trace.csv --checkpoint state -o long.mgm --json \
        >out 2>err </dev/null &
    pid=$!
    # Wait until it has taken some certificates: the run has then started for sure.
    while kill -0 $pid 2>/dev/null && [ "$(cat trace.csv.tmp.* 2>/dev/null | wc -l)" -lt 5 ]; do
        sleep 0.05
    done
    kill -$signal $pid
    wait $pid
    code=$?
    [ $code = 3 ] || fail "SIG$signal: exit code $code, expected 3: $(cat err)"
    json out solver.stop user
    json out certificate.verified true
    run 0 predict long.mgm demo-twin.svm --json
    true_that "$("$json_get" out metrics.accuracy) > 0.6" "the saved model is better than none"
    [ -s state ] || fail "SIG$signal: there is no checkpoint"
    [ "$(wc -l <trace.csv)" -ge 5 ] || fail "SIG$signal: the trace is not in its place"
done
finish
