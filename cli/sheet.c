/* sheet.c - the options of a command in order, and what their values may be. */
#include "sheet.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- settings -------------------------------------------------------------------------------- */

/* Whether the blank-separated `words` hold `mark` followed by `word`. */
static bool has_word(const char *words, const char *mark, const char *word)
{
    const size_t m = strlen(mark), n = strlen(word);
    for (const char *at = words; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        if (length == m + n && strncmp(at, mark, m) == 0 && strncmp(at + m, word, n) == 0)
            return true;
        at += length;
    }
    return false;
}

bool cli_usage_takes(const cli_usage *usage, const mgv_setting_info *s)
{
    if (strcmp(usage->settings, CLI_EVERY_SETTING) == 0)
        return true;
    return !has_word(usage->settings, "!", s->name) &&
           (has_word(usage->settings, "", s->group) || has_word(usage->settings, "", s->name) ||
            has_word(usage->settings, "=", s->name));
}

mgv_setting_info cli_setting_at(size_t index)
{
    mgv_setting_info s = {.size = sizeof s};
    mgv_setting_at(index, &s);
    return s;
}

bool cli_setting_is_switch(const mgv_setting_info *s) { return strcmp(s->type, "bool") == 0; }

/* What texts call the value. */
static const char *value_of(const mgv_setting_info *s)
{
    static const struct {
        const char *setting, *value;
    } texts[] = {{"loss", "LOSS"},       {"penalty", "PENALTY"}, {"solver", "SOLVER"},
                 {"backend", "BACKEND"}, {"format", "FORMAT"},   {"sample_weight", "FILE"},
                 {"names", "FILE"},      {"lower", "FILE"},      {"upper", "FILE"},
                 {"checkpoint", "FILE"}, {"resume", "FILE"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(s->name, texts[i].setting) == 0)
            return texts[i].value;
    return cli_setting_is_switch(s)         ? NULL
           : strcmp(s->type, "choice") == 0 ? s->allowed
           : strcmp(s->type, "real") == 0   ? "X"
           : strcmp(s->type, "int") == 0    ? "N"
                                            : "TEXT";
}

/* ---- the options in order -------------------------------------------------------------------- */

static cli_shown show_option(const cli_option *o)
{
    cli_shown shown = {.letter = o->letter, .value = o->value, .help = o->help, .fallback = ""};
    snprintf(shown.name, sizeof shown.name, "%s", o->name);
    return shown;
}

static cli_shown show_setting(const mgv_setting_info *s)
{
    cli_shown shown = {.group = s->group,
                       .both = cli_setting_is_switch(s),
                       .value = value_of(s),
                       .help = s->help,
                       .fallback = s->default_text};
    snprintf(shown.name, sizeof shown.name, "%s", s->name);
    for (char *at = shown.name; (at = strchr(at, '_'));)
        *at = '-';
    return shown;
}

bool cli_sheet_next(const cli_sheet *sheet, size_t *at, cli_shown *out)
{
    const size_t settings = mgv_setting_count();
    size_t i = (*at)++;
    if (i < sheet->count) {
        *out = show_option(&sheet->options[i]);
        return true;
    }
    for (i -= sheet->count; i < settings; i++, (*at)++) {
        const mgv_setting_info s = cli_setting_at(i);
        if (cli_usage_takes(sheet->usage, &s)) {
            *out = show_setting(&s);
            return true;
        }
    }
    if (i > settings || !sheet->usage->settings[0])
        return false;
    *out = (cli_shown){.group = "",
                       .name = "set",
                       .value = "NAME=VALUE",
                       .help = "any of these settings by name",
                       .fallback = ""};
    return true;
}

void cli_sheet_show(cli *c, const cli_command *command, cli_sheet_fn fn, void *user)
{
    cli inner = {.ctx = c->ctx,
                 .settings = c->settings,
                 .command = command->name,
                 .on_sheet = fn,
                 .on_sheet_user = user};
    command->run(&inner, 0, NULL);
}

/* ---- help ------------------------------------------------------------------------------------ */

/* "  NAME   help", the help in its own column and broken at 80 characters. */
static void print_entry(const char *name, const char *help)
{
    enum { INDENT = 26, WIDTH = 80 };
    int column = printf("  %s", name);
    if (column > INDENT - 2) {
        putchar('\n');
        column = 0;
    }
    column += printf("%*s", INDENT - column, "");
    for (const char *at = help; *at; at += strspn(at, " ")) {
        const int length = (int)strcspn(at, " ");
        if (column > INDENT && column + 1 + length > WIDTH)
            column = printf("\n%*s", INDENT, "") - 1;
        column += printf("%s%.*s", column > INDENT ? " " : "", length, at);
        at += length;
    }
    putchar('\n');
}

static void print_option(const cli_shown *o)
{
    char letter[8] = "", name[200], help[512];
    if (!o->group && o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    else if (!o->group)
        snprintf(letter, sizeof letter, "    ");
    snprintf(name, sizeof name, "%s--%s%s%s%s", letter, o->both ? "[no-]" : "", o->name,
             o->value ? " " : "", o->value ? o->value : "");
    snprintf(help, sizeof help, "%s%s%s%s", o->help, o->fallback[0] ? " (" : "", o->fallback,
             o->fallback[0] ? ")" : "");
    print_entry(name, help);
}

void cli_sheet_print_help(const cli_sheet *sheet)
{
    const cli_usage *usage = sheet->usage;
    const char *group = NULL;
    cli_shown o;
    printf("usage: margrave %s %s%s[OPTION...]\n\n%s\n\nexample:\n  %s\n\noptions:\n",
           sheet->command, usage->arguments, usage->arguments[0] ? " " : "", usage->purpose,
           usage->example);
    for (size_t at = 0; cli_sheet_next(sheet, &at, &o);) {
        if (o.group && (!group || strcmp(group, o.group) != 0))
            printf("\n%s%s", o.group, o.group[0] ? " settings (default):\n" : "");
        group = o.group;
        print_option(&o);
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words && strcmp(word, *words) != 0)
        words++;
    return *words != NULL;
}

/* Choices are in small letters or digits, words that stand for something in capitals. */
static bool is_choice(const char *value)
{
    return strchr(value, '|') || islower((unsigned char)value[0]);
}

/* Whether entries of this kind may stand for `value`. */
static bool stands_for(const char *kind, const char *value)
{
    if (strcmp(value, "FORMAT") == 0)
        return strcmp(kind, "reader") == 0 || strcmp(kind, "writer") == 0;
    return isupper((unsigned char)value[0]) && strcasecmp(kind, value) == 0;
}

cli_expects cli_value_expects(const char *value)
{
    static const char *const files[] = {"FILE", "DATA", "MODEL", "IN", "OUT", "RATINGS", NULL};
    static const char *const lists[] = {"COMMAND", "KIND", NULL};
    if (is_one_of(value, files))
        return CLI_EXPECTS_FILE;
    if (is_choice(value) || is_one_of(value, lists))
        return CLI_EXPECTS_WORD;
    for (size_t i = 0; i < mgv_registry_count(); i++)
        if (stands_for(cli_entry_at(i).kind, value))
            return CLI_EXPECTS_WORD;
    return CLI_EXPECTS_ANYTHING;
}

/* A name may be registered as a reader and as a writer: the first of both counts. */
static bool is_first(size_t index, const char *value)
{
    const char *name = cli_entry_at(index).name;
    for (size_t i = 0; i < index; i++)
        if (stands_for(cli_entry_at(i).kind, value) && strcmp(cli_entry_at(i).name, name) == 0)
            return false;
    return true;
}

static void print_registered(const char *value, const char *fallback)
{
    bool listed = !fallback[0];
    for (size_t i = 0; i < mgv_registry_count(); i++) {
        const mgv_entry e = cli_entry_at(i);
        listed = listed || (stands_for(e.kind, value) && strcmp(e.name, fallback) == 0);
    }
    const char *gap = listed ? "" : " ";
    if (!listed)
        fputs(fallback, stdout);
    for (size_t i = 0; i < mgv_registry_count(); i++) {
        const mgv_entry e = cli_entry_at(i);
        if (!stands_for(e.kind, value) || !is_first(i, value))
            continue;
        printf("%s%s", gap, e.name);
        gap = " ";
    }
}

void cli_value_print_words(const char *value, const char *fallback)
{
    if (is_choice(value)) {
        for (; *value; value++)
            putchar(*value == '|' ? ' ' : *value);
    } else if (strcmp(value, "COMMAND") == 0) {
        for (size_t i = 0; cli_command_at(i); i++)
            printf("%s%s", i ? " " : "", cli_command_at(i)->name);
    } else if (strcmp(value, "KIND") == 0) {
        for (size_t i = 0; i < mgv_registry_count(); i++)
            if (cli_entry_opens_kind(i))
                printf("%s ", cli_plural_of(cli_entry_at(i).kind).text);
        fputs("settings", stdout);
    } else {
        print_registered(value, fallback);
    }
}

bool cli_placeholder_next(const char **at, cli_placeholder *out)
{
    *at += strspn(*at, " []");
    const int length = (int)strcspn(*at, " []");
    snprintf(out->text, sizeof out->text, "%.*s", length, *at);
    *at += length;
    return length > 0;
}

/* ---- registered kinds ------------------------------------------------------------------------ */

mgv_entry cli_entry_at(size_t index)
{
    mgv_entry e = {.size = sizeof e};
    mgv_registry_at(index, &e);
    return e;
}

bool cli_entry_opens_kind(size_t index)
{
    return index == 0 || strcmp(cli_entry_at(index).kind, cli_entry_at(index - 1).kind) != 0;
}

cli_plural cli_plural_of(const char *kind)
{
    cli_plural p;
    const size_t n = strlen(kind);
    const char last = n ? kind[n - 1] : 0;
    if (last == 'y')
        snprintf(p.text, sizeof p.text, "%.*sies", (int)n - 1, kind);
    else
        snprintf(p.text, sizeof p.text, "%s%s", kind,
                 last == 's'                 ? "es"
                 : strcmp(kind, "simd") == 0 ? ""
                                             : "s");
    return p;
}
