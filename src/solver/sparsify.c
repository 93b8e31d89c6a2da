/* sparsify.c - an answer of a penalty with kinks has no dust; docs/algorithms/zeros.md.
 *
 * Interior points, smoothing and splitting leave small numbers where the optimum has zeros, and a
 * weight too few or too many while the gap is not small. So a run that has its certificate
 *   goes on for a little while, until zeros and nonzeros are told apart, if that costs little:
 *   by its own steps where its last ones gain the most, else by those of a solver like that;
 *   and drops what its own certificate says is 0. With g = -A'u, at the optimum
 *       g_j = mu_j sign(w_j) + lambda_j w_j where w_j != 0,   |g_j| <= mu_j where w_j = 0      (1)
 *   The gap has a share  mu_j |w_j| slack_j,  slack_j = 1 - sign(w_j) (g_j - lambda_j w_j)/mu_j (2)
 *   of every column: of the two factors one is small, and dust is a weight that is much smaller
 *   beside the largest than its slack. The judge sees the answer without it before it is believed.
 * Where no weights at all are better, as at the beginning of a path, there are none. */
#include "solver/driver.h"

#include "base/limit.h"
#include "solver/parts/intercept.h"

#include <math.h>
#include <string.h>

static const double SHARP = 1e-12; /* the gap aimed at: w is good to its root */
/* What may be spent on the way: a part of the run, or a few hundredths of a second. */
static const double SHARE = 0.25, LITTLE = 4e8;
/* Weights below that part of their slack are dust; smaller ones when that is too much. */
static const double DUST = 1e-2, LESS = 1e-2;
static const double BETTER = 1e-14; /* of the objective: more than rounding */
enum {
    TRIALS = 3, /* certificates taken to get rid of dust */
    FEW = 16    /* weights that may be worse than none */
};

typedef struct sparsify {
    mgv_solver *solver;
    const mgv_problem *p;
    mgvi_vec v, w;  /* columns: A'u, the trial */
    mgvi_vec z;     /* rows */
    double touched; /* by a finisher */
} sparsify;

/* ---- going on -------------------------------------------------------------------------------- */

/* Whether the penalty makes zeros, column by column. */
static bool has_kinks(const mgv_problem *p)
{
    static const char *const kinked[] = {"l1", "enet", "l1_nonneg"};
    for (size_t k = 0; k < sizeof kinked / sizeof *kinked; k++)
        if (strcmp(p->penalty->name, kinked[k]) == 0)
            return true;
    return false;
}

static bool concerned(const mgv_solver *solver)
{
    const mgv_problem *p = solver->run.problem;
    return solver->judge && !solver->run.early && !(p->loss->can & MGVI_HARD) && has_kinks(p) &&
           !mgvi_problem_has_smooth(p);
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
    static const char *const sharp[] = {"newton", "column_generation", "proximal_newton"};
    const mgv_problem *p = solver->run.problem;
    const mgvi_solver_ops *best = NULL;
    const bool hinge = strcmp(p->loss->name, "hinge") == 0; /* there it is one step of many */
    double least = INFINITY;
    for (size_t k = 0; k < sizeof sharp / sizeof *sharp - (hinge ? 1 : 0); k++) {
        const mgvi_solver_ops *ops = mgvi_solver_find(sharp[k]);
        if (ops == solver->run.ops)
            return ops;
        const double cost =
            mgvi_solver_fits(p->ctx, ops, p) == MGV_OK ? ops->cost(p, &solver->settings) : INFINITY;
        if (cost < least) {
            least = cost;
            best = ops;
        }
    }
    return best;
}

/* What may still be spent on sharpness. */
static double allowance(const mgv_solver *solver)
{
    const double spent = mgvi_driver_spent(solver), from = solver->memory.sharpened;
    return from > 0 ? fmax(LITTLE, SHARE * from) - (spent - from) : fmax(LITTLE, SHARE * spent);
}

bool mgvi_driver_sharpen(mgv_solver *solver)
{
    mgvi_driver_memory *m = &solver->memory;
    const mgvi_run *run = &solver->run;
    if (!concerned(solver) || run->finished ||
        mgvi_verdict_sharp_gap(run->problem, &m->best) <= SHARP) /* the rest is rounding */
        return false;
    const mgvi_solver_ops *other = finisher(solver);
    if (other && other != run->ops && other->cost(run->problem, run->settings) < allowance(solver))
        return false; /* that will do it, when this one has ended */
    if (m->sharpened == 0)
        m->sharpened = mgvi_driver_spent(solver);
    const double step = m->sharpened / (double)(run->iteration > 0 ? run->iteration : 1);
    if (step > allowance(solver))
        return false;
    solver->run.goal = mgvi_driver_goal(solver);
    return true;
}

/* ---- the finish by another solver ------------------------------------------------------------ */

static mgv_settings settings_for(const mgv_solver *solver, const mgvi_solver_ops *ops)
{
    static const double ENTRY = 40; /* as mgvi_driver_spent() counts */
    mgv_settings s = solver->settings;
    strcpy(s.solver, ops->name);
    s.checkpoint[0] = 0;
    s.tol = SHARP;
    s.max_passes = fmin(s.max_passes,
                        allowance(solver) / ENTRY / fmax((double)solver->run.problem->A->nnz, 1));
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

static mgv_status finish_elsewhere(sparsify *k)
{
    const mgv_solver *solver = k->solver;
    const double gap = solver->answer.verdict->certificate.relative_gap;
    const mgvi_solver_ops *ops = finisher(solver);
    if (!ops || ops == solver->run.ops || gap <= SHARP || !(gap <= solver->settings.tol) ||
        solver->stop != MGV_STOP_CERTIFIED ||
        !(ops->cost(k->p, &solver->settings) < allowance(solver)))
        return MGV_OK;
    return finish(k, ops);
}

/* ---- dust ------------------------------------------------------------------------------------ */

/* slack_j of (2), from v = A'u. */
static double slack(const mgv_problem *p, int64_t j, int32_t c, double w, double v)
{
    const mgvi_coef coef = mgvi_coefs_at(&p->col, j, c);
    const double ridge = strcmp(p->penalty->name, "enet") == 0 ? coef.a * w : 0;
    return 1 - copysign(1, w) * (-v - ridge) / coef.scale;
}

/* The trial: the answer without the weights below `part` of their slack. Returns how many go. */
static int64_t leave_out(sparsify *k, double part)
{
    const mgvi_vec *from = &k->solver->answer.w;
    const int64_t count = mgvi_problem_penalised(k->p), lanes = from->k;
    double largest = 0;
    int64_t gone = 0;
    mgvi_vec_copy(k->p->ctx, from, &k->w);
    for (int64_t t = 0; t < count * lanes; t++)
        largest = fmax(largest,
                       mgvi_coef_pick(&k->p->col.scale, t / lanes, t % lanes) * fabs(from->x[t]));
    for (int64_t t = 0; t < count * lanes; t++) {
        const double scale = mgvi_coef_pick(&k->p->col.scale, t / lanes, t % lanes);
        if (from->x[t] == 0 || !(scale > 0))
            continue;
        const double size = scale * fabs(from->x[t]) / largest;
        if (size < part * slack(k->p, t / lanes, (int32_t)(t % lanes), from->x[t], k->v.x[t])) {
            k->w.x[t] = 0;
            gone++;
        }
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
    *answer->verdict = both;
    return true;
}

static void drop_dust(sparsify *k)
{
    const double gap = k->solver->answer.verdict->certificate.relative_gap;
    const double most = fmax(k->solver->settings.tol, gap);
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
    if (nonzeros == 0 || nonzeros > FEW)
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
