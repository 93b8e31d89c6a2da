/* signals.h - SIGINT and SIGTERM end a run with its best model; a second one ends the program. */
#ifndef MGV_CLI_SIGNALS_H
#define MGV_CLI_SIGNALS_H

#include <margrave/margrave.h>
#include <stdbool.h>

/* From now on the first signal interrupts the solver running in `ctx`. */
void cli_signals_catch(mgv_ctx *ctx);
/* Whether one has come: the library forgets requests made before a run starts, this does not. */
bool cli_signalled(void);
#endif
