/* tall_smooth.c - sweeps, steps and line searches on the smoothed hinge. */
#include "solver/newton/tall_smooth.h"

#include "base/limit.h"
#include "base/threads.h"
#include "simd/simd.h"

#include <math.h>

enum { LINE_GRAIN = 2048, LINE_BLOCKS = 64, TRIALS = 24 };

/* A ridge relative to the diagonal that float32 sums need; they are steps, not answers. */
static const double ROUGH_RIDGE = 1e-9, FINE_RIDGE = 1e-14;

/* Steps shorter than SHORT show that rows far from the hinge were believed to have no curvature;
 * then all rows get the majoriser until steps are LONG again. */
static const double SHORT = 0.05, LONG = 0.5;

mgv_status mgvi_tall_smooth_init(mgvi_tall_smooth *h, mgvi_arena *arena, int64_t cols)
{
    h->ctx = arena->ctx;
    MGVI_TRY(MGVI_VECTORS(arena, cols, &h->step, &h->tangent, &h->g, &h->g2, &h->next));
    return mgvi_scaled_cholesky_init(&h->solver, arena, cols);
}

enum { PIECE = 1024 }; /* rows whose weights are at hand at once */

/* The weights of `count` rows from `first` on, at most PIECE; `room` where all are alike. */
static const double *weights_at(const mgvi_tall_smooth *h, int64_t first, int64_t count,
                                double *room)
{
    if (h->v)
        return h->v + first;
    for (int64_t i = 0; i < count; i++)
        room[i] = h->weight;
    return room;
}

/* out = 1 - A w */
static void slacks(mgvi_tall_smooth *h, const double *w, double *out)
{
    const int64_t n = mgvi_row_set_count(h->set);
    mgvi_row_set_mul(h->set, w, out);
    for (int64_t i = 0; i < n; i++)
        out[i] = 1 - out[i];
}

void mgvi_tall_smooth_start(mgvi_tall_smooth *h)
{
    h->cautious = false;
    slacks(h, h->w, h->u);
}

static void fill(void *arg, int64_t first, int64_t count, double *t, double *t2, double *curvature)
{
    const mgvi_tall_smooth *h = arg;
    const mgvi_tall_loops *loops = h->ctx->simd->tall;
    double room[PIECE];
    const double *u = h->u + first, *v = weights_at(h, first, count, room);
    const uint8_t *steep = h->steep ? h->steep + first : NULL;
    loops->coefficients(u, v, steep, count, h->alpha, h->least, t, t2, curvature);
    if (curvature && h->cautious)
        loops->majoriser(u, v, count, h->alpha, curvature);
}

/* The penalty's gradient, curvature, the majoriser's curvature and d(gradient)/d(alpha) at w_j. */
typedef struct penalty {
    double gradient, curvature, major, drift;
} penalty;

static penalty penalty_at(const mgvi_tall_smooth *h, int64_t j, double w, double alpha)
{
    penalty p = {h->lambda[j] * w, h->lambda[j], h->lambda[j], 0};
    if (h->mu[j] > 0) {
        const double width = alpha * h->k[j], r = hypot(w, width), cube = r * r * r;
        p.gradient += h->mu[j] * w / r;
        p.curvature += h->mu[j] * width * width / cube;
        p.major += h->mu[j] / r;
        p.drift -= h->mu[j] * w * width * h->k[j] / cube;
    }
    return p;
}

mgv_status mgvi_tall_smooth_sweep(mgvi_tall_smooth *h)
{
    const int64_t d = h->set->cols;
    mgvi_row_set_sweep(h->set, fill, h, h->g, h->g2, h->solver.H, d);
    for (int64_t j = 0; j < d; j++) {
        const penalty p = penalty_at(h, j, h->w[j], h->alpha);
        h->g[j] = p.gradient - h->g[j] - (h->lin ? h->lin[j] : 0);
        h->solver.H[j * d + j] += h->cautious ? p.major : p.curvature;
        h->step[j] = -h->g[j];
        h->tangent[j] = h->g2[j] - p.drift;
    }
    MGVI_TRY(mgvi_scaled_cholesky_factor(&h->solver, h->set->exact ? FINE_RIDGE : ROUGH_RIDGE));
    MGVI_TRY(mgvi_scaled_cholesky_solve(&h->solver, h->step, h->tangent));
    h->decrement = 0;
    for (int64_t j = 0; j < d; j++)
        h->decrement -= h->g[j] * h->step[j];
    if (!isfinite(h->decrement))
        return MGVI_FAIL(h->ctx, MGV_E_NUMERIC, "a Newton step is not finite");
    return MGV_OK;
}

/* ---- the line search ------------------------------------------------------------------------- */

typedef struct line_job {
    const mgvi_tall_smooth *h;
    double s;
    int64_t blocks;
    double sums[LINE_BLOCKS][2];
} line_job;

static void line_block(void *arg, int64_t block)
{
    line_job *job = arg;
    const mgvi_tall_smooth *h = job->h;
    const int64_t n = mgvi_row_set_count(h->set);
    const int64_t begin = mgvi_block_begin(n, job->blocks, block);
    const int64_t end = mgvi_block_begin(n, job->blocks, block + 1);
    const mgvi_tall_loops *loops = h->ctx->simd->tall;
    double room[PIECE], part[2];
    job->sums[block][0] = job->sums[block][1] = 0;
    for (int64_t i = begin; i < end; i += PIECE) {
        const int64_t count = end - i < PIECE ? end - i : PIECE;
        loops->line(h->u + i, h->trial + i, weights_at(h, i, count, room), count, job->s, h->alpha,
                    part);
        job->sums[block][0] += part[0];
        job->sums[block][1] += part[1];
    }
}

/* The slope of f at w + s (next - w) along the ray, and its derivative. */
static void slope_at(line_job *job, double s, double out[2])
{
    const mgvi_tall_smooth *h = job->h;
    job->s = s;
    mgvi_ctx_run(h->ctx, job->blocks, line_block, job);
    out[0] = out[1] = 0;
    for (int64_t b = 0; b < job->blocks; b++) {
        out[0] += job->sums[b][0];
        out[1] += job->sums[b][1];
    }
    for (int64_t j = 0; j < h->set->cols; j++) {
        const double e = h->next[j] - h->w[j];
        const penalty p = penalty_at(h, j, h->w[j] + s * e, h->alpha);
        out[0] += (p.gradient - (h->lin ? h->lin[j] : 0)) * e;
        out[1] += p.curvature * e * e;
    }
}

/* Newton's method in one dimension between bounds, until the slope is a 20th of the first. */
static double search(line_job *job)
{
    static const double ENOUGH = 0.05, FARTHEST = 16;
    double start[2], here[2], low = 0, high = INFINITY, s = 1;
    slope_at(job, 0, start);
    if (!(start[0] < 0))
        return 0;
    for (int k = 0; k < TRIALS; k++) {
        slope_at(job, s, here);
        if (fabs(here[0]) <= -ENOUGH * start[0] || (here[0] < 0 && s >= FARTHEST))
            return s;
        if (here[0] < 0)
            low = s;
        else
            high = s;
        double next = s - here[0] / here[1];
        if (isinf(high))
            next = fmin(fmax(next, 1.5 * s), fmin(4 * s, FARTHEST));
        else if (!(next > low + 0.05 * (high - low) && next < high - 0.05 * (high - low)))
            next = (low + high) / 2;
        s = next;
    }
    return low; /* up to here the slope was negative */
}

void mgvi_tall_smooth_move(mgvi_tall_smooth *h, double alpha, double ahead)
{
    const int64_t n = mgvi_row_set_count(h->set), d = h->set->cols;
    line_job job = {.h = h, .blocks = mgvi_block_count(n, LINE_GRAIN, LINE_BLOCKS)};
    for (int64_t j = 0; j < d; j++)
        h->next[j] = h->w[j] + h->step[j] + ahead * h->tangent[j];
    slacks(h, h->next, h->trial);
    h->alpha = alpha;
    const double s = search(&job);
    h->cautious = s < SHORT || (h->cautious && s < LONG);
    for (int64_t j = 0; j < d; j++)
        h->w[j] += s * (h->next[j] - h->w[j]);
    for (int64_t i = 0; i < n; i++) {
        const double before = h->u[i];
        h->u[i] += s * (h->trial[i] - before);
        h->trial[i] = before;
    }
}

void mgvi_tall_smooth_extrapolate(mgvi_tall_smooth *h, double *u0)
{
    for (int64_t j = 0; j < h->set->cols; j++)
        h->next[j] = h->w[j] + h->step[j] - h->alpha * h->tangent[j];
    slacks(h, h->next, u0);
}

double mgvi_tall_smooth_look_ahead(mgvi_tall_smooth *h, double *w, double *u)
{
    const int64_t n = mgvi_row_set_count(h->set), d = h->set->cols;
    const mgvi_tall_loops *loops = h->ctx->simd->tall;
    double primal = 0, room[PIECE], theta[PIECE], curvature[PIECE];
    for (int64_t j = 0; j < d; j++) {
        w[j] = h->w[j] + h->step[j];
        primal += h->lambda[j] / 2 * w[j] * w[j];
    }
    slacks(h, w, h->trial);
    double dual = -primal;
    for (int64_t first = 0; first < n; first += PIECE) {
        const int64_t count = n - first < PIECE ? n - first : PIECE;
        const double *v = weights_at(h, first, count, room);
        loops->coefficients(h->u + first, v, h->steep ? h->steep + first : NULL, count, h->alpha,
                            h->least, theta, NULL, curvature);
        for (int64_t t = 0; t < count; t++) {
            const int64_t i = first + t;
            const double ahead = h->trial[i], a = theta[t] + curvature[t] * (ahead - h->u[i]);
            const double clipped = a < 0 ? 0 : a > v[t] ? v[t] : a;
            u[i] = -clipped;
            dual += clipped;
            primal += ahead > 0 ? v[t] * ahead : 0;
        }
    }
    return (primal - dual) / primal;
}
