/* biases.c - damped means of rows and columns in turn: a_i = sum_j (b_ij - mean - c_j)/(n_i + d),
 * d = variance of what is left / variance of a; and so for the columns. */
#include "complete/biases.h"

#include <math.h>

enum { ROUNDS = 8 };

mgv_status mgvi_biases_new(mgvi_arena *arena, const mgvi_entries *e, mgvi_biases *out)
{
    *out = (mgvi_biases){.mean = 0};
    out->row = mgvi_arena_array(arena, (size_t)e->rows, sizeof *out->row);
    out->col = mgvi_arena_array(arena, (size_t)e->cols, sizeof *out->col);
    return out->row && out->col ? MGV_OK : MGV_E_MEMORY;
}

double mgvi_entries_mean(const mgvi_entries *e)
{
    double sum = 0;
    for (int64_t t = 0; t < e->count; t++)
        sum += e->held[t] ? 0 : e->value[t];
    return sum / (double)(e->count - e->held_count);
}

double mgvi_entries_rms(const mgvi_entries *e, int held)
{
    double sum = 0;
    const int64_t count = held ? e->held_count : e->count - e->held_count;
    for (int64_t i = 0; i < e->rows; i++)
        for (int64_t t = e->row_ptr[i]; t < e->row_ptr[i + 1]; t++) {
            const double b = e->held[t] == held ? mgvi_entries_target(e, i, t) : 0;
            sum += b * b;
        }
    return count ? sqrt(sum / (double)count) : NAN;
}

typedef struct means {
    const mgvi_entries *e;
    const mgvi_biases *b;
    double damping[2]; /* of rows and columns */
    double left;       /* variance of what the biases leave, of the last pass */
} means;

/* One side's biases from the other's; their mean square in *variance. */
static void fit_side(means *m, int side, double *variance)
{
    const mgvi_entries *e = m->e;
    const int64_t *ptr = side ? e->col_ptr : e->row_ptr, lines = side ? e->cols : e->rows;
    double *mine = side ? m->b->col : m->b->row;
    const double *other = side ? m->b->row : m->b->col;
    double squares = 0, left = 0;
    int64_t used = 0, entries = 0;
    for (int64_t i = 0; i < lines; i++) {
        double sum = 0, sum2 = 0;
        int64_t n = 0;
        for (int64_t s = ptr[i]; s < ptr[i + 1]; s++) {
            const int64_t t = side ? e->place[s] : s;
            if (e->held[t])
                continue;
            const double x = e->value[t] - m->b->mean - other[side ? e->row[s] : e->col[s]];
            sum += x;
            sum2 += x * x;
            n++;
        }
        mine[i] = n ? sum / ((double)n + m->damping[side]) : 0;
        left += sum2 - 2 * mine[i] * sum + (double)n * mine[i] * mine[i];
        squares += mine[i] * mine[i];
        used += n > 0;
        entries += n;
    }
    m->left = left / (double)entries;
    *variance = squares / (double)used;
}

void mgvi_biases_fit(mgvi_biases *b, const mgvi_entries *e)
{
    means m = {.e = e, .b = b, .damping = {5, 5}};
    b->mean = mgvi_entries_mean(e);
    for (int64_t i = 0; i < e->rows; i++)
        b->row[i] = 0;
    for (int64_t j = 0; j < e->cols; j++)
        b->col[j] = 0;
    for (int k = 0; k < ROUNDS; k++)
        for (int side = 1; side >= 0; side--) {
            double variance;
            fit_side(&m, side, &variance);
            /* within bounds: a first guess must not freeze a side at 0 */
            m.damping[side] = fmin(fmax(m.left / fmax(variance, 1e-300), 0.01), 1e4);
        }
    for (int64_t i = 0; i < e->rows; i++)
        b->row[i] += b->mean;
}
