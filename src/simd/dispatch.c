/* dispatch.c - which kernel tables this machine can run. */
#include "simd/simd.h"

#include <string.h>

static const mgvi_simd *const tables[] = {&mgvi_simd_scalar};
enum { COUNT = sizeof tables / sizeof *tables };

int mgvi_simd_count(void) { return COUNT; }

const mgvi_simd *mgvi_simd_at(int index) { return tables[index]; }

mgv_status mgvi_simd_choose(const char *name, const mgvi_simd **out)
{
    *out = tables[mgvi_simd_count() - 1];
    if (!name || !*name)
        return MGV_OK;
    for (int i = 0; i < mgvi_simd_count(); i++) {
        if (strcmp(name, tables[i]->name) == 0) {
            *out = tables[i];
            return MGV_OK;
        }
    }
    return MGV_E_ARG;
}
