/* test_strangers.c - weights and multipliers that no solver should bring: NaN, infinities, numbers
 * at the ends of float64, nothing at all. None of them makes a bound false, and none is called
 * verified; and the laws of putting two verdicts together. */
#include "judging.h"

#include "base/settings.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { N = 9, D = 3 };

static const char *const soft[] = {
    "loss=hinge lambda=0.05",
    "loss=logistic lambda=0.05 intercept=no",
    "loss=squared_hinge mu=0.02",
    "loss=smooth_hinge lambda=0.03 mu=0.02",
    "task=regress loss=squared lambda=0.05",
    "task=regress loss=squared mu=0.02 intercept=no",
    "task=regress loss=huber lambda=0.05",
    "task=regress loss=absolute lambda=0.05",
    "task=regress loss=epsilon_insensitive epsilon=0.1 lambda=0.03 mu=0.02",
    "task=regress loss=epsilon_insensitive lambda=0.05 kernel=rbf",
    "loss=hinge lambda=0.05 kernel=rbf",
    "loss=logistic lambda=0.05 kernel=poly",
};
static const char *const margins[] = {"loss=margin", "loss=margin intercept=no p=1.5",
                                      "loss=margin kernel=rbf"};
static const char *const constraints[] = {
    "task=regress loss=equal",
    "task=regress loss=interval epsilon=0.1 intercept=no",
    "task=regress loss=equal mu=1",
    "loss=margin mu=1 intercept=no",
};
#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

static const double strange[] = {NAN,     INFINITY,  -INFINITY, DBL_MAX, -DBL_MAX,
                                 DBL_MIN, 0x1p-1074, 1e200,     -0.0};

static void open(mgv_judged *j, const char *options)
{
    double X[N * D], y[N];
    mgvi_rng rng = mgvi_rng_seed(11);
    const bool classes = strncmp(options, "task=regress", 12) != 0;
    for (int i = 0; i < N; i++) {
        y[i] = classes ? (i % 2 ? 1 : -1) : mgvi_rng_normal(&rng);
        for (int t = 0; t < D; t++)
            X[i * D + t] = mgvi_rng_normal(&rng) + (t == 0 ? y[i] : 0);
    }
    mgv_judged_open(j, X, y, N, D, options);
}

/* Ordinary numbers, of a size that multipliers have. */
static void fill(mgv_judged *j, uint64_t seed)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    const bool classes = j->fit.problem->loss->can & MGVI_MARGIN;
    for (int64_t i = 0; i < j->w.n; i++)
        j->w.x[i] = mgvi_rng_normal(&rng);
    for (int64_t i = 0; i < j->u.n; i++) {
        const double x = 0.5 * mgvi_rng_normal(&rng) / N;
        j->u.x[i] = classes ? -fabs(x) : x;
    }
}

/* Whatever is said, an interval is an interval. */
static void check_sane(const mgv_certificate *c, const char *options, double with)
{
    CHECK_THAT(!(c->gap < 0) && !(c->dual > c->primal) && !(c->margin > c->margin_upper),
               "%s with %g: [%g, %g], margin [%g, %g]", options, with, c->dual, c->primal,
               c->margin, c->margin_upper);
    CHECK_THAT(!c->verified || (c->gap >= 0 && c->relative_gap >= 0),
               "%s with %g: verified, gap %g", options, with, c->gap);
}

TEST(strange_weights_are_never_verified)
{
    for (int k = 0; k < COUNT(soft); k++)
        for (int s = 0; s < COUNT(strange); s++)
            for (int care = MGVI_CARE_PLAIN; care < MGVI_CARES; care++) {
                mgv_judged j;
                open(&j, soft[k]);
                fill(&j, 1);
                j.w.x[1] = strange[s];
                const mgv_certificate c = mgv_judged_look(&j, (mgvi_care)care).certificate;
                check_sane(&c, soft[k], strange[s]);
                CHECK_THAT(!c.verified || fabs(strange[s]) < 1, "%s with %g: primal %g", soft[k],
                           strange[s], c.primal);
                mgv_judged_close(&j);
            }
}

TEST(strange_multipliers_prove_no_more_than_none)
{
    for (int k = 0; k < COUNT(soft); k++)
        for (int s = 0; s < COUNT(strange); s++)
            for (int care = MGVI_CARE_PLAIN; care < MGVI_CARES; care++) {
                mgv_judged j;
                open(&j, soft[k]);
                fill(&j, 2);
                mgvi_vec_fill(j.fit.ctx, &j.u, 0);
                const double nothing = mgv_judged_look(&j, (mgvi_care)care).certificate.dual;
                fill(&j, 2);
                j.u.x[4] = strange[s];
                const mgv_certificate c = mgv_judged_look(&j, (mgvi_care)care).certificate;
                check_sane(&c, soft[k], strange[s]);
                CHECK_THAT(c.dual >= nothing, "%s with %g: %g proven, %g by none", soft[k],
                           strange[s], c.dual, nothing);
                mgv_judged_close(&j);
            }
}

TEST(margins_of_strange_weights_are_no_margins)
{
    for (int k = 0; k < COUNT(margins); k++)
        for (int s = 0; s < COUNT(strange); s++)
            for (int side = 0; side < 2; side++)
                for (int care = MGVI_CARE_PLAIN; care < MGVI_CARES; care++) {
                    mgv_judged j;
                    open(&j, margins[k]);
                    fill(&j, 3);
                    (side ? j.u.x : j.w.x)[2] = strange[s];
                    const mgv_certificate c = mgv_judged_look(&j, (mgvi_care)care).certificate;
                    check_sane(&c, margins[k], strange[s]);
                    CHECK_THAT(isfinite(strange[s]) || side || c.separable != 1, "%s with %g",
                               margins[k], strange[s]);
                    mgv_judged_close(&j);
                }
}

TEST(constraints_with_strange_pairs)
{
    for (int k = 0; k < COUNT(constraints); k++)
        for (int s = 0; s < COUNT(strange); s++)
            for (int side = 0; side < 2; side++) {
                mgv_judged j;
                open(&j, constraints[k]);
                fill(&j, 4);
                (side ? j.u.x : j.w.x)[2] = strange[s];
                const mgv_certificate c = mgv_judged_look(&j, MGVI_CARE_PLAIN).certificate;
                check_sane(&c, constraints[k], strange[s]);
                CHECK_THAT(!isnan(strange[s]) || side || !c.verified, "%s: margin [%g, %g]",
                           constraints[k], c.margin, c.margin_upper);
                mgv_judged_close(&j);
            }
}

/* Scores that are infinite, or infinite less infinite, while the weights are not. */
TEST(scores_that_overflow_are_no_scores)
{
    const double X[] = {1e200, -1e200, 1, 2, -1e200, 1e200, -1, -2};
    const double y[] = {1, 1, -1, -1}, w[] = {1e200, 1e200, 0}, u[] = {-0.1, -0.2, -0.2, -0.1};
    static const char *const options[] = {
        "loss=margin",
        "loss=margin intercept=no",
        "loss=margin intercept=no mu=1",
        "loss=margin penalty=enet lambda=1 mu=1 intercept=no",
        "task=regress loss=equal mu=1 intercept=no",
        "task=regress loss=interval epsilon=0.1 mu=1 intercept=no",
        "loss=hinge mu=0.1 intercept=no",
        "task=regress loss=squared mu=0.1 intercept=no"};
    for (int k = 0; k < COUNT(options); k++)
        for (int care = MGVI_CARE_PLAIN; care < MGVI_CARES; care++) {
            const mgv_certificate c =
                mgv_judge_once(X, y, NULL, 4, 2, options[k], w, u, (mgvi_care)care);
            CHECK_THAT(!c.verified && c.separable != 1, "%s: [%g, %g], margin %g", options[k],
                       c.dual, c.primal, c.margin);
        }
}

/* A pair of nothings has the gap of the problem itself: sum s_i G_i(0) less D(0). */
TEST(nothing_has_an_interval)
{
    for (int k = 0; k < COUNT(soft); k++) {
        mgv_judged j;
        open(&j, soft[k]);
        const mgv_certificate c = mgv_judged_look(&j, MGVI_CARE_PLAIN).certificate;
        const bool counts = j.fit.problem->classify;
        CHECK_THAT(c.verified && c.dual == 0 && c.primal > 0, "%s: [%g, %g]", soft[k], c.dual,
                   c.primal);
        if (counts && strstr(soft[k], "loss=hinge"))
            CHECK_NEAR(c.primal, 1, 1e-12, "%s", soft[k]);
        if (counts && strstr(soft[k], "loss=logistic"))
            CHECK_NEAR(c.primal, log(2), 1e-12, "%s", soft[k]);
        mgv_judged_close(&j);
    }
}

/* ---- two verdicts ---------------------------------------------------------------------------- */

static void check_equal_certificates(const mgv_certificate *a, const mgv_certificate *b,
                                     const char *options)
{
    CHECK_THAT(memcmp(&a->primal, &b->primal, sizeof a->primal) == 0 &&
                   memcmp(&a->dual, &b->dual, sizeof a->dual) == 0 && a->verified == b->verified &&
                   (a->gap == b->gap || (isnan(a->gap) && isnan(b->gap))) &&
                   (a->relative_gap == b->relative_gap || isnan(a->relative_gap)),
               "%s: [%.17g, %.17g], gap %g; [%.17g, %.17g], gap %g", options, a->dual, a->primal,
               a->relative_gap, b->dual, b->primal, b->relative_gap);
}

static const char *option_of(int k)
{
    return k < COUNT(soft)                    ? soft[k]
           : k < COUNT(soft) + COUNT(margins) ? margins[k - COUNT(soft)]
                                              : constraints[k - COUNT(soft) - COUNT(margins)];
}
enum { ALL = 9 + 3 + 4 };

/* The w of one verdict beside the u of another: as if they had been brought together. */
TEST(sides_are_judged_apart)
{
    for (int k = 0; k < ALL; k++)
        for (int care = MGVI_CARE_PLAIN; care < MGVI_CARES; care++) {
            mgv_judged j;
            open(&j, option_of(k));
            const mgv_problem *p = j.fit.problem;
            fill(&j, 5);
            const mgvi_verdict first = mgv_judged_look(&j, (mgvi_care)care);
            double w[N + 1];
            memcpy(w, j.w.x, (size_t)j.w.n * sizeof *w);
            fill(&j, 6);
            const mgvi_verdict second = mgv_judged_look(&j, (mgvi_care)care);
            memcpy(j.w.x, w, (size_t)j.w.n * sizeof *w);
            const mgvi_verdict both = mgv_judged_look(&j, (mgvi_care)care);
            const mgvi_verdict put = mgvi_verdict_combine(p, &first, &second);
            check_equal_certificates(&put.certificate, &both.certificate, option_of(k));
            const mgvi_verdict primal =
                mgvi_judge_certify_primal(j.judge, &j.w, (mgvi_care)care, &second);
            check_equal_certificates(&primal.certificate, &both.certificate, option_of(k));
            mgv_judged_close(&j);
        }
}

TEST(better_is_an_order)
{
    for (int k = 0; k < ALL; k++) {
        mgv_judged j;
        mgvi_verdict v[4];
        open(&j, option_of(k));
        const mgv_problem *p = j.fit.problem;
        for (int t = 0; t < 4; t++) {
            fill(&j, (uint64_t)(20 + t));
            v[t] = mgv_judged_look(&j, MGVI_CARE_PLAIN);
        }
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++) {
                const bool ab = mgvi_verdict_improves(p, &v[a], &v[b], &v[0]);
                CHECK_THAT(!(ab && mgvi_verdict_improves(p, &v[b], &v[a], &v[0])), "%s",
                           option_of(k));
                for (int c = 0; c < 4; c++)
                    CHECK_THAT(!(ab && mgvi_verdict_improves(p, &v[b], &v[c], &v[0])) ||
                                   mgvi_verdict_improves(p, &v[a], &v[c], &v[0]),
                               "%s", option_of(k));
            }
        mgv_judged_close(&j);
    }
}

/* What rounding may have added is no more than the gap itself; an excuse moves no bound. */
TEST(gaps_without_rounding_are_smaller)
{
    for (int k = 0; k < ALL; k++)
        for (uint64_t seed = 30; seed < 40; seed++) {
            mgv_judged j;
            open(&j, option_of(k));
            fill(&j, seed);
            mgvi_verdict v = mgv_judged_look(&j, MGVI_CARE_PLAIN);
            const double sharp = mgvi_verdict_sharp_gap(j.fit.problem, &v);
            CHECK_THAT(!(sharp > v.certificate.relative_gap), "%s: %g, not %g", option_of(k), sharp,
                       v.certificate.relative_gap);
            const mgv_certificate before = v.certificate;
            mgvi_verdict_excuse(j.judge, &v);
            check_equal_certificates(&before, &v.certificate, option_of(k));
            mgv_judged_close(&j);
        }
}

/* ---- lanes ----------------------------------------------------------------------------------- */

enum { CLASSES = 4, ROWS = 16 };

/* `spoiled`: a lane whose weights and multipliers are NaN, -1: none. */
static void judge_lanes(const char *options, int spoiled, mgv_certificate out[CLASSES],
                        mgv_certificate alone[CLASSES])
{
    double X[ROWS * D], y[ROWS];
    mgvi_lane lane[CLASSES];
    mgv_fit fit;
    mgv_problem *block;
    mgvi_arena arena;
    mgvi_judge *judge;
    mgvi_vec w, u;
    mgvi_rng rng = mgvi_rng_seed(12);
    mgv_clouds(X, y, ROWS, D, CLASSES);
    mgv_fit_start(&fit, X, y, ROWS, D, options);
    CHECK_OK(fit.ctx, mgv_problem_new(fit.ctx, fit.data, fit.settings, &fit.problem));
    for (int c = 0; c < CLASSES; c++)
        lane[c] = (mgvi_lane){.positive = c, .negative = MGVI_THE_REST};
    mgvi_arena_init(&arena, fit.ctx);
    CHECK_OK(fit.ctx, mgvi_problem_new_block(fit.ctx, fit.data, fit.settings, lane, CLASSES,
                                             fit.problem, &block));
    CHECK_OK(fit.ctx, mgvi_judge_new(&arena, block, &judge));
    CHECK_OK(fit.ctx, mgvi_vec_new(&arena, MGVI_COLS, block->A->cols, CLASSES, &w));
    CHECK_OK(fit.ctx, mgvi_vec_new(&arena, MGVI_ROWS, ROWS, CLASSES, &u));
    for (int64_t t = 0; t < w.n * CLASSES; t++)
        w.x[t] = mgvi_rng_normal(&rng);
    for (int64_t t = 0; t < u.n * CLASSES; t++)
        u.x[t] = -mgvi_rng_uniform(&rng) / ROWS;
    for (int c = 0; c < CLASSES; c++) { /* the problem of class c by itself, with the lane's pair */
        mgv_problem *p;
        mgvi_judge *own;
        mgvi_vec one_w, one_u;
        CHECK_OK(fit.ctx, mgvi_problem_new(fit.ctx, fit.data, fit.settings, c, &p));
        CHECK_OK(fit.ctx, mgvi_judge_new(&arena, p, &own));
        CHECK_OK(fit.ctx, mgvi_vec_new(&arena, MGVI_COLS, p->A->cols, 1, &one_w));
        CHECK_OK(fit.ctx, mgvi_vec_new(&arena, MGVI_ROWS, ROWS, 1, &one_u));
        for (int64_t t = 0; t < w.n; t++)
            one_w.x[t] = w.x[t * CLASSES + c];
        for (int64_t t = 0; t < u.n; t++)
            one_u.x[t] = u.x[t * CLASSES + c];
        alone[c] = mgvi_judge_certify(own, &one_w, &one_u).certificate;
        mgvi_problem_free(p);
    }
    for (int64_t t = 0; spoiled >= 0 && t < w.n; t++)
        w.x[t * CLASSES + spoiled] = NAN;
    for (int64_t t = 0; spoiled >= 0 && t < u.n; t++)
        u.x[t * CLASSES + spoiled] = NAN;
    mgvi_judge_certify_lanes(judge, &w, &u, out);
    mgvi_arena_free(&arena);
    mgvi_problem_free(block);
    mgv_fit_free(&fit);
}

static const char *const lanes[] = {"loss=hinge lambda=0.05", "loss=logistic lambda=0.05",
                                    "loss=squared_hinge lambda=0.05 intercept=no",
                                    "loss=logistic lambda=0.05 scale=std"};

TEST(lanes_are_judged_as_if_alone)
{
    for (int k = 0; k < COUNT(lanes); k++) {
        mgv_certificate out[CLASSES], alone[CLASSES];
        judge_lanes(lanes[k], -1, out, alone);
        for (int c = 0; c < CLASSES; c++) {
            CHECK_NEAR(out[c].primal, alone[c].primal, 1e-12 * alone[c].primal, "%s", lanes[k]);
            CHECK_NEAR(out[c].dual, alone[c].dual, 1e-12 * alone[c].primal, "%s", lanes[k]);
            CHECK(out[c].verified && alone[c].verified);
        }
    }
}

TEST(a_spoiled_lane_spoils_no_other)
{
    for (int k = 0; k < COUNT(lanes); k++)
        for (int s = 0; s < CLASSES; s++) {
            mgv_certificate out[CLASSES], alone[CLASSES];
            judge_lanes(lanes[k], s, out, alone);
            for (int c = 0; c < CLASSES; c++) {
                CHECK_THAT(out[c].verified == (c != s), "%s: lane %d beside %d", lanes[k], c, s);
                if (c != s)
                    CHECK_NEAR(out[c].dual, alone[c].dual, 1e-12 * alone[c].primal, "%s", lanes[k]);
            }
        }
}

int main(void)
{
    return RUN(strange_weights_are_never_verified, strange_multipliers_prove_no_more_than_none,
               margins_of_strange_weights_are_no_margins, constraints_with_strange_pairs,
               scores_that_overflow_are_no_scores, nothing_has_an_interval, sides_are_judged_apart,
               better_is_an_order, gaps_without_rounding_are_smaller, lanes_are_judged_as_if_alone,
               a_spoiled_lane_spoils_no_other);
}
