/* deblur.c - `margrave deblur`: a blurred image in, a restored one out. */
#include "options.h"
#include "output.h"
#include "signals.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    cli *c;
    const char *file, *psf_file, *psf_width, *truth_file, *output, *trace_file;
    char *default_output;
    char psf_name[64]; /* of a Gaussian */
    cli_table trace;
    mgv_image *image, *psf, *truth, *restored;
    mgv_deblur *deblur;
    mgv_deblur_info info;
} job;

/* ---- input ------------------------------------------------------------------------------------
 */

static mgv_image *read_image(job *j, const char *file, int *code)
{
    mgv_image *image;
    cli_terminal_status(&j->c->terminal, "reading %s", file);
    const mgv_status st = mgv_image_read(j->c->ctx, file, &image);
    cli_terminal_wipe(&j->c->terminal);
    if (st != MGV_OK)
        *code = cli_fail(j->c, st);
    return image;
}

/* The blur: a file, or the width of a Gaussian. */
static int read_psf(job *j)
{
    char *end;
    if (!j->psf_file == !j->psf_width)
        return cli_complain(j->c, CLI_USAGE,
                            "say how the image is blurred: --psf FILE or --psf-sigma WIDTH%s",
                            j->psf_file ? ", not both" : "");
    const double sigma = j->psf_width ? strtod(j->psf_width, &end) : 0;
    if (j->psf_width && (end == j->psf_width || *end))
        return cli_complain(j->c, CLI_USAGE, "--psf-sigma is '%.40s', not a number", j->psf_width);
    const mgv_status st = j->psf_file ? mgv_psf_read(j->c->ctx, j->psf_file, &j->psf)
                                      : mgv_psf_gaussian(j->c->ctx, sigma, &j->psf);
    snprintf(j->psf_name, sizeof j->psf_name, "Gaussian of width %g", sigma);
    return st == MGV_OK ? CLI_GO_ON : cli_fail(j->c, st);
}

static int read_inputs(job *j)
{
    int code = read_psf(j);
    if (code != CLI_GO_ON)
        return code;
    if (!(j->image = read_image(j, j->file, &code)) ||
        (j->truth_file && !(j->truth = read_image(j, j->truth_file, &code))))
        return code;
    cli_count_time(j->c);
    const mgv_status st =
        mgv_deblur_new(j->c->ctx, j->image, j->psf, j->truth, j->c->settings, &j->deblur);
    return st == MGV_OK ? CLI_GO_ON : cli_fail(j->c, st);
}

/* ---- output -----------------------------------------------------------------------------------
 */

/* "dir/moon.pgm" -> "moon-deblurred.pgm", in the current directory; other names end in .png. */
static char *output_name(const char *image)
{
    static const char *const known[] = {".png", ".pgm", ".ppm", ".pnm"};
    const char *slash = strrchr(image, '/');
    const char *base = strcmp(image, "-") == 0 ? "image" : slash ? slash + 1 : image;
    const char *dot = strrchr(base, '.'), *ending = ".png";
    for (size_t i = 0; dot && i < sizeof known / sizeof *known; i++)
        if (strcmp(dot, known[i]) == 0)
            ending = known[i];
    const int stem = dot && dot > base ? (int)(dot - base) : (int)strlen(base);
    const size_t size = (size_t)stem + sizeof "-deblurred" + strlen(ending);
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "%.*s-deblurred%s", stem, base, ending);
    return name;
}

/* Whether the name can be written to: better known before the run than after it. */
static int try_output(job *j)
{
    static const char *const known[] = {".png", ".pgm", ".ppm", ".pnm"};
    const char *dot = strrchr(j->output, '.');
    bool fits = strcmp(j->output, "-") == 0;
    if (fits)
        return CLI_GO_ON;
    for (size_t i = 0; dot && i < sizeof known / sizeof *known; i++)
        fits |= strcmp(dot, known[i]) == 0;
    if (!fits)
        return cli_complain(j->c, CLI_USAGE,
                            "%s: the name of an image ends in .png, .pgm, .ppm or .pnm", j->output);
    return cli_try_name(j->c, j->output);
}

static int open_outputs(job *j)
{
    cli *c = j->c;
    if (!j->output)
        j->output = j->default_output = output_name(j->file);
    if (!j->output)
        return cli_complain(c, CLI_FAILURE, "no memory");
    const int on_stdout =
        !strcmp(j->output, "-") + (j->trace_file && !strcmp(j->trace_file, "-")) + c->json;
    if (on_stdout > 1)
        return cli_complain(c, CLI_USAGE,
                            "standard output can take one thing only: the image, the JSON object "
                            "or the trace");
    const char *const files[] = {j->output, j->trace_file};
    const char *const inputs[] = {j->file, j->psf_file, j->truth_file};
    int code = cli_keep_state_apart(c, files, 2, inputs, 3);
    if (code == CLI_GO_ON)
        code = try_output(j);
    return code == CLI_GO_ON
               ? cli_table_open(c, j->trace_file, "iteration,seconds,residual,psnr\n", &j->trace)
               : code;
}

static void trace_row(job *j, const mgv_event *e)
{
    FILE *trace = cli_table_row(&j->trace);
    if (!trace)
        return;
    fprintf(trace, "%" PRId64 ",%.6f,", e->iteration, e->seconds);
    if (isfinite(e->residual))
        fprintf(trace, "%.17g", e->residual);
    fputc(',', trace);
    if (isfinite(e->psnr))
        fprintf(trace, "%.10g", e->psnr);
    fputc('\n', trace);
    cli_table_row_ends(&j->trace);
}

/* ---- the run ----------------------------------------------------------------------------------
 */

static int on_event(void *user, const mgv_event *e)
{
    job *j = user;
    if (e->kind == MGV_EVENT_LOG)
        cli_terminal_event(&j->c->terminal, e);
    const bool shown = e->kind == MGV_EVENT_TRACE && isfinite(e->residual); /* the start has none */
    if (shown && j->c->terminal.verbosity == CLI_VERBOSE)
        fprintf(stderr, "%6" PRId64 " iterations %8.2f s  residual %.6g%s%.3f%s\n", e->iteration,
                e->seconds, e->residual, isfinite(e->psnr) ? "  PSNR " : "  ",
                isfinite(e->psnr) ? e->psnr : e->residual / j->info.target,
                isfinite(e->psnr) ? " dB" : " of the target");
    else if (shown)
        cli_terminal_status(&j->c->terminal,
                            "iteration %" PRId64 ", residual %.4g, goal %.4g, %.1f s", e->iteration,
                            e->residual, j->info.target, e->seconds);
    if (e->kind == MGV_EVENT_TRACE)
        trace_row(j, e);
    return cli_signalled();
}

static int restore(job *j)
{
    cli *c = j->c;
    mgv_deblur_describe(j->deblur, &j->info);
    mgv_ctx_on_event(c->ctx, on_event, j);
    mgv_status st = mgv_deblur_run(c->ctx, j->deblur);
    cli_terminal_wipe(&c->terminal);
    mgv_ctx_on_event(c->ctx, NULL, NULL);
    mgv_deblur_describe(j->deblur, &j->info);
    if (st == MGV_OK)
        st = mgv_deblur_image(c->ctx, j->deblur, &j->restored);
    if (st == MGV_OK)
        st = mgv_image_write(c->ctx, j->restored, j->output);
    return st == MGV_OK ? CLI_GO_ON : cli_fail(c, st);
}

/* ---- results ----------------------------------------------------------------------------------
 */

static const char *psf_name(const job *j) { return j->psf_file ? j->psf_file : j->psf_name; }

static void print_image(const job *j, FILE *out)
{
    mgv_image_info m = {.size = sizeof m};
    mgv_image_describe(j->image, &m);
    fprintf(out, "image        %s: %" PRId64 " x %" PRId64 " pixels, %s%s, %d bit\n", j->file,
            m.width, m.height, m.channels == 1 ? "grey" : "colour",
            m.alpha ? " with transparency (kept)" : "", m.depth);
    fprintf(out, "blur         %s, %" PRId64 " x %" PRId64 ", %s edges\n", psf_name(j),
            j->info.psf_width, j->info.psf_height,
            strcmp(cli_setting(j->c, "edges").text, "periodic") == 0 ? "periodic" : "reflecting");
    fprintf(out, "noise        %.3g of the range, %s\n", j->info.noise,
            j->info.noise_estimated ? "estimated" : "given");
}

static void print_run(const job *j, FILE *out)
{
    const mgv_deblur_info *i = &j->info;
    const bool reached = i->stop == MGV_STOP_DISCREPANCY;
    fprintf(out, "problem      %s\n", i->formula);
    fprintf(out, "solver       %s: %" PRId64 " iterations in %.3g s, %s\n", i->solver,
            i->iterations, i->seconds,
            reached ? "stopped at the noise level" : mgv_stop_name(i->stop));
    fprintf(out, "residual     %.5g, goal %.5g\n", i->residual, i->target);
    if (isfinite(i->psnr))
        fprintf(out,
                "PSNR         %.2f dB, before %.2f dB; the best iterate has %.2f dB (%" PRId64
                ")\n",
                i->psnr, i->psnr_image, i->best_psnr, i->best_iteration);
    fprintf(out, "output       %s\n",
            strcmp(j->output, "-") == 0 ? "on standard output" : j->output);
    const bool stalled = i->stop == MGV_STOP_STALLED;
    if (!reached && (stalled || !cli_print_resume(j->c, out, i->unsaved)))
        fputs("next         a larger --max-iter or --time-limit, or a larger --noise\n", out);
}

static int print_results(job *j)
{
    char *json;
    if (j->c->json) {
        const mgv_status st =
            mgv_report_deblur(j->c->ctx, j->deblur, j->file, psf_name(j), j->output, &json);
        if (st != MGV_OK)
            return cli_fail(j->c, st);
        puts(json);
        mgv_string_free(j->c->ctx, json);
        return CLI_GO_ON;
    }
    FILE *out = strcmp(j->output, "-") == 0 ? stderr : stdout;
    if (out == stderr && j->c->terminal.verbosity == CLI_QUIET)
        return CLI_GO_ON;
    print_image(j, out);
    print_run(j, out);
    return CLI_GO_ON;
}

static int work(job *j)
{
    int code = open_outputs(j);
    if (code != CLI_GO_ON)
        return code;
    cli_signals_catch(j->c->ctx);
    if ((code = read_inputs(j)) != CLI_GO_ON || (code = restore(j)) != CLI_GO_ON ||
        (code = print_results(j)) != CLI_GO_ON)
        return code;
    const bool done = j->info.stop == MGV_STOP_DISCREPANCY || j->info.stop == MGV_STOP_STALLED;
    return cli_unsaved(j->c, j->info.unsaved, "image", done ? CLI_DONE : CLI_STOPPED);
}

int cli_deblur(cli *c, int argc, char **argv)
{
    job j = {.c = c, .info = {.size = sizeof j.info}};
    const cli_option options[] = {
        {"psf", 0, "FILE",
         "point spread function: PNG or PGM, or a table (npy, csv); scaled to sum 1", NULL,
         &j.psf_file},
        {"psf-sigma", 0, "WIDTH", "in its place a Gaussian of this width, in pixels", NULL,
         &j.psf_width},
        {"output", 'o', "FILE",
         "the restored image, .png, .pgm or .ppm; - is stdout "
         "(IMAGE-deblurred, in this directory)",
         NULL, &j.output},
        {"truth", 0, "FILE", "the sharp image, to print the PSNR beside it", NULL, &j.truth_file},
        {"trace", 0, "FILE", "CSV with a row per iteration; - is stdout", NULL, &j.trace_file}};
    const cli_usage usage = {
        .arguments = "IMAGE",
        .purpose =
            "Restores a blurred and noisy IMAGE (PNG, PGM, PPM; - is stdin): the least total "
            "variation\nalong the iterations, stopped where the residual reaches the noise.",
        .example = "margrave deblur moon.png --psf-sigma 1.5 -o sharp.png",
        .least = 1,
        .most = 1,
        .settings = "image sigma sigma_factor step_ratio split prox_tol prox_error prox_decay stop "
                    "!tol threads checkpoint every resume",
        .options = options,
        .option_count = sizeof options / sizeof *options};
    int code = cli_parse(c, &usage, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    j.file = c->argument[0];
    code = cli_table_close(c, &j.trace, work(&j));
    mgv_deblur_free(c->ctx, j.deblur);
    mgv_image_free(c->ctx, j.image);
    mgv_image_free(c->ctx, j.psf);
    mgv_image_free(c->ctx, j.truth);
    mgv_image_free(c->ctx, j.restored);
    free(j.default_output);
    return code;
}
