/* registry.c - the tables made from list.h, and what a file name says about its content. */
#include "io/io.h"

#include "io/unpack.h"

#include <string.h>
#include <strings.h>

#define MGVI_READER(name) extern const mgvi_reader mgvi_reader_##name;
#define MGVI_WRITER(name) extern const mgvi_writer mgvi_writer_##name;
#include "io/list.h"
#undef MGVI_READER
#undef MGVI_WRITER

#define MGVI_READER(name) &mgvi_reader_##name,
#define MGVI_WRITER(name)
static const mgvi_reader *const readers[] = {
#include "io/list.h"
};
#undef MGVI_READER
#undef MGVI_WRITER

#define MGVI_READER(name)
#define MGVI_WRITER(name) &mgvi_writer_##name,
static const mgvi_writer *const writers[] = {
#include "io/list.h"
};

int mgvi_reader_count(void) { return (int)(sizeof readers / sizeof *readers); }
const mgvi_reader *mgvi_reader_at(int index) { return readers[index]; }
int mgvi_writer_count(void) { return (int)(sizeof writers / sizeof *writers); }
const mgvi_writer *mgvi_writer_at(int index) { return writers[index]; }

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
