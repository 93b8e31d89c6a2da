/* test_forged.c - laws of the judge over every loss, penalty, kernel and unit, for weights and
 * multipliers that nobody has solved for. What is attained by any weights lies above what any
 * multipliers prove, also across pairs; an answer solved to 1e-10 among them makes both sides
 * tight, so that a bound that is wrong by more shows. */
#include "vectors.h"

#include "base/rng.h"
#include "certify/certify.h"
#include "loss/registry.h"
#include "penalty/registry.h"
#include "solver/driver.h"

#include <math.h>
#include <string.h>

enum { N = 10, D = 3, WEIGHTS = 7, MULTIPLIERS = 7 };

typedef struct law {
    double attained, proven; /* the least and the largest of all */
    double margin, upper;
    bool inseparable;
    char options[400];
} law;

static void make(mgvi_rng *rng, double unit, double offset, int classes, double *X, double *y)
{
    for (int i = 0; i < N; i++) {
        y[i] = classes == 0 ? mgvi_rng_normal(rng) : classes == 2 ? (i % 2 ? 1 : -1) : i % classes;
        for (int j = 0; j < D; j++)
            X[i * D + j] = unit * (mgvi_rng_normal(rng) + offset + 0.7 * y[i] * (j == 0));
    }
}

/* Forged numbers: k = 0 none, 1 the answer, 2 and 3 near it, 4 far from it, 5 and 6 anything. */
static void forge(mgvi_rng *rng, int k, const double *answer, mgvi_vec *x)
{
    double size = 0;
    for (int64_t i = 0; i < x->n * x->k; i++)
        size = fmax(size, answer ? fabs(answer[i]) : 1);
    for (int64_t i = 0; i < x->n * x->k; i++) {
        const double a = answer ? answer[i] : 0, noise = mgvi_rng_normal(rng);
        x->x[i] = k == 0   ? 0
                  : k == 1 ? a
                  : k == 2 ? a * (1 + 1e-9 * noise)
                  : k == 3 ? a + 1e-12 * size * noise
                  : k == 4 ? -3 * a
                  : k == 5 ? size * noise
                           : -size * fabs(noise);
    }
}

/* Where a penalty takes nothing else; weights near the answer lie a little outside. */
static void put_on_simplex(double *w, int64_t n)
{
    double sum = 0;
    for (int64_t j = 0; j < n; j++)
        sum += w[j] = fabs(w[j]);
    for (int64_t j = 0; j < n; j++)
        w[j] = sum > 0 ? w[j] / sum : 1 / (double)n;
}

static void see(law *l, const mgv_problem *p, const mgv_certificate *c)
{
    CHECK_THAT(!(c->gap < 0) && !(c->relative_gap < 0), "%s: gap %g", l->options, c->gap);
    CHECK_THAT(!(c->dual > c->primal), "%s: %g proven, %g attained", l->options, c->dual,
               c->primal);
    CHECK_THAT(!(c->margin > c->margin_upper), "%s: margin %g, at most %g", l->options, c->margin,
               c->margin_upper);
    l->inseparable = l->inseparable || c->separable == 0;
    if (c->margin > l->margin)
        l->margin = c->margin;
    if (c->margin_upper < l->upper)
        l->upper = c->margin_upper;
    if (p->loss->can & MGVI_HARD) /* what weights miss is paid by the multipliers beside them */
        return;
    if (c->primal < l->attained)
        l->attained = c->primal;
    if (c->dual > l->proven)
        l->proven = c->dual;
}

static void judge_all(mgv_fit *fit, mgvi_rng *rng, law *l)
{
    const mgv_problem *p = fit->problem;
    const mgv_solver *s = fit->solver;
    const bool solved = s && !s->family && s->stop != MGV_STOP_NONE;
    mgvi_judge *judge;
    mgvi_arena arena;
    mgvi_vec w, u;
    mgvi_arena_init(&arena, fit->ctx);
    CHECK_OK(fit->ctx, mgvi_judge_new(&arena, p, &judge));
    CHECK_OK(fit->ctx, mgvi_vec_new(&arena, MGVI_COLS, p->A->cols, p->lanes, &w));
    CHECK_OK(fit->ctx, mgvi_vec_new(&arena, MGVI_ROWS, p->A->rows, p->lanes, &u));
    for (int k = 0; k < WEIGHTS; k++)
        for (int m = 0; m < MULTIPLIERS; m++) {
            forge(rng, k, solved ? s->answer.w.x : NULL, &w);
            if (p->penalty->whole && p->penalty->whole->most && k > 3)
                put_on_simplex(w.x, mgvi_problem_penalised(p));
            forge(rng, m, solved ? s->answer.u.x : NULL, &u);
            for (int care = MGVI_CARE_PLAIN; care < MGVI_CARES; care++) {
                mgvi_verdict v = mgvi_judge_certify_with(judge, &w, &u, (mgvi_care)care);
                see(l, p, &v.certificate);
            }
            if (p->loss->can & MGVI_HARD) { /* proofs of what is not so */
                mgvi_verdict v = mgvi_judge_certify(judge, &w, &u);
                const bool proven = mgvi_judge_prove(judge, &u, 30, &v);
                l->inseparable = l->inseparable || proven;
            }
        }
    mgvi_arena_free(&arena);
}

/* False: there is no such problem. */
static bool look(uint64_t seed, int classes, double unit, double offset, const char *options)
{
    double X[N * D], y[N];
    mgv_fit fit;
    mgvi_rng rng = mgvi_rng_seed(seed);
    law l = {.attained = INFINITY, .proven = -INFINITY, .margin = -INFINITY, .upper = INFINITY};
    snprintf(l.options, sizeof l.options, "seed %d, unit %g, offset %g: %s", (int)seed, unit,
             offset, options);
    make(&rng, unit, offset, classes, X, y);
    mgv_fit_start(&fit, X, y, N, D, options);
    if (mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem) != MGV_OK) {
        mgv_fit_free(&fit);
        return false;
    }
    if (mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver) == MGV_OK)
        (void)mgv_solver_run(fit.ctx, fit.solver);
    fit.problem->A->failed = MGV_OK;
    judge_all(&fit, &rng, &l);
    CHECK_THAT(!(l.proven > l.attained), "%s: %.17g proven, %.17g attained", l.options, l.proven,
               l.attained);
    CHECK_THAT(!(l.margin > l.upper), "%s: margin %.17g, at most %.17g", l.options, l.margin,
               l.upper);
    CHECK_THAT(!(l.inseparable && l.margin > 0), "%s: proven inseparable, margin %g", l.options,
               l.margin);
    mgv_fit_free(&fit);
    return true;
}

static const double units[] = {1, 1e-150, 1e-12, 1e12, 1e150};
static const double offsets[] = {0, 1e4, 1e8};
#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Strengths go with the units, so that there is something to gain; those that the penalty has. */
static bool look_with_strengths(uint64_t seed, int classes, double unit, double offset, bool linear,
                                const char *options)
{
    char all[300];
    for (int given = 3; given >= 0; given--) {
        char lambda[40] = "", mu[40] = "";
        if (given & 1)
            snprintf(lambda, sizeof lambda, " lambda=%g", 0.05 * (linear ? unit * unit : 1));
        if (given & 2)
            snprintf(mu, sizeof mu, " mu=%g", 0.02 * unit);
        snprintf(all, sizeof all, "%s%s%s", options, lambda, mu);
        if (look(seed, classes, unit, offset, all))
            return true;
    }
    return false;
}

static int look_at(const char *loss, const char *penalty, const char *kernel, uint64_t seed)
{
    char options[200];
    int found = 0;
    for (int intercept = 0; intercept < 2; intercept++)
        for (size_t t = (seed + (size_t)intercept) % 3; t < COUNT(units); t += 3) {
            const double unit = units[t], offset = offsets[(seed + t) % COUNT(offsets)];
            const mgvi_loss_ops *ops = mgvi_loss_find(loss);
            const bool quantity = !(ops->can & (MGVI_MARGIN | MGVI_JOINT));
            snprintf(options, sizeof options,
                     "task=%s loss=%s penalty=%s kernel=%s intercept=%s tol=1e-10 "
                     "max_passes=200 max_iter=200",
                     quantity ? "regress" : "classify", loss, penalty, kernel,
                     intercept ? "yes" : "no");
            found += look_with_strengths(seed + t,
                                         quantity                  ? 0
                                         : (ops->can & MGVI_JOINT) ? 3
                                                                   : 2,
                                         unit, offset, strcmp(kernel, "linear") == 0, options);
        }
    return found;
}

TEST(no_multipliers_prove_more_than_weights_attain)
{
    int found = 0;
    for (int k = 0; k < mgvi_loss_count(); k++)
        for (int t = 0; t < mgvi_penalty_count(); t++)
            found += look_at(mgvi_loss_at(k)->name, mgvi_penalty_at(t)->name, "linear",
                             (uint64_t)(7 * k + t));
    CHECK_THAT(found > 150, "%d problems", found);
}

TEST(nor_with_a_kernel)
{
    static const char *const kernels[] = {"rbf", "laplace", "poly"};
    int found = 0;
    for (int k = 0; k < mgvi_loss_count(); k++)
        for (size_t t = 0; t < COUNT(kernels); t++)
            found += look_at(mgvi_loss_at(k)->name, "l2", kernels[t], (uint64_t)(5 * k + (int)t));
    CHECK_THAT(found > 60, "%d problems", found);
}

int main(void) { return RUN(no_multipliers_prove_more_than_weights_attain, nor_with_a_kernel); }
