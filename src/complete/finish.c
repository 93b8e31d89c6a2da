/* finish.c - the ridge of a sweep is what a Bayesian would take, were the singular vectors random:
 *   ridge = error^2 sqrt(m n) / s,   s = sum s_k^2 / sum s_k,                                   (6)
 * error the held-out error of the factors at hand. The rank is searched from that of the iterate:
 * first where cutting the factors costs nothing, then down as long as that is so, then up as long
 * as it pays, in steps that double. Every try starts from the best so far and is given up as soon
 * as it falls behind. One step is one sweep, or the making of the factors that a try starts from, so
 * that a search can be left anywhere and gone on with. */
#include "complete/finish.h"

#include "base/event.h"
#include "base/limit.h"
#include "complete/alternate.h"
#include "complete/spectrum.h"

#include <math.h>

enum { SWEEPS = 10, POWER_STEPS = 3, ROUNDS = 4 };
static const double LIVELY = 0.9;     /* sweeps that gain more go on beyond SWEEPS */
static const double SETTLED = 0.998;  /* a sweep that gains less ends a try */
static const double NO_WORSE = 1.002; /* a lower rank may cost that much */
static const double BETTER = 0.997;   /* a higher one must gain that much */
static const double FALL = 0.7;       /* from one ridge to the next, */
static const double LEAST = 0.1;      /* down to this share */

void mgvi_finish_init(mgvi_finish *f, const mgvi_known *e, int64_t rank_max, uint64_t seed)
{
    *f = (mgvi_finish){.e = e, .rank_max = rank_max, .seed = seed, .at = {.error = INFINITY}};
    mgvi_factors_init(&f->best, e->ctx, e->rows, e->cols);
    mgvi_factors_init(&f->trial, e->ctx, e->rows, e->cols);
}

static void close_search(mgvi_finish *f)
{
    mgvi_factors_free(&f->trial);
    if (f->e)
        mgvi_release(f->e->ctx, f->s);
    f->s = NULL;
    f->at.stage = MGVI_FINISH_IDLE;
    f->at.trial.on = 0;
}

void mgvi_finish_free(mgvi_finish *f)
{
    close_search(f);
    mgvi_factors_free(&f->best);
}

mgv_status mgvi_finish_open(mgvi_finish *f, int64_t rank)
{
    f->s = mgvi_alloc(f->e->ctx, (size_t)rank, sizeof *f->s);
    return f->s ? MGV_OK : MGV_E_MEMORY;
}

static bool good_enough(const mgvi_finish *f) { return f->at.error <= f->at.enough; }

static void send(const mgvi_finish *f)
{
    mgv_event event = mgvi_event_blank(MGV_EVENT_TRACE);
    event.text = "sweep";
    event.iteration = f->at.counted + f->at.sweeps;
    event.seconds = mgvi_ctx_clock(f->e->ctx) - f->started;
    event.validation_score = f->at.trial.held;
    event.nonzeros = f->trial.rank;
    if (mgvi_event_send(f->e->ctx, &event))
        atomic_store(&f->e->ctx->interrupted, 1);
}

static double ridge_for(const mgvi_known *e, const double *s, int64_t rank, double error)
{
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < rank; k++) {
        sum += s[k];
        squares += s[k] * s[k];
    }
    return error * error * sqrt((double)e->rows * (double)e->cols) * sum / squares;
}

/* ---- a try ----------------------------------------------------------------------------------- */

/* Sweeps from f->trial (balanced, singular values f->s) until they do not help. Better than `goal`:
 * f->best is replaced. */
static void begin_try(mgvi_finish *f, double ridge, double error, double goal)
{
    f->at.trial.on = 1;
    f->at.trial.taken = f->at.trial.sweeps = 0;
    f->at.trial.ridge = ridge;
    f->at.trial.error = f->at.trial.held = error;
    f->at.trial.goal = goal;
    f->at.trial.last = INFINITY;
}

static void end_try(mgvi_finish *f)
{
    f->at.trial.on = 0;
    mgvi_log(f->e->ctx, MGV_DEBUG, "rank %" PRId64 ": held-out error %.6g%s", f->trial.rank,
             f->at.trial.held, f->at.trial.taken ? ", kept" : "");
}

/* One sweep, the factors balanced and judged by the held-out entries. */
static mgv_status sweep(mgvi_finish *f)
{
    const mgvi_known *e = f->e;
    mgvi_factors *F = &f->trial;
    double error = f->at.trial.error, held;
    if (f->at.trial.sweeps == MGVI_FINISH_SWEEPS || F->rank == 0 || good_enough(f)) {
        end_try(f);
        return MGV_OK;
    }
    const double given = f->at.trial.ridge;
    const double ridge = isnan(given) ? ridge_for(e, f->s, F->rank, error) : given;
    MGVI_TRY(mgvi_alternate_sweep(e, F, ridge));
    MGVI_TRY(mgvi_factors_balance(F, f->s));
    MGVI_TRY(mgvi_factors_errors(e, F, NULL, &held));
    if (mgvi_ctx_was_cut(e->ctx)) /* `trial` is in pieces */
        return MGV_OK;
    f->at.trial.held = held;
    f->at.sweeps++;
    send(f);
    if (held < f->at.trial.goal || (f->at.trial.taken && held < f->at.error)) {
        MGVI_TRY(mgvi_factors_copy(&f->best, F, F->rank, 0));
        f->at.error = held;
        f->at.ridge = ridge;
        f->at.trial.taken = 1;
    }
    f->at.trial.error = fmin(error, held);
    /* What two more such gains could not mend is given up. */
    const double last = f->at.trial.last;
    const int64_t k = f->at.trial.sweeps++;
    if (held > (k < SWEEPS ? SETTLED : LIVELY) * last ||
        (k > 0 && held - 2 * (last - held) > f->at.trial.goal))
        end_try(f);
    f->at.trial.last = held;
    return MGV_OK;
}

/* The leading `more` directions of what the best factors leave, behind them. */
static mgv_status append_residual(mgvi_finish *f, int64_t more)
{
    const mgvi_known *e = f->e;
    mgvi_factors *F = &f->trial;
    const int64_t old = f->best.rank;
    const double seen = (double)e->count / ((double)e->rows * (double)e->cols);
    mgvi_spectrum v;
    mgv_status st;
    mgvi_spectrum_init(&v, e, f->seed);
    mgvi_factors_residual(e, &f->best, f->value);
    mgvi_known_by_col(e, f->value, f->by_col);
    const mgvi_low_plus_sparse left = {.scale = 1, .value = f->value, .by_col = f->by_col};
    for (int k = 0; k < POWER_STEPS; k++)
        MGVI_CHECK(st, done, mgvi_spectrum_step(&v, &left, mgvi_spectrum_block(e, more)));
    more = more < v.found ? more : v.found;
    MGVI_CHECK(st, done, mgvi_factors_copy(F, &f->best, old, more));
    for (int64_t c = 0; c < more; c++) {
        const double root = sqrt(v.s[c] / seen); /* the entries not seen have their share too */
        for (int64_t i = 0; i < e->rows; i++)
            F->left[i * F->width + old + c] = root * v.left[i * v.found + c];
        for (int64_t j = 0; j < e->cols; j++)
            F->right[j * F->width + old + c] = root * v.right[j * v.found + c];
    }
done:
    mgvi_spectrum_free(&v);
    return st;
}

/* One try with `rank`, from the best factors. */
static mgv_status try_rank(mgvi_finish *f, int64_t rank)
{
    const bool up = rank > f->best.rank;
    MGVI_TRY(up ? append_residual(f, rank - f->best.rank)
                : mgvi_factors_copy(&f->trial, &f->best, rank, 0));
    MGVI_TRY(mgvi_factors_balance(&f->trial, f->s));
    begin_try(f, NAN, f->at.error, f->at.error * (up ? BETTER : NO_WORSE));
    return MGV_OK;
}

/* ---- the search ------------------------------------------------------------------------------ */

mgv_status mgvi_finish_useful_rank(const mgvi_known *e, const mgvi_factors *F, int64_t *rank)
{
    double *error = mgvi_alloc(e->ctx, (size_t)F->rank + 1, sizeof *error), least = INFINITY;
    if (!error)
        return MGV_E_MEMORY;
    const mgv_status st = mgvi_factors_truncated_errors(e, F, error);
    for (int64_t r = 0; st == MGV_OK && r < F->rank; r++)
        least = fmin(least, error[r]);
    for (*rank = 1; st == MGV_OK && *rank < F->rank && error[*rank - 1] > NO_WORSE * least;)
        ++*rank;
    mgvi_release(e->ctx, error);
    return st;
}

static mgv_status begin_first(mgvi_finish *f, const mgvi_finish_source *from)
{
    int64_t useful;
    if (from->best->rank == 0) {
        f->at.stage = MGVI_FINISH_IDLE;
        return MGV_OK;
    }
    MGVI_TRY(mgvi_finish_open(f, 2 * f->rank_max + from->best->rank));
    MGVI_TRY(mgvi_finish_useful_rank(f->e, from->best, &useful));
    MGVI_TRY(mgvi_factors_copy(&f->trial, from->best, useful, 0));
    MGVI_TRY(mgvi_factors_balance(&f->trial, f->s));
    begin_try(f, NAN, from->error, f->at.error);
    f->at.stage = MGVI_FINISH_USEFUL;
    return MGV_OK;
}

static int64_t ridge_rank(const mgvi_finish_source *from)
{
    const int64_t most = 2 * from->best->rank > 8 ? 2 * from->best->rank : 8;
    return from->X->rank < most ? from->X->rank : most;
}

/* The ranks are searched. */
static mgv_status leave_search(mgvi_finish *f, const mgvi_finish_source *from)
{
    close_search(f);
    if (!(f->at.error > from->noisy))
        return MGV_OK;
    /* the present iterate has more directions; the ridge takes what is too much of them */
    MGVI_TRY(mgvi_finish_open(f, ridge_rank(from) + 1));
    f->at.stage = MGVI_FINISH_RIDGES;
    f->at.ridges.share = FALL;
    f->at.ridges.worse = f->at.trial.asked = 0;
    return MGV_OK;
}

static mgv_status cut_to_useful(mgvi_finish *f, const mgvi_finish_source *from)
{
    int64_t rank;
    if (!f->at.trial.taken)
        return leave_search(f, from);
    f->at.stage = MGVI_FINISH_SEARCH;
    f->at.search.round = f->at.search.moved = f->at.trial.asked = 0;
    f->at.search.step = 1;
    MGVI_TRY(mgvi_finish_useful_rank(f->e, &f->best, &rank));
    return rank < f->best.rank ? try_rank(f, rank) : MGV_OK;
}

/* Ranks below and above the best one in turn, in steps that double while they are taken. */
static mgv_status search(mgvi_finish *f, const mgvi_finish_source *from)
{
    bool over = good_enough(f), answered = f->at.trial.asked;
    f->at.trial.asked = 0;
    while (!over) {
        const int way = f->at.search.round % 2 ? 1 : -1;
        const bool taken = answered && f->at.trial.taken;
        if (answered) {
            over = !taken && f->at.search.step == 1;
            f->at.search.step = taken ? 2 * f->at.search.step : 1;
            f->at.search.moved |= taken;
            over = over || good_enough(f);
        }
        const int64_t rank = f->best.rank + way * f->at.search.step;
        const bool fits = rank >= 1 && rank <= f->rank_max;
        if (!over && fits) {
            f->at.trial.asked = 1;
            return try_rank(f, rank);
        }
        answered = !over; /* a rank that there is not is not taken */
        f->at.trial.taken = 0;
    }
    const bool again =
        ++f->at.search.round < ROUNDS && (f->at.search.moved || f->at.search.round < 2);
    if (!again)
        return leave_search(f, from);
    f->at.search.moved = 0;
    f->at.search.step = 1;
    return MGV_OK;
}

static mgv_status next_ridge(mgvi_finish *f, const mgvi_finish_source *from)
{
    const int64_t rank = ridge_rank(from);
    if (f->at.trial.asked) {
        f->at.ridges.worse = f->at.trial.taken ? 0 : f->at.ridges.worse + 1;
        f->at.ridges.share *= FALL;
    }
    if (!(f->at.ridges.share > LEAST) || f->at.ridges.worse >= 2 || rank == 0 || good_enough(f)) {
        close_search(f);
        return MGV_OK;
    }
    MGVI_TRY(mgvi_factors_copy(&f->trial, from->X, rank, 0));
    MGVI_TRY(mgvi_factors_balance(&f->trial, f->s));
    f->at.trial.asked = 1;
    begin_try(f, f->at.ridges.share * from->norm, INFINITY, f->at.error);
    return MGV_OK;
}

void mgvi_finish_begin(mgvi_finish *f, double enough, int64_t iteration)
{
    f->at.enough = enough;
    f->at.counted = iteration;
    f->at.stage = MGVI_FINISH_FIRST;
}

mgv_status mgvi_finish_step(mgvi_finish *f, const mgvi_finish_source *from)
{
    if (f->at.trial.on)
        return sweep(f);
    switch (f->at.stage) {
    case MGVI_FINISH_FIRST:
        return begin_first(f, from);
    case MGVI_FINISH_USEFUL:
        return cut_to_useful(f, from);
    case MGVI_FINISH_SEARCH:
        return search(f, from);
    default:
        return next_ridge(f, from);
    }
}
