/* words.c - the outcome of a run in words. */
#include "job.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void cli_job_print_data(const cli_job *job, FILE *out)
{
    static const char *const layouts[] = {"dense", "sparse by rows", "sparse by columns"};
    mgv_data_info d = {.size = sizeof d};
    mgv_data_describe(job->data, &d);
    fprintf(out,
            "data         %s: %" PRId64 " rows, %" PRId64 " features, %" PRId64
            " stored entries, %s, %s",
            job->file, d.rows, d.cols, d.nonzeros, layouts[d.layout],
            d.dtype == MGV_F32 ? "f32" : "f64");
    if (d.first_index == 0)
        fputs(", indices from 0", out);
    if (d.classes == 2)
        fprintf(out, "; classes '%s' and '%s'", mgv_data_class(job->data, 0),
                mgv_data_class(job->data, 1));
    else if (d.classes > 2 && job->run.runs > 1)
        fprintf(out, "; %" PRId64 " classes, '%s' to '%s'", d.classes, mgv_data_class(job->data, 0),
                mgv_data_class(job->data, d.classes - 1));
    if (d.load_seconds > 0)
        fprintf(out, "; read in %.2g s", d.load_seconds);
    fputc('\n', out);
}

/* How a run ended, as the end of a sentence. */
static const char *ending(mgv_stop stop)
{
    switch (stop) {
    case MGV_STOP_CERTIFIED:
        return "ended with its certificate";
    case MGV_STOP_DISCREPANCY:
        return "stopped where the residual reached the noise";
    case MGV_STOP_INFEASIBLE:
        return "ended with a proof that there is no solution";
    case MGV_STOP_USER:
        return "was interrupted before its certificate";
    case MGV_STOP_MAX_ITER:
        return "reached max_iter before its certificate";
    case MGV_STOP_MAX_PASSES:
        return "reached max_passes before its certificate";
    case MGV_STOP_TIME:
        return "reached time_limit before its certificate";
    case MGV_STOP_SELECTED:
        return "stopped where held-out rows are fitted best";
    case MGV_STOP_APRIORI:
        return "did the iterations that the noise prescribes";
    case MGV_STOP_ROUNDING:
        return "can go no further: rounding";
    case MGV_STOP_STALLED:
        return "can go no further, short of its certificate";
    case MGV_STOP_DIVERGED:
        return "left the finite numbers before its certificate";
    default:
        return mgv_stop_name(stop);
    }
}

void cli_job_print_solver(const cli_job *job, FILE *out)
{
    const mgv_run_info *r = &job->run;
    if (mgv_problem_task(job->problem)[0])
        fprintf(out, "task         %s\n", mgv_problem_task(job->problem));
    fprintf(out, "problem      %s\n", mgv_problem_formula(job->problem));
    fprintf(out, "solver       %s %s: %" PRId64 " iteration%s, %.1f passes over the data, %.2g s\n",
            r->solver, ending(r->stop), r->iterations, r->iterations == 1 ? "" : "s", r->passes,
            r->seconds);
}

/* Entry i of a proof: its row and, where `classes` > 1, the class it was held against. */
static void print_example(const cli_job *job, int64_t i, int64_t classes, FILE *out)
{
    fprintf(out, " %" PRId64, i / classes + 1);
    if (classes > 1)
        fprintf(out, " against '%s'", mgv_data_class(job->data, i % classes));
}

/* The convex weights that prove inseparability: how many, and which rows when they are few, else
 * the first of them. */
static void print_proof(const cli_job *job, FILE *out)
{
    enum { SHOWN = 8, FEW = 16 };
    const double *q;
    int64_t rows, count = 0, shown = 0;
    mgv_data_info data = {.size = sizeof data};
    mgv_data_describe(job->data, &data);
    mgv_solver_dual(job->solver, &q, &rows);
    for (int64_t i = 0; i < rows; i++)
        count += q[i] != 0;
    const int64_t classes = rows > data.rows ? rows / data.rows : 1;
    const bool kernel = strcmp(cli_setting(job->c, "kernel").text, "linear") != 0;
    const char *class = mgv_data_class(job->data, job->run.impossible_class);
    const char *rival = mgv_data_class(job->data, job->run.impossible_rival);
    if (class && rival)
        fprintf(out, "classes      '%s' and '%s':\n", class, rival);
    else if (class)
        fprintf(out, "class        '%s' against the rest:\n", class);
    fprintf(out,
            "certificate  not separable: a convex combination of %" PRId64 " %s\n"
            "             is exactly zero (proven for the numbers given), so no weights have them\n"
            "             all on the right side (rows",
            count,
            classes > 1 ? "examples, own class less another,"
            : kernel    ? "examples y_i phi(x_i)"
                        : "examples y_i x_i");
    for (int64_t i = 0; i < rows && shown < (count > FEW ? SHOWN : FEW); i++)
        if (q[i] != 0) {
            fputs(shown++ ? "," : "", out);
            print_example(job, i, classes, out);
        }
    fprintf(out, "%s; --json has all, their weights\n             to 53 bits%s)\n",
            count > shown ? ", ..." : "",
            count > FEW && strcmp(cli_setting(job->c, "short_proof").text, "yes") != 0
                ? "; --short-proof looks for as few as possible"
                : "");
}

/* Equalities and intervals that contradict each other, or the penalty's domain. */
static void print_contradiction(const cli_job *job, FILE *out)
{
    const double *u;
    int64_t rows, count = 0;
    mgv_solver_dual(job->solver, &u, &rows);
    for (int64_t i = 0; i < rows; i++)
        count += u[i] != 0;
    fprintf(out, "certificate  no weights meet the constraints: ");
    if (isnan(job->certificate.proof_norm))
        fprintf(out,
                "the optimum would be at least %.8g,\n"
                "             above every value of the penalty (proven)\n",
                job->certificate.dual);
    else
        fprintf(
            out,
            "%" PRId64 " of them, weighted, have a left side of\n"
            "             exactly zero (proven for the numbers given) and a right side that is\n"
            "             not; --json has the weights, to 53 bits\n",
            count);
}

static void print_margin(const cli_job *job, FILE *out)
{
    const mgv_certificate *k = &job->certificate;
    if (k->separable == 1 && job->run.runs > 1)
        fprintf(out,
                "certificate  every %s; the least margin lies in\n"
                "             [%.8g, %.8g], the worst relative gap is %.1e\n",
                strcmp(cli_setting(job->c, "multiclass").text, "ovo") == 0
                    ? "two classes are separable"
                    : "class is separable from the rest",
                k->margin, k->margin_upper, k->relative_gap);
    else if (k->separable == 1)
        fprintf(out,
                "certificate  separable with margin in [%.8g, %.8g]: the lower end is attained\n"
                "             by the model, the upper one is proven; relative gap %.1e\n",
                k->margin, k->margin_upper, k->relative_gap);
    else
        fprintf(out,
                "certificate  undecided: no separating weights and no proof against them yet; "
                "a margin,\n             if there is one, is at most %.8g\n",
                k->margin_upper);
}

/* The interval is true, but wider than was asked for, and no digits are left to narrow it. */
static void print_rounding(const cli_job *job, FILE *out)
{
    const mgv_certificate *k = &job->certificate;
    const bool margin = !isnan(k->margin_upper);
    fprintf(
        out,
        "certificate  not verified: rounding. The %s between %.10g and %.10g,\n"
        "             a relative gap of %.1e, above the tolerance; sums of the data keep no more\n"
        "             digits: subtract a constant from columns far from 0, or --scale std\n",
        margin ? "margin lies" : "optimum lies", margin ? k->margin : k->dual,
        margin ? k->margin_upper : k->primal, k->relative_gap);
}

/* By a limit or the user. */
static bool was_ended(mgv_stop stop)
{
    return stop == MGV_STOP_TIME || stop == MGV_STOP_USER || stop == MGV_STOP_MAX_PASSES ||
           stop == MGV_STOP_MAX_ITER;
}

/* Equalities and intervals, which weights meet only nearly; a margin is met by scaling them. */
static bool is_constrained(const cli_job *job)
{
    const char *formula = mgv_problem_formula(job->problem);
    return strstr(formula, " subject to ") && !strstr(formula, " >= 1");
}

/* Only of one run, of a strongly convex problem. */
static void print_distance(const cli_job *job, FILE *out)
{
    const double near = job->run.distance, norm = job->run.norm;
    if (isnan(near) || (norm > 0 && near > norm)) /* says next to nothing */
        return;
    const bool scaled = strcmp(cli_setting(job->c, "scale").text, "none") != 0;
    fprintf(out,
            "             the optimal weights%s are within %.2g of these (%s of the difference)\n",
            scaled ? ", of scaled columns," : "", near, cli_norm_name(job->run.p).text);
}

void cli_job_print_certificate(const cli_job *job, FILE *out)
{
    const mgv_certificate *k = &job->certificate;
    if (!k->verified && job->run.runs > 1 && was_ended(job->run.stop)) {
        fputs("certificate  none yet: the run ended before every class had its own\n", out);
    } else if (isinf(k->primal) && isnan(k->margin_upper) && job->run.runs <= 1) {
        fputs("certificate  none: the objective of these weights is beyond the numbers; smaller "
              "columns\n             (--scale std) or another loss have one\n",
              out);
    } else if (!k->verified && was_ended(job->run.stop)) {
        fputs("certificate  none: the run was ended before there was one\n", out);
    } else if (isnan(k->primal) && isnan(k->margin_upper)) {
        fputs("certificate  none: the epoch was chosen by held-out rows, not by an objective\n",
              out);
    } else if (job->run.stop == MGV_STOP_ROUNDING) {
        print_rounding(job, out);
    } else if (!k->verified) {
        fputs("certificate  none: the check of the last one failed, so it is not shown\n", out);
    } else if (job->run.stop == MGV_STOP_INFEASIBLE) {
        (isnan(k->margin_upper) ? print_contradiction : print_proof)(job, out);
    } else if (!isnan(k->margin_upper)) {
        print_margin(job, out);
    } else if (job->run.stop != MGV_STOP_CERTIFIED &&
               strstr(mgv_problem_formula(job->problem), " subject to ")) {
        fprintf(
            out,
            "certificate  the model does not meet the constraints yet; the optimum, if there is\n"
            "             one, is at least %.10g (proven)\n",
            k->dual);
    } else if (is_constrained(job)) {
        fprintf(out,
                "certificate  no weights that meet the constraints have less than %.10g (proven);\n"
                "             the model has %.10g, the price of what it misses included; relative\n"
                "             gap and misses are at most %.1e, verified\n",
                k->dual, k->primal, k->relative_gap);
    } else if (job->run.runs > 1) {
        fprintf(out,
                "certificate  each of the %" PRId64 " optima is known to a relative gap of %.1e or "
                "less,\n             verified\n",
                job->run.runs, k->relative_gap);
    } else {
        const bool nothing = k->gap > 1.01 * k->relative_gap * fabs(k->primal);
        fprintf(out,
                "certificate  the optimum lies between %.10g (proven)\n"
                "             and %.10g (attained by the model); %s %.1e, verified\n",
                k->dual, k->primal,
                nothing ? "beside the objective of zero weights\n             the gap is"
                        : "relative gap",
                k->relative_gap);
    }
    print_distance(job, out);
}

void cli_job_print_bounds(const cli_job *job, FILE *out)
{
    mgv_bound b = {.size = sizeof b};
    const char *label = "bounds";
    for (int64_t k = 0; mgv_solver_bound(job->c->ctx, job->solver, k, &b) == MGV_OK; k++) {
        fprintf(out, "%-12s %s", label, b.quantity);
        if (!isnan(b.low))
            fprintf(out, ": at least %.6g", b.low);
        if (!isnan(b.high))
            fprintf(out, "%s at most %.6g", isnan(b.low) ? ":" : ",", b.high);
        if (!isnan(b.found))
            fprintf(out, "; it is %.6g", b.found);
        fprintf(out, "\n             (%s)\n", b.item);
        label = "";
    }
    if (label[0])
        fputs("bounds       none: nothing is known of this run, or it goes beyond its paper\n",
              out);
}

void cli_job_print_training(const cli_job *job, FILE *out)
{
    mgv_metrics m = {.size = sizeof m};
    const bool late = job->run.stop == MGV_STOP_TIME || job->run.stop == MGV_STOP_USER;
    if (late && strcmp(cli_setting(job->c, "kernel").text, "linear") != 0)
        return; /* the scores of all rows may take longer than the fit */
    if (!job->model)
        return;
    if (mgv_model_evaluate(job->c->ctx, job->model, job->data, NULL, &m) != MGV_OK) {
        fprintf(out, "training     not known: %s\n", mgv_ctx_error(job->c->ctx));
        return;
    }
    if (!isnan(m.accuracy))
        fprintf(out, "training     accuracy %.2f %%\n", 100 * m.accuracy);
    else
        fprintf(out, "training     mean squared error %.6g, R2 %.4f\n", m.mse, m.r2);
}
