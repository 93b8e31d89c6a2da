/* finish.c - the ridge of a sweep is what a Bayesian would take, were the singular vectors random:
 *   ridge = error^2 sqrt(m n) / s,   s = sum s_k^2 / sum s_k,                                   (6)
 * error the held-out error of the factors at hand. The rank is searched from that of the iterate:
 * first where cutting the factors costs nothing, then down as long as that is so, then up as long
 * as it pays, in steps that double. Every try starts from the best so far and is given up as soon
 * as it falls behind. */
#include "complete/finish.h"

#include "base/event.h"
#include "base/limit.h"
#include "complete/alternate.h"
#include "complete/spectrum.h"

#include <math.h>

enum { SWEEPS = 10, SWEEPS_MOST = 60, POWER_STEPS = 3 };
static const double LIVELY = 0.9;     /* sweeps that gain more go on beyond SWEEPS */
static const double SETTLED = 0.998;  /* a sweep that gains less ends a try */
static const double NO_WORSE = 1.002; /* a lower rank may cost that much */
static const double BETTER = 0.997;   /* a higher one must gain that much */

void mgvi_finish_init(mgvi_finish *f, const mgvi_known *e, int64_t rank_max, uint64_t seed)
{
    *f = (mgvi_finish){.e = e, .rank_max = rank_max, .seed = seed, .error = INFINITY};
    mgvi_factors_init(&f->best, e->ctx, e->rows, e->cols);
}

void mgvi_finish_free(mgvi_finish *f) { mgvi_factors_free(&f->best); }

static bool ended(const mgvi_finish *f)
{
    return f->error <= f->enough || mgvi_ctx_late(f->e->ctx) != MGV_STOP_NONE;
}

static void send(const mgvi_finish *f, int64_t rank, double held)
{
    mgv_event event = mgvi_event_blank(MGV_EVENT_TRACE);
    event.text = "sweep";
    event.iteration = f->first_iteration + f->sweeps;
    event.seconds = mgvi_ctx_clock(f->e->ctx) - f->started;
    event.validation_score = held;
    event.nonzeros = rank;
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

/* One sweep, the factors balanced and judged by the held-out entries; *cut: the limit has left `F`
 * in pieces. */
static mgv_status sweep(const mgvi_finish *f, mgvi_factors *F, double ridge, double *s,
                        double *held, bool *cut)
{
    mgv_ctx *ctx = f->e->ctx;
    mgvi_ctx_open(ctx, MGVI_GRACE);
    mgv_status st = mgvi_alternate_sweep(f->e, F, ridge);
    if (st == MGV_OK)
        st = mgvi_factors_balance(F, s);
    if (st == MGV_OK)
        st = mgvi_factors_errors(f->e, F, NULL, held);
    *cut = mgvi_ctx_close(ctx);
    return *cut ? MGV_OK : st;
}

/* Sweeps from `F` (balanced, singular values s) until they do not help; `F` is spoiled. Better
 * than `goal`: f->best is replaced, *taken set. The ridge is `fixed`, or NaN: (6). */
static mgv_status try_factors(mgvi_finish *f, mgvi_factors *F, double *s, double fixed,
                              double error, double goal, bool *taken)
{
    const mgvi_known *e = f->e;
    double last = INFINITY, held = error;
    *taken = false;
    for (int k = 0; k < SWEEPS_MOST && F->rank > 0 && !ended(f); k++) {
        const double ridge = isnan(fixed) ? ridge_for(e, s, F->rank, error) : fixed;
        bool cut;
        MGVI_TRY(sweep(f, F, ridge, s, &held, &cut));
        if (cut)
            return MGV_OK;
        f->sweeps++;
        send(f, F->rank, held);
        if (held < goal || (*taken && held < f->error)) {
            MGVI_TRY(mgvi_factors_copy(&f->best, F, F->rank, 0));
            f->error = held;
            f->ridge = ridge;
            *taken = true;
        }
        error = fmin(error, held);
        /* What two more such gains could not mend is given up. */
        if (held > (k < SWEEPS ? SETTLED : LIVELY) * last ||
            (k > 0 && held - 2 * (last - held) > goal))
            break;
        last = held;
    }
    mgvi_log(e->ctx, MGV_DEBUG, "rank %" PRId64 ": held-out error %.6g%s", F->rank, held,
             *taken ? ", kept" : "");
    return MGV_OK;
}

/* The leading `more` directions of what the best factors leave, behind them. */
static mgv_status append_residual(mgvi_finish *f, int64_t more, mgvi_factors *F)
{
    const mgvi_known *e = f->e;
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
static mgv_status try_rank(mgvi_finish *f, int64_t rank, mgvi_factors *F, double *s, bool *taken)
{
    const bool up = rank > f->best.rank;
    mgv_ctx *ctx = f->e->ctx;
    mgvi_ctx_open(ctx, MGVI_GRACE);
    mgv_status st =
        up ? append_residual(f, rank - f->best.rank, F) : mgvi_factors_copy(F, &f->best, rank, 0);
    if (st == MGV_OK)
        st = mgvi_factors_balance(F, s);
    *taken = false;
    if (mgvi_ctx_close(ctx))
        return MGV_OK;
    MGVI_TRY(st);
    return try_factors(f, F, s, NAN, f->error, f->error * (up ? BETTER : NO_WORSE), taken);
}

/* Ranks below (way = -1) or above the best one, in steps that double while they are taken. */
static mgv_status search(mgvi_finish *f, int way, mgvi_factors *F, double *s, bool *moved)
{
    *moved = false;
    for (int64_t step = 1; !ended(f);) {
        bool taken = false;
        const int64_t rank = f->best.rank + way * step;
        if (rank >= 1 && rank <= f->rank_max)
            MGVI_TRY(try_rank(f, rank, F, s, &taken));
        if (!taken && step == 1)
            return MGV_OK;
        step = taken ? 2 * step : 1;
        *moved = *moved || taken;
    }
    return MGV_OK;
}

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

static mgv_status search_all(mgvi_finish *f, mgvi_factors *F, double *s)
{
    enum { ROUNDS = 4 };
    bool taken, moved = true;
    int64_t rank;
    MGVI_TRY(mgvi_finish_useful_rank(f->e, &f->best, &rank));
    if (rank < f->best.rank)
        MGVI_TRY(try_rank(f, rank, F, s, &taken));
    for (int k = 0; k < ROUNDS && (moved || k < 2); k++)
        MGVI_TRY(search(f, k % 2 ? 1 : -1, F, s, &moved));
    return MGV_OK;
}

mgv_status mgvi_finish_from(mgvi_finish *f, const mgvi_factors *X, double error)
{
    mgvi_factors F;
    mgv_status st;
    bool taken;
    if (X->rank == 0)
        return MGV_OK;
    mgvi_factors_init(&F, f->e->ctx, X->rows, X->cols);
    double *s = mgvi_alloc(f->e->ctx, (size_t)(2 * f->rank_max + X->rank), sizeof *s);
    if (!s)
        return MGV_E_MEMORY;
    int64_t useful;
    MGVI_CHECK(st, done, mgvi_finish_useful_rank(f->e, X, &useful));
    MGVI_CHECK(st, done, mgvi_factors_copy(&F, X, useful, 0));
    MGVI_CHECK(st, done, mgvi_factors_balance(&F, s));
    MGVI_CHECK(st, done, try_factors(f, &F, s, NAN, error, f->error, &taken));
    if (taken)
        MGVI_CHECK(st, done, search_all(f, &F, s));
done:
    mgvi_factors_free(&F);
    mgvi_release(f->e->ctx, s);
    return st;
}

mgv_status mgvi_finish_ridges(mgvi_finish *f, const mgvi_factors *X, int64_t most, double norm)
{
    const int64_t rank = X->rank < most ? X->rank : most;
    mgvi_factors F;
    mgv_status st = MGV_OK;
    int worse = 0;
    mgvi_factors_init(&F, f->e->ctx, X->rows, X->cols);
    double *s = mgvi_alloc(f->e->ctx, (size_t)rank + 1, sizeof *s);
    if (!s)
        return MGV_E_MEMORY;
    for (double share = 0.7; share > 0.1 && worse < 2 && rank > 0 && !ended(f); share *= 0.7) {
        bool taken;
        MGVI_CHECK(st, done, mgvi_factors_copy(&F, X, rank, 0));
        MGVI_CHECK(st, done, mgvi_factors_balance(&F, s));
        MGVI_CHECK(st, done, try_factors(f, &F, s, share * norm, INFINITY, f->error, &taken));
        worse = taken ? 0 : worse + 1;
    }
done:
    mgvi_factors_free(&F);
    mgvi_release(f->e->ctx, s);
    return st;
}
