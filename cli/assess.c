/* assess.c - `margrave assess`: what the models of `fit` are worth on rows they have not seen. */
#include "job.h"
#include "options.h"
#include "signals.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct assess {
    cli *c;
    const char *file; /* the data's name */
    mgv_data *data;
    mgv_assess *work;
    mgv_assess_info info;
    cli_text select;
} assess;

/* ---- for people ------------------------------------------------------------------------------ */

static bool chooses(const assess *a) { return strcmp(a->select.text, "none") != 0; }

static cli_text score_text(const assess *a, double score, double se)
{
    cli_text t;
    const bool known = !isnan(se);
    if (isnan(score))
        snprintf(t.text, sizeof t.text, "-");
    else if (a->info.classify && known)
        snprintf(t.text, sizeof t.text, "%.2f %% +- %.2f", 100 * score, 100 * se);
    else if (a->info.classify)
        snprintf(t.text, sizeof t.text, "%.2f %%", 100 * score);
    else if (known)
        snprintf(t.text, sizeof t.text, "%.5g +- %.2g", score, se);
    else
        snprintf(t.text, sizeof t.text, "%.5g", score);
    return t;
}

static void print_head(const assess *a)
{
    const cli_job data = {.c = a->c, .file = a->file, .data = a->data};
    cli_job_print_data(&data, stdout);
    printf("assess       %" PRId64 " parts", a->info.outer);
    if (a->info.repeat > 1)
        printf(", dealt out %" PRId64 " times", a->info.repeat);
    if (chooses(a))
        printf("; on the others %s chooses\n\n", a->select.text);
    else
        printf("; the others are trained on, nothing is chosen\n\n");
    printf("part   train    test %10s %10s %10s %10s  model\n",
           a->info.classify ? "accuracy" : "rmse", a->info.classify ? "baseline" : "of mean",
           chooses(a) ? "chosen by" : "", "seconds");
}

static void print_strength(const mgv_assess_part *p)
{
    if (p->iteration > 0)
        printf("iteration %" PRId64 ", ", p->iteration);
    else if (p->lambda > 0 && p->mu > 0)
        printf("lambda %.4g, mu %.4g, ", p->lambda, p->mu);
    else if (p->lambda > 0 || p->mu > 0)
        printf("%s %.4g, ", p->mu > 0 ? "mu" : "lambda", p->mu > 0 ? p->mu : p->lambda);
    printf("%" PRId64 " nonzero", p->nonzeros);
    if (p->stop != MGV_STOP_CERTIFIED && p->stop != MGV_STOP_SELECTED)
        printf(", %s", mgv_stop_name(p->stop));
    putchar('\n');
}

static void print_part(const assess *a, int64_t k)
{
    mgv_assess_part p = {.size = sizeof p};
    mgv_assess_at(a->work, k, &p);
    printf("%4" PRId64 " %7" PRId64 " %7" PRId64 " %10s %10s %10s %10.2g  ", k + 1, p.train_rows,
           p.test_rows, score_text(a, p.score, NAN).text, score_text(a, p.baseline, NAN).text,
           p.method ? score_text(a, p.inner_score, NAN).text : "", p.seconds);
    print_strength(&p);
    fflush(stdout);
}

static void print_tail(const assess *a)
{
    const mgv_assess_info *i = &a->info;
    printf("\n%-13s%s, of rows that no part of its making has seen\n",
           i->classify ? "accuracy" : "rmse", score_text(a, i->score, i->score_se).text);
    if (!i->classify)
        printf("R2           %.4f +- %.2g\n", i->r2, i->r2_se);
    printf("baseline     %s: %s\n", i->classify ? "always the larger class" : "always the mean",
           score_text(a, i->baseline, NAN).text);
    if (i->done < i->outer * i->repeat)
        printf("ended        after %" PRId64 " of %" PRId64 " parts\n", i->done,
               i->outer * i->repeat);
    if (i->short_of > 0)
        printf("note         %" PRId64 " of %" PRId64
               " models ended before their certificate: a larger --max-iter or --tol\n",
               i->short_of, i->done);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int on_event(void *user, const mgv_event *event)
{
    cli_terminal_event(&((assess *)user)->c->terminal, event);
    return cli_signalled();
}

/* Where no strength is given it is chosen, as it would be for a model. */
static int settle_select(assess *a)
{
    cli *c = a->c;
    static const char *const given[] = {"C", "lambda", "mu"};
    bool any = false;
    for (size_t k = 0; k < sizeof given / sizeof *given; k++)
        any = any || cli_setting(c, given[k]).text[0];
    const cli_text loss = cli_setting(c, "loss");
    any = any || !strcmp(loss.text, "margin") || !strcmp(loss.text, "equal") ||
          !strcmp(loss.text, "interval");
    if (strcmp(cli_setting(c, "select").text, "none") == 0 && !any) {
        const mgv_status st = mgv_settings_set(c->ctx, c->settings, "select", "cv:5");
        if (st != MGV_OK)
            return cli_fail(c, st);
    }
    a->select = cli_setting(c, "select");
    return CLI_GO_ON;
}

static int walk(assess *a)
{
    cli *c = a->c;
    int more = 1;
    for (int64_t k = 0; !cli_signalled(); k++) {
        const mgv_status st = mgv_assess_next(c->ctx, a->work, &more);
        cli_terminal_wipe(&c->terminal);
        if (st != MGV_OK)
            return cli_fail(c, st);
        if (!more)
            break;
        if (!c->json)
            print_part(a, k);
    }
    mgv_assess_describe(a->work, &a->info);
    return CLI_GO_ON;
}

static int print_json(const assess *a)
{
    char *json = NULL;
    const mgv_status st = mgv_report_assess(a->c->ctx, a->work, a->file, &json);
    if (st != MGV_OK)
        return cli_fail(a->c, st);
    puts(json);
    mgv_string_free(a->c->ctx, json);
    return CLI_GO_ON;
}

static int work(assess *a)
{
    cli *c = a->c;
    int code = settle_select(a);
    if (code != CLI_GO_ON)
        return code;
    cli_signals_catch(c->ctx);
    a->data = cli_read(c, a->file, &code);
    if (!a->data)
        return code;
    cli_count_time(c);
    const mgv_status st = mgv_assess_new(c->ctx, a->data, c->settings, &a->work);
    if (st != MGV_OK)
        return cli_fail(c, st);
    a->info.size = sizeof a->info;
    mgv_assess_describe(a->work, &a->info);
    if (!c->json)
        print_head(a);
    mgv_ctx_on_event(c->ctx, on_event, a);
    code = walk(a);
    mgv_ctx_on_event(c->ctx, NULL, NULL);
    if (code != CLI_GO_ON)
        return code;
    if (c->json)
        code = print_json(a);
    else
        print_tail(a);
    const bool whole = a->info.done == a->info.outer * a->info.repeat;
    return code != CLI_GO_ON ? code : whole && a->info.short_of == 0 ? CLI_DONE : CLI_STOPPED;
}

int cli_assess(cli *c, int argc, char **argv)
{
    assess a = {.c = c};
    const cli_usage usage = {
        .arguments = "DATA",
        .purpose =
            "Says what a model of DATA is worth on rows it has not seen: each of --outer parts of\n"
            "the rows is predicted by a model made of the others alone, scaling and the choice of\n"
            "its strength (--select, cv:5 where no strength is given) included. With a strength\n"
            "given (--C, --lambda, --mu) it is plain cross-validation. Saves nothing.",
        .example = "margrave assess a9a --loss hinge --scale std --outer 10 --select cv:6",
        .least = 1,
        .most = 1,
        .settings = "problem solver select stop data cache threads",
    };
    int code = cli_parse(c, &usage, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    a.file = c->argument[0];
    code = work(&a);
    mgv_assess_free(c->ctx, a.work);
    mgv_data_free(c->ctx, a.data);
    return code;
}
