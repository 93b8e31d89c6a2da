/* attempt.c - the path and when it ends. Iterates oscillate around the rank and the subspace that
 * they have found early; so after the first dip of the held-out error the finish is tried from its
 * lowest point, and the path only goes on where that is not clearly better. */
#include "complete/attempt.h"

#include "base/event.h"
#include "base/limit.h"

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

typedef struct walk {
    const mgvi_known *e;
    const mgvi_until *until;
    mgvi_low_rank run;
    mgvi_finish finish;
    mgvi_factors best;                         /* the iterate with the least held-out error */
    double zero_error, best_error, last_error; /* held out: of X = 0, of the best, of the last */
    int64_t best_at, rises;
    double finished_from; /* path error of the iterate the finish started from; infinite: none */
    int64_t tried_at;     /* iteration of the last early try of the finish; 0: none */
    int64_t steady;       /* iterations of the same rank */
    int64_t last_rank;
    bool cut;  /* the limit has cut a step: `run` is worth nothing, `best` is the answer */
    bool slow; /* the last step took longer than MGVI_GRACE */
    double best_nuclear; /* where nobody chooses `best` is the last iterate of a slow step */
} walk;

static void send(const walk *w)
{
    mgv_event event = mgvi_event_blank(MGV_EVENT_TRACE);
    if (w->until->silent)
        return;
    event.text = "path";
    event.iteration = w->run.iteration;
    event.seconds = mgvi_ctx_clock(w->e->ctx) - w->until->started;
    event.primal = w->run.nuclear;
    event.train_score = w->run.train;
    event.validation_score = w->run.held;
    event.nonzeros = w->run.X.rank;
    if (mgvi_event_send(w->e->ctx, &event))
        atomic_store(&w->e->ctx->interrupted, 1);
}

/* Patience, and paths that only grow worse: the rank has more than doubled since the best. */
static bool hopeless(const walk *w)
{
    const int64_t since = w->run.iteration - w->best_at;
    const int64_t patience = w->until->settings->patience_iterations;
    const int64_t most = patience                ? patience
                         : w->best_at > PATIENCE ? w->best_at
                                                 : (int64_t)PATIENCE;
    return since >= most || (w->run.X.rank > 2 * w->best.rank + 10 && w->best.rank > 0 &&
                             w->run.held > 1.05 * w->best_error && since > 3);
}

static mgv_stop check(const walk *w)
{
    const mgvi_until *u = w->until;
    const mgv_stop late = mgvi_ctx_late(w->e->ctx);
    if (late == MGV_STOP_USER || w->cut)
        return late;
    if (w->run.residual <= u->residual)
        return MGV_STOP_DISCREPANCY;
    if (u->choose && (!(w->run.norm > 0) || hopeless(w)))
        return MGV_STOP_SELECTED;
    if (w->run.iteration >= u->most)
        return MGV_STOP_MAX_ITER;
    return late;
}

static mgv_status finish_best(walk *w)
{
    w->finish.value = w->run.y_bar;
    w->finish.by_col = w->run.by_col;
    w->finish.enough = ENOUGH * w->zero_error;
    w->finish.first_iteration = w->run.iteration;
    w->finish.started = w->until->started;
    MGVI_TRY(mgvi_finish_from(&w->finish, &w->best, w->best_error));
    if (w->finish.error > NOISY * w->zero_error) {
        /* the present iterate has more directions; the ridge takes what is too much of them */
        const int64_t most = 2 * w->best.rank > 8 ? 2 * w->best.rank : 8;
        MGVI_TRY(mgvi_finish_ridges(&w->finish, &w->run.X, most, w->run.norm));
    }
    w->finished_from = w->best_error;
    return MGV_OK;
}

static bool has_won(const walk *w, margin by)
{
    const double all = w->zero_error * w->zero_error, path = w->best_error * w->best_error;
    const double finish = w->finish.error * w->finish.error;
    return w->finish.error < by.error * w->best_error ||
           (finish < path && all - path > by.some * all && all - finish > by.gain * (all - path));
}

/* The finish before the first dip, where the iterate seems to have the rank there is: its rank has
 * long been the same, or it takes in directions that do not help the held-out entries, if there are
 * enough of these to tell. What was tried in vain is tried again at twice the iterations. */
static mgv_status try_early(walk *w, bool *won)
{
    const int64_t rank = w->best.rank;
    int64_t useful;
    if (w->rises || !isinf(w->finished_from) || rank == 0 || w->run.iteration < 2 * w->tried_at)
        return MGV_OK;
    MGVI_TRY(mgvi_finish_useful_rank(w->e, &w->best, &useful));
    const bool idle = w->e->held_count >= MANY && rank >= 4 &&
                      (double)(rank - useful) >= 2 + IDLE_SHARE * (double)rank;
    if (!idle && w->steady < STEADY)
        return MGV_OK;
    w->tried_at = w->run.iteration;
    MGVI_TRY(finish_best(w));
    w->finished_from = INFINITY;
    *won = has_won(w, idle ? BY_FAR : STEADILY);
    return MGV_OK;
}

/* Keeps the best iterate; true when the finish, tried at the first dip, has clearly won. */
static mgv_status judge(walk *w, bool *won)
{
    const double held = w->run.held;
    if (held < w->best_error) {
        MGVI_TRY(mgvi_factors_copy(&w->best, &w->run.X, w->run.X.rank, 0));
        w->best_error = held;
        w->best_at = w->run.iteration;
    }
    w->steady = w->run.X.rank == w->last_rank ? w->steady + 1 : 0;
    w->last_rank = w->run.X.rank;
    w->rises = held > w->last_error ? w->rises + 1 : 0;
    w->last_error = held;
    if (w->rises == 2 && isinf(w->finished_from) && w->until->settings->finish &&
        w->best.rank > 0) {
        if (!has_won(w, AT_THE_DIP)) /* by an early try */
            MGVI_TRY(finish_best(w));
        *won = has_won(w, AT_THE_DIP);
    }
    return w->until->settings->finish && !*won ? try_early(w, won) : MGV_OK;
}

/* The start, which finds a norm; cut: X = 0 is the answer. */
static mgv_status start(walk *w)
{
    const mgv_settings *s = w->until->settings;
    mgvi_ctx_open(w->e->ctx, MGVI_GRACE);
    const mgv_status st = mgvi_low_rank_start(&w->run, w->e, s->sigma_factor, s->sigma, s->rank_max,
                                              (uint64_t)s->seed);
    w->cut = mgvi_ctx_close(w->e->ctx);
    MGVI_TRY(w->cut ? MGV_OK : st);
    return w->cut ? mgvi_factors_reset(&w->best, 0) : MGV_OK;
}

/* A step. One that may be cut has something to go back to: the best iterate, or a copy of the last,
 * which is made where steps are long. */
static mgv_status step(walk *w)
{
    mgv_ctx *ctx = w->e->ctx;
    const bool safe = w->until->choose || w->slow;
    if (safe && !w->until->choose) {
        MGVI_TRY(mgvi_factors_copy(&w->best, &w->run.X, w->run.X.rank, 0));
        w->best_nuclear = w->run.nuclear;
        w->best_at = w->run.iteration;
    }
    const double begun = mgvi_ctx_clock(ctx);
    if (safe)
        mgvi_ctx_open(ctx, MGVI_GRACE);
    const mgv_status st = mgvi_low_rank_step(&w->run);
    w->cut = safe && mgvi_ctx_close(ctx);
    w->slow = mgvi_ctx_clock(ctx) - begun > MGVI_GRACE;
    return w->cut ? MGV_OK : st;
}

static mgv_status iterate(walk *w, mgv_stop *stop)
{
    bool won = false;
    int64_t swept = 0;
    MGVI_TRY(start(w));
    if (w->cut) {
        *stop = check(w);
        return MGV_OK;
    }
    if (w->run.iteration > w->until->most)
        w->run.iteration = w->until->most; /* X is 0 there too */
    w->zero_error = w->run.held;
    for (;;) {
        send(w);
        if (w->until->choose)
            MGVI_TRY(judge(w, &won));
        *stop = won ? MGV_STOP_SELECTED : check(w);
        if (*stop != MGV_STOP_NONE)
            return MGV_OK;
        if (w->finish.sweeps > swept) /* on the iterate's memory */
            mgvi_low_rank_restore(&w->run);
        swept = w->finish.sweeps;
        MGVI_TRY(step(w));
        if (w->cut) {
            *stop = check(w);
            return MGV_OK;
        }
        if (!isfinite(w->run.residual))
            return MGVI_FAIL(w->e->ctx, MGV_E_NUMERIC,
                             "iteration %" PRId64 " left the finite numbers: sigma %g is not for "
                             "values of this size",
                             w->run.iteration, w->run.sigma);
    }
}

/* The better of the best iterate and the finished factors. */
static mgv_status choose(walk *w, mgvi_attempt *out)
{
    const bool more = out->stop == MGV_STOP_SELECTED || out->stop == MGV_STOP_MAX_ITER;
    if (more && w->until->settings->finish && w->best.rank > 0 &&
        w->best_error < 0.98 * w->finished_from && !has_won(w, AT_THE_DIP))
        MGVI_TRY(finish_best(w));
    out->path_error = w->best_error;
    out->iteration = w->best_at;
    out->finished = w->finish.error < w->best_error ||
                    (w->finish.error < AS_GOOD * w->best_error &&
                     w->finish.best.rank <= w->best.rank); /* then it is the simpler answer */
    out->error = out->finished ? w->finish.error : w->best_error;
    out->ridge = out->finished ? w->finish.ridge : 0;
    mgvi_factors_swap(&out->X, out->finished ? &w->finish.best : &w->best);
    return MGV_OK;
}

/* For y' = y/max(1, |Y|) no X with X = b on the entries has |X|_* < -<b, y'>: NaN where the limit
 * leaves no time for it. */
static mgv_status bound_last(walk *w, double *bound)
{
    mgvi_low_rank *run = &w->run;
    const mgvi_known *e = w->e;
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
static mgv_status take_last(walk *w, mgvi_attempt *out)
{
    mgvi_low_rank *run = &w->run;
    out->path_error = out->error = NAN;
    if (w->cut) { /* its bound was lost with the step */
        out->iteration = w->best_at;
        out->nuclear = w->best_nuclear;
        mgvi_factors_swap(&out->X, &w->best);
        return MGV_OK;
    }
    out->iteration = run->iteration;
    out->nuclear = run->nuclear;
    MGVI_TRY(bound_last(w, &out->bound));
    mgvi_factors_swap(&out->X, &run->X);
    return MGV_OK;
}

mgv_status mgvi_attempt_run(const mgvi_known *e, const mgvi_until *until, mgvi_attempt *out)
{
    mgv_status st;
    walk w = {.e = e,
              .until = until,
              .best_error = INFINITY,
              .last_error = INFINITY,
              .finished_from = INFINITY};
    *out = (mgvi_attempt){.error = NAN, .nuclear = NAN, .bound = NAN};
    mgvi_factors_init(&out->X, e->ctx, e->rows, e->cols);
    mgvi_factors_init(&w.best, e->ctx, e->rows, e->cols);
    mgvi_finish_init(&w.finish, e, until->settings->rank_max, (uint64_t)until->settings->seed);
    MGVI_CHECK(st, done, iterate(&w, &out->stop));
    MGVI_CHECK(st, done, until->choose ? choose(&w, out) : take_last(&w, out));
    out->iterations = w.run.iteration;
    out->sweeps = w.finish.sweeps;
    double held;
    st = mgvi_factors_errors(e, &out->X, &out->train, &held);
    if (until->choose && isinf(out->error)) /* cut at the start: that of X = 0 */
        out->error = out->path_error = held;
done:
    mgvi_low_rank_free(&w.run);
    mgvi_finish_free(&w.finish);
    mgvi_factors_free(&w.best);
    return st;
}

void mgvi_attempt_free(mgvi_attempt *attempt) { mgvi_factors_free(&attempt->X); }
