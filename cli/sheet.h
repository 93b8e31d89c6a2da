/* sheet.h - what a command takes, as a table: help, man page and completions are made from it. */
#ifndef MGV_CLI_SHEET_H
#define MGV_CLI_SHEET_H

#include "options.h"

/* Everything there is to say about a command. Lives for the length of a cli_sheet_fn call. */
typedef struct cli_sheet {
    const char *command;
    const cli_usage *usage;
    const cli_option *options; /* the command's own, usage->option_count of them, then the common */
    size_t count;
} cli_sheet;

/* An option as texts show it. */
typedef struct cli_shown {
    const char *group; /* of a setting; "" for --set; NULL for the other options */
    char letter;       /* short, 0: none */
    char name[64];     /* long, with dashes */
    bool both;         /* --no-NAME goes with it */
    const char *value; /* a word in capitals, or choices between bars; NULL: a switch */
    const char *help;
    const char *fallback; /* the default of a setting; "": none or unset */
} cli_shown;

/* Goes through the options in the order of the help; *at starts at 0. False after the last. */
bool cli_sheet_next(const cli_sheet *sheet, size_t *at, cli_shown *out);

/* Shows the sheet of a command to `fn` without running the command. */
void cli_sheet_show(cli *c, const cli_command *command, cli_sheet_fn fn, void *user);

/* Prints what `margrave COMMAND --help` says. */
void cli_sheet_print_help(const cli_sheet *sheet);

mgv_setting_info cli_setting_at(size_t index);
bool cli_setting_is_switch(const mgv_setting_info *s);
/* Whether a command with this usage takes the setting. */
bool cli_usage_takes(const cli_usage *usage, const mgv_setting_info *s);

/* ---- values ---------------------------------------------------------------------------------- */

/* What may stand where a text says `value`. */
typedef enum cli_expects { CLI_EXPECTS_ANYTHING, CLI_EXPECTS_FILE, CLI_EXPECTS_WORD } cli_expects;
cli_expects cli_value_expects(const char *value);
/* Prints the words that may stand there with blanks between them, `fallback` first unless it is
 * empty or one of them. */
void cli_value_print_words(const char *value, const char *fallback);

/* One of usage->arguments, without its brackets. */
typedef struct cli_placeholder {
    char text[32];
} cli_placeholder;
/* Goes through them; *at starts at usage->arguments. False after the last. */
bool cli_placeholder_next(const char **at, cli_placeholder *out);

/* ---- registered kinds ------------------------------------------------------------------------ */

mgv_entry cli_entry_at(size_t index);
/* The kinds stand together in the registry: whether this entry is the first of its kind. */
bool cli_entry_opens_kind(size_t index);
/* "losses" of "loss". */
typedef struct cli_plural {
    char text[32];
} cli_plural;
cli_plural cli_plural_of(const char *kind);
#endif
