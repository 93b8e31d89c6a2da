/* list.c - `margrave list`: everything registered, and what this machine uses of it. */
#include "sheet.h"

#include <string.h>

static bool wanted(const char *asked, const char *kind)
{
    return !asked || strcmp(asked, kind) == 0 || strcmp(asked, cli_plural_of(kind).text) == 0;
}

static int unknown_kind(cli *c)
{
    cli_guess guess = {.word = c->argument[0]};
    cli_plural names[16];
    size_t count = 0;
    for (size_t i = 0; i < mgv_registry_count() && count < 15; i++)
        if (cli_entry_opens_kind(i))
            names[count++] = cli_plural_of(cli_entry_at(i).kind);
    names[count++] = cli_plural_of("setting");
    for (size_t i = 0; i < count; i++)
        cli_guess_offer(&guess, names[i].text);
    if (guess.best)
        return cli_complain(c, CLI_USAGE, "there is no kind '%.60s'; did you mean '%s'?",
                            c->argument[0], guess.best);
    return cli_complain(c, CLI_USAGE, "there is no kind '%.60s'; `margrave list` shows them all",
                        c->argument[0]);
}

/* ---- for people ------------------------------------------------------------------------------ */

/* The longest name of a kind, but at least one that looks well. */
static int width(const char *kind)
{
    int widest = 16;
    for (size_t i = 0; i < mgv_registry_count(); i++) {
        const mgv_entry e = cli_entry_at(i);
        const int length = (int)strlen(e.name);
        if (strcmp(kind, e.kind) == 0 && length > widest)
            widest = length;
    }
    return widest;
}

static size_t print_entries(const char *asked)
{
    size_t printed = 0;
    for (size_t i = 0; i < mgv_registry_count(); i++) {
        const mgv_entry e = cli_entry_at(i);
        if (!wanted(asked, e.kind))
            continue;
        if (cli_entry_opens_kind(i))
            printf("%s%s:\n", printed ? "\n" : "", cli_plural_of(e.kind).text);
        printf("  %-*s %s\n", width(e.kind), e.name, e.summary);
        printed++;
    }
    return printed;
}

static void print_settings(void)
{
    puts("settings (NAME, default, allowed, meaning):");
    for (size_t i = 0; i < mgv_setting_count(); i++) {
        mgv_setting_info s = {.size = sizeof s};
        mgv_setting_at(i, &s);
        printf("  %-14s %-8s %s\n  %24s%s\n", s.name, s.default_text[0] ? s.default_text : "unset",
               s.allowed, "", s.help);
    }
}

/* ---- for programs ---------------------------------------------------------------------------- */

static void print_string(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('"');
}

static void print_pair(const char *name, const char *value, const char *end)
{
    print_string(name);
    fputs(": ", stdout);
    print_string(value);
    fputs(end, stdout);
}

static void print_json(const cli *c, const char *asked)
{
    const char *comma = "";
    printf("{\"version\": \"%s\", \"command\": \"list\",\n \"in_use\": {", mgv_version());
    print_pair("simd", mgv_ctx_simd(c->ctx), ", ");
    print_pair("caches", mgv_ctx_caches(c->ctx), ", \"backend\": \"cpu\", \"algebra\": \"own\", ");
    printf("\"threads\": %d},\n \"registered\": [", mgv_ctx_threads(c->ctx));
    for (size_t i = 0; i < mgv_registry_count(); i++) {
        const mgv_entry e = cli_entry_at(i);
        if (!wanted(asked, e.kind))
            continue;
        printf("%s\n  {", comma);
        print_pair("kind", e.kind, ", ");
        print_pair("name", e.name, ", ");
        print_pair("summary", e.summary, "}");
        comma = ",";
    }
    fputs("],\n \"settings\": [", stdout);
    comma = "";
    for (size_t i = 0; i < mgv_setting_count() && wanted(asked, "setting"); i++) {
        mgv_setting_info s = {.size = sizeof s};
        mgv_setting_at(i, &s);
        printf("%s\n  {", comma);
        print_pair("name", s.name, ", ");
        print_pair("group", s.group, ", ");
        print_pair("type", s.type, ", ");
        print_pair("default", s.default_text, ", ");
        print_pair("allowed", s.allowed, ", ");
        print_pair("help", s.help, "}");
        comma = ",";
    }
    puts("]}");
}

/* ---- the command ----------------------------------------------------------------------------- */

int cli_list(cli *c, int argc, char **argv)
{
    const cli_usage usage = {
        .arguments = "[KIND]",
        .purpose = "Lists what this build has: losses, penalties, solvers, stopping rules, "
                   "operators, readers,\nwriters, backends, SIMD levels, and with `list settings` "
                   "every setting.",
        .example = "margrave list losses",
        .most = 1,
        .settings = "threads"};
    const int code = cli_parse(c, &usage, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    const char *asked = c->arguments ? c->argument[0] : NULL;
    bool known = wanted(asked, "setting");
    for (size_t i = 0; i < mgv_registry_count(); i++)
        known = known || wanted(asked, cli_entry_at(i).kind);
    if (!known)
        return unknown_kind(c);
    if (c->json) {
        print_json(c, asked);
        return CLI_DONE;
    }
    print_entries(asked);
    if (asked && wanted(asked, "setting"))
        print_settings();
    if (!asked)
        printf(
            "\nin use: backend cpu, %d threads, simd %s, caches %s, linear algebra by margrave's "
            "own kernels\n(`margrave list settings` shows what can be set)\n",
            mgv_ctx_threads(c->ctx), mgv_ctx_simd(c->ctx), mgv_ctx_caches(c->ctx));
    return CLI_DONE;
}
