/* joint_terms.c - a loss of many classes, row by row. */
#include "backend/joint_terms.h"

#include "base/limit.h"

#include "base/threads.h"
#include "simd/simd.h"

#include <assert.h>

enum { GRAIN = 1 << 13, MOST_BLOCKS = 64 }; /* scores per block, at least */

typedef double (*number_fn)(double s, const double *x, int32_t k, int32_t c);
typedef void (*row_fn)(double s, const double *x, int32_t k, int32_t c, double *out);

typedef struct sweep {
    const mgvi_coefs *coefs;
    number_fn number; /* summed, or NULL */
    row_fn row;       /* written to `out` */
    const double *x;
    double *out;
    int64_t n, blocks;
    int32_t k;
    double partial[MOST_BLOCKS];
} sweep;

static void sweep_block(void *arg, int64_t block)
{
    sweep *s = arg;
    double sum = 0;
    MGVI_FOR_BLOCK (i, s->n, s->blocks, block) {
        const double scale = mgvi_coef_pick(&s->coefs->scale, i, 0);
        const int32_t c = (int32_t)mgvi_coef_pick(&s->coefs->a, i, 0);
        if (s->number)
            sum += s->number(scale, s->x + i * s->k, s->k, c);
        else
            s->row(scale, s->x + i * s->k, s->k, c, s->out + i * s->k);
    }
    s->partial[block] = sum;
}

static double run(mgv_ctx *ctx, sweep *s)
{
    double sum = 0;
    s->blocks = mgvi_block_count(s->n * s->k, GRAIN, MOST_BLOCKS);
    mgvi_ctx_run(ctx, s->blocks, sweep_block, s);
    for (int64_t b = 0; b < s->blocks; b++)
        sum += s->partial[b];
    return sum;
}

double mgvi_joint_value(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c,
                        const mgvi_vec *z)
{
    sweep s = {.coefs = c, .number = loss->joint->value, .x = z->x, .n = z->n, .k = z->k};
    return run(ctx, &s);
}

double mgvi_joint_conj(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c,
                       const mgvi_vec *u)
{
    sweep s = {.coefs = c, .number = loss->joint->conj, .x = u->x, .n = u->n, .k = u->k};
    return run(ctx, &s);
}

void mgvi_joint_grad(mgv_ctx *ctx, const mgvi_loss_ops *loss, const mgvi_coefs *c,
                     const mgvi_vec *z, mgvi_vec *grad)
{
    sweep s = {
        .coefs = c, .row = loss->joint->grad, .x = z->x, .out = grad->x, .n = z->n, .k = z->k};
    run(ctx, &s);
}

static void clip_row(double s, const double *x, int32_t k, int32_t c, double *out)
{
    (void)x;
    mgvi_joint_clip(s, out, k, c);
}

void mgvi_joint_dual_clip(mgv_ctx *ctx, const mgvi_coefs *c, mgvi_vec *u)
{
    sweep s = {.coefs = c, .row = clip_row, .x = u->x, .out = u->x, .n = u->n, .k = u->k};
    run(ctx, &s);
}

/* A loss without float32 formulas. */
static double rows_by_formula(const mgvi_joint_ops *joint, float *z, int rows, int32_t k, int width,
                              const int32_t *c, const float *s)
{
    double row[MGVI_JOINT_LANES], sum = 0;
    for (int i = 0; i < rows; i++, z += width) {
        const double scale = s ? (double)s[i] : 1;
        for (int32_t j = 0; j < k; j++)
            row[j] = (double)z[j];
        sum += joint->value(scale, row, k, c[i]);
        joint->grad(scale, row, k, c[i], row);
        for (int32_t j = 0; j < width; j++)
            z[j] = j < k ? (float)row[j] : 0;
    }
    return sum;
}

double mgvi_joint_rows_f32(const mgv_ctx *ctx, const mgvi_loss_ops *loss, float *z, int rows,
                           int32_t k, int width, const int32_t *c, const float *s)
{
    assert(k <= MGVI_JOINT_LANES);
    if (loss->joint->rows_f32)
        return loss->joint->rows_f32(ctx->simd->pass, z, rows, k, width, c, s);
    return rows_by_formula(loss->joint, z, rows, k, width, c, s);
}
