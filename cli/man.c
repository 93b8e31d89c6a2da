/* man.c - `margrave man`: the manual page, or that of one command, in the man macros of troff. Made
 * from the sheets of the commands, the settings table and the registry. */
#include "sheet.h"

#include <ctype.h>
#include <string.h>

/* ---- troff ----------------------------------------------------------------------------------- */

/* Prints text so that troff shows these very characters; `words` between backticks become bold. */
static void print_text(const char *text)
{
    bool bold = false, line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            fputs("\\&", stdout); /* not a request */
        line_start = *text == '\n';
        switch (*text) {
        case '`':
            bold = !bold;
            fputs(bold ? "\\fB" : "\\fP", stdout);
            break;
        case '\\':
            fputs("\\e", stdout);
            break;
        case '-':
            fputs("\\-", stdout);
            break;
        case '\'':
            fputs("\\(aq", stdout);
            break;
        case '"':
            fputs("\\(dq", stdout);
            break;
        case '^':
            fputs("\\(ha", stdout);
            break;
        case '~':
            fputs("\\(ti", stdout);
            break;
        default:
            putchar(*text);
        }
    }
    if (bold)
        fputs("\\fP", stdout);
}

static void print_font(char font, const char *text)
{
    printf("\\f%c", font);
    print_text(text);
    fputs("\\fP", stdout);
}

static void print_line(const char *text)
{
    print_text(text);
    putchar('\n');
}

static void print_section(const char *title) { printf(".SH %s\n", title); }

/* A paragraph with a hanging name. */
static void print_item(const char *name, const char *text)
{
    puts(".TP");
    print_font('B', name);
    putchar('\n');
    print_line(text);
}

static void print_example(const char *command)
{
    puts(".PP\n.nf\n.RS");
    print_line(command);
    puts(".RE\n.fi");
}

/* ---- options --------------------------------------------------------------------------------- */

static void print_option(const cli_shown *o)
{
    char name[80];
    puts(".TP");
    if (o->letter) {
        snprintf(name, sizeof name, "-%c", o->letter);
        print_font('B', name);
        fputs(", ", stdout);
    }
    snprintf(name, sizeof name, "--%s", o->name);
    print_font('B', name);
    if (o->both) {
        snprintf(name, sizeof name, "--no-%s", o->name);
        fputs(", ", stdout);
        print_font('B', name);
    }
    if (o->value) {
        putchar(' ');
        print_font(isupper((unsigned char)o->value[0]) ? 'I' : 'B', o->value);
    }
    putchar('\n');
    print_text(o->help);
    if (o->fallback[0]) {
        fputs(" (default: ", stdout);
        print_text(o->fallback);
        putchar(')');
    }
    putchar('\n');
}

/* The settings under a heading per group, and --set. `heading` is the macro. */
static void print_settings(const cli_sheet *sheet, const char *heading)
{
    const char *group = "";
    cli_shown o;
    for (size_t at = sheet->count; cli_sheet_next(sheet, &at, &o);) {
        if (o.group[0] && strcmp(group, o.group) != 0) {
            printf("%s \"", heading);
            for (const char *letter = o.group; *letter; letter++)
                putchar(strcmp(heading, ".SH") == 0 ? toupper((unsigned char)*letter) : *letter);
            puts(strcmp(heading, ".SH") == 0 ? " SETTINGS\"" : " settings\"");
        }
        group = o.group;
        print_option(&o);
    }
}

/* The options `from` ... `to` - 1 of a sheet, none of them settings. */
static void print_options(const cli_sheet *sheet, size_t from, size_t to)
{
    cli_shown o;
    while (from < to && cli_sheet_next(sheet, &from, &o))
        print_option(&o);
}

static void print_synopsis(const cli_sheet *sheet)
{
    cli_placeholder argument;
    fputs("\\fBmargrave ", stdout);
    print_text(sheet->command);
    fputs("\\fP", stdout);
    for (const char *at = sheet->usage->arguments; cli_placeholder_next(&at, &argument);) {
        const bool optional = at[0] == ']';
        fputs(optional ? " [" : " ", stdout);
        print_font(isupper((unsigned char)argument.text[0]) ? 'I' : 'B', argument.text);
        fputs(optional ? "]" : "", stdout);
    }
    puts(" [\\fIOPTION\\fP...]");
}

/* ---- parts of both pages --------------------------------------------------------------------- */

static void print_title(const char *name, const char *summary)
{
    fputs(".\\\" Printed by `margrave man`; do not edit.\n.TH \"", stdout);
    for (const char *letter = name; *letter; letter++)
        putchar(toupper((unsigned char)*letter));
    printf("\" 1 \"\" \"margrave %s\" \"User Commands\"\n", mgv_version());
    print_section("NAME");
    print_text(name);
    fputs(" \\- ", stdout);
    print_line(summary);
}

static void print_exit_codes(void)
{
    static const struct {
        int code;
        const char *meaning;
    } codes[] = {
        {CLI_DONE, "done"},
        {CLI_FAILURE, "failure: a file cannot be read or written, no memory"},
        {CLI_USAGE, "wrong use, or bad input"},
        {CLI_STOPPED, "stopped by a budget or a signal before the certificate; the model is saved"},
        {CLI_NO_SOLUTION, "proven to have no solution, such as a hard margin on inseparable data; "
                          "the proof is printed"}};
    print_section("\"EXIT STATUS\"");
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char code[8];
        snprintf(code, sizeof code, "%d", codes[i].code);
        print_item(code, codes[i].meaning);
    }
}

static void print_environment(void)
{
    print_section("ENVIRONMENT");
    print_item("MGV_SIMD", "overrides the choice of instruction set: `scalar`, or another one that "
                           "`margrave list simd` names");
    print_item("MGV_CACHE",
               "overrides the sizes of the caches found: `32K,512K,4M`, the first, the "
               "second, and one processor's share of the last; later ones may be left "
               "out. `margrave list` says which are in use");
}

/* ---- the page of a command ------------------------------------------------------------------- */

static void command_page(void *user, const cli_sheet *sheet)
{
    const cli_command *command = user;
    char name[64];
    snprintf(name, sizeof name, "margrave-%s", command->name);
    print_title(name, command->summary);
    print_section("SYNOPSIS");
    print_synopsis(sheet);
    print_section("DESCRIPTION");
    print_line(sheet->usage->purpose);
    print_section("OPTIONS");
    print_options(sheet, 0, sheet->count);
    print_settings(sheet, ".SH");
    print_exit_codes();
    print_environment();
    print_section("EXAMPLES");
    print_example(sheet->usage->example);
    print_section("\"SEE ALSO\"");
    puts(".BR margrave (1)");
}

/* ---- the page of them all -------------------------------------------------------------------- */

static bool is_group(const char *word)
{
    for (size_t i = 0; i < mgv_setting_count(); i++)
        if (strcmp(cli_setting_at(i).group, word) == 0)
            return true;
    return false;
}

/* "Settings: problem, data, --threads; not --format.": from the words of usage->settings. */
static void print_taken(const cli_usage *usage)
{
    const char *gap = "";
    if (!usage->settings[0])
        return;
    fputs(".PP\nSettings: ", stdout);
    for (const char *at = usage->settings; *at; at += strspn(at, " ")) {
        char word[64];
        const size_t length = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        at += length;
        for (char *underscore = word; (underscore = strchr(underscore, '_'));)
            *underscore = '-';
        const bool left_out = word[0] == '!', marked = left_out || word[0] == '=';
        printf("%s%s", left_out ? "; " : gap,
               left_out         ? "not \\fB\\-\\-"
               : is_group(word) ? ""
                                : "\\fB\\-\\-");
        print_text(word + marked);
        fputs(is_group(word) ? "" : "\\fP", stdout);
        gap = ", ";
    }
    puts(".");
}

static void command_section(void *user, const cli_sheet *sheet)
{
    (void)user;
    printf(".SS %s\n", sheet->command);
    print_synopsis(sheet);
    puts(".PP");
    print_line(sheet->usage->purpose);
    print_options(sheet, 0, sheet->usage->option_count);
    print_taken(sheet->usage);
}

static void common_options(void *user, const cli_sheet *sheet)
{
    (void)user;
    print_options(sheet, sheet->usage->option_count, sheet->count);
}

static void command_example(void *user, const cli_sheet *sheet)
{
    (void)user;
    print_example(sheet->usage->example);
}

static void print_all_settings(void)
{
    const cli_usage everything = {.settings = CLI_EVERY_SETTING};
    const cli_sheet sheet = {.usage = &everything};
    print_section("SETTINGS");
    puts("A command takes those it names above. A dash in a name may be written as an underscore.");
    print_settings(&sheet, ".SS");
}

/* SIMD levels are left out: they are those of the machine the page is made on. */
static void print_registered(void)
{
    print_section("REGISTERED");
    puts("What the settings and options call by name.");
    for (size_t i = 0; i < mgv_registry_count(); i++) {
        const mgv_entry e = cli_entry_at(i);
        if (strcmp(e.kind, "simd") == 0)
            continue;
        if (cli_entry_opens_kind(i))
            printf(".SS %s\n", cli_plural_of(e.kind).text);
        print_item(e.name, e.summary);
    }
}

static void print_files(void)
{
    print_section("FILES");
    puts("Every output is written under a temporary name and renamed when it is whole.");
    print_item("*.mgm", "a model: what `fit` saves and `predict` reads (safetensors layout)");
    print_item("*.mgd", "a cache of data that opens at once because it is mapped (safetensors "
                        "layout); `convert` makes it");
    puts(".PP\nThe other formats of data stand under readers and writers above; gz, bz2, xz and\n"
         "zst are unpacked as they are read.");
}

static void whole_page(cli *c)
{
    print_title("margrave", "certified large-margin classifiers");
    print_section("SYNOPSIS");
    puts("\\fBmargrave\\fP \\fICOMMAND\\fP [\\fIARGUMENT\\fP...] [\\fIOPTION\\fP...]\n.br\n"
         "\\fBmargrave help\\fP [\\fICOMMAND\\fP]\n.br\n\\fBmargrave \\-\\-version\\fP");
    print_section("DESCRIPTION");
    print_line(CLI_PURPOSE);
    print_line("Results go to standard output, log and progress to standard error;\n"
               "- as a file is standard input or output.");
    puts(".PP");
    print_line(
        "Options are written `--name` VALUE or `--name=`VALUE, and `--` ends them. The first "
        "SIGINT or\nSIGTERM ends a fit with the best model so far, a second one ends the "
        "program at once.");
    puts(".PP\nThe commands:");
    for (size_t i = 0; cli_command_at(i); i++)
        print_item(cli_command_at(i)->name, cli_command_at(i)->summary);
    print_section("COMMANDS");
    for (size_t i = 0; cli_command_at(i); i++)
        cli_sheet_show(c, cli_command_at(i), command_section, NULL);
    print_section("OPTIONS");
    puts("Those of every command:");
    cli_sheet_show(c, cli_command_at(0), common_options, NULL);
    print_all_settings();
    print_registered();
    print_exit_codes();
    print_files();
    print_environment();
    print_section("EXAMPLES");
    for (size_t i = 0; cli_command_at(i); i++)
        cli_sheet_show(c, cli_command_at(i), command_example, NULL);
}

/* ---- the command ----------------------------------------------------------------------------- */

int cli_man(cli *c, int argc, char **argv)
{
    const cli_usage usage = {
        .arguments = "[COMMAND]",
        .purpose = "Prints the manual page, or the one of COMMAND, in troff; an installed margrave "
                   "has it where\n`man margrave` looks.",
        .example = "margrave man fit | man -l -",
        .most = 1,
        .settings = ""};
    const int code = cli_parse(c, &usage, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    if (c->json)
        return cli_complain(c, CLI_USAGE, "a manual has no JSON; try `margrave list --json`");
    if (!c->arguments) {
        whole_page(c);
        return CLI_DONE;
    }
    const cli_command *command = cli_command_find(c->argument[0]);
    if (!command)
        return cli_command_unknown(c->argument[0]);
    cli_sheet_show(c, command, command_page, (void *)command);
    return CLI_DONE;
}
