/* output.c - names of the files that commands write. */
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
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
