/* test_relay.c - solver `auto` when the first solver does not get there. */
#include "stepping.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { N = 60, D = 8 };

static void open_auto(mgv_fit *fit, const char *options)
{
    double *X, *y;
    mgv_random_set(3, N, D, 0.7, &X, &y);
    open_rows(fit, X, y, N, D, "task=classify tol=1e-9 lambda=0.01");
    mgv_solver_free(fit->ctx, fit->solver);
    mgv_fit_set(fit, options);
    CHECK_OK(fit->ctx, mgv_solver_new(fit->ctx, fit->problem, fit->settings, &fit->solver));
    free(X);
    free(y);
}

/* As a solver does that can improve nothing. */
static void give_up(mgv_fit *fit) { fit->solver->run.finished = true; }

TEST(another_solver_takes_over)
{
    mgv_fit fit;
    open_auto(&fit, "solver=auto");
    const mgvi_solver_ops *first = fit.solver->run.ops;
    give_up(&fit);
    CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
    describe(&fit);
    CHECK(fit.solver->run.ops != first);
    CHECK(strcmp(fit.run.solver, fit.solver->run.ops->name) == 0);
    CHECK(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.verified);
    CHECK_LE(fit.certificate.relative_gap, 1e-9, "the second solver's");
    mgv_fit_free(&fit);
}

TEST(a_solver_asked_for_by_name_is_left_alone)
{
    mgv_fit fit;
    open_auto(&fit, "solver=dual_coordinate");
    give_up(&fit);
    CHECK_OK(fit.ctx, mgv_solver_run(fit.ctx, fit.solver));
    describe(&fit);
    CHECK(fit.run.stop == MGV_STOP_STALLED);
    CHECK(strcmp(fit.run.solver, "dual_coordinate") == 0);
    mgv_fit_free(&fit);
}

/* Every solver gives up in turn: the last one's word stands, with the best pair of all. */
TEST(the_last_one_ends_the_run)
{
    mgv_fit fit;
    open_auto(&fit, "solver=auto");
    int turns = 0;
    do {
        give_up(&fit);
        fit.solver->stop = MGV_STOP_STALLED;
        mgv_status st = MGV_OK;
        if (!mgvi_driver_relay(fit.solver, &st))
            break;
        CHECK_OK(fit.ctx, st);
    } while (++turns < mgvi_solver_count());
    CHECK(turns >= 2 && turns < mgvi_solver_count());
    CHECK(fit.solver->stop == MGV_STOP_STALLED);
    mgv_fit_free(&fit);
}

/* A checkpoint of the second solver is continued to the same bits by a run that begins with the
 * first. */
TEST(a_checkpoint_remembers_who_took_over)
{
    char path[64], options[160];
    mgv_fit whole, broken, resumed;
    snprintf(path, sizeof path, "relay-%d.ckpt", (int)getpid());
    open_auto(&whole, "solver=auto");
    give_up(&whole);
    CHECK_OK(whole.ctx, mgv_solver_run(whole.ctx, whole.solver));
    snprintf(options, sizeof options, "solver=auto max_iter=1 checkpoint=%s", path);
    open_auto(&broken, options);
    give_up(&broken);
    CHECK_OK(broken.ctx, mgv_solver_run(broken.ctx, broken.solver));
    CHECK(broken.solver->run.ops == whole.solver->run.ops);
    open_auto(&resumed, "solver=auto");
    CHECK(resumed.solver->run.ops != whole.solver->run.ops);
    CHECK_OK(resumed.ctx, mgvi_checkpoint_read(resumed.solver, path));
    CHECK(resumed.solver->run.ops == whole.solver->run.ops);
    CHECK_OK(resumed.ctx, mgv_solver_run(resumed.ctx, resumed.solver));
    CHECK(resumed.solver->run.iteration == whole.solver->run.iteration);
    for (int j = 0; j < D; j++)
        CHECK(mgv_fit_weights(&resumed)[j] == mgv_fit_weights(&whole)[j]);
    unlink(path);
    mgv_fit_free(&whole);
    mgv_fit_free(&broken);
    mgv_fit_free(&resumed);
}

int main(void)
{
    return RUN(another_solver_takes_over, a_solver_asked_for_by_name_is_left_alone,
               the_last_one_ends_the_run, a_checkpoint_remembers_who_took_over);
}
