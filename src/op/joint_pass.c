/* joint_pass.c - fused passes for losses of many classes; docs/algorithms/lbfgs.md, "The pass".
 * For curvatures U = h A w takes the place of slopes.
 * With the view's column scale t and centre mu, A (w, b) = (X - 1 mu') t w + b and
 *   z_i = x_i V + (b - mu'V),  V = t w                                                         (1)
 *   A'U = ( t (X'U - mu sum_i U_i),  sum_i U_i ).                                              (2)
 * Blocks of rows depend on the shape alone and are added up in order. */
#include "op/joint_pass.h"

#include "base/limit.h"
#include "base/threads.h"
#include "simd/pass_kernels.h"
#include "simd/simd.h"

#include <string.h>

enum {
    ROWS = 64,         /* at once: they stay in the second cache */
    ROUNDS = 4,        /* times ROWS are summed in float32 */
    MOST_BLOCKS = 16,  /* with a gradient of their own */
    GRAIN = 1 << 18,   /* entries of a block, at least */
    PARTIALS = 1 << 22 /* numbers of all those gradients, at most */
};
static const float TOO_LOW = -1e30f; /* the score of padding */

/* A block's own place. */
typedef struct place {
    float *z, *g, *room; /* ROWS x width, k x stride, ROWS x d unless rows are in place */
    double *sum, *sum_u; /* k x stride, width */
    double loss;
} place;

struct mgvi_joint_pass {
    mgvi_op *op;
    mgvi_float_rows rows;
    const mgvi_pass_kernels *kernels;
    const mgvi_loss_ops *loss;
    const mgvi_coefs *coefs;
    int64_t d, stride, blocks; /* stride: d, padded to whole vectors */
    int32_t k;
    int32_t active, *lane; /* of the k, those of this sweep */
    int width;             /* k, padded */
    float *v, *start;      /* (1): k x stride and width */
    place *places;
    double *u;       /* where slopes go */
    const double *h; /* rows x k: the curvatures, where there is no loss */
    bool coupled;    /* the lanes are classes of one loss */
};

static void choose(mgvi_joint_pass *p, const bool *on)
{
    p->active = 0;
    for (int32_t l = 0; l < p->k; l++)
        if (!on || on[l])
            p->lane[p->active++] = l;
}

static mgv_status allocate(mgvi_joint_pass *p, mgvi_arena *arena)
{
    const size_t wide = (size_t)p->width, d = (size_t)p->d;
    const size_t k = (size_t)p->k, stride = (size_t)p->stride;
    p->v = mgvi_arena_array(arena, k, stride * sizeof(float));
    p->start = mgvi_arena_array(arena, wide, sizeof(float));
    p->places = mgvi_arena_array(arena, (size_t)p->blocks, sizeof *p->places);
    p->lane = mgvi_arena_array(arena, k, sizeof *p->lane);
    if (!p->v || !p->start || !p->places || !p->lane)
        return MGV_E_MEMORY;
    choose(p, NULL);
    for (int64_t b = 0; b < p->blocks; b++) {
        place *at = &p->places[b];
        at->z = mgvi_arena_array(arena, ROWS, wide * sizeof(float));
        at->g = mgvi_arena_array(arena, k, stride * sizeof(float));
        at->sum = mgvi_arena_array(arena, k * stride + wide, sizeof(double));
        if (!at->z || !at->g || !at->sum)
            return MGV_E_MEMORY;
        at->sum_u = at->sum + k * stride;
        if (!p->rows.in_place && !(at->room = mgvi_arena_array(arena, ROWS, d * sizeof(float))))
            return MGV_E_MEMORY;
    }
    return MGV_OK;
}

static mgv_status new_pass(mgvi_arena *arena, mgvi_op *op, int32_t lanes, mgvi_joint_pass **out)
{
    mgvi_float_rows rows;
    MGVI_TRY(mgvi_float_rows_new(op, arena, &rows));
    mgvi_joint_pass *p;
    MGVI_TRY(MGVI_ARRAY(arena, p, 1));
    p->op = op;
    p->rows = rows;
    p->kernels = op->ctx->simd->pass;
    p->d = rows.m.cols;
    p->k = lanes;
    p->width = (int)mgvi_pass_padded(p->kernels, lanes);
    p->stride = mgvi_pass_padded(p->kernels, p->d);
    const int64_t room = PARTIALS / (p->k * p->stride);
    const int64_t most = room < 1 ? 1 : room < MOST_BLOCKS ? room : MOST_BLOCKS;
    p->blocks = mgvi_block_count(rows.view.rows * p->d, GRAIN, most);
    MGVI_TRY(allocate(p, arena));
    *out = p;
    return MGV_OK;
}

mgv_status mgvi_joint_pass_new(mgvi_arena *arena, mgvi_op *op, const mgvi_loss_ops *loss,
                               const mgvi_coefs *c, int32_t lanes, mgvi_joint_pass **out)
{
    *out = NULL;
    if (!mgvi_float_rows_dense(op, false))
        return MGV_OK;
    MGVI_TRY(new_pass(arena, op, lanes, out));
    (*out)->loss = loss;
    (*out)->coefs = c;
    return MGV_OK;
}

mgv_status mgvi_curve_pass_new(mgvi_arena *arena, mgvi_op *op, int32_t lanes, mgvi_joint_pass **out)
{
    *out = NULL;
    return mgvi_float_rows_dense(op, true) ? new_pass(arena, op, lanes, out) : MGV_OK;
}

/* ---- a block --------------------------------------------------------------------------------- */

/* z <- (diag(h) - h h'/sum h) z */
static void couple(const double *h, int32_t k, float *z)
{
    double sum = 0, mean = 0;
    for (int32_t l = 0; l < k; l++) {
        sum += h[l];
        mean += h[l] * (double)z[l];
    }
    mean = sum > 0 ? mean / sum : 0;
    for (int32_t l = 0; l < k; l++)
        z[l] = (float)(h[l] * ((double)z[l] - mean));
}

/* Scores of rows first .. first + count to their slopes. */
static void turn_scores(mgvi_joint_pass *p, place *at, int64_t first, int count)
{
    int32_t c[ROWS];
    float s[ROWS];
    for (int i = 0; p->h && !p->coupled && i < count; i++)
        for (int32_t l = 0; l < p->active; l++)
            at->z[i * p->width + l] *= (float)p->h[(first + i) * p->k + p->lane[l]];
    for (int i = 0; p->coupled && i < count; i++)
        couple(p->h + (first + i) * p->k, p->k, at->z + i * p->width);
    if (p->h)
        return;
    for (int i = 0; i < count; i++) {
        c[i] = (int32_t)mgvi_coef_pick(&p->coefs->a, first + i, 0);
        s[i] = (float)mgvi_coef_pick(&p->coefs->scale, first + i, 0);
    }
    at->loss += mgvi_joint_rows_f32(p->op->ctx, p->loss, at->z, count, p->k, p->width, c, s);
}

/* Rows first .. first + count, at most ROWS: their slopes to the block's z. */
static void slopes_of(mgvi_joint_pass *p, place *at, int64_t first, int count, const float **x,
                      const float **next)
{
    for (int i = 0; i < count; i++) {
        const int64_t row = first + i;
        x[i] = mgvi_float_row(&p->rows, row, at->room ? at->room + i * p->d : NULL);
        next[i] = p->rows.in_place && row + count < p->rows.view.rows
                      ? mgvi_float_row(&p->rows, row + count, NULL)
                      : x[i];
    }
    p->kernels->scores(x, count, p->d, p->v, p->stride, p->active, p->start, p->width, at->z, next);
    turn_scores(p, at, first, count);
}

static void add_slopes(const mgvi_joint_pass *p, place *at, int count)
{
    for (int i = 0; i < count; i++)
        for (int l = 0; l < p->width; l++)
            at->sum_u[l] += (double)at->z[i * p->width + l];
}

static void gradient_block(void *arg, int64_t block)
{
    mgvi_joint_pass *p = arg;
    place *at = &p->places[block];
    const int64_t end = mgvi_block_begin(p->rows.view.rows, p->blocks, block + 1);
    const int64_t size = p->active * p->stride;
    const float *x[ROWS], *next[ROWS];
    int round = 0;
    at->loss = 0;
    memset(at->sum, 0, (size_t)(p->k * p->stride + p->width) * sizeof *at->sum);
    for (int64_t i = mgvi_block_begin(p->rows.view.rows, p->blocks, block); i < end; i += ROWS) {
        const int count = (int)(end - i < ROWS ? end - i : ROWS);
        slopes_of(p, at, i, count, x, next);
        add_slopes(p, at, count);
        p->kernels->gradient(x, count, 0, p->d, at->z, p->width, p->active, round == 0, at->g,
                             p->stride, next);
        round = (round + 1) % ROUNDS;
        if (round == 0 || i + ROWS >= end)
            p->kernels->widen(at->g, at->sum, size);
    }
}

static void slopes_block(void *arg, int64_t block)
{
    mgvi_joint_pass *p = arg;
    place *at = &p->places[block];
    const int64_t end = mgvi_block_begin(p->rows.view.rows, p->blocks, block + 1);
    const float *x[ROWS], *next[ROWS];
    for (int64_t i = mgvi_block_begin(p->rows.view.rows, p->blocks, block); i < end; i += ROWS) {
        const int count = (int)(end - i < ROWS ? end - i : ROWS);
        slopes_of(p, at, i, count, x, next);
        for (int r = 0; r < count; r++)
            for (int32_t c = 0; c < p->k; c++)
                p->u[(i + r) * p->k + c] = (double)at->z[r * p->width + c];
    }
}

/* ---- the sweep ------------------------------------------------------------------------------- */

/* (1) */
static void load_weights(mgvi_joint_pass *p, const mgvi_vec *w)
{
    for (int l = 0; l < p->width; l++)
        p->start[l] = l < p->active ? 0 : TOO_LOW;
    for (int32_t c = 0; c < p->active; c++) {
        const double *from = w->x + p->lane[c];
        double start = p->rows.view.intercept ? from[p->d * p->k] : 0;
        for (int64_t j = 0; j < p->d; j++) {
            const double v = mgvi_view_scale(&p->rows.view, j) * from[j * p->k];
            p->v[c * p->stride + j] = (float)v;
            start -= p->rows.view.centre ? p->rows.view.centre[j] * v : 0;
        }
        p->start[c] = (float)start;
    }
}

double mgvi_joint_pass_run(mgvi_joint_pass *p, const mgvi_vec *w, mgvi_vec *g)
{
    place *total = &p->places[0];
    load_weights(p, w);
    mgvi_ctx_run(p->op->ctx, p->blocks, gradient_block, p);
    p->op->touched += 2 * (double)p->op->nnz;
    const int64_t size = p->k * p->stride + p->width;
    for (int64_t b = 1; b < p->blocks; b++) {
        total->loss += p->places[b].loss;
        for (int64_t t = 0; t < size; t++)
            total->sum[t] += p->places[b].sum[t];
    }
    memset(g->x, 0, (size_t)(g->n * p->k) * sizeof *g->x);
    for (int32_t c = 0; c < p->active; c++) { /* (2) */
        double *to = g->x + p->lane[c];
        for (int64_t j = 0; j < p->d; j++) {
            const double centre =
                p->rows.view.centre ? p->rows.view.centre[j] * total->sum_u[c] : 0;
            to[j * p->k] =
                mgvi_view_scale(&p->rows.view, j) * (total->sum[c * p->stride + j] - centre);
        }
        if (p->rows.view.intercept)
            to[p->d * p->k] = total->sum_u[c];
    }
    return total->loss;
}

void mgvi_joint_pass_slopes(mgvi_joint_pass *p, const mgvi_vec *w, mgvi_vec *u)
{
    p->u = u->x;
    load_weights(p, w);
    mgvi_ctx_run(p->op->ctx, p->blocks, slopes_block, p);
    p->op->touched += (double)p->op->nnz;
}

void mgvi_curve_pass_run(mgvi_joint_pass *p, const bool *on, const mgvi_vec *h, const mgvi_vec *w,
                         mgvi_vec *g)
{
    choose(p, on);
    p->h = h->x;
    mgvi_joint_pass_run(p, w, g);
}

void mgvi_couple_pass_run(mgvi_joint_pass *p, const double *h, const mgvi_vec *w, mgvi_vec *g)
{
    choose(p, NULL);
    p->h = h;
    p->coupled = true;
    mgvi_joint_pass_run(p, w, g);
    p->coupled = false;
}
