/* sweep.c - random problems, each fitted by the library and judged without it.
 *   sweep [COUNT] [SEED]         problems SEED, SEED + 1, ...; a table at the end
 *   sweep --only SEED [-v]       one of them, with its data written out and the command to see it
 * Options: --jobs N, --where TEXT (only problems whose title has it, as in "rbf"), --prefix PATH
 * (of files written), --quiet. Exit 1: something was found. */
#include "torture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { JOBS = 64, PATIENCE = 20 /* seconds of one problem */ };

typedef struct tally {
    long count[VERDICTS][OFFSETS][2]; /* 2: whether it is sane */
    long kind[VERDICTS][FORMS][2];    /* 2: whether it has a kernel */
} tally;

/* Shared with the process that works: what it is at, since when. */
typedef struct desk {
    volatile uint64_t seed;
    volatile double since;
    tally tally;
} desk;

typedef struct worker {
    pid_t pid;
    uint64_t first, end;
    desk *desk;
    bool done;
} worker;

static int talk = 1;
static const char *where = "";
static torture_case now;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void count(desk *d, const torture_case *c, verdict v)
{
    d->tally.count[v][c->offset_class][c->sane]++;
    d->tally.kind[v][c->form][c->kernel != LINEAR]++;
}

static desk *own_desk;
static void beat(void) { own_desk->since = seconds(); }

static void work(worker *w)
{
    char title[300];
    own_desk = w->desk;
    library_begins = beat;
    for (uint64_t seed = w->first; seed < w->end; seed++) {
        w->desk->since = seconds();
        w->desk->seed = seed;
        case_make(seed, &now);
        case_title(&now, title, sizeof title);
        if (!strstr(title, where))
            continue;
        count(w->desk, &now, judge_case(&now, talk));
        fflush(stdout);
    }
    _exit(0);
}

static void start(worker *w)
{
    fflush(stdout);
    w->desk->since = seconds();
    w->desk->seed = w->first;
    w->pid = fork();
    if (w->pid == 0)
        work(w);
    if (w->pid < 0) {
        perror("fork");
        exit(2);
    }
}

/* The problem the worker was at is lost; the next process goes on behind it. */
static void lose(worker *w, verdict v)
{
    char title[300];
    case_make(w->desk->seed, &now);
    case_title(&now, title, sizeof title);
    count(w->desk, &now, v);
    printf("%s: seed %llu [%s]\n", verdict_names[v], (unsigned long long)now.seed, title);
    w->first = w->desk->seed + 1;
    w->done = w->first >= w->end;
    if (!w->done)
        start(w);
}

static void watch(worker *w)
{
    int status;
    const pid_t got = waitpid(w->pid, &status, WNOHANG);
    if (got == w->pid && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        w->done = true;
    } else if (got == w->pid) {
        lose(w, CRASH);
    } else if (seconds() - w->desk->since > PATIENCE) {
        kill(w->pid, SIGKILL);
        waitpid(w->pid, &status, 0);
        lose(w, HANG);
    }
}

static void print_table(const tally *t, double took, long total)
{
    printf("\n%ld problems in %.0f s\n%-18s", total, took, "offset/spread");
    for (int k = 0; k < OFFSETS; k++)
        printf(" %9s", offset_names[k]);
    printf("      wild      all\n");
    for (int v = 0; v < VERDICTS; v++) {
        long wild = 0, all = 0;
        printf("%-18s", verdict_names[v]);
        for (int k = 0; k < OFFSETS; k++) {
            printf(" %9ld", t->count[v][k][1]);
            wild += t->count[v][k][0];
            all += t->count[v][k][0] + t->count[v][k][1];
        }
        printf(" %9ld %8ld\n", wild, all);
    }
    printf("\n%-18s", "form");
    for (int f = 0; f < FORMS; f++)
        printf(" %12s", form_names[f]);
    printf("   (linear/kernel)\n");
    for (int v = 0; v < VERDICTS; v++) {
        printf("%-18s", verdict_names[v]);
        for (int f = 0; f < FORMS; f++)
            printf(" %6ld/%5ld", t->kind[v][f][0], t->kind[v][f][1]);
        printf("\n");
    }
}

static bool is_fault(verdict v) { return v == OPEN || v >= FALSE_PROVEN; }

/* False statements anywhere; "not verified" where nothing stood against it. */
static long faults(const tally *t)
{
    long sum = 0;
    for (int k = 0; k < OFFSETS; k++)
        for (int v = 0; v < VERDICTS; v++)
            sum += is_fault((verdict)v) ? t->count[v][k][0] + t->count[v][k][1] : 0;
    return sum;
}

static int sweep(long total, uint64_t seed, int jobs)
{
    worker w[JOBS];
    tally sum = {0};
    int busy = jobs;
    const double from = seconds();
    for (int k = 0; k < jobs; k++) {
        w[k] = (worker){.first = seed + (uint64_t)(total * k / jobs),
                        .end = seed + (uint64_t)(total * (k + 1) / jobs)};
        w[k].desk =
            mmap(NULL, sizeof(desk), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (w[k].desk == MAP_FAILED) {
            perror("mmap");
            return 2;
        }
        start(&w[k]);
    }
    while (busy > 0) {
        usleep(20000);
        busy = 0;
        for (int k = 0; k < jobs; k++) {
            if (!w[k].done)
                watch(&w[k]);
            busy += !w[k].done;
        }
    }
    for (int k = 0; k < jobs; k++)
        for (size_t i = 0; i < sizeof sum / sizeof(long); i++)
            ((long *)&sum)[i] += ((long *)&w[k].desk->tally)[i];
    print_table(&sum, seconds() - from, total);
    const long found = faults(&sum);
    printf("\n%ld found\n", found);
    return found > 0;
}

static int only(uint64_t seed, const char *prefix)
{
    char title[300];
    case_make(seed, &now);
    case_title(&now, title, sizeof title);
    printf("seed %llu: %s\n", (unsigned long long)seed, title);
    const verdict v = judge_case(&now, talk);
    case_show(&now, prefix);
    printf("%s\n", verdict_names[v]);
    return is_fault(v);
}

int main(int argc, char **argv)
{
    const char *prefix = "torture-", *single = NULL;
    long numbers[2] = {1000, 1};
    int jobs = 2, given = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            single = argv[++i];
        else if (strcmp(argv[i], "--prefix") == 0 && i + 1 < argc)
            prefix = argv[++i];
        else if (strcmp(argv[i], "--where") == 0 && i + 1 < argc)
            where = argv[++i];
        else if (strcmp(argv[i], "--jobs") == 0 && i + 1 < argc)
            jobs = atoi(argv[++i]);
        else if (strcmp(argv[i], "-v") == 0)
            talk = 2;
        else if (strcmp(argv[i], "--quiet") == 0)
            talk = 0;
        else if (argv[i][0] != '-' && given < 2)
            numbers[given++] = atol(argv[i]);
        else {
            fprintf(stderr,
                    "sweep: '%s' is not known; sweep [COUNT] [SEED], sweep --only SEED -v\n",
                    argv[i]);
            return 2;
        }
    }
    jobs = jobs < 1 ? 1 : jobs > JOBS ? JOBS : jobs;
    if (single)
        return only(strtoull(single, NULL, 10), prefix);
    return sweep(numbers[0], (uint64_t)numbers[1], jobs);
}
