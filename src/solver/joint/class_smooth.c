/* class_smooth.c - max_j t_j, t = z + 1 - e_c, with a centre p^0; docs/algorithms/class_newton.md.
 *   p = the nearest point of the simplex to p^0 + t/alpha                                     (2)
 *   d p/d z = J/alpha,  J = I_S - 1 1'/|S|,  S = {p > 0}                                      (3)
 * Sums are over blocks that depend on the shape alone, added in order. */
#include "solver/joint/class_smooth.h"

#include "base/limit.h"
#include "base/threads.h"
#include "linalg/gemm.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 1 << 13, MOST_BLOCKS = 64, LANES = MGVI_CLASS_SUMS };

/* A sweep over the rows. */
typedef struct sweep {
    mgvi_class_smooth *c;
    mgvi_vec *u;
    const double *dz;
    double step;
} sweep;

static int32_t own_of(const mgvi_class_smooth *c, int64_t i)
{
    return (int32_t)mgvi_coef_pick(&c->run->problem->row.a, i, 0);
}
static double weight_of(const mgvi_class_smooth *c, int64_t i)
{
    return mgvi_coef_pick(&c->run->problem->row.scale, i, 0);
}

mgv_status mgvi_class_smooth_new(mgvi_run *run, mgvi_class_smooth *c)
{
    const int64_t n = run->problem->A->rows, k = run->problem->lanes;
    *c = (mgvi_class_smooth){.run = run, .n = n, .k = (int32_t)k, .alpha = 1};
    MGVI_TRY(MGVI_VECTORS(&run->arena, (size_t)n * (size_t)k, &c->z, &c->p, &c->centre));
    c->blocks = mgvi_block_count(n * k, GRAIN, MOST_BLOCKS);
    c->lead = mgvi_run_array(run, (size_t)n, sizeof *c->lead);
    c->steady = mgvi_run_array(run, (size_t)n, sizeof *c->steady);
    c->sums = mgvi_run_array(run, (size_t)(c->blocks * (k + LANES)), sizeof *c->sums);
    c->small = mgvi_run_array(run, (size_t)(k * (k + 2)), sizeof *c->small);
    if (!c->lead || !c->steady || !c->sums || !c->small)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < n; i++)
        c->p[i * k + own_of(c, i)] = c->centre[i * k + own_of(c, i)] = 1;
    return MGV_OK;
}

/* The rows of a block, and its sums, cleared. */
static double *begin_block(const mgvi_class_smooth *c, int64_t block, int64_t *first, int64_t *end)
{
    double *sums = c->sums + block * (c->k + LANES);
    *first = mgvi_block_begin(c->n, c->blocks, block);
    *end = mgvi_block_begin(c->n, c->blocks, block + 1);
    memset(sums, 0, (size_t)(c->k + LANES) * sizeof *sums);
    return sums;
}

/* The sums of all blocks, in the place of the first. */
static const double *run_blocks(mgvi_class_smooth *c, mgvi_block_fn fn, sweep *job)
{
    mgvi_ctx_run(c->run->ctx, c->blocks, fn, job);
    for (int64_t block = 1; block < c->blocks; block++)
        for (int32_t t = 0; t < c->k + LANES; t++)
            c->sums[t] += c->sums[block * (c->k + LANES) + t];
    return c->sums;
}

/* The shift that leaves max(v - shift, 0) with the sum 1. No entry more than 1 below the largest
 * stays, and dropping entries only raises the shift, so that those dropped stay out. */
static double shift_of(const double *v, int32_t k, double most)
{
    double shift = most - 1;
    for (int32_t round = 0; round < k; round++) {
        double sum = -1, count = 0;
        for (int32_t j = 0; j < k; j++)
            if (v[j] > shift) {
                sum += v[j];
                count++;
            }
        if (!(sum / count > shift))
            break;
        shift = sum / count;
    }
    return shift;
}

/* v = p^0 + t/alpha, its largest entry; with a step the scores are z + step dz. */
static double target_of(const mgvi_class_smooth *c, int64_t i, const double *dz, double step,
                        double *v)
{
    const int32_t k = c->k, own = own_of(c, i);
    const double *z = c->z + i * k, *centre = c->centre + i * k, inverse = 1 / c->alpha;
    double most = -INFINITY;
    for (int32_t j = 0; j < k; j++)
        v[j] = centre[j] + inverse * (z[j] + (dz ? step * dz[i * k + j] : 0) + 1);
    v[own] -= inverse;
    for (int32_t j = 0; j < k; j++)
        most = fmax(most, v[j]);
    return most;
}

/* u = s (p - e_c): the own entry is minus the others', to their digits. */
static void write_slopes(double s, const double *p, int32_t k, int32_t own, double *u)
{
    double others = 0;
    for (int32_t j = 0; j < k; j++) {
        u[j] = s * p[j];
        others += j == own ? 0 : u[j];
    }
    u[own] = -others;
}

static void slopes_block(void *arg, int64_t block)
{
    const sweep *job = arg;
    const mgvi_class_smooth *c = job->c;
    const int32_t k = c->k;
    int64_t first, end;
    double *sums = begin_block(c, block, &first, &end);
    for (int64_t i = first; i < end; i++) {
        double *p = c->p + i * k, moved = 0, worst = -INFINITY;
        const double *centre = c->centre + i * k, *z = c->z + i * k;
        const double s = weight_of(c, i);
        const int32_t own = own_of(c, i);
        const double shift = shift_of(p, k, target_of(c, i, NULL, 0, p));
        for (int32_t j = 0; j < k; j++) {
            p[j] = fmax(p[j] - shift, 0);
            moved += (p[j] - centre[j]) * (p[j] - centre[j]);
            worst = fmax(worst, z[j] + (j != own));
        }
        write_slopes(s, p, k, own, job->u->x + i * k);
        sums[0] += s * (worst - z[own]);
        sums[1] -= job->u->x[i * k + own];
        sums[2] += s * moved;
    }
}

mgvi_class_sums mgvi_class_smooth_slopes(mgvi_class_smooth *c, mgvi_vec *u)
{
    sweep job = {.c = c, .u = u};
    const double *sums = run_blocks(c, slopes_block, &job);
    return (mgvi_class_sums){.loss = sums[0], .linear = sums[1], .moved = sums[2]};
}

void mgvi_class_smooth_show(mgvi_class_smooth *c, mgvi_vec *u)
{
    for (int64_t i = 0; i < c->n; i++)
        write_slopes(weight_of(c, i), c->p + i * c->k, c->k, own_of(c, i), u->x + i * c->k);
}

void mgvi_class_smooth_affine(mgvi_class_smooth *c, mgvi_vec *u)
{
    const int32_t k = c->k;
    for (int64_t i = 0; i < c->n && !mgvi_ctx_cut_row(c->run->ctx, i); i++) {
        const double *p = c->p + i * k, s = weight_of(c, i);
        double *v = u->x + i * k, sum = -1, count = 0;
        target_of(c, i, NULL, 0, v);
        for (int32_t j = 0; j < k; j++) {
            sum += p[j] > 0 ? v[j] : 0;
            count += p[j] > 0;
        }
        for (int32_t j = 0; j < k; j++)
            v[j] = p[j] > 0 ? s * (v[j] - sum / count) : 0;
        v[own_of(c, i)] -= s;
    }
}

/* A row whose p is one class stays there while that class is ahead of the others by alpha: up to a
 * step that its scores and dz tell. */
static void along_block(void *arg, int64_t block)
{
    const sweep *job = arg;
    const mgvi_class_smooth *c = job->c;
    const int32_t k = c->k;
    int64_t first, end;
    begin_block(c, block, &first, &end);
    for (int64_t i = first; i < end; i++) {
        const double *dz = job->dz + i * k, *z = c->z + i * k, *centre = c->centre + i * k;
        const int32_t own = own_of(c, i);
        int32_t best = 0;
        double lead = INFINITY, most = -INFINITY;
        for (int32_t j = 0; j < k; j++) {
            const double v = c->alpha * centre[j] + z[j] + (j != own);
            best = v > most ? j : best;
            most = fmax(most, v);
        }
        for (int32_t j = 0; j < k && lead > 0; j++) {
            const double room = most - (c->alpha * centre[j] + z[j] + (j != own)) - c->alpha;
            const double nearer = dz[j] - dz[best];
            if (j != best && room < 0)
                lead = 0;
            else if (j != best && nearer > 0)
                lead = fmin(lead, room / nearer);
        }
        c->lead[i] = 0.999 * lead;
        c->steady[i] = weight_of(c, i) * (dz[best] - dz[own]);
    }
}

void mgvi_class_smooth_along(mgvi_class_smooth *c, const mgvi_vec *dz)
{
    sweep job = {.c = c, .dz = dz->x};
    run_blocks(c, along_block, &job);
}

static void slope_block(void *arg, int64_t block)
{
    const sweep *job = arg;
    const mgvi_class_smooth *c = job->c;
    const int32_t k = c->k;
    int64_t first, end;
    double *sums = begin_block(c, block, &first, &end), v[MGVI_LANES_MAX];
    for (int64_t i = first; i < end; i++) {
        const double *dz = job->dz + i * k;
        if (job->step < c->lead[i]) {
            sums[0] += c->steady[i];
            continue;
        }
        const double shift = shift_of(v, k, target_of(c, i, job->dz, job->step, v));
        double slope = 0;
        for (int32_t j = 0; j < k; j++)
            slope += fmax(v[j] - shift, 0) * dz[j];
        sums[0] += weight_of(c, i) * (slope - dz[own_of(c, i)]);
    }
}

double mgvi_class_smooth_slope(mgvi_class_smooth *c, const mgvi_vec *dz, double step)
{
    sweep job = {.c = c, .dz = dz->x, .step = step};
    return run_blocks(c, slope_block, &job)[0];
}

/* ---- the intercepts' sums -------------------------------------------------------------------- */

/* sum_i s_i J_i, and a curvature for the direction in which every class gets the same. */
static void sum_curvatures(mgvi_class_smooth *c, const mgvi_vec *u)
{
    const int32_t k = c->k;
    double *H = c->small, level = 0;
    memset(H, 0, (size_t)k * (size_t)k * sizeof *H);
    for (int64_t i = 0; i < c->n; i++) {
        const double s = weight_of(c, i);
        const double *row = u->x + i * k;
        const int32_t own = own_of(c, i);
        double count = 0;
        for (int32_t j = 0; j < k; j++)
            count += row[j] + s * (j == own) > 0;
        for (int32_t j = 0; j < k && count > 1; j++)
            for (int32_t l = 0; l < k && row[j] + s * (j == own) > 0; l++)
                if (row[l] + s * (l == own) > 0)
                    H[j * k + l] += s * ((j == l) - 1 / count);
    }
    for (int32_t j = 0; j < k; j++)
        level += H[j * k + j] / k;
    for (int32_t j = 0; j < k; j++)
        for (int32_t l = 0; l < k; l++)
            H[j * k + l] += (level > 0 ? level : 1) * (1e-9 * (j == l) + 1.0 / k);
}

/* u_i <- s (the nearest point of the simplex to p_i + J_i shift, on the classes of row i - e_c) */
static void move_rows(mgvi_class_smooth *c, const double *shift, mgvi_vec *u)
{
    const int32_t k = c->k;
    double p[MGVI_LANES_MAX];
    for (int64_t i = 0; i < c->n; i++) {
        const double s = weight_of(c, i);
        const int32_t own = own_of(c, i);
        double *row = u->x + i * k, most = -INFINITY, count = 0;
        for (int32_t j = 0; j < k && s > 0; j++) {
            p[j] = row[j] / s + (j == own);
            count += p[j] > 0;
            p[j] = p[j] > 0 ? p[j] + shift[j] : -INFINITY;
            most = fmax(most, p[j]);
        }
        if (!(count > 1))
            continue;
        const double common = shift_of(p, k, most);
        for (int32_t j = 0; j < k; j++)
            p[j] = fmax(p[j] - common, 0);
        write_slopes(s, p, k, own, row);
    }
}

mgv_status mgvi_class_smooth_balance(mgvi_class_smooth *c, mgvi_vec *u)
{
    enum { ROUNDS = 20 };
    static const double NOTHING = 1e-14; /* of all weight */
    const int32_t k = c->k;
    double *sum = c->small + k * k, last = INFINITY;
    int64_t pivot;
    for (int round = 0; round < ROUNDS; round++) {
        double left = 0;
        mgvi_vec_sum(c->run->ctx, u, sum);
        for (int32_t j = 0; j < k; j++)
            left += fabs(sum[j]);
        if (left <= NOTHING || !(left < 0.9 * last))
            break;
        last = left;
        sum_curvatures(c, u);
        MGVI_TRY(mgvi_cholesky(c->run->ctx, k, c->small, k, &pivot));
        if (pivot >= 0)
            break;
        for (int32_t j = 0; j < k; j++)
            sum[j] = -sum[j];
        MGVI_TRY(mgvi_cholesky_solve(c->run->ctx, k, c->small, k, 1, sum));
        move_rows(c, sum, u);
    }
    return MGV_OK;
}
