/* core_rounds.c - a hinge on random balanced cores (cores.c): how good the values of K have to be,
 * and when f is fit for the judge. */
#include "solver/kernel/kernel_margin.h"

#include <math.h>

enum {
    MOST_CLAIMS = 12, /* that the judge does not confirm, */
    FEW_CLAIMS = 3    /* where his rounding alone is too much */
};
static const double MOST_C_FLOAT = 1000; /* f is float64 from the start above it */

mgv_status mgvi_core_rounds_open(mgvi_run *run, mgvi_kernel_margin *s, double most)
{
    const bool exactly = most > MOST_C_FLOAT || mgvi_kernel_keeps_rows(s->kernel);
    s->m.care = exactly ? MGVI_CORES_EXACT_F : MGVI_CORES_ROUGH;
    s->cores =
        (mgvi_cores){.run = run, .kernel = s->kernel, .bound = s->bound, .c = s->now.x, .f = s->f};
    MGVI_TRY(mgvi_cores_open(&s->cores));
    MGVI_TRY(mgvi_run_keep(run, "core", MGVI_T_I64, s->cores.held, s->u.n));
    mgvi_cores_survey(&s->cores);
    if (mgvi_kernel_keeps_rows(s->kernel))
        mgvi_kernel_expect_many(s->kernel);
    return MGV_OK;
}

/* What rounding may do to f and c'K c, as the judge will allow for it, in units of the primal. */
static double rounding_of(const mgvi_run *run, const mgvi_kernel_margin *s)
{
    const mgv_problem *p = run->problem;
    const double b = p->free_cols ? s->now.x[s->now.n - 1] : 0;
    double slope = 0;
    for (int64_t i = 0; i < s->u.n; i++)
        slope += mgvi_problem_free_entry(p, i) * (s->f[i] + b) < 1 ? s->bound[i] : 0;
    return (slope * p->A->ops->mul_rounding(p->A, &s->now, 0) +
            p->A->ops->square_rounding(p->A, &s->now, 0)) /
           s->m.primal;
}

static bool has_room(const mgvi_run *run, const mgvi_kernel_margin *s)
{
    return s->m.rounding < 0.7 * run->settings->tol;
}

/* With room for rounding: where nothing but that is left the judge would look closer, at a hundred
 * times the work of a round. Where there is no such room he has to, but not often. */
static double estimate_on_cores(const mgvi_run *run, const mgvi_kernel_margin *s)
{
    const double gap = s->m.estimate, share = s->m.care == MGVI_CORES_ROUGH ? 0.8 : 0.95;
    return has_room(run, s) ? (gap + s->m.rounding) / share : 10 * gap;
}

/* f made from c alone, as the judge will have it, who need not make it again: it is his product. */
static mgv_status settle(mgvi_run *run, mgvi_kernel_margin *s)
{
    s->m.claims++;
    s->m.primal = INFINITY;
    s->m.dual = -INFINITY;
    mgvi_kernel_combine(s->kernel, s->now.x, s->f);
    mgvi_cores_survey(&s->cores);
    mgvi_kernel_margin_appraise(run, s);
    s->m.rounding = rounding_of(run, s);
    return run->problem->A->failed;
}

mgv_status mgvi_core_rounds_step(mgvi_run *run, mgvi_kernel_margin *s)
{
    s->cores.holding = s->m.holding;
    MGVI_TRY(mgvi_cores_round(&s->cores, s->m.rounds++, (mgvi_cores_care)s->m.care));
    s->m.holding = s->cores.holding;
    mgvi_kernel_margin_appraise(run, s);
    const bool spent = s->cores.moved == 0 || s->m.flat > 1;
    const bool claimed = estimate_on_cores(run, s) <= run->settings->tol;
    run->finished = spent && s->m.care == MGVI_CORES_EXACT &&
                    (s->cores.moved == 0 || s->m.flat >= MGVI_KERNEL_FLAT_ROUNDS);
    if (spent && s->m.care < MGVI_CORES_EXACT)
        s->m.flat = 0;
    if (s->m.care == MGVI_CORES_ROUGH ? claimed || spent : spent && s->m.care < MGVI_CORES_EXACT)
        s->m.care++;
    else if (!claimed)
        return MGV_OK;
    MGVI_TRY(settle(run, s));
    run->finished = run->finished || s->m.claims >= (has_room(run, s) ? MOST_CLAIMS : FEW_CLAIMS);
    return MGV_OK;
}

double mgvi_core_rounds_estimate(const mgvi_run *run, const mgvi_kernel_margin *s)
{
    return s->m.care == MGVI_CORES_ROUGH ? INFINITY : estimate_on_cores(run, s);
}
