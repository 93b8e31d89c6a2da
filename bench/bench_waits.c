/* bench_waits.c - how long the library works without a look at its limits, and where.
 *   bench_waits [-t SECONDS] [-o "name=value ..."] FILE...
 *
 * Every FILE is read and fitted in many ways, SECONDS each at most (default 4): with every loss
 * that suits its labels, by every solver that takes it, with selections and a path; -o: in this way
 * alone. A second thread watches the last look; where it lies more than WAIT seconds back it asks
 * the first one where it is. Printed per fit: the longest wait and by how much the limit was
 * exceeded (the lesser of wall clock and processor time, so that a busy machine is not blamed on
 * us), and for waits beyond WAIT, and for what goes on LATE after the limit, the functions that
 * were at work, as addresses for waits.sh. */
#include "base/clock.h"
#include "base/limit.h"
#include "data/data.h"
#include "solver/driver.h"
#include "timing.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static const double WAIT = 0.1, LATE = 0.2; /* s: what is worth a word */
enum { DEPTH = 24, NAME = 160 };

static mgv_ctx *ctx;
static double allowed = 4;
static double most_wait, most_over; /* of the present file */

/* ---- the watcher ----------------------------------------------------------------------------- */

static struct {
    pthread_t caller;
    atomic_bool on, ending;
    _Atomic double longest; /* of the present fit */
    double deadline;        /* of the clock, */
    _Atomic double spent;   /* and processor time then */
    void *stack[DEPTH];     /* where the caller was in it */
    atomic_int depth;
    void *worst[DEPTH], *late[DEPTH]; /* the longest wait; what went on after the limit */
    int worst_depth, late_depth;
} watch;

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void where(int number)
{
    (void)number;
    atomic_store(&watch.depth, backtrace(watch.stack, DEPTH));
}

static void note(double wait)
{
    if (wait <= atomic_load(&watch.longest))
        return;
    atomic_store(&watch.longest, wait);
    if (wait > WAIT && atomic_load(&watch.depth) > 0) {
        watch.worst_depth = atomic_load(&watch.depth);
        memcpy(watch.worst, watch.stack, sizeof watch.worst);
    }
}

/* Where the caller is now. */
static void ask_late(void)
{
    static const struct timespec moment = {0, 1000000};
    atomic_store(&watch.depth, 0);
    pthread_kill(watch.caller, SIGUSR1);
    for (int k = 0; k < 100 && atomic_load(&watch.depth) == 0; k++)
        nanosleep(&moment, NULL);
    watch.late_depth = atomic_load(&watch.depth);
    memcpy(watch.late, watch.stack, sizeof watch.late);
}

static void *watcher(void *arg)
{
    static const struct timespec nap = {0, 2000000};
    double seen = 0, wall = 0, work = 0, last = 0;
    bool asked = false;
    (void)arg;
    for (; !atomic_load(&watch.ending); nanosleep(&nap, NULL)) {
        if (atomic_load(&watch.on) && watch.late_depth == 0 &&
            mgvi_clock_seconds() > watch.deadline + LATE)
            ask_late();
        const double looked = atomic_load(&ctx->own_limit.looked);
        const double now = mgvi_clock_seconds(), spent = processor_seconds();
        if (now >= watch.deadline && atomic_load(&watch.spent) < 0)
            atomic_store(&watch.spent, spent);
        if (!atomic_load(&watch.on) || looked != seen) {
            if (atomic_load(&watch.on))
                note(last);
            seen = looked;
            wall = now;
            work = spent;
            last = 0;
            asked = false;
            atomic_store(&watch.depth, 0);
            continue;
        }
        last = fmin(now - wall, spent - work);
        if (last > WAIT && !asked)
            pthread_kill(watch.caller, SIGUSR1);
        asked = last > WAIT;
    }
    return NULL;
}

static void watch_begin(void)
{
    atomic_store(&ctx->own_limit.looked, mgvi_clock_seconds());
    atomic_store(&watch.longest, 0);
    watch.worst_depth = watch.late_depth = 0;
    watch.deadline = mgvi_clock_seconds() + allowed;
    atomic_store(&watch.spent, -1);
    atomic_store(&watch.on, true);
}

static void watch_end(void)
{
    static const struct timespec moment = {0, 10000000};
    atomic_store(&ctx->own_limit.looked, mgvi_clock_seconds());
    nanosleep(&moment, NULL);
    atomic_store(&watch.on, false);
}

/* Function names are found by waits.sh, which has the program's symbols. */
static void print_stack(void *const *stack, int depth)
{
    enum { OF_THE_SIGNAL = 2 };
    Dl_info info;
    printf("    at");
    for (int k = OF_THE_SIGNAL; k < depth; k++)
        if (dladdr(stack[k], &info) && info.dli_fname)
            printf(" %s+%#lx",
                   strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') + 1 : info.dli_fname,
                   (unsigned long)((char *)stack[k] - (char *)info.dli_fbase));
    putchar('\n');
}

static void report(const char *file, const char *what, double over, const char *how)
{
    const double longest = atomic_load(&watch.longest);
    printf("%6.3f s  %6.3f s over  %s: %s %s\n", longest, over, file, what, how);
    if (longest > WAIT)
        print_stack(watch.worst, watch.worst_depth);
    if (over > LATE)
        print_stack(watch.late, watch.late_depth);
    fflush(stdout);
    most_wait = fmax(most_wait, longest);
    most_over = fmax(most_over, over); /* NAN: no limit */
}

/* Rows of the results: the longest wait, and by how much a limit was exceeded. */
static void summarise(const char *file)
{
    bench_row_add((bench_row){
        .work = file, .goal = "longest wait", .ours = most_wait, .bar = WAIT, .on = BENCH_MOST});
    bench_row_add((bench_row){
        .work = file, .goal = "over its limit", .ours = most_over, .bar = LATE, .on = BENCH_MOST});
    most_wait = most_over = 0;
}

/* ---- fits ------------------------------------------------------------------------------------ */

static mgv_settings *settings_of(const char *options)
{
    mgv_settings *s = bench_settings(ctx, options);
    s->time_limit = allowed;
    return s;
}

/* false: no such fit. */
static bool run_single(mgv_data *data, mgv_settings *s, const char **how)
{
    mgv_problem *problem = NULL;
    mgv_solver *solver = NULL;
    mgv_model *model = NULL;
    mgv_run_info run = {.size = sizeof run};
    bool there = mgv_problem_new(ctx, data, s, &problem) == MGV_OK;
    s->time_limit = fmax(watch.deadline - mgvi_clock_seconds(), 0); /* as the command does */
    there = there && mgv_solver_new(ctx, problem, s, &solver) == MGV_OK &&
            mgv_solver_run(ctx, solver) == MGV_OK;
    if (there) {
        mgv_solver_describe(solver, &run, NULL);
        *how = mgv_stop_name(run.stop);
        if (run.stop != MGV_STOP_INFEASIBLE)
            there = mgv_model_new(ctx, solver, &model) == MGV_OK;
    }
    mgv_model_free(ctx, model);
    mgv_solver_free(ctx, solver);
    mgv_problem_free(ctx, problem);
    return there;
}

static bool run_selection(mgv_data *data, const mgv_settings *s, const char **how)
{
    mgv_selection *selection;
    mgv_run_info run = {.size = sizeof run};
    if (mgv_selection_run(ctx, data, s, &selection) != MGV_OK)
        return false;
    mgv_solver_describe(mgv_selection_solver(selection), &run, NULL);
    *how = mgv_stop_name(run.stop);
    mgv_selection_free(ctx, selection);
    return true;
}

static bool run_path(mgv_data *data, const mgv_settings *s, const char **how)
{
    mgv_path *path;
    const mgv_solver *solver;
    if (mgv_path_new(ctx, data, s, &path) != MGV_OK)
        return false;
    bool there;
    do
        there = mgv_path_next(ctx, path, &solver) == MGV_OK;
    while (there && solver && solver->stop == MGV_STOP_CERTIFIED);
    *how = "path";
    mgv_path_free(ctx, path);
    return there;
}

static void fit(const char *file, mgv_data *data, const char *options)
{
    mgv_settings *s = settings_of(options);
    const char *how = "";
    const bool chosen = strstr(options, "select=") != NULL;
    watch_begin();
    const bool there = chosen                            ? run_selection(data, s, &how)
                       : strstr(options, "path_points=") ? run_path(data, s, &how)
                                                         : run_single(data, s, &how);
    const double wall = mgvi_clock_seconds() - watch.deadline, then = atomic_load(&watch.spent);
    const double over = then < 0 ? wall : fmin(wall, processor_seconds() - then);
    watch_end();
    if (there)
        report(file, options, over, how);
    else if (getenv("WAITS_FAILURES"))
        printf("  %s: %s: %s\n", file, options, mgv_ctx_error(ctx));
    mgv_settings_free(ctx, s);
}

/* ---- what is fitted -------------------------------------------------------------------------- */

static const char *const of_two[] = {"loss=hinge C=1",
                                     "loss=hinge penalty=l1 C=1",
                                     "loss=logistic C=1",
                                     "loss=logistic penalty=l1 C=1",
                                     "loss=squared_hinge C=1",
                                     "loss=margin",
                                     "loss=hinge kernel=rbf C=1",
                                     "loss=margin kernel=rbf",
                                     NULL};
static const char *const of_many[] = {"loss=hinge C=1 multiclass=ovr",
                                      "loss=hinge C=1 multiclass=ovo",
                                      "loss=softmax C=1",
                                      "loss=crammer_singer C=1",
                                      "loss=margin multiclass=joint",
                                      "loss=hinge kernel=rbf C=1",
                                      NULL};
static const char *const of_numbers[] = {"loss=squared C=1",
                                         "loss=squared penalty=l1 C=1",
                                         "loss=absolute C=1",
                                         "loss=huber C=1",
                                         "loss=equal penalty=l1",
                                         "loss=squared kernel=rbf C=1",
                                         NULL};
static const char *const chosen_two[] = {"loss=hinge select=cv:5",
                                         "loss=hinge select=cv:5 C=1",
                                         "loss=logistic penalty=l1 select=cv:5",
                                         "loss=hinge kernel=rbf select=cv:5 C=1",
                                         "loss=hinge kernel=rbf select=cv:5",
                                         "loss=hinge path_points=20",
                                         "loss=logistic penalty=l1 path_points=20",
                                         NULL};
static const char *const chosen_many[] = {"loss=hinge select=cv:5", "loss=softmax select=cv:5 C=1",
                                          "select=holdout:0.2", "loss=hinge path_points=20", NULL};
static const char *const chosen_numbers[] = {"select=cv:5", "penalty=l1 select=cv:5",
                                             "penalty=l1 path_points=20", NULL};

static void fit_all(const char *file, mgv_data *data)
{
    char options[NAME];
    const bool numbers = data->classes == 0;
    const char *const *losses = numbers ? of_numbers : data->classes == 2 ? of_two : of_many;
    const char *const *choices = numbers              ? chosen_numbers
                                 : data->classes == 2 ? chosen_two
                                                      : chosen_many;
    for (; *losses; losses++) {
        fit(file, data, *losses);
        for (int k = 0; k < mgvi_solver_count(); k++) {
            snprintf(options, sizeof options, "%s solver=%s", *losses, mgvi_solver_at(k)->name);
            fit(file, data, options);
        }
    }
    for (; *choices; choices++)
        fit(file, data, *choices);
}

static mgv_data *read_file(const char *file)
{
    mgv_settings *s = settings_of("");
    mgv_data *data = NULL;
    s->time_limit = INFINITY;
    watch_begin();
    const mgv_status st = mgv_data_read(ctx, file, s, &data);
    watch_end();
    if (st == MGV_OK)
        report(strrchr(file, '/') ? strrchr(file, '/') + 1 : file, "reading", NAN, "");
    else
        fprintf(stderr, "bench_waits: %s\n", mgv_ctx_error(ctx));
    mgv_settings_free(ctx, s);
    return data;
}

int main(int argc, char **argv)
{
    const char *options = NULL;
    pthread_t thread;
    void *first[1];
    int c;
    while ((c = getopt(argc, argv, "t:o:")) != -1)
        if (c == 't')
            allowed = strtod(optarg, NULL);
        else if (c == 'o')
            options = optarg;
        else
            return 2;
    if (mgv_ctx_new(NULL, &ctx) != MGV_OK)
        return 1;
    backtrace(first, 1); /* loads what it needs, which a handler must not */
    watch.caller = pthread_self();
    struct sigaction action = {.sa_handler = where, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    if (pthread_create(&thread, NULL, watcher, NULL) != 0)
        return 1;
    for (; optind < argc; optind++) {
        const char *name = strrchr(argv[optind], '/');
        mgv_data *data = read_file(argv[optind]);
        if (data && options)
            fit(name ? name + 1 : argv[optind], data, options);
        else if (data)
            fit_all(name ? name + 1 : argv[optind], data);
        if (data)
            summarise(name ? name + 1 : argv[optind]);
        mgv_data_free(ctx, data);
    }
    atomic_store(&watch.ending, true);
    pthread_join(thread, NULL);
    mgv_ctx_free(ctx);
    return 0;
}
