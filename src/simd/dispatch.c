/* dispatch.c - which kernel tables this machine can run. */
#include "simd/simd.h"

#include <stdbool.h>
#include <string.h>

typedef struct entry {
    const char *name;
    const mgvi_simd *table; /* NULL: not for this processor family */
    bool (*runs_here)(void);
} entry;

static bool always(void) { return true; }

#if defined(__x86_64__)
/* These ask the processor, and the operating system through XCR0 whether it saves the registers. */
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

#define X86(table, test) &(table), test
#else
#define X86(table, test) NULL, always
#endif
#if defined(__aarch64__)
#define ARM(table) &(table), always
#else
#define ARM(table) NULL, always
#endif

/* From the slowest to the fastest of each family; as in cmake/isa.cmake. */
static const entry entries[] = {
    {"scalar", &mgvi_simd_scalar, always},
    {"avx2", X86(mgvi_simd_avx2, has_avx2)},
    {"avx512", X86(mgvi_simd_avx512, has_avx512)},
    {"neon", ARM(mgvi_simd_neon)},
};
enum { COUNT = sizeof entries / sizeof *entries };

static bool usable(const entry *e) { return e->table && e->runs_here(); }

int mgvi_simd_count(void)
{
    int count = 0;
    for (int i = 0; i < COUNT; i++)
        count += usable(&entries[i]);
    return count;
}

const mgvi_simd *mgvi_simd_at(int index)
{
    for (int i = 0; i < COUNT; i++)
        if (usable(&entries[i]) && index-- == 0)
            return entries[i].table;
    return NULL;
}

mgv_status mgvi_simd_choose(const char *name, const mgvi_simd **out)
{
    *out = mgvi_simd_at(mgvi_simd_count() - 1);
    if (!name || !*name)
        return MGV_OK;
    for (int i = 0; i < COUNT; i++) {
        if (strcmp(name, entries[i].name) == 0) {
            if (!usable(&entries[i]))
                return MGV_E_UNSUPPORTED;
            *out = entries[i].table;
            return MGV_OK;
        }
    }
    return MGV_E_ARG;
}
