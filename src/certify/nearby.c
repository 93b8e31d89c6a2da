/* nearby.c - is there an exact proof near one that holds to rounding?
 *
 * Let C = G B, B the centred rows of the support, G = diag(g), g_i <= |u_i| powers of two. If the
 * columns of C are independent, u + du has B'(u + du) = 0 with
 *     du = -G C (C'C)^-1 r,   r = B'u,   |du_i| <= |u_i| |C (C'C)^-1 r|,
 * and with any T for which C T is nearly orthonormal, |T'C'C T - I| <= e < 1,
 *     |C (C'C)^-1 r|^2 = r'T (I + E)^-1 T'r <= |T'r|^2/(1 - e).                              (12)
 * That e < 1 says that the columns are independent. T comes from Cholesky's factors of C'C, a few
 * times over; nothing is believed of it but e, which is computed from C and T with bounds of all
 * rounding. */
#include "certify/support.h"

#include "base/limit.h"
#include "linalg/gemm.h"

#include <stdlib.h>
#include <string.h>

static const double UNIT = 0x1p-53;

typedef struct near {
    mgv_ctx *ctx;
    int64_t t, r;   /* C is t x r */
    double *C, *W;  /* W = C T */
    double *T, *G;  /* r x r */
    double *scale;  /* per column: a power of two, in C already */
    double entries; /* relative error of the entries of C */
    const int32_t *col;
    double *whole; /* a row of all columns */
} near;

static double square_sum(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum * (1 + (double)(n + 8) * UNIT);
}

/* |W'W - I|, at most; G keeps W'W. */
static mgv_status deviation(near *s, double *out)
{
    const int64_t r = s->r;
    double sum = 0;
    MGVI_TRY(mgvi_syrk_f64(s->ctx, r, s->t, 1, s->W, r, 0, s->G, r));
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = i; j < r; j++) {
            const double x = s->G[i * r + j] - (i == j);
            sum += (i == j ? 1 : 2) * x * x;
        }
    *out = sqrt(sum) * (1 + ((double)r * (double)r + 8) * UNIT);
    return MGV_OK;
}

/* T <- T U^-1 for G = U'U, with a ridge that a rounded G can do without when it is definite. */
static mgv_status refine(near *s, double ridge, bool *definite)
{
    const int64_t r = s->r;
    int64_t pivot;
    for (int64_t j = 0; j < r; j++)
        s->G[j * r + j] *= 1 + ridge;
    MGVI_TRY(mgvi_cholesky(s->ctx, r, s->G, r, &pivot));
    *definite = pivot < 0;
    for (int64_t i = 0; i < r && *definite && !(i % 8 == 7 && mgvi_ctx_cut(s->ctx)); i++) {
        double *x = s->T + i * r; /* T is upper triangular */
        for (int64_t k = i; k < r; k++) {
            x[k] /= s->G[k * r + k];
            for (int64_t j = k + 1; j < r; j++)
                x[j] -= x[k] * s->G[k * r + j];
        }
    }
    const mgvi_gemm_shape shape = {.m = s->t, .n = r, .k = r, .lda = r, .ldb = r, .ldc = r};
    return *definite ? mgvi_gemm_f64(s->ctx, &shape, 1, s->C, s->T, 0, s->W) : MGV_OK;
}

/* e of (12) for the T found; infinite: none. C T = W + F, and |F| is bounded by rounding. */
static mgv_status orthonormalise(near *s, double *e)
{
    enum { PASSES = 5 };
    const int64_t r = s->r;
    double off = INFINITY;
    bool definite = true;
    *e = INFINITY;
    memset(s->T, 0, (size_t)(r * r) * sizeof *s->T);
    for (int64_t j = 0; j < r; j++)
        s->T[j * r + j] = 1;
    memcpy(s->W, s->C, (size_t)(s->t * r) * sizeof *s->W);
    for (int pass = 0; pass < PASSES && definite; pass++) {
        MGVI_TRY(deviation(s, &off));
        if (off <= 0.1)
            break;
        MGVI_TRY(refine(s, pass == 0 ? 64 * (double)(s->t + r) * UNIT : 0x1p-50, &definite));
    }
    if (!definite || !(off <= 0.1))
        return MGV_OK;
    const double gamma = 1.01 * UNIT * (double)(r + 4) + s->entries;
    const double f = gamma * sqrt(square_sum(s->C, s->t * r) * square_sum(s->T, r * r)) +
                     0x1p-900 * (double)r * (double)s->t;
    const double w = 1.01 * UNIT * (double)(s->t + 4) * square_sum(s->W, s->t * r);
    *e = 1.001 * (off + w + 2 * 1.1 * f + f * f);
    return MGV_OK;
}

/* |T'r|/sqrt(1 - e), from bounds of |r_j|. */
static double change_of(const near *s, const double *sum, double e)
{
    double square = 0;
    for (int64_t k = 0; k < s->r; k++) {
        double x = 0;
        for (int64_t j = 0; j <= k; j++)
            x += fabs(s->T[j * s->r + k]) * (sum[s->col[j]] * s->scale[j]);
        square += x * x;
    }
    return sqrt(square / (1 - e)) * (1 + ((double)s->r + 16) * 4 * UNIT) + 0x1p-500;
}

typedef struct weighted {
    double weight;
    int64_t t;
} weighted;

static int by_weight(const void *a, const void *b)
{
    const weighted *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->t < y->t ? -1 : x->t > y->t;
}

static double power_of_two_below(double x)
{
    int e;
    frexp(x, &e);
    return ldexp(1, e - 1);
}

/* The heaviest rows, which are the ones that change, and columns of length about 1. */
static mgv_status fill(near *s, const mgvi_proof_support *support, mgvi_arena *arena,
                       bool *possible)
{
    static const double LEAST = 0x1p-960; /* below it a power of two may be inexact */
    weighted *order;
    MGVI_TRY(MGVI_ARRAY(arena, order, support->m));
    for (int64_t t = 0; t < support->m; t++)
        order[t] = (weighted){fabs(support->weight[t]), t};
    qsort(order, (size_t)support->m, sizeof *order, by_weight);
    double most = order[0].weight;
    most = most > 0 ? power_of_two_below(most) : 1;
    for (int64_t t = 0; t < s->t; t++) {
        double *x = s->C + t * s->r;
        mgvi_support_row(support, order[t].t, s->whole);
        const double g = order[t].weight > 0 ? power_of_two_below(order[t].weight) / most : 0;
        for (int64_t j = 0; j < s->r; j++) {
            const double own = s->whole[s->col[j]], scaled = own * g;
            const bool exact = scaled == 0 || (fabs(scaled) > LEAST && fabs(scaled) < 1 / LEAST);
            if (!exact || (scaled == 0 && own != 0 && g != 0))
                *possible = false;
            x[j] = scaled;
        }
    }
    for (int64_t j = 0; j < s->r; j++) {
        double largest = 0;
        for (int64_t t = 0; t < s->t; t++)
            largest = fmax(largest, fabs(s->C[t * s->r + j]));
        const double scale = largest > 0 ? 1 / power_of_two_below(largest) : 1;
        for (int64_t t = 0; t < s->t; t++)
            s->C[t * s->r + j] *= scale;
        s->scale[j] = scale / most; /* r_j is a sum of u_i, not of g_i */
    }
    return MGV_OK;
}

mgv_status mgvi_support_nearby(mgv_ctx *ctx, const mgvi_proof_support *support, const int32_t *col,
                               int64_t r, double most, double *change)
{
    const int64_t enough = 8 * r + 64;
    mgvi_arena arena;
    near s = {.ctx = ctx, .r = r, .col = col, .t = support->m < enough ? support->m : enough};
    double e = INFINITY;
    bool possible = true;
    *change = INFINITY;
    if (s.t <= r || (double)s.t * (double)r * (double)r > most) /* as many as columns: no proof */
        return MGV_OK;
    s.entries = support->fuzz + 2 * UNIT;
    mgvi_arena_init(&arena, ctx);
    s.C = mgvi_arena_array(&arena, (size_t)(s.t * r), sizeof *s.C);
    s.W = mgvi_arena_array(&arena, (size_t)(s.t * r), sizeof *s.W);
    s.T = mgvi_arena_array(&arena, (size_t)(r * r), sizeof *s.T);
    s.G = mgvi_arena_array(&arena, (size_t)(r * r), sizeof *s.G);
    s.scale = mgvi_arena_array(&arena, (size_t)r, sizeof *s.scale);
    s.whole = mgvi_arena_array(&arena, (size_t)support->c, sizeof *s.whole);
    mgv_status st = s.whole && s.C && s.W && s.T && s.G && s.scale ? MGV_OK : MGV_E_MEMORY;
    if (st == MGV_OK)
        st = fill(&s, support, &arena, &possible);
    if (st == MGV_OK && possible)
        st = orthonormalise(&s, &e);
    if (st == MGV_OK && e < 0.5 && !mgvi_ctx_was_cut(ctx))
        *change = change_of(&s, support->sum, e);
    mgvi_arena_free(&arena);
    return st;
}
