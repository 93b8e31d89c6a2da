/* failing_memory.h - a whole run with its k-th allocation failing, k = 1, 2, ... until none does.
 */
#ifndef MGV_TESTS_SOLVER_FAILING_MEMORY_H
#define MGV_TESTS_SOLVER_FAILING_MEMORY_H

#include "vectors.h"

static inline mgv_status failing_memory_run(mgv_fit *f)
{
    MGVI_TRY(mgv_problem_new(f->ctx, f->data, f->settings, &f->problem));
    MGVI_TRY(mgv_solver_new(f->ctx, f->problem, f->settings, &f->solver));
    return mgv_solver_run(f->ctx, f->solver);
}

/* Dense n x d data under both settings: every failure is reported and nothing leaks. */
static inline void failing_memory_check(const double *X, const double *y, int64_t n, int64_t d,
                                        const char *settings, const char *more)
{
    mgv_status st = MGV_E_MEMORY;
    long fail_at = 0;
    while (st != MGV_OK) {
        mgv_check_allocator a;
        mgv_fit f = {.ctx = NULL};
        mgv_check_allocator_init(&a, 0);
        assert_int_equal(mgv_ctx_new(&a.hooks, &f.ctx), MGV_OK);
        CHECK_OK(f.ctx, mgv_data_from_dense(f.ctx, MGV_F64, X, n, d, d, 1, &f.data));
        CHECK_OK(f.ctx, mgv_data_set_labels(f.ctx, f.data, y));
        CHECK_OK(f.ctx, mgv_settings_new(f.ctx, &f.settings));
        mgv_fit_set(&f, settings);
        mgv_fit_set(&f, more);
        a.fail_at = a.calls + ++fail_at;
        st = failing_memory_run(&f);
        a.fail_at = 0;
        CHECK(st == MGV_OK || (st == MGV_E_MEMORY && mgv_ctx_error(f.ctx)[0]));
        mgv_fit_free(&f);
        assert_int_equal(a.live, 0);
    }
    CHECK(fail_at > 10);
}
#endif
