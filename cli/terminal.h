/* terminal.h - progress and log lines on stderr. Results never pass here. */
#ifndef MGV_CLI_TERMINAL_H
#define MGV_CLI_TERMINAL_H

#include <margrave/margrave.h>
#include <stdbool.h>

typedef enum cli_verbosity { CLI_QUIET, CLI_NORMAL, CLI_VERBOSE } cli_verbosity;

typedef struct cli_terminal {
    bool live; /* stderr is a terminal: one line may be drawn over and over */
    cli_verbosity verbosity;
    bool drawn;       /* a line stands there that must be wiped before other text */
    double drawn_at;  /* seconds */
    double tol;       /* the relative gap that fills the bar */
    double first_gap; /* the relative gap that leaves it empty; NaN: not known yet */
} cli_terminal;

void cli_terminal_init(cli_terminal *t);
/* Before a run: the goal of the progress bar. */
void cli_terminal_goal(cli_terminal *t, double tol);
/* A passing remark such as "reading FILE", drawn on terminals only and wiped by what follows. */
void cli_terminal_status(cli_terminal *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void cli_terminal_wipe(cli_terminal *t);
/* Shows an event: log lines, certificates when verbose, and the progress line. */
void cli_terminal_event(cli_terminal *t, const mgv_event *event);
double cli_seconds(void); /* a clock that never goes back */
#endif
