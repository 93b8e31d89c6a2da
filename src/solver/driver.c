/* driver.c - the only loop: steps, certificates, stopping rules, best iterate, trace, interrupts.
 *
 * A certificate costs two products, so it is taken when the solver's own estimate of the gap,
 * corrected by how wrong it was last time, says that the tolerance may be met, and otherwise after
 * numbers of passes that grow geometrically. All of this depends on numbers of the run only, never
 * on the clock. */
#include "solver/driver.h"

#include "base/limit.h"
#include "base/sink.h"
#include "solver/family.h"
#include "solver/parts/shorten.h"

#include <math.h>
#include <string.h>

/* Passes between certificates that no estimate asked for. */
static const double FIRST_PASSES = 10, GROWTH = 0.3;

/* ---- making and freeing ---------------------------------------------------------------------- */

static mgv_status prepare(mgv_solver *solver)
{
    mgvi_run *run = &solver->run;
    if (!(run->kept = mgvi_run_array(run, MGVI_MOST_KEPT, sizeof *run->kept)))
        return MGV_E_MEMORY;
    mgvi_pair *best = &solver->best, *answer = &solver->answer;
    answer->verdict = &solver->answer_verdict;
    if (run->ops->primal_only)
        return mgvi_run_vec(run, MGVI_COLS, &answer->w);
    MGVI_TRY(mgvi_judge_new(&run->arena, run->problem, &solver->judge));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &best->w));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &best->u));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &answer->w));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &answer->u));
    best->verdict = &solver->memory.best;
    MGVI_TRY(mgvi_run_keep(run, "best_w", MGVI_T_F64, best->w.x, best->w.n * best->w.k));
    MGVI_TRY(mgvi_run_keep(run, "best_u", MGVI_T_F64, best->u.x, best->u.n * best->u.k));
    return mgvi_run_keep(run, "driver", MGVI_T_U8, &solver->memory, sizeof solver->memory);
}

/* docs/algorithms/primal_dual.md (15): k = C |y - A w_0| / (sigma_factor DELTA), for the mean of
 * the iterates of a primal-dual run, whose sigma is what the number is measured in. */
static mgv_status plan_iterations(mgv_solver *solver, double noise)
{
    const mgvi_run *run = &solver->run;
    const mgv_settings *s = &solver->settings;
    if (!run->ops->settings || !strstr(run->ops->settings, "iterate"))
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                         "select apriori is a rule for solver primal_dual, not for %s",
                         run->ops->name);
    const double k = ceil(s->apriori_factor / s->sigma_factor * run->ops->residual(run) / noise);
    if (!(k < 1e15))
        return MGVI_FAIL(run->ctx, MGV_E_ARG,
                         "select apriori with a noise of %g would take %.0e iterations", noise, k);
    solver->planned = k < 1 ? 1 : (int64_t)k;
    return MGV_OK;
}

static mgv_status open_solver(mgv_ctx *ctx, const mgv_problem *problem,
                              const mgv_settings *settings, const mgvi_solver_ops *ops,
                              mgv_solver **out)
{
    const mgvi_early early = mgvi_early_read(problem, settings);
    MGVI_TRY(mgvi_solver_fits(ctx, ops, problem));
    if (early.on && !isnan(early.noise) && !ops->residual)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver %s has no residual to hold against the noise; primal_dual has",
                         ops->name);
    mgv_solver *solver = mgvi_new(ctx, sizeof *solver);
    if (!solver)
        return MGV_E_MEMORY;
    solver->settings = *settings;
    if (early.apriori) /* its law holds for the mean of the iterates */
        strcpy(solver->settings.iterate, "average");
    solver->run = (mgvi_run){.ctx = ctx,
                             .problem = problem,
                             .settings = &solver->settings,
                             .ops = ops,
                             .goal = settings->tol,
                             .rng = mgvi_rng_seed((uint64_t)settings->seed)};
    solver->memory =
        (mgvi_driver_memory){.next_certificate = FIRST_PASSES,
                             .ratio = 1,
                             .residual_before = NAN,
                             .best = {.primal_score = INFINITY, .dual_score = -INFINITY}};
    solver->run.early = early.on;
    solver->noise = early.apriori ? NAN : early.noise;
    mgvi_arena_init(&solver->run.arena, ctx);
    mgv_status st = problem->many ? mgvi_family_new(solver) : prepare(solver);
    if (st == MGV_OK && !problem->many)
        st = mgvi_driver_seat(solver, ops);
    if (st == MGV_OK && early.apriori && !solver->cut)
        st = plan_iterations(solver, early.noise);
    if (st != MGV_OK) {
        mgvi_driver_free(solver);
        return st;
    }
    *out = solver;
    return MGV_OK;
}

/* A solver that refuses the numbers when it looks at them closer leaves the problem to the next. */
static mgv_status open_automatic(mgv_ctx *ctx, const mgv_problem *problem,
                                 const mgv_settings *settings, mgv_solver **out)
{
    const mgvi_solver_ops *first, *second;
    char refusal[MGVI_ERROR_MAX];
    MGVI_TRY(mgvi_solver_auto(ctx, problem, settings, 0, &first));
    const mgv_status st = open_solver(ctx, problem, settings, first, out);
    if (st == MGV_OK)
        (*out)->tried = mgvi_solver_bit(first);
    if (st != MGV_E_UNSUPPORTED)
        return st;
    memcpy(refusal, ctx->error, sizeof refusal);
    if (mgvi_solver_auto(ctx, problem, settings, mgvi_solver_bit(first), &second) != MGV_OK)
        return MGVI_FAIL(ctx, st, "%s", refusal);
    mgvi_log(ctx, MGV_INFO, "%s; solver %s takes its place", refusal, second->name);
    MGVI_TRY(open_solver(ctx, problem, settings, second, out));
    (*out)->tried = mgvi_solver_bit(first) | mgvi_solver_bit(second);
    return MGV_OK;
}

mgv_status mgvi_driver_new(mgv_ctx *ctx, const mgv_problem *problem, const mgv_settings *settings,
                           mgv_solver **out)
{
    *out = NULL;
    if (strcmp(settings->solver, "auto") == 0)
        return open_automatic(ctx, problem, settings, out);
    const mgvi_solver_ops *ops = mgvi_solver_find(settings->solver);
    if (!ops)
        return MGVI_FAIL(ctx, MGV_E_ARG, "there is no solver '%.40s'; `margrave list` names them",
                         settings->solver);
    return open_solver(ctx, problem, settings, ops, out);
}

void mgvi_driver_free(mgv_solver *solver)
{
    if (!solver)
        return;
    mgv_ctx *ctx = solver->run.ctx;
    mgvi_family_free(solver);
    mgvi_driver_free_limits(solver);
    mgvi_arena_free(&solver->run.arena);
    mgvi_release(ctx, solver);
}

mgv_status mgvi_driver_start(mgv_solver *solver, const double *w, const double *u)
{
    mgvi_run *run = &solver->run;
    const mgvi_pair *answer = &solver->answer; /* of a run that ends before its first step */
    solver->memory.residual_before = 0;        /* the start itself is no answer */
    if (w != answer->w.x)
        memcpy(answer->w.x, w, (size_t)(answer->w.n * answer->w.k) * sizeof *w);
    if (u && u != answer->u.x)
        memcpy(answer->u.x, u, (size_t)(answer->u.n * answer->u.k) * sizeof *u);
    return run->ops->start && !solver->cut ? run->ops->start(run, w, u) : MGV_OK;
}

mgv_status mgvi_driver_follow(mgv_solver *solver, mgv_solver *before)
{
    if (solver->family)
        return mgvi_family_follow(solver, before);
    return before ? mgvi_driver_start(solver, before->answer.w.x, before->answer.u.x) : MGV_OK;
}

/* ---- the loop -------------------------------------------------------------------------------- */

double mgvi_driver_touched(const mgv_solver *solver)
{
    const mgvi_op *A = solver->run.problem->A;
    return solver->memory.touched + A->touched - solver->touched_before + solver->run.touched;
}

static double in_passes(const mgv_solver *solver, double touched)
{
    const int64_t nnz = solver->run.problem->A->nnz;
    return nnz > 0 ? touched / (double)nnz : 0;
}

double mgvi_driver_passes(const mgv_solver *solver)
{
    return in_passes(solver, mgvi_driver_touched(solver) + solver->settled);
}

/* The clock of the schedule. */
static double passes_so_far(const mgv_solver *solver)
{
    return in_passes(solver, mgvi_driver_touched(solver));
}

static double seconds_now(const mgv_solver *solver)
{
    return solver->memory.seconds + mgvi_ctx_clock(solver->run.ctx) - solver->started;
}

static bool certificate_due(mgv_solver *solver)
{
    enum { MANY_STEPS = 1000 }; /* of a few rows each: next to nothing is read */
    const mgvi_run *run = &solver->run;
    if (run->early) /* its certificate is taken when it ends */
        return false;
    const double estimate = run->ops->estimate ? run->ops->estimate(run) : NAN;
    if (isinf(estimate))
        return false;
    return passes_so_far(solver) >= solver->memory.next_certificate ||
           run->iteration % MANY_STEPS == 0 || estimate * solver->memory.ratio <= run->goal;
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
    MGVI_TRY(mgvi_shorten_proof(solver->run.problem, q));
    mgvi_vec_scale(ctx, -1, q);
    enum { STEPS = 30 };
    if (mgvi_judge_prove(solver->judge, q, STEPS, pair->verdict))
        mgvi_vec_copy(ctx, mgvi_judge_dual(solver->judge), &pair->u);
    else
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
    const int most = suspicious ? 200 : (int)fmin(fmax(passes_so_far(solver) / 8, 30), 200);
    const bool proven = mgvi_judge_prove(solver->judge, it->u, most, pair->verdict);
    const mgvi_vec *u = mgvi_judge_dual(solver->judge);
    if (proven)
        mgvi_vec_copy(solver->run.ctx, u, &pair->u);
    const bool rows = !(solver->run.problem->A->ops->can & MGVI_KERNEL); /* that can be weighed */
    const bool shorter =
        proven ? solver->settings.short_proof : mgvi_judge_nearly_proven(solver->judge);
    return margin && rows && shorter ? prove_on_fewer_rows(solver, pair, u) : MGV_OK;
}

enum { LOOKS = 3 };

/* With care, and again where the weights had to be made a little longer to have their margin. */
static mgvi_verdict judge_closely(const mgv_solver *solver, mgvi_pair *pair, mgvi_care care)
{
    enum { ROUNDS = 3 };
    mgvi_verdict found = mgvi_judge_certify_with(solver->judge, &pair->w, &pair->u, care);
    for (int k = 0; k < ROUNDS && mgvi_judge_stretch(solver->judge, &pair->w); k++)
        found = mgvi_judge_certify_with(solver->judge, &pair->w, &pair->u,
                                        k < ROUNDS - 1 ? care : MGVI_CARE_PLAIN);
    mgvi_judge_stretch(solver->judge, &pair->w); /* plainly it speaks of the weights it makes */
    return found;
}

/* Where rounding alone keeps the pair from its certificate the judge looks again, with more care,
 * at u as it was before room was left for rounding. The data, or the weights in the user's units,
 * may not have the digits: after some looks in vain the run is over. */
static void look_closer(mgv_solver *solver, mgvi_pair *pair)
{
    mgv_ctx *ctx = solver->run.ctx;
    const mgv_problem *p = solver->run.problem;
    const double tol = solver->settings.tol;
    mgvi_verdict *v = pair->verdict;
    const double sharp =
        mgvi_verdict_sharp_gap(p, v); /* below 0: rounding cost less than it says */
    if (v->certificate.separable == 0 || v->certificate.relative_gap <= tol || !(sharp <= tol) ||
        solver->memory.looks >= LOOKS)
        return;
    const double shrunk = v->shrunk > 0 ? v->shrunk : 1;
    mgvi_verdict found;
    if (shrunk != 1 || !(sharp >= -tol)) { /* what the gap is without rounding is not known */
        mgvi_vec_scale(ctx, 1 / shrunk, &pair->u);
        found = mgvi_judge_certify_with(solver->judge, &pair->w, &pair->u, MGVI_CARE_NONE);
        if (found.certificate.relative_gap > tol) {
            mgvi_vec_scale(ctx, shrunk, &pair->u);
            return;
        }
    }
    int care = mgvi_judge_next_care(solver->judge);
    do
        found = judge_closely(solver, pair, (mgvi_care)care);
    while (found.certificate.relative_gap > tol && ++care < MGVI_CARES);
    if (found.certificate.relative_gap > tol)
        mgvi_verdict_excuse(solver->judge, &found);
    *v = mgvi_verdict_combine(p, &found, &found);
    mgvi_vec_copy(ctx, mgvi_judge_dual(solver->judge), &pair->u);
    solver->memory.looks += !(found.certificate.relative_gap <= tol);
}

/* A certificate on schedule. */
static mgv_status certify(mgv_solver *solver)
{
    mgvi_run *run = &solver->run;
    mgvi_driver_memory *m = &solver->memory;
    const double estimate = run->ops->estimate ? run->ops->estimate(run) : NAN;
    const double begun = mgvi_ctx_clock(run->ctx);
    const mgvi_iterate it = run->ops->expose(run);
    const mgvi_verdict found = mgvi_judge_certify(solver->judge, it.w, it.u);
    keep_better(solver, &solver->best, &it, &found);
    mgvi_ctx_reserve(run->ctx, mgvi_ctx_clock(run->ctx) - begun); /* one more is to come */
    m->certificates++;
    m->certified = run->iteration;
    look_closer(solver, &solver->best);
    MGVI_TRY(attempt_proof(solver, &solver->best, &it));
    const double gap = found.certificate.relative_gap;
    if (estimate > 0 && gap > 0 && isfinite(gap))
        m->ratio = fmin(fmax(gap / estimate, 0.01), 1.0);
    const double passes = passes_so_far(solver);
    m->next_certificate = passes + fmax(FIRST_PASSES, GROWTH * passes);
    return MGV_OK;
}

/* The certificate of a run's last pair; false: the limit leaves no time for it. */
static bool judge_last(mgv_solver *solver, const mgvi_iterate *it, mgvi_verdict *found)
{
    mgv_ctx *ctx = solver->run.ctx;
    const bool late = mgvi_ctx_late(ctx) != MGV_STOP_NONE;
    if (late)
        mgvi_ctx_open(ctx, mgvi_ctx_room(ctx));
    *found = mgvi_judge_certify(solver->judge, it->w, it->u);
    return !late || !mgvi_ctx_close(ctx);
}

/* The answer of a run that ends here; one more certificate when the present iterate has none. Where
 * a step was cut `answer` has the last iterate that is known. */
static void settle(mgv_solver *solver, bool certified)
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
        judged = judge_last(solver, &it, &found);
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
        look_closer(solver, answer);
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

static mgv_event event_now(mgv_solver *solver, mgv_event_kind kind)
{
    const mgv_certificate *c = &solver->best.verdict->certificate;
    mgv_event e = mgvi_event_blank(kind);
    e.iteration = solver->run.iteration;
    e.passes = mgvi_driver_passes(solver);
    e.bytes = mgvi_op_bytes(solver->run.problem->A, mgvi_driver_touched(solver) + solver->settled);
    e.seconds = seconds_now(solver);
    if (solver->memory.certificates > 0) {
        e.primal = c->primal;
        e.dual = c->dual;
        e.gap = c->gap;
        e.relative_gap = c->relative_gap;
        e.margin = c->margin;
        e.margin_upper = c->margin_upper;
        e.train_score = solver->best.verdict->train_score;
    }
    const mgv_problem *problem = solver->run.problem;
    if (kind == MGV_EVENT_TRACE && solver->run.early)
        e.nonzeros = mgvi_problem_nonzeros(problem, solver->run.ops->expose(&solver->run).w->x);
    else if (kind == MGV_EVENT_TRACE)
        e.nonzeros = mgvi_problem_nonzeros(problem, solver->best.w.x);
    return e;
}

/* Tells the world where we are; true when it asks to stop. */
static bool report(mgv_solver *solver, bool certified)
{
    mgv_ctx *ctx = solver->run.ctx;
    bool stop = mgvi_ctx_interrupted(ctx);
    if (ctx->on_event) {
        /* every iterate may be the answer */
        const bool row = certified || (solver->run.early && !solver->cut);
        const mgv_event e = event_now(solver, row ? MGV_EVENT_TRACE : MGV_EVENT_PROGRESS);
        stop = mgvi_event_send(ctx, &e) || stop;
    }
    return stop;
}

static mgv_status save(mgv_solver *solver)
{
    if (solver->cut && !solver->whole.bytes) {
        mgvi_log(solver->run.ctx, MGV_WARNING,
                 "the limit has struck before the first iteration: there is nothing to save in a "
                 "checkpoint");
        return MGV_OK;
    }
    return solver->save ? solver->save(solver->keeper, solver)
                        : mgvi_checkpoint_keep(solver, solver->run.ctx);
}

/* The clock decides when, which changes no number of the run. */
static mgv_status save_now_and_then(mgv_solver *solver)
{
    if (!solver->settings.checkpoint[0] ||
        mgvi_ctx_clock(solver->run.ctx) < solver->next_checkpoint)
        return MGV_OK;
    solver->next_checkpoint = mgvi_ctx_clock(solver->run.ctx) + MGVI_CHECKPOINT_EVERY;
    return save(solver);
}

static double residual_now(const mgv_solver *solver)
{
    const mgvi_run *run = &solver->run;
    const bool known = run->early && run->iteration > 0 && run->ops->residual && !solver->cut;
    return known ? run->ops->residual(run) : NAN;
}

static mgv_stop stop_now(mgv_solver *solver, const mgvi_verdict *verdict, bool asked)
{
    const mgv_stop late = mgvi_ctx_late(solver->run.ctx);
    const mgvi_progress progress = {.iteration = solver->run.iteration,
                                    .passes = mgvi_driver_passes(solver),
                                    .seconds = seconds_now(solver),
                                    .verdict = verdict,
                                    .asked_to_stop = asked || late == MGV_STOP_USER,
                                    .late = late == MGV_STOP_TIME,
                                    .residual = residual_now(solver),
                                    .residual_before = solver->memory.residual_before,
                                    .noise = solver->noise,
                                    .planned = solver->planned};
    return mgvi_stop_check(&progress, &solver->settings);
}

/* Whether to stop, and the answer if so. */
static mgv_status conclude(mgv_solver *solver, bool certified)
{
    const bool asked = report(solver, certified);
    solver->stop = stop_now(solver, certified ? solver->best.verdict : NULL, asked);
    if (solver->stop == MGV_STOP_NONE && solver->memory.looks >= LOOKS)
        solver->stop = MGV_STOP_ROUNDING;
    if (solver->stop == MGV_STOP_NONE && solver->run.finished)
        solver->stop = MGV_STOP_STALLED;
    const bool certified_now = solver->stop == MGV_STOP_CERTIFIED;
    if (certified_now && stop_now(solver, NULL, asked) == MGV_STOP_NONE &&
        mgvi_driver_sharpen(solver))
        solver->stop = MGV_STOP_NONE;
    if (solver->stop == MGV_STOP_NONE)
        return MGV_OK;
    settle(solver, certified);
    MGVI_TRY(mgvi_driver_sparsify(solver));
    const mgv_stop better = stop_now(solver, solver->answer.verdict, asked);
    if (better == MGV_STOP_CERTIFIED || better == MGV_STOP_INFEASIBLE)
        solver->stop = better;
    else if (solver->stop == MGV_STOP_STALLED && solver->memory.looks > 0)
        solver->stop = MGV_STOP_ROUNDING;
    if (solver->stop == MGV_STOP_ROUNDING) /* the numbers are true, but not what was asked for */
        solver->answer_verdict.certificate.verified = 0;
    return MGV_OK;
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
bool mgvi_driver_done(const mgv_solver *solver)
{
    const mgvi_run *run = &solver->run;
    const bool guess = run->ops->estimate && run->iteration > 0;
    /* a gap far below 0 is no gap: w has moved while it was guessed, on rows that it cannot meet */
    return run->finished || (guess && fabs(run->ops->estimate(run)) <= solver->settings.tol);
}

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
    if (judge_last(solver, &it, &found)) {
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

/* Whether the best pair has what was asked for, but for rounding. */
static bool only_rounding_left(const mgv_solver *solver)
{
    return solver->memory.certificates > 0 &&
           mgvi_verdict_sharp_gap(solver->run.problem, solver->best.verdict) <=
               solver->settings.tol;
}

/* One step and what follows from it. */
static mgv_status advance(mgv_solver *solver)
{
    mgvi_run *run = &solver->run;
    mgv_status st = MGV_OK;
    if (run->iteration > 0)
        solver->memory.residual_before = residual_now(solver);
    if (!solver->cut) /* else a solver that took over was cut while it set itself up */
        st = mgvi_driver_step(solver);
    if (st == MGV_E_NUMERIC && only_rounding_left(solver))
        run->finished = true; /* no digits are left to make a step of */
    else
        MGVI_TRY(st);
    if (solver->cut)
        return conclude(solver, false);
    const bool certified = run->finished || certificate_due(solver);
    if (certified) {
        MGVI_TRY(certify(solver));
        run->finished = run->finished || mgvi_driver_outspent(solver);
    }
    MGVI_TRY(run->problem->A->failed);
    MGVI_TRY(conclude(solver, certified));
    return save_now_and_then(solver);
}

/* The counters of this sitting join those of earlier ones. */
static void book_counters(mgv_solver *solver)
{
    solver->memory.touched = mgvi_driver_touched(solver);
    solver->memory.seconds = seconds_now(solver);
    solver->touched_before = solver->run.problem->A->touched;
    solver->memory.worked += solver->run.work;
    solver->run.touched = solver->run.work = 0;
    solver->started = mgvi_ctx_clock(solver->run.ctx);
}

mgv_status mgvi_driver_run(mgv_solver *solver)
{
    mgv_status st = MGV_OK;
    solver->unsaved = false;
    if (solver->settings.checkpoint[0] && !solver->save) /* better known now than after an hour */
        MGVI_TRY(mgvi_sink_try(solver->run.ctx, solver->settings.checkpoint));
    if (solver->family)
        return mgvi_family_run(solver);
    if (mgvi_ctx_late(solver->run.ctx) == MGV_STOP_NONE)
        MGVI_TRY(mgvi_driver_mend(solver));
    mgvi_driver_begin_limits(solver);
    solver->started = mgvi_ctx_clock(solver->run.ctx);
    solver->next_checkpoint = solver->started + MGVI_CHECKPOINT_EVERY;
    solver->touched_before = solver->run.problem->A->touched;
    solver->run.goal = mgvi_driver_goal(solver);
    /* A run that ended with its certificate has it still when it is resumed. */
    st = conclude(solver, solver->memory.certificates > 0 &&
                              solver->memory.certified == solver->run.iteration);
    do
        while (st == MGV_OK && solver->stop == MGV_STOP_NONE)
            st = advance(solver);
    while (mgvi_driver_relay(solver, &st));
    if (st == MGV_OK)
        st = mgvi_driver_confirm(solver);
    book_counters(solver);
    const bool certified =
        solver->stop == MGV_STOP_CERTIFIED || solver->stop == MGV_STOP_INFEASIBLE;
    if (st == MGV_OK && !certified && !solver->cut && solver->run.ops->ended)
        solver->run.ops->ended(&solver->run);
    if (st == MGV_OK && solver->settings.checkpoint[0])
        st = save(solver);
    return st;
}

mgvi_summary mgvi_driver_summary(const mgv_solver *solver)
{
    if (solver->family)
        return mgvi_family_summary(solver);
    return (mgvi_summary){.solver = solver->run.ops->name,
                          .stop = solver->stop,
                          .iterations = solver->run.iteration,
                          .passes = mgvi_driver_passes(solver),
                          .seconds = solver->memory.seconds,
                          .certificate = solver->answer_verdict.certificate};
}
