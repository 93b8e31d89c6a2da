/* keeper.c - a state now and then. While steps may be cut a copy of the state before the step is
 * kept in memory: it is what a run that ends within one leaves. */
#include "solver/keeper.h"

#include "base/event.h"
#include "base/limit.h"
#include "base/sink.h"

#include <math.h>

static const double EVERY = 0.2; /* s between two copies, */
static const double SHARE = 40;  /* and at least so many times what one costs */

mgv_status mgvi_keeper_begin(mgvi_keeper *k, mgv_ctx *ctx, const mgv_settings *settings,
                             void *owner, mgv_status (*put)(void *owner, mgvi_checkpoint_goal *to))
{
    k->ctx = ctx;
    k->path = settings->checkpoint;
    k->every = settings->every;
    k->owner = owner;
    k->put = put;
    k->next_file = mgvi_ctx_clock(ctx) + settings->every;
    k->next_state = -INFINITY;
    k->ended = k->unsaved = false;
    const bool file = k->path[0] && !k->tell; /* better known now than after an hour */
    return file ? mgvi_sink_try(ctx, k->path) : MGV_OK;
}

void mgvi_keeper_free(mgvi_keeper *k)
{
    if (k->ctx)
        mgvi_release(k->ctx, k->whole.bytes);
    k->whole = (mgvi_checkpoint_goal){0};
}

/* A run that is stepped from outside has not begun to keep anything. */
static bool is_on(const mgvi_keeper *k) { return k->path && k->path[0] && !k->ended; }

/* A state that cannot be kept for want of memory leaves the one before. */
void mgvi_keeper_keep(mgvi_keeper *k)
{
    mgvi_checkpoint_goal goal = {0};
    if (!is_on(k) || k->put(k->owner, &goal) != MGV_OK)
        return;
    mgvi_keeper_free(k);
    k->whole = goal;
}

void mgvi_keeper_before(mgvi_keeper *k)
{
    const double begun = is_on(k) ? mgvi_ctx_clock(k->ctx) : -INFINITY;
    if (!is_on(k) || begun < k->next_state)
        return;
    mgvi_keeper_keep(k);
    const double done = mgvi_ctx_clock(k->ctx);
    k->next_state = done + fmax(EVERY, SHARE * (done - begun));
}

static mgv_status write(mgvi_keeper *k, bool cut)
{
    mgvi_checkpoint_goal file = {.path = k->path};
    if (k->tell)
        return k->tell(k->whom, k->owner);
    mgv_status st = cut ? mgvi_checkpoint_put_bytes(k->ctx, k->whole.bytes, k->whole.size, &file)
                        : k->put(k->owner, &file);
    k->unsaved = mgvi_checkpoint_lost(k->ctx, &st);
    return st;
}

mgv_status mgvi_keeper_after(mgvi_keeper *k)
{
    if (!is_on(k) || mgvi_ctx_clock(k->ctx) < k->next_file)
        return MGV_OK;
    k->next_file = mgvi_ctx_clock(k->ctx) + k->every;
    return write(k, false);
}

mgv_status mgvi_keeper_end(mgvi_keeper *k, bool cut)
{
    if (!is_on(k))
        return MGV_OK;
    k->ended = true;
    if (!cut || k->whole.bytes)
        return write(k, cut);
    mgvi_log(k->ctx, MGV_WARNING,
             "the limit has struck before the first iteration: there is nothing to save in a "
             "checkpoint");
    return MGV_OK;
}
