/* pairs.c - pairwise coordinate ascent. */
#include "solver/kernel/pairs.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

enum {
    PLACES = 16, /* the simd sweeps take whole groups */
    LOOK = 128,  /* steps between two looks at the limit */
    REFRESH = 8  /* float32 steps a place before v is made in float64 again */
};

/* Curvature below which two rows count as one, in units of the largest diagonal entry. */
static const double FLOOR = 1e-12;

/* Nothing of them is copied: they are filled when steps begin. */
static mgv_status grow_rough(mgvi_pairs *p, mgvi_arena *arena)
{
    const size_t n = (size_t)p->capacity;
    MGVI_TRY(MGVI_ARRAY(arena, p->fv, n));
    MGVI_TRY(MGVI_ARRAY(arena, p->fup, n));
    MGVI_TRY(MGVI_ARRAY(arena, p->fdown, n));
    MGVI_TRY(MGVI_ARRAY(arena, p->fdiagonal, n));
    MGVI_TRY(MGVI_ARRAY(arena, p->before, n));
    return MGV_OK;
}

mgv_status mgvi_pairs_grow(mgvi_pairs *p, mgvi_arena *arena, int64_t capacity)
{
    double **const arrays[] = {&p->c,        &p->v,     &p->lo, &p->hi,
                               &p->diagonal, &p->ridge, &p->up, &p->down};
    if (capacity <= p->capacity)
        return MGV_OK;
    mgvi_pairs old = *p;
    p->capacity = (capacity + PLACES - 1) / PLACES * PLACES;
    const size_t size = p->dtype == MGV_F32 ? sizeof(float) : sizeof(double);
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        double *wider;
        MGVI_TRY(MGVI_ARRAY(arena, wider, p->capacity));
        if (old.size > 0)
            memcpy(wider, *arrays[k], (size_t)old.size * sizeof *wider);
        *arrays[k] = wider;
    }
    MGVI_TRY(p->rough ? grow_rough(p, arena) : MGV_OK);
    p->K = mgvi_arena_scratch(arena, (size_t)(p->capacity * p->capacity), size);
    if (!p->K)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < old.size && !mgvi_ctx_cut_row(arena->ctx, i); i++)
        memcpy(mgvi_pairs_row(p, i), mgvi_pairs_row(&old, i), (size_t)old.size * size);
    for (int64_t i = old.size; i < p->capacity; i++) {
        p->up[i] = -INFINITY;
        p->down[i] = INFINITY;
    }
    return mgvi_ctx_whole(arena->ctx);
}

/* In squares that stay in the cache. The point at the origin has zeros, and so have the columns
 * that fill up the last group. */
#define DEFINE_MIRROR(T, S)                                                                        \
    static void mirror_##S(T *K, int64_t ld, int64_t first, int64_t end)                           \
    {                                                                                              \
        enum { SQUARE = 32 };                                                                      \
        K[0] = 0;                                                                                  \
        for (int64_t j = first; j < end; j++)                                                      \
            K[j * ld] = 0;                                                                         \
        for (int64_t i = 0; i < end; i++)                                                          \
            for (int64_t j = end; j % PLACES != 0; j++)                                            \
                K[i * ld + j] = 0;                                                                 \
        for (int64_t i0 = 0; i0 < first; i0 += SQUARE)                                             \
            for (int64_t j0 = first; j0 < end; j0 += SQUARE)                                       \
                for (int64_t i = i0; i < first && i < i0 + SQUARE; i++)                            \
                    for (int64_t j = j0; j < end && j < j0 + SQUARE; j++)                          \
                        K[i * ld + j] = K[j * ld + i];                                             \
    }
DEFINE_MIRROR(float, f32)
DEFINE_MIRROR(double, f64)

void mgvi_pairs_mirror(mgvi_pairs *p, int64_t first, int64_t end)
{
    if (p->dtype == MGV_F32)
        mirror_f32(p->K, p->capacity, first, end);
    else
        mirror_f64(p->K, p->capacity, first, end);
}

static void mark(mgvi_pairs *p, int64_t i)
{
    p->up[i] = p->c[i] < p->hi[i] ? 0 : -INFINITY;
    p->down[i] = p->c[i] > p->lo[i] ? 0 : INFINITY;
}

void mgvi_pairs_mark(mgvi_pairs *p)
{
    for (int64_t i = 0; i < p->size; i++)
        mark(p, i);
}

/* v -= t (K_i - K_j); the next i. */
static int64_t sweep(mgvi_pairs *p, int64_t i, int64_t j, double t)
{
    const int64_t n = (p->size + PLACES - 1) / PLACES * PLACES;
    const void *a = mgvi_pairs_row(p, i), *b = mgvi_pairs_row(p, j);
    return p->dtype == MGV_F32 ? p->ctx->simd->pairs->step_f32(a, b, t, p->v, p->up, p->down, n,
                                                               &p->most, &p->least)
                               : p->ctx->simd->pairs->step_f64(a, b, t, p->v, p->up, p->down, n,
                                                               &p->most, &p->least);
}

static int64_t partner(const mgvi_pairs *p, int64_t i, double floor)
{
    const int64_t n = (p->size + PLACES - 1) / PLACES * PLACES;
    const void *row = mgvi_pairs_row(p, i);
    return p->dtype == MGV_F32
               ? p->ctx->simd->pairs->partner_f32(row, p->v, p->down, p->diagonal, p->most,
                                                  p->diagonal[i], floor, n)
               : p->ctx->simd->pairs->partner_f64(row, p->v, p->down, p->diagonal, p->most,
                                                  p->diagonal[i], floor, n);
}

static double entry(const mgvi_pairs *p, int64_t i, int64_t j)
{
    return p->dtype == MGV_F32 ? (double)((const float *)mgvi_pairs_row(p, i))[j]
                               : ((const double *)mgvi_pairs_row(p, i))[j];
}

/* c_i rises and c_j falls by t of (7); both stay exactly at bounds they reach. */
static double move(mgvi_pairs *p, int64_t i, int64_t j, double floor)
{
    const double curvature = p->diagonal[i] + p->diagonal[j] - 2 * entry(p, i, j);
    const double room_i = p->hi[i] - p->c[i], room_j = p->c[j] - p->lo[j];
    double t = (p->v[i] - p->v[j]) / fmax(curvature, floor);
    t = fmin(t, fmin(room_i, room_j));
    p->c[i] = t == room_i ? p->hi[i] : p->c[i] + t;
    p->c[j] = t == room_j ? p->lo[j] : p->c[j] - t;
    p->v[i] -= t * p->ridge[i];
    p->v[j] += t * p->ridge[j];
    mark(p, i);
    mark(p, j);
    return t;
}

/* ---- in float32 ------------------------------------------------------------------------------ */

/* Everything relative to the middle b of what may rise and fall: near the end v - b is small where
 * it matters, and float32 is good to a part of that. */
static void begin_rough(mgvi_pairs *p)
{
    const double b = 0.5 * (p->most + p->least);
    const int64_t n = (p->size + PLACES - 1) / PLACES * PLACES;
    for (int64_t i = 0; i < n; i++) {
        p->fv[i] = i < p->size ? (float)(p->v[i] - b) : 0;
        p->fup[i] = i < p->size ? (float)p->up[i] : -INFINITY;
        p->fdown[i] = i < p->size ? (float)p->down[i] : INFINITY;
        p->fdiagonal[i] = i < p->size ? (float)p->diagonal[i] : 1;
        p->before[i] = p->c[i];
    }
}

/* v -= K dc, in float64 */
static void end_rough(mgvi_pairs *p)
{
    for (int64_t i = 1; i < p->size; i++)
        if (p->c[i] != p->before[i] && !mgvi_ctx_cut_row(p->ctx, i))
            p->ctx->simd->axpy_f32(p->before[i] - p->c[i], (const float *)mgvi_pairs_row(p, i),
                                   p->v, p->size);
    mgvi_pairs_mark(p);
    mgvi_pairs_measure(p);
}

/* (7) with the float32 v of both places; returns t. */
static float move_rough(mgvi_pairs *p, int64_t i, int64_t j, float floor)
{
    const float *row = (const float *)mgvi_pairs_row(p, i);
    const float curvature = p->fdiagonal[i] + p->fdiagonal[j] - 2 * row[j];
    const double room_i = p->hi[i] - p->c[i], room_j = p->c[j] - p->lo[j];
    double t = (double)((p->fv[i] - p->fv[j]) / (curvature > floor ? curvature : floor));
    t = fmin(t, fmin(room_i, room_j));
    p->c[i] = t == room_i ? p->hi[i] : p->c[i] + t;
    p->c[j] = t == room_j ? p->lo[j] : p->c[j] - t;
    p->fup[i] = p->c[i] < p->hi[i] ? 0 : -INFINITY;
    p->fdown[i] = p->c[i] > p->lo[i] ? 0 : INFINITY;
    p->fup[j] = p->c[j] < p->hi[j] ? 0 : -INFINITY;
    p->fdown[j] = p->c[j] > p->lo[j] ? 0 : INFINITY;
    return (float)t;
}

/* Steps until the float32 violation is eps, at most `most`; returns their number. */
static int64_t steps_rough(mgvi_pairs *p, double eps, int64_t most, float floor)
{
    const mgvi_simd *simd = p->ctx->simd;
    const int64_t n = (p->size + PLACES - 1) / PLACES * PLACES;
    const float *row = (const float *)p->K;
    float high, low;
    int64_t steps = 0,
            i = simd->pairs->rough_step(row, row, 0, p->fv, p->fup, p->fdown, n, &high, &low);
    while (i >= 0 && (double)high - (double)low > eps && steps < most &&
           !(steps % LOOK == LOOK - 1 && mgvi_ctx_cut(p->ctx))) {
        row = (const float *)mgvi_pairs_row(p, i);
        const int64_t j = simd->pairs->rough_partner(row, p->fv, p->fdown, p->fdiagonal, high,
                                                     p->fdiagonal[i], floor, n);
        if (j < 0)
            break;
        const float t = move_rough(p, i, j, floor);
        i = simd->pairs->rough_step(row, (const float *)mgvi_pairs_row(p, j), t, p->fv, p->fup,
                                    p->fdown, n, &high, &low);
        steps++;
    }
    return steps;
}

/* float32 values differ by 2^-24 of the largest: curvatures below that are nothing but rounding. */
static int64_t run_rough(mgvi_pairs *p, double eps, int64_t most_steps, double largest)
{
    const float floor = (float)(0x1p-24 * largest);
    int64_t total = 0, steps = 1;
    mgvi_pairs_measure(p);
    while (p->most - p->least > eps && total < most_steps && steps > 0 &&
           !mgvi_ctx_was_cut(p->ctx)) {
        const int64_t left = most_steps - total, many = REFRESH * p->size;
        begin_rough(p);
        steps = steps_rough(p, eps, left < many ? left : many, floor);
        end_rough(p);
        total += steps;
    }
    return total;
}

int64_t mgvi_pairs_run(mgvi_pairs *p, double eps, int64_t most_steps)
{
    double largest = 0;
    for (int64_t i = 0; i < p->size; i++)
        largest = fmax(largest, p->diagonal[i]);
    p->beyond = false;
    if (p->rough)
        return run_rough(p, eps, most_steps, largest);
    const double floor = FLOOR * largest;
    int64_t steps = 0, i = sweep(p, 0, 0, 0);
    while (i >= 0 && p->most - p->least > eps && steps < most_steps && !p->beyond &&
           !(steps % LOOK == LOOK - 1 && mgvi_ctx_cut(p->ctx))) {
        const int64_t j = partner(p, i, floor);
        if (j < 0)
            break;
        const int64_t i0 = i;
        const double t = move(p, i, j, floor);
        i = sweep(p, i, j, t);
        steps++;
        p->beyond = p->limit > 0 && fmax(fabs(p->c[i0]), fabs(p->c[j])) > p->limit;
    }
    return steps;
}

void mgvi_pairs_measure(mgvi_pairs *p) { sweep(p, 0, 0, 0); }
