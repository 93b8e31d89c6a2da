/* rules.c - the stopping rules. */
#include "stop/stop.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

static mgv_stop infeasible(const mgvi_progress *p, const mgv_settings *s)
{
    (void)s;
    return p->verdict->certificate.verified && p->verdict->certificate.separable == 0
               ? MGV_STOP_INFEASIBLE
               : MGV_STOP_NONE;
}

static mgv_stop gap(const mgvi_progress *p, const mgv_settings *s)
{
    const mgv_certificate *c = &p->verdict->certificate;
    return c->verified && c->relative_gap <= s->tol ? MGV_STOP_CERTIFIED : MGV_STOP_NONE;
}

/* A run that starts from data that fit too well leaves them first: its residual is then rising. */
static mgv_stop discrepancy(const mgvi_progress *p, const mgv_settings *s)
{
    (void)s;
    const bool rising = p->residual > p->residual_before;
    return p->residual <= p->noise && !rising ? MGV_STOP_DISCREPANCY : MGV_STOP_NONE;
}

static mgv_stop apriori(const mgvi_progress *p, const mgv_settings *s)
{
    (void)s;
    return p->planned > 0 && p->iteration >= p->planned ? MGV_STOP_APRIORI : MGV_STOP_NONE;
}

static mgv_stop interrupt(const mgvi_progress *p, const mgv_settings *s)
{
    (void)s;
    return p->asked_to_stop ? MGV_STOP_USER : MGV_STOP_NONE;
}

static mgv_stop iterations(const mgvi_progress *p, const mgv_settings *s)
{
    return p->iteration >= s->max_iter ? MGV_STOP_MAX_ITER : MGV_STOP_NONE;
}

static mgv_stop passes(const mgvi_progress *p, const mgv_settings *s)
{
    return p->passes >= s->max_passes ? MGV_STOP_MAX_PASSES : MGV_STOP_NONE;
}

static mgv_stop time_limit(const mgvi_progress *p, const mgv_settings *s)
{
    return p->late || p->seconds >= s->time_limit ? MGV_STOP_TIME : MGV_STOP_NONE;
}

static const mgvi_stop_rule infeasible_rule = {
    "infeasible", "a proof that no weights satisfy the constraints", infeasible, true};
static const mgvi_stop_rule gap_rule = {"gap", "the certified relative gap is at most tol", gap,
                                        true};
static const mgvi_stop_rule discrepancy_rule = {
    "discrepancy", "the residual is at most the noise and not rising (select discrepancy:DELTA)",
    discrepancy, false};
static const mgvi_stop_rule apriori_rule = {
    "apriori", "as many iterations as the noise prescribes (select apriori:DELTA)", apriori, false};
static const mgvi_stop_rule interrupt_rule = {"interrupt", "a signal or the callback asked to stop",
                                              interrupt, false};
static const mgvi_stop_rule iterations_rule = {"iterations", "max_iter iterations are done",
                                               iterations, false};
static const mgvi_stop_rule passes_rule = {"passes", "max_passes passes over the data are done",
                                           passes, false};
static const mgvi_stop_rule time_rule = {"time", "time_limit seconds are over", time_limit, false};

static const mgvi_stop_rule *const rules[] = {
#define STOP_RULE(name) &name##_rule,
#include "stop/list.h"
#undef STOP_RULE
};

int mgvi_stop_count(void) { return (int)(sizeof rules / sizeof *rules); }

const mgvi_stop_rule *mgvi_stop_at(int index) { return rules[index]; }

mgv_stop mgvi_stop_check(const mgvi_progress *progress, const mgv_settings *settings)
{
    for (int i = 0; i < mgvi_stop_count(); i++) {
        if (rules[i]->needs_certificate && !progress->verdict)
            continue;
        const mgv_stop stop = rules[i]->check(progress, settings);
        if (stop != MGV_STOP_NONE)
            return stop;
    }
    return MGV_STOP_NONE;
}

mgv_stop mgvi_stop_look(const mgv_ctx *ctx, mgvi_progress progress, const mgv_settings *settings)
{
    const mgv_stop late = mgvi_ctx_late(ctx);
    progress.asked_to_stop = progress.asked_to_stop || late == MGV_STOP_USER;
    progress.late = late == MGV_STOP_TIME;
    return mgvi_stop_check(&progress, settings);
}

/* ---- early answers --------------------------------------------------------------------------- */

/* Whether `text` is `word`, a colon and a number. */
static bool read_noise(const char *text, const char *word, double *out)
{
    const char *number = mgvi_after_word(text, word);
    return number && mgvi_parse_real(number, out);
}

mgvi_early mgvi_early_read(const mgv_problem *problem, const mgv_settings *settings)
{
    const char *text = settings->select;
    mgvi_early out = {.noise = NAN};
    if (!(problem->loss->can & MGVI_HARD))
        return out;
    out.apriori = read_noise(text, "apriori", &out.noise);
    out.on =
        out.apriori || read_noise(text, "discrepancy", &out.noise) || strcmp(text, "last") == 0;
    return out;
}
