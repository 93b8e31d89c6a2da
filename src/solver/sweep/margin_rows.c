/* margin_rows.c - rows of norm at most 1, and pairs at the problem's scale. */
#include "solver/sweep/margin_rows.h"

#include <math.h>

mgv_status mgvi_margin_rows_new(mgvi_run *run, mgvi_margin_pair pair, mgvi_margin_rows *out)
{
    const int64_t n = run->problem->A->rows;
    MGVI_TRY(mgvi_run_check_rows(run));
    *out = (mgvi_margin_rows){.run = run, .pair = pair};
    if (run->problem->free_cols) {
        const int32_t k = run->problem->graph ? run->problem->outputs : 2;
        MGVI_TRY(MGVI_RUN_ARRAY(run, out->graph, 1));
        MGVI_TRY(mgvi_class_graph_new(&run->arena, k, out->graph));
    }
    MGVI_TRY(mgvi_rows_new(run->problem->A, &run->arena, &out->rows));
    MGVI_TRY(mgvi_run_vec(run, MGVI_COLS, &out->out_w));
    MGVI_TRY(mgvi_run_vec(run, MGVI_ROWS, &out->out_u));
    MGVI_TRY(MGVI_RUN_ARRAY(run, out->live.row, n));
    mgvi_problem_live_rows(run->problem, out->rows, &out->out_u, &out->live);
    out->radius = out->live.most > 0 ? sqrt(out->live.most) : 1;
    if (out->live.endless < 0)
        return MGV_OK;
    return MGVI_FAIL(run->ctx, MGV_E_INPUT,
                     "row %" PRId64
                     " is too large: |x|^2 overflows; divide the data by a power of ten",
                     out->live.endless + 1);
}

static void leave_out(const mgvi_margin_rows *r, mgvi_vec *z)
{
    if (r->live.count < z->n)
        mgvi_vec_leave_out(r->run->ctx, &r->run->problem->row.scale, INFINITY, z);
}

static void clear_intercepts(const mgvi_margin_rows *r, mgvi_vec *v)
{
    mgvi_vec free = mgvi_problem_free_part(r->run->problem, v);
    mgvi_vec_fill(r->run->ctx, &free, 0);
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
    mgvi_rows_put_weights(r->rows, acc, w);
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
    if (r->graph)
        mgvi_problem_balance_edges(r->run->problem, &r->live, r->graph, z);
}

double mgvi_margin_rows_worst(const mgvi_margin_rows *r, const mgvi_vec *z, int32_t *row,
                              int32_t *count)
{
    mgvi_class_graph *g = r->graph;
    *count = 1;
    double low;
    if (!g) {
        *row = (int32_t)mgvi_vec_first_least(z, &low);
        return low;
    }
    const double least = mgvi_problem_worst_edges(r->run->problem, &r->live, g, z, row);
    *count = g->length;
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
