/* family_products.c - members of one against the rest whose steps are one product with the same
 * kernel matrix each: its values are made once for all of them, and the rows that their metrics
 * stand on are the same. docs/algorithms/kernel_subspace.md. */
#include "solver/classes/family_products.h"

#include "base/limit.h"
#include "base/threads.h"
#include "problem/member.h"
#include "solver/kernel/landmarks.h"

#include <math.h>
#include <string.h>

/* Whoever needs more steps is better off alone, where another solver may take over (relay.c). */
enum { MOST_LANES = 32, MOST_ROUNDS = 100 };

typedef struct lane {
    int64_t member;
    mgvi_member bound;
    mgv_ctx ctx;
    mgvi_run run;
    bool begun;
    const double *curvature;
    bool straight; /* its direction is g itself */
    bool due;      /* it would like a new metric */
    bool over;     /* nothing is left to do here */
    mgv_status status;
} lane;

/* Members that go together. */
typedef struct group {
    mgv_solver *head;
    const mgvi_product_ops *ops;
    mgv_settings limits; /* of all of them together */
    lane *lane;
    int32_t count;
    mgvi_op *K;
    bool rough; /* its values may be float32 for a step */
    int64_t rounds;
    mgvi_landmarks landmarks;
    const double **curvature;
    double *g, *bent; /* rows x count */
    double *x, *y;    /* rows x those listed: what is multiplied, and its image */
    int32_t *list, listed;
    bool exact; /* those listed wait for a float64 image */
} group;

/* ---- one member ------------------------------------------------------------------------------ */

/* What a lane does by itself: a task for every one listed. */
static void ask_task(void *arg, int64_t t)
{
    group *at = arg;
    const int32_t c = at->list[t];
    lane *l = &at->lane[c];
    l->straight = !at->ops->ask(&l->run, at->g + c, at->count);
    l->due = !l->straight && at->ops->is_due(&l->run);
}

static void tell_task(void *arg, int64_t t)
{
    group *at = arg;
    at->ops->tell(&at->lane[at->list[t]].run, at->x + t, at->listed);
}

static void take_task(void *arg, int64_t t)
{
    group *at = arg;
    lane *l = &at->lane[at->list[t]];
    if (mgvi_ctx_late(&l->ctx) != MGV_STOP_NONE)
        return; /* it stays where it was */
    l->status = at->exact ? at->ops->settle(&l->run, at->y + t, at->listed)
                          : at->ops->take(&l->run, at->x + t, at->y + t, at->listed);
    l->run.iteration++;
    l->over = l->status != MGV_OK || l->run.finished || at->ops->is_there(&l->run);
}

/* From where a path has left it, or from nothing. */
static void begin_task(void *arg, int64_t c)
{
    group *at = arg;
    lane *l = &at->lane[c];
    const double *w = at->head->family->left[l->member].start.w;
    l->over = true;
    if (mgvi_ctx_late(&l->ctx) != MGV_STOP_NONE)
        return;
    if ((l->status = l->run.ops->init(&l->run)) != MGV_OK)
        return;
    at->ops->join(&l->run, w);
    l->begun = true;
    l->over = false;
    if (w)
        return;
    l->status = l->run.ops->step(&l->run);
    l->run.iteration++;
    l->over = l->status != MGV_OK || l->run.finished || at->ops->is_there(&l->run);
}

static mgv_status open_lane(group *at, lane *l, int64_t member)
{
    static const double CLOSER = 0.8; /* the judge counts rounding too */
    mgv_solver *head = at->head;
    l->member = member;
    l->ctx = mgvi_ctx_child(head->run.ctx);
    MGVI_TRY(mgvi_member_new(&l->ctx, head->run.problem, &head->settings, member, &l->bound));
    l->run = (mgvi_run){.ctx = &l->ctx,
                        .problem = l->bound.problem,
                        .settings = &head->settings,
                        .ops = head->run.ops,
                        .goal = CLOSER * head->settings.tol};
    mgvi_arena_init(&l->run.arena, &l->ctx);
    l->run.state = mgvi_run_array(&l->run, 1, l->run.ops->state_size);
    return l->run.state ? MGV_OK : MGV_E_MEMORY;
}

static void close_lane(lane *l)
{
    if (!l->bound.problem)
        return;
    mgvi_arena_free(&l->run.arena);
    mgvi_member_free(&l->ctx, &l->bound);
}

/* Where the member's own run is to begin. */
static mgv_status leave(group *at, lane *l)
{
    mgvi_family *f = at->head->family;
    const mgv_problem *head = at->head->run.problem;
    mgv_ctx *ctx = at->head->run.ctx;
    mgvi_member_left *left = &f->left[l->member];
    const int64_t n = head->A->rows, d = mgvi_problem_coefs(head);
    if (!l->begun)
        return MGV_OK;
    const mgvi_iterate now = l->run.ops->expose(&l->run);
    MGVI_TRY(mgvi_member_note(ctx, now.w, now.u, 0, &left->start));
    MGVI_TRY(mgvi_member_weights(ctx, &l->bound, head, now.w->x, f->coef + l->member * d,
                                 &f->intercept[l->member]));
    left->rounds = l->run.iteration;
    left->passes = at->K->touched / (double)at->K->nnz / at->count;
    if (!at->ops->is_there(&l->run))
        return MGV_OK;
    left->image = mgvi_alloc(ctx, (size_t)n, sizeof *left->image);
    if (!left->image)
        return MGV_E_MEMORY;
    at->ops->image(&l->run, left->image);
    return MGV_OK;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Those that wait for their own image, or that do not; false: nobody. */
static bool list_lanes(group *at, bool waiting)
{
    at->listed = 0;
    at->exact = waiting;
    for (int32_t c = 0; c < at->count; c++)
        if (!at->lane[c].over && at->ops->waits(&at->lane[c].run) == waiting)
            at->list[at->listed++] = c;
    return at->listed > 0;
}

static mgv_status failure(group *at)
{
    for (int32_t c = 0; c < at->count; c++)
        if (at->lane[c].status != MGV_OK && at->lane[c].status != MGV_E_NUMERIC)
            return MGVI_FAIL(at->head->run.ctx, at->lane[c].status, "%s", at->lane[c].ctx.error);
    return MGV_OK;
}

/* A new metric where most would like one: it is made for all, as their rows are. */
static mgv_status refresh(group *at)
{
    int32_t due = 0;
    for (int32_t t = 0; t < at->listed; t++)
        due += at->lane[at->list[t]].due;
    if (2 * due <= at->listed)
        return MGV_OK;
    for (int32_t c = 0; c < at->count; c++) {
        lane *l = &at->lane[c];
        if (l->begun && (!l->over || !l->curvature))
            l->curvature = at->ops->bow(&l->run);
        at->curvature[c] = l->curvature;
    }
    const int64_t wanted = mgvi_landmarks_fair(&at->landmarks, (double)at->rounds + 1);
    return mgvi_landmarks_make(&at->landmarks, wanted, at->curvature);
}

/* The directions of those listed to x. */
static mgv_status make_directions(group *at)
{
    const int64_t n = at->K->rows;
    mgvi_pool_run(at->head->run.ctx->pool, at->listed, ask_task, at);
    MGVI_TRY(refresh(at));
    MGVI_TRY(mgvi_landmarks_apply(&at->landmarks, at->g, at->bent));
    for (int64_t i = 0; i < n; i++)
        for (int32_t t = 0; t < at->listed; t++) {
            const int32_t c = at->list[t];
            at->x[i * at->listed + t] =
                (at->lane[c].straight ? at->g : at->bent)[i * at->count + c];
        }
    return MGV_OK;
}

/* y = K x */
static mgv_status multiply(group *at)
{
    const mgvi_vec x = {.x = at->x, .n = at->K->rows, .k = at->listed, .space = MGVI_COLS};
    mgvi_vec y = {.x = at->y, .n = at->K->rows, .k = at->listed, .space = MGVI_ROWS};
    if (at->rough && !at->exact) {
        MGVI_TRY(mgvi_kernel_open_rough(mgvi_kernel_of(at->K)));
        return mgvi_kernel_rough_lanes(mgvi_kernel_of(at->K), at->x, at->listed, at->y);
    }
    mgvi_op_mul(at->K, 1, &x, 0, &y);
    return at->K->failed;
}

/* A step of all that are listed; *cut: the limit came between, and they stay where they are. */
static mgv_status step_together(group *at, bool *cut)
{
    mgv_ctx *ctx = at->head->run.ctx;
    mgv_status st = MGV_OK;
    mgvi_ctx_open(ctx, MGVI_GRACE);
    if (at->exact)
        mgvi_pool_run(ctx->pool, at->listed, tell_task, at);
    else
        st = make_directions(at);
    if (st == MGV_OK)
        st = multiply(at);
    *cut = mgvi_ctx_close(ctx);
    if (*cut)
        return mgvi_limit_explains(st) ? MGV_OK : st;
    MGVI_TRY(st);
    mgvi_pool_run(ctx->pool, at->listed, take_task, at);
    at->rounds++;
    return failure(at);
}

static mgv_status go_together(group *at)
{
    mgv_ctx *ctx = at->head->run.ctx;
    bool cut = false;
    mgvi_pool_run(ctx->pool, at->count, begin_task, at);
    MGVI_TRY(failure(at));
    for (int32_t c = 0; c < at->count; c++)
        if (!at->lane[c].begun)
            return MGV_OK; /* no time */
    while (!cut && (list_lanes(at, false) || list_lanes(at, true))) {
        const double passes = at->K->touched / (double)at->K->nnz;
        const mgvi_progress progress = mgvi_progress_of(at->rounds, passes, 0);
        if (at->rounds >= MOST_ROUNDS ||
            mgvi_stop_look(ctx, progress, &at->limits) != MGV_STOP_NONE)
            break;
        mgvi_log(ctx, MGV_INFO, "%d of %d classes take step %" PRId64 " together", at->listed,
                 at->count, at->rounds + 1);
        MGVI_TRY(step_together(at, &cut));
    }
    return MGV_OK;
}

static mgv_status make_room(group *at, mgvi_arena *arena)
{
    const mgv_problem *head = at->head->run.problem;
    mgvi_kernel_op *own = mgvi_kernel_of(head->A);
    const size_t n = (size_t)head->A->rows, count = (size_t)at->count;
    const mgvi_kernel_plan plan = {.kernel = *mgvi_kernel_spec(own),
                                   .X = head->A->stored,
                                   .lanes = at->count,
                                   .fast = MGV_F64,
                                   .lender = own,
                                   .cache_bytes = 1e6 * head->settings.cache};
    MGVI_TRY(mgvi_op_kernel(head->ctx, &plan, &at->K));
    mgvi_kernel_op *kernel = mgvi_kernel_of(at->K);
    at->rough = mgvi_kernel_expect_all(kernel, true);
    at->curvature = mgvi_arena_array(arena, count, sizeof *at->curvature);
    at->list = mgvi_arena_array(arena, count, sizeof *at->list);
    at->lane = mgvi_arena_array(arena, count, sizeof *at->lane);
    MGVI_TRY(MGVI_VECTORS(arena, n * count, &at->g, &at->bent, &at->x, &at->y));
    if (!at->curvature || !at->list || !at->lane)
        return MGV_E_MEMORY;
    return mgvi_landmarks_init(&at->landmarks, head, kernel, at->count, at->count, arena);
}

/* Members from `first` on. */
static mgv_status run_group(mgv_solver *head, int64_t first, int64_t end)
{
    mgv_ctx *ctx = head->run.ctx;
    group at = {.head = head,
                .ops = head->run.ops->products,
                .limits = head->settings,
                .count = (int32_t)(end - first)};
    mgvi_arena arena;
    at.limits.max_passes = mgvi_family_passes_left(head) * at.count;
    mgvi_arena_init(&arena, ctx);
    mgvi_ctx_open(ctx, MGVI_GRACE);
    mgv_status st = make_room(&at, &arena);
    for (int32_t c = 0; st == MGV_OK && c < at.count && !mgvi_ctx_cut(ctx); c++)
        st = at.lane[c].status = open_lane(&at, &at.lane[c], first + c);
    const bool cut = mgvi_ctx_close(ctx) && mgvi_limit_explains(st);
    if (st == MGV_OK && !cut)
        st = go_together(&at);
    for (int32_t c = 0; st == MGV_OK && !cut && c < at.count; c++)
        st = leave(&at, &at.lane[c]);
    if (st != MGV_OK && !cut && at.lane)
        (void)failure(&at); /* the sentence of a lane is the head's */
    for (int32_t c = 0; at.lane && c < at.count; c++)
        close_lane(&at.lane[c]);
    mgvi_op_free(at.K);
    mgvi_arena_free(&arena);
    return cut ? MGV_OK : st;
}

mgv_status mgvi_family_share_products(mgv_solver *head)
{
    static const double HELD = 100, SHARE = 0.25; /* numbers of a member per row; of the cache */
    const mgv_problem *p = head->run.problem;
    const mgvi_family *f = head->family;
    mgvi_kernel_op *kernel = mgvi_kernel_of(p->A);
    const double fit = floor(SHARE * 1e6 * p->settings.cache / (8 * HELD * (double)p->A->rows));
    const int64_t most = fit < MOST_LANES ? (int64_t)fit : MOST_LANES;
    if (!kernel || p->pairwise || head->run.early || !head->run.ops->products || f->begun ||
        most < 2 || f->member[0].stop != MGV_STOP_NONE || mgvi_kernel_fast(kernel) != MGV_F64)
        return MGV_OK;
    const int64_t groups = (f->members + most - 1) / most;
    for (int64_t g = 0; g < groups && mgvi_ctx_late(p->ctx) == MGV_STOP_NONE; g++)
        MGVI_TRY(run_group(head, mgvi_block_begin(f->members, groups, g),
                           mgvi_block_begin(f->members, groups, g + 1)));
    return MGV_OK;
}
