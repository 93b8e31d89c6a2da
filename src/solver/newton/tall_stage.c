/* tall_stage.c - systematic samples, and the rows that the path goes on with. */
#include "solver/newton/tall_place.h"
#include "solver/newton/tall_state.h"

#include <string.h>

enum {
    NO_SAMPLES = 8000, /* fewer rows are used as they are */
    FIRST = 4096,
    SECOND = 16384, /* when there are SOME rows: below, a step on all rows costs hardly more */
    SOME = 65536,
    THIRD = 65536, /* when there are more than MANY rows */
    MANY = 400000
};

static const double SKIP_CURVATURE = 1e-4;

typedef mgvi_tall_state state;

int64_t mgvi_tall_stage_rows(int64_t n, int stage)
{
    const int64_t size[] = {FIRST, SECOND, THIRD};
    const int samples = n < NO_SAMPLES ? 0 : n > MANY ? 3 : n >= SOME ? 2 : 1;
    return stage < samples ? size[stage] : n;
}

/* Room for the list of `count` rows, and for their weights where these differ, in place of those
 * before. */
static mgv_status make_room(state *s, int64_t count, bool weights)
{
    const size_t rows = (size_t)count;
    mgvi_arena_free(s->stage);
    memset(&s->sample, 0, sizeof s->sample);
    mgvi_row_set_share(&s->all, &s->sample);
    s->list = mgvi_arena_scratch(s->stage, rows, sizeof *s->list);
    s->steep_sample = mgvi_arena_scratch(s->stage, rows, sizeof *s->steep_sample);
    s->v = weights ? mgvi_arena_scratch(s->stage, rows, sizeof *s->v) : NULL;
    s->near_u = s->m.near ? mgvi_arena_scratch(s->stage, rows, sizeof *s->near_u) : NULL;
    return s->list && s->steep_sample && (s->v || !weights) && (s->near_u || !s->m.near)
               ? MGV_OK
               : MGV_E_MEMORY;
}

/* Row i joins, of positive weight, with its weight over its probability. */
static void choose(state *s, int64_t i, double probability)
{
    const double weight = mgvi_coef_pick(s->s, i, 0);
    if (!(weight > 0))
        return;
    s->list[s->m.present] = (int32_t)i;
    if (s->v)
        s->v[s->m.present] = weight / probability;
    s->steep_sample[s->m.present++] = s->steep[i];
}

/* About `wanted` rows: row i has probability min(1, wanted (q_i/mean + 1)/(2 n)). */
static mgv_status pick_sample(state *s, int64_t n, int64_t wanted)
{
    enum { MORE = 8 }; /* the probabilities add up to the wanted number, but for rounding */
    const double factor = (double)wanted / (2 * (double)n), slope = factor / s->m.mean_leverage;
    double part = s->offset[s->m.stage]; /* of the sum of them, beyond the last whole number */
    MGVI_TRY(make_room(s, wanted + MORE, true));
    s->m.present = 0;
    for (int64_t i = 0; i < n; i++) {
        const double share = factor + slope * s->leverage[i], probability = share < 1 ? share : 1;
        part += probability;
        if (part < 1)
            continue;
        part -= 1;
        choose(s, i, probability);
    }
    return MGV_OK;
}

/* The rows that `place` keeps, and the pull of the fixed ones. */
static mgv_status pick_near(mgvi_run *run, state *s)
{
    const int64_t n = run->problem->A->rows;
    mgvi_vec *fixed = &run->lent[1];
    MGVI_TRY(make_room(s, mgvi_tall_place_count(s->place, s->s, n), s->s->values != NULL));
    s->m.present = 0;
    for (int64_t i = 0; i < n; i++)
        if (s->place[i] == MGVI_ROW_KEPT)
            choose(s, i, 1);
    mgvi_tall_place_fixed(s->place, s->s, fixed);
    mgvi_op_mul_t(run->problem->A, 1, fixed, 0, &s->pull);
    memcpy(s->lin, s->pull.x, (size_t)s->pull.n * sizeof *s->lin);
    return MGV_OK;
}

mgv_status mgvi_tall_stage_bind(mgvi_run *run, state *s)
{
    const int64_t n = run->problem->A->rows, rows = mgvi_tall_stage_rows(n, s->m.stage);
    mgvi_tall_smooth *h = &s->smooth;
    h->lambda = s->lambda;
    h->mu = s->mu;
    h->k = s->width;
    h->lin = s->m.near ? s->lin : NULL;
    h->least = SKIP_CURVATURE;
    h->w = s->w;
    h->u = s->u;
    h->alpha = s->m.alpha;
    h->weight = s->s->constant;
    if (rows == n && !s->m.near) {
        mgvi_arena_free(s->stage);
        h->set = &s->all;
        h->v = s->s->values;
        h->steep = s->steep;
        return MGV_OK;
    }
    MGVI_TRY(s->m.near ? pick_near(run, s) : pick_sample(s, n, rows));
    h->set = &s->sample;
    h->v = s->v;
    h->steep = s->steep_sample;
    if (s->m.near)
        h->u = s->near_u;
    return mgvi_row_set_gather(s->rows, s->list, s->m.present, false, s->spare, s->stage,
                               &run->touched, &s->sample);
}

void mgvi_tall_stage_collect(state *s)
{
    for (int64_t t = 0; t < s->m.present; t++)
        s->near_u[t] = s->u[s->list[t]];
}

void mgvi_tall_stage_spread(state *s)
{
    for (int64_t t = 0; t < s->m.present; t++)
        s->u[s->list[t]] = s->near_u[t];
}
