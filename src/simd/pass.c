/* pass.c - the kernels of pass_kernels.h (simd/isa.h). Vectors run along the columns of the data, so
 * that no class is padded; every shape of tile, of at most SCORE_CLASSES or GRADIENT_CLASSES, is a
 * copy with these numbers as constants, so that its sums stay in registers. */
#include "simd/pass_kernels.h"

#include "simd/exp.h"
#include "simd/vector.h"

#include <math.h>
#include <string.h>

enum {
    LANES = 2 * W,
    LINE = 64 / (int)sizeof(float),
    SCORE_ROWS = 4,    /* of a tile of scores */
    GRADIENT_VECS = 2, /* of columns, of a tile of the gradient */
    DEPTH = 1024       /* columns at a time: the weights of a tile stay in the first cache */
};
_Static_assert(SCORE_CLASSES <= 10 && GRADIENT_CLASSES <= 10, "COPIES has ten of them");

#define COPY(n, most, kernel, ...)                                                                 \
    case n:                                                                                        \
        if (n <= (most))                                                                           \
            kernel(n, __VA_ARGS__);                                                                \
        break;
/* kernel(n, ...) for 1 <= n <= most, n a constant of each copy. */
#define COPIES(n, most, kernel, ...)                                                               \
    switch (n) {                                                                                   \
        COPY(1, most, kernel, __VA_ARGS__)                                                         \
        COPY(2, most, kernel, __VA_ARGS__)                                                         \
        COPY(3, most, kernel, __VA_ARGS__)                                                         \
        COPY(4, most, kernel, __VA_ARGS__)                                                         \
        COPY(5, most, kernel, __VA_ARGS__)                                                         \
        COPY(6, most, kernel, __VA_ARGS__)                                                         \
        COPY(7, most, kernel, __VA_ARGS__)                                                         \
        COPY(8, most, kernel, __VA_ARGS__)                                                         \
        COPY(9, most, kernel, __VA_ARGS__)                                                         \
        COPY(10, most, kernel, __VA_ARGS__)                                                        \
    }

/* The next of nearly equal parts of what is left, none above `most`. */
INLINE int64_t part_of(int64_t left, int64_t most)
{
    const int64_t parts = (left + most - 1) / most;
    return (left + parts - 1) / parts;
}

/* ---- scores ---------------------------------------------------------------------------------- */

/* What a tile of scores works on: columns from .. end, weights and scores from its first class. */
typedef struct score_work {
    const float *w;
    int64_t from, end, stride;
    const float *before; /* what the sums are added to: `start`, or z itself */
    int before_width, width;
} score_work;

/* One vector of columns; `part` of them, or all when that is 0. */
INLINE void score_step(const int classes, const int rows, const float *const *x, int64_t j,
                       int64_t part, const score_work *a, fvec sum[SCORE_ROWS][SCORE_CLASSES])
{
    fvec w[SCORE_CLASSES];
    for (int c = 0; c < classes; c++)
        w[c] = f_load(a->w + c * a->stride + j);
    for (int r = 0; r < rows; r++) {
        const fvec xj = part ? f_load_part(x[r] + j, part) : f_load(x[r] + j);
        for (int c = 0; c < classes; c++)
            sum[r][c] = f_fma(xj, w[c], sum[r][c]);
    }
}

/* Every second line of the rows at `next` is asked for. */
INLINE void score_tile(const int classes, const int rows, const float *const *rows_at,
                       const score_work *a, int64_t row, float *z, const float *const *next)
{
    fvec sum[SCORE_ROWS][SCORE_CLASSES];
    float total[SCORE_CLASSES][SCORE_ROWS];
    const float *x[SCORE_ROWS];
    int64_t j = a->from;
    for (int r = 0; r < rows; r++) {
        x[r] = rows_at[r];
        for (int c = 0; c < classes; c++)
            sum[r][c] = f_zero();
    }
    for (; j + LANES <= a->end; j += LANES) {
        if (next && j % (2 * LINE) == 0)
            for (int r = 0; r < rows; r++)
                __builtin_prefetch(next[r] + j, 0, 2);
        score_step(classes, rows, x, j, 0, a, sum);
    }
    if (j < a->end)
        score_step(classes, rows, x, j, a->end - j, a, sum);
    for (int c = 0; c < classes; c++) /* a loop of its own: it is unrolled */
        if (rows == SCORE_ROWS)
            f_sums(sum[0][c], sum[1][c], sum[2][c], sum[3][c], total[c]);
        else
            total[c][0] = f_sum(sum[0][c]);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < classes; c++)
            z[(row + r) * a->width + c] = a->before[(row + r) * a->before_width + c] + total[c][r];
}

INLINE void score_group(const int classes, const float *const *x, int rows, const score_work *a,
                        float *z, const float *const *next)
{
    int i = 0;
    for (; i + SCORE_ROWS <= rows; i += SCORE_ROWS)
        score_tile(classes, SCORE_ROWS, x + i, a, i, z, next ? next + i : NULL);
    for (; i < rows; i++)
        score_tile(classes, 1, x + i, a, i, z, next ? next + i : NULL);
}

/* Chunks of columns begin at whole lines. The first group of classes alone asks for rows. */
static void pass_scores(const float *const *x, int rows, int64_t cols, const float *w,
                        int64_t stride, int k, const float *start, int width, float *z,
                        const float *const *next)
{
    int64_t chunk;
    for (int64_t from = 0; from < cols; from += chunk) {
        chunk = (part_of(cols - from, DEPTH) + LINE - 1) / LINE * LINE;
        const int64_t end = from + chunk < cols ? from + chunk : cols;
        int classes;
        for (int c = 0; c < k; c += classes) {
            classes = (int)part_of(k - c, SCORE_CLASSES);
            const score_work a = {w + c * stride,   from, end, stride, from ? z + c : start + c,
                                  from ? width : 0, width};
            COPIES(classes, SCORE_CLASSES, score_group, x, rows, &a, z + c, c == 0 ? next : NULL)
        }
    }
    for (int i = 0; i < rows; i++)
        for (int c = k; c < width; c++)
            z[i * width + c] = start[c];
}

/* ---- the gradient ---------------------------------------------------------------------------- */

/* What a tile of the gradient works on: slopes and sums from its first class. */
typedef struct gradient_work {
    const float *const *x;
    int rows;
    const float *p;
    int width;
    bool fresh;
    float *g;
    int64_t stride;
    const float *const *next;
} gradient_work;

/* Columns from j on, `vecs` vectors; `part` columns of one vector when that is not 0. */
INLINE void gradient_tile(const int classes, const int vecs, int64_t part, int64_t j,
                          const gradient_work *a)
{
    fvec sum[GRADIENT_CLASSES][GRADIENT_VECS];
    const float *const *x = a->x;
    const float *p = a->p;
    const int64_t line = (j + (vecs - 1) * LANES) / LINE * LINE;
    const float *const *next = line % (2 * LINE) ? a->next : NULL;
    for (int c = 0; c < classes; c++)
        for (int v = 0; v < vecs; v++)
            sum[c][v] = a->fresh ? f_zero() : f_load(a->g + c * a->stride + j + v * LANES);
    for (int i = 0; i < a->rows; i++, p += a->width) {
        fvec xi[GRADIENT_VECS];
        if (next)
            __builtin_prefetch(next[i] + line, 0, 2);
        for (int v = 0; v < vecs; v++)
            xi[v] = part ? f_load_part(x[i] + j, part) : f_load(x[i] + j + v * LANES);
        for (int c = 0; c < classes; c++) {
            const fvec pc = f_set(p[c]);
            for (int v = 0; v < vecs; v++)
                sum[c][v] = f_fma(pc, xi[v], sum[c][v]);
        }
    }
    for (int c = 0; c < classes; c++)
        for (int v = 0; v < vecs; v++)
            f_store(a->g + c * a->stride + j + v * LANES, sum[c][v]);
}

INLINE void gradient_group(const int classes, int64_t first, int64_t end, const gradient_work *a)
{
    int64_t j = first;
    for (; j + GRADIENT_VECS * LANES <= end; j += GRADIENT_VECS * LANES)
        gradient_tile(classes, GRADIENT_VECS, 0, j, a);
    for (; j + LANES <= end; j += LANES)
        gradient_tile(classes, 1, 0, j, a);
    if (j < end)
        gradient_tile(classes, 1, end - j, j, a);
}

static void pass_gradient(const float *const *x, int rows, int64_t first, int64_t end,
                          const float *p, int width, int k, bool fresh, float *g, int64_t stride,
                          const float *const *next)
{
    int classes;
    for (int c = 0; c < k; c += classes) {
        classes = (int)part_of(k - c, GRADIENT_CLASSES);
        const gradient_work a = {x,     rows,           p + c,  width,
                                 fresh, g + c * stride, stride, c == 0 ? next : NULL};
        COPIES(classes, GRADIENT_CLASSES, gradient_group, first, end, &a)
    }
}

/* ---- softmax --------------------------------------------------------------------------------- */

/* Probabilities below this are 0: products with smaller ones would not be normal numbers. */
static const float LEAST = 1e-30f;

/* One row: scores to probabilities; e^(z - most) summed over the classes is returned. Padding has
 * scores too low to matter. */
INLINE float softmax_row(float *restrict z, int width, float *most)
{
    fvec high = f_load(z), total = f_zero();
    for (int v = LANES; v < width; v += LANES)
        high = f_max(high, f_load(z + v));
    *most = f_largest(high);
    for (int v = 0; v < width; v += LANES) {
        for (int l = 0; l < LANES; l++)
            z[v + l] = exp_below_0_f32(z[v + l] - *most);
        total = f_fma(f_set(1), f_load(z + v), total);
    }
    const float sum = f_sum(total), factor = 1 / sum;
    for (int v = 0; v < width; v += LANES)
        for (int l = 0; l < LANES; l++) {
            const float p = z[v + l] * factor;
            z[v + l] = p < LEAST ? 0 : p;
        }
    return sum;
}

/* Some rows at a time, so that their logarithms are taken together. */
static double pass_softmax(float *z, int rows, int width, const int32_t *c, const float *s)
{
    enum { TOGETHER = 32 };
    double loss = 0;
    for (int first = 0; first < rows; first += TOGETHER) {
        const int count = rows - first < TOGETHER ? rows - first : TOGETHER;
        double sum[TOGETHER], own[TOGETHER];
        for (int i = 0; i < TOGETHER; i++)
            sum[i] = 1;
        for (int i = 0; i < count; i++, z += width) {
            float most;
            const float score = z[c[first + i]];
            sum[i] = (double)softmax_row(z, width, &most);
            own[i] = (double)(most - score);
            z[c[first + i]] -= 1;
            for (int l = 0; s && l < width; l++)
                z[l] *= s[first + i];
        }
        for (int i = 0; i < TOGETHER; i++)
            sum[i] = log_from_1(sum[i]);
        for (int i = 0; i < count; i++)
            loss += (s ? (double)s[first + i] : 1) * (sum[i] + own[i]);
    }
    return loss;
}

/* ---- updates --------------------------------------------------------------------------------- */

static float pass_momentum(const mgvi_momentum *rule, int64_t cols, const float *const *g,
                           float offset, float *m, float *w, float *sum)
{
    const fvec keep = f_set(rule->keep), minus = f_set(-1), one = f_set(1);
    const fvec lift = f_set(-offset);
    fvec total = f_zero();
    for (int64_t j = 0; j < cols; j += LANES) {
        const fvec origin = f_load(rule->origin + j), before = f_load(w + j);
        fvec slope = f_fma(origin, lift, f_load(g[0] + j));
        for (int t = 1; t < rule->groups; t++)
            slope = f_fma(one, f_load(g[t] + j), slope);
        const fvec decay = f_mul(minus, f_load(rule->decay + j));
        fvec move = f_fma(keep, f_load(m + j), f_mul(decay, before));
        move = f_fma(f_mul(minus, f_load(rule->step + j)), slope, move);
        const fvec after = f_fma(one, move, before);
        f_store(m + j, move);
        f_store(w + j, after);
        f_store(sum + j, f_fma(one, after, f_load(sum + j)));
        total = f_fma(origin, after, total);
    }
    return f_sum(total);
}

static void pass_widen(const float *g, double *sum, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        sum[i] += (double)g[i];
}

const mgvi_pass_kernels MGVI_OF_ISA(mgvi_pass) = {.lanes = LANES,
                                                  .scores = pass_scores,
                                                  .gradient = pass_gradient,
                                                  .softmax = pass_softmax,
                                                  .momentum = pass_momentum,
                                                  .widen = pass_widen};
