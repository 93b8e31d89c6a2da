/* presets.c - the table of presets.def. */
#include "base/presets.h"

#include <stddef.h>
#include <string.h>

#define PRESET(name, summary, settings) {name, summary " [" settings "]", settings},
static const mgvi_preset table[] = {
#include "base/presets.def"
};
#undef PRESET
enum { COUNT = sizeof table / sizeof *table };

int mgvi_preset_count(void) { return COUNT; }

const mgvi_preset *mgvi_preset_at(int index) { return &table[index]; }

const mgvi_preset *mgvi_preset_find(const char *name)
{
    for (int k = 0; k < COUNT; k++)
        if (strcmp(table[k].name, name) == 0)
            return &table[k];
    return NULL;
}
