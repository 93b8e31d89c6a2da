/* registry.c - the solvers by name, and whether one fits a problem. */
#include "solver/solver_impl.h"
#include "stop/stop.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SOLVER(name) extern const mgvi_solver_ops mgvi_solver_##name;
#include "solver/list.h"
#undef SOLVER

static const mgvi_solver_ops *const solvers[] = {
#define SOLVER(name) &mgvi_solver_##name,
#include "solver/list.h"
#undef SOLVER
};

int mgvi_solver_count(void) { return (int)(sizeof solvers / sizeof *solvers); }

const mgvi_solver_ops *mgvi_solver_at(int index) { return solvers[index]; }

const mgvi_solver_ops *mgvi_solver_find(const char *name)
{
    for (int i = 0; i < mgvi_solver_count(); i++)
        if (strcmp(solvers[i]->name, name) == 0)
            return solvers[i];
    return NULL;
}

bool mgvi_solver_setting(const mgvi_solver_ops *ops, int k, char name[64])
{
    const char *at = ops->settings;
    for (int length; at && sscanf(at, " %63s%n", name, &length) == 1; at += length)
        if (k-- == 0)
            return true;
    return false;
}

bool mgvi_solver_owns(const mgvi_solver_ops *ops, const char *name)
{
    char own[64];
    for (int k = 0; mgvi_solver_setting(ops, k, own); k++)
        if (strcmp(own, name) == 0)
            return true;
    return false;
}

/* The solvers whose own a setting is; false: nobody's. */
static bool owners_of(const char *name, char *text, size_t capacity)
{
    size_t used = 0;
    for (int i = 0; i < mgvi_solver_count(); i++)
        if (mgvi_solver_owns(solvers[i], name) && used < capacity)
            used += (size_t)snprintf(text + used, capacity - used, "%s%s", used ? ", " : "",
                                     solvers[i]->name);
    return used > 0;
}

void mgvi_solver_warn(mgv_ctx *ctx, const mgvi_solver_ops *ops, const mgv_settings *settings)
{
    for (size_t i = 0; i < mgvi_setting_count(); i++) {
        mgv_setting_info s = {.size = sizeof s};
        char owners[200], value[64];
        mgvi_setting_at(i, &s);
        if (mgvi_setting_is_default(settings, s.name) || mgvi_solver_owns(ops, s.name) ||
            !owners_of(s.name, owners, sizeof owners))
            continue;
        mgvi_settings_get(ctx, settings, s.name, value, sizeof value);
        mgvi_log(ctx, MGV_WARNING, "%s has no effect on solver %s (got %s); it belongs to %s",
                 s.name, ops->name, value, owners);
    }
}

_Static_assert(sizeof solvers / sizeof *solvers <= 64, "mgvi_solver_mask has a bit for each");

mgvi_solver_mask mgvi_solver_bit(const mgvi_solver_ops *ops)
{
    for (int i = 0; i < mgvi_solver_count(); i++)
        if (solvers[i] == ops)
            return UINT64_C(1) << i;
    return 0;
}

/* Whether a term with these bits has what a solver needs of it. */
static bool suits(unsigned can, unsigned needs, unsigned any, unsigned no)
{
    return !(needs & ~can) && (!any || (any & can)) && !(no & can);
}

/* What check_fit() asks first, without its sentences: a small fit would spend a twentieth of
 * its time on those that nobody reads. */
static bool takes_loss(const mgvi_solver_ops *ops, const mgvi_loss_ops *loss)
{
    const bool joint = ops->joint || (ops->needs.loss & MGVI_JOINT);
    return (joint || !(loss->can & MGVI_JOINT)) &&
           suits(loss->can, ops->needs.loss, ops->any.loss, ops->no.loss);
}

static bool takes_penalty(const mgvi_solver_ops *ops, const mgvi_penalty_ops *penalty)
{
    return suits(penalty->can, ops->needs.penalty, ops->any.penalty, ops->no.penalty);
}

enum { NAMES = 320 };

static void add_name(char *list, size_t size, const char *name)
{
    const size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

static mgv_status refuse_loss(mgv_ctx *ctx, const mgvi_solver_ops *ops, const mgv_problem *p)
{
    char names[NAMES] = "";
    if ((p->loss->can & MGVI_JOINT) && !(ops->needs.loss & MGVI_JOINT) && !ops->joint)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver %s fits two classes or a quantity; loss %s is of all classes at "
                         "once",
                         ops->name, p->loss->name);
    for (int k = 0; k < mgvi_loss_count(); k++)
        if (takes_loss(ops, mgvi_loss_at(k)))
            add_name(names, sizeof names, mgvi_loss_at(k)->name);
    return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "solver %s works with loss %s; this is %s", ops->name,
                     names, p->loss->name);
}

static mgv_status refuse_penalty(mgv_ctx *ctx, const mgvi_solver_ops *ops, const mgv_problem *p)
{
    char names[NAMES] = "";
    for (int k = 0; k < mgvi_penalty_count(); k++)
        if (takes_penalty(ops, mgvi_penalty_at(k)))
            add_name(names, sizeof names, mgvi_penalty_at(k)->name);
    return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "solver %s works with penalty %s; this is %s",
                     ops->name, names, p->penalty->name);
}

/* What else a solver must know of the problem. */
static mgv_status check_shape(mgv_ctx *ctx, const mgvi_solver_ops *ops, const mgv_problem *p)
{
    if (mgvi_problem_has_smooth(p) && !ops->smooth)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver %s has no use for the gradient of a smooth F", ops->name);
    if (mgvi_problem_is_bounded(p) && p->split.D && !ops->bounds)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver %s knows no bounds of the weights beside %s", ops->name,
                         p->penalty->name);
    if (ops->no_intercept && p->free_cols > 0)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver %s has no intercept; ask for a plane through the origin "
                         "(--no-intercept) or another solver",
                         ops->name);
    if (ops->uniform && (p->col.scale.values || p->col.a.values))
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "solver %s penalises every column alike",
                         ops->name);
    if ((p->A->ops->can & MGVI_KERNEL) && !ops->kernels)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "solver %s does not work with kernels (here %s)",
                         ops->name, mgvi_kernel_name(p->kernel.kind));
    if (mgvi_problem_has_contrasts(p) && !ops->contrasts)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "solver %s knows no joint margin of many classes",
                         ops->name);
    if (ops->needs.op & ~p->A->ops->can)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "solver %s cannot work with operator %s",
                         ops->name, p->A->ops->name);
    return MGV_OK;
}

static mgv_status check_fit(mgv_ctx *ctx, const mgvi_solver_ops *ops, const mgv_problem *p)
{
    if ((!ops->anywhere || p->many) && !mgvi_ctx_in_host(ctx))
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "solver %s works%s in host memory, backend cpu",
                         ops->name, p->many ? " with a problem of every class" : "");
    if (!takes_loss(ops, p->loss))
        return refuse_loss(ctx, ops, p);
    if (!takes_penalty(ops, p->penalty))
        return refuse_penalty(ctx, ops, p);
    if (ops->primal_only && strcmp(p->settings.select, "none") == 0)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver %s has no certificate to stop at: its epochs are chosen by "
                         "held-out rows, --select holdout:0.1 or val:FILE",
                         ops->name);
    MGVI_TRY(check_shape(ctx, ops, p));
    return ops->fits ? ops->fits(ctx, p) : MGV_OK;
}

bool mgvi_solver_suits(mgv_ctx *ctx, const mgvi_solver_ops *ops, const mgv_problem *problem)
{
    char said[MGVI_ERROR_MAX]; /* why it does not is no news */
    memcpy(said, ctx->error, sizeof said);
    const mgv_status st = check_fit(ctx, ops, problem);
    memcpy(ctx->error, said, sizeof said);
    return st == MGV_OK;
}

mgv_status mgvi_solver_fits(mgv_ctx *ctx, const mgvi_solver_ops *ops, const mgv_problem *problem)
{
    char others[NAMES] = "", said[MGVI_ERROR_MAX];
    const mgv_status st = check_fit(ctx, ops, problem);
    if (st != MGV_E_UNSUPPORTED)
        return st;
    for (int i = 0; i < mgvi_solver_count(); i++)
        if (mgvi_solver_suits(ctx, solvers[i], problem))
            add_name(others, sizeof others, solvers[i]->name);
    memcpy(said, ctx->error, sizeof said);
    return others[0] ? MGVI_FAIL(ctx, st, "%s; these fit: %s", said, others) : st;
}

double mgvi_entry_cost(const mgv_problem *problem)
{
    static const double SCATTERED = 40, IN_A_ROW = 8;
    const bool kernel = problem->A->ops->can & MGVI_KERNEL;
    return !kernel && mgvi_op_is_dense(problem->A) ? IN_A_ROW : SCATTERED;
}

double mgvi_product_cost(const mgv_problem *problem)
{
    static const double IN_ORDER = 10;
    const double entry = mgvi_entry_cost(problem);
    return problem->A->ops->can & MGVI_KERNEL ? entry : fmin(entry, IN_ORDER);
}

double mgvi_kernel_cost(const mgv_problem *problem)
{
    static const double PRODUCTS = 5, ENTRY = 20;
    return PRODUCTS * ENTRY * (double)problem->A->nnz;
}

bool mgvi_columns_crowd(const mgv_problem *p)
{
    enum { FEW_ROWS = 2 }; /* for each column */
    static const double FULL = 0.1;
    const double rows = (double)p->A->rows, cols = (double)mgvi_problem_penalised(p);
    const bool full = (double)p->A->nnz > FULL * rows * cols;
    return rows < (full ? FEW_ROWS * cols : cols);
}

double mgvi_solver_tries(const mgvi_solver_ops *ops, const mgv_problem *problem,
                         const mgv_settings *settings, double cost)
{
    static const double SHARE = 0.5;  /* of the cheapest's cost: what is lost where it fails */
    static const double PATIENCE = 3; /* times what it hoped for: costs are guesses, too, */
    const double hope = ops->trial ? ops->trial(problem, settings) : INFINITY;
    if (!isfinite(cost) || hope > (ops->trial_pays > 0 ? ops->trial_pays : SHARE) * cost)
        return 0;
    /* and where they are orders of magnitude apart, half of those */
    return fmin(SHARE * cost, fmax(PATIENCE * hope, sqrt(hope * cost)));
}

mgv_status mgvi_solver_auto(mgv_ctx *ctx, const mgv_problem *problem, const mgv_settings *settings,
                            mgvi_solver_mask tried, const mgvi_solver_ops **out)
{
    const mgvi_solver_ops *nearest = NULL, *best = NULL, *hopeful = NULL;
    const bool early = mgvi_early_read(problem, settings).on;
    double least = INFINITY, hope = INFINITY;
    for (int i = 0; i < mgvi_solver_count(); i++) {
        const mgvi_solver_ops *ops = solvers[i];
        if ((tried >> i & 1) || (early && !ops->residual))
            continue; /* it has refused or failed, or its iterates are not a path */
        if (!takes_loss(ops, problem->loss))
            continue;
        if (!takes_penalty(ops, problem->penalty) || check_fit(ctx, ops, problem) != MGV_OK) {
            nearest = nearest ? nearest : ops;
            continue;
        }
        const double cost = ops->cost ? ops->cost(problem, settings) : INFINITY;
        if (!best || cost < least) {
            best = ops;
            least = cost;
        }
        const double its = ops->trial ? ops->trial(problem, settings) : INFINITY;
        if (its < hope) {
            hopeful = ops;
            hope = its;
        }
    }
    if (hopeful && mgvi_solver_tries(hopeful, problem, settings, least) > 0)
        best = hopeful;
    *out = best;
    if (best)
        return MGV_OK;
    /* What the first solver lacks that knows the loss explains more than one that does not. */
    return check_fit(ctx, nearest ? nearest : solvers[0], problem);
}

const mgvi_solver_ops *mgvi_solver_next(mgv_ctx *ctx, const mgv_problem *problem,
                                        const mgv_settings *settings, mgvi_solver_mask tried)
{
    const mgvi_solver_ops *next;
    char said[MGVI_ERROR_MAX]; /* why others do not fit is no news */
    memcpy(said, ctx->error, sizeof said);
    const mgv_status st = mgvi_solver_auto(ctx, problem, settings, tried, &next);
    memcpy(ctx->error, said, sizeof said);
    return st == MGV_OK && next->cost && !next->primal_only &&
                   isfinite(next->cost(problem, settings))
               ? next
               : NULL;
}
