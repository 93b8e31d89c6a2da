/* split_groups.c - deals out rows of which some have to stay together: clusters, largest first, each
 * to the part that has least of its classes so far. */
#include "base/rng.h"
#include "select/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct cluster {
    int64_t number;       /* as the rows have it */
    int64_t first, count; /* its rows in the list */
    int64_t turn;         /* its place among clusters of the same size */
} cluster;

typedef struct member {
    int64_t number;
    int32_t row;
} member;

static int by_number(const void *x, const void *y)
{
    const member *a = x, *b = y;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static int by_size(const void *x, const void *y)
{
    const cluster *a = x, *b = y;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return (a->turn > b->turn) - (a->turn < b->turn);
}

static int by_turn(const void *x, const void *y)
{
    const cluster *a = x, *b = y;
    return (a->turn > b->turn) - (a->turn < b->turn);
}

typedef struct table {
    mgv_ctx *ctx;
    const mgvi_deal *deal;
    member *row;
    cluster *at;
    int64_t clusters;
    double *load, *total; /* rows of every class in every part, and in all */
    int32_t classes;
} table;

/* The clusters in random order. */
static mgv_status gather(table *t)
{
    const int64_t n = t->deal->own;
    for (int64_t i = 0; i < n; i++)
        t->row[i] = (member){t->deal->together[i], (int32_t)i};
    qsort(t->row, (size_t)n, sizeof *t->row, by_number);
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || t->row[i].number != t->row[i - 1].number)
            t->at[t->clusters++] = (cluster){.number = t->row[i].number, .first = i};
        t->at[t->clusters - 1].count++;
    }
    int32_t *order = mgvi_alloc(t->ctx, (size_t)t->clusters, sizeof *order);
    if (!order)
        return MGV_E_MEMORY;
    for (int64_t k = 0; k < t->clusters; k++)
        order[k] = (int32_t)k;
    mgvi_rng rng = mgvi_rng_seed(t->deal->seed);
    mgvi_rng_shuffle(&rng, order, t->clusters);
    for (int64_t k = 0; k < t->clusters; k++)
        t->at[k].turn = order[k];
    mgvi_release(t->ctx, order);
    return MGV_OK;
}

static int32_t class_of(const table *t, int64_t k) /* entry k of the list */
{
    return t->deal->group ? t->deal->group[t->row[k].row] : 0;
}

/* The part that has least of the cluster's classes, as shares of what there is of them. */
static int32_t emptiest(const table *t, const cluster *c, int32_t parts)
{
    int32_t best = 0;
    double least = INFINITY;
    for (int32_t part = 0; part < parts; part++) {
        double load = 0;
        for (int64_t k = c->first; k < c->first + c->count; k++)
            load += t->load[part * t->classes + class_of(t, k)] / t->total[class_of(t, k)];
        if (load < least) {
            least = load;
            best = part;
        }
    }
    return best;
}

static void put(table *t, const cluster *c, int32_t part, mgvi_split *out)
{
    for (int64_t k = c->first; k < c->first + c->count; k++) {
        out->code[t->row[k].row] = (uint8_t)part;
        t->load[part * t->classes + class_of(t, k)]++;
    }
}

static void place(table *t, double fraction, mgvi_split *out)
{
    const double wanted = fraction * (double)t->deal->own;
    double held = 0;
    qsort(t->at, (size_t)t->clusters, sizeof *t->at, isnan(fraction) ? by_size : by_turn);
    for (int64_t k = 0; k < t->clusters; k++) {
        const cluster *c = &t->at[k];
        if (isnan(fraction)) {
            put(t, c, emptiest(t, c, out->codes), out);
            continue;
        }
        const bool hold = held + 0.5 * (double)c->count <= wanted;
        held += hold ? (double)c->count : 0;
        put(t, c, hold, out);
    }
}

mgv_status mgvi_split_together(mgv_ctx *ctx, const mgvi_deal *deal, double fraction,
                               mgvi_split *out)
{
    const size_t n = (size_t)deal->own;
    table t = {.ctx = ctx, .deal = deal, .classes = 1};
    for (size_t i = 0; deal->group && i < n; i++)
        t.classes = deal->group[i] >= t.classes ? deal->group[i] + 1 : t.classes;
    t.row = mgvi_alloc(ctx, n, sizeof *t.row);
    t.at = mgvi_alloc(ctx, n, sizeof *t.at);
    t.load = mgvi_zeros(ctx, (size_t)(out->codes + 1) * (size_t)t.classes, sizeof *t.load);
    mgv_status st = t.row && t.at && t.load ? gather(&t) : MGV_E_MEMORY;
    if (st == MGV_OK) {
        t.total = t.load + out->codes * t.classes;
        for (size_t k = 0; k < n; k++)
            t.total[class_of(&t, (int64_t)k)]++;
        if (isnan(fraction) && t.clusters < out->codes)
            st = MGVI_FAIL(ctx, MGV_E_ARG,
                           "row_groups has fewer groups than there are folds (got %" PRId64
                           ", for %d folds); ask for fewer folds",
                           t.clusters, out->codes);
        else
            place(&t, fraction, out);
    }
    mgvi_release(ctx, t.load);
    mgvi_release(ctx, t.at);
    mgvi_release(ctx, t.row);
    return st;
}
