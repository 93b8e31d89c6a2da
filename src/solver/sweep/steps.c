/* steps.c - tau (sigma L^2 + ...) <= 1 with L from Lanczos, and sigma from the data:
 * docs/algorithms/primal_dual.md (4) to (7). */
#include "solver/sweep/steps.h"

#include <math.h>
#include <string.h>

/* Below 1, or w would stop where the bound is attained. */
static const double MARGIN = 0.99;

mgv_status mgvi_centred_intercept(mgv_ctx *ctx, const mgv_problem *p)
{
    if (p->free_cols && (!p->view.centre || p->view.row_scale))
        return MGVI_FAIL(
            ctx, MGV_E_UNSUPPORTED,
            "this solver's intercept needs centred columns, which --scale rownorm does "
            "not have; ask for --no-intercept");
    return MGV_OK;
}

void mgvi_start_weights(const mgv_problem *p, mgvi_vec *w)
{
    mgvi_vec_fill(p->ctx, w, 0);
    if (!p->free_cols || (p->loss->can & MGVI_MARGIN) || !p->target)
        return;
    double sum = 0, total = 0;
    for (int64_t i = 0; i < p->A->rows; i++) {
        const double s = mgvi_coef_pick(&p->row.scale, i, 0);
        sum += s * mgvi_problem_target(p, i);
        total += s;
    }
    mgvi_vec free = mgvi_problem_free_part(p, w);
    if (total > 0)
        mgvi_vec_fill(p->ctx, &free, sum / total);
}

void mgvi_displacement(const mgv_problem *p, const mgvi_vec *z, mgvi_vec *out)
{
    if (p->loss->can & MGVI_HARD) {
        mgvi_loss_prox(p->ctx, p->loss, &p->row, z, 1, out);
        mgvi_vec_add(p->ctx, 1, z, -1, out, out);
        return;
    }
    const mgvi_coef_array target = {
        .values = p->loss->can & MGVI_MARGIN ? NULL : p->target, .lanes = 1, .constant = 1};
    mgvi_vec_less(p->ctx, z, &target, out);
    mgvi_vec_leave_out(p->ctx, &p->row.scale, 0, out);
}

/* (4): tau (sigma (1 + overlap) (L^2 + |D|^2) + L_F) = MARGIN, and the same for the free column.
 * Where sigma = ratio tau that is a square's root. */
void mgvi_steps_set_norm(const mgvi_run *run, mgvi_steps *s, double norm)
{
    s->norm = norm;
    const int64_t d = mgvi_problem_penalised(run->problem);
    const double size = (1 + s->overlap) * (norm * norm + s->split), most = s->inverse ? 1 : MARGIN;
    double stretch = s->unit ? 0 : 1; /* F moves with w, which the units scale */
    for (int64_t j = 0; s->unit && j < d; j++)
        stretch = fmax(stretch, s->unit[j] * s->unit[j]);
    const double smooth = s->smooth * stretch;
    if (s->ratio > 0 && size > 0)
        s->sigma =
            2 * s->ratio * most / (smooth + sqrt(smooth * smooth + 4 * most * s->ratio * size));
    const double dual = s->sigma * (1 + s->overlap);
    const double slope = dual * (norm * norm + s->split) + smooth;
    s->tau = slope > 0 ? most / slope : 1;
    s->tau_free = s->free_size > 0 ? most / (dual * s->free_size + s->smooth) : 0;
    if (s->inverse && s->free_size > 0) /* a column like the others */
        s->tau_free = s->tau / s->free_size;
    for (int64_t j = 0; s->square && j < d; j++)
        s->square[j] = s->tau * s->unit[j] * s->unit[j];
}

/* The free column's size, and how far from orthogonal to the others it is: 0 when those are
 * centred. */
static mgv_status measure_free(mgvi_run *run, mgvi_vec *rows, mgvi_vec *cols, mgvi_steps *s)
{
    const mgv_problem *p = run->problem;
    if (!p->free_cols)
        return MGV_OK;
    double size;
    mgvi_problem_free_column(p, rows);
    mgvi_op_mul_t(p->A, 1, rows, 0, cols);
    s->free_size = (double)rows->n;
    mgvi_vec part = mgvi_problem_penalised_part(p, cols);
    if (s->unit)
        mgvi_vec_weigh(p->ctx, &(mgvi_coef_array){.values = s->unit, .lanes = 1}, &part, &part);
    mgvi_vec_dot(p->ctx, &part, &part, &size);
    if (!s->inverse) /* whose lemma counts the free column among the others */
        s->overlap = s->norm > 0 ? fmin(1, sqrt(size / s->free_size) / s->norm) : 0;
    return MGV_OK;
}

/* The setting `steps` is not every solver's. */
static mgv_status check_kind(const mgvi_run *run)
{
    char own[64];
    bool known = run->settings->steps == MGVI_STEPS_SCALAR;
    for (int k = 0; !known && mgvi_solver_setting(run->ops, k, own); k++)
        known = strcmp(own, "steps") == 0;
    if (known)
        return MGV_OK;
    return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                     "%s has one step for all, none that goes column by column; leave out steps, "
                     "or name primal_dual",
                     run->ops->name);
}

static mgv_status bind_units(mgvi_run *run, mgvi_columns *columns, mgvi_steps *s)
{
    const mgv_problem *p = run->problem;
    const int64_t d = mgvi_problem_penalised(p);
    MGVI_TRY(check_kind(run));
    if (run->settings->steps == MGVI_STEPS_SCALAR)
        return MGV_OK;
    if (!columns || !(p->penalty->can & MGVI_SEPARABLE))
        return MGVI_FAIL(
            run->ctx, MGV_E_UNSUPPORTED,
            "steps of columns and rows need a stored matrix and a penalty that works column by "
            "column; this is operator %s with penalty %s",
            p->A->ops->name, p->penalty->name);
    MGVI_TRY(MGVI_VECTORS(&run->arena, d, &s->unit, &s->square));
    mgvi_columns_square_norms(columns, s->unit);
    for (int64_t j = 0; j < d; j++)
        s->unit[j] = s->unit[j] > 0 ? 1 / sqrt(s->unit[j]) : 1;
    return MGV_OK;
}

/* (7b): with m the most entries of a row, sigma_i = sigma m/|A_i|_0 and tau_j = 1/(sigma m |A_j|^2),
 * so that |A| in these units is sqrt(m) at most. */
static mgv_status bind_rows(mgvi_run *run, mgvi_columns *columns, mgvi_steps *s, double *norm)
{
    const mgv_problem *p = run->problem;
    double most = 1;
    if (run->settings->steps != MGVI_STEPS_POCK_CHAMBOLLE)
        return MGV_OK;
    if (mgvi_problem_has_smooth(p) || !isnan(run->settings->lipschitz) ||
        !isnan(run->settings->step_ratio))
        return MGVI_FAIL(run->ctx, MGV_E_UNSUPPORTED,
                         "steps pock_chambolle follow from the entries of A and from sigma alone; "
                         "leave out lipschitz and step_ratio, and a smooth function");
    MGVI_TRY(MGVI_VECTORS(&run->arena, p->A->rows, &s->inverse));
    mgvi_columns_row_counts(columns, s->inverse);
    for (int64_t i = 0; i < p->A->rows; i++) {
        s->inverse[i] = fmax(1, s->inverse[i] + (double)p->free_cols);
        most = fmax(most, s->inverse[i]);
    }
    for (int64_t i = 0; i < p->A->rows; i++) /* times 1/sigma, which comes later */
        s->inverse[i] /= most;
    *norm = sqrt(most);
    return MGV_OK;
}

/* (6): the second iterate is the first that can be nonzero, and is when 2 sigma R°(A'r) > 1, r the
 * displacement at the start. A soft loss bounds u by s_i: sigma of that size lets u cross its
 * range in a step. */
static double choose_sigma(const mgvi_run *run, double gauge, const mgvi_steps *s)
{
    const mgv_settings *set = run->settings;
    const mgv_problem *p = run->problem;
    if (!isnan(set->sigma))
        return set->sigma;
    if (!(p->loss->can & MGVI_HARD)) {
        double sum = 0;
        for (int64_t i = 0; i < p->A->rows; i++)
            sum += mgvi_coef_pick(&p->row.scale, i, 0);
        return sum > 0 ? sum / (double)p->A->rows : 1;
    }
    if (gauge > 0 && isfinite(gauge))
        return set->sigma_factor / gauge;
    return s->norm > 0 ? 1 / s->norm : 1;
}

mgv_status mgvi_steps_new(mgvi_run *run, const mgvi_penalty *penalty, mgvi_columns *columns,
                          const mgvi_vec *start, mgvi_steps *s)
{
    const mgv_problem *p = run->problem;
    const int64_t d = mgvi_problem_penalised(p);
    mgvi_vec z, r, v, work;
    *s = (mgvi_steps){.sigma = 1};
    MGVI_TRY(MGVI_VECS(&run->arena, MGVI_ROWS, p->A->rows, 1, &z, &r));
    MGVI_TRY(mgvi_vec_new(&run->arena, MGVI_COLS, p->A->cols, 1, &v));
    MGVI_TRY(mgvi_vec_new(&run->arena, MGVI_COLS, d, 1, &work));
    MGVI_TRY(bind_units(run, columns, s));
    double norm = sqrt(run->settings->lipschitz);
    MGVI_TRY(bind_rows(run, columns, s, &norm));
    if (isnan(norm))
        MGVI_TRY(mgvi_op_norm_cover(p->A, &run->arena, s->unit, d, 1, &norm));
    s->norm = norm;
    MGVI_TRY(measure_free(run, &z, &v, s));
    mgvi_op_mul(p->A, 1, start, 0, &z);
    mgvi_displacement(p, &z, &r);
    mgvi_op_mul_t(p->A, -1, &r, 0, &v);
    const mgvi_vec part = mgvi_problem_penalised_part(p, &v);
    s->sigma = choose_sigma(run, mgvi_penalty_gauge(penalty, &part, &work), s);
    if (!isfinite(s->sigma) || !(s->sigma > 0))
        return MGVI_FAIL(run->ctx, MGV_E_NUMERIC, "the step sigma is %g", s->sigma);
    for (int64_t i = 0; s->inverse && i < p->A->rows; i++)
        s->inverse[i] /= s->sigma;
    mgvi_steps_set_norm(run, s, norm);
    return MGV_OK;
}

double mgvi_normal_residual(const mgvi_run *run, double norm, const mgvi_vec *w, mgvi_scratch by)
{
    const unsigned equal = MGVI_HARD | MGVI_LINEAR_DUAL, can = run->problem->loss->can;
    double size, missed;
    if ((can & equal) != equal || (can & MGVI_MARGIN) || run->iteration == 0)
        return NAN;
    mgvi_op *A = run->problem->A;
    const double touched = A->touched; /* for the report, and no part of the run */
    mgvi_op_mul(A, 1, w, 0, by.z);
    mgvi_displacement(run->problem, by.z, by.r);
    mgvi_op_mul_t(A, 1, by.r, 0, by.g);
    A->touched = touched;
    mgvi_vec_norm2(run->ctx, by.g, &size);
    mgvi_vec_norm2(run->ctx, by.r, &missed);
    return missed > 0 && norm > 0 ? size / (missed * norm) : NAN;
}

/* The least and the largest of `values`. */
static void range(const double *values, int64_t count, double *least, double *most)
{
    *least = INFINITY;
    *most = 0;
    for (int64_t i = 0; i < count; i++) {
        *least = fmin(*least, values[i]);
        *most = fmax(*most, values[i]);
    }
}

int mgvi_steps_facts(const mgvi_steps *s, int64_t columns, int64_t rows, mgvi_fact *out)
{
    int n = 0;
    double least = s->tau, most = s->tau, low = s->sigma, high = s->sigma;
    if (s->square)
        range(s->square, columns, &least, &most);
    if (s->inverse) {
        range(s->inverse, rows, &high, &low);
        low = 1 / low;
        high = 1 / high;
    }
    out[n++] = (mgvi_fact){s->unit ? "scaled_norm" : "norm", s->norm};
    out[n++] = (mgvi_fact){"sigma", low};
    if (s->inverse)
        out[n++] = (mgvi_fact){"sigma_most", high};
    out[n++] = (mgvi_fact){"tau", least};
    if (s->square)
        out[n++] = (mgvi_fact){"tau_most", most};
    return n;
}
