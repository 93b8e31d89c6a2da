/* sink.c - buffered output to a temporary name that is renamed when it is whole. */
#include "base/sink.h"

#include "base/memory.h"
#include "base/print.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 16, ATTEMPTS = 100 };

struct mgvi_sink {
    mgv_ctx *ctx;
    char *path;   /* as given, for messages */
    char *target; /* what the rename replaces; NULL: written in place */
    char *temporary;
    int fd;
    int error; /* the first errno */
    size_t used;
    char buffer[BUFFER];
};

static void release(mgvi_sink *sink)
{
    mgv_ctx *ctx = sink->ctx;
    mgvi_release(ctx, sink->path);
    mgvi_release(ctx, sink->target);
    mgvi_release(ctx, sink->temporary);
    mgvi_release(ctx, sink);
}

/* The temporary file stands beside the target: a rename never crosses file systems. */
static mgv_status open_temporary(mgvi_sink *sink)
{
    mgv_ctx *ctx = sink->ctx;
    char resolved[PATH_MAX]; /* a link keeps pointing at the file it names */
    sink->target = mgvi_strdup(ctx, realpath(sink->path, resolved) ? resolved : sink->path);
    if (!sink->target)
        return MGV_E_MEMORY;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        mgvi_release(ctx, sink->temporary);
        sink->temporary =
            attempt ? mgvi_format(ctx, "%s.tmp.%ld.%d", sink->target, (long)getpid(), attempt)
                    : mgvi_format(ctx, "%s.tmp.%ld", sink->target, (long)getpid());
        if (!sink->temporary)
            return MGV_E_MEMORY;
        sink->fd = open(sink->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (sink->fd >= 0 || errno != EEXIST)
            break;
    }
    if (sink->fd < 0)
        return MGVI_FAIL(ctx, MGV_E_IO, "%s: cannot be written: %s", sink->path, strerror(errno));
    return MGV_OK;
}

/* Devices and pipes (/dev/null) are written in place; renaming would replace them. */
static mgv_status open_descriptor(mgvi_sink *sink)
{
    struct stat info;
    if (strcmp(sink->path, "-") == 0) {
        fflush(stdout); /* what the caller printed before comes before */
        sink->fd = STDOUT_FILENO;
        return MGV_OK;
    }
    if (stat(sink->path, &info) != 0 || S_ISREG(info.st_mode))
        return open_temporary(sink);
    sink->fd = open(sink->path, O_WRONLY | O_CLOEXEC);
    if (sink->fd < 0)
        return MGVI_FAIL(sink->ctx, MGV_E_IO, "%s: cannot be written: %s", sink->path,
                         strerror(errno));
    return MGV_OK;
}

mgv_status mgvi_sink_open(mgv_ctx *ctx, const char *path, mgvi_sink **out)
{
    *out = NULL;
    mgvi_sink *sink = mgvi_alloc(ctx, 1, sizeof *sink);
    if (!sink)
        return MGV_E_MEMORY;
    memset(sink, 0, offsetof(mgvi_sink, buffer));
    sink->ctx = ctx;
    sink->fd = -1;
    sink->path = mgvi_strdup(ctx, path);
    const mgv_status st = sink->path ? open_descriptor(sink) : MGV_E_MEMORY;
    if (st == MGV_OK)
        *out = sink;
    else
        release(sink);
    return st;
}

static void put(mgvi_sink *sink, const char *bytes, size_t size)
{
    while (size && !sink->error) {
        const ssize_t written = write(sink->fd, bytes, size);
        if (written < 0 && errno != EINTR)
            sink->error = errno;
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
}

static void flush(mgvi_sink *sink)
{
    put(sink, sink->buffer, sink->used);
    sink->used = 0;
}

void mgvi_sink_write(mgvi_sink *sink, const void *bytes, size_t size)
{
    if (size > BUFFER - sink->used)
        flush(sink);
    if (size > BUFFER) {
        put(sink, bytes, size); /* big arrays go out from where they lie */
    } else if (size) {
        memcpy(sink->buffer + sink->used, bytes, size);
        sink->used += size;
    }
}

void mgvi_sink_printf(mgvi_sink *sink, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const size_t room = BUFFER - sink->used;
    const int length = mgvi_vprint(sink->buffer + sink->used, room, format, args);
    va_end(args);
    if (length < 0) {
        sink->error = sink->error ? sink->error : EINVAL;
    } else if ((size_t)length < room) {
        sink->used += (size_t)length;
    } else {
        char *text = mgvi_alloc(sink->ctx, (size_t)length + 1, 1);
        if (text) {
            mgvi_vprint(text, (size_t)length + 1, format, again);
            mgvi_sink_write(sink, text, (size_t)length);
        } else {
            sink->error = sink->error ? sink->error : ENOMEM;
        }
        mgvi_release(sink->ctx, text);
    }
    va_end(again);
}

mgv_status mgvi_sink_close(mgvi_sink *sink, bool keep)
{
    mgv_ctx *ctx = sink->ctx;
    mgv_status st = MGV_OK;
    if (keep)
        flush(sink);
    if (sink->fd != STDOUT_FILENO && close(sink->fd) != 0 && !sink->error)
        sink->error = errno;
    if (keep && !sink->error && sink->temporary && rename(sink->temporary, sink->target) != 0)
        sink->error = errno;
    if (sink->temporary && (!keep || sink->error))
        unlink(sink->temporary);
    if (keep && sink->error)
        st = MGVI_FAIL(ctx, sink->error == ENOMEM ? MGV_E_MEMORY : MGV_E_IO,
                       "%s: cannot be written: %s", sink->path, strerror(sink->error));
    release(sink);
    return st;
}
