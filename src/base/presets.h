/* base/presets.h - published methods as lists of settings. */
#ifndef MGVI_BASE_PRESETS_H
#define MGVI_BASE_PRESETS_H

typedef struct mgvi_preset {
    const char *name, *summary; /* with its settings */
    const char *settings;       /* NAME=VALUE, with spaces between */
} mgvi_preset;

int mgvi_preset_count(void);
const mgvi_preset *mgvi_preset_at(int index);
const mgvi_preset *mgvi_preset_find(const char *name); /* NULL: there is none */
#endif
