/* split.c - reads the setting `select`, deals rows out to folds. */
#include "select/split.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

/* ---- the rule -------------------------------------------------------------------------------- */

static mgv_status refuse(mgv_ctx *ctx, const char *text)
{
    return MGVI_FAIL(ctx, MGV_E_ARG,
                     "select is '%.80s'; allowed: none, last, cv:K (2 to %d folds), holdout:F "
                     "(0 < F < 1), val:FILE, discrepancy:DELTA, apriori:DELTA (DELTA > 0)",
                     text, MGVI_SPLIT_LANES - 1);
}

static bool parse_argument(const char *text, mgvi_rule *out)
{
    const char *value;
    int64_t folds;
    if (strcmp(text, "none") == 0 || strcmp(text, "last") == 0) {
        out->kind = text[0] == 'n' ? MGVI_RULE_NONE : MGVI_RULE_LAST;
        return true;
    }
    if ((value = mgvi_after_word(text, "cv"))) {
        out->kind = MGVI_RULE_CV;
        if (!mgvi_parse_int(value, &folds) || folds < 2 || folds >= MGVI_SPLIT_LANES)
            return false;
        out->folds = (int32_t)folds;
        return true;
    }
    if ((value = mgvi_after_word(text, "holdout"))) {
        out->kind = MGVI_RULE_HOLDOUT;
        return mgvi_parse_real(value, &out->fraction) && out->fraction > 0 && out->fraction < 1;
    }
    if ((value = mgvi_after_word(text, "discrepancy"))) {
        out->kind = MGVI_RULE_DISCREPANCY;
        return mgvi_parse_real(value, &out->delta) && out->delta >= 0 && isfinite(out->delta);
    }
    if ((value = mgvi_after_word(text, "apriori"))) {
        out->kind = MGVI_RULE_APRIORI;
        return mgvi_parse_real(value, &out->delta) && out->delta > 0 && isfinite(out->delta);
    }
    out->kind = MGVI_RULE_FILE;
    out->file = mgvi_after_word(text, "val");
    return out->file && out->file[0];
}

mgv_status mgvi_rule_parse(mgv_ctx *ctx, const mgv_settings *settings, mgvi_rule *out)
{
    *out = (mgvi_rule){.one_se = settings->one_se};
    if (!parse_argument(settings->select, out))
        return refuse(ctx, settings->select);
    if (out->one_se && out->kind != MGVI_RULE_CV)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "one_se needs folds to have a standard error: --select cv:K beside it");
    return MGV_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Deals the rows of every group, shuffled, one after the other to `parts` piles. */
static mgv_status deal_out(mgv_ctx *ctx, const mgvi_deal *deal, double fraction, mgvi_split *out)
{
    const int64_t rows = deal->own;
    const int32_t *group = deal->group;
    if (deal->together)
        return mgvi_split_together(ctx, deal, fraction, out);
    int32_t *order = mgvi_alloc(ctx, (size_t)rows, sizeof *order), groups = 1;
    if (!order)
        return MGV_E_MEMORY;
    mgvi_rng rng = mgvi_rng_seed(deal->seed);
    for (int64_t i = 0; group && i < rows; i++)
        groups = group[i] >= groups ? group[i] + 1 : groups;
    int64_t dealt = 0;
    for (int32_t g = 0; g < groups; g++) {
        int64_t count = 0;
        for (int64_t i = 0; i < rows; i++)
            if (!group || group[i] == g)
                order[count++] = (int32_t)i;
        mgvi_rng_shuffle(&rng, order, count);
        const int64_t held = (int64_t)llround(fraction * (double)count);
        for (int64_t k = 0; k < count; k++, dealt++)
            out->code[order[k]] = (uint8_t)(isnan(fraction) ? dealt % out->codes : k < held);
    }
    mgvi_release(ctx, order);
    return MGV_OK;
}

static mgv_status check_rows(mgv_ctx *ctx, const mgvi_rule *rule, const mgvi_split *s, int64_t own)
{
    int64_t count[MGVI_SPLIT_LANES] = {0};
    if (rule->kind == MGVI_RULE_CV && own < 2 * rule->folds)
        return MGVI_FAIL(ctx, MGV_E_ARG, "cv:%d needs at least %d rows; there are %" PRId64,
                         rule->folds, 2 * rule->folds, own);
    for (int64_t i = 0; i < s->rows; i++)
        count[s->code[i]]++;
    for (int32_t c = 0; c < s->codes; c++)
        if (count[c] == 0)
            return MGVI_FAIL(ctx, MGV_E_ARG,
                             "%" PRId64 " rows are too few for select: a part would be empty", own);
    return MGV_OK;
}

mgv_status mgvi_split_new(mgvi_arena *arena, const mgvi_rule *rule, const mgvi_deal *deal,
                          mgvi_split *out)
{
    mgv_ctx *ctx = arena->ctx;
    const int64_t own = deal->own, other = deal->other;
    *out = (mgvi_split){.rows = own + other, .lanes = 1, .codes = 1, .trains = {1}};
    if (out->rows > INT32_MAX)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "select takes at most 2^31 rows");
    out->code = mgvi_arena_array(arena, (size_t)out->rows, sizeof *out->code);
    if (!out->code)
        return MGV_E_MEMORY;
    if (rule->kind == MGVI_RULE_CV) {
        out->codes = rule->folds;
        out->lanes = rule->folds + 1;
        for (int32_t c = 0; c < out->codes; c++)
            out->trains[c] = ((2u << rule->folds) - 1) & ~(1u << c);
        MGVI_TRY(deal_out(ctx, deal, NAN, out));
    } else if (rule->kind == MGVI_RULE_HOLDOUT) {
        out->codes = out->lanes = 2;
        out->trains[0] = 3;
        out->trains[1] = 2;
        MGVI_TRY(deal_out(ctx, deal, rule->fraction, out));
    } else if (rule->kind == MGVI_RULE_FILE) {
        out->codes = 2;
        memset(out->code + own, 1, (size_t)other);
    }
    return check_rows(ctx, rule, out, own);
}
