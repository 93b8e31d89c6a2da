/* signals.c - turns signals into requests. */
#include "signals.h"

#include <signal.h>
#include <stddef.h>

static mgv_ctx *running;
static volatile sig_atomic_t came;

static void on_signal(int number)
{
    (void)number;
    came = 1;
    mgv_ctx_interrupt(running);
}

void cli_signals_catch(mgv_ctx *ctx)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    running = ctx;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool cli_signalled(void) { return came != 0; }
