# browser.sh - the page in a real browser, where there is one (Debian's chromium): nothing on its
# console, nothing fetched, no sideways scrolling on a telephone; light, dark and printed.
. "$(dirname "$0")/lib.sh"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
    echo "skipped: there is no chromium here"
    exit 77
fi
run 0 reproduce apidopoulos-3 -o page
# What the page is as wide as, said by a copy that may run a script.
sed 's/<meta http-equiv[^>]*>//; s|</body>|<script>document.title = document.documentElement.scrollWidth + " " + innerWidth + " " + document.querySelectorAll("figure svg[role=img]").length + " " + [...document.querySelectorAll("figure svg[role=img] text")].filter(t => t.getBoundingClientRect().right > t.ownerSVGElement.getBoundingClientRect().right).length;</script></body>|' \
    page/index.html >page/measured.html
browse() {
    "$browser" --headless --disable-gpu --no-sandbox --user-data-dir="$work/profile" \
        --enable-logging=stderr --virtual-time-budget=2000 "$@" 2>browser.err
}
for width in 360 1200; do
    browse --window-size=$width,900 --dump-dom "file://$work/page/measured.html" >dom ||
        fail "the browser ends with $?"
    set -- $(sed -n 's|.*<title>\([0-9]*\) \([0-9]*\) \([0-9]*\) \([0-9]*\)</title>.*|\1 \2 \3 \4|p' dom)
    [ $# = 4 ] || { fail "the browser measured nothing at $width" && continue; }
    [ "$1" -le "$2" ] || fail "at $width the page is $1 wide"
    [ "$3" = 3 ] || fail "$3 charts"
    [ "$4" = 0 ] || fail "at $width $4 words of charts are cut"
    browse --window-size=$width,2400 --screenshot="$work/shot-$width.png" \
        "file://$work/page/index.html" || fail "no picture"
    grep -q 'CONSOLE' browser.err && fail "the console says: $(grep CONSOLE browser.err)"
    [ -s "shot-$width.png" ] || fail "no picture of $width"
done
browse --blink-settings=preferredColorScheme=0 --window-size=360,2400 \
    --screenshot="$work/shot-dark.png" "file://$work/page/index.html" || fail "no dark picture"
cmp -s shot-dark.png shot-360.png && fail "dark and light are the same"
browse --print-to-pdf="$work/page.pdf" "file://$work/page/index.html" || fail "cannot be printed"
[ -s page.pdf ] || fail "an empty print"
[ -z "${MARGRAVE_KEEP:-}" ] || cp shot-*.png page.pdf "$MARGRAVE_KEEP"
finish
