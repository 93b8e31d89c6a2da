/* parts/lockstep_sweep.h - the hot loop of lock-step coordinate ascent, included once per
 * instruction set by a file that names the function in MGVI_LOCKSTEP_SWEEP. */
#include "solver/parts/lockstep.h"

#include <string.h>

/* Vectors are passed to functions that are inlined: how others would pass them does not matter. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

enum { LANES = MGVI_LOCKSTEP_LANES, FLUSH = 256 };
typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t bits __attribute__((vector_size(LANES * sizeof(float))));

/* Steps below this are left for later: they cost as much as large ones. */
static const float SMALL = 1e-5F;

static inline lanes all(float x) { return x - (lanes){0}; }
/* where ? a : b, lane by lane */
static inline lanes pick(bits where, lanes a, lanes b)
{
    return (lanes)((where & (bits)a) | (~where & (bits)b));
}
static inline bool any(bits where)
{
    int32_t found = 0;
    for (int l = 0; l < LANES; l++)
        found |= where[l];
    return found != 0;
}

/* W x_i */
static inline lanes scores(const mgvi_lockstep_rows *r, int64_t i, const lanes *W)
{
    lanes a = {0}, b = {0};
    int64_t t = r->ptr[i];
    const int64_t end = r->ptr[i + 1];
    for (; t + 2 <= end; t += 2) {
        a += r->val[t] * W[r->idx[t]];
        b += r->val[t + 1] * W[r->idx[t + 1]];
    }
    if (t < end)
        a += r->val[t] * W[r->idx[t]];
    return a + b;
}

static inline void add(const mgvi_lockstep_rows *r, int64_t i, lanes step, lanes *W)
{
    for (int64_t t = r->ptr[i]; t < r->ptr[i + 1]; t++)
        W[r->idx[t]] += r->val[t] * step;
}

/* The lines of W that row i will need. */
static inline void fetch(const mgvi_lockstep_rows *r, int64_t i, const lanes *W, const lanes *theta)
{
    __builtin_prefetch(theta + i, 1);
    for (int64_t t = r->ptr[i]; t < r->ptr[i + 1]; t++)
        __builtin_prefetch(W + r->idx[t], 1);
}

typedef struct sums {
    lanes loss, gap, square;
} sums;

static inline void flush(mgvi_lockstep_pass *p, sums *s)
{
    for (int l = 0; l < LANES; l++) {
        p->loss[l] += (double)s->loss[l];
        p->gap[l] += (double)s->gap[l];
        p->square[l] += (double)s->square[l];
    }
    *s = (sums){0};
}

int64_t MGVI_LOCKSTEP_SWEEP(mgvi_lockstep_pass *p, const int32_t *order, int64_t count,
                            int32_t *active)
{
    const mgvi_lockstep_rows *r = p->rows;
    lanes *const W = (lanes *)(void *)p->W, *const theta = (lanes *)(void *)p->theta;
    const lanes zero = {0}, one = all(1);
    lanes mask;
    sums s = {0};
    int64_t kept = 0;
    memcpy(&mask, p->mask, sizeof mask);
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = order[k], lane = r->own[i] - p->first;
        if (k + 1 < count)
            fetch(r, order[k + 1], W, theta);
        lanes y = all(-1);
        if (lane >= 0 && lane < LANES)
            y[lane] = 1;
        const lanes old = theta[i], m = y * scores(r, i, W), g = 1 - m;
        lanes next = old + g * r->step[i];
        next = pick(next < zero, zero, pick(next > one, one, next));
        const lanes d = (next - old) * mask, hinge = pick(g > zero, g, zero);
        s.loss += r->C[i] * hinge;
        s.gap += r->C[i] * (hinge - old * g);
        s.square += r->C[i] * old * m;
        const bool moves = any((d > SMALL) | (d < -SMALL));
        const lanes now = moves ? old + d : old;
        p->touched += (double)(r->ptr[i + 1] - r->ptr[i]);
        if (moves) {
            add(r, i, r->C[i] * y * d, W);
            theta[i] = now;
            p->moved++;
        }
        if (moves || any((now > zero) & (now < one) & (mask > zero)))
            active[kept++] = (int32_t)i;
        if (k % FLUSH == FLUSH - 1)
            flush(p, &s);
    }
    flush(p, &s);
    return kept;
}
