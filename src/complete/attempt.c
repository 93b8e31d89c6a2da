/* attempt.c - the path and when it ends. Iterates oscillate around the rank and the subspace that
 * they have found early; so after the first dip of the held-out error the finish is tried from its
 * lowest point, and the path only goes on where that is not clearly better. */
#include "complete/attempt.h"

#include "base/event.h"
#include "base/limit.h"
#include "stop/stop.h"

#include <math.h>

/* When the finish has won: its error is at most `error` of the path's best, or it explains `gain`
 * times what that explains of the held-out sum of squares, `some` of it at least. Before the first
 * dip the path may go on to fall, and more is asked for. */
typedef struct margin {
    double error, gain, some;
} margin;
static const margin AT_THE_DIP = {0.95, 1.05, 0};
static const margin STEADILY = {0.7, 1.3, 0.02}; /* the rank has long been the same */
static const margin BY_FAR = {0.3, 2, 0.02};     /* directions were taken in that are of no use */
static const double IDLE_SHARE = 0.2; /* of the rank: that many directions are of no use */
static const double AS_GOOD = 1.002;
static const double NOISY = 0.7;   /* of the error of X = 0: half of it is not explained */
static const double ENOUGH = 1e-6; /* of the error of X = 0 */
enum { STEADY = 8, MANY = 2000 };
enum { PATIENCE = 20 };

/* The iterations up to the start, where X is 0, may be more than were allowed: X is 0 there too. */
static int64_t within(const mgvi_attempt *a, int64_t iteration)
{
    const int64_t most = a->until.settings.max_iter;
    return iteration < most ? iteration : most;
}

static void send(const mgvi_attempt *a)
{
    mgv_event event = mgvi_event_blank(MGV_EVENT_TRACE);
    if (a->until.repeats)
        return;
    event.text = "path";
    event.iteration = within(a, a->run.iteration);
    event.seconds = mgvi_ctx_clock(a->e->ctx) - a->until.started;
    event.primal = a->run.nuclear;
    event.train_score = a->run.train;
    event.validation_score = a->run.held;
    event.nonzeros = a->run.X.rank;
    if (a->until.truth)
        event.distance = mgvi_truth_distance(a->until.truth, a->e, &a->run.X);
    if (mgvi_event_send(a->e->ctx, &event))
        atomic_store(&a->e->ctx->interrupted, 1);
}

/* ---- when the path ends ---------------------------------------------------------------------- */

/* Patience, and paths that only grow worse: the rank has more than doubled since the best. */
static bool hopeless(const mgvi_attempt *a)
{
    const int64_t since = a->run.iteration - a->at.best_at;
    const int64_t patience = a->until.settings.patience_iterations;
    const int64_t most = patience                   ? patience
                         : a->at.best_at > PATIENCE ? a->at.best_at
                                                    : (int64_t)PATIENCE;
    return since >= most || (a->run.X.rank > 2 * a->best.rank + 10 && a->best.rank > 0 &&
                             a->run.held > 1.05 * a->at.best_error && since > 3);
}

static mgv_stop check(const mgvi_attempt *a, int64_t iteration)
{
    const double seconds = mgvi_ctx_clock(a->e->ctx) - a->until.started;
    mgvi_progress progress = mgvi_progress_of(iteration, *a->e->passes, seconds);
    progress.residual = a->run.residual;
    progress.noise = a->until.residual;
    return mgvi_stop_look(a->e->ctx, progress, &a->until.settings);
}

/* The path goes on, has come to its end, or is ended by a budget. */
static void decide(mgvi_attempt *a)
{
    const mgv_stop stop = check(a, a->run.iteration);
    const bool reached = stop == MGV_STOP_DISCREPANCY || stop == MGV_STOP_USER;
    const bool selected =
        a->at.won || (a->until.choose && !reached && (!(a->run.norm > 0) || hopeless(a)));
    const bool enough = stop == MGV_STOP_MAX_ITER && a->until.repeats;
    if (selected)
        a->is.stop = MGV_STOP_SELECTED;
    else if (stop == MGV_STOP_DISCREPANCY || enough)
        a->is.stop = stop;
    else
        a->budget = stop;
    if (a->is.stop != MGV_STOP_NONE)
        a->at.phase = MGVI_PHASE_CHOOSE;
}

/* ---- the finish ------------------------------------------------------------------------------ */

static void begin_finish(mgvi_attempt *a, int64_t purpose)
{
    mgvi_finish_begin(&a->finish, ENOUGH * a->at.zero_error, a->run.iteration);
    a->at.purpose = purpose;
    a->at.phase = MGVI_PHASE_FINISH;
}

static bool has_won(const mgvi_attempt *a, margin by)
{
    const double zero = a->at.zero_error, best = a->at.best_error, error = a->finish.at.error;
    const double all = zero * zero, path = best * best, finish = error * error;
    return error < by.error * best ||
           (finish < path && all - path > by.some * all && all - finish > by.gain * (all - path));
}

/* The finish before the first dip, where the iterate seems to have the rank there is: its rank has
 * long been the same, or it takes in directions that do not help the held-out entries, if there are
 * enough of these to tell. What was tried in vain is tried again at twice the iterations. */
static mgv_status try_early(mgvi_attempt *a)
{
    const int64_t rank = a->best.rank;
    int64_t useful;
    if (a->at.rises || !isinf(a->at.finished_from) || rank == 0 ||
        a->run.iteration / 2 < a->at.tried_at)
        return MGV_OK;
    MGVI_TRY(mgvi_finish_useful_rank(a->e, &a->best, &useful));
    const bool idle = a->e->held_count >= MANY && rank >= 4 &&
                      (double)(rank - useful) >= 2 + IDLE_SHARE * (double)rank;
    if (!idle && a->at.steady < STEADY)
        return MGV_OK;
    a->at.tried_at = a->run.iteration;
    begin_finish(a, idle ? MGVI_IDLE_EARLY : MGVI_EARLY);
    return MGV_OK;
}

/* Keeps the best iterate, and says whether the finish is tried from it. */
static mgv_status judge(mgvi_attempt *a)
{
    const double held = a->run.held;
    const bool finish = a->until.settings.finish;
    if (held < a->at.best_error) {
        MGVI_TRY(mgvi_factors_copy(&a->best, &a->run.X, a->run.X.rank, 0));
        a->at.best_error = held;
        a->at.best_at = a->run.iteration;
    }
    a->at.steady = a->run.X.rank == a->at.last_rank ? a->at.steady + 1 : 0;
    a->at.last_rank = a->run.X.rank;
    a->at.rises = held > a->at.last_error ? a->at.rises + 1 : 0;
    a->at.last_error = held;
    if (a->at.rises == 2 && isinf(a->at.finished_from) && finish && a->best.rank > 0) {
        a->at.won = has_won(a, AT_THE_DIP); /* by an early try */
        if (!a->at.won)
            begin_finish(a, MGVI_AT_A_DIP);
        return MGV_OK;
    }
    return finish ? try_early(a) : MGV_OK;
}

static mgv_status finish_step(mgvi_attempt *a)
{
    const mgvi_finish_source from = {.best = &a->best,
                                     .error = a->at.best_error,
                                     .noisy = NOISY * a->at.zero_error,
                                     .norm = a->run.norm,
                                     .X = &a->run.X};
    a->finish.value = a->run.y_bar;
    a->finish.by_col = a->run.by_col;
    MGVI_TRY(mgvi_finish_step(&a->finish, &from));
    if (mgvi_finish_goes_on(&a->finish))
        return MGV_OK;
    const bool early = a->at.purpose == MGVI_EARLY || a->at.purpose == MGVI_IDLE_EARLY;
    a->at.finished_from = early ? INFINITY : a->at.best_error;
    a->at.phase = a->at.purpose == MGVI_LAST ? MGVI_PHASE_CHOOSE : MGVI_PHASE_DECIDE;
    if (a->at.purpose != MGVI_LAST)
        a->at.won = has_won(a, a->at.purpose == MGVI_EARLY        ? STEADILY
                               : a->at.purpose == MGVI_IDLE_EARLY ? BY_FAR
                                                                  : AT_THE_DIP);
    return MGV_OK;
}

/* ---- the path -------------------------------------------------------------------------------- */

/* What follows from an iterate. */
static mgv_status arrive(mgvi_attempt *a)
{
    send(a);
    a->at.phase = MGVI_PHASE_DECIDE;
    return a->until.choose ? judge(a) : MGV_OK;
}

/* It finds a norm. */
static mgv_status start(mgvi_attempt *a)
{
    const mgv_settings *s = &a->until.settings;
    MGVI_TRY(mgvi_low_rank_start(&a->run, a->e, s->sigma_factor, s->sigma, s->rank_max,
                                 (uint64_t)s->seed));
    if (mgvi_ctx_was_cut(a->e->ctx))
        return MGV_OK;
    a->at.zero_error = a->run.held;
    return arrive(a);
}

/* An iteration. One that may be cut has something to go back to: the best iterate, or a copy of the
 * last, which is made where steps are long. */
static mgv_status iterate(mgvi_attempt *a)
{
    if (a->slow && !a->until.choose) {
        MGVI_TRY(mgvi_factors_copy(&a->best, &a->run.X, a->run.X.rank, 0));
        a->at.best_nuclear = a->run.nuclear;
        a->at.best_at = a->run.iteration;
    }
    if (a->finish.at.sweeps > a->at.swept) /* on the iterate's memory */
        mgvi_low_rank_restore(&a->run);
    a->at.swept = a->finish.at.sweeps;
    MGVI_TRY(mgvi_low_rank_step(&a->run));
    if (mgvi_ctx_was_cut(a->e->ctx))
        return MGV_OK;
    if (!isfinite(a->run.residual))
        return MGVI_FAIL(a->e->ctx, MGV_E_NUMERIC,
                         "iteration %" PRId64 " left the finite numbers: sigma %g is not for "
                         "values of this size",
                         a->run.iteration, a->run.sigma);
    return arrive(a);
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* The better of the best iterate and the finished factors; first the finish, where it is due. */
static mgv_status choose(mgvi_attempt *a)
{
    mgvi_outcome *out = &a->is;
    const double error = a->finish.at.error;
    const bool more = out->stop == MGV_STOP_SELECTED || out->stop == MGV_STOP_MAX_ITER;
    if (more && a->until.settings.finish && a->best.rank > 0 &&
        a->at.best_error < 0.98 * a->at.finished_from && !has_won(a, AT_THE_DIP)) {
        begin_finish(a, MGVI_LAST);
        return MGV_OK;
    }
    out->path_error = a->at.best_error;
    out->iteration = within(a, a->at.best_at);
    out->finished = error < a->at.best_error ||
                    (error < AS_GOOD * a->at.best_error &&
                     a->finish.best.rank <= a->best.rank); /* then it is the simpler answer */
    out->error = out->finished ? error : a->at.best_error;
    out->ridge = out->finished ? a->finish.at.ridge : 0;
    mgvi_factors_swap(&a->X, out->finished ? &a->finish.best : &a->best);
    a->at.phase = MGVI_PHASE_OVER;
    return MGV_OK;
}

/* For y' = y/max(1, |Y|) no X with X = b on the entries has |X|_* < -<b, y'>: NaN where the limit
 * leaves no time for it. */
static mgv_status bound_last(mgvi_attempt *a, double *bound)
{
    mgvi_low_rank *run = &a->run;
    const mgvi_known *e = a->e;
    enum { STEPS = 12 };
    mgv_status st = MGV_OK;
    double inner = 0;
    mgvi_ctx_open_last(e->ctx);
    mgvi_known_by_col(e, run->y, run->by_col);
    const mgvi_low_plus_sparse Y = {.scale = 1, .value = run->y, .by_col = run->by_col};
    for (int k = 0; k < STEPS && st == MGV_OK && !mgvi_ctx_cut(e->ctx); k++)
        st = mgvi_spectrum_step(&run->spectrum, &Y, mgvi_spectrum_block(e, run->X.rank));
    if (mgvi_ctx_close(e->ctx))
        return MGV_OK;
    MGVI_TRY(st);
    for (int64_t i = 0; i < e->rows; i++)
        for (int64_t t = e->row_ptr[i]; t < e->row_ptr[i + 1]; t++)
            inner -= run->y[t] * mgvi_known_target(e, i, t);
    *bound = inner / fmax(1, run->spectrum.found ? run->spectrum.s[0] : 0);
    return MGV_OK;
}

/* The last iterate with its lower bound. */
static mgv_status take_last(mgvi_attempt *a)
{
    mgvi_low_rank *run = &a->run;
    mgvi_outcome *out = &a->is;
    a->at.phase = MGVI_PHASE_OVER;
    out->path_error = out->error = NAN;
    if (a->cut) { /* its bound was lost with the step */
        out->iteration = within(a, a->at.best_at);
        out->nuclear = a->at.best_nuclear;
        mgvi_factors_swap(&a->X, &a->best);
        return MGV_OK;
    }
    out->iteration = within(a, run->iteration);
    out->nuclear = run->nuclear;
    MGVI_TRY(bound_last(a, &out->bound));
    mgvi_factors_swap(&a->X, &run->X);
    return MGV_OK;
}

static mgv_status take_answer(mgvi_attempt *a)
{
    double held;
    if (a->cut && !a->best.left) /* at the start: X = 0 */
        MGVI_TRY(mgvi_factors_reset(&a->best, 0));
    MGVI_TRY(a->until.choose ? choose(a) : take_last(a));
    if (a->at.phase != MGVI_PHASE_OVER)
        return MGV_OK;
    a->is.iterations = within(a, a->run.iteration);
    a->is.sweeps = a->finish.at.sweeps;
    MGVI_TRY(mgvi_factors_errors(a->e, &a->X, &a->is.train, &held));
    if (a->until.choose && isinf(a->is.error)) /* cut at the start: that of X = 0 */
        a->is.error = a->is.path_error = held;
    return MGV_OK;
}

/* ---- steps ----------------------------------------------------------------------------------- */

void mgvi_attempt_init(mgvi_attempt *a, const mgvi_known *e, const mgvi_until *until)
{
    *a = (mgvi_attempt){
        .e = e,
        .until = *until,
        .at = {.best_error = INFINITY, .last_error = INFINITY, .finished_from = INFINITY},
        .is = {.error = NAN, .nuclear = NAN, .bound = NAN}};
    mgvi_factors_init(&a->X, e->ctx, e->rows, e->cols);
    mgvi_factors_init(&a->best, e->ctx, e->rows, e->cols);
    mgvi_finish_init(&a->finish, e, until->settings.rank_max, (uint64_t)until->settings.seed);
    a->finish.started = until->started;
}

void mgvi_attempt_free(mgvi_attempt *a)
{
    mgvi_low_rank_free(&a->run);
    mgvi_finish_free(&a->finish);
    mgvi_factors_free(&a->best);
    mgvi_factors_free(&a->X);
    a->e = NULL;
}

bool mgvi_attempt_is_over(const mgvi_attempt *a) { return a->at.phase == MGVI_PHASE_OVER; }

void mgvi_attempt_close(mgvi_attempt *a, mgv_stop stop)
{
    a->is.stop = stop;
    a->at.phase = MGVI_PHASE_CHOOSE;
    a->budget = MGV_STOP_NONE;
}

static mgv_status work(mgvi_attempt *a)
{
    switch (a->at.phase) {
    case MGVI_PHASE_START:
        return start(a);
    case MGVI_PHASE_DECIDE:
        return iterate(a);
    default:
        return finish_step(a);
    }
}

mgv_status mgvi_attempt_step(mgvi_attempt *a)
{
    mgv_ctx *ctx = a->e->ctx;
    if (a->at.phase == MGVI_PHASE_DECIDE)
        decide(a);
    else if (a->at.phase == MGVI_PHASE_FINISH)
        a->budget = check(a, -1);
    if (a->budget != MGV_STOP_NONE)
        return MGV_OK;
    if (a->at.phase == MGVI_PHASE_CHOOSE)
        return take_answer(a);
    const bool path = a->at.phase == MGVI_PHASE_DECIDE, safe = !path || a->until.choose || a->slow;
    const double begun = mgvi_ctx_clock(ctx);
    if (safe)
        mgvi_ctx_open(ctx, MGVI_GRACE);
    const mgv_status st = work(a);
    a->cut = safe && mgvi_ctx_close(ctx);
    a->slow = mgvi_ctx_clock(ctx) - begun > MGVI_GRACE;
    if (!a->cut)
        return st;
    a->budget = mgvi_ctx_late(ctx);
    return MGV_OK;
}
