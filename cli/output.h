/* output.h - names of the files that commands write. */
#ifndef MGV_CLI_OUTPUT_H
#define MGV_CLI_OUTPUT_H

#include "cli.h"

/* "dir/a9a.svm.bz2" -> "a9a.mgm", in the current directory; to be freed. NULL: no memory. */
char *cli_model_name(const char *data);
/* Whether a file of this name could be made: better known before a long run than after it.
 * CLI_GO_ON, or the exit code after a complaint. */
int cli_try_name(cli *c, const char *file);
#endif
