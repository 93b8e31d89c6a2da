/* iterations.c - one early-stopped run; the driver ends it (stop/early.h). */
#include "select/iterations.h"

#include <math.h>

bool mgvi_iterations_suffice(const mgv_selection *s)
{
    return (s->probe->loss->can & MGVI_HARD) &&
           (s->rule.kind == MGVI_RULE_LAST || s->rule.kind == MGVI_RULE_DISCREPANCY ||
            s->rule.kind == MGVI_RULE_APRIORI);
}

mgv_status mgvi_iterations_run(mgv_selection *s)
{
    MGVI_TRY(mgvi_problem_new(s->ctx, s->data, &s->settings, MGVI_EVERY_CLASS, &s->problem));
    MGVI_TRY(mgvi_driver_new(s->ctx, s->problem, &s->settings, &s->solver));
    s->solver->selection = s;
    if (s->settings.resume[0])
        MGVI_TRY(mgvi_checkpoint_read(s->solver, s->settings.resume));
    MGVI_TRY(mgvi_driver_run(s->solver));
    const mgvi_run *run = &s->solver->run;
    mgvi_path *path = &s->path[0];
    mgvi_path_init(path, s->ctx, run->ops->name, "iteration");
    s->paths = 1;
    const mgvi_path_point point = {
        .lambda = NAN,
        .mu = NAN,
        .iteration = run->iteration,
        .gap = NAN,
        .residual = run->ops->residual ? run->ops->residual(run) : NAN,
        .nonzeros = mgvi_count_nonzeros(s->solver->answer.w.x, mgvi_problem_penalised(s->problem))};
    MGVI_TRY(mgvi_path_add(path, &point, NULL, 0));
    path->chosen = 0;
    return MGV_OK;
}
