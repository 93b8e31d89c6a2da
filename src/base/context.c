/* context.c - error sentences. */
#include "base/context.h"

#include <stdarg.h>
#include <stdio.h>

mgv_status mgvi_fail(mgv_ctx *ctx, mgv_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ctx->error, sizeof ctx->error, format, args);
    va_end(args);
    return status;
}
