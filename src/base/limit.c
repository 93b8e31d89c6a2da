/* limit.c - deadlines and looks. The limit belongs to the caller's context; children share it. */
#include "base/limit.h"

#include "base/clock.h"
#include "base/event.h"
#include "base/threads.h"

#include <math.h>

double mgvi_ctx_clock(const mgv_ctx *ctx)
{
    const mgvi_limit *l = ctx->limit;
    return l && l->clock ? l->clock(l->clock_user) : mgvi_clock_seconds();
}

void mgvi_limit_begin(mgv_ctx *ctx, double seconds)
{
    mgvi_limit *l = ctx->limit;
    if (!l || l->depth++ > 0)
        return;
    l->began = mgvi_ctx_clock(ctx);
    l->deadline = l->began + seconds;
    ctx->reserve = 0;
    atomic_store(&l->looked, l->began);
    atomic_store(&l->struck, INFINITY);
    atomic_store(&l->longest, 0.0);
    atomic_store(&l->looks, 0);
}

/* The longest time between two looks is kept for tests and for `-v`; looks of two threads at once
 * may both miss it, which does not matter. */
static double look(const mgv_ctx *ctx)
{
    mgvi_limit *l = ctx->limit;
    const double now = mgvi_ctx_clock(ctx);
    if (!l)
        return now;
    const double gap = now - atomic_exchange_explicit(&l->looked, now, memory_order_relaxed);
    if (gap > atomic_load_explicit(&l->longest, memory_order_relaxed))
        atomic_store_explicit(&l->longest, gap, memory_order_relaxed);
    atomic_fetch_add_explicit(&l->looks, 1, memory_order_relaxed);
    return now;
}

void mgvi_limit_end(mgv_ctx *ctx)
{
    static const double LONG = 0.1; /* s: what no piece of work may take without a look */
    mgvi_limit *l = ctx->limit;
    if (!l || l->depth > 1) {
        if (l)
            l->depth--;
        return;
    }
    look(ctx);
    const double longest = atomic_load(&l->longest);
    l->depth = 0;
    l->deadline = INFINITY;
    if (longest > LONG)
        mgvi_log(ctx, MGV_DEBUG, "limits were not looked at for %.2f s", longest);
}

static mgv_stop late_at(const mgv_ctx *ctx, double now)
{
    mgvi_limit *l = ctx->limit;
    const bool asked = mgvi_ctx_interrupted(ctx);
    const bool over = l && l->depth > 0 && now >= l->deadline - ctx->reserve;
    if (!asked && !over)
        return MGV_STOP_NONE;
    double never = INFINITY;
    if (l)
        atomic_compare_exchange_strong(&l->struck, &never, now);
    return asked ? MGV_STOP_USER : MGV_STOP_TIME;
}

mgv_stop mgvi_ctx_late(const mgv_ctx *ctx) { return late_at(ctx, look(ctx)); }

void mgvi_ctx_open(mgv_ctx *ctx, double grace)
{
    atomic_store(&ctx->cut, false);
    ctx->cut_after = mgvi_ctx_clock(ctx) + grace;
    ctx->has_room = false;
    atomic_store(&ctx->may_cut, true);
}

void mgvi_ctx_open_last(mgv_ctx *ctx)
{
    atomic_store(&ctx->cut, false);
    ctx->cut_after = -INFINITY;
    ctx->has_room = true;
    atomic_store(&ctx->may_cut, true);
}

/* Whether what follows the limit may go on. A deadline that struck early, for a certificate's sake,
 * leaves the time up to it as well. */
static bool is_room(const mgv_ctx *ctx, double now)
{
    const mgvi_limit *l = ctx->limit;
    double end = l ? atomic_load(&l->struck) : -INFINITY;
    if (!isfinite(end))
        return false;
    if (!mgvi_ctx_interrupted(ctx))
        end = fmax(end, l->deadline);
    return now < end + 0.5 * fmax(0.2, 0.1 * (end - l->began));
}

bool mgvi_ctx_close(mgv_ctx *ctx)
{
    atomic_store(&ctx->may_cut, false);
    return atomic_exchange(&ctx->cut, false);
}

void mgvi_ctx_meter(mgv_ctx *ctx, const double *read, const double *more, double most)
{
    ctx->meter.read[0] = read;
    ctx->meter.read[1] = more;
    ctx->meter.most = most;
    ctx->meter.at = INFINITY;
}

double mgvi_ctx_metered(const mgv_ctx *ctx) { return ctx->meter.at; }

/* Counters change between runs of blocks only, so that the first look to see it has no rival but
 * those that see the same. */
static bool read_enough(mgv_ctx *ctx)
{
    if (!ctx->meter.read[0] || !atomic_load_explicit(&ctx->may_cut, memory_order_relaxed))
        return false;
    const double read = *ctx->meter.read[0] + *ctx->meter.read[1];
    if (!(read > ctx->meter.most))
        return false;
    if (!atomic_exchange(&ctx->cut, true))
        ctx->meter.at = read;
    return true;
}

bool mgvi_ctx_cut(mgv_ctx *ctx)
{
    if (atomic_load_explicit(&ctx->cut, memory_order_relaxed) || read_enough(ctx))
        return true;
    const double now = look(ctx);
    if (!atomic_load_explicit(&ctx->may_cut, memory_order_relaxed) || now < ctx->cut_after ||
        late_at(ctx, now) == MGV_STOP_NONE || (ctx->has_room && is_room(ctx, now)))
        return false;
    atomic_store(&ctx->cut, true);
    return true;
}

const char *mgvi_limit_words(const mgv_ctx *ctx)
{
    return mgvi_ctx_interrupted(ctx) ? "interrupted" : "time_limit was over";
}

void mgvi_ctx_reserve(mgv_ctx *ctx, double seconds)
{
    const mgvi_limit *l = ctx->limit;
    if (l && l->depth > 0 && isfinite(l->deadline))
        ctx->reserve = fmin(fmax(ctx->reserve, seconds), (l->deadline - l->began) / 4);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

typedef struct guarded {
    mgv_ctx *ctx;
    mgvi_block_fn fn;
    void *arg;
} guarded;

static void guarded_block(void *arg, int64_t block)
{
    const guarded *g = arg;
    if (!mgvi_ctx_cut(g->ctx))
        g->fn(g->arg, block);
}

void mgvi_ctx_run(mgv_ctx *ctx, int64_t blocks, mgvi_block_fn fn, void *arg)
{
    guarded g = {.ctx = ctx, .fn = fn, .arg = arg};
    if (blocks == 1 && !mgvi_ctx_was_cut(ctx) && !read_enough(ctx)) {
        fn(arg, 0);
        return;
    }
    mgvi_pool_run(ctx->pool, blocks, guarded_block, &g);
}
