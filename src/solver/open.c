/* open.c - a solver is made, told where to begin, and freed. */
#include "solver/driver.h"

#include "base/limit.h"
#include "solver/classes/family.h"

#include <math.h>
#include <string.h>

enum { BEST_W, BEST_U, DRIVER_MEMORY }; /* of run.kept */

/* What is kept of the iterates, wherever they are made. */
static mgv_status new_vec(const mgv_solver *solver, mgvi_arena *arena, mgvi_space space,
                          mgvi_vec *out)
{
    const mgv_problem *p = solver->run.problem;
    const int64_t n = space == MGVI_ROWS ? p->A->rows : p->A->cols;
    return mgvi_vec_new_host(arena, space, n, p->lanes, out);
}

mgv_status mgvi_driver_open_judge(mgv_solver *solver)
{
    if (solver->judge || solver->run.ops->primal_only)
        return MGV_OK;
    mgvi_arena_init(&solver->judging, solver->run.ctx);
    MGVI_TRY(mgvi_judge_new(&solver->judging, solver->run.problem, &solver->judge));
    mgvi_judge_lend(solver->judge, solver->run.lent);
    return MGV_OK;
}

void mgvi_driver_close_judge(mgv_solver *solver)
{
    mgvi_arena_free(&solver->judging);
    solver->judge = NULL;
    solver->run.lent[0] = solver->run.lent[1] = (mgvi_vec){0};
}

mgv_status mgvi_driver_open_best(mgv_solver *solver)
{
    mgvi_vec *u = &solver->best.u;
    if (u->x)
        return MGV_OK;
    MGVI_TRY(new_vec(solver, solver->best_room, MGVI_ROWS, u));
    solver->run.kept[BEST_U].tensor.data = u->x;
    return MGV_OK;
}

void mgvi_driver_retire(mgv_solver *solver)
{
    if (solver->family)
        return;
    mgvi_driver_close_judge(solver);
    mgvi_arena_free(&solver->run.arena);
    mgvi_arena_free(solver->best_room);
    solver->run.state = NULL;
    solver->run.kept_count = 0;
    solver->best.u = (mgvi_vec){0};
}

static mgv_status prepare(mgv_solver *solver)
{
    mgvi_run *run = &solver->run;
    mgvi_pair *best = &solver->best, *answer = &solver->answer;
    const int64_t rows = run->problem->A->rows * run->problem->lanes;
    if (!(run->kept = mgvi_arena_array(&solver->arena, MGVI_MOST_KEPT, sizeof *run->kept)) ||
        !(solver->best_room = mgvi_arena_within(&solver->arena)))
        return MGV_E_MEMORY;
    answer->verdict = &solver->answer_verdict;
    best->verdict = &solver->memory.best;
    MGVI_TRY(new_vec(solver, &solver->arena, MGVI_COLS, &answer->w));
    if (run->ops->primal_only)
        return mgvi_run_keep(run, "driver", MGVI_T_U8, &solver->memory, sizeof solver->memory);
    MGVI_TRY(mgvi_driver_open_judge(solver));
    MGVI_TRY(new_vec(solver, &solver->arena, MGVI_ROWS, &answer->u));
    MGVI_TRY(new_vec(solver, &solver->arena, MGVI_COLS, &best->w));
    MGVI_TRY(mgvi_run_keep_vec(run, "best_w", &best->w));
    MGVI_TRY(mgvi_run_keep(run, "best_u", MGVI_T_F64, NULL, rows)); /* of the first certificate */
    return mgvi_run_keep(run, "driver", MGVI_T_U8, &solver->memory, sizeof solver->memory);
}

/* docs/algorithms/primal_dual.md (15): k = C |y - A w_0| / (sigma_factor DELTA), for the mean of
 * the iterates of a primal-dual run, whose sigma is what the number is measured in. */
static mgv_status plan_iterations(mgv_solver *solver, double noise)
{
    const mgvi_run *run = &solver->run;
    const mgv_settings *s = &solver->settings;
    if (!run->ops->means)
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                         "select apriori is a rule for solver primal_dual, not for %s",
                         run->ops->name);
    const double k = ceil(s->apriori_factor / s->sigma_factor * run->ops->residual(run) / noise);
    if (!(k < 1e15))
        return MGVI_FAIL(run->ctx, MGV_E_ARG,
                         "select apriori with a noise of %g would take %.0e iterations", noise, k);
    solver->planned = k < 1 ? 1 : (int64_t)k;
    return MGV_OK;
}

static mgv_status open_solver(mgv_ctx *ctx, const mgv_problem *problem,
                              const mgv_settings *settings, const mgvi_solver_ops *ops,
                              mgv_solver **out)
{
    const mgvi_early early = mgvi_early_read(problem, settings);
    MGVI_TRY(mgvi_solver_fits(ctx, ops, problem));
    if (early.on && !isnan(early.noise) && !ops->residual)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver %s has no residual to hold against the noise; primal_dual has",
                         ops->name);
    mgv_solver *solver = mgvi_new(ctx, sizeof *solver);
    if (!solver)
        return MGV_E_MEMORY;
    solver->settings = *settings;
    solver->of.command = "fit";
    if (early.apriori) /* its law holds for the mean of the iterates */
        solver->settings.iterate = MGVI_ITERATE_AVERAGE;
    solver->run = (mgvi_run){.ctx = ctx,
                             .problem = problem,
                             .settings = &solver->settings,
                             .ops = ops,
                             .goal = settings->tol,
                             .rng = mgvi_rng_seed((uint64_t)settings->seed)};
    solver->memory =
        (mgvi_driver_memory){.next_certificate = MGVI_FIRST_PASSES,
                             .ratio = 1,
                             .residual_before = NAN,
                             .best = {.primal_score = INFINITY, .dual_score = -INFINITY}};
    solver->run.early = early.on;
    solver->of.print = early.on;
    solver->noise = early.apriori ? NAN : early.noise;
    mgvi_arena_init(&solver->run.arena, ctx);
    mgvi_arena_init(&solver->arena, ctx);
    mgvi_arena_init(&solver->judging, ctx);
    mgv_status st = problem->many ? mgvi_family_new(solver) : prepare(solver);
    if (st == MGV_OK && !problem->many)
        st = mgvi_driver_seat(solver, ops);
    if (st == MGV_OK && early.apriori && !solver->cut)
        st = plan_iterations(solver, early.noise);
    if (st != MGV_OK) {
        mgvi_driver_free(solver);
        return st;
    }
    *out = solver;
    return MGV_OK;
}

/* A solver that refuses the numbers when it looks at them closer leaves the problem to the next. */
static mgv_status open_automatic(mgv_ctx *ctx, const mgv_problem *problem,
                                 const mgv_settings *settings, mgv_solver **out)
{
    const mgvi_solver_ops *first, *second;
    char refusal[MGVI_ERROR_MAX];
    MGVI_TRY(mgvi_solver_auto(ctx, problem, settings, 0, &first));
    const mgv_status st = open_solver(ctx, problem, settings, first, out);
    if (st == MGV_OK)
        (*out)->tried = mgvi_solver_bit(first);
    if (st != MGV_E_UNSUPPORTED)
        return st;
    memcpy(refusal, ctx->error, sizeof refusal);
    if (mgvi_solver_auto(ctx, problem, settings, mgvi_solver_bit(first), &second) != MGV_OK)
        return MGVI_FAIL(ctx, st, "%s", refusal);
    mgvi_log(ctx, MGV_INFO, "%s; solver %s takes its place", refusal, second->name);
    MGVI_TRY(open_solver(ctx, problem, settings, second, out));
    (*out)->tried = mgvi_solver_bit(first) | mgvi_solver_bit(second);
    return MGV_OK;
}

mgv_status mgvi_driver_new(mgv_ctx *ctx, const mgv_problem *problem, const mgv_settings *settings,
                           mgv_solver **out)
{
    *out = NULL;
    if (mgvi_is_auto(settings->solver))
        return open_automatic(ctx, problem, settings, out);
    const mgvi_solver_ops *ops = mgvi_solver_find(settings->solver);
    if (!ops)
        return MGVI_FAIL(ctx, MGV_E_ARG, "there is no solver '%.40s'; `margrave list` names them",
                         settings->solver);
    return open_solver(ctx, problem, settings, ops, out);
}

void mgvi_driver_free(mgv_solver *solver)
{
    if (!solver)
        return;
    mgv_ctx *ctx = solver->run.ctx;
    mgvi_family_free(solver);
    mgvi_keeper_free(&solver->keeper);
    mgvi_arena_free(&solver->run.arena);
    mgvi_arena_free(&solver->judging);
    mgvi_show_close(solver);
    mgvi_arena_free(&solver->arena);
    mgvi_release(ctx, solver);
}

mgv_status mgvi_driver_start(mgv_solver *solver, const double *w, const double *u)
{
    mgvi_run *run = &solver->run;
    const mgvi_pair *answer = &solver->answer; /* of a run that ends before its first step */
    solver->memory.residual_before = 0;        /* the start itself is no answer */
    if (w != answer->w.x)
        memcpy(answer->w.x, w, (size_t)(answer->w.n * answer->w.k) * sizeof *w);
    if (u && u != answer->u.x)
        memcpy(answer->u.x, u, (size_t)(answer->u.n * answer->u.k) * sizeof *u);
    if (!run->ops->start || solver->cut)
        return MGV_OK;
    mgvi_ctx_open(run->ctx, MGVI_GRACE);
    const mgv_status st = run->ops->start(run, w, u);
    solver->cut = mgvi_ctx_close(run->ctx);
    return solver->cut ? MGV_OK : st;
}

mgv_status mgvi_driver_follow(mgv_solver *solver, mgv_solver *before)
{
    if (solver->family)
        return mgvi_family_follow(solver, before);
    return before ? mgvi_driver_start(solver, before->answer.w.x, before->answer.u.x) : MGV_OK;
}
