/* test_penalty.c - laws that every registered separable penalty obeys, and the stored prox vectors.
 */
#include "check.h"

#include "penalty/registry.h"

#include <float.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

enum { TRIALS = 10000 };

/* Those that separate come first; test_whole.c has the others. */
#define FOR_EACH_PENALTY(pen)                                                                      \
    for (int pen##_i = 0; !mgvi_penalty_at(pen##_i)->whole; pen##_i++)                             \
        for (const mgvi_penalty_ops *pen = mgvi_penalty_at(pen##_i); pen; pen = NULL)

#define SAID "%s: scale = %.17g, a = %.17g, b = %.17g, w = %.17g, v = %.17g"
#define SAY(pen, c, w, v) (pen)->name, (c).scale, (c).a, (c).b, w, v

static bool is_hard(const mgvi_penalty_ops *pen) { return pen->can & MGVI_HARD; }

static double random_weight(mgvi_rng *rng)
{
    switch (mgvi_rng_below(rng, 6)) {
    case 0:
        return 0;
    case 1:
        return 1e-3 * mgvi_rng_normal(rng);
    case 2:
        return 1e3 * mgvi_rng_normal(rng);
    default:
        return 3 * mgvi_rng_normal(rng);
    }
}

static double random_dual(const mgvi_penalty_ops *pen, mgvi_coef c, mgvi_rng *rng)
{
    const double size = pow(10, 4 * mgvi_rng_uniform(rng) - 2);
    return pen->dual_clip(c, c.scale * size * mgvi_rng_normal(rng));
}

static double random_step(mgvi_rng *rng) { return pow(10, 8 * mgvi_rng_uniform(rng) - 4); }

static double young_gap(const mgvi_penalty_ops *pen, mgvi_coef c, double w, double v, double *unit)
{
    const double value = pen->value(c, w), conj = pen->conj(c, v);
    *unit = DBL_EPSILON * (fabs(value) + fabs(conj) + fabs(w * v));
    return value + conj - w * v;
}

TEST(the_registry_finds_what_it_lists)
{
    FOR_EACH_PENALTY(pen)
    {
        CHECK(mgvi_penalty_find(pen->name) == pen && pen->index == pen_i && *pen->summary);
        CHECK(pen->can & MGVI_SEPARABLE);
        CHECK(!!(pen->can & MGVI_GRAD) == (pen->grad != NULL));
        CHECK(!!(pen->can & MGVI_CURV) == (pen->curv != NULL));
        CHECK(!!(pen->can & MGVI_MIRROR) == (pen->mirror != NULL));
        CHECK(pen->value && pen->prox && pen->kkt && pen->conj && pen->dual_clip);
        CHECK(!(pen->can & MGVI_STRONG) || pen->mirror);
    }
    CHECK(!mgvi_penalty_find("") && !mgvi_penalty_find("l3") && !mgvi_penalty_at(-1));
    CHECK(!mgvi_penalty_at(mgvi_penalty_count()));
    CHECK(!mgvi_penalty_find("l1")->mirror && mgvi_penalty_find("lp")->mirror);
    CHECK(!(mgvi_penalty_find("lp")->can & MGVI_STRONG));
}

/* (lambda/2 w^2 or 0) + (mu |w| or 0), by the bits. */
static double value_of_parts(unsigned parts, mgvi_coef c, double w)
{
    const double lambda = parts & MGVI_ABS ? c.a : c.scale;
    return (parts & MGVI_SQUARE ? lambda / 2 * w * w : 0) +
           (parts & MGVI_ABS ? c.scale * fabs(w) : 0);
}

/* Whether R(t w) = t^p R(w), with p as the bits say, and finite on both sides. */
static bool is_length(const mgvi_penalty_ops *pen, mgvi_coef c, double w, double t)
{
    const double p = pen->can & MGVI_ABS ? 1 : pen->can & MGVI_SQUARE ? 2 : c.a;
    const double one = pen->value(c, w), far = pen->value(c, -t * w), want = pow(t, p) * one;
    return isfinite(one) && isfinite(far) && fabs(far - want) <= 1e-12 * fabs(want);
}

/* What solvers go by in place of names is what the formulas say. */
TEST(traits_say_what_the_formula_is)
{
    enum { FEW = 2000 };
    mgvi_rng rng = mgvi_rng_seed(32);
    FOR_EACH_PENALTY(pen)
    {
        const unsigned parts = pen->can & (MGVI_SQUARE | MGVI_ABS);
        int made = 0, length = 0, within = 0;
        for (int t = 0; t < FEW; t++) {
            const mgvi_coef c = pen->sample_coef(&rng);
            const double w = random_weight(&rng), value = pen->value(c, w);
            made += fabs(value - value_of_parts(parts, c, w)) <= 1e-14 * value;
            length += is_length(pen, c, w, 1 + mgvi_rng_uniform(&rng));
            within += isfinite(value) == (c.a <= w && w <= c.b);
        }
        CHECK_THAT(!parts || made == FEW, "%s: %d of its parts", pen->name, made);
        CHECK_THAT(!!(pen->can & MGVI_LENGTH) == (length == FEW), "%s: %d lengths", pen->name,
                   length);
        CHECK_THAT(!!(pen->can & MGVI_BETWEEN) == (within == FEW), "%s: %d between", pen->name,
                   within);
    }
}

TEST(fenchel_young_holds_with_equality_at_the_gradient)
{
    mgvi_rng rng = mgvi_rng_seed(1);
    FOR_EACH_PENALTY(pen)
    {
        for (int trial = 0; trial < TRIALS; trial++) {
            const mgvi_coef c = pen->sample_coef(&rng);
            double w = random_weight(&rng), v = random_dual(pen, c, &rng), unit;
            CHECK_LE(-young_gap(pen, c, w, v, &unit), 64 * unit, SAID, SAY(pen, c, w, v));
            if (pen->grad) {
                v = pen->grad(c, w);
                CHECK_LE(young_gap(pen, c, w, v, &unit), 64 * unit, SAID, SAY(pen, c, w, v));
            }
        }
    }
}

/* Searched where a maximum must lie: between the slopes' signs. */
TEST(conjugate_is_the_supremum)
{
    const double golden = 0.6180339887498949;
    mgvi_rng rng = mgvi_rng_seed(2);
    FOR_EACH_PENALTY(pen)
    {
        for (int trial = 0; trial < 300; trial++) {
            const mgvi_coef c = pen->sample_coef(&rng);
            const double w = 3 * mgvi_rng_normal(&rng);
            const double v = pen->grad ? pen->grad(c, w) : random_dual(pen, c, &rng);
            double lo = -50, hi = 50, best = -INFINITY;
            for (int i = 0; i < 100; i++) {
                double x[2] = {hi - golden * (hi - lo), lo + golden * (hi - lo)}, f[2];
                for (int t = 0; t < 2; t++) {
                    const double at = is_hard(pen) ? pen->prox(c, x[t], 1) : x[t];
                    f[t] = v * at - pen->value(c, at);
                    best = fmax(best, f[t]);
                }
                if (f[0] > f[1])
                    hi = x[1];
                else
                    lo = x[0];
            }
            CHECK_NEAR(best, pen->conj(c, v), 1e-12 * (fabs(pen->conj(c, v)) + fabs(v)), SAID,
                       SAY(pen, c, w, v));
        }
    }
}

TEST(prox_meets_its_optimality_condition)
{
    mgvi_rng rng = mgvi_rng_seed(3);
    FOR_EACH_PENALTY(pen)
    {
        for (int trial = 0; trial < TRIALS; trial++) {
            const mgvi_coef c = pen->sample_coef(&rng);
            const double w = random_weight(&rng), step = random_step(&rng);
            const double p = pen->prox(c, w, step), g = (p - w) / step;
            CHECK_THAT(isfinite(pen->value(c, p)), SAID, SAY(pen, c, w, p));
            const double slip = DBL_EPSILON * (fabs(w) + fabs(p)) / step; /* rounding of p - w */
            CHECK_LE(pen->kkt(c, p, g), 16 * slip + 64 * DBL_EPSILON * (fabs(g) + c.scale),
                     SAID ", step = %g", SAY(pen, c, w, p), step);
            const double v = pen->dual_clip(c, -g); /* Moreau: the pair (p, v) is conjugate */
            double unit;
            CHECK_LE(young_gap(pen, c, p, v, &unit), 64 * unit + 16 * slip * (fabs(p) + fabs(w)),
                     SAID ", step = %g", SAY(pen, c, w, p), step);
        }
    }
}

TEST(kkt_is_the_distance_to_the_subdifferential)
{
    mgvi_rng rng = mgvi_rng_seed(4);
    FOR_EACH_PENALTY(pen)
    {
        for (int trial = 0; trial < TRIALS; trial++) {
            const mgvi_coef c = pen->sample_coef(&rng);
            /* a feasible w, often at a kink or an end */
            const double w = pen->prox(c, random_weight(&rng), random_step(&rng));
            const double g = (trial % 2 ? 1 : c.scale) * random_weight(&rng);
            const double h = 1e-7 * (1 + fabs(w)), here = pen->value(c, w);
            const double left = (here - pen->value(c, w - h)) / h; /* -inf at a lower end */
            const double right = (pen->value(c, w + h) - here) / h;
            const double distance = fmax(0, fmax(left + g, -g - right));
            if (pen->curv && h * pen->curv(c, w - h) + h * pen->curv(c, w + h) > 1e-3 * c.scale)
                continue; /* lp beside 0: the slopes change within h */
            const double bend = pen->curv && w != 0 ? h * fabs(pen->curv(c, w)) : 0;
            const double noise = 8 * DBL_EPSILON * here / h + 2e-3 * c.scale;
            CHECK_NEAR(pen->kkt(c, w, g), distance, noise + bend + 1e-9 * fabs(g), SAID,
                       SAY(pen, c, w, g));
            if (pen->grad)
                CHECK_LE(pen->kkt(c, w, -pen->grad(c, w)), 1e-15 * fabs(pen->grad(c, w)), SAID,
                         SAY(pen, c, w, g));
        }
        const mgvi_coef c = {.scale = 1, .a = -1, .b = 2};
        if (is_hard(pen))
            CHECK(pen->kkt(c, -1.5, 0) == INFINITY);
    }
}

TEST(gradient_lies_between_the_difference_quotients)
{
    mgvi_rng rng = mgvi_rng_seed(5);
    FOR_EACH_PENALTY(pen)
    {
        for (int trial = 0; trial < TRIALS && pen->grad; trial++) {
            const mgvi_coef c = pen->sample_coef(&rng);
            const double w = random_weight(&rng), g = pen->grad(c, w), here = pen->value(c, w);
            for (double h = 1e-6; h < 10; h *= 10) {
                const double up = pen->value(c, w + h) - here, down = here - pen->value(c, w - h);
                const double noise = 8 * DBL_EPSILON * (here + fabs(g) * (h + fabs(w)));
                CHECK_LE(g * h, up + noise, SAID, SAY(pen, c, w, g));
                CHECK_LE(down - noise, g * h, SAID, SAY(pen, c, w, g));
            }
        }
    }
}

TEST(curvature_is_the_slope_of_the_gradient)
{
    mgvi_rng rng = mgvi_rng_seed(6);
    FOR_EACH_PENALTY(pen)
    {
        for (int trial = 0; trial < TRIALS && pen->curv; trial++) {
            const mgvi_coef c = pen->sample_coef(&rng);
            const double w = random_weight(&rng), h = 1e-5 * fabs(w);
            if (w == 0)
                continue;
            const double slope = (pen->grad(c, w + h) - pen->grad(c, w - h)) / (2 * h);
            const double noise = 4 * DBL_EPSILON * fabs(pen->grad(c, w)) / h;
            CHECK_NEAR(slope, pen->curv(c, w), 1e-8 * pen->curv(c, w) + noise, SAID,
                       SAY(pen, c, w, slope));
        }
    }
}

TEST(mirror_is_the_gradient_of_the_conjugate)
{
    mgvi_rng rng = mgvi_rng_seed(7);
    FOR_EACH_PENALTY(pen)
    {
        for (int trial = 0; trial < TRIALS && pen->mirror; trial++) {
            const mgvi_coef c = pen->sample_coef(&rng);
            const double v = random_dual(pen, c, &rng), w = pen->mirror(c, v);
            const double here = pen->conj(c, v);
            if (!(fabs(w) < 1e100))
                continue; /* a power near the end of the numbers: differences overflow */
            for (double share = 1e-6; share < 1; share *= 10) {
                const double h = share * (fabs(v) + 1e-3);
                const double up = pen->conj(c, v + h) - here, down = here - pen->conj(c, v - h);
                const double noise = 64 * DBL_EPSILON * (here + fabs(w * v));
                CHECK_LE(w * h, up + noise, SAID, SAY(pen, c, w, v));
                CHECK_LE(down - noise, w * h, SAID, SAY(pen, c, w, v));
            }
            const double start = 1e-3 + fabs(random_weight(&rng)); /* and the way back */
            const double back = pen->mirror(c, pen->grad(c, start));
            CHECK_NEAR(back, start, 1e-12 * (start + (c.a > 0 ? c.scale / c.a : 0)), SAID,
                       SAY(pen, c, start, back));
        }
    }
}

TEST(dual_clip_is_the_nearest_feasible_point)
{
    mgvi_rng rng = mgvi_rng_seed(8);
    FOR_EACH_PENALTY(pen)
    {
        for (int trial = 0; trial < TRIALS; trial++) {
            mgvi_coef c = pen->sample_coef(&rng);
            if (pen == mgvi_penalty_find("enet") && trial % 2)
                c.a = 0;
            const double v = 3 * c.scale * mgvi_rng_normal(&rng), clipped = pen->dual_clip(c, v);
            CHECK_THAT(isfinite(pen->conj(c, clipped)), SAID, SAY(pen, c, 0., v));
            CHECK(pen->dual_clip(c, clipped) == clipped);
            CHECK_LE(fabs(clipped - v), fabs(random_dual(pen, c, &rng) - v), SAID,
                     SAY(pen, c, 0., v));
            if (clipped != v)
                CHECK_THAT(pen->conj(c, v) == INFINITY, SAID, SAY(pen, c, 0., v));
        }
    }
}

TEST(value_and_conjugate_are_convex)
{
    mgvi_rng rng = mgvi_rng_seed(9);
    FOR_EACH_PENALTY(pen)
    {
        for (int trial = 0; trial < TRIALS; trial++) {
            const mgvi_coef c = pen->sample_coef(&rng);
            const double x = random_weight(&rng), y = random_weight(&rng);
            CHECK_LE(pen->value(c, (x + y) / 2),
                     (pen->value(c, x) + pen->value(c, y)) / 2 * (1 + 1e-13), SAID,
                     SAY(pen, c, x, y));
            const double u = random_dual(pen, c, &rng), v = random_dual(pen, c, &rng);
            const double fu = pen->conj(c, u), fv = pen->conj(c, v);
            CHECK_LE(pen->conj(c, (u + v) / 2), (fu + fv) / 2 + 1e-13 * (fabs(fu) + fabs(fv)), SAID,
                     SAY(pen, c, u, v));
        }
    }
}

/* Who claims to be even is, and no other of those that are finite on both sides. */
TEST(even_penalties_are_even)
{
    mgvi_rng rng = mgvi_rng_seed(10);
    FOR_EACH_PENALTY(pen)
    {
        bool even = true;
        for (int trial = 0; trial < TRIALS; trial++) {
            const mgvi_coef c = pen->sample_coef(&rng);
            const double x = random_weight(&rng), u = random_dual(pen, c, &rng);
            even = even && pen->value(c, x) == pen->value(c, -x) &&
                   pen->conj(c, u) == pen->conj(c, -u);
        }
        CHECK_THAT(even == !!(pen->can & MGVI_EVEN), "%s", pen->name);
    }
}

TEST(scale_zero_means_no_penalty)
{
    mgvi_rng rng = mgvi_rng_seed(10);
    FOR_EACH_PENALTY(pen)
    {
        for (int trial = 0; trial < 300; trial++) {
            mgvi_coef c = pen->sample_coef(&rng);
            c.scale = 0;
            if (pen == mgvi_penalty_find("enet"))
                c.a = 0;
            const double w = random_weight(&rng), step = random_step(&rng), g = random_weight(&rng);
            CHECK(pen->value(c, w) == 0 && pen->prox(c, w, step) == w);
            CHECK(pen->conj(c, 0) == 0 && pen->conj(c, -0.0) == 0);
            CHECK(pen->conj(c, 1e-9) == INFINITY && pen->conj(c, -1e-9) == INFINITY);
            CHECK(pen->dual_clip(c, w) == 0 && pen->dual_clip(c, -w) == 0);
            CHECK(pen->kkt(c, w, g) == fabs(g));
            CHECK(!pen->grad || pen->grad(c, w) == 0);
            CHECK(!pen->curv || pen->curv(c, w) == 0);
            CHECK(!pen->mirror || pen->mirror(c, 0) == 0);
        }
    }
}

TEST(prox_stands_extreme_arguments)
{
    static const double ws[] = {1e-300, 1e-30, 1e-8, 1, 1e8, 1e30, 1e300};
    static const double steps[] = {1e-300, 1e-30, 1e-8, 1, 1e8, 1e30, 1e300};
    mgvi_rng rng = mgvi_rng_seed(11);
    FOR_EACH_PENALTY(pen)
    {
        for (int trial = 0; trial < 7 * 7 * 40; trial++) {
            const mgvi_coef c = pen->sample_coef(&rng);
            const double w = ws[trial % 7], step = steps[trial / 7 % 7];
            const double p = pen->prox(c, w, step), n = pen->prox(c, -w, step);
            CHECK_THAT(isfinite(p) && isfinite(n) && n <= p, SAID ", step = %g", SAY(pen, c, w, p),
                       step);
            if (!is_hard(pen))
                CHECK_THAT(p >= 0 && p <= w && n == -p, SAID ", step = %g", SAY(pen, c, w, p),
                           step);
        }
        CHECK_THAT(isnan(pen->prox(pen->sample_coef(&rng), NAN, 1)), "%s", pen->name);
        CHECK_THAT(!isfinite(pen->value(pen->sample_coef(&rng), NAN)), "%s", pen->name);
    }
}

/* v + v^(1/2) = w is a quadratic in v^(1/2). */
TEST(lp_prox_meets_the_closed_form_of_three_halves)
{
    const mgvi_penalty_ops *lp = mgvi_penalty_find("lp");
    mgvi_rng rng = mgvi_rng_seed(12);
    for (int trial = 0; trial < TRIALS; trial++) {
        const double w = pow(10, 40 * mgvi_rng_uniform(&rng) - 20), k = random_step(&rng);
        const double root = 2 * w / (k + sqrt(k * k + 4 * w));
        const mgvi_coef c = {.scale = 2 * k, .a = 1.5};
        CHECK_NEAR(lp->prox(c, w, 0.5), root * root, 1e-14 * root * root, "w = %.17g, k = %.17g", w,
                   k);
    }
}

/* ---- Stored vectors ------------------------------------------------------------------------- */
/* x = argmin t R(x) + 1/2 |x - v|^2; a case of two penalties is the second's prox of the first's.
 */
static void check_case(const json_t *entry, const mgvi_penalty_ops *first,
                       const mgvi_penalty_ops *second)
{
    const json_t *v = json_object_get(entry, "v"), *x = json_object_get(entry, "x");
    const double t = json_number_value(json_object_get(entry, "t"));
    const mgvi_coef c = {.scale = 1, .a = json_number_value(json_object_get(entry, "gamma"))};
    CHECK(json_array_size(v) > 0 && json_array_size(v) == json_array_size(x));
    for (size_t i = 0; i < json_array_size(v); i++) {
        double p = first->prox(c, json_number_value(json_array_get(v, i)), t);
        if (second)
            p = second->prox(c, p, t);
        CHECK_NEAR(p, json_number_value(json_array_get(x, i)), 1e-15, "%s", first->name);
    }
}

TEST(stored_prox_vectors)
{
    json_error_t error;
    json_t *root = json_load_file(MGV_TEST_VECTORS "/sparse_prox.json", 0, &error);
    CHECK_THAT(root, "%s", error.text);
    int seen = 0;
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(root, "cases"), i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        const bool is_l1 = strcmp(name, "l1") == 0, is_both = strcmp(name, "l1_nonneg") == 0;
        if (is_l1 || is_both)
            check_case(entry, mgvi_penalty_find("l1"),
                       is_both ? mgvi_penalty_find("nonneg") : NULL);
        else if (strcmp(name, "elastic_net") == 0)
            check_case(entry, mgvi_penalty_find("enet"), NULL);
        else
            continue; /* penalties that do not separate */
        seen++;
    }
    json_decref(root);
    assert_int_equal(seen, 3);
}

int main(void)
{
    return RUN(traits_say_what_the_formula_is, the_registry_finds_what_it_lists,
               fenchel_young_holds_with_equality_at_the_gradient, conjugate_is_the_supremum,
               prox_meets_its_optimality_condition, kkt_is_the_distance_to_the_subdifferential,
               gradient_lies_between_the_difference_quotients,
               curvature_is_the_slope_of_the_gradient, mirror_is_the_gradient_of_the_conjugate,
               dual_clip_is_the_nearest_feasible_point, value_and_conjugate_are_convex,
               even_penalties_are_even, scale_zero_means_no_penalty, prox_stands_extreme_arguments,
               lp_prox_meets_the_closed_form_of_three_halves, stored_prox_vectors);
}
