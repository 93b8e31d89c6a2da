/* test_rules.c - every stopping rule by itself, their order, and that nothing ends a run that should
 * go on. */
#include "check.h"

#include "base/settings.h"
#include "stop/stop.h"

#include <math.h>
#include <string.h>

/* A run in its middle, which no rule ends. */
typedef struct scene {
    mgv_ctx *ctx;
    mgv_settings *settings;
    mgvi_verdict verdict;
    mgvi_progress progress;
} scene;

static void open_scene(scene *s)
{
    s->ctx = mgv_check_ctx();
    CHECK_OK(s->ctx, mgv_settings_new(s->ctx, &s->settings));
    s->settings->tol = 1e-4;
    s->settings->max_iter = 100;
    s->settings->max_passes = 50;
    s->settings->time_limit = 10;
    s->verdict = (mgvi_verdict){.certificate = {.size = sizeof(mgv_certificate),
                                                .primal = 1,
                                                .dual = 0.5,
                                                .relative_gap = 0.5,
                                                .separable = -1,
                                                .verified = 1}};
    s->progress = (mgvi_progress){.iteration = 10,
                                  .passes = 5,
                                  .seconds = 1,
                                  .verdict = &s->verdict,
                                  .residual = NAN,
                                  .noise = NAN,
                                  .residual_before = NAN};
}

static mgv_stop asked(const scene *s) { return mgvi_stop_check(&s->progress, s->settings); }

static void close_scene(scene *s)
{
    mgv_settings_free(s->ctx, s->settings);
    mgv_ctx_free(s->ctx);
}

TEST(a_run_in_its_middle_goes_on)
{
    scene s;
    open_scene(&s);
    CHECK(asked(&s) == MGV_STOP_NONE);
    s.progress.verdict = NULL;
    CHECK(asked(&s) == MGV_STOP_NONE);
    close_scene(&s);
}

TEST(a_gap_ends_it_at_the_tolerance_and_not_above)
{
    scene s;
    open_scene(&s);
    s.verdict.certificate.relative_gap = 1e-4;
    CHECK(asked(&s) == MGV_STOP_CERTIFIED);
    s.verdict.certificate.relative_gap = nextafter(1e-4, 1);
    CHECK(asked(&s) == MGV_STOP_NONE);
    s.verdict.certificate.relative_gap = 0;
    CHECK(asked(&s) == MGV_STOP_CERTIFIED);
    close_scene(&s);
}

TEST(a_gap_that_is_no_number_ends_nothing)
{
    scene s;
    open_scene(&s);
    s.verdict.certificate.relative_gap = NAN;
    CHECK(asked(&s) == MGV_STOP_NONE);
    s.verdict.certificate.relative_gap = INFINITY;
    CHECK(asked(&s) == MGV_STOP_NONE);
    close_scene(&s);
}

TEST(what_the_judge_does_not_confirm_ends_nothing)
{
    scene s;
    open_scene(&s);
    s.verdict.certificate.verified = 0;
    s.verdict.certificate.relative_gap = 0;
    CHECK(asked(&s) == MGV_STOP_NONE);
    s.verdict.certificate.separable = 0; /* nor does a proof */
    CHECK(asked(&s) == MGV_STOP_NONE);
    close_scene(&s);
}

TEST(a_proof_goes_before_a_gap)
{
    scene s;
    open_scene(&s);
    s.verdict.certificate.separable = 0;
    CHECK(asked(&s) == MGV_STOP_INFEASIBLE);
    s.verdict.certificate.relative_gap = 0;
    CHECK(asked(&s) == MGV_STOP_INFEASIBLE);
    close_scene(&s);
}

/* A certificate that is there is not thrown away for a budget that ends in the same moment. */
TEST(a_certificate_goes_before_every_budget)
{
    scene s;
    open_scene(&s);
    s.verdict.certificate.relative_gap = 1e-5;
    s.progress.iteration = 100;
    s.progress.passes = 50;
    s.progress.seconds = 10;
    s.progress.asked_to_stop = s.progress.late = true;
    CHECK(asked(&s) == MGV_STOP_CERTIFIED);
    s.progress.verdict = NULL; /* not taken here: the user goes first */
    CHECK(asked(&s) == MGV_STOP_USER);
    close_scene(&s);
}

TEST(budgets_end_it_where_they_are_reached)
{
    scene s;
    open_scene(&s);
    s.progress.iteration = 99;
    s.progress.passes = 49.999;
    s.progress.seconds = 9.999;
    CHECK(asked(&s) == MGV_STOP_NONE);
    s.progress.seconds = 10;
    CHECK(asked(&s) == MGV_STOP_TIME);
    s.progress.passes = 50;
    CHECK(asked(&s) == MGV_STOP_MAX_PASSES);
    s.progress.iteration = 100;
    CHECK(asked(&s) == MGV_STOP_MAX_ITER);
    close_scene(&s);
}

TEST(the_whole_calls_time_is_a_limit_of_its_own)
{
    scene s;
    open_scene(&s);
    s.settings->time_limit = INFINITY;
    s.progress.late = true;
    CHECK(asked(&s) == MGV_STOP_TIME);
    close_scene(&s);
}

TEST(a_budget_of_nothing_ends_it_at_once)
{
    scene s;
    open_scene(&s);
    s.progress = (mgvi_progress){.residual = NAN, .noise = NAN, .residual_before = NAN};
    s.settings->max_iter = 0;
    CHECK(asked(&s) == MGV_STOP_MAX_ITER);
    s.settings->max_iter = 100;
    s.settings->max_passes = 0;
    CHECK(asked(&s) == MGV_STOP_MAX_PASSES);
    s.settings->max_passes = INFINITY;
    s.settings->time_limit = 0;
    CHECK(asked(&s) == MGV_STOP_TIME);
    close_scene(&s);
}

TEST(the_residual_ends_it_at_the_noise_but_not_while_it_rises)
{
    scene s;
    open_scene(&s);
    s.progress.noise = 2;
    s.progress.residual = 2;
    CHECK(asked(&s) == MGV_STOP_DISCREPANCY); /* the first iterate has none before it */
    s.progress.residual_before = 3;
    CHECK(asked(&s) == MGV_STOP_DISCREPANCY);
    s.progress.residual_before = 1;
    CHECK(asked(&s) == MGV_STOP_NONE);
    s.progress.residual = 2.1;
    s.progress.residual_before = 3;
    CHECK(asked(&s) == MGV_STOP_NONE);
    s.progress.residual = NAN;
    CHECK(asked(&s) == MGV_STOP_NONE);
    close_scene(&s);
}

TEST(the_iterations_that_the_noise_prescribes)
{
    scene s;
    open_scene(&s);
    s.progress.planned = 10;
    CHECK(asked(&s) == MGV_STOP_APRIORI);
    s.progress.planned = 11;
    CHECK(asked(&s) == MGV_STOP_NONE);
    s.progress.planned = 0;
    s.progress.iteration = 0;
    CHECK(asked(&s) == MGV_STOP_NONE);
    close_scene(&s);
}

TEST(every_rule_has_a_name_a_summary_and_a_reason_of_its_own)
{
    for (int i = 0; i < mgvi_stop_count(); i++) {
        const mgvi_stop_rule *rule = mgvi_stop_at(i);
        CHECK(rule->name[0] && rule->summary[0] && rule->check);
        for (int k = 0; k < i; k++)
            CHECK(strcmp(rule->name, mgvi_stop_at(k)->name) != 0);
    }
    for (int stop = MGV_STOP_NONE; stop <= MGV_STOP_SCHEDULE; stop++) {
        CHECK(mgv_stop_name((mgv_stop)stop)[0]);
        for (int k = MGV_STOP_NONE; k < stop; k++)
            CHECK(strcmp(mgv_stop_name((mgv_stop)stop), mgv_stop_name((mgv_stop)k)) != 0);
    }
}

/* The part of `select` that one run follows: of hard losses alone, and with a number after it. */
TEST(which_selections_are_early_stops)
{
    static const struct {
        const char *select;
        bool on, apriori;
        double noise;
    } cases[] = {{"none", false, false, NAN},
                 {"last", true, false, NAN},
                 {"discrepancy:0.5", true, false, 0.5},
                 {"apriori:2", true, true, 2},
                 {"discrepancy:", false, false, NAN},
                 {"discrepancy:x", false, false, NAN},
                 {"cv:5", false, false, NAN}};
    scene s;
    open_scene(&s);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int hard = 0; hard < 2; hard++) {
            mgv_problem p = {.loss = mgvi_loss_find(hard ? "equal" : "squared")};
            s.settings->select = cases[k].select;
            const mgvi_early early = mgvi_early_read(&p, s.settings);
            CHECK_THAT(early.on == (hard && cases[k].on), "%s", cases[k].select);
            if (!early.on)
                continue;
            CHECK(early.apriori == cases[k].apriori);
            CHECK(isnan(cases[k].noise) ? isnan(early.noise) : early.noise == cases[k].noise);
        }
    close_scene(&s);
}

int main(void)
{
    return RUN(a_run_in_its_middle_goes_on, a_gap_ends_it_at_the_tolerance_and_not_above,
               a_gap_that_is_no_number_ends_nothing, what_the_judge_does_not_confirm_ends_nothing,
               a_proof_goes_before_a_gap, a_certificate_goes_before_every_budget,
               budgets_end_it_where_they_are_reached, the_whole_calls_time_is_a_limit_of_its_own,
               a_budget_of_nothing_ends_it_at_once,
               the_residual_ends_it_at_the_noise_but_not_while_it_rises,
               the_iterations_that_the_noise_prescribes,
               every_rule_has_a_name_a_summary_and_a_reason_of_its_own,
               which_selections_are_early_stops);
}
