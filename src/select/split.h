/* select/split.h - who trains on which rows: the folds of a cross-validation, a held-out part, or a
 * validation file, each with the full fit beside it.
 *
 * The problems are lanes; the last one is the full fit. Rows have a code, and a code says which
 * lanes train on its rows; the error of a lane is measured on the rows it does not train on. */
#ifndef MGVI_SELECT_SPLIT_H
#define MGVI_SELECT_SPLIT_H

#include "base/memory.h"
#include "base/settings.h"

enum { MGVI_SPLIT_LANES = 16 }; /* 15 folds and the full fit */

typedef enum mgvi_rule_kind {
    MGVI_RULE_NONE,
    MGVI_RULE_LAST, /* the end of the path */
    MGVI_RULE_CV,
    MGVI_RULE_HOLDOUT,
    MGVI_RULE_FILE, /* val:FILE */
    MGVI_RULE_DISCREPANCY,
    MGVI_RULE_APRIORI /* the number of iterations follows from the noise */
} mgvi_rule_kind;

/* The settings `select` and `one_se`, understood. */
typedef struct mgvi_rule {
    mgvi_rule_kind kind;
    int32_t folds;
    double fraction, delta;
    const char *file; /* inside the settings */
    bool one_se;
} mgvi_rule;
/* MGV_E_ARG with a sentence that says what is allowed. */
mgv_status mgvi_rule_parse(mgv_ctx *ctx, const mgv_settings *settings, mgvi_rule *out);

typedef struct mgvi_split {
    int64_t rows;                      /* the data's, then those of a validation file */
    int32_t lanes, codes;              /* at most MGVI_SPLIT_LANES each */
    uint8_t *code;                     /* per row */
    uint32_t trains[MGVI_SPLIT_LANES]; /* of each code: bit l is set when lane l trains on it */
} mgvi_split;

/* `own` rows of the data and `other` of a validation file. Rows are shuffled by `seed`; with
 * `group` (class numbers from 0 per row, or NULL) every fold gets its share of every group. Rows of
 * the same number in `together` (NULL: none are) go to the same fold. */
typedef struct mgvi_deal {
    int64_t own, other;
    const int32_t *group;
    const int64_t *together;
    uint64_t seed;
} mgvi_deal;
mgv_status mgvi_split_new(mgvi_arena *arena, const mgvi_rule *rule, const mgvi_deal *deal,
                          mgvi_split *out);
/* split_groups.c: the same of rows that stay together; `fraction` NAN: folds, else the share of the
 * part that is held out. */
mgv_status mgvi_split_together(mgv_ctx *ctx, const mgvi_deal *deal, double fraction,
                               mgvi_split *out);
static inline bool mgvi_split_trains(const mgvi_split *s, int64_t row, int32_t lane)
{
    return s->trains[s->code[row]] >> lane & 1;
}
/* Whether there are rows the lane does not train on. */
static inline bool mgvi_split_judged(const mgvi_split *s, int32_t lane)
{
    for (int32_t c = 0; c < s->codes; c++)
        if (!(s->trains[c] >> lane & 1))
            return true;
    return false;
}
#endif
