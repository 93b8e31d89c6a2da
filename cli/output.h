/* output.h - names of the files that commands write. */
#ifndef MGV_CLI_OUTPUT_H
#define MGV_CLI_OUTPUT_H

#include "cli.h"

/* "dir/a9a.svm.bz2" -> "a9a.mgm", in the current directory; to be freed. NULL: no memory. */
char *cli_model_name(const char *data);
/* Whether a file of this name could be made: better known before a long run than after it.
 * CLI_GO_ON, or the exit code after a complaint. */
int cli_try_name(cli *c, const char *file);
/* Refuses outputs that would overwrite what the command reads, or each other, through whatever
 * links: `outputs` beside `inputs` and the files that settings name. NULL, "" and "-" stand for
 * none. CLI_GO_ON, or the exit code after a complaint. */
int cli_keep_apart(cli *c, const char *const *outputs, int output_count, const char *const *inputs,
                   int input_count);
/* The same for a command with the settings `checkpoint`, one more output, and `resume`, one more
 * input, which may be one file: it is read before it is written. Tries the checkpoint's name. */
int cli_keep_state_apart(cli *c, const char *const *outputs, int output_count,
                         const char *const *inputs, int input_count);
/* The line `next` of a run that a budget has ended, where it goes on from its checkpoint; false:
 * there is none. */
bool cli_print_resume(cli *c, FILE *out, bool unsaved);
/* The exit code of a command: that its last checkpoint is lost comes before `code`. `saved`: what is
 * there all the same, NULL: nothing. */
int cli_unsaved(cli *c, bool unsaved, const char *saved, int code);

/* ---- files that appear whole or not at all --------------------------------------------------- */
typedef struct cli_output {
    FILE *stream;     /* NULL: none */
    mgv_output *file; /* NULL: the stream is stdout */
    mgv_ctx *ctx;
} cli_output;
/* "-" is stdout. CLI_GO_ON, or the exit code after a complaint. */
int cli_output_open(cli *c, const char *file, cli_output *out);
/* Likewise. `keep` false: nothing appears. Nothing is done where none was opened. */
int cli_output_close(cli *c, cli_output *out, bool keep);

/* Rows as they come, under a head. They can be watched in the temporary file beside it, and stay
 * there if the program is killed; the file itself appears when the run ends, however it ends. A run
 * that is refused leaves the file that was there. */
typedef struct cli_table {
    cli_output out;
    const char *head;
    bool begun;
} cli_table;
/* `file` NULL: none, and all that follows does nothing. */
int cli_table_open(cli *c, const char *file, const char *head, cli_table *table);
/* Where to write a row, its end included, before cli_table_row_ends(); NULL: no table. */
FILE *cli_table_row(cli_table *table);
void cli_table_row_ends(cli_table *table);
/* `code` is how the command is about to end, and is returned unless the table cannot be written. */
int cli_table_close(cli *c, cli_table *table, int code);
#endif
