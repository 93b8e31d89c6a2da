/* completion.c - `margrave completion`: a script that teaches a shell the commands, their options
 * and the words these take. All of it comes from the sheets of the commands: no option is named
 * here. */
#include "sheet.h"

#include <string.h>

/* ---- shared by the shells -------------------------------------------------------------------- */

/* Prints `text` with a backslash before each of the `special` characters. */
static void print_escaped(const char *text, const char *special)
{
    for (; *text; text++) {
        if (strchr(special, *text))
            putchar('\\');
        putchar(*text);
    }
}

static bool is_set(const cli_shown *o) { return o->group && !o->group[0]; }

/* "task= loss= ...": what may follow --set. */
static void print_set_words(const cli_sheet *sheet)
{
    cli_shown o;
    const char *gap = "";
    for (size_t at = 0; cli_sheet_next(sheet, &at, &o);) {
        if (!o.group || is_set(&o))
            continue;
        printf("%s%s=", gap, o.name);
        gap = " ";
    }
}

/* What the first argument is; "" where there is none. A command's arguments are all alike. */
static cli_placeholder first_argument(const cli_sheet *sheet)
{
    cli_placeholder p;
    const char *at = sheet->usage->arguments;
    cli_placeholder_next(&at, &p);
    return p;
}

static void for_each_command(cli *c, cli_sheet_fn fn)
{
    for (size_t i = 0; cli_command_at(i); i++)
        cli_sheet_show(c, cli_command_at(i), fn, NULL);
}

static void print_commands(void) { cli_value_print_words("COMMAND", ""); }

/* ---- bash ------------------------------------------------------------------------------------ */

static void bash_value(const cli_sheet *sheet, const cli_shown *o)
{
    fputs("                ", stdout);
    if (o->letter)
        printf("-%c | ", o->letter);
    printf("--%s) ", o->name);
    if (is_set(o)) {
        fputs("compopt -o nospace 2>/dev/null; _margrave_words '", stdout);
        print_set_words(sheet);
        fputs("'; ", stdout);
    } else if (cli_value_expects(o->value) == CLI_EXPECTS_FILE) {
        fputs("_margrave_files; ", stdout);
    } else if (cli_value_expects(o->value) == CLI_EXPECTS_WORD) {
        fputs("_margrave_words '", stdout);
        cli_value_print_words(o->value, o->fallback);
        fputs("'; ", stdout);
    }
    puts("return ;;");
}

static void bash_command(void *user, const cli_sheet *sheet)
{
    cli_shown o;
    (void)user;
    printf("        %s)\n            case $option in\n", sheet->command);
    for (size_t at = 0; cli_sheet_next(sheet, &at, &o);)
        if (o.value)
            bash_value(sheet, &o);
        else if (o.both)
            printf("                --%s) ((equals)) && _margrave_words 'yes no' && return ;;\n",
                   o.name);
    fputs("                *) ;;\n            esac\n            _margrave_rest '", stdout);
    const char *gap = "";
    for (size_t at = 0; cli_sheet_next(sheet, &at, &o); gap = " ") {
        printf("%s--%s", gap, o.name);
        if (o.both)
            printf(" --no-%s", o.name);
    }
    fputs("' '", stdout);
    const cli_placeholder argument = first_argument(sheet);
    if (cli_value_expects(argument.text) == CLI_EXPECTS_FILE)
        fputs("FILE", stdout);
    else if (argument.text[0])
        cli_value_print_words(argument.text, "");
    puts("'\n            ;;");
}

static void bash_script(cli *c)
{
    puts("_margrave_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$current\"); }\n"
         "_margrave_files() {\n"
         "    compopt -o filenames 2>/dev/null\n"
         "    mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
         "}\n"
         "# _margrave_rest OPTIONS ARGUMENTS - neither stands behind an option with a value.\n"
         "_margrave_rest() {\n"
         "    if [[ $current == -* ]]; then\n"
         "        _margrave_words \"$1\"\n"
         "    elif [[ $2 == FILE ]]; then\n"
         "        _margrave_files\n"
         "    else\n"
         "        _margrave_words \"$2\"\n"
         "    fi\n"
         "}\n"
         "_margrave() {\n"
         "    local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} "
         "equals=0\n"
         "    COMPREPLY=()\n"
         "    # --name=value comes as three words, --set name=value as four.\n"
         "    if [[ $current == = ]]; then\n"
         "        equals=$COMP_CWORD current=\n"
         "    elif [[ $option == = ]]; then\n"
         "        equals=$((COMP_CWORD - 1))\n"
         "    fi\n"
         "    if ((equals > 2)); then\n"
         "        option=${COMP_WORDS[equals - 1]}\n"
         "        [[ ${COMP_WORDS[equals - 2]} == --set ]] && option=--${option//_/-}\n"
         "    fi");
    fputs("    if ((COMP_CWORD == 1)); then\n        _margrave_words '", stdout);
    print_commands();
    fputs(" help --help --version'\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n"
          "        help) _margrave_words '",
          stdout);
    print_commands();
    puts("' ;;");
    for_each_command(c, bash_command);
    puts("        *) ;;\n    esac\n}\ncomplete -F _margrave margrave");
}

/* ---- zsh ------------------------------------------------------------------------------------- */

/* Inside single quotes and brackets or between colons. */
static void zsh_text(const char *text)
{
    for (; *text; text++) {
        const char one[2] = {*text, 0};
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            print_escaped(one, "\\[]:`$");
    }
}

/* ":VALUE:what completes it" */
static void zsh_value(const cli_sheet *sheet, const char *value, const char *fallback)
{
    putchar(':');
    zsh_text(value);
    putchar(':');
    if (strcmp(value, "NAME=VALUE") == 0) {
        fputs("{compadd -S \"\" -- ", stdout);
        print_set_words(sheet);
        putchar('}');
    } else if (cli_value_expects(value) == CLI_EXPECTS_FILE) {
        fputs("_files", stdout);
    } else if (cli_value_expects(value) == CLI_EXPECTS_WORD) {
        putchar('(');
        cli_value_print_words(value, fallback);
        putchar(')');
    }
}

static void zsh_option(const cli_sheet *sheet, const cli_shown *o, const char *no)
{
    const char *equals = o->value ? "=" : "";
    fputs(" \\\n                        ", stdout);
    if (o->letter)
        printf("'(-%c --%s)'{-%c,--%s%s}'[", o->letter, o->name, o->letter, o->name, equals);
    else
        printf("'%s--%s%s%s[", is_set(o) ? "*" : "", no, o->name, equals);
    zsh_text(o->help);
    putchar(']');
    if (o->value)
        zsh_value(sheet, o->value, o->fallback);
    putchar('\'');
}

static void zsh_command(void *user, const cli_sheet *sheet)
{
    cli_shown o;
    (void)user;
    printf("                %s)\n                    _arguments -S", sheet->command);
    for (size_t at = 0; cli_sheet_next(sheet, &at, &o);) {
        zsh_option(sheet, &o, "");
        if (o.both)
            zsh_option(sheet, &o, "no-");
    }
    cli_placeholder argument;
    int number = 1;
    for (const char *at = sheet->usage->arguments; cli_placeholder_next(&at, &argument); number++) {
        printf(" \\\n                        '%d", number);
        zsh_value(sheet, argument.text, "");
        putchar('\'');
    }
    puts("\n                    ;;");
}

static void zsh_script(cli *c)
{
    puts("_margrave() {\n"
         "    local curcontext=$curcontext state line\n"
         "    local -a commands=(");
    for (size_t i = 0; cli_command_at(i); i++) {
        printf("        '%s:", cli_command_at(i)->name);
        zsh_text(cli_command_at(i)->summary);
        puts("'");
    }
    fputs("        'help:the help of a command'\n"
          "    )\n"
          "    _arguments -C '(- *)'{-h,--help}'[the commands]' '(- *)--version[the version]' \\\n"
          "        '1: :->command' '*:: :->argument'\n"
          "    case $state in\n"
          "        command) _describe -t commands command commands ;;\n"
          "        argument)\n"
          "            case $words[1] in\n"
          "                help) _arguments '1:COMMAND:(",
          stdout);
    print_commands();
    puts(")' ;;");
    for_each_command(c, zsh_command);
    puts("            esac\n"
         "            ;;\n"
         "    esac\n"
         "}\n"
         "# Loaded by name out of $fpath this is the function, sourced it only says where it is.\n"
         "if [[ $funcstack[1] == _margrave ]]; then\n"
         "    _margrave \"$@\"\n"
         "else\n"
         "    compdef _margrave margrave\n"
         "fi");
}

/* ---- fish ------------------------------------------------------------------------------------ */

static void fish_words(const char *value, const char *fallback)
{
    if (cli_value_expects(value) != CLI_EXPECTS_WORD)
        return;
    fputs(" -a '", stdout);
    cli_value_print_words(value, fallback);
    putchar('\'');
}

static void fish_option(const cli_sheet *sheet, const cli_shown *o, const char *no)
{
    printf("complete -c margrave -n '__margrave_is %s' -l %s%s", sheet->command, no, o->name);
    if (o->letter)
        printf(" -s %c", o->letter);
    if (is_set(o)) {
        fputs(" -x -a '", stdout);
        print_set_words(sheet);
        putchar('\'');
    } else if (o->value) {
        fputs(cli_value_expects(o->value) == CLI_EXPECTS_FILE ? " -r -F" : " -x", stdout);
        fish_words(o->value, o->fallback);
    }
    fputs(" -d '", stdout);
    print_escaped(o->help, "'\\");
    puts("'");
}

static void fish_command(void *user, const cli_sheet *sheet)
{
    cli_shown o;
    (void)user;
    for (size_t at = 0; cli_sheet_next(sheet, &at, &o);) {
        fish_option(sheet, &o, "");
        if (o.both)
            fish_option(sheet, &o, "no-");
    }
    const cli_placeholder argument = first_argument(sheet);
    if (!argument.text[0])
        return;
    printf("complete -c margrave -n '__margrave_is %s'", sheet->command);
    if (cli_value_expects(argument.text) == CLI_EXPECTS_FILE)
        fputs(" -F", stdout);
    fish_words(argument.text, "");
    putchar('\n');
}

static void fish_script(cli *c)
{
    puts("function __margrave_starts\n"
         "    test (count (commandline -opc)) -eq 1\n"
         "end\n"
         "function __margrave_is\n"
         "    set -l words (commandline -opc)\n"
         "    test (count $words) -gt 1; and test $words[2] = $argv[1]\n"
         "end\n"
         "complete -c margrave -f\n"
         "complete -c margrave -n __margrave_starts -l help -s h -d 'the commands'\n"
         "complete -c margrave -n __margrave_starts -l version -d 'the version'\n"
         "complete -c margrave -n __margrave_starts -a help -d 'the help of a command'");
    for (size_t i = 0; cli_command_at(i); i++) {
        printf("complete -c margrave -n __margrave_starts -a %s -d '", cli_command_at(i)->name);
        print_escaped(cli_command_at(i)->summary, "'\\");
        puts("'");
    }
    fputs("complete -c margrave -n '__margrave_is help'", stdout);
    fish_words("COMMAND", "");
    putchar('\n');
    for_each_command(c, fish_command);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct {
    const char *name, *head;
    void (*print)(cli *c);
} shells[] = {{"bash", "", bash_script},
              {"zsh", "#compdef margrave\n", zsh_script},
              {"fish", "", fish_script}};
enum { SHELLS = sizeof shells / sizeof *shells };

static int unknown_shell(cli *c)
{
    cli_guess guess = {.word = c->argument[0]};
    for (int i = 0; i < SHELLS; i++)
        cli_guess_offer(&guess, shells[i].name);
    if (guess.best)
        return cli_complain(c, CLI_USAGE, "there is no script for '%.60s'; did you mean '%s'?",
                            c->argument[0], guess.best);
    return cli_complain(c, CLI_USAGE,
                        "there is no script for '%.60s'; there are ones for bash, zsh and fish",
                        c->argument[0]);
}

int cli_completion(cli *c, int argc, char **argv)
{
    const cli_usage usage = {
        .arguments = "bash|zsh|fish",
        .purpose = "Prints a script that lets the shell complete commands, options, registered "
                   "names and files.\nAn installed margrave has it where the shells look; "
                   "otherwise source it.",
        .example = "source <(margrave completion bash)",
        .least = 1,
        .most = 1,
        .settings = ""};
    const int code = cli_parse(c, &usage, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    if (c->json)
        return cli_complain(c, CLI_USAGE, "a script has no JSON; try `margrave list --json`");
    for (int i = 0; i < SHELLS; i++) {
        if (strcmp(c->argument[0], shells[i].name) != 0)
            continue;
        printf("%s# %s completion of margrave %s, printed by `margrave completion %s`.\n",
               shells[i].head, shells[i].name, mgv_version(), shells[i].name);
        shells[i].print(c);
        return CLI_DONE;
    }
    return unknown_shell(c);
}
