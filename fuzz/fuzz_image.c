/* fuzz_image.c - the readers of images, PNG, PGM and PPM; what is accepted is written back. */
#include "fuzz.h"

#include "io/image_io.h"

#include <stdio.h>
#include <stdlib.h>

static void write_back(mgv_ctx *ctx, const uint8_t *bytes, size_t size, const mgv_image *image)
{
    enum { MOST_TO_WRITE = 4096 };
    const mgvi_image_format *format = mgvi_image_recognise((const char *)bytes, size);
    mgvi_sink *sink;
    if (mgvi_image_numbers(image) > MOST_TO_WRITE ||
        mgvi_sink_open(ctx, "/dev/null", &sink) != MGV_OK)
        return;
    const mgv_status st = format->write(ctx, image, image->depth, "/dev/null", sink);
    if (mgvi_sink_close(sink, true) != MGV_OK || (st != MGV_OK && st != MGV_E_MEMORY)) {
        fprintf(stderr, "what was read cannot be written: %s\n", mgv_ctx_error(ctx));
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    mgv_ctx *ctx = fuzz_ctx();
    mgv_image *image = NULL;
    mgvi_source source = {.path = "input", .size = size};
    source.bytes = mgvi_dup(ctx, bytes, size, 1); /* exact in size: reading beyond is seen */
    if (!source.bytes)
        return 0;
    ctx->error[0] = 0;
    const mgv_status st = mgvi_image_parse(ctx, &source, &image);
    mgvi_source_close(ctx, &source);
    if (st != MGV_OK && (image || !ctx->error[0])) {
        fprintf(stderr, "%s without a sentence\n", mgv_status_name(st));
        abort();
    }
    if (st == MGV_OK)
        write_back(ctx, bytes, size, image);
    mgvi_image_free(ctx, image);
    fuzz_check_leaks();
    return 0;
}
