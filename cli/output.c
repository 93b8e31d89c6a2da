/* output.c - the files that commands write. */
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Cuts one of the endings off `name`, unless nothing would be left. */
static void cut_ending(char *name, const char *const *endings)
{
    const size_t length = strlen(name);
    for (; *endings; endings++) {
        const size_t n = strlen(*endings);
        if (length > n && strcmp(name + length - n, *endings) == 0) {
            name[length - n] = 0;
            return;
        }
    }
}

char *cli_model_name(const char *data)
{
    static const char *const packed[] = {".gz", ".bz2", ".xz", ".zst", NULL};
    static const char *const formats[] = {".svm", ".dat", ".data", ".libsvm", ".svmlight",
                                          ".txt", ".csv", ".tsv",  ".npy",    ".npz",
                                          ".mtx", ".idx", ".mgd",  NULL};
    const char *slash = strrchr(data, '/');
    const char *base = strcmp(data, "-") == 0 ? "model" : slash ? slash + 1 : data;
    const size_t size = strlen(base) + sizeof ".mgm";
    char *name = malloc(size);
    if (!name)
        return NULL;
    strcpy(name, base);
    cut_ending(name, packed);
    cut_ending(name, formats);
    strcat(name, ".mgm");
    return name;
}

int cli_try_name(cli *c, const char *file)
{
    const char *slash = strrchr(file, '/');
    char *folder = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
    const bool fits = folder && access(folder, W_OK | X_OK) == 0;
    const int reason = errno;
    free(folder);
    return fits ? CLI_GO_ON
                : cli_complain(c, CLI_FAILURE, "%s: cannot be written: %s", file, strerror(reason));
}

static bool is_name(const char *file) { return file && *file && strcmp(file, "-") != 0; }

/* Devices may be read and written by one command. */
static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

static int compare(cli *c, const char *output, const char *input)
{
    return is_name(input) && same_file(output, input)
               ? cli_complain(c, CLI_USAGE,
                              "%s: this is also read (%s) and would be lost; name another output",
                              output, input)
               : CLI_GO_ON;
}

static int compare_settings(cli *c, const char *output)
{
    static const char *const names[] = {"labels",         "names",         "groups",
                                        "penalty_weight", "sample_weight", "validation_labels",
                                        "lower",          "upper"};
    int code = CLI_GO_ON;
    for (size_t i = 0; i < sizeof names / sizeof *names && code == CLI_GO_ON; i++)
        code = compare(c, output, cli_setting(c, names[i]).text);
    const cli_text select = cli_setting(c, "select");
    const bool file = strncmp(select.text, "val:", 4) == 0;
    return code == CLI_GO_ON && file ? compare(c, output, select.text + 4) : code;
}

int cli_keep_apart(cli *c, const char *const *outputs, int output_count, const char *const *inputs,
                   int input_count)
{
    for (int i = 0; i < output_count; i++) {
        if (!is_name(outputs[i]))
            continue;
        int code = compare_settings(c, outputs[i]);
        for (int k = 0; k < input_count && code == CLI_GO_ON; k++)
            code = compare(c, outputs[i], inputs[k]);
        for (int k = 0; k < i && code == CLI_GO_ON; k++)
            if (is_name(outputs[k]) &&
                (strcmp(outputs[i], outputs[k]) == 0 || same_file(outputs[i], outputs[k])))
                code = cli_complain(c, CLI_USAGE, "%s: two outputs have this name", outputs[i]);
        if (code != CLI_GO_ON)
            return code;
    }
    return CLI_GO_ON;
}

int cli_keep_state_apart(cli *c, const char *const *outputs, int output_count,
                         const char *const *inputs, int input_count)
{
    enum { MOST = 8 };
    const cli_text checkpoint = cli_setting(c, "checkpoint"), resume = cli_setting(c, "resume");
    const char *files[MOST] = {checkpoint.text}, *const read = resume.text;
    for (int i = 0; i < output_count; i++)
        files[i + 1] = outputs[i];
    int code = cli_keep_apart(c, files, output_count + 1, inputs, input_count);
    if (code == CLI_GO_ON)
        code = cli_keep_apart(c, outputs, output_count, &read, 1);
    return code == CLI_GO_ON && is_name(files[0]) ? cli_try_name(c, files[0]) : code;
}

bool cli_print_resume(cli *c, FILE *out, bool unsaved)
{
    const cli_text checkpoint = cli_setting(c, "checkpoint");
    if (!checkpoint.text[0] || unsaved)
        return false;
    fprintf(out, "next         the same command with --resume %s and a larger budget\n",
            checkpoint.text);
    return true;
}

int cli_unsaved(cli *c, bool unsaved, const char *saved, int code)
{
    if (!unsaved)
        return code;
    return cli_complain(c, CLI_FAILURE, "%s: the last checkpoint could not be written%s%s%s",
                        cli_setting(c, "checkpoint").text, saved ? "; the " : "",
                        saved ? saved : "", saved ? " is saved" : "");
}

/* ---- files that appear whole or not at all --------------------------------------------------- */

static ssize_t write_through(void *cookie, const char *bytes, size_t size)
{
    const cli_output *out = cookie;
    return mgv_output_write(out->ctx, out->file, bytes, size) == MGV_OK ? (ssize_t)size : 0;
}

int cli_output_open(cli *c, const char *file, cli_output *out)
{
    enum { ROOM = 1 << 16 };
    *out = (cli_output){.ctx = c->ctx};
    if (strcmp(file, "-") == 0) {
        out->stream = stdout;
        return CLI_GO_ON;
    }
    const mgv_status st = mgv_output_open(c->ctx, file, &out->file);
    if (st != MGV_OK)
        return cli_fail(c, st);
    out->stream = fopencookie(out, "w", (cookie_io_functions_t){.write = write_through});
    if (out->stream) {
        setvbuf(out->stream, NULL, _IOFBF, ROOM);
        return CLI_GO_ON;
    }
    mgv_output_close(c->ctx, out->file, 0);
    *out = (cli_output){0};
    return cli_complain(c, CLI_FAILURE, "no memory");
}

int cli_output_close(cli *c, cli_output *out, bool keep)
{
    mgv_output *file = out->file;
    FILE *stream = out->stream;
    if (!file) {
        *out = (cli_output){0};
        return CLI_GO_ON; /* main() looks after stdout */
    }
    fclose(stream); /* the file remembers what went wrong */
    *out = (cli_output){0};
    const mgv_status st = mgv_output_close(c->ctx, file, keep);
    return st == MGV_OK ? CLI_GO_ON : cli_fail(c, st);
}

int cli_table_open(cli *c, const char *file, const char *head, cli_table *table)
{
    *table = (cli_table){.head = head};
    return file ? cli_output_open(c, file, &table->out) : CLI_GO_ON;
}

FILE *cli_table_row(cli_table *table)
{
    FILE *out = table->out.stream;
    if (out && !table->begun)
        fputs(table->head, out);
    table->begun = out != NULL;
    return out;
}

void cli_table_row_ends(cli_table *table)
{
    if (table->out.stream)
        fflush(table->out.stream);
}

int cli_table_close(cli *c, cli_table *table, int code)
{
    const bool refused = code == CLI_FAILURE || code == CLI_USAGE;
    const bool keep = table->begun || !refused;
    if (keep)
        cli_table_row(table); /* its head, where there was no row */
    const int closed = cli_output_close(c, &table->out, keep);
    return closed == CLI_GO_ON ? code : closed;
}
