/* rounding.c - bounds of what rounding has done, from sizes of columns. */
#include "certify/rounding.h"

#include "op/view.h"

#include <float.h>
#include <math.h>

/* Few operations follow a sum: scaling, signs, the shift of the intercept. */
enum { AFTER = 12 };
#define LAST_BIT (1.5 * MGVI_UNIT) /* of a score, whatever else it is off */

static bool over_data(const mgv_problem *p)
{
    return p->kernel.kind == MGVI_KERNEL_LINEAR && p->A->stored;
}

static int64_t longest_row(const mgvi_matrix *m)
{
    int64_t most = 0;
    if (m->layout != MGV_CSR)
        return m->cols;
    for (int64_t i = 0; i < m->rows; i++)
        most = m->ptr[i + 1] - m->ptr[i] > most ? m->ptr[i + 1] - m->ptr[i] : most;
    return most;
}

/* Of a table whose check has not left it: no bound may be 0 because nobody has looked. */
static double largest_entry(const mgvi_matrix *m)
{
    double most = 0;
    if (!m->val)
        return 0;
    for (int64_t i = 0; i < mgvi_matrix_lines(m); i++) {
        const mgvi_span l = mgvi_matrix_span(m, i);
        for (int64_t t = 0; t < l.count; t++)
            most = fmax(most, fabs(mgvi_span_value(m, &l, t)));
    }
    return most;
}

/* Standard deviations are right but for a few bits and for what their means, plain sums over the
 * rows in a few blocks, are off: in units of the deviation that is at most `mean` times what lies
 * between two rows, sqrt(n), and counts by its square. Other scales are exact but for their last
 * bits, which AFTER counts. */
static double scale_error(const mgv_problem *p)
{
    enum { BLOCKS = 8, GRAIN = 1 << 15 };
    const double n = (double)p->A->rows;
    const double mean = mgvi_sum_error(fmin(n, n / BLOCKS + GRAIN));
    return p->scaling == MGVI_SCALE_STD ? mgvi_sum_error(4) + mean * mean * n : 0;
}

/* Only products in long double ask, which cost much more than to measure it. */
double mgvi_kernel_scale_error(mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    if (p->view.scale && judge->point_scale == 0) {
        judge->point_scale = scale_error(p) + 2 * MGVI_UNIT;
        if (p->scaling == MGVI_SCALE_STD)
            judge->point_scale = fmin(judge->point_scale, mgvi_scales_off(judge));
    }
    return judge->point_scale;
}

mgv_status mgvi_reach_open(mgvi_judge *judge, mgvi_arena *arena)
{
    const mgv_problem *p = judge->problem;
    judge->arena = arena;
    MGVI_TRY(MGVI_ARRAY(arena, judge->error, p->lanes));
    MGVI_TRY(MGVI_ARRAY(arena, judge->u_sum, p->lanes));
    judge->reach.col_terms = mgvi_op_terms_t(p->A, p->lanes);
    judge->reach.row_terms = (double)p->A->cols;
    if (!over_data(p))
        return MGV_OK;
    const mgvi_matrix *X = p->A->stored;
    judge->reach.most = X->most > 0 ? X->most : largest_entry(X);
    judge->reach.scale = scale_error(p);
    judge->reach.row_terms = (double)longest_row(X);
    judge->reach.rows = p->view.row_scale ? 4 * MGVI_UNIT : 0; /* op/row_norms.c, and 1/|x| */
    return MGV_OK;
}

void mgvi_reach_look(mgvi_judge *judge)
{
    if (!judge->reach.column)
        mgvi_careful_reach(judge);
}

/* mgvi_reach_of() of all columns: factor * size[j], or one number. */
typedef struct reach_view {
    const double *size;
    double factor; /* or that number */
} reach_view;

static reach_view view_reach(const mgvi_judge *judge, bool centred)
{
    const mgv_problem *p = judge->problem;
    const mgvi_reach *r = &judge->reach;
    const mgvi_matrix *stored = p->A->stored;
    if (p->view.row_scale)
        return (reach_view){.factor = 1 + DBL_EPSILON * (double)p->A->cols}; /* rows of length 1 */
    if (r->column)
        return (reach_view){.size = centred ? r->centred : r->column, .factor = 1};
    const double factor = centred && p->view.centre ? 2 : 1; /* a mean is no larger */
    return stored && stored->size ? (reach_view){.size = stored->size, .factor = factor}
                                  : (reach_view){.factor = factor * r->most};
}

static inline double reach_at(reach_view v, int64_t j)
{
    return v.size ? v.factor * v.size[j] : v.factor;
}

double mgvi_reach_of(const mgvi_judge *judge, int64_t j, bool centred)
{
    return reach_at(view_reach(judge, centred), j);
}

/* ---- z = A w --------------------------------------------------------------------------------- */

/* Of one output's scores over a table: the product itself, the centre's part of it, and what the
 * weights in the user's units, intercept included, are rounded by. */
static double table_error(const mgvi_judge *judge, const double *w, int64_t c)
{
    const mgv_problem *p = judge->problem;
    const int64_t k = p->outputs, d = mgvi_problem_coefs(p);
    double size = 0, mean = 0, square = 0;
    for (int64_t j = 0; j < d; j++) {
        const double coef = fabs(mgvi_view_scale(&p->view, j) * w[j * k + c]);
        size += coef * mgvi_reach_of(judge, j, false);
        mean += p->view.centre ? coef * fabs(p->view.centre[j]) : 0;
        square += coef * coef;
    }
    if (p->view.row_scale)
        size = sqrt(square) * (1 + mgvi_sum_error((double)d));
    const double b = p->free_cols ? fabs(w[d * k + c]) : 0;
    return (1 + mgvi_sum_error((double)d)) *
           (mgvi_sum_error(judge->reach.row_terms + AFTER) * size +
            mgvi_sum_error((double)d + AFTER) * mean + AFTER * MGVI_UNIT * b);
}

static double largest_score(const mgvi_judge *judge)
{
    const double *z = mgvi_vec_host(&judge->z);
    double most = 0;
    for (int64_t i = 0; i < judge->z.n * judge->z.k; i++)
        most = fmax(most, fabs(z[i]));
    return most;
}

void mgvi_score_errors(mgvi_judge *judge, const mgvi_vec *w, double *out)
{
    const mgv_problem *p = judge->problem;
    double most = 0;
    if (!over_data(p)) { /* exact is what another's operator computes, but for its last bits */
        const double error = 64 * MGVI_UNIT * largest_score(judge);
        const bool known = p->A->ops->mul_rounding != NULL;
        const mgvi_vec at = mgvi_vec_hosted(w);
        for (int32_t c = 0; c < p->lanes; c++)
            out[c] = known ? p->A->ops->mul_rounding(p->A, &at, c) : error;
        return;
    }
    const double *weight = mgvi_vec_host(w);
    for (int64_t c = 0; c < p->outputs; c++) {
        const double error = table_error(judge, weight, c);
        most = fmax(most, error);
        if (c < p->lanes)
            out[c] = error;
    }
    if (p->outputs > p->lanes) /* a difference of two scores */
        out[0] = 2 * most + 2 * MGVI_UNIT * largest_score(judge);
}

/* A row of scores loses at its own class what all others may gain. */
static void worsen_classes(const mgvi_judge *judge, const double *error, double *score)
{
    const mgv_problem *p = judge->problem;
    const int32_t k = p->lanes;
    double most = 0;
    for (int32_t c = 0; c < k; c++)
        most = fmax(most, error[c]);
    for (int64_t i = 0; i < judge->z.n; i++) {
        const int32_t own = (int32_t)mgvi_coef_pick(&p->row.a, i, 0);
        double *z = score + i * k;
        for (int32_t c = 0; c < k; c++)
            z[c] += (c == own ? -1 : 1) * LAST_BIT * fabs(z[c]);
        z[own] -= 2 * most;
    }
}

/* Which way the loss grows from a score x of row i, and where the ends of intervals are, each a
 * rounding of y +- epsilon, that further. */
static double worse_side(const mgv_problem *p, int64_t i, int32_t c, double x, double *off)
{
    const mgvi_coef at = mgvi_coefs_at(&p->row, i, c);
    *off = 0;
    if (p->loss->can & MGVI_MARGIN)
        return -1;
    if (!(p->loss->can & MGVI_BETWEEN))
        return x < at.a ? -1 : 1;
    const double side = x < at.a / 2 + at.b / 2 ? -1 : 1, end = side > 0 ? at.b : at.a;
    *off = isfinite(end) ? MGVI_UNIT * fabs(end) : 0;
    return side;
}

void mgvi_worsen_scores(mgvi_judge *judge, const double *error)
{
    const mgv_problem *p = judge->problem;
    const int32_t k = p->lanes;
    double *z = mgvi_vec_open(&judge->z);
    if (p->loss->can & MGVI_JOINT) {
        worsen_classes(judge, error, z);
    } else if ((p->loss->can & MGVI_MARGIN) && k == 1) { /* falling */
        const double e = error[0];
        for (int64_t i = 0; i < judge->z.n; i++)
            z[i] -= e + LAST_BIT * fabs(z[i]);
    } else {
        for (int64_t i = 0; i < judge->z.n; i++)
            for (int32_t c = 0; c < k; c++) {
                const double x = z[i * k + c];
                double off;
                const double side = worse_side(p, i, c, x, &off);
                z[i * k + c] += side * (error[c] + LAST_BIT * fabs(x) + off);
            }
    }
    mgvi_vec_close(&judge->z);
}

/* ---- v = -A'u -------------------------------------------------------------------------------- */

/* To the end of [v - e, v + e] where the convex r* is larger. */
static double worse_end(const mgv_problem *p, int64_t j, int32_t c, double v, double e)
{
    const mgvi_coef coef = mgvi_coefs_at(&p->col, j, c);
    const double low = p->penalty->conj(coef, v - e), high = p->penalty->conj(coef, v + e);
    return low > high || (low == high && v < 0) ? v - e : v + e;
}

/* Of penalties that are not even: norms of |v| grow with every |v_j|, entropy's conjugate with
 * every v_j. */
static double worse_entry(const mgv_problem *p, int64_t j, int32_t c, double v, double e)
{
    if (!p->penalty->whole)
        return p->penalty->conj ? worse_end(p, j, c, v, e) : v;
    return p->penalty->whole->most || v > 0 ? v + e : v - e;
}

/* What a column's centre, a rounded mean, is off; beside an intercept it does not matter. */
static inline double centre_error(const mgvi_judge *judge, int64_t j, double spread)
{
    const mgv_problem *p = judge->problem;
    if (!p->view.centre || p->free_cols || spread == 0) /* a mean of equal numbers is one of them */
        return 0;
    return 4 * MGVI_UNIT * fabs(p->view.centre[j]) + judge->reach.scale * spread;
}

double mgvi_worsen_columns(mgvi_judge *judge, const double *sum, bool careful, mgvi_vec *v)
{
    const mgv_problem *p = judge->problem;
    const int32_t k = v->k;
    const double plain = 2 * mgvi_sum_error(judge->reach.col_terms + AFTER) + judge->reach.rows;
    const double own = AFTER * MGVI_UNIT + judge->reach.scale;
    const double sums = 2 * MGVI_UNIT * mgvi_coef_pick(&p->col.scale, 0, 0); /* of `all` itself */
    const bool level = p->penalty->can & MGVI_LEVEL, even = p->penalty->can & MGVI_EVEN;
    const bool looked = p->view.centre && judge->reach.column;
    const int64_t each = p->outputs / p->lanes; /* contrasts have a column for each class */
    const double twice = each > 1 ? 2 : 1;
    const reach_view reach = view_reach(judge, false), centred = view_reach(judge, true);
    double square = 0, all = 0, *moving = mgvi_vec_open(v);
    for (int64_t j = 0; j < v->n; j++) {
        const int64_t column = each > 1 ? j / each : j;
        const double spread = reach_at(centred, column);
        const bool constant = looked && spread == 0; /* A has zeros there */
        const double scale = mgvi_view_scale(&p->view, column) * twice;
        const double part =
            (careful ? mgvi_careful_part(judge, column) : plain * reach_at(reach, column)) +
            centre_error(judge, column, spread);
        const double moved = judge->imbalance * spread;
        for (int32_t c = 0; c < k; c++) {
            double *x = &moving[j * k + c];
            const double most = sum[c] > judge->shares ? sum[c] : judge->shares;
            const double off = part * sum[c] + moved * most + judge->closed * spread * sum[c];
            const double e = constant ? 0 : scale * off + own * fabs(*x);
            if (constant)
                *x = 0;
            else if (even)
                *x += *x > 0 ? e : -e;
            else if (!level)
                *x = worse_entry(p, j, c, *x, e);
            square += e * e;
            all += e + sums;
        }
    }
    mgvi_vec_close(v);
    return (level ? all : sqrt(square)) * (1 + mgvi_sum_error((double)v->n * k));
}
