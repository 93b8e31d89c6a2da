/* active_set.c - single pivots on (1): one row enters or leaves P, the factor follows. */
#include "solver/parts/active_set.h"

#include <math.h>
#include <string.h>

static const double DEPENDENT = 1e-10; /* of K_jj: squared distance to the span of P */
static const double VIOLATED = 1e-12;  /* margins above 1 - this are met */
static const double RAY_SIGN = 1e-7;   /* of max |c|: below it a coefficient counts as 0 */

/* ---- room ------------------------------------------------------------------------------------ */

static mgv_status allocate(mgvi_active_set *a, mgvi_arena *arena, int64_t capacity, bool intercept)
{
    const size_t n = (size_t)capacity, real_size = sizeof(double);
    a->capacity = capacity;
    a->factor = capacity < a->columns ? capacity : a->columns;
    a->K = mgvi_arena_array(arena, n * n, real_size);
    a->U = mgvi_arena_array(arena, (size_t)a->factor * (size_t)a->factor, real_size);
    a->y = intercept ? mgvi_arena_array(arena, n, real_size) : NULL;
    a->P = mgvi_arena_array(arena, n, sizeof *a->P);
    a->inside = mgvi_arena_array(arena, n, sizeof *a->inside);
    double **const vectors[] = {&a->b, &a->f, &a->ray, &a->z1, &a->z2, &a->s, &a->x, &a->c};
    bool full = a->K && a->U && a->P && a->inside && (a->y || !intercept);
    for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++)
        full = full && (*vectors[v] = mgvi_arena_array(arena, n, real_size));
    return full ? MGV_OK : MGV_E_MEMORY;
}

mgv_status mgvi_active_set_init(mgvi_active_set *a, mgvi_arena *arena, int64_t capacity,
                                int64_t columns, bool intercept)
{
    *a = (mgvi_active_set){.simd = arena->ctx->simd, .columns = columns};
    return allocate(a, arena, capacity, intercept);
}

mgv_status mgvi_active_set_grow(mgvi_active_set *a, mgvi_arena *arena, int64_t capacity)
{
    const mgvi_active_set old = *a;
    const size_t n = (size_t)old.size, p = (size_t)old.count;
    MGVI_TRY(allocate(a, arena, capacity, old.y != NULL));
    for (size_t i = 0; i < n; i++)
        memcpy(a->K + i * (size_t)capacity, old.K + i * (size_t)old.capacity, n * sizeof *a->K);
    for (size_t i = 0; i < p; i++)
        memcpy(a->U + i * (size_t)a->factor, old.U + i * (size_t)old.factor, p * sizeof *a->U);
    if (old.y)
        memcpy(a->y, old.y, n * sizeof *a->y);
    memcpy(a->b, old.b, n * sizeof *a->b);
    memcpy(a->inside, old.inside, n * sizeof *a->inside);
    memcpy(a->P, old.P, p * sizeof *a->P);
    memcpy(a->z1, old.z1, p * sizeof *a->z1);
    memcpy(a->z2, old.z2, p * sizeof *a->z2);
    return MGV_OK;
}

/* ---- the factor ------------------------------------------------------------------------------ */

/* x = U^-T v in place: U' is lower, row r of U serves as its column. */
static void forward(const mgvi_active_set *a, double *x)
{
    for (int64_t r = 0; r < a->count; r++) {
        const double *u = a->U + r * a->factor;
        x[r] /= u[r];
        a->simd->axpy_f64(-x[r], u + r + 1, x + r + 1, a->count - r - 1);
    }
}

/* x = U^-1 x in place. */
static void backward(const mgvi_active_set *a, double *x)
{
    for (int64_t r = a->count - 1; r >= 0; r--) {
        const double *u = a->U + r * a->factor;
        x[r] = (x[r] - a->simd->dot_f64(u + r + 1, x + r + 1, a->count - r - 1)) / u[r];
    }
}

/* x = U^-T K_Pj; returns the Schur complement K_jj - x.x. */
static double project(mgvi_active_set *a, int64_t j)
{
    const double *k = a->K + j * a->capacity;
    for (int64_t r = 0; r < a->count; r++)
        a->x[r] = k[a->P[r]];
    forward(a, a->x);
    return k[j] - a->simd->dot_f64(a->x, a->x, a->count);
}

/* Row j enters behind the others, with x = U^-T K_Pj at hand. */
static void push(mgvi_active_set *a, int64_t j, double schur)
{
    const int64_t n = a->count;
    const double diagonal = sqrt(schur);
    for (int64_t r = 0; r < n; r++)
        a->U[r * a->factor + n] = a->x[r];
    a->U[n * a->factor + n] = diagonal;
    a->z1[n] = (1 - a->simd->dot_f64(a->x, a->z1, n)) / diagonal;
    if (a->y)
        a->z2[n] = (a->y[j] - a->simd->dot_f64(a->x, a->z2, n)) / diagonal;
    a->P[n] = (int32_t)j;
    a->inside[j] = true;
    a->count++;
}

bool mgvi_active_set_append(mgvi_active_set *a, int64_t j)
{
    const double schur = project(a, j), diagonal = a->K[j * a->capacity + j];
    if (!(schur > DEPENDENT * diagonal) || a->count == a->factor)
        return false;
    push(a, j, schur);
    return true;
}

/* to = co u + si tail, tail = co tail - si u */
static void rotate(double co, double si, int64_t n, const double *restrict u, double *restrict tail,
                   double *restrict to)
{
    for (int64_t q = 0; q < n; q++) {
        const double v = u[q], t = tail[q];
        to[q] = co * v + si * t;
        tail[q] = co * t - si * v;
    }
}

/* Drops the k-th row of P: its column goes, and the rows below are rotated against the tail of the
 * dropped row until U is triangular again; z1 and z2 turn with them like columns. */
static void drop(mgvi_active_set *a, int64_t k)
{
    const int64_t n = a->count, ld = a->factor;
    double *tail = a->x;
    double t1 = a->z1[k], t2 = a->y ? a->z2[k] : 0;
    memcpy(tail + k + 1, a->U + k * ld + k + 1, (size_t)(n - k - 1) * sizeof *tail);
    for (int64_t r = 0; r < k; r++) { /* rows above only lose the column */
        double *u = a->U + r * ld;
        memmove(u + k, u + k + 1, (size_t)(n - k - 1) * sizeof *u);
    }
    for (int64_t r = k + 1; r < n; r++) {
        const double *from = a->U + r * ld;
        const double h = hypot(from[r], tail[r]), co = from[r] / h, si = tail[r] / h;
        rotate(co, si, n - r, from + r, tail + r, a->U + (r - 1) * ld + r - 1);
        const double v1 = a->z1[r];
        a->z1[r - 1] = co * v1 + si * t1;
        t1 = co * t1 - si * v1;
        if (a->y) {
            const double v2 = a->z2[r];
            a->z2[r - 1] = co * v2 + si * t2;
            t2 = co * t2 - si * v2;
        }
    }
    a->inside[a->P[k]] = false;
    a->b[a->P[k]] = 0;
    memmove(a->P + k, a->P + k + 1, (size_t)(n - k - 1) * sizeof *a->P);
    a->count--;
}

/* ---- the method ------------------------------------------------------------------------------ */

/* s = K_PP^-1 (1 - b0 y_P), with b0 such that y's = 0. */
static void solve(mgvi_active_set *a)
{
    const int64_t n = a->count;
    double square = 0;
    a->b0 = 0;
    if (a->y && (square = a->simd->dot_f64(a->z2, a->z2, n)) > 0)
        a->b0 = a->simd->dot_f64(a->z1, a->z2, n) / square;
    for (int64_t r = 0; r < n; r++)
        a->s[r] = a->z1[r] - (a->y ? a->b0 * a->z2[r] : 0);
    backward(a, a->s);
    a->solves++;
    a->work += 3.0 * (double)n * (double)n + (double)a->size * (double)n;
}

/* Moves b_P towards s as far as b >= 0 allows; drops the row that stops it. True: arrived. */
static bool move(mgvi_active_set *a)
{
    int64_t blocking = -1;
    double t = 1;
    for (int64_t r = 0; r < a->count; r++) {
        const double b = a->b[a->P[r]];
        if (a->s[r] <= 0 && b - a->s[r] > 0 && b / (b - a->s[r]) < t) {
            t = b / (b - a->s[r]);
            blocking = r;
        } else if (a->s[r] <= 0 && blocking < 0) {
            t = 0;
            blocking = r;
        }
    }
    for (int64_t r = 0; r < a->count; r++) {
        double *b = &a->b[a->P[r]];
        *b = blocking < 0 ? a->s[r] : fmax(*b + t * (a->s[r] - *b), 0);
    }
    if (blocking >= 0)
        drop(a, blocking);
    return blocking < 0;
}

/* f = K b + b0 y on W; the row outside P with the smallest f (every other time relative to its
 * length), or -1 when none is violated. */
static int64_t most_violated(mgvi_active_set *a, bool by_length)
{
    int64_t worst = -1;
    double least = INFINITY;
    memset(a->f, 0, (size_t)a->size * sizeof *a->f);
    /* K is symmetric; rows with b = 0 are not read */
    a->simd->dense_mul_t_f64(a->K, a->capacity, a->size, a->size, a->b, a->f);
    for (int64_t i = 0; i < a->size; i++) {
        const double f = a->f[i] += a->y ? a->b0 * a->y[i] : 0;
        const double length = a->K[i * a->capacity + i];
        const double key = by_length && length > 0 ? (f - 1) / sqrt(length) : f - 1;
        if (!a->inside[i] && f < 1 - VIOLATED && key < least) {
            least = key;
            worst = i;
        }
    }
    return worst;
}

/* Row j depends on P: d = (-c on P, 1 on j), c = K_PP^-1 K_Pj, raises the dual and leaves A'b as it
 * is. True: a row blocks and j took its place. False: nothing blocks, and d is a ray. */
static bool exchange(mgvi_active_set *a, int64_t j)
{
    const int64_t n = a->count;
    double most = 0, t = INFINITY;
    int64_t blocking = -1;
    memcpy(a->c, a->x, (size_t)n * sizeof *a->c);
    backward(a, a->c);
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

mgvi_active_end mgvi_active_set_solve(mgvi_active_set *a, int64_t most_solves, double most_work)
{
    const int64_t limit = a->solves + most_solves;
    for (bool by_length = false; a->solves < limit && a->work < most_work; by_length = !by_length) {
        do
            solve(a);
        while (!move(a) && a->count > 0 && a->solves < limit);
        const int64_t j = most_violated(a, by_length);
        if (j < 0)
            return MGVI_ACTIVE_OPTIMAL;
        if (mgvi_active_set_append(a, j))
            continue;
        if (!exchange(a, j))
            return MGVI_ACTIVE_RAY;
        if (!mgvi_active_set_append(a, j))
            return MGVI_ACTIVE_STUCK;
    }
    return MGVI_ACTIVE_STUCK;
}
