/* main.c - `margrave COMMAND`: finds the command, and the few things every command needs. */
#include "options.h"
#include "sheet.h"
#include "signals.h"

#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_command commands[] = {
    {"demo", "the two-minute tour on data made from a seed", cli_demo},
    {"check", "the data doctor: what is in a file, and what `fit` would do", cli_check},
    {"fit", "fit a model and certify it", cli_fit},
    {"path", "a certified model for every strength of the penalty", cli_path},
    {"assess", "the honest error: nested cross-validation of all that `fit` would do", cli_assess},
    {"predict", "labels, scores, distances and metrics from a model", cli_predict},
    {"evaluate", "objective and certificate of a model on given data", cli_evaluate},
    {"show", "what is in a model: problem, certificate, choice, largest weights", cli_show},
    {"complete", "fill in a matrix from some of its entries, by low rank", cli_complete},
    {"deblur", "restore a blurred image by its total variation", cli_deblur},
    {"convert", "data from one file format to another", cli_convert},
    {"generate", "data made from a seed: the synthetic sets of the papers", cli_generate},
    {"reproduce", "figures of the papers, made again on one page", cli_reproduce},
    {"list", "everything registered: losses, solvers, readers, settings, ...", cli_list},
    {"completion", "a script that lets the shell complete commands and options", cli_completion},
    {"man", "the manual page", cli_man}};
enum { COMMANDS = sizeof commands / sizeof *commands };

/* ---- shared by the commands ------------------------------------------------------------------ */

int cli_complain(cli *c, int code, const char *format, ...)
{
    va_list args;
    cli_terminal_wipe(&c->terminal);
    fprintf(stderr, "margrave %s: ", c->command);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return code;
}

int cli_fail(cli *c, mgv_status status)
{
    const bool theirs = status == MGV_E_ARG || status == MGV_E_INPUT || status == MGV_E_UNSUPPORTED;
    const char *sentence = mgv_ctx_error(c->ctx);
    return cli_complain(c, theirs ? CLI_USAGE : CLI_FAILURE, "%s",
                        *sentence ? sentence : mgv_status_name(status));
}

mgv_data *cli_read(cli *c, const char *path, int *code)
{
    mgv_data *data;
    cli_terminal_status(&c->terminal, "reading %s", path);
    cli_count_time(c);
    const mgv_status st = mgv_data_read(c->ctx, path, c->settings, &data);
    cli_terminal_wipe(&c->terminal);
    if (st != MGV_OK)
        *code = cli_fail(c, st);
    return data;
}

cli_text cli_setting(const cli *c, const char *name)
{
    cli_text value = {""};
    mgv_settings_get(c->ctx, c->settings, name, value.text, sizeof value.text);
    return value;
}

void cli_count_time(cli *c)
{
    char text[40];
    if (c->limit == 0)
        c->limit = strtod(cli_setting(c, "time_limit").text, NULL);
    const double left = c->limit - (cli_seconds() - c->started);
    if (!(c->limit < INFINITY))
        return;
    snprintf(text, sizeof text, "%.17g", left > 0 ? left : 0);
    mgv_settings_set(c->ctx, c->settings, "time_limit", text);
}

/* ---- the program ----------------------------------------------------------------------------- */

static void print_help(FILE *out)
{
    fputs("usage: margrave COMMAND [ARGUMENT...] [OPTION...]\n\n" CLI_PURPOSE "\n\ncommands:\n",
          out);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-12s%s\n", commands[i].name, commands[i].summary);
    fputs("\n`margrave COMMAND --help` shows its options and an example.\n"
          "\nexit codes: 0 done, 1 failure, 2 wrong use or bad input, 3 stopped before the\n"
          "certificate (the model is saved), 4 proven to have no solution.\n",
          out);
}

const cli_command *cli_command_at(size_t index)
{
    return index < COMMANDS ? &commands[index] : NULL;
}

const cli_command *cli_command_find(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

int cli_command_unknown(const char *name)
{
    cli_guess guess = {.word = name};
    for (int i = 0; i < COMMANDS; i++)
        cli_guess_offer(&guess, commands[i].name);
    if (guess.best)
        fprintf(stderr, "margrave: there is no command '%.60s'; did you mean '%s'?\n", name,
                guess.best);
    else
        fprintf(stderr, "margrave: there is no command '%.60s'; `margrave help` lists them\n",
                name);
    return CLI_USAGE;
}

static bool knows_simd(const char *name)
{
    bool found = !name || !*name;
    for (size_t i = 0; i < mgv_registry_count(); i++) {
        const mgv_entry e = cli_entry_at(i);
        found = found || (strcmp(e.kind, "simd") == 0 && strcmp(e.name, name) == 0);
    }
    return found;
}

static int cannot_start(mgv_status status)
{
    const char *simd = getenv("MGV_SIMD"), *caches = getenv("MGV_CACHE");
    if (status == MGV_E_ARG || status == MGV_E_UNSUPPORTED) {
        if (!caches || !*caches || !knows_simd(simd))
            fprintf(stderr,
                    "margrave: MGV_SIMD is '%.40s', which this machine or build does not have\n",
                    simd ? simd : "");
        else
            fprintf(stderr, "margrave: MGV_CACHE is '%.40s'; it takes sizes like 32K,512K,4M\n",
                    caches);
        return CLI_USAGE;
    }
    fprintf(stderr, "margrave: cannot start: %s\n", mgv_status_name(status));
    return CLI_FAILURE;
}

static int run(const cli_command *chosen, int argc, char **argv)
{
    cli c = {.command = chosen->name, .started = cli_seconds()};
    cli_terminal_init(&c.terminal);
    mgv_status st = mgv_ctx_new(NULL, &c.ctx);
    if (st != MGV_OK)
        return cannot_start(st);
    st = mgv_settings_new(c.ctx, &c.settings);
    const int code = st == MGV_OK ? chosen->run(&c, argc, argv) : cli_fail(&c, st);
    cli_terminal_wipe(&c.terminal);
    mgv_settings_free(c.ctx, c.settings);
    mgv_ctx_free(c.ctx);
    return code;
}

static int dispatch(int argc, char **argv)
{
    static char help_option[] = "--help";
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--version") == 0) {
        printf("margrave %s\n", mgv_version());
        return CLI_DONE;
    }
    const bool help = !strcmp(name, "help") || !strcmp(name, "--help") || !strcmp(name, "-h");
    if (argc < 2 || (help && argc < 3)) {
        print_help(help ? stdout : stderr);
        return help ? CLI_DONE : CLI_USAGE;
    }
    const cli_command *chosen = cli_command_find(help ? argv[2] : name);
    if (!chosen)
        return cli_command_unknown(help ? argv[2] : name);
    return help ? run(chosen, 1, (char *[]){help_option}) : run(chosen, argc - 2, argv + 2);
}

/* A descriptor 0 to 2 that the caller has closed would be given to the next file that is opened,
 * and what is printed would land in it. In its place one that cannot be used: writing to it fails
 * as it would have failed. */
static void fill_closed_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(CLI_FAILURE); /* there is nowhere to say why */
}

int main(int argc, char **argv)
{
    fill_closed_descriptors();
    cli_signals_watch_files();
    int code = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("margrave: standard output cannot be written\n", stderr);
        code = code == CLI_DONE ? CLI_FAILURE : code;
    }
    return code;
}
