/* evaluate.c - given weights on given data: the objective, and how far it may be from the best.
 *   P(w) >= min P >= D(u)                                                             (1)
 * for every u; the judge makes both sides. Without a solver that has run, u is made from w alone:
 *   u_i = (z_i - prox_{t s G}(z_i))/t,  z = A w,                                       (2)
 * the gradient of the loss smoothed over a width of t s, for the best of several widths: near a
 * bend it is between the slopes on its two sides. Of a hard margin,
 *   u_i = -exp(-(z_i - min z)/t),                                                      (3)
 * and of losses of all classes the gradient itself. docs/algorithms/certificates.md */
#include "model/model.h"

#include "certify/certify.h"
#include "problem/member.h"
#include "solver/classes/family.h"

#include <math.h>
#include <string.h>

/* Widths t, from a kink to all of the range, in units of the scores' own size. */
static const double widths[] = {1e-6, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1};
enum { WIDTHS = sizeof widths / sizeof *widths };

typedef struct look {
    const mgv_problem *p;
    mgvi_judge *judge;
    mgvi_vec w, z, u;
} look;

static mgv_status open_look(mgvi_arena *arena, const mgv_problem *p, look *l)
{
    *l = (look){.p = p};
    MGVI_TRY(mgvi_judge_new(arena, p, &l->judge));
    MGVI_TRY(mgvi_vec_new_host(arena, MGVI_COLS, p->A->cols, p->lanes, &l->w));
    MGVI_TRY(mgvi_vec_new_host(arena, MGVI_ROWS, p->A->rows, p->lanes, &l->z));
    return mgvi_vec_new_host(arena, MGVI_ROWS, p->A->rows, p->lanes, &l->u);
}

/* ---- a dual point from w ---------------------------------------------------------------------- */

static void slopes_of_classes(look *l)
{
    const int32_t k = l->p->lanes;
    for (int64_t i = 0; i < l->z.n; i++)
        l->p->loss->joint->grad(mgvi_coef_pick(&l->p->row.scale, i, 0), l->z.x + i * k, k,
                                (int32_t)mgvi_problem_class_of(l->p, i), l->u.x + i * k);
}

/* (3): rows without weight are clipped by the judge. */
static void nearest_rows(look *l, double width)
{
    double least = INFINITY, most = 0;
    for (int64_t i = 0; i < l->z.n; i++) {
        if (!(mgvi_coef_pick(&l->p->row.scale, i, 0) > 0))
            continue;
        least = fmin(least, l->z.x[i]);
        most = fmax(most, fabs(l->z.x[i]));
    }
    for (int64_t i = 0; i < l->z.n; i++)
        l->u.x[i] = most > 0 ? -exp(-(l->z.x[i] - least) / (width * most)) : -1;
}

/* (2) */
static void smoothed_slopes(look *l, double width)
{
    const mgv_problem *p = l->p;
    for (int64_t i = 0; i < l->z.n; i++)
        for (int32_t c = 0; c < p->lanes; c++) {
            const mgvi_coef row = mgvi_coefs_at(&p->row, i, c);
            const int64_t at = i * p->lanes + c;
            const double z = l->z.x[at], t = row.scale > 0 ? width / row.scale : 1;
            l->u.x[at] = row.scale > 0 ? (z - p->loss->prox(row, z, t)) / t : 0;
        }
}

/* The verdict on w with the best of those duals. */
static mgvi_verdict best_dual(look *l)
{
    const mgv_problem *p = l->p;
    const bool margin = mgvi_problem_wants_margin(p), joint = p->loss->joint != NULL;
    mgvi_verdict best = mgvi_verdict_none();
    mgvi_op_mul(p->A, 1, &l->w, 0, &l->z);
    for (int k = 0; k < (joint ? 1 : WIDTHS); k++) {
        if (joint)
            slopes_of_classes(l);
        else if (margin)
            nearest_rows(l, widths[k]);
        else
            smoothed_slopes(l, widths[k]);
        const mgvi_verdict found = mgvi_judge_certify(l->judge, &l->w, &l->u);
        if (k == 0 || found.dual_score > best.dual_score)
            best = found;
    }
    return best;
}

/* ---- one problem ------------------------------------------------------------------------------ */

/* coef: outputs x features, of which the first `count` columns are given; others have weight 0. */
static void own_weights(const mgv_problem *p, const double *coef, int64_t count,
                        const double *intercept, mgvi_vec *w)
{
    const int64_t d = mgvi_problem_coefs(p), k = p->outputs;
    for (int64_t c = 0; c < k; c++) {
        double shift = intercept[c];
        for (int64_t j = 0; j < d; j++) {
            const double own = j < count ? coef[c * count + j] : 0;
            w->x[j * k + c] = own / mgvi_view_scale(&p->view, j);
            shift += mgvi_view_centre(&p->view, j) * own;
        }
        if (p->free_cols)
            w->x[d * k + c] = shift;
    }
}

/* The judge looks at w as it is, an intercept where it stands, with the care that margins need. */
static mgv_status evaluate(const mgv_problem *p, const double *coef, int64_t count,
                           const double *intercept, const mgvi_verdict *bound, mgv_certificate *out)
{
    mgvi_arena arena;
    look l;
    mgvi_arena_init(&arena, p->ctx);
    mgv_status st = open_look(&arena, p, &l);
    if (st == MGV_OK) {
        own_weights(p, coef, count, intercept, &l.w);
        const mgvi_verdict dual = bound ? *bound : best_dual(&l);
        const mgvi_care care = mgvi_judge_next_care(l.judge);
        mgvi_verdict found = mgvi_judge_certify_primal(
            l.judge, &l.w, care > MGVI_CARE_COLUMNS ? care : MGVI_CARE_COLUMNS, &dual);
        mgvi_verdict_excuse(l.judge, &found);
        *out = found.certificate;
        out->size = sizeof *out;
        st = p->A->failed;
    }
    mgvi_arena_free(&arena);
    return st;
}

/* ---- many classes ----------------------------------------------------------------------------- */

static mgvi_verdict verdict_of(const mgv_certificate *c)
{
    mgvi_verdict v = mgvi_verdict_none();
    v.certificate.dual = c->dual;
    v.certificate.margin_upper = c->margin_upper;
    v.certificate.separable = c->separable;
    v.dual_rounding = c->rounding;
    v.shrunk = 1;
    return v;
}

static mgv_status evaluate_member(const mgv_problem *head, int64_t index, const double *coef,
                                  int64_t count, const double *intercept,
                                  const mgv_certificate *bound, mgv_certificate *out)
{
    mgvi_member member;
    const mgv_settings settings = mgvi_member_settings(head, &head->settings);
    MGVI_TRY(mgvi_member_new(head->ctx, head, &settings, index, &member));
    const mgvi_verdict dual = bound ? verdict_of(bound) : mgvi_verdict_none();
    const mgv_status st =
        evaluate(member.problem, coef, count, intercept, bound ? &dual : NULL, out);
    mgvi_member_free(head->ctx, &member);
    return st;
}

static mgv_status evaluate_many(const mgv_problem *head, const double *coef, int64_t count,
                                const double *intercept, const mgvi_family *bound,
                                mgv_certificate *out)
{
    const int64_t members = mgvi_model_outputs(head);
    for (int64_t c = 0; c < members; c++) {
        mgv_certificate one;
        if (!mgvi_member_weighs(head, c))
            return MGVI_FAIL(head->ctx, MGV_E_UNSUPPORTED,
                             "two of the classes have no row with weight (run %" PRId64
                             " of %" PRId64 "); leave them out",
                             c + 1, members);
        MGVI_TRY(evaluate_member(head, c, coef + c * count, count, intercept + c,
                                 bound ? &bound->member[c].certificate : NULL, &one));
        if (c == 0)
            *out = one;
        else
            mgvi_family_add_certificate(out, &one);
    }
    return MGV_OK;
}

mgv_status mgvi_problem_evaluate(const mgv_problem *p, const double *coef, int64_t count,
                                 const double *intercept, const mgv_solver *bound,
                                 mgv_certificate *out)
{
    if (p->kernel.kind != MGVI_KERNEL_LINEAR)
        return MGVI_FAIL(p->ctx, MGV_E_UNSUPPORTED,
                         "the weights of a kernel's model belong to its own examples (kernel %s): "
                         "no objective on other data; models without a kernel have one",
                         mgvi_kernel_name(p->kernel.kind));
    if (bound && bound->run.problem != p)
        return MGVI_FAIL(
            p->ctx, MGV_E_ARG,
            "the solver is of another problem; make it from the one that is evaluated");
    if (bound && bound->stop == MGV_STOP_NONE)
        return MGVI_FAIL(p->ctx, MGV_E_ARG, "the solver has not run; call mgv_solver_run() first");
    if (p->many)
        return evaluate_many(p, coef, count, intercept, bound ? bound->family : NULL, out);
    return evaluate(p, coef, count, intercept, bound ? &bound->answer_verdict : NULL, out);
}

/* ---- a model ---------------------------------------------------------------------------------- */

static mgv_status check_classes(mgv_ctx *ctx, const mgv_model *m, const mgv_data *data)
{
    for (int64_t c = 0; c < data->classes; c++)
        if (mgvi_model_class_of(m, data, c) < 0)
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "the model does not know class '%.60s' of the data; choose those it "
                             "knows with the setting classes",
                             data->class_text[c]);
    for (int64_t c = 0; c < m->classes; c++)
        if (c >= data->classes || mgvi_model_class_of(m, data, c) != c)
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "the data has no row of the model's class '%.60s', and the objective "
                             "is one of all its classes",
                             m->class_text[c]);
    return MGV_OK;
}

/* Formats that leave zeros out leave the last columns out: they are 0. */
static mgv_status widen(mgv_ctx *ctx, mgv_data *data, int64_t cols)
{
    mgvi_matrix *X = &data->X;
    if (X->cols >= cols || data->names || (X->layout == MGV_DENSE && !data->was_sparse))
        return MGV_OK;
    const size_t size = mgvi_dtype_size(X->dtype);
    char *wide =
        X->layout == MGV_DENSE ? mgvi_data_array(ctx, data, (size_t)(X->rows * cols), size) : NULL;
    int64_t *ptr =
        X->layout == MGV_CSC ? mgvi_data_array(ctx, data, (size_t)cols + 1, sizeof *ptr) : NULL;
    if ((X->layout == MGV_DENSE && !wide) || (X->layout == MGV_CSC && !ptr))
        return MGV_E_MEMORY;
    for (int64_t j = 0; ptr && j <= cols; j++)
        ptr[j] = X->ptr[j < X->cols ? j : X->cols];
    for (int64_t i = 0; wide && i < X->rows; i++)
        for (int64_t j = 0; j < X->cols; j++)
            memcpy(wide + (size_t)(i * cols + j) * size,
                   (const char *)X->val + (i * X->row_stride + j * X->col_stride) * (int64_t)size,
                   size);
    X->ptr = ptr ? ptr : X->ptr;
    if (wide) {
        X->val = wide;
        X->nnz = X->rows * cols;
        X->row_stride = cols;
        X->col_stride = 1;
    }
    X->cols = cols;
    X->size = NULL; /* of the columns there were */
    return MGV_OK;
}

mgv_status mgvi_model_problem(mgv_ctx *ctx, const mgv_model *m, mgv_data *data,
                              const mgv_settings *settings, mgv_problem **out)
{
    mgv_settings with = *settings;
    *out = NULL;
    if (m->kernel.kind != MGVI_KERNEL_LINEAR)
        return MGVI_FAIL(ctx, MGV_E_UNSUPPORTED,
                         "the weights of a kernel's model belong to its own examples (kernel %s): "
                         "no objective on other data; models without a kernel have one",
                         mgvi_kernel_name(m->kernel.kind));
    MGVI_TRY(mgvi_model_check_columns(ctx, m, data));
    MGVI_TRY(widen(ctx, data, m->features));
    if (data->X.cols < m->features)
        return MGVI_FAIL(ctx, MGV_E_INPUT, "the data has %" PRId64 " columns, the model %" PRId64,
                         data->X.cols, m->features);
    if (m->classify && data->labels)
        MGVI_TRY(check_classes(ctx, m, data));
    MGVI_TRY(mgvi_model_settings(ctx, m, &with));
    MGVI_TRY(mgvi_problem_new_in_time(ctx, data, &with, out));
    if (mgvi_model_outputs(*out) == m->outputs && (*out)->pairwise == m->pairwise)
        return MGV_OK;
    mgvi_problem_free(*out);
    *out = NULL;
    return MGVI_FAIL(ctx, MGV_E_ARG,
                     "the model has %" PRId64 " rows of weights, but the problem under these "
                     "settings another number; leave multiclass and loss as they were in the fit",
                     m->outputs);
}
