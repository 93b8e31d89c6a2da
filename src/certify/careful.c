/* careful.c - the judge's products in twofold numbers, for data whose columns lie far from 0 beside
 * their spread: X w and X'v then cancel, and plain sums keep too few digits.
 *   z_i = sign_i (r_i sum_j x_ij coef_j + intercept)      coef, intercept as a model saves them
 *   v_j = scale_j (sum_i g_i x_ij - centre_j sum_i g_i)   g_i = r_i sign_i u_i
 * Margins of many classes are differences of such scores (op/contrast.h). Sums are those of
 * op/two_product.h. */
#include "base/limit.h"
#include "base/twofold.h"
#include "certify/rounding.h"
#include "op/contrast.h"
#include "op/two_product.h"

#include <math.h>

typedef struct mgvi_careful {
    double *coef, *intercept; /* outputs x columns, outputs: the weights as saved */
    double *hi, *lo;          /* the sums */
    double largest;           /* of all scores without their intercepts */
} mgvi_careful;

static const mgvi_view *view_of(const mgvi_judge *judge)
{
    const mgvi_contrast *contrast = mgvi_contrast_of(judge->problem->A);
    const mgvi_view *v = contrast ? contrast->base->view : judge->problem->A->view;
    return v && !v->row ? v : NULL;
}

static mgvi_two_product product_over(const mgvi_judge *judge, int64_t k)
{
    return mgvi_two_product_over(judge->problem->ctx, judge->problem->A->stored, (int32_t)k);
}

bool mgvi_careful_can(const mgvi_judge *judge) { return view_of(judge) != NULL; }

/* ---- work space ------------------------------------------------------------------------------ */

static double *numbers(mgvi_judge *judge, int64_t count)
{
    return mgvi_arena_array(judge->arena, (size_t)count, sizeof(double));
}

/* Made at the first need. */
static mgvi_careful *open_careful(mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    if (judge->careful || !view_of(judge))
        return judge->careful;
    const int64_t k = p->outputs, d = mgvi_problem_coefs(p);
    const mgvi_two_product sums = product_over(judge, k);
    const int64_t room = mgvi_two_product_room(&sums);
    mgvi_careful *c = mgvi_arena_array(judge->arena, 1, sizeof *c);
    if (c) {
        c->coef = numbers(judge, d * k);
        c->intercept = numbers(judge, k);
        c->hi = numbers(judge, room);
        c->lo = numbers(judge, room);
    }
    if (!c || !c->coef || !c->intercept || !c->hi || !c->lo)
        p->A->failed = MGV_E_MEMORY;
    else
        judge->careful = c;
    return judge->careful;
}

/* ---- sizes of columns ------------------------------------------------------------------------ */

bool mgvi_careful_reach(mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    const int64_t d = mgvi_problem_coefs(p);
    const mgvi_two_product w = product_over(judge, 1);
    double *column = numbers(judge, d), *centred = numbers(judge, d), *stored = numbers(judge, d);
    if (!column || !centred || !stored) {
        p->A->failed = MGV_E_MEMORY;
        return false;
    }
    for (int64_t i = 0; i < w.m.rows && !mgvi_ctx_cut_row(p->ctx, i); i++) {
        const mgvi_span l = mgvi_matrix_span(&w.m, i);
        for (int64_t t = 0; t < l.count; t++) {
            const int64_t j = w.by_columns ? i : mgvi_span_place(&w.m, &l, t);
            const double x = mgvi_span_value(&w.m, &l, t);
            const double size = fabs(x), from = fabs(p->view.centre ? x - p->view.centre[j] : x);
            column[j] = size > column[j] ? size : column[j];
            centred[j] = from > centred[j] ? from : centred[j];
            stored[j]++;
        }
    }
    for (int64_t j = 0; p->view.centre && j < d; j++)
        if (stored[j] <
            (double)mgvi_problem_examples(p)) /* a zero that is not stored is as far away */
            centred[j] = fmax(centred[j], fabs(p->view.centre[j]));
    if (mgvi_ctx_was_cut(p->ctx)) /* half of them are none */
        return false;
    p->A->touched += (double)p->A->nnz;
    judge->reach.column = column;
    judge->reach.centred = centred;
    return true;
}

/* ---- the two products ------------------------------------------------------------------------ */

/* The score of class c of row i: what the walk has summed, its factor, the intercept. */
static mgvi_two score_at(const mgvi_judge *judge, mgvi_careful *s, int64_t i, int64_t c)
{
    const mgv_problem *p = judge->problem;
    const int64_t at = i * p->outputs + c;
    mgvi_two z = mgvi_two_sum(s->hi[at], s->lo[at]);
    if (p->view.row_scale)
        z = mgvi_two_mul_real(z, p->view.row_scale[i]);
    s->largest = fabs(z.hi) > s->largest ? fabs(z.hi) : s->largest;
    return mgvi_two_add_real(z, s->intercept[c]); /* a centre alone makes one, too */
}

static double sign_at(const mgvi_view *view, int64_t i, int64_t at)
{
    return mgvi_view_sign(view, view->sign_lanes == 1 ? i : at);
}

static void take_scores(mgvi_judge *judge, mgvi_careful *s, const mgvi_view *view)
{
    const mgvi_contrast *contrast = mgvi_contrast_of(judge->problem->A);
    const int64_t k = judge->problem->outputs, n = mgvi_problem_examples(judge->problem);
    double *score = mgvi_vec_open(&judge->z);
    s->largest = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++) {
            const mgvi_two z = score_at(judge, s, i, c);
            score[i * k + c] =
                contrast ? mgvi_two_real(mgvi_two_sub(score_at(judge, s, i, contrast->own[i]), z))
                         : sign_at(view, i, i * k + c) * mgvi_two_real(z);
        }
    mgvi_vec_close(&judge->z);
}

static void bound_scores(const mgvi_judge *judge, const mgvi_careful *s, double *error)
{
    const mgv_problem *p = judge->problem;
    const int64_t d = mgvi_problem_coefs(p);
    const double twice = 4 * (judge->reach.row_terms + 8) * MGVI_UNIT;
    const double rows = judge->reach.rows * s->largest * (1 + 0x1p-20);
    double most = 0;
    for (int64_t c = 0; c < p->outputs; c++) {
        double size = fabs(s->intercept[c]);
        for (int64_t j = 0; j < d; j++)
            size += mgvi_reach_of(judge, j, false) * fabs(s->coef[c * d + j]);
        most = fmax(most, twice * twice * size + rows);
        if (c < p->lanes)
            error[c] = twice * twice * size + rows;
    }
    if (p->outputs > p->lanes) /* a difference of two scores */
        error[0] = 2 * most;
}

bool mgvi_careful_scores(mgvi_judge *judge, const mgvi_vec *w, double *error)
{
    const mgv_problem *p = judge->problem;
    mgvi_careful *s = open_careful(judge);
    const int64_t d = mgvi_problem_coefs(p), k = p->outputs;
    if (!s)
        return false;
    mgvi_problem_user_weights(p, mgvi_vec_host(w), s->coef, s->intercept);
    double *turned =
        mgvi_vec_open(&judge->v); /* one weight of every lane side by side, as z has its scores */
    for (int64_t j = 0; j < d; j++)
        for (int64_t c = 0; c < k; c++)
            turned[j * k + c] = s->coef[c * d + j];
    mgvi_two_product job = product_over(judge, k);
    job.factor = turned;
    job.hi = s->hi;
    job.lo = s->lo;
    mgvi_two_product_mul(&job);
    mgvi_vec_close(&judge->v);
    take_scores(judge, s, view_of(judge));
    bound_scores(judge, s, error);
    p->A->touched += (double)p->A->nnz;
    return true;
}

double mgvi_careful_part(const mgvi_judge *judge, int64_t j)
{
    const double twice = 4 * ((double)judge->problem->A->rows + 8) * MGVI_UNIT;
    const mgv_problem *p = judge->problem;
    const double sums = p->outputs > p->lanes ? (double)p->outputs * MGVI_UNIT : 0;
    /* g_i is rounded; and so is u when it is scaled into a domain, which a balance forgives */
    const double rows = (p->view.row_scale ? 4
                         : p->free_cols    ? 0
                                           : 1) *
                            MGVI_UNIT +
                        sums + judge->reach.rows;
    return (twice * twice + rows) * 2 * mgvi_reach_of(judge, j, false);
}

/* sum_i g_i of lane c. */
static mgvi_two weigh(const double *g, int64_t n, int32_t k, int32_t c)
{
    mgvi_two sum = {0, 0};
    for (int64_t i = 0; i < n; i++)
        sum = mgvi_two_add_real(sum, g[i * k + c]);
    return sum;
}

/* g_i, in the room of the scores, which have been judged: (2) of op/contrast.h. */
static void row_weights(const mgvi_judge *judge, const mgvi_view *view, double *g)
{
    const mgv_problem *p = judge->problem;
    const mgvi_contrast *contrast = mgvi_contrast_of(p->A);
    const int64_t k = p->outputs, n = mgvi_problem_examples(p);
    const double *dual = mgvi_vec_host(&judge->u);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t c = 0; c < k; c++) {
            const int64_t at = i * k + c;
            const double u = dual[at] * mgvi_view_row_scale(&p->view, i);
            g[at] = contrast ? -u : sign_at(view, i, at) * u;
            sum += contrast && c != contrast->own[i] ? u : 0;
        }
        if (contrast)
            g[i * k + contrast->own[i]] = sum;
    }
}

bool mgvi_careful_columns(mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    mgvi_careful *s = open_careful(judge);
    const int64_t d = mgvi_problem_coefs(p), n = mgvi_problem_examples(p);
    const int32_t k = (int32_t)p->outputs;
    if (!s)
        return false;
    mgvi_two_product job = product_over(judge, k);
    double *g = mgvi_vec_open(&judge->z), *v = mgvi_vec_open(&judge->v);
    row_weights(judge, view_of(judge), g);
    job.factor = g;
    job.hi = s->hi;
    job.lo = s->lo;
    mgvi_two_product_mul_t(&job);
    for (int32_t c = 0; c < k; c++) {
        const mgvi_two total = p->view.centre ? weigh(g, n, k, c) : (mgvi_two){0, 0};
        for (int64_t j = 0; j < d; j++) {
            mgvi_two x = mgvi_two_sum(s->hi[j * k + c], s->lo[j * k + c]);
            if (p->view.centre)
                x = mgvi_two_sub(x, mgvi_two_mul_real(total, p->view.centre[j]));
            v[j * k + c] = mgvi_view_scale(&p->view, j) * mgvi_two_real(x);
        }
        if (p->free_cols)
            v[d * k + c] = 0;
    }
    mgvi_vec_close(&judge->z);
    mgvi_vec_close(&judge->v);
    p->A->touched += (double)p->A->nnz;
    return true;
}

double mgvi_careful_loss(const mgvi_judge *judge, bool conjugate)
{
    const mgv_problem *p = judge->problem;
    const mgvi_vec *x = conjugate ? &judge->u : &judge->z;
    const mgvi_joint_ops *joint = p->loss->joint;
    const double *numbers = mgvi_vec_host(x);
    mgvi_two sum = {0, 0};
    for (int64_t i = 0; i < x->n; i++)
        for (int32_t c = 0; c < (joint ? 1 : x->k); c++) {
            const mgvi_coef at =
                conjugate ? mgvi_judge_coef(judge, i, c) : mgvi_coefs_at(&p->row, i, c);
            const double *row = numbers + i * x->k;
            const double term =
                joint ? (conjugate ? joint->conj : joint->value)(at.scale, row, x->k, (int32_t)at.a)
                      : (conjugate ? p->loss->conj(at, row[c]) : p->loss->value(at, row[c]));
            sum = mgvi_two_add_real(sum, term);
        }
    return mgvi_two_real(sum);
}
