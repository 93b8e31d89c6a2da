/* subspace.c - Newton's method over a few directions and the intercepts. */
#include "solver/kernel/subspace.h"

#include "base/limit.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

enum { MOST_BLOCKS = 16, GRAIN = 1 << 12, MOST_STEPS = 30, MOST_TRIALS = 40 };

static bool is_joint(const mgvi_subspace *s) { return s->problem->loss->can & MGVI_JOINT; }

/* Unknowns of the Newton system: theta, then the intercepts. */
static int64_t unknowns(const mgvi_subspace *s)
{
    return s->count + (s->problem->free_cols ? s->problem->lanes : 0);
}

/* A block's numbers: H, the slopes, and room for one row. */
static int64_t block_size(const mgvi_subspace *s, int64_t size)
{
    return size * size + size + (int64_t)(s->most + 1) * (s->problem->lanes + 1);
}

mgv_status mgvi_subspace_init(mgvi_subspace *s, const mgv_problem *p, mgvi_arena *arena, int most)
{
    const int64_t n = p->A->rows, k = p->lanes, size = most + k;
    *s = (mgvi_subspace){.problem = p, .most = most};
    s->blocks = mgvi_block_count(n * k, GRAIN, MOST_BLOCKS);
    MGVI_TRY(MGVI_VECS(arena, MGVI_ROWS, n, p->lanes, &s->z, &s->u, &s->step, &s->trial));
    MGVI_TRY(mgvi_scaled_cholesky_init(&s->system, arena, size));
    MGVI_TRY(MGVI_ARRAY(arena, s->image, most));
    MGVI_TRY(MGVI_ARRAY(arena, s->quadratic, (size_t)most * (size_t)most));
    MGVI_TRY(MGVI_ARRAY(arena, s->linear, most));
    MGVI_TRY(MGVI_ARRAY(arena, s->theta, most));
    MGVI_TRY(MGVI_ARRAY(arena, s->b, k));
    MGVI_TRY(MGVI_ARRAY(arena, s->ahead, size));
    s->partial = mgvi_arena_array(arena, (size_t)s->blocks,
                                  (size_t)block_size(s, size) * sizeof *s->partial);
    return s->partial ? MGV_OK : MGV_E_MEMORY;
}

/* ---- the Newton system ----------------------------------------------------------------------- */

/* Where a block writes. */
typedef struct sums {
    int64_t size, count;
    int32_t k;
    double *H, *slope; /* the upper triangle; phi's slopes, without Q and l */
    double *p, *pe;    /* of a row: probabilities; p_c e_jc and its sum for each direction */
} sums;

/* Softmax: the curvature of a row is s (diag(p) - p p').                                     (4) */
static void add_joint(const mgvi_subspace *s, sums *a, int64_t i)
{
    const int32_t k = a->k, own = (int32_t)mgvi_coef_pick(&s->problem->row.a, i, 0);
    const double weight = mgvi_coef_pick(&s->problem->row.scale, i, 0);
    const double *u = s->u.x + i * k;
    if (weight == 0)
        return;
    for (int32_t c = 0; c < k; c++)
        a->p[c] = u[c] / weight + (c == own);
    for (int64_t j = 0; j < a->count; j++) {
        const double *e = s->image[j] + i * k;
        double *pe = a->pe + j * (k + 1), mean = 0, slope = 0;
        for (int32_t c = 0; c < k; c++) {
            pe[c] = a->p[c] * e[c];
            mean += pe[c];
            slope += u[c] * e[c];
        }
        for (int32_t c = 0; c < k; c++)
            pe[c] = weight * (pe[c] - mean * a->p[c]); /* the curvature times e_j */
        a->slope[j] += slope;
        for (int64_t l = 0; l <= j; l++) {
            const double *other = s->image[l] + i * k;
            double sum = 0;
            for (int32_t c = 0; c < k; c++)
                sum += pe[c] * other[c];
            a->H[l * a->size + j] += sum;
        }
        if (a->size > a->count)
            for (int32_t c = 0; c < k; c++)
                a->H[j * a->size + a->count + c] += pe[c];
    }
    for (int32_t c = 0; a->size > a->count && c < k; c++) {
        double *row = a->H + (a->count + c) * a->size + a->count;
        a->slope[a->count + c] += u[c];
        row[c] += weight * a->p[c];
        for (int32_t d = c; d < k; d++)
            row[d] -= weight * a->p[c] * a->p[d];
    }
}

/* A loss of one score: its curvature is in s->trial. */
static void add_single(const mgvi_subspace *s, sums *a, int64_t i)
{
    const double h = s->trial.x[i], u = s->u.x[i];
    const double entry = mgvi_problem_free_entry(s->problem, i);
    for (int64_t j = 0; j < a->count; j++) {
        const double e = s->image[j][i];
        a->slope[j] += u * e;
        for (int64_t l = 0; l <= j; l++)
            a->H[l * a->size + j] += h * e * s->image[l][i];
        if (a->size > a->count)
            a->H[j * a->size + a->count] += h * e * entry;
    }
    if (a->size > a->count) {
        a->slope[a->count] += u * entry;
        a->H[a->count * a->size + a->count] += h;
    }
}

static void add_block(void *arg, int64_t block)
{
    mgvi_subspace *s = arg;
    const int64_t size = unknowns(s), n = s->z.n;
    double *room = s->partial + block * block_size(s, size);
    sums a = {.size = size, .count = s->count, .k = s->problem->lanes, .H = room};
    a.slope = room + size * size;
    a.p = a.slope + size;
    a.pe = a.p + a.k;
    memset(room, 0, (size_t)(size * size + size) * sizeof *room);
    MGVI_FOR_BLOCK (i, n, s->blocks, block)
        if (is_joint(s))
            add_joint(s, &a, i);
        else
            add_single(s, &a, i);
}

/* Scores of all classes may rise together without a change: that direction gets a curvature of its
 * own. A loss without curvature where it stands (far out on a straight part) must not send the
 * intercept beyond all scores and targets. */
static void fix_intercepts(mgvi_subspace *s)
{
    const int64_t first = s->count, size = unknowns(s);
    const mgv_problem *p = s->problem;
    double *H = s->system.H, trace = 0, reach = 0, least = 0;
    if (size == first)
        return;
    if (is_joint(s)) {
        for (int64_t c = first; c < size; c++)
            trace += H[c * size + c];
        for (int64_t c = first; c < size; c++)
            for (int64_t d = c; d < size; d++)
                H[c * size + d] += trace / (double)((size - first) * (size - first));
        return;
    }
    for (int64_t i = 0; i < s->z.n; i++)
        reach = fmax(reach, fabs(s->z.x[i] - (p->view.sign ? 0 : mgvi_problem_target(p, i))));
    least = fabs(s->ahead[first]) / (1 + reach);
    H[first * size + first] = fmax(H[first * size + first], least);
}

/* H of phi into the system, minus phi's slopes into `ahead`.                                 (4) */
static void assemble(mgvi_subspace *s)
{
    const int64_t size = unknowns(s), length = size * size + size;
    double *H = s->system.H;
    s->system.n = size;
    if (!is_joint(s))
        mgvi_loss_curv(s->problem->ctx, s->problem->loss, &s->problem->row, &s->z, &s->trial);
    mgvi_ctx_run(s->problem->ctx, s->blocks, add_block, s);
    double *first = s->partial;
    for (int64_t b = 1; b < s->blocks; b++) {
        const double *more = s->partial + b * block_size(s, size);
        for (int64_t t = 0; t < length; t++)
            first[t] += more[t];
    }
    memcpy(H, first, (size_t)(size * size) * sizeof *H);
    for (int64_t j = 0; j < size; j++)
        s->ahead[j] = -first[size * size + j];
    for (int j = 0; j < s->count; j++) {
        s->ahead[j] -= s->linear[j];
        for (int l = 0; l < s->count; l++) {
            s->ahead[j] -= s->quadratic[j * s->most + l] * s->theta[l];
            if (l >= j)
                H[j * size + l] += s->quadratic[j * s->most + l];
        }
    }
    fix_intercepts(s);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static double loss_at(const mgvi_subspace *s, const mgvi_vec *z)
{
    double sum = 0, *lane = s->partial; /* free between two assemblies */
    mgvi_loss_value(s->problem->ctx, s->problem->loss, &s->problem->row, z, lane);
    for (int32_t c = 0; c < s->problem->lanes; c++)
        sum += lane[c];
    return sum;
}

/* l'theta + theta'Q theta/2 at theta + t ahead. */
static double quadratic_at(const mgvi_subspace *s, double t)
{
    double sum = 0;
    for (int j = 0; j < s->count; j++) {
        const double x = s->theta[j] + t * s->ahead[j];
        sum += s->linear[j] * x;
        for (int l = 0; l < s->count; l++)
            sum += 0.5 * x * s->quadratic[j * s->most + l] * (s->theta[l] + t * s->ahead[l]);
    }
    return sum;
}

/* What a step `ahead` does to the scores. */
static void make_step(mgvi_subspace *s)
{
    const mgv_problem *p = s->problem;
    const int32_t k = p->lanes;
    for (int64_t i = 0; i < s->step.n; i++)
        for (int32_t c = 0; c < k; c++)
            s->step.x[i * k + c] =
                p->free_cols ? mgvi_problem_free_entry(p, i) * s->ahead[s->count + c] : 0;
    for (int j = 0; j < s->count; j++) {
        const mgvi_vec e = {.x = (double *)s->image[j], .n = s->z.n, .k = k, .space = MGVI_ROWS};
        mgvi_vec_axpby(p->ctx, s->ahead[j], &e, 1, &s->step);
    }
}

/* Goes along `ahead` as far as phi falls in proportion; false: not at all.                   (5) */
static bool descend(mgvi_subspace *s, double promise)
{
    mgv_ctx *ctx = s->problem->ctx;
    const double slack = 4e-16 * fabs(s->value);
    double t = 1;
    make_step(s);
    for (int trial = 0; trial < MOST_TRIALS; trial++, t *= 0.5) {
        mgvi_vec_add(ctx, 1, &s->z, t, &s->step, &s->trial);
        const double value = quadratic_at(s, t) + loss_at(s, &s->trial);
        if (!(value <= s->value - 1e-4 * t * promise + slack))
            continue;
        mgvi_vec_copy(ctx, &s->trial, &s->z);
        for (int j = 0; j < s->count; j++)
            s->theta[j] += t * s->ahead[j];
        for (int32_t c = 0; s->problem->free_cols && c < s->problem->lanes; c++)
            s->b[c] += t * s->ahead[s->count + c];
        s->value = value;
        return true;
    }
    return false;
}

mgv_status mgvi_subspace_minimise(mgvi_subspace *s, double enough)
{
    const mgv_problem *p = s->problem;
    for (int j = 0; j < s->count; j++)
        s->theta[j] = 0;
    s->value = loss_at(s, &s->z);
    mgvi_loss_grad(p->ctx, p->loss, &p->row, &s->z, &s->u);
    for (int step = 0; step < MOST_STEPS && unknowns(s) > 0; step++) {
        assemble(s);
        for (int64_t j = 0; j < unknowns(s); j++)
            s->partial[j] = s->ahead[j];
        MGVI_TRY(mgvi_scaled_cholesky_factor(&s->system, 1e-14));
        MGVI_TRY(mgvi_scaled_cholesky_solve(&s->system, s->ahead, NULL));
        double promise = 0;
        for (int64_t j = 0; j < unknowns(s); j++)
            promise += s->partial[j] * s->ahead[j];
        if (!(promise > 0) || !descend(s, promise))
            break;
        mgvi_loss_grad(p->ctx, p->loss, &p->row, &s->z, &s->u);
        if (promise <= fmax(enough, 1e-15 * fabs(s->value)))
            break;
    }
    return MGV_OK;
}

/* ---- directions ------------------------------------------------------------------------------ */

double *mgvi_subspace_direction(const mgvi_subspace *s, const mgvi_directions *d,
                                const mgvi_past *past, int j, double **image)
{
    const int64_t room = s->most - 1, at = ((past->newest + 1 - j) % room + room) % room;
    const int64_t numbers = s->z.n * s->z.k;
    *image = j > 0 ? d->images + at * numbers : d->first_image;
    return j > 0 ? d->past + at * numbers : d->first;
}

void mgvi_subspace_describe(mgvi_subspace *s, const mgvi_directions *d, const mgvi_past *past,
                            const mgvi_vec *image_c)
{
    const double lambda = s->problem->lambda;
    mgvi_vec x = *image_c, image = *image_c, other = *image_c;
    s->count = past ? 1 + (int)past->count : 0;
    for (int j = 0; j < s->count; j++) {
        x.x = mgvi_subspace_direction(s, d, past, j, &image.x);
        s->image[j] = image.x;
        s->linear[j] = lambda * mgvi_vec_inner(s->problem->ctx, &x, image_c);
        for (int l = 0; l <= j; l++) {
            mgvi_subspace_direction(s, d, past, l, &other.x);
            const double q = lambda * mgvi_vec_inner(s->problem->ctx, &x, &other);
            s->quadratic[j * s->most + l] = s->quadratic[l * s->most + j] = q;
        }
    }
}

void mgvi_subspace_move(const mgvi_subspace *s, const mgvi_directions *d, mgvi_past *past,
                        mgvi_vec *moved, mgvi_vec *image)
{
    mgv_ctx *ctx = s->problem->ctx;
    const int64_t room = s->most - 1;
    mgvi_vec_fill(ctx, moved, 0);
    mgvi_vec_fill(ctx, image, 0);
    for (int j = 0; j < s->count; j++) {
        mgvi_vec x = *moved, e = *moved;
        x.x = mgvi_subspace_direction(s, d, past, j, &e.x);
        mgvi_vec_axpby(ctx, s->theta[j], &x, 1, moved);
        mgvi_vec_axpby(ctx, s->theta[j], &e, 1, image);
    }
    past->newest = (past->newest + 1) % room;
    past->count = past->count < room ? past->count + 1 : room;
    mgvi_vec to = *moved, image_to = *moved;
    to.x = mgvi_subspace_direction(s, d, past, 1, &image_to.x);
    mgvi_vec_copy(ctx, moved, &to);
    mgvi_vec_copy(ctx, image, &image_to);
}
