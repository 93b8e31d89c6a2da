/* kernel_rough.c - float32 kernel values that are made where they are used and not kept.
 *
 * A copy of the points in float32, scaled so that a value is 2^-|x - z|^2 (laplace: 2^-|x - z|),
 * lies by columns in groups of 32: the value of a pair costs about d/8 + 2 vector instructions, as
 * much as reading it from memory at a dozen columns. Sparse points are written out. Values are off
 * by about 1e-7 of 1, more where the points lie far from their centre: good for steps, whose effect
 * is then measured in float64, not for certificates. */
#include "op/kernel_impl.h"

#include "base/limit.h"
#include "base/threads.h"
#include "simd/rough_points.h"
#include "simd/simd.h"

#include <math.h>
#include <string.h>

enum {
    GROUP = MGVI_ROUGH_GROUP,
    FOUR = MGVI_ROUGH_FOUR,
    MOST_COLUMNS = 256, /* beyond it a value costs so much that it had better be kept */
    GRAIN = 1 << 16,    /* values that a task makes, or entries that it lays out */
    MOST_TASKS = 256
};

struct mgvi_kernel_rough {
    int64_t d, groups;
    float *q;     /* all points, by groups */
    float *p, *c; /* those of a call in fours, and their weights */
    float *other; /* the same points by groups, for values among them */
    int64_t room; /* points that p and c hold */
    int64_t room_among;
};

static int64_t groups_of(int64_t rows) { return (rows + GROUP - 1) / GROUP; }
static int64_t fours_of(int64_t rows) { return (rows + FOUR - 1) / FOUR; }

/* |x|^2 times this is what stands in the exponent of 2. */
static double square_scale(const mgvi_kernel *k)
{
    const double log2_e = 0x1.71547652b82fep0;
    return k->kind == MGVI_KERNEL_RBF ? log2_e / (2 * k->sigma2) : log2_e * log2_e / k->sigma2;
}

bool mgvi_kernel_has_rough(const mgvi_kernel_op *k)
{
    static const double LONGEST = 1e30; /* squares of float32 differences are finite */
    return mgvi_kernel_of_differences(k->kernel.kind) && k->points->rows.cols <= MOST_COLUMNS &&
           k->points->longest * square_scale(&k->kernel) < LONGEST;
}

double mgvi_kernel_rough_bytes(const mgvi_kernel_op *k)
{
    return 4.0 * (double)(groups_of(k->op.rows) * GROUP) * (double)k->points->rows.cols;
}

/* ---- the copy -------------------------------------------------------------------------------- */

typedef struct copy_job {
    const mgvi_kernel_op *k;
    int64_t tasks;
    double *x; /* d numbers a task */
} copy_job;

static void copy_task(void *arg, int64_t task)
{
    const copy_job *job = arg;
    const mgvi_kernel_rough *r = job->k->rough;
    const double scale = sqrt(square_scale(&job->k->kernel));
    double *x = job->x + task * r->d;
    MGVI_FOR_BLOCK (g, r->groups, job->tasks, task)
        for (int64_t l = 0; l < GROUP; l++) {
            const int64_t i = g * GROUP + l;
            float *to = r->q + g * GROUP * r->d + l;
            if (i < job->k->op.rows)
                mgvi_points_expand(job->k->points, i, MGV_F64, x);
            else
                memset(x, 0, (size_t)r->d * sizeof *x);
            for (int64_t j = 0; j < r->d; j++)
                to[j * GROUP] = (float)(scale * x[j]);
        }
}

mgv_status mgvi_kernel_open_rough(mgvi_kernel_op *k)
{
    mgv_ctx *ctx = k->op.ctx;
    if (k->rough)
        return MGV_OK;
    mgvi_kernel_rough *r = k->rough = mgvi_new(ctx, sizeof *r);
    if (!r)
        return MGV_E_MEMORY;
    r->d = k->points->rows.cols;
    r->groups = groups_of(k->op.rows);
    copy_job job = {.k = k};
    job.tasks = mgvi_block_count(r->groups * GROUP * (r->d + 1), GRAIN, MOST_TASKS);
    r->q = mgvi_alloc(ctx, (size_t)(r->groups * GROUP * r->d) + 1, sizeof *r->q);
    job.x = mgvi_alloc(ctx, (size_t)(job.tasks * r->d) + 1, sizeof *job.x);
    const bool whole = r->q && job.x;
    if (whole)
        mgvi_ctx_run(ctx, job.tasks, copy_task, &job);
    mgvi_release(ctx, job.x);
    if (!whole)
        mgvi_kernel_rough_free(k);
    return whole ? mgvi_ctx_whole(ctx) : MGV_E_MEMORY;
}

void mgvi_kernel_rough_free(mgvi_kernel_op *k)
{
    mgvi_kernel_rough *r = k->rough;
    if (!r)
        return;
    mgvi_release(k->op.ctx, r->other);
    mgvi_release(k->op.ctx, r->c);
    mgvi_release(k->op.ctx, r->p);
    mgvi_release(k->op.ctx, r->q);
    mgvi_release(k->op.ctx, r);
    k->rough = NULL;
}

/* Room for so many points and half as many again. */
static mgv_status make_room(mgvi_kernel_op *k, int64_t count, bool among)
{
    mgvi_kernel_rough *r = k->rough;
    mgv_ctx *ctx = k->op.ctx;
    const int64_t wanted = (count + count / 2 + 2 * GROUP) / GROUP * GROUP;
    if (count > r->room) {
        r->room = 0;
        mgvi_release(ctx, r->p);
        mgvi_release(ctx, r->c);
        r->p = mgvi_alloc(ctx, (size_t)(wanted * r->d) + 1, sizeof *r->p);
        r->c = mgvi_alloc(ctx, (size_t)wanted, sizeof *r->c);
        if (!r->p || !r->c)
            return MGV_E_MEMORY;
        r->room = wanted;
    }
    if (among && count > r->room_among) {
        r->room_among = 0;
        mgvi_release(ctx, r->other);
        r->other = mgvi_alloc(ctx, (size_t)(wanted * r->d) + 1, sizeof *r->other);
        if (!r->other)
            return MGV_E_MEMORY;
        r->room_among = wanted;
    }
    return MGV_OK;
}

/* The listed points side by side, `side` of them together; what fills up the last is point 0. */
static void pack(const mgvi_kernel_rough *r, const int64_t *rows, int64_t count, int64_t side,
                 float *to)
{
    const int64_t whole = (count + side - 1) / side * side;
    for (int64_t s = 0; s < whole; s++) {
        const int64_t i = rows[s < count ? s : 0];
        const float *from = r->q + i / GROUP * GROUP * r->d + i % GROUP;
        float *x = to + s / side * side * r->d + s % side;
        for (int64_t j = 0; j < r->d; j++)
            x[j * side] = from[j * GROUP];
    }
}

/* ---- what is made of them -------------------------------------------------------------------- */

typedef struct rough_job {
    const mgvi_kernel_op *k;
    mgvi_rough_points points;
    int64_t groups, tasks;
    double *f;
    float *out;
    int64_t ld, count;
} rough_job;

static void add_task(void *arg, int64_t task)
{
    const rough_job *job = arg;
    const mgvi_kernel_rough *r = job->k->rough;
    const int64_t n = job->k->op.rows;
    mgvi_rough_points x = job->points;
    MGVI_FOR_BLOCK (g, job->groups, job->tasks, task) {
        double sums[GROUP] = {0};
        x.q = r->q + g * GROUP * r->d;
        job->k->op.ctx->simd->rough_points->sums(&x, r->c, sums);
        for (int64_t l = 0; l < GROUP && g * GROUP + l < n; l++)
            job->f[g * GROUP + l] += sums[l];
    }
}

mgv_status mgvi_kernel_rough_add(mgvi_kernel_op *k, const int64_t *rows, int64_t count,
                                 const double *c, double *f)
{
    mgvi_kernel_rough *r = k->rough;
    if (count == 0)
        return MGV_OK;
    MGVI_TRY(make_room(k, count, false));
    pack(r, rows, count, FOUR, r->p);
    for (int64_t s = 0; s < fours_of(count) * FOUR; s++)
        r->c[s] = s < count ? (float)c[s] : 0;
    rough_job job = {.k = k, .f = f, .groups = r->groups};
    job.points = (mgvi_rough_points){.p = r->p,
                                     .fours = fours_of(count),
                                     .d = r->d,
                                     .root = k->kernel.kind == MGVI_KERNEL_LAPLACE};
    job.tasks = mgvi_block_count(k->op.rows * count, GRAIN, r->groups);
    mgvi_ctx_run(k->op.ctx, job.tasks, add_task, &job);
    k->op.touched += (double)count * (double)k->op.rows;
    return mgvi_ctx_whole(k->op.ctx);
}

/* ---- K c of all points ----------------------------------------------------------------------- */

typedef struct whole_job {
    const mgvi_kernel_op *k;
    int64_t parts; /* of the groups, of about as many values each */
    double *sums;  /* of every part: a number for every point of all groups */
} whole_job;

/* The groups of a part with the points from their own on: beyond its own a value serves both. */
static void whole_task(void *arg, int64_t part)
{
    const whole_job *job = arg;
    const mgvi_kernel_rough *r = job->k->rough;
    const mgvi_simd *simd = job->k->op.ctx->simd;
    const int64_t end = mgvi_triangle_begin(r->groups, job->parts, part + 1),
                  points = r->groups * GROUP;
    double *sums = job->sums + part * points;
    mgvi_rough_points x = {.d = r->d, .root = job->k->kernel.kind == MGVI_KERNEL_LAPLACE};
    memset(sums, 0, (size_t)points * sizeof *sums);
    for (int64_t g = mgvi_triangle_begin(r->groups, job->parts, part);
         g < end && !mgvi_ctx_cut(job->k->op.ctx); g++) {
        const int64_t own = g * GROUP, next = own + GROUP;
        x.q = r->q + own * r->d;
        x.p = r->p + own * r->d;
        x.fours = GROUP / FOUR;
        simd->rough_points->sums(&x, r->c + own, sums + own);
        x.p = r->p + next * r->d;
        x.fours = (points - next) / FOUR;
        simd->rough_points->both(&x, r->c + next, r->c + own, sums + own, sums + next);
    }
}

/* All points in fours, up to the end of the last group. */
static mgv_status pack_all(mgvi_kernel_op *k)
{
    mgvi_kernel_rough *r = k->rough;
    const int64_t n = k->op.rows, points = r->groups * GROUP;
    for (int64_t i = 0; i < n; i++)
        k->support[i] = i;
    MGVI_TRY(make_room(k, points, false));
    pack(r, k->support, n, FOUR, r->p);
    memset(r->p + fours_of(n) * FOUR * r->d, 0,
           (size_t)((points - fours_of(n) * FOUR) * r->d) * sizeof *r->p);
    return MGV_OK;
}

mgv_status mgvi_kernel_rough_times(mgvi_kernel_op *k, const double *c, double *f)
{
    enum { MOST_PARTS = 32 };
    mgvi_kernel_rough *r = k->rough;
    const int64_t n = k->op.rows, points = r->groups * GROUP;
    whole_job job = {.k = k, .parts = mgvi_block_count(r->groups, 1, MOST_PARTS)};
    MGVI_TRY(pack_all(k));
    for (int64_t i = 0; i < points; i++)
        r->c[i] = i < n ? (float)c[i] : 0; /* nothing comes from what fills up the last group */
    job.sums = mgvi_alloc(k->op.ctx, (size_t)(job.parts * points), sizeof *job.sums);
    if (!job.sums)
        return MGV_E_MEMORY;
    mgvi_ctx_run(k->op.ctx, job.parts, whole_task, &job);
    memset(f, 0, (size_t)n * sizeof *f);
    for (int64_t part = 0; part < job.parts && !mgvi_ctx_was_cut(k->op.ctx); part++)
        for (int64_t i = mgvi_triangle_begin(r->groups, job.parts, part) * GROUP; i < n; i++)
            f[i] += job.sums[part * points + i];
    mgvi_release(k->op.ctx, job.sums);
    k->op.touched += (double)n * (double)n;
    return mgvi_ctx_whole(k->op.ctx);
}

/* ---- K times several vectors ----------------------------------------------------------------- */

/* Groups that meet a chunk of points together, so that its weights and sums stay in the cache. */
enum { SQUAD = 8, CHUNK = 4 * GROUP };

typedef struct lanes_job {
    const mgvi_kernel_op *k;
    int32_t lanes;
    int64_t width, squads, parts; /* lanes and what fills them up; squads in parts */
    const float *c;               /* points x width */
    double *sums;                 /* of every part: points x lanes */
    float *room;                  /* of every part: what a chunk and a group have so far */
} lanes_job;

/* What was summed in float32 joins the rest and is 0 again. */
static void flush(const lanes_job *job, int64_t points, float *from, double *to)
{
    for (int64_t i = 0; i < points; i++)
        for (int32_t c = 0; c < job->lanes; c++)
            to[i * job->lanes + c] += (double)from[i * job->width + c];
    memset(from, 0, (size_t)(points * job->width) * sizeof *from);
}

/* Values of group g and `count` points from `first` on; beyond its own a value serves both. */
static void meet(const lanes_job *job, int64_t g, int64_t first, int64_t count, double *sums,
                 float *near, float *far)
{
    float v[CHUNK * GROUP];
    const mgvi_kernel_rough *r = job->k->rough;
    const mgvi_rough_points x = {.d = r->d,
                                 .root = job->k->kernel.kind == MGVI_KERNEL_LAPLACE,
                                 .q = r->q + g * GROUP * r->d,
                                 .p = r->p + first * r->d,
                                 .fours = count / FOUR};
    const mgvi_rough_lanes lanes = {.v = v,
                                    .count = count,
                                    .width = job->width,
                                    .c_p = job->c + first * job->width,
                                    .c_q = job->c + g * GROUP * job->width};
    job->k->op.ctx->simd->rough_points->values(&x, v, GROUP);
    job->k->op.ctx->simd->rough_points->lanes(&lanes, near, far);
    flush(job, GROUP, near, sums + g * GROUP * job->lanes);
}

/* The squads of a part with the points from their own on. */
static void lanes_task(void *arg, int64_t part)
{
    const lanes_job *job = arg;
    const int64_t groups = job->k->rough->groups, points = groups * GROUP;
    double *sums = job->sums + part * points * job->lanes;
    float *near = job->room + part * (GROUP + CHUNK) * job->width, *far = near + GROUP * job->width;
    memset(sums, 0, (size_t)(points * job->lanes) * sizeof *sums);
    memset(near, 0, (size_t)((GROUP + CHUNK) * job->width) * sizeof *near);
    /* a part takes squads from both ends, which have many and few points before them */
    for (int64_t t = part; t < job->squads; t += job->parts) {
        const int64_t g = t * SQUAD, rest = groups - g, end = g + (rest < SQUAD ? rest : SQUAD);
        for (int64_t own = g; own < end; own++) {
            meet(job, own, own * GROUP, GROUP, sums, near, NULL);
            for (int64_t other = own + 1; other < end; other++) {
                meet(job, own, other * GROUP, GROUP, sums, near, far);
                flush(job, GROUP, far, sums + other * GROUP * job->lanes);
            }
        }
        for (int64_t first = end * GROUP, count; first < points; first += count) {
            if (mgvi_ctx_cut(job->k->op.ctx))
                return;
            count = points - first < CHUNK ? points - first : CHUNK;
            for (int64_t own = g; own < end; own++)
                meet(job, own, first, count, sums, near, far);
            flush(job, count, far, sums + first * job->lanes);
        }
    }
}

mgv_status mgvi_kernel_rough_lanes(mgvi_kernel_op *k, const double *c, int32_t lanes, double *f)
{
    enum { MOST_PARTS = 32, LEAST_PARTS = 4, MOST_SUMS = 1 << 23 };
    const int64_t n = k->op.rows, points = k->rough->groups * GROUP;
    lanes_job job = {.k = k, .lanes = lanes, .squads = (k->rough->groups + SQUAD - 1) / SQUAD};
    mgvi_arena arena;
    if (lanes == 1)
        return mgvi_kernel_rough_times(k, c, f);
    job.width = (lanes + MGVI_ROUGH_WIDTH - 1) / MGVI_ROUGH_WIDTH * MGVI_ROUGH_WIDTH;
    job.parts = MOST_SUMS / (points * lanes);
    job.parts = job.parts < LEAST_PARTS ? LEAST_PARTS : job.parts;
    job.parts = mgvi_block_count(job.squads, 1, job.parts < MOST_PARTS ? job.parts : MOST_PARTS);
    MGVI_TRY(pack_all(k));
    mgvi_arena_init(&arena, k->op.ctx);
    float *weights = mgvi_arena_array(&arena, (size_t)points, (size_t)job.width * sizeof *weights);
    job.sums =
        mgvi_arena_scratch(&arena, (size_t)(job.parts * points), (size_t)lanes * sizeof *job.sums);
    job.room = mgvi_arena_array(&arena, (size_t)(job.parts * (GROUP + CHUNK)),
                                (size_t)job.width * sizeof *job.room);
    const bool whole = weights && job.sums && job.room;
    for (int64_t i = 0; whole && i < n; i++)
        for (int32_t l = 0; l < lanes; l++)
            weights[i * job.width + l] = (float)c[i * lanes + l];
    job.c = weights;
    if (whole) {
        mgvi_ctx_run(k->op.ctx, job.parts, lanes_task, &job);
        memcpy(f, job.sums, (size_t)(n * lanes) * sizeof *f);
        for (int64_t part = 1; part < job.parts && !mgvi_ctx_was_cut(k->op.ctx); part++)
            for (int64_t t = 0; t < n * lanes; t++)
                f[t] += job.sums[part * points * lanes + t];
    }
    mgvi_arena_free(&arena);
    k->op.touched += (double)n * (double)n;
    return whole ? mgvi_ctx_whole(k->op.ctx) : MGV_E_MEMORY;
}

/* ---- values among some ----------------------------------------------------------------------- */

/* Columns of a group of the points against those from the group's first on: K is symmetric. */
static void among_task(void *arg, int64_t g)
{
    const rough_job *job = arg;
    const mgvi_kernel_rough *r = job->k->rough;
    mgvi_rough_points x = job->points;
    float some[FOUR * GROUP];
    const int64_t first = g * GROUP, left = job->count - first;
    const int64_t width = left < GROUP ? left : GROUP;
    x.q = r->other + first * r->d;
    x.fours = 1;
    for (int64_t s = first; s < job->count; s += FOUR) {
        x.p = r->p + s * r->d;
        job->k->op.ctx->simd->rough_points->values(&x, some, GROUP);
        for (int64_t t = 0; t < FOUR && s + t < job->count; t++) {
            memcpy(job->out + (s + t) * job->ld + first, some + t * GROUP,
                   (size_t)width * sizeof *some);
            for (int64_t l = 0; l < width; l++)
                job->out[(first + l) * job->ld + s + t] = some[t * GROUP + l];
        }
    }
}

mgv_status mgvi_kernel_rough_among(mgvi_kernel_op *k, const int64_t *rows, int64_t count,
                                   float *out, int64_t ld)
{
    mgvi_kernel_rough *r = k->rough;
    if (count == 0)
        return MGV_OK;
    MGVI_TRY(make_room(k, count, true));
    pack(r, rows, count, FOUR, r->p);
    pack(r, rows, count, GROUP, r->other);
    rough_job job = {.k = k, .out = out, .ld = ld, .count = count};
    job.points = (mgvi_rough_points){.d = r->d, .root = k->kernel.kind == MGVI_KERNEL_LAPLACE};
    mgvi_ctx_run(k->op.ctx, groups_of(count), among_task, &job);
    k->op.touched += 0.5 * (double)count * (double)count;
    return mgvi_ctx_whole(k->op.ctx);
}
