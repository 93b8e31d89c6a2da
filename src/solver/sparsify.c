/* sparsify.c - an answer of a penalty with a kink at 0 has no dust; docs/algorithms/zeros.md.
 *
 * Interior points, smoothing and splitting leave small numbers where the optimum has zeros, and a
 * weight too few or too many while the gap is not small. So a run that has its certificate is
 * finished exactly: by its own steps where its last ones gain the most, else by those of a solver
 * like that, else by Newton's method on the normal map. A certificate then leaves no room for
 * another support. What could not be finished loses the weights that its certificate says are 0:
 * with g = -A'u, at the optimum
 *       g_j = mu_j sign(w_j) + lambda_j w_j where w_j != 0,   |g_j| <= mu_j where w_j = 0      (1)
 *   The gap has a share  mu_j |w_j| slack_j,  slack_j = 1 - sign(w_j) (g_j - lambda_j w_j)/mu_j (2)
 *   of every column: of the two factors one is small, and dust is a weight that is much smaller
 *   beside the largest than its slack. The judge sees the answer without it before it is believed.
 * Where no weights at all are better, as at the beginning of a path, there are none. */
#include "solver/driver.h"

#include "base/limit.h"
#include "solver/normal_map.h"
#include "solver/shared/intercept.h"

#include <math.h>
#include <string.h>

static const double SHARP = 1e-12; /* the gap aimed at: w is good to its root */
static const double ROUGH = 1e-11; /* a gap at which it is not yet */
/* What may be spent on the way: a few hundredths of a second; or a part of the run, as much again
 * where an exact finish is in sight, less for steps that gain no more than those before. */
static const double LITTLE = 4e8, EXACT = 1, SHARE = 0.25;
static const double ENTRY = 40; /* an entry read, as mgvi_driver_spent() counts */
/* Weights below that part of their slack are dust; smaller ones when that is too much. */
static const double DUST = 1e-2, LESS = 1e-2;
/* Of the gap, by the steps up to the next certificate; a gap that may be rounding where it does not
 * fall so. */
static const double FALL = 0.5, SLOW = 1e-7;
static const double BETTER = 1e-14; /* of the objective: more than rounding */
enum {
    TRIALS = 3, /* certificates taken to get rid of dust */
    FEW = 16    /* weights that may be worse than none */
};

typedef struct sparsify {
    mgv_solver *solver;
    const mgv_problem *p;
    mgvi_penalty penalty;
    mgvi_vec v, w;  /* columns: A'u, the trial */
    mgvi_vec z;     /* rows */
    double touched; /* by a finisher */
} sparsify;

/* ---- going on -------------------------------------------------------------------------------- */

static bool concerned(const mgv_solver *solver)
{
    const mgv_problem *p = solver->run.problem;
    return solver->judge && !solver->run.early && mgvi_ctx_in_host(p->ctx) &&
           (p->penalty->can & MGVI_KINK) &&
           (!(p->loss->can & MGVI_HARD) || mgvi_problem_has_margin(p)) &&
           !mgvi_problem_has_smooth(p);
}

/* Hard margins are only rid of their dust: what the last steps would gain, their programme has. */
static bool sharpened(const mgv_solver *solver)
{
    return concerned(solver) && !(solver->run.problem->loss->can & MGVI_HARD);
}

double mgvi_driver_goal(const mgv_solver *solver)
{
    const double tol = solver->settings.tol;
    return solver->memory.sharpened > 0 ? fmin(tol, SHARP) : tol;
}

/* Solvers whose last steps gain the most digits: the cheapest of them that fits, or the one at work
 * if it is such; NULL: none. */
static const mgvi_solver_ops *finisher(const mgv_solver *solver)
{
    const mgv_problem *p = solver->run.problem;
    const mgvi_solver_ops *own = solver->run.ops, *best = NULL;
    double least = INFINITY;
    if (own->finish && isfinite(own->finish(p, &solver->settings)))
        return own;
    for (int k = 0; k < mgvi_solver_count(); k++) {
        const mgvi_solver_ops *ops = mgvi_solver_at(k);
        if (!ops->finish || !mgvi_solver_suits(p->ctx, ops, p))
            continue;
        const double cost = ops->finish(p, &solver->settings);
        if (cost < least) {
            least = cost;
            best = ops;
        }
    }
    return best;
}

/* What may still be spent on sharpness, `share` of the run in all. */
static double allowance(const mgv_solver *solver, double share)
{
    const double spent = mgvi_driver_spent(solver), from = solver->memory.sharpened;
    return from > 0 ? fmax(LITTLE, share * from) - (spent - from) : fmax(LITTLE, share * spent);
}

/* Whether someone else will do it, when this run has ended. */
static bool finished_elsewhere(const mgv_solver *solver, const mgvi_solver_ops *by)
{
    const mgvi_run *run = &solver->run;
    return by ? by != run->ops && by->finish(run->problem, run->settings) < allowance(solver, EXACT)
              : mgvi_normal_map_fits(run->problem);
}

bool mgvi_driver_sharpen(mgv_solver *solver)
{
    mgvi_driver_memory *m = &solver->memory;
    const mgvi_run *run = &solver->run;
    if (!sharpened(solver) || run->finished)
        return false;
    const mgvi_solver_ops *by = finisher(solver);
    const bool own = by == run->ops;
    /* the judge's bounds of rounding may be far larger than what the solver still sees */
    const double sharp = mgvi_verdict_sharp_gap(run->problem, &m->best);
    const double seen = own && run->ops->estimate ? run->ops->estimate(run) : NAN;
    const double gap = seen > ROUGH && isfinite(seen) ? fmax(sharp, seen) : sharp;
    const bool falls = m->sharpened == 0 || gap <= FALL * m->sharp_gap;
    if (gap <= SHARP || (own && !falls && gap <= SLOW))
        return false; /* the rest is rounding */
    if (finished_elsewhere(solver, by))
        return false;
    if (m->sharpened == 0)
        m->sharpened = mgvi_driver_spent(solver);
    double step = m->sharpened / (double)(run->iteration > 0 ? run->iteration : 1);
    if (own)
        step = fmin(step, by->finish(run->problem, run->settings));
    if (step > allowance(solver, own && falls ? EXACT : SHARE))
        return false;
    m->sharp_gap = gap;
    solver->run.goal = mgvi_driver_goal(solver);
    return true;
}

/* ---- the finish by another solver ------------------------------------------------------------ */

/* Entries that a finish elsewhere may read: the run's own limit counts them. */
static double entries_left(const mgv_solver *solver)
{
    const double nnz = fmax((double)solver->run.problem->A->nnz, 1);
    const double passes = solver->settings.max_passes - mgvi_driver_passes(solver);
    return fmin(allowance(solver, EXACT) / ENTRY, fmax(passes, 0) * nnz);
}

static mgv_settings settings_for(const mgv_solver *solver, const mgvi_solver_ops *ops)
{
    mgv_settings s = solver->settings;
    s.solver = ops->name;
    s.checkpoint = "";
    s.tol = SHARP;
    s.max_passes = entries_left(solver) / fmax((double)solver->run.problem->A->nnz, 1);
    return s;
}

/* Another solver's answer, from ours on, if it is closer to the optimum. Silent: what it does is
 * part of our end. */
static mgv_status finish(sparsify *k, const mgvi_solver_ops *ops)
{
    mgv_solver *solver = k->solver, *other = NULL;
    mgv_ctx *ctx = solver->run.ctx;
    const mgv_event_fn listener = ctx->on_event;
    const mgv_settings settings = settings_for(solver, ops);
    mgvi_pair *answer = &solver->answer;
    ctx->on_event = NULL;
    mgv_status st = mgvi_driver_new(ctx, k->p, &settings, &other);
    if (st == MGV_OK)
        st = mgvi_driver_start(other, answer->w.x, answer->u.x);
    if (st == MGV_OK)
        st = mgvi_driver_run(other);
    ctx->on_event = listener;
    if (st == MGV_OK) {
        const mgv_certificate *c = &other->answer_verdict.certificate;
        k->touched += mgvi_driver_touched(other) + other->settled;
        if (c->verified && c->relative_gap < answer->verdict->certificate.relative_gap) {
            mgvi_vec_copy(ctx, &other->answer.w, &answer->w);
            mgvi_vec_copy(ctx, &other->answer.u, &answer->u);
            *answer->verdict = other->answer_verdict;
        }
    }
    mgvi_driver_free(other);
    return st == MGV_E_NUMERIC || st == MGV_E_UNSUPPORTED ? MGV_OK : st;
}

/* Whether there is anything to finish, and the run has ended as it should. */
static bool unfinished(const mgv_solver *solver)
{
    const mgvi_verdict *v = solver->answer.verdict;
    return sharpened(solver) &&
           mgvi_verdict_sharp_gap(solver->run.problem, v) > SHARP && /* the rest is rounding */
           v->certificate.relative_gap <= solver->settings.tol &&
           solver->stop == MGV_STOP_CERTIFIED && allowance(solver, EXACT) > 0;
}

static mgv_status finish_elsewhere(sparsify *k)
{
    const mgv_solver *solver = k->solver;
    const mgvi_solver_ops *ops = finisher(solver);
    if (!ops || ops == solver->run.ops || !unfinished(solver) ||
        !(ops->finish(k->p, &solver->settings) < allowance(solver, EXACT)))
        return MGV_OK;
    return finish(k, ops);
}

/* Newton's method on the normal map, where no solver has such steps. */
static mgv_status finish_by_map(sparsify *k, mgvi_arena *arena)
{
    mgv_solver *solver = k->solver;
    mgvi_pair *answer = &solver->answer;
    mgvi_normal_map *map;
    if (!unfinished(solver) || !mgvi_normal_map_fits(k->p))
        return MGV_OK;
    mgvi_vec *u = &solver->run.lent[1]; /* the judge's own copy of a dual point */
    MGVI_TRY(mgvi_normal_map_new(k->p, arena, &map));
    mgvi_vec_copy(k->p->ctx, &answer->w, &k->w);
    mgvi_normal_map_finish(map, entries_left(solver), &k->w, u);
    const mgvi_verdict found = mgvi_judge_certify(solver->judge, &k->w, u);
    if (!found.certificate.verified ||
        !(found.certificate.relative_gap < answer->verdict->certificate.relative_gap))
        return MGV_OK;
    mgvi_vec_copy(k->p->ctx, &k->w, &answer->w);
    mgvi_vec_copy(k->p->ctx, mgvi_judge_dual(solver->judge), &answer->u);
    *answer->verdict = found;
    return MGV_OK;
}

/* ---- dust ------------------------------------------------------------------------------------ */

/* The trial: the answer without the weights that a proximal step along A'u would take to 0. The
 * length of the step is `part` of the one that could move the largest weight: it does that where
 * the weight beside the largest is below `part` of its slack (2), and for groups and the like as
 * well. Returns how many go. */
static int64_t leave_out(sparsify *k, double part)
{
    mgv_ctx *ctx = k->p->ctx;
    const mgvi_vec *from = &k->solver->answer.w;
    const mgvi_vec w = mgvi_problem_penalised_part(k->p, from),
                   v = mgvi_problem_penalised_part(k->p, &k->v);
    mgvi_vec trial = mgvi_problem_penalised_part(k->p, &k->w);
    double size = 0, pull = 0;
    int64_t gone = 0;
    for (int64_t t = 0; t < w.n * w.k; t++) {
        size = fmax(size, fabs(w.x[t]));
        pull = fmax(pull, fabs(v.x[t]));
    }
    if (!(pull > 0))
        return 0;
    /* u of a hard margin has any length: the largest |v_j| is 1 then, as where weights are not 0 */
    const double unit = k->p->loss->can & MGVI_HARD ? pull : 1, step = part * size * unit / pull;
    mgvi_vec_copy(ctx, from, &k->w);
    mgvi_vec_axpby(ctx, -step / unit, &v, 1, &trial);
    mgvi_penalty_prox(&k->penalty, &trial, step, &trial);
    for (int64_t t = 0; t < w.n * w.k; t++) {
        gone += w.x[t] != 0 && trial.x[t] == 0;
        trial.x[t] = trial.x[t] == 0 ? 0 : w.x[t];
    }
    return gone;
}

/* Makes the trial the answer if its certificate is as good as was asked for. */
static bool adopt(sparsify *k, double most)
{
    mgvi_pair *answer = &k->solver->answer;
    mgvi_verdict found;
    if (!mgvi_driver_judge(k->solver, &k->w, &answer->u, MGVI_CARE_PLAIN, &found))
        return false;
    const mgvi_verdict both = mgvi_verdict_combine(k->p, &found, answer->verdict);
    if (!both.certificate.verified || !(both.certificate.relative_gap <= most))
        return false;
    mgvi_vec_copy(k->p->ctx, &k->w, &answer->w);
    mgvi_judge_repair(k->solver->judge, &answer->w);
    *answer->verdict = both;
    return true;
}

static void drop_dust(sparsify *k)
{
    const double gap = k->solver->answer.verdict->certificate.relative_gap;
    const double most = fmax(k->solver->settings.tol, gap + BETTER);
    double part = DUST;
    mgvi_ctx_open_last(k->p->ctx);
    mgvi_op_mul_t(k->p->A, 1, &k->solver->answer.u, 0, &k->v);
    if (mgvi_ctx_close(k->p->ctx))
        return;
    for (int t = 0; t < TRIALS && leave_out(k, part) > 0; t++, part *= LESS)
        if (adopt(k, most))
            return;
}

/* ---- nothing at all -------------------------------------------------------------------------- */

static void try_nothing(sparsify *k)
{
    const mgv_certificate *c = &k->solver->answer.verdict->certificate;
    const int64_t nonzeros = mgvi_problem_nonzeros(k->p, k->solver->answer.w.x);
    if (nonzeros == 0 || nonzeros > FEW || !sharpened(k->solver))
        return;
    mgvi_vec_copy(k->p->ctx, &k->solver->answer.w, &k->w);
    memset(k->w.x, 0, (size_t)(mgvi_problem_penalised(k->p) * k->w.k) * sizeof *k->w.x);
    mgvi_intercept_improve(k->p, 1e-15, &k->w, &k->z);
    adopt(k, c->relative_gap - BETTER);
}

static mgv_status leave_out_dust(sparsify *k)
{
    mgvi_arena arena;
    const mgvi_op *A = k->p->A;
    mgvi_arena_init(&arena, k->p->ctx);
    k->z = k->solver->run.lent[0]; /* no certificate needs it before it has been used */
    mgv_status st = mgvi_vec_new(&arena, MGVI_COLS, A->cols, k->p->lanes, &k->v);
    if (st == MGV_OK)
        st = mgvi_vec_new(&arena, MGVI_COLS, A->cols, k->p->lanes, &k->w);
    if (st == MGV_OK)
        st = mgvi_problem_penalty(k->p, &arena, &k->penalty);
    if (st == MGV_OK)
        st = finish_by_map(k, &arena);
    if (st == MGV_OK) {
        drop_dust(k);
        try_nothing(k);
    }
    mgvi_arena_free(&arena);
    return st;
}

mgv_status mgvi_driver_sparsify(mgv_solver *solver)
{
    sparsify k = {.solver = solver, .p = solver->run.problem};
    const mgvi_op *A = solver->run.problem->A;
    const double before = A->touched;
    if (!concerned(solver) || solver->answer.verdict->certificate.size == 0 ||
        mgvi_problem_nonzeros(k.p, solver->answer.w.x) == 0)
        return MGV_OK;
    const double entries = A->touched;
    MGVI_TRY(finish_elsewhere(&k));
    const double elsewhere = A->touched - entries;
    MGVI_TRY(leave_out_dust(&k));
    const double read = A->touched - before, extra = read - elsewhere + k.touched;
    solver->settled += extra;
    solver->touched_before += read;
    return MGV_OK;
}
