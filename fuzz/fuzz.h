/* fuzz.h - what the fuzz targets share. A new target is one file fuzz_NAME.c that defines
 * LLVMFuzzerTestOneInput (FUZZ_READER does it for a reader), and seeds in tests/corpus/NAME. The
 * same file becomes a test that replays the corpus. */
#ifndef MGV_FUZZ_H
#define MGV_FUZZ_H

#include "base/context.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* One context for the whole run: one thread, no block above 64 MiB. Never NULL. */
mgv_ctx *fuzz_ctx(void);
/* One for a single input, to be freed: texts of settings are kept by their context. */
mgv_ctx *fuzz_new_ctx(void);
/* Ends the program when memory is still held that was not before the input. */
void fuzz_check_leaks(void);
/* Reads the bytes with the reader named; what is accepted is verified and written back. */
void fuzz_read(const char *reader, const uint8_t *bytes, size_t size);

#define FUZZ_READER(name)                                                                          \
    int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)                                  \
    {                                                                                              \
        fuzz_read(name, bytes, size);                                                              \
        return 0;                                                                                  \
    }
#endif
