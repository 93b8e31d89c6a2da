/* base/limit.h - when a call has to end: its deadline, the user's interrupt, and the looks at both.
 *
 * Every public call that may take long sets one deadline (mgvi_limit_begin), and everything below
 * it, classes, folds, points of a path, looks at that one. A limit may end work, never steer it.
 *
 * Between whole pieces of work one asks mgvi_ctx_late(). Within a piece that is long, a step of a
 * solver or a product, one asks mgvi_ctx_cut(): where it says yes the rest of the piece is left
 * out, what it has made is worth nothing, and whoever opened it (mgvi_ctx_open) throws it away. */
#ifndef MGVI_BASE_LIMIT_H
#define MGVI_BASE_LIMIT_H

#include "base/context.h"

/* The deadline of the call that begins here, `seconds` from now (INFINITY: none), and its end. The
 * inner one of two nested calls keeps the deadline of the outer one. */
void mgvi_limit_begin(mgv_ctx *ctx, double seconds);
void mgvi_limit_end(mgv_ctx *ctx);

/* The clock that limits go by: the machine's, or a test's. */
double mgvi_ctx_clock(const mgv_ctx *ctx);

/* A look: why the call has to end now, MGV_STOP_USER or MGV_STOP_TIME; MGV_STOP_NONE: it goes on.
 */
mgv_stop mgvi_ctx_late(const mgv_ctx *ctx);

/* s: a piece of work that is shorter is never cut. */
#define MGVI_GRACE 0.05

/* Opens a piece of work that may be cut once the limit has struck and `grace` seconds have passed
 * since now; closes it, and says whether it was. Pieces do not nest. */
void mgvi_ctx_open(mgv_ctx *ctx, double grace);
/* The same for what a call has to do at its end, the certificate of what there is by then: it has
 * half of the tenth of the time spent, or of 0.2 s, by which a call may exceed its limit. */
void mgvi_ctx_open_last(mgv_ctx *ctx);
bool mgvi_ctx_close(mgv_ctx *ctx);
/* The next piece is also cut where more than `most` entries were read, by the sum of two counters
 * that only this thread changes; NULL: it is not. Returns what was read when it was cut: what the
 * counters have beyond that was not done. */
void mgvi_ctx_meter(mgv_ctx *ctx, const double *read, const double *more, double most);
double mgvi_ctx_metered(const mgv_ctx *ctx);
/* A look within a piece: whether to leave out the rest. From any thread; stays true until the piece
 * is closed, and is false where none is open. */
bool mgvi_ctx_cut(mgv_ctx *ctx);

/* Whether the open piece was cut: no look at the clock. */
static inline bool mgvi_ctx_was_cut(const mgv_ctx *ctx)
{
    return atomic_load_explicit(&ctx->cut, memory_order_relaxed);
}
/* The same as a status, MGV_E_LIMIT, for the way back to whoever opened the piece; no sentence. */
static inline mgv_status mgvi_ctx_whole(const mgv_ctx *ctx)
{
    return mgvi_ctx_was_cut(ctx) ? MGV_E_LIMIT : MGV_OK;
}
/* Whether the failure of a piece that was cut is of no interest: what it lacks is why it failed. */
static inline bool mgvi_limit_explains(mgv_status st)
{
    return st == MGV_OK || st == MGV_E_LIMIT || st == MGV_E_MEMORY || st == MGV_E_NUMERIC;
}
/* For the sentence of MGV_E_LIMIT, when a call that was cut has nothing to hand out: what struck.
 */
const char *mgvi_limit_words(const mgv_ctx *ctx);

/* The same for row number t of a loop over rows: every so many of them. */
static inline bool mgvi_ctx_cut_row(mgv_ctx *ctx, int64_t t)
{
    enum { ROWS = 256 };
    return t % ROWS == ROWS - 1 && mgvi_ctx_cut(ctx);
}
/* And for entry number t, where a loop does little with each. */
static inline bool mgvi_ctx_cut_entry(mgv_ctx *ctx, int64_t t)
{
    enum { ENTRIES = 1 << 15 };
    return t % ENTRIES == ENTRIES - 1 && mgvi_ctx_cut(ctx);
}

/* The work in this context will need so many seconds after its last step, so that it has to end by
 * as much earlier; a quarter of the whole time at most. */
void mgvi_ctx_reserve(mgv_ctx *ctx, double seconds);

/* mgvi_pool_run() of blocks that are left out when the piece is cut. One block is too little work
 * for a look of its own. */
void mgvi_ctx_run(mgv_ctx *ctx, int64_t blocks, void (*fn)(void *arg, int64_t block), void *arg);
#endif
