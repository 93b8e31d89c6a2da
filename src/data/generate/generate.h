/* data/generate/generate.h - sets made from a seed, with the formulas of docs/data.md: the same bits
 * on every machine and for any number of threads. Sums, products, quotients and square roots alone
 * are taken, in one order; what is drawn for one purpose has a stream of its own, so that more rows
 * or another noise leave the rest as it is. */
#ifndef MGVI_DATA_GENERATE_H
#define MGVI_DATA_GENERATE_H

#include "base/rng.h"
#include "base/settings.h"
#include "data/data.h"

/* The settings of the group "generate": counts, and other numbers. */
#define MGVI_RECIPE_COUNTS(X) X(rows) X(columns) X(test_rows) X(support) X(rank)
#define MGVI_RECIPE_NUMBERS(X)                                                                     \
    X(variance)                                                                                    \
    X(separation)                                                                                  \
    X(rho) X(snr) X(delta) X(spread) X(seen) X(size) X(decay) X(shift) X(clearance)

/* What a set is made with. In the defaults of a set 0 says that it takes no such number, NaN that it
 * takes one and finds its own when none is given. */
typedef struct mgvi_recipe {
#define FIELD(name) double name;
    MGVI_RECIPE_COUNTS(FIELD)
    MGVI_RECIPE_NUMBERS(FIELD)
#undef FIELD
} mgvi_recipe;

typedef struct mgvi_making mgvi_making;

typedef struct mgvi_generator {
    const char *name, *summary;
    mgvi_recipe defaults;
    bool truth;   /* it has one */
    bool classes; /* labels are -1 and 1, and may be flipped */
    mgv_status (*make)(mgvi_making *making);
} mgvi_generator;

int mgvi_generator_count(void);
const mgvi_generator *mgvi_generator_at(int index);

/* Makes the set `name`; `test` and `truth` may be NULL. MGV_E_ARG names what the set does not take,
 * MGV_E_UNSUPPORTED that it has no truth. On failure all are NULL. */
mgv_status mgvi_generate(mgv_ctx *ctx, const char *name, const mgv_settings *settings,
                         mgv_data **data, mgv_data **test, mgv_data **truth);

/* ---- for the sets ---------------------------------------------------------------------------- */

struct mgvi_making {
    mgv_ctx *ctx;
    const mgvi_generator *set;
    mgvi_recipe with;
    uint64_t seed;
    bool want_test, want_truth;
    mgv_data *data, *test, *truth; /* what came of it */
};

/* What is drawn for, each in a stream of its own. */
typedef enum mgvi_draw {
    MGVI_DRAW_TRUTH = 1,
    MGVI_DRAW_ROWS,
    MGVI_DRAW_NOISE,
    MGVI_DRAW_TEST_ROWS,
    MGVI_DRAW_TEST_NOISE,
    MGVI_DRAW_COLUMNS,
    MGVI_DRAW_MASK
} mgvi_draw;
mgvi_rng mgvi_making_rng(const mgvi_making *making, mgvi_draw what);

/* A dense table, zeros, with labels unless `y` is NULL. */
mgv_status mgvi_making_table(const mgvi_making *making, int64_t rows, int64_t cols, mgv_data **out,
                             double **X, double **y);
/* Labels become classes; the table is whole. */
mgv_status mgvi_making_labels(const mgvi_making *making, mgv_data *data, const double *y);
/* The truth: a column of `count` numbers. Nothing where none is wanted. */
mgv_status mgvi_making_truth(mgvi_making *making, const double *values, int64_t count);
/* Fills `chosen` (of `count`) with `some` trues at random. */
void mgvi_making_choose(mgvi_rng *rng, int64_t count, int64_t some, bool *chosen);
/* sqrt(sum x_i^2), added in order. */
double mgvi_making_norm(const double *x, int64_t count);
#endif
