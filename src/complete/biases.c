/* biases.c - damped means of rows and columns in turn: a_i = sum_j (b_ij - mean - c_j)/(n_i + d),
 * d = variance of what is left / variance of a; and so for the columns. */
#include "complete/biases.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 8 };

mgv_status mgvi_biases_new(mgvi_arena *arena, const mgvi_known *e, mgvi_biases *out)
{
    *out = (mgvi_biases){.mean = 0};
    out->row = mgvi_arena_array(arena, (size_t)e->rows, sizeof *out->row);
    out->col = mgvi_arena_array(arena, (size_t)e->cols, sizeof *out->col);
    return out->row && out->col ? MGV_OK : MGV_E_MEMORY;
}

double mgvi_known_mean(const mgvi_known *e)
{
    double sum = 0;
    for (int64_t t = 0; t < e->count; t++)
        sum += e->held[t] ? 0 : e->value[t];
    return sum / (double)(e->count - e->held_count);
}

double mgvi_known_rms(const mgvi_known *e, int held)
{
    double sum = 0;
    const int64_t count = held ? e->held_count : e->count - e->held_count;
    for (int64_t i = 0; i < e->rows; i++)
        for (int64_t t = e->row_ptr[i]; t < e->row_ptr[i + 1]; t++) {
            const double b = e->held[t] == held ? mgvi_known_target(e, i, t) : 0;
            sum += b * b;
        }
    return count ? sqrt(sum / (double)count) : NAN;
}

typedef struct means {
    const mgvi_known *e;
    const mgvi_biases *b;
    double damping[2]; /* of rows and columns */
    int side;          /* whose turn it is: 0 rows, 1 columns */
    /* Per block: sum of the squared biases and of the squares they leave, lines with entries, and
     * their entries. */
    double (*sums)[4];
} means;

static void fit_line(const means *m, int64_t i, double sums[4])
{
    const mgvi_known *e = m->e;
    const int side = m->side;
    const int64_t *ptr = side ? e->col_ptr : e->row_ptr;
    const double *other = side ? m->b->row : m->b->col;
    double sum = 0, squares = 0, n = 0;
    for (int64_t s = ptr[i]; s < ptr[i + 1]; s++) {
        const int64_t t = side ? e->place[s] : s;
        if (e->held[t])
            continue;
        const double x = e->value[t] - m->b->mean - other[side ? e->row[s] : e->col[s]];
        sum += x;
        squares += x * x;
        n++;
    }
    const double a = n > 0 ? sum / (n + m->damping[side]) : 0;
    (side ? m->b->col : m->b->row)[i] = a;
    sums[0] += a * a;
    sums[1] += squares - 2 * a * sum + n * a * a;
    sums[2] += n > 0;
    sums[3] += n;
}

static void fit_block(void *arg, int64_t block)
{
    const means *m = arg;
    const mgvi_known *e = m->e;
    const int64_t *ptr = m->side ? e->col_ptr : e->row_ptr;
    const int64_t lines = m->side ? e->cols : e->rows;
    const int64_t blocks = m->side ? e->col_blocks : e->row_blocks;
    const int64_t end = mgvi_known_cut(ptr, lines, blocks, block + 1);
    double sums[4] = {0};
    for (int64_t i = mgvi_known_cut(ptr, lines, blocks, block); i < end; i++)
        fit_line(m, i, sums);
    memcpy(m->sums[block], sums, sizeof sums);
}

/* One side's biases from the other's, and its damping for the next round, within bounds: a first
 * guess must not freeze a side at 0. */
static void fit_side(means *m, int side)
{
    const int64_t blocks = side ? m->e->col_blocks : m->e->row_blocks;
    double sums[4] = {0};
    m->side = side;
    mgvi_ctx_run(m->e->ctx, blocks, fit_block, m);
    for (int64_t b = 0; b < blocks; b++)
        for (int k = 0; k < 4; k++)
            sums[k] += m->sums[b][k];
    const double variance = sums[0] / sums[2], left = sums[1] / sums[3];
    m->damping[side] = fmin(fmax(left / fmax(variance, 1e-300), 0.01), 1e4);
}

mgv_status mgvi_biases_fit(mgvi_biases *b, const mgvi_known *e)
{
    const int64_t blocks = e->row_blocks > e->col_blocks ? e->row_blocks : e->col_blocks;
    means m = {.e = e,
               .b = b,
               .damping = {5, 5},
               .sums = mgvi_alloc(e->ctx, (size_t)blocks, sizeof *m.sums)};
    if (!m.sums)
        return MGV_E_MEMORY;
    b->mean = mgvi_known_mean(e);
    for (int64_t i = 0; i < e->rows; i++)
        b->row[i] = 0;
    for (int k = 0; k < ROUNDS; k++) { /* columns first: the rows are 0 so far */
        fit_side(&m, 1);
        fit_side(&m, 0);
    }
    for (int64_t i = 0; i < e->rows; i++)
        b->row[i] += b->mean;
    mgvi_release(e->ctx, m.sums);
    return MGV_OK;
}
