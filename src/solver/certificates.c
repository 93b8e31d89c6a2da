/* certificates.c - when a run asks the judge, what it keeps of the verdicts, and its answer.
 *
 * A certificate costs two products, so it is taken when the solver's own estimate of the gap,
 * corrected by how wrong it was last time, says that the tolerance may be met, and otherwise after
 * numbers of passes that grow geometrically. All of this depends on numbers of the run only, never
 * on the clock. */
#include "solver/driver.h"

#include "base/limit.h"
#include "solver/shorten.h"

#include <math.h>

static const double GROWTH =
    0.3; /* of the passes between certificates that no estimate asked for */

/* ---- on schedule ----------------------------------------------------------------------------- */

bool mgvi_driver_certificate_due(mgv_solver *solver)
{
    enum { MANY_STEPS = 1000 }; /* of a few rows each: next to nothing is read */
    const mgvi_run *run = &solver->run;
    if (run->early) /* its certificate is taken when it ends */
        return false;
    const double estimate = run->ops->estimate ? run->ops->estimate(run) : NAN;
    if (isinf(estimate))
        return false;
    return mgvi_driver_schedule(solver) >= solver->memory.next_certificate ||
           run->iteration % MANY_STEPS == 0 || estimate * solver->memory.ratio <= run->goal;
}

double mgvi_driver_aftermath(const mgv_solver *solver)
{
    static const double SLOWLY = 4e-9; /* seconds for a byte */
    const mgvi_op *A = solver->run.problem->A;
    const bool linear = !(A->ops->can & MGVI_KERNEL);
    return linear ? SLOWLY * sizeof(double) * (double)A->cols * solver->run.problem->lanes : 0;
}

/* Whether the judge came to his end before the limit; else what failed for it did not. */
static bool judged_in_time(const mgv_solver *solver, mgv_status failed)
{
    if (!mgvi_ctx_close(solver->run.ctx))
        return true;
    solver->run.problem->A->failed = failed;
    return false;
}

bool mgvi_driver_judge(mgv_solver *solver, const mgvi_vec *w, const mgvi_vec *u, mgvi_care care,
                       mgvi_verdict *found)
{
    const mgv_status failed = solver->run.problem->A->failed;
    mgvi_ctx_open_last(solver->run.ctx);
    *found = mgvi_judge_certify_with(solver->judge, w, u, care);
    return judged_in_time(solver, failed);
}

bool mgvi_driver_prove(mgv_solver *solver, const mgvi_vec *u, int most, mgvi_pair *pair)
{
    mgv_ctx *ctx = solver->run.ctx;
    const mgv_status failed = solver->run.problem->A->failed;
    mgvi_ctx_open_last(ctx);
    const bool proven = mgvi_judge_prove(solver->judge, u, most, pair->verdict);
    judged_in_time(solver, failed);
    if (!proven)
        return false;
    mgvi_vec_copy(ctx, mgvi_judge_dual(solver->judge), &pair->u);
    return true;
}

/* Keeps w when its primal value is the best so far, u when its dual value is. */
static void keep_better(mgv_solver *solver, mgvi_pair *pair, const mgvi_iterate *it,
                        const mgvi_verdict *found)
{
    mgv_ctx *ctx = solver->run.ctx;
    const bool first = pair->verdict->certificate.size == 0;
    const bool better_u = first || found->dual_score > pair->verdict->dual_score;
    const bool better_w = first || mgvi_verdict_improves(solver->run.problem, found, pair->verdict,
                                                         better_u ? found : pair->verdict);
    if (better_u)
        mgvi_vec_copy(ctx, mgvi_judge_dual(solver->judge), &pair->u);
    if (better_w) {
        if (it->w != &pair->w)
            mgvi_vec_copy(ctx, it->w, &pair->w);
        mgvi_judge_repair(solver->judge, &pair->w);
    }
    const mgvi_verdict old = *pair->verdict;
    if (better_w || better_u)
        *pair->verdict = mgvi_verdict_combine(solver->run.problem, better_w ? found : &old,
                                              better_u ? found : &old);
}

/* The proof u on fewer rows, which have a single dependency; not where the judge does not believe
 * it. */
static mgv_status prove_on_fewer_rows(mgv_solver *solver, mgvi_pair *pair, const mgvi_vec *u)
{
    mgv_ctx *ctx = solver->run.ctx;
    mgvi_vec *q = &solver->answer.u; /* the answer is made when the run ends */
    mgvi_vec_copy(ctx, u, q);
    mgvi_vec_scale(ctx, -1, q);
    solver->whole.next_iterate = -INFINITY;
    mgvi_ctx_open_last(ctx);
    const mgv_status st = mgvi_shorten_proof(solver->run.problem, q);
    if (mgvi_ctx_close(ctx)) { /* the answer at the end is made of something else */
        mgvi_vec_fill(ctx, q, 0);
        return MGV_OK;
    }
    MGVI_TRY(st);
    mgvi_vec_scale(ctx, -1, q);
    enum { STEPS = 30 };
    if (!mgvi_driver_prove(solver, q, STEPS, pair))
        mgvi_log(ctx, MGV_WARNING, "no proof was found on fewer rows");
    return MGV_OK;
}

/* Hard margin without a separating w: a proof is tried when the solver suspects one, or when the
 * upper bound has become small; attempts double their distance, and cost no more than the run. */
static mgv_status attempt_proof(mgv_solver *solver, mgvi_pair *pair, const mgvi_iterate *it)
{
    mgvi_driver_memory *m = &solver->memory;
    const mgv_certificate *c = &pair->verdict->certificate;
    const bool suspicious = solver->run.suspicious;
    const bool margin = mgvi_problem_has_margin(solver->run.problem);
    if (!(solver->run.problem->loss->can & MGVI_HARD) || c->separable >= 0)
        return MGV_OK;
    const bool hopeful =
        margin ? c->margin_upper > 0.05 * mgvi_judge_radius(solver->judge) : c->relative_gap < 0.01;
    if (!suspicious && (m->certificates < m->next_proof || hopeful))
        return MGV_OK;
    m->next_proof = 2 * m->certificates + 1;
    const int most = suspicious ? 200 : (int)fmin(fmax(mgvi_driver_schedule(solver) / 8, 30), 200);
    const bool proven = mgvi_driver_prove(solver, it->u, most, pair);
    const mgvi_vec *u = mgvi_judge_dual(solver->judge);
    if (!proven && mgvi_ctx_late(solver->run.ctx) != MGV_STOP_NONE)
        return MGV_OK;
    const bool rows = !(solver->run.problem->A->ops->can & MGVI_KERNEL); /* that can be weighed */
    const bool shorter =
        proven ? solver->settings.short_proof : mgvi_judge_nearly_proven(solver->judge);
    return margin && rows && shorter ? prove_on_fewer_rows(solver, pair, u) : MGV_OK;
}

/* Of w alone, beside the dual side that is known. False: the limit has cut it short. */
static bool judge_primal(mgv_solver *solver, const mgvi_pair *pair, mgvi_care care,
                         mgvi_verdict *found)
{
    const mgv_status failed = solver->run.problem->A->failed;
    mgvi_ctx_open_last(solver->run.ctx);
    *found = mgvi_judge_certify_primal(solver->judge, &pair->w, care, pair->verdict);
    return judged_in_time(solver, failed);
}

/* Whether rounding has taken next to nothing from the dual side of a soft loss. */
static bool has_sharp_dual(const mgv_solver *solver, const mgvi_verdict *v)
{
    return !(solver->run.problem->loss->can & MGVI_HARD) &&
           v->dual_rounding <= 0.01 * solver->settings.tol * fabs(v->certificate.primal);
}

/* With care, and again where the weights had to be made a little longer to have their margin.
 * False: the limit has cut it short; the weights are as they were. */
static bool judge_closely(mgv_solver *solver, mgvi_pair *pair, mgvi_care care, mgvi_verdict *found)
{
    enum { ROUNDS = 3 };
    mgv_ctx *ctx = solver->run.ctx;
    double longer = 1;
    if (has_sharp_dual(solver, pair->verdict))
        return judge_primal(solver, pair, care, found);
    for (int k = 0; k <= ROUNDS; k++) {
        if (!mgvi_driver_judge(solver, &pair->w, &pair->u, care, found)) {
            mgvi_vec_scale(ctx, 1 / longer, &pair->w);
            return false;
        }
        const double factor = mgvi_judge_stretch(solver->judge);
        if (factor == 1)
            return true;
        mgvi_vec_scale(ctx, factor, &pair->w);
        longer *= factor;
    }
    *found = mgvi_judge_certify(solver->judge, &pair->w, &pair->u);
    mgvi_judge_repair(solver->judge, &pair->w);
    return true;
}

/* Whether the gap would be small enough if nothing was rounded, for u as it was before room was
 * left for rounding; the pair's u becomes that one then. */
static bool is_worth_a_look(mgv_solver *solver, mgvi_pair *pair, double sharp, double shrunk)
{
    mgv_ctx *ctx = solver->run.ctx;
    const double tol = solver->settings.tol;
    const bool of_w = has_sharp_dual(solver, pair->verdict);
    mgvi_verdict found;
    bool whole;
    if (sharp >= -tol && shrunk == 1)
        return true;
    if (of_w) {
        whole = judge_primal(solver, pair, MGVI_CARE_NONE, &found);
    } else {
        mgvi_vec lent[2]; /* the pair's own u keeps its digits: this may come many times */
        mgvi_judge_lend(solver->judge, lent);
        mgvi_vec_copy(ctx, &pair->u, &lent[1]);
        mgvi_vec_scale(ctx, 1 / shrunk, &lent[1]);
        whole = mgvi_driver_judge(solver, &pair->w, &lent[1], MGVI_CARE_NONE, &found);
    }
    if (whole && found.certificate.relative_gap > tol)
        mgvi_verdict_excuse(solver->judge, &found); /* an optimum of 0, as the look will say */
    if (!whole || found.certificate.relative_gap > tol)
        return false;
    if (!of_w)
        mgvi_vec_scale(ctx, 1 / shrunk, &pair->u);
    return true;
}

/* Whether rounding hides the u just judged, which the judge still holds, behind the pair's: it is
 * the pair's then, and the answer's u, which is made at the end, is what that was before. */
static bool takes_hidden_dual(mgv_solver *solver, mgvi_pair *pair, const mgvi_verdict *latest)
{
    mgv_ctx *ctx = solver->run.ctx;
    const double tol = solver->settings.tol;
    mgvi_vec lent[2];
    mgvi_verdict found;
    if (!latest || !(latest->dual_score < pair->verdict->dual_score) ||
        has_sharp_dual(solver, pair->verdict) ||
        !(mgvi_verdict_sharp_gap(solver->run.problem, latest) <= tol))
        return false;
    mgvi_judge_lend(solver->judge, lent);
    mgvi_vec_scale(ctx, 1 / (latest->shrunk > 0 ? latest->shrunk : 1), &lent[1]);
    if (!mgvi_driver_judge(solver, &pair->w, &lent[1], MGVI_CARE_NONE, &found) ||
        found.certificate.relative_gap > tol)
        return false;
    mgvi_vec_copy(ctx, &pair->u, &solver->answer.u);
    mgvi_vec_copy(ctx, mgvi_judge_dual(solver->judge), &pair->u);
    solver->whole.next_iterate = -INFINITY;
    return true;
}

/* Where rounding alone keeps the pair, or it with the u just judged (`latest`, may be NULL), from
 * its certificate the judge looks again, with more care. The data, or the weights in the user's
 * units, may not have the digits: after some looks in vain the run is over. */
static void look_closer(mgv_solver *solver, mgvi_pair *pair, const mgvi_verdict *latest)
{
    mgv_ctx *ctx = solver->run.ctx;
    const mgv_problem *p = solver->run.problem;
    const double tol = solver->settings.tol;
    mgvi_verdict *v = pair->verdict, found;
    const double sharp =
        mgvi_verdict_sharp_gap(p, v); /* below 0: rounding cost less than it says */
    if (v->certificate.separable == 0 || v->certificate.relative_gap <= tol ||
        solver->memory.looks >= MGVI_LOOKS || solver->memory.far_looks >= MGVI_FAR_LOOKS)
        return;
    const bool of_w = has_sharp_dual(solver, v);
    const double shrunk = v->shrunk > 0 && !of_w ? v->shrunk : 1;
    const bool hidden = takes_hidden_dual(solver, pair, latest);
    if (!hidden && (!(sharp <= tol) || !is_worth_a_look(solver, pair, sharp, shrunk)))
        return;
    int care = mgvi_judge_next_care(solver->judge);
    bool whole;
    do
        whole = judge_closely(solver, pair, (mgvi_care)care, &found);
    while (whole && found.certificate.relative_gap > tol && ++care < MGVI_CARES);
    if (!whole && hidden)
        mgvi_vec_copy(ctx, &solver->answer.u, &pair->u);
    else if (!whole)
        mgvi_vec_scale(ctx, shrunk, &pair->u);
    if (!whole)
        return;
    const double left = mgvi_verdict_sharp_gap(p, &found);
    /* there is more to it than rounding, or rounding is but a part of what is asked for */
    const bool far = left > tol || found.certificate.relative_gap - left < 0.5 * tol;
    if (found.certificate.relative_gap > tol)
        mgvi_verdict_excuse(solver->judge, &found);
    *v = mgvi_verdict_combine(p, &found, &found);
    if (!of_w)
        mgvi_vec_copy(ctx, mgvi_judge_dual(solver->judge), &pair->u);
    if (!(found.certificate.relative_gap <= tol))
        *(far ? &solver->memory.far_looks : &solver->memory.looks) += 1;
}

/* Whether the w just judged has what is asked for, if nothing was rounded, and is hidden behind the
 * pair's, which has not: the more rows rest at a bend of the loss, the more rounding may cost. The
 * pair's w becomes that one then. */
static bool takes_hidden_primal(mgv_solver *solver, mgvi_pair *pair, const mgvi_vec *w,
                                const mgvi_verdict *latest)
{
    const mgv_problem *p = solver->run.problem;
    const double tol = solver->settings.tol;
    const mgvi_verdict with = mgvi_verdict_combine(p, latest, pair->verdict);
    mgvi_verdict found;
    if ((p->loss->can & MGVI_HARD) || pair->verdict->certificate.relative_gap <= tol ||
        solver->memory.looks >= MGVI_LOOKS || solver->memory.far_looks >= MGVI_FAR_LOOKS ||
        !(latest->primal_score > pair->verdict->primal_score) ||
        !(mgvi_verdict_sharp_gap(p, &with) <= tol) ||
        !mgvi_driver_judge(solver, w, &pair->u, MGVI_CARE_NONE, &found) ||
        found.certificate.relative_gap > tol)
        return false;
    mgvi_vec_copy(solver->run.ctx, w, &pair->w);
    mgvi_judge_repair(solver->judge, &pair->w);
    *pair->verdict = with;
    return true;
}

mgv_status mgvi_driver_offer(mgv_solver *solver)
{
    const mgvi_iterate it = {.w = &solver->answer.w, .u = &solver->answer.u};
    mgvi_verdict found;
    if (!mgvi_driver_judge(solver, it.w, it.u, MGVI_CARE_PLAIN, &found))
        return MGV_OK;
    if (found.certificate.relative_gap > solver->settings.tol)
        mgvi_verdict_excuse(solver->judge, &found);
    if (!(found.certificate.verified && found.certificate.relative_gap <= solver->settings.tol))
        return MGV_OK;
    MGVI_TRY(mgvi_driver_open_best(solver));
    keep_better(solver, &solver->best, &it, &found);
    solver->memory.certificates = 1;
    solver->memory.certified = solver->run.iteration;
    return MGV_OK;
}

/* (P - D)/D where the relative gap is (P - D)/P, which stays near 1 until P is near an optimum that
 * is small beside where it began. */
static const double FAR = 1e6, FARTHEST = 1e12;

double mgvi_driver_way(double relative_gap)
{
    return relative_gap < 1 ? fmin(relative_gap / (1 - relative_gap), FARTHEST) : FARTHEST;
}

mgv_status mgvi_driver_certify(mgv_solver *solver, bool *certified)
{
    mgvi_run *run = &solver->run;
    mgvi_driver_memory *m = &solver->memory;
    const double estimate = run->ops->estimate ? run->ops->estimate(run) : NAN;
    const double begun = mgvi_ctx_clock(run->ctx);
    MGVI_TRY(mgvi_driver_open_best(solver));
    const mgvi_iterate it = run->ops->expose(run);
    const double before = run->problem->A->touched;
    mgvi_verdict found;
    *certified = mgvi_driver_judge(solver, it.w, it.u, MGVI_CARE_PLAIN, &found);
    if (!*certified) { /* a resumed run takes it, as if nothing had been */
        solver->touched_before += run->problem->A->touched - before;
        return MGV_OK;
    }
    const double last = /* at the beginning the dual value is next to nothing */
        m->certificates > 0 ? mgvi_driver_way(m->best.certificate.relative_gap) : FAR;
    keep_better(solver, &solver->best, &it, &found);
    m->gain = mgvi_driver_way(m->best.certificate.relative_gap) / last;
    m->since = mgvi_driver_spent(solver) - m->spent;
    m->spent += m->since;
    mgvi_ctx_reserve(run->ctx, mgvi_ctx_clock(run->ctx) - begun + /* one more is to come */
                                   mgvi_driver_aftermath(solver));
    m->certificates++;
    m->certified = run->iteration;
    look_closer(solver, &solver->best, &found);
    if (takes_hidden_primal(solver, &solver->best, it.w, &found))
        look_closer(solver, &solver->best, NULL);
    MGVI_TRY(attempt_proof(solver, &solver->best, &it));
    const double gap = found.certificate.relative_gap;
    if (estimate > 0 && gap > 0 && isfinite(gap))
        m->ratio = fmin(fmax(gap / estimate, 0.01), 1.0);
    const double passes = mgvi_driver_schedule(solver);
    m->next_certificate = passes + fmax(MGVI_FIRST_PASSES, GROWTH * (passes - m->began));
    return MGV_OK;
}

/* ---- the answer ------------------------------------------------------------------------------ */

void mgvi_driver_settle(mgv_solver *solver, bool certified)
{
    mgv_ctx *ctx = solver->run.ctx;
    mgvi_pair *best = &solver->best, *answer = &solver->answer;
    const bool known = best->verdict->certificate.size > 0 && !solver->run.early;
    mgvi_iterate it = {.w = &answer->w, .u = &answer->u};
    mgvi_verdict found;
    bool judged = false;
    if (!certified || solver->run.early) {
        const double before = solver->run.problem->A->touched;
        it = mgvi_driver_present(solver);
        judged = mgvi_driver_judge(solver, it.w, it.u, MGVI_CARE_PLAIN, &found);
        const double extra = solver->run.problem->A->touched - before;
        solver->settled += extra;
        solver->touched_before += extra;
    }
    if (judged && !known) /* the present iterate, whatever came before */
        solver->answer_verdict = (mgvi_verdict){0};
    else if (judged && solver->cut)
        keep_better(solver, best, &it, &found); /* nobody goes on from here */
    if (known) {
        mgvi_vec_copy(ctx, &best->w, &answer->w);
        mgvi_vec_copy(ctx, &best->u, &answer->u);
        solver->answer_verdict = *best->verdict;
    }
    if (judged && !(known && solver->cut))
        keep_better(solver, answer, &it, &found);
    if (judged && !solver->run.early && !solver->cut)
        look_closer(solver, answer, NULL);
    if (judged || known)
        return;
    mgvi_vec_copy(ctx, it.w, &answer->w);
    solver->answer_verdict = mgvi_verdict_none();
}

mgvi_iterate mgvi_driver_present(mgv_solver *solver)
{
    return solver->cut ? (mgvi_iterate){.w = &solver->answer.w, .u = &solver->answer.u}
                       : solver->run.ops->expose(&solver->run);
}

void mgvi_driver_keep(mgv_solver *solver)
{
    mgvi_vec_copy(solver->run.ctx, solver->run.ops->expose(&solver->run).w, &solver->answer.w);
}

void mgvi_driver_end_chosen(mgv_solver *solver, mgv_stop stop, double seconds)
{
    solver->answer_verdict = mgvi_verdict_none();
    solver->memory.seconds = seconds;
    solver->stop = stop;
}

/* The answer is the present iterate, whatever a certificate would think of it. */
void mgvi_driver_end(mgv_solver *solver, mgv_stop stop)
{
    mgvi_driver_adopt(solver, mgvi_driver_present(solver).w, NULL, stop);
}

void mgvi_driver_adopt(mgv_solver *solver, const mgvi_vec *w, const mgvi_vec *u, mgv_stop stop)
{
    const mgvi_iterate now = mgvi_driver_present(solver);
    const mgvi_iterate it = {.w = w, .u = u ? u : now.u};
    mgvi_verdict found;
    solver->stop = stop;
    solver->answer_verdict = mgvi_verdict_none();
    solver->answer_verdict.certificate.size = 0; /* no pair yet */
    if (mgvi_driver_judge(solver, it.w, it.u, MGVI_CARE_PLAIN, &found)) {
        keep_better(solver, &solver->answer, &it, &found);
        return;
    }
    if (w != &solver->answer.w)
        mgvi_vec_copy(solver->run.ctx, w, &solver->answer.w);
    solver->answer_verdict = mgvi_verdict_none();
}

void mgvi_driver_adopt_judged(mgv_solver *solver, const mgvi_vec *w, const mgvi_vec *u,
                              const mgvi_verdict *verdict, mgv_stop stop)
{
    mgvi_vec_copy(solver->run.ctx, w, &solver->answer.w);
    mgvi_vec_copy(solver->run.ctx, u, &solver->answer.u);
    solver->answer_verdict = *verdict;
    solver->stop = stop;
}
