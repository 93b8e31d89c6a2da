/* base/event.h - the one callback for log, progress and trace; others print. */
#ifndef MGVI_BASE_EVENT_H
#define MGVI_BASE_EVENT_H

#include "base/context.h"

/* An event with every number unknown. */
mgv_event mgvi_event_blank(mgv_event_kind kind);
/* True when the callback asks to stop. */
bool mgvi_event_send(mgv_ctx *ctx, const mgv_event *event);
/* MGV_EVENT_PROGRESS with words; a request to stop is an interrupt of the context. */
void mgvi_event_progress(mgv_ctx *ctx, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void mgvi_log(mgv_ctx *ctx, mgv_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#endif
