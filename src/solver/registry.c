/* registry.c - the solvers by name, and whether one fits a problem. */
#include "solver/solver_impl.h"
#include "stop/early.h"

#include <math.h>
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

_Static_assert(sizeof solvers / sizeof *solvers <= 64, "mgvi_solver_mask has a bit for each");

mgvi_solver_mask mgvi_solver_bit(const mgvi_solver_ops *ops)
{
    for (int i = 0; i < mgvi_solver_count(); i++)
        if (solvers[i] == ops)
            return UINT64_C(1) << i;
    return 0;
}

/* Whether `name` is a word of the blank-separated `list`. */
static bool listed(const char *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == 0 || at[n] == ' '))
            return true;
    return false;
}

static const char *first_missing(unsigned needs, unsigned can)
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {{MGVI_VALUE, "a value"},
                 {MGVI_PROX, "a proximal map"},
                 {MGVI_CONJ, "a conjugate"},
                 {MGVI_GRAD, "a gradient"},
                 {MGVI_CURV, "a curvature"},
                 {MGVI_MIRROR, "a mirror map"},
                 {MGVI_SMOOTH, "smoothness"},
                 {MGVI_STRONG, "strong convexity"},
                 {MGVI_HARD, "to be a constraint"},
                 {MGVI_JOINT, "to be of many classes"},
                 {MGVI_SEPARABLE, "a formula per coordinate"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (needs & ~can & names[i].bit)
            return names[i].name;
    return "a capability";
}

/* What mgvi_solver_fits() asks first, without its sentences: a small fit would spend a twentieth of
 * its time on those that nobody reads. */
static bool takes_loss(const mgvi_solver_ops *ops, const mgvi_loss_ops *loss)
{
    return (ops->joint || !(loss->can & ~ops->needs.loss & MGVI_JOINT)) &&
           !(ops->needs.loss & ~loss->can) && (!ops->losses || listed(ops->losses, loss->name));
}

static bool takes_penalty(const mgvi_solver_ops *ops, const mgvi_penalty_ops *penalty)
{
    return !(ops->needs.penalty & ~penalty->can) &&
           (!ops->penalties || listed(ops->penalties, penalty->name));
}

mgv_status mgvi_solver_fits(mgv_ctx *ctx, const mgvi_solver_ops *ops, const mgv_problem *p)
{
    if (ops->losses && !listed(ops->losses, p->loss->name))
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "solver %s works with loss %s; this is %s",
                         ops->name, ops->losses, p->loss->name);
    if ((p->loss->can & MGVI_JOINT) && !(ops->needs.loss & MGVI_JOINT) && !ops->joint)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver %s fits two classes or a quantity; loss %s is of all classes at "
                         "once",
                         ops->name, p->loss->name);
    if (mgvi_problem_has_smooth(p) && !ops->smooth)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver %s has no use for the gradient of a smooth F; primal_dual has",
                         ops->name);
    if (ops->primal_only && strcmp(p->settings.select, "none") == 0)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver %s has no certificate to stop at: its epochs are chosen by "
                         "held-out rows, --select holdout:0.1 or val:FILE",
                         ops->name);
    if (mgvi_problem_is_bounded(p) && p->split.D && !ops->bounds)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver %s knows no bounds of the weights beside %s; primal_dual does",
                         ops->name, p->penalty->name);
    if (ops->no_intercept && p->free_cols > 0)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver %s has no intercept; ask for a plane through the origin "
                         "(--no-intercept) or another solver",
                         ops->name);
    if (ops->uniform && (p->col.scale.values || p->col.a.values))
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver %s penalises every column alike; newton, proximal_newton and "
                         "primal_dual know penalty weights",
                         ops->name);
    if (ops->needs.loss & ~p->loss->can)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "solver %s needs %s of the loss; %s has none",
                         ops->name, first_missing(ops->needs.loss, p->loss->can), p->loss->name);
    if (ops->needs.penalty & ~p->penalty->can)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "solver %s needs %s of the penalty; %s has none",
                         ops->name, first_missing(ops->needs.penalty, p->penalty->can),
                         p->penalty->name);
    if (ops->penalties && !listed(ops->penalties, p->penalty->name))
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "solver %s works with penalty %s; this is %s",
                         ops->name, ops->penalties, p->penalty->name);
    if ((p->A->ops->can & MGVI_KERNEL) && !ops->kernels)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver %s does not work with kernels (here %s); %s", ops->name,
                         mgvi_kernel_name(p->kernel.kind),
                         p->loss->can & MGVI_SMOOTH  ? "kernel_subspace does"
                         : p->loss->can & MGVI_JOINT ? "class_coordinate does"
                                                     : "kernel_svm does");
    if (mgvi_problem_has_contrasts(p) && !ops->contrasts)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "solver %s knows no joint margin of many classes; exact_margin and "
                         "momentum_margin do",
                         ops->name);
    if (ops->needs.op & ~p->A->ops->can)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED, "solver %s cannot work with operator %s",
                         ops->name, p->A->ops->name);
    return ops->fits ? ops->fits(ctx, p) : MGV_OK;
}

double mgvi_entry_cost(const mgv_problem *problem)
{
    static const double SCATTERED = 40, IN_A_ROW = 8;
    const bool stored = problem->data && !(problem->A->ops->can & MGVI_KERNEL);
    return stored && problem->data->X.layout == MGV_DENSE ? IN_A_ROW : SCATTERED;
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
        if (!takes_penalty(ops, problem->penalty) ||
            mgvi_solver_fits(ctx, ops, problem) != MGV_OK) {
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
    return mgvi_solver_fits(ctx, nearest ? nearest : solvers[0], problem);
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
