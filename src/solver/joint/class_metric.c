/* class_metric.c - the inverse of (11), group by group.
 *
 * Without kappa, a group's y has y_ij = h_ij (x_ij + nu_i - c t_j), t_j = sum_i y_ij:
 *   t_j = sum_i h_ij (x_ij + nu_i)/(1 + c H_j),   H_j = sum_i h_ij
 * and sum_j y_ij = 0 is a system for the nu_i of its rows,
 *   N_ab = [a = b] sum_j h_aj - sum_j c h_aj h_bj/(1 + c H_j).
 * With B this inverse and E = (1, .., 1)' for every class, M^-1 = B - B E (1/kappa + E'B E)^-1 E'B.
 */
#include "solver/joint/class_metric.h"

#include "base/limit.h"
#include "base/threads.h"
#include "linalg/gemm.h"
#include "op/twins.h"

#include <math.h>
#include <string.h>

enum {
    GRAIN = 1 << 13,
    BLOCKS = 16,
    MOST_COPIES = 16 /* that are solved for together: more are several groups */
};

/* A group's work space: N and its right side, t and 1 + c H per class. */
static int64_t group_room(int32_t k) { return MOST_COPIES * (MOST_COPIES + 1) + 2 * (int64_t)k; }

mgv_status mgvi_class_metric_new(mgv_ctx *ctx, mgvi_arena *arena, int64_t count, int32_t k,
                                 mgvi_class_metric *out)
{
    const size_t n = (size_t)count, lanes = (size_t)k;
    *out = (mgvi_class_metric){
        .ctx = ctx, .count = count, .k = k, .blocks = mgvi_block_count(count * k, GRAIN, BLOCKS)};
    const size_t blocks = (size_t)out->blocks;
    out->row = mgvi_arena_array(arena, n, sizeof *out->row);
    out->twin = mgvi_arena_array(arena, n, sizeof *out->twin);
    out->next = mgvi_arena_array(arena, n, sizeof *out->next);
    out->square = mgvi_arena_array(arena, n, sizeof *out->square);
    out->h = mgvi_arena_array(arena, n, lanes * sizeof *out->h);
    out->last = mgvi_arena_array(arena, n, sizeof *out->last);
    out->length = mgvi_arena_array(arena, n, sizeof *out->length);
    out->factor = mgvi_arena_array(arena, lanes, lanes * sizeof *out->factor);
    out->sums = mgvi_arena_array(arena, blocks, lanes * sizeof *out->sums);
    out->shift = mgvi_arena_array(arena, lanes, sizeof *out->shift);
    out->room = mgvi_arena_array(arena, blocks, (size_t)group_room(k) * sizeof *out->room);
    return out->row && out->twin && out->next && out->last && out->length && out->square &&
                   out->h && out->factor && out->sums && out->shift && out->room
               ? MGV_OK
               : MGV_E_MEMORY;
}

/* Lists of at most MOST_COPIES rows: `last` of the first of all copies is where its open list ends,
 * `length` how long that is. */
mgv_status mgvi_class_metric_group(const mgvi_matrix *rows, mgvi_class_metric *m)
{
    MGVI_TRY(mgvi_matrix_twins(m->ctx, rows, m->row, m->count, m->twin));
    for (int64_t i = 0; i < m->count; i++) {
        const int64_t first = m->twin[i];
        m->next[i] = -1;
        m->last[i] = i;
        m->length[i] = 1;
        if (first == i)
            continue;
        if (m->length[first] < MOST_COPIES) {
            m->next[m->last[first]] = i;
            m->length[first]++;
        } else { /* the next list of these copies */
            m->twin[i] = i;
            m->length[first] = 1;
        }
        m->last[first] = i;
    }
    return MGV_OK;
}

/* ---- a group --------------------------------------------------------------------------------- */

/* Its rows, 1 + c H of every class, and N = U'U. */
typedef struct group {
    int64_t rows[MOST_COPIES], n;
    double *matrix, *nu, *t, *width;
    double c;
} group;

/* U'U = a in place. A pivot that is nothing but rounding belongs to a row of one class, or to a nu
 * that the others make superfluous: it is left out. */
static void factor_small(int64_t n, double *a)
{
    for (int64_t j = 0; j < n; j++) {
        const double diagonal = a[j * MOST_COPIES + j];
        double pivot = diagonal;
        for (int64_t t = 0; t < j; t++)
            pivot -= a[t * MOST_COPIES + j] * a[t * MOST_COPIES + j];
        const double root = pivot > 1e-13 * diagonal ? sqrt(pivot) : INFINITY;
        a[j * MOST_COPIES + j] = root;
        for (int64_t i = j + 1; i < n; i++) {
            double sum = a[j * MOST_COPIES + i];
            for (int64_t t = 0; t < j; t++)
                sum -= a[t * MOST_COPIES + j] * a[t * MOST_COPIES + i];
            a[j * MOST_COPIES + i] = sum / root;
        }
    }
}

/* b <- U'^-1 b, and b <- U^-1 b */
static void forward(int64_t n, const double *u, double *b)
{
    for (int64_t j = 0; j < n; j++) {
        for (int64_t t = 0; t < j; t++)
            b[j] -= u[t * MOST_COPIES + j] * b[t];
        b[j] /= u[j * MOST_COPIES + j];
    }
}

static void backward(int64_t n, const double *u, double *b)
{
    for (int64_t j = n; j-- > 0;) {
        for (int64_t i = j + 1; i < n; i++)
            b[j] -= u[j * MOST_COPIES + i] * b[i];
        b[j] /= u[j * MOST_COPIES + j];
    }
}

/* The group whose first row is i. */
static group open_group(const mgvi_class_metric *m, int64_t i, double *room)
{
    const int32_t k = m->k;
    group g = {.matrix = room,
               .nu = room + MOST_COPIES * MOST_COPIES,
               .t = room + MOST_COPIES * (MOST_COPIES + 1),
               .c = m->square[i]};
    g.width = g.t + k;
    for (int64_t a = i; a >= 0; a = m->next[a])
        g.rows[g.n++] = a;
    for (int32_t j = 0; j < k; j++)
        g.width[j] = 1;
    for (int64_t a = 0; a < g.n; a++)
        for (int32_t j = 0; j < k; j++)
            g.width[j] += g.c * m->h[g.rows[a] * k + j];
    for (int64_t a = 0; a < g.n; a++)
        for (int64_t b = a; b < g.n; b++) {
            const double *p = m->h + g.rows[a] * k, *q = m->h + g.rows[b] * k;
            double sum = 0;
            for (int32_t j = 0; j < k; j++) /* of (11): 1 - c h/width does not cancel like this */
                sum += p[j] / g.width[j] * (a == b ? g.width[j] - g.c * p[j] : -g.c * q[j]);
            g.matrix[a * MOST_COPIES + b] = sum;
        }
    factor_small(g.n, g.matrix);
    return g;
}

/* y = B (x - shift) of the group's rows. */
static void solve_group(const mgvi_class_metric *m, int64_t i, const double *x, const double *shift,
                        double *y, double *room)
{
    const int32_t k = m->k;
    group g = open_group(m, i, room);
    for (int32_t j = 0; j < k; j++)
        g.t[j] = 0;
    for (int64_t a = 0; a < g.n; a++)
        for (int32_t j = 0; j < k; j++)
            g.t[j] += m->h[g.rows[a] * k + j] * (x[g.rows[a] * k + j] - shift[j]);
    for (int64_t a = 0; a < g.n; a++) {
        g.nu[a] = 0;
        for (int32_t j = 0; j < k; j++)
            g.nu[a] -= m->h[g.rows[a] * k + j] *
                       (x[g.rows[a] * k + j] - shift[j] - g.c * g.t[j] / g.width[j]);
    }
    forward(g.n, g.matrix, g.nu);
    backward(g.n, g.matrix, g.nu);
    for (int64_t a = 0; a < g.n; a++)
        for (int32_t j = 0; j < k; j++)
            g.t[j] += m->h[g.rows[a] * k + j] * g.nu[a];
    for (int64_t a = 0; a < g.n; a++)
        for (int32_t j = 0; j < k; j++) {
            const int64_t at = g.rows[a] * k + j;
            y[at] = m->h[at] * (x[at] - shift[j] + g.nu[a] - g.c * g.t[j] / g.width[j]);
        }
}

/* The same for a row without copies. */
static void solve_one(const mgvi_class_metric *m, int64_t i, const double *x, const double *shift,
                      double *y)
{
    const double *h = m->h + i * m->k, c = m->square[i];
    double width = 0, sum = 0;
    for (int32_t j = 0; j < m->k; j++) {
        const double w = h[j] / (1 + c * h[j]);
        width += w;
        sum += w * (x[j] - shift[j]);
        y[j] = w;
    }
    const double nu = width > 0 ? -sum / width : 0;
    for (int32_t j = 0; j < m->k; j++)
        y[j] *= x[j] - shift[j] + nu;
}

/* s += E'B E of the group: diag(H/width) - V'V, V = U'^-1 (h/width). */
static void add_group(const mgvi_class_metric *m, int64_t i, double *room, double *s)
{
    const int32_t k = m->k;
    group g = open_group(m, i, room);
    for (int64_t a = 0; a < g.n; a++)
        for (int32_t j = 0; j < k; j++)
            s[j * k + j] += m->h[g.rows[a] * k + j] / g.width[j];
    for (int64_t b = 0; b < g.n; b++) {
        for (int32_t j = 0; j < k; j++) {
            for (int64_t a = 0; a < g.n; a++)
                g.nu[a] = m->h[g.rows[a] * k + j] / g.width[j];
            forward(b + 1, g.matrix, g.nu);
            g.t[j] = g.nu[b];
        }
        for (int32_t j = 0; j < k; j++)
            for (int32_t l = 0; l < k && g.t[j] != 0; l++)
                s[j * k + l] -= g.t[j] * g.t[l];
    }
}

/* ---- all rows -------------------------------------------------------------------------------- */

typedef struct solve_job {
    mgvi_class_metric *m;
    const double *x;
    double *y;
} solve_job;

static void solve_block(void *arg, int64_t block)
{
    const solve_job *job = arg;
    mgvi_class_metric *m = job->m;
    const int32_t k = m->k;
    const int64_t first = mgvi_block_begin(m->count, m->blocks, block),
                  end = mgvi_block_begin(m->count, m->blocks, block + 1);
    double *room = m->room + block * group_room(k), *sum = m->sums + block * k;
    memset(sum, 0, (size_t)k * sizeof *sum);
    for (int64_t i = first; i < end; i++) {
        if (m->twin[i] != i)
            continue;
        if (m->next[i] < 0)
            solve_one(m, i, job->x + i * k, m->shift, job->y + i * k);
        else
            solve_group(m, i, job->x, m->shift, job->y, room);
        for (int64_t a = i; a >= 0 && m->kappa > 0; a = m->next[a])
            for (int32_t j = 0; j < k; j++)
                sum[j] += job->y[a * k + j];
    }
}

mgv_status mgvi_class_metric_ready(mgvi_class_metric *m)
{
    const int32_t k = m->k;
    double mean = 0;
    int64_t pivot;
    if (!(m->kappa > 0))
        return MGV_OK;
    memset(m->factor, 0, (size_t)(k * k) * sizeof *m->factor);
    for (int64_t i = 0; i < m->count && !mgvi_ctx_cut_row(m->ctx, i); i++)
        if (m->twin[i] == i)
            add_group(m, i, m->room, m->factor);
    for (int32_t j = 0; j < k; j++)
        mean += (m->factor[j * k + j] += 1 / m->kappa) / k;
    for (int32_t t = 0; t < k * k; t++) /* all classes moved alike are no part of any x */
        m->factor[t] += mean / k;
    MGVI_TRY(mgvi_cholesky(m->ctx, k, m->factor, k, &pivot));
    return pivot < 0 ? MGV_OK
                     : MGVI_FAIL(m->ctx, MGV_E_NUMERIC, "the intercepts' system is not positive");
}

mgv_status mgvi_class_metric_solve(mgvi_class_metric *m, const double *x, double *y)
{
    const int32_t k = m->k;
    solve_job job = {.m = m, .x = x, .y = y};
    memset(m->shift, 0, (size_t)k * sizeof *m->shift);
    mgvi_ctx_run(m->ctx, m->blocks, solve_block, &job);
    if (!(m->kappa > 0))
        return MGV_OK;
    for (int64_t b = 0; b < m->blocks; b++)
        for (int32_t j = 0; j < k; j++)
            m->shift[j] += m->sums[b * k + j];
    MGVI_TRY(mgvi_cholesky_solve(m->ctx, k, m->factor, k, 1, m->shift));
    mgvi_ctx_run(m->ctx, m->blocks, solve_block, &job);
    return MGV_OK;
}
