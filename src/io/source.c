/* source.c - the bytes of a file: mapped, read from a pipe, or unpacked. A mapped file must not be
 * cut short by others while it is in use; replacing it by renaming, as our writers do, is harmless.
 */
#include "base/limit.h"
#include "base/memory.h"
#include "io/io.h"
#include "io/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void mgvi_source_close(mgv_ctx *ctx, mgvi_source *source)
{
    if (source->bytes && source->mapped)
        munmap((void *)(uintptr_t)source->bytes, source->mapped);
    else
        mgvi_release(ctx, (void *)(uintptr_t)source->bytes);
    source->bytes = NULL;
    source->size = source->mapped = 0;
}

/* Pipes, terminals and devices: everything up to the end. */
static mgv_status read_all(mgv_ctx *ctx, int fd, mgvi_source *out)
{
    enum { FIRST = 1 << 20, MOMENT = 50 /* ms */ };
    size_t capacity = FIRST, size = 0;
    char *bytes = mgvi_alloc(ctx, capacity, 1);
    while (bytes) {
        if (size == capacity) {
            char *grown = mgvi_grow(ctx, bytes, size, 2 * capacity, 1);
            if (!grown)
                break;
            bytes = grown;
            capacity *= 2;
        }
        if (mgvi_ctx_cut(ctx)) {
            mgvi_release(ctx, bytes);
            return mgvi_read_whole(ctx, out->path);
        }
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        const int ready = poll(&wait, 1, MOMENT);
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue; /* nobody has written anything: the limit may have struck meanwhile */
        const ssize_t got = read(fd, bytes + size, capacity - size);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got < 0) {
            mgvi_release(ctx, bytes);
            return MGVI_FAIL(ctx, MGV_E_IO, "%s: cannot be read: %s", out->path, strerror(errno));
        }
        if (got == 0) {
            out->bytes = bytes;
            out->size = size;
            return MGV_OK;
        }
        size += (size_t)got;
    }
    mgvi_release(ctx, bytes);
    return MGV_E_MEMORY;
}

static mgv_status load(mgv_ctx *ctx, int fd, mgvi_source *out)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return MGVI_FAIL(ctx, MGV_E_IO, "%s: cannot be read: %s", out->path, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return MGVI_FAIL(ctx, MGV_E_IO, "%s: is a directory, not a file", out->path);
    /* Files of size 0 may still have content (/proc), and nothing of size 0 can be mapped. */
    if (!S_ISREG(info.st_mode) || info.st_size == 0 || lseek(fd, 0, SEEK_CUR) != 0)
        return read_all(ctx, fd, out);
    void *map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return MGVI_FAIL(ctx, errno == ENOMEM ? MGV_E_MEMORY : MGV_E_IO, "%s: cannot be mapped: %s",
                         out->path, strerror(errno));
    out->bytes = map;
    out->size = out->mapped = (size_t)info.st_size;
    return MGV_OK;
}

double mgvi_source_expansion(const mgvi_source *source)
{
    mgv_settings defaults;
    if (source->settings)
        return source->settings->max_expansion;
    mgvi_settings_defaults(&defaults);
    return defaults.max_expansion;
}

static mgv_status unpack(mgv_ctx *ctx, mgvi_source *source)
{
    mgvi_blob blob;
    if (!mgvi_unpack_kind(source->bytes, source->size))
        return MGV_OK;
    const size_t most = mgvi_unpack_most(mgvi_source_expansion(source), source->size);
    MGVI_TRY(mgvi_unpack_stream(ctx, source->path, source->bytes, source->size, most, &blob));
    mgvi_source_close(ctx, source);
    source->bytes = blob.bytes;
    source->size = blob.size;
    return MGV_OK;
}

mgv_status mgvi_source_open(mgv_ctx *ctx, const char *path, const mgv_settings *settings,
                            mgvi_source *out)
{
    const bool standard_input = strcmp(path, "-") == 0;
    *out = (mgvi_source){.path = standard_input ? "standard input" : path, .settings = settings};
    const int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return MGVI_FAIL(ctx, MGV_E_IO, "%s: cannot be opened: %s", path, strerror(errno));
    mgv_status st = load(ctx, fd, out);
    if (!standard_input)
        close(fd);
    if (st == MGV_OK)
        st = unpack(ctx, out);
    if (st != MGV_OK)
        mgvi_source_close(ctx, out);
    return st;
}
