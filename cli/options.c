/* options.c - reads the options of a command, from tables only. */
#include "sheet.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ----------------------------------------------------------------------------------- */

static char same_case(char c) { return c == '-' ? '_' : c; }

/* Whether the first `length` characters of `given` are the whole of `name`. */
static bool is_name(const char *given, size_t length, const char *name)
{
    for (size_t i = 0; i < length; i++)
        if (!name[i] || same_case(given[i]) != same_case(name[i]))
            return false;
    return name[length] == 0;
}

/* Insertions, deletions, replacements and swaps of neighbours that turn a into b. */
static size_t edit_distance(const char *a, const char *b)
{
    enum { MOST = 40 };
    size_t d[MOST + 1][MOST + 1];
    const size_t n = strlen(a), m = strlen(b);
    if (n > MOST || m > MOST)
        return MOST;
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            const bool same = same_case(a[i - 1]) == same_case(b[j - 1]);
            size_t least = d[i - 1][j - 1] + !same;
            least = d[i - 1][j] + 1 < least ? d[i - 1][j] + 1 : least;
            least = d[i][j - 1] + 1 < least ? d[i][j - 1] + 1 : least;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < least)
                least = d[i - 2][j - 2] + 1;
            d[i][j] = least;
        }
    }
    return d[n][m];
}

void cli_guess_offer(cli_guess *guess, const char *name)
{
    const size_t length = strlen(guess->word);
    const size_t whole = strlen(name), rest = whole > length ? whole - length : 0;
    const bool end = rest > 0 && name[rest - 1] == '_' && strcmp(guess->word, name + rest) == 0;
    const bool abbreviation = length >= 3 && (end || strncmp(guess->word, name, length) == 0);
    const size_t distance = abbreviation ? 1 : edit_distance(guess->word, name);
    if (distance > 1 + length / 4 || distance >= length)
        return;
    if (guess->best && guess->distance <= distance)
        return;
    guess->best = name;
    guess->distance = distance;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The rest of the command line, and everything an option may be. */
typedef struct reader {
    cli *c;
    const cli_usage *usage;
    const cli_option *options; /* the command's and the common ones */
    size_t count;
    char **next, **end;
    bool presets; /* are being set: first of all, so that settings given beside them win */
} reader;

static int usage_error(const reader *r, const char *message, const char *detail)
{
    return cli_complain(r->c, CLI_USAGE, "%s%s; `margrave %s --help` shows the use", message,
                        detail, r->c->command);
}

static int set(reader *r, const char *name, const char *value)
{
    if (r->presets != (strcmp(name, "preset") == 0))
        return CLI_GO_ON;
    const mgv_status st = mgv_settings_set(r->c->ctx, r->c->settings, name, value);
    return st == MGV_OK ? CLI_GO_ON : cli_fail(r->c, st);
}

static int unknown(const reader *r, const char *mark, const char *name)
{
    cli_guess guess = {.word = name};
    for (size_t i = 0; i < r->count && !strcmp(mark, "--"); i++)
        cli_guess_offer(&guess, r->options[i].name);
    for (size_t i = 0; i < mgv_setting_count(); i++) {
        const mgv_setting_info s = cli_setting_at(i);
        if (cli_usage_takes(r->usage, &s))
            cli_guess_offer(&guess, s.name);
    }
    if (!guess.best)
        return cli_complain(r->c, CLI_USAGE,
                            "there is no option '%s%.60s'; `margrave %s --help` lists them", mark,
                            name, r->c->command);
    char near[64];
    snprintf(near, sizeof near, "%s", guess.best);
    for (char *at = near; (at = strchr(at, '_'));)
        *at = '-';
    const char *full = strcmp(mark, "-") == 0 ? "--" : mark; /* settings have long names only */
    return cli_complain(r->c, CLI_USAGE, "there is no option '%s%.60s'; did you mean '%s%s'?", mark,
                        name, full, near);
}

/* The value of an option: behind its '=' or the next word. NULL: there is none. */
static const char *value_of(reader *r, const char *equals)
{
    if (equals)
        return equals + 1;
    return r->next < r->end ? *r->next++ : NULL;
}

static int read_own(reader *r, const cli_option *o, const char *given, const char *equals)
{
    if (!o->value) {
        if (equals)
            return usage_error(r, given, " takes no value");
        *o->flag = true;
        return CLI_GO_ON;
    }
    *o->text = value_of(r, equals);
    return *o->text ? CLI_GO_ON : usage_error(r, given, " needs a value");
}

static bool takes_solver(const reader *r)
{
    for (size_t i = 0; i < mgv_setting_count(); i++) {
        const mgv_setting_info s = cli_setting_at(i);
        if (strcmp(s.name, "solver") == 0)
            return cli_usage_takes(r->usage, &s);
    }
    return false;
}

/* NAME=VALUE of --set. */
static int read_assignment(reader *r, const char *text)
{
    const char *equals = text ? strchr(text, '=') : NULL;
    if (!equals)
        return usage_error(r, "--set needs NAME=VALUE", "");
    for (size_t i = 0; i < mgv_setting_count(); i++) {
        const mgv_setting_info s = cli_setting_at(i);
        if (cli_usage_takes(r->usage, &s) && is_name(text, (size_t)(equals - text), s.name))
            return set(r, s.name, equals + 1);
    }
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    if (strchr(name, '.') && takes_solver(r)) /* SOLVER.NAME */
        return set(r, name, equals + 1);
    return unknown(r, "--set ", name);
}

static int read_setting(reader *r, const mgv_setting_info *s, const char *given, const char *equals)
{
    if (cli_setting_is_switch(s) && !equals)
        return set(r, s->name, "yes");
    const char *value = value_of(r, equals);
    return value ? set(r, s->name, value) : usage_error(r, given, " needs a value");
}

static int read_long(reader *r, const char *given)
{
    const char *name = given + 2, *equals = strchr(name, '=');
    const size_t length = equals ? (size_t)(equals - name) : strlen(name);
    for (size_t i = 0; i < r->count; i++)
        if (is_name(name, length, r->options[i].name))
            return read_own(r, &r->options[i], given, equals);
    if (is_name(name, length, "set") && r->usage->settings[0])
        return read_assignment(r, value_of(r, equals));
    for (size_t i = 0; i < mgv_setting_count(); i++) {
        const mgv_setting_info s = cli_setting_at(i);
        if (!cli_usage_takes(r->usage, &s))
            continue;
        if (is_name(name, length, s.name))
            return read_setting(r, &s, given, equals);
        if (cli_setting_is_switch(&s) && length > 3 && strncmp(name, "no-", 3) == 0 &&
            is_name(name + 3, length - 3, s.name))
            return equals ? usage_error(r, given, " takes no value") : set(r, s.name, "no");
    }
    char bare[64];
    snprintf(bare, sizeof bare, "%.*s", (int)length, name);
    return unknown(r, "--", bare);
}

static int read_short(reader *r, const char *given)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->options[i].letter && given[1] == r->options[i].letter && !given[2])
            return read_own(r, &r->options[i], given, NULL);
    return unknown(r, "-", given + 1);
}

static int read_words(reader *r)
{
    bool only_arguments = false;
    cli *c = r->c;
    c->arguments = 0;
    while (r->next < r->end) {
        const char *word = *r->next++;
        int code = CLI_GO_ON;
        if (only_arguments || word[0] != '-' || !word[1]) {
            if (c->arguments == r->usage->most)
                return usage_error(r, "too many arguments: ", word);
            c->argument[c->arguments++] = word;
        } else if (strcmp(word, "--") == 0) {
            only_arguments = true;
        } else {
            code = word[1] == '-' ? read_long(r, word) : read_short(r, word);
        }
        if (code != CLI_GO_ON)
            return code;
    }
    return CLI_GO_ON;
}

static int read_all(reader *r)
{
    char **const first = r->next;
    r->presets = true;
    const int code = read_words(r);
    r->next = first;
    r->presets = false;
    return code == CLI_GO_ON ? read_words(r) : code;
}

static int apply(cli *c)
{
    mgv_status st = mgv_ctx_set_backend(c->ctx, cli_setting(c, "backend").text);
    if (st == MGV_OK)
        st = mgv_ctx_set_threads(c->ctx, atoi(cli_setting(c, "threads").text));
    return st == MGV_OK ? CLI_GO_ON : cli_fail(c, st);
}

int cli_parse(cli *c, const cli_usage *usage, int argc, char **argv)
{
    enum { MOST = 16 };
    bool quiet = false, verbose = false, help = false;
    const cli_option common[] = {
        {"json", 0, NULL, "one JSON object on stdout, nothing else", &c->json, NULL},
        {"quiet", 'q', NULL, "no progress, no warnings", &quiet, NULL},
        {"verbose", 'v', NULL, "log lines and every certificate on stderr", &verbose, NULL},
        {"help", 'h', NULL, "this text", &help, NULL}};
    cli_option options[MOST];
    size_t count = 0;
    for (size_t i = 0; i < usage->option_count && count < MOST; i++)
        options[count++] = usage->options[i];
    for (size_t i = 0; i < sizeof common / sizeof *common && count < MOST; i++)
        options[count++] = common[i];
    const cli_sheet sheet = {c->command, usage, options, count};
    if (c->on_sheet) {
        c->on_sheet(c->on_sheet_user, &sheet);
        return CLI_DONE;
    }
    reader r = {.c = c,
                .usage = usage,
                .options = options,
                .count = count,
                .next = argv,
                .end = argv + argc};
    const int code = read_all(&r);
    if (help) {
        cli_sheet_print_help(&sheet);
        return CLI_DONE;
    }
    if (code != CLI_GO_ON)
        return code;
    if (c->arguments < usage->least)
        return usage_error(&r, "expected ", usage->arguments);
    c->terminal.verbosity = verbose ? CLI_VERBOSE : quiet ? CLI_QUIET : CLI_NORMAL;
    return apply(c);
}
