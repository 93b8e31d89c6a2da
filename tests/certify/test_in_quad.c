/* test_in_quad.c - what the judge says of a pair, added up again in 113 bits from the data as it is
 * given: attained by the weights, proven by the multipliers, met by the weights it has repaired, the
 * least score of a model, and the weights of a proof. */
#include "judging.h"
#include "quad.h"

#include <math.h>
#include <string.h>

enum { N = 14, D = 4 };
static const double offsets[] = {0, 1e3, 1e7};
static const double units[] = {1, 1e-9, 1e9};
#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

/* A problem of each kind, drawn anew by the seed. */
typedef struct drawn {
    double X[N * D], y[N], w[D + 1], u[N];
    double lambda, mu; /* as they are spelled */
    char options[200];
    mgv_judged judged;
    bool intercept, classes;
} drawn;

static void draw(uint64_t seed, const char *loss, bool l1, bool intercept, double overlap, drawn *g)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    const double unit = units[seed % 3], offset = offsets[seed / 3 % 3];
    g->intercept = intercept;
    g->classes = strcmp(loss, "squared") != 0;
    g->lambda = l1 ? 0 : 0.05 * unit * unit;
    g->mu = l1 ? 0.02 * unit : 0;
    for (int i = 0; i < N; i++) {
        g->y[i] = g->classes ? (i % 2 ? 1 : -1) : mgvi_rng_normal(&rng);
        for (int j = 0; j < D; j++)
            g->X[i * D + j] =
                unit * (overlap * mgvi_rng_normal(&rng) + offset + (j == 0 ? 2 * g->y[i] : 0));
        const double u = 0.3 * mgvi_rng_normal(&rng) / N;
        g->u[i] = g->classes ? -fabs(u) : u;
    }
    g->w[D] = 0;
    for (int j = 0; j < D; j++) {
        g->w[j] = ((j == 0) + 0.1 * mgvi_rng_normal(&rng)) / unit;
        g->w[D] -= intercept ? offset * unit * g->w[j] : 0;
    }
    snprintf(g->options, sizeof g->options, "task=%s loss=%s intercept=%s",
             g->classes ? "classify" : "regress", loss, intercept ? "yes" : "no");
}

static void open_drawn(drawn *g, bool strengths)
{
    char *end = g->options + strlen(g->options);
    if (strengths)
        snprintf(end, 60, g->mu > 0 ? " mu=%.17g" : " lambda=%.17g", g->mu > 0 ? g->mu : g->lambda);
    mgv_judged_open(&g->judged, g->X, g->y, N, D, g->options);
    mgv_judged_bring(&g->judged, g->w, g->u);
}

/* The weights as a model would save them, of j->w. */
static void saved(drawn *g, double *coef)
{
    coef[D] = 0;
    mgvi_problem_user_weights(g->judged.fit.problem, g->judged.w.x, coef, coef + D);
}

static quad score(const drawn *g, const double *coef, int i)
{
    quad z = coef[D];
    for (int j = 0; j < D; j++)
        z += (quad)g->X[i * D + j] * coef[j];
    return z;
}

static quad size(quad x) { return x < 0 ? -x : x; }

static quad attained(const drawn *g, const double *coef)
{
    quad sum = 0;
    for (int i = 0; i < N; i++) {
        const quad z = score(g, coef, i);
        const quad slack = g->classes ? 1 - g->y[i] * z : z - g->y[i];
        sum += (!g->classes ? slack * slack / 2 : slack > 0 ? slack : 0) / N;
    }
    for (int j = 0; j < D; j++)
        sum += (quad)g->lambda / 2 * coef[j] * coef[j] + g->mu * size(coef[j]);
    return sum;
}

/* D(u) of the judge's own u, which is within the bounds; minus infinity outside of the domain. The
 * weights s_i are the rounded 1/n, as the problem has them. */
static quad proven(const drawn *g, const mgvi_vec *u)
{
    const double s = mgvi_coef_pick(&g->judged.fit.problem->row.scale, 0, 0);
    const double *centre = g->judged.fit.problem->view.centre;
    quad sum = 0;
    for (int i = 0; i < N; i++) {
        const quad v = u->x[i];
        sum -= g->classes ? v : v * v / (2 * s) + v * g->y[i];
    }
    for (int j = 0; j < D; j++) {
        quad column = 0;
        for (int i = 0; i < N; i++) /* a balanced u sees no centre; ours is balanced to rounding */
            column += ((quad)g->X[i * D + j] - (centre ? centre[j] : 0)) *
                      (g->classes ? g->y[i] : 1) * u->x[i];
        if (g->mu > 0 && size(column) > (quad)g->mu * (1 + (g->intercept ? 1e-13 : 1e-15)))
            return -INFINITY;
        sum -= g->mu > 0 ? 0 : column * column / (2 * (quad)g->lambda);
    }
    return sum;
}

TEST(attained_is_what_the_saved_weights_attain)
{
    static const char *const losses[] = {"hinge", "squared"};
    for (uint64_t seed = 0; seed < 90; seed++)
        for (int care = MGVI_CARE_PLAIN; care < MGVI_CARES; care++) {
            drawn g;
            double coef[D + 1];
            draw(seed, losses[seed % 2], seed / 2 % 2, seed / 4 % 2, 1, &g);
            open_drawn(&g, true);
            const mgv_certificate c = mgv_judged_look(&g.judged, (mgvi_care)care).certificate;
            saved(&g, coef);
            const double value = (double)attained(&g, coef);
            CHECK_LE(value, c.primal * (1 + 1e-15), "seed %d, care %d: %s", (int)seed, care,
                     g.options);
            if (care == MGVI_CARE_TWOFOLD)
                CHECK_LE(c.primal, value * (1 + 1e-6), "seed %d: %s", (int)seed, g.options);
            mgv_judged_close(&g.judged);
        }
}

TEST(proven_is_what_the_multipliers_prove)
{
    static const char *const losses[] = {"hinge", "squared"};
    for (uint64_t seed = 0; seed < 90; seed++)
        for (int care = MGVI_CARE_PLAIN; care < MGVI_CARES; care++) {
            drawn g;
            draw(seed, losses[seed % 2], seed / 2 % 2, seed / 4 % 2, 1, &g);
            open_drawn(&g, true);
            const mgv_certificate c = mgv_judged_look(&g.judged, (mgvi_care)care).certificate;
            const double value = (double)proven(&g, mgvi_judge_dual(g.judged.judge));
            CHECK_LE(c.dual, value + (g.intercept ? 1e-13 : 1e-15) * c.primal,
                     "seed %d, care %d: %s", (int)seed, care, g.options);
            mgv_judged_close(&g.judged);
        }
}

/* |w|_p, and the least y (x.w + b). */
static quad norm_of(const double *coef, double p)
{
    long double sum = 0, most = 0;
    for (int j = 0; j < D; j++)
        most = fmaxl(most, fabsl(coef[j]));
    for (int j = 0; j < D; j++)
        sum += powl(fabsl(coef[j]) / most, p);
    return most * powl(sum, 1 / (long double)p);
}

static quad least_of(const drawn *g, const double *coef)
{
    quad least = INFINITY;
    for (int i = 0; i < N; i++) {
        const quad z = g->y[i] * score(g, coef, i);
        least = z < least ? z : least;
    }
    return least;
}

/* The intercept is moved for w by a plain look; what is called its margin is met by the weights
 * that are saved. */
TEST(repaired_weights_have_their_margin)
{
    static const struct {
        const char *loss;
        double p;
    } norms[] = {{"margin", 2}, {"margin p=1.5", 1.5}, {"margin p=1.1", 1.1}};
    int positive = 0;
    for (uint64_t seed = 0; seed < 90; seed++) {
        drawn g;
        double coef[D + 1];
        const int k = (int)(seed / 9 % 3);
        draw(seed, norms[k].loss, false, seed % 2, 0.3, &g);
        open_drawn(&g, false);
        const mgv_certificate c = mgv_judged_look(&g.judged, MGVI_CARE_PLAIN).certificate;
        mgvi_judge_repair(g.judged.judge, &g.judged.w);
        saved(&g, coef);
        const double margin = (double)(least_of(&g, coef) / norm_of(coef, norms[k].p));
        /* the intercept as saved is rounded once more, which a closer look judges */
        const double last = g.intercept ? 0x1p-50 * fabs(coef[D]) / (double)norm_of(coef, 2) : 0;
        CHECK_LE(c.margin, margin + last + 1e-15 * fabs(margin), "seed %d: %s", (int)seed,
                 g.options);
        positive += c.margin > 0;
        mgv_judged_close(&g.judged);
    }
    CHECK_THAT(positive > 45, "%d of 90 have a margin", positive);
}

/* A closer look takes the weights as they are saved. */
TEST(a_closer_look_judges_the_weights_as_saved)
{
    int positive = 0;
    for (uint64_t seed = 0; seed < 90; seed++)
        for (int care = MGVI_CARE_COLUMNS; care < MGVI_CARES; care++) {
            drawn g;
            double coef[D + 1];
            draw(seed, "margin", false, seed % 2, 0.3, &g);
            open_drawn(&g, false);
            const mgv_certificate c = mgv_judged_look(&g.judged, (mgvi_care)care).certificate;
            saved(&g, coef);
            const double margin = (double)(least_of(&g, coef) / norm_of(coef, 2));
            CHECK_LE(c.margin, margin + 1e-15 * fabs(margin), "seed %d, care %d: %s", (int)seed,
                     care, g.options);
            positive += c.margin > 0;
            mgv_judged_close(&g.judged);
        }
    CHECK_THAT(positive > 60, "%d of 180 have a margin", positive);
}

TEST(a_least_score_is_no_more_than_it_is)
{
    int told = 0;
    for (uint64_t seed = 0; seed < 180; seed++) {
        drawn g;
        double coef[D + 1], least;
        draw(seed, "margin", false, seed % 2, seed % 5 ? 0.3 : 1, &g);
        open_drawn(&g, false);
        CHECK_OK(g.judged.fit.ctx, mgvi_judge_least_score(g.judged.judge, &g.judged.w, &least));
        saved(&g, coef);
        const double truth = (double)least_of(&g, coef);
        CHECK_LE(least, truth, "seed %d: %s", (int)seed, g.options);
        told += (least > 0) == (truth > 0);
        mgv_judged_close(&g.judged);
    }
    CHECK_THAT(told >= 170, "%d of 180 signs", told);
}

/* Of a proof: convex weights of which the examples add up to nothing. */
TEST(the_weights_of_a_proof_add_up_to_nothing)
{
    int proofs = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        drawn g;
        mgvi_verdict v = mgvi_verdict_none();
        draw(seed, "margin", false, seed % 2, 30, &g);
        open_drawn(&g, false);
        const bool proven_so = mgvi_judge_prove(g.judged.judge, &g.judged.u, 60, &v);
        const mgvi_vec *u = mgvi_judge_dual(g.judged.judge);
        quad sum = 0, labels = 0;
        double most = 0;
        for (int i = 0; i < N && proven_so; i++) {
            CHECK(u->x[i] <= 0);
            sum -= u->x[i];
            labels += g.y[i] * u->x[i];
        }
        for (int j = 0; j < D && proven_so; j++) {
            quad column = 0;
            for (int i = 0; i < N; i++) {
                column += (quad)g.X[i * D + j] * g.y[i] * u->x[i];
                most = fmax(most, fabs(g.X[i * D + j]));
            }
            CHECK_LE(fabs((double)column), 1e-14 * most, "seed %d, column %d", (int)seed, j);
        }
        if (proven_so) {
            CHECK_NEAR((double)sum, 1, 1e-14, "seed %d", (int)seed);
            CHECK_LE(g.intercept ? fabs((double)labels) : 0, 1e-14, "seed %d", (int)seed);
            proofs++;
        }
        mgv_judged_close(&g.judged);
    }
    CHECK_THAT(proofs > 15, "%d proofs", proofs);
}

int main(void)
{
    return RUN(attained_is_what_the_saved_weights_attain, proven_is_what_the_multipliers_prove,
               repaired_weights_have_their_margin, a_closer_look_judges_the_weights_as_saved,
               a_least_score_is_no_more_than_it_is, the_weights_of_a_proof_add_up_to_nothing);
}
