/* margin_rows.c - rows of norm at most 1, and pairs at the problem's scale. */
#include "solver/sweep/margin_rows.h"

#include <math.h>
#include <string.h>

static bool has_weight(const mgv_problem *p, int64_t i)
{
    return mgvi_coef_pick(&p->row.scale, i, 0) > 0;
}

/* R from the squares in `square`, which has one number per row. */
static mgv_status measure(mgvi_margin_rows *r, double *square)
{
    const mgv_problem *p = r->run->problem;
    double most = 0;
    mgvi_rows_square_norms(r->rows, square);
    for (int64_t i = 0; i < p->A->rows; i++) {
        if (!has_weight(p, i))
            continue;
        if (!isfinite(square[i]))
            return MGVI_FAIL(r->run->ctx, MGV_E_INPUT,
                             "row %" PRId64
                             " is too large: |x|^2 overflows; divide the data by a power of ten",
                             i + 1);
        most = fmax(most, square[i]);
        r->live[r->live_count++] = (int32_t)i;
    }
    r->radius = most > 0 ? sqrt(most) : 1;
    return MGV_OK;
}

mgv_status mgvi_margin_rows_new(mgvi_run *run, mgvi_margin_pair pair, mgvi_margin_rows *out)
{
    const int64_t n = run->problem->A->rows;
    if (n > INT32_MAX)
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                         "solver %s takes at most 2^31 rows; there are %" PRId64, run->ops->name,
                         n);
    *out = (mgvi_margin_rows){.run = run, .pair = pair};
    if (run->problem->free_cols) {
        const int32_t k = run->problem->graph ? run->problem->outputs : 2;
        if (!(out->graph = mgvi_run_array(run, 1, sizeof *out->graph)))
            return MGV_E_MEMORY;
        MGVI_TRY(mgvi_class_graph_new(&run->arena, k, out->graph));
    }
    MGVI_TRY(mgvi_rows_new(run->problem->A, &run->arena, &out->rows));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &out->out_w));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &out->out_u));
    out->live = mgvi_run_array(run, (size_t)n, sizeof *out->live);
    return out->live ? measure(out, out->out_u.x) : MGV_E_MEMORY;
}

static void leave_out(const mgvi_margin_rows *r, mgvi_vec *z)
{
    if (r->live_count == z->n)
        return;
    for (int64_t i = 0; i < z->n; i++)
        if (!has_weight(r->run->problem, i))
            z->x[i] = INFINITY;
}

static void clear_intercepts(const mgvi_margin_rows *r, mgvi_vec *v)
{
    for (int64_t j = v->n - r->run->problem->free_cols; j < v->n; j++)
        v->x[j] = 0;
}

void mgvi_margin_rows_mul(const mgvi_margin_rows *r, const mgvi_vec *w, mgvi_vec *z)
{
    mgvi_op_mul(r->run->problem->A, 1 / r->radius, w, 0, z);
    leave_out(r, z);
}

void mgvi_margin_rows_mul_t(const mgvi_margin_rows *r, const mgvi_vec *q, mgvi_vec *v)
{
    mgvi_op_mul_t(r->run->problem->A, 1 / r->radius, q, 0, v);
    clear_intercepts(r, v);
}

void mgvi_margin_rows_weights(const mgvi_margin_rows *r, const double *acc, mgvi_vec *w)
{
    mgvi_rows_weights(r->rows, acc, w->x);
    clear_intercepts(r, w);
}

void mgvi_margin_rows_start(const mgvi_margin_rows *r, mgvi_vec *z)
{
    mgvi_vec_fill(r->run->ctx, z, 0);
    leave_out(r, z);
}

void mgvi_margin_rows_add(const mgvi_margin_rows *r, int64_t i, double delta, double *acc)
{
    mgvi_rows_axpy(r->rows, i, delta / r->radius, acc);
    r->run->touched += (double)mgvi_rows_nnz(r->rows, i);
}

/* ---- intercepts ------------------------------------------------------------------------------ */

void mgvi_margin_rows_balance(const mgvi_margin_rows *r, mgvi_vec *z)
{
    mgvi_class_graph *g = r->graph;
    const mgv_problem *p = r->run->problem;
    if (!g)
        return;
    const int64_t edges = (int64_t)g->k * g->k;
    mgvi_problem_measure_edges(p, z->x, g);
    memcpy(g->least, g->edge, (size_t)edges * sizeof *g->least);
    memset(g->edge, 0, (size_t)edges * sizeof *g->edge);
    for (int64_t t = 0; t < r->live_count; t++) {
        const int64_t at = mgvi_problem_edge(p, r->live[t]).at;
        g->edge[at] += exp(g->least[at] - z->x[r->live[t]]);
    }
    for (int64_t t = 0; t < edges; t++) /* ln sum exp(-z) */
        g->edge[t] = g->edge[t] > 0 ? log(g->edge[t]) - g->least[t] : -INFINITY;
    mgvi_class_graph_balance(g);
    for (int64_t t = 0; t < r->live_count; t++) {
        const mgvi_problem_pair edge = mgvi_problem_edge(p, r->live[t]);
        z->x[r->live[t]] += g->b[edge.own] - g->b[edge.rival];
    }
}

/* The first row with the least margin. */
static double first_worst(const mgvi_vec *z, int32_t *row)
{
    int64_t worst = 0;
    for (int64_t i = 1; i < z->n; i++)
        if (z->x[i] < z->x[worst])
            worst = i;
    *row = (int32_t)worst;
    return z->x[worst];
}

double mgvi_margin_rows_worst(const mgvi_margin_rows *r, const mgvi_vec *z, int32_t *row,
                              int32_t *count)
{
    mgvi_class_graph *g = r->graph;
    *count = 1;
    if (!g)
        return first_worst(z, row);
    mgvi_problem_measure_edges(r->run->problem, z->x, g);
    const double least = mgvi_class_graph_least_mean(g);
    *count = g->length;
    for (int32_t t = 0; t < g->length; t++)
        row[t] = -1;
    for (int64_t i = r->live_count - 1; i >= 0; i--) { /* the first of equals stays */
        const mgvi_problem_pair edge = mgvi_problem_edge(r->run->problem, r->live[i]);
        for (int32_t t = 0; t < g->length; t++)
            if (g->cycle[t] == edge.own && g->cycle[(t + 1) % g->length] == edge.rival &&
                z->x[r->live[i]] == g->edge[edge.at])
                row[t] = r->live[i];
    }
    return least;
}

/* ---- what is shown --------------------------------------------------------------------------- */

double mgvi_margin_rows_estimate(const mgvi_run *run)
{
    const mgvi_margin_pair *pair = &((const mgvi_margin_rows *)run->state)->pair;
    double sum;
    mgvi_vec_sum(run->ctx, pair->b, &sum);
    const double w = mgvi_op_length(run->problem->A, pair->w);
    const double v = mgvi_op_length(run->problem->A, pair->v);
    return 1 - *pair->least / w * (sum / v); /* NaN before the first step */
}

/* A factor that cannot be trusted (0, infinite, NaN) leaves the vector as it is: only its direction
 * counts. */
static double sound(double factor) { return factor > 0 && isfinite(factor) ? factor : 1; }

mgvi_iterate mgvi_margin_rows_expose(mgvi_run *run)
{
    mgvi_margin_rows *r = run->state;
    const mgvi_margin_pair *pair = &r->pair;
    mgv_ctx *ctx = run->ctx;
    double sum;
    mgvi_vec_sum(ctx, pair->b, &sum);
    const double length = mgvi_op_length(run->problem->A, pair->v);
    const double norm = r->radius * length; /* |A'b| */
    mgvi_vec_axpby(ctx, sound(1 / (r->radius * *pair->least)), pair->w, 0, &r->out_w);
    mgvi_vec_axpby(ctx, -sound(sum / norm / norm), pair->b, 0, &r->out_u);
    return (mgvi_iterate){.w = &r->out_w, .u = &r->out_u};
}
