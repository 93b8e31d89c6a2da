/* output.c - public functions on files that appear whole or not at all. */
#include "base/sink.h"

mgv_status mgv_output_open(mgv_ctx *ctx, const char *path, mgv_output **out)
{
    if (!out)
        return MGVI_FAIL(ctx, MGV_E_ARG, "out is NULL");
    *out = NULL;
    return path ? mgvi_sink_open(ctx, path, out) : MGVI_FAIL(ctx, MGV_E_ARG, "path is NULL");
}

mgv_status mgv_output_write(mgv_ctx *ctx, mgv_output *output, const void *bytes, size_t size)
{
    if (!output || (!bytes && size))
        return MGVI_FAIL(ctx, MGV_E_ARG, "writing needs a file and bytes");
    mgvi_sink_write(output, bytes, size);
    return mgvi_sink_flush(output);
}

mgv_status mgv_output_close(mgv_ctx *ctx, mgv_output *output, int keep)
{
    return output ? mgvi_sink_close(output, keep != 0)
                  : MGVI_FAIL(ctx, MGV_E_ARG, "output is NULL");
}
