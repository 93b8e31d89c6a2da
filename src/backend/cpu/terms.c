/* cpu/terms.c - the loops over the formulas of list.h, one per term and function, with the formula
 * inlined. A block of rows is cut into tiles: coefficients and results of a tile lie in the first
 * cache, contiguous whatever the lanes, so every inner loop is the same and is vectorised. */
#include "backend/cpu/cpu.h"
#include "backend/joint_terms.h"

#include "base/limit.h"

#include "base/threads.h"
#include "loss/list.h"
#include "penalty/list.h"

#include <assert.h>
#include <string.h>

enum {
    TILE = 256,          /* elements: seven tiles of float64 are 14 KiB */
    GRAIN = 1 << 14,     /* elements per block, at least */
    MOST_BLOCKS = 64,    /* enough for any machine's threads, few enough to add up */
    MOST_PARTIAL = 4096, /* numbers of all blocks' partial sums, on the caller's stack */
    LINE = MGVI_ALIGN / (int)sizeof(double)
};

/* ---- One loop per term and function --------------------------------------------------------- */
/* y[j] = f(c_j, x[j]), f(c_j, x[j], step[j]) or f(c_j, x[j], z[j], step[j]) for j < m <= TILE. */
typedef void (*tile_fn)(const double *restrict scale, const double *restrict a,
                        const double *restrict b, const double *restrict x,
                        const double *restrict z, const double *restrict step, double *restrict y,
                        int m);

#define TILE_LOOP(name, CALL)                                                                      \
    static void name(const double *restrict scale, const double *restrict a,                       \
                     const double *restrict b, const double *restrict x, const double *restrict z, \
                     const double *restrict step, double *restrict y, int m)                       \
    {                                                                                              \
        (void)z;                                                                                   \
        (void)step;                                                                                \
        for (int j = 0; j < m; j++) {                                                              \
            const mgvi_coef c = {scale[j], a[j], b[j]};                                            \
            y[j] = CALL;                                                                           \
        }                                                                                          \
    }

typedef struct loops {
    tile_fn of[MGVI_TERM_FNS];
} loops;

#define LOSS_LOOPS(NAME, SAMPLE, SUMMARY)                                                          \
    TILE_LOOP(loss_##NAME##_value, NAME##_value(c, x[j]))                                          \
    TILE_LOOP(loss_##NAME##_conj, NAME##_conj(c, x[j]))                                            \
    TILE_LOOP(loss_##NAME##_grad, NAME##_grad(c, x[j]))                                            \
    TILE_LOOP(loss_##NAME##_curv, NAME##_curv(c, x[j]))                                            \
    TILE_LOOP(loss_##NAME##_prox, NAME##_prox(c, x[j], step[j]))                                   \
    TILE_LOOP(loss_##NAME##_dual_clip, NAME##_dual_clip(c, x[j]))                                  \
    TILE_LOOP(loss_##NAME##_dual_step, NAME##_dual_step(c, x[j], z[j], step[j]))
#define LOSS_ENTRY(NAME, SAMPLE, SUMMARY)                                                          \
    {{[MGVI_TERM_VALUE] = loss_##NAME##_value,                                                     \
      [MGVI_TERM_CONJ] = loss_##NAME##_conj,                                                       \
      [MGVI_TERM_GRAD] = loss_##NAME##_grad,                                                       \
      [MGVI_TERM_CURV] = loss_##NAME##_curv,                                                       \
      [MGVI_TERM_PROX] = loss_##NAME##_prox,                                                       \
      [MGVI_TERM_DUAL_CLIP] = loss_##NAME##_dual_clip,                                             \
      [MGVI_TERM_DUAL_STEP] = loss_##NAME##_dual_step}},
#define PENALTY_LOOPS(NAME, SAMPLE, SUMMARY)                                                       \
    TILE_LOOP(penalty_##NAME##_value, NAME##_value(c, x[j]))                                       \
    TILE_LOOP(penalty_##NAME##_conj, NAME##_conj(c, x[j]))                                         \
    TILE_LOOP(penalty_##NAME##_prox, NAME##_prox(c, x[j], step[j]))                                \
    TILE_LOOP(penalty_##NAME##_mirror, NAME##_mirror(c, x[j]))
#define PENALTY_ENTRY(NAME, SAMPLE, SUMMARY)                                                       \
    {{[MGVI_TERM_VALUE] = penalty_##NAME##_value,                                                  \
      [MGVI_TERM_CONJ] = penalty_##NAME##_conj,                                                    \
      [MGVI_TERM_PROX] = penalty_##NAME##_prox,                                                    \
      [MGVI_TERM_MIRROR] = penalty_##NAME##_mirror}},

MGVI_LOSSES(LOSS_LOOPS)
MGVI_PENALTIES(PENALTY_LOOPS)
static const loops losses[] = {MGVI_LOSSES(LOSS_ENTRY)};
static const loops penalties[] = {MGVI_PENALTIES(PENALTY_ENTRY)};

/* ---- Tiles ---------------------------------------------------------------------------------- */
typedef struct sweep {
    tile_fn loop;
    const mgvi_coefs *coefs;
    const double *x;
    const double *z; /* the second argument, where there is one */
    mgvi_coef_array step;
    int64_t n, blocks;
    int32_t k;
    double *y;       /* elementwise result, or */
    double *partial; /* `stride` sums per block */
    int64_t stride;
} sweep;

/* A tile: `rows` whole rows from `row` on, or, where a row is longer than a tile, `lanes` lanes of
 * one row from `lane` on. Its elements are contiguous. */
typedef struct tile {
    int64_t row;
    int32_t lane;
    int rows, lanes;
} tile;

static tile tile_at(int64_t row, int32_t lane, int64_t end, int32_t k)
{
    if (k > TILE)
        return (tile){row, lane, 1, k - lane < TILE ? k - lane : TILE};
    const int most = TILE / k;
    return (tile){row, 0, end - row < most ? (int)(end - row) : most, k};
}

/* The tile's coefficients: in place where they lie contiguous, else spread over the lanes. A
 * constant fills `room` once, at the block's beginning. */
static const double *coef_tile(const mgvi_coef_array *c, int32_t k, const tile *t, double *room)
{
    if (!c->values)
        return room;
    if (c->lanes == k)
        return c->values + t->row * k + t->lane;
    for (int i = 0; i < t->rows; i++)
        for (int j = 0; j < t->lanes; j++)
            room[i * t->lanes + j] = c->values[t->row + i];
    return room;
}

static void fill_constant(const mgvi_coef_array *c, double *room)
{
    if (!c->values)
        for (int j = 0; j < TILE; j++)
            room[j] = c->constant;
}

/* LINE interleaved sums, which the compiler keeps in vectors. */
static double sum_tile(const double *y, int m)
{
    double part[LINE] = {0};
    int j = 0;
    for (; j + LINE <= m; j += LINE)
        for (int t = 0; t < LINE; t++)
            part[t] += y[j + t];
    for (; j < m; j++)
        part[j % LINE] += y[j];
    for (int width = LINE / 2; width; width /= 2)
        for (int t = 0; t < width; t++)
            part[t] += part[t + width];
    return part[0];
}

/* Adds the tile's sums, one per lane. A tile is summed before it is added: the error grows with the
 * number of tiles, not of rows. */
static void add_tile(const double *y, const tile *t, double *restrict sums)
{
    if (t->lanes == 1) {
        sums[t->lane] += sum_tile(y, t->rows);
        return;
    }
    double part[TILE];
    memcpy(part, y, (size_t)t->lanes * sizeof *part);
    for (int i = 1; i < t->rows; i++)
        for (int j = 0; j < t->lanes; j++)
            part[j] += y[i * t->lanes + j];
    for (int j = 0; j < t->lanes; j++)
        sums[t->lane + j] += part[j];
}

static void run_tile(const sweep *job, const tile *t, double room[4][TILE], double *sums)
{
    double y[TILE];
    const int m = t->rows * t->lanes;
    const int64_t at = t->row * job->k + t->lane;
    const double *scale = coef_tile(&job->coefs->scale, job->k, t, room[0]);
    const double *a = coef_tile(&job->coefs->a, job->k, t, room[1]);
    const double *b = coef_tile(&job->coefs->b, job->k, t, room[2]);
    const double *step = coef_tile(&job->step, job->k, t, room[3]);
    job->loop(scale, a, b, job->x + at, (job->z ? job->z : job->x) + at, step, y, m);
    if (sums)
        add_tile(y, t, sums);
    else /* by way of the tile: the result may replace the argument */
        memcpy(job->y + at, y, (size_t)m * sizeof *y);
}

static void run_block(void *arg, int64_t block)
{
    const sweep *job = arg;
    double room[4][TILE];
    fill_constant(&job->step, room[3]);
    fill_constant(&job->coefs->scale, room[0]);
    fill_constant(&job->coefs->a, room[1]);
    fill_constant(&job->coefs->b, room[2]);
    double *sums = job->partial ? job->partial + block * job->stride : NULL;
    int64_t row = mgvi_block_begin(job->n, job->blocks, block);
    const int64_t end = mgvi_block_begin(job->n, job->blocks, block + 1);
    for (int32_t lane = 0; row < end;) {
        const tile t = tile_at(row, lane, end, job->k);
        run_tile(job, &t, room, sums);
        lane += t.lanes;
        if (lane == job->k) {
            lane = 0;
            row += t.rows;
        }
    }
}

static inline bool fits(const mgvi_coef_array *c, const mgvi_vec *x)
{
    return !c->values || c->lanes == 1 || c->lanes == x->k;
}

static sweep job_of(tile_fn loop, const mgvi_coefs *c, const mgvi_vec *x)
{
    assert(fits(&c->scale, x) && fits(&c->a, x) && fits(&c->b, x));
    return (sweep){.loop = loop,
                   .coefs = c,
                   .x = x->x,
                   .n = x->n,
                   .k = x->k,
                   .blocks = mgvi_block_count(x->n * x->k, GRAIN, MOST_BLOCKS)};
}

/* z and step may be NULL. */
static void map(mgv_ctx *ctx, tile_fn loop, const mgvi_coefs *c, const mgvi_vec *x,
                const mgvi_vec *z, const mgvi_coef_array *step, mgvi_vec *y)
{
    sweep job = job_of(loop, c, x);
    if (step)
        job.step = *step;
    assert(fits(&job.step, x));
    job.z = z ? z->x : NULL;
    job.y = y->x;
    mgvi_ctx_run(ctx, job.blocks, run_block, &job);
}

/* A block's sums fill whole cache lines of their own; the blocks are added in order. Very many
 * lanes mean fewer blocks, at the end one that needs no room. */
static void sum(mgv_ctx *ctx, tile_fn loop, const mgvi_coefs *c, const mgvi_vec *x, double *out)
{
    _Alignas(MGVI_ALIGN) double room[MOST_PARTIAL];
    sweep job = job_of(loop, c, x);
    job.stride = ((int64_t)x->k + LINE - 1) / LINE * LINE;
    if (job.blocks > MOST_PARTIAL / job.stride)
        job.blocks = MOST_PARTIAL / job.stride;
    memset(out, 0, (size_t)x->k * sizeof *out);
    if (job.blocks <= 1) {
        job.blocks = 1;
        job.partial = out;
        run_block(&job, 0);
        return;
    }
    job.partial = room;
    memset(room, 0, (size_t)(job.blocks * job.stride) * sizeof *room);
    mgvi_ctx_run(ctx, job.blocks, run_block, &job);
    for (int64_t block = 0; block < job.blocks; block++)
        for (int32_t lane = 0; lane < x->k; lane++)
            out[lane] += room[block * job.stride + lane];
}

/* ---- losses and coefficients ----------------------------------------------------------------- */
TILE_LOOP(weigh_tile, c.scale *x[j])
TILE_LOOP(less_tile, x[j] - c.a)
TILE_LOOP(leave_out_tile, c.scale > 0 ? x[j] : c.a)

void mgvi_cpu_coef_map(mgv_ctx *ctx, mgvi_coef_fn fn, const mgvi_coefs *c, const mgvi_vec *x,
                       mgvi_vec *out)
{
    static const tile_fn tiles[] = {[MGVI_COEF_WEIGH] = weigh_tile,
                                    [MGVI_COEF_LESS] = less_tile,
                                    [MGVI_COEF_LEAVE_OUT] = leave_out_tile};
    map(ctx, tiles[fn], c, x, NULL, NULL, out);
}

void mgvi_cpu_loss_map(mgv_ctx *ctx, const mgvi_loss_ops *loss, mgvi_term_fn fn,
                       const mgvi_coefs *c, const mgvi_vec *x, const mgvi_vec *z,
                       const mgvi_coef_array *step, mgvi_vec *out)
{
    if (loss->joint && fn == MGVI_TERM_GRAD)
        mgvi_joint_grad(ctx, loss, c, x, out);
    else if (loss->joint && fn == MGVI_TERM_DUAL_CLIP)
        mgvi_joint_dual_clip(ctx, c, out); /* which is x */
    else
        map(ctx, losses[loss->index].of[fn], c, x, z, step, out);
}

void mgvi_cpu_loss_sum(mgv_ctx *ctx, const mgvi_loss_ops *loss, mgvi_term_fn fn,
                       const mgvi_coefs *c, const mgvi_vec *x, double *out)
{
    if (!loss->joint) {
        sum(ctx, losses[loss->index].of[fn], c, x, out);
        return;
    }
    memset(out, 0, (size_t)x->k * sizeof *out);
    out[0] = (fn == MGVI_TERM_VALUE ? mgvi_joint_value : mgvi_joint_conj)(ctx, loss, c, x);
}

/* ---- Penalties: by coordinate, or a whole lane at a time ------------------------------------ */
/* What a whole function is told about a lane of x, and where the lane lies contiguous. */
typedef struct lane_view {
    mgvi_whole self;
    const double *in;
    double *out;
} lane_view;

static lane_view lane_open(const mgvi_penalty *r, const mgvi_vec *x, int32_t lane, mgvi_vec *y)
{
    lane_view v = {.self = {.ctx = r->ctx,
                            .c = mgvi_coefs_at(r->coefs, 0, lane),
                            .n = x->n,
                            .data = r->data,
                            .work = r->work,
                            .error = r->error},
                   .in = x->x,
                   .out = y ? y->x : NULL};
    if (x->k == 1)
        return v;
    for (int64_t i = 0; i < x->n; i++)
        r->work[i] = x->x[i * x->k + lane];
    v.in = r->work;
    v.out = r->work + x->n;
    v.self.work = r->work + 2 * x->n + lane * r->room;
    return v;
}

static void lane_store(const lane_view *v, int32_t lane, mgvi_vec *y)
{
    for (int64_t i = 0; i < y->n && y->k > 1; i++)
        y->x[i * y->k + lane] = v->out[i];
}

typedef double (*whole_number)(const mgvi_whole *self, const double *x);

static void each_lane(const mgvi_penalty *r, whole_number f, const mgvi_vec *x, double *out)
{
    for (int32_t lane = 0; lane < x->k; lane++) {
        const lane_view v = lane_open(r, x, lane, NULL);
        out[lane] = f(&v.self, v.in);
    }
}

void mgvi_cpu_penalty_sum(const mgvi_penalty *r, mgvi_term_fn fn, const mgvi_vec *x, double *out)
{
    const mgvi_whole_ops *whole = r->ops->whole;
    if (whole)
        each_lane(r, fn == MGVI_TERM_VALUE ? whole->value : whole->conj, x, out);
    else
        sum(r->ctx, penalties[r->ops->index].of[fn], r->coefs, x, out);
}

void mgvi_cpu_penalty_map(const mgvi_penalty *r, mgvi_term_fn fn, const mgvi_vec *x,
                          const mgvi_coef_array *step, mgvi_vec *out)
{
    const mgvi_whole_ops *whole = r->ops->whole;
    if (!whole) {
        map(r->ctx, penalties[r->ops->index].of[fn], r->coefs, x, NULL, step, out);
        return;
    }
    for (int32_t lane = 0; lane < x->k; lane++) {
        const lane_view at = lane_open(r, x, lane, out);
        if (fn == MGVI_TERM_PROX)
            whole->prox(&at.self, at.in, step->constant, at.out);
        else
            whole->mirror(&at.self, at.in, at.out);
        lane_store(&at, lane, out);
    }
}

void mgvi_cpu_penalty_dual_scale(const mgvi_penalty *r, const mgvi_vec *v, double *out)
{
    each_lane(r, r->ops->whole->dual_scale, v, out);
}
