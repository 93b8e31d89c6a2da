/* reproduce.c - `margrave reproduce`: figures of the papers made again, each with the paper's claim, a
 * verdict and its number, on one page, and the curves as CSV. */
#include "options.h"
#include "output.h"
#include "signals.h"
#include "study.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const study_item *const rooms[] = {
    study_margin_items,  study_sparse_items, study_completion_items, study_table_items,
    study_mistake_items, study_kernel_items, study_network_items};
enum { ROOMS = sizeof rooms / sizeof *rooms };

/* NULL: past the last. */
static const study_item *item_at(int index)
{
    for (int r = 0; r < ROOMS; r++)
        for (const study_item *i = rooms[r]; i->name; i++)
            if (index-- == 0)
                return i;
    return NULL;
}

static const study_item *find_item(const char *name)
{
    for (int k = 0; item_at(k); k++)
        if (strcmp(item_at(k)->name, name) == 0)
            return item_at(k);
    return NULL;
}

static int unknown_item(cli *c, const char *name)
{
    cli_guess guess = {.word = name};
    for (int k = 0; item_at(k); k++)
        cli_guess_offer(&guess, item_at(k)->name);
    if (guess.best)
        return cli_complain(c, CLI_USAGE, "there is no item '%.60s'; did you mean '%s'?", name,
                            guess.best);
    return cli_complain(c, CLI_USAGE,
                        "there is no item '%.60s'; `margrave reproduce list` names them", name);
}

/* ---- one item --------------------------------------------------------------------------------- */

/* A table in the columns of the curves: its caption, a column's head, a row's name, the cell. */
static void write_cells(FILE *to, const study_table *table)
{
    for (int i = 0; i < table->rows; i++)
        for (int j = 1; j < table->columns; j++)
            fprintf(to, "\"%s\",\"%s\",\"%s\",%s\n", table->caption, table->head[j],
                    table->cell[i][0], table->cell[i][j]);
}

static int write_csv(const study *s, const char *folder)
{
    char file[1100];
    cli_output out;
    snprintf(file, sizeof file, "%.1000s/%s.csv", folder, s->item->name);
    int code = cli_output_open(s->c, file, &out);
    if (code != CLI_GO_ON)
        return code;
    fputs("chart,series,x,y\n", out.stream);
    for (int k = 0; k < s->charts; k++)
        for (int l = 0; l < s->chart[k].curves; l++) {
            const study_curve *curve = &s->chart[k].curve[l];
            for (int64_t i = 0; i < curve->count; i++)
                fprintf(out.stream, "\"%s\",\"%s\",%.17g,%.17g\n", s->chart[k].title, curve->name,
                        curve->x[i], curve->y[i]);
        }
    for (int k = 0; k < s->tables; k++)
        write_cells(out.stream, &s->table[k]);
    return cli_output_close(s->c, &out, true);
}

static mgv_status write_table(mgv_ctx *ctx, mgv_page *page, const study_table *from)
{
    const char *cells[STUDY_ROWS * STUDY_COLUMNS];
    for (int i = 0; i < from->rows; i++)
        for (int j = 0; j < from->columns; j++)
            cells[i * from->columns + j] = from->cell[i][j][0] ? from->cell[i][j] : NULL;
    const mgv_grid grid = {.size = sizeof grid,
                           .caption = from->caption,
                           .head = from->head,
                           .cells = cells,
                           .rows = from->rows,
                           .columns = from->columns};
    return mgv_page_table(ctx, page, &grid);
}

static mgv_status write_chart(mgv_ctx *ctx, mgv_page *page, const study_chart *from)
{
    mgv_series series[STUDY_CURVES];
    const mgv_series *list[STUDY_CURVES];
    for (int k = 0; k < from->curves; k++) {
        const study_curve *c = &from->curve[k];
        series[k] = (mgv_series){.size = sizeof *series,
                                 .name = c->name,
                                 .x = c->x,
                                 .y = c->y,
                                 .count = c->count,
                                 .points = c->points};
        list[k] = &series[k];
    }
    const mgv_chart chart = {.size = sizeof chart,
                             .title = from->title,
                             .x_label = from->x_label,
                             .y_label = from->y_label,
                             .series = list,
                             .count = from->curves,
                             .log_x = from->log_x,
                             .log_y = from->log_y,
                             .x_low = NAN,
                             .x_high = NAN,
                             .y_low = NAN,
                             .y_high = NAN};
    return mgv_page_chart(ctx, page, &chart);
}

static mgv_status write_section(const study *s, mgv_page *page, double seconds)
{
    mgv_ctx *ctx = s->c->ctx;
    const study_item *i = s->item;
    char title[200], csv[200];
    snprintf(title, sizeof title, "%s (%s)", i->place, i->name);
    snprintf(csv, sizeof csv, "%s.csv; %.0f s", i->name, ceil(seconds));
    mgv_status st = mgv_page_section(ctx, page, title, study_mark_text(s->mark), s->mark);
    if (st == MGV_OK)
        st = mgv_page_text(ctx, page, "Paper.", i->paper);
    if (st == MGV_OK)
        st = mgv_page_text(ctx, page, "It says:", i->claim);
    if (st == MGV_OK)
        st = mgv_page_text(ctx, page, "Found:", s->found);
    for (int k = 0; k < s->charts && st == MGV_OK; k++)
        st = write_chart(ctx, page, &s->chart[k]);
    for (int k = 0; k < s->tables && st == MGV_OK; k++)
        st = write_table(ctx, page, &s->table[k]);
    if (st == MGV_OK)
        st = mgv_page_text(ctx, page, "Numbers:", csv);
    return st == MGV_OK ? mgv_page_code(ctx, page, s->how) : st;
}

static void print_item(const study *s, double seconds)
{
    if (s->c->json)
        return;
    printf("%-18s %-14s %s (%.1f s)\n", s->item->name, study_mark_text(s->mark), s->found, seconds);
    fflush(stdout);
}

static int make_item(cli *c, const study_item *item, const char *folder, mgv_page *page,
                     mgv_mark *mark)
{
    study *s = calloc(1, sizeof *s);
    if (!s)
        return cli_complain(c, CLI_FAILURE, "no memory for %s", item->name);
    *s = (study){.c = c, .item = item, .folder = folder, .code = CLI_GO_ON};
    const double started = cli_seconds();
    item->make(s);
    cli_terminal_wipe(&c->terminal);
    int code = study_goes_on(s) ? CLI_GO_ON : s->code;
    const double seconds = cli_seconds() - started;
    if (code == CLI_GO_ON)
        code = write_csv(s, folder);
    if (code == CLI_GO_ON) {
        const mgv_status st = write_section(s, page, seconds);
        code = st == MGV_OK ? CLI_GO_ON : cli_fail(c, st);
    }
    if (code == CLI_GO_ON)
        print_item(s, seconds);
    *mark = s->mark;
    for (int k = 0; k < s->charts; k++)
        for (int l = 0; l < s->chart[k].curves; l++) {
            free(s->chart[k].curve[l].x);
            free(s->chart[k].curve[l].y);
        }
    free(s);
    return code;
}

/* ---- the command ------------------------------------------------------------------------------ */

static int make_all(cli *c, const char *name, const char *folder, mgv_page *page)
{
    int code = CLI_GO_ON;
    bool first = true;
    if (c->json)
        printf("{\"version\": \"%s\", \"command\": \"reproduce\", \"items\": [", mgv_version());
    for (int k = 0; item_at(k) && code == CLI_GO_ON; k++) {
        mgv_mark mark = {0};
        if (strcmp(name, "all") != 0 && strcmp(name, item_at(k)->name) != 0)
            continue;
        code = make_item(c, item_at(k), folder, page, &mark);
        if (c->json && code == CLI_GO_ON)
            printf("%s\n {\"item\": \"%s\", \"verdict\": \"%s\"}", first ? "" : ",",
                   item_at(k)->name, study_mark_text(mark));
        first = false;
    }
    if (c->json)
        puts("]}");
    return code;
}

static int work(cli *c, const char *name, const char *folder)
{
    char file[1100];
    mgv_page *page;
    if (strcmp(name, "all") != 0 && !find_item(name))
        return unknown_item(c, name);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return cli_complain(c, CLI_FAILURE, "%s: cannot be made: %s", folder, strerror(errno));
    snprintf(file, sizeof file, "%.1000s/index.html", folder);
    mgv_status st = mgv_page_open(c->ctx, file, "margrave: the papers' figures, made again", &page);
    if (st != MGV_OK)
        return cli_fail(c, st);
    mgv_page_text(
        c->ctx, page, NULL,
        "Each figure was made by the commands below it, from seeds: whoever repeats them "
        "gets these curves. A verdict says whether they show what the paper says that its "
        "figure shows.");
    int code = make_all(c, name, folder, page);
    st = mgv_page_close(c->ctx, page, code == CLI_GO_ON);
    if (st != MGV_OK)
        return cli_fail(c, st);
    if (code == CLI_GO_ON && !c->json)
        printf("page               %s\n", file);
    return code == CLI_GO_ON ? CLI_DONE : code;
}

static int print_list(void)
{
    for (int k = 0; item_at(k); k++)
        printf("  %-18s %-9s of %s\n", item_at(k)->name, item_at(k)->place, item_at(k)->paper);
    return CLI_DONE;
}

int cli_reproduce(cli *c, int argc, char **argv)
{
    const char *folder = NULL;
    const cli_option options[] = {{"output", 'o', "FOLDER",
                                   "where index.html and the CSV files go (reproduction)", NULL,
                                   &folder}};
    const cli_usage usage = {
        .arguments = "ITEM",
        .purpose = "Makes a figure of the papers again (all: every one, list: shows which there "
                   "are): a page with\nthe paper's claim, the curves and a verdict, and the "
                   "curves as CSV.",
        .example = "margrave reproduce apidopoulos-3 -o figures",
        .least = 1,
        .most = 1,
        .settings = "threads",
        .options = options,
        .option_count = sizeof options / sizeof *options};
    const int code = cli_parse(c, &usage, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    if (strcmp(c->argument[0], "list") == 0)
        return print_list();
    cli_signals_catch(c->ctx);
    return work(c, c->argument[0], folder ? folder : "reproduction");
}
