/* test_joint.c - laws of the losses of many classes: the scores of a row, and its class. */
#include "check.h"

#include "loss/registry.h"

#include <math.h>
#include <string.h>

enum { TRIALS = 4000, MOST = 7 };

#define FOR_EACH_JOINT(loss)                                                                       \
    for (int loss##_i = 0; loss##_i < mgvi_loss_count(); loss##_i++)                               \
        for (const mgvi_loss_ops *loss = mgvi_loss_at(loss##_i); loss && loss->joint; loss = NULL)

typedef struct row {
    double s, z[MOST];
    int32_t k, c;
} row;

static row random_row(mgvi_rng *rng)
{
    row r = {.s = pow(10, 4 * mgvi_rng_uniform(rng) - 3),
             .k = 2 + (int32_t)mgvi_rng_below(rng, MOST - 1)};
    const double size = pow(10, 4 * mgvi_rng_uniform(rng) - 2);
    r.c = (int32_t)mgvi_rng_below(rng, (uint32_t)r.k);
    for (int32_t j = 0; j < r.k; j++)
        r.z[j] = size * mgvi_rng_normal(rng);
    return r;
}

static double inner(const double *x, const double *y, int32_t k)
{
    double sum = 0;
    for (int32_t j = 0; j < k; j++)
        sum += x[j] * y[j];
    return sum;
}

static double size_of(const row *r)
{
    double most = 1;
    for (int32_t j = 0; j < r->k; j++)
        most = fmax(most, fabs(r->z[j]));
    return r->s * most;
}

TEST(there_are_losses_of_many_classes)
{
    int count = 0;
    FOR_EACH_JOINT(loss)
    {
        CHECK((loss->can & MGVI_JOINT) && mgvi_loss_find(loss->name) == loss && !loss->value);
        count++;
    }
    CHECK(count >= 2);
}

/* value + conj >= <z, u> for every u of the domain, with equality for a subgradient. */
TEST(fenchel_and_young_agree)
{
    mgvi_rng rng = mgvi_rng_seed(3);
    FOR_EACH_JOINT(loss)
    for (int t = 0; t < TRIALS; t++) {
        const row r = random_row(&rng), other = random_row(&rng);
        double u[MOST];
        const double value = loss->joint->value(r.s, r.z, r.k, r.c);
        loss->joint->grad(r.s, r.z, r.k, r.c, u);
        CHECK_NEAR(value + loss->joint->conj(r.s, u, r.k, r.c), inner(r.z, u, r.k),
                   1e-12 * size_of(&r), "%s", loss->name);
        memcpy(u, other.z, sizeof u);
        mgvi_joint_clip(r.s, u, r.k, r.c);
        CHECK_LE(inner(r.z, u, r.k) - value - loss->joint->conj(r.s, u, r.k, r.c),
                 1e-12 * size_of(&r), "%s", loss->name);
    }
}

/* The gradient of a smooth one against differences of the value. */
TEST(gradients_are_slopes)
{
    mgvi_rng rng = mgvi_rng_seed(4);
    FOR_EACH_JOINT(loss)
    for (int t = 0; t < TRIALS && (loss->can & MGVI_SMOOTH); t++) {
        row r = random_row(&rng);
        double u[MOST];
        loss->joint->grad(r.s, r.z, r.k, r.c, u);
        for (int32_t j = 0; j < r.k; j++) {
            const double z = r.z[j], h = 1e-5;
            r.z[j] = z + h;
            const double above = loss->joint->value(r.s, r.z, r.k, r.c);
            r.z[j] = z - h;
            const double below = loss->joint->value(r.s, r.z, r.k, r.c);
            r.z[j] = z;
            CHECK_NEAR(u[j], (above - below) / (2 * h), 1e-8 * size_of(&r), "%s", loss->name);
        }
    }
}

/* Into the domain, and no further: a point of it stays. */
TEST(clipping_ends_in_the_domain)
{
    mgvi_rng rng = mgvi_rng_seed(5);
    for (int t = 0; t < TRIALS; t++) {
        const row r = random_row(&rng);
        double u[MOST], again[MOST], sum = 0;
        memcpy(u, r.z, sizeof u);
        mgvi_joint_clip(r.s, u, r.k, r.c);
        memcpy(again, u, sizeof u);
        mgvi_joint_clip(r.s, again, r.k, r.c);
        for (int32_t j = 0; j < r.k; j++) {
            const double p = u[j] / r.s + (j == r.c);
            CHECK(p >= -1e-15 && p <= 1 + 1e-15);
            sum += p;
            CHECK_NEAR(again[j], u[j], 1e-14 * r.s, "clipped twice");
        }
        CHECK_NEAR(sum, 1, 1e-14, "sum of p");
    }
    double nothing[2] = {3, -4};
    mgvi_joint_clip(0, nothing, 2, 1);
    CHECK(nothing[0] == 0 && nothing[1] == 0);
}

/* The own class's slope is minus the others', to their digits and not those of the weight. */
TEST(nearly_certain_rows_keep_their_digits)
{
    mgvi_rng rng = mgvi_rng_seed(77);
    for (int trial = 0; trial < 1000; trial++) {
        double z[5], u[5], others = 0;
        const int32_t c = (int32_t)mgvi_rng_below(&rng, 5);
        for (int j = 0; j < 5; j++)
            z[j] = mgvi_rng_normal(&rng) + (j == c ? 5 + 400 * mgvi_rng_uniform(&rng) : 0);
        mgvi_loss_find("softmax")->joint->grad(1.0 / 150, z, 5, c, u);
        for (int round = 0; round < 2; round++) {
            others = 0;
            for (int j = 0; j < 5; j++)
                others += j == c ? 0 : u[j];
            CHECK_NEAR(u[c], -others, 1e-15 * others, "trial %d, round %d", trial, round);
            CHECK(others > 0);
            mgvi_joint_clip(1.0 / 150, u, 5, c); /* a point of the domain stays */
        }
    }
}

int main(void)
{
    return RUN(nearly_certain_rows_keep_their_digits, there_are_losses_of_many_classes,
               fenchel_and_young_agree, gradients_are_slopes, clipping_ends_in_the_domain);
}
