/* convert.c - `margrave convert`: one file format to another. */
#include "options.h"
#include "output.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

typedef struct convert {
    cli *c;
    const char *from, *to; /* formats; NULL: found out */
    mgv_data *data;
} convert;

static mgv_status set_format(convert *v, const char *name)
{
    return mgv_settings_set(v->c->ctx, v->c->settings, "format", name ? name : "auto");
}

static void print_summary(const convert *v, double write_seconds)
{
    const cli *c = v->c;
    const char *out = c->argument[1];
    struct stat file;
    mgv_data_info d = {.size = sizeof d};
    mgv_data_describe(v->data, &d);
    const bool to_stdout = strcmp(out, "-") == 0;
    const int64_t bytes = !to_stdout && stat(out, &file) == 0 ? (int64_t)file.st_size : -1;
    if (c->json) {
        printf("{\"version\": \"%s\", \"command\": \"convert\", \"rows\": %" PRId64
               ", \"cols\": %" PRId64 ", \"nonzeros\": %" PRId64 ", \"bytes\": ",
               mgv_version(), d.rows, d.cols, d.nonzeros);
        if (bytes < 0)
            fputs("null", stdout);
        else
            printf("%" PRId64, bytes);
        printf(", \"read_seconds\": %.6g, \"write_seconds\": %.6g}\n", d.load_seconds,
               write_seconds);
        return;
    }
    if (to_stdout && c->terminal.verbosity == CLI_QUIET)
        return;
    FILE *to = to_stdout ? stderr : stdout;
    fprintf(to, "%s: %" PRId64 " rows, %" PRId64 " features, %" PRId64 " stored entries",
            to_stdout ? "standard output" : out, d.rows, d.cols, d.nonzeros);
    if (bytes >= 0)
        fprintf(to, ", %" PRId64 " bytes", bytes);
    fprintf(to, "; read (%s) in %.2g s, written in %.2g s\n", d.format, d.load_seconds,
            write_seconds);
}

static int on_event(void *user, const mgv_event *event)
{
    cli *c = user;
    cli_terminal_event(&c->terminal, event);
    return 0;
}

static int work(convert *v)
{
    cli *c = v->c;
    const char *out = c->argument[1];
    int code = CLI_GO_ON;
    if (c->json && strcmp(out, "-") == 0)
        return cli_complain(c, CLI_USAGE,
                            "standard output can take one thing only: the data or the "
                            "JSON object");
    if ((code = cli_keep_apart(c, &out, 1, c->argument, 1)) != CLI_GO_ON)
        return code;
    mgv_ctx_on_event(c->ctx, on_event, c);
    mgv_status st = set_format(v, v->from);
    if (st == MGV_OK) {
        v->data = cli_read(c, c->argument[0], &code);
        if (!v->data)
            return code;
        st = set_format(v, v->to);
    }
    const double started = cli_seconds();
    if (st == MGV_OK) {
        cli_terminal_status(&c->terminal, "writing %s", out);
        st = mgv_data_write(c->ctx, v->data, out, c->settings);
        cli_terminal_wipe(&c->terminal);
    }
    if (st != MGV_OK)
        return cli_fail(c, st);
    print_summary(v, cli_seconds() - started);
    return CLI_DONE;
}

int cli_convert(cli *c, int argc, char **argv)
{
    convert v = {.c = c};
    const cli_option options[] = {
        {"from", 0, "READER", "the format of IN, by name (from the content)", NULL, &v.from},
        {"to", 0, "WRITER", "the format of OUT, by name (from the file name)", NULL, &v.to}};
    const cli_usage usage = {
        .arguments = "IN OUT",
        .purpose =
            "Reads IN and writes OUT; - is stdin or stdout. The format of OUT is the one its "
            "name ends in;\nOUT.mgd is a cache that opens at once because it is mapped. "
            "`margrave list` names the formats.",
        .example = "margrave convert a9a.bz2 a9a.mgd",
        .least = 2,
        .most = 2,
        .settings = "data =seed threads !format",
        .options = options,
        .option_count = sizeof options / sizeof *options};
    int code = cli_parse(c, &usage, argc, argv);
    if (code == CLI_GO_ON)
        code = work(&v);
    mgv_data_free(c->ctx, v.data);
    return code;
}
