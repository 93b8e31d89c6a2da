/* event.c - sends events to the context's callback. */
#include "base/event.h"

#include "base/print.h"

#include <math.h>

mgv_event mgvi_event_blank(mgv_event_kind kind)
{
    return (mgv_event){.size = sizeof(mgv_event),
                       .kind = kind,
                       .level = MGV_INFO,
                       .passes = NAN,
                       .seconds = NAN,
                       .primal = NAN,
                       .dual = NAN,
                       .gap = NAN,
                       .relative_gap = NAN,
                       .margin = NAN,
                       .margin_upper = NAN,
                       .train_score = NAN,
                       .validation_score = NAN,
                       .nonzeros = -1,
                       .bytes = NAN,
                       .residual = NAN,
                       .psnr = NAN,
                       .distance = NAN,
                       .strength = NAN,
                       .validation_se = NAN,
                       .smoothing = NAN};
}

bool mgvi_event_send(mgv_ctx *ctx, const mgv_event *event)
{
    return ctx->on_event && ctx->on_event(ctx->event_user, event) != 0;
}

/* Whether the callback asks to stop. */
static bool send_text(mgv_ctx *ctx, mgv_event event, const char *format, va_list args)
{
    char text[MGVI_ERROR_MAX];
    mgvi_vprint(text, sizeof text, format, args);
    event.text = text;
    return mgvi_event_send(ctx, &event);
}

void mgvi_event_progress(mgv_ctx *ctx, const char *format, ...)
{
    if (!ctx->on_event)
        return;
    va_list args;
    va_start(args, format);
    if (send_text(ctx, mgvi_event_blank(MGV_EVENT_PROGRESS), format, args))
        atomic_store(&ctx->interrupted, 1);
    va_end(args);
}

void mgvi_log(mgv_ctx *ctx, mgv_level level, const char *format, ...)
{
    if (!ctx->on_event)
        return;
    va_list args;
    va_start(args, format);
    mgv_event event = mgvi_event_blank(MGV_EVENT_LOG);
    event.level = level;
    send_text(ctx, event, format, args);
    va_end(args);
}
