/* context.c - error sentences. */
#include "base/context.h"

#include "base/memory.h"
#include "base/print.h"

#include <stdio.h>
#include <string.h>

mgv_ctx mgvi_ctx_child(const mgv_ctx *parent)
{
    return (mgv_ctx){.allocator = parent->allocator,
                     .allowance = parent->allowance,
                     .pool = parent->pool,
                     .simd = parent->simd,
                     .backend = parent->backend,
                     .limit = parent->limit,
                     .parent = parent};
}

static const char *find_text(const mgvi_texts *t, const char *text)
{
    for (size_t at = 0; at < t->used; at += strlen(t->text + at) + 1)
        if (strcmp(t->text + at, text) == 0)
            return t->text + at;
    return NULL;
}

const char *mgvi_text_keep(mgv_ctx *ctx, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    mgvi_texts *t = &ctx->texts;
    for (const char *known;; t = t->more) {
        if ((known = find_text(t, text)))
            return known;
        if (sizeof t->text - t->used >= bytes)
            break;
        if (!t->more && !(t->more = mgvi_new(ctx, sizeof *t->more)))
            return NULL;
    }
    t->used += bytes;
    return memcpy(t->text + t->used - bytes, text, bytes);
}

void mgvi_texts_free(mgv_ctx *ctx)
{
    for (mgvi_texts *t = ctx->texts.more, *more; t; t = more) {
        more = t->more;
        mgvi_release(ctx, t);
    }
}

/* A name may be longer than the sentence has room for: its middle goes, so that what comes last,
 * the reason, stays. Without memory the end is cut off. */
static void shorten(mgv_ctx *ctx, size_t length, const char *format, va_list args)
{
    static const char mark[] = " ... ";
    enum { HEAD = MGVI_ERROR_MAX / 2, TAIL = MGVI_ERROR_MAX - HEAD - sizeof mark };
    const mgv_allocator *a = &ctx->allocator;
    char *whole = a->alloc ? a->alloc(a->user, length + 1, sizeof(void *)) : NULL;
    if (!whole)
        return;
    mgvi_vprint(whole, length + 1, format, args);
    const char *rest = whole + length - TAIL;
    char *at = ctx->error + HEAD;
    while (((unsigned char)*rest & 0xc0) == 0x80) /* whole characters of UTF-8 */
        rest++;
    while (((unsigned char)*at & 0xc0) == 0x80)
        at--;
    snprintf(at, MGVI_ERROR_MAX - (size_t)(at - ctx->error), "%s%s", mark, rest);
    a->release(a->user, whole);
}

mgv_status mgvi_fail(mgv_ctx *ctx, mgv_status status, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int length = mgvi_vprint(ctx->error, sizeof ctx->error, format, args);
    if (length >= (int)sizeof ctx->error)
        shorten(ctx, (size_t)length, format, again);
    va_end(again);
    va_end(args);
    return status;
}

mgv_status mgvi_fail_in(mgv_ctx *ctx, mgv_status status, const char *where)
{
    char sentence[MGVI_ERROR_MAX];
    memcpy(sentence, ctx->error, sizeof sentence);
    return mgvi_fail(ctx, status, "%s: %s", where, sentence);
}

void mgvi_copy_out(void *out, const void *value, size_t full)
{
    const size_t skip = sizeof(size_t), known = *(const size_t *)out;
    const size_t bytes = known < full ? known : full;
    if (bytes > skip)
        memcpy((char *)out + skip, (const char *)value + skip, bytes - skip);
}
