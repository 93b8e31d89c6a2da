/* caches.c - sizes of the caches: what the kernel says, else the C library, else a modest guess. */
#include "base/caches.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LEVELS = 3, KILO = 1024, MEGA = 1024 * 1024, LINE = 256 };

/* Classes, from the least to the most, and what is taken where nobody knows. */
static const struct {
    int32_t least, most, guess;
} bounds[LEVELS] = {{16 * KILO, 128 * KILO, 32 * KILO},
                    {256 * KILO, 4 * MEGA, 512 * KILO},
                    {1 * MEGA, 32 * MEGA, 2 * MEGA}};

/* The largest power of two that is at most `bytes`, within the level's bounds. */
static int32_t class_of(int level, double bytes)
{
    int32_t size = bounds[level].least;
    while (size < bounds[level].most && 2.0 * size <= bytes)
        size *= 2;
    return size;
}

/* ---- what the system says -------------------------------------------------------------------- */

static bool read_line(int index, const char *name, char line[LINE])
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
    FILE *f = fopen(path, "re");
    const bool there = f && fgets(line, LINE, f);
    if (f)
        fclose(f);
    return there;
}

/* Processors in a list like "0-3,8-11". */
static double count_list(const char *list)
{
    double count = 0;
    for (char *end; *list >= '0' && *list <= '9'; list = *end == ',' ? end + 1 : end) {
        const double from = (double)strtoul(list, &end, 10);
        const double to = *end == '-' ? (double)strtoul(end + 1, &end, 10) : from;
        count += to - from + 1;
    }
    return count >= 1 ? count : 1;
}

/* A number of bytes with K or M behind it; *end is what follows. 0: none. */
static double read_size(const char *text, char **end)
{
    double bytes = *text >= '0' && *text <= '9' ? (double)strtoul(text, end, 10) : 0;
    if (bytes == 0)
        return 0;
    if (**end == 'K' || **end == 'k')
        bytes *= KILO;
    else if (**end == 'M' || **end == 'm')
        bytes *= MEGA;
    else
        return bytes;
    (*end)++;
    return bytes;
}

/* The sizes the kernel knows, in bytes; the last cache is shared. */
static void ask_kernel(double size[LEVELS])
{
    char line[LINE], *end;
    for (int index = 0; index < 8 && read_line(index, "level", line); index++) {
        const int level = atoi(line) - 1;
        if (level < 0 || level >= LEVELS || !read_line(index, "type", line) || line[0] == 'I')
            continue;
        if (read_line(index, "size", line))
            size[level] = read_size(line, &end);
        if (level == LEVELS - 1 && read_line(index, "shared_cpu_list", line))
            size[level] /= count_list(line);
    }
}

static void ask_library(double size[LEVELS])
{
#if defined(_SC_LEVEL1_DCACHE_SIZE)
    static const int names[LEVELS] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                      _SC_LEVEL3_CACHE_SIZE};
    const double processors = (double)sysconf(_SC_NPROCESSORS_ONLN);
    for (int level = 0; level < LEVELS; level++) {
        const double bytes = (double)sysconf(names[level]);
        if (size[level] <= 0)
            size[level] = level < LEVELS - 1 ? bytes : bytes / (processors > 1 ? processors : 1);
    }
#else
    (void)size;
#endif
}

static mgvi_caches found;
static pthread_once_t looked = PTHREAD_ONCE_INIT;

static void look(void)
{
    int32_t *const out[LEVELS] = {&found.first, &found.second, &found.last};
    double size[LEVELS] = {0};
    ask_kernel(size);
    ask_library(size);
    for (int level = 0; level < LEVELS; level++)
        *out[level] = class_of(level, size[level] > 0 ? size[level] : bounds[level].guess);
}

mgvi_caches mgvi_caches_found(void)
{
    pthread_once(&looked, look);
    return found;
}

/* ---- as text --------------------------------------------------------------------------------- */

bool mgvi_caches_parse(const char *text, mgvi_caches *out)
{
    mgvi_caches c = *out;
    int32_t *const sizes[LEVELS] = {&c.first, &c.second, &c.last};
    for (int level = 0; level < LEVELS; level++) {
        char *end;
        const double bytes = read_size(text, &end);
        if (bytes <= 0)
            return false;
        *sizes[level] = class_of(level, bytes);
        if (*end == 0) {
            *out = c;
            return true;
        }
        if (*end != ',')
            return false;
        text = end + 1;
    }
    return false;
}

void mgvi_caches_print(const mgvi_caches *c, char text[MGVI_CACHES_TEXT])
{
    const int32_t sizes[LEVELS] = {c->first, c->second, c->last};
    size_t at = 0;
    for (int level = 0; level < LEVELS; level++) {
        const bool mega = sizes[level] >= MEGA;
        at += (size_t)snprintf(text + at, MGVI_CACHES_TEXT - at, "%s%d%c", level ? "," : "",
                               (int)(sizes[level] / (mega ? MEGA : KILO)), mega ? 'M' : 'K');
    }
}
