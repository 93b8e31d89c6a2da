/* test_sparse_answers.c - weights that are 0 at the optimum are 0 in the answer, whatever solver
 * ran and at the default tolerance: the nonzeros of 1e-4 are those of 1e-9, which satisfy the
 * optimality conditions, but for ties. */
#include "base/rng.h"
#include "loss/registry.h"
#include "select/selection.h"
#include "select/walk.h"
#include "solver/classes/family.h"
#include "solver/driver.h"
#include "vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLS = 80 };

/* ---- sets ------------------------------------------------------------------------------------ */

typedef struct table {
    const char *name;
    int64_t n, d;
    double kin;    /* correlation with the column before */
    double filled; /* part of the entries that are not 0 */
    int twins;     /* the last columns repeat the first */
} table;

static const table tables[] = {{"tall", 120, 16, 0.6, 1, 0},
                               {"wide", 30, 70, 0.3, 1, 0},
                               {"text", 60, 80, 0, 0.15, 0},
                               {"twins", 60, 20, 0.5, 1, 3}};
enum { TABLES = sizeof tables / sizeof *tables };

/* Six columns matter; labels are the sign of a noisy score, or that score. */
static void make_table(const table *t, bool quantity, double **X_out, double **y_out)
{
    mgvi_rng rng = mgvi_rng_seed(7);
    double *X = calloc((size_t)(t->n * t->d), sizeof *X), *y = calloc((size_t)t->n, sizeof *y);
    for (int64_t i = 0; i < t->n; i++) {
        double score = 0.4 + 0.8 * mgvi_rng_normal(&rng);
        double *row = X + i * t->d, last = 0;
        for (int64_t j = 0; j < t->d - t->twins; j++) {
            last = mgvi_rng_normal(&rng) + t->kin * last;
            row[j] = mgvi_rng_uniform(&rng) < t->filled ? last : 0;
            score += j < 6 ? (j % 2 ? -1 : 1) * row[j] : 0;
        }
        for (int64_t j = 0; j < t->twins; j++)
            row[t->d - t->twins + j] = row[j];
        y[i] = quantity ? score : score > 0 ? 1 : -1;
    }
    *X_out = X;
    *y_out = y;
}

/* Of two equal columns the first stands for both. */
static int64_t twin_of(const table *t, int64_t j)
{
    return j >= t->d - t->twins ? j - (t->d - t->twins) : j;
}

/* ---- answers --------------------------------------------------------------------------------- */

typedef struct answer {
    bool certified;
    double gap;
    bool nonzero[MOST_COLS], tie[MOST_COLS];
} answer;

/* Which columns have a weight; `tight`: no dust is among them, and ties are marked. */
static answer look(const mgv_solver *solver, const table *t, bool tight, const char *what)
{
    const mgv_problem *p = solver->run.problem;
    const double *w = solver->answer.w.x;
    answer a = {.certified = solver->stop == MGV_STOP_CERTIFIED,
                .gap = solver->answer_verdict.certificate.relative_gap};
    double largest = 0, *room = calloc((size_t)p->A->cols, sizeof *room);
    mgvi_vec v = mgvi_vec_wrap(room, p->A->cols, MGVI_COLS);
    mgvi_op_mul_t(p->A, 1, &solver->answer.u, 0, &v);
    for (int64_t j = 0; j < t->d; j++)
        largest = fmax(largest, fabs(w[j]));
    for (int64_t j = 0; j < t->d; j++) {
        const mgvi_strengths c = mgvi_problem_strengths(p, j);
        const double size = fabs(w[j]) / largest, pull = fabs(v.x[j]) - c.lambda * fabs(w[j]);
        if (w[j] != 0)
            a.nonzero[twin_of(t, j)] = true;
        if (tight && a.certified && w[j] != 0 && size > 1e-6)
            CHECK_NEAR(pull / c.mu, 1, 1e-3, "%s: weight %d is dust, %g of the largest", what,
                       (int)j, size);
        if ((w[j] == 0 || size < 1e-6) && pull > c.mu * (1 - 1e-6))
            a.tie[twin_of(t, j)] = true;
    }
    free(room);
    return a;
}

static void check_same(const answer *loose, const answer *tight, const table *t, const char *what)
{
    for (int64_t j = 0; j < t->d - t->twins; j++)
        CHECK_THAT(loose->nonzero[j] == tight->nonzero[j] || tight->tie[j],
                   "%s: column %d has %s weight at a gap of %.1e, but not at %.1e", what, (int)j,
                   loose->nonzero[j] ? "a" : "no", loose->gap, tight->gap);
}

static answer solve(const table *t, bool quantity, const char *options, const char *tol)
{
    double *X, *y;
    char what[200];
    mgv_fit f;
    make_table(t, quantity, &X, &y);
    mgv_fit_start(&f, X, y, t->n, t->d, options);
    mgv_fit_set(&f, tol);
    mgv_fit_set(&f, "threads=1");
    mgv_fit_solve(&f);
    snprintf(what, sizeof what, "%s %s %s", t->name, options, tol);
    const answer a = look(f.solver, t, strcmp(tol, "tol=1e-4") != 0, what);
    mgv_fit_free(&f);
    free(X);
    free(y);
    return a;
}

/* ---- every solver ---------------------------------------------------------------------------- */

/* Asked at 1e-4; what they find is compared with what `auto` finds at 1e-9. */
static const char *const ways[] = {"newton hinge",
                                   "column_generation hinge",
                                   "column_generation squared_hinge",
                                   "column_generation smooth_hinge",
                                   "proximal_newton hinge",
                                   "proximal_newton squared_hinge",
                                   "proximal_newton smooth_hinge",
                                   "proximal_newton sqrt_hinge",
                                   "proximal_newton logistic",
                                   "proximal_newton squared",
                                   "proximal_newton huber",
                                   "proximal_newton absolute",
                                   "proximal_newton epsilon_insensitive",
                                   "column_generation absolute",
                                   "column_generation epsilon_insensitive",
                                   "primal_coordinate squared",
                                   "smsvm hinge",
                                   "primal_dual hinge",
                                   "primal_dual logistic",
                                   "primal_dual squared",
                                   "auto hinge",
                                   "auto logistic",
                                   "auto huber",
                                   "auto absolute",
                                   "auto epsilon_insensitive"};

static void check_ways(const char *strengths)
{
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
        for (int t = 0; t < TABLES; t++) {
            char solver[32], loss[32], loose[160], tight[160];
            CHECK(sscanf(ways[k], "%31s %31s", solver, loss) == 2);
            const bool slow = strcmp(solver, "smsvm") == 0 || strcmp(solver, "primal_dual") == 0;
            if (slow && tables[t].n < tables[t].d)
                continue; /* without a certificate within reason */
            const bool quantity = !(mgvi_loss_find(loss)->can & MGVI_MARGIN);
            snprintf(loose, sizeof loose, "solver=%s loss=%s %s task=%s scale=std", solver, loss,
                     strengths, quantity ? "regress" : "classify");
            snprintf(tight, sizeof tight, "loss=%s %s task=%s scale=std", loss, strengths,
                     quantity ? "regress" : "classify");
            const answer a = solve(&tables[t], quantity, loose, "tol=1e-4");
            const answer b = solve(&tables[t], quantity, tight, "tol=1e-9");
            CHECK_THAT(a.certified && b.certified, "%s: %s has no certificate", tables[t].name,
                       a.certified ? tight : loose);
            check_same(&a, &b, &tables[t], loose);
        }
}

TEST(every_solver_finds_the_zeros_of_l1) { check_ways("penalty=l1 mu=0.02"); }

TEST(every_solver_finds_the_zeros_of_enet) { check_ways("mu=0.03 lambda=0.01"); }

/* ---- paths ----------------------------------------------------------------------------------- */

enum { POINTS = 20 };

static void walk(const table *t, bool quantity, const char *options, const char *tol,
                 answer out[POINTS])
{
    double *X, *y;
    mgv_fit f;
    mgv_path *path;
    const mgv_solver *solver;
    make_table(t, quantity, &X, &y);
    mgv_fit_start(&f, X, y, t->n, t->d, options);
    mgv_fit_set(&f, "path_points=20 path_end=0.01 threads=1");
    mgv_fit_set(&f, tol);
    CHECK_OK(f.ctx, mgv_path_new(f.ctx, f.data, f.settings, &path));
    for (int k = 0; k < POINTS; k++) {
        CHECK_OK(f.ctx, mgv_path_next(f.ctx, path, &solver));
        out[k] = look(solver, t, strcmp(tol, "tol=1e-4") != 0, options);
        mgv_path_result point = {.size = sizeof point};
        mgv_path_at(path, k, &point);
        CHECK(point.nonzeros == mgvi_problem_nonzeros(solver->run.problem, solver->answer.w.x));
    }
    mgv_path_free(f.ctx, path);
    mgv_fit_free(&f);
    free(X);
    free(y);
}

TEST(points_of_a_path_have_no_dust)
{
    static const char *const losses[] = {"hinge",   "squared_hinge", "smooth_hinge", "logistic",
                                         "squared", "huber",         "absolute"};
    for (size_t l = 0; l < sizeof losses / sizeof *losses; l++)
        for (int t = 0; t < TABLES; t++) {
            answer loose[POINTS], tight[POINTS];
            char options[96];
            snprintf(options, sizeof options, "penalty=l1 loss=%s task=%s scale=std", losses[l],
                     l >= 4 ? "regress" : "classify");
            walk(&tables[t], l >= 4, options, "tol=1e-4", loose);
            walk(&tables[t], l >= 4, options, "tol=1e-9", tight);
            for (int k = 0; k < POINTS; k++)
                check_same(&loose[k], &tight[k], &tables[t], options);
            for (int64_t j = 0; j < tables[t].d; j++) /* it begins with no weights at all */
                CHECK_THAT(!loose[0].nonzero[j], "%s %s: column %d", tables[t].name, options,
                           (int)j);
        }
}

/* ---- selections ------------------------------------------------------------------------------ */

TEST(a_selection_chooses_a_model_without_dust)
{
    static const char *const losses[] = {"hinge", "squared_hinge", "logistic"};
    const table *t = &tables[1];
    for (size_t l = 0; l < sizeof losses / sizeof *losses; l++) {
        double *X, *y;
        char options[96], fixed[96];
        mgv_fit f;
        mgv_selection *s;
        make_table(t, false, &X, &y);
        snprintf(options, sizeof options, "penalty=l1 loss=%s scale=std select=cv:4", losses[l]);
        mgv_fit_start(&f, X, y, t->n, t->d, options);
        CHECK_OK(f.ctx, mgv_selection_run(f.ctx, f.data, f.settings, &s));
        const mgvi_path *path = mgvi_selection_path(s);
        for (int64_t k = 0; k < path->count; k++) /* no interior point's dust on the way */
            CHECK_THAT(path->point[k].nonzeros <= t->n, "%s: point %d has %d weights", losses[l],
                       (int)k, (int)path->point[k].nonzeros);
        const answer a = look(s->solver, t, false, options);
        snprintf(fixed, sizeof fixed, "penalty=l1 loss=%s scale=std mu=%.17g", losses[l],
                 mgvi_selection_point(s)->mu);
        const answer b = solve(t, false, fixed, "tol=1e-9");
        check_same(&a, &b, t, options);
        mgv_selection_free(f.ctx, s);
        mgv_fit_free(&f);
        free(X);
        free(y);
    }
}

/* ---- many classes ---------------------------------------------------------------------------- */

static void zeros_of_classes(const char *loss, const char *tol, int64_t *nonzeros)
{
    enum { N = 90, D = 40, CLASSES = 3 };
    double X[N * D], y[N];
    char options[96];
    mgvi_rng rng = mgvi_rng_seed(3);
    mgv_fit f;
    for (int i = 0; i < N; i++) {
        y[i] = i % CLASSES;
        for (int j = 0; j < D; j++)
            X[i * D + j] = mgvi_rng_normal(&rng) + (j / 2 == i % CLASSES ? 1 : 0);
    }
    snprintf(options, sizeof options, "task=classify penalty=l1 mu=0.03 multiclass=ovr loss=%s",
             loss);
    mgv_fit_start(&f, X, y, N, D, options);
    mgv_fit_set(&f, tol);
    mgv_fit_solve(&f);
    CHECK(f.solver->family && f.solver->family->members == CLASSES);
    for (int c = 0; c < CLASSES; c++)
        nonzeros[c] = mgvi_count_nonzeros(f.solver->family->coef + c * D, D);
    mgv_fit_free(&f);
}

TEST(classes_against_the_rest_have_no_dust)
{
    static const char *const losses[] = {"hinge", "squared_hinge", "logistic"};
    for (size_t l = 0; l < sizeof losses / sizeof *losses; l++) {
        int64_t loose[3], tight[3];
        zeros_of_classes(losses[l], "tol=1e-4", loose);
        zeros_of_classes(losses[l], "tol=1e-9", tight);
        for (int c = 0; c < 3; c++)
            CHECK_THAT(loose[c] == tight[c] && tight[c] < 40 && tight[c] > 0,
                       "%s: class %d has %d weights at 1e-4, %d at 1e-9", losses[l], c,
                       (int)loose[c], (int)tight[c]);
    }
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* The steps after the certificate are steps: a limit counts them, and a checkpoint between them is
 * continued to the same bits. */
TEST(going_on_for_zeros_keeps_to_limits)
{
    double *X, *y;
    mgv_fit f;
    make_table(&tables[0], false, &X, &y);
    const char *options = "penalty=l1 mu=0.01 loss=logistic solver=proximal_newton";
    mgv_fit_start(&f, X, y, tables[0].n, tables[0].d, options);
    mgv_fit_solve(&f);
    CHECK(f.solver->memory.sharpened > 0 && f.certificate.relative_gap <= 1e-9);
    const int64_t all = f.run.iterations;
    mgv_fit_free(&f);
    CHECK(all > 3);
    for (int64_t most = all - 3; most <= all; most++) {
        char limit[32];
        snprintf(limit, sizeof limit, "max_iter=%d", (int)most);
        mgv_fit_start(&f, X, y, tables[0].n, tables[0].d, options);
        mgv_fit_set(&f, limit);
        mgv_fit_solve(&f);
        CHECK(f.run.iterations <= most);
        CHECK((f.run.stop == MGV_STOP_CERTIFIED) == (f.certificate.relative_gap <= 1e-4));
        mgv_fit_free(&f);
        if (most == all - 1)
            mgv_check_same_bits(X, y, tables[0].n, tables[0].d, options, most);
    }
    free(X);
    free(y);
}

int main(void)
{
    return RUN(every_solver_finds_the_zeros_of_l1, every_solver_finds_the_zeros_of_enet,
               points_of_a_path_have_no_dust, a_selection_chooses_a_model_without_dust,
               classes_against_the_rest_have_no_dust, going_on_for_zeros_keeps_to_limits);
}
