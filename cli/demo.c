/* demo.c - `margrave demo`: the two-minute tour on data made from a seed.
 *
 * Points of R^20 are drawn, and those nearer than a band to a hidden hyperplane are left out: the
 * two sides are separable on purpose. The twin is the same points with some labels flipped. */
#include "job.h"
#include "options.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 400, FRESH = 1000, COLS = 20, FLIPPED = 20, ALL = ROWS + FRESH };
static const double BAND = 0.4; /* distance kept free on both sides of the hyperplane */

typedef struct table {
    double x[ALL][COLS];
    double y[ALL], twin[ROWS];
} table;

/* ---- the data -------------------------------------------------------------------------------- */

/* splitmix64: every machine gets the same table from the same seed. */
static double uniform(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Nearly normal without the mathematics library, whose last bits differ between machines; three
 * decimals, so that the file is pleasant to read. */
static double normal(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform(state);
    return floor(1000 * sum + 0.5) / 1000;
}

static void fill(table *t, uint64_t seed)
{
    double w[COLS], square = 0;
    for (int j = 0; j < COLS; j++) {
        w[j] = j < COLS / 2 ? normal(&seed) : 0; /* half of the features say nothing */
        square += w[j] * w[j];
    }
    for (int i = 0; i < ALL;) {
        double score = 0.5;
        for (int j = 0; j < COLS; j++) {
            t->x[i][j] = normal(&seed);
            score += w[j] * t->x[i][j];
        }
        t->y[i] = score > 0 ? 1 : -1;
        i += score * score >= BAND * BAND * square; /* else drawn again */
    }
    memcpy(t->twin, t->y, sizeof t->twin);
    for (int k = 0; k < FLIPPED; k++)
        t->twin[k * (ROWS / FLIPPED)] *= -1;
}

static mgv_status borrow(cli *c, const table *t, int first, int rows, const double *labels,
                         mgv_data **out)
{
    const mgv_status st =
        mgv_data_from_dense(c->ctx, MGV_F64, t->x[first], rows, COLS, COLS, 1, out);
    return st == MGV_OK ? mgv_data_set_labels(c->ctx, *out, labels) : st;
}

/* ---- the stations of the tour ---------------------------------------------------------------- */

typedef struct station {
    const char *title, *loss, *file;
    bool twin;
    int expected; /* exit code `fit` would end with */
} station;

static const char SEPARABLE[] = "demo.svm", TWIN[] = "demo-twin.svm";

/* How the model does on rows that were not fitted. */
static int print_fresh(cli_job *job, const table *t)
{
    mgv_data *fresh = NULL;
    mgv_metrics m = {.size = sizeof m};
    cli *c = job->c;
    mgv_status st = borrow(c, t, ROWS, FRESH, t->y + ROWS, &fresh);
    if (st == MGV_OK)
        st = mgv_model_evaluate(c->ctx, job->model, fresh, NULL, &m);
    if (st == MGV_OK)
        printf("fresh rows   accuracy %.2f %% on %d rows the solver has not seen\n",
               100 * m.accuracy, FRESH);
    mgv_data_free(c->ctx, fresh);
    return st == MGV_OK ? CLI_GO_ON : cli_fail(c, st);
}

static int visit(cli *c, const table *t, const station *s)
{
    cli_job job = {.c = c, .file = s->file};
    printf("\n%s\n$ margrave fit %s --loss %s\n", s->title, s->file, s->loss);
    fflush(stdout);
    mgv_status st = mgv_settings_set(c->ctx, c->settings, "loss", s->loss);
    if (st == MGV_OK)
        st = borrow(c, t, 0, ROWS, s->twin ? t->twin : t->y, &job.data);
    int code = st == MGV_OK ? cli_job_run(&job) : cli_fail(c, st);
    if (code == CLI_GO_ON) {
        cli_job_print_data(&job, stdout);
        cli_job_print_solver(&job, stdout);
        cli_job_print_certificate(&job, stdout);
        cli_job_print_training(&job, stdout);
        if (job.model)
            code = print_fresh(&job, t);
    }
    if (code == CLI_GO_ON && cli_job_code(&job) != s->expected)
        code = cli_complain(c, cli_job_code(&job) ? cli_job_code(&job) : CLI_FAILURE,
                            "the run ended with '%s', which this tour does not expect",
                            mgv_stop_name(job.run.stop));
    cli_job_free(&job);
    return code;
}

static int tour(cli *c, const table *t)
{
    static const station stations[] = {
        {"1. A soft margin: hinge loss with C = 1. The gap certifies how near the optimum it is.",
         "hinge", SEPARABLE, false, CLI_DONE},
        {"2. The hard margin: the widest street between the classes, from both sides.", "margin",
         SEPARABLE, false, CLI_DONE},
        {"3. The twin: 20 labels flipped. No weights can separate it, and here is the proof.",
         "margin", TWIN, true, CLI_NO_SOLUTION}};
    int code = CLI_GO_ON;
    for (size_t i = 0; i < sizeof stations / sizeof *stations && code == CLI_GO_ON; i++)
        code = visit(c, t, &stations[i]);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int keep(cli *c, const table *t)
{
    const struct {
        const char *file;
        const double *labels;
    } files[] = {{SEPARABLE, t->y}, {TWIN, t->twin}};
    for (int k = 0; k < 2; k++) {
        mgv_data *data = NULL;
        mgv_status st = borrow(c, t, 0, ROWS, files[k].labels, &data);
        if (st == MGV_OK)
            st = mgv_data_write(c->ctx, data, files[k].file, c->settings);
        mgv_data_free(c->ctx, data);
        if (st != MGV_OK)
            return cli_fail(c, st);
    }
    printf("\n%s and %s are in this directory.\n", SEPARABLE, TWIN);
    return CLI_GO_ON;
}

static void print_next(bool kept)
{
    puts("\nnext");
    if (!kept)
        puts(
            "  margrave demo --keep                     the tour again; leaves its two files here");
    puts("  margrave check demo.svm                  what is in a file, and what fit would do\n"
         "  margrave fit demo.svm --verbose          every certificate as it is taken\n"
         "  margrave fit demo-twin.svm --loss margin --json    the proof, row by row\n"
         "  margrave predict demo.mgm demo-twin.svm --distance");
}

int cli_demo(cli *c, int argc, char **argv)
{
    bool keep_files = false;
    const cli_option options[] = {
        {"keep", 0, NULL, "leave demo.svm and demo-twin.svm in this directory", &keep_files, NULL}};
    const cli_usage usage = {
        .arguments = "",
        .purpose = "Fits a table made from a seed three times: a soft margin, the hard margin, and "
                   "the hard margin\nof a twin that has none. Writes nothing unless asked to.",
        .example = "margrave demo --keep",
        .settings = "threads seed",
        .options = options,
        .option_count = sizeof options / sizeof *options};
    int code = cli_parse(c, &usage, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    if (c->json)
        return cli_complain(c, CLI_USAGE, "a tour has no JSON; try `margrave fit --json`");
    table *t = malloc(sizeof *t);
    if (!t)
        return cli_complain(c, CLI_FAILURE, "no memory for the data");
    fill(t, 2);
    printf("margrave %s: %d rows of %d numbers in two classes, made from a seed, separable on "
           "purpose.\n",
           mgv_version(), ROWS, COLS);
    code = tour(c, t);
    if (code == CLI_GO_ON && keep_files)
        code = keep(c, t);
    if (code == CLI_GO_ON) {
        print_next(keep_files);
        code = CLI_DONE;
    }
    free(t);
    return code;
}
