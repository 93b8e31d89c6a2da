/* signals.c - turns signals into requests, and a mapped file cut short into a sentence. */
#include "signals.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static mgv_ctx *running;
static volatile sig_atomic_t came;

static void on_signal(int number)
{
    (void)number;
    came = 1;
    mgv_ctx_interrupt(running);
}

/* `ignorable`: a caller that has it ignored (nohup) means it. */
static void heed(int number, int flags, bool ignorable)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags}, before;
    sigemptyset(&action.sa_mask);
    if (ignorable && sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_IGN)
        return;
    sigaction(number, &action, NULL);
}

void cli_signals_catch(mgv_ctx *ctx)
{
    running = ctx;
    heed(SIGINT, (int)SA_RESETHAND, false);
    heed(SIGTERM, (int)SA_RESETHAND, false);
    heed(SIGHUP, (int)SA_RESETHAND, true);
    heed(SIGPIPE, 0, true); /* every further line would bring it again: the model comes first */
}

bool cli_signalled(void) { return came != 0; }

/* ---- SIGBUS ----------------------------------------------------------------------------------
 * Only what is allowed in a handler: open, read, write, _exit. */

/* Reads a hexadecimal number and what follows it. */
static uintptr_t hexadecimal(const char **at)
{
    uintptr_t n = 0;
    for (;; ++*at) {
        const char c = **at;
        if (c >= '0' && c <= '9')
            n = 16 * n + (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            n = 16 * n + (uintptr_t)(c - 'a' + 10);
        else
            return n;
    }
}

/* Whether the line "FIRST-LAST ... NAME" of /proc/self/maps is of the mapping around `where`. */
static bool is_around(const char *line, uintptr_t where)
{
    const uintptr_t first = hexadecimal(&line);
    line += *line == '-';
    return first <= where && where < hexadecimal(&line);
}

/* The name of the file that is mapped around `where`, in `line`; "": none is known. */
static const char *mapped_name(uintptr_t where, char *line, size_t room)
{
    const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    char c;
    while (maps >= 0 && read(maps, &c, 1) == 1) {
        if (c != '\n' && used < room - 1) {
            line[used++] = c;
            continue;
        }
        line[used] = 0;
        if (c == '\n' && is_around(line, where)) {
            const char *name = strchr(line, '/');
            return name ? name : "";
        }
        used = c == '\n' ? 0 : used;
    }
    return "";
}

static void put(const char *text)
{
    const ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

/* A page of a mapped file is not there any more: somebody has cut it short. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    static char line[8192];
    (void)context;
    const char *name = mapped_name((uintptr_t)info->si_addr, line, sizeof line);
    if (!*name) { /* not a file of ours: die as if there were no handler */
        signal(number, SIG_DFL);
        return;
    }
    put("margrave: ");
    put(name);
    put(" was cut short while it was read; start again with a file that nobody changes\n");
    _exit(1);
}

void cli_signals_watch_files(void)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}
