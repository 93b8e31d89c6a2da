/* settings.c - the table made from settings.def: defaults, parsing, bounds. */
#include "base/settings.h"

#include "base/presets.h"
#include "base/print.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { K_REAL, K_INT, K_BOOL, K_TEXT, K_PICK } kind;

typedef struct setting {
    const char *group, *name, *help, *def, *choices;
    kind kind;
    size_t offset;
    double low, high; /* reals */
    int64_t ilow, ihigh;
    double real_default;
    int64_t int_default;
} setting;

#define REAL(g, n, d, l, h, t)                                                                     \
    {.group = g,                                                                                   \
     .name = #n,                                                                                   \
     .help = t,                                                                                    \
     .kind = K_REAL,                                                                               \
     .offset = offsetof(mgv_settings, n),                                                          \
     .low = l,                                                                                     \
     .high = h,                                                                                    \
     .real_default = d},
#define INT(g, n, d, l, h, t)                                                                      \
    {.group = g,                                                                                   \
     .name = #n,                                                                                   \
     .help = t,                                                                                    \
     .kind = K_INT,                                                                                \
     .offset = offsetof(mgv_settings, n),                                                          \
     .ilow = l,                                                                                    \
     .ihigh = h,                                                                                   \
     .int_default = d},
#define BOOL(g, n, d, t)                                                                           \
    {.group = g,                                                                                   \
     .name = #n,                                                                                   \
     .help = t,                                                                                    \
     .kind = K_BOOL,                                                                               \
     .offset = offsetof(mgv_settings, n),                                                          \
     .int_default = d},
#define TEXT(g, n, d, t)                                                                           \
    {.group = g,                                                                                   \
     .name = #n,                                                                                   \
     .help = t,                                                                                    \
     .kind = K_TEXT,                                                                               \
     .offset = offsetof(mgv_settings, n),                                                          \
     .def = d},
#define BAR(name, word) "|" word
#define PICK(g, n, d, c, t)                                                                        \
    {.group = g,                                                                                   \
     .name = #n,                                                                                   \
     .help = t,                                                                                    \
     .kind = K_PICK,                                                                               \
     .offset = offsetof(mgv_settings, n),                                                          \
     .int_default = d,                                                                             \
     .choices = c(BAR) + 1},
static const setting table[] = {
#include "base/settings.def"
};
#undef REAL
#undef INT
#undef BOOL
#undef TEXT
#undef PICK
enum { COUNT = sizeof table / sizeof *table };

static void *field(const mgv_settings *settings, const setting *s)
{
    return (char *)(uintptr_t)settings + s->offset;
}

void mgvi_settings_defaults(mgv_settings *settings)
{
    memset(settings, 0, sizeof *settings);
    for (const setting *s = table; s < table + COUNT; s++) {
        void *f = field(settings, s);
        if (s->kind == K_REAL)
            *(double *)f = s->real_default;
        else if (s->kind == K_INT)
            *(int64_t *)f = s->int_default;
        else if (s->kind == K_BOOL)
            *(bool *)f = s->int_default != 0;
        else if (s->kind == K_PICK)
            *(int *)f = (int)s->int_default;
        else
            *(const char **)f = s->def;
    }
}

bool mgvi_is_auto(const char *text) { return strcmp(text, "auto") == 0; }

const char *mgvi_after_word(const char *text, const char *word)
{
    const size_t n = strlen(word);
    return strncmp(text, word, n) == 0 && text[n] == ':' ? text + n + 1 : NULL;
}

static bool same_name(const char *given, const char *name)
{
    for (; *given && *name; given++, name++)
        if (*given != *name && !(*name == '_' && (*given == '-' || *given == '.')))
            return false;
    return *given == *name;
}

static const setting *find(const char *name)
{
    for (const setting *s = table; s < table + COUNT; s++)
        if (same_name(name, s->name))
            return s;
    return NULL;
}

/* Whether `name` is one of several of which `given` would be any: OWNER_GIVEN, GIVEN_UNIT. */
static bool is_kin(const char *given, const char *name)
{
    const size_t n = strlen(given), m = strlen(name);
    if (n == 0 || n + 1 >= m)
        return false;
    return (name[m - n - 1] == '_' && same_name(given, name + m - n)) ||
           (name[n] == '_' && strncmp(given, name, n) == 0);
}

static mgv_status refuse_name(mgv_ctx *ctx, const char *given)
{
    char kin[256] = "";
    for (const setting *s = table; s < table + COUNT; s++) {
        const size_t used = strlen(kin);
        if (is_kin(given, s->name))
            snprintf(kin + used, sizeof kin - used, "%s%s", used ? ", " : "", s->name);
    }
    return MGVI_FAIL(ctx, MGV_E_ARG, "there is no setting '%.80s'%s%s", given,
                     kin[0] ? "; there is " : "", kin);
}

bool mgvi_parse_real(const char *text, double *out)
{
    char *end;
    const double v = strtod_l(text, &end, mgvi_c_locale());
    if (end == text || *end || isnan(v))
        return false;
    *out = v;
    return true;
}

bool mgvi_parse_int(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    const long long v = strtoll(text, &end, 10);
    if (end == text || *end || errno)
        return false;
    *out = v;
    return true;
}

static bool parse_bool(const char *text, bool *out)
{
    static const char *const yes[] = {"1", "yes", "true", "on"};
    static const char *const no[] = {"0", "no", "false", "off"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
            *out = strcmp(text, yes[i]) == 0;
            return true;
        }
    }
    return false;
}

/* Which of "a|b|c" `value` is; -1: none. */
static int among(const char *value, const char *choices)
{
    const size_t n = strlen(value);
    for (int k = 0;; k++, choices++) {
        const size_t m = strcspn(choices, "|");
        if (m == n && strncmp(choices, value, n) == 0)
            return k;
        choices += m;
        if (!*choices)
            return -1;
    }
}

/* The k-th of them. */
static void choice_text(const char *choices, int64_t k, char *buffer, size_t capacity)
{
    for (; k > 0; k--)
        choices += strcspn(choices, "|") + 1;
    snprintf(buffer, capacity, "%.*s", (int)strcspn(choices, "|"), choices);
}

static void allowed_text(const setting *s, char *buffer, size_t capacity)
{
    if (s->kind == K_REAL)
        mgvi_print(buffer, capacity, "from %g to %g", s->low, s->high);
    else if (s->kind == K_INT && s->ihigh == INT64_MAX)
        snprintf(buffer, capacity, "at least %" PRId64, s->ilow);
    else if (s->kind == K_INT)
        snprintf(buffer, capacity, "from %" PRId64 " to %" PRId64, s->ilow, s->ihigh);
    else
        snprintf(buffer, capacity, "%s",
                 s->kind == K_BOOL   ? "yes|no"
                 : s->kind == K_PICK ? s->choices
                                     : "text");
}

/* MGV_E_ARG: not allowed, and no sentence yet. */
static mgv_status parse(mgv_ctx *ctx, const setting *s, void *f, const char *value)
{
    double x;
    int64_t i;
    switch (s->kind) {
    case K_REAL:
        if (!mgvi_parse_real(value, &x) || x < s->low || x > s->high)
            return MGV_E_ARG;
        *(double *)f = x;
        return MGV_OK;
    case K_INT:
        if (!mgvi_parse_int(value, &i) || i < s->ilow || i > s->ihigh)
            return MGV_E_ARG;
        *(int64_t *)f = i;
        return MGV_OK;
    case K_BOOL:
        return parse_bool(value, f) ? MGV_OK : MGV_E_ARG;
    case K_PICK:
        i = among(value, s->choices);
        if (i >= 0)
            *(int *)f = (int)i;
        return i >= 0 ? MGV_OK : MGV_E_ARG;
    case K_TEXT:
        break;
    }
    if (strlen(value) >= MGVI_TEXT_MAX)
        return MGV_E_ARG;
    const char *text = strcmp(value, s->def) == 0 ? s->def : mgvi_text_keep(ctx, value);
    if (!text)
        return MGV_E_MEMORY;
    *(const char **)f = text;
    return MGV_OK;
}

static mgv_status set_one(mgv_ctx *ctx, mgv_settings *settings, const char *name, const char *value)
{
    const setting *s = find(name);
    if (!s)
        return refuse_name(ctx, name);
    const mgv_status st = parse(ctx, s, field(settings, s), value);
    if (st == MGV_E_ARG) {
        char allowed[256];
        allowed_text(s, allowed, sizeof allowed);
        return MGVI_FAIL(ctx, st, "%s is '%.200s'; allowed: %s", s->name, value, allowed);
    }
    return st;
}

/* The NAME=VALUE of a preset, one after the other. */
static mgv_status set_all(mgv_ctx *ctx, mgv_settings *settings, const char *pairs)
{
    char pair[128];
    for (size_t n; *pairs; pairs += n + (pairs[n] == ' ')) {
        n = strcspn(pairs, " ");
        snprintf(pair, sizeof pair, "%.*s", (int)n, pairs);
        char *equals = strchr(pair, '=');
        *equals = 0;
        MGVI_TRY(set_one(ctx, settings, pair, equals + 1));
    }
    return MGV_OK;
}

mgv_status mgvi_settings_set(mgv_ctx *ctx, mgv_settings *settings, const char *name,
                             const char *value)
{
    if (strcmp(name, "preset") != 0 || !*value)
        return set_one(ctx, settings, name, value);
    const mgvi_preset *preset = mgvi_preset_find(value);
    if (!preset)
        return MGVI_FAIL(ctx, MGV_E_ARG,
                         "there is no preset '%.80s'; `margrave list presets` shows them", value);
    mgv_settings changed = *settings;
    MGVI_TRY(set_all(ctx, &changed, preset->settings));
    MGVI_TRY(set_one(ctx, &changed, name, value));
    *settings = changed;
    return MGV_OK;
}

static void value_text(const setting *s, const void *f, char *buffer, size_t capacity)
{
    if (s->kind == K_REAL && isnan(*(const double *)f))
        snprintf(buffer, capacity, "%s", "");
    else if (s->kind == K_REAL)
        mgvi_print(buffer, capacity, "%.17g", *(const double *)f);
    else if (s->kind == K_INT)
        snprintf(buffer, capacity, "%" PRId64, *(const int64_t *)f);
    else if (s->kind == K_BOOL)
        snprintf(buffer, capacity, "%s", *(const bool *)f ? "yes" : "no");
    else if (s->kind == K_PICK)
        choice_text(s->choices, *(const int *)f, buffer, capacity);
    else
        snprintf(buffer, capacity, "%s", *(const char *const *)f);
}

mgv_status mgvi_settings_get(mgv_ctx *ctx, const mgv_settings *settings, const char *name,
                             char *buffer, size_t capacity)
{
    const setting *s = find(name);
    if (!s)
        return refuse_name(ctx, name);
    value_text(s, field(settings, s), buffer, capacity);
    return MGV_OK;
}

static bool is_given(const mgv_settings *settings, const setting *s)
{
    char value[MGVI_TEXT_MAX], standard[MGVI_TEXT_MAX];
    mgv_settings defaults;
    mgvi_settings_defaults(&defaults);
    value_text(s, field(settings, s), value, sizeof value);
    value_text(s, field(&defaults, s), standard, sizeof standard);
    return strcmp(value, standard) != 0;
}

bool mgvi_settings_is_given(const mgv_settings *settings, const char *name)
{
    const setting *s = find(name);
    return s && is_given(settings, s);
}

bool mgvi_settings_next_given(const mgv_settings *settings, const char *group, size_t *at,
                              const char **name, char *value, size_t capacity)
{
    for (; *at < COUNT; ++*at) {
        const setting *s = &table[*at];
        if (strcmp(s->group, group) != 0 || !is_given(settings, s))
            continue;
        *name = s->name;
        value_text(s, field(settings, s), value, capacity);
        ++*at;
        return true;
    }
    return false;
}

size_t mgvi_setting_count(void) { return COUNT; }

bool mgvi_setting_exists(const char *name) { return find(name) != NULL; }

bool mgvi_setting_is_default(const mgv_settings *settings, const char *name)
{
    char now[MGVI_TEXT_MAX], before[MGVI_TEXT_MAX];
    mgv_settings defaults;
    const setting *s = find(name);
    mgvi_settings_defaults(&defaults);
    value_text(s, field(settings, s), now, sizeof now);
    value_text(s, field(&defaults, s), before, sizeof before);
    return strcmp(now, before) == 0;
}

/* The texts of the table's numbers, written once. */
static char default_texts[COUNT][64], allowed_texts[COUNT][128];
static pthread_once_t texts_once = PTHREAD_ONCE_INIT;

static void write_texts(void)
{
    for (size_t i = 0; i < COUNT; i++) {
        const setting *s = &table[i];
        if (s->kind == K_REAL && !isnan(s->real_default))
            mgvi_print(default_texts[i], sizeof default_texts[i], "%g", s->real_default);
        else if (s->kind == K_INT)
            snprintf(default_texts[i], sizeof default_texts[i], "%" PRId64, s->int_default);
        else if (s->kind == K_BOOL)
            snprintf(default_texts[i], sizeof default_texts[i], "%s",
                     s->int_default ? "yes" : "no");
        else if (s->kind == K_PICK)
            choice_text(s->choices, s->int_default, default_texts[i], sizeof default_texts[i]);
        else if (s->def)
            snprintf(default_texts[i], sizeof default_texts[i], "%s", s->def);
        allowed_text(s, allowed_texts[i], sizeof allowed_texts[i]);
    }
}

mgv_status mgvi_setting_at(size_t index, mgv_setting_info *out)
{
    static const char *const kinds[] = {"real", "int", "bool", "text", "choice"};
    if (index >= COUNT)
        return MGV_E_ARG;
    pthread_once(&texts_once, write_texts);
    const setting *s = &table[index];
    const mgv_setting_info info = {.name = s->name,
                                   .group = s->group,
                                   .type = kinds[s->kind],
                                   .default_text = default_texts[index],
                                   .allowed = allowed_texts[index],
                                   .help = s->help};
    mgvi_copy_out(out, &info, sizeof info);
    return MGV_OK;
}
