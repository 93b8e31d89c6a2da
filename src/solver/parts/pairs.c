/* pairs.c - pairwise coordinate ascent. */
#include "solver/parts/pairs.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

enum {
    PLACES = 8, /* the simd sweeps take whole groups */
    LOOK = 128  /* steps between two looks at the limit */
};

/* Curvature below which two rows count as one, in units of the largest diagonal entry. */
static const double FLOOR = 1e-12;

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
        double *wider = mgvi_arena_array(arena, (size_t)p->capacity, sizeof *wider);
        if (!wider)
            return MGV_E_MEMORY;
        if (old.size > 0)
            memcpy(wider, *arrays[k], (size_t)old.size * sizeof *wider);
        *arrays[k] = wider;
    }
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
    return p->dtype == MGV_F32
               ? p->ctx->simd->pair_step_f32(a, b, t, p->v, p->up, p->down, n, &p->most, &p->least)
               : p->ctx->simd->pair_step_f64(a, b, t, p->v, p->up, p->down, n, &p->most, &p->least);
}

static int64_t partner(const mgvi_pairs *p, int64_t i, double floor)
{
    const int64_t n = (p->size + PLACES - 1) / PLACES * PLACES;
    const void *row = mgvi_pairs_row(p, i);
    return p->dtype == MGV_F32 ? p->ctx->simd->pair_partner_f32(row, p->v, p->down, p->diagonal,
                                                                p->most, p->diagonal[i], floor, n)
                               : p->ctx->simd->pair_partner_f64(row, p->v, p->down, p->diagonal,
                                                                p->most, p->diagonal[i], floor, n);
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

int64_t mgvi_pairs_run(mgvi_pairs *p, double eps, int64_t most_steps)
{
    double largest = 0;
    for (int64_t i = 0; i < p->size; i++)
        largest = fmax(largest, p->diagonal[i]);
    const double floor = FLOOR * largest;
    int64_t steps = 0, i = sweep(p, 0, 0, 0);
    p->beyond = false;
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
