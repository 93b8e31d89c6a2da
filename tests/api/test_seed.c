/* test_seed.c - Jansson's hash tables are seeded once, whoever comes first: two contexts that made
 * their first JSON objects at once raced for it. */
#include "check.h"

#include <pthread.h>

static atomic_int seedings;

/* In place of the library's. */
void json_object_seed(size_t seed);
void json_object_seed(size_t seed)
{
    (void)seed;
    atomic_fetch_add(&seedings, 1);
}

static void *make_context(void *unused)
{
    mgv_ctx *ctx;
    (void)unused;
    if (mgv_ctx_new(NULL, &ctx) == MGV_OK)
        mgv_ctx_free(ctx);
    return NULL;
}

TEST(tables_are_seeded_once_before_any_is_made)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, make_context, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    CHECK(atomic_load(&seedings) == 1);
}

int main(void) { return RUN(tables_are_seeded_once_before_any_is_made); }
