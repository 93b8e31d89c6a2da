/* simd/pass.h - the kernels of pass_kernels.h in terms of a vector vocabulary (vec_*.h).
 * PASS_KERNELS is their table. Every shape of tile (so many vectors, all rows or one) is a copy
 * with these numbers as constants, so that its sums stay in registers. Included once per
 * instruction set. */
#ifndef MGVI_SIMD_PASS_H
#define MGVI_SIMD_PASS_H

#include "simd/exp.h"
#include "simd/pass_kernels.h"

#include <math.h>
#include <string.h>

enum {
    LANES = 2 * W,
    LINE = 64 / (int)sizeof(float),
    MOST_VECS = TILE_VECS < 3 ? TILE_VECS : 3,
    MOST_ROWS = 8,
    MOST_COLS = 2 * TILE_ROWS
};
/* As many sums as hide the latency of their additions, where one vector is all there is. */
#define ROWS_OF(vecs) ((vecs) == 1 ? MOST_ROWS : TILE_ROWS)
#define COLS_OF(vecs) ((vecs) == 1 ? MOST_COLS : TILE_ROWS)

/* Calls kernel(vectors, lane, ...) for every slice of the lanes; slices are of nearly one size. */
#define FOR_SLICES(width, kernel, ...)                                                             \
    for (int all = (width) / LANES, left = all, part; left > 0; left -= part) {                    \
        const int slices = (left + MOST_VECS - 1) / MOST_VECS;                                     \
        const int lane = (all - left) * LANES;                                                     \
        part = (left + slices - 1) / slices;                                                       \
        if (part == 1)                                                                             \
            kernel(1, lane, __VA_ARGS__);                                                          \
        else if (part == 2)                                                                        \
            kernel(2, lane, __VA_ARGS__);                                                          \
        else                                                                                       \
            kernel(MOST_VECS, lane, __VA_ARGS__);                                                  \
    }

/* ---- scores ---------------------------------------------------------------------------------- */

INLINE void score_step(const int vecs, const int rows, const float *const *x, int64_t j,
                       const float *w, fvec sum[MOST_ROWS][MOST_VECS])
{
    fvec wj[MOST_VECS];
    for (int v = 0; v < vecs; v++)
        wj[v] = f_load(w + v * LANES);
    for (int r = 0; r < rows; r++) {
        const fvec xj = f_set(x[r][j]);
        for (int v = 0; v < vecs; v++)
            sum[r][v] = f_fma(xj, wj[v], sum[r][v]);
    }
}

/* The rows at `next` are asked for a line at a time. */
INLINE void score_tile(const int vecs, const int rows, const float *const *rows_at, int64_t cols,
                       const float *w, const float *start, int width, float *z,
                       const float *const *next)
{
    fvec sum[MOST_ROWS][MOST_VECS];
    const float *x[MOST_ROWS];
    int64_t j = 0;
    for (int r = 0; r < rows; r++) {
        x[r] = rows_at[r];
        for (int v = 0; v < vecs; v++)
            sum[r][v] = f_load(start + v * LANES);
    }
    for (; j + LINE <= cols; j += LINE) {
        for (int r = 0; next && r < rows; r++)
            __builtin_prefetch(next[r] + j);
        for (int q = 0; q < LINE; q++, w += width)
            score_step(vecs, rows, x, j + q, w, sum);
    }
    for (; j < cols; j++, w += width)
        score_step(vecs, rows, x, j, w, sum);
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vecs; v++)
            f_store(z + r * width + v * LANES, sum[r][v]);
}

/* The first slice alone asks for rows. */
INLINE void score_slice(const int vecs, int lane, const float *const *x, int rows, int64_t cols,
                        const float *w, const float *start, int width, float *z,
                        const float *const *next)
{
    int i = 0;
    next = lane == 0 ? next : NULL;
    for (; i + ROWS_OF(vecs) <= rows; i += ROWS_OF(vecs))
        score_tile(vecs, ROWS_OF(vecs), x + i, cols, w + lane, start + lane, width,
                   z + i * width + lane, next ? next + i : NULL);
    for (; i < rows; i++)
        score_tile(vecs, 1, x + i, cols, w + lane, start + lane, width, z + i * width + lane,
                   next ? next + i : NULL);
}

static void pass_scores(const float *const *x, int rows, int64_t cols, const float *w,
                        const float *start, int width, float *z, const float *const *next){
    FOR_SLICES(width, score_slice, x, rows, cols, w, start, width, z, next)}

/* ---- the gradient ---------------------------------------------------------------------------- */

INLINE void gradient_tile(const int vecs, const int cols, const float *const *x, int rows,
                          int64_t j, const float *p, int width, bool fresh, float *g)
{
    fvec sum[MOST_COLS][MOST_VECS];
    for (int q = 0; q < cols; q++)
        for (int v = 0; v < vecs; v++)
            sum[q][v] = fresh ? f_zero() : f_load(g + q * width + v * LANES);
    for (int i = 0; i < rows; i++) {
        const float *xi = x[i] + j;
        fvec pi[MOST_VECS];
        for (int v = 0; v < vecs; v++)
            pi[v] = f_load(p + i * width + v * LANES);
        for (int q = 0; q < cols; q++) {
            const fvec xq = f_set(xi[q]);
            for (int v = 0; v < vecs; v++)
                sum[q][v] = f_fma(xq, pi[v], sum[q][v]);
        }
    }
    for (int q = 0; q < cols; q++)
        for (int v = 0; v < vecs; v++)
            f_store(g + q * width + v * LANES, sum[q][v]);
}

INLINE void gradient_slice(const int vecs, int lane, const float *const *x, int rows, int64_t first,
                           int64_t end, const float *p, int width, bool fresh, float *g)
{
    int64_t j = first;
    for (; j + COLS_OF(vecs) <= end; j += COLS_OF(vecs))
        gradient_tile(vecs, COLS_OF(vecs), x, rows, j, p + lane, width, fresh,
                      g + (j - first) * width + lane);
    for (; j < end; j++)
        gradient_tile(vecs, 1, x, rows, j, p + lane, width, fresh, g + (j - first) * width + lane);
}

static void pass_gradient(const float *const *x, int rows, int64_t first, int64_t end,
                          const float *p, int width, bool fresh, float *g){
    FOR_SLICES(width, gradient_slice, x, rows, first, end, p, width, fresh, g)}

/* ---- softmax --------------------------------------------------------------------------------- */

/* The largest of the LANES numbers, and their sum: halves are joined, so that vectors do it. */
INLINE float fold_max(float part[LANES])
{
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            part[l] = part[l] > part[l + half] ? part[l] : part[l + half];
    return part[0];
}

INLINE float fold_sum(float part[LANES])
{
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            part[l] += part[l + half];
    return part[0];
}

/* Probabilities below this are 0: products with smaller ones would not be normal numbers. */
static const float LEAST = 1e-30f;

/* One row: scores to probabilities, its loss is returned. Padding has scores too low to matter. */
INLINE double softmax_row(float *restrict z, int width, int32_t c)
{
    float part[LANES];
    for (int l = 0; l < LANES; l++)
        part[l] = z[l];
    for (int v = LANES; v < width; v += LANES)
        for (int l = 0; l < LANES; l++)
            part[l] = part[l] > z[v + l] ? part[l] : z[v + l];
    const float most = fold_max(part), own = most - z[c];
    for (int l = 0; l < LANES; l++)
        part[l] = 0;
    for (int v = 0; v < width; v += LANES)
        for (int l = 0; l < LANES; l++) {
            z[v + l] = exp_below_0_f32(z[v + l] - most);
            part[l] += z[v + l];
        }
    const float sum = fold_sum(part), factor = 1 / sum;
    for (int v = 0; v < width; v += LANES)
        for (int l = 0; l < LANES; l++) {
            const float p = z[v + l] * factor;
            z[v + l] = p < LEAST ? 0 : p;
        }
    return log((double)sum) + (double)own;
}

static double pass_softmax(float *z, int rows, int k, int width, const int32_t *c, const float *s)
{
    double loss = 0;
    for (int i = 0; i < rows; i++, z += width) {
        const double one = softmax_row(z, width, c[i]);
        for (int l = k; l < width; l++)
            z[l] = 0;
        z[c[i]] -= 1;
        if (s)
            for (int l = 0; l < width; l++)
                z[l] *= s[i];
        loss += s ? (double)s[i] * one : one;
    }
    return loss;
}

/* ---- updates --------------------------------------------------------------------------------- */

static void pass_momentum(const mgvi_momentum *rule, int64_t first, int64_t end, int width,
                          const float *g, float *m, float *w, float *sum, float *shift)
{
    const fvec keep = f_set(rule->keep), decay = f_set(-rule->decay), one = f_set(1);
    for (int l = 0; l < width; l += LANES) {
        const fvec offset = f_load(rule->offset + l);
        fvec total = f_zero();
        for (int64_t j = first; j < end; j++) {
            const fvec origin = f_set(rule->origin[j]);
            const int64_t at = j * width + l;
            const fvec slope =
                f_fma(f_mul(f_set(-1), origin), offset, f_load(g + (j - first) * width + l));
            const fvec before = f_load(w + at);
            fvec move = f_fma(keep, f_load(m + at), f_mul(decay, before));
            move = f_fma(f_set(-rule->step[j]), slope, move);
            const fvec after = f_fma(one, move, before);
            f_store(m + at, move);
            f_store(w + at, after);
            f_store(sum + at, f_fma(one, after, f_load(sum + at)));
            total = f_fma(origin, after, total);
        }
        f_store(shift + l, total);
    }
}

static void pass_widen(const float *g, double *sum, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        sum[i] += (double)g[i];
}

#define PASS_KERNELS                                                                               \
    {                                                                                              \
        .lanes = LANES, .scores = pass_scores, .gradient = pass_gradient, .softmax = pass_softmax, \
        .momentum = pass_momentum, .widen = pass_widen                                             \
    }
#endif
