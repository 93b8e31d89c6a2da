/* base/context.h - the context behind every public call, and how failures travel. */
#ifndef MGVI_BASE_CONTEXT_H
#define MGVI_BASE_CONTEXT_H

#include "base/caches.h"

#include <inttypes.h>
#include <margrave/margrave.h>
#include <stdatomic.h>
#include <stdbool.h>

struct mgvi_pool;
struct mgvi_simd;
struct mgvi_backend;
enum { MGVI_ERROR_MAX = 1024 };

/* Texts one after the other, each with its terminator, each once. */
typedef struct mgvi_texts {
    struct mgvi_texts *more;
    size_t used;
    char text[1024];
} mgvi_texts;

/* The limit of the call at work (base/limit.h): in the caller's context, shared by its children. */
typedef struct mgvi_limit {
    int depth;                   /* calls within calls; 0: none is at work */
    double began;                /* of the clock */
    double deadline;             /* INFINITY: none */
    double (*clock)(void *user); /* NULL: the machine's; tests have their own */
    void *clock_user;
    _Atomic double struck;  /* when a look first found the limit; INFINITY: not yet */
    _Atomic double looked;  /* the last look, and */
    _Atomic double longest; /* the longest time between two */
    atomic_llong looks;
} mgvi_limit;

struct mgv_ctx {
    mgv_allocator allocator;
    double allowance; /* bytes beyond half of the data that a fit may take (docs/memory.md) */
    struct mgvi_pool *pool;
    mgvi_texts texts;                   /* of settings */
    const struct mgvi_simd *simd;       /* chosen once, by api/context.c; likewise */
    const struct mgvi_backend *backend; /* where vectors go (backend/backend.h); NULL: cpu */
    mgvi_caches caches;
    char caches_text[MGVI_CACHES_TEXT];
    mgv_event_fn on_event;
    void *event_user;
    struct {
        mgv_iterate_fn fn; /* NULL: nobody looks */
        void *user;
        int64_t every;
    } show; /* iterates */
    atomic_int interrupted;
    mgvi_limit *limit; /* that of the root, in `own_limit` there */
    mgvi_limit own_limit;
    double reserve;      /* seconds before the deadline that the work in this context keeps for
                          * its certificate */
    atomic_bool may_cut; /* a piece of work is open, */
    double cut_after;    /* of the clock: which is not cut before, */
    bool has_room;       /* nor while there is room after the limit, */
    atomic_bool cut;     /* and was */
    struct {
        const double *read[2]; /* counters of entries read, that of the operator and the run's; */
        double most;           /* the piece is cut where their sum exceeds this; */
        double at;             /* what it was then */
    } meter;                   /* read[0] is NULL: nobody counts */
    const mgv_ctx *parent; /* NULL: the caller's own. A child serves one block of parallel work */
    char error[MGVI_ERROR_MAX];
};

/* A context for one of several pieces of work done at once: its own sentence, no events, and what
 * it gives to the pool runs in place. The parent's interrupt is its own too. Nothing to free. */
mgv_ctx mgvi_ctx_child(const mgv_ctx *parent);
static inline bool mgvi_ctx_interrupted(const mgv_ctx *ctx)
{
    return atomic_load(&ctx->interrupted) != 0 ||
           (ctx->parent && atomic_load(&ctx->parent->interrupted) != 0);
}

/* A text equal to this one, of at most 1,023 bytes, that stays until the context goes; NULL: no
 * memory. For the caller's context, not for a child. */
const char *mgvi_text_keep(mgv_ctx *ctx, const char *text);
void mgvi_texts_free(mgv_ctx *ctx);

/* Leaves the sentence in the context and returns `status`. */
mgv_status mgvi_fail(mgv_ctx *ctx, mgv_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a sentence that is there already: puts "where: " before it. */
mgv_status mgvi_fail_in(mgv_ctx *ctx, mgv_status status, const char *where);

/* Fills a struct of the caller's that begins with `size`: no more than the caller knows of, and its
 * `size` stays. `full` is the size of ours at `value`. */
void mgvi_copy_out(void *out, const void *value, size_t full);

#define MGVI_FAIL(ctx, status, ...) mgvi_fail(ctx, status, __VA_ARGS__)
#define MGVI_TRY(call)                                                                             \
    do {                                                                                           \
        const mgv_status try_status = (call);                                                      \
        if (try_status != MGV_OK)                                                                  \
            return try_status;                                                                     \
    } while (0)
#define MGVI_CHECK(st, label, call)                                                                \
    do {                                                                                           \
        if (((st) = (call)) != MGV_OK)                                                             \
            goto label;                                                                            \
    } while (0)
#endif
