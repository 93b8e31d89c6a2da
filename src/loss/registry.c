/* registry.c - the table of losses made from list.h. */
#include "loss/registry.h"

#include "loss/list.h"

#include <stddef.h>
#include <string.h>

/* Random legal coefficients. Scales spread over the decades that 1/n, C and row weights produce. */
static real random_scale(mgvi_rng *rng) { return pow(10, 8 * mgvi_rng_uniform(rng) - 5); }

static mgvi_coef scale_only(mgvi_rng *rng) { return (mgvi_coef){.scale = random_scale(rng)}; }

static mgvi_coef width(mgvi_rng *rng)
{
    const real scale = random_scale(rng);
    return (mgvi_coef){.scale = scale, .b = pow(10, 4 * mgvi_rng_uniform(rng) - 3)};
}

static mgvi_coef target(mgvi_rng *rng)
{
    mgvi_coef c = width(rng);
    c.a = 3 * mgvi_rng_normal(rng);
    return c;
}

static mgvi_coef bounds(mgvi_rng *rng)
{
    mgvi_coef c = target(rng);
    const uint32_t open = mgvi_rng_below(rng, 4); /* bit 0: no lower end; bit 1: no upper end */
    c.b = open & 2 ? R_INF : c.a + c.b;
    c.a = open & 1 ? -R_INF : c.a;
    return c;
}

#define HAS(name, bit, function) ((unsigned)name##_can & (bit) ? name##_##function : NULL)
#define ENTRY(NAME, SAMPLE, SUMMARY)                                                               \
    {.name = #NAME,                                                                                \
     .summary = SUMMARY,                                                                           \
     .index = index_of_##NAME,                                                                     \
     .can = NAME##_can,                                                                            \
     .value = HAS(NAME, MGVI_VALUE, value),                                                        \
     .grad = HAS(NAME, MGVI_GRAD, grad),                                                           \
     .curv = HAS(NAME, MGVI_CURV, curv),                                                           \
     .prox = HAS(NAME, MGVI_PROX, prox),                                                           \
     .conj = HAS(NAME, MGVI_CONJ, conj),                                                           \
     .mirror = HAS(NAME, MGVI_MIRROR, mirror),                                                     \
     .dual_clip = HAS(NAME, MGVI_DUAL_CLIP, dual_clip),                                            \
     .dual_step = NAME##_dual_step,                                                                \
     .sample_coef = SAMPLE},
#define INDEX(NAME, SAMPLE, SUMMARY) index_of_##NAME,

enum { MGVI_LOSSES(INDEX) scalar_count };
static const mgvi_loss_ops scalar[scalar_count] = {MGVI_LOSSES(ENTRY)};

#define DECLARE(NAME) extern const mgvi_loss_ops mgvi_loss_##NAME;
#define POINTER(NAME) &mgvi_loss_##NAME,
MGVI_JOINT_LOSSES(DECLARE)
static const mgvi_loss_ops *const joint[] = {MGVI_JOINT_LOSSES(POINTER)};
enum { joint_count = sizeof joint / sizeof *joint };

int mgvi_loss_count(void) { return scalar_count + joint_count; }

const mgvi_loss_ops *mgvi_loss_at(int index)
{
    if (index < 0 || index >= mgvi_loss_count())
        return NULL;
    return index < scalar_count ? &scalar[index] : joint[index - scalar_count];
}

const mgvi_loss_ops *mgvi_loss_find(const char *name)
{
    for (int i = 0; i < mgvi_loss_count(); i++)
        if (strcmp(mgvi_loss_at(i)->name, name) == 0)
            return mgvi_loss_at(i);
    return NULL;
}

/* u_c/s = p_c - 1 is told apart from -1 + p_c, whose digits are those of 1: of rows that are nearly
 * certain the others' shares are all there is. */
void mgvi_joint_clip(double s, double *u, int32_t k, int32_t c)
{
    const double own = r_ratio(u[c], s);
    double others = 0;
    for (int32_t j = 0; j < k; j++) {
        u[j] = j == c ? 0 : r_max(r_ratio(u[j], s), 0);
        others += u[j];
    }
    const double sum = own > -1 ? 1 + (own + others) : others;
    const bool whole = sum > 0 && isfinite(sum);
    for (int32_t j = 0; j < k; j++) {
        const double share = j == c ? -others : u[j];
        u[j] = whole ? s * (share / sum) : 0;
    }
}
