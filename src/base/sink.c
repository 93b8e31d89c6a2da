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
#include <time.h>
#include <unistd.h>

enum { BUFFER = 1 << 16, ATTEMPTS = 100 };

struct mgv_output {
    mgv_ctx *ctx;
    char *path;   /* as given, for messages */
    char *target; /* what the rename replaces; NULL: written in place */
    char *temporary;
    int fd;
    bool standard; /* fd is the host's standard output, not ours to close */
    int error;     /* the first errno */
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

static mgv_status cannot(const mgvi_sink *sink, int reason)
{
    return MGVI_FAIL(sink->ctx, reason == ENOMEM ? MGV_E_MEMORY : MGV_E_IO,
                     "%s: cannot be written: %s", sink->path, strerror(reason));
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Descriptors 0 to 2 of a host that has closed them are not for us: what it prints would land in
 * the file. */
static int above_standard(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    const int higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int reason = errno;
    close(fd);
    errno = reason;
    return higher;
}

static unsigned unguessable(void)
{
    unsigned number;
    struct timespec now;
    if (getentropy(&number, sizeof number) == 0)
        return number;
    clock_gettime(CLOCK_REALTIME, &now); /* O_EXCL is what matters; this avoids the neighbours */
    return (unsigned)now.tv_nsec ^ (unsigned)getpid();
}

/* A name beside the target, so that a rename never crosses file systems; `brief` where the target's
 * own name leaves no room for an ending. */
static char *temporary_name(const mgvi_sink *sink, bool brief)
{
    const char *slash = strrchr(sink->target, '/');
    const int folder = slash ? (int)(slash - sink->target) + 1 : 0;
    const unsigned number = unguessable();
    return brief ? mgvi_format(sink->ctx, "%.*smargrave.tmp.%08x", folder, sink->target, number)
                 : mgvi_format(sink->ctx, "%s.tmp.%08x", sink->target, number);
}

/* O_EXCL: no link is followed, nobody's file is taken. `info` is of the file to be replaced, whose
 * mode stays; NULL: there is none. */
static mgv_status open_temporary(mgvi_sink *sink, const struct stat *info)
{
    mgv_ctx *ctx = sink->ctx;
    char resolved[PATH_MAX]; /* a link keeps pointing at the file it names */
    bool brief = false;
    sink->target = mgvi_strdup(ctx, realpath(sink->path, resolved) ? resolved : sink->path);
    if (!sink->target)
        return MGV_E_MEMORY;
    for (int attempt = 0; attempt < ATTEMPTS && sink->fd < 0; attempt++) {
        mgvi_release(ctx, sink->temporary);
        sink->temporary = temporary_name(sink, brief);
        if (!sink->temporary)
            return MGV_E_MEMORY;
        sink->fd =
            above_standard(open(sink->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        if (sink->fd < 0 && errno != EEXIST && (errno != ENAMETOOLONG || brief))
            break;
        brief = brief || errno == ENAMETOOLONG;
    }
    if (sink->fd < 0)
        return cannot(sink, errno);
    if (info)
        fchmod(sink->fd, info->st_mode & 0777); /* a wish: not every file system has modes */
    return MGV_OK;
}

/* Devices and pipes (/dev/null) are written in place; renaming would replace them. */
static mgv_status open_descriptor(mgvi_sink *sink)
{
    struct stat info;
    if (strcmp(sink->path, "-") == 0) {
        fflush(stdout); /* what the caller printed before comes before */
        sink->fd = STDOUT_FILENO;
        sink->standard = true;
        return MGV_OK;
    }
    const bool there = stat(sink->path, &info) == 0;
    if (!there && errno == ENAMETOOLONG) /* the rename would tell too late */
        return cannot(sink, errno);
    if (!there || S_ISREG(info.st_mode))
        return open_temporary(sink, there ? &info : NULL);
    sink->fd = above_standard(open(sink->path, O_WRONLY | O_CLOEXEC));
    return sink->fd < 0 ? cannot(sink, errno) : MGV_OK;
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

mgv_status mgvi_sink_try(mgv_ctx *ctx, const char *path)
{
    mgvi_sink *sink;
    MGVI_TRY(mgvi_sink_open(ctx, path, &sink));
    return mgvi_sink_close(sink, false);
}

/* ---- writing --------------------------------------------------------------------------------- */

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

mgv_status mgvi_sink_flush(mgvi_sink *sink)
{
    flush(sink);
    return sink->error ? cannot(sink, sink->error) : MGV_OK;
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

/* ---- closing --------------------------------------------------------------------------------- */

/* Onto the disk, where there is one: 0, or the errno. */
static int settle(int fd)
{
    while (fsync(fd) != 0)
        if (errno != EINTR)
            return errno == EINVAL || errno == ENOSYS || errno == ENOTSUP || errno == EROFS ? 0
                                                                                            : errno;
    return 0;
}

/* The rename is in the folder, and lasts when the folder is on the disk. Cuts the target's name. */
static int settle_folder(mgvi_sink *sink)
{
    char *slash = strrchr(sink->target, '/');
    if (slash)
        slash[slash == sink->target] = 0;
    const int fd = open(slash ? sink->target : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0; /* it may be writable and not readable */
    const int error = settle(fd);
    close(fd);
    return error;
}

/* The file under its name, for good; the content before the name, so that a power cut leaves the
 * old file or the new one. */
static int put_in_place(mgvi_sink *sink)
{
    if (rename(sink->temporary, sink->target) != 0)
        return errno;
    mgvi_release(sink->ctx, sink->temporary);
    sink->temporary = NULL;
    return settle_folder(sink);
}

mgv_status mgvi_sink_close(mgvi_sink *sink, bool keep)
{
    mgv_status st = MGV_OK;
    if (keep)
        flush(sink);
    if (keep && !sink->error && sink->temporary)
        sink->error = settle(sink->fd);
    if (!sink->standard && close(sink->fd) != 0 && !sink->error)
        sink->error = errno;
    if (keep && !sink->error && sink->temporary)
        sink->error = put_in_place(sink);
    if (sink->temporary)
        unlink(sink->temporary);
    if (keep && sink->error)
        st = cannot(sink, sink->error);
    release(sink);
    return st;
}
