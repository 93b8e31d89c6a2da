/* tall_sample.c - systematic samples, and rows by their place. */
#include "solver/newton/tall_sample.h"

#include "solver/newton/tall_place.h"

enum {
    NO_SAMPLES = 8000, /* fewer rows are used as they are */
    FIRST = 4096,
    SECOND = 16384, /* when there are SOME rows: below, a step on all rows costs hardly more */
    SOME = 65536,
    THIRD = 65536, /* when there are more than MANY rows */
    MANY = 400000
};

int64_t mgvi_tall_stage_rows(int64_t n, int stage)
{
    const int64_t size[] = {FIRST, SECOND, THIRD};
    const int samples = n < NO_SAMPLES ? 0 : n > MANY ? 3 : n >= SOME ? 2 : 1;
    return stage < samples ? size[stage] : n;
}

static void choose(const mgvi_tall_sample *p, int64_t i, double probability, int64_t *count)
{
    p->list[*count] = (int32_t)i;
    if (p->v)
        p->v[*count] = mgvi_coef_pick(p->s, i, 0) / probability;
    p->steep_chosen[*count] = p->steep[i];
    ++*count;
}

/* Row i has probability min(1, wanted (q_i/mean + 1)/(2 n)). */
int64_t mgvi_tall_sample_draw(const mgvi_tall_sample *p, int64_t wanted, double offset)
{
    const double factor = (double)wanted / (2 * (double)p->rows), slope = factor / p->mean_leverage;
    double part = offset; /* of the sum of the probabilities, beyond the last whole number */
    int64_t count = 0;
    for (int64_t i = 0; i < p->rows; i++) {
        const double share = factor + slope * p->leverage[i], probability = share < 1 ? share : 1;
        part += probability;
        if (part < 1)
            continue;
        part -= 1;
        if (mgvi_coef_pick(p->s, i, 0) > 0)
            choose(p, i, probability, &count);
    }
    return count;
}

void mgvi_tall_sample_kept(const mgvi_tall_sample *p, const uint8_t *place)
{
    int64_t count = 0;
    for (int64_t i = 0; i < p->rows; i++)
        if (place[i] == MGVI_ROW_KEPT && mgvi_coef_pick(p->s, i, 0) > 0)
            choose(p, i, 1, &count);
}
