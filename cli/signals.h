/* signals.h - SIGINT, SIGTERM, SIGHUP and SIGPIPE end a run with its best model; a second one of
 * the first three ends the program. */
#ifndef MGV_CLI_SIGNALS_H
#define MGV_CLI_SIGNALS_H

#include <margrave/margrave.h>
#include <stdbool.h>

/* From now on the first signal interrupts the solver running in `ctx`. */
void cli_signals_catch(mgv_ctx *ctx);
/* Whether one has come: the library forgets requests made before a run starts, this does not. */
bool cli_signalled(void);
/* From now on a mapped file that is cut short ends the program with a sentence and exit code 1. */
void cli_signals_watch_files(void);
#endif
