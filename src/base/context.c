/* context.c - error sentences. */
#include "base/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

mgv_ctx mgvi_ctx_child(const mgv_ctx *parent)
{
    return (mgv_ctx){.allocator = parent->allocator,
                     .pool = parent->pool,
                     .simd = parent->simd,
                     .parent = parent};
}

mgv_status mgvi_fail(mgv_ctx *ctx, mgv_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ctx->error, sizeof ctx->error, format, args);
    va_end(args);
    return status;
}

mgv_status mgvi_fail_in(mgv_ctx *ctx, mgv_status status, const char *where)
{
    char sentence[MGVI_ERROR_MAX];
    memcpy(sentence, ctx->error, sizeof sentence);
    return mgvi_fail(ctx, status, "%s: %s", where, sentence);
}

void mgvi_copy_out(void *out, const void *value, size_t full)
{
    const size_t skip = sizeof(size_t), known = *(const size_t *)out;
    const size_t bytes = known < full ? known : full;
    if (bytes > skip)
        memcpy((char *)out + skip, (const char *)value + skip, bytes - skip);
}
