/* api/need.h - what public functions check first, and what a success leaves behind. */
#ifndef MGVI_API_NEED_H
#define MGVI_API_NEED_H

#include "base/limit.h"

static inline mgv_status mgvi_need(mgv_ctx *ctx, const void *pointer, const char *name)
{
    if (!ctx)
        return MGV_E_ARG; /* there is nowhere to leave a sentence */
    return pointer ? MGV_OK : MGVI_FAIL(ctx, MGV_E_ARG, "%s is NULL", name);
}
#define MGVI_NEED(ctx, pointer) MGVI_TRY(mgvi_need(ctx, pointer, #pointer))
/* The same of where the result goes, which is NULL until there is one. */
#define MGVI_NEED_OUT(ctx, out)                                                                    \
    do {                                                                                           \
        MGVI_NEED(ctx, out);                                                                       \
        *(out) = NULL;                                                                             \
    } while (0)

/* What was tried and refused on the way to a success is no error of the caller's. */
static inline mgv_status mgvi_done(mgv_ctx *ctx, mgv_status st)
{
    if (st == MGV_OK)
        ctx->error[0] = 0;
    return st;
}

/* A call that may take long: interrupts of the past are forgotten, and it has so many seconds. */
static inline void mgvi_call_begin(mgv_ctx *ctx, double seconds)
{
    if (ctx->limit->depth == 0) /* not for a call that a callback makes */
        atomic_store(&ctx->interrupted, 0);
    mgvi_limit_begin(ctx, seconds);
}
static inline mgv_status mgvi_call_end(mgv_ctx *ctx, mgv_status st)
{
    mgvi_limit_end(ctx);
    return mgvi_done(ctx, st);
}
#endif
