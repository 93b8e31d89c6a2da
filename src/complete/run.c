/* run.c - from triples to a completion: what is held out, whether biases help, the refit. The loop
 * takes one step after the other, of whatever stage. */
#include "complete/job.h"

#include "base/event.h"
#include "base/limit.h"
#include "base/print.h"
#include "complete/alternate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { REFIT_SWEEPS = 3, LEAST_HELD = 1 };
static const double BIASES_SEEM_GOOD = 0.7; /* of the error of 0: the biases are tried first */
static const double BIASES_HELP = 0.97;     /* of the error of 0: they may be worth a run */
static const double STRUCTURE = 0.5;        /* of their error: the matrix is more than biases */
static const double AS_GOOD = 1.01;         /* then no biases, whose rank is lower, may cost that */

typedef mgvi_job job;

/* ---- what is held out ------------------------------------------------------------------------ */

static mgv_status read_rule(job *j)
{
    mgvi_rule *rule = &j->rule;
    MGVI_TRY(mgvi_rule_parse(j->ctx, j->settings, rule));
    if (rule->kind == MGVI_RULE_NONE) {
        rule->kind = MGVI_RULE_HOLDOUT;
        rule->fraction = 0.1;
    }
    if (rule->kind != MGVI_RULE_HOLDOUT && rule->kind != MGVI_RULE_LAST &&
        rule->kind != MGVI_RULE_DISCREPANCY)
        return MGVI_FAIL(j->ctx, MGV_E_UNSUPPORTED,
                         "select is '%.60s'; a completion takes holdout:F, last or "
                         "discrepancy:DELTA",
                         j->settings->select);
    return MGV_OK;
}

static mgv_status hold_out(job *j)
{
    mgvi_split split;
    mgvi_known *e = &j->e;
    if (j->rule.kind != MGVI_RULE_HOLDOUT) {
        e->held = mgvi_arena_array(&j->arena, (size_t)e->count, sizeof *e->held);
        return e->held ? MGV_OK : MGV_E_MEMORY;
    }
    const int64_t held = (int64_t)llround(j->rule.fraction * (double)e->count);
    if (held < LEAST_HELD || held >= e->count)
        return MGVI_FAIL(j->ctx, MGV_E_INPUT,
                         "too few entries (%" PRId64 ") to hold some of them out: select "
                         "discrepancy:DELTA or last do without",
                         e->count);
    const mgvi_deal deal = {.own = e->count, .seed = (uint64_t)j->settings->seed};
    MGVI_TRY(mgvi_split_new(&j->arena, &j->rule, &deal, &split));
    e->held = split.code; /* 1: trained on by the full fit alone */
    e->held_count = j->held_out = held;
    return MGV_OK;
}

/* ---- stages ---------------------------------------------------------------------------------- */

void mgvi_job_use_biases(job *j, bool on)
{
    j->e.row_offset = on ? j->biases.row : NULL;
    j->e.col_offset = on ? j->biases.col : NULL;
}

static bool is_automatic(const job *j)
{
    return j->settings->biases == MGVI_WISH_AUTO && j->rule.kind == MGVI_RULE_HOLDOUT;
}

/* Whether the first run has biases. */
static bool begins_with_biases(const job *j)
{
    return is_automatic(j) ? j->bias_error < BIASES_SEEM_GOOD * j->zero_error
                           : j->settings->biases == MGVI_WISH_YES;
}

bool mgvi_job_opens(const job *j)
{
    return j->at.stage == MGVI_STAGE_FIRST || j->at.stage == MGVI_STAGE_SECOND ||
           j->at.stage == MGVI_STAGE_AGAIN;
}

mgv_status mgvi_job_open(job *j)
{
    const bool again = j->at.stage == MGVI_STAGE_AGAIN, first = j->at.stage == MGVI_STAGE_FIRST;
    mgvi_until until = {.settings = *j->settings,
                        .started = j->started,
                        .residual = j->rule.kind == MGVI_RULE_DISCREPANCY ? j->rule.delta : NAN,
                        .choose = j->rule.kind == MGVI_RULE_HOLDOUT,
                        .truth = j->truth};
    if (again) {
        until.settings.max_iter = j->at.answer.iteration;
        until.residual = NAN;
        until.choose = false;
        until.repeats = true;
    }
    const bool begins = begins_with_biases(j);
    mgvi_job_use_biases(j, again ? j->at.with_biases : first ? begins : !begins);
    mgvi_attempt_init(&j->attempt, &j->e, &until);
    return MGV_OK;
}

mgv_status mgvi_job_train_on_all(job *j)
{
    memset(j->e.held, 0, (size_t)j->e.count);
    j->e.held_count = 0;
    return j->at.with_biases ? mgvi_biases_fit(&j->biases, &j->e) : MGV_OK;
}

static void adopt(job *j, bool biases)
{
    mgvi_factors_swap(&j->answer, &j->attempt.X);
    j->at.answer = j->attempt.is;
    j->at.with_biases = biases;
}

/* A run that was ended before it got anywhere leaves the biases, if they are better. */
static mgv_status ended_early(job *j)
{
    if (j->bias_error >= j->at.answer.error || j->at.with_biases)
        return MGV_OK;
    j->at.with_biases = true;
    mgvi_job_use_biases(j, true);
    j->at.answer.error = j->bias_error;
    j->at.answer.finished = 0;
    return mgvi_factors_reset(&j->answer, 0);
}

/* Whether the other way, with biases or without, may be better than the first. */
static bool wants_second(const job *j)
{
    const double error = j->at.answer.error;
    if (!is_automatic(j))
        return false;
    if (begins_with_biases(j))
        return error < STRUCTURE * j->bias_error;
    return j->bias_error < BIASES_HELP * j->zero_error && error > STRUCTURE * j->bias_error;
}

static mgv_status begin_refit(job *j)
{
    const int64_t stop = j->at.answer.stop;
    j->at.stage = MGVI_STAGE_DONE;
    if (j->e.held_count == 0 || (stop != MGV_STOP_SELECTED && stop != MGV_STOP_MAX_ITER))
        return MGV_OK;
    MGVI_TRY(mgvi_job_train_on_all(j));
    j->at.stage = j->at.answer.finished ? MGVI_STAGE_SWEEPS : MGVI_STAGE_AGAIN;
    return MGV_OK;
}

/* A run with or without biases is over: the better of it and what there was. A second one without
 * them is taken up to AS_GOOD times the first one's error. */
static mgv_status take_run(job *j)
{
    const bool first = j->at.stage == MGVI_STAGE_FIRST, biases = j->e.row_offset != NULL;
    const double error = j->attempt.is.error;
    mgvi_log(j->ctx, MGV_INFO, "%s biases: rank %" PRId64 ", held-out error %.6g",
             biases ? "with" : "without", j->attempt.X.rank, error);
    if (first || error <= (biases ? 1 : AS_GOOD) * j->at.answer.error)
        adopt(j, biases);
    mgvi_attempt_free(&j->attempt);
    mgvi_job_use_biases(j, j->at.with_biases);
    if (first && is_automatic(j) && j->at.answer.stop != MGV_STOP_SELECTED)
        MGVI_TRY(ended_early(j));
    else if (first && wants_second(j)) {
        j->at.stage = MGVI_STAGE_SECOND;
        return MGV_OK;
    }
    return begin_refit(j);
}

/* The chosen iterate again, with every entry trained on. */
static void take_again(job *j)
{
    if (j->attempt.is.stop == MGV_STOP_MAX_ITER)
        mgvi_factors_swap(&j->answer, &j->attempt.X);
    else
        j->at.answer.stop = j->attempt.is.stop;
    mgvi_attempt_free(&j->attempt);
    j->at.stage = MGVI_STAGE_DONE;
}

/* A few sweeps over all entries; where the limit cuts them the factors stay as they were. */
static mgv_status sweep_again(job *j)
{
    mgvi_factors F;
    mgvi_factors_init(&F, j->ctx, j->e.rows, j->e.cols);
    double *s = mgvi_alloc(j->ctx, (size_t)j->answer.rank + 1, sizeof *s);
    mgv_status st = s ? mgvi_factors_copy(&F, &j->answer, j->answer.rank, 0) : MGV_E_MEMORY;
    mgvi_ctx_open(j->ctx, 0);
    for (int k = 0; k < REFIT_SWEEPS && st == MGV_OK; k++) {
        st = mgvi_alternate_sweep(&j->e, &F, j->at.answer.ridge);
        if (st == MGV_OK)
            st = mgvi_factors_balance(&F, s);
    }
    const bool cut = mgvi_ctx_close(j->ctx);
    if (cut) { /* the state is that before them */
        st = mgvi_keeper_end(&j->keeper, false);
        j->at.answer.stop = mgvi_ctx_late(j->ctx);
    } else if (st == MGV_OK)
        mgvi_factors_swap(&j->answer, &F);
    j->at.stage = MGVI_STAGE_DONE;
    mgvi_factors_free(&F);
    mgvi_release(j->ctx, s);
    return st;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* One step of a run. Where a budget ends it the state before that is what goes to the disk. */
static mgv_status run_step(job *j)
{
    mgvi_attempt *a = &j->attempt;
    if (!a->e)
        MGVI_TRY(mgvi_job_open(j));
    mgvi_keeper_before(&j->keeper);
    MGVI_TRY(mgvi_attempt_step(a));
    if (a->budget != MGV_STOP_NONE) {
        MGVI_TRY(mgvi_keeper_end(&j->keeper, a->cut));
        mgvi_attempt_close(a, a->budget);
    }
    if (!mgvi_attempt_is_over(a))
        return MGV_OK;
    if (j->at.stage != MGVI_STAGE_AGAIN)
        return take_run(j);
    take_again(j);
    return MGV_OK;
}

static mgv_status loop(job *j)
{
    while (j->at.stage != MGVI_STAGE_DONE) {
        MGVI_TRY(mgvi_job_opens(j) ? run_step(j) : sweep_again(j));
        MGVI_TRY(mgvi_keeper_after(&j->keeper));
    }
    return mgvi_keeper_end(&j->keeper, false);
}

/* ---- the certificate ------------------------------------------------------------------------- */

/* P = 1/2 |r|^2 + ridge |X|_*, r = b - X on the entries; for theta = r min(1, ridge/|r|), |r| its
 * largest singular value, no matrix has less than D = <b, theta> - 1/2 |theta|^2.              (6)
 * |r| comes from steps of subspace iteration, which approach it from below: COVER is for the rest.
 */
static mgv_status certify(job *j, mgv_completion_info *info)
{
    static const double COVER = 1.01;
    enum { STEPS = 12 };
    const mgvi_known *e = &j->e;
    const mgvi_factors *X = &j->answer;
    mgv_status st = MGV_E_MEMORY;
    mgvi_spectrum v;
    mgvi_spectrum_init(&v, e, (uint64_t)j->settings->seed);
    double *r = mgvi_alloc(j->ctx, (size_t)e->count, sizeof *r), squares = 0, inner = 0;
    double *by_col = mgvi_alloc(j->ctx, (size_t)e->count, sizeof *by_col);
    double *s = mgvi_alloc(j->ctx, (size_t)X->rank + 1, sizeof *s), nuclear = 0;
    if (!r || !by_col || !s)
        goto done;
    mgvi_ctx_open_last(j->ctx);
    mgvi_factors_residual(e, X, r);
    for (int64_t i = 0; i < e->rows; i++)
        for (int64_t t = e->row_ptr[i]; t < e->row_ptr[i + 1]; t++) {
            squares += r[t] * r[t];
            inner += r[t] * mgvi_known_target(e, i, t);
        }
    mgvi_known_by_col(e, r, by_col);
    const mgvi_low_plus_sparse R = {.scale = 1, .value = r, .by_col = by_col};
    st = MGV_OK;
    for (int k = 0; k < STEPS && st == MGV_OK && !mgvi_ctx_cut(j->ctx); k++)
        st = mgvi_spectrum_step(&v, &R, mgvi_spectrum_block(e, 0));
    const bool cut = mgvi_ctx_close(j->ctx);
    MGVI_CHECK(st, done, cut ? MGV_OK : st);
    MGVI_CHECK(st, done, mgvi_factors_balance(&j->answer, s));
    if (cut) /* nothing is known of it but what was held out */
        goto done;
    for (int64_t k = 0; k < X->rank; k++)
        nuclear += s[k];
    info->dual_norm = v.found ? v.s[0] : 0;
    if (j->at.answer.finished && j->at.answer.ridge > 0) {
        const double c = fmin(1, j->at.answer.ridge / (COVER * info->dual_norm));
        info->primal = squares / 2 + j->at.answer.ridge * nuclear;
        info->dual = c * inner - c * c * squares / 2;
        info->relative_gap = (info->primal - info->dual) / info->primal;
    }
done:
    mgvi_release(j->ctx, r);
    mgvi_release(j->ctx, by_col);
    mgvi_release(j->ctx, s);
    mgvi_spectrum_free(&v);
    return st;
}

/* ---- the result ------------------------------------------------------------------------------ */

static double *pack(mgvi_arena *arena, const double *factor, int64_t lines, int64_t width,
                    int64_t rank)
{
    double *out = mgvi_arena_array(arena, (size_t)lines, (size_t)(rank ? rank : 1) * sizeof *out);
    for (int64_t i = 0; out && i < lines; i++)
        memcpy(out + i * rank, factor + i * width, (size_t)rank * sizeof *out);
    return out;
}

static mgv_status take_factors(job *j)
{
    mgv_completion *c = j->out;
    const mgvi_known *e = &j->e;
    const mgvi_factors *X = &j->answer;
    c->left = pack(&c->arena, X->left, X->rows, X->width, X->rank);
    c->right = pack(&c->arena, X->right, X->cols, X->width, X->rank);
    c->row_seen = mgvi_arena_array(&c->arena, (size_t)e->rows, 1);
    c->col_seen = mgvi_arena_array(&c->arena, (size_t)e->cols, 1);
    if (!c->left || !c->right || !c->row_seen || !c->col_seen)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < e->rows; i++)
        c->row_seen[i] = e->row_ptr[i + 1] > e->row_ptr[i];
    for (int64_t i = 0; i < e->cols; i++)
        c->col_seen[i] = e->col_ptr[i + 1] > e->col_ptr[i];
    if (!j->at.with_biases)
        return MGV_OK;
    c->row_bias = pack(&c->arena, j->biases.row, e->rows, 1, 1);
    c->col_bias = pack(&c->arena, j->biases.col, e->cols, 1, 1);
    return c->row_bias && c->col_bias ? MGV_OK : MGV_E_MEMORY;
}

static mgv_status describe(job *j, const mgv_triples *triples)
{
    mgv_completion *c = j->out;
    const mgvi_outcome *a = &j->at.answer;
    mgv_completion_info *info = &c->info;
    const double nan = NAN;
    *info =
        (mgv_completion_info){.size = sizeof *info,
                              .rows = j->e.rows,
                              .cols = j->e.cols,
                              .entries = j->e.count,
                              .given = triples->given,
                              .held_out = j->held_out,
                              .stop = (mgv_stop)a->stop,
                              .iterations = a->iterations,
                              .iteration = a->iteration,
                              .sweeps = a->sweeps,
                              .finished = (int)a->finished,
                              .biases = (int)j->at.with_biases,
                              .ridge = a->finished ? a->ridge : nan,
                              .baseline_error = j->at.with_biases ? j->bias_error : j->zero_error,
                              .path_error = a->path_error,
                              .held_out_error = a->error,
                              .noise = j->rule.kind == MGVI_RULE_DISCREPANCY ? j->rule.delta : nan,
                              .primal = a->nuclear,
                              .dual = a->bound,
                              .relative_gap = nan,
                              .dual_norm = nan,
                              .mean = mgvi_known_mean(&j->e),
                              .low = INFINITY,
                              .high = -INFINITY};
    MGVI_TRY(certify(j, info)); /* may drop a direction that has vanished */
    info->rank = j->answer.rank;
    double held;
    MGVI_TRY(mgvi_factors_errors(&j->e, &j->answer, &info->train_error, &held));
    for (int64_t t = 0; t < j->e.count; t++) {
        info->low = fmin(info->low, j->e.value[t]);
        info->high = fmax(info->high, j->e.value[t]);
    }
    return MGV_OK;
}

/* "X = mean + row + column + L R', ..." */
static mgv_status write_formula(job *j)
{
    const mgv_completion_info *i = &j->out->info;
    const char *biases = i->biases ? "mean + a_i + c_j + " : "";
    char text[320];
    if (i->finished)
        mgvi_print(text, sizeof text,
                   "X_ij = %sl_i.r_j, min 1/2 sum (X_ij - b_ij)^2 + %.4g/2 (|L|^2 + |R|^2), rank "
                   "%" PRId64,
                   biases, i->ridge, i->rank);
    else
        snprintf(text, sizeof text,
                 "X_ij = %sl_i.r_j, min |LR'|_* with X_ij = b_ij, stopped at iteration %" PRId64
                 ", rank %" PRId64,
                 biases, i->iteration, i->rank);
    j->out->formula = mgvi_arena_array(&j->out->arena, strlen(text) + 1, 1);
    if (!j->out->formula)
        return MGV_E_MEMORY;
    strcpy(j->out->formula, text);
    return MGV_OK;
}

/* A copy of the names: the triples may be freed before the completion. */
static mgv_status copy_names(mgv_completion *c, const mgv_triples *triples)
{
    for (int k = 0; k < 2; k++) {
        const mgvi_side *from = &triples->side[k];
        mgvi_side *to = &c->side[k];
        *to = (mgvi_side){.count = from->count, .base = from->base, .named = from->named};
        if (!from->named)
            continue;
        MGVI_TRY(mgvi_words_new(c->ctx, &to->words));
        for (int64_t n = 0; n < from->count; n++) {
            const char *word = mgvi_words_at(from->words, n);
            int64_t number;
            MGVI_TRY(mgvi_words_add(to->words, word, strlen(word), &number));
        }
    }
    return MGV_OK;
}

/* The entries in both orders, what is held out, and the biases. */
static mgv_status prepare(job *j, mgv_triples *triples)
{
    MGVI_TRY(mgvi_triples_sort(triples));
    if (triples->count == 0)
        return MGVI_FAIL(j->ctx, MGV_E_INPUT, "there are no entries to complete a matrix from");
    MGVI_TRY(mgvi_known_init(j->ctx, triples, &j->arena, &j->e));
    j->e.passes = &j->at.passes;
    if (mgvi_ctx_was_cut(j->ctx))
        return MGV_OK;
    MGVI_TRY(hold_out(j));
    MGVI_TRY(mgvi_biases_new(&j->arena, &j->e, &j->biases));
    j->zero_error = mgvi_known_rms(&j->e, 1);
    MGVI_TRY(mgvi_biases_fit(&j->biases, &j->e));
    mgvi_job_use_biases(j, true);
    j->bias_error = mgvi_known_rms(&j->e, 1);
    return MGV_OK;
}

static mgv_status run(job *j, mgv_triples *triples)
{
    MGVI_TRY(read_rule(j));
    MGVI_TRY(mgvi_keeper_begin(&j->keeper, j->ctx, j->settings, j, mgvi_job_put));
    MGVI_TRY(mgvi_truth_read(j->ctx, j->settings, triples, &j->truth));
    mgvi_ctx_open(j->ctx, MGVI_GRACE);
    const mgv_status st = prepare(j, triples);
    if (mgvi_ctx_close(j->ctx) && mgvi_limit_explains(st))
        return MGVI_FAIL(j->ctx, MGV_E_LIMIT,
                         "%s before the entries were sorted: there is nothing to save",
                         mgvi_limit_words(j->ctx));
    MGVI_TRY(st);
    mgvi_factors_init(&j->answer, j->ctx, j->e.rows, j->e.cols);
    if (j->settings->checkpoint[0] || j->settings->resume[0])
        j->print = mgvi_job_print(j);
    if (j->settings->resume[0])
        MGVI_TRY(mgvi_job_read(j, j->settings->resume));
    MGVI_TRY(loop(j));
    MGVI_TRY(mgvi_completion_new(j->ctx, &j->out));
    MGVI_TRY(describe(j, triples));
    MGVI_TRY(take_factors(j));
    MGVI_TRY(copy_names(j->out, triples));
    MGVI_TRY(write_formula(j));
    j->out->info.seconds = mgvi_ctx_clock(j->ctx) - j->started;
    j->out->info.unsaved = j->keeper.unsaved;
    return MGV_OK;
}

mgv_status mgvi_completion_run(mgv_ctx *ctx, mgv_triples *triples, const mgv_settings *settings,
                               mgv_completion **out)
{
    job j = {.ctx = ctx, .settings = settings, .started = mgvi_ctx_clock(ctx)};
    *out = NULL;
    mgvi_arena_init(&j.arena, ctx);
    const mgv_status st = run(&j, triples);
    mgvi_keeper_free(&j.keeper);
    mgvi_triples_free(j.truth);
    mgvi_factors_free(&j.answer);
    mgvi_attempt_free(&j.attempt);
    mgvi_arena_free(&j.arena);
    if (st == MGV_OK)
        *out = j.out;
    else
        mgvi_completion_free(j.out);
    return st;
}
