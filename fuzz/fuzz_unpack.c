/* fuzz_unpack.c - packed streams: what is accepted is no larger than allowed. */
#include "fuzz.h"

#include "io/unpack.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { MOST = 1 << 16 };
    mgv_ctx *ctx = fuzz_ctx();
    mgvi_blob blob;
    const char *text = (const char *)bytes;
    if (!mgvi_unpack_kind(text, size))
        return 0;
    if (mgvi_unpack_stream(ctx, "fuzz", text, size, MOST, &blob) == MGV_OK && blob.size > MOST)
        abort();
    mgvi_release(ctx, blob.bytes);
    fuzz_check_leaks();
    return 0;
}
