/* threads.c - workers wait actively for a moment, because the next call usually follows at once,
 * then sleep. Blocks are handed out by a counter; who runs which block never matters. The caller
 * works too, and when no block is left it waits only for workers that have begun one: a worker that
 * wakes up late, on a busy machine, costs nothing. */
#include "base/threads.h"

#include "base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#define relax() _mm_pause()
#else
#define relax() ((void)0)
#endif

enum { SPINS = 20000 }; /* about 50 us before a waiting worker goes to sleep */

struct mgvi_pool {
    int threads; /* the caller included */
    pthread_t *workers;
    int started;
    int caller_cpu; /* the processor the workers keep away from; -1: not chosen yet */
    atomic_int sleeping;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    atomic_uint round; /* grows by one with every job, and once more to end */
    atomic_int ending;
    atomic_int open;   /* blocks may be taken: fn, arg and blocks are set */
    atomic_int within; /* workers that may be using fn, arg and blocks */
    atomic_int_fast64_t next;
    int64_t blocks;
    mgvi_block_fn fn;
    void *arg;
};

/* Nested calls run in place: a thread inside a block never waits for the pool. */
static _Thread_local bool inside;

int mgvi_cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

static void work(mgvi_pool *pool)
{
    inside = true;
    for (;;) {
        const int64_t block = atomic_fetch_add(&pool->next, 1);
        if (block >= pool->blocks)
            break;
        pool->fn(pool->arg, block);
    }
    inside = false;
}

static void wait_for_round(mgvi_pool *pool, unsigned seen)
{
    for (int spin = 0; spin < SPINS; spin++) {
        if (atomic_load_explicit(&pool->round, memory_order_acquire) != seen)
            return;
        relax();
    }
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleeping, 1);
    while (atomic_load(&pool->round) == seen)
        pthread_cond_wait(&pool->wake, &pool->lock);
    atomic_fetch_sub(&pool->sleeping, 1);
    pthread_mutex_unlock(&pool->lock);
}

/* A worker that wakes up on the caller's processor shares it for milliseconds before the scheduler
 * moves one of them: on a two-core machine that made parallel code slower than serial code. So
 * workers may run anywhere but where the caller runs now. */
static void keep_apart(mgvi_pool *pool)
{
    const int here = sched_getcpu();
    cpu_set_t set;
    if (here < 0 || here == pool->caller_cpu || sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    pool->caller_cpu = here;
    CPU_CLR(here, &set);
    if (CPU_COUNT(&set) == 0)
        return;
    for (int i = 0; i < pool->started; i++)
        pthread_setaffinity_np(pool->workers[i], sizeof set, &set);
}

static void *worker(void *arg)
{
    mgvi_pool *pool = arg;
    unsigned seen = 0;
    for (;;) {
        wait_for_round(pool, seen);
        seen = atomic_load(&pool->round);
        if (atomic_load(&pool->ending))
            return NULL;
        /* `within` is raised before `open` is read: either the caller sees us and waits, or we see
         * that it has closed the round. */
        atomic_fetch_add(&pool->within, 1);
        if (atomic_load(&pool->open))
            work(pool);
        atomic_fetch_sub(&pool->within, 1);
    }
}

static void next_round(mgvi_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->round, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

mgv_status mgvi_pool_new(mgv_ctx *ctx, int threads, mgvi_pool **out)
{
    *out = NULL;
    mgvi_pool *pool = mgvi_new(ctx, sizeof *pool);
    if (!pool)
        return MGV_E_MEMORY;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pool->caller_cpu = -1;
    pool->threads = threads > 0 ? threads : mgvi_cpu_count();
    pool->workers = mgvi_zeros(ctx, (size_t)pool->threads, sizeof *pool->workers);
    if (!pool->workers) {
        mgvi_pool_free(ctx, pool);
        return MGV_E_MEMORY;
    }
    for (; pool->started < pool->threads - 1; pool->started++) {
        if (pthread_create(&pool->workers[pool->started], NULL, worker, pool) != 0) {
            const int got = pool->started;
            mgvi_pool_free(ctx, pool);
            return MGVI_FAIL(ctx, MGV_E_MEMORY, "thread %d of %d could not be started", got + 2,
                             threads);
        }
    }
    *out = pool;
    return MGV_OK;
}

void mgvi_pool_free(mgv_ctx *ctx, mgvi_pool *pool)
{
    if (!pool)
        return;
    atomic_store(&pool->ending, 1);
    next_round(pool);
    for (int i = 0; i < pool->started; i++)
        pthread_join(pool->workers[i], NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    mgvi_release(ctx, pool->workers);
    mgvi_release(ctx, pool);
}

int mgvi_pool_threads(const mgvi_pool *pool) { return pool->threads; }

void mgvi_pool_run(mgvi_pool *pool, int64_t blocks, mgvi_block_fn fn, void *arg)
{
    if (blocks <= 1 || pool->threads == 1 || inside) {
        for (int64_t block = 0; block < blocks; block++)
            fn(arg, block);
        return;
    }
    pool->fn = fn;
    pool->arg = arg;
    pool->blocks = blocks;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->open, 1);
    if (atomic_load(&pool->sleeping) > 0)
        keep_apart(pool);
    next_round(pool);
    work(pool);
    atomic_store(&pool->open, 0);
    for (int spin = 0; atomic_load(&pool->within) > 0; spin++) {
        if (spin < SPINS)
            relax();
        else
            sched_yield(); /* more threads than cores: let the others finish */
    }
}
