/* generate.h - tall two-class sets of float32, a constant column last, classes that overlap. */
#ifndef BENCH_GENERATE_H
#define BENCH_GENERATE_H

#include "base/rng.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct table {
    int64_t n, d; /* d columns and the constant one */
    float *X;     /* n x (d + 1) */
    double *y;    /* -1 or 1 */
} table;

static inline table table_new(int64_t n, int64_t d)
{
    table t = {n, d, calloc((size_t)(n * (d + 1)), sizeof(float)),
               malloc((size_t)n * sizeof(double))};
    for (int64_t i = 0; i < n; i++)
        t.X[i * (d + 1) + d] = 1;
    return t;
}

static inline float *table_row(const table *t, int64_t i) { return t->X + i * (t->d + 1); }

/* Columns of mean 0 and variance 1. */
static inline void table_standardise(table *t)
{
    double *mean = calloc((size_t)t->d, sizeof *mean), *scale = calloc((size_t)t->d, sizeof *scale);
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t j = 0; j < t->d; j++)
            mean[j] += table_row(t, i)[j] / (double)t->n;
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t j = 0; j < t->d; j++)
            scale[j] += pow(table_row(t, i)[j] - mean[j], 2) / (double)t->n;
    for (int64_t j = 0; j < t->d; j++)
        scale[j] = scale[j] > 0 ? 1 / sqrt(scale[j]) : 1;
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t j = 0; j < t->d; j++)
            table_row(t, i)[j] = (float)((table_row(t, i)[j] - mean[j]) * scale[j]);
    free(mean);
    free(scale);
}

/* One of `count` categories: rank k has weight exp(-k/fade) where it likes the place, centre[k],
 * which is half as wide as the places are spread. */
static inline int64_t draw_category(mgvi_rng *rng, int64_t count, double fade, const double *centre,
                                    double place)
{
    int64_t best = 0;
    double highest = -INFINITY;
    for (int64_t k = 0; k < count; k++) {
        const double away = place - centre[k], gumbel = -log(-log(mgvi_rng_uniform(rng) + 1e-300));
        const double score = gumbel - (double)k / fade - 2 * away * away;
        if (score > highest) {
            highest = score;
            best = k;
        }
    }
    return best;
}

/* The light on a slope, 0 to 254, from a sun in direction `from`, `low` radians from the zenith. */
static inline double hillshade(double aspect, double slope, double from, double low)
{
    const double light = cos(low) * cos(slope) + sin(low) * sin(slope) * cos(from - aspect);
    return 254 * fmax(0, light);
}

/* As covtype is made. Ten numbers: elevation, aspect, slope, distances to water (along, up), roads
 * and fires, and the light at three hours, which follows from aspect and slope; the area (one of 4)
 * and soil (one of 40), which depend on the elevation, one-hot, the soils' frequencies falling from
 * a fifth of the rows to a handful of rows as covtype's do; standardised. The class, as that of the
 * commonest tree, depends on elevation (not quite as a plane can), aspect, area, soil and roads,
 * and on chance: about a quarter of the rows are on the wrong side of the best plane. */
static inline table table_forest(int64_t n, uint64_t seed)
{
    enum { NUMBERS = 10, AREAS = 4, SOILS = 40, GROUPS = AREAS + SOILS };
    static const double TURN = 6.283185307179586;
    table t = table_new(n, NUMBERS + GROUPS);
    mgvi_rng rng = mgvi_rng_seed(seed);
    double centre[GROUPS], effect[GROUPS];
    for (int k = 0; k < GROUPS; k++) {
        centre[k] = mgvi_rng_normal(&rng);
        effect[k] = 0.8 * mgvi_rng_normal(&rng);
    }
    for (int64_t i = 0; i < n; i++) {
        float *row = table_row(&t, i);
        const double height = mgvi_rng_normal(&rng), aspect = TURN * mgvi_rng_uniform(&rng);
        const double slope = 0.12 * hypot(mgvi_rng_normal(&rng), 1 + mgvi_rng_normal(&rng));
        const double water = -270 * log(mgvi_rng_uniform(&rng) + 1e-12);
        const double road = -2350 * exp(0.4 * height) * log(mgvi_rng_uniform(&rng) + 1e-12);
        const double fire = -1980 * exp(0.2 * height) * log(mgvi_rng_uniform(&rng) + 1e-12);
        const double numbers[NUMBERS] = {2959 + 280 * height,
                                         aspect * 360 / TURN,
                                         slope * 360 / TURN,
                                         water,
                                         water * slope * (0.6 + 0.5 * mgvi_rng_normal(&rng)),
                                         road,
                                         hillshade(aspect, slope, 0.3 * TURN, 0.6),
                                         hillshade(aspect, slope, 0.5 * TURN, 0.5),
                                         hillshade(aspect, slope, 0.7 * TURN, 0.8),
                                         fire};
        for (int j = 0; j < NUMBERS; j++)
            row[j] = (float)numbers[j];
        const int64_t area = draw_category(&rng, AREAS, 1.2, centre, height);
        const int64_t soil = AREAS + draw_category(&rng, SOILS, 4, centre + AREAS, height);
        row[NUMBERS + area] = row[NUMBERS + soil] = 1;
        const double score = 0.2 * (1 - height * height) - 1.5 * height + effect[area] +
                             effect[soil] + 0.3 * log(road / 2350 + 0.4) + cos(aspect) * slope;
        t.y[i] = score + mgvi_rng_normal(&rng) > 0.7 ? 1 : -1;
    }
    table_standardise(&t);
    return t;
}

typedef enum kind { GAUSSIAN, CORRELATED, HEAVY_TAILS, ONE_HOT, RARE_CLASS, UNSCALED, KINDS } kind;
static const char *const kind_names[] = {"gaussian",     "correlated", "heavy tails",
                                         "one-hot only", "rare class", "unscaled"};

static inline void fill_row(mgvi_rng *rng, kind k, int64_t d, float *row)
{
    enum { CATEGORIES = 9 };
    double level = 0;
    for (int64_t j = 0; j < d; j++) {
        const double z = mgvi_rng_normal(rng);
        level = 0.95 * level + 0.31 * z; /* neighbours correlate by 0.95 */
        row[j] = (float)(k == CORRELATED ? level
                         : k == HEAVY_TAILS
                             ? z / sqrt(0.1 + 0.9 * mgvi_rng_uniform(rng) * mgvi_rng_uniform(rng))
                         : k == ONE_HOT  ? 0
                         : k == UNSCALED ? z * pow(10, (double)(j % 6) - 2)
                                         : z);
    }
    for (int64_t j = 0; k == ONE_HOT && j + CATEGORIES <= d; j += CATEGORIES) {
        const double e = -1.5 * log(mgvi_rng_uniform(rng) + 1e-300);
        row[j + (e < CATEGORIES - 1 ? (int64_t)e : CATEGORIES - 1)] = 1;
    }
}

/* Columns drawn in one way; the class is a plane's side, with noise as large as the score (a rare
 * class: beyond two standard deviations of it). */
static inline table table_of_kind(kind k, int64_t n, int64_t d, uint64_t seed)
{
    table t = table_new(n, d);
    mgvi_rng rng = mgvi_rng_seed(seed);
    double *effect = malloc((size_t)d * sizeof *effect), mean = 0, square = 0;
    for (int64_t j = 0; j < d; j++)
        effect[j] = mgvi_rng_normal(&rng) / (k == UNSCALED ? pow(10, (double)(j % 6) - 2) : 1);
    for (int64_t i = 0; i < n; i++) {
        float *row = table_row(&t, i);
        fill_row(&rng, k, d, row);
        t.y[i] = 0;
        for (int64_t j = 0; j < d; j++)
            t.y[i] += effect[j] * row[j];
        mean += t.y[i] / (double)n;
        square += t.y[i] * t.y[i] / (double)n;
    }
    const double size = sqrt(fmax(square - mean * mean, 1e-300));
    for (int64_t i = 0; i < n; i++)
        t.y[i] =
            (t.y[i] - mean) / size + mgvi_rng_normal(&rng) > (k == RARE_CLASS ? 2 : 0) ? 1 : -1;
    free(effect);
    return t;
}
#endif
