/* context.c - contexts, versions, settings handles, and files that appear whole. */
#include "base/context.h"
#include "api/need.h"

#include "backend/backend.h"
#include "base/memory.h"
#include "base/settings.h"
#include "base/sink.h"
#include "base/threads.h"
#include "simd/simd.h"
#include "solver/solver_impl.h"

#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TEXT_OF(x) #x
#define VERSION(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)

const char *mgv_version(void)
{
    return VERSION(MGV_VERSION_MAJOR, MGV_VERSION_MINOR, MGV_VERSION_PATCH);
}

const char *mgv_status_name(mgv_status status)
{
    static const char *const names[] = {"ok",
                                        "bad argument",
                                        "bad input",
                                        "input/output",
                                        "out of memory",
                                        "not supported",
                                        "numerical failure",
                                        "internal error",
                                        "limit reached"};
    return (unsigned)status < sizeof names / sizeof *names ? names[status] : "unknown status";
}

/* Every block has a head. Big blocks are mapped: they go back to the system as soon as they are
 * released, where the C library would keep them, with gaps between, for blocks that never come.
 * They ask for huge pages: products that stream through a matrix run up to 1.5 times faster when
 * the processor's prefetcher does not stop at every 4 KiB. */
typedef struct head {
    _Alignas(MGVI_ALIGN) void *map;
    size_t mapped; /* 0: from the C library, and `map` is that block */
} head;

static const size_t HUGE_PAGE = (size_t)2 << 20;

static void *map_block(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t length = (bytes + sizeof(head) + page - 1) / page * page;
    const size_t room = length + HUGE_PAGE;
    char *map = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    char *begin = (char *)(((uintptr_t)map + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    if (begin > map)
        munmap(map, (size_t)(begin - map));
    if (begin + length < map + room)
        munmap(begin + length, (size_t)(map + room - begin) - length);
#if defined(MADV_HUGEPAGE)
    /* a wish: without it the memory is as good; the rest is less than a huge page */
    madvise(begin, length / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
#endif
    head *h = (head *)(void *)begin;
    *h = (head){.map = begin, .mapped = length};
    return h + 1;
}

static void *default_alloc(void *user, size_t bytes, size_t align)
{
    (void)user;
    if (bytes > PTRDIFF_MAX - 2 * HUGE_PAGE || align > MGVI_ALIGN)
        return NULL;
    if (bytes >= 2 * HUGE_PAGE)
        return map_block(bytes);
    const size_t rounded = (bytes + sizeof(head) + MGVI_ALIGN - 1) / MGVI_ALIGN * MGVI_ALIGN;
    head *h = aligned_alloc(MGVI_ALIGN, rounded);
    if (!h)
        return NULL;
    *h = (head){.map = h};
    return h + 1;
}

static void default_release(void *user, void *memory)
{
    const head h = ((const head *)memory)[-1];
    (void)user;
    if (h.mapped)
        munmap(h.map, h.mapped);
    else
        free(h.map);
}

/* Jansson seeds its hash tables when the first object is made: two contexts could do it at once. */
static pthread_once_t seeded = PTHREAD_ONCE_INIT;
static void seed_tables(void) { json_object_seed(0); }

/* Those of the machine, or what `text` says. */
static bool choose_caches(mgv_ctx *ctx, const char *text)
{
    ctx->caches = mgvi_caches_found();
    const bool good = !text || !*text || mgvi_caches_parse(text, &ctx->caches);
    mgvi_caches_print(&ctx->caches, ctx->caches_text);
    return good;
}

mgv_status mgv_ctx_new(const mgv_allocator *allocator, mgv_ctx **out)
{
    const mgv_allocator standard = {
        .size = sizeof standard, .alloc = default_alloc, .release = default_release};
    const mgv_allocator *a = allocator ? allocator : &standard;
    if (!out)
        return MGV_E_ARG;
    *out = NULL;
    if (a->size < sizeof standard || !a->alloc || !a->release)
        return MGV_E_ARG;
    mgv_ctx *ctx = a->alloc(a->user, sizeof *ctx, MGVI_ALIGN);
    if (!ctx)
        return MGV_E_MEMORY;
    memset(ctx, 0, sizeof *ctx);
    ctx->allocator = *a;
    ctx->allowance = 64 << 20;
    atomic_init(&ctx->interrupted, 0);
    pthread_once(&seeded, seed_tables);
    ctx->limit = &ctx->own_limit;
    mgv_status st = mgvi_simd_choose(getenv("MGV_SIMD"), &ctx->simd);
    if (st == MGV_OK && !choose_caches(ctx, getenv("MGV_CACHE")))
        st = MGV_E_ARG;
    if (st == MGV_OK)
        st = mgvi_pool_new(ctx, 0, &ctx->pool);
    if (st == MGV_OK)
        *out = ctx;
    else
        a->release(a->user, ctx);
    return st;
}

void mgv_ctx_free(mgv_ctx *ctx)
{
    if (!ctx)
        return;
    mgvi_pool_free(ctx, ctx->pool);
    mgvi_texts_free(ctx);
    ctx->allocator.release(ctx->allocator.user, ctx);
}

const char *mgv_ctx_error(const mgv_ctx *ctx) { return ctx ? ctx->error : ""; }

mgv_status mgv_ctx_set_threads(mgv_ctx *ctx, int threads)
{
    if (!ctx)
        return MGV_E_ARG;
    if (threads < 0 || threads > 1024)
        return MGVI_FAIL(ctx, MGV_E_ARG, "threads is %d; allowed: from 0 to 1024", threads);
    const int count = threads ? threads : mgvi_cpu_count();
    if (count == mgvi_pool_threads(ctx->pool))
        return mgvi_done(ctx, MGV_OK);
    struct mgvi_pool *pool;
    MGVI_TRY(mgvi_pool_new(ctx, count, &pool));
    mgvi_pool_free(ctx, ctx->pool);
    ctx->pool = pool;
    return mgvi_done(ctx, MGV_OK);
}

int mgv_ctx_threads(const mgv_ctx *ctx) { return ctx ? mgvi_pool_threads(ctx->pool) : 0; }

const char *mgv_ctx_simd(const mgv_ctx *ctx) { return ctx ? ctx->simd->name : ""; }
const char *mgv_ctx_caches(const mgv_ctx *ctx) { return ctx ? ctx->caches_text : ""; }

mgv_status mgv_ctx_set_backend(mgv_ctx *ctx, const char *name)
{
    MGVI_NEED(ctx, name);
    const mgvi_backend *backend = mgvi_backend_find(name);
    if (backend) {
        ctx->backend = backend;
        return mgvi_done(ctx, MGV_OK);
    }
    return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "there is no backend '%.40s'; this build has: cpu",
                     name);
}

mgv_status mgvi_settings_obey(mgv_ctx *ctx, const mgv_settings *settings)
{
    MGVI_TRY(mgv_ctx_set_backend(ctx, settings->backend));
    return settings->threads ? mgv_ctx_set_threads(ctx, (int)settings->threads) : MGV_OK;
}

void mgv_ctx_interrupt(mgv_ctx *ctx)
{
    if (ctx)
        atomic_store(&ctx->interrupted, 1);
}

void mgv_ctx_on_event(mgv_ctx *ctx, mgv_event_fn fn, void *user)
{
    if (!ctx)
        return;
    ctx->on_event = fn;
    ctx->event_user = user;
}

void mgv_string_free(mgv_ctx *ctx, char *text)
{
    if (ctx)
        mgvi_release(ctx, text);
}

mgv_status mgv_settings_new(mgv_ctx *ctx, mgv_settings **out)
{
    MGVI_NEED(ctx, out);
    *out = mgvi_new(ctx, sizeof **out);
    if (!*out)
        return MGV_E_MEMORY;
    mgvi_settings_defaults(*out);
    return mgvi_done(ctx, MGV_OK);
}

void mgv_settings_free(mgv_ctx *ctx, mgv_settings *settings)
{
    if (ctx)
        mgvi_release(ctx, settings);
}

/* A setting by the solver whose own it is, SOLVER.NAME, as the table has it: in *name. */
static mgv_status find_owned(mgv_ctx *ctx, const char **name)
{
    const char *dot = strchr(*name, '.');
    char solver[64];
    if (!dot || mgvi_setting_exists(*name) || dot - *name >= (ptrdiff_t)sizeof solver)
        return MGV_OK;
    snprintf(solver, sizeof solver, "%.*s", (int)(dot - *name), *name);
    const mgvi_solver_ops *ops = mgvi_solver_find(solver);
    if (ops && mgvi_solver_owns(ops, dot + 1)) {
        *name = dot + 1;
        return MGV_OK;
    }
    if (!ops)
        return MGVI_FAIL(
            ctx, MGV_E_ARG,
            "there is no solver '%.40s' to set '%.40s' of; `margrave list solvers` names them",
            solver, *name);
    return MGVI_FAIL(ctx, MGV_E_ARG, "solver %s has no setting '%.40s' of its own%s%s", solver,
                     dot + 1, ops->settings ? "; it has " : "", ops->settings ? ops->settings : "");
}

mgv_status mgv_settings_set(mgv_ctx *ctx, mgv_settings *settings, const char *name,
                            const char *value)
{
    MGVI_NEED(ctx, settings);
    MGVI_NEED(ctx, name);
    MGVI_NEED(ctx, value);
    MGVI_TRY(find_owned(ctx, &name));
    return mgvi_done(ctx, mgvi_settings_set(ctx, settings, name, value));
}

mgv_status mgv_settings_get(mgv_ctx *ctx, const mgv_settings *settings, const char *name,
                            char *buffer, size_t capacity)
{
    MGVI_NEED(ctx, settings);
    MGVI_NEED(ctx, name);
    MGVI_NEED(ctx, buffer);
    MGVI_TRY(find_owned(ctx, &name));
    return mgvi_settings_get(ctx, settings, name, buffer, capacity); /* a look changes nothing */
}

size_t mgv_setting_count(void) { return mgvi_setting_count(); }

mgv_status mgv_setting_at(size_t index, mgv_setting_info *out)
{
    return out ? mgvi_setting_at(index, out) : MGV_E_ARG;
}

/* ---- files that appear whole or not at all --------------------------------------------------- */

mgv_status mgv_output_open(mgv_ctx *ctx, const char *path, mgv_output **out)
{
    MGVI_NEED_OUT(ctx, out);
    MGVI_NEED(ctx, path);
    return mgvi_done(ctx, mgvi_sink_open(ctx, path, out));
}

mgv_status mgv_output_write(mgv_ctx *ctx, mgv_output *output, const void *bytes, size_t size)
{
    MGVI_NEED(ctx, output);
    if (!output || (!bytes && size))
        return MGVI_FAIL(ctx, MGV_E_ARG, "writing needs a file and bytes");
    mgvi_sink_write(output, bytes, size);
    return mgvi_done(ctx, mgvi_sink_flush(output));
}

mgv_status mgv_output_close(mgv_ctx *ctx, mgv_output *output, int keep)
{
    MGVI_NEED(ctx, output);
    return mgvi_done(ctx, mgvi_sink_close(output, keep != 0));
}
