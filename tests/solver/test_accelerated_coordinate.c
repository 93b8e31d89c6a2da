/* test_accelerated_coordinate.c - accelerated dual coordinate ascent: the form with two sequences
 * against the plain one with three, the stored solutions, and laws at every pass. */
#include "margin_runs.h"

#include "solver/coordinate/norm_moments.h"

#include "base/rng.h"

/* ---- the plain form, all vectors written out ------------------------------------------------- */

enum { MOST_N = 64, MOST_D = 32 };

typedef struct plain {
    int64_t n, d;
    double A[MOST_N * MOST_D]; /* y_i x_i */
    double p, q;
    double x[MOST_N], y[MOST_N], z[MOST_N]; /* u <= 0 */
    mgvi_rng rng;
} plain;

static void plain_open(plain *r, const margin_set *set, double p)
{
    memset(r, 0, sizeof *r);
    r->n = set->n;
    r->d = set->d;
    r->p = p;
    r->q = p / (p - 1);
    r->rng = mgvi_rng_seed(0);
    for (int64_t i = 0; i < set->n; i++)
        for (int64_t j = 0; j < set->d; j++)
            r->A[i * set->d + j] = set->y[i] * set->X[i * set->d + j];
}

/* w = grad 1/2 |v|_q^2 at v = -A'u */
static void plain_weights(const plain *r, const double *u, double *w)
{
    double v[MOST_D] = {0};
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t j = 0; j < r->d; j++)
            v[j] -= u[i] * r->A[i * r->d + j];
    const double norm = mgvi_lp_norm(v, r->d, r->q);
    for (int64_t j = 0; j < r->d; j++)
        w[j] = norm > 0 ? norm * copysign(pow(fabs(v[j]) / norm, r->q - 1), v[j]) : 0;
}

static double plain_dot(const plain *r, int64_t i, const double *w)
{
    double z = 0;
    for (int64_t j = 0; j < r->d; j++)
        z += r->A[i * r->d + j] * w[j];
    return z;
}

/* One pass of the convex form without restart, hard margin. */
static void plain_convex_pass(plain *r, double *g)
{
    const double n = (double)r->n;
    for (int64_t k = 0; k < r->n; k++) {
        double w[MOST_D];
        const int64_t i = mgvi_rng_below(&r->rng, (uint32_t)r->n);
        const double norm = mgvi_lp_norm(r->A + i * r->d, r->d, r->q);
        const double L = (r->q - 1) * norm * norm;
        for (int64_t t = 0; t < r->n; t++)
            r->y[t] = (1 - *g) * r->x[t] + *g * r->z[t];
        plain_weights(r, r->y, w);
        const double next = fmin(0, r->z[i] + (plain_dot(r, i, w) - 1) / (n * *g * L));
        memcpy(r->x, r->y, sizeof r->x);
        r->x[i] += n * *g * (next - r->z[i]);
        r->z[i] = next;
        *g = 0.5 * (sqrt(*g * *g * *g * *g + 4 * *g * *g) - *g * *g);
    }
}

static void check_convex(const char *name, const char *norm, int passes)
{
    static plain r;
    mgv_fit fit;
    char options[96];
    margin_set set = margin_set_load(name);
    snprintf(options, sizeof options,
             "solver=accelerated_coordinate accelerated_coordinate.restart=no p=%s", norm);
    margin_open(&fit, &set, options);
    plain_open(&r, &set, fit.problem->p);
    double g = 1 / (double)set.n;
    for (int t = 0; t < passes; t++) {
        double w[MOST_D], size;
        margin_step(&fit);
        plain_convex_pass(&r, &g);
        plain_weights(&r, r.x, w);
        const mgvi_iterate it = fit.solver->run.ops->expose(&fit.solver->run);
        size = mgvi_lp_norm(w, set.d, 2);
        for (int64_t j = 0; j < set.d; j++)
            CHECK_NEAR(it.w->x[j], w[j], 1e-10 * size, "%s, p = %s, pass %d: w[%d]", name, norm, t,
                       (int)j);
        for (int64_t i = 0; i < set.n; i++)
            CHECK_LE(r.x[i], 1e-12, "x stays feasible, row %d", (int)i);
    }
    mgv_fit_free(&fit);
    margin_set_free(&set);
}

TEST(two_sequences_are_three)
{
    check_convex("margin_linear_p2", "2", 40);
    check_convex("margin_wide_p2", "2", 40);
    check_convex("margin_linear_p2", "1.5", 40);
    check_convex("margin_wide_p2", "sparse", 40);
}

/* The strongly convex form with mean smooth hinge of width 1, whose conjugates' curvature is n. */
TEST(two_sequences_are_three_for_smooth_losses)
{
    static plain r;
    mgv_fit fit;
    const double lambda = 0.05;
    margin_set set = margin_set_load("margin_linear_p2");
    mgv_fit_start(&fit, set.X, set.y, set.n, set.d,
                  "solver=accelerated_coordinate loss=smooth_hinge lambda=0.05 intercept=no");
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_OK(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver));
    plain_open(&r, &set, 2);
    double most = 0;
    for (int64_t i = 0; i < set.n; i++)
        most = fmax(most, plain_dot(&r, i, r.A + i * set.d) / lambda);
    const double n = (double)set.n, sigma = n, mu = sigma / (most + sigma);
    const double th = sqrt(mu) / n;
    for (int t = 0; t < 50; t++) {
        margin_step(&fit);
        for (int64_t k = 0; k < set.n; k++) {
            double w[MOST_D], zt[MOST_N];
            const int64_t i = mgvi_rng_below(&r.rng, (uint32_t)set.n);
            const double a2 = plain_dot(&r, i, r.A + i * set.d) / lambda;
            const double L = fmax(a2 / (1 - mu), 1e-3 * most);
            for (int64_t j = 0; j < set.n; j++) {
                r.y[j] = (r.x[j] + th * r.z[j]) / (1 + th);
                zt[j] = (1 - th) * r.z[j] + th * r.y[j];
            }
            plain_weights(&r, r.y, w);
            const double z = plain_dot(&r, i, w) / lambda;
            /* min over u of -(z - mu L y)(u - zt) + k/2 (u - zt)^2 + conj(u) - mu L/2 u^2 */
            const double k_i = n * th * L, s = 1 / n;
            const double slope = z - mu * L * r.y[i] + mu * L * zt[i], rest = k_i - mu * L;
            const double next = fmin(0, fmax(-s, (slope + rest * zt[i] - 1) / (rest + sigma)));
            const double dl = next - zt[i];
            memcpy(r.x, r.y, sizeof r.x);
            r.x[i] += n * th * dl;
            memcpy(r.z, zt, sizeof r.z);
            r.z[i] += dl;
        }
        double w[MOST_D];
        plain_weights(&r, r.x, w);
        const mgvi_iterate it = fit.solver->run.ops->expose(&fit.solver->run);
        for (int64_t j = 0; j < set.d; j++)
            CHECK_NEAR(it.w->x[j], w[j] / lambda, 1e-11 * (1 + fabs(w[j] / lambda)),
                       "pass %d: w[%d]", t, (int)j);
    }
    mgv_fit_free(&fit);
    margin_set_free(&set);
}

/* ---- stored solutions ------------------------------------------------------------------------ */

TEST(margins_of_the_stored_sets)
{
    static const char *const names[] = {"margin_linear_p2", "margin_linear_p1_5", "margin_wide_p2",
                                        "margin_wide_p1_5", "margin_wide_plog"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        mgv_fit fit;
        char options[120];
        json_t *v = mgv_vector_load(names[k]);
        margin_set set = margin_set_load(names[k]);
        snprintf(options, sizeof options, "solver=accelerated_coordinate tol=1e-12 p=%s",
                 json_string_value(json_object_get(v, "p")));
        margin_check_bounds(&set, options, 40);
        mgv_fit_start(&fit, set.X, set.y, set.n, set.d, "loss=margin intercept=no");
        mgv_fit_set(&fit, options);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s", names[k]);
        CHECK_NEAR(fit.certificate.margin, set.gamma, 1e-12 * set.gamma, "%s", names[k]);
        mgv_fit_free(&fit);
        margin_set_free(&set);
        json_decref(v);
    }
}

/* x_i.w = y_i, or within 0.3 of the middle of [lo, up]. */
TEST(equalities_and_intervals_of_the_stored_sets)
{
    static const char *const names[] = {"margin_interp_p2", "margin_interp_p1_5",
                                        "margin_interval_p2", "margin_interval_p1_5"};
    for (int k = 0; k < 4; k++) {
        mgv_fit fit;
        char options[96];
        int64_t n, d;
        json_t *v = mgv_vector_load(names[k]);
        double *X = mgv_vector_array(v, "X", NULL), *want = mgv_vector_array(v, "theta_star", &d);
        double *y = mgv_vector_array(v, k < 2 ? "y" : "lo", &n);
        for (int64_t i = 0; i < n && k >= 2; i++)
            y[i] += 0.3;
        snprintf(options, sizeof options, "loss=%s p=%s", k < 2 ? "equal" : "interval",
                 json_string_value(json_object_get(v, "p")));
        mgv_fit_start(&fit, X, y, n, d,
                      "task=regress epsilon=0.3 intercept=no tol=1e-12 "
                      "solver=accelerated_coordinate");
        mgv_fit_set(&fit, options);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s", names[k]);
        for (int64_t j = 0; j < d; j++)
            CHECK_NEAR(mgv_fit_weights(&fit)[j], want[j], 1e-10, "%s: w[%d]", names[k], (int)j);
        mgv_fit_free(&fit);
        free(X);
        free(y);
        free(want);
        json_decref(v);
    }
}

/* SDCA and its accelerated form on the stored regularised problems. */
TEST(regularised_losses_of_the_stored_sets)
{
    static const char *const solvers[] = {"dual_coordinate", "accelerated_coordinate",
                                          "mirror_coordinate"};
    static const char *const names[] = {"margin_sdca_smooth_hinge", "margin_soft_margin"};
    static const char *const losses[] = {"loss=smooth_hinge lambda=0.05", "loss=hinge C=2"};
    for (int k = 0; k < 2; k++)
        for (int t = 0; t < 3; t++) {
            mgv_fit fit;
            json_t *v = mgv_vector_load(names[k]);
            margin_set set = margin_set_load("margin_linear_p2");
            double *want = mgv_vector_array(v, "w_star", NULL);
            mgv_fit_start(&fit, set.X, set.y, set.n, set.d, "intercept=no tol=1e-12");
            mgv_fit_set(&fit, losses[k]);
            mgv_settings_set(fit.ctx, fit.settings, "solver", solvers[t]);
            mgv_fit_solve(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s by %s: gap %g", names[k], solvers[t],
                       fit.certificate.relative_gap);
            for (int64_t j = 0; j < set.d; j++)
                CHECK_NEAR(mgv_fit_weights(&fit)[j], want[j], 1e-6, "%s by %s", names[k],
                           solvers[t]);
            if (k == 1) /* our objective is the mean: times C n */
                CHECK_NEAR(fit.certificate.primal * 2 * (double)set.n,
                           mgv_vector_number(json_object_get(v, "primal")), 1e-10, "%s",
                           solvers[t]);
            if (k == 0) {
                double *b = mgv_vector_array(v, "b_star", NULL);
                for (int64_t i = 0; i < set.n; i++)
                    CHECK_NEAR(-fit.solver->answer.u.x[i] * (double)set.n, b[i], 1e-6, "%s: b[%d]",
                               solvers[t], (int)i);
                free(b);
            }
            free(want);
            margin_set_free(&set);
            mgv_fit_free(&fit);
            json_decref(v);
        }
}

/* ---- forms and laws -------------------------------------------------------------------------- */

TEST(every_smooth_loss_ends_with_its_certificate)
{
    double *X, *y;
    mgv_random_set(8, 60, 5, 0.5, &X, &y);
    for (int k = 0; k < mgvi_loss_count(); k++) {
        const mgvi_loss_ops *loss = mgvi_loss_at(k);
        double primal[2];
        if (!(loss->can & MGVI_SMOOTH) || loss->joint)
            continue;
        for (int t = 0; t < 2; t++) {
            mgv_fit fit;
            char options[140];
            snprintf(options, sizeof options,
                     "loss=%s lambda=1e-3 smoothing=0.3 tol=1e-9 intercept=no solver=%s",
                     loss->name, t ? "dual_coordinate" : "accelerated_coordinate");
            mgv_fit_start(&fit, X, y, 60, 5, options);
            mgv_fit_solve(&fit);
            CHECK_THAT(fit.run.stop == MGV_STOP_CERTIFIED, "%s: gap %g", options,
                       fit.certificate.relative_gap);
            primal[t] = fit.certificate.primal;
            mgv_fit_free(&fit);
        }
        CHECK_NEAR(primal[0], primal[1], 2e-9 * primal[1], "%s", loss->name);
    }
    free(X);
    free(y);
}

/* The rate of the paper, corrected: with D in the map's own form, D = sum b - |A'b|_q^2/2,
 *   D* - E D(x_t) <= (2n/(2n + t - 1))^2 ((1 - 1/n) D* + 1/2 sum_i L_i b*_i^2)
 * over t steps from 0. The mean of many seeds stands for the expectation. */
TEST(the_gap_falls_as_proven)
{
    static const char *const names[] = {"margin_linear_p2", "margin_linear_p1_5"};
    enum { SEEDS = 20, PASSES = 60 };
    for (int k = 0; k < 2; k++) {
        static plain r;
        json_t *v = mgv_vector_load(names[k]);
        margin_set set = margin_set_load(names[k]);
        double *beta = mgv_vector_array(v, "beta_star", NULL), gap[PASSES] = {0};
        const double best = mgv_vector_number(json_object_get(v, "dual_value"));
        const double n = (double)set.n, p = mgv_vector_number(json_object_get(v, "p"));
        plain_open(&r, &set, p);
        double room = (1 - 1 / n) * best;
        for (int64_t i = 0; i < set.n; i++) {
            const double norm = mgvi_lp_norm(r.A + i * set.d, set.d, r.q);
            room += (r.q - 1) * norm * norm * beta[i] * beta[i] / 2;
        }
        for (int seed = 0; seed < SEEDS; seed++) {
            mgv_fit fit;
            char options[100];
            snprintf(options, sizeof options,
                     "solver=accelerated_coordinate accelerated_coordinate.restart=no p=%g seed=%d",
                     p, seed);
            margin_open(&fit, &set, options);
            for (int t = 0; t < PASSES; t++) {
                double sum;
                margin_step(&fit);
                const mgvi_iterate it = fit.solver->run.ops->expose(&fit.solver->run);
                const double norm = mgvi_lp_norm(it.w->x, set.d, p); /* = |A'b|_q of the map */
                mgvi_vec_sum(fit.ctx, it.u, &sum);
                const double b = -sum * pow(norm, (r.q - 2) / (r.q - 1));
                gap[t] += (best - (b - norm * norm / 2)) / SEEDS;
            }
            mgv_fit_free(&fit);
        }
        for (int t = 0; t < PASSES; t++) {
            const double steps = n * (t + 1), rate = 2 * n / (2 * n + steps - 1);
            CHECK_LE(-1e-12 * best, gap[t], "%s: above the optimum, pass %d", names[k], t);
            CHECK_LE(gap[t], rate * rate * room, "%s: pass %d", names[k], t);
        }
        free(beta);
        margin_set_free(&set);
        json_decref(v);
    }
}

/* Restarts keep the better of two points: the dual value at their ends never falls. */
TEST(restarts_never_lose_dual_value)
{
    mgv_fit fit;
    margin_set set = margin_set_load("margin_wide_p1_5");
    margin_open(&fit, &set, "solver=accelerated_coordinate p=1.5");
    static const int lengths[] = {2, 2, 4, 4, 8, 8, 16, 16};
    double before = 0;
    for (int k = 0; k < 8; k++) {
        for (int t = 0; t < lengths[k]; t++)
            margin_step(&fit);
        const mgv_certificate c = margin_judge(&fit);
        if (k > 0) /* with the best scaling D = 1/(2 upper^2) */
            CHECK_LE(before, c.dual * (1 + 1e-3), "period %d", k);
        before = c.dual;
    }
    CHECK_NEAR(1 / sqrt(2 * before), set.gamma, 1e-3 * set.gamma, "upper");
    mgv_fit_free(&fit);
    margin_set_free(&set);
}

/* q = 4: sparse rows take the norm from its moments, dense rows from all columns. */
TEST(moments_give_the_norm)
{
    enum { N = 50, D = 300 };
    mgvi_rng rng = mgvi_rng_seed(5);
    double *X = calloc(N * D, sizeof *X), y[N], *val = malloc(N * D * sizeof *val);
    int64_t ptr[N + 1] = {0};
    int32_t *idx = malloc(N * D * sizeof *idx);
    for (int i = 0; i < N; i++) {
        double score = 0;
        ptr[i + 1] = ptr[i];
        for (int j = 0; j < D; j++) {
            if (mgvi_rng_below(&rng, 40))
                continue;
            X[i * D + j] = val[ptr[i + 1]] = mgvi_rng_normal(&rng);
            idx[ptr[i + 1]++] = j;
            score += X[i * D + j] * (j % 2 ? 1 : -0.5);
        }
        y[i] = score > 0 ? 1 : -1;
    }
    mgv_fit both[2];
    for (int t = 0; t < 2; t++) {
        mgv_fit *f = &both[t];
        mgv_fit_start(f, X, y, N, D,
                      "solver=accelerated_coordinate intercept=no loss=margin "
                      "p=1.33333333333333333");
        if (t) {
            mgv_data_free(f->ctx, f->data);
            CHECK_OK(f->ctx,
                     mgv_data_from_sparse(f->ctx, MGV_CSR, MGV_F64, val, ptr, idx, N, D, &f->data));
            CHECK_OK(f->ctx, mgv_data_set_labels(f->ctx, f->data, y));
        }
        CHECK_OK(f->ctx, mgv_problem_new(f->ctx, f->data, f->settings, &f->problem));
        CHECK_OK(f->ctx, mgv_solver_new(f->ctx, f->problem, f->settings, &f->solver));
        for (int pass = 0; pass < 30; pass++)
            margin_step(f);
    }
    const mgvi_iterate a = both[0].solver->run.ops->expose(&both[0].solver->run);
    const mgvi_iterate b = both[1].solver->run.ops->expose(&both[1].solver->run);
    const double size = mgvi_lp_norm(a.w->x, D, 2);
    for (int64_t j = 0; j < D; j++)
        CHECK_NEAR(a.w->x[j], b.w->x[j], 1e-9 * size, "w[%d]", (int)j);
    mgv_fit_free(&both[0]);
    mgv_fit_free(&both[1]);
    free(X);
    free(val);
    free(idx);
}

TEST(moments_of_random_vectors)
{
    mgvi_rng rng = mgvi_rng_seed(3);
    for (int q = 4; q <= MGVI_MOMENTS_MOST; q += 2) {
        double x[9], y[9], at[9];
        mgvi_norm_moments m = {.q = q, .unit = 0.7};
        for (int j = 0; j < 9; j++) {
            x[j] = mgvi_rng_normal(&rng);
            y[j] = mgvi_rng_normal(&rng);
        }
        mgvi_norm_moments_sum(&m, x, y, 9);
        mgvi_norm_moments_move(&m, x[4], y[4], 0.3, -0.2);
        x[4] += 0.3;
        y[4] -= 0.2;
        for (double c = -2; c <= 2; c += 0.5) {
            for (int j = 0; j < 9; j++)
                at[j] = x[j] + c * y[j];
            const double want = mgvi_lp_norm(at, 9, q);
            CHECK_NEAR(mgvi_norm_moments_at(&m, c), want, 1e-9 * want, "q = %d, c = %g", q, c);
        }
        CHECK(mgvi_norm_moments_serve(q) && !mgvi_norm_moments_serve(q + 1));
    }
    CHECK(!mgvi_norm_moments_serve(2) && !mgvi_norm_moments_serve(14));
}

TEST(the_run_of_every_margin_solver)
{
    static const char *const options[] = {
        "solver=accelerated_coordinate p=2", "solver=accelerated_coordinate p=1.4",
        "solver=accelerated_coordinate accelerated_coordinate.restart=no"};
    margin_set set = margin_set_load("margin_linear_p2");
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        margin_check_resume(options[k]);
        margin_check_units(&set, options[k]);
        margin_check_nonseparable(options[k], 0.2, 60);
    }
    margin_check_threads("solver=accelerated_coordinate");
    margin_set_free(&set);
}

TEST(refusals_say_why)
{
    double *X, *y;
    mgv_fit fit;
    mgv_random_set(8, 20, 3, 0.5, &X, &y);
    mgv_fit_start(&fit, X, y, 20, 3, "solver=accelerated_coordinate loss=hinge p=1.5 intercept=no");
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                MGV_E_UNSUPPORTED, "margin, equal and interval");
    mgv_fit_free(&fit);
    mgv_fit_start(&fit, X, y, 20, 3, "solver=accelerated_coordinate loss=margin");
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    CHECK_FAILS(fit.ctx, mgv_solver_new(fit.ctx, fit.problem, fit.settings, &fit.solver),
                MGV_E_UNSUPPORTED, "--no-intercept");
    mgv_fit_free(&fit);
    free(X);
    free(y);
}

int main(void)
{
    return RUN(two_sequences_are_three, two_sequences_are_three_for_smooth_losses,
               margins_of_the_stored_sets, equalities_and_intervals_of_the_stored_sets,
               regularised_losses_of_the_stored_sets, every_smooth_loss_ends_with_its_certificate,
               the_gap_falls_as_proven, restarts_never_lose_dual_value, moments_give_the_norm,
               moments_of_random_vectors, the_run_of_every_margin_solver, refusals_say_why);
}
