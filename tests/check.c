/* check.c - what the test programs share. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TESTS = 128, NAME_MAX_ = 96 };

void mgv_check_failure(mgv_ctx *ctx, const char *call, mgv_status got, mgv_status want,
                       const char *part)
{
    if (got != want || !strstr(mgv_ctx_error(ctx), part))
        fail_msg("%s: got %s: \"%s\"; expected %s and \"%s\"", call, mgv_status_name(got),
                 mgv_ctx_error(ctx), mgv_status_name(want), part);
}

static void *counted_alloc(void *user, size_t bytes, size_t align)
{
    mgv_check_allocator *a = user;
    if (atomic_fetch_add(&a->calls, 1) + 1 == a->fail_at)
        return NULL;
    void *p = aligned_alloc(align, (bytes + align - 1) / align * align);
    if (p)
        atomic_fetch_add(&a->live, 1);
    return p;
}

static void counted_release(void *user, void *memory)
{
    mgv_check_allocator *a = user;
    if (memory)
        atomic_fetch_sub(&a->live, 1);
    free(memory);
}

void mgv_check_allocator_init(mgv_check_allocator *a, long fail_at)
{
    a->hooks = (mgv_allocator){
        .size = sizeof a->hooks, .user = a, .alloc = counted_alloc, .release = counted_release};
    atomic_init(&a->calls, 0);
    atomic_init(&a->live, 0);
    a->fail_at = fail_at;
}

mgv_ctx *mgv_check_ctx(void)
{
    mgv_ctx *ctx;
    if (mgv_ctx_new(NULL, &ctx) != MGV_OK)
        abort();
    return ctx;
}

int mgv_check_run(const char *group, const char *names, const mgv_check_fn *tests, size_t count)
{
    static char name[MOST_TESTS][NAME_MAX_];
    struct CMUnitTest unit[MOST_TESTS];
    memset(unit, 0, sizeof unit);
    if (count > MOST_TESTS)
        abort();
    for (size_t i = 0; i < count; i++) {
        names += strspn(names, " ,\n\t");
        const size_t length = strcspn(names, " ,\n\t");
        snprintf(name[i], sizeof name[i], "%.*s", (int)length, names);
        names += length;
        unit[i].name = name[i];
        unit[i].test_func = tests[i];
    }
    return _cmocka_run_group_tests(group, unit, count, NULL, NULL);
}
