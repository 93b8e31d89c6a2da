/* test_anywhere.c - solvers that say their vectors may lie anywhere, and the judge, on a backend of
 * two ranks whose memory they cannot see: what they give is what they give on the cpu, but for the
 * order of sums. */
#include "loopback.h"
#include "margin_runs.h"
#include "regression.h"

enum { N = 60, D = 7, CLASSES = 3 };

/* A problem, the solver, and how many steps are compared: rounding grows along them. Metrics are of
 * the cpu's: of a solver that has one there, only the ends are the same. */
typedef struct example {
    const char *data, *options;
    int steps;
    bool ends;
} example;

#define MARGIN "loss=margin "
#define EQUAL "task=regress loss=equal "
static const example examples[] = {
    {"apart", MARGIN "solver=momentum_margin", 30, false},
    {"apart", MARGIN "solver=momentum_margin intercept=no surrogate=logistic", 30, false},
    {"apart", MARGIN "solver=momentum_margin sampling=yes", 30, false},
    {"apart", MARGIN "solver=momentum_margin kernel=rbf", 20, false},
    {"clouds", MARGIN "solver=momentum_margin multiclass=joint", 20, false},
    {"apart", MARGIN "solver=batch_perceptron", 30, false},
    {"apart", MARGIN "solver=batch_perceptron perceptron_form=projected intercept=no", 30, false},
    {"clouds", MARGIN "solver=batch_perceptron multiclass=joint", 20, false},
    {"apart", MARGIN "solver=dual_diagonal intercept=no", 20, false},
    {"apart", MARGIN "solver=normalized_gd intercept=no", 30, false},
    {"apart", MARGIN "solver=gd intercept=no surrogate=logistic", 30, false},
    {"apart", MARGIN "solver=homotopic_subgradient intercept=no", 20, false},
    {"apart", MARGIN "solver=hinge_subgradient intercept=no theta=4", 20, false},
    {"apart", MARGIN "solver=momentum_margin intercept=no momentum_margin.beta=0.5", 20, false},
    {"apart", MARGIN "solver=dual_diagonal intercept=no dual_diagonal.start=0.5", 20, false},
    {"apart", MARGIN "solver=primal_dual", 40, false},
    {"noisy", "loss=hinge solver=primal_dual penalty=l1 mu=0.05", 60, false},
    {"noisy", "loss=logistic solver=primal_dual penalty=enet lambda=0.05 mu=0.02", 40, false},
    {"clouds", "loss=softmax solver=lbfgs lambda=0.1", 60, true},
    {"clouds", "loss=softmax solver=lbfgs lambda=0.1 intercept=no", 60, true},
    {"wide", EQUAL "solver=primal_dual penalty=l1", 40, false},
    {"wide", EQUAL "solver=primal_dual penalty=l1 iterate=average lazy=1 intercept=no select=last",
     40, false},
    {"wide", EQUAL "solver=primal_dual penalty=tv1d split=yes intercept=no", 40, false},
    {"wide", EQUAL "solver=primal_dual penalty=linf intercept=no", 40, false},
    {"wide", EQUAL "solver=primal_dual penalty=tv1d split=lifted intercept=no", 40, false},
    {"wide", EQUAL "solver=bregman penalty=l1 intercept=no", 10, false},
    {"wide", EQUAL "solver=landweber penalty=l2 acceleration=nu intercept=no", 30, false},
    {"wide",
     EQUAL "solver=nesterov_landweber penalty=l2 extrapolated=no fidelity=huber intercept=no", 30,
     false},
    {"tall", "task=regress loss=squared penalty=l1 mu=0.1 solver=proximal_gradient", 40, false},
    {"wide", EQUAL "solver=landweber penalty=l2 intercept=no", 30, false},
    {"wide", EQUAL "solver=nesterov_landweber penalty=l2 intercept=no", 30, false},
    {"wide", EQUAL "solver=linearized_bregman penalty=enet lambda=0.5 intercept=no", 30, false},
    {"wide", EQUAL "solver=accelerated_dual_gradient penalty=enet lambda=0.5 intercept=no", 30,
     false},
    {"tall", "task=regress loss=squared penalty=l2 lambda=0.1 solver=least_squares", 12, false},
    {"tall", "task=regress loss=squared penalty=l1 mu=0.1 solver=primal_dual", 40, false},
    {"bent", "task=regress loss=squared penalty=l1 mu=0.1 solver=primal_dual", 40, false},
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

/* Rows and targets by name, freed by the caller. */
static void make(const char *data, double **X, double **y, int64_t *n, int64_t *d)
{
    *n = N;
    *d = D;
    if (strcmp(data, "clouds") == 0) {
        *X = calloc(N * D, sizeof **X);
        *y = calloc(N, sizeof **y);
        mgv_clouds(*X, *y, N, D, CLASSES);
    } else if (strcmp(data, "noisy") == 0) {
        mgv_random_set(3, N, D, 0.3, X, y);
    } else if (strcmp(data, "twins") == 0) {
        mgv_random_set(3, N, D, 0, X, y);
        memcpy(*X + D, *X, D * sizeof **X);
        (*y)[1] = -(*y)[0];
    } else if (strcmp(data, "apart") == 0) {
        const margin_set s = margin_set_random(5, N, D, 0.3);
        *X = s.X;
        *y = s.y;
    } else {
        const bool wide = strcmp(data, "wide") == 0;
        *n = wide ? 12 : N;
        *d = wide ? 20 : D;
        const regression r = regression_new(7, *n, *d, 3, 4);
        *X = r.X;
        *y = r.y;
        free(r.w), free(r.noise);
    }
}

/* F(w) = sum of (w_j - 1)^2/2, beside the data called bent. */
static int bend(void *user, const double *w, double *value)
{
    const int64_t d = *(const int64_t *)user;
    *value = 0;
    for (int64_t j = 0; j < d; j++)
        *value += (w[j] - 1) * (w[j] - 1) / 2;
    return 0;
}

static int bend_slope(void *user, const double *w, double *gradient)
{
    const int64_t d = *(const int64_t *)user;
    for (int64_t j = 0; j <= d; j++) /* nothing pulls at the intercept */
        gradient[j] = j < d ? w[j] - 1 : 0;
    return 0;
}

/* A solver with its judge whose vectors lie there. */
static void open_at(mgv_fit *fit, const mgvi_backend *at, const char *data, const char *options)
{
    double *X, *y;
    int64_t n, d;
    make(data, &X, &y, &n, &d);
    mgv_fit_start(fit, X, y, n, d, options);
    CHECK_OK(fit->ctx, mgv_problem_new(fit->ctx, fit->data, fit->settings, &fit->problem));
    static int64_t weights = D;
    const mgv_smooth F = {sizeof F, &weights, 1, bend, bend_slope};
    if (strcmp(data, "bent") == 0)
        CHECK_OK(fit->ctx, mgvi_problem_set_smooth(fit->problem, &F));
    fit->ctx->backend = at;
    CHECK_OK(fit->ctx, mgvi_driver_new(fit->ctx, fit->problem, fit->settings, &fit->solver));
    free(X);
    free(y);
}

static void check_same(const mgvi_vec *a, const mgvi_vec *b, double tolerance, const char *options)
{
    const double *x = mgvi_vec_host(a), *y = mgvi_vec_host(b);
    double size = 1e-300;
    CHECK(a->n == b->n && a->k == b->k);
    for (int64_t i = 0; i < a->n * a->k; i++)
        size = fmax(size, fabs(x[i]));
    for (int64_t i = 0; i < a->n * a->k; i++)
        CHECK_NEAR(y[i], x[i], tolerance * size, "%s, number %d of %s", options, (int)i,
                   a->space == MGVI_ROWS ? "u" : "w");
}

TEST(steps_are_those_of_the_cpu)
{
    for (int e = 0; e < EXAMPLES; e++) {
        mgv_fit here, there;
        open_at(&here, NULL, examples[e].data, examples[e].options);
        open_at(&there, &mgv_loopback, examples[e].data, examples[e].options);
        const int last = examples[e].steps;
        for (int t = examples[e].ends ? last : 1; t <= last; t++) {
            const mgvi_iterate a = step_to(&here, t), b = step_to(&there, t);
            CHECK(b.w->at == &mgv_loopback && b.u->at == &mgv_loopback && !a.w->at);
            const double tolerance = examples[e].ends ? 1e-5 : 1e-8;
            check_same(a.w, b.w, tolerance, examples[e].options);
            check_same(a.u, b.u, tolerance, examples[e].options);
        }
        mgv_fit_free(&here);
        mgv_fit_free(&there);
    }
}

/* A state goes by way of a file from one to the other. */
TEST(checkpoints_go_anywhere)
{
    for (int e = 0; e < EXAMPLES; e++) {
        const int half = examples[e].steps / 2, last = half + 3;
        mgv_fit here, there;
        void *bytes;
        size_t size;
        if (examples[e].ends) /* the state knows the metric */
            continue;
        open_at(&here, NULL, examples[e].data, examples[e].options);
        open_at(&there, &mgv_loopback, examples[e].data, examples[e].options);
        step_to(&there, half);
        CHECK_OK(there.ctx, mgvi_checkpoint_pack(there.solver, &bytes, &size));
        CHECK_OK(here.ctx, mgvi_checkpoint_parse(here.solver, "state", bytes, size));
        mgvi_release(there.ctx, bytes);
        mgvi_iterate a = step_to(&here, last), b = step_to(&there, last);
        check_same(a.w, b.w, 1e-8, examples[e].options);
        check_same(a.u, b.u, 1e-8, examples[e].options);
        CHECK_OK(here.ctx, mgvi_checkpoint_pack(here.solver, &bytes, &size));
        step_to(&there, last + 5);
        CHECK_OK(there.ctx, mgvi_checkpoint_parse(there.solver, "state", bytes, size));
        mgvi_release(here.ctx, bytes);
        b = step_to(&there, last + 1);
        a = step_to(&here, last + 1);
        check_same(a.w, b.w, 1e-8, examples[e].options);
        mgv_fit_free(&here);
        mgv_fit_free(&there);
    }
}

TEST(every_such_solver_was_looked_at)
{
    int found = 0;
    for (int i = 0; i < mgvi_solver_count(); i++) {
        const mgvi_solver_ops *ops = mgvi_solver_at(i);
        bool looked = false;
        for (int e = 0; e < EXAMPLES && ops->anywhere; e++) {
            const char *at = strstr(examples[e].options, "solver=") + strlen("solver=");
            looked = looked || strncmp(at, ops->name, strcspn(at, " ")) == 0;
        }
        CHECK_THAT(looked == ops->anywhere, "solver %s", ops->name);
        found += ops->anywhere;
    }
    CHECK(found == 16);
}

TEST(others_refuse)
{
    double X[] = {1, 2, 3, 4}, y[] = {1, -1};
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, 2, 2, "loss=margin intercept=no");
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    fit.ctx->backend = &mgv_loopback;
    for (int i = 0; i < mgvi_solver_count(); i++)
        CHECK(mgvi_solver_at(i)->anywhere ||
              mgvi_solver_fits(fit.ctx, mgvi_solver_at(i), fit.problem) == MGV_E_UNSUPPORTED);
    CHECK(strstr(mgv_ctx_error(fit.ctx), "these fit: ") != NULL);
    mgv_fit_free(&fit);
}

/* ---- the judge -------------------------------------------------------------------------------- */

static void check_number(double got, double want, const char *options)
{
    if (got != want && !(isnan(got) && isnan(want)))
        CHECK_NEAR(got, want, 1e-9 * fabs(want) + 1e-12, "%s", options);
}

static void check_verdict(const mgvi_verdict *got, const mgvi_verdict *want, const char *options)
{
    const mgv_certificate *a = &got->certificate, *b = &want->certificate;
    check_number(a->primal, b->primal, options);
    check_number(a->dual, b->dual, options);
    check_number(a->margin, b->margin, options);
    check_number(a->margin_upper, b->margin_upper, options);
    check_number(got->residual, want->residual, options);
    check_number(got->missing, want->missing, options);
    check_number(got->price, want->price, options);
    check_number(got->shrunk, want->shrunk, options);
    check_number(got->primal_rounding, want->primal_rounding, options);
    check_number(got->dual_rounding, want->dual_rounding, options);
    check_number(got->train_score, want->train_score, options);
    CHECK_THAT(a->separable == b->separable, "%s", options);
    const bool closed = fabs(b->primal - b->dual) <= 1e-12 * fabs(b->primal);
    CHECK_THAT(a->verified == b->verified || closed, "%s", options);
}

static mgvi_vec moved(mgvi_arena *arena, const mgvi_vec *from)
{
    mgvi_vec out;
    CHECK_OK(arena->ctx, mgvi_vec_new(arena, from->space, from->n, from->k, &out));
    mgvi_vec_upload(arena->ctx, from->x, &out);
    return out;
}

static int proofs;

/* Everything that the judge is asked of (w, u) in host memory, by both. */
static void judge_twice(mgv_fit *here, mgv_fit *there, mgvi_iterate it, const char *options)
{
    mgvi_judge *a = here->solver->judge, *b = there->solver->judge;
    mgvi_arena arena;
    double low, low_there;
    mgvi_arena_init(&arena, there->ctx);
    mgvi_vec w = moved(&arena, it.w), u = moved(&arena, it.u);
    double *numbers = mgvi_arena_array(&arena, (size_t)(w.n * w.k), sizeof *numbers);
    mgvi_vec repaired = {.x = numbers, .n = w.n, .k = w.k, .space = MGVI_COLS};
    for (mgvi_care care = MGVI_CARE_NONE; care < MGVI_CARES; care++) {
        const mgvi_verdict want = mgvi_judge_certify_with(a, it.w, it.u, care);
        const mgvi_verdict got = mgvi_judge_certify_with(b, &w, &u, care);
        check_verdict(&got, &want, options);
        check_same(mgvi_judge_dual(a), mgvi_judge_dual(b), 1e-9, options);
        check_number(mgvi_judge_stretch(b), mgvi_judge_stretch(a), options);
    }
    if (here->problem->loss->can & MGVI_HARD) {
        mgvi_verdict want = mgvi_verdict_none(), got = want;
        const bool proven = mgvi_judge_prove(a, it.u, 200, &want),
                   nearly = mgvi_judge_nearly_proven(a);
        const bool too = mgvi_judge_prove(b, &u, 200, &got);
        CHECK_THAT(too == proven || nearly, "%s", options); /* the last bit may decide */
        CHECK_THAT(mgvi_judge_nearly_proven(b) == nearly, "%s", options);
        proofs += too;
        CHECK_OK(here->ctx, mgvi_judge_least_score(a, it.w, &low));
        CHECK_OK(there->ctx, mgvi_judge_least_score(b, &w, &low_there));
        check_number(low_there, low, options);
    }
    mgvi_judge_certify(a, it.w, it.u);
    mgvi_judge_certify(b, &w, &u);
    mgvi_judge_repair(b, &w);
    mgvi_vec_copy(here->ctx, it.w, &repaired);
    mgvi_judge_repair(a, &repaired);
    check_same(&repaired, &w, 1e-9, options);
    mgvi_arena_free(&arena);
}

/* Beside the examples above: what the judge alone knows. */
static const example judged[] = {
    {"noisy", MARGIN "solver=batch_perceptron", 30, false}, /* cannot be separated */
    {"noisy", MARGIN "solver=batch_perceptron scale=std", 30, false},
    {"twins", MARGIN "solver=batch_perceptron", 5, false},
    {"noisy", MARGIN "solver=batch_perceptron kernel=poly degree=2", 30, false},
    {"apart", MARGIN "solver=primal_dual penalty=enet lambda=0.5 mu=0.5", 40, false},
    {"wide", EQUAL "solver=primal_dual penalty=tv1d", 40, false},
    {"wide", "task=regress loss=interval noise=0.1 solver=primal_dual penalty=l1", 40, false},
    {"wide", "task=regress loss=squared solver=primal_dual penalty=tv1d mu=0.2 scale=none", 40,
     false},
    {"tall", "task=regress loss=squared solver=primal_dual penalty=entropy lambda=0.2", 40, false},
};
enum { JUDGED = sizeof judged / sizeof *judged };

TEST(verdicts_are_those_of_the_cpu)
{
    for (int e = 0; e < EXAMPLES + JUDGED; e++) {
        const example *x = e < EXAMPLES ? &examples[e] : &judged[e - EXAMPLES];
        mgv_fit here, there;
        open_at(&here, NULL, x->data, x->options);
        open_at(&there, &mgv_loopback, x->data, x->options);
        for (int t = 1; t <= x->steps; t += x->steps - 1)
            judge_twice(&here, &there, step_to(&here, t), x->options);
        mgv_fit_free(&here);
        mgv_fit_free(&there);
    }
    CHECK(proofs > 0 && mgv_loopback_joins() > 0);
}

TEST(runs_end_as_on_the_cpu)
{
    for (int e = 0; e < EXAMPLES + JUDGED; e++) {
        const example *x = e < EXAMPLES ? &examples[e] : &judged[e - EXAMPLES];
        char options[200];
        mgv_fit here, there;
        snprintf(options, sizeof options, "%s tol=1e-3 max_iter=%d", x->options, 50 * x->steps);
        open_at(&here, NULL, x->data, options);
        open_at(&there, &mgv_loopback, x->data, options);
        CHECK_OK(here.ctx, mgv_solver_run(here.ctx, here.solver));
        CHECK_OK(there.ctx, mgv_solver_run(there.ctx, there.solver));
        describe(&here);
        describe(&there);
        const mgv_certificate *a = &here.certificate, *b = &there.certificate;
        CHECK_THAT(here.run.stop == there.run.stop, "%s: %d %d", options, here.run.stop,
                   there.run.stop);
        CHECK_THAT(a->separable == b->separable && a->verified == b->verified, "%s", options);
        if (a->verified) { /* each one's bound holds for the other */
            CHECK_LE(a->dual, b->primal, "%s", options);
            CHECK_LE(b->dual, a->primal, "%s", options);
        }
        CHECK(there.solver->run.ctx->backend == &mgv_loopback);
        mgv_fit_free(&here);
        mgv_fit_free(&there);
    }
}

int main(void)
{
    return RUN(others_refuse, steps_are_those_of_the_cpu, checkpoints_go_anywhere,
               every_such_solver_was_looked_at, verdicts_are_those_of_the_cpu,
               runs_end_as_on_the_cpu);
}
