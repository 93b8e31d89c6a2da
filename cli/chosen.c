/* chosen.c - what was compared, what was chosen and which columns it has, in words. */
#include "job.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* "held-out mean squared error 0.0706 +- 0.0021" */
static void print_score(const mgv_selection_info *info, double score, double se, FILE *out)
{
    if (isnan(score)) {
        fputs("no held-out error", out);
        return;
    }
    if (info->classify)
        fprintf(out, "held-out accuracy %.2f %%", 100 * score);
    else
        fprintf(out, "held-out mean squared error %.6g", score);
    if (!isnan(se))
        fprintf(out, info->classify ? " +- %.2f" : " +- %.2g", info->classify ? 100 * se : se);
}

static void print_place(const mgv_path_point *p, bool grid, FILE *out)
{
    if (grid && p->lambda >= 0 && p->mu >= 0)
        fprintf(out, "lambda %.4g and mu %.4g", p->lambda, p->mu);
    else if (p->iteration > 0)
        fprintf(out, "iteration %" PRId64, p->iteration);
    else if (p->mu > 0)
        fprintf(out, "mu %.4g", p->mu);
    else
        fprintf(out, "lambda %.4g", p->lambda);
}

static void print_compared(const cli_job *job, const mgv_selection_info *info, FILE *out)
{
    for (int64_t k = 0; info->compared > 1 && k < info->compared; k++) {
        mgv_path_point p = {.size = sizeof p};
        const char *method;
        double seconds;
        mgv_selection_compared(job->selection, k, &method, &p, &seconds);
        fprintf(out, "%s %-24s ", k ? "            " : "compared    ", method);
        print_score(info, p.score, p.score_se, out);
        fprintf(out, ", %" PRId64 " weights, %.2g s\n", p.nonzeros, seconds);
    }
}

/* The largest weights with their names and in how many folds they occur. */
static void print_features(const cli_job *job, FILE *out)
{
    enum { SHOWN = 8 };
    mgv_feature f = {.size = sizeof f};
    bool shown = false;
    for (int64_t k = 0; k < SHOWN; k++) {
        if (mgv_selection_feature(job->c->ctx, job->selection, k, &f) != MGV_OK)
            break;
        fputs(k ? ", " : "features     ", out);
        if (f.name)
            fprintf(out, "%s", f.name);
        else
            fprintf(out, "column %" PRId64, f.column + 1);
        if (f.folds >= 0)
            fprintf(out, " (%" PRId64 " folds)", f.folds);
        if (k == SHOWN - 1)
            fputs(", ...", out);
        shown = true;
    }
    if (shown)
        fputc('\n', out);
}

/* What became of --debias and --stable. */
static void print_refit(const mgv_selection_info *info, const mgv_path_point *p, FILE *out)
{
    if (info->debiased == 1)
        fprintf(out,
                "debias       least squares on the point's %" PRId64
                " columns: %.6g held out, %.6g without\n",
                p->nonzeros, info->debiased_score, info->plain_score);
    else if (info->debiased == 0)
        fprintf(out, "debias       no better: %.6g held out, %.6g without\n", info->debiased_score,
                info->plain_score);
    if (info->stable >= 0)
        fprintf(out,
                "stable       %" PRId64 " of %" PRId64
                " columns are in enough folds; least squares on them\n",
                info->stable, p->nonzeros);
}

void cli_job_print_selection(const cli_job *job, FILE *out)
{
    mgv_selection_info info = {.size = sizeof info};
    mgv_path_point p = {.size = sizeof p};
    if (!job->selection)
        return;
    mgv_selection_describe(job->selection, &info);
    mgv_selection_point(job->selection, info.point, &p);
    print_compared(job, &info, out);
    const cli_text C = cli_setting(job->c, "C");
    if (strcmp(info.method, "given strength") == 0)
        fprintf(out, "selection    %s: of the strength that was given, %s%s%s", info.rule,
                C.text[0] ? "C " : "", C.text, C.text[0] ? ", " : "");
    else
        fprintf(out, "selection    %s: point %" PRId64 " of %" PRId64 " of the %s, ", info.rule,
                info.point + 1, info.points, info.method);
    print_place(&p, strcmp(info.method, "grid of strengths") == 0, out);
    fputs(",\n             ", out);
    print_score(&info, info.score, info.score_se, out);
    fprintf(out, "; %.2g s in all\n", info.seconds);
    print_refit(&info, &p, out);
    print_features(job, out);
}
