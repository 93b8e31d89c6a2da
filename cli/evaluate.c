/* evaluate.c - `margrave evaluate`: the objective of a model on data, and how far it is from the
 * best. */
#include "options.h"
#include "signals.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct evaluation {
    cli *c;
    bool quick;
    mgv_model *model;
    mgv_data *data;
    mgv_problem *problem;
    mgv_solver *solver;
    mgv_run_info run;
    mgv_certificate certificate;
    mgv_metrics metrics;
    bool measured;
} evaluation;

static int on_event(void *user, const mgv_event *event)
{
    cli *c = user;
    cli_terminal_event(&c->terminal, event);
    return 0;
}

static void print_values(const evaluation *e)
{
    const mgv_certificate *f = &e->certificate;
    if (!f->verified && !isfinite(f->margin_upper)) {
        puts("objective    the judge could not check it");
        return;
    }
    if (isfinite(f->margin))
        printf("margin       %.9g of these weights; none has more than %.9g (proven)\n", f->margin,
               f->margin_upper);
    else if (isfinite(f->primal))
        printf("objective    %.9g at these weights; no weights have less than %.9g (proven)\n"
               "             relative gap %.2g\n",
               f->primal, f->dual, f->relative_gap);
    else
        printf("objective    infinite at these weights; no weights have less than %.9g (proven)\n",
               f->dual);
}

static void print_scores(const evaluation *e)
{
    const mgv_metrics *m = &e->metrics;
    if (!e->measured)
        return;
    if (isnan(m->accuracy))
        printf("scores       mean squared error %.6g, R2 %.4f\n", m->mse, m->r2);
    else
        printf("scores       accuracy %.2f %%%s%.4f\n", 100 * m->accuracy,
               isnan(m->auc) ? ", f1 " : ", area under the curve ", isnan(m->auc) ? m->f1 : m->auc);
}

static int print_all(evaluation *e)
{
    cli *c = e->c;
    char *json = NULL;
    if (!c->json) {
        printf("problem      %s\n", mgv_problem_formula(e->problem));
        if (e->solver)
            printf("bound        by %s: %s after %" PRId64 " iterations, %.2g s\n", e->run.solver,
                   mgv_stop_name(e->run.stop), e->run.iterations, e->run.seconds);
        else
            puts("bound        made from these weights");
        print_values(e);
        print_scores(e);
        return CLI_DONE;
    }
    const mgv_status st =
        mgv_report_evaluation(c->ctx, e->problem, &e->certificate, e->measured ? &e->metrics : NULL,
                              c->argument[0], c->argument[1], &json);
    if (st != MGV_OK)
        return cli_fail(c, st);
    puts(json);
    mgv_string_free(c->ctx, json);
    return CLI_DONE;
}

/* The weights alone; then, unless that is enough, beside the bound of a solver. */
static mgv_status certify(evaluation *e)
{
    mgv_ctx *ctx = e->c->ctx;
    mgv_status st = mgv_model_certify(ctx, e->model, e->problem, NULL, &e->certificate);
    const double tol = strtod(cli_setting(e->c, "tol").text, NULL);
    if (st != MGV_OK || e->quick || e->certificate.relative_gap <= tol)
        return st;
    cli_count_time(e->c);
    st = mgv_solver_new(ctx, e->problem, e->c->settings, &e->solver);
    if (st == MGV_OK)
        st = mgv_solver_run(ctx, e->solver);
    if (st != MGV_OK)
        return st;
    mgv_certificate beside = {.size = sizeof beside};
    mgv_solver_describe(e->solver, &e->run, NULL);
    st = mgv_model_certify(ctx, e->model, e->problem, e->solver, &beside);
    if (st == MGV_OK && !(beside.relative_gap > e->certificate.relative_gap))
        e->certificate = beside;
    return st;
}

static int work(evaluation *e)
{
    cli *c = e->c;
    mgv_data_info shape = {.size = sizeof shape};
    cli_terminal_status(&c->terminal, "reading %s", c->argument[1]);
    mgv_status st = mgv_model_load(c->ctx, c->argument[0], &e->model);
    if (st == MGV_OK)
        st = mgv_model_read_data(c->ctx, e->model, c->argument[1], c->settings, &e->data);
    if (st == MGV_OK)
        st = mgv_model_problem(c->ctx, e->model, e->data, c->settings, &e->problem);
    if (st == MGV_OK)
        st = certify(e);
    if (st != MGV_OK)
        return cli_fail(c, st);
    mgv_data_describe(e->data, &shape);
    st = mgv_model_evaluate(c->ctx, e->model, e->data, NULL, &e->metrics);
    if (st != MGV_OK)
        return cli_fail(c, st);
    e->measured = e->metrics.known > 0;
    cli_terminal_wipe(&c->terminal);
    return print_all(e);
}

int cli_evaluate(cli *c, int argc, char **argv)
{
    evaluation e = {.c = c,
                    .run = {.size = sizeof e.run},
                    .certificate = {.size = sizeof e.certificate},
                    .metrics = {.size = sizeof e.metrics}};
    const cli_option options[] = {
        {"quick", 0, NULL, "a bound made from the weights alone, without solving the problem",
         &e.quick, NULL}};
    const cli_usage usage = {
        .arguments = "MODEL DATA",
        .purpose =
            "Prints the objective at the weights of MODEL on DATA (- is stdin), a proven bound of "
            "what any\nweights could reach there, and scores. The problem is that of the fit, its "
            "strength included,\nunless options say otherwise.",
        .example = "margrave evaluate a9a.mgm a9a.t --lambda 1e-4",
        .least = 2,
        .most = 2,
        .settings = "problem solver stop data threads cache",
        .options = options,
        .option_count = sizeof options / sizeof *options};
    int code = cli_parse(c, &usage, argc, argv);
    if (code == CLI_GO_ON) {
        mgv_ctx_on_event(c->ctx, on_event, c);
        cli_signals_catch(c->ctx);
        code = work(&e);
        mgv_ctx_on_event(c->ctx, NULL, NULL);
    }
    mgv_solver_free(c->ctx, e.solver);
    mgv_problem_free(c->ctx, e.problem);
    mgv_data_free(c->ctx, e.data);
    mgv_model_free(c->ctx, e.model);
    return code;
}
