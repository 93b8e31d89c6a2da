/* replay.c - a plain main for the fuzz targets: `replay fuzz_NAME PATH...` runs one over files and
 * folders, so that the corpus is part of the tests in every build. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PART(name) int name##_part(const uint8_t *bytes, size_t size);
#include "parts.inc"
#undef PART

static const struct {
    const char *name;
    int (*run)(const uint8_t *bytes, size_t size);
} targets[] = {
#define PART(name) {#name, name##_part},
#include "parts.inc"
#undef PART
};

static int (*target)(const uint8_t *bytes, size_t size);
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
        target(bytes, size);
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
    for (size_t t = 0; argc > 1 && t < sizeof targets / sizeof *targets; t++)
        if (strcmp(argv[1], targets[t].name) == 0)
            target = targets[t].run;
    if (!target) {
        fprintf(stderr, "usage: replay fuzz_NAME PATH...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
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
