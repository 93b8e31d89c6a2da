/* stats.c - sums per column. A matrix stored by rows gives every block of rows its own sums, added
 * in block order; one stored by columns gives every block its own columns. */
#include "op/stats.h"

#include "base/limit.h"
#include "base/memory.h"
#include "base/threads.h"

#include <math.h>

enum {
    GRAIN = 1 << 15,
    BLOCKS = 64,          /* when stored by columns */
    OUTPUTS = 8,          /* when stored by rows */
    FILL = 8,             /* entries per column that pay for one more set of sums, */
    SETS_BYTES = 16 << 20 /* unless that is too much memory */
};

/* Sums over the stored entries of a column, with weights v and an origin o. */
enum {
    SHIFTED,    /* sum v (x - o) */
    WEIGHT,     /* sum v, */
    WEIGHT_LOW, /* and what rounding takes from it */
    COUNTED,    /* rows with v > 0 */
    NONZEROS,   /* entries that are not 0 */
    MAX_ABS,
    SQUARE,     /* sum v (x - o)^2, in the second pass */
    SQUARE_LOW, /* and what rounding takes from it */
    SUMS
};

typedef struct stats {
    mgvi_matrix m;   /* CSR, or dense by rows: the matrix, or its transpose when `by_columns` */
    bool by_columns; /* so that rows of m are the columns asked for */
    int64_t cols;    /* the columns asked for */
    const double *weights;
    double weight, weight_low;   /* sum_i v_i, and what rounding takes from it */
    int64_t counted;             /* rows with v_i > 0 */
    int64_t blocks, merge;       /* blocks of the passes, and of adding up */
    bool second;                 /* pass */
    bool extremes;               /* NONZEROS and MAX_ABS are asked for */
    double *origin;              /* a value of the column, in the second pass its mean */
    double *part[OUTPUTS][SUMS]; /* NULL: nobody asks for that sum */
    double *memory;
} stats;

/* Rows that lie side by side have loops of their own, which count no weights: none are left out. */
static bool is_plain(const stats *s)
{
    return !s->by_columns && s->m.layout == MGV_DENSE && s->m.col_stride == 1;
}

/* A standard deviation is right to its last bits, however many rows there are. */
static inline __attribute__((always_inline)) void add_twofold(double *hi, double *lo, double x)
{
    const double sum = *hi + x, back = sum - *hi;
    *lo += (*hi - (sum - back)) + (x - back);
    *hi = sum;
}

/* One pass over row i of m. The flags are constants where this is inlined: when the row is one of
 * the columns asked for, its sums stay in registers. */
static inline __attribute__((always_inline)) void
row_pass(const stats *s, double *const *to, int64_t i, bool f32, bool sparse, bool by_columns)
{
    const mgvi_matrix *m = &s->m;
    const int64_t first = sparse ? m->ptr[i] : i * m->row_stride;
    const int64_t n = sparse ? m->ptr[i + 1] - first : m->cols;
    const int64_t step = sparse ? 1 : m->col_stride;
    const double *weights = s->weights, *origin = s->origin + (by_columns ? i : 0);
    const bool second = s->second;
    double own[SUMS] = {0};
#define SUM(q) *(by_columns ? &own[q] : &to[q][j])
#define ADD(q, term) add_twofold(&SUM(q), &SUM(q##_LOW), term)
    for (int64_t t = 0; t < n; t++) {
        const int64_t at = first + t * step, other = sparse ? m->idx[at] : t;
        const int64_t j = by_columns ? 0 : other;
        const double x = f32 ? (double)((const float *)m->val)[at] : ((const double *)m->val)[at];
        const double v = weights ? weights[by_columns ? other : i] : 1, d = x - origin[j];
        if (second) {
            ADD(SQUARE, v * d * d);
            continue;
        }
        SUM(SHIFTED) += v * d;
        ADD(WEIGHT, v);
        SUM(COUNTED) += v > 0;
        SUM(NONZEROS) += v > 0 && x != 0;
        SUM(MAX_ABS) = v > 0 && fabs(x) > SUM(MAX_ABS) ? fabs(x) : SUM(MAX_ABS);
    }
#undef ADD
#undef SUM
    for (int q = second ? SQUARE : SHIFTED; by_columns && q <= (second ? SQUARE_LOW : MAX_ABS); q++)
        to[q][i] = own[q];
}

/* The first pass over a contiguous row: one sum at a time, so that loops vectorise. */
#define DENSE_ROW(T, S)                                                                            \
    static void dense_row_##S(const stats *s, double *const *to, double v, const T *restrict x)    \
    {                                                                                              \
        const double *restrict origin = s->origin;                                                 \
        double *restrict shifted = to[SHIFTED], *restrict most = to[MAX_ABS],                      \
                         *restrict count = to[NONZEROS];                                           \
        for (int64_t j = 0; j < s->cols; j++)                                                      \
            shifted[j] += v * ((double)x[j] - origin[j]);                                          \
        for (int64_t j = 0; s->extremes && v > 0 && j < s->cols; j++) {                            \
            const double size = fabs((double)x[j]);                                                \
            count[j] += size > 0;                                                                  \
            most[j] = size > most[j] ? size : most[j];                                             \
        }                                                                                          \
    }
DENSE_ROW(float, f32)
DENSE_ROW(double, f64)

static void dense_block(const stats *s, int64_t block)
{
    const mgvi_matrix *m = &s->m;
    const int64_t end = mgvi_matrix_cut(m, s->blocks, block + 1);
    for (int64_t i = mgvi_matrix_cut(m, s->blocks, block); i < end; i++) {
        const double v = s->weights ? s->weights[i] : 1;
        if (m->dtype == MGV_F32)
            dense_row_f32(s, s->part[block], v, (const float *)m->val + i * m->row_stride);
        else
            dense_row_f64(s, s->part[block], v, (const double *)m->val + i * m->row_stride);
    }
}

static void pass_block(void *arg, int64_t block)
{
    const stats *s = arg;
    double *const *to = s->part[s->by_columns ? 0 : block];
    if (!s->second && is_plain(s)) {
        dense_block(s, block);
        return;
    }
    const int64_t end = mgvi_matrix_cut(&s->m, s->blocks, block + 1);
    const int kind = (s->m.dtype == MGV_F32 ? 4 : 0) | (s->m.layout == MGV_CSR ? 2 : 0) |
                     (s->by_columns ? 1 : 0);
    for (int64_t i = mgvi_matrix_cut(&s->m, s->blocks, block); i < end; i++) {
        switch (kind) {
#define ROW_PASS(f32, sparse, by_columns)                                                          \
    case (f32)*4 + (sparse)*2 + (by_columns):                                                      \
        row_pass(s, to, i, f32, sparse, by_columns);                                               \
        break
            ROW_PASS(0, 0, 0);
            ROW_PASS(0, 0, 1);
            ROW_PASS(0, 1, 0);
            ROW_PASS(0, 1, 1);
            ROW_PASS(1, 0, 0);
            ROW_PASS(1, 0, 1);
            ROW_PASS(1, 1, 0);
            ROW_PASS(1, 1, 1);
#undef ROW_PASS
        }
    }
}

/* Adds what this pass has summed up in the blocks to block 0. */
static void merge_block(void *arg, int64_t block)
{
    const stats *s = arg;
    const int first = s->second ? SQUARE : SHIFTED, last = s->second ? SQUARE_LOW : MAX_ABS;
    const int64_t begin = mgvi_block_begin(s->cols, s->merge, block),
                  end = mgvi_block_begin(s->cols, s->merge, block + 1);
    for (int64_t b = 1; b < s->blocks; b++)
        for (int q = first; q <= last; q++) {
            double *to = s->part[0][q];
            const double *from = s->part[b][q];
            for (int64_t j = begin; to && j < end; j++)
                to[j] = q != MAX_ABS ? to[j] + from[j] : from[j] > to[j] ? from[j] : to[j];
        }
}

static void run_pass(mgv_ctx *ctx, stats *s, bool second)
{
    s->second = second;
    mgvi_ctx_run(ctx, s->blocks, pass_block, s);
    if (!s->by_columns && s->blocks > 1)
        mgvi_ctx_run(ctx, s->merge, merge_block, s);
}

/* The weight of the zeros left out of column j; exactly 0 when there are none that count. */
static double left_out(const stats *s, int64_t j)
{
    if (s->m.layout == MGV_DENSE)
        return 0;
    const bool none = (int64_t)s->part[0][COUNTED][j] == s->counted;
    const double rest =
        s->weight - s->part[0][WEIGHT][j] - s->part[0][WEIGHT_LOW][j] + s->weight_low;
    return none || rest < 0 ? 0 : rest;
}

/* The entry of `row` in every column: from there a constant column's differences are all 0. */
static void set_origin(stats *s, int64_t row)
{
    const mgvi_matrix *m = &s->m;
    if (m->layout == MGV_DENSE) {
        const int64_t first = row * (s->by_columns ? m->col_stride : m->row_stride),
                      step = s->by_columns ? m->row_stride : m->col_stride;
        for (int64_t j = 0; j < s->cols; j++)
            s->origin[j] = mgvi_matrix_value(m, first + j * step);
    } else if (!s->by_columns) {
        for (int64_t t = m->ptr[row]; t < m->ptr[row + 1]; t++)
            s->origin[m->idx[t]] = mgvi_matrix_value(m, t);
    } else {
        for (int64_t j = 0; j < s->cols; j++) {
            int64_t low = m->ptr[j], high = m->ptr[j + 1];
            while (low < high) {
                const int64_t middle = low + (high - low) / 2;
                if (m->idx[middle] < row)
                    low = middle + 1;
                else
                    high = middle;
            }
            if (low < m->ptr[j + 1] && m->idx[low] == row)
                s->origin[j] = mgvi_matrix_value(m, low);
        }
    }
}

/* Sums the weights; returns the first row that has one, -1 when there is none. */
static int64_t sum_weights(stats *s, int64_t rows)
{
    int64_t first = -1;
    for (int64_t i = 0; i < rows; i++) {
        const double v = s->weights ? s->weights[i] : 1;
        add_twofold(&s->weight, &s->weight_low, v);
        s->counted += v > 0;
        if (first < 0 && v > 0)
            first = i;
    }
    return first;
}

/* Whether somebody asks for a sum: of a wide table zeroing and adding up all of them, for every
 * block, takes as long as the pass. */
static bool is_wanted(const stats *s, int sum, bool squares)
{
    if (sum == SQUARE || sum == SQUARE_LOW)
        return squares;
    if (sum == NONZEROS || sum == MAX_ABS)
        return s->extremes || !is_plain(s);
    return sum == SHIFTED || !is_plain(s);
}

static mgv_status stats_init(mgv_ctx *ctx, const mgvi_matrix *m, const double *weights,
                             bool extremes, bool squares, stats *s)
{
    const bool by_columns = mgvi_matrix_by_columns(m);
    *s = (stats){.m = by_columns ? mgvi_matrix_transpose(m) : *m,
                 .by_columns = by_columns,
                 .cols = m->cols,
                 .weights = weights,
                 .extremes = extremes,
                 .merge = mgvi_block_count(m->cols, GRAIN, BLOCKS)};
    const int64_t filled = m->cols ? m->nnz / m->cols / FILL : 1;
    const int64_t roomy = m->cols ? SETS_BYTES / (m->cols * SUMS * (int64_t)sizeof(double)) : 1;
    const int64_t sets_most = filled < roomy ? filled : roomy;
    const int64_t most = by_columns            ? BLOCKS
                         : sets_most < 1       ? 1
                         : sets_most < OUTPUTS ? sets_most
                                               : OUTPUTS;
    s->blocks = mgvi_block_count(m->nnz, GRAIN, most);
    const size_t sets = by_columns ? 1 : (size_t)s->blocks;
    size_t wanted = 0;
    for (int q = 0; q < SUMS; q++)
        wanted += is_wanted(s, q, squares);
    s->memory = mgvi_zeros(ctx, (size_t)m->cols, (sets * wanted + 1) * sizeof(double));
    if (!s->memory)
        return MGV_E_MEMORY;
    double *next = s->memory;
    for (size_t b = 0; b < sets; b++)
        for (int q = 0; q < SUMS; q++)
            if (is_wanted(s, q, squares)) {
                s->part[b][q] = next;
                next += m->cols;
            }
    s->origin = next;
    return MGV_OK;
}

/* a + b less their rounded sum, exactly. A mean far larger than the spread is rounded by a good
 * part of it, and squares about the rounded mean are too large by the square of that. */
static double rounded_off(double a, double b, double sum)
{
    const double back = sum - a;
    return (a - (sum - back)) + (b - back);
}

mgv_status mgvi_matrix_column_stats(mgv_ctx *ctx, const mgvi_matrix *m, const double *weights,
                                    double *mean, double *std, double *max_abs, int64_t *nonzeros)
{
    stats s;
    MGVI_TRY(stats_init(ctx, m, weights, max_abs || nonzeros, std, &s));
    const int64_t first = sum_weights(&s, m->rows);
    if (first >= 0)
        set_origin(&s, first);
    run_pass(ctx, &s, false);
    double *const *total = s.part[0];
    for (int64_t j = 0; j < m->cols; j++) {
        const double from = s.origin[j], shift = total[SHIFTED][j] - left_out(&s, j) * from;
        const double step = first >= 0 ? shift / s.weight : 0;
        s.origin[j] = first >= 0 ? from + step : 0;
        total[SHIFTED][j] = rounded_off(from, step, s.origin[j]);
        if (mean)
            mean[j] = s.origin[j];
        if (max_abs)
            max_abs[j] = total[MAX_ABS][j];
        if (nonzeros)
            nonzeros[j] = (int64_t)total[NONZEROS][j];
    }
    if (std) {
        run_pass(ctx, &s, true);
        for (int64_t j = 0; j < m->cols; j++) {
            const double zeros = left_out(&s, j) * s.origin[j] * s.origin[j];
            const double squares = total[SQUARE][j] + total[SQUARE_LOW][j] + zeros;
            const double about = squares / s.weight, off = total[SHIFTED][j];
            std[j] = first >= 0 ? sqrt(fmax(0, about - off * off)) : 0;
        }
    }
    mgvi_release(ctx, s.memory);
    return mgvi_ctx_whole(ctx);
}
