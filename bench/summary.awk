# summary.awk - the last table of `./dev bench svm`: a line per row that the programs left behind.
# Fields: work, goal, our seconds with 1 and 2 threads, certified, peer, its seconds, whether it
# arrived, the least ratio asked for. A bar of the form <= X is one on our own figure.
BEGIN {
    FS = "\t"
    printf "%-30s %-11s %10s %10s  %-26s %11s %9s %8s\n", "work", "goal", "1 th. ms", "2 th. ms", "peer", "peer ms",
        "ratio", "bar"
}
function ms(seconds) { return seconds == "nan" || seconds == "" ? "-" : sprintf("%.2f", 1000 * seconds) }
{
    ratio = ($4 > 0 && $7 != "nan" && $7 != "") ? $7 / $4 : 0
    met = ""
    if ($9 ~ /^</) {
        split($9, bar, " ")
        met = ($4 <= bar[2]) ? "met" : "MISSED"
        printf "%-30s %-11s %10s %10s  %-26s %11s %9s %8s  %s\n", $1, $2, "", $4, $6, "", "", $9, met
        count[met]++
        next
    }
    if (!$5) met = "NOT CERTIFIED"
    else if ($9 > 0 && ratio > 0) met = (ratio >= $9) ? "met" : "MISSED"
    if (met != "") count[met]++
    printf "%-30s %-11s %10s %10s  %-26s %11s %9s %8s  %s\n", $1, $2, ms($3), ms($4), $6,
        (ratio > 0 ? ($8 ? "" : ">") ms($7) : "-"), (ratio > 0 ? sprintf("%s%.1fx", $8 ? "" : ">", ratio) : "-"),
        ($9 > 0 ? $9 "x" : ""), met
}
END {
    printf "\n%d rows met, %d missed, %d without their certificate. Ratios are the peer's time over ours with 2 threads;\n",
        count["met"], count["MISSED"], count["NOT CERTIFIED"]
    print "'>': the peer had not arrived when its patience, or its 1,000 passes, ended."
}
