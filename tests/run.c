/* run.c - the program of all tests: `run test_NAME` is what that file's main does. */
#include <stdio.h>
#include <string.h>

#define PART(name) int name##_part(void);
#include "parts.inc"
#undef PART

static const struct {
    const char *name;
    int (*run)(void);
} parts[] = {
#define PART(name) {#name, name##_part},
#include "parts.inc"
#undef PART
};

int main(int argc, char **argv)
{
    const size_t count = sizeof parts / sizeof *parts;
    for (size_t i = 0; argc == 2 && i < count; i++)
        if (strcmp(argv[1], parts[i].name) == 0)
            return parts[i].run();
    fprintf(stderr, "usage: run test_NAME, one of\n");
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "  %s\n", parts[i].name);
    return 2;
}
