/* fuzz_triples.c - entries of a matrix: what is accepted must sort, and answer as pairs. */
#include "fuzz.h"

#include "io/text.h"
#include "io/triples.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static mgv_settings settings;
    mgv_ctx *ctx = fuzz_ctx();
    mgvi_source source = {
        .path = "fuzz", .bytes = (const char *)bytes, .size = size, .settings = &settings};
    mgv_triples *triples, *pairs;
    mgvi_settings_defaults(&settings);
    if (mgvi_triples_from_source(ctx, &source, NULL, 64, &triples) == MGV_OK) {
        if (mgvi_triples_check(triples) != MGV_OK)
            abort();
        if (mgvi_triples_from_source(ctx, &source, triples->side, 64, &pairs) == MGV_OK)
            mgvi_triples_free(pairs);
        mgvi_triples_sort(triples);
    }
    mgvi_triples_free(triples);
    fuzz_check_leaks();
    return 0;
}
