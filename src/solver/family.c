/* family.c - one run per class, one after the other. */
#include "solver/family.h"

#include "base/clock.h"

#include <math.h>

mgv_status mgvi_family_new(mgv_solver *solver)
{
    mgvi_run *run = &solver->run;
    const mgv_data *data = run->problem->data;
    mgvi_family *f = mgvi_run_array(run, 1, sizeof *f);
    if (!f)
        return MGV_E_MEMORY;
    const size_t members = (size_t)data->classes;
    f->members = data->classes;
    f->impossible = -1;
    f->member = mgvi_run_array(run, members, sizeof *f->member);
    f->coef = mgvi_run_array(run, members * (size_t)data->X.cols, sizeof *f->coef);
    f->intercept = mgvi_run_array(run, members, sizeof *f->intercept);
    if (!f->member || !f->coef || !f->intercept)
        return MGV_E_MEMORY;
    solver->family = f;
    return MGV_OK;
}

static mgv_status collect(mgv_solver *head, int64_t c, const mgv_solver *member)
{
    mgvi_family *f = head->family;
    const mgv_problem *p = member->run.problem;
    f->member[c] = mgvi_driver_summary(member);
    mgvi_problem_user_weights(p, member->answer.w.x, f->coef + c * p->data->X.cols,
                              &f->intercept[c]);
    if (member->stop != MGV_STOP_INFEASIBLE)
        return MGV_OK;
    f->impossible = c;
    MGVI_TRY(mgvi_run_vec(&head->run, MGVI_ROWS, &f->proof));
    mgvi_vec_copy(head->run.ctx, &member->answer.u, &f->proof);
    return MGV_OK;
}

/* Binds class c against the rest, runs it, keeps what it came to. */
static mgv_status run_member(mgv_solver *head, int64_t c, double seconds_left)
{
    mgv_ctx *ctx = head->run.ctx;
    mgv_data *data = head->run.problem->data;
    mgv_settings settings = head->settings;
    mgv_problem *problem = NULL;
    mgv_solver *solver = NULL;
    settings.time_limit = fmax(seconds_left, 0);
    mgvi_log(ctx, MGV_INFO, "class '%.40s' against the rest, %" PRId64 " of %" PRId64,
             data->class_text[c], c + 1, head->family->members);
    mgv_status st = mgvi_problem_new(ctx, data, &settings, c, &problem);
    if (st == MGV_OK)
        st = mgvi_driver_new(ctx, problem, &settings, &solver);
    if (st == MGV_OK)
        st = mgvi_driver_run(solver);
    if (st == MGV_OK)
        st = collect(head, c, solver);
    mgvi_driver_free(solver);
    mgvi_problem_free(problem);
    return st;
}

/* Whether a member that ended so leaves nothing for the others to do. */
static bool ends_the_family(mgv_stop stop)
{
    return stop == MGV_STOP_INFEASIBLE || stop == MGV_STOP_USER || stop == MGV_STOP_TIME;
}

/* What was not reached must not win against what was. */
static void give_up_the_rest(mgv_solver *head, int64_t first, mgv_stop stop)
{
    mgvi_family *f = head->family;
    if (stop != MGV_STOP_INFEASIBLE && first < f->members)
        mgvi_log(head->run.ctx, MGV_WARNING,
                 "%" PRId64 " of %" PRId64
                 " classes were not reached: no row will be given to them",
                 f->members - first, f->members);
    for (int64_t c = first; c < f->members; c++) {
        f->member[c].stop = stop;
        f->intercept[c] = -1e300;
    }
}

mgv_status mgvi_family_run(mgv_solver *solver)
{
    mgvi_family *f = solver->family;
    const double started = mgvi_clock_seconds();
    solver->stop = MGV_STOP_NONE;
    for (int64_t c = 0; c < f->members; c++) {
        if (f->member[c].stop == MGV_STOP_CERTIFIED)
            continue;
        const double spent = mgvi_clock_seconds() - started;
        MGVI_TRY(run_member(solver, c, solver->settings.time_limit - spent));
        const mgv_stop stop = f->member[c].stop;
        if (ends_the_family(stop)) {
            give_up_the_rest(solver, c + 1, stop);
            break;
        }
    }
    solver->stop = mgvi_family_summary(solver).stop;
    return MGV_OK;
}

/* The pair that promises less. A certificate that was not verified promises nothing. */
static void add_certificate(mgv_certificate *sum, const mgv_certificate *one)
{
    sum->primal += one->primal;
    sum->dual += one->dual;
    sum->gap += one->gap;
    sum->relative_gap = fmax(sum->relative_gap, one->relative_gap);
    sum->margin = fmin(sum->margin, one->margin);
    sum->margin_upper = fmin(sum->margin_upper, one->margin_upper);
    if (one->separable != 1 && sum->separable != 0)
        sum->separable = one->separable;
    if (one->separable == 0)
        sum->proof_norm = one->proof_norm;
    sum->verified = sum->verified && one->verified;
}

mgvi_summary mgvi_family_summary(const mgv_solver *solver)
{
    const mgvi_family *f = solver->family;
    mgvi_summary sum = f->member[0];
    sum.stop = MGV_STOP_CERTIFIED;
    for (int64_t c = 0; c < f->members; c++) {
        const mgvi_summary *one = &f->member[c];
        if (one->stop != MGV_STOP_CERTIFIED && sum.stop != MGV_STOP_INFEASIBLE)
            sum.stop = one->stop;
        if (c == 0)
            continue;
        sum.iterations += one->iterations;
        sum.passes += one->passes;
        sum.seconds += one->seconds;
        add_certificate(&sum.certificate, &one->certificate);
    }
    if (!sum.solver)
        sum.solver = solver->run.ops->name;
    return sum;
}
