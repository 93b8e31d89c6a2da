/* hinge_interior.c - the interior point of column_generation/hinge_interior.h: its start and the loop;
 * hinge_step.c has the steps. */
#include "base/limit.h"
#include "solver/column_generation/hinge_interior_impl.h"

#include <math.h>
#include <string.h>

enum {
    MOST_STEPS = 100,
    STALLED = 12 /* steps without progress */
};

static const double HOPELESS = 1e3; /* times the best gap: rounding has taken over */
/* Relative gaps from which faces are tried, lambda = 0 and lambda > 0. At larger ones they are
 * wrong: on 100 x 2500, colon and leukemia the first right one came between 3e-3 and 1e-7. */
static const double FIRST_FACE[] = {5e-3, 1e-3};
static const double RESTING = 0.1; /* relative gap below which rows may come to rest */
static const double FEW = 0.25;    /* of the rows live at the end: the others may rest next time */
static const double SOLVED = 0.5;  /* complementarity beside the dual value: nearly solved */

/* ---- memory ---------------------------------------------------------------------------------- */

static mgv_status room_for_moves(mgvi_arena *arena, int64_t rows, int64_t cols, mgvi_hinge_move *d)
{
    MGVI_TRY(MGVI_VECTORS(arena, rows, &d->a, &d->slack, &d->xi));
    return MGVI_VECTORS(arena, cols, &d->w, &d->g, &d->pos, &d->neg, &d->z_pos, &d->z_neg);
}

static mgv_status room_for_points(mgvi_arena *arena, mgvi_hinge_interior *k, int64_t rows,
                                  int64_t cols)
{
    MGVI_TRY(MGVI_VECTORS(arena, rows, &k->a, &k->l, &k->c, &k->slack, &k->xi, &k->z, &k->rd,
                          &k->e_slack, &k->e_xi, &k->t_slack, &k->t_xi, &k->Th, &k->r, &k->t_row,
                          &k->best_theta, &k->face_theta));
    MGVI_TRY(MGVI_VECTORS(arena, cols, &k->w, &k->v, &k->pos, &k->neg, &k->z_pos, &k->z_neg,
                          &k->r_pos, &k->r_neg, &k->e_pos, &k->e_neg, &k->t_pos, &k->t_neg, &k->K,
                          &k->k0, &k->best_w, &k->face_w, &k->sign));
    MGVI_TRY(room_for_moves(arena, rows, cols, &k->at));
    MGVI_TRY(room_for_moves(arena, rows, cols, &k->other));
    return room_for_moves(arena, rows, cols, &k->rest);
}

mgv_status mgvi_hinge_interior_new(mgvi_arena *arena, int64_t rows, int64_t cols, bool sparse,
                                   mgvi_hinge_interior **out)
{
    mgvi_hinge_interior *k = mgvi_arena_array(arena, 1, sizeof *k);
    *out = k;
    if (!k)
        return MGV_E_MEMORY;
    const size_t side = (size_t)rows, both = (size_t)(rows + cols);
    const size_t least = cols > 0 && cols < rows ? (size_t)cols : side;
    MGVI_TRY(MGVI_SCRATCH(arena, k->H, least * least));
    MGVI_TRY(MGVI_ARRAY(arena, k->side, least));
    MGVI_TRY(MGVI_ARRAY(arena, k->along, least));
    MGVI_TRY(MGVI_ARRAY(arena, k->along_g, cols));
    MGVI_TRY(MGVI_ARRAY(arena, k->cg_row, sparse ? side : 0));
    MGVI_TRY(MGVI_ARRAY(arena, k->cg_col, sparse ? (size_t)cols : 0));
    MGVI_TRY(MGVI_ARRAY(arena, k->keys, both));
    MGVI_TRY(MGVI_ARRAY(arena, k->row, side));
    MGVI_TRY(MGVI_ARRAY(arena, k->rests, side));
    MGVI_TRY(MGVI_ARRAY(arena, k->face_row, side));
    MGVI_TRY(MGVI_ARRAY(arena, k->face_col, cols));
    MGVI_TRY(MGVI_ARRAY(arena, k->upper, side));
    k->by_rows = mgvi_arena_scratch(arena, cols > 0 && !sparse ? side * least : 0, sizeof(double));
    k->cg_live = mgvi_arena_array(arena, sparse ? MGVI_HINGE_CG * side : 0, sizeof(double));
    if (!k->by_rows || !k->cg_live)
        return MGV_E_MEMORY;
    return room_for_points(arena, k, rows, cols);
}

/* ---- the start ------------------------------------------------------------------------------- */

/* a in the middle of the box, the heavier class less so that the intercept's equation holds where
 * it can. */
static void middle_of_the_box(mgvi_hinge_interior *k)
{
    const mgvi_hinge_block *p = k->p;
    double side[2] = {0, 0}, fixed = p->lin_free;
    for (int64_t i = 0; p->y && i < p->rows; i++) {
        if (k->rests[i] == MGVI_HINGE_LIVE)
            side[p->y[i] > 0] += p->s[i];
        else
            fixed += p->y[i] * k->a[i];
    }
    side[fixed > 0] += 2 * fabs(fixed); /* half of the box is 0.5 s */
    for (int64_t t = 0; t < k->live; t++) {
        const int64_t i = k->row[t];
        double share = 0.5;
        if (p->y) {
            const int mine = p->y[i] > 0;
            share *= side[mine] > side[!mine] ? fmax(side[!mine] / side[mine], 0.1) : 1;
        }
        k->a[i] = share * (p->bend ? fmin(p->s[i], 1 / p->bend[i]) : p->s[i]);
        k->l[i] = k->a[i];
        k->c[i] = p->s[i] - k->a[i];
        k->slack[i] = 0.5;
        k->xi[i] = p->bend ? 1.5 * fmin(1, k->a[i] / k->c[i]) : 1.5;
    }
}

/* Theta nearer to 0, where |v| <= mu: bent rows, for primal and dual take the same steps there, and
 * columns many orders beyond mu would let neither begin; and sparse blocks whose system has the
 * size of the rows, for conjugate gradients do not get far with products so uneven. Hinges keep
 * clear of theta = 0. */
static void shrink_into_mu(mgvi_hinge_interior *k)
{
    const mgvi_hinge_block *p = k->p;
    double largest = 0;
    for (int64_t j = 0; j < p->cols; j++)
        largest = fmax(largest, fabs(k->v[j]));
    const bool wanted = p->bend || (p->sparse && !mgvi_hinge_by_columns(k));
    if (!wanted || k->live < p->rows || p->lin || p->lin_free != 0 || largest <= p->mu)
        return;
    const double share = 0.5 * p->mu / largest;
    for (int64_t j = 0; j < p->cols; j++)
        k->v[j] *= share;
    for (int64_t t = 0; t < k->live; t++) {
        const int64_t i = k->row[t];
        k->l[i] = k->a[i] *= share;
        k->c[i] = p->s[i] - k->a[i];
        k->xi[i] = p->bend ? k->slack[i] * k->a[i] / k->c[i] : k->xi[i];
    }
}

/* Products of a gap P - D. */
static double products_of(const mgvi_hinge_interior *k, double gap)
{
    return gap / (double)(2 * (mgvi_hinge_boxed(k) + k->p->cols));
}

/* The distances to the bounds of rows that have any, and slacks for products tau. */
static void surround_rows(mgvi_hinge_interior *k, double tau)
{
    const mgvi_hinge_block *p = k->p;
    for (int64_t i = 0; i < p->rows && p->kind != MGVI_ROWS_FREE; i++) {
        k->l[i] = k->a[i] - mgvi_hinge_low(p, i);
        k->c[i] = p->s[i] - k->a[i];
        k->slack[i] = tau / k->l[i];
        k->xi[i] = tau / k->c[i];
    }
}

/* Both ends of an interval have a bound at 0. What moves one row off it moves the other back. */
static double off_the_corner(const mgvi_hinge_block *p, int64_t i)
{
    static const double OFF = 0.05;
    return p->kind != MGVI_ROWS_BOXED || (mgvi_hinge_low(p, i) < 0 && p->s[i] > 0)
               ? 0
               : OFF * (p->s[i] + mgvi_hinge_low(p, i));
}

/* Rows that are no hinges: a part of the theta of w = 0, for which |v| <= mu and whose bounds are
 * not near, at the intercept of w = 0. The products share P(0): sum mu (p + q) is no more, as at
 * the solution. */
static double part_of_lone(mgv_ctx *ctx, mgvi_hinge_interior *k)
{
    const mgvi_hinge_block *p = k->p;
    double largest = 0, value = 0;
    if (!p->gram)
        mgvi_hinge_duals(ctx, p, p->lone, k->v);
    for (int64_t j = 0; !p->gram && j < p->cols; j++)
        largest = fmax(largest, fabs(k->v[j]));
    const double share = largest > p->mu && p->mu > 0 ? 0.5 * p->mu / largest : 0.5;
    for (int64_t j = 0; !p->gram && j < p->cols; j++)
        k->v[j] *= share;
    k->b = p->y ? p->lone_free : 0;
    for (int64_t i = 0; i < p->rows; i++) {
        k->a[i] = share * p->lone[i] + off_the_corner(p, i);
        k->z[i] = p->y ? p->y[i] * k->b : 0;
        value += mgvi_hinge_loss(p, i, k->z[i]);
    }
    const double tau = products_of(k, value);
    surround_rows(k, tau);
    return tau;
}

/* The mean of the products at the start. */
static double start_rows(mgv_ctx *ctx, mgvi_hinge_interior *k)
{
    const mgvi_hinge_block *p = k->p;
    double sum = 0;
    if (p->lone)
        return part_of_lone(ctx, k);
    middle_of_the_box(k);
    k->b = 0;
    memset(k->z, 0, (size_t)p->rows * sizeof *k->z);
    if (p->gram)
        return 0;
    mgvi_hinge_duals(ctx, p, k->a, k->v);
    shrink_into_mu(k);
    for (int64_t t = 0; t < k->live; t++)
        sum += k->slack[k->row[t]] * k->l[k->row[t]] + k->xi[k->row[t]] * k->c[k->row[t]];
    return sum / (double)(2 * k->live);
}

static void start(mgv_ctx *ctx, mgvi_hinge_interior *k)
{
    const mgvi_hinge_block *p = k->p;
    k->live = 0;
    for (int64_t i = 0; i < p->rows; i++)
        if (k->rests[i] == MGVI_HINGE_LIVE)
            k->row[k->live++] = (int32_t)i;
    const double tau = start_rows(ctx, k);
    k->tau = INFINITY;
    memset(k->tried, 0, sizeof k->tried);
    if (p->gram) {
        mgvi_hinge_scores(ctx, p, &(mgvi_hinge_point){.theta = k->a, .b = k->b}, k->z);
        return;
    }
    for (int64_t j = 0; j < p->cols; j++) {
        k->w[j] = 0;
        k->pos[j] = k->neg[j] = tau / p->mu;
        k->z_pos[j] = fmax(p->mu - k->v[j], 0.1 * p->mu);
        k->z_neg[j] = fmax(p->mu + k->v[j], 0.1 * p->mu);
    }
    if (!p->sparse && mgvi_hinge_by_columns(k))
        for (int64_t i = 0; i < p->rows; i++)
            for (int64_t j = 0; j < p->cols; j++)
                k->by_rows[i * p->cols + j] = p->Z[i + j * p->col_stride];
}

/* Off the bounds of its box. */
static double well_inside(const mgvi_hinge_block *p, int64_t i, double theta)
{
    static const double OFF = 0.05;
    const double low = mgvi_hinge_low(p, i), room = p->s ? OFF * (p->s[i] - low) : 0;
    return p->kind != MGVI_ROWS_BOXED ? theta : fmin(fmax(theta, low + room), p->s[i] - room);
}

/* Rows that are no hinges: the weights of `from` and its theta, scaled into |v| <= mu, where its
 * gap, which gives the products, is smaller than that of the start already made. */
static void start_near(mgv_ctx *ctx, mgvi_hinge_interior *k, const mgvi_hinge_point *from)
{
    static const double WITHIN = 0.9; /* of mu */
    const mgvi_hinge_block *p = k->p;
    const mgvi_hinge_point here = {.theta = k->a, .w = k->w, .b = k->b};
    const mgvi_hinge_values cold = mgvi_hinge_judge(p, &here, k->z, k->v);
    double *z = k->t_row, *v = k->at.g, most = 0;
    mgvi_hinge_scores(ctx, p, from, z);
    mgvi_hinge_duals(ctx, p, from->theta, v);
    const mgvi_hinge_values f = mgvi_hinge_judge(p, from, z, v);
    if (!(f.primal - f.dual < cold.primal - cold.dual))
        return;
    for (int64_t j = 0; j < p->cols; j++)
        most = fmax(most, fabs(v[j]));
    const double scale = fmin(1, WITHIN * p->mu / most);
    for (int64_t i = 0; i < p->rows; i++)
        k->a[i] = well_inside(p, i, scale * from->theta[i]);
    memcpy(k->z, z, (size_t)p->rows * sizeof *z);
    k->b = from->b;
    mgvi_hinge_duals(ctx, p, k->a, k->v);
    const double tau = products_of(k, f.primal - f.dual);
    surround_rows(k, tau);
    for (int64_t j = 0; j < p->cols; j++)
        mgvi_hinge_start_column(k, j, from->w[j], tau);
}

/* Everything from the middle again, and no row is to rest any more. */
static void wake_all(mgv_ctx *ctx, mgvi_hinge_interior *k)
{
    memset(k->rests, MGVI_HINGE_LIVE, (size_t)k->p->rows * sizeof *k->rests);
    k->presumed = false;
    k->restless = true;
    start(ctx, k);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* The gap of the live rows' own problem, once its equations hold. */
static double complementarity(const mgvi_hinge_interior *k)
{
    return 2 * k->tau * (double)(mgvi_hinge_boxed(k) + k->p->cols);
}

/* Keeps the present point when it is the best; its relative gap. */
static double judge(mgvi_hinge_interior *k)
{
    const mgvi_hinge_block *p = k->p;
    const mgvi_hinge_point at = {.theta = k->a, .w = k->w, .b = k->b};
    const mgvi_hinge_values f = mgvi_hinge_judge(p, &at, k->z, k->v);
    const double gap = (f.primal - f.dual) / fmax(fabs(f.primal), 1e-300);
    k->dual = f.dual;
    if (gap < k->best_gap) {
        k->best_gap = gap;
        k->best_b = k->b;
        memcpy(k->best_theta, k->a, (size_t)p->rows * sizeof *k->a);
        if (!p->gram)
            memcpy(k->best_w, k->w, (size_t)p->cols * sizeof *k->w);
    }
    return gap;
}

/* The best point, its values taken anew. */
static void hand_over(mgv_ctx *ctx, mgvi_hinge_interior *k, mgvi_hinge_point *out,
                      mgvi_hinge_result *result)
{
    const mgvi_hinge_block *p = k->p;
    memcpy(out->theta, k->best_theta, (size_t)p->rows * sizeof *k->a);
    out->b = k->best_b;
    double *z = k->r, *v = k->at.g; /* free between two steps */
    if (!p->gram) {
        memcpy(out->w, k->best_w, (size_t)p->cols * sizeof *k->w);
        mgvi_hinge_duals(ctx, p, out->theta, v);
    }
    mgvi_hinge_scores(ctx, p, out, z);
    const mgvi_hinge_values f = mgvi_hinge_judge(p, out, z, v);
    result->primal = f.primal;
    result->dual = f.dual;
}

static bool at_bound(const mgvi_hinge_block *p, int64_t i, double theta)
{
    return theta == 0 || theta == p->s[i];
}

void mgvi_hinge_interior_begin(mgv_ctx *ctx, mgvi_hinge_interior *k, const mgvi_hinge_block *block,
                               const mgvi_hinge_point *from, mgvi_hinge_waypoint *way)
{
    const double *theta = from ? from->theta : NULL;
    const double *then = theta && way && way->cols > 0 ? way->a : NULL;
    int64_t live = 0;
    k->p = block;
    k->halfway = way;
    k->best_gap = INFINITY;
    k->least = MGVI_HINGE_DIAGONAL;
    for (int64_t i = 0; i < block->rows; i++) {
        const bool bound = mgvi_hinge_may_rest(k) && theta && at_bound(block, i, theta[i]) &&
                           (!then || at_bound(block, i, then[i]));
        k->rests[i] = bound ? MGVI_HINGE_PRESUMED : MGVI_HINGE_LIVE;
        k->l[i] = k->a[i] = bound ? theta[i] : 0;
        k->c[i] = (block->s ? block->s[i] : 0) - k->a[i];
        live += !bound;
    }
    k->presumed =
        live > 0 && (then ? live < block->rows : (double)live < FEW * (double)block->rows);
    k->restless = false;
    k->settled = k->presumed;
    if (!k->presumed)
        memset(k->rests, MGVI_HINGE_LIVE, (size_t)block->rows * sizeof *k->rests);
    if (then)
        mgvi_hinge_resume(ctx, k);
    else
        start(ctx, k);
    if (from && block->lone && !block->gram)
        start_near(ctx, k, from);
}

/* Whether the rows at rest may be to blame for steps that do not help, and all of them live are
 * worth their while: large problems end in rounding. */
static bool may_wake(const mgvi_hinge_interior *k)
{
    static const double SMALL = 1e6, ROUNDING = 1e-6;
    return k->live < k->p->rows &&
           (k->best_gap > ROUNDING || (double)k->p->rows * (double)k->p->cols <= SMALL);
}

mgv_status mgvi_hinge_interior_run(mgv_ctx *ctx, mgvi_hinge_interior *k, double tol,
                                   mgvi_hinge_point *out, mgvi_hinge_result *result)
{
    const mgvi_hinge_block *p = k->p;
    bool positive = true;
    double least = INFINITY; /* gap of the interior's own points */
    int since = 0;           /* steps since it fell */
    *result = (mgvi_hinge_result){.steps = 0};
    k->work = 0;
    while (result->steps < MOST_STEPS) {
        MGVI_TRY(mgvi_hinge_step(ctx, k, &positive));
        MGVI_TRY(mgvi_ctx_whole(ctx));
        result->steps++;
        const double gap = judge(k);
        if (p->kind == MGVI_ROWS_BOXED && !p->bend && !p->low && gap <= FIRST_FACE[p->lambda > 0])
            MGVI_TRY(mgvi_hinge_try_faces(ctx, k, gap, &result->exact));
        if (result->exact || k->best_gap <= tol)
            break;
        since = gap < least ? 0 : since + 1;
        const bool lost = !positive || !(gap <= HOPELESS * least) || (p->lone && since >= STALLED);
        least = fmin(least, gap);
        if (k->halfway && complementarity(k) >= SOLVED * k->dual)
            mgvi_hinge_keep_waypoint(k);
        if ((lost || since >= STALLED) && may_wake(k)) {
            wake_all(ctx, k);
            since = 0;
            least = INFINITY;
        } else if (lost) {
            break;
        } else if (k->presumed && complementarity(k) < SOLVED * k->dual) {
            if (!mgvi_hinge_check_presumed(ctx, k))
                start(ctx, k);
            if (k->presumed) { /* another problem */
                since = 0;
                least = INFINITY;
            }
        } else if (mgvi_hinge_may_rest(k) && !k->presumed && !k->restless &&
                   (k->settled || gap < RESTING)) {
            mgvi_hinge_rest_rows(ctx, k);
        }
    }
    hand_over(ctx, k, out, result);
    result->work = k->work;
    return MGV_OK;
}
