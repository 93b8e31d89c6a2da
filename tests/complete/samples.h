/* samples.h - generated matrices of low rank, some of their entries seen. */
#ifndef MGV_TESTS_COMPLETE_SAMPLES_H
#define MGV_TESTS_COMPLETE_SAMPLES_H

#include "base/rng.h"
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct sample {
    int64_t rows, cols, count;
    int64_t *row, *col;
    double *value;
    double *truth; /* rows x cols */
} sample;

/* Entries of U V' (standard normal, divided by the root of the rank) with noise; each is seen with
 * the probability `seen`. */
static inline sample sample_new(uint64_t seed, int64_t rows, int64_t cols, int64_t rank,
                                double seen, double noise)
{
    mgvi_rng rng = mgvi_rng_seed(seed);
    sample s = {.rows = rows, .cols = cols};
    const size_t room = (size_t)(rows * cols);
    double *U = malloc((size_t)((rows + cols) * rank + 1) * sizeof *U), *V = U + rows * rank;
    s.row = malloc(room * sizeof *s.row);
    s.col = malloc(room * sizeof *s.col);
    s.value = malloc(room * sizeof *s.value);
    s.truth = calloc(room, sizeof *s.truth);
    for (int64_t k = 0; k < (rows + cols) * rank; k++)
        U[k] = mgvi_rng_normal(&rng) / pow((double)rank, 0.25);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            double *x = &s.truth[i * cols + j];
            for (int64_t k = 0; k < rank; k++)
                *x += U[i * rank + k] * V[j * rank + k];
            if (mgvi_rng_uniform(&rng) >= seen)
                continue;
            s.row[s.count] = i;
            s.col[s.count] = j;
            s.value[s.count++] = *x + noise * mgvi_rng_normal(&rng);
        }
    free(U);
    return s;
}

static inline void sample_free(sample *s)
{
    free(s->row);
    free(s->col);
    free(s->value);
    free(s->truth);
}

static inline mgv_triples *sample_triples(mgv_ctx *ctx, const sample *s)
{
    mgv_triples *t;
    CHECK_OK(ctx, mgv_triples_new(ctx, s->count, s->row, s->col, s->value, s->rows, s->cols, &t));
    return t;
}

/* A completion of the sample under "name=value name=value"; fails the test where there is none. */
static inline mgv_completion *sample_complete(mgv_ctx *ctx, const sample *s, const char *options,
                                              mgv_completion_info *info)
{
    mgv_completion *c;
    mgv_settings *settings;
    char name[64], value[64];
    int used;
    CHECK_OK(ctx, mgv_settings_new(ctx, &settings));
    for (; sscanf(options, " %63[^=]=%63[^ ]%n", name, value, &used) == 2; options += used)
        CHECK_OK(ctx, mgv_settings_set(ctx, settings, name, value));
    mgv_triples *t = sample_triples(ctx, s);
    CHECK_OK(ctx, mgv_completion_run(ctx, t, settings, &c));
    mgv_triples_free(ctx, t);
    mgv_settings_free(ctx, settings);
    info->size = sizeof *info;
    mgv_completion_describe(c, info);
    return c;
}

static inline double completed(const mgv_completion_info *c, int64_t i, int64_t j)
{
    double x = c->biases ? c->row_bias[i] + c->col_bias[j] : 0;
    for (int64_t k = 0; k < c->rank; k++)
        x += c->left[i * c->rank + k] * c->right[j * c->rank + k];
    return x;
}

/* Root mean squared distance from the truth, all entries. */
static inline double distance(const mgv_completion_info *c, const sample *s)
{
    double sum = 0;
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t j = 0; j < s->cols; j++)
            sum += pow(completed(c, i, j) - s->truth[i * s->cols + j], 2);
    return sqrt(sum / (double)(s->rows * s->cols));
}
#endif
