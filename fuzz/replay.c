/* replay.c - a plain main for a fuzz target: runs it over files and folders, so that the corpus is
 * part of the tests in every build. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int replayed;

static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat info;
    if (!f || fstat(fileno(f), &info) != 0)
        return 1;
    const size_t size = (size_t)info.st_size;
    uint8_t *bytes = malloc(size ? size : 1);
    const int short_read = !bytes || fread(bytes, 1, size, f) != size;
    fclose(f);
    if (!short_read) {
        printf("%s\n", path);
        fflush(stdout); /* the last line names the culprit */
        LLVMFuzzerTestOneInput(bytes, size);
        replayed++;
    }
    free(bytes);
    return short_read;
}

static int replay_folder(const char *path)
{
    char name[4096];
    int failed = 0;
    DIR *folder = opendir(path);
    if (!folder)
        return 1;
    for (struct dirent *e; (e = readdir(folder));) {
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.')
            failed |= replay_file(name);
    }
    closedir(folder);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        struct stat info;
        if (stat(argv[i], &info) != 0)
            failed = 1;
        else
            failed |= S_ISDIR(info.st_mode) ? replay_folder(argv[i]) : replay_file(argv[i]);
    }
    mgv_ctx_free(fuzz_ctx());
    printf("%d inputs replayed\n", replayed);
    return failed || replayed == 0;
}
