/* family_lanes.c - members together: who goes so, how, and the judge's word on every lane. */
#include "solver/classes/family_lanes.h"

#include "base/clock.h"
#include "base/limit.h"
#include "base/threads.h"
#include "solver/classes/lane_blocks.h"
#include "solver/classes/lane_newton.h"
#include "solver/shared/intercept.h"

#include <math.h>
#include <string.h>

enum { LANES = MGVI_LOCKSTEP_LANES };
typedef mgvi_lane_block lane_block;

typedef struct sitting {
    mgv_solver *head;
    pthread_t caller;
    double alone; /* see member_cost */
    double most;  /* that a lane may spend by coordinate ascent */
    bool newton;  /* what is left after the passes goes by Newton's method together */
    const mgvi_lockstep_rows *rows;
    mgvi_lane_plan plan;
} sitting;

/* ---- a block --------------------------------------------------------------------------------- */

/* The sum of a lane's row weights in the block; those of the member itself sum to 1. */
static double weight_of_lane(const mgv_problem *p, int32_t lane)
{
    double sum = 0;
    if (p->block[lane].negative == MGVI_THE_REST)
        return 1;
    for (int64_t i = 0; i < p->A->rows; i++)
        sum += mgvi_coef_pick(&p->row.scale, i, lane);
    return sum > 0 ? sum : 1;
}

/* Dual variables of the member's own rows, in its units. */
static mgv_status take_u(const mgv_problem *p, int32_t lane, const mgvi_vec *u, double **out)
{
    const double weight = weight_of_lane(p, lane);
    double *to = *out = mgvi_alloc(p->ctx, (size_t)u->n, sizeof **out);
    if (!to)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < u->n; i++)
        if (mgvi_problem_takes_part(p, i, lane))
            *to++ = u->x[i * u->k + lane] / weight;
    return MGV_OK;
}

/* In units of the member. */
static void rescale(const mgv_problem *p, int32_t lane, mgv_certificate *c)
{
    const double weight = weight_of_lane(p, lane);
    c->primal /= weight;
    c->dual /= weight;
    c->gap /= weight;
}

/* What a pair (w, u) of a block is worth. */
typedef struct verdicts {
    mgvi_vec w, u;
    mgv_certificate *certificate;
    double *length;
} verdicts;

/* The lanes from `first` on, side by side. */
static void gather(const double *lanes, int32_t first, mgvi_vec *x)
{
    for (int64_t i = 0; i < x->n; i++)
        for (int32_t l = 0; l < x->k; l++)
            x->x[i * x->k + l] = lanes[(first + l) * x->n + i];
}

/* The weights of a pair: lambda w = -A'u, or those found. */
static void make_weights(const mgv_problem *p, const mgvi_lockstep_result *found, int32_t first,
                         verdicts *v)
{
    const int64_t free = mgvi_problem_penalised(p) * p->lanes;
    if (found->w) {
        gather(found->w, first, &v->w);
        return;
    }
    mgvi_op_mul_t(p->A, -1 / p->lambda, &v->u, 0, &v->w);
    if (p->free_cols)
        memcpy(v->w.x + free, found->intercept + first,
               (size_t)p->lanes * sizeof *found->intercept);
}

/* w and its intercepts of p's lanes, which are those from `first` on; where the limit leaves no
 * time for more the certificates say nothing. */
static mgv_status judge_lanes(const mgv_problem *p, mgvi_arena *arena, double tol,
                              const mgvi_lockstep_result *found, int32_t first, verdicts *v)
{
    const size_t k = (size_t)p->lanes;
    double intercept[LANES];
    mgvi_judge *judge;
    mgvi_vec lent[2];
    MGVI_TRY(mgvi_vec_new(arena, MGVI_ROWS, p->A->rows, p->lanes, &v->u));
    gather(found->u, first, &v->u);
    MGVI_TRY(mgvi_judge_new(arena, p, &judge));
    MGVI_TRY(mgvi_vec_new(arena, MGVI_COLS, p->A->cols, p->lanes, &v->w));
    mgvi_judge_lend(judge, lent);
    v->certificate = mgvi_arena_array(arena, k, sizeof *v->certificate);
    v->length = mgvi_arena_array(arena, k, sizeof *v->length);
    if (!v->certificate || !v->length)
        return MGV_E_MEMORY;
    make_weights(p, found, first, v);
    double *free = v->w.x + (size_t)mgvi_problem_penalised(p) * k;
    if (p->free_cols)
        memcpy(intercept, free, k * sizeof *intercept);
    mgvi_ctx_open_last(p->ctx);
    if (p->free_cols)
        mgvi_intercept_improve(p, 0.01 * tol, &v->w, &lent[0]);
    mgvi_judge_certify_lanes(judge, &v->w, &v->u, v->certificate);
    if (mgvi_ctx_close(p->ctx)) {
        if (p->free_cols)
            memcpy(free, intercept, k * sizeof *intercept);
        memset(v->certificate, 0, k * sizeof *v->certificate);
        p->A->failed = MGV_OK;
    }
    const mgvi_vec part = mgvi_problem_penalised_part(p, &v->w);
    mgvi_vec_norm2(p->ctx, &part, v->length);
    return MGV_OK;
}

/* A certified member is done; another has a start. */
static mgv_status take_lane(const sitting *at, int64_t c, const mgv_problem *p, verdicts *v,
                            int32_t lane, mgvi_summary summary)
{
    mgvi_family *f = at->head->family;
    const int64_t d = mgvi_problem_coefs(p);
    mgv_certificate *certificate = &v->certificate[lane];
    mgvi_problem_user_lane(p, v->w.x, lane, f->coef + c * d, &f->intercept[c]);
    f->length[c] = v->length[lane];
    mgvi_member_forget(p->ctx, &f->left[c].start);
    f->left[c].rounds = summary.iterations;
    f->left[c].passes = summary.passes;
    if (!certificate->verified || !(certificate->relative_gap <= at->head->settings.tol))
        return certificate->dual <= 0 /* no more than u = 0: float32 has not the digits */
                   ? MGV_OK
                   : take_u(p, lane, &v->u, &f->left[c].start.u);
    rescale(p, lane, certificate);
    summary.certificate = *certificate;
    f->member[c] = summary;
    /* a pair's end would be in the rows and columns of the block: the next one begins from nothing
     */
    return f->end && !at->head->run.problem->pairwise
               ? mgvi_member_note(p->ctx, &v->w, &v->u, lane, &f->end[c])
               : MGV_OK;
}

/* Where the members of a block ended at the point of a path before; false: none of them. */
static bool find_starts(const sitting *at, const lane_block *b, mgvi_lockstep_start start[LANES])
{
    const mgv_problem *head = at->head->run.problem;
    bool found = false;
    for (int32_t l = 0; l < b->count; l++) {
        const mgvi_member_start *s = &at->head->family->left[b->member[l]].start;
        const bool known = s->u && s->w && !head->pairwise;
        start[l] = (mgvi_lockstep_start){.u = known ? s->u : NULL};
        if (known && head->free_cols)
            start[l].intercept = s->w[head->A->cols - 1];
        found = found || known;
    }
    return found;
}

/* The judge's word on the lanes from `first` on, and what follows from it. */
static mgv_status take_lanes(const sitting *at, mgv_ctx *ctx, const lane_block *b,
                             const mgvi_member *bound, const mgvi_lane *lane, int32_t first,
                             const mgvi_lockstep_result *found, mgvi_summary summary)
{
    const mgv_problem *head = at->head->run.problem;
    const int32_t rest = b->count - first;
    mgv_problem *p = NULL;
    verdicts v;
    mgvi_arena arena;
    const int32_t count = rest < MGVI_LOCKSTEP_JUDGED ? rest : MGVI_LOCKSTEP_JUDGED;
    mgvi_arena_init(&arena, ctx);
    mgv_status st =
        mgvi_member_block(ctx, bound, head, &at->head->settings, lane + first, count, &p);
    if (st == MGV_OK)
        st = judge_lanes(p, &arena, at->head->settings.tol, found, first, &v);
    for (int32_t l = 0; st == MGV_OK && l < count; l++)
        st = take_lane(at, b->member[first + l], p, &v, l, summary);
    mgv_problem_free(ctx, p);
    mgvi_arena_free(&arena);
    return st;
}

/* The judge's word on what was found of a block's lanes. */
static mgv_status take_block(const sitting *at, mgv_ctx *ctx, const lane_block *b,
                             const mgvi_member *bound, const mgvi_lane *lane,
                             const mgvi_lockstep_result *found, const char *solver, double started)
{
    mgv_status st = MGV_OK;
    for (int32_t l = 0; st == MGV_OK && l < b->count; l += MGVI_LOCKSTEP_JUDGED) {
        const mgvi_summary summary = {.solver = solver,
                                      .stop = MGV_STOP_CERTIFIED,
                                      .iterations = found->rounds,
                                      .passes = (found->passes + 3) / b->count, /* w, the judge */
                                      .seconds = (mgvi_clock_seconds() - started) / b->count};
        st = take_lanes(at, ctx, b, bound, lane, l, found, summary);
    }
    return st;
}

/* Coordinate ascent in the lanes of a block. */
static mgv_status ascend_block(const sitting *at, mgv_ctx *ctx, lane_block *b,
                               const mgvi_member *bound, const mgvi_lane *lane, mgvi_rng rng)
{
    const double started = mgvi_clock_seconds();
    mgvi_lockstep_start start[LANES];
    mgvi_lockstep_result found;
    mgvi_arena arena;
    const mgvi_lockstep_task task = {.rows = at->rows,
                                     .block = bound->problem,
                                     .row = bound->rows,
                                     .tol = at->head->settings.tol,
                                     .alone = at->alone,
                                     .most = at->most,
                                     .rng = rng,
                                     .start = find_starts(at, b, start) ? start : NULL};
    mgvi_arena_init(&arena, ctx);
    mgv_status st = mgvi_lockstep_run(&task, &arena, &found);
    b->cut = st == MGV_OK && found.cut;
    if (st == MGV_OK)
        st = take_block(at, ctx, b, bound, lane, &found, "dual_coordinate", started);
    mgvi_arena_free(&arena);
    return st;
}

/* Newton's method in the lanes that have no certificate yet. */
static mgv_status descend_block(const sitting *at, mgv_ctx *ctx, lane_block *b, mgvi_rng rng)
{
    const double started = mgvi_clock_seconds();
    lane_block rest = {.count = 0};
    mgvi_member bound = {0};
    mgvi_lane lane[LANES];
    const double *start[LANES];
    mgvi_lockstep_result found;
    mgvi_arena arena;
    for (int32_t l = 0; l < b->count; l++)
        if (at->head->family->member[b->member[l]].stop == MGV_STOP_NONE) {
            start[rest.count] = at->head->family->left[b->member[l]].start.w;
            rest.member[rest.count] = b->member[l];
            rest.lane[rest.count++] = b->lane[l];
        }
    if (rest.count == 0 || mgvi_ctx_late(ctx) != MGV_STOP_NONE)
        return MGV_OK;
    mgvi_arena_init(&arena, ctx);
    mgv_status st = mgvi_lane_block_bind(&at->plan, ctx, &rest, lane, &bound);
    if (st == MGV_OK && bound.problem)
        st =
            mgvi_lane_newton_run(bound.problem, at->head->settings.tol, start, rng, &arena, &found);
    b->cut = b->cut || (st == MGV_OK && bound.problem && found.cut);
    if (st == MGV_OK && bound.problem)
        st = take_block(at, ctx, &rest, &bound, lane, &found, "proximal_newton", started);
    mgvi_member_free(ctx, &bound);
    mgvi_arena_free(&arena);
    return st;
}

static mgv_status run_block(const sitting *at, mgv_ctx *ctx, int64_t index)
{
    lane_block *b = &at->plan.block[index];
    const mgvi_rng rng = mgvi_rng_seed((uint64_t)(at->head->settings.seed + index));
    mgvi_member bound = {0};
    mgvi_lane lane[LANES];
    mgv_status st = at->rows ? mgvi_lane_block_bind(&at->plan, ctx, b, lane, &bound) : MGV_OK;
    if (st == MGV_OK && bound.problem)
        st = ascend_block(at, ctx, b, &bound, lane, rng);
    mgvi_member_free(ctx, &bound);
    return st == MGV_OK && at->newton ? descend_block(at, ctx, b, rng) : st;
}

static void lane_block_run(void *arg, int64_t index)
{
    sitting *at = arg;
    lane_block *b = &at->plan.block[index];
    mgv_ctx child = mgvi_family_ctx(at->head, at->caller);
    if (b->count > 0 && mgvi_ctx_late(&child) == MGV_STOP_NONE)
        b->status = run_block(at, &child, index);
    if (atomic_load(&child.interrupted))
        atomic_store(&at->head->run.ctx->interrupted, 1);
    memcpy(b->error, child.error, sizeof b->error);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* What one member costs a solver, in multiplications. A pair has the rows of two classes, and its
 * own lambda: a problem in outline, whose operator has their shape and no products. */
static double cost_by(const mgv_solver *head, const mgvi_solver_ops *ops)
{
    const mgv_problem *p = head->run.problem;
    const mgvi_op *A = p->A;
    if (!ops->cost || !p->pairwise)
        return ops->cost ? ops->cost(p, head->run.settings) : 0;
    const double share = 2 / (double)mgvi_problem_classes(p);
    const mgvi_op_ops outline = {.can = A->ops->can};
    mgvi_op shape = {.ops = &outline,
                     .ctx = A->ctx,
                     .rows = (int64_t)ceil(share * (double)A->rows),
                     .cols = A->cols,
                     .nnz = (int64_t)ceil(share * (double)A->nnz),
                     .entry = A->entry,
                     .lanes = A->lanes,
                     .stored = A->stored,
                     .view = A->view};
    mgv_problem member = *p;
    member.lambda /= share;
    member.A = &shape;
    return ops->cost(&member, head->run.settings);
}

/* The same of its own solver; 0: coordinate ascent, which is what lock-step goes over to by itself.
 */
static double member_cost(const mgv_solver *head)
{
    const mgvi_solver_ops *ops = head->run.ops;
    return ops->ascends ? 0 : cost_by(head, ops);
}

/* What whoever would take over from a member's own solver costs; INFINITY: there is nobody. */
static double cost_of_next(const mgv_solver *head)
{
    const mgvi_run *run = &head->run;
    const mgvi_solver_ops *next =
        mgvi_solver_next(run->ctx, run->problem, run->settings, mgvi_solver_bit(run->ops));
    return next ? cost_by(head, next) : INFINITY;
}

/* The cost of whoever has the last word, where coordinate ascent only tries. */
static double cost_in_earnest(const mgv_solver *head)
{
    return fmin(cost_by(head, head->run.ops), cost_of_next(head));
}

/* What a member may spend by coordinate ascent, as it would by itself (relay.c): what another
 * solver costs, half of that where it only tries. */
static double most_of_ascent(const mgv_solver *head, double alone)
{
    static const double PATIENCE = 1.5, SHARE = 0.5;
    const double own = cost_by(head, head->run.ops), next = cost_of_next(head);
    if (alone > 0)
        return alone;
    if (!mgvi_is_auto(head->settings.solver))
        return INFINITY;
    return own > next ? SHARE * next : fmax(PATIENCE * own, next);
}

/* Whether members may go together: from nothing or along a path, and by coordinate ascent where a
 * solver is named. */
static bool may_go(const mgv_solver *head)
{
    const mgvi_run *run = &head->run;
    const mgvi_family *f = head->family;
    const bool free = mgvi_is_auto(head->settings.solver);
    return (free || run->ops->ascends) && run->settings->shrink &&
           f->member[0].stop == MGV_STOP_NONE && !f->begun && mgvi_lockstep_fits(run->problem);
}

/* Bytes of the largest block. */
static double block_bytes(const sitting *at)
{
    const mgv_problem *p = at->head->run.problem;
    double most = 0;
    for (int64_t b = 0; b < at->plan.blocks; b++) {
        const double ascent = mgvi_lockstep_block_bytes(p, at->plan.block[b].count);
        const double newton = at->newton ? mgvi_lane_newton_bytes(p, at->plan.block[b].count) : 0;
        most = fmax(most, fmax(ascent, newton));
    }
    return most;
}

/* The largest number of lanes of a block. */
static int32_t most_lanes(const sitting *at)
{
    int32_t most = 0;
    for (int64_t b = 0; b < at->plan.blocks; b++)
        most = at->plan.block[b].count > most ? at->plan.block[b].count : most;
    return most;
}

/* What a member costs by Newton's method together with the others, where that is no more than
 * alone; else 0. Costs are those of ordinary problems: of several classes some can be separated
 * from the rest, which takes alone ten times as long, `newton` five times: fewer rows than columns
 * are near the hinge then (docs/algorithms/newton.md, "From a pair near the solution"). */
static double newton_cost(const sitting *at)
{
    static const double SOME_HARD = 2, NEWTON_HARD = 5, MANY_ROWS = 100; /* for each column */
    const mgv_problem *p = at->head->run.problem;
    const bool smooth = p->loss->can & MGVI_SMOOTH;
    const bool many = (double)p->A->rows >= MANY_ROWS * (double)p->A->cols; /* nothing separates */
    const double hard = many ? 1 : smooth ? SOME_HARD : NEWTON_HARD;
    if (!mgvi_is_auto(at->head->settings.solver))
        return 0;
    const double together = mgvi_lane_newton_cost(p, most_lanes(at));
    return isfinite(together) && together <= hard * cost_in_earnest(at->head) ? together : 0;
}

/* Whether coordinate ascent goes first, and what a lane may spend before it gives way (alone).
 * Where it is the members' own solver or only tries it goes in any case, but beside Newton's method
 * not where it is hopeless, and no further than three times the passes of an easy problem. */
static bool ascent_pays(sitting *at, const mgvi_lockstep_rows *rows, double newton)
{
    static const double EASY = 40, PATIENCE = 3, HOPELESS = 10;
    const double lanes = (double)at->head->family->members / (double)at->plan.blocks;
    const double cost = mgvi_lockstep_cost(rows, at->plan.lanes, at->head->settings.tol);
    const bool tries = at->alone == 0;
    if (newton == 0)
        return tries || cost < lanes * at->alone;
    const double pass =
        mgvi_lockstep_spent(rows, at->plan.lanes, (double)rows->n, (double)rows->nnz);
    at->alone = at->most = tries ? fmin(newton, PATIENCE * EASY * pass / lanes) : newton;
    return cost < (tries ? HOPELESS : 1) * lanes * newton;
}

/* All blocks at once, or, where their memory would be too much, one after the other: the number of
 * threads decides nothing but that. */
static void run_blocks(sitting *at)
{
    const mgv_problem *p = at->head->run.problem;
    mgvi_pool *pool = p->ctx->pool;
    const int threads = mgvi_pool_threads(pool);
    const double at_once = (double)(at->plan.blocks < threads ? at->plan.blocks : threads);
    const double rows = at->rows ? mgvi_lockstep_rows_bytes(at->rows) : 0;
    if (at_once * block_bytes(at) + rows <= mgvi_problem_spare(p, 1))
        mgvi_pool_run(pool, at->plan.blocks, lane_block_run, at);
    else
        for (int64_t b = 0; b < at->plan.blocks; b++)
            lane_block_run(at, b);
}

/* Whether lock-step can be less work: beside coordinate ascent a visit of a row costs what two
 * visits of a member cost, at least. */
static bool may_pay(const sitting *at)
{
    static const double SERVED = 2;
    return at->alone > 0 || mgvi_lane_plan_served(&at->plan) >= SERVED;
}

mgv_status mgvi_family_in_lockstep(mgv_solver *head)
{
    mgv_ctx *ctx = head->run.ctx;
    sitting at = {.head = head, .caller = pthread_self()};
    mgvi_lockstep_rows *rows = NULL;
    mgvi_arena arena;
    if (!may_go(head))
        return MGV_OK;
    mgvi_arena_init(&arena, ctx);
    at.alone = member_cost(head);
    at.most = most_of_ascent(head, at.alone);
    mgv_status st = mgvi_lane_plan_make(head, &arena, &at.plan);
    mgvi_ctx_open(ctx, 0);
    if (st == MGV_OK && may_pay(&at))
        st = mgvi_lockstep_rows_new(head->run.problem,
                                    mgvi_problem_spare(head->run.problem, 1) - block_bytes(&at),
                                    &arena, &rows);
    if (mgvi_ctx_close(ctx)) { /* no time to go together */
        mgvi_arena_free(&arena);
        return MGV_OK;
    }
    const double newton = newton_cost(&at);
    at.newton = newton > 0;
    if (st == MGV_OK && rows && ascent_pays(&at, rows, newton))
        at.rows = rows;
    if (st == MGV_OK && (at.rows || at.newton))
        run_blocks(&at);
    for (int64_t b = 0; b < at.plan.blocks && st == MGV_OK; b++) {
        head->family->hasty = head->family->hasty || at.plan.block[b].cut;
        if (at.plan.block[b].status != MGV_OK)
            st = MGVI_FAIL(ctx, at.plan.block[b].status, "%s", at.plan.block[b].error);
    }
    mgvi_arena_free(&arena);
    return st;
}
