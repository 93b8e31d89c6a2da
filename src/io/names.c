/* names.c - what a file name says about its content. */
#include "io/names.h"

#include "io/unpack.h"

#include <string.h>
#include <strings.h>

bool mgvi_name_fits(const char *path, const char *extensions)
{
    const size_t stem = mgvi_unpack_stem(path);
    while (*extensions) {
        extensions += strspn(extensions, " ");
        const size_t length = strcspn(extensions, " ");
        if (length && stem > length && strncasecmp(path + stem - length, extensions, length) == 0)
            return true;
        extensions += length;
    }
    return false;
}
