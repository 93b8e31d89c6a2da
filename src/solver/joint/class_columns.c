/* class_columns.c - (13): what its conjugate gradients multiply and divide by. */
#include "solver/joint/class_columns.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

enum { MOST_PRODUCTS = 300 };
static const double RESIDUAL =
    0.05;                        /* of a direction at least, as the preconditioner measures it */
static const double PART = 0.75; /* of the memory that may be spent */
static const double HELD = 9;    /* numbers a row and class that the caller has */

bool mgvi_class_columns_fit(const mgv_problem *p)
{
    return mgvi_float_rows_dense(p->A, true) && !isfinite(mgvi_class_hessian_cost(p)) &&
           isfinite(mgvi_class_hessian_blocks_cost(p));
}

mgv_status mgvi_class_columns_new(mgvi_run *run, mgvi_class_columns *c)
{
    const mgv_problem *p = run->problem;
    const double most_matrix = 8.0 * MGVI_CLASS_PAIRS * MGVI_CLASS_PAIRS;
    const double spare = fmin(PART * mgvi_problem_spare(p, HELD), most_matrix);
    c->run = run;
    MGVI_TRY(MGVI_RUN_VECS(run, MGVI_COLS, &c->residual, &c->better, &c->along, &c->image));
    MGVI_TRY(mgvi_curve_pass_new(&run->arena, p->A, p->lanes, &c->pass));
    MGVI_TRY(mgvi_run_keep(run, "columns", MGVI_T_U8, &c->m, sizeof c->m));
    c->hessian.room_bytes = (size_t)spare;
    MGVI_TRY(mgvi_class_hessian_new(run, true, mgvi_class_hessian_apart_rows(p), &c->hessian));
    return mgvi_class_pairs_new(run, c->hessian.room, (double)c->hessian.room_bytes, &c->few);
}

/* ---- H --------------------------------------------------------------------------------------- */

/* y_i <- J_i y_i */
static void bend(const mgvi_class_columns *c, mgvi_vec *y)
{
    const int32_t k = y->k;
    for (int64_t i = 0; i < y->n; i++) {
        const double *h = c->h + i * k;
        double *to = y->x + i * k, sum = 0, mean = 0;
        for (int32_t j = 0; j < k; j++) {
            sum += h[j];
            mean += h[j] * to[j];
        }
        mean = sum > 0 ? mean / sum : 0;
        for (int32_t j = 0; j < k; j++)
            to[j] = h[j] * (to[j] - mean);
    }
}

static double ridge(const mgvi_class_columns *c, int64_t t)
{
    return mgvi_class_pairs_ridge(&c->few, t);
}

/* image = H along */
static void apply(mgvi_class_columns *c)
{
    const mgv_problem *p = c->run->problem;
    if (!c->m.precise) {
        mgvi_couple_pass_run(c->pass, c->h, &c->along, &c->image);
    } else {
        mgvi_op_mul(p->A, 1, &c->along, 0, &c->z);
        bend(c, &c->z);
        mgvi_op_mul_t(p->A, 1, &c->z, 0, &c->image);
    }
    for (int64_t t = 0; t < c->along.n * c->along.k; t++)
        c->image.x[t] += ridge(c, t) * c->along.x[t];
}

/* ---- what is near it ------------------------------------------------------------------------- */

static double curvature_of(const void *arg, int64_t i, double *q, double *share)
{
    const mgvi_class_columns *c = arg;
    const int32_t k = c->run->problem->lanes;
    double sum = 0, squares = 0;
    for (int32_t j = 0; j < k; j++) {
        q[j] = c->h[i * k + j];
        sum += q[j];
        squares += q[j] * q[j];
    }
    *share = sum > 0 ? 1 / sum : 0;
    return sum > 0 ? fmax(sum - squares / sum, 0) : 0;
}

/* The classes of a row beside its first, which has the largest h, whose curvature is more than next
 * to nothing beside lambda. How many. */
static int32_t classes_of(const mgvi_class_columns *c, int64_t i, int32_t *first, bool *in)
{
    static const double NOTHING = 1e-2;
    const int32_t k = c->run->problem->lanes;
    const double *h = c->h + i * k;
    int32_t count = 0;
    *first = 0;
    for (int32_t j = 1; j < k; j++)
        *first = h[j] > h[*first] ? j : *first;
    for (int32_t j = 0; j < k; j++)
        count += in[j] = j != *first && h[j] * c->square[i] > NOTHING;
    return count;
}

/* The rows that have any; false: too many pairs. */
static bool collect(mgvi_class_columns *c)
{
    bool in[MGVI_LANES_MAX];
    int32_t first;
    mgvi_class_pairs_clear(&c->few);
    for (int64_t i = 0; i < c->run->problem->A->rows; i++) {
        const int32_t count = classes_of(c, i, &first, in);
        if (count > 0)
            mgvi_class_pairs_add(&c->few, i);
        c->few.pairs += count;
        if (c->few.pairs > c->few.most_pairs)
            return false;
    }
    return true;
}

/* J = E (D - h h'/sum h) E' over the classes beside the first, D = diag(h), E of the columns e_j -
 * e_first; with v = D^-1/2 h/sqrt(sum h) that is B B', B = E D^1/2 (I - c v v'),
 * c = (1 - sqrt(1 - |v|^2))/|v|^2. */
static void write_basis(mgvi_class_columns *c)
{
    const int32_t k = c->run->problem->lanes;
    bool in[MGVI_LANES_MAX];
    int32_t first;
    int64_t at = 0;
    memset(c->few.basis, 0, (size_t)(c->few.pairs * k) * sizeof *c->few.basis);
    for (int64_t l = 0; l < c->few.view.rows; l++) {
        const double *h = c->h + c->few.mine[l] * (int64_t)k;
        double others = 0;
        classes_of(c, c->few.mine[l], &first, in);
        for (int32_t j = 0; j < k; j++)
            others += in[j] ? h[j] : 0;
        const double less = (1 - sqrt(h[first] / (others + h[first]))) / others;
        for (int32_t t = 0; t < k; t++) {
            double *b = c->few.basis + at * k;
            for (int32_t j = 0; j < k && in[t]; j++) {
                const double part = in[j] ? sqrt(h[j]) * ((j == t) - less * sqrt(h[j] * h[t])) : 0;
                b[j] += part;
                b[first] -= part;
            }
            if (in[t])
                c->few.of_pair[at++] = (int32_t)l;
        }
    }
}

static mgv_status prepare(mgvi_class_columns *c)
{
    const mgvi_class_curvature of = {.row = curvature_of, .arg = c, .free_ridge = c->rho};
    c->few.rho = c->rho;
    if ((c->by_pairs = !c->m.apart && collect(c))) {
        write_basis(c);
        const mgv_status st = mgvi_class_pairs_factor(&c->few);
        if (st != MGV_E_NUMERIC)
            return st;
        c->by_pairs = false;
    }
    return mgvi_class_hessian_refresh(c->run, &c->hessian, &of);
}

/* better = M^-1 residual */
static mgv_status precondition(mgvi_class_columns *c)
{
    if (c->by_pairs) {
        MGVI_TRY(mgvi_class_pairs_solve(&c->few, &c->residual, c->z.x, &c->better));
        mgvi_vec_scale(c->run->ctx, -1, &c->better);
        return MGV_OK;
    }
    mgvi_vec_copy(c->run->ctx, &c->residual, &c->better);
    return mgvi_class_hessian_solve(c->run, &c->hessian, &c->better);
}

/* ---- conjugate gradients --------------------------------------------------------------------- */

/* What the residual adds to a gap. */
static double part_of_gap(const mgvi_class_columns *c)
{
    const mgv_problem *p = c->run->problem;
    const int64_t penalised = mgvi_problem_penalised(p) * p->lanes;
    double square = 0, sums = 0;
    for (int64_t t = 0; t < penalised; t++)
        square += c->residual.x[t] * c->residual.x[t];
    for (int64_t t = penalised; t < c->residual.n * p->lanes; t++)
        sums += fabs(c->residual.x[t]);
    return square / (2 * p->lambda) + sums;
}

/* On from x, whose residual there is, until that is small, or *products are spent. */
static mgv_status gradients(mgvi_class_columns *c, double enough, double *least, int *products,
                            mgvi_vec *x)
{
    mgv_ctx *ctx = c->run->ctx;
    MGVI_TRY(precondition(c));
    mgvi_vec_copy(ctx, &c->better, &c->along);
    double size = mgvi_vec_inner(c->run->ctx, &c->residual, &c->better);
    *least = *least > 0 ? *least : RESIDUAL * RESIDUAL * size;
    for (; *products < MOST_PRODUCTS && !mgvi_ctx_cut(ctx); ++*products) {
        if (!(size > 0) || (size <= *least && part_of_gap(c) <= enough))
            break;
        apply(c);
        const double curvature = mgvi_vec_inner(c->run->ctx, &c->along, &c->image);
        if (!(curvature > 0)) /* of rounding */
            break;
        const double step = size / curvature;
        mgvi_vec_axpby(ctx, step, &c->along, 1, x);
        mgvi_vec_axpby(ctx, -step, &c->image, 1, &c->residual);
        MGVI_TRY(precondition(c));
        const double next = mgvi_vec_inner(c->run->ctx, &c->residual, &c->better);
        mgvi_vec_axpby(ctx, 1, &c->better, next / size, &c->along);
        size = next;
    }
    return MGV_OK;
}

/* residual = -g - H x in float64, with J A x on the way. */
static void find_residual(mgvi_class_columns *c, const mgvi_vec *g, const mgvi_vec *x,
                          mgvi_vec *bent)
{
    const mgv_problem *p = c->run->problem;
    mgvi_op_mul(p->A, 1, x, 0, bent);
    bend(c, bent);
    mgvi_op_mul_t(p->A, -1, bent, 0, &c->residual);
    for (int64_t t = 0; t < x->n * x->k; t++)
        c->residual.x[t] -= g->x[t] + ridge(c, t) * x->x[t];
}

/* Solves until float64's residual is small; false: neither float32's products nor those of float64
 * bring it there. What float32 has left is solved for again; where that does not help, since columns
 * lie far from 0 for their spread or differ too much in size, products are of float64 from then on. */
static mgv_status refine(mgvi_class_columns *c, const mgvi_vec *g, double enough, mgvi_vec *x,
                         mgvi_vec *bent, bool *solved)
{
    static const double HELPED = 0.25, MISSED = 2;
    double least = 0, last = INFINITY;
    int products = 0;
    MGVI_TRY(prepare(c));
    mgvi_vec_fill(c->run->ctx, x, 0);
    mgvi_vec_copy(c->run->ctx, g, &c->residual);
    mgvi_vec_scale(c->run->ctx, -1, &c->residual);
    for (;;) {
        MGVI_TRY(gradients(c, enough, &least, &products, x));
        find_residual(c, g, x, bent);
        const double part = part_of_gap(c);
        const bool helped = part < HELPED * last;
        *solved = helped || !c->m.precise;
        if (part <= MISSED * enough || products >= MOST_PRODUCTS || !*solved ||
            mgvi_ctx_cut(c->run->ctx))
            return MGV_OK;
        c->m.precise = c->m.precise || !helped;
        last = part;
    }
}

/* Where even products of float64 do not help, it is the pairs that fail: beside |x|^2/lambda of
 * columns that differ much in size the 1 in their matrix is lost to rounding. A matrix for every
 * class, whose columns are brought to one size, keeps it, and float32 may be enough again. */
mgv_status mgvi_class_columns_solve(mgvi_class_columns *c, const mgvi_vec *g, double enough,
                                    mgvi_vec *x, mgvi_vec *bent)
{
    bool solved;
    MGVI_TRY(refine(c, g, enough, x, bent, &solved));
    if (solved || !c->by_pairs)
        return MGV_OK;
    c->m.apart = true;
    c->m.precise = false;
    return refine(c, g, enough, x, bent, &solved);
}
