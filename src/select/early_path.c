/* early_path.c - the iteration (1), (2) of docs/algorithms/primal_dual.md with a lane for every
 * fold and one for the full fit:
 *   w+ = S(w - tau A'(2 u - u_old), tau),   u+ = u + sigma (A w+ - y) on the rows trained on
 * A w reads the columns that some lane uses, A' in between full products those that some lane may
 * use soon. Held-out residuals are by-products of A w. */
#include "select/paths.h"

#include "base/rng.h"
#include "op/op.h"

#include <math.h>
#include <string.h>

typedef struct early {
    mgvi_lanes *s;
    const mgvi_early_plan *plan;
    mgvi_path *path;
    float *U, *ahead, *best;    /* rows x width: u, 2 u - u_old, u at the best point */
    float *tau, *sigma, *first; /* width; `first` is off at w = 0 */
    float *before;              /* cols x width: grad at the last look at all columns */
    int32_t *list, *support;    /* columns to look at until the next one; with a weight */
    int64_t list_count, support_count;
} early;

/* ---- |A| ---------------------------------------------------------------------------------------
 */

/* x of the full fit's lane gets length 1; the length it had. */
static double normalise(const mgvi_lanes *s, float *x, int64_t n)
{
    const int32_t full = s->lanes - 1;
    double square = 0;
    for (int64_t i = 0; i < n; i++)
        square += pow(x[i * s->width + full], 2);
    const float inverse = square > 0 ? (float)(1 / sqrt(square)) : 0;
    for (int64_t i = 0; i < n; i++)
        x[i * s->width + full] *= inverse;
    return sqrt(square);
}

/* Takes the mean out of the rows that the full fit trains on, the others are 0. */
static void centre(const mgvi_lanes *s, float *x)
{
    const int32_t full = s->lanes - 1;
    double sum = 0;
    for (int32_t c = 0; c < s->codes; c++)
        for (int64_t i = s->stretch[c]; i < s->stretch[c + 1]; i++) {
            x[i * s->width + full] *= s->mask[c * s->width + full] ? 1.0F : 0.0F;
            sum += (double)s->e[i] * x[i * s->width + full];
        }
    for (int32_t c = 0; c < s->codes; c++)
        for (int64_t i = s->stretch[c]; s->mask[c * s->width + full] && i < s->stretch[c + 1]; i++)
            x[i * s->width + full] -= (float)(sum * s->shift[full] * s->e[i]);
}

/* alpha u = A v - beta u,  beta v = A'u - alpha v, in the lane of the full fit. */
static double square_norm(early *k)
{
    enum { STEPS = 8 };
    mgvi_lanes *s = k->s;
    const int64_t width = s->width, full = s->lanes - 1;
    double alpha[STEPS] = {0}, beta[STEPS + 1] = {0};
    mgvi_rng rng = mgvi_rng_seed(1);
    int steps = 0;
    for (int64_t j = 0; j < s->P.cols; j++)
        s->w[j * width + full] = s->square[j * width + full] > 0 ? (float)mgvi_rng_normal(&rng) : 0;
    for (double left = normalise(s, s->w, s->P.cols); steps < STEPS && left > 0; steps++) {
        mgvi_lanes_product(s, NULL, NULL, 0, k->ahead); /* -A v */
        for (int64_t i = 0; i < s->P.rows; i++)
            k->ahead[i * width + full] =
                (float)(-k->ahead[i * width + full] - beta[steps] * k->U[i * width + full]);
        memcpy(k->U, k->ahead, (size_t)(s->P.rows * width) * sizeof *k->U);
        centre(s, k->U);
        alpha[steps] = normalise(s, k->U, s->P.rows);
        mgvi_lanes_transposed(s, k->U, NULL, 0);
        for (int64_t j = 0; j < s->P.cols; j++) {
            const int64_t t = j * width + full;
            s->w[t] = s->square[t] > 0 ? (float)(s->grad[t] - alpha[steps] * s->w[t]) : 0;
        }
        left = beta[steps + 1] = normalise(s, s->w, s->P.cols);
        left = left > 1e-5 * alpha[steps] ? left : 0;
    }
    return pow(MGVI_NORM_COVER, 2) * mgvi_bidiagonal_square(alpha, beta, steps);
}

/* ---- the steps ---------------------------------------------------------------------------------
 */

/* (4) and (6); grad is A'y. */
static mgv_status choose_steps(early *k, double square)
{
    const mgvi_lanes *s = k->s;
    const double MARGIN = 0.99;
    for (int32_t l = 0; l < s->lanes; l++) {
        double most = 0;
        for (int64_t j = 0; j < s->P.cols; j++)
            if (s->square[j * s->width + l] > 0)
                most = fmax(most, fabs((double)s->grad[j * s->width + l]));
        if (!(most > 0) || !isfinite(most) || !(square > 0) || !isfinite(square))
            return MGVI_FAIL(s->ctx, MGV_E_INPUT,
                             "no column has anything to do with the target: there is no path");
        const double sigma = isnan(k->plan->sigma) ? k->plan->factor / most : k->plan->sigma;
        k->sigma[l] = (float)sigma;
        k->tau[l] = (float)(MARGIN / (sigma * square));
    }
    return MGV_OK;
}

/* After a look at all columns: those that are not 0 in some lane, or will not be soon if their
 * gradient goes on as it did since the look before, and half as fast again. */
static void plan_columns(early *k)
{
    const mgvi_lanes *s = k->s;
    const float AHEAD = 1.5F;
    k->list_count = 0;
    for (int64_t j = 0; j < s->P.cols; j++) {
        bool wanted = false;
        for (int64_t t = j * s->width; t < j * s->width + s->lanes; t++) {
            const float g = s->grad[t];
            wanted = wanted || s->w[t] != 0 || fabsf(g + AHEAD * (g - k->before[t])) > 1;
        }
        k->list[k->list_count] = (int32_t)j;
        k->list_count += wanted;
    }
    memcpy(k->before, s->grad, (size_t)(s->P.cols * s->width) * sizeof *k->before);
}

/* R = y - A w and where the lanes' intercepts put it. */
static void residuals(early *k)
{
    mgvi_lanes *s = k->s;
    double shift[MGVI_SPLIT_LANES] = {0};
    mgvi_lanes_product(s, s->target, k->support, k->support_count, s->R);
    for (int64_t t = 0; t < k->support_count; t++) {
        const int64_t j = (int64_t)k->support[t] * s->width;
        for (int32_t l = 0; l < s->lanes; l++)
            shift[l] += (double)s->w[j + l] * s->sum[j + l];
    }
    for (int32_t l = 0; l < s->lanes; l++)
        s->off[l] = (float)(k->first[l] + shift[l] * s->shift[l]);
}

/* The first iteration leaves w = 0. */
static void iterate(early *k, int64_t iteration)
{
    mgvi_lanes *s = k->s;
    if (iteration > 1) {
        const int64_t lazy = k->plan->lazy;
        const bool all = lazy < 2 || (iteration - 1) % lazy == 1;
        const int64_t count = all ? s->P.cols : k->list_count;
        memcpy(k->support, all ? s->all : k->list, (size_t)count * sizeof *k->support);
        mgvi_lanes_transposed(s, k->ahead, k->support, count);
        k->support_count = s->kernels->shrink(s, k->tau, k->support, count);
        if (all && lazy > 1)
            plan_columns(k);
        residuals(k);
    }
    s->kernels->climb(s, k->sigma, k->U, k->ahead);
}

/* ---- the path ----------------------------------------------------------------------------------
 */

static mgv_status add_point(early *k, int64_t iteration)
{
    const mgvi_lanes *s = k->s;
    const int32_t full = s->lanes - 1;
    mgvi_lane_rows rows[MGVI_SPLIT_LANES];
    double errors[MGVI_SPLIT_LANES];
    s->kernels->rows(s, rows);
    for (int32_t l = 0; l < s->lanes; l++)
        errors[l] = s->held[l] > 0 ? rows[l].held / s->held[l] : NAN;
    mgvi_path_point point = {.lambda = NAN,
                             .mu = NAN,
                             .gap = NAN,
                             .iteration = iteration,
                             .residual = sqrt(rows[full].rr),
                             .intercept = -(double)s->off[full]};
    for (int64_t t = 0; t < k->support_count; t++)
        point.nonzeros += s->w[(int64_t)k->support[t] * s->width + full] != 0;
    MGVI_TRY(mgvi_path_arrive(k->path, &point, errors, s->lanes));
    return mgvi_lanes_keep(s, k->support, k->support_count, k->path);
}

/* u of the full fit at the best point, in the order of the data. */
static mgv_status keep_dual(const early *k, const mgvi_split *split)
{
    const mgvi_lanes *s = k->s;
    int64_t next[MGVI_SPLIT_LANES], rows = 0;
    k->path->dual = mgvi_alloc(s->ctx, (size_t)split->rows, sizeof *k->path->dual);
    if (!k->path->dual)
        return MGV_E_MEMORY;
    memcpy(next, s->stretch, (size_t)s->codes * sizeof *next);
    for (int64_t i = 0; i < split->rows; i++) {
        const int64_t place = next[split->code[i]]++;
        if (split->trains[split->code[i]] >> (s->lanes - 1) & 1) /* not of a validation file */
            k->path->dual[rows++] = k->best[place * s->width + s->lanes - 1];
    }
    return MGV_OK;
}

static mgv_status allocate(early *k, mgvi_arena *arena)
{
    const mgvi_lanes *s = k->s;
    const size_t wide = (size_t)s->width * sizeof(float), cols = (size_t)s->P.cols;
    k->U = mgvi_arena_array(arena, (size_t)s->P.rows, wide);
    k->ahead = mgvi_arena_array(arena, (size_t)s->P.rows, wide);
    k->best = mgvi_arena_array(arena, (size_t)s->P.rows, wide);
    k->tau = mgvi_arena_array(arena, 3, wide);
    k->before = mgvi_arena_array(arena, cols, wide);
    k->list = mgvi_arena_array(arena, cols, sizeof *k->list);
    k->support = mgvi_arena_array(arena, cols, sizeof *k->support);
    if (!k->U || !k->ahead || !k->best || !k->before || !k->tau || !k->list || !k->support)
        return MGV_E_MEMORY;
    k->sigma = k->tau + s->width;
    k->first = k->tau + 2 * s->width;
    return MGV_OK;
}

mgv_status mgvi_early_path(mgvi_arena *arena, mgvi_lanes *lanes, const void *wanted,
                           mgvi_path *path)
{
    const mgvi_early_plan *plan = wanted;
    early k = {.s = lanes, .plan = plan, .path = path};
    const size_t bytes = (size_t)(lanes->P.rows * lanes->width) * sizeof(float);
    MGVI_TRY(allocate(&k, arena));
    path->full = lanes->lanes - 1;
    path->square = isnan(plan->square) ? square_norm(&k) : plan->square;
    memset(k.U, 0, bytes);
    mgvi_lanes_reset(lanes);
    memcpy(k.first, lanes->off, (size_t)lanes->width * sizeof *k.first);
    mgvi_lanes_gradient(lanes, NULL, 0);
    MGVI_TRY(choose_steps(&k, path->square));
    memset(lanes->grad, 0, (size_t)(lanes->P.cols * lanes->width) * sizeof *lanes->grad);
    for (int64_t i = 1; i <= plan->max_iter && !path->cut; i++) {
        iterate(&k, i);
        mgvi_lanes_look(lanes, path);
        if (!mgvi_path_has_point(i))
            continue;
        MGVI_TRY(add_point(&k, i));
        if (path->best == path->count - 1)
            memcpy(k.best, k.U, bytes);
        if (!mgvi_path_patient(path, i, plan->patience))
            break;
    }
    return path->best >= 0 ? keep_dual(&k, plan->split) : MGV_OK;
}
