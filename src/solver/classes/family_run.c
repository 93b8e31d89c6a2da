/* family_run.c - one run per class, as many at once as there are threads. */
#include "base/limit.h"
#include "base/threads.h"
#include "problem/member.h"
#include "solver/classes/family.h"
#include "solver/classes/family_lanes.h"
#include "solver/classes/family_products.h"
#include "solver/classes/lane_newton.h"

#include <math.h>
#include <string.h>

/* ---- one member ------------------------------------------------------------------------------ */

/* What a member leaves beside its weights. */
typedef struct outcome {
    mgv_status status;
    char error[MGVI_ERROR_MAX];
    double *proof;      /* rows; NULL: none */
    int64_t iterations; /* of its earlier turns in this sitting, */
    double passes;      /* and theirs */
} outcome;

/* A run of the family: its blocks are the members, which the threads claim in order. */
typedef struct sitting {
    mgv_solver *head;
    double started;
    double passes; /* of each member */
    double share;  /* seconds of each member in this turn */
    bool again;    /* they had a turn before */
    pthread_t caller;
    outcome *outcome;     /* of every member */
    atomic_llong next;    /* the first member that nobody has taken */
    atomic_llong barrier; /* the first member that makes all later ones pointless */
    pthread_mutex_t lock; /* for what members leave in the family, which checkpoints read */
} sitting;

static mgv_status collect(sitting *at, int64_t c, const mgv_solver *solver,
                          const mgvi_member *member)
{
    mgvi_family *f = at->head->family;
    const mgv_problem *p = member->problem, *head = at->head->run.problem;
    mgv_ctx *ctx = solver->run.ctx;
    f->member[c] = mgvi_driver_summary(solver);
    f->member[c].iterations += f->left[c].rounds + at->outcome[c].iterations;
    f->member[c].passes += f->left[c].passes + at->outcome[c].passes;
    const mgvi_vec part = mgvi_problem_penalised_part(p, &solver->answer.w);
    MGVI_TRY(mgvi_member_weights(ctx, member, head, part.x, f->coef + c * mgvi_problem_coefs(head),
                                 &f->intercept[c]));
    f->length[c] = mgvi_op_length(p->A, &part);
    if (f->end)
        MGVI_TRY(mgvi_member_note(ctx, &solver->answer.w, &solver->answer.u, 0, &f->end[c]));
    if (solver->stop != MGV_STOP_INFEASIBLE)
        return MGV_OK;
    double *proof = at->outcome[c].proof = mgvi_alloc(ctx, (size_t)head->A->rows, sizeof *proof);
    if (!proof)
        return MGV_E_MEMORY;
    mgvi_member_spread(member, solver->answer.u.x, head->A->rows, proof);
    return MGV_OK;
}

/* Says which member runs. */
static void announce(mgv_ctx *ctx, const mgv_problem *head, int64_t c, int64_t members)
{
    if (!head->pairwise) {
        mgvi_log(ctx, MGV_INFO, "class '%.40s' against the rest, %" PRId64 " of %" PRId64,
                 mgvi_problem_class_text(head, c), c + 1, members);
        return;
    }
    const mgvi_class_pair pair = mgvi_class_pair_at(mgvi_problem_classes(head), c);
    mgvi_log(ctx, MGV_INFO, "class '%.40s' against '%.40s', %" PRId64 " of %" PRId64,
             mgvi_problem_class_text(head, pair.first), mgvi_problem_class_text(head, pair.second),
             c + 1, members);
}

/* From where member c was left; a pair's weights are in the family, in the user's units. */
static mgv_status go_on(sitting *at, int64_t c, mgv_solver *solver)
{
    mgvi_family *f = at->head->family;
    const mgv_problem *p = solver->run.problem;
    mgvi_member_left *left = &f->left[c];
    mgvi_member_start *start = &left->start;
    if (left->state)
        return mgvi_checkpoint_parse(solver, "the checkpoint", left->state, left->state_size);
    if (!start->u)
        return MGV_OK;
    if (!start->w) {
        double *w = mgvi_alloc(solver->run.ctx, (size_t)p->A->cols, sizeof *w);
        if (!w)
            return MGV_E_MEMORY;
        mgvi_problem_own_weights(p, f->coef + c * mgvi_problem_coefs(p), f->intercept[c], w);
        pthread_mutex_lock(&at->lock);
        start->w = w;
        pthread_mutex_unlock(&at->lock);
    }
    if (left->image)
        mgvi_kernel_tell(mgvi_kernel_of(p->A), start->w, left->image);
    if (mgvi_lane_newton_leaves(p, start->u))
        MGVI_TRY(mgvi_driver_take_over(solver, "newton"));
    return mgvi_driver_start(solver, start->w, start->u);
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

/* What a member's run tells the family of itself. */
typedef struct keeper {
    sitting *at;
    int64_t c;
} keeper;

/* Under the lock; what is to be said of it is said in the thread that calls. */
static mgv_status save_now_and_then(sitting *at, mgv_ctx *ctx)
{
    mgvi_keeper *k = &at->head->keeper;
    k->ctx = ctx;
    const mgv_status st = mgvi_keeper_after(k);
    k->ctx = at->head->run.ctx;
    return st;
}

/* The present state of a member that has no certificate. */
static mgv_status keep_state(void *arg, const void *run)
{
    const keeper *k = arg;
    const mgv_solver *solver = run;
    mgvi_member_left *left = &k->at->head->family->left[k->c];
    void *bytes;
    size_t size;
    if (solver->stop == MGV_STOP_CERTIFIED)
        return MGV_OK;
    MGVI_TRY(mgvi_checkpoint_pack(solver, &bytes, &size));
    pthread_mutex_lock(&k->at->lock);
    mgvi_release(solver->run.ctx, left->state);
    left->state = bytes;
    left->state_size = size;
    const mgv_status st = save_now_and_then(k->at, solver->run.ctx);
    pthread_mutex_unlock(&k->at->lock);
    return st;
}

static double seconds_left(const sitting *at)
{
    const double spent =
        at->head->family->seconds + mgvi_ctx_clock(at->head->run.ctx) - at->started;
    return fmax(at->head->settings.time_limit - spent, 0);
}

/* Whether a member has had its turn, but not the limit its end. */
static bool may_go_on(const sitting *at, mgv_stop stop)
{
    return stop == MGV_STOP_TIME && isfinite(at->share) && seconds_left(at) > 0 &&
           mgvi_ctx_late(at->head->run.ctx) == MGV_STOP_NONE;
}

/* Where it goes on in its next turn. */
static mgv_status keep_place(sitting *at, int64_t c, const mgv_solver *solver)
{
    mgvi_member_left *left = &at->head->family->left[c];
    const mgvi_summary own = mgvi_driver_summary(solver);
    if (left->state) /* its iterations are counted there */
        return MGV_OK;
    at->outcome[c].iterations += own.iterations;
    at->outcome[c].passes += own.passes;
    mgvi_release(solver->run.ctx, left->image); /* of another start: the judge believes it */
    left->image = NULL;
    return mgvi_member_note(solver->run.ctx, &solver->answer.w, &solver->answer.u, 0, &left->start);
}

/* What member c has come to. */
static mgv_status finish_member(sitting *at, int64_t c, const mgv_solver *solver,
                                const mgvi_member *member)
{
    mgvi_member_left *left = &at->head->family->left[c];
    pthread_mutex_lock(&at->lock);
    mgv_status st = collect(at, c, solver, member);
    if (st == MGV_OK && solver->stop == MGV_STOP_CERTIFIED)
        mgvi_member_forget_left(solver->run.ctx, left);
    if (st == MGV_OK && may_go_on(at, solver->stop))
        st = keep_place(at, c, solver);
    if (st == MGV_OK)
        st = save_now_and_then(at, solver->run.ctx);
    pthread_mutex_unlock(&at->lock);
    return st;
}

/* ---- a member's run -------------------------------------------------------------------------- */

static mgv_status drive(sitting *at, int64_t c, mgv_solver *solver, const mgvi_member *member)
{
    keeper k = {.at = at, .c = c};
    solver->keeper.tell = keep_state;
    solver->keeper.whom = &k;
    MGVI_TRY(go_on(at, c, solver));
    solver->settings.time_limit += solver->memory.seconds; /* of its earlier sittings */
    MGVI_TRY(mgvi_driver_run(solver));
    return finish_member(at, c, solver, member);
}

/* A member without rows: weights of 0 are as good as any. */
static void finish_empty(sitting *at, int64_t c)
{
    pthread_mutex_lock(&at->lock);
    at->head->family->member[c] = (mgvi_summary){
        .solver = at->head->run.ops->name,
        .stop = MGV_STOP_CERTIFIED,
        .certificate = {.size = sizeof(mgv_certificate), .separable = -1, .verified = 1}};
    pthread_mutex_unlock(&at->lock);
}

/* Members that the limit leaves without a run have the weights of lock-step, or none: what was not
 * reached must not win against what was. */
static void leave_out(mgvi_family *f, int64_t c, int64_t cols, const char *solver, mgv_stop stop)
{
    f->member[c] = (mgvi_summary){.solver = solver, .stop = stop};
    if (f->left[c].start.u)
        return;
    memset(f->coef + c * cols, 0, (size_t)cols * sizeof *f->coef);
    f->intercept[c] = MGVI_NOT_REACHED;
    f->lost++;
}

static mgv_status reach_no_more(sitting *at, int64_t c, mgv_stop late)
{
    const mgv_solver *head = at->head;
    pthread_mutex_lock(&at->lock);
    leave_out(head->family, c, mgvi_problem_coefs(head->run.problem), head->run.ops->name, late);
    pthread_mutex_unlock(&at->lock);
    return MGV_OK;
}

/* Binds member c, runs it, keeps what it came to. */
static mgv_status run_member(sitting *at, mgv_ctx *ctx, int64_t c)
{
    const mgv_problem *head = at->head->run.problem;
    mgv_settings settings = at->head->settings;
    mgvi_member member;
    mgv_solver *solver = NULL;
    const mgv_stop late = mgvi_ctx_late(ctx);
    if (late != MGV_STOP_NONE)
        return reach_no_more(at, c, late);
    settings.time_limit = fmin(at->share, seconds_left(at));
    settings.max_passes = fmax(at->passes - at->outcome[c].passes, 0);
    settings.max_iter -= at->outcome[c].iterations + at->head->family->left[c].rounds;
    settings.max_iter = settings.max_iter > 0 ? settings.max_iter : 0;
    announce(ctx, head, c, at->head->family->members);
    if (!mgvi_member_weighs(head, c)) {
        finish_empty(at, c);
        return MGV_OK;
    }
    mgvi_ctx_open(ctx, MGVI_GRACE);
    mgv_status st = mgvi_member_new(ctx, head, &settings, c, &member);
    if (mgvi_ctx_close(ctx) && mgvi_limit_explains(st)) {
        mgvi_member_free(ctx, &member);
        return reach_no_more(at, c, mgvi_ctx_late(ctx));
    }
    MGVI_TRY(st);
    st = mgvi_driver_new(ctx, member.problem, &settings, &solver);
    if (st == MGV_OK)
        st = drive(at, c, solver, &member);
    mgvi_driver_free(solver);
    mgvi_member_free(ctx, &member);
    return st;
}

/* Whether a member that ended so leaves nothing for later ones to do. */
static bool ends_the_family(const sitting *at, mgv_stop stop)
{
    return stop == MGV_STOP_INFEASIBLE || stop == MGV_STOP_USER ||
           (stop == MGV_STOP_TIME && !may_go_on(at, stop));
}

/* Whether there is anything to do for a member in this turn. */
static bool is_open(const sitting *at, mgv_stop stop)
{
    return at->again ? stop == MGV_STOP_NONE || stop == MGV_STOP_TIME : stop != MGV_STOP_CERTIFIED;
}

static void member_block(void *arg, int64_t c)
{
    sitting *at = arg;
    outcome *out = &at->outcome[c];
    const mgvi_summary *summary = &at->head->family->member[c];
    mgv_ctx child = mgvi_family_ctx(at->head, at->caller);
    if (!is_open(at, summary->stop) || atomic_load(&at->barrier) < c)
        return;
    out->status = run_member(at, &child, c);
    memcpy(out->error, child.error, sizeof out->error);
    if (out->status == MGV_OK && !ends_the_family(at, summary->stop))
        return;
    /* Every member before the barrier has been started, so the first one that ends the family is
     * the same for any number of threads. */
    long long now = atomic_load(&at->barrier);
    while (c < now && !atomic_compare_exchange_weak(&at->barrier, &now, c))
        ;
    if (summary->stop == MGV_STOP_USER)
        atomic_store(&at->head->run.ctx->interrupted, 1);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* After a proof nothing else counts, whatever other threads had finished. */
static void give_up_the_rest(mgv_solver *head, int64_t barrier, mgv_stop stop)
{
    mgvi_family *f = head->family;
    const int64_t cols = mgvi_problem_coefs(head->run.problem);
    for (int64_t c = barrier + 1; c < f->members; c++) {
        if (stop != MGV_STOP_INFEASIBLE && f->member[c].stop != MGV_STOP_NONE)
            continue;
        leave_out(f, c, cols, f->member[barrier].solver, stop);
    }
    if (stop != MGV_STOP_INFEASIBLE && f->lost > 0)
        mgvi_log(head->run.ctx, MGV_WARNING, "%" PRId64 " of %" PRId64 " %s", f->lost, f->members,
                 head->run.problem->pairwise
                     ? "pairs of classes were not reached: they vote for the first of the two"
                     : "classes were not reached: no row will be given to them");
}

/* The outcome at the barrier is the family's. */
static mgv_status settle(sitting *at)
{
    mgv_solver *head = at->head;
    mgvi_family *f = head->family;
    const int64_t c = atomic_load(&at->barrier);
    head->stop = mgvi_family_summary(head).stop;
    if (c >= f->members)
        return MGV_OK;
    if (at->outcome[c].status != MGV_OK)
        return MGVI_FAIL(head->run.ctx, at->outcome[c].status, "%s", at->outcome[c].error);
    give_up_the_rest(head, c, f->member[c].stop);
    head->stop = mgvi_family_summary(head).stop;
    if (f->member[c].stop != MGV_STOP_INFEASIBLE)
        return MGV_OK;
    f->impossible = c;
    MGVI_TRY(mgvi_run_vec(&head->run, MGVI_ROWS, &f->proof));
    memcpy(f->proof.x, at->outcome[c].proof, (size_t)f->proof.n * sizeof *f->proof.x);
    return MGV_OK;
}

/* Members of one against the rest need the same rows of a kernel matrix. */
static mgv_status share_kernel(const mgvi_run *run)
{
    mgvi_kernel_op *kernel = mgvi_kernel_of(run->problem->A);
    const bool shares = !run->problem->pairwise && run->ops->shares_rows;
    return kernel && shares ? mgvi_kernel_lend(kernel) : MGV_OK;
}

/* One of the threads that run members: each takes the next that nobody has. */
static void member_lane(void *arg, int64_t lane)
{
    sitting *at = arg;
    long long c;
    (void)lane;
    while ((c = atomic_fetch_add(&at->next, 1)) < at->head->family->members)
        member_block(at, c);
}

/* As many members at once as there are threads and memory for them; one after the other each has
 * all threads. How many changes no number of theirs. */
static void run_members(sitting *at)
{
    static const double HELD = 6.5, COLUMNS = 30; /* numbers of a run, per row and column */
    const mgv_problem *p = at->head->run.problem;
    const double all = mgvi_problem_spare(p, 0), copies = mgvi_problem_spare(p, HELD);
    const double own = 8 * (HELD * (double)p->A->rows + COLUMNS * (double)p->A->cols);
    const double fit = floor(all / (own + fmin(copies, mgvi_problem_bytes(p))));
    const int64_t threads = mgvi_pool_threads(p->ctx->pool);
    const int64_t lanes = fit < (double)threads ? (int64_t)fit : threads;
    atomic_store(&at->next, 0);
    mgvi_pool_run(p->ctx->pool, lanes < 1 ? 1 : lanes, member_lane, at);
}

/* Under a time limit members take turns, so that one that is hard leaves something to the others:
 * of what is left each has its part, then what others did not need, then all. */
static void take_turns(sitting *at)
{
    enum { TURNS = 3 };
    const mgvi_family *f = at->head->family;
    const int64_t threads = mgvi_pool_threads(at->head->run.ctx->pool);
    for (int turn = 0; turn < TURNS && atomic_load(&at->barrier) == f->members; turn++) {
        int64_t open = 0;
        at->again = turn > 0;
        for (int64_t c = 0; c < f->members; c++)
            open += is_open(at, f->member[c].stop);
        if (open == 0)
            return;
        const double at_once = (double)(open < threads ? open : threads);
        at->share = turn < TURNS - 1 && open > 1 && isfinite(at->head->settings.time_limit) &&
                            mgvi_family_has_room(at->head)
                        ? seconds_left(at) * at_once / (double)open
                        : INFINITY;
        run_members(at);
        if (!isfinite(at->share))
            return;
    }
}

/* All members, together and then one by one; the last checkpoint. */
static mgv_status sit(sitting *at)
{
    mgv_solver *head = at->head;
    mgv_ctx *ctx = head->run.ctx;
    mgvi_family *f = head->family;
    f->hasty = false;
    MGVI_TRY(mgvi_family_in_lockstep(head));
    MGVI_TRY(mgvi_family_share_products(head));
    f->hasty = !f->begun && (f->hasty || mgvi_ctx_late(ctx) != MGV_STOP_NONE);
    MGVI_TRY(share_kernel(&head->run));
    at->passes = mgvi_family_passes_left(head);
    take_turns(at);
    if (mgvi_kernel_of(head->run.problem->A))
        mgvi_kernel_drop_rows(mgvi_kernel_of(head->run.problem->A));
    f->begun = true;
    f->seconds += mgvi_ctx_clock(at->head->run.ctx) - at->started;
    MGVI_TRY(mgvi_keeper_end(&head->keeper, false));
    return settle(at);
}

mgv_status mgvi_family_run(mgv_solver *solver)
{
    mgv_ctx *ctx = solver->run.ctx;
    const int64_t members = solver->family->members;
    sitting at = {.head = solver, .started = mgvi_ctx_clock(ctx), .caller = pthread_self()};
    solver->family->lost = 0;
    at.outcome = mgvi_zeros(ctx, (size_t)members, sizeof *at.outcome);
    if (!at.outcome)
        return MGV_E_MEMORY;
    atomic_init(&at.barrier, members);
    pthread_mutex_init(&at.lock, NULL);
    const mgv_status st = sit(&at);
    pthread_mutex_destroy(&at.lock);
    for (int64_t c = 0; c < members; c++)
        mgvi_release(ctx, at.outcome[c].proof);
    mgvi_release(ctx, at.outcome);
    return st;
}
