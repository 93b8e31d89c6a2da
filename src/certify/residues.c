/* residues.c - the dependency of rows modulo primes, and the signs of the integers behind it. */
#include "certify/residues.h"

#include "base/limit.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a prime field in Montgomery's form: a stands for a 2^32 mod p ----------------------------
 */

typedef struct field {
    uint32_t p;       /* odd, below 2^31 */
    uint32_t inverse; /* -1/p mod 2^32 */
    uint32_t square;  /* 2^64 mod p */
} field;

static inline uint32_t mul(field f, uint32_t a, uint32_t b)
{
    const uint64_t t = (uint64_t)a * b;
    const uint32_t m = (uint32_t)t * f.inverse;
    const uint32_t r = (uint32_t)((t + (uint64_t)m * f.p) >> 32);
    return r >= f.p ? r - f.p : r;
}

static inline uint32_t sub(field f, uint32_t a, uint32_t b) { return a >= b ? a - b : a + f.p - b; }
static uint32_t enter(field f, uint64_t a) { return mul(f, (uint32_t)(a % f.p), f.square); }
static uint32_t leave(field f, uint32_t a) { return mul(f, a, 1); }

static uint32_t power(field f, uint32_t a, uint64_t e)
{
    uint32_t out = enter(f, 1);
    for (; e > 0; e >>= 1, a = mul(f, a, a))
        if (e & 1)
            out = mul(f, out, a);
    return out;
}

static uint32_t invert(field f, uint32_t a) { return power(f, a, f.p - 2); }

static field field_of(uint32_t p)
{
    uint32_t x = 1; /* Newton's steps double the bits that are right */
    for (int k = 0; k < 6; k++)
        x *= 2 - p * x;
    const uint64_t r = (UINT64_C(1) << 32) % p;
    return (field){.p = p, .inverse = -x, .square = (uint32_t)(r * r % p)};
}

/* Miller and Rabin with the bases 2, 3, 5, 7: certain below 3,215,031,751. */
static bool is_prime(uint32_t p)
{
    static const uint32_t base[] = {2, 3, 5, 7};
    const field f = field_of(p);
    const uint32_t one = enter(f, 1), minus = f.p - one;
    uint32_t odd = p - 1;
    int twos = 0;
    for (; odd % 2 == 0; odd /= 2)
        twos++;
    for (int k = 0; k < 4; k++) {
        uint32_t x = power(f, enter(f, base[k]), odd);
        bool passed = x == one || x == minus;
        for (int t = 1; t < twos && !passed; t++) {
            x = mul(f, x, x);
            passed = x == minus;
        }
        if (!passed)
            return false;
    }
    return true;
}

static uint32_t prime_below(uint32_t p)
{
    for (p -= 2; !is_prime(p);)
        p -= 2;
    return p;
}

/* ---- the integers ---------------------------------------------------------------------------- */

/* |x| = mantissa 2^low with an odd mantissa; x is not 0. */
static uint64_t odd_part(double x, int *low)
{
    const uint64_t whole = (uint64_t)ldexp(frexp(fabs(x), low), 53);
    const int zeros = __builtin_ctzll(whole);
    *low += zeros - 53;
    return whole >> zeros;
}

static uint32_t residue(field f, double x, int low)
{
    int own;
    if (x == 0)
        return 0;
    const uint64_t odd = odd_part(x, &own);
    const uint32_t r = mul(f, enter(f, odd), power(f, enter(f, 2), (uint64_t)(own - low)));
    return x < 0 && r > 0 ? f.p - r : r;
}

typedef struct work {
    mgv_ctx *ctx;
    const mgvi_dependency *d;
    int *low;          /* per column, and of the target: of the unit that makes integers of them */
    double *length;    /* log2 of the column's Euclidean length in these units, rounded up */
    uint32_t *A;       /* m x (c + 1): the residues, the target last */
    uint32_t *B;       /* the rank: m x c; the system: (m - 1) x m */
    int32_t *row;      /* m - 1 rows that are independent, then the one that depends on them */
    int32_t *col;      /* m - 1 columns */
    uint32_t *v;       /* primes x (m + 1): v modulo each, and the sum with the target */
    uint32_t *prime;   /* the primes used */
    uint32_t *product; /* 1/(product of the primes before), modulo each; Montgomery's form */
    uint32_t *digit;   /* per prime */
    int64_t primes;
} work;

static double number_at(const mgvi_dependency *d, int64_t i, int64_t j)
{
    return j < d->c ? d->a[i * d->c + j] : d->target ? d->target[i] : 0;
}

static void measure(work *w)
{
    const mgvi_dependency *d = w->d;
    for (int64_t j = 0; j <= d->c; j++) {
        int low = INT32_MAX, top = INT32_MIN, e;
        double square = 0;
        for (int64_t i = 0; i < d->m; i++) {
            const double x = number_at(d, i, j);
            if (x == 0)
                continue;
            frexp(x, &e);
            top = e > top ? e : top;
            odd_part(x, &e);
            low = e < low ? e : low;
        }
        for (int64_t i = 0; i < d->m && top > INT32_MIN; i++) {
            const double x = ldexp(number_at(d, i, j), -top);
            square += x * x;
        }
        w->low[j] = low;
        w->length[j] = square > 0 ? 0.5 * log2(square) + (double)(top - low) + 1e-6 : 0;
    }
}

static void reduce_matrix(work *w, field f)
{
    const int64_t wide = w->d->c + 1;
    for (int64_t i = 0; i < w->d->m && !mgvi_ctx_cut(w->ctx); i++)
        for (int64_t j = 0; j < wide; j++)
            w->A[i * wide + j] = residue(f, number_at(w->d, i, j), w->low[j]);
}

static void subtract(field f, uint32_t *to, uint32_t factor, const uint32_t *from, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        to[k] = sub(f, to[k], mul(f, factor, from[k]));
}

/* Gauss modulo the prime, row by row: the rank, and rows and columns on which it is attained, in
 * `row` and `col`. Rows that depend on those before them: their number, and the last of them. The
 * rank of the integers is at least this. Stops when it would exceed `most`. */
static int64_t find_rank(work *w, field f, int64_t most, int64_t *dependent, int32_t *last)
{
    const int64_t m = w->d->m, c = w->d->c;
    int64_t rank = 0;
    *dependent = 0;
    for (int64_t i = 0; i < m && rank <= most && !mgvi_ctx_cut(w->ctx); i++) {
        uint32_t *x = w->B + rank * c;
        memcpy(x, w->A + i * (c + 1), (size_t)c * sizeof *x);
        for (int64_t r = 0; r < rank; r++)
            if (x[w->col[r]] != 0)
                subtract(f, x, x[w->col[r]], w->B + r * c, c);
        int64_t at = 0;
        while (at < c && x[at] == 0)
            at++;
        if (at == c) {
            ++*dependent;
            *last = (int32_t)i;
            continue;
        }
        if (rank == most)
            return most + 1;
        const uint32_t scale = invert(f, x[at]);
        for (int64_t k = at; k < c; k++)
            x[k] = mul(f, x[k], scale);
        w->row[rank] = (int32_t)i;
        w->col[rank++] = (int32_t)at;
    }
    return rank;
}

/* m - 1 rows that are independent modulo the prime, and columns on which they are; the one that
 * depends on them comes last. False: none does, or more than one. */
static bool find_basis(work *w, field f)
{
    const int64_t m = w->d->m;
    int64_t dependent;
    int32_t last = -1;
    if (find_rank(w, f, m - 1, &dependent, &last) != m - 1 || dependent != 1)
        return false;
    w->row[m - 1] = last;
    return true;
}

/* B x = -a_f on the chosen rows and columns by Gauss; v = det(B) (x, 1) in v[0..m), by position in
 * `row`. False: the matrix is singular modulo this prime. */
static bool solve(work *w, field f, uint32_t *v)
{
    const int64_t m = w->d->m, n = m - 1, wide = w->d->c + 1;
    uint32_t det = enter(f, 1);
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = 0; k < m; k++) {
            const uint32_t a = w->A[w->row[k] * wide + w->col[j]];
            w->B[j * m + k] = k == n ? sub(f, 0, a) : a;
        }
    for (int64_t k = 0; k < n && !mgvi_ctx_cut(w->ctx); k++) {
        uint32_t *pivot = w->B + k * m;
        int64_t at = k;
        while (at < n && w->B[at * m + k] == 0)
            at++;
        if (at == n)
            return false;
        for (int64_t t = k; at != k && t < m; t++) {
            const uint32_t swap = pivot[t];
            pivot[t] = w->B[at * m + t];
            w->B[at * m + t] = swap;
        }
        det = mul(f, at != k ? sub(f, 0, det) : det, pivot[k]);
        const uint32_t scale = invert(f, pivot[k]);
        for (int64_t t = k; t < m; t++)
            pivot[t] = mul(f, pivot[t], scale);
        for (int64_t j = 0; j < n; j++)
            if (j != k && w->B[j * m + k] != 0)
                subtract(f, w->B + j * m + k, w->B[j * m + k], pivot + k, m - k);
    }
    for (int64_t k = 0; k < n; k++)
        v[k] = mul(f, det, w->B[k * m + n]);
    v[n] = det;
    return true;
}

static uint32_t product_with(const work *w, field f, const uint32_t *v, int64_t j)
{
    uint32_t sum = 0;
    for (int64_t k = 0; k < w->d->m; k++)
        sum = sub(f, sum, sub(f, 0, mul(f, v[k], w->A[w->row[k] * (w->d->c + 1) + j])));
    return sum;
}

/* v modulo one more prime. *used: the prime was good for it. False: some v'a_j is not 0. */
static bool take_prime(work *w, field f, bool *used)
{
    const int64_t m = w->d->m;
    uint32_t *v = w->v + w->primes * (m + 1);
    reduce_matrix(w, f);
    *used = solve(w, f, v);
    if (!*used)
        return true;
    for (int64_t j = 0; j < w->d->c; j++)
        if (product_with(w, f, v, j) != 0)
            return false;
    v[m] = product_with(w, f, v, w->d->c);
    for (int64_t k = 0; k <= m; k++)
        v[k] = leave(f, v[k]);
    w->prime[w->primes++] = f.p;
    return true;
}

/* ---- signs ----------------------------------------------------------------------------------- */

static void prepare_signs(work *w)
{
    for (int64_t t = 0; t < w->primes; t++) {
        const field f = field_of(w->prime[t]);
        uint32_t product = enter(f, 1);
        for (int64_t s = 0; s < t; s++)
            product = mul(f, product, enter(f, w->prime[s]));
        w->product[t] = invert(f, product);
    }
}

/* The sign of the integer x, |x| < (product of the primes)/2, with residues v[0], v[stride], ... :
 * its digits in the mixed radix of the primes (Garner), compared with those of half the product,
 * which are (p_t - 1)/2. */
static int sign_of(work *w, const uint32_t *v, int64_t stride)
{
    bool zero = true;
    for (int64_t t = 0; t < w->primes; t++) {
        const field f = field_of(w->prime[t]);
        uint32_t known = 0;
        for (int64_t s = t - 1; s >= 0; s--) { /* digit_0 + p_0 (digit_1 + p_1 (...)) */
            known = mul(f, known, enter(f, w->prime[s]));
            known = sub(f, known, sub(f, 0, enter(f, w->digit[s])));
        }
        const uint32_t rest = sub(f, enter(f, v[t * stride]), known);
        w->digit[t] = leave(f, mul(f, rest, w->product[t]));
        zero = zero && w->digit[t] == 0;
    }
    if (zero)
        return 0;
    for (int64_t t = w->primes - 1; t >= 0; t--)
        if (w->digit[t] != (w->prime[t] - 1) / 2)
            return w->digit[t] > (w->prime[t] - 1) / 2 ? -1 : 1;
    return 1;
}

static bool signs_hold(work *w)
{
    const int64_t m = w->d->m;
    int side = 0; /* of v against what it should be like */
    prepare_signs(w);
    for (int64_t k = 0; k < m && !mgvi_ctx_cut(w->ctx); k++) {
        const int sign = sign_of(w, w->v + k, m + 1) * w->d->sign[w->row[k]];
        if (sign != 0 && side != 0 && sign != side)
            return false;
        side = sign != 0 ? sign : side;
    }
    return side != 0 && side * sign_of(w, w->v + m, m + 1) < 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* log2 of what the product of the primes must exceed: twice the largest |v'a_j| there can be. */
static double bits_needed(const work *w)
{
    const int64_t m = w->d->m;
    double minor = 0, longest = 0;
    for (int64_t j = 0; j < m - 1; j++)
        minor += fmax(w->length[w->col[j]], 0);
    for (int64_t j = 0; j <= w->d->c; j++)
        longest = fmax(longest, w->length[j]);
    return minor + longest + 0.5 * log2((double)m) + 3; /* |v| <= sqrt(m) max |v_i| */
}

static mgv_status allocate(work *w, mgvi_arena *arena)
{
    const size_t m = (size_t)w->d->m, wide = (size_t)w->d->c + 1;
    w->low = mgvi_arena_array(arena, wide, sizeof *w->low);
    w->length = mgvi_arena_array(arena, wide, sizeof *w->length);
    w->A = mgvi_arena_array(arena, m * wide, sizeof *w->A);
    w->B = mgvi_arena_array(arena, (m + 1) * (wide > m ? wide : m), sizeof *w->B);
    w->row = mgvi_arena_array(arena, m, sizeof *w->row);
    w->col = mgvi_arena_array(arena, m, sizeof *w->col);
    const bool all = w->low && w->length && w->A && w->B && w->row && w->col;
    return all ? MGV_OK : MGV_E_MEMORY;
}

static mgv_status allocate_primes(work *w, mgvi_arena *arena, int64_t most)
{
    const size_t n = (size_t)most;
    MGVI_TRY(MGVI_ARRAY(arena, w->v, n * ((size_t)w->d->m + 1)));
    MGVI_TRY(MGVI_ARRAY(arena, w->prime, n));
    MGVI_TRY(MGVI_ARRAY(arena, w->product, n));
    MGVI_TRY(MGVI_ARRAY(arena, w->digit, n));
    return MGV_OK;
}

static const uint32_t FIRST_PRIME = 2147483647; /* 2^31 - 1 */
static const double BITS = 30.99;               /* of the primes: all are above 2^BITS */
enum { UNLUCKY = 8 };                           /* primes that may divide the determinant */

/* Enough primes for `bits`. False: the rows are no dependency after all. */
static bool take_primes(work *w, double bits)
{
    uint32_t p = FIRST_PRIME;
    int left = UNLUCKY;
    for (; (double)w->primes * BITS < bits; p = prime_below(p)) {
        bool used;
        if (mgvi_ctx_was_cut(w->ctx) || !take_prime(w, field_of(p), &used) ||
            (!used && left-- == 0))
            return false;
    }
    return true;
}

static mgv_status prove(work *w, mgvi_arena *arena, double most, bool *holds)
{
    const double m = (double)w->d->m, c = (double)w->d->c;
    if (w->d->m < 2 || m * m * c > most)
        return MGV_OK;
    MGVI_TRY(allocate(w, arena));
    measure(w);
    const field f = field_of(FIRST_PRIME);
    reduce_matrix(w, f);
    if (!find_basis(w, f))
        return MGV_OK;
    const double bits = bits_needed(w), primes = ceil(bits / BITS);
    if (!(primes * (m * m * m + 20 * m * c) + 4 * m * primes * primes <= most))
        return MGV_OK;
    MGVI_TRY(allocate_primes(w, arena, (int64_t)primes));
    *holds = take_primes(w, bits) && signs_hold(w);
    return MGV_OK;
}

mgv_status mgvi_dependency_prove(mgv_ctx *ctx, const mgvi_dependency *d, double most, bool *holds)
{
    work w = {.ctx = ctx, .d = d};
    mgvi_arena arena;
    *holds = false;
    mgvi_arena_init(&arena, ctx);
    const mgv_status st = prove(&w, &arena, most, holds);
    *holds = *holds && !mgvi_ctx_was_cut(ctx);
    mgvi_arena_free(&arena);
    return st;
}

/* ---- columns --------------------------------------------------------------------------------- */

static int by_length(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Primes enough for every minor of rank + 1 columns, by Hadamard; the longest ones. */
static double primes_for_rank(const work *w, double *length, int64_t rank)
{
    double bits = 2;
    memcpy(length, w->length, (size_t)w->d->c * sizeof *length);
    qsort(length, (size_t)w->d->c, sizeof *length, by_length);
    for (int64_t j = 0; j <= rank && j < w->d->c; j++)
        bits += length[j];
    return ceil(bits / BITS);
}

static mgv_status prove_columns(work *w, mgvi_arena *arena, double most, int32_t *col,
                                int64_t *count)
{
    const double m = (double)w->d->m, c = (double)w->d->c;
    uint32_t p = FIRST_PRIME;
    int64_t dependent, left = UNLUCKY;
    int32_t last;
    if (m * c * fmin(m, c) > most)
        return MGV_OK;
    MGVI_TRY(allocate(w, arena));
    double *length;
    MGVI_TRY(MGVI_ARRAY(arena, length, w->d->c));
    measure(w);
    reduce_matrix(w, field_of(p));
    const int64_t rank = find_rank(w, field_of(p), w->d->m, &dependent, &last);
    memcpy(col, w->col, (size_t)rank * sizeof *col);
    const double primes = rank == w->d->c ? 1 : primes_for_rank(w, length, rank);
    if (!(primes * m * c * (double)(rank + 20) <= most))
        return MGV_OK;
    for (double used = 1; used < primes;) {
        p = prime_below(p);
        reduce_matrix(w, field_of(p));
        const int64_t now = find_rank(w, field_of(p), rank, &dependent, &last);
        if (mgvi_ctx_was_cut(w->ctx) || now > rank || (now < rank && left-- == 0))
            return MGV_OK;
        used += now == rank;
    }
    *count = rank;
    return MGV_OK;
}

mgv_status mgvi_columns_prove(mgv_ctx *ctx, int64_t m, int64_t c, const double *a, double most,
                              int32_t *col, int64_t *count)
{
    const mgvi_dependency d = {.m = m, .c = c, .a = a};
    work w = {.ctx = ctx, .d = &d};
    mgvi_arena arena;
    *count = 0;
    mgvi_arena_init(&arena, ctx);
    const mgv_status st = prove_columns(&w, &arena, most, col, count);
    *count = mgvi_ctx_was_cut(ctx) ? 0 : *count;
    mgvi_arena_free(&arena);
    return st;
}
