/* base/sink.h - a file that appears whole or not at all. */
#ifndef MGVI_BASE_SINK_H
#define MGVI_BASE_SINK_H

#include "base/context.h"

/* Writes to `path`.tmp.NUMBER, which nobody can guess, then renames; both are on the disk when it
 * is closed. "-" is standard output; devices and pipes are written in place. Numbers are printed
 * with a point whatever the locale. */
typedef struct mgv_output mgvi_sink;
mgv_status mgvi_sink_open(mgv_ctx *ctx, const char *path, mgvi_sink **out);
/* Whether it could be opened; nothing stays. */
mgv_status mgvi_sink_try(mgv_ctx *ctx, const char *path);
/* The first error is remembered and reported by mgvi_sink_close. */
void mgvi_sink_write(mgvi_sink *sink, const void *bytes, size_t size);
void mgvi_sink_printf(mgvi_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Hands what was written to the system, for those who look at the temporary file; the first error
 * so far. */
mgv_status mgvi_sink_flush(mgvi_sink *sink);
/* `keep` false: the temporary file is removed and nothing appears. Frees the sink. */
mgv_status mgvi_sink_close(mgvi_sink *sink, bool keep);
#endif
