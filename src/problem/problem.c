/* problem.c - creates a problem from data and settings. */
#include "problem/problem.h"

#include "base/hash.h"
#include "base/limit.h"

#include <math.h>
#include <string.h>

const char *mgvi_scale_name(mgvi_scaling scale)
{
    static const char *const words[] = {MGVI_SCALE_WORDS(MGVI_WORD)};
    return words[scale];
}

static mgv_status open_problem(mgv_ctx *ctx, const mgv_settings *settings, mgv_problem **out)
{
    mgv_problem *p = mgvi_new(ctx, sizeof *p);
    *out = p;
    if (!p)
        return MGV_E_MEMORY;
    p->ctx = ctx;
    p->lanes = p->outputs = 1;
    p->settings = *settings;
    mgvi_arena_init(&p->arena, ctx);
    return MGV_OK;
}

/* Which classes: see problem.h. */
typedef struct classes {
    int64_t positive;
    const mgvi_lane *block;
    int32_t lanes;
    const mgv_problem *whole;
    const mgvi_matrix *columns; /* in the place of the data's; NULL */
} classes;

static mgv_status bind_data(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                            classes which, mgv_problem **out)
{
    mgv_problem *p;
    mgv_status st = MGV_OK;
    *out = NULL;
    MGVI_TRY(open_problem(ctx, settings, &p));
    if (which.columns) {
        mgv_data *own = mgvi_arena_array(&p->arena, 1, sizeof *own);
        if (!own)
            MGVI_CHECK(st, done, MGV_E_MEMORY);
        *own = *data;
        own->X = *which.columns;
        own->names = NULL;
        data = own;
    }
    p->data = data;
    p->positive = which.positive;
    p->whole = which.whole;
    p->block = which.block;
    p->lanes = p->outputs = p->block ? which.lanes : 1;
    if (!data->labels)
        MGVI_CHECK(st, done,
                   MGVI_FAIL(ctx, MGV_E_INPUT,
                             "the data has no labels to fit; --labels FILE names theirs"));
    if (data->gaps)
        MGVI_CHECK(st, done,
                   MGVI_FAIL(ctx, MGV_E_INPUT,
                             "some rows have no label; they can be predicted, but a fit needs a "
                             "label for every row"));
    if (data->X.rows == 0 || data->X.cols == 0)
        MGVI_CHECK(st, done,
                   MGVI_FAIL(ctx, MGV_E_INPUT,
                             "the data is empty (got %" PRId64 " rows, %" PRId64
                             " columns); a fit needs at least one of each",
                             data->X.rows, data->X.cols));
    MGVI_CHECK(st, done, mgvi_data_check_once(ctx, data));
    MGVI_CHECK(st, done, mgvi_bind_terms(p));
    MGVI_CHECK(st, done, mgvi_bind_rows(p));
    MGVI_CHECK(st, done, mgvi_bind_operator(p));
    MGVI_CHECK(st, done, mgvi_ctx_whole(ctx));
    MGVI_CHECK(st, done, p->block ? mgvi_bind_lane_weights(p) : MGV_OK);
    MGVI_CHECK(st, done, mgvi_bind_formula(p));
    *out = p;
    p = NULL;
done:
    mgvi_problem_free(p);
    return st;
}

mgv_status mgvi_problem_new(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                            int64_t positive, mgv_problem **out)
{
    return bind_data(ctx, data, settings, (classes){.positive = positive}, out);
}

mgv_status mgvi_problem_new_in_time(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                                    mgv_problem **out)
{
    mgvi_ctx_open(ctx, MGVI_GRACE);
    mgv_status st = mgvi_problem_new(ctx, data, settings, MGVI_EVERY_CLASS, out);
    if (mgvi_ctx_close(ctx) && mgvi_limit_explains(st)) {
        mgvi_problem_free(*out);
        *out = NULL;
        st = MGVI_FAIL(ctx, MGV_E_LIMIT, "%s before the problem was set up: nothing was fitted",
                       mgvi_limit_words(ctx));
    }
    return st;
}

mgv_status mgvi_problem_new_member(mgv_ctx *ctx, const mgv_problem *whole,
                                   const mgv_settings *settings, int64_t positive,
                                   mgv_problem **out)
{
    return bind_data(ctx, whole->data, settings, (classes){.positive = positive, .whole = whole},
                     out);
}

mgv_status mgvi_problem_new_block(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                                  const mgvi_lane *lane, int32_t count, const mgv_problem *whole,
                                  mgv_problem **out)
{
    const classes which = {
        .positive = lane->positive, .block = lane, .lanes = count, .whole = whole};
    return bind_data(ctx, data, settings, which, out);
}

mgv_status mgvi_problem_new_like(mgv_ctx *ctx, mgv_data *data, const mgv_settings *settings,
                                 const mgv_problem *whole, mgv_problem **out)
{
    return bind_data(ctx, data, settings, (classes){.positive = MGVI_EVERY_CLASS, .whole = whole},
                     out);
}

mgvi_kernel_op *mgvi_problem_kernel(const mgv_problem *p)
{
    mgvi_contrast *c = mgvi_contrast_of(p->A);
    return mgvi_kernel_of(c ? c->base : p->A);
}

mgv_status mgvi_problem_new_columns(mgv_ctx *ctx, const mgv_problem *like, const mgvi_matrix *X,
                                    const mgv_settings *settings, mgv_problem **out)
{
    const bool all = mgvi_problem_has_contrasts(like) || like->data->classes == 2;
    const classes which = {.positive = all ? MGVI_EVERY_CLASS : like->positive, .columns = X};
    return bind_data(ctx, like->data, settings, which, out);
}

uint64_t mgvi_problem_hash(const mgv_problem *p, uint64_t h)
{
    const mgvi_matrix *X = &p->data->X;
    const int64_t shape[3] = {X->rows, X->cols, X->nnz};
    h = mgvi_hash(h, shape, sizeof shape);
    h = mgvi_hash(h, p->data->labels, (size_t)X->rows * sizeof *p->data->labels);
    for (int64_t i = 0; i < X->rows; i++) {
        const double weight = mgvi_coef_pick(&p->row.scale, i, 0);
        h = mgvi_hash(h, &weight, sizeof weight);
    }
    if (X->layout != MGV_DENSE || X->row_stride * X->rows == X->nnz) {
        const int64_t step = X->nnz / 1000 + 1;
        for (int64_t t = 0; t < X->nnz; t += step) {
            const double v = mgvi_matrix_value(X, t);
            h = mgvi_hash(h, &v, sizeof v);
        }
    }
    return h;
}

/* The targets as a table whose matrix is not stored: terms and rows are bound as ever. */
static mgv_status bind_table(mgv_problem *p, const double *target, const int64_t *group)
{
    MGVI_TRY(mgvi_data_new(p->ctx, &p->own_data));
    mgv_data *data = p->data = p->own_data;
    data->X = (mgvi_matrix){
        .layout = MGV_DENSE, .dtype = MGV_F64, .rows = p->A->rows, .cols = p->A->cols};
    data->format = "operator";
    data->checked = true;
    if (group) {
        data->group = mgvi_data_array(p->ctx, data, (size_t)p->A->cols, sizeof *group);
        if (!data->group)
            return MGV_E_MEMORY;
        memcpy(data->group, group, (size_t)p->A->cols * sizeof *group);
    }
    return mgvi_data_set_labels(p->ctx, data, target, NULL, NULL);
}

mgv_status mgvi_problem_over(mgv_ctx *ctx, mgvi_op *A, const double *target, const int64_t *group,
                             const mgv_settings *settings, mgv_problem **out)
{
    mgv_problem *p = NULL;
    mgv_status st;
    *out = NULL;
    MGVI_CHECK(st, done, open_problem(ctx, settings, &p));
    p->A = A;
    A = NULL;
    p->settings.intercept = false;
    p->settings.task = MGVI_TASK_REGRESS;
    if (mgvi_is_auto(settings->loss))
        p->settings.loss = "equal";
    if (p->A->rows < 1 || p->A->cols < 1)
        MGVI_CHECK(st, done,
                   MGVI_FAIL(ctx, MGV_E_ARG, "an operator of %" PRId64 " x %" PRId64, p->A->rows,
                             p->A->cols));
    if (settings->scale != MGVI_SCALE_NONE)
        MGVI_CHECK(st, done,
                   MGVI_FAIL(ctx, MGV_E_ARG,
                             "scale is for stored data (got %s for an operator); leave it out and "
                             "scale within the operator",
                             mgvi_scale_name(settings->scale)));
    MGVI_CHECK(st, done, bind_table(p, target, group));
    MGVI_CHECK(st, done, mgvi_bind_terms(p));
    MGVI_CHECK(st, done, mgvi_bind_rows(p));
    MGVI_CHECK(st, done, mgvi_bind_formula(p));
    *out = p;
    return MGV_OK;
done:
    mgvi_op_free(A);
    mgvi_problem_free(p);
    return st;
}

void mgvi_problem_free(mgv_problem *problem)
{
    if (!problem)
        return;
    mgvi_op_free(problem->A);
    mgvi_op_free(problem->split.D);
    mgvi_data_free(problem->ctx, problem->own_data);
    mgvi_arena_free(&problem->arena);
    mgvi_release(problem->ctx, problem);
}

double mgvi_problem_bytes(const mgv_problem *p)
{
    const mgvi_matrix *X = &p->data->X;
    const double value = (double)mgvi_dtype_size(X->dtype), rows = (double)X->rows;
    const double lines = X->layout == MGV_CSC ? (double)X->cols : rows;
    const double labels = (p->data->labels ? 8 : 0) + (p->data->weights ? 8 : 0);
    if (X->layout == MGV_DENSE)
        return (double)X->nnz * value + labels * rows;
    return (double)X->nnz * (value + sizeof *X->idx) + 8 * lines + labels * rows;
}

double mgvi_problem_spare(const mgv_problem *p, double held)
{
    static const double SHARE = 0.5;
    /* of the allowance: the program itself, sums of blocks, and vectors of the columns */
    static const double PROGRAM = 20 << 20, COLUMNS = 24;
    const double rows = (double)(p->A->rows * p->lanes), cols = (double)(p->A->cols * p->lanes);
    const double own = PROGRAM + 8 * (held * rows + COLUMNS * cols);
    return fmax(SHARE * mgvi_problem_bytes(p) + p->ctx->allowance - own, 0);
}

mgv_status mgvi_problem_penalty(const mgv_problem *p, mgvi_arena *arena, mgvi_penalty *out)
{
    return mgvi_penalty_open(arena, p->penalty, &p->col, p->penalty_data, mgvi_problem_penalised(p),
                             p->lanes, out);
}

void mgvi_problem_free_column(const mgv_problem *p, mgvi_vec *out)
{
    double *b = mgvi_vec_open(out);
    for (int64_t i = 0; i < out->n; i++)
        b[i] = mgvi_problem_free_entry(p, i);
    mgvi_vec_close(out);
}

void mgvi_problem_user_lane(const mgv_problem *p, const double *w, int64_t lane, double *coef,
                            double *intercept)
{
    const int64_t d = mgvi_problem_coefs(p), lanes = p->outputs;
    const bool linear = p->kernel.kind == MGVI_KERNEL_LINEAR;
    double shift = p->free_cols ? w[d * lanes + lane] : 0;
    for (int64_t j = 0; j < d; j++) {
        coef[j] = (linear ? mgvi_view_scale(&p->view, j) : 1) * w[j * lanes + lane];
        if (linear && p->view.centre)
            shift -= p->view.centre[j] * coef[j];
    }
    *intercept = shift;
}

void mgvi_problem_user_weights(const mgv_problem *p, const double *w, double *coef,
                               double *intercept)
{
    for (int64_t lane = 0; lane < p->outputs; lane++)
        mgvi_problem_user_lane(p, w, lane, coef + lane * mgvi_problem_coefs(p), intercept + lane);
}

void mgvi_problem_own_weights(const mgv_problem *p, const double *coef, double intercept, double *w)
{
    const int64_t d = mgvi_problem_coefs(p);
    const bool linear = p->kernel.kind == MGVI_KERNEL_LINEAR;
    double shift = intercept;
    for (int64_t j = 0; j < d; j++) {
        w[j] = linear && p->view.scale ? coef[j] / p->view.scale[j] : coef[j];
        if (linear && p->view.centre)
            shift += p->view.centre[j] * coef[j];
    }
    if (p->free_cols)
        w[d] = shift;
}

/* The least z over the rows with weight: of each class with an intercept, else of all in [0]. */
static void least_by_class(const mgv_problem *p, const double *z, double least[2])
{
    least[0] = least[1] = INFINITY;
    for (int64_t i = 0; i < p->A->rows; i++) {
        const int side = p->free_cols && mgvi_problem_free_entry(p, i) > 0;
        if (mgvi_coef_pick(&p->row.scale, i, 0) > 0)
            least[side] = fmin(least[side], z[i]);
    }
}

void mgvi_problem_measure_edges(const mgv_problem *p, const double *z, mgvi_class_graph *g)
{
    for (int64_t t = 0; t < (int64_t)g->k * g->k; t++)
        g->edge[t] = INFINITY;
    for (int64_t i = 0; i < p->A->rows; i++) {
        double *edge = &g->edge[mgvi_problem_edge(p, i).at];
        if (mgvi_coef_pick(&p->row.scale, i, 0) > 0)
            *edge = fmin(*edge, z[i]);
    }
}

static double least_by_edge(const mgv_problem *p, const double *z)
{
    mgvi_problem_measure_edges(p, z, p->graph);
    return mgvi_class_graph_least_mean(p->graph);
}

double mgvi_problem_least_margin(const mgv_problem *p, const double *z)
{
    double least[2];
    if (p->graph)
        return least_by_edge(p, z);
    least_by_class(p, z, least);
    return p->free_cols ? 0.5 * (least[0] + least[1]) : least[0];
}

static void add_to_free(const mgv_problem *p, const double *shift, int32_t count, mgvi_vec *w)
{
    mgvi_vec part = mgvi_problem_free_part(p, w);
    double *free = mgvi_vec_open(&part);
    for (int32_t c = 0; c < count; c++)
        free[c] += shift[c];
    mgvi_vec_close(&part);
}

void mgvi_problem_best_shift(const mgv_problem *p, const double *z, mgvi_vec *w)
{
    double least[2];
    if (!p->free_cols || !mgvi_problem_wants_margin(p))
        return;
    if (p->graph) {
        if (isfinite(least_by_edge(p, z)))
            add_to_free(p, p->graph->b, p->graph->k, w);
        return;
    }
    least_by_class(p, z, least);
    const double shift = 0.5 * (least[0] - least[1]);
    if (isfinite(shift))
        add_to_free(p, &shift, 1, w);
}

double mgvi_problem_user_norm(const mgv_problem *p, const double *w)
{
    const double exponent = isnan(p->p) ? 2 : p->p;
    const int64_t d = mgvi_problem_penalised(p) * p->lanes;
    if (p->A->ops->square) {
        const mgvi_vec part = {.x = (double *)(uintptr_t)w,
                               .n = mgvi_problem_penalised(p),
                               .k = p->lanes,
                               .space = MGVI_COLS};
        return mgvi_op_length(p->A, &part);
    }
    if (!p->view.scale)
        return mgvi_lp_norm(w, d, exponent);
    double sum = 0, most = 0;
    for (int64_t j = 0; j < d; j++) {
        const double x = fabs(p->view.scale[j / p->outputs] * w[j]);
        most = fmax(most, x);
        sum += isinf(exponent) ? 0 : pow(x, exponent);
    }
    return isinf(exponent) ? most : pow(sum, 1 / exponent);
}

void mgvi_problem_coefficients(const mgv_problem *p, double *row, double *lambda, double *mu)
{
    for (int64_t i = 0; row && i < p->A->rows; i++)
        row[i] = mgvi_coef_pick(&p->row.scale, i, 0);
    for (int64_t j = 0; j < mgvi_problem_penalised(p); j++) {
        const mgvi_strengths c = mgvi_problem_strengths(p, j);
        lambda[j] = c.lambda;
        mu[j] = c.mu;
    }
}

/* ---- F, a smooth function of the caller's own ------------------------------------------------- */

mgv_status mgvi_problem_set_smooth(mgv_problem *p, const mgv_smooth *smooth)
{
    mgv_smooth F = {0};
    if (smooth)
        memcpy(&F, smooth, smooth->size < sizeof F ? smooth->size : sizeof F);
    if (smooth && (!F.value || !F.grad))
        return MGVI_FAIL(p->ctx, MGV_E_ARG,
                         "a smooth F needs two functions; give its value and its gradient");
    if (smooth && (!(F.lipschitz >= 0) || isinf(F.lipschitz)))
        return MGVI_FAIL(p->ctx, MGV_E_ARG,
                         "the Lipschitz constant of F's gradient is %g; allowed: 0 or more",
                         F.lipschitz);
    if (smooth && (p->lanes != 1 || p->many))
        return MGVI_FAIL(p->ctx, MGV_E_UNSUPPORTED,
                         "a smooth F goes with one vector of weights; this problem has one for "
                         "every class");
    p->smooth = F;
    return mgvi_bind_formula(p);
}

double mgvi_problem_smooth_value(const mgv_problem *p, const mgvi_vec *w)
{
    double value = 0;
    if (mgvi_problem_has_smooth(p) &&
        p->smooth.value(p->smooth.user, mgvi_vec_host(w), &value) != 0)
        atomic_store(&p->ctx->interrupted, 1);
    return value;
}

void mgvi_problem_smooth_grad(const mgv_problem *p, const mgvi_vec *w, mgvi_vec *grad)
{
    if (!mgvi_problem_has_smooth(p)) {
        mgvi_vec_fill(p->ctx, grad, 0);
        return;
    }
    if (p->smooth.grad(p->smooth.user, mgvi_vec_host(w), mgvi_vec_open(grad)) != 0)
        atomic_store(&p->ctx->interrupted, 1);
    mgvi_vec_close(grad);
}
