/* newton_sparse.c - the working set, coordinate descent on it, and conjugate gradients on its
 * support. With rows scaled by e = sqrt(h), columns p_j = e x_j, W = |e|^2 and d the step so far,
 *   Y = sum_j (p_j - c_j e) d_j,   c_j = p_j.e / W when the intercept is free, else the centre (5)
 *   G_j = g_j + p_j.Y - c_j e.Y                                                                 (6)
 * is the gradient of the model's smooth part. Y is kept as R + off e, e.Y as T. */
#include "solver/parts/newton_sparse.h"

#include "backend/cpu/gemm.h"
#include "op/packed.h"
#include "simd/simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_JOINING = 200,
    MOST_ROUNDS = 50, /* of two sweeps and one polish */
    SWEEPS = 2,
    MOST_WALKS = 30,      /* steps of one polish */
    MOST_SUPPORT = 512,   /* of a factor */
    LEAST_PRODUCTS = 100, /* of one polish; twice the support is allowed */
    MOST_PRODUCTS = 500
};

typedef struct violator {
    double excess;
    int32_t j;
} violator;

struct mgvi_newton_sparse {
    const mgv_problem *p;
    const mgvi_simd *simd;
    mgvi_arena *arena;
    mgvi_packed P;      /* the data by columns, scaled, not centred */
    violator *violator; /* work space of the choice */
    /* The working set: columns col[0..count) on the rows with curvature. */
    int32_t *col, *number; /* number: per row, its place among those with curvature, or -1 */
    int64_t count, rows, room, room_columns, room_factor;
    int64_t *ptr;
    int32_t *idx;
    double *val; /* p_j */
    double *x;   /* w_j + d_j */
    double *linear, *sum, *mean,
        *square;       /* per column: g_j at d = 0, p_j.e, c_j, |p_j - c_j e|^2 */
    double *e, *R, *Y; /* per row with curvature; Y is work space */
    double W, off, T;
    double kink;
    /* the polish, per column */
    double *residual, *dir, *image, *delta, *size;
    int32_t *support;
    int64_t support_count;
    double *H;
};

/* ---- making it ------------------------------------------------------------------------------- */

mgv_status mgvi_newton_sparse_new(const mgv_problem *p, mgvi_arena *arena, mgvi_newton_sparse **out)
{
    const mgvi_matrix *X = &p->data->X;
    if (X->cols > INT32_MAX || X->rows != p->A->rows)
        return MGVI_FAIL(p->ctx, MGV_E_UNSUPPORTED,
                         "Newton steps with l1 need all rows and at most 2^31 columns");
    mgvi_newton_sparse *m = mgvi_arena_array(arena, 1, sizeof *m);
    if (!m)
        return MGV_E_MEMORY;
    m->p = p;
    m->simd = p->ctx->simd;
    m->arena = arena;
    MGVI_TRY(mgvi_packed_new(arena, &X, 1, p->row_scale, NULL, MGV_F64, &m->P));
    for (int64_t j = 0; p->scale && j < X->cols; j++)
        for (int64_t t = m->P.ptr[j]; t < m->P.ptr[j + 1]; t++)
            m->P.f64[t] *= p->scale[j];
    const size_t n = (size_t)X->rows, d = (size_t)X->cols;
    if (!(m->violator = mgvi_arena_array(arena, d, sizeof *m->violator)) ||
        !(m->col = mgvi_arena_array(arena, d, sizeof *m->col)) ||
        !(m->number = mgvi_arena_array(arena, n, sizeof *m->number)) ||
        !(m->e = mgvi_arena_array(arena, n, sizeof *m->e)) ||
        !(m->R = mgvi_arena_array(arena, n, sizeof *m->R)) ||
        !(m->Y = mgvi_arena_array(arena, n, sizeof *m->Y)) ||
        !(m->support = mgvi_arena_array(arena, MOST_SUPPORT, sizeof *m->support)))
        return MGV_E_MEMORY;
    *out = m;
    return MGV_OK;
}

static mgvi_coef coef(const mgvi_newton_sparse *m, int64_t j)
{
    mgvi_coef c = mgvi_coefs_at(&m->p->col, j, 0);
    c.scale *= m->kink;
    return c;
}

/* lambda_j and mu_j: l1 has no `a`. */
static double ridge_of(const mgvi_newton_sparse *m, int64_t j)
{
    return m->p->penalty->curv(coef(m, j), 0);
}

/* ---- the working set ------------------------------------------------------------------------- */

static int by_excess(const void *a, const void *b)
{
    const violator *x = a, *y = b;
    if (x->excess != y->excess)
        return x->excess < y->excess ? 1 : -1;
    return (x->j > y->j) - (x->j < y->j);
}

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The columns with a weight, and the worst of those that want one: as many again. */
static int64_t choose_columns(mgvi_newton_sparse *m, const mgvi_newton_point *at)
{
    int64_t wanting = 0, joining;
    m->count = 0;
    for (int64_t j = 0; j < m->P.cols; j++) {
        const double excess = m->p->penalty->kkt(coef(m, j), 0, at->g->x[j]);
        if (at->w->x[j] != 0)
            m->col[m->count++] = (int32_t)j;
        else if (excess > 0)
            m->violator[wanting++] = (violator){excess, (int32_t)j};
    }
    joining = m->count > LEAST_JOINING ? m->count : LEAST_JOINING;
    if (wanting > joining)
        qsort(m->violator, (size_t)wanting, sizeof *m->violator, by_excess);
    else
        joining = wanting;
    for (int64_t k = 0; k < joining; k++)
        m->col[m->count++] = m->violator[k].j;
    qsort(m->col, (size_t)m->count, sizeof *m->col, by_number);
    return wanting;
}

/* The rows with curvature. */
static void choose_rows(mgvi_newton_sparse *m, const mgvi_newton_point *at)
{
    m->rows = 0;
    m->W = 0;
    for (int64_t i = 0; i < m->P.rows; i++) {
        const double h = at->h->x[i];
        m->number[i] = h > 0 ? (int32_t)m->rows : -1;
        if (!(h > 0))
            continue;
        m->e[m->rows++] = sqrt(h);
        m->W += h;
    }
}

static mgv_status make_room(mgvi_newton_sparse *m)
{
    int64_t entries = 0;
    for (int64_t k = 0; k < m->count; k++)
        entries += m->P.dense ? m->rows : mgvi_packed_nnz(&m->P, m->col[k]);
    if (m->count >= m->room_columns) {
        const size_t columns = (size_t)(m->count + m->count / 4 + 1);
        double **const each[] = {&m->x,        &m->linear, &m->sum,   &m->mean,  &m->square,
                                 &m->residual, &m->dir,    &m->image, &m->delta, &m->size};
        for (size_t k = 0; k < sizeof each / sizeof *each; k++)
            if (!(*each[k] = mgvi_arena_array(m->arena, columns, sizeof **each[k])))
                return MGV_E_MEMORY;
        if (!(m->ptr = mgvi_arena_array(m->arena, columns + 1, sizeof *m->ptr)))
            return MGV_E_MEMORY;
        m->room_columns = (int64_t)columns;
    }
    if (entries > m->room) {
        const size_t room = (size_t)(entries + entries / 4);
        m->room = 0;
        if (!(m->val = mgvi_arena_array(m->arena, room, sizeof *m->val)) ||
            !(m->idx = mgvi_arena_array(m->arena, m->P.dense ? 1 : room, sizeof *m->idx)))
            return MGV_E_MEMORY;
        m->room = (int64_t)room;
    }
    return MGV_OK;
}

/* Column k of the set from column j of the data. */
static void pack_column(mgvi_newton_sparse *m, int64_t k, int64_t j)
{
    int64_t at = m->ptr[k];
    for (int64_t t = m->P.ptr[j]; t < m->P.ptr[j + 1]; t++) {
        const int32_t row = m->number[m->P.dense ? t - m->P.ptr[j] : m->P.idx[t]];
        if (row < 0)
            continue;
        if (!m->P.dense)
            m->idx[at] = row;
        m->val[at++] = m->e[row] * m->P.f64[t];
    }
    m->ptr[k + 1] = at;
}

static double column_dot(const mgvi_newton_sparse *m, int64_t k, const double *y)
{
    const int64_t first = m->ptr[k], n = m->ptr[k + 1] - first;
    return m->P.dense ? m->simd->dot_f64(m->val + first, y, n)
                      : m->simd->gather_dot_f64(m->val + first, m->idx + first, n, y);
}

static void column_axpy(const mgvi_newton_sparse *m, int64_t k, double a, double *y)
{
    const int64_t first = m->ptr[k], n = m->ptr[k + 1] - first;
    if (m->P.dense)
        m->simd->axpy_f64(a, m->val + first, y, n);
    else
        m->simd->scatter_axpy_f64(a, m->val + first, m->idx + first, n, y);
}

/* What the view subtracts from column j, in its units. */
static double centre_of(const mgvi_newton_sparse *m, int64_t j)
{
    const mgv_problem *p = m->p;
    return p->centre ? p->centre[j] * (p->scale ? p->scale[j] : 1) : 0;
}

/* (5); moving from the view's centre to c_j changes the gradient by the intercept's. */
static void measure_column(mgvi_newton_sparse *m, int64_t k, const mgvi_newton_point *at)
{
    const int64_t j = m->col[k], first = m->ptr[k];
    const bool free = m->p->free_cols > 0;
    m->sum[k] = column_dot(m, k, m->e);
    m->mean[k] = !free ? centre_of(m, j) : m->W > 0 ? m->sum[k] / m->W : 0;
    double square = 0;
    for (int64_t t = first; t < m->ptr[k + 1]; t++)
        square += m->val[t] * m->val[t];
    const double centred = square + m->mean[k] * (m->mean[k] * m->W - 2 * m->sum[k]);
    m->square[k] = centred > 1e-13 * square ? centred : 0;
    m->linear[k] = at->g->x[j];
    if (free)
        m->linear[k] += (centre_of(m, j) - m->mean[k]) * at->g->x[m->P.cols];
    m->x[k] = at->w->x[j];
}

static mgv_status pack(mgvi_newton_sparse *m, const mgvi_newton_point *at)
{
    choose_rows(m, at);
    MGVI_TRY(make_room(m));
    m->ptr[0] = 0;
    for (int64_t k = 0; k < m->count; k++) {
        pack_column(m, k, m->col[k]);
        measure_column(m, k, at);
    }
    memset(m->R, 0, (size_t)m->rows * sizeof *m->R);
    m->off = m->T = 0;
    m->p->A->touched += (double)m->ptr[m->count];
    return MGV_OK;
}

/* ---- coordinate descent ---------------------------------------------------------------------- */

static double gradient(const mgvi_newton_sparse *m, int64_t k) /* (6) */
{
    return m->linear[k] + column_dot(m, k, m->R) + m->off * m->sum[k] - m->mean[k] * m->T;
}

/* x_k += move, and Y with it. */
static void move_column(mgvi_newton_sparse *m, int64_t k, double move)
{
    column_axpy(m, k, move, m->R);
    m->off -= m->mean[k] * move;
    m->T += (m->sum[k] - m->mean[k] * m->W) * move;
}

/* Exact steps in one column at a time. Returns the largest violation met, squared, in units of the
 * model: what a single step would gain. */
static double sweep(mgvi_newton_sparse *m)
{
    double worst = 0;
    for (int64_t k = 0; k < m->count; k++) {
        const mgvi_coef c = coef(m, m->col[k]);
        const double N = m->square[k], ridge = ridge_of(m, m->col[k]);
        if (!(N + ridge > 0))
            continue;
        const double G = gradient(m, k), violation = m->p->penalty->kkt(c, m->x[k], G);
        worst = fmax(worst, violation * violation / (N + ridge));
        if (violation == 0)
            continue;
        const double v = N * m->x[k] - G;
        const double next = copysign(fmax(0, fabs(v) - c.scale), v) / (N + ridge);
        move_column(m, k, next - m->x[k]);
        m->x[k] = next;
    }
    m->p->A->touched += 2 * (double)m->ptr[m->count];
    return worst;
}

/* ---- conjugate gradients on the support ------------------------------------------------------ */

/* image = (X'X + ridge) dir over the support, X the centred columns. */
static void curve(mgvi_newton_sparse *m)
{
    double shift = 0;
    memset(m->Y, 0, (size_t)m->rows * sizeof *m->Y);
    for (int64_t k = 0; k < m->count; k++) {
        if (m->x[k] == 0)
            continue;
        column_axpy(m, k, m->dir[k], m->Y);
        shift += m->mean[k] * m->dir[k];
    }
    m->simd->axpy_f64(-shift, m->e, m->Y, m->rows);
    const double T = m->simd->dot_f64(m->e, m->Y, m->rows);
    for (int64_t k = 0; k < m->count; k++)
        m->image[k] = m->x[k] == 0 ? 0
                                   : column_dot(m, k, m->Y) - m->mean[k] * T +
                                         ridge_of(m, m->col[k]) * m->dir[k];
    m->p->A->touched += 2 * (double)m->ptr[m->count];
}

/* residual = minus the gradient on the support with its signs; its square in the units of `square`.
 */
static double support_gradient(mgvi_newton_sparse *m)
{
    double rho = 0;
    for (int64_t k = 0; k < m->count; k++) {
        const mgvi_coef c = coef(m, m->col[k]);
        const double size = m->square[k] + ridge_of(m, m->col[k]);
        m->residual[k] = m->delta[k] = m->dir[k] = 0;
        if (m->x[k] == 0 || !(size > 0))
            continue;
        m->residual[k] = -(gradient(m, k) + m->p->penalty->grad(c, m->x[k]));
        m->dir[k] = m->residual[k] / size;
        rho += m->residual[k] * m->dir[k];
    }
    m->p->A->touched += (double)m->ptr[m->count];
    return rho;
}

/* H on the support, scaled to a unit diagonal, as U'U. The ridge is for dependent columns: what it
 * leaves is a long step along them. */
static mgv_status factor_support(mgvi_newton_sparse *m)
{
    const int64_t n = m->support_count;
    int64_t pivot;
    if (n > m->room_factor) {
        const int64_t room = 2 * n < MOST_SUPPORT ? 2 * n : MOST_SUPPORT;
        if (!(m->H = mgvi_arena_array(m->arena, (size_t)(room * room), sizeof *m->H)))
            return MGV_E_MEMORY;
        m->room_factor = room;
    }
    for (double ridge = 1e-13;; ridge *= 100) {
        for (int64_t a = 0; a < n; a++) {
            const int64_t k = m->support[a];
            memset(m->Y, 0, (size_t)m->rows * sizeof *m->Y);
            column_axpy(m, k, 1, m->Y);
            m->simd->axpy_f64(-m->mean[k], m->e, m->Y, m->rows);
            const double T = m->sum[k] - m->mean[k] * m->W;
            for (int64_t b = a; b < n; b++) {
                const int64_t l = m->support[b];
                m->H[a * n + b] =
                    (column_dot(m, l, m->Y) - m->mean[l] * T) / (m->size[k] * m->size[l]);
            }
            m->H[a * n + a] = 1 + ridge;
        }
        MGVI_TRY(mgvi_cholesky(m->p->ctx, n, m->H, n, &pivot));
        if (pivot < 0 || !(ridge < 1))
            return MGV_OK;
    }
}

/* delta by the factor; `residual` is the right-hand side. */
static mgv_status solve_dense(mgvi_newton_sparse *m)
{
    MGVI_TRY(factor_support(m));
    for (int64_t a = 0; a < m->support_count; a++)
        m->image[a] = m->residual[m->support[a]] / m->size[m->support[a]];
    MGVI_TRY(mgvi_cholesky_solve(m->p->ctx, m->support_count, m->H, m->support_count, 1, m->image));
    for (int64_t a = 0; a < m->support_count; a++)
        m->delta[m->support[a]] = m->image[a] / m->size[m->support[a]];
    return MGV_OK;
}

/* The support, and whether a factor costs less than conjugate gradients on it. */
static bool list_support(mgvi_newton_sparse *m)
{
    double entries = 0;
    m->support_count = 0;
    for (int64_t k = 0; k < m->count; k++) {
        const double size = m->square[k] + ridge_of(m, m->col[k]);
        if (m->x[k] == 0 || !(size > 0))
            continue;
        m->size[k] = sqrt(size);
        entries += (double)(m->ptr[k + 1] - m->ptr[k]);
        if (m->support_count < MOST_SUPPORT)
            m->support[m->support_count] = (int32_t)k;
        m->support_count++;
    }
    const double n = (double)m->support_count;
    return m->support_count <= MOST_SUPPORT &&
           n * (entries / 2 + (double)m->rows) + n * n * n / 6 <= 300 * entries;
}

static void solve_support(mgvi_newton_sparse *m, double rho)
{
    const double enough = 1e-4 * rho;
    int64_t most = 0;
    for (int64_t k = 0; k < m->count; k++)
        most += 2 * (m->x[k] != 0);
    most = most < LEAST_PRODUCTS ? LEAST_PRODUCTS : most > MOST_PRODUCTS ? MOST_PRODUCTS : most;
    for (int64_t t = 0; t < most && rho > enough; t++) {
        double bend = 0, next = 0;
        curve(m);
        for (int64_t k = 0; k < m->count; k++)
            bend += m->dir[k] * m->image[k];
        if (!(bend > 0)) { /* dependent columns: downhill without an end */
            if (t == 0)
                memcpy(m->delta, m->dir, (size_t)m->count * sizeof *m->delta);
            break;
        }
        for (int64_t k = 0; k < m->count; k++) {
            m->delta[k] += rho / bend * m->dir[k];
            m->residual[k] -= rho / bend * m->image[k];
            const double size = m->square[k] + ridge_of(m, m->col[k]);
            next += m->x[k] != 0 && size > 0 ? m->residual[k] * m->residual[k] / size : 0;
        }
        for (int64_t k = 0; k < m->count; k++) {
            const double size = m->square[k] + ridge_of(m, m->col[k]);
            m->dir[k] =
                m->x[k] != 0 && size > 0 ? m->residual[k] / size + next / rho * m->dir[k] : 0;
        }
        rho = next;
    }
}

/* The first t at which some x_k + t delta_k would change its sign; *who: which. */
static double first_zero(const mgvi_newton_sparse *m, int64_t *who)
{
    double t = INFINITY;
    for (int64_t k = 0; k < m->count; k++)
        if (m->delta[k] * m->x[k] < 0 && -m->x[k] / m->delta[k] < t) {
            t = -m->x[k] / m->delta[k];
            *who = k;
        }
    return t;
}

/* x += t delta on the support; column `zero` (-1: none) lands at 0. */
static void walk(mgvi_newton_sparse *m, double t, int64_t zero)
{
    for (int64_t k = 0; k < m->count; k++) {
        if (m->delta[k] == 0)
            continue;
        const double next =
            k == zero || m->x[k] + t * m->delta[k] == 0 ? 0 : m->x[k] + t * m->delta[k];
        move_column(m, k, next - m->x[k]);
        m->x[k] = next;
    }
    m->p->A->touched += (double)m->ptr[m->count];
}

/* How much the model falls along delta, and how it bends. */
static void measure_direction(mgvi_newton_sparse *m, double *slope, double *bend)
{
    *slope = *bend = 0;
    memcpy(m->dir, m->delta, (size_t)m->count * sizeof *m->dir);
    curve(m);
    for (int64_t k = 0; k < m->count; k++) {
        if (m->delta[k] == 0)
            continue;
        *slope -= (gradient(m, k) + m->p->penalty->grad(coef(m, m->col[k]), m->x[k])) * m->delta[k];
        *bend += m->dir[k] * m->image[k];
    }
}

/* One Newton step on the support, in which signs are kept and the model is quadratic: to its end;
 * or to the first zero; or, if that is better, with all who would change their sign stopping at 0.
 * *ended: whether it went to its end. */
static mgv_status polish_once(mgvi_newton_sparse *m, bool *ended)
{
    const double rho = support_gradient(m);
    double slope, bend;
    int64_t who = -1;
    *ended = true;
    if (!(rho > 0))
        return MGV_OK;
    if (list_support(m))
        MGVI_TRY(solve_dense(m));
    else
        solve_support(m, rho);
    measure_direction(m, &slope, &bend);
    const double first = first_zero(m, &who), wanted = bend > 0 ? slope / bend : INFINITY;
    if (!(slope > 0) || !isfinite(fmin(first, wanted)))
        return MGV_OK;
    if (wanted < first) {
        walk(m, wanted, -1);
        return MGV_OK;
    }
    *ended = false;
    const double gain = first * (slope - first / 2 * bend);
    memcpy(m->residual, m->delta, (size_t)m->count * sizeof *m->residual);
    for (int64_t k = 0; k < m->count; k++)
        if (m->delta[k] * m->x[k] < 0 && fabs(m->delta[k]) > fabs(m->x[k]))
            m->delta[k] = -m->x[k];
    measure_direction(m, &slope, &bend);
    const double t = bend > slope ? slope / bend : 1;
    if (slope > 0 && t * (slope - t / 2 * bend) > gain) {
        walk(m, t, -1);
        return MGV_OK;
    }
    memcpy(m->delta, m->residual, (size_t)m->count * sizeof *m->delta);
    walk(m, first, who);
    return MGV_OK;
}

static mgv_status polish(mgvi_newton_sparse *m)
{
    bool ended = false;
    for (int k = 0; k < MOST_WALKS && !ended; k++)
        MGVI_TRY(polish_once(m, &ended));
    return MGV_OK;
}

/* ---- the step -------------------------------------------------------------------------------- */

mgv_status mgvi_newton_sparse_solve(mgvi_newton_sparse *m, const mgvi_newton_point *at, mgvi_vec *d,
                                    int64_t *joined)
{
    const mgv_problem *p = m->p;
    m->kink = at->kink;
    *joined = choose_columns(m, at);
    MGVI_TRY(pack(m, at));
    double first = 0, worst = INFINITY;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        for (int k = 0; k < SWEEPS; k++) {
            worst = sweep(m);
            first = fmax(first, worst);
        }
        if (worst <= at->accuracy * at->accuracy * first)
            break;
        MGVI_TRY(polish(m));
    }
    double shift = 0;
    mgvi_vec_fill(p->ctx, d, 0);
    for (int64_t k = 0; k < m->count; k++) {
        const int64_t j = m->col[k];
        d->x[j] = m->x[k] == 0 ? -at->w->x[j] : m->x[k] - at->w->x[j];
        shift += (centre_of(m, j) - m->mean[k]) * d->x[j];
    }
    if (p->free_cols)
        d->x[m->P.cols] = m->W > 0 ? shift - at->g->x[m->P.cols] / m->W : 0;
    return MGV_OK;
}
