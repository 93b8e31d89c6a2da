/* ridge_path.c - Golub-Kahan bidiagonalisation of every lane at once. With B_l the rows that lane l
 * trains on, centred and divided by the penalty's factors,
 *   beta_1 u_1 = y,  alpha_1 v_1 = B'u_1;   beta u+ = B v - alpha u,  alpha+ v+ = B'u+ - beta+ v  (1)
 *   (T'T + lambda W I) z = alpha_1 beta_1 e_1,  T bidiagonal,  w(lambda) = V z                    (2)
 * for any number of lambdas; held-out predictions are the same combinations of the rows of B V. */
#include "select/paths.h"

#include "base/limit.h"

#include <math.h>
#include <string.h>

enum { FIRST_STEPS = 15, MORE_STEPS = 5, MOST_STEPS = 60, STRENGTHS = 64, MOST_STRENGTHS = 1024 };
static const double LARGEST = 10, SMALLEST = 1e-6; /* strengths beside the largest eigenvalue */
static const double SETTLED = 5e-3;                /* relative change of the least error */

typedef struct bidiagonal {
    mgvi_lanes *s;
    bool classify;
    int32_t steps;
    int32_t untrained[MGVI_SPLIT_LANES]; /* of each code: the lane that does not train on it; -1 */
    double alpha[MOST_STEPS + 1][MGVI_SPLIT_LANES], beta[MOST_STEPS + 1][MGVI_SPLIT_LANES];
    double mean_y[MGVI_SPLIT_LANES], size[MGVI_SPLIT_LANES];
    float *U;    /* rows x width */
    float *V;    /* cols x width */
    float *H;    /* rows x MOST_STEPS: B v of the lane that does not train on the row */
    float *keep; /* MOST_STEPS x cols: v of the full fit, divided by the penalty's factors */
    int64_t strengths;
    double lambda[MOST_STRENGTHS];
    double error[MOST_STRENGTHS][MGVI_SPLIT_LANES];
    float z[MGVI_SPLIT_LANES][MOST_STEPS][MOST_STRENGTHS];
} bidiagonal;

/* ---- vectors of lanes ------------------------------------------------------------------------ */

/* Per lane the sum of e x over the rows trained on, divided by W; 0 without an intercept. */
static void row_means(const mgvi_lanes *s, const float *x, double *mean)
{
    memset(mean, 0, MGVI_SPLIT_LANES * sizeof *mean);
    for (int32_t c = 0; c < s->codes; c++) {
        const int32_t *mask = s->mask + c * s->width;
        for (int64_t i = s->stretch[c]; i < s->stretch[c + 1]; i++)
            for (int32_t l = 0; l < s->lanes; l++)
                mean[l] += mask[l] ? (double)s->e[i] * x[i * s->width + l] : 0;
    }
    for (int32_t l = 0; l < s->lanes; l++)
        mean[l] *= s->shift[l];
}

/* U = (x - mean e - alpha U) over the rows trained on, then of length 1; the length goes to beta.
 */
static void next_u(bidiagonal *b, const float *x, const double *mean, const double *alpha,
                   double *beta)
{
    const mgvi_lanes *s = b->s;
    double square[MGVI_SPLIT_LANES] = {0};
    for (int32_t c = 0; c < s->codes; c++)
        for (int64_t i = s->stretch[c]; i < s->stretch[c + 1]; i++)
            for (int32_t l = 0; l < s->lanes; l++) {
                const int64_t t = i * s->width + l;
                const double old = alpha ? alpha[l] * b->U[t] : 0;
                const float u =
                    s->mask[c * s->width + l] ? (float)(x[t] - mean[l] * s->e[i] - old) : 0;
                b->U[t] = u;
                square[l] += (double)u * u;
            }
    float inverse[MGVI_SPLIT_LANES] = {0};
    for (int32_t l = 0; l < s->lanes; l++) {
        beta[l] = sqrt(square[l]);
        inverse[l] = beta[l] > 0 ? (float)(1 / beta[l]) : 0;
    }
    for (int64_t i = 0; i < s->P.rows; i++)
        for (int32_t l = 0; l < s->lanes; l++)
            b->U[i * s->width + l] *= inverse[l];
}

/* V = B'U - beta V, of length 1; the length goes to alpha. s->R is U. */
static void next_v(bidiagonal *b, const double *beta, double *alpha)
{
    mgvi_lanes *s = b->s;
    double square[MGVI_SPLIT_LANES] = {0};
    mgvi_lanes_gradient(s, NULL, 0);
    for (int64_t j = 0; j < s->P.cols; j++)
        for (int32_t l = 0; l < s->lanes; l++) {
            const int64_t t = j * s->width + l;
            const double g = s->square[t] > 0 ? s->grad[t] / (s->weight ? s->weight[t] : 1) : 0;
            b->V[t] = (float)(g - (beta ? beta[l] * b->V[t] : 0));
            square[l] += (double)b->V[t] * b->V[t];
        }
    float inverse[MGVI_SPLIT_LANES] = {0};
    for (int32_t l = 0; l < s->lanes; l++) {
        alpha[l] = sqrt(square[l]);
        inverse[l] = alpha[l] > 0 ? (float)(1 / alpha[l]) : 0;
    }
    for (int64_t j = 0; j < s->P.cols; j++)
        for (int32_t l = 0; l < s->lanes; l++)
            b->V[j * s->width + l] *= inverse[l];
}

/* s->R = P V over all rows, V divided by the penalty's factors; the full fit's V is kept. */
static void multiply(bidiagonal *b)
{
    mgvi_lanes *s = b->s;
    float *keep = b->keep + (int64_t)b->steps * s->P.cols;
    for (int64_t t = 0; t < s->P.cols * s->width; t++)
        s->w[t] = s->weight ? -b->V[t] / s->weight[t] : -b->V[t];
    for (int64_t j = 0; j < s->P.cols; j++)
        keep[j] = -s->w[j * s->width + s->lanes - 1];
    mgvi_lanes_product(s, NULL, NULL, 0, s->R);
}

/* Held-out rows of B v. */
static void keep_rows(bidiagonal *b, const double *mean)
{
    const mgvi_lanes *s = b->s;
    for (int32_t c = 0; c < s->codes; c++) {
        const int32_t l = b->untrained[c];
        for (int64_t i = s->stretch[c]; l >= 0 && i < s->stretch[c + 1]; i++)
            b->H[i * MOST_STEPS + b->steps] = (float)(s->R[i * s->width + l] - mean[l] * s->e[i]);
    }
}

/* (1). After any number of steps there is a path, of the Krylov space so far. */
static void extend(bidiagonal *b, int32_t more)
{
    mgvi_lanes *s = b->s;
    for (int32_t k = 0; k < more && !(b->steps > 0 && mgvi_ctx_late(s->ctx) != MGV_STOP_NONE);
         k++) {
        double mean[MGVI_SPLIT_LANES];
        multiply(b);
        row_means(s, s->R, mean);
        keep_rows(b, mean);
        next_u(b, s->R, mean, b->alpha[b->steps], b->beta[b->steps + 1]);
        memcpy(s->R, b->U, (size_t)(s->P.rows * s->width) * sizeof *s->R);
        next_v(b, b->beta[b->steps + 1], b->alpha[b->steps + 1]);
        b->steps++;
    }
}

static void begin(bidiagonal *b)
{
    mgvi_lanes *s = b->s;
    mgvi_lanes_reset(s); /* R = e y */
    for (int32_t l = 0; l < s->lanes; l++) {
        b->mean_y[l] = -s->off[l];
        s->off[l] = 0;
    }
    next_u(b, s->R, b->mean_y, NULL, b->beta[0]);
    memcpy(s->R, b->U, (size_t)(s->P.rows * s->width) * sizeof *s->R);
    next_v(b, NULL, b->alpha[0]);
    for (int32_t c = 0; c < s->codes; c++) {
        b->untrained[c] = -1;
        for (int32_t l = 0; l < s->lanes; l++)
            if (!s->mask[c * s->width + l])
                b->untrained[c] = l;
    }
}

/* ---- strengths ------------------------------------------------------------------------------- */

/* (2): T'T has alpha_k^2 + beta_{k+1}^2 on its diagonal and alpha_{k+1} beta_{k+1} beside it. */
static void solve(const bidiagonal *b, int32_t l, double ridge, double *z)
{
    double pivot[MOST_STEPS], right[MOST_STEPS];
    for (int32_t k = 0; k < b->steps; k++) {
        const double a = b->alpha[k][l], next = b->beta[k + 1][l];
        const double side = k ? b->alpha[k][l] * b->beta[k][l] : 0;
        const double ratio = k ? side / pivot[k - 1] : 0;
        pivot[k] = a * a + next * next + ridge - ratio * side;
        right[k] = k ? -ratio * right[k - 1] : a * b->beta[0][l];
    }
    for (int32_t k = b->steps - 1; k >= 0; k--) {
        const double side = k + 1 < b->steps ? b->alpha[k + 1][l] * b->beta[k + 1][l] : 0;
        z[k] = (right[k] - (k + 1 < b->steps ? side * z[k + 1] : 0)) / pivot[k];
    }
}

static void solve_all(bidiagonal *b)
{
    for (int64_t q = 0; q < b->strengths; q++)
        for (int32_t l = 0; l < b->s->lanes; l++) {
            double z[MOST_STEPS];
            solve(b, l, b->lambda[q] * b->s->total[l], z);
            for (int32_t k = 0; k < b->steps; k++)
                b->z[l][k][q] = (float)z[k];
        }
}

static void add_row(bidiagonal *b, int32_t l, int64_t i, float *square)
{
    const mgvi_lanes *s = b->s;
    const float y = s->target[i], base = (float)(b->mean_y[l] * s->e[i]);
    const float weight = s->e[i] * s->e[i];
    float fit[MOST_STRENGTHS];
    for (int64_t q = 0; q < b->strengths; q++)
        fit[q] = base;
    for (int32_t k = 0; k < b->steps; k++) {
        const float h = b->H[i * MOST_STEPS + k];
        for (int64_t q = 0; q < b->strengths; q++)
            fit[q] += h * b->z[l][k][q];
    }
    if (b->classify)
        for (int64_t q = 0; q < b->strengths; q++)
            square[q] += fit[q] * y <= 0 ? weight : 0;
    else
        for (int64_t q = 0; q < b->strengths; q++)
            square[q] += (y - fit[q]) * (y - fit[q]);
}

/* Errors on the rows each lane does not train on, at every strength. Returns the least mean. */
static double judge(bidiagonal *b)
{
    enum { PIECE = 64 };
    const mgvi_lanes *s = b->s;
    memset(b->error, 0, sizeof b->error);
    for (int32_t c = 0; c < s->codes; c++) {
        const int32_t l = b->untrained[c];
        for (int64_t i = s->stretch[c]; l >= 0 && i < s->stretch[c + 1];) {
            float sum[MOST_STRENGTHS] = {0};
            for (int k = 0; k < PIECE && i < s->stretch[c + 1]; k++, i++)
                add_row(b, l, i, sum);
            for (int64_t q = 0; q < b->strengths; q++)
                b->error[q][l] += sum[q];
        }
    }
    double least = INFINITY;
    for (int64_t q = 0; q < b->strengths; q++) {
        double sum = 0;
        int count = 0;
        for (int32_t l = 0; l < s->lanes; l++) {
            b->error[q][l] = s->held[l] > 0 ? b->error[q][l] / s->held[l] : NAN;
            if (s->held[l] > 0) {
                sum += b->error[q][l];
                count++;
            }
        }
        least = count ? fmin(least, sum / count) : least;
    }
    return least;
}

/* Strengths from LARGEST to SMALLEST times a bound of the largest eigenvalue of the full fit. */
static void make_grid(bidiagonal *b, int64_t points, double end)
{
    const int32_t full = b->s->lanes - 1;
    double most = 0;
    for (int32_t k = 0; k < b->steps; k++) {
        const double a = b->alpha[k][full], next = b->beta[k + 1][full];
        most = fmax(most, a * a + next * next);
    }
    b->strengths = points ? points : STRENGTHS;
    for (int64_t q = 0; q < b->strengths; q++) {
        const double at = b->strengths > 1 ? (double)q / (double)(b->strengths - 1) : 1;
        b->lambda[q] = most / b->s->total[full] * LARGEST * pow(end, at);
    }
}

/* ---- the path -------------------------------------------------------------------------------- */

/* |y - fit| of the full fit at a strength, from the projected problem: |beta_1 e_1 - T z|. */
static double residual(const bidiagonal *b, int64_t q)
{
    const int32_t l = b->s->lanes - 1;
    double sum = 0;
    for (int32_t k = 0; k <= b->steps; k++) {
        const double z = k < b->steps ? b->z[l][k][q] : 0, before = k ? b->z[l][k - 1][q] : 0;
        const double r = (k ? 0 : b->beta[0][l]) - (k < b->steps ? b->alpha[k][l] * z : 0) -
                         (k ? b->beta[k][l] * before : 0);
        sum += r * r;
    }
    return sqrt(sum);
}

static mgv_status add_points(bidiagonal *b, mgvi_path *path)
{
    const mgvi_lanes *s = b->s;
    const int32_t full = s->lanes - 1;
    double shift[MOST_STEPS] = {0}; /* mean of B v before centring, per step */
    int64_t nonzeros = 0;
    for (int64_t j = 0; j < s->P.cols; j++) {
        const double mean = (double)s->sum[j * s->width + full] * s->shift[full];
        nonzeros += s->square[j * s->width + full] > 0;
        for (int32_t k = 0; k < b->steps; k++)
            shift[k] += mean * b->keep[k * s->P.cols + j];
    }
    for (int64_t q = 0; q < b->strengths; q++) {
        double z[MOST_STEPS];
        mgvi_path_point point = {.lambda = b->lambda[q],
                                 .mu = NAN,
                                 .gap = NAN,
                                 .residual = residual(b, q),
                                 .nonzeros = nonzeros,
                                 .intercept = b->mean_y[full]};
        for (int32_t k = 0; k < b->steps; k++) {
            z[k] = b->z[full][k][q];
            point.intercept -= shift[k] * z[k];
        }
        MGVI_TRY(mgvi_path_arrive(path, &point, b->error[q], s->lanes));
        MGVI_TRY(mgvi_path_add_combination(path, z));
    }
    return MGV_OK;
}

static mgv_status allocate(mgvi_arena *arena, mgvi_lanes *s, bidiagonal **out)
{
    bidiagonal *b = mgvi_arena_array(arena, 1, sizeof *b);
    if (!b)
        return MGV_E_MEMORY;
    const size_t wide = (size_t)s->width * sizeof(float);
    b->s = s;
    b->U = mgvi_arena_array(arena, (size_t)s->P.rows, wide);
    b->V = mgvi_arena_array(arena, (size_t)s->P.cols, wide);
    b->H = mgvi_arena_array(arena, (size_t)s->P.rows, MOST_STEPS * sizeof *b->H);
    b->keep = mgvi_arena_array(arena, (size_t)s->P.cols, MOST_STEPS * sizeof *b->keep);
    *out = b;
    return b->U && b->V && b->H && b->keep ? MGV_OK : MGV_E_MEMORY;
}

mgv_status mgvi_ridge_path(mgvi_arena *arena, mgvi_lanes *lanes, const void *wanted,
                           mgvi_path *path)
{
    const mgvi_ridge_plan *plan = wanted;
    bidiagonal *b;
    if (plan->points > MOST_STRENGTHS)
        return MGVI_FAIL(lanes->ctx, MGV_E_ARG,
                         "a ridge path has at most %d strengths (got path_points %" PRId64 ")",
                         (int)MOST_STRENGTHS, plan->points);
    MGVI_TRY(allocate(arena, lanes, &b));
    b->classify = path->classify;
    begin(b);
    if (!(b->alpha[0][lanes->lanes - 1] > 0))
        return MGVI_FAIL(lanes->ctx, MGV_E_INPUT,
                         "no column has anything to do with the target: there is no path");
    extend(b, FIRST_STEPS);
    make_grid(b, plan->points, isnan(plan->end) ? SMALLEST / LARGEST : plan->end);
    solve_all(b);
    double least = judge(b);
    while (b->steps < MOST_STEPS && !mgvi_lanes_look(lanes, path)) {
        extend(b, MORE_STEPS);
        solve_all(b);
        const double before = least;
        least = judge(b);
        if (!(fabs(before - least) > SETTLED * least))
            break;
    }
    MGVI_TRY(mgvi_path_set_basis(path, b->keep, b->steps, lanes->P.cols));
    return add_points(b, path);
}
