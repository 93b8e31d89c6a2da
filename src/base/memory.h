/* base/memory.h - all memory of the library: the context's hooks, and an arena per run. */
#ifndef MGVI_BASE_MEMORY_H
#define MGVI_BASE_MEMORY_H

#include "base/context.h"

enum { MGVI_ALIGN = 64 }; /* a cache line and an AVX-512 register */

/* NULL on failure, with a sentence in the context. Sizes are checked for overflow. Large memory
 * that has to be filled is refused within a piece of work that the limit has cut (base/limit.h). */
void *mgvi_alloc(mgv_ctx *ctx, size_t count, size_t size); /* not cleared */
void *mgvi_new(mgv_ctx *ctx, size_t size);                 /* cleared */
void *mgvi_zeros(mgv_ctx *ctx, size_t count, size_t size); /* cleared */
void *mgvi_dup(mgv_ctx *ctx, const void *from, size_t count, size_t size);
/* Returns a larger copy and frees the old block; on failure the old block stays valid. */
void *mgvi_grow(mgv_ctx *ctx, void *old, size_t old_count, size_t count, size_t size);
char *mgvi_strdup(mgv_ctx *ctx, const char *text);
/* printf into fresh memory. */
char *mgvi_format(mgv_ctx *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mgvi_release(mgv_ctx *ctx, void *memory); /* NULL is accepted */
/* What lies there is not needed for now, or, where it is no mapped file, not any more: whole pages
 * of it need not stay in memory. The block itself is released or unmapped as ever. */
void mgvi_forget(const void *begin, const void *end);

/* Blocks that live and die together, 64-byte aligned. Arrays are cleared; scratch is not, which
 * matters for large squares that are filled from one corner. */
typedef struct mgvi_arena {
    mgv_ctx *ctx;
    struct mgvi_arena_block *blocks;
    struct mgvi_arena *within, *next; /* arenas that go with this one, and the next such */
} mgvi_arena;
void mgvi_arena_init(mgvi_arena *arena, mgv_ctx *ctx);
/* An arena inside of another: freed by itself at the end of a phase of work, to be filled again,
 * and with the other at the latest. NULL: no memory. */
mgvi_arena *mgvi_arena_within(mgvi_arena *arena);
void *mgvi_arena_array(mgvi_arena *arena, size_t count, size_t size);
void *mgvi_arena_scratch(mgvi_arena *arena, size_t count, size_t size);
/* pointer = the array, or scratch, of `count` items of its own type, as a status. */
#define MGVI_ARRAY(arena, pointer, count)                                                          \
    (((pointer) = mgvi_arena_array(arena, (size_t)(count), sizeof *(pointer))) ? MGV_OK            \
                                                                               : MGV_E_MEMORY)
#define MGVI_SCRATCH(arena, pointer, count)                                                        \
    (((pointer) = mgvi_arena_scratch(arena, (size_t)(count), sizeof *(pointer))) ? MGV_OK          \
                                                                                 : MGV_E_MEMORY)
/* Cleared vectors of `count` doubles to where each of the list points, NULL at its end:
 * MGV_E_MEMORY. */
mgv_status mgvi_arena_vectors(mgvi_arena *arena, size_t count, double **const *vector);
#define MGVI_VECTORS(arena, count, ...)                                                            \
    mgvi_arena_vectors(arena, (size_t)(count), (double **const[]){__VA_ARGS__, NULL})
void mgvi_arena_free(mgvi_arena *arena);
#endif
