/* factors.c - memory, balancing and errors of a product of two factors. */
#include "complete/factors.h"

#include "base/limit.h"

#include "linalg/eigen.h"
#include "linalg/gemm.h"
#include "simd/simd.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 256 };

void mgvi_factors_init(mgvi_factors *f, mgv_ctx *ctx, int64_t rows, int64_t cols)
{
    *f = (mgvi_factors){.ctx = ctx, .rows = rows, .cols = cols};
}

void mgvi_factors_free(mgvi_factors *f)
{
    if (!f->ctx)
        return;
    mgvi_release(f->ctx, f->left);
    mgvi_release(f->ctx, f->right);
    f->left = f->right = NULL;
    f->room = 0;
}

/* Memory for rows of `width` numbers; what was there is lost. */
static mgv_status make_room(mgvi_factors *f, int64_t rank)
{
    const size_t width = (size_t)mgvi_factors_width(rank);
    if (width > f->room) {
        mgvi_factors_free(f);
        f->rank = f->width = 0;
        f->left = mgvi_alloc(f->ctx, (size_t)f->rows, width * sizeof *f->left);
        f->right = mgvi_alloc(f->ctx, (size_t)f->cols, width * sizeof *f->right);
        if (!f->left || !f->right) {
            mgvi_factors_free(f);
            return MGV_E_MEMORY;
        }
        f->room = width;
    }
    f->rank = rank;
    f->width = (int64_t)width;
    return MGV_OK;
}

mgv_status mgvi_factors_reset(mgvi_factors *f, int64_t rank)
{
    MGVI_TRY(make_room(f, rank));
    memset(f->left, 0, (size_t)(f->rows * f->width) * sizeof *f->left);
    memset(f->right, 0, (size_t)(f->cols * f->width) * sizeof *f->right);
    return MGV_OK;
}

static void copy_columns(const double *from, int64_t from_width, double *to, int64_t width,
                         int64_t lines, int64_t columns)
{
    for (int64_t i = 0; i < lines; i++)
        memcpy(to + i * width, from + i * from_width, (size_t)columns * sizeof *to);
}

mgv_status mgvi_factors_copy(mgvi_factors *f, const mgvi_factors *from, int64_t rank, int64_t more)
{
    MGVI_TRY(mgvi_factors_reset(f, rank + more));
    copy_columns(from->left, from->width, f->left, f->width, f->rows, rank);
    copy_columns(from->right, from->width, f->right, f->width, f->cols, rank);
    return MGV_OK;
}

/* ---- balancing ------------------------------------------------------------------------------- */

/* F <- F M, M r x kept with rows r apart; columns beyond are cleared. `work` has the size of F. */
static mgv_status transform(mgv_ctx *ctx, double *F, int64_t lines, int64_t width, int64_t r,
                            int64_t kept, const double *M, double *work)
{
    const mgvi_gemm_shape shape = {
        .m = lines, .n = kept, .k = r, .lda = width, .ldb = r, .ldc = width};
    memcpy(work, F, (size_t)(lines * width) * sizeof *F);
    for (int64_t i = 0; i < lines; i++)
        memset(F + i * width, 0, (size_t)width * sizeof *F);
    return mgvi_gemm_f64(ctx, &shape, 1, work, M, 0, F);
}

static mgv_status gram(mgv_ctx *ctx, const double *F, int64_t lines, int64_t width, int64_t r,
                       double *G)
{
    return mgvi_gram_f64(ctx, lines, r, F, width, NULL, G, r);
}

/* The small matrices of mgvi_factors_balance, r x r each. */
typedef struct small {
    double *G, *E, *B, *M, *F;
} small;

/* With L'L = E diag(d) E' and M = d^{1/2} E' (R'R) E d^{1/2} = F diag(s^2) F':
 *   left = L (E d^{-1/2} F s^{1/2}),   right = R (E d^{1/2} F s^{-1/2}).
 * On return B and M hold the two matrices in brackets; how many singular values are left. */
static int64_t solve_small(const small *x, int64_t r, double *d, double *s)
{
    mgvi_eigen_symmetric(r, x->G, x->E, d);
    for (int64_t p = 0; p < r; p++)
        d[p] = d[p] > 1e-15 * d[0] && d[p] > 0 ? sqrt(d[p]) : 0;
    for (int64_t p = 0; p < r; p++) /* G = (R'R) E */
        for (int64_t q = 0; q < r; q++) {
            double sum = 0;
            for (int64_t k = 0; k < r; k++)
                sum += x->B[p * r + k] * x->E[k * r + q];
            x->G[p * r + q] = sum;
        }
    for (int64_t p = 0; p < r; p++)
        for (int64_t q = 0; q < r; q++) {
            double sum = 0;
            for (int64_t k = 0; k < r; k++)
                sum += x->E[k * r + p] * x->G[k * r + q];
            x->M[p * r + q] = d[p] * sum * d[q];
        }
    mgvi_eigen_symmetric(r, x->M, x->F, s);
    int64_t kept = 0;
    for (; kept < r && s[kept] > 1e-14 * s[0] && s[kept] > 0; kept++)
        s[kept] = sqrt(s[kept]);
    for (int64_t p = 0; p < r; p++)
        for (int64_t q = 0; q < kept; q++) {
            double left = 0, right = 0;
            for (int64_t k = 0; k < r; k++) {
                left += d[k] > 0 ? x->E[p * r + k] / d[k] * x->F[k * r + q] : 0;
                right += x->E[p * r + k] * d[k] * x->F[k * r + q];
            }
            x->B[p * r + q] = left * sqrt(s[q]);
            x->M[p * r + q] = right / sqrt(s[q]);
        }
    return kept;
}

mgv_status mgvi_factors_balance(mgvi_factors *f, double *s)
{
    mgv_ctx *ctx = f->ctx;
    const int64_t r = f->rank, lines = f->rows > f->cols ? f->rows : f->cols;
    mgv_status st = MGV_E_MEMORY;
    if (r == 0)
        return MGV_OK;
    double *squares = mgvi_alloc(ctx, (size_t)(5 * r + 1), (size_t)r * sizeof *squares);
    double *work = mgvi_alloc(ctx, (size_t)lines, (size_t)f->width * sizeof *work);
    if (squares && work) {
        const int64_t n = r * r;
        const small x = {squares, squares + n, squares + 2 * n, squares + 3 * n, squares + 4 * n};
        MGVI_CHECK(st, done, gram(ctx, f->left, f->rows, f->width, r, x.G));
        MGVI_CHECK(st, done, gram(ctx, f->right, f->cols, f->width, r, x.B));
        const int64_t kept = solve_small(&x, r, squares + 5 * n, s);
        MGVI_CHECK(st, done, transform(ctx, f->left, f->rows, f->width, r, kept, x.B, work));
        MGVI_CHECK(st, done, transform(ctx, f->right, f->cols, f->width, r, kept, x.M, work));
        f->rank = kept;
    }
done:
    mgvi_release(ctx, squares);
    mgvi_release(ctx, work);
    return st;
}

/* ---- errors ---------------------------------------------------------------------------------- */

typedef struct judging {
    const mgvi_known *e;
    const mgvi_factors *f;
    const mgvi_complete_loops *loops;
    int first;   /* of held = 0 and 1 what is summed: both, or 1 alone */
    double *sum; /* per block: squared errors; or what is wanted per entry */
} judging;

/* The squared errors of the entries of row i with this `held`, a chunk at a time. */
static double row_error(const judging *j, int64_t i, int held)
{
    const mgvi_known *e = j->e;
    int32_t col[CHUNK];
    double want[CHUNK], got[CHUNK], sum = 0;
    for (int64_t t = e->row_ptr[i]; t < e->row_ptr[i + 1];) {
        int64_t n = 0;
        for (; t < e->row_ptr[i + 1] && n < CHUNK; t++) {
            col[n] = e->col[t];
            want[n] = mgvi_known_target(e, i, t);
            n += e->held[t] == held;
        }
        j->loops->entry_values(j->f->left + i * j->f->width, j->f->right, j->f->width, col, n, got);
        for (int64_t k = 0; k < n; k++)
            sum += (got[k] - want[k]) * (got[k] - want[k]);
    }
    return sum;
}

static void judge_block(void *arg, int64_t block)
{
    const judging *j = arg;
    const mgvi_known *e = j->e;
    const int64_t end = mgvi_known_cut(e->row_ptr, e->rows, e->row_blocks, block + 1);
    double sum[2] = {0, 0};
    for (int64_t i = mgvi_known_cut(e->row_ptr, e->rows, e->row_blocks, block); i < end; i++)
        for (int held = j->first; held < 2; held++)
            sum[held] += row_error(j, i, held);
    j->sum[2 * block] = sum[0];
    j->sum[2 * block + 1] = sum[1];
}

mgv_status mgvi_factors_errors(const mgvi_known *e, const mgvi_factors *f, double *train,
                               double *held)
{
    double sum[2] = {0, 0};
    judging j = {.e = e,
                 .f = f,
                 .loops = e->ctx->simd->complete,
                 .first = train ? 0 : 1,
                 .sum = mgvi_alloc(e->ctx, (size_t)e->row_blocks, 2 * sizeof *j.sum)};
    if (!j.sum)
        return MGV_E_MEMORY;
    mgvi_known_count(e, 1);
    mgvi_ctx_run(e->ctx, e->row_blocks, judge_block, &j);
    for (int64_t b = 0; b < e->row_blocks; b++) {
        sum[0] += j.sum[2 * b];
        sum[1] += j.sum[2 * b + 1];
    }
    mgvi_release(e->ctx, j.sum);
    if (train)
        *train = sqrt(sum[0] / (double)(e->count - e->held_count));
    *held = e->held_count ? sqrt(sum[1] / (double)e->held_count) : NAN;
    return MGV_OK;
}

static void residual_block(void *arg, int64_t block)
{
    const judging *j = arg;
    const mgvi_known *e = j->e;
    const int64_t end = mgvi_known_cut(e->row_ptr, e->rows, e->row_blocks, block + 1);
    for (int64_t i = mgvi_known_cut(e->row_ptr, e->rows, e->row_blocks, block); i < end; i++) {
        const int64_t first = e->row_ptr[i], last = e->row_ptr[i + 1];
        j->loops->entry_values(j->f->left + i * j->f->width, j->f->right, j->f->width,
                               e->col + first, last - first, j->sum + first);
        for (int64_t t = first; t < last; t++)
            j->sum[t] = e->held[t] ? 0 : mgvi_known_target(e, i, t) - j->sum[t];
    }
}

void mgvi_factors_residual(const mgvi_known *e, const mgvi_factors *f, double *residual)
{
    judging j = {.e = e, .f = f, .loops = e->ctx->simd->complete, .sum = residual};
    mgvi_known_count(e, 1);
    mgvi_ctx_run(e->ctx, e->row_blocks, residual_block, &j);
}

static void truncated_block(void *arg, int64_t block)
{
    const judging *j = arg;
    const mgvi_known *e = j->e;
    const int64_t rank = j->f->rank, width = j->f->width;
    double *sum = j->sum + block * rank;
    const int64_t end = mgvi_known_cut(e->row_ptr, e->rows, e->row_blocks, block + 1);
    for (int64_t i = mgvi_known_cut(e->row_ptr, e->rows, e->row_blocks, block); i < end; i++)
        for (int64_t t = e->row_ptr[i]; t < e->row_ptr[i + 1]; t++) {
            if (!e->held[t])
                continue;
            const double *x = j->f->left + i * width, *y = j->f->right + e->col[t] * width;
            double error = -mgvi_known_target(e, i, t);
            for (int64_t r = 0; r < rank; r++) {
                error += x[r] * y[r];
                sum[r] += error * error;
            }
        }
}

mgv_status mgvi_factors_truncated_errors(const mgvi_known *e, const mgvi_factors *f, double *error)
{
    judging j = {
        .e = e,
        .f = f,
        .sum = mgvi_zeros(e->ctx, (size_t)e->row_blocks, (size_t)(f->rank + 1) * sizeof *j.sum)};
    if (!j.sum)
        return MGV_E_MEMORY;
    mgvi_known_count(e, 1);
    mgvi_ctx_run(e->ctx, e->row_blocks, truncated_block, &j);
    for (int64_t r = 0; r < f->rank; r++) {
        double sum = 0;
        for (int64_t b = 0; b < e->row_blocks; b++)
            sum += j.sum[b * f->rank + r];
        error[r] = sqrt(sum / (double)e->held_count);
    }
    mgvi_release(e->ctx, j.sum);
    return MGV_OK;
}
