/* test_margin_settings.c - what the papers leave open in their methods for the hard margin, as
 * settings: every step against the formulas written out here in the dual, with a matrix K of the
 * products of signed rows: linear, with a kernel, and of many classes. */
#include "margin_runs.h"

/* ---- three problems, by the products of their rows ------------------------------------------- */

enum { MOST = 60, STEPS = 50 };

typedef struct problem {
    const char *options;
    int64_t n; /* rows, those of an example's own class among them: they are left out */
    bool live[MOST];
    int64_t live_count;
    double K[MOST][MOST]; /* of the rows divided by R */
    double R;
    double *X, *y;
    int64_t examples, d;
} problem;

/* Divides by the largest |a_i|^2. */
static void shorten(problem *p)
{
    double most = 0;
    for (int64_t i = 0; i < p->n; i++)
        most = fmax(most, p->K[i][i]);
    p->R = sqrt(most);
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->n; j++)
            p->K[i][j] /= most;
}

static double dot(const problem *p, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t t = 0; t < p->d; t++)
        sum += p->X[i * p->d + t] * p->X[j * p->d + t];
    return sum;
}

/* exp(-|x - x'|^2/(2 sigma2)), sigma2 = 2 */
static double rbf(const problem *p, int64_t i, int64_t j)
{
    return exp(-(dot(p, i, i) + dot(p, j, j) - 2 * dot(p, i, j)) / 4);
}

static problem two_classes(bool kernel)
{
    problem p = {.options = kernel ? "kernel=rbf sigma2=2" : "", .n = 16, .examples = 16, .d = 5};
    margin_set s = margin_set_load("margin_linear_p2");
    p.X = s.X;
    p.y = s.y;
    for (int64_t i = 0; i < p.n; i++) {
        p.live[i] = true;
        for (int64_t j = 0; j < p.n; j++)
            p.K[i][j] = s.y[i] * s.y[j] * (kernel ? rbf(&p, i, j) : dot(&p, i, j));
    }
    p.live_count = p.n;
    shorten(&p);
    return p;
}

/* Rows x_i (e_c - e_j)', the own class's too, as zeros. */
static problem three_classes(bool kernel)
{
    problem p = {.options = kernel ? "multiclass=joint kernel=rbf sigma2=2" : "multiclass=joint",
                 .d = 4};
    json_t *v = mgv_vector_load("margin_multiclass");
    enum { K = 3 };
    p.X = mgv_vector_array(v, "X", NULL);
    p.y = mgv_vector_array(v, "c", &p.examples);
    json_decref(v);
    p.n = p.examples * K;
    for (int64_t r = 0; r < p.n; r++) {
        const int64_t a = (int64_t)p.y[r / K], i = r % K;
        p.live[r] = a != i;
        p.live_count += a != i;
        for (int64_t s = 0; s < p.n; s++) {
            const int64_t b = (int64_t)p.y[s / K], j = s % K;
            const double e = (a == b) - (a == j) - (i == b) + (i == j);
            p.K[r][s] =
                a == i || b == j ? 0 : e * (kernel ? rbf(&p, r / K, s / K) : dot(&p, r / K, s / K));
        }
    }
    shorten(&p);
    return p;
}

static void release(problem *p)
{
    free(p->X);
    free(p->y);
}

/* ---- the methods as their papers have them --------------------------------------------------- */

/* w = A'c and the dual point b; rows outside `live` stay out of everything. */
typedef struct method {
    const problem *p;
    double z[MOST], q[MOST], c[MOST], g[MOST];
    double t, T; /* steps done, steps in all */
    double lambda;
    mgvi_rng rng;
} method;

/* z = A w */
static void measure(method *m)
{
    for (int64_t i = 0; i < m->p->n; i++) {
        m->z[i] = 0;
        for (int64_t j = 0; j < m->p->n; j++)
            m->z[i] += m->p->K[i][j] * m->c[j];
    }
}

static double l_prime(bool logistic, double x) { return logistic ? 1 / (1 + exp(-x)) : exp(x); }

/* q_i = l'(-z_i)/l'(psi), psi = l^-1(sum l(-z)); the logistic one as long as its losses are not
 * tiny. */
static void weigh(method *m, bool logistic)
{
    double sum = 0;
    for (int64_t i = 0; i < m->p->n; i++)
        if (m->p->live[i])
            sum += logistic ? log1p(exp(-m->z[i])) : exp(-m->z[i]);
    const double psi = logistic ? log(expm1(sum)) : log(sum);
    for (int64_t i = 0; i < m->p->n; i++)
        m->q[i] = m->p->live[i] ? l_prime(logistic, -m->z[i]) / l_prime(logistic, psi) : 0;
}

/* i ~ q in the place of q */
static void sample(method *m)
{
    double sum = 0, below = 0;
    for (int64_t i = 0; i < m->p->n; i++)
        sum += m->q[i];
    const double mark = mgvi_rng_uniform(&m->rng) * sum;
    int64_t pick = -1;
    for (int64_t i = 0; i < m->p->n && pick < 0; i++) {
        below += m->q[i];
        if (mark < below)
            pick = i;
    }
    for (int64_t i = 0; i < m->p->n; i++)
        m->q[i] = i == pick;
}

/* Algorithms 1 and 2 of Ji, Srebro and Telgarsky, with the weights of the next t at the end. */
typedef struct momentum {
    double theta;
    bool falls, horizon; /* theta/sqrt(t + 1); sqrt(ln n/T) */
    double beta;         /* NaN: from lambda_t */
    bool nesterov, logistic, sampled, by_rows;
} momentum;

static void advance_momentum(method *m, const momentum *how)
{
    double beta = how->beta;
    weigh(m, how->logistic);
    if (how->sampled)
        sample(m);
    if (isnan(beta) && how->nesterov && m->t > 0) {
        const double before = m->lambda;
        m->lambda =
            (sqrt(before * before * before * before + 4 * before * before) - before * before) / 2;
        beta = before * (1 - m->lambda) / m->lambda;
    } else if (isnan(beta)) {
        beta = m->t / (m->t + 1);
    }
    for (int64_t i = 0; i < m->p->n; i++)
        m->g[i] = beta * (m->g[i] + m->q[i]);
}

static void step_momentum(method *m, const momentum *how)
{
    const double n = (double)m->p->live_count;
    double theta = how->horizon ? sqrt(log(n) / m->T) : how->theta;
    if (how->falls)
        theta /= sqrt(m->t + 1);
    if (how->by_rows)
        theta /= n;
    for (int64_t i = 0; i < m->p->n; i++)
        m->c[i] += theta * (m->g[i] + m->q[i]);
    measure(m);
    m->t++;
    advance_momentum(m, how);
}

static void compare(const method *m, mgv_fit *fit, const double *b, const char *options)
{
    const problem *p = m->p;
    double least = INFINITY, ww = 0, bb = 0, sum = 0;
    for (int64_t i = 0; i < p->n; i++) {
        if (p->live[i])
            least = fmin(least, m->z[i]);
        ww += m->c[i] * m->z[i];
        sum += b[i];
        for (int64_t j = 0; j < p->n; j++)
            bb += b[i] * p->K[i][j] * b[j];
    }
    const mgv_certificate got = margin_judge(fit);
    CHECK_NEAR(got.margin, p->R * least / sqrt(ww), 1e-11 * p->R, "%s %s at %d", p->options,
               options, (int)m->t);
    CHECK_NEAR(got.margin_upper, p->R * sqrt(bb) / sum, 1e-11 * p->R, "%s %s at %d", p->options,
               options, (int)m->t);
}

static void open_problem(mgv_fit *fit, const problem *p, const char *options)
{
    mgv_fit_start(fit, p->X, p->y, p->examples, p->d, "loss=margin intercept=no task=classify");
    mgv_fit_set(fit, p->options);
    mgv_fit_set(fit, options);
    CHECK_OK(fit->ctx, mgv_problem_new(fit->ctx, fit->data, fit->settings, &fit->problem));
    CHECK_OK(fit->ctx, mgv_solver_new(fit->ctx, fit->problem, fit->settings, &fit->solver));
}

static void check_momentum(const problem *p, const momentum *how, const char *options)
{
    mgv_fit fit;
    char all[256];
    snprintf(all, sizeof all, "solver=momentum_margin max_iter=%d seed=7 %s", STEPS, options);
    open_problem(&fit, p, all);
    method m = {.p = p, .T = STEPS, .lambda = 1, .rng = mgvi_rng_seed(7)};
    measure(&m);
    advance_momentum(&m, how);
    for (int t = 1; t <= STEPS; t++) {
        margin_step(&fit);
        step_momentum(&m, how);
        compare(&m, &fit, isnan(how->beta) ? m.g : m.c, options);
    }
    mgv_fit_free(&fit);
}

#define EVERY_PROBLEM                                                                              \
    {                                                                                              \
        two_classes(false), two_classes(true), three_classes(false), three_classes(true)           \
    }

TEST(momentum_with_other_steps)
{
    static const struct {
        const char *options;
        momentum how;
    } cases[] = {
        {"large_steps=no", {.theta = 1, .beta = NAN}},
        {"theta=0.5", {.theta = 0.5, .beta = NAN}},
        {"theta=2 theta_schedule=sqrt", {.theta = 2, .falls = true, .beta = NAN}},
        {"theta_schedule=horizon momentum_margin.beta=0", {.horizon = true, .beta = 0}},
        {"momentum_margin.beta=0.9", {.theta = 1, .beta = 0.9}},
        {"large_steps=no momentum_margin.lambda=nesterov",
         {.theta = 1, .beta = NAN, .nesterov = true}},
        {"surrogate=logistic momentum_margin.rho=n",
         {.theta = 1, .beta = NAN, .logistic = true, .by_rows = true}},
        {"sampling=yes", {.theta = 1, .beta = NAN, .sampled = true}},
        {"sampling=yes momentum_margin.beta=0 theta_schedule=horizon",
         {.horizon = true, .beta = 0, .sampled = true}},
    };
    problem all[] = EVERY_PROBLEM;
    for (int k = 0; k < 4; k++) {
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
            check_momentum(&all[k], &cases[c].how, cases[c].options);
        release(&all[k]);
    }
}

/* ---- descents -------------------------------------------------------------------------------- */

typedef enum descent { NORMALISED, PLAIN, HOMOTOPIC, HINGE, PERCEPTRON } descent;

typedef struct descending {
    const char *options;
    descent kind;
    double theta;
    bool falls, logistic;
    double l0;
} descending;

/* w <- keep w + A'(theta q), or whatever the method adds. */
static void step_descent(method *m, const descending *how)
{
    const double t = ++m->t, n = (double)m->p->live_count;
    const double theta = how->falls ? how->theta / sqrt(t) : how->theta;
    double keep = 1, added[MOST] = {0};
    int64_t worst = -1;
    for (int64_t i = 0; i < m->p->n; i++)
        if (m->p->live[i] && (worst < 0 || m->z[i] < m->z[worst]))
            worst = i;
    if (how->kind == NORMALISED)
        weigh(m, how->logistic);
    if (how->kind ==
        HOMOTOPIC) /* w - eta (lambda w - sum a_i), lambda = l0/t^(1/3), eta = 1/(lambda t) */
        keep = 1 - 1 / t;
    for (int64_t i = 0; i < m->p->n; i++) {
        const double hinge = m->p->live[i] && m->z[i] < 1;
        if (m->p->live[i])
            added[i] = how->kind == NORMALISED  ? theta * m->q[i]
                       : how->kind == PLAIN     ? theta / n * l_prime(how->logistic, -m->z[i])
                       : how->kind == HOMOTOPIC ? hinge / (how->l0 / cbrt(t) * t)
                       : how->kind == HINGE     ? theta / n * hinge
                                                : (i == worst) / sqrt(t);
    }
    for (int64_t i = 0; i < m->p->n; i++)
        m->c[i] = keep * m->c[i] + added[i];
    measure(m);
    double ww = 0;
    for (int64_t i = 0; i < m->p->n; i++)
        ww += m->c[i] * m->z[i];
    for (int64_t i = 0; how->kind == PERCEPTRON && ww > 1 && i < m->p->n; i++) {
        m->c[i] /= sqrt(ww);
        m->z[i] /= sqrt(ww);
    }
}

TEST(descents_with_other_steps)
{
    static const descending cases[] = {
        {"solver=normalized_gd", NORMALISED, .theta = 1},
        {"solver=normalized_gd theta_schedule=sqrt", NORMALISED, .theta = 1, .falls = true},
        {"solver=normalized_gd theta=0.3 surrogate=logistic", NORMALISED, .theta = 0.3,
         .logistic = true},
        {"solver=gd", PLAIN, .theta = 1},
        {"solver=gd theta=3 surrogate=logistic", PLAIN, .theta = 3, .logistic = true},
        {"solver=gd theta=5 theta_schedule=sqrt", PLAIN, .theta = 5, .falls = true},
        {"solver=homotopic_subgradient", HOMOTOPIC, .l0 = 1},
        {"solver=homotopic_subgradient lambda0=7", HOMOTOPIC, .l0 = 7},
        {"solver=hinge_subgradient", HINGE, .theta = 1},
        {"solver=hinge_subgradient theta=8 theta_schedule=sqrt", HINGE, .theta = 8, .falls = true},
        {"solver=batch_perceptron perceptron_form=projected", PERCEPTRON},
    };
    problem all[] = EVERY_PROBLEM;
    for (int k = 0; k < 4; k++) {
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            mgv_fit fit;
            open_problem(&fit, &all[k], cases[c].options);
            method m = {.p = &all[k]};
            measure(&m);
            for (int t = 1; t <= STEPS; t++) {
                margin_step(&fit);
                step_descent(&m, &cases[c]);
                compare(&m, &fit, m.c, cases[c].options);
            }
            mgv_fit_free(&fit);
        }
        release(&all[k]);
    }
}

/* Where no hinge is left the method stands still, and the run ends. */
TEST(the_hinge_subgradient_rests)
{
    margin_set s = margin_set_load("margin_linear_p2");
    mgv_fit fit;
    mgv_fit_start(&fit, s.X, s.y, s.n, s.d,
                  "loss=margin intercept=no solver=hinge_subgradient theta=4 tol=0");
    mgv_fit_solve(&fit);
    CHECK_THAT(fit.run.stop == MGV_STOP_STALLED && fit.run.iterations < 10000, "%s after %d",
               mgv_stop_name(fit.run.stop), (int)fit.run.iterations);
    CHECK(fit.certificate.separable == 1 && fit.certificate.margin < 0.999 * s.gamma);
    mgv_fit_free(&fit);
    margin_set_free(&s);
}

/* u_0 = -S/lambda_0 where a row has weight, and w_0 = -A'u_0. */
TEST(dual_diagonal_starts_in_its_box)
{
    margin_set s = margin_set_load("margin_linear_p2");
    mgv_fit fit;
    double w[5] = {0};
    margin_open(&fit, &s,
                "solver=dual_diagonal dual_diagonal.start=0.5 lambda0=4 schedule=2^-t "
                "class_weight=-1:0");
    mgvi_run *run = &fit.solver->run;
    const mgvi_iterate it = run->ops->expose(run);
    for (int64_t i = 0; i < s.n; i++) {
        const double u = s.y[i] > 0 ? -0.125 : 0;
        CHECK(it.u->x[i] == u);
        for (int j = 0; j < 5; j++)
            w[j] -= u * s.y[i] * s.X[i * s.d + j];
    }
    for (int j = 0; j < 5; j++)
        CHECK_NEAR(it.w->x[j], w[j], 1e-13, "w[%d]", j);
    mgv_fit_free(&fit);
    margin_set_free(&s);
}

/* ---- refusals, checkpoints ------------------------------------------------------------------- */

TEST(what_makes_no_sense_is_refused)
{
    static const struct {
        const char *options, *said;
    } cases[] = {
        {"solver=normalized_gd theta=2 theta_schedule=horizon", "computes theta itself"},
        {"solver=momentum_margin theta=2 theta_schedule=horizon", "computes theta itself"},
        {"solver=homotopic_subgradient lambda0=0", "divides by lambda0"},
        {"solver=dual_diagonal dual_diagonal.start=0.5 lambda0=0", "which is infinite"},
    };
    margin_set s = margin_set_load("margin_linear_p2");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        mgv_fit fit;
        mgv_fit_start(&fit, s.X, s.y, s.n, s.d, "loss=margin intercept=no");
        mgv_fit_set(&fit, cases[c].options);
        CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
        CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                    MGV_E_ARG, cases[c].said);
        mgv_fit_free(&fit);
    }
    const double X[] = {1, 1}, y[] = {1, -1}; /* the second row has no weight */
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, 2, 1, "loss=margin intercept=no class_weight=-1:0");
    mgv_fit_set(&fit, "solver=normalized_gd theta_schedule=horizon");
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                MGV_E_INPUT, "no step at all");
    mgv_fit_free(&fit);
    margin_set_free(&s);
}

static const char *const variants[] = {
    "solver=momentum_margin theta=0.5 theta_schedule=sqrt",
    "solver=momentum_margin momentum_margin.beta=0.9",
    "solver=momentum_margin momentum_margin.beta=0 sampling=yes seed=3",
    "solver=momentum_margin momentum_margin.lambda=nesterov",
    "solver=momentum_margin surrogate=logistic momentum_margin.rho=n",
    "solver=normalized_gd theta_schedule=sqrt",
    "solver=gd theta=2",
    "solver=hinge_subgradient theta_schedule=sqrt theta=3",
    "solver=homotopic_subgradient lambda0=5",
    "solver=dual_diagonal dual_diagonal.start=0.5 inertia_first=1 dual_diagonal.restart=no",
};
enum { VARIANTS = sizeof variants / sizeof *variants };

TEST(bounds_hold_at_every_step)
{
    static const char *const sets[] = {"margin_linear_p2", "margin_wide_p2", "margin_toy_p2"};
    for (int k = 0; k < 3; k++) {
        margin_set s = margin_set_load(sets[k]);
        for (int v = 0; v < VARIANTS; v++)
            margin_check_bounds(&s, variants[v], 500);
        margin_set_free(&s);
    }
}

TEST(units_threads_weights_and_checkpoints)
{
    margin_set s = margin_set_load("margin_wide_p2");
    for (int v = 0; v < VARIANTS; v++) {
        margin_check_units(&s, variants[v]);
        margin_check_threads(variants[v]);
        margin_check_weightless(variants[v]);
        margin_check_resume(variants[v]);
    }
    margin_set_free(&s);
}

/* The horizon is that of the first sitting, not of the one that goes on. */
TEST(a_resumed_run_keeps_its_horizon)
{
    margin_set s = margin_set_load("margin_wide_p2");
    char file[64];
    snprintf(file, sizeof file, "margin_horizon.%d", (int)getpid());
    static const char *const all =
        "loss=margin intercept=no solver=normalized_gd theta_schedule=horizon tol=0";
    mgv_fit whole, first, rest;
    margin_open(&whole, &s, "solver=normalized_gd theta_schedule=horizon max_iter=20");
    for (int t = 0; t < 40; t++)
        margin_step(&whole);
    mgv_fit_start(&first, s.X, s.y, s.n, s.d, all);
    mgv_fit_set(&first, "max_iter=20");
    mgv_fit_solve(&first);
    CHECK_OK(first.ctx, mgv_solver_checkpoint(first.ctx, first.solver, file));
    margin_open(&rest, &s, "solver=normalized_gd theta_schedule=horizon max_iter=40 tol=0");
    CHECK_OK(rest.ctx, mgv_solver_resume(rest.ctx, rest.solver, file));
    for (int t = 20; t < 40; t++)
        margin_step(&rest);
    assert_memory_equal(margin_kept(&whole, "w"), margin_kept(&rest, "w"),
                        (size_t)s.d * sizeof(double));
    remove(file);
    mgv_fit_free(&whole);
    mgv_fit_free(&first);
    mgv_fit_free(&rest);
    margin_set_free(&s);
}

int main(void)
{
    return RUN(momentum_with_other_steps, descents_with_other_steps, the_hinge_subgradient_rests,
               dual_diagonal_starts_in_its_box, what_makes_no_sense_is_refused,
               bounds_hold_at_every_step, units_threads_weights_and_checkpoints,
               a_resumed_run_keeps_its_horizon);
}
