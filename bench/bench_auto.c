/* bench_auto.c - does `auto` certify problems that nobody tuned on, and how much does its choice
 * cost?
 *   bench_auto [-n COUNT] [-s SEED] [-f FIRST] [-l SECONDS] [-t THREADS] [-qv]
 *       COUNT drawn problems (auto_problems.h), each fitted by `auto` and by every solver that
 *       takes it (-q: and that `auto` might take). The regret of `auto` is its time over the best
 * solver's, a millisecond added to both. A solver that has not ended when `auto` had cannot be
 * better and is stopped; -a: no other solver runs, for a look at what is certified. -w FILE.mgd: write problem FIRST and print how the command fits it.
 *   bench_auto -e [...]
 *       the drawn problems without the races: every solver to its end, and its seconds beside the
 * cost it states, by which `auto` chooses. A line each, and at the end what 1e9 of it take.
 *   bench_auto -d FOLDER [-k WORDS] [-l SECONDS] [-t THREADS] [FILE...]
 *       every set of FOLDER with the grid of settings below, raw and standardised, by `auto`
 *       alone; SECONDS (20) at most, three times that above ten million stored entries.
 * -k WORDS: only problems, or settings, that contain them.
 * -o OPTIONS: in place of drawn ones, as `loss=squared_hinge`; C from 2^-10 to 2^15, any scaling.
 * Every fit is a process of its own: one that crashes or cannot be stopped is a finding, not the
 * end. Seconds are wall clock or, where -c is given, processor time, limits too: for busy machines,
 * with -t 1. */
#include "auto_problems.h"
#include "timing.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static mgv_ctx *ctx;
static int threads; /* 0: all */
static double limit = 20;
static bool by_processor, talkative, quick, costs, alone;
static const char *words = ""; /* only problems whose text contains them */
static const char *asked;      /* options in place of drawn ones */

typedef enum ending { CERTIFIED, PROVEN, OTHER, REFUSED, FAILED, CRASHED, ENDLESS } ending;
static const char *const endings[] = {"certified", "proven",  "not certified", "refused",
                                      "failed",    "CRASHED", "NOT STOPPED"};

typedef struct outcome {
    ending how;
    double seconds, gap, cost; /* what the solver thought it would cost */
    char solver[40], stop[24], words[200];
} outcome;

static bool is_answer(const outcome *o) { return o->how == CERTIFIED || o->how == PROVEN; }

/* ---- one fit, in a process of its own -------------------------------------------------------- */

static double now_seconds(void)
{
    struct timespec t;
    if (!by_processor)
        return mgvi_clock_seconds();
    /* under a timer the processes' clock moves in ticks of some milliseconds, a thread's does not
     */
    clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fit_once(mgv_data *data, mgv_settings *s, outcome *o)
{
    mgv_problem *problem = NULL;
    mgv_solver *solver = NULL;
    mgv_certificate c = {.size = sizeof c};
    mgv_run_info info = {.size = sizeof info};
    const double start = now_seconds();
    mgv_status st = mgv_problem_new(ctx, data, s, &problem);
    if (st == MGV_OK)
        st = mgv_solver_new(ctx, problem, s, &solver);
    const bool made = st == MGV_OK;
    const mgvi_solver_ops *ops = mgvi_solver_find(s->solver);
    o->cost = made && ops && ops->cost ? ops->cost(problem, s) : NAN;
    if (made)
        st = mgv_solver_run(ctx, solver);
    o->seconds = now_seconds() - start;
    if (st != MGV_OK) {
        o->how = made ? FAILED : REFUSED;
        snprintf(o->words, sizeof o->words, "%s", mgv_ctx_error(ctx));
    } else {
        mgv_solver_describe(solver, &info, &c);
        o->gap = c.relative_gap;
        o->how = info.stop == MGV_STOP_CERTIFIED    ? CERTIFIED
                 : info.stop == MGV_STOP_INFEASIBLE ? PROVEN
                                                    : OTHER;
        snprintf(o->solver, sizeof o->solver, "%s", info.solver);
        snprintf(o->stop, sizeof o->stop, "%s", mgv_stop_name(info.stop));
    }
    mgv_solver_free(ctx, solver);
    mgv_problem_free(ctx, problem);
}

/* The fastest of up to 5 that take together a tenth of a second. */
static outcome fit_repeated(mgv_data *data, mgv_settings *s)
{
    enum { MOST = 5 };
    outcome best = {.seconds = INFINITY};
    double sum = 0;
    for (int r = 0; r < MOST && sum < 0.1; r++) {
        outcome o = {0};
        fit_once(data, s, &o);
        sum += o.seconds;
        if (!is_answer(&o)) /* the limit is for all of them: it may cut a later one */
            return r > 0 ? best : o;
        if (o.seconds < best.seconds)
            best = o;
    }
    return best;
}

static void enough(int number)
{
    (void)number;
    mgv_ctx_interrupt(ctx);
}

static void limit_processor(double allowed)
{
    const struct itimerval once = {
        .it_value = {.tv_sec = (time_t)allowed, .tv_usec = (suseconds_t)(1e6 * fmod(allowed, 1))}};
    signal(SIGPROF, enough);
    setitimer(ITIMER_PROF, &once, NULL);
}

/* A solver by name may ask for a matrix of any size; nobody else on the machine is to suffer. */
static void limit_memory(void)
{
    static const rlim_t MOST = (rlim_t)8 << 30;
    setrlimit(RLIMIT_AS, &(struct rlimit){.rlim_cur = MOST, .rlim_max = MOST});
}

static void child(mgv_data *data, const char *options, double allowed, int to)
{
    limit_memory();
    mgv_settings *s = bench_settings(ctx, options);
    mgv_ctx_set_threads(ctx, threads);
    if (by_processor)
        limit_processor(allowed);
    else
        s->time_limit = allowed;
    const outcome o = fit_repeated(data, s);
    _exit(write(to, &o, sizeof o) == sizeof o ? 0 : 1);
}

static outcome fit(mgv_data *data, const char *options, double allowed)
{
    outcome o = {.how = CRASHED};
    int ends[2], status;
    fflush(stdout);
    if (pipe(ends) != 0)
        exit(1);
    const pid_t pid = fork();
    if (pid < 0)
        exit(1);
    if (pid == 0)
        child(data, options, allowed, ends[1]);
    close(ends[1]);
    struct pollfd wait = {.fd = ends[0], .events = POLLIN};
    const double start = mgvi_clock_seconds();
    if (poll(&wait, 1, (int)(1000 * ((by_processor ? 200 : 4) * allowed + 5))) == 0) {
        kill(pid, SIGKILL);
        o = (outcome){.how = ENDLESS, .seconds = mgvi_clock_seconds() - start};
    } else if (read(ends[0], &o, sizeof o) != sizeof o) {
        o = (outcome){.how = CRASHED};
    }
    close(ends[0]);
    waitpid(pid, &status, 0);
    return o;
}

static void print_outcome(const char *head, const char *what, const outcome *o)
{
    printf("%s%-13s %9.4f s  gap %8.1e  %-22s %s%s%s\n", head, endings[o->how], o->seconds, o->gap,
           o->solver[0] ? o->solver : "-", what, o->words[0] ? ": " : "", o->words);
    fflush(stdout);
}

/* ---- drawn problems -------------------------------------------------------------------------- */

typedef struct tally {
    double *regret;
    int count, uncertified, missed; /* missed: another solver certifies */
} tally;

/* What the best solver took; the solvers that take the problem are asked one after the other. */
static outcome best_solver(mgv_data *data, const drawn *p, const outcome *chosen)
{
    outcome best = {.how = REFUSED, .seconds = INFINITY};
    for (int k = 0; k < mgvi_solver_count(); k++) {
        const mgvi_solver_ops *ops = mgvi_solver_at(k);
        char options[280];
        if (ops->primal_only || (quick && !ops->cost))
            continue;
        snprintf(options, sizeof options, "%s solver=%s", p->options, ops->name);
        const double enough = is_answer(chosen) ? fmax(chosen->seconds, 1e-3) : limit;
        const outcome o = fit(data, options, fmin(enough, best.seconds));
        if (o.how == CRASHED || o.how == ENDLESS || (talkative && o.how != REFUSED))
            print_outcome("      ", ops->name, &o);
        if (is_answer(&o) && o.seconds < best.seconds)
            best = o;
    }
    return best;
}

static void try_drawn(uint64_t seed, uint64_t number, tally *t)
{
    static const double GRAIN = 1e-3;
    char text[400];
    drawn p;
    drawn_table table;
    draw_words(seed, number, asked, &p);
    if (!strstr(p.text, words))
        return;
    mgv_data *data = draw(ctx, seed, number, asked, &p, &table);
    const outcome chosen = fit(data, p.options, limit);
    const outcome best = alone ? chosen : best_solver(data, &p, &chosen);
    const bool answer = is_answer(&chosen), missed = !answer && is_answer(&best);
    const double least = fmin(best.seconds, chosen.seconds);
    const double regret = answer ? (chosen.seconds + GRAIN) / (least + GRAIN) : INFINITY;
    drawn_free(ctx, data, &table);
    t->uncertified += !answer;
    t->missed += missed;
    if (answer)
        t->regret[t->count++] = regret;
    if (regret > 2 || !answer || talkative) {
        snprintf(text, sizeof text, "%" PRIu64 ": %s%s%s", number, p.text,
                 is_answer(&best) && best.seconds < chosen.seconds ? "; best " : "",
                 is_answer(&best) && best.seconds < chosen.seconds ? best.solver : "");
        printf("%7.2f ", regret);
        print_outcome("", text, &chosen);
        if (missed)
            print_outcome("        but ", best.solver, &best);
    }
}

/* The first problem alone, as a file and the options of the command line that fit it. */
static int write_drawn(uint64_t seed, uint64_t number, const char *path)
{
    drawn p;
    drawn_table table;
    mgv_data *data = draw(ctx, seed, number, asked, &p, &table);
    mgv_settings *s = bench_settings(ctx, "");
    if (mgv_data_write(ctx, data, path, s) != MGV_OK)
        bench_fail(ctx, path);
    printf("%s", path);
    for (char *rest = p.options, *item; (item = strsep(&rest, " "));) {
        char *equals = strchr(item, '=');
        *equals = 0;
        if (strcmp(item, "intercept") == 0)
            printf(" --no-intercept");
        else
            printf(" --%s %s", item, equals + 1);
    }
    putchar('\n');
    mgv_settings_free(ctx, s);
    drawn_free(ctx, data, &table);
    return 0;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A row of the results. */
static void note(const char *work, const char *goal, double figure, double most)
{
    bench_row_add((bench_row){
        .work = work, .goal = goal, .unit = "", .ours = figure, .bar = most, .on = BENCH_MOST});
}

static int try_all_drawn(uint64_t seed, uint64_t first, int count)
{
    tally t = {.regret = malloc((size_t)count * sizeof(double))};
    for (int k = 0; k < count; k++)
        try_drawn(seed, first + (uint64_t)k, &t);
    if (t.count == 0)
        return 1;
    qsort(t.regret, (size_t)t.count, sizeof *t.regret, by_value);
    printf("\n%d problems from seed %" PRIu64 ": %d without certificate or proof, %d of them by "
           "some solver\nregret of auto: median %.2f, 95 %% below %.2f, worst %.2f  (asked: 1.05, "
           "2, 5)\n",
           count, seed, t.uncertified, t.missed, t.regret[t.count / 2],
           t.regret[(int)(0.95 * t.count)], t.regret[t.count - 1]);
    const bool good = t.missed == 0 && t.regret[t.count - 1] <= 5;
    note("drawn problems", "missed, certified by another solver", t.missed, 0);
    note("drawn problems", "regret, median", t.regret[t.count / 2], 1.05);
    note("drawn problems", "regret, 95 % below", t.regret[(int)(0.95 * t.count)], 2);
    note("drawn problems", "regret, worst", t.regret[t.count - 1], 5);
    free(t.regret);
    return good ? 0 : 1;
}

/* ---- costs ----------------------------------------------------------------------------------- */

/* Whether one problem is fitted, and not one for each class: its cost is then that of the fit. */
static bool is_one_fit(const drawn *p)
{
    return p->classes <= 2 || strstr(p->options, "softmax") || strstr(p->options, "crammer");
}

/* Seconds that 1e9 of the solver's cost took, for each problem that it ended. */
typedef struct pace {
    double *seconds;
    int count, unended;
} pace;

static void compare_costs(mgv_data *data, const drawn *p, uint64_t number, pace *all)
{
    for (int k = 0; k < mgvi_solver_count(); k++) {
        const mgvi_solver_ops *ops = mgvi_solver_at(k);
        char options[280];
        if (ops->primal_only || !ops->cost)
            continue;
        snprintf(options, sizeof options, "%s solver=%s", p->options, ops->name);
        const outcome o = fit(data, options, limit);
        if (o.how == REFUSED)
            continue;
        printf("%6" PRIu64 " %-18s %9.3g of cost %9.4f s %8.3f s per 1e9  %s, %s\n", number,
               ops->name, o.cost, o.seconds, o.seconds / (1e-9 * o.cost), endings[o.how], p->text);
        if (is_answer(&o) && isfinite(o.cost))
            all[k].seconds[all[k].count++] = o.seconds / (1e-9 * o.cost);
        else
            all[k].unended++;
    }
}

static int print_costs(uint64_t seed, uint64_t first, int count)
{
    pace *all = calloc((size_t)mgvi_solver_count(), sizeof *all);
    for (int k = 0; k < mgvi_solver_count(); k++)
        all[k].seconds = malloc((size_t)count * sizeof(double));
    for (int t = 0; t < count; t++) {
        drawn p;
        drawn_table table;
        draw_words(seed, first + (uint64_t)t, asked, &p);
        if (!is_one_fit(&p) || !strstr(p.text, words))
            continue;
        mgv_data *data = draw(ctx, seed, first + (uint64_t)t, asked, &p, &table);
        compare_costs(data, &p, first + (uint64_t)t, all);
        drawn_free(ctx, data, &table);
    }
    printf("\nseconds per 1e9 of cost   ended  not      5 %%   median     95 %%\n");
    for (int k = 0; k < mgvi_solver_count(); k++) {
        const double *x = all[k].seconds;
        const int n = all[k].count;
        qsort(all[k].seconds, (size_t)n, sizeof *x, by_value);
        if (n > 0)
            printf("%-24s %6d %4d %8.3f %8.3f %8.3f\n", mgvi_solver_at(k)->name, n, all[k].unended,
                   x[n / 20], x[n / 2], x[n - 1 - n / 20]);
        free(all[k].seconds);
    }
    free(all);
    return 0;
}

/* ---- the sets of a folder -------------------------------------------------------------------- */

enum { TWO = 1, MANY = 2, QUANTITY = 4, KERNEL = 8, KERNEL_ROWS = 30000 };

static const struct {
    unsigned sets;
    const char *options;
} grid[] = {
    {TWO | MANY, "loss=hinge"},
    {TWO | MANY, "loss=squared_hinge"},
    {TWO | MANY, "loss=logistic"},
    {TWO | MANY, "loss=hinge penalty=l1 C=1"},
    {TWO | MANY, "loss=logistic penalty=l1 C=1"},
    {TWO | MANY, "loss=hinge penalty=enet C=1"},
    {TWO | MANY, "loss=logistic penalty=enet C=1"},
    {MANY, "loss=softmax"},
    {MANY, "loss=crammer_singer"},
    {TWO | MANY | KERNEL, "loss=hinge kernel=rbf C=0.1"},
    {TWO | MANY | KERNEL, "loss=hinge kernel=rbf C=1"},
    {TWO | MANY | KERNEL, "loss=hinge kernel=rbf C=10"},
    {TWO | MANY | KERNEL, "loss=hinge kernel=rbf C=100"},
    {TWO | MANY | KERNEL, "loss=logistic kernel=rbf"},
    {TWO | MANY, "loss=margin"},
    {TWO | MANY, "loss=margin p=1.5"},
    {TWO | MANY, "loss=margin penalty=l1"},
    {TWO | MANY, "loss=margin penalty=linf"},
    {QUANTITY, "loss=squared penalty=l1 C=1"},
    {QUANTITY, "loss=squared penalty=enet C=1"},
    {QUANTITY, "loss=squared"},
    {QUANTITY, "loss=huber"},
    {QUANTITY | KERNEL, "loss=squared kernel=rbf"},
};

/* What a file needs to be read right; others by their names alone. */
static const char *reading(const char *file)
{
    if (strstr(file, "HTRU") || strstr(file, ".data.") || strstr(file, ".dat"))
        return "label_column=last";
    return strstr(file, "abalone") ? "task=regress" : "";
}

/* Test parts, labels and pictures are no sets of their own. */
static bool is_set(const char *file)
{
    static const char *const not [] = {".t.", "labels-idx", "t10k", ".png", "README", ".md"};
    for (size_t k = 0; k < sizeof not / sizeof *not ; k++)
        if (strstr(file, not [k]))
            return false;
    return file[0] != '.';
}

typedef struct found {
    int runs, missed;
} found;

/* What the library itself takes the labels for. */
static unsigned kind_of(mgv_data *data, const char *options)
{
    mgv_settings *s = bench_settings(ctx, options);
    mgv_problem *problem = NULL;
    unsigned kind = 0;
    mgv_data_info info = {.size = sizeof info};
    mgv_data_describe(data, &info);
    if (mgv_problem_new(ctx, data, s, &problem) == MGV_OK)
        kind = strncmp(mgv_problem_task(problem), "regression", 10) == 0 ? QUANTITY
               : info.classes == 2                                       ? TWO
                                                                         : MANY;
    mgv_problem_free(ctx, problem);
    mgv_settings_free(ctx, s);
    return kind;
}

static void try_file(const char *folder, const char *file, found *all)
{
    char path[1024], options[200], text[400];
    mgv_data *data = NULL;
    mgv_settings *s = bench_settings(ctx, reading(file));
    snprintf(path, sizeof path, "%s/%s", folder, file);
    mgv_ctx_set_threads(ctx, 1); /* a process with threads is not to be forked */
    const mgv_status st = mgv_data_read(ctx, path, s, &data);
    mgv_settings_free(ctx, s);
    if (st != MGV_OK) {
        printf("%s: left out: %s\n", file, mgv_ctx_error(ctx));
        return;
    }
    mgv_data_info info = {.size = sizeof info};
    mgv_data_describe(data, &info);
    const unsigned kind = kind_of(data, reading(file));
    const bool regress = kind == QUANTITY;
    const double allowed = (double)info.nonzeros > 1e7 ? 3 * limit : limit;
    printf("%s: %" PRId64 " x %" PRId64 ", %" PRId64 " entries, %" PRId64 " classes\n", file,
           info.rows, info.cols, info.nonzeros, regress ? 0 : info.classes);
    const int missed = all->missed;
    for (size_t k = 0; k < 2 * (sizeof grid / sizeof *grid); k++) {
        const size_t g = k / 2;
        if (!(grid[g].sets & kind) || ((grid[g].sets & KERNEL) && info.rows > KERNEL_ROWS))
            continue;
        snprintf(options, sizeof options, "task=%s %s scale=%s", regress ? "regress" : "classify",
                 grid[g].options, k % 2 ? "std" : "none");
        if (!strstr(options, words))
            continue;
        const outcome o = fit(data, options, allowed);
        const bool good = is_answer(&o) && o.seconds < allowed;
        all->runs++;
        all->missed += !good;
        snprintf(text, sizeof text, "%.20s: %s", file, options);
        print_outcome(good ? "  " : "! ", text, &o);
    }
    note(file, "fits neither certified nor proven", all->missed - missed, 0);
    mgv_data_free(ctx, data);
}

static int try_folder(const char *folder, char **files, int count)
{
    found all = {0};
    struct dirent **entries = NULL;
    const int there = count > 0 ? 0 : scandir(folder, &entries, NULL, alphasort);
    for (int k = 0; k < count; k++)
        try_file(folder, files[k], &all);
    for (int k = 0; k < there; k++) {
        if (is_set(entries[k]->d_name))
            try_file(folder, entries[k]->d_name, &all);
        free(entries[k]);
    }
    free(entries);
    printf("\n%d fits, %d neither certified nor proven within %g s (asked: 0)\n", all.runs,
           all.missed, limit);
    note("every set, every setting", "fits neither certified nor proven", all.missed, 0);
    return all.runs == 0 || all.missed > 0;
}

int main(int argc, char **argv)
{
    const char *folder = NULL, *path = NULL;
    uint64_t seed = 1, first = 0;
    int count = 2000, c;
    while ((c = getopt(argc, argv, "n:s:f:l:t:d:k:o:w:aceqv")) != -1)
        switch (c) {
        case 'n':
            count = atoi(optarg);
            break;
        case 's':
            seed = strtoull(optarg, NULL, 10);
            break;
        case 'f':
            first = strtoull(optarg, NULL, 10);
            break;
        case 'l':
            limit = strtod(optarg, NULL);
            break;
        case 't':
            threads = atoi(optarg);
            break;
        case 'd':
            folder = optarg;
            break;
        case 'k':
            words = optarg;
            break;
        case 'o':
            asked = optarg;
            break;
        case 'a':
            alone = true;
            break;
        case 'c':
            by_processor = true;
            break;
        case 'e':
            costs = true;
            break;
        case 'w':
            path = optarg;
            break;
        case 'q':
            quick = true;
            break;
        case 'v':
            talkative = true;
            break;
        default:
            return 2;
        }
    if (count < 1 || !(limit > 0) || mgv_ctx_new(NULL, &ctx) != MGV_OK)
        return 2;
    mgv_ctx_set_threads(ctx, 1);
    if (path)
        return write_drawn(seed, first, path);
    if (costs)
        return print_costs(seed, first, count);
    return folder ? try_folder(folder, argv + optind, argc - optind)
                  : try_all_drawn(seed, first, count);
}
