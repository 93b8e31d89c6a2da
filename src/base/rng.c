/* rng.c - Philox 4x32-10 and what is drawn from it. */
#include "base/rng.h"

#include <math.h>

void mgvi_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

mgvi_rng mgvi_rng_stream(uint64_t seed, uint64_t stream)
{
    return (mgvi_rng){.seed = seed, .stream = stream};
}

mgvi_rng mgvi_rng_seed(uint64_t seed) { return mgvi_rng_stream(seed, 0); }

uint32_t mgvi_rng_u32(mgvi_rng *rng)
{
    if (rng->left == 0) {
        const uint32_t counter[4] = {(uint32_t)rng->counter, (uint32_t)(rng->counter >> 32),
                                     (uint32_t)rng->stream, (uint32_t)(rng->stream >> 32)};
        const uint32_t key[2] = {(uint32_t)rng->seed, (uint32_t)(rng->seed >> 32)};
        mgvi_philox(counter, key, rng->word);
        rng->counter++;
        rng->left = 4;
    }
    return rng->word[--rng->left];
}

uint64_t mgvi_rng_u64(mgvi_rng *rng)
{
    const uint64_t high = mgvi_rng_u32(rng);
    return high << 32 | mgvi_rng_u32(rng);
}

/* Lemire 2019: multiply, and reject the few low products that would be drawn once too often. */
uint32_t mgvi_rng_below(mgvi_rng *rng, uint32_t bound)
{
    uint64_t m = (uint64_t)mgvi_rng_u32(rng) * bound;
    if ((uint32_t)m < bound) {
        const uint32_t reject = -bound % bound;
        while ((uint32_t)m < reject)
            m = (uint64_t)mgvi_rng_u32(rng) * bound;
    }
    return (uint32_t)(m >> 32);
}

double mgvi_rng_uniform(mgvi_rng *rng) { return (double)(mgvi_rng_u64(rng) >> 11) * 0x1p-53; }

double mgvi_rng_normal(mgvi_rng *rng)
{
    const double radius = sqrt(-2 * log1p(-mgvi_rng_uniform(rng)));
    return radius * cos(6.283185307179586477 * mgvi_rng_uniform(rng));
}

/* Shuffles are part of inner loops: a linear congruential generator (Knuth's MMIX constants),
 * started afresh from 64 random bits, gives one number per item; its high half is good enough for
 * an order. Lemire's product without the rejection: the bias is below count/2^32. */
void mgvi_rng_shuffle(mgvi_rng *rng, int32_t *items, int64_t count)
{
    uint64_t state = mgvi_rng_u64(rng);
    for (int64_t i = count - 1; i > 0; i--) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const int64_t j = (int64_t)(((state >> 32) * (uint64_t)(i + 1)) >> 32);
        const int32_t t = items[i];
        items[i] = items[j];
        items[j] = t;
    }
}
