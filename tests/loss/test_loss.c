/* test_loss.c - laws that every registered scalar loss obeys, and reference values of the iterated
 * ones.
 */
#include "check.h"

#include "loss/registry.h"

#include <float.h>
#include <math.h>

enum { TRIALS = 10000 };

#define FOR_EACH_LOSS(loss)                                                                        \
    for (int loss##_i = 0; loss##_i < mgvi_loss_count(); loss##_i++)                               \
        for (const mgvi_loss_ops *loss = mgvi_loss_at(loss##_i); loss && !loss->joint; loss = NULL)

#define SAID "%s: s = %.17g, a = %.17g, b = %.17g, z = %.17g, u = %.17g"
#define SAY(loss, c, z, u) (loss)->name, (c).scale, (c).a, (c).b, z, u

static bool is_hard(const mgvi_loss_ops *loss) { return loss->can & MGVI_HARD; }

/* Near the kinks, ordinary, large; now and then exactly 0 or 1. */
static double random_score(mgvi_rng *rng)
{
    switch (mgvi_rng_below(rng, 6)) {
    case 0:
        return 1 + 1e-3 * mgvi_rng_normal(rng);
    case 1:
        return (double)mgvi_rng_below(rng, 2);
    case 2:
        return 50 * mgvi_rng_normal(rng);
    default:
        return 3 * mgvi_rng_normal(rng);
    }
}

/* Any dual point, feasible: inside the domain, at its ends, or near them. */
static double random_dual(const mgvi_loss_ops *loss, mgvi_coef c, mgvi_rng *rng)
{
    const double size = pow(10, 6 * mgvi_rng_uniform(rng) - 5);
    return loss->dual_clip(c, c.scale * size * mgvi_rng_normal(rng));
}

static double random_step(mgvi_rng *rng) { return pow(10, 8 * mgvi_rng_uniform(rng) - 4); }

/* value + conj - z u, to be >= 0, in units of the rounding error of its parts. */
static double young_gap(const mgvi_loss_ops *loss, mgvi_coef c, double z, double u, double *unit)
{
    const double value = loss->value(c, z), conj = loss->conj(c, u);
    *unit = DBL_EPSILON * (fabs(value) + fabs(conj) + fabs(z * u) + c.scale + fabs(u));
    return value + conj - z * u;
}

/* ---- Traits --------------------------------------------------------------------------------- */

static bool is_open(mgvi_coef c) { return isinf(c.a) || isinf(c.b); }

/* Whether u lies in a box whatever it is clipped from. */
static bool clips_both_ways(const mgvi_loss_ops *loss, mgvi_coef c)
{
    const double far = 1e100 * c.scale;
    return fabs(loss->dual_clip(c, far)) < far && fabs(loss->dual_clip(c, -far)) < far;
}

/* Whether (s G)* bends between two points as q u^2/(2 s) does. */
static bool bends_by(const mgvi_loss_ops *loss, mgvi_coef c, const double u[2], double q)
{
    const double half = u[0] / 2 + u[1] / 2, d = u[1] - u[0], bend = q * d * d / (8 * c.scale);
    const double ends = loss->conj(c, u[0]) / 2 + loss->conj(c, u[1]) / 2;
    const double middle = loss->conj(c, half);
    const double size = fabs(c.a) * fmax(fabs(u[0]), fabs(u[1])) + fmax(fabs(u[0]), fabs(u[1])) +
                        q * fmax(u[0] * u[0], u[1] * u[1]) / c.scale;
    return fabs(ends - middle - bend) <= 64 * DBL_EPSILON * (size + fabs(ends) + fabs(middle));
}

/* What solvers go by in place of names is what the formulas say: of a loss without the bit some
 * row shows that it has not what the bit promises. */
TEST(traits_say_what_the_conjugate_is)
{
    enum { FEW = 2000 };
    mgvi_rng rng = mgvi_rng_seed(31);
    FOR_EACH_LOSS(loss)
    {
        const bool quadratic = loss->can & MGVI_QUADRATIC_DUAL, wide = loss->can & MGVI_WIDTH;
        int boxed = 0, bent = 0, rows = 0;
        for (int t = 0; t < FEW; t++) {
            const mgvi_coef c = loss->sample_coef(&rng);
            if (is_open(c))
                continue;
            const double u[2] = {random_dual(loss, c, &rng), random_dual(loss, c, &rng)};
            const double q = loss->can & MGVI_LINEAR_DUAL ? 0 : wide ? c.b : 1;
            boxed += clips_both_ways(loss, c);
            bent += bends_by(loss, c, u, q);
            rows++;
        }
        CHECK_THAT(loss->can & MGVI_BOUNDED ? boxed == rows : boxed == 0, "%s: %d of %d in a box",
                   loss->name, boxed, rows);
        CHECK_THAT(quadratic == (bent == rows), "%s: %d of %d quadratic", loss->name, bent, rows);
        CHECK_THAT(quadratic || !(loss->can & MGVI_LINEAR_DUAL), "%s", loss->name);
    }
}

/* ---- Registry ------------------------------------------------------------------------------- */
TEST(the_registry_finds_what_it_lists)
{
    FOR_EACH_LOSS(loss)
    {
        CHECK(mgvi_loss_find(loss->name) == loss && loss->index == loss_i && *loss->summary);
        CHECK(!!(loss->can & MGVI_GRAD) == (loss->grad != NULL));
        CHECK(!!(loss->can & MGVI_CURV) == (loss->curv != NULL));
        CHECK(!!(loss->can & MGVI_MIRROR) == (loss->mirror != NULL));
        CHECK(loss->value && loss->prox && loss->conj && loss->dual_clip && loss->dual_step);
        CHECK(!(is_hard(loss) && loss->can & (MGVI_GRAD | MGVI_SMOOTH)));
    }
    CHECK(!mgvi_loss_find("") && !mgvi_loss_find("hing") && !mgvi_loss_at(-1));
    CHECK(!mgvi_loss_at(mgvi_loss_count()));
    CHECK(mgvi_loss_find("hinge")->can & MGVI_MARGIN &&
          !(mgvi_loss_find("hinge")->can & MGVI_SMOOTH));
    CHECK(mgvi_loss_find("interval")->can & MGVI_HARD);
}

/* ---- Convex analysis ------------------------------------------------------------------------ */
TEST(fenchel_young_holds_with_equality_at_the_gradient)
{
    mgvi_rng rng = mgvi_rng_seed(1);
    FOR_EACH_LOSS(loss)
    {
        for (int trial = 0; trial < TRIALS; trial++) {
            const mgvi_coef c = loss->sample_coef(&rng);
            double z = random_score(&rng), unit;
            double u = random_dual(loss, c, &rng);
            CHECK_LE(-young_gap(loss, c, z, u, &unit), 4 * unit, SAID, SAY(loss, c, z, u));
            if (loss->grad) {
                u = loss->grad(c, z);
                CHECK_LE(young_gap(loss, c, z, u, &unit), 8 * unit, SAID, SAY(loss, c, z, u));
            }
        }
    }
}

/* sup over z of u z - value(z), by golden section; a hard loss is searched along its projection. */
static double searched_conj(const mgvi_loss_ops *loss, mgvi_coef c, double u)
{
    const double golden = 0.6180339887498949;
    double lo = -300, hi = 300, best = -INFINITY;
    for (int i = 0; i < 120; i++) {
        double z[2] = {hi - golden * (hi - lo), lo + golden * (hi - lo)}, f[2];
        for (int t = 0; t < 2; t++) {
            const double at = is_hard(loss) ? loss->prox(c, z[t], 1) : z[t];
            f[t] = u * at - loss->value(c, at);
            best = fmax(best, f[t]);
        }
        if (f[0] > f[1])
            hi = z[1];
        else
            lo = z[0];
    }
    return best;
}

TEST(conjugate_is_the_supremum)
{
    mgvi_rng rng = mgvi_rng_seed(2);
    FOR_EACH_LOSS(loss)
    {
        for (int trial = 0; trial < 300; trial++) {
            const mgvi_coef c = loss->sample_coef(&rng);
            const double z =
                5 * mgvi_rng_normal(&rng); /* so that the supremum is attained nearby */
            const double u = loss->grad ? loss->grad(c, z) : random_dual(loss, c, &rng);
            const double conj = loss->conj(c, u), unit = c.scale + fabs(conj) + 100 * fabs(u);
            CHECK_NEAR(searched_conj(loss, c, u), conj, 1e-12 * unit, SAID, SAY(loss, c, z, u));
        }
    }
}

/* Fenchel and Young meet there. */
TEST(mirror_is_the_gradient_of_the_conjugate)
{
    FOR_EACH_LOSS(loss)
    {
        mgvi_rng rng = mgvi_rng_seed(12);
        for (int trial = 0; trial < TRIALS && loss->mirror; trial++) {
            const mgvi_coef c = loss->sample_coef(&rng);
            const double u = random_dual(loss, c, &rng);
            double unit;
            if (u == 0 || u == loss->dual_clip(c, -INFINITY))
                continue;
            const double z = loss->mirror(c, u), gap = young_gap(loss, c, z, u, &unit);
            CHECK_NEAR(gap, 0, 50 * unit, SAID, SAY(loss, c, z, u));
        }
    }
}

TEST(dual_clip_is_the_nearest_feasible_point)
{
    mgvi_rng rng = mgvi_rng_seed(3);
    FOR_EACH_LOSS(loss)
    {
        for (int trial = 0; trial < TRIALS; trial++) {
            const mgvi_coef c = loss->sample_coef(&rng);
            const double size = trial % 10 ? c.scale : 1e100;
            const double u = size * 3 * mgvi_rng_normal(&rng), clipped = loss->dual_clip(c, u);
            const double other = random_dual(loss, c, &rng);
            CHECK_THAT(isfinite(loss->conj(c, clipped)), SAID, SAY(loss, c, 0., clipped));
            CHECK(loss->dual_clip(c, clipped) == clipped);
            CHECK_LE(fabs(clipped - u), fabs(other - u), SAID, SAY(loss, c, other, u));
            if (clipped != u) /* no slack: what the clip moves lies outside */
                CHECK_THAT(loss->conj(c, u) == INFINITY, SAID, SAY(loss, c, 0., u));
        }
    }
}

TEST(gradient_lies_between_the_difference_quotients)
{
    mgvi_rng rng = mgvi_rng_seed(4);
    FOR_EACH_LOSS(loss)
    {
        for (int trial = 0; trial < TRIALS && loss->grad; trial++) {
            const mgvi_coef c = loss->sample_coef(&rng);
            const double z = random_score(&rng), g = loss->grad(c, z), here = loss->value(c, z);
            for (double h = 1e-6; h < 10; h *= 10) {
                const double up = loss->value(c, z + h) - here, down = here - loss->value(c, z - h);
                const double noise = 8 * DBL_EPSILON * (here + c.scale + fabs(g) * (1 + fabs(z)));
                CHECK_LE(g * h, up + noise, SAID, SAY(loss, c, z, g));
                CHECK_LE(down - noise, g * h, SAID, SAY(loss, c, z, g));
            }
        }
    }
}

TEST(curvature_is_the_slope_of_the_gradient)
{
    mgvi_rng rng = mgvi_rng_seed(5);
    FOR_EACH_LOSS(loss)
    {
        int compared = 0;
        for (int trial = 0; trial < TRIALS && loss->curv; trial++) {
            const mgvi_coef c = loss->sample_coef(&rng);
            const double z = random_score(&rng), h = 1e-6, g = loss->grad(c, z);
            const double up = (loss->grad(c, z + h) - g) / h, down = (g - loss->grad(c, z - h)) / h;
            const double noise = 1e-8 * (fabs(g) + c.scale) * (1 + fabs(z));
            if (fabs(up - down) > 1e-2 * (up + down) + noise)
                continue; /* a kink of the gradient lies between */
            const double here = loss->curv(c, z);
            CHECK_NEAR((up + down) / 2, here, 1e-4 * here + noise, SAID, SAY(loss, c, z, here));
            compared++;
        }
        CHECK_THAT(!loss->curv || compared > TRIALS / 2, "%s: %d", loss->name, compared);
    }
}

TEST(value_and_conjugate_are_convex)
{
    mgvi_rng rng = mgvi_rng_seed(6);
    FOR_EACH_LOSS(loss)
    {
        for (int trial = 0; trial < TRIALS; trial++) {
            const mgvi_coef c = loss->sample_coef(&rng);
            const double x = random_score(&rng), y = random_score(&rng);
            const double fx = loss->value(c, x), fy = loss->value(c, y);
            CHECK_LE(loss->value(c, (x + y) / 2), (fx + fy) / 2 * (1 + 1e-15) + 1e-14 * c.scale,
                     SAID, SAY(loss, c, x, y));
            const double u = random_dual(loss, c, &rng), v = random_dual(loss, c, &rng);
            const double fu = loss->conj(c, u), fv = loss->conj(c, v);
            CHECK_LE(loss->conj(c, (u + v) / 2),
                     (fu + fv) / 2 + 8 * DBL_EPSILON * (fabs(fu) + fabs(fv) + c.scale), SAID,
                     SAY(loss, c, u, v));
        }
    }
}

/* ---- Prox and dual step --------------------------------------------------------------------- */
TEST(prox_minimises_and_gives_a_subgradient)
{
    mgvi_rng rng = mgvi_rng_seed(7);
    FOR_EACH_LOSS(loss)
    {
        for (int trial = 0; trial < TRIALS; trial++) {
            const mgvi_coef c = loss->sample_coef(&rng);
            const double z = random_score(&rng), step = random_step(&rng);
            const double p = loss->prox(c, z, step);
            const double best = loss->value(c, p) + (p - z) * (p - z) / (2 * step);
            CHECK_THAT(isfinite(best), SAID, SAY(loss, c, z, p));
            for (double h = 1e-6; h < 1e3; h *= 10)
                for (int side = -1; side <= 1; side += 2) {
                    const double v = p + side * h;
                    const double there = loss->value(c, v) + (v - z) * (v - z) / (2 * step);
                    CHECK_LE(best, there * (1 + 1e-12), SAID ", step = %g", SAY(loss, c, z, p),
                             step);
                }
            /* rounding of p moves g by about eps |z| / step */
            const double g = loss->dual_clip(c, (z - p) / step);
            double unit;
            const double gap = young_gap(loss, c, p, g, &unit);
            const double slip = DBL_EPSILON * pow(1 + fabs(z) + fabs(p), 2) / step;
            CHECK_LE(gap, 8 * (unit + slip), SAID ", step = %g", SAY(loss, c, z, p), step);
        }
    }
}

static double dual_objective(const mgvi_loss_ops *loss, mgvi_coef c, double u, double z, double r,
                             double v)
{
    return z * (v - u) - r / 2 * (v - u) * (v - u) - loss->conj(c, v);
}

TEST(dual_step_maximises)
{
    mgvi_rng rng = mgvi_rng_seed(8);
    FOR_EACH_LOSS(loss)
    {
        for (int trial = 0; trial < TRIALS; trial++) {
            const mgvi_coef c = loss->sample_coef(&rng);
            const double u = random_dual(loss, c, &rng), z = random_score(&rng);
            const double r = random_step(&rng), v = loss->dual_step(c, u, z, r);
            CHECK_THAT(loss->dual_clip(c, v) == v, SAID, SAY(loss, c, z, v));
            const double best = dual_objective(loss, c, u, z, r, v);
            const double unit =
                fabs(z * (v - u)) + r * (v - u) * (v - u) + fabs(loss->conj(c, v)) + fabs(v);
            for (double h = 1e-9; h < 10; h *= 10)
                for (int side = -1; side <= 1; side += 2) {
                    const double other = loss->dual_clip(c, v + side * h * c.scale);
                    CHECK_LE(dual_objective(loss, c, u, z, r, other), best + 1e-14 * unit,
                             SAID ", r = %g", SAY(loss, c, z, u), r);
                }
            /* Moreau: the step through the prox; p loses eps of what it is made of. */
            const double p = loss->prox(c, z + r * u, r), through = u + (z - p) / r;
            const double lost = fabs(z) + fabs(p) + r * fabs(u) + 1;
            CHECK_NEAR(v, through, 16 * DBL_EPSILON * (lost / r + fabs(u)), SAID ", r = %g",
                       SAY(loss, c, z, u), r);
        }
    }
}

TEST(dual_step_of_an_empty_row_is_a_derivative)
{
    mgvi_rng rng = mgvi_rng_seed(9);
    FOR_EACH_LOSS(loss)
    {
        for (int trial = 0; trial < TRIALS && !is_hard(loss); trial++) {
            const mgvi_coef c = loss->sample_coef(&rng);
            const double u = random_dual(loss, c, &rng), z = random_score(&rng);
            const double v = loss->dual_step(c, u, z, 0);
            double unit;
            CHECK_LE(young_gap(loss, c, z, v, &unit), 32 * unit, SAID, SAY(loss, c, z, u));
        }
    }
    const mgvi_coef one = {.scale = 1, .a = 2, .b = 3};
    const mgvi_loss_ops *margin = mgvi_loss_find("margin"), *equal = mgvi_loss_find("equal");
    const mgvi_loss_ops *interval = mgvi_loss_find("interval");
    CHECK(margin->dual_step(one, -5, 0, 0) == -INFINITY);
    CHECK(margin->dual_step(one, -5, 1, 0) == -5 && margin->dual_step(one, -5, 2, 0) == 0);
    CHECK(equal->dual_step(one, 7, 2, 0) == 7 && equal->dual_step(one, 7, 3, 0) == INFINITY);
    CHECK(equal->dual_step(one, 7, 1, 0) == -INFINITY);
    CHECK(interval->dual_step(one, 7, 2.5, 0) == 0 && interval->dual_step(one, 7, 3, 0) == 7);
    CHECK(interval->dual_step(one, 7, 2, 0) == 0 && interval->dual_step(one, -7, 2, 0) == -7);
    CHECK(interval->dual_step(one, 7, 1, 0) == -INFINITY);
    CHECK(interval->dual_step(one, 7, 4, 0) == INFINITY);
}

/* ---- Corners -------------------------------------------------------------------------------- */
TEST(extreme_arguments_stay_finite_and_feasible)
{
    static const double zs[] = {0, 1, 1e-300, 1e4, -1e4, 1e8, -1e8};
    static const double rs[] = {1e-300, 1e-30, 1e-8, 1, 1e8, 1e30, 1e200};
    static const double shares[] = {0, 1e-300, 1e-18, 0.3, 1 - 1e-16, 1};
    static const double scales[] = {1e-12, 1, 1e6};
    mgvi_rng rng = mgvi_rng_seed(10);
    FOR_EACH_LOSS(loss)
    {
        for (int trial = 0; trial < 7 * 7 * 6 * 3; trial++) {
            mgvi_coef c = loss->sample_coef(&rng);
            c.scale = scales[trial % 3];
            const double u = loss->dual_clip(c, -c.scale * shares[trial / 3 % 6]);
            const double z = zs[trial / 18 % 7], r = rs[trial / 18 / 7];
            const double v = loss->dual_step(c, u, z, r), p = loss->prox(c, z, r);
            CHECK_THAT(!isnan(v) && loss->dual_clip(c, v) == v, SAID ", r = %g", SAY(loss, c, z, u),
                       r);
            CHECK_THAT(isfinite(v) || is_hard(loss), SAID ", r = %g", SAY(loss, c, z, u), r);
            CHECK_THAT(isfinite(p) && (!is_hard(loss) || loss->value(c, p) == 0), SAID ", r = %g",
                       SAY(loss, c, z, u), r);
        }
    }
}

TEST(weight_zero_means_no_row)
{
    mgvi_rng rng = mgvi_rng_seed(11);
    FOR_EACH_LOSS(loss)
    {
        for (int trial = 0; trial < 300; trial++) {
            mgvi_coef c = loss->sample_coef(&rng);
            c.scale = 0;
            const double z = trial == 0 ? -1e4 : random_score(&rng), step = random_step(&rng);
            CHECK(loss->value(c, z) == 0);
            CHECK(loss->conj(c, 0) == 0 && loss->conj(c, -0.0) == 0);
            CHECK(loss->conj(c, 1e-9) == INFINITY && loss->conj(c, -1e-9) == INFINITY);
            CHECK(loss->dual_clip(c, z) == 0 && loss->dual_clip(c, -z) == 0);
            CHECK(loss->dual_step(c, 0, z, step) == 0 && loss->dual_step(c, 0, z, 0) == 0);
            CHECK_NEAR(loss->prox(c, z, step), z, 4 * DBL_EPSILON * (1 + fabs(z) + fabs(c.b)), SAID,
                       SAY(loss, c, z, step));
            CHECK(!loss->grad || loss->grad(c, z) == 0);
            CHECK(!loss->curv || loss->curv(c, z) == 0);
        }
    }
}

TEST(nan_is_never_hidden)
{
    mgvi_rng rng = mgvi_rng_seed(12);
    FOR_EACH_LOSS(loss)
    {
        const mgvi_coef c = loss->sample_coef(&rng);
        CHECK_THAT(!isfinite(loss->value(c, NAN)), "%s", loss->name);
        CHECK_THAT(!isfinite(loss->conj(c, NAN)), "%s", loss->name);
        CHECK_THAT(isnan(loss->dual_step(c, 0, NAN, 1)), "%s", loss->name);
        CHECK_THAT(isnan(loss->dual_step(c, NAN, 0, 1)), "%s", loss->name);
        CHECK_THAT(isnan(loss->prox(c, NAN, 1)) || loss == mgvi_loss_find("equal"), "%s",
                   loss->name);
    }
}

TEST(a_row_of_weight_two_is_the_row_twice)
{
    mgvi_rng rng = mgvi_rng_seed(13);
    FOR_EACH_LOSS(loss)
    {
        for (int trial = 0; trial < 300; trial++) {
            const mgvi_coef c = loss->sample_coef(&rng);
            mgvi_coef twice = c;
            twice.scale *= 2;
            const double z = random_score(&rng), u = random_dual(loss, c, &rng);
            CHECK(loss->value(twice, z) == 2 * loss->value(c, z));
            CHECK_NEAR(loss->conj(twice, 2 * u), 2 * loss->conj(c, u),
                       1e-14 * (fabs(loss->conj(c, u)) + fabs(u)), SAID, SAY(loss, c, z, u));
        }
    }
}

/* 50-digit arithmetic, rounded. */
typedef struct reference {
    const char *loss;
    double scale, width, u, z, r, dual_step, prox; /* prox of z with step r */
} reference;
static const reference references[] = {
#include "reference_steps.inc"
};

TEST(iterated_formulas_reach_machine_precision)
{
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        const reference *t = &references[i];
        const mgvi_loss_ops *loss = mgvi_loss_find(t->loss);
        const mgvi_coef c = {.scale = t->scale, .b = t->width};
        const double step = loss->dual_step(c, t->u, t->z, t->r);
        const double prox = loss->prox(c, t->z, t->r);
        /* a tail e^-p turns the error eps |p| of p into a relative one */
        const double lost = 8 + fabs(log(fabs(t->dual_step) / t->scale));
        CHECK_NEAR(step, t->dual_step, DBL_EPSILON * lost * fabs(t->dual_step), SAID ", r = %g",
                   SAY(loss, c, t->z, t->u), t->r);
        CHECK_NEAR(prox, t->prox, 8 * DBL_EPSILON * fmax(1, fabs(t->prox)), SAID ", r = %g",
                   SAY(loss, c, t->z, t->u), t->r);
    }
}

int main(void)
{
    return RUN(
        traits_say_what_the_conjugate_is, the_registry_finds_what_it_lists,
        fenchel_young_holds_with_equality_at_the_gradient, conjugate_is_the_supremum,
        mirror_is_the_gradient_of_the_conjugate, dual_clip_is_the_nearest_feasible_point,
        gradient_lies_between_the_difference_quotients, curvature_is_the_slope_of_the_gradient,
        value_and_conjugate_are_convex, prox_minimises_and_gives_a_subgradient, dual_step_maximises,
        dual_step_of_an_empty_row_is_a_derivative, extreme_arguments_stay_finite_and_feasible,
        weight_zero_means_no_row, nan_is_never_hidden, a_row_of_weight_two_is_the_row_twice,
        iterated_formulas_reach_machine_precision);
}
