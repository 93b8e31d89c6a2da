/* options.h - the options of a command: its own, those all commands have, and the settings table.
 */
#ifndef MGV_CLI_OPTIONS_H
#define MGV_CLI_OPTIONS_H

#include "cli.h"

typedef struct cli_option {
    const char *name;  /* long, without its dashes */
    char letter;       /* short, 0: none */
    const char *value; /* what the help calls the value; NULL: a switch */
    const char *help;
    bool *flag;        /* of a switch */
    const char **text; /* of an option with a value */
} cli_option;

#define CLI_EVERY_SETTING "*"

typedef struct cli_usage {
    const char *arguments; /* as the help shows them */
    const char *purpose, *example;
    int least, most; /* how many arguments there must be */
    /* Words: groups and names of the settings it takes, !NAME leaves one out, =NAME is never a
     * group; or CLI_EVERY_SETTING. */
    const char *settings;
    const cli_option *options;
    size_t option_count;
} cli_usage;

/* Fills the targets, the settings and c->argument, and applies `threads` and `backend`.
 * CLI_GO_ON, or the exit code after a complaint or --help. */
int cli_parse(cli *c, const cli_usage *usage, int argc, char **argv);

/* Finds the name nearest to a misspelt word; dashes and underscores are the same. */
typedef struct cli_guess {
    const char *word;
    const char *best; /* NULL: nothing is near */
    size_t distance;
} cli_guess;
void cli_guess_offer(cli_guess *guess, const char *name);
#endif
