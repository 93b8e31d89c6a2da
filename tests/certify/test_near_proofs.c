/* test_near_proofs.c - what separates and what does not, when it hangs by a last bit: small whole
 * numbers, where the truth is known exactly; points an ulp apart; hulls that touch; forged proofs.
 * The judge may be undecided. It may not be wrong. */
#include "judging.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST = 8, SIDE = 4 };
__extension__ typedef __int128 wide;

/* Points of a plane, whole numbers below 2^40, with labels -1 and 1. */
typedef struct plane {
    int n;
    int64_t x[MOST][2];
    int y[MOST];
} plane;

static bool all_right(const plane *p, wide a, wide b)
{
    for (int i = 0; i < p->n; i++)
        if (p->y[i] * (a * p->x[i][0] + b * p->x[i][1]) <= 0)
            return false;
    return true;
}

/* Is there a direction with y_i (a x_i + b y_i) > 0 for every row? Such directions are a cone; its
 * edges are normals of rows and the sum of the two is inside. Of rows on one line: a row itself. */
static bool through_origin(const plane *p)
{
    for (int s = 0; s < p->n; s++) {
        const wide a = p->y[s] * p->x[s][0], b = p->y[s] * p->x[s][1];
        if (all_right(p, a, b))
            return true;
        for (int t = 0; t < p->n; t++)
            for (int e = -1; e <= 1; e += 2)
                for (int f = -1; f <= 1; f += 2)
                    if (all_right(p, -e * b - f * p->x[t][1], e * a + f * p->x[t][0]))
                        return true;
    }
    return false;
}

/* With an intercept: are the hulls apart? The direction of their least distance is the difference
 * of two points or the normal of an edge, which is one of two points too. */
static bool with_intercept(const plane *p)
{
    for (int s = 0; s < p->n; s++)
        for (int t = 0; t < p->n; t++) {
            const wide a = p->x[t][0] - p->x[s][0], b = p->x[t][1] - p->x[s][1];
            const wide normals[3][2] = {{-b, a}, {a, b}, {-a, -b}};
            for (int k = 0; k < 3; k++)
                for (int side = -1; side <= 1; side += 2) {
                    wide low = 0, high = 0; /* least of the +1, largest of the -1 */
                    bool any[2] = {false, false};
                    for (int i = 0; i < p->n; i++) {
                        const wide z =
                            side * (normals[k][0] * p->x[i][0] + normals[k][1] * p->x[i][1]);
                        if (p->y[i] > 0) {
                            low = !any[0] || z < low ? z : low;
                            any[0] = true;
                        } else {
                            high = !any[1] || z > high ? z : high;
                            any[1] = true;
                        }
                    }
                    if (low > high)
                        return true;
                }
        }
    return false;
}

/* What the best multipliers that a hundred passes find prove: 1 separable, 0 not, -1 open. */
static int said(const plane *p, bool intercept, int *undecided)
{
    double X[MOST * 2], y[MOST];
    mgv_fit fit;
    for (int i = 0; i < p->n; i++) {
        y[i] = p->y[i];
        for (int j = 0; j < 2; j++)
            X[i * 2 + j] = (double)p->x[i][j];
    }
    mgv_fit_start(&fit, X, y, p->n, 2,
                  intercept ? "loss=margin max_iter=300" : "loss=margin intercept=no max_iter=300");
    mgv_fit_solve(&fit);
    const int out = fit.certificate.separable;
    *undecided += out < 0;
    mgv_fit_free(&fit);
    return out;
}

static void draw(mgvi_rng *rng, uint32_t size, plane *p)
{
    p->n = 4 + (int)mgvi_rng_below(rng, MOST - 3);
    for (int i = 0; i < p->n; i++) {
        p->y[i] = i % 2 ? 1 : -1;
        for (int j = 0; j < 2; j++)
            p->x[i][j] = (int64_t)mgvi_rng_below(rng, size) - size / 2;
    }
}

/* Our own answers beside a search of all small directions. */
TEST(the_exact_answer_is_exact)
{
    mgvi_rng rng = mgvi_rng_seed(1);
    int apart = 0;
    for (int round = 0; round < 400; round++) {
        plane p;
        draw(&rng, 2 * SIDE, &p);
        bool through = false, beside = false;
        enum { REACH = 40 };
        for (int a = -REACH; a <= REACH; a++)
            for (int b = -REACH; b <= REACH; b++) {
                int64_t low = INT64_MAX, high = INT64_MIN, least = INT64_MAX;
                for (int i = 0; i < p.n; i++) {
                    const int64_t z = a * p.x[i][0] + b * p.x[i][1];
                    if (p.y[i] > 0)
                        low = z < low ? z : low;
                    else
                        high = z > high ? z : high;
                    least = p.y[i] * z < least ? p.y[i] * z : least;
                }
                through = through || least > 0;
                beside = beside || low > high;
            }
        CHECK_THAT(through == through_origin(&p), "round %d", round);
        CHECK_THAT(beside == with_intercept(&p), "round %d", round);
        apart += beside;
    }
    CHECK_THAT(apart > 40 && apart < 360, "%d of 400 separable", apart);
}

TEST(small_whole_numbers_are_decided_rightly)
{
    mgvi_rng rng = mgvi_rng_seed(2);
    int undecided = 0, proven = 0;
    for (int round = 0; round < 300; round++) {
        plane p;
        draw(&rng, round % 3 ? 2 * SIDE : 1000, &p);
        for (int intercept = 0; intercept < 2; intercept++) {
            const bool truth = intercept ? with_intercept(&p) : through_origin(&p);
            const int answer = said(&p, intercept, &undecided);
            CHECK_THAT(answer < 0 || answer == truth, "round %d, intercept %d: %d said, %d true",
                       round, intercept, answer, truth);
            proven += answer == 0;
        }
    }
    CHECK_THAT(undecided == 0 && proven > 100, "%d undecided, %d proven", undecided, proven);
}

/* Large numbers, and the two classes moved until their hulls are a unit apart, touch, or overlap. */
TEST(hulls_that_touch)
{
    mgvi_rng rng = mgvi_rng_seed(3);
    int undecided = 0;
    for (int round = 0; round < 60; round++) {
        plane p;
        draw(&rng, 1u << 30, &p);
        const int64_t a = (int64_t)mgvi_rng_below(&rng, 1000) + 1, b = a + 1;
        /* along the line a x = b y: the first rows of each class lie on it */
        for (int i = 0; i < p.n; i++) {
            const int64_t t = (int64_t)mgvi_rng_below(&rng, 1u << 20) - (1 << 19);
            const int64_t off = i < 4 ? 0 : (int64_t)(mgvi_rng_below(&rng, 1u << 20) + 1);
            p.x[i][0] = b * t + p.y[i] * off;
            p.x[i][1] = a * t;
        }
        for (int shift = -1; shift <= 1; shift++) {
            plane q = p;
            for (int i = 0; i < q.n; i++)
                q.x[i][0] += q.y[i] * shift;
            const bool truth = with_intercept(&q);
            const int answer = said(&q, true, &undecided);
            CHECK_THAT(answer < 0 || answer == truth, "round %d, shift %d: %d said, %d true", round,
                       shift, answer, truth);
        }
    }
    CHECK_THAT(undecided <= 18, "%d of 180 undecided", undecided);
}

/* Two points next to each other in float64 are two points, at any size. */
TEST(an_ulp_apart_is_apart)
{
    static const double sizes[] = {1, 1e-300, 1e-12, 3e7, 1e16, 1e300, 0x1p-1070};
    for (int k = 0; k < (int)(sizeof sizes / sizeof *sizes); k++)
        for (int turned = 0; turned < 2; turned++) {
            const double x = sizes[k], X[] = {x, nextafter(x, INFINITY)};
            const double y[] = {turned ? 1 : -1, turned ? -1 : 1};
            mgv_judged j;
            mgvi_verdict v = mgvi_verdict_none();
            mgv_judged_open(&j, X, y, 2, 1, "loss=margin scale=none");
            for (int t = 0; t < 2; t++)
                j.u.x[t] = -0.5;
            CHECK_THAT(!mgvi_judge_prove(j.judge, &j.u, 30, &v), "%g", x);
            mgv_judged_close(&j);
        }
}

/* Sets with a margin, and multipliers made so that A'u is as small as float64 can make it. */
TEST(no_forged_multipliers_prove_a_set_inseparable_that_is_not)
{
    enum { N = 30, D = 4 };
    static const double margins[] = {1e-3, 1e-8, 1e-13};
    for (int round = 0; round < 60; round++) {
        double X[N * D], y[N];
        mgvi_rng rng = mgvi_rng_seed((uint64_t)(40 + round));
        const double margin = margins[round % 3];
        for (int i = 0; i < N; i++) { /* the first column alone separates them */
            y[i] = i % 2 ? 1 : -1;
            for (int t = 1; t < D; t++)
                X[i * D + t] = mgvi_rng_normal(&rng);
            X[i * D] = y[i] * margin * (1 + mgvi_rng_uniform(&rng));
        }
        mgv_judged j;
        mgv_judged_open(&j, X, y, N, D, round % 2 ? "loss=margin" : "loss=margin intercept=no");
        for (int kind = 0; kind < 4; kind++) {
            for (int i = 0; i < N; i++)
                j.u.x[i] = kind == 0   ? -1.0 / N
                           : kind == 1 ? -mgvi_rng_uniform(&rng)
                           : kind == 2 ? -(i < 6) * mgvi_rng_uniform(&rng)
                                       : -pow(10, -16 * mgvi_rng_uniform(&rng));
            mgvi_verdict v = mgvi_verdict_none();
            CHECK_THAT(!mgvi_judge_prove(j.judge, &j.u, 200, &v), "round %d, kind %d", round, kind);
            CHECK(v.certificate.separable != 0);
        }
        mgv_judged_close(&j);
    }
}

/* The margin of two clouds whose nearest points are known: in every norm, and from any pair. */
TEST(intervals_hold_the_known_margin)
{
    enum { N = 8 };
    static const struct {
        const char *options;
        double p;
    } norms[] = {{"loss=margin", 2},
                 {"loss=margin p=1.5", 1.5},
                 {"loss=margin penalty=l1 mu=1", 1},
                 {"loss=margin penalty=linf mu=1", INFINITY}};
    for (int k = 0; k < 4; k++)
        for (int round = 0; round < 50; round++) {
            double X[N * 2], y[N], w[3], u[N];
            mgvi_rng rng = mgvi_rng_seed((uint64_t)(100 + round));
            const double gap = pow(10, 3 - 6 * mgvi_rng_uniform(&rng));
            for (int i = 0; i < N; i++) { /* +-gap on the first axis, rows 0 and 1 the nearest */
                y[i] = i % 2 ? 1 : -1;
                X[2 * i] = y[i] * (gap + (i > 1) * mgvi_rng_uniform(&rng));
                X[2 * i + 1] = i > 1 ? mgvi_rng_normal(&rng) : 0;
                u[i] = -mgvi_rng_uniform(&rng) - 5 * (i < 2);
            }
            for (int t = 0; t < 3; t++)
                w[t] = 0.1 * mgvi_rng_normal(&rng) + (t == 0);
            for (int care = MGVI_CARE_PLAIN; care < MGVI_CARES; care++) {
                const mgv_certificate c =
                    mgv_judge_once(X, y, NULL, N, 2, norms[k].options, w, u, (mgvi_care)care);
                if (isnan(c.margin)) { /* certified by R(w) itself, least at the unit margin */
                    CHECK_LE(c.dual, (1 / gap) * (1 + 1e-12), "%s", norms[k].options);
                    continue;
                }
                CHECK_LE(c.margin, gap, "%s, round %d", norms[k].options, round);
                CHECK_LE(gap, c.margin_upper, "%s, round %d", norms[k].options, round);
            }
        }
}

int main(void)
{
    return RUN(the_exact_answer_is_exact, small_whole_numbers_are_decided_rightly, hulls_that_touch,
               an_ulp_apart_is_apart, no_forged_multipliers_prove_a_set_inseparable_that_is_not,
               intervals_hold_the_known_margin);
}
