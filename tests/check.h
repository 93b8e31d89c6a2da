/* check.h - short spellings over cmocka: TEST(name) {...}, CHECK..., int main: RUN(a, b, c). */
#ifndef MGV_TESTS_CHECK_H
#define MGV_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/context.h"

#define TEST(name) static void name(void **state __attribute__((unused)))

/* The message is printed when the condition fails; all arguments are used once. */
#define CHECK_THAT(condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error(__VA_ARGS__);                                                              \
            print_error("\n");                                                                     \
            fail_msg("%s", #condition);                                                            \
        }                                                                                          \
    } while (0)
#define CHECK(condition) assert_true(condition)
#define CHECK_LE(a, b, ...)                                                                        \
    do {                                                                                           \
        const double check_a = (a), check_b = (b);                                                 \
        if (!(check_a <= check_b)) {                                                               \
            print_error(__VA_ARGS__);                                                              \
            fail_msg(": %s = %.17g > %.17g", #a, check_a, check_b);                                \
        }                                                                                          \
    } while (0)
#define CHECK_NEAR(a, b, tolerance, ...)                                                           \
    do {                                                                                           \
        const double check_a = (a), check_b = (b);                                                 \
        if (!(check_a - check_b <= (tolerance) && check_b - check_a <= (tolerance))) {             \
            print_error(__VA_ARGS__);                                                              \
            fail_msg(": %s = %.17g, expected %.17g", #a, check_a, check_b);                        \
        }                                                                                          \
    } while (0)
/* The call succeeds, else its sentence is printed. */
#define CHECK_OK(ctx, call)                                                                        \
    do {                                                                                           \
        const mgv_status check_status = (call);                                                    \
        if (check_status != MGV_OK)                                                                \
            fail_msg("%s: %s: %s", #call, mgv_status_name(check_status), mgv_ctx_error(ctx));      \
    } while (0)
/* The call fails with `code` and the sentence contains `part`. */
#define CHECK_FAILS(ctx, call, code, part)                                                         \
    do {                                                                                           \
        const mgv_status check_status = (call);                                                    \
        mgv_check_failure(ctx, #call, check_status, code, part);                                   \
    } while (0)
void mgv_check_failure(mgv_ctx *ctx, const char *call, mgv_status got, mgv_status want,
                       const char *part);

/* An allocator that counts, and fails at the `fail_at`-th call (1, 2, ...; 0: never). */
typedef struct mgv_check_allocator {
    mgv_allocator hooks;
    atomic_long calls, live;
    long fail_at;
} mgv_check_allocator;
void mgv_check_allocator_init(mgv_check_allocator *a, long fail_at);

/* A context with the default allocator; freed by mgv_ctx_free. Never NULL. */
mgv_ctx *mgv_check_ctx(void);

/* Another name for each file: all of them are one program (run.c). */
int main(void);

typedef void (*mgv_check_fn)(void **);
int mgv_check_run(const char *group, const char *names, const mgv_check_fn *tests, size_t count);
/* Runs the tests named; "group: N passed, N failed" comes from cmocka. */
#define RUN(...)                                                                                   \
    mgv_check_run(__FILE__, #__VA_ARGS__, (const mgv_check_fn[]){__VA_ARGS__},                     \
                  sizeof((const mgv_check_fn[]){__VA_ARGS__}) / sizeof(mgv_check_fn))
#endif
