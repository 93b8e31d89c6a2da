/* io/lines.h - files of one word or number per line. */
#ifndef MGVI_IO_LINES_H
#define MGVI_IO_LINES_H

#include <stddef.h>
#include <string.h>

/* The next line without its end, or NULL; *at moves behind it. */
static inline const char *mgvi_next_line(const char **at, const char *end, size_t *length)
{
    const char *line = *at;
    if (line == end)
        return NULL;
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    *at = stop ? stop + 1 : end;
    *length = (size_t)((stop ? stop : end) - line);
    if (*length > 0 && line[*length - 1] == '\r')
        --*length;
    return line;
}
#endif
