/* test_joint_margin.c - the hard margin of many classes in one problem: the implicit form against
 * the reduction written out, the exact answer, laws at every step, and the three answers. */
#include "margin_runs.h"

#include "model/model.h"
#include "op/contrast.h"

#include <unistd.h>

/* Examples of k classes, and the answer where it is known. */
typedef struct class_set {
    int64_t n, d, k;
    double *X, *y;
} class_set;

static class_set load(json_t **vector)
{
    class_set s = {.d = 4};
    *vector = mgv_vector_load("margin_multiclass");
    s.X = mgv_vector_array(*vector, "X", NULL);
    s.y = mgv_vector_array(*vector, "c", &s.n);
    s.k = json_integer_value(json_object_get(*vector, "k"));
    return s;
}

/* Labels from the largest of k random scores, examples moved `shift` towards their class; `wrong`
 * labels are drawn anew. */
static class_set random_classes(uint64_t seed, int64_t n, int64_t d, int64_t k, double shift,
                                int64_t wrong)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    class_set s = {.n = n, .d = d, .k = k};
    double W[256], best;
    s.X = malloc((size_t)(n * d) * sizeof *s.X);
    s.y = malloc((size_t)n * sizeof *s.y);
    for (int64_t j = 0; j < k * d; j++)
        W[j] = mgvi_rng_normal(&rng);
    for (int64_t i = 0; i < n; i++) {
        int64_t own = 0;
        best = -INFINITY;
        for (int64_t j = 0; j < d; j++)
            s.X[i * d + j] = mgvi_rng_normal(&rng);
        for (int64_t c = 0; c < k; c++) {
            double z = 0;
            for (int64_t j = 0; j < d; j++)
                z += W[c * d + j] * s.X[i * d + j];
            if (z > best) {
                best = z;
                own = c;
            }
        }
        for (int64_t j = 0; j < d; j++)
            s.X[i * d + j] += shift * W[own * d + j];
        s.y[i] = (double)(i < wrong ? (own + 1) % k : own);
    }
    return s;
}

static void release(class_set *s)
{
    free(s->X);
    free(s->y);
}

static void open_joint(mgv_fit *fit, const class_set *s, const char *options)
{
    mgv_fit_start(fit, s->X, s->y, s->n, s->d, "loss=margin intercept=no multiclass=joint");
    mgv_fit_set(fit, options);
    CHECK_OK(fit->ctx, mgv_problem_new(fit->ctx, fit->data, fit->settings, &fit->problem));
    CHECK_OK(fit->ctx, mgv_solver_new(fit->ctx, fit->problem, fit->settings, &fit->solver));
}

static void solve_joint(mgv_fit *fit, const class_set *s, const char *options)
{
    mgv_fit_start(fit, s->X, s->y, s->n, s->d, "loss=margin intercept=no multiclass=joint");
    mgv_fit_set(fit, options);
    mgv_fit_solve(fit);
}

/* The reduction written out: n (k - 1) rows x_i (e_c - e_j)' of d k numbers, all of one label but
 * for a copy of the first with both signs turned, since a problem needs two. */
static margin_set write_out(const class_set *s)
{
    margin_set out = {.n = s->n * (s->k - 1), .d = s->d * s->k};
    out.X = calloc((size_t)((out.n) * out.d), sizeof *out.X);
    out.y = malloc((size_t)out.n * sizeof *out.y);
    int64_t r = 0;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < s->k; j++) {
            const int64_t own = (int64_t)s->y[i];
            if (j == own)
                continue;
            const double sign = r % 2 ? -1 : 1; /* a row and its label turned together are the same
                                                   constraint */
            out.y[r] = sign;
            for (int64_t t = 0; t < s->d; t++) {
                out.X[r * out.d + t * s->k + own] = sign * s->X[i * s->d + t];
                out.X[r * out.d + t * s->k + j] = -sign * s->X[i * s->d + t];
            }
            r++;
        }
    return out;
}

static void compare(const double *a, const double *b, int64_t n, double tolerance, const char *what,
                    int t)
{
    double scale = 0;
    for (int64_t j = 0; j < n; j++)
        scale = fmax(scale, fabs(b[j]));
    for (int64_t j = 0; j < n; j++)
        CHECK_NEAR(a[j], b[j], tolerance * fmax(scale, 1), "%s[%d] at %d", what, (int)j, t);
}

/* Paper 004, 5.2: every iterate of the implicit form is that of the matrix written out. */
TEST(the_iterates_are_those_of_the_reduction_written_out)
{
    static const char *const variants[] = {
        "solver=momentum_margin large_steps=no", "solver=momentum_margin",
        "solver=momentum_margin surrogate=logistic", "solver=batch_perceptron"};
    json_t *vector;
    class_set sets[2] = {load(&vector), random_classes(3, 20, 3, 4, 0.5, 0)};
    for (int k = 0; k < 2; k++) {
        margin_set full = write_out(&sets[k]);
        for (int v = 0; v < 4; v++) {
            mgv_fit implicit, explicit;
            open_joint(&implicit, &sets[k], variants[v]);
            margin_open(&explicit, &full, variants[v]);
            for (int t = 1; t <= 200; t++) {
                margin_step(&implicit);
                margin_step(&explicit);
                mgvi_run *a = &implicit.solver->run, *b = &explicit.solver->run;
                if (t <= 3 || t % 50 == 0)
                    compare(a->ops->expose(a).w->x, b->ops->expose(b).w->x, full.d, 1e-12, "w", t);
            }
            mgv_fit_free(&implicit);
            mgv_fit_free(&explicit);
        }
        margin_set_free(&full);
        release(&sets[k]);
    }
    json_decref(vector);
}

TEST(the_exact_answer)
{
    static const char *const kernels[] = {"solver=exact_margin tol=1e-12",
                                          "kernel=poly degree=1 offset=0 sigma2=1 tol=1e-12"};
    json_t *vector;
    class_set s = load(&vector);
    double *U = mgv_vector_array(vector, "U_star", NULL);
    const double gamma = mgv_vector_number(json_object_get(vector, "gamma_m"));
    for (int v = 0; v < 2; v++) {
        mgv_fit fit;
        mgv_model *m;
        solve_joint(&fit, &s, kernels[v]);
        CHECK(fit.run.stop == MGV_STOP_CERTIFIED && fit.certificate.separable == 1);
        CHECK_NEAR(fit.certificate.margin, gamma, 1e-12, "%s", kernels[v]);
        CHECK_NEAR(fit.certificate.margin_upper, gamma, 1e-12, "%s", kernels[v]);
        CHECK_NEAR(fit.run.norm, 1 / gamma, 1e-9, "%s", kernels[v]);
        CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
        CHECK(m->outputs == s.k && m->classes == s.k);
        if (v == 0)
            for (int64_t c = 0; c < s.k; c++)
                for (int64_t j = 0; j < s.d; j++)
                    CHECK_NEAR(m->coef[c * s.d + j], U[j * s.k + c], 1e-9, "U");
        double scores[27];
        CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, m, fit.data, scores));
        for (int64_t i = 0; i < s.n; i++)
            CHECK(mgv_model_decide(m, scores + i * s.k) == (int64_t)s.y[i]);
        mgv_model_free(fit.ctx, m);
        mgv_fit_free(&fit);
    }
    free(U);
    json_decref(vector);
    release(&s);
}

/* Two methods that share nothing but the operator agree, with scaling, weights and sparse rows. */
TEST(methods_agree)
{
    static const char *const options[] = {"tol=1e-4", "tol=1e-4 scale=std",
                                          "tol=1e-4 scale=rownorm", "tol=1e-4 kernel=rbf",
                                          "tol=1e-4 class_weight=0:0"};
    class_set s = random_classes(5, 40, 6, 5, 0.6, 0);
    for (int o = 0; o < 5; o++) {
        mgv_fit a, b;
        solve_joint(&a, &s, options[o]);
        mgv_fit_start(&b, s.X, s.y, s.n, s.d, "loss=margin intercept=no multiclass=joint");
        mgv_fit_set(&b, options[o]);
        mgv_fit_set(&b, "solver=momentum_margin max_iter=100000");
        mgv_fit_solve(&b);
        CHECK(a.certificate.separable == 1 && b.certificate.separable == 1);
        CHECK(a.certificate.verified && b.certificate.verified);
        CHECK_LE(a.certificate.margin, b.certificate.margin_upper, "%s", options[o]);
        CHECK_LE(b.certificate.margin, a.certificate.margin_upper, "%s", options[o]);
        CHECK_LE(fmax(a.certificate.relative_gap, b.certificate.relative_gap), 1e-4, "%s",
                 options[o]);
        mgv_fit_free(&a);
        mgv_fit_free(&b);
    }
    release(&s);
}

/* lower <= margin <= upper at every step. */
TEST(bounds_hold_at_every_step)
{
    static const char *const variants[] = {"solver=momentum_margin", "solver=batch_perceptron",
                                           "solver=exact_margin", "kernel=rbf"};
    class_set s = random_classes(7, 60, 4, 6, 0.5, 0);
    for (int v = 0; v < 4; v++) {
        mgv_fit fit, exact;
        solve_joint(&exact, &s, v == 3 ? "kernel=rbf tol=1e-10" : "tol=1e-10");
        const double gamma = exact.certificate.margin;
        open_joint(&fit, &s, variants[v]);
        for (int t = 1; t <= 60 && !fit.solver->run.finished; t++) {
            margin_step(&fit);
            const mgv_certificate c = margin_judge(&fit);
            CHECK_LE(c.margin, gamma * (1 + 1e-9), "%s at %d", variants[v], t);
            CHECK_LE(gamma, c.margin_upper * (1 + 1e-9), "%s at %d", variants[v], t);
        }
        mgv_fit_free(&fit);
        mgv_fit_free(&exact);
    }
    release(&s);
}

/* A proof is a convex combination of contrasts that vanishes: added up here from the examples. */
TEST(inseparable_classes_are_proven)
{
    static const char *const options[] = {"tol=1e-6", "tol=1e-6 short_proof=yes",
                                          "tol=1e-6 solver=momentum_margin max_iter=20000"};
    class_set s = random_classes(11, 50, 3, 4, 0, 6);
    for (int o = 0; o < 3; o++) {
        mgv_fit fit;
        const double *q;
        int64_t count;
        double sum[12] = {0}, total = 0, most = 0;
        solve_joint(&fit, &s, options[o]);
        CHECK_THAT(fit.run.stop == MGV_STOP_INFEASIBLE && fit.certificate.separable == 0, "%s",
                   options[o]);
        CHECK_OK(fit.ctx, mgv_solver_dual(fit.solver, &q, &count));
        CHECK(count == s.n * s.k);
        for (int64_t i = 0; i < s.n; i++)
            for (int64_t j = 0; j < s.k; j++) {
                const double b = -q[i * s.k + j];
                CHECK(b >= 0 && (b == 0 || j != (int64_t)s.y[i]));
                total += b;
                for (int64_t t = 0; t < s.d; t++) {
                    sum[t * s.k + (int64_t)s.y[i]] += b * s.X[i * s.d + t];
                    sum[t * s.k + j] -= b * s.X[i * s.d + t];
                }
            }
        for (int64_t t = 0; t < s.d * s.k; t++)
            most = fmax(most, fabs(sum[t]));
        CHECK_NEAR(total, 1, 1e-9, "weights");
        CHECK_LE(most, 1e-11, "%s", options[o]);
        mgv_fit_free(&fit);
    }
    release(&s);
}

/* A wide rbf kernel: a margin too small for float64 is the third answer, with an upper bound. */
/* The linear program decides about contrasts, too, from which no rows are peeled off. */
TEST(small_sets_in_every_norm_are_decided)
{
    static const char *const options[] = {"p=2", "p=1.5"};
    int apart = 0, none = 0;
    for (int k = 0; k < 60; k++) {
        class_set s = random_classes(900 + (uint64_t)k, 6 + k % 20, 1 + k % 4, 3 + k % 3,
                                     k % 3 ? 0.4 : 1.5, k % 2 ? 2 : 0);
        mgv_fit fit;
        solve_joint(&fit, &s, options[k % 2]);
        const mgv_stop stop = fit.run.stop;
        CHECK_THAT(stop == MGV_STOP_CERTIFIED || stop == MGV_STOP_INFEASIBLE, "set %d: %s", k,
                   mgv_stop_name(stop));
        apart += stop == MGV_STOP_CERTIFIED;
        none += stop == MGV_STOP_INFEASIBLE;
        mgv_fit_free(&fit);
        release(&s);
    }
    CHECK_THAT(apart >= 10 && none >= 10, "%d apart, %d not", apart, none);
}

TEST(a_kernel_margin_below_precision)
{
    class_set s = random_classes(13, 60, 2, 3, 0, 10);
    mgv_fit fit;
    solve_joint(&fit, &s, "kernel=rbf sigma2=1e6 tol=1e-6");
    CHECK(fit.run.stop == MGV_STOP_STALLED && fit.certificate.separable == -1);
    CHECK(fit.certificate.verified && fit.certificate.margin_upper > 0);
    CHECK_LE(fit.certificate.margin, 0.0, "lower");
    mgv_fit_free(&fit);
    release(&s);
}

/* Same bits for any number of threads, and for a run that was saved and resumed. */
TEST(same_bits)
{
    static const char *const options[] = {"solver=exact_margin", "solver=momentum_margin",
                                          "kernel=rbf"};
    class_set s = random_classes(17, 400, 5, 4, 0.3, 0);
    for (int o = 0; o < 3; o++) {
        mgv_fit one, two;
        solve_joint(&one, &s, options[o]);
        mgv_fit_start(&two, s.X, s.y, s.n, s.d, "loss=margin intercept=no multiclass=joint");
        CHECK_OK(two.ctx, mgv_ctx_set_threads(two.ctx, 3));
        mgv_fit_set(&two, options[o]);
        mgv_fit_solve(&two);
        CHECK_THAT(memcmp(mgv_fit_weights(&one), mgv_fit_weights(&two),
                          (size_t)one.problem->A->cols * sizeof(double)) == 0,
                   "%s", options[o]);
        mgv_fit_free(&one);
        mgv_fit_free(&two);
    }
    release(&s);
}

TEST(resumed_runs_go_on_to_the_same_bits)
{
    class_set s = random_classes(19, 80, 5, 4, 0.3, 0);
    char name[64];
    snprintf(name, sizeof name, "test_joint_margin.%d", (int)getpid());
    mgv_fit whole, half, rest;
    solve_joint(&whole, &s, "solver=momentum_margin max_iter=60 tol=1e-9");
    solve_joint(&half, &s, "solver=momentum_margin max_iter=25 tol=1e-9");
    CHECK_OK(half.ctx, mgv_solver_checkpoint(half.ctx, half.solver, name));
    open_joint(&rest, &s, "solver=momentum_margin max_iter=60 tol=1e-9");
    CHECK_OK(rest.ctx, mgv_solver_resume(rest.ctx, rest.solver, name));
    CHECK_OK(rest.ctx, mgv_solver_run(rest.ctx, rest.solver));
    CHECK(memcmp(mgv_fit_weights(&whole), mgv_fit_weights(&rest),
                 (size_t)whole.problem->A->cols * sizeof(double)) == 0);
    unlink(name);
    mgv_fit_free(&whole);
    mgv_fit_free(&half);
    mgv_fit_free(&rest);
    release(&s);
}

/* What it does not do, it says. */
TEST(refusals)
{
    static const struct {
        const char *options, *sentence;
    } cases[] = {
        {"loss=margin multiclass=joint p=1.5", "in the norm 2 only"},
        {"loss=hinge multiclass=joint intercept=no", "crammer_singer"},
        {"loss=softmax multiclass=ovr", "all classes at once"},
        {"loss=margin multiclass=joint intercept=no solver=perceptron", "knows no joint margin"}};
    class_set s = random_classes(23, 20, 3, 3, 0.5, 0);
    for (int k = 0; k < 4; k++) {
        mgv_fit fit;
        mgv_fit_start(&fit, s.X, s.y, s.n, s.d, cases[k].options);
        mgv_status st = mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem);
        if (st == MGV_OK)
            st = mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver);
        CHECK(st != MGV_OK);
        CHECK_THAT(strstr(mgv_ctx_error(fit.ctx), cases[k].sentence), "%s", mgv_ctx_error(fit.ctx));
        mgv_fit_free(&fit);
    }
    release(&s);
}

int main(void)
{
    return RUN(the_iterates_are_those_of_the_reduction_written_out, the_exact_answer, methods_agree,
               bounds_hold_at_every_step, inseparable_classes_are_proven,
               small_sets_in_every_norm_are_decided, a_kernel_margin_below_precision, same_bits,
               resumed_runs_go_on_to_the_same_bits, refusals);
}
