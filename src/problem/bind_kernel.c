/* bind_kernel.c - binds a kernel: its numbers, its precision, its operator. */
#include "op/stats.h"
#include "problem/problem.h"

#include <math.h>
#include <string.h>

/* Half the summed variance of the scaled columns: the mean of |x - z|^2/(2 sigma2) is then 2. Rows of
 * weight 0, those a fold does not train on, have no part in it; weights have, beside them. */
static mgv_status usual_width(mgv_problem *p, double *out)
{
    const mgvi_matrix *X = &p->data->X;
    *out = p->whole ? p->whole->kernel.sigma2 : 0.5; /* 0.5: rows of length 1 */
    if (p->whole || p->view.row_scale)
        return MGV_OK;
    double *mean = mgvi_alloc(p->ctx, (size_t)X->cols, sizeof *mean);
    double *std = mgvi_alloc(p->ctx, (size_t)X->cols, sizeof *std);
    const mgv_status st = mean && std
                              ? mgvi_matrix_column_stats(p->ctx, X, mgvi_problem_partial_rows(p),
                                                         mean, std, NULL, NULL)
                              : MGV_E_MEMORY;
    double sum = 0;
    for (int64_t j = 0; st == MGV_OK && j < X->cols; j++) {
        const double s = p->view.scale ? p->view.scale[j] * std[j] : std[j];
        sum += s * s;
    }
    mgvi_release(p->ctx, std);
    mgvi_release(p->ctx, mean);
    if (sum > 0 && isfinite(sum))
        *out = sum / 2;
    return st;
}

/* About the mean of the points, where that is worth it, and the mean of |x|^2 from there. Rows
 * divided by their lengths are short as they are, and std has centred the others. */
static mgv_status choose_centre(mgv_problem *p, double *square)
{
    const mgvi_matrix *X = &p->data->X;
    bool moved;
    *square = p->view.row_scale ? 1 : (double)X->cols;
    if (p->view.row_scale || (p->view.centre && X->layout == MGV_DENSE))
        return MGV_OK;
    double *centre;
    MGVI_TRY(MGVI_ARRAY(&p->arena, centre, X->cols));
    MGVI_TRY(mgvi_points_choose_centre(p->ctx, X, p->view.scale, centre, &moved, square));
    p->view.centre = moved ? centre : NULL;
    return MGV_OK;
}

/* Kernels of differences do not see where the origin lies, but their rounding does. Beside an
 * intercept so does poly's, whose feature space may be seen from anywhere (op/kernel_origin.h). */
static mgv_status choose_origin(mgv_problem *p)
{
    mgvi_kernel *k = &p->kernel;
    const bool poly = k->kind == MGVI_KERNEL_POLY && p->settings.intercept;
    const double *scaled = p->view.centre; /* by std: the kernel is one of centred points */
    double square;
    if (!mgvi_kernel_of_differences(k->kind) && !poly)
        return MGV_OK;
    if (p->whole) {
        p->view.centre = p->whole->view.centre;
        k->origin = p->whole->kernel.origin;
        return MGV_OK;
    }
    if (poly && scaled && p->data->X.layout != MGV_DENSE)
        return MGV_OK; /* which sparse ones cannot be */
    MGVI_TRY(choose_centre(p, &square));
    if (poly && p->view.centre != scaled)
        k->origin = MGVI_ORIGIN_CENTRE;
    else if (poly && k->offset > MGVI_CENTRE_GAIN * square / k->sigma2)
        k->origin = MGVI_ORIGIN_ZERO;
    return MGV_OK;
}

/* float32 values where they were asked for and their error can be bounded (op/kernel_exact.c) for
 * the solver that works with them; the judge is float64 all the same. Points of few columns gain
 * nothing: their values are not even stored. */
static mgv_dtype choose_precision(const mgv_problem *p)
{
    const char *solver = p->settings.solver;
    const bool known = (p->loss->can & MGVI_MARGIN) && (p->loss->can & MGVI_QUADRATIC_DUAL) &&
                       !(p->loss->can & MGVI_WIDTH);
    return p->settings.precision == MGVI_PRECISION_F32 && known && p->outputs == 1 &&
                   p->kernel.kind == MGVI_KERNEL_RBF && p->data->X.layout == MGV_DENSE &&
                   p->data->X.cols > MGVI_SHORT_COLUMNS &&
                   (mgvi_is_auto(solver) || strcmp(solver, "kernel_svm") == 0)
               ? MGV_F32
               : MGV_F64;
}

mgv_status mgvi_bind_kernel(mgv_problem *p)
{
    static const double MEGABYTE = 1e6;
    mgvi_kernel *k = &p->kernel;
    const char *name = mgvi_kernel_name(k->kind);
    const bool given = k->kind == MGVI_KERNEL_PRECOMPUTED;
    if (mgvi_penalty_parts(p->penalty) != MGVI_SQUARE)
        return MGVI_FAIL(p->ctx, MGV_E_UNSUPPORTED,
                         "kernel %s needs --penalty l2 and --p 2 (got %s)", name, p->penalty->name);
    if (p->data->col_weights)
        return MGVI_FAIL(
            p->ctx, MGV_E_UNSUPPORTED,
            "kernel %s has no columns of its own; leave out the weights of the columns", name);
    if (given && p->scaling != MGVI_SCALE_NONE)
        return MGVI_FAIL(p->ctx, MGV_E_ARG,
                         "a precomputed kernel cannot be scaled (got --scale %s); scale the data "
                         "before the kernel is computed",
                         mgvi_scale_name(p->scaling));
    k->degree = (int)p->settings.degree;
    k->offset = p->settings.offset;
    k->sigma2 = isnan(p->settings.sigma2) ? 1 : p->settings.sigma2;
    if (isnan(p->settings.sigma2) && (k->kind == MGVI_KERNEL_RBF || k->kind == MGVI_KERNEL_LAPLACE))
        MGVI_TRY(usual_width(p, &k->sigma2));
    MGVI_TRY(choose_origin(p));
    const mgvi_kernel_plan plan = {
        .kernel = *k,
        .X = &p->data->X,
        .scaling = {.view = p->view, .origin = k->origin == MGVI_ORIGIN_CENTRE},
        .lanes = p->outputs,
        .fast = choose_precision(p),
        .lender = p->whole && p->whole->data == p->data ? mgvi_kernel_of(p->whole->A) : NULL,
        .cache_bytes = p->settings.cache * MEGABYTE};
    return mgvi_op_kernel(p->ctx, &plan, &p->A);
}
