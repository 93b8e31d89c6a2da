/* free_metric.c - the inverse of (8) by Sherman and Morrison's formula, group by group. */
#include "solver/coordinate/free_metric.h"

#include "op/twins.h"

mgv_status mgvi_free_metric_new(mgvi_arena *arena, int64_t count, mgvi_free_metric *out)
{
    const size_t n = (size_t)count;
    *out = (mgvi_free_metric){.count = count,
                              .row = mgvi_arena_array(arena, n, sizeof *out->row),
                              .twin = mgvi_arena_array(arena, n, sizeof *out->twin),
                              .root = mgvi_arena_array(arena, n, sizeof *out->root),
                              .bend = mgvi_arena_array(arena, n, sizeof *out->bend),
                              .pull = mgvi_arena_array(arena, n, sizeof *out->pull),
                              .width = mgvi_arena_array(arena, n, sizeof *out->width)};
    return out->row && out->twin && out->root && out->bend && out->pull && out->width
               ? MGV_OK
               : MGV_E_MEMORY;
}

mgv_status mgvi_free_metric_group(mgv_ctx *ctx, const mgvi_matrix *rows, mgvi_free_metric *m)
{
    return mgvi_matrix_twins(ctx, rows, m->row, m->count, m->twin);
}

double mgvi_free_metric_solve(const mgvi_free_metric *m, const bool *face, const double *x,
                              double *y)
{
    double product = 0;
    for (int64_t k = 0; k < m->count; k++)
        m->pull[k] = m->width[k] = 0;
    for (int64_t k = 0; k < m->count; k++)
        if (face[k]) {
            const double v = m->root[k] / m->bend[k];
            m->pull[m->twin[k]] += v * x[k];
            m->width[m->twin[k]] += v * m->root[k];
        }
    for (int64_t k = 0; k < m->count; k++) {
        const int64_t g = m->twin[k];
        y[k] = face[k] ? (x[k] - m->root[k] * (m->pull[g] / (1 + m->width[g]))) / m->bend[k] : 0;
        product += x[k] * y[k];
    }
    return product;
}
