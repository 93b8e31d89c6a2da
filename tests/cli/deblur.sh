# deblur.sh - images in and out, what is printed, the trace, exit codes, wrong use.
. "$(dirname "$0")/lib.sh"

# A square of light on grey, blurred by a box of 3 x 3, with a little noise: made by awk.
awk 'BEGIN {
    srand(1); n = 40
    for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[i, j] = (i >= 12 && i < 28 && j >= 10 && j < 30) ? 180 : 60
    printf "P2 %d %d 255\n", n, n >"truth.pgm"
    printf "P2 %d %d 255\n", n, n >"blurred.pgm"
    for (i = 0; i < n; i++) for (j = 0; j < n; j++) {
        sum = 0
        for (a = -1; a <= 1; a++) for (b = -1; b <= 1; b++) {
            r = i + a; c = j + b
            r = r < 0 ? 0 : r >= n ? n - 1 : r; c = c < 0 ? 0 : c >= n ? n - 1 : c
            sum += x[r, c]
        }
        noise = 0
        for (k = 0; k < 12; k++) noise += rand()
        print x[i, j] >"truth.pgm"
        printf "%d\n", sum / 9 + 4 * (noise - 6) + .5 >"blurred.pgm"
    }
}'
printf '1,1,1\n1,1,1\n1,1,1\n' >box.csv

# lines for people
run 0 deblur blurred.pgm --psf box.csv --truth truth.pgm -o sharp.png
empty err
has out "image        blurred.pgm: 40 x 40 pixels, grey, 8 bit"
has out "blur         box.csv, 3 x 3, reflecting edges"
has out "of the range, estimated"
has out "stopped at the noise level"
has out "output       sharp.png"
after=$(awk '/^PSNR/ { print $2 }' out)
before=$(awk '/^PSNR/ { print $5 }' out)
true_that "$after > $before + 3" "the image is restored"
[ "$(head -c 4 sharp.png | od -An -c | tr -d ' ')" = '211PNG' ] || fail "sharp.png is a PNG"

# JSON and nothing else; the trace; the default name in this directory
run 0 deblur blurred.pgm --psf box.csv --truth truth.pgm --noise 0.016 --trace rows.csv --json
empty err
json out command deblur
json out image.height 40
json out image.depth 8
json out blur.edges reflect
json out noise.estimated false
json out solver.stop discrepancy
json out output blurred-deblurred.pgm
[ "$(head -n 1 rows.csv)" = iteration,seconds,residual,psnr ] || fail "the head of the trace"
[ "$(tail -n 1 rows.csv | cut -d, -f1)" = "$("$json_get" out solver.iterations)" ] || fail "its last row"
[ "$(head -c 2 blurred-deblurred.pgm)" = P5 ] || fail "the output is a PGM"
run 0 deblur sharp.png --psf-sigma 1 --edges periodic --quiet --json
json out blur.edges periodic
json out output sharp-deblurred.png
json out psnr null
run 0 deblur blurred.pgm --psf box.csv -o - --quiet
[ "$(head -c 4 out | od -An -c | tr -d ' ')" = '211PNG' ] || fail "a PNG on standard output"
"$margrave" deblur - --psf box.csv -o piped.pgm <blurred.pgm >out 2>err || fail "standard input"
run 0 deblur blurred.pgm --psf box.csv -o again.pgm --threads 3
run 0 deblur blurred.pgm --psf box.csv -o once.pgm --threads 1
same again.pgm once.pgm "any number of threads"
same again.pgm piped.pgm "a file or a pipe"

# a budget: the image is written, exit code 3
run 3 deblur blurred.pgm --psf box.csv --max-iter 1 -o early.pgm
has out "a larger --max-iter"
[ -s early.pgm ] || fail "an image all the same"

# a checkpoint: on to the same image, also from a run that had ended
run 0 deblur blurred.pgm --psf box.csv --checkpoint state -o once.pgm
for first in 1 7 "$(awk '/^solver/ { print $3 - 1 }' out)"; do
    run 3 deblur blurred.pgm --psf box.csv --max-iter "$first" --checkpoint part -o part.pgm
    has out "next         the same command with --resume part"
    run 0 deblur blurred.pgm --psf box.csv --resume part --checkpoint part -o resumed.pgm
    same once.pgm resumed.pgm "resumed after $first iterations"
done
run 0 deblur blurred.pgm --psf box.csv --resume state -o resumed.pgm
same once.pgm resumed.pgm "a run that had ended"
run 2 deblur blurred.pgm --psf-sigma 1 --resume state
has err "the checkpoint is of other data, settings, tolerance or seed (got fingerprint"
run 2 deblur blurred.pgm --psf box.csv --edges periodic --resume state
has err "the checkpoint is of other data"
run 2 fit box.csv --task regress --resume state
has err "the checkpoint is of another command (got command 'deblur', not 'fit'); resume with"
run 2 deblur blurred.pgm --psf box.csv --checkpoint blurred.pgm
has err "this is also read"
run 1 deblur blurred.pgm --psf box.csv --checkpoint nosuch/state
has err "nosuch/state"

# wrong use and bad files
run 2 deblur blurred.pgm
has err "say how the image is blurred: --psf FILE or --psf-sigma WIDTH"
run 2 deblur blurred.pgm --psf box.csv --psf-sigma 1
has err "not both"
run 2 deblur blurred.pgm --psf-sigma wide
has err "'wide', not a number"
run 2 deblur blurred.pgm --psf-sigma -1
has err "above 0"
run 2 deblur blurred.pgm --psf box.csv --noise 4
has err "noise"
run 2 deblur blurred.pgm --psf box.csv -o out.jpg
has err "ends in .png"
run 1 deblur blurred.pgm --psf box.csv -o missing/out.png
has err "missing/out.png"
run 1 deblur missing.png --psf box.csv
has err "missing.png: cannot be opened"
run 2 deblur box.csv --psf box.csv
has err "box.csv: is no image"
head -c 200 sharp.png >cut.png
run 2 deblur cut.png --psf box.csv
has err "truncated"
printf 'P2 3 3 9 1 2 3 4 5 6 7 8 9\n' >small.pgm
run 2 deblur small.pgm --psf box.csv
has err "too small to estimate its noise"
run 0 deblur small.pgm --psf box.csv --noise .1
run 2 deblur blurred.pgm --psf box.csv --truth small.pgm
has err "the truth 3 x 3"
run 2 deblur blurred.pgm --psf box.csv -o - --json
has err "one thing only"
run 2 deblur blurred.pgm --psf box.csv --lambda 1
has err "no option"
ls ./*.tmp.* 2>/dev/null && fail "no temporary files stay"

# the forms of total variation: two unknowns, and a proximal map with errors that are said
for form in "--split lifted" "--split no --prox-error 1e-3 --prox-decay 2"; do
    # shellcheck disable=SC2086
    run 0 deblur blurred.pgm --psf box.csv --truth truth.pgm -o sharp.png --json $form
    true_that "$("$json_get" out psnr.restored) > $("$json_get" out psnr.image) + 1" "$form is sharper"
done
run 2 deblur blurred.pgm --psf box.csv --split lifted --prox-error 1e-3
has err "prox_error is of a proximal map"
finish
