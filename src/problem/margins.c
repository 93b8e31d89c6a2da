/* margins.c - what rows ask of the weights of a hard margin. */
#include "problem/margins.h"

#include <math.h>
#include <string.h>

void mgvi_problem_live_rows(const mgv_problem *p, const mgvi_rows *rows, mgvi_vec *work,
                            mgvi_live_rows *live)
{
    mgvi_rows_put_square_norms(rows, work);
    const double *square = mgvi_vec_host(work);
    *live = (mgvi_live_rows){.row = live->row, .least = INFINITY, .endless = -1};
    for (int64_t i = 0; i < p->A->rows; i++) {
        if (!(mgvi_coef_pick(&p->row.scale, i, 0) > 0))
            continue;
        live->total += square[i];
        live->most = fmax(live->most, square[i]);
        live->least = fmin(live->least, square[i]);
        if (live->endless < 0 && !isfinite(square[i]))
            live->endless = i;
        if (live->row)
            live->row[live->count] = (int32_t)i;
        live->count++;
    }
}

void mgvi_problem_balance_edges(const mgv_problem *p, const mgvi_live_rows *live,
                                mgvi_class_graph *g, mgvi_vec *scores)
{
    const int64_t edges = (int64_t)g->k * g->k;
    double *z = mgvi_vec_open(scores);
    mgvi_problem_measure_edges(p, z, g);
    memcpy(g->least, g->edge, (size_t)edges * sizeof *g->least);
    memset(g->edge, 0, (size_t)edges * sizeof *g->edge);
    for (int64_t t = 0; t < live->count; t++) {
        const int64_t at = mgvi_problem_edge(p, live->row[t]).at;
        g->edge[at] += exp(g->least[at] - z[live->row[t]]);
    }
    for (int64_t t = 0; t < edges; t++) /* ln sum exp(-z) */
        g->edge[t] = g->edge[t] > 0 ? log(g->edge[t]) - g->least[t] : -INFINITY;
    mgvi_class_graph_balance(g);
    for (int64_t t = 0; t < live->count; t++) {
        const mgvi_problem_pair edge = mgvi_problem_edge(p, live->row[t]);
        z[live->row[t]] += g->b[edge.own] - g->b[edge.rival];
    }
    mgvi_vec_close(scores);
}

double mgvi_problem_worst_edges(const mgv_problem *p, const mgvi_live_rows *live,
                                mgvi_class_graph *g, const mgvi_vec *scores, int32_t *row)
{
    const double *z = mgvi_vec_host(scores);
    mgvi_problem_measure_edges(p, z, g);
    const double least = mgvi_class_graph_least_mean(g);
    for (int32_t t = 0; t < g->length; t++)
        row[t] = -1;
    for (int64_t k = live->count - 1; k >= 0; k--) { /* the first of equals stays */
        const int32_t i = live->row[k];
        const mgvi_problem_pair edge = mgvi_problem_edge(p, i);
        if (z[i] != g->edge[edge.at])
            continue;
        for (int32_t t = 0; t < g->length; t++)
            if (g->cycle[t] == edge.own && g->cycle[(t + 1) % g->length] == edge.rival)
                row[t] = i;
    }
    return least;
}
