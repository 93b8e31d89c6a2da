/* family.c - what a family holds of its members: where they begin and end, and what they come to. */
#include "solver/classes/family.h"

#include "problem/member.h"

#include <math.h>
#include <string.h>

mgv_status mgvi_family_new(mgv_solver *solver)
{
    mgvi_run *run = &solver->run;
    mgvi_family *f = mgvi_run_array(run, 1, sizeof *f);
    if (!f)
        return MGV_E_MEMORY;
    f->members = mgvi_model_outputs(run->problem);
    const size_t members = (size_t)f->members;
    f->impossible = -1;
    f->member = mgvi_run_array(run, members, sizeof *f->member);
    f->coef =
        mgvi_run_array(run, members * (size_t)mgvi_problem_coefs(run->problem), sizeof *f->coef);
    f->intercept = mgvi_run_array(run, members, sizeof *f->intercept);
    f->length = mgvi_run_array(run, members, sizeof *f->length);
    f->left = mgvi_run_array(run, members, sizeof *f->left);
    if (!f->member || !f->coef || !f->intercept || !f->length || !f->left)
        return MGV_E_MEMORY;
    solver->family = f;
    return MGV_OK;
}

/* ---- where members begin and end ------------------------------------------------------------- */

void mgvi_member_forget(mgv_ctx *ctx, mgvi_member_start *start)
{
    mgvi_release(ctx, start->w);
    mgvi_release(ctx, start->u);
    *start = (mgvi_member_start){0};
}

void mgvi_member_forget_left(mgv_ctx *ctx, mgvi_member_left *left)
{
    mgvi_member_forget(ctx, &left->start);
    mgvi_release(ctx, left->image);
    mgvi_release(ctx, left->state);
    left->image = NULL;
    left->state = NULL;
}

void mgvi_family_free(mgv_solver *solver)
{
    mgvi_family *f = solver->family;
    if (!f)
        return;
    for (int64_t c = 0; c < f->members; c++) {
        mgvi_member_forget_left(solver->run.ctx, &f->left[c]);
        if (f->end)
            mgvi_member_forget(solver->run.ctx, &f->end[c]);
    }
    mgvi_release(solver->run.ctx, f->end);
    f->end = NULL;
}

bool mgvi_family_has_room(const mgv_solver *solver)
{
    const mgv_problem *p = solver->run.problem;
    const double most = mgvi_problem_spare(p, 7) / 8; /* numbers */
    const double members = (double)solver->family->members;
    const double rows =
        (double)p->A->rows * (p->pairwise ? (double)(mgvi_problem_classes(p) - 1) : members);
    return rows + (double)p->A->cols * members <= most;
}

double mgvi_family_passes_left(const mgv_solver *solver)
{
    const mgvi_family *f = solver->family;
    double spent = 0;
    for (int64_t c = 0; c < f->members; c++)
        spent += f->left[c].passes;
    return fmax(solver->settings.max_passes - spent, 0) / (double)f->members;
}

mgv_status mgvi_family_follow(mgv_solver *solver, mgv_solver *before)
{
    mgvi_family *f = solver->family;
    for (int64_t c = 0; before && before->family && before->family->end && c < f->members; c++) {
        f->left[c].start = before->family->end[c];
        before->family->end[c] = (mgvi_member_start){0};
    }
    if (!mgvi_family_has_room(solver))
        return MGV_OK;
    f->end = mgvi_zeros(solver->run.ctx, (size_t)f->members, sizeof *f->end);
    return f->end ? MGV_OK : MGV_E_MEMORY;
}

mgv_status mgvi_member_note(mgv_ctx *ctx, const mgvi_vec *w, const mgvi_vec *u, int32_t lane,
                            mgvi_member_start *out)
{
    mgvi_member_forget(ctx, out);
    out->w = mgvi_alloc(ctx, (size_t)w->n, sizeof *w->x);
    out->u = mgvi_alloc(ctx, (size_t)u->n, sizeof *u->x);
    if (!out->w || !out->u)
        return MGV_E_MEMORY;
    for (int64_t j = 0; j < w->n; j++)
        out->w[j] = w->x[j * w->k + lane];
    for (int64_t i = 0; i < u->n; i++)
        out->u[i] = u->x[i * u->k + lane];
    return MGV_OK;
}

/* ---- what they come to ----------------------------------------------------------------------- */

mgv_status mgvi_family_adopt(mgv_solver *solver, const double *coef, const double *intercept,
                             mgv_stop stop)
{
    mgvi_family *f = solver->family;
    const mgv_problem *p = solver->run.problem;
    const int64_t d = mgvi_problem_coefs(p);
    for (int64_t c = 0; c < f->members; c++) {
        const bool none = f->member[c].stop == MGV_STOP_NONE;
        if (!none && f->intercept[c] != MGVI_NOT_REACHED)
            continue;
        memcpy(f->coef + c * d, coef + c * d, (size_t)d * sizeof *coef);
        f->intercept[c] = intercept[c];
        f->member[c] = (mgvi_summary){.solver = solver->run.ops->name, .stop = stop};
    }
    solver->stop = stop;
    return MGV_OK;
}

void mgvi_family_add_certificate(mgv_certificate *sum, const mgv_certificate *one)
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
        mgvi_family_add_certificate(&sum.certificate, &one->certificate);
    }
    sum.seconds = f->seconds;
    if (f->impossible >= 0) /* its proof speaks for all, those not reached included */
        sum.certificate = f->member[f->impossible].certificate;
    if (!sum.solver)
        sum.solver = solver->run.ops->name;
    return sum;
}
