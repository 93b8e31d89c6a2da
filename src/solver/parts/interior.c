/* interior.c - Mehrotra's predictor and corrector on (8). */
#include "solver/parts/interior.h"

#include "backend/cpu/gemm.h"

#include <math.h>
#include <string.h>

static const double BOUNDARY = 0.995;    /* of the way to it in a step */
static const double LEAST_WEIGHT = 1e-3; /* of the largest, at the start of a round */
static const double LEAST_SLACK = 0.1;   /* at the start of a round */
static const double NEGLIGIBLE = 1e-16;  /* of the largest h: such columns bend nothing */
static const double ROUNDING = 1e-8;     /* gaps above it may rise and fall for other reasons */
enum { PATIENCE = 6 };                   /* iterations without progress before rounding is blamed */

/* ---- room ------------------------------------------------------------------------------------ */

static mgv_status allocate(mgvi_interior *s, int64_t capacity)
{
    const size_t n = (size_t)capacity;
    s->capacity = capacity;
    s->T = mgvi_arena_scratch(s->arena, n * (size_t)s->columns, sizeof *s->T);
    s->H = mgvi_arena_scratch(s->arena, n * n, sizeof *s->H);
    s->rhs = mgvi_arena_array(s->arena, 2 * n, sizeof *s->rhs);
    double **const rows[] = {&s->b, &s->z, &s->f, &s->step, &s->z_step};
    bool full = s->T && s->H && s->rhs;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        full = (*rows[k] = mgvi_arena_array(s->arena, n, sizeof(double))) && full;
    if (s->set->problem->free_cols)
        full = (s->y = mgvi_arena_array(s->arena, n, sizeof *s->y)) && full;
    return full ? MGV_OK : MGV_E_MEMORY;
}

mgv_status mgvi_interior_init(mgvi_interior *s, const mgvi_working_set *set, mgvi_arena *arena,
                              double q, int64_t capacity)
{
    *s = (mgvi_interior){.ctx = arena->ctx,
                         .arena = arena,
                         .set = set,
                         .columns = mgvi_problem_penalised(set->problem),
                         .q = q};
    const size_t d = (size_t)s->columns;
    s->v = mgvi_arena_array(arena, d, sizeof *s->v);
    s->th = mgvi_arena_array(arena, d, sizeof *s->th);
    s->h = mgvi_arena_array(arena, d, sizeof *s->h);
    return s->v && s->th && s->h ? allocate(s, capacity) : MGV_E_MEMORY;
}

mgv_status mgvi_interior_reserve(mgvi_interior *s, int64_t capacity)
{
    const mgvi_interior old = *s;
    const size_t n = (size_t)s->size * sizeof(double);
    if (capacity <= old.capacity)
        return MGV_OK;
    MGVI_TRY(allocate(s, capacity));
    for (int64_t j = 0; j < s->columns; j++)
        memcpy(s->T + j * capacity, old.T + j * old.capacity, n);
    memcpy(s->b, old.b, n);
    if (s->y)
        memcpy(s->y, old.y, n);
    return MGV_OK;
}

void mgvi_interior_joined(mgvi_interior *s, const double *b)
{
    const mgvi_working_set *set = s->set;
    enum { TILE = 32 };
    const int64_t first = s->size;
    s->size = set->size;
    s->changed = true;
    for (int64_t j0 = 0; j0 < s->columns; j0 += TILE) /* both sides stay in the cache */
        for (int64_t t = first; t < s->size; t++)
            for (int64_t j = j0; j < s->columns && j < j0 + TILE; j++)
                s->T[j * s->capacity + t] = set->dense[t * set->width + j];
    for (int64_t t = first; t < s->size; t++) {
        s->b[t] = b ? b[t - first] : 0;
        if (s->y)
            s->y[t] = mgvi_problem_free_entry(set->problem, set->W[t]);
    }
}

void mgvi_interior_kept(mgvi_interior *s, const int32_t *keep, int64_t count)
{
    for (int64_t j = 0; j < s->columns; j++)
        for (int64_t t = 0; t < count; t++) /* keep[t] >= t */
            s->T[j * s->capacity + t] = s->T[j * s->capacity + keep[t]];
    for (int64_t t = 0; t < count; t++) {
        s->b[t] = s->b[keep[t]];
        if (s->y)
            s->y[t] = s->y[keep[t]];
    }
    s->changed = s->changed || count < s->size;
    s->size = count;
}

/* ---- the function ---------------------------------------------------------------------------- */

/* (9) and the diagonal h_j = (q-1) N^(2-q) |v_j|^(q-2) of the second derivative, from one power a
 * column: |v_j|^(q-2), in units of the largest |v_j|. */
static void mirror(mgvi_interior *s)
{
    double most = 0, sum = 0;
    for (int64_t j = 0; j < s->columns; j++)
        most = fmax(most, fabs(s->v[j]));
    for (int64_t j = 0; j < s->columns; j++) {
        const double r = most > 0 ? fabs(s->v[j]) / most : 0;
        s->h[j] = s->q == 2 ? 1 : pow(r, s->q - 2);
        sum += r * r * s->h[j];
    }
    const double root = pow(sum, 1 / s->q), unit = sum > 0 ? pow(root, 2 - s->q) : 0;
    s->norm = most * root;
    for (int64_t j = 0; j < s->columns; j++) {
        s->th[j] = unit * s->h[j] * s->v[j];
        s->h[j] *= (s->q - 1) * unit;
    }
}

/* v, th, h, N and f = A th at the present b. */
static void evaluate(mgvi_interior *s)
{
    const mgvi_working_set *set = s->set;
    const mgvi_simd *simd = s->ctx->simd;
    memset(s->v, 0, (size_t)s->columns * sizeof *s->v);
    simd->dense_mul_t_f64(set->dense, set->width, s->size, s->columns, s->b, s->v);
    mirror(s);
    simd->dense_mul_f64(set->dense, set->width, s->size, s->columns, s->th, s->f);
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
    for (int64_t j = 0; j < s->columns; j++)
        s->th[j] *= scale;
    s->b0 *= scale;
    s->norm *= scale;
    s->sum = sum * scale;
}

/* (upper - lower)/upper of the margin of the working set: upper = N/sum b, lower = min f/N, with an
 * intercept the mean of both classes' least f. */
static double measure_gap(const mgvi_interior *s)
{
    double least[2] = {INFINITY, INFINITY};
    for (int64_t t = 0; t < s->size; t++) {
        double *side = &least[s->y && s->y[t] > 0];
        *side = fmin(*side, s->f[t]);
    }
    const double lower = s->y ? 0.5 * (least[0] + least[1]) : least[0];
    return s->norm > 0 ? 1 - lower * s->sum / (s->norm * s->norm) : INFINITY;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* H = A diag(h) A' - (q-2) f f'/N^2 + diag(z/b), factored; a ridge is added until it can be. */
static mgv_status factor(mgvi_interior *s, bool *definite)
{
    const int64_t n = s->size, ld = s->capacity;
    double most = 0, ridge = 1e-15;
    int64_t pivot = 0;
    for (int64_t j = 0; j < s->columns; j++)
        most = fmax(most, s->h[j]);
    for (int64_t j = 0; j < s->columns; j++)
        s->h[j] = s->h[j] > NEGLIGIBLE * most ? s->h[j] : 0;
    for (int trial = 0; trial < 5 && pivot >= 0; trial++, ridge *= 100) {
        double trace = 0;
        MGVI_TRY(mgvi_gram_f64(s->ctx, s->columns, n, s->T, ld, s->h, s->H, ld));
        s->work += 0.5 * (double)n * (double)n * (double)(s->columns + n);
        const double bend = (s->q - 2) / (s->norm * s->norm);
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = i; j < n; j++)
                s->H[i * ld + j] -= bend * s->f[i] * s->f[j];
            trace += s->H[i * ld + i];
        }
        for (int64_t i = 0; i < n; i++)
            s->H[i * ld + i] += s->z[i] / s->b[i] + ridge * trace / (double)n;
        MGVI_TRY(mgvi_cholesky(s->ctx, n, s->H, ld, &pivot));
    }
    *definite = pivot < 0;
    return MGV_OK;
}

/* The step towards b_i z_i = target_i - (steps of the predictor multiplied):
 *   (H + z/b) db + y db0 = 1 - A th - b0 y + target/b,   y'db = -y'b                          (10)
 *   dz = target/b - z - z/b db                                                                  */
static mgv_status newton_step(mgvi_interior *s, double target, bool correct, double *b0_step)
{
    const int64_t n = s->size;
    const int32_t sides = s->y ? 2 : 1;
    for (int64_t t = 0; t < n; t++) {
        const double second = correct ? s->step[t] * s->z_step[t] : 0;
        s->z_step[t] = (target - second) / s->b[t];
        s->rhs[t * sides] = 1 - s->f[t] + s->z_step[t] - (s->y ? s->b0 * s->y[t] : 0);
        if (s->y)
            s->rhs[t * sides + 1] = s->y[t];
    }
    MGVI_TRY(mgvi_cholesky_solve(s->ctx, n, s->H, s->capacity, sides, s->rhs));
    double along = 0, across = 0;
    for (int64_t t = 0; s->y && t < n; t++) {
        along += s->y[t] * (s->rhs[2 * t] + s->b[t]);
        across += s->y[t] * s->rhs[2 * t + 1];
    }
    *b0_step = across > 0 ? along / across : 0;
    for (int64_t t = 0; t < n; t++) {
        s->step[t] = s->rhs[t * sides] - (s->y ? *b0_step * s->rhs[2 * t + 1] : 0);
        s->z_step[t] += -s->z[t] - s->z[t] / s->b[t] * s->step[t];
    }
    return MGV_OK;
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

/* The derivative of 1/2 |A'b|_q^2 - 1'b - target sum log b along the step. */
static double slope(const mgvi_interior *s, double target)
{
    double sum = 0;
    for (int64_t i = 0; i < s->size; i++)
        sum += s->step[i] * (s->f[i] - 1 - target / s->b[i]);
    return sum;
}

/* Moves by t times the step, halved while the barrier function rises more steeply there than it
 * falls here: for large q a Newton step can be far too long. */
static void move(mgvi_interior *s, double t, double target, double b0_step)
{
    enum { TRIALS = 8 };
    const double here = slope(s, target);
    for (int64_t i = 0; i < s->size; i++)
        s->b[i] += t * s->step[i];
    evaluate(s);
    for (int k = 0; k < TRIALS && here < 0 && slope(s, target) > -here; k++) {
        t *= 0.5;
        for (int64_t i = 0; i < s->size; i++)
            s->b[i] -= t * s->step[i];
        evaluate(s);
    }
    for (int64_t i = 0; i < s->size; i++)
        s->z[i] += t * s->z_step[i];
    s->b0 += t * b0_step;
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
    const double target = ahead * ahead * ahead * mu;
    MGVI_TRY(newton_step(s, target, true, &b0_step));
    move(s, BOUNDARY * longest_step(s), target, b0_step);
    s->iterations++;
    return MGV_OK;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Weights that are not too near the boundary, both classes alike; slacks to match. */
static void start(mgvi_interior *s)
{
    double most = 0, side[2] = {0, 0};
    for (int64_t t = 0; t < s->size; t++)
        most = fmax(most, s->b[t]);
    for (int64_t t = 0; t < s->size; t++) {
        s->b[t] = most > 0 ? fmax(s->b[t], LEAST_WEIGHT * most) : 1;
        side[s->y && s->y[t] > 0] += s->b[t];
    }
    for (int64_t t = 0; s->y && t < s->size; t++)
        s->b[t] /= side[s->y[t] > 0];
    evaluate(s);
    rescale(s);
    for (int64_t t = 0; t < s->size; t++)
        s->z[t] = fmax(s->f[t] + (s->y ? s->b0 * s->y[t] : 0) - 1, LEAST_SLACK);
}

mgv_status mgvi_interior_solve(mgvi_interior *s, double tol, int most, bool *solved)
{
    double best = INFINITY;
    int waited = 0;
    if (s->changed)
        start(s);
    s->changed = false;
    s->gap = measure_gap(s);
    *solved = true;
    for (int k = 0; k < most && *solved && s->gap > tol && waited < PATIENCE; k++) {
        MGVI_TRY(iterate(s, solved));
        s->gap = measure_gap(s);
        *solved = *solved && isfinite(s->gap);
        waited = s->gap < 0.9 * best || best > ROUNDING ? 0 : waited + 1;
        best = fmin(best, s->gap);
    }
    *solved = *solved && (s->gap <= tol || waited == PATIENCE);
    return MGV_OK;
}
