/* careful.c - the judge's products in twofold numbers, for data whose columns lie far from 0 beside
 * their spread: X w and X'v then cancel, and plain sums keep too few digits.
 *   z_i = sign_i (r_i sum_j x_ij coef_j + intercept)      coef, intercept as a model saves them
 *   v_j = scale_j (sum_i g_i x_ij - centre_j sum_i g_i)   g_i = r_i sign_i u_i
 * Margins of many classes are differences of such scores (op/contrast.h). Every sum is hi + lo with
 * its errors fed back (Ogita, Rump, Oishi: Accurate sum and dot product, 2005): off by u |sum| + (2
 * m u)^2 sum |terms|. Rare: plain loops where no vectors serve (simd/twofold.h). */
#include "base/limit.h"
#include "base/threads.h"
#include "base/twofold.h"
#include "certify/rounding.h"
#include "op/contrast.h"
#include "simd/simd.h"

#include <math.h>
#include <string.h>

enum { BLOCKS = 8, GRAIN = 1 << 14 };

typedef struct mgvi_careful {
    double *coef, *intercept; /* outputs x columns, outputs: the weights as saved */
    double *hi, *lo;          /* sums that lines add to: blocks x numbers */
    int64_t numbers;
    double largest; /* of all scores without their intercepts */
} mgvi_careful;

static const mgvi_view *view_of(const mgvi_judge *judge)
{
    const mgvi_contrast *contrast = mgvi_contrast_of(judge->problem->A);
    const mgvi_view *v = contrast ? contrast->base->view : judge->problem->A->view;
    return v && !v->row ? v : NULL;
}

bool mgvi_careful_can(const mgvi_judge *judge) { return view_of(judge) != NULL; }

/* ---- lines: rows, or columns where the matrix is stored by columns ----------------------------
 */

typedef struct walk {
    mgvi_matrix m; /* stored by lines */
    bool by_columns;
    int32_t k;
    int64_t blocks, numbers;
    const mgvi_simd *simd;
    const mgvi_view *view;
    const double *factor; /* what an entry is multiplied with: of its line, or of its place */
    double *hi, *lo;
} walk;

static walk walk_over(const mgvi_judge *judge, int32_t k)
{
    const mgvi_matrix *X = judge->problem->A->stored;
    walk out = {.by_columns = mgvi_matrix_by_columns(X),
                .view = view_of(judge),
                .k = k,
                .simd = judge->problem->ctx->simd};
    out.m = out.by_columns ? mgvi_matrix_transpose(X) : *X;
    out.numbers = out.m.cols * k;
    return out;
}

/* The entries of a line lie side by side, and there is one factor for each. */
static bool is_plain(const walk *w)
{
    return w->k == 1 && (w->m.layout != MGV_DENSE || w->m.col_stride == 1);
}

static void gather_line(const walk *w, const mgvi_span *l, double *hi, double *lo)
{
    const mgvi_matrix *m = &w->m;
    const mgvi_simd *simd = w->simd;
    const float *a32 = m->dtype == MGV_F32 ? (const float *)m->val + l->first : NULL;
    const double *a64 = a32 ? NULL : (const double *)m->val + l->first;
    if (m->layout == MGV_DENSE)
        a32 ? simd->dot_two_f32(a32, w->factor, l->count, hi, lo)
            : simd->dot_two_f64(a64, w->factor, l->count, hi, lo);
    else
        a32 ? simd->gather_two_f32(a32, m->idx + l->first, l->count, w->factor, hi, lo)
            : simd->gather_two_f64(a64, m->idx + l->first, l->count, w->factor, hi, lo);
}

static void scatter_line(const walk *w, const mgvi_span *l, double y, double *hi, double *lo)
{
    const mgvi_matrix *m = &w->m;
    const mgvi_simd *simd = w->simd;
    const float *a32 = m->dtype == MGV_F32 ? (const float *)m->val + l->first : NULL;
    const double *a64 = a32 ? NULL : (const double *)m->val + l->first;
    if (m->layout == MGV_DENSE)
        a32 ? simd->axpy_two_f32(y, a32, hi, lo, l->count)
            : simd->axpy_two_f64(y, a64, hi, lo, l->count);
    else
        a32 ? simd->scatter_two_f32(y, a32, m->idx + l->first, l->count, hi, lo)
            : simd->scatter_two_f64(y, a64, m->idx + l->first, l->count, hi, lo);
}

/* Every line's own sums: hi, lo [line k + c] = sum over its entries of x factor[place k + c]. */
static void gather_block(void *arg, int64_t block)
{
    const walk *w = arg;
    const int64_t end = mgvi_block_begin(w->m.rows, w->blocks, block + 1);
    for (int64_t i = mgvi_block_begin(w->m.rows, w->blocks, block); i < end; i++) {
        const mgvi_span l = mgvi_matrix_span(&w->m, i);
        double *hi = w->hi + i * w->k, *lo = w->lo + i * w->k;
        if (is_plain(w)) {
            gather_line(w, &l, hi, lo);
            continue;
        }
        memset(hi, 0, (size_t)w->k * sizeof *hi);
        memset(lo, 0, (size_t)w->k * sizeof *lo);
        for (int64_t t = 0; t < l.count; t++) {
            const double x = mgvi_span_value(&w->m, &l, t);
            const double *y = w->factor + mgvi_span_place(&w->m, &l, t) * w->k;
            for (int32_t c = 0; c < w->k; c++)
                mgvi_two_feed(&hi[c], &lo[c], x, y[c]);
        }
    }
}

/* Sums of the places: hi, lo [place k + c] += x factor[line k + c], for every block its own. */
static void scatter_block(void *arg, int64_t block)
{
    const walk *w = arg;
    double *hi = w->hi + block * w->numbers, *lo = w->lo + block * w->numbers;
    const int64_t end = mgvi_block_begin(w->m.rows, w->blocks, block + 1);
    memset(hi, 0, (size_t)w->numbers * sizeof *hi);
    memset(lo, 0, (size_t)w->numbers * sizeof *lo);
    for (int64_t i = mgvi_block_begin(w->m.rows, w->blocks, block); i < end; i++) {
        const mgvi_span l = mgvi_matrix_span(&w->m, i);
        const double *y = w->factor + i * w->k;
        if (is_plain(w)) {
            if (*y != 0)
                scatter_line(w, &l, *y, hi, lo);
            continue;
        }
        for (int64_t t = 0; t < l.count; t++) {
            const double x = mgvi_span_value(&w->m, &l, t);
            const int64_t at = mgvi_span_place(&w->m, &l, t) * w->k;
            for (int32_t c = 0; c < w->k; c++)
                mgvi_two_feed(&hi[at + c], &lo[at + c], x, y[c]);
        }
    }
}

/* How many blocks of lines have sums of their own: those of wide data share one. */
static int64_t block_count(const walk *w)
{
    const int64_t wanted = mgvi_block_count(w->m.nnz, GRAIN, BLOCKS);
    return w->numbers * wanted <= w->m.nnz + GRAIN ? wanted : 1;
}

static void scatter(mgv_ctx *ctx, walk *w)
{
    w->blocks = block_count(w);
    mgvi_ctx_run(ctx, w->blocks, scatter_block, w);
    for (int64_t b = 1; b < w->blocks; b++)
        for (int64_t i = 0; i < w->numbers; i++) {
            const mgvi_two s = mgvi_two_sum(w->hi[i], w->hi[b * w->numbers + i]);
            w->hi[i] = s.hi;
            w->lo[i] += s.lo + w->lo[b * w->numbers + i];
        }
}

static void gather(mgv_ctx *ctx, walk *w)
{
    w->blocks = mgvi_block_count(w->m.nnz, GRAIN, BLOCKS);
    mgvi_ctx_run(ctx, w->blocks, gather_block, w);
}

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
    const walk w = walk_over(judge, (int32_t)k);
    const int64_t sums = block_count(&w) * w.numbers, lines = w.m.rows * k;
    mgvi_careful *c = mgvi_arena_array(judge->arena, 1, sizeof *c);
    if (c) {
        c->numbers = sums > lines ? sums : lines;
        c->coef = numbers(judge, d * k);
        c->intercept = numbers(judge, k);
        c->hi = numbers(judge, c->numbers);
        c->lo = numbers(judge, c->numbers);
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
    const walk w = walk_over(judge, 1);
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
    s->largest = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++) {
            const mgvi_two z = score_at(judge, s, i, c);
            judge->z.x[i * k + c] =
                contrast ? mgvi_two_real(mgvi_two_sub(score_at(judge, s, i, contrast->own[i]), z))
                         : sign_at(view, i, i * k + c) * mgvi_two_real(z);
        }
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
    mgvi_problem_user_weights(p, w->x, s->coef, s->intercept);
    double *turned = judge->v.x; /* one weight of every lane side by side, as z has its scores */
    for (int64_t j = 0; j < d; j++)
        for (int64_t c = 0; c < k; c++)
            turned[j * k + c] = s->coef[c * d + j];
    walk job = walk_over(judge, (int32_t)k);
    job.factor = turned;
    job.hi = s->hi;
    job.lo = s->lo;
    (job.by_columns ? scatter : gather)(p->ctx, &job);
    take_scores(judge, s, job.view);
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
static double *row_weights(mgvi_judge *judge, const mgvi_view *view)
{
    const mgv_problem *p = judge->problem;
    const mgvi_contrast *contrast = mgvi_contrast_of(p->A);
    const int64_t k = p->outputs, n = mgvi_problem_examples(p);
    double *g = judge->z.x;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t c = 0; c < k; c++) {
            const int64_t at = i * k + c;
            const double u = judge->u.x[at] * mgvi_view_row_scale(&p->view, i);
            g[at] = contrast ? -u : sign_at(view, i, at) * u;
            sum += contrast && c != contrast->own[i] ? u : 0;
        }
        if (contrast)
            g[i * k + contrast->own[i]] = sum;
    }
    return g;
}

bool mgvi_careful_columns(mgvi_judge *judge)
{
    const mgv_problem *p = judge->problem;
    mgvi_careful *s = open_careful(judge);
    const int64_t d = mgvi_problem_coefs(p), n = mgvi_problem_examples(p);
    const int32_t k = (int32_t)p->outputs;
    if (!s)
        return false;
    walk job = walk_over(judge, k);
    const double *g = row_weights(judge, job.view);
    job.factor = g;
    job.hi = s->hi;
    job.lo = s->lo;
    (job.by_columns ? gather : scatter)(p->ctx, &job);
    for (int32_t c = 0; c < k; c++) {
        const mgvi_two total = p->view.centre ? weigh(g, n, k, c) : (mgvi_two){0, 0};
        for (int64_t j = 0; j < d; j++) {
            mgvi_two x = mgvi_two_sum(s->hi[j * k + c], s->lo[j * k + c]);
            if (p->view.centre)
                x = mgvi_two_sub(x, mgvi_two_mul_real(total, p->view.centre[j]));
            judge->v.x[j * k + c] = mgvi_view_scale(&p->view, j) * mgvi_two_real(x);
        }
        if (p->free_cols)
            judge->v.x[d * k + c] = 0;
    }
    p->A->touched += (double)p->A->nnz;
    return true;
}

double mgvi_careful_loss(const mgvi_judge *judge, bool conjugate)
{
    const mgv_problem *p = judge->problem;
    const mgvi_vec *x = conjugate ? &judge->u : &judge->z;
    const mgvi_joint_ops *joint = p->loss->joint;
    mgvi_two sum = {0, 0};
    for (int64_t i = 0; i < x->n; i++)
        for (int32_t c = 0; c < (joint ? 1 : x->k); c++) {
            const mgvi_coef at =
                conjugate ? mgvi_judge_coef(judge, i, c) : mgvi_coefs_at(&p->row, i, c);
            const double *row = x->x + i * x->k;
            const double term =
                joint ? (conjugate ? joint->conj : joint->value)(at.scale, row, x->k, (int32_t)at.a)
                      : (conjugate ? p->loss->conj(at, row[c]) : p->loss->value(at, row[c]));
            sum = mgvi_two_add_real(sum, term);
        }
    return mgvi_two_real(sum);
}
