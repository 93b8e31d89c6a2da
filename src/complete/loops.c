/* loops.c - the loops of loops.h (simd/isa.h). */
#include "complete/loops.h"

#include "simd/isa.h"

#include <string.h>

enum { LANES = MGVI_FACTOR_LANES };
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

typedef double unaligned
    __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));

/* As macros: such vectors cannot be handed to functions on processors without them. */
#define LOAD(x) (*(const unaligned *)(x))
#define SUM(v) (((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])))

static void entry_values(const double *left, const double *right, int64_t width, const int32_t *col,
                         int64_t count, double *out)
{
    for (int64_t t = 0; t < count; t++) {
        const double *x = right + col[t] * width;
        lanes s = {0};
        for (int64_t a = 0; a < width; a += LANES)
            s += LOAD(left + a) * LOAD(x + a);
        out[t] = SUM(s);
    }
}

/* One LANES x LANES block of G: rows from p, columns from q. The block stays in registers. */
static inline __attribute__((always_inline)) void gram_block(const double *right, int64_t width,
                                                             const int32_t *idx, int64_t count,
                                                             int64_t p, int64_t q, double *G)
{
    lanes acc[LANES];
    for (int a = 0; a < LANES; a++)
        memcpy(&acc[a], G + (p + a) * width + q, sizeof acc[a]);
    for (int64_t t = 0; t < count; t++) {
        const double *x = right + idx[t] * width;
        const lanes y = LOAD(x + q);
        for (int a = 0; a < LANES; a++)
            acc[a] += x[p + a] * y;
    }
    for (int a = 0; a < LANES; a++)
        memcpy(G + (p + a) * width + q, &acc[a], sizeof acc[a]);
}

static void normal_equations(const double *right, int64_t width, const int32_t *idx,
                             const double *b, int64_t count, double *G, double *g)
{
    for (int64_t p = 0; p < width; p += LANES) {
        lanes s;
        memcpy(&s, g + p, sizeof s);
        for (int64_t t = 0; t < count; t++)
            s += b[t] * LOAD(right + idx[t] * width + p);
        memcpy(g + p, &s, sizeof s);
        for (int64_t q = p; q < width; q += LANES)
            gram_block(right, width, idx, count, p, q, G);
    }
}

const mgvi_complete_loops MGVI_OF_ISA(mgvi_complete) = {.entry_values = entry_values,
                                                        .normal_equations = normal_equations};
