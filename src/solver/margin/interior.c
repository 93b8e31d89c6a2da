/* interior.c - Mehrotra's predictor and corrector on (8), and the loop of all. */
#include "solver/margin/interior.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

static const double BOUNDARY = 0.995;      /* of the way to it in a step */
static const double LEAST_WEIGHT = 1e-3;   /* of the largest, at the start of a round */
static const double LEAST_SLACK = 0.1;     /* at the start of a round */
static const double NEGLIGIBLE = 1e-16;    /* of the largest h: such columns bend nothing */
static const double ROUNDING = 1e-8;       /* gaps above it may rise and fall for other reasons */
enum { PATIENCE = 6, LONG_PATIENCE = 15 }; /* iterations without progress before it is blamed */

static const double FIRST_GAP =
    0.1;                      /* that the complementarity at the start of a round stands for */
static const double FAR = 10; /* complementarities: what rows may lack before that falls */

/* ---- room ------------------------------------------------------------------------------------ */

mgv_status mgvi_interior_init(mgvi_interior *s, const mgv_problem *problem, double p,
                              const mgvi_rows *rows, mgvi_arena *arena)
{
    *s = (mgvi_interior){.ctx = problem->ctx,
                         .problem = problem,
                         .rows = rows,
                         .p = p,
                         .q = mgvi_dual_exponent(p),
                         .room = mgvi_arena_within(arena)};
    return s->room ? MGV_OK : MGV_E_MEMORY;
}

static mgv_status allocate(mgvi_interior *s)
{
    MGVI_TRY(MGVI_VECTORS(s->room, s->size, &s->b, &s->z, &s->f, &s->step, &s->z_step, &s->rhs,
                          &s->minus, &s->u, &s->best.b));
    MGVI_TRY(MGVI_VECTORS(s->room, s->columns, &s->v, &s->w, &s->w_step, &s->g, &s->th, &s->best.w,
                          &s->image, &s->k));
    return s->problem->free_cols ? MGVI_VECTORS(s->room, s->size, &s->y) : MGV_OK;
}

/* Whether there is a margin does not depend on the units of columns, but rounding does. */
static mgv_status scale_columns(mgvi_interior *s)
{
    MGVI_TRY(MGVI_ARRAY(s->room, s->unit, s->columns));
    mgvi_margin_block_squares(&s->Z, NULL, s->unit);
    for (int64_t j = 0; j < s->columns; j++) {
        const double mean = s->unit[j] / (double)s->size;
        s->unit[j] = mean > 0 && isfinite(mean) ? exp2(-rint(0.5 * log2(mean))) : 1;
    }
    mgvi_margin_block_scale(&s->Z, s->unit);
    return MGV_OK;
}

mgv_status mgvi_interior_take(mgvi_interior *s, const int32_t *W, int64_t count, const double *b)
{
    mgvi_arena_free(s->room);
    s->size = count;
    s->changed = true;
    s->separates = false;
    s->columns = mgvi_problem_penalised(s->problem);
    MGVI_TRY(allocate(s));
    MGVI_TRY(mgvi_margin_block_new(s->problem, s->rows, W, count, s->room, &s->Z));
    s->columns = s->Z.cols;
    if (s->scaled)
        MGVI_TRY(scale_columns(s));
    MGVI_TRY(mgvi_margin_system_new(s->room, &s->Z, &s->system));
    if (mgvi_interior_linear(s))
        MGVI_TRY(mgvi_linear_new(s));
    for (int64_t t = 0; t < count; t++) {
        s->b[t] = b ? b[t] : 0;
        s->minus[t] = -1;
        if (s->y)
            s->y[t] = mgvi_problem_free_entry(s->problem, W[t]);
    }
    s->system.rims = 0;
    if (s->y)
        s->system.B[s->system.rims++] = s->y;
    return MGV_OK;
}

/* ---- the function ---------------------------------------------------------------------------- */

/* (9) and the diagonal h_j = (q-1) N^(2-q) |v_j|^(q-2) of the second derivative, from one power a
 * column: |v_j|^(q-2), in units of the largest |v_j|. For q < 2 it is unbounded at 0. */
static void mirror(mgvi_interior *s)
{
    static const double LEAST = 1e-12;
    double most = 0, sum = 0, *h = s->system.K;
    for (int64_t j = 0; j < s->columns; j++)
        most = fmax(most, fabs(s->v[j]));
    for (int64_t j = 0; j < s->columns; j++) {
        const double r = most > 0 ? fabs(s->v[j]) / most : 0;
        h[j] = s->q == 2 ? 1 : pow(s->q < 2 ? fmax(r, LEAST) : r, s->q - 2);
        sum += r * r * h[j];
    }
    const double root = pow(sum, 1 / s->q), unit = sum > 0 ? pow(root, 2 - s->q) : 0;
    s->norm = most * root;
    for (int64_t j = 0; j < s->columns; j++) {
        s->image[j] = unit * h[j] * s->v[j];
        h[j] *= (s->q - 1) * unit;
    }
}

/* v, th, h, N and f = A th at the present b. */
static void evaluate(mgvi_interior *s)
{
    mgvi_margin_block_mul_t(&s->Z, s->b, s->v);
    mirror(s);
    mgvi_margin_block_mul(&s->Z, s->image, s->f);
    s->work += 2.0 * (double)s->size * (double)s->columns;
}

/* b becomes b sum b/|v|_q^2, the best multiple of it: what keeps the method safe for large q. */
static void rescale(mgvi_interior *s)
{
    double sum = 0;
    for (int64_t t = 0; t < s->size; t++)
        sum += s->b[t];
    const double scale = s->norm > 0 ? sum / (s->norm * s->norm) : 1;
    for (int64_t t = 0; t < s->size; t++) {
        s->b[t] *= scale;
        s->f[t] *= scale;
    }
    for (int64_t j = 0; j < s->columns; j++) {
        s->w[j] *= scale;
        s->image[j] *= scale;
        s->v[j] *= scale;
    }
    s->b0 *= scale;
    s->norm *= scale;
    s->sum = sum * scale;
}

/* The mean of both classes' least f, or the least f; *shift is the b0 for it. */
static double least_margin(const mgvi_interior *s, double *shift)
{
    double least[2] = {INFINITY, INFINITY};
    for (int64_t t = 0; t < s->size; t++) {
        double *side = &least[s->y && s->y[t] > 0];
        *side = fmin(*side, s->f[t]);
    }
    *shift = s->y ? 0.5 * (least[0] - least[1]) : 0;
    return s->y ? 0.5 * (least[0] + least[1]) : least[0];
}

/* Keeps w where its margin, min f/|w|_p, is the best so far. */
static void keep_lower(mgvi_interior *s)
{
    double shift;
    const double norm = mgvi_lp_norm(s->w, s->columns, s->p);
    const double lower = norm > 0 ? least_margin(s, &shift) / norm : -INFINITY;
    if (lower > s->best.lower) {
        s->best.lower = lower;
        s->best.b0 = shift;
        memcpy(s->best.w, s->w, (size_t)s->columns * sizeof *s->w);
    }
}

/* Both bounds of the margin of these rows, upper = |v|_q/sum b, and the gap between the best. */
static void measure(mgvi_interior *s)
{
    double sum = 0;
    for (int64_t t = 0; t < s->size; t++)
        sum += s->b[t];
    const double upper = mgvi_lp_norm(s->v, s->columns, s->q) / sum;
    keep_lower(s);
    if (upper < s->best.upper) {
        s->best.upper = upper;
        memcpy(s->best.b, s->b, (size_t)s->size * sizeof *s->b);
    }
    s->gap = s->best.upper > 0 ? 1 - s->best.lower / s->best.upper : INFINITY;
    s->separates = s->separates || s->best.lower > 0;
    s->ray = mgvi_interior_linear(s) && mgvi_linear_ray(s);
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* H = A diag(h) A' - (q-2) (A th)(A th)'/N^2 + diag(z/b): the system with e = th/h = v/(q-1). */
static mgv_status factor(mgvi_interior *s, bool *definite)
{
    mgvi_margin_system *m = &s->system;
    double most = 0;
    for (int64_t j = 0; j < s->columns; j++)
        most = fmax(most, m->K[j]);
    for (int64_t j = 0; j < s->columns; j++) {
        m->K[j] = m->K[j] > NEGLIGIBLE * most ? m->K[j] : 0;
        m->e[j] = s->v[j] / (s->q - 1);
    }
    m->coupled = s->q != 2;
    m->kappa = s->norm * s->norm / (s->q - 2);
    for (int64_t t = 0; t < s->size; t++)
        m->D[t] = s->z[t] / s->b[t];
    MGVI_TRY(mgvi_margin_system_factor(m, definite));
    s->work += m->work;
    m->work = 0;
    return MGV_OK;
}

/* The step towards b_i z_i = target_i - (steps of the predictor multiplied):
 *   (H + z/b) db + y db0 = 1 - A th - b0 y + target/b,   y'db = -y'b                          (10)
 *   dz = target/b - z - z/b db                                                                  */
static mgv_status newton_step(mgvi_interior *s, double target, bool correct, double *b0_step)
{
    mgvi_system_step out = {.q = s->step, .w = s->w_step, .g = s->g};
    mgvi_system_sides in = {.r = s->rhs, .k = s->k};
    for (int64_t j = 0; j < s->columns; j++)
        s->k[j] = s->system.K[j] > 0 ? (s->image[j] - s->w[j]) / s->system.K[j] : 0;
    for (int64_t t = 0; t < s->size; t++) {
        const double second = correct ? s->step[t] * s->z_step[t] : 0;
        s->z_step[t] = (target - second) / s->b[t];
        s->rhs[t] = 1 - s->f[t] + s->z_step[t] - (s->y ? s->b0 * s->y[t] : 0);
        in.rim[0] -= s->y ? s->y[t] * s->b[t] : 0;
    }
    MGVI_TRY(mgvi_margin_system_solve(&s->system, &in, s->Z.by_columns ? 2 : 0, &out));
    *b0_step = s->y ? out.rim[0] : 0;
    for (int64_t t = 0; t < s->size; t++)
        s->z_step[t] += -s->z[t] - s->z[t] / s->b[t] * s->step[t];
    return MGV_OK;
}

/* Of row t: A th + b0 y. */
static double margin_at(const mgvi_interior *s, int64_t t)
{
    return s->f[t] + (s->y ? s->b0 * s->y[t] : 0);
}

/* How far b and z stay positive along their steps, at most 1 / BOUNDARY. */
static double longest_step(const mgvi_interior *s)
{
    double t = 1 / BOUNDARY;
    for (int64_t i = 0; i < s->size; i++) {
        if (s->step[i] < 0)
            t = fmin(t, -s->b[i] / s->step[i]);
        if (s->z_step[i] < 0)
            t = fmin(t, -s->z[i] / s->z_step[i]);
    }
    return t;
}

/* Mean of (b + t db)(z + t dz). */
static double complementarity(const mgvi_interior *s, double t)
{
    double sum = 0;
    for (int64_t i = 0; i < s->size; i++)
        sum += (s->b[i] + t * s->step[i]) * (s->z[i] + t * s->z_step[i]);
    return sum / (double)s->size;
}

/* Whether b |A th + b0 y - 1 - z| is large beside the complementarity: th bends, so that a step
 * leaves much of it. A complementarity that falls ahead of it leads to a corner out of which there
 * are short steps only. The linear programs keep their rows. */
static bool is_far(const mgvi_interior *s)
{
    double sum = 0;
    for (int64_t t = 0; t < s->size && !mgvi_interior_linear(s); t++)
        sum += s->b[t] * fabs(margin_at(s, t) - 1 - s->z[t]);
    return sum / (double)s->size > FAR * complementarity(s, 0);
}

/* The derivative of 1/2 |A'b|_q^2 - 1'b - target sum log b along the step. */
static double slope(const mgvi_interior *s, double target)
{
    double sum = 0;
    for (int64_t i = 0; i < s->size; i++)
        sum += s->step[i] * (s->f[i] - 1 - target / s->b[i]);
    return sum;
}

/* w = th(b) would carry b's rounding, which is large beside a small margin: near th(b), w takes the
 * step that the linear equations gave it, and keeps them. */
static void follow(mgvi_interior *s, double t)
{
    static const double NEAR = 1e-3;
    double apart = 0, most = 0;
    for (int64_t j = 0; j < s->columns; j++) {
        apart = fmax(apart, fabs(s->image[j] - s->w[j] - t * s->w_step[j]));
        most = fmax(most, fabs(s->image[j]));
    }
    const bool near = apart <= NEAR * most;
    for (int64_t j = 0; j < s->columns; j++)
        s->w[j] = near && s->system.K[j] > 0 ? s->w[j] + t * s->w_step[j] : s->image[j];
    if (near)
        mgvi_margin_block_mul(&s->Z, s->w, s->f);
}

/* Moves by t times the step, halved while the barrier function rises more steeply there than it
 * falls here: for large q a Newton step can be far too long. */
static void move(mgvi_interior *s, double t, double target, double b0_step)
{
    static const double SETTLED = 1e-3; /* a gap below which slopes are rounding before long */
    const int trials = s->q == 2 || s->gap < SETTLED ? 0 : 8;
    const double here = slope(s, target);
    for (int64_t i = 0; i < s->size; i++)
        s->b[i] += t * s->step[i];
    evaluate(s);
    for (int k = 0; k < trials && here < 0 && slope(s, target) > -here; k++) {
        t *= 0.5;
        for (int64_t i = 0; i < s->size; i++)
            s->b[i] -= t * s->step[i];
        evaluate(s);
    }
    for (int64_t i = 0; i < s->size; i++)
        s->z[i] += t * s->z_step[i];
    s->b0 += t * b0_step;
    follow(s, t);
    rescale(s);
}

static mgv_status iterate(mgvi_interior *s, bool *moved)
{
    double b0_step;
    MGVI_TRY(factor(s, moved));
    if (!*moved)
        return MGV_OK;
    const double mu = complementarity(s, 0);
    MGVI_TRY(newton_step(s, 0, false, &b0_step));
    const double ahead = complementarity(s, fmin(longest_step(s), 1)) / mu;
    const double target = is_far(s) ? mu : ahead * ahead * ahead * mu;
    MGVI_TRY(newton_step(s, target, true, &b0_step));
    move(s, BOUNDARY * longest_step(s), target, b0_step);
    s->iterations++;
    return MGV_OK;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Classes of equal weight, and everything that follows from b. */
static void settle(mgvi_interior *s)
{
    double side[2] = {0, 0};
    for (int64_t t = 0; t < s->size; t++)
        side[s->y && s->y[t] > 0] += s->b[t];
    for (int64_t t = 0; s->y && t < s->size; t++)
        s->b[t] *= s->sum / side[s->y[t] > 0];
    evaluate(s);
    memcpy(s->w, s->image, (size_t)s->columns * sizeof *s->w);
    rescale(s);
}

/* Slacks that match the weights, and weights that are not too near the boundary: at least those of
 * the complementarity at a gap of FIRST_GAP, where that is small beside the largest weight. */
static void start(mgvi_interior *s)
{
    double most = 0;
    s->sum = 0;
    for (int64_t t = 0; t < s->size; t++)
        most = fmax(most, s->b[t]);
    for (int64_t t = 0; t < s->size; t++)
        s->sum += s->b[t] = most > 0 ? s->b[t] : 1;
    settle(s);
    for (int64_t t = 0; t < s->size; t++)
        most = fmax(t > 0 ? most : 0, s->b[t]);
    const double mu = FIRST_GAP * s->sum / (double)s->size;
    for (int64_t t = 0; t < s->size; t++) {
        s->z[t] = fmax(margin_at(s, t) - 1, LEAST_SLACK);
        s->b[t] = fmax(s->b[t], fmin(LEAST_WEIGHT * most, mu / s->z[t]));
    }
    settle(s);
}

static void begin(mgvi_interior *s)
{
    s->changed = s->ray = false;
    s->best.lower = -INFINITY;
    s->best.upper = INFINITY;
    if (mgvi_interior_linear(s)) {
        mgvi_linear_start(s);
        return;
    }
    start(s);
}

/* The best of both bounds, as the caller wants it. */
static void hand_over(mgvi_interior *s)
{
    const mgvi_interior_best *x = &s->best;
    const double norm = mgvi_lp_norm(x->w, s->columns, s->p), least = x->lower * norm;
    const double unit = least > 0 ? 1 / least : norm > 0 ? 1 / norm : 1;
    double sum = 0;
    for (int64_t t = 0; t < s->size; t++)
        sum += x->b[t];
    memset(s->th, 0, (size_t)mgvi_problem_penalised(s->problem) * sizeof *s->th);
    for (int64_t j = 0; j < s->columns; j++)
        s->th[s->Z.kept ? s->Z.kept[j] : j] = unit * x->w[j] * (s->scaled ? s->unit[j] : 1);
    s->free = unit * x->b0 + mgvi_margin_block_shift(&s->Z, s->rows, s->th);
    for (int64_t t = 0; t < s->size; t++)
        s->u[t] = x->b[t] / sum * (x->upper > 0 ? unit * norm / x->upper : 1);
}

/* Whether iterations no longer help: of those with a gap below LARGE, many without progress. One
 * that still seeks to meet the rows may leave the gap alone. */
static bool is_stuck(const mgvi_interior *s, double *best, int *waited)
{
    static const double LARGE = 0.5;
    if (s->gap < 0.9 * *best || *best > LARGE)
        *waited = 0;
    else if (*best <= ROUNDING || !is_far(s))
        ++*waited;
    *best = fmin(*best, s->gap);
    return *waited >= (*best > ROUNDING ? LONG_PATIENCE : PATIENCE);
}

mgv_status mgvi_interior_solve(mgvi_interior *s, double tol, int most, bool *solved)
{
    const bool linear = mgvi_interior_linear(s);
    double best = INFINITY;
    int waited = 0;
    bool stuck = false;
    if (s->changed)
        begin(s);
    measure(s);
    *solved = true;
    for (int k = 0; k < most && *solved && !s->ray && !stuck && s->gap > tol; k++) {
        MGVI_TRY(linear ? mgvi_linear_iterate(s, solved) : iterate(s, solved));
        if (mgvi_ctx_cut(s->ctx))
            return mgvi_ctx_whole(s->ctx);
        measure(s);
        *solved = *solved && isfinite(s->gap);
        stuck = is_stuck(s, &best, &waited);
    }
    if (s->ray)
        MGVI_TRY(mgvi_linear_prove(s));
    *solved = !s->ray && (s->gap <= tol || (*solved && stuck));
    hand_over(s);
    return MGV_OK;
}
