/* registry.c - the tables of penalties made from list.h. */
#include "penalty/registry.h"

#include "penalty/list.h"

#include <stddef.h>
#include <string.h>

/* Random legal coefficients. Scales spread over the decades that data and strengths produce. */
static real random_scale(mgvi_rng *rng) { return pow(10, 6 * mgvi_rng_uniform(rng) - 4); }

mgvi_coef mgvi_penalty_sample_scale(mgvi_rng *rng)
{
    return (mgvi_coef){.scale = random_scale(rng)};
}
#define scale_only mgvi_penalty_sample_scale

static mgvi_coef two_scales(mgvi_rng *rng)
{
    const real scale = random_scale(rng);
    return (mgvi_coef){.scale = scale, .a = random_scale(rng)};
}

static mgvi_coef power(mgvi_rng *rng)
{
    const real scale = random_scale(rng), p = 1.05 + mgvi_rng_uniform(rng);
    return (mgvi_coef){.scale = scale, .a = r_min(2, p)};
}

static mgvi_coef bounds(mgvi_rng *rng)
{
    const real low = 2 * mgvi_rng_normal(rng), width = 2 * mgvi_rng_uniform(rng);
    const uint32_t open = mgvi_rng_below(rng, 4); /* bit 0: no lower end; bit 1: no upper end */
    return (mgvi_coef){
        .scale = 1, .a = open & 1 ? -R_INF : low, .b = open & 2 ? R_INF : low + width};
}

#define HAS(name, bit, function) ((unsigned)name##_can & (bit) ? name##_##function : NULL)
#define ENTRY(NAME, SAMPLE, SUMMARY)                                                               \
    {.name = #NAME,                                                                                \
     .summary = SUMMARY,                                                                           \
     .index = index_of_##NAME,                                                                     \
     .can = (unsigned)NAME##_can | MGVI_SEPARABLE,                                                 \
     .value = HAS(NAME, MGVI_VALUE, value),                                                        \
     .grad = HAS(NAME, MGVI_GRAD, grad),                                                           \
     .curv = HAS(NAME, MGVI_CURV, curv),                                                           \
     .prox = HAS(NAME, MGVI_PROX, prox),                                                           \
     .kkt = HAS(NAME, MGVI_KKT, kkt),                                                              \
     .conj = HAS(NAME, MGVI_CONJ, conj),                                                           \
     .mirror = HAS(NAME, MGVI_MIRROR, mirror),                                                     \
     .dual_clip = HAS(NAME, MGVI_DUAL_CLIP, dual_clip),                                            \
     .sample_coef = SAMPLE},
#define INDEX(NAME, SAMPLE, SUMMARY) index_of_##NAME,
#define DECLARE(NAME) extern const mgvi_penalty_ops mgvi_penalty_##NAME;
#define POINTER(NAME) &mgvi_penalty_##NAME,

enum { MGVI_PENALTIES(INDEX) separable_count };
static const mgvi_penalty_ops separable[separable_count] = {MGVI_PENALTIES(ENTRY)};
MGVI_WHOLE_PENALTIES(DECLARE)
static const mgvi_penalty_ops *const whole[] = {MGVI_WHOLE_PENALTIES(POINTER)};
enum { whole_count = sizeof whole / sizeof *whole };

int mgvi_penalty_count(void) { return separable_count + whole_count; }

const mgvi_penalty_ops *mgvi_penalty_at(int index)
{
    if (index < 0 || index >= mgvi_penalty_count())
        return NULL;
    return index < separable_count ? &separable[index] : whole[index - separable_count];
}

const mgvi_penalty_ops *mgvi_penalty_find(const char *name)
{
    for (int i = 0; i < mgvi_penalty_count(); i++)
        if (strcmp(mgvi_penalty_at(i)->name, name) == 0)
            return mgvi_penalty_at(i);
    return NULL;
}
