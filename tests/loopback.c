/* loopback.c - every operation is the cpu's, on the rows of one rank after the other. */
#include "loopback.h"

#include "op/op.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 2, MOST_BUFFERS = 1 << 16 };

/* Added to an address: nothing is there. */
static const uintptr_t AWAY = (uintptr_t)1 << 62;

/* ---- memory ---------------------------------------------------------------------------------- */
typedef struct buffer {
    double *own, *mirror; /* the numbers, and the copy that the doors give */
    int64_t count;
} buffer;
static buffer buffers[MOST_BUFFERS];
static int buffer_count;

static void demand(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "loopback: %s\n", what);
    abort();
}

static double *lb_alloc(mgvi_arena *arena, int64_t count)
{
    double *own = mgvi_arena_array(arena, (size_t)count + 1, sizeof *own);
    double *mirror = mgvi_arena_array(arena, (size_t)count + 1, sizeof *mirror);
    if (!own || !mirror)
        return NULL;
    demand(buffer_count < MOST_BUFFERS, "too many vectors");
    buffers[buffer_count++] = (buffer){own, mirror, count};
    return (double *)((uintptr_t)own + AWAY);
}

static double *address(const mgvi_vec *x)
{
    demand(x->at == &mgv_loopback, "a vector of the host's where one of its own was due");
    return (double *)((uintptr_t)x->x - AWAY);
}

/* The copy's place. Memory of an arena that was freed is used again: the last one counts. */
static double *mirror(const mgvi_vec *x)
{
    const double *own = address(x);
    for (int i = buffer_count - 1; i >= 0; i--)
        if (own >= buffers[i].own && own <= buffers[i].own + buffers[i].count)
            return buffers[i].mirror + (own - buffers[i].own);
    demand(false, "a vector that nobody made");
    return NULL;
}

/* Copies are not good any more. */
static void changed(const mgvi_vec *x)
{
    double *copy = mirror(x);
    for (int64_t i = 0; i < x->n * x->k; i++)
        copy[i] = NAN;
}

static double *lb_open(mgvi_vec *x)
{
    double *copy = mirror(x);
    if (x->n > 0)
        memcpy(copy, address(x), (size_t)(x->n * x->k) * sizeof *copy);
    return copy;
}

static const double *lb_host(const mgvi_vec *x)
{
    mgvi_vec v = *x;
    return lb_open(&v);
}

static void lb_close(mgvi_vec *x)
{
    if (x->n > 0)
        memcpy(address(x), mirror(x), (size_t)(x->n * x->k) * sizeof(double));
    changed(x);
}

static void lb_upload(mgv_ctx *ctx, const double *from, mgvi_vec *x)
{
    (void)ctx;
    memcpy(address(x), from, (size_t)(x->n * x->k) * sizeof *from);
    changed(x);
}

static void lb_download(mgv_ctx *ctx, const mgvi_vec *x, double *to)
{
    (void)ctx;
    memcpy(to, address(x), (size_t)(x->n * x->k) * sizeof *to);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* What rank `r` has of x; it has all of the columns. */
static int64_t begin_of(const mgvi_vec *x, int r)
{
    return x->space == MGVI_ROWS ? x->n * r / RANKS : r == 0 ? 0 : x->n;
}

static mgvi_vec part_of(const mgvi_vec *x, int r)
{
    const int64_t begin = begin_of(x, r), end = begin_of(x, r + 1);
    return (mgvi_vec){
        .x = address(x) + begin * x->k, .n = end - begin, .k = x->k, .space = x->space};
}

static mgvi_coef_array coefs_part(const mgvi_coef_array *c, int64_t begin)
{
    mgvi_coef_array out = *c;
    if (out.values)
        out.values += begin * out.lanes;
    return out;
}

static mgvi_coefs coefs_of(const mgvi_coefs *c, const mgvi_vec *x, int r)
{
    const int64_t begin = begin_of(x, r);
    return (mgvi_coefs){.scale = coefs_part(&c->scale, begin),
                        .a = coefs_part(&c->a, begin),
                        .b = coefs_part(&c->b, begin)};
}

/* The second rank's numbers wait here for those of the first. */
static double *waiting;
static int64_t waiting_count, joins;

int64_t mgv_loopback_joins(void) { return joins; }

static double *wait_for(int64_t count)
{
    demand(!waiting, "sums of rows that were not joined");
    waiting = calloc((size_t)count + 1, sizeof *waiting);
    demand(waiting, "no memory");
    waiting_count = count;
    return waiting;
}

static double join(mgvi_reduction what, double a, double b)
{
    if (what == MGVI_REDUCE_MIN)
        return isnan(a) || a < b ? a : b;
    if (what == MGVI_REDUCE_ABS_MAX)
        return isnan(a) || a > b ? a : b;
    return a + b;
}

static void lb_all_reduce(mgv_ctx *ctx, mgvi_reduction what, int64_t count, double *values)
{
    (void)ctx;
    demand(waiting && waiting_count == count, "a join of what was not summed up");
    for (int64_t i = 0; i < count; i++)
        values[i] = join(what, values[i], waiting[i]);
    free(waiting);
    waiting = NULL;
    joins++;
}

/* Where rank r leaves its sums. */
static double *sums_of(const mgvi_vec *x, int r, int64_t count, double *out)
{
    return r == 0 ? out : x->space == MGVI_ROWS ? wait_for(count) : NULL;
}

/* ---- elements -------------------------------------------------------------------------------- */
static void lb_fill(mgv_ctx *ctx, mgvi_vec *y, double value)
{
    for (int r = 0; r < RANKS; r++) {
        mgvi_vec to = part_of(y, r);
        mgvi_backend_cpu.fill(ctx, &to, value);
    }
    changed(y);
}

static void lb_copy(mgv_ctx *ctx, const mgvi_vec *x, mgvi_vec *y)
{
    for (int r = 0; r < RANKS; r++) {
        const mgvi_vec from = part_of(x, r);
        mgvi_vec to = part_of(y, r);
        mgvi_backend_cpu.copy(ctx, &from, &to);
    }
    changed(y);
}

static void lb_scale(mgv_ctx *ctx, double a, mgvi_vec *y)
{
    for (int r = 0; r < RANKS; r++) {
        mgvi_vec to = part_of(y, r);
        mgvi_backend_cpu.scale(ctx, a, &to);
    }
    changed(y);
}

static void lb_axpby(mgv_ctx *ctx, double a, const mgvi_vec *x, double b, mgvi_vec *y)
{
    for (int r = 0; r < RANKS; r++) {
        const mgvi_vec from = part_of(x, r);
        mgvi_vec to = part_of(y, r);
        mgvi_backend_cpu.axpby(ctx, a, &from, b, &to);
    }
    changed(y);
}

static void lb_add(mgv_ctx *ctx, double a, const mgvi_vec *x, double b, const mgvi_vec *y,
                   mgvi_vec *out)
{
    for (int r = 0; r < RANKS; r++) {
        const mgvi_vec first = part_of(x, r), second = part_of(y, r);
        mgvi_vec to = part_of(out, r);
        mgvi_backend_cpu.add(ctx, a, &first, b, &second, &to);
    }
    changed(out);
}

static void lb_multiply(mgv_ctx *ctx, const mgvi_vec *x, const mgvi_vec *y, mgvi_vec *out)
{
    for (int r = 0; r < RANKS; r++) {
        const mgvi_vec first = part_of(x, r), second = part_of(y, r);
        mgvi_vec to = part_of(out, r);
        mgvi_backend_cpu.multiply(ctx, &first, &second, &to);
    }
    changed(out);
}

static void lb_split(mgv_ctx *ctx, const mgvi_vec *x, double bound, double low, double high,
                     mgvi_vec *out)
{
    for (int r = 0; r < RANKS; r++) {
        const mgvi_vec from = part_of(x, r);
        mgvi_vec to = part_of(out, r);
        mgvi_backend_cpu.split(ctx, &from, bound, low, high, &to);
    }
    changed(out);
}

static void lb_clip(mgv_ctx *ctx, double low, double high, mgvi_vec *y)
{
    for (int r = 0; r < RANKS; r++) {
        mgvi_vec to = part_of(y, r);
        mgvi_backend_cpu.clip(ctx, low, high, &to);
    }
    changed(y);
}

/* Groups are of the rows of another operator than the data's: one rank has them. */
static void lb_project(mgv_ctx *ctx, int64_t size, double radius, mgvi_vec *v, mgvi_vec *step)
{
    mgvi_vec at = *v, by = *step;
    at.x = address(v);
    by.x = address(step);
    at.at = by.at = NULL;
    mgvi_backend_cpu.project(ctx, size, radius, &at, &by);
    changed(v);
    changed(step);
}

static void lb_reduce(mgv_ctx *ctx, mgvi_reduction what, const mgvi_vec *x, const mgvi_vec *y,
                      double *out)
{
    for (int r = 0; r < RANKS; r++) {
        const mgvi_vec first = part_of(x, r), second = y ? part_of(y, r) : first;
        double *to = sums_of(x, r, x->k, out);
        if (to)
            mgvi_backend_cpu.reduce(ctx, what, &first, y ? &second : NULL, to);
    }
}

/* ---- terms ----------------------------------------------------------------------------------- */
static void lb_coef_map(mgv_ctx *ctx, mgvi_coef_fn fn, const mgvi_coefs *c, const mgvi_vec *x,
                        mgvi_vec *out)
{
    for (int r = 0; r < RANKS; r++) {
        const mgvi_vec from = part_of(x, r);
        const mgvi_coefs of = coefs_of(c, x, r);
        mgvi_vec to = part_of(out, r);
        mgvi_backend_cpu.coef_map(ctx, fn, &of, &from, &to);
    }
    changed(out);
}

static void lb_loss_map(mgv_ctx *ctx, const mgvi_loss_ops *loss, mgvi_term_fn fn,
                        const mgvi_coefs *c, const mgvi_vec *x, const mgvi_vec *z,
                        const mgvi_coef_array *step, mgvi_vec *out)
{
    for (int r = 0; r < RANKS; r++) {
        const mgvi_vec first = part_of(x, r), second = z ? part_of(z, r) : first;
        const mgvi_coefs of = coefs_of(c, x, r);
        const mgvi_coef_array steps = coefs_part(step, begin_of(x, r));
        mgvi_vec to = part_of(out, r);
        mgvi_backend_cpu.loss_map(ctx, loss, fn, &of, &first, z ? &second : NULL, &steps, &to);
    }
    changed(out);
}

static void lb_loss_sum(mgv_ctx *ctx, const mgvi_loss_ops *loss, mgvi_term_fn fn,
                        const mgvi_coefs *c, const mgvi_vec *x, double *out)
{
    for (int r = 0; r < RANKS; r++) {
        const mgvi_vec from = part_of(x, r);
        const mgvi_coefs of = coefs_of(c, x, r);
        double *to = sums_of(x, r, x->k, out);
        if (to)
            mgvi_backend_cpu.loss_sum(ctx, loss, fn, &of, &from, to);
    }
}

static mgvi_vec whole_of(const mgvi_vec *x)
{
    return (mgvi_vec){.x = address(x), .n = x->n, .k = x->k, .space = x->space};
}

static void lb_penalty_map(const mgvi_penalty *r, mgvi_term_fn fn, const mgvi_vec *x,
                           const mgvi_coef_array *step, mgvi_vec *out)
{
    const mgvi_vec from = whole_of(x);
    mgvi_vec to = whole_of(out);
    mgvi_backend_cpu.penalty_map(r, fn, &from, step, &to);
    changed(out);
}

static void lb_penalty_sum(const mgvi_penalty *r, mgvi_term_fn fn, const mgvi_vec *x, double *out)
{
    const mgvi_vec from = whole_of(x);
    mgvi_backend_cpu.penalty_sum(r, fn, &from, out);
}

static double lb_exp_sum(mgv_ctx *ctx, mgvi_exp_fn fn, double least, const mgvi_vec *x,
                         const mgvi_vec *y, mgvi_vec *out)
{
    double sum = 0;
    for (int r = 0; r < RANKS; r++) {
        const mgvi_vec first = part_of(x, r), second = y ? part_of(y, r) : first;
        mgvi_vec to = out ? part_of(out, r) : first;
        *sums_of(x, r, 1, &sum) =
            mgvi_backend_cpu.exp_sum(ctx, fn, least, &first, y ? &second : NULL, out ? &to : NULL);
    }
    if (out)
        changed(out);
    return sum;
}

/* ---- products -------------------------------------------------------------------------------- */

/* A'u of each rank's rows, in host memory, then joined. A has no vectors of its own elsewhere. */
static void lb_mul_t(struct mgvi_op *op, double alpha, const mgvi_vec *u, double beta, mgvi_vec *g)
{
    const double before = op->touched;
    const int64_t rows = u->n * u->k, count = g->n * g->k, half = u->n * 1 / RANKS * u->k;
    const double *all = mgvi_vec_host(u);
    double *room = calloc((size_t)rows + 1, sizeof *room), *to = mgvi_vec_open(g);
    mgvi_vec from = {.x = room, .n = u->n, .k = u->k, .space = MGVI_ROWS};
    mgvi_vec first = {.x = to, .n = g->n, .k = g->k, .space = MGVI_COLS}, second = first;
    demand(room, "no memory");
    memcpy(room, all, (size_t)half * sizeof *room);
    op->ops->mul_t(op, alpha, &from, beta, &first);
    memset(room, 0, (size_t)half * sizeof *room);
    memcpy(room + half, all + half, (size_t)(rows - half) * sizeof *room);
    op->touched = before;
    second.x = wait_for(count);
    op->ops->mul_t(op, alpha, &from, 0, &second);
    lb_all_reduce(op->ctx, MGVI_REDUCE_SUM, count, to);
    mgvi_vec_close(g);
    free(room);
}

const mgvi_backend mgv_loopback = {
    .name = "loopback",
    .alloc = lb_alloc,
    .host = lb_host,
    .open = lb_open,
    .close = lb_close,
    .upload = lb_upload,
    .download = lb_download,
    .fill = lb_fill,
    .copy = lb_copy,
    .scale = lb_scale,
    .axpby = lb_axpby,
    .add = lb_add,
    .multiply = lb_multiply,
    .split = lb_split,
    .clip = lb_clip,
    .project = lb_project,
    .reduce = lb_reduce,
    .all_reduce = lb_all_reduce,
    .coef_map = lb_coef_map,
    .loss_map = lb_loss_map,
    .loss_sum = lb_loss_sum,
    .penalty_map = lb_penalty_map,
    .penalty_sum = lb_penalty_sum,
    .exp_sum = lb_exp_sum,
    .mul_t = lb_mul_t,
};
