/* columns.c - with S the chosen columns of a view's A (op/matrix.h):
 *   A w     = sign (row_scale (X_S (scale w)_S - centre_S . (scale w)_S) + b) (1)
 *   (A'u)_S = scale_S (X_S'v - centre_S sum v),   v = row_scale sign u              (2)
 * X by columns is X' by rows, so that (1) and (2) are products with chosen rows of X', which
 * op/rowwise.c has: in vectors, on all threads, the same bits for any number of them. */
#include "op/columns.h"

#include "base/threads.h"
#include "op/rows.h"
#include "op/view.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct mgvi_columns {
    mgvi_op *op;
    mgvi_view view;  /* without chosen rows */
    mgvi_rowwise xt; /* X' by rows */
    double *chosen;  /* cols x lanes: (scale w)_S, or X_S'v */
    double *mapped;  /* rows x lanes: v */
};

static mgv_status bind_transpose(mgvi_columns *c, mgvi_arena *arena, const mgvi_stored *stored)
{
    if (stored->transposed) { /* stored by columns: its own work space serves */
        c->xt = stored->by_rows;
        return MGV_OK;
    }
    const mgvi_matrix t = mgvi_matrix_transpose(&stored->matrix);
    mgvi_matrix by_rows;
    MGVI_TRY(mgvi_matrix_rows(arena, &t, &by_rows));
    return mgvi_rowwise_init(arena->ctx, arena, &by_rows, c->op->lanes, &c->xt);
}

mgv_status mgvi_columns_new(mgvi_op *op, mgvi_arena *arena, mgvi_columns **out)
{
    *out = NULL;
    if (!op->view || op->lanes_fixed || op->view->row || op->view->sign_lanes > 1)
        return MGV_OK;
    mgvi_columns *c = mgvi_arena_array(arena, 1, sizeof *c);
    if (!c)
        return MGV_E_MEMORY;
    c->op = op;
    c->view = *op->view;
    MGVI_TRY(bind_transpose(c, arena, mgvi_stored_of(mgvi_view_base(op))));
    const size_t wide = (size_t)op->lanes * sizeof(double);
    c->chosen = mgvi_arena_array(arena, (size_t)op->stored->cols, wide);
    c->mapped = mgvi_arena_array(arena, (size_t)op->rows, wide);
    if (!c->chosen || !c->mapped)
        return MGV_E_MEMORY;
    *out = c;
    return MGV_OK;
}

int64_t mgvi_columns_count(const mgvi_columns *c) { return c->xt.m.rows; }

/* The rows of X' that are wanted; all of them in order need no list. */
static mgvi_view rows_of(const mgvi_columns *c, const int64_t *list, int64_t count)
{
    return (mgvi_view){.row = count < c->xt.m.rows ? list : NULL, .rows = count};
}

static void count_touched(mgvi_columns *c, const int64_t *list, int64_t count)
{
    const mgvi_matrix *m = &c->xt.m;
    int64_t entries = 0;
    if (count == m->rows)
        entries = m->nnz;
    else if (m->layout == MGV_DENSE)
        entries = count * m->cols;
    else
        for (int64_t t = 0; t < count; t++)
            entries += m->ptr[list[t] + 1] - m->ptr[list[t]];
    c->op->touched += (double)entries;
}

void mgvi_columns_mul(mgvi_columns *c, const int64_t *list, int64_t count, const mgvi_vec *w,
                      mgvi_vec *y)
{
    const int32_t k = w->k;
    double shift[MGVI_LANES_MAX];
    assert(k == y->k && k <= c->op->lanes && w->n == c->op->cols && y->n == c->op->rows);
    memset(shift, 0, (size_t)k * sizeof *shift);
    for (int64_t t = 0; t < count; t++) {
        const double scale = mgvi_view_scale(&c->view, list[t]);
        const double centre = mgvi_view_centre(&c->view, list[t]);
        for (int32_t lane = 0; lane < k; lane++) {
            const double value = scale * w->x[list[t] * k + lane];
            c->chosen[t * k + lane] = value;
            shift[lane] += centre * value;
        }
    }
    const mgvi_view rows = rows_of(c, list, count);
    mgvi_rowwise_mul_t(&c->xt, &rows, k, 1, c->chosen, 0, y->x, NULL);
    const mgvi_lane_shift shifts = {
        .centre = c->view.centre ? shift : NULL,
        .intercept = c->view.intercept ? w->x + mgvi_columns_count(c) * k : NULL};
    if (mgvi_view_has_rows(&c->view) || shifts.centre || shifts.intercept)
        mgvi_map_rows(&c->view, shifts, 0, y->n, k, y->x);
    count_touched(c, list, count);
}

void mgvi_columns_mul_t(mgvi_columns *c, const int64_t *list, int64_t count, const mgvi_vec *u,
                        mgvi_vec *g)
{
    const int32_t k = u->k;
    double sums[2][MGVI_LANES_MAX];
    assert(k == g->k && k <= c->op->lanes && g->n == c->op->cols && u->n == c->op->rows);
    memset(sums[0], 0, (size_t)k * sizeof *sums[0]);
    memset(sums[1], 0, (size_t)k * sizeof *sums[1]);
    mgvi_map_rows_t(&c->view, 0, u->n, k, 1, u->x, c->mapped,
                    (mgvi_lane_sums){.intercept = c->view.intercept ? sums[0] : NULL,
                                     .centre = c->view.centre ? sums[1] : NULL});
    const mgvi_view rows = rows_of(c, list, count);
    mgvi_rowwise_mul(&c->xt, &rows, (mgvi_lane_shift){0}, k, 1, c->mapped, 0, c->chosen);
    for (int64_t t = 0; t < count; t++) {
        const double scale = mgvi_view_scale(&c->view, list[t]);
        const double centre = mgvi_view_centre(&c->view, list[t]);
        for (int32_t lane = 0; lane < k; lane++)
            g->x[list[t] * k + lane] = scale * (c->chosen[t * k + lane] - centre * sums[1][lane]);
    }
    if (c->view.intercept)
        memcpy(g->x + mgvi_columns_count(c) * k, sums[0], (size_t)k * sizeof *g->x);
    count_touched(c, list, count);
}

/* |A_j|^2 = scale^2 sum_i p_i^2 (x_ij - centre)^2, p the row scale: a sum over the stored entries,
 * and over the zeros centre^2 times what is left of sum p^2. */
void mgvi_columns_square_norms(const mgvi_columns *c, double *out)
{
    const mgvi_matrix *m = &c->xt.m;
    double total = 0;
    for (int64_t i = 0; i < m->cols; i++)
        total += mgvi_view_row_scale(&c->view, i) * mgvi_view_row_scale(&c->view, i);
    for (int64_t j = 0; j < m->rows; j++) {
        const bool sparse = m->layout == MGV_CSR;
        const int64_t first = sparse ? m->ptr[j] : j * m->row_stride;
        const int64_t count = sparse ? m->ptr[j + 1] - first : m->cols;
        const double centre = mgvi_view_centre(&c->view, j), scale = mgvi_view_scale(&c->view, j);
        double sum = 0, seen = 0;
        for (int64_t t = 0; t < count; t++) {
            const int64_t i = sparse ? m->idx[first + t] : t;
            const double p = mgvi_view_row_scale(&c->view, i);
            const double x = p * (mgvi_matrix_value(m, first + t) - centre);
            sum += x * x;
            seen += p * p;
        }
        out[j] = scale * scale * (sum + centre * centre * fmax(0, total - seen));
    }
    c->op->touched += (double)m->nnz;
}
