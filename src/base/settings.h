/* base/settings.h - the settings table as a C struct, and access by name. */
#ifndef MGVI_BASE_SETTINGS_H
#define MGVI_BASE_SETTINGS_H

#include "base/choices.h"
#include "base/context.h"

enum { MGVI_TEXT_MAX = 1024 };

/* Values alone, copied freely: a text is one of the context's, and stays for as long as it. */
struct mgv_settings {
#define REAL(group, name, def, low, high, help) double name;
#define INT(group, name, def, low, high, help) int64_t name;
#define BOOL(group, name, def, help) bool name;
#define TEXT(group, name, def, help) const char *name; /* the context's: mgvi_text_keep() */
#define PICK(group, name, def, words, help) int name;  /* base/choices.h */
#include "base/settings.def"
#undef REAL
#undef INT
#undef BOOL
#undef TEXT
#undef PICK
};

_Static_assert(sizeof(mgv_settings) <= 2048, "settings are small enough to be copied");

void mgvi_settings_defaults(mgv_settings *settings);
/* Whether a setting that names something leaves it to margrave. */
bool mgvi_is_auto(const char *text);
/* What follows `word` and a colon; NULL: another word. */
const char *mgvi_after_word(const char *text, const char *word);
mgv_status mgvi_settings_set(mgv_ctx *ctx, mgv_settings *settings, const char *name,
                             const char *value);
mgv_status mgvi_settings_get(mgv_ctx *ctx, const mgv_settings *settings, const char *name,
                             char *buffer, size_t capacity);
/* Whether a setting has another value than its default. */
bool mgvi_settings_is_given(const mgv_settings *settings, const char *name);
/* Goes through those of `group` that have; *at starts at 0. False after the last. */
bool mgvi_settings_next_given(const mgv_settings *settings, const char *group, size_t *at,
                              const char **name, char *value, size_t capacity);
size_t mgvi_setting_count(void);
bool mgvi_setting_exists(const char *name);
/* Whether it was left as it is without anybody's wish; a name that exists. */
bool mgvi_setting_is_default(const mgv_settings *settings, const char *name);
mgv_status mgvi_setting_at(size_t index, mgv_setting_info *out);

/* The settings `threads` (0: as the context has it) and `backend`, for every call that is given
 * settings and works. */
mgv_status mgvi_settings_obey(mgv_ctx *ctx, const mgv_settings *settings);

/* A whole decimal number, or `false`. Independent of the locale. */
bool mgvi_parse_real(const char *text, double *out);
bool mgvi_parse_int(const char *text, int64_t *out);
#endif
