/* base/rng.h - counter-based random numbers: Philox 4x32-10 (Salmon et al., SC 2011).
 * The n-th draw is a function of (seed, stream, n): a generator is three numbers, copied, saved and
 * resumed with the run, and streams never overlap. */
#ifndef MGVI_BASE_RNG_H
#define MGVI_BASE_RNG_H

#include <stdint.h>

typedef struct mgvi_rng {
    uint64_t seed, stream, counter; /* counter: blocks of four words drawn */
    uint32_t word[4];
    int32_t left; /* words of `word` not yet handed out */
} mgvi_rng;

/* One block: `out` = Philox(counter, key). */
void mgvi_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

mgvi_rng mgvi_rng_seed(uint64_t seed);
mgvi_rng mgvi_rng_stream(uint64_t seed, uint64_t stream);
uint32_t mgvi_rng_u32(mgvi_rng *rng);
uint64_t mgvi_rng_u64(mgvi_rng *rng);
uint32_t mgvi_rng_below(mgvi_rng *rng, uint32_t bound); /* unbiased, bound >= 1 */
double mgvi_rng_uniform(mgvi_rng *rng);                 /* in [0, 1), 53 bits */
double mgvi_rng_normal(mgvi_rng *rng);
/* The same bits on every machine, for data that others make again; some three times the work. */
double mgvi_rng_exact_normal(mgvi_rng *rng);
/* x with Phi(x) = p, 0 < p < 1: what it is made from. */
double mgvi_normal_quantile(double p);
/* Puts items[0..count) into random order (Fisher-Yates). */
void mgvi_rng_shuffle(mgvi_rng *rng, int32_t *items, int64_t count);
#endif
