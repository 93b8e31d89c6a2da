/* cli.h - what the commands share. The command line uses the public header and nothing else. */
#ifndef MGV_CLI_CLI_H
#define MGV_CLI_CLI_H

#include <margrave/margrave.h>
#include <stdbool.h>
#include <stdio.h>

#include "terminal.h"

/* Exit codes; a contract with scripts. */
enum {
    CLI_DONE = 0,
    CLI_FAILURE = 1,     /* input/output, memory, our mistakes */
    CLI_USAGE = 2,       /* wrong use or bad input */
    CLI_STOPPED = 3,     /* a budget or a signal came before the certificate; the model is saved */
    CLI_NO_SOLUTION = 4, /* proven: nothing satisfies the constraints */
    CLI_GO_ON = -1       /* of cli_parse(): not an exit code */
};

/* Receives the sheet of a command (sheet.h). */
struct cli_sheet;
typedef void (*cli_sheet_fn)(void *user, const struct cli_sheet *sheet);

typedef struct cli {
    mgv_ctx *ctx;
    mgv_settings *settings;
    cli_terminal terminal;
    const char *command;     /* its name, for messages */
    const char *argument[2]; /* what stands on the command line beside the options */
    int arguments;
    bool json;
    double started; /* of cli_seconds() */
    double limit;   /* `time_limit` as it was given; 0: not asked for yet */
    /* Set: cli_parse() shows the sheet of the command to it, and the command goes no further. */
    cli_sheet_fn on_sheet;
    void *on_sheet_user;
} cli;

/* One function per command: argv holds what follows the command's name. Returns an exit code. */
typedef struct cli_command {
    const char *name, *summary;
    int (*run)(cli *c, int argc, char **argv);
} cli_command;
/* The commands in the order of the help; NULL: past the last. */
const cli_command *cli_command_at(size_t index);
/* NULL: there is none of this name. */
const cli_command *cli_command_find(const char *name);
/* Says so, with the nearest name, and returns the exit code. */
int cli_command_unknown(const char *name);

int cli_fit(cli *c, int argc, char **argv);
int cli_path(cli *c, int argc, char **argv);
int cli_assess(cli *c, int argc, char **argv);
int cli_predict(cli *c, int argc, char **argv);
int cli_show(cli *c, int argc, char **argv);
int cli_complete(cli *c, int argc, char **argv);
int cli_deblur(cli *c, int argc, char **argv);
int cli_check(cli *c, int argc, char **argv);
int cli_convert(cli *c, int argc, char **argv);
int cli_evaluate(cli *c, int argc, char **argv);
int cli_reproduce(cli *c, int argc, char **argv);
int cli_generate(cli *c, int argc, char **argv);
int cli_list(cli *c, int argc, char **argv);
int cli_demo(cli *c, int argc, char **argv);
int cli_completion(cli *c, int argc, char **argv);
int cli_man(cli *c, int argc, char **argv);

/* One line on what margrave is. */
#define CLI_PURPOSE                                                                                \
    "Certified large-margin classifiers: every answer comes with a proof of how good it is."

/* Prints the library's sentence for `status` and returns the exit code that goes with it. */
int cli_fail(cli *c, mgv_status status);
/* Prints "margrave COMMAND: ..." on stderr and returns `code`. */
int cli_complain(cli *c, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Reads DATA under the settings, with a status line on a terminal. On failure the sentence is
 * printed and *code set. */
mgv_data *cli_read(cli *c, const char *path, int *code);

/* The value of a setting as text; shorter than 1024 bytes. */
typedef struct cli_text {
    char text[1024];
} cli_text;
cli_text cli_setting(const cli *c, const char *name);
/* `time_limit` is for the whole command: takes from it what was spent so far. Before every piece of
 * work that it limits. */
void cli_count_time(cli *c);
#endif
