/* active_set.c - pivots on (1): rows enter and leave P, the factor follows. */
#include "solver/margin/active_set.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

static const double DEPENDENT = 1e-10; /* of K_jj: squared distance to the span of P */
static const double VIOLATED = 1e-12;  /* of h, at least 1: margins above h - this are met */
static const double RAY_SIGN = 1e-7;   /* of max |c|: below it a coefficient counts as 0 */
static const double CLOSE = 1e-9;      /* of K_jj: rows nearer to the span enter in no block */
enum {
    BLOCKS_ABOVE = 150,
    LAST_BLOCK = 3,
    CHUNK = 128 /* rows that enter by one substitution */
};

/* ---- room ------------------------------------------------------------------------------------ */

static int64_t factor_rows(const mgvi_active_set *a, int64_t capacity)
{
    return capacity < a->columns ? capacity : a->columns; /* independent rows */
}

static mgv_status allocate(mgvi_active_set *a, mgvi_arena *arena, int64_t capacity, bool intercept)
{
    const size_t n = (size_t)capacity, real_size = sizeof(double);
    a->capacity = capacity;
    a->K = mgvi_arena_scratch(arena, n * n, real_size);
    a->y = intercept ? mgvi_arena_array(arena, n, real_size) : NULL;
    a->P = mgvi_arena_array(arena, n, sizeof *a->P);
    a->inside = mgvi_arena_array(arena, n, sizeof *a->inside);
    const size_t most = (size_t)factor_rows(a, capacity);
    a->chunk = mgvi_arena_scratch(arena, 2 * CHUNK * most, real_size);
    if (!a->K || !a->P || !a->inside || !a->chunk || (intercept && !a->y))
        return MGV_E_MEMORY;
    MGVI_TRY(MGVI_VECTORS(arena, n, &a->demand, &a->b, &a->f, &a->ray, &a->s, &a->c));
    for (size_t t = 0; t < n; t++)
        a->demand[t] = 1;
    return MGV_OK;
}

mgv_status mgvi_active_set_init(mgvi_active_set *a, mgvi_arena *arena, int64_t capacity,
                                int64_t columns, bool intercept)
{
    *a = (mgvi_active_set){
        .ctx = arena->ctx, .simd = arena->ctx->simd, .columns = columns, .fewest = INT64_MAX};
    MGVI_TRY(mgvi_factor_init(&a->factor, arena, factor_rows(a, capacity), intercept ? 2 : 1));
    return allocate(a, arena, capacity, intercept);
}

mgv_status mgvi_active_set_grow(mgvi_active_set *a, mgvi_arena *arena, int64_t capacity)
{
    const mgvi_active_set old = *a;
    const size_t n = (size_t)old.size;
    MGVI_TRY(mgvi_factor_grow(&a->factor, arena, factor_rows(a, capacity)));
    MGVI_TRY(allocate(a, arena, capacity, old.y != NULL));
    for (size_t i = 0; i < n; i++)
        memcpy(a->K + i * (size_t)capacity, old.K + i * (size_t)old.capacity, n * sizeof *a->K);
    if (old.y)
        memcpy(a->y, old.y, n * sizeof *a->y);
    memcpy(a->demand, old.demand, n * sizeof *a->demand);
    memcpy(a->b, old.b, n * sizeof *a->b);
    memcpy(a->inside, old.inside, n * sizeof *a->inside);
    memcpy(a->P, old.P, (size_t)old.factor.count * sizeof *a->P);
    return MGV_OK;
}

/* ---- P and its factor ------------------------------------------------------------------------ */

/* Row j, whose U^-T K_Pj is in the factor's column, enters P when its squared distance `schur` to
 * the span is above `least` K_jj. */
static bool take(mgvi_active_set *a, int64_t j, double schur, double least)
{
    const double v[2] = {a->demand[j], a->y ? a->y[j] : 0};
    const int64_t n = a->factor.count;
    if (!(schur > least * a->K[j * a->capacity + j]) || n == a->factor.most)
        return false;
    mgvi_factor_push(&a->factor, schur, v);
    a->P[n] = (int32_t)j;
    a->inside[j] = true;
    return true;
}

static bool enter(mgvi_active_set *a, int64_t j, double least)
{
    const double *k = a->K + j * a->capacity;
    for (int64_t r = 0; r < a->factor.count; r++)
        a->factor.column[r] = k[a->P[r]];
    return take(a, j, mgvi_factor_project(&a->factor, k[j]), least);
}

bool mgvi_active_set_append(mgvi_active_set *a, int64_t j) { return enter(a, j, DEPENDENT); }

/* Drops the k-th row of P. */
static void drop(mgvi_active_set *a, int64_t k)
{
    mgvi_factor_drop(&a->factor, k);
    a->inside[a->P[k]] = false;
    a->b[a->P[k]] = 0;
    memmove(a->P + k, a->P + k + 1, (size_t)(a->factor.count - k) * sizeof *a->P);
}

void mgvi_active_set_demand(mgvi_active_set *a)
{
    double *z = a->factor.carry[0];
    for (int64_t r = 0; r < a->factor.count; r++)
        z[r] = a->demand[a->P[r]];
    mgvi_factor_forward(&a->factor, z);
}

/* ---- the method ------------------------------------------------------------------------------ */

/* s = K_PP^-1 (h_P - b0 y_P), with b0 such that y's = 0. */
static void solve(mgvi_active_set *a)
{
    const int64_t n = a->factor.count;
    double square = 0;
    a->b0 = 0;
    const double *z1 = a->factor.carry[0], *z2 = a->factor.carry[1];
    if (a->y && (square = a->simd->dot_f64(z2, z2, n)) > 0)
        a->b0 = a->simd->dot_f64(z1, z2, n) / square;
    for (int64_t r = 0; r < n; r++)
        a->s[r] = z1[r] - (a->y ? a->b0 * z2[r] : 0);
    mgvi_factor_backward(&a->factor, a->s);
    a->solves++;
    a->work += 3.0 * (double)n * (double)n + (double)a->size * (double)n;
}

/* Moves b_P towards s as far as b >= 0 allows; drops the row that stops it. True: arrived. */
static bool move(mgvi_active_set *a)
{
    int64_t blocking = -1;
    double t = 1;
    for (int64_t r = 0; r < a->factor.count; r++) {
        const double b = a->b[a->P[r]];
        if (a->s[r] <= 0 && b - a->s[r] > 0 && b / (b - a->s[r]) < t) {
            t = b / (b - a->s[r]);
            blocking = r;
        } else if (a->s[r] <= 0 && blocking < 0) {
            t = 0;
            blocking = r;
        }
    }
    for (int64_t r = 0; r < a->factor.count; r++) {
        double *b = &a->b[a->P[r]];
        *b = blocking < 0 ? a->s[r] : fmax(*b + t * (a->s[r] - *b), 0);
    }
    if (blocking >= 0)
        drop(a, blocking);
    return blocking < 0;
}

static bool is_violated(const mgvi_active_set *a, int64_t i)
{
    const double h = a->demand[i];
    return !a->inside[i] && a->f[i] < h - VIOLATED * fmax(1, fabs(h));
}

/* f = K b + b0 y on W; the number of violated rows outside P. *worst is the one with the smallest f
 * (every other time relative to its length), -1: none. */
static int64_t violated_rows(mgvi_active_set *a, bool by_length, int64_t *worst)
{
    int64_t count = 0;
    double least = INFINITY;
    *worst = -1;
    memset(a->f, 0, (size_t)a->size * sizeof *a->f);
    /* K is symmetric; rows with b = 0 are not read */
    a->simd->dense_mul_t_f64(a->K, a->capacity, a->size, a->size, a->b, a->f);
    for (int64_t i = 0; i < a->size; i++) {
        a->f[i] += a->y ? a->b0 * a->y[i] : 0;
        if (!is_violated(a, i))
            continue;
        const double length = a->K[i * a->capacity + i], below = a->f[i] - a->demand[i];
        const double key = by_length && length > 0 ? below / sqrt(length) : below;
        count++;
        if (key < least) {
            least = key;
            *worst = i;
        }
    }
    return count;
}

/* Row j depends on P: d = (-c on P, 1 on j), c = K_PP^-1 K_Pj, raises the dual and leaves A'b as it
 * is. True: a row blocks and j took its place. False: nothing blocks, and d is a ray. */
static bool exchange(mgvi_active_set *a, int64_t j)
{
    const int64_t n = a->factor.count;
    double most = 0, t = INFINITY;
    int64_t blocking = -1;
    memcpy(a->c, a->factor.column, (size_t)n * sizeof *a->c);
    mgvi_factor_backward(&a->factor, a->c);
    for (int64_t r = 0; r < n; r++)
        most = fmax(most, fabs(a->c[r]));
    for (int64_t r = 0; r < n; r++)
        if (a->c[r] > RAY_SIGN * most && a->b[a->P[r]] / a->c[r] < t) {
            t = a->b[a->P[r]] / a->c[r];
            blocking = r;
        }
    if (blocking < 0) {
        memset(a->ray, 0, (size_t)a->size * sizeof *a->ray);
        for (int64_t r = 0; r < n; r++)
            a->ray[a->P[r]] = fmax(-a->c[r], 0);
        a->ray[j] = 1;
        return false;
    }
    for (int64_t r = 0; r < n; r++)
        a->b[a->P[r]] = fmax(a->b[a->P[r]] - t * a->c[r], 0);
    drop(a, blocking);
    a->b[j] = t;
    return true;
}

/* ---- blocks of pivots ------------------------------------------------------------------------ */

/* All rows of P with s <= 0 leave at once, but for the best of a class that would be emptied: the
 * balance y'b = 0 needs both. True: none had to. */
static bool drop_negative(mgvi_active_set *a)
{
    int64_t keep[2] = {-1, -1};
    bool none = true;
    for (int64_t r = 0; r < a->factor.count; r++) {
        const int side = a->y && a->y[a->P[r]] > 0;
        if (keep[side] < 0 || a->s[r] > a->s[keep[side]])
            keep[side] = r;
    }
    for (int64_t r = a->factor.count - 1; r >= 0; r--) {
        if (a->s[r] > 0)
            continue;
        none = false;
        if (r != keep[0] && r != keep[1])
            drop(a, r);
        a->work += (double)(a->factor.count * a->factor.count);
    }
    return none;
}

/* The next rows of W from *at on that are violated, at most CHUNK. */
static int64_t list_violated(const mgvi_active_set *a, int64_t *at, int64_t *list)
{
    int64_t count = 0;
    for (; *at < a->size && count < CHUNK; ++*at)
        if (is_violated(a, *at))
            list[count++] = *at;
    return count;
}

/* The listed rows enter where they are independent enough. X = U^-T K_P,list is one substitution;
 * what a row has in common with those that entered before it in the list, whose columns are kept in
 * `entered`, is added one by one. */
static mgv_status enter_chunk(mgvi_active_set *a, const int64_t *list, int64_t count)
{
    mgvi_factor *f = &a->factor;
    const int64_t old = f->count, most = f->most;
    double *X = a->chunk, *entered = a->chunk + most * CHUNK;
    for (int64_t r = 0; r < old; r++)
        for (int64_t t = 0; t < count; t++)
            X[r * count + t] = a->K[a->P[r] * a->capacity + list[t]];
    MGVI_TRY(mgvi_factor_forward_many(a->ctx, f, count, X));
    for (int64_t t = 0; t < count; t++) {
        const double *k = a->K + list[t] * a->capacity;
        double *column = f->column;
        for (int64_t r = 0; r < old; r++)
            column[r] = X[r * count + t];
        for (int64_t r = old; r < f->count; r++) {
            const double *other = entered + (r - old) * most;
            column[r] = (k[a->P[r]] - a->simd->dot_f64(other, column, r)) / other[r];
        }
        const int64_t n = f->count;
        const double schur = k[list[t]] - a->simd->dot_f64(column, column, n);
        if (!take(a, list[t], schur, CLOSE))
            continue;
        memcpy(entered + (n - old) * most, column, (size_t)n * sizeof *column);
        entered[(n - old) * most + n] = sqrt(schur);
    }
    a->work += (double)count * (double)(old * old) / 4; /* matrix products are cheap */
    return MGV_OK;
}

/* Every violated row enters that is independent enough; then rows leave until b = s > 0. The steps
 * are not along a path of feasible b, so only the end of a block is. */
static mgv_status pivot_block(mgvi_active_set *a, int64_t limit)
{
    int64_t list[CHUNK], at = 0, count;
    while ((count = list_violated(a, &at, list)) > 0)
        MGVI_TRY(enter_chunk(a, list, count));
    do
        solve(a);
    while (!drop_negative(a) && a->solves < limit && !mgvi_ctx_cut(a->ctx));
    for (int64_t r = 0; r < a->factor.count; r++)
        a->b[a->P[r]] = fmax(a->s[r], 0);
    return MGV_OK;
}

/* Whether a block is worth trying with so many violated rows: single pivots for good once blocks
 * have failed to reduce them three times. */
static bool block_pays(mgvi_active_set *a, int64_t violated)
{
    if (a->factor.count <= BLOCKS_ABOVE || a->failures >= LAST_BLOCK)
        return false;
    if (violated >= a->fewest && ++a->failures >= LAST_BLOCK)
        return false;
    a->fewest = violated < a->fewest ? violated : a->fewest;
    return true;
}

mgv_status mgvi_active_set_solve(mgvi_active_set *a, int64_t most_solves, double most_work,
                                 mgvi_active_end *end)
{
    const int64_t limit = a->solves + most_solves;
    int64_t j;
    bool settled = false;
    *end = MGVI_ACTIVE_STUCK;
    a->fewest = INT64_MAX; /* of this W */
    for (bool by_length = false;
         a->solves < limit && a->work < most_work && !mgvi_ctx_was_cut(a->ctx);
         by_length = !by_length) {
        while (!settled && a->solves < limit && !mgvi_ctx_cut(a->ctx)) {
            solve(a);
            settled = move(a) || a->factor.count == 0;
        }
        const int64_t violated = violated_rows(a, by_length, &j);
        if (violated == 0) {
            *end = MGVI_ACTIVE_OPTIMAL;
            return MGV_OK;
        }
        if (violated > 1 && block_pays(a, violated)) {
            MGVI_TRY(pivot_block(a, limit)); /* ends with b = s */
            continue;
        }
        settled = false;
        if (mgvi_active_set_append(a, j))
            continue;
        if (!exchange(a, j)) {
            *end = MGVI_ACTIVE_RAY;
            return MGV_OK;
        }
        if (!mgvi_active_set_append(a, j))
            break;
    }
    return MGV_OK;
}
