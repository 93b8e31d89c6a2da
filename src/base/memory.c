/* memory.c - allocation through the context's hooks. */
#include "base/memory.h"

#include "base/limit.h"
#include "base/print.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *mgvi_alloc(mgv_ctx *ctx, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX) {
        mgvi_fail(ctx, MGV_E_MEMORY, "%zu items of %zu bytes do not fit in memory", count, size);
        return NULL;
    }
    void *p = ctx->allocator.alloc(ctx->allocator.user, bytes ? bytes : 1, MGVI_ALIGN);
    if (!p)
        mgvi_fail(ctx, MGV_E_MEMORY, "out of memory: %zu bytes were asked for", bytes);
    return p;
}

/* What is large is cleared and copied in stretches, with a look at the limit before each: pages are
 * made as they are first written to, on a virtual machine 3 s for a gigabyte. False: the piece of
 * work at hand is cut, and nobody needs the memory any more. */
enum { LARGE = 1 << 20, STRETCH = 1 << 22 };

static bool fill(mgv_ctx *ctx, void *to, const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += STRETCH) {
        const size_t some = bytes - at < STRETCH ? bytes - at : STRETCH;
        if (bytes >= LARGE && mgvi_ctx_cut(ctx))
            return false;
        if (from)
            memcpy((char *)to + at, (const char *)from + at, some);
        else
            memset((char *)to + at, 0, some);
    }
    return true;
}

void *mgvi_zeros(mgv_ctx *ctx, size_t count, size_t size)
{
    void *p = mgvi_alloc(ctx, count, size);
    if (!p || fill(ctx, p, NULL, count * size))
        return p;
    mgvi_release(ctx, p);
    return NULL;
}

void *mgvi_new(mgv_ctx *ctx, size_t size) { return mgvi_zeros(ctx, 1, size); }

void *mgvi_dup(mgv_ctx *ctx, const void *from, size_t count, size_t size)
{
    void *p = mgvi_alloc(ctx, count, size);
    if (p && count && size)
        memcpy(p, from, count * size);
    return p;
}

void *mgvi_grow(mgv_ctx *ctx, void *old, size_t old_count, size_t count, size_t size)
{
    void *p = mgvi_alloc(ctx, count, size);
    if (!p)
        return NULL;
    const bool whole =
        !old_count || fill(ctx, p, old, (old_count < count ? old_count : count) * size);
    mgvi_release(ctx, whole ? old : p);
    return whole ? p : NULL;
}

char *mgvi_strdup(mgv_ctx *ctx, const char *text)
{
    return mgvi_dup(ctx, text, strlen(text) + 1, 1);
}

char *mgvi_format(mgv_ctx *ctx, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int length = mgvi_vprint(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : mgvi_alloc(ctx, (size_t)length + 1, 1);
    if (text)
        mgvi_vprint(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

void mgvi_release(mgv_ctx *ctx, void *memory)
{
    if (memory)
        ctx->allocator.release(ctx->allocator.user, memory);
}

void mgvi_forget(const void *begin, const void *end)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t from = ((uintptr_t)begin + page - 1) / page * page;
    const uintptr_t to = (uintptr_t)end / page * page;
    if (from < to)
        madvise((void *)from, to - from, MADV_DONTNEED); /* a wish */
}

struct mgvi_arena_block {
    _Alignas(MGVI_ALIGN) struct mgvi_arena_block *next;
    size_t used, capacity; /* bytes behind this header */
};

void mgvi_arena_init(mgvi_arena *arena, mgv_ctx *ctx) { *arena = (mgvi_arena){.ctx = ctx}; }

/* *bytes is the room that was taken. */
static void *arena_take(mgvi_arena *arena, size_t count, size_t size, size_t *taken)
{
    enum { BLOCK = 1 << 16 }; /* small requests share a block, large ones get their own */
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX - 2 * MGVI_ALIGN) {
        mgvi_fail(arena->ctx, MGV_E_MEMORY, "%zu items of %zu bytes do not fit in memory", count,
                  size);
        return NULL;
    }
    bytes = (bytes + MGVI_ALIGN - 1) & ~(size_t)(MGVI_ALIGN - 1);
    struct mgvi_arena_block *b = arena->blocks;
    if (!b || b->capacity - b->used < bytes) {
        const size_t capacity = bytes > BLOCK ? bytes : BLOCK;
        b = mgvi_alloc(arena->ctx, sizeof *b + capacity, 1);
        if (!b)
            return NULL;
        *b = (struct mgvi_arena_block){.next = arena->blocks, .capacity = capacity};
        arena->blocks = b;
    }
    void *p = (char *)(b + 1) + b->used;
    b->used += bytes;
    *taken = bytes;
    return p;
}

void *mgvi_arena_array(mgvi_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    void *p = arena_take(arena, count, size, &bytes);
    return p && fill(arena->ctx, p, NULL, bytes) ? p : NULL;
}

mgv_status mgvi_arena_vectors(mgvi_arena *arena, size_t count, double **const *vector)
{
    for (; *vector; vector++)
        MGVI_TRY(MGVI_ARRAY(arena, **vector, count));
    return MGV_OK;
}

void *mgvi_arena_scratch(mgvi_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    return arena_take(arena, count, size, &bytes);
}

mgvi_arena *mgvi_arena_within(mgvi_arena *arena)
{
    mgvi_arena *inner = mgvi_arena_array(arena, 1, sizeof *inner);
    if (inner) {
        *inner = (mgvi_arena){.ctx = arena->ctx, .next = arena->within};
        arena->within = inner;
    }
    return inner;
}

void mgvi_arena_free(mgvi_arena *arena)
{
    for (mgvi_arena *inner = arena->within; inner; inner = inner->next)
        mgvi_arena_free(inner); /* it lies in our blocks itself */
    arena->within = NULL;
    while (arena->blocks) {
        struct mgvi_arena_block *next = arena->blocks->next;
        mgvi_release(arena->ctx, arena->blocks);
        arena->blocks = next;
    }
}
