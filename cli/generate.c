/* generate.c - `margrave generate`: a set made from a seed, its test rows and its truth. */
#include "options.h"
#include "output.h"

#include <inttypes.h>
#include <string.h>

typedef struct generate {
    cli *c;
    const char *output, *test_file, *truth_file;
    mgv_data *data, *test, *truth;
} generate;

/* Text and NPY would show entries that nobody has seen as zeros. */
static bool fits(cli *c, const mgv_data_info *shape, const char *file)
{
    static const char *const full[] = {".csv", ".tsv", ".npy"};
    const size_t length = strlen(file);
    bool other = false;
    for (size_t i = 0; i < sizeof full / sizeof *full && shape->layout != MGV_DENSE; i++)
        other = other || (length > 4 && strcmp(file + length - 4, full[i]) == 0);
    if (other)
        cli_complain(c, CLI_USAGE,
                     "%s: the entries that are not seen would be zeros there; write .mtx or .npz",
                     file);
    return !other;
}

static int write_one(generate *g, const mgv_data *data, const char *what, const char *file)
{
    cli *c = g->c;
    mgv_data_info d = {.size = sizeof d};
    mgv_data_describe(data, &d);
    if (!fits(c, &d, file))
        return CLI_USAGE;
    const mgv_status st = mgv_data_write(c->ctx, data, file, c->settings);
    if (st != MGV_OK)
        return cli_fail(c, st);
    if (c->terminal.verbosity == CLI_QUIET || c->json)
        return CLI_GO_ON;
    FILE *to = strcmp(file, "-") == 0 ? stderr : stdout;
    fprintf(to, "%-6s %s: %" PRId64 " rows, %" PRId64 " columns", what,
            strcmp(file, "-") ? file : "standard output", d.rows, d.cols);
    if (d.layout != MGV_DENSE)
        fprintf(to, ", %" PRId64 " entries", d.nonzeros);
    fputc('\n', to);
    return CLI_GO_ON;
}

static void print_json(const generate *g)
{
    mgv_data_info d = {.size = sizeof d};
    mgv_data_describe(g->data, &d);
    printf("{\"version\": \"%s\", \"command\": \"generate\", \"set\": \"%s\", \"rows\": %" PRId64
           ", \"columns\": %" PRId64 ", \"nonzeros\": %" PRId64 ", \"seed\": %s}\n",
           mgv_version(), g->c->argument[0], d.rows, d.cols, d.nonzeros,
           cli_setting(g->c, "seed").text);
}

static int on_event(void *user, const mgv_event *event)
{
    cli *c = user;
    cli_terminal_event(&c->terminal, event);
    return 0;
}

static int work(generate *g)
{
    cli *c = g->c;
    const char *outputs[] = {g->output, g->test_file, g->truth_file};
    int code = cli_keep_apart(c, outputs, 3, NULL, 0);
    if (code != CLI_GO_ON)
        return code;
    if (c->json && strcmp(g->output, "-") == 0)
        return cli_complain(c, CLI_USAGE,
                            "standard output can take one thing only: the data or the JSON object");
    mgv_ctx_on_event(c->ctx, on_event, c);
    cli_terminal_status(&c->terminal, "making %s", c->argument[0]);
    const mgv_status st =
        mgv_data_generate(c->ctx, c->argument[0], c->settings, &g->data,
                          g->test_file ? &g->test : NULL, g->truth_file ? &g->truth : NULL);
    cli_terminal_wipe(&c->terminal);
    if (st != MGV_OK)
        return cli_fail(c, st);
    code = write_one(g, g->data, "data", g->output);
    if (code == CLI_GO_ON && g->test)
        code = write_one(g, g->test, "test", g->test_file);
    if (code == CLI_GO_ON && g->truth)
        code = write_one(g, g->truth, "truth", g->truth_file);
    if (code != CLI_GO_ON)
        return code;
    if (c->json)
        print_json(g);
    return CLI_DONE;
}

int cli_generate(cli *c, int argc, char **argv)
{
    char name[80];
    generate g = {.c = c};
    const cli_option options[] = {
        {"output", 'o', "FILE", "the data, in the format that the name ends in (NAME.csv)", NULL,
         &g.output},
        {"test", 0, "FILE", "rows of the same kind, with labels that are not flipped", NULL,
         &g.test_file},
        {"truth", 0, "FILE", "the weights behind the labels, or the whole matrix", NULL,
         &g.truth_file}};
    const cli_usage usage = {
        .arguments = "NAME",
        .purpose = "Makes a set of data from a seed, the same bits on every machine. `margrave "
                   "list generators`\nshows the sets, docs/data.md their formulas. A set refuses "
                   "numbers that it does not take.",
        .example = "margrave generate toeplitz --rows 1000 --columns 2000 --snr 5 --seed 1 -o "
                   "train.npz --test test.npz --truth truth.npy",
        .least = 1,
        .most = 1,
        .settings = "generate =seed =flip_labels =format =threads",
        .options = options,
        .option_count = sizeof options / sizeof *options};
    int code = cli_parse(c, &usage, argc, argv);
    if (code == CLI_GO_ON && !g.output) {
        const bool sparse = strcmp(c->argument[0], "low_rank") == 0;
        snprintf(name, sizeof name, "%.60s.%s", c->argument[0], sparse ? "mtx" : "csv");
        g.output = name;
    }
    if (code == CLI_GO_ON)
        code = work(&g);
    mgv_data_free(c->ctx, g.data);
    mgv_data_free(c->ctx, g.test);
    mgv_data_free(c->ctx, g.truth);
    return code;
}
