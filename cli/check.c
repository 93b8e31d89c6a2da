/* check.c - `margrave check`: the data doctor. */
#include "options.h"

int cli_check(cli *c, int argc, char **argv)
{
    const cli_usage usage = {
        .arguments = "DATA",
        .purpose =
            "Reads DATA (- is stdin) and says what is in it: shape, classes, duplicates, "
            "order, scaling,\nand what `fit` would do with the same options. Warnings do not "
            "change the exit code.",
        .example = "margrave check a9a",
        .least = 1,
        .most = 1,
        .settings = "problem solver data threads !sample_weight !lower !upper"};
    int code = cli_parse(c, &usage, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    mgv_data *data = cli_read(c, c->argument[0], &code);
    if (!data)
        return code;
    char *text = NULL;
    const mgv_status st =
        c->json ? mgv_data_check(c->ctx, data, c->argument[0], c->settings, &text)
                : mgv_data_check_text(c->ctx, data, c->argument[0], c->settings, &text);
    code = CLI_DONE;
    if (st != MGV_OK)
        code = cli_fail(c, st);
    else
        printf("%s%s", text, c->json ? "\n" : "");
    mgv_string_free(c->ctx, text);
    mgv_data_free(c->ctx, data);
    return code;
}
