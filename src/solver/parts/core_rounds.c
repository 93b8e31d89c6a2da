/* core_rounds.c - a hinge on random balanced cores (cores.c): how good the values of K have to be,
 * and when f is fit for the judge. */
#include "solver/parts/kernel_margin.h"

#include <float.h>
#include <math.h>
#include <string.h>

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

static double product_error(const mgvi_run *run, double *c, int64_t n)
{
    const mgvi_vec x = mgvi_vec_wrap(c, n, MGVI_COLS);
    return run->problem->A->ops->mul_rounding(run->problem->A, &x, 0);
}

/* What f is off after a round's f += K dc in float64: each dc = c - c' is rounded, and so is f. */
static void walk_on(mgvi_run *run, mgvi_kernel_margin *s)
{
    const int64_t n = s->u.n;
    double size = 0;
    for (int64_t i = 0; i < n; i++) {
        s->before[i] = s->now.x[i] - s->before[i];
        size += fabs(s->now.x[i]) + fabs(s->before[i]);
    }
    s->m.error += product_error(run, s->before, n) + 2 * DBL_EPSILON * size;
}

/* f as the judge will have it, who need not make it again: it is made from c alone, or from an f
 * that was, by a few steps whose rounding is known. */
static mgv_status settle(mgvi_run *run, mgvi_kernel_margin *s)
{
    enum { FEW_TIMES = 4 }; /* the error of f made anew: better than to make it */
    s->m.claims++;
    s->m.primal = INFINITY;
    s->m.dual = -INFINITY;
    const double anew = product_error(run, s->now.x, s->u.n);
    /* rows that are far from lacking anything wait for their float64 until a first claim fails */
    if (s->m.error <= FEW_TIMES * anew) {
        mgvi_kernel_carry(s->kernel, s->now.x, s->f, s->m.error);
    } else {
        if (s->m.claims == 1 && s->m.roughly)
            MGVI_TRY(
                mgvi_kernel_combine_low(s->kernel, s->now.x, s->cores.centre, &s->m.walk, s->f));
        else
            mgvi_kernel_combine(s->kernel, s->now.x, s->f);
        s->m.error = mgvi_kernel_is_whole(s->kernel) ? anew : INFINITY;
    }
    mgvi_cores_survey(&s->cores);
    mgvi_kernel_margin_appraise(run, s);
    s->m.rounding = rounding_of(run, s);
    return run->problem->A->failed;
}

mgv_status mgvi_core_rounds_step(mgvi_run *run, mgvi_kernel_margin *s)
{
    s->m.roughly = s->m.care == MGVI_CORES_ROUGH;
    s->cores.walk = s->m.walk;
    s->cores.holding = s->m.holding;
    memcpy(s->before, s->now.x, (size_t)s->u.n * sizeof *s->before);
    MGVI_TRY(mgvi_cores_round(&s->cores, s->m.rounds++, (mgvi_cores_care)s->m.care));
    s->m.walk = s->cores.walk;
    s->m.holding = s->cores.holding;
    if (s->m.roughly)
        s->m.error = INFINITY;
    else
        walk_on(run, s);
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

/* What f is off by a file is believed where a product of our own says no other. */
mgv_status mgvi_core_rounds_restored(mgvi_run *run, mgvi_kernel_margin *s)
{
    mgvi_cores_survey(&s->cores);
    if (!(s->m.error >= 0 && s->m.error < INFINITY)) {
        s->m.error = INFINITY;
        return MGV_OK;
    }
    double apart = 0;
    mgvi_kernel_combine(s->kernel, s->now.x, s->z);
    for (int64_t i = 0; i < s->u.n; i++)
        apart = fmax(apart, isfinite(s->f[i]) ? fabs(s->z[i] - s->f[i]) : INFINITY);
    const double anew = product_error(run, s->now.x, s->u.n);
    s->m.error = apart <= anew ? fmax(s->m.error, apart + anew) : INFINITY;
    return run->problem->A->failed;
}

double mgvi_core_rounds_estimate(const mgvi_run *run, const mgvi_kernel_margin *s)
{
    return s->m.care == MGVI_CORES_ROUGH ? INFINITY : estimate_on_cores(run, s);
}
