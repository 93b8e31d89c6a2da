/* minibatch.c - momentum on random batches of rows, averaged over every epoch, for losses of many
 * classes; docs/algorithms/probing.md.
 *   batch of rows i:  z_i = V'(x_i - mu) + b,   P_i = grad of s_i G at z_i                      (1)
 *   G = sum_i (x_i - mu) P_i'/size,   g = sum_i P_i/size                                        (2)
 *   M = .9 M - step (G + lambda V),  V += M,  likewise b                                        (3)
 *   what is shown is the mean of V and b over the batches of the epoch                      (4)
 * V is in the units of the data, so that rows are read where they lie; the view's column scale t
 * becomes a step t_j^2 for column j. A batch is cut into a few groups of rows with a gradient each,
 * so that a row is read by one thread alone; (3) adds them up in order, class by class. No sum
 * depends on the threads. */
#include "solver/minibatch/minibatch.h"

#include "backend/joint_terms.h"
#include "base/threads.h"
#include "op/float_rows.h"
#include "simd/pass_kernels.h"
#include "simd/simd.h"

#include "base/limit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 256,
    BLOCK = 32,      /* rows of (1) at once */
    MOST_GROUPS = 4, /* of rows, with a gradient each */
    STRIP = 32       /* columns; work is cut at multiples of it */
};
static const float KEEP = 0.9f;
static const double SHORTEN = 0.9;        /* of the step 1/L */
static const float TOO_LOW = -1e30f;      /* the score of padding */
static const double BIAS_CURVATURE = 0.5; /* of a column of ones: Bohning's bound */
static const double SPREAD = 10;          /* of columns' deviations above the median */

struct mgvi_minibatch {
    mgvi_float_rows rows;
    const mgvi_pass_kernels *kernels;
    int64_t d, stride; /* stride: d, padded to whole vectors */
    int32_t k;
    int width;                               /* k, padded */
    float *v, *m, *sum;                      /* k x stride */
    float *g;                                /* of every group: k x stride */
    float *bias, *bias_m, *bias_sum, *start; /* width */
    float *step, *decay, *origin;            /* stride */
    float bias_step;
    int32_t *order; /* the rows that train */
    int64_t count;
    bool weighted;
    double weight_factor; /* makes the mean weight 1 */
    /* The present batch. */
    const float *x[2 * BATCH]; /* its rows, then those of the next one */
    float *room;               /* BATCH x d, unless rows are in place */
    int32_t c[BATCH];
    float s[BATCH];
    float *p;           /* BATCH x width: scores, then (1) */
    const int32_t *row; /* of the order */
    int size, next_size;
    float *row_sums; /* of P, per block of rows */
    int64_t blocks;
    /* Groups depend on the shape alone. Threads get runs of groups, always the same, so that what
     * they have read and written stays in their caches; with more threads than groups, strips of
     * a group's columns. */
    int64_t groups, parts;
};

/* What the tasks of a batch are given. */
typedef struct work {
    mgvi_run *run;
    mgvi_minibatch *s;
} work;

/* ---- a batch --------------------------------------------------------------------------------- */

static void prepare_row(const mgvi_run *run, mgvi_minibatch *s, int i)
{
    const mgv_problem *p = run->problem;
    const int32_t row = s->row[i];
    if (!s->rows.in_place)
        s->x[i] = mgvi_float_row(&s->rows, row, s->room + i * s->d);
    s->c[i] = (int32_t)mgvi_coef_pick(&p->row.a, row, 0);
    s->s[i] = (float)(s->weight_factor * mgvi_coef_pick(&p->row.scale, row, 0));
}

/* The rows that far after `first` and the next ones; NULL: not so many are known. */
static const float *const *rows_ahead(const mgvi_minibatch *s, int first, int count, int ahead)
{
    const int end = first + ahead + count;
    return s->rows.in_place && end <= s->size + s->next_size ? s->x + first + ahead : NULL;
}

/* (1) for a block of rows; those `ahead` of it are asked for meanwhile. */
static void score_block(mgvi_run *run, mgvi_minibatch *s, int64_t block, int ahead)
{
    const int first = (int)block * BLOCK;
    const int count = s->size - first < BLOCK ? s->size - first : BLOCK;
    float *p = s->p + first * s->width, *sums = s->row_sums + block * s->width;
    for (int i = first; i < first + count; i++)
        prepare_row(run, s, i);
    s->kernels->scores(s->x + first, count, s->d, s->v, s->stride, s->k, s->start, s->width, p,
                       rows_ahead(s, first, count, ahead));
    mgvi_joint_rows_f32(run->ctx, run->problem->loss, p, count, s->k, s->width, s->c + first,
                        s->weighted ? s->s + first : NULL);
    memset(sums, 0, (size_t)s->width * sizeof *sums);
    for (int i = 0; i < count; i++)
        for (int l = 0; l < s->width; l++)
            sums[l] += p[i * s->width + l];
}

/* The first row of a group. */
static int group_begin(const mgvi_minibatch *s, int64_t group)
{
    const int64_t row = mgvi_block_begin(s->blocks, s->groups, group) * BLOCK;
    return row < s->size ? (int)row : s->size;
}

static void score_group(const work *job, int64_t group, int ahead)
{
    MGVI_FOR_BLOCK (b, job->s->blocks, job->s->groups, group)
        score_block(job->run, job->s, b, ahead);
}

/* (2) for a group of rows, columns from .. to. */
static void sum_group(mgvi_minibatch *s, int64_t group, int64_t from, int64_t to, int ahead)
{
    const int first = group_begin(s, group), count = group_begin(s, group + 1) - first;
    s->kernels->gradient(s->x + first, count, from, to, s->p + first * s->width, s->width, s->k,
                         true, s->g + group * s->k * s->stride, s->stride,
                         rows_ahead(s, first, count, ahead));
}

/* Some groups from rows to gradients: what a thread does, where every thread has a group. */
static void gradient_part(void *arg, int64_t part)
{
    const work *job = arg;
    mgvi_minibatch *s = job->s;
    const int64_t first = mgvi_block_begin(s->groups, s->parts, part);
    const int64_t end = mgvi_block_begin(s->groups, s->parts, part + 1);
    for (int64_t q = first; q < end; q++) {
        const int next = q + 1 < end ? group_begin(s, q + 1) : s->size + group_begin(s, first);
        const int ahead = next - group_begin(s, q);
        score_group(job, q, ahead);
        sum_group(s, q, 0, s->d, ahead);
    }
}

/* With more threads than groups: first all scores, then strips of the gradients. */
static void score_part(void *arg, int64_t block)
{
    const work *job = arg;
    score_block(job->run, job->s, block, job->s->size);
}

static void strip_part(void *arg, int64_t part)
{
    mgvi_minibatch *s = ((const work *)arg)->s;
    const int64_t strips = (s->d + STRIP - 1) / STRIP, parts = s->parts / s->groups;
    const int64_t from = mgvi_block_begin(strips, parts, part / s->groups) * STRIP;
    const int64_t to = mgvi_block_begin(strips, parts, part / s->groups + 1) * STRIP;
    if (from < s->d)
        sum_group(s, part % s->groups, from, to < s->d ? to : s->d, s->size);
}

/* (3) for some classes. `step` and the gradients are per batch of BATCH rows; a shorter one weighs
 * less. The next scores start from b - mu'V. */
static void move_part(void *arg, int64_t part)
{
    mgvi_minibatch *s = ((const work *)arg)->s;
    const mgvi_momentum rule = {.keep = KEEP,
                                .decay = s->decay,
                                .groups = (int)s->groups,
                                .step = s->step,
                                .origin = s->origin};
    const int64_t parts = s->parts < s->k ? s->parts : s->k;
    MGVI_FOR_BLOCK (c, s->k, parts, part) {
        const float *g[MOST_GROUPS];
        const int64_t at = c * s->stride;
        float slope = 0;
        for (int64_t q = 0; q < s->groups; q++)
            g[q] = s->g + q * s->k * s->stride + at;
        for (int64_t b = 0; b < s->blocks; b++)
            slope += s->row_sums[b * s->width + c];
        const float shift =
            s->kernels->momentum(&rule, s->stride, g, slope, s->m + at, s->v + at, s->sum + at);
        s->bias_m[c] = KEEP * s->bias_m[c] - s->bias_step * slope;
        s->bias[c] += s->rows.view.intercept ? s->bias_m[c] : 0;
        s->bias_sum[c] += s->bias[c];
        s->start[c] = s->bias[c] - shift;
    }
}

static void run_batch(mgvi_run *run, mgvi_minibatch *s, int64_t first, int64_t end,
                      int64_t next_end)
{
    mgvi_pool *pool = run->ctx->pool;
    work job = {run, s};
    s->blocks = (end - first + BLOCK - 1) / BLOCK;
    s->row = s->order + first;
    s->size = (int)(end - first);
    s->next_size = (int)(next_end - end);
    for (int i = 0; s->rows.in_place && i < s->size + s->next_size; i++)
        s->x[i] = mgvi_float_row(&s->rows, s->row[i], NULL);
    if (s->parts <= s->groups) {
        mgvi_pool_run(pool, s->parts, gradient_part, &job);
    } else {
        mgvi_pool_run(pool, s->blocks, score_part, &job);
        mgvi_pool_run(pool, s->parts / s->groups * s->groups, strip_part, &job);
    }
    mgvi_pool_run(pool, s->parts < s->k ? s->parts : s->k, move_part, &job);
    run->touched += (double)s->size * (double)s->d;
}

/* ---- an epoch -------------------------------------------------------------------------------- */

/* (4) in the problem's units: V = t W. */
static void show(const mgvi_minibatch *s, int64_t batches, mgvi_vec *shown)
{
    for (int64_t j = 0; j < s->d; j++) {
        const double factor = 1 / ((double)batches * mgvi_view_scale(&s->rows.view, j));
        for (int32_t c = 0; c < s->k; c++)
            shown->x[j * s->k + c] = factor * (double)s->sum[c * s->stride + j];
    }
    for (int32_t c = 0; s->rows.view.intercept && c < s->k; c++)
        shown->x[s->d * s->k + c] = (double)s->bias_sum[c] / (double)batches;
}

mgv_status mgvi_minibatch_epoch(mgvi_run *run, mgvi_minibatch *s, mgvi_vec *shown)
{
    const int64_t batches = (s->count + BATCH - 1) / BATCH;
    memset(s->sum, 0, (size_t)(s->k * s->stride) * sizeof *s->sum);
    memset(s->bias_sum, 0, (size_t)s->width * sizeof *s->bias_sum);
    mgvi_rng_shuffle(&run->rng, s->order, s->count);
    int64_t done = 0;
    for (int64_t b = 0; b < batches && !(b > 0 && mgvi_ctx_cut(run->ctx)); b++, done++)
        run_batch(run, s, mgvi_block_begin(s->count, batches, b),
                  mgvi_block_begin(s->count, batches, b + 1),
                  b + 1 < batches ? mgvi_block_begin(s->count, batches, b + 2) : s->count);
    show(s, done, shown); /* a cut epoch is a shorter one */
    return isfinite(s->bias_sum[0]) && isfinite(s->sum[0])
               ? MGV_OK
               : MGVI_FAIL(run->ctx, MGV_E_NUMERIC,
                           "the weights grew without bound in epoch %" PRId64
                           "; columns of very different size? try --scale std",
                           run->iteration + 1);
}

/* ---- lengths of steps ------------------------------------------------------------------------ */

/* The rows that measure the curvature: every so many of those that train. */
typedef struct sample {
    const float **x;
    int64_t count;
    double *v, *next, *scale; /* d numbers; scale: the view's times (7) */
} sample;

static mgv_status take_sample(const mgvi_minibatch *s, mgvi_arena *arena, sample *out)
{
    enum { MOST = 1024 };
    out->count = s->count < MOST ? s->count : MOST;
    out->x = mgvi_arena_array(arena, (size_t)out->count, sizeof *out->x);
    out->v = mgvi_arena_array(arena, (size_t)s->d, sizeof *out->v);
    out->next = mgvi_arena_array(arena, (size_t)s->d, sizeof *out->next);
    out->scale = mgvi_arena_array(arena, (size_t)s->d, sizeof *out->scale);
    float *room = s->rows.in_place
                      ? NULL
                      : mgvi_arena_scratch(arena, (size_t)out->count, (size_t)s->d * sizeof *room);
    if (!out->x || !out->v || !out->next || !out->scale || (!s->rows.in_place && !room))
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < out->count && !mgvi_ctx_cut(arena->ctx); i++) /* rows may be long */
        out->x[i] = mgvi_float_row(&s->rows, s->order[mgvi_block_begin(s->count, out->count, i)],
                                   room ? room + i * s->d : NULL);
    return mgvi_ctx_whole(arena->ctx);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The scale of every column: the view's, and less where the deviation is more than SPREAD times the
 * median of all. Small columns stay small: they are noise more often than not.              (7) */
static void choose_scales(mgv_ctx *ctx, const mgvi_minibatch *s, const sample *a)
{
    int64_t varying = 0;
    for (int64_t j = 0; j < s->d; j++)
        a->next[j] = 0;
    for (int64_t i = 0; i < a->count && !mgvi_ctx_cut(ctx); i++)
        for (int64_t j = 0; j < s->d; j++) {
            const double x = (double)(a->x[i][j] - s->origin[j]);
            a->next[j] += x * x;
        }
    for (int64_t j = 0; j < s->d; j++) {
        a->scale[j] = mgvi_view_scale(&s->rows.view, j);
        a->next[j] = a->scale[j] * sqrt(a->next[j] / (double)a->count);
        if (a->next[j] > 0)
            a->v[varying++] = a->next[j];
    }
    if (varying == 0)
        return;
    qsort(a->v, (size_t)varying, sizeof *a->v, by_size);
    const double median = a->v[varying / 2];
    for (int64_t j = 0; j < s->d; j++)
        if (a->next[j] > 0)
            a->scale[j] *= fmin(1, median * SPREAD / a->next[j]);
}

/* One power step of the covariance of the scaled columns: |C v| for the unit vector v, which
 * becomes the next one.                                                                     (5) */
static double power_step(const mgvi_run *run, const mgvi_minibatch *s, const sample *a)
{
    const mgvi_simd *simd = run->ctx->simd;
    double at_centre = 0, sum = 0, square = 0;
    for (int64_t j = 0; j < s->d; j++) {
        a->v[j] *= a->scale[j];
        at_centre += a->v[j] * (double)s->origin[j];
        a->next[j] = 0;
    }
    for (int64_t i = 0; i < a->count && !mgvi_ctx_cut_row(run->ctx, i); i++) {
        const double y = simd->dot_f32(a->x[i], a->v, s->d) - at_centre;
        simd->axpy_f32(y, a->x[i], a->next, s->d);
        sum += y;
    }
    for (int64_t j = 0; j < s->d; j++) {
        a->v[j] = (a->next[j] - sum * (double)s->origin[j]) / (double)a->count;
        a->v[j] *= a->scale[j];
        square += a->v[j] * a->v[j];
    }
    const double length = sqrt(square);
    for (int64_t j = 0; length > 0 && j < s->d; j++)
        a->v[j] /= length;
    return length;
}

/* lambda_max of the scaled columns' covariance, by a few power steps. */
static double largest_variance(mgvi_run *run, const mgvi_minibatch *s, const sample *a)
{
    enum { POWER_STEPS = 8 };
    mgvi_rng rng = mgvi_rng_stream((uint64_t)run->settings->seed, 1);
    double length = 0;
    for (int64_t j = 0; j < s->d; j++)
        a->v[j] = mgvi_rng_normal(&rng) / sqrt((double)s->d);
    for (int q = 0; q < POWER_STEPS; q++)
        length = power_step(run, s, a);
    return length;
}

/* L = lambda_max(cov)/2 bounds the curvature of softmax (Bohning 1992), and step = .9/L.     (5) */
static mgv_status choose_steps(mgvi_run *run, mgvi_minibatch *s, mgvi_arena *arena)
{
    sample a;
    MGVI_TRY(take_sample(s, arena, &a));
    choose_scales(run->ctx, s, &a);
    const double length = largest_variance(run, s, &a);
    if (!isfinite(length))
        return MGVI_FAIL(run->ctx, MGV_E_NUMERIC,
                         "the columns are too large for float32; try --scale std");
    const double lambda = run->problem->lambda, curvature = 0.5 * length + lambda;
    const double rate = curvature > 0 ? SHORTEN / curvature : 0; /* 0: every column is constant */
    for (int64_t j = 0; j < s->d; j++) {
        const double own = s->rows.view.scale ? a.scale[j] / s->rows.view.scale[j] : a.scale[j];
        s->step[j] = (float)(rate * a.scale[j] * a.scale[j] / BATCH);
        s->decay[j] = (float)(rate * lambda * own * own); /* the penalty is in the view's units */
    }
    s->bias_step = (float)(SHORTEN / fmax(curvature, BIAS_CURVATURE) / BATCH);
    return MGV_OK;
}

/* ---- making ---------------------------------------------------------------------------------- */

static mgv_status choose_rows(mgvi_run *run, mgvi_minibatch *s)
{
    const mgvi_coef_array *weight = &run->problem->row.scale;
    double least = INFINITY, most = 0, total = 0;
    MGVI_TRY(MGVI_RUN_ARRAY(run, s->order, s->rows.view.rows));
    for (int64_t i = 0; i < s->rows.view.rows; i++) {
        const double w = mgvi_coef_pick(weight, i, 0);
        if (!(w > 0))
            continue;
        s->order[s->count++] = (int32_t)i;
        least = fmin(least, w);
        most = fmax(most, w);
        total += w;
    }
    s->weighted = least != most;
    s->weight_factor = (double)s->count / total;
    return MGV_OK;
}

static float *floats(mgvi_run *run, int64_t count, int64_t each)
{
    return mgvi_run_array(run, (size_t)count, (size_t)each * sizeof(float));
}

static mgv_status allocate(mgvi_run *run, mgvi_minibatch *s)
{
    const int64_t width = s->width;
    if (!(s->v = floats(run, s->k, s->stride)) || !(s->m = floats(run, s->k, s->stride)) ||
        !(s->sum = floats(run, s->k, s->stride)) ||
        !(s->g = floats(run, s->groups * s->k, s->stride)) || !(s->bias = floats(run, 4, width)) ||
        !(s->step = floats(run, 3, s->stride)) || !(s->p = floats(run, BATCH, width)) ||
        !(s->row_sums = floats(run, BATCH / BLOCK, width)) ||
        !(s->rows.in_place || (s->room = floats(run, BATCH, s->d))))
        return MGV_E_MEMORY;
    s->bias_m = s->bias + width;
    s->bias_sum = s->bias_m + width;
    s->start = s->bias_sum + width;
    s->decay = s->step + s->stride;
    s->origin = s->decay + s->stride;
    return MGV_OK;
}

/* The groups' gradients together take no more room than a batch. */
static int64_t groups_for(int32_t k)
{
    const int64_t groups = BATCH / k;
    return groups < 1 ? 1 : groups > MOST_GROUPS ? MOST_GROUPS : groups;
}

mgv_status mgvi_minibatch_new(mgvi_run *run, mgvi_minibatch **out)
{
    mgvi_minibatch *s = mgvi_run_array(run, 1, sizeof *s);
    *out = s;
    if (!s)
        return MGV_E_MEMORY;
    s->kernels = run->ctx->simd->pass;
    MGVI_TRY(mgvi_float_rows_new(run->problem->A, &run->arena, &s->rows));
    if (s->rows.view.rows > INT32_MAX)
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED, "%s takes at most 2^31 rows", run->ops->name);
    s->d = s->rows.m.cols;
    s->k = run->problem->lanes;
    s->width = (int)mgvi_pass_padded(s->kernels, s->k);
    s->stride = mgvi_pass_padded(s->kernels, s->d);
    s->groups = groups_for(s->k);
    s->parts = mgvi_pool_threads(run->ctx->pool);
    MGVI_TRY(choose_rows(run, s));
    MGVI_TRY(allocate(run, s));
    for (int64_t j = 0; j < s->d && s->rows.view.centre; j++)
        s->origin[j] = (float)s->rows.view.centre[j];
    for (int l = s->k; l < s->width; l++)
        s->start[l] = TOO_LOW;
    mgvi_arena arena;
    mgvi_arena_init(&arena, run->ctx);
    const mgv_status st = choose_steps(run, s, &arena);
    mgvi_arena_free(&arena);
    MGVI_TRY(st);
    const int64_t weights = s->k * s->stride;
    MGVI_TRY(mgvi_run_keep(run, "weights", MGVI_T_F32, s->v, weights));
    MGVI_TRY(mgvi_run_keep(run, "momentum", MGVI_T_F32, s->m, weights));
    MGVI_TRY(mgvi_run_keep(run, "bias", MGVI_T_F32, s->bias, 4 * (int64_t)s->width));
    return mgvi_run_keep(run, "order", MGVI_T_I32, s->order, s->count);
}

mgv_status mgvi_minibatch_restored(mgvi_run *run, const mgvi_minibatch *s)
{
    for (int64_t t = 0; t < s->count; t++)
        if (s->order[t] < 0 || s->order[t] >= s->rows.view.rows)
            return MGVI_FAIL(run->ctx, MGV_E_INPUT, "the state of %s is not valid", run->ops->name);
    return MGV_OK;
}
