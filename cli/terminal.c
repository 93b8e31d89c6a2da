/* terminal.c - draws the progress line and prints log lines. */
#include "terminal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

double cli_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void cli_terminal_init(cli_terminal *t)
{
    *t = (cli_terminal){
        .live = isatty(STDERR_FILENO), .verbosity = CLI_NORMAL, .tol = NAN, .first_gap = NAN};
}

void cli_terminal_goal(cli_terminal *t, double tol)
{
    t->tol = tol;
    t->first_gap = NAN;
    t->drawn_at = 0;
}

void cli_terminal_wipe(cli_terminal *t)
{
    if (t->drawn)
        fputs("\r\033[K", stderr);
    t->drawn = false;
}

/* Of the terminal, as wide as it is now. */
static int columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

void cli_terminal_status(cli_terminal *t, const char *format, ...)
{
    if (!t->live || t->verbosity == CLI_QUIET)
        return;
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    cli_terminal_wipe(t);
    fprintf(stderr, "%.*s", columns() - 1, line); /* a line that wraps cannot be wiped */
    t->drawn = true;
}

/* How far the gap has come from where it started to the goal, on a logarithmic scale. */
static double fraction_done(const cli_terminal *t, double gap)
{
    if (!(t->first_gap > t->tol) || !(t->tol > 0) || !(gap > 0))
        return 0;
    const double done = log(t->first_gap / gap) / log(t->first_gap / t->tol);
    return fmin(fmax(done, 0), 1);
}

static void draw_progress(cli_terminal *t, const mgv_event *e)
{
    enum { WIDTH = 24, PER_SECOND = 10 };
    if (isnan(t->first_gap) && e->relative_gap > 0 && isfinite(e->relative_gap))
        t->first_gap = e->relative_gap;
    const double now = cli_seconds();
    if (now - t->drawn_at < 1.0 / PER_SECOND)
        return;
    t->drawn_at = now;
    if (e->kind == MGV_EVENT_PROGRESS && e->text) {
        cli_terminal_status(t, "%s", e->text);
        return;
    }
    if (isnan(e->seconds)) /* a point of a path that was fitted without a run of its own */
        return;
    char bar[WIDTH + 1], gap[32] = "unknown";
    const int full = (int)(WIDTH * fraction_done(t, e->relative_gap));
    for (int i = 0; i < WIDTH; i++)
        bar[i] = i < full ? '#' : '.';
    bar[WIDTH] = 0;
    if (isfinite(e->relative_gap))
        snprintf(gap, sizeof gap, "%.1e", e->relative_gap);
    cli_terminal_status(t, "[%s] gap %s, goal %.0e; iteration %lld, %.0f passes, %.1f s", bar, gap,
                        t->tol, (long long)e->iteration, e->passes, e->seconds);
}

static void print_certificate(cli_terminal *t, const mgv_event *e)
{
    cli_terminal_wipe(t);
    fprintf(stderr, "%8lld iterations %9.1f passes %8.2f s", (long long)e->iteration, e->passes,
            e->seconds);
    if (isfinite(e->primal) && isfinite(e->dual))
        fprintf(stderr, "  primal %.8g  dual %.8g", e->primal, e->dual);
    if (isfinite(e->relative_gap))
        fprintf(stderr, "  gap %.2e", e->relative_gap);
    if (isfinite(e->margin) || isfinite(e->margin_upper))
        fprintf(stderr, "  margin %.6g to %.6g", e->margin, e->margin_upper);
    fputc('\n', stderr);
}

void cli_terminal_event(cli_terminal *t, const mgv_event *e)
{
    if (t->verbosity == CLI_QUIET)
        return;
    if (e->kind == MGV_EVENT_LOG) {
        if (e->level != MGV_WARNING && t->verbosity != CLI_VERBOSE)
            return;
        cli_terminal_wipe(t);
        fprintf(stderr, "%s%s\n", e->level == MGV_WARNING ? "warning: " : "", e->text);
        return;
    }
    if (e->kind == MGV_EVENT_TRACE && t->verbosity == CLI_VERBOSE)
        print_certificate(t, e);
    if (t->live)
        draw_progress(t, e);
}
