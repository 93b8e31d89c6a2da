/* state.c - a completion under way as tensors, and back. What follows from the entries and the
 * settings alone, what is held out and the biases, is made again. */
#include "complete/job.h"

#include "base/hash.h"
#include "base/limit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 24 }; /* arrays */
static const char COMMAND[] = "complete", SOLVER[] = "completion";
static const int64_t COUNT_MAX = INT64_C(1) << 40; /* of iterations, sweeps, ...: a sane state */

/* Of mgvi_low_rank. */
typedef struct numbers {
    double sigma, tau, norm, residual, train, held, nuclear;
    int64_t iteration;
    mgvi_rng rng;
} numbers;

typedef struct snapshot {
    mgvi_tensor tensor[MOST];
    int count;
    int64_t ranks[5]; /* of answer, iterate, best, finish and trial */
    numbers numbers;
} snapshot;

/* The factors of a state, in the order of their ranks. */
typedef struct named {
    const char *left, *right;
    mgvi_factors *factors;
} named;
enum { ANSWER, ITERATE, BEST, FINISHED, TRIAL, FACTORS };

static void name_factors(mgvi_job *j, named list[FACTORS])
{
    mgvi_attempt *a = &j->attempt;
    list[ANSWER] = (named){"answer_left", "answer_right", &j->answer};
    list[ITERATE] = (named){"iterate_left", "iterate_right", &a->run.X};
    list[BEST] = (named){"best_left", "best_right", &a->best};
    list[FINISHED] = (named){"finish_left", "finish_right", &a->finish.best};
    list[TRIAL] = (named){"trial_left", "trial_right", &a->finish.trial};
}

/* ---- out ------------------------------------------------------------------------------------- */

static uint64_t mix_real(uint64_t h, double x) { return mgvi_hash(h, &x, sizeof x); }
static uint64_t mix_count(uint64_t h, int64_t n) { return mgvi_hash(h, &n, sizeof n); }

uint64_t mgvi_job_print(const mgvi_job *j)
{
    const mgvi_known *e = &j->e;
    const mgv_settings *s = j->settings;
    const size_t count = (size_t)e->count;
    uint64_t h = mix_count(mix_count(MGVI_HASH_BEGIN, e->rows), e->cols);
    h = mgvi_hash(h, e->row_ptr, (size_t)(e->rows + 1) * sizeof *e->row_ptr);
    h = mgvi_hash(h, e->col, count * sizeof *e->col);
    h = mgvi_hash(h, e->value, count * sizeof *e->value);
    h = mgvi_hash_text(h, s->select);
    h = mix_count(mix_count(h, s->seed), s->rank_max);
    h = mix_count(mix_count(h, s->biases), s->finish);
    h = mix_count(h, s->patience_iterations);
    return mix_real(mix_real(h, s->sigma), s->sigma_factor);
}

static void add(snapshot *s, const char *name, mgvi_tensor_type type, int64_t count,
                const void *data)
{
    s->tensor[s->count++] = mgvi_checkpoint_array(type, count, data, name, 0);
}

static void add_factors(snapshot *s, const named *n, int64_t *rank)
{
    const mgvi_factors *f = n->factors;
    *rank = f->left ? f->rank : -1; /* -1: there are none */
    if (!f->left)
        return;
    add(s, n->left, MGVI_T_F64, f->rows * f->width, f->left);
    add(s, n->right, MGVI_T_F64, f->cols * f->width, f->right);
}

static void add_attempt(snapshot *s, mgvi_attempt *a)
{
    const mgvi_low_rank *r = &a->run;
    add(s, "attempt", MGVI_T_U8, sizeof a->at, &a->at);
    add(s, "outcome", MGVI_T_U8, sizeof a->is, &a->is);
    if (a->at.phase == MGVI_PHASE_START)
        return;
    s->numbers.sigma = r->sigma;
    s->numbers.tau = r->tau;
    s->numbers.norm = r->norm;
    s->numbers.residual = r->residual;
    s->numbers.train = r->train;
    s->numbers.held = r->held;
    s->numbers.nuclear = r->nuclear;
    s->numbers.iteration = r->iteration;
    s->numbers.rng = r->spectrum.rng;
    add(s, "iteration", MGVI_T_U8, sizeof s->numbers, &s->numbers);
    add(s, "y", MGVI_T_F64, a->e->count, r->y);
    add(s, "directions", MGVI_T_F64, a->e->cols * r->spectrum.found, r->spectrum.right);
    add(s, "finish", MGVI_T_U8, sizeof a->finish.at, &a->finish.at);
    if (a->finish.at.trial.on)
        add(s, "trial_values", MGVI_T_F64, a->finish.trial.rank, a->finish.s);
}

mgv_status mgvi_job_put(void *job, mgvi_checkpoint_goal *to)
{
    mgvi_job *j = job;
    named list[FACTORS];
    snapshot s;
    memset(&s, 0, sizeof s); /* holes between numbers too */
    mgvi_job_place at = j->at;
    at.seconds = mgvi_ctx_clock(j->ctx) - j->started;
    add(&s, "job", MGVI_T_U8, sizeof at, &at);
    add(&s, "ranks", MGVI_T_I64, FACTORS, s.ranks);
    name_factors(j, list);
    for (int k = 0; k < FACTORS; k++)
        s.ranks[k] = -1;
    add_factors(&s, &list[ANSWER], &s.ranks[ANSWER]);
    const bool open = j->attempt.e != NULL;
    if (open)
        add_attempt(&s, &j->attempt);
    for (int k = ITERATE; open && k <= FINISHED; k++)
        add_factors(&s, &list[k], &s.ranks[k]);
    if (open && j->attempt.finish.at.trial.on)
        add_factors(&s, &list[TRIAL], &s.ranks[TRIAL]);
    const mgvi_checkpoint_id id = {COMMAND, SOLVER, j->print};
    return mgvi_checkpoint_put(j->ctx, &id, s.tensor, s.count, to);
}

/* ---- back ------------------------------------------------------------------------------------ */

typedef struct source {
    mgvi_job *j;
    const char *path;
    const mgvi_tensors *file;
    int64_t ranks[FACTORS];
} source;

static mgv_status damaged(const source *s)
{
    return MGVI_FAIL(s->j->ctx, MGV_E_INPUT,
                     "%s: the state of the completion is damaged; resume from another checkpoint",
                     s->path);
}

static bool is_count(int64_t n) { return n >= 0 && n <= COUNT_MAX; }

static mgv_status take(const source *s, const char *name, mgvi_tensor_type type, int64_t count,
                       void *to)
{
    const void *data;
    MGVI_TRY(mgvi_tensors_need(s->j->ctx, s->file, name, type, 1, count, -1, &data));
    if (count)
        memcpy(to, data, (size_t)count * mgvi_tensor_type_size(type));
    return MGV_OK;
}

static mgv_status take_factors(const source *s, const named *n, int64_t rank)
{
    mgvi_factors *f = n->factors;
    const void *left, *right;
    if (rank < 0)
        return MGV_OK;
    const int64_t width = mgvi_factors_width(rank);
    mgv_ctx *ctx = s->j->ctx;
    MGVI_TRY(mgvi_tensors_need(ctx, s->file, n->left, MGVI_T_F64, 1, f->rows * width, -1, &left));
    MGVI_TRY(mgvi_tensors_need(ctx, s->file, n->right, MGVI_T_F64, 1, f->cols * width, -1, &right));
    MGVI_TRY(mgvi_factors_reset(f, rank));
    memcpy(f->left, left, (size_t)(f->rows * width) * sizeof *f->left);
    memcpy(f->right, right, (size_t)(f->cols * width) * sizeof *f->right);
    return MGV_OK;
}

static mgv_status take_iteration(const source *s, mgvi_attempt *a)
{
    mgvi_low_rank *r = &a->run;
    const mgv_settings *set = &a->until.settings;
    const mgvi_known *e = a->e;
    numbers n;
    MGVI_TRY(take(s, "iteration", MGVI_T_U8, sizeof n, &n));
    if (!is_count(n.iteration) || n.rng.left < 0 || n.rng.left > 4)
        return damaged(s);
    MGVI_TRY(mgvi_low_rank_open(r, e, set->rank_max, (uint64_t)set->seed));
    r->sigma = n.sigma;
    r->tau = n.tau;
    r->norm = n.norm;
    r->residual = n.residual;
    r->train = n.train;
    r->held = n.held;
    r->nuclear = n.nuclear;
    r->iteration = n.iteration;
    MGVI_TRY(take(s, "y", MGVI_T_F64, e->count, r->y));
    const mgvi_tensor *directions = mgvi_tensors_find(s->file, "directions");
    const int64_t found = directions && directions->rank == 1 ? directions->shape[0] / e->cols : 0;
    const void *right;
    MGVI_TRY(mgvi_tensors_need(s->j->ctx, s->file, "directions", MGVI_T_F64, 1, found * e->cols, -1,
                               &right));
    if (found > mgvi_spectrum_block(e, set->rank_max))
        return damaged(s);
    return mgvi_spectrum_restore(&r->spectrum, &n.rng, right, found);
}

static bool finish_is_sane(const mgvi_attempt *a, const int64_t ranks[FACTORS])
{
    const mgvi_finish_place *at = &a->finish.at;
    const bool under_way = a->at.phase == MGVI_PHASE_FINISH;
    if (at->stage < MGVI_FINISH_IDLE || at->stage > MGVI_FINISH_RIDGES || isnan(at->error) ||
        (at->stage != MGVI_FINISH_IDLE) != under_way || (under_way && !a->until.choose))
        return false;
    if (!is_count(at->sweeps) || !is_count(at->counted) || at->trial.sweeps < 0 ||
        at->trial.sweeps > MGVI_FINISH_SWEEPS || at->search.round < 0 || at->search.round > 4 ||
        at->search.step < 0 || !is_count(at->search.step) || !is_count(at->ridges.worse))
        return false;
    const bool found = !isinf(at->error) || at->trial.taken || at->stage == MGVI_FINISH_SEARCH;
    if (found && ranks[FINISHED] < 1)
        return false;
    if (at->trial.on && (ranks[TRIAL] < 0 || at->stage <= MGVI_FINISH_FIRST))
        return false;
    return !under_way || ranks[BEST] > 0;
}

static mgv_status take_attempt(source *s)
{
    mgvi_job *j = s->j;
    mgvi_attempt *a = &j->attempt;
    mgvi_finish *f = &a->finish;
    named list[FACTORS];
    MGVI_TRY(mgvi_job_open(j));
    MGVI_TRY(take(s, "attempt", MGVI_T_U8, sizeof a->at, &a->at));
    MGVI_TRY(take(s, "outcome", MGVI_T_U8, sizeof a->is, &a->is));
    if (a->at.phase < MGVI_PHASE_START || a->at.phase >= MGVI_PHASE_OVER || a->at.purpose < 0 ||
        a->at.purpose > MGVI_LAST || !is_count(a->at.best_at) || !is_count(a->at.rises) ||
        !is_count(a->at.tried_at) || !is_count(a->at.steady) || !is_count(a->at.swept))
        return damaged(s);
    if (a->at.phase == MGVI_PHASE_START)
        return MGV_OK;
    MGVI_TRY(take_iteration(s, a));
    MGVI_TRY(take(s, "finish", MGVI_T_U8, sizeof f->at, &f->at));
    if (!finish_is_sane(a, s->ranks) || s->ranks[ITERATE] < 0 || a->at.best_at > a->run.iteration)
        return damaged(s);
    name_factors(j, list);
    for (int k = ITERATE; k <= TRIAL; k++)
        MGVI_TRY(take_factors(s, &list[k], s->ranks[k]));
    mgvi_low_rank_restore(&a->run); /* what follows from y */
    if (f->at.stage > MGVI_FINISH_FIRST)
        MGVI_TRY(mgvi_finish_open(f, 2 * f->rank_max + a->best.rank + a->run.X.rank + 1));
    return f->at.trial.on ? take(s, "trial_values", MGVI_T_F64, f->trial.rank, f->s) : MGV_OK;
}

static mgv_status take_job(void *job, const char *path, const mgvi_tensors *file)
{
    mgvi_job *j = job;
    source *s = &(source){.j = j, .path = path, .file = file};
    named list[FACTORS];
    MGVI_TRY(take(s, "job", MGVI_T_U8, sizeof j->at, &j->at));
    MGVI_TRY(take(s, "ranks", MGVI_T_I64, FACTORS, s->ranks));
    const mgvi_job_place *at = &j->at;
    const bool first = at->stage == MGVI_STAGE_FIRST;
    if (at->stage < MGVI_STAGE_FIRST || at->stage > MGVI_STAGE_DONE || !(at->passes >= 0) ||
        !(at->seconds >= 0 && at->seconds < INFINITY) || !is_count(at->answer.iteration))
        return damaged(s);
    for (int k = 0; k < FACTORS; k++)
        if (s->ranks[k] > j->settings->rank_max)
            return damaged(s);
    if (first != (s->ranks[ANSWER] < 0))
        return damaged(s);
    j->started -= at->seconds;
    name_factors(j, list);
    MGVI_TRY(take_factors(s, &list[ANSWER], s->ranks[ANSWER]));
    if (at->stage >= MGVI_STAGE_AGAIN)
        MGVI_TRY(mgvi_job_train_on_all(j));
    mgvi_job_use_biases(j, at->with_biases);
    const bool open = mgvi_job_opens(j) && mgvi_tensors_find(s->file, "attempt");
    return open ? take_attempt(s) : MGV_OK;
}

mgv_status mgvi_job_read(mgvi_job *j, const char *path)
{
    const mgvi_checkpoint_heir heir = {{COMMAND, SOLVER, j->print}, j, take_job};
    return mgvi_checkpoint_take(j->ctx, &heir, path, NULL, 0);
}
