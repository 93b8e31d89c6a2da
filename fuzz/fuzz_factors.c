/* fuzz_factors.c - files of completions: what is accepted must predict and save. */
#include "fuzz.h"

#include "complete/completion.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    mgv_ctx *ctx = fuzz_ctx();
    mgv_completion *completion;
    if (mgvi_completion_parse(ctx, "fuzz", bytes, size, &completion) == MGV_OK) {
        const int64_t row[] = {0, 3, 1}, col[] = {0, 1, 900};
        double values[3];
        mgv_triples *pairs = NULL;
        if (mgv_triples_new(ctx, 3, row, col, NULL, 0, 0, &pairs) == MGV_OK)
            mgv_completion_predict(ctx, completion, pairs, 1, values);
        mgv_triples_free(ctx, pairs);
        mgv_completion_save(ctx, completion, "/dev/null");
    }
    mgv_completion_free(ctx, completion);
    fuzz_check_leaks();
    return 0;
}
