/* output.c - public functions on files that appear whole or not at all. */
#include "api/need.h"
#include "base/sink.h"

mgv_status mgv_output_open(mgv_ctx *ctx, const char *path, mgv_output **out)
{
    MGVI_NEED(ctx, out);
    *out = NULL;
    MGVI_NEED(ctx, path);
    return mgvi_done(ctx, mgvi_sink_open(ctx, path, out));
}

mgv_status mgv_output_write(mgv_ctx *ctx, mgv_output *output, const void *bytes, size_t size)
{
    MGVI_NEED(ctx, output);
    if (!output || (!bytes && size))
        return MGVI_FAIL(ctx, MGV_E_ARG, "writing needs a file and bytes");
    mgvi_sink_write(output, bytes, size);
    return mgvi_done(ctx, mgvi_sink_flush(output));
}

mgv_status mgv_output_close(mgv_ctx *ctx, mgv_output *output, int keep)
{
    MGVI_NEED(ctx, output);
    return mgvi_done(ctx, mgvi_sink_close(output, keep != 0));
}
