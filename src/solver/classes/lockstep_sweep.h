/* classes/lockstep_sweep.h - the hot loop of lock-step coordinate ascent, included by a file of loops
 * (simd/isa.h) that names its table in MGVI_LOCKSTEP and the lanes in MGVI_LOCKSTEP_WIDTH. */
#include "solver/classes/lockstep.h"

#include "simd/isa.h"

#include <string.h>

/* Vectors are passed to functions that are inlined: how others would pass them does not matter. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

enum {
    LANES = MGVI_LOCKSTEP_WIDTH,
    FLUSH = 256, /* rows whose sums stay in float32 */
    AHEAD = 6,   /* rows fetched before they are needed */
    LINE = 16    /* numbers of a row in a line of the cache */
};
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

/* The entries of row i, and what is kept for it, some rows before they are needed. */
static inline void fetch_row(const mgvi_lockstep_rows *r, int64_t i, const lanes *theta)
{
    __builtin_prefetch(theta + i, 1);
    __builtin_prefetch(r->C + i);
    __builtin_prefetch(r->step + i);
    __builtin_prefetch(r->own + i);
    for (int64_t t = r->ptr[i]; t < r->ptr[i + 1]; t += LINE) {
        __builtin_prefetch(r->idx + t);
        __builtin_prefetch(r->val + t);
    }
}

/* The lines of W that row i will need. */
static inline void fetch_weights(const mgvi_lockstep_rows *r, int64_t i, const lanes *W)
{
    for (int64_t t = r->ptr[i]; t < r->ptr[i + 1]; t++)
        __builtin_prefetch(W + r->idx[t], 1);
}

/* What changes from row to row, in registers. */
typedef struct sums {
    lanes loss, gap, square;
    lanes weight, drift, shift;
} sums;

static inline void flush(mgvi_lockstep_pass *p, sums *s)
{
    for (int l = 0; l < LANES; l++) {
        p->loss[l] += (double)s->loss[l];
        p->gap[l] += (double)s->gap[l];
        p->square[l] += (double)s->square[l];
    }
    s->loss = s->gap = s->square = (lanes){0};
}

/* z = W (x_i - m) + b, (6) */
static inline lanes planes(const mgvi_lockstep_rows *r, int64_t i, const lanes *W, const sums *s)
{
    lanes z = scores(r, i, W) + s->shift;
    if (r->along)
        z += s->weight * ((float)r->centre - r->along[i]) - s->drift;
    return z;
}

static inline void move_planes(const mgvi_lockstep_rows *r, int64_t i, lanes step, lanes *W,
                               sums *s)
{
    add(r, i, step, W);
    s->weight += step;
    s->shift += r->kappa * step;
    if (r->along)
        s->drift += r->along[i] * step;
}

/* ---- one row's own problem ------------------------------------------------------------------- */

/* Where theta goes, G at the margin m, and its conjugate at the old theta. */
typedef struct visit {
    lanes next, value, conj;
} visit;

static inline lanes between(lanes x, lanes low, lanes high)
{
    return pick(x < low, low, pick(x > high, high, x));
}

/* (5) */
static inline visit visit_hinge(const mgvi_lockstep_rows *r, int64_t i, lanes old, lanes m)
{
    const lanes g = 1 - m, slack = pick(g > 0, g, (lanes){0});
    const lanes next = old + (g - r->ridge * old) * r->step[i];
    return (visit){.next = between(next, (lanes){0}, all(r->most)),
                   .value = r->ridge > 0 ? 0.5F * slack * slack : slack,
                   .conj = 0.5F * r->ridge * old * old - old};
}

/* e^x and log x to the last bits of float32. */
static inline lanes exponential(lanes x)
{
    static const float MAGIC = 12582912; /* 1.5 2^23: adding it rounds */
    x = between(x, all(-87), all(87));
    const lanes n = (x * 1.44269504F + MAGIC) - MAGIC;
    const lanes t = x - n * 0.693359375F + n * 2.12194440e-4F;
    const lanes p = 1 + t +
                    t * t *
                        (0.5F + t * (0.16666667F +
                                     t * (0.041666667F + t * (0.0083333333F + t * 0.0013888889F))));
    return p * (lanes)((__builtin_convertvector(n, bits) + 127) << 23);
}
static inline lanes logarithm(lanes x)
{
    const bits exponent = (((bits)x - 0x3f3504f3) >> 23); /* mantissa from sqrt(1/2) to sqrt(2) */
    const lanes mantissa = (lanes)((bits)x - (exponent << 23));
    const lanes s = (mantissa - 1) / (mantissa + 1), q = s * s;
    const lanes series = 2 * s * (1 + q * (0.33333333F + q * (0.2F + q * 0.14285714F)));
    return series + __builtin_convertvector(exponent, lanes) * 0.69314718F;
}

/* The root v of v + m + Q (theta(v) - old) = 0, theta = 1/(1 + e^-v), Q = step: Newton within a
 * bracket. At the solution v = -m, where we begin. (7) */
static inline visit visit_logistic(const mgvi_lockstep_rows *r, int64_t i, lanes old, lanes m)
{
    enum { NEWTON = 4 };
    const float Q = r->step[i];
    lanes v = -m, low = v - Q * (1 - old), high = v + Q * old, next = 1 / (1 + exponential(-v));
    for (int k = 0; k < NEWTON; k++) {
        const lanes excess = v + m + Q * (next - old);
        high = pick(excess > 0, v, high);
        low = pick(excess < 0, v, low);
        const lanes newton = v - excess / (1 + Q * next * (1 - next));
        v = pick((newton < low) | (newton > high), 0.5F * (low + high), newton);
        next = 1 / (1 + exponential(-v));
    }
    const lanes size = pick(m > 0, m, -m), least = all(1e-30F), rest = 1 - old;
    return (visit){.next = next,
                   .value = 0.5F * (size - m) + logarithm(1 + exponential(-size)),
                   .conj = old * logarithm(pick(old > least, old, least)) +
                           rest * logarithm(pick(rest > least, rest, least))};
}

/* ---- a pass ---------------------------------------------------------------------------------- */

static inline void open_sums(const mgvi_lockstep_pass *p, sums *s)
{
    *s = (sums){0};
    memcpy(&s->weight, p->weight, sizeof s->weight);
    memcpy(&s->drift, p->drift, sizeof s->drift);
    memcpy(&s->shift, p->shift, sizeof s->shift);
}

static inline void close_sums(mgvi_lockstep_pass *p, sums *s)
{
    flush(p, s);
    memcpy(p->weight, &s->weight, sizeof s->weight);
    memcpy(p->drift, &s->drift, sizeof s->drift);
    memcpy(p->shift, &s->shift, sizeof s->shift);
}

static int64_t sweep(mgvi_lockstep_pass *p, const int32_t *order, int64_t count, int32_t *active)
{
    const mgvi_lockstep_rows *r = p->rows;
    lanes *const W = (lanes *)(void *)p->W, *const theta = (lanes *)(void *)p->theta;
    const lanes *const sign = (const lanes *)(const void *)p->sign;
    const lanes zero = {0}, most = all(r->most);
    lanes mask;
    sums s;
    int64_t kept = 0;
    memcpy(&mask, p->mask, sizeof mask);
    open_sums(p, &s);
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = order[k];
        if (k + AHEAD < count)
            fetch_row(r, order[k + AHEAD], theta);
        if (!p->near && k + 1 < count)
            fetch_weights(r, order[k + 1], W);
        const lanes y = sign[r->own[i]], takes_part = y * y;
        const lanes old = theta[i], m = y * planes(r, i, W, &s);
        const visit v = r->logistic ? visit_logistic(r, i, old, m) : visit_hinge(r, i, old, m);
        const lanes d = (v.next - old) * mask * takes_part;
        s.loss += r->C[i] * takes_part * v.value;
        s.gap += r->C[i] * (takes_part * (v.value + v.conj) + old * m);
        s.square += r->C[i] * old * m;
        const bool moves = any((d > SMALL) | (d < -SMALL));
        const lanes now = moves ? old + d : old;
        p->touched += (double)(r->ptr[i + 1] - r->ptr[i]);
        if (moves) {
            move_planes(r, i, r->C[i] * y * d, W, &s);
            theta[i] = now;
            p->moved++;
        }
        if (moves || (!r->logistic && any((now > zero) & (now < most) & (mask > zero))))
            active[kept++] = (int32_t)i;
        if (k % FLUSH == FLUSH - 1)
            flush(p, &s);
    }
    close_sums(p, &s);
    p->visits += count;
    return kept;
}

const mgvi_lockstep_loops MGVI_OF_ISA(MGVI_LOCKSTEP) = {.sweep = sweep};
