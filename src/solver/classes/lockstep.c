/* lockstep.c - rounds of passes over the rows of a block in all its lanes, and when to end them. */
#include "solver/classes/lockstep.h"

#include "base/event.h"
#include "base/limit.h"
#include "simd/simd.h"
#include "stop/stop.h"

#include <math.h>
#include <string.h>

enum {
    OPENING = 3,              /* full passes before rows are left out */
    SHORT_PASSES = 6,         /* between two full ones, */
    SMOOTH_PASSES = 2,        /* for losses that leave no row out and converge faster */
    MOST_ROUNDS = 40,         /* beside coordinate ascent, */
    MOST_ROUNDS_KNOWN = 1000, /* and beside a solver whose cost ends them sooner */
    LOOK = 1 << 20,           /* entries between two looks at the limit, in whole */
    LOOK_ROWS = 1 << 10       /* stretches of rows: sums are flushed at their ends anyway */
};
/* Visits that must move something, and lanes that must still move, for lock-step to pay. */
static const double MOVING = 1.0 / 3, BUSY = 0.25;
/* Part of the tolerance that is asked for where a lane that misses it is expensive. */
static const double SURE = 0.5;

static mgvi_lockstep_fn sweep_for(const mgv_ctx *ctx, bool narrow)
{
    return narrow ? ctx->simd->lockstep_narrow->sweep : ctx->simd->lockstep->sweep;
}

int32_t mgvi_lockstep_lanes(const mgv_ctx *ctx)
{
    const bool wide = ctx->simd->bytes >= MGVI_LOCKSTEP_LANES * (int)sizeof(float);
    return wide ? MGVI_LOCKSTEP_LANES : MGVI_LOCKSTEP_NARROW;
}

typedef struct work {
    mgv_ctx *ctx;
    mgvi_lockstep_pass pass;
    int32_t *live; /* rows with weight in some lane */
    int64_t lives;
    int32_t *order;
    int64_t active;       /* rows in `order` that short passes visit */
    int32_t count, width; /* lanes in use, and of the vectors */
    mgvi_rng rng;
    mgvi_lockstep_fn sweep;
    double gap[MGVI_LOCKSTEP_LANES], before[MGVI_LOCKSTEP_LANES]; /* of the last full passes */
    bool late; /* the limit has struck: after any row the dual variables and W belong together */
} work;

/* Visits the rows, and looks at the limit every now and then. */
static int64_t sweep(work *w, int64_t visited)
{
    const mgvi_lockstep_rows *r = w->pass.rows;
    const double per_row = fmax((double)r->nnz / (double)r->n, 1) * w->width; /* rows of zeros */
    const int64_t stretch = LOOK_ROWS * (int64_t)fmax(LOOK / (per_row * LOOK_ROWS), 1);
    int64_t active = 0;
    for (int64_t first = 0; first < visited && !w->late; first += stretch) {
        const int64_t count = visited - first < stretch ? visited - first : stretch;
        active += w->sweep(&w->pass, w->order + first, count, w->order + active);
        w->late = mgvi_ctx_late(w->ctx) != MGV_STOP_NONE;
    }
    return active;
}

static void run_pass(work *w, bool full)
{
    mgvi_lockstep_pass *p = &w->pass;
    const int64_t visited = full ? w->lives : w->active;
    if (full)
        memcpy(w->order, w->live, (size_t)visited * sizeof *w->order);
    memset(p->loss, 0, sizeof p->loss);
    memset(p->gap, 0, sizeof p->gap);
    memset(p->square, 0, sizeof p->square);
    mgvi_rng_shuffle(&w->rng, w->order, visited);
    w->active = sweep(w, visited);
    for (int32_t l = 0; l < w->count; l++) /* the method of multipliers, dual_coordinate (5) */
        p->shift[l] += p->mask[l] * p->rows->kappa * p->weight[l];
}

/* After a full pass: lanes whose gap seems small enough rest; the pass saw rows before their steps,
 * so that the gap is smaller now. The number that still move. */
static int32_t settle_lanes(work *w, double tol)
{
    const mgvi_lockstep_pass *p = &w->pass;
    int32_t moving = 0;
    for (int32_t l = 0; l < w->count; l++) {
        const double primal = p->loss[l] + 0.5 * p->square[l];
        w->before[l] = w->gap[l];
        w->gap[l] = p->gap[l] / primal;
        if (p->gap[l] <= tol * primal)
            w->pass.mask[l] = 0;
        moving += w->pass.mask[l] > 0;
    }
    return moving;
}

/* How many lanes would be at `tol` after so many rounds, their gaps falling as in the last one. */
static int32_t ending(const work *w, double tol, double rounds)
{
    int32_t found = 0;
    for (int32_t l = 0; l < w->count; l++)
        found += w->pass.mask[l] > 0 && w->gap[l] < w->before[l] &&
                 log(w->gap[l] / tol) <= rounds * log(w->before[l] / w->gap[l]);
    return found;
}

/* Whether the lanes that still move had better go on one by one: lock-step has spent what may be
 * spent on all of them, or as much as easy problems take and few would end within the rest. Beside
 * coordinate ascent also where few visits of the round moved anything, or few lanes do; beside
 * another solver, where a round costs more than those that are left. */
static bool gives_way(const work *w, const mgvi_lockstep_task *task, int32_t moving,
                      const mgvi_lockstep_pass *before)
{
    static const double PART = 0.25, EASY = 20; /* of all; passes */
    const mgvi_lockstep_rows *r = w->pass.rows;
    const mgvi_lockstep_pass *p = &w->pass;
    const double visits = (double)(p->visits - before->visits), most = w->count * task->most;
    const double pass = mgvi_lockstep_spent(r, w->count, (double)w->lives, (double)r->nnz);
    const double all = mgvi_lockstep_spent(r, w->count, (double)p->visits, p->touched);
    const double round = mgvi_lockstep_spent(r, w->count, visits, p->touched - before->touched);
    const bool told = all > fmin(PART * most, EASY * pass) && isfinite(most) && w->before[0] > 0;
    if (all > most || (told && ending(w, task->tol, (most - all) / round) <= BUSY * moving))
        return true;
    if (task->alone == 0)
        return (double)(p->moved - before->moved) < MOVING * visits || moving <= BUSY * w->count;
    return round > moving * task->alone;
}

static double passes_of(const work *w)
{
    const mgvi_lockstep_rows *r = w->pass.rows;
    return r->nnz > 0 ? w->pass.touched / (double)r->nnz : 0;
}

/* Whether a limit ends the passes here: that of the call, or those of the block. */
static bool is_over(const work *w, const mgvi_lockstep_task *task, mgvi_lockstep_result *out)
{
    const mgvi_progress progress = mgvi_progress_of(out->rounds, passes_of(w), 0);
    out->cut = out->cut || w->late ||
               mgvi_stop_look(w->ctx, progress, &task->block->settings) != MGV_STOP_NONE;
    return out->cut;
}

static void ascend(work *w, const mgvi_lockstep_task *task, mgvi_lockstep_result *out)
{
    const bool smooth = task->rows->logistic || task->rows->ridge > 0;
    const int passes = smooth ? SMOOTH_PASSES : SHORT_PASSES;
    const int64_t most = task->alone > 0 ? MOST_ROUNDS_KNOWN : MOST_ROUNDS;
    for (int k = 0; k < (task->start ? 1 : OPENING) && !is_over(w, task, out); k++)
        run_pass(w, true);
    for (; out->rounds < most; out->rounds++) {
        if (is_over(w, task, out))
            break;
        const int32_t moving = settle_lanes(w, (task->alone > 0 ? SURE : 1) * task->tol);
        const mgvi_lockstep_pass before = w->pass;
        if (moving == 0)
            break;
        mgvi_event_progress(w->ctx, "%d classes at once: round %" PRId64 ", %d not there yet",
                            (int)w->count, out->rounds + 1, (int)moving);
        for (int k = 0; k < passes && w->active > 0 && !is_over(w, task, out); k++)
            run_pass(w, false);
        if (is_over(w, task, out) || gives_way(w, task, moving, &before))
            break;
        run_pass(w, true);
    }
}

/* ---- a block --------------------------------------------------------------------------------- */

/* The best score that is the same for all rows, `lead` the part of one class less the other's. */
static double best_constant(const mgvi_lockstep_rows *r, double lead)
{
    static const double MOST = 0.9999;
    if (r->logistic)
        return 2 * atanh(fmax(fmin(lead, MOST), -MOST));
    return r->ridge > 0 ? lead : (lead > 0) - (lead < 0);
}

/* Signs of the classes in every lane, and where the intercepts begin: at the best constant. */
static void bind_lanes(const mgvi_lockstep_task *t, work *w, float *sign)
{
    const mgv_problem *b = t->block;
    const mgvi_lockstep_rows *r = t->rows;
    double side[2][MGVI_LOCKSTEP_LANES] = {{0}};
    for (int64_t i = 0; i < b->A->rows; i++) {
        const int64_t row = t->row ? t->row[i] : i;
        float *const y = sign + (int64_t)r->own[row] * w->width;
        if (r->C[row] > 0)
            w->live[w->lives++] = (int32_t)row;
        for (int32_t l = 0; l < w->count; l++)
            if (mgvi_problem_takes_part(b, i, l)) {
                y[l] = (float)b->view.sign[i * w->count + l];
                side[y[l] > 0][l] += (double)r->C[row];
            }
    }
    for (int32_t l = 0; l < w->count; l++) {
        const double lead = side[1][l] - side[0][l], all = side[1][l] + side[0][l];
        w->pass.mask[l] = 1;
        if (b->free_cols && all > 0)
            w->pass.shift[l] = (float)best_constant(r, lead / all);
    }
}

/* theta from the dual variables of lane l, and the W that goes with it. */
static void begin_lane(const mgvi_lockstep_task *t, work *w, int32_t l)
{
    const mgvi_lockstep_rows *r = t->rows;
    const mgvi_lockstep_start *start = &t->start[l];
    mgvi_lockstep_pass *p = &w->pass;
    double weight = 0, drift = 0;
    for (int64_t i = 0; start->u && i < t->block->A->rows; i++) {
        const int64_t row = t->row ? t->row[i] : i;
        const double s = mgvi_coef_pick(&t->block->row.scale, i, l);
        const double theta = s > 0 ? fmin(fmax(-start->u[i] / s, 0), (double)r->most) : 0;
        const double step =
            (double)r->C[row] * (double)p->sign[(int64_t)r->own[row] * w->width + l] * theta;
        if (step == 0)
            continue;
        p->theta[row * w->width + l] = (float)theta;
        weight += step;
        drift += r->along ? step * (double)r->along[row] : 0;
        for (int64_t k = r->ptr[row]; k < r->ptr[row + 1]; k++)
            p->W[(int64_t)r->idx[k] * w->width + l] += (float)step * r->val[k];
    }
    if (!start->u)
        return;
    p->weight[l] = (float)weight;
    p->drift[l] = (float)drift;
    p->shift[l] = t->block->free_cols ? (float)(start->intercept + (double)r->kappa * weight) : 0;
}

/* In `arena`, which is gone when the passes are done. */
static mgv_status open_work(const mgvi_lockstep_task *t, mgvi_arena *arena, work *w)
{
    const mgvi_lockstep_rows *r = t->rows;
    const size_t n = (size_t)r->n, lanes = (size_t)w->width;
    /* together: the larger a block, the sooner it lies on huge pages, and W is read at random */
    w->pass.W = mgvi_arena_array(arena, (size_t)r->cols + n, lanes * sizeof(float));
    w->pass.theta = w->pass.W ? w->pass.W + (size_t)r->cols * lanes : NULL;
    float *sign = mgvi_arena_array(arena, (size_t)r->classes, lanes * sizeof *sign);
    w->live = mgvi_arena_array(arena, (size_t)t->block->A->rows, sizeof *w->live);
    w->order = mgvi_arena_array(arena, (size_t)t->block->A->rows, sizeof *w->order);
    if (!w->pass.W || !sign || !w->live || !w->order)
        return MGV_E_MEMORY;
    w->pass.sign = sign;
    bind_lanes(t, w, sign);
    for (int32_t l = 0; t->start && l < w->count; l++)
        begin_lane(t, w, l);
    return MGV_OK;
}

static mgv_status run_passes(const mgvi_lockstep_task *t, mgvi_arena *arena,
                             mgvi_lockstep_result *out)
{
    const mgv_problem *b = t->block;
    const int32_t count = b->lanes;
    const bool narrow = count <= MGVI_LOCKSTEP_NARROW;
    work w = {.ctx = b->ctx,
              .pass = {.rows = t->rows, .near = mgvi_lockstep_near(t->rows, count)},
              .count = count,
              .width = narrow ? MGVI_LOCKSTEP_NARROW : MGVI_LOCKSTEP_LANES,
              .rng = t->rng,
              .sweep = sweep_for(b->ctx, narrow)};
    MGVI_TRY(open_work(t, arena, &w));
    ascend(&w, t, out);
    for (int64_t i = 0; i < b->A->rows; i++) {
        const float *theta = w.pass.theta + (t->row ? t->row[i] : i) * w.width;
        for (int32_t l = 0; l < count; l++)
            out->u[l * b->A->rows + i] = -mgvi_coef_pick(&b->row.scale, i, l) * (double)theta[l];
    }
    for (int32_t l = 0; l < count; l++)
        out->intercept[l] = (double)w.pass.shift[l];
    out->passes = passes_of(&w);
    return MGV_OK;
}

mgv_status mgvi_lockstep_run(const mgvi_lockstep_task *t, mgvi_arena *arena,
                             mgvi_lockstep_result *out)
{
    const size_t rows = (size_t)t->block->A->rows, count = (size_t)t->block->lanes;
    mgvi_arena *passing = mgvi_arena_within(arena);
    *out = (mgvi_lockstep_result){0};
    if (!passing)
        return MGV_E_MEMORY;
    out->u = mgvi_arena_array(arena, rows, count * sizeof *out->u);
    out->intercept = mgvi_arena_array(arena, count, sizeof *out->intercept);
    if (!out->u || !out->intercept)
        return MGV_E_MEMORY;
    const mgv_status st = run_passes(t, passing, out);
    mgvi_arena_free(passing);
    return st;
}
