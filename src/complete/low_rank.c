/* low_rank.c - the iteration: a partial singular value decomposition, then a pass over the entries.
 */
#include "complete/low_rank.h"

#include "base/event.h"
#include "base/limit.h"
#include "simd/simd.h"

#include <math.h>
#include <string.h>

/* tau sigma |A|^2 < 1, and a mask has |A| = 1. */
static const double PRODUCT = 0.99;
enum { NORM_STEPS = 6, CHUNK = 256 };

void mgvi_low_rank_free(mgvi_low_rank *r)
{
    if (!r->e)
        return;
    mgv_ctx *ctx = r->e->ctx;
    mgvi_spectrum_free(&r->spectrum);
    mgvi_factors_free(&r->X);
    mgvi_release(ctx, r->y);
    mgvi_release(ctx, r->y_bar);
    mgvi_release(ctx, r->by_col);
    mgvi_release(ctx, r->sums);
    *r = (mgvi_low_rank){.e = NULL};
}

/* y = weight b where trained on, y_bar = bar b. */
static void set_dual(mgvi_low_rank *r, double weight, double bar)
{
    const mgvi_known *e = r->e;
    for (int64_t i = 0; i < e->rows; i++)
        for (int64_t t = e->row_ptr[i]; t < e->row_ptr[i + 1]; t++) {
            const double b = e->held[t] ? 0 : mgvi_known_target(e, i, t);
            r->y[t] = weight * b;
            r->y_bar[t] = bar * b;
        }
}

/* |b| by a few steps of the block that the iteration then starts from. */
static mgv_status find_norm(mgvi_low_rank *r)
{
    set_dual(r, 0, 1);
    mgvi_known_by_col(r->e, r->y_bar, r->by_col);
    const mgvi_low_plus_sparse b = {.scale = 1, .value = r->y_bar, .by_col = r->by_col};
    for (int k = 0; k < NORM_STEPS; k++)
        MGVI_TRY(mgvi_spectrum_step(&r->spectrum, &b, mgvi_spectrum_block(r->e, 0)));
    r->norm = r->spectrum.found ? r->spectrum.s[0] : 0;
    return MGV_OK;
}

/* ---- the pass over the entries --------------------------------------------------------------- */

typedef struct pass {
    mgvi_low_rank *r;
    const mgvi_complete_loops *loops;
    double step; /* sigma, or 0: y stays and y_bar is made again */
} pass;

static void update_row(const pass *p, int64_t i, double sum[2])
{
    mgvi_low_rank *r = p->r;
    const mgvi_known *e = r->e;
    const mgvi_factors *X = &r->X;
    double x[CHUNK];
    for (int64_t begin = e->row_ptr[i]; begin < e->row_ptr[i + 1]; begin += CHUNK) {
        const int64_t left = e->row_ptr[i + 1] - begin, n = left < CHUNK ? left : CHUNK;
        p->loops->entry_values(X->left + i * X->width, X->right, X->width, e->col + begin, n, x);
        for (int64_t k = 0; k < n; k++) {
            const int64_t t = begin + k;
            const double error = x[k] - mgvi_known_target(e, i, t);
            sum[e->held[t]] += error * error;
            if (e->held[t])
                continue;
            r->y[t] += p->step * error;               /* (2) */
            r->y_bar[t] = r->y[t] + r->sigma * error; /* 2 y+ - y */
        }
    }
}

static void update_block(void *arg, int64_t block)
{
    const pass *p = arg;
    const mgvi_known *e = p->r->e;
    const int64_t end = mgvi_known_cut(e->row_ptr, e->rows, e->row_blocks, block + 1);
    double sum[2] = {0, 0};
    for (int64_t i = mgvi_known_cut(e->row_ptr, e->rows, e->row_blocks, block); i < end; i++)
        update_row(p, i, sum);
    memcpy(p->r->sums + 2 * block, sum, sizeof sum);
}

static void update(mgvi_low_rank *r)
{
    const mgvi_known *e = r->e;
    pass p = {.r = r, .loops = e->ctx->simd->complete, .step = r->sigma};
    double sum[2] = {0, 0};
    mgvi_known_count(e, 1);
    mgvi_ctx_run(e->ctx, e->row_blocks, update_block, &p);
    for (int64_t b = 0; b < e->row_blocks; b++)
        for (int held = 0; held < 2; held++)
            sum[held] += r->sums[2 * b + held];
    r->residual = sqrt(sum[0]);
    r->train = sqrt(sum[0] / (double)(e->count - e->held_count));
    r->held = e->held_count ? sqrt(sum[1] / (double)e->held_count) : NAN;
}

void mgvi_low_rank_restore(mgvi_low_rank *r)
{
    const mgvi_known *e = r->e;
    pass p = {.r = r, .loops = e->ctx->simd->complete};
    for (int64_t t = 0; e->held_count && t < e->count; t++)
        r->y_bar[t] = 0; /* where held out; the others follow */
    mgvi_known_count(e, 1);
    mgvi_ctx_run(e->ctx, e->row_blocks, update_block, &p);
}

/* ---- steps ----------------------------------------------------------------------------------- */

mgv_status mgvi_low_rank_open(mgvi_low_rank *r, const mgvi_known *e, int64_t rank_max,
                              uint64_t seed)
{
    mgv_ctx *ctx = e->ctx;
    *r = (mgvi_low_rank){.e = e, .rank_max = rank_max};
    mgvi_spectrum_init(&r->spectrum, e, seed);
    mgvi_factors_init(&r->X, ctx, e->rows, e->cols);
    if (!(r->y = mgvi_alloc(ctx, (size_t)e->count, sizeof *r->y)) ||
        !(r->y_bar = mgvi_alloc(ctx, (size_t)e->count, sizeof *r->y_bar)) ||
        !(r->by_col = mgvi_alloc(ctx, (size_t)e->count, sizeof *r->by_col)) ||
        !(r->sums = mgvi_alloc(ctx, (size_t)e->row_blocks, 2 * sizeof *r->sums)))
        return MGV_E_MEMORY;
    return MGV_OK;
}

mgv_status mgvi_low_rank_start(mgvi_low_rank *r, const mgvi_known *e, double factor, double sigma,
                               int64_t rank_max, uint64_t seed)
{
    MGVI_TRY(mgvi_low_rank_open(r, e, rank_max, seed));
    MGVI_TRY(mgvi_factors_reset(&r->X, 0));
    MGVI_TRY(find_norm(r));
    if (!(r->norm > 0)) { /* every value is 0: so is X */
        r->sigma = r->tau = 1;
    } else {
        r->sigma = isnan(sigma) ? factor / r->norm : sigma;
        r->tau = PRODUCT / r->sigma;
    }
    mgvi_log(e->ctx, MGV_INFO, "completion: norm of b %.6g, sigma %.6g, tau %.6g", r->norm,
             r->sigma, r->tau);
    /* While X = 0, Y_k = -k sigma b, and X_{k+1} = 0 as long as (k + 1) sigma |b| <= 1. */
    const double zeros = r->norm > 0 ? floor(0.98 / (r->sigma * r->norm)) : 1;
    r->iteration = zeros < 1 ? 1 : zeros > 1e9 ? 1000000000 : (int64_t)zeros;
    const double k = (double)r->iteration;
    set_dual(r, -(k - 1) * r->sigma, 0);
    update(r); /* as iteration k makes Y_k of Y_{k-1} and X_k = 0 */
    return MGV_OK;
}

/* The factors of the triples above tau. */
static mgv_status shrink(mgvi_low_rank *r, int64_t rank)
{
    const mgvi_spectrum *v = &r->spectrum;
    MGVI_TRY(mgvi_factors_reset(&r->X, rank));
    r->nuclear = 0;
    for (int64_t c = 0; c < rank; c++)
        r->nuclear += v->s[c] - r->tau;
    for (int64_t i = 0; i < r->X.rows; i++)
        for (int64_t c = 0; c < rank; c++)
            r->X.left[i * r->X.width + c] = v->left[i * v->found + c] * (v->s[c] - r->tau);
    for (int64_t j = 0; j < r->X.cols; j++)
        memcpy(r->X.right + j * r->X.width, v->right + j * v->found, (size_t)rank * sizeof(double));
    return MGV_OK;
}

mgv_status mgvi_low_rank_step(mgvi_low_rank *r)
{
    const mgvi_known *e = r->e;
    const mgvi_low_plus_sparse V = {
        .low = &r->X, .scale = -r->tau, .value = r->y_bar, .by_col = r->by_col};
    const int64_t most = mgvi_spectrum_block(e, r->rank_max);
    int64_t block = mgvi_spectrum_block(e, r->X.rank), rank;
    block = block > most ? most : block;
    mgvi_known_by_col(e, r->y_bar, r->by_col);
    for (;;) {
        MGVI_TRY(mgvi_spectrum_step(&r->spectrum, &V, block));
        for (rank = 0; rank < r->spectrum.found && r->spectrum.s[rank] > r->tau; rank++)
            ;
        if (rank < block || block == most)
            break;
        block = 2 * block < most ? 2 * block : most; /* all of them are large: there may be more */
    }
    MGVI_TRY(shrink(r, rank < r->rank_max ? rank : r->rank_max));
    r->iteration++;
    update(r);
    return MGV_OK;
}
