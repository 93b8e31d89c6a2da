/* test_evaluate.c - given weights on given data: the objective is the sum that the test adds up
 * itself, the bound is below every objective, a fit's own weights have the fit's certificate. */
#include "check.h"

#include "base/rng.h"
#include "data/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 80, D = 5, K = 3 };

typedef struct set {
    double X[N * D], y[N], classes[N];
} set;

static void fill(set *s, uint64_t seed)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    for (int i = 0; i < N; i++) {
        double score = 0.7 * mgvi_rng_normal(&rng);
        for (int j = 0; j < D; j++) {
            s->X[i * D + j] = mgvi_rng_normal(&rng) + 0.3 * j;
            score += s->X[i * D + j] / (1 + j) - 0.3;
        }
        s->y[i] = score > 0 ? 1 : -1;
        s->classes[i] = score > 0.8 ? 2 : score > -0.8;
    }
}

typedef struct bound {
    mgv_ctx *ctx;
    mgv_settings *settings;
    mgv_data *data;
    mgv_problem *problem;
    mgv_solver *solver;
    mgv_model *model;
} bound;

static void set_all(bound *b, const char *options)
{
    char text[200], *rest = text, *item;
    snprintf(text, sizeof text, "%s", options);
    while ((item = strsep(&rest, " "))) {
        char *equals = strchr(item, '=');
        if (!equals)
            continue;
        *equals = 0;
        CHECK_OK(b->ctx, mgv_settings_set(b->ctx, b->settings, item, equals + 1));
    }
}

static bound bind(const set *s, const double *labels, const char *options)
{
    bound b = {.ctx = mgv_check_ctx()};
    CHECK_OK(b.ctx, mgv_settings_new(b.ctx, &b.settings));
    set_all(&b, options);
    CHECK_OK(b.ctx, mgv_data_from_dense(b.ctx, MGV_F64, s->X, N, D, D, 1, &b.data));
    CHECK_OK(b.ctx, mgv_data_set_labels(b.ctx, b.data, labels));
    CHECK_OK(b.ctx, mgv_problem_new(b.ctx, b.data, b.settings, &b.problem));
    return b;
}

static void fit(bound *b)
{
    CHECK_OK(b->ctx, mgv_solver_new(b->ctx, b->problem, b->settings, &b->solver));
    CHECK_OK(b->ctx, mgv_solver_run(b->ctx, b->solver));
    CHECK_OK(b->ctx, mgv_model_new(b->ctx, b->solver, &b->model));
}

static void discard(bound *b)
{
    mgv_model_free(b->ctx, b->model);
    mgv_solver_free(b->ctx, b->solver);
    mgv_problem_free(b->ctx, b->problem);
    mgv_data_free(b->ctx, b->data);
    mgv_settings_free(b->ctx, b->settings);
    mgv_ctx_free(b->ctx);
}

/* ---- the objective, added up here ------------------------------------------------------------- */

static long double hinge(long double y, long double z) { return y * z < 1 ? 1 - y * z : 0; }
static long double logistic(long double y, long double z) { return log1pl(expl(-y * z)); }
static long double squared(long double y, long double z) { return (z - y) * (z - y) / 2; }
static long double squared_hinge(long double y, long double z)
{
    return hinge(y, z) * hinge(y, z) / 2;
}

static double objective(const set *s, const double *w, double intercept, double lambda, double mu,
                        long double (*loss)(long double, long double))
{
    long double sum = 0;
    for (int i = 0; i < N; i++) {
        long double z = intercept;
        for (int j = 0; j < D; j++)
            z += (long double)s->X[i * D + j] * w[j];
        sum += loss(s->y[i], z) / N;
    }
    for (int j = 0; j < D; j++)
        sum += lambda / 2 * w[j] * w[j] + mu * fabs(w[j]);
    return (double)sum;
}

TEST(the_objective_is_the_sum_at_any_weights)
{
    static const struct {
        const char *options;
        double lambda, mu;
        long double (*loss)(long double, long double);
    } cases[] = {{"loss=hinge lambda=0.03", 0.03, 0, hinge},
                 {"loss=hinge lambda=1e-300", 0, 0, hinge},
                 {"loss=hinge penalty=l1 mu=0.02", 0, 0.02, hinge},
                 {"loss=logistic lambda=0.1 mu=0.04", 0.1, 0.04, logistic},
                 {"loss=squared_hinge lambda=0.2", 0.2, 0, squared_hinge},
                 {"loss=squared lambda=0.2 task=regress", 0.2, 0, squared}};
    static set s;
    mgvi_rng rng = mgvi_rng_seed(3);
    fill(&s, 1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bound b = bind(&s, s.y, cases[k].options);
        fit(&b);
        mgv_certificate best = {.size = sizeof best}, c = {.size = sizeof c};
        mgv_solver_describe(b.solver, NULL, &best);
        for (int trial = 0; trial < 20; trial++) {
            double w[D], intercept = mgvi_rng_normal(&rng);
            for (int j = 0; j < D; j++)
                w[j] = trial % 3 && j < 2 ? 0 : mgvi_rng_normal(&rng);
            const double value =
                objective(&s, w, intercept, cases[k].lambda, cases[k].mu, cases[k].loss);
            for (int with = 0; with < 2; with++) {
                CHECK_OK(b.ctx, mgv_problem_certify(b.ctx, b.problem, w, &intercept,
                                                    with ? b.solver : NULL, &c));
                CHECK(c.verified && c.primal >= value);
                CHECK_NEAR(c.primal, value, 1e-12 * (1 + value), "%s", cases[k].options);
                CHECK_LE(c.dual, best.primal, "%s: a bound that is none", cases[k].options);
                CHECK(!with || c.dual == best.dual);
            }
        }
        discard(&b);
    }
}

/* Every form of a model: what fit has certified, evaluate finds again. */
TEST(a_fit_has_its_own_certificate)
{
    static const struct {
        const char *options;
        int classes; /* 2, K, or 0: a quantity */
    } cases[] = {{"loss=hinge", 2},
                 {"loss=hinge scale=std", 2},
                 {"loss=logistic p=1.5 intercept=no", 2},
                 {"loss=hinge class_weight=balanced scale=maxabs", 2},
                 {"loss=squared_hinge scale=rownorm", 2},
                 {"loss=smooth_hinge smoothing=0.2", 2},
                 {"loss=huber smoothing=0.2 penalty=l1 mu=0.05 task=regress", 0},
                 {"loss=margin", 2},
                 {"loss=hinge", K},
                 {"loss=hinge multiclass=ovo C=3", K},
                 {"loss=softmax scale=std", K},
                 {"loss=crammer_singer", K},
                 {"loss=margin multiclass=joint", K}};
    static set s;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        fill(&s, 5);
        const double *labels = cases[k].classes == K ? s.classes : s.y;
        if (strstr(cases[k].options, "margin")) /* made separable */
            for (int i = 0; i < N; i++)
                for (int j = 0; j < K; j++)
                    s.X[i * D + j] = 3 * (labels[i] + (labels == s.y) == j) + 0.1 * s.X[i * D + j];
        bound b = bind(&s, labels, cases[k].options);
        fit(&b);
        mgv_certificate was = {.size = sizeof was}, c = {.size = sizeof c},
                        alone = {.size = sizeof alone};
        mgv_solver_describe(b.solver, NULL, &was);
        /* under no settings but those that the model keeps, through its file */
        mgv_settings *none;
        mgv_problem *again;
        mgv_model *loaded;
        CHECK_OK(b.ctx, mgv_settings_new(b.ctx, &none));
        CHECK_OK(b.ctx, mgv_model_save(b.ctx, b.model, "evaluate.mgm"));
        CHECK_OK(b.ctx, mgv_model_load(b.ctx, "evaluate.mgm", &loaded));
        CHECK(remove("evaluate.mgm") == 0);
        CHECK_OK(b.ctx, mgv_model_problem(b.ctx, loaded, b.data, none, &again));
        CHECK_THAT(strcmp(mgv_problem_formula(again), mgv_problem_formula(b.problem)) == 0 ||
                       strstr(cases[k].options, "ovo"),
                   "%s: %s became %s", cases[k].options, mgv_problem_formula(b.problem),
                   mgv_problem_formula(again));
        CHECK_OK(b.ctx, mgv_model_certify(b.ctx, loaded, again, NULL, &alone));
        CHECK_OK(b.ctx, mgv_model_certify(b.ctx, b.model, b.problem, b.solver, &c));
        CHECK(c.verified && alone.verified);
        if (strstr(cases[k].options, "margin")) {
            CHECK_NEAR(c.margin, was.margin, 1e-9 * was.margin, "%s", cases[k].options);
            CHECK(c.margin_upper == was.margin_upper && alone.margin_upper >= was.margin);
        } else {
            CHECK_NEAR(c.primal, was.primal, 1e-9 * was.primal, "%s", cases[k].options);
            CHECK_NEAR(alone.primal, was.primal, 1e-9 * was.primal, "%s", cases[k].options);
            CHECK_NEAR(c.dual, was.dual, 1e-15, "%s", cases[k].options);
            CHECK_LE(alone.dual, was.primal, "%s", cases[k].options);
            CHECK_LE(0.5 * was.primal, alone.dual, "%s: the bound from w alone", cases[k].options);
        }
        mgv_model_free(b.ctx, loaded);
        mgv_problem_free(b.ctx, again);
        mgv_settings_free(b.ctx, none);
        discard(&b);
    }
}

/* Weights that do not separate have a margin below 0, with their own intercept. */
TEST(a_margin_is_that_of_the_weights_as_they_are)
{
    static set s;
    fill(&s, 7);
    bound b = bind(&s, s.y, "loss=margin");
    const double w[D] = {1, 0.5, 0.3, 0.25, 0.2}, intercept = -2;
    double least = INFINITY, norm = 0;
    for (int j = 0; j < D; j++)
        norm += w[j] * w[j];
    for (int i = 0; i < N; i++) {
        double z = intercept;
        for (int j = 0; j < D; j++)
            z += s.X[i * D + j] * w[j];
        least = fmin(least, s.y[i] * z / sqrt(norm));
    }
    mgv_certificate c = {.size = sizeof c};
    CHECK_OK(b.ctx, mgv_problem_certify(b.ctx, b.problem, w, &intercept, NULL, &c));
    CHECK(least < 0 && c.margin <= least && c.primal == INFINITY);
    CHECK_NEAR(c.margin, least, 1e-12, "margin");
    discard(&b);
}

TEST(what_does_not_fit_is_refused)
{
    static set s, other;
    fill(&s, 9);
    fill(&other, 10);
    bound b = bind(&s, s.y, "loss=hinge"), o = bind(&other, other.classes, "loss=hinge");
    fit(&b);
    mgv_certificate c = {.size = sizeof c};
    mgv_problem *problem = NULL;
    mgv_data *data;
    double weights[D] = {0}, intercept = 0;
    CHECK_FAILS(b.ctx, mgv_model_problem(b.ctx, b.model, o.data, b.settings, &problem), MGV_E_INPUT,
                "the model does not know class '0' of the data; choose those it knows with the "
                "setting classes");
    CHECK(!problem);
    CHECK_OK(b.ctx, mgv_data_from_dense(b.ctx, MGV_F64, s.X, N, D - 1, D, 1, &data));
    CHECK_OK(b.ctx, mgv_data_set_labels(b.ctx, data, s.y));
    CHECK_FAILS(b.ctx, mgv_model_problem(b.ctx, b.model, data, b.settings, &problem), MGV_E_INPUT,
                "4");
    mgv_data_free(b.ctx, data);
    CHECK_OK(b.ctx, mgv_data_from_dense(b.ctx, MGV_F64, s.X, 1, D, D, 1, &data));
    CHECK_OK(b.ctx, mgv_data_set_labels(b.ctx, data, s.y));
    CHECK_FAILS(b.ctx, mgv_model_problem(b.ctx, b.model, data, b.settings, &problem), MGV_E_INPUT,
                "the data has no row of the model's class");
    mgv_data_free(b.ctx, data);
    bound same = bind(&s, s.y, "loss=hinge");
    CHECK_FAILS(same.ctx,
                mgv_problem_certify(same.ctx, same.problem, weights, &intercept, b.solver, &c),
                MGV_E_ARG, "the solver is of another problem");
    CHECK_OK(b.ctx, mgv_solver_new(b.ctx, b.problem, b.settings, &same.solver));
    CHECK_FAILS(b.ctx, mgv_problem_certify(b.ctx, b.problem, weights, &intercept, same.solver, &c),
                MGV_E_ARG, "has not run");
    CHECK_FAILS(b.ctx, mgv_model_certify(b.ctx, b.model, o.problem, NULL, &c), MGV_E_ARG,
                "the model has 1 rows of weights, the problem 3");
    bound kernel = bind(&s, s.y, "loss=hinge kernel=rbf");
    CHECK_FAILS(kernel.ctx,
                mgv_problem_certify(kernel.ctx, kernel.problem, weights, &intercept, NULL, &c),
                MGV_E_UNSUPPORTED, "kernel rbf");
    discard(&kernel);
    mgv_solver_free(b.ctx, same.solver);
    same.solver = NULL;
    discard(&same);
    discard(&o);
    discard(&b);
}

TEST(every_allocation_may_fail)
{
    static set s;
    fill(&s, 11);
    for (int many = 0; many < 2; many++)
        for (long fail_at = 1;; fail_at++) {
            mgv_check_allocator memory;
            mgv_check_allocator_init(&memory, 0);
            bound b = {0};
            CHECK(mgv_ctx_new(&memory.hooks, &b.ctx) == MGV_OK);
            CHECK_OK(b.ctx, mgv_ctx_set_threads(b.ctx, 1));
            CHECK_OK(b.ctx, mgv_settings_new(b.ctx, &b.settings));
            CHECK_OK(b.ctx, mgv_data_from_dense(b.ctx, MGV_F64, s.X, N, D, D, 1, &b.data));
            CHECK_OK(b.ctx, mgv_data_set_labels(b.ctx, b.data, many ? s.classes : s.y));
            CHECK_OK(b.ctx, mgv_problem_new(b.ctx, b.data, b.settings, &b.problem));
            fit(&b);
            mgv_problem_free(b.ctx, b.problem);
            mgv_solver_free(b.ctx, b.solver);
            b.problem = NULL;
            b.solver = NULL;
            memory.fail_at = memory.calls + fail_at;
            mgv_certificate c = {.size = sizeof c};
            mgv_metrics metrics = {.size = sizeof metrics};
            char *json = NULL;
            mgv_status st = mgv_model_problem(b.ctx, b.model, b.data, b.settings, &b.problem);
            CHECK(st == MGV_OK || !b.problem);
            if (st == MGV_OK)
                st = mgv_model_certify(b.ctx, b.model, b.problem, NULL, &c);
            if (st == MGV_OK)
                st = mgv_report_evaluation(b.ctx, b.problem, &c, &metrics, "m", "d", &json);
            memory.fail_at = 0;
            mgv_string_free(b.ctx, json);
            discard(&b);
            CHECK(memory.live == 0);
            if (st == MGV_OK)
                break;
            CHECK(st == MGV_E_MEMORY && fail_at < 2000);
        }
}

int main(void)
{
    return RUN(the_objective_is_the_sum_at_any_weights, a_fit_has_its_own_certificate,
               a_margin_is_that_of_the_weights_as_they_are, what_does_not_fit_is_refused,
               every_allocation_may_fail);
}
