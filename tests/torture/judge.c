/* judge.c - every statement of a certificate against __float128. */
#include "torture.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const verdict_names[VERDICTS] = {
    "verified, right", "not verified",    "NOT VERIFIED",    "refused",      "numeric failure",
    "FALSE: proven",   "FALSE: attained", "FALSE: own dual", "FALSE: order", "FALSE: proof",
    "FALSE: outside",  "no sentence",     "crash",           "hang"};

#define NOTHING ((quad)1e-300) /* float64 has no digits there */

/* One member under judgement. */
typedef struct trial {
    const torture_case *c;
    answer *a;
    const mgv_certificate *cert;
    member m;
    int index, talk;
    bool has_saved, has_best;
    point saved, best, next;
    quad best_value;
    verdict worst;
    double allowance; /* relative: how far the definition itself is rounded */
} trial;

static void complain(trial *t, verdict v, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void complain(trial *t, verdict v, const char *format, ...)
{
    char title[300], text[300];
    va_list args;
    if (t->worst == RIGHT || t->worst == OPEN || v == FALSE_PROVEN)
        t->worst = v;
    if (!t->talk)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    case_title(t->c, title, sizeof title);
    printf("%s: seed %llu member %d, %s: %s [%s]\n", verdict_names[v],
           (unsigned long long)t->c->seed, t->index, t->a->run.solver ? t->a->run.solver : "-",
           text, title);
}

/* ---- weights to hold against the bound ------------------------------------------------------- */

static void offer(trial *t, point *p)
{
    const torture_case *c = t->c;
    const bool hard = c->loss == EQUAL || c->loss == INTERVAL || c->loss == MARGIN;
    if (hard && !has_margin(c) && !point_satisfy(&t->m, p))
        return;
    point_repair(&t->m, p);
    point_improve(&t->m, p, t->has_best && c->loss == MARGIN ? &t->best : NULL);
    const quad value = point_value(&t->m, p);
    if (point_is_rough(&t->m, p) || !(value - value == 0) ||
        (t->has_best && !(value < t->best_value)))
        return;
    t->best = *p;
    t->best_value = value;
    t->has_best = true;
}

/* The member as a problem of its own, in centred and scaled columns, without any scaling left. */
static void own_case(const trial *t, torture_case *own)
{
    const member *m = &t->m;
    const torture_case *c = t->c;
    *own = *c;
    own->n = m->n;
    own->d = c->kernel == PRECOMPUTED ? m->n : m->d;
    own->f32 = own->sparse = false;
    own->scaling = SCALE_NONE;
    own->tol = 1e-11;
    own->intercept = m->free;
    own->max_iter = 0;
    snprintf(own->solver, sizeof own->solver, "auto");
    for (int r = 0; r < m->n; r++) {
        own->weight[r] = c->weight[m->row[r]];
        for (int k = 0; k < m->n && c->kernel == PRECOMPUTED; k++)
            own->x[r * m->n + k] = (double)m->K[r][k];
        for (int j = 0; j < m->d && c->kernel != PRECOMPUTED; j++)
            own->x[r * m->d + j] =
                (double)(m->q[r][j] - (c->kernel == RBF || c->kernel == LAPLACE ? m->q[0][j] : 0));
        if (m->outputs == 1)
            own->y[r] = c->form == QUANTITY ? c->y[m->row[r]] : m->sign[r] > 0;
    }
    if (c->form == OVR || c->form == OVO) {
        own->form = TWO;
        own->classes = 2;
    }
    case_settings(own);
    snprintf(own->setting[own->settings - 1].value, TEXT, "0.3"); /* time_limit is the last */
}

static void solve_again(trial *t)
{
    static torture_case own;
    static answer again;
    static point p;
    own_case(t, &own);
    library_solve(&own, &again);
    if (again.status != MGV_OK)
        return;
    if (again.has_coef && again.outputs == t->m.outputs)
        point_from_own(&t->m, again.coef, again.intercept, &p);
    else if (again.has_kernel_coef && again.outputs == t->m.outputs &&
             point_from_rows(&t->m, again.kernel_coef, again.intercept, false, &p))
        point_rebase(&t->m, &again, &p);
    else
        return;
    offer(t, &p);
}

/* The saved weights as they are; false: the public header does not show them. */
static bool take_saved(trial *t)
{
    const member *m = &t->m;
    if (t->c->kernel == LINEAR && t->a->has_coef) {
        const int from = t->a->members > 1 ? t->index : 0;
        point_from_user(m, t->a->coef + from * m->d, t->a->intercept + from, &t->saved);
        return true;
    }
    const int from = t->a->members > 1 ? t->index : 0;
    return t->a->has_kernel_coef &&
           point_from_rows(m, t->a->kernel_coef + from, t->a->intercept + from, true, &t->saved);
}

static void gather(trial *t)
{
    static point p;
    if (t->has_saved) {
        p = t->saved;
        if (!t->m.free)
            memset(p.b, 0, sizeof p.b); /* rounding of centre.coef */
        offer(t, &p);
    }
    if (t->a->u_count > 0 && point_from_dual(&t->m, t->a->u, &p))
        offer(t, &p);
    solve_again(t);
}

/* ---- the checks ------------------------------------------------------------------------------ */

static void check_order(trial *t)
{
    const mgv_certificate *c = t->cert;
    if (c->primal < c->dual) /* NaN: does not apply */
        complain(t, FALSE_ORDER, "primal %.17g below dual %.17g", c->primal, c->dual);
    else if (c->gap < 0 || c->relative_gap < 0)
        complain(t, FALSE_ORDER, "gap %g, relative %g", c->gap, c->relative_gap);
    else if (c->dual < 0)
        complain(t, FALSE_ORDER, "dual %.17g of a sum that is never negative", c->dual);
    if (c->margin > c->margin_upper)
        complain(t, FALSE_ORDER, "margin in [%.17g, %.17g]", c->margin, c->margin_upper);
}

static double relative(quad a, double b) { return (double)((a - b) / q_abs(b)); }

static void check_attained(trial *t)
{
    const torture_case *c = t->c;
    const mgv_certificate *cert = t->cert;
    if (!t->has_saved)
        return;
    if (has_margin(c)) {
        const quad margin = member_margin(&t->m, &t->saved);
        if (cert->margin > 0 && margin < cert->margin * (1 - (quad)t->allowance))
            complain(t, FALSE_ATTAINED, "margin %.17g, the weights have %.17g (relative %.1e)",
                     cert->margin, (double)margin, relative(margin, cert->margin));
        return;
    }
    const quad value = member_objective(&t->m, &t->saved);
    if (value > cert->primal + (quad)t->allowance * q_abs(cert->primal) + NOTHING)
        complain(t, FALSE_ATTAINED, "primal %.17g, the weights have %.17g (relative %.1e)",
                 cert->primal, (double)value, relative(value, cert->primal));
    if (c->loss == EQUAL || c->loss == INTERVAL || c->loss == MARGIN) {
        const double off = (double)member_violation(&t->m, &t->saved);
        if (cert->relative_gap < 0.1 && off > 10 * cert->relative_gap + 1e-10)
            complain(t, OUTSIDE, "a constraint is missed by %.1e, relative gap %.1e", off,
                     cert->relative_gap);
    }
    const double outside = (double)member_outside(&t->m, &t->saved);
    if (outside > 1e-14 * (1 + (double)member_norm(&t->m, &t->saved)))
        complain(t, OUTSIDE, "weights outside by %.1e", outside);
}

static void check_proven(trial *t)
{
    const mgv_certificate *cert = t->cert;
    const quad room = (quad)t->allowance;
    if (!t->has_best)
        return;
    if (has_margin(t->c)) {
        if (-t->best_value > cert->margin_upper * (1 + room))
            complain(t, FALSE_PROVEN,
                     "margin at most %.17g, but weights have %.17g (relative %.1e)",
                     cert->margin_upper, (double)-t->best_value,
                     relative(-t->best_value, cert->margin_upper));
        return;
    }
    /* entropy is a sum that cancels, also in quadruple precision */
    const quad noise = t->c->penalty == ENTROPY ? (quad)1e-30 * (1 + q_abs(t->c->lambda)) : 0;
    if (t->best_value < cert->dual - room * q_abs(cert->dual) - noise)
        complain(t, FALSE_PROVEN, "at least %.17g, but weights have %.17g (relative %.1e)",
                 cert->dual, (double)t->best_value, relative(t->best_value, cert->dual));
}

/* The bound beside what its dual variables prove. */
static void check_own_dual(trial *t)
{
    const mgv_certificate *cert = t->cert;
    quad bound, size = 0;
    if (t->a->u_count != t->m.n * t->m.outputs || t->a->members > 1 ||
        !member_dual(&t->m, t->a->u, &bound, &size))
        return;
    if (has_margin(t->c)) {
        if (cert->margin_upper < bound * (1 - (quad)1e-14))
            complain(t, FALSE_OWN, "margin at most %.17g, its u proves %.17g (relative %.1e)",
                     cert->margin_upper, (double)bound, relative(bound, cert->margin_upper));
        return;
    }
    if (cert->dual > q_max(0, bound) + (quad)1e-14 * size)
        complain(t, FALSE_OWN, "at least %.17g, its u proves %.17g (relative %.1e)", cert->dual,
                 (double)bound, relative(bound, cert->dual));
}

/* The least y z of the member's rows. */
static quad least_score(const member *m, const point *p)
{
    static quad z[MOST][CLASSES];
    quad least = INFINITY;
    member_scores(m, p, z);
    for (int r = 0; r < m->n; r++)
        if (m->s[r] > 0)
            least = q_min(least, m->sign[r] * z[r][0]);
    return least;
}

/* "Separable": the saved weights show it, or those of a hard margin. */
static void check_separable(trial *t)
{
    static torture_case own;
    static answer again;
    static point p;
    if (t->cert->separable != 1 || t->m.outputs > 1 || t->c->loss > MARGIN || !t->has_saved ||
        least_score(&t->m, &t->saved) > 0)
        return;
    own_case(t, &own);
    own.loss = MARGIN;
    own.penalty = L2;
    case_settings(&own);
    library_solve(&own, &again);
    if (again.status != MGV_OK || again.outputs != 1)
        return;
    if (again.has_coef)
        point_from_own(&t->m, again.coef, again.intercept, &p);
    else if (!again.has_kernel_coef ||
             !point_from_rows(&t->m, again.kernel_coef, again.intercept, false, &p))
        return;
    else
        point_rebase(&t->m, &again, &p);
    if (!(least_score(&t->m, &p) > 0))
        complain(t, FALSE_PROOF, "separable, but neither the weights nor a hard margin separate");
}

/* "No weights meet the constraints": any that do. */
static void check_proof(trial *t)
{
    gather(t);
    if (has_margin(t->c) && t->has_best && t->best_value < 0)
        complain(t, FALSE_PROOF, "not separable, but weights have the margin %.3e",
                 (double)-t->best_value);
    if (!has_margin(t->c) && t->has_best)
        complain(t, FALSE_PROOF, "no weights meet the constraints, but some do: objective %.17g",
                 (double)t->best_value);
}

/* Weights may leave one class without any: the optimum is then 0, perhaps at infinity. */
static bool has_one_class(const member *m)
{
    bool up = false, down = false;
    for (int r = 0; r < m->n; r++) {
        up = up || (m->s[r] > 0 && m->sign[r] > 0);
        down = down || (m->s[r] > 0 && m->sign[r] < 0);
    }
    return m->outputs == 1 && m->c->form != QUANTITY && !(up && down);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void judge_member(trial *t)
{
    const mgv_certificate *cert = t->cert;
    if (t->talk > 1)
        printf("    member %d: primal %.17g dual %.17g relative %.3g margin %.17g upper %.17g "
               "separable %d verified %d\n",
               t->index, cert->primal, cert->dual, cert->relative_gap, cert->margin,
               cert->margin_upper, cert->separable, cert->verified);
    if (t->a->run.stop == MGV_STOP_INFEASIBLE) {
        if (cert->separable == 0)
            check_proof(t);
        return;
    }
    if (!cert->verified && isinf(cert->primal)) { /* right where no weights have a finite one */
        t->has_saved = take_saved(t);
        gather(t);
        if (!t->has_best || t->best_value > (quad)DBL_MAX) {
            t->worst = EXCUSED;
            return;
        }
    }
    if (!cert->verified) {
        t->worst = case_must_verify(t->c) && !has_one_class(&t->m) ? OPEN : EXCUSED;
        if (t->worst == OPEN)
            complain(t, OPEN, "stopped by %s", mgv_stop_name(t->a->run.stop));
        return;
    }
    t->has_saved = take_saved(t);
    gather(t);
    if (t->talk > 1 && t->has_best)
        printf("    best known %.17g\n", (double)t->best_value);
    if (t->talk > 1 && t->has_saved)
        printf("    of the saved weights %.17g\n", (double)point_value(&t->m, &t->saved));
    check_order(t);
    check_attained(t);
    check_proven(t);
    check_own_dual(t);
    check_separable(t);
}

verdict judge_case(torture_case *c, int talk)
{
    static answer a;
    static trial t;
    verdict worst = RIGHT;
    library_solve(c, &a);
    if (a.status == MGV_E_UNSUPPORTED && c->max_iter > 0) { /* another solver will */
        c->max_iter = 0;
        snprintf(c->solver, sizeof c->solver, "auto");
        case_settings(c);
        library_solve(c, &a);
    }
    if (talk > 1)
        printf("    %s\n    status %s %s, solver %s, stop %s, %.3f s\n", a.formula,
               mgv_status_name(a.status), a.error, a.run.solver ? a.run.solver : "-",
               mgv_stop_name(a.run.stop), a.seconds);
    if (a.status != MGV_OK)
        return !a.error[0] || a.status == MGV_E_INTERNAL ? NO_SENTENCE
               : a.status == MGV_E_NUMERIC               ? NUMERIC
                                                         : REFUSED;
    for (int k = 0; k < a.members; k++) {
        memset(&t, 0, sizeof t);
        t.c = c;
        t.a = &a;
        t.cert = &a.member[k];
        t.index = k;
        t.talk = talk;
        t.worst = RIGHT;
        t.allowance = c->weighted || c->scaling != SCALE_NONE ? 4e-15 : 1e-15;
        member_make(c, k, &t.m);
        member_shift(&t.m, &a);
        judge_member(&t);
        worst = t.worst > worst ? t.worst : worst;
    }
    return worst;
}
